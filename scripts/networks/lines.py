"""Where a binary exchange of a distributed line becomes slower than transposes: predicted and simulated break-even.

Both times are straight lines in the points a rank n. They are simulated at two sizes, the powers of two about the predicted
break-even, with every message on its links and every start one after the other; the crossing of the two simulated lines is
the simulated break-even. A crossbar is a torus whose links are so fast that the nodes' injection alone counts. On large ones
the all-to-alls go in steps of pairs, which takes as long there: all messages at once are beyond what SimGrid can share out.
"""

from dataclasses import dataclass, replace
from math import inf, log2
from typing import Any

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import setting
from pencilmap.model.costs import Costs
from pencilmap.model.distributed_line import LineTimes, break_even, crossbar_break_even
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.line_plan import line_forecast, line_time, ways
from pencilmap.model.torus import as_torus
from pencilmap.scripts.networks.simulated import SimulatedNetwork, simulate_all, simulation_of_line

TRANSPOSE = "transpose"
CROSSBAR = "1e6GB/s"  # of the links of a ring that is one
MOST_FACTOR = 2.0
MOST_RANKS = 256    # unless more are asked for
MOST_AT_ONCE = 128  # ranks of an all-to-all with all messages at once
RATE = 1e9  # bytes per second of a link, or of a node on a crossbar


@dataclass(frozen=True)
class LineCase:
    """Binary exchange against transposes on one network; ranks are placed as launched, one a node."""

    torus: str
    algorithm: str
    message_s: float  #: the start of a message
    order: str = "transposed"
    crossbar: bool = False  #: nodes send and receive at `RATE`, and links do not count

    @property
    def name(self) -> str:
        return f"crossbar of {self.ranks}" if self.crossbar else self.torus

    @property
    def ranks(self) -> int:
        return self._where().n_slots

    def _where(self):
        return setting(torus=self.torus, bandwidth=CROSSBAR if self.crossbar else f"{RATE:g} B/s")

    def _network(self):
        return SimulatedNetwork(as_torus(self._where().network), 0.0, RATE if self.crossbar else 0.0, self.message_s)

    def predicted(self, algorithm: str, points: int) -> float:
        """Seconds of the exchanges."""
        where = self._where()
        mapping = as_mapping(where.place("default", ProcessGrid(1, where.n_slots)), "default")
        costs = Costs(message_cost_s=self.message_s, injection_per_node=RATE if self.crossbar else None)
        return line_time(line_forecast(mapping, points * where.n_slots, algorithm, self.order, costs,
                                       routing_name=self._network().routing))

    def formula(self) -> float:
        """The closed form, for a crossbar of this rate."""
        return crossbar_break_even(self.ranks, int(self.algorithm.removeprefix("binary")), self.message_s, 1 / RATE,
                                   ways(self.order)[self.algorithm])

    def break_even(self) -> float:
        """Predicted on this network."""
        lines = []
        for algorithm in (TRANSPOSE, self.algorithm):
            low, high = (self.predicted(algorithm, n) for n in (1024, 2048))
            lines.append(LineTimes(0, 2 * low - high, (high - low) / 1024))
        return break_even(*lines)

    def simulations(self, sizes: tuple[int, int]) -> list[Any]:
        where = self._where()
        found = [simulation_of_line(where, self._network(), "default", n * where.n_slots, algorithm, self.order)
                 for algorithm in (TRANSPOSE, self.algorithm) for n in sizes]
        if self.crossbar and self.ranks > MOST_AT_ONCE:
            found = [replace(each, algorithm="pair") for each in found]
        return found


@dataclass(frozen=True)
class LineRow:
    """What was predicted of a case, and what was simulated."""

    case: LineCase
    formula: float
    predicted: float
    simulated: float

    @property
    def ratio(self) -> float:
        """Simulated over predicted break-even."""
        return self.simulated / self.predicted

    @property
    def holds(self) -> bool:
        return 1 / MOST_FACTOR <= self.ratio <= MOST_FACTOR

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self.case.__dict__, "ranks": self.case.ranks, "formula": self.formula, "predicted": self.predicted,
                "simulated": self.simulated, "ratio": self.ratio, "holds": self.holds}


def line_cases(at_most: int | None = None) -> list[LineCase]:
    """Crossbars of 16 to 1024 ranks, rings, meshes and tori of 16 to 128, at most `at_most` or `MOST_RANKS`; also with the
    start that puts the break-even of 64 ranks where it was published, at 256 points a task."""
    published_s = 256 / crossbar_break_even(64, 2, 1.0, 1 / RATE, ways("transposed")["binary2"])
    found = [LineCase(p, algorithm, start, crossbar=True) for p, start in (
                 ("16", 2e-6), ("64", 2e-6), ("64", published_s), ("4x4x4x4", 2e-6), ("4x4x4x4x4", 2e-6))
             for algorithm in ("binary2", "binary4")]
    found += [LineCase(torus, algorithm, 2e-6) for torus in ("16", "4x4:mesh", "64", "8x8", "4x4x4", "8x4x4")
              for algorithm in ("binary2", "binary4")]
    found.append(LineCase("4x4x4", "binary2", 2e-6, "natural"))
    return [case for case in found if case.ranks <= (at_most or MOST_RANKS)]


def validate_lines(cases: list[LineCase], timeout_s: float) -> list[LineRow]:
    """Simulate the cases, four runs each."""
    predicted = [case.break_even() for case in cases]
    sizes = []
    for n in predicted:
        low = 2 ** int(log2(max(n, 8))) if n < inf else 1024
        sizes.append((low, 2 * low))
    records = simulate_all([s for case, size in zip(cases, sizes) for s in case.simulations(size)], timeout_s=timeout_s)
    rows = []
    for i, (case, (low, high)) in enumerate(zip(cases, sizes)):
        times = [_exchanges_s(found[0]) for found in records[4 * i:4 * i + 4]]
        lines = [LineTimes(0, 2 * a - b, (b - a) / (high - low)) for a, b in (times[:2], times[2:])]
        rows.append(LineRow(case, case.formula(), predicted[i], break_even(*lines)))
    return rows


def _exchanges_s(record):
    return sum(record["phases"][f"exchange_{stage['name']}"]["max_s"][0] for stage in record["stages"])
