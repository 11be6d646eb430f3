"""Time limits of tests for programs, adapted to the load of the machine."""

import os
from pathlib import Path


def patience(seconds, loads=Path("/proc/loadavg")):
    """Return the seconds of an idle machine, extended if programs share its processors, over the last minute or now."""
    last_minute, _, _, now, _ = loads.read_text().split()
    load = max(float(last_minute), float(now.partition("/")[0]))
    return seconds * max(1.0, load / len(os.sched_getaffinity(0)))
