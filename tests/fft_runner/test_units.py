"""The C units that need no MPI: CMakeLists.txt lists them, ctest runs them."""

import re
import subprocess

from pencilmap.model.transform import TYPES as MODEL_TYPES
from tests.fft_runner.tables import EXCHANGES, SOURCE, TYPES


def test_c_units(programs):
    done = subprocess.run(["ctest", "--output-on-failure", "--no-tests=error"], cwd=programs.parent, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_tables_are_read_as_the_runner_has_them(mpirun):
    said = mpirun(1, "--help").stdout
    for option, names in {"exchange": [*EXCHANGES, "auto"], "type": TYPES}.items():
        [line] = re.findall(rf"^  --{option} .*", said, re.MULTILINE)
        assert line.endswith(": " + ", ".join(names)), option


def test_every_exchange_is_in_the_table():
    """Built with the rest, but not to be chosen: a file whose name was forgotten in the table."""
    files = {path.stem.removeprefix("exchange_") for path in (SOURCE / "exchange").glob("exchange_*.c")} - {"table"}
    assert files == set(EXCHANGES)


def test_every_type_has_its_row_in_the_model_and_is_told_in_the_header():
    assert list(MODEL_TYPES) == TYPES
    header = (SOURCE.parent / "include" / "pencilfft.h").read_text("utf-8")
    assert [name for name in TYPES if not re.search(rf"^ \*     (\w+, )*{name}\b", header, re.MULTILINE)] == []
