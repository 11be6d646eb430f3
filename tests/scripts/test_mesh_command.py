"""`plan --axes`: the order of the devices of a machine-learning job on the command line, as `pencilmap.jax` makes it."""

import re
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from pencilmap import jax as ours
from pencilmap.scripts.command_line.meshes import NO_TPU, NOT_INSTALLED
from tests.test_jax import devices

JAX = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed: pip install jax")
SLICE = ("plan", "--machine", "tpu-v6e", "--nodes")
CASES = [("8x16", "data=8:all-reduce:1GB,tensor=16:all-gather:4GB"),
         ("8x16", "expert=16:all-to-all:1GB,tensor=8:all-gather:4GB"), ("16x16", "data=4,fsdp=8,tensor=8"),
         ("16x16", "data=4:all-reduce:1GB,fsdp=8:all-gather:4GB,tensor=8:all-gather:8GB")]


def given(program):
    """The arguments of a printed call of make_mesh."""
    return {name: eval(text) for name, text in re.findall(r"(collectives|network)=(\(.*?\)|\".*?\")", program)}


@JAX
@pytest.mark.parametrize("nodes, axes", CASES)
def test_the_command_says_what_make_mesh_does(nodes, axes, pencilmap_json):
    found = pencilmap_json.one(*SLICE, nodes, "--axes", axes)
    slice_ = devices((*map(int, nodes.split("x")), 1), "TPU v6 lite")
    is_jaxs = "create_device_mesh" in found["program"]
    assert is_jaxs == (found["is_jax"] and found["trade"] is None)
    order = ours._own_order(slice_, found["shape"])[0] if is_jaxs else \
        ours.device_order(slice_, found["shape"], **given(found["program"]))
    assert [[*device.coords, 0] for device in order.ravel()] == np.reshape(found["order"]["devices"], (-1, 4)).tolist()
    assert np.shape(found["order"]["devices"]) == (*found["shape"], 4)


@JAX
def test_the_answer_comes_first_and_a_trade_is_named(pencilmap):
    kept, better = (pencilmap(*SLICE, nodes, "--axes", axes)[1] for nodes, axes in (CASES[1], CASES[3]))
    assert kept.startswith("Keep JAX's own order") and "trade   another order sends 1.47x less in all" in kept
    assert better.startswith("Use this order: beside JAX's own fsdp 1.60 to 2.86x less")
    assert re.search(r"^fsdp +8  all-gather 4GB  x2 y4 folded +1.75 GB  2.8 GB to 5 GB$", better, re.MULTILINE)


@JAX
def test_an_axis_alone_is_compared_with_no_other(pencilmap):
    assert pencilmap(*SLICE, "4x4", "--axes", "a=16:all-to-all:1GB,b=1:permute:1GB")[1].startswith(
        "Keep JAX's own order: none is sure to load the axis less (predicted).")


def test_without_jax_the_answer_says_so(pencilmap, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax.experimental", None)
    status, out, _ = pencilmap(*SLICE, "4x4", "--axes", "a=4,b=4")
    assert status == 0 and NOT_INSTALLED in " ".join(out.split()) and out.startswith("Use this order")


def test_other_tori_are_not_compared_with_jax(pencilmap_json):
    found = pencilmap_json.one("plan", "--network", "4x4", "--axes", "a=4:permute:1GB,one=1,b=4:all-to-all:1GB")
    assert found["not_compared"] == NO_TPU and found["jax"] is None and 'network="4x4"' in found["program"]


def test_a_number_of_chips_takes_the_shape_with_least_bytes(pencilmap_json):
    axes = "a=4:all-to-all:1GB,b=128:all-gather:1GB"
    found, *each = [pencilmap_json.one("plan", "--machine", "tpu-v4", "--nodes", nodes, "--axes", axes)
                    for nodes in ("512", "8x8x8", "4x8x16")]
    least = [sum(sum(axis["link_bytes"]) for axis in answer["order"]["axes"]) for answer in each]
    assert found["network"] == each[least.index(min(least))]["network"] != "8x8x8"


def test_gpus_get_the_segment_of_their_inner_axes(pencilmap, pencilmap_json):
    words = ("plan", "--network", "fat-tree:leaves=8,hosts=8,up=4", "-t", "4", "--axes", "data=8,expert=8,tensor=4")
    _, out, _ = pencilmap(*words)
    assert out.startswith("Ask for 64 nodes in segments of 8") and "#SBATCH --segment=8  # expert, tensor\n" in out
    assert pencilmap_json.one(*words)["segments"] == [{"nodes": 8, "axes": ["expert", "tensor"]}]
    assert pencilmap(*words[:-1], "data=64,tensor=4")[1].startswith("No segment is needed")
