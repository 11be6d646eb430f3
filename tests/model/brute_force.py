"""Route every message hop by hop, in plain Python with fractions: slow and simple.

This code shares nothing with the fast loads: no rings of one and two nodes, no numbering, no exchange. A link is
(coordinates of its first node, dimension, +1 or -1).
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product as cartesian


def messages(grid, transform=None):
    """Return (source rank, target rank, bytes) of the row exchange and of the column exchange, as two lists.

    Without a transform, each task sends one byte to every other member of the group. With a transform, in the row exchange
    task (p, q) holds the x-block of q, the y-block of p and all z, and gives the z-block of p' to p'. In the column
    exchange the task holds the x-block of q, the z-block of p and all y, and gives the y-block of q' to q'.

    A backward transform sends every message the other way. A grid of bricks has three exchanges.
    """
    if len(grid.shape) == 3:
        return _of_bricks(grid.shape, transform)
    R, C = grid.shape

    def ranks(p, q):
        return q * R + p

    row, column = [], []
    for q in range(C):
        for p in range(R):
            for other in range(R):
                row.append((ranks(p, q), ranks(other, q), _bytes(transform, grid, x=q, y=p, z=other)))
            for other in range(C):
                column.append((ranks(p, q), ranks(p, other), _column_bytes(transform, grid, p, q, other)))
    return tuple([(b, a, amount) for a, b, amount in some] if transform is not None and transform.backward else some
                 for some in (row, column))


def _of_bricks(shape, transform):
    """Each task of a line of the grid gives each other its part of the brick: the cut axis is z, z, and y."""
    found = []
    for along, cut in ((0, 2), (1, 2), (2, 1)):
        amount = 1
        if transform is not None:
            block = [-(-n // parts) for n, parts in zip((transform.nx, transform.ny, transform.nz), shape)]
            block[cut] = -(-block[cut] // shape[along])
            amount = block[0] * block[1] * block[2] * transform.element_bytes
        places = [(a, b, c) for c in range(shape[2]) for b in range(shape[1]) for a in range(shape[0])]
        found.append([(rank, places.index((*place[:along], other, *place[along + 1:])), amount)
                      for rank, place in enumerate(places) for other in range(shape[along])])
    return tuple(found)


def _bytes(transform, grid, x, y, z):
    if transform is None:
        return 1
    R, C = grid.shape
    return (_block(transform.nx, C, x) * _block(transform.ny, R, y) * _block(transform.nz, R, z)
            * transform.element_bytes)


def _column_bytes(transform, grid, p, q, other):
    if transform is None:
        return 1
    R, C = grid.shape
    return (_block(transform.nx, C, q) * _block(transform.ny, C, other) * _block(transform.nz, R, p)
            * transform.element_bytes)


def _block(n, parts, i):
    """Return the elements of block `i` if `n` elements are dealt in turn, the first blocks first."""
    return len(range(i, n, parts))


def closes(torus, i):
    """Whether the dimension is a ring: a ring of 1 node has no link and a ring of 2 a single cable, so both are lines."""
    return torus.wrap[i] and torus.shape[i] > 2


def coordinates(torus, node):
    found = []
    for n in torus.shape:
        node, c = divmod(node, n)
        found.append(c)
    return tuple(found)


def step(torus, node, i, direction):
    """Return the neighbour in dimension `i`; fail at the end of a line."""
    c = node[i] + direction
    if closes(torus, i):
        c %= torus.shape[i]
    assert 0 <= c < torus.shape[i]
    return (*node[:i], c, *node[i + 1:])


def shortest_steps(torus, i, a, b, tie="split"):
    """Return the shortest steps from a to b in dimension `i`: list of (share, signed steps); half a ring follows `tie`."""
    n, direct = torus.shape[i], b - a
    if direct == 0 or not closes(torus, i):
        return [(Fraction(1), direct)]
    up = direct % n
    if 2 * up != n:
        return [(Fraction(1), up if 2 * up < n else up - n)]
    return {"split": [(Fraction(1, 2), up), (Fraction(1, 2), -up)],
            "plus": [(Fraction(1), up)],
            "parity": [(Fraction(1), up if a % 2 == 0 else -up)]}[tie]


def dimension_order(torus, traffic, node_of_rank, order=None, tie="split"):
    """Return the loads of all links, from walking every leg of every message: dict from link to Fraction."""
    loads = defaultdict(Fraction)
    for source, target, amount in traffic:
        here = coordinates(torus, int(node_of_rank[source]))
        there = coordinates(torus, int(node_of_rank[target]))
        for i in order or range(len(torus.shape)):
            for share, steps in shortest_steps(torus, i, here[i], there[i], tie):
                walk = here
                for _ in range(abs(steps)):
                    direction = 1 if steps > 0 else -1
                    loads[walk, i, direction] += share * amount
                    walk = step(torus, walk, i, direction)
                assert walk[i] == there[i]
            here = (*here[:i], there[i], *here[i + 1:])
        assert here == there
    return dict(loads)


def all_minimal_paths(torus, source, target):
    """Return every shortest path as a list of links; at half a ring both directions."""
    choices = cartesian(*(shortest_steps(torus, i, source[i], target[i]) for i in range(len(torus.shape))))
    return [path for choice in choices for path in _paths(torus, source, tuple(steps for _, steps in choice))]


def _paths(torus, here, rest):
    if not any(rest):
        return [[]]
    found = []
    for i, left in enumerate(rest):
        if left:
            direction = 1 if left > 0 else -1
            later = (*rest[:i], left - direction, *rest[i + 1:])
            tails = _paths(torus, step(torus, here, i, direction), later)
            found += [[(here, i, direction), *tail] for tail in tails]
    return found


def uniform_over_paths(torus, traffic, node_of_rank):
    """Return the loads if a message takes each of its minimal paths with the same probability."""
    loads = defaultdict(Fraction)
    for source, target, amount in traffic:
        paths = all_minimal_paths(torus, coordinates(torus, int(node_of_rank[source])),
                                  coordinates(torus, int(node_of_rank[target])))
        for path in paths:
            for link in path:
                loads[link] += Fraction(amount, len(paths))
    return dict(loads)


def uniform_over_hops(torus, traffic, node_of_rank):
    """Return the loads if coins choose the way round half rings, and a productive dimension at every node."""
    loads = defaultdict(Fraction)
    for source, target, amount in traffic:
        here = coordinates(torus, int(node_of_rank[source]))
        there = coordinates(torus, int(node_of_rank[target]))
        for choice in cartesian(*(shortest_steps(torus, i, here[i], there[i]) for i in range(len(torus.shape)))):
            share = Fraction(amount)
            for coin, _ in choice:
                share *= coin
            _wander(torus, here, tuple(steps for _, steps in choice), share, loads)
    return dict(loads)


def _wander(torus, here, rest, share, loads):
    productive = [i for i, left in enumerate(rest) if left]
    for i in productive:
        direction = 1 if rest[i] > 0 else -1
        loads[here, i, direction] += share / len(productive)
        later = (*rest[:i], rest[i] - direction, *rest[i + 1:])
        _wander(torus, step(torus, here, i, direction), later, share / len(productive), loads)


def hops(torus, a, b):
    """Return the shortest distance of two nodes."""
    return sum(abs(shortest_steps(torus, i, x, y)[0][1])
               for i, (x, y) in enumerate(zip(coordinates(torus, a), coordinates(torus, b))))


def hop_bytes(torus, traffic, node_of_rank):
    return sum(amount * hops(torus, int(node_of_rank[s]), int(node_of_rank[t])) for s, t, amount in traffic)


def neighbours(torus):
    """Return all pairs of neighbouring nodes, each cable position once: list of (a, b, dimension)."""
    found = set()
    nodes = list(cartesian(*(range(n) for n in torus.shape)))
    for node in nodes:
        for i, n in enumerate(torus.shape):
            if node[i] + 1 < n or closes(torus, i):
                found.add((frozenset((node, step(torus, node, i, 1))), i))
    return [(*sorted(pair), i) for pair, i in found]


def cut_bounds(torus, traffic, node_of_rank):
    """Return for each dimension the largest load per cable that a cut at planes proves, from all cuts.

    A cut separates a run of neighbouring planes from the rest. On a line, the run starts at the end, so that the cut
    crosses a single plane of cables, not two.
    """
    place = [coordinates(torus, int(node)) for node in node_of_rank]
    return tuple(_best_cut(torus, traffic, place, i) for i in range(len(torus.shape)))


def _best_cut(torus, traffic, place, i):
    n, best = torus.shape[i], Fraction(0)
    for low in range(n):
        for high in range(low + 1, n + 1):
            if not closes(torus, i) and low > 0:
                continue
            inside = set(range(low, high))
            cables = sum(torus.cables[i] for a, b, j in neighbours(torus)
                         if j == i and (a[i] in inside) != (b[i] in inside))
            if cables:
                out = sum(w for s, t, w in traffic if place[s][i] in inside and place[t][i] not in inside)
                back = sum(w for s, t, w in traffic if place[s][i] not in inside and place[t][i] in inside)
                best = max(best, Fraction(max(out, back), cables))
    return best
