"""The exchanges of bricks on which distributed lines run directly: those of the lines of every axis, z first.

Rank (c * Q + b) * P + a of P x Q x S bricks holds block a of x, b of y and c of z. The ranks that differ in one position
alone share the lines of that axis, and exchange as `line_plan` has it for one line, all their lines in the same
messages. An axis of one point is not transformed. fft_runner/src/plan/brick_lines.c does it so. Source: A. Jocksch 2021.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pencilmap.model.arrays import Ints
from pencilmap.model.errors import GridError
from pencilmap.model.line_plan import LineStage, block_sizes, line_stages


@dataclass(frozen=True, eq=False)
class BrickLineStage:
    """One exchange of the lines of an axis.

    name : of the library, "z_stage_1"
    n, ranks : points of a line, and ranks that share it
    apart : of these, as ranks of the whole
    lines : that each rank holds, shape (P * Q * S,)
    """

    name: str
    stage: LineStage
    n: int
    ranks: int
    apart: int
    lines: Ints

    def sent(self) -> Ints:
        """Elements that each rank sends to each other in a forward transform, shape (P Q S, P Q S).

        >>> brick_line_stages((2, 1, 4), (2, 1, 2), "binary2")[0].sent().tolist()
        [[0, 0, 2, 0], [0, 0, 0, 2], [2, 0, 0, 0], [0, 2, 0, 0]]
        """
        rank = np.arange(len(self.lines))
        position = rank // self.apart % self.ranks
        line = rank - position * self.apart
        found = self.stage.sent(self.ranks, self.n)[position[:, None], position] * self.lines[:, None]
        return np.where(line[:, None] == line, found, 0)


def brick_line_stages(size: Sequence[int], bricks: Sequence[int], algorithm: str = "transpose",
                      order: str = "natural") -> tuple[BrickLineStage, ...]:
    """The exchanges of a forward transform of nx, ny, nz points on P, Q, S bricks, in their order.

    Raises GridError as `line_stages` does, with the axis.

    >>> [s.name for s in brick_line_stages((16, 12, 8), (2, 1, 4), "binary4")]
    ['z_stage_1', 'z_to_blocks', 'x_stage_1', 'x_to_blocks']
    """
    if len(size) != 3 or len(bricks) != 3 or min(*size, *bricks) < 1:
        raise GridError(f"{'x'.join(map(str, size))} points on {'x'.join(map(str, bricks))} bricks; "
                        "there are three of each, 1 or more")
    stages: list[tuple[LineStage, ...]] = []
    for letter, n, ranks in zip("xyz", size, bricks):
        try:
            stages.append(line_stages(n, ranks, algorithm, order) if n > 1 else ())
        except GridError as error:
            raise GridError(f"along {letter}: {error}") from error
    everyone = np.arange(np.prod(bricks))
    aparts = (1, bricks[0], bricks[0] * bricks[1])
    found = []
    for axis in (2, 1, 0):
        lines = np.ones_like(everyone)
        for other in {0, 1, 2} - {axis}:
            held = _held(stages[other], size[other], bricks[other], other > axis)
            lines = lines * held[everyone // aparts[other] % bricks[other]]
        found += [BrickLineStage(f"{'xyz'[axis]}_{stage.name}", stage, size[axis], bricks[axis], aparts[axis], lines)
                  for stage in stages[axis]]
    return tuple(found)


def _held(stages, n, ranks, after):
    """Points of a line that each of its ranks has before or after a forward transform."""
    stage = stages[-1 if after else 0] if stages else None
    if stage is None or not stage.is_all_to_all:
        return block_sizes(n, ranks)
    owner = stage.after if after else stage.before
    return np.bincount(owner(np.arange(stage.labels)), minlength=ranks)
