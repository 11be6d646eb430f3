"""The inner loop of lattice tilings: anneal a tile on its loads, folded onto the cosets of the lattice.

Idea: every row is the tile moved by an element of the lattice. So a link carries, for all rows, as much as all links of its
coset carry for one tile. A step moves one element of the tile to another place of its coset. Tiles with little load are
compact, so only the places near place 0 are tried, and only the messages of the element change. The path of a message
depends on its displacement alone. So the hops of every displacement are listed once, as cosets relative to the coset of the
start, and a table adds cosets. The energy is the 16-norm of all lengths.
Cost: about 2 microseconds a step for a tile of 16 on 8x8x8. Compiled by `pencilmap.mapper.searches.compiling`.
"""

from collections import namedtuple

import numpy as np

from pencilmap.mapper.searches.compiling import compiled
from pencilmap.mapper.searches.routed_swaps import copy_into

HOT, COLD = 0.015, 0.0003  # temperatures in units of the length at the start

Folded = namedtuple("Folded", "shape stride unit key sums hop half length")
Folded.__doc__ = """The links that the messages of a tile load.

Parameters
----------
shape, stride : int64 arrays, shape (d,)
unit : float array, shape (2 * d * K,)
    Length of half a message on a link on the weighted m scale; links by dimension, direction, and coset of K.
key : int64 array, shape (N,)
    Number of the coset of every node.
sums : int32 array, shape (K, 2 * d * K)
    The link for the coset of a message's start and a link as seen from coset 0.
hop, half : int32 arrays, shape (N, H); length : int64 array, shape (N,)
    For every displacement the links of its path from coset 0, the half messages on each link, and the number of links.
"""


@compiled
def _listed(shape, stride, ring, key, count, hop, half, length):
    """Fill in hops, halves and lengths for every displacement: dimension order, ties split."""
    for node in range(len(key)):
        k, base = 0, 0
        for i in range(len(shape)):
            n, step = shape[i], stride[i]
            up = node // step % n
            if up == 0:
                continue
            if not ring[i]:  # a line of two: the only link of the node
                hop[node, k], half[node, k] = 2 * i * count + key[base], 2
                k += 1
            elif 2 * up <= n:
                for x in range(up):
                    hop[node, k], half[node, k] = 2 * i * count + key[base + x * step], 1 if 2 * up == n else 2
                    k += 1
            if ring[i] and 2 * up >= n:
                for x in range(n - up):
                    hop[node, k] = (2 * i + 1) * count + key[base + (n - x) % n * step]
                    half[node, k] = 1 if 2 * up == n else 2
                    k += 1
            base += up * step
        length[node] = k


def folded(shape: np.ndarray, ring: np.ndarray, key: np.ndarray, unit: np.ndarray) -> Folded:
    """Return empty folded loads.

    Parameters
    ----------
    shape : int array, shape (d,)
    ring : bool array, shape (d,)
        Whether each dimension is a ring.
    key : int array, shape (N,)
        Coset of every node.
    unit : float array, shape (d,)
        Length of half a message on a link of each dimension.
    """
    d, N, count = len(shape), len(key), int(key.max()) + 1
    stride = np.concatenate([[1], np.cumprod(shape)[:-1]]).astype(np.int64)
    hop, half = np.zeros((N, int(shape.sum())), dtype=np.int32), np.zeros((N, int(shape.sum())), dtype=np.int32)
    length = np.zeros(N, dtype=np.int64)
    _listed(shape, stride, ring, key, count, hop, half, length)
    every = np.arange(N)[:, None] // stride % shape
    first = every[np.unique(key, return_index=True)[1]]  # a node of each coset
    sums = key[(first[:, None, :] + first[None, :, :]) % shape @ stride]
    sums = np.concatenate([sums + link * count for link in range(2 * d)], axis=1).astype(np.int32)
    most = max(1, int(length.max(initial=1)))
    return Folded(shape, stride=stride, unit=np.repeat(unit, 2 * count), key=key, sums=sums,
                  hop=np.ascontiguousarray(hop[:, :most]), half=np.ascontiguousarray(half[:, :most]), length=length)


@compiled
def _messages(shape, stride, sums, hop, half, length, load, tile, coset, j, sign):
    """Add (+1) or remove (-1) all messages from and to element j."""
    for k in range(len(tile)):
        there, back = 0, 0
        for i in range(len(shape)):
            up = tile[k, i] - tile[j, i]
            if up < 0:
                up += shape[i]
            if up > 0:
                there += up * stride[i]
                back += (shape[i] - up) * stride[i]
        for h in range(length[there]):
            load[sums[coset[j], hop[there, h]]] += sign * half[there, h]
        for h in range(length[back]):
            load[sums[coset[k], hop[back, h]]] += sign * half[back, h]


@compiled
def _lengths(unit, load, scale):
    """Return the largest length, and the 16-norm of all lengths in units of `scale`."""
    top, norm = 0.0, 0.0
    for k in range(len(load)):
        x = load[k] * unit[k]
        top = max(top, x)
        x /= scale
        x *= x
        x *= x
        x *= x
        norm += x * x
    return top, (norm / len(load)) ** (1 / 16)


@compiled
def _anneal(shape, stride, unit, key, sums, hop, half, length, tile, near, steps, seed):
    np.random.seed(seed)
    load, coset = np.zeros(len(unit), dtype=np.int64), np.zeros(len(tile), dtype=np.int64)
    for j in range(len(tile)):
        node = 0
        for i in range(len(shape)):
            node += tile[j, i] * stride[i]
        coset[j] = key[node]
    for j in range(len(tile)):
        _messages(shape, stride, sums, hop, half, length, load, tile, coset, j, 1)
    for link in range(len(load)):
        load[link] //= 2  # every message was counted at both its ends
    top, _ = _lengths(unit, load, 1.0)
    scale = max(top, 1e-9)
    _, now = _lengths(unit, load, scale)
    best, found, before, old = top, tile.copy(), load.copy(), tile[0].copy()
    for step in range(steps):
        temperature = HOT * (COLD / HOT) ** (step / steps)
        j, other = np.random.randint(len(tile)), np.random.randint(near.shape[1])
        copy_into(before, load)
        copy_into(old, tile[j])
        _messages(shape, stride, sums, hop, half, length, load, tile, coset, j, -1)
        for i in range(tile.shape[1]):
            tile[j, i] = near[j, other, i]
        _messages(shape, stride, sums, hop, half, length, load, tile, coset, j, 1)
        top, then = _lengths(unit, load, scale)
        if then <= now or np.random.random() < np.exp((now - then) / temperature):
            now = then
            if top < best - 1e-12:
                best = top
                for k in range(len(tile)):
                    copy_into(found[k], tile[k])
        else:
            copy_into(load, before)
            copy_into(tile[j], old)
    return best, found


def anneal(where: Folded, tile: np.ndarray, near: np.ndarray, steps: int, seed: int) -> tuple[float, np.ndarray]:
    """Anneal a tile and return the largest length of the best tile seen, and this tile.

    Parameters
    ----------
    where : Folded
    tile : int array, shape (R, d + 1)
    near : int array, shape (R, K, d + 1)
        Places of the coset of each element, from which it takes one.
    steps, seed : int
    """
    best, found = _anneal(*where, tile.copy(), near, steps, seed)
    return float(best), found
