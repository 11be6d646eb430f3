"""`plan --axes`: the order of the devices of a machine-learning job on the command line, as `pencilmap.jax` makes it."""

import re
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from pencilmap import jax as ours
from pencilmap.scripts.command_line.meshes import NOT_INSTALLED
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


def test_without_jax_the_answer_says_so(pencilmap, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax.experimental", None)
    status, out, _ = pencilmap(*SLICE, "4x4", "--axes", "a=4,b=4")
    assert status == 0 and NOT_INSTALLED in " ".join(out.split()) and out.startswith("Use this order")


def test_a_number_of_chips_takes_the_shape_with_least_bytes(pencilmap_json):
    axes = "a=4:all-to-all:1GB,b=128:all-gather:1GB"
    found, *each = [pencilmap_json.one("plan", "--machine", "tpu-v4", "--nodes", nodes, "--axes", axes)
                    for nodes in ("512", "8x8x8", "4x8x16")]
    least = [sum(sum(axis["link_bytes"]) for axis in answer["order"]["axes"]) for answer in each]
    assert found["network"] == each[least.index(min(least))]["network"] != "8x8x8"
