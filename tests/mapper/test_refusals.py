"""Impossible input, and one more than a limit, is refused by the first function that can know, in a sentence."""

import importlib
import re
import subprocess
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.allocations import combine, hwloc, look_around, network_file, slurm
from pencilmap.mapper.allocations.found import Found, _nodes
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.ask import partition_for
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose import plan
from pencilmap.mapper.formats.lines import Document, check_json, leaves
from pencilmap.mapper.graphs.hwloc import bits
from pencilmap.mapper.placements import place
from pencilmap.mapper.runs.records import read_records, transform_of_record
from pencilmap.mapper.seeds import graph as scotch, tilings as lattice_search
from pencilmap.mapper.setting import setting
from pencilmap.mapper.shapes import torus_shapes
from pencilmap.mapper.studies.scaling import read_points
from pencilmap.mapper.studies.threads import choices
from pencilmap.model.base.errors import (
    AllocationError,
    GraphError,
    GridError,
    MachineError,
    MapfileError,
    PartitionError,
    PencilmapError,
    PlacementError,
    RecordError,
    ScheduleError,
    TorusError,
)
from pencilmap.model.base.reading import MOST_DEPTH, check_xml, parse_toml, parse_yaml
from pencilmap.model.base.units import parse
from pencilmap.model.kinds.torus_adaptive import minimal_adaptive_loads
from pencilmap.model.kinds.torus_routes import TorusOptimum
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product, parse_pattern
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules import parse_schedule, two_way as course
from pencilmap.model.schedules.schedule import Schedule
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.scaling import Point, fit
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.command_line.job_network import network_lines
from tests.mapper import run_records

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


def one_host(count):
    return from_networkx(nx.path_graph(count), "path")


def two(**data):
    graph = nx.Graph()
    graph.add_edge("a", "b", **data)
    return from_networkx(graph, "two")


def rates(count):
    graph = nx.path_graph(count + 1)
    nx.set_edge_attributes(graph, {(i, i + 1): f"{i + 1} GB/s" for i in range(count)}, "bandwidth")
    return from_networkx(graph, "rates")


def routed(rule, *shape):
    P = int(np.prod(shape))
    mapping = Mapping(Torus(shape), ProcessGrid(P, 1), 1, np.arange(P), np.zeros(P))
    return rule(mapping.network, exchanges(mapping.grid)[0], mapping.node_of_rank)


def cores(count):
    core = "<object type='Core' cpuset='0x1'/>"
    return hwloc.find(document(f"<topology><object type='Machine'>{core * count}</object></topology>"))


LIMITS = {  # module, constant, its small value, an input at the limit, the call, words of the refusal
    "nodes of a torus": ("model.network.torus", "MAX_NODES", 12, 12, lambda n: Torus((n, 1)),
                         "torus 13x1 has 13 nodes; at most 12"),
    "dimensions": ("model.network.torus", "MAX_DIMENSIONS", 2, 2, lambda n: Torus((1,) * n), "1 to 2 dimensions, not 3"),
    "vertices of a graph": ("model.network.graph", "MAX_VERTICES", 5, 5, one_host, "at most 5"),
    "cables": ("model.network.graph", "MOST_CABLES", 7, 7, lambda n: two(cables=n), "8 cables; a whole number of 1 to 7"),
    "different bandwidths": ("model.network.graph", "MOST_UNITS", 3, 3, rates, "one more than 3 different ones; round them"),
    "chunks": ("model.schedules", "MOST_CHUNKS", 4, 4, lambda n: parse_schedule(f"overlap:{n}"), "at most 4 chunks"),
    "sizes of chunks": ("model.schedules", "MOST_CHUNKS", 4, 4, lambda n: parse_schedule("overlap:" + ",".join("1" * n)),
                        "at most 4 chunks"),
    "size of a chunk": ("model.schedules", "MOST_SIZE", 9, 9, lambda n: parse_schedule(f"overlap:1,{n}"), "sizes 1 to 9"),
    "pairs of messages": ("model.kinds.torus_adaptive", "_MOST_PAIRS", 16, 4,
                          lambda n: routed(minimal_adaptive_loads, n), "25 messages on torus 5 is more than the 16"),
    "flows": ("model.routing.optimal_minimal", "MAX_FLOWS", 4, 4, lambda n: routed(TorusOptimum().loads, n // 5 * 2 + 4),
              "6 flows, more than 4"),
    "cores": ("mapper.allocations.hwloc", "MAX_CORES", 3, 3, cores, "has more than 3 cores"),
    "processors": ("mapper.graphs.hwloc", "MAX_PROCESSORS", 64, 2, lambda n: bits(",".join(["0x1"] * n)),
                   "a set of 96 processors; at most 64"),
    "shapes": ("mapper.shapes", "MAX_SHAPES", 3, 12, lambda n: torus_shapes(12 * (n - 11), 2),
               "24 nodes have more than 3 shapes of 2 dimensions"),
    "dimensions of shapes": ("mapper.shapes", "MAX_DIMENSIONS", 3, 3, lambda n: torus_shapes(4, n),
                             "4 dimensions; a torus"),
    "digits in lists": ("mapper.formats.lines", "MAX_DIGITS", 4, 4, lambda n: leaves(
        document := Document(b"[" + b"7" * n + b"]", "m"), check_json(document)), "[77777] is not a list of integers"),
    "places of a tiling": ("mapper.seeds.tilings", "MOST_PLACES", 16, 4, lambda n: place(
        "lattice:seed=1,evaluations=50", Site(Torus((n, 4))), ProcessGrid(n, 4)), "up to 16 slots, and torus 5x4 has 20"),
}


@pytest.mark.parametrize("case", LIMITS)
def test_just_so_much_is_taken_and_one_more_is_refused(case, monkeypatch):
    module, name, value, enough, call, words = LIMITS[case]
    monkeypatch.setattr(importlib.import_module(f"pencilmap.{module}"), name, value)
    call(enough)
    with pytest.raises(PencilmapError) as error:
        call(enough + 1)
    assert words in str(error.value)


def test_texts_are_bounded_before_a_parser_sees_them(monkeypatch):
    assert parse_yaml("[" * MOST_DEPTH + "1" + "]" * MOST_DEPTH)
    with pytest.raises(ValueError, match=f"nested more than {MOST_DEPTH} deep"):
        parse_yaml("[" * (MOST_DEPTH + 1) + "1" + "]" * (MOST_DEPTH + 1))
    monkeypatch.setattr("pencilmap.model.base.reading.MOST_YAML_EVENTS", 8)
    assert parse_yaml("[1, 2]") == ["1", "2"]
    with pytest.raises(ValueError, match="more than 8 entries"):
        parse_yaml("[1, 2, 3, 4]")
    monkeypatch.setattr("pencilmap.model.base.reading.MOST_TOML_BYTES", 5)
    assert parse_toml("a = 1") == {"a": 1}
    with pytest.raises(ValueError, match="more than 5 characters"):
        parse_toml("a = 12")
    check_xml("<graph/>" * MOST_DEPTH)
    with pytest.raises(ValueError, match="more than one graph"):
        check_xml("<graph/>" * (MOST_DEPTH + 1))


def test_a_box_of_too_many_places_is_refused_in_words_or_not_drawn(tmp_path):
    (tmp_path / "far").write_text("0 0\n300000 300000\n")
    with pytest.raises(AllocationError, match="the box around the nodes, 300001x300001:mesh, has more than 4194304 places"):
        look_around({}, [tmp_path / "far"])
    picture = look_around({}, [tmp_path / "far"], "300001x300001")
    assert "at most 4194304 nodes are drawn" in "".join(network_lines(picture.network, picture.nodes))


HUGE = 10**400


@pytest.mark.parametrize("ask, part", [
    (lambda: Site(Torus((4, 4)), 10**9), "at most 65,536"), (lambda: Site(Torus((4, 4)), 2**63 - 1), "at most 65,536"),
    (lambda: Site(Torus((1024, 1024)), 64), "at most 16,777,216"),
    (lambda: Allocation(Torus((1 << 20, 1 << 20))), "name fewer"),
    (lambda: Transform(HUGE, 1, 1), "at most 999,999,999"), (lambda: Transform(8, 8, 8, fields=10**6), "999,999 fields"),
    (lambda: parse("1e308 GB/s", "byte/s"), "not a finite"), (lambda: parse("1e99 s", "s"), "too large"),
    (lambda: parse("1e-99 B/s", "byte/s"), "too small")])
def test_numbers_that_nothing_has_are_refused(ask, part):
    with pytest.raises(PencilmapError, match=part):
        ask()


@pytest.mark.parametrize("change, part", [
    (("placement", "tasks_per_node", 10**9), "maximum of 65536"), (("size", 0, HUGE), "at most 40 are read"),
    (("size", 0, 10**10), "maximum of 999999999"), (("stages", 0, {"name": "row", "bytes": [10**19]}), "maximum"),
    (("auto_budget_s", 1.7e308), "1e-60 to 1e+60"),
    (("phases", "total", "max_s", 0, 5e-324), "1e-60 to 1e+60"), (("phases", "total", "max_s", 0, 1e10), "maximum")])
def test_numbers_of_run_records_have_limits(tmp_path, change, part):
    *path, last, value = change
    torus = Torus((2, 2), bandwidth=(1e9, 1e9))
    inner = record = run_records.record(Mapping(torus, ProcessGrid(2, 2), 1, np.arange(4), np.zeros(4, int)),
                                        Transform(8, 8, 8), Costs())
    for key in path:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(RecordError, match=re.escape(part)):
        read_records(run_records.written(tmp_path / "r.jsonl", record))


@pytest.mark.parametrize("error, part", [
    (MemoryError("Unable to allocate 30 GiB"), "not enough memory for this question (Unable to allocate 30 GiB)"),
    (RecursionError(), "nested too deeply"), (OverflowError("int too large"), "too large to calculate with (int")])
def test_what_a_command_cannot_hold_is_a_sentence(pencilmap, monkeypatch, error, part):
    def fails(*given, **more):
        raise error

    monkeypatch.setattr("pencilmap.scripts.command_line.options.ask", fails)
    status, out, err = pencilmap("plan", "--network", "4x4", "--fft", "8")
    assert (status, out) == (1, "") and part in " ".join(err.split())
