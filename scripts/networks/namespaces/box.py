"""The box: a run in its own network, mount and process namespaces, which always end with the run.

When the program in the box ends, or this process is killed, the kernel kills every process in the box. The named namespaces,
links and files of the run will disappear with the last process. Without root, the box adds a user namespace, if Linux allows
this.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import Any

from pencilmap.mapper.base.progress import say
from pencilmap.scripts.networks.build import tail
from pencilmap.scripts.networks.namespaces.network import EmulationError

TOOL_PACKAGES = {"setpriv": "util-linux", "unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2",
                 "tc": "iproute2", "mpirun.openmpi": "openmpi-bin", "hostname": "hostname", "mount": "mount", "cc": "gcc"}
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")  # folders of tools that an ordinary user's PATH may lack
PROBE_S = 30
SET_UP = 'mount -t tmpfs tmpfs /run && mkdir /run/netns /run/pencilmap && exec "$@"'


class UnavailableError(EmulationError):
    """This machine cannot make the network: a tool, a right or a part of the kernel is missing."""


def command() -> list[str]:
    """Return the words that start `inside.py` in a box."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *as_root, "--net", "--mount", "--pid", "--fork", "--kill-child",
            "--mount-proc", "sh", "-c", SET_UP, "box", sys.executable, "-m", "pencilmap.scripts.networks.namespaces.inside"]


def search_path() -> str:
    """Return PATH followed by the system folders."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS])


def check_available() -> None:
    """Raise UnavailableError with the reason unless this machine can make networks; takes a fraction of a second."""
    missing = {tool: package for tool, package in TOOL_PACKAGES.items() if not shutil.which(tool, path=search_path())}
    if missing:
        raise UnavailableError(f"networks of namespaces need {', '.join(missing)}; on Debian: apt-get install "
                               f"{' '.join(dict.fromkeys(missing.values()))}")
    job = {"network": "2:mesh", "rate_bits_per_s": 10**7, "mtu": 1500, "tie": "parity", "runs": [], "timeout_s": PROBE_S}
    try:
        run_boxed(job, PROBE_S)
    except EmulationError as error:
        raise UnavailableError(f"networks of namespaces cannot be made here: {error}; root or user namespaces are needed, "
                               "and a kernel with veth, bridge and the tbf queue") from error


def run_boxed(job: dict[str, Any], timeout_s: float) -> list[dict[str, Any]]:
    """Run a job in a box and return the result of each run. `inside.py` describes the job.

    `timeout_s` limits the whole box.

    Raises
    ------
    EmulationError
        If the job fails.
    """
    with tempfile.TemporaryFile("w+") as complaints:
        box = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
                               start_new_session=True, env={**os.environ, "PATH": search_path()})
        late = threading.Timer(timeout_s, box.kill)
        late.start()
        try:
            return _converse(box, job, complaints, late)
        finally:
            late.cancel()
            box.kill()
            box.wait()
            if box.stdout:
                box.stdout.close()


def _converse(box, job, complaints, late):
    try:
        box.stdin.write(json.dumps(job))
        box.stdin.close()
    except BrokenPipeError:
        pass  # the process has already ended and gave its reason
    runs = []
    for line in box.stdout:
        message = json.loads(line)
        if "progress" in message:
            say(message["progress"])
        elif "run" in message:
            runs.append(message["run"])
        elif "error" in message:
            raise EmulationError(message["error"])
        else:
            return runs
    box.wait()
    if late.finished.is_set():
        raise EmulationError(f"the box did not finish within {late.interval:g} s")
    complaints.seek(0)
    raise EmulationError(f"the box ended with status {box.returncode}: {tail(complaints.read(), 5) or 'no word'}")
