"""Compare all families of placements with digit patterns, on shapes without a search of their own.

`shape_cases.csv` has the shapes and the best lengths; docs/placement-search.md shows the means.

    .venv/bin/python scripts/maintenance/compare_shapes.py            # prints all shapes, in about two minutes
    .venv/bin/python scripts/maintenance/compare_shapes.py --write    # and writes the file and the means in the document

The program fails if `best` is worse than digit patterns.
"""

import csv
import sys
from pathlib import Path
from statistics import mean
from time import process_time

import click

from pencilmap.mapper.placements.best import best
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.model.bounds.certificates import Bounds
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.predict import predict
from pencilmap.model.routing import DEFAULT_ROUTING
from pencilmap.model.traffic.objective import at_once, in_sequence
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.progress import shown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "placement-search.md"
FILE = Path(__file__).with_name("shape_cases.csv")
MADE_BY = "scripts/maintenance/compare_shapes.py"
HEAD = f"# Written by {MADE_BY}: lengths of rows and columns in sequence, and of both at once.\n"
ASKED = ("torus", "tasks_per_node", "grid")
FOUND = ("digits", "best", "bound", "cpu_s", "digits_joint", "best_joint", "bound_joint", "cpu_joint_s")
COLUMNS = ("torus", ">tasks/node", "grid", ">digits", ">`best`", ">bound", ">CPU s", ">digits, at once", ">`best`, at once",
           ">bound, at once", ">CPU s")
SHORT_COLUMNS = ("exchanges", ">shapes", ">`best` shorter than digits", ">digits / bound, mean", ">`best` / bound, mean",
                 ">`best` / bound, largest")

Case = dict[str, str]


def cases() -> list[Case]:
    """Return the lines of the file."""
    lines = FILE.read_text(encoding="ascii").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def tried(case: Case) -> Case:
    """Return the case with newly computed lengths and bounds."""
    torus, grid, tasks = parse_torus(case["torus"]), parse_grid(case["grid"]), int(case["tasks_per_node"])
    site = Site(torus, tasks, idle=True)
    bounds = Bounds(site, grid, None, DEFAULT_ROUTING)
    found = {"bound": float(bounds.in_sequence.value), "bound_joint": float(bounds.together.value)}
    for end, wanted, cpu in (("", in_sequence(2), "cpu_s"), ("_joint", at_once(2), "cpu_joint_s")):
        found[f"digits{end}"] = _length(best_product(torus, grid, tasks, wanted, maps=False), wanted)
        began = process_time()
        found[f"best{end}"] = _length(best("", site, grid, wanted), wanted)
        found[cpu] = process_time() - began
    return {name: case[name] for name in ASKED} | {name: f"{found[name]:.4f}" for name in FOUND}


def _length(placed, wanted):
    prediction = predict(placed)
    return float(prediction.cost if wanted == in_sequence(2) else max(prediction.schedule.load_joint))


def table(lines: list[Case]) -> str:
    """Return all cases as a Markdown table."""
    return markdown_table(COLUMNS, [[*(line[name] for name in ASKED),
                                     *(f"{float(line[name]):.{1 if name.startswith('cpu') else 3}f}" for name in FOUND)]
                                    for line in lines])


def short_table(lines: list[Case]) -> str:
    """Return the mean ratios of lengths to bounds as Markdown, in sequence and at once."""
    cells = []
    for exchanges, end in (("in sequence", ""), ("at once", "_joint")):
        digits, ratios = ([float(line[f"{name}{end}"]) / float(line[f"bound{end}"]) for line in lines]
                            for name in ("digits", "best"))
        shorter = sum(ours < other - 1e-4 for ours, other in zip(ratios, digits))
        cells.append([exchanges, len(lines), shorter, f"{mean(digits):.3f}", f"{mean(ratios):.3f}", f"{max(ratios):.3f}"])
    return markdown_table(SHORT_COLUMNS, cells)


@click.command()
@click.option("--write", is_flag=True, help=f"Write {FILE.name} and {PAGE.relative_to(PAGE.parent.parent)}.")
def main(write: bool) -> None:
    """Lengths by digit patterns and by all families, and bounds."""
    lines = []
    with shown() as show:
        for case in cases():
            lines.append(tried(case))
            show(f"{case['torus']} {case['grid']}: {lines[-1]['digits']} -> {lines[-1]['best']}")
    click.echo(table(lines))
    if write:
        rows = [",".join(line[name] for name in (*ASKED, *FOUND)) for line in lines]
        FILE.write_text(HEAD + "\n".join([",".join((*ASKED, *FOUND)), *rows]) + "\n", encoding="ascii")
        fill(PAGE, MADE_BY, short_table(lines))
    worse = [f"{line['torus']} {line['grid']}" for line in lines for end in ("", "_joint")
             if float(line[f"best{end}"]) > float(line[f"digits{end}"]) + 1e-4]
    if worse:
        click.echo(f"WORSE than digit patterns: {'; '.join(worse)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
