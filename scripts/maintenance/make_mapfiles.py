"""Make `mapfiles/`: ready placements for the usual partitions, each with its prediction in manifest.json.

    .venv/bin/python -m pencilmap.scripts.maintenance.make_mapfiles [FOLDER]

Every partition gets its best pencil grid and its squarest grid, each with the placement that is best for exchanges one after
the other and, where that is another one, the placement that is best for overlapped exchanges. A placement of at most
MAX_RANKS ranks is stored as a file in the format of its machine; a larger one only as a pattern, from which the command in
the manifest writes the file. The same input gives the same bytes; obsolete files are removed.
"""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pencilmap.mapper.files import write_whole
from pencilmap.mapper.formats import Job, format_named
from pencilmap.mapper.grids import rank_grids
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.product_search import best_product
from pencilmap.mapper.setting import setting
from pencilmap.model.objective import overlapped
from pencilmap.model.routing import DEFAULT_ROUTING, routing

FOLDER = Path(__file__).resolve().parents[2] / "mapfiles"
MAX_RANKS = 8192  # a midplane of Blue Gene/Q
LOGICAL = "the three logical dimensions that the launcher takes; the physical network has three more, short ones"
TWISTED = "predicted as a plain torus; slices of this shape can also be had twisted"

OVERLAPPED = overlapped(2, 8)  # two exchanges in eight chunks

PARTITIONS = [  # machine, option that names the shape, shapes, tasks per node, format, note
    ("bluegene-l", "--partition", "8x8x8 8x8x16 8x16x16 16x16x16 16x16x32 16x32x32 32x32x32", (1, 2), "bgl", None),
    ("bluegene-p", "--partition", "8x8x8 8x8x16 8x16x16 16x16x16 16x16x32 16x32x32 32x32x32", (4,), "bgl", None),
    ("bluegene-q", "--partition", "4x4x4x4x2 4x4x4x8x2 4x4x8x8x2 4x8x8x8x2 8x8x8x8x2", (16,), "bgq", None),
    ("fugaku", "--torus", "4x6x16 8x9x8 8x12x8 8x12x16 16x12x16 24x24x24", (1, 4), "vcoordfile", LOGICAL),
    ("tpu-v4", "--partition", "4x4x4 8x8x8 16x16x16", (1,), "jax", None),
    ("tpu-v4", "--partition", "4x4x8 4x8x8 8x8x16 8x16x16", (1,), "jax", TWISTED),
    ("tpu-v5p", "--partition", "4x4x4 8x8x8 16x16x16 16x16x24", (1,), "jax", None),
    ("tpu-v5p", "--partition", "4x4x8 4x8x8 8x8x16 8x16x16", (1,), "jax", TWISTED),
]


def entries() -> Iterator[tuple[dict[str, Any], str | None]]:
    """All placements: a generator of (entry of the manifest, text of the file or None)."""
    for machine, option, shapes, tasks, format_name, note in PARTITIONS:
        for shape in shapes.split():
            for tasks_per_node in tasks:
                yield from _partition(machine, option, shape, tasks_per_node, format_name, note)


def _partition(machine, option, shape, tasks_per_node, format_name, note):
    where = setting(machine=machine, tasks_per_node=tasks_per_node, **{option.strip("-"): shape})
    chosen = {}
    pencils = [found for found in rank_grids(where.network, tasks_per_node) if min(found[0].shape) > 1]
    best = min(pencils, key=lambda found: (found[2].cost, *_squareness(found)))  # the squarest among equals: fewer messages
    for use, (grid, product, _) in (("best pencil grid", best), ("squarest grid", min(pencils, key=_squareness))):
        chosen.setdefault(grid, (product, []))[1].append(use)
    for grid, (product, uses) in chosen.items():
        beside = best_product(where.network, grid, tasks_per_node, OVERLAPPED)
        placed = {"sequence": product}
        if _overlapped(beside) < _overlapped(product):
            placed["overlap"] = beside
        for schedule, best in placed.items():
            yield _entry(where, machine, option, shape, grid, best, schedule, format_name, uses, note)


def _squareness(found):
    grid = found[0]
    return max(grid.shape) / min(grid.shape), grid.shape[0]


def _overlapped(product):
    """What overlapped exchanges cost, as `prediction.sum` is what exchanges one after the other cost."""
    letters = tuple(exchange.letters for exchange in product.grid.decomposition.exchanges)
    return OVERLAPPED.of_loads(routing(DEFAULT_ROUTING).joint_of_product(product, letters))


def _entry(where, machine, option, shape, grid, product, schedule, format_name, uses, note):
    prediction = where.predict(product)
    default, *others = (_launched(where, grid, order) for order in where.site.launch.orders)
    suffix = "" if schedule == "sequence" else f"-{schedule}"
    name = f"{machine}-{shape}-t{where.tasks_per_node}-{grid}{suffix}.{format_name}"
    is_file = grid.n_tasks <= MAX_RANKS
    words = ["pencilmap", "map", "--machine", machine, option, shape, "--tasks-per-node", str(where.tasks_per_node),
             "--grid", str(grid), "--placement", str(product), "--format", format_name, "--output", name]
    entry = {"name": name, "file": name if is_file else None, "machine": machine, "shape": shape,
             "torus": str(where.network), "tasks_per_node": where.tasks_per_node, "ranks": grid.n_tasks, "grid": str(grid),
             "use": uses, "schedule": schedule, "placement": str(product), "format": format_name,
             "prediction": _numbers(prediction) | {"overlapped": _rounded(_overlapped(product))},
             "default": default, "command": shlex.join(words)}
    if others:
        entry["other_defaults"] = others
    if note:
        entry["note"] = note
    return entry, _text(where, product, format_name) if is_file else None


def _launched(where, grid, order):
    """The launch order and its prediction."""
    return {"order": order, "title": where.site.launch_phrase(order),
            **_numbers(where.predict(where.place(f"default:{order}", grid)))}


def _numbers(prediction):
    """The part of a prediction in the manifest: effective lengths, routed loads, their sum, the certificate."""
    stages = [{"name": stage.name, "m": _rounded(stage.m), "load": _rounded(stage.load)} for stage in prediction.stages]
    return {"stages": stages, "certificate": _rounded(prediction.certificate), "sum": _rounded(prediction.cost)}


def _rounded(value):
    if isinstance(value, tuple):
        return [_rounded(v) for v in value]
    return None if value is None else round(float(value), 6)


def _text(where, product, format_name):
    return format_named(format_name).write(as_mapping(product, str(product)), Job(where.site))


def manifest_text(made: Iterable[dict[str, Any]]) -> str:
    """The manifest, one entry a line so that differences are readable."""
    lines = ",\n".join("  " + json.dumps(entry) for entry in made)
    return f'{{"made by": "python -m pencilmap.scripts.maintenance.make_mapfiles",\n "entries": [\n{lines}\n]}}\n'


def make(folder: Path) -> int:
    """Write everything into a folder; returns the number of entries."""
    folder.mkdir(exist_ok=True)
    made, kept = [], {"README.md", "manifest.json"}
    for entry, text in entries():
        made.append(entry)
        if text is not None:
            write_whole(folder / entry["file"], text)
            kept.add(entry["file"])
    write_whole(folder / "manifest.json", manifest_text(made))
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink()
    return len(made)


if __name__ == "__main__":
    print(f"{make(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)} placements")
