"""Arrays of plans in HDF5 files, one by one, or as the steps of a series with an XDMF file for ParaView and VisIt.

>>> series = Series("flow", plan)                                                              # doctest: +SKIP
>>> series.write(step, time, u=u, u_hat=u_hat)                                                 # doctest: +SKIP
>>> u_hat = series.read("u_hat", "output")  # of the last step, on any plan of these extents   # doctest: +SKIP

The data set holds the global array in natural order, whatever the grid, the layout, and the parts of the plan. So you can
read the array with another plan than wrote it, for example with another grid or on one rank. If h5py is built with the MPI
of mpi4py, all ranks write together; on Debian ``python3-h5py-mpi`` is, with Open MPI, for ``/usr/bin/python3``. Else rank 0
writes, and takes the parts of the others in pieces. An error on one rank is raised on all.
"""

import os
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from pencilfft import PencilfftError, Plan, PlanArray
from pencilfft.boxes import WHOLE, Lengths
from pencilfft.errors import _integer, _known, _path, _real, _refuse, _shown
from pencilfft.pieces import Slices, pass_on, pieces_of

Array = NDArray[Any]


def save(group: Any, name: str, plan: Plan, array: str | int, values: Array) -> None:
    """Write an array to a new data set. Collective.

    Parameters
    ----------
    group : h5py.File or h5py.Group
        Open on all ranks of the plan with driver ``mpio``, or on rank 0 alone, and None on the others.
    name : str
        Name of the data set.
    plan : Plan
    array : str or int
        Array of the plan: ``"input"``, ``"output"``.
    values : array
        This rank's part, of shape ``plan.shape(array)``, or a `PlanArray` of the array, also with other components.

    Raises
    ------
    PencilfftError
        If `values` has another shape, or the array of the plan is real and `values` are complex; if a rank cannot write.
    """
    def ready() -> _Where:
        _check_numbers(values.dtype, plan, array, "values")
        return _Where(plan, array, values)

    where = plan._agreed("save", ready, lambda made: f" {name} {made.shape} {values.dtype}")
    attempt, together = _Attempt(plan, "save"), _is_parallel(plan, group)
    data = attempt(lambda: group.create_dataset(name, where.shape, plan.dtype(array))) if group is not None else None
    attempt.agree()
    where.move(data, together, partial(attempt, _write, data))
    if data is not None:
        attempt(data.file.flush)  # HDF5 keeps writes that are not collective in buffers of the rank
    attempt.agree()


def load(group: Any, name: str, plan: Plan, array: str | int) -> PlanArray:
    """Read a data set of `save` into a new array. Collective. Parameters as for `save`.

    Returns
    -------
    PlanArray
        As from `Plan.empty`, or with the components of the data set in front, if the plan has one field.

    Raises
    ------
    PencilfftError
        If the data set has another shape than the array of the plan, or is complex and the array real; if a rank cannot
        read.
    """
    together, whole = _is_parallel(plan, group), plan.global_shape(array)

    def there() -> Any:
        if group is None:
            return None
        if name not in group:
            raise PencilfftError(f"there is no data set {_shown(name)}; known: {', '.join(group)}")
        data = group[name]
        if data.shape != whole and (plan._form.interleaved or data.shape[-len(whole):] != whole):
            raise PencilfftError(f"data set {name} has shape {data.shape}; array {array} of the plan has {whole}")
        _check_numbers(data.dtype, plan, array, f"data set {name}")
        return data

    data = plan._agreed("load", there)
    more = plan._running().shared(None if data is None else data.shape[:len(data.shape) - len(whole)])[0]
    values = plan.array(np.empty((*more, *plan.shape(array)), plan.dtype(array)), array) if more else plan.empty(array)
    attempt = _Attempt(plan, "load")
    _Where(plan, array, values).move(data, together, partial(attempt, _read, data), back=True)
    attempt.agree()
    return values


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise PencilfftError(f"h5py is missing ({error}); pip install h5py, or pip install './fft_runner[hdf5]'") from error
    return h5py


class Series:
    """Steps of a program in files ``PATH.000010.h5``, and in ``PATH.xdmf``, which ParaView and VisIt open.

    A step is listed in the XDMF file after its own file is complete, and both are replaced in one go: if the program ends
    at any moment, the steps listed can be read. XDMF shows the real physical arrays on the points of the plan's input, each
    component by itself, and calls the slowest axis, our x, Z.

    Parameters
    ----------
    path : path
        Name without ending, the same on all ranks; the steps in an XDMF file of this name are known.
    plan : Plan
        Its ranks write and read, and its input has the points of the XDMF file.
    lengths : as for `PlanArray.coordinates`
    parallel : bool, optional
        Whether all ranks write; by default, if h5py is built with MPI and there are several ranks.

    Raises
    ------
    PencilfftError
        On all ranks, here and in all methods: if the file is no XDMF file of a series, h5py is missing, or a rank cannot
        write or read. A failed write leaves the earlier steps as they are.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan, lengths: Lengths = WHOLE,
                 parallel: bool | None = None) -> None:
        def ready() -> tuple[Path, list[Array], bool]:
            in_parallel = bool(_h5py().get_config().mpi) and plan.ranks > 1
            return Path(os.fsdecode(_path(path))), plan._points(lengths), in_parallel if parallel is None else bool(parallel)

        self._plan = plan
        self._base, self._points, self._parallel = plan._agreed("Series", ready, lambda made: f" {made[0]} {made[2]}")
        self._grids: dict[int, ElementTree.Element] = {}
        attempt = _Attempt(plan, "Series")
        if plan._running().rank == 0:
            attempt(self._find)
        attempt.agree()
        self._steps: dict[int, float] = plan._running().shared({step: float(grid[0].get("Value") or 0)
                                                                for step, grid in self._grids.items()})[0]

    def _find(self) -> None:
        listed = self._file("xdmf")
        if listed.exists():
            grids = ElementTree.parse(listed).findall("./Domain/Grid/Grid")
            self._grids = {int(grid.get("Name", "")): grid for grid in grids}

    def _file(self, ending: str) -> Path:
        return self._base.with_name(f"{self._base.name}.{ending}")

    @property
    def steps(self) -> dict[int, float]:
        """The times of the complete steps by their numbers, in ascending order."""
        return dict(sorted(self._steps.items()))

    def write(self, step: int, time: float, **arrays: Array) -> None:
        """Write a step: any arrays that know their plan, of the ranks of the plan. Collective.

        Later steps, of a run that went farther before, are not listed any more; their files stay until they are replaced.
        """
        known: dict[str, PlanArray] = {}

        def ready() -> tuple[int, float]:
            for name, one in arrays.items():
                if not isinstance(one, PlanArray):
                    raise PencilfftError(f"{name} is {type(one).__name__}; give an array of plan.empty() or plan.array()")
                one._known_plan()
                known[name] = one
            number, at = _integer(step, "step"), _real(time, "time")
            if number < 0 or not isfinite(at):
                raise PencilfftError(f"step {number} at time {at}; give a step from 0 on and a finite time")
            return number, at

        number, at = self._plan._agreed("write", ready, lambda made: f" {made} {', '.join(arrays)}")
        whole, is_first = self._file(f"{number:06d}.h5"), self._plan._running().rank == 0
        part, attempt = whole.with_name(whole.name + ".part"), _Attempt(self._plan, "write")
        try:
            file = attempt(self._opened, part, "w")
            attempt.agree()
            with closing(file) if file else nullcontext():
                for name, one in known.items():
                    save(file, name, one.plan, one._name or 0, one)
                for axis, points in zip("xyz", self._points, strict=False):
                    if file is not None:
                        attempt(file.create_dataset, axis, data=points)
            attempt.agree()
            if is_first:
                attempt(_replace, whole, part)
                grids = {n: grid for n, grid in self._grids.items() if n < number}
                grids[number] = self._grid(number, at, whole.name, known)
                attempt(self._list, grids)
            attempt.agree()
        except PencilfftError:
            if is_first:
                with suppress(OSError):
                    part.unlink()
            raise
        self._steps = {n: t for n, t in self._steps.items() if n < number} | {number: at}

    def read(self, name: str, array: str | int = "input", step: int | None = None, plan: Plan | None = None) -> PlanArray:
        """Return an array of a step. Collective.

        Parameters
        ----------
        name : str
        array : its name in the plan
        step : int, optional
            One of `steps`; the last by default.
        plan : Plan, optional
            The plan of the array, on the same ranks; that of the series by default.
        """
        def ready() -> Path:
            if not self._steps:
                raise PencilfftError(f"{self._file('xdmf')} lists no step")
            number = max(self._steps) if step is None else step
            _known(self._steps, number)
            return self._file(f"{number:06d}.h5")

        path, attempt = self._plan._agreed("read", ready, str), _Attempt(self._plan, "read")
        file = attempt(self._opened, path, "r")
        attempt.agree()
        with closing(file) if file else nullcontext():
            return load(file, name, plan or self._plan, array)

    def _opened(self, path: Path, mode: str) -> Any:
        team, open_file = self._plan._running(), _h5py().File
        if self._parallel:
            return open_file(path, mode, driver="mpio", comm=team._comm)
        return open_file(path, mode) if team.rank == 0 else None

    def _list(self, grids: dict[int, ElementTree.Element]) -> None:
        root = ElementTree.Element("Xdmf", Version="3.0")
        steps = ElementTree.SubElement(ElementTree.SubElement(root, "Domain"), "Grid", Name=self._base.name,
                                       GridType="Collection", CollectionType="Temporal")
        steps.extend(grids[step] for step in sorted(grids))
        ElementTree.indent(root)
        listed = self._file("xdmf")
        part = listed.with_name(listed.name + ".part")
        part.write_bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True) + b"\n")
        _replace(listed, part)
        self._grids = grids

    def _grid(self, step: int, time: float, file: str, arrays: dict[str, PlanArray]) -> ElementTree.Element:
        """Return the XDMF of a step; the slowest axis comes first in Dimensions, and last in Geometry."""
        def item(parent: ElementTree.Element, name: str, shape: tuple[int, ...], bytes_of_number: int) -> None:
            ElementTree.SubElement(parent, "DataItem", Format="HDF", NumberType="Float", Precision=str(bytes_of_number),
                                   Dimensions=_words(shape)).text = f"{file}:/{name}"

        points = tuple(one.size for one in self._points)
        grid = ElementTree.Element("Grid", Name=str(step), GridType="Uniform")
        ElementTree.SubElement(grid, "Time", Value=repr(time))
        ElementTree.SubElement(grid, "Topology", TopologyType=f"{len(points)}DRectMesh", Dimensions=_words(points))
        mesh = ElementTree.SubElement(grid, "Geometry", GeometryType="VXVYVZ"[:2 * len(points)])
        for axis in reversed(range(len(points))):
            item(mesh, "xyz"[axis], points[axis:axis + 1], 8)
        for name, one in arrays.items():
            shape, number = one.global_shape, one.plan.dtype(one._name or 0)
            if one.space != "physical" or number.kind == "c" or tuple(shape[axis] for axis in one._axes) != points:
                continue
            for at in np.ndindex(*one._with_components([1] * len(points), int)):
                which = [at[axis] for axis in range(one.ndim) if axis not in one._axes]
                value = ElementTree.SubElement(grid, "Attribute", Name="_".join([name, *map(str, which)]),
                                               AttributeType="Scalar", Center="Node")
                if which:
                    value = ElementTree.SubElement(value, "DataItem", ItemType="HyperSlab", Dimensions=_words(points))
                    rows = [at, (1,) * one.ndim, one._with_components(points, lambda _: 1)]
                    ElementTree.SubElement(value, "DataItem", Format="XML", NumberType="Int",
                                           Dimensions=f"3 {one.ndim}").text = " ".join(map(_words, rows))
                item(value, name, shape, number.itemsize)
        return grid


def _words(numbers: Any) -> str:
    return " ".join(map(str, numbers))


def _replace(whole: Path, part: Path) -> None:
    """Give a file its name when all of it is on the disk."""
    with part.open("rb+") as written:
        os.fsync(written.fileno())
    part.replace(whole)


class _Attempt:
    """Calls whose first error all ranks raise at `agree`. Later calls are made all the same, for others may wait in them."""

    def __init__(self, plan: Plan, call: str) -> None:
        self._plan, self._call = plan, call
        self._error: PencilfftError | None = None

    def __call__(self, function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        try:
            return function(*arguments, **more)
        except Exception as error:  # any exception, because the other ranks would wait
            self._error = self._error or PencilfftError(f"{self._call}: {error}")
            return None

    def agree(self) -> None:
        """Raise the error on all ranks. Collective."""
        error = self._error
        self._plan._agreed(self._call, lambda: None if error is None else _refuse(error))


def _is_parallel(plan: Plan, group: Any) -> bool:
    """Return whether all ranks write, and not rank 0 alone. Collective."""
    first, *others = plan._running().shared(group is not None)
    if first and others and all(others) and group.file.driver == "mpio":  # asking for the driver is collective
        return True
    if not first or any(others):
        raise PencilfftError("the file is open on some ranks, or without driver mpio on several; open it with this driver "
                             "on all ranks, or on rank 0 alone, and give None on the others")
    return False


def _check_numbers(given: Any, plan: Plan, array: str | int, what: str) -> None:
    if given.kind == "c" and plan.dtype(array).kind != "c":
        raise PencilfftError(f"{what} of {given}; array {array} of the plan has {plan.dtype(array)}: give the real part, or "
                             "a plan of complex numbers")


def _write(data: Any, at: Slices, part: Array) -> None:
    data[at] = part


def _read(data: Any, at: Slices, part: Array) -> None:
    part[...] = data[at]


class _Where:
    """The parts of an array of this rank, and their places and those of others in the whole array."""

    def __init__(self, plan: Plan, array: str | int, values: Array) -> None:
        self._plan = plan
        if isinstance(values, PlanArray) and values.shape != plan.shape(array):  # with other components
            self.shape, self.parts = values.global_shape, [np.asarray(values)]
            self.part_of: Callable[[int, int], Slices] = lambda rank, _: values._part_of(rank)
            return
        if values.shape != plan.shape(array):
            raise PencilfftError(f"array of shape {values.shape}; array {array} of the plan has {plan.shape(array)}")
        self.shape, self.part_of = plan.global_shape(array), lambda rank, i: plan.part_of(array, rank, i)
        split = plan.parts(array) > 1
        self.parts = [part for _, part in plan.split(values, array)] if split else [np.asarray(values)]

    def move(self, data: Any, together: bool, take: Callable[[Slices, Array], Any], back: bool = False) -> None:
        """Write or, with `back`, read the parts of this rank, or on rank 0 the pieces of all ranks.

        h5py makes no call for an empty part, so a transfer is collective only if no rank has an empty part.
        """
        if not together:
            pieces = pieces_of(self._plan.ranks, len(self.parts), self.part_of, [range(n) for n in self.shape],
                               self.parts[0].itemsize)
            pass_on(self._plan._running(), pieces, self.parts, 0, take, back)
        for i, part in enumerate(self.parts) if together else ():
            full = all(one.stop > one.start for rank in range(self._plan.ranks) for one in self.part_of(rank, i))
            with data.collective if full else nullcontext():
                take(self.part_of(self._plan._running().rank, i), part)
