"""The names in the tables of the library, read from their sources so that no test has a list of its own.

test_units.py compares the names with the output of the built runner.
"""

import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCE = Path(__file__).resolve().parents[2] / "fft_runner" / "src"


def listed(path, pattern):
    """Return the matches of a pattern in a source, in order; the last word of a macro's list has no backslash behind."""
    return re.findall(pattern, (SOURCE / path).read_text("utf-8"), re.MULTILINE)


EXCHANGES = [name for name in listed("exchange/exchange_table.c", r"^    X\((\w+)\)") if name != "auto"]
DECOMPOSITIONS = listed("geometry/decomposition_table.c", r"^    X\((\w+)\)")
SCHEDULES = listed("schedule/schedule_table.c", r"^    X\((\w+)\)")
TYPES = listed("lines/transforms.c", r'\{"(\w+)", "\w+,')
LINE_KINDS = listed("lines/transforms.c", r'\{"(\w+)", (?:\{|COS|SIN)')


@cache
def fortran_module():
    """Return the source of the Fortran module, which generate.cmake writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pencilfft.f90"
        subprocess.run(["cmake", f"-DTO={path}", "-P", SOURCE.parent / "fortran" / "generate.cmake"], check=True)
        return path.read_text("utf-8")
