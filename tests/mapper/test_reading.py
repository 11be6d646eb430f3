"""Reading of files and texts: limits, lines, names."""

import json
import os
import signal
import sys
import time
import tomllib
from dataclasses import replace
from itertools import product

import jsonschema  # noqa: F401  # it loads its schemas by json.loads, which a test replaces
import numpy as np
import pytest

from pencilmap.mapper import allocations, formats, graphs
from pencilmap.mapper.allocations.table import named_places, parse_table
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import lines
from pencilmap.mapper.formats.format import Job
from pencilmap.mapper.formats.lines import MAX_DIGITS, MAX_LINE, Document, is_integer
from pencilmap.mapper.runs import records
from pencilmap.mapper.setting import setting
from pencilmap.model.base import reading as reading_module
from pencilmap.model.base.errors import AllocationError, GraphError, MachineError, MapfileError, RecordError
from pencilmap.model.kinds import network_named
from pencilmap.model.machines.machine import load_machine, read_machine
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid

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


def test_bytes_end(tmp_path, monkeypatch):
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


def test_files_and_lists_are_bounded(monkeypatch, tmp_path):
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
