"""What the swaps of a search see: the routes and units of a site, the flows between ranks, and the terms of an objective.

Idea: everything that a search minimises is a sum of terms. A term is the largest length that shares of some flows reach
together on a link. An exchange is a flow in groups, with even or uneven blocks. `pencilmap.mapper.searches.swaps` has the
loop.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.searches.route_table import RouteTable
from pencilmap.mapper.searches.swaps import (
    ANYWHERE,
    BACK,
    BLOCKS,
    BOTH,
    BUSY,
    EVEN,
    FORTH,
    FROM_ROW,
    FULL,
    TO_ROW,
    WORK_OF_ROW,
    WORK_OF_SWAP,
    Board,
    Game,
    State,
    anneal,
    fill,
)
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.traffic.exchange import Exchange

SAMPLE = 1000  # pairs of points from which the mean length of a route is taken

class Groups(NamedTuple):
    """A flow of all-to-alls in groups.

    members : int array, shape (groups, size)
    send, receive : float arrays, shape (groups, size); the message from a member to another has `send` of the one times
        `receive` of the other; None if all messages are alike
    factor : length of a message on a link of capacity 1, for blocks that of a message of size 1
    """

    members: Ints
    send: Floats | None
    receive: Floats | None
    factor: float


class Term(NamedTuple):
    """`worth` times the largest length that shares of the flows reach together; without `linked` on units alone."""

    worth: float
    shares: tuple[float, ...]
    linked: bool = True


def flow_of(exchange: Exchange, n_nodes: int, is_even: bool) -> Groups:
    """Return the flow of an exchange, on the m scale."""
    factor = 4 * n_nodes * exchange.unit_bytes / exchange.total_bytes
    if is_even:
        return Groups(exchange.members, None, None, factor)
    return Groups(exchange.members, (exchange.group_weight[:, None] * exchange.send_weight).astype(float),
                  np.broadcast_to(exchange.receive_weight, exchange.members.shape).astype(float), factor)


def board_of(unit: Ints, cable: Floats, table: RouteTable | None, point: Ints, within: Ints,
             directed: bool = False) -> Board:
    """Return the board of a table with a row for each pair of points.

    Parameters
    ----------
    unit : int array, shape (S, L)
        Units of each slot, its host first.
    cable : float array, shape (U,)
        Length of a byte on the cables of each unit.
    table : RouteTable, optional
    point : int array, shape (S,)
        Point of each slot.
    within : int array, shape (S,)
        Part of the network in which the piece of each slot stays.
    directed : bool
        Whether the two directions of a pair have rows of their own; else messages are alike both ways.
    """
    start = np.zeros(2, np.int64) if table is None else table.start
    n, back = int(np.sqrt(len(start) - 1) + 0.5), [] if table is None else [FORTH, BACK] if directed else [BOTH]
    numbers = np.arange(n)
    span = np.stack([start[:-1], start[1:]], axis=1).reshape(n, n, 2).astype(np.int32)
    if not directed:
        low = np.tril_indices(n, -1)
        span[low] = span[low[1], low[0]]
    leg = np.zeros((n, len(back), 4), dtype=np.int32)
    leg[:, :1, FROM_ROW], leg[:, :1, TO_ROW] = numbers[:, None] * n, numbers[:, None]
    leg[:, 1:, FROM_ROW], leg[:, 1:, TO_ROW] = numbers[:, None], numbers[:, None] * n
    links, load = (np.zeros(0, np.int64), np.zeros(0)) if table is None else (table.link, table.weight)
    used, link = np.unique(links, return_inverse=True)  # a job on part of a machine uses few of its links
    hosts = len(within)
    return Board(leg, np.array(back, dtype=np.int64), span.reshape(-1, 2), link.astype(np.int32), load.astype(float),
                 len(used), point.astype(np.int32), unit.astype(np.int64), cable.astype(float),
                 np.zeros((hosts, 1), np.int64), 1, within.astype(np.int64),
                 *_listed(within[:, None], int(within.max()) + 1), *_listed(unit, len(cable)))


def _listed(columns: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the slots of each of n units, and the place of the first of each."""
    unit, slot = columns.ravel(), np.arange(len(columns)).repeat(columns.shape[1])
    start = np.concatenate([[0], np.cumsum(np.bincount(unit, minlength=n))])
    return slot[np.argsort(unit, kind="stable")].astype(np.int64), start.astype(np.int64)


def game_of(flows: Sequence[Groups], terms: Sequence[Term], board: Board,
            proposal: Any = ((ANYWHERE, 0), (BUSY, 0))) -> Game:
    """Return the flows and the terms as arrays."""
    E, S, U = len(flows), len(board.point), len(board.cable)
    list_of, lists = np.full((E, S), -1), 0
    send, receive = np.zeros((2, E, S))
    first, mate, whole, groups, first_count, counts = [np.zeros(1)], [], [], [], [], 0
    for e, flow in enumerate(flows):
        members = flow.members
        n, size = members.shape
        list_of[e, members] = lists + np.arange(n)[:, None]
        send[e, members] = 1.0 if flow.send is None else flow.send
        receive[e, members] = 1.0 if flow.receive is None else flow.receive
        whole.append(np.stack([weight[e, members].sum(axis=1) for weight in (send, receive)], axis=1))
        first.append(first[-1][-1] + size * np.arange(1, n + 1))
        mate.append(members.ravel())
        groups.append(n)
        first_count.append(counts - lists)
        lists, counts = lists + n, counts + n * U
    by_flow = [[(m, term.shares[e], term.linked) for m, term in enumerate(terms) if term.shares[e]] for e in range(E)]
    rows = [row for some in by_flow for row in some]
    changed = [4 * flow.members.shape[1] * entries_of_message(board) for flow in flows]
    places = board.links + U
    return Game(int(sum(flow.members.size for flow in flows[:1])), list_of, np.concatenate(first).astype(np.int64),
                np.concatenate(mate).astype(np.int32), np.zeros(0), np.zeros(0), send, receive, np.concatenate(whole),
                np.array([EVEN if flow.send is None else BLOCKS for flow in flows]),
                np.array([float(flow.factor) for flow in flows]), np.array(groups), np.array(first_count),
                np.array([int(some > FULL * places) for some in changed]),
                np.cumsum([0, *map(len, by_flow)]), np.array([m for m, *_ in rows]),
                np.array([float(share) for _, share, _ in rows]), np.array([int(linked) for *_, linked in rows]),
                np.array([float(term.worth) for term in terms]), np.array(proposal), 1.0)


def entries_of_message(board: Board) -> float:
    """Return the mean number of links of a message there and back, by a sample of pairs of points."""
    a, c = np.random.default_rng(0).integers(len(board.leg), size=(2, SAMPLE))
    row = board.leg[a, :, FROM_ROW] + board.leg[c, :, TO_ROW]
    return float((board.span[row, 1] - board.span[row, 0]).sum() / SAMPLE)


class Swaps:
    """A search by swaps on a board.

    Parameters
    ----------
    board : Board
    flows : sequence of Groups
        Flows with few mates first, so that a bad swap is given up early.
    terms : sequence of Term
    seed : int
    """

    def __init__(self, board: Board, flows: Sequence[Groups], terms: Sequence[Term], seed: int = 1) -> None:
        self.board, self.game, self.seed = board, game_of(flows, terms, board), seed
        self.mates = [flow.members.shape[1] for flow in flows]
        M, S, U = len(terms), len(board.point), len(board.cable)
        ways = 2 if BLOCKS in self.game.size else 1
        places, rows = ways * U + board.links, U * int(self.game.groups.sum())

        def zeros(*shape: int) -> Ints:
            return np.zeros(shape, dtype=np.int64)

        self.state = State(np.zeros(M * places), np.zeros(M * places), np.zeros(M * places), np.ones(M), np.zeros((3, M)),
                           np.zeros(M), zeros(M * (places + 1)), zeros(M * places), zeros(2, M), zeros(S), zeros(S),
                           np.zeros((rows, ways)), np.ones(1, dtype=np.uint64), np.array([np.inf, np.inf]), zeros(S),
                           zeros(1))

    def cost(self, slots: Ints) -> float:
        """Return the objective of a placement, given the slot of each rank."""
        s, P = self.state, len(slots)
        s.slot_of[:P] = slots
        s.slot_of[P:] = np.setdiff1d(np.arange(len(s.slot_of)), slots)
        s.rank_in[s.slot_of] = np.arange(len(s.slot_of))
        return float(fill(self.board, self.game, s))

    def begin(self, slots: Ints, fading: float = 1.0) -> None:
        """Start from a placement, which is the best so far. With less `fading` more swaps are given up early."""
        s, self.game = self.state, self.game._replace(fading=fading)
        s.random[0] = (self.seed * 2 + 1) * 0x9E3779B97F4A7C15 % 2**64
        s.best[:] = self.cost(slots), np.inf
        s.best_slot[:] = s.slot_of

    def run(self, steps: int, hot: float, cold: float, doublings: int) -> int:
        """Go on with a number of swaps and return their work, see `anneal`."""
        return int(anneal(self.board, self.game, self.state, steps, hot, cold, doublings))

    @property
    def work_of_swap(self) -> float:
        """About the work of a swap, before the first: the most, for later swaps are given up early."""
        game, L = self.game, self.board.unit.shape[1]
        rows = 4 * len(self.board.back) * WORK_OF_ROW + 4 * entries_of_message(self.board)
        routes = sum(rows * self.mates[e] * game.linked[game.first_term[e]:game.first_term[e + 1]].sum()
                     for e in range(len(game.factor)))
        return float(WORK_OF_SWAP + 2 * L * self.state.counts.shape[1] * len(game.term) + routes)

    def refresh(self) -> None:
        """Sum all lengths anew, which removes rounding errors."""
        fill(self.board, self.game, self.state)

    @property
    def least(self) -> float:
        """The least cost so far."""
        return float(self.state.best[0])

    @property
    def best(self) -> Ints:
        """The slots of the ranks in the best placement so far."""
        return self.state.best_slot[:self.game.ranks].copy()
