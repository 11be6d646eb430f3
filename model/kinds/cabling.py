"""The cabling of a network: hosts, switches, and the cables of each pair with their rate, whatever the format of the file.

Every kind of network is recognised from this data alone (`pencilmap.model.kinds.recognised`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from pencilmap.model.base.arrays import Bools, Floats, Ints
from pencilmap.model.kinds.reading import Rates
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Arcs, Network


class NotThisKind(Exception):
    """Raised if a cabling is not of the kind that is asked for."""


@dataclass(frozen=True, eq=False)
class Cabling:
    """Hosts and switches, and for each pair of them its cables.

    Parameters
    ----------
    graph : GraphNetwork
        Its vertices are numbered as here: hosts first, then switches.
    ends : int array, shape (E, 2)
        The pairs with cables, each once and sorted; the lower number first.
    cables : int array, shape (E,)
        Cables of each pair.
    rate : float array, shape (E,), optional
        Bytes per second of a cable of each pair; None if the cables have no rates.
    named : str, float or dict, optional
        Rates of the classes of links, if cables have no rates: see `pencilmap.model.kinds.reading.bandwidths`.
    implied : frozenset of int
        Vertices that stand for cables past a level, see `GraphNetwork`.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> ring = cabling_of(from_networkx(nx.cycle_graph(3), "ring", 1e9))
    >>> ring.ends.tolist(), ring.cables.tolist(), ring.rate.tolist()
    ([[0, 1], [0, 2], [1, 2]], [1, 1, 1], [1000000000.0, 1000000000.0, 1000000000.0])
    """

    graph: GraphNetwork
    ends: Ints = field(repr=False)
    cables: Ints = field(repr=False)
    rate: Floats | None = field(repr=False)
    named: Rates | None = None
    implied: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        return self.graph.name

    @property
    def n_hosts(self) -> int:
        return self.graph.n_nodes

    @property
    def n_switches(self) -> int:
        return len(self.graph.vertices) - self.graph.n_nodes

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts."""
        return self.graph.vertices[:self.n_hosts]

    def switch_names(self, switches: Ints) -> tuple[str, ...]:
        """Return names of switches, which are numbered from 0."""
        return tuple(self.graph.vertices[self.n_hosts + switch] for switch in switches.tolist())

    @cached_property
    def hosts_at(self) -> Ints:
        """Hosts at the ends of each pair, 0 to 2: int array, shape (E,)."""
        return (self.ends < self.n_hosts).sum(axis=1)

    @cached_property
    def between(self) -> Ints:
        """The pairs of switches with cables, as numbers of `ends`."""
        return np.flatnonzero(self.hosts_at == 0)

    @cached_property
    def switches(self) -> Ints:
        """The switches of each pair of `between`, numbered from 0: int array, shape (K, 2)."""
        return self.ends[self.between] - self.n_hosts

    @cached_property
    def host_links(self) -> Ints:
        """The switch of each link of each host: int array, shape (hosts, links).

        Raises
        ------
        NotThisKind
            If hosts have cables to hosts, no cables, or different numbers of cables.
        """
        if (self.hosts_at == 2).any():
            raise NotThisKind
        mine = np.flatnonzero(self.hosts_at)
        host, switch = (np.repeat(ends, self.cables[mine]) for ends in self.ends[mine].T)
        count = np.bincount(host, minlength=self.n_hosts)
        if not len(count) or not count[0] or (count != count[0]).any():
            raise NotThisKind
        return (switch - self.n_hosts).reshape(self.n_hosts, -1)

    @property
    def one_switch_each(self) -> Ints:
        """The switch of each link as `host_links`, if all links of a host lead to one switch.

        Links to several switches would carry equal parts of each message in a kind with switches, and not in the graph.
        """
        links = self.host_links
        if (links != links[:, :1]).any():
            raise NotThisKind
        return links

    def rates(self, classes: Sequence[Ints]) -> Rates | Sequence[float] | None:
        """Return the rate of each class of links, given the pairs of each; without rates, the rates by name.

        Raises
        ------
        NotThisKind
            If cables of a class have different rates.
        """
        if self.rate is None:
            return self.named
        return [float(self.of_all(self.rate[pairs])) for pairs in classes]

    @staticmethod
    def of_all(values: Ints | Floats) -> int | float:
        """Return the value that all entries have. Raises NotThisKind if they differ, or if there is none."""
        if not len(values) or (values != values[0]).any():
            raise NotThisKind
        return values[0]

    def check(self, network: Network, vertex: Ints) -> None:
        """Raise NotThisKind unless a network has exactly these cables, with these rates.

        Parameters
        ----------
        network : Network
        vertex : int array, shape (V,)
            The vertex of this cabling that each vertex of the network is.
        """
        arcs = network.arcs()
        a, b = vertex[arcs.source], vertex[arcs.target]
        forth = a < b
        key, place = np.unique(a[forth] * len(vertex) + b[forth], return_inverse=True)
        own = self.ends[:, 0] * len(vertex) + self.ends[:, 1]
        if len(key) != len(own) or (key != own).any() or 2 * forth.sum() != len(forth):
            raise NotThisKind
        if (np.bincount(place, arcs.ways[forth]) != self.cables).any():
            raise NotThisKind
        if self.rate is not None:
            assert network.bandwidth is not None
            strength = np.bincount(place, arcs.capacity[forth]) * max(network.bandwidth)
            if not np.allclose(strength, self.rate * self.cables, rtol=1e-12):
                raise NotThisKind


def cabling_of(graph: GraphNetwork, named: Rates | None = None, implied: frozenset[int] = frozenset()) -> Cabling:
    """Return the cabling of a graph.

    Raises
    ------
    NotThisKind
        If a link has no like link back, links have classes, or the cables of a pair have different rates.
    """
    if len(graph.link_classes) > 1 or graph.count is None:
        raise NotThisKind
    every = np.array(list(map(id, graph.cables)), dtype=np.int64)  # few objects; fractions are slow as keys
    _, first, kind = np.unique(every, return_index=True, return_inverse=True)
    strengths = [graph.cables[i] for i in first.tolist()]
    sorts, sort = np.unique(kind * (int(graph.count.max(initial=0)) + 1) + graph.count, return_inverse=True)
    shape = [divmod(key, int(graph.count.max(initial=0)) + 1) for key in sorts.tolist()]
    rate = np.array([float(strengths[k] / count * (1 if graph.bandwidth is None else Fraction(graph.bandwidth[0])))
                     for k, count in shape])[sort] if len(sort) else np.zeros(0)
    V = len(graph.vertices)
    low, high = np.minimum(graph.source, graph.target), np.maximum(graph.source, graph.target)
    sides = []
    for side in (graph.source < graph.target, graph.source > graph.target):
        links = np.flatnonzero(side)
        sides.append(links[np.argsort(low[links] * V + high[links], kind="stable")])
    forth, back = sides
    key = (low * V + high)[forth]
    if len(forth) != len(back) or (key != (low * V + high)[back]).any() or (np.diff(key) == 0).any() \
            or (rate[forth] != rate[back]).any() or (graph.count[forth] != graph.count[back]).any():
        raise NotThisKind
    ends = np.stack([low[forth], high[forth]], axis=1)
    return Cabling(graph, ends, graph.count[forth], None if graph.bandwidth is None else rate[forth], named, implied)


class Neighbours:
    """The neighbours of each vertex.

    Parameters
    ----------
    n : int
        Number of vertices.
    ends : int array, shape (E, 2)
        Pairs of neighbours, each once.
    """

    def __init__(self, n: int, ends: Ints) -> None:
        both = np.concatenate([ends, ends[:, ::-1]])
        order = np.lexsort([both[:, 1], both[:, 0]])
        self.n, self.source, self.target = n, both[order, 0], both[order, 1]
        self.start = np.searchsorted(self.source, np.arange(n + 1))

    def of(self, vertex: int) -> Ints:
        """Return the neighbours of a vertex in rising order."""
        return self.target[self.start[vertex]:self.start[vertex + 1]]

    @property
    def degree(self) -> Ints:
        return np.diff(self.start)

    def hops(self, vertex: int) -> Ints:
        """Return the hops from a vertex to every vertex, -1 without a path: int array, shape (n,)."""
        arcs = Arcs(self.n, self.source, self.target, np.arange(len(self.source)), np.ones(len(self.source)))
        hops = arcs.distances([vertex])[0]
        return np.where(np.isfinite(hops), hops, -1).astype(np.int64)


def parts(n: int, ends: Ints) -> Ints:
    """Return the part of each of n vertices that pairs join, numbered from 0 in the order of the vertices."""
    near, part_of, number = Neighbours(n, ends), np.full(n, -1), 0
    targets, start, part = near.target.tolist(), near.start.tolist(), part_of.tolist()
    for vertex in range(n):
        if part[vertex] >= 0:
            continue
        part[vertex], waiting = number, [vertex]
        while waiting:
            at = waiting.pop()
            for other in targets[start[at]:start[at + 1]]:
                if part[other] < 0:
                    part[other] = number
                    waiting.append(other)
        number += 1
    return np.array(part)


MOST_TRIES = 256  # vertices of one graph that are taken for one of the other


def alike(n: int, cables: Ints, others: Ints, sort: Ints | Bools) -> Ints | None:
    """Return the vertex of a graph that each vertex of another graph is, or None if none are found.

    Vertices keep the same colour as long as their neighbours have the same colours. If several vertices have one colour,
    one of them gets a colour of its own, in each graph, and a wrong choice is taken back.
    Source: B. D. McKay, A. Piperno, "Practical graph isomorphism, II", J. Symb. Comput. 60 (2014).

    Parameters
    ----------
    n : int
        Vertices of each graph.
    cables, others : int array, shape (E, 3)
        Both ends and the class of each cable of both graphs.
    sort : array, shape (n,)
        Sort of each vertex, in both graphs.

    Examples
    --------
    >>> ring, other = np.array([[0, 1, 0], [1, 2, 0], [2, 3, 1]]), np.array([[3, 2, 0], [2, 0, 0], [0, 1, 1]])
    >>> alike(4, ring, other, np.zeros(4, dtype=int)).tolist()
    [2, 3, 1, 0]
    """
    if len(cables) != len(others):
        return None
    both = np.concatenate([cables, others + np.array([n, n, 0])])
    source, target, kind = np.concatenate([both, both[:, [1, 0, 2]]]).T
    weight = np.random.default_rng(1).integers(1, 1 << 30, size=(2 * n + MOST_TRIES + 1, int(kind.max(initial=0)) + 1))
    left = [MOST_TRIES]

    def refined(color: Ints) -> Ints:
        while True:
            near = np.bincount(source, weight[color[target], kind], 2 * n)  # whole numbers, so their sums are exact
            finer = np.unique(np.stack([color, near]), axis=1, return_inverse=True)[1].ravel()
            if finer.max() == color.max():
                return finer
            color = finer

    def matched(color: Ints) -> Ints | None:
        color = refined(color)
        sizes = np.bincount(color[:n], minlength=int(color.max()) + 1)
        if (np.bincount(color[n:], minlength=len(sizes)) != sizes).any():
            return None
        if (sizes == 1).all():
            return np.argsort(color[:n])[color[n:]]
        cell = np.flatnonzero(sizes > 1)[0]
        first = np.flatnonzero(color[:n] == cell)[0]
        for other in np.flatnonzero(color[n:] == cell).tolist():
            left[0] -= 1
            chosen = color.copy()
            chosen[[first, n + other]] = len(sizes)
            if left[0] < 0 or (match := matched(chosen)) is not None:
                return None if left[0] < 0 else match
        return None

    return matched(np.tile(np.unique(sort, return_inverse=True)[1], 2))
