"""The traffic of a program on other process grids, predicted from traces on some: halos, and FFTs on R x C ranks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints, factorisations
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.placement.grid import LIBRARIES, ProcessGrid
from pencilmap.model.traffic.patterns import ENOUGH, FFT, HALO, SMALL, patterns
from pencilmap.model.traffic.program import COLLECTIVE, POINT, Pairs, Traffic, joined, pairs_of

# Programs and libraries whose process grid can be chosen: the words of the grid, and the order of its ranks.

@dataclass(frozen=True)
class Code:
    """A line of the table.

    title : name for readers
    words : the grid as the program takes it; `{0}` is its first number
    source : documentation or source that says so
    axes : number of extents
    kind : `HALO` or `FFT`
    library : of an FFT, its name in `LIBRARIES`, which has its words
    first_fastest : whether successive ranks differ along the first axis
    forwards : if halos go axis after axis, and those that have come are sent on: from how many sides they come
    has_own_ends : whether such halos also come from the other end of an axis with a single rank
    periodic : whether ends are usually neighbours
    """

    title: str
    words: str
    source: str
    axes: int = 3
    kind: str = HALO
    library: str = ""
    first_fastest: bool = False
    forwards: int = 0
    has_own_ends: bool = False
    periodic: bool = False

    def said(self, extents: tuple[int, ...]) -> str:
        """Return a grid in the words of the program; of an FFT, R x C.

        >>> CODES["lammps"].said((2, 2, 4)), CODES["p3dfft"].said((4, 8))
        ('processors 2 2 4', 'iproc=4, jproc=8')
        """
        return LIBRARIES[self.library].said(ProcessGrid(*extents)) if self.library else self.words.format(*extents)

    def numbers(self, text: str) -> tuple[int, ...] | None:
        """Return the extents of a grid in words or plain numbers, None if there are not as many.

        >>> CODES["lammps"].numbers("processors 2 2 4"), CODES["2decomp"].numbers("p_row=8, p_col=4")
        ((2, 2, 4), (4, 8))
        """
        result = tuple(int(word) for word in re.split(r"[\sx=(),{}]+", text) if word.isdecimal())
        if len(result) != self.axes or min(result) < 1:
            return None
        return LIBRARIES[self.library].grid(*result).shape if self.library else result


_MPI = "MPI standard, Process Topologies: row-major numbering is always used"
_P3DFFT = "https://github.com/sdsc/p3dfft, P3DFFT_User_Guide_2.7.5.pdf"
CODES = {
    "lammps": Code("LAMMPS", "processors {0} {1} {2}", "https://docs.lammps.org/processors.html, comm_style.html",
                   forwards=2, has_own_ends=True, periodic=True),
    "gromacs": Code("GROMACS", "-dd {0} {1} {2}", "https://manual.gromacs.org/current/onlinehelp/gmx-mdrun.html",
                    forwards=1, periodic=True),
    "nemo": Code("NEMO", "jpni={0} jpnj={1}", "namelist_ref, nammpp; src/OCE/LBC/mppini.F90", 2, first_fastest=True),
    "wrf": Code("WRF", "nproc_x={0} nproc_y={1}", "https://github.com/wrf-model/WRF, run/README.namelist; "
                "external/RSL_LITE/module_dm.F", 2, first_fastest=True),
    "openfoam": Code("OpenFOAM", "n ({0} {1} {2}), order xyz", "https://github.com/OpenFOAM/OpenFOAM-dev, src/parallel/"
                     "decompose/decompositionMethods/hierarchical/hierarchical.C", first_fastest=True),
    "cp2k": Code("CP2K", "DISTRIBUTION_LAYOUT {0} {1} {2}", "https://manual.cp2k.org/cp2k-2023_1-branch/CP2K_INPUT/"
                 "FORCE_EVAL/DFT/POISSON/EWALD/RS_GRID.html", periodic=True),
    "2decomp": Code("2DECOMP&FFT", "", "https://2decomp-fft.github.io/pages/api_domain.html", 2, FFT, "2decomp",
                    first_fastest=True),
    "p3dfft": Code("P3DFFT", "", _P3DFFT, 2, FFT, "p3dfft", first_fastest=True),
    "fft": Code("FFT", "{0}x{1}", "R x C ranks as in `Pattern`", 2, FFT, first_fastest=True),
    "cart2d": Code("MPI", "dims {{{0}, {1}}}", _MPI, 2),
    "cart3d": Code("MPI", "dims {{{0}, {1}, {2}}}", _MPI),
}


TRACED = {  # options that need a trace each, for they change more than a grid: as they are typed
    "gromacs": "gmx_mpi mdrun -npme N -dd X Y Z",
    "qe": "pw.x -nk N -nt N -nd N",
}


# Ranks that exchange in a grid differ along some axes, by one step in a halo, by any number of steps in an FFT. All pairs
# that differ along the same axes get equal messages. So a grid has a size of message for each set of axes.
#
# FFT: what a rank sends to all others of a row does not depend on the grid; a message is 1 / R of it.
# Halo: a message is a layer of constant depth, so its size goes with the extents of a subdomain along the other axes.
# Codes that forward their halos (first x; then y with the halos of x; then z) send longer layers: along an axis with halos
# from s sides already, the extent is 1 / p + s u of the domain, where u is depth over length of the domain. The u and the
# common factor are fitted to all traces. A trace that splits all axes has an equation less than unknowns: the lengths of the
# domain are needed then, unless it is a cube, for which the trace has an equation more than unknowns.

MOST_OTHERS = 64  # grids of a code that are predicted
NEAR_CUBE = 1e-2  # weight of the shape of the domain in the fit, beside log(bytes)
OTHER_GRID = 0.05  # part of the bytes by which the pattern of another grid is the better one, so that a name is wrong
MOVED = 0.05  # part of the bytes that may be between other ranks than in the pattern
NO_CUBE = 1.05  # ratio of the largest to the least fitted length from which on a domain cannot be a cube


@dataclass(frozen=True)
class Gridded:
    """A trace of a code on a grid.

    extents : extents of the grid in the code's order, for an FFT R and C
    """

    traffic: Traffic
    code: Code
    extents: tuple[int, ...]

    @cached_property
    def periodic(self) -> tuple[bool, ...]:
        """For each axis of a halo, whether its ends are neighbours.

        Ends of 2 ranks are known by their numbers of messages: twice those of other axes. If this does not tell, they are
        taken as usual for the code.
        """
        pairs = self.traffic.pairs.of([POINT])
        moved = _moved(self.code, self.extents, pairs.source, pairs.target)
        alone = (moved != 0).sum(axis=0) == 1
        sums = pairs.bytes[alone].sum()
        counts = {i: pairs.messages[alone & (moved[i] != 0)].sum() / (2 * self.traffic.n_ranks * (p - 1) / p)
                  for i, p in enumerate(self.extents) if p > 1}
        wraps = {i: bool(pairs.bytes[alone & (np.abs(moved[i]) == p - 1)].sum() > SMALL * sums / p)
                 for i, p in enumerate(self.extents) if p > 2}
        usual = min((counts[i] * (p - 1) / p if wraps[i] else counts[i] for i, p in enumerate(self.extents) if p > 2),
                    default=0.0)
        others = self.code.periodic and all(wraps.values())
        return tuple(wraps[i] if i in wraps else others or bool(usual and counts.get(i, 0) > 1.5 * usual)
                     for i in range(len(self.extents)))

    @cached_property
    def axes(self) -> Ints:
        """For each pair, a number whose bits are the axes along which its ranks differ; 0 outside the pattern."""
        pairs = self.traffic.pairs
        result = _axes(self.code, self.extents, pairs.source, pairs.target)
        return np.where(np.isin(pairs.kind, COLLECTIVE), 0, result) if self.code.kind == HALO else result

    @cached_property
    def upwards(self) -> tuple[float, ...]:
        """For each axis, the part of its bytes that goes to the next position; in rings of 2, as for the other axes."""
        pairs = self.traffic.pairs
        moved, known = _moved(self.code, self.extents, pairs.source, pairs.target), dict[int, float]()
        for i, p in enumerate(self.extents):
            own = (self.axes == 1 << i) if p > 2 else np.zeros(len(pairs), bool)
            if total := pairs.bytes[own].sum():
                known[i] = float(pairs.bytes[own & (moved[i] % p == 1)].sum() / total)
        usual = sum(known.values()) / len(known) if known else 0.5
        return tuple(known.get(i, usual) for i in range(len(self.extents)))

    @cached_property
    def in_turn(self) -> bool:
        """Whether most bytes of a halo go to one neighbour after another, not to all at once."""
        if self.code.kind == FFT:
            return False
        ends = np.cumsum([0, *(len(phase.pairs) for phase in self.traffic.phases)])
        alone = [phase.pairs.where(self.axes[begin:begin + len(phase.pairs)] > 0)
                 for phase, begin in zip(self.traffic.phases, ends)]
        return bool(2 * sum(int(pairs.bytes.sum()) for pairs in alone if _has_one_partner(pairs)) >
                    sum(int(pairs.bytes.sum()) for pairs in alone))

    @property
    def part(self) -> float:
        """Part of the bytes that are in the pattern."""
        total = int(self.traffic.pairs.bytes.sum())
        return float(self.traffic.pairs.bytes[self.axes > 0].sum()) / total if total else 0.0

    def message(self, axes: int) -> float:
        """Return the bytes of a message to a rank that differs along these axes, in all phases."""
        return float(self.traffic.pairs.bytes[self.axes == axes].sum()) / max(1.0, _number(self, self.extents, axes))


def _moved(code: Code, extents: tuple[int, ...], source: Ints, target: Ints) -> Ints:
    """Return the steps from source to target: int array, shape (axes, pairs), in a halo around the ends the short way."""
    order = slice(None, None, -1) if code.first_fastest else slice(None)
    a, b = (np.array(np.unravel_index(ranks, extents[order]))[order] for ranks in (source, target))
    return b - a


def _axes(code: Code, extents: tuple[int, ...], source: Ints, target: Ints) -> Ints:
    moved, size = _moved(code, extents, source, target), np.array(extents)[:, None]
    short = np.abs((moved + size // 2) % size - size // 2).max(axis=0) if code.kind == HALO else (moved != 0).sum(axis=0)
    return np.where(short <= 1, ((moved != 0) * 2 ** np.arange(len(extents))[:, None]).sum(axis=0), 0)


def _split(extents: tuple[int, ...], axes: int) -> list[tuple[int, int]]:
    """Yield the axes of a number with their extents."""
    return [(i, p) for i, p in enumerate(extents) if axes >> i & 1]


def _number(trace: Gridded, extents: tuple[int, ...], axes: int) -> float:
    """Return the number of messages between ranks that differ along these axes."""
    if trace.code.kind == FFT:
        return prod(extents) * prod(p - 1 for _, p in _split(extents, axes))
    return prod(extents) * prod(2 if trace.periodic[i] else 2 * (p - 1) / p for i, p in _split(extents, axes))


def _targets(trace: Gridded, extents: tuple[int, ...], axes: int) -> Iterator[tuple[Ints, Ints, float]]:
    """Yield sources and targets of these messages for each step, and the step's bytes over the mean."""
    n, split, order = prod(extents), _split(extents, axes), slice(None, None, -1 if trace.code.first_fastest else None)
    at = np.array(np.unravel_index(np.arange(n), extents[order]))[order]
    for step in product(*(range(1, p) if trace.code.kind == FFT else (-1, 1) for _, p in split)):
        to, inside = at.copy(), np.ones(n, bool)
        for (i, p), by in zip(split, step):
            to[i] += by
            inside &= (trace.code.kind == FFT or trace.periodic[i]) | ((to[i] >= 0) & (to[i] < p))
            to[i] %= p
        up = trace.upwards[split[0][0]] if trace.code.kind == HALO and len(split) == 1 else 0.5
        yield (np.arange(n)[inside], np.ravel_multi_index(tuple(to[order]), extents[order])[inside],
               2 * (up if step[0] > 0 else 1 - up))


def _depths(traces: Sequence[Gridded], lengths: Sequence[float]) -> Any:
    """Return depth of the halo over length of the domain along each axis: 0 if halos are not forwarded."""
    code, d = traces[0].code, len(traces[0].extents)
    if not code.forwards:
        return np.zeros(d)
    from scipy.optimize import least_squares  # slow to import

    known = [(trace.extents, i, np.log(trace.message(1 << i))) for trace in traces
             for i, p in enumerate(trace.extents) if p > 1 and trace.message(1 << i)]
    shape = np.log(lengths or np.ones(d))

    def errors(x: Floats) -> Floats:
        sizes = [x[0] + x[1 + i] + np.log(_face(code, extents, i, np.exp(x[1:]))) - value for extents, i, value in known]
        return np.array([*sizes, *(NEAR_CUBE * (x[1:] + shape - (x[1:] + shape).mean()))])

    depths = np.exp(least_squares(errors, np.array([known[0][2], *[-3.0] * d])).x[1:])
    is_cube = len(known) == d and depths.max() < NO_CUBE * depths.min()
    if not lengths and len(known) <= d and not is_cube:
        raise TrafficError("the trace does not tell the shape of the domain; name its lengths with `code`, such as "
                           f"{code.title.lower()}:{'x'.join(['40', '20', '20'][:d])}, or add a trace on another grid")
    return depths


def _face(code: Code, extents: tuple[int, ...], axis: int, depths: Floats) -> Any:
    """Return the area of a layer across an axis, in areas of the domain; axes before it may have halos already."""
    return prod(1 / p + (code.forwards * depths[j] if j < axis and (p > 1 or code.has_own_ends) else 0)
                for j, p in enumerate(extents) if j != axis)


def _ratio(trace: Gridded, extents: tuple[int, ...], axes: int, depths: Floats) -> Any:
    """Return a message's bytes on another grid over those in the trace."""
    if trace.code.kind == FFT:
        return prod(p / extents[i] for i, p in _split(trace.extents, axes))
    if axes & (axes - 1) == 0:
        axis = axes.bit_length() - 1
        return _face(trace.code, extents, axis, depths) / _face(trace.code, trace.extents, axis, depths)
    return prod(p / extents[i] for i, p in enumerate(trace.extents) if not axes >> i & 1)


def gridded(traffic: Traffic, code: Code, name: str = "") -> Gridded:
    """Return a trace with its grid: the numbers in its name, otherwise the recognised extents.

    Raises
    ------
    TrafficError
        If no grid with as many axes as the code's is named or recognised, too few of the bytes are in its pattern, or the
        named grid has another number of ranks or a worse pattern than that of the recognised one.
    """
    named = code.numbers(name)
    if named and prod(named) != traffic.n_ranks:
        raise TrafficError(f"the trace of {name} has {traffic.n_ranks} ranks, and this grid {prod(named)}; name the grid on "
                           "which the trace was made")
    shapes = [p.extents for p in patterns(traffic) if p.kind != FFT] if code.kind == HALO else \
        [p.extents for p in patterns(traffic) if p.kind == FFT and not p.shuffled]
    seen = max((Gridded(traffic, code, shape[::-1] if code.first_fastest and code.kind == HALO else shape)
                for shape in shapes if len(shape) == code.axes), key=lambda trace: trace.part, default=None)
    best = Gridded(traffic, code, named) if named else seen
    if named and seen and best and ENOUGH <= best.part < seen.part - OTHER_GRID:
        raise TrafficError(f"{seen.part:.0%} of the bytes of {name} are in the {code.kind} of {code.said(seen.extents)}, "
                           f"{best.part:.0%} in that of {code.said(named)}; name the grid on which the trace was made")
    if best is None:
        raise TrafficError(f"the trace shows no grid of {code.axes} axes; name the grid of {code.title} on which it was "
                           f"made with `traffic`, such as '{code.said((2,) * code.axes)}=FILE'")
    if best.part < ENOUGH:
        raise TrafficError(f"only {best.part:.0%} of the bytes are in the {code.kind} of {code.said(best.extents)}; name "
                           "the grid on which the trace was made, or trace each grid")
    seen_bytes, own = (some.total.bytes for some in (traffic, _predicted(best, best.extents, np.ones(code.axes))))
    if (moved := abs(seen_bytes - own).sum() / (2 * seen_bytes.sum())) > MOVED:
        raise TrafficError(f"{moved:.0%} of the bytes are not where the {code.kind} of {code.said(best.extents)} has them: "
                           "another exchange, such as an FFT for long-range forces, is between the same ranks; trace each "
                           "grid, and name the traces with `traffic`")
    return best


def others(traces: Sequence[Gridded], lengths: Sequence[float] = ()) -> Iterator[tuple[str, Traffic]]:
    """Yield the name and the predicted traffic of other grids of as many ranks, at most `MOST_OTHERS`, least bytes first.

    Phases, and all messages outside the pattern, are those of the trace that splits most axes. Only these are split.

    Parameters
    ----------
    traces : sequence of Gridded
        Of one code.
    lengths : sequence of float
        Lengths of the domain, in any unit. Only codes that forward halos need them.

    Raises
    ------
    TrafficError
        If such a code's domain is no cube, its lengths are not given, and the traces do not tell them.
    """
    first, depths = max(traces, key=lambda trace: sum(p > 1 for p in trace.extents)), _depths(traces, lengths)
    done = {trace.extents for trace in traces}
    grids = [extents for extents in factorisations(first.traffic.n_ranks, len(first.extents)) if extents not in done
             and all(p == 1 or first.extents[i] > 1 for i, p in enumerate(extents))]

    def n_bytes(extents: tuple[int, ...]) -> float:
        return sum(_number(first, extents, axes) * first.message(axes) * _ratio(first, extents, axes, depths)
                   for axes in _patterns(first, extents))

    for extents in sorted(grids, key=n_bytes)[:MOST_OTHERS]:
        yield first.code.said(extents), _predicted(first, extents, depths)


def reordered(name: str, traffic: Traffic) -> dict[str, Traffic]:
    """Return the traffic of GROMACS with separate PME ranks under the other `-ddorder`, which only renumber the ranks.

    Parameters
    ----------
    name : str
        The options of the trace, such as ``-npme 4 -dd 3 2 2 -ddorder pp_pme``; without `-npme` the result is empty. The
        order `cartesian` needs `-dd`. It is left out if it also gives the ranks other partners.
    traffic : Traffic

    Raises
    ------
    TrafficError
        If a rank has no messages with its PME rank, so that the trace was made with other options.
    """
    found = {option: tuple(map(int, re.findall(r"\d+", text))) for option, text in
             re.findall(r"-(npme|dd)((?:[ ,x]+\d+)+)", name)}
    (n_pme,), cells, given = found.get("npme", (0,)), found.get("dd", ()), re.search(r"-ddorder[ =]+(\w+)", name)
    order, n_cells = given[1] if given else "interleave", traffic.n_ranks - n_pme
    if not n_pme:
        return {}
    ranks = _orders(n_cells, n_pme, cells) if n_pme <= n_cells and prod(cells or (n_cells,)) == n_cells else {}
    if order in ranks:
        partner = ranks[order][n_cells + _pme_of(n_cells, n_pme)]
        if not traffic.total.bytes.toarray()[ranks[order][:n_cells], partner].all():
            ranks = {}
    if order not in ranks:
        raise TrafficError(f"the trace is none of {name} on {traffic.n_ranks} ranks; name the options of GROMACS with which "
                           "it was made, such as '-npme 4 -dd 3 2 2 -ddorder interleave=FILE'")
    others, start = {}, re.sub(r"\s*-ddorder[ =]+\w+", "", name)
    for other in ranks.keys() - {order}:
        to = ranks[other][np.argsort(ranks[order])]
        others[f"{start} -ddorder {other}"] = replace(traffic, communicators=(), phases=tuple(replace(
            phase, pairs=replace(phase.pairs, source=to[phase.pairs.source], target=to[phase.pairs.target]))
            for phase in traffic.phases))
    return dict(sorted(others.items()))


def _pme_of(n_cells: int, n_pme: int) -> Ints:
    return (np.arange(n_cells) * n_pme + n_pme // 2) // n_cells


def _orders(n_cells: int, n_pme: int, cells: tuple[int, ...]) -> dict[str, Ints]:
    """Return the ranks of the cells, then of the PME ranks, in each order.

    Source: https://github.com/gromacs/gromacs, src/gromacs/domdec/domdec.cpp of 2022.
    """
    number, n = _pme_of(n_cells, n_pme), n_cells + n_pme
    ends = np.append(np.diff(number) > 0, True)
    result = {"pp_pme": np.arange(n), "interleave": np.concatenate([np.arange(n_cells) + np.cumsum(ends) - ends,
                                                                    np.flatnonzero(ends) + 1 + np.arange(n_pme)])}
    if len(cells) != 3 or cells[0] == 1:
        return result
    divides = [n_pme * p % n_cells == 0 for p in cells]
    if not (divides[1] or divides[2]):
        return result | {"cartesian": np.arange(n)}
    has_rows = cells[1] > 1 and n_pme > cells[0] and n_pme % cells[0] == 0
    axis = 2 if divides[2] and (has_rows or not divides[1] or cells[1] > cells[2]) else 1
    more, at = n_pme * cells[axis] // n_cells, np.array(np.unravel_index(np.arange(n_cells), cells))
    at[axis] = (at[axis] * more + more // 2) // cells[axis]
    extents, added_cells = ([*cells[:axis], length, *cells[axis + 1:]] for length in (cells[axis] + more, more))
    if (np.ravel_multi_index(tuple(at), added_cells) == number).all():
        place = np.unravel_index(np.arange(n), extents)[axis]
        result["cartesian"] = np.argsort(place >= cells[axis], kind="stable")
    return result


def _patterns(trace: Gridded, extents: tuple[int, ...]) -> list[int]:
    """Return the sets of axes along which ranks exchange on a grid."""
    return [axes for axes in np.unique(trace.axes).tolist() if axes and all(p > 1 for _, p in _split(extents, axes))]


def _predicted(trace: Gridded, extents: tuple[int, ...], depths: Floats) -> Traffic:
    """Return the traffic on another grid; steps that follow one another in the trace do so here."""
    ends, phases = np.cumsum([0, *(len(phase.pairs) for phase in trace.traffic.phases)]), []
    for phase, begin in zip(trace.traffic.phases, ends):
        of_row = trace.axes[begin:begin + len(phase.pairs)]
        steps = []
        for axes in _patterns(trace, extents):
            rows, number = phase.pairs.where(of_row == axes), _number(trace, trace.extents, axes)
            n_bytes = rows.bytes.sum() / number * _ratio(trace, extents, axes, depths)
            steps += [pairs_of(source, target, round(n_bytes * share), round(rows.messages.sum() / number))
                      for source, target, share in _targets(trace, extents, axes) if len(rows)]
        together = 1 if trace.in_turn and _has_one_partner(phase.pairs.where(of_row > 0)) else max(1, len(steps))
        phases.append(replace(phase, pairs=joined([phase.pairs.where(of_row == 0), *steps[:together]])))
        phases += [replace(phase, pairs=step, seconds=_none_of(phase.seconds), computing=_none_of(phase.computing),
                           waiting=_none_of(phase.waiting)) for step in steps[together:]]
    return replace(trace.traffic, phases=tuple(phases), communicators=())


def _none_of(seconds: Any) -> Any:
    return None if seconds is None else 0 * seconds


def _has_one_partner(pairs: Pairs) -> bool:
    """Return whether no rank sends to two others."""
    ends = np.unique([pairs.source, pairs.target], axis=1)
    return bool(np.bincount(ends[0]).max(initial=0) == 1)
