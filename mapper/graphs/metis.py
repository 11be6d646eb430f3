"""METIS graphs: every vertex is a host, named by its number from 1. Weights and sizes say nothing about bandwidth.

Source: the manual of METIS 5.1, "Graph files".
"""

from typing import Any

from pencilmap.mapper.formats.foreign import is_metis
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.attributes import note_weights

looks_like = is_metis


def read(document: Document) -> Any:
    """Return the graph. Raises MapfileError with the line that is not understood."""
    import networkx as nx  # slow to import, and only graphs need networkx

    lines = [(number, line) for number, line in enumerate(document.text.splitlines(), 1) if not line.startswith("%")]
    head = [int(word) if word.isdecimal() and len(word) < 10 else -1 for word in lines[0][1].split()] if lines else []
    if not 2 <= len(head) <= 4 or min(head) < 0:
        raise document.refuse("a METIS graph begins with the numbers of vertices and edges", lines[0][0] if lines else None)
    kinds = lines[0][1].split()[2].zfill(3) if len(head) > 2 else "000"
    weights = (head[3] if len(head) > 3 else 1) * (kinds[1] == "1")
    before, step = weights + (kinds[0] == "1"), 1 + (kinds[2] == "1")
    if len(lines) - 1 < head[0]:
        raise document.refuse(f"ends after {len(lines) - 1} of {head[0]} vertices", lines[-1][0])
    graph = nx.Graph()
    graph.add_nodes_from(map(str, range(1, head[0] + 1)), kind="host")
    found: set[str] = set()
    for vertex, (number, line) in enumerate(lines[1:head[0] + 1], 1):
        for other in line.split()[before::step]:
            if not (other.isdecimal() and len(other) < 10 and 1 <= int(other) <= head[0]):
                raise document.refuse(f"{other[:20]!r} is not a vertex of 1 to {head[0]}", number)
            graph.add_edge(str(vertex), str(int(other)))
        found.update(line.split()[before + 1::step] if step > 1 else ())
    if graph.number_of_edges() != head[1]:
        raise document.refuse(f"has {graph.number_of_edges()} edges, and its first line says {head[1]}", lines[0][0])
    note_weights(document, graph, found)
    return graph
