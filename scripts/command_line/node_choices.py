"""What `plan` says about the nodes that it chose: the scheduler's own choice, the bound over all choices, the job script."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from os.path import exists
from typing import Any

import click
import numpy as np

from pencilmap.mapper.ask import job_of
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose import Plan
from pencilmap.mapper.choose.choices import Choice, site_key
from pencilmap.mapper.choose.nodes import (
    beside,
    bound_of_choices,
    break_even,
    own_choices,
    sites_of_program,
    with_tasks,
    words_of_choice,
)
from pencilmap.mapper.formats import fujitsu
from pencilmap.mapper.formats.hostlist import folded_hosts, sorted_by_slurm
from pencilmap.mapper.placements import BEST
from pencilmap.mapper.programs import place_program, traffic_of
from pencilmap.model.base.units import counted
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.predict.certificates import certificate
from pencilmap.model.predict.program import predict_program
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line.options import format_of_launcher
from pencilmap.scripts.command_line.predictions import factor, gain

SAME = 1e-9
MOST_LETTERS = 32  # of the list of nodes of a graph in a table
SLURM, QUIET = "Slurm", "if other jobs are quiet"
FUJITSU, FUJITSU_FORMATS = "fujitsu", ("vcoordfile", "rankmap")


def words_of_nodes(where: Question) -> str:
    """Return the usable nodes in words: how many of how many leaves, and which if the network has no leaves."""
    words, hosts = words_of_choice(where.network, where.site.allocation.nodes), host_list(where)
    short = hosts if len(hosts) <= MOST_LETTERS else f"{hosts[:MOST_LETTERS]}..."
    return words if where.network.levels or " box " in words else f"{words} {short}"


def host_list(where: Question) -> str:
    """Return the names of the usable nodes as a list of hosts, in Slurm's order."""
    return folded_hosts(sorted_by_slurm(_names(where)))


def map_words(where: Question) -> list[str]:
    """Return the words with which `map` takes the usable nodes: those of a torus by coordinates, names from `--among`."""
    among = click.get_current_context().params.get("among")
    if among is None or not where.hosts:
        return ["--nodes", shell.word(folded_hosts(_names(where)))]
    return ["--nodes", shell.word(folded_hosts(Hosts(where.network).names(where.site.allocation.nodes))),
            "--hosts", shell.word(among)]


def choice_sentences(found: Plan) -> Iterator[str]:
    """Yield sentences about the scheduler's own choice, and about all choices; none if the plan chose no nodes."""
    best = found.best
    if not found.own:
        return
    for setting, own in found.own.items():
        if site_key(own.where) == site_key(best.where):
            yield f"{SLURM} takes these nodes by itself ({setting})."
            continue
        ratios = [f"{factor(ratio)} {words}" for ratio, words in _beside(found, best, own)]
        same = break_even(best, own)
        if same is not None:
            ratios.append(f"as fast if they send {float(same):.2f} of it")
        yield f"{SLURM} by itself takes {words_of_nodes(own.where)} ({setting}): {', '.join(ratios)} (predicted)."
    bound, number = certificate_of_choices(found), counted(best.where.site.allocation.n_nodes, "node")
    if bound is not None:
        most = "loads its links less" if bound < 1 + SAME else f"could gain more than {max(bound, 1.01):.2f}x on its links"
        beside_words = f" beside neighbours that send {float(found.where.neighbours):g}" if found.where.neighbours else ""
        yield f"No other choice of {number} {most}{beside_words} (proved)."


def _beside(found: Plan, best: Choice, own: Choice) -> Iterator[tuple[float | None, str]]:
    """Yield the gain of the scheduler's own choice if the other nodes of the leaves are quiet, busy, and as asked."""
    shares = {Fraction(0): QUIET, Fraction(1): "if their nodes send as much as yours"}
    if found.where.neighbours not in shares:
        shares[found.where.neighbours] = f"if they send {float(found.where.neighbours):g} of it"
    for share, words in shares.items():
        mine, other = (beside(choice.where, choice.placed, share) for choice in (best, own))
        if mine and other:
            yield float(mine / other), words
        elif not share:
            yield gain(own.prediction, best.prediction, found.by), words


def certificate_of_choices(found: Plan) -> float | None:
    """Return the cost of the best choice over the bound of all choices and placements; None if there is none."""
    best = found.best
    bound = bound_of_choices(with_tasks(found.where, best.where.tasks_per_node), best.grid) if found.own else None
    cost = (found.where.neighbours and beside(best.where, best.placed, found.where.neighbours)) or best.prediction.cost
    return certificate(cost, bound) if bound and not best.prediction.remaps else None


def on_nodes_to_ask_for(where: Question) -> Question:
    """Return a question that leaves a choice of nodes only if they have names, by which a job can ask for them."""
    if where.among is None or not Hosts(where.network, hosts=where.hosts).are_made_up:
        return where
    return replace(where, among=None, shapes=tuple(replace(shape, among=None) for shape in where.shapes))


def job_lines(where: Question, scheduler: str = "slurm") -> Iterator[tuple[str, str]]:
    """Yield labelled lines: the usable nodes in words, and lines of a job script that asks for them if they have names."""
    yield "nodes", words_of_nodes(where)
    if lines := job_script(where, scheduler):
        yield "job", "\n".join(lines)  # several lines are not wrapped


def job_script(where: Question, scheduler: str) -> list[str]:
    """Return lines of a job script that ask for the usable nodes; [] if they have no names, which only Fujitsu needs not."""
    is_unnamed = scheduler != FUJITSU and Hosts(where.network, hosts=where.hosts).are_made_up
    return [] if is_unnamed else [*SCHEDULERS[scheduler](where)]


def scheduler_of(where: Question) -> str:
    """Return the scheduler of a machine: Fujitsu's if its launcher reads such files, else Slurm."""
    return FUJITSU if format_of_launcher(where) in FUJITSU_FORMATS else "slurm"


def program_on_nodes(where: Question, file: str) -> tuple[Question, str]:
    """Return a question about a program on the best choice of nodes, and a sentence about the nodes of the scheduler.

    Parameters
    ----------
    where : Question
        Leaves a choice of nodes.
    file : str
        The traffic, ``[NAME=]FILE``.
    """
    traffic = traffic_of(where, file if exists(file) else file.partition("=")[2] or file)

    placed = {site_key(here): (here, place_program(here, traffic, (BEST,), here.routing, "quick"))
              for here in (*sites_of_program(where, traffic), *own_choices(where).values())}
    best, found = min(placed.values(), key=lambda each: each[1].best[1].link_bytes)
    (mapping, prediction), nodes = found.best, best.site.allocation.nodes
    least = prediction.link_bytes

    def cost(here: Question) -> float:
        """Return the least load of a choice of nodes, also of the best placement on the nodes in the same places."""
        moved = here.site.allocation.nodes[np.searchsorted(nodes, mapping.node_of_rank)]
        same = Mapping(mapping.network, mapping.grid, mapping.tasks_per_node, moved, mapping.slot_of_rank, BEST)
        return min(placed[site_key(here)][1].best[1].link_bytes,
                   predict_program(same, traffic, here.routing, adaptive=True).link_bytes)

    best = next(here for here, _ in placed.values() if cost(here) <= least)
    said = [f"takes {words_of_nodes(own)} by itself ({setting}): {factor(least / cost(own) if least else 1.0)} "
            "if other jobs are quiet" if site_key(own) != site_key(best) else f"takes these nodes by itself ({setting})"
            for setting, own in own_choices(where).items()]
    return best, f"{SLURM} {', '.join(said)} (predicted)."


def idle_lines(where: Question, mapping: Mapping) -> Iterator[tuple[str, str]]:
    """Yield a labelled line about the usable nodes on which a mapping has no task, if there are any."""
    idle = np.setdiff1d(where.site.allocation.nodes, mapping.node_of_rank)
    if len(idle):
        yield "idle", f"{counted(len(idle), 'node')}: {folded_hosts(Hosts(where.network, hosts=where.hosts).names(idle))}"


def _names(where: Question) -> list[str]:
    return Hosts(where.network, hosts=where.hosts).names(where.site.allocation.nodes)


def _slurm(where: Question) -> Iterator[str]:
    yield f"#SBATCH --nodes={where.site.allocation.n_nodes} --ntasks-per-node={where.tasks_per_node}"
    yield f"#SBATCH --nodelist={host_list(where)}"


def _slurm_block(where: Question) -> Iterator[str]:
    """Yield the size of segments, without which a job must fit into the fewest leaves, and the other nodes.

    A list of the job's nodes may never be granted.
    """
    yield f"#SBATCH --nodes={where.site.allocation.n_nodes} --ntasks-per-node={where.tasks_per_node}"
    units = where.network.levels[0].unit if where.network.levels else np.arange(where.network.n_nodes)
    count = np.bincount(units[where.site.allocation.nodes])
    segment = int(np.gcd.reduce(count))
    yield f"#SBATCH --segment={segment}{' --spread-segments' if count.max() == segment else ''}"
    others = np.setdiff1d(np.arange(where.network.n_nodes), where.site.allocation.nodes)
    yield f"#SBATCH --exclude={folded_hosts(sorted_by_slurm(Hosts(where.network, hosts=where.hosts).names(others)))}"


def _pbs(where: Question) -> Iterator[str]:
    T = where.tasks_per_node
    yield f"#PBS -l select={'+'.join(f'1:host={name}:ncpus={T}:mpiprocs={T}' for name in _names(where))}"
    yield "#PBS -l place=scatter"


def _lsf(where: Question) -> Iterator[str]:
    yield f"#BSUB -n {where.n_slots} -R \"span[ptile={where.tasks_per_node}]\""
    yield f"#BSUB -m \"{' '.join(_names(where))}\""


def _fujitsu(where: Question) -> Iterator[str]:
    """Yield the shape; a shape is all that a job can ask for."""
    if where.network.has_coordinates and where.site.allocation.is_complete:
        yield from fujitsu.job_lines(job_of(where))


def _flux(where: Question) -> Iterator[str]:
    yield f"#flux: -N {where.site.allocation.n_nodes} -n {where.n_slots}"
    yield f"#flux: --requires=host:{host_list(where)}"


#: the lines of a job script that ask for the usable nodes, by the scheduler; sources: sbatch(1) of Slurm and its page on
#: topology/block, qsub(1B) and pbs_resources(7B) of OpenPBS, bsub(1) of LSF, flux-submit(1), pjsub(1) of Fujitsu
SCHEDULERS: dict[str, Callable[[Question], Iterator[str]]] = {
    "slurm": _slurm, "slurm-block": _slurm_block, "pbs": _pbs, "lsf": _lsf, "flux": _flux, FUJITSU: _fujitsu}


def chosen_as_dict(asked: Question, where: Question, scheduler: str) -> dict[str, Any]:
    """Return the nodes that were chosen for a question for JSON, with lines of a job script; empty if none were chosen."""
    if asked.among is None or where.among is not None:
        return {}
    own = own_choices(with_tasks(asked, where.tasks_per_node))
    return {"nodes": {"hosts": host_list(where), "words": words_of_nodes(where), "job": job_script(where, scheduler),
                      "of_scheduler": [name for name, here in own.items() if site_key(here) == site_key(where)]}}


def nodes_as_dict(found: Plan, choice: Choice, scheduler: str) -> dict[str, Any]:
    """Return the nodes of a choice as `chosen_as_dict` does, with its cost beside neighbours and its certificate."""
    chosen = chosen_as_dict(found.where, choice.where, scheduler)
    if chosen:
        chosen["nodes"] |= {"beside": [None if cost is None else float(cost) for cost in
                                       (beside(choice.where, choice.placed, Fraction(share)) for share in (0, 1))],
                            "certificate": certificate_of_choices(found) if choice is found.best else None}
    return chosen
