"""Impossible input is refused by the first function that can know, in a sentence with the input and a remedy."""

import subprocess
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.allocations import combine, hwloc, network_file, slurm
from pencilmap.mapper.allocations.found import Found, _nodes
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.ask import partition_for
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose import plan
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.placements import place
from pencilmap.mapper.runs.records import read_records, transform_of_record
from pencilmap.mapper.seeds import graph as scotch, tilings as lattice_search
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.scaling import read_points
from pencilmap.mapper.studies.threads import choices
from pencilmap.model.base.errors import (
    AllocationError,
    GraphError,
    GridError,
    MachineError,
    MapfileError,
    PartitionError,
    PlacementError,
    RecordError,
    ScheduleError,
    TorusError,
)
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product, parse_pattern
from pencilmap.model.schedules import two_way as course
from pencilmap.model.schedules.schedule import Schedule
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.scaling import Point, fit

SQUARE, ROWS = Torus((4, 4)), ProcessGrid(4, 4)


def document(text):
    return Document(text.encode(), "given")


def graph():
    return from_networkx(nx.path_graph(3), "path")


def placed(text, torus=SQUARE, grid=ROWS, tasks=1):
    return place(text, Site(torus, tasks), grid)


CASES = {  # the error in the input: the call, the exception, words of its sentence
    "a node of too few coordinates": (lambda: SQUARE.node([1]), TorusError, "a node of torus 4x4 has 2 coordinates, not 1"),
    "a graph as a torus": (lambda: as_torus(graph()), TorusError, "a torus or mesh is needed, and"),
    "one pattern of two": (lambda: Product(SQUARE, (parse_pattern("r4"),), parse_pattern("r1")), PlacementError,
                           "torus 4x4 needs 2 patterns, got 1"),
    "progress above 1": (lambda: Costs(progress=1.5), MachineError, "progress 1.5: a share from 0 to 1 is needed"),
    "two times": (lambda: fit([Point("", (8, 8, 8), p, 1.0) for p in (2, 4)]), RecordError,
                  "2 times on 2 numbers of ranks do not determine"),
    "times on one number of ranks": (lambda: fit([Point("", (8, 8, 8), 2, t) for t in (1.0, 2.0, 3.0)]), RecordError,
                                     "3 times on 1 numbers of ranks do not determine"),
    "planes without a transform": (lambda: course(Schedule("two-way", planes=3), ROWS, None, None), ScheduleError,
                                   "names planes, but there is no transform"),
    "an argument of best": (lambda: placed("best:3"), PlacementError, "best takes no argument; search does"),
    "an axis that is not there": (lambda: placed("digits:z=r4"), PlacementError,
                                  "'z=r4' is not understood; write AXIS=PATTERN once for each of x, y and t"),
    "an axis twice": (lambda: placed("digits:x=r4,x=c4"), PlacementError, "'x=c4' is not understood"),
    "a word without a pattern": (lambda: placed("digits:x"), PlacementError, "'x' is not understood"),
    "digits of other slots": (lambda: placed("digits:x=r4,y=c4,t=r2"), PlacementError,
                              "t=r2 stand for 2 tasks per node, not 1"),
    "maps of slabs": (lambda: placed("ring:x=r4", grid=ProcessGrid(16, decomposition=setting(
        network="4x4", decomposition="slab").decomposition)), PlacementError, "grid 16 has no columns; take digits"),
    "a map twice": (lambda: placed("ring:x=r4,x=r4"), PlacementError, "'x=r4' is not understood; write AXIS=MAP"),
    "maps of other slots": (lambda: placed("ring:x=r4,y=c4,t=r2"), PlacementError, "t=r2 stand for 2 tasks per node, not 1"),
    "a lattice on a mesh": (lambda: placed("lattice", Torus((4, 4), (True, False))), PlacementError,
                            "lattice needs rings, and dimension y of torus"),
    "a lattice of one row": (lambda: placed("lattice", grid=ProcessGrid(16, 1)), PlacementError, "grid 16x1 has none"),
    "a lattice's seed twice": (lambda: placed("lattice:seed=1,seed=2"), PlacementError, "is not understood; write lattice"),
    "plan by lengths": (lambda: plan(setting(network="4x4"), by="length"), GridError, "ranked by transform or exchanges"),
    "plan without an end": (lambda: plan(setting(network="4x4"), effort="endless"), GridError, "effort quick, normal, long"),
    "threads that do not divide": (lambda: choices(setting(network="4x4", tasks_per_node=4, fft="16"), [3], None), GridError,
                                   "4 tasks on a node do not make 3 tasks with the same number of threads each"),
    "no threads": (lambda: choices(setting(network="4x4", tasks_per_node=4, fft="16"), [0], None), GridError,
                   "do not make 0 tasks"),
    "threads without a transform": (lambda: choices(setting(network="4x4", tasks_per_node=4), [2], None), GridError,
                                    "name it with `fft`"),
    "a table of no nodes": (lambda: combine([Found(())], torus="4x4").table(), AllocationError, "no nodes are known"),
    "a table of no torus": (lambda: combine([Found(())]).table(), AllocationError, "no nodes are known"),
    "a node of three coordinates": (lambda: _nodes(SQUARE, [(0, 1), (0, 1, 2)]), AllocationError,
                                    "node (0, 1, 2) has 3 coordinates, but torus 4x4 has 2 dimensions"),
    "a node outside": (lambda: _nodes(SQUARE, [(0, 1), (0, 4)]), AllocationError, "node (0, 4) is outside torus 4x4"),
    "no cores": (lambda: hwloc.find(document("<topology/>")), MapfileError, "has no object of type Core"),
    "no hosts of netloc": (lambda: network_file.find_netloc(document("<network><node type='switch'/></network>")),
                           MapfileError, "has no node of type host"),
    "names without coordinates": (lambda: slurm.find(document("TopologyPlugin=topology/3d_torus\nNodeName=n_\n")),
                                  MapfileError, "host n_ does not end in the three characters"),
    "no names": (lambda: slurm.find(document("TopologyPlugin=topology/3d_torus\n")), MapfileError, "names no hosts"),
    "a host of two nodes": (lambda: parse_table(document("a 0 0\na 1 0\n"), SQUARE), MapfileError,
                            "host a is also in line 1; delete one of both lines, or correct the name"),
    "two nodes of one name": (lambda: Hosts(SQUARE, table={0: "a", 1: "a"}), MapfileError, "host name 'a' is given to two"),
    "a node that is not listed": (lambda: Hosts(SQUARE, table={0: "a"}).names([0, 5]), MapfileError,
                                  "node (1, 1) has no host name"),
    "bandwidths of no kind": (lambda: from_networkx(nx.Graph([(0, 1, {"bandwidth": ()})]), "g"), GraphError,
                              "has bandwidth '()'; text with a unit"),
    "cables of no kind": (lambda: from_networkx(nx.Graph([(0, 1, {"cables": [2]})]), "g"), GraphError,
                          "has '[2]' cables; a whole number"),
    "a record of two extents": (lambda: transform_of_record({"decomposition": "pencil", "size": [4, 4]}), RecordError,
                                "a record has 2 extents"),
    "a record of a line": (lambda: transform_of_record({"decomposition": "line", "size": [4]}), RecordError,
                           "a record is of a distributed line"),
    "a record of bricks": (lambda: transform_of_record({"decomposition": "brick:1x2x2", "algorithm": "dft"}), RecordError,
                           "a record is of bricks on which distributed lines run"),
}


@pytest.mark.parametrize("what", CASES)
def test_what_cannot_be_is_told(what):
    act, error, words = CASES[what]
    with pytest.raises(error) as told:
        act()
    assert words in str(told.value)


def test_nodes_of_a_machine_without_partitions_need_a_shape(monkeypatch):
    machine = replace(load_machine("trainium2"), partitions=None)
    monkeypatch.setattr("pencilmap.mapper.ask.load_machine", lambda name: machine)
    assert partition_for("mine", 16) is None
    with pytest.raises(PartitionError, match="machine mine has no rule of partitions: give the shape of the 8 nodes"):
        partition_for("mine", 8)


@pytest.mark.parametrize("read", [read_records, read_points])
def test_a_file_in_another_code_is_no_text(read, tmp_path):
    (tmp_path / "given").write_bytes(b"caf\xe9\n")
    with pytest.raises(RecordError, match="given cannot be read: it is not text in UTF-8"):
        read(tmp_path / "given")


@pytest.mark.parametrize("most, words", [(15, "lattice is searched on up to 15 slots, and torus 4x4 has 16"), (16, None)])
def test_a_lattice_is_searched_up_to_a_number_of_slots(most, words, monkeypatch):
    monkeypatch.setattr(lattice_search, "MOST_PLACES", most)
    monkeypatch.setattr(lattice_search, "best_tiling", lambda *given: (None, 0.0))
    with pytest.raises(PlacementError, match=words or "no tiling of torus 4x4 by lattices was tried for grid 4x4"):
        placed("lattice:evaluations=10")


@pytest.mark.parametrize("failure, words", [
    (subprocess.TimeoutExpired("gmap", 1), "gmap did not finish within"),
    (subprocess.CompletedProcess("gmap", 3, "", "x" * 300 + "bad graph\n"), "gmap failed with status 3: x")])
def test_a_mapper_of_others_that_fails_is_told(failure, words, monkeypatch):
    def run(*_, **__):
        if isinstance(failure, Exception):
            raise failure
        return failure

    monkeypatch.setattr(scotch.subprocess, "run", run)
    with pytest.raises(PlacementError) as told:
        scotch.run("gmap")
    assert words in str(told.value) and len(str(told.value)) < 400


@pytest.mark.parametrize("coordinates, found", [([[0], [2]], [0, 2]), (np.zeros((0, 1)), [])])
def test_nodes_of_a_graph_are_their_own_coordinates(coordinates, found):
    network = graph()
    assert network.node(coordinates).tolist() == found
    assert network.outside([0]) is network.outside([2]) is None
    assert "its nodes are numbered 0 to 2" in network.outside([3]) and network.outside([-1])
    with pytest.raises(GraphError, match=r"node \[0, 3\] is not in graph path"):
        network.node([[0], [3]])
