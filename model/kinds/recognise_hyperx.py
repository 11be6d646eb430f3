"""The HyperX that hosts, switches and cables form.

The neighbours of a switch fall into its lines: two neighbours have a cable if and only if they are on one line. This gives
the dimensions at one switch. Any other switch differs from it in d coordinates, if it is d hops away, and has the largest
coordinates of the d neighbours that are nearer. So a walk from the first switch gives all coordinates in time of the cables.
"""

from math import prod

import numpy as np

from pencilmap.model.base.units import counted
from pencilmap.model.kinds.cabling import Cabling, Neighbours, NotThisKind
from pencilmap.model.kinds.hyperx import HyperX, hyperx
from pencilmap.model.kinds.reading import Hosts
from pencilmap.model.network.torus import MAX_DIMENSIONS


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
    lines = _lines(near)
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
    found = hyperx(cabling.name, hosts, tuple(extents), cables, cabling.switch_names(order),
                   cabling.rates([np.flatnonzero(cabling.hosts_at), *classes]))
    cabling.check(found, np.concatenate([np.arange(cabling.n_hosts), order + cabling.n_hosts]))
    return found


def described(network: HyperX) -> str:
    """Return the numbers of a HyperX in words.

    >>> from pencilmap.model.kinds.hyperx import parse
    >>> described(parse("2x3,hosts=4"))
    'HyperX 2x3, 4 hosts on each switch'
    """
    hosts = np.bincount(network.levels[0].unit[:network.n_nodes], minlength=network.n_switches)
    low, high = int(hosts.min()), int(hosts.max())
    some = counted(high, "host") if low == high else f"{low} to {counted(high, 'host')}"
    return f"HyperX {'x'.join(map(str, network.extents))}, {some} on each switch"


def _lines(near):
    """Return the other switches on each line of switch 0."""
    left, found = set(near.of(0).tolist()), []
    while left:
        first = min(left)
        line = {first} | (left & set(near.of(first).tolist()))
        found.append(np.array(sorted(line)))
        left -= line
    return found


def _coordinates(near, lines):
    """Return the coordinates of each switch: int array, shape (switches, d)."""
    where, hops = np.zeros((near.n, len(lines)), dtype=np.int64), near.hops(0)
    for i, line in enumerate(lines):
        where[line, i] = np.arange(1, len(line) + 1)
    for distance in range(2, len(lines) + 1):
        nearer = (hops[near.target] == distance) & (hops[near.source] == distance - 1)
        np.maximum.at(where, near.target[nearer], where[near.source[nearer]])
    return where
