"""Dragonflies: groups of switches, with cables between every two groups.

In a dragonfly every switch of a group has a cable to every other switch of the group. In a Dragonfly+ every leaf of a group
has a cable to every spine; hosts are on leaves and global cables on spines. Slingshot networks are dragonflies with several
cables between two groups. Frontier, LUMI, Perlmutter and Alps are of this kind; JUWELS Booster and Leonardo are Dragonfly+.

Sources: J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, with
its consecutive order of global cables if the text has no ``groups``. A. Shpiner and others, "Dragonfly+: low cost topology
for scaling datacenters", HiPINEB 2017.
"""

from itertools import combinations

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.kinds.dragonfly_network import GLOBAL, LOCAL, Dragonfly, DragonflyPlus, dragonfly
from pencilmap.model.kinds.dragonfly_routes import IDEAL_ADAPTIVE, MINIMAL, VALIANT
from pencilmap.model.kinds.levels import ROUTINGS, LevelKind
from pencilmap.model.kinds.reading import HOST_NUMBERS, Rates, check_size, hosts_of, numbers, whole
from pencilmap.model.network.graph import HOST

USAGE = "dragonfly:a=8,p=4,h=4"
PLUS_USAGE = "dragonfly-plus:leaves=4,spines=4,hosts=4,groups=9"
_NUMBERS = {"a": "switches of a group", "p": "hosts on each switch", "h": "global cables of a switch",
            "groups": "groups; a h + 1 by default", "cables": "cables between two groups", **HOST_NUMBERS}
_PLUS_NUMBERS = {"leaves": "leaves of a group", "spines": "spines of a group", "hosts": "hosts on each leaf",
                 "groups": "groups", "cables": "cables between two groups; one for each spine by default", **HOST_NUMBERS}


def parse(text: str, bandwidth: Rates | None = None) -> Dragonfly:
    """Read the numbers of a dragonfly, see `_NUMBERS`."""
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


def _check_rails(kind, values, switches):
    rails = whole(kind, values, "rails", 1)
    if switches % rails:
        raise NetworkError(f"network {kind}: {switches} switches of a group with hosts are no multiple of rails={rails}; "
                           "the links of a host lead to one group")


def _consecutive(a: int, h: int) -> Ints:
    """Return the ends of one cable between every two of a h + 1 groups: cable k of a group leads to the k-th next group."""
    groups = a * h + 1
    group, k = (grid.ravel() for grid in np.mgrid[:groups, :a * h])
    there = (group + k + 1) % groups
    ends = np.stack([group * a + k // h, there * a + (groups - k - 2) // h], axis=1)
    return ends[group < there]


def _in_turn(groups: int, per_group: int, used: int, cables: int) -> Ints:
    """Return the ends of several cables between every two groups, in turn over the first `used` switches of each group."""
    found, following = [], [0] * groups
    for pair in combinations(range(groups), 2):
        for _ in range(cables):
            found.append([group * per_group + following[group] % used for group in pair])
            for group in pair:
                following[group] += 1
    return np.array(found, dtype=np.int64).reshape(-1, 2)


_ADAPTIVE = "minimal", "ideal-adaptive", "valiant"
_RULES = MINIMAL, IDEAL_ADAPTIVE, VALIANT, *ROUTINGS
KIND = LevelKind(
    "dragonfly", USAGE, "groups of a switches with p hosts and h global cables each; groups=, cables= as Slingshot has",
    f"{HOST}, {LOCAL}, {GLOBAL}", Dragonfly, parse, _RULES, _ADAPTIVE)
PLUS = LevelKind(
    "dragonfly-plus", PLUS_USAGE, "groups of leaves with hosts and spines with global cables", f"{HOST}, {LOCAL}, {GLOBAL}",
    DragonflyPlus, parse_plus, _RULES, _ADAPTIVE)
