"""Placements: a table from a name to the function that makes the placement.

A placement is a function ``(argument, site, grid) -> Placement``; `argument` is the text after the colon, or "".
Placements that search also get the objective. A new placement is a file here and a line below.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pencilmap.mapper.placements.best import best, search
from pencilmap.mapper.seeds.default_order import default
from pencilmap.model.base.errors import PlacementError, near
from pencilmap.model.base.late import late
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Mapping, Placement, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.loads import Objective


@dataclass(frozen=True)
class Placing:
    """A line of the table."""

    make: Callable[..., Placement]
    usage: str
    meaning: str
    anywhere: bool = False  #: whether the placement also works on a graph, which has no coordinates
    twisted: bool = False  #: whether the placement also works on a twisted torus
    searches: bool = False  #: whether the placement takes an objective

    def works_on(self, network: Network) -> bool:
        """Return whether the placement works on a network."""
        return self.anywhere or network.has_products or (self.twisted and network.has_coordinates)


def _in(place: str) -> Callable[..., Any]:
    """Return a function of a file, which is imported when it is first called."""
    return late(f"{__name__}.{place}")


BEST = "best"
PLACEMENTS = {
    BEST: Placing(best, BEST, "the best of digit patterns, ring maps and lattice tilings; on meshes, with holes or "
                      "with idle slots also a local search; on twisted tori of digit bases, or a local search; on other "
                      "networks the least cost under all routings", anywhere=True, searches=True, twisted=True),
    "search": Placing(search, "search[:seed=S,evaluations=E,seconds=T]", "a local search on the routed "
                        "loads, for holes, idle slots and awkward factors", anywhere=True, searches=True),
    "default": Placing(default, "default[:ORDER]", "the launch order of the job, launcher or machine, or the named one, "
                         "first letter fastest: xyzt, txyz (slots first), ...; nt and tn take the nodes in the order of "
                         "their list", anywhere=True),
    "line": Placing(_in("products:line"), "line[:AXIS]", "rows are lines along an axis (default x)"),
    "plane": Placing(_in("products:plane"), "plane[:AXES]", "rows are planes (default xy)"),
    "box": Placing(_in("products:box"), "box:2x2x2", "rows are dense boxes, and columns take every n-th node"),
    "digits": Placing(_in("products:digits"), "digits:x=r2c4,y=..,t=..", "digit patterns, low digit first: r for rows, c "
                        "for columns (s for slabs), i for idle"),
    "ring": Placing(_in("products:ring"), "ring[:x=0.1/3.2,y=r2c2,t=..]", "on every dimension a digit pattern, or the "
                      "positions of the members of each row; without arguments, the least load of exchanges at once",
                      searches=True),
    "lattice": Placing(_in("tilings:lattice"), "lattice[:seed=S,evaluations=E]", "columns are the cosets of a lattice "
                         "and rows are translates of one tile, or the other way round; often the best for exchanges in "
                         "sequence at odd extents"),
    "basis": Placing(_in("tilings:basis"), "basis[:seed=S,evaluations=E]", "on a twisted torus: the place of a rank is "
                       "the sum of its digits times generators, which are searched or given as r=..,c=..",
                       searches=True, twisted=True),
    "cosets": Placing(_in("tilings:cosets"), "cosets", "on a twisted torus: rows are the cosets of a subgroup, and "
                        "columns those of a complement", searches=True, twisted=True),
    "images": Placing(_in("given:images"), "images:PATH[,columns]", "images listed in a file: the nodes of each row "
                        "(or column)", twisted=True),
    "file": Placing(_in("given:from_file"), "file:PATH[,FORMAT]", "a mapfile or hostfile; the format is detected unless "
                      "named", anywhere=True),
}


def check_name(text: str) -> None:
    """Raise PlacementError unless `text` begins with the name of a placement."""
    name = text.partition(":")[0]
    if name not in PLACEMENTS:
        raise PlacementError(f"placement {text!r} is unknown{near(name, PLACEMENTS)}; known are "
                             f"{', '.join(p.usage for p in PLACEMENTS.values())}")


def check_names(texts: Iterable[str]) -> None:
    """Raise PlacementError unless each text begins with the name of a placement."""
    for text in texts:
        check_name(text)


def place(text: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Placement:
    """Make the placement that `text` describes.

    Parameters
    ----------
    text : str
        Name and argument, e.g. ``box:2x2x2``; see `PLACEMENTS`.
    site : Site
        Torus, tasks per node and usable nodes.
    grid : ProcessGrid
    wanted : Objective, optional
        Objective of placements that search; by default the exchanges in sequence.

    Returns
    -------
    Product or Mapping

    Raises
    ------
    PlacementError
        If the placement or its argument is not understood, or does not fit the network.
    GridError
        If the grid does not fit the site.
    MapfileError, AllocationError
        If a file with places cannot be read, or places a rank on a node that may not be used.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> place("default", Site(Torus((2, 2))), ProcessGrid(2, 2)).mapping("default").node_of_rank.tolist()
    [0, 1, 2, 3]
    """
    check_name(text)
    name, _, argument = text.partition(":")
    placement = PLACEMENTS[name]
    if not placement.works_on(site.network):
        known = ", ".join(p.usage for p in PLACEMENTS.values() if p.works_on(site.network))
        raise PlacementError(f"placement {text} needs a torus without twists, and {site.network.title} is none; use one of "
                             f"{known}")
    return placement.make(argument, site, grid, *([wanted] if placement.searches else []))


def takes_objective(text: str) -> bool:
    """Return whether the placement that `text` describes is searched for, with an objective."""
    name = text.partition(":")[0]
    return name in PLACEMENTS and PLACEMENTS[name].searches


def as_mapping(placed: Placement, name: str) -> Mapping:
    """Return the mapping of a placement.

    Parameters
    ----------
    placed : Placement
        A `Product` or a `Mapping`.
    name : str
        Name of the mapping.

    Returns
    -------
    Mapping
    """
    return placed.mapping(name)


def placement_name(text: str, site: Site) -> str:
    """Return the name of a placement for a reader: a launch order by its launcher, rows on boxes, a file.

    >>> from pencilmap.model.network.torus import Torus
    >>> site = Site(Torus((8, 8, 8)))
    >>> placement_name("box:2x2x2", site), placement_name("file:my.map", site), placement_name("default:zyxt", site)
    ('rows on 2x2x2 cubes', 'my.map', 'order zyxt')
    >>> placement_name("line", site), placement_name("plane:xy", site)
    ('rows on lines', 'rows on planes along xy')
    """
    kind, _, argument = text.partition(":")
    if kind == "default":
        known = not argument or argument in site.launch.orders
        return site.launch_name(argument) if known else f"order {argument}"
    if kind == "box" and argument:
        extents = argument.split("x")
        return f"rows on {argument} {'cubes' if len(set(extents)) == 1 and len(extents) > 2 else 'boxes'}"
    if kind in ("line", "plane"):
        return f"rows on {kind}s{f' along {argument}' if argument else ''}"
    return {"file": argument.partition(",")[0], "digits": f"pattern {argument}",
            "lattice": f"tiling {argument}"}.get(kind, text) if argument else text
