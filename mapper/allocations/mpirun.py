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


def format_of_launcher(environ: Mapping[str, str]) -> str | None:
    """Return the placement format of the only launcher on the job's PATH; None if it is unknown, or one of several."""
    path = environ.get("PATH", "")
    found = [form for name, form in OTHERS.items() if shutil.which(name, path=path)]
    mpirun = shutil.which("mpirun", path=path)
    if mpirun:
        found.append(_format_of_mpirun(mpirun))
    return found[0] if len(found) == 1 else None


@lru_cache
def _format_of_mpirun(program):
    try:
        said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return next((form for words, form in VERSIONS.items() if re.search(words, said)), None)
