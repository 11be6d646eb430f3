"""The exchanges of a distributed line: the ranks of points before and after, so that each FFT is on one rank."""

import numpy as np
import pytest

from pencilmap.model.base.errors import GridError
from pencilmap.model.lines.distributed_line import factors
from pencilmap.model.lines.line_plan import block_sizes, convolution_of, line_stages, matrix_of

CASES = [(12, 4), (64, 8), (60, 7), (127, 4), (31, 3), (1, 3), (5, 8), (360, 16), (97, 9), (2, 2)]


def fullest(n1, n2, ranks):
    """Return the points of the fullest rank, in columns or in rows."""
    return max(block_sizes(n2, ranks).max() * n1, block_sizes(n1, ranks).max() * n2)


def block_owner(n, ranks):
    return np.repeat(np.arange(ranks), block_sizes(n, ranks))


@pytest.mark.parametrize("n, ranks", CASES)
def test_the_matrix_has_fewest_points_on_the_fullest_rank(n, ranks):
    every = [(a, n // a) for a in range(1, n + 1) if n % a == 0 and a <= n // a]
    least = min(fullest(*m, ranks) for m in every)
    assert matrix_of(n, ranks) == max(m for m in every if fullest(*m, ranks) == least)


@pytest.mark.parametrize("n, ranks", [*CASES, (1009, 4), (211, 16), (53, 2)])
def test_a_line_that_cannot_be_shared_well_is_convolved_where_that_has_fewer_points_on_a_rank(n, ranks):
    six = fullest(*matrix_of(n, ranks), ranks)
    least = 2 * n - 1
    able = []
    for m in range(least, 2 * least):
        rest = m
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            able.append((fullest(*matrix_of(m, ranks), ranks), m))
    wanted = ranks > 1 and six > 2 * -(-n // ranks) and able and min(able)[0] < six
    found = convolution_of(n, ranks)
    assert found == (matrix_of(min(able)[1], ranks) if wanted else None)


@pytest.mark.parametrize("n, ranks", CASES)
@pytest.mark.parametrize("order", ["natural", "transposed", "transposed-both"])
def test_columns_and_rows_of_a_matrix_are_on_one_rank_and_blocks_at_the_ends(n, ranks, order):
    stages = line_stages(n, ranks, "transpose", order)
    chirp = convolution_of(n, ranks)
    n1, n2 = chirp or matrix_of(n, ranks)
    names = ["to_columns", "to_rows", "from_rows", "to_blocks"] if chirp else {
        "natural": ["to_columns", "to_rows", "to_blocks"], "transposed": ["to_columns", "to_rows"],
        "transposed-both": ["to_rows"]}[order]
    assert [stage.name for stage in stages] == names and all(stage.is_all_to_all for stage in stages)
    label = np.arange(n1 * n2)
    across = next(stage for stage in stages if stage.name == "to_rows")
    columns, rows = across.before(label).reshape(n1, n2), across.after(label).reshape(n1, n2)
    assert (columns == block_owner(n2, ranks)).all() and (rows == block_owner(n1, ranks)[:, None]).all()
    if names[0] == "to_columns":
        assert (stages[0].before(np.arange(n)) == block_owner(n, ranks)).all()
        assert (stages[0].after(np.arange(n)) == columns.ravel()[:n]).all() and stages[0].labels == n
    if names[-1] == "to_blocks":
        assert (stages[-1].after(np.arange(n)) == block_owner(n, ranks)).all()
        frequency = np.arange(n)          # of a six-step transform; k = k1 + N1 k2 is in row k1
        held = columns.ravel()[:n] if chirp else rows[frequency % n1, 0]
        assert (stages[-1].before(frequency) == held).all()
    if chirp:
        back = stages[2]
        assert (back.before(label) == rows.ravel()).all() and (back.after(label) == columns.ravel()).all()
    for stage in stages:
        label = np.arange(stage.labels)
        moved = np.zeros((ranks, ranks), dtype=int)
        np.add.at(moved, (stage.before(label), stage.after(label)), 1)
        np.fill_diagonal(moved, 0)
        assert (stage.sent(ranks, n) == moved).all()


@pytest.mark.parametrize("ranks", [2, 4, 6, 8, 12, 30])
@pytest.mark.parametrize("radix", [2, 4])
def test_binary_stages_leave_each_frequency_where_the_last_exchange_finds_it(ranks, radix):
    """By decimation in frequency: the branch of a stage is a digit of the frequency, the lowest first."""
    n = 3 * ranks
    stages = line_stages(n, ranks, f"binary{radix}")
    assert [stage.size for stage in stages[:-1]] == list(factors(ranks, radix))[::-1]
    assert [stage.apart for stage in stages[:-1]] == [
        int(ranks // np.prod([stage.size for stage in stages[:i + 1]])) for i in range(len(stages) - 1)]
    frequency = np.zeros(ranks, dtype=int)
    weight = 1
    for stage in stages[:-1]:
        frequency += np.arange(ranks) // stage.apart % stage.size * weight
        weight *= stage.size
    k = np.arange(n)
    assert (frequency[stages[-1].before(k)] == k % ranks).all() and (stages[-1].after(k) == block_owner(n, ranks)).all()
    assert stages[:-1] == line_stages(n, ranks, f"binary{radix}", "transposed")
    for stage in stages[:-1]:
        sent = stage.sent(ranks, n)
        assert (sent.sum(axis=1) == 3 * (stage.size - 1)).all() and (sent == sent.T).all()
        near = np.abs(np.subtract.outer(np.arange(ranks), np.arange(ranks)))
        assert (near[sent > 0] % stage.apart == 0).all() and (near[sent > 0] < stage.apart * stage.size).all()


@pytest.mark.parametrize("n, ranks", CASES)
def test_by_sums_each_gets_what_the_others_hold_or_sends_what_they_want(n, ranks):
    [gather], [scatter] = (line_stages(n, ranks, name) for name in ("dft", "dft-reduce"))
    held, others = block_sizes(n, ranks), 1 - np.eye(ranks, dtype=int)
    assert (gather.sent(ranks, n) == held[:, None] * others).all() and (scatter.sent(ranks, n) == held * others).all()
    assert (gather.name, scatter.name) == ("gather", "scatter")
    for name in ("dft", "dft-reduce"):
        [stage] = line_stages(n, ranks, name, "transposed")
        assert (stage.name == "stage_1") == (n % ranks == 0)


@pytest.mark.parametrize("words, said", [
    ((8, 4, "binari2"), "algorithm 'binari2' of a line is unknown (did you mean binary2?); known are transpose, binary2"),
    ((8, 4, "dft", "natura"), "order 'natura' of a line is unknown (did you mean natural?); known are natural, transposed"),
    ((0, 4), "a line of 0 points over 4 ranks; both are 1 or more"), ((4, 0), "a line of 4 points over 0 ranks"),
    ((10, 4, "binary2"), "10 points are not a multiple of 4 ranks; take 12 points")])
def test_what_is_no_line_is_refused(words, said):
    with pytest.raises(GridError) as error:
        line_stages(*words)
    assert said in str(error.value)
    assert [line_stages(8, 1, name) for name in ("transpose", "binary2", "dft")] == [()] * 3
