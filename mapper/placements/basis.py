"""Digit bases on twisted tori, e.g. ``basis:r=0.0.4/1.0.6,c=0.0.1/0.1.0/...``, see `pencilmap.mapper.seeds.twisted_basis`.

``r=`` and ``c=`` give the generators of the digits of the place in a row and in a column, in coordinates, and the slot if a
node has several. Without these options the placement is the best basis found, or the best pair of complementary subgroups.
"""

import re

from pencilmap.mapper.base.progress import say
from pencilmap.model.base.errors import GridError, MappingError, PlacementError, TorusError
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.twisted_torus import twists_of
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.objective import Objective, in_sequence

_GENERATORS = r"\d{1,9}(?:\.\d{1,9})*(?:/\d{1,9}(?:\.\d{1,9})*)*"
_SPELLED = re.compile(rf"r=({_GENERATORS})?,c=({_GENERATORS})?", re.ASCII)
_SEARCHED = re.compile(r"(?:(seed|evaluations)=(\d{1,15})(?:,(seed|evaluations)=(\d{1,15}))?)?", re.ASCII)


def basis(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Mapping:
    """Return the given basis, or the best basis found.

    Parameters
    ----------
    argument : str
        Empty, options, for example ``seed=2,evaluations=5000``, or the generators.
    site : Site
    grid : ProcessGrid
    wanted : Objective, optional
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
    from pencilmap.mapper.seeds import twisted_basis  # numba is loaded only when a basis is requested

    spelled, searched = _SPELLED.fullmatch(argument), _SEARCHED.fullmatch(argument)
    if spelled:
        return _spelled(argument, spelled.groups(), torus, site.tasks_per_node, grid)
    if not searched or (searched[1] and searched[1] == searched[3]):
        raise PlacementError(f"basis:{argument[:60]} is not understood; write basis, basis:seed=1,evaluations=5000, or the "
                             "text that a search has printed: basis:r=0.0.4/1.0.0,c=0.1.0/0.2.0/0.0.1/2.0.0/0.0.2")
    options = dict(filter(None, zip(searched.groups()[::2], searched.groups()[1::2])))
    found, cost = twisted_basis.best_basis(torus, grid, site.tasks_per_node, wanted or in_sequence(2),
                                          int(options.get("seed") or 1),
                                          int(options["evaluations"]) if options.get("evaluations") else None)
    say(f"{found}: {cost:.4g}")
    return found.mapping(grid)


def cosets(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Mapping:
    """Return the best pair of a subgroup, whose cosets are the rows, and a complement, whose cosets are the columns.

    Raises
    ------
    PlacementError
        If there is an argument, no such pair, or the network is not a whole twisted torus.
    """
    torus = _whole("cosets", site, grid)
    if argument:
        raise PlacementError(f"placement cosets:{argument[:60]}: cosets takes no argument; basis does, e.g. basis:seed=2")
    from pencilmap.mapper.seeds import twisted_basis, twisted_pairs

    found = twisted_pairs.best_pair(torus, grid.shape, wanted or in_sequence(2)) if site.tasks_per_node == 1 else None
    if found is None:
        raise PlacementError(f"{site} has no subgroup for rows with a complement for columns of grid {grid}; take basis")
    rows, columns = ([(node, 0) for node in twisted_basis.generators(torus, members, size)]
                     for members, size in zip(found[:2], grid.shape))
    return twisted_basis.Basis(torus, 1, tuple(rows), tuple(columns)).mapping(grid)


def _whole(name, site, grid):
    """Return the twisted torus; raise PlacementError unless the grid of pencils fills it."""
    if twists_of(site.network) is None:
        raise PlacementError(f"placement {name} is for twisted tori, and {site.network.title} is none; take best")
    site.check_grid(grid)
    if not site.allocation.is_complete or grid.n_tasks != site.n_slots or grid.decomposition is not PENCIL:
        raise PlacementError(f"placement {name} needs a grid of pencils that fills all slots of {site.network.title}; take "
                             "default")
    return site.network


def _spelled(argument, parts, torus, tasks_per_node, grid):
    from pencilmap.mapper.seeds.twisted_basis import prime_factors, spelled

    digits = [[tuple(map(int, one.split("."))) for one in (part or "").split("/") if one] for part in parts]
    numbers = torus.n_dimensions + (tasks_per_node > 1)
    needed = [len(prime_factors(size)) for size in grid.shape]
    if [len(some) for some in digits] != needed or any(len(one) != numbers for some in digits for one in some):
        raise PlacementError(f"basis:{argument[:60]}: grid {grid} needs {needed[0]} generators for r and {needed[1]} for c, "
                             f"each of {numbers} numbers")
    try:
        return spelled(torus, tasks_per_node, *digits).mapping(grid)
    except (MappingError, TorusError, GridError) as error:
        raise PlacementError(f"basis:{argument[:60]}: {error}") from error
