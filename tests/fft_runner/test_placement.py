"""Mapfile and launcher give the same communicators, and the record has the place of each rank."""

import random

import pytest

QUICK = ["--size", 8, 8, 8, "--grid", "2x4", "--rigor", "estimate", "--reps", 1, "--warmup", 0, "--verify"]
TORUS = ["--machine-torus", "2x2x2"]
NODES_X_FIRST = [(x, y, z) for z in range(2) for y in range(2) for x in range(2)]
NODES_Z_FIRST = [(x, y, z) for x in range(2) for y in range(2) for z in range(2)]


def write_mapfile(path, places):
    path.write_text("".join(" ".join(map(str, place)) + "\n" for place in places))
    return path


def seats(record):
    """Return (rank, coordinate, slot) in order of grid rank."""
    return [(seat["rank"], tuple(seat["coordinate"]), seat["slot"]) for seat in record["placement"]["ranks"]]


def test_assumed_coordinates_run_x_first(run):
    placement = run(8, *QUICK, *TORUS)["placement"]
    assert [tuple(seat["coordinate"]) for seat in placement["ranks"]] == NODES_X_FIRST
    assert placement["coordinate_source"] == "assumed" and placement["self_check"] == "passed"
    assert placement["source"] == "launcher" and placement["tasks_per_node"] == 1


@pytest.mark.parametrize("options, order, places", [
    ([], "tn", [((0,), 0), ((0,), 1), ((1,), 0), ((1,), 1)]),
    (["--launch-order", "nt"], "nt", [((0,), 0), ((1,), 0), ((0,), 1), ((1,), 1)]),
    (["--coordinates", "assumed:xt"], "xt", [((0,), 0), ((1,), 0), ((0,), 1), ((1,), 1)])])
def test_assumed_ranks_fill_a_node_before_the_next_one_and_the_record_names_the_order(run, options, order, places):
    placement = run(4, "--size", 4, 4, 4, "--grid", "2x2", "--machine-torus", "2", "--tasks-per-node", 2,
                    *options)["placement"]
    assert placement["launch_order"] == order
    assert [(tuple(seat["coordinate"]), seat["slot"]) for seat in placement["ranks"]] == places


def test_launcher_and_mapfile_give_the_same_communicators(run, tmp_path):
    path = write_mapfile(tmp_path / "z.map", [(*node, 0) for node in NODES_Z_FIRST])
    launched = run(8, *QUICK, *TORUS, "--launch-order", "zyxt")
    mapped = run(8, *QUICK, *TORUS, "--mapfile", path)
    assert seats(launched) == seats(mapped)
    assert [seat["world_rank"] for seat in launched["placement"]["ranks"]] == list(range(8))
    assert [seat["world_rank"] for seat in mapped["placement"]["ranks"]] == [0, 4, 2, 6, 1, 5, 3, 7]
    assert mapped["placement"]["source"] == "mapfile" and mapped["placement"]["mapfile"] == str(path)


def test_a_mapfile_that_the_launcher_followed_changes_nothing(run, tmp_path):
    path = write_mapfile(tmp_path / "x.map", [(*node, 0) for node in NODES_X_FIRST])
    ranks = run(8, *QUICK, *TORUS, "--mapfile", path)["placement"]["ranks"]
    assert all(seat["rank"] == seat["world_rank"] for seat in ranks)


@pytest.mark.parametrize("seed", [1, 2])
def test_grid_rank_r_sits_where_line_r_says(run, tmp_path, seed):
    places = [(x, y, t) for x in range(2) for y in range(2) for t in range(2)]
    random.Random(seed).shuffle(places)
    path = write_mapfile(tmp_path / "any.map", places)
    record = run(8, *QUICK, "--machine-torus", "2x2:mesh", "--tasks-per-node", 2, "--launch-order", "txy", "--mapfile", path)
    assert seats(record) == [(rank, (x, y), t) for rank, (x, y, t) in enumerate(places)]
    assert record["placement"]["self_check"] == "passed" and record["verify"]["passed"]


def test_comments_and_blank_lines_are_read_over(run, tmp_path):
    path = tmp_path / "commented.map"
    path.write_text("# 1-dimensional\n\n1 0  # rank 0\n0 0\r\n")
    record = run(2, "--size", 4, 4, 4, "--grid", "1x2", "--machine-torus", "2", "--coordinates", "assumed", "--mapfile",
                 path)
    assert [seat["coordinate"] for seat in record["placement"]["ranks"]] == [[1], [0]]


def test_coordinates_come_from_a_table_of_hosts(run, tmp_path):
    host = run(1, "--size", 4, 4, 4, "--grid", "1x1")["placement"]["ranks"][0]["host"]
    (tmp_path / "hosts").write_text(f"# x y\nother 0 0\n{host}\t1 0\n")
    record = run(2, "--size", 4, 4, 4, "--grid", "1x2", "--machine-torus", "2x1", "--tasks-per-node", 2,
                 "--coordinates", f"table:{tmp_path / 'hosts'}")
    assert seats(record) == [(0, (1, 0), 0), (1, (1, 0), 1)] and record["placement"]["coordinate_source"] == "table"
    assert record["placement"]["launch_order"] is None


def test_axes_and_order_of_assumed_coordinates(run):
    record = run(4, "--size", 4, 4, 4, "--grid", "2x2", "--machine-torus", "2x2:axes=ba", "--coordinates", "assumed:abt")
    assert [node for _, node, _ in seats(record)] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert record["placement"]["torus"] == "2x2:axes=ba"


def test_without_a_torus_nothing_is_claimed(run):
    placement = run(2, "--size", 4, 4, 4, "--grid", "1x2")["placement"]
    assert placement["self_check"] == "not-possible" and placement["coordinate_source"] == "none"
    assert [seat["coordinate"] for seat in placement["ranks"]] == [None, None]
    assert [seat["slot"] for seat in placement["ranks"]] == [0, 1]
    assert all(seat["host"] and seat["binding"] for seat in placement["ranks"])


# ---- simulated hosts, whose names have the coordinates -------------------------------------------------------------------

LINE = ["--machine-torus", "8x1x1", "--sync", "clock"]


def test_simulated_ranks_find_themselves_by_host_name(smpirun):
    order = [3, 0, 7, 1, 5, 2, 6, 4]
    record = smpirun([f"node-{x}-0-0" for x in order], *QUICK, *LINE)
    assert [coordinate for _, coordinate, _ in seats(record)] == [(x, 0, 0) for x in order]
    assert record["placement"]["coordinate_source"] == "hostname" and record["verify"]["passed"]
    assert record["phases"]["exchange_row"]["max_s"][0] > 0


def test_simulated_launcher_and_mapfile_agree_to_the_last_digit(smpirun, tmp_path):
    order = [3, 0, 7, 1, 5, 2, 6, 4]
    path = write_mapfile(tmp_path / "line.map", [(x, 0, 0, 0) for x in order])
    launched = smpirun([f"node-{x}-0-0" for x in order], *QUICK, *LINE)
    mapped = smpirun([f"node-{x}-0-0" for x in range(8)], *QUICK, *LINE, "--mapfile", path)
    assert seats(launched) == seats(mapped)
    for exchange in ("exchange_row", "exchange_column"):
        assert launched["phases"][exchange]["max_s"] == pytest.approx(mapped["phases"][exchange]["max_s"], rel=1e-6)


def test_simulated_tasks_of_a_node_get_slots(smpirun):
    record = smpirun([f"node-{x}-0-0" for x in (0, 1, 2, 3)] * 2, *QUICK, "--machine-torus", "4x1x1")
    assert seats(record) == [(rank, (rank % 4, 0, 0), rank // 4) for rank in range(8)]
    assert record["placement"]["tasks_per_node"] == 2
