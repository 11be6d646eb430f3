"""Slabs: a task holds whole planes of y and z, then, after one exchange between all tasks, whole planes of x and z.

The grid is the number of tasks, P. Task p sends its x-block of the y-block of p'. One exchange is started instead of the
two of pencils, but there can be no more tasks than planes.
"""

from pencilmap.model.decompositions.decomposition import Decomposition, ExchangeStage, GridDimension, LocalPass

SLAB = Decomposition(
    name="slab",
    dimensions=(GridDimension("slab", "P"),),
    start=("s", "", ""),
    stages=(LocalPass("zy"), ExchangeStage("slab", "s", gathered="x", divided="y"), LocalPass("x")),
    example="512 for 512 tasks",
)
