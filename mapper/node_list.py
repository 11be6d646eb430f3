"""The list of usable nodes: a text file, one node a line by its coordinates, in the order in which the launcher fills them.

``x y z`` with as many columns as the torus has dimensions, with or without the host's name; ``#`` starts a comment. Batch
systems and the machine's own queries give these numbers: ``pencilmap discover -o FILE`` writes such a list.
"""

from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.formats.lines import Document, read_document


def read_nodes(path, torus):
    """Node numbers in the order of the file: int array.

    Raises
    ------
    MapfileError
        Naming file and line: what is no list of coordinates, is outside the torus, or is listed twice.
    """
    return parse_table(read_document(path), torus).nodes


def parse_node_list(content, label, torus):
    """The same for the bytes of a file; `label` names it in errors.

    >>> from pencilmap.model.torus import Torus
    >>> parse_node_list(b"# two nodes\\n1 1\\n0 1\\n", "demo.nodes", Torus((2, 2))).tolist()
    [3, 2]
    """
    return parse_table(Document(content, label), torus).nodes
