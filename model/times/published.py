"""Published measurements as data, and the time model judged by those of many machines, each machine left out in turn.

Idea: predict every published value twice. Once from public figures alone: the rate of a node's ports, which no exchange can
exceed. Once with two figures fitted to the exchanges of two other numbers of nodes, which a user can measure in one small
run: the rate that the ports reach, and the time of the ports for a message. The range of measured over predicted time comes
from the other machines alone, each with the same weight.
Source: leave-one-group-out cross-validation, as in `pencilmap.model.times.calibrate`.
Cost: a fit of two figures for each series, a second for all.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.base.reading import own_table
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.times.calibrate import OUTLIER, Fit, Sample, divisions
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.expected import (
    CLASSES,
    FITTED_GAIN,
    LIKELY,
    PUBLIC_GAIN,
    SIZES,
    SWITCHES,
    TORUS,
    class_of,
    size_of,
    unmeasured,
)
from pencilmap.model.times.timing import ExchangeWork, exchange_terms


@dataclass(frozen=True)
class Cell:
    """A measured time of the Blue Gene/L table.

    Parameters
    ----------
    tasks_per_node : int
        1 (CO mode) or 2 (VN mode).
    mapping : str
        "default", "cube8" or "cube64", the paper's words.
    phase : str
        The name of a stage, or "total" (which contains the FFTs).
    """

    tasks_per_node: int
    grid: ProcessGrid
    mapping: str
    phase: str
    transform: Transform
    time_s: float

    @property
    def mode(self) -> str:
        return {1: "CO", 2: "VN"}[self.tasks_per_node]

    @property
    def placement(self) -> str:
        """Our name for the mapping. The paper states no default order for VN mode; both slot orders give the same m."""
        return {"cube8": "box:2x2x2", "cube64": "box:4x4x4", "default": "default"}[self.mapping]


def bluegene_l_512() -> list[Cell]:
    """Return times of a forward 3D-FFT on 512 chips of Blue Gene/L, Appendix A of Jagode, Hein, Trew, UT-CS-08-613 (2008).

    >>> cells = bluegene_l_512()
    >>> max(cell.time_s for cell in cells if cell.phase == "row")
    0.277
    """
    return [_cell(line) for line in own_table("bluegene_l_512.csv") if line["time_ms"]]


def _cell(line: dict[str, str]) -> Cell:
    n = int(line["n"])
    return Cell({"CO": 1, "VN": 2}[line["mode"]], ProcessGrid(int(line["row_length"]), int(line["column_length"])),
                line["mapping"], line["phase"], Transform(n, n, n), float(line["time_ms"]) * 1e-3)


def p3dfft_2012() -> dict[str, float]:
    """Return the numbers in the text of Pekurovsky, SIAM J. Sci. Comput. 34 (2012), about its figures, by quantity; SI
    units.

    The points of the figures are not included, because the paper prints its figures as pictures.

    >>> p3dfft_2012()["effective_bisection"] / 1e9
    212.0
    """
    return {line["quantity"]: float(line["value"]) for line in own_table("p3dfft_2012.csv")}


@dataclass(frozen=True)
class MeasuredExchange:
    """A published time of an all-to-all.

    Parameters
    ----------
    machine, network, mpi, call : str
        Names of the machine, of its kind of network, of MPI, and of the call.
    port : float
        Bytes per second of a node's ports, by a public figure.
    nodes, tasks_per_node : int
        Full nodes in the order of ranks; only the last one may have fewer tasks.
    group, stride : int
        Ranks of a group, and the distance of their numbers; all groups exchange at once.
    message_bytes : int
        From a rank to each other rank of its group.
    """

    machine: str
    network: str
    port: float
    mpi: str
    call: str
    nodes: int
    tasks_per_node: int
    group: int
    stride: int
    message_bytes: int
    time_s: float


def measured_exchanges() -> list[MeasuredExchange]:
    """Return published all-to-alls of many machines; the comments of the data file name their sources.

    >>> len(measured_exchanges())
    1443
    """
    return [MeasuredExchange(line["machine"], line["network"], float(line["port_GBps"]) * 1e9, line["mpi"], line["call"],
                             int(line["nodes"]), int(line["tasks_per_node"]), int(line["group"]), int(line["stride"]),
                             int(size), float(time) * 1e-6)
            for line in own_table("measured_exchanges.csv")
            for size, time in (each.split(":") for each in line["times"].split())]


PUBLISHED = {  # machine of the package: its cells
    "bluegene-l": bluegene_l_512,
}


MOST_FITTED = 16     # nodes of the larger of the two runs
CLOSE = 0.25         # relative error of a good prediction
LEAST_RATIO = 1.0    # with public figures: nothing is faster than the ports
OTHERS = 0.95        # share of the other machines' values in a range, so that it holds `LIKELY` of a machine left out
FAULT = 10.0         # a time of so many predictions is a fault of its run: it counts as missed, but widens no range
DEFAULT = "default"  # placement with which others are compared


@dataclass(frozen=True)
class Value:
    """A published value: the sample, its machine, its series (one program and MPI), whether the series' fit uses it, and the
    largest number of nodes and the smallest message of this fit (0 without one).
    """

    machine: str
    network: str
    series: str
    nodes: int
    sample: Sample
    is_fitted: bool
    fitted_nodes: int = 0
    fitted_message: float = 0.0

    @property
    def message_bytes(self) -> float:
        return self.sample.work.message_bytes if isinstance(self.sample.work, ExchangeWork) else 0.0

    @property
    def size(self) -> int:
        """The class of `SIZES`, by its smallest message; 0 below all."""
        return size_of(self.message_bytes)

    def group(self, by_fit: bool) -> tuple[str, int] | None:
        """The classes that share a range: of `expected.class_of`, and of the size; None without a range."""
        kind, fit = TORUS if self.network == TORUS else SWITCHES, self.fitted_nodes if by_fit else None
        if unmeasured(kind, self.nodes, self.message_bytes, fit, self.fitted_message):
            return None
        return class_of(kind, self.nodes, fit), self.size


@dataclass(frozen=True)
class Judged:
    """A value beside a prediction.

    Parameters
    ----------
    value : Value
    ratio : float
        Measured over predicted time.
    range : (float, float) or None
        The range of the ratio that the other machines lead to expect; None if nothing like it was measured.
    """

    value: Value
    ratio: float
    range: tuple[float, float] | None = None

    @property
    def is_close(self) -> bool:
        """Whether the larger of the two times is within `CLOSE` of the smaller."""
        return max(self.ratio, 1 / self.ratio) <= 1 + CLOSE

    @property
    def is_held(self) -> bool:
        """Whether the measured time lies in the range."""
        return self.range is not None and self.range[0] <= self.ratio <= self.range[1]


def exchange_work(each: MeasuredExchange) -> ExchangeWork:
    """Return the work of an all-to-all in groups of ranks on full nodes; the busiest link is the port of the busiest node.

    >>> work = exchange_work(next(each for each in measured_exchanges() if each.nodes == 4))
    >>> work.messages, work.tasks, work.task_bytes / work.message_bytes
    (95, 24, 72.0)
    """
    nodes = np.arange(each.group * each.stride).reshape(each.group, each.stride).T // each.tasks_per_node
    mates = (nodes[:, :, None] == nodes[:, None, :]).sum(axis=2) if each.stride > 1 else \
        np.bincount(nodes[0])[nodes]
    off, inside = (np.bincount(nodes.ravel(), some.ravel() * each.message_bytes).max() for some in
                   (each.group - mates, mates - 1))
    roots = (each.group - 1) * (each.message_bytes / 1024) ** 0.5
    sent = (each.group - mates).max() * each.message_bytes
    return ExchangeWork(float(off / each.port), adaptive_s=None, task_bytes=float(sent), node_bytes=float(off),
                        messages=each.group - 1, hops=0.0, tasks=each.tasks_per_node,
                        message_roots=roots, inside_bytes=float(inside))


def exchange_values() -> list[Value]:
    """Return every value of `measured_exchanges`; the fit of a series uses its smallest number of nodes and the largest up
    to `MOST_FITTED`, if a third is left to predict."""
    found, keys = list[Value](), dict[tuple[str, str, str], list[MeasuredExchange]]()
    for each in measured_exchanges():
        keys.setdefault((each.machine, each.mpi, each.call), []).append(each)
    for (machine, mpi, call), some in keys.items():
        counts = sorted({each.nodes for each in some})
        fitted = {counts[0], max(n for n in counts if n <= max(MOST_FITTED, counts[0]))} if len(counts) > 2 else set[int]()
        least = min((each.message_bytes for each in some if each.nodes in fitted), default=0)
        found += [Value(machine, each.network, f"{mpi}, {call}", each.nodes, Sample(
            f"{machine} {mpi} {call}, {each.nodes} nodes, {each.message_bytes:g} bytes", phase="exchange", size="",
            work=exchange_work(each), measured_s=each.time_s, exchange=call), each.nodes in fitted, max(fitted, default=0),
            least) for each in some]
    return found


def by_public_figures(values: Iterable[Value]) -> list[Judged]:
    """Return every value over the time of the busiest port."""
    return _ranged([Judged(value, value.sample.measured_s / value.sample.work.link_s) for value in values
                    if isinstance(value.sample.work, ExchangeWork)], by_fit=False)


def by_two_figures(values: Iterable[Value]) -> list[Judged]:
    """Return the values that their series' fit does not use, over their predicted times."""
    found = list[Judged]()
    for _, group in groupby(values, key=lambda value: (value.machine, value.series)):
        some = list(group)
        training = [value.sample for value in some if value.is_fitted]
        if not training:
            continue
        costs = two_figures(training)
        found += [Judged(value, value.sample.measured_s / time_s) for value in some
                  if not value.is_fitted and (time_s := value.sample.time_s(costs))]
    return _ranged(found, by_fit=True)


def two_figures(samples: Sequence[Sample]) -> Costs:
    """Return the rate that the ports of a node reach, and their time for a message, fitted to measured exchanges."""
    from scipy.optimize import least_squares

    names = ExchangeWork.__dataclass_fields__
    arrays: dict[str, Any] = {name: np.array([getattr(s.work, name) or 0.0 for s in samples], float) for name in names}
    work = ExchangeWork(**arrays)
    measured = np.array([s.measured_s for s in samples])
    rate, cost = (work.node_bytes / measured).max(), (measured / work.node_messages).min()

    def costs(x: Floats) -> Costs:
        return Costs(injection_per_node=float(rate * np.exp(x[0])), node_message_cost_s=float(cost * np.exp(x[1])))

    fit = least_squares(lambda x: np.log(exchange_terms(work, costs(x)).time_s / measured), (0.0, -1.0), loss="soft_l1",
                        f_scale=OUTLIER)
    return costs(fit.x)


def _ranged(judged: Sequence[Judged], by_fit: bool) -> list[Judged]:
    found, ranges = list[Judged](), dict[Any, tuple[float, float] | None]()
    for each in judged:
        group = each.value.group(by_fit)
        key = each.value.machine, group
        if group and key not in ranges:
            ranges[key] = error_range([other for other in in_class(judged, by_fit, *group)
                                       if other.value.machine != each.value.machine], by_fit)
        found.append(replace(each, range=ranges.get(key)))
    return found


def in_class(judged: Iterable[Judged], by_fit: bool, name: str, size: int) -> list[Judged]:
    """Return the values of a class of `pencilmap.model.times.expected.CLASSES` and a size of message."""
    return [each for each in judged if each.value.group(by_fit) == (name, size)]


def error_range(judged: Sequence[Judged], by_fit: bool) -> tuple[float, float] | None:
    """Return the range that holds `OTHERS` of the ratios, each machine with the same weight; None for one machine.

    With fitted figures it is the middle, with public figures it begins at `LEAST_RATIO`. It always holds 1, the prediction.
    The share is above `LIKELY`, because a machine left out differs more from the others than these among each other.
    """
    ratios = [(each.value.machine, each.ratio) for each in judged if each.ratio < FAULT]
    if len({machine for machine, _ in ratios}) < 2:
        return None
    low, high = middle_range(ratios, OTHERS if by_fit else 2 * OTHERS - 1)
    return min(low, 1.0) if by_fit else LEAST_RATIO, max(high, 1.0)


def middle_range(ratios: Sequence[tuple[str, float]], share: float) -> tuple[float, float]:
    """Return the middle range that holds a share of ratios, given with their machines, each machine with the same weight."""
    number = Counter(machine for machine, _ in ratios)
    ordered = sorted(ratios, key=lambda each: each[1])
    shares = np.cumsum([1 / number[machine] for machine, _ in ordered]) / len(number)
    low, high = (ordered[int(np.searchsorted(shares, end - 1e-9))][1] for end in ((1 - share) / 2, (1 + share) / 2))
    return low, high


def held_share(judged: Iterable[Judged]) -> float:
    """Return the share of values in their ranges, each machine with the same weight; values without a range do not count."""
    held: dict[str, list[bool]] = {}
    for each in judged:
        if each.range:
            held.setdefault(each.value.machine, []).append(each.is_held)
    return float(np.mean([np.mean(some) for some in held.values()]))


def measured_gains(samples: Sequence[Sample], fit: Fit,
                   all_to_all_s: Callable[[str], float]) -> dict[str, list[tuple[str, float]]]:
    """Return measured over predicted gains of placements, or wirings, over another for the same exchanges, by class, with
    their machines.

    Parameters
    ----------
    samples : sequence of Sample
        Exchanges of Blue Gene/L.
    fit : callable
        Samples -> Calibration; the size of the transform of a gain is held out.
    all_to_all_s : callable
        Text of a network -> seconds of an all-to-all among its nodes, by the busiest link.
    """
    fits = [(fit(division.training), division.others) for division in divisions(samples)
            if division.rule == "one size out"]
    held = {each: found for found, others in fits for each in others}
    transforms: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for each in samples:
        setup, _, placement = each.placement.rpartition(" ")
        transforms.setdefault((setup, each.size), {}).setdefault(placement, []).append(each)
    found: dict[str, list[tuple[str, float]]] = {PUBLIC_GAIN: [], FITTED_GAIN: []}
    for placed in transforms.values():
        usual = placed.pop(DEFAULT, [])
        for some in placed.values() if usual else ():
            gain, by_links, by_figures = (
                sum(map(time, usual)) / sum(map(time, some)) for time in (
                    lambda each: each.measured_s, lambda each: each.work.link_s,
                    lambda each: held[each].time_s(each)))
            found[FITTED_GAIN].append(("Blue Gene/L", gain / by_figures))
            if all(size_of(each.work.message_bytes) for each in some):
                found[PUBLIC_GAIN].append(("Blue Gene/L", gain / by_links))
    found[PUBLIC_GAIN] += [(line["machine"], float(line["four_switches_us"]) / float(line["one_switch_us"]))
                           for line in own_table("measured_placements.csv")]
    found[PUBLIC_GAIN] += [(line["machine"], float(line["gain"]) * twisted_s / plain_s)
                           for line in own_table("measured_slices.csv")
                           for plain_s, twisted_s in [map(all_to_all_s, (line["plain"], line["twisted"]))]]
    return found


def range_rows(values: Sequence[Value], gains: dict[str, list[tuple[str, float]]]) -> list[tuple[str, ...]]:
    """Return the rows of `pencilmap.model.times.expected.RANGES`: class, smallest message, range, values, machines."""
    rows = []
    for by_fit, judged in enumerate((by_public_figures(values), by_two_figures(values))):
        for name, size in product(CLASSES, SIZES):
            if ends := error_range(some := in_class(judged, bool(by_fit), name, size), bool(by_fit)):
                rows.append(_row(name, size, ends, len(some), {each.value.machine for each in some}))
    return rows + [_row(name, 0, middle_range(some, LIKELY), len(some), {machine for machine, _ in some})
                   for name, some in gains.items()]


def _row(name: str, size: int, ends: tuple[float, float], number: int, machines: set[str]) -> tuple[str, ...]:
    return name, str(size), f"{ends[0]:.3g}", f"{ends[1]:.3g}", str(number), str(len(machines))
