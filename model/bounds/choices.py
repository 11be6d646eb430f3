"""The least cost of any choice of nodes: a bound over all choices of some free hosts on switches, and all placements.

Idea: n hosts of a unit (a host, a leaf, a pod, a group) send at least a point of the frontier of their tasks across the
cables of the unit (`pencilmap.model.bounds.cuts`). So with lengths A of the rows and B of the columns, a unit may hold n
hosts only if some point of its frontier is below both. Sums of sets, from the leaves to the top, tell which numbers of
hosts the network may hold. The bound is the least A + B at which it may hold the job. Proof in docs/theory.md.
Cost: for each length A of some point, a few sums of sets over all units.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.bounds.cuts import least_columns, lengths_across, rounded_down
from pencilmap.model.placement.allocation import Site

MOST_LENGTHS = 1000  # of the rows that are tried; between two of them the bound loses less than their difference
MOST_STEPS = 20_000_000  # of an exact frontier, of which each number of hosts has its own
SAME = 1e-12


class Cables(NamedTuple):
    """The units of a level, with the cables that leave them."""

    unit: Ints                #: int array, shape (N,); unit of each node
    capacity: list[Fraction]  #: of each unit
    shared: list[Fraction]    #: the part of it that only hosts of the unit load, which the other hosts share


class Group(NamedTuple):
    """Units of a level that are alike: with the same cables, around units that are alike."""

    capacity: Fraction
    shared: Fraction
    hosts: int               #: if others share the cables, hosts of a unit, free or not
    inside: tuple[int, ...]  #: group of each unit of the level below

    def across(self, n: int, share: Fraction) -> Fraction:
        """Return the cables that n hosts of the job have."""
        return self.capacity - self.shared * (1 - own_share(n, self.hosts, share))


def own_share(n: int, hosts: int, share: Fraction) -> Fraction:
    """Return the part of a unit's cables that n hosts of the job have if each other host sends a share of what they send.

    >>> str(own_share(4, 16, Fraction(1, 2)))
    '2/5'
    """
    return Fraction(n) / (n + share * max(0, hosts - n))


class Supply:
    """The free hosts of a site, and the numbers of them that each unit may hold.

    Parameters
    ----------
    site : Site
        Its usable nodes are the free ones.
    levels : sequence of Cables
        The hosts first.
    n_nodes : int
        Nodes of the job.
    sizes : (int, int)
        Tasks of a row and of a column.
    share : Fraction
        What each other host of a unit sends, as a part of what a host of the job sends.
    """

    def __init__(self, site: Site, levels: Sequence[Cables], n_nodes: int, sizes: tuple[int, int], share: Fraction) -> None:
        self.site, self.n_nodes = site, n_nodes
        self.units = list[Ints]()             #: for each level the unit of each free host
        self.groups = list[list[Group]]()     #: for each level the different groups
        self.group_of = list[list[int]]()     #: for each level the group of each unit
        for of_node, capacity, shared in levels:
            used, unit = np.unique(of_node[site.allocation.nodes], return_inverse=True)
            inside = self._inside(unit, len(used))
            if inside is not None:
                hosts = np.bincount(of_node) if share and self.units else np.zeros(int(used.max()) + 1, dtype=np.int64)
                inner = self.group_of[-1] if self.units else []
                every = [Group(capacity[u], shared[u], int(hosts[u]), tuple(sorted(inner[i] for i in members)))
                         for u, members in zip(used.tolist(), inside)]
                self.groups.append(list(dict.fromkeys(every)))
                self.group_of.append([self.groups[-1].index(group) for group in every])
                self.units.append(unit)
        T, N, sizes = site.tasks_per_node, site.network.n_nodes, (min(sizes), max(sizes))
        most = [min(n_nodes, int(np.bincount(unit).max())) for unit in self.units]
        #: for each level and group, the frontier of each number of hosts, from 1 on
        self.curves = [[[lengths_across(sizes, n * T, group.across(n, share), N, MOST_STEPS)
                         for n in range(1, n_most + 1)]
                        for group in groups if group.capacity] for groups, n_most in zip(self.groups, most)]

    def _inside(self, unit: Ints, n: int) -> list[list[int]] | None:
        """Return the units of the level below in each unit; None if one of them is in several."""
        if not self.units:
            return [[] for _ in range(n)]
        pairs = np.unique(np.stack([unit, self.units[-1]], axis=1), axis=0)
        if len(pairs) > len(self.group_of[-1]):
            return None
        return [pairs[pairs[:, 0] == i, 1].tolist() for i in range(n)]

    @property
    def everything(self) -> int:
        """The set of 0 to all nodes of the job: bit n of a set stands for the number n."""
        return (2 << self.n_nodes) - 1

    def least(self, rows: Floats) -> Iterator[list[list[Floats]]]:
        """Yield for each length of the rows the least columns of every level, group and number of hosts."""
        table = [[np.stack([np.where(rows >= curve[0, 0] * (1 - SAME), least_columns(curve, rows * (1 + SAME)), np.inf)
                            for curve in curves]) for curves in level] for level in self.curves]
        for i in range(len(rows)):
            yield [[curves[:, i] for curves in level] for level in table]

    def sets(self, least: list[list[Floats]], columns: float) -> list[list[int]] | None:
        """Return the set of numbers of hosts that each group may hold, for each level; None if the job does not fit.

        Parameters
        ----------
        least : list of list of float array
            See `least`.
        columns : float
            Length of the columns.
        """
        result = list[list[int]]()
        for groups, columns_of in zip(self.groups, least):
            allowed = iter([sum(2 << n for n in np.flatnonzero(column <= columns * (1 + SAME)).tolist()) | 1
                            for column in columns_of])
            result.append([(self.sums([result[-1][i] for i in group.inside])[-1] if result else 3)
                          & (next(allowed) if group.capacity else self.everything) for group in groups])
        top = self.sums([result[-1][i] for i in self.group_of[-1]])
        return result if top[-1] >> self.n_nodes & 1 else None

    def sums(self, sets: Sequence[int]) -> list[int]:
        """Return the sets of the sums of the first 0, 1, 2, ... sets."""
        totals = [1]
        for set_ in sets:
            total, rest = 0, set_
            while rest:
                low = rest & -rest
                total |= totals[-1] * low
                rest ^= low
            totals.append(total & self.everything)
        return totals

    def chosen(self, sets: list[list[int]]) -> Ints:
        """Return free hosts that fit into the sets, units filled evenly: int array, shape (n_nodes,)."""
        counts = self._counts([sets[-1][i] for i in self.group_of[-1]], self.n_nodes)
        for level in range(len(self.units) - 1, 0, -1):
            own, lower = self.units[level], [0] * len(self.group_of[level - 1])
            for unit, n in enumerate(counts):
                inside = np.unique(self.units[level - 1][own == unit]).tolist()
                for i, count in zip(inside, self._counts([sets[level - 1][self.group_of[level - 1][i]] for i in inside], n)):
                    lower[i] = count
            counts = lower
        return np.sort(self.site.allocation.nodes[np.array(counts)[self.units[0]] > 0])

    def _counts(self, sets: Sequence[int], total: int) -> list[int]:
        """Return a number of each set with this sum, each as near to the mean of the rest as possible."""
        sums, counts = self.sums(sets), [0] * len(sets)
        for i in range(len(sets) - 1, -1, -1):
            fitting = [n for n in range(total + 1) if sets[i] >> n & 1 and sums[i] >> (total - n) & 1]
            counts[i] = min(fitting, key=lambda n: abs(n - total / (i + 1)))
            total -= counts[i]
        return counts


def least_of_choices(site: Site, levels: Sequence[Cables], n_nodes: int, sizes: tuple[int, int],
                     share: Fraction = Fraction(0)) -> tuple[Fraction, Ints]:
    """Return a bound on the sum of both lengths of any placement on any nodes, and nodes that may reach it.

    Parameters
    ----------
    site : Site
        Its usable nodes are those that may be chosen.
    levels : sequence of Cables
        The hosts first.
    n_nodes : int
        Nodes of the job, all of whose slots have a task of an even grid.
    sizes : (int, int)
        Tasks of a row and of a column.
    share : Fraction
        See `Supply`.

    Returns
    -------
    (Fraction, int array, shape (n_nodes,))
        The bound, on the scale of `Prediction.cost`.

    Examples
    --------
    >>> from pencilmap.model.kinds import kind_of, network_named
    >>> tree = network_named("fat-tree:leaves=8,hosts=4,up=1")
    >>> bound, nodes = kind_of(tree).of_choices(Site(tree), 8, (2, 4))
    >>> str(bound), nodes.tolist()         # four times the length, because all 32 hosts count
    ('20', [0, 4, 8, 12, 16, 20, 24, 28])
    """
    supply = Supply(site, levels, n_nodes, sizes, share)
    rows = np.unique(np.concatenate([curve[:, 0] for level in supply.curves for some in level for curve in some]))
    rows = rows[rows >= max(curve[0][0, 0] for curve in supply.curves[0]) * (1 - SAME)]
    step = -(-len(rows) // MOST_LENGTHS)
    low, high = rows[::step], np.append(rows[step - 1::step], rows[-1:])[:len(rows[::step])]
    best, sets = np.inf, None
    for row, least in zip(low.tolist(), supply.least(high)):
        columns = np.unique([c for level in least for some in level for c in some])
        columns = columns[row + columns < best * (1 - SAME)]
        first, last = 0, len(columns) - 1
        while first <= last:  # the least columns at which the nodes fit
            middle = (first + last) // 2
            if fitting := supply.sets(least, float(columns[middle])):
                best, sets, last = row + float(columns[middle]), fitting, middle - 1
            else:
                first = middle + 1
    assert sets is not None  # at most all lengths are allowed
    return rounded_down(best), supply.chosen(sets)
