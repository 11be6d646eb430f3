"""Write the tables in documents and sources that follow from tables of the program, pages of publications, and `mapfiles/`.

    .venv/bin/python -m pencilmap.scripts.maintenance.write_tables               # the tables
    .venv/bin/python -m pencilmap.scripts.maintenance.write_tables SOURCE...     # docs/results/publications/SOURCE.md
    .venv/bin/python -m pencilmap.scripts.maintenance.write_tables mapfiles

tests/test_docs.py compares the documents with the same tables. A page of a publication has each table and figure, published
and own values. Measured figures are computed only if the page has them already. ``SOURCE:FIGURE`` computes this figure
alone. The rows of all other figures stay.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.formats import FORMATS, Job, mapping_text
from pencilmap.mapper.placements import PLACEMENTS
from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.setting import Setting, setting
from pencilmap.model.algorithms import ALGORITHMS
from pencilmap.model.kinds import KINDS, ROUTINGS
from pencilmap.model.machines import machine_names
from pencilmap.model.machines.machine import axes_of_jobs, load_machine
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import LaunchOrder, spoken
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.product import Product
from pencilmap.model.predict import Prediction
from pencilmap.model.schedules import SCHEDULES
from pencilmap.scripts.command_line.commands.judge import expected_ranges
from pencilmap.scripts.command_line.documents import END, between, fill, markdown_table, marker, result_file, write_result
from pencilmap.scripts.reproduce import SOURCES, title_of
from pencilmap.scripts.reproduce.figure import KINDS as KINDS_OF_FIGURES, Compared, Figure

ROOT = Path(__file__).resolve().parents[2]
EXCHANGES = ROOT / "fft_runner" / "src" / "exchange"
TRANSFORMS = ROOT / "fft_runner" / "src" / "lines" / "transforms.c"
RUN = "run here"  # first words of the source of a format whose launcher the tests run


def formats() -> str:
    """Return the placement formats, and whether the tests run the launcher of each."""
    return markdown_table(["format", "file", "gives slots", "checked"],
                          [[f"`{name}`", form.title, "yes" if form.says_slots else "no",
                            "**run**" if form.proof.startswith(RUN) else "documents"] for name, form in FORMATS.items()])


def format_sources() -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of docs/results/formats.csv: every placement format, and the source of its syntax."""
    return ["format", "file", "gives slots", "source of the syntax"], [
        [name, form.title, "yes" if form.says_slots else "no", form.proof] for name, form in FORMATS.items()]


def all_launch_orders() -> list[tuple[str, LaunchOrder]]:
    """Return the launch orders of the machines of the package, and of the launchers of the formats, by name."""
    machines = [(f"machine {name}", machine.launch_order and machine.launch_order.on(_axes(machine), lambda _: True))
                for name, machine in ((name, load_machine(name)) for name in machine_names())]
    launchers = [(f"format {name}", form.launch_order) for name, form in FORMATS.items()]
    return [(name, order) for name, order in [*machines, *launchers] if order]


def _axes(machine: Any) -> Any:
    return axes_of_jobs(machine.figures, machine.network)[0]


def launch_order_sources() -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of docs/results/launch-orders.csv: every launch order, and its source."""
    return ["of", "name", "order", "ranks", "certain", "source"], [
        [name, order.title, " or ".join(order.orders), " or ".join(map(spoken, order.orders)),
         "yes" if order.certain else "no", order.source] for name, order in all_launch_orders()]


def machines() -> str:
    """Return the sentence with the names of all machines."""
    return "\n".join(wrap(f"`pencilmap network --machines` lists the machines that are known: {', '.join(machine_names())}.",
                          125, break_long_words=False, break_on_hyphens=False))


def placements() -> str:
    """Return the placements."""
    return markdown_table(["placement", "meaning"], [[f"`{p.usage}`", p.meaning] for p in PLACEMENTS.values()])


def routings() -> str:
    """Return the routing rules."""
    return markdown_table(["rule", "meaning"], [[f"`{rule.usage}`", rule.meaning] for rule in ROUTINGS.values()])


def networks() -> str:
    """Return the kinds of networks that have a text form."""
    return markdown_table(["network", "meaning", "classes of links", "routings, the default first"], [
        [f"`{kind.usage}`", kind.meaning, kind.classes, ", ".join(f"`{rule}`" for rule in kind.routings)]
        for kind in KINDS.values() if kind.usage])


def algorithms() -> str:
    """Return the exchange algorithms of the model."""
    return markdown_table(["exchange", "messages"], [[f"`{name}`", a.meaning] for name, a in ALGORITHMS.items()])


def schedules() -> str:
    """Return the schedules of the model."""
    return markdown_table(["schedule", "meaning"], [[f"`{k.usage}`", k.meaning] for k in SCHEDULES.values()])


def exchanges() -> str:
    """Return the exchange algorithms, in the words of the comment at the top of each file.

    A number at the end of a name is the R of that comment: ``bruck2`` is the row of radix 2 of ``exchange_bruck.c``.
    Raises ValueError when a file does not begin with ``/* Transpose ...`` and tell what it ``Needs:``.
    """
    names = re.findall(r"^    X\((\w+)\)", (EXCHANGES / "exchange_table.c").read_text("utf-8"), re.MULTILINE)
    rows = []
    for name in (name for name in names if name != "auto"):
        file = name.rstrip("0123456789")
        radix = name.removeprefix(file)
        head = re.sub(r"\s*\n \*\s*", " ", (EXCHANGES / f"exchange_{file}.c").read_text("utf-8").partition("*/")[0])
        found = re.match(r"/\* Transpose (.*?)\. Idea:.* Needs:\s*(.*?)\.?\s*$", head)
        if not found:
            raise ValueError(f"exchange_{file}.c must begin with '/* Transpose ...', 'Idea:', ..., 'Needs:'")
        rows.append([f"`{name}`", *(re.sub(r"\bR\b", radix or "R", told) for told in found.groups())])
    return markdown_table(["name", "transposes", "needs"], rows)


def reproduced() -> str:
    """Return the publications, with the number of tables and figures of each kind."""
    rows = []
    for source, figures in SOURCES.items():
        kinds = [set(figure.kind.split(", ")) for figure in figures.values()]
        rows.append([title_of(source), f"`{source}:`", len(figures),
                     *(sum(name in kind for kind in kinds) for name in ("exact", "measured", "simulated", "modelled"))])
    return markdown_table(["publication", "names", ">tables and figures", ">exact", ">measured", ">simulated",
                           ">modelled"], rows)


def kinds_of_figures() -> str:
    """Return the meanings of the kinds."""
    return markdown_table(["kind", "meaning"], list(KINDS_OF_FIGURES.items()))


def figures() -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of docs/results/reproduced.csv: every published table and figure, and its substitute."""
    return ["publication", "figure", "command", "kind", "takes", "title", "published in text", "here"], [
        [title_of(source), name, f"pencilmap study reproduce {source}:{name}", f.kind, f.takes, f.title, f.published, f.here]
        for source, named in SOURCES.items() for name, f in named.items()]


def types() -> list[tuple[str, tuple[str, str, str]]]:
    """Return the short names of types of transform, each with its kinds along x, y and z."""
    rows = re.findall(r'\{"(\w+)", "(\w+),(\w+),(\w+)"\}', TRANSFORMS.read_text("utf-8"))
    return [(name, (x, y, z)) for name, x, y, z in rows]


def line_kinds() -> str:
    """Return the rows of `pencilmap.model.placement.transform.LINE_KINDS`."""
    found = re.findall(r'\{"(\w+)", (?:\{|COS|SIN)', TRANSFORMS.read_text("utf-8"))
    return "    " + ", ".join(f'"{name}"' for name in found)


def types_of_the_model() -> str:
    """Return the rows of `pencilmap.model.placement.transform.TYPES`."""
    return "\n".join(f'    "{name}": TransformType("{x}", "{y}", "{z}"),' for name, (x, y, z) in types())


def types_of_the_header() -> str:
    """Return the rows of the table of types in pencilfft.h."""
    rows = []
    for name, (x, y, z) in types():
        gives = "complex, z of nz/2 + 1" if z == "r2c" else "real" if y != "c2c" else "complex"
        rows.append(f" *     {name:<11} {'complex' if z == 'c2c' else 'real':<18} {z:<11} {y:<11} {x:<11} {gives}")
    return "\n".join(rows)


def ranges() -> str:
    """Return the rows of the table of `pencilmap.model.times.expected`."""
    return "\n".join(f'    ("{name}", {size}): ({low}, {high}),  # {values} values, machines: {machines}'
                     for name, size, low, high, values, machines in expected_ranges())


TABLES = (  # file, line before the table, line after the table, function that makes the content
    ("docs/formats.md", marker("table of formats"), END, formats),
    ("packaging/description.md", marker("list of machines"), END, machines),
    ("docs/placements.md", marker("table of placements"), END, placements),
    ("docs/routing.md", marker("table of routings"), END, routings),
    ("docs/networks.md", marker("table of networks"), END, networks),
    ("docs/time-model.md", marker("table of exchange algorithms"), END, algorithms),
    ("docs/schedules.md", marker("table of schedules"), END, schedules),
    ("docs/reproduced.md", marker("table of figures"), END, reproduced),
    ("docs/reproduced.md", marker("table of kinds"), END, kinds_of_figures),
    ("fft_runner/README.md", marker("table of exchanges"), END, exchanges),
    ("model/placement/transform.py", "TYPES = {  # from fft_runner/src/lines/transforms.c by write_tables", "}",
     types_of_the_model),
    ("model/placement/transform.py", "LINE_KINDS = (  # from fft_runner/src/lines/transforms.c by write_tables", ")",
     line_kinds),
    ("fft_runner/include/pencilfft.h",
     " *     type        forward takes      along z     y           x           and gives", " *", types_of_the_header),
    ("model/times/expected.py", "RANGES = {  # class and smallest message: range; by write_tables", "}", ranges),
)


RESULTS = (  # result file, function that makes columns and rows
    (result_file(ROOT / "docs" / "reproduced.md", "reproduced"), figures),
    (result_file(ROOT / "docs" / "formats.md", "formats"), format_sources),
    (result_file(ROOT / "docs" / "machines.md", "launch orders"), launch_order_sources),
)


# ---- pages of publications ---------------------------------------------------------------------------------------------


PAGES = ROOT / "docs" / "results" / "publications"
COLUMNS = ["figure", "of", ">published", ">ours", ">ratio", "kind", "difference"]
PLACE = "published and ours"


def shown(value: float | str | None) -> str:
    """Return a value with three digits.

    >>> shown(0.0013), shown(2201.9), shown("moderate"), shown(None)
    ('0.0013', '2202', 'moderate', '-')
    """
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"


def row(name: str, each: Compared) -> list[str]:
    """Return the row of a compared value of a figure."""
    return [f"`{name}`", each.of, shown(each.published), shown(each.here), shown(each.ratio), each.kind, each.difference]


def rows_of(name: str, figure: Figure) -> list[str]:
    """Return the lines of a figure in the table."""
    rows = [row(name, each) for each in figure.compute().compared]
    rows = rows or [[f"`{name}`", "-", "-", "-", "-", "-", "No number is compared."]]
    return markdown_table(COLUMNS, rows).splitlines()[2:]


def rows_in(text: str) -> dict[str, list[str]]:
    """Return the lines of the table of a page by the names of their figures.

    >>> rows_in("| figure | of |\\n| --- | --- |\\n| `a:fig1` | m |\\n| `a:fig1` | n |\\n")
    {'a:fig1': ['| `a:fig1` | m |', '| `a:fig1` | n |']}
    """
    found: dict[str, list[str]] = {}
    for line, name in re.findall(r"^(\| `(\w+:[\w-]+)` \|.*)$", text, re.MULTILINE):
        found.setdefault(name, []).append(line)
    return found


def table_of(source: str, rows: dict[str, list[str]]) -> str:
    """Return the table of a source, its figures in their order."""
    lines = [line for name in SOURCES[source] for line in rows.get(f"{source}:{name}", [])]
    return "\n".join([markdown_table(COLUMNS, []), *lines])


def write_page(asked: str) -> None:
    """Compute a figure, or the figures of a source, and write their rows into the page."""
    source, _, only = asked.partition(":")
    path = PAGES / f"{source}.md"
    rows = rows_in(path.read_text("utf-8"))
    for name, figure in SOURCES[source].items():
        full = f"{source}:{name}"
        if name == only or (not only and (full in rows or not figure.measures)):
            print(full, flush=True)
            rows[full] = rows_of(full, figure)
            fill(path, PLACE, table_of(source, rows))


# ---- the files in mapfiles ---------------------------------------------------------------------------------------------

MAPFILES = ROOT / "mapfiles"  # ready placements of at most 64 ranks, each with its prediction in manifest.json

PARTITIONS = [  # of the best product placement of the grid: machine, network, tasks per node, grid, formats
    ("bluegene-p", "4x4x4", 1, "8x8", "bgl"),
    ("bluegene-q", "2x2x2x2x2", 1, "4x8", "bgq"),
    ("cray-xe6", "4x4x2:mesh", 2, "8x8", "cray"),
    ("fugaku", "2x3x4", 1, "4x6", "vcoordfile rankmap"),
    ("tpu-v5p", "2x2x4", 1, "4x4", "jax"),
    (None, "4x4:mesh", 1, "4x4", "openmpi4 openmpi5 hydra intel hostfile slurm flux scotch"),
]


def entries() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield all placements: (entry of the manifest, text of the file)."""
    for machine, network, tasks_per_node, grid, formats in PARTITIONS:
        for format_name in formats.split():
            where = setting(machine, network, tasks_per_node=tasks_per_node, launcher=format_name)
            product = best_product(as_torus(where.network), parse_grid(grid), tasks_per_node)
            yield (_entry(where, machine, network, product, format_name),
                   mapping_text(product.mapping(str(product)), format_name, Job(where.site)))


def _entry(where: Setting, machine: str | None, network: str, product: Product, format_name: str) -> dict[str, Any]:
    grid, tasks = product.grid, where.tasks_per_node
    name = f"{machine or 'torus'}-{network.replace(':', '-')}-t{tasks}-{grid}.{format_name}"
    words = ["pencilmap", "map", *(["--machine", machine] if machine else []), "--network", network,
             "--tasks-per-node", str(tasks), "--grid", str(grid), "--placement", str(product),
             "--format", format_name, "--output", name]
    default, *others = (_launched(where, grid, order) for order in where.site.launch.orders)
    entry = {"file": name, "machine": machine, "network": network, "tasks_per_node": tasks, "ranks": grid.n_tasks,
             "grid": str(grid), "placement": str(product), "format": format_name,
             "prediction": _numbers(where.predict(product)), "default": default, "command": shell.command(words)}
    return entry | ({"other_defaults": others} if others else {})


def _launched(where: Setting, grid: ProcessGrid, order: str) -> dict[str, Any]:
    """The launch order and its prediction."""
    return {"order": order, "title": where.site.launch_phrase(order),
            **_numbers(where.predict(where.place(f"default:{order}", grid)))}


def _numbers(prediction: Prediction) -> dict[str, Any]:
    """The part of a prediction in the manifest: effective lengths, routed loads, their sum, the certificate."""
    stages = [{"name": stage.name, "m": _rounded(stage.m), "load": _rounded(stage.load)} for stage in prediction.stages]
    return {"stages": stages, "certificate": _rounded(prediction.certificate), "sum": _rounded(prediction.cost)}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_rounded(v) for v in value]
    return None if value is None else round(float(value), 6)


def make(folder: Path = MAPFILES) -> None:
    """Write all files into a folder, and remove obsolete ones. The same input gives the same bytes."""
    folder.mkdir(exist_ok=True)
    made, kept = [], {"README.md", "manifest.json"}
    for entry, text in entries():
        made.append(entry)
        write_whole(folder / entry["file"], text)
        kept.add(entry["file"])
    lines = ",\n".join("  " + json.dumps(entry) for entry in made)  # one a line for readable differences
    write_whole(folder / "manifest.json", '{"made by": "python -m pencilmap.scripts.maintenance.write_tables mapfiles",\n '
                f'"entries": [\n{lines}\n]}}\n')
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink()


def main() -> None:
    """Write every table and result file. A file that would not change is left alone, because headers rebuild the library."""
    for file, first, last, content in TABLES:
        text = (ROOT / file).read_text("utf-8")
        found = between(text, first, last, content())
        if found != text:
            write_whole(ROOT / file, found)
    for path, rows in RESULTS:
        write_result(path, *rows())


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        if asked == "mapfiles":
            make()
        else:
            write_page(asked)
    if not sys.argv[1:]:
        main()
