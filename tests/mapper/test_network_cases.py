"""The table of networks: the file's figures are found again, and `best` is nowhere worse than the launch order or Scotch."""

import pytest

from pencilmap.scripts.maintenance import compare_networks

CASES = compare_networks.cases()


def test_best_is_nowhere_worse_and_the_page_shows_the_file():
    assert len(CASES) >= 20
    for case in CASES:
        assert float(case["bound"]) <= float(case["best"]) + 1e-4, case
        assert not compare_networks.is_worse(case), case
    assert compare_networks.table(compare_networks.of_each_kind(CASES)) in compare_networks.PAGE.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['network']},{case['hosts']},{case['grid']}")
def test_a_network_is_found_again(case):
    found = compare_networks.tried(case, scotch=False)
    assert {name: found[name] for name in found if name != "cpu_s"} == {name: case[name] for name in case if name != "cpu_s"}
