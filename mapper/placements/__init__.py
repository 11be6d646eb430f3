"""Placements: a table from a name to the function that makes it.

A placement is a function ``(argument, site, grid) -> Product or Mapping``; `argument` is the text after the colon, or "". A
new placement is one file here and one line below.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pencilmap.mapper.placements.best import best
from pencilmap.mapper.placements.box import box, line, plane
from pencilmap.mapper.placements.default import default
from pencilmap.mapper.placements.digits import digits
from pencilmap.mapper.placements.file import from_file
from pencilmap.mapper.placements.function import function
from pencilmap.mapper.placements.images import images
from pencilmap.mapper.placements.search import search
from pencilmap.model.allocation import Site
from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.product import Product
from pencilmap.model.torus import Torus


@dataclass(frozen=True)
class Placement:
    """One line of the table; `anywhere` marks those that also work on a graph, which has no coordinates."""

    make: Callable[[str, Site, ProcessGrid], Product | Mapping]
    usage: str
    meaning: str
    anywhere: bool = False


PLACEMENTS = {
    "best": Placement(best, "best", "the best product placement, by exact search; with holes or idle slots the result of "
                      "search"),
    "search": Placement(search, "search[:seed=S,evaluations=E,seconds=T]", "local search on the routed loads, for holes, "
                        "idle slots, awkward factors"),
    "default": Placement(default, "default[:ORDER]",
                         "the launcher's order, first letter fastest: xyzt (default), txyz, zyxt, ...; "
                         "nt, tn: nodes in the launcher's order, slots last or first", anywhere=True),
    "line": Placement(line, "line[:AXIS]", "rows are lines along an axis (default x)"),
    "plane": Placement(plane, "plane[:AXES]", "rows are planes (default xy)"),
    "box": Placement(box, "box:2x2x2", "rows are dense boxes, columns every n-th node"),
    "digits": Placement(digits, "digits:x=r2c4,y=..,t=..",
                        "digit patterns, low digit first: r rows, c columns (s slabs), i idle"),
    "images": Placement(images, "images:PATH[,columns]", "images listed in a file: the nodes of each row (or column)"),
    "python": Placement(function, "python:FILE.py:FUNCTION", "images described by a Python function"),
    "file": Placement(from_file, "file:PATH[,FORMAT]", "a mapfile or hostfile; the format is detected unless named",
                      anywhere=True),
}


def place(text: str, site: Site, grid: ProcessGrid) -> Product | Mapping:
    """Make the placement that `text` describes.

    Parameters
    ----------
    text : str
        Name and argument, e.g. ``box:2x2x2``; see `PLACEMENTS`.
    site : Site
        Torus, tasks per node and usable nodes.

    Raises
    ------
    PlacementError, GridError, MapfileError, AllocationError
    """
    name, _, argument = text.partition(":")
    if name not in PLACEMENTS:
        raise PlacementError(f"placement {text!r} is unknown; known are "
                             f"{', '.join(p.usage for p in PLACEMENTS.values())}")
    placement = PLACEMENTS[name]
    if not (placement.anywhere or isinstance(site.network, Torus)):
        raise PlacementError(f"placement {text} needs a torus, but {site.network.title} has no coordinates; use "
                             f"{' or '.join(p.usage for p in PLACEMENTS.values() if p.anywhere)}")
    return placement.make(argument, site, grid)


def as_mapping(placed: Product | Mapping, name: str) -> Mapping:
    """The mapping of a placement, called `name`."""
    return placed.mapping(name) if isinstance(placed, Product) else replace(placed, name=name)
