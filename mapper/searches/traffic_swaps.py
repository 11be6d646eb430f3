"""Link loads of the traffic of a program while ranks change places: the inner loop of the search.

Idea: a change of places moves only the messages of two ranks. Their routes come from tables, the loads of changed links are
noted, and a rejected change is undone from these notes. The energy is the sum over the phases of the p-norm of the loads of
the links. Annealing at a growing p leads from bytes times hops (p = 1) to the busiest links. The best placement by the
busiest links themselves is kept.
Cost: for a swap of two ranks their partners times the links of a route; compiled by numba, cached on disk if possible.
"""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from pencilmap.mapper.searches.routed_swaps import compiled, raised
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.routing.routes import Routes
from pencilmap.model.traffic.program import Traffic

SWAPS_OF_RANK = 40_000  # most swaps of a search for each rank
MOST_NEAR, FAR = 1_000_000, 2  # entries of the tables of routes in a cache; time of others relative to these
CHECK = 256  # swaps between two looks at the busiest links
HOT, COLD = 1.0, 3e-2  # first and last temperature of a stage, in mean changes of energy

State = namedtuple("State", "host router up down host_load at shape stride first start link load rows other phase sent got "
                            "place rank_in near")
State.__doc__ = """The arrays of the loop: those of `Routes`, and

rows : int array, shape (P + 1,)
    First partner of each rank in `other`.
other, phase, sent, got : arrays, one entry for each partner of a rank in a phase
    The partner, the phase, bytes to and from the partner.
place : int array, shape (S,)
    Place of each rank, then of each empty place, which is a rank without messages.
rank_in : int array, shape (S,)
    Rank in each place.
near : int array, shape (H, m)
    For each host the hosts nearby, as the number of their first places.
"""


@compiled
def _of_rank(width, r, skip, sign, rows, other, phase, sent, got, place, host, router, up, down, host_load, at, shape,
             stride, first, start, link, load, lane, change, count):
    """List the loads that change if the messages of rank r are added (+1) or removed (-1), except to and from rank `skip`.

    Write the places of the loads to `lane` and their changes to `change` from `count` on; return the new number. All in one
    function: calls with so many arrays take longer than a message.
    """
    for j in range(rows[r], rows[r + 1]):
        if other[j] == skip or host[place[r]] == host[place[other[j]]]:
            continue
        base = phase[j] * width
        for back in range(2):
            amount = sign * (got[j] if back else sent[j])
            if amount == 0.0:
                continue
            a, b = (place[other[j]], place[r]) if back else (place[r], place[other[j]])
            here, there = router[a], router[b]
            if up[a] >= 0:
                lane[count], lane[count + 1] = base + up[a], base + down[b]
                change[count] = change[count + 1] = amount * host_load
                count += 2
            if here == there:
                continue
            node = 0
            for i in range(len(shape)):
                node += at[here, i] * stride[i]
            for i in range(len(shape)):
                x, y = at[here, i], at[there, i]
                if x != y:
                    row = first[i] + x * shape[i] + y
                    line = base + node - x * stride[i]
                    for e in range(start[row], start[row + 1]):
                        lane[count], change[count] = line + link[e], amount * load[e]
                        count += 1
                    node += (y - x) * stride[i]
    return count


@compiled
def _fill(loads, sums, k, rows, other, phase, sent, got, place, host, router, up, down, host_load, at, shape, stride, first,
          start, link, load, lane, change, before):
    """Route all messages again. `got` is 0, so that each message is routed once."""
    loads[:] = 0.0
    flat, width = loads.ravel(), loads.shape[1]
    for r in range(len(rows) - 1):
        count = _of_rank(width, r, -1, 1.0, rows, other, phase, sent, got, place, host, router, up, down, host_load, at,
                         shape, stride, first, start, link, load, lane, change, 0)
        for x in range(count):
            flat[lane[x]] += change[x]
    for f in range(loads.shape[0]):
        sums[f] = 0.0
        for x in range(loads.shape[1]):
            sums[f] += raised(loads[f, x], k)


@compiled
def _put(flat, width, sums, k, lane, change, before, count):
    """Change the loads in a list one after the other, and the sums; note the loads before."""
    single, total = len(sums) == 1, 0.0
    for x in range(count):
        old = flat[lane[x]]
        new = max(old + change[x], 0.0)
        before[x], flat[lane[x]] = old, new
        for _ in range(k):
            new *= new
            old *= old
        if single:
            total += new - old
        else:
            sums[lane[x] // width] += new - old
    sums[0] += total


@compiled
def _tops(loads, scale):
    """Return the sum over the phases of the busiest links."""
    total = 0.0
    for f in range(loads.shape[0]):
        top = 0.0
        for x in range(loads.shape[1]):
            top = max(top, loads[f, x])
        total += top * scale[f]
    return total


@compiled
def _energy(sums, scale, k):
    total = 0.0
    for f in range(len(sums)):
        total += scale[f] * max(sums[f], 0.0) ** (1.0 / (1 << k))
    return total


@compiled
def _swap(place, rank_in, r, t):
    place[r], place[t] = place[t], place[r]
    rank_in[place[r]], rank_in[place[t]] = r, t


@compiled
def _anneal(loads, sums, scale, k, steps, hot, cold, seed, best, best_cost, rows, other, phase, sent, got, place, rank_in,
            near, per_host, host, router, up, down, host_load, at, shape, stride, first, start, link, load, lane, change,
            before):
    """Swap ranks at temperatures from hot to cold. Update `best`, the places with the least cost; return this cost."""
    np.random.seed(seed)
    P, S = len(rows) - 1, len(place)
    energy, temperature = _energy(sums, scale, k), hot
    sums_before = sums.copy()
    n_phases, flat, width = len(sums), loads.ravel(), loads.shape[1]
    for step in range(steps):
        if step % CHECK == 0:
            temperature = hot * (cold / hot) ** (step / steps)
            cost = _tops(loads, scale)
            if cost < best_cost * (1 - 1e-9):
                best_cost = cost
                best[:] = place
        r = np.random.randint(P)
        if np.random.randint(2) == 0 or rows[r] == rows[r + 1]:
            t = rank_in[np.random.randint(S)]
        else:
            partner = other[rows[r] + np.random.randint(rows[r + 1] - rows[r])]
            home = place[partner] // per_host
            beside = near[home, np.random.randint(near.shape[1])] * per_host + np.random.randint(per_host)
            t = rank_in[min(beside, S - 1)]
        if t == r or host[place[r]] == host[place[t]]:
            continue
        for f in range(n_phases):
            sums_before[f] = sums[f]
        count = 0
        for turn in range(4):  # remove the messages of both, swap, add them
            if turn == 2:
                _swap(place, rank_in, r, t)
            who, skip = (t, r) if turn % 2 else (r, -1)
            if who < P:
                count = _of_rank(width, who, skip, -1.0 if turn < 2 else 1.0, rows, other, phase, sent, got, place, host,
                                 router, up, down, host_load, at, shape, stride, first, start, link, load, lane, change,
                                 count)
        _put(flat, width, sums, k, lane, change, before, count)
        after = _energy(sums, scale, k)
        if after <= energy or np.random.random() < np.exp((energy - after) / temperature):
            energy = after
        else:
            for x in range(count - 1, -1, -1):
                flat[lane[x]] = before[x]
            for f in range(n_phases):
                sums[f] = sums_before[f]
            _swap(place, rank_in, r, t)
    cost = _tops(loads, scale)
    if cost < best_cost * (1 - 1e-9):
        best_cost = cost
        best[:] = place
    return best_cost


@dataclass
class Swaps:
    """The search for one program on the places of a job.

    Parameters
    ----------
    traffic : Traffic
    tables : Routes
    per_host : int
        Places of each host, which follow one another.
    """

    traffic: Traffic
    tables: Routes
    per_host: int

    def __post_init__(self) -> None:
        self.P, self.S = self.traffic.n_ranks, len(self.tables.host)
        phases = [phase.bytes for phase in self.traffic.phases if phase.bytes.nnz]
        self.F = max(1, len(phases))
        self._partners(phases)
        t = self.tables
        whole = [np.ascontiguousarray(array, np.int64) for array in (t.host, t.router, t.up, t.down, t.at, t.shape,
                                                                     t.stride, t.first, t.start, t.link)]
        self._routes = (*whole[:4], float(t.host_load), *whole[4:], np.ascontiguousarray(t.load, float))
        self._near = self._nearby()
        self._loads, self._sums = np.zeros((self.F, t.n_links)), np.zeros(self.F)
        most = int(np.sort(np.diff(self.rows))[-2:].sum()) if self.P > 1 else 1
        longest = sum(int(np.diff(t.start[first:first + n * n + 1]).max(initial=0))
                      for first, n in zip(t.first, t.shape)) + 2
        self.links_of_swap = 4 * max(1.0, np.diff(self.rows).mean()) * 2 * self._mean_links()
        room = 4 * most * longest + 16
        self._notes = np.empty(room, np.int64), np.empty(room), np.empty(room)

    def _partners(self, phases) -> None:
        from scipy.sparse import coo_array  # slow to import

        parts = []
        for phase, matrix in enumerate(phases):
            m = matrix.tocoo()
            both = coo_array((np.ones(2 * m.nnz), (np.r_[m.row, m.col], np.r_[m.col, m.row])), shape=m.shape).tocsr()
            r, o = both.nonzero()
            csr = matrix.tocsr()
            sent, got = np.asarray(csr[r, o]).ravel(), np.asarray(csr[o, r]).ravel()
            kept = r != o
            parts.append((r[kept], o[kept], np.full(int(kept.sum()), phase), sent[kept], got[kept]))
        r, o, f, sent, got = (np.concatenate(column) for column in zip(*parts)) if parts else [np.zeros(0, np.int64)] * 5
        order = np.argsort(r, kind="stable")
        self.rows = np.concatenate([[0], np.cumsum(np.bincount(r, minlength=self.P))]).astype(np.int64)
        self.other, self.phase = o[order].astype(np.int64), f[order].astype(np.int64)
        self.sent, self.got = sent[order].astype(float), got[order].astype(float)

    def _mean_links(self) -> float:
        t = self.tables
        return float(sum(np.diff(t.start[first:first + n * n + 1]).mean() for first, n in zip(t.first, t.shape))) + 1

    def _nearby(self) -> Ints:
        """Return for each host the hosts with the fewest links to it, itself if it has several places."""
        t, most = self.tables, 8
        routers = t.router[::self.per_host]
        H = len(routers)
        if H > 4096:
            return np.minimum(np.arange(H)[:, None] + np.arange(most)[None, :] - most // 2, H - 1).clip(0)
        found = np.empty((H, min(most, H)), np.int64)
        for some in range(0, H, 512):
            hops = t.hops(routers[some:some + 512], routers).astype(float)
            apart = np.arange(H)[None, :] - np.arange(some, some + len(hops))[:, None]
            hops += (np.abs(apart) + 0.5 * (apart > 0)) / (4 * H)  # all different
            if self.per_host == 1:
                hops[np.arange(len(hops)), np.arange(some, some + len(hops))] = np.inf if H > 1 else 0
            first = np.argpartition(hops, found.shape[1] - 1, axis=1)[:, :found.shape[1]]
            order = np.argsort(np.take_along_axis(hops, first, axis=1), axis=1)
            found[some:some + 512] = np.take_along_axis(first, order, axis=1)
        return found

    def places(self, of_rank: Ints) -> Ints:
        """Return the places of the ranks, then the empty places: int array, shape (S,)."""
        empty = np.ones(self.S, dtype=bool)
        empty[of_rank] = False
        return np.concatenate([of_rank, np.flatnonzero(empty)]).astype(np.int64)

    def loads(self, of_rank: Ints) -> Floats:
        """Return the load of every link in each phase: float array, shape (F, links)."""
        found, sums = np.zeros_like(self._loads), np.zeros(self.F)
        _fill(found, sums, 0, self.rows, self.other, self.phase, self.sent, np.zeros_like(self.got), self.places(of_rank),
              *self._routes, *self._notes)
        return found

    def cost(self, of_rank: Ints) -> float:
        """Return the sum over the phases of the load of the busiest link."""
        return float(self.loads(of_rank).max(axis=1).sum())

    def improved(self, of_rank: Ints, steps: int, seed: int, stages: tuple[int, ...], hot: float = HOT) -> Ints:
        """Return places with no larger cost.

        Parameters
        ----------
        of_rank : int array, shape (P,)
            Places to begin from.
        steps : int
            Swaps to try.
        seed : int
        stages : tuple of int
            Exponents of the norm as powers of two: 0 is the sum over all links.
        hot : float
            First temperature, in mean changes of energy.
        """
        place = self.places(of_rank)
        rank_in = np.empty_like(place)
        rank_in[place] = np.arange(self.S)
        best, best_cost = place.copy(), self.cost(of_rank)
        for number, k in enumerate(stages):
            scale = self.loads(place[:self.P]).max(axis=1)
            scale[scale == 0] = 1.0
            sent, got = self.sent / scale[self.phase], self.got / scale[self.phase]
            _fill(self._loads, self._sums, k, self.rows, self.other, self.phase, sent, np.zeros_like(got), place,
                  *self._routes, *self._notes)
            temperature = hot * self._typical(place, rank_in, scale, k, seed, sent, got)
            best_cost = _anneal(self._loads, self._sums, scale, k, max(1, steps // len(stages)), temperature,
                                temperature * COLD, seed + number, best, best_cost, self.rows, self.other, self.phase,
                                sent, got, place, rank_in, self._near, self.per_host, *self._routes, *self._notes)
        return best[:self.P].copy()

    def _typical(self, place, rank_in, scale, k, seed, sent, got):
        """Return the mean change of the energy of a few swaps, accepted and then undone."""
        energy, random, total = _energy(self._sums, scale, k), np.random.default_rng(seed), 0.0
        tries = 64
        loads, sums = self._loads.copy(), self._sums.copy()
        here, inside = place.copy(), rank_in.copy()
        for _ in range(tries):
            before = _energy(sums, scale, k)
            _anneal(loads, sums, scale, k, 1, 1e300, 1e300, int(random.integers(1 << 30)), place.copy(), 0.0, self.rows,
                    self.other, self.phase, sent, got, here, inside, self._near, self.per_host, *self._routes,
                    *self._notes)
            total += abs(_energy(sums, scale, k) - before)
        return max(total / tries, 1e-12 * energy, 1e-300)


def steps_for(swaps: Swaps, link_changes: float) -> int:
    """Return the swaps that change about so many loads of links."""
    far = FAR if len(swaps.tables.link) > MOST_NEAR else 1
    each = swaps.links_of_swap * far + swaps.F * swaps.tables.n_links / CHECK
    return max(1000, min(int(link_changes / each), SWAPS_OF_RANK * swaps.P))
