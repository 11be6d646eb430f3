"""Cases in which other libraries gave wrong numbers, crashed or hung, run with this library.

Each case names the library and the failure, with the number of its issue or pull request at GitHub, or "measured" for our
own runs: snapshots of 2022 to 2025, Debian 12, gcc 12.2, Open MPI 4.1.4, FFTW 3.3.10, compared with a direct sum. Large
sizes are scaled. fuzz_test checks each plan forward and backward, in place and between two arrays.
"""

from itertools import product

import pytest

from tests.fft_runner.test_fuzz import run_fuzz


def plans(grids, sizes, *more):
    """Return the words of plans for each grid, each size, and each alternative of the rest, separated by spaces."""
    return [(R * C, f"R={R} C={C} nx={nx} ny={ny} nz={nz} rigor=estimate {' '.join(words)}")
            for grid, size, *words in product(grids.split(), sizes.split(), *(words.split() for words in more))
            for (R, C), (nx, ny, nz) in [[map(int, text.split("x")) for text in (grid, size)]]]


FAILURES = {
    "2DECOMP&FFT 2.1, measured and issue 420, c2c with its default flags: error 0.11 on 2 ranks, a crash on 4":
        [*plans("1x2 2x1", "17x13x11"), *plans("2x2", "34x26x22")],
    "2DECOMP&FFT, pull request 384: buffers too small for r2c if messages are padded":
        plans("3x1 2x2", "17x13x11", "type=r2c type=c2r", "exchange=padded"),
    "P3DFFT++, issue 9: 128^3 'results are incorrect' on 3 ranks, a segmentation fault on 1":
        plans("3x1 1x3 1x1", "32x32x32"),
    "mpiFFT4py, issue 11: 2512^3 on 512 ranks lost indices; scaled, 16 and 2 times 2, 2512 / 32 = 78.5 as 50 / 4":
        plans("2x4 4x2", "50x50x50", "type=r2c"),
    "mpi4py-fft 2.0.6, measured and issue 20: AssertionError for a last extent of 2, on 1 rank already":
        plans("1x1 1x2 2x1 2x2", "5x5x2", "type=r2c"),
    "mpi4py-fft 2.0.6, measured and issue 21: AssertionError for more ranks than an extent":
        plans("2x1 1x2", "2x2x3", "type=r2c"),
    "mpi4py-fft, issue 36: its example darray.py fails on 4, 6, 7 and 8 ranks":
        plans("2x2 3x2 7x1 4x2", "16x14x12", "type=r2c"),
    "FFTW-MPI 3.3, issue 65: 256^3 on 28 ranks crashes in planning, because blocks of 10 are used up by 26":
        [*plans("5x1 1x5", "8x8x8"), *plans("5x1", "8x8x8", "exchange=fftw")],
    "FFTW-MPI 3.3.4, issue 43: 448x352 with 354 fields crashes in planning on 56, 112 and 224 ranks":
        plans("1x8", "16x9x354", "exchange=fftw exchange=alltoallv"),
    "FFTW-MPI 3.3, issue 174: single precision on 2 ranks, both are told to hold the same part":
        plans("1x2 2x1", "6x5x4", "precision=single", "exchange=alltoallv exchange=fftw"),
    "FFTW-MPI 3.3.4, issue 20: 98x1 on 2 ranks is wrong": [*plans("1x2", "98x2x1"), *plans("2x1", "1x98x2")],
    "cuDecomp, issue 101: every grid is refused for N x N x 1":
        [*plans("1x4", "16x16x1"), *plans("4x1", "1x16x16"), *plans("1x2", "20x20x1", "type=r2c")],
    "PFFT, issue 5: 2x3x2 in place fails": plans("2x1 1x2", "2x3x2", "layout=natural layout=stride1"),
    "PFFT, pull request 31: 31x33x32 forward errors of 1e3 to 1e6 in this development branch":
        plans("2x2", "31x33x32", "type=r2c", "layout=natural layout=stride1"),
    "AccFFT (GPU), issue 18: 512^3 r2c is right on 4x1 and wrong on 2x2": plans("4x1 2x2 1x4", "32x32x32", "type=r2c"),
    "CP2K, pull request 5957: a plan of 3600 elements on a buffer of 1800":
        [*plans("1x2 2x1", "12x15x20"), *plans("2x1", "20x15x12")],
    "dtFFT 3.2, measured, and heFFTe, issue 88: a plan c2c in place, executed out of place, was wrong in 28 of 116 runs":
        plans("2x2", "48x40x36", "rigor=measure", "type=c2c type=r2c"),
    "fftMPI, measured: refuses factors above 5": plans("2x2 1x3", "50x37x29"),
    # ranks without data, for which peers stopped by an assertion or crashed
    "mpi4py-fft, issue 21": [*plans("3x1", "2x2x3"), *plans("1x3", "2x2x3", "exchange=node")],
    "heFFTe, issues 50 and 10": [*plans("2x2", "20x20x1", "exchange=p2p"), *plans("4x1", "8x8x3", "exchange=padded")],
    "cuDecomp, pull request 102": plans("1x4", "3x8x8", "exchange=alltoallw"),
    "FFTW, issue 20": plans("1x2", "98x1x1", "exchange=persistent"),
    "one element": plans("2x2", "1x1x1", "exchange=auto"),
}
PLANS = [plan for of_failure in FAILURES.values() for plan in of_failure]


@pytest.mark.parametrize("ranks", sorted({ranks for ranks, _ in PLANS}))
def test_right_where_peers_failed(mpirun, ranks):
    words = [words for its, words in PLANS if its == ranks]
    assert run_fuzz(mpirun, ranks, *" / ".join(words).split())[:2] == (len(words), 0)


def test_padded_messages_of_the_smallest_parts_under_mpich(mpich_run):
    """heFFTe's plain alltoall failed with MPICH if only padding travelled (issue 10)."""
    words = " / ".join(words for _, words in plans("2x1", "2x2x2", "exchange=alltoall exchange=padded"))
    assert run_fuzz(mpich_run, 2, *words.split())[:2] == (2, 0)


# ---- in the runner ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["c2c", "r2c"])
def test_phases_of_stride1_are_times(run, kind):
    """P3DFFT with STRIDE1 is right, but its timers 2 and 8 print +538 and -538 ms a call (measured)."""
    phases = run(4, "--size", 48, 40, 36, "--grid", "2x2", "--type", kind, "--layout", "stride1", "--reps", 5)["phases"]
    total = phases.pop("total")
    assert all(seconds >= 0 for phase in phases.values() for seconds in phase["min_s"])
    for repetition, seconds in enumerate(total["mean_s"]):
        assert seconds == pytest.approx(sum(phase["mean_s"][repetition] for phase in phases.values()), rel=1e-6)


@pytest.mark.slow
def test_256_cubed_on_two_ranks(run):
    """dtFFT 3.2 once gave wrong numbers (measured)."""
    for more in ((), ("--in-place",)):
        assert run(2, "--size", 256, 256, 256, "--grid", "1x2", "--reps", 2, "--verify", *more)["verify"]["passed"]
