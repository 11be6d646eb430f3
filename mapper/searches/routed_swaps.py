"""Exact link loads of all exchanges while ranks change places: the inner loop of the local search.

Idea: a move of a rank changes only its messages to and from its groups. A leg of a message loads a run of links on one line
of the network in one direction, a lane. So a leg is recorded as two or three changes of load along its lane, at any length.
Only the touched lanes are summed again, for their largest length and the p-norm of their lengths. Loads and sums of the last
accepted placement are kept, so nothing is routed when a rejected change is undone. Most changes are rejected, most of them
because of their rows. So the exchange with small groups is routed first, and a change that is already too costly is given
up.
Cost: 4 to 14 microseconds for a swap of two ranks on 100 to 512 nodes; compiled by `pencilmap.mapper.base.compiling`.
A call of a compiled function counts the references to its arrays, about 5 nanoseconds for each array. So no function is
called for every message or lane, and each reads its fields once.
Needs: dimension order; any order of the dimensions, any rule for ties at half a ring, and several rules at once. Messages
may be uneven: a message counts its two block lengths.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pencilmap.mapper.base.compiling import compiled, copy_into, random_below, random_bits
from pencilmap.model.base.arrays import Bools, Floats, Ints

Small = NDArray[np.uint32]  # unsigned, so that the compiler knows that no index is negative

OF_PROPOSAL = np.array([0, 0, -1, -1, 0, 0, 0, -1])  # exchange of each kind of proposal: the first or the last
INSIDE, ANYWHERE = 3, 3      # kinds below INSIDE stay in a group, kind ANYWHERE does not, others bring a rank next to a mate
FADING = 0.99                # factor for `gain` at each change of places that is evaluated in full
DOWN, HALVES, FROM, TO, WRAPS, OTHER = range(6)    # columns of `legs`
LANE_FROM, LANE_TO, LINE_FROM, LINE_TO = range(4)  # columns of `ends`


class Traffic(NamedTuple):
    """The exchanges, small groups first. A message counts `send` of its source times `receive` of its end."""

    step: Ints       #: shape (E,); from a rank to the next of its group
    size: Ints       #: shape (E,); ranks in a group
    send: Ints       #: shape (E, P); weights of every rank
    receive: Ints


class Routes(NamedTuple):
    """The legs of all messages. A lane is a line of the network in one direction; lane k + 1 runs down if lane k, an even
    number, runs up.
    """

    ends: Small      #: shape (Q, N, d, 4); of each rule, node and dimension the parts of a sum: the lane that runs up under
    #: the leg of a message is `LANE_FROM` of its source plus `LANE_TO` of its end, its line in `legs` is `LINE_FROM` plus
    #: `LINE_TO`
    legs: Small      #: shape (lines, 6); a line for each pair of coordinates of a dimension: whether the leg runs down, its
    #: half messages, its first link in the lane, the link after its last link, whether it goes around the end of the lane,
    #: and the line of the other half. A line without half messages is no leg; line 0 is one
    start: Small     #: `Lanes.start`


class Lanes(NamedTuple):
    """The lanes in the changes of a flow."""

    start: Small     #: shape (K,); first entry; a lane has one more entry than links
    extent: Small    #: shape (K,); dimension
    shape: Ints      #: shape (d,); links of a lane of each dimension


class Terms(NamedTuple):
    """The objective under each of Q rules; the worst rule counts. Flow q E + e is exchange e under rule q."""

    rules: int
    worth: Floats    #: shape (M,); factor of the largest length of each term
    rule: Ints       #: shape (M,)
    alone: Ints      #: shape (M,); the only flow in a term, -1 if there are several
    unit: Floats     #: shape (M, Q E, d); length of half a message on a link of a dimension on the weighted m scale
    links: int


class Places(NamedTuple):
    """The slots of the site and their neighbours."""

    tasks: int         #: slots of a node
    slots: Ints        #: shape (S,); node of every usable slot; slots of one node are neighbours
    first: Ints        #: shape (N,); first slot of a node, -1 if the node may not be used
    coordinates: Ints  #: shape (N, d)
    shape: Ints        #: shape (d,)
    stride: Ints       #: shape (d,)
    ring: Bools        #: shape (d,)


class Seats(NamedTuple):
    """Who sits where."""

    node: Small      #: shape (P,); of every rank
    slot: Ints       #: shape (P,)
    rank_in: Ints    #: shape (S,); the rank in every slot, -1 for idle


class Loads(NamedTuple):
    """Loads of the links, and the lanes that the last change of places touched."""

    change: Ints     #: shape (Q E, entries of all lanes); half messages of each link minus those of the link before; for the
    #: first link of a lane, its half messages
    stamp: Ints      #: shape (Q E, K); number of the last change of places that touched a lane of a flow
    touched: Small   #: shape (Q E, K + 1); the touched lanes of each flow; the last column is never read
    touches: Ints    #: shape (Q E,); how many these are
    number: Ints     #: shape (1,); number of the change of places


class Sums(NamedTuple):
    """Lengths of the lanes in each term."""

    lane_norm: Floats  #: shape (M, K); the sum of the lengths to the power p
    lane_top: Floats   #: shape (M, K); the largest length
    norm: Floats     #: shape (M,); the sum over all lanes
    top: Floats      #: shape (M,)
    seen: Ints       #: shape (M, K); E times the number of the last change of places that touched a lane, and the exchange
    together: Floats  #: a buffer for the lengths of a lane


class Kept(NamedTuple):
    """`Loads.change`, `Sums.lane_norm` and `Sums.lane_top`, now or of the last accepted placement."""

    change: Ints
    lane_norm: Floats
    lane_top: Floats


class State(NamedTuple):
    """The state of the loop; arrays are changed in place."""

    traffic: Traffic
    routes: Routes
    lanes: Lanes
    terms: Terms
    places: Places
    seats: Seats
    loads: Loads
    sums: Sums
    before: Kept
    random: NDArray[np.uint64]  #: shape (1,); state of the random numbers
    gain: Floats       #: shape (1,); the most energy that later exchanges have lately saved; it fades
    doublings: Ints    #: shape (1,); the guide is the p-norm of all lengths, p = 2^doublings
    best: Floats       #: shape (2,); cost and energy of the best placement seen
    best_slot: Ints    #: shape (P,); its slots


@compiled
def raised(x: float, doublings: int) -> float:
    """Return x to the power 2^doublings."""
    if doublings == 4:  # without a loop: these numbers are the usual ones
        x *= x
        x *= x
        x *= x
        return x * x
    if doublings == 5 or doublings == 6:
        x *= x
        x *= x
        x *= x
        x *= x
        x *= x
        return x if doublings == 5 else x * x
    for _ in range(doublings):
        x *= x
    return x


@compiled
def _first(step: Ints, size: Ints, e: int, rank: int) -> int:
    """Return the first rank of the group of a rank. Two ranks with the same first rank are in one group."""
    return rank - rank // step[e] % size[e] * step[e]


@compiled
def _moved(ranks: Sequence[int], both: Any, sign: int, exchanges: tuple[int, int], node: Ints, traffic: Traffic, routes: Any,
           loads: Any) -> None:
    """Add (+1) or remove (-1) all messages of one or two ranks in some exchanges, and if `both` the messages back.

    A swap of ranks of equal weights within a group does not touch this group.
    """
    step, size, send, receive = traffic.step, traffic.size, traffic.send, traffic.receive
    ends, legs, start, change = routes.ends, routes.legs, routes.start, loads.change
    stamp, touched, touches, number = loads.stamp, loads.touched, loads.touches, loads.number[0]
    a, b = ranks
    for e in range(exchanges[0], exchanges[1]):
        first, other = _first(step, size, e, a), _first(step, size, e, b) if b >= 0 else -1
        if first == other and send[e, a] == send[e, b] and receive[e, a] == receive[e, b]:
            continue
        for q in range(len(ends)):
            flow = q * len(step) + e
            count = touches[flow]
            for rank in ranks:
                if rank < 0:
                    continue
                int64, begin = np.int64(node[rank]), first if rank == a else other
                counted = a if first == other else rank  # a and b of one group: their messages once
                for mate in range(begin, begin + size[e] * step[e], step[e]):
                    source, target, weight = int64, np.int64(node[mate]), sign * send[e, rank] * receive[e, mate]
                    if source == target or mate == counted:
                        continue
                    for _ in range(2 if both else 1):
                        for i in range(ends.shape[2]):
                            line = np.int64(ends[q, source, i, LINE_FROM]) + np.int64(ends[q, target, i, LINE_TO])
                            up = np.int64(ends[q, source, i, LANE_FROM]) + np.int64(ends[q, target, i, LANE_TO])
                            halves = np.int64(legs[line, HALVES])
                            while halves:
                                lane, halves = up + np.int64(legs[line, DOWN]), weight * halves
                                at = np.int64(start[lane])
                                touched[flow, count] = lane
                                count += stamp[flow, lane] != number
                                stamp[flow, lane] = number
                                change[flow, at + np.int64(legs[line, FROM])] += halves
                                change[flow, at + np.int64(legs[line, TO])] -= halves
                                change[flow, at] += halves * np.int64(legs[line, WRAPS])
                                line = np.int64(legs[line, OTHER])
                                halves = np.int64(legs[line, HALVES])
                        source, target, weight = target, source, sign * send[e, mate] * receive[e, rank]
            touches[flow] = count


@compiled
def _account(terms: Any, lanes: Any, loads: Any, sums: Any, flows: tuple[int, int], number: int, doublings: int) -> None:
    """Update sums and largest lengths after the touched lanes of some flows."""
    worth, alone, unit = terms.worth, terms.alone, terms.unit
    start, extent, shape = lanes.start, lanes.extent, lanes.shape
    change, touched, touches = loads.change, loads.touched, loads.touches
    lane_norm, lane_top, norm, top, seen, together = sums
    for m in range(len(worth)):
        old, fallen = top[m], False
        for flow in range(flows[0], flows[1]):
            if alone[m] != flow and alone[m] >= 0:
                continue
            last = flow if alone[m] >= 0 else len(change) - 1
            for t in range(touches[flow]):
                lane = np.int64(touched[flow, t])
                if seen[m, lane] == number:
                    continue
                seen[m, lane] = number
                i, at, bytes_, most = np.int64(extent[lane]), np.int64(start[lane]), 0.0, 0.0
                for f in range(0 if alone[m] < 0 else last, last):
                    carried, half = 0, unit[m, f, i]
                    for x in range(shape[i]):
                        carried += change[f, at + x]
                        together[x] = half * carried + (together[x] if f else 0.0)
                carried, half = 0, unit[m, last, i]
                for x in range(shape[i]):
                    carried += change[last, at + x]
                    length = half * carried
                    if alone[m] < 0 and last > 0:
                        length += together[x]
                    most = max(most, length)
                    bytes_ += raised(length, doublings)
                norm[m] += bytes_ - lane_norm[m, lane]
                fallen = fallen or (lane_top[m, lane] == old and most < old)
                top[m] = max(top[m], most)
                lane_norm[m, lane], lane_top[m, lane] = bytes_, most
        if fallen and top[m] == old:
            top[m] = 0.0
            for other in range(len(start)):
                top[m] = max(top[m], lane_top[m, other])


def now(s: State) -> Kept:
    """Return the present values of what is kept."""
    return Kept(s.loads.change, s.sums.lane_norm, s.sums.lane_top)


def refresh(s: State) -> None:
    """Calculate sums and largest lengths from the loads. This removes accumulated rounding errors."""
    loads, sums = s.loads, s.sums
    for values in (sums.norm, sums.top, sums.lane_norm, sums.lane_top):
        values[:] = 0
    loads.touched[:, :-1], loads.touches[:], sums.seen[:] = np.arange(len(s.lanes.start)), len(s.lanes.start), -1
    _account(s.terms, s.lanes, loads, sums, (0, len(loads.change)), 0, s.doublings[0])
    for kept, present in zip(s.before, now(s)):
        kept[:] = present


def settle_down(s: State, slot: Ints, change: Ints | None = None) -> None:
    """Put rank r into slot ``slot[r]`` and route every message again, or take the known loads of this placement."""
    s.seats.slot[:], s.seats.node[:] = slot, s.places.slots[slot]
    s.seats.rank_in[:] = -1
    s.seats.rank_in[slot] = np.arange(len(slot))
    s.loads.change[:] = 0 if change is None else change
    if change is None:
        _route_all(s.seats.node, s.traffic, s.routes, s.loads)
    refresh(s)


@compiled
def _route_all(node: Ints, traffic: Traffic, routes: Any, loads: Any) -> None:
    for rank in range(len(node)):
        loads.touches[:] = 0
        _moved((rank, -1), False, 1, (0, len(traffic.step)), node, traffic, routes, loads)


@compiled
def _trade(a: int, b: int, to: int, seats: Any, slots: Ints) -> None:
    """Exchange the places of rank a and of the content of slot `to`: rank b or nobody."""
    node, slot, rank_in = seats.node, seats.slot, seats.rank_in
    origin = slot[a]
    rank_in[origin] = b
    if b >= 0:
        slot[b], node[b] = origin, slots[origin]
    slot[a], node[a], rank_in[to] = to, slots[to], a


@compiled
def _copied(source: Any, target: Any, lanes: Any, touched: Ints, touches: Ints) -> None:
    """Copy the touched lanes: to the saved values if a change of places is accepted, else from them."""
    start, extent, shape = lanes
    change, norm, top = source
    to_change, to_norm, to_top = target
    for flow in range(len(touches)):
        for t in range(touches[flow]):
            lane = np.int64(touched[flow, t])
            at = np.int64(start[lane])
            for x in range(shape[extent[lane]] + 1):
                to_change[flow, at + x] = change[flow, at + x]
            for m in range(len(norm)):
                to_norm[m, lane], to_top[m, lane] = norm[m, lane], top[m, lane]


@compiled
def _cost(terms: Any, top: Floats) -> float:
    worth, rule, worst = terms.worth, terms.rule, 0.0
    for q in range(terms.rules):
        value = 0.0
        for m in range(len(top)):
            if rule[m] == q:
                value += worth[m] * top[m]
        worst = max(worst, value)
    return worst


@compiled
def _energy(terms: Any, norm: Floats, doublings: int) -> float:
    worth, rule, worst = terms.worth, terms.rule, 0.0
    for q in range(terms.rules):
        value = 0.0
        for m in range(len(norm)):
            if rule[m] == q:
                value += worth[m] * (max(norm[m], 0.0) / terms.links) ** (1.0 / (1 << doublings))
        worst = max(worst, value)
    return worst


def cost(s: State) -> float:
    """Return the objective: the sum of the largest lengths of the terms, each times its count, under the worst rule."""
    return _cost(s.terms, s.sums.top)


def energy(s: State) -> float:
    """Return the energy of the annealing under the worst rule: p-norms of the lengths in each term, as means over links."""
    return _energy(s.terms, s.sums.norm, s.doublings[0])


@compiled
def _uniform(random: Ints) -> float:
    return np.float64(random_bits(random) >> np.uint64(11)) / 9007199254740992.0


@compiled
def _proposal(random: Ints, traffic: Traffic, seats: Any, places: Any) -> tuple[int, int]:
    """Return a rank and its proposed slot.

    Of eight proposals two stay in the first group (of pencils, the shorter of row and column), one stays in the last group,
    and one goes anywhere. The others bring a rank next to a mate of its first group (three) or of its last group (one).
    """
    step, size, slot = traffic.step, traffic.size, seats.slot
    rank, kind, mate = random_below(random, len(slot)), random_below(random, 8), 0
    dimension = OF_PROPOSAL[kind] % len(step)
    for e in range(len(step)):
        neighbour = _first(step, size, e, rank) + random_below(random, size[e]) * step[e]
        if e == dimension:
            mate = neighbour
    if kind < INSIDE:
        return rank, slot[mate]
    if kind == ANYWHERE:
        return rank, random_below(random, len(places.slots))
    return rank, _beside(random, places, seats.node[mate], slot[rank])


@compiled
def _beside(random: Ints, places: Any, node: int, otherwise: int) -> int:
    """Return a slot of the node itself or of a neighbour, or `otherwise` if there is none."""
    i = random_below(random, len(places.shape))
    x, n = places.coordinates[node, i], places.shape[i]
    y = x + random_below(random, 3) - 1 if places.tasks > 1 else x + 2 * random_below(random, 2) - 1
    if y < 0 or y >= n:
        if not places.ring[i]:
            return otherwise
        y %= n
    first = places.first[node + (y - x) * places.stride[i]]
    return otherwise if first < 0 else first + random_below(random, places.tasks)


@compiled
def _remember(value: float, now: float, slot: Ints, best: Floats, best_slot: Ints) -> None:
    if value < best[0] - 1e-9 or (value < best[0] + 1e-9 and now < best[1] - 1e-9):
        best[0], best[1] = value, now
        copy_into(best_slot, slot)


def remember(s: State) -> None:
    """Keep the current placement if it is the best so far, by cost, then by energy."""
    _remember(cost(s), energy(s), s.seats.slot, s.best, s.best_slot)


@compiled
def anneal(s: State, steps: int, hot: float, cold: float) -> None:
    """Make `steps` proposals while the temperature falls from `hot` to `cold`, and keep the best placement seen.

    Parameters
    ----------
    s : State
        Changed in place.
    steps : int
    hot, cold : float
        Temperatures in units of the energy.

    Notes
    -----
    Under one rule the exchange of small groups is routed first. A change is given up if the other exchanges would have to
    gain more than `gain`.
    """
    ratio = (cold / hot) ** (1.0 / max(steps, 1))
    traffic, routes, lanes, terms, places, seats = s.traffic, s.routes, s.lanes, s.terms, s.places, s.seats
    loads, sums, before, present = s.loads, s.sums, s.before, Kept(s.loads.change, s.sums.lane_norm, s.sums.lane_top)
    node, slot, rank_in, slots, norm, top = seats.node, seats.slot, seats.rank_in, places.slots, sums.norm, sums.top
    touched, touches, number, random, best, best_slot = (
        loads.touched, loads.touches, loads.number, s.random, s.best, s.best_slot)
    gain, doublings, E = s.gain, s.doublings[0], len(traffic.step)
    stages = E if terms.rules == 1 else 1
    old_norm, old_top, energy, temperature = norm.copy(), top.copy(), _energy(terms, norm, doublings), hot
    for _ in range(steps):
        temperature *= ratio
        a, to = _proposal(random, traffic, seats, places)
        if slots[to] == node[a]:
            continue
        copy_into(old_norm, norm)
        copy_into(old_top, top)
        origin, b = slot[a], rank_in[to]
        touches[:] = 0
        number[0] += 1
        limit, then, early = energy - temperature * np.log(1.0 - _uniform(random)), energy, energy
        for stage in range(stages):
            exchanges = (stage, stage + 1) if stages > 1 else (0, E)
            if stage == 1:
                early = then
            if stage > 0:
                if then > limit + gain[0]:
                    break
                _trade(a, b, origin, seats, slots)
            for sign in (-1, 1):
                _moved((a, b), True, sign, exchanges, node, traffic, routes, loads)
                if sign < 0:
                    _trade(a, b, to, seats, slots)
            _account(terms, lanes, loads, sums, exchanges if stages > 1 else (0, len(touches)), E * number[0] + stage,
                     doublings)
            then = _energy(terms, norm, doublings)
            if stage > 0 and stage == stages - 1:
                gain[0] = max(FADING * gain[0], early - then)
        if then <= limit:
            energy = then
            _copied(present, before, lanes, touched, touches)
            _remember(_cost(terms, top), energy, slot, best, best_slot)
        else:
            _copied(before, present, lanes, touched, touches)
            copy_into(norm, old_norm)
            copy_into(top, old_top)
            _trade(a, b, origin, seats, slots)
