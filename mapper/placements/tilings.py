"""Lattice tilings of tori, and digit bases on twisted tori, by text.

``lattice:c=1.3.0/0.13.0/0.0.1,tile=71.72.61...``, see `pencilmap.mapper.seeds.tilings`: ``c=`` (or ``r=``) gives
the rows of a Hermite normal form, in dimensions and slots. The cosets of its lattice are the columns (or rows). ``tile=``
gives the places of one of the other groups, place = node + N * slot. Without these options the placement is the best tiling
found, for exchanges in sequence.

``basis:r=0.0.4/1.0.6,c=0.0.1/0.1.0/...``, see `pencilmap.mapper.seeds.twisted_torus`: ``r=`` and ``c=`` give the
generators of the digits of the place in a row and in a column, in coordinates, and the slot if a node has several. Without
these options the placement is the best basis found, or the best pair of complementary subgroups.

`named` recognises tilings, and products of ring maps; `pencilmap.model.placement.product.product_of` recognises digit
patterns. The order of ranks within a group does not matter.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pencilmap.mapper.base.progress import say
from pencilmap.mapper.base.search import OF_MEMBER, Search, parse_search
from pencilmap.mapper.placements.products import check_product, ring
from pencilmap.mapper.seeds.tilings import Tiling
from pencilmap.model.base.arrays import Ints, prime_factors
from pencilmap.model.base.errors import GridError, MappingError, PlacementError, TorusError
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.network.twisted_torus import twists_of
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, per_node
from pencilmap.model.placement.product import same_groups
from pencilmap.model.traffic.loads import Objective, in_sequence

MOST_PLACES = 16_384  # above this number tilings are not searched either
_GENERATORS = r"\d{1,9}(?:\.\d{1,9})*(?:/\d{1,9}(?:\.\d{1,9})*)*"
_BASIS = re.compile(rf"r=({_GENERATORS})?,c=({_GENERATORS})?", re.ASCII)
_NUMBERS = r"\d{1,15}(?:\.\d{1,15})*"
_TILING = re.compile(rf"([rc])=({_NUMBERS}(?:/{_NUMBERS})*),tile=({_NUMBERS})", re.ASCII)
USUAL_TILE = 16  # tasks of the tile of an evaluation


def lattice(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Return the given tiling, or the best tiling found.

    Parameters
    ----------
    argument : str
        Empty, options, for example ``seed=2,evaluations=100000``, or a tiling.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If the argument is not understood, the torus is too large to search, or no tiling was tried.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> rows_on_lines = lattice("c=1.0.0/0.3.0/0.0.1,tile=0.3.6", Site(Torus((3, 3))), ProcessGrid(3, 3))
    >>> rows_on_lines.node_of_rank.tolist()
    [0, 3, 6, 1, 4, 7, 2, 5, 8]
    """
    check_product("lattice", site, grid)
    torus, tasks = as_torus(site.network), site.tasks_per_node
    _check_lattice(torus, grid)
    from pencilmap.mapper.seeds import tilings  # numba is loaded only when a tiling is requested

    spelled = _TILING.fullmatch(argument)
    if spelled:
        form = tuple(tuple(map(int, row.split("."))) for row in spelled[2].split("/"))
        tiling = tilings.Tiling(torus, tasks, form, tuple(map(int, spelled[3].split("."))), spelled[1])
        _check_tiling(argument, tiling, grid)
        return tiling.mapping(grid)
    if (within := _search_of(argument, OF_MEMBER * USUAL_TILE)) is None:
        raise PlacementError(f"lattice:{argument[:60]} is not understood; write lattice, lattice:seed=1,evaluations=100000, "
                             "or the text that a search has printed: lattice:c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6.10")
    if torus.n_nodes * tasks > tilings.MOST_PLACES:
        raise PlacementError(f"lattice is searched on up to {tilings.MOST_PLACES} slots, and torus {torus} has "
                             f"{torus.n_nodes * tasks}; take best")
    result, cost = tilings.best_tiling(torus, grid, tasks, within)
    if result is None:
        raise PlacementError(f"no tiling of torus {torus} by lattices was tried for grid {grid}; take more evaluations")
    say(f"{result}: {cost:.4g}")
    return result.mapping(grid)


def _search_of(argument: str, of_evaluation: int) -> Search | None:
    """Return the search of options, None if they are not understood."""
    try:
        return replace(parse_search(argument, of_evaluation, ("seed", "evaluations")), deadline=None)
    except ValueError:
        return None


def _check_lattice(torus: Torus, grid: ProcessGrid) -> None:
    open_axes = [axis for axis, n, wrap in zip(torus.axes, torus.shape, torus.wrap) if n > 2 and not wrap]
    if open_axes:
        raise PlacementError(f"lattice needs rings, and dimension {open_axes[0]} of torus {torus} is open; take search")
    if len(grid.shape) != 2 or min(grid.shape) == 1:
        raise PlacementError(f"lattice needs rows and columns of 2 tasks or more, and grid {grid} has none; take best")


def _check_tiling(argument: str, tiling: Tiling, grid: ProcessGrid) -> None:
    """Raise PlacementError unless the form is of this torus and the tile has one place of every coset."""
    from pencilmap.mapper.seeds.tilings import coset_numbers, is_form

    shape = np.array([*tiling.torus.shape, tiling.tasks_per_node])
    size = grid.shape["cr".index(tiling.cosets)]
    if not is_form(shape, tiling.form, size):
        raise PlacementError(f"lattice:{argument[:60]} names no lattice of {size} cosets on torus {tiling.torus} with "
                             f"{per_node(tiling.tasks_per_node)}; write the {len(shape)} rows of an upper triangular "
                             f"form whose diagonal multiplies to {size} and whose lattice contains the extents")
    numbers = coset_numbers(shape, tiling.form)
    if max(tiling.tile) >= len(numbers) or sorted(numbers[list(tiling.tile)].tolist()) != sorted(set(numbers.tolist())):
        raise PlacementError(f"lattice:{argument[:60]}: the tile needs {size} places below {len(numbers)}, one of "
                             "every coset")


def basis(argument: str, site: Site, grid: ProcessGrid, objective: Objective | None = None) -> Mapping:
    """Return the given basis, or the best basis found.

    Parameters
    ----------
    argument : str
        Empty, options, for example ``seed=2,evaluations=5000``, or the generators.
    site : Site
    grid : ProcessGrid
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.

    Raises
    ------
    PlacementError
        If the argument is not understood, or the network is not a whole twisted torus.

    Examples
    --------
    >>> from pencilmap.model.network.twisted_torus import parse_twisted
    >>> rows_along_x = basis("r=1.0,c=0.1/0.2", Site(parse_twisted("2x4:twisted")), ProcessGrid(2, 4))
    >>> rows_along_x.node_of_rank.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    torus = _whole("basis", site, grid)
    from pencilmap.mapper.seeds import twisted_torus  # numba is loaded only when a basis is requested

    spelled = _BASIS.fullmatch(argument)
    if spelled:
        return _of_generators(argument, spelled.groups(), torus, site.tasks_per_node, grid)
    if (within := _search_of(argument, twisted_torus.work_of_basis(torus, grid))) is None:
        raise PlacementError(f"basis:{argument[:60]} is not understood; write basis, basis:seed=1,evaluations=5000, or the "
                             "text that a search has printed: basis:r=0.0.4/1.0.0,c=0.1.0/0.2.0/0.0.1/2.0.0/0.0.2")
    best_, cost = twisted_torus.best_basis(torus, grid, site.tasks_per_node, objective or in_sequence(2), within)
    say(f"{best_}: {cost:.4g}")
    return best_.mapping(grid)


def cosets(argument: str, site: Site, grid: ProcessGrid, objective: Objective | None = None) -> Mapping:
    """Return the best pair of a subgroup, whose cosets are the rows, and a complement, whose cosets are the columns.

    Raises
    ------
    PlacementError
        If there is an argument, no such pair, or the network is not a whole twisted torus.
    """
    torus = _whole("cosets", site, grid)
    if argument:
        raise PlacementError(f"placement cosets:{argument[:60]}: cosets takes no argument; basis does, e.g. basis:seed=2")
    from pencilmap.mapper.seeds import twisted_torus

    pair = twisted_torus.best_pair(torus, grid.shape, objective or in_sequence(2)) if site.tasks_per_node == 1 else None
    if pair is None:
        raise PlacementError(f"{site} has no subgroup for rows with a complement for columns of grid {grid}; take basis")
    rows, columns = ([(node, 0) for node in twisted_torus.generators(torus, members, size)]
                     for members, size in zip(pair[:2], grid.shape))
    return twisted_torus.Basis(torus, 1, tuple(rows), tuple(columns)).mapping(grid)


def _whole(name: str, site: Site, grid: ProcessGrid) -> Any:
    """Return the twisted torus; raise PlacementError unless the grid of pencils fills it."""
    if twists_of(site.network) is None:
        raise PlacementError(f"placement {name} is for twisted tori, and {site.network.title} is none; take best")
    site.check_grid(grid)
    if not site.allocation.is_complete or grid.n_tasks != site.n_slots or grid.decomposition != PENCIL:
        raise PlacementError(f"placement {name} needs a grid of pencils that fills all slots of {site.network.title}; take "
                             "default")
    return site.network


def _of_generators(argument: str, parts: tuple[Any, ...], torus: Any, tasks_per_node: int, grid: ProcessGrid) -> Mapping:
    from pencilmap.mapper.seeds.twisted_torus import spelled

    digits = [[tuple(map(int, one.split("."))) for one in (part or "").split("/") if one] for part in parts]
    numbers = torus.n_dimensions + (tasks_per_node > 1)
    needed = [len(prime_factors(size)) for size in grid.shape]
    if [len(digits_) for digits_ in digits] != needed or any(len(one) != numbers for digits_ in digits for one in digits_):
        raise PlacementError(f"basis:{argument[:60]}: grid {grid} needs {needed[0]} generators for r and {needed[1]} for c, "
                             f"each of {numbers} numbers")
    try:
        return spelled(torus, tasks_per_node, *digits).mapping(grid)
    except (MappingError, TorusError, GridError) as error:
        raise PlacementError(f"basis:{argument[:60]}: {error}") from error


def named(mapping: Mapping) -> str | None:
    """Return the name of the mapping, in words and as a text that makes it again, or None.

    None if the mapping is neither of ring maps nor a tiling.

    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> site, grid = Site(Torus((4, 4))), ProcessGrid(8, 2)
    >>> named(ring("x=0.1/3.2,y=r4", site, grid).mapping())
    'the product of ring maps ring:x=0.1/3.2,y=r4'
    >>> named(lattice("c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6.10", Site(Torus((5, 5))), ProcessGrid(5, 5)))
    'the tiling lattice:c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6.10 (columns are moves of a lattice, rows of a tile)'
    """
    if not (mapping.network.has_products and mapping.fills_network and mapping.grid.decomposition == PENCIL
            and min(mapping.grid.shape) > 1):
        return None
    torus = as_torus(mapping.network)
    site = Site(torus, mapping.tasks_per_node)
    for arguments in _rings(mapping, torus):
        try:
            product = ring(arguments, site, mapping.grid)
        except PlacementError:
            continue
        if same_groups(product.mapping(), mapping):
            return f"the product of ring maps {product}"
    if mapping.n_tasks > MOST_PLACES:
        return None
    for letter, names in (("c", ("columns", "rows")), ("r", ("rows", "columns"))):
        try:
            tiling = lattice(_tiling(mapping, torus, letter), site, mapping.grid)
        except PlacementError:
            continue
        if same_groups(tiling, mapping):
            return f"the tiling {tiling.name} ({names[0]} are moves of a lattice, {names[1]} of a tile)"
    return None


def _rings(mapping: Mapping, torus: Torus) -> list[str]:
    """Return the texts of possible ring maps, from the lines through the first place."""
    R, places = mapping.grid.shape[0], _places(mapping)
    parts = []
    for i, axis in enumerate((*torus.axes, "t")):
        line = np.flatnonzero((np.delete(places, i, axis=1) == 0).all(axis=1))
        rows: dict[int, list[int]] = {}
        for rank in sorted(line.tolist()):                         # rank = q R + p: by rows, then along each
            rows.setdefault(rank // R, []).append(int(places[rank, i]))
        parts.append((axis, list(rows.values())))
    *dimensions, (_, slots) = parts
    text = ",".join(f"{axis}={_map(rows)}" for axis, rows in dimensions)
    r, c = f"r{len(slots[0])}" if len(slots[0]) > 1 else "", f"c{len(slots)}" if len(slots) > 1 else ""
    return [f"{text},t={digits}" for digits in dict.fromkeys((r + c, c + r))] if r or c else [text]


def _map(rows: Sequence[Sequence[int]]) -> str:
    """Return the text of one dimension, a digit pattern for whole rows or columns."""
    if len(rows) == 1:
        return f"r{len(rows[0])}"
    return f"c{len(rows)}" if len(rows[0]) == 1 else "/".join(".".join(map(str, row)) for row in rows)


def _tiling(mapping: Mapping, torus: Torus, letter: str) -> str:
    """Return the text of a possible tiling, from the two groups of rank 0: along `letter` and along the other letter."""
    R, C = mapping.grid.shape
    shape, places = np.array([*torus.shape, mapping.tasks_per_node]), _places(mapping)
    across, along = np.arange(C) * R, np.arange(R)
    cosets, tile = (across, along) if letter == "c" else (along, across)
    lattice_places = (places[cosets] - places[0]) % shape
    form = []
    for i, n in enumerate(shape):
        starting = lattice_places[(lattice_places[:, :i] == 0).all(axis=1) & (lattice_places[:, i] > 0)]
        form.append(starting[np.lexsort(starting.T[::-1])][0] if len(starting) else np.eye(len(shape), dtype=int)[i] * n)
    strides = np.cumprod([1, *shape[:-1]])
    return (f"{letter}=" + "/".join(".".join(str(int(x)) for x in row) for row in form)
            + ",tile=" + ".".join(str(int(x)) for x in places[tile] @ strides))


def _places(mapping: Mapping) -> Ints:
    return np.concatenate([mapping.coordinates(), mapping.slot_of_rank[:, None]], axis=1)
