"""Plans as text, compared with the files in plans/: pencils, real input, slabs, grids of a single row or column, bricks.

``PENCILMAP_STORE_PLANS=1 pytest tests/fft_runner/test_print.py`` rewrites the files.
"""

import os
from pathlib import Path

import pytest

PLANS = Path(__file__).parent / "plans"


@pytest.mark.parametrize("ranks, arguments", [
    (4, "slab 1 4 12 10 9 dct node"),
    (4, "pencil 2 2 12 10 9 c2c alltoallv overlap:1,2,3:x"), (4, "pencil 1 4 12 10 9 c2c alltoallw"),
    (1, "pencil 1 1 12 10 9 r2c alltoallv"), (4, "brick:1x4x1 2 2 12 10 9 r2c alltoallv"),
    (2, "pencil 2 1 12 10 9 c2c alltoallv sequence stride1")])
def test_a_plan_is_printed(mpirun, ranks, arguments):
    done = mpirun(ranks, *arguments.split(), program="print_test")
    assert done.returncode == 0, done.stderr
    *lines, length = done.stdout.splitlines(keepends=True)
    assert int(length) == len("".join(lines)), "the text is what is printed"
    path = PLANS / f"{arguments.replace(' ', '-').replace(':', '-')}.txt"
    if os.environ.get("PENCILMAP_STORE_PLANS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(lines))
    assert "".join(lines) == path.read_text()
