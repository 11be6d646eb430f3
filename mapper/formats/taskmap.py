"""Task maps: the node of each rank, as blocks of (node, nodes, ranks on each, repeats).

Sources: RFC 34 of Flux (flux-framework/rfc, spec_34.rst) and, without the repeats, the PMI-1 key ``PMI_process_mapping``
(RFC 13), which MPICH and Cray MPICH hand to every rank.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

PMI_LIMIT = 1023


def blocks(node: ArrayLike) -> list[list[int]]:
    """Return the blocks [node, nodes, ranks on each, repeats] of the nodes of all ranks.

    >>> blocks([0, 1, 0, 1]), blocks([1, 0]), blocks([0, 0, 1, 1, 2, 2, 2])
    ([[0, 2, 1, 2]], [[1, 1, 1, 1], [0, 1, 1, 1]], [[0, 2, 2, 1], [2, 1, 3, 1]])
    """
    found: list[list[int]] = []
    for first, n_nodes, per_node in pmi_blocks(node):
        if found and found[-1][:3] == [first, n_nodes, per_node]:
            found[-1][3] += 1
        else:
            found.append([first, n_nodes, per_node, 1])
    return found


def pmi_blocks(node: ArrayLike) -> list[tuple[int, int, int]]:
    """Return the blocks without repeats: (node, nodes, ranks on each)."""
    found: list[list[int]] = []
    for first, count in _runs(node):
        if found and found[-1][2] == count and found[-1][0] + found[-1][1] == first:
            found[-1][1] += 1
        else:
            found.append([first, 1, count])
    return [(first, n_nodes, per_node) for first, n_nodes, per_node in found]


def _runs(node):
    node = np.asarray(node, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(node) != 0])) if node.size else node
    return zip(node[starts].tolist(), np.diff(np.append(starts, node.size)).tolist())


def pmi_process_mapping(node: ArrayLike) -> str:
    """Return the text of the PMI key.

    >>> pmi_process_mapping([0, 0, 1, 1])
    '(vector,(0,2,2))'
    """
    return f"(vector,{','.join('({},{},{})'.format(*block) for block in pmi_blocks(node))})"


def expand(blocks: Iterable[Sequence[int]], limit: int) -> list[int]:
    """Return the nodes of at most `limit` + 1 ranks: the inverse of `blocks`.

    >>> expand([[0, 2, 1, 2]], 10)
    [0, 1, 0, 1]
    """
    found: list[int] = []
    for node, n_nodes, per_node, repeat in blocks:
        for _ in range(repeat):
            for n in range(node, node + n_nodes):
                found += [n] * min(per_node, limit + 1 - len(found))
                if len(found) > limit:
                    return found
    return found
