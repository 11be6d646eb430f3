"""The table of routes that the simulated network reads: hosts, links, and a line for every pair of hosts.

A message of SimGrid takes one route, but it may use a link several times. So a message that is split into k parts over k
links uses each of these links once, and each link has k times its bandwidth. In general a link of which messages use
multiples of 1 / k has k times its bandwidth, and a message with m / k of its bytes on the link uses the link m times. Then
the bytes per second through every link are those of the split message.

Links that the same parts of the same messages use are one link here, for example the cables from a leaf of a fat tree to its
spines: SimGrid takes half the time.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import lcm
from typing import Any

from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.networks.routes import Piece, Routes

MOST_HOSTS = 2048  # there is a line for every pair
MOST_PARTS = 4096  # uses of one link


class RouteTableError(PencilmapError):
    """Routes cannot be simulated."""


def table_text(routes: Routes, ends: dict[str, int], node_of_end: dict[int, int], latency_s: float = 0.0,
               injection_bytes_per_s: float = 0.0) -> str:
    """Return the table as text.

    Parameters
    ----------
    routes : Routes
    ends : dict of str to int
        Name and end of each host that sends or receives messages.
    node_of_end : dict of int to int
        Node of each end. Messages between ends of a node use no links.
    latency_s : float
        Of a link.
    injection_bytes_per_s : float
        Limit of all that a node sends, and of all that it receives; 0 for none.

    Raises
    ------
    RouteTableError
        If there are too many hosts, or messages are split into too many parts.
    """
    if len(ends) > MOST_HOSTS:
        raise RouteTableError(f"{len(ends)} hosts are too many for a simulation by routes; {MOST_HOSTS} are possible")
    pairs = {(a, b): routes.pieces(ends[a], ends[b]) if node_of_end[ends[a]] != node_of_end[ends[b]] else []
             for a in ends for b in ends if a != b}
    pieces = list(dict.fromkeys(piece for found in pairs.values() for piece in found))
    kept = _kept(routes, pieces)
    scale = _scales(routes, pieces, kept)
    texts = {piece: _uses(routes, piece, scale) for piece in pieces}
    hops = {piece: float(sum(routes.links(piece).values())) for piece in pieces} if latency_s else {}
    lines = [f"host {name}" for name in ends]
    lines += [f"link {routes.name(link)} {routes.bytes_per_s(link) * times!r}" for link, times in scale.items()]
    if injection_bytes_per_s:
        lines += [f"link node{node}:{way} {injection_bytes_per_s!r}" for node in sorted(set(node_of_end.values()))
                  for way in ("injection", "ejection")]
    for (a, b), found in pairs.items():
        latency = sum(hops[piece] for piece in found) * latency_s if latency_s else 0.0
        words = ["route", a, b, repr(latency), *filter(None, (texts[piece] for piece in found))]
        if injection_bytes_per_s and found:
            words += [f"node{node_of_end[ends[a]]}:injection", f"node{node_of_end[ends[b]]}:ejection"]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def _kept(routes: Routes, pieces: Sequence[Piece]) -> set[int]:
    """Return the links, without those whose use equals that of another link of the same bandwidth."""
    use: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        for link, part in routes.links(piece).items():
            use[link].append((number, part.numerator, part.denominator))
    first: dict[Any, int] = {}
    return {link for link, found in use.items()
            if first.setdefault((routes.bytes_per_s(link), tuple(found)), link) == link}


def _scales(routes: Routes, pieces: Sequence[Piece], kept: set[int]) -> dict[int, int]:
    """Return for each link the number of parts into which messages are split."""
    found = dict.fromkeys(sorted(kept), 1)
    for piece in pieces:
        for link, part in routes.links(piece).items():
            if link in kept and found[link] % part.denominator:
                found[link] = lcm(found[link], part.denominator)
                if found[link] > MOST_PARTS:
                    raise RouteTableError("messages are split into more parts than a simulation can have on one link, "
                                          f"{MOST_PARTS}; take a routing with fewer routes, e.g. dimension-order or minimal")
    return found


def _uses(routes: Routes, piece: Piece, scale: dict[int, int]) -> str:
    """Return the words of a route for one piece."""
    times = {link: int(part * scale[link]) for link, part in routes.links(piece).items() if link in scale}
    return " ".join(f"{routes.name(link)}*{n}" if n > 1 else routes.name(link) for link, n in times.items())
