"""Grids PxQxS: all placements of small networks, the search, and words. Messages and loads are those of `brute_force`."""

from itertools import permutations

import numpy as np
import pytest

from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GridError, PencilmapError, ScheduleError
from pencilmap.model.decompositions import CUBIC
from pencilmap.model.kinds import network_named
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, Transform, parse_transform
from pencilmap.model.predict import predict, predict_routed
from pencilmap.model.predict.certificates import Bounds
from pencilmap.model.predict.program import predict_program
from pencilmap.model.traffic.program import Phase, Traffic, pairs_of
from tests.model import brute_force as brute

NETWORKS = ("8", "8:mesh", "4x2", "2x2x2", "4x2:twisted", "4", "fat-tree:leaves=4,hosts=2,up=1", "hyperx:2x2,hosts=2",
            "dragonfly:a=2,p=2,groups=2,cables=1", "dragonfly-plus:leaves=2,spines=2,hosts=2,groups=2")
GRID = ProcessGrid(2, 2, 2, decomposition=CUBIC)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("transform", [None, Transform(5, 3, 7), Transform(5, 3, 7, backward=True)], ids=str)
def test_of_all_placements_none_is_below_the_bound_and_the_search_is_never_slower_than_the_launch_order(text, transform):
    site = Site(network := network_named(text), 8 // network_named(text).n_nodes)
    found = [predict_routed(Mapping(network, GRID, site.tasks_per_node, slots // site.tasks_per_node,
                                    slots % site.tasks_per_node), transform).cost
             for slots in (np.array(order) for order in permutations(range(8))
                           if order[0] == min(order) and order[1] < order[2] < order[4])]  # others are turned, mirrored
    assert len(found) == 840
    best, launch = (predict(placed, transform).cost for placed in (candidates(site, GRID, transform=transform)[-1],
                                                                 launched(site, GRID)))
    assert 0 < Bounds(site, GRID, transform, routing="").in_sequence.value <= min(found) <= best <= launch


@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("backward", [False, True])
def test_the_exchanges_load_the_busiest_links_as_phases_of_single_messages_do(text, backward):
    network = network_named(text)
    grid, transform = ProcessGrid(2, 4, 3, decomposition=CUBIC), Transform(7, 9, 11, backward=backward)
    place = np.random.default_rng(len(text)).permutation(-(-24 // network.n_nodes) * network.n_nodes)[:24]
    mapping = Mapping(network, grid, -(-24 // network.n_nodes), place % network.n_nodes, place // network.n_nodes)
    phases = [Phase(24, pairs_of(*np.array(some).T)) for some in brute.messages(grid, transform)]
    busiest = predict_program(mapping, Traffic(24, tuple(phases))).phase_bytes
    found = [max(stage.load) * transform.total_bytes / (4 * network.n_nodes) for stage in predict(mapping, transform).stages]
    assert list(busiest) == pytest.approx([float(each) for each in found], rel=1e-9) and min(busiest) > 0


def test_a_grid_of_bricks_is_read_from_its_three_numbers_and_refused_in_words():
    where = setting(network="4x4", fft="16", bandwidth="1 GB/s")
    best, launch = where.predictions("2x4x2", ["best", "default"])
    assert best.grid.decomposition is CUBIC and best.cost <= launch.cost and len(best.stages) == 3
    assert [stage.work.messages for stage in launch.stages if stage.work] == [1, 3, 1]
    assert where.predictions("2x4x2", ["default"], schedule="best")[0].cost == launch.cost
    with pytest.raises(ScheduleError, match="follow each other whole; take the schedule sequence"):
        where.predictions("2x4x2", ["default"], schedule="overlap")
    with pytest.raises(GridError, match="changes the number of elements of an axis"):
        predict(launched(where.site, best.grid), parse_transform("16:r2c"))
    assert str(where.place("box:2x1", best.grid)) == "digits:x=x2y2,y=y2z2"
    for text, words in (("box:2x2", "x-lines of 2 tasks do not fill"), ("lattice", "needs rows and columns")):
        with pytest.raises(PencilmapError, match=words):
            where.predictions("2x4x2", [text])
    with pytest.raises(GridError, match="has 32 tasks, but"):
        where.grid("2x4x4")
