"""One search for every network of hosts and switches: seeds, swaps, and a judgement under every routing.

Idea: (1) Closed-form seeds (`pencilmap.mapper.searches.network_seeds`, `pencilmap.mapper.searches.partition`). (2) The best of
them are annealed by swaps, on the loads of the network's default routing (`pencilmap.mapper.searches.counted_swaps`): by
counts on fat trees, by a table of routes elsewhere. (3) On fat trees, ranks then change places inside their leaves only, on the
loads of static routes; this leaves the traffic between leaves as it is. (4) Every candidate is judged under each routing of
the network, and the one with the least worst cost is the answer. The launch order and its transpose are candidates, so the
answer is never worse than the launcher in either orientation of the grid.
Source: the mixed tilings and the Latin rule are ours (docs/theory.md); annealing as in `pencilmap.mapper.searches.annealing`.
Cost: `EVALUATIONS` swaps by counts, or as many by routes as take a similar time.
Deterministic: the same seed and number of evaluations give the same placement, unless seconds end the search.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic

import numpy as np

from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.searches import counted_swaps
from pencilmap.mapper.searches.network_seeds import Ground, seeds
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.bounds.every_placement import lower_bound
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.routing import routing, routings_of
from pencilmap.model.routing.route_table import RouteTable, minimal_routes, shortest_routes, static_routes
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.joint_loads import routed_joint
from pencilmap.model.traffic.objective import Objective, in_sequence

EVALUATIONS = 4_000_000   # swaps by counts
BY_ROUTES = 60            # swaps by counts that take as long as one by routes
POLISHED = 3              # seeds that are annealed
SLICES = (16,) * 8 + (32,) * 6 + (64,) * 6  # exponents of the guide
HOT, COLD = 0.004, 4e-6   # temperatures in units of the cost
NEVER_WORST = ("optimal-minimal", "ideal-adaptive")  # routings that another routing of the network never beats


@dataclass(frozen=True, eq=False)
class Board:
    """The loads that swaps see: units with cables, and a table of routes."""

    unit: Ints  #: int array, shape (S, L); units of each slot
    length: Floats  #: float array, shape (U,); length of a byte on the cables of each unit, relative to the fastest class
    routes: RouteTable | None
    within: Ints  #: int array, shape (S,); part of the network in which the rank of each slot stays


def boards(ground: Ground) -> list[Board]:
    """Return the loads under the default routing of a network, then those of a polish inside leaves."""
    network = ground.site.network
    anywhere = np.zeros(len(ground.node), dtype=np.int64)
    unit, length = _units(ground)
    if isinstance(network, FatTree):
        found, static = [Board(unit, length, None, anywhere)], static_routes(network)
        return found if static is None else [*found, Board(unit, length, static, ground.levels[0])]
    routes = minimal_routes(network) if isinstance(network, Dragonfly) else shortest_routes(network)
    return [Board(unit, length, routes, anywhere)]


def _units(ground: Ground) -> tuple[Ints, Floats]:
    """Return the units of each slot, numbered from 0 over all levels, and the length of a byte on their cables."""
    network = ground.site.network
    if not isinstance(network, SwitchedNetwork):
        return np.zeros((len(ground.node), 0), dtype=np.int64), np.zeros(0)
    weights = [float(weight) for weight in link_weights(network)]
    end = network.ends(ground.node, ground.slot)
    planes: dict[bytes, float] = {}
    for plane in network.planes():                       # planes between the same switches are one
        key = plane.switch.tobytes()
        planes[key] = planes.get(key, 0.0) + float(plane.share)
    host = np.unique(end, return_inverse=True)[1]
    columns, lengths = [host], [np.full(int(host.max()) + 1, weights[0] / len(network.planes()))]
    if isinstance(network, FatTree):
        for plane, share in planes.items():
            switch = np.frombuffer(plane, dtype=np.int64)[end]
            for level, (above, cables) in enumerate(zip(network.above, network.cables_up)):
                used, number = np.unique(above[switch], return_inverse=True)
                columns.append(sum(map(len, lengths)) + number)
                lengths.append(share * weights[level + 1] / cables[used])
    return np.stack(columns, axis=1), np.concatenate(lengths)


class Swaps:
    """The state of the swaps on a board.

    Parameters
    ----------
    ground : Ground
    board : Board
    wanted : Objective
    seed : int
    """

    def __init__(self, ground: Ground, board: Board, wanted: Objective, seed: int = 1) -> None:
        grid, S, network = ground.grid, len(ground.node), ground.site.network
        groups = [grid.groups(stage.letters) for stage in grid.decomposition.exchanges]
        E, U = len(groups), len(board.length)
        group = np.full((E, S), -1)
        members = np.full((E, max(map(len, groups)), max(some.shape[1] for some in groups)), -1)
        for e, some in enumerate(groups):
            group[e, some] = np.arange(len(some))[:, None]
            members[e, :len(some), :some.shape[1]] = some
        size = np.array([some.shape[1] for some in groups])
        factor = 4 * network.n_nodes / (grid.n_tasks * size)
        routes = board.routes or RouteTable(np.zeros(0, dtype=np.int64), 0, np.zeros(1, dtype=np.int64),
                                            np.zeros(0, dtype=np.int64), np.zeros(0))
        point = routes.points[network.ends(ground.node, ground.slot)] if board.routes else np.zeros(S, dtype=np.int64)
        below, start_below = _listed(board.unit, U)
        inside, start_inside = _listed(board.within[:, None], int(board.within.max()) + 1)
        places, terms = U + routes.n_links, len(wanted.terms)
        self.ground = ground
        self.seed = seed
        self.state = counted_swaps.State(
            size=size, group=group, members=members, first_count=np.array([len(some) for some in groups]), unit=board.unit,
            point=point.astype(np.int64), routes=routes.start, link=routes.link, weight=routes.weight, factor=factor,
            inverse=factor[:, None] * board.length,
            share=np.array([[float(x) for x in term.shares] for term in wanted.terms]).reshape(terms, E),
            worth=np.array([float(term.count) for term in wanted.terms]), within=board.within.astype(np.int64), below=below,
            start_below=start_below, inside=inside, start_inside=start_inside, slot_of=np.zeros(S, dtype=np.int64),
            rank_in=np.zeros(S, dtype=np.int64), count=tuple(np.zeros(U * len(some), dtype=np.int32) for some in groups),
            value=np.zeros((E, places)), power=np.zeros(terms + 1), saved=np.zeros(terms + 1),
            before=np.zeros((E, places)), touched=np.zeros(places, dtype=np.int64), stamp=np.zeros(places, dtype=np.int64),
            number=np.zeros(2, dtype=np.int64), busiest=np.zeros(terms, dtype=np.int64), random=np.ones(1, dtype=np.uint64),
            best_slot=np.zeros(S, dtype=np.int64), best=np.full(2, np.inf))

    def cost(self, slots: Ints) -> float:
        """Return the objective of a placement, given the slot of each rank."""
        s, P = self.state, len(slots)
        s.slot_of[:P] = slots
        s.slot_of[P:] = np.setdiff1d(np.arange(len(s.slot_of)), slots)
        s.rank_in[s.slot_of] = np.arange(len(s.slot_of))
        return float(counted_swaps.fill(s))

    def anneal(self, slots: Ints, evaluations: int, deadline: float, hot: float = HOT, cold: float = COLD) -> Ints:
        """Return a placement that costs no more; the search ends early at a time of the monotonic clock."""
        s = self.state
        s.random[0] = (self.seed * 2 + 1) * 0x9E3779B97F4A7C15 % 2**64
        s.best[0] = self.cost(slots)
        s.best_slot[:] = s.slot_of
        ratio = (cold / hot) ** (1 / len(SLICES))
        for i, exponent in enumerate(SLICES):
            if s.best[0] <= 0 or monotonic() > deadline:
                break
            counted_swaps.fill(s)
            s.power[-1] = s.best[0]
            counted_swaps.swaps(s, evaluations // len(SLICES), exponent.bit_length() - 1, hot * ratio**i, hot * ratio**(i + 1))
        return s.best_slot[:len(slots)].copy()


def _listed(columns: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the slots of each of n units, and the place of the first of each."""
    unit, slot = columns.ravel(), np.arange(len(columns)).repeat(columns.shape[1])
    start = np.concatenate([[0], np.cumsum(np.bincount(unit, minlength=n))])
    return slot[np.argsort(unit, kind="stable")].astype(np.int64), start.astype(np.int64)
