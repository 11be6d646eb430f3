"""Local search if no product exists or is good enough: holes, idle slots, awkward factors.

See `pencilmap.mapper.searches.annealing`, and on twisted tori and networks without coordinates
`pencilmap.mapper.searches.network_search`.
"""

from dataclasses import replace
from typing import Any

from pencilmap.mapper.base.limit import Limit
from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.seeds.products import as_slab
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds import default_routing
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.loads import Objective, in_sequence

KINDS = {"seed": int, "evaluations": int, "seconds": float}


def search(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None,
           robust: bool = False, transform: Transform | None = None) -> Mapping:
    """Search with options, e.g. ``search`` or ``search:seed=1,evaluations=200000,seconds=30``.

    The same seed and evaluations will give the same placement on any machine. When a time limit, `seconds`, ends the search
    early, a note of the placement will say so. Without `evaluations` there is always a time limit. The search reports to
    `pencilmap.mapper.base.progress`.

    Parameters
    ----------
    argument : str
        Options, for example ``seed=1,seconds=30``, or empty.
    site : Site
    grid : ProcessGrid
    wanted : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    robust : bool
        Whether to minimise the worst objective over the rules for ties.
    transform : Transform, optional
        Its uneven blocks give the sizes of the messages; without them all are equal.

    Raises
    ------
    PlacementError
        If the argument is not understood.
    GridError
        If the grid does not fit the site.
    """
    options = parse_options(argument)
    site.check_grid(grid)
    wanted = wanted or in_sequence(len(grid.decomposition.exchanges))
    if transform is not None and transform.divides_evenly(grid):
        transform = None
    if one := as_slab(grid, wanted, transform):
        return replace(search(argument, site, *one, robust, transform), grid=grid)
    if not site.network.has_products:
        return _by_routes(options, site, grid, wanted, transform)
    from pencilmap.mapper.searches import annealing  # numba is loaded only when a search is requested

    seed = options.pop("seed", 1)
    if "evaluations" in options:
        options.setdefault("seconds", None)  # a busy machine gives the same answer
    report = now_and_then(lambda line, share=None: say(f"search of grid {grid}: {line}", share))
    found = annealing.search(site, grid, seed, annealing.Budget(**options), report=report, wanted=wanted,
                             rules=annealing.TIED if robust else annealing.USUAL, transform=transform)
    report(str(found), 1.0)
    return found.mapping


def _by_routes(options, site, grid, wanted, transform):
    from pencilmap.mapper.searches import annealing, network_search

    seconds = options.get("seconds", None if "evaluations" in options else annealing.SECONDS)
    limit = Limit(options.get("seed", 1), seconds)
    evaluations = max(1, options.get("evaluations", network_search.EVALUATIONS))
    rules = (default_routing(site.network),) if site.network.has_coordinates else ()
    found = network_search.search(site, grid, wanted, evaluations, limit, rules, transform)
    name = f"search:seed={limit.seed},evaluations={evaluations}"
    return replace(found.mapping, name=name + ",cut=seconds" * found.cut,
                   notes=(f"{name}: {annealing.ENDS['seconds']}",) if found.cut else ())


def parse_options(argument: str) -> dict[str, Any]:
    """Return the options of the argument.

    Raises
    ------
    PlacementError
        If an option is not understood or out of range.

    Examples
    --------
    >>> parse_options("seed=2,seconds=1.5")
    {'seed': 2, 'seconds': 1.5}
    """
    options: dict[str, Any] = {}
    for part in argument.split(",") if argument else ():
        name, _, value = part.partition("=")
        try:
            options[name] = KINDS[name](value)
        except (KeyError, ValueError):
            raise PlacementError(f"search:{argument}: {part!r} is not understood; write search, or e.g. "
                                 "search:seed=1,evaluations=200000,seconds=30") from None
        if not 0 <= options[name] < 2**53:
            raise PlacementError(f"search:{argument}: {part} is out of range; use 0 or more")
    return options
