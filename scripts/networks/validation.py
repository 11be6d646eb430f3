"""Simulated, predicted and published times: the rows of `pencilmap validate simulated`.

The simulation knows links and the injection limit of a node. The software costs, which are the starts of an exchange and of
its messages, are added to the simulated time as in the time model. Neither includes contention of adaptive routers, because
the simulated routers have fixed routes.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import inf, prod
from os import PathLike
from pathlib import Path
from typing import Any

from pencilmap.mapper.runs.records import Record, read_records
from pencilmap.model.algorithms import DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.question import ExchangePrediction, Question, predict_messages
from pencilmap.model.schedules import course_of, parse_schedule
from pencilmap.model.schedules.schedule import FORWARD, PAIR, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.published import PUBLISHED
from pencilmap.model.times.timing import exchange_terms
from pencilmap.model.traffic.exchange import Exchange, exchanges, halo, remaps
from pencilmap.model.traffic.loads import m_time, routed_joint
from pencilmap.scripts.networks.simulated import ENVELOPE_BYTES, SimulatedNetwork, Simulation, simulate_all, simulation_of
from pencilmap.scripts.networks.suites import SEQUENCE, Case

ROUTING = "dimension-order:parity"  # rule of the simulated routers of a torus
TIMEOUT_S = 3600.0


@dataclass(frozen=True)
class Row:
    """An exchange of a case."""

    case: Case
    stage: str  #: name of the exchange
    #: predicted for the simulated network: the slower of links and injection limit, with SMPI's envelopes
    network_s: float
    simulated_s: float
    software_s: float  #: the model's cost to start the exchange and its messages
    time_s: float  #: predicted by the time model
    published_s: float | None
    bound_s: float | None = None  #: of concurrent exchanges: a lower bound, without envelopes
    #: simulated time of the suite's placement that is best in sequence with alltoallv; twice that time for a pair of
    #: transforms
    sequence_s: float | None = None

    @property
    def routing(self) -> str:
        """Return the rule of the simulated routers."""
        network = self.case.setting().network
        return ROUTING if network.has_products else self.case.rule or default_routing(network)

    @property
    def gain(self) -> float:
        """Return the speed-up over the best placement in sequence."""
        return (self.sequence_s or 0.0) / self.simulated_s

    @property
    def bound_ratio(self) -> float:
        return self.simulated_s / self.bound_s if self.bound_s else inf

    @property
    def network_ratio(self) -> float:
        return self.simulated_s / self.network_s

    @property
    def published_ratio(self) -> float | None:
        """Return simulated time with software costs over published time."""
        return None if self.published_s is None else (self.simulated_s + self.software_s) / self.published_s

    @property
    def time_ratio(self) -> float | None:
        return None if self.published_s is None else self.time_s / self.published_s

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**self.case.__dict__, "stage": self.stage, "network_s": self.network_s,
                "simulated_s": self.simulated_s, "software_s": self.software_s, "time_s": self.time_s,
                "published_s": self.published_s, "bound_s": self.bound_s, "sequence_s": self.sequence_s,
                "network_ratio": self.network_ratio, "published_ratio": self.published_ratio}


def validate_simulated(cases: Sequence[Case], records_path: str | PathLike[str] | None = None,
                       timeout_s: float = TIMEOUT_S) -> list[Row]:
    """Simulate the cases and add predictions and published times.

    Parameters
    ----------
    records_path
        File of run records; the function will simulate only cases that the file lacks, and append each result.
    timeout_s
        Limit of each case, in seconds.

    Returns
    -------
    list of Row
        A row for every exchange of each case.
    """
    found = simulate_missing({case.name: partial(_simulation, case) for case in cases}, records_path, timeout_s)
    return _beside_the_best([row for case in cases for row in (_rows if case.schedule == SEQUENCE else _joint_rows)(
        case, found[case.name])])


def simulate_missing(runs: dict[str, Callable[[], Simulation]], records_path: str | PathLike[str] | None = None,
                     timeout_s: float = TIMEOUT_S) -> dict[str, Record]:
    """Return the run records of simulations by their names.

    Parameters
    ----------
    runs
        Name, a word without blanks -> function that makes the simulation just before its run.
    records_path
        File of run records; the function will simulate only runs that the file lacks, and append each result with the name
        as the label `case`.
    timeout_s
        Limit of each run, in seconds.
    """
    found = _read(records_path)
    missing, some = [name for name in runs if name not in found], len(os.sched_getaffinity(0))
    for start in range(0, len(missing), some):
        names = missing[start:start + some]
        batch = [_labelled(runs[name](), name) for name in names]
        for name, records in zip(names, simulate_all(batch, json_path=records_path, timeout_s=timeout_s)):
            found[name] = records[0]
    return found


def _labelled(run, name):
    return replace(run, labels={**run.labels, "case": name})


def _beside_the_best(rows):
    """Add the simulated time of the best placement in sequence to rows of the same grid and transform."""
    sums: dict[tuple, float] = {}
    for row in rows:
        if row.case.is_usual:
            sums[row.case.setup, row.case.placement] = sums.get((row.case.setup, row.case.placement), 0.0) + row.simulated_s
    best: dict[tuple, float] = {}
    for (setup, _), seconds in sums.items():
        best[setup] = min(seconds, best.get(setup, inf))
    return [row if row.case.is_usual or row.case.setup not in best else
            replace(row, sequence_s=(1 + (row.case.direction == PAIR)) * best[row.case.setup]) for row in rows]


def _read(path):
    if path is None or not Path(path).exists() or not Path(path).stat().st_size:
        return {}
    return {record["labels"]["case"]: record for record in read_records(path) if "case" in record["labels"]}


def _simulation(case):
    where = case.setting()
    return simulation_of(where, _network(where, case), case.process_grid(), case.placement, case.schedule,
                         exchange=case.exchange, halo=case.halo, timing_only=case.timing_only, verify=case.verify)


def _network(where, case):
    return SimulatedNetwork(where.network, rule=case.rule, injection_bytes_per_s=case.injection or _injection(where) or 0.0,
                            message_s=case.message_s)


def _injection(where):
    """Return bytes per second that the tasks of a node together may send; None for no limit."""
    task = where.costs.injection_per_task
    limits = [where.costs.injection_per_node, None if task is None else task * where.tasks_per_node]
    return min((limit for limit in limits if limit), default=None)


def _rows(case, record):
    where, grid = case.setting(), case.process_grid()
    placed = where.place(case.placement, grid)
    if case.halo:
        yield _halo(case, grid, record, placed.mapping(case.placement))
        return
    costs = Costs(injection_per_node=case.injection or _injection(where), message_cost_s=case.message_s or None)
    network = predict(placed, where.transform, _network(where, case).routing, costs=costs, exchange=case.exchange)
    model = predict(placed, where.transform, costs=where.costs, exchange=case.exchange)
    published, mapping = _published(case), placed.mapping(case.placement)
    if grid.decomposition.has_bricks:
        yield from _remaps(case, grid, record, network, mapping)
        return
    for stage, exchange, simulated, predicted in zip(grid.decomposition.exchanges, exchanges(grid, where.transform),
                                                     network.stages, model.stages):
        if exchange.size == 1:
            continue
        assert predicted.work is not None and predicted.time_s is not None  # every case has a bandwidth
        terms = exchange_terms(predicted.work, where.costs)
        yield Row(case, stage=stage.name, network_s=with_envelopes(simulated, exchange, mapping),
                  simulated_s=record["phases"][f"exchange_{stage.name}"]["max_s"][0],
                  software_s=(terms.start_s or 0.0) + (terms.messages_s or 0.0), time_s=predicted.time_s,
                  published_s=published.get(stage.name))


def _remaps(case, grid, record, network, mapping):
    for exchange, predicted in zip(remaps(grid, case.setting().transform), network.remaps):
        yield Row(case, stage=exchange.name, network_s=with_envelopes(predicted, exchange, mapping),
                  simulated_s=record["phases"][f"exchange_{exchange.name}"]["max_s"][0], software_s=0.0,
                  time_s=predicted.time_s, published_s=None)


def _halo(case, grid, record, mapping):
    transform = case.setting().transform
    sent = halo(grid, transform, "input", (case.halo,) * 3)
    carried = replace(sent, group_weight=sent.group_weight * sent.unit_bytes + ENVELOPE_BYTES, unit_bytes=1)
    question = Question(ROUTING, transform=transform)
    network, alone = (predict_messages(mapping, each, question).time_s or 0.0 for each in (carried, sent))
    return Row(case, stage=sent.name, network_s=network, simulated_s=record["halo"]["max_s"][0], software_s=0.0,
               time_s=alone, published_s=None)


def with_envelopes(stage: ExchangePrediction, exchange: Exchange, mapping: Mapping) -> float:
    """Return the predicted seconds, with the bytes that SMPI adds to each message, round by round."""
    rounds = algorithm_named(stage.algorithm).rounds(exchange, mapping)
    added = [ENVELOPE_BYTES * _messages(each) / _bytes(each) * max(terms.link_s, terms.injection_s or 0.0)
             for each, terms in zip(rounds, stage.rounds or ())]
    return (stage.time_s or 0.0) + sum(added)


def _joint_rows(case, record):
    """Return a single row for all exchanges of a transform, or of a pair of transforms."""
    where, grid = case.setting(), case.process_grid()
    placed = where.place(case.placement, grid, case.schedule)
    forecast = predict(placed, where.transform, ROUTING, exchange=case.exchange, schedule=case.schedule,
                       direction=case.direction).schedule
    assert forecast and forecast.t_s is not None and forecast.time_s is not None
    bound_s = forecast.certificate_any and forecast.t_s / forecast.certificate_any
    yield Row(
        case, stage="+".join(grid.decomposition.names),
        network_s=scheduled_s(placed.mapping(case.placement), where.transform, case.schedule, case.direction,
                              case.exchange),
        simulated_s=record["phases"]["total"]["max_s"][0], software_s=0.0, time_s=forecast.time_s, published_s=None,
        bound_s=bound_s)


def scheduled_s(mapping: Mapping, transform: Transform, schedule: str, direction: str = FORWARD,
                exchange: str = DEFAULT_ALGORITHM) -> float:
    """Return the seconds of the links under a schedule, with the envelope that SMPI adds to each message."""
    carried = partial(algorithm_named(exchange).started, mapping=mapping)
    turned = directed(transform, direction)
    whole = [carried(each) for each in exchanges(mapping.grid, turned)]
    course = course_of(parse_schedule(schedule), mapping.grid, turned, _joint(mapping, whole), direction)
    parts = [part.make(carried) if part.make else whole[part.stage] for part in course.parts]
    loads, added = _joint(mapping, parts), [Fraction(ENVELOPE_BYTES * _messages(part), _bytes(part) or 1) for part in parts]
    times = [m_time(loads.largest([share + more if share else share for share, more in zip(phase.shares, added)]),
                      mapping.network, transform.total_bytes) for phase in course.phases]
    return sum(time for time in times if time is not None)


def _joint(mapping, parts):
    return routed_joint(mapping.network, parts, mapping.node_of_rank, routing(ROUTING, mapping.network))


def _messages(exchange):
    """Count the messages of all ranks, including messages to themselves."""
    return prod(int((weight > 0).sum()) for weight in (exchange.group_weight, exchange.send_weight, exchange.receive_weight))


def _bytes(exchange):
    return exchange.unit_bytes * prod(int(weight.sum()) for weight in (exchange.group_weight, exchange.send_weight,
                                                                       exchange.receive_weight))


def _published(case):
    cells = PUBLISHED[case.machine]() if case.machine in PUBLISHED else ()
    return {c.phase: c.time_s for c in cells if (str(c.transform.nx), str(c.grid), c.placement, c.tasks_per_node)
            == (case.fft, case.grid, case.placement, case.tasks_per_node)}
