"""Limits of model and mapper, each made small: the limit itself is accepted, and one more is refused in words."""

import importlib
import re

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.allocations import hwloc, look_around
from pencilmap.mapper.formats.lines import Document, leaves
from pencilmap.mapper.graphs.hwloc import bits
from pencilmap.mapper.placements import place
from pencilmap.mapper.runs.records import read_records
from pencilmap.mapper.shapes import torus_shapes
from pencilmap.model.base.errors import AllocationError, PencilmapError, RecordError
from pencilmap.model.base.reading import MOST_DEPTH, check_xml, parse_toml, parse_xml, parse_yaml
from pencilmap.model.base.units import parse
from pencilmap.model.kinds.torus_adaptive import minimal_adaptive_loads
from pencilmap.model.kinds.torus_routes import TorusOptimum
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, Transform
from pencilmap.model.schedules import parse_schedule
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.command_line.job_network import network_lines
from tests.mapper import run_records


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
    return list(hwloc._cores(parse_xml(f"<topology><object type='Machine'>{core * count}</object></topology>")))


CASES = {  # module, constant, its small value, an input at the limit, the call, words of the refusal
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
    "cores": ("mapper.allocations.hwloc", "MAX_CORES", 3, 3, cores, "more than 3 cores in one node"),
    "processors": ("mapper.graphs.hwloc", "MAX_PROCESSORS", 64, 2, lambda n: bits(",".join(["0x1"] * n)),
                   "a set of 96 processors; at most 64"),
    "shapes": ("mapper.shapes", "MAX_SHAPES", 3, 12, lambda n: torus_shapes(12 * (n - 11), 2),
               "24 nodes have more than 3 shapes of 2 dimensions"),
    "dimensions of shapes": ("mapper.shapes", "MAX_DIMENSIONS", 3, 3, lambda n: torus_shapes(4, n),
                             "4 dimensions; a torus"),
    "lists in lists": ("mapper.formats.lines", "MAX_DEPTH", 3, 3, lambda n: leaves(Document(
        b"[" * n + b"1" + b"]" * n, "m")), "a list is not expected here"),
    "digits in lists": ("mapper.formats.lines", "MAX_DIGITS", 4, 4, lambda n: leaves(Document(
        b"[" + b"7" * n + b"]", "m")), "77777 is not expected here"),
    "places of a tiling": ("mapper.seeds.tilings", "MOST_PLACES", 16, 4, lambda n: place(
        "lattice:seed=1,evaluations=50", Site(Torus((n, 4))), ProcessGrid(n, 4)), "up to 16 slots, and torus 5x4 has 20"),
}


@pytest.mark.parametrize("case", CASES)
def test_just_so_much_is_taken_and_one_more_is_refused(case, monkeypatch):
    module, name, value, enough, call, words = CASES[case]
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
