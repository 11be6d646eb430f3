"""What is asked about a placement, and the exchanges of the answer, by closed forms or message by message."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from pencilmap.model.algorithms import DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.base.arrays import Ints
from pencilmap.model.decompositions import PENCIL, Decomposition, ExchangeStage
from pencilmap.model.kinds import DEFAULT_ROUTING, all_variants, default_routing, routing
from pencilmap.model.network.network import GraphLink, Network, TorusLink
from pencilmap.model.placement.allocation import Allocation, Mapping, Placement, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product, effective_length
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.certificates import cut_bound
from pencilmap.model.schedules.schedule import BACKWARD, FORWARD, SEQUENCE, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import (
    ExchangeWork,
    LocalTerms,
    TimeTerms,
    blocks_work,
    local_terms,
    local_work,
    mapping_work,
    product_work,
    summed_terms,
    terms_in_turn,
    work_in_turn,
)
from pencilmap.model.traffic.exchange import Exchange, Halo, exchanges
from pencilmap.model.traffic.loads import JointLoads, LinkLoads, known_loads, m_scale, m_time
from pencilmap.model.traffic.product_blocks import StageBlocks, stage_blocks

FIRST = "assumed to be the first of the network: a file of the numbers of other nodes gives other places"  # ends a note
RANDOM_ROUTING = "minimal-adaptive"  # as adaptive routers under contention are taken to route
MOST_NODES_AT_RANDOM = 4096  # up to this size contention is predicted for placements that are not products, in a few seconds


@dataclass(frozen=True)
class Question:
    """Network, usable nodes and transform, the costs of the machine, and the rules by which messages travel.

    Parameters
    ----------
    routing : str, optional
        See `pencilmap.model.kinds.ROUTINGS`; by default the default of the network.
    exchange : str or sequence of str
        Name of the exchange algorithm, see `pencilmap.model.algorithms.ALGORITHMS`, or one name for each exchange.
    schedule : str
        See `pencilmap.model.schedules.SCHEDULES`; ``best`` takes the fastest of those that keep the boxes.
    direction : str
        ``forward``, ``backward`` or ``pair``, one of each: then the exchanges of a prediction are those of the forward
        transform, and the times of `Prediction.schedule` those of both. Forward leaves a backward transform as it is.
    site : Site, optional
        Network, tasks per node, usable nodes. A prediction without a site is for the network of the placement.
    transform : Transform, optional
        Without it predictions will have no times, only lengths.
    costs : Costs
        The machine's costs besides link bandwidth.
    machine : str, optional
        Name or file of the machine, None when only a shape was named.
    notes : tuple of str
        Notes for a reader of any prediction.
    hosts : dict of str to int, optional
        Nodes of the hosts in the launcher's order, None unless the list of nodes names every node.
    decomposition : Decomposition
        Decomposition of grids that are named.
    decompositions : tuple of Decomposition
        Decompositions that a plan may choose from; if empty, only `decomposition`.
    shapes : tuple of Question
        The same question on other shapes with as many nodes, or with other tasks per node. A plan may choose from them; if
        empty, only this network.
    among : Allocation, optional
        Free nodes of which a plan may choose as many as the site has, in place of its nodes.
    neighbours : Fraction
        What each other node of a leaf sends, as a part of what a node of the job sends, in the choice of nodes.
    robust : bool
        Whether the worst over the routing rules counts, and is predicted if no rule is named.
    halo : Halo, optional
        Halos beside the transform; they count in the choice of a placement.
    """

    routing: str | None = None
    exchange: str | Sequence[str] = DEFAULT_ALGORITHM
    schedule: str = SEQUENCE
    direction: str = FORWARD
    site: Site = None  # type: ignore[assignment]  # that of the placement
    transform: Transform | None = None
    costs: Costs = Costs()
    machine: str | None = None
    notes: tuple[str, ...] = ()
    hosts: dict[str, int] | None = None
    decomposition: Decomposition = PENCIL
    decompositions: tuple[Decomposition, ...] = ()
    shapes: tuple["Question", ...] = ()
    among: Allocation | None = None
    neighbours: Fraction = Fraction(0)
    robust: bool = False
    halo: Halo | None = None

    def towards(self, direction: str) -> Self:
        """Return the same question for a transform in a direction, or for a pair of both; forward leaves it as it is.

        The transform is then backward, and searches and predictions use its exchanges. Of a pair it is the forward one.
        Raises ScheduleError for an unknown direction.
        """
        transform = directed(self.transform, direction)
        return self if direction == FORWARD else replace(self, transform=transform, direction=direction, shapes=tuple(
            shape.towards(direction) for shape in self.shapes))

    @property
    def alone(self) -> Self:
        """The same question about its own site, without others that a plan might choose."""
        return replace(self, shapes=(), among=None)

    def on(self, nodes: Ints) -> Self:
        """Return the same question about some nodes of the network, in this order."""
        site = replace(self.site, allocation=Allocation(self.network, nodes))
        return replace(self.alone, site=site, notes=tuple(note for note in self.notes if not note.endswith(FIRST)))

    def under(self, rule: str) -> Self:
        """Return the same question under a routing rule."""
        return replace(self, routing=rule)

    @property
    def network(self) -> Network:
        return self.site.network

    @property
    def tasks_per_node(self) -> int:
        return self.site.tasks_per_node

    @property
    def n_slots(self) -> int:
        return self.site.n_slots

    @property
    def rules(self) -> tuple[str, ...]:
        """The routing rules that count: the named rule, else all rules of the network if the worst counts."""
        if self.routing is not None:
            return (self.routing,)
        return tuple(all_variants(self.network)) if self.robust else ()

    @property
    def wraps(self) -> tuple["Question", ...]:
        """The same question on the torus and on the open mesh of the same extents; empty unless both were asked for."""
        is_both = (len(self.shapes) == 2 and self.network.has_coordinates
                   and len({(shape.tasks_per_node, shape.network.shape) for shape in self.shapes}) == 1)
        return self.shapes if is_both else ()

    @property
    def each_wrap(self) -> list[Self]:
        """This question on the torus and on the open mesh if both were asked for, else the question itself."""
        return [replace(self, site=shape.site, notes=shape.notes, shapes=()) for shape in self.wraps] or [self]

    def algorithms(self, grid: ProcessGrid) -> tuple[str, ...]:
        """Return the name of the algorithm of each exchange of a grid; a single name stands for all."""
        return (self.exchange,) * len(grid.decomposition.names) if isinstance(self.exchange, str) else tuple(self.exchange)


@dataclass(frozen=True)
class Case:
    """A placement and a question about it.

    Parameters
    ----------
    placed : Placement
    question : Question
    product : Product, optional
        The product whose groups use the places of the groups of the placement, if it is known.
    """

    placed: Placement
    question: Question
    product: Product | None = None

    @property
    def site(self) -> Site:
        """The slots that another placement might use."""
        return self.question.site or Site(self.network, self.tasks_per_node, idle=True)

    @property
    def grid(self) -> ProcessGrid:
        return self.placed.grid

    @property
    def tasks_per_node(self) -> int:
        return self.placed.tasks_per_node

    @property
    def network(self) -> Network:
        return self.placed.network

    @property
    def costs(self) -> Costs:
        return self.question.costs

    @cached_property
    def transform(self) -> Transform | None:
        """The transform in the direction of the question, of a pair the forward one. Without it there are no times."""
        return directed(self.question.transform, self.question.direction)

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges one by one."""
        return exchanges(self.grid, self.transform)

    @property
    def is_backward(self) -> bool:
        return self.question.direction == BACKWARD or (self.transform is not None and self.transform.backward)

    @property
    def turned(self) -> "Case":
        """The backward transform of a pair."""
        return replace(self, question=self.question.towards(BACKWARD))

    @cached_property
    def mapping(self) -> Mapping:
        """The places of the ranks, one by one."""
        return self.placed.mapping()

    @cached_property
    def routing_name(self) -> str:
        """The rule of the question, by default that of the network."""
        return self.question.routing or default_routing(self.network)

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """Name of the algorithm of each exchange."""
        return self.question.algorithms(self.grid)

    @cached_property
    def rule(self) -> Any:
        """The routing rule."""
        return routing(self.routing_name, self.network)

    @cached_property
    def local(self) -> LocalTerms | None:
        """The time of the computing, None without a transform."""
        if self.transform is None:
            return None
        return local_terms(local_work(self.transform, self.grid, self.tasks_per_node), self.costs)

    @cached_property
    def is_even(self) -> bool:
        """Whether all messages of an exchange have one size; they have without a transform."""
        return self.transform is None or self.transform.divides_evenly(self.grid)

    @cached_property
    def at_once(self) -> bool:
        """Whether all messages of an exchange start at once, as they are."""
        return all(algorithm_named(name).is_exchange(self.is_even) for name in self.algorithms)

    @property
    def contends(self) -> bool:
        """Whether the contention of adaptive routers is included. Rules other than the default describe the routers
        themselves.
        """
        return self.costs.contention is not None and self.routing_name == DEFAULT_ROUTING

    @property
    def routes_at_random(self) -> bool:
        """Whether every route of adaptive routers can be followed in seconds."""
        return self.network.n_nodes <= MOST_NODES_AT_RANDOM

    def seconds(self, lengths: Iterable[Fraction]) -> float | None:
        """Seconds of the busiest link by its length in each class of links, None without a transform or a bandwidth."""
        return None if self.transform is None else m_time(lengths, self.network, self.transform.total_bytes)


# The exchanges of a placement, predicted one by one: in closed form, or by routing every message.
#
# A closed form is that of a product placement. A mapping has it too if its groups use the places of a product's groups.
#
# | what is predicted | in closed form if | | --- | --- | | an exchange of even blocks | the groups are a product's | | an
# exchange of uneven blocks | every rank sits where the product puts it, for the length of a block depends on the rank | |
# any exchange | all its messages start at once, as they are; the routing rule has the form (`of_product`, `of_blocks`) | |
# several exchanges at once | each has its closed form, and the rule one for all (`joint_of_product`, `joint_of_blocks`) | |
# a phase of a schedule | it carries shares of whole exchanges (`Course.plain`) |
#
# Everything else is routed message by message, from the nodes of the ranks themselves. So are the remaps of bricks, and the
# uneven lanes of a schedule, even if all blocks of the whole transform are even.

@dataclass(frozen=True)
class ExchangePrediction:
    """One exchange of a mapping; lists have one entry for each dimension, all on the m scale (4 load N / D_T).

    name : of the stage.
    case : the placement and its question.
    messages : the messages of the exchange, or the stage of a product; its `letters` name the groups.
    load : largest routed load; of an algorithm in rounds, the sum of the largest of each round.
    t_s : link time: seconds by the routed load, summed over the rounds. None without bandwidth or transform.
    busiest : the busiest link (`TorusLink` or `GraphLink`) of the longest round, None when it was not located.
    work : the work of the exchange; None with t_s.
    rounds : the cost of each round, see `pencilmap.model.times.timing`; None with t_s.
    algorithm : how the messages are exchanged, see `pencilmap.model.algorithms`; n_rounds : in how many rounds.
    """

    name: str
    case: Case = field(compare=False, repr=False)
    messages: Any = field(compare=False, repr=False)
    load: tuple[Fraction, ...]
    hop_length: Fraction
    t_s: float | None
    busiest: TorusLink | GraphLink | None = None
    work: ExchangeWork | None = None
    rounds: tuple[TimeTerms, ...] | None = None
    algorithm: str = DEFAULT_ALGORITHM
    n_rounds: int = 1

    @cached_property
    def m(self) -> tuple[Fraction, ...]:
        """The paper's effective lengths (eq. 16) for a product image; the best cut for any other, which may take long."""
        case, messages = self.case, self.messages
        if case.product is not None:
            return tuple(effective_length(pattern, messages.letters, case.product.torus, i)
                         for i, pattern in enumerate(case.product.dimensions))
        return tuple(m_scale(bound, case.network, messages.total_bytes)
                     for bound in cut_bound(case.network, messages, case.mapping.node_of_rank))

    @property
    def bound_s(self) -> float | None:
        """Seconds by `m`; None with `t_s`."""
        return self.case.seconds(self.m)

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
        return {"name": self.name, "m": _numbers(self.m), "load": _numbers(self.load), "hops": plain(self.hop_length),
                "t_s": self.t_s, "bound_s": self.bound_s, "busiest": self.busiest and self.busiest.as_dict(),
                "exchange": self.algorithm, "rounds": self.n_rounds,
                "messages": self.work and self.work.messages, "message_bytes": self.work and self.work.message_bytes,
                "time_s": self.time_s, "terms": self.terms and self.terms.as_dict()}


@dataclass(frozen=True)
class ClosedForm:
    """The closed forms of all exchanges of a product; `closed_form` makes one for a case that has them."""

    case: Case
    product: Product

    @cached_property
    def stages(self) -> tuple[ExchangeStage | StageBlocks, ...]:
        """The exchanges in the order of a forward transform."""
        if self.case.is_even or self.case.transform is None:
            return tuple(self.product.decomposition.exchanges)
        return stage_blocks(self.product.grid, self.case.transform)

    def predicted(self) -> tuple[ExchangePrediction, ...] | None:
        """The exchanges, predicted one by one; None if the routing rule has no closed form."""
        case, stages = self.case, []
        for stage, algorithm in zip(self.stages, case.algorithms):
            load = case.rule.of_blocks(self.product, stage) if isinstance(stage, StageBlocks) else case.rule.of_product(
                self.product, stage.letters)
            if load is None:
                return None
            link_s, work = case.seconds(load.load), None
            if link_s is not None and case.transform is not None:
                adaptive_s = product_adaptive_s(case, self.product, stage.letters, link_s) if case.contends else None
                work = blocks_work(self.product, stage, link_s, adaptive_s, load.hop_length) \
                    if isinstance(stage, StageBlocks) else \
                    product_work(self.product, stage.letters, case.transform, link_s, adaptive_s, load.hop_length)
            stages.append(ExchangePrediction(
                name=stage.name, case=case, messages=stage, load=load.load, hop_length=load.hop_length, t_s=link_s,
                busiest=load.busiest, work=work, rounds=None if work is None else terms_in_turn([work], case.costs),
                algorithm=algorithm))
        return tuple(stages)

    def joint(self) -> JointLoads | None:
        """The loads of all exchanges at once; None if the routing rule has no closed form."""
        if self.case.is_even:
            return self.case.rule.joint_of_product(self.product, tuple(stage.letters for stage in self.stages))
        return self.case.rule.joint_of_blocks(self.product, self.stages)


def closed_form(case: Case) -> ClosedForm | None:
    """The closed forms of a case; None if it has none."""
    if case.product is None or not case.at_once:
        return None
    has_its_ranks = case.is_even or case.placed.is_product or np.array_equal(
        case.placed.mapping().node_of_rank, case.product.mapping().node_of_rank)
    return ClosedForm(case, case.product) if has_its_ranks else None


def product_adaptive_s(case: Case, product: Product, letters: str, link_s: float) -> float:
    """Seconds of the busiest link if routers chose at random: `link_s` times the ratio for even blocks."""
    even, adaptive = (case.seconds(routing(name, product.torus).of_product(product, letters).load)
                      for name in (DEFAULT_ROUTING, RANDOM_ROUTING))
    return link_s * adaptive / even if even and adaptive is not None else link_s


def routed(case: Case) -> tuple[tuple[ExchangePrediction, ...], tuple[LinkLoads | None, ...]]:
    """The exchanges, predicted one by one, and the loads of each of them if all its messages start at once."""
    stages, loads = zip(*(_routed(case, exchange, name)
                          for exchange, name in zip(case.exchanges, case.algorithms)))
    return stages, loads


def predict_messages(mapping: Mapping, exchange: Exchange, question: Question) -> ExchangePrediction:
    """Predict single messages that start together, as those of a remap or a halo are: each of them is routed.

    exchange : as `pencilmap.model.traffic.exchange.remaps` and `pencilmap.model.traffic.exchange.halo` make it
    question : its transform, costs and routing count
    """
    case = Case(mapping, question)
    stage, _ = _routed(case, exchange, DEFAULT_ALGORITHM)
    shared_s = None if stage.work is None else case.rule.shared_seconds(case.network, exchange, mapping.node_of_rank)
    if shared_s is None or stage.work is None:
        return stage
    work = replace(stage.work, link_s=shared_s)
    return replace(stage, t_s=shared_s, work=work, rounds=terms_in_turn([work], case.costs))


def _routed(case: Case, exchange: Exchange, algorithm: str) -> tuple[ExchangePrediction, LinkLoads | None]:
    """An exchange, and the loads of its links if all messages start at once."""
    network, ends, way = case.network, case.mapping.ends, algorithm_named(algorithm)
    rounds = way.rounds(exchange, case.mapping)
    whole = known_loads(network, rounds[0], ends, case.rule) if way.is_alltoall else None
    result = [_RoutedRound.of(whole or case.rule.loads(network, round_, ends)) for round_ in rounds]
    hops = m_scale(sum(round_.hop_bytes for round_ in result), network, exchange.total_bytes) / network.n_nodes
    link_s: list[Any] = [case.seconds(round_.load) for round_ in result]  # all are None if the network has no bandwidth
    stage = ExchangePrediction(
        name=exchange.name, case=case, messages=exchange,
        load=tuple(sum(loads, Fraction(0)) for loads in zip(*(round_.load for round_ in result))), hop_length=hops,
        t_s=summed(link_s),
        busiest=max(result, key=lambda item: worst(item.load, network)).busiest, algorithm=algorithm, n_rounds=len(rounds))
    if stage.t_s is None:
        return stage, whole
    works = [mapping_work(case.mapping, round_, seconds, _adaptive_s(case, way, round_, seconds), one.hop_bytes)
             for round_, seconds, one in zip(rounds, link_s, result)]
    return replace(stage, work=work_in_turn(works), rounds=terms_in_turn(works, case.costs)), whole


def _adaptive_s(case: Case, way: Any, messages: Exchange, link_s: float) -> float | None:
    """Seconds of the busiest link if routers chose at random; None if contention does not count or is not known."""
    if not case.contends:
        return None
    if case.product is not None and way.is_alltoall:
        return product_adaptive_s(case, case.product, messages.letters, link_s)
    if not case.routes_at_random:
        return None
    return routing(RANDOM_ROUTING, case.network).loads(case.network, messages, case.mapping.node_of_rank).seconds()


@dataclass(frozen=True)
class _RoutedRound:
    """What is needed of the loads of a round."""

    load: tuple[Fraction, ...]
    hop_bytes: Fraction
    busiest: TorusLink | GraphLink | None

    @classmethod
    def of(cls, loads: LinkLoads) -> "_RoutedRound":
        return cls(loads.on_m_scale(), loads.hop_bytes(), loads.busiest())


def summed(times: Iterable[float | None]) -> float | None:
    """The sum of some times in seconds. None if one of them is not known."""
    known = list(times)
    return None if None in known else sum(time for time in known if time is not None)


def _numbers(values: tuple[Fraction, ...]) -> list[float]:
    return [plain(v) for v in values]


def plain(value: Any) -> int | float:
    """Return a fraction for JSON: an integer, else a float."""
    value = Fraction(value)
    return int(value) if value.denominator == 1 else float(value)


def cost_of(stages: Iterable[ExchangePrediction], network: Network) -> Fraction:
    """The sum over some exchanges of the worst routed length (exact)."""
    return sum((worst(stage.load, network) for stage in stages), Fraction(0))


def worst(lengths: Iterable[Fraction], network: Network) -> Fraction:
    """The worst dimension: lengths weighted by bandwidth. Exact fractions."""
    if network.bandwidth is None:
        return max(map(Fraction, lengths))
    fastest = Fraction(max(network.bandwidth))
    return max(Fraction(x) * fastest / Fraction(rate) for x, rate in zip(lengths, network.bandwidth))
