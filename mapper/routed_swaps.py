"""Exact link loads of all exchanges while ranks change places: the inner loop of the local search.

Idea: when a rank moves, only its messages to and from its groups change, and each of them only the links of its own
dimension-ordered path. So a change costs O(group x path) instead of a new count of all messages. For each term of the
objective the largest length is kept with the number of links that have it, and searched again only when that number falls to
zero. The loads that a change
touches are saved, so that a rejected change is undone without routing.
Cost: about 40 microseconds for a swap of two ranks of 8x59 on 512 nodes; compiled by numba, cached on disk where that is
possible. Needs: even exchanges (one unit for every message), dimension order first to last, ties at half a ring split.
"""

from collections import namedtuple
from collections.abc import Callable

import numpy as np
from numba import njit

OF_PROPOSAL = np.array([0, 0, -1, -1, 0, 0, 0, -1])  # which exchange a kind of proposal looks at: the first or the last
INSIDE, ANYWHERE = 3, 3      # kinds below stay inside a group; this one goes anywhere; others bring a rank next to a mate
DOUBLINGS = 4                # the guide is the p-norm of all lengths, p = 2^DOUBLINGS
TOUCHED, CHANGE = 0, 1       # places in `count`

State = namedtuple("State", "P T step size shape stride ring worth unit slots place coordinates node slot rank_in load norm "
                            "top at_top before stamp touched count random best best_slot")
State.__doc__ = """The state of the loop; arrays are changed in place.

Parameters
----------
P, T : int
    Tasks, slots of a node.
step, size : int64 arrays, shape (E,)
    Of each exchange: from a rank to the next of its group, and how many are in a group; small groups first.
shape, stride : int64 arrays, shape (d,); ring : bool array, shape (d,)
worth : float array, shape (M,)
    What the largest length of each term of the objective counts.
unit : float array, shape (M, E, d)
    What half a message on a link of a dimension adds to its length on the weighted m scale, for each term and exchange.
slots : int64 array, shape (S,)
    Node of every slot that may be used; slots of one node are neighbours.
place : int64 array, shape (N,)
    First slot of a node, -1 where it may not be used.
coordinates : int64 array, shape (N, d)
node, slot : int64 arrays, shape (P,)
    Node and slot of every rank.
rank_in : int64 array, shape (S,)
    The rank in every slot, -1 for idle.
load : int64 array, shape (E * d * 2 * N,)
    Half messages on every link by exchange, dimension, direction and node it leaves.
norm, top : float arrays, shape (M,)
    Of each term the sum of all lengths to the power p; the largest length.
at_top : int64 array, shape (M,)
    Links whose length is `top`.
before, stamp, touched : int64 arrays, shape of `load`
    The loads that a change has touched, as they were before.
count : int64 array, shape (2,)
    How many loads are touched; the number of the change.
random : uint64 array, shape (1,)
    State of the random numbers.
best : float array, shape (2,); best_slot : int64 array, shape (P,)
    Cost and energy of the best placement seen, and its slots.
"""


def compiled(function: Callable) -> Callable:
    """Compile with numba; again in every process where numba cannot write a cache (package and home read-only)."""
    try:
        return njit(cache=True)(function)
    except RuntimeError:
        return njit(function)


@compiled
def _power(x):
    for _ in range(DOUBLINGS):
        x *= x
    return x


@compiled
def _route(s, e, source, target, sign):
    """Add (+1) or remove (-1) one message."""
    node, N = source, len(s.coordinates)
    base = e * len(s.shape) * 2 * N
    for i in range(len(s.shape)):
        a, b = s.coordinates[source, i], s.coordinates[target, i]
        if a != b:
            _leg(s, i, base + node, a, b - a, sign)
            node += (b - a) * s.stride[i]
        base += 2 * N


@compiled
def _leg(s, i, link, a, up, sign):
    """One leg from coordinate `a`, `up` further (or back); `link` leaves its start upwards."""
    n, stride, down_link = s.shape[i], s.stride[i], link + len(s.coordinates)
    if not s.ring[i]:
        if up > 0:
            _walk_up(s, link, a, n, stride, up, 2 * sign)
        else:
            _walk_down(s, down_link, a, n, stride, -up, 2 * sign)
        return
    if up < 0:
        up += n
    halves = sign if 2 * up == n else 2 * sign
    if 2 * up <= n:
        _walk_up(s, link, a, n, stride, up, halves)
    if 2 * up >= n:
        _walk_down(s, down_link, a, n, stride, n - up, halves)


@compiled
def _walk_up(s, k, position, n, stride, steps, halves):
    for _ in range(steps):
        _touch(s, k, halves)
        k += stride
        position += 1
        if position == n:
            position = 0
            k -= n * stride


@compiled
def _walk_down(s, k, position, n, stride, steps, halves):
    for _ in range(steps):
        _touch(s, k, halves)
        k -= stride
        position -= 1
        if position < 0:
            position += n
            k += n * stride


@compiled
def _touch(s, k, halves):
    if s.stamp[k] != s.count[CHANGE]:
        s.stamp[k] = s.count[CHANGE]
        s.before[k] = s.load[k]
        s.touched[s.count[TOUCHED]] = k
        s.count[TOUCHED] += 1
    s.load[k] += halves


@compiled
def _begin(s):
    s.count[TOUCHED] = 0
    s.count[CHANGE] += 1


@compiled
def _messages(s, e, rank, sign):
    """Add or remove all messages from and to a rank in one exchange, as it sits now."""
    here, first, step = s.node[rank], _first(s, e, rank), s.step[e]
    for k in range(s.size[e]):
        other = s.node[first + k * step]
        if other != here:
            _route(s, e, here, other, sign)
            _route(s, e, other, here, sign)


@compiled
def _first(s, e, rank):
    """The first rank of the group that a rank is in; two are in one group when it is the same for both."""
    return rank - rank // s.step[e] % s.size[e] * s.step[e]


@compiled
def _account(s):
    """Update sums and largest lengths after the touched loads."""
    links, of_dimension = len(s.shape) * 2 * len(s.coordinates), 2 * len(s.coordinates)
    for t in range(s.count[TOUCHED]):
        k = s.touched[t]
        if s.load[k] == s.before[k] or _counted(s, k, links):
            continue
        link = k % links
        for m in range(len(s.worth)):
            was, now = _length(s, m, link, links, of_dimension, True), _length(s, m, link, links, of_dimension, False)
            if was == now:
                continue
            s.norm[m] += _power(now) - _power(was)
            if was == s.top[m]:
                s.at_top[m] -= 1
            if now == s.top[m]:
                s.at_top[m] += 1
            elif now > s.top[m]:
                s.top[m], s.at_top[m] = now, 1
    _settle(s)


@compiled
def _counted(s, k, links):
    """Whether the same link has also changed in an exchange before that of load `k`: then it is accounted for with that."""
    for other in range(k % links, k, links):
        if s.stamp[other] == s.count[CHANGE] and s.load[other] != s.before[other]:
            return True
    return False


@compiled
def _length(s, m, link, links, of_dimension, before):
    """The length of a link in a term, now or before the change."""
    length, i = 0.0, link // of_dimension
    for e in range(len(s.step)):
        k = e * links + link
        old = before and s.stamp[k] == s.count[CHANGE]
        length += s.unit[m, e, i] * (s.before[k] if old else s.load[k])
    return length


@compiled
def _settle(s):
    """Search the largest length again where no link has the old one any more."""
    links, of_dimension = len(s.shape) * 2 * len(s.coordinates), 2 * len(s.coordinates)
    for m in range(len(s.worth)):
        if s.at_top[m] > 0:
            continue
        top, count = -1.0, 0
        for link in range(links):
            length = _length(s, m, link, links, of_dimension, False)
            if length > top:
                top, count = length, 1
            elif length == top:
                count += 1
        s.top[m], s.at_top[m] = top, count


@compiled
def refresh(s: State) -> None:
    """Sums and largest lengths from the loads: removes accumulated rounding errors."""
    links, of_dimension = len(s.shape) * 2 * len(s.coordinates), 2 * len(s.coordinates)
    s.norm[:] = 0.0
    for m in range(len(s.worth)):
        for link in range(links):
            s.norm[m] += _power(_length(s, m, link, links, of_dimension, False))
    s.at_top[:] = 0
    _settle(s)


@compiled
def settle_down(s: State, slot: np.ndarray) -> None:
    """Put rank r into slot ``slot[r]`` and route every message again."""
    s.rank_in[:] = -1
    for rank in range(len(slot)):
        _sit(s, rank, slot[rank])
    s.load[:] = 0
    _begin(s)
    for e in range(len(s.step)):
        for rank in range(s.P):
            first = _first(s, e, rank)
            for k in range(s.size[e]):
                other = s.node[first + k * s.step[e]]
                if other != s.node[rank]:
                    _route(s, e, s.node[rank], other, 1)
    refresh(s)


@compiled
def _sit(s, rank, slot):
    s.slot[rank] = slot
    s.node[rank] = s.slots[slot]
    s.rank_in[slot] = rank


@compiled
def swap(s: State, a: int, to: int) -> None:
    """Put rank `a` into slot `to`; the rank there takes a's slot."""
    b = s.rank_in[to]
    _begin(s)
    _both(s, a, b, -1)
    _trade(s, a, to)
    _both(s, a, b, 1)
    _account(s)


@compiled
def _both(s, a, b, sign):
    """Add or remove all messages of two ranks, or of one where b is idle; two of one group may swap without touching it."""
    for e in range(len(s.step)):
        if b < 0 or _first(s, e, a) != _first(s, e, b):
            _messages(s, e, a, sign)
            if b >= 0:
                _messages(s, e, b, sign)


@compiled
def _trade(s, a, to):
    b, origin = s.rank_in[to], s.slot[a]
    s.rank_in[origin] = b
    if b >= 0:
        _sit(s, b, origin)
    _sit(s, a, to)


@compiled
def _take_back(s, a, origin, norm, top, at_top):
    """Undo the last swap."""
    for t in range(s.count[TOUCHED]):
        s.load[s.touched[t]] = s.before[s.touched[t]]
    s.norm[:], s.top[:], s.at_top[:] = norm, top, at_top
    _trade(s, a, origin)


@compiled
def cost(s: State) -> float:
    """The objective: the largest lengths of the terms by what they count."""
    value = 0.0
    for m in range(len(s.worth)):
        value += s.worth[m] * s.top[m]
    return value


@compiled
def energy(s: State) -> float:
    """What the annealing follows: the p-norms of the lengths in each term, each as a mean over the links."""
    value, links = 0.0, len(s.load) // len(s.step)
    for m in range(len(s.worth)):
        value += s.worth[m] * (max(s.norm[m], 0.0) / links) ** (1.0 / (1 << DOUBLINGS))
    return value


@compiled
def _random(s):
    """The next 64 random bits (xorshift64*; S. Vigna, ACM Trans. Math. Softw. 42 (2016))."""
    x = s.random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    s.random[0] = x
    return x * np.uint64(2685821657736338717)


@compiled
def _below(s, n):
    return np.int64((_random(s) >> np.uint64(33)) % np.uint64(n))


@compiled
def _uniform(s):
    return np.float64(_random(s) >> np.uint64(11)) / 9007199254740992.0


@compiled
def _proposal(s):
    """A rank and its proposed slot.

    Two of eight stay in the first group (of pencils, the shorter of row and column), one in the last, one goes anywhere; the
    others bring a rank next to a mate of its first group (three) or its last (one).
    """
    rank, kind, mate = _below(s, s.P), _below(s, 8), 0
    wanted = OF_PROPOSAL[kind] % len(s.step)
    for e in range(len(s.step)):
        some = _first(s, e, rank) + _below(s, s.size[e]) * s.step[e]
        if e == wanted:
            mate = some
    if kind < INSIDE:
        return rank, s.slot[mate]
    if kind == ANYWHERE:
        return rank, _below(s, len(s.slots))
    return rank, _beside(s, s.node[mate], s.slot[rank])


@compiled
def _beside(s, node, otherwise):
    """A slot of the node itself or of a neighbour; `otherwise` where there is none."""
    i = _below(s, len(s.shape))
    x = s.coordinates[node, i]
    y = x + _below(s, 3) - 1 if s.T > 1 else x + 2 * _below(s, 2) - 1
    if y < 0 or y >= s.shape[i]:
        if not s.ring[i]:
            return otherwise
        y %= s.shape[i]
    first = s.place[node + (y - x) * s.stride[i]]
    return otherwise if first < 0 else first + _below(s, s.T)


@compiled
def _remember(s, now):
    value = cost(s)
    if value < s.best[0] - 1e-9 or (value < s.best[0] + 1e-9 and now < s.best[1] - 1e-9):
        s.best[0], s.best[1] = value, now
        s.best_slot[:] = s.slot


@compiled
def remember(s: State) -> None:
    """Keep the current placement if it is the best so far, by cost, then by energy."""
    _remember(s, energy(s))


@compiled
def anneal(s: State, steps: int, hot: float, cold: float) -> None:
    """`steps` proposals while the temperature falls from `hot` to `cold`; the best seen is kept."""
    ratio = (cold / hot) ** (1.0 / max(steps, 1))
    temperature, now = hot, energy(s)
    norm, top, at_top = s.norm.copy(), s.top.copy(), s.at_top.copy()
    for _ in range(steps):
        temperature *= ratio
        a, to = _proposal(s)
        if s.slots[to] == s.node[a]:
            continue
        norm[:], top[:], at_top[:] = s.norm, s.top, s.at_top
        origin = s.slot[a]
        swap(s, a, to)
        then = energy(s)
        if then <= now or _uniform(s) < np.exp((now - then) / temperature):
            now = then
            _remember(s, now)
        else:
            _take_back(s, a, origin, norm, top, at_top)
