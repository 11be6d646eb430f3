"""The start of every question: a machine or network with its usable nodes, and the transform to run there.

Arguments are texts as on the command line. Errors name them in backquotes; the command line prints `tasks_per_node` as
``--tasks-per-node``.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping as Variables, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike, fspath
from os.path import exists
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.mapper.allocations import job_hosts, job_tasks
from pencilmap.mapper.allocations.free import free_hosts
from pencilmap.mapper.allocations.table import NodeTable, node_lines, read_table
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import Job
from pencilmap.mapper.formats.foreign import network_title
from pencilmap.mapper.formats.format import tasks_of_host
from pencilmap.mapper.formats.hostlist import expand_hosts, hosts_document
from pencilmap.mapper.formats.lines import read_document
from pencilmap.mapper.graphs import SHAPE, USAGE, given_network, is_file, is_plain, network_on
from pencilmap.mapper.launchers import at_launch
from pencilmap.mapper.shapes import alike, partition_shapes, torus_boxes
from pencilmap.model.base.errors import GridError, MachineError, MapfileError, PartitionError, near
from pencilmap.model.base.units import counted
from pencilmap.model.decompositions import PENCIL, SLAB, decomposition_named
from pencilmap.model.kinds import with_bandwidth
from pencilmap.model.machines.machine import COSTS, MESSAGES, Machine, load_machine, machine_partitions
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.network.twisted_torus import logical
from pencilmap.model.placement.allocation import Allocation, Site, parse_nodes, whole_network
from pencilmap.model.placement.grid import (
    ProcessGrid,
    Transform,
    decomposition_of,
    grid_in_words,
    is_in_words,
    parse_grid,
    parse_transform,
)
from pencilmap.model.predict.question import FIRST, Question
from pencilmap.model.schedules.schedule import FORWARD
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.scaling import bisection_bandwidth
from pencilmap.model.traffic.exchange import Halo

WRAPS = {"torus": (True,), "mesh": (False,), "both": (True, False)}  # whether the dimensions of each network wrap
LIKE_SHAPE = re.compile(r"(?=[0-9w]*x)x?[0-9]{1,6}w?(x[0-9]{1,6}w?)*x?([:_].*)?")  # meant as a shape
CHOSEN = (PENCIL, SLAB)  # other decompositions are given, not chosen


def named_grid(question: Question, text: str) -> ProcessGrid:
    """Return the process grid that is written ``RxC`` (of slabs ``P``, of bricks ``PxQxS``), or in the words of a library,
    for example ``p_row=64,p_col=48``, checked against the slots.

    A single number means slabs, and three mean bricks, unless the question names a decomposition. Raises GridError.

    >>> named_grid(ask(network="4x4x4"), "64").decomposition.name
    'slab'
    """
    if is_in_words(text):
        grid = grid_in_words(text)
        if grid.decomposition not in (question.decomposition, *question.decompositions):
            raise GridError(f"grid {text} is of {grid.decomposition.name}s, but `decomposition` is "
                            f"{question.decomposition.name}")
    else:
        is_free = len(question.decompositions) > 1
        grid = parse_grid(text, decomposition_of(text) if is_free else question.decomposition)
    question.site.check_grid(grid)
    return grid


def with_launcher(question: Question, launcher: str | None, environ: Variables[str, str] | None,
                  names: str | PathLike[str] | None = None, machine: Machine | None = None) -> Question:
    """Return a question with the order of a launcher; the parameters are those of `ask`."""
    known, guess = _hosts(names, question)
    nodes = question.site.allocation.nodes
    table = {} if known.are_made_up else known.table or dict(zip(nodes.tolist(), known.names(nodes)))
    named = known.hosts or {table[node]: node for node in nodes.tolist() if node in table}
    found = at_launch(question.site, named, machine, launcher, environ)
    return replace(question, site=found.site, hosts=question.hosts and found.hosts,
                   notes=(*question.notes, *guess, *found.notes))


def job_of(question: Question, hosts: str | PathLike[str] | None = None, cores_per_task: int = 1,
           node: str | PathLike[str] | None = None, program: str = "./a.out") -> Job:
    """Return what the launcher knows besides a placement.

    Parameters
    ----------
    question : Question
    hosts : path or str, optional
        A file of lines ``NAME x y z``, a list such as ``c[0-3]``, or a template such as ``nid{node:05d}`` or
        ``node{node+1}``; names of the list of nodes by default.
    cores_per_task : int
        Slot t is bound to this number of consecutive processors, from t * cores_per_task on.
    node : path, optional
        ``lstopo --of xml`` of a node, whose cores the slots share, in place of `cores_per_task`; ``this`` for this machine.
    program : str
        The program in the launch line.
    """
    from pencilmap.mapper.allocations.hwloc import read_node

    names, _ = _hosts(hosts, question)
    if not (names.is_default or question.site.idle):
        names.names(question.site.allocation.nodes)
    per_host = tasks_of_host(question.tasks_per_node, names)
    cores = () if node else _cores(cores_per_task, per_host) * names.per_node
    inside = read_node(node, per_host) if node else None
    if inside and names.is_default and question.network.n_nodes == 1:  # a single node needs no name of its own
        names = Hosts(question.network, table={0: inside.host or "localhost"})
    return Job(question.site, names, cores, program, node=inside)


def node_cores(node: str | PathLike[str]) -> int:
    """Return the number of cores of a node, as `job_of` takes it."""
    from pencilmap.mapper.allocations.hwloc import read_node

    return read_node(node, 1).n_cores


def ask(machine: str | None = None, network: str | PathLike[str] | None = None,
        tasks_per_node: int | Sequence[int] | None = None, *, bandwidth: str | None = None,
        nodes: str | PathLike[str] | int | None = None, failed: str | None = None, idle: bool = False,
        fft: str | None = None, decomposition: str | None = None, robust: bool = False, halo: int | None = None,
        weight: float | None = None, launcher: str | None = None, environ: Variables[str, str] | None = None,
        wrap: str | None = None, direction: str = FORWARD, names: str | PathLike[str] | None = None,
        placed: str | PathLike[str] | None = None, among: str | PathLike[str] | None = None,
        neighbours: float = 0.0) -> Question:
    """Return the question described by texts. A machine or a network is needed; everything else has a default.

    Parameters
    ----------
    machine : str, optional
        A machine of the package, see `pencilmap.model.machines.machine.machine_names`, or a machine file that ends in
        ``.toml``.
    network : path or str, optional
        A network of `pencilmap.model.kinds.KINDS`: ``8x8x8`` (all dimensions wrap), ``8x8x8:mesh``, ``8wx8x4w``,
        ``fat-tree:leaves=32,hosts=16,up=8``. Or ``FILE[,FORMAT]`` of cables, see `pencilmap.mapper.graphs.GRAPHS`. On a
        machine, ``8x8x8`` is a partition, whose wraps the machine's rule decides;
        ``8x8x8:torus`` and ``8x8x8:mesh`` name the wraps.
    tasks_per_node : int or sequence of int, optional
        By default those of the job if the nodes are its hosts, else the machine's, else 1. A plan ranks the grids of
        several numbers together, which become the `shapes` of the question of the largest.
    bandwidth : str, optional
        Of every link instead of the machine's, for example ``148 MB/s``, or of each class of links,
        ``host=25 GB/s,up=50 GB/s``; in a file, of the links that give none.
    nodes : path, str or int, optional
        File of the usable nodes in the launcher's order, or a list such as ``c[010-023,200]``. By default all nodes, or
        those of the job in `environ` if the network is a file that names its hosts. Or their number, which takes the
        partition of the machine with the widest bisection, the most compact box of the torus, or the first nodes of a
        network of switches; a plan may choose others; or their shape, in place of `network`.
    failed : str, optional
        Nodes that must not be used, for example ``1-2-3,0-0-4`` or ``c[010-012]``, or a file of them.
    idle : bool
        Whether a grid may have fewer tasks than there are slots.
    fft : str, optional
        The transform, for example ``512``, ``512x256x128`` or ``512:r2c:single``.
    decomposition : str, optional
        How the tasks share the array: ``pencil`` (grids RxC), ``slab`` (grids P), ``brick:PxQxS`` or ``cubic``. By default a
        plan will choose pencils or slabs, and grids that are named are those of pencils.
    robust : bool
        Whether the worst over the routing rules of the network counts.
    halo : int, optional
        Planes on every side of the input: halos count in the choice of a placement.
    weight : float, optional
        Number of these halos for each transform, 1 by default.
    launcher : str, optional
        The placement format of the launcher, whose order is ``default``, see `pencilmap.mapper.formats.FORMATS`.
    environ : mapping, optional
        The environment variables of the job, whose settings decide about that order; none by default.
    wrap : {"torus", "mesh", "both"}, optional
        The dimensions of the torus all wrap, or none does, in place of the wraps of the machine or the text; "both" asks the
        same question of the torus and the open mesh, which become its `shapes`.
    direction : {"forward", "backward", "pair"}
        Of the transform; a pair is a forward and a backward transform.
    names : path or str, optional
        Names of the nodes, as `hosts` of `job_of`: Slurm's order is that of the names.
    placed : path or str, optional
        File of a placement. If a network file has several parts, the hosts of this file choose one.
    among : path or str, optional
        The free nodes of which a plan may choose a number `nodes`: a file of nodes or a list, or the output of sinfo,
        scontrol show node, pbsnodes or bhosts. All nodes by default.
    neighbours : float
        In a choice of nodes, what each other node of a leaf sends, as a part of what a node of the job sends, 0 to 1.

    Returns
    -------
    Question

    Raises
    ------
    MachineError
        When neither a machine nor a network is named, or two networks are.
    PartitionError
        When the machine has no such partition.
    GridError
        When the halo is impossible, or there is no transform around which to put it.

    Examples
    --------
    >>> question = ask("bluegene-l", "8x8x8", fft="64")
    >>> str(question.network), question.n_slots, question.transform.nx
    ('8x8x8', 512, 64)
    """
    if isinstance(tasks_per_node, Sequence):
        return _several({**locals()}, sorted(set(tasks_per_node)))
    transform = parse_transform(fft) if fft else None
    planes = _halo(halo, weight, transform)
    listed_by = given_nodes(nodes)
    counted = listed_by.count is not None and network is None
    network = network_text(listed_by, machine, None if network is None else fspath(network))

    def hosts() -> Iterable[str]:
        if listed_by.path:
            return _listed_names(listed_by.path)
        return _words(read_document(placed).lines()) if placed else job_hosts(environ or {})

    if machine is None and network is None and placed and (title := network_title(read_document(placed))):
        raise MachineError(f"no network: {placed} looks like {title}; name it with `network` {placed}")
    described, shape = _network(machine, network, bandwidth, hosts)
    if not 0 <= neighbours <= 1:
        raise MachineError(f"`neighbours` {neighbours} is no part of your traffic; give a number from 0 to 1")
    if neighbours and (listed_by.count is None or not shape.levels):
        raise MachineError("`neighbours` counts in the choice of nodes; give their number with `nodes`, or leave it out"
                           if listed_by.count is None else f"`neighbours` counts on cables that the hosts of a leaf, a "
                           f"switch or a group share, and {shape.title} has no such units; leave it out")
    if among == "":
        raise MachineError("`among` is empty; name a file of the free nodes, or list them, such as n[1-4]")
    if among is not None and listed_by.count is None:
        raise MachineError("`among` lists nodes of which some are chosen; give their number with `nodes`")
    has_holes = among is not None or failed is not None
    boxes = torus_boxes(shape, listed_by.count) if listed_by.count and described is None and not has_holes else []
    shape = boxes[0] if boxes else shape
    first = (has_holes or not shape.has_coordinates) and 0 < (listed_by.count or 0) < shape.n_nodes + (among is not None)
    if listed_by.count not in (None, shape.n_nodes) and not first:
        if (listed_by.count or 0) > shape.n_nodes:
            raise PartitionError(f"{shape.title} has {shape.n_nodes} nodes, fewer than the {listed_by.count} of `nodes`; "
                                 "leave `nodes` out to use them all")
        raise PartitionError(f"{shape.title} has {shape.n_nodes} nodes, not the {listed_by.count} of `nodes`; list the free "
                             "nodes in a file, one in each line, and give its name with `among`, or the nodes to take with "
                             "`nodes`")
    given = {"shape": network, "twists": network, "network": network, "partition": not (network and is_plain(network)),
             "tasks_per_node": tasks_per_node, "link_bandwidth": bandwidth}
    listed = read_table(listed_by.path, shape) if listed_by.path else None
    told = tasks_per_node is None and environ and _is_job(shape, nodes is None, listed, described, environ)
    tasks_of_job = job_tasks(environ or {}) if told else None
    tasks_per_node = given["tasks_per_node"] = tasks_per_node or tasks_of_job
    used = figures_used(described, transform, [key for key, value in given.items() if value]) if described else ()
    tasks = _tasks(described, tasks_per_node)
    one = decomposition_named(decomposition or PENCIL.name)

    def on(network: Network) -> Question:
        count = listed_by.count if first else None
        job, notes = _of_job(network, environ or {}) if nodes is None else (None, ())
        named = _job_names(network, environ or {}) if described is None and nodes is None else {}
        if named:
            job, notes = list(named.values()), (_named_by_job(network, named),)
        if listed and (guess := listed.guess(network)):
            notes = (*notes, guess)
        free, names_of_free = _free(among, network, failed) if among else (_allocation(network, listed, failed, job), None)
        if count and count > free.n_nodes:
            raise PartitionError(f"{among or network.title} has {free.n_nodes} free nodes, fewer than the {count} of "
                                 "`nodes`")
        site = Site(network, tasks, Allocation(network, free.nodes[:count]) if count else free, idle)
        found = Question(site=site, among=free if count else None, neighbours=Fraction(neighbours),
                        transform=transform, machine=machine, costs=_costs(described, bandwidth),
                        notes=(*_notes(network, described, used, count), *notes, *_tasks_of_job(tasks_of_job)),
                         hosts=_all_names(listed) or names_of_free or named or None,
                        decomposition=one, decompositions=CHOSEN if decomposition is None else (one,),
                        robust=robust, halo=planes)
        return with_launcher(found, launcher, environ, names, described)

    if wrap is not None:
        both = tuple(on(torus) for torus in _wrapped(shape, wrap))
        return (both[0] if len(both) == 1 else replace(both[0], shapes=both)).towards(direction)
    here = on(shape)
    shapes = tuple(map(on, _shapes(described, shape, bandwidth) if counted and described else boxes))
    return replace(here, shapes=shapes).towards(direction)


def _costs(machine: Machine | None, bandwidth: str | None) -> Costs:
    """The costs of a machine; with another bandwidth its figures are not those of a calibration."""
    costs = machine.costs if machine else Costs()
    return costs if bandwidth is None else replace(costs, fitted_nodes=None)


def _several(given: dict[str, Any], numbers: Sequence[int]) -> Question:
    """Return the question for the largest number of tasks on a node, with those for all numbers as its shapes."""
    if given["wrap"] == "both" and len(numbers) > 1:
        raise MachineError("`wrap` both compares the torus and the open mesh for one number of tasks on a node; give one "
                           "number with `tasks_per_node`, or torus or mesh with `wrap`")
    found = [ask(**{**given, "tasks_per_node": number}) for number in numbers]
    shapes = tuple(here for one in found for here in one.shapes or (one,))
    return found[0] if len(found) == 1 else replace(found[-1], shapes=shapes)


def _wrapped(network: Network, wrap: str) -> list[Network]:
    """Return a torus with all its dimensions wrapped, with none, or both, the torus first."""
    if wrap not in WRAPS:
        raise MachineError(f"`wrap` {wrap[:40]!r} is unknown{near(wrap, WRAPS)}; known are {', '.join(WRAPS)}")
    torus = as_torus(network)
    return [replace(torus, wrap=(rings,) * torus.n_dimensions) for rings in WRAPS[wrap]]


def _tasks(machine: Machine | None, given: int | None) -> int:
    """Return the tasks on a node: the given number, else that of the machine."""
    if machine is None:
        return given or 1
    most = machine.figures.get("most_tasks_per_node")
    if given and most and given > most.value:
        raise MachineError(f"{given} tasks on a node are too many: a node of {machine.name} runs at most {most.value}; give "
                           "fewer with `tasks_per_node`, and threads with `threads`")
    return given or machine.tasks_per_node


def _halo(width: int | None, weight: float | None, transform: Transform | None) -> Halo | None:
    if width is None:
        if weight is not None:
            raise GridError("`weight` is the number of halos for each transform; give their planes with `halo`, e.g. 1")
        return None
    if transform is None:
        raise GridError("a halo is around an array: give its extents with `fft`, e.g. 64")
    return Halo(width, 1.0 if weight is None else weight)


def _shapes(machine: Machine, taken: Any, bandwidth: str | None) -> list[Network]:
    """Return the partitions of a machine with as many nodes as the taken partition, perhaps with another bandwidth."""
    if machine.partitions is None or not taken.has_products or taken == machine.torus:
        return []
    others = [with_bandwidth(torus, bandwidth) for torus in partition_shapes(machine, taken.n_nodes)]
    return [taken if alike(torus) == alike(taken) else torus for torus in others]


def _notes(network: Network, machine: Machine | None, used: Iterable[str], count: int | None) -> Iterator[str]:
    """Yield what a reader of any prediction needs to know about the network."""
    yield from network.notes
    if count:
        nodes = "the node is" if count == 1 else f"the {count} nodes are"
        yield f"{nodes} {FIRST}"
    if machine:
        yield from machine.doubts(network, used)


def _of_job(network: Network, environ: Variables[str, str]) -> tuple[list[int] | None, tuple[str, ...]]:
    """Return the nodes of the job around this command, None if it has none of the network, and a note if it has a part."""
    node_of = {name: node for node, name in (network.host_names or {}).items()}
    hosts = dict.fromkeys(job_hosts(environ)) if node_of else {}
    found = [node_of[name] for name in hosts if name in node_of]
    if not found:
        return None, ()
    if len(found) == network.n_nodes:
        return found, ()
    others = [name for name in hosts if name not in node_of]
    without = f"; left out: {', '.join(others[:3])}{', ...' * (len(others) > 3)}, not in the network" if others else ""
    return found, (f"the {counted(len(found), 'node')} of this job{without}; --nodes {network.n_nodes} takes all nodes",)


def _job_names(network: Network, environ: Variables[str, str]) -> dict[str, int]:
    """Return the nodes of the hosts of a job that has as many hosts as a network without names has nodes; {} without.

    The numbers in the names decide if each of them is a node, else the order of the hosts.
    """
    known, hosts = Hosts(network), list(dict.fromkeys(job_hosts(environ)))
    if len(hosts) != network.n_nodes or not known.are_made_up:
        return {}
    nodes = [known.node(name) for name in hosts]
    numbers = [node for node in nodes if node is not None]
    return dict(zip(hosts, numbers if len(set(numbers)) == len(hosts) else range(len(hosts))))


def _is_job(network: Network, all_nodes: bool, listed: NodeTable | None, machine: Machine | None,
            environ: Variables[str, str]) -> bool:
    """Return whether the nodes of a question are nodes of the job around this command."""
    if all_nodes:
        return bool(_of_job(network, environ)[0] or (machine is None and _job_names(network, environ)))
    return listed is not None and bool(listed.hosts) and listed.hosts.keys() <= {*job_hosts(environ)}


def _tasks_of_job(tasks: int | None) -> tuple[str, ...]:
    """Return the note about tasks that the job tells."""
    return (f"{counted(tasks, 'task')} on each node, as in this job: --tasks-per-node T takes T",) if tasks else ()


def _named_by_job(network: Network, hosts: dict[str, int]) -> str:
    first = next(iter(hosts))
    return (f"the {len(hosts)} hosts of this job are taken for the nodes, {first} for {network.node_name(hosts[first])} and "
            f"so on: a file of lines NAME {' '.join(network.axes)} as --nodes gives other places")


def figures_used(machine: Machine, transform: Transform | None, replaced: Container[str]) -> list[str]:
    """Keys of the machine's figures that a prediction depends on: those that are not replaced, and costs only if there are
    times.
    """
    uneven = len(set(machine.network.bandwidth or ())) > 1  # then bandwidths also weight the dimensions
    prices = ("link_bandwidth", *COSTS, MESSAGES) if transform else ("link_bandwidth",) if uneven else ()
    known = ("shape", "twists", "network", "partition", "tasks_per_node", "cables", *prices)
    return [key for key in known if key not in replaced]


def _listed_names(path: str | PathLike[str]) -> list[str]:
    """Return the words of a list of nodes that are names."""
    return [word for word in _words(node_lines(hosts_document(path))) if not word.isdecimal()]


def _words(lines: Iterable[tuple[int, str]]) -> list[str]:
    """Return the words of a list of hosts or of a placement, among them the names of its hosts."""
    return [word for _, line in lines for word in re.split(r"[\s,=:]+", line)]


def _network(machine: str | None, network: str | None, bandwidth: str | None,
             hosts: Callable[[], Iterable[str]]) -> tuple[Machine | None, Network]:
    """The machine, None when there is none, and the network, or its part with the hosts of the job."""
    if machine is None:
        if network is None:
            raise MachineError(f"no network: give `machine` NAME, or `network`: {USAGE}")
        return None, given_network(network, bandwidth, hosts)
    described = load_machine(machine)
    return described, network_on(described, network, bandwidth, hosts)


def _allocation(network: Network, listed: NodeTable | None, failed: str | None, job: list[int] | None) -> Allocation:
    """Return the usable nodes: those of a list, those of the job, or all; without failed ones."""
    allocation = (Allocation(network, listed.nodes, listed.shared) if listed else
                  Allocation(network, np.array(job)) if job else whole_network(network))
    return allocation.without(_failed(failed, network, listed)) if failed else allocation


def _free(among: str | PathLike[str], network: Network, failed: str | None) -> tuple[Allocation, dict[str, int] | None]:
    """Return the free nodes that a file or a list names, without failed ones, and the names of all if it has them.

    Hosts outside of the network are left out.
    """
    document, known, names = hosts_document(among), Hosts(network), None
    hosts = free_hosts(document)
    if hosts is None:
        listed = read_table(among, network)
        nodes, names = listed.nodes, _all_names(listed)
    else:
        nodes = np.array([node for name in hosts if (node := known.node(name)) is not None], dtype=np.int64)
        if not len(nodes):
            raise document.refuse(known.why_not(hosts[0]))
    found = Allocation(network, np.unique(nodes))
    return found.without(np.intersect1d(_failed(failed, network, None), nodes)) if failed else found, names


def _all_names(listed: NodeTable | None) -> dict[str, int] | None:
    """Return the node of each host if all nodes of a list have names."""
    return listed.hosts if listed and len(listed.names) == len(listed.nodes) else None


def _failed(given: str, network: Network, listed: NodeTable | None) -> ArrayLike:
    """Return the nodes of a file, or of a list of coordinates and names; names of `listed` come first."""
    if is_file(given):
        return read_table(given, network).nodes
    words = expand_hosts(given) if "[" in given else list(map(str.strip, given.split(",")))
    known = listed.hosts if listed else {}
    others = [word for word in words if word not in known]
    return [*(known[word] for word in words if word in known), *(parse_nodes(",".join(others), network) if others else ())]


def _hosts(given: str | PathLike[str] | None, question: Question) -> tuple[Hosts, tuple[str, ...]]:
    """Return the names of the nodes, and a note if their places were guessed."""
    if given is None:
        return Hosts(question.network, hosts=question.hosts), ()
    if "{" in str(given) and not exists(given):
        return Hosts(question.network, str(given)), ()
    listed = read_table(given, question.network)
    if not listed.hosts:
        raise MapfileError(f"{given} names no hosts; write lines NAME {' '.join(question.network.axes)}")
    return Hosts(question.network, hosts=listed.hosts), tuple(filter(None, [listed.guess(question.network)]))


def _cores(per_task: int, tasks: int) -> tuple[str, ...]:
    if per_task == 1:
        return tuple(map(str, range(tasks)))
    return tuple(f"{slot * per_task}-{(slot + 1) * per_task - 1}" for slot in range(tasks))


@dataclass(frozen=True)
class GivenNodes:
    """One of three: a path, a number of nodes, or the text of a shape; all are None if nothing was given."""

    path: str | PathLike[str] | None = None
    count: int | None = None
    shape: str | None = None


def given_nodes(given: str | PathLike[str] | int | None) -> GivenNodes:
    """Tell a number and a shape from a path. If a file of that name exists, `given` is a path.

    >>> given_nodes("384").count, given_nodes("8x8x4").shape, given_nodes("hosts.txt").path
    (384, '8x8x4', 'hosts.txt')
    >>> given_nodes("8x8x4:meshh").shape              # so that the error is about shapes
    '8x8x4:meshh'
    """
    if given is None or (not isinstance(given, int) and is_file(given)):
        return GivenNodes(path=None if given is None else given)
    text = str(given).strip()
    if re.fullmatch("[0-9]{1,12}", text) and int(text):
        return GivenNodes(count=int(text))
    if re.fullmatch("[-+.0-9]+(e[0-9]+)?", text):
        raise PartitionError(f"`nodes` {text[:40]} is no number of nodes; give 1 or more, a shape such as 4x4x4, or a file")
    if SHAPE.fullmatch(text) or LIKE_SHAPE.fullmatch(text):
        return GivenNodes(shape=text)
    return GivenNodes(path=given)  # type: ignore[arg-type]


def network_text(nodes: GivenNodes, machine: str | None, network: str | None) -> str | None:
    """Return the argument `network` of a question whose nodes are given by a shape or a number.

    A shape stands for `network`. A number stands for the partition of a machine with the widest bisection. Beside a named
    network a number adds nothing.

    Raises
    ------
    MachineError
        If two networks are named, or a number comes without a machine or a network.
    """
    if nodes.shape is not None:
        if network:
            raise MachineError(f"`nodes` {nodes.shape} and `network` {network} name two networks; give one of them, or a "
                               "file of the usable nodes as `nodes`")
        return nodes.shape
    if nodes.count is None or network:
        return network
    if machine is None:
        raise MachineError(f"`nodes` {nodes.count} does not say how the nodes are linked; give `network`, e.g. 8x8x4, or "
                           "`machine` NAME")
    return partition_for(machine, nodes.count)


def partition_for(machine: str, nodes: int) -> str | None:
    """Return the shape of the partition of `nodes` nodes with the widest bisection. None stands for the whole machine.

    Raises
    ------
    PartitionError
        If there is no such partition.
    """
    found = load_machine(machine)
    if nodes == found.network.n_nodes or not found.network.has_products:
        return None
    if found.partitions is None:
        raise PartitionError(f"machine {machine} has no rule of partitions: give the shape of the {nodes} nodes "
                             "with `network`")
    shapes = machine_partitions(found, nodes)
    if not shapes:
        raise PartitionError(f"machine {machine} hands out no partition of {nodes} nodes: give a shape with `network`")
    best = max(shapes, key=bisection_bandwidth)
    return str(best) if logical(best) is not best else "x".join(map(str, best.shape))
