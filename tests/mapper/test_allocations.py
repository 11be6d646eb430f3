"""Readers of the allocation: the facts in each variable and file, and their combination."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pencilmap.mapper.allocations import READERS, job_hosts, look_around, read_description
from pencilmap.mapper.allocations.hwloc import Core, slot_cores
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.formats.scotch import architecture
from pencilmap.mapper.graphs import parse_graph
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import AllocationError, MapfileError, PencilmapError
from pencilmap.model.network.torus import Torus
from tests.mapper.test_recognised_networks import CORPUS


def around(environ=None, torus=None, tmp_path=None, **files):
    """Return the picture from some variables and from some files, given by their text."""
    paths = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    return look_around(environ or {}, paths, torus)


def coordinates(picture):
    return picture.torus.coordinates(picture.nodes).tolist()


SLURM = {"SLURM_JOB_NODELIST": "n[0-1],n3", "SLURM_TASKS_PER_NODE": "2(x2),1"}
TORUS3D = """\
- topology: torus
  cluster_default: true
  torus3d:
    toruses:
      - name: cube
        dims: {x: 4, y: 2, z: 2}
        regions:
          - nodes: "a[00-07]"
            anchor: {x: 0, y: 0, z: 0}
            dims: {x: 2, y: 2, z: 2}
          - nodes: "b[00-07]"
            anchor: {x: 2, y: 0, z: 0}
            dims: {x: 2, y: 2, z: 2}
        placements:
          - dims: {x: 2, y: 2, z: 2}
"""
CRAY = "3x2x2x2\n0 44 0 0 0 0\n1 44 0 0 0 1\n2 17 2 1 0 0\n3 17 2 1 0 1\n4 9 1 0 1 0\n"
DEVICES = ("[TpuDevice(id=0, process_index=0, coords=(0,0,0), core_on_chip=0), TpuDevice(id=1, process_index=0, "
           "coords=(1,0,0), core_on_chip=0),\n TpuDevice(id=3, process_index=0, coords=(1,1,0), core_on_chip=0), "
           "TpuDevice(id=2, process_index=0, coords=(0,1,0), core_on_chip=0)]\n")


def test_slurm_torus3d_gives_the_shape_and_the_places(tmp_path):
    """Anchors with x fastest, numbered as in torus3d_record.c."""
    picture = around({"SLURM_JOB_NODELIST": "b[00-01],a07"}, tmp_path=tmp_path, **{"topology.yaml": TORUS3D})
    assert str(picture.torus) == "4x2x2"
    assert coordinates(picture) == [[2, 0, 0], [3, 0, 0], [1, 1, 1]]


def test_slurm_3d_torus_reads_the_last_three_characters_in_base_36(tmp_path):
    text = "TopologyPlugin=topology/3d_torus\nNodeName=tux[000-002] CPUs=4\nNodeName=tux01A\n"
    picture = around(tmp_path=tmp_path, **{"slurm.conf": text})
    assert coordinates(picture) == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 10]]


SHOWN_TOPOLOGY = """\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]
SwitchName=top Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]
"""
SHOWN_NODES = """\
NodeName=tux0 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUTot=4 CPULoad=0.01
   OS=Linux 6.1.0 #1 SMP Debian
   Reason=Nodes=broken [root@2026-01-01T00:00:00]

NodeName=tux1 CoresPerSocket=1
   CPUAlloc=0 CPUTot=4 CPULoad=N/A
"""
BLOCKS = """\
BlockName=block1 Nodes=node[1-32]
BlockName=block2 Nodes=node[33-64]
BlockName=block3 Nodes=node[65-96]
BlockName=block4 Nodes=node[97-128]
BlockSizes=30,120
"""
SLURM_FILES = {  # text, and its facts; examples from Slurm's own pages if there are any
    "tree": ("SwitchName=s0 Nodes=dev[0-5]\nSWITCHNAME=s3 switches=s0\n", "a tree of 2 switches in 2 levels and 6 hosts"),
    "two levels": ("".join(f"SwitchName=s{i} Nodes=tux[{4 * i}-{4 * i + 3}] LinkSpeed=900\n" for i in range(4)) +
                   "".join(f"SwitchName=s{i} Switches=s[0-3]  LinkSpeed=1800\n" for i in range(4, 8)),
                   "a tree of 8 switches in 2 levels and 16 hosts"),
    "shown tree": (SHOWN_TOPOLOGY, "a tree of 3 switches in 2 levels and 8 hosts"),
    "shown nodes": (SHOWN_NODES, "2 hosts, no switches"),
    "shown nodes in a line": (" ".join(SHOWN_NODES.partition("\n\n")[0].split()) + "\n", "1 host, no switches"),
    "all": ("NodeName=DEFAULT CPUs=4\nNodeName=linux[1-32]\nPartitionName=p Nodes=ALL\n", "32 hosts, no switches"),
    "continued": ("NodeName=a[1-2] \\\n  CPUs=4 # NodeName=b\nNodeName=c\\\n\n", "3 hosts, no switches"),
    "partitions alone": ("PartitionName=p Nodes=a[1-2]\nPartitionName=q Nodes=a1\n", "2 hosts, no switches"),
    "blocks": (BLOCKS, "4 blocks of sizes 30, 120 and 128 hosts"),
    "rings": ("RingName=ring0 Nodes=node[01-08]\nRingName=ring1 Nodes=node[09-16]\n", "2 rings and 16 hosts"),
}


@pytest.mark.parametrize("case", SLURM_FILES)
def test_files_of_slurm_count_each_host_once(tmp_path, case):
    text, told = SLURM_FILES[case]
    picture = around(tmp_path=tmp_path, file=text)
    assert picture.facts[0].value.startswith(told) and picture.torus is None


SLURM_YAML = """\
---
- topology: topo1
  cluster_default: true
  tree:
    switches:
      - switch: sw_root
        children: s[1-2]
      - switch: s1
        nodes: node[01-02]
      - switch: s2
        nodes: node[03-04]
- topology: topo2
  cluster_default: false
  block:
    block_sizes:
      - 4
      - 16
    blocks:
      - block: b1
        nodes: node[01-04]
      - block: b2
        nodes: node[05-08]
- topology: topo3
  flat: true
- topology: topo4
  ring:
    rings:
      - ring: ring0
        nodes: node[01-08]
      - ring: ring1
        nodes: node[09-16]
"""
SLURM_TORUS = """\
- topology: topo5
  cluster_default: false
  torus3d:
    toruses:
      - name: pod1
        dims:
          x: 4
          y: 4
          z: 2
        nodes: node[01-32]
        placements:
          - dims: {x: 2, y: 2, z: 1}
"""


def test_topology_yaml_tells_of_every_plugin(tmp_path):
    """The example of topology.yaml(5)."""
    told = [fact[:2] for fact in around(tmp_path=tmp_path, file=SLURM_YAML).facts if fact.what != "hosts"]
    assert told == [("topology", "topo1: topology/tree"), ("network", "a tree of 3 switches in 2 levels and 4 hosts"),
                    ("topology", "topo2: topology/block"), ("network", "2 blocks of sizes 4, 16 and 8 hosts"),
                    ("topology", "topo3: topology/flat"), ("topology", "topo4: topology/ring"),
                    ("network", "2 rings and 16 hosts")]
    picture = around(tmp_path=tmp_path, file=SLURM_YAML + SLURM_TORUS)
    assert str(picture.torus) == "4x4x2"
    assert coordinates(picture)[:5] == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [0, 1, 0]]


def test_box_notation_tells_names_shape_and_places(tmp_path):
    """The box of a comment of Slurm's hostlist.h: 4 x 4 x 4 midplanes from bgl123 to bgl456."""
    assert expand_hosts("tux[000x111]") == [f"tux{x}{y}{z}" for x in range(2) for y in range(2) for z in range(2)]
    picture = around({"SLURM_JOB_NODELIST": "tux[000x113]"})
    assert str(picture.torus) == "2x2x4:mesh" and picture.nodes.size == 16
    assert picture.names[picture.torus.node((1, 0, 3))] == "tux103"
    picture = around(tmp_path=tmp_path, file="NodeName=bgl[123x456] CPUs=2\n")
    assert picture.nodes.size == 64 and coordinates(picture)[0] == [1, 2, 3] and coordinates(picture)[-1] == [4, 5, 6]


def test_pbs_counts_tasks_and_keeps_the_order(tmp_path):
    (tmp_path / "nodefile").write_text("n2\nn2\nn0\nn0\n")
    picture = around({"PBS_NODEFILE": str(tmp_path / "nodefile")}, "4")
    assert coordinates(picture) == [[2], [0]] and picture.tasks_per_node == 2


def test_cray_table_with_holes_in_the_order_of_the_process_elements(tmp_path):
    picture = around(tmp_path=tmp_path, topology=CRAY)
    assert str(picture.torus) == "3x2x2" and (picture.tasks_per_node, picture.most_tasks) == (1, 2)
    assert coordinates(picture) == [[0, 0, 0], [2, 1, 0], [1, 0, 1]]
    assert picture.names[0] == "nid00044"


def test_cray_places_for_hosts_that_slurm_orders(tmp_path):
    picture = around({"SLURM_JOB_NODELIST": "nid[00009,00044]"}, tmp_path=tmp_path, topology=CRAY)
    assert coordinates(picture) == [[1, 0, 1], [0, 0, 0]] and list(picture.names.values()) == ["nid00009", "nid00044"]
    picture = around({"SLURM_JOB_NODELIST": "nid000017"}, tmp_path=tmp_path, topology=CRAY)
    assert coordinates(picture) == [[2, 1, 0]]


@pytest.mark.parametrize("environ, torus, tasks", [
    ({"PJM_NODE_X": "4", "PJM_NODE_Y": "3", "PJM_NODE_Z": "2", "PJM_PROC_BY_NODE": "4"}, "4x3x2:mesh", 4),
    ({"PJM_MPI_SHAPE_X": "8", "PJM_MPI_SHAPE_Y": "8", "PJM_MPI_SHAPE_Z": "8", "PJM_NODE_X": "9"}, "8x8x8", None),
    ({"PJM_NODE_X": "12"}, "12:mesh", None),
    ({"RUNJOB_SHAPE": "2x2x2x2x2", "RUNJOB_RANKS_PER_NODE": "16"}, "2x2x2x2x2w", 16),
    ({"COBALT_SHAPE": "4x4x4x4x2"}, "4x4x4x4x2", None),
    ({"LOADL_BG_SHAPE": "1x1x2x1"}, "4x4x8x4x2", None),
    ({"TPU_TOPOLOGY": "4x4x8", "TPU_TOPOLOGY_WRAP": "true,true,true"}, "4x4x8", None),
    ({"TPU_TOPOLOGY": "2x4", "TPU_TOPOLOGY_WRAP": "false,false,false"}, "2x4:mesh", None),
    ({"TPU_TOPOLOGY": "4x8", "TPU_TOPOLOGY_WRAP": "false,true,false"}, "4x8w", None),
])
def test_environments_that_tell_the_shape(environ, torus, tasks):
    picture = around(environ)
    assert str(picture.torus) == torus and picture.tasks_per_node == tasks
    assert all(fact.source for fact in picture.facts)
    told = {fact.source: fact.value for fact in picture.facts if fact.what == "tasks per node"}
    assert {name: int(number) for name, number in told.items()} == {
        name: tasks for name in environ if name in ("RUNJOB_RANKS_PER_NODE", "PJM_PROC_BY_NODE")}


def test_tpu_devices_in_the_order_of_their_ids(tmp_path):
    picture = around(tmp_path=tmp_path, devices=DEVICES)
    assert coordinates(picture) == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] and picture.tasks_per_node == 1
    both = around({"TPU_TOPOLOGY": "2x2x1", "TPU_TOPOLOGY_WRAP": "false,false,false"}, tmp_path=tmp_path, devices=DEVICES)
    assert both.torus == picture.torus


@pytest.mark.parametrize("text", [DEVICES.replace(")]", "), ...]"), DEVICES[:-3], DEVICES[:-40], DEVICES.replace("]", ""),
                                  DEVICES.replace("\n ", "\n ..., ")])
def test_a_list_of_devices_that_was_cut_is_refused(tmp_path, text):
    with pytest.raises(PencilmapError, match=r"line [0-9]: the list of devices is not complete"):
        around(tmp_path=tmp_path, devices=text)


def test_a_fugaku_job_without_a_shape_says_what_is_known_and_what_is_missing():
    picture = around({"PJM_JOBID": "123", "PJM_NODE": "12", "PJM_MPI_PROC": "48", "PJM_PROC_BY_NODE": "4"})
    told = {fact.source: fact.value for fact in picture.facts}
    assert (told["PJM_NODE"], told["PJM_MPI_PROC"], told["PJM_PROC_BY_NODE"]) == ("12", "48", "4")
    assert picture.tasks_per_node == 4 and "coordinates of the nodes" in picture.missing
    assert "have none" in told["no PJM_NODE_X"]


@pytest.mark.parametrize("text", ["n2.example.com 0,1 0 2\nn2.example.com 4-5 1 2\nn0.example.com 0,1 0 2\n",
                                  "n2 0 0 1\nn2 4 1 1\nn0 0 0 1\n", "n2 0-1\nn2 4-5\nn0 0\n"])
def test_lsf_affinity_lines_are_no_coordinates(tmp_path, text):
    picture = around(torus="4", tmp_path=tmp_path, affinity=text)
    assert coordinates(picture) == [[2], [0]] and (picture.tasks_per_node, picture.most_tasks) == (1, 2)
    assert "LSF affinity" in next(fact.value for fact in picture.facts if fact.what == "processors of a task")


def test_what_may_be_coordinates_or_lsf_affinity_is_refused(tmp_path):
    text = "n1.example.com 0 0 4\nn2.example.com 1 0 4\n"
    with pytest.raises(MapfileError, match="may be coordinates or LSF's affinity file"):
        around(tmp_path=tmp_path, file=text)
    assert coordinates(around(tmp_path=tmp_path, file="# NAME x y z\n" + text)) == [[0, 0, 4], [1, 0, 4]]
    assert around(torus="3", tmp_path=tmp_path, **{"7.hostAffinityFile": text}).nodes.tolist() == [1, 2]


@pytest.mark.parametrize("form", ["LSB_MCPU_HOSTS", "LSB_HOSTS", "LSB_DJOB_HOSTFILE"])
@pytest.mark.parametrize("words, has_jsrun, hosts", [
    ("batch2 1 h1 3 h2 3", False, "h1 h2"), ("h9 1 h1 3 h2 3", True, "h1 h2"), ("h9 1 h1 3 h2 3", False, "h9 h1 h2"),
    ("batch2 2 h1 3 h2 3", True, "batch2 h1 h2"), ("batch2 1 h1 3 h2 2", True, "batch2 h1 h2"),
    ("batch2 1 h1 1", True, "batch2 h1")])
def test_the_launch_node_of_jsrun_is_no_host(tmp_path, form, words, has_jsrun, hosts):
    each = words.split()
    tasks = [name for name, count in zip(each[::2], each[1::2]) for _ in range(int(count))]
    (tmp_path / "hosts").write_text("".join(f"{name}\n" for name in tasks))
    (tmp_path / "jsrun").write_text("")
    (tmp_path / "jsrun").chmod(0o755 if has_jsrun else 0o644)
    given = {"LSB_MCPU_HOSTS": words, "LSB_HOSTS": " ".join(tasks), "LSB_DJOB_HOSTFILE": str(tmp_path / "hosts")}
    environ = {form: given[form], "PATH": str(tmp_path)}
    assert job_hosts(environ) == tuple(hosts.split())
    assert ("launch node" in {fact.what for fact in around(environ).facts}) == (hosts == "h1 h2")


@pytest.mark.parametrize("kind", ["HET", "PACK"])
def test_a_heterogeneous_job_has_the_hosts_of_all_groups(kind):
    environ = {f"SLURM_{kind}_SIZE": "3", "SLURM_JOB_NODELIST": "n[1-4]",
               f"SLURM_JOB_NODELIST_{kind}_GROUP_0": "n[1-4]", f"SLURM_JOB_NODELIST_{kind}_GROUP_1": "g[1-2]",
               f"SLURM_TASKS_PER_NODE_{kind}_GROUP_0": "2(x4)", f"SLURM_TASKS_PER_NODE_{kind}_GROUP_1": "8(x2)"}
    assert job_hosts(environ) == ("n1", "n2", "n3", "n4", "g1", "g2")
    told, picture = {fact.what: fact.value for fact in around(environ).facts}, around(environ)
    assert (told["group 1"], told["group 2"]) == ("g[1-2]", "not told: left out")
    assert (picture.tasks_per_node, picture.most_tasks) == (2, 8)


@pytest.mark.parametrize("variable", ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"])
def test_a_variable_that_names_a_lost_file_is_named(variable):
    with pytest.raises(MapfileError, match=f"{variable}: /lost cannot be read: .*; run on a host that has this file"):
        around({variable: "/lost"})


@pytest.mark.parametrize("text, hosts", [
    ("c[010-011,200]", "c010 c011 c200"), ("a,b-1", "a b-1"), ("7a[1-2],x", "7a1 7a2 x")])
def test_a_typed_list_stands_for_a_file_of_hosts(text, hosts, tmp_path, monkeypatch):
    """Unless a file has this name."""
    assert read_description(text).hosts == tuple(hosts.split())
    monkeypatch.chdir(tmp_path)
    Path(text).write_text("other\n")
    assert read_description(text).hosts == ("other",)


def test_typed_lists_name_nodes_and_failed_nodes(tmp_path):
    (tmp_path / "tree").write_text("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[4-6]\nSwitchName=top Switches=a,b\n")
    (tmp_path / "failed").write_text("n2\n")

    def nodes(**given):
        where = setting(network=tmp_path / "tree", **given)
        return " ".join(where.network.host_names[node] for node in where.site.allocation.nodes.tolist())

    assert nodes(nodes="n[6,2-3]") == "n6 n2 n3" and nodes(nodes="n4,n1") == "n4 n1"
    for failed in ("n[2-3]", "n2,n3", "n2, 2", "n[2,3]"):
        assert nodes(failed=failed) == "n1 n4 n5 n6"
    assert nodes(failed=str(tmp_path / "failed")) == "n1 n3 n4 n5 n6"
    (tmp_path / "named").write_text("a 0 0\nb 1 0\nc 0 1\n")
    for failed in ("b,0-0", "1-0,a", "[a,b]"[1:-1]):
        assert setting(network="2x2", nodes=tmp_path / "named", failed=failed).site.allocation.nodes.tolist() == [2]
    with pytest.raises(PencilmapError, match=r"host list 'n\[4-2\]': range 4-2 runs backwards"):
        nodes(nodes="n[4-2]")


@pytest.mark.parametrize("order, hosts", [("list", "n6 n1 n5 n3 n10"), ("name", "n1 n3 n5 n6 n10"),
                                          ("switch", "n1 n5 n6 n10 n3")])
def test_hosts_are_sorted_by_switch_in_one_step(order, hosts, tmp_path, pencilmap):
    """The switches of a pod follow each other, and the hosts of a switch stay in the order of their list."""
    (tmp_path / "tree").write_text("SwitchName=a Nodes=n[1,5]\nSwitchName=b Nodes=n[2-3]\nSwitchName=c Nodes=n[6,10]\n"
                                   "SwitchName=d Nodes=n[7-8]\nSwitchName=p Switches=a,c\nSwitchName=q Switches=b,d\n"
                                   "SwitchName=top Switches=p,q\n")
    (tmp_path / "cables").write_text("n1 a\nn5 a\nn6 b\nn10 b\nn3 c\na c\nb c\n" + "".join(
        f"{switch} {{'kind': 'switch'}}\n" for switch in "abc"))
    for network in ("tree", "cables,edge-list"):
        assert pencilmap("network", "n6,n1,n[5,3,10]", "--network", tmp_path / network, "--no-hardware", "--order", order,
                         "-o", tmp_path / "hosts")[0] == 0
        assert (tmp_path / "hosts").read_text().split() == hosts.split()


@pytest.mark.parametrize("words, said", [
    (("n[0-3]", "--network", "4"), "a torus has no switches"), (("n[0-3]",), "their names or their network is not known")])
def test_hosts_that_cannot_be_sorted_by_switch_are_told(words, said, tmp_path, pencilmap):
    status, _, err = pencilmap("network", *words, "--no-hardware", "--order", "switch", "-o", tmp_path / "hosts")
    assert status == 1 and said in err and not (tmp_path / "hosts").exists()


@pytest.mark.parametrize("network, text, nodes", [
    ("8:mesh", "node1\nnode4\n", [1, 4]), ("8:mesh", "node-1\n", None), ("4x4", "r1c2\n", [9]),
    ("8:mesh", "node1 0\n", None)])
def test_a_number_in_a_name_that_is_taken_for_a_coordinate_is_a_guess(network, text, nodes, tmp_path):
    """And is said, unless the names are those that this package makes."""
    (tmp_path / "hosts").write_text(text)
    said = "the numbers in names of hosts are taken for"
    for notes in (setting(network=network, nodes=tmp_path / "hosts").notes,
                  setting(network=network, names=tmp_path / "hosts").notes,
                  [fact.value for fact in look_around({}, [tmp_path / "hosts"], network).facts]):
        assert any(said in note for note in notes) == (nodes is not None)
    if nodes:
        assert setting(network=network, nodes=tmp_path / "hosts").site.allocation.nodes.tolist() == nodes


@pytest.mark.parametrize("hosts, network, names", [
    ("h[1-4]", "4:mesh", "h1 h2 h3 h4"), ("h[3,1,2,0]", "4:mesh", "h0 h1 h2 h3"), ("h[3,1,2,9]", "4:mesh", "h3 h1 h2 h9"),
    ("h[1-4]", "fat-tree:leaves=2,hosts=2,up=1", "h1 h2 h3 h4"), ("h[1-3]", "4:mesh", "node-0 node-1 node-2 node-3")])
def test_a_job_with_as_many_hosts_names_the_nodes_of_a_text(hosts, network, names):
    where = setting(network=network, environ={"SLURM_JOB_NODELIST": hosts})
    assert where.job().hosts.names(range(4)) == names.split()
    assert any("4 hosts of this job are taken for the nodes" in note for note in where.notes) == ("node" not in names)


@pytest.mark.parametrize("text", ["0 0\n1 0\n0 0\n", "a 0 0\n0 0\n", "0 0\na 0 0\n", "0 1 0 1\n1 0 1 0\n0 1 0 1\n"])
def test_a_node_without_a_name_is_listed_once(text, tmp_path):
    with pytest.raises(MapfileError, match=r"line [23]: node \(.*\) is already listed in line 1; list every node once"):
        around(tmp_path=tmp_path, file=text)


def test_plain_tables_with_and_without_names(tmp_path):
    picture = around(tmp_path=tmp_path, table="# by hand\nalpha 1 0\n0 1 beta\n")
    assert coordinates(picture) == [[1, 0], [0, 1]] and picture.names == {1: "alpha", 2: "beta"}
    assert picture.table() == "alpha 1 0\nbeta 0 1\n"
    picture = around(tmp_path=tmp_path, torus="4x4", table="3 0\n0 1\n")
    assert coordinates(picture) == [[3, 0], [0, 1]] and str(picture.torus) == "4x4"


def xml(packages, numa, cores):
    """Return hwloc's XML of a node, by hand."""
    def bits(first, n):
        value = ((1 << n) - 1) << first
        words = []
        while value or not words:
            words.insert(0, f"0x{value & 0xffffffff:08x}")
            value >>= 32
        return ",".join(words)

    at, text = 0, ""
    for _ in range(packages):
        text += '<object type="Package">'
        for _ in range(numa):
            text += f'<object type="Group"><object type="NUMANode" cpuset="{bits(at, cores)}"/>'
            for _ in range(cores):
                text += f'<object type="L2Cache"><object type="Core" cpuset="{bits(at, 1)}"/></object>'
                at += 1
            text += "</object>"
        text += "</object>"
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">'
            f'<object type="Machine"><info name="HostName" value="cab7"/>{text}</object></topology>')


@pytest.mark.skipif(not (shutil.which("lstopo-no-graphics") and shutil.which("hwloc-calc")),
                    reason="NOT TESTED: lstopo or hwloc-calc is missing (Debian: hwloc-nox)")
@pytest.mark.parametrize("flags", ["none", "v1"])
@pytest.mark.parametrize("topology", [
    "package:2 numa:2 core:4 pu:1", "package:2 [numa] [numa] core:4 pu:1", "package:2 group:2 [numa] [numa] core:2 pu:1",
    "[numa] package:1 [numa] l3cache:2 [numa] core:2 pu:2", "numa:2 package:2 core:2 pu:1", "package:3 core:2 pu:1",
    "[numa] [numa] package:2 [numa] l3cache:2 [numa] [numa] core:3 pu:2"])
def test_hwloc_counts_as_hwloc_counts(tmp_path, topology, flags):
    """Synthetic nodes, with memory next to cores: each object, and the NUMA nodes of each core."""
    def run(*command):
        return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout

    run("lstopo-no-graphics", "-i", topology, "--of", "xml", *(["--export-xml-flags", "v1"] if flags == "v1" else []),
        tmp_path / "node.xml")
    found = read_description(tmp_path / "node.xml")

    def calc(*words):
        return run("hwloc-calc", "-i", tmp_path / "node.xml", *words).strip()

    counts = [len(run("lstopo-no-graphics", "-i", tmp_path / "node.xml", "--only", kind).splitlines())
              for kind in ("package", "numanode", "core")]
    assert [int(n) for n in re.findall("[0-9]+", found.facts[0].value)] == counts
    size = [int(calc("-N", "pu", f"numa:{n}")) for n in range(counts[1])]
    closest = [min(map(int, calc("-I", "numa", f"core:{core.number}").split(",")), key=lambda n: size[n])
               for core in found.cores]
    assert len(set(zip(closest, (core.numa for core in found.cores)))) == len(set(closest))


@pytest.mark.parametrize("tasks, wanted", [
    (1, "0-47"), (2, "0-23 24-47"), (4, "0-11 12-23 24-35 36-47"), (48, " ".join(map(str, range(48)))),
    (8, "0-5 6-11 12-17 18-23 24-29 30-35 36-41 42-47"), (3, None), (7, None)])
def test_slots_get_equal_blocks_of_cores_that_do_not_overlap(tasks, wanted):
    cores = [Core(i, i // 24, i // 6) for i in range(48)]
    slots = slot_cores(cores, tasks)
    taken = [n for s in slots for n in range(int(s.partition("-")[0]), int(s.rpartition("-")[2]) + 1)]
    assert len(slots) == tasks and len(taken) == len(set(taken)) and max(taken) < 48
    if wanted:
        assert " ".join(slots) == wanted
    if tasks >= 8:  # then no slot spans two NUMA nodes
        assert all(int(s.partition("-")[0]) // 6 == int(s.rpartition("-")[2]) // 6 for s in slots)


def test_more_tasks_than_cores_are_refused():
    with pytest.raises(PencilmapError, match="3 tasks per node, but the node has 2 cores"):
        slot_cores([Core(0, 0, 0), Core(1, 0, 0)], 3)


GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="type" attr.type="string"/><key id="n" for="node" attr.name="description"
attr.type="string"/> <graph edgedefault="directed">
<node id="a"><data key="t">Host</data><data key="n">n-1-0 HCA-1</data></node>
<node id="b"><data key="t">Host</data><data key="n">n-0-1 HCA-1</data></node>
<node id="s"><data key="t">Switch</data><data key="n">leaf</data></node><edge source="a" target="s"/></graph></graphml>"""
NETLOC_XML = """<?xml version="1.0"?><topology version="2.0"><network transport="IB"><subnet><node mac_addr="aa" type="CA"
name="n-1-0"/> <node mac_addr="bb" type="CA" name="n-0-1"/><node mac_addr="cc" type="SW"
name="leaf"/></subnet></network></topology>"""


OWN = {"slurm": (TORUS3D, "TopologyPlugin=topology/3d_torus\nNodeName=tux[000-002]\n", "SwitchName=s0 Nodes=n[0-3]\n"),
       "tpu": (DEVICES,), "hwloc": (xml(2, 2, 2),),
       "netloc": (GRAPHML, NETLOC_XML, NETLOC_XML.replace("network", "topology")),
       "network": ("graph g { a -- b }\n", (CORPUS / "ibnetdiscover").read_text(), (CORPUS / "topograph").read_text()),
       "scotch": ("torus3D 4 4 2\n", "mesh2D 4 4", "hcub 3\n", "cmplt 8\n"), "cray": (CRAY,),
       "lsf": ("n2 0-1\nn2 4-5\nn0 0\n", "n1.example.com 0,1 0 2\nn0.example.com 4-5 1 2\n", "n2 0 0 1\nn2 4 1 1\n"),
       "pbs": ("n2\nn2\nn0\n", "node01.example.com\n"),
       "table": ("0 0\n1 0\n", "a 0 0\nb 1 0\n", "0 0 a\n", "4\n", "4 4\n0 0\n")}


@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.find])
def test_a_description_is_read_by_its_own_reader(name, tmp_path, monkeypatch):
    for other, reader in list(READERS.items()):
        find = (lambda document, other=other: other) if reader.find else None
        monkeypatch.setitem(READERS, other, replace(reader, find=find))
    for text in OWN[name]:
        (tmp_path / "demo").write_text(text)
        assert read_description(tmp_path / "demo") == name, text


@pytest.mark.parametrize("torus", [Torus((4, 2, 3)), Torus((5,)), Torus((2, 3, 4, 2), (False,) * 4)])
def test_the_targets_that_are_written_for_scotch_are_read(torus, tmp_path):
    found = around(tmp_path=tmp_path, target=architecture(torus)).torus
    assert found.shape[:torus.n_dimensions] == torus.shape and found.wrap[:torus.n_dimensions] == torus.wrap
    assert set(found.shape[torus.n_dimensions:]) <= {1}


def test_a_number_that_is_the_name_of_a_host_is_this_host():
    network = parse_graph(Document(b"1 2\n2 3\n3 1\n", "cables"), "edge-list", 1e9)
    assert parse_table(Document(b"2\n1\n", "nodes"), network).hosts == {"2": 1, "1": 0}
    assert parse_table(Document(b"2\n1\n", "nodes"), Torus((4,))).nodes.tolist() == [2, 1]


def test_two_hosts_in_one_place_are_refused():
    with pytest.raises(AllocationError, match="hosts a1 and b1 have the same coordinates"):
        around({"SLURM_JOB_NODELIST": "a1,b1"}, "4")


GEMINI = "2x1x2x4\n" + "".join(f"{pe} {nid} {nid // 2 % 2} 0 {nid // 4} {pe % 4}\n" for pe, nid in
                               enumerate(nid for nid in (0, 1, 2, 3, 6, 7, 4, 5) for _ in range(4)))


def test_hosts_at_one_router_are_hosts_of_a_node(tmp_path):
    """Cray XE: two compute nodes have the coordinates of their Gemini, so a network node has the tasks of both."""
    picture = around(tmp_path=tmp_path, topology=GEMINI)
    assert str(picture.torus) == "2x1x2" and picture.tasks_per_node == 8
    assert picture.nodes.tolist() == [0, 1, 3, 2] and len(picture.hosts) == 8
    again = parse_table(Document(picture.table().encode(), "t"), picture.torus)
    assert again.hosts == picture.hosts and again.nodes.tolist() == picture.nodes.tolist()
    slurm = around({"SLURM_JOB_NODELIST": "nid[00004-00007]"}, tmp_path=tmp_path, topology=GEMINI)
    assert slurm.nodes.tolist() == [2, 3] and slurm.tasks_per_node == 8
    with pytest.raises(MapfileError, match=r"\(0, 0, 1\) has nid00004, nid00005 but \(1, 0, 1\) has nid00006; correct"):
        around({"SLURM_JOB_NODELIST": "nid[00004-00006]"}, tmp_path=tmp_path, topology=GEMINI)


BROKEN = {
    "cray outside": (CRAY.replace("1 0 1 0", "1 0 9 0"), "line 6: node (1, 0, 9) is outside the 3x2x2"),
    "cray moved": (CRAY + "5 44 1 1 1 0\n", "line 7: nid 44 was at (0, 0, 0) above"),
    "cray columns": (CRAY + "5 44 1\n", "line 7: 3 columns, but 6 are needed (pe nid x y z t)"),
    "yaml": ("torus3d:\n  toruses: [a: {\n", "is not YAML"),
    "yaml count": (TORUS3D.replace("b[00-07]", "b[00-06]"), "7 hosts for a box of 2x2x2"),
    "yaml outside": (TORUS3D.replace("x: 2, y: 0, z: 0", "x: 3, y: 0, z: 0"), "reaches out of the torus"),
    "yaml dims": (TORUS3D.replace("{x: 4, y: 2, z: 2}", "4"), "dims needs x, y and z"),
    "yaml extent": (TORUS3D.replace("{x: 4, y: 2, z: 2}", "{x: 65536, y: 2, z: 2}"), "dims needs x, y and z"),
    "yaml none": ("torus3d:\n  toruses: []\n", "line 1: torus3d needs a list of toruses"),
    "xml": (xml(1, 1, 2)[:-30], "is not XML"),
    "xml without cores": ("<topology><object type='Machine'/></topology>", "has no object of type Core"),
    "graphml": (GRAPHML[:-40], "is not GraphML"),
    "table": ("a 0 0\nb 0 0 0\n", "line 2: is not a line of coordinates"),
    "scotch sizes": ("torus3D 4 4\n", "line 1: 'torus3D 4 4' is no target that is a network"),
    "scotch large": ("hcub 99999\n", "line 1: 'hcub 99999' is no target that is a network"),
    "table twice": ("a 0 0 0\na 1 0 1\n", "line 2: host a is listed twice"),
    "unknown": ("lorem ipsum dolor\n", "is not recognised; files that are read: Slurm"),
    "empty": ("# nothing\n", "is empty"),
    "yaml control": ("\x01- topology: torus\n  torus3d:\n    toruses: []\n", "control characters are not allowed in"),
    "yaml list": ("- topology: torus\n  torus3d: [1\n", "line 3 column 1:"),
    "slurm list": ("SwitchName=a Nodes=n[0-99999999999]\n", "line 1: host list"),
    "slurm child": ("SwitchName=a Nodes=n0\n\nSwitchName=b Switches=a,c\n", "line 3: switch b has an invalid child c"),
    "slurm circle": ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "line 1: switch a is below itself"),
    "slurm words": ("NodeName=a\nfour words of text\n", "line 2: 'four words of text' is not KEY=VALUE"),
    "slurm twice": ("NodeName=a[1-2]\nNodeName=a2\n", "line 2: host a2 is already in a line above"),
    "slurm include": ("NodeName=a\nInclude nowhere.conf\n", "line 2: Include: "),
    "slurm config": ("Configuration data as of 2026\nTopologyPlugin = x\n", "is the output of scontrol show config"),
    "slurm all": ("SwitchName=s Nodes=ALL\n", "line 1: ALL is not a host"),
    "box": ("NodeName=tux[000x1111]\n", "line 1: host list 'tux[000x1111]': the corners of box 000x1111 differ in length"),
    "yaml plugin": (SLURM_YAML.replace("flat: true", "cube: true"), "line 23: a topology has one of tree, block, ring, "
                    "torus3d, flat, but topo3 has none"),
    "yaml child": (SLURM_YAML.replace("s[1-2]", "s[1-3]"), "switch sw_root has an invalid child s3"),
    "yaml hosts": (SLURM_YAML.replace("node[03-04]", "node[03-"), "line 11: host list"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_descriptions_are_refused(tmp_path, case):
    text, message = BROKEN[case]
    (tmp_path / "demo").write_text(text)
    with pytest.raises(PencilmapError, match=re.escape(message)) as error:
        read_description(tmp_path / "demo")
    assert "\n" not in str(error.value)


def test_discover_prints_what_it_found_and_from_where(tmp_path, pencilmap, monkeypatch):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    status, out, err = pencilmap("network", "--no-hardware", "--network", "4", "-o", tmp_path / "nodes")
    assert status == 0, err
    assert "SLURM_JOB_NODELIST" in out and "Your job has 3 of 4 nodes of torus 4, 1 to 2 tasks on each node.\n" in out
    assert (tmp_path / "nodes").read_text() == "n0 0\nn1 1\nn3 3\n"
    assert pencilmap("map", "--network", "4", "-t", "2", "-g", "3x2", "-p", "default", "--nodes", tmp_path / "nodes",
                     "--hosts", tmp_path / "nodes", "-f", "slurm", "-o", tmp_path / "hosts")[0] == 0
    assert (tmp_path / "hosts").read_text().split() == ["n0", "n0", "n1", "n1", "n3", "n3"]


@pytest.mark.parametrize("text", ["n1:4\nn2:4\n", "n1 slots=4 max_slots=8\nn2 slots=4\n",
                                  "n1 max-slots=8 count=4\nn2 cpu=4\n",
                                  "n1:4\n" + "n2\n" * 4, "n1:4 ifhn=ib1\nn2:4 ifhn=ib2\n"])
def test_a_host_may_have_its_number_of_tasks(text, tmp_path):
    (tmp_path / "hosts").write_text(text)
    found = read_description(tmp_path / "hosts")
    assert found.hosts == ("n1", "n2") and found.tasks_per_node == 4


def test_a_line_of_a_file_of_nodes_may_be_a_list_of_hosts():
    lines = "".join(f"SwitchName=l{k} Nodes=n[{4 * k}-{4 * k + 3}]\n" for k in range(3)) + "SwitchName=t Switches=l[0-2]\n"
    network = parse_graph(Document(lines.encode(), "tree"))
    found = parse_table(Document(b"n[1-3]\nn8,n[5-6]\n", "nodes"), network)
    assert [network.host_names[node] for node in found.nodes.tolist()] == ["n1", "n2", "n3", "n8", "n5", "n6"]
    for text, said in ((b"n[1-3\n", "nodes line 1: host list"), (b"n1\nn[1-2]\n", "nodes line 2: host n1 is also in")):
        with pytest.raises(MapfileError, match=said):
            parse_table(Document(text, "nodes"), network)
