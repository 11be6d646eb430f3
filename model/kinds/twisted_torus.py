"""Twisted tori: rules of routing by displacement, and their bounds.

Bounds. All links together carry every byte over its shortest distance. Twisted tori use their links so evenly that this is
often what an all-to-all takes. In addition, the traffic of any run of planes must cross the links that leave the run; links
along other dimensions count if their twist leads out of it.
Cost: O(1) for each pair of nodes with traffic.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.kinds.kind import Bound, Kind, with_smallest
from pencilmap.model.kinds.torus import parsed_by
from pencilmap.model.kinds.torus_routes import DIMENSION_ORDER, DimensionOrder, parse
from pencilmap.model.kinds.twisted_routes import twisted_loads
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus, parse_twisted, steps_up_and_down
from pencilmap.model.placement.allocation import Site
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL, OptimalMinimal
from pencilmap.model.routing.routes import Routes
from pencilmap.model.routing.rule import Rule
from pencilmap.model.routing.shortest_path import SHORTEST_PATH, ShortestPath
from pencilmap.model.traffic.exchange import Exchange, messages_between
from pencilmap.model.traffic.loads import LinkLoads, m_scale
from pencilmap.model.traffic.pairs import Traffic, summed


@dataclass(frozen=True)
class TwistedPaths(ShortestPath):
    """Shortest paths, counted from one node of each class."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return twisted_loads(network, exchange, node_of_rank)


@dataclass(frozen=True)
class TwistedOrder(DimensionOrder):
    """The shortest vector of each displacement, one dimension after the other."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link; half of each tie goes each way."""
        if self.tie != "split":
            raise RoutingError(f"dimension-order:{self.tie} does not work on {network.title}, where more than half a ring "
                               "can tie; use dimension-order")
        return twisted_loads(network, exchange, node_of_rank, self.dimensions(network))

    def routes(self, network: Any, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes on shortest paths, for searches."""
        return Rule.routes(self, network, node, slot)


@dataclass(frozen=True)
class TwistedOptimum(OptimalMinimal):
    """The best routing along shortest paths."""

    def symmetries(self, network: TwistedTorus) -> Iterator[Ints]:
        """Yield the shifts of all nodes."""
        nodes = np.arange(network.n_nodes)
        return (network.sums(nodes[[shift]], nodes)[0] for shift in nodes)


def _ordered(argument):
    plain = parse(argument)
    return TwistedOrder(plain.order, plain.tie)


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


class TwistedKind(Kind):
    """The kind of twisted tori, which look the same from every node."""

    def cut_bound(self, network: TwistedTorus, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of hops and planes."""
        return _in_every_class(network, twisted_bound(network, messages_between(exchange, ends, network.n_nodes)))

    def machine_bound(self, network: TwistedTorus) -> tuple[Fraction, ...]:
        """Return the bound of hops and planes."""
        return _in_every_class(network, m_scale(all_to_all_bound(network), network, network.n_nodes**2))

    def of_full_machine(self, network: TwistedTorus, crossing: Crossing) -> Bound:
        """Return the bound of all links."""
        value = self.machine_bound(network)[0] * link_weights(network)[0]
        return with_smallest((value, "all-to-all of the full machine over all links"), crossing)

    def halves(self, network: TwistedTorus) -> tuple[tuple[int, Fraction], ...]:
        """Return the halves of the planes of each dimension."""
        return plane_cuts(network)

    def every_cable(self, network: TwistedTorus) -> Fraction:
        """Return the cables of all links."""
        return all_cables(network)

    def hops(self, site: Site) -> Ints:
        """Return the distances, which are the same for each node of a whole torus."""
        network: Any = site.network
        if not site.allocation.is_complete:
            return super().hops(site)
        return np.broadcast_to(np.sort(network.hops), (network.n_nodes,) * 2)


def _in_every_class(torus, load):
    """Return a bound for the links of all classes together as a load of each class that takes the same time."""
    return tuple(load / weight for weight in link_weights(torus))


KIND = TwistedKind(
    "twisted-torus", "4x4x8:twisted or 4x4x8:twist=xz4,yz4",
    "torus whose rings come back with an offset: past the end of x, z grows by 4",
    "one for each dimension, with the letter of its axis", TwistedTorus, parsed_by(parse_twisted),
    (SHORTEST_PATH.by(TwistedPaths()), replace(DIMENSION_ORDER, make=_ordered, variants=("",)),
     OPTIMAL_MINIMAL.by(TwistedOptimum())))
