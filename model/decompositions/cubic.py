"""Cubic decomposition: a task holds a brick of the array, and one exchange along each axis makes the lines along it whole.

Grid PxQxS: rank p + P*(q + Q*s) holds block p of x, q of y, s of z. In the x exchange the P tasks of a line of the grid
send each other 1/P of their bricks: a task then holds whole lines of x in 1/P of its block of z. The y exchange does the
same in groups of Q, and the z exchange in groups of S, which cuts the block of y. A code that returns to bricks sends the
messages of an exchange back after it. All messages of an exchange have one size, that of the longest blocks.

Source: T. Imamura, Y. Hirota, D. Mukunoki, Y. Ohi, Y. Tan, "User Manual KMATH_FFT3D", AICS Technical Report 2016-002, and
its benchmark, for the ranks and the equal blocks; module fft3d_1dalltoall of GENESIS, for the axes that are cut.
"""

from pencilmap.model.decompositions.decomposition import Decomposition, ExchangeStage, GridDimension, LocalPass

CUBIC = Decomposition(
    name="cubic",
    dimensions=(GridDimension("x-line", "P"), GridDimension("y-line", "Q"), GridDimension("z-line", "S")),
    start=("x", "y", "z"),
    stages=(ExchangeStage("x-line", "x", gathered="x", divided="z"), LocalPass("x"),
            ExchangeStage("y-line", "y", gathered="y", divided="z"), LocalPass("y"),
            ExchangeStage("z-line", "z", gathered="z", divided="y"), LocalPass("z")),
    example="16x12x8 for bricks of 1/16 of x, 1/12 of y, 1/8 of z",
    has_equal_blocks=True,
    returns=True,
)
