"""A lower bound on the sum of both lengths on a torus, by a linear program over all translations of a placement.

Let f(z) be the mean number of tasks of its own row that a task finds at the displacement z, g(z) the mean number of its
column, and h(z) of all tasks. The mean is over all tasks, all reflections and all exchanges of equal dimensions. Let a node
have at most T tasks. Then:

- f, g and h add up to R, C and P. f(0) and g(0) are at least 1, the task itself. f + g <= h, and <= h + 1 at 0. If all
  nodes are full, h = T. If some are missing but no slot is idle, the nodes give h. If slots are idle, the nodes and T
  bound h.
- For the transforms f^/R >= h^/P, g^/C >= h^/P, and f^/R + g^/C <= 1 + h^/P. The reason: the mean square of a wave is
  divided into the squares of its mean, h^/P, of the row means about the mean, of the column means about the mean, and the
  rest. If all nodes are full, h^ = 0 for every wave but the constant.
- A row length is at least the mean of the loads of a dimension, which the distances give, under any routing. So is a column
  length.
- The mean traffic of a cut and its translations follows from f and g. For each translation the pair (rows, columns) is on
  the upper side of the frontier of cuts (`pencilmap.model.bounds.cuts`), and no translation carries more than
  the lengths allow. So the mean lies in the convex hull of that part of the frontier. If nodes are missing or slots idle,
  the translations have different numbers of tasks on one side, and the mean lies in the mean of their hulls.

The last statement depends on the lengths themselves, and the frontier is not convex. So the plane of both lengths is
divided into boxes. A linear program bounds each box, with the hull of its own part. The box with the least bound is divided
next. The least bound of all boxes is a bound at any moment. HiGHS solves the linear programs. Each bound is lowered by
far more than the tolerance of HiGHS.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product as cartesian
from math import atan2, ceil, floor, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Bools, Floats, Ints
from pencilmap.model.bounds.cuts import MOST_STEPS, exact_frontier, least_other, steps
from pencilmap.model.network.torus import Torus

MOST_KINDS = 64        # of displacements, up to reflection and order: a linear program of a few hundredths of a second
MOST_PROGRAMS = 24
SLACK = 1e-5           # subtracted from every bound; the tolerances of the linear program are 1e-7
LOWER = 0.4
CLOSE = 4e-3           # smaller boxes are not divided
DIGITS = 3             # of the angle of a facet: facets with equal digits are merged

Box = tuple[float, float, float, float]  # row length from, to, column length from, to


def translation_bound(torus: Torus, capacity: tuple[Fraction, ...], tasks_per_node: int, R: int, C: int,
                      least: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0)),
                      units: tuple[Fraction, Fraction] | None = None, usable: Bools | None = None) -> Fraction:
    """Return the least sum of the worst row and column length of an RxC grid of even blocks on a torus.

    Parameters
    ----------
    torus : Torus
    capacity : tuple of Fraction
        Cables of a link in each dimension over its weight, see `pencilmap.model.network.network.link_weights`.
    tasks_per_node, R, C : int
    least : (Fraction, Fraction)
        Least values of the two lengths, by other arguments.
    units : (Fraction, Fraction), optional
        Numbers of which the two lengths are multiples, if known.
    usable : bool array, shape (N,), optional
        Usable nodes; by default all nodes.

    Returns
    -------
    Fraction
        0 if the torus has open lines or too many kinds of displacements.

    Examples
    --------
    >>> torus = Torus((4, 4, 4))
    >>> round(float(translation_bound(torus, (Fraction(1),) * 3, 1, 8, 8)), 2)
    2.44
    """
    if min(R, C) == 1 or not all(torus.is_ring(i) or n <= 2 for i, n in enumerate(torus.shape)) \
            or _kinds(torus, capacity) > MOST_KINDS or torus.n_nodes == 1:
        return Fraction(0)
    places = np.ones(torus.n_nodes, dtype=bool) if usable is None else usable
    return _bound(torus.shape, capacity=capacity, T=tasks_per_node, R=R, C=C, least=least, units=units,
                  usable=places.reshape(torus.shape, order="F").tobytes())


def _kinds(torus: Torus, capacity: tuple[Fraction, ...]) -> int:
    """Return the number of different displacements."""
    number = 1
    for (n, _), size in _classes(torus.shape, capacity).items():
        halves, count = n // 2 + 1, len(size)
        for i in range(count):
            number = number * (halves + i) // (i + 1)
    return number


def _classes(shape: tuple[int, ...], kinds: tuple[Fraction, ...]) -> dict[tuple[int, Fraction], list[int]]:
    """Return the classes of like dimensions."""
    classes: dict[Any, list[int]] = {}
    for i, (n, kind) in enumerate(zip(shape, kinds)):
        if n > 1:
            classes.setdefault((n, kind), []).append(i)
    return classes


@lru_cache(maxsize=256)
def _bound(shape: tuple[int, ...], capacity: tuple[Fraction, ...], T: int, R: int, C: int, least: tuple[Fraction, Fraction],
           units: Any, usable: bytes) -> Any:
    program = _Program(shape, capacity, T, R, C, np.frombuffer(usable, dtype=bool).reshape(shape))
    most = 1.5 * program.together + 1
    units = units and tuple(map(float, units))
    whole = (float(least[0]), most, float(least[1]), most)
    result = program.least(whole)
    if result is None:       # both lengths are above `most`
        return sum(least)
    boxes = [(result, whole)]
    for _ in range(MOST_PROGRAMS):
        value, box = boxes[0]
        if max(box[1] - box[0], box[3] - box[2]) < CLOSE:
            break
        parts = [(program.least(part), part) for part in _halves(box, units)]
        boxes = sorted([*boxes[1:], *((max(bound, value), part) for bound, part in parts if bound is not None)])
        if not boxes:
            return Fraction(int(most * 1000), 1000)
    # a placement outside all boxes has a length above `most`
    value = min(boxes[0][0], most)
    return Fraction(max(0, int((value - SLACK) * 10_000)), 10_000)


class _Program:
    """The linear program of a machine and grid. Variables: f, g, h by kind of displacement, then the two lengths."""

    def __init__(self, shape: tuple[int, ...], capacity: tuple[Fraction, ...], T: int, R: int, C: int,
                 usable: Bools) -> None:
        self.R, self.C, N, P = R, C, prod(shape), R * C
        classes = _classes(shape, capacity)
        z = np.array(list(cartesian(*map(range, shape))))
        folded = np.minimum(z, np.array(shape) - z)
        key = folded.copy()
        for dims in classes.values():
            key[:, dims] = np.sort(folded[:, dims], axis=1)
        kinds, kind, count = np.unique(key, axis=0, return_inverse=True, return_counts=True)
        kind, m = kind.ravel(), len(kinds)
        self.m = m

        def by_kind(values: Ints | Floats) -> NDArray[Any]:
            """Sums of something known for every displacement, over each kind."""
            return np.bincount(kind, weights=values, minlength=m)

        waves = [np.cos(2 * np.pi * np.outer(np.arange(n), np.arange(n)) / n) for n in shape]
        transform = np.array([by_kind(np.prod([waves[i][w[i]][z[:, i]] for i in range(len(shape))], axis=0)) for w in kinds])
        one, nothing, level = np.eye(m), np.zeros((m - 1, m)), np.zeros(m - 1)
        zero = ~np.any(kinds, axis=1)
        f, g, h = transform[~zero] / R, transform[~zero] / C, transform[~zero] / P
        below = [(-f, nothing, h, level), (nothing, -g, h, level), (nothing, nothing, -h, level),
                 (f, g, -h, np.ones(m - 1)), (one, one, -one, np.where(zero, 1.0, 0.0))]
        near = np.rint(np.fft.ifftn(np.abs(np.fft.fftn(usable * T))**2).real).ravel() / P     # h without idle slots
        most = by_kind(np.minimum(near, T)) / count
        slots = np.count_nonzero(usable) * T
        least = most if slots == P else zero.astype(float)
        lengths, self.cuts = [], []
        for (n, links), dims in classes.items():
            ring, lines = n > 2, N // n
            every = 2 * lines * (n if ring else 1) * float(links)
            hops = 4 * N * np.mean([by_kind(folded[:, i]) for i in dims], axis=0) / every
            lengths += [(hops / R, 0), (hops / C, 1)]
            k = n // 2
            across = np.array([min(k, d, n - d, n - k) for d in range(n)]) / n      # of translations that lead d across
            mean = np.mean([by_kind(across[z[:, i]]) for i in dims], axis=0)
            carried = (2 if ring else 1) * lines * float(links) / (4 * N)
            inside = np.concatenate([_arcs(usable, i, k) for i in dims]) * T
            self.cuts.append((carried, mean, _regions(R, C, inside, slots)))
        self.together = max(sum(part * share * (1 - share) for part, share, _ in regions) / carried
                            for carried, _, regions in self.cuts)
        rows = [np.hstack([*columns, np.zeros((len(columns[0]), 2))]) for *columns, _ in below]
        for values, which in lengths:
            row = np.zeros(3 * m + 2)
            row[which * m:(which + 1) * m], row[3 * m + which] = values, -1
            rows.append(row[None])
        self.upper = np.vstack(rows)
        self.upper_at = np.concatenate([*(b for *_, b in below), np.zeros(len(lengths))])
        self.equal = np.zeros((3, 3 * m + 2))
        for which in range(3):
            self.equal[which, which * m:(which + 1) * m] = count
        self.range = [(float(zero[i]), float(min(size, T))) for size in (R, C) for i in range(m)]
        self.range += list(zip(least.tolist(), most.tolist()))

    def least(self, box: Box) -> float | None:
        """Return the least sum of the lengths in a box, or None if the box holds no placement."""
        from scipy.optimize import linprog  # slow to import

        extra, at = [], []
        for carried, mean, regions in self.cuts:
            facets = _facets(regions, box[1] * carried, box[3] * carried)
            if facets is None:
                return None
            for p, q, least in facets:                        # p rows + q columns >= least
                row = np.concatenate([-p * mean / self.R, -q * mean / self.C, np.zeros(self.m + 2)])
                scale = np.abs(row).max()
                extra.append(row / scale)
                at.append(-least / scale)
        solution = linprog([0] * (3 * self.m) + [1, 1], A_ub=np.vstack([self.upper, *extra]),
                           b_ub=np.concatenate([self.upper_at, at]),
                           A_eq=self.equal, b_eq=[self.R, self.C, self.R * self.C], bounds=[*self.range, box[:2], box[2:]],
                           method="highs")
        if solution.status == 2:
            return None
        return float(solution.fun) if solution.status == 0 else box[0] + box[2]


def _arcs(usable: Bools, i: int, k: int) -> Ints:
    """Return the usable nodes within k planes of dimension i, for every first plane: int array, shape (n,)."""
    planes = usable.sum(axis=tuple(j for j in range(usable.ndim) if j != i))
    around = np.concatenate([[0], np.cumsum(np.concatenate([planes, planes]))])
    return around[k:k + len(planes)] - around[:len(planes)]


def _regions(R: int, C: int, inside: Ints, slots: Any) -> list[tuple[float, Fraction, Floats | None]]:
    """Return, for cuts with these numbers of slots on one side, their part of all cuts, the least share, and the frontiers.

    The least share of the tasks is on one side. Exact frontiers with all their points are None if they would take too long.
    """
    P, regions = R * C, dict[tuple[int, ...], int]()
    for region, cuts in zip(*np.unique(inside, return_counts=True)):
        low, high = max(0, P - (slots - int(region))), min(P, int(region))
        sides = tuple(sorted({min(k, P - k) for k in range(low, high + 1)}))
        regions[sides] = regions.get(sides, 0) + int(cuts)
    every = {k for sides in regions for k in sides}
    exact = sum(steps(R, C, k) for k in every) <= MOST_STEPS
    frontier = {k: exact_frontier(R, C, k) if exact and k else None for k in every}
    return [(cuts / len(inside), Fraction(sides[0], P),
             None if any(frontier[k] is None for k in sides) else np.concatenate([frontier[k] for k in sides]))
            for sides, cuts in regions.items()]


def _halves(box: Box, units: tuple[float, float] | None) -> list[Box]:
    """Return the two parts of a box, divided along its longer side, nearer to the lower end.

    The parts leave out the gaps between multiples of the units.
    """
    a0, a1, b0, b1 = box
    if a1 - a0 >= b1 - b0:
        middle = a0 + (a1 - a0) * LOWER
        parts = [(a0, middle, b0, b1), (middle, a1, b0, b1)]
    else:
        middle = b0 + (b1 - b0) * LOWER
        parts = [(a0, a1, b0, middle), (a0, a1, middle, b1)]
    if units is None:
        return parts
    parts = [(*_multiples(*part[:2], units[0]), *_multiples(*part[2:], units[1])) for part in parts]
    return [part for part in parts if part[0] <= part[1] and part[2] <= part[3]]


def _multiples(low: float, high: float, unit: float) -> tuple[float, float]:
    """Return the first and the last multiple of a unit in an interval; if there is none, the first is above the last."""
    return unit * ceil(low / unit - 1e-6), unit * floor(high / unit + 1e-6)


def _facets(regions: list[tuple[float, Fraction, Floats | None]], rows: float,
            columns: float) -> list[tuple[float, float, float]] | None:
    """Return facets (p, q, least) with p rows + q columns >= least of the mean traffic of cuts that carry no more.

    None if no traffic is possible.
    """
    chains = [chain for _, share, frontier in regions if (chain := _chain(share, frontier, rows, columns)) is not None]
    if len(chains) < len(regions):
        return None
    normals: dict[float, tuple[float, float]] = {}
    for chain in chains:
        for (r0, c0), (r1, c1) in pairwise(chain):
            p, q = c0 - c1, r1 - r0
            if p > 1e-9 and q > 1e-9:
                normals.setdefault(round(atan2(p, q), DIGITS) if len(chains) > 1 else len(normals), (p, q))
    facets = [(p, q, sum(part * (chain @ (p, q)).min() for (part, _, _), chain in zip(regions, chains)))
              for p, q in ((1.0, 0.0), (0.0, 1.0), *normals.values())]
    return [(p, q, least) for p, q, least in facets if least > 0]


def _chain(share: Fraction, frontier: Floats | None, rows: float, columns: float) -> Floats | None:
    """Return the corners of the lower hull of the traffic of a cut that carries at most `rows` and `columns`.

    Float array, shape (corners, 2), the rows' part rising; None if no traffic is possible.
    """
    if frontier is None:
        part = float(share)
        most = part * (1 - part)  # if one exchange sends this much, the other need not send anything
        rows, columns = min(rows, most), min(columns, most)
        points = np.array([(least_other(columns, part), columns), (rows, least_other(rows, part))])
        if points[0, 0] > rows + 1e-12:
            return None
    else:
        points = frontier[(frontier[:, 0] <= rows + 1e-12) & (frontier[:, 1] <= columns + 1e-12)]
        if not len(points):
            return None
        points = points[np.lexsort(points.T[::-1])]
        points = points[points[:, 1] < np.concatenate([[np.inf], np.minimum.accumulate(points[:, 1])[:-1]])]
    chain: list[Any] = []
    for point in points:                                       # rows rise, columns fall
        while len(chain) > 1 and _turns(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return np.array(chain)


def _turns(a: Floats, b: Floats, c: Floats) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
