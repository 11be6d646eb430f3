"""Python modules that some tests need and not every machine has."""

from importlib.util import find_spec

import pytest


def needs_module(name, what):
    """Skip, and say what was not tested. pytest.importorskip would start MPI here, and all programs from here on with it."""
    if find_spec(name) is None:
        pytest.skip(f"NOT TESTED: {what}")
