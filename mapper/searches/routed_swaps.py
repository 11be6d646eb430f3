"""Exact link loads of all exchanges while ranks change places: the inner loop of the local search.

Idea: a move of a rank changes only its messages to and from its groups. A leg of a message loads a run of links on one line
of the network in one direction, a lane. So a leg is recorded as two or three changes of load along its lane, at any length.
Only the touched lanes are summed again, for their largest length and the p-norm of their lengths. Loads and sums of the last
accepted placement are kept, so nothing is routed when a rejected change is undone. Most changes are rejected, most of them
because of their rows. So the exchange with small groups is routed first, and a change that is already too costly is given
up.
Cost: 4 to 14 microseconds for a swap of two ranks on 100 to 512 nodes; compiled by `pencilmap.mapper.base.compiling`.
A call of a compiled function counts the references to its arrays, about 5 nanoseconds for each array. So no function is
called for every message or lane.
Needs: dimension order; any order of the dimensions, any rule for ties at half a ring, and several rules at once. Messages
may be uneven: a message counts its two block lengths.
"""

from collections import namedtuple

import numpy as np

from pencilmap.mapper.base.compiling import compiled, copy_into

OF_PROPOSAL = np.array([0, 0, -1, -1, 0, 0, 0, -1])  # exchange of each kind of proposal: the first or the last
INSIDE, ANYWHERE = 3, 3      # kinds below INSIDE stay in a group, kind ANYWHERE does not, others bring a rank next to a mate
FADING = 0.99                # factor for `gain` at each change of places that is evaluated in full
DOWN, HALVES, FROM, TO, WRAPS, OTHER = range(6)    # columns of `legs`
LANE_FROM, LANE_TO, LINE_FROM, LINE_TO = range(4)  # columns of `ends`

State = namedtuple("State", "P T step size send receive ends legs shape stride ring start extent worth rule alone unit "
                            "slots place coordinates node slot rank_in change lane_norm lane_top norm top before "
                            "norm_before top_before stamp seen touched touches count together random gain doublings best "
                            "best_slot")
State.__doc__ = """The state of the loop; arrays are changed in place.

A flow is one exchange under one rule of routing; flow q E + e is exchange e under rule q. A lane is a line of the network in
one direction; lane k + 1 runs down if lane k, an even number, runs up.

Parameters
----------
P, T : int
    Tasks, slots of a node.
step, size : int64 arrays, shape (E,)
    Of each exchange, small groups first: step from a rank to the next of its group, and ranks in a group.
send, receive : int64 arrays, shape (E, P)
    Of each exchange, the weights of every rank: a message counts ``send`` of its source times ``receive`` of its end.
ends : uint32 array, shape (Q, N, d, 4)
    Of each rule, node and dimension the parts of a sum: the lane that runs up under the leg of a message is ``LANE_FROM`` of
    its source plus ``LANE_TO`` of its end, and the line of the leg in `legs` is ``LINE_FROM`` plus ``LINE_TO``.
legs : uint32 array, shape (lines, 6)
    A line for each pair of coordinates of a dimension. Its columns: whether the leg runs down, its half messages, its first
    link in the lane, the link after its last link, whether it goes around the end of the lane, and the line of the other
    half. A line without half messages is no leg; line 0 is one.
shape, stride : int64 arrays, shape (d,); ring : bool array, shape (d,)
start, extent : uint32 arrays, shape (K,)
    The first entry of each lane in the changes of a flow (W in all, one more than links in each lane), and its dimension.
worth : float array, shape (M,); rule : int64 array, shape (M,)
    Factor of the largest length of each term in the objective, and the rule of the term. The worst rule counts.
alone : int64 array, shape (M,)
    The only flow in a term, -1 if there are several.
unit : float array, shape (M, Q E, d)
    Length of half a message on a link of a dimension on the weighted m scale, for each term and flow.
slots : int64 array, shape (S,)
    Node of every usable slot; slots of one node are neighbours.
place : int64 array, shape (N,)
    First slot of a node, -1 if the node may not be used.
coordinates : int64 array, shape (N, d)
node : uint32 array, shape (P,); slot : int64 array, shape (P,)
    Node and slot of every rank.
rank_in : int64 array, shape (S,)
    The rank in every slot, -1 for idle.
change : int64 array, shape (Q E, W)
    Half messages of each link minus half messages of the link before; for the first link of a lane, its half messages.
lane_norm, lane_top : float arrays, shape (M, K)
    Of each term and lane the sum of the lengths to the power p; the largest length.
norm, top : float arrays, shape (M,)
    The same of all lanes.
before, norm_before, top_before : arrays of the shapes of `change`, `lane_norm`, `lane_top`
    The values of the last accepted placement.
stamp : int64 array, shape (Q E, K); seen : int64 array, shape (M, K)
    Number of the last change of places that touched a lane of a flow; for a term, E times this number and the exchange.
touched : uint32 array, shape (Q E, K + 1); touches : int64 array, shape (Q E,)
    The touched lanes of each flow, and how many these are. The last column is never read.
count : int64 array, shape (1,)
    The number of the change of places.
together : float array
    A buffer for the lengths of a lane.
random : uint64 array, shape (1,)
    State of the random numbers.
gain : float array, shape (1,)
    The most energy that the later exchanges of a change of places have lately saved; it fades.
doublings : int64 array, shape (1,)
    The guide is the p-norm of all lengths, p = 2^doublings.
best : float array, shape (2,); best_slot : int64 array, shape (P,)
    Cost and energy of the best placement seen, and its slots.
"""


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
def _first(step, size, e, rank):
    """Return the first rank of the group of a rank. Two ranks with the same first rank are in one group."""
    return rank - rank // step[e] % size[e] * step[e]


@compiled
def _moved(a, b, sign, node, step, size, send, receive, ends, legs, start, change, stamp, touched, touches, number,
           exchanges):
    """Add (+1) or remove (-1) all messages of two ranks in some exchanges, from their present places. If b < 0, of one rank.

    A swap of ranks of equal weights within a group does not touch this group.
    """
    for e in range(exchanges[0], exchanges[1]):
        first, other = _first(step, size, e, a), _first(step, size, e, b) if b >= 0 else -1
        if first != other or send[e, a] != send[e, b] or receive[e, a] != receive[e, b]:
            for q in range(len(ends)):
                _routed(a, b, first, other, e, q, sign, True, node, step, size, send, receive, ends, legs, start, change,
                        stamp, touched, touches, number)


@compiled
def _routed(a, b, first, other, e, q, sign, both, node, step, size, send, receive, ends, legs, start, change, stamp, touched,
            touches, number):
    """Add or remove the messages of one or two ranks to their groups under one rule, and if `both` the messages back.

    The numbers of lanes and lines are unsigned in their arrays, so that the compiler knows that no index is negative.
    """
    flow = q * len(step) + e
    count = touches[flow]
    for rank in (a, b):
        if rank < 0:
            continue
        here, begin = np.int64(node[rank]), first if rank == a else other
        counted = a if first == other else rank  # a and b of one group: their messages once
        for mate in range(begin, begin + size[e] * step[e], step[e]):
            source, target, weight = here, np.int64(node[mate]), sign * send[e, rank] * receive[e, mate]
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
def _account(worth, alone, unit, norm, top, change, start, extent, shape, seen, lane_norm, lane_top, touched, touches, flows,
             number, doublings, together):
    """Update sums and largest lengths after the touched lanes of some flows."""
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
                i, at, each, most = np.int64(extent[lane]), np.int64(start[lane]), 0.0, 0.0
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
                    each += raised(length, doublings)
                norm[m] += each - lane_norm[m, lane]
                fallen = fallen or (lane_top[m, lane] == old and most < old)
                top[m] = max(top[m], most)
                lane_norm[m, lane], lane_top[m, lane] = each, most
        if fallen and top[m] == old:
            top[m] = 0.0
            for other in range(len(start)):
                top[m] = max(top[m], lane_top[m, other])


def refresh(s: State) -> None:
    """Calculate sums and largest lengths from the loads. This removes accumulated rounding errors."""
    for values in (s.norm, s.top, s.lane_norm, s.lane_top):
        values[:] = 0
    s.touched[:, :-1], s.touches[:], s.seen[:] = np.arange(len(s.start)), len(s.start), -1
    _account(s.worth, s.alone, s.unit, s.norm, s.top, s.change, s.start, s.extent, s.shape, s.seen, s.lane_norm,
             s.lane_top, s.touched, s.touches, (0, len(s.change)), 0, s.doublings[0], s.together)
    s.before[:], s.norm_before[:], s.top_before[:] = s.change, s.lane_norm, s.lane_top


def settle_down(s: State, slot: np.ndarray, change: np.ndarray | None = None) -> None:
    """Put rank r into slot ``slot[r]`` and route every message again, or take the known loads of this placement."""
    s.slot[:], s.node[:] = slot, s.slots[slot]
    s.rank_in[:] = -1
    s.rank_in[slot] = np.arange(len(slot))
    s.change[:] = 0 if change is None else change
    if change is None:
        _route_all(s.node, s.step, s.size, s.send, s.receive, s.ends, s.legs, s.start, s.change, s.stamp, s.touched,
                   s.touches)
    refresh(s)


@compiled
def _route_all(node, step, size, send, receive, ends, legs, start, change, stamp, touched, touches):
    for e in range(len(step)):
        for rank in range(len(node)):
            for q in range(len(ends)):
                touches[q * len(step) + e] = 0
                _routed(rank, -1, _first(step, size, e, rank), -1, e, q, 1, False, node, step, size, send, receive, ends,
                        legs, start, change, stamp, touched, touches, 0)


@compiled
def _sit(rank, place, slot, node, slots, rank_in):
    slot[rank] = place
    node[rank] = slots[place]
    rank_in[place] = rank


@compiled
def _trade(a, b, to, slot, node, slots, rank_in):
    """Exchange the places of rank a and of the content of slot `to`: rank b or nobody."""
    origin = slot[a]
    rank_in[origin] = b
    if b >= 0:
        _sit(b, origin, slot, node, slots, rank_in)
    _sit(a, to, slot, node, slots, rank_in)


@compiled
def _copied(change, lane_norm, lane_top, to_change, to_norm, to_top, start, extent, shape, touched, touches):
    """Copy the touched lanes: to the saved values if a change of places is accepted, else from them."""
    for flow in range(len(touches)):
        for t in range(touches[flow]):
            lane = np.int64(touched[flow, t])
            at = np.int64(start[lane])
            for x in range(shape[extent[lane]] + 1):
                to_change[flow, at + x] = change[flow, at + x]
            for m in range(len(lane_norm)):
                to_norm[m, lane], to_top[m, lane] = lane_norm[m, lane], lane_top[m, lane]


@compiled
def _cost(rules, worth, rule, top):
    worst = 0.0
    for q in range(rules):
        value = 0.0
        for m in range(len(worth)):
            if rule[m] == q:
                value += worth[m] * top[m]
        worst = max(worst, value)
    return worst


@compiled
def _energy(rules, worth, rule, norm, links, doublings):
    worst = 0.0
    for q in range(rules):
        value = 0.0
        for m in range(len(worth)):
            if rule[m] == q:
                value += worth[m] * (max(norm[m], 0.0) / links) ** (1.0 / (1 << doublings))
        worst = max(worst, value)
    return worst


def cost(s: State) -> float:
    """Return the objective: the sum of the largest lengths of the terms, each times its count, under the worst rule."""
    return _cost(len(s.ends), s.worth, s.rule, s.top)


def energy(s: State) -> float:
    """Return the energy of the annealing under the worst rule: p-norms of the lengths in each term, as means over links."""
    return _energy(len(s.ends), s.worth, s.rule, s.norm, links_of(s), s.doublings[0])


def links_of(s: State) -> int:
    """Return the number of links of the network."""
    return s.change.shape[1] - len(s.start)


@compiled
def _random(random):
    """Return the next 64 random bits (xorshift64*; S. Vigna, ACM Trans. Math. Softw. 42 (2016))."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return x * np.uint64(2685821657736338717)


@compiled
def _below(random, n):
    return np.int64((_random(random) >> np.uint64(33)) % np.uint64(n))


@compiled
def _uniform(random):
    return np.float64(_random(random) >> np.uint64(11)) / 9007199254740992.0


@compiled
def _proposal(random, T, step, size, node, slot, slots, place, coordinates, shape, stride, ring):
    """Return a rank and its proposed slot.

    Of eight proposals two stay in the first group (of pencils, the shorter of row and column), one stays in the last group,
    and one goes anywhere. The others bring a rank next to a mate of its first group (three) or of its last group (one).
    """
    rank, kind, mate = _below(random, len(slot)), _below(random, 8), 0
    wanted = OF_PROPOSAL[kind] % len(step)
    for e in range(len(step)):
        some = _first(step, size, e, rank) + _below(random, size[e]) * step[e]
        if e == wanted:
            mate = some
    if kind < INSIDE:
        return rank, slot[mate]
    if kind == ANYWHERE:
        return rank, _below(random, len(slots))
    return rank, _beside(random, T, place, coordinates, shape, stride, ring, node[mate], slot[rank])


@compiled
def _beside(random, T, place, coordinates, shape, stride, ring, node, otherwise):
    """Return a slot of the node itself or of a neighbour, or `otherwise` if there is none."""
    i = _below(random, len(shape))
    x = coordinates[node, i]
    y = x + _below(random, 3) - 1 if T > 1 else x + 2 * _below(random, 2) - 1
    if y < 0 or y >= shape[i]:
        if not ring[i]:
            return otherwise
        y %= shape[i]
    first = place[node + (y - x) * stride[i]]
    return otherwise if first < 0 else first + _below(random, T)


@compiled
def _remember(value, now, slot, best, best_slot):
    if value < best[0] - 1e-9 or (value < best[0] + 1e-9 and now < best[1] - 1e-9):
        best[0], best[1] = value, now
        copy_into(best_slot, slot)


def remember(s: State) -> None:
    """Keep the current placement if it is the best so far, by cost, then by energy."""
    _remember(cost(s), energy(s), s.slot, s.best, s.best_slot)


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
    temperature, rules, links = hot, len(s.ends), s.change.shape[1] - len(s.start)
    T, step, size, send, receive = s.T, s.step, s.size, s.send, s.receive  # read the fields once: reading takes time
    ends, legs, shape, stride, ring = s.ends, s.legs, s.shape, s.stride, s.ring
    start, extent, worth, rule, alone, unit = s.start, s.extent, s.worth, s.rule, s.alone, s.unit
    slots, place, coordinates, node, slot, rank_in = s.slots, s.place, s.coordinates, s.node, s.slot, s.rank_in
    change, before, stamp, touched = s.change, s.before, s.stamp, s.touched
    touches, count, seen, lane_norm, lane_top, norm, top = s.touches, s.count, s.seen, s.lane_norm, s.lane_top, s.norm, s.top
    norm_before, top_before, random, best, best_slot = s.norm_before, s.top_before, s.random, s.best, s.best_slot
    gain, doublings, E = s.gain, s.doublings[0], len(step)
    stages = E if rules == 1 else 1
    together = s.together
    old_norm, old_top, now = norm.copy(), top.copy(), _energy(rules, worth, rule, norm, links, doublings)
    for _ in range(steps):
        temperature *= ratio
        a, to = _proposal(random, T, step, size, node, slot, slots, place, coordinates, shape, stride, ring)
        if slots[to] == node[a]:
            continue
        copy_into(old_norm, norm)
        copy_into(old_top, top)
        origin, b = slot[a], rank_in[to]
        touches[:] = 0
        count[0] += 1
        limit, then, early = now - temperature * np.log(1.0 - _uniform(random)), now, now
        for stage in range(stages):
            exchanges = (stage, stage + 1) if stages > 1 else (0, E)
            if stage == 1:
                early = then
            if stage > 0:
                if then > limit + gain[0]:
                    break
                _trade(a, b, origin, slot, node, slots, rank_in)
            for sign in (-1, 1):
                _moved(a, b, sign, node, step, size, send, receive, ends, legs, start, change, stamp, touched, touches,
                       count[0], exchanges)
                if sign < 0:
                    _trade(a, b, to, slot, node, slots, rank_in)
            _account(worth, alone, unit, norm, top, change, start, extent, shape, seen, lane_norm, lane_top, touched,
                     touches, exchanges if stages > 1 else (0, len(touches)), E * count[0] + stage, doublings, together)
            then = _energy(rules, worth, rule, norm, links, doublings)
            if stage > 0 and stage == stages - 1:
                gain[0] = max(FADING * gain[0], early - then)
        if then <= limit:
            now = then
            _copied(change, lane_norm, lane_top, before, norm_before, top_before, start, extent, shape, touched, touches)
            _remember(_cost(rules, worth, rule, top), now, slot, best, best_slot)
        else:
            _copied(before, norm_before, top_before, change, lane_norm, lane_top, start, extent, shape, touched, touches)
            copy_into(norm, old_norm)
            copy_into(top, old_top)
            _trade(a, b, origin, slot, node, slots, rank_in)
