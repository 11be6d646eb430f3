"""Programs of others on an emulated network, unchanged: traced, predicted, placed, and run again.

Each program is traced here, in its launch order. The model predicts the bytes of each link for the launch order and for the
best placement. Then the program runs on the network three times: in its launch order, placed by the launcher's file, and
launched as before but renumbered by libpencilmap_place.so. The counters of the links are compared with the predictions.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.mapper.base.progress import say
from pencilmap.mapper.formats import write_mapping
from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.program_records import Measured, record_of
from pencilmap.mapper.setting import setting
from pencilmap.model.kinds import routing
from pencilmap.model.predict.program import predict_program
from pencilmap.model.routing.routes import largest_loads
from pencilmap.scripts.networks.build import ensure_built, tail
from pencilmap.scripts.networks.namespaces.box import UnavailableError, check_available, run_boxed
from pencilmap.scripts.networks.namespaces.inside import COLLECTIVES, FOLDER, NAP, build_nap
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork, EmulationError, check_links
from pencilmap.scripts.networks.tracer import OPEN_MPI, Launch, library_for, trace

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
    """Return three rows for each program, and their record, see `pencilmap.mapper.program_records`.

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
        _check_there(name)
    check_available()
    with temporary_folder() as folder:
        return [_runs(network, name, folder, timeout_s) for name in names]


def is_there(needed: str) -> bool:
    """Return whether a program or a Python module is there.

    >>> is_there("sh"), is_there("numpy"), is_there("no.such")
    (True, True, False)
    """
    return shutil.which(needed) is not None or (needed.isidentifier() and find_spec(needed) is not None)


def _check_there(name):
    program, package = PROGRAMS[name].needs
    if not is_there(program):
        raise UnavailableError(f"program {name} of the suite needs {program}; install {package}")


def _runs(network, name, folder, timeout_s):
    words = _command(PROGRAMS[name], folder)
    say(f"tracing {name}")
    traffic = _traced(words, network.network.n_nodes, folder)
    bandwidth = f"{network.payload_bytes_per_s:.17g} byte/s"
    placed = setting(network=network.text, bandwidth=bandwidth).program(traffic, routing=network.routing)
    launched, best = placed.mappings[0], placed.best[0]
    file = folder / f"{name}.hosts"
    write_mapping(best, file, "hostfile")
    library = ensure_built().directory / "lib" / "libpencilmap_place.so"
    moved = ["env", f"LD_PRELOAD={FOLDER / NAP}:{library}", f"PENCILMAP_PLACEMENT={file}", *words]
    runs = (("default", launched, launched, words), ("best", best, best, words),
            ("best, renumbered", best, launched, moved))
    job = network.job([{"name": f"{name}, {text}", "program": how, "hosts": hosts(at), "records": False}
                       for text, _, at, how in runs], timeout_s)
    done = run_boxed(job, timeout_s * (len(runs) + 1))
    rows = [_row(network, name, text, mapping, placed.traffic, run, done[0]["printed"])
            for (text, mapping, *_), run in zip(runs, done)]
    return rows, record_of(name, [replace(mapping, name=text) for text, mapping, *_ in runs], network.routing, bandwidth,
                           traffic.read_text("utf-8"),
                           [Measured(row.measured_s, (min(row.ratios), max(row.ratios))) for row in rows])


def _row(network, name, placement, mapping, traffic, run, printed):
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


def _command(program, folder):
    names = {"inputs": INPUTS, "folder": folder, "python": sys.executable}
    if program.source:
        source, *options = (word.format(**names) for word in program.source)
        done = subprocess.run(["mpicc.openmpi", "-O2", source, "-o", str(folder / Path(source).stem), *options],
                              capture_output=True, text=True)
        if done.returncode:
            raise UnavailableError(f"{Path(source).name} cannot be compiled: {tail(done.stderr, 5)}")
    return [word.format(**names) for word in program.command]


def _traced(words, ranks, folder):
    """Run a program here, in its launch order, and return the file of its traffic."""
    options = ("--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *COLLECTIVES)
    napping = ("sh", "-c", f'cd "$0" && LD_PRELOAD="$LD_PRELOAD:{build_nap(folder)}" exec "$@"', str(folder))
    launch = Launch(("mpirun.openmpi", *options, *napping, *words), 0, OPEN_MPI)
    traffic, printed = folder / "traffic.txt", folder / "printed.txt"
    with open(printed, "w", encoding="utf-8") as output:
        found = trace(launch, library_for(launch), traffic, printed=output)
    if found.traffic is None or found.status:
        raise EmulationError(f"{words[0]} cannot be traced, exit status {found.status}; its output ends with\n"
                             f"{tail(printed.read_text('utf-8', 'replace'), 10)}")
    return traffic
