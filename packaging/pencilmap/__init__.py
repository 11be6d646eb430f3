"""Places the MPI ranks of a pencil-decomposed 3D FFT on a torus or mesh, and predicts how long its exchanges take.

A `setting` is a machine, the nodes that may be used, and a transform. It makes placements, predicts them, and knows what the
launcher needs:

    >>> import pencilmap
    >>> where = pencilmap.setting(machine="bluegene-l", fft="512")
    >>> for prediction in where.predictions("8x64", ["default", "box:2x2x2", "best"]):
    ...     print(f"{prediction.placement:10}{1e3 * prediction.time_s:6.2f} ms")
    default    56.82 ms
    box:2x2x2  50.11 ms
    best       50.11 ms
    >>> grid = where.grid("best")
    >>> mapping = pencilmap.as_mapping(where.place("best", grid), "best")
    >>> pencilmap.write_mapping(mapping, "best.map", "bgl")

Errors that input can cause are all a `PencilmapError`. More examples: docs/reference/python.md. What is not named here lies
in the layers, linked here from the top-level folders: `pencilmap.model` (networks, loads, times), `pencilmap.mapper`
(placements, searches, files) and `pencilmap.scripts` (command line, pictures, simulations).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names as in _HOME
    from pencilmap.mapper.compare import Comparison, compare_records
    from pencilmap.mapper.formats import FORMATS, Job, read_mapping, write_mapping
    from pencilmap.mapper.graphs import read_graph
    from pencilmap.mapper.placements import PLACEMENTS, as_mapping, place
    from pencilmap.mapper.product_search import best_product, rank_grids
    from pencilmap.mapper.records import read_records
    from pencilmap.mapper.setting import Setting, setting
    from pencilmap.mapper.shapes import RankedShape, partition_shapes, rank_shapes, scale, torus_shapes
    from pencilmap.model.allocation import Allocation, Site
    from pencilmap.model.decompositions import DECOMPOSITIONS, Decomposition
    from pencilmap.model.errors import PencilmapError
    from pencilmap.model.grid import ProcessGrid, all_grids, parse_grid
    from pencilmap.model.interval import routing_interval
    from pencilmap.model.machine import Machine, load_machine, machine_names
    from pencilmap.model.mapping import Mapping
    from pencilmap.model.predict import Prediction, predict
    from pencilmap.model.product import Product
    from pencilmap.model.routing import ROUTINGS
    from pencilmap.model.torus import Torus, parse_torus
    from pencilmap.model.transform import Transform, parse_transform

    __version__: str

_HOME = {  # modules are loaded when a name of theirs is first used: numpy and scipy take half a second
    "mapper.compare": ("Comparison", "compare_records"),
    "mapper.formats": ("FORMATS", "Job", "read_mapping", "write_mapping"),
    "mapper.graphs": ("read_graph",),
    "mapper.placements": ("PLACEMENTS", "as_mapping", "place"),
    "mapper.product_search": ("best_product", "rank_grids"),
    "mapper.records": ("read_records",),
    "mapper.setting": ("Setting", "setting"),
    "mapper.shapes": ("RankedShape", "partition_shapes", "rank_shapes", "scale", "torus_shapes"),
    "model.allocation": ("Allocation", "Site"),
    "model.decompositions": ("DECOMPOSITIONS", "Decomposition"),
    "model.errors": ("PencilmapError",),
    "model.grid": ("ProcessGrid", "all_grids", "parse_grid"),
    "model.interval": ("routing_interval",),
    "model.machine": ("Machine", "load_machine", "machine_names"),
    "model.mapping": ("Mapping",),
    "model.predict": ("Prediction", "predict"),
    "model.product": ("Product",),
    "model.routing": ("ROUTINGS",),
    "model.torus": ("Torus", "parse_torus"),
    "model.transform": ("Transform", "parse_transform"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        globals()[name] = _version()
    elif name in _MODULE_OF:
        globals()[name] = getattr(import_module(f"pencilmap.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'pencilmap' has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pencilmap")
    except PackageNotFoundError:  # a checkout on PYTHONPATH
        return "0+unknown"
