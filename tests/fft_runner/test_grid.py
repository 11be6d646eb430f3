"""The process grid that the library chooses if R or C is 0, against the model's exact loads of every grid."""

import numpy as np
import pytest

from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, transform_of
from pencilmap.model.predict import predict
from pencilmap.model.traffic.exchange import exchanges, node_traffic, remaps

SIZE, P = (64, 60, 48), 12
DIVISORS = (1, 2, 3, 4, 6, 12)
BRICKS = [("brick:2x3x2", SIZE, "c2c"), ("brick:1x12x1", (36, 48, 24), "c2c"), ("brick:3x2x2", (24, 96, 12), "r2c")]
TORI = [((12,), (True,)), ((4, 3), (True, True)), ((4, 3), (True, False)), ((2, 3, 2), (True,) * 3), ((6,), (False,))]


@pytest.fixture
def all_chosen(mpirun, tmp_path):
    """Return the grids of several plans, each given by its words."""
    def ask(cases, ranks=P, ranks_of_a_node=0):
        path = tmp_path / "cases"
        path.write_text("".join(f"{' '.join(map(str, words))}\n" for words in cases))
        done = mpirun(ranks, path, ranks_of_a_node, program="grid_test")
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return ask


def words(*torus, size=SIZE, type="c2c", decomposition="pencil", given=(0, 0)):
    """Return the words of a plan."""
    return (*size, type, decomposition, *given, *torus)


def predicted(torus, nodes, grid, transform):
    slots = [list(nodes[:i]).count(node) for i, node in enumerate(nodes)]
    return predict(Mapping(torus, grid, max(slots) + 1, nodes, slots), transform)


def texts(torus, nodes):
    return [",".join(map(str, where)) for where in torus.coordinates(np.array(nodes)).tolist()]


def test_a_known_torus_decides_by_its_busiest_links(all_chosen):
    """Check default and random orders, one or two ranks a node: no grid loads its busiest link less, within 1 %."""
    cases = []
    for seed, (extents, wrapped) in zip((None, None, 1, 2, 3), TORI):
        torus = Torus(extents, wrapped, (1e9,) * len(extents))
        nodes = np.arange(P) % torus.n_nodes
        cases.append((torus, nodes if seed is None else np.random.default_rng(seed).permutation(nodes)))
    for (torus, nodes), grid in zip(cases, all_chosen([words(torus, *texts(torus, nodes)) for torus, nodes in cases])):
        found = ProcessGrid(*map(int, grid.split("x")))
        all_of_them = {R: predicted(torus, nodes, ProcessGrid(R, P // R), Transform(*SIZE)).t_s for R in DIVISORS}
        assert all_of_them[found.shape[0]] <= 1.01 * min(all_of_them.values()), (str(torus), all_of_them)


def drawn(seed):
    """Draw a torus, up to three ranks a node in any order, and a transform for which some grids leave ranks idle."""
    draw = np.random.default_rng(seed)
    extents = ((12,), (4, 3), (2, 3, 2), (6, 2), (5, 4), (3, 7), (2, 2, 3))[draw.integers(7)]
    torus = Torus(extents, tuple(bool(wrap) for wrap in draw.integers(0, 2, len(extents))), (1e9,) * len(extents))
    nodes = np.arange(P) // draw.integers(1, 4) % torus.n_nodes
    size, kind = ((64, 60, 48), (8, 24, 100), (6, 96, 16), (48, 7, 24))[draw.integers(4)], ("c2c", "r2c")[draw.integers(2)]
    return torus, draw.permutation(nodes) if draw.integers(2) else nodes, size, kind


def test_of_grids_within_one_per_cent_of_the_least_time_the_one_of_fewest_messages_is_taken(all_chosen):
    """Apply the rule to the model's exact times, among grids without idle ranks; the number of messages must match."""
    cases = [drawn(seed) for seed in range(40)]
    found = all_chosen([words(torus, *texts(torus, nodes), size=size, type=kind) for torus, nodes, size, kind in cases])
    ties = idle = 0
    for (torus, nodes, size, kind), grid in zip(cases, found, strict=True):
        modes = size[2] // 2 + 1 if kind == "r2c" else size[2]
        full = [R for R in DIVISORS if min(size[1], modes) >= R and min(size[0], size[1]) >= P // R]
        times = {R: predicted(torus, nodes, ProcessGrid(R, P // R), transform_of(size, kind)).t_s for R in full}
        if min(times.values()) > 0:
            near = [R for R in full if times[R] <= 1.01 * min(times.values()) * (1 + 1e-12)]
            ties, idle = ties + (len(near) > 1), idle + (len(full) < len(DIVISORS))
            R = min(near, key=lambda R: (R + P // R, R))
            assert grid == f"{R}x{P // R}", (str(torus), nodes.tolist(), size, kind, times)
    assert ties > 1 and idle > 5


@pytest.mark.parametrize("machine, bricks", [
    pytest.param(machine, bricks, marks=[] if (i, j) in ((1, 0), (4, 2)) else pytest.mark.slow)
    for i, machine in enumerate(TORI) for j, bricks in enumerate(BRICKS)])
def test_the_pencils_between_bricks_are_those_that_the_model_takes(all_chosen, machine, bricks):
    """The choice has the least time on the busiest links of remaps and exchanges; its number of messages must match."""
    torus, (name, size, kind) = Torus(*machine, (1e9,) * len(machine[0])), bricks
    nodes = np.arange(P) % torus.n_nodes
    [grid] = all_chosen([words(torus, *texts(torus, nodes), size=size, type=kind, decomposition=name)])
    found = int(grid.split("x")[0])
    times = {}
    for R in DIVISORS:
        grid = ProcessGrid(R, P // R, decomposition=decomposition_named(name))
        times[R] = predicted(torus, nodes, grid, transform_of(size, kind)).t_s
    assert times[found] == min(times.values()) and max(times.values()) > 1.2 * times[found], (found, times)


def most_sent(name, size, kind, R):
    """Return the most bytes that a rank sends in all exchanges and remaps, by the messages of the model."""
    grid, transform, sent = ProcessGrid(R, P // R, decomposition=decomposition_named(name)), transform_of(size, kind), 0
    for exchange in (*remaps(grid, transform), *exchanges(grid, transform)):
        traffic = node_traffic(exchange, np.arange(P), P).toarray()
        sent = sent + traffic.sum(axis=1) - np.diag(traffic)
    return int(sent.max())


def test_without_a_torus_the_pencils_between_bricks_for_which_a_rank_sends_least(all_chosen):
    cases = [*BRICKS, ("brick:12x1x1", (24, 24, 24), "c2c"), ("brick:1x1x12", (24, 36, 24), "c2c"),
             ("brick:1x2x6", (24, 36, 48), "r2c"), ("brick:2x6x1", (13, 29, 24), "c2c")]
    found = all_chosen([words(size=size, type=kind, decomposition=name) for name, size, kind in cases])
    for (name, size, kind), grid in zip(cases, found, strict=True):
        sent = {R: most_sent(name, size, kind, R) for R in DIVISORS}
        assert sent[int(grid.split("x")[0])] == min(sent.values()), (name, grid, sent)


def squarest(rows):
    return min(rows, key=lambda R: (max(R, P // R) // min(R, P // R), R))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ranks_of_a_node", range(1, 8))
def test_without_a_torus_the_squarest_whose_rows_stay_inside_nodes(all_chosen, ranks_of_a_node):
    """The smallest node counts. If only rows of a single rank fit inside, the grid is the squarest of all."""
    sizes = [SIZE, (64, 60, 2), (64, 2, 60), (2, 64, 60), (64, 5, 48), (3, 60, 48), (64, 60, 3)]
    found = all_chosen([words(size=size) for size in sizes], ranks_of_a_node=ranks_of_a_node)
    least = P % ranks_of_a_node or ranks_of_a_node
    for size, grid in zip(sizes, found, strict=True):
        full = [R for R in DIVISORS if min(size[1], size[2]) >= R and min(size[0], size[1]) >= P // R] or DIVISORS
        inside = [R for R in full if least % R == 0]
        R = squarest(inside) if inside and squarest(inside) > 1 else squarest(full)
        assert grid == f"{R}x{P // R}", (size, full)


def test_grids_without_a_torus(all_chosen):
    """Inside a node one exchange, if every rank has data or no grid gives data to all, and two where its messages would be
    short; a given number stays."""
    expected = {
        words(size=(48, 48, 48)): "1x12", words(size=(48, 48, 7)): "1x12", words(size=(7, 60, 60)): "12x1",
        words(): "12x1",  # the blocks of z and y are even, those of x are not
        words(size=(7, 60, 2)): "2x6", words(size=(12, 12, 12)): "3x4", words(size=(7, 60, 4), type="r2c"): "3x4",
        words(size=(7, 60, 24), type="r2c"): "3x4",  # 13 complex numbers
        words(given=(6, 0)): "6x2", words(given=(0, 3)): "4x3", words(given=(2, 6)): "2x6",
        words(decomposition="slab"): "1x12", words(decomposition="slab", given=(1, 0)): "1x12",
        words(size=(3, 3, 3)): "3x4", words(size=(1, 64, 60)): "12x1"}
    assert all_chosen(expected) == list(expected.values())
    [refusal] = all_chosen([words(given=(5, 0))])
    assert "must divide the 12 ranks" in refusal
