"""The busiest links of a product placement if routers choose randomly among the minimal routes, in closed form.

Idea: every hop takes one of the dimensions with remaining hops, each with equal probability. Give every dimension its own
clock, which ticks at rate 1 until the message has arrived in that dimension. Then the order of the ticks is the order of
the hops, and at a given time the dimensions are independent. So the traffic across a link of dimension i at time t is a
product of one factor for each dimension, as the pairs of a product image are. The load is the integral over t. This needs
no loop over pairs, paths or hops.
Source: the routing of Blue Gene/L's dynamic mode (N. R. Adiga et al., "Blue Gene/L torus interconnection network",
IBM J. Res. Dev. 49 (2005)) without looking at the queues; the clocks are the usual embedding of a random choice in Poisson
processes; the closed form is ours.
Cost: O(n_i^2) for each dimension and point in time, and for each combination of distinct positions on the other axes.
"""

from functools import cached_property, lru_cache
from math import lgamma

import numpy as np

from pencilmap.model.network.torus import Torus  # noqa: F401  (doctest)
from pencilmap.model.placement.pattern import Pattern
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.ring_map import RingMap
from pencilmap.model.traffic.joint_loads import JointLoads, undominated
from pencilmap.model.traffic.loads import as_fraction, without_rounding

_PANEL, _NODES = 2.0, 10     # Gauss-Legendre nodes on panels of this length: 1e-12 and better
_TAIL = 40.0                 # exp(-40) of the messages are still on their way at the end of the integral


@lru_cache(maxsize=256)
def random_minimal_lengths(product: Product, letters: str) -> tuple[float, ...]:
    """Return the largest expected load in each dimension under random minimal adaptive routing, on the m scale.

    These are loads (4 load N / D_T) for one cable and even blocks. They equal the loads of dimension order if the image is
    symmetric (full rings, every n-th node), and are larger in the middle of dense boxes.

    >>> from pencilmap.model.placement.pattern import parse_pattern
    >>> box = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> ["%.3f" % (m / 4) for m in random_minimal_lengths(box, "r")]
    ['1.360', '1.360', '1.360']
    """
    torus = product.torus
    hops = sum(_longest(p.n, torus.is_ring(i)) for i, p in enumerate(product.dimensions))
    axes = [_axis(p, letters, torus.is_ring(i), hops) for i, p in enumerate(product.dimensions)]
    weights = _quadrature(hops)[1]
    return tuple(_largest(axes, i, weights) / cables for i, cables in enumerate(torus.cables))


def random_minimal_joint(product: Product, letters: tuple[str, ...]) -> JointLoads:
    """Return the expected loads of several exchanges at once, one text of `letters` for each.

    Otherwise as `random_minimal_lengths`.

    >>> from pencilmap.model.placement.pattern import parse_pattern
    >>> box = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> [f"{float(m):.3f}" for m in random_minimal_joint(box, ("r", "c")).largest((1, 1))]
    ['9.438', '9.438', '9.438']
    """
    torus = product.torus
    hops = sum(_longest(p.n, torus.is_ring(i)) for i, p in enumerate(product.dimensions))
    axes = [[_axis(p, some, torus.is_ring(i), hops) for some in letters] for i, p in enumerate(product.dimensions)]
    weights = _quadrature(hops)[1]
    classes = []
    for i, cables in enumerate(torus.cables):
        rows = undominated(without_rounding(_joint(axes, i, weights)))
        classes.append(tuple(tuple(as_fraction(x) / cables for x in row) for row in rows))
    return JointLoads(torus, tuple(classes))


def _joint(axes, i, weights):
    """Return the loads of each exchange on the different links of dimension i, on the m scale.

    Float array, shape (links, exchanges).
    """
    lines = np.ones((1, len(axes[0]), weights.size))
    for j, axis in enumerate(axes):
        if j != i:
            here = _together([exchange.positions / exchange.pairs for exchange in axis])
            lines = (lines[:, None] * here[None]).reshape(-1, *lines.shape[1:])
    links = _together([exchange.crossings * weights * 4 / exchange.pairs for exchange in axes[i]])
    return np.einsum("aew,bew->abe", links, lines).reshape(-1, len(axes[0]))


def _together(arrays):
    """Return the different rows of several arrays side by side: float array, shape (rows, arrays, times)."""
    stacked = np.stack(arrays, axis=1)
    return _different(stacked.reshape(len(stacked), -1)).reshape(-1, *stacked.shape[1:])


def _longest(n, ring):
    return n // 2 if ring else n - 1


@lru_cache(maxsize=32)
def _quadrature(hops):
    """Return times and weights from 0 to the end of the slowest message of so many hops."""
    panels = int(np.ceil((hops + 8 * np.sqrt(hops) + _TAIL) / _PANEL))
    x, w = np.polynomial.legendre.leggauss(_NODES)
    start = _PANEL * np.arange(panels)[:, None]
    return (start + _PANEL * (x + 1) / 2).ravel(), np.tile(w * _PANEL / 2, panels)


@lru_cache(maxsize=128)
def _axis(pattern, letters, ring, hops):
    """Return a dimension at the points in time for so many hops."""
    return _Axis(pattern, letters, ring, _quadrature(hops)[0])


class _Axis:
    """One dimension at the points in time of the quadrature.

    crossings : float array, shape (2 n, times)
        Number of pairs that cross each link of the line per unit time.
    positions : float array, shape (n, times)
        Number of pairs at each position.
    pairs : int
        Nodes of this dimension in one image, the divisor of the m scale.
    """

    def __init__(self, pattern: Pattern | RingMap, letters: str, ring: bool, times: np.ndarray) -> None:
        legs = _legs(pattern, letters, ring)                              # [direction, start, hops]
        ticks = _poisson(legs.shape[-1], times)
        longer = legs[..., ::-1].cumsum(axis=-1)[..., ::-1] - legs      # legs of more than k hops
        moving = _carry(longer) @ ticks                                 # legs about to leave a position, [direction, start]
        arrived = _carry(legs) @ (1 - np.concatenate([np.zeros((1, times.size)), ticks.cumsum(axis=0)])[:-1])
        self.crossings, self.positions = moving.reshape(-1, times.size), (moving + arrived).sum(axis=0)
        self.pairs = pattern.extent(letters)

    @cached_property
    def different(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the crossings and the positions that differ."""
        return _different(self.crossings), _different(self.positions)


def _legs(pattern, letters, ring):
    """Return the pairs that go k hops up or down from a position, ties half each way: shape (2, n, longest + 1)."""
    n = pattern.n
    group = pattern.group(letters)
    source, target = np.nonzero(group[:, None] == group[None, :])
    up, down = target - source, source - target
    if ring:
        up, down = up % n, down % n
    upwards = (np.sign(down - up if ring else up) + 1) / 2
    legs = np.zeros((2, n, _longest(n, ring) + 1))
    for direction, hops, part in ((0, up, upwards), (1, down, 1 - upwards)):
        taken = part > 0
        np.add.at(legs[direction], (source[taken], hops[taken]), part[taken])
    return legs


def _carry(legs):
    """Return counts by start position, moved to the position k hops further: shape (2, n, hops + 1)."""
    n = legs.shape[1]
    position, k = np.ogrid[:n, :legs.shape[2]]
    return np.stack([legs[0][(position - k) % n, k], legs[1][(position + k) % n, k]])


def _poisson(terms, times):
    """Return the probability of exactly k ticks by a time, k = 0 .. terms-1: shape (terms, times)."""
    k = np.arange(terms)[:, None]
    factorials = np.array([lgamma(k + 1) for k in range(terms)])[:, None]  # their logarithms avoid the underflow of products
    return np.exp(k * np.log(times) - times - factorials)


def _different(rows):
    """Return the rows that differ by more than rounding errors, in their order."""
    seen: dict[bytes, int] = {}  # np.unique makes a field of each column: ten times as long
    for i, row in enumerate(np.round(rows, 10) + 0.0):  # + 0.0 turns -0.0 into 0.0
        seen.setdefault(row.tobytes(), i)
    return rows[list(seen.values())]


def _largest(axes, i, weights):
    """Return the largest load of the links of dimension i over all its lines, on the m scale."""
    lines = np.ones((1, weights.size))
    for j, axis in enumerate(axes):
        if j != i:
            lines = (lines[:, None, :] * axis.different[1][None, :, :] / axis.pairs).reshape(-1, weights.size)
    return float(4 * ((axes[i].different[0] * weights) @ lines.T).max()) / axes[i].pairs
