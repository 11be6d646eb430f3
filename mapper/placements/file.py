"""A placement read from a file, in any readable format."""

from pencilmap.mapper.formats import FORMATS, Job, read_mapping
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping


def from_file(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Read a placement from a file.

    Parameters
    ----------
    argument : str
        ``PATH`` or ``PATH,FORMAT``.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If there is no path.
    MapfileError
        If the file cannot be read.
    """
    path, _, format_name = argument.partition(",")
    if not path:
        raise PlacementError(f"file: needs a path, e.g. file:demo.map or file:demo.hosts,hostfile; formats are "
                             f"{', '.join(FORMATS)}")
    mapping = read_mapping(path, Job(site), grid, format_name or None)
    site.check_mapping(mapping)
    return mapping
