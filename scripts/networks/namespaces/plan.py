"""The network as input of `ip -batch` and `tc -batch`: lines for each namespace.

Each cable is created with both ends in their namespaces, so nothing exists outside. Links have no addresses. A node has a
single address, on a bridge without ports; on `lo`, Open MPI would skip the address and use the service network.
"""

from collections.abc import Iterator

from pencilmap.scripts.networks.namespaces.network import HEADQUARTERS, EmulatedNetwork, address, service_address

QUEUE = "8m"         # large enough that no packet is dropped before its sender's window is full
LEAST_TIMEOUT = "3s"  # packets wait in queues for longer than TCP's default of 200 ms, after which TCP would send them again


def namespaces(network: EmulatedNetwork) -> Iterator[str]:
    """Yield the input of ``ip -batch -``."""
    return (f"netns add {name}" for name in [*network.nodes, HEADQUARTERS])


def cables(network: EmulatedNetwork) -> Iterator[str]:
    """Yield the input of ``ip -n hq -batch -``: all cables, and the service network."""
    names, mtu = network.nodes, network.mtu
    yield from (f"link add {network.device(i, 1)} mtu {mtu} netns {names[a]} type veth "
                f"peer name {network.device(i, -1)} mtu {mtu} netns {names[b]}" for a, i, b in network.cables())
    yield "link add br0 type bridge"
    yield f"addr add {service_address(-1)}/16 dev br0"
    yield "link set lo up"
    yield "link set br0 up"
    for node, name in enumerate(names):
        yield f"link add mg{node} type veth peer name mg netns {name}"
        yield f"link set mg{node} master br0 up"


def node(network: EmulatedNetwork, a: int) -> Iterator[str]:
    """Yield the input of ``ip -n NODE -batch -``: addresses, links up, a route to every other host."""
    yield "link set lo up"
    yield "link add node type bridge"
    yield f"addr add {address(a)}/32 dev node"
    yield "link set node up"
    yield f"addr add {service_address(a)}/16 dev mg"
    yield "link set mg up"
    yield from (f"link set {network.device(i, direction)} up" for i, direction, _ in network.ports(a))
    for b in range(network.network.n_nodes):
        if hop := network.next_hop(a, b):
            i, direction, via = hop
            yield (f"route add {address(b)}/32 via {address(via)} dev {network.device(i, direction)} onlink "
                   f"src {address(a)} rto_min {LEAST_TIMEOUT}")


def shaping(network: EmulatedNetwork, a: int) -> Iterator[str]:
    """Yield the input of ``tc -n NODE -batch -``: the rate of every link."""
    return (f"qdisc add dev {network.device(i, direction)} root tbf rate {network.rate_bits_per_s}bit "
            f"burst {network.burst_bytes} limit {QUEUE}" for i, direction, _ in network.ports(a))


WINDOW = "4096 262144 262144"
SETTINGS = {  # below /proc/sys/net, in every namespace
    "ipv4/conf/all/rp_filter": "0",              # the routes of the two directions differ
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/conf/all/send_redirects": "0",
    "ipv4/conf/default/send_redirects": "0",
    "ipv4/conf/all/accept_redirects": "0",
    "ipv4/tcp_congestion_control": "reno",       # shares a link evenly; the inherited algorithm may not
    "ipv4/tcp_slow_start_after_idle": "0",
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/tcp_early_retrans": "0",               # no probes for packets that only wait in a queue
    "ipv4/tcp_recovery": "0",
    "ipv4/tcp_reordering": "100",                # two processors may reorder packets, routes do not
    "ipv4/tcp_max_reordering": "1000",
    "ipv4/tcp_wmem": WINDOW,
    "ipv4/tcp_rmem": WINDOW,
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
}
FORWARDING = {"ipv4/ip_forward": "1"}  # in the nodes, not in the headquarters
