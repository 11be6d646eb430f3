"""The time model judged by published all-to-alls of many machines, each machine left out in turn.

Idea: predict every published value twice. Once from public figures alone: the rate of a node's ports, which no exchange can
exceed. Once with two figures fitted to the exchanges of two other numbers of nodes, which a user can measure in one small
run: the rate that the ports reach, and the time of the ports for a message. The range of measured over predicted time comes
from the other machines alone, each with the same weight.
Source: leave-one-group-out cross-validation, as in `pencilmap.model.times.held_out`.
Cost: a fit of two figures for each series, a second for all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.times.calibrate import OUTLIER, Sample
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.held_out import LIKELY
from pencilmap.model.times.published import MeasuredExchange, measured_exchanges
from pencilmap.model.times.timing import ExchangeWork, exchange_terms

MOST_FITTED = 16     # nodes of the larger of the two runs
CLOSE = 0.25         # relative error of a good prediction
SIZES = 1 << 10, 1 << 12, 1 << 14  # bytes: each begins a class of messages with its own range
LEAST_RATIO = 1.0    # with public figures: nothing is faster than the ports


@dataclass(frozen=True)
class Value:
    """A published value: the sample, its machine, its series (one program and MPI), and whether the series' fit uses it."""

    machine: str
    network: str
    series: str
    nodes: int
    sample: Sample
    is_fitted: bool

    @property
    def message_bytes(self) -> float:
        return self.sample.work.message_bytes if isinstance(self.sample.work, ExchangeWork) else 0.0

    @property
    def size(self) -> int:
        """The class of `SIZES`, by its smallest message; 0 below all."""
        return max((least for least in SIZES if least <= self.message_bytes * (1 + 1e-9)), default=0)


@dataclass(frozen=True)
class Judged:
    """A value beside a prediction.

    Parameters
    ----------
    value : Value
    ratio : float
        Measured over predicted time.
    range : (float, float) or None
        The range of the ratio that the other machines lead to expect; None if they have no messages of this size.
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
        found += [Value(machine, each.network, f"{mpi}, {call}", each.nodes, Sample(
            f"{machine} {mpi} {call}, {each.nodes} nodes, {each.message_bytes:g} bytes", phase="exchange", size="",
            work=exchange_work(each), measured_s=each.time_s, exchange=call), each.nodes in fitted) for each in some]
    return found


def by_public_figures(values: Iterable[Value]) -> list[Judged]:
    """Return every value over the time of the busiest port."""
    return _ranged([Judged(value, value.sample.measured_s / value.sample.work.link_s) for value in values
                    if isinstance(value.sample.work, ExchangeWork)], LEAST_RATIO)


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
    return _ranged(found)


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


def _ranged(judged: Sequence[Judged], least: float | None = None) -> list[Judged]:
    return [replace(each, range=expected_range([other for other in judged if other.value.machine != each.value.machine],
                                               each.value.size, least)) for each in judged]


def expected_range(judged: Iterable[Judged], size: int, least: float | None = None) -> tuple[float, float] | None:
    """Return the range that holds `LIKELY` of the ratios of a class of messages, each machine with the same weight.

    Parameters
    ----------
    judged : iterable of Judged
    size : int
        See `Value.size`.
    least : float, optional
        The lower end, if its cause is known.
    """
    some = [each for each in judged if each.value.size == size]
    machines = [each.value.machine for each in some]
    if not some:
        return None
    ratios, weights = np.array([each.ratio for each in some]), np.array([1 / machines.count(name) for name in machines])
    order = np.argsort(ratios)
    shares = np.cumsum(weights[order]) / weights.sum()
    low, high = (float(ratios[order][np.searchsorted(shares, end)]) for end in ((1 - LIKELY) / 2, (1 + LIKELY) / 2))
    return low if least is None else least, high
