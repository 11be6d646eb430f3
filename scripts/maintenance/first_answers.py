"""Processor seconds of first answers on every kind of network: docs/results/first-answers.csv, table in docs/scaling.md.

    .venv/bin/python -m pencilmap.scripts.maintenance.first_answers --write    # some minutes
    .venv/bin/python -m pencilmap.scripts.maintenance.first_answers --only hyperx

A first answer is that of `--effort quick`, which searches nothing; beside it is `plan` with its usual effort. Every command
runs in its own process, so the seconds (user and system) include Python and NumPy. The least of some runs is shown: other
programs on the machine add to the rest.
"""

import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import click
import networkx as nx

from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.progress import shown
from pencilmap.scripts.command_line.result_files import result_file, write_result
from pencilmap.scripts.command_line.tables import print_json, print_table

PAGE, MARKER = Path(__file__).resolve().parents[2] / "docs" / "scaling.md", "scripts/maintenance/first_answers.py"
COMMANDS = ("plan", "map", "predict", "plan, normal")
COLUMNS = ("network", ">tasks", *(f">{command} CPU s" for command in COMMANDS))
RATE = ("--bandwidth", "25 GB/s")
GRAPH = "cables.graphml"  # a square of switches with 16 hosts each, as GraphML
CASES: dict[str, tuple[tuple[str, ...], str]] = {  # options of the network, and a grid near a square
    "8x8x8": (("--network", "8x8x8", *RATE), "16x32"),
    "16x16x16": (("--network", "16x16x16", *RATE), "64x64"),
    "16x16x16:mesh": (("--network", "16x16x16:mesh", *RATE), "64x64"),
    "9x10x11:mesh": (("--network", "9x10x11:mesh", *RATE), "30x33"),
    "8x8x8, 2 nodes missing": (("--network", "8x8x8", *RATE, "--failed", "0-0-0,1-1-1"), "17x30"),
    "Blue Gene/L, 4,096 nodes": (("-m", "bluegene-l", "-N", "4096"), "64x64"),
    "Fugaku, 4x6x16": (("-m", "fugaku", "-N", "4x6x16", "-t", "1"), "16x24"),
    "16x12x16:box=8x4x8x2x3wx2": (("--network", "16x12x16:box=8x4x8x2x3wx2", *RATE), "48x64"),
    "8x8x16:twisted": (("--network", "8x8x16:twisted", *RATE), "32x32"),
    "fat-tree:leaves=32,hosts=16,up=8": (("--network", "fat-tree:leaves=32,hosts=16,up=8", *RATE), "16x32"),
    "fat-tree:leaves=128,hosts=32,up=16": (("--network", "fat-tree:leaves=128,hosts=32,up=16", *RATE), "64x64"),
    "dragonfly:a=8,p=4,h=4": (("--network", "dragonfly:a=8,p=4,h=4", *RATE), "32x33"),
    "Frontier, 64 nodes": (("-m", "frontier", "-N", "64"), "16x32"),
    "Frontier, 512 nodes": (("-m", "frontier", "-N", "512"), "64x64"),
    "Leonardo, 64 nodes": (("-m", "leonardo", "-N", "64"), "16x16"),
    "hyperx:16x16,hosts=4": (("--network", "hyperx:16x16,hosts=4", *RATE), "32x32"),
    "hyperx:16x16,hosts=16": (("--network", "hyperx:16x16,hosts=16", *RATE), "64x64"),
    "hypercube:8": (("--network", "hypercube:8", *RATE), "16x16"),
    "a file of 64 switches, 1,024 hosts": (("--network", GRAPH, *RATE), "32x32"),
}


def write_graph(path: Path) -> None:
    """Write the cables of 8x8 switches, each with those beside it, around the edges, and 16 hosts."""
    cables = nx.Graph()
    for x, y in product(range(8), repeat=2):
        cables.add_node(f"s{x}-{y}", kind="switch")
        cables.add_edges_from((f"s{x}-{y}", f"s{(x + dx) % 8}-{(y + dy) % 8}") for dx, dy in ((1, 0), (0, 1)))
        cables.add_edges_from((f"n{8 * x + y:02d}-{host:02d}", f"s{x}-{y}") for host in range(16))
    nx.write_graphml(cables, path)


def measured(words: list[str], folder: str) -> float:
    """Return the processor seconds of a command of pencilmap, with the byte code of its modules stored."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen([sys.executable, "-m", "pencilmap", *words], cwd=folder, env=environ,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise PencilmapError(f"pencilmap {' '.join(words)} ended with status {process.returncode}; run it to see why")
    return used.ru_utime + used.ru_stime


def seconds_of(name: str, folder: str, runs: int) -> dict[str, float]:
    """Return the processor seconds of each command."""
    network, grid = CASES[name]
    asked = [*network, "--fft", "512", "--effort", "quick"]
    commands = {"plan": ["plan", *asked], "map": ["map", *asked, "-f", "hostfile", "-o", "hosts"],
                "predict": ["predict", *asked, "--grid", grid], "plan, normal": ["plan", *network, "--fft", "512"]}
    return {command: min(measured(commands[command], folder) for _ in range(runs)) for command in COMMANDS}


@click.command()
@click.option("--only", metavar="WORD", default="", help="Only networks whose name holds the word.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs of each command.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--write", is_flag=True, help="Write the rows into docs/results and docs/scaling.md.")
def main(only: str, runs: int, as_json: bool, write: bool) -> None:
    """Measure the processor seconds of first answers."""
    found: list[dict[str, Any]] = []
    names = [name for name in CASES if only in name]
    if not names:
        raise click.UsageError(f"no network has {only!r} in its name")
    with tempfile.TemporaryDirectory() as folder, shown() as progress:
        write_graph(Path(folder) / GRAPH)
        seconds_of(names[0], folder, 1)  # stores the byte code
        for number, name in enumerate(names):
            progress(f"{name}, {number + 1} of {len(names)}")
            rows, columns = map(int, CASES[name][1].split("x"))
            found.append({"network": name, "tasks": rows * columns, **seconds_of(name, folder, runs)})
    table = [[f["network"], str(f["tasks"]), *(f"{f[name]:.2f}" for name in COMMANDS)] for f in found]
    if as_json:
        print_json(*found)
    else:
        print_table("First answers", COLUMNS, table)
    if write:
        write_result(result_file(PAGE, "first answers"), COLUMNS, table)
        fill(PAGE, MARKER, page_table(table))


def page_table(rows: list[list[str]]) -> str:
    """Return the rows for readers."""
    return markdown_table(["network", ">tasks", *(f">`{command}`" for command in COMMANDS[:3]), ">`plan`, normal"],
                          [[name, f"{int(tasks):,}", *seconds] for name, tasks, *seconds in rows])


if __name__ == "__main__":
    main()
