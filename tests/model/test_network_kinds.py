"""The table of networks: text forms, classes of links, bandwidths, routings."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from pencilmap.model import kinds
from pencilmap.model.base.errors import NetworkError, PencilmapError, TorusError
from pencilmap.model.kinds import KINDS, ROUTINGS, network_named
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.kinds.reading import bandwidths, numbers, whole


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
