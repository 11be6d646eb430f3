"""The figures of a machine from measured times: robust least squares, without figures that the times do not determine.

Idea: `pencilmap.model.times.timing` prices work. The fit finds the prices, all 0 or more, whose times are nearest in ratio
to the measured times. The fit omits a figure if no time depends on the figure, if its uncertainty exceeds its value, or if
the figure does not improve the prediction (Akaike's information criterion). Then the other figures are fitted again.
Source: soft-L1 loss after Triggs, McLauchlan, Hartley, Fitzgibbon, "Bundle adjustment: a modern synthesis" (2000), as in
`scipy.optimize.least_squares`; H. Akaike, "A new look at the statistical model identification", IEEE Trans. Automatic
Control 19 (1974).
Needs: samples whose blocks and placements vary as much as they will when the figures are used. If two figures grow together
in all samples, the fit cannot separate the two. The fit then omits a figure, and the note of the other names the omitted
figure.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import (
    ExchangeWork,
    LocalTerms,
    LocalWork,
    TimeTerms,
    bytes_beyond_node,
    bytes_beyond_task,
    exchange_terms,
    local_terms,
)

OUTLIER = 0.1          # larger relative deviations count linearly, not squared
LEAST_NOISE = 1e-3     # relative; no time is assumed to be more accurate
STARTS = (0.9, 0.3, 0.03)
WORTH = 2.0            # a figure must raise twice the logarithm of the likelihood by more (Akaike)
NO_SAMPLE = "no sample"  # start of the reason if the samples do not depend on a figure


@dataclass(frozen=True)
class Sample:
    """A measured time and its work."""

    label: str  #: source of the time
    phase: str  #: name of the stage, "fft", "copy", or "local" for all computing together
    size: str  #: extents of the transform
    #: at the link bandwidth of the machine file, or at any other bandwidth if the bandwidth is fitted
    work: ExchangeWork | LocalWork
    measured_s: float
    bound_s: float | None = None  #: the paper's bound, for comparison
    placement: str = ""  #: tasks per node, grid and placement: common to the runs of one configuration at several sizes
    #: network, exchange, direction: texts, of an exchange; the direction is that of the transform
    network: str = ""
    exchange: str = ""
    direction: str = ""
    nodes: int = 0  #: that take part in an exchange

    def time_s(self, costs: Costs) -> float | None:
        """Return seconds by the time model; None if none of its terms applies."""
        time = _terms(self.work, costs).time_s
        return float(time) if time else None


def _terms(work: ExchangeWork | LocalWork, costs: Costs) -> LocalTerms | TimeTerms:
    return exchange_terms(work, costs) if isinstance(work, ExchangeWork) else local_terms(work, costs)


@dataclass(frozen=True)
class Price:
    """A figure that can be fitted, always as a price per unit of work; 0 means free.

    Parameters
    ----------
    work : str
        Attribute of the work that the price multiplies.
    field : str or None
        Field of `Costs`, None for the bandwidth of the links.
    is_rate : bool
        Whether the machine file writes the inverse, work per second.
    ceiling : float
        A price above this has another cause than the figure.
    """

    work: str
    field: str | None
    is_rate: bool
    ceiling: float = float("inf")


PRICES = {  # by key of the machine file; if two figures cannot be separated, the fit omits the later
    "link_bandwidth": Price("link_s", None, False),
    "injection_per_task": Price("task_bytes", "injection_per_task", True),
    "injection_per_node": Price("node_bytes", "injection_per_node", True),
    "on_node_bandwidth": Price("inside_bytes", "on_node_bandwidth", True),
    "exchange_cost": Price("tasks", "exchange_cost_s", False),
    "message_cost": Price("messages", "message_cost_s", False),
    "message_size_cost": Price("message_roots", "message_size_cost_s", False),
    "message_hop_cost": Price("hop_roots", "message_hop_cost_s", False),
    "contention": Price("adaptive_s", "contention", False),
    "hop_latency": Price("hops", "hop_latency_s", False, ceiling=1e-6),  # torus routers pass a head on in 0.05 to 0.3 us
    "fft_rate_per_task": Price("operations", "fft_rate_per_task", True),
    "cache_bandwidth_per_task": Price("memory_bytes", "cache_bandwidth_per_task", True),
    "memory_bandwidth_per_node": Price("memory_bytes", "memory_bandwidth_per_node", True),
    "copy_cost": Price("copies", "copy_cost_s", False),
}
LIMITS = ("injection_per_task", "injection_per_node", "on_node_bandwidth")   # effective only if slower than the links


@dataclass(frozen=True)
class Fitted:
    """A figure of a calibration."""

    value: float  #: in SI units; for "link_bandwidth", the factor by which links are slower than in the samples
    uncertainty: float  #: one standard deviation over the value
    note: str = ""  #: other effects that the figure contains


@dataclass(frozen=True)
class Calibration:
    """The result of a fit."""

    figures: dict[str, Fitted]  #: by key of the machine file
    left_out: dict[str, str]  #: by key: the reason why the samples do not determine the figure
    n_samples: int
    caches: Costs = Costs()  #: as given: nothing but the sizes of caches

    @property
    def costs(self) -> Costs:
        """The figures as prices."""
        prices: dict[str, Any] = {field: figure.value for key, figure in self.figures.items()
                                  if (field := PRICES[key].field)}
        return replace(self.caches, **prices)

    @property
    def link_slowdown(self) -> float:
        """Factor by which links are slower than in the samples."""
        return self.figures["link_bandwidth"].value if "link_bandwidth" in self.figures else 1.0

    def time_s(self, sample: Sample) -> float | None:
        """Return seconds of a sample by the calibrated model."""
        return replace(sample, work=_slower_links(sample.work, self.link_slowdown)).time_s(self.costs)


def calibrate(samples: Sequence[Sample], known: Costs = Costs(), fit_bandwidth: bool = False) -> Calibration:
    """Fit every figure that the samples determine.

    Samples may mix exchanges and computing. The two share no figure and are fitted separately.

    Parameters
    ----------
    known : Costs
        Known figures of the machine; the fit uses only the sizes of its caches.
    fit_bandwidth : bool
        Whether the link bandwidth itself is unknown.

    Raises
    ------
    CalibrationError
        If no sample has a time.
    """
    usable = [s for s in samples if s.measured_s > 0]
    if not usable:
        raise CalibrationError("no measured time to calibrate with; give run records of a real machine or network")
    caches = Costs(cache_per_task=known.cache_per_task, cache_per_node=known.cache_per_node)
    figures, left_out = dict[str, Fitted](), dict[str, str]()
    for kind in (ExchangeWork, LocalWork):
        samples_ = [s for s in usable if isinstance(s.work, kind)]
        keys = [k for k, p in PRICES.items() if p.work in kind.__dataclass_fields__ and (fit_bandwidth or p.field)]
        nothing = dict[str, Fitted](), dict.fromkeys(keys, f"{NO_SAMPLE} of {_KIND[kind]}")
        result, reasons = _Fit(samples_, caches).run(keys) if samples_ else nothing
        figures |= result
        left_out |= reasons
    return Calibration({k: figures[k] for k in PRICES if k in figures}, {k: left_out[k] for k in PRICES if k in left_out},
                       len(usable), caches)


_BEYOND = {"cache_bandwidth_per_task": bytes_beyond_task, "memory_bandwidth_per_node": bytes_beyond_node}
_KIND = {ExchangeWork: "an exchange", LocalWork: "the computing"}


@dataclass
class _Solution:
    """Prices relative to their reference, robust cost, and relative covariance of the prices."""

    keys: list[str]
    x: np.ndarray
    cost: float
    jacobian: np.ndarray = field(repr=False)
    n: int

    @property
    def variance(self) -> float:
        """Standard deviation of one residual, on the scale of the loss."""
        return max(2 * self.cost / max(self.n - len(self.keys), 1), LEAST_NOISE**2)

    def deviations(self) -> np.ndarray:
        """Standard deviation of each price divided by the price; infinite if the samples do not depend on the price."""
        slopes = self.jacobian * self.x            # of log time by log price
        _, s, v = np.linalg.svd(slopes, full_matrices=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.where(np.abs(v) > 1e-6, v / s[:, None], 0.0)
        return np.sqrt(self.variance * (spread**2).sum(axis=0))


class _Fit:
    """The samples of one kind as arrays, and the backward elimination of prices."""

    def __init__(self, samples: Sequence[Sample], caches: Costs) -> None:
        kind: Any = type(samples[0].work)
        self.known = caches
        self.measured = np.array([s.measured_s for s in samples])
        self.work: Any = kind(**{name: np.array([_amount(s.work, name) for s in samples], dtype=float)
                            for name in kind.__dataclass_fields__})
        self.notes: dict[str, list[str]] = {}

    def run(self, keys: list[str]) -> tuple[dict[str, Fitted], dict[str, str]]:
        """Return the figures, and the reason for each omitted figure."""
        left_out: dict[str, str] = {}
        keys = self._without_the_unused(keys, left_out)
        keys = self._without_the_proportional(keys, left_out)
        while keys and len(keys) >= self._priced(keys).sum():
            left_out[keys.pop()] = f"{self.measured.size} samples are too few for so many figures"
        solution = None
        while keys:
            solution = self.solve(keys, solution)
            worst, reason = self._doubtful(solution)
            if worst is None:
                return self._figures(solution), left_out
            left_out[worst] = reason
            keys = [k for k in keys if k != worst]
        return {}, left_out

    def solve(self, keys: list[str], near: _Solution | None = None) -> _Solution:
        """Return the best prices for these keys, from several starts: limits make valleys that a single start could miss.

        `near` is a solution for these keys and more; without one, each key in turn also starts low beside the others.
        """
        from scipy.optimize import least_squares

        reference = np.array([self._reference(k) for k in keys])
        priced = self._priced(keys)

        def residuals(x: Floats) -> Floats:
            return np.log(np.maximum(self._times(keys, x * reference), 1e-300) / self.measured)[priced]

        ceiling = np.array([PRICES[k].ceiling for k in keys]) / reference
        starts = [np.full(len(keys), start) * np.minimum(ceiling, 1) for start in STARTS]
        if near is None:
            starts += [np.where(is_low, STARTS[-1], STARTS[0]) * np.minimum(ceiling, 1)
                       for is_low in np.eye(len(keys), dtype=bool)]
        else:
            starts.append(near.x[[near.keys.index(k) for k in keys]])
        fits = [least_squares(residuals, start, bounds=(0, ceiling), loss="soft_l1",
                              f_scale=OUTLIER, x_scale="jac") for start in starts]
        best = min(fits, key=lambda f: f.cost)
        return _Solution(keys, best.x, best.cost, best.jac, int(priced.sum()))

    def _priced(self, keys: list[str]) -> Any:
        """Select the samples to which these prices give a non-zero time. The other samples do not depend on the prices."""
        if isinstance(self.work, ExchangeWork):
            return self.work.link_s + sum(self._amounts(k) for k in keys) > 0
        return sum(self._amounts(k) for k in keys) > 0

    def _times(self, keys: list[str], prices: Floats) -> NDArray[Any]:
        of = dict(zip(keys, prices))
        work = _slower_links(self.work, of.pop("link_bandwidth", 1.0))
        figures: dict[str, Any] = {field: _figure(k, price) for k, price in of.items()
                                   if price > 0 and (field := PRICES[k].field)}
        time: Any = _terms(work, replace(self.known, **figures)).time_s
        return np.zeros_like(self.measured) if time is None else time

    def _amounts(self, key: str) -> NDArray[Any]:
        """Return the work that a price multiplies, in each sample."""
        amount = getattr(self.work, PRICES[key].work)
        if key == "contention":
            excess = amount - self.work.link_s
            return np.where(excess > 1e-6 * amount, excess, 0.0)
        return _BEYOND[key](self.work, self.known) if key in _BEYOND else amount

    def _reference(self, key: str) -> float:
        """Return the highest price that no sample contradicts; 1 for contention, which adds to the links."""
        if key == "contention":
            return 1.0
        amounts = self._amounts(key)
        return float((self.measured[amounts > 0] / amounts[amounts > 0]).min())

    def _without_the_unused(self, keys: Iterable[str], left_out: dict[Any, Any]) -> list[str]:
        used = [k for k in keys if (self._amounts(k) > 0).any()]
        left_out.update({k: f"{NO_SAMPLE} {_NOTHING.get(k, 'depends on it')}" for k in keys if k not in used})
        return used

    def _without_the_proportional(self, keys: Iterable[str], left_out: dict[str, str]) -> list[str]:
        kept: list[str] = []
        for key in keys:
            twin = next((k for k in kept if self._proportional(k, key)), None)
            if twin is None:
                kept.append(key)
                continue
            left_out[key] = f"cannot be separated from {twin}: the two grow together in all samples"
            self.notes.setdefault(twin, []).append(key)
        return kept

    def _proportional(self, a: str, b: str) -> bool:
        if (a in LIMITS) != (b in LIMITS) or "link_bandwidth" in (a, b):
            return False
        one, other = self._amounts(a), self._amounts(b)
        return bool(np.allclose(one * other.max(), other * one.max(), rtol=1e-9))

    def _doubtful(self, solution: _Solution) -> tuple[str | None, str]:
        """Return the price that the samples determine least, with the reason. None if the samples determine all prices."""
        deviations = solution.deviations()
        felt = np.abs(solution.jacobian).max(axis=0) > 1e-9
        for i in reversed(range(len(solution.keys))):
            key = solution.keys[i]
            if not felt[i]:
                return key, self._unfelt(key)
            if solution.x[i] < 1e-6:
                return key, "the times are explained best without it"
            if solution.x[i] * self._reference(key) > 0.999 * PRICES[key].ceiling:
                highest = f"{PRICES[key].ceiling * 1e6:g} us"
                return key, f"the best value is {highest} or more, so what it explains has another cause"
        i = int(np.argmax(deviations))
        if deviations[i] > 1:
            size = "more than 1000 %" if deviations[i] > 10 else f"{100 * deviations[i]:.0f} %"
            return solution.keys[i], f"its uncertainty is {size} of its value"
        return self._superfluous(solution)

    def _superfluous(self, solution: _Solution) -> tuple[str | None, str]:
        """Return a price without which the fit is no worse by the information criterion, or None."""
        gains = {}
        for key in solution.keys:
            others = [k for k in solution.keys if k != key]
            if others and key != "link_bandwidth" and (self._priced(others) == self._priced(solution.keys)).all():
                gains[key] = 2 * (self.solve(others, solution).cost - solution.cost) / solution.variance
        least = min(gains, key=gains.__getitem__, default=None)
        if least is None or gains[least] >= WORTH:
            return None, ""
        return least, "the times are explained equally well without it"

    def _unfelt(self, key: str) -> str:
        if key not in LIMITS:
            return f"{NO_SAMPLE} depends on it"
        rate = 1 / self._reference(key)
        return f"it slows no sample down; it is at least {rate / 1e6:.4g} MB/s"

    def _figures(self, solution: _Solution) -> dict[str, Fitted]:
        result = {}
        for key, x, deviation in zip(solution.keys, solution.x, solution.deviations()):
            with_it = self.notes.get(key, ())
            note = f"holds what {' and '.join(with_it)} may add, which these samples cannot separate" if with_it else ""
            result[key] = Fitted(float(_figure(key, x * self._reference(key))), float(deviation), note)
        return result


_NOTHING = {"contention": "has an image where adaptive routers make a hot spot"}


def _amount(work: Any, name: str) -> Any:
    value = getattr(work, name)
    return work.link_s if value is None else value


def _figure(key: str, price: float) -> float:
    return 1 / price if PRICES[key].is_rate else price


def _slower_links(work: ExchangeWork | LocalWork, factor: float) -> ExchangeWork | LocalWork:
    if factor == 1.0 or not isinstance(work, ExchangeWork):
        return work
    adaptive = None if work.adaptive_s is None else work.adaptive_s * factor
    return replace(work, link_s=work.link_s * factor, adaptive_s=adaptive)


Rule: TypeAlias = Callable[[list[Any]], tuple[list[Any], list[Any]]]
RULES: dict[str, Rule] = {  # the selected samples are fitted, the others are predicted
    "every-second": lambda samples: (samples[0::2], samples[1::2]),
    "all": lambda samples: (samples, []),
}


def split(samples: Sequence[Sample], rule: str) -> tuple[list[Sample], list[Sample]]:
    """Split samples into fitted and held-out samples by a rule that depends only on their order.

    Exchanges and computing are numbered separately, each in the order given: ``every-second`` fits the first, third, fifth
    ... and predicts the second, fourth, sixth ...; ``all`` fits all. Raises CalibrationError for an unknown rule.
    """
    if rule not in RULES:
        raise CalibrationError(f"rule {rule!r} is unknown; known are {', '.join(RULES)}")
    training, held_out = [], []
    for kind in (ExchangeWork, LocalWork):
        fitted, others = RULES[rule]([s for s in samples if isinstance(s.work, kind)])
        training += fitted
        held_out += others
    return training, held_out


@dataclass(frozen=True)
class Errors:
    """Absolute values of predicted / measured - 1 for some samples: number, mean, largest, label of the largest."""

    n: int
    mean: float
    largest: float
    worst: str


def errors(samples: Iterable[Sample], predicted: Callable[[Sample], float | None]) -> Errors | None:
    """Return errors of a prediction; None without samples or without predictions."""
    errors_ = [(abs(time_s / s.measured_s - 1), s.label) for s in samples if (time_s := predicted(s)) is not None]
    return Errors(len(errors_), sum(e for e, _ in errors_) / len(errors_), *max(errors_)) if errors_ else None


@dataclass(frozen=True)
class Quality:
    """The errors of the bound and the time model for some of the samples."""

    group: str  #: "exchanges", the extents of one size of transform, or "computing"
    half: str  #: "fitted" or "predicted"; whether the samples were fitted or held out
    bound: Errors | None
    model: Errors | None


def _is_exchange_of(size: str, sample: Sample) -> bool:
    return isinstance(sample.work, ExchangeWork) and sample.size == size


def quality(training: Sequence[Sample], held_out: Sequence[Sample],
            time_s: Callable[[Sample], float | None]) -> list[Quality]:
    """Return errors of bound and model over all exchanges, by size, and for the computing.

    Parameters
    ----------
    training, held_out : sequence of Sample
        Fitted and predicted samples.
    time_s : callable
        The time model: sample -> seconds, None if unknown.
    """
    rows = []
    exchanges = [s for s in (*training, *held_out) if isinstance(s.work, ExchangeWork)]
    groups: dict[str, Callable[[Sample], bool]] = {"exchanges": lambda s: isinstance(s.work, ExchangeWork)}
    for size in sorted({s.size for s in exchanges}, key=lambda text: prod(map(int, text.split("x")))):
        groups[size] = partial(_is_exchange_of, size)
    groups["computing"] = lambda s: isinstance(s.work, LocalWork)
    for group, belongs in groups.items():
        for half, samples in (("fitted", training), ("predicted", held_out)):
            members = [s for s in samples if belongs(s)]
            if members:
                rows.append(Quality(group, half, errors(members, lambda s: s.bound_s), errors(members, time_s)))
    return rows


# The errors of the time model on held-out data: fair ways to divide measured exchanges.
#
# Idea: neighbours of one configuration are alike, so a rule such as "every second" tests little more than the noise. Each
# division here holds out whole placements, whole sizes, or all runs with another number of tasks on a node. A prediction
# before the first run is in the same situation. Every division is a fit of its own.
# Source: cross-validation by groups after S. Arlot, A. Celisse, "A survey of cross-validation procedures for model
# selection", Statistics Surveys 4 (2010), 40-79.
# Cost: one fit for each division, about a second each.

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
    exchanges = [s for s in samples if isinstance(s.work, ExchangeWork)]
    for number, chosen in enumerate(_halves(len(exchanges)), 1):
        yield _divided("random halves", f"half {number}", exchanges, chosen)
    for placement in dict.fromkeys(s.placement for s in exchanges):
        yield _divided("one placement out", placement, exchanges, [s.placement != placement for s in exchanges])
    sizes = sorted({s.size for s in exchanges}, key=_points)
    for size in sizes:
        yield _divided("one size out", size, exchanges, [s.size != size for s in exchanges])
    large = sizes[len(sizes) // 2:]
    for size in sizes[:len(sizes) // 2]:
        larger, only = [s for s in exchanges if s.size in large or s.size == size], f"{size} by {large[0]} and larger"
        yield _divided("larger sizes", only, larger, [s.size != size for s in larger])
    for tasks in sorted({_tasks(s) for s in exchanges}):
        yield _divided("tasks on a node", f"all but {tasks} by {tasks}", exchanges, [_tasks(s) == tasks for s in exchanges])


def computing_divisions(samples: Sequence[Sample]) -> Iterator[Division]:
    """Yield the divisions of the computing among the samples: each size is held out once."""
    passes = [s for s in samples if isinstance(s.work, LocalWork)]
    for size in sorted({s.size for s in passes}, key=_points):
        yield _divided("computing, one size out", size, passes, [s.size != size for s in passes])


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
    divided = [(item, error) for item in every if item.training and item.others
               and (error := errors(item.others, fit(item.training).time_s))]
    halves = [pair for pair in divided if pair[0].rule == "random halves"]
    rows = [_held(f"{len(halves)} halves", halves)] if halves else []
    return rows + [_held(division.held_out, [(division, error)]) for division, error in divided[len(halves):]]


def _held(text: str, pairs: Sequence[tuple[Division, Errors]]) -> Held:
    largest, worst = max((error.largest, error.worst) for _, error in pairs)
    return Held(pairs[0][0].rule, text, pairs[0][1].n, tuple(sorted(error.mean for _, error in pairs)), largest, worst)
