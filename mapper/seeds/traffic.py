"""Starting placements for the traffic of any program: launchers' orders, digit patterns, blocks, partitions, digit climbs.

A start gives a place to each rank. Place s T + t is slot t of the s-th usable node. If the ranks form a Cartesian grid,
known from a communicator, a halo or the pairs alone, blocks of the grid go to hosts and digits of its coordinates to digits
of the nodes. Partitions halve places and ranks together: places across the longest side of a torus, or between the units of
a network of switches; ranks across the longest side of the grid, or by the slowest vibration of the graph of their traffic.
Source of the vibration: M. Fiedler, "Algebraic connectivity of graphs", Czech. Math. J. 23 (1973).

A climb writes the rank and the place in prime digits. Each digit of the place is a sum, modulo its prime, of digits of the
rank with the same prime. The sums form an invertible matrix, at first a permutation. A step adds a row or a column to
another, or exchanges two rows. The best step is taken until none is better. So neighbours of a halo and rows of an FFT keep
their symmetry, which swaps of single ranks break. Cost: one count of all loads for each step that is tried.

The placement with few bytes times hops, which other tools search for: a heavy rank goes first, then always the rank with
most bytes to those that are placed, into the free place with the fewest hops for them. Then the best exchange of each rank
with another one follows, until none helps. Cost: S^2 for each placed rank and for each exchange.
Source: the greedy start of T. Hoefler, M. Snir, "Generic topology mapping strategies for large-scale parallel
architectures", ICS 2011; the exchanges of T. Koopmans, M. Beckmann, "Assignment problems", Econometrica 25 (1957).
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from pencilmap.mapper.seeds.default_order import default, launched
from pencilmap.mapper.seeds.torus import axis_orders, slots_of
from pencilmap.model.base.arrays import Floats, Ints, factorisations, prime_factors
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.routing.routes import Routes
from pencilmap.model.traffic.patterns import ALL_TO_ALL, FFT, RankGrid, grid_of, patterns
from pencilmap.model.traffic.program import Traffic

Starts = Iterator[tuple[str, Ints]]

MOST_TABLES = 400  # ways to share the axes of a grid over the dimensions of a torus
MOST_GROWN = 1 << 16  # ranks of starts that follow the graph of the traffic
DENSE = 300  # ranks up to which vibrations come from a dense matrix


def traffic_starts(site: Site, traffic: Traffic) -> Starts:
    """Yield name and places of each start, the launcher's own first.

    Yields
    ------
    name : str
    places : int array, shape (P,)
    """
    yield from launch_orders(site, traffic.n_ranks)
    yield from grid_starts(site, rank_grids(traffic))
    if traffic.n_ranks <= MOST_GROWN and traffic.total.bytes.nnz:
        yield "grown", grown(traffic)
        yield "partition", partition(site, traffic)


def grid_starts(site: Site, grids: Iterable[tuple[str, RankGrid]]) -> Starts:
    """Yield digits and blocks of grids that the ranks form, given with their names."""
    for name, grid in grids:
        for kind, starts in (("digits", grid_digits(site, grid)), ("blocks", blocks(site, grid))):
            for text, places in starts:
                yield f"{kind} of {name}{text}", places


def launch_orders(site: Site, n_ranks: int) -> Starts:
    """Yield the launcher's order, and every order of nodes, slots and axes."""
    grid = ProcessGrid(n_ranks, 1)
    own = launched(site, grid)
    yield own.name, slots_of(site, own.node_of_rank, own.slot_of_rank)
    axes = axis_orders(site.network) if site.network.has_coordinates else ()
    for order in ("tn", "nt", *axes):
        mapping = default(order, site, grid)
        yield mapping.name, slots_of(site, mapping.node_of_rank, mapping.slot_of_rank)


def rank_grids(traffic: Traffic) -> list[tuple[str, RankGrid]]:
    """Return the grids that the ranks form, with their names."""
    grids = {}
    for pattern in patterns(traffic):
        if len(pattern.extents) > 1 and not pattern.shuffled and pattern.kind != ALL_TO_ALL:
            extents = pattern.extents[::-1] if pattern.kind == FFT else pattern.extents
            grids["x".join(map(str, extents))] = rank_grid(extents)
    pairs = traffic.pairs
    hidden = grid_of(traffic.n_ranks, pairs.source, pairs.target, pairs.bytes)
    if hidden is not None:
        grids.setdefault("x".join(map(str, hidden.extents)) + " found", hidden)
    return list(grids.items())


# ---- digits ----------------------------------------------------------------------------------------------------------


def rank_grid(extents: tuple[int, ...]) -> RankGrid:
    """Return the grid of ranks of these extents, the last number fastest."""
    return RankGrid(extents, np.stack(np.unravel_index(np.arange(prod(extents)), extents), axis=1))


def _dimensions(site: Site) -> list[tuple[int, int]]:
    """Return extent and step of the slots and of each dimension, of numbers slot + T node."""
    T = site.tasks_per_node
    return [(T, 1), *((n, T * step) for n, step in zip(site.network.shape, site.network.strides))]


def _place_of_node(site: Site) -> Ints:
    """Return the place of each number slot + T node."""
    T, place = site.tasks_per_node, np.empty(site.n_slots, np.int64)
    place[(site.allocation.nodes[:, None] * T + np.arange(T)).ravel()] = np.arange(site.n_slots)
    return place


def grid_digits(site: Site, grid: RankGrid) -> Starts:
    """Yield the ways to share the axes of a grid over the slots and the dimensions of a whole torus.

    The lowest digits of the axes are the slot. A digit runs backwards if the next one is odd, so that neighbours stay near.
    """
    if not site.network.has_products or not site.allocation.is_complete or prod(grid.extents) != site.n_slots:
        return
    targets, order = _dimensions(site), _place_of_node(site)
    for table in islice(_tables(grid.extents, [n for n, _ in targets]), MOST_TABLES):
        for snake in (False, True):
            place = np.zeros(site.n_slots, np.int64)
            steps = [step for _, step in targets]
            for axis, row in enumerate(table):
                rest = grid.coordinates[:, axis]
                for k, n in enumerate(row):
                    digit, rest = rest % n, rest // n
                    place += np.where(rest % 2 == 1, n - 1 - digit, digit) * steps[k] if snake else digit * steps[k]
                    steps[k] *= n
            yield f": {','.join('x'.join(map(str, row)) for row in table)}{' snake' if snake else ''}", order[place]


def _tables(extents: tuple[int, ...], targets: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield the tables of factors whose rows multiply to the extents, and whose columns to the targets."""
    if not extents:
        if all(n == 1 for n in targets):
            yield []
        return
    for row in factorisations(extents[0], len(targets)):
        if all(n % part == 0 for n, part in zip(targets, row)):
            for rest in _tables(extents[1:], [n // part for n, part in zip(targets, row)]):
                yield [row, *rest]


# ---- blocks and partitions ------------------------------------------------------------------------------------------


def blocks(site: Site, grid: RankGrid) -> Starts:
    """Yield partitions of the grid, whose blocks of the size of a host stay together."""
    T = site.tasks_per_node
    shapes = [shape for shape in factorisations(T, len(grid.extents))
              if all(n % b == 0 for n, b in zip(grid.extents, shape))]
    shapes.sort(key=lambda shape: (sum(1 / b for b in shape), shape))
    for shape in shapes[:4] or [(1,) * len(grid.extents)]:
        cell = grid.coordinates // np.array(shape)
        yield f" in {'x'.join(map(str, shape))}", _halved(site, len(cell), _across(cell))


def _across(cell: Ints) -> Callable[[Ints, int], Ints]:
    """Return a function: ranks in order across the longest side of their cells; cells stay together."""
    def in_order(ranks: Ints, n: int) -> Ints:
        cells = cell[ranks]
        axes = np.argsort(np.ptp(cells, axis=0), kind="stable")
        return ranks[np.lexsort([ranks, *(cells[:, i] for i in axes)])]
    return in_order


def partition(site: Site, traffic: Traffic) -> Ints:
    """Return the places of a partition by vibrations."""
    matrix = traffic.total.bytes.astype(float)
    matrix = (matrix + matrix.T).tocsr()
    return _halved(site, traffic.n_ranks, lambda ranks, n: ranks[np.argsort(vibration(matrix[ranks][:, ranks]),
                                                                            kind="stable")])


def vibration(matrix: Any) -> Floats:
    """Return the slowest vibration of a graph, or an approximation: float array, shape (n,).

    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.eye(5, k=1) + np.eye(5, k=-1))
    >>> order = np.argsort(vibration(path)).tolist()
    >>> min(order, order[::-1])
    [0, 1, 2, 3, 4]
    """
    n = matrix.shape[0]
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    if n < 3 or not degree.any():
        return np.arange(n, dtype=float)
    if n <= DENSE:
        laplacian = np.diag(degree) - matrix.toarray()
        return np.asarray(np.linalg.eigh(laplacian)[1][:, 1])
    from scipy.sparse import diags_array  # slow to import
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    shift = 2 * degree.max()
    try:
        _, modes = eigsh(diags_array(shift - degree) + matrix, k=2, which="LA", tol=1e-3, maxiter=60 + n // 20,
                         v0=np.random.default_rng(1).random(n), ncv=24)
        return np.asarray(modes[:, 0])
    except ArpackNoConvergence as error:
        return np.asarray(error.eigenvectors[:, 0]) if error.eigenvectors.shape[1] > 1 else np.arange(n, dtype=float)


def _halved(site: Site, n_ranks: int, in_order: Callable[[Ints, int], Ints]) -> Ints:
    """Return places from halving places and ranks together, down to hosts."""
    places = np.empty(n_ranks, np.int64)
    T, cut = site.tasks_per_node, _cuts(site)
    todo = [(np.arange(n_ranks), np.arange(site.allocation.n_nodes))]
    while todo:
        ranks, nodes = todo.pop()
        if len(nodes) == 1 or len(ranks) == 0:
            places[ranks] = nodes[0] * T + np.arange(len(ranks))
            continue
        first, second = cut(nodes)
        size = len(ranks) if len(ranks) <= T else round(len(ranks) * len(first) / len(nodes) / T) * T
        size = max(len(ranks) - len(second) * T, min(size, len(first) * T, len(ranks)))
        ordered = in_order(ranks, size)
        todo += [(ordered[:size], first), (ordered[size:], second)]
    return places


def _cuts(site: Site) -> Callable[..., Any]:
    """Return a function that halves nodes, given by their positions in the allocation."""
    network, nodes = site.network, site.allocation.nodes
    if network.has_coordinates:
        where = network.coordinates(nodes)

        def cut(ranks: Ints) -> tuple[Ints, Ints]:
            axes = np.argsort(np.ptp(where[ranks], axis=0), kind="stable")
            ordered = ranks[np.lexsort([where[ranks, i] for i in axes])]
            side = np.ptp(where[ranks], axis=0).max() + 1
            half = len(ranks) // 2
            if len(ranks) % side == 0:  # whole planes
                half = len(ranks) // side * (side // 2)
            return ordered[:half], ordered[half:]
        return cut
    units = [level.unit[nodes] for level in network.levels][::-1]

    def cut_units(ranks_: Ints) -> tuple[Ints, Ints]:
        for unit in units:
            of = unit[ranks_]
            if len(np.unique(of)) > 1:
                ordered = ranks_[np.argsort(of, kind="stable")]
                ends = np.flatnonzero(np.diff(np.sort(of))) + 1
                half = int(ends[np.argmin(np.abs(ends - len(ranks_) / 2))])
                return ordered[:half], ordered[half:]
        return ranks_[:len(ranks_) // 2], ranks_[len(ranks_) // 2:]
    return cut_units


def grown(traffic: Traffic) -> Ints:
    """Return the ranks in the order in which they are bound most to those before, on places in order."""
    matrix = traffic.total.bytes
    matrix = (matrix + matrix.T).tocsr()
    n, bound = traffic.n_ranks, np.zeros(traffic.n_ranks)
    part_of, number = np.full(n, -1), 0
    heap: list[tuple[float, int]] = []
    for first in range(n):
        if part_of[first] >= 0:
            continue
        heappush(heap, (0.0, first))
        while heap:
            weight, rank = heappop(heap)
            if part_of[rank] >= 0 or -weight < bound[rank]:
                continue
            part_of[rank], number = number, number + 1
            for k in range(matrix.indptr[rank], matrix.indptr[rank + 1]):
                other = int(matrix.indices[k])
                if part_of[other] < 0:
                    bound[other] += matrix.data[k]
                    heappush(heap, (-bound[other], other))
    return part_of


CLIMBS = 12
MOST_DIGITS = 16


def climbed(site: Site, n_ranks: int, cost: Callable[[Ints], float], evaluations: int, seed: int) -> tuple[str, Ints] | None:
    """Return name and places of the best climb on a whole torus, None elsewhere.

    Parameters
    ----------
    site : Site
    n_ranks : int
    cost : callable
        Cost of places: int array, shape (P,) -> float.
    evaluations : int
        Costs to compute.
    seed : int
    """
    if not site.network.has_products or not site.allocation.is_complete or n_ranks != site.n_slots:
        return None
    T, node = site.tasks_per_node, site.allocation.nodes
    extents = [(T, 1), *((n, T * step) for n, step in zip(site.network.shape, site.network.strides))]
    targets = [(step * part, p) for n, step in extents for part, p in digits(n)]
    sources = digits(n_ranks)
    if not 1 < len(sources) <= MOST_DIGITS:
        return None
    place_of = np.empty(n_ranks, np.int64)
    place_of[(node[:, None] * T + np.arange(T)).ravel()] = np.arange(n_ranks)
    held = np.stack([np.arange(n_ranks) // step % p for step, p in sources], axis=1)
    primes = np.array([p for _, p in targets])
    steps = np.array([step for step, _ in targets])
    random, best = np.random.default_rng(seed), None
    for number in range(CLIMBS):
        matrix = _permutation(sources, targets, random if number else None)
        places = place_of[held @ matrix.T % primes @ steps]
        least = cost(places)
        while evaluations > 0:
            tried = [(cost(places_ := place_of[held @ other.T % primes @ steps]), k, other, places_)
                     for k, other in enumerate(_steps(matrix, primes))]
            evaluations -= len(tried)
            value, _, other, places_ = min(tried, key=lambda entry: entry[:2], default=(least, 0, matrix, places))
            if value >= least * (1 - 1e-9):
                break
            least, matrix, places = value, other, places_
        if best is None or least < best[0]:
            best = least, places
        if evaluations <= 0:
            break
    return None if best is None else ("sums of digits", best[1])


def digits(n: int) -> list[tuple[int, int]]:
    """Return step and base of the prime digits of numbers below n, the lowest first.

    >>> digits(12)
    [(1, 2), (2, 2), (4, 3)]
    """
    primes = prime_factors(n)
    return [(prod(primes[:i]), p) for i, p in enumerate(primes)]


def _permutation(sources: list[tuple[int, int]], targets: list[tuple[int, int]], random: np.random.Generator | None) -> Ints:
    """Return a permutation matrix between digits of the same primes: in order, or at random."""
    matrix = np.zeros((len(targets), len(sources)), np.int64)
    for p in {p for _, p in sources}:
        rows = [k for k, (_, q) in enumerate(targets) if q == p]
        columns = [k for k, (_, q) in enumerate(sources) if q == p]
        matrix[rows, columns if random is None else random.permutation(columns)] = 1
    return matrix


def _steps(matrix: Ints, primes: Ints) -> Iterator[Ints]:
    """Yield the matrices one step away."""
    of_column = primes[np.argmax(matrix != 0, axis=0)]
    for i in range(len(primes)):
        for j in range(len(primes)):
            if i != j and primes[i] == primes[j]:
                other = matrix.copy()
                other[i] = (other[i] + other[j]) % primes[i]
                yield other
            if i < j and primes[i] == primes[j]:
                other = matrix.copy()
                other[[i, j]] = other[[j, i]]
                yield other
            if i != j and of_column[i] == of_column[j]:
                other = matrix.copy()
                other[:, i] = (other[:, i] + other[:, j]) % of_column[i]
                yield other


MOST_PLACES = 600
SWEEPS = 10


def hop_bytes(traffic: Traffic, tables: Routes) -> Ints | None:
    """Return the place of each rank in a placement of few bytes times hops, int array of shape (P,).

    None if there are too many places.

    Parameters
    ----------
    traffic : Traffic
    tables : Routes
    """
    S, P = len(tables.host), traffic.n_ranks
    if S > MOST_PLACES:
        return None
    matrix = np.zeros((S, S))  # empty places are ranks without messages
    matrix[:P, :P] = (traffic.total.bytes + traffic.total.bytes.T).toarray()
    np.fill_diagonal(matrix, 0)
    hops = hops_between(tables)
    hops = hops + hops.T
    return _exchanged(matrix, hops, _greedy(matrix, hops))[:P]


def hops_between(tables: Routes) -> Floats:
    """Return the number of links from each place to each other: float array, shape (S, S)."""
    of_hosts = 2.0 * (tables.host[:, None] != tables.host) * (tables.up[0] >= 0)
    return np.asarray(tables.hops(tables.router, tables.router) + of_hosts)


def _greedy(matrix: Floats, hops: Floats) -> Ints:
    S = len(matrix)
    place, free = np.full(S, -1), np.ones(S, bool)
    near, cost, rank = np.zeros(S), np.zeros((S, S)), int(matrix.sum(axis=1).argmax())
    for _ in range(S):
        best = int(np.where(free, cost[rank], np.inf).argmin())
        place[rank], free[best] = best, False
        near += matrix[rank]
        cost += np.outer(matrix[rank], hops[best])
        rank = int(np.where(place < 0, near, -1.0).argmax())
    return place


def _exchanged(matrix: Floats, hops: Floats, place: Ints) -> Ints:
    cost = matrix @ hops[place]  # of each rank in each place
    for _ in range(SWEEPS):
        moved = False
        for r in range(len(place)):
            source = place[r]
            change = cost[r, place] - cost[r, source] + cost[:, source] - cost[np.arange(len(place)), place] \
                + 2 * matrix[r] * hops[source, place]
            change[r] = 0.0
            t = int(change.argmin())
            if change[t] < -1e-9 * cost[r, source] - 1e-9:
                target = place[t]
                cost += np.outer(matrix[r] - matrix[t], hops[target] - hops[source])
                place[r], place[t] = target, source
                moved = True
        if not moved:
            break
    return place
