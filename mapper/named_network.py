"""The network of a question, as the option `network` names it: a text or a file, alone or on a machine."""

import re
from dataclasses import replace
from os import PathLike, fspath

from pencilmap.mapper.given_nodes import SHAPE, is_file
from pencilmap.mapper.graphs import read_graph
from pencilmap.model.base.errors import GraphError, MachineError
from pencilmap.model.machines.machine import Machine
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import parse_torus

USAGE = "a shape, e.g. 8x8x8 or 8x8x8:mesh, or a file of its cables"


def network_named(network: str | PathLike[str], bandwidth: float | None = None) -> Network:
    """Return the network of a text or a file.

    Parameters
    ----------
    network : str or path
        ``8x8x8`` (all dimensions wrap), ``8x8x8:mesh``, ``8wx8x4w``, or ``FILE[,FORMAT]``, see
        `pencilmap.mapper.graphs.GRAPHS`.
    bandwidth : float, optional
        Bytes per second of every link; in a file, of links without a bandwidth.

    Raises
    ------
    TorusError, GraphError
        If the text is no shape and no file, or if the file is not understood.

    Examples
    --------
    >>> str(network_named("8wx8x4w")), network_named("4x4", bandwidth=1e9).bandwidth
    ('8wx8x4w', (1000000000.0, 1000000000.0))
    """
    text = fspath(network)
    path, _, format_name = text.partition(",")
    if is_file(path):
        return read_graph(path, format_name or None, bandwidth)
    if not re.match(r"[0-9]+w?(x|:|$)", text):
        raise GraphError(f"network {text[:60]!r} is no file that exists and no shape; give {USAGE}")
    torus = parse_torus(text)
    return torus if bandwidth is None else replace(torus, bandwidth=(bandwidth,) * torus.n_dimensions)


def is_plain(network: str) -> bool:
    """Return whether a text is a shape that leaves the wraps to a machine.

    >>> is_plain("4x6x16"), is_plain("4x6x16:torus"), is_plain("4wx6x16")
    (True, False, False)
    """
    return bool(SHAPE.fullmatch(network)) and not re.search("w|:", network)


def network_on(machine: Machine, network: str | PathLike[str] | None, bandwidth: float | None = None) -> Network:
    """Return a network of a machine: one of its partitions if the text is a plain shape, else the wraps that it names.

    None stands for the usual shape of the machine.

    Raises
    ------
    PartitionError
        If the machine hands out no partition of a plain shape.
    MachineError
        If the text is no shape.
    """
    torus = machine.torus if network is None else _shaped(machine, fspath(network))
    return torus if bandwidth is None else replace(torus, bandwidth=(bandwidth,) * torus.n_dimensions)


def _shaped(machine, text):
    if is_file(text.partition(",")[0]):
        raise MachineError(f"`network` {text} is a file, which replaces the machine; omit `machine`")
    if is_plain(text) and machine.partitions is not None:
        return machine.partition(text)
    return machine.with_shape(text).torus
