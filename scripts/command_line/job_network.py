"""`network` without a machine: the facts about the nodes of the job, and their sources."""

import os
import shutil
import subprocess
from dataclasses import replace
from typing import Any

from pencilmap.mapper.allocations import READERS, flux, look_around, read_description
from pencilmap.mapper.allocations.found import Fact, Picture
from pencilmap.mapper.allocations.hwloc import slot_cores
from pencilmap.mapper.allocations.slurm import topology_files
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import temporary_folder, write_whole
from pencilmap.mapper.base.hosts import hosts_per_node
from pencilmap.mapper.launch_orders import visible_order
from pencilmap.mapper.named_network import names_file
from pencilmap.model.base.errors import PencilmapError, printable
from pencilmap.scripts.command_line.network_picture import network_lines
from pencilmap.scripts.command_line.plain_options import spelled
from pencilmap.scripts.command_line.tables import echo, paste, print_json, print_table, say

LSTOPO = ("lstopo-no-graphics", "lstopo")
SCONTROL = ("scontrol", "show", "topology")
COPY = "topology.txt"  # file that the user makes of the output of scontrol
TIMEOUT_S = 20         # of a command that is asked
EXAMPLE = "512"        # transform in the command to type next


def show_job(files: tuple[str, ...], network: str | None, hardware: bool, output: str | None, order: str,
             as_json: bool) -> int:
    """Print what the environment and files say about the job's nodes; return 1 if nothing is found or written, else 0.

    `order` is the order of the hosts, see `pencilmap.mapper.allocations.found.Picture.in_order`.
    """
    with temporary_folder() as folder:
        asked = _hardware(folder, hardware) | _slurm_network(folder, bool(files or network))
        hosts = _kept(folder / "hosts", flux.COMMAND) if os.environ.get("FLUX_JOB_ID") else {}
        is_file = network and names_file(network)
        text, file = (None, network) if is_file else (network, None)
        picture = look_around(os.environ, [*files, *asked], text, hosts, file)
        asked |= hosts
        facts = [f._replace(source=asked.get(f.source, f.source)) for f in picture.facts]  # readers know temporary names
        made = COPY if asked.get(picture.path or "") == " ".join(SCONTROL) else None
        graph = picture.graph and replace(picture.graph, notes=tuple(n.replace(str(picture.path), made or str(picture.path))
                                                                     for n in picture.graph.notes))
        picture = replace(picture, facts=(*facts, *_launch_order()), path=made or picture.path, graph=graph).in_order(order)
    if output and picture.nodes is not None:
        write_whole(output, picture.table())
    if as_json:
        print_json(as_dict(picture, output))
    else:
        _show(picture, [*files, *(["--network", network] if network else [])], output)
    unwritten = output and picture.nodes is None
    if unwritten:
        say(f"pencilmap: {output} was not written: the nodes of the job are not known", err=True)
    return 0 if picture.facts and not unwritten and (picture.network or not file) else 1


def _launch_order():
    """The order of the ranks in a list, if the environment tells the order."""
    launch = visible_order(os.environ)
    if launch is None:
        return []
    phrase = launch.phrase(*launch.orders) if launch.orders else f"{launch.title}, which is no order of axes or slots"
    return [Fact("launch order", phrase, printable(launch.reason))]


def _hardware(folder, wanted):
    """Return the file of the hwloc XML of this node, and its source: a dict, empty if lstopo is missing or fails."""
    program = next(filter(None, map(shutil.which, LSTOPO)), None)
    path = folder / "hwloc of this node"
    if not wanted or program is None or _output([program, "--of", "xml", path]) is None:
        return {}
    return {str(path): f"{LSTOPO[1]} on this node"}


def _slurm_network(folder, known):
    """Return the file of the network of a Slurm job, and its source: a dict, empty if the network is given or unknown."""
    files = [] if known else topology_files(os.environ)
    readable = next((path for path in files if path.exists() and _is_read(path)), None)
    if readable:
        return {str(readable): str(readable)}
    return _kept(folder / "topology", SCONTROL) if files else {}


def _kept(path, command):
    """Return a file with the output of a command, if the output is a description that is read."""
    output = _output(command)
    if not output or not output.strip():
        return {}
    path.write_bytes(output)
    return {str(path): " ".join(command)} if _is_read(path) else {}


def _output(command):
    """Return what a command prints, None if it fails."""
    try:
        return subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _is_read(path):
    try:
        return bool(read_description(path).hosts)
    except PencilmapError:
        return False


def as_dict(picture: Picture, output: str | None = None) -> dict[str, Any]:
    """Return the picture as JSON values."""
    return {"facts": [fact._asdict() for fact in picture.facts],
            "torus": picture.text,
            "network": picture.graph and {**picture.graph.as_dict(), "notes": list(picture.graph.notes)},
            "nodes": None if picture.nodes is None or picture.network is None else [
                {"node": coordinates, "host": name} for name, coordinates in picture.places()],
            "tasks_per_node": picture.tasks_per_node, "missing": picture.missing and spelled(picture.missing),
            "slot_cores": _bound(picture),
            "options": _options(picture, output or "NODES") or None}


def _bound(picture: Picture) -> list[str] | None:
    """Processors of each slot of a host, if both are known and there are enough processors."""
    cores, tasks = picture.cores or (), (picture.tasks_per_node or 0) // hosts_per_node(picture.hosts)
    return list(slot_cores(cores, tasks)) if 0 < tasks <= len(cores) else None


def _options(picture, path):
    return " ".join(f"--{name.replace('_', '-')} {shell.path(value)}" for name, value in picture.arguments(path).items())


def _show(picture, words, output):
    if not picture.facts:
        say("found nothing; inside a job, or with files, these are read:", *(f"  {each.title}" for each in READERS.values()))
        return
    print_table("found", ["what", "value", "from"], [[*fact] for fact in picture.facts])
    if picture.network is not None:
        for line in network_lines(picture.network, picture.nodes):
            echo(line)  # as it is, for the picture has columns
        for note in picture.network.notes:
            say(f"note: {spelled(note)}")
    if bound := _bound(picture):
        say(f"slots are bound to cores {' '.join(bound)}")
    if picture.missing:
        say(f"missing: {spelled(picture.missing)}")
    if output and picture.nodes is not None:
        say(f"wrote {output}")
    options = _options(picture, output or "NODES")
    if picture.nodes is not None and not output:
        say("--output NODES writes the nodes")
    if options:
        say("options for the other commands:")
        paste(f"  {options}")
    if picture.network is not None:
        say(f"next, e.g. for a transform of {EXAMPLE}^3:")
        for line in _next(picture, words, output):
            paste(f"  {line}")


def _next(picture, words, output):
    """Yield the commands that lead to a plan for this job. `words` are the sources that were named to this command."""
    if picture.path == COPY:
        yield f"{' '.join(SCONTROL)} > {COPY}"
    given = picture.arguments(output or "nodes.txt")
    if "nodes" in given and not output:
        words = [COPY] if picture.path == COPY else words
        yield f"pencilmap network {' '.join(map(shell.path, words))} -o {shell.path(given['nodes'])}"
    options = " ".join(f"--{name.replace('_', '-')} {shell.path(value)}" for name, value in given.items() if name != "hosts")
    yield f"pencilmap plan {options} --fft {EXAMPLE}"
