"""Files that `pip install .` and `pip install ./fft_runner` install: all layers, types and C sources, no build product, no
maintainer's program; the walks of users in the docs need no more than a wheel; and the installed binding runs."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import pencilmap
from tests.documents import ROOT, commands
from tests.fft_runner.test_install import sizes_of_the_release
from tests.modules import needs_module
from tests.patience import patience

pytestmark = pytest.mark.thorough

SETUP = "import setuptools; setuptools.setup()"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-deps", "--no-build-isolation")  # all requirements are already installed
RELEASE = Path("/etc/os-release").read_text("utf-8") if Path("/etc/os-release").exists() else ""
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "build-*", "__pycache__", "*.egg-info", "demo-out", "dist")


def execute(*command, seconds=120, **settings):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=patience(seconds), **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def setup(folder, *command):
    execute(sys.executable, "-c", SETUP, *command, cwd=folder)


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def built(folder):
    """Return the files in a wheel of the checkout in `folder`."""
    setup(folder, "build")
    return files(folder / "build" / "python" / "lib")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy after a CMake build, also in folders that setuptools would include, and the files in its wheel."""
    copy = tmp_path_factory.mktemp("package") / "pencilmap"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=NOT_COPIED)
    for folder in ("lib", f"lib.{sys.platform}-{sys.implementation.cache_tag}", "bin"):
        (copy / "build" / folder).mkdir(parents=True)
        (copy / "build" / folder / "libpencilfft.so").write_bytes(b"")
    return copy, built(copy)


def test_a_wheel_holds_every_module_and_what_it_reads(checkout):
    _, found = checkout
    layers = [path for layer in ("model", "mapper", "scripts", "fft_runner") for path in (ROOT / layer).rglob("*.*")]
    wanted = {f"pencilmap/{path.relative_to(ROOT)}" for path in layers if "maintenance" not in path.parts
              and path.suffix in (".py", ".toml", ".csv", ".c", ".h")}
    assert sorted(wanted - found) == []
    assert {"pencilmap/py.typed", "pencilmap/__init__.py"} <= found
    assert {"pencilmap/fft_runner/CMakeLists.txt", "pencilmap/scripts/pictures/report/page.html"} <= found


def test_a_wheel_holds_nothing_that_was_built_and_no_program_of_maintainers(checkout):
    _, found = checkout
    assert sorted({name.partition("/")[0] for name in found}) == ["pencilmap"]
    assert [name for name in found if name.endswith((".so", ".a", ".o", ".pyc")) or "/maintenance/" in name] == []


def test_a_source_distribution_builds_the_same_wheel(checkout, tmp_path):
    copy, found = checkout
    setup(copy, "sdist", "--dist-dir", str(tmp_path))
    [archive] = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    assert built(tmp_path / archive.name.removesuffix(".tar.gz")) == found


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    """The wheel of pip, which does not call `setup.py build`."""
    folder = tmp_path_factory.mktemp("wheel")
    execute(*PIP, "wheel", *OFFLINE, "--wheel-dir", folder, checkout[0], seconds=300)
    [found] = folder.glob("*.whl")
    return found


def test_pip_installs_nothing_that_cmake_built(checkout, wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if ".dist-info/" not in name} == checkout[1]
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"pencilmap"}


@pytest.fixture(scope="module")
def installed(wheel):
    """An environment with the wheel and its requirements: no checkout, an empty home."""
    site, home = wheel.with_name("site"), wheel.with_name("home")
    home.mkdir()
    execute(*PIP, "install", "--no-deps", "--target", site, wheel)
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return kept | {"PATH": f"{site}/bin:{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
                   "PYTHONPATH": str(site), "HOME": str(home), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


WALKS = ["before-a-job", *(pytest.param(page, marks=pytest.mark.slow) for page in ("own-code", "check-a-network"))]


@pytest.mark.parametrize("page", WALKS)
def test_the_walk_of_a_user_prints_what_its_page_shows(page, installed, tmp_path):
    where = "import pencilmap, shutil; print(pencilmap.__file__, shutil.which('pencilmap'))"
    assert execute(sys.executable, "-c", where, env=installed, cwd=tmp_path).count(installed["PYTHONPATH"]) == 2
    text = (ROOT / "docs" / "howto" / f"{page}.md").read_text("utf-8")
    assert len(commands(text)) >= 2
    for command in commands(text):
        out = execute("bash", "-c", command.text, seconds=900, cwd=tmp_path, env=installed)
        printed = "\n".join(line.rstrip() for line in out.splitlines()).rstrip("\n")
        assert not command.shown or command.agrees(printed), printed
    if ">>>" in text:
        (tmp_path / "examples.md").write_text(text, "utf-8")
        run = (f"import sys; sys.path.append({str(ROOT)!r}); from tests.documents import wrong_examples\n"
               "from pathlib import Path\nprint(wrong_examples(Path('examples.md').read_text('utf-8'), '.'), end='')")
        assert execute(sys.executable, "-c", run, env=installed, cwd=tmp_path) == ""


@pytest.fixture(scope="module")
def binding(tmp_path_factory):
    """Folder with the distribution pencilfft, installed by pip from its own source distribution."""
    needs_module("scikit_build_core", "pip install ./fft_runner, for scikit-build-core is missing (pip install it)")
    folder = tmp_path_factory.mktemp("binding")
    execute(sys.executable, "-c", f"import scikit_build_core.build as b; b.build_sdist({str(folder)!r})",
            cwd=ROOT / "fft_runner")
    [archive] = folder.glob("*.tar.gz")
    mpicc = shutil.which("mpicc.openmpi") or "mpicc"
    execute(*PIP, "install", *OFFLINE, "--target", folder / "site", archive, seconds=600, env={**os.environ, "MPICC": mpicc})
    return folder / "site"


@pytest.mark.slow  # builds the library
def test_the_distribution_of_the_binding_is_complete(binding):
    assert {"__init__.py", "_together.py", "operators.py", "py.typed", "libpencilfft.so.1", "include/pencilfft.h",
            "fortran/handles.h"} <= files(binding / "pencilfft")
    assert sizes_of_the_release(binding / "pencilfft" / "libpencilfft.so.1")
    assert sorted(path.name for path in binding.iterdir() if not path.name.endswith(".dist-info")) == ["pencilfft"]


@pytest.mark.slow  # builds the library
def test_the_distribution_of_the_binding_runs(binding, tmp_path):
    """With its own library: no variable names another library, and there is no checkout."""
    needs_module("mpi4py", "the installed binding, for mpi4py is missing (pip install mpi4py)")
    mpirun = shutil.which("mpirun.openmpi") or "mpirun"
    env = {name: value for name, value in os.environ.items() if name != "PENCILFFT_LIBRARY"} | {
        "PYTHONPATH": str(binding), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    out = execute(mpirun, "--oversubscribe", "-n", "2", sys.executable, ROOT / "fft_runner" / "examples" / "poisson.py",
                  cwd=tmp_path, env=env)
    assert "poisson.py: " in out
    where = "import pencilfft; pencilfft.forget_wisdom(); print(pencilfft.library._library._name)"
    loaded = execute(sys.executable, "-c", where, cwd=tmp_path, env=env).strip()
    assert loaded == str(binding / "pencilfft" / "libpencilfft.so.1")


@pytest.mark.skipif("VERSION_CODENAME=bookworm" not in RELEASE, reason="this is not Debian 12, whose versions are named")
def test_the_page_names_the_versions_that_it_is_tested_with():
    table = between_marks((ROOT / "docs" / "howto" / "install.md").read_text("utf-8"))
    named = re.findall(r"^\| .*? \| ([\d.]+) \| `(\S+)` \|$", table, re.MULTILINE)
    assert len(named) == 9
    for version, package in named:
        found = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True).stdout
        assert not found or re.match(rf"(\d+:)?{re.escape(version)}\b", found), (package, found)


def between_marks(text):
    return text.partition("tests/test_package.py -->")[2].partition("<!-- end -->")[0]


@pytest.mark.parametrize("file, pattern", [
    ("fft_runner/CMakeLists.txt", r"project\(pencilfft VERSION (\S+)"), ("CITATION.cff", r"^version: (\S+)"),
    ("fft_runner/include/pencilfft.h", r'#define PENCILFFT_VERSION "(.+)"'), ("CHANGELOG.md", r"^## \[(\d.*)\]"),
    ("packaging/conda/recipe.yaml", r"^  version: (\S+)"), ("packaging/debian/changelog", r"^pencilmap \((\S+)\)")])
def test_all_parts_have_one_version(file, pattern):
    assert re.search(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)[1] == pencilmap.__version__


@pytest.mark.parametrize("file", ["docs/library.md", "fft_runner/examples/CMakeLists.txt"])
def test_projects_ask_for_this_version(file):
    asked = re.search(r"find_package\(pencilfft ([\d.]+)", (ROOT / file).read_text("utf-8"))[1]
    assert asked == pencilmap.__version__.rpartition(".")[0]


def test_only_pictures_need_matplotlib(tmp_path):
    """In a fresh process without matplotlib, all commands load, and a picture is refused in a sentence."""
    required = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert not [name for name in required if name.startswith("matplotlib")]
    program = ("import sys, importlib.util as u; real = u.find_spec; sys.modules['matplotlib'] = None\n"
               "u.find_spec = lambda name, *more: None if name == 'matplotlib' else real(name, *more)\n"
               "from pencilmap.scripts.command_line.cli import main; main(sys.argv[1:])")
    start = [sys.executable, "-c", program]
    assert "cubes" in execute(*start, "predict", "--network", "4x4x4", "--grid", "8x8", "-p", "box:2x2x2", cwd=tmp_path)
    done = subprocess.run([*start, "draw", "--what", "loads", "--network", "4x4x4", "--grid", "8x8", "-o", "loads.svg"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=patience(120))
    assert done.returncode == 1 and len(re.findall("^(error|help): ", done.stderr, re.MULTILINE)) == 2
    assert "pip install matplotlib" in done.stderr and not (tmp_path / "loads.svg").exists()


def test_the_description_for_an_index_has_commands_of_the_readme_and_no_link_into_the_tree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    text = (ROOT / project["readme"]).read_text("utf-8")
    shown = re.findall(r"^    (pencilmap .*)$", text, re.MULTILINE)
    assert "](" not in text and len(shown) == 2
    assert [c for c in shown if f"$ {c}" not in (ROOT / "README.md").read_text("utf-8")] == []
