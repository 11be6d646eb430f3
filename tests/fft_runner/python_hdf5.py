"""Started by test_python_binding.py: arrays of plans in HDF5 files, with fields, layouts, two parts and empty parts."""

import sys

import h5py
import numpy as np
from mpi4py import MPI

from pencilfft import PencilfftError, Plan
from pencilfft.hdf5 import load, save

comm = MPI.COMM_WORLD
CASES = [(shape, fields, layout, schedule)  # the first extent leaves a rank without elements
         for shape in ((3, 4, 5), (8, 9, 10)) for fields in (1, 2)
         for layout, schedule in (("natural", "sequence"), ("stride1", "sequence"), ("natural", "two-way"))]

with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
    for i, (shape, fields, layout, schedule) in enumerate(CASES):
        full = np.random.default_rng(1).standard_normal((fields, *shape) if fields > 1 else shape)
        every = dict(type="r2c", fields=fields, rigor="estimate")
        with Plan(shape, (1, comm.size), layout=layout, schedule=schedule, **every) as plan, \
             Plan(shape, (comm.size, 1), **every) as other:
            f = full[plan.part("input")]
            save(file, f"f{i}", plan, "input", f)
            save(file, f"f_hat{i}", plan, "output", plan.forward(f))
            f_hat = load(file, f"f_hat{i}", other, "output")
            right = np.fft.rfftn(full, axes=(-3, -2, -1))[other.part("output")]
            assert np.abs(f_hat - right).max(initial=0) < 1e-12, (shape, fields, layout, schedule)
            assert (load(file, f"f{i}", plan, "input") == f).all()
            try:
                load(file, f"f{i}", plan, "output")
                raise SystemExit("the shape of another array was taken")
            except PencilfftError as error:
                assert "has shape" in str(error)
            try:
                save(file, f"wrong{i}", plan, "input", f + 0j)
                raise SystemExit("complex numbers were taken for real ones")
            except PencilfftError as error:
                assert "of complex128" in str(error) and f"wrong{i}" not in file
if comm.rank == 0:
    print(f"hdf5 checked in {len(CASES)} cases")
