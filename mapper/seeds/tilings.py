"""Lattice tilings: columns are the cosets of a sub-lattice, rows the translates of one tile; or rows and columns exchanged.

Idea: a torus with its slots is a group, Z_n1 x ... x Z_nd x Z_T. Let L be a subgroup of C elements. Its cosets, taken as
columns, load all links of a dimension alike. Any tile with one element of every coset, moved by the elements of L, gives
the rows. So the columns have no busiest link, and the tile can be made compact and even: its loads are folded onto the
cosets of L and annealed. Products of digit patterns are far from even if extents are odd or do not divide well.

Subgroups are the sub-lattices of Z^(d+1) that contain n_i e_i, one for each Hermite normal form whose rows generate them.
Sub-lattices with the same distances, up to an exchange of like dimensions, are taken as equal. The coset loads are known
before any search. The search anneals the most promising lattices a little, the better ones more, and the best to the end. A
lattice is left out if its coset load and least tile load do not beat the best tiling found. The least tile load is the
sum of the distances from a task to the R - 1 nearest slots, shared by all links.

A link carries, for all rows, as much as all links of its coset carry for one tile. A step of the annealing moves one
element of the tile to another place of its coset. Tiles with little load are compact, so only the places near place 0 are
tried, and only the messages of the element change. The path of a message depends on its displacement alone. So the hops of
every displacement are listed once, as cosets relative to the coset of the start, and a table adds cosets. The energy is the
16-norm of all lengths.
Source: H. Cohen, "A Course in Computational Algebraic Number Theory" (1993), sec. 2.4, for the normal form.
Cost: a step is O(tile x path), about 2 microseconds for a tile of 16 on 8x8x8; a second or a few. Needs: rings only, a
pencil grid that fills every slot, even blocks. Deterministic: the same seed and budget give the same tiling.
"""

from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, product as cartesian
from math import inf, lcm, prod
from typing import Any

import numpy as np

from pencilmap.mapper.base.compiling import compiled, copy_into, inlined
from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.base.search import OF_MEMBER, ROUNDS_OF_TILINGS, Search
from pencilmap.mapper.seeds.products import weights
from pencilmap.model.base.arrays import Bools, Floats, Ints, divisors
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid

MOST_LATTICES = 5_000    # normal forms tried: enough for all in up to four dimensions and for Blue Gene/Q
MANY_PLACES, FORM_PLACES = 2048, 4_000_000  # above these places fewer lattices, and normal forms times places, are tried
MOST_PLACES = 1 << 14
MOST_AT_ONCE = 1 << 17    # places of the lattices that are judged at once
NEAR = 6                  # places of each coset, the nearest to place 0, of which a tile takes one
MOST_KEPT = 8             # grids whose lattices are kept
MOST_TILE = 512           # tasks: larger tiles are not annealed


@dataclass(frozen=True)
class Tiling:
    """A tiling of a torus and its slots.

    Parameters
    ----------
    torus : Torus
    tasks_per_node : int
    form : tuple of tuple of int
        Rows of the Hermite normal form, upper triangular: they generate the lattice in dimensions and slots.
    tile : tuple of int
        Places of the tile, one of every coset; place = node + N * slot.
    cosets : str
        Letter of the dimension of the grid whose groups are the cosets.
    """

    torus: Torus
    tasks_per_node: int
    form: tuple[tuple[int, ...], ...]
    tile: tuple[int, ...]
    cosets: str = "c"

    def mapping(self, grid: ProcessGrid) -> Mapping:
        """Return the mapping: member k of a translate is tile[k] moved; the places of the lattice number the translates."""
        shape = _shape(self.torus, self.tasks_per_node)
        strides = np.array([prod(shape[:i]) for i in range(len(shape))])
        lattice = members(shape, self.form)
        lattice = lattice[np.argsort(lattice @ strides)]
        where = (coordinates(shape, np.array(self.tile))[None, :, :] + lattice[:, None, :]) % shape
        place = where @ strides                                     # [translate, member of the tile]
        place = (place if self.cosets == "c" else place.T).ravel()  # rank = q R + p
        N = self.torus.n_nodes
        return Mapping(self.torus, grid, self.tasks_per_node, place % N, place // N, str(self))

    def __str__(self) -> str:
        rows = "/".join(".".join(map(str, row)) for row in self.form)
        return f"lattice:{self.cosets}={rows},tile={'.'.join(map(str, self.tile))}"


@dataclass(frozen=True)
class Lattice:
    """A lattice of the search, with bounds of its tilings.

    Parameters
    ----------
    shape : tuple of int
        Extents of the torus, and the slots of a node.
    form : tuple of tuple of int
    cosets : str
        Letter of the dimension of the grid whose groups are the cosets.
    load : float
        Load of the cosets on the weighted m scale.
    floor : float
        Least load of any tile.
    """

    shape: tuple[int, ...]
    form: tuple[Any, ...]
    cosets: str
    load: float
    floor: float

    @cached_property
    def numbers(self) -> np.ndarray:
        """Number of the coset of every place: int array, shape (places,)."""
        return coset_numbers(np.array(self.shape), self.form)


def best_tiling(torus: Torus, grid: ProcessGrid, tasks_per_node: int = 1, within: Search | None = None,
                below: float = inf, patience: int | None = None) -> tuple[Tiling | None, float]:
    """Search for the best tiling.

    Parameters
    ----------
    torus : Torus
    grid : ProcessGrid
    tasks_per_node : int
    within : Search, optional
    below : float
        Ignore tilings that cost as much or more.
    patience : int, optional
        Stop when this number of rounds has found no better tiling. Ctrl-C also stops.

    Returns
    -------
    Tiling or None
        None if no tiling costs less than `below`.
    float
        Its cost: sum of the worst lengths of rows and columns, exchanged in sequence.

    Examples
    --------
    >>> tiling, cost = best_tiling(Torus((5, 5)), ProcessGrid(5, 5), within=Search(6_400_000))
    >>> float(f"{cost:.3f}"), tiling.cosets
    (4.8, 'c')
    """
    within, shape = within or Search(), _shape(torus, tasks_per_node)
    (most, *_), (least, *_), *_ = ROUNDS_OF_TILINGS
    first = min(most, max(least, most * MANY_PLACES // int(shape.prod())))
    runs = [_Run(torus, tasks_per_node, lattice, grid, within.seed)
            for lattice in _tried(torus, tasks_per_node, grid, below)[:first]]
    left = budget = within.budget // OF_MEMBER
    best, cost, rounds, idle = None, below, iter(ROUNDS_OF_TILINGS), 0
    kept, times, steps = next(rounds)
    report = now_and_then(say)
    while runs and left > 0 and (patience is None or idle < patience) and not within.is_over():
        runs = sorted((run for run in runs if run.floor < cost - 1e-9), key=lambda run: run.cost)[:kept]
        idle += 1
        for run in runs:
            for _ in range(times):
                if left > 0 and run.floor < cost - 1e-9 and not within.is_over():
                    run.anneal(max(1, min(steps, left // run.size)))
                    within.goes_on(min(left, steps * run.size) * OF_MEMBER)
                    left -= steps * run.size
            if run.cost < cost - 1e-9:
                best, cost, idle = run.tiling(), run.cost, 0
        report(f"tilings of grid {grid}: best load {cost:.4g}", 1 - max(left, 0) / budget)
        kept, times, steps = next(rounds, (kept, times, steps))
    return best, cost


class _Run:
    """The annealing of a lattice."""

    def __init__(self, torus: Torus, tasks_per_node: int, lattice: Any, grid: ProcessGrid, seed: int) -> None:
        self.torus, self.tasks_per_node, self.lattice, self.seed = torus, tasks_per_node, lattice, seed
        shape = _shape(torus, tasks_per_node)
        self.shape, self.cost, self.floor = shape, float("inf"), lattice.load + lattice.floor
        self.size = grid.shape[0] if lattice.cosets == "c" else grid.shape[1]
        self.tile: Ints | None = None

    @cached_property
    def near(self) -> Ints:
        return _near(self.shape, self.lattice.numbers, self.size)

    @cached_property
    def folded(self) -> "Any | Folded":
        return _folded(self.torus, self.tasks_per_node, self.lattice.form, self.size)

    @cached_property
    def start(self) -> Ints:
        """The compact tile."""
        return np.ascontiguousarray(self.near[:, 0])

    def anneal(self, steps: int) -> None:
        """Anneal once more from the compact tile, which finds more than annealing the best tile further."""
        load, tile = anneal(self.folded, self.start, self.near, steps, self.seed)
        self.seed += 1
        if self.lattice.load + load < self.cost - 1e-12:
            self.cost, self.tile = self.lattice.load + load, tile

    def tiling(self) -> Any:
        strides = np.array([prod(self.shape[:i]) for i in range(len(self.shape))])
        tile = self.start if self.tile is None else self.tile
        return Tiling(self.torus, self.tasks_per_node, self.lattice.form, tuple((tile @ strides).tolist()),
                      self.lattice.cosets)


def _shape(torus: Torus, tasks_per_node: int) -> Ints:
    return np.array([*torus.shape, tasks_per_node], dtype=np.int64)


def coordinates(shape: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return coordinates and slot of places: int array, shape (..., d + 1)."""
    points = []
    for n in shape.tolist():
        points.append(place % n)
        place = place // n
    return np.stack(points, axis=-1)


def normal_forms(shape: tuple[int, ...], index: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the Hermite normal forms of the sub-lattices of Z^d of this index that contain every n_i e_i.

    >>> sorted(normal_forms((4, 2), 2))
    [((1, 0), (0, 2)), ((1, 1), (0, 2)), ((2, 0), (0, 1))]
    """
    d = len(shape)

    def build(i: int, rest: int, below: list[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], ...]]:
        if i < 0:
            if rest == 1:
                yield tuple(below)
            return
        for a in divisors(rest):
            if shape[i] % a:
                continue
            for tail in cartesian(*(range(row[i + 1 + k]) for k, row in enumerate(below))):
                row = (*([0] * i), a, *tail)
                if _contains(below, i, tuple(shape[i] // a * x for x in row)):
                    yield from build(i - 1, rest // a, [row, *below])

    yield from build(d - 1, index, [])


def _contains(below: Sequence[tuple[int, ...]], i: int, vector: tuple[int, ...]) -> bool:
    """Return whether the entries of a vector to the right of `i` are a sum of rows below."""
    rest = list(vector)
    for k, row in enumerate(below):
        factor, remainder = divmod(rest[i + 1 + k], row[i + 1 + k])
        if remainder:
            return False
        rest = [x - factor * y for x, y in zip(rest, row)]
    return True


def is_form(shape: np.ndarray, form: tuple[tuple[int, ...], ...], index: int) -> bool:
    """Return whether a form is upper triangular, of this index, and of a sub-lattice that contains every n_i e_i.

    Parameters
    ----------
    shape : int array, shape (d,)
        The extents n_i.
    form : tuple of tuple of int
        Rows of the form.
    index : int

    Examples
    --------
    >>> is_form(np.array([4, 2]), ((1, 1), (0, 2)), 2), is_form(np.array([4, 2]), ((1, 1), (0, 1)), 2)
    (True, False)
    """
    d = len(shape)
    if [len(row) for row in form] != [d] * d or any(any(row[:i]) or not row[i] for i, row in enumerate(form)):
        return False
    if prod(row[i] for i, row in enumerate(form)) != index:
        return False
    return all(shape[i] % row[i] == 0 and _contains(form[i + 1:], i, tuple(int(shape[i]) // row[i] * x for x in row))
               for i, row in enumerate(form))


def members(shape: np.ndarray, form: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Return the places of a lattice: coordinates and slot, int array, shape (places of the lattice, d + 1).

    >>> sorted(members(np.array([4, 2]), ((2, 1), (0, 2))).tolist())
    [[0, 0], [2, 1]]
    """
    times = np.array([n // row[i] for i, (n, row) in enumerate(zip(shape.tolist(), form))])
    return coordinates(times, np.arange(int(times.prod()))) @ np.array(form) % shape


def coset_numbers(shape: np.ndarray, form: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Return the number of the coset of every place, 0 for the lattice itself: int array, shape (places,)."""
    rest = _every_place(tuple(shape.tolist()))
    number = np.zeros(len(rest), dtype=np.int64)
    for i, row in enumerate(form):
        rest = rest - (rest[:, i] // row[i])[:, None] * np.array(row)
        number = number * row[i] + rest[:, i]
    return number


@lru_cache(maxsize=MOST_KEPT)
def _every_place(shape: tuple[int, ...]) -> Ints:
    return coordinates(np.array(shape), np.arange(prod(shape)))


def tried_lattices(torus: Torus, shape: np.ndarray, grid: ProcessGrid, below: float = inf) -> list[Lattice]:
    """Return the different lattices whose cosets are columns or rows, the least load of cosets and tile first.

    Parameters
    ----------
    torus : Torus
    shape : int array, shape (d + 1,)
        Extents of the torus, and the slots of a node.
    grid : ProcessGrid
    below : float
        Leave out lattices on which no tiling can cost less.

    Notes
    -----
    Lattices with too large tiles are also left out.
    """
    lattices: dict[tuple[Any, ...], Lattice] = {}
    scale = np.array([float(w) for w in weights(torus)])
    places = int(shape.prod())
    most = MOST_LATTICES if places <= MANY_PLACES else min(MOST_LATTICES, FORM_PLACES // places)
    for letter, tile in (("c", grid.shape[0]), ("r", grid.shape[1])):
        if tile > MOST_TILE:
            continue
        floor = _least_tile(torus, shape, tile, scale)
        forms = list(islice(normal_forms(tuple(shape.tolist()), tile), most))
        kept: dict[int, tuple[float, tuple[Any, ...]]] = {}
        for numbers, apart in _all_apart(torus, shape, forms):
            load = (_lengths(torus, apart.mean(axis=1).T).T * scale).max(axis=1)
            low = np.flatnonzero(load + floor < below - 1e-9)
            signatures = _signatures(torus, scale, apart[low])
            kept |= {numbers[k]: (float(load[k]), signature) for k, signature in zip(low.tolist(), signatures)}
        for number in sorted(kept):
            load, signature = kept[number]
            lattices.setdefault((letter, signature), Lattice(tuple(shape.tolist()), forms[number], letter, load, floor))
    return sorted(lattices.values(), key=lambda lattice: (lattice.load + lattice.floor, lattice.cosets, lattice.form))


@lru_cache(maxsize=MOST_KEPT)
def _tried(torus: Torus, tasks_per_node: int, grid: ProcessGrid, below: float) -> list[Any]:
    return tried_lattices(torus, _shape(torus, tasks_per_node), grid, below)


def _all_apart(torus: Torus, shape: Ints, forms: list[tuple[tuple[int, ...], ...]]) -> Any:
    """Yield the numbers of forms with the same diagonal, and the distances of their places: shape (forms, places, d)."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, form in enumerate(forms):
        alike.setdefault(tuple(row[i] for i, row in enumerate(form)), []).append(number)
    for diagonal, numbers in alike.items():
        times = shape // np.array(diagonal)
        places = coordinates(times, np.arange(int(times.prod())))
        step = max(1, MOST_AT_ONCE // len(places))
        for chunk in (numbers[first:first + step] for first in range(0, len(numbers), step)):
            yield chunk, _apart(torus, places @ np.array([forms[number] for number in chunk]) % shape)


def _signatures(torus: Torus, scale: Floats, apart: Ints) -> list[bytes]:
    """Return a key for each lattice; equal keys are those of lattices that differ only by an exchange of like dimensions."""
    kinds = [(n, torus.is_ring(i), scale[i]) for i, n in enumerate(torus.shape)]
    code, totals = np.zeros(apart.shape[:2], dtype=np.int64), []
    for kind in dict.fromkeys(kinds):
        part = apart[:, :, [i for i, other in enumerate(kinds) if other == kind]]
        totals.append(np.sort(part.sum(axis=1), axis=1))
        for column in np.moveaxis(np.sort(part, axis=2), 2, 0):
            code = code * kind[0] + column
    return [row.tobytes() for row in np.concatenate([*totals, np.sort(code, axis=1)], axis=1)]


def _apart(torus: Torus, where: Ints) -> Ints:
    """Return the distance from place 0 in each dimension: int array, shape (places, d)."""
    n = np.array(torus.shape)
    where = where[..., :-1]
    return np.minimum(where, n - where)


def _lengths(torus: Torus, hops: Floats) -> Floats:
    """Return the lengths of even loads from the mean hops in each dimension.

    A node has two links on a ring, and one on a line of two.
    """
    return np.array([h * (2 if torus.is_ring(i) else 4) for i, h in enumerate(hops)])


def _least_tile(torus: Torus, shape: Ints, size: int, scale: Floats) -> float:
    """Return the least load of a tile: the weighted hops to the `size` nearest slots, over all links."""
    apart = _apart(torus, coordinates(shape, np.arange(int(np.prod(shape)))))
    factor = _lengths(torus, np.ones(torus.n_dimensions)) * scale
    used = [i for i, n in enumerate(torus.shape) if n > 1]
    if not used:
        return 0.0
    share = 1 / (1 / factor[used]).sum()  # the links of all dimensions filled alike
    return float(np.sort(apart.sum(axis=1))[:size].sum()) / size * share


def _near(shape: Ints, numbers: Ints, size: int) -> Ints:
    """Return places of every coset, the nearest to place 0 first: int array, shape (size, NEAR, d + 1)."""
    where = coordinates(shape, np.arange(len(numbers)))
    apart = np.minimum(where, shape - where).sum(axis=1)
    order = np.lexsort([apart, numbers])
    return where[order].reshape(size, -1, where.shape[1])[:, :NEAR].copy()


def _folded(torus: Torus, tasks_per_node: int, form: tuple[tuple[int, ...], ...], size: int) -> "Any | Folded":
    """Return the loads of a tile, folded onto the cosets of the lattice's projection in the torus without slots."""
    shape = _shape(torus, tasks_per_node)
    label = np.arange(torus.n_nodes)
    strides = np.array(torus.strides)
    every = torus.coordinates(np.arange(torus.n_nodes))
    places = members(shape, form)[:, :-1] @ strides
    projected = np.unique(places)
    for row in form:  # the first node of a coset is reached by 0, 1, 3, 7, ... steps along each row
        for k in range(lcm(*torus.shape).bit_length()):
            label = np.minimum(label, label[(every + (np.array(row[:-1]) << k)) % torus.shape @ strides])
    _, key = np.unique(label, return_inverse=True)
    times = len(places) // len(projected)
    unit = np.array([float(w) for w in weights(torus)]) * 2.0 * times / (tasks_per_node * size)  # of half a message
    return folded(np.array(torus.shape), np.array([torus.is_ring(i) for i in range(torus.n_dimensions)]),
                  key.ravel().astype(np.int64), unit)


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
def _listed(shape: Ints, stride: Ints, ring: Bools, key: Ints, count: int, hop: Ints, half: Ints, length: Ints) -> None:
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


@inlined
def _move_messages(where: Any, load: np.ndarray, tile: np.ndarray, coset: Any, j: Any, sign: Any) -> None:
    """Add (+1) or remove (-1) all messages from and to element j."""
    shape, stride, sums, hop, half, length = where.shape, where.stride, where.sums, where.hop, where.half, where.length
    for k in range(len(tile)):
        forth, back = 0, 0
        for i in range(len(shape)):
            up = tile[k, i] - tile[j, i]
            if up < 0:
                up += shape[i]
            if up > 0:
                forth += up * stride[i]
                back += (shape[i] - up) * stride[i]
        for h in range(length[forth]):
            load[sums[coset[j], hop[forth, h]]] += sign * half[forth, h]
        for h in range(length[back]):
            load[sums[coset[k], hop[back, h]]] += sign * half[back, h]


@compiled
def _worst(unit: Floats, load: Ints, scale: float) -> tuple[float, float]:
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
def _anneal(where: Any, tile: Ints, near: Ints, steps: int, seed: int) -> tuple[float, Ints]:
    np.random.seed(seed)
    unit = where.unit
    load, coset = np.zeros(len(unit), dtype=np.int64), np.zeros(len(tile), dtype=np.int64)
    for j in range(len(tile)):
        node = 0
        for i in range(len(where.shape)):
            node += tile[j, i] * where.stride[i]
        coset[j] = where.key[node]
    for j in range(len(tile)):
        _move_messages(where, load, tile, coset, j, 1)
    for link in range(len(load)):
        load[link] //= 2  # every message was counted at both its ends
    top, _ = _worst(unit, load, 1.0)
    scale = max(top, 1e-9)
    _, now = _worst(unit, load, scale)
    best, best_tile, before, old = top, tile.copy(), load.copy(), tile[0].copy()
    for step in range(steps):
        temperature = HOT * (COLD / HOT) ** (step / steps)
        j, other = np.random.randint(len(tile)), np.random.randint(near.shape[1])
        copy_into(before, load)
        copy_into(old, tile[j])
        _move_messages(where, load, tile, coset, j, -1)
        for i in range(tile.shape[1]):
            tile[j, i] = near[j, other, i]
        _move_messages(where, load, tile, coset, j, 1)
        top, then = _worst(unit, load, scale)
        if then <= now or np.random.random() < np.exp((now - then) / temperature):
            now = then
            if top < best - 1e-12:
                best = top
                for k in range(len(tile)):
                    copy_into(best_tile[k], tile[k])
        else:
            copy_into(load, before)
            copy_into(tile[j], old)
    return best, best_tile


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
    best, tile_ = _anneal(where, tile.copy(), near, steps, seed)
    return float(best), tile_
