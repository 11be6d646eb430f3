"""Networks whose routers adapt: the answer shows the placement under each rule between which they are."""

import numpy as np

from pencilmap.model.network.kinds import network_named
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.scripts.command_line.predictions import bracket_lines

RATES = "host=25 GB/s,local=25 GB/s,global=50 GB/s"


def launched(bandwidth=None):
    return Mapping(network_named("dragonfly:a=4,p=2,h=2", bandwidth=bandwidth), ProcessGrid(12, 6), 1, np.arange(72),
                   np.zeros(72), name="default")


def test_the_lines_have_all_rules_unless_a_rule_was_named():
    assert bracket_lines([predict(launched())]) == [
        "routers adapt, 12x6 default: minimal 16, ideal-adaptive 7.4, valiant 12.95"]
    assert bracket_lines([predict(launched(), routing_name="valiant")]) == []
    assert bracket_lines([predict(launched(RATES), Transform(72, 72, 72))]) == [
        "routers adapt, 12x6 default: minimal 0.01217 ms, ideal-adaptive 0.005806 ms, valiant 0.009637 ms"]
