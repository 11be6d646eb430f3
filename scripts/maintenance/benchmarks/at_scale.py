"""Predict the benchmark's transforms on 64 and 512 nodes of Fugaku; simulate exchanges on 64.

    .venv/bin/python -m pencilmap.scripts.maintenance.benchmarks.at_scale      # docs/results/benchmark-at-scale.csv, minutes

The rows compare what `pencilmap plan` advises with the exchanges of FFTW-MPI (slabs) and of 2DECOMP&FFT (pencils on the
squarest grid). These two have the launcher's order and no overlap, and send what our library would send on that grid.
"""

import json
from math import prod
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.command_line.cli import pencilmap
from pencilmap.scripts.command_line.progress import shown
from pencilmap.scripts.command_line.result_files import result_file, write_result

PAGE = Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
MACHINE = ("--machine", "fugaku", "--tasks-per-node", "1")
NODES = {"4x4x4": "8x8", "8x8x8": "16x32"}  #: shape: squarest grid
TRANSFORMS = ("64", "128", "256", "64:r2c", "128:r2c", "256:r2c")
COLUMNS = ("transform", "ranks", "exchanges of", "decomposition", "grid", "placement", "schedule", "messages of a rank",
           "MB of a rank", "model ms", "of ours", "exchanges model ms", "exchanges simulated ms")


def answers(*words: str) -> list[dict[str, Any]]:
    """Return the answers of a command of pencilmap."""
    done = CliRunner().invoke(pencilmap, [*words, *MACHINE, "--json"])
    if done.exit_code:
        raise PencilmapError(f"pencilmap {' '.join(words)} failed: {done.exception}")
    return json.loads(done.stdout)["answers"]


def rows_of(nodes: str, transform: str, simulated: bool) -> list[list[str]]:
    """Return our row, that of FFTW-MPI and that of 2DECOMP&FFT, which `plan` ranks together."""
    ranked = answers("plan", "--nodes", nodes, "--fft", transform, "--effort", "quick", "--top", "1000")
    squarest = [int(n) for n in NODES[nodes].split("x")]
    usual = [way for way in ranked if way["placement"] == "default" and way["schedule"]["name"] == "sequence"]
    slab = next(way for way in usual if way["decomposition"] == "slab")
    pencil = next(way for way in usual if way["decomposition"] == "pencil" and way["grid"] == squarest)
    rows = []
    for library, way in (("pencilfft", ranked[0]), ("fftw-mpi", slab), ("decomp2d", pencil)):
        grid = "x".join(map(str, way["grid"]))
        chunks = way["schedule"]["chunks"]
        schedule = way["schedule"]["name"] + (f":{chunks}:{way['schedule']['axis']}" if chunks > 1 else "")
        measured = "-"
        if simulated and schedule == "sequence":
            stages = answers("simulate", "--nodes", nodes, "--fft", transform, "--decomposition", way["decomposition"],
                             "--grid", grid, "--placement", way["placement"])
            measured = f"{1e3 * sum(stage['measured_s'] for stage in stages):.3f}"
        sent = sum(stage["messages"] * stage["message_bytes"] for stage in way["stages"]) / 1e6
        rows.append([transform, str(prod(map(int, nodes.split("x")))), library, way["decomposition"], grid, way["placement"],
                     schedule, str(sum(stage["messages"] for stage in way["stages"])), f"{sent:.3f}",
                     f"{1e3 * way['total_s']:.3f}", f"{way['total_s'] / ranked[0]['total_s']:.2f}",
                     f"{1e3 * way['time_s']:.3f}", measured])
    return rows


def main() -> None:
    rows = []
    with shown() as progress:
        for nodes in NODES:
            for transform in TRANSFORMS:
                progress(f"{transform} on {nodes}")
                rows += rows_of(nodes, transform, nodes == "4x4x4" and transform == "128")
    write_result(result_file(PAGE, "benchmark at scale"), COLUMNS, rows)


if __name__ == "__main__":
    main()
