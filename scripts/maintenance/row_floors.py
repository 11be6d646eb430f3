"""Write `model/data/row_floors.csv`: floors of 2 on the worst length of rows, each proved by computation.

A torus of three equal even extents n is divided into rows of `size` nodes, one task a node. Messages take dimension order;
messages half round a ring go both ways. A message adds 4 / size to a length. So with a length below 2, no link carries more
than size - 1 half messages of its rows. A dimension has 2n^3 links, so the rows have at most (size - 1) n^3 hops there:
size (size - 1) in the mean of all rows. One of three arguments, with its proof at its function, excludes this:

- *Hops*: every possible row has more hops than the links have room for.
- *Planes*: some row must lie in one plane of x, and some row in one plane of z; no such two rows fit together.
- *Cover*: no choice from the list of all possible rows covers the torus.

Run ``python -m pencilmap.scripts.maintenance.row_floors``; two minutes.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.torus import Torus
from pencilmap.scripts.maintenance.optima import pair_loads

PATH = Path(__file__).parents[2] / "model" / "data" / "row_floors.csv"
CASES = ((4, 4), (4, 8), (4, 16), (6, 36))  # extent n of the torus nxnxn, nodes of a row
LONGEST_COVER = 4                           # nodes of the longest rows that can all be listed
HEAD = """\
# Written by scripts/maintenance/row_floors.py: rows of so many nodes, which fill the torus, have a worst length of at least
# the floor (one task a node, even blocks, dimension order, ties split); and the argument that proves it.
torus,size,floor,argument
"""


def profiles(n: int, size: int) -> tuple[Ints, Ints, Ints]:
    """Return the possible spreads of a row over the coordinates of one dimension.

    Return the numbers of nodes at each coordinate, shape (profiles, n), the hops of all their messages in that dimension,
    and whether the dimension may be the first or the last of the routes. In the first or last dimension, a node sends or
    receives over one link all messages for less than half round the ring to one side, and half of the messages for the
    opposite coordinate.
    """
    bars = np.array(list(combinations(range(size + n - 1), n - 1)), dtype=np.int64)
    edge = np.full((len(bars), 1), -1)
    numbers = np.diff(np.hstack([edge, bars, edge + size + n]), axis=1) - 1
    numbers = numbers[numbers.max(axis=1) <= n * n]
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    hops = np.einsum("ki,ij,kj->k", numbers, np.minimum(apart, n - apart), numbers, optimize=True)
    sent = np.stack([_own(numbers, way) for way in (1, -1)])
    return numbers, hops, ((sent <= size - 1) | (numbers == 0)).all(axis=(0, 2))


def _own(numbers, way):
    """Half messages that a node at each coordinate puts on its link to one side, in the first dimension."""
    n = numbers.shape[1]
    return sum(2 * np.roll(numbers, -way * k, axis=1) for k in range(1, n // 2)) + np.roll(numbers, n // 2, axis=1)


def by_hops(n: int, size: int) -> bool:
    """Whether every row needs more hops than there is room for. False for rows that may lie on one line.

    Proof: a row that is on no line has a first and a last dimension in which it varies, and a third. `profiles` lists its
    numbers of nodes at the coordinates of the first and of the last dimension. For all f and l, the k fullest coordinates of
    the third dimension hold at most size - (the f largest numbers of the first) + size - (the l largest of the last) + f l k
    nodes. This gives the least hops in the third dimension. If all pairs of listed numbers have more than
    3 size (size - 1) hops together, no division into rows is possible.
    """
    if size <= n:
        return False
    numbers, hops, ends = profiles(n, size)
    middle, middle_hops = _shapes(numbers, hops)
    order = np.argsort(middle_hops)
    inside, middle_hops = np.cumsum(middle[order], axis=1), middle_hops[order]
    varies = ends & (numbers.max(axis=1) < size)
    end, end_hops = _shapes(numbers[varies], hops[varies])
    outside = size - np.hstack([np.zeros((len(end), 1), dtype=np.int64), np.cumsum(end, axis=1)])
    room, places = 3 * (size - 1) * size, np.arange(1, n + 1)
    for first, first_hops in zip(outside, end_hops):
        some = first_hops + end_hops <= room
        for last, last_hops in zip(outside[some], end_hops[some]):
            most = np.full(n, size)  # nodes of the row on the fullest 1, 2, ... coordinates of the third dimension
            for f in range(n + 1):
                for g in range(n + 1):
                    most = np.minimum(most, first[f] + last[g] + f * g * places)
            if most[-1] < size:
                continue
            fits = (inside <= most).all(axis=1)
            if fits.any() and first_hops + last_hops + middle_hops[fits.argmax()] <= room:
                return False
    return True


def _shapes(numbers, hops):
    """The distinct numbers without their order, the largest first, and the least hops of each."""
    shapes, which = np.unique(-np.sort(-numbers, axis=1), axis=0, return_inverse=True)
    least = np.full(len(shapes), np.iinfo(np.int64).max)
    np.minimum.at(least, which.ravel(), hops)
    return shapes, least


def needs_a_plane(n: int, size: int) -> bool:
    """Whether some row must lie in one plane of the first dimension: by an integer program.

    The unknowns are the number of rows with each profile, and the number of links between a node of a row of one profile and
    the next node, of a row of another profile. The two profiles determine the messages over the links beyond each other.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    numbers, hops, ends = profiles(n, size)
    numbers, hops = numbers[ends & (numbers.max(axis=1) < size)], hops[ends & (numbers.max(axis=1) < size)]
    right, left = _own(numbers, 1), _own(numbers, -1)
    m, pairs = len(numbers), []
    for x in range(n):
        y = (x + 1) % n
        # messages that pass a node go from nodes before it to nodes beyond it: 2 halves each, 1 for a tie
        on = right[None, :, y] + _passing(numbers, x, 1)[:, None]
        back = left[:, None, x] + _passing(numbers, y, -1)[None, :]
        fits = (numbers[:, None, x] > 0) & (numbers[None, :, y] > 0) & (on <= size - 1) & (back <= size - 1)
        pairs += [(x, int(p), int(q)) for p, q in zip(*fits.nonzero())]
    rows, columns, values = [], [], []
    for x in range(n):
        for p in range(m):
            rows += [x * m + p, (n + x) * m + p]
            columns += [p, p]
            values += [-numbers[p, x]] * 2
    for k, (x, p, q) in enumerate(pairs):
        rows += [x * m + p, (n + (x + 1) % n) * m + q]
        columns += [m + k] * 2
        values += [1, 1]
    balance = coo_array((values, (rows, columns)), shape=(2 * n * m, m + len(pairs))).tocsr()
    totals = np.zeros((2, m + len(pairs)))
    totals[0, :m], totals[1, :m] = 1, hops
    found = milp(np.zeros(m + len(pairs)), bounds=Bounds(0, np.inf),
                 integrality=np.arange(m + len(pairs)) < m,
                 constraints=[LinearConstraint(balance, 0, 0),
                              LinearConstraint(totals, [n**3 // size, 0], [n**3 // size, n**3 * (size - 1)])])
    return bool(found.status == 2)  # infeasible


def _passing(numbers, x, way):
    """Half messages from a node at x that pass the next node: to the coordinates beyond, up to half round."""
    n = numbers.shape[1]
    return sum(2 * numbers[:, (x + way * k) % n] for k in range(2, n // 2)) + numbers[:, (x + way * (n // 2)) % n]


def by_planes(n: int, size: int) -> bool:
    """Whether rows must lie in planes of the first and of the last dimension, and no two such rows fit together.

    Proof: `needs_a_plane` shows that some row lies in a plane of x. With routes reversed some row lies in a plane of z.
    `rows_of` lists all rows in a plane whose own messages put at most size - 1 halves on a link. No listed row in a plane
    of x leaves room for a listed row in a plane of z.
    """
    if not needs_a_plane(n, size):
        return False
    torus = Torus((n,) * 3)
    loads, where = pair_loads(torus), torus.coordinates(np.arange(n**3))
    first, last = ([row for c in range(n) for row in rows_of(loads, np.flatnonzero(where[:, i] == c), size)] for i in (0, 2))
    return not any(set(a).isdisjoint(b) and (x + z).max() < size for a, x in first for b, z in last)


def rows_of(loads: Ints, nodes: Sequence[int] | Ints, size: int) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield every row of these nodes with a length below 2 alone, and its half messages on all links."""
    def grow(row, load, start):
        if len(row) == size:
            yield tuple(row), load
            return
        for k in range(start, len(nodes) - (size - len(row)) + 1):
            more = load + loads[nodes[k], row].sum(axis=0) if row else load
            if more.max() < size:
                yield from grow([*row, int(nodes[k])], more, k + 1)

    yield from grow([], np.zeros(loads.shape[2], dtype=np.int32), 0)


def by_cover(n: int, size: int) -> bool:
    """Whether no choice of rows covers all nodes with a length below 2. False for rows too long to list.

    Proof: a search takes the node in the fewest listed rows, tries each of these rows, and drops the rows that no longer
    fit.
    """
    if size > LONGEST_COVER:
        return False
    found = list(rows_of(pair_loads(Torus((n,) * 3)), range(n**3), size))
    load = np.array([each for _, each in found], dtype=np.uint8)
    covers = np.zeros((len(found), n**3), dtype=bool)
    np.put_along_axis(covers, np.array([row for row, _ in found]), True, axis=1)

    def completes(taken, carried, left):
        if taken.all():
            return True
        count = covers[left].sum(axis=0)
        node = np.where(taken, len(found) + 1, count).argmin()
        for row in left[covers[left, node]]:
            there, more = taken | covers[row], carried + load[row]
            rest = left[~(covers[left] & there).any(axis=1)]
            rest = rest[(load[rest] + more).max(axis=1, initial=0) < size]
            if completes(there, more, rest):
                return True
        return False

    return not completes(np.zeros(n**3, dtype=bool), np.zeros(load.shape[1], dtype=np.uint8), np.arange(len(found)))


ARGUMENTS: dict[str, Callable[[int, int], bool]] = {"hops": by_hops, "planes": by_planes, "cover": by_cover}


def main() -> None:
    """Prove every case and write the table."""
    lines = []
    for n, size in CASES:
        began = process_time()
        proof = next((name for name, proves in ARGUMENTS.items() if proves(n, size)), None)
        line = f"{n}x{n}x{n},{size},2,{proof or 'not proved'}"
        print(line, f"{process_time() - began:.1f} s", file=sys.stderr, flush=True)
        lines += [line] if proof else []
    PATH.write_text(HEAD + "\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
