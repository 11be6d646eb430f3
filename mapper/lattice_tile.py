"""The inner loop of lattice tilings: a tile is annealed on its loads, folded onto the cosets of the lattice.

Idea: every row is the tile moved by an element of the lattice, so a link carries what all links of its coset carry for one
tile. A step moves one element of the tile by an element of the lattice; only its own messages change.
The energy is the 16-norm of all lengths. Compiled by numba, as `pencilmap.mapper.routed_swaps`.
"""

from collections import namedtuple

import numpy as np

from pencilmap.mapper.routed_swaps import compiled

HOT, COLD = 0.015, 0.0003  # temperatures in units of the length at the start

Folded = namedtuple("Folded", "shape stride ring unit key count slots")
Folded.__doc__ = """Where the messages of a tile go.

Parameters
----------
shape, stride : int64 arrays, shape (d,); ring : bool array, shape (d,)
unit : float array, shape (d,)
    What half a message counts on the weighted m scale.
key : int64 array, shape (N,)
    For every node the number of its coset, below `count`.
slots : int
    Tasks of a node.
"""


@compiled
def _route(shape, stride, ring, key, count, load, tile, a, b, sign):
    """Add (+1) or remove (-1) the message from element a to element b, in dimension order, ties split."""
    node = 0
    for i in range(len(shape)):
        node += tile[a, i] * stride[i]
    for i in range(len(shape)):
        n, start, up, step = shape[i], tile[a, i], tile[b, i] - tile[a, i], stride[i]
        if up == 0:
            continue
        hops = up if up > 0 or not ring[i] else up + n
        halves = sign if ring[i] and 2 * hops == n else 2 * sign
        if hops > 0 and (not ring[i] or 2 * hops <= n):
            x, here = start, node
            for _ in range(hops):
                load[2 * i * count + key[here]] += halves
                here += step
                x += 1
                if x == n:
                    x, here = 0, here - n * step
        if hops < 0 or (ring[i] and 2 * hops >= n):
            x, here = start, node
            for _ in range(n - hops if ring[i] else -hops):
                load[(2 * i + 1) * count + key[here]] += halves
                here -= step
                x -= 1
                if x < 0:
                    x, here = n - 1, here + n * step
        node += up * step


@compiled
def _lengths(unit, count, load, scale):
    """The largest length, and the 16-norm of all in units of `scale`."""
    top, norm = 0.0, 0.0
    for k in range(len(load)):
        x = load[k] * unit[k // (2 * count)]
        top = max(top, x)
        x /= scale
        x *= x
        x *= x
        x *= x
        norm += x * x
    return top, (norm / len(load)) ** (1 / 16)


@compiled
def _anneal(shape, stride, ring, unit, key, count, slots, tile, members, steps, seed):
    np.random.seed(seed)
    load = np.zeros(2 * len(shape) * count, dtype=np.int64)
    for j in range(len(tile)):
        for k in range(len(tile)):
            if j != k:
                _route(shape, stride, ring, key, count, load, tile, j, k, 1)
    top, _ = _lengths(unit, count, load, 1.0)
    scale = max(top, 1e-9)
    _, now = _lengths(unit, count, load, scale)
    best, found, before, old = top, tile.copy(), load.copy(), tile[0].copy()
    for step in range(steps):
        temperature = HOT * (COLD / HOT) ** (step / steps)
        j, member = np.random.randint(len(tile)), np.random.randint(len(members))
        before[:], old[:] = load, tile[j]
        for sign in (-1, 1):
            for k in range(len(tile)):
                if k != j:
                    _route(shape, stride, ring, key, count, load, tile, j, k, sign)
                    _route(shape, stride, ring, key, count, load, tile, k, j, sign)
            if sign < 0:
                for i in range(tile.shape[1]):
                    tile[j, i] = (tile[j, i] + members[member, i]) % (shape[i] if i < len(shape) else slots)
        top, then = _lengths(unit, count, load, scale)
        if then <= now or np.random.random() < np.exp((now - then) / temperature):
            now = then
            if top < best - 1e-12:
                best = top
                found[:] = tile
        else:
            load[:], tile[j] = before, old
    return best, found


def anneal(folded: Folded, tile: np.ndarray, members: np.ndarray, steps: int, seed: int) -> tuple[float, np.ndarray]:
    """The largest length of the best tile seen, and that tile.

    `tile` and `members`, the elements of the lattice, have shapes (R, d + 1) and (C, d + 1).
    """
    best, found = _anneal(*folded, tile.copy(), members, steps, seed)
    return float(best), found
