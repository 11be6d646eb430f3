"""Kernel calls that `ip` and `tc` lack: enter another network namespace, give veth devices their own queues."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
SIOCETHTOOL, ETHTOOL_STSO, ETHTOOL_SGRO = 0x8946, 0x1F, 0x2C
NAMED = Path("/run/netns")
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(name: str) -> Iterator[None]:
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


def _enter(descriptor):
    if _libc.setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "setns")


def write_settings(settings: dict[str, str]) -> None:
    """Write kernel settings of the network namespace of this thread."""
    for key, value in settings.items():
        Path("/proc/sys/net", key).write_text(value)


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
