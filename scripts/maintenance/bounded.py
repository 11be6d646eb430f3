"""Run a command for a limited time, and end all processes of the command."""

import os
import signal
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


def bounded(command: Sequence[str | Path], folder: Path, seconds: float,
            environment: Mapping[str, str] | None = None) -> tuple[int | None, str]:
    """Run a command and all its processes for at most `seconds`.

    Returns
    -------
    int or None
        The exit status; None if the time ran out.
    str
        Standard output and standard error together.
    """
    with subprocess.Popen([*map(str, command)], cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace", start_new_session=True,
                          env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
                          | dict(environment or {})) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except BaseException as error:
            for pid in _started_by(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            out, _ = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return None, out
    return process.returncode, out


def _started_by(pid: int) -> list[int]:
    """A process and all its descendants, in any session."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children = defaultdict(list)
    for line in listed.splitlines():
        own, parent = map(int, line.split())
        children[parent].append(own)
    found = [pid]
    for one in found:
        found.extend(children[one])
    return found
