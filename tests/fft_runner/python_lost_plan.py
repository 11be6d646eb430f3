"""Started by test_python_binding.py under mpirun with PENCILFFT_CHECK_CALLS=2: the last rank calls without its plan.

The last rank gets an error; the others wait for two seconds and then end the job.
"""

import ctypes
import os
import time

from mpi4py import MPI

os.environ["PENCILFFT_CHECK_CALLS"] = "2"

import pencilfft

comm = MPI.COMM_WORLD
plan = pencilfft.Plan((8, 8, 8), (1, comm.size), comm, rigor="estimate")
source, target = plan.empty("input"), plan.empty("output")
if comm.rank < comm.size - 1:
    plan.forward(source, target)
    raise AssertionError("no rank can get here")
status = pencilfft._function("execute")(None, pencilfft.FORWARD, source.ctypes.data, target.ctypes.data)
print(f"status {status}: {ctypes.string_at(pencilfft._function('error_message')()).decode()}", flush=True)
time.sleep(100)
