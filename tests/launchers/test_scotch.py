"""Scotch reads our mappings with the intended meaning, and we read Scotch's."""

import random
import re

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.formats import FORMATS, Job, parse_mapping, read_mapping, write_mapping
from pencilmap.mapper.formats.scotch import architecture
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from tests.launchers.conftest import needs, run_bounded, succeed


def write_graph(path, graph):
    """Write a Scotch source graph: version, vertices and arcs, base and flags, then degree and neighbours of each vertex."""
    rows = [f"{graph.degree(v)} {' '.join(map(str, sorted(graph[v])))}" for v in sorted(graph)]
    path.write_text(f"0\n{len(graph)} {2 * graph.number_of_edges()}\n0 000\n" + "\n".join(rows) + "\n")


def hops(torus, a, b):
    """Return the length of the shortest path between two nodes."""
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


def nodes_used(folder, text, n):
    """Return the number of nodes of a 2x2 torus in gmtst's view of a mapping of a path of n vertices; 0 if refused."""
    needs("gmtst", "scotch")
    write_graph(folder / "graph.grf", nx.path_graph(n))
    (folder / "target.tgt").write_text(architecture(Torus((2, 2))) + "\n")
    (folder / "map").write_bytes(text.encode())
    done = run_bounded(["gmtst", "graph.grf", "target.tgt", "map"], cwd=folder)
    return 0 if "ERROR" in done.stderr else int(re.search(r"Processors ([0-9]+)/4", done.stdout)[1])


def checked(text, n):
    """Return the number of nodes in the view of `check`; 0 if it refuses the mapping."""
    try:
        mapping = parse_mapping(text.encode(), "given", Job(Site(Torus((2, 2)), 8)), ProcessGrid(n, 1), "scotch")
    except MapfileError:
        return 0
    return len(set(mapping.node_of_rank.tolist()))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(100))
def test_gmtst_and_check_read_a_valid_mapping(tmp_path, seed):
    rng = random.Random(seed)
    nodes = [rng.randrange(4) for _ in range(rng.randint(2, 8))]
    lines = [f"{rng.choice(['', ' '])}{rank}{rng.choice([chr(9), ' ', '  '])}{node}" for rank, node in enumerate(nodes)]
    rng.shuffle(lines)
    end = rng.choice(["\n", "\r\n", "\n\n"])
    text = f"{len(nodes)}{end}{end.join(lines)}{rng.choice(['', end])}"
    assert nodes_used(tmp_path, text, len(nodes)) == checked(text, len(nodes)) == len(set(nodes)), text


PAIR = "2\n0\t0\n1\t1\n"
BROKEN = {
    "a line missing": "2\n0\t0\n", "too few vertices": "1\n0\t0\n", "vertex twice": "2\n0\t0\n0\t1\n", "empty": "",
    "negative terminals": "2\n0\t-1\n1\t-1\n", "comment": "# ours\n" + PAIR, "comment between": "2\n# ours\n0\t0\n1\t1\n",
    "comment after": "2\n0\t0 # ours\n1\t1\n", "terminal of letters": "2\n0\tx\n1\t1\n",
    "vertex of letters": "2\nx\t0\n1\t1\n",
    "no number of vertices": "0\t0\n1\t1\n", "a column more": "2\n0\t0\t7\n1\t1\n", "other vertices": "2\n8\t0\n9\t1\n",
    "decimal number": "2.0\n0\t0\n1\t1\n", "number of letters": "two\n0\t0\n1\t1\n",
    "negative number": "-2\n0\t0\n1\t1\n",
    "commas": "2\n0,0\n1,1\n", "colons": "2\n0:0\n1:1\n", "brackets": "[[0,0],[1,1]]\n",
    "hexadecimal": "2\n0x0\t0\n0x1\t1\n",
    "a rankfile": "rank 0=a slot=0\nrank 1=b slot=0\n", "byte order mark": "\ufeff" + PAIR, "a column less": "2\n0\n1\n"}


@pytest.mark.parametrize("kind", BROKEN)
def test_gmtst_and_check_refuse_a_broken_mapping(tmp_path, kind):
    assert nodes_used(tmp_path, BROKEN[kind], 2) == checked(BROKEN[kind], 2) == 0
