"""The steps of the schedules, written a second time: the elements that every rank sends in each phase.

This code shares nothing with `pencilmap.model.schedules`; `tests.model.brute_force` walks the messages.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product as cartesian

import numpy as np

from tests.model import brute_force as brute
from tests.model.cases import largest


def walk(phases, torus, node_of_rank, total, order=None, tie="split"):
    """Return T on the m scale: walk every message in flight in each phase, hop by hop."""
    T = Fraction(0)
    for messages in phases:
        links = defaultdict(Fraction)
        for link, load in brute.dimension_order(torus, messages, node_of_rank, order, tie).items():
            links[link] += load
        T += max(largest(torus, links)) * 4 * torus.n_nodes / total
    return T


def flights(found, grid, transform):
    """Return for each phase of a forecast (`ScheduleForecast`) the messages in flight: (source, target, bytes)."""
    name, sizes, axis = found.schedule.name, found.sizes, found.axis
    if found.direction == "pair" and name == "opposite":
        return _pair(grid, transform)
    if found.direction == "pair":
        both = (replace(found, direction=direction) for direction in ("forward", "backward"))
        return [phase for one in both for phase in flights(one, grid, transform)]
    if found.direction == "backward" and name != "overlap":
        return list(map(turned_round, flights(replace(found, direction="forward"), grid, transform)))
    if name == "sequence":
        return [list(rows_first(grid, transform, whole, first)) for first in (True, False)]
    if name == "two-way":
        lower, upper = (lane_of("planes", sizes, k) for k in (0, 1))
        return _beside(grid, transform, lower, transform, upper)
    if name == "opposite":
        return _opposite(grid, transform, sizes)
    K = len(sizes)

    def in_flight(k, first):
        if not 0 <= k < K:
            return []
        if axis == "field":
            fields = len(chunk(range(transform.fields), sizes, k))
            return list(rows_first(grid, replace(transform, fields=fields), whole, first)) if fields else []
        return list(rows_first(grid, transform, lane_of(axis, sizes, k), first))

    if name == "pipelined":
        return [in_flight(k, first) for first in (True, False) for k in range(K)]
    assert name == "overlap"
    if found.direction == "backward":
        return [turned_round(in_flight(k, False) + in_flight(k - 1, True)) for k in range(K + 1)]
    return [in_flight(k, True) + in_flight(k - 1, False) for k in range(K + 1)]


def turned_round(messages):
    """Return the messages with source and target swapped."""
    return [(there, here, size) for here, there, size in messages]


def _pair(grid, transform):
    """Return the messages of a pair of transforms; with several fields, each transform goes two ways."""
    if transform.fields > 1:
        one = _opposite(grid, transform, (transform.fields - transform.fields // 2, transform.fields // 2))
    else:
        one = [list(rows_first(grid, transform, whole, first)) for first in (True, False)]
    return [one[0] + turned_round(one[1]), one[1] + turned_round(one[0])]


def _opposite(grid, transform, sizes):
    one, other = (replace(transform, fields=n) for n in sizes)
    return _beside(grid, one, whole, other, whole)


def _beside(grid, one, lane, other, other_lane):
    """Return the messages of a lane with rows first, beside another lane with columns first."""
    return [[*rows_first(grid, one, lane, first), *columns_first(grid, other, other_lane, first)] for first in (True, False)]


def rows_first(grid, transform, lane, first):
    """Return messages of an exchange of route A, for the elements that `lane(axis, block)` selects from a block."""
    R, C = grid.shape
    nx, ny, nz = transform.exchanged
    X, Y, Z = pieces(nx, C), pieces(ny, R), lane("planes", range(nz))
    Z, W = [Z[i] for i in map(slice_of, pieces(len(Z), R))], pieces(ny, C)
    for q, p in cartesian(range(C), range(R)):
        for other in range(R if first else C):
            if first:
                yield q * R + p, q * R + other, elements(lane("x", X[q]), Y[p], lane("z", Z[other]), transform)
            else:
                yield q * R + p, other * R + p, elements(lane("x", X[q]), W[other], lane("z", Z[p]), transform)


def columns_first(grid, transform, lane, first):
    """Return the messages on route B: columns gather x and divide z, rows gather y and divide x."""
    R, C = grid.shape
    nx, ny, nz = transform.exchanged
    X, Y, Z = pieces(nx, C), pieces(ny, R), lane("planes", range(nz))
    Z, V = [Z[i] for i in map(slice_of, pieces(len(Z), C))], pieces(nx, R)
    for q, p in cartesian(range(C), range(R)):
        for other in range(C if first else R):
            if first:
                yield q * R + p, other * R + p, elements(X[q], Y[p], Z[other], transform)
            else:
                yield q * R + p, q * R + other, elements(V[other], Y[p], Z[q], transform)


def pieces(n, parts):
    """Return the indices of every block, the first blocks the longest."""
    ends = np.cumsum([0, *(len(range(i, n, parts)) for i in range(parts))])
    return [range(a, b) for a, b in pairwise(ends)]


def chunk(block, sizes, k):
    """Return the k-th chunk of a block by the cut rule."""
    start, end = (len(block) * sum(sizes[:j]) // sum(sizes) for j in (k, k + 1))
    return block[start:end]


def lane_of(axis, sizes, k):
    return lambda name, block: chunk(block, sizes, k) if name == axis else block


def whole(axis, block):
    return block


def slice_of(block):
    return slice(block.start, block.stop)


def elements(x, y, z, transform):
    return len(x) * len(y) * len(z) * transform.element_bytes * transform.fields
