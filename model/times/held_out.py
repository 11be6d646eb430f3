"""The errors of the time model on held-out data: fair ways to divide measured exchanges.

Idea: neighbours of one configuration are alike, so a rule such as "every second" tests little more than the noise. Each
division here holds out whole placements, whole sizes, or all runs with another number of tasks on a node. A prediction
before the first run is in the same situation. Every division is a fit of its own.
Source: cross-validation by groups after S. Arlot, A. Celisse, "A survey of cross-validation procedures for model
selection", Statistics Surveys 4 (2010), 40-79.
Cost: one fit for each division, about a second each.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.times.calibrate import Calibration, Errors, Sample, errors
from pencilmap.model.times.timing import ExchangeWork, LocalWork

N_HALVES = 30
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
