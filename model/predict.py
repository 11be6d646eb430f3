"""The prediction for one mapping: effective lengths, loads, bounds, times, certificate."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pencilmap.model.allocation import Site
from pencilmap.model.bounds import cut_bound
from pencilmap.model.contention import random_minimal_lengths
from pencilmap.model.costs import Costs
from pencilmap.model.exchange import exchanges
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.loads import m_scale, m_time
from pencilmap.model.lower_bound import LowerBound, lower_bound
from pencilmap.model.mapping import Mapping
from pencilmap.model.network import GraphLink, Network, TorusLink
from pencilmap.model.pattern import effective_length
from pencilmap.model.product import Product, product_of
from pencilmap.model.routing import DEFAULT_ROUTING, default_routing, routing
from pencilmap.model.timing import (
    ExchangeWork,
    LocalTerms,
    TimeTerms,
    exchange_terms,
    local_terms,
    local_work,
    mapping_work,
    product_work,
)
from pencilmap.model.transform import Transform

SCHEMA = "pencilmap-prediction/1"
MOST_NODES_AT_RANDOM = 4096  # up to this size contention is predicted for placements that are not products, in a few seconds


@dataclass(frozen=True)
class ExchangePrediction:
    """One exchange of a mapping; lists have one entry for each dimension, all on the m scale (4 load N / D_T).

    name : of the stage.
    m : the paper's effective lengths (eq. 16) for a product image; the best cut for any other.
    load : largest routed load.
    t_s : link time, seconds by the routed load; bound_s : by m. None without bandwidth or transform.
    busiest : the busiest link (`TorusLink` or `GraphLink`), None when it was not located.
    work, terms : the work of the exchange and its cost, see `pencilmap.model.timing`; None with t_s. """

    name: str
    m: tuple[Fraction, ...]
    load: tuple[Fraction, ...]
    hop_length: Fraction
    t_s: float | None
    bound_s: float | None
    busiest: TorusLink | GraphLink | None = None
    work: ExchangeWork | None = None
    terms: TimeTerms | None = None

    @property
    def time_s(self) -> float | None:
        """Predicted time, seconds by all terms of the time model; `t_s` where the machine's other figures are not known."""
        return None if self.terms is None else float(self.terms.time_s)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "m": _numbers(self.m), "load": _numbers(self.load), "hops": _plain(self.hop_length),
                "t_s": self.t_s, "bound_s": self.bound_s, "busiest": self.busiest and self.busiest.as_dict(),
                "time_s": self.time_s, "terms": self.terms and self.terms.as_dict()}


@dataclass(frozen=True)
class Prediction:
    """The prediction for one mapping.

    stages : the exchanges, in the order of a forward transform.
    lower_bound : LowerBound for every placement of the grid on the usable nodes, with even blocks.
    certificate : cost with even blocks over the lower bound; 1.0 is provably optimal; None where no bound is known.
    local : LocalTerms of the computing, None without a transform.
    """

    network: Network
    tasks_per_node: int
    grid: ProcessGrid
    placement: str
    product: Product | None
    routing: str
    stages: tuple[ExchangePrediction, ...]
    lower_bound: LowerBound
    certificate: float | None
    notes: tuple[str, ...] = ()
    local: LocalTerms | None = None

    def stage(self, name: str) -> ExchangePrediction:
        """The exchange of that name."""
        return next(stage for stage in self.stages if stage.name == name)

    @property
    def t_s(self) -> float | None:
        """Seconds of all exchanges by the busiest links alone, None when there is no time."""
        return _sum(stage.t_s for stage in self.stages)

    @property
    def time_s(self) -> float | None:
        """Seconds of all exchanges by all terms of the time model."""
        return _sum(stage.time_s for stage in self.stages)

    @property
    def total_s(self) -> float | None:
        """Seconds of the whole transform, None where nothing is known about the computing."""
        return _sum((self.time_s, self.local and self.local.time_s))

    @property
    def known_s(self) -> float | None:
        """The most complete time there is: `total_s`, else `time_s`, else `t_s`; None without any."""
        return next((t for t in (self.total_s, self.time_s, self.t_s) if t is not None), None)

    @property
    def order(self) -> tuple:
        """Sort key of predictions of one transform: time, then lengths, then hops, then the squarer grid.

        Times are rounded to ten digits, so that rounding errors do not decide; without times the lengths decide. """
        time = self.cost if self.known_s is None else float(f"{self.known_s:.10g}")
        return time, self.cost, sum(stage.hop_length for stage in self.stages), max(self.grid.shape)

    @property
    def cost(self) -> Fraction:
        """What searches minimise: the sum over the exchanges of the worst routed length (exact)."""
        return _cost(self.stages, self.network)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, as ``prediction.schema.json`` describes it."""
        return {"schema": SCHEMA, **self.network.as_dict(), "tasks_per_node": self.tasks_per_node,
                "decomposition": self.grid.decomposition.name, "grid": list(self.grid.shape), "placement": self.placement,
                "patterns": None if self.product is None else str(self.product), "routing": self.routing,
                "m_source": "cut" if self.product is None else "paper", "stages": [stage.as_dict() for stage in self.stages],
                "t_s": self.t_s, "time_s": self.time_s, "terms_local": self.local and self.local.as_dict(),
                "total_s": self.total_s, "lower_bound": _plain(self.lower_bound.value),
                "lower_bound_argument": self.lower_bound.argument, "certificate": self.certificate,
                "notes": list(self.notes)}


def _sum(times):
    """Of some seconds; None where one of them is not known."""
    times = list(times)
    return None if None in times else sum(times)


def _numbers(values):
    return [_plain(v) for v in values]


def _plain(value):
    value = Fraction(value)
    return int(value) if value.denominator == 1 else float(value)


def predict(placed: Product | Mapping, transform: Transform | None = None, routing_name: str | None = None,
            name: str | None = None, costs: Costs = Costs(), site: Site | None = None) -> Prediction:
    """Predict the exchanges of a placement.

    A `Product` with even blocks is predicted in closed form, whatever its size, where the routing has one; everything else
    by routing every message.

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
    """
    product = placed if isinstance(placed, Product) else product_of(placed)
    if transform is not None:
        transform.check_grid(placed.grid)
    name = name or _name(placed)
    if product is not None and _is_even(placed.grid, transform):
        closed = predict_product(product, transform, name, costs, routing_name)
        if closed is not None:
            return closed if isinstance(placed, Product) else replace(closed, notes=(*closed.notes, *placed.notes))
    mapping = placed.mapping() if isinstance(placed, Product) else placed
    return predict_routed(mapping, transform, routing_name, name, product, costs, site)


def predict_routed(mapping: Mapping, transform: Transform | None = None, routing_name: str | None = None,
                   name: str | None = None, product: Product | None = None, costs: Costs = Costs(),
                   site: Site | None = None) -> Prediction:
    """Predict a mapping by the load of every link; `product` when it is known to be one."""
    routing_name = routing_name or default_routing(mapping.network)
    stages = tuple(_routed(mapping, product, exchange, transform, routing_name, costs)
                   for exchange in exchanges(mapping.grid, transform))
    even = stages if _is_even(mapping.grid, transform) else [
        _routed(mapping, product, exchange, None, routing_name, costs) for exchange in exchanges(mapping.grid)]
    bound = lower_bound(site or Site(mapping.network, mapping.tasks_per_node, idle=True), mapping.grid)
    return Prediction(mapping.network, mapping.tasks_per_node, mapping.grid, name or mapping.name, product, routing_name,
                      stages, bound, _certificate(mapping.network, even, bound),
                      (*_notes(product, stages, bound), *mapping.notes),
                      _local(transform, mapping.grid, mapping.tasks_per_node, costs))


def predict_product(product: Product, transform: Transform | None = None, name: str | None = None, costs: Costs = Costs(),
                    routing_name: str | None = None) -> Prediction | None:
    """Predict a product placement in closed form: no array of the length of the ranks, any size of machine.

    Blocks are assumed even. None where the routing has no closed form.
    """
    routing_name = routing_name or default_routing(product.torus)
    stages = tuple(_closed(product, stage, transform, costs, routing_name) for stage in product.decomposition.exchanges)
    if None in stages:
        return None
    bound = lower_bound(Site(product.torus, product.tasks_per_node), product.grid)
    return Prediction(product.torus, product.tasks_per_node, product.grid, name or str(product), product, routing_name,
                      stages, bound, _certificate(product.torus, stages, bound), tuple(_notes(product, stages, bound)),
                      _local(transform, product.grid, product.tasks_per_node, costs))


def _name(placed):
    return str(placed) if isinstance(placed, Product) else placed.name


def _is_even(grid, transform):
    return transform is None or transform.divides_evenly(grid)


def _local(transform, grid, tasks_per_node, costs):
    return None if transform is None else local_terms(local_work(transform, grid, tasks_per_node), costs)


def _routed(mapping, product, exchange, transform, routing_name, costs):
    network = mapping.network
    loads = routing(routing_name, network).loads(network, exchange, mapping.node_of_rank)
    m = _paper(product, exchange.letters, network) if product else tuple(
        m_scale(b, network, exchange.total_bytes) for b in cut_bound(network, exchange, mapping.node_of_rank))
    hops = m_scale(loads.hop_bytes(), network, exchange.total_bytes) / network.n_nodes
    load = loads.on_m_scale()
    times = _times(load, m, network, transform)
    work = None
    if times[0] is not None:
        adaptive = _adaptive_s(mapping, product, exchange, transform, times[0]) if _contends(costs, routing_name) else None
        work = mapping_work(mapping, exchange, times[0], adaptive, loads.hop_bytes())
    return ExchangePrediction(exchange.name, m, load, hops, *times, loads.busiest(), work,
                              work and exchange_terms(work, costs))


def _closed(product, stage, transform, costs, routing_name):
    """`stage` : an ExchangeStage, or an Exchange, of the same name and letters."""
    torus, letters = product.torus, stage.letters
    closed = routing(routing_name, torus).of_product(product, letters)
    if closed is None:
        return None
    m = _paper(product, letters, torus)
    times, work = _times(closed.load, m, torus, transform), None
    if times[0] is not None:
        adaptive = m_time(random_minimal_lengths(product, letters), torus, transform.total_bytes) if _contends(
            costs, routing_name) else None
        work = product_work(product, letters, transform, times[0], adaptive, closed.hop_length)
    return ExchangePrediction(stage.name, m, closed.load, closed.hop_length, *times, closed.busiest, work,
                              work and exchange_terms(work, costs))


def _contends(costs, routing_name):
    """Whether the contention of adaptive routers is included; rules other than the default describe the routers
    themselves."""
    return costs.contention is not None and routing_name == DEFAULT_ROUTING


def _adaptive_s(mapping, product, exchange, transform, link_s):
    """Seconds of the busiest link if routers chose at random; as a share of `link_s` with even blocks for a product.

    None for other placements on so many nodes that every route could not be followed in seconds.
    """
    if product is not None:
        even = _closed(product, exchange, transform, Costs(contention=0.0), DEFAULT_ROUTING).work
        return link_s * even.adaptive_s / even.link_s if even.link_s else link_s
    if mapping.network.n_nodes > MOST_NODES_AT_RANDOM:
        return None
    return routing("minimal-adaptive").loads(mapping.network, exchange, mapping.node_of_rank).seconds()


def _times(load, m, network, transform):
    return [None if transform is None else m_time(x, network, transform.total_bytes) for x in (load, m)]


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


def _certificate(network, stages, bound):
    """How far from optimal at most: all exchanges over the lower bound; 1.0 is provably optimal."""
    cost = _cost(stages, network)
    if bound.value:
        return float(cost / bound.value)
    return None if cost else 1.0


def _notes(product, stages, bound):
    if product is None:
        yield "not a product of digit patterns: m is the best cut, a lower bound for any routing"
    elif any(max(stage.m) != max(stage.load) for stage in stages):
        yield ("the paper's m and the routed load differ (odd ring, uneven blocks, or a routing that does not split ties); "
               "times follow the routed load")
    if not bound.value and any(any(stage.load) for stage in stages):
        yield f"no certificate; lower bound: {bound.argument}"
