"""Graphs of Scotch and METIS.

Scotch targets: tori and meshes (``torus3D X Y Z``, ``meshXD d ...``), hypercubes (``hcub d``: a mesh of two nodes along each
of d dimensions), complete graphs, and trees of processes (``tleaf``).

``tleaf h n1 w1 ... nh wh`` has h levels, and each unit of level i has n_i parts; the weights w_i of its links are costs of
Scotch, not bandwidths, and are ignored. Such a tree tells no numbers of cables, see `pencilmap.mapper.graphs.switch_tree`.
Source: Scotch 7.0 user's guide, "Target architecture files".

METIS graphs: every vertex is a host, named by its number from 1. Weights and sizes say nothing about bandwidth.

Source: the manual of METIS 5.1, "Graph files".
"""

import itertools
import re
from collections.abc import Sequence
from math import prod
from typing import Any

from pencilmap.mapper.formats.foreign import TARGETS, is_metis
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.parts import note_weights
from pencilmap.mapper.graphs.switch_tree import Switch, tree
from pencilmap.model.base.errors import GraphError
from pencilmap.model.network.graph import MAX_VERTICES

MOST_COMPLETE = 1024  # hosts of a complete graph; the number of its cables grows with the square


def looks_like(document: Document) -> bool:
    return re.match(rf"\s*({'|'.join(TARGETS)})\s+[0-9]", document.text[:100]) is not None


def read(document: Document, **cables: int) -> Any:
    """Return a torus or mesh as its text, and another target as a graph.

    Raises
    ------
    GraphError
        If the sizes do not fit the name.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    name, *words = document.text.split()
    sizes = [int(word) if re.fullmatch("[0-9]{1,6}", word) else 0 for word in words[:64]]
    if name == "tleaf" and sizes and len(sizes) == len(words) == 1 + 2 * sizes[0] and all(sizes[1::2]):
        graph = tree(document.label, _leaves(document, sizes[1::2]), document.refuse, **cables)
        if len(set(sizes[2::2])) > 1:
            graph.graph["notes"].append(f"costs of the links of {document.label} are passed over: they are no bandwidths")
        return graph
    if name == "cmplt" and len(words) == 1 and 1 <= sizes[0] <= MOST_COMPLETE:
        return nx.relabel_nodes(nx.complete_graph(sizes[0]), str)
    shape = _shape(name, sizes) if len(words) == len(sizes) else []
    if not shape or min(shape) < 1 or prod(shape) > MAX_VERTICES:
        raise GraphError(f"{document.label} line {document.lines()[0][0]}: {' '.join(document.text.split())[:60]!r} is no "
                         "target that is a network, e.g. torus3D 4 4 2, hcub 4, cmplt 8 (at most "
                         f"{MOST_COMPLETE}) or tleaf 2 8 1 4 1; at most {MAX_VERTICES} hosts are read")
    return "x".join(map(str, shape)) + ("" if name.startswith("torus") else ":mesh")


def _shape(name: str, sizes: Sequence[int]) -> list[int] | Sequence[int]:
    if name == "hcub":
        return [2] * sizes[0] if len(sizes) == 1 and sizes[0] <= 16 else []
    if not name.startswith(("torus", "mesh")) or not sizes:
        return []
    count, shape = (sizes[0], sizes[1:]) if name.endswith("XD") else (int(name[-2]), sizes)
    return shape if len(shape) == count <= 16 else []


def _leaves(document: Document, parts: list[int]) -> list[Switch]:
    """Return the switches of a tree with so many parts at each level, from the top."""
    if len(parts) > 8 or prod(parts) + sum(prod(parts[:i]) for i in range(len(parts))) > MAX_VERTICES:
        raise GraphError(f"{document.label}: a tree of {len(parts)} levels and {prod(parts)} hosts is too large; at most 8 "
                         f"levels and {MAX_VERTICES} hosts and switches are read")
    leaves, level, hosts = [], ["s"], itertools.count()
    for n in parts[:-1]:
        below = [tuple(f"{name}.{i}" for i in range(n)) for name in level]
        leaves += [Switch(name, (), names) for name, names in zip(level, below)]
        level = [name for names in below for name in names]
    return [*leaves, *(Switch(name, tuple(f"n{next(hosts)}" for _ in range(parts[-1]))) for name in level)]


looks_like_metis = is_metis


def read_metis(document: Document) -> Any:
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
    ends: set[str] = set()
    for vertex, (number, line) in enumerate(lines[1:head[0] + 1], 1):
        for other in line.split()[before::step]:
            if not (other.isdecimal() and len(other) < 10 and 1 <= int(other) <= head[0]):
                raise document.refuse(f"{other[:20]!r} is not a vertex of 1 to {head[0]}", number)
            graph.add_edge(str(vertex), str(int(other)))
        ends.update(line.split()[before + 1::step] if step > 1 else ())
    if graph.number_of_edges() != head[1]:
        raise document.refuse(f"has {graph.number_of_edges()} edges, and its first line says {head[1]}", lines[0][0])
    note_weights(document, graph, ends)
    return graph
