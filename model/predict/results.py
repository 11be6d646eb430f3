"""The records of a prediction: of each exchange, of the schedule, of the whole."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.kinds import kind_of
from pencilmap.model.network.network import GraphLink, Network, TorusLink
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product
from pencilmap.model.predict.certificates import Bounds, certificate
from pencilmap.model.predict.lower_bounds import LowerBound
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE, Schedule
from pencilmap.model.times.held_out import LikelyRange
from pencilmap.model.times.timing import ExchangeWork, LocalTerms, TimeTerms, summed_terms
from pencilmap.model.traffic.halo import Halo

SCHEMA = "pencilmap-prediction/1"


@dataclass(frozen=True)
class ExchangePrediction:
    """One exchange of a mapping; lists have one entry for each dimension, all on the m scale (4 load N / D_T).

    name : of the stage.
    lengths : returns `m`, which takes long on large networks, and which few answers show.
    load : largest routed load; of an algorithm in rounds, the sum of the largest of each round.
    t_s : link time: seconds by the routed load, summed over the rounds. None without bandwidth or transform.
    seconds : returns the seconds of some lengths, or None.
    busiest : the busiest link (`TorusLink` or `GraphLink`) of the longest round, None when it was not located.
    work : the work of the exchange; None with t_s.
    rounds : the cost of each round, see `pencilmap.model.times.timing`; None with t_s.
    algorithm : how the messages are exchanged, see `pencilmap.model.algorithms`; n_rounds : in how many rounds. """

    name: str
    lengths: Callable[[], tuple[Fraction, ...]] = field(compare=False, repr=False)
    load: tuple[Fraction, ...]
    hop_length: Fraction
    t_s: float | None
    seconds: Callable[[Iterable[Fraction]], float | None] = field(compare=False, repr=False)
    busiest: TorusLink | GraphLink | None = None
    work: ExchangeWork | None = None
    rounds: tuple[TimeTerms, ...] | None = None
    algorithm: str = DEFAULT_ALGORITHM
    n_rounds: int = 1

    @cached_property
    def m(self) -> tuple[Fraction, ...]:
        """The paper's effective lengths (eq. 16) for a product image; the best cut for any other."""
        return self.lengths()

    @property
    def bound_s(self) -> float | None:
        """Seconds by `m`; None with `t_s`."""
        return self.seconds(self.m)

    @property
    def terms(self) -> TimeTerms | None:
        """The cost of the exchange, term by term: the sums over its rounds."""
        return None if self.rounds is None else summed_terms(self.rounds)

    @property
    def time_s(self) -> float | None:
        """Predicted time, seconds by all terms of the time model; `t_s` where the machine's other figures are not known."""
        return None if self.rounds is None else float(sum(terms.time_s for terms in self.rounds))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "m": _numbers(self.m), "load": _numbers(self.load), "hops": _plain(self.hop_length),
                "t_s": self.t_s, "bound_s": self.bound_s, "busiest": self.busiest and self.busiest.as_dict(),
                "exchange": self.algorithm, "rounds": self.n_rounds,
                "messages": self.work and self.work.messages, "message_bytes": self.work and self.work.message_bytes,
                "time_s": self.time_s, "terms": self.terms and self.terms.as_dict()}


@dataclass(frozen=True)
class ScheduleForecast:
    """What a schedule makes of a placement; times are None where those of the prediction are.

    For a pair of transforms, a forward and a backward one, costs and times are those of both.

    schedule : with everything chosen, so that its text can be given to the runner
    sizes : of the lanes: relative sizes of chunks, planes or fields
    axis : along which the lanes are cut, None where nothing is
    joint_load : makes `load_joint`, which few answers show; of a pair that of the forward transform
    seconds : of the busiest link by its length in each class
    cost : T by the links alone, on the m scale, slower links counted longer (exact)
    t_s : T by the links alone; time_s : by all terms; total_s : with the computing that is not hidden
    hidden_s : computing beside the exchanges, as far as the MPI makes progress meanwhile
    bounds : Bounds of the grid; None where none is proved for the schedule
    alone : the share of each exchange that travels beside no other
    """

    schedule: Schedule
    sizes: tuple[int, ...]
    axis: str | None
    joint_load: Callable[[], tuple[Fraction, ...]] = field(compare=False, repr=False)
    seconds: Callable[[Iterable[Fraction]], float | None] = field(compare=False, repr=False)
    cost: Fraction
    t_s: float | None
    time_s: float | None
    total_s: float | None
    hidden_s: float | None
    bounds: Bounds | None = field(compare=False, repr=False)
    alone: Fraction
    notes: tuple[str, ...] = ()
    direction: str = FORWARD

    @cached_property
    def load_joint(self) -> tuple[Fraction, ...]:
        """Largest load of all exchanges at once in each class of links, on the m scale."""
        return self.joint_load()

    @property
    def t_joint_s(self) -> float | None:
        """Seconds of the busiest link with all exchanges at once."""
        return self.seconds(self.load_joint)

    @property
    def name(self) -> str:
        """Its text."""
        return str(self.schedule)

    @property
    def transforms(self) -> int:
        """How many transforms its times are for."""
        return 1 + (self.direction == PAIR)

    @property
    def certificate(self) -> float | None:
        """Cost over what no placement of the grid can beat under this schedule; None where that is not known."""
        return certificate(self.cost / self.transforms, self.bounds.under(self.alone) or None) if self.bounds else None

    @property
    def certificate_any(self) -> float | None:
        """Cost over what no placement, schedule or order of exchanges can beat; None where that is not known."""
        return certificate(self.cost / self.transforms, self.bounds.any) if self.bounds else None

    @property
    def chunks(self) -> int:
        """Into how many lanes the transform is cut."""
        return len(self.sizes)

    @property
    def known_s(self) -> float | None:
        """The most complete time there is."""
        return next((t for t in (self.total_s, self.time_s, self.t_s) if t is not None), None)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "chunks": self.chunks, "axis": self.axis, "sizes": list(self.sizes),
                "load_joint": [_plain(x) for x in self.load_joint], "t_joint_s": self.t_joint_s, "t_s": self.t_s,
                "time_s": self.time_s, "total_s": self.total_s, "certificate": self.certificate,
                "certificate_any": self.certificate_any}


@dataclass(frozen=True)
class HaloPrediction:
    """The halos of one transform.

    halo : width and weight
    stage : a single halo, predicted as an exchange
    """

    halo: Halo
    stage: ExchangePrediction

    @property
    def time_s(self) -> float | None:
        """Seconds of all halos of a transform by all terms of the time model."""
        return None if self.stage.time_s is None else self.halo.weight * self.stage.time_s

    @property
    def t_s(self) -> float | None:
        """Seconds of all halos of a transform by the busiest links alone."""
        return None if self.stage.t_s is None else self.halo.weight * self.stage.t_s

    def cost(self, network: Network) -> Fraction:
        """Return the worst routed length of all halos of a transform, as `Prediction.cost`."""
        return Fraction(self.halo.weight) * worst(self.stage.load, network)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"width": self.halo.width, "weight": self.halo.weight, "stage": self.stage.as_dict()}


@dataclass(frozen=True)
class Prediction:
    """The prediction for one mapping.

    stages : the exchanges, in the order of a forward transform.
    bounds : Bounds for every placement of the grid on the usable nodes, with the blocks of the transform.
    remaps : from bricks and to bricks, predicted as the exchanges are. All times of the prediction itself include them;
    those of `schedule` do not. turned_remaps : those of the backward transform of a pair. moved_bytes : bytes of all remaps
    and exchanges together, where there are bricks.
    halo : halos of the transform, if they count: in `worth` and `order` alone; the times of the prediction are those of the
    transform.
    certified : whether the lengths are routed loads, so that a bound says how good they are.
    local : LocalTerms of the computing, None without a transform.
    schedule : ScheduleForecast of the schedule asked for, by default of the sequence; None where there are no loads. The
    times of the prediction itself, `t_s`, `time_s` and `total_s`, are those in sequence.
    likely : the range of measured over predicted time of nine in ten exchanges that were held out of the machine's
    calibration; None where no exchanges like these were measured, see `expecting`.
    """

    network: Network
    tasks_per_node: int
    grid: ProcessGrid
    placement: str
    product: Product | None
    routing: str
    stages: tuple[ExchangePrediction, ...]
    bounds: Bounds = field(compare=False, repr=False)
    notes: tuple[str, ...] = ()
    local: LocalTerms | None = None
    schedule: ScheduleForecast | None = None
    likely: tuple[float, float] | None = None
    certified: bool = True
    remaps: tuple[ExchangePrediction, ...] = ()
    turned_remaps: tuple[ExchangePrediction, ...] = ()
    moved_bytes: int = 0
    halo: HaloPrediction | None = None
    #: predicts the same under another routing rule, or leaves the rule out; None if a rule was asked for
    under: "Callable[[str], Prediction | None] | None" = field(default=None, compare=False, repr=False)

    @cached_property
    def bracket(self) -> tuple["Prediction", ...]:
        """Predictions under the rules between which adaptive routers are; none if a rule was asked for.

        The rules are those of `Kind.bracket`. Predictions are computed when first used. There are none, either, if a
        rule is left out because it takes too long; see `adapts`.
        """
        if not self.adapts or self.under is None:
            return ()
        names = kind_of(self.network).bracket
        found = [self if name == self.routing else self.under(name) for name in names]
        return () if None in found else tuple(p for p in found if p is not None)

    @property
    def adapts(self) -> bool:
        """Whether routers adapt: the prediction is that of one of several rules, and none was asked for."""
        return self.under is not None and self.routing in kind_of(self.network).bracket

    def expecting(self, measured: LikelyRange | None) -> "Prediction":
        """The prediction with `likely`, if exchanges like its own were measured: in sequence, under the usual routing."""
        works = [(stage.algorithm, stage.work) for stage in self.stages if stage.work]
        found = self.schedule
        is_usual = found and found.name == SEQUENCE and self.routing == kind_of(self.network).routings[0]
        is_full = self.grid.n_tasks == self.network.n_nodes * self.tasks_per_node and not self.idle_tasks
        is_like = (measured and works and found and is_usual and is_full
                   and measured.holds(str(self.network), self.tasks_per_node, found.direction, works))
        return replace(self, likely=measured.range if measured and is_like else None)

    def stage(self, name: str) -> ExchangePrediction:
        """The exchange or remap of that name."""
        return next(stage for stage in self.moves if stage.name == name)

    @property
    def moves(self) -> tuple[ExchangePrediction, ...]:
        """Exchanges and remaps in the order of a forward transform."""
        return (*self.remaps[:1], *self.stages, *self.remaps[1:])

    @property
    def schedule_name(self) -> str:
        """The schedule with all its choices, such as "overlap:8:x"."""
        return SEQUENCE if self.schedule is None else self.schedule.name

    @property
    def lower_bound(self) -> LowerBound:
        """For every placement of the grid on the usable nodes, in sequence."""
        return self.bounds.in_sequence

    @property
    def certificate(self) -> float | None:
        """Cost over the lower bound; 1.0 is provably optimal; None where no bound is known."""
        return certificate(self.cost, self.lower_bound.value) if self.certified and not self.remaps else None

    @property
    def all_alike(self) -> bool:
        """Whether every placement of the grid costs the same."""
        return self.bounds.are_alike and not self.remaps

    @property
    def t_s(self) -> float | None:
        """Seconds of all exchanges by the busiest links alone. None when there is no time."""
        return summed(stage.t_s for stage in self.moves)

    @property
    def time_s(self) -> float | None:
        """Seconds of all exchanges by all terms of the time model."""
        return summed(stage.time_s for stage in self.moves)

    @property
    def time_range_s(self) -> tuple[float, float] | None:
        """The range in seconds in which nine in ten measured times are expected, as if all exchanges had the same error; or
        None.
        """
        return likely_times(self.time_s, self.likely)

    @property
    def total_s(self) -> float | None:
        """Seconds of the whole transform, None where nothing is known about the computing."""
        total = summed((self.time_s, None if self.local is None else self.local.time_s))
        return None if total is None else float(total)

    @property
    def known_s(self) -> float | None:
        """The most complete time there is: `total_s`, else `time_s`, else `t_s`; None without any."""
        return next((t for t in (self.total_s, self.time_s, self.t_s) if t is not None), None)

    @property
    def idle_tasks(self) -> int:
        """Tasks that hold no part of the transform in some stage."""
        return 0 if self.bounds.transform is None else self.bounds.transform.idle_tasks(self.grid)

    @property
    def is_last(self) -> bool:
        """Whether it comes after all grids whose tasks are busy: tasks hold nothing, and the time of the computing, which
        fewer tasks do, is not known.
        """
        found = self if self.schedule is None else self.schedule
        return found.total_s is None and self.idle_tasks > 0

    @property
    def order(self) -> tuple:
        """Sort key of predictions of one transform: whether it `is_last`, then `worth`, bytes (bricks), lengths, hops, the
        squarer grid.
        """
        return (self.is_last, self.worth, self.moved_bytes, self.cost, sum(stage.hop_length for stage in self.stages),
                max(self.grid.shape))

    @property
    def worth(self) -> float | Fraction:
        """The most complete time under the schedule with the halos, or the lengths without times.

        Times are rounded to ten digits, so that rounding errors do not decide.
        """
        known, cost = (self.known_s, self.cost) if self.schedule is None else (self.schedule.known_s, self.schedule.cost)
        remaps = (*self.remaps, *self.turned_remaps)
        known = known if known is None or self.schedule is None else known + (summed(r.time_s for r in remaps) or 0.0)
        return cost + self.halo_cost if known is None else float(f"{known + self.halo_s:.10g}")

    @property
    def halo_s(self) -> float:
        """Seconds of the halos of all transforms; 0 without halos or times."""
        return self._transforms * ((self.halo and self.halo.time_s) or 0.0)

    @property
    def halo_cost(self) -> Fraction:
        """Worst routed length of the halos of all transforms; 0 without halos."""
        return self._transforms * (self.halo.cost(self.network) if self.halo else Fraction(0))

    @property
    def _transforms(self) -> int:
        return 1 if self.schedule is None else self.schedule.transforms

    @property
    def n_messages(self) -> int:
        """Messages that a task sends to other tasks in all exchanges and their chunks. Fewer are larger."""
        chunks = 1 if self.schedule is None else len(self.schedule.sizes)
        return chunks * sum(self.grid.extent(form.letters) - 1 if stage.work is None else stage.work.messages
                            for form, stage in zip(self.grid.decomposition.exchanges, self.stages))

    @property
    def cost(self) -> Fraction:
        """What searches minimise: the sum over the exchanges of the worst routed length (exact)."""
        return cost_of(self.stages, self.network)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, as ``prediction.schema.json`` describes it."""
        return {"schema": SCHEMA, **self.network.as_dict(), "tasks_per_node": self.tasks_per_node,
                "decomposition": self.grid.decomposition.name, "grid": list(self.grid.shape), "placement": self.placement,
                "patterns": None if self.product is None else str(self.product), "routing": self.routing,
                "m_source": "paper" if self.product and self.product.is_digits else "cut",
                "stages": [stage.as_dict() for stage in self.stages],
                "t_s": self.t_s, "time_s": self.time_s, "time_range_s": _listed(self.time_range_s),
                "terms_local": self.local and self.local.as_dict(),
                "total_s": self.total_s, "lower_bound": _plain(self.lower_bound.value),
                "lower_bound_argument": self.lower_bound.argument, "certificate": self.certificate,
                "all_to_all_unreachable": self.bounds.unreachable,
                "direction": self.schedule and self.schedule.direction,
                "schedule": self.schedule and self.schedule.as_dict(), "notes": list(self.notes),
                **({"bracket": [{"routing": p.routing, "cost": _plain(p.cost), "t_s": p.t_s, "time_s": p.time_s}
                                for p in self.bracket]} if self.bracket else {}),
                **({"idle_tasks": self.idle_tasks} if self.idle_tasks else {}),
                **({"remaps": [remap.as_dict() for remap in self.remaps]} if self.remaps else {}),
                **({"halo": self.halo.as_dict()} if self.halo else {})}


def likely_times(time_s: float | None, likely: tuple[float, float] | None) -> tuple[float, float] | None:
    """The range in seconds in which a measured time lies nine times in ten. None where the time or the range is not known.

    >>> likely_times(2.0, (0.75, 1.5))
    (1.5, 3.0)
    """
    return None if time_s is None or likely is None else (time_s * likely[0], time_s * likely[1])


def likely_ratio(ratio: float, likely: tuple[float, float] | None) -> tuple[float, float] | None:
    """The range in which the measured ratio of two transforms lies nine times in ten; None if `likely` is not known.

    The errors of the exchanges are taken as independent. A ratio has twice the variance of one time, and the time of a
    transform, which is the sum of two exchanges, half of that of one exchange.

    >>> [f"{end:.3g}" for end in likely_ratio(1.2, (0.8, 1.25)) or ()]
    ['0.96', '1.5']
    """
    return None if likely is None else (ratio * (likely[0] / likely[1]) ** 0.5, ratio * (likely[1] / likely[0]) ** 0.5)


def _listed(times):
    return None if times is None else list(times)


def summed(times: Iterable[float | None]) -> float | None:
    """The sum of some times in seconds. None if one of them is not known."""
    known = list(times)
    return None if None in known else sum(time for time in known if time is not None)


def _numbers(values):
    return [_plain(v) for v in values]


def _plain(value):
    value = Fraction(value)
    return int(value) if value.denominator == 1 else float(value)


def cost_of(stages: Iterable[ExchangePrediction], network: Network) -> Fraction:
    """The sum over some exchanges of the worst routed length (exact)."""
    return sum((worst(stage.load, network) for stage in stages), Fraction(0))


def worst(lengths: Iterable[Fraction], network: Network) -> Fraction:
    """The worst dimension: lengths weighted by bandwidth. Exact fractions."""
    if network.bandwidth is None:
        return max(map(Fraction, lengths))
    fastest = Fraction(max(network.bandwidth))
    return max(Fraction(x) * fastest / Fraction(rate) for x, rate in zip(lengths, network.bandwidth))
