"""--nodes takes a file, a number or a shape, and a job around a command tells its nodes, tasks and place."""

import pytest

from pencilmap.mapper.allocations import look_around, read_description
from pencilmap.mapper.allocations.slurm import topology_files
from pencilmap.mapper.setting import setting


@pytest.mark.parametrize("given, network, nodes", [
    ({"machine": "bluegene-l", "nodes": "1024"}, ("8x8x16", "8x16x8", "16x8x8"), 1024),
    ({"machine": "bluegene-l", "nodes": "32"}, ("4x4x2:mesh",), 32),
    ({"machine": "bluegene-l", "nodes": 512}, ("8x8x8",), 512),
    ({"machine": "bluegene-l", "nodes": "8x8x16"}, ("8x8x16",), 1024), ({"nodes": "4x2:mesh"}, ("4x2:mesh",), 8),
    ({"nodes": "4wx2"}, ("4wx2",), 8), ({"machine": "tpu-v4", "nodes": "4x4x8_untwisted"}, ("4x4x8",), 128),
    ({"machine": "tpu-v4", "nodes": "4x4x8:twisted"}, ("4x4x8:twisted",), 128),
    ({"network": "4x4", "nodes": "16"}, ("4x4",), 16)])
def test_a_number_or_a_shape_names_the_network(given, network, nodes):
    where = setting(**given)
    assert str(where.network) in network and where.network.n_nodes == where.site.allocation.n_nodes == nodes


def test_a_number_takes_the_first_nodes_of_a_machine_with_switches():
    where = setting(machine="leonardo", nodes="8")
    assert where.site.allocation.nodes.tolist() == list(range(8)) and "the 8 nodes are assumed" in where.notes[0]
    [note] = [note for note in setting(machine="leonardo", nodes="1").notes if "first of the network" in note]
    assert note.startswith("the node is assumed") and "whole" not in where.notes[0] + note


def test_a_job_on_a_part_of_a_network_takes_its_own_nodes(tmp_path):
    (tmp_path / "topology.conf").write_text("SwitchName=leaf0 Nodes=n[0-3]\nSwitchName=leaf1 Nodes=n[4-7]\n"
                                            "SwitchName=top Switches=leaf[0-1]\n")
    (tmp_path / "nodes").write_text("n5\nn4\n")
    (tmp_path / "hosts").write_text("login1\nlogin1\nn4\nn4\nn3\nn3\n")
    job = {"SLURM_JOB_NODELIST": "n[3-4]", "SLURM_TASKS_PER_NODE": "1(x2)"}

    def told(nodes=None, **environ):
        where = setting(network=tmp_path / "topology.conf", nodes=nodes, environ=environ)
        return where.site.allocation.nodes.tolist(), [note for note in where.notes if "of this job" in note]

    assert told(**job) == ([3, 4], ["the 2 nodes of this job; --nodes 8 takes all nodes"])
    assert told(LSB_JOBID="5", LSB_DJOB_HOSTFILE=str(tmp_path / "hosts")) == (
        [4, 3], ["the 2 nodes of this job; left out: login1, not in the network; --nodes 8 takes all nodes"])
    assert told(tmp_path / "nodes") == ([5, 4], []) and told(tmp_path / "nodes", **job) == ([4, 5], [])  # Slurm sorts names
    assert told("8", **job) == told() == told(SLURM_JOB_NODELIST="n[0-7]") == told(PBS_NODEFILE="/gone") == ([*range(8)], [])
    assert told(SLURM_JOB_NODELIST="m[0-7]") == ([*range(8)], [])


def test_a_job_tells_the_tasks_on_its_nodes(tmp_path):
    (tmp_path / "topology.conf").write_text("SwitchName=leaf Nodes=n[0-7]\n")
    (tmp_path / "part").write_text("n5\nn4\n")
    (tmp_path / "other").write_text("n0\nn4\n")
    job = {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[2-5]", "SLURM_TASKS_PER_NODE": "2(x4)"}

    def tasks(nodes=None, given=None, network=tmp_path / "topology.conf", **environ):
        where = setting(network=network, nodes=nodes, tasks_per_node=given, environ=environ)
        told = any(note.startswith("2 tasks on each node, as in this job") for note in where.notes)
        assert told == (where.tasks_per_node == 2)
        return where.tasks_per_node

    assert [tasks(**job), tasks(tmp_path / "part", **job), tasks(network="4", **job)] == [2, 2, 2]
    assert [tasks("8", **job), tasks(tmp_path / "other", **job), tasks(given=3, **job), tasks()] == [1, 1, 3, 1]


@pytest.mark.parametrize("name", ["384", "8x8"])
def test_a_file_is_read_whatever_its_name_looks_like(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("1 0\n0 1\n")
    assert setting(network="2x2", nodes=name).site.allocation.nodes.tolist() == [1, 2]


def test_a_file_of_numbers_that_may_be_edges_is_told_so(tmp_path):
    for text, is_told in (("0 1\n1 2\n2 3\n3 0\n", True), ("0 1 1\n1 2 1\n", True), ("0 0\n0 1\n1 0\n1 1\n", False),
                          ("a 1 0\nb 0 1\n", False)):
        (tmp_path / "file").write_text(text)
        assert any("--network" in fact.value for fact in read_description(tmp_path / "file").facts) == is_told


def test_files_are_looked_for_in_slurm_jobs_alone():
    assert topology_files({}) == [] and topology_files({"PBS_NODEFILE": "x"}) == []
    assert str(topology_files({"SLURM_JOB_ID": "1"})[1]) == "/etc/slurm/topology.conf"


def test_the_place_of_this_node_is_a_fact():
    job = {"SLURM_JOB_NODELIST": "tux[2-4,9]"}
    environ = job | {"SLURM_TOPOLOGY_ADDR": "spine.leaf0.tux2", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node"}
    place = "place of this node", "spine.leaf0.tux2 (switch.switch.node)", "SLURM_TOPOLOGY_ADDR"
    assert place in look_around(environ).facts
    without = job | {"SLURM_TOPOLOGY_ADDR": "tux2", "SLURM_TOPOLOGY_ADDR_PATTERN": "node"}
    assert not [fact for fact in look_around(without).facts if fact.what == "place of this node"]
