"""Run network_probe on a simulated torus, whose parameters are known."""

import threading
from collections.abc import Sequence
from os import PathLike

import numpy as np

from pencilmap.mapper.base.files import append_whole, check_appendable
from pencilmap.mapper.base.progress import say
from pencilmap.model.network.torus import as_torus, format_torus
from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.simulated import (
    TIMEOUT_S,
    SimulatedNetwork,
    SimulationError,
    output_of,
    smpirun,
    wait_for,
    work_directory,
)

ROUNDS = "3"  # the ranks leave a barrier one after the other; several rounds reduce that error


def simulate_probe(network: SimulatedNetwork, json_path: str | PathLike[str], sizes: Sequence[int] = (), at_once: int = 16,
                   timeout_s: float = TIMEOUT_S) -> None:
    """Probe a network with a task on each node and append the result to a file of JSON lines.

    `sizes` are bytes of messages, by default the sizes of the program. At most `at_once` messages leave a node at once.

    Raises
    ------
    SimulationError
        If the program fails, with the end of its output.
    """
    check_appendable(json_path, SimulationError)
    build, torus = ensure_built(), as_torus(network.network)
    options = ["--machine-torus", format_torus(torus), "--coordinates", "hostname", "--tasks-per-node", "1",
               "--at-once", str(at_once), "--reps", "1", "--rounds", ROUNDS, "--warmup", "1", "--label",
               f"routing={network.routing}", "--label", "network=simulated", "--json", "probe.jsonl",
               *(["--bytes", ",".join(map(str, sizes))] if sizes else [])]
    with work_directory() as work:
        (work / "platform.txt").write_text(network.platform_text())
        (work / "hosts.txt").write_text("".join(f"node-{'-'.join(map(str, at))}\n" for at in torus.coordinates(
            np.arange(torus.n_nodes)).tolist()))
        say(f"probing {torus}")
        command = smpirun(network, torus.n_nodes, build, (), build.probe, options)
        status = wait_for(command, work, timeout_s, threading.Event())
        if status != 0 or not (work / "probe.jsonl").is_file():
            raise SimulationError(f"network_probe failed on the simulated network, exit status {status}{output_of(work)}")
        append_whole(json_path, (work / "probe.jsonl").read_text(), SimulationError)
