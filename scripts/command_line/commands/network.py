"""`pencilmap network`: the network of the job, or of a machine."""

import click

from pencilmap.model.machines import machine_names
from pencilmap.scripts.command_line.pages import Page
from pencilmap.scripts.command_line.plain_options import FILES, JSON, MACHINE, OUTPUT_FILE, WIDE, Name, with_options


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
        from pencilmap.scripts.command_line.machines import show_machine, show_machines

        if machine:
            show_machine(machine, nodes, as_json)
        else:
            show_machines(wide, as_json)
        return 0
    from pencilmap.mapper.named_network import given_network, names_file
    from pencilmap.scripts.command_line.job_network import show_job

    if network and not names_file(network):
        given_network(network)  # raises an error that also tells of files
    return show_job(files, network, not no_hardware, output, order, wide, as_json)
