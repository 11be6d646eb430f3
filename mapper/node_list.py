"""The list of usable nodes: a text file, one node a line by its coordinates, in the order in which the launcher fills them.

``x y z`` with as many columns as the torus has dimensions; ``#`` starts a comment. Batch systems and the machine's own
queries (RCA or PMI on Cray, FJMPI_Topology on Fugaku) give these numbers in one line of script.
"""

from pathlib import Path

import numpy as np

from pencilmap.mapper.formats.lines import columns, integers, text_lines
from pencilmap.model.errors import MapfileError


def read_nodes(path, torus):
    """Node numbers in the order of the file: int array.

    Raises
    ------
    MapfileError
        Naming file and line: what is no list of coordinates, is outside the torus, or is listed twice.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise MapfileError(f"{path} cannot be read: {error.strerror}") from error
    return parse_node_list(content, str(path), torus)


def parse_node_list(content, label, torus):
    """The same for the bytes of a file; `label` names it in errors.

    >>> from pencilmap.model.torus import Torus
    >>> parse_node_list(b"# two nodes\\n1 1\\n0 1\\n", "demo.nodes", Torus((2, 2))).tolist()
    [3, 2]
    """
    meaning = f"{' '.join(torus.axes)} of a usable node"
    numbers, rows = [], []
    for number, line in text_lines(content, label):
        row = integers(line, number, label, torus.n_dimensions, meaning)
        problem = torus.outside(row)
        if problem:
            raise MapfileError(f"{label} line {number}: {problem}")
        numbers.append(number)
        rows.append(row)
    if not rows:
        raise MapfileError(f"{label} lists no node; write one line of coordinates ({meaning}) for each")
    nodes = torus.node(columns(rows, torus.n_dimensions))
    _check_once(label, torus, nodes, numbers)
    return nodes


def _check_once(label, torus, nodes, numbers):
    unique, first = np.unique(nodes, return_index=True)
    if unique.size == nodes.size:
        return
    again = int(np.setdiff1d(np.arange(nodes.size), first)[0])
    earlier = int(np.flatnonzero(nodes == nodes[again])[0])
    where = tuple(torus.coordinates(nodes[again]).tolist())
    raise MapfileError(f"{label} line {numbers[again]}: node {where} is listed already in line {numbers[earlier]}; list every "
                       "usable node once")
