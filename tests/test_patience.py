"""No test has a fixed time limit, because the test would fail on a busy machine."""

import ast
import os
from pathlib import Path

import pytest

from tests.patience import patience

TESTS = Path(__file__).parent
STARTED = "fft_runner/python_"  # programs with limits in the tests that start the programs


@pytest.mark.parametrize("loads, times", [("0.50 1 1 1/99 7", 1), ("{0} 1 1 1/99 7", 10), ("0.50 1 1 {0}/999 7", 10)])
def test_limits_grow_with_the_load(tmp_path, loads, times):
    """For a load that has lasted for a minute and for a load that has just begun."""
    path = tmp_path / "loadavg"
    path.write_text(loads.format(10 * len(os.sched_getaffinity(0))))
    assert patience(60, path) == 60 * times


def is_fixed(limit):
    """Whether an expression contains a number of seconds outside patience()."""
    if isinstance(limit, ast.Call) and getattr(limit.func, "id", None) == "patience":
        return False
    if isinstance(limit, ast.Constant):
        return isinstance(limit.value, int | float) and limit.value > 1
    return (isinstance(limit, ast.Name) and limit.id.endswith("_S")) or any(map(is_fixed, ast.iter_child_nodes(limit)))


def limits(tree):
    """Return the arguments `timeout`, the arguments of wait(), and the terms added to monotonic()."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (one.value for one in node.keywords if one.arg == "timeout")
            if getattr(node.func, "attr", None) == "wait":
                yield from node.args
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and "monotonic()" in ast.unparse(node.left):
            yield node.right


def fixed(text):
    return [ast.unparse(limit) for limit in limits(ast.parse(text)) if is_fixed(limit)]


def test_no_limit_of_time_is_fixed():
    found = {name: fixed(path.read_text("utf-8")) for path in sorted(TESTS.rglob("*.py"))
             if not (name := str(path.relative_to(TESTS))).startswith(STARTED)}
    assert {name: limits for name, limits in found.items() if limits} == {}, "give patience() the seconds of a free machine"
