"""`--traffic` of plan, map, predict and check: answers for scripts against the schema, and errors of impossible traffic."""

import json
from base64 import b64decode

import numpy as np
import pytest

QUICK = ("--effort", "quick")


@pytest.mark.parametrize("network", ["4x2", "lumi-c"])
def test_all_routings_are_compared_for_a_program(pencilmap, pencilmap_json, tmp_path, network):
    ring = tmp_path / "ring.txt"
    ring.write_text("".join(f"{a} {(a + 3) % 8} 1000\n" for a in range(8)))
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


def test_predict_searches_as_long_as_map_and_from_the_same_seed(pencilmap_json, tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("".join(f"{a} {(a + d) % 72} {1000 * d}\n" for a in range(72) for d in (1, 9, 27)))
    on = ("--network", "dragonfly:a=4,p=2,h=2", "--traffic", path, *QUICK, "--seed", "3")
    written = pencilmap_json.one("map", *on, "-f", "slurm", "-o", tmp_path / "t.hosts")["predictions"][-1]
    assert pencilmap_json.one("predict", *on)["predictions"][-1] == written
