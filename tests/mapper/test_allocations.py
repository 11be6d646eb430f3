"""Readers of "where am I": what each environment and file says, and what they give together."""

import contextlib
import json
import random
import re
import shutil
from dataclasses import replace

import pytest

from pencilmap.mapper.allocations import READERS, combine, look_around, read_description
from pencilmap.mapper.allocations.hwloc import Core, slot_cores
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.formats.scotch import architecture
from pencilmap.model.errors import AllocationError, MapfileError, PencilmapError
from pencilmap.model.torus import Torus, format_torus


def around(environ=None, torus=None, tmp_path=None, **files):
    """The picture of some variables and some files given by their text."""
    paths = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    return look_around(environ or {}, paths, torus)


def coordinates(picture):
    return picture.torus.coordinates(picture.nodes).tolist()


SLURM = {"SLURM_JOB_NODELIST": "n[1-0]".replace("1-0", "0-1") + ",n3", "SLURM_TASKS_PER_NODE": "2(x2),1"}
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


def test_slurm_hosts_in_order_with_the_numbers_in_their_names():
    picture = around(SLURM, "4")
    assert coordinates(picture) == [[0], [1], [3]] and picture.tasks_per_node == 2
    assert picture.names == {0: "n0", 1: "n1", 3: "n3"} and picture.missing is None
    assert picture.arguments("f") == {"torus": "4", "tasks_per_node": "2", "nodes": "f", "hosts": "f"}


def test_slurm_torus3d_gives_the_shape_and_the_places(tmp_path):
    """Anchors and x fastest, as torus3d_record.c numbers them."""
    picture = around({"SLURM_JOB_NODELIST": "b[00-01],a07"}, tmp_path=tmp_path, **{"topology.yaml": TORUS3D})
    assert format_torus(picture.torus) == "4x2x2"
    assert coordinates(picture) == [[2, 0, 0], [3, 0, 0], [1, 1, 1]]


def test_of_several_toruses_the_first_is_read_and_the_others_are_counted(tmp_path):
    two = TORUS3D + "".join(f"      {line}\n" for line in ("- name: other", "  dims: {x: 1, y: 1, z: 1}"))
    facts = around({"SLURM_JOB_NODELIST": "a07"}, tmp_path=tmp_path, **{"topology.yaml": two}).facts
    assert [fact.value for fact in facts if fact.what == "other toruses"] == ["1 are not read"]


def test_slurm_3d_torus_reads_the_last_three_characters_in_base_36(tmp_path):
    text = "TopologyPlugin=topology/3d_torus\nNodeName=tux[000-002] CPUs=4\nNodeName=tux01A\n"
    picture = around(tmp_path=tmp_path, **{"slurm.conf": text})
    assert coordinates(picture) == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 10]]


def test_slurm_trees_have_no_coordinates(tmp_path):
    picture = around(tmp_path=tmp_path, **{"topology.conf": "SwitchName=s0 Nodes=dev[0-5]\nSwitchName=s3 Switches=s[0-2]\n"})
    assert "a tree of 2 switches and 6 hosts" in picture.facts[0].value and picture.torus is None
    shouted = around(tmp_path=tmp_path, **{"topology.conf": "SWITCHNAME=s0 Nodes=dev[0-5]\n"})  # names of Slurm have no case
    assert "a tree of 1 switches and 6 hosts" in shouted.facts[0].value


def test_pbs_counts_tasks_and_keeps_the_order(tmp_path):
    (tmp_path / "nodefile").write_text("n2\nn2\nn0\nn0\n")
    picture = around({"PBS_NODEFILE": str(tmp_path / "nodefile")}, "4")
    assert coordinates(picture) == [[2], [0]] and picture.tasks_per_node == 2


def test_cray_table_with_holes_in_the_order_of_the_process_elements(tmp_path):
    picture = around(tmp_path=tmp_path, topology=CRAY)
    assert format_torus(picture.torus) == "3x2x2" and picture.tasks_per_node == 2
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
    assert format_torus(picture.torus) == torus and picture.tasks_per_node == tasks
    assert all(fact.source for fact in picture.facts)
    told = {fact.source: fact.value for fact in picture.facts if fact.what == "tasks per node"}
    assert {name: int(number) for name, number in told.items()} == {
        name: tasks for name in environ if name in ("RUNJOB_RANKS_PER_NODE", "PJM_PROC_BY_NODE")}


@pytest.mark.parametrize("environ",
                         [{}, {"PJM_NODE_X": "-1"}, {"PJM_NODE_X": "9" * 50}, {"RUNJOB_SHAPE": "2x2"}, {"TOPOLOGY": "2x2"},
                                     {"TPU_TOPOLOGY": "x"}])
def test_environments_that_tell_nothing(environ):
    assert around(environ).torus is None


def test_tpu_devices_in_the_order_of_their_ids(tmp_path):
    picture = around(tmp_path=tmp_path, devices=DEVICES)
    assert coordinates(picture) == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] and picture.tasks_per_node == 1
    both = around({"TPU_TOPOLOGY": "2x2x1", "TPU_TOPOLOGY_WRAP": "false,false,false"}, tmp_path=tmp_path, devices=DEVICES)
    assert both.torus == picture.torus


def test_plain_tables_with_and_without_names(tmp_path):
    picture = around(tmp_path=tmp_path, table="# by hand\nalpha 1 0\n0 1 beta\n")
    assert coordinates(picture) == [[1, 0], [0, 1]] and picture.names == {1: "alpha", 2: "beta"}
    assert picture.table() == "alpha 1 0\nbeta 0 1\n"
    picture = around(tmp_path=tmp_path, torus="4x4", table="3 0\n0 1\n")
    assert coordinates(picture) == [[3, 0], [0, 1]] and format_torus(picture.torus) == "4x4"


def test_tables_go_round(tmp_path):
    picture = around(SLURM, "4")
    again = parse_table(Document(picture.table().encode(), "t"), picture.torus)
    assert again.nodes.tolist() == picture.nodes.tolist() and again.names == picture.names


def xml(packages, numa, cores):
    """hwloc's XML of a node, by hand."""
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


def test_hwloc_counts_packages_numa_nodes_and_cores(tmp_path):
    picture = around(tmp_path=tmp_path, node=xml(2, 4, 6))
    assert picture.facts[0][:2] == ("processors of cab7", "2 packages, 8 NUMA nodes, 48 cores")
    assert [c.numa for c in picture.cores] == [i // 6 for i in range(48)]
    assert [c.package for c in picture.cores] == [i // 24 for i in range(48)]


@pytest.mark.parametrize("tasks, wanted", [
    (1, "0-47"), (2, "0-23 24-47"), (4, "0-11 12-23 24-35 36-47"), (48, " ".join(map(str, range(48)))),
    (8, "0-5 6-11 12-17 18-23 24-29 30-35 36-41 42-47"), (3, None), (7, None)])
def test_slots_get_equal_blocks_of_cores_that_do_not_overlap(tasks, wanted):
    cores = [Core(i, i // 24, i // 6) for i in range(48)]
    slots = slot_cores(cores, tasks)
    taken = [n for s in slots for n in range(int(s.partition("-")[0]), int(s.rpartition("-")[2]) + 1)]
    assert len(slots) == tasks and len(taken) == len(set(taken)) and max(taken) < 48
    if wanted and tasks in (8, 48):
        assert " ".join(slots) == wanted
    if tasks >= 8:  # then no slot lies in two NUMA nodes
        assert all(int(s.partition("-")[0]) // 6 == int(s.rpartition("-")[2]) // 6 for s in slots)


def test_more_tasks_than_cores_are_refused():
    with pytest.raises(MapfileError, match="3 tasks per node, but the node has 2 cores"):
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


@pytest.mark.parametrize("text", [GRAPHML, NETLOC_XML])
def test_netloc_exports_give_hosts(tmp_path, text):
    if text == NETLOC_XML:
        text = text.replace("topology", "machine")
    picture = around(torus="2x2", tmp_path=tmp_path, export=text)
    assert coordinates(picture) == [[1, 0], [0, 1]] and "2 hosts, 1 switches" in picture.facts[0].value


def test_what_is_missing_is_said():
    assert "`torus`" in around(SLURM).missing
    assert "the coordinates of host n0: give a table NAME x y" in around(SLURM, "2x2").missing
    assert "all are assumed" in around({"PJM_NODE_X": "4"}).missing


OWN = {"slurm": (TORUS3D, "TopologyPlugin=topology/3d_torus\nNodeName=tux[000-002]\n", "SwitchName=s0 Nodes=n[0-3]\n"),
       "tpu": (DEVICES,), "hwloc": (xml(2, 2, 2),),
       "netloc": (GRAPHML, NETLOC_XML, NETLOC_XML.replace("network", "topology")),
       "scotch": ("torus3D 4 4 2\n", "mesh2D 4 4", "hcub 3\n", "cmplt 8\n"), "cray": (CRAY,),
       "table": ("0 0\n1 0\n", "a 0 0\nb 1 0\n", "0 0 a\n", "4\n", "4 4\n0 0\n")}


@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.find])
def test_a_description_is_read_by_its_own_reader(name, tmp_path, monkeypatch):
    for other, reader in list(READERS.items()):
        find = (lambda document, other=other: other) if reader.find else None
        monkeypatch.setitem(READERS, other, replace(reader, find=find))
    for text in OWN[name]:
        (tmp_path / "demo").write_text(text)
        assert read_description(tmp_path / "demo") == name, text


@pytest.mark.parametrize("text, torus", [
    ("torus3D 4 4 2\n", "4x4x2"), ("torus2D 8 4", "8x4"), ("mesh2D 3 5\n", "3x5:mesh"), ("mesh3D\n2 3\n4\n", "2x3x4:mesh"),
    ("torusXD 5 4 4 4 4 2\n", "4x4x4x4x2"), ("meshXD 1 7\n", "7:mesh"), ("hcub 4\n", "2x2x2x2:mesh")])
def test_targets_of_scotch_tell_the_shape(text, torus, tmp_path):
    picture = around(tmp_path=tmp_path, target=text)
    assert format_torus(picture.torus) == torus and "all are assumed" in picture.missing


@pytest.mark.parametrize("torus", [Torus((4, 2, 3)), Torus((5,)), Torus((2, 3, 4, 2), (False,) * 4)])
def test_the_targets_that_are_written_for_scotch_are_read(torus, tmp_path):
    found = around(tmp_path=tmp_path, target=architecture(torus)).torus
    assert found.shape[:torus.n_dimensions] == torus.shape and found.wrap[:torus.n_dimensions] == torus.wrap
    assert set(found.shape[torus.n_dimensions:]) <= {1}


def test_two_hosts_in_one_place_are_refused():
    with pytest.raises(AllocationError, match="hosts a1 and b1 have the same coordinates"):
        around({"SLURM_JOB_NODELIST": "a1,b1"}, "4")


def test_places_outside_the_shape_are_refused(tmp_path):
    with pytest.raises(AllocationError, match=r"node \(2, 1, 0\) is outside torus 2x2x2"):
        around(torus="2x2x2", tmp_path=tmp_path, topology=CRAY)


BROKEN = {
    "cray outside": (CRAY.replace("1 0 1 0", "1 0 9 0"), "line 6: node (1, 0, 9) is outside the 3x2x2"),
    "cray moved": (CRAY + "5 44 1 1 1 0\n", "line 7: nid 44 was at (0, 0, 0) above"),
    "cray columns": (CRAY + "5 44 1\n", "line 7: 3 columns, but 6 are needed (pe nid x y z t)"),
    "yaml": ("torus3d:\n  toruses: [a: {\n", "is not YAML"),
    "yaml count": (TORUS3D.replace("b[00-07]", "b[00-06]"), "7 hosts for a box of 2x2x2"),
    "yaml outside": (TORUS3D.replace("x: 2, y: 0, z: 0", "x: 3, y: 0, z: 0"), "reaches out of the torus"),
    "yaml dims": (TORUS3D.replace("{x: 4, y: 2, z: 2}", "4"), "dims needs x, y and z"),
    "yaml none": ("torus3d:\n  toruses: []\n", "has no torus3d with toruses"),
    "xml": (xml(1, 1, 2)[:-30], "is not XML"),
    "xml without cores": ("<topology><object type='Machine'/></topology>", "has no object of type Core"),
    "graphml": (GRAPHML[:-40], "is not GraphML"),
    "table": ("a 0 0\nb 0 0 0\n", "line 2: is not a line of coordinates"),
    "scotch complete": ("cmplt 8\n", "line 1: cmplt is a Scotch target without coordinates"),
    "scotch tree": ("tleaf 2 4 20 4 1\n", "line 1: tleaf is a Scotch target without coordinates"),
    "scotch sizes": ("torus3D 4 4\n", "line 1: 'torus3D 4 4' is not a target and its sizes"),
    "scotch more": ("hcub 4 2\n", "line 1: 'hcub 4 2' is not a target and its sizes"),
    "scotch word": ("mesh2D 4 x\n", "line 1: 'mesh2D 4 x' is not a target and its sizes"),
    "scotch large": ("hcub 99999\n", "line 1: 'hcub 99999' is not a target and its sizes"),
    "unknown": ("lorem ipsum dolor\n", "is not recognised; files that are read: Slurm"),
    "empty": ("# nothing\n", "is empty"),
    "yaml control": ("\x01- topology: torus\n  torus3d:\n    toruses: []\n", "control characters are not allowed in"),
    "yaml list": ("- topology: torus\n  torus3d: [1\n", "line 3 column 1:"),
    "slurm list": ("SwitchName=a Nodes=n[0-99999999999]\n", "line 1: host list"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_descriptions_are_refused(tmp_path, case):
    text, message = BROKEN[case]
    (tmp_path / "demo").write_text(text)
    with pytest.raises(PencilmapError, match=re.escape(message)) as error:
        read_description(tmp_path / "demo")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bomb", [
    '<?xml version="1.0"?><!DOCTYPE topology [<!ENTITY a "' + "a" * 1000 + '">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 100}">' for i in range(6)) + "]><topology>&g;</topology>",
    "<topology>" + "<object type='Core'>" * 20000 + "</object>" * 20000 + "</topology>",
    "torus3d: {toruses: " + "[" * 5000, "torus3d:\n  toruses: &a [*a, *a]\n",
    "TpuDevice(id=" * 20000, "<graphml>" + "<node>" * 10000])
def test_hostile_descriptions_end_soon(tmp_path, bomb):
    (tmp_path / "bomb").write_text(bomb)
    with contextlib.suppress(PencilmapError):
        read_description(tmp_path / "bomb")


@pytest.mark.parametrize("sample", [CRAY, TORUS3D, DEVICES, GRAPHML, NETLOC_XML, "alpha 1 0\n0 1 beta\n", xml(1, 2, 2)])
def test_damaged_descriptions_never_crash(tmp_path, sample):
    refused = 0
    for seed in range(120):
        rng, content = random.Random(seed), bytearray(sample.encode())
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(content) + 1)
            content[at:at + rng.randint(0, 4)] = rng.choice([b"", b"9" * 30, b"-1", b"\0", b"{", b"<", b"[", b"\xff", b" ",
                                                             b"x"])
        (tmp_path / "demo").write_bytes(content)
        try:
            combine([read_description(tmp_path / "demo")])
        except PencilmapError:
            refused += 1
    assert refused > 20


def test_every_reader_reads_something():
    assert all(reader.from_environment or reader.find for reader in READERS.values())


def test_discover_fails_where_it_knows_no_nodes_to_write(tmp_path, pencilmap, monkeypatch):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    status, out, err = pencilmap("discover", "--no-hardware", "-o", tmp_path / "nodes")
    assert status == 1 and "nodes was not written" in err and "give it with --torus" in out
    assert pencilmap("discover", "--no-hardware")[0] == 0
    assert not (tmp_path / "nodes").exists()


def test_discover_prints_what_it_found_and_from_where(tmp_path, pencilmap, monkeypatch):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    status, out, err = pencilmap("discover", "--no-hardware", "--torus", "4", "-o", tmp_path / "nodes")
    assert status == 0, err
    assert "SLURM_JOB_NODELIST" in out and "torus 4, 3 of 4 nodes" in out
    assert (tmp_path / "nodes").read_text() == "n0 0\nn1 1\nn3 3\n"
    assert pencilmap("map", "--torus", "4", "-t", "2", "-g", "3x2", "-p", "default", "--nodes", tmp_path / "nodes",
                     "--hosts", tmp_path / "nodes", "-f", "slurm", "-o", tmp_path / "hosts")[0] == 0
    assert (tmp_path / "hosts").read_text().split() == ["n0", "n0", "n1", "n1", "n3", "n3"]


def test_discover_without_anything_says_what_it_reads(pencilmap, monkeypatch):
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "PBS_NODEFILE", "PJM_NODE_X", "TPU_TOPOLOGY"):
        monkeypatch.delenv(name, raising=False)
    status, out, _ = pencilmap("discover", "--no-hardware")
    assert status == 1 and "found nothing" in out and "Slurm node list" in out


def test_discover_as_json(tmp_path, pencilmap):
    (tmp_path / "topology").write_text(CRAY)
    status, out, _ = pencilmap("discover", "--no-hardware", tmp_path / "topology", "--json")
    found, = json.loads(out)
    assert status == 0 and found["torus"] == "3x2x2" and found["nodes"][1] == {"node": [2, 1, 0], "host": "nid00017"}


@pytest.mark.skipif(not shutil.which("lstopo-no-graphics"), reason="NOT TESTED: lstopo is missing (Debian: hwloc-nox)")
def test_discover_names_lstopo_and_not_the_file_it_wrote(pencilmap_json, tmp_path):
    (tmp_path / "topology").write_text(CRAY)
    sources = {fact["what"].partition(" of ")[0]: fact["source"] for fact in
               pencilmap_json.one("discover", tmp_path / "topology")["facts"]}
    assert sources["processors"] == "lstopo on this node" and sources["torus"] == str(tmp_path / "topology")


def test_torus_of_the_user_goes_first():
    assert look_around({"PJM_NODE_X": "4"}, torus="4").torus == Torus((4,))
