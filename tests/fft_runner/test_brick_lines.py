"""Bricks on which distributed lines run directly: the library (brick_lines_test.c), and the runner's --algorithm with
bricks."""

import numpy as np

from pencilmap.model.brick_lines import brick_line_stages


def test_every_axis_of_bricks_is_transformed_across_its_ranks_and_sends_what_the_model_counts(mpirun):
    """Against serial FFTW in three dimensions, every element, on 1, 2, 4, 6 and 8 of the ranks."""
    done = mpirun(8, program="brick_lines_test")
    assert done.returncode == 0, done.stdout + done.stderr
    told = {}
    for line in done.stdout.splitlines():
        if line.startswith("counts "):
            _, size, bricks, algorithm, order, name, *numbers = line.split()
            told.setdefault((size, bricks, algorithm, order), []).append((name, *map(int, numbers)))
    assert len(told) > 100 and {("5x7x11", "2x2x2"), ("6x9x10", "1x2x3"), ("24x17x1", "8x1x1")} <= {key[:2] for key in told}
    for (size, bricks, algorithm, order), stages in told.items():
        counted = []
        for stage in brick_line_stages([*map(int, size.split("x"))], [*map(int, bricks.split("x"))], algorithm, order):
            sent = stage.sent()
            counted.append((stage.name, *np.column_stack((sent.sum(axis=1), (sent > 0).sum(axis=1))).ravel().tolist()))
        assert stages == counted, (size, bricks, algorithm, order)
