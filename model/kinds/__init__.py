"""The table of kinds of networks, the network that a text names, and the rules of routing that work on a network.

A new kind is a file here, whose `KIND` is a `Kind`, and a line below.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

from pencilmap.model.base.errors import NetworkError, RoutingError, near
from pencilmap.model.base.late import LateTable
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.kinds.reading import Rates, bandwidths
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Network
from pencilmap.model.network.twisted_torus import is_folded, is_twisted
from pencilmap.model.routing.rule import RoutingRule

_PLACES = {  # file:name; a text without the name of a kind is a torus
    "torus": "torus:KIND",
    "twisted-torus": "twisted_torus:KIND",
    "folded-torus": "torus:FOLDED",
    "graph": "graph:KIND",
    "torus-graph": "graph:TORUS",
    "twisted-torus-graph": "twisted_graph:KIND",
    "fat-tree": "fat_tree:KIND",
    "dragonfly": "dragonfly:KIND",
    "dragonfly-plus": "dragonfly:PLUS",
    "hyperx": "hyperx:KIND",
    "hypercube": "torus:CUBE",
}
KINDS = LateTable[Kind](__name__, _PLACES)
#: in this order: a HyperX may be a dragonfly, and a torus has twists of 0
RECOGNISED = "fat-tree", "hyperx", "dragonfly", "dragonfly-plus", "torus-graph", "twisted-torus-graph"
DEFAULT_ROUTING = "dimension-order"
LINEAR_PROGRAMS = "optimal-minimal", "ideal-adaptive"  # rules that solve one; no other rule has a smaller load


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
    >>> str(network_named("8wx8x8")), network_named("4x4", bandwidth="x=1 GB/s,y=2 GB/s").bandwidth
    ('8wx8x8', (1000000000.0, 2000000000.0))
    """
    head, _, rest = text.partition(":")
    if head in KINDS:
        return KINDS[head].parse("".join(rest.split()), **options)
    if head[:1].isalpha():
        raise NetworkError(f"network {text[:60]!r} is unknown{near(head, KINDS)}; write a shape such as 8x8x8, or one of "
                           f"{', '.join(kind.usage for kind in KINDS.values() if kind.usage)}")
    kind = "twisted-torus" if is_twisted(text) else "folded-torus" if is_folded(text) else "torus"
    return KINDS[kind].parse(text, **options)


def with_bandwidth(network: Any, rates: Rates | Sequence[float] | None) -> Any:
    """Return the network with other bandwidths, see `pencilmap.model.kinds.reading.bandwidths`; None leaves its own."""
    return network if rates is None else replace(network, bandwidth=bandwidths(rates, network.link_classes))


def is_network(text: str) -> bool:
    """Return whether a text names a kind, so that it is neither a shape nor a file.

    >>> is_network("torus:4x4"), is_network("4x4"), is_network("cluster.graphml")
    (True, False, False)
    """
    return text.partition(":")[0] in KINDS and ":" in text


def kind_of(network: Network) -> Kind:
    """Return the kind of a network, or of the class from which its class derives.

    >>> kind_of(network_named("4x4")).name
    'torus'
    """
    kind = next(kind for base in type(network).__mro__ for kind in KINDS.values() if base is kind.type)
    return _in_files(kind) if network.recognised else kind


@cache
def _in_files(kind: Kind) -> Kind:
    """Return a kind for files that were recognised: first the rules of any graph, then the others; routers do not adapt."""
    own, usual = {rule.name: rule for rule in kind.rules}, {rule.name: rule for rule in KINDS["graph"].rules}
    return replace(kind, rules=tuple({**usual, **own}.values()), bracket=())


def judged_routings(network: Network) -> tuple[str, ...]:
    """Return the routings under which the placements of a search are judged, the default first.

    A file says nothing of the routings of a kind, so a recognised file is judged by its default, and by those other routings
    of any graph that the kind has as well. No rule that solves a linear program is the worst in sequence.

    >>> judged_routings(network_named("fat-tree:leaves=4,hosts=4,up=2"))
    ('shortest-path', 'static')
    """
    kind = kind_of(network)
    names = kind.bracket or kind.routings
    if network.recognised:
        own, usual = KINDS[kind.name].routings, KINDS["graph"].routings
        names = tuple(name for name in usual if name == usual[0] or name in own)
    return tuple(name for name in names if name not in LINEAR_PROGRAMS)


def recognised(graph: GraphNetwork, bandwidth: Rates | None = None,
               implied: frozenset[int] = frozenset()) -> GraphNetwork | None:
    """Return the network of the first kind that a graph is, with a note; None if it is of no kind.

    Each kind builds its network from the hosts, switches and cables, and takes it only if it has exactly the cables and
    rates of the file. This adds bounds, seeds of searches, and routings. It never changes the default routing, nor names and
    order of the hosts. It takes time of the cables.

    Parameters
    ----------
    graph : GraphNetwork
    bandwidth : str, float or dict, optional
        Rates of the classes of links if the cables have none, see `pencilmap.model.kinds.reading.bandwidths`.
    implied : frozenset of int
        Vertices that stand for cables past a level, see `GraphNetwork`.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> recognised(from_networkx(nx.grid_graph((3, 4)), "net")).notes
    ('recognised: mesh 3x4',)
    """
    from pencilmap.model.kinds.cabling import NotThisKind, cabling_of  # few questions have files of cables

    try:
        cabling = cabling_of(graph, bandwidth, implied)
    except NotThisKind:
        return None
    for name in RECOGNISED:
        kind = KINDS[name]
        try:
            network: GraphNetwork = kind.recognise(cabling)  # type: ignore[misc]  # these kinds have one
        except NotThisKind:
            continue
        return replace(network, recognised=True, notes=(*graph.notes, f"recognised: {kind.described(network)}"))
    return None


class _Rules(Mapping[str, RoutingRule]):
    """All rules of routing by name, each as the first kind with this rule has it; kinds are loaded at the first use."""

    @cached_property
    def _rules(self) -> dict[str, RoutingRule]:
        rules: dict[str, RoutingRule] = {}
        for rule in (rule for kind in KINDS.values() for rule in kind.rules):
            rules.setdefault(rule.name, rule)
        return rules

    def __getitem__(self, name: str) -> RoutingRule:
        return self._rules[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


ROUTINGS = _Rules()


def routing(name: str, network: Network) -> Any:
    """Return the rule that `name` describes, as it works on a network.

    Parameters
    ----------
    name : str
        Name and arguments, e.g. ``dimension-order:zyx:parity``; see `ROUTINGS`.
    network : Network

    Raises
    ------
    RoutingError
        If there is no such rule, or it does not work on the network.

    Examples
    --------
    >>> routing("dimension-order:parity", network_named("4x4"))
    DimensionOrder(order=None, tie='parity')
    """
    head, _, argument = name.partition(":")
    known = {rule.name: rule for rule in kind_of(network).rules}
    if head in known:
        return known[head].make(argument)
    if head in ROUTINGS:
        raise RoutingError(f"routing {name!r} does not work on {network.title}; available are "
                           f"{', '.join(rule.usage for rule in known.values())}")
    raise RoutingError(f"routing {name!r} is unknown{near(head, ROUTINGS)}; known are "
                       f"{', '.join(rule.usage for rule in ROUTINGS.values())}")


def routings_of(network: Network) -> tuple[str, ...]:
    """Return the names of the rules that work on a network, its default first."""
    return kind_of(network).routings


def default_routing(network: Network) -> str:
    """Return the name of the default rule."""
    return kind_of(network).rules[0].name


def all_variants(network: Network) -> list[str]:
    """Return every rule of a network with all its variants.

    >>> all_variants(network_named("4"))[:3]
    ['dimension-order', 'dimension-order:parity', 'dimension-order:plus']
    """
    return [f"{rule.name}:{variant}" if variant else rule.name for rule in kind_of(network).rules
            for variant in rule.variants]
