"""`pencilmap study transposes`: ratios of one file and of two files, and refusals of other files."""

import json

SHAPE = {"schema": "pencilmap-transpose-bench/1", "mpi": "an MPI", "refused": None}


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
