"""What `plan --axes` prints: the order of the devices of a slice for the mesh of a machine-learning job, beside JAX's."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import click

from pencilmap.jax import MACHINES, jax_places, usual_network
from pencilmap.mapper.meshes import Axis, Mesh, Meshes, best_mesh, check_devices, parse_axes
from pencilmap.model.base.units import amount, counted
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.collectives import AxisLoads
from pencilmap.scripts.command_line.predictions import show_notes
from pencilmap.scripts.command_line.tables import echo, fitted, labelled, print_json, print_table, say, say_lines

AXES = click.option("--axes", metavar="LIST", help="Mesh of devices: data=8:all-reduce:1GB,tensor=...")
NOT_INSTALLED = "JAX is not installed, so its own order is not compared (pip install jax)"
NO_ORDER = "JAX has no order for this mesh"
NO_TPU = "JAX's own order is that of a TPU: name its machine to compare"


def plan_mesh(where: Question, text: str, *, all_notes: bool, as_json: bool) -> None:
    """Print the order of the devices for axes as a text, see `pencilmap.mapper.meshes.parse_axes`.

    Of several shapes the answer is that with the least bytes. On a network of switches, which has no rings, print the lines
    of a job script that keep the inner axes together.
    """
    axes = parse_axes(text)
    if not where.network.has_coordinates:
        _plan_segments(where, axes, as_json)
        return
    several = len(where.shapes) > 1
    found, without, here = min((_meshes(shape, axes) for shape in where.shapes or (where,)),
                               key=lambda each: each[0].bytes(each[0].best))
    if as_json:
        print_json(_as_dict(found, here, without))
        return
    say(_sentence(found, without, f"{found.site.network} with " if several else ""))
    echo()
    labelled("write", _program(found, where.machine))
    echo()
    _table(found)
    if found.trade:
        labelled("trade", f"{found.trade_words}; trade=True takes it")
    show_notes([*_notes(found, here)], all_notes)


def _meshes(where: Question, axes: Sequence[Axis]) -> tuple[Meshes, str, Question]:
    """Return the answer on a slice, why JAX's order is not compared, or "", and the question."""
    shape, places = [axis.size for axis in axes], None
    without = NO_ORDER if where.machine in MACHINES.values() else NO_TPU
    if prod(shape) == where.n_slots:  # else `best_mesh` says what is wrong
        try:
            places = jax_places(where.site, where.machine or "", shape)
        except ModuleNotFoundError:
            without = NOT_INSTALLED
    return best_mesh(where.site, axes, places), without if places is None else "", where


def _sentence(found: Meshes, without: str, shape: str) -> str:
    """Return the answer in a sentence."""
    if found.jax is None:
        return f"Use {shape}this order, which loads the links least; {without} (predicted)."
    if found.is_jax:
        rest = "each that loads one axis less loads another more, or may" if sum(axis.size > 1 for axis in found.axes) > 1 \
            else "none is sure to load the axis less"
        return f"Keep {shape}JAX's own order: {rest} (predicted)."
    changes = ", ".join(found.changes(found.best))
    return f"Use {shape}this order: beside JAX's own {changes} on the busiest link, and no axis more (predicted)."


def _program(found: Meshes, machine: str | None) -> str:
    """Return lines of Python that make the mesh, with the network unless the kind of the devices gives it."""
    works = [f'"{axis.work}"' if axis.work else "None" for axis in found.axes]
    shape, names, known = (f"({', '.join(some)}{',' if len(some) == 1 else ''})" for some in (
        [str(axis.size) for axis in found.axes], [f'"{axis.name}"' for axis in found.axes], works))
    if found.is_jax and not found.trade:
        return f"from jax.experimental import mesh_utils\nmesh = jax.sharding.Mesh(mesh_utils.create_device_mesh(\n" \
               f"    {shape}, allow_split_physical_axes=True),\n    {names})"
    known, text = known if any(axis.work for axis in found.axes) else '"any"', str(found.site.network)
    is_usual = machine in MACHINES.values() and text == str(usual_network(machine or "", found.site.network.shape))
    network = "" if is_usual else f',\n    network="{text}"'
    return f"from pencilmap.jax import make_mesh\nmesh = make_mesh(\n    jax.devices(), {shape},\n    {names},\n" \
           f"    collectives={known}{network})"


def _table(found: Meshes) -> None:
    """Print a row for each axis: where it lies, and its bytes on the busiest link in this order and in JAX's."""
    others = [found.jax] if found.jax and not found.is_jax else []
    columns, rows = ["axis", ">devices", "collective", "lies along"], list[list[str]]()
    first = "busiest link" if any(axis.collective for axis in found.axes) else "gather, all-to-all"
    columns += [f">{name}" for name in (first, "JAX's own")[:1 + len(others)]]
    for k, axis in enumerate(found.axes):
        rows.append([axis.name, str(axis.size), axis.work.replace(":", " ") or "any", found.best.words[k] or "-",
                     *(_loads(axis, mesh.loads[k]) for mesh in (found.best, *others))])
    print_table(None, *fitted(columns, rows, ["collective", "lies along"]))


def _loads(axis: Axis, loads: AxisLoads) -> str:
    """Return the bytes of an axis on the busiest link, in both ways to gather; without bytes those of gather, all-to-all."""
    if axis.size == 1:
        return "-"
    if axis.collective:
        ends = [amount(axis.n_bytes * load) for load in loads.of(axis.collective)]
        return " to ".join(dict.fromkeys(ends))
    gathers = " to ".join(dict.fromkeys(f"{load:.2f}" for load in sorted(loads.of("all-gather"))))
    return f"{gathers}, {loads.all_to_all:.2f}"


def _notes(found: Meshes, where: Question) -> Iterator[str]:
    """Yield what the loads assume."""
    if not any(axis.collective for axis in found.axes):
        yield "loads are bytes on the busiest link for each byte of a device: of gathers, and of all-to-alls"
    if any(abs(loads.together - loads.in_turn) > 1e-9 for mesh in (found.best, found.jax) if mesh for loads in mesh.loads):
        yield ("a range is of gathers over unequal dimensions, all at once or one after the other: how XLA does them is not "
               "published")
    if any(" step " in words for words in found.best.words):
        yield "nobody has measured gathers between chips that are not next to each other (step)"
    yield "loads are of one axis at a time, all its groups at once; they are no times of steps, and no TPU was measured"
    if not found.site.network.has_products:
        yield "gathers along the short dimensions of a twisted slice count as on open lines"
    if found.is_cut:
        yield "the search was cut; a better order may exist"
    yield from where.notes


def _as_dict(found: Meshes, where: Question, without: str) -> dict[str, Any]:
    """Return the answer for JSON: the order, JAX's own and the trade, each with its devices and loads."""
    return {"network": str(found.site.network), "machine": where.machine, "shape": [axis.size for axis in found.axes],
            "axes": [{"name": axis.name, "size": axis.size, "collective": axis.collective or None,
                      "bytes": axis.n_bytes if axis.collective else None} for axis in found.axes],
            "is_jax": found.is_jax, "not_compared": without or None, "cut_short": found.is_cut,
            "order": _mesh_dict(found, found.best), "jax": found.jax and _mesh_dict(found, found.jax),
            "trade": found.trade and _mesh_dict(found, found.trade), "trade_words": found.trade_words or None,
            "program": _program(found, where.machine), "notes": [*_notes(found, where)]}


def _mesh_dict(found: Meshes, mesh: Mesh) -> dict[str, Any]:
    """Return an order for JSON; devices are [x, y, z, core] in the shape of the mesh."""
    tasks, network = found.site.tasks_per_node, found.site.network
    where = [[*network.coordinates(place // tasks).tolist(), *[0] * (3 - network.n_dimensions), place % tasks]
             for place in mesh.order.ravel().tolist()]
    for size in [axis.size for axis in found.axes][:0:-1]:
        where = [where[i:i + size] for i in range(0, len(where), size)]
    return {"devices": where, "axes": [
        {"lies_along": words or None, "gather_together": loads.together, "gather_in_turn": loads.in_turn,
         "all_to_all": loads.all_to_all, "link_bytes": [axis.n_bytes * load for load in loads.of(axis.collective)]
         if axis.collective else None} for axis, words, loads in zip(found.axes, mesh.words, mesh.loads)]}


# Clusters of GPUs. What matters there is which axes stay inside the domain of the fastest links, for which Slurm's
# topology/block has a segment: a number of nodes that are placed in one block.

def _plan_segments(where: Question, axes: Sequence[Axis], as_json: bool) -> None:
    """Print the segments of a job whose inner, last axes stay together."""
    found = segments(axes, where.n_slots, where.tasks_per_node)
    if as_json:
        print_json({"network": str(where.network), "shape": [axis.size for axis in axes], "segments": [
            {"nodes": nodes, "axes": names} for nodes, names in found]})
        return
    number = counted(where.n_slots // where.tasks_per_node, "node")
    if not found:
        say(f"No segment is needed for {number}: the inner axes stay inside a node, or none ends with whole nodes.")
        return
    nodes, names = found[0]
    say(f"Ask for {number} in segments of {nodes}: the groups of {' and '.join(names)} stay in one block each. A larger "
        "segment is better while it fits a block, such as an NVLink domain.")
    echo()
    say_lines(("job", f"#SBATCH --segment={nodes}  # {', '.join(names)}\n") for nodes, names in found)


def segments(axes: Sequence[Axis], n_devices: int, per_node: int) -> list[tuple[int, list[str]]]:
    """Return the numbers of nodes that hold the inner axes, and the names of these, the fewest first.

    Parameters
    ----------
    axes : sequence of Axis
        The last is the innermost, whose devices have successive numbers.
    n_devices : int
        Devices of the job.
    per_node : int
        Devices of a node.

    Raises
    ------
    GridError
        If the axes do not have as many devices.

    Examples
    --------
    >>> segments(parse_axes("data=8,expert=8,tensor=4"), 256, 4)
    [(8, ['expert', 'tensor'])]
    """
    check_devices(axes, n_devices, f"a job with {per_node} on each node")
    found, inner = dict[int, list[str]](), 1
    for k in range(len(axes) - 1, -1, -1):
        inner *= axes[k].size
        if inner % per_node == 0 and per_node < inner < n_devices:
            found[inner // per_node] = [axis.name for axis in axes[k:] if axis.size > 1]
    return list(found.items())
