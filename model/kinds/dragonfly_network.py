"""Dragonflies as data: groups of switches, with cables between every two groups; and their rules of routing."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.kinds.levels import OnSwitches, between_switches, loads_with_hosts
from pencilmap.model.kinds.reading import Hosts, Rates, Wiring, check_size
from pencilmap.model.network.graph import SwitchedNetwork, none
from pencilmap.model.network.network import link_weights
from pencilmap.model.routing.routes import Legs, Part, joined
from pencilmap.model.routing.rule import without_argument
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads, kept

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
        return local_ends(self.groups, self.per_group, self.spines)

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
    wiring.add(LOCAL, *local_ends(groups, per_group, spines).T)
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


def local_ends(groups: int, per_group: int, spines: int) -> Ints:
    """Return the switches at the ends of each local cable: int array, shape (cables, 2)."""
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


# Routes of dragonflies: minimal, through a third group, and the best that adaptive routers can do.
#
# Minimal: plain shortest paths may use two global cables in place of a local cable, which routers of dragonflies do not do.
# If several cables between two groups need as few local hops, the load is split evenly over them. A route between two groups
# is a local route, a global cable, and a local route. The cables of a pair of groups are known, and the number of local hops
# to each of them. So the traffic of all switches of a group to all other groups is distributed in a few array operations.
# Switches with equal hops to all cables of a pair of groups are of one kind, and the shares of the cables depend on the
# kinds of both ends alone. Local routes in a group use the cable between both switches if there is one, else all switches
# between them evenly.
#
# Valiant: every message between two groups goes through a third group, all of them evenly. This is the worst that adaptive
# routers do on purpose, and it makes any traffic as good as random traffic. From its switch a message takes the nearest
# cable to the third group, and from the switch where it arrives a minimal route. Messages inside a group stay there. With
# two groups there is no third group, so routes are minimal.
#
# Ideal adaptive: the bytes from each group to each other group may be divided in any way over the direct cables and the ways
# through any third group. The division is chosen to minimise the load of the busiest global cable, by a linear program.
# Local cables count as free, and the cables between two groups are shared evenly. So no adaptive routing has less load on a
# global cable, and the hosts' own links are exact.
#
# Source: J. Kim and others, ISCA 2008, section 4.1 (MIN, VAL), after L. G. Valiant, "A scheme for fast parallel
# communication", SIAM J. Comput. 11 (1982). The path form of minimum congestion routing, e.g. R. K. Ahuja, T. L. Magnanti,
# J. B. Orlin, "Network Flows" (1993), ch. 17, solved by HiGHS through scipy.
# Cost: for each group with tasks, switches of the group x switches of such groups, and x cables between two groups x kinds;
# Valiant: for all groups. Ideal: a variable for each pair of groups with traffic and each third group, seconds for
# `MOST_WAYS` of them. Above this number the loads are those of the cuts of single groups, which no division can avoid.

MOST_WAYS = 34_000  # 33 groups that all send to each other: 2 seconds
AT_ONCE = 1 << 19  # numbers of an array of shares


@dataclass(frozen=True)
class Minimal(OnSwitches):
    """Minimal routes: at most one global cable, and the fewest hops with it."""

    def loads(self, network: Dragonfly, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        used, traffic = by_groups(network, exchange, node_of_rank)
        result = GroupLoads(network)
        result.add_inside(used, traffic)
        result.add_minimal(used, used, traffic)
        return loads_with_hosts(network, exchange, node_of_rank, result.classes())

    def legs(self, network: Dragonfly, routers: Ints) -> Legs:
        """Return the routes between switches."""
        return minimal_legs(network, routers)

    def guide(self, network: Dragonfly, ends: Ints) -> tuple[Ints, Legs]:
        """Return the same for the switches of some ends, however many they are."""
        routers, point = np.unique(network.router_of_end[ends], return_inverse=True)
        return point, self.legs(network, routers)


def by_groups(network: Dragonfly, exchange: Exchange, ends: np.ndarray) -> tuple[Ints, Floats]:
    """Return the groups with traffic, shape (U,), and the bytes between their switches, shape (U, n, U, n)."""
    return kept(("groups", exchange.unit_bytes), network, exchange, ends, lambda: _by_groups(network, exchange, ends))


def _by_groups(network: Dragonfly, exchange: Exchange, ends: Ints) -> tuple[Ints, Floats]:
    traffic, n = between_switches(network, exchange, ends), network.per_group
    is_used = np.zeros((network.groups, n), dtype=bool)
    for array in (traffic.row, traffic.col):
        is_used.ravel()[array] = True
    used = np.flatnonzero(is_used.any(axis=1))
    bytes_between, number = np.zeros((len(used) * n,) * 2), np.zeros((network.groups, n), dtype=np.int64)
    number[used] = np.arange(len(used) * n).reshape(-1, n)
    bytes_between.ravel()[number.ravel()[traffic.row] * len(bytes_between) + number.ravel()[traffic.col]] = traffic.data
    bytes_between.setflags(write=False)
    return used, bytes_between.reshape(len(used), n, len(used), n)


@dataclass
class GroupLoads:
    """Loads of the cables between switches, filled route by route.

    Parameters
    ----------
    network : Dragonfly
    """

    network: Dragonfly

    def __post_init__(self) -> None:
        G, n = self.network.groups, self.network.per_group
        self.local = np.zeros((G, n, n))  # bytes from switch to switch of a group, by any local route
        self.global_links = np.zeros(2 * len(self.network.global_ends))

    def add_inside(self, used: Ints, traffic: Floats) -> None:
        """Add the traffic inside each group. `used` and `traffic` are those of `by_groups`."""
        group = np.arange(len(used))
        self.local[used] += traffic[group, :, group, :]

    def add_minimal(self, sources: Ints, targets: Ints, traffic: Floats) -> None:
        """Add traffic between groups on minimal routes: one global cable, the fewest local hops, evenly over such cables.

        Parameters
        ----------
        sources, targets : int array, shape (S,), shape (T,)
            Numbers of the groups.
        traffic : float array, shape (S, n, T, n)
            Bytes between switches; those inside a group are not added.
        """
        step = max(1, AT_ONCE // max(1, traffic[:1].size))
        for first in range(0, len(sources), step):
            rows = slice(first, first + step)
            self._add_minimal(sources[rows], targets, traffic[rows])

    def _add_minimal(self, sources: Ints, targets: Ints, traffic: Floats) -> None:
        links, inside = self.network.cables_of_pair
        sent = traffic @ np.ones(traffic.shape[3])  # (S, n, T); faster than a sum
        s, t = np.nonzero(sent.any(axis=1) & (sources[:, None] != targets))
        source, target = sources[s], targets[t]
        if links.shape[2] == 1:
            leaving, entering = sent[s, :, t][:, None], traffic.sum(axis=1)[s, t][:, None]    # (pairs, K, n)
        else:
            by_source, by_target, of_source, of_target = _shares(self.network, source.tobytes(), target.tobytes())
            flow = traffic[s, :, t]
            leaving = np.einsum("pknc,pnc->pkn", by_source, flow @ of_target)
            entering = np.einsum("pkcn,pcn->pkn", by_target, of_source.transpose(0, 2, 1) @ flow)
        self._add(source[:, None], inside[source, target], links[source, target], leaving)
        real = links[source, target] >= 0
        self._add_local(target[:, None].repeat(real.shape[1], 1)[real][:, None], inside[target, source][real][:, None],
                        np.arange(self.network.per_group), entering[real])

    def add_to_group(self, sources: Ints, traffic: Floats) -> Floats:
        """Add traffic from switches to whole groups, on the cables with the fewest hops: return the bytes on each cable.

        Parameters
        ----------
        sources : int array, shape (S,)
        traffic : float array, shape (S, n, G)

        Returns
        -------
        float array, shape (S, n, G, K)
            Share of the traffic of each switch on each cable, by target group.
        """
        shares = cable_shares(self.network, sources.tobytes())
        links, inside = self.network.cables_of_pair
        flow = np.moveaxis(shares * traffic[..., None], 1, 3)                                 # (S, G, K, n)
        self._add(sources[:, None, None], inside[sources], links[sources], flow)
        return shares

    def _add(self, source: Ints, leave: Ints, cable: Ints, flow: Floats) -> None:
        """Add flow of shape (..., n) from the switches of groups to their cables; cables below 0 do not exist."""
        real = cable >= 0
        self.global_links += np.bincount(cable[real], flow.sum(axis=-1)[real], len(self.global_links))
        self._add_local(np.broadcast_to(source, cable.shape)[real][:, None], np.arange(self.network.per_group),
                        leave[real][:, None], flow[real])

    def _add_local(self, group: Ints, switch: Ints, other: Ints, flow: Floats) -> None:
        n = self.network.per_group
        place = (group * n + switch) * n + other
        self.local += np.bincount(place.ravel(), flow.ravel(), self.local.size).reshape(self.local.shape)

    def classes(self) -> list[Floats]:
        """Return the bytes on the links of the classes of local and global cables."""
        return [self._local_links(), self.global_links]

    def _local_links(self) -> Floats:
        direct = self.local.copy()
        group = np.arange(self.network.per_group)
        direct[:, group, group] = 0
        spines = self.network.spines
        if spines:
            leaves = self.network.per_group - spines
            kinds = (np.arange(leaves), np.arange(leaves, self.network.per_group))
            for first, others in (kinds, kinds[::-1]):
                block = direct[:, first[:, None], first].copy()
                direct[:, first[:, None], first] = 0
                direct[:, first[:, None], others] += block.sum(axis=2)[:, :, None] / len(others)
                direct[:, others[:, None], first] += block.sum(axis=1)[:, None, :] / len(others)
        return direct.ravel()[_places(self.network)]


@lru_cache(maxsize=8)
def _places(network: Dragonfly) -> Ints:
    """Return the place of each local link among all pairs of switches of the groups."""
    n, (low, high) = network.per_group, network.local_ends.T
    return np.concatenate([low * n + high % n, high * n + low % n])


@lru_cache(maxsize=16)
def _shares(network: Dragonfly, sources: bytes, targets: bytes) -> tuple[Floats, ...]:
    """Return the share of each cable of the traffic between two groups, by switch and kind, and the kinds of all switches.

    Float arrays, shapes (pairs, K, n, kinds) from switches to kinds, (pairs, K, kinds, n) from kinds to switches, and twice
    (pairs, n, kinds), 1 for the kind of a switch: of the groups that send, then of those that receive.
    """
    (links, inside), hops = network.cables_of_pair, network.local_hops
    source, target = (np.frombuffer(content, dtype=np.int64) for content in (sources, targets))
    far_source, far_target = hops[inside[source, target]], hops[inside[target, source]]       # (pairs, K, n)
    (kind, one), (other, another) = _kinds(far_source), _kinds(far_target)
    pair, cable = np.arange(len(source))[:, None, None], np.arange(links.shape[2])[:, None]
    far = (far_source[pair, cable, one[:, None]][..., None] + far_target[pair, cable, another[:, None]][:, :, None])
    far = np.where(links[source, target][:, :, None, None] >= 0, far, 9)
    chosen = far == far.min(axis=1, keepdims=True)
    shares = chosen / chosen.sum(axis=1, keepdims=True)                                       # (pairs, K, kinds, kinds)
    by_target = np.moveaxis(shares[pair, cable, :, other[:, None]], -1, 2)
    of_source, of_target = ((content[:, :, None] == np.arange(first.shape[1])).astype(float)
                            for content, first in ((kind, one), (other, another)))
    return shares[pair, cable, kind[:, None]], by_target, of_source, of_target


def _kinds(far: Ints) -> tuple[Ints, Ints]:
    """Return the kind of each switch, and a switch of each kind: int arrays, shapes (pairs, n), (pairs, kinds).

    far : int array, shape (pairs, K, n), hops from each switch to each cable
    """
    kind = np.zeros((len(far), far.shape[2]), dtype=np.int64)
    for hops in np.moveaxis(far, 1, 0):
        key = kind * (int(far.max(initial=0)) + 1) + hops
        order = np.argsort(key, axis=1, kind="stable")
        new = np.diff(np.take_along_axis(key, order, 1), axis=1, prepend=-1) > 0
        np.put_along_axis(kind, order, np.cumsum(new, axis=1) - 1, 1)
    one = np.zeros((len(far), int(kind.max(initial=0)) + 1), dtype=np.int64)
    np.put_along_axis(one, kind, np.broadcast_to(np.arange(kind.shape[1]), kind.shape), 1)
    return kind, one


@lru_cache(maxsize=16)
def cable_shares(network: Dragonfly, groups: bytes) -> Floats:
    """Return the share of each cable of the traffic of a switch to another group: evenly over the cables with fewest hops.

    `groups` are the bytes of the numbers of S groups. Shape (S, n, G, K); 0 for the own group.
    """
    links, inside = (of_pair[np.frombuffer(groups, dtype=np.int64)] for of_pair in network.cables_of_pair)
    far = np.where(links >= 0, network.local_hops[:, inside], 9)                              # (n, S, G, K)
    chosen = (far == far.min(axis=3, keepdims=True)) & (links >= 0)
    shares = chosen / np.maximum(1, chosen.sum(axis=3, keepdims=True))
    return np.moveaxis(shares, 0, 1)


def minimal_legs(network: Dragonfly, switches: Ints) -> Legs:
    """Return the legs of a dragonfly with at most one global cable, see `Minimal`.

    Parameters
    ----------
    network : Dragonfly
    switches : int array, shape (n,)
        Different switches.
    """
    n, per = len(switches), network.per_group
    n_local, n_global = 2 * len(network.local_ends), 2 * len(network.global_ends)
    _, local, across = map(float, link_weights(network))
    group, inside = np.divmod(switches, per)
    members = {g: np.flatnonzero(group == g) for g in np.unique(group).tolist()}
    near: list[Part] = []  # local legs, from switch to switch of a group
    over: list[Part] = []  # global cables
    links, leaves = network.cables_of_pair
    for s, sources in members.items():
        for t, targets in members.items():
            pair = sources[:, None] * n + targets
            a, b = inside[sources], inside[targets]
            if s == t:
                near.append((pair.ravel(), (switches[sources][:, None] * per + b).ravel(), np.ones(pair.size)))
                continue
            real = links[s, t] >= 0
            cable, leave, arrive = links[s, t][real], leaves[s, t][real], leaves[t, s][real]
            far = network.local_hops[a[:, None], leave][:, None, :] + network.local_hops[arrive[:, None], b].T
            chosen = far == far.min(axis=2, keepdims=True)
            i, j, k = np.nonzero(chosen)
            value = (chosen / chosen.sum(axis=2, keepdims=True))[i, j, k]
            near += [(pair[i, j], leg, value) for leg in (switches[sources][i] * per + leave[k],
                                                          (t * per + arrive[k]) * per + b[j])]
            over.append((pair[i, j], n_local + cable[k], value * across))
    return joined([_local_legs(network, joined(near, 0), local), *over], n_local + n_global)


def _local_legs(network: Dragonfly, legs: Legs, weight: float) -> tuple[Ints, Ints, Floats]:
    """Return local links for shares of legs ``switch * per_group + switch inside``."""
    from scipy.sparse import coo_array

    n, half = network.per_group, len(network.local_ends)
    S = network.groups * n
    low, high = network.local_ends.T
    forth, back = low * n + high % n, high * n + low % n
    ways = coo_array((np.ones(2 * half), (np.concatenate([forth, back]), np.arange(2 * half))),
                     shape=(S * n, 2 * half)).tocsr()
    if network.spines:                                  # between two leaves, or two spines, over all of the others
        switch, middle, other = (grid.ravel() for grid in np.mgrid[:S, :n, :n])
        leaf, middle_leaf, other_leaf = (switches % n < n - network.spines for switches in (switch, middle, other))
        kept = (leaf != middle_leaf) & (leaf == other_leaf) & (switch % n != other)
        switch, middle, other = switch[kept], middle[kept], other[kept]
        value = 1 / np.where(leaf[kept], network.spines, n - network.spines)
        row = switch * n + other
        over = coo_array((np.tile(value, 2), (np.tile(row, 2), np.concatenate(
            [switch * n + middle, (switch // n * n + middle) * n + other]))), shape=(S * n, S * n)).tocsr()
        ways = ways + over @ ways
    used, number = np.unique(legs.pair, return_inverse=True)
    table = (coo_array((legs.load, (number, legs.link)), shape=(len(used), S * n)).tocsr() @ ways).tocoo()
    return used[table.row], table.col, table.data * weight


@dataclass(frozen=True)
class Valiant(Minimal):
    """Through a third group, over all of them evenly; searches use the minimal routes."""

    def loads(self, network: Dragonfly, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        used, traffic = by_groups(network, exchange, node_of_rank)
        result, group = GroupLoads(network), np.arange(len(used))
        result.add_inside(used, traffic)
        traffic = traffic.copy()
        traffic[group, :, group, :] = 0
        if network.groups < 3:
            result.add_minimal(used, used, traffic)
        else:
            result.add_minimal(np.arange(network.groups), used, _through_groups(network, result, used, traffic))
        return loads_with_hosts(network, exchange, node_of_rank, result.classes())


def _through_groups(network: Dragonfly, loads: GroupLoads, used: Ints, traffic: Floats) -> Floats:
    """Add the first legs to the loads, and return the traffic of the second legs, from the switches where they begin."""
    G, U, n = network.groups, len(used), network.per_group
    part = 1 / (G - 2)
    to_group = np.zeros((U, n, G))
    to_group[:, :, used] = traffic @ np.ones(n)  # faster than a sum
    first = (to_group.sum(axis=2, keepdims=True) - to_group) * part            # through each other group
    first[np.arange(U), :, used] = 0
    shares = loads.add_to_group(used, first)                                   # (U, n, G, K)
    links, inside = network.cables_of_pair
    if links.shape[2] == 1:                                                    # all switches of a group use the same cable
        third, of = np.nonzero(links[used, :, 0].T >= 0)
        arrives = np.zeros((G * n, U))
        arrives[third * n + inside[third, used[of], 0], of] = 1
        second = (arrives @ traffic.sum(axis=1).reshape(U, U * n)).reshape(G, n, U, n) * part
        second[used, :, np.arange(U)] = 0                                      # not through the target group
        return second
    second = np.zeros((G, n, U, n))
    for i in np.flatnonzero(traffic.any(axis=(1, 2, 3))).tolist():
        for k in range(links.shape[2]):                                        # one cable to each third group
            third = np.flatnonzero(links[used[i], :, k] >= 0)
            legs = (shares[i][:, third, k].T @ traffic[i].reshape(n, -1) * part).reshape(-1, U, n)
            legs[third[:, None] == used] = 0                                   # not through the target group
            second[third, inside[third, used[i], k]] += legs
    return second


@dataclass(frozen=True)
class IdealAdaptive(Minimal):
    """The best that adaptive routers can do; searches use the minimal routes."""

    def loads(self, network: Dragonfly, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the loads: exact for hosts, the least possible for global cables, 0 for local cables."""
        used, chosen = by_groups(network, exchange, node_of_rank)
        traffic = np.zeros((network.groups, network.groups))
        traffic[np.ix_(used, used)] = chosen.sum(axis=(1, 3))
        np.fill_diagonal(traffic, 0)
        links, _ = network.cables_of_pair
        cables = (links >= 0).sum(axis=2)
        few = np.count_nonzero(traffic) * (network.groups - 1) <= MOST_WAYS
        carried = best_division(traffic, cables) if few else single_groups(traffic, cables)
        loads = np.zeros(2 * len(network.global_ends))
        loads[links[links >= 0]] = (carried / np.maximum(1, cables))[:, :, None].repeat(links.shape[2], 2)[links >= 0]
        local = np.zeros(2 * len(network.local_ends))
        return loads_with_hosts(network, exchange, node_of_rank, [local, loads])


def best_division(traffic: Floats, cables: Floats) -> Floats:
    """Return the bytes from each group to each other group over their own cables, for the least load of a cable.

    Parameters
    ----------
    traffic, cables : arrays, shape (G, G)
        Bytes and cables from group to group.

    Examples
    --------
    >>> best_division(np.array([[0, 3.0, 0], [0, 0, 0], [0, 0, 0]]), 1 - np.eye(3)).round(6).tolist()
    [[0.0, 1.5, 1.5], [0.0, 0.0, 0.0], [0.0, 1.5, 0.0]]
    """
    from scipy.optimize import linprog  # slow to import, and only this rule needs it
    from scipy.sparse import coo_array

    G, most = len(traffic), float(traffic.max(initial=0))
    source, target = np.nonzero(traffic)
    if not len(source):
        return np.zeros((G, G))
    pair = np.arange(len(source)).repeat(G)
    s, t, k = source.repeat(G), target.repeat(G), np.tile(np.arange(G), len(source))
    kept = k != s                                                # through group k; k = t is the direct way
    pair, s, t, k = (column[kept] for column in (pair, s, t, k))
    way, amount = np.arange(len(pair)), traffic[s, t] / most
    through = k != t
    rows = np.concatenate([s * G + k, (k * G + t)[through]])
    columns, values = np.concatenate([way, way[through]]), np.concatenate([amount, amount[through]])
    put_on = coo_array((values, (rows, columns)), shape=(G * G, len(way))).tocsr()
    used = np.flatnonzero(cables.reshape(-1))
    limit = coo_array((-cables.reshape(-1)[used].astype(float), (np.arange(len(used)), np.full(len(used), len(way)))),
                      shape=(len(used), len(way) + 1)).tocsr()
    upper = coo_array(put_on[used])
    upper = coo_array((upper.data, (upper.row, upper.col)), shape=limit.shape).tocsr() + limit
    equal = coo_array((np.ones(len(way)), (pair, way)), shape=(len(source), len(way) + 1)).tocsr()
    cost = np.zeros(len(way) + 1)
    cost[-1] = 1
    solution = linprog(cost, A_ub=upper, b_ub=np.zeros(len(used)), A_eq=equal, b_eq=np.ones(len(source)), method="highs-ipm")
    return np.asarray(put_on @ solution.x[:-1]).reshape(G, G) * most


def single_groups(traffic: Floats, cables: Floats) -> Floats:
    """Return the least that the cables of single groups carry, for networks above the limit: bytes between groups.

    All cables of the group that needs longest carry an equal share of the traffic that leaves or enters it.
    """
    bounds = np.zeros(traffic.shape)
    leaving, entering = traffic.sum(axis=1) / cables.sum(axis=1), traffic.sum(axis=0) / cables.sum(axis=0)
    bounds += leaving.max() * cables * (np.arange(len(traffic)) == leaving.argmax())[:, None]
    other = entering.max() * cables * (np.arange(len(traffic)) == entering.argmax())[None, :]
    return np.maximum(bounds, other)


MINIMAL = without_argument("minimal", "on a dragonfly: at most one global cable, evenly over those with the fewest hops",
                           Minimal())
IDEAL_ADAPTIVE = without_argument(
    "ideal-adaptive", "on a dragonfly: the least load of global cables by any adaptive routers; a linear program up to 33 "
    "groups, above it the cut of a group", IdealAdaptive())
VALIANT = without_argument("valiant", "on a dragonfly: through a third group, over all of them evenly", Valiant())
