"""`--wrap`: one partition as a torus and as an open mesh, in one answer."""

import pytest

ASKED = ("--machine", "bluegene-l", "--fft", "512")


def longest(prediction):
    return [max(stage["m"]) for stage in prediction["stages"]]


def test_both_wraps_are_those_of_the_shapes_named_apart(pencilmap_json):
    """The paper's mappings, sec. 7.1: each alone, and both in one answer; open dimensions double lengths that wrap."""
    named = (*ASKED, "--grid", "8x64", "-p", "box:2x2x2", "-p", "default:zyxt")
    both = pencilmap_json("predict", *named, "--wrap", "both")
    apart = [p for shape in ("8x8x8:torus", "8x8x8:mesh") for p in pencilmap_json("predict", *named, "--network", shape)]
    for one, other in zip(both, apart, strict=True):
        assert (one["wrap"], one["stages"], one["total_s"]) == (other["wrap"], other["stages"], other["total_s"])
    assert [longest(p) for p in both] == [[2, 4], [4, 4], [2, 8], [8, 8]]


@pytest.mark.parametrize("nodes", [(), ("--nodes", "1024")])
def test_a_plan_shows_the_best_of_each_wrap(pencilmap, pencilmap_json, nodes):
    asked = ("plan", *ASKED, *nodes, "--effort", "quick", "--top", "1", "--wrap", "both")
    torus, mesh = pencilmap_json(*asked)
    assert torus["wrap"] == [True] * 3 and mesh["wrap"] == [False] * 3 and torus["total_s"] < mesh["total_s"]
    _, out, _ = pencilmap(*asked)
    assert "The open mesh is 1." in " ".join(out.split())
