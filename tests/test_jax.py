"""Meshes of JAX: never worse than JAX's own order on stand-in devices, and a real FFT on the devices of a CPU."""

import os
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from pencilmap import jax as ours
from pencilmap.model.base.errors import GridError, MachineError
from pencilmap.model.traffic.loads import at_once, in_sequence
from tests.patience import patience

pytestmark = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed: pip install jax")
SLICES = [(4, 4, 4), (4, 4, 8), (4, 8, 8), (8, 8, 8), (8, 8, 16)]
MESHES = [(slice_, R, np.prod(slice_) // R) for slice_ in SLICES
          for R in (1 << k for k in range(1, int(np.prod(slice_)).bit_length() - 1))]


def devices(shape, kind="TPU v5p", cores=1, **more):
    """Stand-ins in JAX's order: host by host, each a box of 2x2 chips, x first."""
    found = []
    for z in range(shape[2]):
        for y in range(0, shape[1], 2):
            for x in range(0, shape[0], 2):
                for j in range(min(2, shape[1])):
                    for i in range(min(2, shape[0])):
                        found += [SimpleNamespace(id=len(found) + core, platform="tpu", device_kind=kind, core_on_chip=core,
                                                  coords=(x + i, y + j, z), process_index=len(found) // 4 // cores,
                                                  slice_index=0, **more) for core in range(cores)]
    return found


@pytest.mark.sampled(9)
@pytest.mark.parametrize("slice_, R, C", MESHES, ids=str)
def test_no_mesh_is_worse_than_those_of_jax(slice_, R, C):
    given = devices(slice_)
    mesh, known = ours.device_order(given, (R, C)), ours.slice_of(given)
    assert sorted(device.id for device in mesh.ravel()) == list(range(len(given))) and mesh.shape == (R, C)
    least = ours.cost(mesh, known, in_sequence(2))
    theirs = ours._own_order(given, (R, C))
    assert theirs
    assert all(least <= ours.cost(other, known, in_sequence(2)) for other in theirs)
    assert least <= ours.cost(np.array(given, dtype=object).reshape(R, C), known, in_sequence(2))


def test_there_are_35_meshes():
    assert len(MESHES) == 35


@pytest.mark.parametrize("kind, shape, cores, network", [
    ("TPU v5p", (4, 4, 8), 1, "4x4x8:twisted"), ("TPU v5", (4, 4, 4), 1, "4x4x4"), ("TPU v4", (2, 2, 4), 1, "2x2x4:mesh"),
    ("TPU v5p", (8, 4, 4), 1, "8x4x4:twisted"), ("TPU7x", (4, 4, 4), 2, "4x4x4"), ("TPU v3", (4, 4, 1), 2, "4x4:mesh"),
    ("TPU v5p", (2, 2, 3), 1, "2x2x3:mesh"), ("TPU v4", (8, 4, 12), 1, "8x4x12"), ("TPU v5 lite", (4, 8, 1), 1, "4x8:mesh"),
    ("TPU v6 lite", (8, 16, 1), 1, "8x16w"), ("TPU v6e", (16, 8, 1), 1, "16wx8"), ("TPU v5e", (16, 16, 1), 1, "16x16")])
def test_the_kind_of_the_devices_gives_the_network(kind, shape, cores, network):
    found = ours.slice_of(devices(shape, kind, cores))
    assert str(found.network) == network and found.site.tasks_per_node == cores
    places = [(*device.coords[:found.network.n_dimensions], device.core_on_chip) for device in found.devices]
    assert places == [(*found.network.coordinates(node).tolist(), core) for node in range(found.network.n_nodes)
                      for core in range(cores)]


@pytest.mark.slow
def test_the_network_can_be_named_and_the_schedule_counts():
    given = devices((4, 4, 8))
    plain, twisted = (ours.slice_of(given, network) for network in ("4x4x8", "4x4x8:twisted"))
    assert ours.cost(ours.device_order(given, (8, 16), network="4x4x8"), plain, in_sequence(2)) == 6
    at, apart = (ours.device_order(given, (8, 16), schedule) for schedule in ("two-way", "sequence"))
    assert ours.cost(at, twisted, at_once(2)) <= ours.cost(apart, twisted, at_once(2))
    assert ours.cost(apart, twisted, in_sequence(2)) <= ours.cost(at, twisted, in_sequence(2))
    shifted = [SimpleNamespace(**vars(device) | {"coords": tuple(c + 4 for c in device.coords)}) for device in given]
    order = ours.device_order(shifted, (8, 16))
    assert [[device.id for device in row] for row in order] == [[device.id for device in row] for row in apart]


@pytest.mark.parametrize("given, options, error, problem", [
    (devices((4, 4, 4)), {"shape": (8, 4)}, GridError, "8x4 is not possible with 64 devices"),
    (devices((4, 4, 4)), {"shape": ()}, GridError, "not possible with 64 devices"),
    (devices((4, 4, 4)), {"shape": (4, 4, 4), "schedule": "two-way"}, GridError, "two-way is for the two all-to-alls"),
    (devices((4, 4, 4)), {"shape": (4, 16), "collectives": ("all-gather:1GB",)}, GridError, "needs 2 collectives, not 1;"),
    (devices((4, 4, 4)), {"shape": (4, 16), "collectives": "all-gather:1GB"}, GridError, "needs 2 collectives, not 1;"),
    (devices((4, 4, 4)), {"shape": (4, 16), "collectives": "any", "names": ("a",)}, GridError, "needs 2 names, not 1;"),
    (devices((4, 4, 4)), {"shape": (4, 16), "names": ("a",)}, GridError, "needs 2 names, not 1;"),
    (devices((4, 4, 4)), {"shape": (4, 16), "collectives": ("gather:1GB",) * 2}, GridError, "known are all-gather"),
    (devices((4, 4, 4))[1:] + devices((4, 4, 4))[:1], {"shape": (8, 8), "network": "4x8x8"}, MachineError, "other extents"),
    (devices((4, 4, 4))[:-1], {"shape": (7, 9)}, MachineError, "do not fill a box of 4x4x4"),
    (devices((4, 4, 4), "TPU v9"), {"shape": (8, 8)}, MachineError, "'TPU v9' are not known; give `network`, e.g. 4x4x4"),
    ([SimpleNamespace(**vars(d) | {"slice_index": d.id % 2}) for d in devices((4, 4, 4))], {"shape": (8, 8)}, MachineError,
     "several slices"),
    ([SimpleNamespace(id=i) for i in range(8)], {"shape": (2, 4), "network": "3x3"}, MachineError, "9 nodes")])
def test_wrong_devices_are_refused(given, options, error, problem):
    with pytest.raises(error, match=problem):
        ours.device_order(given, **options)


def test_a_trade_is_a_warning_until_it_is_taken(caplog):
    given = devices((8, 16, 1), "TPU v6 lite")
    options = {"collectives": ("all-to-all:1GB", "all-gather:4GB"), "names": ("expert", "tensor")}
    kept = ours.device_order(given, (16, 8), **options)
    [warning] = caplog.records
    assert "tensor 2.00x less" in warning.getMessage() and warning.name == "pencilmap"
    assert all((kept == own).all() for own in ours._own_order(given, (16, 8)))
    taken = ours.device_order(given, (16, 8), trade=True, **options)
    assert len(caplog.records) == 1 and (taken != kept).any() and {d.id for d in taken.ravel()} == set(range(128))


@pytest.mark.parametrize("mesh", [(4, 4, 4), (64,), (1, 8, 1, 8), (2, 2, 2, 2, 2, 2)])
def test_a_mesh_has_any_number_of_axes(mesh):
    given = devices((4, 4, 4))
    order = ours.device_order(given, mesh, collectives="any")
    assert order.shape == mesh and sorted(device.id for device in order.ravel()) == list(range(64))
    bare = [SimpleNamespace(id=i) for i in range(64)]
    assert (ours.device_order(bare, mesh, collectives="any").ravel() == np.array(bare)).all()


PROGRAM = """
import os
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import PartitionSpec as P
from pencilmap.jax import make_mesh

assert len(jax.devices()) == 8
one = make_mesh(np.array(jax.devices()).reshape(2, 4), (8,), "data")  # an array and a single name, as JAX takes them
assert one.axis_names == ("data",) and one.devices.tolist() == jax.devices()
mesh = make_mesh(None, (2, 4), ("row", "column"), network=os.environ["NETWORK"] or None)
assert mesh.shape == {"row": 2, "column": 4}


def fft(block):  # x divided by column, y by row
    block = jnp.fft.fft(block, axis=2)
    block = jax.lax.all_to_all(block, "row", split_axis=2, concat_axis=1, tiled=True)
    block = jnp.fft.fft(block, axis=1)
    block = jax.lax.all_to_all(block, "column", split_axis=1, concat_axis=0, tiled=True)
    return jnp.fft.fft(block, axis=0)


field = np.random.default_rng(1).normal(size=(8, 16, 4)).astype(np.complex64)
found = jax.shard_map(fft, mesh=mesh, in_specs=P("column", "row", None), out_specs=P(None, "column", "row"))(field)
assert np.allclose(found, np.fft.fftn(field), atol=1e-3)
print("equal", [device.id for device in mesh.devices.ravel()])
"""


@pytest.mark.parametrize("network", ["", "2x4:twisted", "2x2x2"])
def test_an_fft_over_the_mesh_is_that_of_numpy(network):
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu",
                                "NETWORK": network}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True,
                         timeout=patience(120))
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.startswith("equal [") and sorted(eval(run.stdout.removeprefix("equal "))) == list(range(8))


def test_without_jax_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ModuleNotFoundError, match="pip install jax"):
        ours.make_mesh(None, (1, 1), ("row", "column"))
