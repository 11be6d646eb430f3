"""Bytes of data that each link has sent, from the counters of its device; no clock is needed.

Every packet, with data or without, has the headers of IP and TCP. So the data are the bytes less these headers of all
packets, whatever the sizes of the messages. A veth device with a receive queue of its own counts no headers of Ethernet.
"""

from pathlib import Path

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.scripts.networks.namespaces import kernel
from pencilmap.scripts.networks.namespaces.network import IP_AND_TCP, EmulatedNetwork

_BYTES, _PACKETS = 8, 9  # index among the numbers after the device name


def sent_bytes(network: EmulatedNetwork) -> Ints:
    """Return the bytes of data that every link has sent: int64 array, shape ``network.link_shape``."""
    sent = np.zeros(network.network.link_shape, dtype=np.int64)
    for node, name in enumerate(network.nodes):
        with kernel.inside(name):
            devices = read_devices(Path("/proc/thread-self/net/dev").read_text())
        for i, direction, _ in network.ports(node):
            sent[network.link_index(i, direction, node)] = devices[network.device(i, direction)]
    return sent


def read_devices(text: str) -> dict[str, int]:
    """Return the bytes sent by each device without the headers of packets, from the text of /proc/net/dev.

    >>> read_devices("h\\nh\\n  xp: 1 2 3 4 5 6 7 8 950 10 11 12 13 14 15 16\\n")
    {'xp': 430}
    """
    lines = ((name.strip(), numbers.split()) for name, _, numbers in (line.partition(":") for line in text.splitlines()[2:]))
    return {name: int(numbers[_BYTES]) - IP_AND_TCP * int(numbers[_PACKETS]) for name, numbers in lines}
