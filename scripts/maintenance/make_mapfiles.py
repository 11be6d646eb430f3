"""Make `mapfiles/`: ready placements of at most 64 ranks, each with its prediction in manifest.json.

    .venv/bin/python -m pencilmap.scripts.maintenance.make_mapfiles [FOLDER]

Each row of `PARTITIONS` gets the best product placement of its grid, in the formats of its launchers. The same input gives
the same bytes; obsolete files will be removed.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.formats import Job, mapping_text
from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.setting import setting
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.product import Product
from pencilmap.model.predict import Prediction

FOLDER = Path(__file__).resolve().parents[2] / "mapfiles"

PARTITIONS = [  # machine, network, tasks per node, grid, formats
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


def _entry(where: Any, machine: Any, network: Any, product: Product, format_name: str | None) -> Any:
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


def _launched(where: Any, grid: ProcessGrid, order: Any) -> Any:
    """The launch order and its prediction."""
    return {"order": order, "title": where.site.launch_phrase(order),
            **_numbers(where.predict(where.place(f"default:{order}", grid)))}


def _numbers(prediction: Prediction) -> Any:
    """The part of a prediction in the manifest: effective lengths, routed loads, their sum, the certificate."""
    stages = [{"name": stage.name, "m": _rounded(stage.m), "load": _rounded(stage.load)} for stage in prediction.stages]
    return {"stages": stages, "certificate": _rounded(prediction.certificate), "sum": _rounded(prediction.cost)}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_rounded(v) for v in value]
    return None if value is None else round(float(value), 6)


def manifest_text(made: Iterable[dict[str, Any]]) -> str:
    """Return the manifest, one entry a line for readable differences."""
    lines = ",\n".join("  " + json.dumps(entry) for entry in made)
    return f'{{"made by": "python -m pencilmap.scripts.maintenance.make_mapfiles",\n "entries": [\n{lines}\n]}}\n'


def make(folder: Path) -> int:
    """Write all files into a folder; return the number of entries."""
    folder.mkdir(exist_ok=True)
    made, kept = [], {"README.md", "manifest.json"}
    for entry, text in entries():
        made.append(entry)
        write_whole(folder / entry["file"], text)
        kept.add(entry["file"])
    write_whole(folder / "manifest.json", manifest_text(made))
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink()
    return len(made)


if __name__ == "__main__":
    print(f"{make(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)} placements")
