"""Tests that do not run are counted at the end, with the reason."""

import subprocess
import sys

from tests.documents import ROOT
from tests.patience import patience


def test_quick_tells_what_it_leaves_out_and_why():
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--quick", "tests/test_package.py",
                           "tests/model/test_decompositions.py"], cwd=ROOT, capture_output=True, text=True,
                          timeout=patience(120))
    summary = done.stdout.partition("= not run =")[2]
    assert done.returncode == 0 and "  takes seconds; run it with scripts/test\n" in summary, done.stdout
    assert "  one of 4 cases of its test runs; run all with scripts/test --slow" in summary
