"""netloc exports: hosts and switches of a network as GraphML, or as the XML of hwloc 2.0 to 2.9.

hwloc no longer has netloc (open-mpi/hwloc #590), but exports remain. An export gives hosts without torus coordinates: these
come from the names, or from a separate table. GraphML: netloc 0.5, ``netloc_topology_export_graphml`` (read by networkx);
XML: elements ``node`` with ``type`` and ``name`` (hwloc 2, netloc/topology.c).
"""

import re
from io import BytesIO
from xml.etree import ElementTree

from pencilmap.mapper.allocations.found import NO_TORUS, Fact, Found, shortened
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.reading import check_xml, parse_xml
from pencilmap.model.base.units import counted

HOSTS = ("host", "ca", "1", "netloc_node_type_host")


def looks_like(document: Document) -> bool:
    head = document.text[:4000]
    if "<graphml" in head:  # other graphs are networks without types of nodes
        return (re.search(r"""attr\.name=["']type["']""", head) is not None
                and re.search(r">\s*(host|ca|netloc_node_type_host)\s*</data>", document.text, re.IGNORECASE) is not None)
    return bool(re.search(r"<(network|netloc|subnet|machine|topology)\b[^>]*>.{0,2000}?<node\b", head, re.DOTALL))


def find(document: Document) -> Found:
    hosts, switches = _graphml(document) if "<graphml" in document.text[:4000] else _xml(document)
    if not hosts:
        raise document.refuse("has no node of type host")
    facts = (Fact("network", f"{counted(len(hosts), 'host')}, {counted(switches, 'switch')}, no coordinates",
                  document.label),
             Fact("hosts", shortened(hosts), document.label))
    return Found(facts, hosts=tuple(hosts), missing=f"{NO_TORUS}give this file with `network`" if switches else None)


def _graphml(document):
    import networkx as nx

    try:
        check_xml(document.text)
        graph = nx.read_graphml(BytesIO(document.text.encode("utf-8")))
    except (nx.NetworkXError, ElementTree.ParseError, ValueError, KeyError, RecursionError) as error:
        raise document.refuse(f"is not GraphML: {str(error)[:120]}") from error
    return _sorted_out((str(name), data) for name, data in graph.nodes(data=True))


def _xml(document):
    try:
        root = parse_xml(document.text)
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        line, column = getattr(error, "position", (None, -1))
        raise document.refuse(f"is not XML: {error}", line, column + 1) from error
    return _sorted_out((element.get("mac_addr", "?"), element.attrib) for element in root.iter("node"))


def _sorted_out(nodes):
    """Return the names of the hosts, each once, and the number of other nodes."""
    hosts, others = {}, 0
    for identity, data in nodes:
        low = {str(key).lower(): str(value) for key, value in data.items()}
        kind = next((low[k] for k in ("type", "node_type", "kind") if k in low), "")
        name = next((low[k] for k in ("name", "hostname", "description", "label") if low.get(k)), identity)
        if kind.lower() in HOSTS:
            hosts[name.split()[0] if name.split() else identity] = True
        else:
            others += 1
    return tuple(hosts), others
