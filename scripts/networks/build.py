"""Build the runner and the simulated network with CMake.

The sources are the folder `fft_runner` beside `scripts`, both in a checkout and in an installed package. The build folder is
$PENCILMAP_BUILD, else `build` of the checkout, else ~/.cache/pencilmap/build. Nothing is installed.
"""

import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pencilmap.mapper.base.progress import say
from pencilmap.model.base.errors import PencilmapError

BUILD_VARIABLE = "PENCILMAP_BUILD"
BUILT = ".pencilmap-built"  #: a file in the build directory, as old as the last complete build; scripts/setup makes it, too
TIMEOUT_S = 900
SIMULATED = ("fft_runner_smpi", "network_probe_smpi", "pme_smpi")
PROGRAMS = ("fft_runner: ", "network_probe: ", "transpose_bench: ")  # begin the lines in which these name their failure

SIMGRID = "libsimgrid-dev"
COMMAND_PACKAGES = {
    "cc": "gcc",
    "c++": "g++",
    "make": "make",
    "cmake": "cmake",
    "pkg-config": "pkg-config",
    "mpicc": "openmpi-bin libopenmpi-dev",
    "smpicc": SIMGRID,
    "smpirun": SIMGRID,
}
HEADER_PACKAGES = {"fftw3.h": "libfftw3-dev", "hwloc.h": "libhwloc-dev", "jansson.h": "libjansson-dev"}


class BuildError(PencilmapError):
    """The runner cannot be built here; the message names the missing tools."""


@dataclass(frozen=True)
class Build:
    """The sources of the runner and its build directory."""

    source: Path
    directory: Path

    def program(self, name: str) -> Path:
        """Return the path of a program; names of those for the simulated network end in ``_smpi``."""
        return self.directory / "bin" / name

    @property
    def platform(self) -> Path:
        """Path of the simulated network, a platform for smpirun."""
        return self.directory / "lib" / "libnetwork_platform.so"


def find_build() -> Build:
    """Return the folders of the sources and of the build; build nothing.

    Raises
    ------
    BuildError
        If there are no sources.
    """
    root = Path(__file__).resolve().parents[2]
    source = root / "fft_runner"
    if not (source / "CMakeLists.txt").is_file():
        raise BuildError(f"{source}/CMakeLists.txt is missing; use a checkout of pencilmap, or install the package again")
    if os.environ.get(BUILD_VARIABLE):
        return Build(source, Path(os.environ[BUILD_VARIABLE]).absolute())
    if (root / "pyproject.toml").is_file():
        return Build(source, root / "build")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(cache):  # a user without a home
        raise BuildError(f"there is no home folder for a build; name a folder with {BUILD_VARIABLE}")
    return Build(source, Path(cache) / "pencilmap" / "build")


def ensure_built(simulated: bool = True) -> Build:
    """Configure and build missing or outdated files.

    Parameters
    ----------
    simulated
        Whether the simulated network is needed, and thus SimGrid.

    Raises
    ------
    BuildError
        If a tool or library is missing (the message names the Debian packages), or the build fails.
    """
    build = find_build()
    _ensure(build, simulated)
    return build


@cache  # once per process and directory; a failed check is repeated
def _ensure(build: Build, simulated: bool) -> None:
    programs = [build.program(name) for name in SIMULATED] if simulated else []
    products = [build.program("fft_runner"), *programs, *[build.platform] * simulated]
    if all(product.is_file() for product in products) and _is_newer_than_sources(build):
        return
    check_tools(simulated)
    try:
        build.directory.mkdir(parents=True, exist_ok=True)
        with _locked(build.directory / ".pencilmap-lock"):
            _configure(build)
            began = time.time()
            _run(["cmake", "--build", build.directory, "--parallel", str(os.cpu_count() or 1)], "build")
            (build.directory / BUILT).touch()
            os.utime(build.directory / BUILT, (began, began))
    except OSError as error:
        raise BuildError(f"{build.directory} cannot be used: {error.strerror}; name another directory in "
                         f"{BUILD_VARIABLE}") from error
    for product in products:
        if not product.is_file():
            raise BuildError(f"the build did not produce {product}; was it configured without SimGrid? Delete "
                             f"{build.directory} and try again")


def _is_newer_than_sources(build: Build) -> bool:
    """Return whether no source has changed since the last build; cmake takes two seconds to find this out."""
    built = build.directory / BUILT
    if not built.is_file():
        return False
    latest = built.stat().st_mtime
    for top in (build.source, build.source.with_name("tests")):  # in a checkout, test programs are built, too
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name != "__pycache__"]
            if any(os.stat(os.path.join(folder, name), follow_symlinks=False).st_mtime > latest for name in (".", *files)):
                return False
    return True


@cache
def built_for_mpich() -> Path:
    """Build transpose_bench and network_probe for MPICH, beside the build for the usual MPI, and return their folder.

    Raises
    ------
    BuildError
        If a tool or library is missing, or the build fails.
    """
    build = find_build()
    directory = build.directory / "mpich"
    check_tools(simulated=False)
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory / ".pencilmap-lock"):
        if not (directory / "CMakeCache.txt").is_file():
            say(f"building transpose_bench and network_probe for MPICH in {directory}: a minute, once")
            _run(["cmake", "-S", build.source, "-B", directory, "-DCMAKE_BUILD_TYPE=Release", "-DPENCILFFT_SMPI=OFF",
                  f"-DMPI_C_COMPILER={shutil.which('mpicc.mpich')}"], "configure")
        _run(["cmake", "--build", directory, "--parallel", str(os.cpu_count() or 1), "--target", "transpose_bench",
              "network_probe"], "build")
    return directory / "bin"


def check_tools(simulated: bool = True) -> None:
    """Raise BuildError with the exact Debian packages unless all tools and libraries are there."""
    missing = {name: package for name, package in COMMAND_PACKAGES.items()
               if not shutil.which(name) and (simulated or package != SIMGRID)}
    if "cc" not in missing:
        missing |= {name: package for name, package in HEADER_PACKAGES.items() if subprocess.run(
            ["cc", "-E", "-"], input=f"#include <{name}>\n", text=True, capture_output=True, timeout=60).returncode}
    if missing:
        raise BuildError(f"the runner cannot be built, {', '.join(missing)} not found; on Debian: "
                         f"apt-get install {' '.join(dict.fromkeys(missing.values()))}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a directory for one build at a time, because tests and simulations run in parallel."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _configure(build: Build) -> None:
    cache = build.directory / "CMakeCache.txt"
    configured = cache.read_text(errors="replace") if cache.is_file() else None
    if configured is None:
        say(f"building the runner and the simulated network in {build.directory}")
        _run(["cmake", "-S", build.source, "-B", build.directory, "-DCMAKE_BUILD_TYPE=Release"], "configure")
    elif f"CMAKE_HOME_DIRECTORY:INTERNAL={build.source}\n" not in configured:
        raise BuildError(f"{build.directory} was configured for other sources than {build.source}; delete it, or name "
                         f"another directory in {BUILD_VARIABLE}")


def _run(command: list[str | Path], step: str) -> None:
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"cmake did not finish to {step} in {TIMEOUT_S} s") from error
    if done.returncode:
        raise BuildError(f"cmake failed to {step} (exit status {done.returncode}):\n{tail(done.stdout)}")


def tail(text: str, lines: int = 30) -> str:
    """Return the lines in which our program names its failure, else the last lines of its output, for an error message."""
    output = text.rstrip().splitlines()
    return "\n".join([line for line in output if line.startswith(PROGRAMS)] or output[-lines:])
