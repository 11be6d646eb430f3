"""Bricks: a task holds a brick before and after, remapped to the pencils of a grid RxC and back.

``brick:PxQxS`` has P bricks along x, Q along y, S along z; rank (c*Q + b)*P + a holds block a of x, b of y, c of z. Between
the remaps bricks are pencils. `pencilmap.model.traffic.remap` has the messages of a remap.
Source: R. Schulz, "3D-FFT on different networks", 2008, figure 5; A. Ayala, S. Tomov, A. Haidar, J. Dongarra, "heFFTe:
Highly efficient FFT for exascale", ICCS 2020.
"""

import re
from dataclasses import replace

from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions.decomposition import Decomposition
from pencilmap.model.decompositions.pencil import PENCIL

BRICK = replace(PENCIL, name="brick", has_bricks=True,
                example="8x64 for the pencils between bricks, rows of 8 tasks and columns of 64")


def bricks_named(text: str) -> Decomposition:
    """Return the decomposition ``brick:PxQxS``.

    Raises
    ------
    GridError
        If the text is not understood.

    Examples
    --------
    >>> bricks_named("brick:2x2x4").bricks
    (2, 2, 4)
    """
    if not re.fullmatch(r"brick:[1-9]\d{0,8}x[1-9]\d{0,8}x[1-9]\d{0,8}", text, re.ASCII):
        raise GridError(f"decomposition {text[:40]!r} is not understood; write brick:PxQxS with the numbers of bricks along "
                        "x, y and z, e.g. brick:4x4x4, or brick for those with the least surface")
    p, q, s = map(int, text.split(":")[1].split("x"))
    return replace(BRICK, name=text, bricks=(p, q, s))
