"""Networks whose routers adapt: the answer shows the placement under each rule between which they are."""

from dataclasses import replace

import numpy as np

from pencilmap.mapper.setting import setting
from pencilmap.model.kinds import network_named
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.ranking import quick
from pencilmap.scripts.command_line.answers import Answer, Launched
from pencilmap.scripts.command_line.comparisons import by_routing
from pencilmap.scripts.command_line.predictions import bracket_lines

LOAD = "times the data of a node"
RATES = "host=25 GB/s,local=25 GB/s,global=50 GB/s"


def launched(bandwidth=None):
    return Mapping(network_named("dragonfly:a=4,p=2,h=2", bandwidth=bandwidth), ProcessGrid(12, 6), 1, np.arange(72),
                   np.zeros(72), name="default")


def test_the_lines_have_all_rules_unless_a_rule_was_named():
    assert bracket_lines([predict(launched())]) == [
        f"routers adapt, 12x6 default: minimal 4 {LOAD}, ideal-adaptive 1.85 {LOAD}, valiant 3.238 {LOAD}"]
    assert bracket_lines([predict(launched(), routing_name="valiant")]) == []
    assert bracket_lines([replace(predict(launched()), placement=name) for name in ("best", "default")]) == [
        f"routers adapt, 12x6 best, default: minimal 4 {LOAD}, ideal-adaptive 1.85 {LOAD}, valiant 3.238 {LOAD}"]
    assert bracket_lines([predict(launched(RATES), Transform(72, 72, 72))]) == [
        "routers adapt, 12x6 default: minimal 0.01217 ms, ideal-adaptive 0.005806 ms, valiant 0.009637 ms"]
    assert bracket_lines([quick(predict(launched()))]) == []  # a rule is left out


def test_a_bound_is_of_one_routing_and_a_range_of_all():
    """The bound holds for any routing, so minimal routes may be far above it although the placement is good."""
    found = predict(launched(RATES), Transform(72, 72, 72))
    assert Answer(found).first("x") == \
        "x takes 0.005806 ms to 0.01217 ms (0.0058 to 0.079), by how the routers adapt (predicted)."
    bounds = "at most 2.10x more is possible under minimal routing, nothing under ideal-adaptive (proved)."
    assert Answer(found).second().endswith(bounds)
    for routing, bound in (("minimal", "at most 2.10x more is possible"), ("ideal-adaptive", "no placement is faster")):
        named = predict(launched(RATES), Transform(72, 72, 72), routing_name=routing)
        assert Answer(named).second().endswith(f"{bound} (proved).")


def test_a_quick_look_says_its_rule_and_no_file_the_range_of_the_launch_order():
    """Line 2 is about the launch order if no file is needed; a quick look names the one rule that it asked."""
    found = predict(launched(RATES), Transform(72, 72, 72))
    other = predict(replace(launched(RATES), node_of_rank=np.arange(72).reshape(12, 6).T.ravel(), name="best"),
                    Transform(72, 72, 72))
    answer = Answer(found, Launched((("block order", other),)), effort="normal")
    assert answer.is_range and not answer.has_gain
    assert answer.sentences("x")[1].endswith(Answer(other).first("x").removeprefix("x"))
    said = Answer(quick(found), effort="quick").first("x")
    assert said == "x takes 0.01217 ms (0.012 to 0.079; predicted, under minimal routing)."


def test_under_all_rules_times_have_no_range_of_one_rule():
    where = setting(network="4x4", bandwidth="1 GB/s", fft="128")
    found = where.predictions("4x4", ("default:tyx",), routing="all")
    said = by_routing(found, "x")[0]
    assert any(p.likely for p in found) and " ms to " in said and said.endswith(" ms, by the routing (predicted).")


def test_a_halo_counts_under_every_rule():
    where = setting(network="dragonfly-plus:leaves=2,spines=2,hosts=2,groups=2", bandwidth="25 GB/s", fft="16", halo=1)
    placed = where.place("default", ProcessGrid(2, 4))
    halos = {found.routing: found.halo_s for found in where.predict(placed).bracket}
    assert halos == {rule: where.predict(placed, rule).halo_s for rule in halos} and len(halos) == 3 and all(halos.values())
