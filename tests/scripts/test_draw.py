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
from pencilmap.scripts.pictures import image, links

pytestmark = pytest.mark.usefixtures("brief_searches")

SVG = "{http://www.w3.org/2000/svg}"
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


@pytest.fixture
def fat_tree(tmp_path):
    """Two leaves of two hosts each under a spine."""
    path = tmp_path / "tree.txt"
    path.write_text("".join(f"{name} {{'kind': 'switch'}}\n" for name in ("l0", "l1", "spine"))
                    + "a l0\nb l0\nc l1\nd l1\nl0 spine\nl1 spine\n")
    return path


def test_a_graph_is_drawn_with_its_switches_above_its_hosts(fat_tree, tmp_path, pencilmap, captured, check_texts):
    from pencilmap.scripts.pictures import links as pictures

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


def test_the_picture_of_a_gain_shows_both_loads_and_the_factor(pencilmap, tmp_path):
    """On 4x4x4, rows of 8 in the launch order load x by 2 and y by 1, rows on cubes all links by 2 (predict)."""
    path = tmp_path / "a.svg"
    asked = ("--network", "8x8x8", "--bandwidth", "148 MB/s", "--fft", "256", "-g", "8x64")
    pencilmap.out("draw", "-w", "gain", *asked, "-p", "box:2x2x2", "-o", path)
    text = path.read_text("utf-8")
    root = tree.fromstring(text)
    words = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[:5] == ["Block order", "7.085 ms", "Rows on 2x2x2 cubes", "5.314 ms", "1.33\u00d7"]
    assert len(text) < 40_000 and "prefers-color-scheme:dark" in text and "1.33 times faster" in root.get("aria-label")
    kinds = [each.get("class") for each in root.iter("{http://www.w3.org/2000/svg}path")]
    assert kinds == ["c0", "c5", "c3", "arrow"], "none and all of 4 before, half of 4 after"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 16


# files of placements


# which exchange


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
