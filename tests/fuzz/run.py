"""Fuzz the readers: `scripts/fuzz --seconds 300`, also with the names of targets. Exit status 1: something was found.

The targets in C (fuzz_*.c, under the sanitizers) and in Python (readers.py, with changes by Hypothesis) run at the same
time. Each starts from the files in its folder of `corpus`. `build/fuzz/found` keeps each input with a finding, and
`scripts/fuzz --again FILE`, a file named TARGET-..., runs this input alone.
"""

import argparse
import os
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from tests.fuzz.readers import CORPUS, TARGETS, check, seeds

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
C_TARGETS = ("torus", "mapfile", "hosts", "request", "options", "wisdom", "platform", "routes")
ROUND = 100  # inputs between two looks at the clock
SLOWEST_S = 2.0  # limit of an input
EDGES = ("0", "1", "-1", "7", "65536", "2147483648", "9223372036854775808", "9" * 30, "1e999", "nan", "Infinity", "-0")


def build() -> None:
    """Build the targets in C."""
    for command in (["cmake", "-S", ROOT / "tests" / "fuzz", "-B", BUILD], ["cmake", "--build", BUILD, "--parallel", "2"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"fuzz: the targets in C cannot be built (scripts/setup first):\n{(done.stdout + done.stderr)[-4000:]}")


def found_path(name: str) -> Path:
    """Return the path for the input of a finding."""
    folder = BUILD / "found"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"


def fuzz_c(name: str, seconds: float, start: int) -> bool:
    """Run a target in C; return whether there was no finding."""
    command = [BUILD / f"fuzz_{name}", "--seconds", str(seconds), "--seed", str(start), "--crash", found_path(name),
               CORPUS / name]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")
    said = done.stdout if done.returncode == 0 else done.stderr[-4000:]
    print(f"{name}: {said.strip()}", flush=True)
    return done.returncode == 0


def changed(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Return files of the corpus with up to eight changes."""
    parts = [part for content in seeds for part in content.split()] or [b""]
    lines = [line for content in seeds for line in content.splitlines(keepends=True)] or [b""]
    piece = st.one_of(st.sampled_from(parts), st.sampled_from(lines), st.sampled_from([edge.encode() for edge in EDGES]),
                      st.binary(max_size=3), st.sampled_from([bytes([n]) for n in b" \t\n\r,.:;=-x/#<>()[]{}*\"'&!$"]))
    change = st.tuples(st.integers(0, 1 << 16), st.integers(0, 12), piece, st.sampled_from((1, 1, 1, 40)))

    def apply(content, changes):
        for at, cut, with_, times in changes:
            at %= len(content) + 1
            content = content[:at] + with_ * times + content[at + cut:]
        return content

    return st.one_of(st.builds(apply, st.sampled_from(seeds), st.lists(change, min_size=1, max_size=8)),
                     st.lists(piece, max_size=20).map(b" ".join))


def fuzz_python(name: str, seconds: float, start: int) -> bool:
    """Run a target in Python; return whether there was no finding."""
    begin = seeds(name)
    last, count, end = b"", 0, time.monotonic() + seconds

    @settings(max_examples=ROUND, database=None, deadline=None, phases=(Phase.generate, Phase.shrink),
              suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(changed(begin))
    def one(content):
        nonlocal last, count
        last, count = content, count + 1
        began = time.process_time()
        check(name, content)
        took = time.process_time() - began
        assert took < SLOWEST_S, f"takes {took:.1f} s"

    try:
        for content in begin:
            last = content
            check(name, content)
        while time.monotonic() < end:
            seed(start)(one)()
            start += 1
    except Exception:
        path = found_path(name)
        path.write_bytes(last)
        print(f"{name}: {traceback.format_exc(limit=-6)}fuzz: the input that did it is in {path}", flush=True)
        return False
    print(f"{name}: {count} inputs from {len(begin)} of the corpus, nothing found", flush=True)
    return True


def again(path: Path) -> bool:
    """Run an input, by the target at the start of its name."""
    name = path.name.partition("-")[0]
    if name not in C_TARGETS:
        check(name, path.read_bytes())
        return True
    build()
    return subprocess.run([str(BUILD / f"fuzz_{name}"), str(path)]).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default all: {', '.join((*C_TARGETS, *TARGETS))}")
    parser.add_argument("--seconds", type=float, default=300, help="for all together, without building (default 300)")
    parser.add_argument("--seed", type=int, default=None, help="number from which inputs are drawn; another one each time")
    parser.add_argument("--again", type=Path, metavar="FILE", help="run this input alone; its name begins with the target's")
    options = parser.parse_args()
    if options.again:
        sys.exit(not again(options.again))
    wanted = options.targets or [*C_TARGETS, *TARGETS]
    for name in wanted:
        if name not in (*C_TARGETS, *TARGETS):
            parser.error(f"target {name} is unknown; known are {', '.join((*C_TARGETS, *TARGETS))}")
    start = options.seed if options.seed is not None else int.from_bytes(os.urandom(3))
    in_c, in_python = ([name for name in wanted if (name in C_TARGETS) == side] for side in (True, False))
    print(f"fuzz: seed {start}", flush=True)
    if in_c:
        build()
    with ThreadPoolExecutor(1) as beside:  # the programs in C need their own core, and this thread uses the other
        programs = [beside.submit(fuzz_c, name, options.seconds / len(in_c), start) for name in in_c]
        held = [fuzz_python(name, options.seconds / len(in_python), start) for name in in_python]
        held += [program.result() for program in programs]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
