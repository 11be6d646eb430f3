"""Arrays of a plan in HDF5 files, each written and read by all ranks together.

>>> import h5py                                                                                # doctest: +SKIP
>>> with h5py.File("fields.h5", "w", driver="mpio", comm=comm) as file:                        # doctest: +SKIP
...     save(file, "f_hat", plan, "output", f_hat)
>>> with h5py.File("fields.h5", "r", driver="mpio", comm=comm) as file:                        # doctest: +SKIP
...     f_hat = load(file, "f_hat", plan, "output")

The data set holds the global array in natural order, whatever the grid, the layout, and the parts of the plan. So you can
read the array with another plan than wrote it, for example with another grid or on one rank. h5py must be built with the MPI
of mpi4py; on Debian ``python3-h5py-mpi`` is, with Open MPI, for ``/usr/bin/python3``.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from numpy.typing import NDArray

from pencilfft import PencilfftError, Plan

Array = NDArray[Any]


def save(group: Any, name: str, plan: Plan, array: str | int, values: Array) -> None:
    """Write an array to a new data set. Collective.

    Parameters
    ----------
    group : h5py.File or h5py.Group
        Open on all ranks of the plan, with driver ``mpio`` if there are several.
    name : str
        Name of the data set.
    plan : Plan
    array : str or int
        Array of the plan: ``"input"``, ``"output"``.
    values : array
        This rank's part, of shape ``plan.shape(array)``.

    Raises
    ------
    PencilfftError
        If `values` has another shape, or the array of the plan is real and `values` are complex.
    """
    _check_numbers(values.dtype, plan, array, "values")
    data = group.create_dataset(name, plan.global_shape(array), plan.dtype(array))
    for at, part, together in _parts(plan, array, values, data):
        with together:
            data[at] = part
    group.file.flush()  # HDF5 keeps writes that are not collective in buffers of the rank


def load(group: Any, name: str, plan: Plan, array: str | int) -> Array:
    """Read a data set of `save` into a new array of `Plan.empty`. Collective. Parameters as for `save`.

    Raises
    ------
    PencilfftError
        If the data set has another shape than the array of the plan, or is complex and the array real.
    """
    data, values, whole = group[name], plan.empty(array), plan.global_shape(array)
    if data.shape != whole:
        raise PencilfftError(f"data set {name} has shape {data.shape}; array {array} of the plan has {whole}")
    _check_numbers(data.dtype, plan, array, f"data set {name}")
    for at, part, together in _parts(plan, array, values, data):
        with together:
            part[...] = data[at]
    return values


def _check_numbers(given: Any, plan: Plan, array: str | int, what: str) -> None:
    if given.kind == "c" and plan.dtype(array).kind != "c":
        raise PencilfftError(f"{what} of {given}; array {array} of the plan has {plan.dtype(array)}: give the real part, or "
                             "a plan of complex numbers")


def _parts(plan: Plan, array: str | int, values: Array, data: Any) -> Iterator[tuple[tuple[slice, ...], Array, Any]]:
    """Return the parts of this rank with their places, and the context of a transfer.

    h5py makes no call for an empty part, so a transfer is collective only if no rank has an empty part.
    """
    if values.shape != plan.shape(array):
        raise PencilfftError(f"array of shape {values.shape}; array {array} of the plan has {plan.shape(array)}")
    several = plan.parts(array) > 1
    for i, (at, part) in enumerate(plan.split(values, array) if several else [(plan.part_mine(array, 0), values)]):
        full = all(one.stop > one.start for rank in range(plan.ranks) for one in plan.part_of(array, rank, i))
        yield at, part, data.collective if full and data.file.driver == "mpio" else nullcontext()
