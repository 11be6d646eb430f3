"""Files of networks, each as its tool writes it: kind, cables, names, rates, and what a file leaves out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pencilmap.mapper.allocations.network_file import summary
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import GRAPHS, parse_graph
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


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_recognised_by_its_content(name):
    document = Document((CORPUS / name).read_bytes(), name)
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
    "platform": ("<platform version='4.1'>\n<zone id='z'>\n</platform>\n", "line 3 is not XML"),
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
