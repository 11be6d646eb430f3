"""`network` without a machine: where the job is, the line to type next, and a network in the terminal: its levels, groups or
planes, and the nodes of a job in them.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pencilmap.mapper.allocations import READERS, batch, job_hosts, look_around, read_description
from pencilmap.mapper.allocations.found import Fact, Picture, uneven
from pencilmap.mapper.allocations.hwloc import slot_cores
from pencilmap.mapper.allocations.slurm import topology_files
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import temporary_folder, write_whole
from pencilmap.mapper.base.hosts import hosts_per_node
from pencilmap.mapper.graphs import names_file
from pencilmap.mapper.graphs.switch_tree import UNKNOWN_CABLES
from pencilmap.mapper.launchers import visible_order
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PencilmapError, printable
from pencilmap.model.base.units import counted, plural
from pencilmap.model.kinds import kind_of
from pencilmap.model.kinds.dragonfly_network import Dragonfly
from pencilmap.model.kinds.fat_tree import FatTree
from pencilmap.model.network.graph import Level
from pencilmap.model.network.network import Network
from pencilmap.scripts.command_line.pages import spelled
from pencilmap.scripts.command_line.predictions import listed
from pencilmap.scripts.command_line.tables import echo, labelled, print_json, print_table, say
from pencilmap.scripts.pictures.text import planes_text, unit_names, unit_word, units_title

MOST_UNITS = 10  # units with a line each
WIDTH = 40       # columns of the line of a unit
COLUMNS = 80     # of a picture of planes
PLANES = 14      # lines of a picture of planes
MOST_DRAWN = 1 << 22  # nodes of a torus
USED, FREE = "#", "."


def where_is_the_job(network: Network, nodes: Ints | None, tasks: tuple[int, ...], is_known: bool) -> str:
    """Return the sentence about the nodes of a job.

    Parameters
    ----------
    network : Network
    nodes : int array, optional
        Nodes of the job; all if it is not known.
    tasks : tuple of int
        Tasks of a node: none if unknown, the fewest and the most if they differ.
    is_known : bool
        Whether a source names the job.

    Examples
    --------
    >>> from pencilmap.model.kinds import network_named
    >>> where_is_the_job(network_named("fat-tree:leaves=3,hosts=4,up=2"), np.array([0, 1, 4]), (1, 2), True)
    'Your job has 3 of 12 hosts, on 2 of 3 leaves of a tree, 1 to 2 tasks on each host.'
    """
    word = "node" if network.has_coordinates else "host"
    number = on_each(tasks, word)
    kind = f"a {kind_of(network).name.removeprefix('fat-').replace('hyperx', 'HyperX')}" if network.levels else network.title
    if nodes is None or (nodes.size == network.n_nodes and not is_known):
        units = [*(counted(level.count, unit_word(level)) for level in reversed(network.levels)),
                 counted(network.n_nodes, word)]
        return f"The network is {kind} of {', '.join(units)}{number}."
    parts = [f"{len(_held(level, nodes))} of {counted(level.count, unit_word(level))}" for level in network.levels]
    inside = f", on {' in '.join(parts)}" if parts else ""
    return f"Your job has {nodes.size} of {counted(network.n_nodes, word)}{inside} of {kind}{number}."


def on_each(tasks: tuple[int, ...], word: str) -> str:
    """Return the end of a sentence about nodes: the tasks of each.

    >>> on_each((2,), "host"), on_each((1, 2), "node"), on_each((), "node")
    (', 2 tasks on each host', ', 1 to 2 tasks on each node', '')
    """
    return f", {' to '.join(map(str, (*tasks[:-1], counted(tasks[-1], 'task'))))} on each {word}" if tasks else ""


def network_lines(network: Network, nodes: Ints | None) -> Iterator[str]:
    """Yield the lines of a picture: the units with nodes of the job, or the planes of a torus; without a job its levels.

    Parameters
    ----------
    network : Network
    nodes : int array, optional
        Nodes of the job.

    Examples
    --------
    >>> from pencilmap.model.kinds import network_named
    >>> tree = network_named("fat-tree:leaves=3,hosts=4,up=2")
    >>> print("\\n".join(network_lines(tree, np.array([0, 1, 4]))))
      leaf0   ##..  2 of 4 hosts
      leaf1   #...  1 of 4 hosts
      others  1 leaf without hosts of the job
    >>> print("\\n".join(network_lines(tree, None)))
      2 switches at the top
        3 leaves, 2 cables upwards each
          12 hosts, 4 on each leaf
    >>> print("\\n".join(network_lines(network_named("4x2"), np.array([0, 1, 4]))))
    y
    1  # . . .
    0  # # . .
       0     3 x
    """
    job = None if nodes is None or nodes.size == network.n_nodes else nodes
    if network.levels:
        yield from (f"  {line}" for line in level_lines(network)) if job is None else unit_lines(network, job)
    elif network.has_coordinates and job is not None and network.n_nodes > MOST_DRAWN:
        yield f"at most {MOST_DRAWN} nodes are drawn"
    elif network.has_coordinates and job is not None:
        mark = np.full(network.n_nodes, FREE)
        mark[job] = USED
        yield from planes_text(network, mark, COLUMNS, FREE + USED, PLANES)


def about_routes(network: Network) -> str:
    """Return the sentence about the routes of a network that a reader of its times needs, "" if there is none.

    >>> from pencilmap.model.kinds import network_named
    >>> about_routes(network_named("dragonfly:a=4,p=2,groups=3,cables=2"))
    'Two groups share 2 cables. If its routers adapt, times are ranges.'
    """
    if not network.has_groups:
        return ""
    ranges = " If its routers adapt, times are ranges." if kind_of(network).bracket else ""
    return f"Two groups share {_shared(network)}.{ranges}"


def level_lines(network: Any) -> Iterator[str]:
    """Yield a line for each level of a network, from the largest units."""
    if network.has_groups or network.levels[0].cables is not None:
        yield from _groups_of_dragonfly(network) if network.has_groups else _levels_of_tree(network)
        return
    for i, level in enumerate(reversed(network.levels)):
        hosts = np.bincount(level.unit[:network.n_nodes], minlength=len(level.names))
        hosts = hosts[hosts > 0]
        yield f"{'  ' * i}{counted(level.count, unit_word(level))}, {_span(hosts, 'host')} each"
    switches = counted(network.real_switches, "switch")
    yield f"{'  ' * len(network.levels)}{counted(network.n_nodes, 'host')}, {switches}"


def _groups_of_dragonfly(network: Dragonfly) -> Iterator[str]:
    """Yield a line for the groups of a dragonfly, and a line for the switches of a group."""
    spines, leaves = network.spines, network.per_group - network.spines
    hosts = np.bincount(network.levels[-1].unit[:network.n_nodes])
    inside = f"{counted(leaves, 'leaf')} and {counted(spines, 'spine')}" if spines else counted(leaves, "switch")
    yield f"{counted(network.groups, 'group')}, {_shared(network)} between two groups"
    yield f"  {inside} in each group, {_span(hosts, 'host')}"


def _shared(network: Any) -> str:
    """Return the number of cables between two groups in words."""
    links, _ = network.cables_of_pair
    return _span((links >= 0).sum(axis=2)[np.triu_indices(network.groups, 1)], "cable") if network.groups > 1 else "no cable"


def _levels_of_tree(tree: FatTree) -> Iterator[str]:
    """Yield a line for each level of a tree, from the top."""
    depth = len(tree.levels)
    yield f"{counted(int((tree.levels[-1].unit[tree.n_nodes:] < 0).sum()), 'switch')} at the top"
    for i in range(depth - 1, -1, -1):
        level = tree.levels[i]
        assert level.cables is not None  # a tree has some
        implied = sorted({int(level.unit[v]) for v in tree.implied if level.unit[v] >= 0 > tree.levels[i - 1].unit[v]})
        name, cables = level.name, np.delete(level.cables, implied)  # an implied switch is in no unit of the level below
        switches = f" of {level.switches} switches" if level.switches > 1 else ""
        assumed = " (assumed)" if any(note.startswith(UNKNOWN_CABLES) for note in tree.notes) else ""
        yield (f"{'  ' * (depth - i)}{counted(len(cables), name)}{switches}, {_span(cables, 'cable')} upwards each"
               f"{assumed}")
    hosts = np.bincount(tree.levels[0].unit[:tree.n_nodes])
    links = f", {tree.links_per_host} links each" if tree.links_per_host > 1 else ""
    yield f"{'  ' * (depth + 1)}{counted(tree.n_nodes, 'host')}, {_span(hosts)} on each {tree.levels[0].name}{links}"


def _span(numbers: Ints, word: str = "") -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return (str(low) if low == high else f"{low} to {high}") + (f" {plural(word, high)}" if word else "")


def unit_lines(network: Any, nodes: Ints, node_of_rank: Ints | None = None, most: int = MOST_UNITS) -> Iterator[str]:
    """Yield a line for each unit that holds nodes of a job, the groups of a dragonfly; if there are many, for the busiest.

    Parameters
    ----------
    network : Network
        With levels.
    nodes : int array
        Nodes of the job.
    node_of_rank : int array, optional
        Also count the ranks.
    most : int
        Lines for units. Of more units, those with the same numbers share a line.

    Examples
    --------
    >>> from pencilmap.model.kinds import network_named
    >>> tree = network_named("fat-tree:leaves=9,hosts=4,up=2")
    >>> print("\\n".join(unit_lines(tree, np.array([0, *range(4, 24), 28]), most=1)))
      5 leaves  ####  4 of 4 hosts each
      others    2 leaves with 1 host, 2 leaves without hosts of the job
    """
    level = _level_drawn(network, nodes, most)
    held, sizes = _held(level, nodes), np.bincount(level.unit[:network.n_nodes])
    ranks = None if node_of_rank is None else np.bincount(level.unit[node_of_rank], minlength=len(sizes))
    facts = {unit: (count, int(sizes[unit]), 0 if ranks is None else int(ranks[unit])) for unit, count in held.items()}
    units: list[list[int]] = [[unit] for unit in facts]
    if len(facts) > most:
        alike: dict[tuple[int, int, int], list[int]] = {}
        for unit, fact in facts.items():
            alike.setdefault(fact, []).append(unit)
        units = sorted(alike.values(), key=lambda group: (-facts[group[0]][0], -facts[group[0]][2], group[0]))
    names, word = unit_names(network, level), unit_word(level)
    shown = [(units_title(word, [names[unit] for unit in group]), *facts[group[0]], len(group)) for group in units[:most]]
    width, scale = max(6, *(len(name) for name, *_ in shown)), max(1, -(-int(sizes.max()) // WIDTH))
    for name, count, size, sent, number in shown:
        bar = (USED * -(-count // scale)).ljust(-(-size // scale), FREE)
        also = f", {counted(sent, 'rank')}" if sent else ""
        yield f"  {name:{width}}  {bar}  {count} of {counted(size, 'host')}{also}{' each' * (number > 1)}"
    more = [facts[unit][0] for group in units[most:] for unit in group]
    rest = level.count - len(held)
    others = [f"{counted(len(more), word)} with {_span(np.array(more), 'host')}"] if more else []
    others += [f"{counted(rest, word)} without"] if rest else []
    if others:
        of_job = "" if more and not rest else " hosts of the job"
        yield f"  {'others':{width}}  {', '.join(others)}{of_job}"


def _level_drawn(network: Any, nodes: Ints, most: int) -> Level:
    """Return the groups, or the smallest level of which few units hold the nodes, but not one alone; else the smallest."""
    if network.has_groups:
        return network.levels[-1]
    levels = [level for level in network.levels if 1 < len(_held(level, nodes)) <= most]
    return levels[0] if levels else network.levels[0]


def _held(level: Level, nodes: Ints) -> dict[int, int]:
    """Return the number of nodes of the job in each unit that has any: dict from unit."""
    units, counts = np.unique(level.unit[nodes], return_counts=True)
    return dict(zip(units.tolist(), counts.tolist()))


LSTOPO = ("lstopo-no-graphics", "lstopo")
SCONTROL = ("scontrol", "show", "topology")
COPY = "topology.txt"  # file that the user makes of the output of scontrol
TIMEOUT_S = 20         # of a command that is asked
LAUNCH_ORDER = "launch order"  # a fact
EXAMPLE = "512"        # transform in the command to type next
BANDWIDTH = "12.5 GB/s"  # of a cable there, if it is not known: 100 Gbit/s
TASKS = 4  # on a host, in an example


def show_job(files: tuple[str, ...], network: str | None, hardware: bool, output: str | None, order: str,
             wide: bool, as_json: bool) -> int:
    """Print what the environment and files say about the job's nodes; return 1 if nothing is found or written, else 0.

    `order` is the order of the hosts, see `pencilmap.mapper.allocations.found.Picture.in_order`.
    """
    with temporary_folder() as folder:
        in_job = bool(look_around(os.environ).facts)
        asked = _hardware(folder, hardware and in_job) | _slurm_network(folder, bool(files or network))
        hosts = _kept(folder / "hosts", batch.COMMAND) if os.environ.get("FLUX_JOB_ID") else {}
        is_file = network and names_file(network)
        text, file = (None, network) if is_file else (network, None)
        picture = look_around(os.environ, [*files, *asked], text, hosts, file)
        asked |= hosts
        facts = [f._replace(source=asked.get(f.source, f.source)) for f in picture.facts]  # readers know temporary names
        made = COPY if asked.get(picture.path or "") == " ".join(SCONTROL) else None
        graph = picture.graph and replace(picture.graph, notes=tuple(n.replace(str(picture.path), made or str(picture.path))
                                                                     for n in picture.graph.notes))
        launch = visible_order(os.environ)
        if launch is not None:
            phrase = launch.phrase(*launch.orders) if launch.orders else \
                f"{launch.title}, which is no order of axes or slots"
            facts.append(Fact(LAUNCH_ORDER, phrase, printable(launch.reason)))
        picture = replace(picture, facts=tuple(facts), path=made or picture.path, graph=graph).in_order(order)
    if output and picture.nodes is not None:
        write_whole(output, picture.table())
    if as_json:
        print_json(as_dict(picture, output))
    else:
        _show(picture, [*map(shell.path, files), *([f"--network {shell.path(network)}"] if network else [])], output, wide)
    unwritten = output and picture.nodes is None
    if unwritten:
        say(f"pencilmap: {output} was not written: the nodes of the job are not known", err=True)
    return 0 if (picture.facts or picture.network) and not unwritten and (picture.network or not file) else 1


def _hardware(folder: Path, wanted: bool) -> dict[str, str]:
    """Return the file of the hwloc XML of this node, and its source: a dict, empty if lstopo is missing or fails."""
    program = next(filter(None, map(shutil.which, LSTOPO)), None)
    path = folder / "hwloc of this node"
    if not wanted or program is None or _output([program, "--of", "xml", path]) is None:
        return {}
    return {str(path): f"{LSTOPO[1]} on this node"}


def _slurm_network(folder: Path, known: bool) -> dict[str, str]:
    """Return the file of the network of a Slurm job, and its source: a dict, empty if the network is given or unknown."""
    files = [] if known else topology_files(os.environ)
    readable = next((path for path in files if path.exists() and _is_read(path)), None)
    if readable:
        return {str(readable): str(readable)}
    return _kept(folder / "topology", SCONTROL) if files else {}


def _kept(path: Path, command: Sequence[str]) -> dict[str, str]:
    """Return a file with the output of a command, if the output is a description that is read."""
    output = _output(command)
    if not output or not output.strip():
        return {}
    path.write_bytes(output)
    return {str(path): " ".join(command)} if _is_read(path) else {}


def _output(command: Sequence[str | Path]) -> bytes | None:
    """Return what a command prints, None if it fails."""
    try:
        return subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _is_read(path: Path) -> bool:
    try:
        return bool(read_description(path).hosts)
    except PencilmapError:
        return False


def as_dict(picture: Picture, output: str | None = None) -> dict[str, Any]:
    """Return the picture as JSON values."""
    return {"facts": [fact._asdict() for fact in picture.facts],
            "torus": picture.text,
            "network": picture.graph and {**picture.graph.as_dict(), "notes": list(picture.graph.notes)},
            "nodes": None if picture.nodes is None or picture.network is None else [
                {"node": coordinates, "host": name} for name, coordinates in picture.places()],
            "tasks_per_node": picture.tasks_per_node, "missing": picture.missing and spelled(picture.missing),
            "slot_cores": _bound(picture),
            "options": _options(picture, output or "NODES") or None}


def _bound(picture: Picture) -> list[str] | None:
    """Processors of each slot of a host, if both are known and there are enough processors."""
    cores, tasks = picture.cores or (), (picture.tasks_per_node or 0) // hosts_per_node(picture.hosts)
    return list(slot_cores(cores, tasks)) if 0 < tasks <= len(cores) else None


def _options(picture: Picture, path: Any) -> str:
    return " ".join(f"--{name.replace('_', '-')} {shell.path(value)}" for name, value in picture.arguments(path).items())


def _show(picture: Picture, words: list[str], output: str | None, wide: bool) -> None:
    if not picture.facts and picture.network is None:
        say("found nothing; inside a job, or with files, these are read:", *(f"  {each.title}" for each in READERS.values()))
        return
    asked, tasks = _asked(picture), tuple(filter(None, (picture.tasks_per_node, picture.most_tasks)))
    if picture.network is None:
        number = len({*job_hosts(os.environ)})
        job = f"Your job has {counted(number, 'host')}{on_each(tasks, 'host')}."
        say(job if number else "The network of the job is not known.")
    else:
        say(where_is_the_job(picture.network, picture.nodes, tasks, bool(job_hosts(os.environ))))
        if about := about_routes(picture.network):
            say(about)
    if picture.missing:
        say(f"Not known: {spelled(picture.missing)}.")
    elif asked:
        say(f"Ask for {listed(list(asked.values()))}.")
    echo()
    if picture.network is not None and (drawn := list(network_lines(picture.network, picture.nodes))):
        echo("\n".join(drawn) + "\n")  # as it is, for the picture has columns
    if output and picture.nodes is not None:
        labelled("wrote", output)
    if picture.network is not None:
        for number, line in enumerate(_next(picture, words, output, asked)):
            labelled("" if number else "next", line, shell=True)
    if problem := uneven(picture.tasks_per_node, picture.most_tasks):
        labelled("note", spelled(problem))
    for note in picture.graph.notes if picture.graph is not None else ():
        if not note.startswith(UNKNOWN_CABLES):
            labelled("note", spelled(note))
    sources = dict.fromkeys(fact.source for fact in picture.facts if fact.what != LAUNCH_ORDER)
    read = [source for source in sources if not any(other.startswith(f"{source},") for other in sources)]
    if read:
        labelled("from", ", ".join(read))
    if wide:
        options = _options(picture, output or "NODES")
        for label, text in (("options", options), ("cores", " ".join(_bound(picture) or ()))):
            if text:
                labelled(label, text, shell=label == "options")
        echo()
        print_table(None, ["what", "value", "from"], [[*fact] for fact in picture.facts], folds=True)


def _asked(picture: Picture) -> dict[str, str]:
    """Return what the sources leave out, as options of a plan with the words for a question: dict from option to words."""
    network = picture.network
    if network is None:
        return {}
    is_assumed = picture.graph is not None and any(note.startswith(UNKNOWN_CABLES) for note in picture.graph.notes)
    above = " and on the levels above (core-taper=K)" * _is_deep(picture)
    cables = {"taper": f"the cables above a leaf (taper=2: half as many as hosts){above}"} if is_assumed else {}
    is_job = "nodes" in picture.arguments() and not picture.tasks_per_node
    tasks = {"tasks_per_node": f"the tasks on each host (e.g. {TASKS})"} if is_job else {}
    return cables | tasks | (
        {"bandwidth": f"the bandwidth of a cable (e.g. {BANDWIDTH})"} if network.bandwidth is None else {})


def _is_deep(picture: Picture) -> bool:
    """Whether the network has levels above the leaves."""
    return picture.graph is not None and len(picture.graph.levels) > 1


def _next(picture: Picture, words: list[str], output: str | None, asked: dict[str, str]) -> Iterator[str]:
    """Yield the commands that lead to a plan for this job. `words` are the sources that were named to this command."""
    if picture.path == COPY:
        yield f"{' '.join(SCONTROL)} > {COPY}"
    free = next(name for name in ("nodes.txt", "job.txt") if name not in words)  # the input is not written over
    arguments = picture.arguments(output or free)
    if "nodes" in arguments and not output:
        words = [COPY] if picture.path == COPY else words
        yield f"pencilmap network {' '.join([*words, '-o', shell.path(arguments['nodes'])])}"
    if "taper" in asked:
        arguments["network"] += ",taper=2" + ",core-taper=1" * _is_deep(picture)
    if "tasks_per_node" in asked:
        arguments = {"network": arguments["network"], "tasks_per_node": str(TASKS), **arguments}
    if "bandwidth" in asked:
        arguments["bandwidth"] = BANDWIDTH
    options = " ".join(f"--{name.replace('_', '-')} {shell.path(text)}" for name, text in arguments.items()
                       if name != "hosts")
    yield f"pencilmap plan {options} --fft {EXAMPLE}"
