"""The network of a question, as the option `network` names it: a text or a file, alone or on a machine."""

import re
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from pathlib import Path

from pencilmap.mapper.graphs import file_and_words, read_named
from pencilmap.mapper.graphs.parts import PartsError
from pencilmap.model.base.errors import MachineError, NetworkError, near
from pencilmap.model.kinds import KINDS, is_network, network_named, with_bandwidth
from pencilmap.model.machines.machine import Machine
from pencilmap.model.network.network import Network
from pencilmap.model.network.twisted_torus import is_folded

SHAPE = re.compile(r"[0-9]{1,6}w?(x[0-9]{1,6}w?)+(:mesh|:torus)?|[0-9]{1,6}(x[0-9]{1,6})*:box=[0-9wx]+")
USAGE = "a shape such as 8x8x8, 8x8x8:mesh or 6 (a ring), or a file of its cables"


def nobody() -> tuple[str, ...]:
    """Return the hosts of no job."""
    return ()


def given_network(network: str | PathLike[str], bandwidth: str | None = None,
                  hosts: Callable[[], Iterable[str]] = nobody) -> Network:
    """Return the network of a text or a file.

    Parameters
    ----------
    network : str or path
        A text of `pencilmap.model.kinds.network_named`, or ``FILE[,FORMAT][,taper=2]``, see
        `pencilmap.mapper.graphs.GRAPHS`.
    bandwidth : str, optional
        Rate of every link, or of each class of links; in a file, of links without a rate.
    hosts : callable, optional
        Returns the hosts of the job. It will be called only if no cable joins some hosts of a file.

    Raises
    ------
    NetworkError, TorusError, GraphError
        If the text is neither a network nor a file, if the file is not understood, or if its hosts are in several parts and
        those of the job not in one of them.

    Examples
    --------
    >>> str(given_network("8wx8x4w")), given_network("4x4", "1 GB/s").bandwidth
    ('8wx8x4w', (1000000000.0, 1000000000.0))
    """
    text = fspath(network)
    if not is_network(text):
        if names_file(text):
            try:
                return read_named(text, bandwidth)
            except PartsError as parts:
                return parts.holding(hosts())
        if not text[:1].isdigit():
            nearest = near(text.partition(":")[0], KINDS)
            raise NetworkError(f"network {text[:60]!r} is neither a file nor a network{nearest}; give {USAGE}")
    return network_named(text, bandwidth=bandwidth)


def is_file(name: str | PathLike[str]) -> bool:
    """Return whether a name is that of a file or a pipe, and not of a folder."""
    return Path(name).exists() and not Path(name).is_dir()


def names_file(text: str) -> bool:
    """Return whether a text is ``FILE[,FORMAT][,taper=2]`` with a file that exists."""
    return is_file(file_and_words(text)[0])


def network_on(machine: Machine, network: str | PathLike[str] | None, bandwidth: str | None = None,
               hosts: Callable[[], Iterable[str]] = nobody) -> Network:
    """Return a network of a machine: one of its partitions if the text is a plain shape, else the wraps that it names.

    None stands for the usual shape of the machine. A network of another kind, or of a file, gets the machine's rates. For
    `hosts` see `given_network`.

    Raises
    ------
    PartitionError
        If the machine hands out no partition of a plain shape.
    MachineError
        If the machine has different rates, and the network has other classes of links.
    """
    if network is None:
        return with_bandwidth(machine.network, bandwidth)
    text = fspath(network)
    is_shape = not is_network(text) and not names_file(text)
    if is_shape and machine.network.has_coordinates:
        return with_bandwidth(_shaped(machine, text), bandwidth)
    return given_network(text, bandwidth or _rates(machine, text, hosts), hosts)


def _rates(machine, text, hosts):
    """Return the machine's rates for the links of another network, as the option `bandwidth` gives them."""
    rates, classes = machine.network.bandwidth, machine.network.link_classes
    if len(set(rates)) == 1:
        return f"{rates[0]:g} B/s"
    found = given_network(text, hosts=hosts)
    if found.link_classes == classes:
        return ",".join(f"{name}={rate:g} B/s" for name, rate in zip(classes, rates))
    own = ", ".join(f"{name} {rate / 1e9:g} GB/s" for name, rate in zip(classes, rates))
    raise MachineError(f"machine {machine.name} has links of {own}, and {found.title} has links of "
                       f"{', '.join(found.link_classes)}: give their rates with `bandwidth`")


def is_plain(network: str) -> bool:
    """Return whether a text is a shape that leaves the wraps to a machine, or a box of its partitions.

    >>> is_plain("4x6x16"), is_plain("4x6x16:torus"), is_plain("4wx6x16"), is_plain("4x6x16:box=2x2x8x2x3wx2")
    (True, False, False, True)
    """
    return is_folded(network) or (bool(SHAPE.fullmatch(network)) and not re.search("w|:", network))


def _shaped(machine, text):
    if is_plain(text) and machine.partitions is not None:
        return machine.partition(text)
    return machine.with_shape(text).torus
