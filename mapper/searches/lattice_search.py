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
Source: H. Cohen, "A Course in Computational Algebraic Number Theory" (1993), sec. 2.4, for the normal form.
Cost: a step is O(tile x path); a second or a few. Needs: rings only, a pencil grid that fills every slot, even blocks.
Deterministic: the same seed and budget give the same tiling.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, product as cartesian
from math import inf, lcm, prod

import numpy as np

from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.searches.lattice_tile import anneal, folded
from pencilmap.mapper.searches.product_search import weights
from pencilmap.mapper.searches.search import OF_MEMBER, Search
from pencilmap.model.base.factors import divisors
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping

ROUNDS = ((64, 1, 3_000), (12, 1, 20_000), (4, 2, 30_000))  # lattices, annealings of each, steps; the last repeats
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
    form: tuple
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
    first = min(ROUNDS[0][0], max(ROUNDS[1][0], ROUNDS[0][0] * MANY_PLACES // int(shape.prod())))
    runs = [_Run(torus, tasks_per_node, lattice, grid, within.seed)
            for lattice in _tried(torus, tasks_per_node, grid, below)[:first]]
    left = budget = within.budget // OF_MEMBER
    best, cost, rounds, idle = None, below, iter(ROUNDS), 0
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

    def __init__(self, torus, tasks_per_node, lattice, grid, seed):
        self.torus, self.tasks_per_node, self.lattice, self.seed = torus, tasks_per_node, lattice, seed
        shape = _shape(torus, tasks_per_node)
        self.shape, self.cost, self.floor = shape, float("inf"), lattice.load + lattice.floor
        self.size = grid.shape[0] if lattice.cosets == "c" else grid.shape[1]
        self.tile = None

    @cached_property
    def near(self):
        return _near(self.shape, self.lattice.numbers, self.size)

    @cached_property
    def folded(self):
        return _folded(self.torus, self.tasks_per_node, self.lattice.form, self.size)

    @cached_property
    def start(self):
        """The compact tile."""
        return np.ascontiguousarray(self.near[:, 0])

    def anneal(self, steps):
        """Anneal once more from the compact tile, which finds more than annealing the best tile further."""
        load, tile = anneal(self.folded, self.start, self.near, steps, self.seed)
        self.seed += 1
        if self.lattice.load + load < self.cost - 1e-12:
            self.cost, self.tile = self.lattice.load + load, tile

    def tiling(self):
        strides = np.array([prod(self.shape[:i]) for i in range(len(self.shape))])
        tile = self.start if self.tile is None else self.tile
        return Tiling(self.torus, self.tasks_per_node, self.lattice.form, tuple((tile @ strides).tolist()),
                      self.lattice.cosets)


def _shape(torus, tasks_per_node):
    return np.array([*torus.shape, tasks_per_node], dtype=np.int64)


def coordinates(shape: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return coordinates and slot of places: int array, shape (..., d + 1)."""
    found = []
    for n in shape.tolist():
        found.append(place % n)
        place = place // n
    return np.stack(found, axis=-1)


def normal_forms(shape: tuple[int, ...], index: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the Hermite normal forms of the sub-lattices of Z^d of this index that contain every n_i e_i.

    >>> sorted(normal_forms((4, 2), 2))
    [((1, 0), (0, 2)), ((1, 1), (0, 2)), ((2, 0), (0, 1))]
    """
    d = len(shape)

    def build(i, rest, below):
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


def _contains(below, i, vector):
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
def _every_place(shape):
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
    found: dict[tuple, Lattice] = {}
    scale = np.array([float(w) for w in weights(torus)])
    places = int(shape.prod())
    most = MOST_LATTICES if places <= MANY_PLACES else min(MOST_LATTICES, FORM_PLACES // places)
    for letter, tile in (("c", grid.shape[0]), ("r", grid.shape[1])):
        if tile > MOST_TILE:
            continue
        floor = _least_tile(torus, shape, tile, scale)
        forms = list(islice(normal_forms(tuple(shape.tolist()), tile), most))
        kept: dict[int, tuple[float, tuple]] = {}
        for numbers, apart in _all_apart(torus, shape, forms):
            load = (_lengths(torus, apart.mean(axis=1).T).T * scale).max(axis=1)
            low = np.flatnonzero(load + floor < below - 1e-9)
            signatures = _signatures(torus, scale, apart[low])
            kept |= {numbers[k]: (float(load[k]), signature) for k, signature in zip(low.tolist(), signatures)}
        for number in sorted(kept):
            load, signature = kept[number]
            found.setdefault((letter, signature), Lattice(tuple(shape.tolist()), forms[number], letter, load, floor))
    return sorted(found.values(), key=lambda some: (some.load + some.floor, some.cosets, some.form))


@lru_cache(maxsize=MOST_KEPT)
def _tried(torus, tasks_per_node, grid, below):
    return tried_lattices(torus, _shape(torus, tasks_per_node), grid, below)


def _all_apart(torus, shape, forms):
    """Yield the numbers of forms with the same diagonal, and the distances of their places: shape (forms, places, d)."""
    alike: dict[tuple, list[int]] = {}
    for number, form in enumerate(forms):
        alike.setdefault(tuple(row[i] for i, row in enumerate(form)), []).append(number)
    for diagonal, numbers in alike.items():
        times = shape // np.array(diagonal)
        places = coordinates(times, np.arange(int(times.prod())))
        step = max(1, MOST_AT_ONCE // len(places))
        for some in (numbers[first:first + step] for first in range(0, len(numbers), step)):
            yield some, _apart(torus, places @ np.array([forms[number] for number in some]) % shape)


def _signatures(torus, scale, apart):
    """Return a key for each lattice; equal keys are those of lattices that differ only by an exchange of like dimensions."""
    kinds = [(n, torus.is_ring(i), scale[i]) for i, n in enumerate(torus.shape)]
    code, totals = np.zeros(apart.shape[:2], dtype=np.int64), []
    for kind in dict.fromkeys(kinds):
        part = apart[:, :, [i for i, each in enumerate(kinds) if each == kind]]
        totals.append(np.sort(part.sum(axis=1), axis=1))
        for column in np.moveaxis(np.sort(part, axis=2), 2, 0):
            code = code * kind[0] + column
    return [row.tobytes() for row in np.concatenate([*totals, np.sort(code, axis=1)], axis=1)]


def _apart(torus, where):
    """Return the distance from place 0 in each dimension: int array, shape (places, d)."""
    n = np.array(torus.shape)
    where = where[..., :-1]
    return np.minimum(where, n - where)


def _lengths(torus, hops):
    """Return the lengths of even loads from the mean hops in each dimension.

    A node has two links on a ring, and one on a line of two.
    """
    return np.array([h * (2 if torus.is_ring(i) else 4) for i, h in enumerate(hops)])


def _least_tile(torus, shape, size, scale):
    """Return the least load of a tile: the weighted hops to the `size` nearest slots, over all links."""
    apart = _apart(torus, coordinates(shape, np.arange(int(np.prod(shape)))))
    factor = _lengths(torus, np.ones(torus.n_dimensions)) * scale
    used = [i for i, n in enumerate(torus.shape) if n > 1]
    if not used:
        return 0.0
    share = 1 / (1 / factor[used]).sum()  # the links of all dimensions filled alike
    return float(np.sort(apart.sum(axis=1))[:size].sum()) / size * share


def _near(shape, numbers, size):
    """Return places of every coset, the nearest to place 0 first: int array, shape (size, NEAR, d + 1)."""
    where = coordinates(shape, np.arange(len(numbers)))
    apart = np.minimum(where, shape - where).sum(axis=1)
    order = np.lexsort([apart, numbers])
    return where[order].reshape(size, -1, where.shape[1])[:, :NEAR].copy()


def _folded(torus, tasks_per_node, form, size):
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
