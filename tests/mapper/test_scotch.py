"""Scotch's mappings: graphs by hand, valid placements, and ours never worse; skipped without Scotch."""

import sys
from random import Random

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements.best import best
from pencilmap.mapper.searches.annealing import search, work_of_swap
from pencilmap.mapper.searches.network_search import judged_routings
from pencilmap.mapper.seeds import graph as scotch
from pencilmap.mapper.seeds.graph import scotch_is_there, scotch_mapping
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds import network_named
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from tests.model.test_switched_networks import RANDOM

needs_scotch = pytest.mark.skipif(not scotch_is_there(), reason="Scotch is missing: apt-get install scotch")


@pytest.mark.sampled(3)
@needs_scotch
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
@pytest.mark.parametrize("kind", [*RANDOM, "graph"])
def test_best_is_never_worse_than_scotch_on_other_networks(kind, seed):
    """In the worst case over the routings, on random networks with holes and several tasks."""
    rng = Random(seed)
    network = from_networkx(nx.random_regular_graph(3, 14, seed=seed), "graph") if kind == "graph" else None
    while network is None or network.n_nodes < 6:
        network = network_named(RANDOM[kind](rng))
    tasks = rng.choice([1, 2, 4])
    hosts = sorted(rng.sample(range(network.n_nodes), rng.randint(network.n_nodes * 2 // 3, network.n_nodes)))
    site = Site(network, tasks, Allocation(network, hosts), idle=True)
    R = rng.choice([2, 3])
    grid = ProcessGrid(R, site.n_slots // R)
    ours, other = (max(predict(placed, site=site, routing_name=rule).cost for rule in judged_routings(network))
                   for placed in (best("", site, grid), scotch_mapping(site, grid)))
    assert ours <= other


@needs_scotch
def test_the_irregular_case_of_the_issue_is_never_worse_than_scotch():
    torus = Torus((8, 8, 8))
    missing = np.random.default_rng(0).choice(512, 40, replace=False)
    site, grid = Site(torus, 1, Allocation(torus).without(missing)), ProcessGrid(8, 59)
    found = search(site, grid, Search(2000 * work_of_swap(grid)))
    assert predict(found.mapping).cost <= predict(scotch_mapping(site, grid)).cost


def test_without_scotch_its_debian_package_is_named(monkeypatch):
    monkeypatch.setattr(scotch, "which", lambda program: None)
    with pytest.raises(PlacementError, match="Debian package scotch"):
        scotch_mapping(Site(Torus((4,))), ProcessGrid(2, 2))


def test_scotch_runs_on_one_thread_so_that_its_map_is_the_same_each_time():
    code = "import os; raise SystemExit(os.environ['SCOTCH_PTHREAD_NUMBER'] != '1')"
    scotch.run(sys.executable, "-c", code)
