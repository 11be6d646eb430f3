"""The fat tree that the hosts, switches and cables of a file form.

Switches of a level are equally far from the hosts. The switches up to a level and the cables between them divide into
units: leaves, pods, the machine. The tree is built from the counts of units and cables. Its even split is that of the
shortest paths only if each switch has equally many cables to each switch above; other files stay graphs.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.base.units import counted
from pencilmap.model.kinds.cabling import Cabling, NotThisKind
from pencilmap.model.kinds.fat_tree import FatTree, fat_tree
from pencilmap.model.kinds.reading import Hosts

MOST_LEVELS = 64


def recognise(cabling: Cabling) -> FatTree:
    """Return the fat tree of a cabling.

    Raises
    ------
    NotThisKind
        If it is none.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.kinds.cabling import cabling_of
    >>> from pencilmap.model.network.graph import from_networkx
    >>> graph = nx.Graph([("a", "s0"), ("b", "s0"), ("c", "s1"), ("d", "s1"), ("s0", "top"), ("s1", "top")])
    >>> nx.set_node_attributes(graph, {"s0": "switch", "s1": "switch", "top": "switch"}, "kind")
    >>> tree = recognise(cabling_of(from_networkx(graph, "small")))
    >>> tree.link_classes, tree.cables_up[0].tolist(), tree.vertices[4:]
    (('host', 'up'), [1, 1], ('s0', 's1', 'top'))
    """
    if not len(cabling.between):
        raise NotThisKind
    links = cabling.host_links
    level, place = _levels(cabling, links)
    lower, upper = _upwards(cabling, level)
    units = _units(lower, upper, level, place)
    order = _in_order(lower, upper, level, place, units)
    counts = [np.bincount(unit[some]) for unit, some in zip(units, order)]
    if len(counts[-1]) > 1:
        raise NotThisKind
    switches = [int(cabling.of_all(count)) for count in counts]
    cables, top = cabling.cables[cabling.between], len(order) - 1
    up = [np.bincount(units[i][lower[at]], cables[at], len(counts[i])).astype(np.int64)
          for i in range(top) for at in [level[lower] == i]]
    number = np.empty(len(level), dtype=np.int64)
    for some in order:
        number[some] = np.arange(len(some))
    links = np.sort(number[links], axis=1)
    above = [unit[order[0]] for unit in units[:-1]]
    _check_evenness(up, switches)
    _check_rails(links, above, up[0])
    classes = [np.flatnonzero(cabling.hosts_at), *(cabling.between[level[lower] == i] for i in range(top))]
    try:
        tree = fat_tree(cabling.name, Hosts(cabling.hosts, links.shape[1], "even", links.ravel()), above, up, switches,
                        cabling.rates(classes), [cabling.switch_names(some) for some in order])
    except NetworkError as error:
        if "evenly" in str(error):  # the switches of a unit do not share its cables
            raise NotThisKind from error
        raise
    vertex = np.concatenate([np.arange(cabling.n_hosts), np.concatenate(order) + cabling.n_hosts])
    cabling.check(tree, vertex)
    passed = Counter(int(level[v - cabling.n_hosts]) for v in cabling.implied)
    return replace(tree, implied=frozenset(np.flatnonzero(np.isin(vertex, list(cabling.implied))).tolist()),
                   levels=tuple(replace(each, implied=passed[i]) for i, each in enumerate(tree.levels)))


def described(tree: FatTree) -> str:
    """Return the numbers of a tree in words.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> described(parse("leaves=8,hosts=4,taper=2,pods=2,core=1"))
    'fat tree, 8 leaves of 4, taper 2, 2 pods, core taper 4'
    """
    hosts = np.bincount(tree.levels[0].unit[:tree.n_nodes])
    words = [f"fat tree, {counted(tree.levels[0].count, tree.levels[0].name)} of {_span(hosts)}"]
    below = np.bincount(tree.switch_of_link, minlength=len(tree.above[0]))
    for i, cables in enumerate(tree.cables_up):
        if i:
            words.append(counted(tree.levels[i].count, tree.levels[i].name))
        ratios = set((below / np.maximum(cables, 1)).tolist())
        if len(ratios) == 1 and cables.all():
            words.append(f"{'core ' * (i > 0)}taper {ratios.pop():.3g}")
        if i + 1 < len(tree.cables_up):
            parent = np.zeros(len(cables), dtype=np.int64)
            parent[tree.above[i]] = tree.above[i + 1]
            below = np.bincount(parent, cables)
    return ", ".join(words)


def _span(numbers: Ints) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"


def _levels(cabling, links):
    """Return hops from each switch to its nearest leaf, and its place when switches are found from the hosts upwards."""
    n = cabling.n_switches
    level, place = np.full(n, -1), np.full(n, -1)
    ends = np.concatenate([cabling.switches, cabling.switches[:, ::-1]])
    order = np.lexsort([ends[:, 1], ends[:, 0]])
    target, start = ends[order, 1], np.searchsorted(ends[order, 0], np.arange(n + 1))
    last, hops, found = _first(links.ravel()), 0, 0
    while len(last):
        if hops > MOST_LEVELS:
            raise NotThisKind
        level[last], place[last] = hops, found + np.arange(len(last))
        hops, found = hops + 1, found + len(last)
        many = start[last + 1] - start[last]
        at = np.arange(many.sum()) + np.repeat(start[last] - np.cumsum(many) + many, many)
        last = _first(target[at][level[target[at]] < 0])
    if (level < 0).any() or hops < 2:
        raise NotThisKind
    return level, place


def _first(values):
    """Return different values in the order in which they come."""
    return values[np.sort(np.unique(values, return_index=True)[1])]


def _upwards(cabling, level):
    """Return the lower and the upper switch of each pair; all cables lead one level up."""
    a, b = cabling.switches.T
    if (abs(level[a] - level[b]) != 1).any():
        raise NotThisKind
    return np.where(level[a] < level[b], a, b), np.where(level[a] < level[b], b, a)


def _units(lower, upper, level, place):
    """Return for each level the unit of each switch of the levels up to it, numbered from the hosts: list of int arrays."""
    found, root = [], np.arange(len(level))
    for i in range(int(level.max()) + 1):
        at = level[upper] == i
        root = _joined(root, lower[at], upper[at])
        inside = np.flatnonzero(level <= i)
        first = np.full(len(level), len(level))
        np.minimum.at(first, root[inside], place[inside])
        unit = np.full(len(level), -1)
        unit[inside] = np.unique(first[root[inside]], return_inverse=True)[1]
        found.append(unit)
    return found


def _joined(root, a, b):
    """Return the root of each part if pairs join parts; `root` has the root of each so far."""
    up = root.tolist()

    def top(x):
        while up[x] != x:
            up[x] = up[up[x]]
            x = up[x]
        return x

    for x, y in zip(a.tolist(), b.tolist()):
        p, q = top(x), top(y)
        if p != q:
            up[max(p, q)] = min(p, q)
    return np.array([top(x) for x in range(len(up))])


def _in_order(lower, upper, level, place, units):
    """Return the switches of each level, unit by unit. The switches of a unit are in the order of the switches above."""
    found: list[Ints] = []
    for i in range(len(units) - 1, -1, -1):
        some = np.flatnonzero(level == i)
        some = some[np.argsort(place[some])]
        key = np.full(len(level), len(level))
        if found:
            number = np.full(len(level), len(level))
            number[found[0]] = np.arange(len(found[0]))
            np.minimum.at(key, lower, number[upper])
        else:
            np.minimum.at(key, upper, place[lower])
        found.insert(0, some[np.lexsort([key[some], units[i][some]])])
    return found


def _check_evenness(up, switches):
    """Raise NotThisKind unless each switch has equally many cables to each switch above it."""
    for cables, number, above in zip(up, switches, switches[1:]):
        if above % number or (cables % above).any():
            raise NotThisKind


def _check_rails(links, above, up):
    """Raise NotThisKind unless leaves that share hosts share all, have as many cables upwards, and are in one unit."""
    first = links[:, :1]
    if (links == first).all():
        return
    group = np.full(len(up), -1)
    group[links] = first
    rows = np.unique(links, axis=0)
    if (group[links] != first).any() or len(np.unique(rows[:, 0])) != len(rows):
        raise NotThisKind
    count = np.stack([(rows == rows[:, i:i + 1]).sum(axis=1) for i in range(rows.shape[1])], axis=1)
    alike = [up, *above[1:]]
    if (count != count[:, :1]).any() or any((some[rows] != some[rows[:, :1]]).any() for some in alike):
        raise NotThisKind
