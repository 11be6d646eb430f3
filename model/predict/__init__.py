"""The prediction for one placement: effective lengths, loads, bounds, times, certificate.

`answer` decides between closed forms and every message routed (`stages`). Both give the exchanges one by one. The
schedule (`forecast`), the bounds, the remaps of bricks and the halos are then the same for both.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError, RoutingError
from pencilmap.model.kinds import LINEAR_PROGRAMS, all_variants, kind_of
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Placement, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product, product_of
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.certificates import Bounds, LowerBound, certificate, cut_bound
from pencilmap.model.predict.forecast import Forecaster, ScheduleForecast
from pencilmap.model.predict.question import (
    Case,
    ExchangePrediction,
    Question,
    closed_form,
    cost_of,
    plain,
    predict_messages,
    routed,
    summed,
    worst,
)
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.expected import SWITCHES, TORUS, TWISTED, Expected, expected_gain, expected_range, no_range
from pencilmap.model.times.timing import LocalTerms
from pencilmap.model.traffic.exchange import Exchange, Halo, exchanges, remaps
from pencilmap.model.traffic.loads import m_scale, m_time

SCHEMA = "pencilmap-prediction/1"
ANY_ROUTING = "any (cut bound)"
BEST_MINIMAL = "optimal-minimal"
MEASURED_EXCHANGES = "alltoallv", "alltoall", "p2p"


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
        return {"width": self.halo.width, "weight": self.halo.weight, **no_range("halos"), "stage": self.stage.as_dict()}


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
    likely : the range of measured over predicted time of nine in ten exchanges like these, on machines that were left out;
    None where none were measured, see `expecting`. likely_gain : that of the gain over another placement.
    unmeasured : the reason where a range is None.
    case : the placement and the question; None for a prediction that is not asked under other rules.
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
    likely_gain: tuple[float, float] | None = None
    unmeasured: str = ""
    certified: bool = True
    remaps: tuple[ExchangePrediction, ...] = ()
    turned_remaps: tuple[ExchangePrediction, ...] = ()
    moved_bytes: int = 0
    halo: HaloPrediction | None = None
    case: Case | None = field(default=None, compare=False, repr=False)

    @cached_property
    def bracket(self) -> tuple["Prediction", ...]:
        """Predictions under the rules between which adaptive routers are; none if a rule was asked for.

        The rules are those of `Kind.bracket`. Predictions are computed when first used. There are none, either, if a
        rule is left out because it takes too long; see `adapts`.
        """
        if not self.adapts:
            return ()
        found = [self if rule == self.routing else under(self, rule) for rule in kind_of(self.network).bracket]
        return () if None in found else tuple(p for p in found if p is not None)

    @property
    def adapts(self) -> bool:
        """Whether routers adapt: the prediction is that of one of several rules, and none was asked for."""
        asked = self.case and self.case.question.routing is None
        return bool(asked) and self.routing in kind_of(self.network).bracket

    @property
    def n_nodes(self) -> int:
        """Nodes whose tasks take part."""
        return -(-self.grid.n_tasks // self.tasks_per_node)

    def expecting(self) -> "Prediction":
        """The prediction with `likely`, if exchanges like its own were measured: in sequence, under the usual routing."""
        works = [(stage.time_s, stage.work.message_bytes) for stage in self.moves
                 if stage.time_s and stage.work and stage.work.messages]
        if not works:
            return self
        found = [self._expected(expected_range, size) for _, size in works]
        gain = self._expected(expected_gain, min(size for _, size in works))
        if unusual := self._unusual():
            found, gain = [Expected(None, unusual)], Expected(None, unusual)
        ranges = [(seconds, each.range) for (seconds, _), each in zip(works, found) if each.range]
        likely = None
        if len(ranges) == len(works):
            total = sum(seconds for seconds, _ in ranges)
            low, high = (sum(seconds * ends[k] for seconds, ends in ranges) / total for k in (0, 1))
            likely = low, high
        reason = next((each.reason for each in (*found, gain) if each.reason), "")
        return replace(self, likely=likely, likely_gain=gain.range, unmeasured=reason)

    def without_range(self, reason: str) -> "Prediction":
        """The prediction without ranges, for a reason."""
        return replace(self, likely=None, likely_gain=None, unmeasured=reason)

    def _expected(self, of: Callable[..., Expected], message_bytes: float) -> Expected:
        here = self.network
        network = TORUS if here.has_products else TWISTED if here.has_coordinates else SWITCHES
        costs = self.case.question.costs if self.case else Costs()
        return of(network, self.n_nodes, message_bytes, costs.fitted_nodes, costs.fitted_message)

    def _unusual(self) -> str:
        """The schedule, exchange or routing that was not measured, "" if there is none."""
        kind = kind_of(self.network)
        usual = (kind.routings[0], "static", *kind.bracket)
        return ("overlapped" if self.schedule_name != SEQUENCE else
                next((f"exchange {stage.algorithm} not measured" for stage in self.stages
                      if stage.algorithm not in MEASURED_EXCHANGES), "") or
                ("" if self.routing in usual else f"{self.routing} routing not measured"))

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
        return certificate(self.cost, self.bounds.in_sequence.value) if self.certified and not self.remaps else None

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
        """The range in seconds in which nine in ten measured times are expected; or None."""
        return likely_times(self.time_s, self.likely)

    def move_range_s(self, move: ExchangePrediction) -> tuple[float, float] | None:
        """The range in seconds of one of the `moves`; None if the prediction has no range, or the move no messages."""
        if self.likely is None or not (move.work and move.work.messages and any(move is each for each in self.moves)):
            return None
        return likely_times(move.time_s, self._expected(expected_range, move.work.message_bytes).range)

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
    def order(self) -> tuple[Any, ...]:
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
                "gain_range": _listed(self.likely_gain), "unmeasured": self.unmeasured,
                "terms_local": self.local and self.local.as_dict(),
                "total_s": self.total_s, "lower_bound": plain(self.lower_bound.value),
                "lower_bound_argument": self.lower_bound.argument, "certificate": self.certificate,
                "all_to_all_unreachable": self.bounds.unreachable,
                "direction": self.schedule and self.schedule.direction,
                "schedule": self.schedule and self.schedule.as_dict(), "notes": list(self.notes),
                **({"bracket": [{"routing": p.routing, "cost": plain(p.cost), "t_s": p.t_s, "time_s": p.time_s}
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


def _listed(times: tuple[float, float] | None) -> list[float] | None:
    return None if times is None else list(times)


def predict(placed: Placement, transform: Transform | None = None, routing_name: str | None = None, *,
            name: str | None = None, costs: Costs = Costs(), site: Site | None = None,
            exchange: str | Sequence[str] = DEFAULT_ALGORITHM, schedule: str = SEQUENCE,
            direction: str = FORWARD) -> Prediction:
    """Predict the exchanges of a placement.

    A `Product` is predicted in closed form, whatever its size, if routing and exchange have one. Everything else is found
    by routing every message.

    Parameters
    ----------
    placed : Placement
        A `Product` or a `Mapping`.
    transform : Transform, optional
        Without it there will be no times, only lengths.
    routing_name : str, optional
        See `pencilmap.model.kinds.ROUTINGS`; by default the default of the network.
    name : str, optional
        Name of the placement; its own by default.
    costs : Costs
        The machine's costs besides link bandwidth; none by default.
    site : Site, optional
        The slots that the lower bound may use; those of all nodes by default.
    exchange, schedule, direction
        As for `pencilmap.model.predict.question.Question`.

    Returns
    -------
    Prediction
        Lengths, loads and times of each exchange, and the lower bound for every placement of the grid.

    Raises
    ------
    RoutingError
        If the routing rule does not exist, or cannot handle the case.
    ScheduleError
        If the schedule is not possible for this grid, transform or exchange.
    GridError
        If the grid is one of bricks and no transform is given.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.placement.product import parse_pattern
    >>> boxes = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> [str(max(stage.load)) for stage in predict(boxes).stages]
    ['4', '4']
    """
    question = Question(routing_name, exchange, schedule, direction, site or Question.site, transform, costs)
    return answer(question, placed, name)


def answer(question: Question, placed: Placement, name: str | None = None, closed: bool = True) -> Prediction:
    """Predict a placement in closed form if there is one, else by routing every message.

    If the worst rule counts and none is named, the prediction is that under the worst rule, with a note.

    Parameters
    ----------
    question : Question
    placed : Placement
    name : str, optional
        Name of the placement; its own by default.
    closed : bool
        Whether closed forms may be used.
    """
    if question.robust and question.routing is None:
        return _worst(question, placed, name)
    case = Case(placed, question, product_of(placed))
    form = closed_form(case) if closed else None
    closely = form and form.predicted()
    stages, loads = (closely, ()) if closely else routed(case)
    form = form if closely else None
    network, local = case.network, case.local
    site = Site(network, case.tasks_per_node) if form else case.site
    bounds = Bounds(site, case.grid, case.transform, case.routing_name, cost_of(stages, network) if case.at_once else None)
    forecast = Forecaster(case, stages, bounds, form, loads).forecast(question.schedule)
    prediction = Prediction(
        network=network, tasks_per_node=case.tasks_per_node, grid=case.grid, placement=name or placed.name,
        product=case.product, routing=case.routing_name, stages=stages, bounds=bounds,
        notes=(*_notes(case.product, stages, bounds), *placed.notes, *forecast.notes, *question.notes), local=local,
        schedule=forecast, halo=_halo(case), case=case)
    whole = _with_remaps(prediction, case) if case.grid.decomposition.has_bricks else prediction
    return whole.expecting()


def _worst(question: Question, placed: Placement, name: str | None) -> Prediction:
    found = []
    for rule in question.rules:
        if rule not in LINEAR_PROGRAMS or question.schedule != SEQUENCE:  # never the worst in sequence
            try:
                found.append(answer(question.under(rule), placed, name))
            except RoutingError:
                continue          # the rule cannot handle the case
    worst_of_all = max(found, key=lambda p: p.order)
    return replace(worst_of_all, notes=(*worst_of_all.notes, f"the worst of {len(found)} routing rules is shown"))


def _halo(case: Case) -> HaloPrediction | None:
    halo = case.question.halo
    if halo is None or case.transform is None:
        return None
    return HaloPrediction(halo, predict_messages(case.mapping, halo.messages(case.grid, case.transform), case.question))


def under(prediction: Prediction, rule: str) -> Prediction | None:
    """Return a prediction of the same placement under another routing rule.

    None if a rule was asked for, or if the rule takes too long for a quick look.
    """
    case = prediction.case
    if case is None or case.question.routing is not None or (prediction.bounds.brief and rule in LINEAR_PROGRAMS):
        return None
    return answer(case.question.under(rule), case.placed, prediction.placement)


def routing_interval(placed: Placement, transform: Transform | None = None, name: str | None = None,
                     costs: Costs = Costs(), site: Site | None = None, exchange: str | Sequence[str] = DEFAULT_ALGORITHM,
                     schedule: str = SEQUENCE, direction: str = FORWARD) -> list[Prediction]:
    """Predict one placement under every routing rule of its network, with the bound for any routing.

    Parameters
    ----------
    placed, transform, name, costs, site, exchange, schedule, direction
        As for `pencilmap.model.predict.predict`.

    Returns
    -------
    list of Prediction
        First `ANY_ROUTING` with the cut bound instead of loads, then the best routing along shortest paths, then the rules.
        A rule that refuses (for example optimal-minimal for a large or irregular case) will be left out, and a note of the
        first will say why.

    Examples
    --------
    >>> from pencilmap.model.placement.product import parse_pattern
    >>> from pencilmap.model.network.torus import Torus
    >>> boxes = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> [(p.routing, f"{float(max(p.stages[0].load)):.3f}") for p in routing_interval(boxes)][::3]
    [('any (cut bound)', '4.000'), ('dimension-order:parity', '4.000'), ('minimal-adaptive:paths', '5.973')]
    """
    question = Question(None, exchange, schedule, direction, site or Question.site, transform, costs)
    return interval(question, placed, name)


def interval(question: Question, placed: Placement, name: str | None = None,
             begin: Callable[[str], object] | None = None) -> list[Prediction]:
    """Return the predictions of `routing_interval` for a question, whose routing does not count.

    `begin` is called with each rule before its prediction.
    """
    found, refusals = [], []
    for rule in sorted(all_variants(placed.network), key=lambda rule: rule != BEST_MINIMAL):
        if begin:
            begin(rule)
        try:
            found.append(answer(question.under(rule), placed, name))
        except RoutingError as error:
            refusals.append(f"without {rule}: {error}")
    return [_without_routing(found[0], (*refusals, *question.notes)), *found]


def _without_routing(prediction: Prediction, notes: tuple[str, ...]) -> Prediction:
    """Return a prediction with cut bounds instead of loads."""
    case: Any = prediction.case
    stages = []
    for stage, exchange in zip(prediction.stages, exchanges(case.grid, case.transform)):
        load = tuple(m_scale(b, case.network, exchange.total_bytes)
                     for b in cut_bound(case.network, exchange, case.mapping.node_of_rank))
        t_s = None if case.transform is None else m_time(load, case.network, case.transform.total_bytes)
        stages.append(replace(stage, load=load, t_s=t_s, busiest=None, work=None, rounds=None))
    return replace(prediction.without_range("any routing"), routing=ANY_ROUTING, certified=False, notes=notes, local=None,
                   schedule=None, halo=None, case=None, stages=tuple(stages))


def _with_remaps(prediction: Prediction, case: Case) -> Prediction:
    """The prediction with the remaps of bricks. All their messages are routed at once, over links that they share
    fairly.
    """
    grid, transform = case.grid, case.transform
    if transform is None:
        raise GridError("bricks are remapped by their extents: name the transform with `fft`, e.g. 512")
    found = remaps(grid, transform)
    exchanged = sum(transform.total_bytes - transform.total_bytes // grid.extent(stage.letters)
                    for stage in grid.decomposition.exchanges)

    def predicted(messages: tuple[Exchange, ...]) -> tuple[ExchangePrediction, ...]:
        return tuple(predict_messages(case.mapping, each, case.question) for each in messages)

    turned = remaps(grid, transform) if case.question.direction == PAIR and (transform := case.turned.transform) else ()
    return replace(prediction, moved_bytes=exchanged + sum(int(each.group_weight.sum()) * each.unit_bytes for each in found),
                   remaps=predicted(found), turned_remaps=predicted(turned))


def _notes(product: Product | None, stages: tuple[ExchangePrediction, ...], bounds: Bounds) -> Iterator[str]:
    if product is None:
        if not bounds.site.network.levels:  # there are no products on networks with levels
            yield "not a product of digit patterns: m is the best cut, a lower bound for any routing"
    elif not product.is_digits:
        yield "ring maps, not digit patterns alone: m is the best cut, a lower bound for any routing"
    elif any(max(stage.m) != max(stage.load) for stage in stages):
        yield ("the paper's m and the routed load differ (odd ring, uneven blocks, or a routing that does not split ties); "
               "times follow the routed load")
    network = bounds.site.network  # with levels, a host is a unit with a bound
    if not network.has_products and not network.levels and not bounds.together.value and any(any(s.load) for s in stages):
        yield f"no certificate; lower bound: {bounds.together.argument}"
