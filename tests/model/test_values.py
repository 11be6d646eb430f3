"""Small values: torus, grid, transform, units, patterns, machine files; and refusals of bad values."""

import pickle
from fractions import Fraction
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

from pencilmap.mapper.seeds.products import patterns
from pencilmap.mapper.setting import setting
from pencilmap.model import kinds
from pencilmap.model.base.errors import GridError, MachineError, MappingError, NetworkError, PencilmapError, TorusError
from pencilmap.model.base.units import UNITS, parse
from pencilmap.model.kinds import KINDS, ROUTINGS, network_named
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.kinds.reading import bandwidths, numbers, whole
from pencilmap.model.machines.machine import read_machine
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.product import RingMap, effective_length, pattern_of_images, ring_halves, ring_load
from pencilmap.model.placement.transform import parse_transform


@pytest.mark.parametrize("dims, cables", [((1,), 0), ((2,), 1), ((3,), 3), ((4, 4, 4), 192), ((2, 2), 4), ((1, 5), 5)])
def test_cable_count(dims, cables):
    assert Torus(dims).n_cables == cables


@pytest.mark.parametrize("text", ["", "8x", "x8", "8*8", "8x8:ring", "8wx8:mesh", "0x4", "1x2x3x4x5x6x7x8x9", "-8", "8 x 8",
                                  "99999999999999", "8" * 300])
def test_bad_torus_text_is_refused(text):
    with pytest.raises(TorusError):
        parse_torus(text)


def test_coordinates_and_nodes_are_inverse_with_the_first_dimension_fastest():
    torus = Torus((3, 4, 5))
    nodes = np.arange(60)
    assert torus.node(torus.coordinates(nodes)).tolist() == nodes.tolist()
    assert torus.coordinates(1).tolist() == [1, 0, 0]


@pytest.mark.parametrize("value",
                         [dict(wrap=(True,)), dict(bandwidth=(1.0,)), dict(bandwidth=(1.0, 0.0)), dict(cables=(0, 1)),
                                   dict(axes="xt"), dict(axes="xx"), dict(axes="xyz")])
def test_a_torus_whose_parts_do_not_fit_cannot_be_made(value):
    with pytest.raises(TorusError):
        Torus((4, 4), **value)


def test_grids_of_a_number_multiply_to_it():
    assert [str(g) for g in all_grids(12)] == ["1x12", "2x6", "3x4", "4x3", "6x2", "12x1"]
    for text in ("8x", "8x64x2", "ax4", "-1x4", "8 x 64"):
        with pytest.raises(GridError):
            parse_grid(text)


SPELLINGS = {"byte/s": ("kibibyte/hour", "megaoctet/second", "Tbps", "kilobaud", "Ebits/min"), "byte": ("Pibits", "octet"),
             "s": ("minutes", "µs", "secs", "hr", "nanosecond"), "flop/s": ("teraflops/min", "flop/h")}


@pytest.fixture(scope="module")
def registry():
    """The units of the package pint, from its own definitions, of which flop is missing."""
    found = pytest.importorskip("pint").UnitRegistry()
    found.define("flop = [operation]")
    return found


@pytest.mark.parametrize("unit, kind", [(unit, kind) for kind in UNITS for unit in (*UNITS[kind], *SPELLINGS[kind])])
def test_units_are_those_of_pint(registry, unit, kind):
    assert parse(f"2.75 {unit}", kind) == pytest.approx(registry.Quantity(f"2.75 {unit}").m_as(kind), rel=1e-12)


@pytest.mark.parametrize("text", [
    "", "16x16", "16x16xa", "ax16x16", "16x-1x8", "16xx8", "16x1234567890x8", "1234567890", "٣", "16x²x8", "0x1x1",
    "512:c2c:double:x", "512:nope", "512:x:c2c", "512:fields=", "512:fields=0"])
def test_bad_transforms_are_refused(text):
    with pytest.raises(GridError):
        parse_transform(text)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 12, 16])
def test_every_pattern_is_found_again_from_its_images(n):
    for pattern in patterns(n):
        images = {letter: set(np.flatnonzero(pattern.group(letter) == 0).tolist()) for letter in "rc"}
        assert pattern_of_images(images, n) == pattern


@pytest.mark.parametrize("n", [2, 4, 6, 8, 16])
@pytest.mark.parametrize("ring", [True, False])
def test_formula_equals_the_routed_load_on_even_rings_and_lines_of_two_digits(n, ring):
    """Lines, dense blocks and their complements: the images of the paper."""
    torus = Torus((n,), (ring,))
    for pattern in patterns(n):
        if len(pattern.digits) <= 2:
            for owner in "rc":
                if all(radix % 2 == 0 for _, radix in pattern.digits):
                    assert effective_length(pattern, owner, torus, 0) == ring_load(pattern, owner, torus.is_ring(0)).largest


@pytest.mark.parametrize("tie", ["split", "parity", "plus"])
@pytest.mark.parametrize("ring", [True, False])
def test_the_busiest_link_of_a_line_is_the_first_with_the_largest_load(ring, tie):
    rng, ways = np.random.default_rng(3), set()
    maps = [RingMap(tuple(map(tuple, rng.permutation(12).reshape(3, 4).tolist()))) for _ in range(30)]
    for image in (*patterns(8), *maps):
        for letter in "rc":
            found, halves = ring_load(image, letter, ring, tie), ring_halves(image, letter, ring, tie)
            links = [(load, way, at) for way, loads in zip((1, -1), halves.tolist()) for at, load in enumerate(loads)]
            busiest = max(links, key=lambda link: link[0])
            assert (found.direction, found.position) == busiest[1:]
            assert found.largest == Fraction(2 * busiest[0], image.extent(letter))
            assert found.total == Fraction(2 * sum(load for load, _, _ in links), image.extent(letter))
            ways.add(found.direction)
    assert ways == ({1, -1} if ring and tie == "parity" else {1}), "ties that are not split may be heavier downwards"


@pytest.mark.parametrize("nodes, slots, message", [
    ([0, 1, 2, 2], [0] * 4, "ranks 2 and 3 both sit on node"), ([0, 1, 2, 4], [0] * 4, "rank 3 sits on node 4"),
    ([0, 1, 2, -1], [0] * 4, "rank 3"), ([0, 1, 2, 3], [0, 0, 1, 0], "rank 2 has slot 1"), ([0, 1, 2], [0] * 3, "4 ranks")])
def test_a_mapping_is_one_to_one_or_not_made(nodes, slots, message):
    with pytest.raises(MappingError, match=message):
        Mapping(Torus((2, 2)), ProcessGrid(2, 2), 1, np.array(nodes), np.array(slots))


@pytest.mark.parametrize("damage, word", [
    (lambda t: t.replace('"148 MB/s"', '"148"'), "148"), (lambda t: t.replace('"8x8x8"', '"8by8"'), "8by8"),
    (lambda t: t.replace('title', 'titel'), "title"), (lambda t: t.replace("certain = true", "certain = maybe"), "TOML"),
    (lambda t: t + "\n[colour]\nvalue = 1\n", "colour"),
    (lambda t: t.replace('value = 1\n', 'value = 0\n'), "tasks_per_node")])
def test_a_broken_machine_file_is_refused_with_the_place(damage, word):
    from importlib.resources import files

    text = (files("pencilmap.model.machines") / "bluegene-l.toml").read_text()
    assert damage(text) != text
    with pytest.raises(MachineError, match="my.toml") as error:
        read_machine(damage(text).encode(), "my.toml")
    assert word in str(error.value)


@pytest.mark.parametrize("network, grid, schedule", [("8x8", "8x8", "overlap:2"), ("4x4:mesh", "2x8", "sequence"),
                                                     ("dragonfly:a=2,p=2,h=1", "4x3", "sequence")])
def test_a_prediction_holds_no_functions_and_answers_after_it_was_stored(network, grid, schedule):
    found, = setting(network=network, bandwidth="1 GB/s", fft="48", halo=1).predictions(grid, ["default"], schedule=schedule)
    again = pickle.loads(pickle.dumps(found))
    assert [stage.as_dict() for stage in again.stages] == [stage.as_dict() for stage in found.stages]
    assert again.schedule.load_joint == found.schedule.load_joint
    assert [p.cost for p in again.bracket] == [p.cost for p in found.bracket]


# The table of networks: text forms, classes of links, bandwidths, routings

def test_every_kind_names_routings_that_exist_and_every_routing_has_a_kind():
    named = {name for kind in KINDS.values() for name in (*kind.routings, *kind.bracket)}
    assert named == set(ROUTINGS)
    for name, kind in KINDS.items():
        assert kind.name == name and kind.routings[0] in ROUTINGS and set(kind.bracket) <= set(kind.routings)


def test_no_kind_is_forgotten_in_the_table():
    rows = [row for module in iter_modules(kinds.__path__, f"{kinds.__name__}.")
            for row in vars(import_module(module.name)).values() if isinstance(row, Kind)]
    assert {id(row) for row in rows} == {id(row) for row in KINDS.values()}


@pytest.mark.parametrize("text, error, says", [
    ("fat-treee:leaves=3", NetworkError, "unknown"),
    ("cluster", NetworkError, "write a shape such as 8x8x8"),
    ("4y4", TorusError, "not understood"),
    ("hypercube:9", NetworkError, "1 to 8 dimensions"),
    ("hyperx:4x0,hosts=2", NetworkError, "not understood"),
    ("hyperx:4x4", NetworkError, "hosts is missing"),
    ("fat-tree:leaves=4,hosts=4", NetworkError, "give up=CABLES or taper=RATIO"),
    ("fat-tree:leaves=4,hosts=4,up=2,taper=2", NetworkError, "one of both"),
    ("fat-tree:leaves=4,hosts=4,taper=3", NetworkError, "does not divide the 4 cables below"),
    ("fat-tree:leaves=4,hosts=4,up=4,spines=3", NetworkError, "divisor of up"),
    ("fat-tree:leaves=4,hosts=4,up=4,core=3", NetworkError, "give pods=NUMBER"),
    ("fat-tree:leaves=4,hosts=4,up=4,pods=3,core=3", NetworkError, "do not fill pods=3"),
    ("fat-tree:leaves=4,hosts=4,up=4,rails=3", NetworkError, "no multiple of rails=3"),
    ("fat-tree:leaves=4,hosts=4,up=4,use=both", NetworkError, "even, task"),
    ("fat-tree:leaves=65536,hosts=65536,up=65536", NetworkError, "too many"),
    ("fat-tree:leaves=60000,hosts=1,up=60000", NetworkError, "too many"),
    ("dragonfly:a=4,p=2", NetworkError, "h is missing"),
    ("dragonfly:a=4,p=2,h=1,groups=4,cables=2", NetworkError, "give fewer groups or cables"),
    ("dragonfly:a=4,p=2,cables=2,groups=60000", NetworkError, "too many"),
    ("dragonfly:a=1024,p=1,h=32", NetworkError, "too many"),
    ("dragonfly:a=3,p=2,h=1,rails=2", NetworkError, "no multiple of rails=2"),
    ("dragonfly-plus:leaves=2,spines=2,hosts=2", NetworkError, "groups is missing"),
    ("hyperx:999x999,hosts=2", NetworkError, "too many"),
    ("graph:file.edges", PencilmapError, "give the file of its cables"),
])
def test_bad_texts_are_refused(text, error, says):
    with pytest.raises(error, match=says):
        network_named(text)


@pytest.mark.parametrize("rates, says", [
    ("up=1 GB/s", "class host have no bandwidth"),
    ("up=1 GB/s,hots=2 GB/s", r"did you mean host\?"),
    ("up=1 GB/s,host", "names no class"),
    ("0 GB/s", "more than 0"),
    ({"up": -1.0, "host": 1e9}, "more than 0"),
])
def test_bad_bandwidths_are_refused(rates, says):
    with pytest.raises(NetworkError, match=says):
        bandwidths(rates, ("host", "up"))


@pytest.mark.parametrize("text, says", [
    ("leaves=3,leafs=2", r"'leafs' is unknown \(did you mean leaves\?\)"),
    ("leaves=3,leaves=2", "leaves is given twice"),
    ("leaves", "leaves has no value"),
])
def test_bad_numbers_are_refused(text, says):
    with pytest.raises(NetworkError, match=says):
        numbers("tree", text, {"leaves": ""}, "tree:leaves=2")


@pytest.mark.parametrize("values, says", [({}, "missing"), ({"n": 0}, "1 to 65536"), ({"n": "two"}, "whole number")])
def test_numbers_are_whole(values, says):
    with pytest.raises(NetworkError, match=says):
        whole("tree", values, "n")
    assert whole("tree", {}, "n", 4) == 4
