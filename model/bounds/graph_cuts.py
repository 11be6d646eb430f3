"""Cuts of graphs, for an all-to-all and for the traffic of any program."""

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Leaves, Network, host_hops, leaves
from pencilmap.model.placement.allocation import Site
from pencilmap.model.traffic.exchange import Exchange, node_totals, node_traffic
from pencilmap.model.traffic.program import Phase, Traffic

# Lower bounds for any routing on a graph: cuts, and hops.
#
# Idea: the traffic of any set of vertices must cross the links that leave the set. So every set gives a valid lower bound,
# and the choice of sets only affects its strength. All runs of neighbours are tried in a few orders of the vertices: as
# listed, in depth-first order (every branch of a tree is a run), and along the slowest vibrations of the graph (the halves
# of a mesh or ring are runs). In addition, the links together must carry every byte over its shortest distance.
# Source: M. Fiedler, "A property of eigenvectors of nonnegative symmetric matrices and its application to graph theory",
# Czech. Math. J. 25 (1975), for the vibrations; the runs are ours.
# Cost: O(V^2) for each order, V vertices. Above MAX_VERTICES hosts with one link are taken together at their vertex, and if
# the rest is still too large, single hosts are used instead of runs.

MAX_VERTICES = 2048
MOST_DENSE = 512    # vertices: above this number leaves are left out, or else the vibrations are found by iteration
ROUGH = 1e-2        # their error
ROWS = 64           # of runs at once: their arrays fit into the cache
_VIBRATIONS = 4


def exchange_bound(graph: Any, exchange: Exchange, node_of_rank: Ints) -> Fraction:
    """Return the largest load that no routing of an exchange can avoid, in bytes of a cable of the fastest kind.

    Parameters
    ----------
    graph : Network
        Leaves stay with their vertex.
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    """
    parts = _parts(graph)
    out, into = node_totals(exchange, node_of_rank, graph.n_nodes)
    if not _is_small(parts):
        return _bound_of_parts(graph, out, into, None)
    return _bound_of_parts(graph, out, into, node_traffic(exchange, parts.home[node_of_rank],
                                                          parts.inner.n_vertices).toarray())


@lru_cache(maxsize=8)
def whole_bound(graph: Network) -> Fraction:
    """Return the largest load that no routing of an all-to-all of the hosts can avoid, one byte from host to host."""
    arcs, N = graph.arcs(), graph.n_nodes
    if arcs.n_vertices > MAX_VERTICES:
        return _bound_of_parts(graph, *_all_to_all_of_parts(graph))
    loads = [Fraction(0)]
    for run in _all_to_all_runs(graph):
        hosts = int(np.count_nonzero(run < N))
        loads += [hosts * (N - hosts) / cables for cables in _cables(graph, run) if cables]
    hops = int(host_hops(graph).sum())
    return max(*loads, hops / cables_of(graph) if graph.capacities else Fraction(0))


@lru_cache(maxsize=8)
def all_to_all_cuts(graph: Network) -> tuple[tuple[int, Fraction], ...]:
    """Return the cuts across which an all-to-all of the hosts takes longest.

    Returns
    -------
    tuple of (int, Fraction)
        Hosts on one side, and cables of the weaker direction.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> [(hosts, str(cables)) for hosts, cables in all_to_all_cuts(from_networkx(nx.path_graph(4), "line"))][0]
    (2, '1')
    """
    cuts: dict[tuple[int, Fraction], None] = {}
    runs = (_all_to_all_runs(graph) if graph.arcs().n_vertices <= MAX_VERTICES else
            _runs_of_parts(graph, *_all_to_all_of_parts(graph)))
    for run in runs:
        hosts = int(np.count_nonzero(run < graph.n_nodes))
        cables = min(_cables(graph, run))
        if 0 < hosts < graph.n_nodes and cables:
            cuts[hosts, cables] = None
    return tuple(cuts)


@lru_cache(maxsize=8)
def _all_to_all_runs(graph: Network) -> tuple[Ints, ...]:
    """Return the runs that need longest for an all-to-all of the hosts, one of each order: int arrays of vertices."""
    return tuple(order[slice(*_longest(graph, order))] for order in orders_of(graph))


def _longest(graph: Network, order: Ints) -> tuple[int, int]:
    """Return low and high of the run whose hosts need longest for an all-to-all, rows of `low` at a time."""
    box, inside = _box(_matrix(graph.arcs())[np.ix_(order, order)]), np.concatenate([[0], np.cumsum(order < graph.n_nodes)])
    corner, ends = box.diagonal(), (box[:, -1], box[-1]) if not np.array_equal(box[:, -1], box[-1]) else (box[:, -1],)
    best, place = -1.0, (0, 0)
    for low in range(0, len(box), ROWS):
        high = min(low + ROWS, len(box))
        both = box[low:high, low:] + box[low:, low:high].T
        cables = [both + (end - corner)[low:] - (end + corner)[low:high, None] for end in ends]
        least = cables[0]
        if len(ends) > 1:
            least = np.minimum(*cables)
            least = np.where(least > 0, least, np.maximum(*cables))
        hosts = inside[low:] - inside[low:high, None]
        hosts *= graph.n_nodes - hosts
        times = np.divide(hosts, least, out=np.zeros(least.shape), where=least > 0)
        times[np.tril_indices(high - low)] = 0
        first = int(times.argmax())
        if times.flat[first] > best:
            best, place = times.flat[first], (low + first // times.shape[1], low + first % times.shape[1])
    return place


@lru_cache(maxsize=8)
def orders_of(graph: Network) -> tuple[Ints, ...]:
    """Return the orders of the vertices whose runs are tried: int arrays, shape (V,)."""
    return tuple(_orders(graph.arcs()))


def cables_of_runs(graph: Network, order: Ints) -> Floats:
    """Return the cables that leave, or that enter, each run low..high-1 of an order, whichever are more.

    Returns
    -------
    float array, shape (V + 1, V + 1)
        0 for empty runs.
    """
    matrix = _matrix(graph.arcs())[np.ix_(order, order)]
    return leaving(matrix) if np.array_equal(matrix, matrix.T) else np.maximum(leaving(matrix), leaving(matrix.T))


@lru_cache(maxsize=8)
def _parts(graph: Any) -> Leaves:
    """Return the graph without its leaves."""
    return leaves(graph.arcs(), graph.n_nodes)


def _is_small(parts: Leaves) -> bool:
    return parts.inner.n_vertices <= MAX_VERTICES


def _all_to_all_of_parts(graph: Network) -> tuple[Ints, Ints, Ints | None]:
    """Return an all-to-all of the hosts as `_bound_of_parts` takes traffic."""
    parts, partners = _parts(graph), np.full(graph.n_nodes, graph.n_nodes - 1)
    if not _is_small(parts):
        return partners, partners, None
    hosts = np.bincount(parts.home[:graph.n_nodes], minlength=parts.inner.n_vertices)
    between = hosts[:, None] * hosts
    between[np.diag_indices_from(between)] = 0
    return partners, partners, between


def _bound_of_parts(graph: Network, out: Ints, into: Ints, between: Any) -> Fraction:
    """Return the bound from the bytes that each host sends and receives, and the bytes between the parts, if they are few.

    between : int array, shape (K, K), or None
    """
    parts, loads = _parts(graph), []
    for number, run in enumerate(_runs_of_parts(graph, out, into, between)):
        if number == 0:  # one host
            sent = [(int(held[run[0]]), cables) for held, cables in zip((out, into), _cables(graph, run))]
        else:
            inside = np.zeros(parts.inner.n_vertices, dtype=bool)
            inside[parts.home[run]] = True
            sent = [(int(between[np.ix_(item, ~item)].sum()), cables) for item, cables in zip(
                (inside, ~inside), _cables(graph, run))]
        loads += [Fraction(bytes_) / cables for bytes_, cables in sent if cables]
    return max([*loads, _hops_of_parts(graph, out, into, between)])


def _runs_of_parts(graph: Network, out: Ints, into: Ints, between: Ints | None) -> list[Ints]:
    """Return the host that needs longest, and the sets of parts that need longest: int arrays of vertices."""
    arcs, parts = graph.arcs(), _parts(graph)
    cables = [np.bincount(ends, arcs.capacity, arcs.n_vertices)[:graph.n_nodes] for ends in (arcs.source, arcs.target)]
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.maximum(*(np.nan_to_num(held / width, posinf=0.0) for held, width in zip((out, into), cables)))
    runs = [np.array([int(times.argmax())])]
    if between is not None:
        capacity = _matrix(parts.inner)
        runs += [np.flatnonzero(np.isin(parts.home, run)) for run in (
            _worst_run(order, between, capacity) for order in _orders_of_parts(graph))]
    return runs


@lru_cache(maxsize=8)
def _orders_of_parts(graph: Network) -> tuple[Ints, ...]:
    return tuple(_orders(_parts(graph).inner))


def _hops_of_parts(graph: Network, out: Ints, into: Ints, between: Ints | None) -> Fraction:
    """Return bytes times least hops, divided by all cables; of the leaves' own links alone if the parts are many."""
    parts = _parts(graph)
    leaf = parts.is_leaf[:graph.n_nodes]
    total = int(out[leaf].sum()) + int(into[leaf].sum())
    if between is not None:
        hops = parts.inner.distances()
        total += int((np.where(between > 0, hops, 0).astype(np.int64) * between).sum())
    return Fraction(total) / cables_of(graph) if graph.capacities else Fraction(0)


@lru_cache(maxsize=2)
def _matrix(arcs: Arcs) -> NDArray[Any]:
    """Return the cables from vertex to vertex: float array, shape (V, V)."""
    V = arcs.n_vertices
    return np.bincount(arcs.source * V + arcs.target, arcs.capacity, V * V).reshape(V, V)


def _orders(arcs: Arcs) -> Iterator[Ints]:
    """Return the orders of the vertices whose runs are tried: int arrays, shape (V,)."""
    V = arcs.n_vertices
    yield np.arange(V)
    yield _depth_first(arcs)
    home, inner = leaves(arcs, V)[1:] if V > MOST_DENSE else (np.arange(V), arcs)  # leaves move with their vertex
    last = min(_VIBRATIONS, inner.n_vertices - 1)
    if last:
        yield from (np.argsort(shape[home], kind="stable") for shape in _vibrations(_matrix(inner), last).T)


def _depth_first(arcs: Arcs) -> Ints:
    """Return the vertices in depth-first order: int array, shape (V,)."""
    joined: list[dict[int, None]] = [{} for _ in range(arcs.n_vertices)]
    for a, b in zip(arcs.source.tolist(), arcs.target.tolist()):
        joined[a][b] = joined[b][a] = None
    order: dict[int, None] = {}
    for start in range(arcs.n_vertices):
        stack = [iter((start,))]
        while stack:
            vertex = next((v for v in stack[-1] if v not in order), None)
            if vertex is None:
                stack.pop()
            else:
                order[vertex] = None
                stack.append(iter(joined[vertex]))
    return np.array(list(order))


def _vibrations(capacity: Floats, last: int) -> Floats:
    """Return the slowest vibrations 1 to `last`; of many vertices about, because any order gives a bound."""
    cables = capacity + capacity.T
    strength = np.diag(cables.sum(axis=1)) - cables
    if len(cables) <= MOST_DENSE:
        return np.linalg.eigh(strength)[1][:, 1:last + 1]
    from scipy.sparse import csr_array  # slow to import
    from scipy.sparse.linalg import eigsh

    start = np.random.default_rng(1).random(len(cables))
    values, shapes = eigsh(csr_array(strength), last + 1, which="SA", v0=start, tol=ROUGH)
    return shapes[:, np.argsort(values)[1:]]


def _worst_run(order: Ints, traffic: NDArray[Any], capacity: NDArray[Any]) -> Ints:
    """Return the run of an order that needs longest to send or receive its traffic: int array of vertices."""
    traffic, capacity = (matrix[np.ix_(order, order)] for matrix in (traffic, capacity))
    with np.errstate(divide="ignore", invalid="ignore"):
        times = [np.nan_to_num(leaving(t) / leaving(c), posinf=0.0)
                 for t, c in ((traffic, capacity), (traffic.T, capacity.T))]
    low, high = np.unravel_index(int(np.maximum(*times).argmax()), times[0].shape)
    return order[low:high]


def leaving(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return what leaves each run low..high-1, given a matrix from each to each: array, shape (V+1, V+1), 0 for empty runs.

    >>> leaving(np.array([[0, 5], [1, 0]])).tolist()
    [[0, 5, 0], [0, 0, 1], [0, 0, 0]]
    """
    box = _box(matrix)
    sent, corner = box[:, -1], box.diagonal()
    inside = corner[None, :] - box - box.T + corner[:, None]
    return np.triu(sent[None, :] - sent[:, None] - inside, 1)


def _box(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of the first rows and columns: array, shape (V+1, V+1)."""
    box = np.zeros((len(matrix) + 1,) * 2, dtype=matrix.dtype)
    np.cumsum(np.cumsum(matrix, axis=0), axis=1, out=box[1:, 1:])
    return box


def _cables(graph: Network, run: Ints) -> list[Fraction]:
    """Return the cables that leave a set of vertices, and the cables that enter the set: exact."""
    arcs = graph.arcs()
    inside = np.zeros(arcs.n_vertices, dtype=bool)
    inside[run] = True
    return [_sum(graph.capacities[i] for i in np.flatnonzero(inside[ends[0]] & ~inside[ends[1]]).tolist())
            for ends in ((arcs.source, arcs.target), (arcs.target, arcs.source))]


@lru_cache(maxsize=8)
def cables_of(graph: Network) -> Fraction:
    """Return all links together, in cables of the fastest class."""
    return _sum(graph.capacities)


def _sum(capacities: Iterable[Fraction]) -> Fraction:
    """Return the sum of fractions of which most are equal."""
    return sum((number * capacity for capacity, number in Counter(capacities).items()), Fraction(0))


# Lower bounds for the traffic of any program, whatever the placement and the routing.
#
# Ideas:
#
# hosts
#     A rank keeps at most T - 1 partners on its host of T slots, so the messages to its other partners leave the host, on
#     links of known capacity.
# hops
#     The nearest places of any node are known. If every rank has its partners with most bytes there, bytes times hops are
#     least. The links together must carry them.
# cuts
#     If all slots are full, a part of the network with k slots holds k of n ranks. At least c k (n - k) / n bytes cross its
#     border, with the second smallest eigenvalue c of the Laplacian matrix of the traffic.
#
# Phases follow one another, so their bounds add up.
# Source: W. E. Donath, A. J. Hoffman, "Lower bounds for the partitioning of graphs", IBM J. Res. Dev. 17 (1973), for cuts.
# Cost: eigenvalues of a dense matrix of up to `MOST_RANKS` ranks; distances between all nodes up to `MOST_NODES`.

MOST_RANKS = 1500
MOST_NODES = 1024
ROUNDING = 1e-9  # part of a bound that rounding may have added


def program_bound(site: Site, traffic: Traffic) -> float:
    """Return the least sum over the phases of the busiest links, in bytes of a cable of the fastest class.

    Parameters
    ----------
    site : Site
    traffic : Traffic

    Examples
    --------
    Two ranks on two nodes with one link each way:

    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.traffic.program import one_phase, pairs_of
    >>> program_bound(Site(Torus((2,))), one_phase(2, pairs_of([0], [1], [100])))
    100.0
    """
    arcs = site.network.arcs()
    cuts, near = _cuts(site, arcs), _nearest(site, arcs)
    return float(sum(_phase_bound(site, arcs, phase, cuts, near) for phase in traffic.phases if phase.bytes.nnz))


def _phase_bound(site: Site, arcs: Arcs, phase: Phase, cuts: list[tuple[int, float]], near: Any) -> float:
    out = [_kept_inside(matrix, site, near) for matrix in (phase.bytes, phase.bytes.T.tocsr())]
    nodes = site.allocation.nodes
    bounds = [0.0]
    for (leaving, _), ends in zip(out, (arcs.source, arcs.target)):
        width = np.bincount(ends, arcs.capacity, arcs.n_vertices)[nodes]
        if width.min() > 0:
            bounds += [float(leaving.max()) / width.max(), float(leaving.sum()) / width.sum()]
    if near is not None and len(arcs.capacity):
        bounds.append(max(hop_bytes for _, hop_bytes in out) / arcs.capacity.sum())
    n = phase.n_ranks
    if cuts and n == site.n_slots and n <= MOST_RANKS:
        matrix = phase.bytes.toarray().astype(float)
        matrix = matrix + matrix.T
        laplacian = np.diag(matrix.sum(axis=1)) - matrix
        least = np.linalg.eigvalsh(laplacian)[1] if n > 1 else 0.0
        least = max(0.0, least - ROUNDING * matrix.sum(axis=1).max())
        bounds += [least * k * (n - k) / n / width for k, width in cuts]
    best = max(bounds)
    return best if best == int(best) else best * (1 - ROUNDING)


def _kept_inside(matrix: Any, site: Site, near: Floats) -> tuple[Floats, float]:
    """Return for each rank the bytes that must leave its host, and the least sum of bytes times hops."""
    T = site.tasks_per_node
    leaving, hop_bytes = np.zeros(matrix.shape[0]), 0.0
    for rank in range(matrix.shape[0]):
        row = slice(matrix.indptr[rank], matrix.indptr[rank + 1])
        others = matrix.indices[row] != rank
        data = np.sort(matrix.data[row][others])[::-1].astype(float)
        leaving[rank] = data[T - 1:].sum()
        if near is not None:
            hop_bytes += float((data * near[:len(data)]).sum())
    return leaving, hop_bytes


def _nearest(site: Site, arcs: Arcs) -> Floats | None:
    """Return a lower bound for the hops from any node to its k nearest other places, k = 1, 2, ...; None if unknown."""
    nodes, T = site.allocation.nodes, site.tasks_per_node
    if len(nodes) > MOST_NODES:
        return None
    hops = np.sort(arcs.distances(nodes.tolist())[:, nodes], axis=1).min(axis=0)  # there and back: the least of both
    back = arcs.back
    hops = np.minimum(hops, np.sort(back.distances(nodes.tolist())[:, nodes], axis=1).min(axis=0))
    return np.repeat(hops, T)[1:]


def _cuts(site: Site, arcs: Arcs) -> list[tuple[int, float]]:
    """Return for some parts of the network the usable slots, and the capacity of the links across the border, both ways."""
    network, T = site.network, site.tasks_per_node
    usable = site.allocation.is_usable()
    parts = []
    if network.has_products:
        where = network.coordinates(np.arange(network.n_nodes))
        parts = [where[:, i] < half for i, n in enumerate(network.shape) for half in range(1, n // 2 + 1)]
    for level in network.levels:
        parts += [level.unit == number for number in range(min(len(level.names), MOST_NODES))]
    parts.append(np.arange(arcs.n_vertices) == site.allocation.nodes[0])
    cuts = []
    for part in parts:
        width = float(arcs.capacity[part[arcs.source] != part[arcs.target]].sum())
        slots = int((part[:network.n_nodes] & usable).sum()) * T
        if width > 0 and 0 < slots < site.n_slots:
            cuts.append((slots, width))
    return sorted(set(cuts))
