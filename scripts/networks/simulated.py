"""Run fft_runner on a simulated network: platform file, hostfile, smpirun, run records.

smpicc compiles the same C source that runs under mpirun. SimGrid moves the data between the ranks and keeps the clock. Our
platform plugin determines the links of each message: on a torus by its rule, on other networks from a table of routes
(`pencilmap.scripts.networks.routes`). fft_runner/simulated_network/README.md explains the settings.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np  # noqa: F401  (doctest)

from pencilmap.mapper.base.files import append_whole, check_appendable, temporary_folder
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.base.progress import say
from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.place import place, placed_lines
from pencilmap.mapper.runs.compare import TOPOLOGY
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.kinds import default_routing
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import PRECISIONS, type_of
from pencilmap.model.predict import answer
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import BACKWARD, DIRECTIONS, FORWARD, SEQUENCE
from pencilmap.scripts.networks.build import Build, ensure_built, tail
from pencilmap.scripts.networks.routes import routes_on, table_text

T = TypeVar("T")
ROUTES_FILE = "routes.txt"
PLATFORM_VARIABLE = "PENCILMAP_PLATFORM"
PACE_VARIABLE = "PENCILMAP_PACE"  # set if calls of FFTW take time
TIES = ("parity", "plus")
ENVELOPE_BYTES = 16  # SMPI adds these bytes to each message
FOLDED_BLOCK, LEAST_FOLDED = 1 << 20, 1 << 16  # bytes; smaller arrays may be tables of the runner
EVERY_MESSAGE = (1 << 31) - 1  # bytes; no message is longer
TIMEOUT_S = 600
POLL_S = 0.1

SETTINGS = (
    "--log=root.thresh:warning",
    "--cfg=network/model:CM02",  # links are shared; no correction factors, which SimGrid fitted to an Ethernet
    "--cfg=network/crosstraffic:0",  # no acknowledgements in the opposite direction
    "--cfg=network/TCP-gamma:1e20",  # no TCP window; 0 would stop every message that has a latency
    "--cfg=smpi/simulate-computation:no",  # computing takes no time, so that every run gives the same digits
    "--cfg=smpi/send-is-detached-thresh:0",  # the same times, four times faster: otherwise SimGrid searches long lists
    "--cfg=smpi/test:0",  # MPI_Test takes no time: progress during computing costs nothing; no loop may spin on MPI_Test
    "--cfg=smpi/alltoall:basic_linear",  # set explicitly, because the default depends on the message size
    "--cfg=smpi/gather:ompi_binomial",  # of the untimed report; the default sends all to one rank: 20 of 24 s of 512 ranks
    "--cfg=smpi/allgather:bruck",  # runs once a plan; the default sends P^2 messages: 90 % of the work of 512 ranks
)
ALLTOALLV = "ompi_basic_linear"  # posts all messages at once


class SimulationError(PencilmapError):
    """A simulation cannot run, did not finish, or gave wrong results."""


@dataclass(frozen=True)
class SimulatedNetwork:
    """A network with the other settings of the simulation.

    >>> from pencilmap.model.network.torus import Torus
    >>> print(SimulatedNetwork(Torus((8, 8), (True, False), (148e6, 2e9))).platform_text(), end="")
    shape = 8wx8
    bandwidth_bytes_per_s = 148000000.0 2000000000.0
    cables = 1 1
    latency_s = 0.0
    injection_bytes_per_s = 0.0
    tie = parity
    order = 0 1
    """

    network: Network  #: with bandwidth
    latency_s: float = 0.0  #: of a hop; a latency above 0 makes a simulation slightly slower
    injection_bytes_per_s: float = 0.0  #: limit of all bytes that a node sends, and also of all received bytes; 0 for none
    message_s: float = 0.0  #: seconds to start a message; a rank starts as many messages at a time as it has ports
    ports: int = 1  #: of a rank
    #: (bytes, seconds): a message of at least that many bytes takes that many seconds to start
    larger_messages: tuple[tuple[int, float], ...] = ()
    #: of a torus: "parity" or "plus"; the direction of a message that goes half way round: + from even and - from odd
    #: coordinates, or always +
    tie: str = "parity"
    #: of a torus: dimensions in the order in which messages are routed; the first dimension first by default
    order: tuple[int, ...] = ()
    rule: str = ""  #: routing of other networks; by default that of the kind of network
    file: str = ""  #: the file of the network, for records; none if the network has a short text
    #: operations per second of a rank, 5 n log2 n for a line of n elements; 0 if computing takes no time
    flops: float = 0.0

    def __post_init__(self) -> None:
        if self.network.bandwidth is None:
            raise SimulationError(f"{self.network.title} has no bandwidth; a simulation needs the bytes per second of a "
                                  "link")
        for name in ("latency_s", "injection_bytes_per_s", "message_s", "flops"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SimulationError(f"{name} {getattr(self, name)} must be 0 or above")
        if self.ports < 1:
            raise SimulationError(f"{self.ports} ports start no message; give 1 or more")
        if self.is_torus:
            self._check_torus()
        else:
            object.__setattr__(self, "rule", self.rule or default_routing(self.network))
            routes_on(self.network, self.rule)  # refuses rules without routes

    def _check_torus(self) -> None:
        dimensions = range(self.network.n_dimensions)
        if self.tie not in TIES:
            raise SimulationError(f"tie {self.tie!r} is unknown; known are {', '.join(TIES)}")
        object.__setattr__(self, "order", tuple(self.order or dimensions))
        if sorted(self.order) != list(dimensions):
            raise SimulationError(f"order {self.order} must name each dimension of torus {self.network} once, "
                                  f"0 to {self.network.n_dimensions - 1}")
        if self.rule:
            raise SimulationError(f"rule {self.rule} is for other networks than a torus; leave `routing` out, or take "
                                  "dimension-order")

    @property
    def is_torus(self) -> bool:
        """Whether the platform has its own rule for the routes; it reads the routes of other networks from a table."""
        return self.network.has_products

    @property
    def text(self) -> str:
        """The network as text for a record: its short text, or the file of its cables, empty if unknown."""
        return self.file or ("" if type(self.network) is GraphNetwork else str(self.network))

    @property
    def routing(self) -> str:
        """Name of the routing rule, see `pencilmap.model.routing`.

        >>> from pencilmap.model.network.torus import Torus
        >>> SimulatedNetwork(Torus((8, 8), bandwidth=(1e6, 1e6)), order=(1, 0)).routing
        'dimension-order:yx:parity'
        """
        if not self.is_torus:
            return self.rule
        return f"dimension-order:{''.join(self.network.axes[i] for i in self.order)}:{self.tie}"

    def platform_text(self) -> str:
        """Return the input of the platform plugin."""
        torus = self.network
        values = {"routes": ROUTES_FILE} if not self.is_torus else {
            "shape": str(as_torus(torus)),
            "bandwidth_bytes_per_s": " ".join(repr(b) for b in torus.bandwidth or ()),
            "cables": " ".join(str(c) for c in as_torus(torus).cables),
            "latency_s": repr(float(self.latency_s)),
            "injection_bytes_per_s": repr(float(self.injection_bytes_per_s)),
            "tie": self.tie,
            "order": " ".join(str(d) for d in self.order),
        }
        if self.message_s or self.larger_messages:
            larger = [f"{size}:{start!r}" for size, start in self.larger_messages]
            values["message_s"] = " ".join([repr(self.message_s), *larger])
            values["ports"] = str(self.ports)
        if self.flops:
            values["speed_flops"] = repr(float(self.flops))
        return "".join(f"{key} = {value}\n" for key, value in values.items())

    def files(self, host_of_rank: Sequence[str]) -> dict[str, str]:
        """Return names and texts of the files for smpirun: platform, hosts, and routes unless the network is a torus."""
        found = {"platform.txt": self.platform_text(), "hosts.txt": "".join(host + "\n" for host in host_of_rank)}
        if not self.is_torus:
            ends = {host: self.end_of(host) for host in dict.fromkeys(host_of_rank)}
            nodes = {end: end // self.ends_per_node for end in ends.values()}
            found[ROUTES_FILE] = table_text(routes_on(self.network, self.rule), ends, nodes, self.latency_s,
                                            self.injection_bytes_per_s)
        return found

    def hosts(self, mapping: Mapping) -> list[str]:
        """Return the simulated host of each rank: its node, or its link of the node if each task uses one link.

        >>> from pencilmap.model.kinds import network_named
        >>> tree = network_named("fat-tree:leaves=2,hosts=2,up=1,links=2,use=task", bandwidth="1 GB/s")
        >>> ranks = np.arange(4)
        >>> SimulatedNetwork(tree).hosts(Mapping(tree, ProcessGrid(2, 2), 2, ranks // 2, ranks % 2))
        ['n0000-00.0', 'n0000-00.1', 'n0000-01.0', 'n0000-01.1']
        """
        names, L = hosts(mapping), self.ends_per_node
        return names if L == 1 else [f"{name}.{slot % L}" for name, slot in zip(names, mapping.slot_of_rank.tolist())]

    def first_hosts(self, count: int) -> list[str]:
        """Return the names of the first hosts, in the order of their numbers."""
        return self._names.names(range(count))

    def end_of(self, host: str) -> int:
        """Return the number of a simulated host: its node, or its link.

        Raises
        ------
        SimulationError
            If the network has no such host.
        """
        name, dot, link = host.partition(".") if self.ends_per_node > 1 else (host, "", "")
        node = self._names.node(name)
        wrong_link = dot and not (link.isdecimal() and int(link) < self.ends_per_node)
        if node is None or self._names.names([node])[0] != name or wrong_link:
            raise SimulationError(f"host {host[:40]!r} is not a host of {self.network.title}: {self._names.why_not(name)}")
        return node * self.ends_per_node + int(link or 0)

    @cached_property
    def _names(self) -> Hosts:
        return Hosts(self.network)

    @property
    def ends_per_node(self) -> int:
        """Simulated hosts of a node: one for each link if each task uses one link."""
        return self.network.ends_per_node


@dataclass(frozen=True)
class Simulation:
    """A run of fft_runner on a simulated network; invalid settings raise SimulationError."""

    network: SimulatedNetwork
    #: host of each launched rank, e.g. ``node-3-0-7``; `pencilmap.mapper.formats.hostfile.hosts` lists the hosts
    host_of_rank: Sequence[str]
    size: Sequence[int]  #: nx, ny, nz
    grid: ProcessGrid
    #: the fields from here to `labels` are the options of fft_runner. With a mapfile, fft_runner itself assigns the launched
    #: ranks to the grid ranks
    type: str = "c2c"
    precision: str = "double"
    exchange: str = "alltoallv"
    schedule: str = SEQUENCE
    fields: int = 1
    direction: str = FORWARD
    reps: int = 1
    warmup: int = 0
    verify: bool = False
    mapfile: Path | None = None
    labels: dict[str, str] = field(default_factory=dict)
    #: all ranks share the memory of their large buffers: large transforms fit and times stay correct, but the data is lost
    timing_only: bool = False
    algorithm: str = ALLTOALLV  #: SimGrid's name of the algorithm for MPI_Alltoallv
    halo: int = 0  #: planes of a halo that is timed as well
    skip: str = ""  #: axes without transform, to time only the exchanges
    line: LineProblem | None = None  #: distributed lines; then `size` is the size of the lines
    usage_path: Path | None = None  #: file for the messages and bytes of each link: start, link, messages, bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "host_of_rank", tuple(self.host_of_rank))
        object.__setattr__(self, "size", tuple(self.size))
        object.__setattr__(self, "labels", {"network": "simulated", **self.labels})
        if self.timing_only and self.verify:
            raise SimulationError("timing_only loses the data, so there is nothing to verify; use one of the two")
        if self.exchange == "put" and (self.network.message_s or self.network.larger_messages):
            raise SimulationError("SimGrid cannot charge the start of a one-sided message, so exchange put would be too "
                                  "fast; give no cost of a message, or another exchange")
        if self.direction not in DIRECTIONS:
            raise SimulationError(f"direction {self.direction!r} is unknown; known are {', '.join(DIRECTIONS)}")
        _check_hosts(self.host_of_rank, self.network, self.grid)
        for word in (self.exchange, self.schedule, self.algorithm, *_label_options(self.labels)):
            if not re.fullmatch(r"[\w.,:;+=/@%~^-]+", word):  # the shell script smpirun splits and expands words
                raise SimulationError(f"{word!r} cannot be passed through smpirun; use letters, digits and .,:;+=/@%~^-")

    @property
    def name(self) -> str:
        """Describe the run in a line for progress messages."""
        size = "x".join(str(n) for n in self.size)
        placement = f", {self.labels['placement']}" if "placement" in self.labels else ""
        schedule = f", {self.schedule}" if self.schedule != SEQUENCE else ""
        if self.line:
            return f"{self.line.title} on {self.network.network}, by {self.line.algorithm}{placement}"
        return f"{size} on {self.network.network}, {self.grid}{placement}{schedule}"

    @property
    def tasks_per_node(self) -> int:
        ends = self.network.ends_per_node
        return max(Counter(host.rpartition(".")[0] if ends > 1 else host for host in self.host_of_rank).values())

    @property
    def bytes_per_rank(self) -> int:
        """Return the bytes of a rank's smallest array: the real array if the transform has real input."""
        kinds = type_of(self.type)
        parts = 1 if kinds.half else kinds.parts
        return PRECISIONS[self.precision] * parts * prod(self.size) * self.fields // self.grid.n_tasks


def simulation_of(where: Question, network: SimulatedNetwork, grid: ProcessGrid, placement: str, schedule: str = SEQUENCE,
                  **options: Any) -> Simulation:
    """Return the simulation of a placement, launched by a hostfile; its labels name the prediction.

    The model chooses every part that the schedule leaves open, so that the runner gets a complete schedule.
    """
    question = replace(where, routing=network.routing, schedule=schedule)
    placed = place(question, placement, grid)
    mapping, labels = placed.mapping(placement), _labels(where, network, placement)
    if where.transform is None:
        raise SimulationError("a simulation transforms an array: give its extents with `fft`, e.g. 64")
    size = (where.transform.nx, where.transform.ny, where.transform.nz)
    if schedule != SEQUENCE:
        forecast = answer(question, placed).schedule
        schedule = forecast.name if forecast else schedule
    return Simulation(network, network.hosts(mapping), size, grid, where.transform.type, where.transform.precision,
                      labels=labels, fields=where.transform.fields, schedule=schedule,
                      direction=BACKWARD if where.transform.backward else where.direction, **options)


def simulation_of_lines(where: Question, network: SimulatedNetwork, placement: str, problem: LineProblem,
                        **options: Any) -> Simulation:
    """Return the simulation of distributed lines over all slots, with the labels of `simulation_of`."""
    mapping = placed_lines(where, problem, placement)
    return Simulation(network, network.hosts(mapping), problem.size, mapping.grid, precision=problem.precision,
                      fields=problem.fields, labels=_labels(where, network, placement), line=problem, **options)


def _labels(where: Question, network: SimulatedNetwork, placement: str) -> dict[str, str]:
    """Return labels from which the prediction of a run can be computed again."""
    rates = network.network.bandwidth or ()
    rates = rates[:1] if len(set(rates)) == 1 else rates
    more = {TOPOLOGY: "" if network.is_torus else network.text, "machine": where.machine,
            "injection_per_node": network.injection_bytes_per_s and f"{network.injection_bytes_per_s:.17g}byte/s",
            "message_cost": network.message_s and f"{network.message_s:.17g}s",
            "ports": str(network.ports) if network.ports > 1 else "",
            "hop_latency": network.latency_s and f"{network.latency_s:.17g}s"}
    return {"placement": placement, "link_bandwidth": ",".join(f"{rate:.17g}byte/s" for rate in rates),
            "routing": network.routing} | {name: value for name, value in more.items() if value}


def simulate(simulation: Simulation, timeout_s: float = TIMEOUT_S) -> list[dict[str, Any]]:
    """Run a simulation and return its records, see `simulate_all`."""
    return simulate_all([simulation], timeout_s=timeout_s)[0]


def simulate_all(simulations: Sequence[Simulation], *, json_path: str | PathLike[str] | None = None,
                 timeout_s: float = TIMEOUT_S, workers: int | None = None) -> list[list[dict[str, Any]]]:
    """Run simulations in parallel, because each uses a single thread; when one fails, all end.

    Parameters
    ----------
    json_path
        File to which all records are appended, in the order of `simulations`, when every simulation has succeeded.
    timeout_s
        Limit of each simulation, in wall-clock seconds.
    workers
        Simulations at a time; by default, the number of processors that this process may use.

    Returns
    -------
    list of list of dict
        The records of each simulation.

    Raises
    ------
    SimulationError
        If a simulation fails, with the end of its output.
    """
    if json_path is not None:
        check_appendable(json_path, SimulationError)
    build, number = ensure_built(), len(simulations)
    texts = in_parallel(lambda k, cancelled: _run(simulations[k], build, timeout_s, cancelled, k / number), number,
                        workers or len(os.sched_getaffinity(0)))
    if json_path is not None:
        append_whole(json_path, "".join(texts), SimulationError)
    return [_records(text) for text in texts]


def in_parallel(run: Callable[[int, threading.Event], T], number: int, workers: int) -> list[T]:
    """Return ``run(k, cancelled)`` of each k below `number`, `workers` at a time; when one fails, all are cancelled."""
    cancelled = threading.Event()
    with _termination_as_exit(), ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            runs = [pool.submit(copy_context().run, run, k, cancelled) for k in range(number)]
            for done in wait(runs, return_when=FIRST_EXCEPTION).done:
                done.result()
        except BaseException:
            cancelled.set()  # also for KeyboardInterrupt: the pool waits until every child process is dead
            raise
    return [done.result() for done in runs]


# ---- checks ----------------------------------------------------------------------------------------------------------


def _check_hosts(host_of_rank: Sequence[str], simulated: SimulatedNetwork, grid: ProcessGrid) -> None:
    if len(host_of_rank) != grid.n_tasks:
        # SimGrid would silently start again at the first host
        raise SimulationError(f"{len(host_of_rank)} hosts are given for the {grid.n_tasks} ranks of grid {grid}; "
                              "one for each rank is needed")
    torus = simulated.network
    if not simulated.is_torus:
        for host in set(host_of_rank):
            simulated.end_of(host)
        return
    for rank, host in enumerate(host_of_rank):
        match = re.fullmatch(r"node((?:-\d{1,9})+)", host)
        coordinate = [int(c) for c in match[1].split("-")[1:]] if match else []
        if len(coordinate) != torus.n_dimensions or host != "node-" + "-".join(map(str, coordinate)):
            raise SimulationError(f"host {host[:40]!r} of rank {rank} is not a node of torus {torus}; its nodes are named "
                                  f"node-{'-'.join('0' * torus.n_dimensions)} and so on")
        if problem := torus.outside(coordinate):
            raise SimulationError(f"rank {rank}: {problem}")


# ---- one run ---------------------------------------------------------------------------------------------------------


def _run(simulation: Simulation, build: Build, timeout_s: float, cancelled: threading.Event, share: float = 0.0) -> str:
    """Run one simulation and return the text of its records."""
    if cancelled.is_set():
        raise SimulationError("given up, because another simulation failed")
    with work_directory() as work:
        _write_inputs(simulation, work)
        say(f"simulating {simulation.name}", share)
        start = time.monotonic()
        status = wait_for(_command(simulation, build), work, timeout_s, cancelled)
        say(f"simulated {simulation.name} in {time.monotonic() - start:.1f} s")
        return _collect(simulation, work, status)


@contextmanager
def work_directory() -> Iterator[Path]:
    """Yield a temporary directory for a run; its path has no blanks, because smpirun splits paths at blanks."""
    parent = tempfile.gettempdir()
    with temporary_folder("/tmp" if re.search(r"[^\w./-]", parent) else None) as work:
        yield work


def _write_inputs(simulation: Simulation, work: Path) -> None:
    usage = "usage_file = link_usage.txt\n" if simulation.usage_path else ""
    for name, text in simulation.network.files(simulation.host_of_rank).items():
        (work / name).write_text(text + (usage if name == "platform.txt" else ""))
    if simulation.mapfile:
        try:
            shutil.copyfile(simulation.mapfile, work / _mapfile_name(simulation.mapfile))
        except OSError as error:
            raise SimulationError(f"mapfile {simulation.mapfile} cannot be read: {error.strerror}") from error


def _mapfile_name(mapfile: Path) -> str:
    """Return the name of the mapfile without blanks, because a blank would end the name in the record."""
    return re.sub(r"[^\w.-]", "_", Path(mapfile).name)


def _command(simulation: Simulation, build: Build) -> list[str]:
    settings = [f"--cfg=smpi/alltoallv:{simulation.algorithm}"]
    if simulation.timing_only and simulation.bytes_per_rank >= LEAST_FOLDED:
        # Fold the buffers of the transform, but not the smaller tables, which differ between ranks. The blocks are as large
        # as the buffers, because each block is a mapping and Linux allows a process 65530 mappings.
        block = -(-simulation.bytes_per_rank // FOLDED_BLOCK) * FOLDED_BLOCK
        settings += [f"--cfg=smpi/auto-shared-malloc-thresh:{simulation.bytes_per_rank}",
                     f"--cfg=smpi/shared-malloc-blocksize:{block}"]
    return smpirun(simulation.network, simulation.grid.n_tasks, build, settings, build.program("fft_runner_smpi"),
                   _runner_options(simulation))


def smpirun(network: SimulatedNetwork, n_ranks: int, build: Build, settings: Iterable[str], program: Path,
            options: Iterable[str]) -> list[str]:
    """Return the command for a program in a folder with ``platform.txt`` and ``hosts.txt``."""
    settings = [*SETTINGS, *settings]
    if network.message_s or network.larger_messages:
        settings += [f"--cfg=smpi/send-is-detached-thresh:{EVERY_MESSAGE}"]  # otherwise sends of MPI_Startall cost nothing
    paced = ["env", f"{PACE_VARIABLE}=1"] if network.flops else []
    return [*paced, "smpirun", "-quiet", "-np", str(n_ranks), "-platform", str(build.platform), "-hostfile", "hosts.txt",
            *settings, str(program), *options]


def _runner_options(run: Simulation) -> list[str]:
    options = {"--size": run.size, "--precision": [run.precision], "--decomposition": [run.grid.decomposition.name],
               "--grid": [run.grid], "--exchange": [run.exchange], "--direction": [run.direction], "--reps": [run.reps],
               "--warmup": [run.warmup], "--json": ["records.jsonl"], "--tasks-per-node": [run.tasks_per_node],
               "--rigor": ["estimate"], "--sync": ["clock"]}
    if run.network.is_torus:
        options |= {"--machine-torus": [str(as_torus(run.network.network))], "--coordinates": ["hostname"]}
    if run.line:
        del options["--exchange"], options["--grid"]
        options |= {"--decomposition": [run.line.decomposition], "--algorithm": [run.line.algorithm],
                    "--order": [run.line.order]}
    unusual = {"--type": (run.type, "c2c"), "--schedule": (run.schedule, SEQUENCE), "--halo": (run.halo, 0),
               "--skip": (run.skip, ""), "--fields": (run.fields, 1),
               "--mapfile": (run.mapfile and _mapfile_name(run.mapfile), None)}
    options |= {option: [value] for option, (value, usual) in unusual.items() if value != usual}
    words = [str(word) for option, values in options.items() for word in (option, *values)]
    labels = [word for label in _label_options(run.labels) for word in ("--label", label)]
    return words + labels + ["--verify"] * run.verify


def _label_options(labels: dict[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in labels.items()]


def wait_for(command: list[str], work: Path, timeout_s: float, cancelled: threading.Event) -> int:
    """Run a command in `work` and return its exit status; kill its whole process group when the wait ends."""
    environment = os.environ | {PLATFORM_VARIABLE: "platform.txt", "TMPDIR": str(work)}
    deadline = time.monotonic() + timeout_s
    with open(work / "output.txt", "wb") as output:
        process = subprocess.Popen(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    try:
        while process.poll() is None:
            if cancelled.wait(POLL_S):
                raise SimulationError("given up, because another simulation failed or the run was interrupted")
            if time.monotonic() > deadline:
                raise SimulationError(f"the simulation did not finish within {timeout_s:g} s{output_of(work)}")
        return process.returncode
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _collect(simulation: Simulation, work: Path, status: int) -> str:
    records = work / "records.jsonl"
    if status != 0:
        raise SimulationError(f"the runner failed on the simulated network, exit status {status}{output_of(work)}")
    if not records.is_file() or not records.stat().st_size:
        raise SimulationError(f"the runner wrote no record{output_of(work)}")
    if simulation.usage_path:
        shutil.copyfile(work / "link_usage.txt", simulation.usage_path)
    return records.read_text()


def output_of(work: Path) -> str:
    """Return the end of the output, without the line that SimGrid adds for every rank that failed."""
    lines = (work / "output.txt").read_text(errors="replace").splitlines()
    return "; its output ends with\n" + tail("\n".join(line for line in lines
                                                       if "SMPI process did not return 0" not in line))


def _records(text: str) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in text.splitlines() if line]
    except json.JSONDecodeError as error:
        raise SimulationError(f"the runner wrote a record that is not JSON: {error}") from error


@contextmanager
def _termination_as_exit() -> Iterator[None]:
    """Raise an exception on SIGTERM while simulations run, so that the simulations end too."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def leave(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
