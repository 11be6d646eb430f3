"""Fat trees: hosts on leaves, leaves in pods, and so on, with cables upwards at each level.

A level divides the hosts into units (leaves, pods). A unit is one switch or several switches that share its cables upwards
evenly: a leaf, or the spines of a pod. All cables upwards of a unit go to the unit above, in turn over its switches. So the
shortest paths between two units use their cables equally (a folded Clos network). The last unit is the whole machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.network.kind import NetworkKind, Rates, numbers, whole
from pencilmap.model.network.switched import HOST, HOST_NUMBERS, Hosts, SwitchedNetwork, Wiring, check_size, hosts_of

USAGE = "fat-tree:leaves=32,hosts=16,up=8"


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


def fat_tree(name: str, hosts: Hosts, above: Sequence[Ints], cables_up: Sequence[Ints], switches: Sequence[int],
             bandwidth: Rates | Sequence[float] | None = None, *, names: Sequence[Sequence[str]] | None = None,
             classes: Sequence[str] | None = None, levels: Sequence[str] | None = None) -> FatTree:
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
        See `pencilmap.model.network.kind.bandwidths`.
    names : sequence of sequence of str, optional
        For each level, and the top, the names of all switches.
    classes, levels : sequence of str, optional
        Names of the classes of cables upwards, and of the levels.

    Raises
    ------
    NetworkError
        If the switches of a unit cannot share its cables evenly.
    """
    classes = classes or ("up", "core", *(f"core{i}" for i in range(2, len(above))))
    rails = hosts.links > 1 and bool((hosts.switch_of_link[:hosts.links] != hosts.switch_of_link[0]).any())
    levels = levels or ("unit" if rails else "leaf", "pod", *(f"level{i}" for i in range(3, len(above) + 1)))
    above, cables_up = tuple(map(np.asarray, above)), tuple(map(np.asarray, cables_up))
    units = [len(cables) for cables in cables_up] + [1]
    check_size(name, sum(n * each for n, each in zip(units, switches)), sum(int(cables.sum()) for cables in cables_up))
    first = np.cumsum([0, *(n * each for n, each in zip(units, switches))])  # number of the first switch of each level
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
    arguments = wiring.arguments(name, [n for some in names for n in some],
                                 [(level, unit, label) for level, unit, label in zip(levels, units_of, labels)], bandwidth)
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


def _parents(above):
    """Return for each level the unit above of each unit: list of int arrays."""
    found = []
    for i, unit in enumerate(above):
        parent = np.zeros(int(unit.max()) + 1, dtype=np.int64)
        if i + 1 < len(above):
            parent[unit] = above[i + 1]
        found.append(parent)
    return found


def _names(units, switches):
    kinds = ["leaf", *(["spine"] if len(units) == 2 else ["spine", "core", *(f"core{i}-" for i in range(2, len(units)))])]
    return [[f"{kind}{u}-{s}" if n > 1 and each > 1 else f"{kind}{u * each + s}" for u in range(n) for s in range(each)]
            for kind, n, each in zip(kinds, units, switches)]


def _units(hosts, above, units, switches, level):
    """Return the unit of a level of each switch, -1 above the level. Leaves that share their hosts are one unit."""
    own = above[level]
    if level == 0:
        rail_of = np.arange(len(own))
        rail_of[hosts.switch_of_link] = hosts.switch_of_link[::hosts.links].repeat(hosts.links)
        own = np.unique(rail_of, return_inverse=True)[1]
    found = [own]
    for i in range(1, len(units)):
        n = units[i] * switches[i]
        if i > level:
            found.append(np.full(n, -1))
        else:  # the unit of a lower unit follows from any of its leaves
            unit = np.empty(units[i], dtype=np.int64)
            unit[above[i]] = own
            found.append(np.repeat(unit, switches[i]))
    return np.concatenate(found)


_NUMBERS = {"leaves": "leaf switches", "hosts": "hosts on each leaf", "up": "cables upwards of a leaf",
            "taper": "hosts of a leaf for each cable upwards", "spines": "switches above the leaves, of each pod",
            "pods": "pods, for three levels", "core": "cables upwards of each spine of a pod",
            "core-taper": "cables into a pod for each cable upwards", **HOST_NUMBERS}


def parse(text: str, bandwidth: Rates | None = None) -> FatTree:
    """Read the numbers of a fat tree, see `_NUMBERS`."""
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


KIND = NetworkKind(
    "fat-tree", USAGE, "leaves with hosts, under spines, or under pods of spines with core switches",
    f"{HOST}, up, core", FatTree, parse, ("shortest-path", "static"))
