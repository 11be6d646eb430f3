"""`import pencilmap`: light, complete, and its examples run."""

import doctest
import inspect
import pydoc
import subprocess
import sys

import pytest

import pencilmap
from pencilmap.model.base.errors import MachineError
from tests.documents import ROOT
from tests.patience import patience


def test_importing_it_loads_nothing_heavy():
    """The import takes less than 30 ms, which a test cannot measure on a busy machine."""
    done = subprocess.run([sys.executable, "-c", "import sys, pencilmap; print(*sys.modules)"], capture_output=True,
                          text=True, timeout=patience(60), check=True, env={"PYTHONPATH": str(ROOT / "packaging")})
    loaded = set(done.stdout.split())
    assert "pencilmap" in loaded
    assert loaded & {"numpy", "scipy", "networkx", "click", "inspect", "importlib.metadata"} == set()


@pytest.mark.parametrize("name", pencilmap.__all__)
def test_every_name_is_there_with_words(name):
    value = getattr(pencilmap, name)
    assert not callable(value) or inspect.getdoc(value)
    assert name in dir(pencilmap)


def test_a_name_that_is_not_there_is_said():
    with pytest.raises(AttributeError, match="No pencilmap attribute predictor"):
        _ = pencilmap.predictor


def test_its_help_shows_the_example_and_the_names():
    text = pydoc.plain(pydoc.render_doc(pencilmap))
    assert "import pencilmap" in text and all(name in text for name in pencilmap.__all__)


def test_the_example_of_its_help_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(pencilmap)
    assert found.attempted > 5 and found.failed == 0
    assert (tmp_path / "best.map").exists()


def test_it_runs_as_a_module_with_its_version():
    done = subprocess.run([sys.executable, "-m", "pencilmap", "--version"], capture_output=True, text=True,
                          timeout=patience(60))
    assert done.stdout.split()[-1] == pencilmap.__version__


def test_errors_name_arguments_here_and_options_on_the_command_line(request):
    with pytest.raises(MachineError, match="give `machine` NAME"):
        pencilmap.setting()
    assert "give --machine NAME" in request.getfixturevalue("pencilmap")("predict")[2]
