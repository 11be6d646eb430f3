"""Networks whose routers adapt: the answer shows the placement under each rule between which they are."""

from pencilmap.mapper.setting import setting
from pencilmap.scripts.command_line.tables import bracket_lines


def test_the_lines_have_all_rules_unless_a_rule_was_named():
    where = setting(torus="dragonfly:a=4,p=2,h=2")
    found = where.predictions("12x6", ["default"])
    assert bracket_lines(found) == ["routers adapt, 12x6 default: minimal 16, ideal-adaptive 7.4, valiant 12.95"]
    assert bracket_lines(where.predictions("12x6", ["default"], routing="valiant")) == []
    timed = setting(torus="dragonfly:a=4,p=2,h=2", fft="72", bandwidth="host=25 GB/s,local=25 GB/s,global=50 GB/s")
    assert bracket_lines(timed.predictions("12x6", ["default"])) == [
        "routers adapt, 12x6 default: minimal 0.01217 ms, ideal-adaptive 0.005806 ms, valiant 0.009637 ms"]
