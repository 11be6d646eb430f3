"""Compare whole results of a peer's driver with NumPy's.

    mpirun -n R*C python -m tests.scripts.peers.ranks FOLDER NAME RxC TYPE
"""

import sys
from pathlib import Path

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case, NotOffered, contestant, peers
from pencilmap.scripts.maintenance.benchmarks.answers import input_part

SHAPE = (7, 6, 10)


def from_half(a):
    return np.fft.irfftn(a, SHAPE, (0, 1, 2)) * np.prod(SHAPE)


def compared(comm, folder, name, grid, kind):
    """Return rank 0's verdict."""
    peers.FOLDER = Path(folder)
    rows, columns = map(int, grid.split("x"))
    case = Case(SHAPE, (rows, columns), kind)
    try:
        entrant = contestant(f"peer:{name}", case, comm)
    except NotOffered as reason:
        return str(reason)
    everything = input_part(case, tuple(slice(0, n) for n in case.input_shape))
    entrant.input[...] = everything[entrant.input_part]
    entrant.run()
    right = {"c2c": np.fft.fftn, "r2c": np.fft.rfftn, "c2r": from_half}[kind](everything)
    np.testing.assert_allclose(entrant.output, right[entrant.output_part], atol=1e-11)
    elements = comm.allreduce(entrant.output.size)
    assert elements == np.prod(case.output_shape), elements
    return f"{name} {kind} is right on {grid}"


def main():
    from mpi4py import MPI  # starts MPI

    said = compared(MPI.COMM_WORLD, *sys.argv[1:])
    if MPI.COMM_WORLD.rank == 0:
        print(said)


if __name__ == "__main__":
    main()
