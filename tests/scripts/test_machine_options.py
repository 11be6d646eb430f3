"""The options that name the machine and its nodes, and the command `machines`."""


import pytest

from pencilmap.model.machines.machine import machine_names

pytestmark = pytest.mark.usefixtures("brief_searches")


def refused(run, *arguments):
    status, out, err = run(*arguments)
    assert status in (1, 2) and out == ""
    return err


def test_machines_marks_what_is_uncertain(pencilmap):
    status, out, _ = pencilmap("network", "--machines")
    assert status == 0 and "* uncertain" in out
    line = {name: next(text for text in out.splitlines() if text.startswith(name + " ")) for name in machine_names()}
    assert "62 GB/s *" in line["tpu-v2"] and "148 MB/s *" not in line["bluegene-l"] and "148 MB/s" in line["bluegene-l"]


@pytest.mark.parametrize("name", machine_names())
def test_one_machine_shows_every_figure_with_its_source(pencilmap, pencilmap_json, name):
    figures = pencilmap_json.one("network", "--machine", name)["figures"]
    assert all(f["source"] for f in figures.values())
    status, out, _ = pencilmap("network", "--machine", name)
    assert status == 0 and all(key in out for key in figures) and ("NO" in out) == any(not f["certain"]
                                                                                       for f in figures.values())


def test_partitions_of_a_size_are_listed(pencilmap, pencilmap_json):
    found = pencilmap_json("network", "--machine", "bluegene-l", "--nodes", "1024")
    assert [p["torus"] for p in found] == ["8x8x16", "8x16x8", "16x8x8"] and found[0]["wrap"] == [True] * 3
    status, out, _ = pencilmap("network", "--machine", "bluegene-l", "--nodes", "128")
    assert status == 0 and "8x4x4:mesh" in out and "rule: multiples of 8x8x8" in out
    err = refused(pencilmap, "network", "--machine", "bluegene-l", "--nodes", "513")
    assert "512 and 1024" in err
    assert "name it with --machine" in refused(pencilmap, "network", "--nodes", "512")


def test_only_figures_that_are_used_are_doubted(pencilmap_json):
    def doubted(*arguments):
        notes = pencilmap_json("predict", "-m", "cray-xe6", "-t", "1", "-p", "default", *arguments)[0]["notes"]
        return sorted(n.partition(" of machine")[0] for n in notes if "is uncertain" in n)

    weights, box = ["link bandwidth"], ("--network", "4x4x4:mesh", "--grid", "8x8")
    assert doubted(*box) == weights                                   # bandwidth is the weight of the dimensions
    assert doubted(*box, "--bandwidth", "5 GB/s") == []
    assert doubted("--nodes", "4x4x4", "--grid", "8x8") == sorted([*weights, "partition rule"])
    assert doubted(*box, "--fft", "64") == sorted([*weights, "hop latency", "injection rate of a node"])
    fugaku, = pencilmap_json("predict", "-m", "fugaku", "-t", "1", "-g", "1x158976", "-p", "best", "--whole-machine")
    assert any(n.startswith("shape of machine fugaku is uncertain") for n in fugaku["notes"])


def test_a_list_of_nodes_is_filled_in_its_order(tmp_path, pencilmap, pencilmap_json):
    nodes = tmp_path / "job.nodes"
    nodes.write_text("# from the scheduler\n3 1 0\n0 0 0\n2 2 2\n1 0 3\n")
    job = ("--network", "4x4x4", "--nodes", nodes, "--grid", "2x2", "--placement", "default:nt")
    written = tmp_path / "job.map"
    pencilmap_json.one("map", *job, "-o", written, "--format", "bgl")
    assert written.read_text().split("\n")[:4] == ["3 1 0 0", "0 0 0 0", "2 2 2 0", "1 0 3 0"]
    checked = pencilmap_json.one("check", written, "--network", "4x4x4", "--nodes", nodes, "--grid", "2x2")
    assert checked["valid"]
    nodes.write_text("3 1 0\n0 0 0\n2 2 2\n1 0 2\n")
    said = refused(pencilmap, "check", written, "--network", "4x4x4", "--nodes", nodes, "--grid", "2x2")
    assert "puts 1 of 4 ranks on nodes that are not among the usable" in " ".join(said.split())


def test_names_in_the_list_of_nodes_are_the_hosts_of_the_job(tmp_path, pencilmap_json):
    nodes, written = tmp_path / "job.nodes", tmp_path / "job.hosts"
    nodes.write_text("nid7 3 1 0\nnid5 0 0 0\n")
    job = ("--network", "4x4x4", "--nodes", nodes, "--grid", "2x1", "--format", "hostfile")
    pencilmap_json.one("map", *job, "--placement", "default", "-o", written)
    assert written.read_text() == "nid7\nnid5\n"
    assert pencilmap_json.one("check", written, *job)["valid"]
    pencilmap_json.one("map", *job, "--placement", "default", "-o", written, "--hosts", "n{x}{y}{z}")
    assert written.read_text() == "n310\nn000\n"
    nodes.write_text("nid7 3 1 0\n0 0 0\n")
    pencilmap_json.one("map", *job, "--placement", "default", "-o", written)
    assert written.read_text() == "node-3-1-0\nnode-0-0-0\n"
