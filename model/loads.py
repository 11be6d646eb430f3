"""The load of every link in one exchange as a value, and the scales it is read on."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pencilmap.model.torus import Torus


@dataclass(frozen=True)
class LinkLoads:
    """Load of every link of a torus in one exchange.

    Parameters
    ----------
    torus : Torus
    halves : int array, shape (d, 2, N)
        Half bytes on the link that leaves node `n` in dimension `i` upwards (``halves[i, 0, n]``) or downwards
        (``halves[i, 1, n]``); all cables between two neighbours together.
    total_bytes : int
        D_T.
    denominator : int
        2 when `halves` are halves; other routings may need other denominators.
    """

    torus: Torus
    halves: np.ndarray
    total_bytes: int
    denominator: int = 2

    def bytes(self):
        """Bytes on every link, float array, shape (d, 2, N)."""
        return self.halves / self.denominator

    def largest(self):
        """The largest load in each dimension, in bytes of one cable, as exact fractions."""
        return tuple(Fraction(int(self.halves[i].max()), self.denominator * self.torus.cables[i])
                     for i in range(self.torus.n_dimensions))

    def on_m_scale(self):
        """The largest load in each dimension on the paper's scale: 4 load N / D_T, exact fractions."""
        return tuple(m_scale(load, self.torus, self.total_bytes) for load in self.largest())

    def hop_bytes(self):
        """Sum of all loads: bytes times hops (an exact fraction)."""
        return Fraction(int(self.halves.sum(dtype=np.int64)), self.denominator)

    def busiest(self):
        """Node, dimension and direction (+1, -1) of the link that takes longest; the first of equals.

        With no bandwidth in the torus all links count as equally fast.
        """
        i = int(np.argmax([self.halves[i].max() / (self.torus.cables[i] * rate) for i, rate in enumerate(_rates(self.torus))]))
        direction, node = np.unravel_index(int(self.halves[i].argmax()), self.halves[i].shape)
        return int(node), i, (1, -1)[int(direction)]

    def seconds(self):
        """Time of the busiest link, None when the torus has no bandwidth."""
        return transfer_time(self.largest(), self.torus)


def m_scale(load_bytes, torus, total_bytes):
    """Put a load of one cable on the paper's scale: m = 4 load N / D_T."""
    return Fraction(load_bytes) * 4 * torus.n_nodes / total_bytes


def m_time(m, torus, total_bytes):
    """Equation 16: t >= max_i m_i D_T / (4 N B_i); `m` one number for each dimension. None without bandwidth."""
    return transfer_time([Fraction(x) * total_bytes / (4 * torus.n_nodes) for x in m], torus)


def transfer_time(load_bytes, torus):
    """Seconds that the slowest dimension needs for its largest load; None when the torus has no bandwidth."""
    if torus.bandwidth is None:
        return None
    return max(float(load) / rate for load, rate in zip(load_bytes, torus.bandwidth))


def _rates(torus):
    return torus.bandwidth or (1.0,) * torus.n_dimensions
