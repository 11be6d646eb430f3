"""Carry out the plan in a box; afterwards the network is up."""

import subprocess

from pencilmap.scripts.networks.build import tail
from pencilmap.scripts.networks.namespaces import kernel, plan
from pencilmap.scripts.networks.namespaces.network import HEADQUARTERS, EmulatedNetwork, EmulationError


def build(network: EmulatedNetwork) -> None:
    """Make all namespaces, cables, routes and shapes.

    Raises
    ------
    EmulationError
        If `ip`, `tc` or the kernel fails, with its output.
    """
    _run(["ip", "-batch", "-"], plan.namespaces(network))
    _settings(network)
    _run(["ip", "-n", HEADQUARTERS, "-batch", "-"], plan.batch(plan.cables(network)))
    for node, name in enumerate(network.nodes):
        _run(["ip", "-n", name, "-batch", "-"], plan.batch(plan.node(network, node)))
        _run(["tc", "-n", name, "-batch", "-"], plan.batch(plan.shaping(network, node)))
        with kernel.inside(name):
            for i, direction, _ in network.ports(node):
                kernel.own_queue(network.device(i, direction))


def _settings(network):
    for name in [*network.nodes, HEADQUARTERS]:
        with kernel.inside(name):
            try:
                kernel.write_settings(plan.SETTINGS if name == HEADQUARTERS else plan.SETTINGS | plan.FORWARDING)
            except OSError as error:
                raise EmulationError(f"{error.filename} cannot be set in a namespace: {error.strerror}") from error


def _run(command, text):
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    if done.returncode or done.stderr.strip():
        raise EmulationError(f"{' '.join(command)} failed with status {done.returncode}: {tail(done.stderr, 5)}")
