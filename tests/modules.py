"""Python modules and programs that some tests need and some machines lack."""

import shutil
from importlib.util import find_spec

import pytest


def needs_module(name, what):
    """Skip with the name of the untested part. pytest.importorskip would start MPI here, and in all later programs."""
    if find_spec(name) is None:
        pytest.skip(f"NOT TESTED: {what}")


needs_simgrid = pytest.mark.skipif(not shutil.which("smpirun"),
                                   reason="NOT TESTED: SimGrid is missing; scripts/setup installs it")
