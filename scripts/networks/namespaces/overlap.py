"""Concurrent exchanges on an emulated network: whole verified transforms, each schedule compared with the sequence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import median
from typing import Any

from pencilmap.mapper.runs.compare import compare_record
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.namespaces.box import check_available, run_boxed
from pencilmap.scripts.networks.namespaces.experiment import Experiment, launch_of
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork
from pencilmap.scripts.networks.suites import Claim

TRANSFORM = Transform(64, 64, 96)  # rows or columns keep a link of 10 Mbit/s busy for a third of a second
BOXES = "box:2x2"  # `best` finds this placement on 4x4:mesh both for sequence and for chunks
RUNS = tuple((placement, schedule) for schedule in (SEQUENCE, "overlap:4:x", "overlap:8:x", "two-way")
             for placement in ("default", BOXES))
ROUNDS = 3  # each round runs every case once, so that other load on the machine affects all cases alike


def _claim(chunks, least):
    runs = BOXES, f"overlap:{chunks}:x"
    return Claim(f"the best placement in {chunks} chunks: at least {least:g} times faster than the best one in sequence",
                 lambda row: (row.placement, row.schedule) == runs, lambda row: row.gain, least, inf)


CLAIMS = _claim(4, 1.3), _claim(8, 1.45)


@dataclass(frozen=True)
class Row:
    """The runs of a placement under a schedule; times are seconds of the slowest rank for a whole transform."""

    placement: str
    schedule: str
    t_s: float  #: predicted from the links only
    measured_s: float  #: median of all repetitions of all rounds
    spread: tuple[float, float]
    verified: bool  #: the result of every run
    sequence_s: float = 0.0  #: median of the fastest placement in sequence

    @property
    def gain(self) -> float:
        """Return the speed-up over the best placement in sequence."""
        return self.sequence_s / self.measured_s

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**self.__dict__, "spread": list(self.spread), "gain": self.gain}


def run_schedules(network: EmulatedNetwork, grid: ProcessGrid, transform: Transform, reps: int, rounds: int,
                  timeout_s: float) -> tuple[list[Row], list[dict[str, Any]]]:
    """Run every placement and schedule in turn, in several rounds. Return the rows and the run records.

    Raises
    ------
    UnavailableError
        If this machine cannot make such networks.
    EmulationError
        If a run fails.
    """
    experiment = Experiment(network, grid, tuple(dict.fromkeys(placement for placement, _ in RUNS)), transform, reps)
    check_available()
    program = ensure_built().mpi_runner
    each = [launch_of(experiment, program, placement, transform, ("--schedule", schedule, "--verify"))
            for placement, schedule in RUNS]
    job = {"network": network.text, "rate_bits_per_s": network.rate_bits_per_s, "mtu": network.mtu,
           "tie": network.tie, "runs": each * rounds, "timeout_s": timeout_s}
    records = [run["record"] for run in run_boxed(job, timeout_s * (len(each) * rounds + 1))]
    return rows_of([records[k::len(RUNS)] for k in range(len(RUNS))]), records


def rows_of(found: Sequence[Sequence[dict[str, Any]]]) -> list[Row]:
    """Return a row for each of `RUNS`, from the records of all rounds."""
    rows = []
    for (placement, schedule), records in zip(RUNS, found):
        samples = [seconds for record in records for seconds in record["phases"]["total"]["max_s"]]
        rows.append(Row(placement, schedule, sum(row.t_s or 0.0 for row in compare_record(records[0], placement)),
                        median(samples), (min(samples), max(samples)), all(r["verify"]["passed"] for r in records)))
    best = min(row.measured_s for row in rows if row.schedule == SEQUENCE)
    return [replace(row, sequence_s=best) for row in rows]
