"""The table of kinds of networks, and the network that a text names.

A new kind is a file here, whose `KIND` is a `NetworkKind`, and a line below.
"""

from dataclasses import replace
from pkgutil import resolve_name
from typing import Any

from pencilmap.model.base.errors import NetworkError, near
from pencilmap.model.network.folded_torus import is_folded
from pencilmap.model.network.kind import NetworkKind, Rates, bandwidths
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.network.twisted_torus import is_twisted

_PLACES = {  # file:name; a text without the name of a kind is a torus
    "torus": "torus:KIND",
    "twisted-torus": "twisted_torus:KIND",
    "folded-torus": "folded_torus:KIND",
    "graph": "graph:KIND",
    "fat-tree": "fat_tree:KIND",
    "dragonfly": "dragonfly:KIND",
    "dragonfly-plus": "dragonfly:PLUS",
    "hyperx": "hyperx:KIND",
    "hypercube": "hyperx:CUBE",
}
KINDS: dict[str, NetworkKind] = {name: resolve_name(f"{__package__}.{place}") for name, place in _PLACES.items()}
_KIND_OF = {**{kind.type: kind for kind in reversed(KINDS.values())}, TorusGraph: KINDS["torus"]}


def network_named(text: str, **options: Any) -> Network:
    """Return the network that a text names.

    Parameters
    ----------
    text : str
        A shape, for example ``8x8x8``, or ``KIND:...``; see `KINDS`.
    **options
        ``bandwidth``: rate of a cable, one for all classes of links or one for each (``up=25 GB/s,host=12.5 GB/s``).
        Other options depend on the kind.

    Raises
    ------
    NetworkError
        If there is no such kind, or its numbers are not possible.
    TorusError
        If a shape is not understood.

    Examples
    --------
    >>> str(network_named("8x8x8:mesh")), network_named("4x4", bandwidth="x=1 GB/s,y=2 GB/s").bandwidth
    ('8x8x8:mesh', (1000000000.0, 2000000000.0))
    """
    head, _, rest = text.partition(":")
    if head in KINDS:
        return KINDS[head].parse("".join(rest.split()), **options)
    if head[:1].isalpha():
        raise NetworkError(f"network {text[:60]!r} is unknown{near(head, KINDS)}; write a shape such as 8x8x8, or one of "
                           f"{', '.join(kind.usage for kind in KINDS.values() if kind.usage)}")
    kind = "twisted-torus" if is_twisted(text) else "folded-torus" if is_folded(text) else "torus"
    return KINDS[kind].parse(text, **options)


def with_bandwidth(network: Any, rates: Rates | None) -> Any:
    """Return the network with other bandwidths, see `pencilmap.model.network.kind.bandwidths`; None leaves its own."""
    return network if rates is None else replace(network, bandwidth=bandwidths(rates, network.link_classes))


def is_network(text: str) -> bool:
    """Return whether a text names a kind, so that it is neither a shape nor a file.

    >>> is_network("torus:4x4"), is_network("4x4"), is_network("cluster.graphml")
    (True, False, False)
    """
    return text.partition(":")[0] in KINDS and ":" in text


def kind_of(network: Network) -> NetworkKind:
    """Return the row of a network.

    >>> kind_of(network_named("4x4")).name
    'torus'
    """
    kind = _KIND_OF[type(network)]
    return replace(kind, routings=_in_files(kind), bracket=()) if network.recognised else kind


def _in_files(kind):
    """Return the routings of a file that was recognised as a kind: those of any graph, then the others of the kind."""
    return tuple(dict.fromkeys((*KINDS["graph"].routings, *kind.routings)))


def judged_routings(network: Network) -> tuple[str, ...]:
    """Return the routings under which the placements of a search are judged, the default first.

    A file says nothing of the routings of a kind, so a recognised file is judged by its default, and by those other routings
    of any graph that are of the kind as well.

    >>> judged_routings(network_named("fat-tree:leaves=4,hosts=4,up=2"))
    ('shortest-path', 'static')
    """
    kind = kind_of(network)
    if not network.recognised:
        return kind.bracket or kind.routings
    own, usual = KINDS[kind.name].routings, KINDS["graph"].routings
    return tuple(name for name in usual if name == usual[0] or name in own)
