"""The report page: its content, and its appearance in a real browser."""

import base64
import json
import re
import xml.etree.ElementTree as tree
from html.parser import HTMLParser
from io import BytesIO
from itertools import product
from statistics import median

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.runs.compare import compare_records
from pencilmap.mapper.setting import setting
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.scripts.command_line import tables
from pencilmap.scripts.pictures.figures import runs
from pencilmap.scripts.pictures.report.entries import entries_of
from pencilmap.scripts.pictures.report.networks import AT_ONCE, views
from pencilmap.scripts.pictures.report.page import NOT_IN_TOTAL, bandwidth_pictures, page, phase_pictures
from tests.mapper.run_records import record
from tests.model import brute_force
from tests.scripts.browser import browser, missing, screenshot, window

pytestmark = pytest.mark.usefixtures("brief_searches")

VOID = {"meta", "link", "input", "br", "hr", "img"}
BLUE = (0x00, 0x72, 0xB2)


def records_of(machine, torus, grid, placements, sizes, labels=()):
    """Return records with the times of the model."""
    found = []
    for n in sizes:
        where = setting(machine=machine, network=torus if ":" in torus else f"{torus}:torus", fft=str(n))
        for text in placements:
            mapping = as_mapping(where.place(text, parse_grid(grid)), text)
            named = {"machine": machine, "placement": text, **dict(labels)}
            found.append(record(mapping, where.transform, where.costs, named))
    return found


@pytest.fixture(scope="module")
def cubes():
    """Two placements at two sizes on a torus of three dimensions."""
    return records_of("bluegene-l", "4x4x4", "8x8", ("default", "box:2x2x2"), (64, 128))


@pytest.fixture(scope="module")
def five():
    """A placement on a torus of five dimensions."""
    return records_of("bluegene-q", "4x4x2x2x2", "32x64", ("default:abcdet",), (128,))


@pytest.fixture(scope="module")
def waiting(cubes):
    """Return runs that differ in many respects: long names, all phases."""
    return [run_of(r, sync, seed, exchange=exchange)[0] for seed, (r, sync, exchange) in enumerate(product(
        cubes, ("none", "barrier", "clock"), ("alltoallv", "persistent")))]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the page of records once for the same records: ``written(records)`` -> path."""
    made = {}

    def write(records):
        key = json.dumps(records)
        if key not in made:
            made[key] = tmp_path_factory.mktemp("page") / "report.html"
            made[key].write_text(page(entries_of(records, "r.jsonl"), ["pencilmap", "report", "r.jsonl"]), "utf-8")
        return made[key]

    return write


class Outline(HTMLParser):
    """Checks that elements are closed in order; collects ids, addresses and tables."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.addresses, self.rows = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self._note(tag, dict(attributes))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self._note(tag, dict(attributes))

    def _note(self, tag, attributes):
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.addresses += [attributes[name] for name in ("src", "href", "srcset", "action", "data") if name in attributes]
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th", "a"):
            self.rows[-1].append(data)


def test_the_page_is_whole_and_refers_to_nothing_outside(cubes, written):
    outline = Outline(written(cubes).read_text("utf-8"))
    assert len(outline.ids) == len(set(outline.ids))
    for address in outline.addresses:
        assert address == "data:," or (address[0] == "#" and address[1:] in outline.ids), address


def test_the_table_shows_the_comparisons_and_the_medians(cubes, written):
    rows = Outline(written(cubes).read_text("utf-8")).rows
    for number, comparison in enumerate(compare_records(cubes, "r.jsonl"), 1):
        assert rows[number][:6] == [comparison.network, comparison.torus, comparison.grid, comparison.placement,
                                    comparison.transform, comparison.stage]
        assert rows[number][10:12] == [f"{comparison.measured_s / comparison.t_s:.3f}", "1.000"]
    total = median(cubes[0]["phases"]["total"]["max_s"])
    assert [f"{total * 1e3:.5f}"] * 2 in [row[-2:] for row in rows]


def test_one_view_for_all_sizes_with_the_loads_of_a_walk_along_every_message(cubes):
    entries = entries_of(cubes, "r.jsonl")
    found, of_entry = views([entry.placed for entry in entries])
    assert of_entry == [0, 1, 0, 1]
    for view, entry in zip(found, entries):
        mapping, torus = entry.mapping, entry.mapping.network
        assert np.frombuffer(base64.b64decode(view["nodes"]), "<i4").tolist() == mapping.node_of_rank.tolist()
        groups = mapping.grid.shape[0], mapping.grid.shape[1]
        for name, group, traffic in zip(("row", "column"), groups, brute_force.messages(mapping.grid)):
            walked = brute_force.dimension_order(torus, traffic, mapping.node_of_rank)
            scale = 4 * torus.n_nodes / (mapping.n_tasks * group)    # of messages of 1 byte
            loads = np.frombuffer(base64.b64decode(view["loads"][name]), "<f4").reshape(torus.link_shape)
            assert loads.tolist() == (as_array(walked, torus) * scale).tolist()


def test_a_run_under_a_schedule_shows_what_all_exchanges_put_on_the_links_at_once(cubes):
    [entry] = entries_of([cubes[1] | {"schedule": "two-way"}], "r.jsonl")
    [view], _ = views([entry.placed])
    joint, *alone = (np.frombuffer(base64.b64decode(text), "<f4") for text in view["loads"].values())
    assert list(view["loads"]) == [AT_ONCE, "row", "column"]
    assert joint.tolist() == sum(alone).tolist()
    assert np.nanmax(joint) == max(entry.prediction.schedule.load_joint)
    assert 'value="all exchanges at once">all exchanges at once<' in page([entry], ["pencilmap", "report"])


def predicted_page(path, pencilmap, *options):
    """Return the page of two predictions without a run, and the data of their tori."""
    asked = ("--network", "8x8x8", "--bandwidth", "148 MB/s", "--fft", "256", "--grid", "8x64", "-p", "default",
             "-p", "box:2x2x2")
    status, printed, err = pencilmap("predict", *asked, *options, "--page", path)
    assert (status, err) == (0, "") and f"\n  page    {path}\n" in printed
    text = path.read_text("utf-8")
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1]
    return text, json.loads(data)["views"]


MB_OF_LOAD = 0.524288 / 4  # of load 1 on the scale of m


def test_a_prediction_without_a_run_shows_rows_columns_and_both_at_once(tmp_path, pencilmap):
    text, found = predicted_page(tmp_path / "p.html", pencilmap)
    for view, largest in zip(found, ([4, 4, 4], [2, 4, 6])):  # on the scale of m
        largest = [load * MB_OF_LOAD for load in largest]
        loads = {name: np.frombuffer(base64.b64decode(values), "<f4") for name, values in view["loads"].items()}
        assert list(loads) == ["row", "column", AT_ONCE]
        assert [values.max() for values in loads.values()] == pytest.approx(largest)
        assert loads[AT_ONCE] == pytest.approx(loads["row"] + loads["column"])
    outline = Outline(text)
    assert [row[1:4] for row in outline.rows[1:9]] == [
        ["row", "4 0 0", "3.542 ms"], ["column", "0 4 4", "3.542 ms"], ["one after the other", "8", "7.085 ms"],
        [AT_ONCE, "4 4 4", "3.542 ms"], ["row", "2 2 2", "1.771 ms"], ["column", "4 4 4", "3.542 ms"],
        ["one after the other", "6", "5.314 ms"], [AT_ONCE, "6 6 6", "5.314 ms"]]
    assert "Phases" not in text and "--placement box:2x2x2" in text


# the page without records

FAT_TREE = ("--network", "fat-tree:leaves=4,hosts=4,up=2", "--bandwidth", "25 GB/s", "--grid", "4x4", "--effort", "quick")


def heading_of(text):
    return re.search(r"<h1>(.*?)</h1>", text, re.DOTALL)[1].replace("&#39;", "'")


def test_without_records_the_page_opens_with_the_predicted_gain_and_the_limit(tmp_path, pencilmap):
    """Lines load the links by 4 + 4, cubes by 2 + 4; both at once, in 16 chunks of which one is alone, by 4 + 4/16."""
    path = tmp_path / "p.html"
    status, printed, err = pencilmap("report", "--network", "8x8x8", "--bandwidth", "148 MB/s", "--fft", "256", "--grid",
                                     "8x64", "-p", "box:2x2x2", "-o", path)
    assert (status, err) == (0, "") and f"\n  page    {path}\n" in printed
    text = path.read_text("utf-8")
    assert heading_of(text) == "Rows on 2x2x2 cubes are 1.33x faster than block order: 5.314 ms, not 7.085 ms (predicted)."
    assert "at most 1.26x more is possible (proved)" in text and "pencilmap map --network 8x8x8" in text
    assert [cell in text for cell in ("rows beside columns in 16 chunks", "1.88&times;", "2.00&times;", "to limit")] == [
        True, True, True, False]
    assert text.count("Predicted from the loads of the links") == 1 and "<h2 id=\"records-heading\"" not in text
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    before, after = (data["views"][data[key]] for key in ("first", "second"))
    assert (before["placement"], after["placement"]) == ("default", "box:2x2x2")
    assert data["amounts"][data["first"]] / data["amounts"][data["second"]] == pytest.approx(4 / 3)


@pytest.mark.parametrize("words, units", [
    (FAT_TREE, {"hosts", "4 leaves up, down"}),
    (("--network", "dragonfly:a=4,p=2,h=2", "--bandwidth", "25 GB/s", "--grid", "8x9", "--effort", "quick"),
     {"hosts"}),
    (("--network", "fat-tree:leaves=40,hosts=4,up=2", "--bandwidth", "25 GB/s", "--grid", "8x20", "--effort", "quick"),
     {"hosts"})])
def test_each_exchange_of_a_network_without_coordinates_has_a_panel(words, units, tmp_path, pencilmap):
    """The largest number of all panels fills the track, and there is a number for each order."""
    path = tmp_path / "p.html"
    status, _, err = pencilmap("report", *words, "--fft", "128", "-o", path)
    assert status == 0, err
    text = path.read_text("utf-8")
    assert re.findall(r"<figcaption><b>(\w+)</b>, \w?B a cable", text) == ["Rows", "Columns"] and "<canvas" not in text
    names = re.findall(r'<div class="load"><span class="name">(.*?)(?: <small>.*?)?</span>', text)
    assert units <= {*names} and len(names) <= 2 * 24
    assert max(float(width) for width in re.findall(r'class="(?:outline|after)" style="width:([\d.]+)%', text)) == 100
    assert "<h1>" in text and "(proved)" in text


def test_the_page_of_a_tree_has_launch_lines_and_the_hosts_of_each_leaf(tmp_path, monkeypatch, pencilmap):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "LINE", 80)
    (tmp_path / "cluster.conf").write_text("".join(f"SwitchName=leaf{k} Nodes=c[{8 * k}-{8 * k + 7}]\n" for k in range(4))
                                           + "SwitchName=spine Switches=leaf[0-3]\n")
    (tmp_path / "nodes").write_text("".join(f"c{k}\n" for k in (*range(3, 8), *range(8, 13), *range(16, 22))))
    on = ("--network", "cluster.conf,taper=2", "--nodes", "nodes", "-t", 4, "--fft", 128, "--bandwidth", "12.5 GB/s")
    assert pencilmap("map", *on, "--grid", "16x4", "-f", "slurm", "-o", "my.map")[0] == 0
    status, printed, err = pencilmap("report", *on, "--grid", "16x4", "-p", "my.map", "-o", "p.html")
    assert (status, err) == (0, "") and "my.map is" in printed and "Slurm's block order" in printed
    text = (tmp_path / "p.html").read_text("utf-8").replace("&#39;", "'")
    assert "<title>cluster.conf, 16x4, Slurm's block order and my.map, 128x128x128, predicted</title>" in text
    assert "<dt>launch</dt><dd><code>SLURM_HOSTFILE=./my.map srun -n 64" in text
    assert "<dt>c3</dt><dd>" in text and text.count("<dt>c") == 16
    assert re.findall(r"<small>([\d to]+ of 8 hosts)</small>", text)[:2] and "5 of 8 hosts" in text
    table = text[text.index("Loads and times of each exchange"):]
    for word in ("D_T", "scale of m", "torus", "in sequence", "To limit", "default", "file:my.map</td>"):
        assert word not in table.partition("<footer>")[0], word


@pytest.mark.parametrize("words, said", [
    (("--network", "8x8x8", "--grid", "8x64", "-p", "box:2x2x2"),
     "Rows on 2x2x2 cubes are 1.33x faster than block order: 1.5 times"),
    (("--network", "8x8x8", "--grid", "8x64", "-p", "line"), "Rows on lines are as fast as block order, which"),
    (("--network", "fat-tree:leaves=4,hosts=4,up=4", "--bandwidth", "25 GB/s", "--grid", "4x4", "--fft", 64),
     "No file is needed: ")])
def test_the_page_begins_with_its_verdict(words, said, tmp_path, pencilmap):
    path = tmp_path / "p.html"
    assert pencilmap("report", *words, "-o", path)[0] == 0
    text = path.read_text("utf-8")
    assert heading_of(text).startswith(said)
    assert ("<dt>launch</dt><dd>as before, without the file</dd>" in text) == ("1.33x" not in said)


def test_the_page_of_a_dragonfly_has_a_square_of_its_groups(tmp_path, pencilmap):
    """The busiest global cable of each square is the busiest of the rows of groups; an exchange may use none."""
    path = tmp_path / "p.html"
    status, _, err = pencilmap("report", "--network", "dragonfly:a=4,p=2,groups=5,cables=2", "--bandwidth", "25 GB/s",
                               "--grid", "8x5", "--fft", 64, "--effort", "quick", "-o", path)
    assert status == 0, err
    text = path.read_text("utf-8")
    squares = re.findall(r'<div class="square".*?</div>', text)
    assert len(squares) in (2, 4) and all(square.count("<i") == 25 and square.count('"same"') == 5 for square in squares)
    panels = text.split('<figure class="panel">')[1:]
    for panel in panels:
        busiest = max(map(float, re.findall(r"busiest: group \d to group \d: ([\d.]+) ", panel)), default=0.0)
        rows = re.findall(r'<span class="name">(?:group|groups|\d groups)[^<]*(?:<small>[^<]*</small>)?</span>.*?class="n">'
                          r"([^<]*)<", panel)
        assert busiest == max((float(number) for row in rows for number in row.split(" → ")), default=0.0)


def as_array(walked, torus):
    """Return loads by link of the brute force, shape (d, 2, N)."""
    loads = np.zeros(torus.link_shape)
    for (coordinates, i, direction), value in walked.items():
        loads[i, 0 if direction > 0 else 1, torus.node(coordinates)] = float(value)
    return loads


def test_the_cables_of_the_machine_count_in_what_a_record_is_compared_with():
    """Rings of two nodes of Blue Gene/Q have two cables, which the shape in the record does not show."""
    records = records_of("bluegene-q", "2x2x2x2x2", "2x256", ("digits:a=c2,b=c2,c=c2,d=c2,e=r2,t=c16",), (256,))
    row = compare_records(records, "r.jsonl")[0]
    assert "e" in row.busiest
    assert row.time_ratio == pytest.approx(1.0)


def test_labels_cannot_leave_their_place(written):
    evil = '</script><script>alert("x")</script><b id="row">&'
    text = written(records_of("bluegene-l", "2x2x2", "2x4", ("default",), (16,), {"note": evil, "network": evil}))
    outline = Outline(text.read_text("utf-8"))
    assert text.read_text("utf-8").count("<script") == 2
    assert len(outline.ids) == len(set(outline.ids))


STRANGE = "a\tb\x1b[31m\x00 \ud800 \u202e \u65e5\u672c"


def test_any_label_can_be_shown_and_any_file_named(cubes, tmp_path, pencilmap):
    runs, out, figures = tmp_path / "runs-\udcff.jsonl", tmp_path / "r.html", tmp_path / "figures"
    runs.write_text(json.dumps(cubes[0] | {"labels": cubes[0]["labels"] | {"placement": STRANGE,
                                                                           "network": STRANGE}}) + "\n")
    status, _printed, err = pencilmap("report", runs, "-o", out, "--figures", figures)
    assert (status, err) == (0, "")
    shown = "a b\ufffd[31m\ufffd \ufffd \ufffd \u65e5\u672c"
    assert out.read_text("utf-8").count(f"8x8, {shown}") > 2 and "runs-\ufffd.jsonl" in out.read_text("utf-8")
    for path in figures.iterdir():
        assert shown in "".join(tree.parse(path).getroot().itertext()).replace("\n", " ")


def test_what_a_font_cannot_show_is_left_out_and_named(cubes, tmp_path, pencilmap):
    runs, figures = tmp_path / "r.jsonl", tmp_path / "figures"
    runs.write_text(json.dumps(cubes[0] | {"labels": cubes[0]["labels"] | {"placement": "\u65e5"}}) + "\n")
    status, printed, err = pencilmap("report", runs, "-o", tmp_path / "r.html", "--figures", figures, "--format", "png")
    assert (status, err) == (0, "") and list(figures.iterdir()) == []
    assert printed.count("left out ") == printed.count("An SVG leaves the font to its reader") == 5


def test_the_same_records_make_the_same_bytes(cubes):
    first, second = (page(entries_of(cubes, "r.jsonl"), ["pencilmap"]) for _ in range(2))
    assert first == second


# phases


def run_of(record, sync="none", seed=0, **changes):
    """Return a record of two ranks with made-up times of two repetitions; phases add up to the totals of the ranks."""
    random, found = np.random.default_rng(seed), json.loads(json.dumps(record)) | {"sync": sync, **changes}
    names = [n for n in PHASE_NAMES if n != "total" and (sync != "none" or not n.startswith("wait"))]
    ranks = {name: random.uniform(1e-3, 9e-3, (2, 3)) for name in names}             # rank, repetition
    ranks["total"] = sum(seconds for name, seconds in ranks.items() if not name.startswith("wait"))
    found["phases"] = {name: {"max_s": s.max(axis=0).tolist(), "mean_s": s.mean(axis=0).tolist(),
                              "min_s": s.min(axis=0).tolist()}
                       for name, s in ranks.items()}
    return found, ranks


PHASE_NAMES = ["fft_z", "fft_y", "fft_x", "total", *(
    f"{part}_{stage}" for part in ("pack", "exchange", "unpack", "wait") for stage in ("row", "column"))]
KINDS = runs.kinds_of(["row", "column"])


def test_every_phase_that_a_record_can_hold_is_drawn_once():
    drawn = sorted(name for names in KINDS.values() for name in names)
    assert drawn == sorted(set(PHASE_NAMES) - {"total"})


@pytest.mark.parametrize("sync", ["none", "barrier", "clock"])
def test_bars_and_table_add_up_to_the_total_with_the_waiting_behind_it(sync, cubes, captured, written):
    record, ranks = run_of(cubes[0], sync)
    typical = int(np.argsort(ranks["total"].max(axis=0))[1])
    total = ranks["total"][:, typical].mean()
    waited = sum(ranks[name][:, typical].mean() for name in ("wait_row", "wait_column") if name in ranks)
    drawn = captured(runs, lambda: phase_pictures(entries_of([record], "r.jsonl"))[0].draw("a.svg"))
    legend = [text for text, _, _ in drawn["boxes"] if text in (*KINDS, "slowest rank")]
    first, *apart = drawn["axes"]
    assert sum(bar.get_width() for bar in first.patches) == pytest.approx(1e3 * total)
    assert [(bar.get_x(), bar.get_width()) for other in apart for bar in other.patches] == (
        [(0.0, pytest.approx(1e3 * waited))] if sync == "barrier" else [])
    assert legend == [kind for kind in KINDS if kind != runs.WAITING] + ["slowest rank"] + (
        [runs.WAITING] if sync == "barrier" else [])
    mark = next(line for line in drawn["axes"][0].lines if line.get_gid() == "slowest")
    assert mark.get_xdata() == pytest.approx([1e3 * ranks["total"][:, typical].max()])

    rows = Outline(written([record]).read_text("utf-8")).rows
    heads, cells = next((rows[k], rows[k + 1]) for k, row in enumerate(rows) if row[:2] == ["ms", "FFT"])
    shown = dict(zip(heads[1:], map(float, cells[1:])))
    assert sum(shown[kind] for kind in KINDS if kind != runs.WAITING) == pytest.approx(shown["total"], abs=4e-5)
    assert shown["total"] == pytest.approx(1e3 * total, abs=1e-5)
    assert shown["slowest rank"] == pytest.approx(mark.get_xdata()[0], abs=1e-5)
    assert heads[-1] == NOT_IN_TOTAL if sync != "none" else NOT_IN_TOTAL not in shown
    assert sync == "none" or shown[NOT_IN_TOTAL] == pytest.approx(1e3 * waited, abs=1e-5)


def test_the_rank_is_named_that_took_longest_with_the_phase_that_kept_it(cubes, written):
    record, _ = run_of(cubes[0])
    times = {"fft_x": (1e-3, 1e-3), "exchange_row": (4e-3, 3e-3), "exchange_column": (2e-3, 9e-3), "total": (7e-3, 13e-3)}
    record["phases"] = {name: {"ranks_s": [[t] for t in both], "max_s": [max(both)], "mean_s": [sum(both) / 2],
                               "min_s": [min(both)]} for name, both in times.items()}
    host, coordinate = (record["placement"]["ranks"][1][name] for name in ("host", "coordinate"))
    assert (f"1 on ({', '.join(map(str, coordinate))}), host {host}: 13.00 ms, of which beyond the mean over the ranks "
            "3.000 ms, "
            "in column exchange 3.500 ms") in written([record]).read_text("utf-8")
    assert "<dt>slowest rank</dt>" not in written(cubes).read_text("utf-8")


def test_runs_of_bricks_pencils_and_slabs_are_in_one_picture(captured):
    """Bricks have four exchanges: two remaps, rows and columns."""
    kinds = runs.kinds_of(["remap_in", "row", "column", "remap_out", "slab", "x-line"])
    run = runs.Bar("run", dict.fromkeys(kinds, 1.0), 8.0)
    drawn = captured(runs, lambda: runs.draw_phases([run], "a.svg", "runs"))
    bars = drawn["axes"][0].patches
    assert len(bars) == len(kinds) - 1 and len({bar.get_facecolor() for bar in bars[:-1]}) == len(bars) - 1


def test_names_tell_records_apart_and_no_more(cubes):
    default, box = cubes[:2]
    runs = [default, box, run_of(default, "barrier")[0], run_of(default, "barrier")[0] | {"exchange": "p2p"}, cubes[2],
            cubes[2] | {"size": [32, 32, 32]}, run_of(box, "barrier", 1)[0]]
    runs[0], runs[1], runs[4], runs[5] = ({**r, "sync": "none"} for r in (runs[0], runs[1], runs[4], runs[5]))
    entries = entries_of(runs, "r.jsonl")
    assert [entry.label for entry in entries] == [
        "8x8, the order XYZT, exchange alltoallv, sync none", "8x8, rows on 2x2x2 cubes, sync none",
        "8x8, the order XYZT, exchange alltoallv, sync barrier",
        "8x8, the order XYZT, exchange p2p, sync barrier", "8x8, the order XYZT, exchange alltoallv, sync none",
        "8x8, the order XYZT, exchange alltoallv, sync none", "8x8, rows on 2x2x2 cubes, sync barrier"]
    assert len({entry.title for entry in entries}) == len(entries)


def test_runs_that_nothing_tells_apart_are_counted(cubes):
    assert [entry.title for entry in entries_of(cubes[:1] * 2 + cubes[1:2], "r.jsonl")] == [
        "8x8, the order XYZT, run 1, 64x64x64, real", "8x8, the order XYZT, run 2, 64x64x64, real",
        "8x8, rows on 2x2x2 cubes, 64x64x64, real"]


def test_tori_of_one_grid_are_series_of_their_own():
    records = [r for torus in ("4x4x4", "8x8") for r in records_of("bluegene-l", torus, "8x8", ("default",), (64,))]
    records += records_of("bluegene-l", "4x2", "4x2", ("default",), (64,))
    entries = entries_of(records, "r.jsonl")
    assert [entry.series for entry in entries] == ["8x8, the order XYZT, 4x4x4", "8x8, the order XYZT, 8x8",
                                                   "4x2, the order XYZT, 4x2"]
    assert {entry.distinction for entry in entries} == {""}


@pytest.mark.parametrize("text", ["64x64x62:r2c", "64:dct:single", "64x32x64:fields=3"])
def test_other_transforms_have_pages_and_the_bytes_of_all_that_is_sent(text, written):
    records = records_of("bluegene-l", "4x4x4", "8x8", ("default",), (text,))
    row = compare_records(records, "r.jsonl")[0]
    assert row.time_ratio == pytest.approx(1.0) and row.t_s == pytest.approx(
        2 * parse_transform(text).total_bytes / (4 * 64 * 148e6))
    assert f">{parse_transform(text)}<" in written(records).read_text("utf-8")


# bandwidths


def test_links_of_another_speed_have_panels_of_their_own(cubes):
    slow, near, fast = (records_of("bluegene-l", "4x4x4", "8x8", ("default",), (64, 128), {"link_bandwidth": rate})
                        for rate in ("1 MB/s", "500 MB/s", "46.3 GB/s"))
    found = bandwidth_pictures(entries_of(cubes + slow + near + fast, "r.jsonl"))
    assert [(picture.name, picture.title) for picture in found] == [
        ("bandwidth-row-1", "row exchange, links from 1 MB/s"), ("bandwidth-column-1", "column exchange, links from 1 MB/s"),
        ("bandwidth-row-2", "row exchange, links from 148 MB/s"),
        ("bandwidth-column-2", "column exchange, links from 148 MB/s"),
        ("bandwidth-row-3", "row exchange, links from 46300 MB/s"),
        ("bandwidth-column-3", "column exchange, links from 46300 MB/s")]
    assert [picture.name for picture in bandwidth_pictures(entries_of(cubes + near, "r.jsonl"))] == [
        "bandwidth-row", "bandwidth-column"]


# other properties of the page


def test_the_record_tells_what_makes_its_times_mean_little_and_what_auto_took(cubes, written):
    found = {"exchange": "p2p", "means": None, "tried_s": {}, "bytes": [], "messages": []}
    text = written([cubes[0] | {"warnings": ["host <n0> is crowded"], "exchange": "auto",
                                "stages": [found | {"name": "row"}, found | {"name": "column", "exchange": "node"}]}])
    text = text.read_text("utf-8")
    assert "host &lt;n0&gt; is crowded" in text and "exchange auto (row: p2p, column: node)" in text


def test_a_warning_of_the_runner_stands_beside_its_times(cubes, written):
    text = written([cubes[0] | {"warnings": ["host n0 is crowded"]}, cubes[1]]).read_text("utf-8")
    assert ["".join(row[14:]).strip() for row in Outline(text).rows[1:5]] == ["1", "1", "", ""]
    assert '<li id="note-1">host n0 is crowded</li>' in text


def test_slabs_stand_beside_pencils_with_one_exchange(cubes, tmp_path, pencilmap):
    where = setting(machine="bluegene-l", network="4x4x4:torus", fft="64", decomposition="slab")
    mapping = as_mapping(where.place("default", where.grid("64")), "default")
    runs, figures = tmp_path / "r.jsonl", tmp_path / "figures"
    slab = record(mapping, where.transform, where.costs, {"machine": "bluegene-l", "placement": "default"})
    runs.write_text("".join(json.dumps(r) + "\n" for r in (cubes[0], slab)), "utf-8")
    status, _, err = pencilmap("report", runs, "-o", tmp_path / "r.html", "--figures", figures)
    assert status == 0, err
    assert {path.stem for path in figures.iterdir()} == {
        "phases", "image-1", "loads-row-1", "loads-column-1",
        "loads-joint-1", "image-2", "loads-slab-2"}
    outline = Outline((tmp_path / "r.html").read_text("utf-8"))
    assert [row[5] for row in outline.rows[1:4]] == ["row", "column", "slab"]
    assert {"row", "column", "slab"} <= set(outline.ids)


def test_records_without_a_torus_have_phases_and_a_reason(cubes, written):
    lost = json.loads(json.dumps(cubes[0]))
    lost["placement"]["torus"] = None
    text = written([lost]).read_text("utf-8")
    assert "the network is not drawn: the run does not know its network" in text
    assert '<canvas' not in text and "where the time goes" in text


def test_the_command_writes_page_and_figures_and_names_itself(cubes, tmp_path, pencilmap):
    runs, out, figures = tmp_path / "my runs.jsonl", tmp_path / "r.html", tmp_path / "figures"
    runs.write_text("".join(json.dumps(r) + "\n" for r in cubes), "utf-8")
    status, printed, err = pencilmap("report", runs, "-o", out, "--figures", figures)
    assert status == 0, err
    assert f"pencilmap report &#39;{runs}&#39; -o {out} --figures {figures}" in out.read_text("utf-8")
    names = {path.name for path in figures.iterdir()}
    assert names == {"bandwidth-row.svg", "bandwidth-column.svg", "phases-1.svg", "phases-2.svg",
                     *(f"{kind}-{k}.svg" for k in (1, 2) for kind in ("image", "loads-row", "loads-column", "loads-joint"))}
    assert all(f"wrote {figures / name}" in printed for name in names)


def test_published_points_stand_beside_the_records(cubes):
    from pencilmap.scripts.pictures.report.page import published_cells

    text = page(entries_of(cubes[:1], "r.jsonl"), ["pencilmap"], published_cells())
    assert text.count("<td>published</td>") == len(published_cells())
    assert {"row exchange, short rows", "column exchange, long rows"} <= set(re.findall(r'aria-label="([^"]*)"', text))


@pytest.mark.parametrize("words, says", [
    ((), "or a --machine or --network"), (("--published", "--network", "4x4"), "run records"),
    (("runs.jsonl", "--grid", "2x2"), "leave one of both"), (("runs.jsonl", "--network", "2x2"), "leave one of both"),
    (("empty.jsonl",), "contains no run record"), (("other.jsonl",), "is not a run record"),
    (("text.jsonl",), "is not JSON"),
    (("runs.jsonl", "-o", "./runs.jsonl"), "contains the records"), (("runs.jsonl", "--format", "png"), "--figures"),
    (("runs.jsonl", "--figures", "runs.jsonl/below"), "cannot be made"),
    (("runs.jsonl", "-o", "none/r.html"), "cannot be written")])
def test_what_cannot_be_a_page_is_refused(words, says, cubes, tmp_path, monkeypatch, pencilmap):
    monkeypatch.chdir(tmp_path)
    files = {"runs.jsonl": json.dumps(cubes[0]) + "\n", "empty.jsonl": "", "other.jsonl": "{}\n", "text.jsonl": "x"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    status, _, err = pencilmap("report", *words, *(() if "-o" in words else ("-o", "r.html")))
    assert status in (1, 2) and says in err.replace("\n", " ")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


# ---- in a real browser ----

needs_browser = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"no browser: {missing()} missing; "
                                                         "apt-get install chromium chromium-driver")]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def opened(chromium, written):
    """Open the page of records; afterwards check that the browser did not complain."""
    def open_page(records, width=1100, height=900, scheme="light"):
        window(chromium, width, height, scheme)
        chromium.get(written(records).as_uri())
        drawn(chromium)
        return chromium

    yield open_page
    assert chromium.get_log("browser") == []


def drawn(driver):
    """Wait for the next picture."""
    driver.execute_async_script("const done = arguments[0];"
                                "requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def choose(driver, name, value):
    """Act as a reader: click into the field, replace its text, leave it."""
    from selenium.webdriver.common.keys import Keys

    field = driver.find_element("id", name)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(str(value), Keys.TAB)
    drawn(driver)


def row_nodes(entry, row):
    mapping = entry.mapping
    return set(mapping.node_of_rank[mapping.grid.groups("r")[row]].tolist())


class TestInABrowser:
    pytestmark = needs_browser

    def test_a_chosen_row_is_seen_where_its_nodes_are(self, opened, cubes):
        driver, entry = opened(cubes), entries_of(cubes, "r.jsonl")[0]
        choose(driver, "column", 3)
        column = set(entry.mapping.node_of_rank[entry.mapping.grid.groups("c")[3]].tolist())
        for row in (0, 5):
            choose(driver, "row", row)
            expected = row_nodes(entry, row) - column
            places = np.array(driver.execute_script(
                "return [...Array(64).keys()].map((n) => pencilmap.place(n).slice(0, 2))"))
            picture = (np.asarray(canvas_picture(driver)) == BLUE).all(axis=-1)
            blue = {node for node, (x, y) in enumerate(places.round().astype(int).tolist())
                    if picture[y - 5:y + 6, x - 5:x + 6].mean() > 0.4}
            assert expected <= blue
            for node in blue - expected:                      # behind a node of the row
                assert min(np.hypot(*(places[node] - places[other])) for other in expected) < 16
            assert f"row {row}: 8 ranks on 8 nodes" in driver.find_element("id", "nodes").text

    def test_keys_alone_reach_and_turn_the_picture(self, opened, cubes):
        from selenium.webdriver.common.keys import Keys

        driver = opened(cubes)
        body = driver.find_element("tag name", "body")
        for _ in range(12):
            body.send_keys(Keys.TAB) if driver.switch_to.active_element.tag_name == "body" else \
                driver.switch_to.active_element.send_keys(Keys.TAB)
            if driver.switch_to.active_element.get_attribute("id") == "torus":
                break
        canvas = driver.switch_to.active_element
        before = driver.execute_script("return pencilmap.place(1)")
        canvas.send_keys(Keys.ARROW_RIGHT, "r", "c")
        drawn(driver)
        assert driver.execute_script("return pencilmap.place(1)") != before
        assert driver.find_element("id", "row").get_attribute("value") == "1"
        assert driver.find_element("id", "column").get_attribute("value") == "1"
        canvas.send_keys("0", "R", "R")
        drawn(driver)
        assert driver.execute_script("return pencilmap.place(1)") == before
        assert driver.find_element("id", "row").get_attribute("value") == "7"

    def test_a_click_on_a_node_chooses_its_row(self, opened, cubes):
        from selenium.webdriver.common.action_chains import ActionChains

        driver, entry = opened(cubes), entries_of(cubes, "r.jsonl")[0]
        node = int(entry.mapping.node_of_rank[7])             # the end of the first row: in front, hidden by nothing
        canvas = driver.find_element("id", "torus")
        driver.execute_script("arguments[0].scrollIntoView()", canvas)
        x, y, _ = driver.execute_script("return pencilmap.place(arguments[0])", node)
        ActionChains(driver).move_to_element_with_offset(canvas, x - canvas.size["width"] / 2,
                                                         y - canvas.size["height"] / 2).click().perform()
        drawn(driver)
        assert (driver.find_element("id", "row").get_attribute("value"),
                driver.find_element("id", "column").get_attribute("value")) == ("0", "7")

    @pytest.mark.parametrize("given, kept", [("99", "7"), ("-3", "0"), ("", "0"), ("2.7", "2")])
    def test_rows_that_do_not_exist_are_not_chosen(self, opened, cubes, given, kept):
        driver = opened(cubes)
        driver.execute_script("const f = document.getElementById('row'); f.value = arguments[0];"
                              "f.dispatchEvent(new Event('change'))", given)
        assert driver.find_element("id", "row").get_attribute("value") == kept

    def test_further_dimensions_are_cut_where_the_row_is(self, opened, five):
        driver, entry = opened(five), entries_of(five, "r.jsonl")[0]
        shape = entry.mapping.network.shape
        choose(driver, "row", 63)
        shown = driver.execute_script("return [...Array(arguments[0]).keys()].filter((n) => pencilmap.place(n))",
                                      entry.mapping.network.n_nodes)
        assert len(shown) == np.prod([shape[i] for i in (0, 1, 2)])
        assert row_nodes(entry, 63) & set(shown)
        slider = driver.find_element("id", "slice-4")
        before = slider.get_attribute("value")
        driver.execute_script("const f = arguments[0]; f.value = 1 - f.value; f.dispatchEvent(new Event('input'))", slider)
        drawn(driver)
        other = driver.execute_script("return [...Array(arguments[0]).keys()].filter((n) => pencilmap.place(n))",
                                      entry.mapping.network.n_nodes)
        assert before == "1" and not set(other) & set(shown) and len(other) == len(shown)

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize("width, scheme", [(360, "light"), (360, "dark"), (1100, "dark")])
    @pytest.mark.parametrize("name", ["cubes", "five", "waiting"])
    def test_nothing_is_wider_than_the_window_and_text_is_readable(self, opened, request, name, width, scheme):
        driver = opened(request.getfixturevalue(name), width, 640, scheme)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        assert contrast(driver, "body") >= 7
        for faint in (".hint", "label", "th", "small", "a, summary", "#nodes b:first-of-type", "#nodes p + p b"):
            assert contrast(driver, faint) >= 4.5, faint
        sizes = driver.execute_script("return [...document.querySelectorAll('figure svg text')].map("
                                      "(t) => t.getBoundingClientRect().height)")
        assert min(sizes) >= 8

    def test_tables_are_folded_and_open_by_the_keyboard_with_heads_for_a_reader(self, opened, cubes):
        from selenium.webdriver.common.keys import Keys

        driver = opened(cubes)
        assert driver.execute_script("return [...document.querySelectorAll('table')].filter("
                                     "(t) => !t.closest('details:not([open])')).length") == 0
        summary = driver.find_element("css selector", "section[aria-labelledby=compared-heading] summary")
        summary.send_keys(Keys.ENTER)
        assert driver.find_element("css selector", "section[aria-labelledby=compared-heading] table").is_displayed()
        assert driver.execute_script("return [...document.querySelectorAll('th')].every((t) => t.scope)")

    def test_a_screen_reader_hears_every_control_and_picture(self, opened, cubes):
        """By Chromium's own tree of accessibility: what can be focused, and each picture, has a name."""
        driver = opened(cubes)
        driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        focusable = [node for node in nodes if not node.get("ignored") and any(
            p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", []))
            and node["role"]["value"] != "RootWebArea"]
        pictures = [node for node in nodes if node.get("role", {}).get("value") in ("image", "img", "graphics-document")]
        assert len(focusable) > 8 and len(pictures) >= 3
        assert [node["role"] for node in focusable + pictures if not node.get("name", {}).get("value", "").strip()] == []
        said = " ".join(node["name"]["value"] for node in pictures)
        assert "The busiest link shown carries 2" in said, "the torus says its load"
        levels = driver.execute_script("return [...document.querySelectorAll('h1, h2')].map((h) => h.tagName)")
        assert levels[0] == "H1" and levels.count("H1") == 1

    def test_the_factor_between_the_pictures_is_that_of_their_placements(self, opened, cubes):
        driver = opened(cubes, 1400)
        first, second = (entry for entry in entries_of(cubes[:2], "r.jsonl"))
        expected = sum(c.measured_s for c in first.comparisons) / sum(c.measured_s for c in second.comparisons)
        before = ["before"] if expected < 1 else []
        shown = driver.find_element("id", "factor").text.split()
        assert shown == [f"{max(expected, 1 / expected):.2f}\u00d7", "faster", *before]
        choose_option(driver, "view-2", "0")
        assert driver.find_element("id", "factor").text.split() == ["1.00\u00d7", "faster"]

    def test_a_colour_is_the_same_load_for_every_exchange_and_placement(self, opened, cubes, tmp_path, pencilmap):
        """Rows on cubes have load 2 of 6, so they never show the colour of the largest load; both exchanges at once do."""
        driver, path = opened(cubes), tmp_path / "p.html"
        predicted_page(path, pencilmap)
        driver.get(path.as_uri())
        drawn(driver)
        shown = {}
        for view, name in product("01", ("row", "column", AT_ONCE)):
            choose_option(driver, "view", view)
            choose_option(driver, "exchange", name)
            shown[view, name] = pixels_of(driver, (0x7A, 0x1F, 0x5C)) > 100
            assert driver.find_element("id", "largest").text == "0.7864 MB"
        assert [key for key, seen in shown.items() if seen] == [("1", AT_ONCE)]
        assert "The busiest link shown here carries 0.7864 MB," in driver.find_element("id", "nodes").text

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("width, scheme", [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")])
    def test_before_and_after_are_seen_with_the_verdict_on_top(self, opened, tmp_path, pencilmap, cubes, width, scheme):
        """Side by side if there is room, else stacked; the same colour is the same load in both."""
        driver, path = opened(cubes, width, 844, scheme), tmp_path / "p.html"
        predicted_page(path, pencilmap)
        driver.get(path.as_uri())
        drawn(driver)
        boxes = {name: driver.execute_script("const b = document.getElementById(arguments[0]).getBoundingClientRect();"
                                             "return [b.left, b.top, b.right, b.bottom]", name)
                 for name in ("verdict", "torus", "torus-2")}
        verdict, first, second = boxes.values()
        assert driver.find_element("tag name", "h1").text.startswith("Rows on 2x2x2 cubes are 1.33x faster than block order")
        assert verdict[3] < 300 and contrast(driver, "#verdict", ".bar .name") >= 4.5
        assert (second[0] > first[2] and second[1] == first[1]) if width == 1400 else second[1] > first[3]
        assert max(box[2] for box in boxes.values()) <= width
        assert driver.title == "8x8x8, 8x64, block order and rows on 2x2x2 cubes, 256x256x256, predicted"
        high = {"light": (0x7A, 0x1F, 0x5C), "dark": (0xFF, 0xE5, 0x8A)}[scheme]
        choose_option(driver, "exchange", AT_ONCE)
        assert [pixels_of(driver, high, name) > 30 for name in ("torus", "torus-2")] == [False, True], "4 and 6 on one scale"
        words = [driver.find_element("id", name).text for name in ("nodes", "nodes-2")]
        assert "carries 0.5243 MB," in words[0] and "carries 0.7864 MB," in words[1]
        ends = driver.execute_script("return [...document.querySelectorAll('.parts')].map("
                                     "(p) => p.getBoundingClientRect().width)")
        assert ends[1] / ends[0] == pytest.approx(6 / 8, abs=0.02)

    @pytest.mark.parametrize("network, grid", [("fat-tree:leaves=30,hosts=4,up=2", "12x10"),
                                               ("dragonfly:a=4,p=2,groups=5,cables=2", "8x5")])
    def test_pages_of_leaves_and_groups_are_read_in_small_and_large_windows(self, opened, tmp_path, pencilmap, cubes,
                                                                            network, grid):
        """Nothing is cut off, no letter is under 12 pixels, and a search finds the ranks of a host."""
        path = tmp_path / "p.html"
        pencilmap("report", "--network", network, "--bandwidth", "25 GB/s", "--grid", grid, "--fft", 64, "--effort", "quick",
                  "-o", path)
        driver = opened(cubes)
        for width, scheme in product((400, 1280), ("light", "dark")):
            window(driver, width, 900, scheme)
            driver.get(path.as_uri())
            unfold(driver)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            small = ("return [...document.querySelectorAll('body *')].filter((e) => e.innerText && e.offsetParent"
                     " && parseFloat(getComputedStyle(e).fontSize) < 12).length")
            assert driver.execute_script(small) == 0
            assert contrast(driver, ".load .name", ".panel figcaption") >= 4.5
        assert len(driver.find_elements("css selector", ".panel .load")) <= 2 * 24
        name = driver.find_element("css selector", "#hosts dt").text
        driver.find_element("id", "host").send_keys(name)
        assert driver.find_element("id", "hosts").text.splitlines()[0] == name
        assert driver.find_element("id", "hosts").text.count("\n") == 1

    def test_pointing_at_a_link_or_node_tells_its_load_ranks_and_host(self, opened, cubes):
        from selenium.webdriver.common.action_chains import ActionChains

        driver, entry = opened(cubes, 1400), entries_of(cubes, "r.jsonl")[0]
        canvas, tip = driver.find_element("id", "torus"), driver.find_element("id", "tip")
        driver.execute_script("arguments[0].scrollIntoView()", canvas)
        assert not tip.is_displayed()

        def point(x, y):
            ActionChains(driver).move_to_element_with_offset(canvas, x - canvas.size["width"] / 2,
                                                             y - canvas.size["height"] / 2).perform()
            drawn(driver)
            return tip.text

        x, y, _ = driver.execute_script("return pencilmap.place(3)")                  # in front: hidden by nothing
        seat = next(s for s in cubes[0]["placement"]["ranks"] if entry.mapping.node_of_rank[s["rank"]] == 3)
        told = point(x, y)
        assert f"node (3, 0, 0) {seat['host']}" in told and f"rank {seat['rank']} (row 0, column 3)" in told
        assert tip.is_displayed() and contrast(driver, "#tip") >= 4.5
        line = driver.execute_script("return pencilmap.lines().find((l) => l.i === 0 && l.lower === 2 && l.upper === 3)")
        told = point((line["a"]["x"] + line["b"]["x"]) / 2, (line["a"]["y"] + line["b"]["y"]) / 2)
        loads = np.frombuffer(base64.b64decode(views([entry.placed])[0][0]["loads"]["row"]), "<f4").reshape(3, 2, 64)
        assert "link in x: (2, 0, 0)" in told and f"load {loads[0, 0, 2]:g} upwards, {loads[0, 1, 3]:g} downwards" in told
        driver.execute_script("arguments[0].dispatchEvent(new PointerEvent('pointerleave'))", canvas)
        assert not tip.is_displayed()

    def test_the_wheel_zooms_where_it_points_and_leaves_the_page_alone(self, opened, cubes):
        driver = opened(cubes)
        wheel = ("const c = document.getElementById('torus'), [x, y] = pencilmap.place(21), b = c.getBoundingClientRect();"
                 "return !c.dispatchEvent(new WheelEvent('wheel', {deltaY: arguments[0], clientX: b.x + x, clientY: b.y + y,"
                 "bubbles: true, cancelable: true}))")
        before = driver.execute_script("return [pencilmap.place(21), pencilmap.place(0)]")
        assert driver.execute_script(wheel, -240) is True
        drawn(driver)
        after = driver.execute_script("return [pencilmap.place(21), pencilmap.place(0)]")
        assert after[0][:2] == pytest.approx(before[0][:2], abs=1)
        apart = [np.hypot(*np.subtract(a[:2], b[:2])) for a, b in (before, after)]
        assert apart[1] / apart[0] == pytest.approx(np.exp(0.6), rel=0.01)
        for _ in range(3):
            driver.execute_script(wheel, 240)
        drawn(driver)
        assert driver.execute_script(wheel, 240) is False, "at the whole torus the page scrolls"
        assert driver.execute_script("return pencilmap.place(0)")[:2] == pytest.approx(before[1][:2], abs=1)


def test_published_times_stand_only_beside_their_own_machine(cubes, tmp_path, pencilmap):
    runs, own, other = tmp_path / "r.jsonl", tmp_path / "own.html", tmp_path / "other.html"
    runs.write_text(json.dumps(cubes[0]) + "\n")
    assert pencilmap("report", runs, "--published", "-o", own)[2] == "" and "<td>published</td>" in own.read_text("utf-8")
    runs.write_text(json.dumps(cubes[0] | {"labels": cubes[0]["labels"] | {"machine": "bluegene-q"}}) + "\n")
    status, _, err = pencilmap("report", runs, "--published", "-o", other)
    assert status == 0 and "are of bluegene-l, and no record is of it" in err
    assert "<td>published</td>" not in other.read_text("utf-8")


def test_the_page_says_what_it_is_about_and_what_was_found(tmp_path, pencilmap):
    runs, out = tmp_path / "r.jsonl", tmp_path / "r.html"
    found = records_of("bluegene-l", "8x8x8", "8x64", ("default", "box:2x2x2"), (256, 512))
    runs.write_text("".join(json.dumps(r) + "\n" for r in found))
    pencilmap("report", runs, "-o", out)
    text = out.read_text("utf-8")
    assert ('<p id="subject">bluegene-l 8x8x8, 8x64, the order XYZT and rows on 2x2x2 cubes, 256x256x256 and 512x512x512, '
            "real</p>") in text
    assert re.search(r"<h1>Rows on 2x2x2 cubes are 1\.\d\dx faster than the order XYZT\. Nothing is over \d\.\d\dx "
                     r"faster \(proved\)\.</h1>", text)
    assert "<p>measured times are 1.000 times the predicted ones.</p>" in text and text.count("Measured in runs") == 1


def unfold(driver):
    """Open every folded part of the page."""
    driver.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def canvas_picture(driver, name="torus"):
    """Return the visible picture of a torus."""
    from PIL import Image

    x, y, width, height = driver.execute_script(
        "const b = document.getElementById(arguments[0]).getBoundingClientRect();"
        "return [b.x + scrollX, b.y + scrollY, b.width, b.height]", name)
    picture = Image.open(BytesIO(screenshot(driver))).convert("RGB")
    return picture.crop([round(v) for v in (x, y, x + width, y + height)])


def choose_option(driver, name, value):
    driver.execute_script("const f = document.getElementById(arguments[0]); f.value = arguments[1];"
                          "f.dispatchEvent(new Event('change'))", name, value)
    drawn(driver)


def pixels_of(driver, colour, name="torus"):
    """Count the pixels of the picture with a colour."""
    return int((np.asarray(canvas_picture(driver, name)) == colour).all(axis=-1).sum())


def contrast(driver, *selectors):
    """Return the least contrast of the text of elements to the page, by the rule of WCAG 2."""
    if len(selectors) > 1:
        return min(contrast(driver, each) for each in selectors)
    selector, = selectors
    colours = driver.execute_script("return [getComputedStyle(document.querySelector(arguments[0])).color,"
                                    "getComputedStyle(document.body).backgroundColor]", selector)
    return ratio(*([int(v) for v in re.findall(r"\d+", c)[:3]] for c in colours))


def ratio(*colours):
    light, dark = sorted(map(luminance, colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(rgb):
    linear = [(v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4) for v in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
