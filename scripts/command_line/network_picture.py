"""A network in the terminal: its levels and groups, or its planes, and the nodes of a job in them."""

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.units import counted, plural
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.kinds import kind_of
from pencilmap.model.network.network import Network
from pencilmap.scripts.pictures.loads_table import unit_names, unit_word
from pencilmap.scripts.pictures.plain import planes_text

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
    >>> from pencilmap.model.network.kinds import network_named
    >>> where_is_the_job(network_named("fat-tree:leaves=3,hosts=4,up=2"), np.array([0, 1, 4]), (1, 2), True)
    'Your job has 3 of 12 hosts, on 2 of 3 leaves of a tree, 1 to 2 tasks on each host.'
    """
    word = "node" if network.has_coordinates else "host"
    each = on_each(tasks, word)
    kind = f"a {kind_of(network).name.removeprefix('fat-').replace('hyperx', 'HyperX')}" if network.levels else network.title
    if nodes is None or (nodes.size == network.n_nodes and not is_known):
        units = [*(counted(level.count, unit_word(level)) for level in reversed(network.levels)),
                 counted(network.n_nodes, word)]
        return f"The network is {kind} of {', '.join(units)}{each}."
    parts = [f"{len(_held(network, level, nodes))} of {counted(level.count, unit_word(level))}" for level in network.levels]
    inside = f", on {' in '.join(parts)}" if parts else ""
    return f"Your job has {nodes.size} of {counted(network.n_nodes, word)}{inside} of {kind}{each}."


def on_each(tasks: tuple[int, ...], word: str) -> str:
    """Return the end of a sentence about nodes: the tasks of each.

    >>> on_each((2,), "host"), on_each((1, 2), "node"), on_each((), "node")
    (', 2 tasks on each host', ', 1 to 2 tasks on each node', '')
    """
    return f", {' to '.join(map(str, (*tasks[:-1], counted(tasks[-1], 'task'))))} on each {word}" if tasks else ""


def network_lines(network: Network, nodes: Ints | None) -> Iterator[str]:
    """Yield the lines of a picture: the units with nodes of the job, or the planes of a torus; nothing without a job.

    Parameters
    ----------
    network : Network
    nodes : int array, optional
        Nodes of the job.

    Examples
    --------
    >>> from pencilmap.model.network.kinds import network_named
    >>> print("\\n".join(network_lines(network_named("fat-tree:leaves=3,hosts=4,up=2"), np.array([0, 1, 4]))))
      leaf0   ##..  2 of 4 hosts
      leaf1   #...  1 of 4 hosts
      others  1 leaf without hosts of the job
    >>> print("\\n".join(network_lines(network_named("4x2"), np.array([0, 1, 4]))))
    y
    1  # . . .
    0  # # . .
       0     3 x
    """
    if nodes is None or nodes.size == network.n_nodes:
        return
    if network.has_coordinates:
        yield from _planes(network, nodes)
    elif network.levels:
        yield from _units(network, nodes)


def _planes(torus, nodes):
    """Yield the planes of a torus and the nodes of the job in them."""
    if torus.n_nodes > MOST_DRAWN:
        yield f"at most {MOST_DRAWN} nodes are drawn"
        return
    mark = np.full(torus.n_nodes, FREE)
    mark[nodes] = USED
    yield from planes_text(torus, mark, COLUMNS, FREE + USED, PLANES)


@singledispatch
def level_lines(network: Any) -> Iterator[str]:
    """Yield a line for each level of another network, from the largest units."""
    for i, level in enumerate(reversed(network.levels)):
        hosts = np.bincount(level.unit[:network.n_nodes], minlength=len(level.names))
        hosts = hosts[hosts > 0]
        yield f"{'  ' * i}{counted(level.count, unit_word(level))}, {_span(hosts, 'host')} each"
    switches = counted(network.real_switches, "switch")
    yield f"{'  ' * len(network.levels)}{counted(network.n_nodes, 'host')}, {switches}"


@level_lines.register
def _levels_of_tree(tree: FatTree) -> Iterator[str]:
    """Yield a line for each level of a tree, from the top."""
    depth = len(tree.above)
    yield f"{counted(tree.switches[-1], 'switch')} at the top"
    for i in range(depth - 1, -1, -1):
        name = tree.levels[i].name
        cables = np.delete(tree.cables_up[i], _implied(tree, i))
        switches = f" of {tree.switches[i]} switches" if tree.switches[i] > 1 else ""
        yield (f"{'  ' * (depth - i)}{counted(len(cables), name)}{switches}, {_span(cables, 'cable')} upwards each")
    hosts = np.bincount(tree.levels[0].unit[:tree.n_nodes])
    links = f", {tree.links_per_host} links each" if tree.links_per_host > 1 else ""
    yield f"{'  ' * (depth + 1)}{counted(tree.n_nodes, 'host')}, {_span(hosts)} on each {tree.levels[0].name}{links}"


def _implied(tree, i):
    """Return the units of level i that end in an implied switch, which is in no unit of the level below."""
    return sorted({int(tree.levels[i].unit[v]) for v in tree.implied
                   if tree.levels[i].unit[v] >= 0 > tree.levels[i - 1].unit[v]})


def _span(numbers, word=""):
    low, high = int(numbers.min()), int(numbers.max())
    return (str(low) if low == high else f"{low} to {high}") + (f" {plural(word, high)}" if word else "")


def _units(network, nodes):
    """Yield a line for each unit that holds nodes of the job: of the smallest level that has few enough."""
    level = next((level for level in network.levels if len(_held(network, level, nodes)) <= MOST_UNITS), network.levels[-1])
    held, size = _held(network, level, nodes), np.bincount(level.unit[:network.n_nodes])
    named = unit_names(network, level)
    names = {unit: named[unit] for unit in held}
    width = max(6, *map(len, names.values()))
    scale = max(1, -(-int(size.max()) // WIDTH))
    for unit, count in list(held.items())[:MOST_UNITS]:
        bar = USED * -(-count // scale)
        bar = bar.ljust(-(-int(size[unit]) // scale), FREE)
        yield f"  {names[unit]:{width}}  {bar}  {count} of {counted(int(size[unit]), 'host')}"
    more = len(held) - MOST_UNITS
    rest = level.count - len(held)
    others = [f"{counted(number, unit_word(level))} {which}" for number, which in ((more, "with"), (rest, "without"))
              if number > 0]
    if others:
        yield f"  {'others':{width}}  {', '.join(others)} hosts of the job"


def _held(network, level, nodes):
    """Return the number of nodes of the job in each unit that has any: dict from unit."""
    units, counts = np.unique(level.unit[nodes], return_counts=True)
    return dict(zip(units.tolist(), counts.tolist()))
