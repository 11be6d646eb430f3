"""Fat trees: hosts on leaves, leaves in pods, and so on, with cables upwards at each level.

A level divides the hosts into units (leaves, pods). A unit is one switch or several switches that share its cables upwards
evenly: a leaf, or the spines of a pod. All cables upwards of a unit go to the unit above, in turn over its switches. So the
shortest paths between two units use their cables equally (a folded Clos network). The last unit is the whole machine.

Loads follow from counts. A message between two units uses the cables upwards of both and of the units above them, up to the
unit that holds both. So the traffic of a unit is the traffic that crosses its border (`pencilmap.model.kinds.levels`). An
even split puts an equal share on each cable. Under static routes the host that receives a message decides about its cables
at each level. So messages to hosts of the same remainder share cables, and some placements load a few cables only.
Source: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees", CCIT
report 776, Technion (2010).
Cost: sorting the ranks once for each level, for static routes times the cables upwards of a switch.

The fat tree that the hosts, switches and cables of a file form.

Switches of a level are equally far from the hosts. The switches up to a level and the cables between them divide into
units: leaves, pods, the machine. The tree is built from the counts of units and cables. Its even split is that of the
shortest paths only if each switch has equally many cables to each switch above; other files stay graphs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import NetworkError, RoutingError
from pencilmap.model.base.units import counted
from pencilmap.model.kinds.cabling import Cabling, NotThisKind, parts
from pencilmap.model.kinds.levels import LevelKind, OnSwitches, crossing, host_of_end, loads_with_hosts
from pencilmap.model.kinds.reading import HOST_NUMBERS, Hosts, Rates, Wiring, check_size, hosts_of, numbers, whole
from pencilmap.model.network.graph import HOST, SwitchedNetwork
from pencilmap.model.network.network import link_weights
from pencilmap.model.routing.routes import Legs, joined
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.routing.shortest_path import SHORTEST_PATH
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads

USAGE = "fat-tree:leaves=32,hosts=16,up=8"
MOST_STATIC = 10_000_000  # links of a table of static routes


@dataclass(frozen=True, eq=False)
class FatTree(SwitchedNetwork):
    """A tree of units with cables upwards.

    Examples
    --------
    >>> tree = parse("leaves=4,hosts=4,taper=2")
    >>> tree.n_nodes, tree.link_classes, tree.cables_up[0].tolist(), len(tree.level("leaf").names)
    (16, ('host', 'up'), [2, 2, 2, 2], 4)
    """

    above: tuple[Ints, ...] = field(default=(), repr=False)  #: for each level the unit of each leaf; the first is the leaf
    cables_up: tuple[Ints, ...] = field(default=(), repr=False)  #: for each level the cables upwards of each unit
    switches: tuple[int, ...] = ()  #: switches of a unit at each level, and of the top

    @cached_property
    def number_of_host(self) -> Ints:
        """Number D of each host for static routes, counted unit by unit: int array, shape (N,)."""
        leaf = self.switch_of_link[::self.links_per_host]
        return np.argsort(np.lexsort([above[leaf] for above in self.above]))

    @property
    def number_of_end(self) -> Ints:
        """The same of each end: int array, shape (N,), with ``use=task`` (N links_per_host,)."""
        ends = self.links_per_host if self.use == "task" else 1
        return (self.number_of_host[:, None] * ends + np.arange(ends)).ravel()


def fat_tree(name: str, hosts: Hosts, above: Sequence[Ints], cables_up: Sequence[Ints], switches: Sequence[int],
             bandwidth: Rates | Sequence[float] | None = None, *,
             names: Sequence[Sequence[str]] | None = None) -> FatTree:
    """Build a fat tree from its levels.

    Parameters
    ----------
    name : str
    hosts : Hosts
        Their switches are leaves.
    above : sequence of int array
        For each level the unit of each leaf: first the numbers of the leaves themselves, then their pods, and so on. Without
        the top, which is one unit.
    cables_up : sequence of int array
        For each level the cables upwards of each unit.
    switches : sequence of int
        Switches of a unit at each level, and of the top. The first number is 1, for a leaf is a switch.
    bandwidth : str, float, dict or sequence, optional
        See `pencilmap.model.kinds.reading.bandwidths`.
    names : sequence of sequence of str, optional
        For each level, and the top, the names of all switches.

    Raises
    ------
    NetworkError
        If the switches of a unit cannot share its cables evenly.
    """
    classes = ("up", "core", *(f"core{i}" for i in range(2, len(above))))
    rails = hosts.links > 1 and bool((hosts.switch_of_link[:hosts.links] != hosts.switch_of_link[0]).any())
    levels = ("unit" if rails else "leaf", "pod", *(f"level{i}" for i in range(3, len(above) + 1)))
    above, cables_up = tuple(map(np.asarray, above)), tuple(map(np.asarray, cables_up))
    units = [len(cables) for cables in cables_up] + [1]
    check_size(name, sum(n * of_unit for n, of_unit in zip(units, switches)), sum(int(cables.sum()) for cables in cables_up))
    first = np.cumsum([0, *(n * of_unit for n, of_unit in zip(units, switches))])  # number of the first switch of each level
    wiring, below = Wiring.of(hosts), _parents(above)
    for i, cables in enumerate(cables_up):
        if switches[i + 1] % switches[i] or (cables % switches[i]).any():
            raise NetworkError(f"network {name}: {switches[i]} switches of a unit cannot share {switches[i + 1]} switches "
                               f"above and {int(cables.max())} cables evenly")
        switch, port, unit = cable_ends(cables, switches[i])
        per = switches[i + 1] // switches[i]
        wiring.add(classes[i], first[i] + unit * switches[i] + switch,
                   first[i + 1] + below[i][unit] * switches[i + 1] + switch * per + port % per)
    names = names or _names(units, switches)
    units_of = [_units(hosts, above, units, switches, i) for i in range(len(above))]
    labels = [[str(number) for number in range(int(unit.max()) + 1)] for unit in units_of]
    arguments = wiring.arguments(name, [n for of_level in names for n in of_level],
                                 [(level, unit, label) for level, unit, label in zip(levels, units_of, labels)], bandwidth)
    own = [units_of[0][:units[0]], *map(np.arange, units[1:-1])]  # unit of the level of each unit with cables upwards
    arguments["levels"] = tuple(
        replace(level, cables=np.bincount(unit, of_level).astype(np.int64), switches=n * len(unit) // len(level.names))
        for level, unit, of_level, n in zip(arguments["levels"], own, cables_up, switches))
    return FatTree(**arguments, above=above, cables_up=cables_up, switches=tuple(switches))


def cable_ends(cables: Ints, switches: int) -> tuple[Ints, Ints, Ints]:
    """Return switch of the unit, port of the switch, and unit of every cable upwards of a level, unit by unit.

    >>> [ends.tolist() for ends in cable_ends(np.array([4, 2]), 2)]
    [[0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]]
    """
    unit = np.repeat(np.arange(len(cables)), cables)
    number = np.arange(len(unit)) - (np.cumsum(cables) - cables)[unit]
    per_switch = np.maximum(1, cables // switches)[unit]
    return number // per_switch, number % per_switch, unit


def _parents(above: Sequence[Ints]) -> list[Ints]:
    """Return for each level the unit above of each unit: list of int arrays."""
    parents = []
    for i, unit in enumerate(above):
        parent = np.zeros(int(unit.max()) + 1, dtype=np.int64)
        if i + 1 < len(above):
            parent[unit] = above[i + 1]
        parents.append(parent)
    return parents


def _names(units: list[int], switches: Sequence[int]) -> list[list[str]]:
    kinds = ["leaf", *(["spine"] if len(units) == 2 else ["spine", "core", *(f"core{i}-" for i in range(2, len(units)))])]
    return [[f"{kind}{u}-{s}" if n > 1 and per > 1 else f"{kind}{u * per + s}" for u in range(n) for s in range(per)]
            for kind, n, per in zip(kinds, units, switches)]


def _units(hosts: Hosts, above: Sequence[Ints], units: list[int], switches: Sequence[int], level: int) -> Ints:
    """Return the unit of a level of each switch, -1 above the level. Leaves that share their hosts are one unit."""
    own = above[level]
    if level == 0:
        rail_of = np.arange(len(own))
        rail_of[hosts.switch_of_link] = hosts.switch_of_link[::hosts.links].repeat(hosts.links)
        own = np.unique(rail_of, return_inverse=True)[1]
    units_ = [own]
    for i in range(1, len(units)):
        n = units[i] * switches[i]
        if i > level:
            units_.append(np.full(n, -1))
        else:  # the unit of a lower unit follows from any of its leaves
            unit = np.empty(units[i], dtype=np.int64)
            unit[above[i]] = own
            units_.append(np.repeat(unit, switches[i]))
    return np.concatenate(units_)


_NUMBERS = {"leaves": "leaf switches", "hosts": "hosts on each leaf", "up": "cables upwards of a leaf",
            "taper": "hosts of a leaf for each cable upwards", "spines": "switches above the leaves, of each pod",
            "pods": "pods, for three levels", "core": "cables upwards of each spine of a pod",
            "core-taper": "cables into a pod for each cable upwards", **HOST_NUMBERS}


def parse(text: str, bandwidth: Rates | None = None) -> FatTree:
    """Read the numbers of a fat tree, see `_NUMBERS`.

    Raises
    ------
    NetworkError
        If the numbers are not understood, or no fat tree has them.
    """
    kind = "fat-tree"
    values = numbers(kind, text, _NUMBERS, USAGE)
    leaves, below = whole(kind, values, "leaves"), whole(kind, values, "hosts")
    hosts = hosts_of(kind, values, np.arange(leaves), below)
    ports = len(hosts.switch_of_link) // leaves
    up = _cables(kind, values, "up", "taper", ports)
    spines = whole(kind, values, "spines", up)
    if up % spines:
        raise NetworkError(f"network {kind}: up={up} cables of a leaf do not reach spines={spines} switches evenly; give a "
                           "divisor of up")
    above, cables, switches = [np.arange(leaves)], [np.full(leaves, up)], [1, spines]
    if "pods" in values:
        pods = whole(kind, values, "pods")
        if leaves % pods or leaves // pods % whole(kind, values, "rails", 1):
            raise NetworkError(f"network {kind}: leaves={leaves} do not fill pods={pods} evenly, all rails of a host in one "
                               "pod")
        core = _cables(kind, values, "core", "core-taper", leaves // pods * up // spines)
        above.append(np.arange(leaves) // (leaves // pods))
        cables.append(np.full(pods, spines * core))
        switches.append(spines * core)
    elif "core" in values or "core-taper" in values:
        raise NetworkError(f"network {kind}: core cables leave pods; give pods=NUMBER, too")
    return fat_tree(f"{kind}:{text}", hosts, above, cables, switches, bandwidth)


def _cables(kind: str, values: dict[str, Any], cables: str, taper: str, below: int) -> int:
    """Return the cables upwards of a switch with so many cables downwards."""
    if (cables in values) == (taper in values):
        raise NetworkError(f"network {kind}: give {cables}=CABLES or {taper}=RATIO, one of both")
    if cables in values:
        return whole(kind, values, cables)
    ratio = whole(kind, values, taper)
    if below % ratio:
        raise NetworkError(f"network {kind}: {taper}={ratio} does not divide the {below} cables below; give {cables}=CABLES")
    return below // ratio


@dataclass(frozen=True)
class EvenSplit(OnSwitches):
    """Shortest paths: the traffic of a unit is split evenly over its cables."""

    def loads(self, network: FatTree, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link, by counts."""
        return loads_with_hosts(network, exchange, node_of_rank, [
            self.of_level(network, exchange, node_of_rank, i) for i in range(len(network.above))])

    def of_level(self, tree: FatTree, exchange: Exchange, ends: np.ndarray, level: int) -> Floats:
        """Return the bytes on the cables of a level."""
        cables = tree.cables_up[level]
        loads = np.zeros((2, len(cables)))
        for plane in tree.planes():
            both = crossing(exchange, ends, tree.above[level][plane.switch], len(cables), host_of_end(tree))
            loads += np.concatenate(both, axis=1).T * float(plane.share)
        return np.repeat(loads / np.maximum(cables, 1), cables, axis=1).ravel()

    def legs(self, network: FatTree, routers: Ints) -> Legs:
        """Return the routes between leaves."""
        return tree_legs(network, routers)


@dataclass(frozen=True)
class Static(EvenSplit):
    """Static destination routes, as the subnet managers of InfiniBand set them: D modulo k. Tables have the even split."""

    def loads(self, network: FatTree, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link, by counts.

        Raises
        ------
        RoutingError
            If units of a level have different numbers of cables.
        """
        for cables in network.cables_up:
            if len(set(cables.tolist())) > 1:
                raise RoutingError("static routes need the same number of cables upwards on every switch of a level, and "
                                   f"{network.title} has {int(cables.min())} to {int(cables.max())}; take routing "
                                   "shortest-path")
        return super().loads(network, exchange, node_of_rank)

    def of_level(self, tree: FatTree, exchange: Exchange, ends: np.ndarray, level: int) -> Floats:
        """Return the same: end d takes cable d mod k of a leaf with k cables upwards, cable d/w mod k' of the switch above
        if a leaf has w switches above it, and so on, both ways.
        """
        k, n = int(tree.cables_up[level][0]), len(tree.cables_up[level])
        loads = np.zeros((2, n, k))
        port = static_cables(tree, tree.number_of_end, level)
        for plane in tree.planes():
            both = crossing(exchange, ends, tree.above[level][plane.switch], n, host_of_end(tree), port, k)
            loads += np.stack(both) * float(plane.share)
        return loads.ravel()

    def ports(self, network: FatTree) -> tuple[int, Ints] | None:
        """Return the cables of a leaf, and the cable to each host; None if leaves have different numbers of cables."""
        cables = int(network.cables_up[0][0])
        if (network.cables_up[0] != cables).any():
            return None
        return cables, static_cables(network, network.number_of_host, 0)

    def guide(self, network: FatTree, ends: Ints) -> tuple[Ints, Legs] | None:
        """Return the routes between hosts, without the links of hosts."""
        hosts, point = np.unique(ends, return_inverse=True)
        legs = static_legs(network, hosts)
        return None if legs is None else (point, legs)


class TreeKind(LevelKind):
    """The kind of fat trees."""

    counts_suffice = True

    def counted(self, network: Any, ends: Ints) -> tuple[Ints, Floats]:
        """Return the hosts, then the leaves, the pods, and so on, of each plane."""
        unit, length = super().counted(network, ends)
        weights = [float(weight) for weight in link_weights(network)]
        planes: dict[bytes, float] = {}
        for plane in network.planes():                       # planes between the same switches are one
            planes[plane.switch.tobytes()] = planes.get(plane.switch.tobytes(), 0.0) + float(plane.share)
        columns, lengths = [unit[:, 0]], [length]
        for switches, share in planes.items():
            switch = np.frombuffer(switches, dtype=np.int64)[ends]
            for weight, above, cables in zip(weights[1:], network.above, network.cables_up):
                used, number = np.unique(above[switch], return_inverse=True)
                columns.append(sum(map(len, lengths)) + number)
                lengths.append(share * weight / cables[used])
        return np.stack(columns, axis=1), np.concatenate(lengths)

    def guide(self, network: FatTree, ends: Ints, rule: Rule) -> tuple[Ints, Legs] | None:
        """Return static routes, for counts alone give the loads of an even split."""
        return Static().guide(network, ends)


def static_cables(tree: FatTree, end: np.ndarray, level: int) -> np.ndarray:
    """Return the number of the cable upwards of each unit of a level on the way to the ends of these numbers.

    >>> tree = parse("leaves=4,hosts=4,up=2,pods=2,core=2")
    >>> [static_cables(tree, np.arange(8), level).tolist() for level in (0, 1)]
    [[0, 1, 0, 1, 0, 1, 0, 1], [0, 2, 1, 3, 0, 2, 1, 3]]
    """
    rest, switch = np.asarray(end), np.zeros_like(end)
    for i, cables in enumerate(tree.cables_up):
        ports = int(cables[0]) // tree.switches[i]
        port = rest % ports
        if i == level:
            return switch * ports + port
        per = tree.switches[i + 1] // tree.switches[i]  # switches above this one; parallel cables do not divide
        switch, rest = switch * per + port % per, rest // per
    raise IndexError(level)


def tree_legs(tree: FatTree, leaves: Ints) -> Legs:
    """Return the legs between leaves: a cable upwards of each unit of the source, one downwards of each of the target.

    All cables upwards of a unit carry the same, so one of them stands for all.
    """
    pair, (a, b) = np.arange(len(leaves) ** 2), np.divmod(np.arange(len(leaves) ** 2), len(leaves))
    legs, base, total = [], 0, sum(map(len, tree.cables_up))
    for above, cables, weight in zip(tree.above, tree.cables_up, link_weights(tree)[1:]):
        load = float(weight) / np.maximum(cables, 1)
        source, target = above[leaves[a]], above[leaves[b]]
        apart = source != target
        for unit, direction in ((source, 0), (target, 1)):
            legs.append((pair[apart], base + direction * total + unit[apart], load[unit[apart]]))
        base += len(cables)
    return joined(legs, 2 * total)


def static_legs(tree: FatTree, hosts: Ints) -> Legs | None:
    """Return the legs of static routes between different hosts; None if there are no such routes, or too many."""
    uneven = any(len(set(cables.tolist())) > 1 for cables in tree.cables_up)
    n = len(hosts)
    if uneven or len(tree.planes()) > 1 or tree.n_nodes != len(tree.switch_of_link) \
            or n * n * 2 * len(tree.above) > MOST_STATIC:
        return None
    source, target = (grid.ravel() for grid in np.mgrid[:n, :n])
    pair, link, weight, first = [], [], [], 0
    weights = link_weights(tree)[tree.link_classes.index(HOST) + 1:]
    for level, (above, cables) in enumerate(zip(tree.above, tree.cables_up)):
        unit, k = above[tree.switch_of_link[hosts]], int(cables[0])
        port = static_cables(tree, tree.number_of_host[hosts], level)
        apart = unit[source] != unit[target]
        for end, half in ((source, 0), (target, len(cables) * k)):
            pair.append((source * n + target)[apart])
            link.append((first + half + unit[end] * k + port[target])[apart])
            weight.append(np.full(len(pair[-1]), float(weights[level])))
        first += 2 * len(cables) * k
    return Legs(np.concatenate(pair), np.concatenate(link), np.concatenate(weight), first)

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
    units = _units_of(lower, upper, level, place, np.bincount(links.ravel(), minlength=len(level)))
    order = _in_order(lower, upper, level, place, units)
    counts = [np.bincount(unit[part]) for unit, part in zip(units, order)]
    if len(counts[-1]) > 1:
        raise NotThisKind
    switches = [int(cabling.of_all(count)) for count in counts]
    cables, top = cabling.cables[cabling.between], len(order) - 1
    up = [np.bincount(units[i][lower[at]], cables[at], len(counts[i])).astype(np.int64)
          for i in range(top) for at in [level[lower] == i]]
    number = np.empty(len(level), dtype=np.int64)
    for part in order:
        number[part] = np.arange(len(part))
    links = np.sort(number[links], axis=1)
    above = [unit[order[0]] for unit in units[:-1]]
    _check_evenness(up, switches)
    _check_same_units(links, above, up[0])
    classes = [np.flatnonzero(cabling.hosts_at), *(cabling.between[level[lower] == i] for i in range(top))]
    try:
        tree = fat_tree(cabling.name, Hosts(cabling.hosts, links.shape[1], "even", links.ravel()), above, up, switches,
                        cabling.rates(classes), names=[cabling.switch_names(part) for part in order])
    except NetworkError as error:
        if "evenly" in str(error):  # the switches of a unit do not share its cables
            raise NotThisKind from error
        raise
    vertex = np.concatenate([np.arange(cabling.n_hosts), np.concatenate(order) + cabling.n_hosts])
    cabling.check(tree, vertex)
    passed = Counter(int(level[v - cabling.n_hosts]) for v in cabling.implied)
    return replace(tree, implied=frozenset(np.flatnonzero(np.isin(vertex, list(cabling.implied))).tolist()),
                   levels=tuple(replace(item, implied=passed[i]) for i, item in enumerate(tree.levels)))


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


def _levels(cabling: Cabling, links: Ints) -> tuple[Ints, Ints]:
    """Return hops from each switch to its nearest leaf, and its place when switches are found from the hosts upwards."""
    n = cabling.n_switches
    level, place = np.full(n, -1), np.full(n, -1)
    ends = np.concatenate([cabling.switches, cabling.switches[:, ::-1]])
    order = np.lexsort([ends[:, 1], ends[:, 0]])
    target, start = ends[order, 1], np.searchsorted(ends[order, 0], np.arange(n + 1))
    last, hops, n_found = _first(links.ravel()), 0, 0
    while len(last):
        if hops > MOST_LEVELS:
            raise NotThisKind
        level[last], place[last] = hops, n_found + np.arange(len(last))
        hops, n_found = hops + 1, n_found + len(last)
        many = start[last + 1] - start[last]
        at = np.arange(many.sum()) + np.repeat(start[last] - np.cumsum(many) + many, many)
        last = _first(target[at][level[target[at]] < 0])
    if (level < 0).any() or hops < 2:
        raise NotThisKind
    return level, place


def _first(values: NDArray[Any]) -> Ints:
    """Return different values in the order in which they come."""
    return values[np.sort(np.unique(values, return_index=True)[1])]


def _upwards(cabling: Cabling, level: Ints) -> tuple[Ints, Ints]:
    """Return the lower and the upper switch of each pair; all cables lead one level up."""
    a, b = cabling.switches.T
    if (abs(level[a] - level[b]) != 1).any():
        raise NotThisKind
    return np.where(level[a] < level[b], a, b), np.where(level[a] < level[b], b, a)


def _units_of(lower: Ints, upper: Ints, level: Ints, place: Ints, hosts: Ints) -> list[Ints]:
    """Return for each level the unit of each switch of the levels up to it: list of int arrays.

    As in a text, the units of a unit are numbered one after the other; those with most hosts first, whatever their names.
    """
    units: list[Ints] = []
    for i in range(int(level.max()), -1, -1):
        inside, below = np.flatnonzero(level <= i), level[upper] <= i
        part = np.full(len(level), -1)
        part[inside] = np.unique(parts(len(level), np.stack([lower[below], upper[below]], axis=1))[inside],
                                 return_inverse=True)[1]
        n = int(part.max()) + 1
        first, above = np.full(n, len(level)), np.zeros(n, dtype=np.int64)
        np.minimum.at(first, part[inside], place[inside])
        above[part[inside]] = units[0][inside] if units else 0
        number = np.argsort(np.lexsort([first, -np.bincount(part[inside], hosts[inside], n), above]))
        units.insert(0, np.where(part < 0, -1, number[part]))
    return units


def _in_order(lower: Ints, upper: Ints, level: Ints, place: Ints, units: list[Ints]) -> list[Ints]:
    """Return the switches of each level, unit by unit. The switches of a unit are in the order of the switches above."""
    order: list[Ints] = []
    for i in range(len(units) - 1, -1, -1):
        switches = np.flatnonzero(level == i)
        switches = switches[np.argsort(place[switches])]
        key = np.full(len(level), len(level))
        if order:
            number = np.full(len(level), len(level))
            number[order[0]] = np.arange(len(order[0]))
            np.minimum.at(key, lower, number[upper])
        else:
            np.minimum.at(key, upper, place[lower])
        order.insert(0, switches[np.lexsort([key[switches], units[i][switches]])])
    return order


def _check_evenness(up: list[Ints], switches: Sequence[int]) -> None:
    """Raise NotThisKind unless each switch has equally many cables to each switch above it."""
    for cables, number, above in zip(up, switches, switches[1:]):
        if above % number or (cables % above).any():
            raise NotThisKind


def _check_same_units(links: Ints, above: Sequence[Ints], up: Ints) -> None:
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
    if (count != count[:, :1]).any() or any((units[rows] != units[rows[:, :1]]).any() for units in alike):
        raise NotThisKind


KIND = TreeKind(
    "fat-tree", USAGE, "leaves with hosts, under spines, or under pods of spines with core switches",
    f"{HOST}, up, core", FatTree, parse,
    (SHORTEST_PATH.by(EvenSplit()),
     without_argument("static", "on a fat tree: the host that receives a message decides about its cables (D mod k)",
                      Static())),
    recognise=recognise, described=described)
