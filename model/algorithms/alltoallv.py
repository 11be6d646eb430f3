"""MPI_Alltoallv: all messages of an exchange start at once, as in the paper's bound."""

from pencilmap.model.algorithms.algorithm import Algorithm, at_once

ALGORITHM = Algorithm("all messages at once", at_once)
