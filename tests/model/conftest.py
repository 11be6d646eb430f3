"""Shared fixtures of the tests of the model."""

import pytest

from pencilmap.model.kinds import torus_translations as translations


@pytest.fixture(scope="module")
def quick_bounds():
    """Solve a single linear program for each machine, not dozens; restore sharp bounds at the end of the module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translations, "MOST_PROGRAMS", 0)
        translations._bound.cache_clear()
        yield
    translations._bound.cache_clear()
