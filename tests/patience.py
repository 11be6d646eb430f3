"""How long tests wait for a program before they take it for stuck."""

import os
from pathlib import Path


def patience(seconds, loads=Path("/proc/loadavg")):
    """So many seconds of a machine that is free: more if programs share its processors, by the last minute or by now."""
    last_minute, _, _, now, _ = loads.read_text().split()
    load = max(float(last_minute), float(now.partition("/")[0]))
    return seconds * max(1.0, load / len(os.sched_getaffinity(0)))
