"""`pencilmap study transposes`: ratios of one file and of two files, and refusals of other files."""

import json

import pytest

SHAPE = {"schema": "pencilmap-transpose-bench/1", "mpi": "an MPI", "refused": None}
GROUP = {"group": 2, "exchange": "p2p", "message_bytes": 1}


def write(path, scale, exchanges=("alltoall", "p2p"), groups=(2, 4), sizes=(0, 3, 64)):
    """Write results with known times: by group, bytes and exchange."""
    lines = [dict(SHAPE, group=group, exchange=name, message_bytes=size, total_times={
        key: [scale * (1 + k) * group * (1 + size) * 1e-6] * 3 for key in ("max_s", "mean_s", "min_s", "deviation_s")})
        for k, name in enumerate(exchanges) for group in groups for size in sizes]
    lines.append(dict(SHAPE, group=8, exchange="p2p", message_bytes=1, refused="no", total_times=None))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_exchanges_of_one_file_and_of_two(tmp_path, pencilmap, pencilmap_json):
    a, b = write(tmp_path / "a", 1.0), write(tmp_path / "b", 2.5, ("p2p", "node"), (4,))
    one = pencilmap_json.one("study", "transposes", a)
    assert one["reference"] == "alltoall" and list(one["ratios"]) == ["p2p / alltoall"]
    assert [r["ratio"] for r in one["ratios"]["p2p / alltoall"]] == [2.0] * 6 and len(one["times"]) == 12
    two = pencilmap_json.one("study", "transposes", a, b)
    assert {tuple(r.values()) for r in two["ratios"]["p2p, second / first"]} == {(0, 4, 1.25), (3, 4, 1.25), (64, 4, 1.25)}
    status, out, _ = pencilmap("study", "transposes", a, b)
    assert status == 0 and "a ratio of 1.25" in out and max(map(len, out.splitlines()[:-1])) <= 80


@pytest.mark.parametrize("text, words, part", [
    ("", (), "has no times"), ("{}\n", (), "line 1 is not of transpose_bench"), ("no\n", (), "line 1 is not JSON"),
    (json.dumps(SHAPE), (), "'group' is missing"),
    (json.dumps(SHAPE | GROUP | {"total_times": {"max_s": [1]}}), (), "'mean_s'"),
    (None, ("--reference", "p2q"), "did you mean p2p?"),
    (None, ("OTHER",), "no exchange in common")])
def test_what_is_no_result_is_told(tmp_path, pencilmap, text, words, part):
    path = write(tmp_path / "a", 1.0)
    if text is not None:
        path.write_text(text)
    other = write(tmp_path / "b", 1.0, ("fftw",))
    status, out, err = pencilmap("study", "transposes", path, *(other if word == "OTHER" else word for word in words))
    assert status in (1, 2) and out == "" and err.startswith("error: ") and part in err
