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
from pencilmap.mapper.seeds.graph import network_graph, scotch_is_there, scotch_mapping, task_graph
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds import network_named
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from tests.model.test_switched_networks import RANDOM

needs_scotch = pytest.mark.skipif(not scotch_is_there(), reason="Scotch is missing: apt-get install scotch")


def numbers(text):
    return [[int(word) for word in line.split()] for line in text.splitlines()]


@pytest.mark.parametrize("R, C", [(1, 3), (2, 3), (3, 2)])
def test_the_graph_of_the_tasks_is_symmetric_and_weighs_every_pair_once_each_way(R, C):
    (_,), (P, arcs), _, *vertices = numbers(task_graph(ProcessGrid(R, C)))
    weight = {(a, b): w for a, (n, *edges) in enumerate(vertices) for w, b in zip(edges[::2], edges[1::2], strict=True)}
    assert (P, arcs) == (R * C, R * C * (R + C - 2)) and len(weight) == arcs
    for (a, b), w in weight.items():
        assert weight[b, a] == w == (C if a // R == b // R else R)


@pytest.mark.parametrize("torus", [Torus((4, 3)), Torus((4, 3), (False, True)), Torus((2, 2, 2)), Torus((5,))], ids=str)
def test_the_graph_of_the_network_has_a_vertex_a_node_and_an_arc_a_link(torus):
    (_,), (N, arcs), _, *vertices = numbers(network_graph(torus))
    assert (N, arcs) == (torus.n_nodes, 2 * torus.n_cables) and len(vertices) == N
    for a, (n, *others) in enumerate(vertices):
        assert n == len(set(others)) and all(a in vertices[b][1:] for b in others)


def test_a_task_too_many_goes_to_the_nearest_free_slot():
    site = Site(Torus((8,)), allocation=Allocation(Torus((8,)), [0, 1, 2, 3, 6]))
    mapping = scotch._seated(site, ProcessGrid(1, 5), np.array([0, 0, 2, 3, 1]))
    assert mapping.node_of_rank.tolist() == [0, 6, 2, 3, 1]


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
@pytest.mark.parametrize("torus, T, missing, grid", [
    (Torus((4, 4)), 1, 0, ProcessGrid(4, 4)), (Torus((4, 4), (False, True)), 2, 3, ProcessGrid(2, 13)),
    (Torus((4, 4, 4)), 1, 0, ProcessGrid(6, 8))], ids=str)
def test_scotch_places_on_usable_nodes(torus, T, missing, grid):
    site = Site(torus, T, Allocation(torus).without(np.arange(missing)), idle=True)
    mapping = scotch_mapping(site, grid)
    site.check_mapping(mapping)
    assert predict(mapping, site=site).certificate >= 1


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
