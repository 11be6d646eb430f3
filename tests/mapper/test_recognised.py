"""The texts of ring maps and tilings follow again from the ranks alone."""

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.tilings import named
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import parse_grid

TEXTS = [("4x4x4", 1, "8x8", "ring:x=r4,y=1.0/2.3,z=c4"), ("8x8", 2, "4x32", "ring:x=0.2.7.6/1.3.5.4,y=c8,t=c2"),
         ("6x4", 2, "12x4", "ring:x=1.0.5/2.3.4,y=0.1/3.2,t=r2"), ("5x9", 1, "15x3", "ring:x=r5,y=0.1.2/6.5.4/8.7.3"),
         ("4x4", 4, "8x8", "ring:x=0.1/3.2,y=0.1/3.2,t=r2c2"),
         ("7x7", 1, "7x7", "lattice:c=1.2.0/0.7.0/0.0.1,tile=41.46.40.48.4.47.5"),
         ("7x7", 1, "7x7", "lattice:c=1.2.0/0.7.0/0.0.1,tile=35.47.41.42.5.48.6"),  # begins at no move of the origin
         ("5x5", 2, "5x10", "lattice:r=1.2.0/0.5.0/0.0.2,tile=8.9.7.13.3.47.48.29.27.28"),
         ("4x4x4", 2, "8x16", "lattice:c=1.1.1.0/0.2.0.0/0.0.2.0/0.0.0.2,tile=61.9.57.13.74.126.78.122")]


@pytest.mark.parametrize("torus, tasks, grid, text", TEXTS, ids=[text[:22] for *_, text in TEXTS])
def test_a_placement_is_named_by_its_text_and_no_longer_when_two_ranks_change_places(torus, tasks, grid, text):
    site, grid = Site(parse_torus(torus), tasks), parse_grid(grid)
    made = as_mapping(place(text, site, grid), text)
    unnamed = Mapping(made.network, grid, tasks, made.node_of_rank, made.slot_of_rank, "file")
    assert text in (named(unnamed) or "").split()
    swap = np.arange(grid.n_tasks)
    swap[[0, -1]] = swap[[-1, 0]]
    assert named(Mapping(made.network, grid, tasks, made.node_of_rank[swap], made.slot_of_rank[swap], "file")) is None


def test_only_whole_tori_with_rows_and_columns_are_looked_at():
    ring, ranks = parse_torus("4x4"), np.arange(16)
    graph = from_networkx(nx.cycle_graph(16), "ring")
    for network, grid in ((graph, "4x4"), (ring, "16x1"), (ring, "1x16"), (parse_torus("8x4"), "4x4")):
        assert named(Mapping(network, parse_grid(grid), 1, ranks, np.zeros(16, dtype=int), "file")) is None
