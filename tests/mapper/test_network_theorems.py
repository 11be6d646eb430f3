"""The theorems of docs/theory.md on switches, with every message routed: trees without effect, balanced dragonflies."""

from fractions import Fraction

import numpy as np
import pytest

from pencilmap.model.kinds import network_named
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.predict import predict


def cost(network, grid, nodes, routing=None):
    mapping = Mapping(network, grid, 1, np.asarray(nodes), np.zeros(grid.n_tasks, dtype=np.int64), "given")
    return predict(mapping, routing_name=routing).cost


def of_hosts(grid):
    """Return the cost if the links of the hosts carry the largest load."""
    return 4 * (2 - Fraction(1, grid.shape[0]) - Fraction(1, grid.shape[1]))


@pytest.mark.parametrize("text, grid", [
    ("fat-tree:leaves=4,hosts=3,up=3", "3x4"), ("fat-tree:leaves=4,hosts=3,up=4", "2x6"),
    ("fat-tree:leaves=6,hosts=4,up=4", "4x6"), ("fat-tree:leaves=6,hosts=4,up=4", "12x2")])
def test_on_trees_with_a_cable_up_for_each_host_all_placements_cost_the_same(text, grid):
    network, grid, random = network_named(text), parse_grid(grid), np.random.default_rng(3)
    hosts = np.arange(grid.n_tasks)
    assert {cost(network, grid, random.permutation(hosts)) for _ in range(12)} == {of_hosts(grid)}


def test_with_fewer_cables_up_the_placement_matters():
    network, grid, random = network_named("fat-tree:leaves=4,hosts=3,up=2"), parse_grid("3x4"), np.random.default_rng(3)
    assert len({cost(network, grid, random.permutation(12)) for _ in range(12)}) > 1


@pytest.mark.parametrize("text, grid", [("dragonfly:a=2,p=1,h=1", "2x3"), ("dragonfly:a=4,p=2,h=2", "8x9")])
def test_on_balanced_dragonflies_rows_that_are_the_groups_load_no_link_more_than_those_of_hosts(text, grid):
    network, grid, random = network_named(text), parse_grid(grid), np.random.default_rng(3)
    hosts = np.arange(grid.n_tasks)
    assert cost(network, grid, hosts, "minimal") == of_hosts(grid)
    assert all(cost(network, grid, random.permutation(hosts), "minimal") >= of_hosts(grid) for _ in range(4))
