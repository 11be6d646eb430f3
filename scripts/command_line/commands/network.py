"""`pencilmap network`: the network of the job, or of a machine; the known machines, and the sources of their figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from pencilmap.model.base.errors import PartitionError
from pencilmap.model.base.units import counted
from pencilmap.model.machines import machine_names, package_figures
from pencilmap.scripts.command_line.pages import FILES, JSON, MACHINE, OUTPUT_FILE, WIDE, Name, Page, with_options
from pencilmap.scripts.command_line.tables import broken, print_json, print_table, say

if TYPE_CHECKING:
    from pencilmap.model.machines.machine import Machine
    from pencilmap.model.network.torus import Torus
    from pencilmap.model.times.costs import Costs

NETWORK = 20  # characters of a line of a network, so that the list of machines fits a terminal


def show_machine(name: str, nodes: str | None, as_json: bool) -> None:
    """Show every figure of a machine with its source, its partitions of a number of nodes or a shape, or listed nodes."""
    machine = _loaded(name)
    if nodes is None:
        _show_one(machine, as_json)
        return
    from pencilmap.mapper.allocations.table import read_table
    from pencilmap.mapper.ask import given_nodes

    listed, network = given_nodes(nodes), machine.network
    if listed.path is not None:
        _show_units(network, read_table(listed.path, network).nodes, f"{listed.path} on {machine.name}", as_json)
    elif not network.has_coordinates:
        if listed.count is None or listed.count > network.n_nodes:
            raise PartitionError(f"{network.title} has no shapes, and {network.n_nodes} nodes; give their number, or a file "
                                 "that lists them")
        _show_units(network, range(listed.count), f"the first {counted(listed.count, 'node')} of {machine.name}", as_json)
    elif listed.shape is not None:
        _show_tori([machine.partition(listed.shape)], f"partition {listed.shape}", machine, as_json)
    else:
        _show_partitions(machine, listed.count, as_json)


def _loaded(name: str) -> Machine:
    from pencilmap.model.machines.machine import load_machine  # loads NumPy, which the list of all machines does not need

    return load_machine(name)


def show_machines(wide: bool, as_json: bool) -> None:
    """List the machines."""
    if as_json:
        print_json(*[_summary(_loaded(name)) for name in machine_names()])
        return
    columns = {"network": "shape", ">tasks/\nnode": "tasks_per_node", ">link bandwidth": "link_bandwidth",
               "format": "formats"} | ({"partitions": "partition"} if wide else {})
    print_table(None, ["machine", *(["title"] if wide else []), *columns],
                [_line(name, columns.values(), wide) for name in machine_names()],
                ["format: of the file that `pencilmap map` writes for the launcher; --wide: titles and partition rules",
                 "* uncertain; --machine NAME shows every figure with its source"])
    say("take one with --machine NAME, a part of it with --nodes; another network with --network")


def _line(name: str, keys: Iterable[Any], wide: bool) -> list[str]:
    title, figures = package_figures(name)
    cells = [_marked(figures.get(key, figures.get("network") if key == "shape" else None), key) for key in keys]
    if not wide:
        cells = [broken(cell, NETWORK, ":,") if key == "shape" else cell.replace(", ", ",\n")
                 for key, cell in zip(keys, cells)]
    return [name, *([title] if wide else []), *cells]


def _marked(figure: Any, key: str) -> str:
    """Write a figure as in the file, with an asterisk if it is uncertain."""
    if figure is None:
        return "-"
    if key == "formats":
        return figure.value[0]
    text = figure.value["rule"] if key == "partition" else _text(figure.value)
    return f"{text} *" if not figure.certain else text if ", " in text else f"{text}  "


def _show_one(machine: Machine, as_json: bool) -> None:
    if as_json:
        print_json(_summary(machine) | {"figures": {k: f.__dict__ for k, f in machine.figures.items()}})
        return
    print_table(f"{machine.name}: {machine.title}", ["figure", "value", "certain"],
                [[k, _text(f.value).replace(", ", ",\n"), "yes" if f.certain else "NO"] for k, f in machine.figures.items()])
    for k, f in machine.figures.items():
        say(f"{k}: {f.source}. {f.note}".strip())


def _summary(machine: Machine) -> dict[str, Any]:
    network = machine.network
    place = {"network": str(network), "classes": list(network.link_classes)} if not network.has_coordinates else {
        "torus": str(network), "shape": list(network.shape), "wrap": list(network.wrap), "axes": network.axes}
    return {"name": machine.name, "title": machine.title, **place, "tasks_per_node": machine.tasks_per_node,
            "link_bandwidth_byte_per_s": list(network.bandwidth),
            **({} if "network" in place else {"cables": list(network.cables)}),
            "costs": _costs(machine.costs), "uncertain": list(machine.uncertain)}


def _costs(costs: Costs) -> dict[str, float | None]:
    ranges = costs.messages and [range_.__dict__ | {"up_to": None if range_.up_to == float("inf") else range_.up_to}
                                 for range_ in costs.messages]
    return costs.__dict__ | ({"messages": ranges} if ranges else {})


def _show_partitions(machine: Machine, n_nodes: Any, as_json: bool) -> None:
    from pencilmap.model.machines.machine import machine_partitions

    tori = [machine.partition(str(torus)) for torus in machine_partitions(machine, n_nodes)]
    if not tori:
        sizes = machine.partition_rule().sizes()
        smaller, larger = [size for size in sizes if size < n_nodes], [size for size in sizes if size > n_nodes]
        raise PartitionError(f"machine {machine.name} hands out no partition of {n_nodes} nodes; the next sizes are "
                             f"{' and '.join(map(str, [*smaller[-1:], *larger[:1]]))}")
    _show_tori(tori, f"partitions of {counted(n_nodes, 'node')}", machine, as_json)


def _show_tori(tori: list[Torus], title: str, machine: Machine, as_json: bool) -> None:
    if as_json:
        print_json(*[{"torus": str(t), "shape": list(t.shape), "wrap": list(t.wrap)} for t in tori])
        return
    doubt = machine.figures["partition"].note if "partition" in machine.uncertain else None
    print_table(None, [title], [[t] for t in tori],
                [f"rule: {machine.partitions}", *([f"note: the rule is uncertain: {doubt}"] if doubt else [])])


def _show_units(network: Any, nodes: Any, title: str | None, as_json: bool) -> None:
    """Show how many nodes are in use in all, and in each level of switches."""
    nodes = list(map(int, nodes))
    units = {level.name: sorted({int(level.unit[node]) for node in nodes}) for level in network.levels}
    if as_json:
        print_json({"network": str(network), "nodes": nodes, **{f"{name}s": unit for name, unit in units.items()}})
        return
    inside = ", ".join(counted(len(unit), name) for name, unit in units.items())
    say(f"{title}: {len(nodes)} of {counted(network.n_nodes, 'node')}" + (f", in {inside}" if units else ""))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(v)}" for key, v in value.items())
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, v)) if isinstance(v, list) else _text(v) for v in value)
    return str(value)


@click.command("network", cls=Page)
@click.argument("files", nargs=-1, type=click.Path())
@MACHINE
@click.option("--machines", is_flag=True, help="List the machines.")
@click.option("--nodes", "-N", metavar="K|SHAPE|FILE", shell_complete=FILES,
              help="With --machine: its partitions of K nodes.\nOr the wraps of a shape, or the nodes of a file.")
@click.option("--network", metavar="TEXT", help="If no source gives it, or a source is wrong.")
@click.option("--no-hardware", is_flag=True, help="Do not ask lstopo for this node's processors.")
@click.option("--output", "-o", type=OUTPUT_FILE, help="Write the nodes: a file for --nodes and --hosts.")
@click.option("--order", type=Name(("list", "name", "switch")), default="list", show_default=True,
              help="Order of the hosts in --output: the launcher's, by name, or switch after switch.")
@with_options(WIDE, JSON)
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], machine: str | None, machines: bool, nodes: str | None,
            network: str | None, no_hardware: bool, output: str | None, order: str, wide: bool, as_json: bool) -> int:
    """Show the network of this job, or of a machine.

    Without arguments, the environment of the job and this node are asked, --wide shows each fact with its source. FILES
    that describe a job or a machine are recognised by their content. The exit status is 1 if nothing is found.
    """
    if named := next((file for file in files if file in machine_names()), None):
        raise click.UsageError(f"{named!r} is a machine; write --machine {named}", ctx)
    if nodes and not machine:
        raise click.UsageError("--nodes needs a machine: name it with --machine", ctx)
    if (machine or machines) and (files or network or output or order != "list"):
        raise click.UsageError("files, --network, --output and --order are for the network of a job; leave --machine out",
                               ctx)
    if machine or machines:
        if machine:
            show_machine(machine, nodes, as_json)
        else:
            show_machines(wide, as_json)
        return 0
    from pencilmap.mapper.graphs import given_network, names_file
    from pencilmap.scripts.command_line.job_network import show_job

    if network and not names_file(network):
        given_network(network)  # raises an error that also tells of files
    return show_job(files, network, not no_hardware, output, order, wide, as_json)
