"""The load of every link in an exchange, and its scales."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import GraphLink, Network, TorusLink


@dataclass(frozen=True)
class LinkLoads:
    """Load of every link of a network in an exchange."""

    network: Network
    #: array of int, float or Fraction, shape ``network.link_shape``; ``denominator`` times the bytes on each link, all
    #: cables of the link together. On a torus the shape is (d, 2, N): the link that leaves node `n` in dimension `i` upwards
    #: is ``[i, 0, n]``, downwards ``[i, 1, n]``
    values: Ints | Floats
    total_bytes: int  #: D_T
    denominator: int = 1  #: keeps the values integers for a routing that splits evenly; 2 for halves

    def bytes(self) -> Floats:
        """Return the bytes on every link, an array of the shape of `values`."""
        return self.values / self.denominator

    def largest(self) -> tuple[Fraction, ...]:
        """Return the largest load in each class of links, in bytes of a cable, as exact fractions."""
        return tuple(largest for largest, _ in self._largest_with_place())

    def on_m_scale(self) -> tuple[Fraction, ...]:
        """Return the largest load in each class on the paper's scale: 4 load N / D_T, exact fractions."""
        return tuple(m_scale(load, self.network, self.total_bytes) for load in self.largest())

    def hop_bytes(self) -> Fraction:
        """Return the sum of all loads: bytes times hops (exact for exact values)."""
        return as_fraction(self.values.sum()) / self.denominator

    def busiest(self) -> TorusLink | GraphLink | None:
        """Return the link that takes longest, the first among equals, or None if every link is idle.

        If the network has no bandwidth, all links count as equally fast.
        """
        found = self._largest_with_place()
        times = [load / Fraction(rate) for (load, _), rate in zip(found, _rates(self.network))]
        i = max(range(len(times)), key=times.__getitem__, default=0)
        return self.network.link(i, found[i][1]) if times and times[i] > 0 else None

    def seconds(self) -> float | None:
        """Return the time of the busiest link, or None if the network has no bandwidth."""
        return transfer_time(self.largest(), self.network)

    def _largest_with_place(self) -> list[tuple[Fraction, int]]:
        """Return for each class the largest load of a cable, and the number of its link in the flat class."""
        return [self._largest_of_class(i) for i in range(len(self.values))]

    def _largest_of_class(self, i: int) -> tuple[Fraction, int]:
        flat, best = self.values[i].reshape(-1), (Fraction(0), 0)
        for cables, links in self.network.links_by_cables(i):
            some = flat[links]
            if some.size:
                k = int(np.argmax(some))
                load = as_fraction(some[k]) / (self.denominator * cables)
                place = k if isinstance(links, slice) else int(links[k])
                best = max(best, (load, place), key=lambda b: b[0])
        return best


def as_fraction(value: Any) -> Fraction:
    """Return any number of an array as an exact fraction."""
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def without_rounding(values: ArrayLike) -> Floats:
    """Round floats to 40 bits after the leading bit of the largest. Further bits are rounding errors of the sums.

    So a load of 2 is 2, not 1.9999999999999998, and not below its bound.
    """
    found = np.array(values, dtype=float)
    used = np.nonzero(found)  # a job uses few links of a large network
    some = found[used]
    shift = 40 - int(np.frexp(np.abs(some).max(initial=0.0))[1])
    found[used] = np.ldexp(np.rint(np.ldexp(some, shift)), -shift)
    return found


def m_scale(load_bytes: Fraction | float, network: Network, total_bytes: int) -> Fraction:
    """Put a load of a cable on the paper's scale: m = 4 load N / D_T."""
    return Fraction(load_bytes) * 4 * network.n_nodes / total_bytes


def m_time(m: Iterable[Fraction | float], network: Network, total_bytes: int) -> float | None:
    """Return the seconds of equation 16: t >= max_i m_i D_T / (4 N B_i). None without bandwidth.

    Parameters
    ----------
    m : iterable of number
        One number for each dimension.
    network : Network
    total_bytes : int
        D_T.
    """
    return transfer_time([Fraction(x) * total_bytes / (4 * network.n_nodes) for x in m], network)


def transfer_time(load_bytes: Iterable[Fraction | float], network: Network) -> float | None:
    """Return the seconds that the slowest class of links needs for its largest load, or None without bandwidth."""
    if network.bandwidth is None:
        return None
    return max(float(load) / rate for load, rate in zip(load_bytes, network.bandwidth))


def _rates(network: Network) -> tuple[float, ...]:
    return network.bandwidth or (1.0,) * len(network.link_classes)
