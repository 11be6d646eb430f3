"""The lower bound compared with every placement, in cases small enough for exhaustive search."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.bounds.cuts import Minimum
from pencilmap.model.decompositions import least_crossing
from pencilmap.model.kinds.torus_cuts import _blocks, _distances, _fewest, _fixed_cuts, _leaving, _moving_planes, _Part
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict, predict_routed
from pencilmap.model.predict.certificates import lower_bound, together_bound


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


def test_uneven_blocks_are_not_certified_by_the_bound_of_even_ones():
    """105 tasks share 256 planes; another placement is faster than the best product."""
    torus, grid, transform = Torus((7, 5, 3)), ProcessGrid(1, 105), Transform(256, 256, 256)
    product, order = predict(best_product(torus, grid), transform), np.random.default_rng(22).permutation(105)
    other = predict(Mapping(torus, grid, 1, order, np.zeros(105, dtype=int)), transform)
    assert other.cost < product.cost and product.certificate > 1.01


@pytest.mark.parametrize("where, grid", [
    (site((6,)), ProcessGrid(1, 6)), (site((8,), nodes=[0, 1, 4, 5]), ProcessGrid(1, 4)),
    (site((3, 2)), ProcessGrid(1, 6)), (site((5,), (False,)), ProcessGrid(1, 5)), (site((2,), T=2), ProcessGrid(2, 2))])
def test_the_bound_is_reached(where, grid):
    assert lower_bound(where, grid).value == least_cost(where, grid)


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


def test_minimum_of_windows():
    values = np.random.default_rng(5).integers(0, 100, 37)
    minimum = Minimum(values)
    assert all(minimum(low, high) == values[low:high + 1].min() for low in range(37) for high in range(low, 37))


def test_the_bound_scales_with_the_slowest_link():
    """Half the bandwidth in the binding dimension doubles its lengths."""
    nodes = [0, 1, 2, 5, 6, 7]
    slow, even = (lower_bound(site((8,), nodes=nodes, bandwidth=b), ProcessGrid(2, 3)).value for b in ((1.0,), None))
    assert slow == even > 0
    plain, halved = (together_bound(site((8, 2), bandwidth=b), ProcessGrid(2, 7)).value for b in ((2.0, 2.0), (1.0, 2.0)))
    assert halved == 2 * plain


def test_the_emptier_side_of_a_cut_has_what_has_no_room_on_the_other():
    for S, P in combinations(range(1, 13), 2):
        S, P = max(S, P), min(S, P)
        for inside in range(S + 1):
            either = [min(k, P - k) for k in range(P + 1) if k <= inside and P - k <= S - inside]
            assert _fewest(P, S, inside) == min(either), (S, P, inside)


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


@pytest.mark.parametrize("wrap", [True, False], ids=["ring", "line"])
def test_blocks_of_a_side_have_so_many_ends(wrap):
    """The ends of links that leave a block, found by walking along the nodes; all blocks but the last have that side."""
    for n in range(1, 14):
        torus = Torus((n,), wrap=(wrap,))
        nodes = range(n if torus.is_ring(0) else n - 1)
        for side in range(1, n + 1):
            links = [(at // side, (at + 1) % n // side) for at in nodes]
            most = max(Counter(block for ends in links if ends[0] != ends[1] for block in ends).values(), default=0)
            assert _leaving(torus, 0, side) == most, (n, side)


def test_a_plane_cannot_leave_all_tasks_on_one_side():
    """256 tasks in 512 slots would fit into half of the machine, but then a plane through that half cuts the tasks."""
    bound = lower_bound(site((8, 8, 8)), ProcessGrid(16, 16))
    assert bound.value >= Fraction(4 * 512 * 96 * 160, 256**2 * 128)


def test_holes_do_not_void_the_bound_of_the_machine():
    torus = Torus((8, 8, 8))
    missing = np.random.default_rng(0).choice(512, 40, replace=False)
    bound = lower_bound(Site(torus, 1, Allocation(torus).without(missing)), ProcessGrid(8, 59))
    assert 4 <= bound.value < Fraction(9, 2)


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


def test_beyond_so_many_boxes_planes_alone_cut(monkeypatch):
    where, grid = site((4, 3), (True, False), nodes=range(10)), ProcessGrid(3, 3)
    whole = {argument: value for value, argument in _fixed_cuts(_Part(where, grid, None))}
    monkeypatch.setattr("pencilmap.model.kinds.torus_cuts.MOST_BOXES", 13 * 6)
    assert [argument for _, argument in _fixed_cuts(_Part(where, grid, None))] == list(whole)
    monkeypatch.setattr("pencilmap.model.kinds.torus_cuts.MOST_BOXES", 13 * 6 - 1)
    planes = {argument: value for value, argument in _fixed_cuts(_Part(where, grid, None))}
    assert list(planes) == ["planes across x", "planes across y"] and 0 < max(planes.values()) <= max(whole.values())
    for limit, argument in (("MOST_NODES", _distances), ("MOST_BLOCK_WORK", _blocks)):
        part = _Part(where, grid, None)
        most = 10 if limit == "MOST_NODES" else 3 * 3 * 10
        monkeypatch.setattr(f"pencilmap.model.kinds.torus_cuts.{limit}", most)
        assert list(argument(part))
        monkeypatch.setattr(f"pencilmap.model.kinds.torus_cuts.{limit}", most - 1)
        assert not list(argument(part))


def test_a_graph_of_as_many_nodes_as_allowed_is_bounded_in_turn(monkeypatch):
    """On a path of 8 hosts, with neighbours in each row: only the columns cross the middle, with 4 of their 4 pairs."""
    where, grid = Site(from_networkx(nx.path_graph(8), "path")), ProcessGrid(2, 4)
    monkeypatch.setattr("pencilmap.model.kinds.kind.MOST_NODES", 8)
    bound = lower_bound(where, grid)
    assert bound.argument.startswith("rows and columns")
    monkeypatch.setattr("pencilmap.model.kinds.kind.MOST_NODES", 7)
    assert lower_bound(where, grid).value < bound.value


@pytest.mark.parametrize("shape, T, grid", [((4, 4), 2, ProcessGrid(4, 8)), ((6, 3), 1, ProcessGrid(3, 6)),
                                            ((5, 4), 2, ProcessGrid(5, 8)), ((4,), 3, ProcessGrid(2, 6))])
def test_blocks_that_are_nearly_even_are_bounded_nearly_as_even_ones(shape, T, grid):
    """For a full machine, whose half sends most; 1009 is a prime."""
    where = Site(Torus(shape), T)
    even, uneven = together_bound(where, grid), together_bound(where, grid, Transform(1009, 1009, 1009))
    assert "with these blocks" in uneven.argument and float(uneven.value) == pytest.approx(float(even.value), rel=0.02)
