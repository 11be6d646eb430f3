"""Dragonflies: groups of switches, with cables between every two groups.

In a dragonfly every switch of a group has a cable to every other switch of the group. In a Dragonfly+ every leaf of a group
has a cable to every spine; hosts are on leaves and global cables on spines. Slingshot networks are dragonflies with several
cables between two groups. Frontier, LUMI, Perlmutter and Alps are of this kind; JUWELS Booster and Leonardo are Dragonfly+.

Sources: J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, with
its consecutive order of global cables if the text has no ``groups``. A. Shpiner and others, "Dragonfly+: low cost topology
for scaling datacenters", HiPINEB 2017.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.network.kind import NetworkKind, Rates, numbers, whole
from pencilmap.model.network.switched import HOST, HOST_NUMBERS, Hosts, SwitchedNetwork, Wiring, check_size, hosts_of, none

USAGE = "dragonfly:a=8,p=4,h=4"
PLUS_USAGE = "dragonfly-plus:leaves=4,spines=4,hosts=4,groups=9"
LOCAL, GLOBAL = "local", "global"


@dataclass(frozen=True, eq=False)
class Dragonfly(SwitchedNetwork):
    """Groups of switches with cables between every two groups.

    Switches of a group are numbered in sequence, leaves before spines.

    Examples
    --------
    >>> small = parse("a=4,p=2,h=2")
    >>> small.n_nodes, small.groups, small.per_group, small.link_classes
    (72, 9, 4, ('host', 'local', 'global'))
    """

    groups: int = 0
    per_group: int = 0  #: switches of a group
    spines: int = 0  #: of these, switches without hosts in a Dragonfly+; 0 in a dragonfly
    #: int array, shape (K, 2); the switches at the ends of each global cable, the lower group first
    global_ends: Ints = field(default_factory=none, repr=False)

    @cached_property
    def local_ends(self) -> Ints:
        """The switches at the ends of each local cable, as in the class of links: int array, shape (cables, 2)."""
        return _local_ends(self.groups, self.per_group, self.spines)

    @cached_property
    def local_hops(self) -> Ints:
        """Hops between the switches of a group: int array, shape (per_group, per_group)."""
        n, leaf = self.per_group, np.arange(self.per_group) < self.per_group - self.spines
        hops = np.ones((n, n), dtype=np.int64) if not self.spines else 2 - (leaf[:, None] != leaf[None, :])
        np.fill_diagonal(hops, 0)
        return hops

    @cached_property
    def cables_of_pair(self) -> tuple[Ints, Ints]:
        """The global cables from each group to each other group.

        Returns
        -------
        (int array, int array), shapes (G, G, K)
            For cables from group s to group t, at [s, t]: number of the link in the class of global links, and number of the
            switch inside group s. Pairs with fewer than K cables have -1 behind their cables. The other direction of a cable
            is at [t, s].
        """
        ends, groups = self.global_ends, self.global_ends // self.per_group
        source, target = groups.T
        pair = source * self.groups + target
        order = np.argsort(pair, kind="stable")
        count = np.bincount(pair, minlength=self.groups**2)
        place = np.empty(len(pair), dtype=np.int64)
        place[order] = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        links, inside = (np.full((self.groups, self.groups, max(1, int(count.max(initial=0)))), -1) for _ in range(2))
        number = np.arange(len(pair))
        for a, b, start, back in ((source, target, 0, 0), (target, source, 1, len(pair))):
            links[a, b, place], inside[a, b, place] = number + back, ends[:, start] % self.per_group
        return links, inside


class DragonflyPlus(Dragonfly):
    """A dragonfly whose groups have leaves with hosts and spines with global cables."""


def dragonfly(name: str, hosts: Hosts, groups: int, per_group: int, global_ends: Ints, spines: int = 0,
              bandwidth: Rates | None = None, switches: tuple[str, ...] | None = None) -> Dragonfly:
    """Build a dragonfly from its global cables.

    Parameters
    ----------
    name : str
    hosts : Hosts
        Switches are numbered group by group; in a Dragonfly+ the leaves of a group before its spines.
    groups, per_group : int
    global_ends : int array, shape (K, 2)
        Switches at the ends of each global cable.
    spines : int
        Spines of a group; 0 if every switch has a cable to every other switch of its group.
    bandwidth : str, float, dict or sequence, optional
        See `pencilmap.model.network.kind.bandwidths`.
    switches : tuple of str, optional
        Names of the switches.

    Raises
    ------
    NetworkError
        If two groups have no cable between them.
    """
    check_size(name, groups * per_group, len(global_ends) + groups * per_group**2 // 2)
    ends = np.sort(np.asarray(global_ends, dtype=np.int64).reshape(-1, 2), axis=1)
    joined = np.unique(ends // per_group, axis=0)
    if len(joined) < groups * (groups - 1) // 2:
        known = {tuple(pair) for pair in joined.tolist()}
        a, b = next(pair for pair in combinations(range(groups), 2) if pair not in known)
        raise NetworkError(f"network {name}: groups {a} and {b} have no cable between them; routes of a dragonfly use at "
                           "most one global cable")
    wiring = Wiring.of(hosts)
    wiring.add(LOCAL, *_local_ends(groups, per_group, spines).T)
    wiring.add(GLOBAL, *ends.T)
    switch = np.arange(groups * per_group)
    names = switches or tuple(_name(s, per_group, spines) for s in switch.tolist())
    rails = hosts.switch_of_link.reshape(-1, hosts.links)
    unit = switch.copy()
    unit[rails] = rails[:, :1]
    levels = [("switch" if hosts.links == 1 else "unit", unit, names),
              ("group", switch // per_group, [str(group) for group in range(groups)])]
    kind = DragonflyPlus if spines else Dragonfly
    return kind(**wiring.arguments(name, names, levels, bandwidth), groups=groups, per_group=per_group, spines=spines,
                global_ends=ends)


def _local_ends(groups, per_group, spines):
    leaves = per_group - spines
    if spines:
        pairs = [(leaf, spine) for leaf in range(leaves) for spine in range(leaves, per_group)]
    else:
        pairs = list(combinations(range(per_group), 2))
    inside = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return (np.arange(groups)[:, None, None] * per_group + inside).reshape(-1, 2)


def _name(switch, per_group, spines):
    group, inside = divmod(switch, per_group)
    leaves = per_group - spines
    if not spines:
        return f"g{group}s{inside}"
    return f"g{group}leaf{inside}" if inside < leaves else f"g{group}spine{inside - leaves}"


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


_ADAPTIVE = ("minimal", "ideal-adaptive", "valiant")
KIND = NetworkKind(
    "dragonfly", USAGE, "groups of a switches with p hosts and h global cables each; groups=, cables= as Slingshot has",
    f"{HOST}, {LOCAL}, {GLOBAL}", Dragonfly, parse, (*_ADAPTIVE, "shortest-path", "each-hop"), _ADAPTIVE)
PLUS = NetworkKind(
    "dragonfly-plus", PLUS_USAGE, "groups of leaves with hosts and spines with global cables", f"{HOST}, {LOCAL}, {GLOBAL}",
    DragonflyPlus, parse_plus, (*_ADAPTIVE, "shortest-path", "each-hop"), _ADAPTIVE)
