"""Lengths of all links while pieces change slots: the inner loop of the searches on every network that has no products.

Idea: a message from one point to another is a few legs, and a leg is a row of a sparse table of links. So a swap of two
pieces changes the rows of their messages, for any network and any traffic. A host, a leaf or a pod with n_g of the S members
of each group g below its cables sends the sum of n_g (S - n_g) messages. So a swap changes two counts of each such unit,
however large the groups are. The guide is a power mean of all lengths, for most swaps do not change the largest. Most swaps
are rejected: flows with small groups come first, and the others are left out if they would have to gain more than lately.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220 (1983).
Cost: 0.2 microseconds for a swap by counts, 2 to 50 by routes. A call of a compiled function counts the references to its
arrays, so only rare work is in functions of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pencilmap.mapper.base.compiling import compiled, inlined
from pencilmap.model.base.arrays import Floats, Ints

Small = NDArray[np.int32]  # halves the memory that a swap reads

FORTH, BACK, BOTH = range(3)        # the messages that a leg moves: to a mate, from a mate, or both, which are alike
EVEN, BLOCKS, PAIRS = range(3)      # sizes of messages: all alike; a product of two blocks; one by one
ANYWHERE, BESIDE, BUSY = range(3)   # proposals: a slot of the same part of the network; a slot near a mate; as the first,
AIM = 64                            # for a piece in a busiest unit, which is looked for once in so many swaps
FROM_ROW, TO_ROW, FROM_LINK, TO_LINK = range(4)  # columns of `Board.leg`
LOSSES = 0.7                        # part of the unit of length at which the powers are summed anew
FULL = 0.4                          # part of all places from which a flow is summed whole, without a list of its places
LOOK, PLACES_OF_LOOK = 64, 16       # swaps between two looks at the largest lengths: LOOK, and one for so many places
WORK_OF_SWAP, WORK_OF_ROW = 8, 3    # changed lengths that take as long as a proposal, and as to find a row


class Board(NamedTuple):
    """Slots of a site, the units above them and the routes between them. A place is a unit, or, after all units, a link."""

    leg: Small       #: shape (V, W, 4); leg w from a to b is row ``leg[a, w, 0] + leg[b, w, 1]``, its links moved by
    #: the sum of the other two columns
    back: Ints       #: shape (W,); which messages each leg moves
    span: Small      #: shape (rows, 2); first entry of each row, and the entry after its last
    link: Small      #: shape (entries,)
    load: Floats     #: shape (entries,); length of a byte on the link
    links: int
    point: Small     #: shape (S,); point of each slot
    unit: Ints       #: shape (S, L); units of each slot, its host first
    cable: Floats    #: shape (U,); length of a byte on the cables of each unit
    near: Ints       #: shape (hosts, m); hosts near each host
    host_slots: int  #: slots of each host, which follow one another
    within: Ints     #: shape (S,); part of the network in which the piece of each slot stays
    part: Ints       #: shape (S,); the slots of each part, ``part[part_start[i]:part_start[i + 1]]``
    part_start: Ints
    below: Ints      #: slots of each unit, ``below[below_start[u]:below_start[u + 1]]``
    below_start: Ints


class Game(NamedTuple):
    """Who sends how much to whom, and what of it counts. The mates of list l are ``mate[first[l]:first[l + 1]]``."""

    ranks: int
    list_of: Ints      #: shape (E, S); list of the mates of each piece, -1 without; pieces beyond the ranks are idle slots
    first: Ints        #: shape (lists + 1,)
    mate: Small
    sent: Floats       #: of each mate in a flow of pairs, bytes to it
    got: Floats        #: the same from it
    send: Floats       #: shape (E, S); a message in groups has `send` of its source times `receive` of its end
    receive: Floats
    whole: Floats      #: shape (lists, 2); sums of both over each group
    size: Ints         #: shape (E,); how the messages have their sizes
    factor: Floats     #: shape (E,); length of a byte of each flow on a link of capacity 1
    groups: Ints       #: shape (E,)
    first_count: Ints  #: shape (E,); the count of list l in unit u is row ``first_count + u groups + l``
    dense: Ints        #: shape (E,); whether a swap changes so many places that none is listed
    first_term: Ints   #: shape (E + 1,)
    term: Ints         #: terms of each flow
    share: Floats      #: share of the flow in each of them
    linked: Ints       #: whether the links count in it, beside the units
    worth: Floats      #: shape (M,); the objective is the sum of the largest lengths of the terms, times these
    proposal: Ints     #: shape (proposals, 2); kind, and flow of the mate
    fading: float      #: factor for the gain at each swap that is evaluated in full


class State(NamedTuple):
    """What changes; places of term m begin at m times their number."""

    value: Floats    #: length of each place
    before: Floats   #: the same when a swap was last accepted
    lifted: Floats   #: their powers
    scale: Floats    #: shape (M,); units of length
    power: Floats    #: shape (3, M); sums of the powers: accepted, and tried; and the guide of each term
    trial: Floats    #: shape (M,); the guide of each term as tried
    touched: Ints    #: the places that a swap changed, those of term m from m times one more than their number
    stamp: Ints      #: number of the last swap that changed each place
    changes: Ints    #: shape (2, M); how many these are; number of the last swap that changed all places
    slot_of: Ints    #: shape (S,)
    rank_in: Ints    #: shape (S,)
    counts: Floats   #: shape (rows, 1 or 2); sums of `send` and of `receive` over the members in a unit; one if alike
    random: Ints     #: shape (1,)
    best: Floats     #: shape (2,); least cost; the most that later flows have lately gained, which fades
    best_slot: Ints  #: shape (S,)
    number: Ints     #: shape (1,); number of the swap


@inlined
def _below(random: Any, n: int) -> Any:
    """Return a random number below n (xorshift64*; S. Vigna, ACM Trans. Math. Softw. 42 (2016))."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return np.int64(((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)) * np.uint64(n) >> np.uint64(31))


@inlined
def _raised(x: Any, doublings: int) -> Any:
    """Return x to the power 2^doublings."""
    if doublings == 4:  # without a loop: the usual number
        x *= x
        x *= x
        x *= x
        x *= x
    else:
        for _ in range(doublings):
            x *= x
    return x


@inlined
def _root(x: Any, doublings: int) -> Any:
    x = max(x, 0.0)
    for _ in range(doublings):
        x = np.sqrt(x)
    return x


@compiled
def _sum_of_powers(value: Floats, first: int, last: int, per_unit: float, doublings: int) -> float:
    """Return the sum of the powers of some lengths, four sums at once for the compiler."""
    a = b = c = d = 0.0
    t = first
    while t + 3 < last:
        a += _raised(value[t] * per_unit, doublings)
        b += _raised(value[t + 1] * per_unit, doublings)
        c += _raised(value[t + 2] * per_unit, doublings)
        d += _raised(value[t + 3] * per_unit, doublings)
        t += 4
    while t < last:
        a += _raised(value[t] * per_unit, doublings)
        t += 1
    return (a + b) + (c + d)


@compiled
def _measure(value: Floats, lifted: Floats, scale: Floats, power: Floats, worth: Floats, doublings: int) -> float:
    """Take the largest length of each term as its unit, sum all powers, and return the guide."""
    M, guide = len(worth), 0.0
    width = len(value) // M
    for m in range(M):
        top, total = 0.0, 0.0
        for t in range(m * width, (m + 1) * width):
            top = max(top, value[t])
        scale[m] = top if top > 0 else 1.0
        for t in range(m * width, (m + 1) * width):
            lifted[t] = _raised(value[t] / scale[m], doublings)
            total += lifted[t]
        power[0, m], power[2, m] = total, worth[m] * scale[m] * _root(total, doublings)
        guide += power[2, m]
    return guide


@compiled
def _cost(value: Floats, worth: Floats) -> float:
    width, total = len(value) // len(worth), 0.0
    for m in range(len(worth)):
        top = 0.0
        for t in range(m * width, (m + 1) * width):
            top = max(top, value[t])
        total += worth[m] * top
    return total


@compiled
def _busiest(value: Floats, busiest: Ints) -> None:
    """Note the place with the largest length of each term."""
    width = len(value) // len(busiest)
    for m in range(len(busiest)):
        top = 0.0
        for t in range(width):
            if value[m * width + t] > top:
                top, busiest[m] = value[m * width + t], t


@compiled
def _keep(value: Floats, worth: Floats, slot_of: Ints, best: Floats, best_slot: Ints) -> None:
    """Keep the placement if it costs less than the best."""
    cost = _cost(value, worth)
    if cost < best[0] * (1 - 1e-9):
        best[0] = cost
        for x in range(len(slot_of)):
            best_slot[x] = slot_of[x]


@compiled
def guide(game: Game, state: State, doublings: int) -> float:
    """Return the power mean of all lengths that leads the search, with exponent 2^doublings."""
    return _measure(state.value, state.lifted, state.scale, state.power, game.worth, doublings)


@compiled
def _route(board: Any, value: Floats, base: int, a: int, c: int, bytes_: float) -> None:
    """Add a message from point a to point c to the links."""
    for w in range(len(board.back)):
        if board.back[w] != BACK:
            row = board.leg[a, w, FROM_ROW] + board.leg[c, w, TO_ROW]
            moved = base + board.leg[a, w, FROM_LINK] + board.leg[c, w, TO_LINK]
            for z in range(board.span[row, 0], board.span[row, 1]):
                value[moved + board.link[z]] += bytes_ * board.load[z]


@compiled
def _count_all(board: Any, game: Any, state: Any, e: int) -> None:
    """Count the members of all groups of a flow in all units, and add the lengths of the units."""
    U, ways = len(board.cable), state.counts.shape[1]
    width = len(state.value) // len(game.worth)
    for x in range(len(state.slot_of)):
        group = game.list_of[e, x]
        if group < 0:
            continue
        for level in range(board.unit.shape[1]):
            u = board.unit[state.slot_of[x], level]
            k = game.first_count[e] + u * game.groups[e] + group
            for way in range(ways):
                a, b = state.counts[k, way], state.counts[k, ways - 1 - way]
                da = game.send[e, x] if way == 0 else game.receive[e, x]
                db = game.receive[e, x] if way == 0 else game.send[e, x]
                more = (da * (game.whole[group, 1 - way] - b - db) - a * db) * game.factor[e] * board.cable[u]
                for i in range(game.first_term[e], game.first_term[e + 1]):
                    state.value[game.term[i] * width + way * U + u] += game.share[i] * more
            state.counts[k, 0] += game.send[e, x]
            if ways > 1:
                state.counts[k, 1] += game.receive[e, x]


@compiled
def fill(board: Board, game: Game, state: State) -> float:
    """Compute counts and lengths from the slots of all pieces; return the objective.

    If there are fewer pairs of points than messages, the messages of each pair are summed first.
    """
    value, slot_of, point = state.value, state.slot_of, board.point
    V, S, M = len(board.leg), len(slot_of), len(game.worth)
    width, lines = len(value) // M, state.counts.shape[1] * len(board.cable)
    value[:] = 0.0
    state.counts[:] = 0.0
    for e in range(len(game.factor)):
        if game.size[e] != PAIRS:
            _count_all(board, game, state, e)
        messages = 0
        for x in range(S):
            group = game.list_of[e, x]
            messages += game.first[group + 1] - game.first[group] if group >= 0 else 0
        is_linked = False
        for i in range(game.first_term[e], game.first_term[e + 1]):
            is_linked = is_linked or game.linked[i] > 0
        if not is_linked or len(board.back) == 0:
            continue
        summed, alike = messages > V * V, board.back[0] == BOTH
        apart = np.zeros(V * V if summed else 0)
        for x in range(S):
            group = game.list_of[e, x]
            if group < 0:
                continue
            a = np.int64(point[slot_of[x]])
            for j in range(game.first[group], game.first[group + 1]):
                other = game.mate[j]
                c = np.int64(point[slot_of[other]])
                if a == c or (alike and other < x):  # a row for both ways holds the message back
                    continue
                size = game.factor[e]
                if game.size[e] == BLOCKS:
                    size *= game.send[e, x] * game.receive[e, other]
                elif game.size[e] == PAIRS:
                    size *= game.sent[j]
                if summed:
                    apart[min(a, c) * V + max(a, c) if alike else a * V + c] += size
                    continue
                for i in range(game.first_term[e], game.first_term[e + 1]):
                    if game.linked[i]:
                        _route(board, value, game.term[i] * width + lines, a, c, game.share[i] * size)
        for k in range(len(apart)):
            if apart[k] > 0.0:
                for i in range(game.first_term[e], game.first_term[e + 1]):
                    if game.linked[i]:
                        _route(board, value, game.term[i] * width + lines, k // V, k % V, game.share[i] * apart[k])
    for t in range(len(value)):
        state.before[t] = value[t]
    return _cost(value, game.worth)


@compiled
def anneal(board: Board, game: Game, state: State, steps: int, hot: float, cold: float, doublings: int) -> int:
    """Try swaps while the temperature falls from `hot` to `cold`, and keep the best placement seen.

    Return the work: the number of changed lengths, and more for proposals and rows.

    Parameters
    ----------
    board, game : Board, Game
    state : State
        As `fill` or an earlier call left it; changed in place.
    steps : int
    hot, cold : float
        Temperatures in units of the guide, a length.
    doublings : int
        The guide is the power mean with exponent 2^doublings.
    """
    leg, back, span, link, load, point = board.leg, board.back, board.span, board.link, board.load, board.point
    unit, cable, near, host_slots = board.unit, board.cable, board.near, board.host_slots
    within, part, part_start = board.within, board.part, board.part_start
    below, below_start = board.below, board.below_start
    ranks, list_of, first, mate, sent, got = game.ranks, game.list_of, game.first, game.mate, game.sent, game.got
    send, receive, whole, size, factor = game.send, game.receive, game.whole, game.size, game.factor
    groups, first_count, dense, worth = game.groups, game.first_count, game.dense, game.worth
    proposal, fading = game.proposal, game.fading
    first_term, term_of, share_of, linked = game.first_term, game.term, game.share, game.linked
    value, before, lifted, scale, power, trial = (state.value, state.before, state.lifted, state.scale, state.power,
                                                  state.trial)
    touched, stamp, changes, counts = state.touched, state.stamp, state.changes, state.counts
    slot_of, rank_in, random, best, best_slot = state.slot_of, state.rank_in, state.random, state.best, state.best_slot
    E, S, M, W, L, U, ways = (len(factor), len(slot_of), len(worth), len(back), unit.shape[1], len(cable), counts.shape[1])
    width, work = len(value) // M, 0
    row_of = np.zeros((4, max(1, W)), np.int64)
    looked = -AIM
    pause, last, number = LOOK + len(value) // PLACES_OF_LOOK, -len(value), state.number[0]
    now = _measure(value, lifted, scale, power, worth, doublings)
    best[1] = min(best[1], now)
    unit_of_guide, temperature, cooling = now, hot, (cold / hot) ** (1.0 / max(1, steps))
    busiest = np.zeros(M, np.int64)
    for k in range(steps):
        temperature *= cooling
        x, chosen = _below(random, ranks), _below(random, len(proposal))
        if proposal[chosen, 0] == BUSY:
            if k - looked >= AIM:
                _busiest(value, busiest)
                looked = k
            w = busiest[_below(random, M)]
            if w < ways * U:
                w %= U
                x = rank_in[below[below_start[w] + _below(random, below_start[w + 1] - below_start[w])]]
        p = slot_of[x]
        mates = list_of[proposal[chosen, 1], x] if proposal[chosen, 0] == BESIDE else -1
        if mates >= 0:
            other = mate[first[mates] + _below(random, first[mates + 1] - first[mates])]
            home = near[slot_of[other] // host_slots, _below(random, near.shape[1])]
            q = min(home * host_slots + _below(random, host_slots), S - 1)
        else:
            begin = part_start[within[p]]
            q = part[begin + _below(random, part_start[within[p] + 1] - begin)]
        y = rank_in[q]
        if (x >= ranks and y >= ranks) or p == q or (point[p] == point[q] and (L == 0 or unit[p, 0] == unit[q, 0])):
            continue
        number += 1
        work += WORK_OF_SWAP
        limit = now - temperature * np.log(1.0 - _below(random, 1 << 30) / (1 << 30))
        then, most, done = now, now, True
        for m in range(M):
            changes[0, m], power[1, m], trial[m] = 0, power[0, m], power[2, m]
        for e in range(E):
            gx, gy = list_of[e, x], list_of[e, y]
            if gx == gy and (gx < 0 or size[e] == EVEN):
                continue
            sparse = dense[e] == 0
            for i in range(first_term[e], first_term[e + 1]):
                m, share = term_of[i], share_of[i] * factor[e]
                base, list_, n = m * width, m * (width + 1), changes[0, m]
                if size[e] != PAIRS:
                    for level in range(L):
                        u, v = unit[p, level], unit[q, level]
                        if u == v:
                            continue
                        work += 2 * ways
                        for turn in range(2):  # x leaves u and y comes; then y leaves v and x comes
                            w, leaves, comes, gone, new = (u, x, y, gx, gy) if turn == 0 else (v, y, x, gy, gx)
                            target, back_again = 0.0, 0.0
                            for side in range(2):
                                group = gone if side == 0 else new
                                if group < 0 or (side == 1 and gone == new):
                                    continue
                                if side == 0:
                                    da, db = -send[e, leaves], -receive[e, leaves]
                                    if gone == new:
                                        da += send[e, comes]
                                        db += receive[e, comes]
                                else:
                                    da, db = send[e, comes], receive[e, comes]
                                c = first_count[e] + w * groups[e] + group
                                a, b = counts[c, 0], counts[c, ways - 1]
                                target += da * (whole[group, 1] - b - db) - a * db
                                if ways > 1:
                                    back_again += db * (whole[group, 0] - a - da) - b * da
                            t = base + w
                            touched[list_ + n] = t
                            n += stamp[t] != number
                            stamp[t] = number
                            value[t] += share * target * cable[w]
                            if ways > 1:
                                t += U
                                touched[list_ + n] = t
                                n += stamp[t] != number
                                stamp[t] = number
                                value[t] += share * back_again * cable[w]
                if W > 0 and linked[i] and point[p] != point[q]:
                    base += ways * U
                    if not sparse:
                        changes[1, m] = number
                    for turn in range(2):
                        who, partner, mine, source, there_ = (x, y, gx, p, q) if turn == 0 else (y, x, gy, q, p)
                        if mine < 0:
                            continue
                        old, new_ = np.int64(point[source]), np.int64(point[there_])
                        for w in range(W):
                            row_of[0, w], row_of[1, w] = leg[old, w, FROM_ROW], base + leg[old, w, FROM_LINK]
                            row_of[2, w], row_of[3, w] = leg[new_, w, FROM_ROW], base + leg[new_, w, FROM_LINK]
                        for j in range(first[mine], first[mine + 1]):
                            other = mate[j]
                            if other == who or (turn == 1 and other == partner):
                                continue
                            at = slot_of[other]
                            end, end_new = np.int64(point[at]), np.int64(point[source if other == partner else at])
                            to, fro = share, share
                            if size[e] == BLOCKS:
                                to, fro = share * send[e, who] * receive[e, other], share * send[e, other] * receive[e, who]
                            elif size[e] == PAIRS:
                                to, fro = share * sent[j], share * got[j]
                            for w in range(W):
                                bytes_ = fro if back[w] == BACK else to
                                if old != end:
                                    row = row_of[0, w] + np.int64(leg[end, w, TO_ROW])
                                    moved = row_of[1, w] + np.int64(leg[end, w, TO_LINK])
                                    work += span[row, 1] - span[row, 0] + WORK_OF_ROW
                                    for z in range(span[row, 0], span[row, 1]):
                                        t = moved + link[z]
                                        if sparse:
                                            touched[list_ + n] = t
                                            n += stamp[t] != number
                                            stamp[t] = number
                                        value[t] -= bytes_ * load[z]
                                if new_ != end_new:
                                    row = row_of[2, w] + np.int64(leg[end_new, w, TO_ROW])
                                    moved = row_of[3, w] + np.int64(leg[end_new, w, TO_LINK])
                                    work += span[row, 1] - span[row, 0] + WORK_OF_ROW
                                    for z in range(span[row, 0], span[row, 1]):
                                        t = moved + link[z]
                                        if sparse:
                                            touched[list_ + n] = t
                                            n += stamp[t] != number
                                            stamp[t] = number
                                        value[t] += bytes_ * load[z]
                changes[0, m] = n
            for i in range(first_term[e], first_term[e + 1]):
                m = term_of[i]
                per_unit, total = 1.0 / scale[m], power[0, m]
                if changes[1, m] == number:
                    total = _sum_of_powers(value, m * width, (m + 1) * width, per_unit, doublings)
                else:
                    for z in range(m * (width + 1), m * (width + 1) + changes[0, m]):
                        t = touched[z]
                        total += _raised(value[t] * per_unit, doublings) - lifted[t]
                power[1, m] = total
                then -= trial[m]
                trial[m] = worth[m] * scale[m] * _root(total, doublings)
                then += trial[m]
            most = max(most, then) if e > 0 else then
            if then > limit + best[1] and e < E - 1:
                done = False
                break
        if done:
            best[1] = max(fading * best[1], most - then)
        if done and then <= limit:
            now = then
            for m in range(M):
                power[0, m], power[2, m] = power[1, m], trial[m]
                per_unit = 1.0 / scale[m]
                if changes[1, m] == number:
                    for t in range(m * width, (m + 1) * width):
                        before[t] = value[t]
                        lifted[t] = _raised(value[t] * per_unit, doublings)
                else:
                    for z in range(m * (width + 1), m * (width + 1) + changes[0, m]):
                        t = touched[z]
                        before[t] = value[t]
                        lifted[t] = _raised(value[t] * per_unit, doublings)
            for e in range(E if L else 0):
                gx, gy = list_of[e, x], list_of[e, y]
                if size[e] == PAIRS or (gx == gy and (gx < 0 or size[e] == EVEN)):
                    continue
                for level in range(L):
                    u, v = unit[p, level] * groups[e] + first_count[e], unit[q, level] * groups[e] + first_count[e]
                    if gx >= 0:
                        counts[u + gx, 0] -= send[e, x]
                        counts[v + gx, 0] += send[e, x]
                    if gy >= 0:
                        counts[v + gy, 0] -= send[e, y]
                        counts[u + gy, 0] += send[e, y]
                    if ways > 1 and gx >= 0:
                        counts[u + gx, 1] -= receive[e, x]
                        counts[v + gx, 1] += receive[e, x]
                    if ways > 1 and gy >= 0:
                        counts[v + gy, 1] -= receive[e, y]
                        counts[u + gy, 1] += receive[e, y]
            slot_of[x], slot_of[y] = q, p
            rank_in[q], rank_in[p] = x, y
            if k - last > pause:
                last = k
                _keep(value, worth, slot_of, best, best_slot)
                if now < LOSSES * unit_of_guide:  # sums of much larger powers would leave rounding errors
                    now = unit_of_guide = _measure(value, lifted, scale, power, worth, doublings)
        else:
            for m in range(M):
                if changes[1, m] == number:
                    for t in range(m * width, (m + 1) * width):
                        value[t] = before[t]
                else:
                    for z in range(m * (width + 1), m * (width + 1) + changes[0, m]):
                        value[touched[z]] = before[touched[z]]
    state.number[0] = number
    _keep(value, worth, slot_of, best, best_slot)
    return work
