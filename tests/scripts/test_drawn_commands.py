"""Random commands keep their answers: this finds mistakes in cases that nobody thought of.

`drawn_answers.txt` has a line for each kind of `drawn_commands.py`, with a number for each command: the weighted sum of the
figures of its JSON answer and of its output file, or the exit status of a refusal. For an intended change, run ``python -m
tests.scripts.test_drawn_commands``. With KIND and NUMBER, the program prints a command and its answer, for a comparison with
another version. Answers that differ with OPENBLAS_CORETYPE=NEHALEM or HASWELL are `UNSTABLE`.
"""

import contextlib
import math
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from tests.scripts.drawn_commands import KINDS, UNSTABLE, Draw
from tests.scripts.test_known_answers import NUMBER, answer

KNOWN = Path(__file__).with_name("drawn_answers.txt")


def asked(kind, number, folder):
    """Return a command, its exit status, and its JSON answer with its output file."""
    words = kind(Draw(f"{kind.__name__} {number}", folder))
    words += [] if "--json" in words else ["--json"]
    with contextlib.chdir(folder):
        status, said = answer(words)
    return shlex.join(words), status, "\n".join([said, *(made.read_text("utf-8") for made in folder.glob("made*"))])


def fingerprint(status, text):
    """Return a sum of the numbers in which the last digits matter little, or the status of a refusal."""
    if status:
        return float(status)
    numbers = [float(number) for number in NUMBER.findall(text)]
    return sum(math.cos(place) * (math.log(number) if number else -50) for place, number in enumerate(numbers, 1))


def cases():
    """Return each kind and number, and the stored value."""
    stored = dict(line.split(": ") for line in KNOWN.read_text("utf-8").splitlines()) if KNOWN.exists() else {}
    for kind, count in KINDS.items():
        numbers = [number for number in range(count) if f"{kind.__name__} {number}" not in UNSTABLE]
        known = stored.get(kind.__name__, "").split()
        for place, number in enumerate(numbers):
            yield kind, number, known[place] if place < len(known) else "nan"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind, number, known", [
    pytest.param(*case, id=f"{case[0].__name__}-{case[1]}") for case in cases()])
def test_a_command_at_random_answers_what_it_answered(kind, number, known, tmp_path):
    line, status, said = asked(kind, number, tmp_path)
    how = f"python -m tests.scripts.test_drawn_commands {kind.__name__} {number} prints another answer: pencilmap {line}"
    assert fingerprint(status, said) == pytest.approx(float(known), abs=1e-6), how


if __name__ == "__main__":
    if sys.argv[1:]:
        kind = next(kind for kind in KINDS if kind.__name__ == sys.argv[1])
        with tempfile.TemporaryDirectory() as name:
            print("$ pencilmap", *map(str, asked(kind, int(sys.argv[2]), Path(name))), sep="\n")
    else:
        found: dict[str, list[str]] = {}
        for kind, number, _ in cases():
            with tempfile.TemporaryDirectory() as name:
                value = fingerprint(*asked(kind, number, Path(name))[1:])
            found.setdefault(kind.__name__, []).append(f"{value:.8f}")
        KNOWN.write_text("".join(f"{name}: {' '.join(values)}\n" for name, values in found.items()), "utf-8")
