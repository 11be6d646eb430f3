"""Start Open MPI on the network: a run of fft_runner, launched from a hostfile as users do."""

import os
import subprocess
from pathlib import Path

from pencilmap.scripts.networks.build import tail
from pencilmap.scripts.networks.namespaces.network import HEADQUARTERS, EmulationError

HERE = Path(__file__).resolve().parent
EAGER = "8000000"  # bytes; with a rendezvous, data in the opposite direction would delay the handshake
SETTINGS = {
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
COLLECTIVES = tuple(word for key, value in SETTINGS.items() if key.startswith("coll_") for word in ("--mca", key, value))
NAP, NAP_US = "nap.so", "2000"


def build_nap(folder: Path) -> Path:
    """Build the library that lets waiting processes sleep, and return its path."""
    library = Path(folder) / NAP
    done = subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "nap.c"], text=True, capture_output=True)
    if done.returncode:
        raise EmulationError(f"{HERE / 'nap.c'} cannot be compiled: {tail(done.stderr, 5)}")
    return library


def _own_environment():
    """Return the environment without variables of other MPI jobs or the user's Open MPI settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PRTE_"))}


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
    settings = [word for key, value in SETTINGS.items() for word in ("--mca", key, value)]
    command = ["nsenter", f"--net=/run/netns/{HEADQUARTERS}", "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
               HEADQUARTERS, "mpirun.openmpi", "--hostfile", str(hostfile), "--map-by", "seq", "--bind-to", "none",
               "-np", str(len(hosts)), *settings, "-x", f"LD_PRELOAD={nap}", "-x", f"NAP_US={NAP_US}", *program]
    environment = _own_environment() | {"TMPDIR": str(folder), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        done = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise EmulationError(f"the run on the namespaces did not finish within {timeout_s:g} s") from error
    if done.returncode:
        raise EmulationError(f"the run on the namespaces failed, exit status {done.returncode}; its output ends with\n"
                             f"{tail(done.stdout) or 'nothing: there is none'}")
    return done.stdout
