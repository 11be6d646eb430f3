"""Fuzzing finds a planted error, and nothing in a short run over all readers. `scripts/fuzz` runs longer."""

import subprocess
from random import Random

import pytest

from pencilmap.model.base.errors import MapfileError
from tests.fuzz import readers, run, scaled

PLANTED = """
#include "target.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = target_text(data, size);
    volatile char last = 0;
    if (size > 2 && text[0] == 'b' && text[1] == 'u' && text[2] == 'g')
        last = text[size + 1]; /* behind the end */
    return last;
}
"""


def test_the_driver_finds_what_is_planted_and_keeps_its_input(tmp_path):
    (tmp_path / "planted.c").write_text(PLANTED)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "seed").write_text("but")
    here = run.ROOT / "tests" / "fuzz"
    gcc = ["gcc", "-I", here, "-fsanitize=address"]
    subprocess.run([*gcc, "-fsanitize-coverage=trace-pc", "-c", "planted.c"], cwd=tmp_path, check=True)
    subprocess.run([*gcc, "planted.o", here / "driver.c", here / "target.c", "-o", "planted"], cwd=tmp_path, check=True)
    done = subprocess.run(["./planted", "--seconds", "30", "--seed", "1", "--crash", "found", "corpus"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr
    assert (tmp_path / "found").read_bytes().startswith(b"bug")
    again = subprocess.run(["./planted", "found"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode != 0 and "heap-buffer-overflow" in again.stderr


@pytest.mark.parametrize("error", [ZeroDivisionError("of the parser"), MapfileError("two\nlines")])
def test_a_finding_in_python_is_kept(monkeypatch, tmp_path, capsys, error):
    def breaks(content):
        if b"42" in content:
            raise error

    (tmp_path / "breaks").mkdir()
    (tmp_path / "breaks" / "seed").write_text("4 2")
    monkeypatch.setitem(readers.TARGETS, "breaks", breaks)
    monkeypatch.setattr(readers, "CORPUS", tmp_path)
    monkeypatch.setattr(run, "BUILD", tmp_path / "build")
    assert run.fuzz_python("breaks", 30, 1) is False
    [kept] = (tmp_path / "build" / "found").iterdir()
    assert b"42" in kept.read_bytes() and str(kept) in capsys.readouterr().out
    with pytest.raises((ZeroDivisionError, AssertionError)):
        run.again(kept)


def test_a_short_run_over_all_readers_finds_nothing(programs):
    done = subprocess.run([run.ROOT / "scripts" / "fuzz", "--seconds", "1", "--seed", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in (*run.C_TARGETS, *readers.TARGETS):
        assert f"{name}: " in done.stdout


@pytest.mark.parametrize("name", readers.TARGETS)
def test_inputs_of_a_megabyte_take_little_time_and_memory(name, request):
    """On each commit an eighth of a megabyte of one form of a file of the corpus, at night three forms of each file."""
    is_slow, seeds, random = request.config.getoption("--slow"), readers.seeds(name), Random(name)
    for seed in seeds if is_slow else [random.choice(seeds)]:
        forms = list(scaled.grown(seed, random, 1 << 20 if is_slow else 1 << 17))
        for content in random.sample(forms, min(3, len(forms)) if is_slow else 1):
            assert not scaled.problem(name, content), content[:200]


@pytest.mark.parametrize("action, part", [
    (lambda: [0] * (1 << 28), "MemoryError"), (lambda: 1 / 0, "ZeroDivisionError"), (lambda: None, "")])
def test_what_takes_much_memory_is_found(monkeypatch, action, part):
    monkeypatch.setitem(readers.TARGETS, "grows", lambda content: action())
    found = scaled.problem("grows", b"")
    assert part in found and bool(found) == bool(part)
