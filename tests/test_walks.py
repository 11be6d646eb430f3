"""The walks of three users, as in the docs, with only an installed wheel: no checkout, an empty home.

test_docs.py runs the same pages from the checkout; this test uses the files of `pip install`.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.documents import ROOT, commands
from tests.patience import patience
from tests.test_package import OFFLINE, PIP, execute

pytestmark = pytest.mark.thorough
PAGES = {"before-a-job": (), "own-code": (pytest.mark.slow,), "check-a-network": (pytest.mark.slow,)}  # the last builds C
TIMEOUT_S = 900


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Environment with only a wheel of pencilmap and its requirements."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "source"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns("tests", "mapfiles", ".git", "build", ".venv",
                                                                             "__pycache__", "*.egg-info"))
    execute(*PIP, "wheel", *OFFLINE, "--wheel-dir", folder, copy, seconds=300)
    [wheel] = folder.glob("*.whl")
    execute(*PIP, "install", "--no-deps", "--target", folder / "site", wheel, seconds=120)
    shutil.rmtree(copy)
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return kept | {"PATH": f"{folder}/site/bin:{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
                   "PYTHONPATH": str(folder / "site"), "HOME": str(folder), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def test_what_runs_is_the_wheel(installed, tmp_path):
    where = execute(sys.executable, "-c", "import pencilmap; print(pencilmap.__file__)", env=installed, cwd=tmp_path)
    assert where.startswith(installed["PYTHONPATH"]) and shutil.which("pencilmap", path=installed["PATH"]).startswith(
        installed["PYTHONPATH"])


@pytest.mark.parametrize("page", [pytest.param(page, marks=marks) for page, marks in PAGES.items()])
def test_the_page_prints_what_it_shows(page, installed, tmp_path):
    text = (ROOT / "docs" / "howto" / f"{page}.md").read_text("utf-8")
    found = commands(text)
    assert len(found) >= 2
    for command in found:
        done = subprocess.run(command.text, shell=True, cwd=tmp_path, env=installed, capture_output=True, text=True,
                              timeout=patience(TIMEOUT_S))
        assert done.returncode == 0, done.stderr
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines()).rstrip("\n")
        assert not command.shown or command.agrees(printed), printed
    if ">>>" in text:
        (tmp_path / "examples.md").write_text(text, "utf-8")
        run = (f"import sys; sys.path.append({str(ROOT)!r}); from tests.documents import wrong_examples\n"
               "from pathlib import Path\nprint(wrong_examples(Path('examples.md').read_text('utf-8'), '.'), end='')")
        assert execute(sys.executable, "-c", run, env=installed, cwd=tmp_path) == ""
