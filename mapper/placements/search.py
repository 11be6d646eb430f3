"""Local search if no product exists or is good enough: holes, idle slots, awkward factors.

See `pencilmap.mapper.searches.annealing`, and on twisted tori and networks without coordinates
`pencilmap.mapper.searches.network_search`.
"""

from dataclasses import replace

from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.base.search import OF_EVALUATION, Search, parse_search
from pencilmap.mapper.seeds.products import as_slab
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds import default_routing
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, Transform
from pencilmap.model.traffic.loads import Objective, in_sequence


def search(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Mapping:
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

    Raises
    ------
    PlacementError
        If the argument is not understood.
    GridError
        If the grid does not fit the site.
    """
    return searched(site, grid, search_of_text(argument, site, grid), wanted)


def search_of_text(argument: str, site: Site, grid: ProcessGrid, robust: bool = False) -> Search:
    """Return the search that the text after ``search:`` describes. Raises PlacementError if it is not understood."""
    try:
        return parse_search(argument, _work_of_evaluation(site, grid, robust))
    except ValueError as error:
        raise PlacementError(f"search:{argument}: {error}; write search, or e.g. search:seed=1,evaluations=200000,"
                             "seconds=30") from None


def _work_of_evaluation(site: Site, grid: ProcessGrid, robust: bool) -> int:
    if not site.network.has_products:
        return OF_EVALUATION
    from pencilmap.mapper.searches import annealing  # numba is loaded only when a search is requested

    return annealing.work_of_swap(grid, annealing.TIED if robust else annealing.USUAL)


def searched(site: Site, grid: ProcessGrid, within: Search, wanted: Objective | None = None, robust: bool = False,
             transform: Transform | None = None) -> Mapping:
    """Return the result of the local search.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    within : Search
    wanted : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    robust : bool
        Whether to minimise the worst objective over the rules for ties.
    transform : Transform, optional
        Its uneven blocks give the sizes of the messages; without them all are equal.

    Raises
    ------
    GridError
        If the grid does not fit the site.
    """
    site.check_grid(grid)
    wanted = wanted or in_sequence(len(grid.decomposition.exchanges))
    if transform is not None and transform.divides_evenly(grid):
        transform = None
    if one := as_slab(grid, wanted, transform):
        return replace(searched(site, one[0], within, one[1], robust, transform), grid=grid)
    from pencilmap.mapper.searches import annealing, network_search  # numba is loaded only when a search is requested

    if not site.network.has_products:
        rules = (default_routing(site.network),) if site.network.has_coordinates else ()
        mapping = network_search.search(site, grid, within, wanted, rules, transform).mapping
        name = f"search:seed={within.seed},evaluations={within.budget // OF_EVALUATION}"
        return replace(mapping, name=name + ",cut=seconds" * within.cut_short,
                       notes=(f"{name}: {annealing.ENDS['seconds']}",) if within.cut_short else ())
    report = now_and_then(lambda line, share=None: say(f"search of grid {grid}: {line}", share))
    result = annealing.search(site, grid, within, wanted, annealing.TIED if robust else annealing.USUAL, transform,
                              report=report)
    report(str(result), 1.0)
    return result.mapping
