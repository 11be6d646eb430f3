"""Compare our placements with Scotch's and with the lower bounds, machine by machine.

`placement_cases.csv` has the machines and the best lengths; docs/placement-search.md shows the means.

    .venv/bin/python scripts/maintenance/compare_scotch.py            # tries everything again and prints the table
    .venv/bin/python scripts/maintenance/compare_scotch.py --ours     # keeps Scotch's lengths
    .venv/bin/python scripts/maintenance/compare_scotch.py --bounds   # keeps all lengths
    ... --write                                                       # puts it into the file and the document

Without the Debian package scotch, the first command says so and ends with status 77.
"""

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from time import process_time

import click
import numpy as np

from pencilmap.mapper.placements.best import best
from pencilmap.mapper.searches.annealing import Budget, search
from pencilmap.mapper.searches.default_order import default
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.mapper.searches.scotch_map import PROGRAMS, scotch_is_there, scotch_mapping
from pencilmap.mapper.searches.starts import axis_orders
from pencilmap.model.bounds.every_placement import lower_bound
from pencilmap.model.network.torus import as_torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.predict import predict
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.progress import shown

SKIPPED = 77
LONGER = 10  # factor for the evaluations if there is no product
PAGE = Path(__file__).resolve().parents[2] / "docs" / "placement-search.md"
FILE = Path(__file__).with_name("placement_cases.csv")
COLUMNS = ("case", ">launcher", ">best axis order", ">Scotch", ">product search", ">local search", ">`best`", ">lower bound",
           ">certificate", ">CPU s")
OURS, ALL = ("search", "best"), ("launcher", "axis_order", "scotch", "product", "search", "best")
KINDS = {"whole machines": True, "nodes missing or slots idle": False}  #: whether products exist
SHORT_COLUMNS = ("cases", ">number", ">launch order", ">best axis order", ">Scotch", ">product search", ">local search",
                 ">`best`", ">certificate")
HEAD = """\
# Written by scripts/maintenance/compare_scotch.py: worst row length plus worst column length of placements. Nodes are
# missing at random with seed 0; with fewer tasks than slots, slots stay idle. cpu_s is of the local search.
"""

Case = dict[str, str]


def cases() -> list[Case]:
    """Return the lines of the file."""
    lines = FILE.read_text(encoding="ascii").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def asked(case: Case) -> tuple[Site, ProcessGrid]:
    """Return the site and the grid of a case."""
    shape, tasks = parse_torus(case["torus"]), parse_grid(case["grid"])
    failed = np.random.default_rng(0).choice(shape.n_nodes, int(case["missing"]), replace=False)
    return Site(shape, int(case["tasks_per_node"]), Allocation(shape).without(failed), idle=True), tasks


def bound_of(case: Case) -> float:
    """Return the lower bound of a case."""
    return float(lower_bound(*asked(case), ordered=True, split=True).value)


def tried_anew(case: Case, names: Iterable[str], evaluations: int) -> Case:
    """Return the case with a new bound and new lengths of these names."""
    site, tasks = asked(case)
    torus = as_torus(site.network)
    fits = site.allocation.is_complete and tasks.n_tasks == site.n_slots
    began = process_time()
    found: dict[str, float] = {}
    if "search" in names:
        found["search"] = search(site, tasks, budget=Budget(evaluations if fits else LONGER * evaluations, None)).cost
        found["cpu_s"] = process_time() - began
    if "best" in names:
        found["best"] = _cost(best("", site, tasks))
    if "scotch" in names:
        found["launcher"] = _cost(default("", site, tasks))
        found["axis_order"] = min(_cost(default(order, site, tasks)) for order in ("nt", "tn", *axis_orders(torus)))
        found["scotch"] = _cost(scotch_mapping(site, tasks))
        if fits:
            found["product"] = _cost(best_product(torus, tasks, site.tasks_per_node))
    return case | {name: f"{value:.4f}" for name, value in found.items()} | {"bound": f"{bound_of(case):.4f}"}


def _cost(placed):
    return float(predict(placed).cost)


def certificate_of(case: Mapping[str, str]) -> float:
    """Return the best length over the bound."""
    return min(float(case[name]) for name in ALL if case[name]) / float(case["bound"])


def name_of(case: Mapping[str, str]) -> str:
    """
    >>> name_of({"torus": "8x8x8", "tasks_per_node": "2", "missing": "40", "grid": "8x118"})
    '8x8x8, 2 tasks/node, 40 nodes missing, grid 8x118'
    """
    parts = [case["torus"], *([f"{case['tasks_per_node']} tasks/node"] if case["tasks_per_node"] != "1" else []),
             *([f"{case['missing']} nodes missing"] if case["missing"] != "0" else []), f"grid {case['grid']}"]
    return ", ".join(parts)


def table(lines: Iterable[Case]) -> str:
    """Return the cases as Markdown, the mean certificate last."""
    lines = list(lines)
    cells = [[name_of(line), *(f"{float(line[name]):.3f}" if line[name] else "-" for name in (*ALL, "bound")),
              f"{certificate_of(line):.3f}", f"{float(line['cpu_s']):.0f}"] for line in lines]
    cells.append(["mean", *[""] * 7, f"{mean(map(certificate_of, lines)):.3f}", ""])
    return markdown_table(COLUMNS, cells)


def short_table(lines: Iterable[Case]) -> str:
    """Return the mean ratios of lengths to bounds as Markdown, for each kind of case."""
    lines, cells = list(lines), []
    for kind, fits in {**KINDS, "all": None}.items():
        some = [line for line in lines if fits is None or bool(line["product"]) == fits]
        cells.append([kind, len(some), *(_mean_over_bound(some, name) for name in ALL),
                      f"{mean(map(certificate_of, some)):.3f}"])
    return markdown_table(SHORT_COLUMNS, cells)


def _mean_over_bound(lines, name):
    if not all(line[name] for line in lines):
        return "-"
    return f"{mean(float(line[name]) / float(line['bound']) for line in lines):.3f}"


@click.command()
@click.option("--write", is_flag=True, help=f"Write {FILE.name} and {PAGE.relative_to(PAGE.parent.parent)}.")
@click.option("--ours", is_flag=True, help="Keep what Scotch, the launcher and products have.")
@click.option("--bounds", is_flag=True, help="Keep all lengths.")
@click.option("--evaluations", type=click.IntRange(0), default=50_000, show_default=True,
              help=f"Budget of the local search, {LONGER} times that where nodes are missing or slots idle.")
def main(write: bool, ours: bool, bounds: bool, evaluations: int) -> None:
    """Cost (worst row length plus worst column length) of placements by launcher, Scotch and ourselves, and bounds."""
    names = () if bounds else OURS if ours else ALL
    if "scotch" in names and not scotch_is_there():
        click.echo(f"SKIPPED: nothing was compared: {' and '.join(PROGRAMS)} are missing; install the Debian package "
                   "scotch, or give --ours", err=True)
        sys.exit(SKIPPED)
    lines = []
    with shown() as show:
        for case in cases():
            lines.append(tried_anew(case, names, evaluations))
            show(f"{name_of(case)}: certificate {certificate_of(lines[-1]):.3f}")
    text = table(lines)
    click.echo(text)
    if write:
        rows = [",".join(line[name] for name in lines[0]) for line in lines]
        FILE.write_text(HEAD + "\n".join([",".join(lines[0]), *rows]) + "\n", encoding="ascii")
        fill(PAGE, "scripts/maintenance/compare_scotch.py", short_table(lines))
    worse = [name_of(line) for line in lines
             if min(float(line[name]) for name in ("product", *OURS) if line[name])
             > min(float(line["axis_order"]), float(line["scotch"])) + 1e-4]
    if worse:
        click.echo(f"WORSE than Scotch or an axis order: {'; '.join(worse)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
