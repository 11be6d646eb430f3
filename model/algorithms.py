"""Exchange algorithms of the library as the model sees them: rounds of messages, one round after the other.

A round is an `Exchange`: either an all-to-all, or single messages, which `single_messages` writes as groups of two ranks.
So every routing rule routes a round like any exchange. To add an algorithm, write its function and a row of the table at
the end. The names should match fft_runner/src/exchange/exchange_table.c.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import ExchangeError, GridError, near
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.traffic.exchange import Exchange, of_messages


@dataclass(frozen=True)
class Algorithm:
    """The entry of a name in the table."""

    meaning: str
    #: rounds of an exchange under a mapping; a round starts at the end of the round before. Raises GridError if the
    #: algorithm cannot carry the exchange
    rounds: Callable[[Exchange, Mapping], tuple[Exchange, ...]]
    #: whether, with even blocks, its only round is the exchange itself
    is_alltoall: bool = True
    beside: bool = True  #: whether, with all messages started at once, it can run beside computing and other exchanges

    def is_exchange(self, even: bool) -> bool:
        """Return whether its only round is the exchange itself; closed forms hold then. `even`: all blocks are even."""
        return self.rounds is at_once or (even and self.is_alltoall)

    def started(self, exchange: Exchange, mapping: Mapping) -> Exchange:
        """Return the messages of an exchange that runs beside others. All start at once, even for an algorithm in steps."""
        return self.rounds(exchange, mapping)[0] if self.is_alltoall else exchange


def at_once(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round: every message starts at once."""
    return (exchange,)


def single_messages(exchange: Exchange, source: Ints, target: Ints, units: Ints) -> Exchange:
    """Return a round of single messages. Empty messages are not sent.

    Parameters
    ----------
    exchange : Exchange
    source, target : int array, shape (n,)
        Ranks.
    units : int array, shape (n,)
        Size of each message in ``exchange.unit_bytes``.

    Examples
    --------
    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> row, _ = exchanges(ProcessGrid(2, 3))
    >>> single_messages(row, np.array([0, 2]), np.array([1, 3]), np.array([5, 0])).members.tolist()
    [[0, 1]]
    """
    sent = np.flatnonzero(units)
    pairs = np.stack([np.asarray(source)[sent], np.asarray(target)[sent]], axis=1)
    return replace(of_messages(exchange.name, pairs, np.asarray(units)[sent], exchange.unit_bytes, exchange.total_bytes),
                   letters=exchange.letters)


def alltoall_rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round.

    Raises
    ------
    GridError
        If messages of a group differ in length, as in the library.
    """
    for weight in (exchange.send_weight, exchange.receive_weight):
        if (weight != weight[0]).any():
            raise GridError(f"exchange alltoall needs extents that the grid divides, and grid {mapping.grid} gives the "
                            f"{exchange.name} exchange blocks of {weight.min()} and {weight.max()}; take padded or "
                            "alltoallv")
    return (exchange,)


# MPI_Alltoall over messages that are padded to the longest of their group.
#
# The longest message of a group is the product of the longest block to send and the longest block to receive. FFTW's planner
# of distributed transposes measures which of its algorithms is fastest and does not name its choice. So its prediction is
# for the best algorithm: these bytes, all messages at once.

def padded(exchange: Exchange) -> Exchange:
    """Return the exchange with every block as long as the longest.

    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.placement.transform import Transform
    >>> row, _ = exchanges(ProcessGrid(2, 1), Transform(2, 3, 2))
    >>> row.send_weight.tolist(), padded(row).send_weight.tolist()
    ([2, 1], [2, 2])
    """
    send, receive = (np.full_like(weight, weight.max()) for weight in (exchange.send_weight, exchange.receive_weight))
    return replace(exchange, send_weight=send, receive_weight=receive)


def padded_rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round of padded messages."""
    return (padded(exchange),)


# The order of partners of exchange p2p on a torus, as in the library if ranks know their coordinates.
#
# Idea: if the coordinates of the members fill a box, the members are numbered in the box. A partner is found by adding an
# offset, modulo the extents of the box. A phase begins with the offset of the largest remaining load, and its opposite.
# Other offsets join until the largest load of the phase and the largest remaining load add up to the largest load before
# the phase. Members that fill no box exchange with members at small and at large distances in the list of members, both
# ways, eight messages at a time.
# Source: fft_runner/src/exchange/partner_order.c, which has exactly this order of phases.
# Cost: O(p**2) small vectors for a group of p members; groups with the same loads share the phases.

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


def phases(torus: Torus, coordinates: Ints, group: Ints, mine: int,
           known: dict[Any, list[list[int]]] | None = None) -> list[Ints]:
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
    return [np.array([box.moved(offset) for offset in offsets]) for offsets in known[box.extent, loads]]


def _box(at: Ints) -> _Box | None:
    """Return the box that the members fill, or None."""
    index, extent = [], []
    for column in at.T:
        values, number = np.unique(column, return_inverse=True)
        index.append(number)
        extent.append(len(values))
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


def _line_loads(torus: Torus, i: int, coordinates: Ints, group: Ints, origin: Ints,
                extent: int) -> tuple[tuple[int, int], ...]:
    """Return the loads of the busiest link up and down, by shift: twice the messages on the line through `origin`."""
    beside = np.delete(np.arange(torus.n_dimensions), i)
    on_line = np.flatnonzero(np.all(coordinates[:, beside] == origin[beside], axis=1))
    users = [np.sort(coordinates[on_line[group[on_line] == g], i]) for g in np.unique(group[on_line])]
    n = torus.shape[i]
    return tuple((0, 0) if shift == 0 else _shift_load(users, shift, n, torus.is_ring(i)) for shift in range(extent))


def _shift_load(users: list[Ints], shift: int, n: int, ring: bool) -> tuple[int, int]:
    up, down = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for positions in users:
        slots = np.count_nonzero(positions == positions[0])
        for source, target in zip(positions, np.roll(positions, -shift * slots)):
            above = (target - source) % n if ring else target - source
            below = n - above if ring else -above
            weight = 1 if above == below else 2
            if above and (above <= below if ring else above > 0):
                up[(source + np.arange(above)) % n] += weight
            if above and (below <= above if ring else below > 0):
                down[(source - np.arange(below)) % n] += weight
    return int(up.max()), int(down.max())


def _offsets_of_phases(extent: tuple[int, ...], loads: tuple[tuple[tuple[int, int], ...], ...]) -> list[list[int]]:
    offsets, load = _offsets(extent, loads)
    left, result = load.sum(axis=0), []
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
        result.append(chosen)
    return result


def _offsets(extent: tuple[int, ...], loads: tuple[tuple[tuple[int, int], ...], ...]) -> tuple[list[tuple[int, ...]], Ints]:
    """Return each offset with its opposite, and the loads of both: the largest first."""
    offsets, loads_of = [], []
    for v in range(1, int(np.prod(extent))):
        index = np.unravel_index(v, extent, order="F")
        opposite = int(np.ravel_multi_index([-i % n for i, n in zip(index, extent)], extent, order="F"))
        if opposite < v:
            continue
        both = (v,) if opposite == v else (v, opposite)
        offsets.append(both)
        loads_of.append(sum(np.array([loads[i][s] for i, s in enumerate(np.unravel_index(o, extent, order="F")[1:])]).ravel()
                            for o in both))
    load = np.array(loads_of, dtype=np.int64).reshape(len(offsets), 2 * len(loads))
    order = np.argsort(-load.max(axis=1, initial=0), kind="stable")
    return [offsets[k] for k in order], load[order]


def _distances(p: int) -> Iterator[Ints]:
    me, messages = np.arange(p), []
    small, large = 1, p // 2
    while small <= large:
        for distance in dict.fromkeys((small, large)):
            messages += [(me + distance) % p] + [(me - distance) % p] * (2 * distance != p)
        if len(messages) >= _MOST_MESSAGES // 2 or large - small <= 1:
            yield np.array(messages)
            messages = []
        small, large = small + 1, large - 1


# Scheduled messages between pairs: in each phase a rank exchanges messages with one or a few other ranks.
#
# Idea: a phase begins when the messages of the phase before have arrived. On a torus `partner_order` gives its partners;
# the library knows the coordinates there (`fft_runner --machine-torus`). On other networks rank `me` of a group of p sends
# in step s to ``me xor s`` if p is a power of two, and otherwise to ``me + s`` (mod p). With even blocks the ranks of all
# groups are in the same phase at the same time. So the exchange takes the sum, over the phases, of each phase's busiest
# link. With uneven blocks ranks drift apart, and the sum will be a few percent off.
# Source: fft_runner/src/exchange/exchange_p2p.c.

def targets(p: int) -> Ints:
    """Return the member that each member sends to in each step: int array, shape (p - 1, p).

    >>> targets(3).tolist(), targets(4).tolist()
    ([[1, 2, 0], [2, 0, 1]], [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    """
    step, me = np.ogrid[1:p, :p]
    return np.asarray(me ^ step if p & (p - 1) == 0 else (me + step) % p, dtype=np.int64)


def p2p_rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a round for each phase. Groups of one have a single round without messages."""
    if mapping.network.has_products:
        return _on_torus(exchange, mapping, as_torus(mapping.network)) or (exchange,)
    everyone = np.arange(len(exchange.members))
    return tuple(_round(exchange, [(everyone, target[None])]) for target in targets(exchange.size)) or (exchange,)


def _on_torus(exchange: Exchange, mapping: Mapping, torus: Torus) -> tuple[Exchange, ...]:
    coordinates, group = torus.coordinates(mapping.node_of_rank), np.empty(exchange.members.size, dtype=np.int64)
    for number, ranks in enumerate(exchange.members):
        group[ranks] = number
    known: dict[Any, list[list[int]]] = {}
    rounds = [phases(torus, coordinates, group, number, known) for number in range(len(exchange.members))]
    return tuple(_round(exchange, [(np.array([number]), steps[i]) for number, steps in enumerate(rounds) if i < len(steps)])
                 for i in range(max(map(len, rounds), default=0)))


def _round(exchange: Exchange, parts: list[tuple[Ints, Ints]]) -> Exchange:
    """Return the messages of the groups in each part. Their members send to the given targets, shape (messages, p)."""
    source, target, units = [], [], []
    for groups, targets_ in parts:
        members, sent = exchange.members[groups], exchange.group_weight[groups][:, None] * exchange.send_weight
        for item in targets_:
            source.append(members.ravel())
            target.append(members[:, item].ravel())
            units.append((sent * exchange.receive_weight[item]).ravel())
    return single_messages(exchange, np.concatenate(source), np.concatenate(target), np.concatenate(units))


# Messages that carry the blocks of many ranks: radix-r all-to-alls after Bruck, with r = 2, 4 and 8.
#
# Idea: a block for the member d above travels by the digits of d in base r, the lowest digit first. In round k a member
# sends a message v r^k members up, for v = 1 to r - 1. This message has all blocks of the sender whose digit k is v.
# Such a block has the distance d = low + v r^k + high r^(k+1). The block goes from the member `low` below the sender to the
# member v r^k + high r^(k+1) above the sender. So a message has as many bytes as the product of two sums of block lengths.
# The last `high` is an exception, because its `low` may end early.
# Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in
# multiport message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), 1143-1156;
# fft_runner/src/exchange/exchange_bruck.c.
# Cost: O(p**2) for the sums of p uneven blocks, O(p r log p) for even blocks.

def steps(p: int, radix: int) -> list[list[int]]:
    """Return the distances, upwards from the sender, of the messages of each round in a group of p.

    >>> steps(6, 2), steps(6, 4), steps(1, 2)
    ([[1], [2], [4]], [[1, 2, 3], [4]], [])
    """
    units: list[int] = []
    while radix ** len(units) < p:
        units.append(radix ** len(units))
    return [[digit * unit for digit in range(1, radix) if digit * unit < p] for unit in units]


def carried(send: Ints, receive: Ints, radix: int, unit: int, far: int) -> Ints:
    """Return the units that each member sends in a round: int array, shape (p,).

    Parameters
    ----------
    send, receive : int array, shape (p,)
        Block lengths of an exchange.
    radix, unit : int
        The round sends by the digit of value `unit`.
    far : int
        Distance to the receiver, upwards.

    Examples
    --------
    >>> carried(np.array([1, 1, 1, 1]), np.array([1, 1, 1, 2]), 2, 1, 1).tolist()    # distances 1 and 3
    [3, 2, 3, 2]
    """
    p, stride = len(send), unit * radix
    whole, left = divmod(p - far, stride)  # every `low` for `whole` values of `high`, and the first `left` for one more
    if left >= unit:
        whole, left = whole + 1, 0
    sums = [_below(send, n) for n in (unit, left)]
    if (receive == receive[0]).all():
        return receive[0] * (sums[0] * whole + sums[1])
    above = sum((np.roll(receive, -far - high * stride) for high in range(whole)), np.zeros_like(receive))
    return sums[0] * above + sums[1] * np.roll(receive, -far - whole * stride)


def _below(send: Ints, n: int) -> Ints:
    """Return for every member the sum over itself and the n - 1 members below."""
    p = len(send)
    sums = np.concatenate([[0], np.tile(send, 2).cumsum()])
    return sums[p + 1:] - sums[p + 1 - n:2 * p + 1 - n]


def bruck_rounds(radix: int, exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a round for each digit. Groups of one have a single round without messages."""
    p, rounds = exchange.size, []
    unit = 1
    for far in steps(p, radix):
        sent = [carried(exchange.send_weight, exchange.receive_weight, radix, unit, distance) for distance in far]
        units = np.concatenate([exchange.group_weight[:, None] * weight for weight in sent], axis=None)
        source = np.concatenate([exchange.members] * len(far), axis=None)
        target = np.concatenate([np.roll(exchange.members, -distance, axis=1) for distance in far], axis=None)
        rounds.append(single_messages(exchange, source, target, units))
        unit *= radix
    return tuple(rounds) or (exchange,)


# One message between two nodes: the ranks of a node share memory, and each carries the messages to some other nodes.
#
# Idea: all messages from members of one node to members of another travel as one message. The ranks of a node take turns as
# carriers, beginning with the nearest node above. The carrier at the other end receives the message. Messages inside a node
# load no links.
# Source: `lay_out` and `carrier` of fft_runner/src/exchange/exchange_node.c.
# Cost: O(number of pairs of nodes) for each group.

def node_rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round: a message from each node of a group to each other."""
    groups = [_of_group(ranks, mapping.node_of_rank[ranks], exchange.send_weight * weight, exchange.receive_weight)
              for ranks, weight in zip(exchange.members, exchange.group_weight)]
    return (single_messages(exchange, *(np.concatenate(column) for column in zip(*groups))),)


def _of_group(ranks: Ints, nodes: Ints, sent: Ints, received: Ints) -> tuple[Ints, Ints, Ints]:
    """Return source, target and units of the messages of a group. `sent` and `received` are by member."""
    _, first, node = np.unique(nodes, return_index=True, return_inverse=True)
    node = np.argsort(np.argsort(first))[node]  # numbered in the order of their first members
    n = len(first)
    held = np.bincount(node)
    members = ranks[np.argsort(node, kind="stable")]  # by node
    start = held.cumsum() - held
    source, target = (index.ravel() for index in np.indices((n, n)))
    source, target = source[source != target], target[source != target]
    units = _by_node(node, sent)[source] * _by_node(node, received)[target]
    return members[start[source] + _turn(source, target, held)], members[start[target] + _turn(target, source, held)], units


def _turn(node: Ints, other: Ints, held: Ints) -> Ints:
    """Return the rank of the node that carries the messages between the node and the other node."""
    return ((other - node) % len(held) - 1) % held[node]


def _by_node(node: Ints, units: Ints) -> Ints:
    sums = np.zeros(node.max() + 1, dtype=np.int64)
    np.add.at(sums, node, units)
    return sums


ALGORITHMS = {  # the first is the default
    "alltoallv": Algorithm("all messages at once", at_once),
    "alltoall": Algorithm("all messages at once, all of one length: extents that the grid divides", alltoall_rounds),
    "padded": Algorithm("all messages at once, padded to the longest of the group", padded_rounds),
    "alltoallw": Algorithm("all messages at once, by data types", at_once),
    "p2p": Algorithm("pairs in phases; the times of the phases' busiest links add up", p2p_rounds, is_alltoall=False),
    "persistent": Algorithm("all messages at once, set up beforehand", at_once),
    **{f"bruck{radix}": Algorithm(f"blocks of many ranks in one message, radix {radix}: rounds whose times add up",
                                   partial(bruck_rounds, radix), is_alltoall=False) for radix in (2, 4, 8)},
    "node": Algorithm("one message between two nodes, all at once", node_rounds, is_alltoall=False, beside=False),
    "put": Algorithm("all messages at once, one-sided, between two fences", at_once, beside=False),
    "fftw": Algorithm("FFTW's own transposes, predicted as padded messages at once", padded_rounds, beside=False),
}
DEFAULT_ALGORITHM = "alltoallv"


def algorithm_named(name: str) -> Algorithm:
    """Return the algorithm of that name.

    Raises
    ------
    ExchangeError
        If there is no such algorithm.

    Examples
    --------
    >>> algorithm_named("p2p").is_alltoall
    False
    """
    if name not in ALGORITHMS:
        raise ExchangeError(f"exchange {name!r} is unknown to the model{near(name, ALGORITHMS)}; known are "
                            f"{', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
