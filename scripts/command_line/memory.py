"""Check whether a run fits into the memory of this machine, before the system kills the run."""

from contextlib import suppress
from pathlib import Path

from pencilmap.model.placement.transform import Transform

ARRAYS = 4  # input, output and two work arrays; 192^3 takes 432 MiB and 44 MiB for the rest
SHARE = 0.9  # of the available memory: the system needs the rest


def needed(transform: Transform, runs: int = 1, arrays: int = 1) -> int:
    """Return the bytes of the arrays of `runs` simulated runs at once, each with `arrays` transforms at once.

    All ranks of a simulation are one process.

    >>> from pencilmap.model.placement.transform import parse_transform
    >>> needed(parse_transform("1024")) // 2**30
    64
    """
    return runs * arrays * ARRAYS * transform.total_bytes


def available(files: Path = Path("/")) -> int | None:
    """Return the bytes that this process may still allocate: the limit of the system or of its control group.

    The smaller limit counts; None if neither is known. `files` is the root of the file system."""
    found = []
    with suppress(OSError, ValueError, StopIteration):
        lines = (files / "proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    with suppress(OSError, ValueError):
        group = files / "sys/fs/cgroup"
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(min(found), 0) if found else None


def too_large(transform: Transform, runs: int = 1, free: int | None = None, arrays: int = 1) -> str | None:
    """Return a sentence if the runs do not fit; None if they fit, or if the free memory is unknown.

    `free` is `available()` by default.

    >>> from pencilmap.model.placement.transform import parse_transform
    >>> too_large(parse_transform("1024"), free=16 * 2**30)
    'transform 1024x1024x1024 needs 64.0 GiB, and 16.0 GiB of memory are free'
    """
    free = available() if free is None else free
    need = needed(transform, runs, arrays)
    if free is None or need <= SHARE * free:
        return None
    several = f" {runs} times at once" if runs > 1 else ""
    return f"transform {transform}{several} needs {need / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB of memory are free"
