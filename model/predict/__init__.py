"""The prediction for one placement: effective lengths, loads, bounds, times, certificate.

`predict` decides between two forms: closed forms (`closed_form`) and every message routed (`routed`). Both give the
exchanges one by one. The schedule (`forecast`), the bounds and the remaps of bricks are then the same for both.
"""

from collections.abc import Sequence
from dataclasses import replace

from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.case import Case
from pencilmap.model.predict.certificates import Bounds
from pencilmap.model.predict.closed_form import ClosedForm, closed_form as closed_form_of, recognised
from pencilmap.model.predict.forecast import Forecaster
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.results import ExchangePrediction, Prediction, cost_of
from pencilmap.model.predict.routed import predict_messages, routed as routed_form_of
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.remap import remaps


def predict(placed: Product | Mapping, transform: Transform | None = None, routing_name: str | None = None,
            name: str | None = None, costs: Costs = Costs(), site: Site | None = None,
            exchange: str | Sequence[str] = DEFAULT_ALGORITHM, schedule: str = SEQUENCE,
            direction: str = FORWARD) -> Prediction:
    """Predict the exchanges of a placement.

    A `Product` is predicted in closed form, whatever its size, if routing and exchange have one. Everything else is found
    by routing every message.

    Parameters
    ----------
    placed : Product or Mapping
        The placement.
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
        As for `Question`.

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
    >>> from pencilmap.model.placement.pattern import parse_pattern
    >>> boxes = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> [str(max(stage.load)) for stage in predict(boxes).stages]
    ['4', '4']
    """
    return predict_question(placed, Question(routing_name, exchange, schedule, direction), transform, name=name, costs=costs,
                            site=site)


def predict_question(placed: Product | Mapping, question: Question, transform: Transform | None = None, *,
                     name: str | None = None, costs: Costs = Costs(), site: Site | None = None) -> Prediction:
    """Predict a placement in closed form if there is one, else by routing every message. Arguments as for `predict`."""
    case = Case(placed, recognised(placed), directed(transform, question.direction), question, costs)
    prediction = _closed(case, closed_form_of(case), name) or _routed(case, name, site)
    if question.routing is not None:
        return prediction

    def under(rule):
        return predict_question(placed, replace(question, routing=rule), transform, name=name, costs=costs, site=site)

    return replace(prediction, under=under)


def predict_routed(mapping: Mapping, transform: Transform | None = None, question: Question = Question(), *,
                   name: str | None = None, product: Product | None = None, costs: Costs = Costs(),
                   site: Site | None = None) -> Prediction:
    """Predict a mapping by the load of every link; `product` when it is known to be one."""
    return _routed(Case(mapping, product, directed(transform, question.direction), question, costs), name, site)


def predict_product(product: Product, transform: Transform | None = None, question: Question = Question(), *,
                    name: str | None = None, costs: Costs = Costs()) -> Prediction | None:
    """Predict a product placement in closed form, for any size of machine: no array has an entry for each rank.

    Every exchange must be one all-to-all. None if the routing has no closed form.
    """
    case = Case(product, product, directed(transform, question.direction), question, costs)
    return _closed(case, ClosedForm(case, product), name)


def _closed(case, form, name):
    stages = form and form.predicted()
    return stages and _prediction(case, stages, Site(case.network, case.tasks_per_node), name, form=form)


def _routed(case, name, site):
    stages, loads = routed_form_of(case)
    return _prediction(case, stages, site or Site(case.network, case.tasks_per_node, idle=True), name, loads=loads)


def _prediction(case: Case, stages: tuple[ExchangePrediction, ...], site: Site, name: str | None, *,
                form: ClosedForm | None = None, loads: Sequence[LinkLoads | None] = ()) -> Prediction:
    """The prediction with these exchanges, which come from closed forms or from loads."""
    question, network = case.question, case.network
    bounds = Bounds(site, case.grid, case.transform, case.routing_name, cost_of(stages, network) if case.at_once else None)
    forecast = Forecaster(case, stages, bounds, form, loads).forecast(question.schedule)
    prediction = Prediction(
        network=network, tasks_per_node=case.tasks_per_node, grid=case.grid, placement=name or _name(case.placed),
        product=case.product, routing=case.routing_name, stages=stages, bounds=bounds,
        notes=(*_notes(case.product, stages, bounds), *case.notes, *forecast.notes), local=case.local, schedule=forecast)
    return _with_remaps(prediction, case) if case.grid.decomposition.has_bricks else prediction


def _with_remaps(prediction, case):
    """The prediction with the remaps of bricks. All their messages are routed at once, over links that they share
    fairly.
    """
    grid, transform = case.grid, case.transform
    if transform is None:
        raise GridError("bricks are remapped by their extents: name the transform with `fft`, e.g. 512")
    found = remaps(grid, transform)
    exchanged = sum(transform.total_bytes - transform.total_bytes // grid.extent(stage.letters)
                    for stage in grid.decomposition.exchanges)

    def predicted(messages):
        return tuple(predict_messages(case.mapping, each, transform, case.routing_name, case.costs) for each in messages)

    turned = remaps(grid, case.turned.transform) if case.question.direction == PAIR else ()
    return replace(prediction, moved_bytes=exchanged + sum(int(each.group_weight.sum()) * each.unit_bytes for each in found),
                   remaps=predicted(found), turned_remaps=predicted(turned))


def _name(placed):
    return str(placed) if isinstance(placed, Product) else placed.name


def _notes(product, stages, bounds):
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
