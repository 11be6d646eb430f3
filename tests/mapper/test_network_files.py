"""Files of networks, each as its tool writes it: kind, cables, names, rates, and what a file leaves out."""

import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise, permutations
from pathlib import Path

import networkx as nx
import pytest

from pencilmap.mapper.allocations.network_file import summary
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import GRAPHS, parse_graph, read_graph
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GraphError, PencilmapError
from pencilmap.model.kinds.fat_tree import FatTree
from pencilmap.scripts.command_line.job_network import level_lines
from tests.patience import patience

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "graph"
FABRIC = (CORPUS / "ibnetdiscover").read_text()
TUX = tuple(f"tux{i}" for i in range(12))


def network(name, bandwidth=None, **options):
    return parse_graph(Document((CORPUS / name).read_bytes(), name), None, bandwidth, options)


SAMPLES = {  # file: format that recognises it
    "slurm": "slurm", "slurm-blocks": "slurm", "slurm-shown": "slurm", "slurm-shown-blocks": "slurm", "slurm-yaml": "slurm",
    "slurm-addresses": "slurm-addresses", "topograph": "topograph", "topograph-slurm": "slurm",
    "ibnetdiscover": "ibnetdiscover", "scotch": "scotch", "scotch-tree": "scotch", "metis": "metis", "dot": "dot",
    "simgrid": "simgrid", "simgrid-zones": "simgrid", "simgrid-tree": "simgrid", "simgrid-torus": "simgrid",
    "graphml": "graphml", "hwloc": "hwloc", "netloc": "netloc", "ndat": "netloc-ndat", "netlocml": "netloc-graphml",
    "edges": "edge-list"}


@pytest.mark.parametrize("name, text", [*((name, None) for name in SAMPLES), *(("edges", text) for text in (
    b"1 2\n2 1\n", b"0 1 3.0\n", b"a b # c\n", b"topology b\n", b"2\t1\n"))])
def test_a_file_is_recognised_by_its_content(name, text):
    document = Document(text or (CORPUS / name).read_bytes(), name)
    first = next(form for form, row in GRAPHS.items() if form != "edge-list" and row.looks_like(document)) \
        if name != "edges" else "edge-list"
    assert first == SAMPLES[name] and parse_graph(document, bandwidth=1e9).n_nodes > 1


@pytest.mark.parametrize("name", ["slurm", "slurm-shown", "slurm-yaml", "slurm-addresses", "topograph", "topograph-slurm"])
def test_a_file_of_leaves_and_a_spine_is_a_fat_tree(name):
    tree = network(name)
    assert isinstance(tree, FatTree) and tree.vertices[:12] == TUX
    assert tree.vertices[12:] == ("leaf0", "leaf1", "leaf2", "spine") and tree.link_classes == ("host", "up")
    assert [(level.name, level.unit[:12].tolist()) for level in tree.levels] == [("leaf", [0] * 4 + [1] * 4 + [2] * 4)]
    assert tree.cables_up[0].tolist() == [4, 4, 4] and tree.bandwidth is None


@pytest.mark.parametrize("name", ["slurm-blocks", "slurm-shown-blocks"])
def test_blocks_are_leaves_under_one_switch(name):
    tree = network(name)
    assert isinstance(tree, FatTree) and tree.vertices == (*TUX, "block1", "block2", "block3", "top")


@pytest.mark.parametrize("name", ["slurm", "slurm-blocks", "slurm-addresses", "topograph", "scotch-tree"])
@pytest.mark.parametrize("options, cables", [({}, 4), ({"taper": "2"}, 2), ({"up": "3"}, 3), ({"taper": "3"}, 2)])
def test_numbers_of_cables_that_a_file_leaves_out(name, options, cables):
    tree = network(name, **options)
    assumed = f"as many cables up as down are assumed for {name}"
    assert set(tree.cables_up[0].tolist()) == {cables} and (assumed in " ".join(tree.notes)) == (not options)


@pytest.mark.parametrize("options, leaf, pod, told", [
    ({}, 4, 8, True), ({"taper": "2"}, 2, 2, True), ({"taper": "2", "core-taper": "1"}, 2, 4, False),
    ({"up": "3"}, 3, 6, True), ({"up": "3", "core-taper": "3"}, 3, 2, False), ({"core-taper": "4"}, 4, 2, True)])
def test_levels_above_the_leaves_have_a_taper_of_their_own(options, leaf, pod, told):
    lines = [f"SwitchName=l{k} Nodes=n[{4 * k}-{4 * k + 3}]" for k in range(4)]
    lines += ["SwitchName=p0 Switches=l[0-1]", "SwitchName=p1 Switches=l[2-3]", "SwitchName=t Switches=p[0-1]"]
    tree = parse_graph(Document("\n".join(lines).encode() + b"\n", "given"), "slurm", 1e9, options)
    assert [set(cables.tolist()) for cables in tree.cables_up] == [{leaf}, {pod}] and bool(tree.notes) == told


MIXED = """SwitchName=root Switches=high,low
SwitchName=high Switches=p2
SwitchName=low Switches=a,b
SwitchName=p2 Switches=c,d
SwitchName=a Nodes=n[1-4]
SwitchName=b Nodes=n[5-8]
SwitchName=c Nodes=n[9-12]
SwitchName=d Nodes=n[13-16]
"""


def test_a_cable_past_a_level_adds_no_switch_to_any_count():
    tree = parse_graph(Document(MIXED.encode(), "net"))
    about = tree.as_dict()
    assert about["switches"] == 8 and about["levels"] == {"leaf": 4, "pod": 2, "level3": 1}
    assert about["links"] == 2 * (16 + 16 + 16 + 8), "of hosts, of leaves, of p2 and low, of high"
    assert summary(tree) == "a fat tree of 16 hosts, 8 switches, 4 leaves, 2 pods, 1 level3"
    assert "  1 level3, 8 cables upwards each (assumed)" in list(level_lines(tree))
    low, implied, root = (tree.vertices.index(name) for name in ("low", "low+1", "root"))
    parts = [i for i, ends in enumerate(zip(tree.source, tree.target)) if set(ends) in ({low, implied}, {implied, root})]
    assert {str(tree.link_number(i)) for i in parts} == {"low->root", "root->low"}
    cut = parse_graph(Document(MIXED.replace(" Nodes=n[13-16]", "").encode(), "net"))  # d is no leaf, so this is no fat tree
    assert not isinstance(cut, FatTree) and cut.as_dict()["switches"] == 8


PARTS = {
    "topology.conf": "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-6]\nSwitchName=c Nodes=n[7-8]\n"
                     "SwitchName=d Switches=b,c\n",
    "topology.yaml": "- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: 'n[1-4]'}\n"
                     "    - {switch: b, nodes: 'n[5-8]'}\n",
    "net.edges": "s {'kind': 'switch'}\n" + "".join(f"n{i} s\n" for i in range(1, 5)) + "n5 n6\nn6 n7\nn7 n8\nn8 n5\n",
    "net.dot": "graph g { s [kind=switch]; s -- {n1 n2 n3 n4}; t [kind=switch]; t -- {n5 n6 n7 n8} }",
    "addresses.txt,slurm-addresses": "".join(f"a.n{i}\n" for i in range(1, 5)) + "".join(f"b.n{i}\n" for i in range(5, 9)),
    "net.json": json.dumps({"instances": [{"id": f"n{i}", "network_layers": ["ab"[i > 4]]} for i in range(1, 9)]}),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_job_in_one_part_of_a_file_has_this_part_as_its_network(name, tmp_path):
    path = str(tmp_path / name)
    Path(path.partition(",")[0]).write_text(PARTS[name])
    for hosts, n in (("n[1-3]", 3), ("n[5,8]", 2)):
        where = setting(network=path, environ={"SLURM_JOB_NODELIST": hosts})
        assert (where.network.n_nodes, where.n_slots) == (4, n)
        assert any("2 parts that no cable joins; the network is the part of the nodes of this job" in note
                   for note in where.notes)
    (tmp_path / "list").write_text("n6\nn7\n")
    (tmp_path / "lists").write_text("n[6-7]\n")
    for nodes in (tmp_path / "list", tmp_path / "lists", "n[6-7]"):
        assert setting(network=path, nodes=nodes).network.host_names[1] == "n6"
    for environ, words in (({}, r"n1, n2, \.\.\. \(4 hosts\); n5"),
                           ({"SLURM_JOB_NODELIST": "x"}, "list the nodes of one part"),
                           ({"SLURM_JOB_NODELIST": "n[4,8]"}, "lie in 2 of them: n4 in part 1, n8 in part 2")):
        with pytest.raises(GraphError, match=words):
            setting(network=path, environ=environ)


def test_a_fabric_tells_its_cables_and_rates():
    tree = network("ibnetdiscover")
    assert isinstance(tree, FatTree)
    assert tree.vertices == ("cn01", "cn02", "cn03", "cn04", "leaf0", "leaf1", "spine0", "spine1")
    assert tree.cables_up[0].tolist() == [4, 4] and tree.switches == (1, 2) and tree.bandwidth == (12.5e9, 25e9)
    assert tree.notes == ("ibnetdiscover: 1 aggregation nodes of switches run no tasks and are left out",
                          "recognised: fat tree, 2 leaves of 2, taper 0.5")


def test_warnings_among_the_lines_of_a_fabric_are_left_out_with_a_note():
    lines = FABRIC.split("\n")
    lines[6:6] = ["ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)"]
    lines[2:2] = ["src/query_smp.c:227; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out"]
    tree = parse_graph(Document("\n".join(lines).encode(), "net"))
    assert tree.vertices == network("ibnetdiscover").vertices
    assert any("2 warnings of ibnetdiscover, e.g. 'src/query_smp.c:227;" in note for note in tree.notes)


def test_cards_without_the_name_of_a_host_are_hosts_of_their_own_with_a_note():
    lines = [f'Ca 1 "H-{i}" # "{name}"\n[1](0) "S-1"[{i}] # lid 1 4xHDR' for i, name in enumerate(
        ["n1 mlx5_0", "n1 mlx5_1", "localhost mlx5_0", "localhost mlx5_0", "MT4129 ConnectX7 Mellanox", "n2 HCA-1"], 1)]
    fabric = parse_graph(Document("\n".join([*lines, 'Switch 40 "S-1" # "leaf"']).encode(), "net"))
    assert fabric.vertices == ("n1", "H-3", "H-4", "H-5", "n2", "leaf")
    assert any("3 cards whose description names no host, e.g. 'localhost mlx5_0', are taken for a host each" in note
               for note in fabric.notes)
    with pytest.raises(GraphError, match="has no card of a host .Ca. with a cable; run ibnetdiscover for the whole fabric"):
        parse_graph(Document(b'Ca 1 "H-1" # "n1 HCA-1"\nSwitch 40 "S-1" # "leaf"\n', "net"))


def test_a_file_for_ibsim_is_a_fabric():
    text = """Switch 8 "S1"\n[1] "H1"[1]\n[2]\t"H2" [1]\n[7] "S2"[7]\n[8] "S2"[8] w=1\n
Switch 8 "S2"\n[1] "H3"[1]\n[7] "S1"[7]\n[8] "S1"[8]\n
Hca 2 "H1"\n[1] "S1"[1]\n\nHca 2 "H2"\n[1] "S1"[2]\n\nHca 2 "H3"\n[1] "S2"[1]\n"""
    fabric = parse_graph(Document(text.encode(), "net"))
    assert fabric.vertices == ("H1", "H2", "H3", "S1", "S2") and sum(fabric.cables) == 2 * 5
    assert any("widths and speeds of ibsim, e.g. w=1, are not read" in note for note in fabric.notes)


DAMAGED = {
    "two trees": ("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\n",
                  "2 parts that no cable joins: n0, n1, ... .4 hosts.; n4, n5"),
    "two above": ("SwitchName=a Nodes=n0\nSwitchName=b Switches=a\nSwitchName=c Switches=a\nSwitchName=d Switches=b,c\n",
                  "line 3: switch a is below both b and c"),
    "no switches": ("NodeName=n[0-3] CPUs=4\n", "names no switches and no blocks"),
    "shortened": ("SwitchName=a Level=0 LinkSpeed=1 Nodes=n[0-3],n...\n", "line 1: ends in ..., for scontrol has shortened"),
    "unknown child": ("SwitchName=a Nodes=n0\nSwitchName=b Switches=a,x\n", "line 2: switch b has an invalid child x"),
    "host and switch": ("SwitchName=a Nodes=b\nSwitchName=b Nodes=n1\nSwitchName=c Switches=a,b\n",
                        "line 1: b is both a host and a switch"),
    "yaml cycle": ("- topology: t\n  tree:\n    switches: [{switch: a, children: b}, {switch: b, children: a}]\n",
                   "is below itself"),
    "yaml ring": ("- topology: t\n  ring:\n    rings: [{ring: a, nodes: 'n[0-3]'}]\n", "no topology of kind tree or block"),
    "topograph": ('{"instances": [{"id": "n1", "network_layers": ["a"]},\n {"network_layers": ["a"]}]}',
                  "is not topograph's JSON: KeyError: 'id'"),
    "topograph cut": ('{"instances": [\n{"id": "n1", "network_layers": ["a"', "line 2 is not topograph's JSON"),
    "fabric cut": (FABRIC[:900], "is no node of the file; it may be cut off"),
    "fabric line": (FABRIC.replace("[20]", "[2o]", 1), "line 14: "),
    "fabric contradicts": (FABRIC.replace('"S-b8599f0300000002"[1]', '"S-b8599f0300000002"[3]', 1),
                           "whose cable leads elsewhere"),
    "target": ("tleaf 2 4\n", "line 1: 'tleaf 2 4' is no target that is a network"),
    "other target": ("deco 0 3\n", "line 1: 'deco 0 3' is no target that is a network"),
    "large target": ("tleaf 2 60000 1 60000 1\n", "hosts is too large"),
    "dot open": ("graph g {\n a -- b;\n", "line 1: the graph that begins here has no end"),
    "dot arrow": ("graph g {\n a -> b;\n}\n", "line 2: -> in an undirected graph"),
    "dot speed": ("graph g {\n a -- b [speed=3];\n}\n", "line 2: the edge has 'speed'"),
    "dot bare": ("graph g {\n a -- b [bandwidth=3];\n}\n", "line 2: the edge: bandwidth 3.0 has no unit"),
    "dot html": ("graph g {\n a [label=<b>];\n}\n", "line 2: '<b>];' is not read in DOT"),
    "platform": ("<platform version='4.1'>\n<zone id='z'>\n</platform>\n", "line 3 column 3: is not XML"),
    "cluster": ("<platform><cluster id='c' radical='0-3' bw='1Bps' topology='DRAGONFLY' topo_parameters='1,1;1,1;1,1;1'/>"
                "</platform>", "cluster c has topology DRAGONFLY"),
    "cluster size": ("<platform><cluster id='c' radical='0-3' bw='1Bps' topology='TORUS' topo_parameters='4,4'/></platform>",
                     "cluster c has 4 hosts, and its topology 16"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused_with_its_line(case):
    text, words = DAMAGED[case]
    with pytest.raises(PencilmapError, match=words.replace("[", r"\[").replace("...", r"\.\.\.")) as error:
        parse_graph(Document(text.encode(), "net"))
    assert str(error.value).startswith("net") and "\n" not in str(error.value)


@pytest.mark.parametrize("options, words", [
    ({"taper": "0"}, "taper=0 is not a whole number .*up=CABLES"), ({"up": "x"}, "up=x is not a whole number"),
    ({"taper": "2", "up": "2"}, "one of both"), ({"tapir": "2"}, "is no option")])
def test_options_of_a_file_are_checked(options, words):
    with pytest.raises(GraphError, match=words):
        network("slurm", **options)
    with pytest.raises(GraphError, match="its cables are in the file"):
        network("ibnetdiscover", taper="2")


LARGE = """
import resource, sys, time
from pencilmap.scripts.command_line.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(end.code, used.ru_maxrss)
"""


@pytest.mark.thorough
def test_the_launch_order_of_80_000_tasks_on_a_dragonfly_of_a_file_needs_little_memory(tmp_path):
    """Hosts are taken together at their switch; host by host there would be a matrix of 10,000 x 10,000."""
    groups, switches, hosts = range(25), range(20), range(20)
    lines = [f"r{g}-{r} {{'kind': 'switch'}}" for g in groups for r in switches]
    lines += [f"h{g}-{r}-{h} r{g}-{r} 25 GB/s" for g in groups for r in switches for h in hosts]
    lines += [f"r{g}-{r} r{g}-{s} 25 GB/s" for g in groups for r in switches for s in range(r)]
    lines += [f"r{g}-{(4 * f + k) % 20} r{f}-{(4 * g + k) % 20} 25 GB/s" for g in groups for f in range(g) for k in range(4)]
    (tmp_path / "dragonfly.edges").write_text("\n".join(lines) + "\n")
    words = ["predict", "--network", "dragonfly.edges", "-t", "8", "-g", "250x320", "-p", "default", "--fft", "4096"]
    done = subprocess.run([sys.executable, "-c", LARGE, *words], cwd=tmp_path, capture_output=True, text=True,
                          timeout=patience(60))
    status, kilobytes = done.stdout.splitlines()[-1].split()
    assert status in ("0", "None"), done.stderr
    assert int(kilobytes) < 2 << 20 and "Grid 250x320" in done.stdout


def platform(text):
    return f'<?xml version="1.0"?>\n<platform version="4.1">{text}</platform>\n'


def cluster(name="c", radical="0-3", bw="1GBps", **given):
    rest = " ".join(f'{key}="{value}"' for key, value in given.items())
    return f'<cluster id="{name}" prefix="{name}" suffix="" radical="{radical}" speed="1Gf" bw="{bw}" lat="1us" {rest}/>'


def link(name, rate, policy="SHARED"):
    return f'<link id="{name}" bandwidth="{rate}GBps" latency="1us" sharing_policy="{policy}"/>'


def route(src, dst, *links, gates=None, **given):
    """``links`` are names, with + or - for the direction of a link in two."""
    ways = {"+": ' direction="UP"', "-": ' direction="DOWN"'}
    over = "".join(f'<link_ctn id="{each.strip("+-")}"{ways.get(each[-1], "")}/>' for each in links)
    ends = f'src="{src}" dst="{dst}" ' + " ".join(f'{key}="{value}"' for key, value in given.items())
    gateways = gates and f'gw_src="{gates[0]}" gw_dst="{gates[1]}"'
    return f"<zoneRoute {ends} {gateways}>{over}</zoneRoute>" if gates else f"<route {ends}>{over}</route>"


def zone(content, routing="Full", name="w"):
    return f'<zone id="{name}" routing="{routing}">{content}</zone>'


def hosts(*names):
    return "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)


PAIR = cluster("a") + cluster("b")
GATES = ("aa_router", "bb_router")
ROWS = hosts("a", "b", "c", "d") + '<router id="r"/><router id="s"/>'
PEERS = "".join(f'<peer id="p{i}" coordinates="{i} 1 1" speed="1Gf" bw_in="{i + 1}GBps" bw_out="{i + 2}GBps"/>'
                for i in range(3))
TREE, TORUS = ({"topology": topology} for topology in ("FAT_TREE", "TORUS"))
CABINETS = ('<cabinet id="q" prefix="q" suffix="" radical="0-2" speed="1Gf" bw="1GBps" lat="1us"/>'
            '<cabinet id="t" prefix="t" suffix="" radical="0" speed="1Gf" bw="500MBps" lat="1us"/>'
            '<backbone id="bb" bandwidth="2GBps" latency="1us"/>')
EXPLICIT = hosts("a", "b", "c") + "".join(link(name, 1, "SPLITDUPLEX") for name in "abc") + link("m", 1)

# each host sends 1 GB to each other host: seconds of the busiest link
TIMES = {
    "a star of 4": (cluster(), 3),
    "a backbone carries all 12 messages": (cluster(bb_bw="1GBps", bb_lat="1us"), 12),
    "a backbone as a pipe": (cluster(bb_bw="1GBps", bb_lat="1us", bb_sharing_policy="FATPIPE"), 3),
    "a shared link carries 3 messages in and 3 out": (cluster(sharing_policy="SHARED"), 6),
    "a limiter, too": (cluster(limiter_link="1.5GBps"), 4),
    "limiter, backbone and shared links": (
        cluster(limiter_link="4GBps", bb_bw="4GBps", bb_lat="1us", sharing_policy="SHARED"), 6),
    "numbers of a radical": (cluster(radical="0-1,7", bw="8Gbps"), 2),
    "a tree: 8 messages leave each leaf": (cluster(radical="0-15", **TREE, topo_parameters="2;4,4;1,1;1,1"), 48),
    "a ring of 5: one and two hops": (cluster(radical="0-4", **TORUS, topo_parameters="5"), 3),
    "a ring of 2 with one cable": (cluster(radical="0-1", **TORUS, topo_parameters="2", sharing_policy="SHARED"), 2),
    "two clusters: 16 messages each way over a shared link": (
        zone(PAIR + link("up", 2) + route("a", "b", "up", gates=GATES)), 16),
    "over two directions": (zone(PAIR + link("up", 2, "SPLITDUPLEX") + route("a", "b", "up+", gates=GATES)), 8),
    "over a link each way": (zone(PAIR + link("f", 1) + link("g", 4)
                                  + route("a", "b", "f", gates=GATES, symmetrical="NO")
                                  + route("b", "a", "g", gates=GATES[::-1], symmetrical="NO")), 16),
    "over a pipe": (zone(PAIR + link("f", 9, "FATPIPE") + route("a", "b", "f", gates=GATES)), 7),
    "zones through a zone": (zone(PAIR + cluster("d", "0") + link("f", 1, "SPLITDUPLEX") + link("g", 1, "SPLITDUPLEX")
                                  + route("a", "b", "f+", gates=GATES)
                                  + route("b", "d", "g-", gates=("b0", "dd_router")), "Floyd"), 20),
    "one way fast, one way slow": (zone(hosts("a", "b") + link("f", 1) + link("g", 0.1) + route(
        "a", "b", "f", symmetrical="no") + route("b", "a", "g", symmetrical="no")), 10),
    "routers, shared links": (zone(ROWS + "".join(link(name, 1) for name in "abcdm") + "".join(
        route(name, end, name) for name, end in zip("abcd", "rrss")) + route("r", "s", "m"), "Floyd"), 8),
    "the same by Dijkstra, two directions": (zone(ROWS + "".join(link(name, 1, "SPLITDUPLEX") for name in "abcdm") + "".join(
        route(name, end, f"{name}+") for name, end in zip("abcd", "rrss")) + route("r", "s", "m-"), "DijkstraCache"), 4),
    "a link in several routes": (zone(EXPLICIT + route("a", "b", "a+", "m", "b-") + route("a", "c", "a+", "m", "c-")
                                      + route("b", "c", "b+", "m", "c-")), 6),
    "peers": (zone(PEERS, "Vivaldi"), 2),
    "cabinets on a backbone": (zone(CABINETS, "Cluster"), 6),
    "links of hosts, of which one is shared": (zone(
        hosts("a", "b") + link("a", 1, "SPLITDUPLEX") + link("b", 1) + '<host_link id="a" up="a_UP" down="a_DOWN"/>'
        '<host_link id="b" up="b" down="b"/>', "Cluster"), 2),
    "an old name of a zone, and a host as the gateway of 12 messages of 3 others": (
        f'<AS id="w" routing="Full">{PAIR}{link("up", 4)}<ASroute src="a" dst="b" gw_src="a0" gw_dst="bb_router">'
        '<link_ctn id="up"/></ASroute></AS>', 15)}


def slowest_link(network):
    """Return seconds of the busiest link if each host sends 1 GB to each other; all shortest paths are alone."""
    graph = nx.DiGraph(zip(network.source.tolist(), network.target.tolist()))
    number = {ends: i for i, ends in enumerate(zip(network.source.tolist(), network.target.tolist()))}
    sent = Counter()
    for a, b in permutations(range(network.n_nodes), 2):
        path, = nx.all_shortest_paths(graph, a, b)
        sent.update(number[ends] for ends in pairwise(path))
    classes = network.class_of_link.tolist() if network.class_of_link is not None else [0] * len(number)
    return max(count * 1e9 / float(network.cables[i] * network.bandwidth[classes[i]]) for i, count in sent.items())


@pytest.mark.parametrize("name", TIMES)
def test_links_of_a_platform_carry_what_simgrid_has_them_carry(name):
    text, seconds = TIMES[name]
    network = read(text)
    assert slowest_link(network) == pytest.approx(seconds)
    assert isinstance(network, FatTree) == name.startswith("a tree")


def read(text):
    return parse_graph(Document(platform(text).encode(), "net"))


def test_a_backbone_limits_a_transform(tmp_path):
    """Rows of 4 send 3/4 of the 268.4 MB over it, columns of 2 send half."""
    (tmp_path / "net").write_text(platform(cluster(radical="0-7", bb_bw="1GBps", bb_lat="1us")))
    found, = setting(network=str(tmp_path / "net"), fft="256").predictions("2x4", ["default"])
    assert found.time_s == pytest.approx(0.3355, rel=1e-3)
    assert "that several routes or both directions share" in read_graph(tmp_path / "net").notes[0]


def test_what_changes_hosts_alone_is_noted():
    text = zone('<host id="a" speed="1Gf" speed_file="x"/>' + hosts("b") + link("l", 1) + route("a", "b", "l"))
    assert "changes of hosts and latencies with the time in net are passed over: speed_file" in read(text).notes


TWO = hosts("a", "b") + link("l", 1)
REFUSED = {
    "a slow pipe": (cluster(bb_bw="100MBps", bb_lat="1us", bb_sharing_policy="FATPIPE"),
                    'from c0 to c1 (c_link_0_UP, c_backbone, c_link_1_DOWN) is limited by a link with sharing_policy="'),
    "a slow pipe between zones": (zone(PAIR + link("f", 0.2, "FATPIPE") + route("a", "b", "f", gates=GATES)), "FATPIPE"),
    "no link": (zone(hosts("a", "b") + link("f", 1, "FATPIPE") + route("a", "b", "f")),
                "between hosts a and b is no link whose bandwidth messages share"),
    "no route": (zone(TWO, "None"), "zone w has no route from a to b"),
    "one way": (zone(TWO + route("a", "b", "l", symmetrical="NO")), "zone w has no route from b to a"),
    "two ways": (zone(hosts(*"abcd") + "".join(link(f"l{end}", 1) for end in "abcd") + "".join(
        route(a, b, f"l{a}") for a, b in zip("abcd", "bcda")), "Floyd"),
        "two ways from a to c have the fewest links of zone w, and SimGrid takes one of them"),
    "a detour": (zone(hosts("a", "b", "c") + "".join(link(end, 1) for end in "klm") + route("a", "b", "k", "l", "m")
                      + route("a", "c", "k") + route("c", "b", "m")), "from a to b (k, l, m) is not the only shortest"),
    "a torus": (cluster(topology="TORUS", topo_parameters="2,2"), "give 2x2 as `network`"),
    "a fat tree": (cluster(radical="0-15", **TREE, topo_parameters="2;4,4;1,2;1,2"), "give the text fat-tree:..."),
    "a dragonfly": (cluster(topology="DRAGONFLY", topo_parameters="1,4;2,1;2,1;1"), "give the text dragonfly:..."),
    "a bypass": (zone(TWO + route("a", "b", "l") + '<bypassRoute src="a" dst="b"/>'), "<bypassRoute> is not read; give"),
    "wifi": (zone("", "Wifi"), "zone w has the routing 'Wifi'; Full, Floyd"),
    "a wifi link": (zone(link("l", 1, "WIFI")), "hosts on WIFI have no links of their own"),
    "a profile": (zone('<link id="l" bandwidth="1Bps" latency="0" bandwidth_file="x"/>'), "with the time (bandwidth_file)"),
    "a trace": ('<trace_connect kind="BANDWIDTH" trace="t" element="l"/>' + zone(TWO), "'l' changes with the time (BANDW"),
    "an include": (zone('<include file="x"/>'), "write the elements of the other file in its place"),
    "a direction too few": (zone(TWO + link("d", 1, "SPLITDUPLEX") + route("a", "b", "d")), "'d' with direction NONE"),
    "an unknown link": (zone(TWO + route("a", "b", "x")), "names link 'x', which is not defined before it"),
    "a route twice": (zone(TWO + route("a", "b", "l") + route("b", "a", "l")), "from b to a is given twice"),
    "a wrong gateway": (zone(PAIR + link("l", 1) + route("a", "b", "l", gates=GATES[::-1])), "ends at 'a' with the gateway"),
    "an end elsewhere": (zone(PAIR + link("l", 1) + route("a0", "b0", "l")), "ends at 'a0', which is no host, router"),
    "a name twice": (zone(hosts("a", "a")), "'a' is defined twice"),
    "a rate": (cluster(bw="fast"), "bw 'fast' of <cluster> is no bandwidth"),
    "too many": (cluster(radical="0-65536"), "with <cluster> c it has more than the 65536 hosts"),
    "a long line": (zone(hosts(*map(str, range(700))) + "".join(link(f"l{i}", 1) for i in range(699)) + "".join(
        route(i, i + 1, f"l{i}") for i in range(699)), "Floyd"), "700 hosts at different places are too many to compare"),
    "too many shared": (cluster(radical="0-32768", sharing_policy="SHARED"), "32769 links are each shared"),
    "processes": ('<actor host="a" function="f"/>', "it has 0 outermost zones"),
    "two zones": (cluster("a") + cluster("b"), "it has 2 outermost zones")}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_graph_cannot_say_is_refused_by_name(name):
    text, message = REFUSED[name]
    with pytest.raises(GraphError) as error:
        read(text)
    assert message in str(error.value)


@pytest.mark.slow
def test_a_cluster_of_65536_hosts_is_read_in_time():
    assert read(cluster(radical="0-65535", bb_bw="10GBps", bb_lat="1us")).n_nodes == 65536
