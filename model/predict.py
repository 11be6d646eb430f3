"""The prediction for one mapping: effective lengths, loads, bounds, times, certificate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from pencilmap.model.algorithms import DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.base.errors import GridError
from pencilmap.model.bounds.any_routing import cut_bound
from pencilmap.model.bounds.certificates import Bounds, certificate
from pencilmap.model.bounds.every_placement import LowerBound
from pencilmap.model.closed_form import ClosedForm, closed_form, is_even, recognised
from pencilmap.model.network.network import GraphLink, Network, TorusLink
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.pattern import effective_length
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing import DEFAULT_ROUTING, default_routing, routing
from pencilmap.model.schedules.forecast import Forecaster, ScheduleForecast
from pencilmap.model.schedules.schedule import FORWARD
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.fair_sharing import can_share, shared_seconds
from pencilmap.model.times.timing import (
    ExchangeWork,
    LocalTerms,
    TimeTerms,
    local_terms,
    local_work,
    mapping_work,
    summed_terms,
    terms_in_turn,
    work_in_turn,
)
from pencilmap.model.traffic.exchange import Exchange, exchanges
from pencilmap.model.traffic.loads import m_scale, m_time
from pencilmap.model.traffic.remap import remaps

SCHEMA = "pencilmap-prediction/1"
SEQUENCE = "sequence"
MOST_NODES_AT_RANDOM = 4096  # up to this size contention is predicted for placements that are not products, in a few seconds


@dataclass(frozen=True)
class ExchangePrediction:
    """One exchange of a mapping; lists have one entry for each dimension, all on the m scale (4 load N / D_T).

    name : of the stage.
    m : the paper's effective lengths (eq. 16) for a product image; the best cut for any other.
    load : largest routed load; of an algorithm in rounds, the sum of the largest of each round.
    t_s : link time: seconds by the routed load, summed over the rounds; bound_s : seconds by m. None without bandwidth or
    transform.
    busiest : the busiest link (`TorusLink` or `GraphLink`) of the longest round, None when it was not located.
    work : the work of the exchange; None with t_s.
    rounds : the cost of each round, see `pencilmap.model.times.timing`; None with t_s.
    algorithm : how the messages are exchanged, see `pencilmap.model.algorithms`; n_rounds : in how many rounds. """

    name: str
    m: tuple[Fraction, ...]
    load: tuple[Fraction, ...]
    hop_length: Fraction
    t_s: float | None
    bound_s: float | None
    busiest: TorusLink | GraphLink | None = None
    work: ExchangeWork | None = None
    rounds: tuple[TimeTerms, ...] | None = None
    algorithm: str = DEFAULT_ALGORITHM
    n_rounds: int = 1

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
class Prediction:
    """The prediction for one mapping.

    stages : the exchanges, in the order of a forward transform.
    bounds : Bounds for every placement of the grid on the usable nodes, with the blocks of the transform.
    remaps : from bricks and to bricks, predicted as the exchanges are. All times of the prediction itself include them;
    those of `schedule` do not. moved_bytes : bytes of all remaps and exchanges together, where there are bricks.
    certified : whether the lengths are routed loads, so that a bound says how good they are.
    local : LocalTerms of the computing, None without a transform.
    schedule : ScheduleForecast of the schedule asked for, by default of the sequence; None where there are no loads. The
    times of the prediction itself, `t_s`, `time_s` and `total_s`, are those in sequence.
    likely : the range of measured over predicted time of nine in ten exchanges that were held out of the machine's
    calibration; None where it was not calibrated.
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
    moved_bytes: int = 0

    def stage(self, name: str) -> ExchangePrediction:
        """The exchange or remap of that name."""
        return next(stage for stage in self.moves if stage.name == name)

    @property
    def moves(self) -> tuple[ExchangePrediction, ...]:
        """Exchanges and remaps in the order of a forward transform."""
        return (*self.remaps[:1], *self.stages, *self.remaps[1:])

    @property
    def lower_bound(self) -> LowerBound:
        """For every placement of the grid on the usable nodes, in sequence."""
        return self.bounds.in_sequence

    @property
    def certificate(self) -> float | None:
        """Cost over the lower bound; 1.0 is provably optimal; None where no bound is known."""
        return certificate(self.cost, self.lower_bound.value) if self.certified and not self.remaps else None

    @property
    def t_s(self) -> float | None:
        """Seconds of all exchanges by the busiest links alone. None when there is no time."""
        return _sum(stage.t_s for stage in self.moves)

    @property
    def time_s(self) -> float | None:
        """Seconds of all exchanges by all terms of the time model."""
        return _sum(stage.time_s for stage in self.moves)

    @property
    def time_range_s(self) -> tuple[float, float] | None:
        """The range in seconds in which nine in ten measured times are expected, as if all exchanges had the same error; or
        None.
        """
        return likely_times(self.time_s, self.likely)

    @property
    def total_s(self) -> float | None:
        """Seconds of the whole transform, None where nothing is known about the computing."""
        total = _sum((self.time_s, self.local and self.local.time_s))
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
        """The most complete time under the schedule, or the lengths without times.

        Times are rounded to ten digits, so that rounding errors do not decide.
        """
        known, cost = (self.known_s, self.cost) if self.schedule is None else (self.schedule.known_s, self.schedule.cost)
        known = known if known is None or self.schedule is None else known + (_sum(r.time_s for r in self.remaps) or 0.0)
        return cost if known is None else float(f"{known:.10g}")

    @property
    def n_messages(self) -> int:
        """Messages that a task sends to other tasks in all exchanges and their chunks. Fewer are larger."""
        chunks = 1 if self.schedule is None else len(self.schedule.sizes)
        return chunks * sum(self.grid.extent(form.letters) - 1 if stage.work is None else stage.work.messages
                            for form, stage in zip(self.grid.decomposition.exchanges, self.stages))

    @property
    def cost(self) -> Fraction:
        """What searches minimise: the sum over the exchanges of the worst routed length (exact)."""
        return _cost(self.stages, self.network)

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
                **({"idle_tasks": self.idle_tasks} if self.idle_tasks else {}),
                **({"remaps": [remap.as_dict() for remap in self.remaps]} if self.remaps else {})}


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


def _sum(times):
    """The sum of some times in seconds. None where one of them is not known."""
    times = list(times)
    return None if None in times else sum(times)


def _numbers(values):
    return [_plain(v) for v in values]


def _plain(value):
    value = Fraction(value)
    return int(value) if value.denominator == 1 else float(value)


def predict(placed: Product | Mapping, transform: Transform | None = None, routing_name: str | None = None,
            name: str | None = None, costs: Costs = Costs(), site: Site | None = None,
            exchange: str | Sequence[str] = DEFAULT_ALGORITHM, schedule: str = SEQUENCE,
            direction: str = FORWARD) -> Prediction:
    """Predict the exchanges of a placement.

    A `Product` is predicted in closed form, whatever its size, where the routing has one. Everything else is predicted by
    routing every message.

    Parameters
    ----------
    transform : Transform, optional
        Without it there are no times, only lengths.
    routing_name : str, optional
        See `pencilmap.model.routing.ROUTINGS`; by default the default of the network.
    name : str, optional
        Name of the placement; its own by default.
    costs : Costs
        The machine's costs besides link bandwidth; none by default.
    site : Site, optional
        The slots that the lower bound may use; those of all nodes by default.
    exchange : str or list of str
        Name of the exchange algorithm, see `pencilmap.model.algorithms.ALGORITHMS`, or one name for each exchange.
    schedule : str
        See `pencilmap.model.schedules.SCHEDULES`; ``best`` takes the fastest of those that keep the boxes.
    direction : str
        ``forward``, ``backward`` or ``pair``, one of each: then the times of `Prediction.schedule` are those of both.
    """
    names = algorithms_of(placed.grid, exchange)
    product, name = recognised(placed), name or _name(placed)
    form = closed_form(placed, product, transform, names)
    found = form and _predict_closed(form, placed, name, costs, routing_name, names, schedule, direction)
    if found:
        return found
    mapping = placed.mapping() if isinstance(placed, Product) else placed
    return predict_routed(mapping, transform, routing_name, name, product, costs, site, names, schedule, direction)


def algorithms_of(grid: ProcessGrid, exchange: str | Sequence[str] = DEFAULT_ALGORITHM) -> tuple[str, ...]:
    """One name of an exchange algorithm for each exchange of a grid; a single name stands for all."""
    stages = grid.decomposition.names
    return (exchange,) * len(stages) if isinstance(exchange, str) else tuple(exchange)


def predict_routed(mapping: Mapping, transform: Transform | None = None, routing_name: str | None = None,
                   name: str | None = None, product: Product | None = None, costs: Costs = Costs(),
                   site: Site | None = None, exchange: str | Sequence[str] = DEFAULT_ALGORITHM,
                   schedule: str = SEQUENCE, direction: str = FORWARD) -> Prediction:
    """Predict a mapping by the load of every link; `product` when it is known to be one."""
    routing_name, names = routing_name or default_routing(mapping.network), algorithms_of(mapping.grid, exchange)
    stages, loads = zip(*(_routed(mapping, product, each, transform, routing_name, costs, algorithm_name)
                          for each, algorithm_name in zip(exchanges(mapping.grid, transform), names)))
    site = site or Site(mapping.network, mapping.tasks_per_node, idle=True)
    at_once = all(algorithm_named(each).is_exchange(is_even(mapping, transform)) for each in names)
    bounds = Bounds(site, mapping.grid, transform, routing_name, _cost(stages, mapping.network) if at_once else None)
    local = _local(transform, mapping.grid, mapping.tasks_per_node, costs)
    forecaster = Forecaster(stages, local, mapping, product, None, transform, routing_name, costs, bounds, loads)
    found = forecaster.forecast(schedule, direction)
    return _with_remaps(Prediction(
        mapping.network, mapping.tasks_per_node, mapping.grid, name or mapping.name, product, routing_name, stages, bounds,
        (*_notes(product, stages, bounds), *mapping.notes, *found.notes), local, found), mapping, transform, costs)


def predict_product(product: Product, transform: Transform | None = None, name: str | None = None, costs: Costs = Costs(),
                    routing_name: str | None = None, exchange: str | Sequence[str] = DEFAULT_ALGORITHM,
                    schedule: str = SEQUENCE, direction: str = FORWARD) -> Prediction | None:
    """Predict a product placement in closed form, for any size of machine: no array has an entry for each rank.

    Every exchange must be one all-to-all. None where the routing has no closed form.
    """
    return _predict_closed(ClosedForm(product, transform), product, name or str(product), costs, routing_name,
                           algorithms_of(product.grid, exchange), schedule, direction)


def _predict_closed(form, placed, name, costs, routing_name, algorithms, schedule, direction):
    """A placement by its closed forms. What has none, as uneven lanes and remaps, is routed from the places of its ranks."""
    product, transform = form.product, form.transform
    routing_name = routing_name or default_routing(product.torus)
    found = [_closed(form, stage, costs, routing_name) for stage in form.stages]
    if None in found:
        return None
    stages = tuple(replace(stage, algorithm=name) for stage, name in zip(found, algorithms))
    site = Site(product.torus, product.tasks_per_node)
    bounds = Bounds(site, product.grid, transform, routing_name, _cost(stages, product.torus))
    local = _local(transform, product.grid, product.tasks_per_node, costs)
    forecaster = Forecaster(stages, local, placed, product, form, transform, routing_name, costs, bounds)
    plan = forecaster.forecast(schedule, direction)
    notes = (*_notes(product, stages, bounds), *plan.notes, *(() if isinstance(placed, Product) else placed.notes))
    return _with_remaps(Prediction(product.torus, product.tasks_per_node, product.grid, name, product, routing_name, stages,
                                   bounds, notes, local, plan), placed, transform, costs)


def _with_remaps(prediction, placed, transform, costs):
    """The prediction with the remaps of bricks. All their messages are routed at once, over links that they share
    fairly.
    """
    grid = prediction.grid
    if not grid.decomposition.has_bricks:
        return prediction
    if transform is None:
        raise GridError("bricks are remapped by their extents: name the transform with `fft`, e.g. 512")
    mapping = placed.mapping() if isinstance(placed, Product) else placed
    found = remaps(grid, transform)
    exchanged = sum(transform.total_bytes - transform.total_bytes // grid.extent(stage.letters)
                    for stage in grid.decomposition.exchanges)
    return replace(prediction, moved_bytes=exchanged + sum(int(each.group_weight.sum()) * each.unit_bytes for each in found),
                   remaps=tuple(predict_messages(mapping, each, transform, prediction.routing, costs) for each in found))


def predict_messages(mapping: Mapping, exchange: Exchange, transform: Transform, routing_name: str | None = None,
                     costs: Costs = Costs()) -> ExchangePrediction:
    """Predict single messages that start together, as those of a remap or a halo are: each of them is routed.

    exchange : as `pencilmap.model.traffic.remap.remaps` and `pencilmap.model.traffic.halo.halo` make it
    """
    routing_name = routing_name or default_routing(mapping.network)
    stage, _ = _routed(mapping, None, exchange, transform, routing_name, costs, DEFAULT_ALGORITHM)
    network, rule = mapping.network, routing(routing_name, mapping.network)
    if stage.work is None or not isinstance(network, Torus) or not can_share(exchange, network, rule):
        return stage
    shared_s = shared_seconds(exchange, network, mapping.node_of_rank, rule)
    work = replace(stage.work, link_s=shared_s)
    return replace(stage, t_s=shared_s, work=work, rounds=terms_in_turn([work], costs))


def _name(placed):
    return str(placed) if isinstance(placed, Product) else placed.name


def _local(transform, grid, tasks_per_node, costs):
    return None if transform is None else local_terms(local_work(transform, grid, tasks_per_node), costs)


def _routed(mapping, product, exchange, transform, routing_name, costs, algorithm_name):
    """An exchange, and the loads of its links where all messages start at once."""
    network, way = mapping.network, algorithm_named(algorithm_name)
    rule, rounds = routing(routing_name, network), way.rounds(exchange, mapping)
    whole = rule.loads(network, rounds[0], mapping.node_of_rank) if way.is_alltoall else None
    routed = [_RoutedRound.of(whole or rule.loads(network, each, mapping.node_of_rank)) for each in rounds]
    m = _paper(product, exchange.letters, network) if product else tuple(
        m_scale(b, network, exchange.total_bytes) for b in cut_bound(network, exchange, mapping.node_of_rank))
    hops = m_scale(sum(each.hop_bytes for each in routed), network, exchange.total_bytes) / network.n_nodes
    load = tuple(map(sum, zip(*(each.load for each in routed))))
    link_s = [_seconds(each.load, network, transform) for each in routed]
    stage = ExchangePrediction(exchange.name, m, load, hops, _sum(link_s), _seconds(m, network, transform),
                               max(routed, key=lambda each: worst(each.load, network)).busiest,
                               algorithm=algorithm_name, n_rounds=len(rounds))
    if stage.t_s is None:
        return stage, whole
    closed = product if way.is_alltoall else None
    works = [mapping_work(mapping, each, seconds, _adaptive_s(mapping, closed, each, transform, seconds) if _contends(
        costs, routing_name) else None, found.hop_bytes) for each, seconds, found in zip(rounds, link_s, routed)]
    return replace(stage, work=work_in_turn(works), rounds=terms_in_turn(works, costs)), whole


@dataclass(frozen=True)
class _RoutedRound:
    """What is needed of the loads of a round."""

    load: tuple[Fraction, ...]
    hop_bytes: Fraction
    busiest: TorusLink | GraphLink | None

    @classmethod
    def of(cls, loads):
        return cls(loads.on_m_scale(), loads.hop_bytes(), loads.busiest())


def _closed(form, stage, costs, routing_name):
    """An exchange in closed form, None if the routing has none."""
    product, torus, transform = form.product, form.product.torus, form.transform
    closed = form.load(stage, routing(routing_name, torus))
    if closed is None:
        return None
    m = _paper(product, stage.letters, torus)
    link_s, work = _seconds(closed.load, torus, transform), None
    if link_s is not None:
        adaptive = _adaptive_s(None, product, stage, transform, link_s) if _contends(costs, routing_name) else None
        work = form.work(stage, link_s, adaptive, closed.hop_length)
    return ExchangePrediction(stage.name, m, closed.load, closed.hop_length, link_s, _seconds(m, torus, transform),
                              closed.busiest, work, work and terms_in_turn([work], costs))


def _contends(costs, routing_name):
    """Whether the contention of adaptive routers is included. Rules other than the default describe the routers
    themselves.
    """
    return costs.contention is not None and routing_name == DEFAULT_ROUTING


def _adaptive_s(mapping, product, exchange, transform, link_s):
    """Seconds of the busiest link if routers chose at random. For a product it is `link_s` times the ratio for even blocks.

    None for other placements on so many nodes that every route could not be followed in seconds.
    """
    if product is not None:
        even, adaptive = (_seconds(routing(name).of_product(product, exchange.letters).load, product.torus, transform)
                          for name in (DEFAULT_ROUTING, "minimal-adaptive"))
        return link_s * adaptive / even if even else link_s
    if mapping.network.n_nodes > MOST_NODES_AT_RANDOM:
        return None
    return routing("minimal-adaptive").loads(mapping.network, exchange, mapping.node_of_rank).seconds()


def _seconds(lengths, network, transform):
    return None if transform is None else m_time(lengths, network, transform.total_bytes)


def _paper(product, letters, torus):
    return tuple(effective_length(p, letters, torus, i) for i, p in enumerate(product.dimensions))


def worst(lengths: Iterable[Fraction], network: Network) -> Fraction:
    """The worst dimension: lengths weighted by bandwidth. Exact fractions."""
    return max(_cost_of(lengths, network))


def _cost_of(lengths, network):
    if network.bandwidth is None:
        return [Fraction(x) for x in lengths]
    fastest = Fraction(max(network.bandwidth))
    return [Fraction(x) * fastest / Fraction(rate) for x, rate in zip(lengths, network.bandwidth)]


def _cost(stages, network):
    return sum(worst(stage.load, network) for stage in stages)


def _notes(product, stages, bounds):
    if product is None:
        yield "not a product of digit patterns: m is the best cut, a lower bound for any routing"
    elif not product.is_digits:
        yield "ring maps, not digit patterns alone: m is the best cut, a lower bound for any routing"
    elif any(max(stage.m) != max(stage.load) for stage in stages):
        yield ("the paper's m and the routed load differ (odd ring, uneven blocks, or a routing that does not split ties); "
               "times follow the routed load")
    if not isinstance(bounds.site.network, Torus) and not bounds.together.value and any(any(stage.load) for stage in stages):
        yield f"no certificate; lower bound: {bounds.together.argument}"
