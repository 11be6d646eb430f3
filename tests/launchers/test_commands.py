"""`pencilmap map`, `convert` and `check` with every format, and the names of hosts."""

import pytest

from pencilmap.mapper.formats import FORMATS


def machine(name):
    return ("--torus", "2x2x2x1x2" if name == "bgq" else "4x2x2", "--tasks-per-node", "2")


@pytest.mark.parametrize("name", FORMATS)
def test_map_then_convert_then_check(tmp_path, pencilmap, pencilmap_json, name):
    first, second = tmp_path / "first.map", tmp_path / "second"
    assert pencilmap("map", *machine(name), "--grid", "8x4", "-o", first)[0] == 0
    done = pencilmap_json("convert", first, *machine(name), "--grid", "8x4", "-f", name, "-o", second, "--program", "./mine")
    assert (done["from"], done["format"], done["ranks"]) == ("bgl", name, 32)
    assert done["needs"] and ("./mine" in done["launch"] or name in ("jax", "scotch"))
    before, after = (pencilmap_json("check", path, *machine(name), "--grid", "8x4", *form)
                     for path, form in ((first, ()), (second, ("--format", name))))
    assert before["predictions"][0]["stages"] == after["predictions"][0]["stages"]
    assert after["format"] == name and after["valid"]


def test_map_prints_the_launch_line_and_what_it_needs(tmp_path, pencilmap):
    status, out, _ = pencilmap("map", *machine("cray"), "-g", "8x4", "-f", "cray", "-o", tmp_path / "MPICH_RANK_ORDER")
    assert status == 0
    assert "srun -N 16 -n 32 --ntasks-per-node=2 ./a.out" in out and "needs: MPICH_RANK_REORDER_METHOD=3" in out
    assert "warning: the launcher's order of the nodes is assumed" in out


def test_nodes_in_the_launchers_order_move_the_ranks_of_a_cray_file(tmp_path, pencilmap):
    (tmp_path / "nodes").write_text("1 0\n0 0\n")
    status, out, err = pencilmap("map", "--torus", "2x1", "--nodes", tmp_path / "nodes", "-g", "2x1", "-p", "default:xyt",
                                 "-f", "cray", "-o", tmp_path / "order")
    assert status == 0, err
    assert (tmp_path / "order").read_text() == "1\n0\n" and "is assumed" not in out


def test_hosts_by_template_and_by_file(tmp_path, pencilmap):
    (tmp_path / "names").write_text("alpha 0 0\nbeta 1 0\n0 1 gamma\n1 1 delta\n")
    for hosts, wanted in (("nid{node:03d}", "nid000\nnid001\nnid002\nnid003\n"),
                          (tmp_path / "names", "alpha\nbeta\ngamma\ndelta\n")):
        status, _, err = pencilmap("map", "--torus", "2x2", "-g", "4x1", "-p", "default", "-f", "hostfile", "--hosts", hosts,
                                   "-o", tmp_path / "h")
        assert status == 0, err
        assert (tmp_path / "h").read_text() == wanted
        assert pencilmap("check", tmp_path / "h", "--torus", "2x2", "-g", "4x1", "--hosts", hosts)[0] == 0


def test_cores_per_task_bind_in_blocks(tmp_path, pencilmap):
    assert pencilmap("map", "--torus", "1", "-t", "2", "-g", "2x1", "-f", "openmpi4", "--cores-per-task", "4", "-p",
                     "default", "-o", tmp_path / "r")[0] == 0
    assert (tmp_path / "r").read_text() == "rank 0=node-0 slot=0-3\nrank 1=node-0 slot=4-7\n"


def test_slots_that_are_lost_are_mentioned(tmp_path, pencilmap):
    (tmp_path / "m").write_text("0 1\n0 0\n")
    status, out, _ = pencilmap("convert", tmp_path / "m", "--torus", "1", "-t", "2", "-f", "hydra", "-o", tmp_path / "h")
    assert status == 0 and "note: hydra does not give slots" in out


@pytest.mark.parametrize("text, message", [
    ("0 0 0 9\n", "line 1: node (0, 0, 0) slot 9"), ("<x>\n", "line 1: the format is not recognised"), ("", "is empty")])
def test_broken_files_end_with_one_sentence(tmp_path, pencilmap, text, message):
    (tmp_path / "m").write_text(text)
    status, _out, err = pencilmap("convert", tmp_path / "m", "--torus", "4x2x2", "-f", "cray", "-o", tmp_path / "out")
    assert status == 2 and message in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()
