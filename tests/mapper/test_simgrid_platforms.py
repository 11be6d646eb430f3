"""SimGrid's platforms: the times of links by SimGrid's routes, counted by hand, and what is refused."""

from collections import Counter
from itertools import pairwise, permutations

import networkx as nx
import pytest

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import parse_graph, read_graph
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GraphError
from pencilmap.model.kinds.fat_tree import FatTree


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
