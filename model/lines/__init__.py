"""Distributed lines: names of the algorithms, and orders of the results."""


ALGORITHMS = ("transpose", "binary2", "binary4", "dft", "dft-reduce")
ORDERS = {"natural": 3, "transposed": 2, "transposed-both": 1}  #: with the number of all-to-alls of the transposes
