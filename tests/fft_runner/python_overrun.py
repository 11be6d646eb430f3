"""Started by test_python_binding.py: write a byte too many behind an array, which the guard bytes must reveal."""

from ctypes import memset

from mpi4py import MPI

from pencilfft import Plan

plan = Plan((8, 8, 8), (1, 1), MPI.COMM_SELF, rigor="estimate")
array = plan.empty("input")
memset(array.ctypes.data + plan.buffer_bytes, 0, 2)  # the first of these bytes is memory of the array
print(plan.scale)
