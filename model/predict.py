"""The prediction for one mapping: effective lengths, loads, bounds, times, certificate."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from pencilmap.model.allocation import Site
from pencilmap.model.bounds import cut_bound
from pencilmap.model.contention import random_minimal_lengths
from pencilmap.model.costs import Costs
from pencilmap.model.exchange import exchanges
from pencilmap.model.loads import m_scale, m_time
from pencilmap.model.lower_bound import LowerBound, lower_bound
from pencilmap.model.pattern import effective_length
from pencilmap.model.product import Product, product_of
from pencilmap.model.routing import DEFAULT_ROUTING, default_routing, routing
from pencilmap.model.timing import exchange_terms, local_terms, local_work, mapping_work, product_work

MOST_NODES_AT_RANDOM = 4096  # up to here contention is predicted for placements that are no products, in a few seconds


@dataclass(frozen=True)
class ExchangePrediction:
    """One exchange of a mapping; lists have one entry for each dimension, all on the m scale (4 load N / D_T).

    m : the paper's effective lengths (eq. 16) for a product image; the best cut for any other.
    load : largest routed load.
    t_s : seconds by the routed load; bound_s : by m. None without bandwidth or transform.
    busiest : the busiest link (`TorusLink` or `GraphLink`), None when it was not located.
    work, terms : what the exchange asks of the machine and what that costs, see `pencilmap.model.timing`; None with t_s.
    """

    m: tuple
    load: tuple
    hop_length: Fraction
    t_s: float | None
    bound_s: float | None
    busiest: tuple | None = None
    work: object = None
    terms: object = None

    @property
    def time_s(self):
        """Seconds by all terms of the time model; `t_s` where the machine's other figures are not known."""
        return None if self.terms is None else float(self.terms.time_s)


@dataclass(frozen=True)
class Prediction:
    """What `predict` says of one mapping.

    lower_bound : LowerBound, what no placement of the grid on the usable nodes can beat, with even blocks.
    certificate : cost with even blocks over the lower bound; 1.0 is provably optimal; None where no bound is known.
    local : LocalTerms of the computing, None without a transform.
    """

    torus: object
    tasks_per_node: int
    grid: object
    placement: str
    product: object
    routing: str
    row: ExchangePrediction
    column: ExchangePrediction
    lower_bound: LowerBound
    certificate: float | None
    notes: tuple = field(default=())
    local: object = None

    @property
    def t_s(self):
        """Seconds of both exchanges by the busiest link alone, None when there is no time."""
        return None if self.row.t_s is None else self.row.t_s + self.column.t_s

    @property
    def time_s(self):
        """Seconds of both exchanges by all terms of the time model."""
        return None if self.row.time_s is None else self.row.time_s + self.column.time_s

    @property
    def total_s(self):
        """Seconds of the whole transform, None where nothing is known of the computing."""
        local = self.local and self.local.time_s
        return None if self.time_s is None or local is None else self.time_s + local

    @property
    def seconds(self):
        """The most complete time there is: with computing, by all terms of the exchanges, by the busiest link; or None."""
        return next((t for t in (self.total_s, self.time_s) if t is not None), self.t_s)

    @property
    def order(self):
        """What predictions of one transform are ranked by: time, then lengths, then hops, then the grid nearer to a square.

        Times are rounded to ten digits, so that what is equal but for rounding is equal; without times the lengths decide.
        """
        time = self.cost if self.seconds is None else float(f"{self.seconds:.10g}")
        return time, self.cost, self.row.hop_length + self.column.hop_length, max(self.grid.R, self.grid.C)

    @property
    def cost(self):
        """What the search minimises: the worst routed length of the rows plus that of the columns (exact)."""
        return worst(self.row.load, self.torus) + worst(self.column.load, self.torus)

    def as_dict(self):
        """For JSON: plain numbers and lists."""
        def numbers(values):
            return [_plain(v) for v in values]

        result = {**self.torus.as_dict(), "tasks_per_node": self.tasks_per_node, "grid": [self.grid.R, self.grid.C],
                  "placement": self.placement, "patterns": None if self.product is None else str(self.product),
                  "routing": self.routing, "m_source": "cut" if self.product is None else "paper"}
        for name, exchange in (("row", self.row), ("column", self.column)):
            result |= {f"m_{name}": numbers(exchange.m), f"load_{name}": numbers(exchange.load),
                       f"hops_{name}": _plain(exchange.hop_length), f"t_{name}_s": exchange.t_s,
                       f"bound_{name}_s": exchange.bound_s,
                       f"busiest_{name}": exchange.busiest and exchange.busiest.as_dict(),
                       f"time_{name}_s": exchange.time_s, f"terms_{name}": exchange.terms and exchange.terms.as_dict()}
        return result | {"t_s": self.t_s, "time_s": self.time_s, "terms_local": self.local and self.local.as_dict(),
                         "total_s": self.total_s, "lower_bound": _plain(self.lower_bound.value),
                         "lower_bound_argument": self.lower_bound.argument, "certificate": self.certificate,
                         "notes": list(self.notes)}


def _plain(value):
    value = Fraction(value)
    return int(value) if value.denominator == 1 else float(value)


def predict(placed, transform=None, routing_name=None, name=None, costs=Costs(), site=None):
    """Predict both exchanges of a placement.

    A `Product` with even blocks is predicted in closed form, whatever its size, where the routing has one; everything else
    by routing every message.

    Parameters
    ----------
    placed : Product or Mapping
    transform : Transform, optional
        Without it there are no times, only lengths.
    routing_name : str, optional
        See `pencilmap.model.routing.ROUTINGS`; by default the default of the network.
    name : str, optional
        What to call the placement; its own name by default.
    costs : Costs
        What the machine charges beside link bandwidth; nothing by default.
    site : Site, optional
        The slots that the lower bound may use: those of all nodes by default.

    Returns
    -------
    Prediction
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


def predict_routed(mapping, transform=None, routing_name=None, name=None, product=None, costs=Costs(), site=None):
    """Predict a mapping by the load of every link; `product` when it is known to be one."""
    routing_name = routing_name or default_routing(mapping.torus)
    parts = [_routed(mapping, product, exchange, transform, routing_name, costs)
             for exchange in exchanges(mapping.grid, transform)]
    even = parts if _is_even(mapping.grid, transform) else [
        _routed(mapping, product, exchange, None, routing_name, costs) for exchange in exchanges(mapping.grid)]
    bound = lower_bound(site or Site(mapping.torus, mapping.tasks_per_node, idle=True), mapping.grid)
    return Prediction(mapping.torus, mapping.tasks_per_node, mapping.grid, name or mapping.name, product, routing_name,
                      *parts, bound, _certificate(mapping.torus, *even, bound),
                      (*_notes(product, *parts, bound), *mapping.notes),
                      _local(transform, mapping.grid, mapping.tasks_per_node, costs))


def predict_product(product, transform=None, name=None, costs=Costs(), routing_name=None):
    """Predict a product placement in closed form: no array as long as the ranks, any size of machine.

    Blocks are taken as even. None where the routing has no closed form.
    """
    routing_name = routing_name or default_routing(product.torus)
    parts = [_closed(product, owner, transform, costs, routing_name) for owner in "rc"]
    if None in parts:
        return None
    bound = lower_bound(Site(product.torus, product.tasks_per_node), product.grid)
    return Prediction(product.torus, product.tasks_per_node, product.grid, name or str(product), product, routing_name,
                      *parts, bound, _certificate(product.torus, *parts, bound), tuple(_notes(product, *parts, bound)),
                      _local(transform, product.grid, product.tasks_per_node, costs))


def _name(placed):
    return str(placed) if isinstance(placed, Product) else placed.name


def _is_even(grid, transform):
    return transform is None or transform.divides_evenly(grid)


def _local(transform, grid, tasks_per_node, costs):
    return None if transform is None else local_terms(local_work(transform, grid, tasks_per_node), costs)


def _routed(mapping, product, exchange, transform, routing_name, costs):
    torus = mapping.torus
    loads = routing(routing_name, torus).loads(torus, exchange, mapping.node_of_rank)
    m = _paper(product, exchange.name[0], torus) if product else tuple(
        m_scale(b, torus, exchange.total_bytes) for b in cut_bound(torus, exchange, mapping.node_of_rank))
    hops = m_scale(loads.hop_bytes(), torus, exchange.total_bytes) / torus.n_nodes
    load = loads.on_m_scale()
    times = _times(load, m, torus, transform)
    work = None
    if times[0] is not None:
        adaptive = _adaptive_s(mapping, product, exchange, transform, times[0]) if _contends(costs, routing_name) else None
        work = mapping_work(mapping, exchange, times[0], adaptive, loads.hop_bytes())
    return ExchangePrediction(m, load, hops, *times, loads.busiest(), work, work and exchange_terms(work, costs))


def _closed(product, owner, transform, costs, routing_name):
    torus = product.torus
    closed = routing(routing_name, torus).of_product(product, owner)
    if closed is None:
        return None
    m = _paper(product, owner, torus)
    times, work = _times(closed.load, m, torus, transform), None
    if times[0] is not None:
        adaptive = m_time(random_minimal_lengths(product, owner), torus, transform.total_bytes) if _contends(
            costs, routing_name) else None
        work = product_work(product, owner, transform, times[0], adaptive, closed.hop_length)
    return ExchangePrediction(m, closed.load, closed.hop_length, *times, closed.busiest, work,
                              work and exchange_terms(work, costs))


def _contends(costs, routing_name):
    """Whether the contention of adaptive routers is asked for; other rules than the default say themselves what routers
    do."""
    return costs.contention is not None and routing_name == DEFAULT_ROUTING


def _adaptive_s(mapping, product, exchange, transform, link_s):
    """Seconds of the busiest link if routers chose at random; as a share of `link_s` with even blocks for a product.

    None for other placements on so many nodes that every way could not be followed in seconds.
    """
    if product is not None:
        even = _closed(product, exchange.name[0], transform, Costs(contention=0.0), DEFAULT_ROUTING).work
        return link_s * even.adaptive_s / even.link_s if even.link_s else link_s
    if mapping.torus.n_nodes > MOST_NODES_AT_RANDOM:
        return None
    return routing("minimal-adaptive").loads(mapping.torus, exchange, mapping.node_of_rank).seconds()


def _times(load, m, torus, transform):
    return [None if transform is None else m_time(x, torus, transform.total_bytes) for x in (load, m)]


def _paper(product, owner, torus):
    return tuple(effective_length(p, owner, torus, i) for i, p in enumerate(product.dimensions))


def worst(lengths, torus):
    """The worst dimension: lengths, slower dimensions counted longer by their bandwidth. Exact fractions."""
    return max(_cost_of(lengths, torus))


def _cost_of(lengths, torus):
    if torus.bandwidth is None:
        return [Fraction(x) for x in lengths]
    fastest = Fraction(max(torus.bandwidth))
    return [Fraction(x) * fastest / Fraction(rate) for x, rate in zip(lengths, torus.bandwidth)]


def _certificate(torus, row, column, bound):
    """How far from optimal at most: both exchanges over the lower bound; 1.0 is provably optimal."""
    cost = worst(row.load, torus) + worst(column.load, torus)
    if bound.value:
        return float(cost / bound.value)
    return None if cost else 1.0


def _notes(product, row, column, bound):
    if product is None:
        yield "no product of digit patterns: m is the best cut, a lower bound for any routing"
    elif (max(row.m), max(column.m)) != (max(row.load), max(column.load)):
        yield ("the paper's m and the routed load differ (odd ring, uneven blocks, or a routing that does not split ties); "
               "the routed load applies to the times")
    if not bound.value and any((*row.load, *column.load)):
        yield f"no certificate; lower bound: {bound.argument}"
