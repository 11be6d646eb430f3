"""The whole run, as a program in a box: read a job from standard input, write JSON lines to standard output.

The lines are ``{"progress": text}``, ``{"run": ...}`` for each run of the job, and last ``{"end": true}`` or
``{"error": text}``. A job without runs checks whether this machine can make the network.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from pencilmap.model.kinds import network_named
from pencilmap.scripts.networks.namespaces.build import build
from pencilmap.scripts.networks.namespaces.counters import sent_bytes
from pencilmap.scripts.networks.namespaces.kernel import backlog_drops
from pencilmap.scripts.networks.namespaces.launch import launch
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork, EmulationError

FOLDER = Path("/run/pencilmap")  # in memory; disappears with the box


def say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    try:
        _work(json.load(sys.stdin))
    except (EmulationError, OSError) as error:
        say(error=str(error))
        return
    say(end=True)


def _work(job):
    network = EmulatedNetwork(network_named(job["network"]), job["rate_bits_per_s"], job["mtu"], job["tie"])
    build(network)
    sent_bytes(network)
    say(progress=f"network {network.text} is up: {len(network.nodes)} namespaces, {network.n_cables} cables")
    for run in job["runs"]:
        say(progress=f"running {run['name']}")
        say(run=_run(network, run, job["timeout_s"]))


def _run(network, run, timeout_s):
    """Launch a run; return its result and the increase of the counters of every link."""
    records = FOLDER / "records.jsonl"
    records.unlink(missing_ok=True)
    before, drops, begin = sent_bytes(network), backlog_drops(), time.monotonic()
    options = ["--json", str(records)] if run.get("records", True) else []
    printed = launch([*run["program"], *options], run["hosts"], FOLDER, timeout_s)
    return {"record": json.loads(records.read_text()) if options else None, "printed": printed,
            "seconds": time.monotonic() - begin, "sent_bytes": (sent_bytes(network) - before).tolist(),
            "backlog_drops": backlog_drops() - drops}


if __name__ == "__main__":
    main()
