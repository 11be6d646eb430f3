"""libpencilfft from Python: plans over an mpi4py communicator, and transforms of NumPy arrays in their own memory, without
copies.

>>> from mpi4py import MPI                                                                     # doctest: +SKIP
>>> with Plan((128, 128, 128), (2, 4), MPI.COMM_WORLD, type="r2c") as plan:                    # doctest: +SKIP
...     f, f_hat = plan.empty("input"), plan.empty("output")
...     f[...] = 1
...     plan.forward(f, f_hat)

Every array has the axes x, y, z (after the fields, if there are several; before them if they are interleaved) in any order
in memory; `Plan.start` is the first global index of the calling rank's part. Rank i of the communicator is task ``i % R`` of
row ``i // R`` of the process grid. The library is loaded when it is first needed: the file named by PENCILFFT_LIBRARY, else
the library beside this module (`pip install`), else the build of the checkout, else the library that the loader finds.

Arrays are numbered from 0, the array before the first exchange of a forward transform. Arrays of pencils are also named by
their undivided axis, here in the order ``zyx`` of the axes:

=================== ===================================================================================================
``"z"`` or 0        input of the forward row exchange: x in C parts, y in R
``"y"`` or 1        between the exchanges: x in C parts, z in R
``"x"`` or 2        output of the column exchange: z in R parts, y in C
``BEFORE + 1``      array 1 before its lines are transformed; differs from array 1 if these are padded; ``BEFORE + 2``
``"input"``         source of `Plan.forward`: as array 0, but of real numbers and with nz, if the transform halves z
``"output"``        target of `Plan.forward`: as the last array
``"inner input"``   array to transform, if the input has bricks or given boxes and is remapped
``"inner output"``  transformed array, if such an output is remapped
=================== ===================================================================================================

Under schedule ``two-way``, and ``opposite`` with several fields, all arrays but the input and array 0 have two parts, one
behind the other in memory. Such an array has a single axis; `Plan.split` gives its parts as views with axes x, y, z, and
their places in the global array:

>>> with Plan((128, 128, 128), (2, 4), MPI.COMM_WORLD, schedule="two-way") as plan:             # doctest: +SKIP
...     f, f_hat = plan.empty("input"), plan.empty("output")
...     plan.forward(f, f_hat)
...     for at, part in plan.split(f_hat, "output"):
...         part *= whole[at]

All ranks of the communicator must make the same collective calls with the same arguments. If an argument is wrong on one
rank, or the calls differ, all ranks will raise the same message: they agree before each collective call, which takes log2 P
messages of 24 bytes. Only a rank without a communicator raises its error alone.
"""

from pencilfft import errors, plan, queries
from pencilfft.arrays import PlanArray
from pencilfft.errors import PencilfftError
from pencilfft.halo import Halo
from pencilfft.library import forget_wisdom, grid_numbers, load_wisdom, names, save_wisdom
from pencilfft.lines import BrickLinesPlan, LinePlan
from pencilfft.plan import Plan
from pencilfft.queries import GridTrial

__all__ = ["BACKWARD", "BEFORE", "FORWARD", "OMP_THREADS", "BrickLinesPlan", "GridTrial", "Halo", "LinePlan",
           "PencilfftError", "Plan", "PlanArray", "forget_wisdom", "grid_numbers", "load_wisdom", "names", "save_wisdom"]

#: Direction of a transform or of an exchange alone; the bits of `directions`.
FORWARD = errors.FORWARD
#: The opposite direction.
BACKWARD = errors.BACKWARD
#: Number of threads that follows ``OMP_NUM_THREADS``.
OMP_THREADS = plan.OMP_THREADS
#: With a number added: an array before its lines are transformed.
BEFORE = queries.BEFORE
