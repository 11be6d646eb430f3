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


@pytest.mark.parametrize("wrap, rings", [("torus", [True] * 2), ("mesh", [False] * 2)])
def test_one_wrap_replaces_those_of_the_network(pencilmap_json, wrap, rings):
    found, = pencilmap_json("predict", "--network", "4wx4", "--grid", "4x4", "-p", "default", "--wrap", wrap)
    assert found["wrap"] == rings


def test_the_sentence_compares_the_wraps(pencilmap):
    status, out, _ = pencilmap("predict", *ASKED, "--grid", "8x64", "-p", "box:2x2x2", "--wrap", "both")
    assert status == 0 and "8x8x8:mesh" in out and "The open mesh is 1.23x slower: " in " ".join(out.split())


def test_an_image_that_needs_no_ring_is_as_fast_on_the_mesh(pencilmap, pencilmap_json):
    """Sec. 7.4: rows on boxes of 4x4x4 take the same time on torus and mesh; with one row there are no others."""
    asked = ("predict", "--network", "4x4x4", "--bandwidth", "148 MB/s", "--fft", "64", "--grid", "8x8", "-p", "box:2x2x2")
    torus, mesh = pencilmap_json(*asked, "--wrap", "both")
    assert torus["stages"][0] == mesh["stages"][0] and torus["stages"][1]["t_s"] < mesh["stages"][1]["t_s"]


@pytest.mark.parametrize("nodes", [(), ("--nodes", "1024")])
def test_a_plan_shows_the_best_of_each_wrap(pencilmap, pencilmap_json, nodes):
    asked = ("plan", *ASKED, *nodes, "--effort", "quick", "--top", "1", "--wrap", "both")
    torus, mesh = pencilmap_json(*asked)
    assert torus["wrap"] == [True] * 3 and mesh["wrap"] == [False] * 3 and torus["total_s"] < mesh["total_s"]
    _, out, _ = pencilmap(*asked)
    assert "The open mesh is 1." in " ".join(out.split())


@pytest.mark.parametrize("words, part", [
    (("--network", "4x4", "--wrap", "bth"), "did you mean both"),
    (("--network", "fat-tree:leaves=4,hosts=4,up=4", "--wrap", "both"), "a torus or mesh is needed"),
    (("--network", "4x4", "--wrap", "both", "--page", "page.html"), "give --wrap torus or --wrap mesh")])
def test_wrong_wraps_are_refused(pencilmap, words, part):
    status, out, err = pencilmap("predict", *words, "--grid", "4x4", "-p", "default")
    assert status in (1, 2) and out == "" and part in " ".join(err.split())
