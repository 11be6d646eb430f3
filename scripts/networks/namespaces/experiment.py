"""Run placements, schedules and programs of others on an emulated network, in a box that always ends with the run."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import ceil, inf, lcm
from pathlib import Path
from statistics import median
from typing import IO, Any

import numpy as np

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.mapper.base.progress import say
from pencilmap.mapper.formats import write_mapping
from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.placements import place
from pencilmap.mapper.programs import Measured, record_of
from pencilmap.mapper.runs.compare import TOPOLOGY, Comparison, compare_record, compare_records
from pencilmap.mapper.setting import setting
from pencilmap.model.kinds import routing
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.program import predict_program
from pencilmap.model.routing.routes import largest_loads
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Traffic
from pencilmap.scripts.networks.build import ensure_built, tail
from pencilmap.scripts.networks.namespaces.inside import COLLECTIVES, FOLDER, NAP, build_nap
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork, EmulationError, LinkCheck, check_links
from pencilmap.scripts.networks.suites import Claim
from pencilmap.scripts.networks.tracer import OPEN_MPI, Launch, library_for, trace

# The box: a run in its own network, mount and process namespaces, which always end with the run.
#
# When the program in the box ends, or this process is killed, the kernel kills every process in the box. The named
# namespaces, links and files of the run will disappear with the last process. Without root, the box adds a user namespace,
# if Linux allows this.

TOOL_PACKAGES = {"setpriv": "util-linux", "unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2",
                 "tc": "iproute2", "mpirun.openmpi": "openmpi-bin", "hostname": "hostname", "mount": "mount", "cc": "gcc"}
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")  # folders of tools that an ordinary user's PATH may lack
PROBE_S = 30
SET_UP = 'mount -t tmpfs tmpfs /run && mkdir /run/netns /run/pencilmap && exec "$@"'


class UnavailableError(EmulationError):
    """This machine cannot make the network: a tool, a right or a part of the kernel is missing."""


def command() -> list[str]:
    """Return the words that start `inside.py` in a box."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *as_root, "--net", "--mount", "--pid", "--fork", "--kill-child",
            "--mount-proc", "sh", "-c", SET_UP, "box", sys.executable, "-m", "pencilmap.scripts.networks.namespaces.inside"]


def search_path() -> str:
    """Return PATH followed by the system folders."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS])


def check_available() -> None:
    """Raise UnavailableError with the reason unless this machine can make networks; takes a fraction of a second."""
    missing = {tool: package for tool, package in TOOL_PACKAGES.items() if not shutil.which(tool, path=search_path())}
    if missing:
        raise UnavailableError(f"networks of namespaces need {', '.join(missing)}; on Debian: apt-get install "
                               f"{' '.join(dict.fromkeys(missing.values()))}")
    job = {"network": "2:mesh", "rate_bits_per_s": 10**7, "mtu": 1500, "tie": "parity", "runs": [], "timeout_s": PROBE_S}
    try:
        run_boxed(job, PROBE_S)
    except EmulationError as error:
        raise UnavailableError(f"networks of namespaces cannot be made here: {error}; root or user namespaces are needed, "
                               "and a kernel with veth, bridge and the tbf queue") from error


def run_boxed(job: dict[str, Any], timeout_s: float) -> list[dict[str, Any]]:
    """Run a job in a box and return the result of each run. `inside.py` describes the job.

    `timeout_s` limits the whole box.

    Raises
    ------
    EmulationError
        If the job fails.
    """
    with tempfile.TemporaryFile("w+") as complaints:
        box = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
                               start_new_session=True, env={**os.environ, "PATH": search_path()})
        late = threading.Timer(timeout_s, box.kill)
        late.start()
        try:
            return _converse(box, job, complaints, late)
        finally:
            late.cancel()
            box.kill()
            box.wait()
            if box.stdout:
                box.stdout.close()


def _converse(box: Any, job: dict[str, Any], complaints: IO[str], late: threading.Timer) -> list[dict[str, Any]]:
    try:
        box.stdin.write(json.dumps(job))
        box.stdin.close()
    except BrokenPipeError:
        pass  # the process has already ended and gave its reason
    runs = []
    for line in box.stdout:
        message = json.loads(line)
        if "progress" in message:
            say(message["progress"])
        elif "run" in message:
            runs.append(message["run"])
        elif "error" in message:
            raise EmulationError(message["error"])
        else:
            return runs
    box.wait()
    if late.finished.is_set():
        raise EmulationError(f"the box did not finish within {late.interval:g} s")
    complaints.seek(0)
    raise EmulationError(f"the box ended with status {box.returncode}: {tail(complaints.read(), 5) or 'no word'}")


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
        return place(placement, Site(self.network.network, 1), self.grid).mapping(placement)

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
    small = experiment.cube(VERIFIED_BYTES)
    verified = {"name": f"{small}, verified", "hosts": hosts(experiment.mapping(experiment.placements[0])), "program": [
        str(program), *_options(experiment, small), "--reps", "1", "--warmup", "0", "--verify"]}
    checks = [verified] if experiment.verify else []
    job = experiment.network.job([*checks, *runs], timeout_s)
    result = run_boxed(job, timeout_s * (len(checks) + len(runs) + 1))[len(checks):]
    return [_result(experiment, text, *both) for text, *both in zip(experiment.placements, result[::2], result[1::2])]


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


def _options(experiment: Experiment, transform: Transform) -> list[str]:
    values = {"--size": (transform.nx, transform.ny, transform.nz), "--grid": (experiment.grid,), "--rigor": ("estimate",),
              "--sync": ("clock",), "--tasks-per-node": (1,)}
    if experiment.network.network.has_products:
        values |= {"--machine-torus": (experiment.network.network,), "--coordinates": ("hostname",)}
    return [str(word) for option, words in values.items() for word in (option, *words)]


def _result(experiment: Experiment, placement: str, least: dict[str, Any], done: dict[str, Any]) -> Result:
    """Compare the links by the traffic of the transform minus the traffic of the smallest transform.

    The difference cancels message headers and the messages that start the run, agree on a time and end the run. """
    network = experiment.network
    sent = np.array(done["sent_bytes"]) - np.array(least["sent_bytes"])
    links = check_links(network, sent, _loads(experiment, placement, experiment.transform),
                        _loads(experiment, placement, experiment.least), experiment.reps + WARMUP)
    comparisons = compare_records([done["record"]], placement)
    return Result(placement, links, comparisons, done["backlog_drops"], done["record"])


def _loads(experiment: Experiment, placement: str, transform: Transform) -> list[LinkLoads]:
    rule = routing(experiment.network.routing, experiment.network.network)
    node_of_rank = experiment.mapping(placement).node_of_rank
    return [rule.loads(experiment.network.network, e, node_of_rank) for e in exchanges(experiment.grid, transform)]


TRANSFORM = Transform(64, 64, 96)  # rows or columns keep a link of 10 Mbit/s busy for a third of a second
BOXES = "box:2x2"  # `best` finds this placement on 4x4:mesh both for sequence and for chunks
RUNS = tuple((placement, schedule) for schedule in (SEQUENCE, "overlap:4:x", "overlap:8:x", "two-way")
             for placement in ("default", BOXES))
ROUNDS = 3  # each round runs every case once, so that other load on the machine affects all cases alike


def _claim(chunks: int, least: float) -> Claim:
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


def rows_of(sequences: Sequence[Sequence[dict[str, Any]]]) -> list[ScheduleRow]:
    """Return a row for each of `RUNS`, from the records of all rounds."""
    rows = []
    for (placement, schedule), records in zip(RUNS, sequences):
        samples = [seconds for record in records for seconds in record["phases"]["total"]["max_s"]]
        rows.append(ScheduleRow(placement, schedule, sum(row.t_s or 0.0 for row in compare_record(records[0], placement)),
                        median(samples), (min(samples), max(samples)), all(r["verify"]["passed"] for r in records)))
    best = min(row.measured_s for row in rows if row.schedule == SEQUENCE)
    return [replace(row, sequence_s=best) for row in rows]


# Programs of others on an emulated network, unchanged: traced, predicted, placed, and run again.
#
# Each program is traced here, in its launch order. The model predicts the bytes of each link for the launch order and for
# the best placement. Then the program runs on the network three times: in its launch order, placed by the launcher's file,
# and launched as before but renumbered by libpencilmap_place.so. The counters of the links are compared with the
# predictions.

INPUTS = Path(__file__).resolve().parent / "programs"
HEADER = 24  # bytes before the data of a message: 8 of Open MPI's TCP module (btl tcp), 16 for matching (pml ob1)
BUSY = 0.05  # part of the busiest link's load from which a link is checked


@dataclass(frozen=True)
class Program:
    """A line of the table of programs.

    command : words; ``{inputs}`` and ``{folder}`` are folders, ``{python}`` this Python
    needs : (program or module that must be there, its package)
    results : pattern of the lines of the output that no placement may change
    tolerance : largest relative error of a link
    source : a file to compile with the compiler of MPI, and options
    """

    command: tuple[str, ...]
    needs: tuple[str, str]
    results: str
    tolerance: float
    source: tuple[str, ...] = ()


POINT_TO_POINT, COLLECTIVE = 0.05, 0.10
PROGRAMS = {
    "fftw": Program(("{folder}/fftw",), ("mpicc.openmpi", "libopenmpi-dev libfftw3-mpi-dev"), "^result: .*$", COLLECTIVE,
                    ("{inputs}/fftw.c", "-lfftw3_mpi", "-lfftw3", "-lm")),
    "mpi4py-fft": Program(("{python}", "-m", "mpi4py", "{inputs}/mpi4py_fft.txt"), ("mpi4py_fft", "mpi4py-fft"),
                          "^result: .*$", COLLECTIVE),
    "lammps": Program(("lmp", "-in", "{inputs}/lammps.in", "-log", "none", "-nocite"), ("lmp", "lammps"),
                      "^ +[0-9]+ +[-0-9.]+ .*$", POINT_TO_POINT),
    "qe": Program(("pw.x", "-ndiag", "1", "-in", "{inputs}/qe.in"), ("pw.x", "quantum-espresso quantum-espresso-data"),
                  "^! +total energy .*$", COLLECTIVE),
}


@dataclass(frozen=True)
class Row:
    """A run of a program.

    program, placement : str
        The placement is ``default``, ``best`` (by the launcher) or ``best, renumbered``.
    predicted_bytes, carried_bytes : float
        Of the busiest link: of the program's messages in all phases, and by the counters, with the headers of messages.
    ratios : list of float
        Carried over predicted bytes, both with the headers of messages, of the links above `BUSY` of the busiest.
    link_s : float
        Time of the links, by phases.
    measured_s : float
        The whole run, with its start.
    tolerance : float
    same_results : bool
        Whether the results are those of the traced run.
    """

    program: str
    placement: str
    predicted_bytes: float
    carried_bytes: float
    ratios: list[float]
    link_s: float
    measured_s: float
    tolerance: float
    same_results: bool

    @property
    def holds(self) -> bool:
        """Whether the links carried what was predicted, and the results are the same."""
        return self.same_results and max(abs(ratio - 1) for ratio in self.ratios) <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {**self.__dict__, "holds": self.holds}


def run_programs(network: EmulatedNetwork, names: Sequence[str],
                 timeout_s: float) -> list[tuple[list[Row], dict[str, Any]]]:
    """Return three rows for each program, and their record, see `pencilmap.mapper.programs`.

    Parameters
    ----------
    network : EmulatedNetwork
    names : sequence of str
        Of `PROGRAMS`.
    timeout_s : float
        Limit of each run.

    Raises
    ------
    UnavailableError
        If this machine cannot make such networks, or a program is missing.
    EmulationError
        If a run fails.
    """
    for name in names:
        program, package = PROGRAMS[name].needs
        if not is_there(program):
            raise UnavailableError(f"program {name} of the suite needs {program}; install {package}")
    check_available()
    with temporary_folder() as folder:
        return [_runs(network, name, folder, timeout_s) for name in names]


def is_there(needed: str) -> bool:
    """Return whether a program or a Python module is there.

    >>> is_there("sh"), is_there("numpy"), is_there("no.such")
    (True, True, False)
    """
    return shutil.which(needed) is not None or (needed.isidentifier() and find_spec(needed) is not None)


def _runs(network: EmulatedNetwork, name: str, folder: Path, timeout_s: float) -> tuple[list[Row], dict[str, Any]]:
    words = _command(PROGRAMS[name], folder)
    say(f"tracing {name}")
    traffic = _traced(words, network.network.n_nodes, folder, folder / f"{name}.txt")
    bandwidth = f"{network.payload_bytes_per_s:.17g} byte/s"
    placement = setting(network=network.text, bandwidth=bandwidth).program(traffic, routing=network.routing)
    launched, best = placement.mappings[0], placement.best[0]
    file = folder / f"{name}.hosts"
    write_mapping(best, file, "hostfile")
    library = ensure_built().directory / "lib" / "libpencilmap_place.so"
    moved = ["env", f"LD_PRELOAD={FOLDER / NAP}:{library}", f"PENCILMAP_PLACEMENT={file}", *words]
    runs = (("default", launched, launched, words), ("best", best, best, words),
            ("best, renumbered", best, launched, moved))
    job = network.job([{"name": f"{name}, {text}", "program": how, "hosts": hosts(at), "records": False}
                       for text, _, at, how in runs], timeout_s)
    done = run_boxed(job, timeout_s * (len(runs) + 1))
    rows = [_row(network, name, text, mapping, placement.traffic, run, done[0]["printed"])
            for (text, mapping, *_), run in zip(runs, done)]
    return rows, record_of(name, [replace(mapping, name=text) for text, mapping, *_ in runs], network.routing, bandwidth,
                           traffic.read_text("utf-8"),
                           [Measured(row.measured_s, (min(row.ratios), max(row.ratios))) for row in rows])


def _row(network: EmulatedNetwork, name: str, placement: str, mapping: Mapping, traffic: Traffic, run: dict[str, Any],
         printed: str) -> Row:
    program = PROGRAMS[name]
    rule = routing(network.routing, network.network)
    phases = [replace(phase, pairs=replace(phase.pairs, bytes=phase.pairs.bytes + HEADER * phase.pairs.messages))
              for phase in traffic.phases if phase.pairs.messages.any()]
    loads = [rule.loads(network.network, phase.exchange, mapping.ends) for phase in phases]
    links = check_links(network, run["sent_bytes"], loads, [], 1)
    most = max(link.predicted_bytes for link in links)
    results = [re.findall(program.results, text, re.MULTILINE) for text in (printed, run["printed"])]
    prediction = predict_program(mapping, traffic, network.routing)
    bare = largest_loads(network.network, rule.loads(network.network, traffic.total.exchange, mapping.ends))
    return Row(name, placement, bare, max(link.carried_bytes for link in links),
               [link.ratio for link in links if link.ratio is not None and link.predicted_bytes > BUSY * most],
               prediction.link_bytes / network.payload_bytes_per_s, run["seconds"], program.tolerance,
               results[0] == results[1] != [])


def _command(program: Program, folder: Path) -> list[str]:
    names = {"inputs": INPUTS, "folder": folder, "python": sys.executable}
    if program.source:
        source, *options = (word.format(**names) for word in program.source)
        done = subprocess.run(["mpicc.openmpi", "-O2", source, "-o", str(folder / Path(source).stem), *options],
                              capture_output=True, text=True)
        if done.returncode:
            raise UnavailableError(f"{Path(source).name} cannot be compiled: {tail(done.stderr, 5)}")
    return [word.format(**names) for word in program.command]


def _traced(words: Sequence[str], ranks: int, folder: Path, traffic: Path) -> Path:
    """Run a program here, in its launch order, and return the file of its traffic, a new one."""
    options = ("--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *COLLECTIVES)
    napping = ("sh", "-c", f'cd "$0" && LD_PRELOAD="$LD_PRELOAD:{build_nap(folder)}" exec "$@"', str(folder))
    launch = Launch(("mpirun.openmpi", *options, *napping, *words), 0, OPEN_MPI)
    printed = folder / "printed.txt"
    with open(printed, "w", encoding="utf-8") as output:
        result = trace(launch, library_for(launch), traffic, printed=output)
    if result.traffic is None or result.status:
        raise EmulationError(f"{words[0]} cannot be traced, exit status {result.status}; its output ends with\n"
                             f"{tail(printed.read_text('utf-8', 'replace'), 10)}")
    return traffic
