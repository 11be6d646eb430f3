"""Run the particle-mesh Ewald example pme_c on a simulated network: the times of the mesh, without other computing.

The calls of FFTW take time if the network has a rate (`SimulatedNetwork.flops`). Spreading, gathering and the direct part
take none, and the direct ranks send no messages. So one run gives the time of the reciprocal part on R ranks, beside any
number of direct ranks.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from pencilmap.mapper.base.progress import say
from pencilmap.model.base.reading import read_whole
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
    with work_directory() as work:
        for name, text in run.network.files(run.network.first_hosts(ranks)).items():
            (work / name).write_text(text)
        command = smpirun(run.network, ranks, build, [f"--cfg=smpi/alltoallv:{ALLTOALLV}"], build.simulated_pme,
                          [*run.options, "--steps", "1", "--reciprocal-ranks", str(run.reciprocal)])
        status = wait_for(command, work, timeout_s, cancelled)
        if status != 0:
            raise SimulationError(f"pme_c failed on the simulated network, exit status {status}{output_of(work)}")
        return parts_of(read_whole(work / "output.txt", SimulationError).decode())
