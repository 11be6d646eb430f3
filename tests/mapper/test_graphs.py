"""Graph files: every format gives the same network, and broken files are refused with name and line."""

import json
from collections import Counter
from fractions import Fraction

import networkx as nx
import pytest

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import parse_graph, read_graph
from pencilmap.model.base.errors import GraphError


def cluster():
    """Return two hosts on each of two switches, with two cables of QDR between the switches."""
    graph = nx.MultiGraph()
    for host, switch in (("n1", "s1"), ("n2", "s1"), ("n3", "s2"), ("n4", "s2")):
        graph.add_edge(host, switch, bandwidth="4 GB/s")
    graph.add_edge("s1", "s2", bandwidth="4 GB/s")
    graph.add_edge("s1", "s2", bandwidth="4 GB/s")
    nx.set_node_attributes(graph, {v: "switch" if v[0] == "s" else "host" for v in graph}, "kind")
    return graph


IDS = {"n1": "0002:c903:0000:0001", "n2": "0002:c903:0000:0002", "n3": "0002:c903:0000:0003", "n4": "0002:c903:0000:0004",
       "s1": "0008:f105:0000:0001", "s2": "0008:f105:0000:0002"}


def cables():
    """Return the two ends of every cable, each cable once."""
    return [(a, b) for a, b, _ in cluster().edges]


def as_graphml(tmp_path):
    nx.write_graphml(cluster(), tmp_path / "g.graphml")
    return (tmp_path / "g.graphml").read_bytes()


def as_edge_list(tmp_path):
    nx.write_edgelist(cluster(), tmp_path / "g.edges")
    return (tmp_path / "g.edges").read_bytes() + b"s1 {'kind': 'switch'}\ns2 {'kind': 'switch'} # as is s1\n"


def as_plain_edges(tmp_path):
    lines = [f"{a} {b} 32 Gbit/s" for a, b in cables() if {a, b} != {"s1", "s2"}]
    lines += ["s1 {'kind': 'switch'}", "s2 {'kind': 'switch'}", "s1  s2  {'bandwidth': '4 GB/s', 'cables': 2}"]
    return "\n".join(lines).encode()


def as_netloc_graphml(tmp_path):
    """Write the graph as netloc 0.5 does: the head says undirected, but each link is listed once from each end."""
    keys = "".join(f'<key id="{k}" for="{kind}" attr.name="{k}" attr.type="string"/>' for kind, names in (
        ("node", ("type", "physical_id", "description")), ("edge", ("source_port", "speed", "width"))) for k in names)
    nodes = "".join(f'<node id="{i}"><data key="type">{"Switch" if n[0] == "s" else "Host"}</data>'
                    f'<data key="physical_id">{i}</data><data key="description">\'{n} HCA-1\'</data></node>' for n,
                    i in IDS.items())
    edges = "".join(f'<edge source="{IDS[a]}" target="{IDS[b]}"><data key="source_port">{k}</data>'
                    f'<data key="speed">QDR</data><data key="width">4x</data></edge>' for k, ends in enumerate(cables())
                    for a, b in (ends, ends[::-1]))
    return (f'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
            f'<graph id="G" edgedefault="undirected">{nodes}{edges}</graph></graphml>').encode()


def as_ndat(tmp_path):
    nodes = {i: {"phy_id": i, "node_type": 1 if n[0] == "s" else 2, "desc": f"'{n} HCA-1'"} for n, i in IDS.items()}
    edges = {str(2 * k + i): {"src_node_id": IDS[ends[0]], "dest_node_id": IDS[ends[1]], "speed": "QDR", "width": "4x"}
             for k, cable in enumerate(cables()) for i, ends in enumerate((cable, cable[::-1]))}
    return json.dumps({"network_info": {"network_type": 2}, "node_info": nodes, "edge_info": edges}).encode()


def as_netloc_text(tmp_path, head="1\nfe80:0000:0000:0000\n\n"):
    nodes = [f"{i},{k},{1 if n[0] == 's' else 0},0:1,'{n} HCA-1',{n if n[0] == 'n' else ''}"
             for k, (n, i) in enumerate(IDS.items())]
    lines = []
    for name, identity in IDS.items():
        line = identity
        for other in IDS:
            n = sum({a, b} == {name, other} for a, b in cables())
            if n:
                links = ",".join(f"7,1,2,4x,QDR,8.0,'{name} - {other}',8,0:1" for _ in range(n))
                line += f",{IDS[other]},{8.0 * n},0:1,{n},{links}"
        lines.append(line)
    return (head + "\n".join([str(len(IDS)), *nodes, *lines, "part", f"{IDS['n1']},{IDS['n3']},7,8"]) + "\n").encode()


WRITERS = {"graphml": as_graphml, "edge-list": as_edge_list, "plain edge-list": as_plain_edges,
           "netloc-graphml": as_netloc_graphml, "netloc-ndat": as_ndat, "netloc": as_netloc_text,
           "early netloc": lambda tmp_path: as_netloc_text(tmp_path, "")}


def links_of(network):
    """Return the strength of every link: dict from names to cables."""
    names = {identity: name for name, identity in IDS.items()}  # netloc has no names of switches
    short = [names.get(v, v) for v in network.vertices]
    found = Counter[tuple[str, str]]()
    for a, b, c in zip(network.source, network.target, network.cables):  # some kinds have a link for each cable
        found[short[a], short[b]] += c
    return found


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("named", [False, True])
def test_every_format_gives_the_same_network(writer, named, tmp_path):
    (tmp_path / "net").write_bytes(WRITERS[writer](tmp_path))
    network = read_graph(str(tmp_path / "net"), writer.split()[-1] if named else None)
    expected = {ends: Fraction(1 + (set(ends) == {"s1", "s2"})) for cable in cables() for ends in (cable, cable[::-1])}
    assert links_of(network) == expected
    assert set(network.bandwidth) == {4e9} and set(network.vertices[:network.n_nodes]) == {"n1", "n2", "n3", "n4"}


HWLOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine">{packages}</object></topology>"""
PACKAGES = "".join(f"""<object type="Package"><object type="NUMANode" cpuset="{3 << 2 * k:#x}"/><object type="L3Cache">
<object type="Core" cpuset="{1 << 2 * k:#x}"><object type="PU"/></object><object type="Core" cpuset="{2 << 2 * k:#x}">
<object type="PU"/></object></object></object>""" for k in range(2))


@pytest.mark.parametrize("form, hosts, switches, links", [
    (None, ["core-0", "core-1", "core-2", "core-3"], ["machine-0", "l3cache-0", "l3cache-1"], 12),
    ("hwloc-numa", ["numanode-0", "numanode-1"], ["machine-0"], 4),
    ("hwloc-package", ["package-0", "package-1"], ["machine-0"], 4)])
def test_a_node_is_a_tree_whose_forks_are_switches(form, hosts, switches, links):
    network = parse_graph(Document(HWLOC.format(packages=PACKAGES).encode(), "node.xml"), form, 1e9, plain=True)
    assert list(network.vertices[:network.n_nodes]) == hosts
    assert sorted(network.vertices[network.n_nodes:]) == sorted(switches) and network.link_shape == (1, links)


BROKEN = {
    "empty": (b"", None, "is empty"),
    "an unknown format": (b"a b\n", "visio", "known are netloc-graphml"),
    "nothing known": (b"<xml/>\n", None, "not a recognised graph"),
    "a line of one name": (b"a b\nc\n", "edge-list", "line 2"),
    "a dict that is none": (b"a b {'bandwidth': }\n", "edge-list", "line 1"),
    "a call in a dict": (b"a b {'bandwidth': print(1)}\n", "edge-list", "line 1"),
    "an unknown attribute": (b"a b {'speed': 1}\n", "edge-list", "'speed' is not one of the attributes"),
    "a bandwidth in an unknown unit": (b"a b 12 Gx\n", "edge-list", "'12 Gx' is not a quantity"),
    "broken GraphML": (b"<graphml><graph>", None, "is not GraphML"),
    "GraphML without a graph": (b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>', None, "is not GraphML"),
    **{f"GraphML with {what}": (f'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>{more}</graph>'
                                "</graphml>".encode(), None, words) for what, more, words in (
        ("an end without a vertex", '<edge source="a" target="bb"/>', "edge 'a' - 'bb': no <node> has the id 'bb'"),
        ("a vertex twice", '<edge source="a" target="b"/><node id="a"/>', "vertex 'a' is given twice"),
        ("a cable of three ends", '<hyperedge/>', "has a <hyperedge>, which joins any number of vertices; write a"),
        ("another graph", '<edge source="a" target="b"/></graph><graph><node id="c"/>', "it has 2 graphs; leave one"),
        ("a graph in a vertex", '<edge source="a" target="b"/><node id="c"><graph/></node>', "it has 2 graphs; leave one"),
        ("a directed edge", '<edge source="a" target="b" directed="true"/>', "differs from edgedefault; leave directed="))},
    "broken hwloc": (b"<topology><object></topology>", None, "is not XML"),
    "hwloc without cores": (b"<topology><object type='Machine'/></topology>", None, "no object of type Core"),
    "broken ndat": (b'{"node_info": {"a": {}}, "edge_info": {}}', None, "is not netloc data: KeyError"),
    "ndat of another kind": (b'{"node_info": {"a": {"phy_id": "a", "node_type": 7}}, "edge_info": {}}', None,
                             "is not netloc data"),
    "netloc cut short": (b"1\nfe80\n\n3\na,1,0,,x,x\n", "netloc", "ends after 5 lines"),
    "a netloc node without fields": (b"1\nfe80\n\n1\na,1\na\n", "netloc", "line 5: a node has the fields"),
    "netloc links cut short": (b"1\nfe80\n\n2\na,1,0,,x,x\nb,1,0,,y,y\na,b,2.0,,3,1,2\nb\n", "netloc", "line 7 field 2"),
    "the second neighbour's links cut short": (b"1\nfe80\n\n3\na,1,0,,x,x\nb,1,0,,y,y\nc,1,0,,z,z\n"
                                               b"a,b,2.0,,1,1,2,3,4x,QDR,2,d,9,0,c,2.0,,1,1,2,3,4x,QDR\nb\nc\n", "netloc",
                                               "line 8 field 15: a neighbour has the fields"),
    "netloc without its last line": (b"1\nfe80\n\n2\na,1,0,,x,x\nb,1,0,,y,y\na\n", "netloc",
                                     "ends after 7 lines; 2 nodes need 8"),
    "a netloc link to nowhere": (b"1\nfe80\n\n1\na,1,0,,x,x\na,b,2.0,,1,1,2,3,4x,QDR,2,d,9,\n", "netloc", "ends at 'b'"),
    "a netloc link to a long name": (b"1\nfe80\n\n1\na,1,0,,x,x\na," + b"b" * 50 + b",2.0,,1,1,2,3,4x,QDR,2,d,9,\n",
                                     "netloc", f"ends at '{'b' * 40}', not one of the 1 nodes"),
    "no number of nodes": (b"one\ntwo\n", "netloc", "line 1 or line 4"),
    "a network in two parts": (b"a b\nc d\n", None, "2 parts that no cable joins: a, b (2 hosts); c, d"),
    "parts in the order of the file": (b"e f\nf g\ng h\nc d\nb d\n", None, "the cables between them, e.g. from e to c"),
    "CSV without a head": (b"a,b,12.5 GB/s\nb,a,12.5 GB/s\n", None,
                           "looks like a CSV table, which is not read as a graph"),
    "semicolons": (b"a;b\n", None, "line 1: 'a;b' looks like a line of a CSV table"),
    "a bandwidth without unit in a dict": (b"a b {'bandwidth': 100}\n", None, "line 1: bandwidth 100 has no unit"),
    "a bandwidth without unit as text": (b"a b {'bandwidth': '100'}\n", None, "'100' is not a quantity in byte/s"),
    "leaves on an unmarked vertex": (b"leaf1 h1\nleaf1 h2\nleaf2 h3\nleaf2 h4\nleaf1 spine\nleaf2 spine\n", None,
                                     "'leaf1' carries the leaf 'h1' and 2 other neighbours; give 'leaf1' the kind switch"),
    "hosts on a chain of unmarked switches": (b"h1 s1\ns1 s2\ns2 h2\n", None, "does not say which vertices are switches"),
}


@pytest.mark.parametrize("attributes, words", [
    ({"bandwidth": 1e10}, "bandwidth 10000000000.0 has no unit"),
    ({"bandwidth": "100"}, "'100' is not a quantity in byte/s"), ({"bandwidth": True}, "bandwidth True has no unit"),
    ({"latency": 1.5}, "'latency', which is not one of the attributes bandwidth, cables, weight"),
    ({"cables": 1.5}, "1.5 cables; a whole number"), ({"cables": "two"}, "'two' cables; a whole number")])
def test_graphml_whose_numbers_would_be_guesses_is_refused(attributes, words, tmp_path):
    graph = nx.Graph()
    graph.add_edge("a", "b", **attributes)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(GraphError) as error:
        read_graph(tmp_path / "g.graphml")
    assert words in str(error.value) and "'a' - 'b'" in str(error.value)


def test_defaults_of_graphml_hold_for_all_elements():
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key id="k" for="all" attr.name="kind" attr.type="string"><default>switch</default></key>
        <key id="b" attr.name="bandwidth" attr.type="string"><default>2 GB/s</default></key>
        <key id="c" for="all" attr.name="cables" attr.type="int"><default>3</default></key>
        <graph edgedefault="undirected">
        <node id="a"><data key="k">host</data></node><node id="s"/><node id="c"><data key="k">host</data></node>
        <edge source="a" target="s"/><edge source="c" target="s"><data key="b">1 GB/s</data></edge></graph></graphml>"""
    network = parse_graph(Document(text.encode(), "net"))
    assert network.vertices == ("a", "c", "s") and network.n_nodes == 2 and max(network.bandwidth) == 2e9
    assert {str(network.link_number(i)): float(c) for i, c in enumerate(network.cables)} == {
        "a->s": 3, "s->a": 3, "c->s": 1.5, "s->c": 1.5}


def test_edge_lists_lose_the_quotes_of_a_shell():
    text = b"""'a' "s 1" 2 GB/s\n"b c" 's 1' "2 GB/s"\n"s 1" {'kind': "switch"}\n"""
    network = parse_graph(Document(text, "net"))
    assert network.vertices == ("a", "b c", "s 1") and network.n_nodes == 2
    for broken in (b"'a b\n", b"'' b\n", b"'a' b '1 GB/s' {'cables': 2}\n", b"'a b'\n", b"o'hara b\n"):
        with pytest.raises(GraphError, match="is not an edge"):
            parse_graph(Document(b"x y\n" + broken, "net"))


def test_a_list_of_edges_from_both_ends_has_each_cable_once():
    texts = b"a b\nb a\nb c\nc b\nc a\na c\n", b"a b\nb c\nc a\n"
    both, one = (parse_graph(Document(text, "net"), plain=True) for text in texts)
    assert set(both.cables) == set(one.cables) == {1} and both.source.size == one.source.size == 6
    assert both.notes == ("net lists each edge from both ends; both lines are one cable",) and one.notes == ()
    assert 2 in set(parse_graph(Document(b"a b\nb a\nb c\nc a\n", "net")).cables), "else lines are parallel cables"


@pytest.mark.parametrize("case", BROKEN)
def test_broken_graph_files_are_refused(case):
    content, form, words = BROKEN[case]
    with pytest.raises(GraphError) as error:
        parse_graph(Document(content, "net.txt"), form)
    assert words in str(error.value)


def drawn(edges, default="directed"):
    """Return GraphML of unnamed switches, like the files of a drawing editor."""
    vertices = "".join(f'<node id="{v}"/>' for v in sorted({v for edge in edges for v in edge}))
    lines = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in edges)
    return Document(f'<graphml><graph edgedefault="{default}">{vertices}{lines}</graph></graphml>'.encode(), "given")


def test_edges_without_any_edge_back_are_refused_unless_they_close_rings():
    path = [("a", "b"), ("b", "c")]
    with pytest.raises(GraphError, match='has no edge back; if each edge is a cable .* write edgedefault="undirected"'):
        parse_graph(drawn(path))
    with pytest.raises(GraphError, match="edge 'b' -> 'c' has no edge back"):
        parse_graph(drawn([("a", "b"), ("b", "a"), ("b", "c")]))
    with pytest.raises(GraphError, match="edge 'a' -> 'b' has no edge back; .* write graph and -- in place of digraph"):
        parse_graph(Document(b"digraph { a -> b }", "given"))
    assert parse_graph(drawn([*path, ("c", "a")])).source.size == 3
    assert parse_graph(drawn([*path, ("c", "a")], "undirected")).source.size == 6


@pytest.mark.parametrize("text", [
    """<graphml><key id="t" for="node" attr.name="type" attr.type="string"/><graph edgedefault="undirected">
    <node id="a"><data key="t">compute</data></node><node id="b"><data key="t">compute</data></node><node
    id="s"><data key="t">router</data></node><edge source="a" target="s"/><edge source="b" target="s"/></graph></graphml>""",
    "graph { a [type=compute]; b [type=compute]; s [type=router]; t [type=router]; {a b} -- {s t} }",
    'graph { a [kind=compute]; b [kind=compute]; s [kind=router]; a -- s -- b }'])
def test_types_that_are_not_read_are_named_with_the_words_to_write(text):
    with pytest.raises(GraphError, match="compute.*kind=host or kind=switch|kind=host or kind=switch.*compute, router"):
        parse_graph(Document(text.encode(), "given"))


NODE = """<topology version="2.0"><object type="Machine" cpuset="0x0000000f" allowed_cpuset="0x0000000b">{far} <object
type="Package" cpuset="0x0000000f"><object type="Group" cpuset="0x00000003"><object type="NUMANode"
cpuset="0x00000003"/><object type="NUMANode" subtype="HBM" cpuset="0x00000003"/><object type="Core"
cpuset="0x00000001"/><object type="Core" cpuset="0x00000002"/></object><object type="Group"
cpuset="0x0000000c"><object type="NUMANode" cpuset="0x0000000c"/><object type="NUMANode" subtype="HBM"
cpuset="0x0000000c"/><object type="Core" cpuset="0x00000004"/><object type="Core"
cpuset="0x00000008"/></object></object></object></topology>"""


def test_tasks_of_a_node_sit_where_the_job_may_use_cores():
    """Core 2 is not allowed; high-bandwidth memory and memory behind CXL have no cores of their own."""
    document = Document(NODE.format(far='<object type="NUMANode" subtype="CXL" cpuset="0x0"/>').encode(), "given")
    assert parse_graph(document, "hwloc").n_nodes == 3
    assert parse_graph(document, "hwloc-numa").n_nodes == 2
