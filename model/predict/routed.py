"""Predictions by routing every message, from the nodes of the ranks."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from pencilmap.model.algorithms import algorithm_named
from pencilmap.model.kinds import routing
from pencilmap.model.network.network import GraphLink, TorusLink
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.case import RANDOM_ROUTING, Case, effective_lengths
from pencilmap.model.predict.closed_form import product_adaptive_s
from pencilmap.model.predict.lower_bounds import cut_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.results import ExchangePrediction, summed, worst
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import mapping_work, terms_in_turn, work_in_turn
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.known_loads import known_loads
from pencilmap.model.traffic.loads import LinkLoads, m_scale


def routed(case: Case) -> tuple[tuple[ExchangePrediction, ...], tuple[LinkLoads | None, ...]]:
    """The exchanges, predicted one by one, and the loads of each of them if all its messages start at once."""
    stages, loads = zip(*(_routed(case, exchange, name)
                          for exchange, name in zip(case.exchanges, case.algorithms)))
    return stages, loads


def predict_messages(mapping: Mapping, exchange: Exchange, transform: Transform, routing_name: str | None = None,
                     costs: Costs = Costs()) -> ExchangePrediction:
    """Predict single messages that start together, as those of a remap or a halo are: each of them is routed.

    exchange : as `pencilmap.model.traffic.remap.remaps` and `pencilmap.model.traffic.halo.halo` make it
    """
    question = Question(routing_name)
    case = Case(mapping, None, transform, question, costs)
    assert isinstance(question.exchange, str)
    stage, _ = _routed(case, exchange, question.exchange)
    shared_s = None if stage.work is None else case.rule.shared_seconds(case.network, exchange, mapping.node_of_rank)
    if shared_s is None:
        return stage
    work = replace(stage.work, link_s=shared_s)
    return replace(stage, t_s=shared_s, work=work, rounds=terms_in_turn([work], costs))


def _routed(case, exchange, algorithm):
    """An exchange, and the loads of its links if all messages start at once."""
    network, ends, way = case.network, case.mapping.ends, algorithm_named(algorithm)
    rounds = way.rounds(exchange, case.mapping)
    whole = known_loads(network, rounds[0], ends, case.rule) if way.is_alltoall else None
    found = [_RoutedRound.of(whole or case.rule.loads(network, each, ends)) for each in rounds]
    hops = m_scale(sum(each.hop_bytes for each in found), network, exchange.total_bytes) / network.n_nodes
    link_s = [case.seconds(each.load) for each in found]
    stage = ExchangePrediction(
        name=exchange.name, lengths=partial(_lengths, case, exchange),
        load=tuple(sum(some, Fraction(0)) for some in zip(*(each.load for each in found))), hop_length=hops,
        t_s=summed(link_s), seconds=case.seconds,
        busiest=max(found, key=lambda each: worst(each.load, network)).busiest, algorithm=algorithm, n_rounds=len(rounds))
    if stage.t_s is None:
        return stage, whole
    works = [mapping_work(case.mapping, each, seconds, _adaptive_s(case, way, each, seconds), one.hop_bytes)
             for each, seconds, one in zip(rounds, link_s, found)]
    return replace(stage, work=work_in_turn(works), rounds=terms_in_turn(works, case.costs)), whole


def _lengths(case, exchange):
    if case.product:
        return effective_lengths(case.product, exchange.letters)
    return tuple(m_scale(bound, case.network, exchange.total_bytes)
                 for bound in cut_bound(case.network, exchange, case.mapping.node_of_rank))


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
    def of(cls, loads):
        return cls(loads.on_m_scale(), loads.hop_bytes(), loads.busiest())
