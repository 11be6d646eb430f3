"""Loads of all exchanges while ranks change places, by counts and by routes: the inner loop of `network_search`.

Idea: a unit (a host, a leaf, a pod) with n_g of the S members of each group g below its cables sends the sum of
n_g (S - n_g) messages. A swap of two ranks changes two counts of each unit above them, so its cost does not depend on the
size of the groups. Links that no unit describes have a table of routes; there a swap costs two entries for each member
of the groups.
The guide is a power mean of all loads with exponent 16, 32, then 64: the largest load alone gets stuck, for most swaps do
not change it. Half of the swaps take a rank from a busiest unit, if it is busier than every link.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220 (1983).
With uneven blocks rank a sends s_a r_b to rank b. A unit then sends the sum of s over its members times the sum of r over
the other members, and receives the same with s and r exchanged. Sums stand in place of counts. Each unit is two, one for
each direction, and so is each pair of points in the table of routes.
Cost: 1 to 3 microseconds for a swap by counts, 10 to 50 by routes; compiled by numba, cached on disk if possible.
"""

from collections import namedtuple

import numpy as np

from pencilmap.mapper.searches.routed_swaps import compiled, copy_into, raised

AIM = 64      # swaps between two looks for the busiest units
LOSSES = 0.7  # part of the unit of length at which the powers are summed anew

State = namedtuple("State", "size group members first_count unit point routes link weight factor inverse share worth "
                            "seen within below start_below inside start_inside slot_of rank_in count piece whole sums value "
                            "power saved before touched stamp number busiest random best_slot best")
State.__doc__ = """The state of the loop; arrays are changed in place.

A piece is a rank, or an idle slot. There are as many pieces as slots. A place is a unit, or, after all units, a link.

Parameters
----------
size : int64 array, shape (E,)
    Ranks in a group of each exchange.
group : int64 array, shape (E, S)
    Group of each piece; -1 for idle slots.
members : tuple of int64 arrays, shape (groups, ranks)
    Ranks of each group, for each exchange.
first_count : int64 array, shape (E,)
    Groups of each exchange: the counts of a unit begin at unit times this number.
unit : int64 array, shape (S, L)
    Units of each slot.
point : int64 array, shape (S,)
    Point of each slot in the table of routes.
routes, link, weight : int64, int64 and float arrays
    Table of routes, see `pencilmap.mapper.searches.route_table`; the links of points a < b begin at ``routes[a * n + b]``.
factor : float array, shape (E,)
    Length of a message on a link of capacity 1.
inverse : float array, shape (E, U)
    Length of a message on a cable of each unit.
share : float array, shape (M, E); worth : float array, shape (M,)
    Terms of the objective.
seen : int64 array, shape (M,)
    Places that count in each term: all units, or all units and links.
within : int64 array, shape (S,)
    Part of the network in which the piece of each slot has to stay.
below, start_below, inside, start_inside : int64 arrays
    Slots of each unit, ``below[start_below[u]:start_below[u + 1]]``, and of each part.
slot_of, rank_in : int64 arrays, shape (S,)
    Slot of each piece, piece in each slot.
count : tuple of int32 arrays, shape (U groups,)
    Members of each group in each unit, for each exchange; empty for uneven blocks.
piece : float array, shape (2, E, S)
    What each piece sends and receives, as whole numbers; no pieces for even blocks.
whole : tuple of float arrays, shape (groups, 2)
    The sum over each group, for each exchange.
sums : tuple of float arrays, shape (U groups, 2)
    The sum over the members of each group in each unit, for each exchange.
value : float array, shape (E, places)
    Length of each exchange on each place.
power, saved : float arrays, shape (M + 1,)
    Sums of the powers of the lengths of each term, and the unit of length; the same before the last swap.
before : float array, shape (E, places); touched, stamp : int64 arrays, shape (places,); number : int64 array, shape (2,)
    Values before the last swap, touched places, and the number of the swap that touched each; the number of the swap,
    and of touched places.
busiest : int64 array, shape (M,)
random : uint64 array, shape (1,)
best_slot : int64 array, shape (S,); best : float array, shape (2,)
    Slots of the best placement; its cost, and the least guide of this round.
"""


@compiled
def _random(state, n):
    """Return a random number below n (xorshift)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.int64(((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)) * np.uint64(n) >> np.uint64(31))


@compiled
def _root(x, doublings):
    x = max(x, 0.0)
    for _ in range(doublings):
        x = np.sqrt(x)
    return x


@compiled
def _reroute(mates, piece, slot_of, point, here, there, routes, link, weight, n, each, e, sizes, units, value, before,
             touched, stamp, number):
    """Move the messages of a piece with its mates, each way, from point `here` to point `there`."""
    swap, t, uneven = number[0], number[1], sizes.shape[2] > 0
    for mate in mates:
        if mate == piece:
            continue
        at = point[slot_of[mate]]
        for end, length in ((here, -each), (there, each)):
            if end == at:
                continue
            for way in range(2 if uneven else 1):
                k = end * n + at if (way == 0 if uneven else end < at) else at * n + end
                size = length
                if uneven:
                    size *= sizes[way, e, piece] * sizes[1 - way, e, mate]
                for i in range(routes[k], routes[k + 1]):
                    j = units + link[i]
                    if stamp[j] != swap:
                        stamp[j] = swap
                        touched[t] = j
                        t += 1
                        for f in range(len(value)):
                            before[f, j] = value[f, j]
                    value[e, j] += size * weight[i]
    number[1] = t


@compiled
def _count(counts, at, groups, size, unit, out, into, inverse, value):
    """Take a member of group `out` from a unit and put one of group `into` there."""
    change = 0
    if out >= 0:
        k = unit * groups + out
        change += 2 * counts[k] - 1 - size
        counts[k] -= 1
    if into >= 0:
        k = unit * groups + into
        change += size - 1 - 2 * counts[k]
        counts[k] += 1
    value[at, unit] += change * inverse[at, unit]


@compiled
def _weigh(s, e, unit, group, piece, sign, way):
    """Add a piece to the sums of a group in a unit, or take it away: the change of the length.

    The unit sends for way 0, and receives for way 1.
    """
    sums, whole, other = s.sums[e], s.whole[e], 1 - way
    k = unit * s.first_count[e] + group
    a, b = s.piece[way, e, piece], s.piece[other, e, piece]
    before = sums[k, way] * (whole[group, other] - sums[k, other])
    sums[k, way] += sign * a
    sums[k, other] += sign * b
    s.value[e, unit] += (sums[k, way] * (whole[group, other] - sums[k, other]) - before) * s.inverse[e, unit]


@compiled
def _is_same(s, x, y):
    """Return whether two pieces are alike for all exchanges."""
    for e in range(len(s.size)):
        if s.group[e, x] != s.group[e, y]:
            return False
        if s.piece.shape[2] and s.group[e, x] >= 0 and (s.piece[0, e, x] != s.piece[0, e, y]
                                                        or s.piece[1, e, x] != s.piece[1, e, y]):
            return False
    return True


@compiled
def _swap(s, x, y, undo):
    """Let two pieces change places in counts and values. Lengths of an undone swap are restored by the caller."""
    a, b = s.slot_of[x], s.slot_of[y]
    units, uneven = s.inverse.shape[1], s.piece.shape[2] > 0
    if not undo:
        s.number[0] += 1
        s.number[1] = 0
    for e in range(len(s.size)):
        gx, gy = s.group[e, x], s.group[e, y]
        if gx == gy and (not uneven or gx < 0):
            continue
        for level in range(s.unit.shape[1]):
            u, v = s.unit[a, level], s.unit[b, level]
            if u == v:
                continue
            for w in (u, v):
                if not undo and s.stamp[w] != s.number[0]:
                    s.stamp[w] = s.number[0]
                    s.touched[s.number[1]] = w
                    s.number[1] += 1
                    for f in range(len(s.size)):
                        s.before[f, w] = s.value[f, w]
            if uneven:
                way = 2 * level // s.unit.shape[1]
                for piece, g, old, new in ((x, gx, u, v), (y, gy, v, u)):
                    if g >= 0:
                        _weigh(s, e, old, g, piece, -1.0, way)
                        _weigh(s, e, new, g, piece, 1.0, way)
                continue
            _count(s.count[e], e, s.first_count[e], s.size[e], u, gx, gy, s.inverse, s.value)
            _count(s.count[e], e, s.first_count[e], s.size[e], v, gy, gx, s.inverse, s.value)
        if len(s.link) and not undo and s.point[a] != s.point[b]:
            n = int(np.sqrt(len(s.routes) - 1) + 0.5)
            p, q, each = s.point[a], s.point[b], s.factor[e]
            for piece, here, there in ((x, p, q), (y, q, p)):
                g = s.group[e, piece]
                if g < 0:
                    continue
                _reroute(s.members[e][g], piece, s.slot_of, s.point, here, there, s.routes, s.link, s.weight, n, each, e,
                         s.piece, units, s.value, s.before, s.touched, s.stamp, s.number)
                if gx == gy:  # y meets x at its new point
                    s.slot_of[x] = b
            s.slot_of[x] = a
    s.slot_of[x], s.slot_of[y] = b, a
    s.rank_in[a], s.rank_in[b] = y, x


@compiled
def _length(s, term, values, j):
    total = 0.0
    for e in range(len(values)):
        total += s.share[term, e] * values[e, j]
    return total


@compiled
def _powers(s, doublings):
    """Sum the powers of all lengths anew."""
    for term in range(len(s.worth)):
        total = 0.0
        for j in range(s.seen[term]):
            total += raised(_length(s, term, s.value, j) / s.power[-1], doublings)
        s.power[term] = total


@compiled
def _guide(s, doublings):
    total = 0.0
    for term in range(len(s.worth)):
        total += s.worth[term] * _root(s.power[term], doublings) * s.power[-1]
    return total


@compiled
def cost(s: State) -> float:
    """Return the objective, and note the busiest place of each term."""
    total = 0.0
    for term in range(len(s.worth)):
        top, busiest = 0.0, 0
        for j in range(s.seen[term]):
            length = _length(s, term, s.value, j)
            if length > top:
                top, busiest = length, j
        s.busiest[term] = busiest
        total += s.worth[term] * top
    return total


@compiled
def _route_all(members, slot_of, point, routes, link, weight, n, each, e, units, apart, sizes, value):
    """Add all messages of an exchange to the links. `apart` counts them for each two points, so each route is read once."""
    uneven = sizes.shape[2] > 0
    for k in range(len(apart)):
        apart[k] = 0
    at = np.zeros(members.shape[1], dtype=np.int64)
    for mates in members:
        for i in range(len(mates)):
            a = at[i] = point[slot_of[mates[i]]]
            for k in range(i):
                if uneven:
                    apart[a * n + at[k]] += sizes[0, e, mates[i]] * sizes[1, e, mates[k]]
                    apart[at[k] * n + a] += sizes[0, e, mates[k]] * sizes[1, e, mates[i]]
                else:
                    apart[a * n + at[k] if a < at[k] else at[k] * n + a] += 1
    for k in range(len(apart)):
        if apart[k] and k // n != k % n:
            for i in range(routes[k], routes[k + 1]):
                value[e, units + link[i]] += each * apart[k] * weight[i]


@compiled
def fill(s: State) -> float:
    """Compute counts and lengths from the slots of all pieces; return the objective."""
    units = s.inverse.shape[1]
    n = int(np.sqrt(len(s.routes) - 1) + 0.5)
    apart, uneven = np.zeros(n * n), s.piece.shape[2] > 0
    for e in range(len(s.size)):
        counts, groups = s.count[e], s.first_count[e]
        counts[:] = 0
        s.sums[e][:] = 0.0
        for j in range(s.value.shape[1]):
            s.value[e, j] = 0.0
        for piece in range(len(s.slot_of)):
            g = s.group[e, piece]
            if g >= 0:
                for level in range(s.unit.shape[1]):
                    u = s.unit[s.slot_of[piece], level]
                    if uneven:
                        _weigh(s, e, u, g, piece, 1.0, 2 * level // s.unit.shape[1])
                        continue
                    k = u * groups + g
                    s.value[e, u] += (s.size[e] - 1 - 2 * counts[k]) * s.inverse[e, u]
                    counts[k] += 1
        if len(s.link):
            _route_all(s.members[e], s.slot_of, s.point, s.routes, s.link, s.weight, n, s.factor[e], e, units, apart,
                       s.piece, s.value)
    return cost(s)


@compiled
def swaps(s: State, number: int, doublings: int, hot: float, cold: float) -> int:
    """Try a number of swaps while the temperature falls from `hot` to `cold`, in units of the unit of length."""
    S, terms = len(s.slot_of), len(s.worth)
    _powers(s, doublings)
    now = _guide(s, doublings)
    s.best[1] = now
    cooling, heat = (cold / hot) ** (1.0 / max(1, number)), hot * s.power[-1]
    for k in range(number):
        heat *= cooling
        if k % AIM == 0:
            cost(s)
        u = s.busiest[(k >> 1) % terms]
        if k & 1 and u < s.inverse.shape[1]:
            x = s.rank_in[s.below[s.start_below[u] + _random(s.random, s.start_below[u + 1] - s.start_below[u])]]
        else:
            x = _random(s.random, S)
        part = s.within[s.slot_of[x]]
        first, last = s.start_inside[part], s.start_inside[part + 1]
        y = s.rank_in[s.inside[first + _random(s.random, last - first)]]
        if _is_same(s, x, y):
            continue
        copy_into(s.saved, s.power)
        _swap(s, x, y, False)
        for term in range(terms):
            for t in range(s.number[1]):
                j = s.touched[t]
                old, new = _length(s, term, s.before, j), _length(s, term, s.value, j)
                if old != new and j < s.seen[term]:
                    s.power[term] += raised(new / s.power[-1], doublings) - raised(old / s.power[-1], doublings)
        after = _guide(s, doublings)
        if after <= now or _random(s.random, 1 << 30) < np.exp((now - after) / heat) * (1 << 30):
            now = after
            if now < s.best[1] - 1e-9 * s.power[-1]:
                s.best[1] = now
                _keep(s)
            if now < LOSSES * s.power[-1]:  # sums of much larger powers would leave rounding errors
                s.power[-1] = now
                _powers(s, doublings)
        else:
            copy_into(s.power, s.saved)
            _swap(s, x, y, True)
            for t in range(s.number[1]):
                for e in range(len(s.size)):
                    s.value[e, s.touched[t]] = s.before[e, s.touched[t]]
    _keep(s)
    return number


@compiled
def _keep(s):
    """Keep the placement if it costs less than the best."""
    found = cost(s)
    if found < s.best[0] - 1e-9 * s.power[-1]:
        s.best[0] = found
        copy_into(s.best_slot, s.slot_of)
