"""The table of further shapes: the file's figures are reproduced, and `best` is never worse than digit patterns."""

import pytest

from pencilmap.scripts.maintenance import compare_shapes

CASES = compare_shapes.cases()


def test_best_is_nowhere_worse_than_digit_patterns_and_the_page_shows_the_file():
    assert len(CASES) == 20
    for case in CASES:
        assert all(float(case[f"bound{end}"]) <= float(case[f"best{end}"]) + 1e-4
                   and float(case[f"best{end}"]) <= float(case[f"digits{end}"]) + 1e-4 for end in ("", "_joint")), case
    assert compare_shapes.short_table(CASES) in compare_shapes.PAGE.read_text("utf-8")


@pytest.mark.parametrize("case", [CASES[0], *(pytest.param(case, marks=pytest.mark.slow) for case in CASES[1:])],
                         ids=lambda case: f"{case['torus']},{case['grid']}")
def test_a_shape_is_found_again(case):
    found = compare_shapes.tried(case)
    seconds = {name for name in found if name.startswith("cpu")}
    assert all(float(found[name]) > 0 for name in seconds)
    assert {name: found[name] for name in found if name not in seconds} == {
        name: case[name] for name in found if name not in seconds}
