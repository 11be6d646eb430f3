"""HyperX: switches on a grid, each with cables to all others on its lines.

A flattened butterfly is a HyperX, and so is a group of a Cray XC with its rows and columns.

Source: J. H. Ahn, N. Binkert, A. Davis, M. McLaren, R. S. Schreiber, "HyperX: topology, routing, and packaging of efficient
large-scale networks", SC 2009.

The HyperX that hosts, switches and cables form.

The neighbours of a switch fall into its lines: two neighbours have a cable if and only if they are on one line. This gives
the dimensions at one switch. Any other switch differs from it in d coordinates, if it is d hops away, and has the largest
coordinates of the d neighbours that are nearer. So a walk from the first switch gives all coordinates in time of the cables.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.base.units import counted
from pencilmap.model.kinds.cabling import Cabling, Neighbours, NotThisKind
from pencilmap.model.kinds.levels import ROUTINGS, LevelKind
from pencilmap.model.kinds.reading import HOST_NUMBERS, Hosts, Rates, Wiring, check_size, hosts_of, numbers, whole
from pencilmap.model.network.graph import HOST, SwitchedNetwork
from pencilmap.model.network.torus import MAX_DIMENSIONS, default_axes

USAGE = "hyperx:4x4,hosts=4"


@dataclass(frozen=True, eq=False)
class HyperX(SwitchedNetwork):
    """Switches on a grid, each with cables to all others on its lines.

    Examples
    --------
    >>> small = parse("4x4,hosts=4")
    >>> small.n_nodes, small.link_classes, len(small.source), [level.name for level in small.levels]
    (64, ('host', 'x', 'y'), 224, ['switch', 'x', 'y'])
    """

    extents: tuple[int, ...] = ()  #: switches along each dimension, the first dimension fastest


_NUMBERS = {"hosts": "hosts on each switch", "cables": "cables between two switches of a line", **HOST_NUMBERS}


def parse(text: str, bandwidth: Rates | None = None) -> HyperX:
    """Read the shape and the numbers of a HyperX, see `_NUMBERS`.

    Raises
    ------
    NetworkError
        If they are not understood, or the network is too large.
    """
    kind, (shape, _, rest) = "hyperx", text.partition(",")
    extents = tuple(map(int, shape.split("x"))) if re.fullmatch(r"[0-9]{1,6}(x[0-9]{1,6})*", shape) else ()
    if not 1 <= len(extents) <= MAX_DIMENSIONS or min(extents) < 1:
        raise NetworkError(f"network {kind}: the shape {shape[:40]!r} is not understood; write {USAGE}, with up to "
                           f"{MAX_DIMENSIONS} dimensions of 1 or more switches")
    values, n = numbers(kind, rest, _NUMBERS, USAGE), prod(extents)
    cables = whole(kind, values, "cables", 1)
    check_size(kind, n, cables * n * sum(extent - 1 for extent in extents) // 2)
    hosts = hosts_of(kind, values, np.arange(n), whole(kind, values, "hosts"))
    where = np.stack(np.unravel_index(np.arange(n), extents, order="F"), axis=1)
    names = tuple("s" + "-".join(map(str, at)) for at in where.tolist())
    return hyperx(f"{kind}:{text}", hosts, extents, (cables,) * len(extents), names, bandwidth)


def hyperx(name: str, hosts: Hosts, extents: tuple[int, ...], cables: Sequence[int], switches: tuple[str, ...],
           bandwidth: Rates | Sequence[float] | None = None) -> HyperX:
    """Build a HyperX.

    Parameters
    ----------
    name : str
    hosts : Hosts
    extents : tuple of int
        Switches along each dimension; switches are numbered with the first dimension fastest.
    cables : sequence of int
        Cables between two switches of a line of each dimension.
    switches : tuple of str
        Names of the switches.
    bandwidth : str, float, dict or sequence, optional
        See `pencilmap.model.kinds.reading.bandwidths`.
    """
    n, wiring, axes = prod(extents), Wiring.of(hosts), default_axes(len(extents))
    where = np.stack(np.unravel_index(np.arange(n), extents, order="F"), axis=1)
    for i, axis in enumerate(axes):
        wiring.add(axis, *(np.repeat(ends, cables[i]) for ends in _lines(where, i)))
    units = np.arange(n)
    rails = hosts.switch_of_link.reshape(-1, hosts.links)
    units[rails] = rails[:, :1]
    levels = [("switch" if hosts.links == 1 else "unit", units, switches),
              *((axis, where[:, i], [f"{axis}={c}" for c in range(extents[i])]) for i, axis in enumerate(axes))]
    return HyperX(**wiring.arguments(name, switches, levels, bandwidth), extents=extents)


def _lines(where: Ints, i: int) -> tuple[Ints, Ints]:
    """Return the ends of one cable between every two switches that differ in dimension `i` alone."""
    extents = where.max(axis=0) + 1
    stride, n = int(np.prod(extents[:i])), int(extents[i])
    low, high = np.triu_indices(n, 1)
    first = np.flatnonzero(where[:, i] == 0)[:, None]
    return (first + low * stride).ravel(), (first + high * stride).ravel()

def recognise(cabling: Cabling) -> HyperX:
    """Return the HyperX of a cabling; its links are those of the hosts, and a class for each dimension.

    Raises
    ------
    NotThisKind
        If it is none.
    """
    links, n = cabling.one_switch_each, cabling.n_switches
    if n < 2 or not len(cabling.between):
        raise NotThisKind
    near = Neighbours(n, cabling.switches)
    lines = _lines_of_first(near)
    extents = [len(line) + 1 for line in lines]
    if len(lines) > MAX_DIMENSIONS or prod(extents) != n or 2 * len(cabling.between) != n * (sum(extents) - len(extents)):
        raise NotThisKind
    lines.sort(key=len)
    extents.sort()
    where = _coordinates(near, lines)
    number = where @ np.concatenate([[1], np.cumprod(extents)[:-1]])
    if len(np.unique(number)) < n:
        raise NotThisKind
    a, b = cabling.switches.T
    apart = where[a] != where[b]
    if (apart.sum(axis=1) != 1).any():
        raise NotThisKind
    classes = [cabling.between[apart[:, i]] for i in range(len(extents))]
    cables = [int(cabling.of_all(cabling.cables[pairs])) for pairs in classes]
    order = np.argsort(number)
    hosts = Hosts(cabling.hosts, links.shape[1], "even", number[links].ravel())
    network = hyperx(cabling.name, hosts, tuple(extents), cables, cabling.switch_names(order),
                     cabling.rates([np.flatnonzero(cabling.hosts_at), *classes]))
    cabling.check(network, np.concatenate([np.arange(cabling.n_hosts), order + cabling.n_hosts]))
    return network


def described(network: HyperX) -> str:
    """Return the numbers of a HyperX in words.

    >>> from pencilmap.model.kinds.hyperx import parse
    >>> described(parse("2x3,hosts=4"))
    'HyperX 2x3, 4 hosts on each switch'
    """
    hosts = np.bincount(network.levels[0].unit[:network.n_nodes], minlength=network.n_switches)
    low, high = int(hosts.min()), int(hosts.max())
    chosen = counted(high, "host") if low == high else f"{low} to {counted(high, 'host')}"
    return f"HyperX {'x'.join(map(str, network.extents))}, {chosen} on each switch"


def _lines_of_first(near: Neighbours) -> list[Ints]:
    """Return the other switches on each line of switch 0."""
    left, lines = set(near.of(0).tolist()), []
    while left:
        first = min(left)
        line = {first} | (left & set(near.of(first).tolist()))
        lines.append(np.array(sorted(line)))
        left -= line
    return lines


def _coordinates(near: Neighbours, lines: list[Ints]) -> Ints:
    """Return the coordinates of each switch: int array, shape (switches, d)."""
    where, hops = np.zeros((near.n, len(lines)), dtype=np.int64), near.hops(0)
    for i, line in enumerate(lines):
        where[line, i] = np.arange(1, len(line) + 1)
    for distance in range(2, len(lines) + 1):
        nearer = (hops[near.target] == distance) & (hops[near.source] == distance - 1)
        np.maximum.at(where, near.target[nearer], where[near.source[nearer]])
    return where


KIND = LevelKind(
    "hyperx", USAGE, "switches on a grid, with cables to all others on their lines; a flattened butterfly",
    f"{HOST}, and one for each dimension, with the letter of its axis", HyperX, parse, ROUTINGS,
    recognise=recognise, described=described)
