"""Local search if no product exists or is good enough: holes, idle slots, awkward factors.

See `pencilmap.mapper.searches.annealing`.
"""

from typing import Any

from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.objective import Objective

KINDS = {"seed": int, "evaluations": int, "seconds": float}


def search(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None,
           robust: bool = False, transform: Transform | None = None) -> Mapping:
    """Search with options, e.g. ``search`` or ``search:seed=1,evaluations=200000,seconds=30``.

    The same seed and evaluations give the same placement on any machine. A time limit, `seconds`, can end the search early;
    then a note of the placement says so. Without `evaluations` there is always a time limit. The search reports to
    `pencilmap.mapper.base.progress`.

    Parameters
    ----------
    argument : str
        Options, or empty.
    site : Site
    grid : ProcessGrid
    wanted : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    robust : bool
        Whether to minimise the worst objective over the rules for ties.
    transform : Transform, optional
        Its blocks give the sizes of the messages; without a transform all are equal.

    Raises
    ------
    PlacementError
        If the argument is not understood.
    GridError
        If the grid does not fit the site.
    """
    options = parse_options(argument)
    site.check_grid(grid)
    from pencilmap.mapper.searches import annealing  # numba is loaded only when a search is requested

    seed = options.pop("seed", 1)
    if "evaluations" in options:
        options.setdefault("seconds", None)  # a busy machine gives the same answer
    report = now_and_then(lambda line, share=None: say(f"search of grid {grid}: {line}", share))
    found = annealing.search(site, grid, seed, annealing.Budget(**options), report=report, wanted=wanted,
                             rules=annealing.TIED if robust else annealing.USUAL, transform=transform)
    report(str(found), 1.0)
    return found.mapping


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
