"""The time of a transform under a schedule: its phases in sequence, each by all terms of the time model.

A phase takes max(link + contention, injection) + start + messages + hops, as an exchange does
(`pencilmap.model.times.timing`). Link and injection are the joint loads of all exchanges in flight on links and ports.
Every chunk that starts adds a start and its messages. Computing beside the flow is hidden only as far as the MPI then
makes progress. This share is `Costs.progress`. Nothing is hidden if the share is unknown.

Certificates. Every phase moves its shares across every cut, and the busiest link carries at least the mean of the cut
links. All shares together are both exchanges whole. So T is never below the bound on both exchanges together
(`lower_bound`), under any schedule. The bound in sequence holds for traffic in phases of its own
(`pencilmap.model.predict.certificates`). There are two certificates: one for this grid under this schedule, and one for
any transform whose tasks hold equal shares before and after, by the all-to-all (docs/theory.md).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from pencilmap.model.algorithms import ALGORITHMS, algorithm_named
from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.kinds import DEFAULT_ROUTING, routing
from pencilmap.model.network.network import link_weights
from pencilmap.model.predict.certificates import Bounds, certificate
from pencilmap.model.predict.question import RANDOM_ROUTING, Case, ClosedForm, ExchangePrediction, plain, routed, summed
from pencilmap.model.schedules import BEST, SCHEDULES, best_sizes, course_of, parse_schedule
from pencilmap.model.schedules.schedule import (
    BACKWARD,
    FORWARD,
    LANE_AXES,
    MOST_SIZE,
    PAIR,
    SEQUENCE,
    Course,
    Phase,
    Schedule,
    block_of,
    cuts,
    reduced,
)
from pencilmap.model.times.timing import TIE, ExchangeWork, exchange_terms, pass_times, sent_by_rank
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import JointLoads, LinkLoads, routed_joint, undominated

MOST_CHOSEN = 16         # chunks, where the number is chosen: more can gain a sixteenth of a ramp at most


def _worth(forecast: "ScheduleForecast") -> float | Fraction:
    """Return the number that compares schedules: the time if known, else the cost."""
    return forecast.cost if forecast.known_s is None else float(f"{forecast.known_s:.9g}")


def _in_turn(forecast: "ScheduleForecast", back: "ScheduleForecast") -> "ScheduleForecast":
    """Return the forecast of a forward transform and then a backward transform."""
    times: dict[str, Any] = {name: summed((getattr(forecast, name), getattr(back, name)))
                             for name in ("t_s", "time_s", "total_s", "hidden_s")}
    notes = tuple(dict.fromkeys((*forecast.notes, *back.notes)))
    return replace(forecast, cost=forecast.cost + back.cost, notes=notes, direction=PAIR, **times)


@dataclass(frozen=True)
class ScheduleForecast:
    """What a schedule makes of a placement; times are None where those of the prediction are.

    For a pair of transforms, a forward and a backward one, costs and times are those of both.

    schedule : with everything chosen, so that its text can be given to the runner
    sizes : of the lanes: relative sizes of chunks, planes or fields
    axis : along which the lanes are cut, None where nothing is
    forecaster : has the loads of all exchanges at once
    cost : T by the links alone, on the m scale, slower links counted longer (exact)
    t_s : T by the links alone; time_s : by all terms; total_s : with the computing that is not hidden
    hidden_s : computing beside the exchanges, as far as the MPI makes progress meanwhile
    bounds : Bounds of the grid; None where none is proved for the schedule
    alone : the share of each exchange that travels beside no other
    """

    schedule: Schedule
    sizes: tuple[int, ...]
    axis: str | None
    forecaster: "Forecaster" = field(compare=False, repr=False)
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
        """Largest load of all exchanges at once in each class of links, on the m scale; of a pair the forward transform's.
        """
        return self.forecaster.joint.largest((1,) * len(self.forecaster.stages))

    @property
    def t_joint_s(self) -> float | None:
        """Seconds of the busiest link with all exchanges at once."""
        return self.forecaster.case.seconds(self.load_joint)

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
                "load_joint": [plain(x) for x in self.load_joint], "t_joint_s": self.t_joint_s, "t_s": self.t_s,
                "time_s": self.time_s, "total_s": self.total_s, "certificate": self.certificate,
                "certificate_any": self.certificate_any}


class Forecaster:
    """Schedules of a placement. Common parts are computed once.

    Parameters
    ----------
    case : Case
        The placement.
    stages : sequence of ExchangePrediction
        Its exchanges one by one.
    bounds : Bounds
        Of the grid.
    closed : ClosedForm, optional
        If the exchanges have closed forms.
    loads : sequence of LinkLoads or None
        Loads of the exchanges that were already routed.
    """

    def __init__(self, case: Case, stages: Sequence[ExchangePrediction], bounds: Bounds, closed: ClosedForm | None = None,
                 loads: Sequence[LinkLoads | None] = ()) -> None:
        self.case, self.stages, self.bounds, self.closed, self.loads = case, stages, bounds, closed, loads
        self.grid, self.network, self.transform, self.costs = case.grid, case.network, case.transform, case.costs
        self._found: dict[Any, _Resources] = {}
        self.direction = BACKWARD if case.is_backward else case.question.direction

    def forecast(self, text: str) -> ScheduleForecast:
        """Return the forecast of a named schedule with all choices made; `best` is the fastest that keeps the boxes.

        The transforms of a pair run at once if the schedule has a way for pairs, and otherwise in sequence.

        Parameters
        ----------
        text : str

        Raises
        ------
        ScheduleError
            If the schedule is not understood, or does not fit.
        """
        if text == BEST:
            forecasts = [_fastest([self._of(schedule) for schedule in self._keeping_boxes()])]
            if self.direction == PAIR and (self.transform is None or self.transform.fields == 1):  # then all keep the boxes
                able = [Schedule(name) for name, kind in SCHEDULES.items() if kind.pair]
                forecasts += [self._of(schedule) for schedule in able if self._is_possible(schedule)]
            return min(forecasts, key=_worth)
        schedule = parse_schedule(text)
        if schedule.name == "overlap" and not schedule.sizes and not self.grid.decomposition.returns:
            return _fastest([self._of(schedule) for schedule in self._overlaps()])
        return self._with_hints(self._of(schedule))

    @property
    def joint(self) -> JointLoads:
        """Loads of all whole exchanges of the transform."""
        return self._plain.links

    @cached_property
    def _turned(self) -> "Forecaster":
        """The schedules of the backward transform of a pair. Exchanges of even blocks are the same in both directions."""
        case, closed = self.case.turned, self.closed
        if self.case.is_even:
            return Forecaster(case, self.stages, self.bounds, closed, self.loads)
        form = closed and replace(closed, case=case)
        if form and (stages := form.predicted()):
            return Forecaster(case, stages, self.bounds, form)
        exchanged, loads = routed(case)
        return Forecaster(case, exchanged, self.bounds, None, loads)

    def _stage(self, i: int) -> ExchangePrediction:
        """Return an exchange by its number in a course."""
        n = len(self.stages)
        return self.stages[i] if i < n else self._turned.stages[i - n]

    def _keeping_boxes(self) -> list[Schedule]:
        """Return the schedules that keep the boxes and could be the fastest."""
        if self.grid.decomposition.returns or self._alone_only:
            return [Schedule(SEQUENCE)]
        pipelined = Schedule("pipelined", (1,) * 4)
        return [Schedule(SEQUENCE), *([pipelined] if self.costs.progress and self._is_possible(pipelined) else []),
                *self._overlaps()]

    def _is_possible(self, schedule: Schedule) -> bool:
        try:
            course_of(schedule, self.grid, self.transform, None, self.direction)
        except ScheduleError:
            return False
        return True

    def _overlaps(self) -> list[Schedule]:
        """Return the numbers of chunks, axes and sizes that could be best, at least one."""
        schedules = []
        for axis in LANE_AXES if self.transform else (None,):
            block = min(MOST_SIZE, block_of(axis, self.grid, self.transform)[0]) if self.transform and axis else MOST_SIZE
            for chunks in cuts(block, MOST_CHOSEN):
                schedules.append(Schedule("overlap", (1,) * chunks, axis))
                if len(self.stages) == 2:
                    sizes = reduced(best_sizes(self._plain.links, chunks, block, self.direction == BACKWARD))
                    if sizes != reduced(tuple(block * (k + 1) // chunks - block * k // chunks for k in range(chunks))):
                        schedules.append(Schedule("overlap", sizes, axis))
        return schedules or [Schedule("overlap", (1,))]

    def _with_hints(self, forecast: ScheduleForecast) -> ScheduleForecast:
        """Add notes on faster schedules."""
        notes = list(forecast.notes)
        name = forecast.schedule.name
        if name != SEQUENCE and forecast.bounds and forecast.bounds.unreachable:
            notes.append(f"no placement of {self.grid} loads the links with both exchanges at once as little as one "
                         f"all-to-all: {forecast.bounds.unreachable}")
        sequence = self._of(Schedule(SEQUENCE)) if name != SEQUENCE else forecast
        if name in ("two-way", "opposite") and forecast.cost >= sequence.cost:
            notes.append(f"by the links, schedule {forecast.name} is no faster than sequence here")
        even = name == "overlap" and len(set(forecast.sizes)) == 1
        if even and len(self.stages) == 2 and self.transform and forecast.axis:
            block = min(MOST_SIZE, block_of(forecast.axis, self.grid, self.transform)[0])
            if len(forecast.sizes) <= block:
                sizes = reduced(best_sizes(self._plain.links, len(forecast.sizes), block, self.direction == BACKWARD))
                better = self._of(Schedule("overlap", sizes, forecast.axis))
                if better.cost < forecast.cost * Fraction(995, 1000):
                    notes.append(f"chunks of other sizes are faster: {better.name}")
        return replace(forecast, notes=tuple(notes))

    def _of(self, schedule: Schedule) -> ScheduleForecast:
        """Return the forecast of a schedule. Both transforms of a pair run at once if the schedule can, else in turn."""
        in_turn = self.direction == PAIR and not SCHEDULES[schedule.name].pair
        direction = FORWARD if in_turn else self.direction
        if schedule.name == SEQUENCE:
            forecast = self._in_sequence(schedule, direction)
        else:
            self._check_beside(schedule)
            course = course_of(schedule, self.grid, self.transform, self._plain.links, direction)
            resources, transforms = self._resources(course), 1 + (direction == PAIR)
            at_random = self._even_and_adaptive if self.case.contends and self.case.product is not None else None
            alike = {phase: (resources.links.length(phase.shares), self._phase(phase, course, resources, at_random))
                     for phase in dict.fromkeys(course.phases)}  # chunks of one size have equal phases
            cost = sum((alike[phase][0] for phase in course.phases), Fraction(0))
            known = course.plain or schedule.name in ("overlap", "pipelined")
            phases = [alike[phase][1] for phase in course.phases]
            times = self._times(course, phases, transforms)
            forecast = ScheduleForecast(course.schedule, course.sizes, course.axis, self, cost, *times,
                                        self.bounds if known else None, _alone(course, len(self.stages)) / transforms,
                                        self._notes(course, phases, times), direction)
        if not in_turn:
            return forecast
        planes = forecast.sizes[0] if schedule.name == "two-way" and self.transform else None  # one plan: the same for both
        return _in_turn(forecast, self._turned._of(replace(forecast.schedule, planes=planes)))

    def _in_sequence(self, schedule: Schedule, direction: str) -> ScheduleForecast:
        """Return the forecast of the sequence, known from the stages. Their exchanges may have rounds."""
        cost = sum((max(load * weight for load, weight in zip(stage.load, link_weights(self.network)))
                    for stage in self.stages), Fraction(0))
        t_s, time_s = summed(stage.t_s for stage in self.stages), summed(stage.time_s for stage in self.stages)
        total_s = summed((time_s, None if self.case.local is None else self.case.local.time_s))
        return ScheduleForecast(schedule, sizes=(1,), axis=None, forecaster=self, cost=cost, t_s=t_s, time_s=time_s,
                                total_s=total_s, hidden_s=None if total_s is None else 0.0, bounds=self.bounds,
                                alone=Fraction(1), direction=direction)

    def _check_beside(self, schedule: Schedule) -> None:
        """Raise ScheduleError if an exchange can only run alone."""
        if self._alone_only:
            able = ", ".join(name for name, way in ALGORITHMS.items() if way.beside)
            raise ScheduleError(f"exchange {self._alone_only} cannot run beside anything, as schedule {schedule} needs; "
                                f"take one of {able}, or the schedule sequence")

    @property
    def _alone_only(self) -> str:
        """Name of an exchange that can only run alone, "" if there is none."""
        return next((stage.algorithm for stage in self.stages if not algorithm_named(stage.algorithm).beside), "")

    def _times(self, course: Course, phases: Sequence[Any],
               transforms: int) -> tuple[float | None, float | None, float | None, float | None]:
        """Return t_s, time_s, total_s, hidden_s of a course."""
        if None in phases:
            return None, None, None, None
        t_s, time_s = sum(p.link_s for p in phases), sum(p.time_s for p in phases)
        if self.transform is None or self.case.local is None or self.case.local.time_s is None:
            return t_s, time_s, None, None
        computing = pass_times(self.transform, self.grid, self.case.tasks_per_node, self.costs)
        progress = self.costs.progress or 0.0
        hidden = sum(progress * min(p.flow_s, sum(float(share) * s for share, s in zip(phase.beside, computing)))
                     for p, phase in zip(phases, course.phases))
        return t_s, time_s, time_s + transforms * self.case.local.time_s - hidden, hidden

    def _phase(self, phase: Phase, course: Course, resources: "_Resources",
               at_random: tuple[JointLoads, JointLoads] | None) -> Any:
        """Return the times of one phase, None without any.

        at_random: loads of a product by default and if routers chose at random, None without contention or a product
        """
        link_s = self.case.seconds(resources.links.largest(phase.shares))
        if link_s is None:
            return None
        adaptive_s = None  # of the busiest link if routers chose at random
        if at_random:
            whole = [Fraction(0)] * len(self.stages)
            for part, share, held in zip(course.parts, phase.shares, resources.held):
                whole[part.stage % len(whole)] += share * held
            even, adaptive = (self.case.seconds(loads.largest(whole)) for loads in at_random)
            adaptive_s = link_s * adaptive / even if even and adaptive is not None else link_s
        elif self.case.contends and resources.adaptive is not None:
            adaptive_s = self.case.seconds(resources.adaptive.largest(phase.shares))
        shares = np.array([float(share) for share in phase.shares])
        task, node, inside = (float((rows @ shares).max()) for rows in (resources.task_bytes, resources.node_bytes,
                                                                        resources.inside_bytes))
        works: list[Any] = [self._stage(i).work for i in phase.starts]
        in_flight = [self._stage(part.stage) for part, share in zip(course.parts, phase.shares) if share]
        hops = [stage.work.hops / stage.n_rounds for stage in in_flight if stage.work]
        terms = exchange_terms(ExchangeWork(link_s, adaptive_s, task, node, sum(w.messages for w in works),
                                            max(hops, default=0.0), sum(w.tasks for w in works),
                                            self._roots("message_roots", phase, course, resources),
                                            self._roots("hop_roots", phase, course, resources), inside),
                               self.costs)
        routed = link_s + float(terms.contention_s or 0.0)
        return _PhaseTimes(link_s, routed, max(routed, float(terms.injection_s or 0.0)), float(terms.time_s))

    def _roots(self, which: str, phase: Phase, course: Course, resources: "_Resources") -> float:
        """Return `message_roots` or `hop_roots` of the started exchanges, whose messages are shares of the whole."""
        flying, times = defaultdict[int, Fraction](Fraction), Counter(phase.starts)
        for part, share, held in zip(course.parts, phase.shares, resources.held):
            flying[part.stage] += share * held
        return sum(n * getattr(self._stage(i).work, which) * float(flying[i] / n) ** 0.5 for i, n in times.items())

    @cached_property
    def _even_and_adaptive(self) -> tuple[JointLoads, JointLoads]:
        letters = tuple(stage.letters for stage in self.grid.decomposition.exchanges)
        return tuple(routing(name, self.network).joint_of_product(self.case.product, letters)
                     for name in (DEFAULT_ROUTING, RANDOM_ROUTING))

    def _notes(self, course: Course, phases: list[Any], times: tuple[float | None, ...]) -> tuple[str, ...]:
        """Return notes on the deciding terms beside the links, and on assumptions about the computing."""
        if course.schedule.name == SEQUENCE or times[1] is None:
            return ()
        notes, flow, routed = [], sum(p.flow_s for p in phases), sum(p.routed_s for p in phases)
        if flow > routed * 1.001:
            notes.append(f"schedule {course.schedule}: injection takes longer than the links, {flow * 1e3:.4g} ms instead "
                         f"of {routed * 1e3:.4g}")
        if times[2] is not None and self.costs.progress is None:
            notes.append("no computing counts as hidden beside the exchanges: the progress of the MPI is not known")
        return tuple(notes)

    @cached_property
    def _plain(self) -> "_Resources":
        """The course of the whole exchanges."""
        n = len(self.stages)
        links = self.closed.joint() if self.closed else None
        if links is None:
            links = routed_joint(self.network, self._exchanges, self.case.mapping.ends, self.case.rule, self.loads)
        if self.stages[0].work is None:
            return _Resources(links, None, nothing := np.zeros((1, n)), nothing, nothing, (Fraction(1),) * n)
        if self.closed:
            task, node, inside = (np.array([[getattr(stage.work, name) for stage in self.stages]])
                                  for name in ("task_bytes", "node_bytes", "inside_bytes"))
            return _Resources(links, None, task, node, inside, (Fraction(1),) * n)
        return self._measured(self._exchanges, links)

    @cached_property
    def _exchanges(self) -> tuple[Exchange, Exchange]:
        return tuple(self._carried(i)(exchange) for i, exchange in enumerate(self.case.exchanges))

    def _carried(self, i: int) -> Callable[..., Any]:
        """The messages that the algorithm of exchange `i` sends."""
        return partial(algorithm_named(self._stage(i).algorithm).started, mapping=self.case.mapping)

    def _measured(self, exchanges: Sequence[Exchange], links: JointLoads) -> "_Resources":
        """The resources that some exchanges take on the mapping."""
        on_task, inside = np.stack([sent_by_rank(self.case.mapping, exchange) for exchange in exchanges], axis=2)
        on_node, within = (np.stack([np.bincount(self.case.mapping.node_of_rank, column) for column in sent.T], axis=1)
                           for sent in (on_task, inside))
        adaptive = None
        if self.case.contends and self.case.product is None and self.case.routes_at_random:
            adaptive = routed_joint(self.network, exchanges, self.case.mapping.node_of_rank,
                                    routing(RANDOM_ROUTING, self.network))
        return _Resources(links, adaptive, undominated(on_task), undominated(on_node), undominated(within),
                          tuple(map(_held, exchanges)))

    def _resources(self, course: Course) -> "_Resources":
        if course.plain:
            return self._plain
        cut = all(part.length is not None for part in course.parts)      # if so, the shares have the sizes, not the parts
        key = course.axis if cut else (course.axis, course.sizes)
        if key not in self._found:
            if self.grid.n_tasks > MOST_ROUTED:
                raise ScheduleError(f"schedule {course.schedule} with unequal lanes is routed message by message, for up "
                                    f"to {MOST_ROUTED} tasks, and grid {self.grid} has {self.grid.n_tasks}; take a "
                                    "transform whose extents the grid divides")
            resources = [part.make(self._carried(part.stage)) for part in course.parts if part.make]
            links = routed_joint(self.network, resources, self.case.mapping.ends, self.case.rule)
            self._found[key] = self._measured(resources, links)
        return self._found[key]


def _fastest(forecasts: list[ScheduleForecast]) -> ScheduleForecast:
    """Return the forecast with the fewest chunks among those within one per cent of the fastest."""
    least = min(map(_worth, forecasts))
    return min((one for one in forecasts if _worth(one) <= least * TIE), key=lambda one: (len(one.sizes), _worth(one)))


def _alone(course: Course, n_stages: int) -> Fraction:
    """Return the share of each exchange that travels in phases of its own; 0 if parts of an exchange differ."""
    if not course.plain:
        return Fraction(0)
    shares = [Fraction(0)] * n_stages
    for phase in course.phases:
        in_flight = [(part.stage, share) for part, share in zip(course.parts, phase.shares) if share]
        if len(in_flight) == 1:
            shares[in_flight[0][0]] += in_flight[0][1]
    return min(shares)


MOST_ROUTED = 1 << 16


@dataclass(frozen=True)
class _PhaseTimes:
    """Seconds of a phase: of the links, with contention, with the ports too, and by all terms."""

    link_s: float
    routed_s: float
    flow_s: float
    time_s: float


@dataclass(frozen=True)
class _Resources:
    """Resources of each part of a course: columns of all arrays are the parts.

    task_bytes, node_bytes : bytes that tasks, and nodes, send to other nodes: float arrays, shape (k, parts)
    inside_bytes : the same that the tasks of a node send to each other
    held : share of its exchange in each part
    """

    links: JointLoads
    adaptive: JointLoads | None
    task_bytes: np.ndarray
    node_bytes: np.ndarray
    inside_bytes: np.ndarray
    held: tuple[Fraction, ...]


def _held(exchange: Exchange) -> Fraction:
    weights = (exchange.group_weight, exchange.send_weight, exchange.receive_weight)
    return Fraction(int(np.prod([int(w.sum()) for w in weights], dtype=object)) * exchange.unit_bytes, exchange.total_bytes)
