"""What tests of the model share."""

import pytest

from pencilmap.model.bounds import translations


@pytest.fixture(scope="module")
def quick_bounds():
    """A linear program for each machine, not dozens, where bounds need not be sharp; later tests get sharp ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translations, "MOST_PROGRAMS", 0)
        translations._bound.cache_clear()
        yield
    translations._bound.cache_clear()
