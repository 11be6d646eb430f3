"""Started by test_python_binding.py: arrays of plans in HDF5 files, with fields, layouts, two parts and empty parts, written
by all ranks or by rank 0 alone: python_hdf5 FILE (parallel | serial), and python_hdf5 FILE last [SECONDS (parallel |
serial)], which reads all steps, and then writes steps until it is killed.
"""

import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from xml.etree import ElementTree

import h5py
import numpy as np
from mpi4py import MPI

from pencilfft import PencilfftError, Plan
from pencilfft.hdf5 import Series, load, save

comm = MPI.COMM_WORLD
path, mode = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "parallel"
CASES = [(shape, fields, layout, schedule)  # the first extent leaves a rank without elements
         for shape in ((3, 4, 5), (8, 9, 10)) for fields in (1, 2)
         for layout, schedule in (("natural", "sequence"), ("stride1", "sequence"), ("natural", "two-way"))]
GRIDS = [(1, comm.size), (comm.size, 1)]


def refused(word, function, *arguments, **more):
    """All ranks raise the same message."""
    try:
        function(*arguments, **more)
        said = None
    except PencilfftError as error:
        said = str(error)
    everywhere = comm.allgather(said)
    assert said is not None and word in said and len(set(everywhere)) == 1, everywhere


def check_arrays():
    whole_file = dict(driver="mpio", comm=comm) if mode == "parallel" else {}
    with h5py.File(path, "w", **whole_file) if whole_file or comm.rank == 0 else nullcontext() as file:
        for i, (shape, fields, layout, schedule) in enumerate(CASES):
            full = np.random.default_rng(1).standard_normal((fields, *shape) if fields > 1 else shape)
            every = dict(type="r2c", fields=fields, rigor="estimate")
            with Plan(shape, GRIDS[0], layout=layout, schedule=schedule, **every) as plan, \
                 Plan(shape, GRIDS[1], **every) as other:
                f = full[plan.part("input")]
                save(file, f"f{i}", plan, "input", f)
                save(file, f"f_hat{i}", plan, "output", plan.forward(f))
                f_hat = load(file, f"f_hat{i}", other, "output")
                right = np.fft.rfftn(full, axes=(-3, -2, -1))[other.part("output")]
                assert np.abs(f_hat - right).max(initial=0) < 1e-12, (shape, fields, layout, schedule)
                assert (load(file, f"f{i}", plan, "input") == f).all()
                refused("has shape", load, file, f"f{i}", plan, "output")
                refused("no data set 'nosuch'", load, file, "nosuch", plan, "output")
                refused("of complex128", save, file, f"wrong{i}", plan, "input", f + 0j)
                refused("save: ", save, file, f"f{i}", plan, "input", f)  # there is one
                assert file is None or f"wrong{i}" not in file
                if comm.size > 1:
                    refused("on rank 0 alone", save, file if comm.rank else None, "half", plan, "input", f)


def field(step, shape):
    return np.cos(np.arange(np.prod(shape)) * (step + 1)).reshape(shape)


def check_xdmf(base, steps):
    """The rules of xdmf.org: each item names a data set of its shape and type; the mesh and the attributes fit together."""
    root = ElementTree.parse(f"{base}.xdmf").getroot()
    assert root.tag == "Xdmf" and root.get("Version") == "3.0"
    [grids] = root.findall("./Domain/Grid[@CollectionType='Temporal'][@GridType='Collection']")
    assert [(int(grid.get("Name")), float(grid.find("Time").get("Value"))) for grid in grids] == list(steps.items())
    for grid in grids:
        extents = [int(n) for n in grid.find("Topology").get("Dimensions").split()]  # the slowest first
        assert grid.find("Topology").get("TopologyType") == "3DRectMesh" and grid.get("GridType") == "Uniform"
        for item in grid.iter("DataItem"):
            if item.get("Format") == "HDF":
                name, _, data = item.text.partition(":/")
                with h5py.File(base.with_name(name), "r") as file:
                    assert file[data].shape == tuple(int(n) for n in item.get("Dimensions").split())
                    assert file[data].dtype == f"f{item.get('Precision')}" and item.get("NumberType") == "Float"
        mesh = [int(item.get("Dimensions")) for item in grid.find("Geometry")]
        assert mesh == extents[::-1] and grid.find("Geometry").get("GeometryType") == "VXVYVZ"  # the fastest first
        names = [(one.get("Name"), one.get("AttributeType"), one.get("Center")) for one in grid.findall("Attribute")]
        assert names == [(name, "Scalar", "Node") for name in ("f", "v_0", "v_1")], names
        slabs = grid.findall(".//DataItem[@ItemType='HyperSlab']")
        assert [slab[0].text for slab in slabs] == [f"{i} 0 0 0 1 1 1 1 1 {' '.join(map(str, extents))}" for i in range(2)]
        assert all(slab.get("Dimensions").split() == [str(n) for n in extents] for slab in slabs)


def closed_badly(file):
    file.id.close()
    raise OSError("the disk is full")


def check_series():
    """Steps written on one grid come back on another, exactly; a failed write leaves the steps before."""
    shape, base = (4, 6, 9), path.with_name("series")
    more = dict(type="dct1,c2c,r2c", rigor="estimate")
    with Plan(shape, GRIDS[0], **more) as plan, Plan(shape, GRIDS[1], layout="stride1", **more) as other, \
         Plan(shape, GRIDS[0], fields=2, **more) as two:
        series = Series(base, plan, (1, 2, 3), mode == "parallel")
        for step in (0, 10, 20, 10):
            f, v = plan.empty("input"), two.empty("input")
            f[...] = field(step, shape)[f.part]
            v[...] = field(step, (2, *shape))[v.part]
            series.write(step, step / 3, f=f, v=v, f_hat=plan.forward(f))
        assert series.steps == {0: 0., 10: 10 / 3} == Series(base, other, parallel=mode == "parallel").steps
        refused("finite", series.write, 30, float("nan"), f=f)
        refused("f is ndarray", series.write, 30, 1, f=np.zeros(3))
        refused("step -1 at time", series.write, -(comm.rank == comm.size - 1), 1, f=f)
        base.with_name("series.000030.h5.part").mkdir(exist_ok=True)
        comm.Barrier()
        refused("write: ", series.write, 30, 1., f=f)
        h5py.File.close, close = closed_badly if comm.rank == 0 else h5py.File.close, h5py.File.close
        refused("write: the disk is full", series.write, 20, 1., f=f)
        h5py.File.close = close
        for text in ("<Xdmf><Domain>", "<Xdmf><Domain><Grid><Grid Name='1'/></Grid></Domain></Xdmf>"):
            base.with_name("other.xdmf").write_text(text)
            comm.Barrier()
            refused("other.xdmf is not the XDMF file of a series", Series, base.with_name("other"), plan)
        refused("known: 0, 10", series.read, "f", step=20)
        assert series.steps == {0: 0., 10: 10 / 3}
        series = Series(base, other, parallel=mode == "parallel")
        back = series.read("f")
        assert (back == field(10, shape)[back.part]).all() and (series.read("f", step=0) == field(0, shape)[back.part]).all()
        assert np.abs(other.backward(series.read("f_hat", "output"), norm="1/N") - back).max(initial=0) < 1e-14
        v = series.read("v")
        assert v.global_shape == (2, *shape) and (v == field(10, (2, *shape))[v.part]).all()
        assert (series.read("v", plan=two) == field(10, (2, *shape))[two.part("input")]).all()
        refused("has shape", series.read, "v", "output")
    if comm.rank == 0:
        check_xdmf(base, series.steps)
        with h5py.File(f"{base}.000010.h5", "r") as file:
            assert np.allclose(file["x"], [0, 1 / 3, 2 / 3, 1]) and np.allclose(file["z"], np.arange(9) / 3)


def write_forever():
    with Plan((16, 16, 16), comm, type="r2c", rigor="estimate") as plan:
        series, f = Series(path, plan, parallel=sys.argv[4] == "parallel"), plan.empty("input")
        for step in range(max(series.steps, default=-1) + 1, 10**6):
            f[...] = field(step, (16, 16, 16))[f.part]
            series.write(step, step / 3, f=f)
            if signal.getitimer(signal.ITIMER_REAL)[0] == 0 and comm.rank == 0:  # ends the program at once
                signal.setitimer(signal.ITIMER_REAL, float(sys.argv[3]))


def check_last():
    with Plan((16, 16, 16), comm, type="r2c", rigor="estimate") as plan:
        series = Series(path, plan)
        for step in series.steps:
            f = series.read("f", step=step)
            assert (f == field(step, (16, 16, 16))[f.part]).all()
    if comm.rank == 0:
        print(f"hdf5: {len(series.steps)} steps", flush=True)


if mode == "last":
    check_last()
    if len(sys.argv) > 3:
        write_forever()
else:
    check_arrays()
    check_series()
    if comm.rank == 0:
        print(f"hdf5 checked in {len(CASES)} cases, {mode}")
