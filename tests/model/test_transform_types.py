"""Types of transforms: their exchanged data, and the grids that they allow (P3DFFT's eq. 2)."""

import pytest

from pencilmap.model.base.errors import GridError
from pencilmap.model.placement.grid import TYPES, ProcessGrid, Transform, parse_transform, transform_of
from pencilmap.model.traffic.exchange import exchanges


@pytest.mark.parametrize("text, total", [
    ("8", 512 * 16), ("8:c2c:single", 512 * 8), ("8:r2c", 8 * 8 * 5 * 16), ("8x8x9:r2c", 8 * 8 * 5 * 16),
    ("8:c2r:single", 8 * 8 * 5 * 8), ("8:dct", 512 * 8), ("8:dst:single", 512 * 4), ("8:chebyshev", 8 * 8 * 5 * 16),
    ("8x4x2:empty", 8 * 4 * 2 * 16), ("8:fields=3", 512 * 16 * 3), ("8x8x9:r2c:single:fields=2", 8 * 8 * 5 * 8 * 2)])
def test_bytes_that_are_exchanged(text, total):
    assert parse_transform(text).total_bytes == total
    assert str(parse_transform(str(parse_transform(text)))) == str(parse_transform(text))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("fields", [1, 3])
def test_messages_sum_to_the_array(kind, fields):
    """Every element is sent once in each exchange, also to its own task."""
    transform = transform_of((7, 6, 9), kind, fields=fields)
    for exchange in exchanges(ProcessGrid(3, 4), transform):
        sent = exchange.group_weight.sum() * exchange.send_weight.sum() * exchange.receive_weight.sum() * exchange.unit_bytes
        assert sent == transform.total_bytes == exchange.total_bytes


def test_of_a_half_spectrum_some_tasks_hold_nothing():
    assert transform_of((16, 16, 16)).fills(ProcessGrid(16, 4))
    assert not transform_of((16, 16, 16), "r2c").fills(ProcessGrid(16, 4))


def test_an_unknown_type_is_refused_by_the_value_itself():
    with pytest.raises(GridError, match="known are c2c"):
        Transform(8, 8, 8, type="fft")
