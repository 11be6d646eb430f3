"""Run placements, and schedules with concurrent exchanges, on an emulated network; compare them with the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, lcm
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.runs.compare import TOPOLOGY, Comparison, compare_record, compare_records
from pencilmap.model.kinds import routing
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.namespaces.box import check_available, run_boxed
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork, EmulationError, LinkCheck, check_links
from pencilmap.scripts.networks.suites import Claim

VERIFIED_BYTES = 4096  # per task: verification moves its data over the same slow links
EXCHANGE_S = 0.16     # a link should be busy for this time; a shorter time would be distorted by the shaper's free burst
LINK_TOLERANCE = 0.1
IDLE_SHARE = 0.02     # of the load of the busiest link
WARMUP = 1


@dataclass(frozen=True)
class Experiment:
    """Placements of a transform on an emulated network; invalid placements raise an error at once."""

    network: EmulatedNetwork
    grid: ProcessGrid
    placements: tuple[str, ...]
    #: by default the smallest cube of even blocks that keeps a link busy for a while
    transform: Transform = None  # type: ignore[assignment]  # filled in
    reps: int = 3  #: timed repetitions of each placement, after an untimed repetition
    verify: bool = True  #: whether a small transform is verified first

    def __post_init__(self) -> None:
        if self.transform is None:
            object.__setattr__(self, "transform", self.cube(EXCHANGE_S * self.network.rate_bits_per_s / 8))
        if not self.transform.is_plain:
            raise EmulationError(f"transform {self.transform} is not run: give extents alone with `fft`, e.g. 64, for c2c "
                                 "double")
        if self.transform.total_bytes <= self.least.total_bytes:
            raise EmulationError(f"transform {self.transform} is too small: the traffic of a run of {self.least} "
                                 "is subtracted, and something must remain")
        for placement in self.placements:
            self.mapping(placement)  # report bad input before building the network

    def mapping(self, placement: str) -> Mapping:
        return as_mapping(place(placement, Site(self.network.network, 1), self.grid), placement)

    @property
    def least(self) -> Transform:
        """Return the smallest transform with even blocks; its run sends little more than the overhead of every run."""
        return self.cube(1)

    def cube(self, bytes_per_task: float) -> Transform:
        """Return the smallest cube of even blocks that gives every task at least so many bytes."""
        step = lcm(*self.grid.shape)
        n = (bytes_per_task * self.grid.n_tasks / Transform(1, 1, 1).total_bytes) ** (1 / 3)
        return Transform(*[step * max(1, ceil(n / step - 1e-9))] * 3)


@dataclass(frozen=True)
class Result:
    """The measurements of a placement, with predictions."""

    placement: str
    links: list[LinkCheck]
    comparisons: list[Comparison]  #: for each exchange
    backlog_drops: int  #: packets that the kernel dropped between devices during the run, on the whole machine
    record: dict[str, Any]

    @property
    def ratios(self) -> list[float]:
        """Return carried over predicted bytes of the links that should carry data."""
        return [link.ratio for link in self.links if link.ratio is not None]

    @property
    def stray_share(self) -> float:
        """Return the largest load of an idle link as a share of the busiest link's prediction; 0 if no link is idle."""
        most = max(float(link.predicted_bytes) for link in self.links)
        return max((link.carried_bytes for link in self.links if not link.predicted_bytes), default=0.0) / most

    @property
    def holds(self) -> bool:
        """Whether every link carried its predicted load and the idle links stayed idle."""
        return (all(abs(ratio - 1) <= LINK_TOLERANCE for ratio in self.ratios) and self.stray_share <= IDLE_SHARE)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {"placement": self.placement, "holds": self.holds, "links": [link.as_dict() for link in self.links],
                "exchanges": [c.as_dict() for c in self.comparisons], "backlog_drops": self.backlog_drops}


def run(experiment: Experiment, timeout_s: float) -> list[Result]:
    """Build the network in a box, run every placement, and return the results in the order of the placements.

    `timeout_s` limits each run; the box may take as long as all runs together.

    Raises
    ------
    UnavailableError
        If this machine cannot make such networks.
    EmulationError
        If a run fails.
    """
    check_available()
    program = ensure_built().program("fft_runner")
    runs = [launch_of(experiment, program, text, transform) for text in experiment.placements
            for transform in (experiment.least, experiment.transform)]
    checks = [_verified(experiment, program)] if experiment.verify else []
    job = experiment.network.job([*checks, *runs], timeout_s)
    found = run_boxed(job, timeout_s * (len(checks) + len(runs) + 1))[len(checks):]
    return [_result(experiment, text, *both) for text, *both in zip(experiment.placements, found[::2], found[1::2])]


def launch_of(experiment: Experiment, program: Path, placement: str, transform: Transform,
              more: Sequence[str] = ()) -> dict[str, Any]:
    """Return a run of a job: fft_runner with `more` options, timed, and the host of each rank."""
    options = [*_options(experiment, transform), "--reps", str(experiment.reps), "--warmup", str(WARMUP), *more]
    labels = {"placement": placement, "network": "namespaces",
              "link_bandwidth": f"{experiment.network.payload_bytes_per_s:.17g}byte/s"}
    if not experiment.network.network.has_products:
        labels |= {TOPOLOGY: experiment.network.text, "routing": experiment.network.routing}
    for key, value in labels.items():
        options += ["--label", f"{key}={value}"]
    name = ", ".join([f"{transform} on {experiment.network.network}", str(experiment.grid), placement, *more[1:2]])
    return {"name": name, "program": [str(program), *options], "hosts": hosts(experiment.mapping(placement))}


def _verified(experiment, program):
    small = experiment.cube(VERIFIED_BYTES)
    options = [*_options(experiment, small), "--reps", "1", "--warmup", "0", "--verify"]
    mapping = experiment.mapping(experiment.placements[0])
    return {"name": f"{small}, verified", "program": [str(program), *options], "hosts": hosts(mapping)}


def _options(experiment, transform):
    values = {"--size": (transform.nx, transform.ny, transform.nz), "--grid": (experiment.grid,), "--rigor": ("estimate",),
              "--sync": ("clock",), "--tasks-per-node": (1,)}
    if experiment.network.network.has_products:
        values |= {"--machine-torus": (experiment.network.network,), "--coordinates": ("hostname",)}
    return [str(word) for option, words in values.items() for word in (option, *words)]


def _result(experiment, placement, least, done):
    """Compare the links by the traffic of the transform minus the traffic of the smallest transform.

    The difference cancels message headers and the messages that start the run, agree on a time and end the run. """
    network = experiment.network
    sent = np.array(done["sent_bytes"]) - np.array(least["sent_bytes"])
    links = check_links(network, sent, _loads(experiment, placement, experiment.transform),
                        _loads(experiment, placement, experiment.least), experiment.reps + WARMUP)
    comparisons = compare_records([done["record"]], placement)
    return Result(placement, links, comparisons, done["backlog_drops"], done["record"])


def _loads(experiment, placement, transform):
    rule = routing(experiment.network.routing, experiment.network.network)
    node_of_rank = experiment.mapping(placement).node_of_rank
    return [rule.loads(experiment.network.network, e, node_of_rank) for e in exchanges(experiment.grid, transform)]


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
class ScheduleRow:
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
                  timeout_s: float) -> tuple[list[ScheduleRow], list[dict[str, Any]]]:
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
    program = ensure_built().program("fft_runner")
    each = [launch_of(experiment, program, placement, transform, ("--schedule", schedule, "--verify"))
            for placement, schedule in RUNS]
    job = network.job(each * rounds, timeout_s)
    records = [run["record"] for run in run_boxed(job, timeout_s * (len(each) * rounds + 1))]
    return rows_of([records[k::len(RUNS)] for k in range(len(RUNS))]), records


def rows_of(found: Sequence[Sequence[dict[str, Any]]]) -> list[ScheduleRow]:
    """Return a row for each of `RUNS`, from the records of all rounds."""
    rows = []
    for (placement, schedule), records in zip(RUNS, found):
        samples = [seconds for record in records for seconds in record["phases"]["total"]["max_s"]]
        rows.append(ScheduleRow(placement, schedule, sum(row.t_s or 0.0 for row in compare_record(records[0], placement)),
                        median(samples), (min(samples), max(samples)), all(r["verify"]["passed"] for r in records)))
    best = min(row.measured_s for row in rows if row.schedule == SEQUENCE)
    return [replace(row, sequence_s=best) for row in rows]
