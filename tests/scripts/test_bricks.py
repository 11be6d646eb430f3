"""Bricks in the commands for placements: map, check and shapes agree with predict, or refuse in a sentence."""


NETWORK = ("--network", "2x2x2", "--bandwidth", "1 GB/s", "--fft", "16")
BRICKS = (*NETWORK, "--decomposition", "brick:2x2x2")


def test_a_mapfile_for_bricks_is_checked_with_its_remaps(pencilmap, pencilmap_json, tmp_path):
    path = tmp_path / "bricks.map"
    status, out, err = pencilmap("map", *BRICKS, "--grid", "2x4", "--placement", "default", "--format", "bgl", "-o", path)
    assert status == 0 and "of it for remaps" in " ".join(out.split()), err
    [predicted] = pencilmap_json("predict", *BRICKS, "--grid", "2x4", "--placement", "default")
    [checked] = pencilmap_json("check", path, *BRICKS, "--grid", "2x4", "--format", "bgl")
    assert [r["name"] for r in predicted["remaps"]] == ["remap_in", "remap_out"]
    assert str(predicted["time_s"]) in str(checked)


def time_of(shape):
    return min(p["total_s"] for p in shape["predictions"])


def test_shapes_for_bricks_have_their_remaps_in_the_time(pencilmap_json):
    some = ("study", "shapes", "--machine", "bluegene-l", "--nodes", "32", "--fft", "32")
    with_bricks, pencils = (pencilmap_json.one(*some, *more)["shapes"] for more in (("--decomposition", "brick:4x4x2"), ()))
    assert all("remaps" in p for shape in with_bricks for p in shape["predictions"])
    assert min(map(time_of, with_bricks)) > min(map(time_of, pencils))
