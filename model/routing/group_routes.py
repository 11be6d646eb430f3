"""Loads of a dragonfly by groups: from the traffic between switches to local and global cables.

Idea: a route between two groups is a local route, a global cable, and a local route. The cables of a pair of groups are
known, and the number of local hops to each of them. So the traffic of all switches of a group to all other groups is
distributed in a few array operations. Switches with equal hops to all cables of a pair of groups are of one kind, and the
shares of the cables depend on the kinds of both ends alone. Local routes in a group use the cable between both switches if
there is one, else all switches between them evenly.
Cost: for each group with tasks, switches of the group x switches of such groups, and x cables between two groups x kinds.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly

AT_ONCE = 1 << 19  # numbers of an array of shares


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
            some = slice(first, first + step)
            self._add_minimal(sources[some], targets, traffic[some])

    def _add_minimal(self, sources, targets, traffic):
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

    def _add(self, source, leave, cable, flow):
        """Add flow of shape (..., n) from the switches of groups to their cables; cables below 0 do not exist."""
        real = cable >= 0
        self.global_links += np.bincount(cable[real], flow.sum(axis=-1)[real], len(self.global_links))
        self._add_local(np.broadcast_to(source, cable.shape)[real][:, None], np.arange(self.network.per_group),
                        leave[real][:, None], flow[real])

    def _add_local(self, group, switch, other, flow):
        n = self.network.per_group
        place = (group * n + switch) * n + other
        self.local += np.bincount(place.ravel(), flow.ravel(), self.local.size).reshape(self.local.shape)

    def classes(self) -> list[Floats]:
        """Return the bytes on the links of the classes of local and global cables."""
        return [self._local_links(), self.global_links]

    def _local_links(self):
        direct = self.local.copy()
        group = np.arange(self.network.per_group)
        direct[:, group, group] = 0
        spines = self.network.spines
        if spines:
            leaves = self.network.per_group - spines
            kinds = (np.arange(leaves), np.arange(leaves, self.network.per_group))
            for some, others in (kinds, kinds[::-1]):
                block = direct[:, some[:, None], some].copy()
                direct[:, some[:, None], some] = 0
                direct[:, some[:, None], others] += block.sum(axis=2)[:, :, None] / len(others)
                direct[:, others[:, None], some] += block.sum(axis=1)[:, None, :] / len(others)
        return direct.ravel()[_places(self.network)]


@lru_cache(maxsize=8)
def _places(network):
    """Return the place of each local link among all pairs of switches of the groups."""
    n, (low, high) = network.per_group, network.local_ends.T
    return np.concatenate([low * n + high % n, high * n + low % n])


@lru_cache(maxsize=16)
def _shares(network, sources, targets):
    """Return the share of each cable of the traffic between two groups, by switch and kind, and the kinds of all switches.

    Float arrays, shapes (pairs, K, n, kinds) from switches to kinds, (pairs, K, kinds, n) from kinds to switches, and twice
    (pairs, n, kinds), 1 for the kind of a switch: of the groups that send, then of those that receive.
    """
    (links, inside), hops = network.cables_of_pair, network.local_hops
    source, target = (np.frombuffer(some, dtype=np.int64) for some in (sources, targets))
    far_source, far_target = hops[inside[source, target]], hops[inside[target, source]]       # (pairs, K, n)
    (kind, one), (other, another) = _kinds(far_source), _kinds(far_target)
    pair, cable = np.arange(len(source))[:, None, None], np.arange(links.shape[2])[:, None]
    far = (far_source[pair, cable, one[:, None]][..., None] + far_target[pair, cable, another[:, None]][:, :, None])
    far = np.where(links[source, target][:, :, None, None] >= 0, far, 9)
    chosen = far == far.min(axis=1, keepdims=True)
    shares = chosen / chosen.sum(axis=1, keepdims=True)                                       # (pairs, K, kinds, kinds)
    by_target = np.moveaxis(shares[pair, cable, :, other[:, None]], -1, 2)
    of_source, of_target = ((some[:, :, None] == np.arange(first.shape[1])).astype(float)
                            for some, first in ((kind, one), (other, another)))
    return shares[pair, cable, kind[:, None]], by_target, of_source, of_target


def _kinds(far):
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
    links, inside = (some[np.frombuffer(groups, dtype=np.int64)] for some in network.cables_of_pair)
    far = np.where(links >= 0, network.local_hops[:, inside], 9)                              # (n, S, G, K)
    chosen = (far == far.min(axis=3, keepdims=True)) & (links >= 0)
    shares = chosen / np.maximum(1, chosen.sum(axis=3, keepdims=True))
    return np.moveaxis(shares, 0, 1)
