"""Predictions in the order of a user's preference, and the reasons of their times: the largest term, unknown costs."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import summed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import TIE, LocalTerms, TimeTerms

TRANSFORM, EXCHANGES = BY = "transform", "exchanges"  # objectives of a ranking: the whole transform, or its exchanges alone

TERMS = {  # term of the time model: its meaning
    "link_s": "the busiest links: bytes, placement and grid decide",
    "contention_s": "contention: messages that share links although their loads are even",
    "injection_s": "the port of a task or node into the network: fewer bytes off the node help",
    "start_s": "starting the exchanges: fewer tasks on a node help",
    "messages_s": "message starts: fewer, larger messages help",
    "hops_s": "the latency of hops: nearer partners help",
    "fft_s": "the FFTs: more nodes help",
    "memory_s": "memory: copies and passes over the array",
}
FLOW = ("link_s", "contention_s")
FIGURES = {  # figure of a machine file: the unknown cost without this figure
    "message_cost_s": "the cost of a message", "injection_per_node": "what a node puts into the network",
    "exchange_cost_s": "the start of an exchange", "fft_rate_per_task": "the rate of the FFTs"}

T = TypeVar("T")


def worth(p: Prediction, by: str = TRANSFORM) -> float | Fraction:
    """Return the number that ranks a prediction; less is better.

    Parameters
    ----------
    p : Prediction
    by : {"transform", "exchanges"}
        ``transform``: the time of the whole transform as far as the costs are known, see `Prediction.worth`. ``exchanges``:
        the time of the exchanges and remaps by all known terms. Without times, both are the lengths. Halos are included.
    """
    if by == TRANSFORM:
        return p.worth
    answer = p if p.schedule is None else p.schedule
    seconds = answer.t_s if answer.time_s is None else answer.time_s
    if seconds is None:
        return answer.cost + p.halo_cost
    moved_s = 0.0 if p.schedule is None else summed(r.time_s for r in p.remaps) or 0.0
    return float(f"{seconds + moved_s + p.halo_s:.10g}")


def order(p: Prediction, by: str = TRANSFORM) -> tuple[Any, ...]:
    """Return the sort key of a prediction: see `Prediction.order`. Among exchanges, idle tasks always come last."""
    last, _, *rest = p.order
    return (last if by == TRANSFORM else p.idle_tasks > 0, worth(p, by), *rest)


def ranked(predictions: Iterable[Prediction], by: str = TRANSFORM) -> list[Prediction]:
    """Return predictions with the fastest first.

    Predictions within one per cent of the fastest are a tie. In a tie grids without idle tasks come first, then the fewest
    messages, or, between bricks, the fewest moved bytes. If the time of the computing is unknown, grids with idle tasks will
    come after all others. Only the first keeps its bracket of routing rules, which takes long to compute.

    Parameters
    ----------
    predictions : iterable of Prediction
    by : {"transform", "exchanges"}
        See `worth`.

    Examples
    --------
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.predict import predict
    >>> from pencilmap.mapper.seeds.products import best_product
    >>> from pencilmap.model.network.torus import Torus
    >>> ring = Torus((8, 8, 8))
    >>> [str(p.grid) for p in ranked(predict(best_product(ring, ProcessGrid(r, 512 // r))) for r in (8, 64, 2, 16))]
    ['8x64', '64x8', '2x256', '16x32']
    """
    predictions_ = ranked_by(lambda p: p, predictions, by)
    return [*predictions_[:1], *map(without_bracket, predictions_[1:])]


def without_bracket(p: Prediction) -> Prediction:
    """Return a prediction without the predictions under the other rules of adaptive routers."""
    return p if p.case is None else replace(p, case=None)


def quick(p: Prediction) -> Prediction:
    """Return a prediction without anything that takes seconds: linear programs, and bounds by eigenvalues."""
    bounds = replace(p.bounds, brief=True)
    return replace(p, bounds=bounds, schedule=p.schedule and replace(p.schedule, bounds=p.schedule.bounds and bounds))


def ranked_by(prediction: Callable[[T], Prediction], found: Iterable[T], by: str = TRANSFORM) -> list[T]:
    """Return elements in the order of `ranked`; `prediction` gives the prediction of an element."""
    keyed = sorted(((order(prediction(entry), by), entry) for entry in found), key=lambda pair: pair[0])
    done: list[T] = []
    while keyed:
        (last, least, *_), _ = keyed[0]
        tied = [entry for (late, cost, *_), entry in keyed if late == last and cost <= least * TIE]
        done += sorted(tied, key=lambda item: _in_tie(prediction(item)))
        keyed = keyed[len(tied):]
    return done


def is_tie(p: Prediction, best: Prediction, by: str = TRANSFORM) -> bool:
    """Return whether a prediction is as good as the first of a ranking: within one per cent, and by idle tasks and messages.
    """
    return order(p, by)[0] == order(best, by)[0] and worth(p, by) <= worth(best, by) * TIE and _in_tie(p) == _in_tie(best)


def _in_tie(p: Prediction) -> tuple[int, ...]:
    return p.idle_tasks, p.moved_bytes, p.n_messages  # bytes: between bricks only


def largest_term(p: Prediction) -> tuple[str, float]:
    """Return the name in `TERMS` of the largest term of exchanges and computing, and its share of the time in sequence."""
    sums: dict[str, float] = {}
    for part in [*(terms for stage in p.stages for terms in stage.rounds or ()), p.local]:
        for name, seconds in (_deciding(part) if part else {}).items():
            sums[name] = sums.get(name, 0.0) + seconds
    name = max(sums, key=sums.__getitem__)
    return name, sums[name] / sum(sums.values()) if sum(sums.values()) else 0.0


def _deciding(part: LocalTerms | TimeTerms) -> dict[str, float]:
    """Return the terms that add up to the time: of links and ports the slower."""
    known = {name: float(seconds or 0) for name, seconds in part.as_dict().items()}
    flow = {name: known[name] for name in FLOW if name in known}
    hidden = ("injection_s",) if sum(flow.values()) >= known.get("injection_s", 0) else FLOW
    return {name: seconds for name, seconds in known.items() if name not in hidden}


def unknown_costs(costs: Costs) -> list[str]:
    """Return the unknown costs in words. One of the injection limits is enough, and one cost of messages.

    >>> unknown_costs(Costs(injection_per_task=1e8, message_cost_s=1e-6))
    ['the start of an exchange', 'the rate of the FFTs']
    """
    known = {name for name in FIGURES if getattr(costs, name) is not None}
    if costs.injection_per_task is not None:
        known.add("injection_per_node")
    if any(cost is not None for cost in (costs.message_size_cost_s, costs.message_hop_cost_s, costs.node_message_cost_s)):
        known.add("message_cost_s")
    return [words for name, words in FIGURES.items() if name not in known]


def uncounted(p: Prediction) -> list[str]:
    """Return the costs in words that the time of a prediction leaves out, because they are unknown."""
    of_exchange, of_computing = p.stages[0].terms, p.local
    left_out = {"message_cost_s": of_exchange and of_exchange.messages_s,
                "injection_per_node": of_exchange and of_exchange.injection_s,
                "exchange_cost_s": of_exchange and of_exchange.start_s,
                "fft_rate_per_task": of_computing and of_computing.fft_s}
    return [FIGURES[name] for name, seconds in left_out.items() if seconds is None]
