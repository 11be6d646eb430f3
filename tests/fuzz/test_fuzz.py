"""Fuzzing finds a planted error, and nothing in a short run over all readers. `scripts/fuzz` runs longer."""

import os
import subprocess
import time
from itertools import count
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st

from pencilmap.model.base.errors import MapfileError
from tests.fuzz import readers, run, scaled

ROUND = 100  # inputs between two looks at the clock
SLOWEST_S = 2.0  # limit of an input
EDGES = [b"0", b"1", b"-1", b"7", b"65536", b"2147483648", b"9223372036854775808", b"9" * 30, b"1e999", b"nan", b"Infinity",
         b"-0", *(bytes([n]) for n in b" \t\n\r,.:;=-x/#<>()[]{}*\"'&!$")]
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


def test_a_short_run_over_the_readers_in_c_finds_nothing(programs):
    done = subprocess.run([run.ROOT / "scripts" / "fuzz", "--seconds", "1", "--seed", "1", *run.C_TARGETS],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in run.C_TARGETS:
        assert f"{name}: " in done.stdout


def damaged(seeds):
    """Return a strategy: inputs with up to eight changes, each a cut and a piece in its place, or pieces alone."""
    piece = st.sampled_from([part for content in seeds for part in (*content.split(), *content.splitlines(keepends=True))]
                            + EDGES) | st.binary(max_size=3)
    change = st.tuples(st.integers(0, 1 << 16), st.integers(0, 12), piece, st.sampled_from((1, 1, 1, 40)))

    def apply(content, changes):
        for at, cut, with_, times in changes:
            at %= len(content) + 1
            content = content[:at] + with_ * times + content[at + cut:]
        return content

    return st.builds(apply, st.sampled_from(seeds), st.lists(change, min_size=1, max_size=8)) | st.lists(
        piece, max_size=20).map(b" ".join)


@pytest.mark.parametrize("name", readers.TARGETS)
def test_damaged_inputs_are_read_or_refused(name):
    """The corpus and a round of changes; `scripts/fuzz` sets the seconds and the seed."""
    seconds, start = map(float, os.environ.get("PENCILMAP_FUZZ", "0 1").split())
    end, seeds = time.monotonic() + seconds, readers.seeds(name)
    for content in seeds:
        readers.check(name, content)

    @settings(max_examples=ROUND, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged(seeds))
    def once(content):
        began = time.process_time()
        readers.check(name, content)
        assert time.process_time() - began < SLOWEST_S

    for number in count(int(start)):
        seed(number)(once)()
        if time.monotonic() >= end:
            break


@pytest.mark.parametrize("error", [ZeroDivisionError("of the parser"), MapfileError("two\nlines")])
def test_an_error_that_is_no_sentence_is_a_finding(monkeypatch, error):
    def breaks(content):
        raise error

    monkeypatch.setitem(readers.TARGETS, "breaks", breaks)
    with pytest.raises((ZeroDivisionError, AssertionError)):
        readers.check("breaks", b"")


@pytest.mark.parametrize("name", readers.TARGETS)
def test_inputs_of_a_megabyte_take_little_time_and_memory(name, request):
    """On each commit an eighth of a megabyte of one form of a file of the corpus, at night three forms of each file."""
    is_slow, seeds, random = request.config.getoption("--slow"), readers.seeds(name), Random(name)
    for whole in seeds if is_slow else [random.choice(seeds)]:
        forms = list(scaled.grown(whole, random, 1 << 20 if is_slow else 1 << 17))
        for content in random.sample(forms, min(3, len(forms)) if is_slow else 1):
            assert not scaled.problem(name, content), content[:200]


@pytest.mark.parametrize("action, part", [
    (lambda: [0] * (1 << 28), "MemoryError"), (lambda: 1 / 0, "ZeroDivisionError"), (lambda: None, "")])
def test_what_takes_much_memory_is_found(monkeypatch, action, part):
    monkeypatch.setitem(readers.TARGETS, "grows", lambda content: action())
    found = scaled.problem("grows", b"")
    assert part in found and bool(found) == bool(part)
