"""Place the MPI ranks of a pencil-decomposed 3D FFT on a torus or mesh, and predict the time of its exchanges.

A `setting` is a machine, the usable nodes, and a transform. A setting makes placements, predicts their times, and knows the
requirements of the launcher:

    >>> import pencilmap
    >>> where = pencilmap.setting(machine="bluegene-l", fft="512")
    >>> for prediction in where.predictions("8x64", ["default", "box:2x2x2", "best"]):
    ...     print(f"{prediction.placement:10}{1e3 * prediction.time_s:6.2f} ms")
    default    58.00 ms
    box:2x2x2  51.50 ms
    best       51.50 ms
    >>> grid = where.grid("best")
    >>> mapping = pencilmap.as_mapping(where.place("best", grid), "best")
    >>> pencilmap.write_mapping(mapping, "best.map", "bgl")

Every error that input can cause is a `PencilmapError`. More examples: docs/reference/python.md. All other names are in the
layers, which are links to the top-level folders: `pencilmap.model` (networks, loads, times), `pencilmap.mapper`
(placements, searches, files) and `pencilmap.scripts` (command line, pictures, simulations).
"""

from typing import Any
from collections.abc import Callable

__version__ = "0.3.0"


# Names are listed in __init__.pyi. A module is loaded at its first use, because numpy and scipy take half a second. The
# loader is also loaded late, because the command line does not need the loader.
def _attached() -> tuple[Callable[..., Any], Callable[..., Any], list[str]]:
    import lazy_loader

    return lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    get, _, names = _attached()
    return names if name == "__all__" else get(name)


def __dir__() -> list[str]:
    return _attached()[1]()
