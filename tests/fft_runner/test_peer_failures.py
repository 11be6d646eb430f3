"""Cases in which other libraries gave wrong numbers, crashed or hung, run with this library.

Each case names the library, the failure, and the source of the report; sizes are scaled only if the case says so. fuzz_test
checks each plan forward and backward, in place and between two arrays. "Measured" are our own runs: snapshots of 2022 to
2025, Debian 12, gcc 12.2, Open MPI 4.1.4, FFTW 3.3.10, compared with a direct sum.
"""

from dataclasses import dataclass

import pytest

from tests.fft_runner.test_fuzz import run_fuzz

GITHUB = "https://github.com/"
MEASURED = "measured"


@dataclass(frozen=True)
class Failure:
    """The failure of a peer, and the plans that must be right."""

    peer: str
    what: str
    source: str
    plans: tuple


def right(grid, size, *more):
    """Return the number of ranks of a plan, and its words for fuzz_test."""
    (R, C), (nx, ny, nz) = map(int, grid.split("x")), size
    return R * C, f"R={R} C={C} nx={nx} ny={ny} nz={nz} rigor=estimate {' '.join(more)}"


FAILURES = {
    "c2c_on_2_and_4_ranks": Failure(
        "2DECOMP&FFT 2.1", "its c2c example with its default flags: error 0.11 on 2 ranks, a crash on 4",
        f"{MEASURED}; {GITHUB}2decomp-fft/2decomp-fft/issues/420",
        (right("1x2", (17, 13, 11)), right("2x1", (17, 13, 11)), right("2x2", (34, 26, 22)))),
    "r2c_with_padded_messages": Failure(
        "2DECOMP&FFT", "buffers too small for r2c when messages are padded", f"{GITHUB}2decomp-fft/2decomp-fft/pull/384",
        tuple(right(grid, (17, 13, 11), f"type={kind}", "exchange=padded")
              for grid in ("3x1", "2x2") for kind in ("r2c", "c2r"))),
    "c2c_on_ranks_that_do_not_divide_the_extents_and_on_one": Failure(
        "P3DFFT++", "'Results are incorrect' on 3 ranks, a segmentation fault on 1",
        f"{GITHUB}sdsc/p3dfft.3/issues/9; scaled from 128^3",
        (right("3x1", (32, 32, 32)), right("1x3", (32, 32, 32)), right("1x1", (32, 32, 32)))),
    "r2c_whose_grid_does_not_divide_the_extents": Failure(
        "mpiFFT4py", "2512^3 on 512 ranks lost indices: local parts of 2496 x 2512 x 2512",
        f"{GITHUB}spectralDNS/mpiFFT4py/issues/11; scaled: 16 and 2 times 2, 2512 / 32 = 78.5 as 50 / 4",
        (right("2x4", (50, 50, 50), "type=r2c"), right("4x2", (50, 50, 50), "type=r2c"))),
    "r2c_of_a_last_extent_of_2": Failure(
        "mpi4py-fft 2.0.6", "5x5x2 of real numbers: AssertionError, on 1 rank already; measured again on 1 and 2",
        f"{GITHUB}mpi4py/mpi4py-fft/issues/20",
        tuple(right(grid, (5, 5, 2), "type=r2c") for grid in ("1x1", "1x2", "2x1", "2x2"))),
    "more_ranks_than_an_extent": Failure(
        "mpi4py-fft 2.0.6",
        "2x2x3 of real numbers on 3 ranks: AssertionError; measured again. Here 2x1 is the most that has "
        "work for each rank, 3 are refused (below)", f"{GITHUB}mpi4py/mpi4py-fft/issues/21",
        (right("2x1", (2, 2, 3), "type=r2c"), right("1x2", (2, 2, 3), "type=r2c"))),
    "r2c_on_4_6_7_and_8_ranks": Failure(
        "mpi4py-fft", "its example darray.py fails on all of them", f"{GITHUB}mpi4py/mpi4py-fft/issues/36",
        tuple(right(grid, (16, 14, 12), "type=r2c") for grid in ("2x2", "3x2", "7x1", "4x2"))),
    "blocks_that_would_leave_ranks_empty": Failure(
        "FFTW-MPI 3.3", "256^3 on 28 ranks crashes in planning: blocks of 10 are used up by 26 ranks",
        f"{GITHUB}FFTW/fftw3/issues/65; scaled: 8 on 5, blocks of 2 are used up by 4",
        (right("5x1", (8, 8, 8)), right("1x5", (8, 8, 8)), right("5x1", (8, 8, 8), "exchange=fftw"))),
    "a_planned_transpose_of_many_fields_on_blocks_that_would_leave_ranks_empty": Failure(
        "FFTW-MPI 3.3.4", "448x352 with 354 fields crashes in planning on 56, 112 and 224 ranks",
        f"{GITHUB}FFTW/fftw3/issues/43; scaled: 16x9 on 8, blocks of 2 are used up by 5",
        (right("1x8", (16, 9, 354), "exchange=fftw"), right("1x8", (16, 9, 354), "exchange=alltoallv"))),
    "blocks_of_one_extent_that_are_not_those_of_the_other": Failure(
        "FFTW-MPI 3.3", "6x5x4 in single precision on 2 ranks: both are told to hold the same part",
        f"{GITHUB}FFTW/fftw3/issues/174",
        tuple(right(grid, (6, 5, 4), "precision=single", f"exchange={exchange}")
              for grid in ("1x2", "2x1") for exchange in ("alltoallv", "fftw"))),
    "long_and_of_extent_one": Failure(
        "FFTW-MPI 3.3.4", "98x1 on 2 ranks is wrong",
        f"{GITHUB}FFTW/fftw3/issues/20; the extent that a grid divides is 2 here",
        (right("1x2", (98, 2, 1)), right("2x1", (1, 98, 2)))),
    "a_plane_of_thickness_one": Failure(
        "cuDecomp", "every grid is refused for N x N x 1", f"{GITHUB}NVIDIA/cuDecomp/issues/101",
        (right("1x4", (16, 16, 1)), right("4x1", (1, 16, 16)), right("1x2", (20, 20, 1), "type=r2c"))),
    "in_place_on_two_ranks": Failure(
        "PFFT", "2x3x2 in place fails", f"{GITHUB}mpip/pfft/issues/5",
        tuple(right(grid, (2, 3, 2), f"layout={layout}")
              for grid in ("2x1", "1x2") for layout in ("natural", "stride1"))),
    "r2c_of_odd_extents_in_place_and_not_in_both_orders": Failure(
        "PFFT", "31x33x32 on 2x2: forward errors of 1e3 to 1e6 in this development branch",
        f"{GITHUB}mpip/pfft/pull/31",
        tuple(right("2x2", (31, 33, 32), "type=r2c", f"layout={layout}") for layout in ("natural", "stride1"))),
    "columns_where_rows_are_right": Failure(
        "AccFFT (GPU)", "512^3 r2c is right on 4x1 and wrong on 2x2",
        f"{GITHUB}amirgholami/accfft/issues/18; scaled to 32^3",
        tuple(right(grid, (32, 32, 32), "type=r2c") for grid in ("4x1", "2x2", "1x4"))),
    "extents_that_all_differ": Failure(
        "CP2K", "12x15x20 on 2 ranks: a plan of 3600 elements on a buffer of 1800", f"{GITHUB}cp2k/cp2k/pull/5957",
        (right("1x2", (12, 15, 20)), right("2x1", (12, 15, 20)), right("2x1", (20, 15, 12)))),
    "one_measured_plan_in_place_and_not": Failure(
        "dtFFT 3.2", "plans c2c in place and executes it out of place: 28 of 116 runs of 48x40x36 on 2x2 were wrong; heFFTe "
        "plans on null pointers and executes on arrays", f"{MEASURED}; https://github.com/icl-utk-edu/heffte/issues/88",
        tuple(right("2x2", (48, 40, 36), "rigor=measure", f"type={kind}") for kind in ("c2c", "r2c"))),
    "factors_above_five": Failure(
        "fftMPI", "refuses 50x37x29: factors 2, 3 and 5 only", MEASURED,
        (right("2x2", (50, 37, 29)), right("1x3", (50, 37, 29)))),
}


EMPTY = {  # tasks without data; peers stopped by an assertion or crashed
    "mpi4py-fft issue 21, 3 ranks for 2x2x3": right("3x1", (2, 2, 3)),
    "mpi4py-fft issue 21, the other way": right("1x3", (2, 2, 3), "exchange=node"),
    "heFFTe issue 50, more ranks in a direction than indices": right("2x2", (20, 20, 1), "exchange=p2p"),
    "heFFTe issue 10, alltoall with empty boxes": right("4x1", (8, 8, 3), "exchange=padded"),
    "cuDecomp pull request 102, empty pencils": right("1x4", (3, 8, 8), "exchange=alltoallw"),
    "FFTW issue 20, 98x1 over ranks": right("1x2", (98, 1, 1), "exchange=persistent"),
    "one element": right("2x2", (1, 1, 1), "exchange=auto"),
}
PLANS = [*(plan for failure in FAILURES.values() for plan in failure.plans), *EMPTY.values()]


@pytest.mark.parametrize("ranks", sorted({ranks for ranks, _ in PLANS}))
def test_right_where_peers_failed(mpirun, ranks):
    words = [words for its, words in PLANS if its == ranks]
    assert run_fuzz(mpirun, ranks, *" / ".join(words).split())[:2] == (len(words), 0)


def test_padded_messages_of_the_smallest_parts_under_mpich(mpich_run):
    """heFFTe's plain alltoall failed with MPICH if only padding travelled (issue 10)."""
    words = " / ".join(right("2x1", (2, 2, 2), f"exchange={name}")[1] for name in ("alltoall", "padded"))
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
