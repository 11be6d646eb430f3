"""MPI_Alltoallv: all messages of an exchange start at once. What the paper's bound describes."""

from pencilmap.model.algorithms.algorithm import Algorithm, at_once

ALGORITHM = Algorithm("all messages at once", at_once)
