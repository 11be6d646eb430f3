"""Fuzz the readers: `scripts/fuzz --seconds 300`, also with the names of targets. Exit status 1: something was found.

The targets in C (fuzz_*.c, under the sanitizers) and in Python (readers.py, by Hypothesis in test_fuzz.py) run at the same
time. Each starts from the files in its folder of `corpus`. Hypothesis prints an input with a finding. For targets in C,
`build/fuzz/found` keeps it, and `build/fuzz/fuzz_TARGET FILE` runs it again.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.readers import CORPUS, TARGETS

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
C_TARGETS = ("torus", "mapfile", "hosts", "request", "options", "wisdom", "platform", "routes")


def build() -> None:
    """Build the targets in C."""
    for command in (["cmake", "-S", ROOT / "tests" / "fuzz", "-B", BUILD], ["cmake", "--build", BUILD, "--parallel", "2"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"fuzz: the targets in C cannot be built (scripts/setup first):\n{(done.stdout + done.stderr)[-4000:]}")
    (BUILD / "found").mkdir(exist_ok=True)


def fuzz_c(name: str, seconds: float, seed: int) -> bool:
    """Run a target in C; return whether there was no finding."""
    found = BUILD / "found" / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    done = subprocess.run([BUILD / f"fuzz_{name}", "--seconds", str(seconds), "--seed", str(seed), "--crash", found,
                           CORPUS / name], capture_output=True, text=True, errors="replace")
    said = done.stdout if done.returncode == 0 else done.stderr[-4000:]
    print(f"{name}: {said.strip()}", flush=True)
    return done.returncode == 0


def fuzz_python(names: list[str], seconds: float, seed: int) -> bool:
    """Run the targets in Python; return whether there was no finding."""
    test = "tests/fuzz/test_fuzz.py::test_damaged_inputs_are_read_or_refused"
    return subprocess.run([sys.executable, "-m", "pytest", "-n0", "-q", *(f"{test}[{name}]" for name in names)], cwd=ROOT,
                          env={**os.environ, "PENCILMAP_FUZZ": f"{seconds} {seed}"}).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default all: {', '.join((*C_TARGETS, *TARGETS))}")
    parser.add_argument("--seconds", type=float, default=300, help="for all together, without building (default 300)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)),
                        help="number from which inputs are drawn; another one each time")
    options = parser.parse_args()
    wanted = options.targets or [*C_TARGETS, *TARGETS]
    if unknown := set(wanted).difference(C_TARGETS, TARGETS):
        parser.error(f"target {unknown.pop()} is unknown; known are {', '.join((*C_TARGETS, *TARGETS))}")
    print(f"fuzz: seed {options.seed}", flush=True)
    in_c, in_python = ([name for name in wanted if (name in C_TARGETS) == side] for side in (True, False))
    if in_c:
        build()
    with ThreadPoolExecutor(2) as pool:  # the programs in C need their own core
        runs = [pool.submit(fuzz_python, in_python, options.seconds / len(in_python), options.seed)] if in_python else []
        runs += [pool.submit(fuzz_c, name, options.seconds / len(in_c), options.seed) for name in in_c]
    sys.exit(not all(run.result() for run in runs))


if __name__ == "__main__":
    main()
