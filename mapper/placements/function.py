"""Images described by a user's Python function: ``python:FILE.py:function``.

The function is called as ``function(torus, R, C, tasks_per_node)``, with the extents of the grid of the decomposition
(slabs: ``function(torus, P, tasks_per_node)``), and returns the places of all ranks as

- an iterable with one place for each rank, of pencils rank q*R + p being task p of row q;
- a function from the rank to its place;
- an int array of shape (ranks, d) or (ranks, d + 1).

A place is ``(coordinate, ..., slot)``; the slot may be omitted with one task per node. `torus` is a
`pencilmap.model.network.torus.Torus` (shape, wrap, axes, n_nodes, coordinates(node)). A function with a parameter called
``nodes`` also gets the coordinates of the usable nodes in the launcher's order: int array, shape (n, d).

The file runs with the rights of the user, who should trust it; its output goes to standard error.
"""

import inspect
import os
import sys
import traceback
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from operator import index
from pathlib import Path
from types import ModuleType

import numpy as np

from pencilmap.model.base.errors import MappingError, PlacementError
from pencilmap.model.base.reading import read_whole
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping

MOST_SOURCE_BYTES = 1 << 20
USAGE = "python:FILE.py:function, with function(torus, R, C, tasks_per_node) giving the place of each rank"


def function(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Load a user's file, call the function and check its result.

    Parameters
    ----------
    argument : str
        ``FILE.py:function``.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If the file or function is missing, the result is no placement, or the user's code raised an exception. The message
        names the file, and the line of an exception.
    """
    site.check_grid(grid)
    path, _, name = argument.rpartition(":")
    if not path or not name.isidentifier():
        raise PlacementError(f"python:{argument} is not understood; write {USAGE}")
    with _user_code(path, name), redirect_stdout(sys.stderr):
        places = _call(_load(path, name), site, grid)
    return _mapping(f"python:{argument}", places, site, grid)


def _load(path, name):
    """Return the function `name` of the file; run the file without leaving compiled files behind."""
    source = read_whole(path, PlacementError, MOST_SOURCE_BYTES)
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)
    found = module.__dict__.get(name)
    if not callable(found):
        known = ", ".join(n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__)
        raise PlacementError(f"python:{path}:{name}: {path} has no function {name!r}; it has {known or 'none'}")
    return found


def _call(found, site, grid):
    """Return one place per rank, and a surplus place if there are too many: a list, or the returned array."""
    keywords = {}
    if "nodes" in inspect.signature(found).parameters:
        keywords["nodes"] = site.network.coordinates(site.allocation.nodes)
    answer = found(site.network, *grid.shape, site.tasks_per_node, **keywords)
    if callable(answer):
        return [answer(rank) for rank in range(grid.n_tasks)]
    return answer if isinstance(answer, np.ndarray) else list(islice(iter(answer), grid.n_tasks + 1))


@contextmanager
def _user_code(path, name):
    """Run a user's file, which may import modules from its folder. Exceptions become a PlacementError with file and line."""
    before = list(sys.path)
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    try:
        yield
    except (PlacementError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # SystemExit too: otherwise a file could end the program without a message
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        raise PlacementError(f"python:{path}:{name}: {_line(error, path)}: {what}; correct {path}, or call the function by "
                             "itself to see more") from error
    finally:
        sys.path[:] = before


def _line(error, path):
    if isinstance(error, SyntaxError) and error.filename == path:
        return f"{path} line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path} line {lines[-1]}" if lines else path


def _mapping(name, places, site, grid):
    if len(places) != grid.n_tasks:
        count = f"more than {grid.n_tasks}" if len(places) > grid.n_tasks else len(places)
        raise PlacementError(f"{name} gives {count} places, but grid {grid} has {grid.n_tasks} ranks; give one for each")
    table = _table(name, places, site)
    outside = np.flatnonzero(((table[:, :-1] < 0) | (table[:, :-1] >= site.network.shape)).any(axis=1))
    if outside.size:
        raise PlacementError(f"{name}, rank {outside[0]}: {site.network.outside(table[outside[0], :-1])}")
    try:
        mapping = Mapping(site.network, grid, site.tasks_per_node, site.network.node(table[:, :-1]), table[:, -1], name)
    except MappingError as error:
        raise PlacementError(f"{name}: {error}") from error
    site.check_mapping(mapping)
    return mapping


def _table(name, places, site):
    """Return coordinates and slot of each rank: int array, shape (P, d + 1)."""
    d = site.network.n_dimensions
    widths = (d, d + 1) if site.tasks_per_node == 1 else (d + 1,)
    if isinstance(places, np.ndarray) and places.ndim == 2 and places.shape[1] in widths and places.dtype.kind in "iu":
        table = places.astype(np.int64)
    else:
        table = np.array([_place(name, rank, place, site, widths) for rank, place in enumerate(places)], dtype=np.int64)
    return table if table.shape[1] == d + 1 else np.column_stack([table, np.zeros(len(table), dtype=np.int64)])


def _place(name, rank, place, site, widths):
    """Return one place as integers, with its slot."""
    d = site.network.n_dimensions
    try:
        numbers = [index(number) for number in place]
    except TypeError:
        numbers = []
    if len(numbers) not in widths or any(abs(number) >= 1 << 62 for number in numbers):
        optional = "; the slot may be omitted with one task per node" if site.tasks_per_node == 1 else ""
        raise PlacementError(f"{name}, rank {rank}: {str(place)[:60]} is not a place; give {d} integer coordinates and the "
                             f"slot, ({', '.join(site.network.axes)}, slot){optional}")
    return numbers if len(numbers) == d + 1 else [*numbers, 0]
