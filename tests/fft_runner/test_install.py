"""What cmake --install gives, used by projects outside: CMake in C and Fortran, pkg-config in C; of two MPIs."""

import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "fft_runner" / "examples"
BUILD_S = 300


def execute(*command):
    """Run a tool to its end and return what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=BUILD_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["mpirun", "mpich_run"])
def start(request):
    """The launcher of the MPI that the library was built with."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def prefix(start, tmp_path_factory):
    """An installation that was moved after it was made."""
    first, moved = (tmp_path_factory.mktemp("install") / name for name in ("first", "moved"))
    execute("cmake", "--install", start.programs.parent, "--prefix", first)
    return first.rename(moved)


def library_directory(prefix):
    [pc] = prefix.glob("**/pencilfft.pc")
    return pc.parent.parent


@pytest.fixture(scope="module")
def examples(prefix, start, tmp_path_factory):
    """The examples, built outside the checkout against the installation."""
    work = tmp_path_factory.mktemp("outside")
    shutil.copytree(EXAMPLES, work / "source")
    execute("cmake", "-S", work / "source", "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    execute("cmake", "--build", work / "build")
    return replace(start, programs=work / "build")


def checked(done, name):
    """The example came to its end, which it does with success only if its own check passed, and said so."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{name}: " in done.stdout and "largest error" in done.stdout


@pytest.mark.parametrize("program, ranks", [("poisson_c", 1), ("poisson_c", 2), ("poisson_c_static", 3), ("transposes_c", 1),
                                            ("transposes_c", 4)])
def test_c_project_by_cmake(examples, program, ranks):
    checked(examples(ranks, program=program), program.removesuffix("_static"))


@pytest.mark.parametrize("program", ["poisson_fortran", "transposes_fortran"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_fortran_project_by_cmake(examples, prefix, program, ranks):
    if not (prefix / "include" / "pencilfft.mod").exists():
        pytest.skip("NOT TESTED: the Fortran module, for no Fortran compiler was found (Debian: gfortran)")
    checked(examples(ranks, program=program), program)


def test_c_program_by_pkg_config(prefix, start, tmp_path):
    directory = library_directory(prefix)
    ask = partial(execute, "env", f"PKG_CONFIG_PATH={directory / 'pkgconfig'}", "pkg-config", "pencilfft")
    flags = ask("--cflags", "--libs").split()
    execute(ask("--variable=mpicc").strip(), EXAMPLES / "poisson.c", *flags, "-lm", f"-Wl,-rpath,{directory}",
            "-o", tmp_path / "poisson")
    checked(replace(start, programs=tmp_path)(2, program="poisson"), "poisson_c")


def test_shared_library_shows_only_its_api(prefix):
    library = library_directory(prefix) / "libpencilfft.so"
    names = [line.split()[-1] for line in execute("nm", "-D", "--defined-only", library).splitlines()]
    assert names and all(name.startswith("pencilfft_") for name in names)
    assert "libpencilfft.so.0" in execute("readelf", "-d", library)


def test_installed_programs_and_headers_are_there(prefix):
    assert "fft_runner" in execute("env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                   prefix / "bin" / "fft_runner", "--version")
    assert {"pencilfft.h", "pm_reorder.h"} <= {path.name for path in (prefix / "include").iterdir()}
    assert any(prefix.glob("**/libpencilmap_reorder.so.0"))
