"""Placements inside nodes: hops from the sets of processors, all permutations, Scotch, and files that bind."""

import re
import shutil
import subprocess
from itertools import chain, permutations
from xml.etree import ElementTree

import numpy as np
import pytest

from pencilmap.mapper.allocations.hwloc import read_node
from pencilmap.mapper.ask import ask, job_of
from pencilmap.mapper.base.search import search_of
from pencilmap.mapper.formats import FORMATS
from pencilmap.mapper.inside import messages_of, messages_of_program, place_inside
from pencilmap.mapper.seeds.default_order import default
from pencilmap.mapper.seeds.graph import graph_text, read_map, run, scotch_is_there
from pencilmap.model.base.errors import MachineError
from pencilmap.model.placement.grid import ProcessGrid, parse_transform
from pencilmap.model.traffic.program import joined, one_phase, pairs_of
from tests.mapper.test_program_traffic import halo, random_traffic

EIGHT = "package:2 numa:4 l3:1 core:8 pu:2"
pytestmark = pytest.mark.skipif(not shutil.which("lstopo-no-graphics"),
                                reason="NOT TESTED: lstopo is missing (Debian: hwloc-nox)")


@pytest.fixture
def node_file(tmp_path):
    """Write the file of a synthetic node as hwloc does; returns its path."""
    def write(topology, *options):
        path = tmp_path / "node.xml"
        subprocess.run(["lstopo-no-graphics", "-i", topology, *options, "--of", "xml", "--force", path], check=True,
                       capture_output=True)
        return path

    return write


def processors_of(element):
    words = element.get("cpuset").split(",")
    value = int("".join(f"{int(word or '0', 16):08x}" for word in words), 16)
    return frozenset(n for n in range(value.bit_length()) if value >> n & 1)


def hops_of(path, slots):
    """Links between slots, from the file alone: an object that holds one slot of a pair and a third slot is a link."""
    objects = [processors_of(each) for each in ElementTree.parse(path).iter("object") if each.get("cpuset")]
    held = {frozenset(t for t, slot in enumerate(slots) if slot <= each) for each in objects}
    held = {each for each in held if len(each) > 1}
    n = len(slots)
    return np.array([[0 if a == b else 2 + sum((a in each) != (b in each) for each in held) for b in range(n)]
                     for a in range(n)])


def hop_bytes(traffic, hops, slots):
    """The objective of TreeMatch, summed over the pairs of the traffic."""
    pairs = traffic.pairs
    return int((pairs.bytes * hops[slots[pairs.source], slots[pairs.target]]).sum())


def on_one_node(path, traffic, tasks=None, effort="normal", alike=False):
    where = ask(network="1", tasks_per_node=tasks or traffic.n_ranks, idle=True)
    job = job_of(where, node=path)
    own = default("tn", where.site, ProcessGrid(traffic.n_ranks, 1))
    return place_inside(own, messages_of_program(traffic), job, alike, search_of(effort)), job.node


@pytest.mark.parametrize("topology, tasks", [
    (EIGHT, 64), (EIGHT, 16), (EIGHT, 2), ("package:2 numa:4 l3:2 core:4 pu:2", 64), ("package:2 core:3 pu:1", 6),
    ("numa:2 package:2 core:2 pu:1", 8), ("package:2 l3:2 l2:2 core:2 pu:1", 8), ("package:2 numa:2 core:4 pu:1", 12)])
@pytest.mark.parametrize("flags", ["none", "v1"])
def test_hops_are_those_of_the_sets_of_processors(node_file, topology, tasks, flags):
    """In both formats of the file, for slots of one core and of several."""
    path = node_file(topology, *(["--export-xml-flags", "v1"] if flags == "v1" else []))
    traffic = one_phase(tasks, pairs_of(*np.nonzero(1 - np.eye(tasks)), 10))
    found, node = on_one_node(path, traffic, effort="quick")
    hops = hops_of(path, [frozenset(slot) for slot in node.processors])
    assert found.found.hop_bytes == found.first.hop_bytes == 10 * hops.sum()


@pytest.mark.parametrize("topology", ["package:2 numa:2 core:1 pu:1", "package:2 core:3 pu:2",
                                      "package:2 numa:2 core:2 pu:1"])
@pytest.mark.parametrize("seed", range(3))
def test_no_permutation_has_fewer_bytes_times_hops(node_file, topology, seed):
    path = node_file(topology)
    n = read_node(path, 1).n_cores
    traffic = random_traffic(n, 3, seed)
    found, node = on_one_node(path, traffic)
    hops = hops_of(path, [frozenset(slot) for slot in node.processors])
    least = min(hop_bytes(traffic, hops, np.array(order)) for order in permutations(range(n)))
    assert hop_bytes(traffic, hops, found.mapping.slot_of_rank) == found.found.hop_bytes == least


def matrices():
    """Ten matrices of 64 ranks."""
    n, random = 64, np.random.default_rng(2)
    rank, shuffled = np.arange(n), random.permutation(n)
    groups = [(np.repeat(rank, n), np.tile(rank, n))]
    same = {"rows": rank // 8, "columns": rank % 8, "shuffled rows": shuffled // 8}
    fft = {name: pairs_of(a[unit[a] == unit[b]], b[unit[a] == unit[b]], 100) for name, unit in same.items()
           for a, b in groups}
    return {"halo 4x4x4": halo((4, 4, 4)), "shuffled halo 4x4x4": halo((4, 4, 4), names=shuffled),
            "halo 8x8": halo((8, 8)), "shuffled halo 16x4": halo((16, 4), names=shuffled),
            "columns": one_phase(n, fft["columns"]), "shuffled rows": one_phase(n, fft["shuffled rows"]),
            "rows and columns": one_phase(n, joined([fft["rows"], fft["columns"]])), "random": random_traffic(n, 4),
            "hypercube": one_phase(n, pairs_of(np.tile(rank, 6), np.concatenate([rank ^ (1 << k) for k in range(6)]), 9)),
            "master": one_phase(n, joined([pairs_of(np.zeros(n, int), rank, 5), random_traffic(n, 1).pairs]))}


def scotch_slots(folder, traffic, sizes):
    """Slots that Scotch finds on its own tree of leaves, without our description of the node."""
    matrix = traffic.total.bytes + traffic.total.bytes.T
    (folder / "ranks.grf").write_text(graph_text(matrix.tocsr()))
    (folder / "tree.tgt").write_text(f"tleaf {len(sizes)} {' '.join(f'{size} 1' for size in sizes)}\n")
    run("scotch_gmap", "-Cdf", "-b0", folder / "ranks.grf", folder / "tree.tgt", folder / "out.map")
    wanted, slots = read_map(folder / "out.map", traffic.n_ranks), np.full(traffic.n_ranks, -1)
    for rank, slot in enumerate(wanted.tolist()):  # Scotch may give a leaf two ranks
        slots[rank] = slot if slot not in slots[:rank] else -1
    slots[slots < 0] = np.setdiff1d(np.arange(traffic.n_ranks), slots)
    return slots


@pytest.mark.skipif(not scotch_is_there(), reason="NOT TESTED: Scotch is missing (Debian: scotch)")
@pytest.mark.parametrize("name", matrices())
def test_never_more_bytes_times_hops_than_scotch_or_the_usual_orders(node_file, tmp_path, name):
    path, traffic = node_file(EIGHT), matrices()[name]
    found, node = on_one_node(path, traffic)
    hops = hops_of(path, [frozenset(slot) for slot in node.processors])
    ours = hop_bytes(traffic, hops, found.mapping.slot_of_rank)
    orders = [np.arange(64) % n * (64 // n) + np.arange(64) // n for n in (1, 2, 8)]
    others = [hop_bytes(traffic, hops, slots) for slots in (*orders, scotch_slots(tmp_path, traffic, (2, 4, 8)))]
    assert ours == found.found.hop_bytes <= min(others) and found.first.hop_bytes == min(others[:3])


def test_bytes_over_the_package_link_are_counted(node_file):
    path, traffic = node_file(EIGHT), halo((4, 4, 4))
    found, node = on_one_node(path, traffic)
    bytes_, package = traffic.total.bytes.toarray(), node.package[found.mapping.slot_of_rank]
    assert found.found.package_bytes == max(bytes_[np.ix_(package == p, package != p)].sum() for p in (0, 1))


@pytest.mark.parametrize("usable, tasks", [(range(8), 4), (range(6, 26), 10), ((0, 1, 100, 101, 102, 103, 126, 127), 4)])
def test_ranks_sit_on_cores_that_the_job_may_use(node_file, usable, tasks):
    """Of a core with two processors, of packages with different numbers of cores; logical numbers count usable cores."""
    path = node_file(EIGHT)
    mask = f"{sum(1 << n for n in usable):032x}"
    words = ",".join(f"0x{mask[i:i + 8]}" for i in range(0, 32, 8))
    path.write_text(re.sub(r'allowed_cpuset="[^"]*"', f'allowed_cpuset="{words}"', path.read_text()))
    node = read_node(path, tasks)
    assert sorted(n for slot in node.processors for n in slot) == sorted(usable)
    assert [n for slot in node.cores for n in slot] == list(range(node.n_cores)) and node.n_cores == len(usable) // 2
    found, _ = on_one_node(path, halo((tasks,)), tasks)
    assert found.found.hop_bytes <= found.first.hop_bytes


def test_tasks_are_spread_over_the_node(node_file):
    path = node_file(EIGHT)
    for tasks, per_numa in ((48, [6] * 8), (8, [1] * 8), (12, [2] * 4 + [1] * 4)):
        numa = np.bincount(read_node(path, tasks).numa, minlength=8)
        assert sorted(numa.tolist(), reverse=True) == sorted(per_numa, reverse=True)
    assert read_node(path, 2).cores == (tuple(range(32)), tuple(range(32, 64)))
    with pytest.raises(MachineError, match="65 tasks per node, but the node has 64 cores"):
        read_node(path, 65)


def test_an_order_for_all_nodes_is_the_one_in_the_launch_line(node_file):
    """The masks of srun give the bytes times hops of the answer."""
    path, traffic = node_file(EIGHT), halo((8, 4, 4), names=np.random.default_rng(1).permutation(128))
    where = ask(network="2:mesh", tasks_per_node=64)
    own = default("tn", where.site, ProcessGrid(128, 1))
    found = place_inside(own, messages_of_program(traffic), job_of(where, node=path), True, search_of())
    masks = [int(word, 16) for word in found.job.cpu_bind[0].partition("mask_cpu:")[2].split(",")]
    bound = [frozenset(n for n in range(128) if mask >> n & 1) for mask in masks]
    hops, pairs = hops_of(path, bound), traffic.pairs
    inside = pairs.source // 64 == pairs.target // 64
    assert (pairs.bytes * hops[pairs.source % 64, pairs.target % 64] * inside).sum() == found.found.hop_bytes
    apart = place_inside(own, messages_of_program(traffic), job_of(where, node=path), False, search_of())
    assert apart.found.hop_bytes <= found.found.hop_bytes <= found.first.hop_bytes


@pytest.mark.parametrize("grid, size", [("8x16", None), ("8x16", "64"), ("16x8", "50")])
def test_messages_of_a_transform_are_those_of_its_groups(node_file, grid, size):
    """Without a size in parts of the array; uneven blocks."""
    path, where = node_file("package:2 numa:2 core:4 pu:1"), ask(network="8", tasks_per_node=16)
    rows, columns = map(int, grid.split("x"))
    own = default("tn", where.site, ProcessGrid(rows, columns))
    transform = parse_transform(size) if size else None
    found = place_inside(own, messages_of(own.grid, transform), job_of(where, node=path), False, search_of("quick"))
    node, total, rank = job_of(where, node=path).node, 0.0, np.arange(128)
    hops = hops_of(path, [frozenset(slot) for slot in node.processors])
    for a in rank:
        for b in rank[rank // 16 == a // 16]:
            if a // rows == b // rows or a % rows == b % rows:
                total += hops[a % 16, b % 16] / (128 * (rows if a // rows == b // rows else columns)) * (a != b)
    whole = 1.0 if transform is None else transform.total_bytes
    order = place_inside(own, messages_of(own.grid, transform), job_of(where, node=path), False, None)
    assert order.found.hop_bytes == pytest.approx(total * whole, rel=0.2 if size == "50" else 1e-9)
    assert found.found.hop_bytes <= order.found.hop_bytes


@pytest.fixture
def traffic(tmp_path):
    """The file of random traffic of 16 ranks."""
    sent, path = random_traffic(16, 3).total.bytes.tocoo(), tmp_path / "sent.txt"
    path.write_text("".join(f"{a} {b} {n}\n" for a, b, n in zip(sent.row, sent.col, sent.data)))
    return path


NODE = "package:2 numa:2 l3:1 core:4 pu:2"


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.binds])
def test_map_writes_files_that_bind_and_check_reads_them(pencilmap, pencilmap_json, node_file, traffic, tmp_path, form):
    """The gains of both levels are apart, in words and in JSON; a single node needs no network."""
    node, ranks = node_file(NODE), tmp_path / "ranks"
    for where, tasks in (((), 16), (("--network", "2", "-t", "8"), 8)):
        asked = *where, "--node", node, "--traffic", traffic
        status, out, err = pencilmap("map", *asked, "-f", form, "-o", ranks)
        written = pencilmap_json.one("map", *asked, "-f", form, "-o", ranks)
        gain = written["inside"]["gain"]
        assert status == 0 and gain > 1.01 and f"{ranks} gains {gain:.2f}x inside the node" in out.splitlines()[0], err
        assert ("between them" in out.splitlines()[0]) == bool(where)
        if FORMATS[form].binds == "rank":
            checked = pencilmap_json.one("check", ranks, *asked, "-f", form)["inside"]
            assert checked == written["inside"]
            said = "Inside the nodes" if where else f"{ranks} is valid, with"
            assert f"{said} {gain:.2f}x fewer bytes times hops" in pencilmap("check", ranks, *asked, "-f", form)[1]
        assert ("warning the file names no cores" in pencilmap("check", ranks, *asked, "-f", form)[1]) == (form == "slurm")
        text = written["launch"] + ranks.read_text()
        assert ("=user:" in text, "--cpu-bind=mask_cpu:0x" in text, "slot=" in text) == (
            form == "hydra", form in ("slurm", "cray"), form.startswith("openmpi"))
        assert read_node(node, tasks).n_slots == tasks


def test_map_places_a_transform_inside_its_nodes(pencilmap, pencilmap_json, node_file, tmp_path):
    node, ranks = node_file(NODE), tmp_path / "ranks"
    shuffled = np.random.default_rng(4).permutation(np.repeat(np.arange(4), 16))
    (tmp_path / "hosts").write_text("".join(f"node-{n}\n" for n in shuffled))
    asked = ("--network", "4", "-t", "16", "--grid", "8x8", "--node", node)
    for size in ((), ("--fft", "64")):
        found = pencilmap_json.one("map", *asked, *size, "-p", tmp_path / "hosts", "-f", "openmpi5", "-o", ranks)["inside"]
        assert ("placement" in found) == bool(size) and found["gain"] > 1.05
        assert pencilmap_json.one("check", ranks, *asked, *size)["inside"] == found
    out = pencilmap("map", *asked, "-p", tmp_path / "hosts", "-f", "slurm", "-o", ranks)[1]
    assert re.match(rf"{ranks} gains [0-9.]+x inside the nodes, nothing between them", out)
    out = pencilmap("map", *asked, "-p", "default", "-f", "slurm", "-o", ranks)[1]
    assert "Between the nodes no file is needed" in out
    assert "Inside the nodes no file is needed if the launcher binds ranks in the order of the cores: nothing has " in out


REFUSED = {
    "format": ({"-f": "flux"}, "format flux binds no ranks to cores; write one of "),
    "number": ({"--node": "4"}, "--node 4 is no file of a node; give the output of lstopo --of xml, and a number of "
               "nodes as --nodes"),
    "cores": ({"-t": "17"}, "17 tasks per node, but the node has 16 cores"),
    "missing": ({"--node": "no.xml"}, "no.xml"),
    "broken": ({"--node": "broken.xml"}, "broken.xml line 3 column 3: is not XML"),
    "no cores": ({"--node": "empty.xml"}, "has no object of type Core or PU"),
    "no set": ({"--node": "set.xml"}, "set.xml line 2: cpuset: '0x1,zz' is no set of processors such as 0x0000000f"),
    "no processors": ({"--node": "bare.xml", "-f": "hydra", "-t": "1"}, "bare.xml has no numbers of processors"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_nodes_are_refused(pencilmap, node_file, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    node_file(NODE)
    (tmp_path / "broken.xml").write_text("<topology>\n<object>\n</topology>\n")
    (tmp_path / "empty.xml").write_text("<topology><object type='Machine'/></topology>")
    (tmp_path / "bare.xml").write_text("<topology><object type='Machine'><object type='Core'/></object></topology>")
    (tmp_path / "set.xml").write_text("<topology>\n<object type='Core' cpuset='0x1,zz'/></topology>")
    changed, said = REFUSED[name]
    asked = {"--network": "2", "--node": "node.xml", "-t": "8", "--grid": "1x2", "-f": "openmpi5", "-o": "ranks"} | changed
    status, _, err = pencilmap("map", "--idle", *chain(*asked.items()))
    assert status == 1 and said in err and not (tmp_path / "ranks").exists()


def test_this_machine_is_a_node(pencilmap_json, tmp_path):
    (tmp_path / "one").write_text("0 1 10\n")
    found = pencilmap_json.one("map", "--node", "this", "--traffic", tmp_path / "one", "-f", "hydra", "-o", tmp_path / "f")
    assert found["inside"]["node"] == "this node"
