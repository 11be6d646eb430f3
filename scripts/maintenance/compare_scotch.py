"""Compare our placements with Scotch's, machine by machine, and write the table of docs/placement-search.md.

    .venv/bin/python scripts/maintenance/compare_scotch.py            # prints the table
    .venv/bin/python scripts/maintenance/compare_scotch.py --write    # and puts it into docs/placement-search.md

Needs the Debian package scotch; without it the script says so and ends with status 77.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np

from pencilmap.mapper.annealing import Budget, search
from pencilmap.mapper.placements.default import default
from pencilmap.mapper.product_search import best_product
from pencilmap.mapper.scotch import PROGRAMS, scotch_is_there, scotch_mapping
from pencilmap.mapper.starts import axis_orders
from pencilmap.model.allocation import Allocation, Site
from pencilmap.model.grid import parse_grid
from pencilmap.model.lower_bound import lower_bound
from pencilmap.model.predict import predict
from pencilmap.model.torus import parse_torus
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.progress import shown

SKIPPED = 77
PAGE = Path(__file__).resolve().parents[2] / "docs" / "placement-search.md"
COLUMNS = ("case", ">launcher", ">best axis order", ">Scotch", ">product search", ">local search", ">lower bound",
           ">certificate", ">CPU s")

CASES = (  # torus, tasks per node, missing nodes (seed 0), grid; fewer tasks than slots leave slots idle
    ("8x8x8", 1, 0, "8x64"),
    ("8x8x8", 1, 0, "16x32"),
    ("8x8x8:mesh", 1, 0, "8x64"),
    ("8wx8x4w", 1, 0, "16x16"),
    ("16x16", 1, 0, "16x16"),
    ("7x5x3", 1, 0, "7x15"),
    ("4x4x4x4", 1, 0, "16x16"),
    ("4x4x4x2x2", 1, 0, "16x16"),
    ("4x4x4", 4, 0, "16x16"),
    ("8x8x8", 1, 40, "8x59"),
    ("8x8x8", 1, 40, "59x8"),
    ("8x8x8:mesh", 1, 40, "8x59"),
    ("16x16:mesh", 1, 16, "15x16"),
    ("6x6x6", 1, 0, "10x20"),
    ("7x5x3", 1, 5, "10x10"),
    ("4x4x4x4", 1, 16, "15x16"),
    ("4x4x4x2x2", 1, 16, "15x16"),
    ("4x4x4", 4, 4, "15x16"),
)


def compared(torus: str, tasks_per_node: int, missing: int, grid: str, evaluations: int) -> tuple[Any, ...]:
    """One line of the table, as text and numbers."""
    shape, tasks = parse_torus(torus), parse_grid(grid)
    failed = np.random.default_rng(0).choice(shape.n_nodes, missing, replace=False)
    site = Site(shape, tasks_per_node, Allocation(shape).without(failed), idle=True)
    began = process_time()
    found = search(site, tasks, budget=Budget(evaluations, None))
    spent = process_time() - began
    orders = [float(predict(default(order, site, tasks)).cost) for order in ("", "tn", *axis_orders(shape))]
    fits = site.allocation.is_complete and tasks.n_tasks == site.n_slots
    product = float(predict(best_product(shape, tasks, tasks_per_node)).cost) if fits else None
    bound = float(lower_bound(site, tasks, ordered=True).value)
    best = min(found.cost, product or found.cost)
    return (name_of(torus, tasks_per_node, missing, grid), orders[0], min(orders),
            float(predict(scotch_mapping(site, tasks)).cost), product, found.cost, bound, best / bound, spent)


def name_of(torus: str, tasks_per_node: int, missing: int, grid: str) -> str:
    """
    >>> name_of("8x8x8", 2, 40, "8x118")
    '8x8x8, 2 tasks/node, 40 nodes missing, grid 8x118'
    """
    parts = [torus, *([f"{tasks_per_node} tasks/node"] if tasks_per_node > 1 else []),
             *([f"{missing} nodes missing"] if missing else []), f"grid {grid}"]
    return ", ".join(parts)


def table(lines: Iterable[Sequence[Any]]) -> str:
    """Markdown."""
    def cell(value):
        return value if isinstance(value, str) else "-" if value is None else f"{value:.3f}"

    return markdown_table(COLUMNS, [[*map(cell, line[:-1]), f"{line[-1]:.0f}"] for line in lines])


@click.command()
@click.option("--write", is_flag=True, help=f"Put the table into {PAGE.relative_to(PAGE.parent.parent)}.")
@click.option("--evaluations", type=click.IntRange(0), default=50_000, show_default=True, help="Budget of the local search.")
def main(write: bool, evaluations: int) -> None:
    """Cost (worst row length plus worst column length) of placements by launcher, Scotch and ourselves."""
    if not scotch_is_there():
        click.echo(f"SKIPPED: nothing was compared: {' and '.join(PROGRAMS)} are missing; install the Debian package scotch",
                   err=True)
        sys.exit(SKIPPED)
    lines = []
    with shown() as show:
        for case in CASES:
            lines.append(compared(*case, evaluations))
            show(f"{lines[-1][0]}: Scotch {lines[-1][3]:.3f}, ours {lines[-1][5]:.3f}")
    text = table(lines)
    click.echo(text)
    if write:
        fill(PAGE, "scripts/maintenance/compare_scotch.py", text)
    worse = [line[0] for line in lines if min(line[5], line[4] or line[5]) > min(line[2], line[3]) + 1e-9]
    if worse:
        click.echo(f"WORSE than Scotch or an axis order: {'; '.join(worse)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
