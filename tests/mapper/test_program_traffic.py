"""Placements of any program: loads against messages walked one by one, bounds against all placements, known optima."""

import shlex
import subprocess
import sys
from itertools import permutations, product

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.hop_bytes import hop_bytes
from pencilmap.mapper.searches.traffic_search import search_traffic, swaps_of
from pencilmap.mapper.seeds.graph import scotch_starts
from pencilmap.mapper.seeds.traffic import traffic_starts
from pencilmap.mapper.setting import setting
from pencilmap.model.bounds.graph_cuts import program_bound
from pencilmap.model.kinds import default_routing, network_named, routing
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.program import predict_program
from pencilmap.model.routing.routes import largest_loads
from pencilmap.model.traffic.patterns import grid_of
from pencilmap.model.traffic.program import Phase, Traffic, one_phase, pairs_of
from tests.documents import run_by
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
    loads = {}
    for a, b, n in zip(traffic.pairs.source, traffic.pairs.target, traffic.pairs.bytes):
        for part, sign in ((n / 2, 1), (n / 2, -1)):  # halves, which differ at half a ring
            here, there = network.coordinates(node[a]).tolist(), network.coordinates(node[b]).tolist()
            for i, extent in enumerate(network.shape):
                up = (there[i] - here[i]) % extent
                step = (1 if there[i] > here[i] else -1) if not wrap else \
                    1 if 2 * up < extent else -1 if 2 * up > extent else sign
                while here[i] != there[i]:
                    loads[i, step, *here] = loads.get((i, step, *here), 0) + part
                    here[i] = (here[i] + step) % extent
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
    ("seconds 0.00003", "1 GB/s", "saves"), ("", None, "name it, or the machine"), ("", "1 GB/s", "pencilmap trace writes"),
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
