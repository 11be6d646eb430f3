"""`network` without a machine: where the job is, the line to type next, and the facts with their sources."""

import os
import shutil
import subprocess
from dataclasses import replace
from typing import Any

from pencilmap.mapper.allocations import READERS, batch, job_hosts, look_around, read_description
from pencilmap.mapper.allocations.found import Fact, Picture, uneven
from pencilmap.mapper.allocations.hwloc import slot_cores
from pencilmap.mapper.allocations.slurm import topology_files
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import temporary_folder, write_whole
from pencilmap.mapper.base.hosts import hosts_per_node
from pencilmap.mapper.graphs.switch_tree import UNKNOWN_CABLES
from pencilmap.mapper.launchers import visible_order
from pencilmap.mapper.named_network import names_file
from pencilmap.model.base.errors import PencilmapError, printable
from pencilmap.model.base.units import counted
from pencilmap.scripts.command_line.network_picture import about_routes, network_lines, on_each, where_is_the_job
from pencilmap.scripts.command_line.plain_options import spelled
from pencilmap.scripts.command_line.predictions import listed
from pencilmap.scripts.command_line.tables import echo, labelled, print_json, print_table, say

LSTOPO = ("lstopo-no-graphics", "lstopo")
SCONTROL = ("scontrol", "show", "topology")
COPY = "topology.txt"  # file that the user makes of the output of scontrol
TIMEOUT_S = 20         # of a command that is asked
LAUNCH_ORDER = "launch order"  # a fact
EXAMPLE = "512"        # transform in the command to type next
BANDWIDTH = "12.5 GB/s"  # of a cable there, if it is not known: 100 Gbit/s
TASKS = 4  # on a host, in an example


def show_job(files: tuple[str, ...], network: str | None, hardware: bool, output: str | None, order: str,
             wide: bool, as_json: bool) -> int:
    """Print what the environment and files say about the job's nodes; return 1 if nothing is found or written, else 0.

    `order` is the order of the hosts, see `pencilmap.mapper.allocations.found.Picture.in_order`.
    """
    with temporary_folder() as folder:
        in_job = bool(look_around(os.environ).facts)
        asked = _hardware(folder, hardware and in_job) | _slurm_network(folder, bool(files or network))
        hosts = _kept(folder / "hosts", batch.COMMAND) if os.environ.get("FLUX_JOB_ID") else {}
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
        _show(picture, [*map(shell.path, files), *([f"--network {shell.path(network)}"] if network else [])], output, wide)
    unwritten = output and picture.nodes is None
    if unwritten:
        say(f"pencilmap: {output} was not written: the nodes of the job are not known", err=True)
    return 0 if (picture.facts or picture.network) and not unwritten and (picture.network or not file) else 1


def _launch_order():
    """The order of the ranks in a list, if the environment tells the order."""
    launch = visible_order(os.environ)
    if launch is None:
        return []
    phrase = launch.phrase(*launch.orders) if launch.orders else f"{launch.title}, which is no order of axes or slots"
    return [Fact(LAUNCH_ORDER, phrase, printable(launch.reason))]


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


def _show(picture, words, output, wide):
    if not picture.facts and picture.network is None:
        say("found nothing; inside a job, or with files, these are read:", *(f"  {each.title}" for each in READERS.values()))
        return
    asked, tasks = _asked(picture), tuple(filter(None, (picture.tasks_per_node, picture.most_tasks)))
    if picture.network is None:
        number = len({*job_hosts(os.environ)})
        job = f"Your job has {counted(number, 'host')}{on_each(tasks, 'host')}."
        say(job if number else "The network of the job is not known.")
    else:
        say(where_is_the_job(picture.network, picture.nodes, tasks, bool(job_hosts(os.environ))))
        if about := about_routes(picture.network):
            say(about)
    if picture.missing:
        say(f"Not known: {spelled(picture.missing)}.")
    elif asked:
        say(f"Ask for {listed(list(asked.values()))}.")
    echo()
    if picture.network is not None and (drawn := list(network_lines(picture.network, picture.nodes))):
        echo("\n".join(drawn) + "\n")  # as it is, for the picture has columns
    if output and picture.nodes is not None:
        labelled("wrote", output)
    if picture.network is not None:
        for number, line in enumerate(_next(picture, words, output, asked)):
            labelled("" if number else "next", line, shell=True)
    if problem := uneven(picture.tasks_per_node, picture.most_tasks):
        labelled("note", spelled(problem))
    for note in picture.graph.notes if picture.graph is not None else ():
        if not note.startswith(UNKNOWN_CABLES):
            labelled("note", spelled(note))
    sources = dict.fromkeys(fact.source for fact in picture.facts if fact.what != LAUNCH_ORDER)
    read = [source for source in sources if not any(other.startswith(f"{source},") for other in sources)]
    if read:
        labelled("from", ", ".join(read))
    if wide:
        options = _options(picture, output or "NODES")
        for label, text in (("options", options), ("cores", " ".join(_bound(picture) or ()))):
            if text:
                labelled(label, text, shell=label == "options")
        echo()
        print_table(None, ["what", "value", "from"], [[*fact] for fact in picture.facts], folds=True)


def _asked(picture):
    """Return what the sources leave out, as options of a plan with the words for a question: dict from option to words."""
    network = picture.network
    if network is None:
        return {}
    is_assumed = picture.graph is not None and any(note.startswith(UNKNOWN_CABLES) for note in picture.graph.notes)
    several = is_assumed and picture.graph is not None and len(picture.graph.levels) > 1
    above = " and on the levels above (core-taper=K)" * several
    cables = {"taper": f"the cables above a leaf (taper=2: half as many as hosts){above}"} if is_assumed else {}
    is_job = "nodes" in picture.arguments() and not picture.tasks_per_node
    tasks = {"tasks_per_node": f"the tasks on each host (e.g. {TASKS})"} if is_job else {}
    return cables | tasks | (
        {"bandwidth": f"the bandwidth of a cable (e.g. {BANDWIDTH})"} if network.bandwidth is None else {})


def _next(picture, words, output, asked):
    """Yield the commands that lead to a plan for this job. `words` are the sources that were named to this command."""
    if picture.path == COPY:
        yield f"{' '.join(SCONTROL)} > {COPY}"
    free = next(name for name in ("nodes.txt", "job.txt") if name not in words)  # the input is not written over
    given = picture.arguments(output or free)
    if "nodes" in given and not output:
        words = [COPY] if picture.path == COPY else words
        yield f"pencilmap network {' '.join([*words, '-o', shell.path(given['nodes'])])}"
    if "taper" in asked:
        given["network"] += ",taper=2"
    if "tasks_per_node" in asked:
        given = {"network": given["network"], "tasks_per_node": str(TASKS), **given}
    if "bandwidth" in asked:
        given["bandwidth"] = BANDWIDTH
    options = " ".join(f"--{name.replace('_', '-')} {shell.path(value)}" for name, value in given.items() if name != "hosts")
    yield f"pencilmap plan {options} --fft {EXAMPLE}"
