"""No file ends in a traceback: whatever a parser raises is the error of its reader, and a sentence."""

import json
import tomllib
from dataclasses import replace

import pytest

from pencilmap.mapper import allocations, formats, graphs, records
from pencilmap.mapper.formats.format import Job
from pencilmap.model.allocation import Site
from pencilmap.model.errors import AllocationError, GraphError, MachineError, MapfileError, RecordError, shortened
from pencilmap.model.machine import load_machine, read_machine
from pencilmap.model.torus import Torus

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


def test_messages_are_short_whatever_was_given():
    assert load_machine("bluegene-l").name == "bluegene-l"
    message = shortened(f"name {'a' * 10_000} is unknown; known are b")
    assert len(message) == 400 and message.endswith("is unknown; known are b")
