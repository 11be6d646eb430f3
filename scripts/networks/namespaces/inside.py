"""The whole run, as a program in a box: read a job from standard input, write JSON lines to standard output.

The lines are ``{"progress": text}``, ``{"run": ...}`` for each run of the job, and last ``{"end": true}`` or
``{"error": text}``. A job without runs checks whether this machine can make the network. The program makes the network by
lines of `ip -batch` and `tc -batch`, starts Open MPI from a hostfile as users do, and reads the bytes of data that each link
has sent from the counters of its device; no clock is needed.

Each cable is created with both ends in their namespaces, so nothing exists outside. Links have no addresses. A node has a
single address, on a bridge without ports; on `lo`, Open MPI would skip the address and use the service network.
"""

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.kinds import network_named
from pencilmap.scripts.networks.build import tail
from pencilmap.scripts.networks.namespaces.network import (
    HEADQUARTERS,
    IP_AND_TCP,
    EmulatedNetwork,
    EmulationError,
    address,
    service_address,
)

# ---- the network as input of `ip` and `tc` ---------------------------------------------------------------------------


QUEUE = "8m"         # large enough that no packet is dropped before its sender's window is full
LEAST_TIMEOUT = "3s"  # packets wait in queues for longer than TCP's default of 200 ms, after which TCP would send them again


def cable_lines(network: EmulatedNetwork) -> Iterator[str]:
    """Yield the input of ``ip -n hq -batch -``: all cables, and the service network."""
    names, mtu = network.nodes, network.mtu
    yield from (f"link add {network.wiring.device(i, 1)} mtu {mtu} netns {names[a]} type veth "
                f"peer name {network.wiring.device(i, -1)} mtu {mtu} netns {names[b]}" for a, i, b in network.cables())
    yield "link add br0 type bridge"
    yield f"addr add {service_address(-1)}/16 dev br0"
    yield "link set lo up"
    yield "link set br0 up"
    for node, name in enumerate(names):
        yield f"link add mg{node} type veth peer name mg netns {name}"
        yield f"link set mg{node} master br0 up"


def node_lines(network: EmulatedNetwork, a: int) -> Iterator[str]:
    """Yield the input of ``ip -n NODE -batch -``: addresses, links up, a route to every other host."""
    yield "link set lo up"
    yield "link add node type bridge"
    yield f"addr add {address(a)}/32 dev node"
    yield "link set node up"
    yield f"addr add {service_address(a)}/16 dev mg"
    yield "link set mg up"
    yield from (f"link set {network.wiring.device(i, direction)} up" for i, direction, _ in network.wiring.ports(a))
    for b in range(network.network.n_nodes):
        if hop := network.wiring.next_hop(a, b):
            i, direction, via = hop
            yield (f"route add {address(b)}/32 via {address(via)} dev {network.wiring.device(i, direction)} onlink "
                   f"src {address(a)} rto_min {LEAST_TIMEOUT}")


def shaping_lines(network: EmulatedNetwork, a: int) -> Iterator[str]:
    """Yield the input of ``tc -n NODE -batch -``: the rate of every link."""
    return (f"qdisc add dev {network.wiring.device(i, direction)} root tbf rate {network.rate_bits_per_s}bit "
            f"burst {network.burst_bytes} limit {QUEUE}" for i, direction, _ in network.wiring.ports(a))


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


# ---- kernel calls that `ip` and `tc` lack ----------------------------------------------------------------------------


CLONE_NEWNET = 0x40000000
SIOCETHTOOL, ETHTOOL_STSO, ETHTOOL_SGRO = 0x8946, 0x1F, 0x2C
NAMED = Path("/run/netns")
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def in_namespace(name: str) -> Iterator[None]:
    """Put this thread into a named network namespace, and back when the block ends."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        there = os.open(NAMED / name, os.O_RDONLY)
        try:
            _enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _enter(home)
    finally:
        os.close(home)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "setns")


def own_queue(device: str) -> None:
    """Give a veth device its own receive queue (as ``ethtool -K DEVICE tso off gro on``).

    Otherwise all devices share the backlog of their processor: 1000 packets, with silent overflow.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command, on in ((ETHTOOL_STSO, 0), (ETHTOOL_SGRO, 1)):
            value = ctypes.create_string_buffer(struct.pack("II", command, on))
            fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP8x", device.encode(), ctypes.addressof(value)))


def backlog_drops() -> int:
    """Return the number of packets that the kernel has dropped between devices since the boot."""
    return sum(int(line.split()[1], 16) for line in Path("/proc/net/softnet_stat").read_text().splitlines())


# ---- the network, made from these lines ------------------------------------------------------------------------------


def build(network: EmulatedNetwork) -> None:
    """Make all namespaces, cables, routes and shapes.

    Raises
    ------
    EmulationError
        If `ip`, `tc` or the kernel fails, with its output.
    """
    _batched(["ip", "-batch", "-"], (f"netns add {name}" for name in [*network.nodes, HEADQUARTERS]))
    for name in [*network.nodes, HEADQUARTERS]:
        with in_namespace(name):
            try:
                for key, value in (SETTINGS if name == HEADQUARTERS else SETTINGS | FORWARDING).items():
                    Path("/proc/sys/net", key).write_text(value)
            except OSError as error:
                raise EmulationError(f"{error.filename} cannot be set in a namespace: {error.strerror}") from error
    _batched(["ip", "-n", HEADQUARTERS, "-batch", "-"], cable_lines(network))
    for node, name in enumerate(network.nodes):
        _batched(["ip", "-n", name, "-batch", "-"], node_lines(network, node))
        _batched(["tc", "-n", name, "-batch", "-"], shaping_lines(network, node))
        with in_namespace(name):
            for i, direction, _ in network.wiring.ports(node):
                own_queue(network.wiring.device(i, direction))


def _batched(command: list[str], lines: Iterable[str]) -> None:
    done = subprocess.run(command, input="".join(line + "\n" for line in lines), text=True, capture_output=True)
    if done.returncode or done.stderr.strip():
        raise EmulationError(f"{' '.join(command)} failed with status {done.returncode}: {tail(done.stderr, 5)}")


# ---- bytes that each link has sent -----------------------------------------------------------------------------------


_BYTES, _PACKETS = 8, 9  # index among the numbers after the device name


def sent_bytes(network: EmulatedNetwork) -> Ints:
    """Return the bytes of data that every link has sent: int64 array, shape ``network.link_shape``.

    Every packet, with data or without, has the headers of IP and TCP. So the data are the bytes less these headers of all
    packets, whatever the sizes of the messages. A veth device with a receive queue of its own counts no headers of Ethernet.
    """
    sent = np.zeros(network.network.link_shape, dtype=np.int64)
    for node, name in enumerate(network.nodes):
        with in_namespace(name):
            devices = read_devices(Path("/proc/thread-self/net/dev").read_text())
        for i, direction, _ in network.wiring.ports(node):
            sent[network.wiring.link_index(i, direction, node)] = devices[network.wiring.device(i, direction)]
    return sent


def read_devices(text: str) -> dict[str, int]:
    """Return the bytes sent by each device without the headers of packets, from the text of /proc/net/dev.

    >>> read_devices("h\\nh\\n  xp: 1 2 3 4 5 6 7 8 950 10 11 12 13 14 15 16\\n")
    {'xp': 430}
    """
    lines = ((name.strip(), numbers.split()) for name, _, numbers in (line.partition(":") for line in text.splitlines()[2:]))
    return {name: int(numbers[_BYTES]) - IP_AND_TCP * int(numbers[_PACKETS]) for name, numbers in lines}


# ---- Open MPI on the network -----------------------------------------------------------------------------------------


HERE = Path(__file__).resolve().parent
EAGER = "8000000"  # bytes; with a rendezvous, data in the opposite direction would delay the handshake
OPEN_MPI = {
    "plm": "rsh",
    "plm_rsh_agent": f"sh {HERE / 'agent.sh'}",
    "plm_rsh_no_tree_spawn": "1",
    "plm_rsh_num_concurrent": "256",
    "oob_tcp_if_include": "10.78.0.0/16",      # Open MPI's own messages use the service network
    "pml": "ob1",
    "btl": "self,tcp",
    "btl_tcp_if_include": "10.77.0.0/16",      # the program's messages use the torus
    "btl_tcp_eager_limit": EAGER,
    "btl_tcp_rndv_eager_limit": EAGER,
    "btl_tcp_max_send_size": EAGER,
    "mpi_yield_when_idle": "1",
    "coll_tuned_use_dynamic_rules": "1",
    "coll_tuned_alltoall_algorithm": "1",      # all messages at once; the default changes with the message size
    "coll_tuned_alltoallv_algorithm": "1",
}
COLLECTIVES = tuple(word for key, value in OPEN_MPI.items() if key.startswith("coll_") for word in ("--mca", key, value))
NAP, NAP_US = "nap.so", "2000"


def build_nap(folder: Path) -> Path:
    """Build the library that lets waiting processes sleep, and return its path."""
    library = Path(folder) / NAP
    done = subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "nap.c"], text=True, capture_output=True)
    if done.returncode:
        raise EmulationError(f"{HERE / 'nap.c'} cannot be compiled: {tail(done.stderr, 5)}")
    return library


def launch(program: list[str], hosts: list[str], folder: Path, timeout_s: float) -> str:
    """Run a program, rank i on ``hosts[i]``, and return its output.

    `hosts` names a host once for each of its ranks. Temporary files go into `folder`.

    Raises
    ------
    EmulationError
        If the program fails or does not end in time, with the end of its output.
    """
    folder = Path(folder)
    hostfile = folder / "hosts.txt"
    hostfile.write_text("".join(f"{host}\n" for host in hosts))
    nap = build_nap(folder) if not (folder / NAP).exists() else folder / NAP
    settings = [word for key, value in OPEN_MPI.items() for word in ("--mca", key, value)]
    command = ["nsenter", f"--net=/run/netns/{HEADQUARTERS}", "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
               HEADQUARTERS, "mpirun.openmpi", "--hostfile", str(hostfile), "--map-by", "seq", "--bind-to", "none",
               "-np", str(len(hosts)), *settings, "-x", f"LD_PRELOAD={nap}", "-x", f"NAP_US={NAP_US}", *program]
    environment = {name: value for name, value in os.environ.items()  # without those of other MPI jobs, or of the user
                   if not name.startswith(("OMPI_", "PMIX_", "PRTE_"))}
    environment |= {"TMPDIR": str(folder), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        done = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise EmulationError(f"the run on the namespaces did not finish within {timeout_s:g} s") from error
    if done.returncode:
        raise EmulationError(f"the run on the namespaces failed, exit status {done.returncode}; its output ends with\n"
                             f"{tail(done.stdout) or 'nothing: there is none'}")
    return done.stdout


# ---- the program -----------------------------------------------------------------------------------------------------


FOLDER = Path("/run/pencilmap")  # in memory; disappears with the box


def say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    try:
        _work(json.load(sys.stdin))
    except (EmulationError, OSError) as error:
        say(error=str(error))
        return
    say(end=True)


def _work(job: dict[str, Any]) -> None:
    network = EmulatedNetwork(network_named(job["network"]), job["rate_bits_per_s"], job["mtu"], job["tie"])
    build(network)
    sent_bytes(network)
    say(progress=f"network {network.text} is up: {len(network.nodes)} namespaces, {len(network.cables())} cables")
    for run in job["runs"]:
        say(progress=f"running {run['name']}")
        say(run=_run(network, run, job["timeout_s"]))


def _run(network: EmulatedNetwork, run: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """Launch a run; return its result and the increase of the counters of every link."""
    records = FOLDER / "records.jsonl"
    records.unlink(missing_ok=True)
    before, drops, begin = sent_bytes(network), backlog_drops(), time.monotonic()
    options = ["--json", str(records)] if run.get("records", True) else []
    printed = launch([*run["program"], *options], run["hosts"], FOLDER, timeout_s)
    return {"record": json.loads(records.read_text()) if options else None, "printed": printed,
            "seconds": time.monotonic() - begin, "sent_bytes": (sent_bytes(network) - before).tolist(),
            "backlog_drops": backlog_drops() - drops}


if __name__ == "__main__":
    main()
