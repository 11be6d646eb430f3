"""Files of other programs are refused with the name of their format, in the same words by every reader."""

import json

import networkx as nx
import pytest

from pencilmap.mapper import allocations
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.formats import Document, Job, parse_mapping, recognise
from pencilmap.mapper.formats.foreign import DESCRIPTION, FOREIGN, GRAPH, NODES, PLACEMENT, TARGETS, foreign_format
from pencilmap.mapper.graphs import parse_graph
from pencilmap.mapper.seeds.graph import network_graph
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.machines import package_file
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from tests.fuzz.first_inputs import CORPUS, IN_PYTHON

TREE = nx.balanced_tree(2, 3)


def metis(graph, weight=None):
    """Return a graph as METIS 5's manual describes it: vertices count from 1, comments begin with a percent sign."""
    rows = [" ".join(f"{other + 1} {weight}" if weight else str(other + 1) for other in sorted(graph.adj[v])) for v in graph]
    head = f"{graph.number_of_nodes()} {graph.number_of_edges()}" + (" 001" if weight else "")
    return f"% made here\n{head}\n" + "\n".join(rows) + "\n"


SLURM = "Slurm's topology file (topology.conf, topology.yaml or slurm.conf)"
EXAMPLES = {  # name: title, text
    "metis": ("a METIS graph", metis(TREE)),
    "metis with weights": ("a METIS graph", metis(nx.cycle_graph(7), 3)),
    "metis with weights of vertices": ("a METIS graph", "3 2 010 2\n5 6 2\n5 6 1 3\n5 6 2\n"),
    "metis with a vertex alone": ("a METIS graph", "3 1\n2\n1\n\n"),
    "scotch": ("a Scotch graph (.grf)", network_graph(Torus((4, 2)))),
    "dot": ("a DOT graph (Graphviz)", "graph G {\n  a -- b [bandwidth=\"1 GB/s\"];\n}\n"),
    "dot of hwloc": ("a DOT graph (Graphviz)", "// made by hand\nstrict digraph \"my net\" {\na -> b\n}\n"),
    "gml": ("a GML graph", "\n".join(nx.generate_gml(TREE))),
    "gml with a creator": ("a GML graph", 'Creator "Topology Zoo"\ngraph [\n  directed 0\n  node [\n id 0 ]\n]\n'),
    "pajek": ("a Pajek network", "\n".join(nx.generate_pajek(TREE))),
    "matrix market": ("a Matrix Market file", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
    "simgrid": ("a SimGrid platform", "<?xml version='1.0'?>\n"
                "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\"/>\n</platform>\n"),
    "simgrid program": ("a program that builds a SimGrid platform", "/* mine */\n#include <simgrid/s4u.hpp>\n"
                        "namespace sg4 = simgrid::s4u;\n"),
    "simgrid script": ("a program that builds a SimGrid platform", "import sys\nfrom simgrid import Engine, NetZone\n"),
    "ibnetdiscover": ("the output of ibnetdiscover", "#\n# Topology file: generated on Tue Nov  3 2020\n#\nvendid=0x2c9\n"
                      "devid=0xbd36\nsysimgguid=0x2c902\nswitchguid=0x2c9(2c9)\nSwitch\t36 \"S-0002c9\"\t\t# \"sw\" port 0\n"
                      "[1]\t\"H-0002c8\"[1](2c8) \t\t# \"n1 HCA-1\" lid 4 4xQDR\n"),
    "ibnetdiscover -p": ("the output of ibnetdiscover -l or -p",
                         "SW     1  1 0x0002c9020040a090 4x QDR - CA     4  1 0x0002c903000b1b2f ( 'sw' - 'n1 HCA-1' )\n"),
    "ibnetdiscover -l": ("the output of ibnetdiscover -l or -p",
                         "Ca\t: 0x0002c903001f0a30 ports 1 devid 0x1003 vendid 0x2c9 \"n1\"\n"),
    "topograph": ("JSON of NVIDIA topograph", '{"instances": [{"id": "n1", "network_layers": ["leaf", "spine"]}]}\n'),
    "opensm": ("OpenSM's list of the subnet", "{ CA Ports:01 SystemGUID:0002c9 NodeGUID:0002c8 } { SW Ports:24 } PHY=4x\n"),
    "sinfo": ("the output of sinfo or squeue", "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
              "debug*  up 1:00 4 idle n[1-4]\n"),
    "squeue": ("the output of sinfo or squeue", "  JOBID PARTITION USER ST TIME NODES NODELIST(REASON)\n"
               "  7 debug me R 0:02 1 n1\n"),
    "show job": ("the output of scontrol show job", "JobId=7 JobName=wrap\n   UserId=me(1) JobState=RUNNING\n"
                 "   NodeList=n[1-4]\n"),
    "booksim": ("a BookSim network (anynet)", "router 0 node 0 node 1 router 1\nrouter 1 node 2 node 3\n"),
    "topology.conf": (SLURM, "# tree\nSwitchName=s0 Nodes=n[0-3]\n"),
    "block topology": (SLURM, "BlockName=b0 Nodes=n[0-3]\nBlockSizes=4\n"),
    "slurm.conf": (SLURM, "# of a site\n" * 2000 + "nodename=n[0-3] CPUs=4\n"),
    "topology.yaml": (SLURM, "---\n- topology: tree\n  tree:\n    switches: []\n"),
    "nccl": ("NCCL's or RCCL's topology of a node",
             "<system version=\"2\">\n <cpu numaid=\"0\" arch=\"x86_64\"/>\n</system>\n"),
    "nvidia-smi": ("the output of nvidia-smi topo -m or rocm-smi --showtopo",
                   "\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tSYS\t0-31\n"),
    "rocm-smi": ("the output of nvidia-smi topo -m or rocm-smi --showtopo",
                 "\n===== ROCm System Management Interface =====\n==== Weight between two GPUs ====\n"),
    "netq": ("the output of NetQ (netq show)", "\nMatching lldp records:\nHostname  Interface  Peer Hostname\n"
             "h1  eth1  leaf01\n"),
    "dimacs": ("a file of DIMACS", "c mine\np edge 3 2\ne 1 2\ne 2 3\n"),
    "dimacs paths": ("a file of DIMACS", "p sp 2 1\na 1 2 5\n"),
    "flux R": ("resources of Flux (R or its JGF)", '{"version": 1, "execution": {"R_lite": [], "nodelist": ["n[0-1]"]}}'),
    "flux jgf": ("resources of Flux (R or its JGF)",
                 '{"graph": {"nodes": [{"id": "0", "metadata": {"paths": {"containment": "/c0"}}}], '
                 '"edges": []}}'),
    "containerlab": ("YAML of another tool", "name: ft\ntopology:\n  nodes:\n    h1: {kind: linux}\n  links:\n"
                     "    - endpoints: [\"leaf1:eth1\", \"h1:eth1\"]\n"),
    "ansible": ("YAML of another tool", "---\n# mine\n- hosts: all\n  gather_facts: no\n"),
    "switches of another tool": ("YAML of another tool", "# core\nswitches:\n  core:\n    labels:\n      a.b/c: us\n"),
    "other json": ("JSON of another tool", '[\n {"cables": [{"id": "a:1-*-b:2"}]}]\n'),
    "addresses": ("a table of addresses (/etc/hosts)", "127.0.0.1 localhost\n172.20.20.20\tworker0\n"),
    "gexf": ("a GEXF graph", "\n".join(nx.generate_gexf(TREE))),
    "json": ("a JSON graph", json.dumps(nx.node_link_data(TREE), indent=2)),
    "simgrid with a comment": ("a SimGrid platform", "<?xml version='1.0'?>\n<!-- 2 -> 3 -->\n<platform version='4.1'/>\n"),
    "csv": ("a CSV table", "source,target,bandwidth\na,b,1 GB/s\n"),
    "csv with semicolons": ("a CSV table", "Host; x; y; z\nn1; 0; 0; 0\n"),
    "csv with tabs": ("a CSV table", "rank\thostname\n0\tn1\n"),
    "csv without a head": ("a CSV table", "n1,0,0\nn2,1,0\n"),
    "csv of edges": ("a CSV table", "\"h1\";\"s1\";\"12.5 GB/s\"\n\"h2\";\"s1\";\"12.5 GB/s\"\n"),
    "csv of other heads": ("a CSV table", "Id,Label,timeset\nh1,h1,\n"),
    "hwloc": ("hwloc XML", "<?xml version='1.0'?>\n<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n<topology version='2.0'/>\n"),
    "graphml": ("a GraphML graph", "\n".join(nx.generate_graphml(nx.cycle_graph(4)))),
    "machine": ("a machine file", package_file("frontera").decode()),
    "record": ("a record of measured times", (CORPUS / "record" / "one").read_text()),
    "trace": ("traffic between ranks", "pencilmap traffic 1\nmpi Open MPI v4.1.4\nranks 2\n"),
    "monitoring": ("traffic between ranks", "# POINT TO POINT\nE\t0\t1\t8 bytes\t2 msgs sent\t2,0\n"),
    "ipm": ("traffic between ranks", '<?xml version="1.0" encoding="iso-8859-1"?>\n<ipm_job_profile>\n<task >\n'),
    "intel mpi": ("traffic between ranks", "Intel(R) MPI Library Version 5.1\n\n~~~~ Process 0 of 2 on node n1\n"),
    "aps-report": ("traffic between ranks", "| Data Transfers\n|-----\n| Rank <-> Rank  Volume(MB)\n"),
    "mpip": ("a report of mpiP or CrayPat", "@ mpiP\n@ Command : ./a.out\n@ Version : 3.5\n"),
    "craypat": ("a report of mpiP or CrayPat", "CrayPat/X:  Version 7.0.1 Revision c6e1c0f  06/12/18\n"),
    "images": ("the images of a placement", "image 0-0-0 1-0-0\nrepeat 2 2-0-0\n"),
    "rankfile": ("an Open MPI rankfile", "rank 0=n1 slot=0\nrank 1=n2 slot=0\n"),
    "iblinkinfo": ("iblinkinfo output", "CA: n1 HCA-1:\n      0x0002c903000b1b2f      4    1[  ] ==( 4X 10.0 Gbps Active/  "
                   "LinkUp)==>  2 1[  ] \"sw\" ( )\n"),
    "iblinkinfo of a switch": ("iblinkinfo output", "Switch: 0x0002c90200404710 MF0;sw:SX6036/U1:\n   2  1[  ] ==(Down)\n"),
} | {f"scotch {name}": ("a Scotch target (.tgt)", f"{name} 4 4 2\n") for name in TARGETS}

READERS = {GRAPH: lambda document: parse_graph(document, bandwidth=1e9), PLACEMENT: recognise,
           NODES: lambda document: parse_table(document, Torus((4, 4, 2)))}


def description(text, path):
    path.write_text(text)
    return allocations.read_description(path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_reader_names_the_format_of_a_foreign_file(name, tmp_path):
    title, text = EXAMPLES[name]
    [form] = (form for form in FOREIGN if form.title == title)
    said = set()
    for kind in (GRAPH, PLACEMENT, NODES, DESCRIPTION):
        if kind in form.read_as:
            continue
        with pytest.raises(PencilmapError) as error:
            READERS[kind](Document(text.encode(), "given")) if kind in READERS else description(text, tmp_path / "given")
        message = str(error.value)
        assert f"given looks like {title}, which is not read as {kind}; " in message
        said.add(message.partition("; ")[2])
    assert said == {form.advice}


def test_every_format_of_the_table_has_an_example():
    assert {title for title, _ in EXAMPLES.values()} == {form.title for form in FOREIGN}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_foreign_file_has_one_format(name):
    title, text = EXAMPLES[name]
    assert [form.title for form in FOREIGN if form.looks_like(Document(text.encode(), "given"))] == [title]


OWN = {"graph": GRAPH, "description": DESCRIPTION, "placement": PLACEMENT, "table": NODES}


@pytest.mark.parametrize("kind", OWN)
def test_no_file_of_ours_is_taken_for_a_foreign_one(kind):
    files = {str(k): text.encode() for k, text in enumerate(IN_PYTHON.get(kind, ()))}
    if (CORPUS / kind).is_dir():
        files |= {path.name: path.read_bytes() for path in (CORPUS / kind).iterdir()}
    assert [name for name, content in files.items() if foreign_format(Document(content, name), OWN[kind])] == []


@pytest.mark.parametrize("given, text, looks", [
    ("bgl", "rank 0=n1 slot=0\nrank 1=n2 slot=0\n", "one of format openmpi4"),
    ("openmpi4", "%%MatrixMarket matrix coordinate\n", "a Matrix Market file"),
    ("jax", "(0,0,0)\n(1,0,0)\n", "one of format vcoordfile"),
    ("vcoordfile", "0 0 0 0\n1 0 0 0\n", "one of format bgl")])
def test_a_placement_in_a_wrong_named_format_is_refused_with_its_own(given, text, looks):
    with pytest.raises(PencilmapError, match=f"; the file looks like {looks}"):
        parse_mapping(text.encode(), "given", Job(Site(Torus((2, 1, 1)))), None, given)
