"""Predictions for the traffic of any program: busiest link and time of the links, phase by phase.

The messages of a phase are in flight together; phases follow one another. So the time of the links is the sum over the
phases of the time of their busiest link.
"""

from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

import numpy as np

from pencilmap.model.kinds import default_routing, kind_of, routing
from pencilmap.model.network.network import GraphLink, TorusLink
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.routing.routes import largest_loads
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Phase, Traffic


@dataclass(frozen=True)
class PhaseTime:
    """The seconds of a phase, all its repetitions together.

    The program waits for the rank that computes longest, for the messages that a rank starts, and for the busiest link. How
    much of this overlaps is not known, so a phase takes the sum.
    """

    name: str
    computing_s: float  #: outside of MPI, of the rank with the most
    imbalance_s: float  #: the part of it beyond the mean of the ranks
    messages_s: float  #: cost of a message, times the messages of the rank with the most; 0 if the cost is not known
    links_s: float

    @property
    def time_s(self) -> float:
        return self.computing_s + self.messages_s + self.links_s


@dataclass(frozen=True)
class ProgramPrediction:
    """The links of a program under a placement.

    Parameters
    ----------
    placement, routing : str
    phase_bytes : tuple of float
        Load of the busiest link of each phase that sends, in bytes of a cable of the fastest class.
    busiest : TorusLink, GraphLink or None
        The link that is busy for longest, all phases together.
    rate : float, optional
        Bytes per second of a cable of the fastest class.
    bound : float, optional
        No placement has a smaller sum of `phase_bytes`.
    run_s : float, optional
        How long the traced program ran.
    phases : tuple of PhaseTime
        Of all phases; empty without a bandwidth, or if the trace has no computing.
    least_s : float, optional
        With these phases: the time of the busiest link, or of the rank that computes longest, all phases together. No
        overlap makes the program faster.
    bracket : tuple of ProgramPrediction
        The same under the rules between which routers adapt, this one included; empty if the routing is known.
    """

    placement: str
    routing: str
    phase_bytes: tuple[float, ...]
    busiest: TorusLink | GraphLink | None
    rate: float | None = None
    bound: float | None = None
    run_s: float | None = None
    phases: tuple[PhaseTime, ...] = ()
    least_s: float | None = None
    bracket: tuple["ProgramPrediction", ...] = ()

    @property
    def ends(self) -> tuple["ProgramPrediction", "ProgramPrediction"]:
        """The predictions with the least and the largest load under the rules between which routers adapt."""
        predictions = sorted(self.bracket or (self,), key=lambda p: p.link_bytes)
        return predictions[0], predictions[-1]

    def gains(self, launched: "ProgramPrediction") -> tuple[float, float] | None:
        """How many times longer the links are busy in another placement, at least and at most; None if nothing is sent.

        Infinite if only the other placement sends anything over links.
        """
        both = self.bracket and launched.bracket
        pairs = list(zip(self.bracket, launched.bracket, strict=True)) if both else [(self, launched)]
        gains_ = [theirs.link_bytes / mine.link_bytes if mine.link_bytes else inf for mine, theirs in pairs
                  if mine.link_bytes or theirs.link_bytes]
        return (min(gains_), max(gains_)) if gains_ else None

    @property
    def link_bytes(self) -> float:
        """Sum over the phases of the load of the busiest link."""
        return sum(self.phase_bytes)

    @property
    def link_s(self) -> float | None:
        """Time of the links, None without a bandwidth."""
        return None if self.rate is None else self.link_bytes / self.rate

    @property
    def time_s(self) -> float | None:
        """Time of the program from MPI_Init to MPI_Finalize, None if its computing or the bandwidth is not known."""
        return sum(phase.time_s for phase in self.phases) if self.phases else None

    @property
    def certificate(self) -> float | None:
        """How many times the proved limit `link_bytes` is; None without a limit."""
        if self.link_bytes == 0:
            return 1.0
        return self.link_bytes / self.bound if self.bound else None

    def gain(self, launched: "ProgramPrediction") -> float | None:
        """How many times longer the links are busy in another placement."""
        return launched.link_bytes / self.link_bytes if self.link_bytes else None

    def as_dict(self) -> dict[str, Any]:
        """Return the prediction for JSON."""
        return {"placement": self.placement, "routing": self.routing, "link_bytes": self.link_bytes,
                "link_s": self.link_s, "phase_bytes": list(self.phase_bytes),
                "busiest_link": self.busiest.as_dict() if self.busiest else None, "bound_bytes": self.bound,
                "certificate": self.certificate, "run_s": self.run_s, "time_s": self.time_s, "least_s": self.least_s,
                "phases": [asdict(phase) for phase in self.phases],
                **({"bracket": [{"routing": p.routing, "link_bytes": p.link_bytes, "link_s": p.link_s}
                                for p in self.bracket]} if self.bracket else {})}


def predict_program(mapping: Mapping, traffic: Traffic, routing_name: str | None = None,
                    bound: float | None = None, adaptive: bool = False,
                    message_cost: float | None = None) -> ProgramPrediction:
    """Return the exact loads of the links.

    Parameters
    ----------
    mapping : Mapping
    traffic : Traffic
    routing_name : str, optional
        The default of the network if None.
    bound : float, optional
        See `pencilmap.model.bounds.graph_cuts.program_bound`.
    adaptive : bool
        Whether to predict all rules between which the routers of the network adapt, if no routing is named.
    message_cost : float, optional
        Seconds that a rank takes for a message.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.traffic.program import one_phase, pairs_of
    >>> ring = Mapping(Torus((4,)), ProcessGrid(4, 1), 1, np.array([0, 2, 1, 3]), np.zeros(4, int))
    >>> predict_program(ring, one_phase(4, pairs_of([0, 1], [1, 2], 100))).link_bytes
    100.0
    """
    rules = kind_of(mapping.network).bracket if adaptive and routing_name is None else ()
    if rules:
        predictions = [predict_program(mapping, traffic, rule, bound, False, message_cost) for rule in rules]
        usual = next(p for p in predictions if p.routing == default_routing(mapping.network))
        return replace(usual, bracket=tuple(predictions))
    name = routing_name or default_routing(mapping.network)
    rule = routing(name, mapping.network)
    busy = [phase for phase in traffic.phases if phase.bytes.nnz]
    loaded: list[LinkLoads] = [rule.loads(mapping.network, phase.exchange, mapping.ends) for phase in busy]
    together, all_bytes = None, 0.0
    if loaded:
        values = np.sum([loads.values / loads.denominator for loads in loaded], axis=0)
        total = LinkLoads(mapping.network, values, loaded[0].total_bytes)
        together, all_bytes = total.busiest(), largest_loads(mapping.network, total)
    phase_bytes = tuple(largest_loads(mapping.network, loads) for loads in loaded)
    rate = max(mapping.network.bandwidth or (0.0,)) or None
    prediction = ProgramPrediction(mapping.name, name, phase_bytes, together, rate, bound, traffic.seconds)
    if rate is None or traffic.computing is None:
        return prediction
    links_s = iter(n_bytes / rate for n_bytes in phase_bytes)
    return replace(prediction, least_s=max(all_bytes / rate, float(traffic.computing.max())), phases=tuple(
        _time(phase, next(links_s) if phase.bytes.nnz else 0.0, message_cost or 0.0) for phase in traffic.phases))


def _time(phase: Phase, links_s: float, message_cost: float) -> PhaseTime:
    most, messages = float(phase.computing.max()), np.bincount(phase.pairs.source, phase.pairs.messages)
    return PhaseTime(phase.name, most, most - float(phase.computing.mean()), message_cost * float(messages.max(initial=0)),
                     links_s)
