"""Answers about one grid say if another grid, order or placement is much faster; `check` needs no grid for the places."""

import shlex

import pytest

from pencilmap.model.base.units import expected_milliseconds

MESH = ("--network", "4x4:mesh", "--fft", "64", "--bandwidth", "1 GB/s")  # 4x4: lines 4/3 of the best; 1x16: 2/3 of it
MAP = ("--schedule", "sequence", "-f", "hostfile", "--effort", "quick")


def test_map_and_check_say_that_another_grid_is_faster(pencilmap, pencilmap_json, tmp_path):
    mapped = pencilmap.said("map", *MESH, *MAP, "--grid", "4x4", "-o", tmp_path / "hosts")
    mine, other = (pencilmap_json("predict", *MESH, "--grid", grid)[0] for grid in ("4x4", "1x16"))
    assert mine["t_s"] == pytest.approx(1.5 * other["t_s"])
    time = f"{1000 * other['t_s']:.4g} ms ({expected_milliseconds(other['time_range_s'])})"
    sentence = f"faster {time} on grid 1x16 (p_row=16, p_col=1), no file needed: pencilmap plan"
    assert sentence in mapped
    assert sentence in pencilmap.said("check", tmp_path / "hosts", *MESH, "--grid", "4x4")


@pytest.mark.parametrize("words, reason", [
    (("predict", "--decomposition", "line", "--size", "4096"), "distributed lines"),
    (("predict", "--traffic", "TRAFFIC"), "programs"), (("map", "--traffic", "TRAFFIC", "-f", "hostfile"), "programs")])
def test_an_answer_of_what_was_not_measured_says_so_once(words, reason, pencilmap, tmp_path):
    traffic = tmp_path / "traffic.txt"
    traffic.write_text("".join(f"{rank} {(rank + 5) % 16} 1000\n" for rank in range(16)))
    places = ("-o", tmp_path / "hosts") if words[0] == "map" else ("-p", "default")
    asked = (traffic if word == "TRAFFIC" else word for word in words)
    said = pencilmap.said(*asked, "--network", "4x4", "--bandwidth", "1 GB/s", *places)
    assert said.count(f"no range: {reason} not measured") == 1 == said.count("no range") and " ms" in said


def test_the_fastest_grid_and_the_choice_of_a_plan_get_no_such_sentence(pencilmap, tmp_path):
    for grid in ((), ("--grid", "1x16")):
        out = pencilmap.said("map", *MESH, *MAP, *grid, "-o", tmp_path / "hosts")
        assert "pencilmap plan" not in out and " better " not in out


def test_map_and_check_say_that_another_placement_is_faster(pencilmap, tmp_path):
    words = (*MESH, "--grid", "4x4")
    sentence = "better 1.33x faster with another file for this grid:"
    assert f"{sentence} --placement best" in pencilmap.said("map", *words, *MAP, "-p", "default", "-o", tmp_path / "lines")
    checked = pencilmap.said("check", tmp_path / "lines", *words)
    assert "lines is valid, but a better file is 1.33x faster (1.11x to 1.36x): 0.3932 ms (0.39 to " in checked
    assert "better pencilmap map --network 4x4:mesh " in checked and "--grid 4x4 --format slurm -o FILE" in checked
    pencilmap.said("map", *words, *MAP, "-o", tmp_path / "best")
    assert " better " not in pencilmap.said("check", tmp_path / "best", *words)


def test_the_better_line_of_check_can_be_pasted(pencilmap, tmp_path, monkeypatch):
    """It writes a faster file of the same kind. If the launch order is as fast, the file is to be dropped."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.rf").write_text("".join(f"rank {r}=node-{r % 4}-{r // 4} slot=0\n" for r in range(16)))
    words = (*MESH, "--grid", "4x4")
    out = pencilmap("check", "slow.rf", *words)[1]
    line = out.partition("\n  better ")[2].partition("\n  faster")[0].replace("\\\n", " ")
    assert shlex.split(line)[-4:] == ["--format", "openmpi4", "-o", "FILE"]
    assert pencilmap(*shlex.split(line)[1:])[0] == 0
    assert "FILE is valid and 1.33x faster" in pencilmap.said("check", "FILE", *words)
    (tmp_path / "bad.rf").write_text("".join(f"rank {r}=node-{r % 2 * 8 + r // 2} slot=0\n" for r in range(16)))
    told_of_bad = pencilmap.said("check", "bad.rf", "--network", "16", "--grid", "2x8")
    assert "is valid but " in told_of_bad and "slower than Open MPI's order" in told_of_bad
    assert "better drop the file: Open MPI's order needs none" in told_of_bad and "pencilmap map" not in told_of_bad


def test_check_asks_for_the_order_of_the_grid(pencilmap, tmp_path):
    words, hint = ("--network", "4x4", "-f", "hostfile"), "check was it made for p_row=8, p_col=2? There it is 1.33x faster"
    pencilmap.said("map", *words, "--grid", "2x8", "-o", tmp_path / "hosts")
    checked = pencilmap.said("check", tmp_path / "hosts", *words, "--grid", "8x2")
    assert hint in checked and "better pencilmap map " in checked
    assert hint not in pencilmap.said("check", tmp_path / "hosts", *words, "--grid", "2x8")
    in_words = ("--grid", "p_row=2,p_col=8")  # which leave no doubt
    assert hint not in pencilmap.said("check", tmp_path / "hosts", *words, *in_words)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", ["map", "plan", "check", "predict", "traffic", "report"])
def test_a_tree_with_different_numbers_of_cables_has_no_line_about_static_routes(command, pencilmap, tmp_path):
    """Static routes are not known there, and no answer may end with this."""
    tree, traffic, hosts = tmp_path / "topology.conf", tmp_path / "t", tmp_path / "hosts"
    tree.write_text("SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-6]\nSwitchName=c Nodes=n[7-12]\n"
                    "SwitchName=t Switches=a,b,c\n")
    traffic.write_text("".join(f"{a} {(a + 5) % 12} 1000\n" for a in range(12)))
    hosts.write_text("".join(f"n{k}\n" for k in (7, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)))
    asked, quick = ("--network", f"{tree},taper=2", "--bandwidth", "1 GB/s"), ("--effort", "quick")
    fft, output = ("--grid", "3x4", "--fft", "16"), ("-f", "slurm", "-o", tmp_path / "out", *quick)
    words = {"map": ("map", *asked, *fft, *output), "predict": ("predict", *asked, *fft, *quick),
             "plan": ("plan", *asked, *fft[2:], *quick), "check": ("check", hosts, *asked, *fft),
             "report": ("report", *asked, *fft, "-o", tmp_path / "page.html", *quick),
             "traffic": ("map", *asked, "--traffic", traffic, *output)}[command]
    assert " static " not in pencilmap.said(*words)


def test_check_without_a_grid_compares_the_nodes_with_the_launch_order(pencilmap_json, pencilmap, tmp_path):
    file, words = tmp_path / "used", ("--network", "4:mesh", "-t", "2", "--hosts", "n{x}", "-f", "slurm")
    file.write_text("n0\nn1\nn0\nn1\nn2\nn2\nn3\n")
    out = pencilmap.said("check", file, *words)
    assert "7 ranks on 4 of 4 nodes, 1 to 2 on each" in out
    assert "2 ranks on other nodes than in Slurm's block order" in out and "the first is rank 1: n1, not n0" in out
    assert "--traffic FILE" in out and "--grid RxC" in out
    found = pencilmap_json.one("check", file, *words)
    assert found["ranks"] == 7 and found["ranks_on_a_node"] == [1, 2] and found["moved"] == {"tn": 2}
    file.write_text("n0\nn0\nn1\nn1\n")
    assert "Each node has the same ranks as in Slurm's block order" in pencilmap.said("check", file, *words)
    file.write_text("n0\nn0\nn0\nn1\n")
    assert pencilmap("check", file, *words)[0] == 1


@pytest.mark.parametrize("placement, is_told", [("default", True), ("default:yxt", False), ("best", False)])
def test_map_says_if_its_file_gains_nothing(pencilmap, tmp_path, placement, is_told):
    words = ("--network", "8x2", "--bandwidth", "1 GB/s", "-n", "32", "-g", "4x4", "-f", "hostfile")
    out = pencilmap("map", *words, "-p", placement, "-o", tmp_path / "hosts")[1]
    _tells_to_launch_as_before(out, is_told)
    assert (f"{tmp_path / 'hosts'} is block order, which needs no file. Grid 4x4 " in " ".join(out.split())) == is_told


@pytest.mark.parametrize("traffic, is_told", [("0 1 9\n1 2 9\n2 3 9\n3 0 9\n", True), ("0 2 9\n1 3 9\n", False)])
def test_map_says_if_a_program_gains_nothing(pencilmap, tmp_path, traffic, is_told):
    (tmp_path / "traffic").write_text(traffic)
    out = pencilmap("map", "--network", "4:mesh", "--traffic", tmp_path / "traffic", "-f", "hostfile", "-o",
                    tmp_path / "hosts")[1]
    _tells_to_launch_as_before(out, is_told)
    assert ("Placement cannot help: the launch order is at the proved limit.\nNo file is needed: " in out) == is_told


def _tells_to_launch_as_before(out, is_told):
    """The launch line is said once: without the file, or with it."""
    assert ("\n  launch  as before, without the file\n" in out) == is_told
    assert ("(hostfile), if you want it:\n" in out, "\n  launch  smpirun -np " in out) == (is_told, not is_told)
