"""Write `model/data/optima.csv`: the true optima of tori and meshes of up to 16 tasks, by exhaustive search.

Idea: for each shape, grid and objective (exchanges in sequence, or both at once), try all placements up to symmetry. First
fill the rows, each with the lowest free slot. Of the divisions into rows that a symmetry of the machine maps to each other,
only the first is kept. Then fill the columns with one slot of each row. A branch ends if its load, with the least load of
columns alone, is no less than the best known load. Rows also end if a plane that cuts the machine excludes them. With x_q
tasks of row q on one side, the columns send least if the columns with most tasks there have one task of every row that has
enough tasks (the conjugate partition). The search uses no bound of `pencilmap.model.bounds.every_placement`, so that the
table can test these bounds.

The symmetries are moves along rings, reflections, and the reversed order of the dimensions, which reverses every route.
Slots of a node are alike, and a grid RxC has the optimum of CxR.

Run ``python -m pencilmap.scripts.maintenance.optima``; about five minutes. With shapes as arguments, the program only
searches these and prints the result.
"""

import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product as cartesian
from pathlib import Path
from time import process_time

import numpy as np
from numba import njit

from pencilmap.mapper.searches.annealing import Budget, search
from pencilmap.mapper.searches.default_order import default
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.factors import divisors
from pencilmap.model.bounds.known_optima import OBJECTIVES, line_of, reduced_torus
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product
from pencilmap.model.traffic.objective import at_once, in_sequence

PATH = Path(__file__).parents[2] / "model" / "data" / "optima.csv"
MOST_TASKS = 16
MOST_STEPS = 400_000_000  # limit of one search
LONG, SWAPS = 12, 20_000    # from so many tasks on, the search starts from the result of the local search
HEAD = """\
# Written by scripts/maintenance/optima.py, every placement tried: the least sum of the worst row and column length, and the
# least joint length; of each a placement that has it, rows separated by /, nodes of a row by a point.
torus,tasks_per_node,grid,sequence,placement,joint,placement_joint
"""


def machines() -> Iterator[tuple[Torus, int]]:
    """Yield every torus and mesh, up to symmetry, with every number of tasks on a node."""
    for shape in sorted(_shapes(MOST_TASKS), key=lambda shape: (np.prod(shape), len(shape), shape)):
        seen = set()
        for wrap in cartesian((True, False), repeat=len(shape)):
            torus = reduced_torus(Torus(shape, wrap))
            if torus.shape == shape and torus not in seen:
                seen.add(torus)
                yield from ((torus, T) for T in range(1, MOST_TASKS // torus.n_nodes + 1))


def _shapes(most):
    yield from ((n,) for n in range(2, most + 1))
    for n in range(2, most // 2 + 1):
        yield from ((n, *rest) for rest in _shapes(most // n))


def pair_loads(torus: Torus) -> Ints:
    """Return the half messages on the links from one message each way between two nodes, in dimension order, ties split.

    int array, shape (N, N, links), without links that no message uses.
    """
    N, d = torus.n_nodes, torus.n_dimensions
    where = torus.coordinates(np.arange(N))
    found = np.zeros((N, N, d, N, 2), dtype=np.int32)
    for a, b in cartesian(range(N), repeat=2):
        at = where[a].copy()
        for i, n in enumerate(torus.shape):
            ahead = int(where[b, i] - at[i]) % n
            ways = [(0, ahead), (1, n - ahead)] if ahead else []
            if not torus.is_ring(i):
                ways = ways[:1] if where[b, i] > at[i] else ways[1:]
                ways = [(way, abs(int(where[b, i] - at[i]))) for way, _ in ways]
            hops = min((count for _, count in ways), default=0)
            ways = [(way, count) for way, count in ways if count == hops]
            for way, count in ways:
                for hop in range(count):
                    node = at.copy()
                    node[i] = (at[i] + (hop if way == 0 else -hop)) % n
                    for pair in ((a, b), (b, a)):
                        found[(*pair, i, int(torus.node(node)), way)] += 2 // len(ways)
            at[i] = where[b, i]
    flat = found.reshape(N, N, -1)
    return np.ascontiguousarray(flat[:, :, flat.any(axis=(0, 1))])


def symmetries(torus: Torus) -> Ints:
    """Return the image of each node: int array, shape (symmetries, N), the identity first."""
    shape, where = np.array(torus.shape), torus.coordinates(np.arange(torus.n_nodes))
    moves = [range(n) if torus.is_ring(i) else (0,) for i, n in enumerate(torus.shape)]
    turned = torus.shape == torus.shape[::-1] and all(
        torus.is_ring(i) == torus.is_ring(torus.n_dimensions - 1 - i) for i in range(torus.n_dimensions))
    found = []
    for back in (False, True)[:1 + turned]:
        for mirrored in cartesian((False, True), repeat=torus.n_dimensions):
            for move in cartesian(*moves):
                new = (np.where(mirrored, shape - 1 - where, where) + move) % shape
                found.append(torus.node(new[:, ::-1] if back else new))
    return np.unique(np.array(found), axis=0) if torus.n_nodes > 1 else np.array(found)


def cuts(torus: Torus) -> tuple[Ints, Ints]:
    """Return cuts of lines anywhere and of rings into halves: nodes on one side, shape (cuts, N), and links cut each way."""
    where, sides, links = torus.coordinates(np.arange(torus.n_nodes)), [], []
    for i, n in enumerate(torus.shape):
        ring = torus.is_ring(i)
        for start, length in cartesian(range(n) if ring else (0,), (n // 2,) if ring else range(1, n)):
            sides.append((where[:, i] - start) % n < length)
            links.append(torus.lines(i) * (2 if ring else 1))
    return np.array(sides).astype(np.int64), np.array(links)


@njit(cache=True)
def _gives_up(rows, nodes, sides, links, most, joint, best):
    """Whether the planes that cut the machine exclude an improvement by any columns of these rows."""
    c, r = rows.shape
    inside = np.empty(c, dtype=np.int64)
    needed = 0
    for k in range(len(links)):
        inside[:] = 0
        across, other = 0, 0
        for q in range(c):
            for p in range(r):
                inside[q] += sides[k, nodes[rows[q, p]]]
            across += inside[q] * (r - inside[q])
        for p in range(r):
            there = 0
            for q in range(c):
                there += inside[q] > p
            other += there * (c - there)
        if joint:
            needed = max(needed, -(-2 * (c * across + r * other) // links[k]))
        else:
            needed = max(needed, c * most + r * -(-2 * other // links[k]))
    return needed >= best


@njit(cache=True)
def _add(load, loads, nodes, members, count, slot, weight):
    """Add the pairs of `slot` with the first `count` members of its group."""
    for k in range(count):
        pair = loads[nodes[members[k]], nodes[slot]]
        for i in range(len(load)):
            load[i] += weight * pair[i]


@njit(cache=True)
def _worth(load, other, r, c, joint, least):
    """The objective of both loads, times r c / 2 and the tasks on a node; the other exchange alone has at least `least`."""
    if joint:
        most = 0
        for i in range(len(load)):
            most = max(most, c * load[i] + r * other[i])
        return most
    rows, columns = 0, least
    for i in range(len(load)):
        rows, columns = max(rows, load[i]), max(columns, other[i])
    return c * rows + r * columns


@njit(cache=True)
def _is_first(row, images):
    """Whether no symmetry maps a division into rows to an earlier division."""
    n = len(row)
    new = np.empty(n, dtype=np.int64)
    for g in range(images.shape[0]):
        new[:] = -1
        rows = 0
        for v in range(n):
            there = row[images[g, v]]
            if new[there] < 0:
                new[there] = rows
                rows += 1
            if new[there] != row[v]:
                if new[there] < row[v]:
                    return False
                break
    return True


@njit
def _alone(load, loads, nodes, rows, used, q, p, best):
    """The minimum over rows alone of the largest load."""
    c, r = rows.shape
    if q == c:
        best[0] = load.max()
        return
    first = 0 if p == 0 else rows[q, p - 1] + 1
    for slot in range(first, c * r):
        if used[slot] or (slot and nodes[slot - 1] == nodes[slot] and not used[slot - 1]):
            continue
        rows[q, p] = slot
        _add(load, loads, nodes, rows[q], p, slot, 1)
        if load.max() < best[0]:
            used[slot] = True
            _alone(load, loads, nodes, rows, used, q + (p + 1) // r, (p + 1) % r, best)
            used[slot] = False
        _add(load, loads, nodes, rows[q], p, slot, -1)
        if p == 0:
            return


@njit
def _columns(load, other, loads, nodes, rows, cells, taken, q, p, joint, least, best, found):
    """Fill column p from row q on; every column starts with the slot of row 0. `load` is the load of the rows."""
    c, r = cells.shape
    if p == r:
        best[0] = _worth(load, other, r, c, joint, 0)
        found[:] = cells
        return
    if q == c:
        _columns(load, other, loads, nodes, rows, cells, taken, 1, p + 1, joint, least, best, found)
        return
    for k in range(r):
        slot = rows[q, k]
        if taken[q, k] or (k and nodes[rows[q, k - 1]] == nodes[slot] and not taken[q, k - 1]):
            continue
        cells[q, p] = slot
        _add(other, loads, nodes, cells[:, p], q, slot, 1)
        best[1] -= 1
        if _worth(load, other, r, c, joint, least) < best[0] and best[1] > 0:
            taken[q, k] = True
            _columns(load, other, loads, nodes, rows, cells, taken, q + 1, p, joint, least, best, found)
            taken[q, k] = False
        _add(other, loads, nodes, cells[:, p], q, slot, -1)


@njit
def _rows(load, none, loads, nodes, sides, links, rows, row, images, q, p, joint, least, best, found, cells, taken):
    """Fill row q from its place p on, slots in rising order; `row` is the row of each slot, or -1. `none` is no load."""
    c, r = rows.shape
    if q == c:
        if _is_first(row, images) and not _gives_up(rows, nodes, sides, links, load.max(), joint, best[0]):
            cells[0] = rows[0]
            _columns(load, np.zeros_like(load), loads, nodes, rows, cells, taken, 1, 0, joint, least, best, found)
        return
    first = 0 if p == 0 else rows[q, p - 1] + 1
    for slot in range(first, c * r):
        if row[slot] >= 0 or (slot and nodes[slot - 1] == nodes[slot] and row[slot - 1] < 0):
            continue
        rows[q, p] = slot
        _add(load, loads, nodes, rows[q], p, slot, 1)
        if _worth(load, none, r, c, joint, least) < best[0] and best[1] > 0:
            row[slot] = q
            _rows(load, none, loads, nodes, sides, links, rows, row, images, q + (p + 1) // r, (p + 1) % r, joint, least,
                  best, found, cells, taken)
            row[slot] = -1
        _add(load, loads, nodes, rows[q], p, slot, -1)
        if p == 0:  # every row starts with the lowest free slot
            return


def whole(placed: Product | Mapping) -> Mapping:
    """Return the place of every rank."""
    return placed.mapping() if isinstance(placed, Product) else placed


def _total(loads, nodes, cells):
    rows = sum(loads[np.ix_(nodes[row], nodes[row])].sum(axis=(0, 1)) for row in cells) // 2
    columns = sum(loads[np.ix_(nodes[column], nodes[column])].sum(axis=(0, 1)) for column in cells.T) // 2
    return rows, columns


def optimum(torus: Torus, tasks_per_node: int, R: int, C: int, joint: bool) -> tuple[Fraction, Ints] | None:
    """Return the least length of all placements and the nodes of one such placement: int array, shape (C, R).

    None if the search is too long."""
    grid, site = ProcessGrid(R, C), Site(torus, tasks_per_node)
    loads, nodes = pair_loads(torus), np.repeat(np.arange(torus.n_nodes), tasks_per_node)
    wanted = at_once(2) if joint else in_sequence(2)
    mappings = [whole(default("", site, grid)), best_product(torus, grid, tasks_per_node, wanted).mapping()]
    if R * C >= LONG:
        mappings.append(search(site, grid, budget=Budget(SWAPS, None), wanted=wanted).mapping)
    best, found = np.array([1 << 40, MOST_STEPS]), np.zeros((C, R), dtype=np.int64)
    for mapping in mappings:
        cells = (mapping.node_of_rank * tasks_per_node + mapping.slot_of_rank).reshape(C, R)
        rows, columns = _total(loads, nodes, cells)
        worth = (C * rows + R * columns).max() if joint else C * rows.max() + R * columns.max()
        if worth < best[0]:
            best[0], found = worth, cells.copy()
    load, least = np.zeros(loads.shape[2], dtype=loads.dtype), np.array([1 << 40])
    _alone(load, loads, nodes, np.zeros((R, C), dtype=np.int64), np.zeros(R * C, dtype=np.bool_), 0, 0, least)
    images = symmetries(torus) if tasks_per_node == 1 else np.arange(R * C)[None]
    cells = np.zeros((C, R), dtype=np.int64)
    _rows(load, np.zeros_like(load), loads, nodes, *cuts(torus), cells.copy(), np.full(R * C, -1), images, 0, 0, joint,
          least[0], best, found, cells, np.zeros((C, R), dtype=np.bool_))
    return (Fraction(2 * int(best[0]), R * C * tasks_per_node), nodes[found]) if best[1] > 0 else None


def main() -> None:
    """Write the table, or print the lines of the shapes named."""
    named, lines = sys.argv[1:], []
    for torus, T in machines():
        if named and str(torus) not in named:
            continue
        P = torus.n_nodes * T
        for R in (R for R in divisors(P) if R > 1 and R * R <= P and R < P):
            began = process_time()
            found = [optimum(torus, T, R, P // R, objective == "joint") for objective in OBJECTIVES]
            line = line_of(torus, T, R, P // R, found)
            lines += [line] if line else []
            spent = f"{process_time() - began:.1f} s"
            print(line or f"{torus} {T} {R}x{P // R}: too long", spent, file=sys.stderr, flush=True)
    if not named:
        PATH.write_text(HEAD + "\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
