"""The network, the usable nodes and the transform of a question: placements there, and their predictions."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Self

import numpy as np

from pencilmap.mapper.base.hosts import first_hosts
from pencilmap.mapper.base.progress import now_and_then, parts, say
from pencilmap.mapper.placements import as_mapping, check_name, place, takes_objective
from pencilmap.mapper.placements.best import candidates, robust_search
from pencilmap.mapper.placements.search import search
from pencilmap.mapper.searches.default_order import launched
from pencilmap.mapper.searches.limit import UNLIMITED, Limit, share_of
from pencilmap.mapper.searches.uneven_products import best_product_of
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.kinds import LINEAR_PROGRAMS, all_variants
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict_messages, predict_question
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import BY, worth
from pencilmap.model.predict.results import HaloPrediction, Prediction
from pencilmap.model.predict.routing_interval import intervals
from pencilmap.model.schedules.objectives import objectives
from pencilmap.model.schedules.schedule import BACKWARD, FORWARD, PAIR, SEQUENCE, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.held_out import LikelyRange
from pencilmap.model.traffic.halo import Halo

BEST = "best"
HALF = 2  # divides the usual evaluations of the search of one grid: 1 to 3 s
MANY_NODES = 512  # from which each routing rule of several is reported


@dataclass(frozen=True)
class Where:
    """The network, the usable nodes and the transform of a question, and the costs of its machine.

    Parameters
    ----------
    site : Site
        Network, tasks per node, usable nodes.
    transform : Transform, optional
        Without it predictions will have no times.
    machine : str, optional
        Name or file of the machine, None when only a shape was named.
    costs : Costs
        The costs other than link bandwidth in the machine file.
    notes : tuple of str
        Notes for a reader of any prediction for this setting.
    hosts : dict of str to int, optional
        Nodes of the hosts in the launcher's order, None unless the list of nodes names every node.
    decomposition : Decomposition
        Decomposition of grids that are named.
    decompositions : tuple of Decomposition
        Decompositions that a plan chooses from; if empty, only `decomposition`.
    shapes : tuple of Where
        The same question on other shapes with as many nodes, or with other tasks per node. A plan chooses from them; if
        empty, from this network alone.
    robust : bool
        Whether the worst over the routing rules counts, and is predicted where none is named.
    likely : LikelyRange, optional
        Measured over predicted time, see `pencilmap.model.machines.machine.Machine.likely`.

    halo : Halo, optional
        Halos beside the transform; they count in the choice of a placement.
    direction : str
        See `towards`.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> where = Where(Site(Torus((8, 8, 8))))
    >>> grid = ProcessGrid(8, 64)
    >>> [str(where.predict(where.place(text, grid)).cost) for text in ("box:2x2x2", "default")]
    ['6', '8']
    """

    site: Site
    transform: Transform | None = None
    machine: str | None = None
    costs: Costs = Costs()
    notes: tuple[str, ...] = ()
    hosts: dict[str, int] | None = None
    decomposition: Decomposition = PENCIL
    likely: LikelyRange | None = None
    robust: bool = False
    decompositions: tuple[Decomposition, ...] = ()
    shapes: tuple["Where", ...] = ()
    halo: Halo | None = None
    direction: str = FORWARD

    def towards(self, direction: str) -> Self:
        """The same question for a transform in a direction, or for a pair of both; forward leaves it as it is.

        The transform is then backward, and searches and predictions use its exchanges. Of a pair it is the forward one.
        Raises ScheduleError for an unknown direction.
        """
        transform = directed(self.transform, direction)
        return self if direction == FORWARD else replace(self, transform=transform, direction=direction, shapes=tuple(
            here.towards(direction) for here in self.shapes))

    @property
    def network(self) -> Network:
        return self.site.network

    @property
    def wraps(self) -> tuple["Where", ...]:
        """The same question on the torus and on the open mesh of the same extents; empty unless both were asked for."""
        is_both = (len(self.shapes) == 2 and self.network.has_coordinates
                   and len({(here.tasks_per_node, here.network.shape) for here in self.shapes}) == 1)
        return self.shapes if is_both else ()

    @property
    def has_holes(self) -> bool:
        """Whether no product fills the usable nodes of a network that has products."""
        return self.network.has_products and not self.site.allocation.is_complete

    def share(self, effort: str) -> Fraction:
        """The divisor of the usual evaluations of the search of one grid."""
        return share_of(effort) * HALF

    @property
    def tasks_per_node(self) -> int:
        return self.site.tasks_per_node

    @property
    def names(self) -> dict[int, str] | None:
        """The first host of each usable node, None unless the list of nodes names every one."""
        return None if self.hosts is None else first_hosts(self.hosts)

    @property
    def n_slots(self) -> int:
        return self.site.n_slots

    @property
    def where(self) -> str:
        return str(self.site)

    def place(self, text: str, grid: ProcessGrid, schedule: str | Question = SEQUENCE) -> Product | Mapping:
        """The placement that `text` describes, see `pencilmap.mapper.placements.place`.

        A placement that searches gives the one that is fastest by all terms of the time model, under the schedule or for
        the question.
        """
        check_name(text)
        if text == BEST:
            return self.best_placement(grid, schedule)
        if not takes_objective(text):
            return place(text, self.site, grid)
        question = _asked(schedule)
        name, _, argument = text.partition(":")
        found: list[Product | Mapping] = []
        for wanted in objectives(question.schedule, grid, self.direction):
            found += [search(argument, self.site, grid, wanted, robust=self.robust, transform=uneven)
                      for uneven in self._uneven(grid)] if name == "search" else [place(text, self.site, grid, wanted)]
        return self._fastest(found, question)[0]

    def _uneven(self, grid: ProcessGrid) -> tuple[Transform | None, ...]:
        """The transforms whose blocks a search counts, of a pair one after the other; None if blocks are even."""
        if self.transform is None or self.transform.divides_evenly(grid):
            return (None,)
        return (self.transform, *([directed(self.transform, BACKWARD)] if self.direction == PAIR else []))

    def best_placement(self, grid: ProcessGrid, schedule: str | Question, share: int | Fraction = 1,
                       limit: Limit = UNLIMITED) -> Product | Mapping:
        """The fastest placement of all families under a schedule, or for a question; never slower than the launch order.

        Searches get their usual evaluations divided by `share`; for 0 there is no search.
        """
        return self.best_prediction(grid, schedule, share, limit)[0]

    def best_prediction(self, grid: ProcessGrid, schedule: str | Question, share: int | Fraction = 1,
                        limit: Limit = UNLIMITED, brief: bool = False,
                        alone: bool = False) -> tuple[Product | Mapping, Prediction]:
        """The placement of `best_placement`, and its prediction.

        If `brief`, only one objective is searched, with all evaluations; of a free schedule that of chunks that overlap.
        If `alone`, the launch order is not among the candidates: a caller that ranks many grids compares it with few.
        """
        question = _asked(schedule)
        schedule, rules = question.schedule, () if question.routing is None else (question.routing,)
        found: list[Product | Mapping] = []
        if schedule == SEQUENCE and self.transform and self._is_whole(grid):
            found = [best_product_of(as_torus(self.network), grid, self.tasks_per_node, each) for each in self._uneven(grid)]
        several = objectives("overlap" if brief and schedule == BEST else schedule, grid, self.direction)
        several = several if not brief or self._is_whole(grid) else several[:1]
        steps = parts(len(several) * (1 + self.robust + (self.halo is not None)))
        for i, wanted in enumerate(several):
            effort = share * (len(several) if i or schedule == BEST else 1)  # the objective of the schedule gets most
            if brief:
                effort = 0 if i else share  # further objectives may have better products
            with next(steps):
                found += [placed for uneven in self._uneven(grid)
                          for placed in candidates(self.site, grid, wanted, effort, limit, rules, uneven)
                          if not (isinstance(placed, Product) and placed in found)]
            if self.robust:
                with next(steps):
                    found += robust_search(self.site, grid, wanted, effort, limit, self.transform)
            if self.halo and self.transform:
                from pencilmap.mapper.searches.halo_search import with_halo  # few questions have halos

                with next(steps):  # a brief search would spend more on its starts than on its swaps
                    found += with_halo(self.site, grid, self.transform, wanted, self.halo, 0 if brief or i else effort,
                                       limit)
        best = self._fastest(found, question, BEST)
        return best if alone else self.or_launch(*best, question)

    def or_launch(self, placed: Product | Mapping, prediction: Prediction,
                  question: Question) -> tuple[Product | Mapping, Prediction]:
        """A placement and its prediction for a question, or those of the launch order of its grid if that is faster."""
        launch = launched(self.site, prediction.grid)
        if isinstance(placed, Mapping) and np.array_equal(placed.node_of_rank, launch.node_of_rank) \
                and np.array_equal(placed.slot_of_rank, launch.slot_of_rank):
            return placed, prediction
        both = (placed, prediction), (launch, self.shown(launch, question, prediction.placement))
        return min(both, key=lambda each: tuple(worth(each[1], by) for by in BY))

    def _fastest(self, found: list[Product | Mapping], question: Question,
                 name: str | None = None) -> tuple[Product | Mapping, Prediction]:
        """The first of the fastest by all terms of the time model, and its prediction."""
        predicted = [(placed, self.shown(placed, question, name)) for placed in found]
        return min(predicted, key=lambda each: each[1].order)

    def _is_whole(self, grid: ProcessGrid) -> bool:
        """Whether the grid takes every slot of a whole torus, so that it has product placements."""
        return (self.network.has_products and self.site.allocation.is_complete
                and grid.n_tasks == self.site.n_slots)

    def predict(self, placed: Product | Mapping, routing: str | None = None, name: str | None = None,
                exchange: str = DEFAULT_ALGORITHM, schedule: str = SEQUENCE, direction: str = FORWARD) -> Prediction:
        """Its prediction, with the notes of this setting, see `pencilmap.model.predict.predict`."""
        return self.answer(placed, Question(routing, exchange, schedule, direction), name)

    def answer(self, placed: Product | Mapping, question: Question, name: str | None = None) -> Prediction:
        """The prediction of a placement for a question, by default in the direction of this setting."""
        question = self._directed(question)
        found = predict_question(placed, question, self.transform, name=name, costs=self.costs, site=self.site)
        return self._noted(found, placed)

    def _directed(self, question):
        return replace(question, direction=self.direction) if question.direction == FORWARD else question

    def shown(self, placed: Product | Mapping, question: Question = Question(), name: str | None = None) -> Prediction:
        """The prediction of a placement. In a robust setting where no rule is named, it is that under the worst rule, with
        a note.
        """
        if not self.robust or question.routing is not None:
            return self.answer(placed, question, name)
        found = []
        for rule in all_variants(self.network):
            if rule not in LINEAR_PROGRAMS or question.schedule != SEQUENCE:  # never the worst in sequence
                try:
                    found.append(self.answer(placed, replace(question, routing=rule), name))
                except RoutingError:
                    continue          # the rule cannot handle the case
        worst = max(found, key=lambda p: p.order)
        note = f"the worst of {len(found)} routing rules is shown"
        return replace(worst, notes=(*worst.notes, note))

    def interval(self, placed: Product | Mapping, question: Question = Question(),
                 name: str | None = None) -> list[Prediction]:
        """Its predictions under all routing rules, see `pencilmap.model.predict.routing_interval.routing_interval`."""
        heard = say if self.network.n_nodes >= MANY_NODES else now_and_then(say)
        number, done = len(list(all_variants(self.network))), count()
        return [self._noted(p, placed) for p in intervals(
            placed, self._directed(question), self.transform, name=name, costs=self.costs, site=self.site,
            begin=lambda rule: heard(f"routing {rule}", next(done) / number))]

    def _noted(self, prediction: Prediction, placed: Product | Mapping) -> Prediction:
        """Return a prediction with the halos and the notes of this setting, also under other routing rules."""
        def under(rule):
            found = prediction.under and prediction.under(rule)
            return found and self._noted(found, placed)

        halo = None
        if self.halo and self.transform:
            messages = self.halo.messages(placed.grid, self.transform)
            halo = HaloPrediction(self.halo, predict_messages(as_mapping(placed, prediction.placement), messages,
                                                              self.transform, prediction.routing, self.costs))
        return replace(prediction.expecting(self.likely), notes=(*prediction.notes, *self.notes), halo=halo,
                       under=prediction.under and under)


def _asked(schedule: str | Question) -> Question:
    return schedule if isinstance(schedule, Question) else Question(schedule=schedule)
