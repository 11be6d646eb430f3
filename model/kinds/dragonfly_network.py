"""Dragonflies as data: groups of switches, with cables between every two groups."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.kinds.reading import Hosts, Rates, Wiring, check_size
from pencilmap.model.network.graph import SwitchedNetwork, none

LOCAL, GLOBAL = "local", "global"


@dataclass(frozen=True, eq=False)
class Dragonfly(SwitchedNetwork):
    """Groups of switches with cables between every two groups.

    Switches of a group are numbered in sequence, leaves before spines.

    Examples
    --------
    >>> from pencilmap.model.kinds import network_named
    >>> small = network_named("dragonfly:a=4,p=2,h=2")
    >>> small.n_nodes, small.groups, small.per_group, small.link_classes
    (72, 9, 4, ('host', 'local', 'global'))
    """

    has_groups = True

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
        See `pencilmap.model.kinds.reading.bandwidths`.
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


def _local_ends(groups: int, per_group: int, spines: int) -> Ints:
    leaves = per_group - spines
    if spines:
        pairs = [(leaf, spine) for leaf in range(leaves) for spine in range(leaves, per_group)]
    else:
        pairs = list(combinations(range(per_group), 2))
    inside = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return (np.arange(groups)[:, None, None] * per_group + inside).reshape(-1, 2)


def _name(switch: int, per_group: int, spines: int) -> str:
    group, inside = divmod(switch, per_group)
    leaves = per_group - spines
    if not spines:
        return f"g{group}s{inside}"
    return f"g{group}leaf{inside}" if inside < leaves else f"g{group}spine{inside - leaves}"
