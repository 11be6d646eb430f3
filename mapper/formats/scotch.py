"""Scotch mapping: the number of vertices, then ``vertex<TAB>terminal`` of each; vertices are ranks, terminals node
numbers.

Terminals of ``torus3D`` and similar targets count with the first dimension fastest, like nodes of this package. No
launcher reads the file; use it to compare with Scotch's own mappings (``scotch_gmap``) by ``gmtst`` (``scotch_gmtst`` on
some systems) or ``pencilmap check``. Source: Scotch 7.0 user's guide, "Mapping files"; tried with 7.0.3.
"""

import re
from os import PathLike

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.format import Format, Job, Launch, Places, by_rank
from pencilmap.mapper.formats.lines import Document, integers, is_integer
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping


def write(mapping: Mapping, job: Job) -> str:
    lines = [f"{rank}\t{node}\n" for rank, node in enumerate(mapping.node_of_rank.tolist())]
    return f"{len(lines)}\n" + "".join(lines)


def read(document: Document, job: Job) -> Places:
    document.refuse_marks("Scotch", returns=False)
    if "#" in document.text:
        raise document.refuse("a #, which Scotch does not take for a comment",
                              document.text[:document.text.index("#")].count("\n") + 1)
    lines, entries = document.lines(), []
    number, head = lines[0]
    if not is_integer(head.strip()):
        raise document.refuse(f"{head.strip()[:20]!r} is not a number of vertices", number,
                              len(head) - len(head.lstrip()) + 1)
    for number, line in lines[1:]:
        rank, node = integers(line, number, document.label, 2, "vertex terminal")
        if not (0 <= node < job.network.n_nodes and rank >= 0):
            raise document.refuse(f"terminal {node} of vertex {rank}: terminals of torus {job.network} are "
                                  f"0..{job.network.n_nodes - 1}, vertices 0 and more", number, 1)
        entries.append((rank, node, None, number))
    if len(entries) != int(head):
        raise document.refuse(f"says {int(head)} vertices, but {len(entries)} lines follow", lines[0][0])
    return by_rank(document, entries, "vertex")


def looks_like(lines: list[tuple[int, str]]) -> bool:
    """Return whether the first line is a number and the second has two. A lone number is a rank of Cray's format."""
    return (len(lines) > 1 and bool(re.fullmatch(r"\s*[0-9]+\s*", lines[0][1]))
            and bool(re.fullmatch(r"\s*[0-9]+\s+[0-9]+\s*", lines[1][1])))


def architecture(torus: Torus) -> str:
    """Return the target file for a torus: all dimensions closed, or all open, because Scotch supports no mixture.

    >>> from pencilmap.model.network.torus import Torus
    >>> architecture(Torus((4, 2, 2)))
    'torus3D 4 2 2'
    """
    kind = "torus" if any(torus.wrap) else "mesh"
    d = torus.n_dimensions
    shape = [*torus.shape, 1] if d == 1 else list(torus.shape)
    dims = f"{len(shape)}D" if len(shape) <= 3 else f"XD {len(shape)}"
    return f"{kind}{dims} {' '.join(map(str, shape))}"


def launch(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"echo '{architecture(as_torus(job.network))}' > target.tgt && gmtst graph.grf target.tgt {shell(path)}",
                  ("a source graph.grf of the communication; pencilmap check reads what scotch_gmap writes",))


FORMAT = Format("Scotch mapping: vertex and terminal", write, read, looks_like, launch, says_slots=False,
                launcher="Scotch 7.0",
                proof="run here with gmtst 7.0.3: tests/launchers/test_scotch.py", by_coordinates=True)
