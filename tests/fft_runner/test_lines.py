"""Distributed lines: the library (line_test.c), and the runner's --decomposition line."""

import numpy as np
import pytest

from pencilmap.mapper.runs.compare import compare_records
from pencilmap.mapper.runs.records import read_records
from pencilmap.model.base.errors import RecordError
from pencilmap.model.lines.line_plan import line_stages
from tests.documents import run_by

LINE = ["--decomposition", "line", "--rigor", "estimate", "--reps", 1]


def test_lines_are_transformed_on_any_number_of_ranks_and_send_what_the_model_counts(mpirun):
    """Compare with serial FFTW and direct sums, on 1, 2, 3, 4, 5, 6 and 8 of the ranks."""
    done = mpirun(8, program="line_test")
    assert done.returncode == 0, done.stdout + done.stderr
    told = {}
    for line in done.stdout.splitlines():
        if line.startswith("counts "):
            _, n, ranks, algorithm, order, name, *numbers = line.split()
            told.setdefault((int(n), int(ranks), algorithm, order), []).append((name, *map(int, numbers)))
    assert len(told) > 500 and {(127, 8), (31, 5), (17, 3), (360, 8)} <= {key[:2] for key in told}
    for (n, ranks, algorithm, order), stages in told.items():
        counted = []
        for stage in line_stages(n, ranks, algorithm, order):
            sent = stage.sent(ranks, n)
            counted.append((stage.name, *np.column_stack((sent.sum(axis=1), (sent > 0).sum(axis=1))).ravel().tolist()))
        assert stages == counted, (n, ranks, algorithm, order)


@pytest.mark.parametrize("algorithm, order, direction, size, names", [
    ("transpose", "natural", "forward", 4096, ["to_columns", "to_rows", "to_blocks"]),
    ("transpose", "transposed", "backward", 127, ["to_columns", "to_rows", "from_rows", "to_blocks"]),
    ("binary4", "natural", "backward", 384, ["stage_1", "stage_2", "to_blocks"]),
    ("dft", "transposed", "forward", 510, ["stage_1"])])
def test_the_runner_verifies_a_line_and_compare_reads_its_record(mpirun, records, tmp_path, algorithm, order, direction,
                                                                 size, names):
    path = tmp_path / "line.jsonl"
    ranks = 6 if size % 6 == 0 else 4
    done = mpirun(ranks, *LINE, "--size", size, "--algorithm", algorithm, "--order", order, "--direction", direction,
                  "--verify", "--sync", "barrier", "--machine-torus", ranks, "--label", "link_bandwidth=1 GB/s",
                  "--fields", 2, "--precision", "single", "--json", path)
    assert done.returncode == 0, done.stderr
    [record] = records(path)
    assert record["verify"]["passed"] and record["verify"]["error_fftw"] < 1e-6 and record["verify"]["points"] == 8
    assert [stage["name"] for stage in record["stages"]] == names
    total = record["phases"]["total"]["mean_s"][0]
    assert total == pytest.approx(sum(times["mean_s"][0] for name, times in record["phases"].items() if name != "total"))
    rows = compare_records(read_records(path), "here")
    assert [row.stage for row in rows] == names and all(row.t_s > 0 and row.measured_s > 0 for row in rows)


def test_the_command_of_the_document_verifies_a_prime(mpirun):
    [command] = run_by(__file__)
    words = command.split()
    assert words[:4] == ["mpirun", "-n", "6", "fft_runner"] and "127" in words
    done = mpirun(6, *words[4:])
    assert done.returncode == 0 and "verification passed" in done.stdout and "from_rows" in done.stdout


def test_a_record_of_a_line_that_is_none_is_told(mpirun, tmp_path):
    path = tmp_path / "line.jsonl"
    assert mpirun(2, *LINE, "--size", 64, "--json", path).returncode == 0
    text = path.read_text()
    for wrong, said in (('"algorithm":"transpose"', "algorithm 'none' of a line is unknown"),
                        ('"size":[64]', "one extent, and a grid of all ranks"),
                        ('"to_rows","exchange"', "stages: such a line has to_columns, to_rows, to_blocks")):
        right = {'"algorithm":"transpose"': '"algorithm":"none"', '"size":[64]': '"size":[64,1]',
                 '"to_rows","exchange"': '"rows","exchange"'}[wrong]
        assert wrong in text
        path.write_text(text.replace(wrong, right))
        with pytest.raises(RecordError, match=said):
            read_records(path)


@pytest.mark.parametrize("words, said", [
    (["--size", 100, "--algorithm", "binary2"], "100 points are not a multiple of 3 ranks; take 102 points, or algorithm"),
    (["--size", 64, 64, 64], "--size: a line has one extent, N; give --size 64"),
    (["--size", 64, "--grid", "1x3"], "--grid: decomposition line has a grid of one number"),
    (["--size", 64, "--grid", 4], "--grid 4: a line has all 3 ranks"),
    (["--size", 64, "--exchange", "p2p"], "--exchange is not for decomposition line"),
    (["--size", 64, "--algorithm", "fast"], "unknown algorithm 'fast'; known: transpose, binary2, binary4, dft"),
    (["--size", 64, "--order", "any"], "unknown order 'any'; known: natural, transposed, transposed-both"),
    (["--size", 64, "--direction", "pair"], "--direction pair is not for decomposition line")])
def test_what_a_line_cannot_have_is_told(mpirun, one_message, words, said):
    assert said in one_message(mpirun(3 if "--algorithm" in words or "--grid" in words else 1, *LINE, *words))


def test_options_of_lines_are_refused_elsewhere(mpirun, one_message):
    assert "--algorithm is for --decomposition line or brick:PxQxS" in one_message(
        mpirun(1, "--size", 8, 8, 8, "--grid", "1x1", "--algorithm", "dft"))
    assert "--size needs 3 words: NX NY NZ" in one_message(mpirun(1, "--size", 8, "--grid", "1x1"))
