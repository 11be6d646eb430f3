"""The report page: its content, and its appearance in a real browser."""

import base64
import json
import re
import xml.etree.ElementTree as tree
from html.parser import HTMLParser
from itertools import product
from statistics import median

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.runs.compare import compare_records
from pencilmap.mapper.setting import setting
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.pictures import runs
from pencilmap.scripts.pictures.report.entries import entries_of
from pencilmap.scripts.pictures.report.networks import AT_ONCE, views
from pencilmap.scripts.pictures.report.page import NOT_IN_TOTAL, page, phase_pictures
from tests.mapper.run_records import record
from tests.model import brute_force
from tests.scripts.browser import (
    browser,
    canvas_picture,
    choose,
    choose_option,
    contrast,
    drawn,
    needs_browser,
    pixels_of,
    unfold,
    window,
)

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


FAT_TREE = ("--network", "fat-tree:leaves=4,hosts=4,up=2", "--bandwidth", "25 GB/s", "--grid", "4x4", "--effort", "quick")


@pytest.mark.parametrize("words, units", [
    (FAT_TREE, {"hosts", "4 leaves up, down"}),
    (("--network", "dragonfly:a=4,p=2,h=2", "--bandwidth", "25 GB/s", "--grid", "8x9", "--effort", "quick"),
     {"hosts"}),
    (("--network", "fat-tree:leaves=40,hosts=4,up=2", "--bandwidth", "25 GB/s", "--grid", "8x20", "--effort", "quick"),
     {"hosts"})])
def test_each_exchange_of_a_network_without_coordinates_has_a_panel(words, units, tmp_path, pencilmap):
    """The largest number of all panels fills the track, and there is a number for each order."""
    path = tmp_path / "p.html"
    pencilmap.out("report", *words, "--fft", "128", "-o", path)
    text = path.read_text("utf-8")
    assert re.findall(r"<figcaption><b>(\w+)</b>, \w?B a cable", text) == ["Rows", "Columns"] and "<canvas" not in text
    names = re.findall(r'<div class="load"><span class="name">(.*?)(?: <small>.*?)?</span>', text)
    assert units <= {*names} and len(names) <= 2 * 24
    assert max(float(width) for width in re.findall(r'class="(?:outline|after)" style="width:([\d.]+)%', text)) == 100
    assert "<h1>" in text and "(proved)" in text


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


def test_runs_that_nothing_tells_apart_are_counted(cubes):
    assert [entry.title for entry in entries_of(cubes[:1] * 2 + cubes[1:2], "r.jsonl")] == [
        "8x8, the order XYZT, run 1, 64x64x64, real", "8x8, the order XYZT, run 2, 64x64x64, real",
        "8x8, rows on 2x2x2 cubes, 64x64x64, real"]


def test_the_record_tells_what_makes_its_times_mean_little_and_what_auto_took(cubes, written):
    found = {"exchange": "p2p", "means": None, "tried_s": {}, "bytes": [], "messages": []}
    text = written([cubes[0] | {"warnings": ["host <n0> is crowded"], "exchange": "auto",
                                "stages": [found | {"name": "row"}, found | {"name": "column", "exchange": "node"}]}])
    text = text.read_text("utf-8")
    assert "host &lt;n0&gt; is crowded" in text and "exchange auto (row: p2p, column: node)" in text


def test_slabs_stand_beside_pencils_with_one_exchange(cubes, tmp_path, pencilmap):
    where = setting(machine="bluegene-l", network="4x4x4:torus", fft="64", decomposition="slab")
    mapping = as_mapping(where.place("default", where.grid("64")), "default")
    runs, figures = tmp_path / "r.jsonl", tmp_path / "figures"
    slab = record(mapping, where.transform, where.costs, {"machine": "bluegene-l", "placement": "default"})
    runs.write_text("".join(json.dumps(r) + "\n" for r in (cubes[0], slab)), "utf-8")
    pencilmap.out("report", runs, "-o", tmp_path / "r.html", "--figures", figures)
    assert {path.stem for path in figures.iterdir()} == {
        "phases", "image-1", "loads-row-1", "loads-column-1",
        "loads-joint-1", "image-2", "loads-slab-2"}
    outline = Outline((tmp_path / "r.html").read_text("utf-8"))
    assert [row[5] for row in outline.rows[1:4]] == ["row", "column", "slab"]
    assert {"row", "column", "slab"} <= set(outline.ids)


def test_the_command_writes_page_and_figures_and_names_itself(cubes, tmp_path, pencilmap):
    runs, out, figures = tmp_path / "my runs.jsonl", tmp_path / "r.html", tmp_path / "figures"
    runs.write_text("".join(json.dumps(r) + "\n" for r in cubes), "utf-8")
    printed = pencilmap.out("report", runs, "-o", out, "--figures", figures)
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


# ---- in a real browser ----

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


def row_nodes(entry, row):
    mapping = entry.mapping
    return set(mapping.node_of_rank[mapping.grid.groups("r")[row]].tolist())


@needs_browser
class TestInABrowser:
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
