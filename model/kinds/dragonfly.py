"""Dragonflies: groups of switches, with cables between every two groups.

In a dragonfly every switch of a group has a cable to every other switch of the group. In a Dragonfly+ every leaf of a group
has a cable to every spine; hosts are on leaves and global cables on spines. Slingshot networks are dragonflies with several
cables between two groups. Frontier, LUMI, Perlmutter and Alps are of this kind; JUWELS Booster and Leonardo are Dragonfly+.

Sources: J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, with
its consecutive order of global cables if the text has no ``groups``. A. Shpiner and others, "Dragonfly+: low cost topology
for scaling datacenters", HiPINEB 2017.

The dragonfly or Dragonfly+ that hosts, switches and cables form.

In a Dragonfly+ the switches without hosts are spines. Cables between spines are global, and the others leave groups, each
with a cable from every leaf to every spine.

In a dragonfly the switches of a group are neighbours of each other. If local and global cables have different rates or
numbers, this tells them apart. Otherwise the groups follow from a group size a: exactly a - 1 neighbours of a switch have
a - 2 or more neighbours in common with it. Each a is tried that this allows at one switch.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Bools, Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.base.units import counted
from pencilmap.model.kinds.cabling import Cabling, Neighbours, NotThisKind, alike, parts
from pencilmap.model.kinds.dragonfly_network import (
    GLOBAL,
    IDEAL_ADAPTIVE,
    LOCAL,
    MINIMAL,
    VALIANT,
    Dragonfly,
    DragonflyPlus,
    dragonfly,
    local_ends,
)
from pencilmap.model.kinds.levels import ROUTINGS, LevelKind
from pencilmap.model.kinds.reading import HOST_NUMBERS, Hosts, Rates, check_size, hosts_of, numbers, whole
from pencilmap.model.network.graph import HOST

USAGE = "dragonfly:a=8,p=4,h=4"
PLUS_USAGE = "dragonfly-plus:leaves=4,spines=4,hosts=4,groups=9"
_NUMBERS = {"a": "switches of a group", "p": "hosts on each switch", "h": "global cables of a switch",
            "groups": "groups; a h + 1 by default", "cables": "cables between two groups", **HOST_NUMBERS}
_PLUS_NUMBERS = {"leaves": "leaves of a group", "spines": "spines of a group", "hosts": "hosts on each leaf",
                 "groups": "groups", "cables": "cables between two groups; one for each spine by default", **HOST_NUMBERS}


def parse(text: str, bandwidth: Rates | None = None) -> Dragonfly:
    """Read the numbers of a dragonfly, see `_NUMBERS`.

    Raises
    ------
    NetworkError
        If the numbers are not understood, or no dragonfly has them.
    """
    kind = "dragonfly"
    values = numbers(kind, text, _NUMBERS, USAGE)
    a = whole(kind, values, "a")
    h = whole(kind, values, "h") if "cables" not in values or "h" in values else 0
    groups = whole(kind, values, "groups", a * h + 1 if h else None)
    check_size(kind, groups * a, groups * (groups - 1) // 2 * whole(kind, values, "cables", 1))
    if "cables" not in values and groups == a * h + 1:
        ends = _consecutive(a, h)
    else:
        cables = whole(kind, values, "cables", max(1, a * h // max(1, groups - 1)))
        if h and cables * (groups - 1) > a * h:
            raise NetworkError(f"network {kind}: h={h} cables on each of a={a} switches are {a * h} for each group, and "
                               f"cables={cables} to each of {groups - 1} other groups are {cables * (groups - 1)}; give "
                               "fewer groups or cables")
        ends = _in_turn(groups, a, a, cables)
    hosts = hosts_of(kind, values, np.arange(groups * a), whole(kind, values, "p"))
    _check_rails(kind, values, a)
    return dragonfly(f"{kind}:{text}", hosts, groups, a, ends, bandwidth=bandwidth)


def parse_plus(text: str, bandwidth: Rates | None = None) -> Dragonfly:
    """Read the numbers of a Dragonfly+, see `_PLUS_NUMBERS`."""
    kind = "dragonfly-plus"
    values = numbers(kind, text, _PLUS_NUMBERS, PLUS_USAGE)
    leaves, spines, groups = (whole(kind, values, name) for name in ("leaves", "spines", "groups"))
    per_group, cables = leaves + spines, whole(kind, values, "cables", spines)
    check_size(kind, groups * per_group, groups * (groups - 1) // 2 * cables)
    ends = _in_turn(groups, per_group, spines, cables) + leaves
    switch = np.arange(groups * per_group)
    hosts = hosts_of(kind, values, switch[switch % per_group < leaves], whole(kind, values, "hosts"))
    _check_rails(kind, values, leaves)
    return dragonfly(f"{kind}:{text}", hosts, groups, per_group, ends, spines, bandwidth)


def _check_rails(kind: str, values: dict[str, int], switches: int) -> None:
    rails = whole(kind, values, "rails", 1)
    if switches % rails:
        raise NetworkError(f"network {kind}: {switches} switches of a group with hosts are no multiple of rails={rails}; "
                           "the links of a host lead to one group")


def _consecutive(a: int, h: int) -> Ints:
    """Return the ends of one cable between every two of a h + 1 groups: cable k of a group leads to the k-th next group."""
    groups = a * h + 1
    group, k = (grid.ravel() for grid in np.mgrid[:groups, :a * h])
    target = (group + k + 1) % groups
    ends = np.stack([group * a + k // h, target * a + (groups - k - 2) // h], axis=1)
    return ends[group < target]


def _in_turn(groups: int, per_group: int, used: int, cables: int) -> Ints:
    """Return the ends of several cables between every two groups, in turn over the first `used` switches of each group."""
    result, following = [], [0] * groups
    for pair in combinations(range(groups), 2):
        for _ in range(cables):
            result.append([group * per_group + following[group] % used for group in pair])
            for group in pair:
                following[group] += 1
    return np.array(result, dtype=np.int64).reshape(-1, 2)

MOST_SIZES = 4   # sizes of groups to try
MOST_WORK = 256  # neighbours of neighbours to read, for each cable


def recognise(cabling: Cabling) -> Dragonfly | None:
    """Return the dragonfly of a cabling.

    Raises
    ------
    NotThisKind
        If it is none.
    """
    links = cabling.one_switch_each
    if len(cabling.between) < 2:
        raise NotThisKind
    for group in _groupings(cabling):
        try:
            return _built(cabling, links, group, np.zeros(cabling.n_switches, dtype=bool))
        except NotThisKind:
            continue
    raise NotThisKind


def recognise_plus(cabling: Cabling) -> Dragonfly | None:
    """Return the Dragonfly+ of a cabling.

    Raises
    ------
    NotThisKind
        If it is none.
    """
    links = cabling.one_switch_each
    spine = np.ones(cabling.n_switches, dtype=bool)
    spine[links] = False
    ends = spine[cabling.switches].sum(axis=1)
    if not spine.any() or not (ends == 2).any() or (ends == 0).any():
        raise NotThisKind
    return _built(cabling, links, parts(cabling.n_switches, cabling.switches[ends == 1]), spine)


def described(network: Dragonfly) -> str:
    """Return the numbers of a dragonfly in words.

    >>> from pencilmap.model.kinds.dragonfly import parse, parse_plus
    >>> described(parse("a=4,p=2,h=2")), described(parse_plus("leaves=4,spines=2,hosts=3,groups=3"))
    ('dragonfly, 9 groups of 4 switches', 'Dragonfly+, 3 groups of 4 leaves and 2 spines')
    """
    leaves = network.per_group - network.spines
    if network.spines:
        return f"Dragonfly+, {network.groups} groups of {counted(leaves, 'leaf')} and {counted(network.spines, 'spine')}"
    return f"dragonfly, {network.groups} groups of {leaves} switches"


def _built(cabling: Cabling, links: Ints, group: Ints, spine: Bools) -> Dragonfly | None:
    """Return the dragonfly with these groups, given the group of each switch and whether the switch is a spine."""
    groups = int(group.max()) + 1
    size = int(cabling.of_all(np.bincount(group)))
    spines = int(cabling.of_all(np.bincount(group, spine)))
    local = group[cabling.switches[:, 0]] == group[cabling.switches[:, 1]]
    across = cabling.between[~local]
    leaving = np.bincount(cabling.switches[~local].ravel(), cabling.cables[across].repeat(2), cabling.n_switches)
    order = np.lexsort([-leaving, spine, group])  # group by group, leaves first, then by global cables, as texts deal them
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    ends = number[cabling.switches]
    inside = local_ends(groups, size, spines)
    if groups < 2 or local.sum() != len(inside) or (cabling.cables[cabling.between[local]] != 1).any():
        raise NotThisKind
    over = np.repeat(np.sort(ends[~local], axis=1), cabling.cables[across], axis=0)
    pair = over // size
    between = np.bincount(pair[:, 0] * groups + pair[:, 1], minlength=groups**2).reshape(groups, groups)
    if cabling.of_all(between[np.triu_indices(groups, 1)]) < 1:
        raise NotThisKind
    for dealt in _dealings(groups, size, spines, len(over)):
        if len(dealt) == len(over) and (same := alike(
                len(order), _classed(inside, over), _classed(inside, dealt), spine[order])) is not None:
            over, order, number = dealt, order[same], np.argsort(same)[number]
            break
    classes = [np.flatnonzero(cabling.hosts_at), cabling.between[local], across]
    hosts = Hosts(cabling.hosts, links.shape[1], "even", number[links].ravel())
    rates: Any = cabling.rates(classes)
    network = dragonfly(cabling.name, hosts, groups, size, over, spines, rates, cabling.switch_names(order))
    cabling.check(network, np.concatenate([np.arange(cabling.n_hosts), order + cabling.n_hosts]))
    return network


def _dealings(groups: int, size: int, spines: int, cables: int) -> Iterator[Ints]:
    """Yield the global cables of the texts with these numbers, whose groups and switches are in an order of their own."""
    pairs, leaves = groups * (groups - 1) // 2, size - spines
    if not spines and cables == pairs and (groups - 1) % size == 0:
        yield _consecutive(size, (groups - 1) // size)
    yield _in_turn(groups, size, spines or size, cables // pairs) + (leaves if spines else 0)


def _classed(*classes: Ints) -> Ints:
    """Return the ends and the class of the cables of several classes: int array, shape (E, 3)."""
    return np.concatenate([np.pad(ends, ((0, 0), (0, 1)), constant_values=i) for i, ends in enumerate(classes)])


def _groupings(cabling: Cabling) -> Iterator[Ints]:
    """Yield the group of each switch, for each way to tell local cables that is possible."""
    n, between = cabling.n_switches, cabling.between
    for values in (cabling.cables[between], *(() if cabling.rate is None else (cabling.rate[between],))):
        sorts = np.unique(values)
        for value in sorts if len(sorts) == 2 else ():
            yield parts(n, cabling.switches[values == value])
    near = Neighbours(n, cabling.switches)
    for size in _sizes(near):
        group = _by_size(near, size)
        if group is not None:
            yield group


def _shared(near: Neighbours, vertex: int) -> tuple[Ints, Ints]:
    """Return the neighbours of a vertex, and for each the number of its neighbours that are neighbours of the vertex."""
    mine = near.of(vertex)
    is_mine = np.zeros(near.n, dtype=bool)
    is_mine[mine] = True
    return mine, np.array([int(is_mine[near.of(other)].sum()) for other in mine.tolist()])


def _sizes(near: Neighbours) -> list[Any]:
    """Return the sizes of groups that are possible at vertex 0, the largest first."""
    degree = near.degree
    if degree[near.of(0)].sum() > MOST_WORK * len(near.target):
        return []
    _, shared = _shared(near, 0)
    shared = np.sort(shared)[::-1]
    return [size for size in range(len(shared) + 1, 2, -1) if near.n % size == 0 and size < near.n
            and shared[size - 2] >= size - 2 and (size - 1 == len(shared) or shared[size - 1] < size - 2)][:MOST_SIZES]


def _by_size(near: Neighbours, size: int) -> Ints | None:
    """Return the group of each switch for a size of groups, or None if a switch has no group of this size."""
    group, number, left = np.full(near.n, -1), 0, MOST_WORK * len(near.target)
    for vertex in range(near.n):
        if group[vertex] >= 0:
            continue
        left -= int(near.degree[near.of(vertex)].sum())
        if left < 0:
            return None
        mine, shared = _shared(near, vertex)
        mates = mine[shared >= size - 2]
        if len(mates) != size - 1 or (group[mates] >= 0).any():
            return None
        group[vertex] = group[mates] = number
        number += 1
    return group


_ADAPTIVE = "minimal", "ideal-adaptive", "valiant"
_RULES = MINIMAL, IDEAL_ADAPTIVE, VALIANT, *ROUTINGS
KIND = LevelKind(
    "dragonfly", USAGE, "groups of a switches with p hosts and h global cables each; groups=, cables= as Slingshot has",
    f"{HOST}, {LOCAL}, {GLOBAL}", Dragonfly, parse, _RULES, _ADAPTIVE, recognise, described)
PLUS = LevelKind(
    "dragonfly-plus", PLUS_USAGE, "groups of leaves with hosts and spines with global cables", f"{HOST}, {LOCAL}, {GLOBAL}",
    DragonflyPlus, parse_plus, _RULES, _ADAPTIVE, recognise_plus, described)
