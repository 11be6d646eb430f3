"""Placement formats: round trips of random mappings, what launchers refuse and print, renumbering without relinking."""

import json
import random
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import (
    FORMATS,
    PRINTED,
    Job,
    format_named,
    mapping_text,
    parse_mapping,
    recognise,
    write_mapping,
)
from pencilmap.mapper.formats.flux import blocks, expand, pmi_process_mapping
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import given_network
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.reorder import ReorderError, reorder
from pencilmap.model.base.errors import MapfileError, PencilmapError
from pencilmap.model.kinds import network_named
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site, slots_in_order
from pencilmap.model.placement.grid import ProcessGrid
from tests.patience import patience

TORUS, GRID = Torus((4, 2, 3)), ProcessGrid(4, 6)
JOB = Job(Site(TORUS))


def shuffled(site, grid, seed):
    """Return a random placement on the first slots of the launcher's order."""
    T = site.tasks_per_node
    places = (site.allocation.nodes[:, None] * T + np.arange(T)).ravel()[:grid.n_tasks].tolist()
    random.Random(seed).shuffle(places)
    places = np.array(places)
    return Mapping(site.network, grid, T, places // T, places % T)


FOREIGN = {  # from the sources named in each format's file: format, tasks per node, torus, text, node of each rank
    "blue gene/l, UCAR wiki": ("bgl", 1, (1, 4, 4), "0 0 0 0\n0 0 2 0\n0 2 0 0\n0 2 2 0\n", [0, 8, 2, 10]),
    "blue gene/q, runjob help": ("bgq", 1, (1, 1, 1, 2, 2),
                                 "0 0 0 0 0 0 # rank 0\n0 0 0 0 1 0 # rank 1\n\n0 0 0 1 0 0 # rank 2\n"
                                 "0 0 0 1 1 0 # rank 3\n", [0, 2, 1, 3]),
    "fugaku, rankmap4d": ("vcoordfile", 2, (2, 1, 1), "(0,0,0)\n(0,0,0)\n(1,0,0)\n(1,0,0)\n", [0, 0, 1, 1]),
    "fugaku, one coordinate, blanks": ("vcoordfile", 1, (3,), "( 2 )\n (0) core=0-11\n(1)\n", [2, 0, 1]),
    "cray, two lines and a range": ("cray", 4, (2,),
                                    "# grid_order -R -Z -c 4 -g 2,4\n# Region 3: 0,0,1 (0..7)\n0,1,4-5\n2, 3,6,7\n",
                                    [0, 0, 1, 1, 0, 0, 1, 1]),
    "cray, rubik's single line": ("cray", 1, (4,), "3,1,0,2", [2, 1, 3, 0]),
    "open mpi, mpirun(1)": ("openmpi4", 2, (3,), "rank 0=node-0 slot=1:0-1\nrank 1=node-1 slot=0:*\nrank 2=node-2 slot=1-2\n"
                            "rank 3 = +n1 slots=0:1;1:0-2\n", [0, 1, 2, 1]),
    "mpich wiki": ("hydra", 2, (4,), "node3:2\nnode1:2\nnode0:2\nnode2:2\n", [3, 3, 1, 1, 0, 0, 2, 2]),
    "slurm, srun(1)": ("slurm", 2, (4,), "node3\nnode3\nnode1\nnode0\n", [3, 3, 1, 0]),
    "slurm, several in a line": ("slurm", 2, (4,), "node3, node0 * 2,\n\n# more\nnode3 ,,node1*1 # one\n", [3, 0, 0, 3, 1]),
    "hosts with domains": ("hostfile", 1, (2,), "a1.dept7.example.org\na0.dept7.example.org\n", [1, 0]),
    "flux, in an object": ("flux", 2, (4,), '{"version":1, "map":[[0,4,2,1]]}', [0, 0, 1, 1, 2, 2, 3, 3]),
    "scotch_gmap 7.0.3": ("scotch", 1, (4, 2), "3\n0\t3\n1\t7\n2\t4\n", [3, 7, 4]),
    "scotch, vertices in any order": ("scotch", 1, (4, 2), "3\n2\t4\n0\t3\n1\t7\n", [3, 7, 4]),
    "jax, ids": ("jax", 2, (4,), "[[3, 2], [1, 0],\n [4, 5]]", [1, 1, 0, 0, 2, 2]),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_files_of_others_are_read(case):
    name, tasks, shape, text, nodes = FOREIGN[case]
    job = Job(Site(Torus(shape), tasks))
    assert parse_mapping(text.encode(), "m", job, None, name).node_of_rank.tolist() == nodes
    if case != "jax, ids":  # its text looks like a task map, so the format must be named
        assert parse_mapping(text.encode(), "m", job).node_of_rank.tolist() == nodes


def test_rankfile_slots_follow_the_processors():
    job = Job(Site(Torus((2,)), 2), cores=("0-3", "4-7"))
    own = b"rank 0=node-0 slot=4-7\nrank 1=node-0 slot=0-3\n"
    foreign = b"rank 0=node-0 slot=1:0-3\nrank 1=node-0 slot=0:0-3\n"
    for text in (own, foreign):
        assert parse_mapping(text, "m", job).slot_of_rank.tolist() == [1, 0]
    one_of_them = b"rank 0=node-0 slot=4-7\nrank 1=node-0 slot=0-1\n"  # 0-1 is no slot of the job, so neither is a slot
    assert parse_mapping(one_of_them, "m", job).slot_of_rank.tolist() == [1, 0]


RFC_34 = """\
0 | [[0,1,1,1]]
0;1 | [[0,2,1,1]]
0-1 | [[0,1,2,1]]
0-1;2-3 | [[0,2,2,1]]
0,2;1,3 | [[0,2,1,2]]
1;0 | [[1,1,1,1],[0,1,1,1]]
0-3;4-7;8-11;12-15 | [[0,4,4,1]]
0,4,8,12;1,5,9,13;2,6,10,14;3,7,11,15 | [[0,4,1,4]]
0-1,8-9;2-3,10-11;4-5,12-13;6-7,14-15 | [[0,4,2,2]]
0-1;2-3;4-5;6-7;8-11;12-15 | [[0,4,2,1],[4,2,4,1]]
0,6;1,7;2,8;3,9;4,10,12,14;5,11,13,15 | [[0,6,1,2],[4,2,1,2]]
14-15;12-13;10-11;8-9;4-7;0-3 | [[5,1,4,1],[4,1,4,1],[3,1,2,1],[2,1,2,1],[1,1,2,1],[0,1,2,1]]
0-1;2-3;4-5;6-7;8-9;12-13;10-11;14-15 | [[0,5,2,1],[6,1,2,1],[5,1,2,1],[7,1,2,1]]
12-15;8-11;4-7;0-3 | [[3,1,4,1],[2,1,4,1],[1,1,4,1],[0,1,4,1]]"""


@pytest.mark.parametrize("vector", RFC_34.splitlines())
def test_flux_task_maps_follow_the_vectors_of_the_rfc(vector):
    raw, wanted = vector.split(" | ")
    job = Job(Site(Torus((8,)), 4))
    mapping = parse_mapping(raw.encode(), "raw", job, None, "flux")
    assert FORMATS["flux"].write(mapping, job).strip() == wanted
    back = parse_mapping(wanted.encode(), "map", job, None, "flux")
    assert np.array_equal(back.node_of_rank, mapping.node_of_rank)


def test_pmi_text_of_the_rfc():
    """RFC 34, section Existing implementations: 4*2 + 2*4 ranks, block and cyclic:2."""
    assert pmi_process_mapping([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5]) == "(vector,(0,4,2),(4,2,4))"
    assert pmi_process_mapping([*range(4)] * 4) == "(vector,(0,4,1),(0,4,1),(0,4,1),(0,4,1))"


@pytest.mark.parametrize("nodes, counts, older", [
    ([0, 1, 2, 3], "2,2,2,2", True), ([0, 1], "2,2,1,1", True), ([0, 2], "2,1,2,1", False), ([1, 3], "1,2,1,2", False)])
def test_flux_says_which_versions_take_its_file(nodes, counts, older):
    """Older versions compare the tasks of each node with their block order, which gives the first nodes another task."""
    node = np.array([0, 1, 2, 3, *nodes])
    slot = np.array([0] * 4 + [1] * len(nodes))
    site = Site(Torus((4,)), 2, idle=True)
    mapping, job = Mapping(site.network, ProcessGrid(1, len(node)), 2, node, slot), Job(site)
    assert counts == ",".join(map(str, np.bincount(node)))
    launch = FORMATS["flux"].launch(mapping, job, "f")
    assert any("Flux 0.75.0 or newer" in need for need in launch.needs) != older
    assert f"flux run -N 4 -n {len(node)} " in launch.line


def test_flux_gets_no_nodes_without_tasks():
    site = Site(Torus((4,)), 2, idle=True)
    first = Mapping(site.network, ProcessGrid(1, 3), 2, np.array([0, 1, 1]), np.array([0, 0, 1]))
    launch = FORMATS["flux"].launch(first, Job(site), "f")
    assert "flux run -N 2 -n 3 " in launch.line and "puts 2 on node id 0, where this file puts 1" in " ".join(launch.needs)
    gap = Mapping(site.network, ProcessGrid(1, 2), 2, np.array([0, 2]), np.array([0, 0]))
    with pytest.raises(MapfileError, match=r"node \(1\) gets none before others"):
        FORMATS["flux"].write(gap, Job(site))


def test_cray_refuses_idle_slots_before_used_ones():
    site = Site(Torus((3,)), 2, idle=True)
    mapping = Mapping(site.network, ProcessGrid(2, 1), 2, np.array([0, 1]), np.array([0, 0]))
    with pytest.raises(MapfileError, match=r"node \(0\) slot 1 stays idle"):
        FORMATS["cray"].write(mapping, Job(site))


def test_the_jax_program_finds_the_devices(tmp_path):
    """The printed lines run with stand-in devices that have coords and core_on_chip."""
    job, grid = Job(Site(Torus((2, 2)), 2)), ProcessGrid(2, 4)
    mapping, path = shuffled(job.site, grid, 4), tmp_path / "order.json"
    write_mapping(mapping, path, "jax", job)

    class Device:
        def __init__(self, x, y, core):
            self.coords, self.core_on_chip = (x, y, 0), core

    class Sharding:
        Mesh = staticmethod(lambda devices, names: (devices, names))

    class Jax:
        sharding = Sharding
        devices = staticmethod(lambda: [Device(x, y, c) for y in range(2) for x in range(2) for c in range(2)])

    code = FORMATS["jax"].launch(mapping, job, path).line.replace("import json, jax, numpy as np", "")
    space = {"json": json, "np": np, "jax": Jax}
    exec(code, space)
    devices, names = space["mesh"]
    assert devices.shape == grid.shape and names == ("row", "column")  # as of pencilmap.jax.make_mesh
    found = [(*d.coords[:2], d.core_on_chip) for d in devices.T.ravel()]
    assert found == [(*c, s) for c, s in zip(mapping.coordinates().tolist(), mapping.slot_of_rank.tolist())]


GOOD = "".join(f"{x} {y} {z} 0\n" for z in range(3) for y in range(2) for x in range(4))
BROKEN = {
    "a rank too many": (GOOD + "0 0 0 0\n",
                        "line 25: rank 24 is one too many; grid 4x6 has 24 ranks, the file places 25: give the grid"),
    "a rank too few": (GOOD.replace("3 1 2 0\n", ""),
                       "grid 4x6 needs 24 ranks, the file places 23: give the grid of the file"),
    "a node twice": (GOOD.replace("1 0 0 0", "0 0 0 0"),
                     "line 2: rank 1 takes node (0, 0, 0) slot 0, which rank 0 in line 1"),
    "outside": (GOOD.replace("3 1 2 0", "4 1 2 0"), "line 24: node (4, 1, 2) is outside torus 4x2x3; x must be 0..3"),
    "negative": (GOOD.replace("3 1 2 0", "3 -1 2 0"), "line 24: node (3, -1, 2) is outside torus 4x2x3; y must be 0..1"),
    "slot": (GOOD.replace("3 1 2 0", "3 1 2 1"), "line 24: node (3, 1, 2) slot 1: with 1 task per node slots are 0..0"),
    "columns": (GOOD.replace("3 1 2 0", "3 1 2"), "line 24: 3 columns, but 4 are needed (x y z t)"),
    "no number": (GOOD.replace("3 1 2 0", "3 1 two 0"), "line 24 column 5: 'two' is not an integer"),
    "huge number": (GOOD.replace("3 1 2 0", "3 1 2 " + "9" * 500), "line 24 column 7"),
    "NUL": (GOOD.replace("3 1 2 0", "3 1 2 0\0"), "line 24: a NUL byte"),
    "long line": (GOOD.replace("3 1 2 0", "3 1 2 0" + " " * 5000 + "1"), "line 24: 5008 characters long"),
    "empty": ("", "is empty; one place for each rank is needed"),
    "only comments": ("# nothing\n", "is empty"),
    "no format": ("<xml/>\n", "line 1: the format is not recognised"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_mapfiles_are_refused(case):
    text, message = BROKEN[case]
    with pytest.raises(MapfileError) as error:
        parse_mapping(text.encode(), "demo.map", JOB, GRID)
    assert message in str(error.value) and "demo.map" in str(error.value)


BROKEN_OTHERS = [
    ("hostfile", "node-1-0", "line 1 column 1: host 'node-1-0' does not end in 3 coordinates"),
    ("slurm", "node-0-0-0\nnode-1-0-0,node-8-0-0", "line 2 column 12: host node-8-0-0: node (8, 0, 0) is outside torus"),
    ("hostfile", "node-9-0-0", "line 1 column 1: host node-9-0-0: node (9, 0, 0) is outside torus 4x2x3; x must be 0..3"),
    ("slurm", "node-0-0-0\n  node-0-0-0", "line 2 column 1: '  node-0-0-0' does not begin with a letter or digit"),
    ("slurm", "node-0-0-0\nnode-0-0-0*0", "line 2 column 1: 'node-0-0-0*0' has no ranks"),
    ("slurm", "node-0-0-0,node-1-0-0*x", "line 1 column 12: 'node-1-0-0*x' is not HOST or HOST*COUNT"),
    ("hostfile", "node-0-0-0:0", "line 1 column 1: '0' is not a number of ranks"),
    ("hostfile", "node-0-0-0:99999999", "name a larger network, or give more `tasks_per_node`"),
    ("slurm", "node-0-0-0\nnode-0-0-[0-1]", "line 2 column 1: 'node-0-0-[0-1]' has brackets, which srun takes for the name "
     "of one host; write node-0-0-0,node-0-0-1"),
    ("slurm", "node-0-0-[0-99999999]", "write every host"),
    ("hydra", "node-0-0-0 slots=2", "line 1 column 12: 'node-0-0-0 slots=2' is of a hostfile of Open MPI, a list of res"),
    ("hydra", "node-0-0-0 node-1-0-0", "line 1 column 12: 'node-1-0-0' is no option of a host"),
    ("intel", "node-0-0-0 binding=core", "line 1 column 1: 'node-0-0-0 binding=core' is not HOST or HOST:COUNT"),
    ("vcoordfile", "(0,0,0)\n(0,0)", "line 2 column 2: 2 coordinates, but shape 4x2x3 has 3: (x,y,z)"),
    ("vcoordfile", "(0,0,0)\n  0,0,0", "line 2 column 3: '0,0,0' is not a node (x,y,z)"),
    ("vcoordfile", "(0,0,3)", "line 1 column 2: node (0, 0, 3) is outside"),
    ("cray", "0,1,x", "line 1 column 5: 'x' is not a rank"),
    ("cray", "0,1\n1,2", "line 2: rank 1 is already placed in line 1"),
    ("cray", "0,2", "line 1: rank 2 is placed, but not rank 1"),
    ("cray", "0-23,24", "line 1 column 6: more ranks than the 24 slots"),
    ("cray", "0-999999999999", "line 1 column 1: range 0-999999999999 does not hold 1 to 24 ranks"),
    ("cray", "5-3", "line 1 column 1: range 5-3"),
    ("openmpi4", "rank 0=node-0-0-0 slot=0\nrank 0=node-1-0-0 slot=0", "line 2: rank 0 is already placed in line 1"),
    ("openmpi4", "rank 1=node-0-0-0 slot=0", "line 1: rank 1 is placed, but not rank 0"),
    ("openmpi4", "rank 0=node-7-0-0 slot=0", "line 1 column 8: host node-7-0-0: node (7, 0, 0) is outside"),
    ("openmpi5", "rank 0=node-0-0-0 slot=a", "line 1 column 24: slot='a' names no processors"),
    ("openmpi4", "rank x", "line 1 column 1: 'rank x' is not a rankfile line"),
    ("openmpi4", "rank 0=+n24 slot=0", "line 1 column 8: host +n24 is beyond the last of the 24 nodes (+n23)"),
    ("flux", "[[0,25,1,1]]", "line 1 column 2: block [0, 25, 1, 1] is not possible: nodes are 0..23"),
    ("flux", "[[0,2,1,99999999999]]", "line 1 column 2: more ranks than the 24 slots"),
    ("flux", "[[0,2,1]]", "line 1 column 2: a block of a task map is"),
    ("flux", "[[0,2,1,-1]]", "line 1 column 2: block [0, 2, 1, -1] is not possible"),
    ("flux", "[[0,1,1,1],\n [0,x", "line 2 column 5: is not JSON"), ("flux", "[[0,1,1,1]", "is not JSON"),
    ("flux", "[[0,1,1,true]]", "[0, 1, 1, True] is not a list of integers"), ("flux", "[[],[]]", "holds no list"),
    ("flux", "0;1;0-999999999", "line 1 column 5: '0-999999999' is not a set of at most 24 ranks"),
    ("flux", "0;1;2-24", "line 1 column 5: '2-24' is not a set of at most 24 ranks"),
    ("flux", ";".join("0" * 30), "line 1 column 49: more than the 24 nodes"),
    ("jax", "[[[0,0,0,0]],\n [[0,5,0,0]]]", "line 2 column 3: node (0, 5, 0) is outside"),
    ("jax", "[" * 50000, "is not JSON: "),
    ("jax", "[[0,99]]", "line 1 column 2: device 99 is not one of 0..23"),
    ("jax", "[[[0,0,0]]]", "line 1 column 3: a device of torus 4x2x3 is [x,y,z,core]"),
    ("scotch", "2\n0\t1\n1\t24\n", "line 3 column 1: terminal 24 of vertex 1: terminals of torus 4x2x3 are 0..23"),
    ("scotch", "3\n0\t1\n1\t2\n", "line 1: says 3 vertices, but 2 lines follow"),
    ("scotch", "2\n0\t1\n0\t2\n", "line 3: vertex 0 is already placed in line 2"),
    ("bgq", "0 0 0 0 0 0\n", "five dimensions A B C D E, torus 4x2x3 has 3"),
]


@pytest.mark.parametrize("name", ["vcoordfile", "rankmap", "jax"])
def test_shapes_that_a_launcher_cannot_have_are_refused(name):
    job = Job(Site(Torus((2, 2, 2, 2))))
    mapping = shuffled(job.site, ProcessGrid(4, 4), 0)
    with pytest.raises(MapfileError, match="three coordinates"):
        FORMATS[name].write(mapping, job)
    text = "(0,0,0,0)\n" if name != "jax" else FORMATS["jax"].write(shuffled(Site(Torus((2,))), ProcessGrid(2, 1), 0),
                                                                    Job(Site(Torus((2,)))))
    with pytest.raises(MapfileError, match="m: .*three coordinates"):
        parse_mapping(text.encode(), "m", job, ProcessGrid(4, 4), name)


def test_unknown_formats_are_refused_with_the_known():
    with pytest.raises(MapfileError, match="'nix' is unknown; known are bgl, bgq"):
        format_named("nix")


@pytest.mark.parametrize("text, names", [
    ("a", ["a"]), ("n[0-3]", ["n0", "n1", "n2", "n3"]), ("n[08-11,3],x", ["n08", "n09", "n10", "n11", "n3", "x"]),
    ("r[0-1]c[1-2]", ["r0c1", "r0c2", "r1c1", "r1c2"]), ("n[5]-ib", ["n5-ib"])])
def test_compressed_host_lists_expand(text, names):
    assert expand_hosts(text) == names


@pytest.mark.parametrize("text",
                         ["", ",", "n[", "n]", "n[a-b]", "n[3-1]", "n[0-9999999999]", "n[0-9999]m[0-9999]", "[[0-1]]"])
def test_broken_host_lists_are_refused(text):
    with pytest.raises(MapfileError):
        expand_hosts(text)


@pytest.mark.parametrize("template, message", [
    ("node", "gives several nodes one name"), ("n{x}", "gives several nodes one name"), ("n{q}", "'q'"),
    ("n{x", "not understood"), ("n{node.__class__}", "is not one of"), ("n{node:9999999999d}", "is not one of"),
    ("n{node!r}", "is not one of"), ("n{node:5d}", "is not one of"), ("n{node} a", "' ' is not allowed"),
    ("n{node}:1", "':' is not allowed")])
def test_broken_host_templates_are_refused(template, message):
    with pytest.raises(MapfileError, match="host template") as error:
        Hosts(TORUS, template).names([0])
    assert message in str(error.value)


def test_host_templates_that_are_ambiguous_are_refused():
    hosts = Hosts(Torus((12, 12)), "n{x}{y}")
    for used in (lambda: hosts.node("n00"), lambda: hosts.names([13, 133, 23])):  # 23: (11, 1), 133: (1, 11)
        with pytest.raises(MapfileError, match="gives several nodes one name: numbers run together"):
            used()
    assert hosts.names([13, 133, 13]) == ["n11", "n111", "n11"]
    assert len(set(Hosts(Torus((2, 11)), "n{x}{y}x{x}").names(range(22)))) == 22


UNREADABLE = [  # by the consumer itself, most cases verified: Open MPI 4.1.4 and 5.0, MPICH 4.0, SimGrid 3.32, Python
    ("jax", "[[[0,0,0,0],[1,0,0,0]],[[0,1,0,0],[1,1,0,0)]]", "line 1 column 43: is not JSON"),
    ("jax", "[[[0,0,0,0] [1,0,0,0]]]", "is not JSON"), ("jax", "[[[00,0,0,0]]]", "is not JSON"),
    ("jax", "[[[0,0,0,0],[1,0,0,0]],[[0,1,0,0]]]", "row 1 of the mesh has 1 devices, row 0 has 2"),
    ("jax", "[[0,1],[2]]", "row 1 of the mesh has 1 devices, row 0 has 2"),
    ("flux", "[[0,1,1,1),[1,1,1,1]]", "is not JSON"), ("flux", "[[0,1,1,1],]", "is not JSON"),
    ("flux", '{"version": 2, "map": [[0,1,1,1]]}', "version"), ("flux", '{"map": [[0,1,1,1]]}', "version"),
    ("openmpi4", "RANK 0=node-0-0-0 slot=0", "is not a rankfile line"),
    ("openmpi5", "rank 0=node-0-0-0 SLOT=0", "'SLOT=0' is not expected"),
    ("openmpi4", "rank 0=node-0-0-0", "no slot="), ("openmpi4", "rank 0=node-0-0-0 slot=0\r\n", "a carriage return"),
    ("openmpi5", "rank 0=node-0-0-0 slot=0\r\n", "a carriage return"),
    ("hydra", "node-0-0-0,node-1-0-0", "is not HOST or HOST:COUNT"),
    ("hydra", "node-0-0-[0-1]", "is not HOST or HOST:COUNT"),
    ("intel", "node-0-0-0,node-1-0-0", "is not HOST or HOST:COUNT"),
    ("hostfile", "node-0-0-0,node-1-0-0", "SimGrid"), ("hostfile", "node-0-0-[0-1]", "SimGrid"),
    ("hostfile", "# of ours\nnode-0-0-0", "SimGrid"), ("hostfile", " node-0-0-0", "SimGrid"),
    ("hostfile", "node-0-0-0\r\n", "SimGrid"), ("slurm", "node-0-0-0:2", "is not HOST or HOST*COUNT"),
    ("slurm", "node-0-0-0\r\n", "a carriage return"),
    *((name, f"\ufeff{text}", "a byte order mark") for name, text in (
        ("jax", "[[[0,0,0,0]]]"), ("flux", "[[0,1,1,1]]"), ("openmpi4", "rank 0=node-0-0-0 slot=0"), ("hydra", "node-0-0-0"),
        ("slurm", "node-0-0-0"), ("hostfile", "node-0-0-0"))),
    ("cray", "0 1", "separated by commas"), ("scotch", "1\n0\t0 # here", "does not take for a comment")]


REFUSED_BY_LAUNCHERS = [  # tests/launchers/test_verdicts.py runs these: format, file, part of the message
    ("openmpi4", "rank 1=A slot=0\nrank 0=B slot=1\n", "line 2: rank 0 is not the first rank with slot="),
    ("openmpi5", "rank 1=A slot=0\nrank 0=B slot=1\n", "line 2: rank 0 is not the first rank with slot="),
    ("openmpi5", "rank 0=A slot=0-1\nrank 1=A slot=1\n", "line 2 column 24: rank 1 shares a processor with rank 0"),
    ("openmpi5", "rank 0=A slot=*\nrank 1=A slot=*\n", "rank 1 shares a processor with rank 0"),
    ("openmpi5", "rank 0=A slot=0:1\nrank 1=A slot=3,1\n", "rank 1 shares a processor with rank 0"),
    ("openmpi5", "rank 0=A slot=1:*\nrank 2=B slot=1:7\nrank 1=A slot=1:7\n", "line 3 column 24: rank 1 shares"),
    ("openmpi4", "rank 0=A slot=1:0,1\n", "line 1 column 24: slot='1:0,1' lists cores of a package by commas"),
    ("openmpi5", "rank 0=A slot=0:0,1:0\n", "lists packages by commas"),
    ("openmpi4", "rank 0=A slot=3-1\n", "has the range 3-1, which runs backwards"),
    ("openmpi4", "rank 0=A slot=0, 1\n", "line 1 column 27: '1' is not expected"),
    ("openmpi4", "rank 0=A slot=0,\n", "slot='0,' names no processors"),
    ("openmpi5", "rank 0=A slot=0 1\n", "line 1 column 26: '1' is not expected; a rankfile line is"),
    ("openmpi4", "rank 0=A sot=0\n", "line 1 column 19: 'sot=0' is not expected; a rankfile line is rank 0=HOST slot=CPUS"),
    ("openmpi4", "rank 0=A slot=0 rank 1=B slot=0\n", "line 1 column 26: two ranks in a line"),
    ("openmpi4", "rank 0=A slot=0\n# the end", "line 2: a comment without an end of line"),
    ("openmpi5", "/* of\n ours\nrank 0=A slot=0\n", "line 1: a comment begins with /* and never ends"),
    ("openmpi5", "rank 0=/* here */A slot=0\n", "line 1 column 1: 'rank 0=' is not a rankfile line"),
    ("openmpi5", "rank 0=a.b@A slot=0\n", "line 1 column 8: user 'a.b' is none"),
    ("openmpi5", "rank 0=1A.site.org slot=0\n", "has a dot and begins with no letter"),
    ("openmpi4", "rank 0=my_A slot=0\n", "has a _, with which Open MPI 4 does not start"),
    ("slurm", " A\n", "line 1 column 1: ' node-0-0-0' does not begin with a letter"),
    ("slurm", "A\n \n", "line 2 column 1: ' ' does not begin"), ("slurm", ",A\n", "line 1 column 1: ',node-0-0-0' does"),
    ("hydra", "A:1\rB:1\n", "line 1: a carriage return, which Hydra"),
    ("hydra", "A:1 binding=nix\n", "line 1 column 14: 'binding=nix' is no option of a host"),
    ("hydra", "A:1 user=me user=me\n", "line 1 column 22: a second user= of node-0-0-0"),
    ("hydra", "A:1 binding=core\nA binding=core\n", "line 2 column 12: a second binding= of node-0-0-0"),
    ("hostfile", "A:2\nB # two\n", "line 2: 'node-1-0-0 # two' is not HOST, HOST:COUNT (SimGrid) or HOST # COMM"),
    ("hostfile", "A slots=2\n", "line 1: 'node-0-0-0 slots=2' is of a hostfile of Open MPI, a list of resources"),
    (None, "A slots=2 max-slots=4\n", "a list of resources and not a placement"),
    *((name, text.replace("C", other), f"host {other} {problem} host node-0-0-0 in line 1; correct the name")
      for name, text in (("openmpi4", "rank 0=A slot=0\nrank 1=me@C slot=1\n"),
                         ("openmpi5", "rank 0=A.site.org slot=0\nrank 1=C slot=1\n"), ("hydra", "A:1\nC\n"),
                         ("intel", "A:1\nC\n"), ("slurm", "A,C\n"), ("hostfile", "A\nC\n"))
      for other, problem in (("nod-1-0-0", "has other letters than"), ("node-0-00-0", "ends in the coordinates of"))),
    ("flux", "0-1;2-3 # two\n", "line 1 column 8: ' ' is not expected"),
    ("flux", "0;\n1\n", "line 1 column 3: '\\n' is not exp"),
    ("flux", "(vector,(0,2))", "is not a vector of PMI"), ("flux", "(vector,(0,2,2)", "is not a vector of PMI"),
    ("flux", "(vector,(0,25,1))", "line 1 column 9: block [0, 25, 1, 1] is not possible"),
]


@pytest.mark.parametrize("name, text, message, tasks", [
    *((*case, 1) for case in BROKEN_OTHERS + UNREADABLE), *((*case, 2) for case in REFUSED_BY_LAUNCHERS)])
def test_files_that_are_broken_or_that_a_launcher_refuses_are_not_valid(name, text, message, tasks):
    if tasks == 2:
        text = text.replace("A", "node-0-0-0").replace("B", "node-1-0-0")
    with pytest.raises(MapfileError) as error:
        parse_mapping(text.encode(), "demo.map", Job(Site(TORUS, tasks)), None, name)
    assert message in str(error.value) and "demo.map" in str(error.value)


READ_BY_LAUNCHERS = [  # format, file, node of each rank, slot of each rank
    ("openmpi4", "// ours\n/* of\n two lines */ rank 0=me@A slot=0 // here\nrank 1=B slot=1#there\n", [0, 1], [0, 1]),
    ("openmpi5", "/**/rank 0=me@A slot=0/* here */\n// rank 9\nrank 1=A slot=0:1 rank 2=B.site.org\n", [0, 0, 1], [0, 1, 0]),
    ("openmpi4", "rank 0=A slot=0\nrank 1=A slot=0\n", [0, 0], [0, 1]),
    ("openmpi4", "rank 0=A slot=*\nrank 2=B slot=0:0,1:1\nrank 1=A slot=0-1\n", [0, 0, 1], [0, 1, 0]),
    ("openmpi5", "rank 0=A slot=0:*\nrank 1=A slot=1:*\n", [0, 0], [0, 1]),
    ("hydra", "A:2 binding=user:0,1 user=me\nme@B\n", [0, 0, 1], [0, 1, 0]),
    ("hostfile", "A\nB.site.org\nA.site.org\n", [0, 1, 0], [0, 0, 1]),
    ("hydra", "B binding=core:2 # one\r\nA:1\r\n", [1, 0], [0, 0]),
    ("hostfile", "# ours\nB # one\n\nA\n", [1, 0], [0, 0]), ("hostfile", "B:2\nA", [1, 1, 0], [0, 1, 0]),
    ("flux", "0,1;2,3", [0, 0, 1, 1], [0, 1, 0, 1]), ("flux", "0,2;1,3\n", [0, 1, 0, 1], [0, 0, 1, 1]),
    ("flux", "[[0,2,2,1]]", [0, 0, 1, 1], [0, 1, 0, 1]),
    ("flux", "(vector,(0,2,2))", [0, 0, 1, 1], [0, 1, 0, 1]),
    ("flux", " (vector, (0,2,1),(0,2,1) )\n", [0, 1, 0, 1], [0, 0, 1, 1]),
]


@pytest.mark.parametrize("name, text, nodes, slots", READ_BY_LAUNCHERS)
def test_what_a_launcher_reads_is_recognised_and_valid(name, text, nodes, slots):
    content = text.replace("A", "node-0-0-0").replace("B", "node-1-0-0").encode()
    mapping = parse_mapping(content, "demo.map", Job(Site(TORUS, 2)), None, name)
    assert mapping.node_of_rank.tolist() == nodes and mapping.slot_of_rank.tolist() == slots
    found = recognise(Document(content, "demo.map"))
    assert found == name or {found, name} in ({"openmpi4", "openmpi5"}, {"hydra", "hostfile"})


@pytest.mark.parametrize("name, text, launchers", [
    ("openmpi4", "rank 0=A slot=0\n", ["Open MPI 4.1"]),
    ("openmpi4", "rank 0=+n0 slot=0\n", ["Open MPI 4.1 inside a batch job (+n counts its hosts)"]),
    ("openmpi5", "rank 0=+n0 slot=0\n", ["Open MPI 5.0"]),
    ("hostfile", "A\n", ["SimGrid 3.32", "Open MPI 4.1 --map-by seq", "Open MPI 5.0 --map-by seq"]),
    ("hostfile", "A", ["SimGrid 3.32"]), ("hostfile", "A:2\n", ["SimGrid 3.32"]),
    ("hostfile", "A_b\n", ["SimGrid 3.32", "Open MPI 5.0 --map-by seq"]),
    ("hostfile", "A # one\n", ["Open MPI 4.1 --map-by seq", "Open MPI 5.0 --map-by seq"]),
    ("slurm", "A\n", ["Slurm 22.05"]), ("hydra", "A\n", ["MPICH 4.0"])])
def test_the_verdict_names_the_launchers_that_read_the_file(name, text, launchers):
    judged = FORMATS[name].judged(Document(text.replace("A", "node-0-0-0").encode(), "demo.map"))
    assert [launcher for launcher, why in judged.items() if not why] == launchers
    assert all("stops at line 1" in why for why in judged.values() if why)


@pytest.mark.parametrize("tasks, known", [(1, True), (2, True), (3, False), (16, True), (64, True), (65, False)])
def test_runjob_takes_powers_of_two_of_ranks_a_node(tasks, known):
    site = Site(Torus((1, 1, 1, 1, 2)), tasks)
    mapping = shuffled(site, ProcessGrid(tasks, 2), 1)
    launch = FORMATS["bgq"].launch(mapping, Job(site), "demo.map")
    assert launch.warnings == (() if known else (f"runjob knows 1, 2, 4, 8, 16, 32, 64 ranks per node, not {tasks}",))
    assert f"--np {2 * tasks} --ranks-per-node {tasks} " in launch.line


@pytest.mark.parametrize("name", ["slurm", "openmpi4", "openmpi5", "hydra", "intel"])
def test_a_file_of_host_names_says_if_nobody_named_the_hosts(name, tmp_path):
    """On tori and on networks from a text alike; names of a file, a template or a table are the user's."""
    needs = "hosts that are named {} and so on; `hosts` takes the names of yours"
    tree = network_named("fat-tree:leaves=4,hosts=4,up=2")
    cables = tmp_path / "cables.dot"
    cables.write_text('graph { s [kind=switch] a -- s b -- s }')
    listed = {f"h{node}": node for node in range(16)}
    for network, hosts, first in (
            (Torus((4, 4)), {}, "node-0-0"), (tree, {}, "n0000-00"), (tree, {"template": "h{node}"}, None),
            (tree, {"hosts": listed}, None), (given_network(str(cables)), {}, None)):
        job, tasks = Job(Site(network), Hosts(network, **hosts)), network.n_nodes
        mapping = Mapping(network, ProcessGrid(tasks, 1), 1, np.arange(tasks), np.zeros(tasks, dtype=int))
        launch = FORMATS[name].launch(mapping, job, "f")
        assert (needs.format(first) in launch.needs) == (first is not None), (network, hosts)
        assert any("hosts that are named" in need for need in launch.needs) == (first is not None)


REPRODUCIBLE = settings(derandomize=True, deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def placed(draw, n_dimensions):
    """Draw a job on some nodes of a small torus in any order, with ranks on its first slots in any order."""
    torus = Torus(tuple(draw(st.lists(st.integers(1, 4), min_size=n_dimensions, max_size=n_dimensions))))
    nodes = draw(st.permutations(range(torus.n_nodes)))[:draw(st.integers(1, torus.n_nodes))]
    site = Site(torus, draw(st.sampled_from([1, 2, 3, 12])), Allocation(torus, nodes), idle=True)
    n = draw(st.integers(1, site.n_slots))
    places = (site.allocation.nodes[:, None] * site.tasks_per_node + np.arange(site.tasks_per_node)).ravel()[:n]
    places = np.array(draw(st.permutations(places.tolist())))
    R = draw(st.sampled_from([r for r in range(1, n + 1) if n % r == 0]))
    template = draw(st.sampled_from([None, "nid{node:05d}", "rack1-n{node}", "node{node}", "1n{node}"]))
    return Job(site, Hosts(torus, template)), Mapping(torus, ProcessGrid(R, n // R), site.tasks_per_node,
                                                      places // site.tasks_per_node, places % site.tasks_per_node)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_recognised_and_read_again(name):
    form = FORMATS[name]

    @settings(REPRODUCIBLE, max_examples=40)
    @given(st.data())
    def check(data):
        job, mapping = data.draw(placed(5 if name == "bgq" else data.draw(st.integers(1, 3))))
        text = form.write(mapping, job)
        back = parse_mapping(text.encode(), "file", job, mapping.grid, name)
        assert np.array_equal(back.node_of_rank, mapping.node_of_rank)
        slots = mapping.slot_of_rank if form.says_slots else slots_in_order(mapping.node_of_rank)
        assert np.array_equal(back.slot_of_rank, slots)
        assert form.write(back, job) == text
        found = recognise(Document(text.encode(), "own"))  # formats may share a text: rankfiles of Open MPI 4 and 5
        assert found == name or FORMATS[found].write(mapping, job) == text
        assert form.launch(mapping, job, "file").line

    check()


NAMES = (st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,5}", fullmatch=True)
         | st.from_regex("0{0,2}[1-9][0-9]?", fullmatch=True))


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_for_any_names_of_hosts_is_accepted(name):
    """Names with ``_``, ``-``, ``.``, upper case, digits alone, leading zeros: read by name and unnamed, or not written."""
    written = set()

    @REPRODUCIBLE
    @given(st.data())
    def check(data):
        torus = Torus((2, 2, 1, 1, 1) if name == "bgq" else (2, 2))
        hosts = Hosts(torus, table=dict(enumerate(data.draw(st.lists(NAMES, min_size=4, max_size=4, unique=True)))))
        job = Job(Site(torus), hosts)
        mapping = Mapping(torus, ProcessGrid(2, 2), 1, np.array(data.draw(st.permutations(range(4)))), np.zeros(4, int))
        try:
            text = mapping_text(mapping, name, job)
        except PencilmapError as error:
            assert "cannot be written in format" in str(error)
            return
        written.add(text)
        for form in (name, None):
            assert np.array_equal(parse_mapping(text.encode(), "file", job, mapping.grid, form).node_of_rank,
                                  mapping.node_of_rank)

    check()
    assert written


@REPRODUCIBLE
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_task_maps_are_shorter_than_the_list_and_give_it_back(node):
    found = blocks(node)
    assert len(found) <= len(node) and expand(found, len(node)) == node


RING = Torus((4,))
RING_JOB = Job(Site(RING, 2, Allocation(RING, [2, 0, 1, 3])), Hosts(RING, "n{x}"))
MAP_4 = """ Data for JOB [7,1] offset 0 Total slots allocated 4

 ========================   JOB MAP   ========================

 Data for node: n2\tNum slots: 2\tMax slots: 0\tNum procs: 2
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 0 Bound: socket 0[core 0[hwt 0]]:[B/.]
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 3 Bound: N/A

 Data for node: n0\tNum slots: 2\tMax slots: 0\tNum procs: 2
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 1 Bound: N/A
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 2 Bound: N/A

 =============================================================
hello from rank 0
"""
ON_5 = (("login", "", ()), ("n2", "", (0, 3)), ("vm", "                resolved from n0\n", (1, 2)))
MAP_5 = "\n=======   JOB MAP   =======\nData for JOB prterun-a-7@1 offset 0 Total slots allocated 4\n" + "\n".join(
    f"Data for node: {name}\tState: 3\tFlags: MAPPED\n                resolved from 192.0.2.2\n{alias}"
    f"        Daemon: [prterun-a-7@0,0]\tDaemon launched: True\n            Num slots: 2\tNum procs: {len(ranks)}\n"
    + "".join(f"        Data for proc: [prterun-a-7@1,{rank}]\n                Pid: 0\tLocal rank: 0\n" for rank in ranks)
    for name, alias, ranks in ON_5) + "\n======================\n"
XTHI = "".join(f"Hello from rank {rank}, thread {thread}, on {host}. (core affinity = {thread})\n"
               for rank, host in ((3, "n2"), (0, "n2.site.org"), (1, "n0"), (2, "n0")) for thread in range(2))
NODES = "".join(f"Node    {node}, hostname n{node}, mpi   2, omp   1, executable xthi\n" for node in (0, 2))
SUMMARY = f"Node summary for    2 nodes:\n{NODES}MPI summary: 4 ranks\n" + "".join(
    f"Node    {node}, rank    {rank}, thread   0, (affinity =    0)\n" for node, rank in ((2, 0), (0, 1), (0, 2), (2, 3)))
ERF = ("app 0: ./a.out -x\noverlapping_rs: allow\ncpu_index_using: logical\n\n"
       "rank: 0: { host: 1; cpu: {0-3} ; gpu: * ; mem: * } : app 0\n"
       "rank: 1-2: { hostname: n0; cpu: {0-3},{4-7} }\nrank: {3} : {host:{1};cpu:{4-7}}\n")
WHOLE = [  # the same places: ranks 0 and 3 on n2, 1 and 2 on n0
    ("labels", "srun: job 7 has been allocated resources\n 3: n2\n 0: n2.site.org\n 1: n0\n 2: n0\n"),
    ("labels", "[3] n2\n[0] n2\n[1] n0\n[2] n0\n"), ("labels", "".join(
        f"[{job},{rank}]<stdout>: {host}\n" for job, rank, host in (("1", 0, "n2"), ("prterun-a@1", 1, "n0"), ("1", 2, "n0"),
                                                                 ("1", 3, "n2")))),
    ("xthi", XTHI), ("xthi", re.sub("(?m)^Hello from rank ([0-9])", r"\1: Hello from level 1: rank= \1", XTHI)),
    ("xthi", SUMMARY), ("xthi", "".join(f"MPI {rank:03d} - OMP 000 - HWT 001 - Node {host} - RT_GPU_ID 0\n"
                                        for rank, host in enumerate(("n2", "n0", "n0", "n2")))),
    ("openmpi-map", MAP_4), ("openmpi-map", MAP_5), ("openmpi-map", "a banner\n" + MAP_4), ("erf", ERF)]


@pytest.mark.parametrize("name, text", WHOLE)
def test_printed_placements_are_read(name, text):
    for form in (name, None):
        mapping = parse_mapping(text.encode(), "used", RING_JOB, ProcessGrid(2, 2), form)
        assert np.array_equal(mapping.node_of_rank, [2, 0, 0, 2]) and np.array_equal(mapping.slot_of_rank, [0, 0, 1, 1])


@pytest.mark.parametrize("name, text, message", [
    ("labels", "0: n2\n1: n9\n", "used line 2 column 1: host 'n9' is not a node"),
    ("labels", "0: n2\nloading\n", "line 2: 'loading' is not RANK: HOST, as in other lines"),
    ("labels", "0: n2\n2: n0\n", "line 2: rank 2 is placed, but not rank 1"),
    ("labels", "0: n2\n0: n0\n", "line 2: rank 0 is on n0, and on n2 in line 1; keep the output of one run"),
    ("xthi", XTHI[:-30], "line 8: 'Hello from rank 2.* is not Hello from rank 0"),
    ("xthi", SUMMARY.replace(NODES, ""), "line 3: node 2 has no line above with its hostname"),
    ("openmpi-map", MAP_4[:MAP_4.index(" \tProcess OMPI jobid: [7,1] App: 0 Process rank: 2")], "has no whole job map"),
    ("openmpi-map", MAP_4.replace("Num procs: 2", "Num procs: 3"), "line 9: 2 processes of a node with 3: the job"),
    ("openmpi-map", MAP_4.replace("Data for node: n2", "Node: n2"), "line 6: a process before the first node"),
    ("erf", ERF.replace("rank: 0:", "1 :"), "line 5: '1 : { host: 1; .* is not rank: RANKS: .* --erf_output"),
    ("erf", ERF.replace("host: 1;", "host: *;"), "line 5: names no single host"),
    ("erf", ERF.replace("host: 1;", "host: 5;"), "line 5: host 5 is not one of the 4 nodes, which count from 1"),
    ("erf", ERF.replace("1-2:", "2-1:"), "line 6: '2-1' is not a rank or a range"),
    ("erf", ERF.replace("1-2:", "0-2:"), "line 6: rank 0 is already placed in line 5")])
def test_what_is_no_whole_output_is_refused(name, text, message):
    with pytest.raises(MapfileError, match=message):
        parse_mapping(text.encode(), "used", RING_JOB, None, name)


def test_they_cannot_be_written():
    mapping = parse_mapping(b"0: n2\n", "used", RING_JOB)
    for name in PRINTED:
        with pytest.raises(MapfileError, match=f"format {name} can only be read; write one of bgl"):
            mapping_text(mapping, name, RING_JOB)


def test_check_says_whether_a_mapping_was_used(pencilmap, tmp_path):
    (tmp_path / "used").write_text(WHOLE[0][1])
    words = ("--network", "4", "-t", "2", "--hosts", "n{x}")
    out = pencilmap("check", tmp_path / "used", *words)[1]
    assert "4 ranks on 2 of 4 nodes" in out and "(format labels)" in out
    assert "3 ranks on other nodes than in Slurm's block order" in out
    assert pencilmap("map", "--from", tmp_path / "used", *words, "-f", "slurm", "-o", tmp_path / "hosts")[0] == 0
    assert (tmp_path / "hosts").read_text() == "n2\nn0\nn0\nn2\n"


class Meeting:
    """Collects the words of all ranks of a communicator; each rank waits until all have spoken."""

    def __init__(self, size):
        self.size, self.said, self.barrier = size, [None] * size, threading.Barrier(size, timeout=patience(20))

    def all_of(self, rank, value):
        self.said[rank] = value
        self.barrier.wait()
        found = list(self.said)
        self.barrier.wait()
        return found


class Comm:
    """The mpi4py calls of `reorder`. `wrong` changes the data that a rank receives from its neighbour, `turn` its rank."""

    def __init__(self, meeting, rank, freed, wrong=None, turn=0):
        self.meeting, self.rank, self.freed, self.wrong, self.turn = meeting, rank, freed, wrong, turn

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.meeting.size

    def allgather(self, value):
        return self.meeting.all_of(self.rank, value)

    def bcast(self, value, root):
        return self.meeting.all_of(self.rank, value)[root]

    def Split(self, color, key):
        said = self.meeting.all_of(self.rank, (color, key, self.rank))
        mine = sorted(one[1:] for one in said if one[0] == color)
        found = self.meeting.all_of(self.rank, Meeting(len(mine)))[mine[0][1]]
        return Comm(found, (mine.index((key, self.rank)) + self.turn) % len(mine), self.freed, self.wrong)

    def sendrecv(self, value, dest, sendtag, source, recvtag):
        assert sendtag == recvtag
        sent = self.meeting.all_of(self.rank, (dest, value))
        assert sent[source][0] == self.rank, "what is received was sent here"
        return self.wrong(sent[source][1]) if self.wrong else sent[source][1]

    def Free(self):
        self.freed.append(self.rank)


def reordered(size, *arguments, wrong=None, turn=0, freed=None, last=None, **named):
    """Return the new rank of each old rank, or each rank's error. `last` are other keywords of the last rank."""
    meeting, freed = Meeting(size), [] if freed is None else freed

    def of(rank):
        mine = {name: value(rank) if callable(value) else value for name, value in named.items()}
        if last and rank == size - 1:
            mine |= last
        try:
            return reorder(Comm(meeting, rank, freed, wrong, turn), *arguments, **mine).Get_rank()
        except ReorderError as error:
            return str(error)

    with ThreadPoolExecutor(size) as ranks:
        return list(ranks.map(of, range(size)))


def seats(torus, nodes):
    """Return for `where` the coordinates of each rank's node."""
    return lambda rank: torus.coordinates(np.array([nodes[rank]]))[0].tolist


@pytest.mark.parametrize("seed", range(12))
def test_ranks_sit_where_the_placement_puts_them(seed):
    """On some of the nodes, in any order, full and half-empty; the k-th rank of a node has slot k."""
    rng = random.Random(seed)
    torus, tasks = Torus((3, 2, 2)), rng.choice([1, 2, 3])
    some = rng.sample(range(12), rng.choice([4, 6]))
    grid = ProcessGrid(2, len(some) * tasks // 2)
    nodes = [node for node in some for _ in range(tasks)]
    rng.shuffle(nodes)
    site = Site(torus, tasks, Allocation(torus, np.array(list(dict.fromkeys(nodes)))))
    wanted = as_mapping(place("default", site, grid), "default")
    new = reordered(grid.n_tasks, torus, grid, "default", where=seats(torus, nodes))
    slot = [nodes[:rank].count(node) for rank, node in enumerate(nodes)]
    assert sorted(new) == list(range(grid.n_tasks))
    for old, rank in enumerate(new):
        assert (wanted.node_of_rank[rank], wanted.slot_of_rank[rank]) == (nodes[old], slot[old])


def test_a_node_may_have_fewer_ranks_than_the_others():
    torus, nodes = Torus((2, 2)), [0, 1, 1, 2, 2, 3]
    mapping = Mapping(torus, ProcessGrid(2, 3), 2, np.array([2, 1, 0, 3, 2, 1]), np.array([1, 0, 0, 0, 0, 1]))
    new = reordered(6, torus, mapping.grid, mapping, where=seats(torus, nodes))
    assert new == [2, 1, 5, 4, 0, 3]
    assert reordered(5, torus, "1x5", "default:nt", where=seats(torus, [2, 2, 0, 0, 1])) == [0, 3, 1, 4, 2]
    told = reordered(5, torus, "1x5", "default", where=seats(torus, [2, 0, 0, 1, 1]))
    assert len(set(told)) == 1 and told[0].startswith("rank 4: a process runs at node (1, 0) slot 1, where the placement")


def test_names_of_hosts_tell_the_nodes(monkeypatch):
    """Each thread has its own name, because socket and environment are shared."""
    torus, names = Torus((2, 2)), ["n3", "n1", "n0", "n2"]
    hosts = Hosts(torus, table={node: f"n{node}" for node in range(4)})
    me = threading.local()

    def named(rank):
        me.name = names[rank]
        return "hostname"

    monkeypatch.setattr("pencilmap.mapper.reorder.socket.gethostname", lambda: me.name)
    assert reordered(4, torus, "2x2", "default", where=named, hosts=hosts) == [3, 1, 0, 2]
    names[2] = "login"
    told = reordered(4, torus, "2x2", "default", where=named, hosts=hosts)
    assert len(set(told)) == 1 and told[0].startswith("rank 2: ") and "login" in told[0]


def test_a_blue_gene_tells_coordinates_and_slot_in_the_name_of_its_processor(monkeypatch):
    me, names = threading.local(), ["<1,0,1>", "<0,0,0>", "< 1, 0, 0>", "<0,0,1>"]

    def named(rank):
        me.name = f"Processor {names[rank]} in a 2x1x1 mesh"
        return "blue-gene"

    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=SimpleNamespace(Get_processor_name=lambda: me.name)))
    assert reordered(4, Torus((2, 1)), "2x2", "default:txy", where=named) == [3, 0, 2, 1]
    for wrong in ("<1,0>", "<1,0,0,0>", "1,0,1"):
        names[0] = wrong
        told = reordered(4, Torus((2, 1)), "2x2", "default:txy", where=named)
        assert len(set(told)) == 1 and told[0] == (
            f"rank 0: the processor name 'Processor {wrong} in a 2x1x1 mesh' is not a Blue Gene name with 2 coordinates")


@pytest.mark.parametrize("nodes, tasks, message", [
    ([0, 0, 1, 2], 1, "rank 0: node (0) runs 2 processes, not 1; give tasks_per_node"),
    ([0, 1, 2, 9], None, "rank 3: "),
])
def test_what_does_not_fit_is_refused_on_all_ranks(nodes, tasks, message):
    told = reordered(4, Torus((4,)), "2x2", "default", tasks_per_node=tasks, where=lambda rank: lambda: [nodes[rank]])
    assert len(set(told)) == 1 and told[0].startswith(message)


def test_a_rank_that_is_elsewhere_is_noticed_by_its_neighbours_and_nothing_is_left():
    freed = []
    torus = Torus((4,))
    told = reordered(4, torus, "2x2", "default", where=seats(torus, [0, 1, 2, 3]), freed=freed,
                     wrong=lambda heard: (heard[0], heard[1] + (heard[0] == 2)))
    assert told == ["rank 0: self-check failed: rank 2 should be at place 2, and says it is rank 2 at place 3"] * 4
    assert sorted(freed) == [0, 1, 2, 3]
    [told] = set(reordered(4, torus, "2x2", "default", where=seats(torus, [0, 1, 2, 3]), turn=1))
    assert "self-check failed: rank 0 was asked for, rank 1 was got" in told


@pytest.mark.parametrize("last, message", [
    ({"network": 5}, "rank 3: network is 5; give a text such as 8x8x8, or a network"),
    ({"network": "2x2"}, "the arguments differ between ranks: network is 4 on rank 0 and 2x2 on rank 3; give the same on "
                         "all"),
    ({"grid": None}, "rank 3: grid is None; give a text such as 8x64, or a ProcessGrid"),
    ({"grid": "1x4"}, "the arguments differ between ranks: grid is 2x2 on rank 0 and 1x4 on rank 3; give the same on all"),
    ({"grid": "2x3"}, "rank 3: grid 2x3 has 6 tasks, but the communicator has 4; R*C must be equal to it"),
    ({"grid": "2x1x3"}, "rank 3: grid 2x1x3 has 6 tasks, but the communicator has 4; P*Q*S must be equal to it"),
    *[({"tasks_per_node": one}, f"rank 3: tasks_per_node is {one!r}; give an integer of 1 or more")
      for one in ("2", 1.5, True, 0, -1)],
    ({"tasks_per_node": 2}, "the arguments differ between ranks: tasks_per_node is None on rank 0 and 2 on rank 3"),
    ({"where": 7}, "rank 3: unknown coordinate source 7; known: auto, environment"),
    ({"where": "auto"}, "the arguments differ between ranks: where is assumed on rank 0 and auto on rank 3"),
    ({"where": len}, "the arguments differ between ranks: where is assumed on rank 0 and a function on rank 3"),
    ({"hosts": "hosts.txt"}, "rank 3: hosts is 'hosts.txt'; give Hosts of pencilmap.mapper.base.hosts"),
    ({"tasks": 2}, "rank 3: reorder() got an unexpected keyword argument 'tasks'"),
])
def test_a_wrong_argument_on_one_rank_is_one_message_on_all(last, message):
    told = reordered(4, network="4", grid="2x2", placement="default", where="assumed", last=last)
    assert len(set(told)) == 1 and told[0].startswith(message), told


def test_what_is_no_communicator_of_ranks_is_refused():
    class Null(Comm):
        def __bool__(self):
            return False

    class Inter(Comm):
        def Is_inter(self):
            return True

    for comm, message in ((None, "None is not a communicator"), (Null(Meeting(1), 0, []), "COMM_NULL"),
                          (Inter(Meeting(1), 0, []), "intercommunicator")):
        with pytest.raises(ReorderError, match=message):
            reorder(comm, "4", "2x2")
