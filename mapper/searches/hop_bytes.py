"""A start for the traffic of any program: the placement with few bytes times hops, which other tools search for.

Idea: a heavy rank goes first, then always the rank with most bytes to those that are placed, into the free place with the
fewest hops for them. Then the best exchange of each rank with another one follows, until none helps.
Source: the greedy start of T. Hoefler, M. Snir, "Generic topology mapping strategies for large-scale parallel
architectures", ICS 2011; the exchanges of T. Koopmans, M. Beckmann, "Assignment problems", Econometrica 25 (1957).
Cost: S^2 for each placed rank and for each exchange.
"""

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.routing.routes import Routes
from pencilmap.model.traffic.program import Traffic

MOST_PLACES = 600
SWEEPS = 10


def hop_bytes(traffic: Traffic, tables: Routes) -> Ints | None:
    """Return the place of each rank, int array of shape (P,); None if there are too many places.

    Parameters
    ----------
    traffic : Traffic
    tables : Routes
    """
    S, P = len(tables.host), traffic.n_ranks
    if S > MOST_PLACES:
        return None
    matrix = np.zeros((S, S))  # empty places are ranks without messages
    matrix[:P, :P] = (traffic.total.bytes + traffic.total.bytes.T).toarray()
    np.fill_diagonal(matrix, 0)
    hops = tables.hops(tables.router, tables.router) + 2.0 * (tables.host[:, None] != tables.host) * (tables.up[0] >= 0)
    hops = hops + hops.T
    return _exchanged(matrix, hops, _greedy(matrix, hops))[:P]


def _greedy(matrix: Floats, hops: Floats) -> Ints:
    S = len(matrix)
    place, free = np.full(S, -1), np.ones(S, bool)
    near, cost, rank = np.zeros(S), np.zeros((S, S)), int(matrix.sum(axis=1).argmax())
    for _ in range(S):
        best = int(np.where(free, cost[rank], np.inf).argmin())
        place[rank], free[best] = best, False
        near += matrix[rank]
        cost += np.outer(matrix[rank], hops[best])
        rank = int(np.where(place < 0, near, -1.0).argmax())
    return place


def _exchanged(matrix: Floats, hops: Floats, place: Ints) -> Ints:
    cost = matrix @ hops[place]  # of each rank in each place
    for _ in range(SWEEPS):
        moved = False
        for r in range(len(place)):
            here = place[r]
            change = cost[r, place] - cost[r, here] + cost[:, here] - cost[np.arange(len(place)), place] \
                + 2 * matrix[r] * hops[here, place]
            change[r] = 0.0
            t = int(change.argmin())
            if change[t] < -1e-9 * cost[r, here] - 1e-9:
                there = place[t]
                cost += np.outer(matrix[r] - matrix[t], hops[there] - hops[here])
                place[r], place[t] = there, here
                moved = True
        if not moved:
            break
    return place
