"""The result of cmake --install in outside projects: CMake in C and Fortran, pkg-config in C; with two MPIs."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.patience import patience

EXAMPLES = Path(__file__).resolve().parents[2] / "fft_runner" / "examples"
BUILD_S = 300


REORDERED = """
#include <mpi.h>
#include <pm_reorder.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Comm made;
    MPI_Init(&argc, &argv);
    int status = pm_comm_reorder(MPI_COMM_WORLD, "2x1x1 where=assumed", "2x1", &made);
    printf("reordered: %d%s\\n", status, pm_reorder_message());
    MPI_Finalize();
    return status;
}
"""
OUTSIDE = """
cmake_minimum_required(VERSION 3.18)
project(outside LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(pencilfft SOURCE_DIR ${PENCILFFT_CHECKOUT} SOURCE_SUBDIR fft_runner)
FetchContent_MakeAvailable(pencilfft)
add_executable(poisson ${PENCILFFT_CHECKOUT}/fft_runner/examples/poisson.c)
target_link_libraries(poisson PRIVATE pencilfft::pencilfft m)
add_executable(poisson_cpp ${PENCILFFT_CHECKOUT}/fft_runner/examples/poisson.cpp)
target_compile_features(poisson_cpp PRIVATE cxx_std_17)
target_link_libraries(poisson_cpp PRIVATE pencilfft::pencilfft pencilfft::pencilmap_reorder)
"""


def execute(*command):
    """Run a tool to its end and return its output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience(BUILD_S))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["mpirun", pytest.param("mpich_run", marks=pytest.mark.slow)])
def start(request):
    """The launcher of the MPI that the library was built with."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def prefix(start, tmp_path_factory):
    """An installation that was moved after it was made."""
    first, moved = (tmp_path_factory.mktemp("install") / name for name in ("first", "moved"))
    execute("cmake", "--install", start.programs.parent, "--prefix", first)
    return first.rename(moved)


def needs_fortran(prefix, module):
    if not (prefix / "include" / f"{module}.mod").exists():
        pytest.skip("NOT TESTED: the Fortran module, for no Fortran compiler was found (Debian: gfortran)")


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
    """Check that the example succeeded, which implies its own check, and printed so."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{name}: " in done.stdout and "largest error" in done.stdout


@pytest.mark.parametrize("name", ["traffic", "place"])
def test_the_preloaded_libraries_are_installed(prefix, name):
    [library] = prefix.glob(f"**/libpencilmap_{name}.so")
    shown = [line.split()[-1].lower() for line in execute("nm", "-D", "--defined-only", library).splitlines()]
    assert shown and all(re.match("p?mpix?_|ompi_|mpii_|_exit$", word) for word in shown), "only functions of MPI, and _exit"


@pytest.mark.parametrize("program, ranks", [("poisson_c", 1), ("poisson_c", 2), ("poisson_c_static", 3), ("transposes_c", 1),
                                            ("transposes_c", 4), ("operators_c", 4), ("poisson_cpp", 2),
                                            ("poisson_two_ways_c", 1), ("poisson_two_ways_c", 4), ("poisson_walls_c", 4),
                                            ("channel_c", 4), ("in_flight_c", 1), ("in_flight_c", 4), ("rounded_c", 4),
                                            ("flow_2d_c", 1), ("flow_2d_c", 4)])
def test_c_project_by_cmake(examples, program, ranks):
    checked(examples(ranks, program=program), program.removesuffix("_static"))


@pytest.mark.parametrize("rule", ["2/3", "3/2"])
def test_taylor_green_vortex_by_cmake(examples, rule):
    done = examples(4, *([rule] if rule == "3/2" else []), program="taylor_green_c")
    assert done.returncode == 0 and "energy 0.124953117517" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("program", ["poisson_fortran", "channel_fortran", "transposes_fortran"])
@pytest.mark.parametrize("ranks", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 4))])  # C runs 1 above
def test_fortran_project_by_cmake(examples, prefix, program, ranks):
    needs_fortran(prefix, "pencilfft")
    checked(examples(ranks, program=program), program)


def test_reordering_fortran_program_by_cmake(examples, prefix):
    needs_fortran(prefix, "pencilmap_reorder")
    done = examples(4, "2x2 placement=digits:x=r2,y=c2 where=assumed:yxt", "2x2", program="reordered_fortran")
    assert done.returncode == 0, done.stdout + done.stderr
    # rank i starts at y = i % 2, x = i / 2; x counts within rows, which are consecutive ranks
    assert sorted(done.stdout.split("\n")[:-1]) == [
        f"reordered_fortran: rank {old} is grid rank {old // 2 + 2 * (old % 2)}" for old in range(4)]
    done = examples(4, "2x2", "2x3", program="reordered_fortran")
    assert done.returncode != 0
    assert done.stdout.count("reordered_fortran: process grid '2x3' does not fit; write RxC with R*C = 4") == 1


def by_pkg_config(directory, name, compiler, program, *arguments):
    """Build a program with the flags of pkg-config for a library in `directory`, like a reader of docs/library.md."""
    ask = partial(execute, "env", f"PKG_CONFIG_PATH={directory / 'pkgconfig'}", "pkg-config", name)
    execute(ask(f"--variable={compiler}").strip(), *arguments, *ask("--cflags", "--libs").split(), "-lm",
            f"-Wl,-rpath,{directory}", "-o", program)


@pytest.mark.parametrize("package, module, compiler, source, more, words, says", [
    ("pencilfft", None, "mpicc", "poisson.c", (), (), "poisson_c: "),
    ("pencilfft", None, "mpicc", "poisson.cpp", ("-std=c++17", "-lstdc++"), (), "poisson_cpp: "),
    ("pencilfft_fortran", "pencilfft", "mpifort", "poisson.f90", (), (), "poisson_fortran: "),
    ("pencilmap_reorder", None, "mpicc", "reordered.c", (), (), "reordered: 0"),
    ("pencilmap_reorder", None, "mpicc", "reordered.cpp", (), (), "reordered: 0"),  # by the C wrapper, without C++ bindings
    ("pencilmap_reorder_fortran", "pencilmap_reorder", "mpifort", "reordered.f90", (), ("2 where=assumed", "2x1"),
     "rank 1 is grid rank 1")])
def test_program_by_pkg_config(prefix, start, tmp_path, package, module, compiler, source, more, words, says):
    if module:
        needs_fortran(prefix, module)
    path = EXAMPLES / source
    if source.startswith("reordered.c"):
        path = tmp_path / source
        path.write_text(REORDERED)
    by_pkg_config(library_directory(prefix), package, compiler, tmp_path / "program", path, *more)
    done = replace(start, programs=tmp_path)(2, *words, program="program")
    assert done.returncode == 0 and says in done.stdout, done.stdout + done.stderr


#: Structures that programs hold; descriptors, which begin with their size, may grow.
STRUCTURES = ("pencilfft_desc", "pencilfft_line_desc", "pencilfft_brick_lines_desc", "pencilfft_box", "pencilfft_part",
              "pencilfft_format", "pencilfft_line", "pencilfft_walk", "pencilfft_grid_trial")


def sizes_of_structures(prefix, folder):
    """Return {structure: bytes} of the installed headers."""
    lines = "".join(f'printf("{name} %zu\\n", sizeof({name}));' for name in STRUCTURES)
    (folder / "sizes.c").write_text("#include <pencilfft_line.h>\n#include <stdio.h>\n"
                                    f"int main(void) {{ {lines} return 0; }}\n")
    environment = f"PKG_CONFIG_PATH={library_directory(prefix) / 'pkgconfig'}"
    [mpicc] = execute("env", environment, "pkg-config", "pencilfft", "--variable=mpicc").split()
    execute(mpicc, folder / "sizes.c", f"-I{prefix / 'include'}", "-o", folder / "sizes")
    return {name: int(size) for name, size in (line.split() for line in execute(folder / "sizes").splitlines())}


def sizes_of_the_release(library):
    """Check that a library has the SONAME and the functions of the last release, in abi.txt, and return {structure: bytes}.
    If one of them must change, the SONAME changes too (fft_runner/CMakeLists.txt); a release adds what is new.
    """
    names = {line.split()[-1] for line in execute("nm", "-D", "--defined-only", library).splitlines()}
    assert names and all(name.startswith("pencilfft_") for name in names)
    soname, sizes, functions = "", {}, set()
    for line in Path(__file__).with_name("abi.txt").read_text().splitlines():
        first, *size = line.split()
        if size:
            sizes[first] = int(size[0])
        elif first.startswith("lib"):
            soname = first
        else:
            functions.add(first)
    assert f"[{soname}]" in execute("readelf", "-d", library)
    assert functions - names == set()
    return sizes


def test_programs_of_the_last_release_go_on_with_the_shared_library(prefix, tmp_path):
    sizes = sizes_of_the_release(library_directory(prefix) / "libpencilfft.so")
    now = sizes_of_structures(prefix, tmp_path)
    assert now.keys() == sizes.keys()
    assert [name for name in sizes if now[name] < sizes[name] or (now[name] > sizes[name] and "desc" not in name)] == []


def test_static_library_shows_only_its_api(prefix):
    library = library_directory(prefix) / "libpencilfft.a"
    names = [line.split()[-1] for line in execute("nm", "-g", "--defined-only", library).splitlines() if " " in line]
    assert names and [name for name in names if not name.startswith("pencilfft_")] == []


def test_installed_programs_and_headers_are_there(prefix):
    assert "fft_runner" in execute("env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                   prefix / "bin" / "fft_runner", "--version")
    headers = {path.name for path in (prefix / "include").iterdir()}
    assert {"pencilfft.h", "pencilfft.hpp", "pencilfft_line.h", "pm_reorder.h"} <= headers
    assert any(prefix.glob("**/libpencilmap_reorder.so.0"))


@pytest.fixture
def without_hwloc(tmp_path, monkeypatch):
    """Make pkg-config know only FFTW, as on a machine without hwloc and Jansson."""
    known = tmp_path / "known"
    known.mkdir()
    for name in ("fftw3", "fftw3f"):
        directory = execute("pkg-config", "--variable=pcfiledir", name).strip()
        shutil.copy(Path(directory) / f"{name}.pc", known)
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(known))


@pytest.mark.slow
@pytest.mark.parametrize("options, kind", [(("-DCMAKE_C_EXTENSIONS=OFF",), "static"),
                                           (("-DBUILD_SHARED_LIBS=ON",), "shared")])
def test_part_of_another_project(mpirun, without_hwloc, tmp_path, options, kind):
    """Use FetchContent, which is add_subdirectory after a download: tests and runner are not even targets."""
    (tmp_path / "CMakeLists.txt").write_text(OUTSIDE)
    build = tmp_path / "build"
    execute("cmake", "-S", tmp_path, "-B", build, f"-DPENCILFFT_CHECKOUT={EXAMPLES.parents[1]}", *options)
    execute("cmake", "--build", build, "--target", "poisson", "poisson_cpp")
    assert not {"fft_runner", "plan_test", "pencilfft_fortran", "install"} & {
        line.removeprefix("... ") for line in execute("cmake", "--build", build, "--target", "help").splitlines()}
    assert ("libpencilfft.so" in execute("ldd", build / "poisson")) == (kind == "shared")
    for name, said in (("poisson", "poisson_c"), ("poisson_cpp", "poisson_cpp")):
        checked(replace(mpirun, programs=build)(2, program=name), said)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_libraries_alone(mpirun, without_hwloc, tmp_path, shared):
    """Install one kind of library, without hwloc and Jansson; CMake and pkg-config find the names of the full build."""
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    execute("cmake", "-S", EXAMPLES.parent, "-B", build, "-DPENCILFFT_RUNNER=OFF", f"-DBUILD_SHARED_LIBS={shared}")
    execute("cmake", "--build", build)
    execute("cmake", "--install", build, "--prefix", prefix)
    files = {path.name for path in prefix.rglob("*")}
    assert not {"fft_runner", "transpose_bench", "network_probe"} & files
    assert ("libpencilfft.so" in files, "libpencilfft.a" in files) == (shared, not shared)
    by_pkg_config(library_directory(prefix), "pencilfft", "mpicc", tmp_path / "poisson", EXAMPLES / "poisson.c")
    checked(replace(mpirun, programs=tmp_path)(2, program="poisson"), "poisson_c")
    if (prefix / "include" / "pencilfft.mod").exists():
        by_pkg_config(library_directory(prefix), "pencilfft_fortran", "mpifort", tmp_path / "fortran",
                      EXAMPLES / "poisson.f90")
        checked(replace(mpirun, programs=tmp_path)(2, program="fortran"), "poisson_fortran")
    outside = tmp_path / "outside"
    execute("cmake", "-S", EXAMPLES, "-B", outside, f"-DCMAKE_PREFIX_PATH={prefix}")
    execute("cmake", "--build", outside)
    checked(replace(mpirun, programs=outside)(2, program="poisson_c"), "poisson_c")
