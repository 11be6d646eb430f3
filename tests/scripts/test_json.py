"""JSON of the predicting commands: always a list of predictions that satisfies the schema of the package."""


import pytest

from pencilmap.model.machines.machine import load_machine

BGL = ("--machine", "bluegene-l", "--fft", "512")


def test_the_slab_is_one_exchange_that_moves_everything(pencilmap_json):
    """Like the row of a grid of one row, whose other exchange is empty; the slab copies less."""
    slab, = pencilmap_json("predict", *BGL, "--decomposition", "slab", "--grid", "512", "-p", "default")
    pencil, = pencilmap_json("predict", *BGL, "--grid", "512x1", "-p", "default")
    empty = pencil["stages"][1]
    assert empty["time_s"] == 0 and slab["certificate"] == 1.0
    assert {**slab["stages"][0], "name": "row"} == pencil["stages"][0]
    assert slab["terms_local"]["fft_s"] == pencil["terms_local"]["fft_s"]
    packing = 511 * load_machine("bluegene-l").costs.copy_cost_s
    assert slab["terms_local"]["memory_s"] - packing == pytest.approx(5 / 7 * (pencil["terms_local"]["memory_s"] - packing))
