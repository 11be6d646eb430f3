"""No placement is below a bound: random machines and grids, with the best placements of quick searches."""

from fractions import Fraction
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.base.arrays import divisors
from pencilmap.model.bounds.cuts import Crossing, exact_frontier, least_other, least_other_of_few
from pencilmap.model.decompositions import CUBIC
from pencilmap.model.kinds import torus_floors, torus_translations as translations
from pencilmap.model.kinds.torus import may_reach, why_unreachable
from pencilmap.model.kinds.torus_floors import _least_ends, _most_groups, every_case, floor_of, optima
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, lower_bound, together_bound
from pencilmap.model.predict.question import worst
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import at_once, in_sequence, routed_joint
from tests.model.brute_force import messages
from tests.model.cases import predict_routed


def machine(rng):
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
    options = {"bandwidth": tuple(float(b) for b in rng.choice([1.0, 2.0, 3.0], len(shape)))} if rng.random() < 0.3 else {}
    if rng.random() < 0.2:
        options["cables"] = tuple(int(c) for c in rng.integers(1, 3, len(shape)))
    wrap = tuple(bool(w) for w in rng.random(len(shape)) < 0.7)
    return Torus(shape, wrap, **options)


def placements(rng, torus, grid, T):
    """Return products, orders of the axes, lines turned by the other coordinates, and random placements."""
    slots, N = grid.n_tasks, torus.n_nodes
    yield best_product(torus, grid, T).mapping()
    for order in permutations(range(torus.n_dimensions + 1)):
        every = np.arange(slots).reshape(T, *torus.shape[::-1]).transpose(order).ravel()
        yield Mapping(torus, grid, T, every % N, every // N)
    where = torus.coordinates(np.arange(N))
    turned = torus.node((where + where.sum(axis=1, keepdims=True) * rng.integers(0, 3, torus.n_dimensions)) % torus.shape)
    if len(set(turned.tolist())) == N:
        yield Mapping(torus, grid, T, np.tile(turned, T), np.repeat(np.arange(T), N))
    for _ in range(3):
        every = rng.permutation(slots)
        yield Mapping(torus, grid, T, every % N, every // N)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(24))
def test_no_placement_of_a_random_machine_is_below_the_bound(seed):
    rng = np.random.default_rng(seed)
    torus, T = machine(rng), int(rng.integers(1, 4))
    P = torus.n_nodes * T
    R = int(rng.choice(divisors(P)))
    Q = int(rng.choice(divisors(P // R)))
    grid = ProcessGrid(R, P // R) if seed % 3 else ProcessGrid(Q, P // R // Q, R, decomposition=CUBIC)
    extents = rng.integers(1 if seed % 2 else max(grid.shape), 2 * max(grid.shape) + 3, 3)
    transform = None if rng.random() < 0.4 else Transform(*map(int, extents))
    bound = lower_bound(Site(torus, T), grid, transform, ordered=True, split=True)
    for mapping in placements(rng, torus, grid, T):
        cost = predict_routed(mapping, transform).cost
        assert bound.value <= cost, (str(torus), T, str(grid), bound, str(transform))


@pytest.mark.parametrize("seed", range(24, 40))
def test_blocks_of_nodes_bound_the_load_of_unlike_links_and_holes(seed):
    """Rates such as 2 to 5, whose quotients are no whole numbers."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(2, 6, 2))
    torus = Torus(shape, tuple(bool(w) for w in rng.random(2) < 0.7), bandwidth=tuple(map(float, rng.permutation([2, 5]))))
    holes, T = rng.permutation(torus.n_nodes)[:int(rng.integers(1, 3))], int(rng.integers(1, 5))
    site = Site(torus, T, Allocation(torus).without(holes))
    R = int(rng.choice(divisors(site.n_slots)))
    grid = ProcessGrid(R, site.n_slots // R)
    bound = lower_bound(site, grid, ordered=True, split=True)
    slots = np.arange(site.n_slots)
    for order in (slots, slots.reshape(-1, T).T.ravel(), *(rng.permutation(slots) for _ in range(3))):
        mapping = Mapping(torus, grid, T, site.allocation.nodes[order // T], order % T)
        assert bound.value <= predict_routed(mapping).cost, (str(torus), T, str(grid), bound)


@pytest.mark.parametrize("seed", range(20))
def test_no_placement_with_holes_or_idle_slots_is_below_the_bound(seed):
    rng = np.random.default_rng(seed)
    torus, T = machine(rng), int(rng.integers(1, 3))
    nodes = rng.permutation(torus.n_nodes)[:rng.integers(1, torus.n_nodes + 1)]
    site = Site(torus, T, Allocation(torus, nodes), idle=True)
    C = int(rng.integers(1, site.n_slots + 1))
    grid = ProcessGrid(int(rng.integers(1, site.n_slots // C + 1)), C)
    if seed % 3 == 0:
        grid = ProcessGrid(Q := int(rng.choice(divisors(C))), grid.shape[0], C // Q, decomposition=CUBIC)
    bound = lower_bound(site, grid, None, ordered=True, split=True)
    near = np.sort(nodes)
    for k in range(6):
        slots = np.arange(site.n_slots) if k == 0 else rng.permutation(site.n_slots)
        slots = (slots if k != 1 else np.arange(site.n_slots).reshape(-1, T).T.ravel())[:grid.n_tasks]
        cost = predict_routed(Mapping(torus, grid, T, near[slots // T], slots % T), site=site).cost
        assert bound.value <= cost, (str(site), str(grid), bound)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("torus, T, R, cost", [        # best known placements, from ring maps, tilings and exhaustion
    ("4x4", 1, 2, 3), ("4x4", 1, 4, 4), ("2x2x4", 1, 4, 4), ("2x8", 1, 4, 6), ("3x3", 1, 3, Fraction(8, 3)),
    ("3x5", 1, 3, Fraction(56, 15)), ("8", 1, 2, 6), ("9", 1, 3, Fraction(20, 3)), ("12", 1, 3, Fraction(26, 3)),
    ("8x8x8", 1, 8, 6), ("8x8x8", 1, 16, 7), ("13x13", 1, 13, Fraction(140, 13)), ("11x11", 1, 11, Fraction(108, 11)),
    ("10x10", 2, 10, 7.4), ("7x7", 2, 14, 6.286), ("6x6x6", 1, 6, 5.667), ("6x6x6", 2, 16, 4.667), ("8x8x8", 2, 16, 6),
    ("4x4x4x4", 1, 16, 4), ("4x4x4", 4, 16, 3.938), ("3x3:mesh", 1, 3, 5.334), ("4x4:mesh", 1, 4, 6),
    ("8:mesh", 1, 2, 10), ("13x13:mesh", 1, 13, 18.16), ("8wx8x4w", 1, 16, 10), ("16x16", 1, 16, 12),
    ("7x5x3", 1, 7, 5.829)])
@pytest.mark.parametrize("exact", [True, False])
def test_best_known_placements_are_not_below_the_bound(torus, T, R, cost, exact, monkeypatch):
    """With the exact frontier and with its closed form."""
    network = parse_torus(torus)
    if not exact:
        monkeypatch.setattr(translations, "exact_frontier", lambda *of: None)
        translations._bound.cache_clear()
    P = network.n_nodes * T
    for grid in (ProcessGrid(R, P // R), ProcessGrid(P // R, R)):
        assert lower_bound(Site(network, T), grid, ordered=True, split=True).value <= cost
    translations._bound.cache_clear()


@pytest.mark.parametrize("R, C", [(2, 3), (3, 3), (2, 5), (3, 4), (6, 2)])
def test_the_frontier_is_that_of_every_set_of_tasks(R, C):
    for k in range(R * C + 1):
        sets = np.array([[cell in chosen for cell in range(R * C)] for chosen in combinations(range(R * C), k)])
        sets = sets.reshape(-1, C, R)
        x, y = sets.sum(axis=2), sets.sum(axis=1)
        sent = np.stack([(x * (R - x)).sum(axis=1) / (R * C * R), (y * (C - y)).sum(axis=1) / (R * C * C)], axis=1)
        frontier = exact_frontier(R, C, k)
        assert all((abs(sent - point) < 1e-12).all(axis=1).any() for point in frontier)
        below = (frontier[None] <= sent[:, None] + 1e-12).all(axis=2)
        assert below.any(axis=1).all()
        few = min(k, R * C - k)
        x, y = frontier.T
        for closed in (least_other(x, few / (R * C)), least_other_of_few(x, R, C, few)) if few else ():
            assert (closed <= y + 1e-12).all()


def test_the_inequality_of_the_frontier_holds_for_uneven_rows_and_columns():
    """E[x^2] E[y^2] <= t^3 for sets of at least half, with rows and columns of any weights; equality for rectangles."""
    rng = np.random.default_rng(5)
    for _ in range(3000):
        mu, nu = rng.dirichlet(np.full(rng.integers(1, 6), 0.5)), rng.dirichlet(np.full(rng.integers(1, 6), 0.5))
        inside = rng.random((len(mu), len(nu))) < rng.random()
        inside |= np.add.outer(np.arange(len(mu)), np.arange(len(nu))) < rng.integers(0, 8)
        t = mu @ inside @ nu
        if t >= 0.5:
            assert (mu @ (inside @ nu) ** 2) * ((mu @ inside) ** 2 @ nu) <= t**3 * (1 + 1e-12)
    alpha = least_other(Fraction(1, 10), Fraction(2, 5))
    assert (Fraction(3, 5) - Fraction(1, 10)) * (Fraction(3, 5) - alpha) == Fraction(3, 5) ** 3


@pytest.mark.parametrize("size", ["8x8x8", "7x9x10", "5x5x11", "9x9x9:r2c"])
def test_the_least_traffic_of_uneven_blocks_holds_for_every_set_of_tasks(size):
    """In the direction with more bytes; and it is at least what the shares of the tasks alone give."""
    grid, transform = ProcessGrid(2, 3), parse_transform(size)
    crossing, every = Crossing(grid, transform), [some for exchange in messages(grid, transform) for some in exchange]
    for k, least in enumerate(crossing.least() / crossing.whole):
        sent = [max(sum(amount for a, b, amount in every if (a in one, b in one) == way) for way in ((1, 0), (0, 1)))
                for one in map(set, combinations(range(6), k))]
        assert float(crossing.exactly(k)) - 1e-9 <= least <= min(sent) / transform.total_bytes + 1e-12


@pytest.mark.parametrize("torus, grid, least", [
    ("8x8x8", (8, 64), 4.75), ("8x8x8", (16, 32), 4.6875), ("6x6x6", (6, 36), 3.5), ("16x16", (16, 16), 9.25)])
def test_bounds_of_known_machines(torus, grid, least):
    network = parse_torus(torus)
    bounds = Bounds(Site(network), ProcessGrid(*grid), None, "dimension-order:plus")
    assert least <= bounds.in_sequence.value
    all_to_all = together_bound(Site(network), ProcessGrid(*grid)).value
    assert all_to_all <= bounds.together.value
    assert bounds.under(Fraction(1, 2)) == (bounds.in_sequence.value + bounds.together.value) / 2
    assert bounds.any == all_to_all and bounds.together.value < bounds.in_sequence.value


@pytest.mark.parametrize("shape, size, floor", [
    ((8, 8, 8), 16, Fraction(13, 8)), ((6, 6, 6), 36, Fraction(3, 2)), ((10, 10, 10), 20, Fraction(17, 10)),
    ((4, 4, 4), 8, Fraction(5, 4)), ((3, 3, 3), 9, Fraction(4, 3)), ((8, 8, 8), 8, Fraction(4, 3))])
def test_rows_that_wrap_have_a_floor(shape, size, floor, monkeypatch):
    """2 - d/n for rows too large for a line; on 3x3x3 only the first hops count, and lines of 8 may be whole."""
    monkeypatch.setattr(torus_floors, "spread_floor", lambda *of: of[-1])
    torus = Torus(shape)
    found = floor_of(Site(torus), [Fraction(1)] * len(shape), size, torus.n_nodes, True)
    assert floor - Fraction(1, 10_000) <= found <= floor


@pytest.mark.parametrize("shape, size", [((3, 3), 3), ((3, 4), 2), ((3, 5), 3)])
def test_most_of_a_group_on_one_coordinate_of_a_ring_is_no_room_below_a_length_of_one(shape, size):
    """The other tasks are neighbours, one hop away on either side."""
    floor = torus_floors._least_spread(Torus(shape), (1, 1), size, shape[0] * shape[1], 1)
    assert 1 - Fraction(1, 100_000) <= floor <= 1


def test_a_floor_of_two_for_all_rows_would_be_wrong():
    """Rows of 8 on 4x4x4x4: for even nodes in the plane of the first two dimensions, for the others in the last two."""
    torus = Torus((4, 4, 4, 4))
    where = torus.coordinates(np.arange(256))
    even = where.sum(axis=1) % 2 == 0
    row = np.where(even, 4 * where[:, 2] + where[:, 3], 16 + 4 * where[:, 0] + where[:, 1])
    placed = Mapping(torus, ProcessGrid(8, 32), 1, np.argsort(row, kind="stable"), np.zeros(256, dtype=int))
    assert predict_routed(placed).stages[0].load == (Fraction(3, 2),) * 4
    assert floor_of(Site(torus), [Fraction(1)] * 4, 8, 256, True, True) <= Fraction(3, 2)


@pytest.mark.parametrize("graph", [nx.cycle_graph(8), nx.petersen_graph(), nx.balanced_tree(2, 3)], ids=str)
def test_no_placement_on_a_graph_is_below_the_bound(graph):
    network, rng = from_networkx(graph, "graph"), np.random.default_rng(3)
    for T in (1, 2):
        P = network.n_nodes * T
        for R in (R for R in divisors(P) if 1 < R < P):
            site, grid = Site(network, T), ProcessGrid(R, P // R)
            bound = lower_bound(site, grid)
            for slots in (np.arange(P), rng.permutation(P)):
                assert bound.value <= predict_routed(Mapping(network, grid, T, slots // T, slots % T)).cost
            assert T in (R, P // R) or bound.value > together_bound(site, grid).value


@pytest.mark.parametrize("torus, T, usable, R, C", [
    ("4x4", 1, 14, 2, 7), ("4x4", 1, 16, 3, 5), ("5x3", 2, 11, 4, 5), ("3x3x2", 1, 16, 4, 4), ("4x2x4", 2, 30, 6, 9)])
def test_every_inequality_of_the_translations_holds_with_holes_and_idle_slots(torus, T, usable, R, C):
    """The test counts partners pair by pair, for lines of neighbours and at random."""
    network, rng = parse_torus(torus), np.random.default_rng(1)
    nodes = np.sort(rng.permutation(network.n_nodes)[:usable])
    site = Site(network, T, Allocation(network, nodes), idle=True)
    reached = site.allocation.is_usable().reshape(network.shape, order="F")
    program = translations._Program(network.shape, (Fraction(1),) * network.n_dimensions, T, R, C, reached)
    for k in range(6):
        slots = (np.arange(site.n_slots) if k == 0 else rng.permutation(site.n_slots))[:R * C]
        mapping = Mapping(network, ProcessGrid(R, C), T, nodes[slots // T], slots % T)
        lengths = [float(worst(stage.load, network)) for stage in predict_routed(mapping, site=site).stages]
        found = np.concatenate([*(_partners(network, mapping.node_of_rank, group) for group in (
            np.arange(R * C) // R, np.arange(R * C) % R, np.zeros(R * C))), lengths])
        assert (program.upper @ found <= program.upper_at + 1e-9).all()
        assert np.allclose(program.equal @ found, (R, C, R * C))
        assert all(low - 1e-9 <= x <= high + 1e-9 for x, (low, high) in zip(found, program.range))
        for carried, mean, regions in program.cuts:
            m, (a, b) = program.m, lengths
            facets = translations._facets(regions, a * carried, b * carried)
            assert facets and all(p * mean @ found[:m] / R + q * mean @ found[m:2 * m] / C >= least - 1e-9
                                  for p, q, least in facets)


def _partners(torus, node, group):
    """Return the mean number of partners at a displacement of each kind, in order of the kinds."""
    kinds, shape = {}, np.array(torus.shape)
    alike = [[i for i, m in enumerate(torus.shape) if m == n and n > 1] for n in dict.fromkeys(torus.shape)]

    def kind(z):
        z = np.minimum(z % shape, -z % shape)
        for dims in alike:
            z[dims] = np.sort(z[dims])
        return tuple(z.tolist())

    for z in np.ndindex(*torus.shape):
        kinds.setdefault(kind(np.array(z)), [0, 0])[0] += 1
    where = torus.coordinates(node)
    for s, t in np.ndindex(len(node), len(node)):
        if group[s] == group[t]:
            kinds[kind(where[t] - where[s])][1] += 1
    return np.array([pairs / count / len(node) for _, (count, pairs) in sorted(kinds.items())])


@pytest.mark.parametrize("wrap", [(True, True), (False, False), (True, False)])
@pytest.mark.parametrize("missing", [(), (0, 3, 8, 11), (0, 1, 2, 3, 4, 8)])
def test_the_fewest_links_that_leave_a_usable_node(wrap, missing):
    """Compared with counts of the links of every node."""
    torus = Torus((4, 3), wrap=wrap)
    where = Site(torus, 1, Allocation(torus).without(list(missing)) if missing else Allocation(torus))
    degree = np.bincount(torus.arcs().source, minlength=12)
    least = _least_ends(where, (1, 1))
    assert least == min(degree[where.allocation.nodes]) if missing else least <= min(degree)
    assert _least_ends(Site(Torus((4, 1), wrap=wrap)), (1, 1)) == 1 + wrap[0]


def test_the_most_groups_are_those_of_a_linear_program():
    """A group of either kind costs at least as much length with all its tasks on the same side."""
    for two in map(Fraction, ("0", "1/3", "2/3", "1", "3/2", "4")):
        for one in (None, *(two + more for more in map(Fraction, ("0", "1/4", "1", "5")))):
            first = () if one is None else (float(one),)
            found = linprog([-1.0] * len(first) + [-0.5], A_ub=[[*first, float(two)], [1.0] * (len(first) + 1)], b_ub=[1, 1])
            assert float(_most_groups(one, two)) == pytest.approx(-found.fun), (one, two)


# The table of true optima, and its consequences for bounds and searches

CASES = every_case()
ORDER = DimensionOrder()


def lengths(torus, T, grid, nodes):
    """Return the lengths in sequence and at once, from routing every message."""
    nodes = np.array(nodes).ravel()
    slots = np.array([(nodes[:rank] == node).sum() for rank, node in enumerate(nodes)])
    mapping = Mapping(torus, grid, T, nodes, slots)
    loads = routed_joint(torus, exchanges(grid, None), mapping.node_of_rank, ORDER)
    return in_sequence(2).of_loads(loads), at_once(2).of_loads(loads)


def test_the_table_has_tori_meshes_and_several_tasks_of_up_to_16():
    assert len(CASES) >= 100
    assert {torus.n_nodes for torus, T, _, _ in CASES if T == 1} == {4, 6, 8, 9, 10, 12, 14, 15, 16}
    assert {torus.n_dimensions for torus, *_ in CASES} == {1, 2, 3, 4} and {T for _, T, _, _ in CASES} >= {1, 2, 3}
    assert any(all(torus.wrap) for torus, *_ in CASES) and any(not any(torus.wrap) for torus, *_ in CASES)


def test_the_stored_placements_have_the_stored_lengths_in_any_orientation():
    for i, (torus, T, R, C) in enumerate(CASES):
        grid = ProcessGrid(R, C)
        if i % 2:
            torus, grid = Torus((*torus.shape[::-1], 1), (*torus.wrap[::-1], False)), ProcessGrid(C, R)
        found = optima(torus, T, *grid.shape)
        assert lengths(torus, T, grid, found.rows_sequence)[0] == found.sequence
        assert lengths(torus, T, grid, found.rows_joint)[1] == found.joint


@pytest.mark.parametrize("torus, T, R, C", [case for case in CASES if case[0].n_nodes * case[1] <= 6], ids=str)
def test_the_optima_are_those_of_every_placement(torus, T, R, C):
    every = {lengths(torus, T, ProcessGrid(R, C), np.array(order) // T) for order in permutations(range(R * C))
             if order[0] == min(order)}
    found = optima(torus, T, R, C)
    assert found.sequence == min(sequence for sequence, _ in every) and found.joint == min(joint for _, joint in every)


@pytest.mark.thorough
def test_no_bound_is_above_an_optimum():
    for i, (torus, T, R, C) in enumerate(CASES):
        site, found = Site(torus, T), optima(torus, T, R, C)
        bounds = Bounds(site, ProcessGrid(C, R) if i % 2 else ProcessGrid(R, C), routing="dimension-order:plus")
        assert bounds.together.value <= found.joint, (str(torus), T, R, C)
        assert bounds.in_sequence.value <= found.sequence, (str(torus), T, R, C)


def test_the_optima_known_from_elsewhere():
    """Another program found these optima before this table existed."""
    in_turn = {("4x4", 4): 4, ("4x4", 2): 3, ("2x8", 4): 6, ("2x8", 2): 6, ("3x3", 3): Fraction(8, 3), ("8", 2): 6,
               ("9", 3): Fraction(20, 3), ("12", 3): Fraction(26, 3), ("16", 4): 12, ("4x4:mesh", 4): 6,
               ("3x5:mesh", 3): Fraction(36, 5), ("8:mesh", 2): 10, ("2x2x4", 4): 4}
    joint = {("4x4", 2): 2, ("2x8", 4): 5, ("2x6", 3): Fraction(11, 3), ("8", 2): 5, ("9", 3): Fraction(16, 3),
             ("4x4:mesh", 2): 4, ("8:mesh", 2): 9}
    for name, known in (("sequence", in_turn), ("joint", joint)):
        for (text, R), least in known.items():
            torus = parse_torus(text)
            assert getattr(optima(torus, 1, R, torus.n_nodes // R), name) == least, (text, R)


def test_the_theorem_of_the_all_to_all_against_every_placement():
    """The bound is reached only if the factors are found; on a torus of equal extents, always if they are."""
    seen = set()
    for torus, T, R, C in CASES:
        least = together_bound(Site(torus, T), ProcessGrid(R, C)).value
        reached, may = optima(torus, T, R, C).joint == least, may_reach(torus, R, C)
        assert may or not reached, (str(torus), T, R, C)
        alike = len(set(torus.shape)) == 1 and all(torus.is_ring(i) or n == 2 for i, n in enumerate(torus.shape))
        assert reached or not (may and alike), (str(torus), T, R, C)
        seen.add((may, reached, alike))
    assert {(True, True, True), (False, False, True), (True, False, False)} <= seen


@pytest.mark.parametrize("shape, T, able", [
    ((8, 8, 8), 1, (1, 8, 64, 512)), ((5, 5), 1, (1, 5, 25)), ((6, 6), 2, (1, 2, 6, 12, 36, 72)),
    ((4, 4, 4), 1, (1, 2, 4, 8, 16, 32, 64)), ((3, 3), 1, (1, 3, 9))])
def test_grids_that_reach_the_all_to_all_do_so_by_a_product(shape, T, able):
    torus = Torus(shape)
    P = torus.n_nodes * T
    for R in (R for R in range(1, P + 1) if P % R == 0):
        grid = ProcessGrid(R, P // R)
        why = why_unreachable(Site(torus, T), grid)
        assert (why is None) == (R in able)
        if why is None:
            found = predict(best_product(torus, grid, T, at_once(2)), schedule="two-way")
            assert found.schedule.certificate == 1
        else:
            assert f"only R = {', '.join(map(str, able))} can" in why


@pytest.mark.parametrize("shape, T, R, least", [((8, 8, 8), 1, 16, 4.23), ((9, 9), 1, 3, 4.71), ((10, 10), 2, 5, 5.28),
                                               ((8, 8, 8), 1, 8, 4), ((4, 4, 4), 1, 8, 2), ((8, 8, 4), 1, 2, 4)])
def test_the_joint_bound_beyond_the_all_to_all(shape, T, R, least):
    torus = Torus(shape)
    grid = ProcessGrid(R, torus.n_nodes * T // R)
    bound = Bounds(Site(torus, T), grid).together.value
    assert least <= bound < least + 0.01 <= at_once(2).of_loads(
        ORDER.joint_of_product(best_product(torus, grid, T, at_once(2)), ("r", "c"))) + 0.01
