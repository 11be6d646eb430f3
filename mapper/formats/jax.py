"""JAX device order: the devices of the mesh in logical shape, each by its coordinates and core, as a JSON array.

The array is ``[[[x, y, z, core], ...], ...]`` with a list for each group of the grid's first dimension (for pencils each
row). ``jax.sharding.Mesh`` gets the array transposed, with the axes ("row", "column") as `pencilmap.jax.make_mesh` returns
them. Devices are looked up by ``device.coords`` and ``device.core_on_chip``, because ids depend on the slice. The reader
also takes lists of device ids (x fastest, cores of a chip first). Source: jax/_src/mesh_utils.py; the repr of
TpuDevice in public logs.
"""

import re
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.formats.format import Format, Job, Launch, Places
from pencilmap.mapper.formats.lines import Document, Leaf, check_json, leaves
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, Mapping

PROGRAM = """\
import json, jax, numpy as np
place = {{(*d.coords, getattr(d, "core_on_chip", 0)): d
         for d in jax.devices()}}
rows = json.load(open({path!r}))
mesh = jax.sharding.Mesh(
    np.array([[place[tuple(d)] for d in row] for row in rows]){shape},
    ({axes}))"""


def write(mapping: Mapping, job: Job) -> str:
    _check(job)
    padding = [0] * (3 - job.network.n_dimensions)
    devices = [str([*c, *padding, slot]) for c, slot in zip(mapping.coordinates().tolist(), mapping.slot_of_rank.tolist())]
    size = mapping.grid.shape[0]
    rows = [devices[i:i + size] for i in range(0, len(devices), size)]
    return "[" + ",\n ".join("[" + ",\n  ".join(row) + "]" for row in rows) + "]\n"


def read(document: Document, job: Job) -> Places:
    _check(job, f"{document.label}: ")
    mesh = check_json(document)
    lists, row = leaves(document, mesh), _row_of_mesh(document, mesh)
    if lists[0].depth < 3:
        return _read_ids(document, lists, job)._replace(row=row)
    d, rows = job.network.n_dimensions, []
    for leaf in lists:
        if leaf.depth != 3 or len(leaf.values) != 4 or any(leaf.values[d:3]):
            raise document.refuse(f"a device of torus {job.network} is [x,y,z,core] with 0 for axes it does not have",
                                  leaf.line, leaf.column)
        problem = job.network.outside(leaf.values[:d])
        if problem:
            raise document.refuse(problem, leaf.line, leaf.column)
        rows.append(leaf.values)
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return Places(job.network.node(table[:, :d]), table[:, 3].copy(), [leaf.line for leaf in lists], row)


def _row_of_mesh(document: Document, rows: list[Any]) -> int:
    """Return the number of devices in each row; NumPy requires rows of equal length."""
    lengths = [len(row) for row in rows]
    for i, n in enumerate(lengths):
        if n != lengths[0]:
            raise document.refuse(f"row {i} of the mesh has {n} devices, row 0 has {lengths[0]}; all rows need "
                                  "the same number")
    return lengths[0]


def _read_ids(document: Document, lists: list[Leaf], job: Job) -> Places:
    T, most = job.site.tasks_per_node, job.network.n_nodes * job.site.tasks_per_node
    ids: list[int] = []
    numbers: list[int] = []
    for leaf in lists:
        for number in leaf.values:
            if not 0 <= number < most:
                raise document.refuse(f"device {number} is not one of 0..{most - 1}", leaf.line, leaf.column)
        ids += leaf.values
        numbers += [leaf.line] * len(leaf.values)
    devices = np.array(ids, dtype=np.int64)
    return Places(devices // T, devices % T, numbers)


def _check(job: Job, place: str = "") -> None:
    if job.network.n_dimensions > 3:
        raise MapfileError(f"{place}JAX devices have up to three coordinates, "
                           f"torus {job.network} has {job.network.n_dimensions}")


def looks_like(lines: list[tuple[int, str]]) -> bool:
    """Return whether the brackets are three deep, unlike in any task map; a mesh may span one line or many."""
    return re.match(r"(\[\s*){3}", "".join(line.strip() for _, line in lines[:3])) is not None


def launch(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    shape = mapping.grid.shape[::-1]
    dimensions = list(zip([d.name for d in mapping.grid.decomposition.dimensions], mapping.grid.shape))
    axes = ", ".join(f'"{name}"' for name, _ in dimensions)
    program = PROGRAM.format(path=str(path), axes=axes if len(shape) > 1 else f"{axes},",
                             shape=("" if len(shape) == 2 else f"\n    .reshape({', '.join(map(str, shape))})")
                             + (".T" if len(shape) > 1 else ""))
    return Launch(program,
                  ("all devices of the slice: jax.distributed.initialize on several hosts",), is_shell=False)


FORMAT = Format("JAX device order: [x,y,z,core] of each device in the shape of the mesh", write, read, looks_like, launch,
                says_slots=True,
                launcher="JAX",
                proof="documented attributes of TpuDevice; the tests run the printed program on stand-in "
                "devices, because no TPU was available", by_coordinates=True, says_grid=True,
                launch_order=LaunchOrder(("tx2y2+",), "the order of jax.devices()",
                                         "jax, tests/mesh_utils_test.py: jax.devices() of slices of 8x8 and 4x4x4",
                                         certain=False, reason="format jax"))
