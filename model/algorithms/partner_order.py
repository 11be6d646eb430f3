"""The order of partners of exchange p2p on a torus, as in the library if ranks know their coordinates.

Idea: if the coordinates of the members fill a box, the members are numbered in the box. A partner is found by adding an
offset, modulo the extents of the box. A phase begins with the offset of the largest remaining load, and its opposite. Other
offsets join until the largest load of the phase and the largest remaining load add up to the largest load before the phase.
Members that fill no box exchange with members at small and at large distances in the list of members, both ways, eight
messages at a time.
Source: fft_runner/src/exchange/partner_order.c, which has exactly this order of phases.
Cost: O(p**2) small vectors for a group of p members; groups with the same loads share the phases.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.torus import Torus

_MOST_MESSAGES = 16
_LOOK = 1024
_WAYS = 16  # the most directions in the library


@dataclass(frozen=True)
class _Box:
    """Cells with the slot fastest, then the dimensions in order."""

    extent: tuple[int, ...]
    member: Ints  #: member of each cell
    cell: Ints  #: cell of each member

    def moved(self, offset: int) -> Ints:
        """Return the member at an offset from each member: shape (p,)."""
        index = np.unravel_index(self.cell, self.extent, order="F")
        step = np.unravel_index(offset, self.extent, order="F")
        moved = [(i + s) % n for i, s, n in zip(index, step, self.extent)]
        return self.member[np.ravel_multi_index(moved, self.extent, order="F")]


def phases(torus: Torus, coordinates: Ints, group: Ints, mine: int, known: dict | None = None) -> list[Ints]:
    """Return the messages of each phase: arrays of receiving members, shape (messages, p).

    Parameters
    ----------
    torus : Torus
    coordinates : int array, shape (P, dimensions)
        Coordinates of all ranks.
    group : int array, shape (P,)
        A number for the group of each rank.
    mine : int
        Number of the group of the members, which are in the order of ranks.
    known : dict, optional
        Phases by extents and loads, to share them among groups.

    Examples
    --------
    >>> ring = Torus((4,))
    >>> [each.tolist() for each in phases(ring, np.arange(4)[:, None], np.zeros(4, int), 0)]
    [[[1, 2, 3, 0], [3, 0, 1, 2]], [[2, 3, 0, 1]]]
    """
    at = coordinates[group == mine]
    box = _box(at)
    if box is None:
        return list(_distances(len(at)))
    loads = tuple(_line_loads(torus, i, coordinates, group, at[0], box.extent[i + 1]) for i in range(torus.n_dimensions))
    known = {} if known is None else known
    if (box.extent, loads) not in known:
        known[box.extent, loads] = _offsets_of_phases(box.extent, loads)
    return [np.array([box.moved(offset) for offset in some]) for some in known[box.extent, loads]]


def _box(at):
    """Return the box that the members fill, or None."""
    index, extent = [], []
    for column in at.T:
        found, number = np.unique(column, return_inverse=True)
        index.append(number)
        extent.append(len(found))
    n_nodes = 1
    for n in extent:
        n_nodes *= n
    if n_nodes > len(at) or len(at) % n_nodes:
        return None
    node = np.ravel_multi_index(index, extent, order="F")
    slots = len(at) // n_nodes
    if np.any(np.bincount(node, minlength=n_nodes) != slots):
        return None
    member = np.argsort(node, kind="stable")
    cell = np.empty_like(member)
    cell[member] = np.arange(len(at))
    return _Box((slots, *extent), member, cell)


def _line_loads(torus, i, coordinates, group, origin, extent):
    """Return the loads of the busiest link up and down, by shift: twice the messages on the line through `origin`."""
    beside = np.delete(np.arange(torus.n_dimensions), i)
    on_line = np.flatnonzero(np.all(coordinates[:, beside] == origin[beside], axis=1))
    users = [np.sort(coordinates[on_line[group[on_line] == g], i]) for g in np.unique(group[on_line])]
    n = torus.shape[i]
    return tuple((0, 0) if shift == 0 else _shift_load(users, shift, n, torus.is_ring(i)) for shift in range(extent))


def _shift_load(users, shift, n, ring):
    up, down = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for positions in users:
        slots = np.count_nonzero(positions == positions[0])
        for here, there in zip(positions, np.roll(positions, -shift * slots)):
            above = (there - here) % n if ring else there - here
            below = n - above if ring else -above
            weight = 1 if above == below else 2
            if above and (above <= below if ring else above > 0):
                up[(here + np.arange(above)) % n] += weight
            if above and (below <= above if ring else below > 0):
                down[(here - np.arange(below)) % n] += weight
    return int(up.max()), int(down.max())


def _offsets_of_phases(extent, loads):
    offsets, load = _offsets(extent, loads)
    left, found = load.sum(axis=0), []
    while offsets:
        everything = left.max(initial=0)
        chosen, carried = list(offsets.pop(0)), load[0]
        load = load[1:]
        while offsets and len(chosen) < _MOST_MESSAGES and (
                carried.max(initial=0) + (left - carried).max(initial=0) > everything):
            tried = carried + load[:_LOOK]
            time = tried.max(axis=1) + (left - tried).max(axis=1)
            idle = _WAYS * tried.max(axis=1) - tried.sum(axis=1)
            best = int(np.lexsort((idle, time))[0])
            chosen += offsets.pop(best)
            carried = tried[best]
            load = np.delete(load, best, axis=0)
        left = left - carried
        found.append(chosen)
    return found


def _offsets(extent, loads):
    """Return each offset with its opposite, and the loads of both: the largest first."""
    found, loads_of = [], []
    for v in range(1, int(np.prod(extent))):
        index = np.unravel_index(v, extent, order="F")
        opposite = int(np.ravel_multi_index([-i % n for i, n in zip(index, extent)], extent, order="F"))
        if opposite < v:
            continue
        both = (v,) if opposite == v else (v, opposite)
        found.append(both)
        loads_of.append(sum(np.array([loads[i][s] for i, s in enumerate(np.unravel_index(o, extent, order="F")[1:])]).ravel()
                            for o in both))
    load = np.array(loads_of, dtype=np.int64).reshape(len(found), 2 * len(loads))
    order = np.argsort(-load.max(axis=1, initial=0), kind="stable")
    return [found[k] for k in order], load[order]


def _distances(p) -> Iterator[Ints]:
    me, messages = np.arange(p), []
    small, large = 1, p // 2
    while small <= large:
        for distance in dict.fromkeys((small, large)):
            messages += [(me + distance) % p] + [(me - distance) % p] * (2 * distance != p)
        if len(messages) >= _MOST_MESSAGES // 2 or large - small <= 1:
            yield np.array(messages)
            messages = []
        small, large = small + 1, large - 1
