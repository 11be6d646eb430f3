"""Run an unchanged MPI program with the tracer: find its MPI library, load the tracer into its ranks, and read the result.

The tracer must have been built for the MPI library of the program. It is taken from the build folder, or compiled with the
compiler of MPI that lies beside the launcher.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np

from pencilmap.mapper.base.files import check_writable, temporary_folder, write_whole
from pencilmap.mapper.base.progress import say
from pencilmap.mapper.traffic_files import read_traffic, traced
from pencilmap.model.base.errors import PencilmapError, TrafficError
from pencilmap.model.base.reading import note_input, read_whole
from pencilmap.model.traffic.program import MEASURED, ONE_SIDED, POINT, STATED, Pairs, Traffic, joined, pairs_of
from pencilmap.scripts.networks.build import find_build, tail

OPEN_MPI, MPICH = "Open MPI", "MPICH"
UNTIL = "the messages until the program ended, without MPI_Finalize"
LIBRARY = "libpencilmap_traffic.so"
_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)([.\-].*)?")
_SAYS = {OPEN_MPI: r"Open MPI|OpenRTE|PRRTE", MPICH: r"HYDRA|MPICH|Intel\(R\) MPI|MVAPICH"}
_LIBRARIES = {OPEN_MPI: r"libmpi\.so\.[48]\d", MPICH: r"libmpich\.so\.\d+|libmpi\.so\.12"}
_MONITORING = {"pml_monitoring_enable": "2", "pml_monitoring_enable_output": "3"}
_TIMEOUT_S, _SAME_SIGNAL_S, _END_S, _LATE_S = 60, 2, 10, 3


@dataclass(frozen=True)
class Launch:
    """A launch line and its MPI library.

    launcher : position of mpirun or mpiexec, None for another launcher (srun), which passes its environment on
    mpi : `OPEN_MPI` or `MPICH`
    """

    command: tuple[str, ...]
    launcher: int | None
    mpi: str


@dataclass(frozen=True)
class Traced:
    """What came of a run: its exit status, and the traffic if all ranks came to MPI_Finalize or wrote theirs before."""

    status: int
    traffic: Traffic | None
    cut: bool = False  #: the program did not come to MPI_Finalize
    measured: bool = False  #: the messages inside collectives were counted by the MPI library
    problem: str = ""  #: why these counts cannot be used


# ---- the MPI library --------------------------------------------------------------------------------------------------


def understand(command: Sequence[str]) -> Launch:
    """Return the launcher and the MPI library of a command.

    Raises
    ------
    TrafficError
        If there is no such program, no MPI library is found, or launcher and program have different ones.
    """
    if not shutil.which(command[0]):
        raise TrafficError(f"{command[0]} is no program here; write a launch line behind --, e.g. -- mpirun -n 64 ./a.out")
    at = next((i for i, word in enumerate(command) if _LAUNCHER.fullmatch(Path(word).name) and shutil.which(word)), None)
    starts = _family(_output([command[at], "--version"]), _SAYS) if at is not None else None
    command = _with_programs(command, at is not None and starts == OPEN_MPI)
    words = [*command[(at or 0):], *_of_slurm(command)]
    links = next((mpi for word in words if (mpi := _linked(word))), None)
    if starts and links and starts != links:
        raise TrafficError(f"{command[at or 0]} is of {starts}, but the program uses {links}; take the launcher of {links}")
    mpi = starts or links
    if mpi is None:
        raise TrafficError(f"no MPI library is found in {' '.join(command)[:100]!r}; known are {OPEN_MPI} and {MPICH}, of "
                           "the launcher (mpirun, mpiexec) or of the program; in a script write pencilmap trace -- before "
                           "mpirun")
    return Launch(tuple(command), at, mpi)


def _with_programs(command: Sequence[str], is_open_mpi: bool) -> list[str]:
    """Return the command with the programs in the file of Open MPI's `--app FILE`, to which no other option applies."""
    at = next((i for i, word in enumerate(command[:-1]) if word in ("--app", "-app")), None) if is_open_mpi else None
    if at is None:
        return list(command)
    colons = [word for words in _lines_of(command[at + 1]) for word in (":", *words)]
    return [*command[:at], *colons[1:], *command[at + 2:]]


def _of_slurm(command: Sequence[str]) -> list[str]:
    """Return the words of the file that srun's `--multi-prog` takes in place of a program."""
    file = next((word for word in command[1:] if Path(word).is_file()), None)
    return [word for words in _lines_of(file) for word in words] if file and "--multi-prog" in command else []


def _lines_of(path: str | PathLike[str]) -> list[list[str]]:
    """Return the words of each line of a file with the programs of a launcher."""
    content = read_whole(path, TrafficError).decode("utf-8", "replace")
    try:
        return [words for line in content.splitlines() if (words := shlex.split(line, comments=True))]
    except ValueError as error:
        raise TrafficError(f"{path}: {error}") from error


def _family(text: str, patterns: dict[str, str]) -> str | None:
    return next((mpi for mpi, pattern in patterns.items() if re.search(pattern, text)), None)


def _linked(word: str) -> str | None:
    """Return the MPI library that a program or library is linked with, None without one."""
    path = shutil.which(word)
    return _family(_output(["ldd", os.path.realpath(path)]), _LIBRARIES) if path else None


def _output(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


# ---- the tracer of this MPI library -----------------------------------------------------------------------------------


def library_for(launch: Launch, text: str | None = None) -> Path:
    """Return the path of the tracer for a launch line.

    Parameters
    ----------
    launch : Launch
    text : str, optional
        A tracer that the user names.

    Raises
    ------
    TrafficError
        If the given tracer is for another MPI library, or there is none and it cannot be compiled.
    """
    build = find_build()
    own = build.directory / "lib" / LIBRARY
    compiled = build.directory / "traffic" / launch.mpi.replace(" ", "-").lower() / LIBRARY
    source = max((file.stat().st_mtime for file in (build.source / "traffic").glob("*.[ch]")), default=0.0)
    is_old = compiled.is_file() and compiled.stat().st_mtime < source
    for path in (Path(text),) if text else (own,) if is_old else (own, compiled):
        if path.is_file() and _family(_output(["ldd", str(path)]), _LIBRARIES) == launch.mpi:
            return path.absolute()
    if text:
        raise TrafficError(f"{text} is no tracer for {launch.mpi}; build it with the compiler of that MPI: cmake -S "
                           "fft_runner -B build -DMPI_C_COMPILER=mpicc")
    _compile(build.source / "traffic", _compiler(launch), compiled)
    if _family(_output(["ldd", str(compiled)]), _LIBRARIES) != launch.mpi:
        compiled.unlink()
        raise TrafficError(f"{_compiler(launch)} is not the compiler of {launch.mpi}; build the tracer with the right one "
                           "and name it with `library`")
    return compiled.absolute()


def _compiler(launch: Launch) -> Path:
    """Return the compiler of MPI beside the launcher, which has the same ending: mpicc.mpich beside mpirun.mpich.

    Another launcher, such as srun, has none, so it is the compiler of this MPI on the path.
    """
    if launch.launcher is None:
        names = "mpicc", f"mpicc.{launch.mpi.replace(' ', '').lower()}"
        path = next((path_ for name in names if (path_ := shutil.which(name)) and _compiles_for(path_) == launch.mpi), None)
        missing = " and ".join(names)
    else:
        first = launch.command[launch.launcher]
        folder, name = Path(shutil.which(first) or first).parent, _LAUNCHER.fullmatch(Path(first).name)
        missing = str(folder / f"mpicc{name[2] or '' if name else ''}")
        path = missing if Path(missing).exists() else None
    if path is None:
        raise TrafficError(f"the tracer for {launch.mpi} is not built, and {missing} to compile it is missing; install it, "
                           "or name a tracer with `library`")
    return Path(path)


def _compiles_for(compiler: str) -> str | None:
    """Return the MPI library of a compiler, which shows its command by one of these options."""
    text = _output([compiler, "-show"])
    return OPEN_MPI if re.search("open-?mpi", text) else MPICH if "mpich" in text.lower() else None


def _compile(source: Path, compiler: Path, path: Path) -> None:
    aside = path.with_suffix(f".new-{os.getpid()}")
    command = [compiler, "-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", *sorted(source.glob("*.c")), "-o",
               aside, "-ldl", "-pthread"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=10 * _TIMEOUT_S)
        if done.returncode:
            raise TrafficError(f"{compiler} cannot compile the tracer:\n{tail(done.stdout, 10)}")
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


# ---- the run ------------------------------------------------------------------------------------------------------------


def traced_command(launch: Launch, library: Path, output: Path, monitoring: Path | None) -> tuple[list[str], dict[str, str]]:
    """Return the launch line with the tracer, and variables for its environment.

    Parameters
    ----------
    launch : Launch
    library, output : Path
    monitoring : Path, optional
        Beginning of the names of the files of Open MPI's monitoring.

    Examples
    --------
    >>> line = Launch(("mpiexec", "-n", "4", "./a.out"), 0, MPICH)
    >>> " ".join(traced_command(line, Path("/l.so"), Path("/t"), None)[0])
    'mpiexec -genv LD_PRELOAD /l.so -genv PENCILMAP_TRAFFIC /t -n 4 ./a.out'

    The option -x of Open MPI 4 is for one of several programs:

    >>> line = Launch(("mpirun", "-n", "2", "./a", ":", "-n", "2", "./b"), 0, OPEN_MPI)
    >>> " ".join(traced_command(line, Path("/l.so"), Path("/t"), None)[0]).partition(" : ")[2]
    '-x LD_PRELOAD=/l.so -x PENCILMAP_TRAFFIC=/t -n 2 ./b'
    """
    preload = ":".join([str(library), *([os.environ["LD_PRELOAD"]] if os.environ.get("LD_PRELOAD") else [])])
    variables = {"LD_PRELOAD": preload, "PENCILMAP_TRAFFIC": str(output)}
    if launch.launcher is None:
        return list(launch.command), variables
    before, rest = launch.command[:launch.launcher + 1], _preloading(launch.command[launch.launcher + 1:], str(library))
    if launch.mpi == MPICH:
        return [*before, *(word for name, value in variables.items() for word in ("-genv", name, value)), *rest], {}
    of_each = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    rest = [word for word_ in rest for word in ([word_, *of_each] if word_ == ":" else [word_])]
    own = of_each
    if monitoring:
        rest, chosen = _with_monitoring(rest, os.environ)
        for name, value in {**_MONITORING, "pml_monitoring_filename": str(monitoring), **chosen}.items():
            own = [*own, "--mca", name, value]
    return [*before, *own, *rest], {}


def _preloading(words: Iterable[str], library: str) -> list[str]:
    """Let a choice of preloaded libraries for a program, by option or `env`, have the tracer in front."""
    result = [f"LD_PRELOAD={library}:{word.partition('=')[2]}" if word.startswith("LD_PRELOAD=") else word for word in words]
    for i in range(len(result) - 2):
        if result[i] in ("-env", "--env", "-genv", "--genv") and result[i + 1] == "LD_PRELOAD":
            result[i + 2] = f"{library}:{result[i + 2]}"
    return result


def _with_monitoring(words: list[str], environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Let a choice of the point-to-point layer (pml) by option or variable have monitoring in its list."""
    for i in range(len(words) - 2):
        if words[i] in ("--mca", "-mca", "-gmca", "--gmca") and words[i + 1] == "pml":
            return [*words[:i + 2], _listed(words[i + 2]), *words[i + 3:]], {}
    chosen = environment.get("OMPI_MCA_pml")
    return words, {"pml": _listed(chosen)} if chosen else {}


def _listed(chosen: str) -> str:
    return chosen if "monitoring" in chosen or chosen.startswith("^") else f"{chosen},monitoring"


def trace(launch: Launch, library: Path, output: Path, monitoring: bool = True, printed: IO[str] | None = None) -> Traced:
    """Run a program with the tracer and write its traffic to a file.

    Parameters
    ----------
    launch : Launch
    library : Path
        The tracer.
    output : Path
        Written whole when the program has ended, if it came to MPI_Finalize or every rank could write its messages. Else it
        will be left as it is.
    monitoring : bool
        Whether Open MPI counts the messages inside collectives.
    printed : file, optional
        Gets what the program prints, in place of the standard output.

    Raises
    ------
    TrafficError
        If the output cannot be written.
    """
    for word in map(str, (library, *launch.command)):  # no trace replaces a program or its tracer
        with suppress(OSError):
            note_input(shutil.which(word) or word)
    check_writable(output, TrafficError)
    with temporary_folder(str(output.absolute().parent)) as folder:
        raw, prefix = folder / "traffic.txt", folder / "monitoring"
        use = prefix if monitoring and launch.mpi == OPEN_MPI and launch.launcher is not None else None
        command, variables = traced_command(launch, library, raw, use)
        try:
            status = _run(command, {**os.environ, **variables}, printed)
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or a time limit
            with _undisturbed():
                if _of_cut_program(raw, output).traffic:
                    say(f"wrote {output}: {UNTIL}")
            raise
        if not raw.is_file():
            return replace(_of_cut_program(raw, output, status), status=status)
        traffic, problem = read_traffic(raw, "trace"), ""
        if use is not None:
            try:
                traffic = _measured(traffic, Path(f"{prefix}.0.prof"))
                write_whole(output, traced.text(traffic), TrafficError)
                return Traced(status, traffic, measured=True)
            except MonitoringError as error:
                problem = str(error)
        write_whole(output, read_whole(raw, TrafficError), TrafficError)
        return Traced(status, traffic, problem=problem)


def _of_cut_program(raw: Path, output: Path, status: int = 1) -> Traced:
    """Return what the ranks of a program have written that did not come to MPI_Finalize, and write it to the output."""
    first, end = Path(f"{raw}.rank-0"), time.monotonic() + (_LATE_S if status else 0)
    while True:  # ranks may outlive their launcher
        try:
            traffic = read_traffic(next(iter(sorted(raw.parent.glob(f"{raw.name}.rank-*"))), first), "trace")
            write_whole(output, traced.text(traffic), TrafficError)
            return Traced(status, traffic, cut=True)
        except TrafficError as error:
            if time.monotonic() > end:
                return Traced(status, None, cut=True, problem=str(error) if any(raw.parent.glob("*.rank-*")) else "")
        time.sleep(0.1)


class MonitoringError(TrafficError):
    """The counts of Open MPI cannot be used."""


def _measured(traffic: Traffic, first: Path) -> Traffic:
    """Return the traffic with Open MPI's counts, of which this is the first file."""
    if not first.is_file():
        raise MonitoringError("it has written none")
    try:
        counts = read_traffic(first, "monitoring")
    except PencilmapError as error:
        raise MonitoringError(str(error)) from error
    if counts.n_ranks != traffic.n_ranks:
        raise MonitoringError(f"they are of {counts.n_ranks} ranks, but the program has {traffic.n_ranks}")
    inside = inside_collectives(traffic, counts)
    n_bytes, least = (int(pairs.bytes.sum()) for pairs in (inside, traffic.pairs.of([STATED])))
    if n_bytes < least:  # no algorithm sends less than the call states; Open MPI 4.1 counts no bytes of MPI_Alltoallw
        raise MonitoringError(f"they have {n_bytes} bytes of collectives, but the calls of the program state {least}")
    return traffic.with_measured_collectives(inside)


def inside_collectives(traffic: Traffic, counts: Traffic) -> Pairs:
    """Return the messages inside collectives from Open MPI's counts.

    Open MPI 4.1 counts messages inside a collective as the program's own if it sends them by persistent requests, as its
    alltoall and alltoallv do. So counts of own messages beyond the traced ones are taken, too, between ranks of such calls.
    Between others they are the messages of the tracer itself.

    Parameters
    ----------
    traffic : Traffic
        As traced.
    counts : Traffic
        The files of monitoring.
    """
    n, own, traced_pairs = traffic.n_ranks, counts.pairs.of([POINT]), traffic.pairs.of([POINT, ONE_SIDED])
    keys = np.unique(own.source * n + own.target)
    at, known = np.searchsorted(keys, own.source * n + own.target), traced_pairs.source * n + traced_pairs.target
    kept = np.isin(known, keys)
    more = []
    for column in ("bytes", "messages"):
        result = np.zeros(len(keys), np.int64)
        np.add.at(result, at, getattr(own, column))
        np.subtract.at(result, np.searchsorted(keys, known[kept]), getattr(traced_pairs, column)[kept])
        more.append(np.maximum(result, 0))
    beyond = pairs_of(keys // n, keys % n, more[0], more[1], MEASURED)
    stated = traffic.pairs.of([STATED])
    in_calls = np.isin(beyond.source * n + beyond.target, stated.source * n + stated.target)
    return joined([counts.pairs.of([MEASURED]), beyond.where(in_calls & (beyond.bytes > 0) & (beyond.messages > 0))])


def _run(command: Sequence[str], environment: Mapping[str, str], printed: IO[str] | None) -> int:
    """Run a command to its end and return its exit status, 128 + n for signal n. It ends with this process."""
    process = subprocess.Popen(command, env=environment, stdout=printed)
    try:
        status = process.wait()
    except BaseException:
        with _undisturbed():
            _end(process)
        raise
    return status if status >= 0 else 128 - status


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a launcher, which often has got the same signal: Open MPI's loses the ranks at the second one."""
    for end, seconds in ((process.poll, _SAME_SIGNAL_S), (process.terminate, _END_S), (process.kill, _END_S)):
        end()
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore further signals while a run ends: `timeout` sends SIGTERM to a command, and once more to all its processes."""
    numbers = (signal.SIGTERM, signal.SIGINT) if threading.current_thread() is threading.main_thread() else ()
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
