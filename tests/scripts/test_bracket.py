"""Networks whose routers adapt: the answer shows the placement under each rule between which they are."""

from dataclasses import replace

import numpy as np

from pencilmap.mapper.setting import setting
from pencilmap.model.base.units import to_limit
from pencilmap.model.network.kinds import network_named
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.ranking import quick
from pencilmap.scripts.command_line.answers import answer
from pencilmap.scripts.command_line.predictions import bracket_lines

RATES = "host=25 GB/s,local=25 GB/s,global=50 GB/s"


def launched(bandwidth=None):
    return Mapping(network_named("dragonfly:a=4,p=2,h=2", bandwidth=bandwidth), ProcessGrid(12, 6), 1, np.arange(72),
                   np.zeros(72), name="default")


def test_the_lines_have_all_rules_unless_a_rule_was_named():
    assert bracket_lines([predict(launched())]) == [
        "routers adapt, 12x6 default: minimal 16, ideal-adaptive 7.4, valiant 12.95"]
    assert bracket_lines([predict(launched(), routing_name="valiant")]) == []
    assert bracket_lines([replace(predict(launched()), placement=name) for name in ("best", "default")]) == [
        "routers adapt, 12x6 best, default: minimal 16, ideal-adaptive 7.4, valiant 12.95"]
    assert bracket_lines([predict(launched(RATES), Transform(72, 72, 72))]) == [
        "routers adapt, 12x6 default: minimal 0.01217 ms, ideal-adaptive 0.005806 ms, valiant 0.009637 ms"]
    assert bracket_lines([quick(predict(launched()))]) == [
        "routers adapt, 12x6 default: minimal 16, valiant 12.95; ideal-adaptive: --effort normal"]


def test_the_distance_to_the_limit_names_the_routing_that_comes_nearest():
    """The limit holds for any routing, so minimal routes may be far above it although the placement is good."""
    found = predict(launched(RATES), Transform(72, 72, 72))
    minimal, ideal, _ = found.bracket
    assert f"{to_limit(minimal.certificate)} above the proved least of this grid under any routing, " \
        f"{to_limit(ideal.certificate)} with routing ideal-adaptive" in answer([found])
    named = answer([predict(launched(RATES), Transform(72, 72, 72), routing_name="minimal")])
    assert named.endswith("above the proved least of this grid")


def test_a_halo_counts_under_every_rule():
    where = setting(network="dragonfly-plus:leaves=2,spines=2,hosts=2,groups=2", bandwidth="25 GB/s", fft="16", halo=1)
    placed = where.place("default", ProcessGrid(2, 4))
    halos = {found.routing: found.halo_s for found in where.predict(placed).bracket}
    assert halos == {rule: where.predict(placed, rule).halo_s for rule in halos} and len(halos) == 3 and all(halos.values())
