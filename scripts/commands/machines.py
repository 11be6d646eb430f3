"""`pencilmap machines`: which machines there are, and where their figures come from."""

import click

from pencilmap.model.machine import load_machine, machine_names
from pencilmap.model.units import megabytes_per_second
from pencilmap.scripts.options import JSON
from pencilmap.scripts.tables import print_json, print_table


@click.command("machines")
@click.argument("name", required=False)
@JSON
def command(name, as_json):
    """List the machines, or show every figure of one with its source."""
    if name is None:
        _show_all([load_machine(n) for n in machine_names()], as_json)
    else:
        _show_one(load_machine(name), as_json)


def _show_all(machines, as_json):
    if as_json:
        print_json([_summary(m) for m in machines])
        return
    print_table(None, ["machine", "title", "torus", ">tasks per node", ">link bandwidth"],
                [[m.name, m.title, m.torus, m.tasks_per_node, _rates(m.torus)] for m in machines])


def _show_one(machine, as_json):
    if as_json:
        print_json(_summary(machine) | {"figures": {k: f.__dict__ for k, f in machine.figures.items()}})
        return
    print_table(f"{machine.name}: {machine.title}", ["figure", "value", "certain", "source and note"],
                [[k, _text(f.value), "yes" if f.certain else "NO", f"{f.source}. {f.note}".strip()]
                 for k, f in machine.figures.items()])


def _summary(machine):
    torus = machine.torus
    return {"name": machine.name, "title": machine.title, "torus": str(torus), "shape": list(torus.shape),
            "wrap": list(torus.wrap), "axes": torus.axes, "tasks_per_node": machine.tasks_per_node,
            "link_bandwidth_byte_per_s": list(torus.bandwidth), "cables": list(torus.cables)}


def _rates(torus):
    return ", ".join(dict.fromkeys(megabytes_per_second(b) for b in torus.bandwidth))


def _text(value):
    return ", ".join(map(str, value)) if isinstance(value, list) else value
