"""Every tool of scripts/lint, which has the commands, reports no error."""

import subprocess
from pathlib import Path

import pytest

from tests.patience import patience

LINT = Path(__file__).resolve().parents[1] / "scripts" / "lint"
QUICK = ("lines", "ruff", "mypy", "clang-format")  # seconds; the others build and analyse all of C, at night
TOOLS = subprocess.run([LINT, "--list"], capture_output=True, text=True, check=True, timeout=patience(60)).stdout.split()
MISSING = 77


@pytest.mark.parametrize("tool", [pytest.param(tool, marks=[] if tool in QUICK else pytest.mark.slow) for tool in TOOLS])
def test_lint_is_clean(tool):
    done = subprocess.run([LINT, tool], capture_output=True, text=True, timeout=patience(900))
    if done.returncode == MISSING:
        pytest.skip(f"NOT TESTED: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_tool_that_is_not_there_is_refused():
    done = subprocess.run([LINT, "lint"], capture_output=True, text=True, timeout=patience(60))
    assert done.returncode == 2 and all(tool in done.stderr for tool in TOOLS)
