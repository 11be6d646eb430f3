"""The ranking of all ways to run a transform: shapes, decompositions, grids, placements, exchanges, schedules.

Idea: first predict every grid in closed form, in sequence, under its best product and in the launch order. Then predict the
fastest grids with other schedules and exchanges. Then search other placements for the fastest grids, in rounds: each round
searches fewer grids longer, so that most evaluations go to the best grid. All candidates are ranked by one objective.
Cost: milliseconds for each grid, then a budget of evaluations; the budget alone ends a search, so an answer will be the same
on any machine. A time limit only cuts the search short.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from pencilmap.mapper.base.progress import now_and_then, part, parts, say
from pencilmap.mapper.base.search import EFFORTS, ONE_GRID, Search, search_of
from pencilmap.mapper.choose.choices import LARGE, Choice, Wanted, floor_of, site_key
from pencilmap.mapper.choose.nodes import beside, own_choices, sites, with_tasks
from pencilmap.mapper.place import best_placement, place
from pencilmap.mapper.placements import BEST, check_names
from pencilmap.model.algorithms import DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.base.errors import GridError, PartitionError, PencilmapError
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.kinds import all_variants, routing as routing_rule
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Placement, Site
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.predict import Prediction, answer, interval
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import BY, TRANSFORM, largest_term, order, quick, unknown_costs, worth
from pencilmap.model.schedules import BEST as ANY_SCHEDULE
from pencilmap.model.schedules.schedule import FORWARD, SEQUENCE

ALL_ROUTINGS = "all"
LONGEST_RING = 256   # nodes: longer rings have too many digit patterns, so such shapes are left out
TOP = {"quick": 3, "normal": 10, "long": 30}  # shapes
BEFORE_SEARCH = 0.4  # share of the progress of a plan with searches
EXCHANGED = 2        # grids with other exchanges
SAME = 1e-9
MANY_NODES = 512  # from which each routing rule of several is reported


@dataclass(frozen=True)
class Plan:
    """Choices from the best on.

    Parameters
    ----------
    where : Question
        The question.
    choices : tuple of Choice
        At least one.
    by : {"transform", "exchanges"}
        Objective of the ranking.
    effort : {"quick", "normal", "long"}
    cut_short : bool
        Whether a time limit ended the search.
    left_out : tuple of Torus
        Shapes that were not tried: their bound is no better than the last of the wanted shapes, or a ring is too long.
    own : dict of str to Choice
        The best choice of the same grid on the nodes that the scheduler takes by itself, by its setting, if the plan chose
        nodes.
    """

    where: Question
    choices: tuple[Choice, ...]
    by: str = TRANSFORM
    effort: str = "normal"
    cut_short: bool = False
    left_out: tuple[Network, ...] = ()
    own: dict[str, Choice] = field(default_factory=dict)

    @property
    def best(self) -> Choice:
        return self.choices[0]

    @property
    def predictions(self) -> list[Prediction]:
        """The best prediction of each shape, grid and named placement."""
        first: dict[tuple[object, ...], Prediction] = {}
        for choice in self.choices:
            first.setdefault((*choice.kind, choice.prediction.placement), choice.prediction)
        return list(first.values())

    @property
    def rivals(self) -> list[Choice]:
        """The best choices of other shapes and grids within the model's error of the best. They should be measured."""
        likely = self.best.prediction.likely_gain
        error = 1.1 if likely is None else max(1 / likely[0], 1.0)
        first = {choice.kind: choice for choice in reversed(self.choices)}
        late = order(self.best.prediction, self.by)[0]
        return [choice for choice in self.choices[1:] if choice is first[choice.kind] and choice.kind != self.best.kind
                and choice.worth <= error * self.best.worth and order(choice.prediction, self.by)[0] == late]

    @cached_property
    def term(self) -> tuple[str, float]:
        """Name in `pencilmap.model.predict.ranking.TERMS` of the largest term of the best choice, and its share."""
        return largest_term(self.best.prediction)

    @property
    def unknown(self) -> list[str]:
        """Unknown costs of the machine, in words."""
        return unknown_costs(self.where.costs)


def plan(where: Question, *, by: str = TRANSFORM, effort: str = "normal",
         decompositions: Sequence[Decomposition] | None = None, grids: Sequence[ProcessGrid] | None = None,
         placements: Sequence[str] | None = None,
         exchanges: Sequence[str] | None = None, schedules: Sequence[str] = (SEQUENCE,),
         shapes: Sequence[Torus] | None = None, routing: str | None = None, direction: str = FORWARD, seed: int = 1,
         seconds: float | None = None, top: int | None = None, within: Search | None = None) -> Plan:
    """Rank all ways to run a transform. Every option names the only values to try; by default all are tried, but of
    decompositions those of the setting, and of schedules the sequence.

    Parameters
    ----------
    where : Question
        Network or machine, usable nodes, and transform; `pencilmap.setting` makes one from texts. Its exchange and its
        schedule do not count.
    by : {"transform", "exchanges"}
        Rank by the time of the whole transform as far as the costs are known, or by the exchanges alone.
    effort : {"quick", "normal", "long"}
        ``quick``: closed forms, no search. ``normal``: searches of some seconds. ``long``: eight times as long.
    decompositions : sequence of Decomposition, optional
    grids : sequence of ProcessGrid, optional
        They give the decompositions, too.
    placements : sequence of str, optional
        By default the best placement and the launch order.
    exchanges : sequence of str, optional
    schedules : sequence of str
        By default the exchanges one after the other, as most codes make them; ``best`` tries those that keep the boxes.
    shapes : sequence of Torus, optional
        Shapes with as many nodes as the network, in place of the network.
    routing, direction : optional
        As for `pencilmap.model.predict.question.Question`.
    seed : int
        Seed of the searches. The same seed and effort will give the same plan.
    seconds : float, optional
        Time limit. The first answer will always be finished.
    top : int, optional
        Number of shapes to rank at least; shapes whose bound is worse than all of these will be left out. By default 3, 10
        or 30 by effort.
    within : Search, optional
        In place of seed and seconds, to be shared with other searches.

    Returns
    -------
    Plan

    Raises
    ------
    GridError, PlacementError, ScheduleError
        If no grid has such a placement or schedule.

    Examples
    --------
    >>> from pencilmap.mapper.ask import ask
    >>> found = plan(ask(machine="bluegene-l", fft="512"), effort="quick")
    >>> found.best.decomposition.name, str(found.best.grid), found.best.schedule, found.cut_short
    ('slab', '512', 'sequence', False)
    """
    where = where.towards(direction)
    check_names(placements or ())  # before any error about grids, because the grid is not at fault then
    if by not in BY or effort not in EFFORTS:
        raise GridError(f"a plan is ranked by {' or '.join(BY)}, with effort {', '.join(EFFORTS)}; not by {by} with effort "
                        f"{effort}")
    first = replace(where, routing=routing or where.routing, exchange=_first_of(exchanges, DEFAULT_ALGORITHM),
                    schedule=_first_of(schedules, SEQUENCE))
    others = where.shapes if shapes is None else [_on(where, torus) for torus in shapes]
    wanted = Wanted(first, by=by, effort=effort, decompositions=decompositions, grids=grids,
                     placements=placements, exchanges=exchanges, schedules=schedules)
    within = within or search_of(effort, seed, seconds)
    free = [other for other in others or (where,) if other.among]
    if free:
        others = [site for other in others or (where,) for site in sites(other, _typical(other, grids))]
    with part(0, BEFORE_SEARCH if wanted.searches else 1):
        searched, left_out = _of_shapes(wanted, [_on_shape(first, shape) for shape in others], top or TOP[effort]) \
            if others else (wanted.first(first), ())
    if free:
        searched += _on_nodes_of_best(wanted, where, free, searched)
    leaders = wanted.leaders(searched)
    best = wanted.ranked(searched)[0]
    searched = [*searched, *(c for leader in leaders for c in wanted.scheduled(leader)),
                *(c for leader in leaders[:EXCHANGED] for c in wanted.exchanged(leader, best.worth))]
    if wanted.searches:
        with part(BEFORE_SEARCH, 1):
            searched = wanted.searched(searched, within)
    own = _on_own_nodes(wanted, where, searched, within)
    ranking = wanted.without_file(wanted.or_launched([*searched, *own.values()], top or TOP[effort]))
    if own:
        ranking = _kindest(where, ranking, {choice.kind for choice in own.values()})
    by_kind = {choice.kind: choice for choice in reversed(ranking)}
    return Plan(where, tuple(ranking), by, effort, within.cut_short, left_out,
                {name: by_kind[choice.kind] for name, choice in own.items()})


def best_grid(question: Question) -> ProcessGrid:
    """Return the grid of the first choice of `plan`, under the schedule of the question."""
    return plan(question.alone, schedules=(question.schedule,)).best.grid


def predictions(question: Question, grid: ProcessGrid | None = None, placements: Sequence[str] = (BEST,),
                within: Search | None = None, exchange: str | None = None) -> list[Prediction]:
    """Return the predictions of all placements.

    Without a grid return those of all grids on which a placement exists, ranked by `plan`. With routing `ALL_ROUTINGS`
    there will be several for each placement, as `pencilmap.model.predict.interval` gives them.

    Parameters
    ----------
    question : Question
    grid : ProcessGrid, optional
    placements : sequence of str
    within : Search, optional
        For placement ``best`` on a grid, which takes half of it. Without a budget the routers do not adapt.
    exchange : str, optional
        Without a grid the only exchange to try; by default all.

    Raises
    ------
    GridError, PlacementError, ScheduleError
        If a placement or its schedule is not possible; without a grid if it is not possible on any grid.
    """
    is_all, within = question.routing == ALL_ROUTINGS, within or Search()
    check_names(placements)
    if question.routing is not None and not is_all:
        routing_rule(question.routing, question.network)  # before a search, which may be long
    if isinstance(question.exchange, str):
        algorithm_named(question.exchange)
    if grid is None:
        if is_all:
            raise GridError(f"`routing` all compares the rules for one grid; name it with `grid` "
                            f"{question.decomposition.usage}")
        return plan(question.alone, placements=placements, exchanges=exchange and (exchange,),
                    schedules=(question.schedule,)).predictions
    answers = list[Prediction]()
    searched = replace(question, routing=None) if is_all else question
    for text, step in zip(placements, parts(len(placements))):
        with step:
            placement = best_placement(searched, grid, within.part(ONE_GRID))[0] if text == BEST \
                else place(searched, text, grid)
            if is_all:
                answers += under_every_rule(question, placement, text)
            else:
                p = answer(question, placement, text)
                answers.append(p if within.budget else quick(p))
    return answers


def under_every_rule(question: Question, placement: Placement, name: str | None = None) -> list[Prediction]:
    """Return the predictions under all routing rules; say which rule is at work."""
    listener = say if question.network.n_nodes >= MANY_NODES else now_and_then(say)
    rules = list(all_variants(question.network))
    done = iter(range(len(rules)))
    return interval(question, placement, name, lambda rule: listener(f"routing {rule}", next(done) / len(rules)))


def _typical(where: Question, grids: Sequence[ProcessGrid] | None) -> ProcessGrid:
    """Return the grid for which choices of nodes are compared first: the only one, or the squarest."""
    return min(grids or all_grids(where.n_slots, PENCIL), key=lambda grid: max(grid.shape))


def _on_nodes_of_best(wanted: Wanted, where: Question, free: Sequence[Question], choices: list[Choice]) -> list[Choice]:
    """Return the first choices on the nodes that are best for the best grid so far, if it was not the typical one."""
    best = (_kindest(where, [*choices], ()) if where.neighbours else wanted.ranked(choices))[0]
    tried = {site_key(choice.where) for choice in choices}
    more = [site for other in free if other.n_slots == best.where.n_slots and best.grid != _typical(other, wanted.grids)
            for site in sites(with_tasks(other, best.where.tasks_per_node), best.grid) if site_key(site) not in tried]
    return [choice for site in more for choice in wanted.first(_on_shape(wanted.where, site))]


def _on_own_nodes(wanted: Wanted, where: Question, choices: list[Choice], within: Search) -> dict[str, Choice]:
    """Return the best choice of the best grid on the nodes that the scheduler takes by itself, searched if others are."""
    best, own = wanted.ranked(choices)[0], dict[str, Choice]()
    for name, site in own_choices(with_tasks(where, best.where.tasks_per_node)).items():
        key = *site_key(site), *best.kind[2:]
        same = [choice for choice in choices if choice.kind == key]
        if same and wanted.searches and key != best.kind:
            same.append(wanted.searched_again(wanted.ranked(same)[0], within))
        if same:
            own[name] = wanted.ranked(same)[0]
    return own


def _kindest(where: Question, ranking: list[Choice], own: Container[object]) -> list[Choice]:
    """Return the choices of nodes by their cost beside the neighbours.

    Of equally good ones the first is the one that busy neighbours slow least, then the scheduler's own.
    """
    def cost(choice: Choice, share: Fraction = where.neighbours) -> Any:
        return (share and beside(choice.where, choice.placed, share)) or choice.worth

    if where.neighbours:
        ranking.sort(key=cost)
    best = ranking[0]
    same = [choice for choice in ranking if choice.key[2:] == best.key[2:] and cost(choice) <= cost(best) * (1 + SAME)]
    first = min(same, key=lambda choice: (round(float(cost(choice, Fraction(1))), 6), choice.kind not in own))
    return [first, *(choice for choice in ranking if choice is not first)]


def _on_shape(question: Question, shape: Question) -> Question:
    """Return the rules of a question on another shape."""
    return replace(shape, routing=question.routing, exchange=question.exchange, schedule=question.schedule)


def _on(where: Question, torus: Torus) -> Question:
    """Return the same question on another torus."""
    site = Site(torus, where.tasks_per_node, idle=where.site.idle, launch=where.site.launch)
    return replace(where.alone, site=site)


def _of_shapes(wanted: Wanted, shapes: list[Question], top: int) -> tuple[list[Choice], tuple[Network, ...]]:
    """Return the first choices of all shapes that may be among the best, and the shapes that were left out."""
    choices, best, left_out, refusal, computing = [], list[float | Fraction](), [], None, 0.0
    shapes = sorted(shapes, key=lambda shape: _extents(shape.network))
    order = sorted(shapes, key=floor_of)
    same_tasks = len({shape.tasks_per_node for shape in shapes}) == 1
    report = now_and_then(say)
    for number, here in enumerate(order):
        report(f"shape {here.network}", number / len(order))
        limit = sorted(best)[top - 1] if len(best) >= top else None
        is_long = here.network.has_products and max(here.network.shape) > LONGEST_RING
        if is_long or (limit is not None and floor_of(here) + computing > limit):
            left_out.append(here.network)
            continue
        try:
            with part(number / len(order), (number + 1) / len(order)):
                first = wanted.first(here)
        except PencilmapError as error:
            refusal = error
            continue
        best.append(min(choice.worth for choice in first))
        if wanted.by == TRANSFORM and same_tasks:
            computing = min(_computing(choice.prediction) for choice in first)  # on any shape
        choices += first
    if not choices:
        raise refusal or PartitionError(f"every shape has a dimension of more than {LONGEST_RING} nodes; take more "
                                        "dimensions")
    return choices, tuple(left_out)


def _extents(network: Torus | Network) -> tuple[int, tuple[int, ...]]:
    return (max(network.shape), network.shape) if network.has_coordinates else (0, ())


def _computing(p: Any) -> Any:
    return p.local.time_s if p.total_s is not None else 0.0


def _first_of(given: Sequence[str] | None, usual: str) -> str:
    """Return the usual value if it is among the given ones, or if any value may be taken; else the first given one."""
    return usual if given is None or usual in given or given[0] == BEST else given[0]


MUCH = 1.05  # smaller gains are not worth another grid


def faster_choices(question: Question, prediction: Prediction) -> tuple[Choice | None, Choice | None]:
    """Return the best placement of the same pencils, and the best other grid, without a search; None if not much faster.

    Of equally good grids, one is taken that needs no placement file. Grids of other decompositions are not looked
    at, nor large networks without products, because every message would be routed.

    Parameters
    ----------
    question : Question
        Its schedule and its routing count.
    prediction : Prediction

    Examples
    --------
    >>> from pencilmap.mapper.ask import ask
    >>> from pencilmap.mapper.choose import predictions
    >>> question = ask(machine="bluegene-l", fft="512")
    >>> placement, grid = faster_choices(question, predictions(question, ProcessGrid(16, 32), ["default"])[0])
    >>> placement, str(grid.grid)
    (None, '1x512')
    """
    like = prediction.grid
    if like.decomposition.has_bricks:
        return None, None
    others = [grid for grid in all_grids(like.n_tasks, like.decomposition) if grid != like
              and (question.transform is None or question.transform.fills(grid))]
    placement = faster_choice(question, prediction)
    return placement, faster_choice(question, placement.prediction if placement else prediction, others)


def faster_choice(question: Question, prediction: Prediction, grids: Sequence[ProcessGrid] | None = None,
                  any_schedule: bool = False, least: float = MUCH) -> Choice | None:
    """Return the best choice of some grids without a search; None if none is possible, or if it is not much faster.

    Parameters
    ----------
    question : Question
        Its schedule and its routing count.
    prediction : Prediction
        What the choice is compared with. Its exchange counts.
    grids : sequence of ProcessGrid, optional
        By default the same grid.
    any_schedule : bool
        Take the best schedule that keeps the boxes, and only if it is not the sequence.
    least : float
        How many times faster the choice should be.

    Examples
    --------
    >>> from pencilmap.mapper.ask import ask
    >>> from pencilmap.mapper.choose import predictions
    >>> question = ask(network="8x8:mesh", bandwidth="1 Gbit/s", fft="64")
    >>> found = predictions(question, ProcessGrid(8, 8), ["default"])[0]
    >>> faster_choice(question, found, any_schedule=True).schedule.partition(":")[0]
    'overlap'
    """
    grids, schedule = [prediction.grid] if grids is None else grids, ANY_SCHEDULE if any_schedule else question.schedule
    if not grids or (prediction.grid.n_tasks > LARGE and not question.network.has_products):
        return None
    try:
        best = plan(replace(question.alone, schedule=schedule), grids=grids, placements=(BEST,),
                    exchanges=(prediction.stages[0].algorithm,), schedules=(schedule,), effort="quick").best
    except PencilmapError:
        return None
    mine = worth(best.prediction)
    is_faster = (float(worth(prediction) / mine) if mine else 0.0) >= least
    return best if is_faster and not (any_schedule and best.schedule == SEQUENCE) else None
