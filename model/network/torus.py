"""Torus and mesh networks: coordinates, links, rings. No MPI, no files, no clock.

Only this file decides about rings of one and two nodes: a ring of one has no link; a ring of two has one cable, open or
wrapped, unless `cables` gives more.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, cast

import numpy as np

from pencilmap.model.base.arrays import Bools, Ints
from pencilmap.model.base.errors import RoutingError, TorusError
from pencilmap.model.network.network import Arcs, CoordinateNetwork, Network

MAX_DIMENSIONS = 8
MAX_NODES = 1 << 40  # a shape is only numbers; functions that use a shape may have lower limits


@dataclass(frozen=True)
class Torus(CoordinateNetwork):
    """An n-dimensional torus or mesh of nodes.

    Parameters
    ----------
    shape : tuple of int
        Nodes in each dimension, 1 to 8 dimensions.
    wrap : tuple of bool, optional
        Whether the dimension closes to a ring (g=2 of the paper) or is an open line (g=1). All closed by default.
    bandwidth : tuple of float, optional
        Bytes per second of one link (one direction of a cable) in each dimension; None if only loads are needed.
    cables : tuple of int, optional
        Parallel cables between two neighbours in each dimension; 1 by default.
    axes : str, optional
        One letter for each dimension; ``xyz`` up to three dimensions, ``abcdefgh`` beyond.

    Raises
    ------
    TorusError
        If a dimension, bandwidth, number of cables or axis is impossible.

    Examples
    --------
    >>> Torus((8, 8, 8)).n_nodes, Torus((8, 8, 8)).n_cables
    (512, 1536)
    >>> [Torus((n,)).n_cables for n in (1, 2, 3)]
    [0, 1, 3]
    """

    shape: tuple[int, ...]
    wrap: tuple[bool, ...] = ()
    bandwidth: tuple[float, ...] | None = None
    cables: tuple[int, ...] = ()
    axes: str = ""

    has_products = True

    def __post_init__(self) -> None:
        def fill(name: str, value: str | tuple[float, ...]) -> None:
            object.__setattr__(self, name, value)

        shape = tuple(int(n) for n in self.shape)
        fill("shape", shape)
        if not 1 <= len(shape) <= MAX_DIMENSIONS:
            raise TorusError(f"a torus has 1 to {MAX_DIMENSIONS} dimensions, not {len(shape)}")
        if min(shape) < 1:
            raise TorusError(f"torus {by_x(shape)} has an empty dimension; every extent must be 1 or more")
        if prod(shape) > MAX_NODES:
            raise TorusError(f"torus {by_x(shape)} has {prod(shape)} nodes; at most {MAX_NODES} are supported")
        fill("wrap", _per_dimension("wrap", self.wrap or (True,) * len(shape), shape, bool))
        fill("cables", _per_dimension("cables", self.cables or (1,) * len(shape), shape, int))
        if min(self.cables) < 1:
            raise TorusError(f"cables {self.cables}: two neighbours need at least one cable")
        if self.bandwidth is not None:
            fill("bandwidth", _per_dimension("bandwidth", self.bandwidth, shape, float))
            if min(self.bandwidth) <= 0:
                raise TorusError(f"bandwidth {self.bandwidth}: every link needs more than 0 bytes per second")
        axes = self.axes or default_axes(len(shape))
        if len(axes) != len(shape) or len(set(axes)) != len(axes) or "t" in axes or not (axes.isalpha() and axes.isascii()):
            raise TorusError(f"axes {axes!r}: {len(shape)} different letters other than t (the slot) are needed")
        fill("axes", axes)

    def is_ring(self, i: int) -> bool:
        """Return whether dimension `i` really is a ring: wrapped and more than two nodes."""
        return self.wrap[i] and self.shape[i] > 2

    def g(self, i: int) -> int:
        """Return the paper's g: 2 if a cut of dimension `i` severs two cables, else 1."""
        return 2 if self.is_ring(i) else 1

    def cable_positions(self, i: int) -> int:
        """Return the number of pairs of neighbours on one line of dimension `i`."""
        return self.shape[i] if self.is_ring(i) else self.shape[i] - 1

    def lines(self, i: int) -> int:
        """Return the number of lines along dimension `i`."""
        return self.n_nodes // self.shape[i]

    @property
    def n_cables(self) -> int:
        return sum(self.lines(i) * self.cable_positions(i) * self.cables[i] for i in range(self.n_dimensions))

    def arcs(self) -> Arcs:
        """Return all links as arcs of a directed graph, without missing links at the ends of a line.

        >>> [len(Torus((n,)).arcs().source) for n in (1, 2, 3)]
        [0, 2, 6]
        """
        nodes = np.arange(self.n_nodes)
        rates = self.bandwidth or (1.0,) * self.n_dimensions
        parts: list[list[np.ndarray]] = [[], [], [], [], []]
        for i, n in enumerate(self.shape):
            coordinate = nodes // self.strides[i] % n
            for direction, step in enumerate((1, -1)):
                target = (coordinate + step) % n
                real = self.is_ring(i) | (target == coordinate + step)
                result = nodes[real], (nodes + (target - coordinate) * self.strides[i])[real]
                index = (i * 2 + direction) * self.n_nodes + result[0]
                capacity = np.full(len(index), self.cables[i] * rates[i] / max(rates))
                for part, values in zip(parts, (*result, index, capacity, np.full(len(index), float(self.cables[i])))):
                    part.append(values)
        return Arcs(self.n_nodes, *(np.concatenate(part) for part in parts))

    def as_dict(self) -> dict[str, Any]:
        """Return the torus for JSON."""
        return {"torus": str(self), "shape": list(self.shape), "wrap": list(self.wrap)}

    def __str__(self) -> str:
        """Return the shortest text that `parse_torus` reads back to the same shape, wrap and axes."""
        mixed = any(self.wrap) and not all(self.wrap)
        sizes = "x".join(f"{n}{'w' if mixed and w else ''}" for n, w in zip(self.shape, self.wrap))
        mesh = "" if any(self.wrap) else ":mesh"
        return sizes + mesh + ("" if self.axes == default_axes(len(self.shape)) else f":axes={self.axes}")


def by_x(extents: Iterable[int]) -> str:
    """Return extents as text: ``8x8x16``."""
    return "x".join(map(str, extents))


def default_axes(n_dimensions: int) -> str:
    """Return the default letters of the axes: ``xyz`` up to three dimensions, ``abcdefgh`` beyond."""
    return ("xyz" if n_dimensions <= 3 else "abcdefgh")[:n_dimensions]


def _per_dimension(name: str, value: Iterable[Any], shape: tuple[int, ...], kind: Callable[[Any], Any]) -> tuple[Any, ...]:
    value = tuple(kind(v) for v in value)
    if len(value) != len(shape):
        raise TorusError(f"{name} has {len(value)} entries, but the torus {by_x(shape)} has {len(shape)} dimensions")
    return value


def as_torus(network: Network) -> Torus:
    """Return the network, which must be a torus.

    Raises
    ------
    TorusError
        If the network is no torus.
    """
    if not network.has_products:
        raise TorusError(f"a torus or mesh is needed, and {network.title} is none")
    return cast(Torus, network)


_TORUS = re.compile(r"([0-9]+w?(?:x[0-9]+w?)*)(?::(mesh|torus)|_untwisted)?(?::axes=([A-Za-z]+))?")


def parse_torus(text: str, **options: Any) -> Torus:
    """Read a shape: ``8x8x8`` (all wrap), ``8x8x8:mesh``, or per dimension ``8wx8x4w`` (w: wrapped).

    Unusual letters of the axes follow the shape: ``4x6x16x2x3x2:axes=xyzabc``. fft_runner/common/torus.c reads the same
    text. ``4x4x8_untwisted``, as Google writes it, is 4x4x8.

    Parameters
    ----------
    text : str
    **options
        Passed to `Torus` (bandwidth, cables, and axes if the text has none).

    Returns
    -------
    Torus

    Raises
    ------
    TorusError
        If the text is not understood.

    Examples
    --------
    >>> parse_torus("8wx8x4w").wrap
    (True, False, True)
    >>> str(parse_torus("4x4:mesh")), str(parse_torus("4wx4w")), str(parse_torus("4x4:mesh:axes=ab"))
    ('4x4:mesh', '4x4', '4x4:mesh:axes=ab')
    """
    match = _TORUS.fullmatch(text) if len(text) <= 200 else None
    if not match:
        raise TorusError(f"torus {text[:60]!r} is not understood; write 8x8x8 (all dimensions wrap), 8x8x8:mesh, "
                         "or 8wx8x4w (w marks the dimensions that wrap), and :axes=LETTERS after it for letters other "
                         "than xyz")
    body, kind, axes = match.groups()
    if axes is not None:
        options["axes"] = axes
    parts = body.split("x")
    if kind and "w" in body:
        raise TorusError(f"torus {text!r} has both :{kind} and w; use one of them")
    wrap = tuple(p.endswith("w") for p in parts) if "w" in body else (kind != "mesh",) * len(parts)
    return Torus(tuple(int(p.rstrip("w")) for p in parts), wrap, **options)


TIES = ("split", "parity", "plus")
SHORT_LINE = 128     # nodes up to which the directions of all legs are kept
LONGEST_LINE = 8192  # nodes; the memory of `ring_link_loads` grows with the square, to 4 GiB


def check_lines(shape: Iterable[int]) -> None:
    """Raise RoutingError if a line is too long for `ring_link_loads`."""
    if max(shape) > LONGEST_LINE:
        raise RoutingError(f"a dimension of {max(shape)} nodes is too long to be routed; at most {LONGEST_LINE} are "
                           "possible; use a shape with more dimensions")


def ring_link_loads(legs: Ints, ring: bool, tie: str = "split") -> Ints:
    """Return loads of the links of a line from its legs, in halves so that split ties stay integers.

    Parameters
    ----------
    legs : int array, shape (..., n, n)
        ``legs[..., a, b]``: traffic from position a to position b of the line.
    ring : bool
        Whether the line closes; if so, legs take the shorter direction.
    tie : {"split", "parity", "plus"}
        Rule at half a ring: half each way; + from even and - from odd coordinates; always +.

    Returns
    -------
    numpy.ndarray of int64, shape (..., 2, n)
        ``[..., 0, p]``: halves carried by the link p -> p+1; ``[..., 1, p]``: by p -> p-1.

    Notes
    -----
    The link p -> p+1 carries the load of the link before, plus the traffic that starts at p, minus the traffic that ends
    there. The link from the last position to the first carries the traffic that goes round. O(n^2) for each line.

    Examples
    --------
    >>> ring_link_loads(np.eye(4, k=2, dtype=int), True).tolist()    # 0 -> 2 and 1 -> 3 on a ring of 4
    [[1, 2, 1, 0], [2, 1, 0, 1]]
    """
    n = legs.shape[-1]
    up, down, back, forth = (_kept_directions if n <= SHORT_LINE else _directions)(n, ring, tie)
    upward, downward = legs * up, legs * down
    return np.stack([_around(upward, back) + _balance(upward).cumsum(axis=-1),
                     _around(downward, forth) + _balance(downward)[..., ::-1].cumsum(axis=-1)[..., ::-1]], axis=-2)


def _directions(n: int, ring: bool, tie: str) -> tuple[Ints, Ints, Bools, Bools]:
    """Return for each leg its halves upwards and downwards, and whether it leads back, or forth: arrays, shape (n, n)."""
    a, b = np.ogrid[:n, :n]
    k = (b - a) % n
    up = np.where(2 * k < n, 2, np.where(2 * k > n, 0, _TIE_SHARE[tie](a))) if ring else np.where(b > a, 2, 0)
    return up, 2 - up, b < a, b > a


_kept_directions = lru_cache(maxsize=64)(_directions)


def _balance(legs: Ints) -> Ints:
    """Return the traffic that starts at each position minus the traffic that ends there."""
    return legs.sum(axis=-1) - legs.sum(axis=-2)


def _around(legs: Ints, crosses: np.ndarray) -> Ints:
    """Return the traffic across the link between the ends of the line, shape (..., 1)."""
    return (legs * crosses).sum(axis=-1).sum(axis=-1, keepdims=True)


_TIE_SHARE: dict[str, Callable[[Ints], Ints]] = {  # halves that go upwards, by the coordinate the leg starts from
    "split": np.ones_like,
    "parity": lambda a: np.where(a % 2 == 0, 2, 0),
    "plus": lambda a: np.full_like(a, 2),
}
