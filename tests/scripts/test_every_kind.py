"""Every command on every kind of network, on small machines in this process; also the Python API and `reorder`."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import FORMATS
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import setting
from pencilmap.model.kinds import KINDS, network_named
from pencilmap.model.placement.grid import parse_grid
from tests.mapper.run_records import record
from tests.mapper.test_formats import reordered

pytestmark = pytest.mark.usefixtures("brief_searches")

#: kind: a small network, and its grid
SMALL = {"torus": ("4x2", "2x4"), "twisted-torus": ("2x4:twisted", "2x4"), "folded-torus": ("4x2x2:box=2x1x1x2x2x2", "4x4"),
         "graph": ("cables.graphml,graph", "2x4"), "torus-graph": ("cables.graphml", "2x4"),
         "twisted-torus-graph": ("twisted.graphml", "3x6"),
         "fat-tree": ("fat-tree:leaves=4,hosts=2,up=1", "2x4"),
         "dragonfly": ("dragonfly:a=2,p=1,h=1", "2x3"), "hyperx": ("hyperx:2x2,hosts=2", "2x4"),
         "dragonfly-plus": ("dragonfly-plus:leaves=2,spines=2,hosts=1,groups=2", "2x2"), "hypercube": ("hypercube:3", "2x4")}
RATE = "--bandwidth", "1 GB/s"
OF_TORI = {"bgl", "bgq", "vcoordfile", "rankmap", "scotch", "jax"}  # formats whose machines are tori


@pytest.fixture(params=SMALL)
def asked(request, tmp_path, monkeypatch):
    """The network of a kind and its grid, as options."""
    monkeypatch.chdir(tmp_path)
    nx.write_graphml(nx.relabel_nodes(nx.hypercube_graph(3), lambda v: "n" + "".join(map(str, v))), "cables.graphml")
    arcs = network_named("3x6:twisted").arcs()
    nx.write_graphml(nx.Graph(zip(arcs.source.tolist(), arcs.target.tolist())), "twisted.graphml")
    return SMALL[request.param]


def test_all_kinds_are_here():
    assert set(SMALL) == set(KINDS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", [
    ("plan", *RATE, "--fft", "16", "--effort", "quick"), ("predict", *RATE, "--fft", "16", "-p", "default", "-p", "best"),
    ("predict", "-p", "default", "--schedule", "overlap:4"), ("predict", "-p", "best", "--nodes", "holes.txt"),
    ("draw", "-p", "default", "--what", "loads"),
    ("draw", "-p", "default", "-o", "out.svg"), ("network",)], ids=lambda words: " ".join(words[:1] + words[-1:]))
def test_commands(asked, command, pencilmap):
    network, grid = asked
    site = setting(network=network).site
    if "holes.txt" in command:
        held = np.arange(site.n_slots - 2)
        jobs = getattr(site.network, "logical", site.network)  # jobs know the coordinates of a logical torus
        Path("holes.txt").write_text("\n".join(Hosts(jobs).names(held)) + "\n", "ascii")
        grid = f"2x{len(held) // 2}"
    words = () if command[0] in ("network", "plan") else ("--grid", grid)
    status, out, err = pencilmap(*command, "--network", network, *words)
    assert status == 0 and out, err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORMATS)
def test_files_of_launchers_are_read_again(asked, name, pencilmap):
    """Formats of machines that are tori refuse other networks in a sentence."""
    network, grid = asked
    asks = "--network", network, "--grid", grid, "--format", name
    status, _, err = pencilmap("map", *asks, "--placement", "default", "-o", "out")
    if status:
        assert name in OF_TORI and status == 1, err
        assert any(word in err for word in ("error: format", "coordinates", "dimensions")), err
        return
    status, out, err = pencilmap("check", "out", *asks)
    assert status == 0 and "valid" in out, err


def test_records_reports_and_communicators(asked, pencilmap):
    network, grid = asked
    where = setting(network=network, bandwidth="1 GB/s", fft="16")
    mapping = as_mapping(where.place("best", parse_grid(grid)), "best")
    made = record(mapping, where.transform, where.costs, {"topology": network, "link_bandwidth": "1 GB/s"})
    for rank, name in zip(made["placement"]["ranks"], Hosts(where.site.network).names(mapping.node_of_rank)):
        rank |= {"host": name, "coordinate": None}
    made["placement"] |= {"torus": None, "coordinate_source": "none"}
    Path("runs.jsonl").write_text(json.dumps(made) + "\n", "ascii")
    for words in (("compare", "runs.jsonl"), ("report", "runs.jsonl")):
        status, out, err = pencilmap(*words)
        assert status == 0 and out, err
    site, P = where.site, mapping.n_tasks
    seats = np.random.default_rng(3).permutation(P)
    new = reordered(P, network, grid, "best", where=lambda rank: lambda: site.network.coordinates(seats[rank:rank + 1])[0])
    assert [int(mapping.node_of_rank[rank]) for rank in new] == seats.tolist()
