"""Problems of distributed lines: one line over all ranks, or an array in bricks. Both have the same interface."""

from collections.abc import Sequence
from dataclasses import dataclass

from pencilmap.model.base.errors import GridError
from pencilmap.model.lines.brick_lines import brick_line_stages, brick_lines_forecast, check_bricks
from pencilmap.model.lines.line_plan import LineStageTime, line_forecast, line_stages
from pencilmap.model.lines.names import ALGORITHMS
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import PRECISIONS
from pencilmap.model.times.costs import Costs


@dataclass(frozen=True)
class LineProblem:
    """A line of ``size[0]`` points, or an array of three extents in P x Q x S bricks.

    >>> LineProblem((4096,)).title, LineProblem((24, 17, 1), (2, 3, 1)).title
    ('line of 4,096 points', '24x17x1 points in 2x3x1 bricks of lines')
    """

    size: tuple[int, ...]
    bricks: tuple[int, int, int] | None = None
    algorithm: str = ALGORITHMS[0]
    order: str = "natural"
    fields: int = 1  #: lines or arrays that are transformed together
    precision: str = "double"

    @property
    def element_bytes(self) -> int:
        return 2 * PRECISIONS[self.precision]

    @property
    def decomposition(self) -> str:
        """The name in the runner."""
        return "line" if self.bricks is None else "brick:" + "x".join(map(str, self.bricks))

    @property
    def title(self) -> str:
        if self.bricks is None:
            return f"line of {self.size[0]:,} points"
        return f"{'x'.join(map(str, self.size))} points in {'x'.join(map(str, self.bricks))} bricks of lines"

    @property
    def told(self) -> str:
        """The problem and its algorithm in a short text.

        >>> LineProblem((4096,), fields=2).told, LineProblem((24, 17, 1), (2, 3, 1), "dft").told
        ('line of 8192, transpose', '24x17x1, dft')
        """
        fields = f":fields={self.fields}" if self.fields > 1 else ""
        what = f"line of {self.size[0] * self.fields}" if self.bricks is None else "x".join(map(str, self.size)) + fields
        return f"{what}, {self.algorithm}"

    def stages(self, ranks: int, algorithm: str | None = None) -> tuple[str, ...]:
        """Return the names of the exchanges, by its own algorithm or by another.

        Raises
        ------
        GridError
            If the algorithm cannot transform the problem.

        Examples
        --------
        >>> LineProblem((16, 12, 1), (2, 2, 1), "dft").stages(4)
        ('y_gather', 'x_gather')
        """
        name = algorithm or self.algorithm
        if self.bricks is None:
            return tuple(stage.name for stage in line_stages(self.size[0], ranks, name, self.order))
        check_bricks(self.bricks, ranks)
        return tuple(stage.name for stage in brick_line_stages(self.size, self.bricks, name, self.order))

    def algorithms(self, ranks: int) -> list[str]:
        """Return the possible algorithms. Binary exchange is possible if the ranks divide the points."""
        found = []
        for name in ALGORITHMS:
            try:
                self.stages(ranks, name)
            except GridError:
                continue
            found.append(name)
        return found

    def grids(self, ranks: int) -> list[ProcessGrid]:
        """Return the grids to place ranks for. Their rows and columns are the ranks of lines, or of two axes together.

        >>> [grid.shape for grid in LineProblem((8, 8, 8), (2, 3, 4)).grids(24)]
        [(2, 12), (6, 4)]
        """
        if self.bricks is None:
            return [ProcessGrid(1, ranks)]
        p, q, s = self.bricks
        return [ProcessGrid(*shape) for shape in dict.fromkeys([(p, q * s), (p * q, s)])]

    def forecast(self, mapping: Mapping, costs: Costs = Costs(), ports: int = 1, routing: str | None = None,
                 algorithm: str | None = None, backward: bool = False) -> Sequence[LineStageTime]:
        """Return the time of every exchange.

        Raises
        ------
        GridError
            If the algorithm or the mapping does not fit the problem.
        """
        name, element_bytes = algorithm or self.algorithm, self.element_bytes * self.fields
        if self.bricks is None:
            return line_forecast(mapping, n=self.size[0], algorithm=name, order=self.order, costs=costs, ports=ports,
                                 routing_name=routing, element_bytes=element_bytes)
        return brick_lines_forecast(mapping, size=self.size, bricks=self.bricks, algorithm=name, order=self.order,
                                    costs=costs, ports=ports, routing_name=routing, element_bytes=element_bytes,
                                    backward=backward)
