"""The command line's --routing with arguments, --routing all, and --graph."""

from pathlib import Path

import pytest

from pencilmap.mapper.graphs import GRAPHS
from pencilmap.model.kinds import ROUTINGS
from pencilmap.model.kinds.torus_adaptive import CHOICES
from pencilmap.model.network.torus import TIES


@pytest.fixture
def fat_tree(tmp_path):
    """Two leaf switches of two hosts each, and one spine."""
    lines = [f"{leaf}{k} leaf-{leaf} 1 GB/s" for leaf in "ab" for k in range(2)]
    lines += [f"leaf-{leaf} spine 2 GB/s" for leaf in "ab"]
    lines += [f"{switch} {{'kind': 'switch'}}" for switch in ("leaf-a", "leaf-b", "spine")]
    path = tmp_path / "tree.edges"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_all_rules_lie_between_the_cut_bound_and_each_other(pencilmap_json):
    lines = pencilmap_json("predict", "--network", "4x4x2", "-g", "4x8", "-p", "default:yzxt", "--routing", "all",
                           "--fft", "32", "--bandwidth", "1 GB/s")
    named = [p["routing"] for p in lines]
    assert named[:3] == ["any (cut bound)", "optimal-minimal", "dimension-order"]
    assert {"dimension-order:parity", "dimension-order:plus", "minimal-adaptive:hops", "minimal-adaptive:paths"} < set(named)
    times = [p["t_s"] for p in lines]
    assert times[0] <= times[1] * (1 + 1e-6) and all(times[1] <= t * (1 + 1e-6) for t in times[2:])
    assert lines[0]["certificate"] is None and lines[0]["stages"][0]["busiest"] is None and lines[0]["time_s"] is None


def test_all_rules_without_the_linear_program_where_it_is_too_large(pencilmap):
    status, out, err = pencilmap("predict", "--network", "16x16x16", "-g", "64x64", "-p", "box:4x4x4", "--routing", "all",
                                 "--notes")
    assert status == 0 and "  note    without optimal-minimal\n" in out and " %: routing dimension-order\n" in err
    assert not any("optimal-minimal " in line for line in out.splitlines() if "note " not in line)
    assert "the least is that of dimension-order." in out


def test_a_file_is_checked_under_all_rules(pencilmap_json, fat_tree, tmp_path):
    (tmp_path / "hosts").write_text("a0\nb0\na1\nb1\n")
    found = pencilmap_json.one("check", tmp_path / "hosts", "--network", fat_tree, "-g", "2x2", "--routing", "all")
    rules = [p["routing"] for p in found["predictions"]]
    assert found["valid"] and rules == ["any (cut bound)", "optimal-minimal", "shortest-path", "each-hop", "static"]


def test_the_document_names_every_rule_and_every_format():
    text = (Path(__file__).resolve().parents[2] / "docs" / "routing.md").read_text()
    for name in (*ROUTINGS, *GRAPHS, *TIES, *CHOICES):
        assert f"`{name}" in text or f":{name}" in text, name
