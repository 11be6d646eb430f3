"""One-sided messages between two fences: the messages of alltoallv, which their receivers do not wait for one by one."""

from pencilmap.model.algorithms.algorithm import Algorithm, at_once

ALGORITHM = Algorithm("all messages at once, one-sided, between two fences", at_once, beside=False)
