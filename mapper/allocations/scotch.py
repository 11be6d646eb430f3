"""Scotch target files (``.tgt``): a line with the name of an architecture and its sizes.

``torus2D X Y``, ``torus3D X Y Z``, ``torusXD d ...`` and the same with ``mesh`` are tori and meshes; ``hcub d`` is a mesh
of two nodes along each of d dimensions. Other targets have no coordinates: complete graphs (``cmplt``, ``cmpltw``), trees
of switches (``tleaf``, ``ltleaf``), decompositions (``deco``, ``sub``, ``dist``) and targets of variable size.
Source: Scotch 7.0 user's guide, "Target architecture files", and the names in libscotch/arch.c.
"""

import re

from pencilmap.mapper.allocations.found import Fact, Found
from pencilmap.mapper.formats.foreign import TARGETS
from pencilmap.mapper.formats.lines import Document

MOST_DIMENSIONS = 16


def looks_like(document: Document) -> bool:
    return re.match(rf"\s*({'|'.join(TARGETS)})\s+[0-9]", document.text[:100]) is not None


def find(document: Document) -> Found:
    """Return the shape of the target."""
    text = " ".join(document.text.split())[:60]
    name, *words = document.text.split()
    shape = _shape(name, [int(word) if re.fullmatch("[0-9]{1,6}", word) else 0 for word in words[:MOST_DIMENSIONS + 2]])
    number = document.lines("\n")[0][0]
    if shape is None:
        raise document.refuse(f"{name} is a Scotch target without coordinates; give a torus or mesh, e.g. torus3D 4 4 2, or "
                              "for `network` write one edge in each line", number)
    if not shape or min(shape) < 1:
        raise document.refuse(f"{text!r} is not a target and its sizes, e.g. torus3D 4 4 2, meshXD 4 2 2 2 2 or hcub 4, "
                              f"with at most {MOST_DIMENSIONS} dimensions", number)
    wraps = name.startswith("torus")
    torus = "x".join(map(str, shape)) + ("" if wraps else ":mesh")
    return Found((Fact("torus" if wraps else "mesh", torus, f"{document.label} ({name})"),), torus)


def _shape(name, sizes):
    """Return extents of a target; [] if the sizes do not fit its name, None for a target without coordinates.

    >>> _shape("torus3D", [4, 4, 2]), _shape("meshXD", [2, 5, 6]), _shape("hcub", [3]), _shape("mesh2D", [4])
    ([4, 4, 2], [5, 6], [2, 2, 2], [])
    >>> _shape("cmplt", [8])
    """
    if name == "hcub":
        return [2] * sizes[0] if len(sizes) == 1 and sizes[0] <= MOST_DIMENSIONS else []
    if not name.startswith(("torus", "mesh")):
        return None
    count, shape = (sizes[0], sizes[1:]) if name.endswith("XD") else (int(name[-2]), sizes)
    return shape if len(shape) == count <= MOST_DIMENSIONS else []
