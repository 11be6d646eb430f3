"""The lower bound compared with every placement, in cases small enough for exhaustive search."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from pencilmap.model.decompositions import least_crossing
from pencilmap.model.kinds.torus import _blocks, _distances, _fewest, _fixed_cuts, _moving_planes, _Part
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.certificates import lower_bound, together_bound
from tests.model.cases import predict_routed


def site(shape, wrap=None, T=1, nodes=None, **options):
    torus = Torus(shape, wrap, **options)
    return Site(torus, T, Allocation(torus, nodes), idle=True)


def placements(where, grid):
    """Yield every placement up to renumbering of rows and columns: rank 0 has the least of all slots."""
    for slots in permutations(range(where.n_slots), grid.n_tasks):
        if slots[0] == min(slots):
            slots = np.array(slots)
            yield Mapping(where.network, grid, where.tasks_per_node, where.allocation.nodes[slots // where.tasks_per_node],
                          slots % where.tasks_per_node)


CASES = [
    (site((6,)), ProcessGrid(2, 3)), (site((5,)), ProcessGrid(2, 2)), (site((5,), (False,)), ProcessGrid(2, 2)),
    (site((6,), (False,)), ProcessGrid(3, 2)), (site((3, 2)), ProcessGrid(3, 2)), (site((3, 2)), ProcessGrid(2, 2)),
    (site((2, 2, 2)), ProcessGrid(2, 2)), (site((2, 2, 2), nodes=[0, 1, 2, 4, 7, 6]), ProcessGrid(3, 2)),
    (site((4, 2), nodes=[0, 1, 2, 5, 7, 6]), ProcessGrid(2, 3)), (site((4, 2), (False, False), nodes=[7, 0, 3, 5, 6]),
                                                                   ProcessGrid(2, 2)),
    (site((3,), T=2), ProcessGrid(2, 3)), (site((4,), (False,), T=2, nodes=[0, 3, 2]), ProcessGrid(2, 2)),
    (site((2, 2), T=2, nodes=[0, 3, 1]), ProcessGrid(5, 1)), (site((3, 2), bandwidth=(1.0, 3.0)), ProcessGrid(2, 2)),
    (site((3, 2), cables=(1, 2)), ProcessGrid(2, 2)), (site((8,), nodes=[0, 1, 4, 5]), ProcessGrid(2, 2)),
    (site((2,), T=3), ProcessGrid(2, 2)), (site((1, 3)), ProcessGrid(1, 2)), (site((1,), T=4), ProcessGrid(2, 2)),
    (site((5,), nodes=[2]), ProcessGrid(1, 1)),
]
OF_MANY_PLACEMENTS = [(site((3, 3)), ProcessGrid(2, 2)), (site((3, 3), (True, False)), ProcessGrid(1, 4))]


def least_cost(where, grid):
    return min(predict_routed(mapping).cost for mapping in placements(where, grid))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("where, grid", [*CASES, *(pytest.param(*case, marks=pytest.mark.slow)
                                                  for case in OF_MANY_PLACEMENTS)], ids=str)
def test_no_placement_is_below_the_bound(where, grid):
    assert 0 <= lower_bound(where, grid).value <= least_cost(where, grid)


@pytest.mark.parametrize("where, grid", [case for case in CASES if case[0].n_slots <= 5], ids=str)
@pytest.mark.parametrize("extents", [(4, 5, 4), (9, 6, 11)], ids=str)
def test_no_placement_with_uneven_blocks_is_below_the_bound(where, grid, extents):
    transform = Transform(*(max(n, *grid.shape) for n in extents))
    every = (predict_routed(Mapping(m.network, grid, m.tasks_per_node, m.node_of_rank[order], m.slot_of_rank[order]),
                            transform) for m in placements(where, grid) for order in orders(grid))
    assert 0 <= lower_bound(where, grid, transform).value <= min(p.cost for p in every)


def orders(grid):
    """Yield orders with each rank first: `placements` starts at the least slot, and uneven blocks differ by its rank."""
    ranks = np.arange(grid.n_tasks).reshape(grid.shape[::-1])
    for q, p in np.ndindex(*grid.shape[::-1]):
        yield np.roll(ranks, (q, p), axis=(0, 1)).ravel()


@pytest.mark.parametrize("R, C", [(1, 5), (2, 2), (3, 2), (2, 5), (3, 3), (4, 3)])
def test_least_crossing_agrees_with_every_set_of_tasks(R, C):
    P, found = R * C, least_crossing((R, C), np.arange(R * C + 1))
    for k in range(P + 1):
        every = []
        for some in combinations(range(P), k):
            x = np.bincount([rank // R for rank in some], minlength=C)
            y = np.bincount([rank % R for rank in some], minlength=R)
            every.append(C * (x * (R - x)).sum() + R * (y * (C - y)).sum())
        assert found[k] == min(every)


@pytest.mark.parametrize("R, C", [(8, 59), (5, 7), (16, 16), (1, 12)])
def test_least_crossing_is_that_of_one_all_to_all_for_whole_rows_and_never_less(R, C):
    P, found = R * C, least_crossing((R, C), np.arange(R * C + 1))
    k = np.arange(P + 1)
    assert (found >= k * (P - k)).all()
    assert all(found[k] == k * (P - k) for k in (*range(0, P, R), *range(0, P, C)))


@pytest.mark.parametrize("shape, wrap, missing, P", [
    ((2, 5), (False, True), (1, 4, 7, 9), 6), ((4, 4), (False, False), (0, 5), 13), ((3, 6), (True, False), (2,), 17),
    ((5, 2), (True, True), (), 9), ((7,), (False,), (3,), 5)])
def test_the_bound_of_one_group_is_at_least_that_of_every_box(shape, wrap, missing, P):
    """Every box is compared with the rest, link by link, with the best number of tasks in the box."""
    torus = Torus(shape, wrap=wrap)
    where = site(shape, wrap=wrap, nodes=[n for n in range(torus.n_nodes) if n not in missing])
    arcs, cells = torus.arcs(), torus.coordinates(np.arange(torus.n_nodes))
    worst = Fraction(0)
    for low in product(*map(range, shape)):
        for size in product(*(range(1, n + 1) for n in shape)):
            box = (((cells - low) % shape) < size).all(axis=1)
            inside = int(box[where.allocation.nodes].sum())
            leaving = int((box[arcs.source] & ~box[arcs.target]).sum())
            crossing = min(k * (P - k) for k in range(P + 1) if k <= inside and P - k <= where.n_slots - inside)
            if leaving:
                worst = max(worst, Fraction(4 * torus.n_nodes * crossing, P * P * leaving))
    assert lower_bound(where, ProcessGrid(1, P)).value >= worst > 0


def arguments_by_hand(where, grid):
    """Return the arguments of `together_bound`: boxes and blocks by their links, planes and distances by their numbers."""
    torus, P, S, T = where.network, grid.n_tasks, where.n_slots, where.tasks_per_node
    N, arcs, cells = torus.n_nodes, torus.arcs(), torus.coordinates(np.arange(torus.n_nodes))
    usable, crossing = np.isin(np.arange(N), where.allocation.nodes), least_crossing(grid.shape, np.arange(P + 1))
    capacity = [Fraction(c) * Fraction(b) / Fraction(max(torus.bandwidth)) if torus.bandwidth else Fraction(c)
                for c, b in zip(torus.cables, torus.bandwidth or torus.cables)]
    along = [int(np.flatnonzero(cells[a] != cells[b])[0]) for a, b in zip(arcs.source, arcs.target)]

    def leaving(inside):
        links = zip(along, arcs.source, arcs.target)
        return sum((capacity[i] for i, a, b in links if inside[a] and not inside[b]), Fraction(0))

    def least(low, high):
        return min(int(crossing[k]) for k in range(low, high + 1))

    def length(crossed, through):
        return Fraction(4 * N * crossed, P * P) / through if through else Fraction(0)

    box = "box against the rest of the machine"
    found = {box: Fraction(0)}
    for low in product(*map(range, torus.shape)):
        for size in product(*(range(1, n + 1) for n in torus.shape)):
            if all(ring or start + n <= of for ring, start, n, of in zip(
                    map(torus.is_ring, range(len(size))), low, size, torus.shape)):
                inside = (((cells - low) % torus.shape) < size).all(axis=1)
                slots = T * int((inside & usable).sum())
                crossed = least(max(0, P - (S - slots)), min(slots, P))
                found[box] = max(found[box], length(crossed, leaving(inside)))
    for i, (axis, n) in enumerate(zip(torus.axes, torus.shape)):
        planes = [min(P, T * int(usable[cells[:, i] == x].sum())) for x in range(n)]
        links = sum(along[k] == i for k in range(len(along)))
        if n > 1:  # one plane cuts one link of each line in one direction; a ring is cut twice
            cut = links // 2 // (n if torus.is_ring(i) else n - 1) * (2 if torus.is_ring(i) else 1)
            found[f"{axis} plane that moves through the machine"] = length(
                least((P - max(planes) + 1) // 2, (P + max(planes)) // 2), cut * capacity[i])
    for block in product(*({1, 2, 4, 8, 16, 32, n // 2, n} & set(range(1, n + 1)) for n in torus.shape)):
        number = [tuple(cell) for cell in (cells // block).tolist()]
        slots = {b: T * sum(u for u, mine in zip(usable.tolist(), number) if mine == b) for b in set(number)}
        used = [n for n in slots.values() if n]
        widest = sum(capacity[i] * max_ends(torus, i, b) * (int(np.prod(block)) // b) for i, b in enumerate(block))
        name = "a single node" if max(block) == 1 else f"block of {'x'.join(map(str, block))}"
        found[f"{name} with its share of the tasks"] = length(least(-(-P // len(used)), min(P, max(used))), widest)
    apart = np.array([np.sort(np.repeat(row[usable], T)) for row in hops_of_links(torus)[usable]])
    every = sum(capacity[i] for i in along)
    for name, sizes in (("between all tasks", (P,)), ("to the nearest tasks", grid.shape)):
        total = sum(P // size * int(np.sort(np.repeat(apart[:, :size].sum(axis=1), T))[:P].sum()) for size in sizes)
        found[f"distances {name} over all links"] = length(total, every)
    return found


def max_ends(torus, i, side):
    """Return the most ends at which links of dimension `i` leave a block of this side on a line."""
    n = torus.shape[i]
    ends = Counter(block for at in range(n if torus.is_ring(i) else n - 1)
                   for block in {at // side, (at + 1) % n // side} if at // side != (at + 1) % n // side)
    return max(ends.values(), default=0)


def hops_of_links(torus):
    """Return the hops between all nodes, from walking along links."""
    arcs, N = torus.arcs(), torus.n_nodes
    hops = np.where(np.eye(N, dtype=bool), 0, N)
    for _ in range(N):
        np.minimum.at(hops, (slice(None), arcs.target), hops[:, arcs.source] + 1)
    return hops


@pytest.mark.parametrize("where, grid", [
    (site((6,), nodes=[0, 1, 2, 4]), ProcessGrid(2, 2)), (site((5,), (False,), T=2, nodes=[0, 2, 3, 4]), ProcessGrid(3, 2)),
    (site((4, 3), (True, False), nodes=[0, 1, 2, 3, 5, 7, 8, 10, 11]), ProcessGrid(3, 3)),
    (site((4, 4), (False, True), T=2, nodes=range(3, 15)), ProcessGrid(4, 5)),
    (site((2, 5), cables=(3, 1), nodes=range(1, 9)), ProcessGrid(2, 4)),
    (site((3, 4), (True, False), bandwidth=(2e9, 1e9), nodes=range(10)), ProcessGrid(2, 4)),
    (site((2, 3, 4), (False, True, True), nodes=[*range(5), *range(8, 24)]), ProcessGrid(4, 5)),
    (site((9,), (False,), T=3, nodes=[0, 1, 5, 6, 7, 8]), ProcessGrid(4, 4)), (site((4, 2)), ProcessGrid(3, 2))], ids=str)
def test_every_argument_is_as_strong_as_when_it_is_counted_by_hand(where, grid):
    part, found = _Part(where, grid, None), {}
    for bounds in (_fixed_cuts, _moving_planes, _blocks, _distances):
        found.update({argument: value for value, argument in bounds(part)})
    expected = arguments_by_hand(where, grid)
    assert found == expected
    best = together_bound(where, grid)
    assert best.value == max(expected.values()) == expected[best.argument]


def test_the_emptier_side_of_a_cut_has_what_has_no_room_on_the_other():
    for S, P in combinations(range(1, 13), 2):
        S, P = max(S, P), min(S, P)
        for inside in range(S + 1):
            either = [min(k, P - k) for k in range(P + 1) if k <= inside and P - k <= S - inside]
            assert _fewest(P, S, inside) == min(either), (S, P, inside)
