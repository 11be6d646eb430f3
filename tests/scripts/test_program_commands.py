"""`--traffic` of plan, map, predict and check: answers for scripts against the schema, and errors of impossible traffic."""

import json
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest

QUICK = ("--effort", "quick")
RING = "".join(f"{a} {(a + 3) % 8} 1000\n" for a in range(8))


@pytest.fixture
def ring(tmp_path):
    path = tmp_path / "ring.txt"
    path.write_text(RING)
    return path


@pytest.mark.parametrize("bandwidth", [[], ["--bandwidth", "1 GB/s"]])
@pytest.mark.parametrize("network", ["4x2", "fat-tree:leaves=2,hosts=4,up=2"])
def test_answers_have_the_form_of_the_schema(pencilmap_json, ring, tmp_path, network, bandwidth):
    on = ["--network", network, *bandwidth, "--traffic", ring]
    hosts = tmp_path / "ring.hosts"
    written = pencilmap_json.one("map", *on, "--format", "hostfile", "-o", hosts, "--effort", "quick")
    shown = pencilmap_json.one("predict", *on, "--placement", "default:nt", "--placement", f"file:{hosts}")
    checked = pencilmap_json.one("check", hosts, *on)
    assert [len(answer["predictions"]) for answer in (written, shown, checked)] == [2, 3, 2]
    for answer in (written, shown, checked):
        assert answer["ranks"] == 8 and answer["traffic"] == str(ring)
        assert (answer["predictions"][0]["link_s"] is None) == (not bandwidth)
        first, last = answer["predictions"][0], answer["predictions"][-1]
        assert last["link_bytes"] == pytest.approx(written["predictions"][-1]["link_bytes"])
        assert last["gain"] == pytest.approx(first["link_bytes"] / last["link_bytes"])


def test_a_plan_names_the_codes_of_its_trace_and_whether_to_keep_it(pencilmap, pencilmap_json, tmp_path):
    path = tmp_path / "halo.txt"
    path.write_text("".join(f"{r} {r // 4 * 4 + (r + s) % 4} 100\n{r} {(r + 4 * s) % 16} 100\n"
                            for r in range(16) for s in (1, 3)))
    for network, keep in (("4x4", True), ("2x2x4", False)):
        asked = ("plan", "--network", network, "--traffic", path, *QUICK)
        assert "--code NAME also ranks the other grids of a halo of 4x4 ranks, periodic: " in pencilmap(*asked)[1]
        found = pencilmap_json.one(*asked)
        gain = found["predictions"][-1]["gain"]
        assert found["keep"] == (gain < 1.01) == keep
    assert "--code" not in pencilmap(*asked, "--code", "cart2d")[1]


@pytest.mark.parametrize("network", ["4x2", "lumi-c"])
def test_all_routings_are_compared_for_a_program(pencilmap, pencilmap_json, ring, tmp_path, network):
    where = ("--machine", network, "--nodes", "8", "-t", "1") if "-" in network else ("--network", network)
    on = *where, "--traffic", ring
    hosts = tmp_path / "ring.hosts"
    pencilmap("map", *on, "--format", "hostfile", "-o", hosts, *QUICK)
    shown = pencilmap_json.one("predict", *on, "--routing", "all", "-p", f"file:{hosts}")
    checked = pencilmap_json.one("check", hosts, *on, "--routing", "all")
    rules = [p["routing"] for p in shown["predictions"]]
    assert len({*rules}) == len(rules) > 3 and rules == [p["routing"] for p in checked["predictions"]]
    for p in shown["predictions"]:
        alone = pencilmap_json.one("predict", *on, "--routing", p["routing"], "-p", f"file:{hosts}")["predictions"][-1]
        assert p["link_bytes"] == pytest.approx(alone["link_bytes"])
    low, high = (f(p["link_bytes"] for p in shown["predictions"]) for f in (min, max))
    said = pencilmap("check", hosts, *on, "--routing", "all")[1]
    assert said.startswith(f"{hosts} is valid and takes ") and (", by the routing (" in said) == (low < high)


@pytest.mark.parametrize("step", [4, 2])
def test_a_program_is_compared_with_the_fastest_order_of_its_launcher(pencilmap_json, tmp_path, step):
    """Slurm takes the nodes as listed, or by name: the last coordinate first."""
    path = tmp_path / "t.txt"
    path.write_text("".join(f"{a} {(a + step) % 8} 1000\n" for a in range(8)))
    on = "--network", "4x2:mesh", "--traffic", path
    answer = pencilmap_json.one("map", *on, "--format", "slurm", "-o", tmp_path / "m", *QUICK)
    orders = [pencilmap_json.one("predict", *on, "-p", f"default:{order}")["predictions"][-1]["link_bytes"]
              for order in ("tn", "tyx")]
    assert answer["predictions"][0]["link_bytes"] == min(orders) < max(orders)


@pytest.mark.parametrize(("network", "text"), [
    ("4", "pencilmap traffic 1\nranks 4\nphase 0 times 1 seconds 0.0\nend 0\n"), ("2x2", "0 0 0 0\n" * 4),
    ("1", "pencilmap traffic 1\nranks 1\nphase 0 times 1 seconds 0.0\nend 0\n"),
    ("2x2", "5 0 0 0\n0 5 0 0\n0 0 5 0\n0 0 0 5\n")])
def test_programs_without_messages_between_nodes_get_an_answer(pencilmap_json, tmp_path, network, text):
    path = tmp_path / "t.txt"
    path.write_text(text)
    name = f"{path},dense" if text[0] != "p" else path
    found = pencilmap_json.one("map", "--network", network, "--traffic", name, "--format", "hostfile", "-o",
                               tmp_path / "t.hosts")
    assert found["advice"].startswith("placement cannot help") and found["predictions"][-1]["link_bytes"] == 0


def test_a_placement_that_uses_no_link_is_infinitely_faster(pencilmap, pencilmap_json, tmp_path):
    """Pairs of ranks on two nodes of two slots: ranks 0 and 2, or 0 and 1."""
    across, inside, hosts = (tmp_path / name for name in ("across.txt", "inside.txt", "a.hosts"))
    across.write_text("0 2 1000\n1 3 1000\n")
    inside.write_text("0 1 1000\n2 3 1000\n")
    on = ("--network", "2", "--tasks-per-node", "2", *QUICK, "--traffic")
    _, out, _ = pencilmap("map", *on, across, "--format", "hostfile", "-o", hosts)
    assert " ".join(out.split()).startswith(f"{hosts} is infinitely faster on the links than")
    _, out, _ = pencilmap("predict", *on, inside, "-p", f"file:{hosts}")
    assert "infinitely slower" in out
    assert [pencilmap_json.one("predict", *on, path, "-p", f"file:{hosts}")["predictions"][-1]["gain"]
            for path in (across, inside)] == [None, 0.0]


def test_page_shows_the_launch_order_and_the_placement(pencilmap, tmp_path):
    path = tmp_path / "t.txt"
    pairs = "".join(f"{phase} -1 0 {a} {(5 * a + phase) % 16} 8000 1\n" for phase in (0, 1) for a in range(16)
                    if a != (5 * a + phase) % 16)
    path.write_text("pencilmap traffic 1\nranks 16\nseconds 2.5\nphase 0 times 1 seconds 0.0\nphase 1 times 1 seconds 0.0\n"
                    f"{pairs}end {pairs.count(chr(10))}\n")
    page = tmp_path / "t.html"
    out = pencilmap.out("predict", "--network", "4x4", "--bandwidth", "1 MB/s", "--traffic", path, "--placement",
                        "best", "--page", page)
    text = page.read_text()
    data = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
    assert [view["title"].split(", ")[1] for view in data["views"]] == ["block order", "best"]
    assert (data["first"], data["second"]) == (0, 1)
    assert list(data["views"][0]["loads"]) == ["all phases", "phase 1", "phase 2"]
    largest = [sum(np.nanmax(np.frombuffer(b64decode(view["loads"][name]), "<f4")) for name in ("phase 1", "phase 2"))
               for view in data["views"]]
    links = [float(row.partition(name)[2].split()[0]) * 1e-3 for name in ("block order  ", "best  ")
             for row in out.splitlines() if row.startswith(name)]
    assert largest == pytest.approx(links, rel=1e-3)  # kB in the table, MB on the page
    assert "measured run" in text and "2500" in text
    heading = text.partition("<h1>")[2].partition("</h1>")[0]
    assert " ".join(out.split()).lower().startswith(heading.lower())


def test_map_predict_and_check_name_the_launch_order_and_the_gain(pencilmap, tmp_path):
    (tmp_path / "t.txt").write_text("".join(f"{a} {(a + d) % 16} {1000 * d}\n" for a in range(16) for d in (4, 8)))
    on, hosts = ("--network", "fat-tree:leaves=4,hosts=4,up=2", "--traffic", tmp_path / "t.txt"), tmp_path / "t.hosts"
    outs = [pencilmap("map", *on, "--format", "slurm", "-o", hosts, *QUICK)[1], pencilmap("predict", *on, *QUICK)[1],
            pencilmap("check", hosts, *on)[1], pencilmap("predict", *on, "-p", "default")[1]]
    said = [" ".join(out.split()) for out in outs]
    gains = "is 2.00x faster on the links than Slurm's block order: 12 kB on the busiest link, not 24 kB"
    assert said[0].startswith(f"{hosts} {gains} (predicted).")
    assert said[2].startswith(f"{hosts} {gains.replace('is ', 'is valid and ', 1)}.")
    assert said[1].startswith(f"best {gains} (predicted).".replace("Slurm's ", ""))
    assert said[3].startswith("No file is needed for block order: 24 kB on the busiest link (predicted).")
    assert all("(proved)" in text for text in said)


def test_predict_searches_as_long_as_map_and_from_the_same_seed(pencilmap_json, pencilmap, tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("".join(f"{a} {(a + d) % 72} {1000 * d}\n" for a in range(72) for d in (1, 9, 27)))
    on = ("--network", "dragonfly:a=4,p=2,h=2", "--traffic", path, *QUICK, "--seed", "3")
    written = pencilmap_json.one("map", *on, "-f", "slurm", "-o", tmp_path / "t.hosts")["predictions"][-1]
    assert pencilmap_json.one("predict", *on)["predictions"][-1] == written
    for command in (("predict",), ("plan",), ("map", "-f", "slurm", "-o", tmp_path / "t.hosts")):
        status, out, _ = pencilmap(*command, *on[:4], "--time-limit", "0.01", "--notes")
        assert status == 0 and "the time limit cut the search short" in " ".join(out.split()), command


def test_every_answer_says_that_cables_are_assumed(pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    leaves = ("SwitchName=leaf0 Nodes=n[0-1]", "SwitchName=leaf1 Nodes=n[2-3]", "SwitchName=top Switches=leaf[0-1]")
    (tmp_path / "topology.conf").write_text("\n".join(leaves) + "\n", "ascii")
    (tmp_path / "traffic.txt").write_text("ranks 4\n0 3 1000\n3 0 1000\n", "ascii")
    network, grid = ("--network", "topology.conf"), ("--grid", "2x2", "--placement", "default")
    program = (*network, "--traffic", "traffic.txt")
    for words in (("predict", *network, *grid), ("draw", "--what", "loads", *network, *grid), ("predict", *program),
                  ("map", *program, "-f", "slurm", "-o", "hosts"), ("check", "hosts", *program)):
        out = pencilmap.out(*words)
        assert out.count("as many cables up as down are assumed") == 1, words


@pytest.fixture
def options(tmp_path, monkeypatch):
    """Traces of a program with three options on a ring of 8. The links of the first, the usual one, carry most."""
    monkeypatch.chdir(tmp_path)
    for name, step, n_bytes in (("usual", 4, 2000), ("near", 1, 1000), ("far", 3, 1000)):
        (tmp_path / name).write_text("".join(f"{a} {(a + step) % 8} {n_bytes}\n" for a in range(8)))
    return [word for name in ("usual", "steps 1=near", "far") for word in ("--traffic", name)]


def test_options_of_a_program_are_ranked_with_their_placements(pencilmap, pencilmap_json, options):
    ways = pencilmap_json("plan", "--network", "8", *options)
    alone = [pencilmap_json.one("map", "--network", "8", "--traffic", name, "-f", "hostfile", "-o", "h")["predictions"]
             for name in ("near", "far", "usual")]
    assert [way["option"] for way in ways] == ["steps 1", "far", "usual"]
    assert [way["traffic"] for way in ways] == ["near", "far", "usual"]
    for way, predictions in zip(ways, alone):
        assert [p["link_bytes"] for p in way["predictions"]] == [p["link_bytes"] for p in predictions]
    said = pencilmap("plan", "--network", "8", *options, "--top", "2")[1]
    first = alone[2][0]["link_bytes"]
    gain = f"{first / 1000:.2f}x faster on the links than usual in block order: 1 kB on the busiest link, not"
    assert " ".join(said.split()).startswith(f"Launch with steps 1, no file is needed: {gain}")
    assert "far " in said and "usual  " not in said and "write" not in said


def test_a_trace_without_a_name_has_that_of_its_file(pencilmap_json, options, tmp_path):
    (tmp_path / "folder").mkdir()
    other = (tmp_path / "folder/near")
    other.write_text((tmp_path / "far").read_text())
    on = ("plan", "--network", "8", *QUICK, "--traffic", "usual", "--traffic")
    assert {way["option"] for way in pencilmap_json(*on, other)} == {"usual", "near"}
    assert {way["option"] for way in pencilmap_json(*on, other, "--traffic", "steps 1=near")} == {"usual", "near", "steps 1"}
    same = {way["option"] for way in pencilmap_json(*on, other, "--traffic", tmp_path / "near")}
    assert same == {"usual", str(other), str(tmp_path / "near")}


def test_a_file_for_the_fastest_option_is_written_only_if_it_is_needed(pencilmap, pencilmap_json, options):
    first, last = options[:2], options[4:]
    said = pencilmap("plan", "--network", "8", *last, *first)[1]
    assert said.startswith("Launch with far and a file: ") and "pencilmap map --network 8 --traffic far -o FILE" in said
    status, said, err = pencilmap("map", "--network", "8", *last, *first, "-f", "hostfile", "-o", "h")
    assert status == 0 and said.startswith("Launch with far and h: "), err
    written = pencilmap_json.one("map", "--network", "8", *last, *first, "-f", "hostfile", "-o", "h")
    checked = pencilmap_json.one("check", "h", "--network", "8", *last)
    assert written["option"] == "far"
    assert checked["predictions"][-1]["link_bytes"] == written["predictions"][-1]["link_bytes"]
    said = pencilmap("map", "--network", "8", *options[2:4], *first, "-f", "hostfile", "-o", "h")[1]
    assert " ".join(said.split()).startswith("Keep steps 1, no file is needed: no other of 2 options is 1.01x faster")


def test_other_grids_of_a_code_are_ranked_beside_the_traced_one(pencilmap, pencilmap_json, tmp_path):
    trace = Path(__file__).parents[1] / "mapper/traces/lammps-cube-16.txt"
    on = ("--network", "4x4", "--traffic", f"2 2 4={trace}", "--code", "lammps", *QUICK)
    out = pencilmap.out("plan", *on, "--notes")
    said = " ".join(out.split())
    assert said.startswith("Launch with processors 4 4 1, no file is needed: 1.31x faster on the links than 2 2 4 in block")
    assert "the traffic of 14 of 15 options is predicted from that of 2 2 4" in said
    written = pencilmap_json.one("map", *on, "-f", "hostfile", "-o", tmp_path / "h")
    assert (written["option"], written["traffic"]) == ("processors 4 4 1", str(trace))
    assert pencilmap("plan", "--network", "4x4", "--traffic", trace, "--code", "nemo", *QUICK)[0] == 1
