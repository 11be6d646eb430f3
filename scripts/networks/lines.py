"""Predict and simulate distributed lines: the break-even of binary exchange and transposes, and lines on bricks.

Break-even: both times are linear in the points a rank. Two sizes are simulated, the powers of two next to the predicted
break-even, with every message on its links and all starts in sequence. The simulated break-even is the crossing of the two
simulated lines. A crossbar is a torus with links so fast that only the injection of the nodes counts. On more than
`MOST_AT_ONCE` ranks the all-to-alls run in steps of pairs without a barrier, because SimGrid cannot share the links between
all messages at once. On a crossbar the steps take equally long, on a torus slightly longer.

Bricks: every exchange of the lines of every axis, its time and its messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, log2
from os import PathLike
from typing import Any

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.runs.compare import compare_record
from pencilmap.mapper.runs.records import Record
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.lines import placed_lines
from pencilmap.model.lines.distributed_line import LineTimes, break_even, crossbar_break_even
from pencilmap.model.lines.line_plan import line_forecast, line_time, ways
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.networks.simulated import SimulatedNetwork, Simulation, simulation_of_lines
from pencilmap.scripts.networks.validation import simulate_missing

TRANSPOSE = "transpose"
CROSSBAR = "1e6GB/s"  # bandwidth of the links of a ring that stands for a crossbar
MOST_FACTOR = 2.0
MOST_EXACT, LEAST_APART = 1.005, 0.7  # simulated over predicted time of an exchange of bricks
MOST_RANKS = 256    # default of the largest number of ranks
MOST_AT_ONCE = 128  # ranks of an all-to-all with all messages at once
RATE = 1e9  # bytes per second of a link, or of a node on a crossbar


@dataclass(frozen=True)
class Case:
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

    def _where(self):
        return setting(network=self.torus, bandwidth=CROSSBAR if self.crossbar else f"{self.rate:g} B/s")

    def _network(self):
        return SimulatedNetwork(as_torus(self._where().network), 0.0, self.rate if self.crossbar else 0.0, self.message_s,
                                self.ports)

    def simulation(self, points: int, algorithm: str | None = None) -> Simulation:
        """Return the simulation of a line with so many points a rank."""
        found = simulation_of_lines(self._where(), self._network(), "default",
                                    LineProblem((points * self.ranks,), None, algorithm or self.algorithm, self.order))
        return replace(found, algorithm="pair") if self.ranks > MOST_AT_ONCE else found


@dataclass(frozen=True)
class LineCase(Case):
    """Binary exchange compared with transposes."""

    def predicted(self, algorithm: str, points: int) -> float:
        """Return the predicted seconds of the exchanges."""
        where = self._where()
        mapping = as_mapping(where.place("default", ProcessGrid(1, where.n_slots)), "default")
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
    found = [LineCase(p, algorithm, start, crossbar=True) for p, start in (
                 ("16", 2e-6), ("64", 2e-6), ("64", published_s), ("4x4x4x4", 2e-6), ("4x4x4x4x4", 2e-6))
             for algorithm in ("binary2", "binary4")]
    found += [LineCase(torus, algorithm, 2e-6) for torus in (
                  "16", "4x4:mesh", "64", "8x8", "4x4x4", "8x4x4", "16x16", "8x8x4", "8x8x8", "16x8x8", "4x4x4x4x4")
              for algorithm in ("binary2", "binary4")]
    found.append(LineCase("4x4x4", "binary2", 2e-6, "natural"))
    return [case for case in found if case.ranks <= (at_most or MOST_RANKS)]


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
    records = simulate_missing({name: run for found in runs for name, run in found.items()}, records_path, timeout_s)
    return [LineRow(case, case.formula(), n, crossing([[records[name]] for name in found], size))
            for case, n, found, size in zip(cases, predicted, runs, sizes)]


def sizes_about(points: float) -> tuple[int, int]:
    """Return the powers of two below and above a break-even."""
    low = 2 ** int(log2(max(points, 8))) if points < inf else 1024
    return low, 2 * low


def crossing(records: Sequence[Sequence[Record]], sizes: tuple[int, int]) -> float:
    """Return the break-even from runs of transposes at two sizes, and of another algorithm at the same sizes."""
    return _crossing([exchanges_s(found[0]) for found in records], sizes[0])


def _crossing(times, low):
    """Return the break-even of two algorithms, from the times of each at a size and at twice that size."""
    return break_even(*(LineTimes(0, 2 * a - b, (b - a) / low) for a, b in (times[:2], times[2:])))


def exchanges_s(record: Record) -> float:
    """Return the seconds of all exchanges of a run."""
    return float(sum(record["phases"][f"exchange_{stage['name']}"]["max_s"][0] for stage in record["stages"]))


@dataclass(frozen=True)
class BrickCase(Case):
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
    found = [BrickCase(torus, algorithm, start, order, crossbar, bricks=bricks, size=size)
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
    return [case for case in found if case.ranks <= (at_most or MOST_RANKS)]


def validate_bricks(cases: list[BrickCase], timeout_s: float,
                    records_path: str | PathLike[str] | None = None) -> list[BrickRow]:
    """Simulate the cases, a run each; a file of run records works as in `validate_lines`."""
    records, rows = simulate_missing({case.run_label: case.run for case in cases}, records_path, timeout_s), []
    for case in cases:
        record = records[case.run_label]
        found = compare_record(record, case.name)
        times = [(row.time_s or 0.0, row.measured_s) for row in found]
        where = case._where()
        problem = LineProblem(case.size, case.bricks, case.algorithm, case.order)
        told = problem.forecast(placed_lines(where, problem, "default"))
        rows.append(BrickRow(case, sum(t for t, _ in times), sum(t for _, t in times),
                             tuple(simulated / predicted for predicted, simulated in times if predicted),  # 0: no data moves
                             tuple(stage.messages for stage in told),
                             tuple(max(stage["messages"]) for stage in record["stages"])))
    return rows
