"""The output of ``ibnetdiscover``: switches and hosts of an InfiniBand fabric with every cable and its speed.

A line ``Switch 36 "S-..." # "name" ...`` or ``Ca 1 "H-..." # "name" ...`` begins a switch or a card of a host, and each
line ``[port] "id"[port] # ... 4xHDR`` below it is a cable. Cards of one host, as their descriptions name it (``n1 HCA-1``,
``n1 mlx5_0``), are one host with several links. Cards inside switches (aggregation nodes) are left out, and so are warnings
of the command among the lines. A file for ibsim is read too: its cards are called ``Hca``, and its ids are any names.
Sources: ibnetdiscover(8) of infiniband-diags 43, its sample of a topology file, and libibnetdisc for warnings; net-examples
of ibsim 0.12.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pencilmap.mapper.formats.foreign import FABRIC_HEAD as HEAD
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.netloc import bandwidth
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.units import counted

_NODE = re.compile(r'(?P<kind>Switch|Ca|Hca|Rt)\s+(?P<ports>[0-9]{1,5})\s+"(?P<id>[^"]+)"\s*(?:#\s*"(?P<name>[^"]*)".*)?')
_CABLE = re.compile(r'\[(?P<port>[0-9]{1,5})\](?:\([0-9a-fA-F]+\))?\s+"(?P<id>[^"]+)"\s*\[(?P<to>[0-9]{1,5})\]'
                    r'(?:\([0-9a-fA-F]+\))?(?P<rest>.*)')
_SPEED = re.compile(r"([0-9]{1,2}x)([A-Z0-9]+)\s*(?:s=\S+\s*)?$")
_IGNORED = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid|hcaguids)=|(Non-)?Chassis\b|\s*$")
_WARNING = re.compile(r"(ibwarn|iberror|ibpanic|ibdebug|ibnetdiscover): |\S+\.[ch]:[0-9]+[;:] ")
_CARD = re.compile(r"(HCA-[0-9]+|mlx[0-9]*_\w+|hfi[0-9]*_?\w*|ib[0-9]*_?\w*|qib\w*|bnxt\w*)\b")


@dataclass
class _Node:
    kind: str
    name: str
    line: int
    cables: dict[int, tuple[str, int, float | None, int]] = field(default_factory=dict)  # by port: id, port, rate, line


def looks_like(document: Document) -> bool:
    return re.search(HEAD, document.text, re.MULTILINE) is not None


def read(document: Document) -> Any:
    """Return the fabric. Raises GraphError with the line that is not understood."""
    import networkx as nx  # slow to import, and only graphs need networkx

    nodes, notes = _nodes(document)
    names, aggregation = _names(nodes)
    graph = nx.MultiGraph()
    for identity, node in nodes.items():
        if node.kind == "Ca" and identity in names:
            graph.add_node(names[identity], kind="host")
    for identity, node in nodes.items():
        if node.kind != "Ca":
            graph.add_node(names[identity], kind="switch")
    for identity, _port, other, rate in _each_cable(document, nodes):
        if identity in names and other in names:
            graph.add_edge(names[identity], names[other], cables=1, **({"bandwidth": rate} if rate else {}))
    unnamed = [nodes[identity].name for identity, name in names.items()
               if nodes[identity].kind == "Ca" and name == identity and nodes[identity].name]
    if unnamed:
        notes.append(f"{document.label}: {counted(len(unnamed), 'card')} whose description names no host, e.g. "
                     f"{unnamed[0][:40]!r}, are taken for a host each")
    graph.graph["notes"] = [*notes, *_left_out(graph, aggregation, document.label)]
    if not any(kind == "host" for _, kind in graph.nodes(data="kind")):
        raise GraphError(f"{document.label} has no card of a host (Ca) with a cable; run ibnetdiscover for the whole "
                         "fabric, without options")
    return graph


def _nodes(document: Document) -> tuple[dict[str, _Node], list[str]]:
    """Return the nodes by their ids, and notes about lines that are left out."""
    nodes: dict[str, _Node] = {}
    node, warnings, options = None, list[str](), list[str]()
    for number, line in document.lines("\0"):
        text = line.strip()
        if text.startswith("#") or _IGNORED.match(text):
            continue
        if _WARNING.match(text):
            warnings.append(text)
            continue
        if head := _NODE.fullmatch(text):
            if head["id"] in nodes:
                raise GraphError(f"{document.label} line {number}: {head['id'][:40]} is already in line "
                                 f"{nodes[head['id']].line}")
            node = nodes[head["id"]] = _Node("Ca" if head["kind"] == "Hca" else head["kind"], head["name"] or "", number)
        elif node and (cable := _CABLE.fullmatch(text)):
            speed = _SPEED.search(cable["rest"])
            rate = bandwidth(speed[1], speed[2]) if speed else None
            node.cables[int(cable["port"])] = cable["id"], int(cable["to"]), rate, number
            options += [cable["rest"].strip()] if re.match(r"\s*[a-z]+=", cable["rest"]) else []
        else:
            raise GraphError(f"{document.label} line {number}: {text[:40]!r} is neither a node nor a cable of "
                             'ibnetdiscover, e.g. [1] "S-0002c9"[22] # "leaf1" lid 6 4xHDR')
    label = document.label
    return nodes, [
        *([f"{label}: {counted(len(warnings), 'warning')} of ibnetdiscover, e.g. {warnings[0][:80]!r}; parts of the fabric "
           "may be missing"] if warnings else []),
        *([f"{label}: widths and speeds of ibsim, e.g. {options[0][:20]}, are not read; name rates with `bandwidth`"]
          if options else [])]


def _names(nodes: dict[str, _Node]) -> tuple[dict[str, str], list[str]]:
    """Return a name for each node, unique unless cards belong to one host, and the names of cards inside switches."""
    plain, aggregation, cards = {}, [], set()
    for identity, node in nodes.items():
        words = node.name.split()
        if node.kind == "Ca" and "aggregation node" in node.name.lower():
            aggregation.append(identity)
        elif node.kind == "Ca":
            is_card = len(words) > 1 and _CARD.match(words[1]) is not None
            is_card = is_card and not words[0].startswith("localhost")  # the name of several hosts
            plain[identity] = words[0] if is_card or len(words) == 1 else ""
            cards |= {identity} if is_card else set()
        else:
            managed = re.match(r"MF0;([\w.-]+):", node.name)
            plain[identity] = managed[1] if managed else re.sub(r"\s+", "-", node.name.strip())
    count = Counter((nodes[identity].kind == "Ca", name) for identity, name in plain.items())
    hosts = {name for is_host, name in count if is_host}
    return {identity: name if name and _is_own(name, nodes[identity].kind == "Ca", identity in cards, count, hosts)
            else identity for identity, name in plain.items()}, aggregation


def _is_own(name: str, is_host: bool, is_card: bool, count: Counter[tuple[bool, str]], hosts: Iterable[str]) -> bool:
    """Return whether a name tells one host or one switch."""
    return is_card or (count[is_host, name] == 1 and (is_host or name not in hosts))


def _each_cable(document: Document, nodes: dict[str, _Node]) -> Iterator[tuple[str, int, str, float | None]]:
    """Yield each cable once, from either end."""
    for identity, node in nodes.items():
        for port, (other, to, rate, number) in node.cables.items():
            if other not in nodes:
                raise GraphError(f"{document.label} line {number}: the cable ends at {other[:40]!r}, which is no node "
                                 "of the file; it may be cut off")
            back = nodes[other].cables.get(to)
            if back and back[:2] != (identity, port):
                raise GraphError(f"{document.label} line {number}: the cable ends at port {to} of {other[:40]}, whose cable "
                                 f"leads elsewhere in line {back[3]}")
            if not back or (identity, port) < (other, to):
                yield identity, port, other, rate


def _left_out(graph: Any, aggregation: list[str], label: str) -> list[str]:
    """Remove switches and hosts without cables, and return notes on what is not part of the network."""
    alone = [vertex for vertex in graph if not graph.adj[vertex]]
    graph.remove_nodes_from(alone)
    notes = []
    if aggregation:
        notes.append(f"{label}: {len(aggregation)} aggregation nodes of switches run no tasks and are left out")
    if alone:
        notes.append(f"{label}: {alone[0]} and {len(alone) - 1} others have no cable and are left out" if len(alone) > 1 else
                     f"{label}: {alone[0]} has no cable and is left out")
    return notes
