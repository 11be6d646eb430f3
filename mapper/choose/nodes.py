"""Which of the free nodes: the sites that a plan tries, the scheduler's own, and a bound over all."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose.choices import Choice
from pencilmap.mapper.formats.hostlist import sorted_by_slurm
from pencilmap.mapper.place import place
from pencilmap.mapper.programs import place_program
from pencilmap.mapper.seeds.graph import halves
from pencilmap.mapper.shapes import (
    box_choices,
    by_port,
    in_words,
    nested_boxes,
    node_choices,
    slurm_block,
    slurm_dragonfly,
    slurm_flat,
    slurm_tree,
)
from pencilmap.model.base.arrays import Ints
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.kinds import default_routing, kind_of, routing
from pencilmap.model.kinds.graph import of_torus
from pencilmap.model.network.network import Network, leaves
from pencilmap.model.placement.allocation import Allocation, Placement, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import answer
from pencilmap.model.predict.certificates import lower_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import worth
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.program import Traffic

DEFAULT = "default"
STEPS = 20  # of a bisection
MOST_SITES = 3  # that a plan tries besides the scheduler's own choice and that of the bound; 1 for many nodes
NODES_OF_SITES = 768  # in all of them together, because each takes as long as a plan of its own


def own_choices(question: Question) -> dict[str, Question]:
    """Return the question on the nodes that Slurm takes if it is told none, by its setting; {} if there is no choice."""
    free = question.among
    if free is None:
        return {}
    rules: dict[str, Callable[..., Ints]] = {"topology/flat": slurm_flat}
    if question.network.levels:
        rules["topology/tree"] = slurm_tree
    if any(level.name == "group" for level in question.network.levels):
        rules["topology/tree with TopologyParam=dragonfly"] = slurm_dragonfly
    number, kind = _numbers_of_slurm(question), kind_of(question.network)
    if question.network.levels and kind.counts_suffice:
        rules["topology/block"] = slurm_block
    taken = {name: nodes for name, rule in rules.items()
             if len(nodes := rule(free, question.site.allocation.n_nodes, number))}
    levels, same = [level.unit[:question.network.n_nodes] for level in question.network.levels], dict[Any, list[str]]()
    for name, nodes in taken.items():
        same.setdefault(_counts(question.on(nodes), levels) if kind.counts_suffice else nodes.tobytes(), []).append(name)
    return {" or ".join(filter(None, (", ".join(names[:-1]), names[-1]))): question.on(taken[names[0]])
            for names in same.values()}


def _numbers_of_slurm(question: Question) -> Ints | None:
    """Return the number of each node in Slurm's table, which has the order of the names; None if they are not all known."""
    names = Hosts(question.network, hosts=question.hosts)
    if names.are_made_up or len(names.table or ()) < question.network.n_nodes:
        return None
    known = names.names(np.arange(question.network.n_nodes))
    place = {name: i for i, name in enumerate(sorted_by_slurm(known))}
    return np.array([place[name] for name in known])


def sites(question: Question, grid: ProcessGrid) -> list[Question]:
    """Return the question on the choices of nodes that a plan should try: the best for the launch order of a grid.

    The first are the scheduler's own choices. A question that leaves no choice is returned as it is.
    """
    if question.among is None:
        return [question.alone]
    free, n_nodes = replace(question.site, allocation=question.among), question.site.allocation.n_nodes
    proved = [] if grid.n_tasks < question.n_slots or _torus_of(question.network)[0].has_products else [
        kind_of(question.network).of_choices(free, n_nodes, _sizes(grid)[0], question.neighbours,
                                             parts_of(question.network))[1]]
    return _best_sites(question, lambda here: _of_launch_order(here, grid), proved)


def sites_of_program(question: Question, traffic: Traffic) -> list[Question]:
    """Return the question on the choices of nodes that are best for a program in the launch order, as `sites` does."""
    if question.among is None:
        return [question.alone]
    return _best_sites(question, lambda here: place_program(here, traffic, (DEFAULT,), here.routing,
                                                            "quick").predictions[0].link_bytes, [])


def _best_sites(question: Question, cost: Callable[[Question], Any], more: Iterable[Ints]) -> list[Question]:
    """Return the question on the scheduler's own choices, on choices of the least cost, and on some more nodes."""
    own, free, network, n_nodes = own_choices(question), question.among, question.network, question.site.allocation.n_nodes
    assert free is not None
    levels = [part[:network.n_nodes] for part in parts_of(network)]
    port = next((found[1] for rule in kind_of(network).rules if (found := rule.make("").ports(network))), None)
    tried = [question.on(nodes) for nodes in _in_boxes(free, n_nodes) or node_choices(free, n_nodes, levels, port)]
    tried.sort(key=cost)
    most = max(1, min(MOST_SITES, NODES_OF_SITES // n_nodes))
    tried[most:] = [question.on(_ports_apart(free, port, nodes) if network.levels else nodes) for nodes in more]
    different = dict[Any, Question]()
    for here in (*own.values(), *tried):
        different.setdefault((_counts(here, levels), cost(here)), here)
    return list(different.values())


def parts_of(network: Network) -> Sequence[Ints]:
    """Return nested parts of the vertices of a network, the smallest first.

    Its units, boxes of a torus, or else the hosts at each switch and those halves of halves that leave them together.
    """
    if network.levels:
        return [level.unit for level in network.levels]
    there, node = _torus_of(network)
    if there.has_coordinates:
        return [box[node] for box in nested_boxes(there)]
    home, parts = leaves(network.arcs(), network.n_nodes).home, halves(network)
    if not 1 < len(np.unique(home[:network.n_nodes])) < network.n_nodes:
        return parts
    _, first = np.unique(home, return_index=True)
    return [home, *(part for part in parts if (part[first][home] == part).all())]


def _torus_of(network: Network) -> tuple[Network, Ints]:
    """Return the torus that a network was recognised as, or the network itself, and there the node of each host."""
    site = of_torus(Site(network))
    return site.network, site.allocation.nodes


def _in_boxes(free: Allocation, n_nodes: int) -> list[Ints]:
    """Return choices of free nodes in small boxes of a torus, which use few links of others; [] on another network."""
    there, node = _torus_of(free.network)
    boxes = box_choices(Allocation(there, node[free.nodes]), n_nodes) if there.has_products else []
    return [np.sort(np.argsort(node)[nodes]) for nodes in boxes]


def words_of_choice(network: Network, nodes: Ints) -> str:
    """Return a choice of nodes in words: how many of how many units, or of a box of a torus."""
    there, node = _torus_of(network)
    return in_words(there, node[nodes])


def _of_launch_order(here: Question, grid: ProcessGrid) -> float | Fraction:
    """Return the cost of the launch order beside the neighbours, or else alone."""
    placed = place(here, DEFAULT, grid)
    return (here.neighbours and beside(here, placed, here.neighbours)) or worth(answer(here, placed, DEFAULT))


def with_tasks(question: Question, tasks: int) -> Question:
    """Return the question with so many tasks on a node, of the several numbers that it may ask about."""
    return next((here for here in question.shapes if here.tasks_per_node == tasks), question)


def beside(here: Question, placed: Placement, share: Fraction) -> Fraction | None:
    """Return the cost of a placement if each other node of a leaf sends a share of what a node of the job sends.

    None if that is not known on this network.
    """
    rule = routing(here.routing or default_routing(here.network), here.network)
    return kind_of(here.network).beside(placed.mapping(), exchanges(placed.grid, here.transform), share, rule)


def break_even(first: Choice, second: Choice) -> Fraction | None:
    """Return the share of the neighbours at which two choices cost the same; None if one of them never costs more."""
    low, high = Fraction(0), Fraction(1)
    ends = [_lead(first, second, share) for share in (low, high)]
    if None in ends or ends[0] * ends[1] >= 0:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _lead(first, second, middle) * ends[0] > 0 else (low, middle)
    return low


def _lead(first: Choice, second: Choice, share: Fraction) -> Any:
    one, other = (beside(choice.where, choice.placed, share) for choice in (first, second))
    return None if one is None or other is None else other - one


def _ports_apart(free: Allocation, port: Ints | None, nodes: Ints) -> Ints:
    """Return free nodes, of each leaf as many as of some nodes, behind different cables if possible."""
    ordered, unit = by_port(free, port), free.network.levels[0].unit
    counts = np.bincount(unit[nodes], minlength=int(unit.max()) + 1)
    return np.sort(np.concatenate([ordered[unit[ordered] == leaf][:n] for leaf, n in enumerate(counts.tolist())]))


def _counts(question: Question, levels: Sequence[Ints]) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of nodes in the units of each level that have some, the largest first."""
    nodes = question.site.allocation.nodes
    return tuple(tuple(sorted(np.unique(unit[nodes], return_counts=True)[1].tolist(), reverse=True)) for unit in levels)


def bound_of_choices(question: Question, grid: ProcessGrid) -> Fraction:
    """Return a bound on the cost of a grid on any of the free nodes, in any placement; 0 if none is known."""
    if question.among is None or grid.n_tasks < question.n_slots:
        return Fraction(0)
    free, n_nodes = replace(question.site, allocation=question.among), question.site.allocation.n_nodes
    smallest = Crossing(grid, question.transform).smallest
    kind, share, parts = kind_of(question.network), question.neighbours, parts_of(question.network)
    of_parts = max(kind.of_choices(free, n_nodes, sizes, share, parts)[0] for sizes in _sizes(grid)) * smallest
    if question.network.levels:
        return of_parts
    return max(of_parts, lower_bound(replace(free, idle=True), grid, question.transform, brief=True).value)


def _sizes(grid: ProcessGrid) -> list[tuple[int, int]]:
    """Return the sizes of two exchanges for which a bound holds; of three, each against the others together."""
    sizes = [size for stage in grid.decomposition.exchanges if (size := grid.extent(stage.letters)) > 1]
    least = {min(size, grid.n_tasks // size) for size in sizes} or {1}
    return [(size, grid.n_tasks // size) for size in sorted(least)]
