"""The choices of a plan: its steps from the first answers of all grids to searched placements of the fastest."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pencilmap.mapper.base.progress import now_and_then, part, say
from pencilmap.mapper.base.search import EFFORTS, ONE_GRID, ROUNDS_OF_GRIDS, ROUNDS_ON_SWITCHES, ROUNDS_WITH_HOLES, Search
from pencilmap.mapper.place import best_placement, or_launch, place
from pencilmap.mapper.placements import BEST
from pencilmap.mapper.placements.best import is_searched
from pencilmap.mapper.seeds.products import as_slab, best_product
from pencilmap.model.algorithms import ALGORITHMS
from pencilmap.model.base.errors import GridError, PencilmapError, PlacementError, ScheduleError
from pencilmap.model.decompositions import Decomposition
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import Prediction, answer
from pencilmap.model.predict.certificates import machine_bound
from pencilmap.model.predict.question import Case, Question, closed_form, worst
from pencilmap.model.predict.ranking import TRANSFORM, is_tie, order, quick, ranked_by, worth
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.times.timing import TIE, local_terms, local_work
from pencilmap.model.traffic.loads import in_sequence, m_time

DEFAULT = "default"
SO_FAR = "best so far"  # name of a placement that a longer search of its grid may improve
LARGE = 4096         # slots: above this number only products are predicted, and only one of RxC and CxR of a cube
MOST_IN_ROUNDS = 2048  # slots: above this number only effort long routes the rounds of exchanges that are not named
LEADERS = {"quick": 2, "normal": 16, "long": 64}  # grids with other schedules
MOST_LAUNCHED, MOST_TIED = 1024, 4  # tasks, and equally good grids, up to which launch orders are predicted: 0.1 s each
DIRECT = ("p2p", "node")  # exchanges that send every byte once, in rounds or not
CHUNKED = ("overlap:8", "overlap:4", "overlap:2")  # schedules to predict if not all can be predicted
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
        result = self.prediction if self.prediction.schedule is None else self.prediction.schedule
        return result.certificate

    def mapping(self) -> Mapping:
        """Return node and slot of every rank."""
        return self.placed.mapping(self.placement)

    @property
    def key(self) -> tuple[object, ...]:
        """Two choices with the same key are the same choice."""
        return *self.kind, self.prediction.placement, self.exchange, self.schedule

    @property
    def kind(self) -> tuple[object, ...]:
        """Shape or nodes, tasks per node and grid."""
        return *site_key(self.where), self.where.tasks_per_node, self.decomposition.name, self.grid.shape


@dataclass(frozen=True)
class Wanted:
    """What a plan may choose from, and the steps of its answer; `where` is the first question about every grid."""

    where: Question
    by: str = TRANSFORM
    effort: str = "normal"
    decompositions: Sequence[Decomposition] | None = None
    grids: Sequence[ProcessGrid] | None = None
    placements: Sequence[str] | None = None
    exchanges: Sequence[str] | None = None
    schedules: Sequence[str] = (SEQUENCE,)

    def ranked(self, choices: Iterable[Choice]) -> list[Choice]:
        return ranked_by(lambda choice: choice.prediction, choices, self.by)

    def distinct(self, choices: Iterable[Choice]) -> list[Choice]:
        """Return the first choice, then the other choices by their times, each once."""
        kept: dict[tuple[object, ...], Choice] = {}
        for choice in sorted(choices, key=lambda choice: order(choice.prediction, self.by)):
            same = kept.setdefault(choice.key, choice)
            kept[choice.key] = replace(same, is_brief=same.is_brief and choice.is_brief)
        first = replace(self.ranked(kept.values())[0], is_brief=False)
        return [first, *(choice for key, choice in kept.items() if key != first.key)]

    def or_launched(self, choices: Iterable[Choice], most: int) -> list[Choice]:
        """Return `distinct` choices; of the first ones, the best placement is the launch order if that is faster."""
        ranking, seen = self.distinct(choices), set[tuple[object, ...]]()
        most = 1 if self.where.n_slots > LARGE else most
        while first := [choice for choice in ranking[:most]
                        if choice.prediction.placement == BEST and choice.key not in seen]:
            seen |= {choice.key for choice in first}
            launched = []
            for choice in first:
                schedule = BEST if BEST in self.schedules else choice.schedule
                question = replace(choice.where, schedule=schedule, exchange=choice.exchange)
                placement, prediction = or_launch(question, choice.placed, choice.prediction)
                launched.append(replace(choice, placed=placement, prediction=prediction))
            ranking = self.distinct([*ranking, *launched])
        return ranking

    def without_file(self, ranking: list[Choice]) -> list[Choice]:
        """Return the choices; of equally good ones the first is one whose grid needs no placement file, if there is one."""
        best = ranking[0]
        if self.placements is not None and BEST not in self.placements:
            return ranking
        known = {choice.kind: choice.prediction for choice in ranking if choice.prediction.placement == DEFAULT}
        same = [choice for choice in ranking if is_tie(choice.prediction, best.prediction, self.by)]
        first = next((choice for number, choice in enumerate(same) if choice.prediction.all_alike
                      or (number < MOST_TIED and self._needs_none(choice, best, known))), best)
        return [replace(first, is_brief=False), *(choice for choice in ranking if choice is not first)]

    def _needs_none(self, choice: Any, best: Choice, known: dict[Any, Any]) -> bool:
        """Return whether each possible launch order of a grid is as good as the best choice; `known` has predictions."""
        orders = choice.where.site.launch.orders
        for text in orders:
            name = DEFAULT if text == orders[0] else f"{DEFAULT}:{text}"
            known_ = known.get(choice.kind) if name == DEFAULT else None
            if known_ is None:
                placement = place(self._first(choice), name, choice.grid)
                if choice.grid.n_tasks > MOST_LAUNCHED and not product_of(placement):
                    return False
                known_ = answer(self._first(choice), placement, name)
            if not is_tie(known_, best.prediction, self.by):
                return False
        return bool(orders)

    def _first(self, choice: Choice) -> Question:
        """Return the first question about the grid of a choice."""
        return replace(choice.where, exchange=self.where.exchange, schedule=self.where.schedule)

    def choice(self, question: Question, placement: Placement, name: str) -> Choice:
        return self._of(question, placement, answer(question, placement, name))

    def _of(self, question: Question, placement: Any, prediction: Prediction) -> Choice:
        return Choice(question, placement, prediction if EFFORTS[self.effort] else quick(prediction), self.by)

    # every grid

    def first(self, where: Question) -> list[Choice]:
        """Return the first choices of all grids, without a search. Raises the last refusal if there are none."""
        refusals = list[PencilmapError]()
        texts = self._placements(where)
        lazy = self.placements is None and DEFAULT in texts and not where.network.has_products
        texts = texts[:1] if lazy else texts
        narrow = where.robust and self.effort == "quick" and where.routing is None
        usual, choices = replace(where, robust=where.robust and not narrow), list[Choice]()
        for grids in self._parts(where):
            choices = choices or list(self._of_grids(usual, grids, texts, refusals))
        if narrow:
            choices = self._perhaps_first(
                choices, lambda choice: (replace(choice.where, robust=True), choice.prediction.placement), refusals)
        if lazy:
            choices += self._perhaps_first(choices, lambda choice: (choice.where, DEFAULT), refusals)
        choices = _none_after_launch_order(choices)
        if not choices:
            raise refusals[0] if refusals else GridError(f"no grid has {where.n_slots} tasks")
        return choices

    def _of_grids(self, where: Question, grids: Sequence[ProcessGrid], texts: Iterable[str],
                  refusals: list[Any]) -> Iterator[Choice]:
        report = now_and_then(say)
        for number, grid in enumerate(grids):
            question = replace(where, decomposition=grid.decomposition)
            for text in texts:
                report(f"grid {grid}, placement {text}", number / len(grids))
                try:
                    if text == BEST:
                        yield (self._best_product(question, grid) if self._takes_product(question) else
                               self._of(question, *best_placement(question, grid, Search(0), alone=True)))
                        continue
                    placement = place(question, text, grid)
                    if self.placements is not None or self.effort != "quick" or not self._slow(question, placement):
                        yield self.choice(question, placement, text)
                except (PlacementError, GridError, ScheduleError) as error:
                    refusals.append(error)  # this placement or schedule does not exist here

    def _perhaps_first(self, choices: Iterable[Choice], question_of: Callable[[Choice], tuple[Question, str]],
                       refusals: list[Any]) -> list[Choice]:
        """Return the choices of other questions and placements of the grids that may be the fastest.

        No such choice is faster than that of its grid in `found`.
        """
        answered = list[Choice]()
        for choice in self.ranked(choices):
            if not answered or choice.worth < min(other.worth for other in answered):
                question, text = question_of(choice)
                answered += self._of_grids(question, [choice.grid], [text], refusals)
        return answered

    def _grids(self, where: Question) -> list[ProcessGrid]:
        if self.grids is not None:
            for grid in self.grids:
                where.site.check_grid(grid)
            return list(self.grids)
        kinds = self.decompositions or where.decompositions or (where.decomposition,)
        grids = [grid for kind in kinds for grid in all_grids(where.n_slots, kind)]
        transform = where.transform
        if where.n_slots > LARGE and transform is not None and not any(kind.has_bricks for kind in kinds):
            grids = [grid for grid in grids if transform.fills(grid)] or grids
            if len({transform.nx, transform.ny, transform.nz}) == 1:
                grids = [grid for grid in grids if grid.shape[0] <= grid.shape[-1]]
        return grids

    def _parts(self, where: Question) -> list[list[ProcessGrid]]:
        """Return the grids; apart from them those that a quick answer needs only if no other is possible."""
        grids, transform = self._grids(where), where.transform
        if self.effort == "quick" and self.grids is None and self.placements is None and transform is not None \
                and self._puts_idle_last(where, grids):
            busy = [grid for grid in grids if not transform.idle_tasks(grid)]
            return [busy, [grid for grid in grids if grid not in busy]]
        return [grids]

    def _puts_idle_last(self, where: Any, grids: Sequence[ProcessGrid]) -> bool:
        """Return whether grids with idle tasks come after all others."""
        return self.by != TRANSFORM or not grids or local_terms(
            local_work(where.transform, grids[0], where.tasks_per_node), where.costs).time_s is None

    def _placements(self, question: Question) -> tuple[str, ...] | Sequence[str]:
        if self.placements is not None:
            return self.placements
        brief = question.n_slots > LARGE or (self.effort == "quick" and self.where.shapes)
        return (BEST,) if brief else (BEST, DEFAULT)

    def _slow(self, question: Question, placement: Any) -> bool:
        """Return whether the launch order needs every message routed where products need not."""
        case = Case(placement, question, product_of(placement))
        return placement.network.has_products and placement.fills_network and closed_form(case) is None

    def _takes_product(self, question: Question) -> bool:
        """Return whether a large machine is taken whole: its best placement is then the best product for even blocks."""
        return (question.n_slots > LARGE and question.network.has_products and question.site.allocation.is_complete
                and question.halo is None)

    def _best_product(self, question: Question, grid: ProcessGrid) -> Any:
        """Return the choice of the best product for even blocks."""
        placement = best_product(as_torus(question.network), grid, question.tasks_per_node,
                                 in_sequence(len(grid.decomposition.exchanges)))
        return self.choice(question, placement, BEST)

    # the fastest grids with other schedules and exchanges

    def leaders(self, choices: Iterable[Choice]) -> list[Choice]:
        """Return the first choice of each grid within twice the least time; on large machines only one.

        Two exchanges at once take at least half of the time in sequence, so no other grid can come first by its schedule.
        Effort quick takes one of RxC and CxR.
        """
        first: dict[tuple[object, ...], Choice] = {}
        for choice in self.ranked(choices):
            first.setdefault(choice.kind if EFFORTS[self.effort] else _problem(choice), choice)
        leaders_ = list(first.values())
        if self.where.n_slots > LARGE:
            return leaders_[:1]
        return [choice for choice in leaders_[:LEADERS[self.effort]] if choice.worth <= 2 * leaders_[0].worth]

    def scheduled(self, leader: Choice) -> Iterator[Choice]:
        """Yield a grid under the other schedules, in the placement of the leader and in the best one for them."""
        name, question = leader.prediction.placement, leader.where
        texts: list[tuple[str, ...]] = [(BEST, *CHUNKED)] if BEST in self.schedules else []
        texts += [(text,) for text in self.schedules if text not in (BEST, self.where.schedule)]
        for names in texts:
            placements = [leader.placed]
            if question.n_slots <= LARGE and name == BEST:
                placements.append(best_placement(replace(question, schedule=names[0]), leader.grid, Search(0),
                                                 alone=True)[0])
            for placement in placements:
                for text in names:
                    try:
                        yield self.choice(replace(question, schedule=text), placement, name)
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
                choice = self.choice(replace(leader.where, exchange=name), leader.placed, leader.prediction.placement)
            except ScheduleError:  # the exchange runs alone, and a schedule was asked for
                continue
            if self.exchanges is not None or choice.worth < leader.worth:  # else nobody takes the exchange
                yield choice

    def _may_win(self, leader: Any, exchange: str, best: float | Fraction) -> bool:
        known, local = leader.prediction.total_s is not None, leader.prediction.local
        local_s = local.time_s if known and self.by != TRANSFORM else 0.0
        return least_s(leader.prediction, exchange) - local_s < best * (1 - 1e-9)

    # search

    @property
    def searches(self) -> bool:
        """Whether placements are searched."""
        return EFFORTS[self.effort] > 0 and (self.placements is None or BEST in self.placements)

    def searched(self, choices: list[Choice], within: Search) -> list[Choice]:
        """Return the choices with placements that were searched for the fastest grids."""
        network, is_one = self.where.network, len({choice.kind for choice in choices}) == 1
        has_holes = network.has_products and not self.where.site.allocation.is_complete
        rounds: Sequence[tuple[int, float]] = (
            ((1, ONE_GRID),) if is_one else
            ROUNDS_ON_SWITCHES if not network.has_products else
            ROUNDS_WITH_HOLES if has_holes else ROUNDS_OF_GRIDS)
        choices = [replace(choice, is_brief=choice.prediction.placement == BEST and _is_searched(choice))
                   for choice in choices]
        done, work = 0.0, sum(count * fraction for count, fraction in rounds)
        for number, (count, fraction) in enumerate(rounds, start=1):
            for leader in self._to_search(choices)[:count]:
                if not within.is_over():
                    last = number == len(rounds)
                    with part(done / work, (done + fraction) / work):
                        group = [self._searched(twin, within.part(fraction), has_holes or not last)
                                 for twin in (leader, *_twins(choices, leader))]
                    done += fraction
                    choices += [replace(choice, is_brief=not last) for choice in group]
        return choices

    def searched_again(self, leader: Choice, within: Search) -> Choice:
        """Return the choice that a search finds for a grid with as much budget as the first grid has in its last round."""
        return self._searched(leader, within.part(ROUNDS_ON_SWITCHES[-1][1]), False)

    def _searched(self, leader: Choice, within: Search, brief: bool) -> Choice:
        """Return the choice that a search finds for a grid."""
        schedule = self._schedule(leader)
        question = replace(leader.where, schedule=schedule, exchange=leader.exchange)
        return self._of(leader.where, *best_placement(question, leader.grid, within, brief=brief))

    def _schedule(self, leader: Choice) -> str:
        """Return the schedule of a leader, or `BEST` if all may be taken: its objectives have few terms."""
        return BEST if BEST in self.schedules and leader.schedule != SEQUENCE else leader.schedule

    def _to_search(self, choices: Iterable[Choice]) -> list[Choice]:
        """Return the best choice of each grid that a search may make faster than the first choice, the fastest first."""
        first: dict[tuple[object, ...], Choice] = {}
        order = self.ranked(choices)
        for choice in order:
            if _is_searched(choice) and BEST in self._placements(choice.where):
                first.setdefault(_problem(choice), choice)
        alone = len({choice.kind for choice in order}) == 1
        return [choice for choice in first.values() if alone or _least(choice) < order[0].worth * SURE]


def _none_after_launch_order(choices: Iterable[Choice]) -> list[Choice]:
    """Return the choices; the best placement of a grid is the launch order if that is faster."""
    launch = {choice.kind: choice for choice in choices if choice.prediction.placement == DEFAULT}
    return [replace(other, prediction=replace(other.prediction, placement=BEST))
            if choice.prediction.placement == BEST and (other := launch.get(choice.kind)) and other.worth < choice.worth
            else choice for choice in choices]


def _is_searched(choice: Choice) -> bool:
    return is_searched(choice.where.site, choice.grid, choice.where.transform) or choice.where.halo is not None


def _twins(choices: Sequence[Choice], leader: Choice) -> Iterable[Any]:
    """Return the first choices of the other grids of one group with the same messages: they share the search."""
    twins = {choice.kind: choice for choice in reversed(choices) if choice.prediction.placement == BEST
             and choice.kind != leader.kind and leader.grid.n_tasks in leader.grid.shape
             and choice.schedule == leader.schedule and _problem(choice) == _problem(leader)}
    return twins.values()


def _problem(choice: Choice) -> Any:
    """Return a key that grids share if they are one problem for a search: RxC and CxR of even blocks, slabs P and 1xP.

    Halos of RxC and CxR differ.
    """
    transform, grid = choice.where.transform, choice.grid
    site = *site_key(choice.where), choice.where.tasks_per_node
    if choice.where.halo is not None:
        return *site, choice.decomposition.name, grid.shape
    is_even = transform is None or transform.divides_evenly(grid)
    slab = as_slab(grid, in_sequence(len(grid.decomposition.exchanges)), None if is_even else transform)
    grid = slab[0] if slab else grid
    return *site, grid.decomposition.name, tuple(sorted(grid.shape)) if is_even else grid.shape


def site_key(question: Question) -> tuple[Network, bytes]:
    """Return the network of a question, and its nodes if they are not all."""
    return question.network, b"" if question.site.allocation.is_complete else question.site.allocation.nodes.tobytes()


def floor_of(question: Question) -> float | Fraction:
    """Return a bound of the exchanges of any placement on a whole machine: seconds, or lengths without times."""
    if not question.site.allocation.is_complete:
        return 0
    bound = machine_bound(question.network)
    seconds = None if question.transform is None else m_time(bound, question.network, question.transform.total_bytes)
    return worst(bound, question.network) if seconds is None else seconds


def _least(choice: Choice) -> float | Fraction:
    """Return a lower limit of the worth of a choice with any other placement: its links carry the least that is possible."""
    if not choice.where.site.allocation.is_complete:
        return 0  # fewer nodes may use fewer links
    result = choice.prediction if choice.prediction.schedule is None else choice.prediction.schedule
    floor, halo = floor_of(choice.where), choice.prediction.halo_s
    return floor if result.t_s is None else choice.worth - result.t_s - halo + floor


def _times(choice: Choice) -> bool:
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
