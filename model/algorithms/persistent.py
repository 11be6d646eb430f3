"""A persistent collective: the messages of alltoallv, set up once and started together."""

from pencilmap.model.algorithms.algorithm import Algorithm, at_once

ALGORITHM = Algorithm("all messages at once, set up beforehand", at_once)
