"""Time and memory of predictions as a function of the machine's size: docs/results/scaling.csv, table in docs/scaling.md.

    .venv/bin/python -m pencilmap.scripts.maintenance.scaling --write    # all sizes, some minutes
    .venv/bin/python -m pencilmap.scripts.maintenance.scaling --most-nodes 100000

Every line is measured in its own process: wall-clock seconds, processor seconds (more meaningful on a shared machine), and
the peak memory of the process, including Python and NumPy.
Arbitrary mapfiles are random permutations with the given rows, read from a file in Blue Gene's format; both exchanges are
routed exactly (dimension order). Products are predicted in closed form.
"""

import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import click
import numpy as np

from pencilmap.mapper.formats import Job, read_mapping
from pencilmap.mapper.placements import place
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.mapper.searches.uneven_products import best_product_of
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.result_files import result_file, write_result
from pencilmap.scripts.command_line.tables import print_json, print_table

RANDOM = [("8x8x8", "8x64"), ("16x16x16", "64x64"), ("32x32x32", "256x128"), ("48x32x64", "256x384"),
          ("64x64x64", "256x1024"), ("128x128x64", "1024x1024")]
PRODUCTS = [*RANDOM, ("256x256x256", "4096x4096")]
PAGE, MARKER = Path(__file__).resolve().parents[2] / "docs" / "scaling.md", "scripts/maintenance/scaling.py"
COLUMNS = ("what", "torus", ">nodes", "grid", ">messages", ">CPU s", "of which", ">memory MiB")
ON_PAGE = ("48x32x64", "128x128x64", "256x256x256")
MILLION = [("100x100x100", "1000x1000"), ("128x128x64", "1024x1024")]


def write_random_mapfile(torus: Torus, path: Path, seed: int = 1) -> None:
    """Write nodes in random order in Blue Gene's format."""
    order = np.random.default_rng(seed).permutation(torus.n_nodes)
    rows = np.column_stack([torus.coordinates(order), np.zeros(torus.n_nodes, dtype=np.int64)])
    np.savetxt(path, rows, fmt="%d")


def random_mapfile(shape: str, grid: str) -> dict[str, float]:
    """Return the processor seconds to read a random mapfile and to predict it."""
    torus = parse_torus(shape)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.map"
        write_random_mapfile(torus, path)
        start = time.process_time()
        mapping = read_mapping(path, Job(Site(torus)), parse_grid(grid), "bgl")
        read = time.process_time()
    predict(mapping)
    return {"read": read - start, "predict": time.process_time() - read}


def product(shape: str, grid: str) -> dict[str, float]:
    """Return the processor seconds to find the best product and to predict it."""
    return _timed(lambda: best_product(parse_torus(shape), parse_grid(grid)))


def default_order(shape: str, grid: str) -> dict[str, float]:
    """Return the processor seconds to make the launcher's order and to predict it."""
    return _timed(lambda: place("default", Site(parse_torus(shape)), parse_grid(grid)))


def _timed(make, transform=None):
    start = time.process_time()
    placed = make()
    made = time.process_time()
    predict(placed, transform)
    return {"place": made - start, "predict": time.process_time() - made}


def product_of(shape: str, grid: str, n: int) -> dict[str, float]:
    """Return the processor seconds to find the best product for a transform of n^3 and to predict it."""
    torus, transform = parse_torus(shape, bandwidth=(1e9,) * 3), Transform(n, n, n)
    return _timed(lambda: best_product_of(torus, parse_grid(grid), 1, transform), transform)


MEASURES = {
    "random mapfile": (random_mapfile, RANDOM, ()),
    "best product": (product, PRODUCTS, ()),
    "best product, 4000^3": (product_of, MILLION[:1], (4000,)),
    "best product, 4096^3": (product_of, MILLION[1:], (4096,)),
    "best product, 4100^3": (product_of, MILLION, (4100,)),
    "default order": (default_order, PRODUCTS, ()),
}


def measured(what: str, shape: str, grid: str) -> dict[str, Any]:
    """Return one line of the table, from a fresh process."""
    function, _, arguments = MEASURES[what]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        seconds, wall_s, peak = pool.submit(_observed, function, (shape, grid, *arguments)).result()
    return {"what": what, "torus": shape, "nodes": parse_torus(shape).n_nodes, "grid": grid, "wall_s": wall_s,
            "processor_s": sum(seconds.values()), "parts_s": seconds, "peak_bytes": peak}


def _observed(function, arguments):
    random_mapfile("3x3", "3x3")  # imports do not count as a cost of a size
    start = time.perf_counter()
    seconds = function(*arguments)
    return seconds, time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@click.command()
@click.option("--most-nodes", type=int, default=1 << 25, help="Omit larger machines.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--write", is_flag=True, help="Write all rows into docs/results and the large machines into docs/scaling.md.")
def main(most_nodes: int, as_json: bool, write: bool) -> None:
    """Measure how the cost of predictions grows."""
    cases = [(what, shape, grid) for what, (_, sizes, _) in MEASURES.items() for shape, grid in sizes
             if parse_torus(shape).n_nodes <= most_nodes]
    found = [measured(*case) for case in cases]
    rows = [[f["what"], f["torus"], str(f["nodes"]), f["grid"], f"{_pairs(f):.2g}", f"{f['processor_s']:.2f}",
             ", ".join(f"{k} {v:.2f}" for k, v in f["parts_s"].items()), str(f["peak_bytes"] >> 20)] for f in found]
    if as_json:
        print_json(*found)
    else:
        print_table("Cost of a prediction", COLUMNS, rows)
    if write:
        write_result(result_file(PAGE, "scaling"), COLUMNS, rows)
        fill(PAGE, MARKER, page_table(rows))


def page_table(rows: list[list[str]]) -> str:
    """Return the rows of the largest machines, for readers."""
    return markdown_table(["placement", ">nodes", "grid", ">CPU s", ">memory MiB"], [
        [what, f"{int(nodes):,}", grid, seconds, memory] for what, torus, nodes, grid, _, seconds, _, memory in rows
        if torus in ON_PAGE])


def _pairs(line):
    grid: ProcessGrid = parse_grid(line["grid"])
    return float(grid.n_tasks * sum(grid.shape))


if __name__ == "__main__":
    main()
