"""Every reader takes damaged inputs or refuses them in a sentence, in little time and memory. `scripts/fuzz` runs longer."""

import fcntl
import os
import re
import resource
import struct
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st

from pencilmap.model.base.errors import PencilmapError
from tests.fft_runner.conftest import programs  # noqa: F401  (a fixture: the targets in C use the built library)
from tests.fuzz import readers
from tests.fuzz.first_inputs import IN_C

FOLDER = Path(__file__).parent
BUILD = FOLDER.parents[1] / "build" / "fuzz"
ROUND = 100  # inputs between two looks at the clock
SLOWEST_S = 2.0  # limit of an input
MOST_S, MOST_BYTES = 5.0, 1 << 30  # for a megabyte: of computing, and of address space beyond that of this process
EDGES = [b"0", b"1", b"-1", b"7", b"65536", b"2147483648", b"9223372036854775808", b"9" * 30, b"1e999", b"nan", b"Infinity",
         b"-0", *(bytes([n]) for n in b" \t\n\r,.:;=-x/#<>()[]{}*\"'&!$")]


class Served:
    """A target in C in a process of its own, which is started again after a finding."""

    def __init__(self, program):
        self.program, self.process = program, None

    def __call__(self, content):
        if self.process is None:
            self.errors = tempfile.TemporaryFile()  # noqa: SIM115
            self.process = subprocess.Popen([self.program], stdin=-1, stdout=-1, stderr=self.errors)
        self.process.stdin.write(struct.pack("I", len(content)) + content)
        self.process.stdin.flush()
        if self.process.stdout.read(1) != b".":
            status, self.process = self.process.wait(), None
            self.errors.seek(0)
            raise AssertionError(f"status {status}: {self.errors.read()[-3000:].decode('utf-8', 'replace')}")


def cmake(*words):
    done = subprocess.run(["cmake", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@pytest.fixture(scope="session")
def target(programs):  # noqa: F811
    """Return a target by its name: a function of bytes."""
    built = []

    def find(name):
        if name in readers.TARGETS:
            return lambda content: readers.check(name, content)
        if not built:
            BUILD.mkdir(exist_ok=True)
            with open(BUILD / ".lock", "w") as alone:
                fcntl.flock(alone, fcntl.LOCK_EX)
                cmake("-S", FOLDER, "-B", BUILD)
                cmake("--build", BUILD, "--parallel", 2)
            built.append(BUILD)
        return Served(BUILD / f"fuzz_{name}")

    return find


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


@pytest.mark.parametrize("name", [*IN_C, *readers.TARGETS])
def test_damaged_inputs_are_read_or_refused(name, target):
    """The first inputs and a round of changes; `scripts/fuzz` sets the seconds and the seed."""
    seconds, start = map(float, os.environ.get("PENCILMAP_FUZZ", "0 1").split())
    run, seeds = target(name), readers.seeds(name)
    end = time.monotonic() + seconds
    for content in seeds:
        run(content)

    @settings(max_examples=ROUND, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged(seeds))
    def once(content):
        began = time.process_time()
        run(content)
        assert time.process_time() - began < SLOWEST_S

    for number in count(int(start)):
        seed(number)(once)()
        if time.monotonic() >= end:
            break


def test_an_access_beyond_an_input_is_found(tmp_path):
    (tmp_path / "planted.c").write_text("""#include "target.h"
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
        {
            volatile char last = target_text(data, size)[size > 2 && data[2] == 'g' ? size + 1 : size];
            return last;
        }""")
    subprocess.run(["gcc", "-I", FOLDER, "-fsanitize=address", "planted.c", FOLDER / "driver.c", FOLDER / "target.c",
                    "-o", "planted"], cwd=tmp_path, check=True)
    run = Served(tmp_path / "planted")
    for _ in range(2):
        run(b"but")
        with pytest.raises(AssertionError, match="heap-buffer-overflow"):
            run(b"bug")


def grown(content, random, size):
    """Yield forms of a file of about `size` bytes: repeated parts, also with other numbers, nested brackets, long words."""
    lines = content.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    before, line, after = b"".join(lines[:at]), lines[at].rstrip(b"\n") + b"\n", b"".join(lines[at + 1:])
    yield content * (size // max(len(content), 1))
    yield before + b"".join(numbered(line, size)) + after
    for pattern, make in ((rb"\S+", lambda part: b" ".join(numbered(part, size))),
                          (rb"[^,\s\[\](){}]+(?=,)", lambda part: b",".join(numbered(part, size))),
                          (rb"\S", lambda part: part * size), (rb"[(\[{<]", lambda part: part * size),
                          (rb"\d", lambda part: part * size), (rb"\d+", lambda part: b"1000000000")):
        if found := list(re.finditer(pattern, content)):
            part = random.choice(found)
            yield content[:part.start()] + make(part[0]) + content[part.end():]


def numbered(part, size):
    """Yield copies of a part, each with its numbers one larger than those of the copy before."""
    for k in range(size // (len(part) + 1)):
        yield re.sub(rb"\d{1,9}", lambda digits, k=k: b"%0*d" % (len(digits[0]), int(digits[0]) + k), part)


def problem(name, content):
    """Run a target in another process with limits; return what is wrong, "" if nothing is."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "no end"
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES,) * 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + 2 * MOST_S),) * 2)
            began = time.process_time()
            try:
                said = ""
                readers.TARGETS[name](content)
            except PencilmapError as error:
                said = str(error) if "\n" in str(error) or "MemoryError" in str(error) else ""
            took = time.process_time() - began
            said = said or (f"takes {took:.1f} s" if took > MOST_S else "")
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"[:300]
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said or (f"ends with {status}" if status else "")


@pytest.mark.parametrize("name", readers.TARGETS)
def test_inputs_of_a_megabyte_take_little_time_and_memory(name, request):
    """On each commit an eighth of a megabyte of one form of an input, at night three forms of each."""
    is_slow, seeds, random = request.config.getoption("--slow"), readers.seeds(name), Random(name)
    for whole in seeds if is_slow else [random.choice(seeds)]:
        forms = list(grown(whole, random, 1 << 20 if is_slow else 1 << 17))
        for content in random.sample(forms, min(3, len(forms)) if is_slow else 1):
            assert not problem(name, content), content[:200]


@pytest.mark.parametrize("action, part", [
    (lambda: [0] * (1 << 28), "MemoryError"), (lambda: 1 / 0, "ZeroDivisionError"), (lambda: None, "")])
def test_what_takes_much_memory_is_found(monkeypatch, action, part):
    monkeypatch.setitem(readers.TARGETS, "grows", lambda content: action())
    found = problem("grows", b"")
    assert part in found and bool(found) == bool(part)
