"""Fuzz the readers: `scripts/fuzz --seconds 300`, also with the names of targets. Exit status 1: something was found.

Hypothesis draws the inputs for the targets in C (fuzz_*.c, under the sanitizers) and in Python (readers.py), and prints an
input with a finding. `build/fuzz/fuzz_TARGET FILE` runs a file through a target in C.
"""

import argparse
import os
import subprocess
import sys

from tests.fuzz.first_inputs import IN_C
from tests.fuzz.readers import TARGETS

TEST = "tests/fuzz/test_fuzz.py::test_damaged_inputs_are_read_or_refused"


def main() -> None:
    known = [*IN_C, *TARGETS]
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default all: {', '.join(known)}")
    parser.add_argument("--seconds", type=float, default=300, help="for all together, without building (default 300)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)),
                        help="number from which inputs are drawn; another one each time")
    options = parser.parse_args()
    wanted = options.targets or known
    if unknown := set(wanted).difference(known):
        parser.error(f"target {unknown.pop()} is unknown; known are {', '.join(known)}")
    print(f"fuzz: seed {options.seed}", flush=True)
    workers = min(2, len(wanted))
    sys.exit(subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(workers), *(f"{TEST}[{name}]" for name in wanted)],
        env={**os.environ, "PENCILMAP_FUZZ": f"{workers * options.seconds / len(wanted)} {options.seed}"}).returncode)


if __name__ == "__main__":
    main()
