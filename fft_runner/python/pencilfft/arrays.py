"""Arrays that know their plan: their place in the global array, coordinates, wavenumbers, and reductions over all ranks."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from operator import setitem
from typing import TYPE_CHECKING, Any

import numpy as np

from pencilfft.boxes import WHOLE, Array, Lengths
from pencilfft.errors import PencilfftError, _integer, _shown
from pencilfft.library import _collective
from pencilfft.pieces import Slices, cut, pass_on, pieces_of, ranges_of

if TYPE_CHECKING:
    from pencilfft._together import Team
    from pencilfft.plan import Plan

HALVED = {("cosine", 1): ("physical spectral", [0, -1]), ("cosine", 2): ("spectral", [0]), ("cosine", 3): ("physical", [0]),
          ("sine", 2): ("spectral", [-1]), ("sine", 3): ("physical", [-1])}  # points and modes that a sum counts half


class PlanArray(np.ndarray[Any, np.dtype[Any]]):
    """The calling rank's part of an array of a plan; made by `Plan.empty`, `Plan.array`, `Plan.view` and by transforms.

    NumPy works on the part: ``f.sum()`` adds up the elements of this rank. Results of the same shape know the plan, too, as
    does a component ``u[i]`` (interleaved: ``u[..., i]``); other slices and transposed arrays do not. Axes in front of x, y
    and z (interleaved: behind them) are components, whatever the fields of the plan. The reductions ``global_...`` are over
    x, y and z on all ranks: with components, the result is an array of their shape. Ranks without elements take part.

    Raises
    ------
    PencilfftError
        In any method: if the array does not know its place any more, has several parts (see `Plan.split`), or the plan was
        destroyed; collective methods raise the error of a rank on all ranks.
    """

    _plan: "Plan | None" = None
    _name: str | int | None = None

    def __array_finalize__(self, obj: Any) -> None:
        self._plan = plan = getattr(obj, "_plan", None)
        if plan is not None and self.shape == obj.shape and min(self.strides, default=0) >= 0:
            self._name = obj._name

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, PlanArray) and self._plan is not None and self._name is not None:
            one = key
            if self._plan._form.interleaved:
                one = key[1] if isinstance(key, tuple) and len(key) == 2 and key[0] is ... else None
            if isinstance(one, int | np.integer) and self.ndim > self._plan._form.axes:
                found._name = self._name
        return found

    def transpose(self, *axes: Any) -> Array:  # type: ignore[override]
        """Return the elements with other axes, as an array of NumPy."""
        return np.asarray(self).transpose(*axes)

    def swapaxes(self, *axes: Any) -> Array:  # type: ignore[override]
        """Return the elements with two axes exchanged, as an array of NumPy."""
        return np.asarray(self).swapaxes(*axes)

    @property
    def T(self) -> Array:  # type: ignore[override]
        """The elements with all axes reversed, as an array of NumPy."""
        return np.asarray(self).T

    @property
    def mT(self) -> Array:  # type: ignore[override]
        """The elements with the last two axes exchanged, as an array of NumPy."""
        return self.swapaxes(-1, -2)

    # ---- place -----------------------------------------------------------------------------------------------------------

    @property
    def plan(self) -> "Plan":
        """The plan."""
        if self._plan is None:
            raise PencilfftError("this array has no plan; give it one by plan.array(values, name)")
        return self._plan

    @property
    def _team(self) -> "Team | None":
        return None if self._plan is None else self._plan._team

    def _known_plan(self) -> "Plan":
        """Return the plan, if the place is known."""
        plan = self.plan
        if self._name is None:
            raise PencilfftError(f"an array of shape {self.shape}, made from another shape, does not know its place in an "
                                 "array of the plan; call plan.array(values, name)")
        plan.part(self._name)  # which refuses several parts
        box = plan._array(self._name).parts[0].box
        wanted = tuple(axis.stop - axis.start for axis in box)
        if self.ndim < len(wanted) or tuple(self.shape[axis] for axis in self._axes) != wanted:
            raise PencilfftError(f"array of shape {self.shape}; array {self._name} has {wanted} along its axes on this rank")
        return plan

    @property
    def _axes(self) -> tuple[int, ...]:
        """The axes x, y and z among those of the array."""
        form = self.plan._form
        return tuple(range(form.axes) if form.interleaved else range(self.ndim - form.axes, self.ndim))

    def _with_components(self, of_axes: Sequence[Any], make: Callable[[int], Any]) -> tuple[Any, ...]:
        """Return a value for each axis of the array, those of components made from their extents."""
        first, last = self._axes[0], self._axes[-1] + 1
        return (*map(make, self.shape[:first]), *of_axes, *map(make, self.shape[last:]))

    @property
    def space(self) -> str:
        """``physical`` for the input, ``spectral`` for the output, ``between`` for arrays between transforms."""
        plan, name = self.plan, self._name
        number = None if name is None else plan._array_numbers[name]
        kinds = {plan.line_of(axis)[0] for axis in range(plan._form.axes)}
        if number in (-2, -4) or kinds == {"none"}:
            return "physical"
        return "spectral" if number in (-1, -3, len(plan.exchanges)) else "between"

    def _need(self, space: str, what: str) -> "Plan":
        plan = self._known_plan()
        if self.space != space:
            raise PencilfftError(f"array {self._name} is {self.space}; {what} are those of a {space} array")
        return plan

    @property
    def global_shape(self) -> tuple[int, ...]:
        """The shape of the whole array, with components."""
        plan = self._known_plan()
        whole, axes = plan.global_shape(self._name or 0), plan._form.axes
        return self._with_components(whole[:axes] if plan._form.interleaved else whole[-axes:], int)

    @property
    def part(self) -> Slices:
        """This rank's slices of x, y, z in the whole array, with components."""
        return self._part_of(self._known_plan()._running().rank)

    def _part_of(self, rank: int) -> Slices:
        assert self._name is not None
        return self._with_components(self.plan._piece(self._name, rank, 0).box, partial(slice, 0))

    def _open(self, values: Sequence[Any]) -> tuple[Array, ...]:
        """Return an array for each of x, y and z that broadcasts to this array."""
        behind = self.ndim - 1 - self._axes[-1]
        return tuple(one.reshape(*one.shape, *[1] * behind) for one in np.ix_(*values))

    def coordinates(self, lengths: Lengths = WHOLE) -> tuple[Array, ...]:
        """Return the positions of this rank's points along x, y and z, which broadcast to the array. Local.

        Parameters
        ----------
        lengths : float or a float for each axis, optional
            Periods of axes with a DFT or of kind ``none``, and the distances between the walls of axes with cosines or
            sines; 2 pi. A periodic axis begins at 0, as does one with walls: points of ``dct2`` are half a step from them.
        """
        plan = self._need("physical", "coordinates")
        return self._open([every[at] for every, at in zip(plan._points(lengths), self._box(), strict=True)])

    def _box(self) -> Slices:
        return tuple(self.part[axis] for axis in self._axes)

    def wavenumbers(self, lengths: Lengths = WHOLE) -> tuple[Array, ...]:
        """Return the wavenumbers of this rank's modes along x, y and z, which broadcast to the array. Local.

        Parameters
        ----------
        lengths : as for `coordinates`
            With 2 pi along an axis with a DFT the wavenumbers are the integers of `Plan.waves`.
        """
        plan = self._need("spectral", "wavenumbers")
        return self._open([2 * np.pi / period * np.array(waves) for period, waves in zip(
            plan._periods(lengths), plan._waves(self._box()), strict=True)])

    def weights(self) -> tuple[Array, ...]:
        """Return weights of this rank's elements along x, y and z, which broadcast to the array, for sums over all of them.

        Modes of a halved axis that stand for two count 2; the ends of some cosines and sines count 1/2. Then the weighted
        sum of ``abs(f_hat)**2`` is `Plan.scale` times that of ``abs(f)**2``, for every kind. Local.
        """
        plan, space = self._known_plan(), self.space
        if space == "between":
            self._need("spectral", "weights")
        every = []
        for axis, (n, at) in enumerate(zip((self.global_shape[i] for i in self._axes), self._box(), strict=True)):
            line, kind, one = plan._line(axis), plan.line_of(axis), np.ones(n)
            spaces, ends = HALVED.get(kind, ("", []))
            if space in spaces.split():
                one[ends] = 0.5
            if space == "spectral" and kind[0] in ("dft", "r2c"):
                if kind[0] == "r2c":
                    one[1:(line.n + 1) // 2] = 2
                if line.points > line.n and line.n % 2 == 0:
                    one[line.n // 2] = 0.5  # of -n/2 and n/2, half of the mode each
            every.append(one[at])
        return self._open(every)

    # ---- slices of the whole array ----------------------------------------------------------------------------------------

    @property
    def at(self) -> "_At":
        """Slices by global index: ``f.at[3:7, :, 5]`` is this rank's part of that slice of the whole array, a view that may
        be empty; an integer keeps its axis. ``f.at[3:7, :, 5] = value`` sets this rank's part as NumPy sets the slice of the
        whole array: `value` is a number or an array that broadcasts to the whole slice. Local.
        """
        return _At(self)

    @_collective
    def gather(self, key: Any = ..., root: int | None = None) -> Array | None:
        """Return a slice of the whole array, as NumPy's ``whole[key]``. Collective.

        Parameters
        ----------
        key : integers, slices with positive steps, ``...``
            The whole array by default; the same on all ranks.
        root : int, optional
            The rank that gets the slice, and others get None; all ranks by default.
        """
        def ready() -> tuple[list[range], list[bool], int | None]:
            plan = self._known_plan()
            to = None if root is None else _integer(root, "root")
            if to is not None and not 0 <= to < plan.ranks:
                raise PencilfftError(f"root is {to}; give a rank from 0 to {plan.ranks - 1}")
            return *ranges_of(key, self.global_shape), to

        plan = self.plan
        ranges, kept, to = plan._agreed("gather", ready, lambda made: f" {made} of {self.dtype}")
        team, first = plan._running(), to or 0
        whole: Any = np.empty([len(one) for one in ranges], self.dtype) if team.rank == first or to is None else None
        pieces = pieces_of(plan.ranks, 1, lambda rank, _: self._part_of(rank), ranges, self.itemsize)
        pass_on(team, pieces, [np.asarray(self)], first, partial(setitem, whole))
        if whole is None:
            return None
        if to is None:
            team.tell(whole, first)
        return whole.reshape([len(one) for one, is_kept in zip(ranges, kept, strict=True) if is_kept])

    # ---- reductions ------------------------------------------------------------------------------------------------------

    def _reduced(self, call: str, local: Callable[[Array], Any]) -> Any:
        """Return what `local` returns on each rank with elements, in their order."""
        def ready() -> Any:
            self._known_plan()
            return local(np.asarray(self)) if self.size else None

        plan = self.plan
        mine = plan._agreed(call, ready)
        return [one for one in plan._running().shared(mine) if one is not None]

    def _sum(self, call: str, terms: Callable[[Array], Array]) -> Any:
        wide = np.result_type(self.dtype, np.float64)
        return sum(self._reduced(call, lambda own: terms(own).sum(self._axes, dtype=wide)))

    def _real(self, own: Array) -> Array:
        if own.dtype.kind == "c":
            raise PencilfftError("complex numbers have no minimum and no maximum; give their real part or abs()")
        return own

    @_collective
    def global_sum(self) -> Any:
        """Return the sum over all ranks, the same on all of them. Collective."""
        return self._sum("global_sum", lambda own: own)

    @_collective
    def global_mean(self) -> Any:
        """Return the mean over all ranks. Collective."""
        return self._sum("global_mean", lambda own: own) / prod(self.global_shape[axis] for axis in self._axes)

    @_collective
    def global_min(self) -> Any:
        """Return the least number of all ranks. Collective."""
        return np.min(self._reduced("global_min", lambda own: self._real(own).min(self._axes)), 0)

    @_collective
    def global_max(self) -> Any:
        """Return the greatest number of all ranks. Collective."""
        return np.max(self._reduced("global_max", lambda own: self._real(own).max(self._axes)), 0)

    @_collective
    def global_dot(self, other: Array, weighted: bool = False) -> Any:
        """Return the sum of ``conj(self) * other`` over all ranks. Collective.

        Parameters
        ----------
        other : array of the same shape
        weighted : bool, optional
            Whether to multiply by `weights`, for example for the energy of a halved spectrum.
        """
        def terms(own: Array) -> Array:
            if not isinstance(other, np.ndarray) or other.shape != own.shape:
                raise PencilfftError(f"{_shown(np.shape(other))} is not the shape of the array, {own.shape}")
            found: Array = own.conj() * np.asarray(other)
            for one in self.weights() if weighted else ():
                found = found * one
            return found

        return self._sum("global_dot", terms)

    @_collective
    def global_norm(self, weighted: bool = False) -> Any:
        """Return the square root of `global_dot` of the array with itself. Collective."""
        return np.sqrt(np.real(self.global_dot(self, weighted)))


def _knowing(values: Array, plan: Any, name: str | int) -> PlanArray:
    found = values.view(PlanArray)
    found._plan, found._name = plan, name
    return found


class _At:
    """The indexing of `PlanArray.at`."""

    def __init__(self, of: PlanArray) -> None:
        self._of = of

    def __getitem__(self, key: Any) -> Array:
        ranges, _ = ranges_of(key, self._of.global_shape)
        return np.asarray(self._of)[cut(ranges, self._of.part)[0]]

    def __setitem__(self, key: Any, value: Any) -> None:
        ranges, kept = ranges_of(key, self._of.global_shape)
        local, place = cut(ranges, self._of.part)
        shape = [len(one) for one, is_kept in zip(ranges, kept, strict=True) if is_kept]
        try:
            whole = np.broadcast_to(value, shape)
        except ValueError:
            raise PencilfftError(f"a value of shape {np.shape(value)}; the slice of the whole array has {shape}") from None
        np.asarray(self._of)[local] = whole[tuple(slice(None) if is_kept else None for is_kept in kept)][place]
