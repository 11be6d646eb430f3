"""MPI_Alltoallw: the messages of alltoallv, described by data types instead of packed."""

from pencilmap.model.algorithms.algorithm import Algorithm, at_once

ALGORITHM = Algorithm("all messages at once, by data types", at_once)
