"""Lower bounds for any routing on a twisted torus: hops, and cuts between planes.

Idea: all links together carry every byte over its shortest distance. Twisted tori use their links so evenly that this is
often what an all-to-all takes. In addition, the traffic of any run of planes must cross the links that leave the run; links
along other dimensions count if their twist leads out of it.
Cost: O(1) for each pair of nodes with traffic.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus, steps_up_and_down
from pencilmap.model.traffic.pairs import Traffic, summed


def all_cables(torus: TwistedTorus) -> Fraction:
    """Return the cables of all links, slower ones as part of a cable of the fastest dimension."""
    return sum((torus.n_nodes * _strength(torus, i) for i, _ in steps_up_and_down(torus)), Fraction(0))


def twisted_bound(torus: TwistedTorus, traffic: Traffic) -> Fraction:
    """Return the largest load that no routing of some traffic can avoid.

    Parameters
    ----------
    torus : TwistedTorus
    traffic : Traffic
        Bytes from node to node.

    Returns
    -------
    Fraction
        Bytes of a cable of the fastest dimension.
    """
    hops = int((torus.hops[torus.displacement(traffic.row, traffic.col)] * traffic.data).sum())
    position = torus.coordinates(np.arange(torus.n_nodes))
    between = [summed(position[traffic.row, i] * n + position[traffic.col, i], traffic.data, n * n).reshape(n, n)
               for i, n in enumerate(torus.shape)]
    return _most(torus, hops, between)


@lru_cache(maxsize=8)
def all_to_all_bound(torus: TwistedTorus) -> Fraction:
    """Return the same for one byte from every node to every other node.

    >>> str(all_to_all_bound(TwistedTorus((4, 8))))
    '21'
    """
    n = torus.n_nodes
    return _most(torus, n * int(torus.hops.sum()),
                 [(n // side) ** 2 * (1 - np.eye(side, dtype=np.int64)) for side in torus.shape])


def _most(torus, hops, between):
    """Return the best bound from the bytes times hops, and the bytes from plane to plane of each dimension."""
    cables = all_cables(torus)
    if not cables:
        return Fraction(0)
    return max([hops / cables, *(load for i, bytes_ in enumerate(between) for load in _runs(torus, i, bytes_))])


def _runs(torus, i, between):
    """Yield the load of the links out of the run of planes of dimension `i` that needs longest."""
    n, plane = torus.shape[i], torus.coordinates(np.arange(torus.n_nodes))[:, i]
    leaving = np.triu(_leaving(between), 1)
    cables = [(_strength(torus, j), np.triu(_leaving(_links(torus, j, direction, plane, n)), 1))
              for j, direction in steps_up_and_down(torus)]
    together = np.asarray(sum(float(strength) * links for strength, links in cables))
    times = np.divide(leaving, together, out=np.zeros(leaving.shape), where=together > 0)
    low, high = np.unravel_index(int(times.argmax()), times.shape)
    if times[low, high]:
        yield int(leaving[low, high]) / sum((strength * int(links[low, high]) for strength, links in cables), Fraction(0))


def _links(torus, j, direction, plane, n):
    """Return the number of links of a direction from plane to plane: int array, shape (n, n)."""
    return np.bincount(plane * n + plane[torus.neighbours[j, direction]], minlength=n * n).reshape(n, n)


def _leaving(matrix):
    """Return what leaves each run of planes low..high-1: int array, shape (n + 1, n + 1)."""
    box = np.zeros((len(matrix) + 1,) * 2, dtype=np.int64)
    box[1:, 1:] = matrix.cumsum(axis=0).cumsum(axis=1)
    sent, corner = box[:, -1], box.diagonal()
    return sent[None, :] - sent[:, None] - (corner[None, :] - box - box.T + corner[:, None])


@lru_cache(maxsize=8)
def plane_cuts(torus: TwistedTorus) -> tuple[tuple[int, Fraction], ...]:
    """Return for each dimension the halves of its planes: nodes on one side, and cables that leave them.

    >>> [(nodes, str(cables)) for nodes, cables in plane_cuts(TwistedTorus((4, 8)))]
    [(16, '16'), (16, '16')]
    """
    found = []
    for i, n in enumerate(torus.shape):
        inside = torus.coordinates(np.arange(torus.n_nodes))[:, i] < n // 2
        cables = sum((_strength(torus, j) * int((inside & ~inside[torus.neighbours[j, direction]]).sum())
                      for j, direction in steps_up_and_down(torus)), Fraction(0))
        if 0 < inside.sum() < torus.n_nodes and cables:
            found.append((int(inside.sum()), cables))
    return tuple(found)


def _strength(torus: TwistedTorus, i: int) -> Fraction:
    """Return a link of dimension `i` as cables of the fastest dimension."""
    return Fraction(torus.cables[i]) / link_weights(torus)[i]
