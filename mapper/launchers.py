"""The launcher of a job: the order in which it fills the nodes, and the placement file that it reads.

The order comes from the job's settings, the launcher, the machine, or is the usual order. The settings are variables of the
environment. A visible setting decides even if its order cannot be written here: then no order applies, and no gain will be
stated. The format of the file comes from the machine file, or else from the batch system around us; if neither gives a
format, the user must name a format.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.allocations import job_format, job_hosts, look_around
from pencilmap.mapper.allocations.found import shortened
from pencilmap.mapper.formats import READABLE
from pencilmap.mapper.formats.hostlist import BY_SWITCH, sorted_by_slurm
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.machines.machine import Machine
from pencilmap.model.network.twisted_torus import logical
from pencilmap.model.placement.allocation import USUAL, Allocation, LaunchOrder, Site, by_name

FILLS, ROUND = ("tn",), ("nt",)
CRAY_METHODS = {"0": ("Cray's round-robin order", ROUND), "2": ("Cray's folded order", ()),
                "3": ("the order of Cray's MPICH_RANK_ORDER file", ()), "1": ("Cray's SMP order", FILLS)}
OPENMPI_FILLS = ("slot", "core", "hwthread", "socket", "package", "numa", "l1cache", "l2cache", "l3cache", "board", "ppr",
                 "fill")
OPENMPI_4 = ("OMPI_MCA_rmaps_base_ranking_policy", "OMPI_MCA_rmaps_base_mapping_policy",  # the first one that is set decides
             "OMPI_MCA_rmaps_base_schedule_policy")
OPENMPI_5 = ("PRTE_MCA_rmaps_default_ranking_policy", "PRTE_MCA_rmaps_default_mapping_policy")
SORTED = ("Slurm fills the nodes in the order of their names ({}), and not of the list; switch by switch with "
          "TopologyParam=SwitchAsNodeRank, and from 26.05 on unless CR_NO_DIST_TOPO_BLOCK is set")
OPENMPI_SWITCHES = {"OMPI_MCA_rmaps_base_bynode": "node", "OMPI_MCA_rmaps_base_byslot": "slot"}


def launch_order(site: Site, machine: Machine | None = None, launcher: str | None = None,
                 environ: Mapping[str, str] | None = None) -> LaunchOrder:
    """Return the launch order of a site, in the letters of its network.

    Parameters
    ----------
    site : Site
    machine : Machine, optional
        Its file may name the order, or else the formats of its launcher.
    launcher : str, optional
        The placement format of the launcher that the user named, see `pencilmap.mapper.formats.READABLE`.
    environ : mapping, optional
        The variables of the job; none by default.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> site = Site(Torus((4, 4)), 2)
    >>> [launch_order(site, environ=job).orders for job in ({}, {"MPICH_RANK_REORDER_METHOD": "0"})]
    [('tn',), ('nt',)]
    """
    return _chosen(site, machine, launcher, environ or {})[1]


def _chosen(site: Site, machine: Machine | None, launcher: str | None,
            environ: Mapping[str, str]) -> tuple[LaunchOrder, LaunchOrder]:
    """Return the launch order as its source states it, and in the letters of the network of a site."""
    if form := READABLE.get(launcher or ""):  # without an order, the file is for any launcher
        launcher = form.launched_as or (launcher if form.launch_order else None)
    set_here = job_setting(environ, launcher)
    if set_here:
        return set_here, _on(site, set_here)
    for order in _known(machine, launcher, environ):
        fitting = _on(site, order)
        if fitting.orders:
            return order, fitting
    return USUAL, USUAL


class AtLaunch(NamedTuple):
    """A site with the order of its launcher, the nodes of the hosts in this order, and notes about it."""

    site: Site
    hosts: dict[str, int]
    notes: tuple[str, ...] = ()


def at_launch(site: Site, hosts: dict[str, int], machine: Machine | None = None, launcher: str | None = None,
              environ: Mapping[str, str] | None = None) -> AtLaunch:
    """Return a site with the order in which a launcher fills its slots and its nodes.

    Most launchers take the nodes in the order of their list. Slurm sorts them by name, whatever the list: in the order of
    the job's list if the job has all of them, else by name, or by switch if the network file says so.

    Parameters
    ----------
    site : Site
    hosts : dict of str to int
        The node of each host, empty if the names of the hosts are not known.
    machine, launcher, environ
        As for `launch_order`.
    """
    environ = environ or {}
    stated, order = _chosen(site, machine, launcher, environ)
    usable = set(site.allocation.nodes.tolist())
    listed = [name for name, node in hosts.items() if node in usable]
    if stated.orders != by_name(stated.orders[0] if stated.orders else "") or usable != {hosts[name] for name in listed}:
        return AtLaunch(replace(site, launch=order), hosts)
    names, notes = _by_slurm(site, listed, hosts, environ)
    nodes = np.array([hosts[name] for name in names], dtype=np.int64)
    allocation = Allocation(site.network, np.array(list(dict.fromkeys(nodes.tolist()))),
                            None if site.allocation.hosts is None else nodes, listed=True)
    site = replace(site, allocation=allocation)
    order = _chosen(site, machine, launcher, environ)[1]
    order = replace(order, certain=order.certain and not notes)
    return AtLaunch(replace(site, launch=order), {name: hosts[name] for name in (*names, *hosts)}, notes)


def _by_slurm(site: Site, listed: list[str], hosts: dict[str, int],
              environ: Mapping[str, str]) -> tuple[list[str], tuple[str, ...]]:
    """Return hosts in the order of Slurm, and a note if this is not the order of their list."""
    job = {name: number for number, name in enumerate(dict.fromkeys(job_hosts(environ)))}
    if job.keys() >= set(listed):
        return sorted(listed, key=job.__getitem__), ()
    if BY_SWITCH in site.network.notes:
        return sorted(listed, key=hosts.__getitem__), ()
    names = sorted_by_slurm(listed)
    return names, (SORTED.format(shortened(names)),) * (names != listed)


def _on(site: Site, order: LaunchOrder) -> LaunchOrder:
    """The order here. Where a node has one slot, orders that differ in the slot alone are one. In one dimension the order
    of the axis is that of the numbers of the nodes.
    """
    letters = logical(site.network).axes
    question = order.on(letters, site.digits).of_nodes(site.allocation.listed or len(letters) == 1)
    if site.tasks_per_node > 1 or not question.orders:
        return question
    different = {re.sub("t[0-9]*", "", letters_): letters_ for letters_ in reversed(question.orders)}
    return replace(question, orders=tuple(reversed(different.values())),
                   certain=question.certain or len(different) == 1 < len(question.orders))


def _known(machine: Machine | None, launcher: str | None, environ: Mapping[str, str]) -> Iterator[LaunchOrder]:
    """Yield the orders that may apply without a setting of the job, the preferred order first."""
    formats = machine.figures["formats"].value if machine and "formats" in machine.figures else ()
    if launcher and launcher not in formats:
        yield from _of_format(launcher)
    if machine and machine.launch_order:
        yield machine.launch_order
    for name in formats[:1]:
        yield from _of_format(name)
    yield from _of_batch_system(environ)


def _of_format(name: Any) -> list[LaunchOrder]:
    return [order] if name in READABLE and (order := READABLE[name].launch_order) else []


def _of_batch_system(environ: Mapping[str, str]) -> Iterator[LaunchOrder]:
    name, title = job_format(environ) or (None, "")
    yield from (replace(order, reason=f"the job around this command ({re.split('[;:]', title)[0]})")
                for order in _of_format(name))


def visible_order(environ: Mapping[str, str]) -> LaunchOrder | None:
    """The order that the environment of a job tells: its settings, or else its batch system. None without either. The nodes
    are in the order of the job's list.
    """
    setting = job_setting(environ) or next(_of_batch_system(environ), None)
    return setting and setting.of_nodes(listed=True)


def job_setting(environ: Mapping[str, str], launcher: str | None = None) -> LaunchOrder | None:
    """The order that a variable of the job sets, None if no such variable is set. If the launcher is known, variables of
    other launchers do not count.

    >>> job_setting({"MPICH_RANK_REORDER_METHOD": "2"}).orders, job_setting({})
    ((), None)
    >>> job_setting({"SLURM_DISTRIBUTION": "cyclic"}, "openmpi4") is None
    True
    """
    settings = ((_cray, ("cray", "slurm")), (_openmpi_4, ("openmpi4",)), (_openmpi_5, ("openmpi5",)),
                (_slurm, ("slurm", "cray")), (_cray_default, ("cray", "slurm")), (_intel, ("intel",)), (_runjob, ("bgq",)),
                (_mpirun, ("bgl",)))
    return next(filter(None, (read(environ) for read, launchers in settings if launcher in (None, *launchers))), None)


def _set(environ: Mapping[str, str], variable: str, title: str, orders: tuple[str, ...], source: str) -> LaunchOrder:
    return LaunchOrder(orders, title, source, True, f"{variable}={environ[variable][:80]}")


def _cray(environ: Mapping[str, str]) -> LaunchOrder | None:
    """Return the order of every method but 1, which keeps the order of srun or aprun."""
    return None if environ.get("MPICH_RANK_REORDER_METHOD") == "1" else _cray_default(environ)


def _cray_default(environ: Mapping[str, str]) -> LaunchOrder | None:
    method = environ.get("MPICH_RANK_REORDER_METHOD")
    if not method:
        return None
    title, orders = CRAY_METHODS.get(method, ("Cray's order", ()))
    return _set(environ, "MPICH_RANK_REORDER_METHOD", title, orders, "intro_mpi(3) of Cray MPICH")


def _slurm(environ: Mapping[str, str]) -> Any:
    """Return the order of SLURM_DISTRIBUTION. The parts after the colon place the tasks inside a node."""
    distribution = environ.get("SLURM_DISTRIBUTION", "")
    if not distribution:
        return None
    first = distribution.lower().split(",")[0].split(":")[0]
    kind, _, size = ("block" if first in ("*", "pack", "nopack") else first).partition("=")
    plane = size or environ.get("SLURM_DIST_PLANESIZE", "")
    size_first = f"t{int(plane)}" if re.fullmatch("[0-9]{1,6}", plane) else None
    orders = {"block": by_name("tn"), "cyclic": by_name("nt"),
              "plane": by_name(f"{size_first}nt") if size_first else ()}.get(kind, ())
    name = f"plane {plane}" if kind == "plane" else kind[:20]
    return _set(environ, "SLURM_DISTRIBUTION", f"Slurm's {name} order", orders, "srun(1), --distribution")


def _openmpi_4(environ: Mapping[str, str]) -> None:
    """A policy of modifiers alone, as :OVERSUBSCRIBE, leaves the order as it is."""
    switched = {variable: policy if environ.get(variable, "") in ("1", "true") else ""
                for variable, policy in OPENMPI_SWITCHES.items()}
    options = {variable: environ.get(variable, "") for variable in OPENMPI_4} | switched
    return _openmpi(4, {variable: "" if policy.startswith(":") else policy for variable, policy in options.items()}, environ)


def _openmpi_5(environ: Mapping[str, str]) -> None:
    """The variables of PRRTE. Those of Open MPI 4 have no effect."""
    return _openmpi(5, {variable: environ.get(variable, "") for variable in OPENMPI_5}, environ)


def _openmpi(version: int, options: Mapping[str, str], environ: Mapping[str, str]) -> Any:
    """given : policies by variable, the deciding variable first"""
    variable = next((variable for variable, policy in options.items() if policy), None)
    if variable is None:
        return None
    policy, *modifiers = options[variable].lower().split(":")
    orders = ROUND if policy == "node" else FILLS if policy in OPENMPI_FILLS and "span" not in modifiers else ()
    return _set(environ, variable, f"Open MPI {version}'s order by {policy[:20]}", orders,
                "mpirun(1), --map-by and --rank-by")


def _intel(environ: Mapping[str, str]) -> Any:
    count = environ.get("I_MPI_PERHOST", "")
    if not count:
        return None
    orders = (f"t{int(count)}nt",) if re.fullmatch("[0-9]{1,6}", count) else FILLS if count in ("all", "allcores") else ()
    return _set(environ, "I_MPI_PERHOST", "Intel MPI's order", orders, "Intel MPI developer reference, I_MPI_PERHOST")


def _runjob(environ: Mapping[str, str]) -> Any:
    """Return the order of Blue Gene/Q: letters, the rightmost fastest, or a file."""
    mapping = environ.get("RUNJOB_MAPPING", "")
    orders = (mapping[::-1].lower(),) if re.fullmatch("[A-ET]{6}", mapping) else ()
    return _set(environ, "RUNJOB_MAPPING", "runjob's order", orders, "runjob --mapping") if mapping else None


def _mpirun(environ: Mapping[str, str]) -> Any:
    """Return the order of Blue Gene/L and /P: letters, the leftmost fastest, or a file."""
    for variable in ("BG_MAPPING", "BGLMPI_MAPPING"):
        mapping = environ.get(variable, "")
        if mapping:
            orders = (mapping.lower(),) if re.fullmatch("[XYZT]{4}", mapping) else ()
            return _set(environ, variable, "mpirun's order", orders, "mpirun -mapfile of Blue Gene")
    return None


@dataclass(frozen=True)
class Choice:
    """A format, the reason for it ("" if the user named it), the other possible formats, and warnings (one sentence each).

    >>> from pencilmap.model.machines.machine import load_machine
    >>> chosen = choose(None, load_machine("fugaku"), {})
    >>> chosen.name, chosen.others, chosen.why
    ('vcoordfile', ('rankmap',), 'machine fugaku')
    """

    name: str
    why: str
    others: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.name, *self.others

    def __str__(self) -> str:
        why = f" for {self.why}" if self.why else ""
        instead = f"; {' or '.join(self.others)} would do as well" if self.others else ""
        return f"format {self.name}{why}{instead}"


def expected(machine: Machine | None, environ: Mapping[str, str]) -> Choice | None:
    """Return the format of a machine's launcher, else of the job around this command; None if neither is known."""
    figure = machine.figures.get("formats") if machine else None
    if figure and machine:
        return Choice(figure.value[0], f"machine {machine.name}", tuple(figure.value[1:]),
                      (figure.note,) if figure.note else ())
    name, title = job_format(environ) or (None, "")
    return Choice(name, f"the job around this command ({title})") if name else None


def choose(name: str | None, machine: Machine | None, environ: Mapping[str, str]) -> Choice:
    """Return the format to write.

    Parameters
    ----------
    name : str or None
        The format that the user named.
    machine : Machine or None
        Its file may name the formats of its launcher (figure ``formats``), the first of which is taken.
    environ : mapping
        Environment variables. Variables of a batch system give its format if the machine names none.

    Raises
    ------
    MapfileError
        If nothing gives a format; the message names two of them, or tells why the files of the job cannot be read.
    """
    expected_ = expected(machine, environ)
    if name is not None:
        return Choice(name, "", caveats=expected_.caveats if expected_ and name in expected_.names else ())
    if expected_:
        return expected_
    look_around(environ)  # tells what is wrong with the files of the job
    whose = f"the machine file of {machine.name} names no launcher" if machine else "no machine was named"
    job = ("the launcher of this job is not recognised" if job_format(environ) else
           "this is not a job of a known batch system")
    raise MapfileError(f"it is not known which file the launcher reads: {whose}, and {job}; give `format`, for example "
                       "slurm or openmpi5; pencilmap help formats has all")
