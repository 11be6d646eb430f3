"""Loads of a dragonfly by groups: from the traffic between switches to local and global cables.

Idea: a route between two groups is a local route, a global cable, and a local route. The cables of a pair of groups are
known, and the number of local hops to each of them. So the traffic of all switches of a group to all other groups is
distributed in a few array operations. Local routes in a group use the cable between both switches if there is one, else
all switches between them evenly.
Cost: for each group with tasks, switches of the group x switches of such groups x cables between two groups.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly


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
        links, inside = self.network.cables_of_pair
        for i, s in enumerate(sources.tolist()):
            there = np.flatnonzero(targets != s)
            if not len(there) or not traffic[i][:, there].any():
                continue
            others = targets[there]
            leave, arrive, cable = inside[s, others], inside[others, s], links[s, others]      # (T, K)
            real = cable >= 0
            flow = traffic[i][:, there, None, :]                                              # (n, T, K, n)
            if cable.shape[1] > 1:
                flow = _shares(self.network, s, others.tobytes()) * flow
            self._add(s, leave, cable, real, flow.sum(axis=3))
            into = flow.sum(axis=0)                                                           # (T, K, n)
            np.add.at(self.local, (others[:, None].repeat(cable.shape[1], 1)[real], arrive[real]), into[real])

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
        shares = cable_shares(self.network, sources)
        links, inside = self.network.cables_of_pair
        for i, s in enumerate(sources.tolist()):
            there = np.flatnonzero(np.arange(self.network.groups) != s)
            cable = links[s, there]
            self._add(s, inside[s, there], cable, cable >= 0, shares[i][:, there] * traffic[i][:, there, None])
        return shares

    def _add(self, s, leave, cable, real, flow):
        """Add flow of shape (n, T, K) from the switches of group `s` to its cables."""
        np.add.at(self.global_links, cable[real], flow.sum(axis=0)[real])
        np.add.at(self.local[s].T, leave[real], flow[:, real].T)

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
        ends, n = self.network.local_ends, self.network.per_group
        low, high = ends[:, 0], ends[:, 1]
        return np.concatenate([direct[low // n, low % n, high % n], direct[low // n, high % n, low % n]])


@lru_cache(maxsize=128)
def _shares(network, source, targets):
    """Return the share of each cable of the traffic between switches of two groups: float array, shape (n, T, K, n)."""
    (links, inside), hops, others = network.cables_of_pair, network.local_hops, np.frombuffer(targets, dtype=np.int64)
    far = hops[:, inside[source, others]][:, :, :, None] + hops[inside[others, source]][None]
    far = np.where(links[source, others][None, :, :, None] >= 0, far, 9)
    chosen = far == far.min(axis=2, keepdims=True)
    return chosen / chosen.sum(axis=2, keepdims=True)


def cable_shares(network: Dragonfly, sources: Ints) -> Floats:
    """Return the share of each cable of the traffic of a switch to another group: evenly over the cables with fewest hops.

    Shape (S, n, G, K); 0 for the own group.
    """
    links, inside = (some[sources] for some in network.cables_of_pair)
    far = np.where(links >= 0, network.local_hops[:, inside], 9)                              # (n, S, G, K)
    chosen = (far == far.min(axis=3, keepdims=True)) & (links >= 0)
    shares = chosen / np.maximum(1, chosen.sum(axis=3, keepdims=True))
    return np.moveaxis(shares, 0, 1)
