"""Distributed lines in the runner: --decomposition line, and bricks with --algorithm."""

import pytest

from pencilmap.mapper.runs.compare import compare_records
from pencilmap.mapper.runs.records import read_records, transform_of_record
from pencilmap.model.base.errors import RecordError
from pencilmap.model.lines.line_problem import brick_line_stages
from tests.documents import run_by

LINE = ["--decomposition", "line", "--rigor", "estimate", "--reps", 1]


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


def test_the_commands_of_the_document_verify_a_prime_and_two_dimensions(mpirun):
    prime, flat = (command.split() for command in run_by(__file__))
    assert prime[:4] == ["mpirun", "-n", "6", "fft_runner"] and "127" in prime
    for words in (prime, flat):
        done = mpirun(int(words[2]), *words[4:])
        assert done.returncode == 0 and "verification passed" in done.stdout, done.stdout + done.stderr
        assert words is flat or "from_rows" in done.stdout


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


@pytest.mark.parametrize("bricks, algorithm, order, direction, size", [
    ("2x1x3", "transpose", "natural", "forward", (7, 5, 12)), ("6x1x1", "dft", "transposed", "backward", (17, 8, 1))])
def test_the_runner_verifies_bricks_of_lines_and_writes_their_record(mpirun, tmp_path, bricks, algorithm, order, direction,
                                                                     size):
    path = tmp_path / "bricks.jsonl"
    done = mpirun(6, "--decomposition", f"brick:{bricks}", "--algorithm", algorithm, "--order", order, "--size", *size,
                  "--direction", direction, "--verify", "--fields", 2, "--rigor", "estimate", "--reps", 1, "--json", path,
                  "--machine-torus", 6, "--label", "link_bandwidth=1 GB/s")
    assert done.returncode == 0, done.stderr
    [record] = read_records(path)
    assert record["verify"]["passed"] and record["verify"]["error_fftw"] < 1e-14 and record["verify"]["points"] == 8
    assert record["size"] == list(size) and {"fft_x", "pack_x", "unpack_x"} <= set(record["phases"])
    stages = brick_line_stages(size, [*map(int, bricks.split("x"))], algorithm, order)
    for told, stage in zip(record["stages"], stages, strict=True):
        sent = stage.sent().T if direction == "backward" and stage.stage.is_all_to_all else stage.sent()
        assert told["bytes"] == (32 * sent.sum(axis=1)).tolist() and told["messages"] == (sent > 0).sum(axis=1).tolist()
    rows = compare_records([record], "here")
    assert [row.stage for row in rows] == [stage.name for stage in stages] and rows[0].grid == bricks
    with pytest.raises(RecordError, match="bricks on which distributed lines run; only pencilmap compare"):
        transform_of_record(record)


def test_the_phases_of_bricks_stand_in_columns(mpirun):
    """Columns line up even with the widest name."""
    done = mpirun(2, "--decomposition", "brick:1x2x1", "--algorithm", "transpose", "--size", 4, 16, 4, "--reps", 1)
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("phase "):].splitlines()
    rows = table[1:table.index("")]
    assert any(row.startswith("exchange_y_to_columns ") for row in rows)
    assert len({len(row) for row in rows}) == 1 and table[0].index(" max") + 4 == len(rows[0]) - 26
    told = [line for line in done.stdout.splitlines() if line.startswith("exchange y_")]
    assert len({line.index("all-to-all") for line in told}) == 1 and len(told) == 3
