"""Batch systems: the nodes of a job from its environment, and from files of LSF, PBS, Torque and ALPS.

PBS, Torque and ALPS: ``PBS_NODEFILE`` holds a line for each task or each node, hosts in the launcher's order.

The reader also recognises such a file by its content: a host in each line, alone or with its number of tasks as in the
host files of Open MPI (``n1 slots=4``) and MPICH (``n1:4``).

LSF: the host of each task, from the environment or from its affinity file.

``LSB_DJOB_HOSTFILE`` (a host in each line), ``LSB_MCPU_HOSTS`` ("n1 4 n2 4"), ``LSB_HOSTS`` ("n1 n1 n2"): environment
variable reference of IBM Spectrum LSF. ``LSB_AFFINITY_HOSTFILE``: ``HOST CPUS [NUMA-NODES [MEMORY-POLICY]]`` for each task;
Open MPI's ras/lsf reads the first two columns. On machines with jsrun the first host has one slot and runs the job script,
and no tasks.

Flux: the numbers of nodes and tasks from the environment, hosts from ``flux hostlist``.

``FLUX_JOB_NNODES``, ``FLUX_JOB_SIZE``: flux-environment(7). The environment has no names of hosts;
``flux hostlist local`` prints the hosts of the job: flux-hostlist(1).

Blue Gene/Q: the shape of the block from the environment of a job script.

``RUNJOB_SHAPE`` and ``COBALT_SHAPE`` (bgq-driver, runjob client), ``LOADL_BG_SHAPE`` (LoadLeveler): five numbers are nodes,
four are midplanes of 4x4x4x4x2. A block of whole midplanes counts as a torus. A smaller block counts as a torus in E and a
mesh in the other dimensions. ``LOADL_BG_CONNECTIVITY`` is shown if set. Ranks per node: ``RUNJOB_RANKS_PER_NODE``.

Fujitsu K, FX and Fugaku: the shape of the job from the environment.

``PJM_MPI_SHAPE_X/Y/Z`` (processes' shape) before ``PJM_NODE_X/Y/Z`` (nodes' shape), ``PJM_PROC_BY_NODE``, ``PJM_MPI_PROC``:
public Fugaku job scripts; HPX, batch_environments/pjm_environment.cpp. The user requests a torus with ``node=...:torus``,
which is not in the environment; from 385 nodes on, Fugaku always gives a torus (user guide 1.49).

A job whose nodes are not contiguous (``node=...:noncont``) has a number of nodes (``PJM_NODE``) but no shape. Each process
can ask for its coordinates: ``utofu_query_my_coords`` of uTofu.

TPU slices: the shape from the environment, devices from the output of ``print(jax.devices())``.

``TPU_TOPOLOGY`` ("4x4x8") with ``TPU_TOPOLOGY_WRAP`` ("true,true,true"): the tpu-env of public TPU set-up files.
``TpuDevice(id=2, process_index=0, coords=(0,1,0), core_on_chip=0)``: public JetStream log.

The MPI of a job whose batch system leaves the start of tasks to mpirun, by the first lines of ``mpirun --version``.
"""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from pencilmap.mapper.allocations.found import Fact, Found, box_facts, mesh_box, shortened
from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import MAX_LINE, MAX_PLACES, Document, is_integer, read_document
from pencilmap.model.base.errors import MapfileError

_LINE = re.compile(r"(?P<host>[^\s:=]+)(?::(?P<count>[1-9][0-9]{0,6}))?(?P<rest>(\s+[A-Za-z_-]+=\S+)*)")
_SLOTS = r"(?<![\w-])(slots|cpus?|count)\s*=\s*([0-9]{1,7})\b"


def from_environment_pbs(environ: Mapping[str, str]) -> Found | None:
    return hosts_of_tasks(*hosts_of_file(environ, "PBS_NODEFILE")) if environ.get("PBS_NODEFILE") else None


def looks_like_pbs(document: Document) -> bool:
    """Return whether the first line is a host, alone or with its number of tasks."""
    match = _LINE.fullmatch(document.head(1)[0][1].strip()[:MAX_LINE])
    return match is not None and not is_integer(match["host"]) and _is_name(match["host"])


def find_pbs(document: Document) -> Found:
    return hosts_of_tasks(hosts_in(document), document.label)


def hosts_in(document: Document) -> list[str]:
    """Return the host of each line, as often as it has tasks."""
    hosts, kinds = list[str](), set[bool]()
    for number, line in document.lines():
        match = _LINE.fullmatch(line.strip())
        if match is None or not _is_name(match["host"]):
            raise document.refuse(f"{line.strip()[:40]!r} is not a host, as in the lines above; write a host in each "
                                  "line, as often as it has tasks", number)
        slots = re.search(_SLOTS, match["rest"])
        kinds |= {slots is not None} if "=" in match["rest"] or slots else {*kinds} or {False}
        if len(kinds) > 1:
            raise document.refuse(f"{line.strip()[:40]!r}: some hosts have slots=, and others have none; give all of them "
                                  "slots=", number)
        hosts += [match["host"]] * int(match["count"] or (slots[2] if slots else 1))
        if len(hosts) > MAX_PLACES:
            raise document.refuse(f"more than {MAX_PLACES} tasks", number)
    return hosts


def hosts_of_file(environ: Mapping[str, str], variable: str) -> tuple[list[str], str]:
    """Return the hosts in the lines of the file that a variable names, and the source for facts."""
    path = environ[variable]
    try:
        document = read_document(path)
    except MapfileError as error:
        raise MapfileError(f"{variable}: {error}; run on a host that has this file, or unset {variable}") from error
    return hosts_in(document), f"{variable}={path}"


def hosts_of_tasks(hosts: Sequence[str], source: str) -> Found:
    """Return the hosts in order, and the most tasks of a host, from the host of each task."""
    counts = Counter(hosts)
    tasks = max(counts.values(), default=None)
    few = [f"{host} has {n}" for host, n in counts.items() if n != tasks]
    facts = (Fact("hosts", f"{len(counts)}: {shortened(tuple(counts))}", source),
             Fact("tasks per node", f"{tasks}{', but ' * bool(few)}{shortened(few)}", source))
    return Found(facts, hosts=tuple(counts)).with_tasks(counts.values())


def _is_name(word: str) -> bool:
    try:
        return bool(check_name(word))
    except MapfileError:
        return False


FILE_NAME = "hostAffinityFile"  # as LSF names the file, after a number
_NUMBERS = r"[0-9]{1,6}(?:-[0-9]{1,6})?(?:,[0-9]{1,6}(?:-[0-9]{1,6})?)*"
_AFFINITY = re.compile(rf"\s*([A-Za-z_][\w.-]*)\s+({_NUMBERS})(?:\s+({_NUMBERS}|-)(?:\s+[0-9]|\s+-)?)?\s*", re.ASCII)


def from_environment_lsf(environ: Mapping[str, str]) -> Found | None:
    if environ.get("LSB_DJOB_HOSTFILE"):
        return _of_tasks(*hosts_of_file(environ, "LSB_DJOB_HOSTFILE"), environ)
    if words := environ.get("LSB_MCPU_HOSTS", "").split():
        counts = [int(n) if n.isdecimal() and n.isascii() and len(n) < 6 else 0 for n in words[1::2]]
        if len(words) % 2 == 0 and all(counts):
            hosts = [host for host, n in zip(words[::2], counts) for _ in range(n)]
            return _of_tasks(hosts, "LSB_MCPU_HOSTS", environ)
    hosts = environ.get("LSB_HOSTS", "").split()
    return _of_tasks(hosts, "LSB_HOSTS", environ) if hosts else None


def _of_tasks(hosts: Sequence[str], source: str, environ: Mapping[str, str]) -> Found:
    """Return the hosts without the launch node of jsrun: one slot on the first host, and as many on all others.

    Without jsrun on the path its name must differ from those of the others in more than numbers.
    """
    counts = list(Counter(map(check_name, hosts)).items())
    (first, slots), *others = counts
    letters = [re.sub("[0-9]+", "0", name.partition(".")[0]) for name, _ in counts]
    if not (slots == 1 and len({count for _, count in others}) == 1 and others[0][1] > 1
            and (letters[0] not in letters[1:] or shutil.which("jsrun", path=environ.get("PATH", "")))):
        return hosts_of_tasks(hosts, source)
    by_host = hosts_of_tasks(hosts[1:], source)
    left_out = Fact("launch node", f"{first}, which runs no tasks of jsrun: left out", source)
    return replace(by_host, facts=(*by_host.facts, left_out))


def looks_like_lsf(document: Document) -> bool:
    """Return whether the lines are an LSF affinity file.

    The evidence is the file's name, a list of processors, or a host given twice with the same memory policy in all lines.
    In a table of coordinates a host given twice is a mistake.
    """
    lines = [line for _, line in document.lines(longest=None)]
    matches = [match for line in lines[:1000] if (match := _AFFINITY.fullmatch(line))]
    if len(matches) < min(len(lines), 1000):
        return False
    twice = len({match[1] for match in matches}) < len(matches)
    return (document.label.endswith(FILE_NAME) or any(re.search("[,-]", match[2]) for match in matches)
            or (twice and len({tuple(match[0].split()[3:]) for match in matches}) == 1 and len(matches[0][0].split()) == 4))


def find_lsf(document: Document) -> Found:
    hosts, cpus = [], set()
    for number, line in document.lines():
        match = _AFFINITY.fullmatch(line)
        if not match:
            raise document.refuse(f"{line.strip()[:40]!r} is not HOST CPUS NUMA-NODES MEMORY-POLICY, as in LSF's affinity "
                                  "file", number)
        hosts.append(match[1])
        cpus.add(match[2])
    tasks = hosts_of_tasks(hosts, document.label)
    fact = Fact("processors of a task", f"{', '.join(sorted(cpus)[:4])}{', ...' * (len(cpus) > 4)} (LSF affinity)",
                document.label)
    return Found((*tasks.facts, fact), hosts=tasks.hosts, tasks_per_node=tasks.tasks_per_node,
                 most_tasks=tasks.most_tasks)


COMMAND = ("flux", "hostlist", "local")


def from_environment_flux(environ: Mapping[str, str]) -> Found | None:
    numbers = {name: environ.get(name, "") for name in ("FLUX_JOB_NNODES", "FLUX_JOB_SIZE")}
    counts = {name: int(text) for name, text in numbers.items() if text.isascii() and text.isdecimal() and 0 < len(text) < 9}
    if not environ.get("FLUX_JOB_ID") and not counts:
        return None
    nodes, tasks = counts.get("FLUX_JOB_NNODES"), counts.get("FLUX_JOB_SIZE")
    facts = [Fact(what, str(counts[name]), name) for name, what in
             (("FLUX_JOB_NNODES", "nodes"), ("FLUX_JOB_SIZE", "tasks")) if name in counts]
    per_node = [tasks // nodes, -(-tasks // nodes)] if nodes and tasks and tasks >= nodes else []
    return Found(tuple(facts) or (Fact("job", environ["FLUX_JOB_ID"][:40], "FLUX_JOB_ID"),)).with_tasks(per_node)


MIDPLANE = (4, 4, 4, 4, 2)
VARIABLES = ("RUNJOB_SHAPE", "COBALT_SHAPE", "LOADL_BG_SHAPE")


def from_environment_bluegene(environ: Mapping[str, str]) -> Found | None:
    for variable in VARIABLES:
        if re.fullmatch(r"[0-9]{1,3}(x[0-9]{1,3}){3,4}", environ.get(variable, "")):
            return _found(environ, variable, [int(n) for n in environ[variable].split("x")])
    return None


def _found(environ: Mapping[str, str], variable: str, numbers: Sequence[int]) -> Found:
    shape = numbers if len(numbers) == 5 else [n * m for n, m in zip([*numbers, 1], MIDPLANE)]
    whole = all(n % m == 0 for n, m in zip(shape, MIDPLANE))
    text = "x".join(f"{n}w" if whole or m == 2 else str(n) for n, m in zip(shape, MIDPLANE))
    facts = [Fact("block", "x".join(map(str, shape)), f"{variable}={environ[variable]}"),
             Fact("wrap", "whole midplanes: all dimensions" if whole else "part of a midplane: E alone", "the shape")]
    if environ.get("LOADL_BG_CONNECTIVITY"):
        facts.append(Fact("connectivity", environ["LOADL_BG_CONNECTIVITY"][:80], "LOADL_BG_CONNECTIVITY"))
    tasks = environ.get("RUNJOB_RANKS_PER_NODE", "")
    if tasks.isdecimal():
        facts.append(Fact("tasks per node", tasks, "RUNJOB_RANKS_PER_NODE"))
    return Found(tuple(facts), text, tasks_per_node=int(tasks[:6]) if tasks.isdecimal() else None)


TORUS_FROM = 385
COUNTS = {"PJM_JOBID": "job", "PJM_NODE": "nodes", "PJM_MPI_PROC": "tasks", "PJM_PROC_BY_NODE": "tasks per node"}


def from_environment_fujitsu(environ: Mapping[str, str]) -> Found | None:
    for prefix in ("PJM_MPI_SHAPE", "PJM_NODE"):
        extents = [environ.get(f"{prefix}_{axis}") for axis in "XYZ"]
        shape = [int(n) for n in extents if n and n.isdecimal() and n.isascii() and 0 < int(n[:9]) < 1 << 20]
        if shape:
            return _found_fujitsu(environ, prefix, shape)
    return _without_shape(environ) if any(environ.get(name) for name in ("PJM_JOBID", "PJM_NODE", "PJM_MPI_PROC")) else None


def _without_shape(environ: Mapping[str, str]) -> Found:
    """Return the facts of a job whose nodes form no box."""
    facts = [Fact(what, environ[name][:80], name) for name, what in COUNTS.items() if environ.get(name)]
    facts.append(Fact("shape", "not given; nodes that are not contiguous have none", "no PJM_NODE_X"))
    return Found(tuple(facts), tasks_per_node=_tasks(environ), missing=(
        "the shape of the torus and the coordinates of the nodes: run a step in which each process prints its coordinates "
        "(utofu_query_my_coords), and give the shape with `network` and the lines as a file"))


def _tasks(environ: Mapping[str, str]) -> int | None:
    tasks = environ.get("PJM_PROC_BY_NODE", "")
    return int(tasks[:6]) if tasks.isdecimal() and tasks.isascii() and int(tasks[:6]) > 0 else None


def _found_fujitsu(environ: Mapping[str, str], prefix: str, shape: Iterable[int]) -> Found:
    nodes = 1
    for n in shape:
        nodes *= n
    text = "x".join(map(str, shape)) + ("" if nodes >= TORUS_FROM else ":mesh")
    facts = [Fact("shape", "x".join(map(str, shape)), f"{prefix}_X, _Y, _Z"),
             Fact("wrap", "torus: always, from 385 nodes on" if nodes >= TORUS_FROM else
                  "not given; assumed a mesh; name the torus if node=...:torus was requested", "number of nodes")]
    if _tasks(environ):
        facts.append(Fact("tasks per node", environ["PJM_PROC_BY_NODE"], "PJM_PROC_BY_NODE"))
    return Found(tuple(facts), text, tasks_per_node=_tasks(environ))


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
    forms = {name: form for name, form in OTHERS.items() if shutil.which(name, path=path)}
    mpirun, mpiexec = (shutil.which(name, path=path) for name in ("mpirun", "mpiexec"))
    if any(name.startswith("PALS_") for name in environ) or PALS.match(_version(mpiexec)) or PALS.match(_version(mpirun)):
        forms["aprun"] = "cray"  # PALS has an aprun, too
    if mpirun and not PALS.match(_version(mpirun)):
        forms["mpirun"] = next((form for words, form in VERSIONS.items() if re.search(words, _version(mpirun))), None)
    return next(iter(forms.values())) if len(forms) == 1 else None


@lru_cache
def _version(program: str | None) -> str:
    """Return what a program says about its version, "" if nothing."""
    try:
        return subprocess.run([program, "--version"], check=True, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S).stdout if program else ""
    except (OSError, subprocess.SubprocessError):
        return ""


_DEVICE = re.compile(r"TpuDevice\(id=([0-9]{1,9}),[^()]{0,80}coords=\(([0-9, ]{1,40})\)(?:,\s*core_on_chip=([0-9]{1,3}))?")


def from_environment_tpu(environ: Mapping[str, str]) -> Found | None:
    text = environ.get("TPU_TOPOLOGY") or environ.get("TOPOLOGY", "")
    if not re.fullmatch(r"[0-9]{1,4}(x[0-9]{1,4}){0,2}", text) or not any(v.startswith("TPU_") for v in environ):
        return None
    shape = text.split("x")
    wrap = [word == "true" for word in environ.get("TPU_TOPOLOGY_WRAP", "").lower().split(",")][:len(shape)]
    facts = [Fact("slice", text, "TPU_TOPOLOGY"),
             Fact("wrap", ", ".join("yes" if w else "no" for w in wrap) if len(wrap) == len(shape) and any(wrap) else
                  "no dimension" if environ.get("TPU_TOPOLOGY_WRAP") else "not told; none is assumed", "TPU_TOPOLOGY_WRAP")]
    torus = "x".join(f"{n}{'w' if w else ''}" for n, w in zip(shape, [*wrap, False, False])) if any(wrap) else f"{text}:mesh"
    return Found(tuple(facts), torus)


def _refuse_part(document: Document) -> None:
    """Refuse a list that was shortened, or that ends in the middle."""
    first = _DEVICE.search(document.text)
    cut = re.search(r"\.\.\.|\N{HORIZONTAL ELLIPSIS}|TpuDevice(?!\(id=)", document.text)
    whole = sum(1 for _ in _DEVICE.finditer(document.text))
    begun = document.text.count("TpuDevice(")
    open_list = first and document.text[:first.start()].rstrip().endswith("[") and "]" not in document.text[first.start():]
    if cut or begun > whole or open_list:
        at = cut.start() if cut else len(document.text.rstrip())
        raise document.refuse("the list of devices is not complete; print every device, as in "
                              "print(*jax.devices(), sep='\\n')", document.text.count("\n", 0, at) + 1)


def looks_like_tpu(document: Document) -> bool:
    return bool(_DEVICE.search(document.text))


def find_tpu(document: Document) -> Found:
    _refuse_part(document)
    devices = sorted((int(number), tuple(int(c) for c in coords.split(",") if c.strip()), int(core or 0))
                     for number, coords, core in _DEVICE.findall(document.text))
    slices = set(re.findall(r"slice_index=([0-9]+)", document.text))
    if len(slices) > 1 or len({device[1:] for device in devices}) < len(devices):
        raise document.refuse("has devices of several slices, or a device twice, and no torus joins two slices; print those "
                              "of one slice, as in print([d for d in jax.devices() if d.slice_index == 0])")
    chips = list(dict.fromkeys(coords for _, coords, _ in devices))
    cores = max(core for _, _, core in devices) + 1
    if len({len(c) for c in chips}) > 1:
        raise document.refuse("has devices with different numbers of coordinates")
    facts = (Fact("devices", f"{len(devices)}: {len(chips)} chips of {cores} cores", document.label),
             *box_facts("chips", chips, document.label))
    return Found(facts, mesh_box(chips), coordinates=tuple(chips), tasks_per_node=cores)
