"""The requirement of product placements: every slot of the whole torus."""

from pencilmap.model.base.errors import PlacementError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid


def check_product(name: str, site: Site, grid: ProcessGrid) -> None:
    """Raise PlacementError unless `grid` takes every slot of a site that is a whole torus.

    `name` is the placement, for the error.
    """
    site.check_grid(grid)
    if not site.allocation.is_complete:
        raise PlacementError(f"{name} needs every node of torus {site.network}, but only {site.allocation} are usable; take "
                             f"{INSTEAD}")
    if grid.n_tasks < site.n_slots:
        raise PlacementError(f"{name} fills every slot, but grid {grid} leaves {site.n_slots - grid.n_tasks} of "
                             f"{site.n_slots} idle; take {INSTEAD}")


INSTEAD = "default, search or file:PATH"
