"""Write `mapper/data/ring_maps.txt`: for each ring and line, the map of rows and columns with the least joint load.

A map puts r x c tasks, rows of r and columns of c, on the n = r c nodes of a ring (or of an open line). Its joint load is
the largest load of a link if rows and columns exchange at once.
Up to `EXHAUSTIVE` nodes, the search tries every map. It first fills the rows, each with the lowest free node, and then the
columns with one node of each row. A branch ends if its rows and columns already carry as much as the best known map. For
larger rings, annealing improves the best digit pattern by swaps of two nodes, without a claim of optimality.

Run ``python -m pencilmap.scripts.maintenance.ring_maps``; about a quarter of an hour.
"""

import sys
from pathlib import Path

import numpy as np
from numba import njit

from pencilmap.mapper.searches.product_search import patterns
from pencilmap.model.base.factors import divisors
from pencilmap.model.network.torus import ring_link_loads
from pencilmap.model.placement.pattern import Pattern

PATH = Path(__file__).parents[2] / "mapper" / "data" / "ring_maps.txt"
EXHAUSTIVE = {True: 15, False: 14}  # the largest ring and line with an exhaustive search, in nodes
LONGEST = 32
SWAPS, SEEDS = 60_000, 4
HEAD = """# Written by scripts/maintenance/ring_maps.py: kind, extents of a map (row x column), its joint load times
# r c / 2, "optimal" where every map was tried, and the map: rows separated by /, nodes of a row by a point; '=' where no
# map beats digit patterns."""


def pair_loads(n: int, ring: bool) -> np.ndarray:
    """Return the halves on the 2 n links of a line from one message each way between two nodes: shape (n, n, 2n)."""
    legs = np.zeros((n, n, n, n), dtype=np.int64)
    for a in range(n):
        for b in range(n):
            legs[a, b, a, b] = legs[a, b, b, a] = int(a != b)
    return ring_link_loads(legs, ring).reshape(n, n, 2 * n)


def joint(cells: np.ndarray, loads: np.ndarray) -> int:
    """Return the joint load of a map, shape (c, r), in units of 2 / (r c) on the m scale."""
    c, r = cells.shape
    total = sum(c * loads[row[:, None], row].sum(axis=(0, 1)) for row in cells)
    total = total + sum(r * loads[column[:, None], column].sum(axis=(0, 1)) for column in cells.T)
    return int(total.max()) // 2  # the sum counts every pair twice


@njit(cache=True)
def _put(load, weight, part):
    """Add the loads `part` times a weight; a loop, because numba compiles sums of whole arrays for seconds."""
    for link in range(load.size):
        load[link] += weight * part[link]


@njit(cache=True)
def _top(load):
    most = load[0]
    for x in load:
        most = max(most, x)
    return most


@njit(cache=True)
def _copy(cells, found):
    for q in range(cells.shape[0]):
        for p in range(cells.shape[1]):
            found[q, p] = cells[q, p]


@njit(cache=True)
def _add(load, loads, cells, q, p, node, weight, across):
    """Add the pairs of `node` with the earlier members of its row, or (`across`) of its column."""
    if across:
        for k in range(q):
            _put(load, weight, loads[cells[k, p], node])
    else:
        for k in range(p):
            _put(load, weight, loads[cells[q, k], node])


@njit
def _columns(load, loads, rows, cells, taken, q, p, best, found):
    """Fill column p from row q on; every column starts with the node of row 0."""
    c, r = cells.shape
    if p == r:
        best[0] = _top(load)
        _copy(cells, found)
        return
    if q == c:
        _columns(load, loads, rows, cells, taken, 1, p + 1, best, found)
        return
    for k in range(r):
        if not taken[q, k]:
            cells[q, p] = rows[q, k]
            _add(load, loads, cells, q, p, rows[q, k], r, True)
            if _top(load) < best[0]:
                taken[q, k] = True
                _columns(load, loads, rows, cells, taken, q + 1, p, best, found)
                taken[q, k] = False
            _add(load, loads, cells, q, p, rows[q, k], -r, True)


@njit
def _rows(load, loads, rows, used, q, p, best, found, cells, taken):
    """Fill row q from its place p on, nodes in rising order."""
    c, r = rows.shape
    n = c * r
    if q == c:
        for k in range(r):
            cells[0, k] = rows[0, k]
        _columns(load, loads, rows, cells, taken, 1, 0, best, found)
        return
    first = 0 if p == 0 else rows[q, p - 1] + 1
    for node in range(first, n):
        if used[node]:
            continue
        rows[q, p] = node
        _add(load, loads, rows, q, p, node, c, False)
        if _top(load) < best[0]:
            used[node] = True
            if p + 1 == r:
                _rows(load, loads, rows, used, q + 1, 0, best, found, cells, taken)
            else:
                _rows(load, loads, rows, used, q, p + 1, best, found, cells, taken)
            used[node] = False
        _add(load, loads, rows, q, p, node, -c, False)
        if p == 0:  # every row starts with the lowest free node
            return


def exhaustive(start: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Return the best map of all; `start` if no map is better."""
    c, r = start.shape
    found, best = start.copy(), np.array([joint(start, loads)])
    load, rows, used = np.zeros(2 * c * r, dtype=np.int64), np.zeros((c, r), dtype=np.int64), np.zeros(c * r, dtype=np.bool_)
    _rows(load, loads, rows, used, 0, 0, best, found, rows.copy(), np.zeros((c, r), dtype=np.bool_))
    return found


@njit(cache=True)
def _all_of(load, loads, cells, q, p, sign, other):
    """Add or remove all pairs of the node at (q, p), except the pairs with the node `other`."""
    c, r = cells.shape
    for k in range(r):
        if k != p and cells[q, k] != other:
            _put(load, sign * c, loads[cells[q, k], cells[q, p]])
    for k in range(c):
        if k != q and cells[k, p] != other:
            _put(load, sign * r, loads[cells[k, p], cells[q, p]])


@njit(cache=True)
def _energy(load, scale):
    total = 0.0
    for x in load:
        total += (x / scale) ** 16
    return total ** (1 / 16)


@njit(cache=True)
def _anneal(cells, loads, swaps, seed):
    np.random.seed(seed)
    c, r = cells.shape
    load = np.zeros(2 * c * r, dtype=np.int64)
    for q in range(c):
        for p in range(r):
            for k in range(p):
                _put(load, c, loads[cells[q, k], cells[q, p]])
            for k in range(q):
                _put(load, r, loads[cells[k, p], cells[q, p]])
    scale = float(_top(load))
    now, best, found = _energy(load, scale), _top(load), cells.copy()
    for step in range(swaps):
        temperature = 0.02 * 0.01 ** (step / swaps)
        a, b = np.random.randint(c * r), np.random.randint(c * r)
        if a == b:
            continue
        before = load.copy()
        qa, pa, qb, pb = a // r, a % r, b // r, b % r
        for sign in (-1, 1):
            _all_of(load, loads, cells, qa, pa, sign, -1)
            _all_of(load, loads, cells, qb, pb, sign, cells[qa, pa])
            if sign < 0:
                cells[qa, pa], cells[qb, pb] = cells[qb, pb], cells[qa, pa]
        then = _energy(load, scale)
        if then <= now or np.random.random() < np.exp((now - then) / temperature):
            now = then
            if _top(load) < best:
                best = _top(load)
                found[:] = cells
        else:
            cells[qa, pa], cells[qb, pb] = cells[qb, pb], cells[qa, pa]
            load[:] = before
    return found


def best_pattern(n: int, r: int, loads: np.ndarray) -> np.ndarray:
    """Return the map of the digit pattern with the least joint load: int array, shape (c, r)."""
    return min((cells_of(p) for p in patterns(n) if p.extent("r") == r), key=lambda cells: joint(cells, loads))


def cells_of(pattern: Pattern) -> np.ndarray:
    """Return the node of member p of row q, at [q, p]."""
    cells = np.empty((pattern.extent("c"), pattern.extent("r")), dtype=np.int64)
    cells[pattern.index("c"), pattern.index("r")] = np.arange(pattern.n)
    return cells


def best_map(n: int, r: int, ring: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the best digit pattern and the best map, shape (c, r)."""
    loads = pair_loads(n, ring)
    start = best_pattern(n, r, loads)
    tries = [start, *(_anneal(start.copy(), loads, SWAPS, seed) for seed in range(SEEDS))]
    found = min(tries, key=lambda cells: joint(cells, loads))
    return start, exhaustive(found, loads) if n <= EXHAUSTIVE[ring] else found


def main() -> None:
    """Write the table; maps no better than a digit pattern are left out, and so are those of long rows: turn the map."""
    lines = [HEAD]
    for n in range(4, LONGEST + 1):
        for kind, ring in (("ring", True), ("line", False)):
            loads = pair_loads(n, ring)
            for r in (r for r in divisors(n) if r > 1 and r * r <= n):
                start, found = best_map(n, r, ring)
                least = joint(found, loads)
                better = least < joint(start, loads)
                text = "/".join(".".join(map(str, row)) for row in found) if better else "="
                claim = "optimal" if n <= EXHAUSTIVE[ring] else "found"
                lines.append(f"{kind} {r}x{n // r} {least} {claim} {text}")
                print(lines[-1], f"  digits {2 * joint(start, loads) / n:.3f}, map {2 * least / n:.3f}", file=sys.stderr,
                      flush=True)
    PATH.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
