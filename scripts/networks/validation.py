"""Simulated, predicted and published times: the rows of `pencilmap validate`, and those of distributed lines."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import inf, log2, prod
from os import PathLike
from pathlib import Path
from typing import Any

from pencilmap.mapper.place import placed_lines
from pencilmap.mapper.runs.compare import compare_record
from pencilmap.mapper.runs.records import Record, read_records
from pencilmap.mapper.setting import Setting, setting
from pencilmap.model.algorithms import DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.lines.line_plan import LineTimes, break_even, crossbar_break_even, line_forecast, line_time, ways
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.question import ExchangePrediction, Question, predict_messages
from pencilmap.model.schedules import course_of, parse_schedule
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.published import PUBLISHED
from pencilmap.model.times.timing import exchange_terms
from pencilmap.model.traffic.exchange import Exchange, exchanges, halo, remaps
from pencilmap.model.traffic.loads import JointLoads, m_time, routed_joint
from pencilmap.scripts.networks.simulated import (
    ENVELOPE_BYTES,
    SimulatedNetwork,
    Simulation,
    simulate_all,
    simulation_of,
    simulation_of_lines,
)
from pencilmap.scripts.networks.suites import Case

# Simulated, predicted and published times: the rows of `pencilmap validate simulated`.
#
# The simulation knows links and the injection limit of a node. The software costs, which are the starts of an exchange and
# of its messages, are added to the simulated time as in the time model. Neither includes contention of adaptive routers,
# because the simulated routers have fixed routes.

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
    records = simulate_missing({case.name: partial(_simulation, case) for case in cases}, records_path, timeout_s)
    return _beside_the_best([row for case in cases for row in (_rows if case.schedule == SEQUENCE else _joint_rows)(
        case, records[case.name])])


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
    result = _read(records_path)
    missing, runs_ = [name for name in runs if name not in result], len(os.sched_getaffinity(0))
    for start in range(0, len(missing), runs_):
        names = missing[start:start + runs_]
        batch = [replace(run, labels={**run.labels, "case": name}) for name in names for run in [runs[name]()]]
        for name, records in zip(names, simulate_all(batch, json_path=records_path, timeout_s=timeout_s)):
            result[name] = records[0]
    return result


def _beside_the_best(rows: list[Row]) -> list[Row]:
    """Add the simulated time of the best placement in sequence to rows of the same grid and transform."""
    sums: dict[tuple[Any, ...], float] = {}
    for row in rows:
        if row.case.is_usual:
            sums[row.case.setup, row.case.placement] = sums.get((row.case.setup, row.case.placement), 0.0) + row.simulated_s
    best: dict[tuple[Any, ...], float] = {}
    for (setup, _), seconds in sums.items():
        best[setup] = min(seconds, best.get(setup, inf))
    return [row if row.case.is_usual or row.case.setup not in best else
            replace(row, sequence_s=(1 + (row.case.direction == PAIR)) * best[row.case.setup]) for row in rows]


def _read(path: Path | str | PathLike[str] | None) -> dict[str, dict[str, Any]]:
    if path is None or not Path(path).exists() or not Path(path).stat().st_size:
        return {}
    return {record["labels"]["case"]: record for record in read_records(path) if "case" in record["labels"]}


def _simulation(case: Case) -> Simulation:
    where = case.setting()
    return simulation_of(where, _network(where, case), case.process_grid(), case.placement, case.schedule,
                         exchange=case.exchange, halo=case.halo, timing_only=case.timing_only, verify=case.verify)


def _network(where: Question, case: Case) -> SimulatedNetwork:
    return SimulatedNetwork(where.network, rule=case.rule, injection_bytes_per_s=case.injection or _injection(where) or 0.0,
                            message_s=case.message_s)


def _injection(where: Question) -> float | None:
    """Return bytes per second that the tasks of a node together may send; None for no limit."""
    task = where.costs.injection_per_task
    limits = [where.costs.injection_per_node, None if task is None else task * where.tasks_per_node]
    return min((limit for limit in limits if limit), default=None)


def _rows(case: Case, record: Record) -> Iterator[Row]:
    where: Any = case.setting()
    grid = case.process_grid()
    placement = where.place(case.placement, grid)
    if case.halo:
        yield _halo(case, grid, record, placement.mapping(case.placement))
        return
    costs = Costs(injection_per_node=case.injection or _injection(where), message_cost_s=case.message_s or None)
    network = predict(placement, where.transform, _network(where, case).routing, costs=costs, exchange=case.exchange)
    model = predict(placement, where.transform, costs=where.costs, exchange=case.exchange)
    published, mapping = _published(case), placement.mapping(case.placement)
    if grid.decomposition.has_bricks:
        for exchange, predicted in zip(remaps(grid, where.transform), network.remaps):
            yield Row(case, stage=exchange.name, network_s=with_envelopes(predicted, exchange, mapping),
                      simulated_s=record["phases"][f"exchange_{exchange.name}"]["max_s"][0], software_s=0.0,
                      time_s=predicted.time_s or 0.0, published_s=None)
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


def _halo(case: Case, grid: ProcessGrid, record: Record, mapping: Mapping) -> Row:
    transform: Any = case.setting().transform
    sent = halo(grid, transform, "input", (case.halo,) * 3)
    carried = replace(sent, group_weight=sent.group_weight * sent.unit_bytes + ENVELOPE_BYTES, unit_bytes=1)
    question = Question(ROUTING, transform=transform)
    network, alone = (predict_messages(mapping, exchange, question).time_s or 0.0 for exchange in (carried, sent))
    return Row(case, stage=sent.name, network_s=network, simulated_s=record["halo"]["max_s"][0], software_s=0.0,
               time_s=alone, published_s=None)


def with_envelopes(stage: ExchangePrediction, exchange: Exchange, mapping: Mapping) -> float:
    """Return the predicted seconds, with the bytes that SMPI adds to each message, round by round."""
    rounds = algorithm_named(stage.algorithm).rounds(exchange, mapping)
    added = [ENVELOPE_BYTES * _messages(round_) / _bytes(round_) * max(terms.link_s, terms.injection_s or 0.0)
             for round_, terms in zip(rounds, stage.rounds or ())]
    return (stage.time_s or 0.0) + sum(added)


def _joint_rows(case: Case, record: Record) -> Iterator[Row]:
    """Return a single row for all exchanges of a transform, or of a pair of transforms."""
    where: Any = case.setting()
    grid = case.process_grid()
    placement = where.place(case.placement, grid, case.schedule)
    forecast = predict(placement, where.transform, ROUTING, exchange=case.exchange, schedule=case.schedule,
                       direction=case.direction).schedule
    assert forecast and forecast.t_s is not None and forecast.time_s is not None
    bound_s = forecast.certificate_any and forecast.t_s / forecast.certificate_any
    yield Row(
        case, stage="+".join(grid.decomposition.names),
        network_s=scheduled_s(placement.mapping(case.placement), where.transform, case.schedule, case.direction,
                              case.exchange),
        simulated_s=record["phases"]["total"]["max_s"][0], software_s=0.0, time_s=forecast.time_s, published_s=None,
        bound_s=bound_s)


def scheduled_s(mapping: Mapping, transform: Transform, schedule: str, direction: str = FORWARD,
                exchange: str = DEFAULT_ALGORITHM) -> float:
    """Return the seconds of the links under a schedule, with the envelope that SMPI adds to each message."""
    carried = partial(algorithm_named(exchange).started, mapping=mapping)
    turned = directed(transform, direction)
    whole = [carried(item) for item in exchanges(mapping.grid, turned)]
    course = course_of(parse_schedule(schedule), mapping.grid, turned, _joint(mapping, whole), direction)
    parts = [part.make(carried) if part.make else whole[part.stage] for part in course.parts]
    loads, added = _joint(mapping, parts), [Fraction(ENVELOPE_BYTES * _messages(part), _bytes(part) or 1) for part in parts]
    times = [m_time(loads.largest([share + more if share else share for share, more in zip(phase.shares, added)]),
                      mapping.network, transform.total_bytes) for phase in course.phases]
    return sum(time for time in times if time is not None)


def _joint(mapping: Mapping, parts: Sequence[Exchange]) -> JointLoads:
    return routed_joint(mapping.network, parts, mapping.node_of_rank, routing(ROUTING, mapping.network))


def _messages(exchange: Exchange) -> int:
    """Count the messages of all ranks, including messages to themselves."""
    return prod(int((weight > 0).sum()) for weight in (exchange.group_weight, exchange.send_weight, exchange.receive_weight))


def _bytes(exchange: Exchange) -> int:
    return exchange.unit_bytes * prod(int(weight.sum()) for weight in (exchange.group_weight, exchange.send_weight,
                                                                       exchange.receive_weight))


def _published(case: Case) -> dict[str, float]:
    cells = PUBLISHED[case.machine]() if case.machine in PUBLISHED else ()
    return {c.phase: c.time_s for c in cells if (str(c.transform.nx), str(c.grid), c.placement, c.tasks_per_node)
            == (case.fft, case.grid, case.placement, case.tasks_per_node)}


# Predict and simulate distributed lines: the break-even of binary exchange and transposes, and lines on bricks.
#
# Break-even: both times are linear in the points a rank. Two sizes are simulated, the powers of two next to the predicted
# break-even, with every message on its links and all starts in sequence. The simulated break-even is the crossing of the
# two simulated lines. A crossbar is a torus with links so fast that only the injection of the nodes counts. On more than
# `MOST_AT_ONCE` ranks the all-to-alls run in steps of pairs without a barrier, because SimGrid cannot share the links
# between all messages at once. On a crossbar the steps take equally long, on a torus slightly longer.
#
# Bricks: every exchange of the lines of every axis, its time and its messages.

TRANSPOSE = "transpose"
CROSSBAR = "1e6GB/s"  # bandwidth of the links of a ring that stands for a crossbar
MOST_FACTOR = 2.0
MOST_EXACT, LEAST_APART = 1.005, 0.7  # simulated over predicted time of an exchange of bricks
MOST_RANKS = 256    # default of the largest number of ranks
MOST_AT_ONCE = 128  # ranks of an all-to-all with all messages at once
RATE = 1e9  # bytes per second of a link, or of a node on a crossbar


@dataclass(frozen=True)
class DistributedCase:
    """Ranks in launch order on a network, each rank on a node of its own."""

    torus: str
    algorithm: str
    message_s: float  #: seconds to start a message
    order: str = "transposed"
    crossbar: bool = False  #: nodes send and receive at the rate, and links do not count
    rate: float = RATE  #: bytes per second of a link, or of a node on a crossbar
    ports: int = 1  #: messages that start together

    @property
    def name(self) -> str:
        return f"crossbar of {self.ranks}" if self.crossbar else self.torus

    @property
    def ranks(self) -> int:
        return self._where().n_slots

    def label(self, algorithm: str, size: str) -> str:
        """Return the label of a run's record, without blanks and different from all others."""
        words = [self.torus, *["crossbar"] * self.crossbar, f"rate={self.rate:.9g}", f"start={self.message_s:.9g}",
                 *[f"ports={self.ports}"] * (self.ports > 1), algorithm, self.order, size]
        return ",".join(words)

    def _where(self) -> Setting:
        return setting(network=self.torus, bandwidth=CROSSBAR if self.crossbar else f"{self.rate:g} B/s")

    def _network(self) -> SimulatedNetwork:
        return SimulatedNetwork(as_torus(self._where().network), 0.0, self.rate if self.crossbar else 0.0, self.message_s,
                                self.ports)

    def simulation(self, points: int, algorithm: str | None = None) -> Simulation:
        """Return the simulation of a line with so many points a rank."""
        lines = simulation_of_lines(self._where(), self._network(), "default",
                                    LineProblem((points * self.ranks,), None, algorithm or self.algorithm, self.order))
        return replace(lines, algorithm="pair") if self.ranks > MOST_AT_ONCE else lines


@dataclass(frozen=True)
class LineCase(DistributedCase):
    """Binary exchange compared with transposes."""

    def predicted(self, algorithm: str, points: int) -> float:
        """Return the predicted seconds of the exchanges."""
        where = self._where()
        mapping = where.place("default", ProcessGrid(1, where.n_slots)).mapping("default")
        costs = Costs(message_cost_s=self.message_s, injection_per_node=self.rate if self.crossbar else None)
        return line_time(line_forecast(mapping, points * where.n_slots, algorithm, self.order, costs,
                                       routing_name=self._network().routing))

    def formula(self) -> float:
        """Return the closed form of the break-even, for a crossbar of this rate."""
        return crossbar_break_even(self.ranks, int(self.algorithm.removeprefix("binary")), self.message_s, 1 / self.rate,
                                   ways(self.order)[self.algorithm])

    def break_even(self) -> float:
        """Return the predicted break-even on this network."""
        return _crossing([self.predicted(algorithm, n) for algorithm in (TRANSPOSE, self.algorithm) for n in (1024, 2048)],
                         1024)

    def runs(self, sizes: tuple[int, int]) -> dict[str, Callable[[], Simulation]]:
        """Return both algorithms, each at both sizes, by the labels of their records."""
        return {self.label(algorithm, f"{n}-a-rank"): partial(self.simulation, n, algorithm)
                for algorithm in (TRANSPOSE, self.algorithm) for n in sizes}


@dataclass(frozen=True)
class LineRow:
    """Predicted and simulated break-even of a case."""

    case: LineCase
    formula: float
    predicted: float
    simulated: float

    @property
    def ratio(self) -> float:
        """Return simulated over predicted break-even."""
        return self.simulated / self.predicted

    @property
    def holds(self) -> bool:
        return 1 / MOST_FACTOR <= self.ratio <= MOST_FACTOR

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**self.case.__dict__, "ranks": self.case.ranks, "formula": self.formula, "predicted": self.predicted,
                "simulated": self.simulated, "ratio": self.ratio, "holds": self.holds}


def line_cases(at_most: int | None = None) -> list[LineCase]:
    """Return crossbars and tori of 16 to 1024 ranks, rings and meshes of 16 and 64, up to `at_most` or `MOST_RANKS` ranks.

    The start of a message puts the break-even of 64 ranks at the published 256 points a task.
    """
    published_s = 256 / crossbar_break_even(64, 2, 1.0, 1 / RATE, ways("transposed")["binary2"])
    cases = [LineCase(p, algorithm, start, crossbar=True) for p, start in (
                 ("16", 2e-6), ("64", 2e-6), ("64", published_s), ("4x4x4x4", 2e-6), ("4x4x4x4x4", 2e-6))
             for algorithm in ("binary2", "binary4")]
    cases += [LineCase(torus, algorithm, 2e-6) for torus in (
                  "16", "4x4:mesh", "64", "8x8", "4x4x4", "8x4x4", "16x16", "8x8x4", "8x8x8", "16x8x8", "4x4x4x4x4")
              for algorithm in ("binary2", "binary4")]
    cases.append(LineCase("4x4x4", "binary2", 2e-6, "natural"))
    return [case for case in cases if case.ranks <= (at_most or MOST_RANKS)]


def validate_lines(cases: list[LineCase], timeout_s: float,
                   records_path: str | PathLike[str] | None = None) -> list[LineRow]:
    """Simulate the cases, four runs each; several cases may share runs.

    Parameters
    ----------
    timeout_s
        Limit of each run, in seconds.
    records_path
        File of run records; the function only simulates runs that the file lacks, and appends each result.
    """
    predicted = [case.break_even() for case in cases]
    sizes = [sizes_about(n) for n in predicted]
    runs = [case.runs(size) for case, size in zip(cases, sizes)]
    records = simulate_missing({name: run for by_case in runs for name, run in by_case.items()}, records_path, timeout_s)
    return [LineRow(case, case.formula(), n, crossing([[records[name]] for name in records_], size))
            for case, n, records_, size in zip(cases, predicted, runs, sizes)]


def sizes_about(points: float) -> tuple[int, int]:
    """Return the powers of two below and above a break-even."""
    low = 2 ** int(log2(max(points, 8))) if points < inf else 1024
    return low, 2 * low


def crossing(records: Sequence[Sequence[Record]], sizes: tuple[int, int]) -> float:
    """Return the break-even from runs of transposes at two sizes, and of another algorithm at the same sizes."""
    return _crossing([exchanges_s(record[0]) for record in records], sizes[0])


def _crossing(times: list[float], low: int) -> float:
    """Return the break-even of two algorithms, from the times of each at a size and at twice that size."""
    return break_even(*(LineTimes(0, 2 * a - b, (b - a) / low) for a, b in (times[:2], times[2:])))


def exchanges_s(record: Record) -> float:
    """Return the seconds of all exchanges of a run."""
    return float(sum(record["phases"][f"exchange_{stage['name']}"]["max_s"][0] for stage in record["stages"]))


@dataclass(frozen=True)
class BrickCase(DistributedCase):
    """An array in bricks with lines along its axes."""

    bricks: tuple[int, int, int] = (1, 1, 1)
    size: tuple[int, int, int] = (1, 1, 1)

    @property
    def run_label(self) -> str:
        """Label of the run's record."""
        return self.label(self.algorithm, ",".join("x".join(map(str, n)) for n in (self.bricks, self.size)))

    def run(self) -> Simulation:
        return simulation_of_lines(self._where(), self._network(), "default",
                                   LineProblem(self.size, self.bricks, self.algorithm, self.order))


@dataclass(frozen=True)
class BrickRow:
    """The exchanges of a case: predicted and simulated times, and predicted and counted messages of the busiest rank."""

    case: BrickCase
    predicted: float
    simulated: float
    ratios: tuple[float, ...]  #: simulated over predicted time of every exchange
    messages: tuple[int, ...]
    messages_sent: tuple[int, ...]

    @property
    def holds(self) -> bool:
        """Whether no exchange takes longer than predicted.

        Exchanges may be faster: starts overlap with the messages of other ranks, and groups with bricks of unequal size
        begin in turn, because a group waits only for its own ranks.
        """
        apart = self.case.message_s or any(n % parts for n, parts in zip(self.case.size, self.case.bricks))
        least = LEAST_APART if apart else 1 / MOST_EXACT
        return all(least <= ratio <= MOST_EXACT for ratio in self.ratios) and self.messages == self.messages_sent

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**self.case.__dict__, "ranks": self.case.ranks, "predicted": self.predicted, "simulated": self.simulated,
                "ratios": list(self.ratios), "messages": list(self.messages), "messages_sent": list(self.messages_sent),
                "holds": self.holds}


def brick_cases(at_most: int | None = None) -> list[BrickCase]:
    """Return tori, meshes, rings and crossbars of 16 to 64 ranks, in 2 and 3 dimensions, even and prime extents."""
    cases = [BrickCase(torus, algorithm, start, order, crossbar, bricks=bricks, size=size)
             for torus, algorithm, start, order, crossbar, bricks, size in (
                 ("4x4", "transpose", 0.0, "natural", False, (4, 4, 1), (384, 256, 1)),
                 ("4x4", "binary2", 0.0, "transposed", False, (4, 4, 1), (384, 256, 1)),
                 ("4x4", "dft", 0.0, "natural", False, (2, 4, 2), (127, 31, 24)),
                 ("4x4:mesh", "transpose", 0.0, "transposed", False, (4, 4, 1), (509, 240, 1)),
                 ("4x4:mesh", "transpose", 0.0, "natural", False, (2, 4, 2), (61, 480, 120)),
                 ("16", "binary4", 0.0, "natural", False, (4, 2, 2), (64, 32, 48)),
                 ("8x8", "transpose", 0.0, "natural", False, (8, 8, 1), (1021, 768, 1)),
                 ("8x8", "binary4", 0.0, "transposed", False, (8, 8, 1), (512, 384, 1)),
                 ("4x4x4", "transpose", 0.0, "natural", False, (4, 4, 4), (64, 64, 64)),
                 ("4x4x4", "binary2", 0.0, "natural", False, (4, 4, 4), (64, 64, 64)),
                 ("4x4x4", "binary4", 0.0, "transposed", False, (8, 4, 2), (64, 32, 48)),
                 ("4x4x4", "transpose", 0.0, "natural", False, (2, 16, 2), (96, 128, 61)),
                 ("4x4", "dft", 2e-6, "natural", False, (2, 4, 2), (127, 31, 24)),
                 ("4x4x4", "binary2", 2e-6, "natural", False, (4, 4, 4), (64, 64, 64)),
                 ("4x4x4", "transpose", 2e-6, "natural", False, (4, 4, 4), (64, 64, 64)),
                 ("64", "transpose", 2e-6, "transposed", True, (8, 8, 1), (512, 512, 1)),
                 ("64", "binary2", 2e-6, "transposed", True, (4, 4, 4), (64, 32, 64)))]
    return [case for case in cases if case.ranks <= (at_most or MOST_RANKS)]


def validate_bricks(cases: list[BrickCase], timeout_s: float,
                    records_path: str | PathLike[str] | None = None) -> list[BrickRow]:
    """Simulate the cases, a run each; a file of run records works as in `validate_lines`."""
    records, rows = simulate_missing({case.run_label: case.run for case in cases}, records_path, timeout_s), []
    for case in cases:
        record = records[case.run_label]
        comparisons = compare_record(record, case.name)
        times = [(row.time_s or 0.0, row.measured_s) for row in comparisons]
        where = case._where()
        problem = LineProblem(case.size, case.bricks, case.algorithm, case.order)
        forecast = problem.forecast(placed_lines(where, problem, "default"))
        rows.append(BrickRow(case, sum(t for t, _ in times), sum(t for _, t in times),
                             tuple(simulated / predicted for predicted, simulated in times if predicted),  # 0: no data moves
                             tuple(stage.messages for stage in forecast),
                             tuple(max(stage["messages"]) for stage in record["stages"])))
    return rows
