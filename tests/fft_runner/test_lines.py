"""Distributed lines: the library (line_test.c), and the runner's --decomposition line."""


def test_lines_are_transformed_on_any_number_of_ranks(mpirun):
    """Against serial FFTW and direct sums, on 1, 2, 3, 4, 5, 6 and 8 of the ranks."""
    done = mpirun(8, program="line_test")
    assert done.returncode == 0, done.stdout + done.stderr
