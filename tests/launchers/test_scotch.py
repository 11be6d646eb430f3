"""Scotch reads our mappings as we mean them, and we read Scotch's."""

import random
import re

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.formats import FORMATS, Job, read_mapping, write_mapping
from pencilmap.mapper.formats.scotch import architecture
from pencilmap.model.allocation import Site
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.torus import Torus
from tests.launchers.conftest import needs, succeed


def write_graph(path, graph):
    """Scotch source graph: version, vertices and arcs, base and flags, then degree and neighbours of each vertex."""
    rows = [f"{graph.degree(v)} {' '.join(map(str, sorted(graph[v])))}" for v in sorted(graph)]
    path.write_text(f"0\n{len(graph)} {2 * graph.number_of_edges()}\n0 000\n" + "\n".join(rows) + "\n")


def hops(torus, a, b):
    """Length of the shortest path between two nodes."""
    total = 0
    for n, wrap, x, y in zip(torus.shape, torus.wrap, torus.coordinates(a).tolist(), torus.coordinates(b).tolist()):
        away = abs(x - y)
        total += min(away, n - away) if wrap else away
    return total


@pytest.mark.parametrize("torus", [Torus((4, 2, 3)), Torus((5, 4)), Torus((4, 3, 2), (False,) * 3), Torus((3, 2, 2, 2, 1))])
def test_scotch_sees_the_distances_that_we_mean(tmp_path, torus):
    """Average dilation of a random graph under a random mapping, by gmtst and by hand."""
    needs("gmtst", "scotch")
    n = torus.n_nodes
    node = np.array(random.Random(4).sample(range(n), n))
    mapping = Mapping(torus, ProcessGrid(n, 1), 1, node, np.zeros(n))
    graph = nx.gnm_random_graph(n, 3 * n, seed=2)
    write_graph(tmp_path / "graph.grf", graph)
    write_mapping(mapping, tmp_path / "map", "scotch")
    line = FORMATS["scotch"].launch(mapping, Job(Site(torus)), tmp_path / "map").line
    out = succeed(["sh", "-c", line], cwd=tmp_path)
    wanted = np.mean([hops(torus, node[a], node[b]) for a, b in graph.edges])
    assert float(re.search(r"CommDilat=([0-9.]+)", out)[1]) == pytest.approx(wanted, abs=1e-5)


def test_mappings_of_scotch_are_read(tmp_path):
    needs("scotch_gmap", "scotch")
    torus = Torus((4, 4))
    write_graph(tmp_path / "graph.grf", nx.relabel_nodes(nx.grid_2d_graph(4, 4), lambda v: v[0] + 4 * v[1]))
    (tmp_path / "target.tgt").write_text(architecture(torus) + "\n")
    succeed(["scotch_gmap", "graph.grf", "target.tgt", "out.map"], cwd=tmp_path)
    mapping = read_mapping(tmp_path / "out.map", Job(Site(torus)), ProcessGrid(4, 4))
    assert sorted(mapping.node_of_rank.tolist()) == list(range(16))
