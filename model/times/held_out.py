"""The errors of the time model on held-out data: fair ways to divide measured exchanges.

Idea: neighbours of one configuration are alike, so a rule such as "every second" tests little more than the noise. Each
division here holds out whole placements, whole sizes, or all runs with another number of tasks on a node. A prediction
before the first run is in the same situation. Every division is a fit of its own.
Source: cross-validation by groups after S. Arlot, A. Celisse, "A survey of cross-validation procedures for model
selection", Statistics Surveys 4 (2010), 40-79.
Cost: one fit for each division, about a second each.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.times.calibrate import Calibration, Errors, Sample, errors
from pencilmap.model.times.timing import ExchangeWork, LocalWork

N_HALVES = 30
LIKELY = 0.9          # share of the held-out times that lie in the likely range
LEAST_HELD_OUT = 20   # fewer residuals do not show the outer twentieths
ROUNDED = 1e-3        # relative error of the sizes in a machine file
Fit = Callable[[Sequence[Sample]], Calibration]


@dataclass(frozen=True)
class Division:
    """Samples to fit, and held-out samples."""

    rule: str
    held_out: str  #: description of the held-out samples
    training: tuple[Sample, ...]
    others: tuple[Sample, ...]


def divisions(samples: Sequence[Sample]) -> Iterator[Division]:
    """Yield every fair division of the exchanges among the samples; `computing_divisions` divides the computing."""
    some = [s for s in samples if isinstance(s.work, ExchangeWork)]
    for number, chosen in enumerate(_halves(len(some)), 1):
        yield _divided("random halves", f"half {number}", some, chosen)
    for placement in dict.fromkeys(s.placement for s in some):
        yield _divided("one placement out", placement, some, [s.placement != placement for s in some])
    sizes = sorted({s.size for s in some}, key=_points)
    for size in sizes:
        yield _divided("one size out", size, some, [s.size != size for s in some])
    large = sizes[len(sizes) // 2:]
    for size in sizes[:len(sizes) // 2]:
        larger, only = [s for s in some if s.size in large or s.size == size], f"{size} by {large[0]} and larger"
        yield _divided("larger sizes", only, larger, [s.size != size for s in larger])
    for tasks in sorted({_tasks(s) for s in some}):
        yield _divided("tasks on a node", f"all but {tasks} by {tasks}", some, [_tasks(s) == tasks for s in some])


def computing_divisions(samples: Sequence[Sample]) -> Iterator[Division]:
    """Yield the divisions of the computing among the samples: each size is held out once."""
    some = [s for s in samples if isinstance(s.work, LocalWork)]
    for size in sorted({s.size for s in some}, key=_points):
        yield _divided("computing, one size out", size, some, [s.size != size for s in some])


def _points(size: str) -> int:
    return prod(map(int, size.split("x")))


def _tasks(sample: Any) -> int:
    return sample.work.tasks


def _halves(n: int) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for _ in range(N_HALVES):
        chosen = np.zeros(n, dtype=bool)
        chosen[rng.permutation(n)[:n // 2]] = True
        yield chosen


def _divided(rule: str, held_out: str, samples: Sequence[Sample], is_fitted: list[bool]) -> Division:
    pairs = list(zip(samples, is_fitted))
    return Division(rule, held_out, tuple(s for s, fitted in pairs if fitted), tuple(s for s, fitted in pairs if not fitted))


@dataclass(frozen=True)
class Held:
    """Errors of the held-out samples of one or more divisions.

    Parameters
    ----------
    rule, held_out : str
        The rule, and the description of the held-out samples.
    n : int
        Held-out samples of a division.
    means : tuple of float
        The mean error of each division, sorted.
    largest, worst : float, str
        The largest error of all, and the label of its sample.
    """

    rule: str
    held_out: str
    n: int
    means: tuple[float, ...]
    largest: float
    worst: str

    @property
    def mean(self) -> float:
        """Mean of the mean errors of the divisions."""
        return sum(self.means) / len(self.means)


def honest_errors(samples: Sequence[Sample], fit: Fit) -> list[Held]:
    """Return the errors of every division that has samples on both sides. The random halves are counted together."""
    every = (*divisions(samples), *computing_divisions(samples))
    found = [(division, error) for division in every if (error := _error(division, fit))]
    halves = [pair for pair in found if pair[0].rule == "random halves"]
    rows = [_held(f"{len(halves)} halves", halves)] if halves else []
    return rows + [_held(division.held_out, [(division, error)]) for division, error in found[len(halves):]]


def _error(division: Division, fit: Fit) -> Errors | None:
    return errors(division.others, fit(division.training).time_s) if division.training and division.others else None


def _held(text: str, pairs: Sequence[tuple[Division, Errors]]) -> Held:
    largest, worst = max((error.largest, error.worst) for _, error in pairs)
    return Held(pairs[0][0].rule, text, pairs[0][1].n, tuple(sorted(error.mean for _, error in pairs)), largest, worst)


@dataclass(frozen=True)
class LikelyRange:
    """Measured over predicted time of `LIKELY` of the held-out exchanges, and the exchanges that were measured.

    Parameters
    ----------
    range : (float, float)
    networks, exchanges, directions : tuple of str
        Networks with all their nodes; algorithms of the exchanges; directions of the transforms.
    tasks_per_node : tuple of int
    ranks : (int, int)
        Fewest and most ranks of a group.
    message_bytes : (float, float)
        Smallest and largest message.
    """

    range: tuple[float, float]
    networks: tuple[str, ...]
    tasks_per_node: tuple[int, ...]
    ranks: tuple[int, int]
    message_bytes: tuple[float, float]
    exchanges: tuple[str, ...]
    directions: tuple[str, ...]

    def holds(self, network: str, tasks_per_node: int, direction: str,
              exchanges: Iterable[tuple[str, ExchangeWork]]) -> bool:
        """Return whether some exchanges, each an algorithm and its work, lie inside what was measured."""
        return (network in self.networks and tasks_per_node in self.tasks_per_node and direction in self.directions
                and all(name in self.exchanges and _is_within(work.messages + 1, self.ranks)
                        and _is_within(work.message_bytes, self.message_bytes) for name, work in exchanges if work.messages))


def _is_within(value: float, ends: tuple[float, float]) -> bool:
    return ends[0] * (1 - ROUNDED) <= value <= ends[1] * (1 + ROUNDED)


def likely_range(samples: Sequence[Sample], fit: Fit) -> LikelyRange | None:
    """Return the range of measured over predicted time that covers `LIKELY` of the held-out exchanges.

    Parameters
    ----------
    samples : sequence of Sample
    fit : callable
        Samples -> Calibration.

    Returns
    -------
    LikelyRange or None
        Quantiles of the ratios, without a normal distribution; placements and sizes are held out. None if there are fewer
        than `LEAST_HELD_OUT` exchanges.
    """
    ratios = []
    for division in divisions(samples):
        if division.rule in ("one placement out", "one size out") and division.training:
            found = fit(division.training)
            ratios += [s.measured_s / t for s in division.others if (t := found.time_s(s))]
    if len(ratios) < LEAST_HELD_OUT:
        return None
    low, high = np.quantile(ratios, [(1 - LIKELY) / 2, (1 + LIKELY) / 2])
    some = [s for s in samples if isinstance(s.work, ExchangeWork)]
    works = [s.work for s in some if isinstance(s.work, ExchangeWork)]

    def different(values: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(values))

    def ends(values: Iterable[Any]) -> tuple[Any, Any]:
        return min(values), max(values)

    return LikelyRange((float(low), float(high)), networks=different(s.network for s in some),
                       tasks_per_node=tuple(sorted({work.tasks for work in works})),
                       ranks=ends([work.messages + 1 for work in works]),
                       message_bytes=ends([work.message_bytes for work in works]),
                       exchanges=different(s.exchange for s in some), directions=different(s.direction for s in some))
