"""What `pip install .` puts in place: all layers, types and C sources; no build product, no maintainer's program."""

import shutil
import subprocess
import sys

import pytest

from tests.documents import ROOT

pytestmark = pytest.mark.thorough

SETUP = "import setuptools; setuptools.setup()"
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "build-*", "__pycache__", "*.egg-info", "demo-out", "dist")


def setup(folder, *command):
    done = subprocess.run([sys.executable, "-c", SETUP, *command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def built(folder):
    """What a wheel of the checkout in `folder` would hold."""
    setup(folder, "build")
    return files(folder / "build" / "python" / "lib")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy in which CMake has built, and what is in a wheel of it."""
    copy = tmp_path_factory.mktemp("package") / "pencilmap"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=NOT_COPIED)
    (copy / "build" / "lib").mkdir(parents=True)
    (copy / "build" / "lib" / "libpencilfft.so").write_bytes(b"")
    return copy, built(copy)


def test_a_wheel_holds_every_module_and_what_it_reads(checkout):
    _, found = checkout
    layers = [path for layer in ("model", "mapper", "scripts", "fft_runner") for path in (ROOT / layer).rglob("*.*")]
    wanted = {f"pencilmap/{path.relative_to(ROOT)}" for path in layers if "maintenance" not in path.parts
              and path.suffix in (".py", ".toml", ".csv", ".c", ".h")}
    assert sorted(wanted - found) == []
    assert {"pencilmap/py.typed", "pencilmap/__init__.py", "pencilfft/__init__.py"} <= found
    assert {"pencilmap/fft_runner/CMakeLists.txt", "pencilmap/scripts/pictures/report/page.html"} <= found


def test_a_wheel_holds_nothing_that_was_built_and_no_program_of_maintainers(checkout):
    _, found = checkout
    assert sorted({name.partition("/")[0] for name in found}) == ["pencilfft", "pencilmap"]
    assert [name for name in found if name.endswith((".so", ".a", ".o", ".pyc")) or "/maintenance/" in name] == []


def test_a_source_distribution_builds_the_same_wheel(checkout, tmp_path):
    copy, found = checkout
    setup(copy, "sdist", "--dist-dir", str(tmp_path))
    [archive] = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    assert built(tmp_path / archive.name.removesuffix(".tar.gz")) == found
