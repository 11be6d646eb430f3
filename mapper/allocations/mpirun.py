"""The MPI of a job whose batch system leaves the start of tasks to mpirun, by the first lines of ``mpirun --version``."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import lru_cache

TIMEOUT_S = 20
VERSIONS = {  # words of mpirun --version: the placement format
    r"\(Open MPI\) 4\.": "openmpi4",
    r"\(Open MPI\) 5\.": "openmpi5",
    r"HYDRA build details": "hydra",
    r"Intel\(R\) MPI Library": "intel",
}
OTHERS = {"aprun": "cray", "jsrun": None}  # launchers beside mpirun: the placement format, None if there is none here
PALS = re.compile(r"mpiexec version [0-9.]+ revision|PALS", re.MULTILINE)  # Cray's launcher in jobs of PBS


def format_of_launcher(environ: Mapping[str, str]) -> str | None:
    """Return the placement format of the only launcher on the job's PATH; None if it is unknown, or one of several."""
    path = environ.get("PATH", "")
    found = {name: form for name, form in OTHERS.items() if shutil.which(name, path=path)}
    mpirun, mpiexec = (shutil.which(name, path=path) for name in ("mpirun", "mpiexec"))
    if any(name.startswith("PALS_") for name in environ) or PALS.match(_version(mpiexec)) or PALS.match(_version(mpirun)):
        found["aprun"] = "cray"  # PALS has an aprun, too
    if mpirun and not PALS.match(_version(mpirun)):
        found["mpirun"] = next((form for words, form in VERSIONS.items() if re.search(words, _version(mpirun))), None)
    return next(iter(found.values())) if len(found) == 1 else None


@lru_cache
def _version(program):
    """Return what a program says about its version, "" if nothing."""
    try:
        return subprocess.run([program, "--version"], check=True, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S).stdout if program else ""
    except (OSError, subprocess.SubprocessError):
        return ""
