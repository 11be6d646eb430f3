"""Partition shapes: complete, ranked by valid times, with no loss from skipped searches; tables, JSON and plots."""

from fractions import Fraction
from itertools import product as cartesian
from math import prod

import pytest

from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.shapes import partition_shapes, torus_shapes
from pencilmap.mapper.studies.node_counts import rank_shapes, scale, weak_transform
from pencilmap.model.base.errors import GridError
from pencilmap.model.machines.machine import load_machine, machine_names, machine_partitions
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.pictures import runs

COSTS = Costs(hop_latency_s=1e-6, injection_per_node=300e6, message_cost_s=5e-6, contention=0.5, fft_rate_per_task=1e9,
              memory_bandwidth_per_node=1e9)
FAST = Torus((1, 1, 1), bandwidth=(150e6,) * 3)


# the list of shapes


@pytest.mark.parametrize("n, d", [(1, 3), (7, 2), (24, 3), (36, 3), (16, 4), (64, 2), (30, 5)])
def test_shapes_are_all_factorisations_but_for_their_order(n, d):
    divisors = [k for k in range(1, n + 1) if n % k == 0]
    expected = {tuple(sorted(s)) for s in cartesian(divisors, repeat=d) if prod(s) == n}
    found = [t.shape for t in torus_shapes(n, d)]
    assert len(found) == len(set(found)) and {tuple(sorted(s)) for s in found} == expected


@pytest.mark.parametrize("name", [name for name in machine_names()
                                  if not isinstance(load_machine(name).network, GraphNetwork)])
def test_partitions_of_a_machine_differ_by_more_than_order(name):
    machine = load_machine(name)
    sizes = machine.partition_rule().sizes()
    for n_nodes in {sizes[0], sizes[len(sizes) // 2], sizes[-1]}:
        found, every = partition_shapes(machine, n_nodes), machine_partitions(machine, n_nodes)
        kinds = [sorted((n, t.is_ring(i), t.bandwidth[i]) for i, n in enumerate(t.shape)) for t in found]
        assert all(kinds.count(kind) == 1 for kind in kinds) and set(found) <= set(every)
        for t in every:
            assert sorted((n, t.is_ring(i), t.bandwidth[i]) for i, n in enumerate(t.shape)) in kinds


# their ranking


@pytest.mark.parametrize("n, d, tasks", [(16, 2, 1), (12, 3, 2), (16, 4, 1)])
@pytest.mark.parametrize("costs", [Costs(), COSTS], ids=["bound", "all terms"])
def test_the_ranking_is_that_of_every_shape_and_grid_predicted_for_itself(n, d, tasks, costs):
    transform = Transform(96, 96, 96)
    like = Torus((1,) * d, bandwidth=(150e6,) * d)
    expected = []
    for torus in torus_shapes(n, d, like):
        grids = [predict(best_product(torus, g, tasks), transform, costs=costs)
                 for g in (ProcessGrid(r, n * tasks // r) for r in range(1, n * tasks + 1) if n * tasks % r == 0)
                 if transform.divides_evenly(g)]
        expected.append((min(p.known_s for p in grids), torus))
    found = rank_shapes(torus_shapes(n, d, like), tasks, transform, costs)
    assert [s.best.known_s for s in found] == pytest.approx(sorted(t for t, _ in expected))
    assert {s.torus: s.best.known_s for s in found} == {torus: pytest.approx(time) for time, torus in expected}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("costs", [Costs(), COSTS], ids=["bound", "all terms"])
@pytest.mark.parametrize("top", [1, 2, 5])
def test_shapes_that_are_not_searched_would_not_be_faster(top, costs):
    transform, tori = Transform(128, 128, 128), torus_shapes(48, 3, FAST)
    some, every = (rank_shapes(tori, 2, transform, costs, top=k, grids=1) for k in (top, None))
    assert [s.best.known_s for s in some[:top]] == [s.best.known_s for s in every[:top]]
    slowest = some[top - 1].best.known_s
    times = {s.torus: s.best.known_s for s in every}
    left = [s for s in some if not s.best]
    assert left and all(times[s.torus] >= slowest for s in left)


@pytest.mark.parametrize("wanted", [1, 2, 4])
def test_grids_that_are_not_timed_in_full_would_not_be_faster(wanted):
    tori = [Torus((4, 8), bandwidth=(150e6,) * 2), Torus((3, 4, 5), bandwidth=(150e6,) * 3)]
    for torus in tori:
        some, every = (rank_shapes([torus], 4, Transform(240, 240, 240), COSTS, grids=k)[0] for k in (wanted, None))
        assert [p.time_s for p in some.predictions] == [p.time_s for p in every.predictions[:wanted]]


def test_grids_that_leave_tasks_without_data_are_tried_where_all_do():
    shape, = rank_shapes([Torus((2, 2, 2))], 1, Transform(2, 4, 4))
    busy = [str(p.grid) for p in shape.predictions if not p.idle_tasks]
    assert busy == ["4x2"] == [str(p.grid) for p in shape.predictions][:1]  # grids with idle tasks come last
    shape, = rank_shapes([Torus((2, 2, 2))], 1, Transform(1, 1, 1))
    assert {str(p.grid) for p in shape.predictions} == {"1x8", "2x4", "4x2", "8x1"}


# scaling


@pytest.mark.parametrize("ratio", [1, 2, 6, 7, 64, Fraction(1, 2), Fraction(3, 4), Fraction(27, 8)])
def test_weak_scaling_keeps_the_elements_of_a_node(ratio):
    start = Transform(512, 256, 512)
    scaled = weak_transform(start, ratio)
    assert Fraction(scaled.total_bytes, start.total_bytes) == ratio


def test_a_transform_that_cannot_shrink_is_refused():
    with pytest.raises(GridError, match="cannot shrink by 3"):
        weak_transform(Transform(512, 512, 512), Fraction(4, 3))


# the command

BGL = ("--machine", "bluegene-l", "--fft", "512")


def test_the_table_is_ranked_and_json_says_the_same(pencilmap, pencilmap_json):
    arguments = ("study", "shapes", "--nodes", "1024", "--torus-dimensions", "3", "--bandwidth", "148 MB/s", "--fft", "512",
                 "--top", "3", "--grids", "2")
    found = pencilmap_json.one(*arguments)
    assert [len(s["predictions"]) for s in found["shapes"]] == [2, 2, 2]
    times = [s["predictions"][0]["t_s"] for s in found["shapes"]]
    assert times[0] <= 1.01 * min(times)  # in a tie the fewest messages come first
    assert len(found["shapes"]) + len(found["slower"]) == len(torus_shapes(1024, 3))
    status, out, _ = pencilmap(*arguments, "--wide")
    at = [out.index(s["torus"]) for s in found["shapes"]]
    assert status == 0 and at == sorted(set(at))
    assert f"{len(found['slower'])} more shapes are not faster" in out


def test_without_a_transform_lengths_are_ranked(pencilmap, pencilmap_json):
    found = pencilmap_json.one("study", "shapes", "--nodes", "64", "-d", "3")
    assert found["transform"] is None and found["shapes"][0]["torus"] == "4x4x4" and found["shapes"][0]["bound_s"] is None
    assert "m = 2" in pencilmap("study", "shapes", "--nodes", "64", "-d", "3")[1]


@pytest.mark.parametrize("kind", ["strong", "weak"])
def test_scaling_studies_give_table_json_and_plot(kind, pencilmap, pencilmap_json, tmp_path):
    arguments = ("study", "shapes", "--nodes", "512,1024,2048", *BGL, "--scaling", kind)
    found = pencilmap_json.one(*arguments, "--plot", tmp_path / "a.svg")
    assert [p["nodes"] for p in found["points"]] == [512, 1024, 2048] and found["scaling"] == kind
    assert found["points"][0]["efficiency"] == 1
    assert [p["transform"] for p in found["points"]][2] == {"strong": "512x512x512", "weak": "1024x1024x512"}[kind]
    text = (tmp_path / "a.svg").read_text()
    for words in ("predicted time, ms", "efficiency, %", "ideal", "512: 8x8x8", f"{kind} scaling"):
        assert words in text
    status, out, _ = pencilmap(*arguments, "--plot", tmp_path / "b.svg")
    assert status == 0 and "wrote" in out and "100.0 %" in out
    assert (tmp_path / "b.svg").read_text() == text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("draw", ["ranking", "scaling"])
@pytest.mark.parametrize("machine", ["bluegene-l", "bluegene-q", "fugaku"])
def test_no_text_of_a_plot_lies_on_another_or_beside_the_page(draw, machine, captured, check_texts):
    described = load_machine(machine)
    counts = [512, 1024, 2048, 4096] if machine != "fugaku" else [768, 1536, 3072]
    points = scale(lambda n: partition_shapes(described, n), counts, Transform(1024, 1024, 1024), "strong", top=4, grids=1,
                   costs=described.costs)
    title = "a title that is long enough to be broken into more than one line, for that is what titles of pictures are"
    check_texts(captured(runs, lambda: runs.draw_scaling(points, "strong", "a.svg", title)
                         if draw == "scaling" else
                         runs.draw_shapes([s for s in points[-1].shapes if s.best], "a.svg", title)))
