"""What the swaps of a search see: the routes and units of a site, the flows between ranks, and the terms of an objective.

Idea: everything that a search minimises is a sum of terms. A term is the largest length that shares of some flows reach
together on a link. An exchange is a flow in groups, with even or uneven blocks; a phase of a program is a flow of pairs.
`pencilmap.mapper.searches.swaps` has the loop.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.swaps import (
    ANYWHERE,
    BACK,
    BLOCKS,
    BOTH,
    BUSY,
    EVEN,
    FORTH,
    FROM_LINK,
    FROM_ROW,
    FULL,
    PAIRS,
    TO_LINK,
    TO_ROW,
    WORK_OF_ROW,
    WORK_OF_SWAP,
    Board,
    Game,
    State,
    anneal,
    fill,
    guide,
)
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.routing.routes import Routes, RouteTable
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.program import Traffic

NEAR = 8  # hosts near a host
MOST_MEASURED, AT_ONCE = 4096, 512  # hosts whose distances are compared, and so many at once; of more, by their numbers
TYPICAL, ANY_HEAT = 64, 1e300  # swaps that are made to know their mean change, at a temperature that accepts all
SAMPLE = 1000  # pairs of points from which the mean length of a route is taken
MOST_NEAR, FAR = 250_000, 4  # entries of a table of routes or of counts in a cache; time of others relative to these


class Groups(NamedTuple):
    """A flow of all-to-alls in groups.

    Parameters
    ----------
    members : int array, shape (groups, size)
    send, receive : float arrays, shape (groups, size), or None
        The message from a member to another has `send` of the one times `receive` of the other; None if all are alike.
    factor : float
        Length of a message on a link of capacity 1, for blocks that of a message of size 1.
    """

    members: Ints
    send: Floats | None
    receive: Floats | None
    factor: float

    @property
    def mates(self) -> float:
        return self.members.shape[1]


class Pairs(NamedTuple):
    """A flow of messages one by one: the mates of rank r, ``mate[first[r]:first[r + 1]]``, the bytes to and from each."""

    first: Ints   #: shape (P + 1,)
    mate: Ints
    sent: Floats
    got: Floats
    factor: float = 1.0

    @property
    def mates(self) -> float:
        return len(self.mate) / max(1, len(self.first) - 1)


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


def flows_of(traffic: Traffic) -> list[Pairs]:
    """Return the flow of each phase with messages; one without messages if no phase has any."""
    phases = [phase.bytes for phase in traffic.phases if phase.bytes.nnz]
    return [pairs_of(matrix) for matrix in phases] or [Pairs(np.zeros(traffic.n_ranks + 1, np.int64), *np.zeros((3, 0)))]


def pairs_of(matrix: Any) -> Pairs:
    """Return the flow of a sparse matrix, whose entries are the bytes from one rank to another."""
    from scipy.sparse import coo_array  # slow to import

    pairs, rows = matrix.tocoo(), matrix.tocsr()
    both = coo_array((np.ones(2 * pairs.nnz), (np.r_[pairs.row, pairs.col], np.r_[pairs.col, pairs.row])), shape=pairs.shape)
    r, o = both.tocsr().nonzero()
    r, o = r[r != o], o[r != o]
    sent, got = (np.asarray(rows[a, b]).ravel().astype(float) for a, b in ((r, o), (o, r)))
    order = np.argsort(r, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(r, minlength=pairs.shape[0]))])
    return Pairs(first.astype(np.int64), o[order].astype(np.int64), sent[order], got[order])


def board_of_places(tables: Routes, host_slots: int) -> Board:
    """Return the board of the places of a job; each host has so many, which follow one another."""
    host, slot, point = np.unique(tables.host, return_index=True, return_inverse=True)
    d, rows = len(tables.shape), len(tables.start) - 1
    at, has_links = tables.at[tables.router[slot]].astype(np.int64), bool((tables.up >= 0).any())
    leg, back = np.zeros((len(host), 2 * (d + 2 * has_links), 4), dtype=np.int32), [FORTH] * d + [BACK] * d
    moved = at * tables.stride
    for i, (first, n) in enumerate(zip(tables.first.tolist(), tables.shape.tolist())):
        source, target = (FROM_ROW, FROM_LINK), (TO_ROW, TO_LINK)
        for w, (begin, end) in ((i, (source, target)), (d + i, (target, source))):
            leg[:, w, begin[0]], leg[:, w, begin[1]] = first + at[:, i] * n, moved[:, i + 1:].sum(axis=1)
            leg[:, w, end[0]], leg[:, w, end[1]] = at[:, i], moved[:, :i].sum(axis=1)
    span, link, load = np.stack([tables.start[:-1], tables.start[1:]], axis=1), tables.link, tables.load
    if has_links:  # the links of hosts: a row of one link
        span, link, load = np.append(span, [[len(link)] * 2], axis=0), np.append(link, 0), np.append(load, tables.host_load)
        span[rows, 1] += 1
        leg[:, 2 * d:, FROM_ROW] = rows
        for w, (column, links) in enumerate(((FROM_LINK, tables.up), (TO_LINK, tables.down), (TO_LINK, tables.up),
                                             (FROM_LINK, tables.down))):
            leg[:, 2 * d + w, column] = links[slot]
        back = [*back, FORTH, FORTH, BACK, BACK]
    S = len(point)
    anywhere = np.zeros((S, 1), np.int64)
    return Board(leg, np.array(back), span.astype(np.int32), link.astype(np.int32), load.astype(float), tables.n_links,
                 point.astype(np.int32), anywhere[:, :0], np.zeros(0), _nearby(tables, host_slots), host_slots,
                 anywhere[:, 0], *_listed(anywhere, 1), *_listed(anywhere[:, :0], 0))


def _nearby(tables: Routes, host_slots: int) -> Ints:
    """Return for each host the hosts with the fewest links to it, itself if it has several places."""
    routers = tables.router[::host_slots]
    H = len(routers)
    if H > MOST_MEASURED:
        return np.minimum(np.arange(H)[:, None] + np.arange(NEAR)[None, :] - NEAR // 2, H - 1).clip(0)
    hosts = np.empty((H, min(NEAR, H)), np.int64)
    for begin in range(0, H, AT_ONCE):
        hops = tables.hops(routers[begin:begin + AT_ONCE], routers).astype(float)
        apart = np.arange(H)[None, :] - np.arange(begin, begin + len(hops))[:, None]
        hops += (np.abs(apart) + 0.5 * (apart > 0)) / (4 * H)  # all different
        if host_slots == 1:
            hops[apart == 0] = np.inf if H > 1 else 0
        first = np.argpartition(hops, hosts.shape[1] - 1, axis=1)[:, :hosts.shape[1]]
        order = np.argsort(np.take_along_axis(hops, first, axis=1), axis=1)
        hosts[begin:begin + AT_ONCE] = np.take_along_axis(first, order, axis=1)
    return hosts


class _Lists(NamedTuple):
    """Part of a `Game`: the mates of a flow."""

    list_of: Ints    #: shape (S,)
    first: Ints
    mate: Ints
    sent: Floats
    got: Floats
    send: Floats     #: shape (S,)
    receive: Floats
    whole: Floats
    size: int


def _lists_of(flow: Groups | Pairs, S: int) -> _Lists:
    list_of, send, receive = np.full(S, -1), np.zeros(S), np.zeros(S)
    if isinstance(flow, Pairs):
        P = len(flow.first) - 1
        list_of[:P] = np.where(np.diff(flow.first) > 0, np.arange(P), -1)
        return _Lists(list_of, flow.first, flow.mate, flow.sent, flow.got, send, receive, np.zeros((P, 2)), PAIRS)
    n, size = flow.members.shape
    list_of[flow.members] = np.arange(n)[:, None]
    send[flow.members] = 1.0 if flow.send is None else flow.send
    receive[flow.members] = 1.0 if flow.receive is None else flow.receive
    whole = np.stack([weight[flow.members].sum(axis=1) for weight in (send, receive)], axis=1)
    none = np.zeros(flow.members.size)  # the bytes of pairs alone
    return _Lists(list_of, size * np.arange(n + 1), flow.members.ravel(), none, none, send, receive, whole,
                  EVEN if flow.send is None else BLOCKS)


def game_of(flows: Sequence[Groups | Pairs], terms: Sequence[Term], board: Board, proposal: Any) -> Game:
    """Return the flows and the terms as arrays."""
    parts = [_lists_of(flow, len(board.point)) for flow in flows]
    lists, mates = (np.cumsum([0, *map(len, lists_)]) for lists_ in ((part.whole for part in parts),
                                                                     (part.mate for part in parts)))
    groups = np.array([0 if part.size == PAIRS else len(part.whole) for part in parts])
    counts = np.cumsum([0, *groups * len(board.cable)])
    by_flow = [[(m, term.shares[e], term.linked) for m, term in enumerate(terms) if term.shares[e]]
               for e in range(len(flows))]
    rows = [row for rows_ in by_flow for row in rows_]
    changed = np.array([4 * flow.mates for flow in flows]) * entries_of_message(board)
    return Game(
        ranks=flows[0].members.size if isinstance(flows[0], Groups) else len(flows[0].first) - 1,
        list_of=np.stack([np.where(part.list_of < 0, -1, part.list_of + first) for part, first in zip(parts, lists)]),
        first=np.concatenate([[0], *(part.first[1:] + first for part, first in zip(parts, mates))]).astype(np.int64),
        mate=np.concatenate([part.mate for part in parts]).astype(np.int32),
        sent=np.concatenate([part.sent for part in parts]), got=np.concatenate([part.got for part in parts]),
        send=np.stack([part.send for part in parts]), receive=np.stack([part.receive for part in parts]),
        whole=np.concatenate([part.whole for part in parts]), size=np.array([part.size for part in parts]),
        factor=np.array([float(flow.factor) for flow in flows]), groups=groups, first_count=counts[:-1] - lists[:-1],
        dense=(changed > FULL * (board.links + len(board.cable))).astype(np.int64),
        first_term=np.cumsum([0, *map(len, by_flow)]), term=np.array([m for m, *_ in rows]),
        share=np.array([float(share) for _, share, _ in rows]), linked=np.array([int(linked) for *_, linked in rows]),
        worth=np.array([float(term.worth) for term in terms]), proposal=np.array(proposal), fading=1.0)


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
    flows : sequence of Groups and Pairs
        Flows with few mates first, so that a bad swap is given up early.
    terms : sequence of Term
    seed : int
    proposal : sequence
        Kinds of proposals, and the flow of the mate of each.
    """

    def __init__(self, board: Board, flows: Sequence[Groups | Pairs], terms: Sequence[Term], seed: int = 1,
                 proposal: Sequence[tuple[int, int]] = ((ANYWHERE, 0), (BUSY, 0))) -> None:
        self.board, self.game, self.seed = board, game_of(flows, terms, board, proposal), seed
        self.mates = [flow.mates for flow in flows]
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

    def anneal(self, slots: Ints, within: Search, slices: Sequence[tuple[float, float, int]], by_change: bool = False,
               fading: float = 1.0, enough: float = 0.0) -> Ints:
        """Return a placement that costs no more, found by swaps.

        Parameters
        ----------
        slots : int array, shape (P,)
        within : Search
            All slices get the same part of its budget.
        slices : sequence of (float, float, int)
            Temperatures between which each slice cools, and the exponent of its guide as a power of 2.
        by_change : bool
            Whether temperatures are in units of the typical change of the guide; else of the least cost.
        fading : float
            See `begin`.
        enough : float
            Cost at which the search ends.
        """
        self.begin(slots, fading)
        work, before, unit = self.work_of_swap, -1, 0.0
        for i, (hot, cold, doublings) in enumerate(slices):
            if self.least <= enough or within.is_over():
                break
            if doublings != before:
                self.refresh()
                unit = self.typical_change(doublings) if by_change else 0.0
            before, scale = doublings, unit if by_change else self.least
            steps = max(1, int((within.budget - within.spent) / (len(slices) - i) / work))
            used = self.run(steps, scale * hot, scale * cold, doublings)
            within.goes_on(used)
            work = max(used / steps, 1.0)
        return self.best

    def typical_change(self, doublings: int) -> float:
        """Return the mean change of the guide by a swap, from some swaps that are made and then undone."""
        s, total = self.state, 0.0
        slots, before = s.slot_of.copy(), guide(self.game, s, doublings)
        least = before
        for _ in range(TYPICAL):
            self.run(1, ANY_HEAT, ANY_HEAT, doublings)
            after = guide(self.game, s, doublings)
            total, before = total + abs(after - before), after
        self.cost(slots[:self.game.ranks])
        return max(total / TYPICAL, 1e-12 * least, 1e-300)

    def run(self, steps: int, hot: float, cold: float, doublings: int) -> int:
        """Go on with a number of swaps and return their work, see `anneal`."""
        return self.far * int(anneal(self.board, self.game, self.state, steps, hot, cold, doublings))

    @property
    def far(self) -> int:
        """Time of a changed length, in units of one in a processor's cache."""
        return FAR if max(len(self.board.link), len(self.state.counts)) > MOST_NEAR else 1

    @property
    def work_of_swap(self) -> float:
        """About the work of a swap, before the first: the most, for later swaps are given up early."""
        game, L = self.game, self.board.unit.shape[1]
        rows = 4 * len(self.board.back) * WORK_OF_ROW + 4 * entries_of_message(self.board)
        routes = sum(rows * self.mates[e] * game.linked[game.first_term[e]:game.first_term[e + 1]].sum()
                     for e in range(len(game.factor)))
        return self.far * float(WORK_OF_SWAP + 2 * L * self.state.counts.shape[1] * len(game.term) + routes)

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
