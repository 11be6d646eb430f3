"""How times scale with the number of ranks: speed-up, weak efficiency, the fit of a/P + d/P^(2/3), effective bisection.

Source: D. Pekurovsky, P3DFFT, SIAM J. Sci. Comput. 34 (2012), section 4. On a 3D torus computing and memory take a/P. Bytes
across the bisection take d/P^(2/3), because the bisection of P ranks is in proportion to P^(2/3) (equation 4). Half of the
bytes of each all-to-all cross the bisection, with both directions counted. So the fitted d gives a bandwidth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, prod, sqrt

import numpy as np

from pencilmap.model.base.errors import RecordError
from pencilmap.model.network.torus import Torus

LEAST_POINTS = 3  # for two coefficients and one degree of freedom, which the uncertainty needs


@dataclass(frozen=True)
class Point:
    """The time of a transform on some number of ranks.

    Parameters
    ----------
    size : (int, int, int)
        nx, ny, nz.
    time_s : float
        Seconds of the slowest rank, for all `transforms` together.
    grid : tuple of int
        Extents of the process grid; () if unknown.
    array_bytes : float, optional
        Bytes of the exchanged array, in all fields.
    transforms : int
        2 for a forward and a backward transform timed together.
    mean_s, deviation_s : float, optional
        Over the ranks, seconds.
    """

    source: str
    size: tuple[int, int, int]
    ranks: int
    time_s: float
    decomposition: str = "pencil"
    grid: tuple[int, ...] = ()
    array_bytes: float | None = None
    transforms: int = 1
    mean_s: float | None = None
    deviation_s: float | None = None

    @property
    def points(self) -> int:
        return prod(self.size)

    @property
    def work_per_rank(self) -> float:
        """N log2 N over P, N being the number of all points: the work that weak scaling compares with the time."""
        return self.points * log2(max(self.points, 2)) / self.ranks

    @property
    def is_1d(self) -> bool:
        """Whether only one dimension is divided: slabs, and grids of one row or column."""
        return self.decomposition == "slab" or (len(self.grid) == 2 and min(self.grid) == 1)


@dataclass(frozen=True)
class Fit:
    """T = a/P + d/P^(2/3), seconds; the deviations are one standard deviation of each coefficient.

    `largest` is the largest relative difference of a fitted from a measured time.
    """

    a: float
    d: float
    a_deviation: float
    d_deviation: float
    n: int
    largest: float

    def time_s(self, ranks: float) -> float:
        """Return fitted seconds on that many ranks."""
        return self.a / ranks + self.d / ranks ** (2 / 3)

    def bisection(self, ranks: float, crossing_bytes: float) -> float | None:
        """Return bytes per second through the bisection of that many ranks, both directions.

        Parameters
        ----------
        ranks : float
            Number of ranks.
        crossing_bytes : float
            Bytes that cross the bisection in the fitted time: half of the array for each all-to-all.

        Returns
        -------
        float or None
            None if the fit has no such term.
        """
        return crossing_bytes * ranks ** (2 / 3) / self.d if self.d > 0 else None


def crossing_bytes(array_bytes: float, transposes: int) -> float:
    """Return the bytes that cross a bisection in a number of all-to-alls of a whole array.

    Half of the array crosses in each all-to-all, both directions counted.
    """
    return array_bytes * transposes / 2


def fit(points: Sequence[Point]) -> Fit:
    """Fit the coefficients by linear least squares of the relative errors, so that short times count as much as long times.

    Raises
    ------
    RecordError
        If there are fewer than three points, or all points have the same number of ranks.

    Examples
    --------
    >>> found = fit([Point("", (64, 64, 64), p, 8 / p + 3 / p ** (2 / 3)) for p in (8, 64, 512)])
    >>> f"{found.a:.6f} {found.d:.6f} {found.largest:.0e}"[:17]
    '8.000000 3.000000'
    """
    ranks, times = np.array([p.ranks for p in points], float), np.array([p.time_s for p in points])
    if len(points) < LEAST_POINTS or len(set(ranks)) < 2:
        raise RecordError(f"{len(points)} times on {len(set(ranks))} numbers of ranks do not determine a/P + d/P^(2/3); it "
                          f"needs at least {LEAST_POINTS} times on at least 2 numbers of ranks")
    terms = np.stack([1 / ranks, ranks ** (-2 / 3)], axis=1) / times[:, None]
    scale = np.abs(terms).max(axis=0)
    figures, *_ = np.linalg.lstsq(terms / scale, np.ones(len(times)), rcond=None)
    rest = 1 - terms / scale @ figures
    variance = float(rest @ rest) / (len(times) - 2) * np.diag(np.linalg.inv((terms / scale).T @ (terms / scale)))
    a, d = (float(x) for x in figures / scale)
    a_deviation, d_deviation = (sqrt(v) / s for v, s in zip(variance, scale))
    return Fit(a, d, float(a_deviation), float(d_deviation), len(times), float(np.abs(rest).max()))


def weak_efficiency(first: Point, last: Point) -> float:
    """Return a rank's work over its time, relative to the first point: 1 if the time grows only as N log N over P.

    >>> first, last = (Point("", (n, n, n), p, t) for n, p, t in ((64, 8, 1.0), (128, 64, 7 / 6)))
    >>> f"{weak_efficiency(first, last):.3f}"
    '1.000'
    """
    return (last.work_per_rank / last.time_s) / (first.work_per_rank / first.time_s)


def bisection_bandwidth(torus: Torus) -> float:
    """Return bytes per second, both directions, through the narrowest cut of a torus in two halves across a dimension.

    The halves of an odd extent are as even as possible.

    Raises
    ------
    RecordError
        If the torus has no bandwidth.

    Examples
    --------
    >>> from pencilmap.model.network.torus import parse_torus
    >>> f"{bisection_bandwidth(parse_torus('15x16wx24w', bandwidth=(4.8e9,) * 3)) / 1e9:.0f} GB/s"
    '3686 GB/s'
    """
    if torus.bandwidth is None:
        raise RecordError(f"torus {torus} has no bandwidth, so its bisection has none: give one with `bandwidth`, e.g. "
                          "'148 MB/s'")
    cuts = [2 * rate * cables * (torus.n_nodes // extent) * (2 if torus.is_ring(i) else 1)
            for i, (extent, rate, cables) in enumerate(zip(torus.shape, torus.bandwidth, torus.cables)) if extent > 1]
    return min(cuts, default=float("inf"))
