"""The range of the loads of a placement: from a bound for any routing to the load under each routing rule."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.kinds import all_variants
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict_question
from pencilmap.model.predict.lower_bounds import cut_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import FORWARD, SEQUENCE, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import m_scale, m_time

ANY_ROUTING = "any (cut bound)"
BEST_MINIMAL = "optimal-minimal"


def routing_interval(placed: Product | Mapping, transform: Transform | None = None, name: str | None = None,
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
    >>> from pencilmap.model.placement.pattern import parse_pattern
    >>> from pencilmap.model.network.torus import Torus
    >>> boxes = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> for p in routing_interval(boxes):
    ...     print(f"{p.routing:24} {float(max(p.stages[0].load)):.3f}")
    any (cut bound)          4.000
    optimal-minimal          4.000
    dimension-order          4.000
    dimension-order:parity   4.000
    dimension-order:plus     4.000
    minimal-adaptive:hops    5.438
    minimal-adaptive:paths   5.973
    """
    return intervals(placed, Question(None, exchange, schedule, direction), transform, name=name, costs=costs, site=site)


def _unheard(rule):
    """Take the name of a rule for nobody."""


def intervals(placed: Product | Mapping, question: Question, transform: Transform | None = None, *, name: str | None = None,
              costs: Costs = Costs(), site: Site | None = None,
              begin: Callable[[str], None] = _unheard) -> list[Prediction]:
    """The same for a question, whose routing does not count. `begin` is called with each rule before its prediction."""
    found, refusals = [], []
    mapping = placed.mapping(name) if isinstance(placed, Product) else placed
    for rule in sorted(all_variants(mapping.network), key=lambda rule: rule != BEST_MINIMAL):
        begin(rule)
        try:
            found.append(predict_question(placed, replace(question, routing=rule), transform, name=name, costs=costs,
                                          site=site))
        except RoutingError as error:
            refusals.append(f"without {rule}: {error}")
    return [_without_routing(found[0], mapping, directed(transform, question.direction), refusals), *found]


def _without_routing(prediction, mapping, transform, refusals):
    """Return a prediction with cut bounds instead of loads."""
    stages = []
    for stage, exchange in zip(prediction.stages, exchanges(mapping.grid, transform)):
        load = tuple(m_scale(b, mapping.network, exchange.total_bytes)
                     for b in cut_bound(mapping.network, exchange, mapping.node_of_rank))
        t_s = None if transform is None else m_time(load, mapping.network, transform.total_bytes)
        stages.append(replace(stage, load=load, t_s=t_s, busiest=None, work=None, rounds=None))
    return replace(prediction, routing=ANY_ROUTING, certified=False, notes=tuple(refusals), local=None,
                   schedule=None, stages=tuple(stages))
