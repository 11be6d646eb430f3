"""Run network_probe and the particle-mesh Ewald example pme_c on simulated networks, whose parameters are known.

The calls of FFTW take time if the network has a rate (`SimulatedNetwork.flops`). Spreading, gathering and the direct part of
pme_c take none, and the direct ranks send no messages. So one run gives the time of the reciprocal part on R ranks, beside
any number of direct ranks.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from os import PathLike

from pencilmap.mapper.base.files import append_whole, check_appendable
from pencilmap.mapper.base.progress import say
from pencilmap.model.base.reading import read_whole
from pencilmap.model.network.torus import as_torus, format_torus
from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.measured import parts_of
from pencilmap.scripts.networks.simulated import (
    ALLTOALLV,
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
    say(f"probing {torus}")
    command = smpirun(network, torus.n_nodes, build, (), build.program("network_probe_smpi"), options)
    text = _ran("network_probe", network, torus.n_nodes, command, timeout_s, threading.Event(), "probe.jsonl")
    append_whole(json_path, text, SimulationError)


def _ran(name, network, ranks, command, timeout_s, cancelled, result="output.txt"):
    """Run a command on the first hosts of a network and return the text of a file that it writes."""
    with work_directory() as work:
        for file, text in network.files(network.first_hosts(ranks)).items():
            (work / file).write_text(text)
        status = wait_for(command, work, timeout_s, cancelled)
        if status != 0 or not (work / result).is_file():
            raise SimulationError(f"{name} failed on the simulated network, exit status {status}{output_of(work)}")
        return read_whole(work / result, SimulationError).decode()


WORKERS = 2


@dataclass(frozen=True)
class EwaldRun:
    """A run of pme_c: `reciprocal` ranks for the mesh and one direct rank, each on a host of its own."""

    network: SimulatedNetwork
    reciprocal: int
    options: tuple[str, ...]  #: of pme_c


def simulate_ewald(runs: Sequence[EwaldRun], timeout_s: float = TIMEOUT_S) -> list[dict[str, float]]:
    """Return the seconds of each part of pme_c, of the slowest rank, for each run; "total" is the whole reciprocal part.

    Raises
    ------
    SimulationError
        If a run fails, with the end of its output. The other runs end, too.
    """
    build, cancelled = ensure_built(), threading.Event()

    def run(number: int, each: EwaldRun) -> dict[str, float]:
        say(f"simulating pme_c with {each.reciprocal} reciprocal ranks", number / len(runs))
        return _seconds(each, build, timeout_s, cancelled)

    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        try:
            started = [pool.submit(copy_context().run, run, number, each) for number, each in enumerate(runs)]
            return [each.result() for each in started]
        except BaseException:
            cancelled.set()
            raise


def _seconds(run, build, timeout_s, cancelled):
    ranks = run.reciprocal + 1
    if run.network.network.n_nodes < ranks:
        raise SimulationError(f"{ranks} ranks on {run.network.network.n_nodes} hosts; give a network with a host for each")
    command = smpirun(run.network, ranks, build, [f"--cfg=smpi/alltoallv:{ALLTOALLV}"], build.program("pme_smpi"),
                      [*run.options, "--steps", "1", "--reciprocal-ranks", str(run.reciprocal)])
    return parts_of(_ran("pme_c", run.network, ranks, command, timeout_s, cancelled))
