"""The reasons of a predicted time: its largest term, and the costs that are unknown."""

from pencilmap.model.predict.results import Prediction
from pencilmap.model.times.costs import Costs

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


def largest_term(p: Prediction) -> tuple[str, float]:
    """Return the name in `TERMS` of the largest term of exchanges and computing, and its share of the time in sequence."""
    sums: dict[str, float] = {}
    for part in [*(terms for stage in p.stages for terms in stage.rounds or ()), p.local]:
        for name, seconds in (_deciding(part) if part else {}).items():
            sums[name] = sums.get(name, 0.0) + seconds
    name = max(sums, key=sums.__getitem__)
    return name, sums[name] / sum(sums.values()) if sum(sums.values()) else 0.0


def _deciding(part):
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
    if costs.message_size_cost_s is not None or costs.message_hop_cost_s is not None:
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
