"""Run the library's programs under mpirun here, or on simulated networks."""

import ctypes
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from statistics import median

from pencilmap.mapper.base.files import append_whole, check_appendable, temporary_folder
from pencilmap.mapper.base.progress import say
from pencilmap.mapper.runs.probes import read_probes
from pencilmap.mapper.runs.records import Record, read_records
from pencilmap.mapper.studies.transposes import Case, read_transposes
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import read_whole
from pencilmap.model.machines.probe import Probe
from pencilmap.model.network.torus import as_torus
from pencilmap.scripts.networks.build import built_for_mpich, ensure_built, tail
from pencilmap.scripts.networks.simulated import (
    ALLTOALLV,
    TIMEOUT_S,
    SimulatedNetwork,
    SimulationError,
    in_parallel,
    output_of,
    smpirun,
    wait_for,
    work_directory,
)

MPIRUN_TIMEOUT_S = 300
OPEN_MPI, MPICH = "Open MPI", "MPICH"
FFTW_FORWARD, FFTW_MEASURE = -1, 0


class MeasureError(PencilmapError):
    """A program cannot run here, or failed."""


def transposes(ranks: int, groups: Sequence[int], sizes: Sequence[int], exchanges: Sequence[str],
               reps: int = 20) -> list[Case]:
    """Return the measurements of transpose_bench under Open MPI, see `transposes_in_turn`."""
    return transposes_in_turn(ranks, groups, sizes, exchanges, (OPEN_MPI,), reps, rounds=1)[OPEN_MPI]


def transposes_in_turn(ranks: int, groups: Sequence[int], sizes: Sequence[int], exchanges: Sequence[str],
                       mpis: Sequence[str], reps: int = 20, rounds: int = 3) -> dict[str, list[Case]]:
    """Return the measurements of transpose_bench under each MPI. The MPIs take turns; a time is the median of the rounds.

    Parameters
    ----------
    ranks, groups
        Number of MPI ranks, and ranks of each group.
    sizes
        Message sizes, in bytes.
    exchanges
        Names of exchange algorithms.
    mpis
        Of `OPEN_MPI` and `MPICH`.
    reps, rounds
        Repetitions of each measurement, and rounds.

    Raises
    ------
    MeasureError
        If an MPI is not installed.
    """
    with temporary_folder() as folder:
        for number in range(rounds):
            for turn, mpi in enumerate(mpis):
                say(f"transposes under {mpi}, round {number + 1} of {rounds}", (number + turn / len(mpis)) / rounds)
                _mpirun("transpose_bench", ranks, "--ranks", _listed(groups), "--bytes", _listed(sizes), "--exchange",
                        _listed(exchanges), "--reps", reps, "--json", Path(folder) / mpi, mpi=mpi)
        return {mpi: read_transposes(Path(folder) / mpi) for mpi in mpis}


def probe_here(sizes: Sequence[int], ranks: int = 2, mpi: str = OPEN_MPI) -> Probe:
    """Return the times of network_probe between ranks of this machine. Each rank stands for a node.

    Parameters
    ----------
    sizes
        Message sizes, in bytes.
    ranks
        Number of MPI ranks.
    mpi
        `OPEN_MPI` or `MPICH`.
    """
    with temporary_folder() as folder:
        path = Path(folder) / "probe.jsonl"
        _mpirun("network_probe", ranks, "--bytes", _listed(sizes), "--json", path, mpi=mpi)
        return read_probes([path])


def has_mpich() -> bool:
    """Return whether MPICH is installed beside Open MPI, with its compiler."""
    return all(shutil.which(name) for name in ("mpicc.mpich", "mpiexec.mpich"))


def transforms(ranks: int, size: Sequence[int], grids: Sequence[str], *options: str, reps: int = 20) -> list[Record]:
    """Return a run record of fft_runner for each grid."""
    with temporary_folder() as folder:
        path = Path(folder) / "runs.jsonl"
        for grid in grids:
            _mpirun("fft_runner", ranks, "--size", *size, "--grid", grid, "--reps", reps, *options, "--json", path)
        return read_records(path)


def ewald_s(ranks: int, *options: str) -> dict[str, float]:
    """Return the seconds of each part of a particle-mesh Ewald sum by pme_c, of the slowest rank; "total" is the sum."""
    return parts_of(_mpirun("pme_c", ranks, *options))


def parts_of(output: str) -> dict[str, float]:
    """Return the seconds of each part from the output of pme_c.

    >>> parts_of("energy -1.5\\nspread 2.500 ms\\ntotal 4.000 ms")
    {'spread': 0.0025, 'total': 0.004}
    """
    lines = [line.split() for line in output.splitlines()]
    return {words[0]: float(words[1]) / 1e3 for words in lines if len(words) == 3 and words[2] == "ms"}


def serial_fftw_s(n: int) -> float:
    """Return the median seconds of a serial FFTW call for n^3 complex doubles, out of place, planned by measuring."""
    library = find_library("fftw3")
    if library is None:
        raise MeasureError("FFTW is not installed here, so nothing can be compared with it: apt-get install libfftw3-dev")
    fftw = ctypes.CDLL(library)
    fftw.fftw_malloc.restype = fftw.fftw_plan_dft_3d.restype = ctypes.c_void_p
    given, result = (ctypes.c_void_p(fftw.fftw_malloc(ctypes.c_size_t(16 * n**3))) for _ in range(2))
    plan = ctypes.c_void_p(fftw.fftw_plan_dft_3d(n, n, n, given, result, FFTW_FORWARD, FFTW_MEASURE))
    ctypes.memset(given, 0, 16 * n**3)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        fftw.fftw_execute(plan)
        times.append(time.perf_counter() - start)
    fftw.fftw_destroy_plan(plan)
    fftw.fftw_free(given)
    fftw.fftw_free(result)
    return median(times)


def _listed(values: Sequence[int] | Sequence[str]) -> str:
    return ",".join(map(str, values))


def _mpirun(program: str, ranks: int, *words: int | str | Path, mpi: str = OPEN_MPI) -> str:
    if mpi == MPICH:
        if not has_mpich():
            raise MeasureError("MPICH is not installed here, so nothing can be compared with it: apt-get install mpich "
                               "libmpich-dev")
        command = ["mpiexec.mpich", "-n", str(ranks), str(built_for_mpich() / program)]
    else:
        starter = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
        if starter is None:
            raise MeasureError("mpirun is not installed here, so nothing can be measured: apt-get install openmpi-bin")
        command = [starter, "-n", str(ranks), "--oversubscribe", str(ensure_built().program(program))]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=MPIRUN_TIMEOUT_S,
                              env=environment)
    except subprocess.TimeoutExpired as error:
        raise MeasureError(f"{program} did not end within {MPIRUN_TIMEOUT_S} s") from error
    if done.returncode:
        raise MeasureError(f"{program} failed; its output ends with\n{tail(done.stdout + done.stderr)}")
    return done.stdout


# Run network_probe and the particle-mesh Ewald example pme_c on simulated networks, whose parameters are known.
#
# The calls of FFTW take time if the network has a rate (`SimulatedNetwork.flops`). Spreading, gathering and the direct part
# of pme_c take none, and the direct ranks send no messages. So one run gives the time of the reciprocal part on R ranks,
# beside any number of direct ranks.

ROUNDS = "3"  # the ranks leave a barrier one after the other; several rounds reduce that error


def simulate_probe(network: SimulatedNetwork, json_path: str | PathLike[str], sizes: Sequence[int] = (), at_once: int = 16,
                   timeout_s: float = TIMEOUT_S) -> None:
    """Probe a network with a task on each node and append the result to a file of JSON lines.

    `sizes` are bytes of messages, by default the sizes of the program. At most `at_once` messages leave a node at once.

    Raises
    ------
    SimulationError
        If the program fails, with the end of its output.
    """
    check_appendable(json_path, SimulationError)
    build, torus = ensure_built(), as_torus(network.network)
    options = ["--machine-torus", str(torus), "--coordinates", "hostname", "--tasks-per-node", "1",
               "--at-once", str(at_once), "--reps", "1", "--rounds", ROUNDS, "--warmup", "1", "--label",
               f"routing={network.routing}", "--label", "network=simulated", "--json", "probe.jsonl",
               *(["--bytes", ",".join(map(str, sizes))] if sizes else [])]
    say(f"probing {torus}")
    command = smpirun(network, torus.n_nodes, build, (), build.program("network_probe_smpi"), options)
    text = _ran("network_probe", network, torus.n_nodes, command, timeout_s, threading.Event(), "probe.jsonl")
    append_whole(json_path, text, SimulationError)


def _ran(name: str, network: SimulatedNetwork, ranks: int, command: list[str], timeout_s: float, cancelled: threading.Event,
         result: str = "output.txt") -> str:
    """Run a command on the first hosts of a network and return the text of a file that it writes."""
    with work_directory() as work:
        for file, text in network.files(network.first_hosts(ranks)).items():
            (work / file).write_text(text)
        status = wait_for(command, work, timeout_s, cancelled)
        if status != 0 or not (work / result).is_file():
            raise SimulationError(f"{name} failed on the simulated network, exit status {status}{output_of(work)}")
        return read_whole(work / result, SimulationError).decode()


WORKERS = 2


@dataclass(frozen=True)
class EwaldRun:
    """A run of pme_c: `reciprocal` ranks for the mesh and one direct rank, each on a host of its own."""

    network: SimulatedNetwork
    reciprocal: int
    options: tuple[str, ...]  #: of pme_c


def simulate_ewald(runs: Sequence[EwaldRun]) -> list[dict[str, float]]:
    """Return the seconds of each part of pme_c, of the slowest rank, for each run; "total" is the whole reciprocal part.

    Raises
    ------
    SimulationError
        If a run fails, with the end of its output. The other runs end, too.
    """
    build = ensure_built()

    def seconds(number: int, cancelled: threading.Event) -> dict[str, float]:
        run = runs[number]
        say(f"simulating pme_c with {run.reciprocal} reciprocal ranks", number / len(runs))
        ranks, hosts = run.reciprocal + 1, run.network.network.n_nodes
        if hosts < ranks:
            raise SimulationError(f"{ranks} ranks on {hosts} hosts; give a network with a host for each")
        command = smpirun(run.network, ranks, build, [f"--cfg=smpi/alltoallv:{ALLTOALLV}"], build.program("pme_smpi"),
                          [*run.options, "--steps", "1", "--reciprocal-ranks", str(run.reciprocal)])
        return parts_of(_ran("pme_c", run.network, ranks, command, TIMEOUT_S, cancelled))

    return in_parallel(seconds, len(runs), WORKERS)
