"""--nodes takes a file, a number or a shape in every command with this option, if the command can use it."""

import pytest

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


def test_a_job_tells_the_tasks_on_its_nodes(tmp_path, pencilmap, monkeypatch):
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

    for name, value in (job | {"SLURM_TASKS_PER_NODE": "2(x3),1"}).items():
        monkeypatch.setenv(name, value)
    remedy = "the nodes of the job have 1 to 2 tasks, and placements need the same number on all"
    for words in (("plan", "--fft", "16"), ("predict", "-g", "2x2"), ("check", tmp_path / "part", "-g", "2x2"),
                  ("draw", "-g", "2x2", "-p", "default", "-o", tmp_path / "a"), ("map", "-g", "2x2", "-o", tmp_path / "b")):
        status, _, err = pencilmap(*words, "--network", f"{tmp_path / 'topology.conf'},taper=2")
        assert status == 1 and remedy in " ".join(err.split()) and "or give --tasks-per-node 1" in " ".join(err.split()), err
    status, out, _ = pencilmap("network", tmp_path / "topology.conf", "--no-hardware")
    assert status == 0 and remedy in " ".join(out.split()) and "--tasks-per-node 1 " in out


@pytest.mark.parametrize("name", ["384", "8x8"])
def test_a_file_is_read_whatever_its_name_looks_like(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("1 0\n0 1\n")
    assert setting(network="2x2", nodes=name).site.allocation.nodes.tolist() == [1, 2]
