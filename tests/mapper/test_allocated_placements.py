"""Placements on jobs with missing nodes: the launcher's order by definition, and refusals of impossible products."""

import pytest
from hypothesis import given, strategies as st

from pencilmap.mapper.placements import place
from pencilmap.model.base.errors import AllocationError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from tests.model.cases import repeatable

TORUS = Torus((3, 2, 2))


def places(mapping):
    return list(zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist()))


@repeatable(60)
@given(st.permutations(range(12)), st.integers(1, 12), st.integers(1, 3), st.integers(0, 5))
def test_default_fills_the_usable_nodes_in_the_order_of_the_launcher(order, kept, tasks_per_node, n_idle):
    nodes = order[:kept]
    site = Site(TORUS, tasks_per_node, Allocation(TORUS, nodes), idle=True)
    grid = ProcessGrid(max(1, site.n_slots - n_idle), 1)
    slots = range(tasks_per_node)
    assert places(place("default", site, grid)) == [(n, t) for n in nodes for t in slots][:grid.n_tasks]
    assert places(place("default:nt", site, grid)) == [(n, t) for t in slots for n in nodes][:grid.n_tasks]
    assert places(place("default:tn", site, grid)) == [(n, t) for n in nodes for t in slots][:grid.n_tasks]
    assert places(place("default:txyz", site, grid)) == [(n, t) for n in sorted(nodes) for t in slots][:grid.n_tasks]
    by_z = sorted(nodes, key=lambda n: TORUS.coordinates(n).tolist())       # x is the slowest
    assert places(place("default:zyxt", site, grid)) == [(n, t) for t in slots for n in by_z][:grid.n_tasks]


def test_files_may_use_only_usable_nodes(tmp_path):
    path = tmp_path / "job.map"
    path.write_text("0 0 0 0\n2 1 1 0\n")
    assert places(place(f"file:{path},bgl", Site(TORUS, allocation=Allocation(TORUS, [11, 0])), ProcessGrid(2, 1))) == [(0,
                                                                                                                         0),
                                                                                                                        (11,
                                                                                                                         0)]
    with pytest.raises(AllocationError, match=r"rank 1 is the first, on node \(2, 1, 1\)"):
        place(f"file:{path},bgl", Site(TORUS, allocation=Allocation(TORUS, [1, 0])), ProcessGrid(2, 1))
