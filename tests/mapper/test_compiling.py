"""Compilation of the searches: its cache, also if the usual folders cannot be written, and its message."""

import os
import subprocess
import sys

import numba
import pytest
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from pencilmap.mapper.base import compiling
from pencilmap.mapper.base.progress import heard_by
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import noting_inputs
from tests.patience import patience


def test_if_numba_finds_no_folder_the_cache_is_a_private_folder(monkeypatch, tmp_path):
    """The usual folders are beside the source and in the user's home."""
    from numba.core import caching

    given = [kind for kind in caching.CacheImpl._locator_classes if "UserProvided" in kind.__name__]
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", given)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert compiling.compiled(lambda x: x + 1)(2) == 3
    [folder] = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700 and list(folder.rglob("*.nbc"))


LOOP = """
from pencilmap.mapper.base.compiling import compiled

@compiled
def loop(x):
    return x + {added}
"""


def run_loop(folder, added, call, **more):
    """Run `call` in a process of its own, with a source that adds a number, and with the cache of earlier processes."""
    (folder / "loop.py").write_text(LOOP.format(added=added))
    os.utime(folder / "loop.py", (added, added))
    code = f"import sys; sys.path[:0] = {[str(folder), *sys.path]}; from loop import loop; {call}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=patience(60), **more)


@pytest.mark.thorough
def test_a_process_that_ends_while_it_stores_code_leaves_no_older_code(tmp_path):
    dies = ("import os; from pencilmap.mapper.base import compiling; "
            "compiling.write_whole = lambda *given: os._exit(7); loop(1)")
    assert run_loop(tmp_path, 1, "print(loop(1))").stdout == "2\n"
    assert run_loop(tmp_path, 2, dies).returncode == 7
    assert run_loop(tmp_path, 2, "print(loop(1))").stdout == "3\n"


def test_damaged_files_are_compiled_and_stored_again(tmp_path):
    """Cut, emptied, or with one other bit in the middle: such code would end with a traceback or crash."""
    stored = compiling._Stored(IndexDataCacheFile(str(tmp_path), "loop", "stamp"))
    stored.save("key", ["code"] * 50)
    [path] = tmp_path.iterdir()
    whole = path.read_bytes()
    middle = len(whole) // 2
    for damaged in (b"", whole[:middle], whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:], whole[32:]):
        path.write_bytes(damaged)
        with noting_inputs():  # as in a command, which does not replace its own input
            assert stored.load("key") is None
            stored.save("key", ["code"] * 50)
        assert stored.load("key") == ["code"] * 50


def test_code_that_cannot_be_stored_is_used_and_told_once(monkeypatch, tmp_path):
    def is_full(path, *given):
        raise PencilmapError(f"{path} cannot be written") from OSError(28, "No space left on device")

    compiling._tell_unstored.cache_clear()
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "write_whole", is_full)
    said = []
    with heard_by(said.append):
        loop = compiling.compiled(lambda x: x + 1)
        assert (loop(1), loop(1.0)) == (2, 2.0)
    assert len([line for line in said if str(tmp_path) in line]) == 1


def test_without_compilation_the_loops_run_as_python(tmp_path):
    done = run_loop(tmp_path, 1, "print(loop(1))", env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert (done.stdout, done.stderr) == ("2\n", "")


FIRST_ANSWERS = ("8x8x8", "4x4x8:twisted", "fat-tree:leaves=8,hosts=8,up=4", "dragonfly:a=4,p=2,h=2", "hyperx:4x4,hosts=4",
                 "dragonfly-plus:leaves=4,spines=4,hosts=2,groups=5")


@pytest.mark.parametrize("words", ["from pencilmap.mapper.choose import plan", "import pencilmap.scripts.command_line.cli"])
def test_numba_is_not_loaded_before_a_search(words):
    code = (f"{words}\nimport sys\nfrom pencilmap.mapper.choose import plan\nfrom pencilmap.mapper.setting import setting\n"
            f"for network in {FIRST_ANSWERS}:\n"
            "    plan(setting(network=network, fft='64', bandwidth='1 GB/s'), effort='quick')\n"
            "print('numba' in sys.modules, 'scipy.sparse' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=patience(60))
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["False", "False"], "")


def test_the_first_compilation_of_a_process_is_reported_once():
    said = []
    with heard_by(said.append), event.install_listener("numba:compile", compiling._Told()):
        for factor in (2, 3):
            assert numba.njit(lambda x, factor=factor: x * factor)(5) == 5 * factor
    assert said.count(compiling.COMPILING) >= 1 and len(said) <= 2  # the listener of the process may report it, too
