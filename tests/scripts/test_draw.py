"""Pictures: the right files with the right content, nothing that overlaps, nothing half-written."""

import re
import xml.etree.ElementTree as tree

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.kinds import routing
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.predict import predict
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.pictures.figures import image, links
from tests.answers import faults

pytestmark = pytest.mark.usefixtures("brief_searches")

SVG = "{http://www.w3.org/2000/svg}"
BGL = ("--machine", "bluegene-l", "--grid", "8x64", "-p", "default")
TORI = [("8x8x8", "8x64"), ("8x8", "4x16"), ("12", "3x4"), ("4x4x4x4x2", "16x32"), ("8x4x6:mesh", "8x24"),
        ("2x3x2x4x4x4", "24x32"), ("1x5x1", "5x1"), ("2x2x2x2x2x2x2x2", "16x16")]


def group(path, name):
    """Return the group of an SVG file with this id, None if there is no such group."""
    return next((g for g in tree.parse(path).iter(f"{SVG}g") if g.get("id") == name), None)


def count(path, name):
    """Count the marks of a kind, at any depth: paths, or uses of a path in the definitions."""
    groups = [g for g in tree.parse(path).iter(f"{SVG}g") if re.fullmatch(rf"{name}-\d+", g.get("id", ""))]
    paths, uses = (sum(len(list(g.iter(f"{SVG}{tag}"))) for g in groups) for tag in ("path", "use"))
    defined = sum(len(list(d.iter(f"{SVG}path"))) for g in groups for d in g.iter(f"{SVG}defs"))
    return uses + paths - defined


def texts(path):
    return ["".join(t.itertext()) for t in tree.parse(path).iter(f"{SVG}text")]


def mapping_of(torus, grid, placement=None, tasks_per_node=1, **options):
    """Return a mapping, by default of the best digit patterns, which need no search."""
    site = Site(parse_torus(torus), tasks_per_node, **options)
    if placement is None:
        return as_mapping(best_product(site.network, parse_grid(grid), tasks_per_node), "digits")
    return as_mapping(place(placement, site, parse_grid(grid)), placement)


# files


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ending, begins", [("svg", b"<?xml"), ("pdf", b"%PDF-"), ("png", b"\x89PNG")])
@pytest.mark.parametrize("what", ["image", "loads", "lengths"])
def test_the_suffix_names_the_format_and_files_are_the_same_each_time(what, ending, begins, tmp_path, pencilmap,
                                                                      pencilmap_json):
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    arguments = ("draw", "--what", what, "--network", "4x3", "--grid", "4x3", "-p", "line")
    found = pencilmap_json.one(*arguments, "-o", first)
    assert found["file"] == str(first) and found["grid"] == [4, 3]
    status, out, _ = pencilmap(*arguments, "-o", second)
    assert status == 0 and out == f"wrote {second}\n"
    assert first.read_bytes().startswith(begins) and first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second]
    assert {"svg": b"<text", "pdf": b"/FontFile2", "png": b"IDAT"}[ending] in first.read_bytes()


# errors

BAD = {
    "suffix": (["-w", "image", *BGL, "-o", "a.jpg"], ["a.jpg", ".svg, .pdf, .png"]),
    "no suffix": (["-w", "image", *BGL, "-o", "a"], ["'nothing'", ".svg"]),
    "row": (["-w", "image", *BGL, "--row", "64", "-o", "a.svg"], ["row 64", "rows 0..63"]),
    "row below 0": (["-w", "image", *BGL, "--row", "-1", "-o", "a.svg"], ["row -1"]),
    "column": (["-w", "image", *BGL, "--column", "8", "-o", "a.svg"], ["column 8", "columns 0..7"]),
    "two images": (["-w", "image", *BGL, "-p", "line", "-o", "a.svg"], ["2 placements", "lengths"]),
    "large image": (["-w", "image", "--network", "32x32x32", "-g", "32x1024", "-o", "a.svg"], ["32768 nodes", "20000"]),
    "many lattices": (["-w", "image", "--network", "3x3x3x3x3x3x3x3", "-g", "81x81", "-o", "a.svg"], ["243 lattices", "64"]),
    "large loads": (["-w", "loads", "--network", "32x32x32", "-g", "32x1024", "-o", "a.svg"], ["196608 links", "60000"]),
    "no links": (["-w", "loads", "--network", "1x1", "-g", "1x1", "-o", "a.svg"], ["0 links"]),
    "many bars": (["-w", "lengths", *BGL, *["-p", "default"] * 12, "-o", "a.svg"], ["13 placements", "at most 12"]),
    "no folder": (["-w", "lengths", *BGL, "-o", "missing/a.svg"], ["cannot be written"]),
    "what": (["-w", "sound", *BGL, "-o", "a.svg"], ["'sound'", "lengths"]),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_drawn_is_one_message_and_no_file(case, pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, words = BAD[case]
    status, out, err = pencilmap("draw", *arguments)
    assert status in (1, 2) and out == "" and "Traceback" not in err
    for word in words:
        assert word in err
    assert list(tmp_path.iterdir()) == []


# images


@pytest.mark.parametrize("torus, grid", TORI)
def test_an_image_marks_the_nodes_of_its_row_and_column(torus, grid, tmp_path):
    mapping, path = mapping_of(torus, grid), tmp_path / "a.svg"
    row, column = mapping.grid.shape[1] - 1, mapping.grid.shape[0] // 2
    image.draw_image(mapping, {"row": row, "column": column}, path, "title")
    of_row = set(mapping.node_of_rank[mapping.grid.groups("r")[row]])
    of_column = set(mapping.node_of_rank[mapping.grid.groups("c")[column]])
    assert count(path, "row-nodes") == len(of_row - of_column)
    assert count(path, "column-nodes") == len(of_column - of_row)
    assert count(path, "both-nodes") == len(of_row & of_column) == 1
    assert count(path, "other-nodes") == mapping.network.n_nodes - len(of_row | of_column)
    found = [text.replace("task ", "tasks ").removesuffix("s") for text in texts(path)]
    for words in ("title", f"row {row}: {mapping.grid.shape[0]} tasks on {len(of_row)} node",
                  f"column {column}: {mapping.grid.shape[1]} tasks on {len(of_column)} node"):
        assert words in found


def test_slots_of_a_node_are_one_mark(tmp_path):
    path = tmp_path / "a.svg"
    image.draw_image(mapping_of("4x4", "8x4", "digits:x=r4,y=c4,t=r2", 2), FIRST, path, "")
    assert count(path, "row-nodes") == 3 and "row 0: 8 tasks on 4 nodes" in texts(path)


def test_nodes_without_a_task_are_marked_as_such(tmp_path):
    torus = Torus((4, 4))
    site = Site(torus, allocation=Allocation(torus).without([5, 6]), idle=True)
    mapping = as_mapping(place("default", site, ProcessGrid(4, 3)), "default")
    image.draw_image(mapping, FIRST, tmp_path / "a.svg", "")
    assert count(tmp_path / "a.svg", "empty-nodes") == 4 and "no task" in texts(tmp_path / "a.svg")


@pytest.mark.parametrize("torus, grid", [*TORI, ("3x3x32", "9x32"), ("5x1x7x2", "7x10")])
def test_no_node_of_a_picture_hides_another(torus, grid):
    lattices = image.Lattices(parse_torus(torus))
    where = lattices.screen(lattices.torus.coordinates(np.arange(lattices.torus.n_nodes)))
    apart = np.linalg.norm(where[:, None] - where[None], axis=-1) + 9 * np.eye(len(where))
    assert apart.min() > 0.07                                 # the size of a small mark


@pytest.mark.parametrize("torus, links, rings", [("4x3", 9 + 8, 6 + 8), ("4x3:mesh", 17, 0), ("2x5w", 5 + 8, 4)])
def test_an_image_draws_lines_whole_and_rings_with_open_ends(torus, links, rings, tmp_path):
    shape = parse_torus(torus)
    image.draw_image(mapping_of(torus, f"{shape.shape[0]}x{shape.shape[1]}"), FIRST, tmp_path / "a.svg", "")
    lines = sum(shape.lines(i) for i in range(2))
    drawn = group(tmp_path / "a.svg", "links")
    assert len(list(drawn.iter(f"{SVG}path"))) == lines
    ends = group(tmp_path / "a.svg", "ring-ends")
    assert (0 if ends is None else len(list(ends.iter(f"{SVG}path")))) == rings
    assert links == sum(shape.lines(i) * (shape.shape[i] - 1) for i in range(2))


def test_links_inside_an_image_are_drawn(tmp_path):
    image.draw_image(mapping_of("8x8x8", "8x64", "box:2x2x2"), FIRST, tmp_path / "a.svg", "")
    assert len(list(group(tmp_path / "a.svg", "row-links").iter(f"{SVG}path"))) == 12      # the edges of a cube
    assert group(tmp_path / "a.svg", "column-links") is None                               # every second node


# loads


def row_loads(torus, grid, name="dimension-order", placement=None):
    mapping = mapping_of(torus, grid, placement)
    return routing(name, mapping.network).loads(mapping.network, exchanges(mapping.grid)[0], mapping.node_of_rank)


@pytest.mark.parametrize("torus, grid", TORI)
def test_every_link_has_one_cell_and_nothing_else_has(torus, grid):
    shape = parse_torus(torus)
    values = links.link_values(row_loads(torus, grid), False)
    for i in range(shape.n_dimensions):
        blocks = links.Blocks(shape, i)
        right, up = blocks.place()
        assert len(set(zip(right.tolist(), up.tolist()))) == shape.n_nodes
        assert right.max() + 1 == blocks.extent[0] and up.max() + 1 == blocks.extent[1]
        assert np.isfinite(values[i]).sum() == 2 * shape.lines(i) * shape.cable_positions(i)


def test_cells_show_the_load_of_one_cable_on_either_scale():
    found = row_loads("8x8", "8x8", placement="default")
    assert np.nanmax(links.link_values(found, False)) == 4.0     # the paper's m of a full ring of 8
    assert np.nanmax(links.link_values(found, True)) == pytest.approx(float(max(found.largest())) / 1e6)


def test_loads_are_labelled_with_their_unit(tmp_path, pencilmap):
    for size, words in ((["-n", "64"], "load of one cable, MB (1e6 bytes)"), ([], "load of one cable on the scale of m")):
        path = tmp_path / "a.svg"
        assert pencilmap("draw", "-w", "loads", *BGL, *size, "--exchange", "column", "-o", path)[0] == 0
        found = texts(path)
        assert any(words in text for text in found) and any("column exchange" in text for text in found)
        assert [t for t in found if t.startswith("links along")] == [f"links along {d}{a}" for a in "xyz" for d in "+-"]


# lengths


def test_bars_have_the_height_of_their_lengths(captured):
    torus = Torus((8, 8, 8))
    found = [predict(place(p, Site(torus), ProcessGrid(8, 64)), name=p) for p in ("default", "box:2x2x2")]
    drawn = captured(links, lambda: links.draw_lengths(found, "a.svg", "title"))["axes"]
    bars = {(k, bar.get_gid(), round(bar.get_x() + bar.get_width() / 2)): bar.get_height()
            for k, axes in enumerate(drawn) for bar in axes.patches}
    assert {key: height for key, height in bars.items() if key[2] == 1} == {
        (k, f"m-{axis}", 1): 2 * (k + 1) for k in (0, 1) for axis in "xyz"}
    assert bars[0, "m-x", 0] == 4 and bars[0, "m-y", 0] == 0 and bars[1, "m-x", 0] == 0


FIRST = {"row": 0, "column": 0}
TITLE = "a rather long title that has to be broken into lines for narrow pictures, but not for those as wide as a page"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("torus, grid", [*TORI, ("8x8x16", "32x32"), ("3x50", "10x15"), ("4x8", "4x8")])
def test_no_text_of_a_picture_lies_on_another_or_beside_the_page(torus, grid, captured, check_texts):
    mapping, names = mapping_of(torus, grid), ("default", "digits:" + "a=r2c2," * 6, "box:2x2x2x2", "best", "plane:xy")
    check_texts(captured(image, lambda: image.draw_image(mapping, FIRST, "a.svg", TITLE)))
    check_texts(captured(links, lambda: links.draw_loads(row_loads(torus, grid), "a.svg", TITLE, False)))
    for count in (1, 5, 12):
        found = [predict(mapping, name=names[k % 5]) for k in range(count)]
        check_texts(captured(links, lambda found=found: links.draw_lengths(found, "a.svg", TITLE)))


# small pictures in a terminal, graphs, and the default picture


def test_without_a_file_and_a_kind_there_is_a_small_picture(pencilmap, pencilmap_json):
    status, out, _ = pencilmap("draw", "--network", "4x4x2", "-g", "4x8", "-p", "line", "--row", "1")
    said, _, picture = out.partition("\n\n")
    assert said.startswith("Rows on lines are as fast as block order: ") and "\nGrid 4x8 (p_row=8, p_col=4): " in said
    lines = ["", "", *picture.splitlines()]
    assert status == 0 and lines[2] == "y  z=0          y  z=1" and max(map(len, lines)) <= 80
    planes = [line[3:].split("    ")[0].split()[:4] for line in lines[3:7]]
    mapping = mapping_of("4x4x2", "4x8", "line")
    row, column = (set(mapping.node_of_rank[mapping.grid.groups(letter)[k]].tolist()) for letter, k in (("r", 1), ("c", 0)))
    for up, marks in enumerate(reversed(planes)):
        for right, mark in enumerate(marks):
            node = 4 * up + right
            assert mark == {(True, True): "◆", (True, False): "●", (False, True): "■", (False, False): "·"}[
                node in row, node in column]
    found = pencilmap_json.one("draw", "--network", "4x4x2", "-g", "4x8", "-p", "line", "--row", "1")["lines"]
    assert found[3:] == lines[2:]
    large = pencilmap("draw", "--network", "97x97:mesh", "-g", "97x97", "-p", "default")[1].splitlines()
    assert len(large) <= 24 and max(map(len, large[2:])) <= 80


def test_loads_in_a_terminal_are_those_of_the_prediction(pencilmap, pencilmap_json):
    asked = ("--network", "8x4", "-g", "8x4", "-p", "default")
    out = pencilmap("draw", "-w", "loads", *asked, "--exchange", "column")[1]
    shown = dict(re.findall(r"^([xy]), each way +([\d.]+)", out, re.MULTILINE))
    column = pencilmap_json("predict", *asked)[0]["stages"][1]
    assert [4 * float(shown.get(x, 0)) for x in "xy"] == column["load"]


@pytest.mark.parametrize("words, drawn", [(("-g", "1x16"), "column"), (("-g", "16x1"), "row"), (("-g", "4x4"), "row"),
                                          (("--decomposition", "slab", "-g", "16"), "slab")])
def test_the_exchange_that_is_drawn_moves_something(words, drawn, pencilmap):
    out = pencilmap("draw", "-w", "loads", "--network", "4x4", *words)[1]
    assert re.search(rf"node +{drawn}s\b", out) and "█" in out


@pytest.fixture
def fat_tree(tmp_path):
    """Two leaves of two hosts each under a spine."""
    path = tmp_path / "tree.txt"
    path.write_text("".join(f"{name} {{'kind': 'switch'}}\n" for name in ("l0", "l1", "spine"))
                    + "a l0\nb l0\nc l1\nd l1\nl0 spine\nl1 spine\n")
    return path


def test_a_graph_is_drawn_with_its_switches_above_its_hosts(fat_tree, tmp_path, pencilmap, captured, check_texts):
    from pencilmap.scripts.pictures.figures import links as pictures

    found = captured(pictures, lambda: pencilmap("draw", "--network", fat_tree, "-g", "2x2", "-o", tmp_path / "a.svg"))
    check_texts(found)
    axes = found["axes"][0]
    marks = {c.get_gid(): np.asarray(c.get_offsets()) for c in axes.collections
             if (c.get_gid() or "").endswith(("hosts", "switches"))}
    assert len(marks["switches"]) == 3 and sorted(marks["switches"][:, 1]) == [1, 1, 2]
    hosts = np.concatenate([places for name, places in marks.items() if name != "switches"])
    assert len(hosts) == 4 and set(hosts[:, 1]) == {0}
    links = next(c for c in axes.collections if c.get_gid() == "links")
    loads = pencilmap_loads(fat_tree)
    assert len(links.get_segments()) == 6 and max(links.get_array()) == max(loads)
    out = pencilmap("draw", "--network", fat_tree, "-g", "2x2")[1]
    assert re.search(rf"^l0 and l1 up, down .* {float(max(loads)) / 4:.2f} █", out, re.MULTILINE)


def pencilmap_loads(fat_tree):
    """Return the loads of the column exchange, the largest of each direction: that of the cables at the top."""
    from pencilmap.mapper.setting import setting

    where = setting(network=str(fat_tree))
    return where.predict(where.place("default", where.grid("2x2"))).stages[1].load


@pytest.mark.parametrize("words, says", [
    (("-w", "image", "--network", "TREE", "-g", "2x2"), "no coordinates"), (("-w", "graph", *BGL), "has coordinates"),
    (("-w", "lengths", *BGL), "--output"), (("-w", "gain", *BGL), "--output"),
    (("-w", "gain", *BGL, "-o", "a.png"), "a file .svg"),
    (("-w", "gain", "--network", "2x2x2x2", "-g", "4x4", "-p", "default", "-o", "a.svg"), "4 dimensions")])
def test_what_is_not_drawn_here_names_what_is(words, says, fat_tree, pencilmap):
    status, out, err = pencilmap("draw", *(fat_tree if word == "TREE" else word for word in words))
    assert status in (1, 2) and out == "" and says in err


@pytest.mark.parametrize("words, shows", [
    (("--network", "8x8x8", "--grid", "8x64", "-p", "box:2x2x2", "--fft", "256", "--bandwidth", "148 MB/s"),
     ["Rows take 1.771 ms, not 3.542; columns 3.542 ms, as before (predicted).", "x, each way 0.524", "y and z,"]),
    (("--network", "fat-tree:leaves=400,hosts=25,up=5", "--grid", "100x100", "-p", "default"), ["400 leaves up, down 3.75"]),
    (("--network", "dragonfly:a=8,p=4,h=4", "--grid", "33x32", "-p", "default"),
     ["groups 14 and 18", "other switches, at most", "other groups, at most"]),
    (("--network", "hyperx:3x3,hosts=2", "--grid", "3x6", "-p", "default"), ["y=0, y=1 and y=2 in, out"]),
    (("--machine", "frontier", "--nodes", "64", "--grid", "32x16", "-p", "default"), ["without load:", "74 groups"])])
def test_the_loads_of_any_network_are_a_verdict_and_a_table(words, shows, pencilmap, monkeypatch):
    from pencilmap.scripts.command_line import tables

    monkeypatch.setattr(tables, "LINE", 80)
    status, out, err = pencilmap("draw", "--what", "loads", *words)
    assert status == 0 and list(faults("draw --what loads", out)) == [], err
    found = re.sub(r"\s+", " ", out)
    assert all(words in found for words in shows), out


@pytest.mark.parametrize("words, shows", [
    (("--network", "fat-tree:leaves=9,hosts=4,up=2", "--nodes", "NODES", "-t", 2, "--grid", "2x23"),
     ["  5 leaves  ####  4 of 4 hosts, 8 ranks each", "  leaf7     ##..  2 of 4 hosts, 4 ranks",
      "  others    1 leaf with 1 host, 2 leaves without hosts of the job"]),
    (("--network", "dragonfly:a=4,p=4,groups=3,cables=2", "--grid", "6x8"),
     ["  groups 0, 1 and 2  ################  16 of 16 hosts, 16 ranks each"])])
def test_a_tree_is_drawn_by_leaves_and_a_dragonfly_by_groups_with_the_job_in_it(words, shows, tmp_path, monkeypatch,
                                                                                pencilmap):
    from pencilmap.model.kinds import network_named
    from pencilmap.scripts.command_line.commands import draw

    monkeypatch.setattr(draw, "UNITS", 2)
    named = network_named(words[1]).node_name
    (tmp_path / "nodes").write_text("".join(f"{named(k)}\n" for k in (0, *range(4, 24), 28, 29)))
    words = [tmp_path / "nodes" if word == "NODES" else word for word in words]
    status, out, err = pencilmap("draw", *words, "-p", "default")
    assert status == 0, err
    answer, units, loads = out.split("\n\n")
    assert "Grid" in answer and loads.startswith("times the data")
    assert [line for line in units.splitlines() if line in shows] == shows, units


def test_the_table_of_loads_is_that_of_each_link():
    """The busiest cable of each leaf, computed link by link."""
    from pencilmap.mapper.setting import setting
    from pencilmap.scripts.pictures.text import before_and_after, loads_of

    where = setting(network="fat-tree:leaves=3,hosts=4,up=2")
    placed = as_mapping(where.place("default", where.grid("2x6")), "default")
    loads, network = loads_of(where, placed, 1, None), where.network
    bytes_of = loads.bytes().reshape(-1)[network.place_of_link] / np.array(list(map(float, network.cables)))
    most = {}
    for source, target, carried in zip(network.source, network.target, bytes_of):
        for end in (source, target):
            name = "hosts" if min(source, target) < 12 else network.vertices[end]
            most[name] = max(most.get(name, 0), carried * 12 / loads.total_bytes)
    shown = "\n".join(before_and_after(where, placed, None, False, "column"))
    rows = dict(re.findall(r"^(\S[\w ,]*?)(?: up, down)? +([\d.]+) █+$", shown, re.MULTILINE))
    for title, value in rows.items():
        names = re.findall(r"hosts|leaf\d", title) or ["leaf0", "leaf1", "leaf2"]
        assert all(float(value) == pytest.approx(most[name], abs=5e-3) for name in names), shown
    assert "hosts" in rows and len(rows) > 1


@pytest.mark.parametrize("grid", ["2x8", "8x2", "4x4"])
@pytest.mark.parametrize("network", ["fat-tree:leaves=4,hosts=4,taper=2", "dragonfly:a=4,p=2,h=1,groups=2", "4x4"])
def test_loads_without_a_transform_are_in_the_data_of_a_node_for_every_exchange(network, grid, pencilmap):
    """They have the ratios of the bytes of a transform."""
    asked = ("draw", "--what", "loads", "--network", network, "--grid", grid, "-p", "default")
    rows = [[float(word) for line in pencilmap(*asked, *more)[1].splitlines() if "█" in line
             for word in re.findall(r" ([\d.]+)(?= █|$)", line)] for more in ((), ("--fft", "64"))]
    ratios = [most / least for least, most in zip(*rows) if least]
    assert len(rows[0]) == len(rows[1]) > 1 and max(ratios) < 1.05 * min(ratios)


@pytest.mark.parametrize("text", ["file", "option"])
def test_a_file_of_a_placement_is_drawn(text, pencilmap, tmp_path):
    asked = ("--network", "fat-tree:leaves=4,hosts=16,up=8", "--bandwidth", "25 GB/s", "--grid", "8x8", "--fft", "64")
    path = tmp_path / "my.hosts"
    assert pencilmap("map", *asked, "--effort", "quick", "-f", "slurm", "-o", path)[0] == 0
    status, out, err = pencilmap("draw", *([path] if text == "file" else ["-p", path]), *asked)
    assert status == 0 and "my.hosts is as fast as Slurm's block order: 0.006226 ms" in out, err
    assert pencilmap("draw", tmp_path / "none", *asked)[0] == 1
    assert "is as fast as Slurm's block order: 0.006226 ms" in pencilmap("predict", "-p", path, *asked)[1]


def test_a_block_shows_the_most_telling_mark_of_its_nodes():
    """Of blocks of a 97x97 torus, from the marks of all nodes."""
    from pencilmap.model.network.torus import parse_torus
    from pencilmap.scripts.pictures.text import planes_text

    torus, strength = parse_torus("97x97"), ".ab"
    mark = np.random.default_rng(1).choice(list(strength), torus.n_nodes, p=(0.9, 0.07, 0.03))
    *lines, _, said = planes_text(torus, mark, 80, strength)
    table = mark.reshape(97, 97)  # y, x
    shown = [line[4:].split() for line in reversed(lines[1:-1])]
    meaning = re.fullmatch(r"a mark stands for (\d+)x(\d+) nodes: the first of b a \. among them", said)
    across, up = map(int, meaning.groups())
    assert shown == [[max("".join(table[y:y + up, x:x + across].flat), key=strength.index) for x in range(0, 97, across)]
                     for y in range(0, 97, up)]


def test_the_picture_of_a_gain_shows_both_loads_and_the_factor(pencilmap, tmp_path):
    """On 4x4x4, rows of 8 in the launch order load x by 2 and y by 1, rows on cubes all links by 2 (predict)."""
    path = tmp_path / "a.svg"
    asked = ("--network", "8x8x8", "--bandwidth", "148 MB/s", "--fft", "256", "-g", "8x64")
    status, _, err = pencilmap("draw", "-w", "gain", *asked, "-p", "box:2x2x2", "-o", path)
    assert status == 0, err
    text = path.read_text("utf-8")
    root = tree.fromstring(text)
    words = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[:5] == ["Block order", "7.085 ms", "Rows on 2x2x2 cubes", "5.314 ms", "1.33\u00d7"]
    assert len(text) < 40_000 and "prefers-color-scheme:dark" in text and "1.33 times faster" in root.get("aria-label")
    kinds = [each.get("class") for each in root.iter("{http://www.w3.org/2000/svg}path")]
    assert kinds == ["c0", "c5", "c3", "arrow"], "none and all of 4 before, half of 4 after"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 16


# files of placements


def test_a_placement_file_is_judged_on_the_grid_that_the_user_names_or_the_file_records(tmp_path, monkeypatch, pencilmap,
                                                                                        pencilmap_json):
    monkeypatch.chdir(tmp_path)
    on = ("--network", "4x4x2", "--bandwidth", "1 GB/s")
    assert pencilmap("map", *on, "-g", "8x4", "-p", "default", "-f", "hostfile", "-o", "ranks.hosts")[0] == 0
    for command in (("draw", "ranks.hosts"), ("draw", "-p", "ranks.hosts"), ("draw", "-p", "file:ranks.hosts,hostfile"),
                    ("report", "-p", "ranks.hosts"), ("simulate", "-p", "ranks.hosts", "--fft", 32)):
        status, out, err = pencilmap(*command, *on)
        assert (status, out) == (2, "") and err.startswith("error: name the process grid with --grid RxC\nhelp: "), command
    assert pencilmap("map", *on, "-g", "8x4", "-p", "default", "-f", "jax", "-o", "mesh.json")[0] == 0
    assert pencilmap_json.one("draw", "mesh.json", *on)["grid"] == [8, 4]


@pytest.mark.parametrize("command", ["draw", "check"])
def test_a_network_file_in_the_place_of_a_placement_is_told_how_it_is_named(command, tmp_path, monkeypatch, pencilmap):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topology.conf").write_text("SwitchName=leaf0 Nodes=c[0-3]\n")
    status, out, err = pencilmap(command, "topology.conf")
    assert status == 1 and out == "" and " ".join(err.split()) == (
        "error: no network: topology.conf looks like Slurm's topology file (topology.conf, topology.yaml or slurm.conf); "
        "name it with --network topology.conf")


# which exchange


def test_pictures_show_the_exchange_with_the_busiest_cable_in_bytes(tmp_path, pencilmap):
    tree = ("--network", "fat-tree:leaves=2,hosts=4,up=2", "--grid", "4x2", "-p", "default", "--fft", 64)
    assert pencilmap("draw", "--what", "graph", *tree, "-o", tmp_path / "a.svg")[0] == 0
    said = " ".join(texts(tmp_path / "a.svg"))
    assert "column exchange" in said and "busier direction, MB" in said  # the rows stay on a leaf
    assert pencilmap("draw", "--what", "graph", *tree[:-2], "-o", tmp_path / "b.svg")[0] == 0
    assert "on the scale of m" in " ".join(texts(tmp_path / "b.svg"))


def test_a_picture_of_tori_on_another_network_speaks_of_the_network(tmp_path, pencilmap):
    for what in ("gain", "image"):
        status, out, err = pencilmap("draw", "--what", what, "--network", "fat-tree:leaves=2,hosts=4,up=2", "--grid", "4x2",
                                     "-o", tmp_path / "a.svg")
        assert status == 1 and "is for tori, and network fat-tree:leaves=2,hosts=4,up=2 is none" in err
        assert "twist" not in err and out == ""
    status, _, err = pencilmap("draw", "--what", "gain", "--network", "4x4x8:twisted", "--grid", "16x8", "-o",
                               tmp_path / "a.svg")
    assert status == 1 and "tori without twists" in err and "has twists" in err
    assert "gain: loads before and after, on tori" in " ".join(pencilmap("draw", "--help-all")[1].split())
