"""Files: whole or not at all, names that differ, foreign files, and all that is refused in a sentence."""

import fcntl
import importlib
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import contextmanager
from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper import allocations, formats, graphs
from pencilmap.mapper.allocations import combine, hwloc as hardware, look_around, network_file, slurm
from pencilmap.mapper.allocations.found import Found, _nodes
from pencilmap.mapper.allocations.table import named_places, parse_table
from pencilmap.mapper.ask import partition_for
from pencilmap.mapper.base.files import append_whole, check_appendable, check_writable, temporary_folder, write_whole
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose import plan
from pencilmap.mapper.formats import lines, parse_mapping, recognise
from pencilmap.mapper.formats.foreign import DESCRIPTION, FOREIGN, GRAPH, NODES, PLACEMENT, TARGETS, foreign_format
from pencilmap.mapper.formats.format import Job
from pencilmap.mapper.formats.lines import MAX_DIGITS, MAX_LINE, Document, check_json, is_integer, leaves
from pencilmap.mapper.graphs import parse_graph
from pencilmap.mapper.graphs.hwloc import bits
from pencilmap.mapper.placements import place
from pencilmap.mapper.runs import records
from pencilmap.mapper.runs.records import read_records, transform_of_record
from pencilmap.mapper.seeds import graph as scotch, tilings as lattice_search
from pencilmap.mapper.seeds.graph import network_graph
from pencilmap.mapper.setting import setting
from pencilmap.mapper.shapes import torus_shapes
from pencilmap.mapper.studies.scaling import read_points
from pencilmap.mapper.studies.threads import choices
from pencilmap.model.base import reading as reading_module
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
from pencilmap.model.base.reading import MOST_DEPTH, check_xml, noting_inputs, parse_toml, parse_yaml, read_whole
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import network_named
from pencilmap.model.kinds.torus_adaptive import minimal_adaptive_loads
from pencilmap.model.kinds.torus_routes import TorusOptimum
from pencilmap.model.machines import package_file
from pencilmap.model.machines.machine import load_machine, read_machine
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
from tests.fuzz.first_inputs import CORPUS, IN_PYTHON
from tests.mapper import run_records
from tests.patience import patience

SITE = Site(Torus((2, 2)))


def fails(*_, **__):
    raise ZeroDivisionError("of the parser")


@pytest.mark.parametrize("content", [b"a = " + b"[" * 20_000, b"a = " + b"9" * 5_000, b"a = nan", b"\xff", b"", b"\0"])
def test_machine_files_that_break_the_parser(content):
    with pytest.raises(MachineError, match="machine file x"):
        read_machine(content, "x")


@pytest.mark.parametrize("content", [b"a b {[]: 1}\n", b"a b {'1/0': 1/0}\n", b"a b {'cables': '1e999999999'}\n", b"6\x1f\n",
                                     b"a b {'cables': " + b"9" * 5_000 + b"}\n", b"a b " + b"[" * 20_000 + b"\n",
                                     b"0\n6\x1f\n", b"{" * 20_000, b'{"nodes": Infinity}', b"graph [" * 5_000])
def test_graphs_that_break_a_parser(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises((GraphError, MapfileError), match="a"):
        graphs.read_graph(tmp_path / "a", bandwidth=1e9)


def test_what_a_parser_raises_is_its_readers_error(monkeypatch, tmp_path):
    path = tmp_path / "a"
    monkeypatch.setattr(tomllib, "loads", fails)
    with pytest.raises(MachineError, match="machine file x cannot be read: of the parser"):
        read_machine(b"a = 1", "x")
    for name, form in list(formats.FORMATS.items()):
        monkeypatch.setitem(formats.FORMATS, name, replace(form, read=fails))
        path.write_text("0 0\n")
        if not (form.by_coordinates or form.says_grid):
            with pytest.raises(MapfileError, match="cannot be read: of the parser"):
                formats.read_mapping(path, Job(SITE), format_name=name)
    for name, graph in list(graphs.GRAPHS.items()):
        monkeypatch.setitem(graphs.GRAPHS, name, replace(graph, read=fails))
        with pytest.raises(GraphError, match="cannot be read: of the parser"):
            graphs.read_graph(path, name)
    for name, reader in list(allocations.READERS.items()):
        if reader.find:
            with monkeypatch.context() as patch:
                patch.setitem(allocations.READERS, name, replace(reader, looks_like=lambda _: True, find=fails))
                for other in allocations.READERS:
                    if other != name:
                        patch.setitem(allocations.READERS, other, replace(allocations.READERS[other], looks_like=None))
                with pytest.raises(AllocationError, match="cannot be read: of the parser"):
                    allocations.read_description(path)
    monkeypatch.setattr(json, "loads", fails)
    with pytest.raises(RecordError, match="cannot be read: of the parser"):
        records.read_records(path)


def aliases(levels):
    """Return YAML whose last name stands for 9 to the power of `levels` letters."""
    return "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, levels))


def hwloc(*cpusets, kinds=("NUMANode", "Core")):
    objects = (f'<object type="{kind}" cpuset="{cpus}"/>' for kind, cpus in zip(kinds, cpusets))
    return f"<topology>{''.join(objects)}</topology>"


LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9))


@pytest.mark.parametrize("content, message", [
    ("NodeName=a" + "[0-1000000]" * 200, "stands for more than 262144 hosts"),
    ("NodeName=" + ",".join(["a[0-100000]"] * 9), "stands for more than 262144 hosts"),
    (f"NodeName={'a' * 2000}[0-20000]", "a name of more than 255 characters"),
    ("NodeName=a[0-20000]" + "b" * 2000 + "[0-9]", "a name of more than 255 characters"),
    ("NodeName=a" + "[0]" * 300, "a name of more than 255 characters"),
    ("NodeName=a" + ",a" * 400_000, "stands for more than 262144 hosts"),
    ("NodeName=a" + "[" * 400_000, "brackets that do not match"),
    (aliases(12) + "torus3d: {toruses: [{name: *a11, dims: {x: 1, y: 1, z: 1}, nodes: n0}]}", "anchors or aliases"),
    ("torus3d:\n  toruses: " + "[" * 100_000, "nested more than 64 deep"),
    ("torus3d:\n  toruses: [" + "a, " * 100_000 + "]", "more than 50000 entries"),
    (" \n" * 300_000 + "SwitchName=a", "names no hosts"),
    ("NodeName=a[0-200000]\n" + "".join(f"PartitionName=p{i} Nodes=ALL\n" for i in range(20_000)),
     "line 22: switches and partitions have more than 4194304 hosts together"),
    ("SwitchName=s Nodes=a[0-200000]\nSwitchName=t\n" + "".join(f"SwitchName=u{i} Switches=s,t\n" for i in range(100)),
     "more than 4194304 hosts together"),
    (hwloc("0x1", ",".join(["0x1"] * 400_000)), "a set of 12800000 processors"),
    ('<!DOCTYPE topology [<!ENTITY a0 "x">' + LAUGHS + ']><topology><node type="&a8;"/></topology>', "entities"),
    (f'<!DOCTYPE topology [<!ATTLIST node a CDATA "{"x" * 200}">]><topology>{"<node/>" * 9}</topology>', "attributes"),
    ("TpuDevice(id=1, coords=(999999999999,99999999999,99999))", None),
])
def test_what_would_expand_is_refused_before(tmp_path, content, message):
    (tmp_path / "a").write_text(content)
    if message is None:
        assert allocations.read_description(tmp_path / "a")
        return
    with pytest.raises((AllocationError, MapfileError), match=message):
        allocations.read_description(tmp_path / "a")


@pytest.mark.parametrize("content, message", [
    ("<graphml>" + "<graph/>" * 1000 + "</graphml>", "more than one graph"),
    ("".join(f"a b {n}.5 GB/s\n" for n in range(2000)), "kinds of edges"),
    ("".join(f"a b {{'bandwidth': '{n}.5 GB/s'}}\n" for n in range(1, 2000)), "kinds of edges"),
    ("".join(f"n{n} s\n" for n in range(65_536)), "at most 65536"),
])
def test_graphs_have_a_budget_too(tmp_path, content, message):
    (tmp_path / "a").write_text(content)
    with pytest.raises(GraphError, match=message):
        graphs.read_graph(tmp_path / "a", bandwidth=1e9)


def test_seconds_end(monkeypatch):
    before = signal.getsignal(signal.SIGVTALRM)
    monkeypatch.setattr(reading_module, "SECONDS", 0.05)
    with pytest.raises(MachineError, match="a cannot be read: it takes more than 0.05 s of computing"), \
            reading_module.reading("a", MachineError):
        while True:
            pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0) and signal.getsignal(signal.SIGVTALRM) is before
    with reading_module.reading("a", MachineError, 40 << 20):
        assert 1 < signal.getitimer(signal.ITIMER_VIRTUAL)[0] < 42 * 0.05


def test_seconds_end_where_the_first_error_is_lost(monkeypatch):
    """Python ignores errors in a finalizer and in callbacks of the garbage collector."""
    class Slow:
        def __del__(self):
            while True:
                pass

    monkeypatch.setattr(reading_module, "SECONDS", 0.05)
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: lost_errors.append(type(lost.exc_value).__name__))
    lost_errors = []
    end = time.process_time() + 20
    with pytest.raises(MachineError, match="takes more than 0.05 s of computing"), reading_module.reading("a", MachineError):
        Slow()
        while time.process_time() < end:
            pass
    assert lost_errors == ["_TooLong"]
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_bytes_end(tmp_path):
    for path, why in (("/dev/zero", "a device, which has no end"), (tmp_path, "a directory"), (tmp_path / "b", "No such"),
                      ("a\0b", "null")):
        with pytest.raises(RecordError, match=f"cannot be read: .*{why}"):
            records.read_records(path)
    with (tmp_path / "a").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RecordError, match="more than 256 MB"):
        records.read_records(tmp_path / "a")
    with pytest.raises(MachineError, match="more than 131072 bytes"):
        (tmp_path / "a").rename(tmp_path / "a.toml")
        load_machine(str(tmp_path / "a.toml"))
    assert reading_module.read_whole("/dev/null", RecordError) == b""


def test_pipes_are_read_and_do_not_wait_forever(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "NO_WRITER_S", 0.05)
    monkeypatch.setattr(reading_module, "SILENCE_S", 0.05)
    os.mkfifo(tmp_path / "a")
    with pytest.raises(MapfileError, match="a pipe that nobody writes to"):
        formats.read_document(tmp_path / "a")
    writer = os.open(tmp_path / "a", os.O_RDWR)
    with pytest.raises(MapfileError, match="a pipe that ends neither"):
        formats.read_document(tmp_path / "a")
    os.close(writer)
    found, end = os.pipe()
    os.write(end, b"0 0 0\n" * 1000)
    os.close(end)
    assert formats.read_document(f"/dev/fd/{found}").text == "0 0 0\n" * 1000
    os.close(found)


HOSTILE = ["$(id)", "evil;rm", "a b", "a\nb", "-oProxyCommand=x", "a`id`", "a&b", "a|b", "a>b", "é1", "a:2", "", ".a",
           "n" * 256]
BY_NAME = [name for name, form in formats.FORMATS.items() if not form.by_coordinates and name not in ("cray", "flux")]


@pytest.mark.parametrize("host", HOSTILE)
def test_no_file_names_a_host_that_a_launcher_would_take_for_something_else(host, tmp_path):
    """From any table, and in every format that names hosts, in writing and in reading."""
    job = Job(SITE, Hosts(SITE.network, table=dict(enumerate(["n0", host, "n2", "n3"]))))
    mapping = Mapping(SITE.network, ProcessGrid(2, 2), 1, np.arange(4), np.zeros(4, dtype=np.int64), "default")
    lines = {"openmpi4": "rank 0={}-0-0 slot=0\n", "openmpi5": "rank 0={}-0-0 slot=0\n", "hydra": "{}-0-0:1\n"}
    for name in BY_NAME:
        with pytest.raises(MapfileError, match="host name .* names have letters, digits and"):
            formats.write_mapping(mapping, tmp_path / "a", name, job)
        assert not (tmp_path / "a").exists()
        if host and host != "a:2":
            with pytest.raises(MapfileError, match="line 1"):
                formats.parse_mapping(lines.get(name, "{}-0-0\n").format(host).encode(), "a", Job(SITE), format_name=name)
    for text in (f"{host} 0 0\n", f"0 0 {host}\n", f"{host}-0-0\n"):
        if host:
            with pytest.raises(MapfileError, match="line [12]"):
                parse_table(formats.Document(text.encode(), "a"), SITE.network)
    with pytest.raises(MapfileError, match="host name"):
        allocations.combine([allocations.Found(hosts=("n0", host), places={"n0": (0, 0), host: (1, 0)})], torus="2x2")
    if "\n" not in host and "," not in host and host:
        with pytest.raises(MapfileError):
            Hosts(SITE.network, host + "{x}{y}")


def refused(call, *arguments, **more):
    with pytest.raises(MapfileError) as error:
        call(*arguments, **more)
    return str(error.value)


def test_a_line_of_4096_characters_is_read_and_one_of_4097_is_not():
    longest = b"7" + b" " * (MAX_LINE - 1)
    assert Document(b"1\n" + longest, "m").lines() == [(1, "1"), (2, longest.decode())]
    said = refused(Document(b"1\n" + longest + b" ", "m").lines)
    assert said == "m line 2: 4097 characters long; at most 4096 are read"
    assert refused(Document(b"#" + longest, "m").lines).startswith("m line 1: 4097")  # a comment, too
    assert Document(longest + b"77", "m").lines(longest=None) == [(1, longest.decode() + "77")]
    assert Document(b"1 2 3", "m").lines(longest=5) and "5 characters" in refused(Document(b"1 2 3", "m").lines, longest=4)


def test_files_and_lists_are_bounded(monkeypatch):
    monkeypatch.setattr(lines, "MOST_BYTES", 6)
    monkeypatch.setattr(lines, "MAX_PLACES", 3)
    assert len(Document(b"1\n2\n3\n", "m").lines()) == 3
    assert refused(Document, b"1\n2\n3\n4", "m") == "m is longer than 6 bytes; that is not a placement file"
    monkeypatch.setattr(lines, "MOST_BYTES", 99)
    assert refused(Document(b"1\n2\n\n3\n4\n5", "m").lines) == "m line 5: more than 3 lines; that is not a placement file"


def test_marks_that_launchers_take_for_names_are_refused_where_they_are():
    marked, returned = Document(b"\xef\xbb\xbfa\n", "m"), Document(b"a\nb\nc\r\nd\r\n", "m")
    assert marked.lines() == [(1, "a")] and refused(marked.refuse_marks, "srun") == (
        "m line 1: begins with a byte order mark, which srun does not read; dos2unix m repairs the file")
    assert refused(returned.refuse_marks, "srun") == (
        "m line 3: a carriage return, which srun does not take for an end of line; dos2unix m repairs the file")
    assert refused(Document(b"a\rb\n", "m").refuse_marks, "srun").endswith("an end of line; write a line feed")
    returned.refuse_marks("srun", returns=False)
    Document(b"a\nb\n", "m").refuse_marks("srun")


@pytest.mark.parametrize("word, is_one", [
    ("0", True), ("+7", True), ("-12", True), ("9" * MAX_DIGITS, True), ("-" + "9" * MAX_DIGITS, True),
    ("9" * (MAX_DIGITS + 1), False), ("0" * MAX_DIGITS + "1", False), ("", False), ("-", False), ("+-1", False),
    ("1.0", False), ("1e3", False), ("0x1", False), ("٣", False), ("1 2", False), ("1_0", False)])
def test_integers_have_at_most_twelve_digits(word, is_one):
    assert is_integer(word) == is_one


@pytest.mark.parametrize("text, numbers, table", [
    ("1 2\n3 4\n", [1, 2], [[1, 2], [3, 4]]), ("\n 1\t-2\r\n\r\n+3 4", [2, 4], [[1, -2], [3, 4]]),
    ("1 2 # one\n3 4", [1, 2], [[1, 2], [3, 4]]),
    (f"{'9' * 12} 0\n-{'9' * 12} 0", [1, 2], [[10**12 - 1, 0], [1 - 10**12, 0]]),
    ("", [], np.zeros((0, 2)).tolist())])
def test_tables_of_integers_are_read_as_a_whole_or_line_by_line(text, numbers, table):
    found, where = Document(text.encode(), "m").integers(2, "x y")
    assert found.dtype == np.int64 and found.tolist() == table and list(where) == numbers and found.shape[1] == 2


@pytest.mark.parametrize("text, words", [
    ("1 2\n3\n", "m line 2: 1 columns, but 2 are needed (x y)"), ("1 2 3\n4 5 6\n", "m line 1: 3 columns, but 2 are needed"),
    ("1 2\n3 4 5\n", "m line 2: 3 columns"), ("1\n2\n", "m line 1: 1 columns"),
    ("1 2\n3 +-4\n", "m line 2 column 3: '+-4' is not"), ("1 2\n- 4\n", "m line 2 column 1: '-' is not an integer (x y)"),
    ("1 2 # a\n3 b", "m line 2 column 3: 'b' is not an integer"),
    (f"1 {'9' * 13}", "m line 1 column 3: '9999999999999' is not an integer"), ("5-3 1", "m line 1 column 1: '5-3' is not"),
    (f"1 {'a' * 30}", f"column 3: '{'a' * 20}' is not"), ("\n\n1 2\n3\n", "m line 4: 1 columns")])
def test_tables_that_are_none_are_refused_at_their_place(text, words):
    assert words in refused(Document(text.encode(), "m").integers, 2, "x y")


def places(text, network):
    return named_places(Document(text.encode(), "names"), network)


@pytest.mark.parametrize("machine, boards, nodes", [("lumi-g", 2, 1), ("lumi-c", 2, 2), ("frontier", 2, 1)])
def test_a_cabinet_is_a_group_and_a_chassis_has_switches_of_its_own(machine, boards, nodes):
    network = load_machine(machine).network
    every = list(product((1000, 1004), range(8), range(8), range(boards), range(nodes)))
    found = places("".join(f"x{x}c{c}s{s}b{b}n{n}\n" for x, c, s, b, n in every), network)
    hosts = network.n_nodes // network.groups
    assert sorted(found.values()) == list(range(2 * hosts))
    switches = network.switch_of_link.reshape(network.n_nodes, -1) // (network.per_group // 8)  # by chassis
    for (x, c, *_), node in zip(every, found.values()):
        assert node // hosts == (x - 1000) // 4 and set(switches[node].tolist()) == {8 * (node // hosts) + c}


def test_a_list_of_names_is_the_nodes_of_a_job(tmp_path):
    (tmp_path / "hosts").write_text("nid1 x1001c0s0b0n0\nnid2 x1001c0s0b1n0\nnid3 x1003c7s7b1n0\nnid4 x1001c1s0b0n0\n")
    where = setting(machine="lumi-g", nodes=str(tmp_path / "hosts"), tasks_per_node=1)
    assert where.site.allocation.nodes.tolist() == [0, 1, 255, 16] and list(where.hosts) == ["nid1", "nid2", "nid3", "nid4"]
    assert where.predictions("2x2", ["default"])[0].cost > 0


@pytest.mark.parametrize("text, network, words", [
    ("x1000c0s0b0n1\n", "dragonfly:a=32,p=16,groups=2,cables=2,rails=4,links=4", "no place in a group of 128 hosts"),
    ("x1c0s0b0n0\n", "dragonfly:a=32,p=16,groups=2,cables=2", "is not a node"),
    ("x1000c0s0b0n0\nx1001c0s0b0n0\nx1002c0s0b0n0\n", "dragonfly:a=4,p=16,groups=2,cables=2", "3 cabinets, but .* 2 groups"),
    ("x1000c0s0b0n0\nx1000c0s0b0n0\n", "dragonfly:a=4,p=16,groups=2,cables=2", "line 2: .* is also in line 1"),
    ("x1000c0s0b0n0\n", "dragonfly:a=4,p=2,h=2", "1 cabinets, but .* 9 groups of 8 hosts"),
    ("x1000c0s0b0n0\n", "fat-tree:leaves=2,hosts=2,up=2", "is not a node")])
def test_names_that_do_not_fit_the_network_are_refused(text, network, words):
    with pytest.raises(MapfileError, match=words):
        parse_table(Document(text.encode(), "names"), network_named(network))


TREE = nx.balanced_tree(2, 3)


def metis(graph, weight=None):
    """Return a graph as METIS 5's manual describes it: vertices count from 1, comments begin with a percent sign."""
    rows = [" ".join(f"{other + 1} {weight}" if weight else str(other + 1) for other in sorted(graph.adj[v])) for v in graph]
    head = f"{graph.number_of_nodes()} {graph.number_of_edges()}" + (" 001" if weight else "")
    return f"% made here\n{head}\n" + "\n".join(rows) + "\n"


SLURM = "Slurm's topology file (topology.conf, topology.yaml or slurm.conf)"
EXAMPLES = {  # name: title, text
    "metis": ("a METIS graph", metis(TREE)),
    "metis with weights": ("a METIS graph", metis(nx.cycle_graph(7), 3)),
    "metis with weights of vertices": ("a METIS graph", "3 2 010 2\n5 6 2\n5 6 1 3\n5 6 2\n"),
    "metis with a vertex alone": ("a METIS graph", "3 1\n2\n1\n\n"),
    "scotch": ("a Scotch graph (.grf)", network_graph(Torus((4, 2)))),
    "dot": ("a DOT graph (Graphviz)", "graph G {\n  a -- b [bandwidth=\"1 GB/s\"];\n}\n"),
    "dot of hwloc": ("a DOT graph (Graphviz)", "// made by hand\nstrict digraph \"my net\" {\na -> b\n}\n"),
    "gml": ("a GML graph", "\n".join(nx.generate_gml(TREE))),
    "gml with a creator": ("a GML graph", 'Creator "Topology Zoo"\ngraph [\n  directed 0\n  node [\n id 0 ]\n]\n'),
    "pajek": ("a Pajek network", "\n".join(nx.generate_pajek(TREE))),
    "matrix market": ("a Matrix Market file", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
    "simgrid": ("a SimGrid platform", "<?xml version='1.0'?>\n"
                "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\"/>\n</platform>\n"),
    "simgrid program": ("a program that builds a SimGrid platform", "/* mine */\n#include <simgrid/s4u.hpp>\n"
                        "namespace sg4 = simgrid::s4u;\n"),
    "simgrid script": ("a program that builds a SimGrid platform", "import sys\nfrom simgrid import Engine, NetZone\n"),
    "ibnetdiscover": ("the output of ibnetdiscover", "#\n# Topology file: generated on Tue Nov  3 2020\n#\nvendid=0x2c9\n"
                      "devid=0xbd36\nsysimgguid=0x2c902\nswitchguid=0x2c9(2c9)\nSwitch\t36 \"S-0002c9\"\t\t# \"sw\" port 0\n"
                      "[1]\t\"H-0002c8\"[1](2c8) \t\t# \"n1 HCA-1\" lid 4 4xQDR\n"),
    "ibnetdiscover -p": ("the output of ibnetdiscover -l or -p",
                         "SW     1  1 0x0002c9020040a090 4x QDR - CA     4  1 0x0002c903000b1b2f ( 'sw' - 'n1 HCA-1' )\n"),
    "ibnetdiscover -l": ("the output of ibnetdiscover -l or -p",
                         "Ca\t: 0x0002c903001f0a30 ports 1 devid 0x1003 vendid 0x2c9 \"n1\"\n"),
    "topograph": ("JSON of NVIDIA topograph", '{"instances": [{"id": "n1", "network_layers": ["leaf", "spine"]}]}\n'),
    "opensm": ("OpenSM's list of the subnet", "{ CA Ports:01 SystemGUID:0002c9 NodeGUID:0002c8 } { SW Ports:24 } PHY=4x\n"),
    "sinfo": ("the output of sinfo or squeue", "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
              "debug*  up 1:00 4 idle n[1-4]\n"),
    "squeue": ("the output of sinfo or squeue", "  JOBID PARTITION USER ST TIME NODES NODELIST(REASON)\n"
               "  7 debug me R 0:02 1 n1\n"),
    "show job": ("the output of scontrol show job", "JobId=7 JobName=wrap\n   UserId=me(1) JobState=RUNNING\n"
                 "   NodeList=n[1-4]\n"),
    "booksim": ("a BookSim network (anynet)", "router 0 node 0 node 1 router 1\nrouter 1 node 2 node 3\n"),
    "topology.conf": (SLURM, "# tree\nSwitchName=s0 Nodes=n[0-3]\n"),
    "block topology": (SLURM, "BlockName=b0 Nodes=n[0-3]\nBlockSizes=4\n"),
    "slurm.conf": (SLURM, "# of a site\n" * 2000 + "nodename=n[0-3] CPUs=4\n"),
    "topology.yaml": (SLURM, "---\n- topology: tree\n  tree:\n    switches: []\n"),
    "nccl": ("NCCL's or RCCL's topology of a node",
             "<system version=\"2\">\n <cpu numaid=\"0\" arch=\"x86_64\"/>\n</system>\n"),
    "nvidia-smi": ("the output of nvidia-smi topo -m or rocm-smi --showtopo",
                   "\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tSYS\t0-31\n"),
    "rocm-smi": ("the output of nvidia-smi topo -m or rocm-smi --showtopo",
                 "\n===== ROCm System Management Interface =====\n==== Weight between two GPUs ====\n"),
    "netq": ("the output of NetQ (netq show)", "\nMatching lldp records:\nHostname  Interface  Peer Hostname\n"
             "h1  eth1  leaf01\n"),
    "dimacs": ("a file of DIMACS", "c mine\np edge 3 2\ne 1 2\ne 2 3\n"),
    "dimacs paths": ("a file of DIMACS", "p sp 2 1\na 1 2 5\n"),
    "flux R": ("resources of Flux (R or its JGF)", '{"version": 1, "execution": {"R_lite": [], "nodelist": ["n[0-1]"]}}'),
    "flux jgf": ("resources of Flux (R or its JGF)",
                 '{"graph": {"nodes": [{"id": "0", "metadata": {"paths": {"containment": "/c0"}}}], '
                 '"edges": []}}'),
    "containerlab": ("YAML of another tool", "name: ft\ntopology:\n  nodes:\n    h1: {kind: linux}\n  links:\n"
                     "    - endpoints: [\"leaf1:eth1\", \"h1:eth1\"]\n"),
    "ansible": ("YAML of another tool", "---\n# mine\n- hosts: all\n  gather_facts: no\n"),
    "switches of another tool": ("YAML of another tool", "# core\nswitches:\n  core:\n    labels:\n      a.b/c: us\n"),
    "other json": ("JSON of another tool", '[\n {"cables": [{"id": "a:1-*-b:2"}]}]\n'),
    "addresses": ("a table of addresses (/etc/hosts)", "127.0.0.1 localhost\n172.20.20.20\tworker0\n"),
    "gexf": ("a GEXF graph", "\n".join(nx.generate_gexf(TREE))),
    "json": ("a JSON graph", json.dumps(nx.node_link_data(TREE), indent=2)),
    "simgrid with a comment": ("a SimGrid platform", "<?xml version='1.0'?>\n<!-- 2 -> 3 -->\n<platform version='4.1'/>\n"),
    "csv": ("a CSV table", "source,target,bandwidth\na,b,1 GB/s\n"),
    "csv with semicolons": ("a CSV table", "Host; x; y; z\nn1; 0; 0; 0\n"),
    "csv with tabs": ("a CSV table", "rank\thostname\n0\tn1\n"),
    "csv without a head": ("a CSV table", "n1,0,0\nn2,1,0\n"),
    "csv of edges": ("a CSV table", "\"h1\";\"s1\";\"12.5 GB/s\"\n\"h2\";\"s1\";\"12.5 GB/s\"\n"),
    "csv of other heads": ("a CSV table", "Id,Label,timeset\nh1,h1,\n"),
    "hwloc": ("hwloc XML", "<?xml version='1.0'?>\n<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n<topology version='2.0'/>\n"),
    "graphml": ("a GraphML graph", "\n".join(nx.generate_graphml(nx.cycle_graph(4)))),
    "machine": ("a machine file", package_file("frontera").decode()),
    "record": ("a record of measured times", (CORPUS / "record" / "one").read_text()),
    "trace": ("traffic between ranks", "pencilmap traffic 1\nmpi Open MPI v4.1.4\nranks 2\n"),
    "monitoring": ("traffic between ranks", "# POINT TO POINT\nE\t0\t1\t8 bytes\t2 msgs sent\t2,0\n"),
    "ipm": ("traffic between ranks", '<?xml version="1.0" encoding="iso-8859-1"?>\n<ipm_job_profile>\n<task >\n'),
    "intel mpi": ("traffic between ranks", "Intel(R) MPI Library Version 5.1\n\n~~~~ Process 0 of 2 on node n1\n"),
    "aps-report": ("traffic between ranks", "| Data Transfers\n|-----\n| Rank <-> Rank  Volume(MB)\n"),
    "mpip": ("a report of mpiP or CrayPat", "@ mpiP\n@ Command : ./a.out\n@ Version : 3.5\n"),
    "craypat": ("a report of mpiP or CrayPat", "CrayPat/X:  Version 7.0.1 Revision c6e1c0f  06/12/18\n"),
    "images": ("the images of a placement", "image 0-0-0 1-0-0\nrepeat 2 2-0-0\n"),
    "rankfile": ("an Open MPI rankfile", "rank 0=n1 slot=0\nrank 1=n2 slot=0\n"),
    "iblinkinfo": ("iblinkinfo output", "CA: n1 HCA-1:\n      0x0002c903000b1b2f      4    1[  ] ==( 4X 10.0 Gbps Active/  "
                   "LinkUp)==>  2 1[  ] \"sw\" ( )\n"),
    "iblinkinfo of a switch": ("iblinkinfo output", "Switch: 0x0002c90200404710 MF0;sw:SX6036/U1:\n   2  1[  ] ==(Down)\n"),
} | {f"scotch {name}": ("a Scotch target (.tgt)", f"{name} 4 4 2\n") for name in TARGETS}

READERS = {GRAPH: lambda document: parse_graph(document, bandwidth=1e9), PLACEMENT: recognise,
           NODES: lambda document: parse_table(document, Torus((4, 4, 2)))}


def description(text, path):
    path.write_text(text)
    return allocations.read_description(path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_reader_names_the_format_of_a_foreign_file(name, tmp_path):
    title, text = EXAMPLES[name]
    [form] = (form for form in FOREIGN if form.title == title)
    said = set()
    for kind in (GRAPH, PLACEMENT, NODES, DESCRIPTION):
        if kind in form.read_as:
            continue
        with pytest.raises(PencilmapError) as error:
            READERS[kind](Document(text.encode(), "given")) if kind in READERS else description(text, tmp_path / "given")
        message = str(error.value)
        assert f"given looks like {title}, which is not read as {kind}; " in message
        said.add(message.partition("; ")[2])
    assert said == {form.advice}


def test_every_format_of_the_table_has_an_example():
    assert {title for title, _ in EXAMPLES.values()} == {form.title for form in FOREIGN}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_foreign_file_has_one_format(name):
    title, text = EXAMPLES[name]
    assert [form.title for form in FOREIGN if form.looks_like(Document(text.encode(), "given"))] == [title]


OWN = {"graph": GRAPH, "description": DESCRIPTION, "placement": PLACEMENT, "table": NODES}


@pytest.mark.parametrize("kind", OWN)
def test_no_file_of_ours_is_taken_for_a_foreign_one(kind):
    files = {str(k): text.encode() for k, text in enumerate(IN_PYTHON.get(kind, ()))}
    if (CORPUS / kind).is_dir():
        files |= {path.name: path.read_bytes() for path in (CORPUS / kind).iterdir()}
    assert [name for name, content in files.items() if foreign_format(Document(content, name), OWN[kind])] == []


@pytest.mark.parametrize("given, text, looks", [
    ("bgl", "rank 0=n1 slot=0\nrank 1=n2 slot=0\n", "one of format openmpi4"),
    ("openmpi4", "%%MatrixMarket matrix coordinate\n", "a Matrix Market file"),
    ("jax", "(0,0,0)\n(1,0,0)\n", "one of format vcoordfile"),
    ("vcoordfile", "0 0 0 0\n1 0 0 0\n", "one of format bgl")])
def test_a_placement_in_a_wrong_named_format_is_refused_with_its_own(given, text, looks):
    with pytest.raises(PencilmapError, match=f"; the file looks like {looks}"):
        parse_mapping(text.encode(), "given", Job(Site(Torus((2, 1, 1)))), None, given)


def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, "0 0 0 0\n")
    reader.join(10)
    assert heard == [b"0 0 0 0\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path):
    target, link = tmp_path / "placements" / "best.map", tmp_path / "current.map"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert os.listdir(target.parent) == ["best.map"]


@contextmanager
def file_limit(size):
    """Limit the size of all files, in bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_asked_before_the_work_and_nothing_is_left(tmp_path):
    check_writable(tmp_path / "a.map")
    check_writable("/dev/stdout")
    assert os.listdir(tmp_path) == []
    with pytest.raises(MapfileError, match="cannot be written: No such file or directory"):
        check_writable(tmp_path / "nowhere" / "a.map")
    with file_limit(0), pytest.raises(MapfileError, match="cannot be written: File too large"):  # stands for a full disk
        check_writable(tmp_path / "a.map")
    assert os.listdir(tmp_path) == []


def test_asked_before_something_is_appended_and_nothing_is_made(tmp_path):
    path = tmp_path / "r"
    check_appendable(path)
    assert os.listdir(tmp_path) == []
    path.write_text("first\n")
    os.mkfifo(tmp_path / "pipe")
    check_appendable(path)
    check_appendable("/dev/stdout")
    check_appendable(tmp_path / "pipe")
    assert path.read_text() == "first\n"
    for wrong, why in ((tmp_path, "Is a directory"), (path / "r", "Not a directory"), (tmp_path / "no" / "r", "No such")):
        with pytest.raises(MapfileError, match=f"cannot be written: {why}"):
            check_appendable(wrong)


@pytest.mark.parametrize("words", [
    ("map", "-m", "bluegene-l", "-g", "8x64", "-f", "bgl"), ("draw", "-m", "bluegene-l", "-g", "8x64"),
    ("study", "calibrate", "--published", "bluegene-l"), ("report", "runs.jsonl"), ("map", "--from", "a.map", "-m",
                                                                                    "bluegene-l"),
    ("study", "shapes", "-N", "64", "-d", "2", "-n", "64", "--bandwidth", "1 GB/s")])
def test_commands_ask_before_they_search(words, pencilmap, tmp_path, monkeypatch):
    monkeypatch.setattr("pencilmap.scripts.command_line.commands.map.place", lambda *_: pytest.fail("searched"))
    monkeypatch.setattr("pencilmap.scripts.command_line.commands.calibrate.calibrate", lambda *_: pytest.fail("fitted"))
    for name in ("scripts.command_line.commands.report.read_entries", "mapper.formats.read_document",
                 "scripts.command_line.commands.shapes.scale"):
        monkeypatch.setattr(f"pencilmap.{name}", lambda *_, **__: pytest.fail("worked"))
    suffix = {"calibrate": "toml", "report": "html", "draw": "svg", "shapes": "svg"}.get(words[words[0] == "study"], "map")
    option = "--plot" if words[1] == "shapes" else "-o"
    status, _, err = pencilmap(*words, option, tmp_path / "nowhere" / f"a.{suffix}")
    assert status in (1, 2) and "cannot be written" in " ".join(err.split())


def test_what_several_append_at_once_stays_whole(tmp_path):
    lines = [str(i) * 100_000 + "\n" for i in range(8)]

    def often(line):
        for _ in range(5):
            append_whole(tmp_path / "r", line)

    threads = [threading.Thread(target=often, args=[line]) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted((tmp_path / "r").read_text().splitlines(keepends=True)) == sorted(5 * lines)


def test_what_a_killed_process_left_is_removed_and_what_another_writes_now_is_not(tmp_path):
    path = tmp_path / "a[1].map"
    killed = ("import os, sys; from pencilmap.mapper.base.files import write_whole; "
              "os.replace = lambda *_: os.kill(os.getpid(), 9); write_whole(sys.argv[1], 'half')")
    done = subprocess.run([sys.executable, "-c", killed, path], timeout=patience(60))
    [left] = tmp_path.iterdir()
    assert done.returncode == -9
    busy = tmp_path / ".a[1].map.busy.pencilmap-aside"
    assert left.name.startswith(".a[1].map.") and left.suffix == busy.suffix
    linked, elsewhere = tmp_path / ".a[1].map.linked.pencilmap-aside", tmp_path / "elsewhere"
    elsewhere.write_text("")
    os.utime(elsewhere, (0, 0))
    linked.symlink_to(elsewhere)
    with open(busy, "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        write_whole(path, "whole")
        assert left.exists(), "too young"
        for each in (left, busy):
            os.utime(each, (0, 0))
        write_whole(path, "whole")
    assert {each.name for each in tmp_path.iterdir()} == {"a[1].map", busy.name, linked.name, "elsewhere"}


def test_only_folders_that_are_marked_by_a_file_of_ours_are_removed(tmp_path):
    """A mark that is a link belongs to another user; a locked mark is in use."""
    target = tmp_path / "target"
    target.write_text("")
    for name in ("pencilmap-left", "pencilmap-linked", "pencilmap-used", "another"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "work").write_text("")
        if name != "pencilmap-linked":
            (tmp_path / name / ".in-use").write_text("")
    (tmp_path / "pencilmap-linked" / ".in-use").symlink_to(target)
    with open(tmp_path / "pencilmap-used" / ".in-use") as used:
        fcntl.flock(used, fcntl.LOCK_EX)
        with temporary_folder(str(tmp_path)) as mine:
            assert mine.parent == tmp_path and os.listdir(mine) == [".in-use"]
            there = set(os.listdir(tmp_path))
            assert there == {"target", "pencilmap-linked", "pencilmap-used", "another", mine.name}
    assert set(os.listdir(tmp_path)) == {"target", "pencilmap-linked", "pencilmap-used", "another"}


def test_a_file_with_two_names_keeps_both_and_its_content_if_there_is_no_room(tmp_path):
    path, other = tmp_path / "a.map", tmp_path / "b.map"
    path.write_text("old and longer")
    other.hardlink_to(path)
    write_whole(path, "new")
    assert other.read_text() == "new" and other.samefile(path)
    with file_limit(1000), pytest.raises(MapfileError, match="cannot be written: File too large"):
        write_whole(path, 2000 * "x")
    assert other.read_text() == "new"


@pytest.mark.parametrize("write", [write_whole, append_whole, lambda path, text: check_writable(path),
                                   lambda path, text: check_appendable(path)])
def test_protected_files_and_inputs_stay(tmp_path, write):
    path, link, other = tmp_path / "a b", tmp_path / "link", tmp_path / "other"
    path.write_text("old")
    link.symlink_to(path)
    other.hardlink_to(path)
    with noting_inputs():
        read_whole(other, MapfileError)
        for name in (path, link, other):
            with pytest.raises(MapfileError, match="it is an input of this command; name another file"):
                write(name, "new")
    path.chmod(0o444)
    with pytest.raises(MapfileError, match=r"it is write-protected; .* chmod u\+w '.*/a b'"):
        write(path, "new")
    assert path.read_text() == "old"


@pytest.mark.parametrize("write", ["write_whole", "append_whole"])
def test_standard_output_that_is_a_file_keeps_the_lines_before_and_after(tmp_path, write):
    code = f"from pencilmap.mapper.base.files import {write} as w; print('1'); w('/dev/stdout', '2\\n'); print('3')"
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, timeout=patience(60))
    assert (tmp_path / "out").read_text() == "1\n2\n3\n"


def test_a_pipe_that_nobody_reads_and_a_disk_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pencilmap.mapper.base.files.READER_S", 0.0)
    os.mkfifo(tmp_path / "pipe")
    for write in (write_whole, append_whole):
        with pytest.raises(MapfileError, match="it is a pipe that nobody reads"):
            write(tmp_path / "pipe", "text")
    state = os.stat_result((stat.S_IFBLK | 0o660, *[0] * 9))
    monkeypatch.setattr(os, "stat", lambda path: state)
    with pytest.raises(MapfileError, match="Is a disk"):
        write_whole("/dev/sda", "text")


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
    "no cores": (lambda: hardware.find(document("<topology/>")), MapfileError, "has no object of type Core"),
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
    return hardware.find(document(f"<topology><object type='Machine'>{core * count}</object></topology>"))


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
