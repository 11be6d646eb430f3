"""Random commands keep their answers: this finds mistakes in cases that nobody thought of.

`drawn_answers.txt` has a line for each command of `drawn_commands.py`: its kind and number, a checksum of the words of its
answer and of its output file, the count of numbers, and their weighted sum. For an intended change, run ``python -m
tests.scripts.test_drawn_commands``. With KIND and NUMBER, the program prints a command and its answer, for a comparison with
another version. Answers that differ with OPENBLAS_CORETYPE=NEHALEM or HASWELL are `UNSTABLE`.
"""

import math
import shlex
import sys
import tempfile
import zlib
from pathlib import Path

import pytest

from tests.scripts.drawn_commands import KINDS, UNSTABLE, Draw
from tests.scripts.test_known_answers import NUMBER, answers

KNOWN = Path(__file__).with_name("drawn_answers.txt")


def asked(kind, number, folder):
    """Return a command, and its answer with its output file."""
    drawn = Draw(f"{kind.__name__} {number}", folder)
    line = shlex.join(kind(drawn))
    said = answers("pencilmap " + line, folder)
    return line, "\n".join([said, *(made.read_text("utf-8") for made in folder.glob("made*"))])


def fingerprint(text):
    """Return a checksum of the words, and a sum of the numbers in which the last digits matter little."""
    numbers = [float(number) for number in NUMBER.findall(text)]
    weighed = (math.cos(place) * (math.log(number) if number else -50) for place, number in enumerate(numbers, 1))
    return f"{zlib.crc32(NUMBER.sub('#', text).encode()):08x} {len(numbers)} {sum(weighed):.8f}"


def cases():
    """Return each kind and number, and the stored answer."""
    known = dict(line.split(": ") for line in KNOWN.read_text("utf-8").splitlines()) if KNOWN.exists() else {}
    names = ((kind, number, f"{kind.__name__} {number}") for kind, count in KINDS.items() for number in range(count))
    return [(kind, number, known.get(name, "")) for kind, number, name in names if name not in UNSTABLE]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind, number, known", [
    pytest.param(*case, id=f"{case[0].__name__}-{case[1]}") for case in cases()])
def test_a_command_at_random_answers_what_it_answered(kind, number, known, tmp_path):
    line, said = asked(kind, number, tmp_path)
    words, count, total = fingerprint(said).split()
    known_words, known_count, known_total = known.split()
    how = f"python -m tests.scripts.test_drawn_commands {kind.__name__} {number} prints another answer: pencilmap {line}"
    assert (words, count) == (known_words, known_count), how
    assert float(total) == pytest.approx(float(known_total), abs=1e-6), how


if __name__ == "__main__":
    if sys.argv[1:]:
        kind = next(kind for kind in KINDS if kind.__name__ == sys.argv[1])
        with tempfile.TemporaryDirectory() as name:
            print("$ pencilmap", *asked(kind, int(sys.argv[2]), Path(name)), sep="\n")
    else:
        lines = []
        for kind, number, _ in cases():
            with tempfile.TemporaryDirectory() as name:
                lines.append(f"{kind.__name__} {number}: {fingerprint(asked(kind, number, Path(name))[1])}\n")
        KNOWN.write_text("".join(lines), "utf-8")
