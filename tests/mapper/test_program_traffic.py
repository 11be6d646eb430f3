"""Placements of any program, and its traffic on other grids: against messages and cells counted one by one, known optima."""

import csv
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from itertools import permutations, product
from math import prod
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.programs import place_program, with_other_grids
from pencilmap.mapper.searches.traffic_search import search_traffic, swaps_of
from pencilmap.mapper.seeds.graph import scotch_starts
from pencilmap.mapper.seeds.traffic import hop_bytes, traffic_starts
from pencilmap.mapper.setting import setting
from pencilmap.mapper.traffic_files import parse_traffic, read_traffic
from pencilmap.mapper.traffic_files.traced import text
from pencilmap.model.base.arrays import factorisations
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.bounds.graph_cuts import program_bound
from pencilmap.model.kinds import default_routing, network_named, routing
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.program import predict_program
from pencilmap.model.routing.routes import largest_loads
from pencilmap.model.traffic.other_grids import CODES
from pencilmap.model.traffic.patterns import grid_of
from pencilmap.model.traffic.program import STATED, Phase, Traffic, joined, one_phase, pairs_of
from tests.documents import run_by
from tests.model import brute_force as brute
from tests.patience import patience

NETWORKS = [("4x4", 2), ("5x4:mesh", 1), ("4x3x2", 2), ("4x8:twisted", 1), ("fat-tree:leaves=4,hosts=4,up=2", 2),
            ("fat-tree:leaves=8,hosts=4,up=2,pods=2,core=1", 1), ("fat-tree:leaves=4,hosts=4,up=2,rails=2", 2),
            ("fat-tree:leaves=4,hosts=4,up=2,links=2,use=task", 2), ("dragonfly:a=4,p=2,h=2", 1),
            ("dragonfly-plus:leaves=4,spines=4,hosts=2,groups=3", 1), ("hyperx:4x4,hosts=2", 1)]


def random_traffic(n, per_rank=5, seed=1, phases=1):
    random = np.random.default_rng(seed)
    return Traffic(n, tuple(Phase(n, pairs_of(*random.integers(n, size=(2, per_rank * n)),
                                              random.integers(1, 1000, per_rank * n))) for _ in range(phases)))


def halo(extents, bytes_by_step=(64000, 8000, 1000), names=None):
    """The periodic halo of a grid, ranks in row-major order or renamed."""
    n = int(np.prod(extents))
    where, size = np.array(np.unravel_index(np.arange(n), extents)), np.array(extents)[:, None]
    names = np.arange(n) if names is None else names
    parts = [(names, names[np.ravel_multi_index(tuple((where + np.array(step)[:, None]) % size), extents)],
              np.full(n, bytes_by_step[sum(map(abs, step)) - 1]))
             for step in product((-1, 0, 1), repeat=len(extents)) if any(step)]
    return one_phase(n, pairs_of(*(np.concatenate(column) for column in zip(*parts))))


def places_of(network, tasks):
    return np.repeat(np.arange(network.n_nodes), tasks), np.tile(np.arange(tasks), network.n_nodes)


@pytest.mark.parametrize(("text", "tasks"), NETWORKS)
def test_tables_of_routes_give_the_loads_of_the_rule(text, tasks):
    network = network_named(text)
    node, slot = places_of(network, tasks)
    traffic = random_traffic(len(node))
    some = np.random.default_rng(2).permutation(len(node))
    kinds = {default_routing(network), *({"each-hop"} if "dragonfly" in text or "hyperx" in text else ())}
    for name in kinds | ({"dimension-order:parity"} if text == "4x4" else set()):
        rule = routing(name, network)
        exact = rule.loads(network, traffic.total.exchange, network.ends(node[some], slot[some]))
        swaps = swaps_of(traffic, rule.routes(network, node, slot), tasks)
        assert swaps.cost(some) == pytest.approx(largest_loads(network, exact), rel=1e-9)


@pytest.mark.parametrize("wrap", [True, False])
def test_loads_of_a_torus_are_those_of_messages_walked_one_by_one(wrap):
    network = network_named("4x5" if wrap else "4x5:mesh")
    traffic, node = random_traffic(20), np.random.default_rng(3).permutation(20)
    pairs = traffic.pairs
    loads = brute.dimension_order(network, zip(*(some.tolist() for some in (pairs.source, pairs.target, pairs.bytes))), node)
    mapping = Mapping(network, ProcessGrid(20, 1), 1, node, np.zeros(20, int))
    found = predict_program(mapping, traffic)
    assert found.link_bytes == max(loads.values())


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "tasks"), [("3x2", 1), ("2x2", 1), ("5:mesh", 1), ("3", 2), ("2x3:mesh", 1),
                                             ("fat-tree:leaves=2,hosts=3,up=1", 1), ("fat-tree:leaves=2,hosts=2,up=1", 1)])
@pytest.mark.parametrize("seed", range(3))
def test_bound_is_below_every_placement(text, tasks, seed):
    network = network_named(text)
    node, slot = places_of(network, tasks)
    n = len(node)
    traffic = random_traffic(n, per_rank=2 + seed, seed=seed, phases=1 + seed % 2)
    if seed == 2:  # all ranks talk evenly: cuts are tight
        traffic = one_phase(n, pairs_of(*np.mgrid[:n, :n].reshape(2, -1), 100))
    swaps = swaps_of(traffic, routing(default_routing(network), network).routes(network, node, slot), tasks)
    least = min(swaps.cost(np.array(some)) for some in permutations(range(n)))
    bound = program_bound(Site(network, tasks), traffic)
    assert 0 < bound <= least * (1 + 1e-12)
    found = search_traffic(Site(network, tasks), traffic, routing(default_routing(network), network), scotch=False)
    assert found.cost == pytest.approx(least)


@pytest.mark.parametrize("extents", [(5, 6), (4, 4, 4), (3, 3, 3), (16, 4, 2), (7, 7)])
def test_grid_is_found_whatever_the_numbers_of_the_ranks(extents):
    names = np.random.default_rng(1).permutation(int(np.prod(extents)))
    pairs = halo(extents, names=names).pairs
    found = grid_of(len(names), pairs.source, pairs.target, pairs.bytes)
    assert sorted(found.extents) == sorted(extents)
    pairs = pairs.where(pairs.bytes == pairs.bytes.max())  # faces; the diagonals of rings of 4 are not unique
    apart = np.abs(found.coordinates[pairs.source] - found.coordinates[pairs.target])
    size = np.array(found.extents)
    assert (np.minimum(apart, size - apart) <= 1).all()


def test_shuffled_halo_is_unshuffled():
    traffic = halo((8, 8, 8), names=np.random.default_rng(3).permutation(512))
    found = search_traffic(Site(network_named("8x8x8")), traffic, DimensionOrder(), Search(0), scotch=False)
    assert found.cost <= 120_000


TREES_AND_DRAGONFLIES = ["fat-tree:leaves=4,hosts=4,up=2", "fat-tree:leaves=8,hosts=4,up=1",
                         "dragonfly:a=2,p=2,h=2,groups=4", "dragonfly:a=4,p=2,h=2"]


@pytest.mark.sampled(2)
@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["random", "halo"])
@pytest.mark.parametrize("text", TREES_AND_DRAGONFLIES)
def test_never_worse_than_the_launcher_hop_bytes_or_scotch(text, kind):
    network = network_named(text)
    site, n = Site(network), network.n_nodes
    names = np.random.default_rng(2).permutation(n)
    traffic = random_traffic(n, per_rank=3, phases=2) if kind == "random" else halo((4, n // 4), (64000, 8000), names)
    rule = routing(default_routing(network), network)
    found = search_traffic(site, traffic, rule, Search(100_000_000))

    def exact(places):
        return predict_program(Mapping(network, ProcessGrid(n, 1), 1, places, np.zeros(n, int)), traffic).link_bytes

    tables = rule.routes(network, *places_of(network, 1))
    others = [np.arange(n), hop_bytes(traffic, tables), *(places for _, places in scotch_starts(site, traffic))]
    assert exact(found.places) <= min(map(exact, others)) * (1 + 1e-9)
    assert found.cost == pytest.approx(exact(found.places)) and found.cost <= min(found.costs.values())
    assert program_bound(site, traffic) <= found.cost * (1 + 1e-12)


def test_bytes_times_hops_are_those_of_the_best_permutation():
    """Random traffic of six ranks, against all placements."""
    network = network_named("3x2:mesh")
    traffic, (node, slot) = random_traffic(6), places_of(network, 1)
    tables = DimensionOrder().routes(network, node, slot)
    total, hops = traffic.total.bytes.toarray(), tables.hops(node, node)

    def cost(places):
        return (total * hops[np.ix_(places, places)]).sum()

    assert cost(hop_bytes(traffic, tables)) <= 1.1 * min(cost(list(some)) for some in permutations(range(6)))


@pytest.mark.parametrize(("head", "bandwidth", "said"), [
    ("seconds 100", "1 GB/s", "can hardly help"), ("seconds 0.000001", "1 GB/s", "more than the 1e-06 s"),
    ("seconds 0.00003", "1 GB/s", "saves at most"), ("", None, "name it, or the machine"),
    ("", "1 GB/s", "pencilmap trace writes"),
    ("seconds 100\nprocessor_seconds 0.00002\nranks_per_core 1", "1 GB/s", "can hardly help"),
    ("seconds 100\nprocessor_seconds 0.00002\nranks_per_core 1.5", "1 GB/s", "take with the 2e-05 s of processor time"),
    ("seconds 0.00003\nprocessor_seconds 10\nranks_per_core 2", "1 GB/s", "can hardly help"),
    ("seconds 100\nranks_per_core 2", "1 GB/s", "is open: the ranks shared cores")])
def test_advice_compares_links_and_run(tmp_path, head, bandwidth, said):
    """The wall time of ranks that share cores says little."""
    rows = [(0, 5, 8000), (3, 6, 9000), (1, 7, 800), (2, 4, 7000), (5, 2, 400), (6, 1, 3000), (7, 3, 600), (4, 0, 90)]
    pairs = "".join(f"0 -1 0 {a} {b} {n} 1\n" for a, b, n in rows)
    (tmp_path / "t.txt").write_text(f"pencilmap traffic 1\nranks 8\n{head}\nphase 0 times 1 seconds 0.0\n{pairs}end 8\n")
    placed = setting(network="8:mesh", bandwidth=bandwidth).program(tmp_path / "t.txt")
    assert said in placed.advice


TIMED = """pencilmap traffic 1
ranks 4
seconds 99
ranks_per_core 1.0
phase 0 times 1 seconds 6.0
phase 1 times 2 seconds 11.0 level 3
rank 0 computing 1.0 10.0 waiting 5.0 1.0
rank 1 computing 2.0 10.0 waiting 4.0 1.0
rank 2 computing 3.0 9.0 waiting 3.0 2.0
rank 3 computing 4.0 9.0 waiting 2.0 2.0
0 -1 0 0 1 2000000000 1000
1 -1 0 2 3 500000000 10
end 2
"""


def test_the_time_of_a_program_by_hand(tmp_path):
    """At 1 GB/s: 4 s + 1000 ms + 2 s, then 10 s + 10 ms + 0.5 s. Rank 3 computes for 13 s in all."""
    traffic = parse_traffic(Document(TIMED.encode(), "demo"))
    (tmp_path / "t.txt").write_text(text(traffic))
    found, fast = (setting(network="4:mesh", bandwidth=rate).program(tmp_path / "t.txt") for rate in ("1 GB/s", "9 GB/s"))
    p = predict_program(found.mappings[0], traffic, message_cost=1e-3)
    assert [list(phase.values())[1:] for phase in p.as_dict()["phases"]] == [[4, 1.5, 1, 2], [10, 0.5, 0.01, 0.5]]
    assert p.time_s == pytest.approx(17.51) and p.least_s == 13
    assert found.predictions[0].time_s == 16.5
    assert found.advice.startswith("the program takes 16.5 s (predicted: computing 14 s, links 2.5 s); if all overlaps, at "
                                   "least 13 s. Placement cannot help level 3 (10.5 s)")
    assert fast.advice.startswith("placement can hardly help: of 14.3 s (predicted), the ranks compute for 14 s")
    assert found.traffic.phases[1].waiting.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(("line", "other", "said"), [
    ("rank 1 computing 2.0 10.0 waiting 4.0 1.0", "# none", "line 7: 3 lines of ranks; there is one for each of 4 in order"),
    ("rank 1 computing 2.0 10.0", "rank 1 computing 2.0", "line 8: 1 times of 2 phases"),
    ("rank 1 computing 2.0", "rank 1 computing nan", "line 8: 'rank 1 computing nan")])
def test_times_of_some_ranks_are_refused(line, other, said):
    with pytest.raises(TrafficError, match=said):
        parse_traffic(Document(TIMED.replace(line, other).encode(), "demo"))


@pytest.mark.thorough
def test_commands_of_the_page(tmp_path):
    (tmp_path / "traffic.txt").write_text("".join(f"{a} {(a + 3) % 8} 1000\n" for a in range(8)))
    for command in run_by(__file__):
        words = [sys.executable, "-m", "pencilmap", *shlex.split(command)[1:]]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=patience(300))
        assert done.returncode == 0, done.stderr
        assert "could gain" in done.stdout
    assert (tmp_path / "program.hosts").exists()


@pytest.mark.parametrize("sizes", [(4, 4, 4, 4), (3, 5), (16,)])
def test_groups_of_all_to_alls_are_no_grid_and_have_placements(sizes):
    """The sizes of groups are not the extents of a grid of all ranks."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    source, target = np.nonzero((group[:, None] == group) & ~np.eye(len(group), dtype=bool))
    traffic = one_phase(len(group), pairs_of(source, target, 1000))
    site = Site(network_named("fat-tree:leaves=4,hosts=4,taper=2"), 1, idle=True)
    for name, places in traffic_starts(site, traffic):
        assert len(set(places.tolist())) == len(places) == len(group), name


TRACES = Path(__file__).parent / "traces"  # LAMMPS 2022-01-06, 40 steps of INPUT, the traces without their collectives
# GROMACS 2022.5, 150 steps of 24,000 SPC/E waters in a box of 9 nm, reaction field, cutoff 0.9 nm, mdrun -npme 0 -dlb no,
# its first four phases added up
INPUT = """units lj
processors {} {} {}
lattice fcc 0.8442
region box block 0 {} 0 {} 0 {}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run 40
"""


def launch_load(network, traffic):
    return place_program(setting(network=network), traffic, ("default",)).predictions[0].link_bytes


def numbers(code, extents):
    """The rank at each position of a grid: int array of its extents."""
    n = np.arange(prod(extents))
    return n.reshape(extents[::-1]).T if code.first_fastest else n.reshape(extents)


def halo_of(code, extents, domain, periodic, returned=1):
    """The halo of depth 1 of a domain of cells, a message from each side: cells of their owners, or forwarded by axes.

    Ends of an axis with one rank are copied without messages, if the code has halos there. From one side only: the halo of
    the next positions comes, and this part of the bytes goes back.
    """
    ranks, sent, one_side = numbers(code, extents), Counter(), code.forwards == 1
    blocks = [[range(n // p * k, n // p * (k + 1)) for k in range(p)] for n, p in zip(domain, extents)]
    owners = [{cell: k for k, block in enumerate(axis) for cell in block} for axis in blocks]
    for at in product(*(range(p) for p in extents)):
        own = [axis[k] for axis, k in zip(blocks, at)]
        wraps = [end and (p > 1 or code.has_own_ends) for p, end in zip(extents, periodic)]
        around = [[c for c in range(b[0] - (not one_side), b[-1] + 2) if end or 0 <= c < n]
                  for b, n, end in zip(own, domain, wraps)]
        for cell in product(*around):
            outside = [i for i, c in enumerate(cell) if c not in own[i]]
            if code.forwards:  # the neighbour along the last of these axes has the cell already
                outside = outside[-1:]
            source = tuple(owners[i][cell[i] % domain[i]] if i in outside else at[i] for i in range(len(at)))
            side = tuple((cell[i] > own[i][0]) - (cell[i] < own[i][0]) if i in outside else 0 for i in range(len(at)))
            sent[int(ranks[source]), int(ranks[at]), side] += 8
            sent[int(ranks[at]), int(ranks[source]), (*side, "back")] += round(8 * one_side * returned)
    return one_phase(prod(extents), pairs_of(*np.array([(a, b, size) for (a, b, _), size in sent.items() if size]).T))


@pytest.mark.parametrize(("name", "grid", "domain", "periodic"), [
    ("cart3d", (4, 2, 2), (16, 16, 16), (True, False, True)), ("cart3d", (2, 4, 2), (32, 16, 16), (False, False, False)),
    ("cart2d", (4, 4), (32, 16), (True, True)), ("openfoam", (4, 2, 2), (16, 32, 16), (False, False, False)),
    ("nemo", (8, 2), (32, 32), (True, False)), ("wrf", (4, 4), (64, 16), (False, False)),
    ("cp2k", (2, 2, 4), (16, 32, 16), (True, True, True))])
def test_halos_of_other_grids_are_those_of_their_cells(name, grid, domain, periodic):
    code = CODES[name]
    found = with_other_grids({code.said(grid): halo_of(code, grid, domain, periodic)}, name)
    assert len(found) > 3
    for words, traffic in found.items():
        true = halo_of(code, code.numbers(words), domain, periodic)
        assert np.array_equal(traffic.total.bytes.toarray(), true.total.bytes.toarray()), words


@pytest.mark.parametrize(("name", "grid", "lengths", "returned", "n_others"), [
    ("lammps", (2, 2, 4), "", 1, 14), ("lammps", (2, 4, 4), "", 1, 20), ("lammps", (2, 2, 4), ":16x32x16", 1, 14),
    ("gromacs", (2, 2, 4), "", 1, 14), ("gromacs", (2, 2, 4), ":16x32x16", 0.25, 14), ("gromacs", (2, 2, 4), "", 0, 14)])
def test_forwarded_halos_of_other_grids_are_those_of_their_cells(name, grid, lengths, returned, n_others):
    code, domain = CODES[name], (16, 32, 16) if lengths else (32,) * 3
    found = with_other_grids({code.said(grid): halo_of(code, grid, domain, (True,) * 3, returned)}, f"{name}{lengths}")
    assert len(found) == n_others + 1
    for words, traffic in found.items():
        true = halo_of(code, code.numbers(words), domain, (True,) * 3, returned).total.bytes.toarray()
        assert np.abs(traffic.total.bytes.toarray() - true).max() <= 0.002 * true.max(), words


@pytest.mark.parametrize(("name", "grid"), [("2decomp", (8, 4)), ("p3dfft", (2, 16)), ("fft", (4, 8))])
def test_transforms_on_other_grids_move_the_points_of_their_pencils(name, grid):
    def transposes(rows, columns, n=64):
        """Every point of a cube from the rank with its x-pencil to that with its y-pencil, then to its z-pencil."""
        y, z = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        x, across = y, z  # the first axis of the cut that is followed
        first = (y * rows // n) + rows * (z * columns // n)
        pairs = [pairs_of(np.repeat(first.ravel(), rows), (np.tile(np.arange(rows), n * n) + rows *
                          np.repeat((z * columns // n).ravel(), rows)), 16 * n // rows)]
        second = (x * rows // n) + rows * (across * columns // n)
        pairs.append(pairs_of(np.repeat(second.ravel(), columns), np.repeat((x * rows // n).ravel(), columns) + rows *
                              np.tile(np.arange(columns), n * n), 16 * n // columns))
        return np.sum([one_phase(rows * columns, part).total.bytes.toarray() for part in pairs], axis=0)

    source, target = np.nonzero(transposes(*grid))
    trace = one_phase(32, pairs_of(source, target, transposes(*grid)[source, target]))
    found = with_other_grids({CODES[name].said(grid): trace}, name)
    assert {CODES[name].numbers(words) for words in found} == set(factorisations(32, 2))
    for words, traffic in found.items():
        assert np.array_equal(traffic.total.bytes.toarray(), transposes(*CODES[name].numbers(words)))


def measured(name, domain, network):
    """The busiest links of traces in the launch order, by the words of the grid."""
    with (TRACES / "measured.csv").open(encoding="ascii") as lines:
        return {CODES[name].said(tuple(map(int, row["grid"].split("x")))): float(row["bytes"])
                for row in csv.DictReader(lines) if (row["code"], row["domain"], row["network"]) == (name, domain, network)}


@pytest.mark.parametrize(("name", "domain", "network", "traces", "known"), [
    ("lammps", "16x16x16", "4x4", {"2 2 4": "lammps-cube-16.txt"}, ""),
    ("lammps", "24x16x10", "4x4", {"4 2 2": "lammps-box-16.txt"}, ":24x16x10"),
    ("lammps", "24x16x10", "4x4", {"4 2 2": "lammps-box-16.txt", "2 2 4": "lammps-box-16-2.txt"}, ""),
    ("gromacs", "9x9x9", "4x4", {"2 2 4": "gromacs-16.txt"}, "")])
def test_grids_of_programs_load_their_busiest_links_as_predicted(name, domain, network, traces, known):
    found = with_other_grids({grid: read_traffic(TRACES / file) for grid, file in traces.items()}, name + known)
    real = measured(name, domain, network)
    predicted = {words: launch_load(network, traffic) for words, traffic in found.items() if words in real}
    assert len(predicted) >= len(real) - len(traces) >= 7
    assert predicted == pytest.approx({words: real[words] for words in predicted}, rel=0.02 if name == "lammps" else 0.05)


def in_turn(code, extents):
    """The halo of a cube whose messages in each direction follow those in the directions before."""
    pairs, n = halo_of(code, extents, (16,) * 3, (True,) * 3).pairs, prod(extents)
    at = np.array(np.unravel_index(np.argsort(numbers(code, extents), axis=None), extents))
    steps = (at[:, pairs.target] - at[:, pairs.source]) % np.array(extents)[:, None]
    order = np.unique(steps, axis=1, return_inverse=True)[1].reshape(-1)
    return Traffic(n, tuple(Phase(n, pairs.where(order == k)) for k in range(order.max() + 1)))


def test_messages_in_turn_are_in_turn_on_other_grids():
    code = CODES["lammps"]
    found = with_other_grids({"2 2 4": in_turn(code, (2, 2, 4))}, "lammps")
    loads, right = ({words: sum(launch_load("4x4", one_phase(16, phase.pairs)) for phase in traffic.phases)
                     for words, traffic in some.items()}
                    for some in (found, {words: in_turn(code, code.numbers(words)) for words in found}))
    assert len(loads) > 9 and loads == pytest.approx(right, rel=0.02)


def test_other_messages_and_phases_stay_on_other_grids():
    code, kept = CODES["gromacs"], pairs_of([0, 3], [3, 9], [9000, 800], kind=STATED)
    halos = [halo_of(code, (2, 2, 4), (n,) * 3, (True,) * 3).pairs for n in (16, 32)]
    trace = Traffic(16, (Phase(16, halos[0]), Phase(16, joined([halos[1], kept]), times=3)))
    for traffic in with_other_grids({"2 2 4": trace}, "gromacs").values():
        first, second = traffic.phases
        assert (first.times, second.times) == (1, 3) and second.pairs.bytes.sum() > 3 * first.pairs.bytes.sum()
        found = second.pairs.of([STATED])
        assert all(np.array_equal(getattr(found, n), getattr(kept, n)) for n in ("source", "target", "bytes"))


def test_ranks_of_gromacs_in_other_orders_have_the_same_partners():
    """The ranks of the PME ranks as GROMACS 2022.5 numbered them; its busiest links are those of this within 0.1 %."""
    ends = {4: {"interleave": (3, 7, 11, 15), "pp_pme": (12, 13, 14, 15), "cartesian": (12, 13, 14, 15)},
            8: {"interleave": range(1, 16, 2), "pp_pme": range(8, 16), "cartesian": (2, 3, 6, 7, 10, 11, 14, 15)}}

    def traffic(pme):
        order = np.array([*np.setdiff1d(np.arange(16), pme), *pme])
        n_cells = 16 - len(pme)
        cells = np.arange(n_cells)
        partner = n_cells + cells // (n_cells // len(pme))
        links = [(cells, partner, 900 + cells), (partner, cells, 800 + cells), (cells, (cells + 1) % n_cells, 50 + cells)]
        return one_phase(16, pairs_of(*(np.concatenate(column) for column in
                                        zip(*((order[a], order[b], size) for a, b, size in links)))))

    for cells, n_pme in (("3 2 2", 4), ("2 2 2", 8)):
        name = f"-npme {n_pme} -dd {cells}"
        for given, pme in ends[n_pme].items():
            found = with_other_grids({f"{name} -ddorder {given}": traffic(pme)}, "gromacs")
            assert len(found) == 3
            for words, other in found.items():
                true = traffic(ends[n_pme][words.split()[-1]])
                assert np.array_equal(other.total.bytes.toarray(), true.total.bytes.toarray()), words
    trace = traffic(ends[4]["interleave"])
    assert list(with_other_grids({"-npme 4": trace}, "gromacs")) == ["-npme 4", "-npme 4 -ddorder pp_pme"]  # the usual first
    assert len(with_other_grids({"-npme 4 -dd 2 3 2": trace}, "gromacs")) == 2  # cartesian gives other partners there
    for wrong in ("-npme 4 -ddorder pp_pme", "-npme 5", "-npme 12", "-npme 4 -dd 3 2 1", "-npme 4 -ddorder x"):
        with pytest.raises(TrafficError, match="the trace is none of"):
            with_other_grids({wrong: trace}, "gromacs")


def test_an_exchange_between_the_ranks_of_a_halo_is_refused():
    """As PPPM of LAMMPS mixes them; a trace of it had 13 % of the bytes elsewhere."""
    halo_alone = halo_of(CODES["lammps"], (2, 2, 4), (16,) * 3, (True,) * 3)
    more = pairs_of(*np.array([(a, b) for a in range(8) for b in range(8) if a != b]).T,
                    int(halo_alone.pairs.bytes.sum()) // 100)
    assert len(with_other_grids({"2 2 4": halo_alone}, "lammps")) == 15
    with pytest.raises(TrafficError, match="of the bytes are not where the halo of processors 2 2 4 has them"):
        with_other_grids({"2 2 4": one_phase(16, joined([halo_alone.pairs, more]))}, "lammps")
    with pytest.raises(TrafficError, match="no options of qe are predicted.*pw.x -nk N"):
        with_other_grids({"-nk 1": halo_alone}, "qe")


def test_a_domain_whose_shape_is_not_known_is_refused():
    trace, cube = (read_traffic(TRACES / f"lammps-{name}-16.txt") for name in ("box", "cube"))
    for traces, code, reason in (({"4 2 2": trace}, "lammps", "shape of the domain"), ({"4 2 2": trace}, "lamps", "lammps?"),
                                 ({"4 2 2": trace}, "lammps:4x0x1", "not understood;"),
                                 ({"4 2 2": trace}, "lammps:", "not understood;"),
                                 ({"2 2 3": trace}, "lammps", "has 16 ranks, and this grid 12"),
                                 ({"4 2 2": cube}, "lammps", "100% of the bytes .* processors 2 2 4, 85% in"),
                                 ({"t": trace}, "fft", "no grid of 2"),
                                 ({"2 2 4": trace}, "lammps", "of the bytes are in the halo")):
        with pytest.raises(TrafficError, match=reason.replace("?", r"\?")):
            with_other_grids(traces, code)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("lmp") or not shutil.which("mpirun.openmpi"), reason="needs LAMMPS with Open MPI")
@pytest.mark.parametrize("n", [16, 32])
def test_all_grids_of_lammps_are_predicted_from_one_trace(n, tmp_path):
    found, network = {}, {16: "4x4", 32: "8x4"}[n]
    for grid in factorisations(n, 3):
        (tmp_path / "in").write_text(INPUT.format(*grid, 16, 16, 16))
        subprocess.run([sys.executable, "-m", "pencilmap", "trace", "-o", tmp_path / "t", "--", "mpirun.openmpi",
                        "--allow-run-as-root", "--oversubscribe", "-n", str(n), "lmp", "-in", "in", "-screen", "none"],
                       cwd=tmp_path, check=True, timeout=patience(300))
        found[CODES["lammps"].said(grid)] = read_traffic(tmp_path / "t")
    first = CODES["lammps"].said({16: (2, 2, 4), 32: (2, 4, 4)}[n])
    for words, traffic in with_other_grids({first: found[first]}, "lammps").items():
        assert launch_load(network, traffic) == pytest.approx(launch_load(network, found[words]), rel=0.05), words
