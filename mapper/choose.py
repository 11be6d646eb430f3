"""The ranking of all ways to run a transform: shapes, decompositions, grids, placements, exchanges, schedules.

Idea: first predict every grid in closed form, in sequence, under its best product and in the launch order. Then predict the
fastest grids with other schedules and exchanges. Then search other placements for the fastest grids, in rounds: each round
searches fewer grids longer, so that most evaluations go to the best grid. All candidates are ranked by one objective.
Cost: milliseconds for each grid, then a budget of evaluations; the budget alone ends a search, so an answer will be the same
on any machine. A time limit only cuts the search short.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from pencilmap.mapper.base.limit import EFFORTS, UNLIMITED, Limit
from pencilmap.mapper.base.progress import now_and_then, part, parts, say
from pencilmap.mapper.place import best_placement, or_launch, place, share
from pencilmap.mapper.placements import BEST, check_names
from pencilmap.mapper.placements.best import is_searched
from pencilmap.mapper.seeds.products import as_slab, best_product
from pencilmap.model.algorithms import ALGORITHMS, DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.base.errors import GridError, PartitionError, PencilmapError, PlacementError, ScheduleError
from pencilmap.model.decompositions import Decomposition
from pencilmap.model.kinds import all_variants, routing as routing_rule
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.mapping import Mapping, Placement
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import Prediction, answer, interval
from pencilmap.model.predict.certificates import machine_bound
from pencilmap.model.predict.question import Case, Question, closed_form, worst
from pencilmap.model.predict.ranking import (
    BY,
    TRANSFORM,
    is_tie,
    largest_term,
    order,
    quick,
    ranked_by,
    unknown_costs,
    worth,
)
from pencilmap.model.schedules.schedule import FORWARD, SEQUENCE
from pencilmap.model.times.timing import TIE, local_terms, local_work
from pencilmap.model.traffic.loads import in_sequence, m_time

ALL_ROUTINGS = "all"
DEFAULT = "default"
SO_FAR = "best so far"  # name of a placement that a longer search of its grid may improve
LARGE = 4096         # slots: above this number only products are predicted, and only one of RxC and CxR of a cube
MOST_IN_ROUNDS = 2048  # slots: above this number only effort long routes the rounds of exchanges that are not named
LONGEST_RING = 256   # nodes: longer rings have too many digit patterns, so such shapes are left out
LEADERS = {"quick": 2, "normal": 16, "long": 64}  # grids with other schedules
TOP = {"quick": 3, "normal": 10, "long": 30}  # shapes
BEFORE_SEARCH = 0.4  # share of the progress of a plan with searches
MOST_LAUNCHED, MOST_TIED = 1024, 4  # tasks, and equally good grids, up to which launch orders are predicted: 0.1 s each
EXCHANGED = 2        # grids with other exchanges
DIRECT = ("p2p", "node")  # exchanges that send every byte once, in rounds or not
CHUNKED = ("overlap:8", "overlap:4", "overlap:2")  # schedules to predict if not all can be predicted
ROUNDS = ((4, 96), (2, 36), (1, 9))  # grids, and the divisor of the usual evaluations for each of them: about 3 s
ROUNDS_WITH_HOLES = ((8, 128), (2, 36), (1, 8))  # the same if no product fills the usable nodes
ROUNDS_ON_SWITCHES = ((2, 36), (1, 12))      # the same for networks without products, whose first answers are close
MANY_NODES = 512  # from which each routing rule of several is reported
SURE = 1 - 1e-9                              # factor of a time below which another is surely less


@dataclass(frozen=True)
class Choice:
    """A way to run a transform, with its prediction.

    Parameters
    ----------
    where : Question
        The question of the plan, with the shape and the decomposition of this choice.
    placed : Placement
    prediction : Prediction
        Its `placement` is the name as given, ``best`` or ``default``.
    by : {"transform", "exchanges"}
        Objective of the plan.
    is_brief : bool
        Whether the plan searched placements of this grid briefly or not at all; False for the first choice.
    """

    where: Question
    placed: Placement
    prediction: Prediction
    by: str = TRANSFORM
    is_brief: bool = False

    @property
    def network(self) -> Network:
        return self.where.network

    @property
    def decomposition(self) -> Decomposition:
        return self.prediction.grid.decomposition

    @property
    def grid(self) -> ProcessGrid:
        return self.prediction.grid

    @property
    def placement(self) -> str:
        """Text of the placement. A product or a search is spelled out, so that the text makes it again."""
        if self.prediction.placement != BEST:
            return self.prediction.placement
        is_text = self.placed.is_product or self.placed.name.startswith(("search:", "lattice:", DEFAULT))
        return self.placed.name if is_text else BEST

    @property
    def name(self) -> str:
        """Name of the placement: `SO_FAR` in place of ``best`` if a longer search of the grid may find a better one."""
        is_best = (self.certificate or TIE) < TIE or self.prediction.all_alike
        return SO_FAR if self.is_brief and not is_best else self.prediction.placement

    @property
    def exchange(self) -> str:
        return self.prediction.stages[0].algorithm

    @property
    def schedule(self) -> str:
        """Name of the schedule, with all choices made."""
        return self.prediction.schedule_name

    @property
    def worth(self) -> float | Fraction:
        """Seconds that rank the choice, or lengths if there are no times."""
        return worth(self.prediction, self.by)

    @property
    def seconds(self) -> float | None:
        """Seconds that rank the choice, None if there are no times."""
        return self.worth if isinstance(self.worth, float) and self.prediction.t_s is not None else None

    @property
    def certificate(self) -> float | None:
        """Cost over the proved limit of all placements of this grid; None if no limit is known. The proof takes a while."""
        found = self.prediction if self.prediction.schedule is None else self.prediction.schedule
        return found.certificate

    def mapping(self) -> Mapping:
        """Return node and slot of every rank."""
        return self.placed.mapping(self.placement)

    @property
    def key(self) -> tuple[object, ...]:
        """Two choices with the same key are the same choice."""
        return *self.kind, self.prediction.placement, self.exchange, self.schedule

    @property
    def kind(self) -> tuple[object, ...]:
        """Shape, tasks per node and grid."""
        return self.network, self.where.tasks_per_node, self.decomposition.name, self.grid.shape


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
    """

    where: Question
    choices: tuple[Choice, ...]
    by: str = TRANSFORM
    effort: str = "normal"
    cut_short: bool = False
    left_out: tuple[Torus, ...] = ()

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
        likely = self.best.prediction.likely
        error = 1.1 if likely is None else max(likely[1] / likely[0], 1.0)
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
         seconds: float | None = None, top: int | None = None, limit: Limit | None = None) -> Plan:
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
    limit : Limit, optional
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
    wanted = _Wanted(first, by=by, effort=effort, decompositions=decompositions, grids=grids,
                     placements=placements, exchanges=exchanges, schedules=schedules)
    limit = limit or Limit(seed, seconds)
    with part(0, BEFORE_SEARCH if wanted.searches else 1):
        found, left_out = _of_shapes(wanted, [_on_shape(first, shape) for shape in others], top or TOP[effort]) \
            if others else (wanted.first(first), ())
    leaders = wanted.leaders(found)
    best = wanted.ranked(found)[0]
    found = [*found, *(c for leader in leaders for c in wanted.scheduled(leader)),
             *(c for leader in leaders[:EXCHANGED] for c in wanted.exchanged(leader, best.worth))]
    if wanted.searches:
        with part(BEFORE_SEARCH, 1):
            found = wanted.searched(found, limit)
    return Plan(where, tuple(wanted.or_launched(found, top or TOP[effort])), by, effort, limit.cut_short, left_out)


def best_grid(question: Question) -> ProcessGrid:
    """Return the grid of the first choice of `plan`, under the schedule of the question."""
    return plan(replace(question, shapes=()), schedules=(question.schedule,)).best.grid


def predictions(question: Question, grid: ProcessGrid | None = None, placements: Sequence[str] = (BEST,),
                effort: str = "normal", limit: Limit = UNLIMITED, exchange: str | None = None) -> list[Prediction]:
    """Return the predictions of all placements.

    Without a grid return those of all grids on which a placement exists, ranked by `plan`. With routing `ALL_ROUTINGS`
    there will be several for each placement, as `pencilmap.model.predict.interval` gives them.

    Parameters
    ----------
    question : Question
    grid : ProcessGrid, optional
    placements : sequence of str
    effort, limit
        Of the search for placement ``best`` on a grid.
    exchange : str, optional
        Without a grid the only exchange to try; by default all.

    Raises
    ------
    GridError, PlacementError, ScheduleError
        If a placement or its schedule is not possible; without a grid if it is not possible on any grid.
    """
    is_all = question.routing == ALL_ROUTINGS
    check_names(placements)
    if question.routing is not None and not is_all:
        routing_rule(question.routing, question.network)  # before a search, which may be long
    if isinstance(question.exchange, str):
        algorithm_named(question.exchange)
    if grid is None:
        if is_all:
            raise GridError(f"`routing` all compares the rules for one grid; name it with `grid` "
                            f"{question.decomposition.usage}")
        return plan(replace(question, shapes=()), placements=placements, exchanges=exchange and (exchange,),
                    schedules=(question.schedule,)).predictions
    found = list[Prediction]()
    searched = replace(question, routing=None) if is_all else question
    for text, step in zip(placements, parts(len(placements))):
        with step:
            placed = best_placement(searched, grid, share(effort), limit)[0] if text == BEST \
                else place(searched, text, grid)
            if is_all:
                found += under_every_rule(question, placed, text)
            else:
                p = answer(question, placed, text)
                found.append(p if EFFORTS[effort] else quick(p))
    return found


def under_every_rule(question: Question, placed: Placement, name: str | None = None) -> list[Prediction]:
    """Return the predictions under all routing rules; say which rule is at work."""
    heard = say if question.network.n_nodes >= MANY_NODES else now_and_then(say)
    rules = list(all_variants(question.network))
    done = iter(range(len(rules)))
    return interval(question, placed, name, lambda rule: heard(f"routing {rule}", next(done) / len(rules)))


def _on_shape(question, shape):
    """Return the rules of a question on another shape."""
    return replace(shape, routing=question.routing, exchange=question.exchange, schedule=question.schedule)


def _on(where, torus):
    """Return the same question on another torus."""
    site = Site(torus, where.tasks_per_node, idle=where.site.idle, launch=where.site.launch)
    return replace(where, site=site, shapes=())


def _of_shapes(wanted, shapes, top):
    """Return the first choices of all shapes that may be among the best, and the shapes that were left out."""
    found, best, left_out, refusal, computing = [], list[float | Fraction](), [], None, 0.0
    shapes = sorted(shapes, key=lambda here: _extents(here.network))
    order = sorted(shapes, key=_floor)
    same_tasks = len({here.tasks_per_node for here in shapes}) == 1
    report = now_and_then(say)
    for number, here in enumerate(order):
        report(f"shape {here.network}", number / len(order))
        limit = sorted(best)[top - 1] if len(best) >= top else None
        is_long = here.network.has_products and max(here.network.shape) > LONGEST_RING
        if is_long or (limit is not None and _floor(here) + computing > limit):
            left_out.append(here.network)
            continue
        try:
            with part(number / len(order), (number + 1) / len(order)):
                some = wanted.first(here)
        except PencilmapError as error:
            refusal = error
            continue
        best.append(min(choice.worth for choice in some))
        if wanted.by == TRANSFORM and same_tasks:
            computing = min(_computing(choice.prediction) for choice in some)  # on any shape
        found += some
    if not found:
        raise refusal or PartitionError(f"every shape has a dimension of more than {LONGEST_RING} nodes; take more "
                                        "dimensions")
    return found, tuple(left_out)


def _extents(network):
    return (max(network.shape), network.shape) if network.has_coordinates else (0, ())


def _computing(p):
    return p.local.time_s if p.total_s is not None else 0.0


def _floor(here):
    """Return a bound of the exchanges of any placement on a torus: seconds, or lengths without times."""
    bound = machine_bound(here.network)
    seconds = None if here.transform is None else m_time(bound, here.network, here.transform.total_bytes)
    return worst(bound, here.network) if seconds is None else seconds


@dataclass(frozen=True)
class _Wanted:
    """What a plan may choose from, and the steps of its answer; `where` is the first question about every grid."""

    where: Question
    by: str = TRANSFORM
    effort: str = "normal"
    decompositions: Sequence[Decomposition] | None = None
    grids: Sequence[ProcessGrid] | None = None
    placements: Sequence[str] | None = None
    exchanges: Sequence[str] | None = None
    schedules: Sequence[str] = (SEQUENCE,)

    def ranked(self, found: Iterable[Choice]) -> list[Choice]:
        return ranked_by(lambda choice: choice.prediction, found, self.by)

    def distinct(self, found: Iterable[Choice]) -> list[Choice]:
        """Return the first choice, then the other choices by their times, each once."""
        kept: dict[tuple[object, ...], Choice] = {}
        for choice in sorted(found, key=lambda choice: order(choice.prediction, self.by)):
            same = kept.setdefault(choice.key, choice)
            kept[choice.key] = replace(same, is_brief=same.is_brief and choice.is_brief)
        first = replace(self.ranked(kept.values())[0], is_brief=False)
        return [first, *(choice for key, choice in kept.items() if key != first.key)]

    def or_launched(self, found: Iterable[Choice], most: int) -> list[Choice]:
        """Return `distinct` choices; of the first ones, the best placement is the launch order if that is faster."""
        ranking, seen = self.distinct(found), set[tuple[object, ...]]()
        most = 1 if self.where.n_slots > LARGE else most
        while some := [choice for choice in ranking[:most]
                       if choice.prediction.placement == BEST and choice.key not in seen]:
            seen |= {choice.key for choice in some}
            launched = []
            for choice in some:
                schedule = BEST if BEST in self.schedules else choice.schedule
                question = replace(choice.where, schedule=schedule, exchange=choice.exchange)
                placed, prediction = or_launch(question, choice.placed, choice.prediction)
                launched.append(replace(choice, placed=placed, prediction=prediction))
            ranking = self.distinct([*ranking, *launched])
        return self._without_file(ranking)

    def _without_file(self, ranking):
        """Return the choices; of equally good ones the first is one whose grid needs no placement file, if there is one."""
        best = ranking[0]
        if self.placements is not None and BEST not in self.placements:
            return ranking
        known = {choice.kind: choice.prediction for choice in ranking if choice.prediction.placement == DEFAULT}
        same = [choice for choice in ranking if is_tie(choice.prediction, best.prediction, self.by)]
        first = next((choice for number, choice in enumerate(same) if choice.prediction.all_alike
                      or (number < MOST_TIED and self._needs_none(choice, best, known))), best)
        return [replace(first, is_brief=False), *(choice for choice in ranking if choice is not first)]

    def _needs_none(self, choice, best, known):
        """Return whether each possible launch order of a grid is as good as the best choice; `known` has predictions."""
        orders = choice.where.site.launch.orders
        for text in orders:
            name = DEFAULT if text == orders[0] else f"{DEFAULT}:{text}"
            found = known.get(choice.kind) if name == DEFAULT else None
            if found is None:
                placed = place(self._first(choice), name, choice.grid)
                if choice.grid.n_tasks > MOST_LAUNCHED and not product_of(placed):
                    return False
                found = self.choice(self._first(choice), placed, name).prediction
            if not is_tie(found, best.prediction, self.by):
                return False
        return bool(orders)

    def _first(self, choice):
        """Return the first question about the grid of a choice."""
        return replace(choice.where, exchange=self.where.exchange, schedule=self.where.schedule)

    def choice(self, here: Question, placed: Placement, name: str) -> Choice:
        return self._of(here, placed, answer(here, placed, name))

    def _of(self, here, placed, prediction):
        return Choice(here, placed, prediction if EFFORTS[self.effort] else quick(prediction), self.by)

    # every grid

    def first(self, where: Question) -> list[Choice]:
        """Return the first choices of all grids, without a search. Raises the last refusal if there are none."""
        refusals = list[PencilmapError]()
        texts = self._placements(where)
        lazy = self.placements is None and DEFAULT in texts and not where.network.has_products
        texts = texts[:1] if lazy else texts
        narrow = where.robust and self.effort == "quick" and where.routing is None
        usual, found = replace(where, robust=where.robust and not narrow), list[Choice]()
        for grids in self._parts(where):
            found = found or list(self._of_grids(usual, grids, texts, refusals))
        if narrow:
            found = self._of_all_rules(found, refusals)
        if lazy:
            found += self._launched(found, refusals)
        found = _none_after_launch_order(found)
        if not found:
            raise refusals[0] if refusals else GridError(f"no grid has {where.n_slots} tasks")
        return found

    def _of_grids(self, where, grids, texts, refusals):
        report = now_and_then(say)
        for number, grid in enumerate(grids):
            here = replace(where, decomposition=grid.decomposition)
            for text in texts:
                report(f"grid {grid}, placement {text}", number / len(grids))
                try:
                    if text == BEST:
                        yield self._quick(here, grid)
                        continue
                    placed = place(here, text, grid)
                    if self.placements is not None or self.effort != "quick" or not self._slow(here, placed):
                        yield self.choice(here, placed, text)
                except (PlacementError, GridError, ScheduleError) as error:
                    refusals.append(error)  # this placement or schedule does not exist here

    def _of_all_rules(self, found, refusals):
        """Return the choices under the worst rule that may be the fastest: none is faster than under the default rule."""
        some = list[Choice]()
        for choice in self.ranked(found):
            if not some or choice.worth < min(each.worth for each in some):
                here = replace(choice.where, robust=True)
                some += self._of_grids(here, [choice.grid], [choice.prediction.placement], refusals)
        return some

    def _launched(self, found, refusals):
        """Return the launch orders that may be the fastest: here none is faster than the best placement of its grid."""
        some = list[Choice]()
        for choice in self.ranked(found):
            if not some or choice.worth < min(each.worth for each in some):
                some += self._of_grids(choice.where, [choice.grid], [DEFAULT], refusals)
        return some

    def _grids(self, where):
        if self.grids is not None:
            for grid in self.grids:
                where.site.check_grid(grid)
            return list(self.grids)
        kinds = self.decompositions or where.decompositions or (where.decomposition,)
        found = [grid for kind in kinds for grid in all_grids(where.n_slots, kind)]
        transform = where.transform
        if where.n_slots > LARGE and transform is not None and not any(kind.has_bricks for kind in kinds):
            found = [grid for grid in found if transform.fills(grid)] or found
            if len({transform.nx, transform.ny, transform.nz}) == 1:
                found = [grid for grid in found if grid.shape[0] <= grid.shape[-1]]
        return found

    def _parts(self, where):
        """Return the grids; apart from them those that a quick answer needs only if no other is possible."""
        found, transform = self._grids(where), where.transform
        if self.effort == "quick" and self.grids is None and self.placements is None and transform is not None \
                and self._puts_idle_last(where, found):
            busy = [grid for grid in found if not transform.idle_tasks(grid)]
            return [busy, [grid for grid in found if grid not in busy]]
        return [found]

    def _puts_idle_last(self, where, grids):
        """Return whether grids with idle tasks come after all others."""
        return self.by != TRANSFORM or not grids or local_terms(
            local_work(where.transform, grids[0], where.tasks_per_node), where.costs).time_s is None

    def _placements(self, here):
        if self.placements is not None:
            return self.placements
        brief = here.n_slots > LARGE or (self.effort == "quick" and self.where.shapes)
        return (BEST,) if brief else (BEST, DEFAULT)

    def _slow(self, here, placed):
        """Return whether the launch order needs every message routed where products need not."""
        case = Case(placed, here, product_of(placed))
        return placed.network.has_products and placed.fills_network and closed_form(case) is None

    def _quick(self, here, grid):
        """Return the best placement without a search. On large machines it is the best product for even blocks."""
        is_whole = here.network.has_products and here.site.allocation.is_complete
        if here.n_slots > LARGE and is_whole and here.halo is None:
            placed = best_product(as_torus(here.network), grid, here.tasks_per_node,
                                  in_sequence(len(grid.decomposition.exchanges)))
            return self.choice(here, placed, BEST)
        return self._of(here, *best_placement(here, grid, 0, alone=True))

    # the fastest grids with other schedules and exchanges

    def leaders(self, found: Iterable[Choice]) -> list[Choice]:
        """Return the first choice of each grid within twice the least time; on large machines only one.

        Two exchanges at once take at least half of the time in sequence, so no other grid can come first by its schedule.
        Effort quick takes one of RxC and CxR.
        """
        first: dict[tuple[object, ...], Choice] = {}
        for choice in self.ranked(found):
            first.setdefault(choice.kind if EFFORTS[self.effort] else _problem(choice), choice)
        some = list(first.values())
        if self.where.n_slots > LARGE:
            return some[:1]
        return [choice for choice in some[:LEADERS[self.effort]] if choice.worth <= 2 * some[0].worth]

    def scheduled(self, leader: Choice) -> Iterator[Choice]:
        """Yield a grid under the other schedules, in the placement of the leader and in the best one for them."""
        name, here = leader.prediction.placement, leader.where
        texts: list[tuple[str, ...]] = [(BEST, *CHUNKED)] if BEST in self.schedules else []
        texts += [(text,) for text in self.schedules if text not in (BEST, self.where.schedule)]
        for some in texts:
            placed = [leader.placed]
            if here.n_slots <= LARGE and name == BEST:
                placed.append(best_placement(replace(here, schedule=some[0]), leader.grid, 0, alone=True)[0])
            for each in placed:
                for text in some:
                    try:
                        yield self.choice(replace(here, schedule=text), each, name)
                        break
                    except ScheduleError:  # unequal lanes with too many messages to route
                        continue

    def exchanged(self, leader: Choice, best: float | Fraction) -> Iterator[Choice]:
        """Yield a grid with every other exchange that may be faster than the best choice."""
        most = LARGE if self.exchanges is not None or self.effort == "long" else MOST_IN_ROUNDS
        if self.where.n_slots > most or (self.exchanges is None and (self.effort == "quick" or not _times(leader))):
            return
        for name in ALGORITHMS if self.exchanges is None else self.exchanges:
            if name == self.where.exchange:
                continue
            if self.exchanges is None and (ALGORITHMS[name].is_alltoall or not self._may_win(leader, name, best)):
                continue
            try:
                found = self.choice(replace(leader.where, exchange=name), leader.placed, leader.prediction.placement)
            except ScheduleError:  # the exchange runs alone, and a schedule was asked for
                continue
            if self.exchanges is not None or found.worth < leader.worth:  # else nobody takes the exchange
                yield found

    def _may_win(self, leader, exchange, best):
        known, local = leader.prediction.total_s is not None, leader.prediction.local
        local_s = local.time_s if known and self.by != TRANSFORM else 0.0
        return least_s(leader.prediction, exchange) - local_s < best * (1 - 1e-9)

    # search

    @property
    def searches(self) -> bool:
        """Whether placements are searched."""
        return EFFORTS[self.effort] > 0 and (self.placements is None or BEST in self.placements)

    def searched(self, found: list[Choice], limit: Limit) -> list[Choice]:
        """Return the choices with placements that were searched for the fastest grids."""
        network, is_one = self.where.network, len({choice.kind for choice in found}) == 1
        has_holes = network.has_products and not self.where.site.allocation.is_complete
        rounds: Sequence[tuple[int, Fraction | int]] = (
            ((1, share("normal")),) if is_one else
            ROUNDS_ON_SWITCHES if not network.has_products else
            ROUNDS_WITH_HOLES if has_holes else ROUNDS)
        found = [replace(choice, is_brief=choice.prediction.placement == BEST and _is_searched(choice)) for choice in found]
        done, work = 0.0, sum(count / divisor for count, divisor in rounds)
        for number, (count, divisor) in enumerate(rounds, start=1):
            for leader in self._to_search(found)[:count]:
                if not limit.is_over():
                    divided, last = Fraction(divisor, EFFORTS[self.effort]), number == len(rounds)
                    with part(done / work, (done + 1 / divisor) / work):
                        some = [self._searched(each, divided, limit, has_holes or not last)
                                for each in (leader, *_twins(found, leader))]
                    done += 1 / divisor
                    found += [replace(choice, is_brief=not last) for choice in some]
        return found

    def _searched(self, leader, divided, limit, brief):
        """Return the choice that a search finds for a grid."""
        schedule = self._schedule(leader)
        question = replace(leader.where, schedule=schedule, exchange=leader.exchange)
        return self._of(leader.where, *best_placement(question, leader.grid, divided, limit, brief=brief))

    def _schedule(self, leader):
        """Return the schedule of a leader, or `BEST` if all may be taken: its objectives have few terms."""
        return BEST if BEST in self.schedules and leader.schedule != SEQUENCE else leader.schedule

    def _to_search(self, found):
        """Return the best choice of each grid that a search may make faster than the first choice, the fastest first."""
        first: dict[tuple[object, ...], Choice] = {}
        order = self.ranked(found)
        for choice in order:
            if _is_searched(choice) and BEST in self._placements(choice.where):
                first.setdefault(_problem(choice), choice)
        alone = len({choice.kind for choice in order}) == 1
        return [choice for choice in first.values() if alone or _least(choice) < order[0].worth * SURE]


def _none_after_launch_order(found):
    """Return the choices; the best placement of a grid is the launch order if that is faster."""
    launch = {choice.kind: choice for choice in found if choice.prediction.placement == DEFAULT}
    return [replace(other, prediction=replace(other.prediction, placement=BEST))
            if choice.prediction.placement == BEST and (other := launch.get(choice.kind)) and other.worth < choice.worth
            else choice for choice in found]


def _first_of(given, usual):
    """Return the usual value if it is among the given ones, or if any value may be taken; else the first given one."""
    return usual if given is None or usual in given or given[0] == BEST else given[0]


def _is_searched(choice):
    return is_searched(choice.where.site, choice.grid, choice.where.transform) or choice.where.halo is not None


def _twins(found, leader):
    """Return the first choices of the other grids of one group with the same messages: they share the search."""
    twins = {choice.kind: choice for choice in reversed(found) if choice.prediction.placement == BEST
             and choice.kind != leader.kind and leader.grid.n_tasks in leader.grid.shape
             and choice.schedule == leader.schedule and _problem(choice) == _problem(leader)}
    return twins.values()


def _problem(choice):
    """Return a key that grids share if they are one problem for a search: RxC and CxR of even blocks, slabs P and 1xP.

    Halos of RxC and CxR differ.
    """
    transform, grid = choice.where.transform, choice.grid
    here = choice.network, choice.where.tasks_per_node
    if choice.where.halo is not None:
        return *here, choice.decomposition.name, grid.shape
    is_even = transform is None or transform.divides_evenly(grid)
    slab = as_slab(grid, in_sequence(len(grid.decomposition.exchanges)), None if is_even else transform)
    grid = slab[0] if slab else grid
    return *here, grid.decomposition.name, tuple(sorted(grid.shape)) if is_even else grid.shape


def _least(choice):
    """Return a lower limit of the worth of a choice with any other placement: its links carry the least that is possible."""
    if not choice.where.site.allocation.is_complete:
        return 0  # fewer nodes may use fewer links
    found = choice.prediction if choice.prediction.schedule is None else choice.prediction.schedule
    floor, halo = _floor(choice.where), choice.prediction.halo_s
    return floor if found.t_s is None else choice.worth - found.t_s - halo + floor


def _times(choice):
    return choice.prediction.time_s is not None


def least_s(leader: Prediction, exchange: str) -> float:
    """Return a lower limit in seconds for an exchange, from the prediction with all messages at once. No link is routed.

    Direct messages load every link as much in all rounds together, and the sum of the longest loads of the rounds is no
    less. `p2p` has the same messages. `node` has fewer, but on nodes of one task `node` sends all messages at once.
    """
    if exchange not in DIRECT or leader.known_s is None or leader.time_s is None:
        return 0.0
    if exchange == "node" and leader.tasks_per_node == 1:
        return leader.known_s
    saved = 0.0
    for stage in leader.stages:
        terms = stage.terms
        if terms is None:
            return 0.0
        calm = replace(terms, contention_s=None, messages_s=terms.messages_s if exchange == "p2p" else None)
        saved += terms.time_s - calm.time_s
    return leader.known_s - saved
