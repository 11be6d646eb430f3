"""Hostfile: line i is the host of rank i; ``host:k`` stands for k ranks in a row on that host.

Host names carry the coordinates as their last numbers, e.g. ``node-3-0-7``; that is how the simulated torus calls its
hosts, and how they are read back. Slots are filled in the order of the lines.
Used by SimGrid (``smpirun -hostfile FILE``) and Open MPI (``mpirun --hostfile FILE --map-by seq``).
"""

import re

import numpy as np

from pencilmap.model.errors import MapfileError


def host(coordinate):
    """Name of the node at a coordinate.

    >>> host((3, 0, 7))
    'node-3-0-7'
    """
    return "node-" + "-".join(str(int(c)) for c in coordinate)


def hosts(mapping):
    """Host name of each rank."""
    return [host(c) for c in mapping.coordinates()]


def write(mapping):
    return "".join(name + "\n" for name in hosts(mapping))


def read(lines, label, torus):
    d = torus.n_dimensions
    nodes, numbers = [], []
    for number, line in lines:
        name, colon, count = line.partition(":")
        if colon and not (count.isdecimal() and count.isascii() and 0 < int(count[:12]) <= 65536):
            raise MapfileError(f"{label} line {number}: {count[:20]!r} is no count of ranks; write HOST or HOST:COUNT")
        coordinate = [int(c) for c in re.findall(r"\d{1,12}", name)[-d:]]
        if len(coordinate) < d:
            raise MapfileError(f"{label} line {number}: host {name[:40]!r} does not end in {d} coordinates of torus {torus}; "
                               f"names such as {host(range(d))} are needed")
        problem = torus.outside(coordinate)
        if problem:
            raise MapfileError(f"{label} line {number}: {problem}")
        repeat = int(count) if colon else 1
        nodes += [coordinate] * repeat
        numbers += [number] * repeat
    return torus.node(np.array(nodes, dtype=np.int64).reshape(-1, d)), None, numbers


def looks_like(line):
    return bool(re.match(r"[A-Za-z][\w.-]*(:\d+)?$", line))


def launch(path):
    return f"mpirun --hostfile {path} --map-by seq ..."
