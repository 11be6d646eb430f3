"""`pencilmap advise`: the best options for a transform on some nodes, the reason, and runs to confirm them."""

import os
from dataclasses import replace
from textwrap import wrap

import click

from pencilmap.mapper.given_nodes import given_nodes
from pencilmap.mapper.plan import Choice, Plan, plan
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.threads import choices, shared_dict
from pencilmap.model.base.errors import GridError, MachineError
from pencilmap.model.base.units import milliseconds
from pencilmap.model.machines.files import machine_names
from pencilmap.model.predict.ranking import worth
from pencilmap.model.predict.reasons import TERMS
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.plain_options import JSON, completed, with_options
from pencilmap.scripts.command_line.tables import NARROW, broken, fitted, print_json, print_table, say, threads_table


@click.command("advise")
@click.option("--machine", "-m", metavar="NAME|FILE", shell_complete=completed(machine_names, files=True),
              help="A machine of `pencilmap machines`, or a machine file.")
@click.option("--nodes", metavar="K|SHAPE", help="How many of its nodes: the partition of that size with the widest "
                                                  "bisection [all]. Or the shape of the partition.")
@click.option("--torus", metavar="SHAPE", help="The shape of the nodes, e.g. 8x8x8 or 8x8:mesh, in place of --nodes.")
@click.option("--bandwidth", metavar="RATE", help="Of every link in one direction, with --torus, e.g. '25 GB/s'.")
@click.option("--tasks-per-node", "-t", type=click.IntRange(1), metavar="T", help="Tasks on a node [machine's].")
@click.option("--fft", "-n", required=True, metavar="N|NXxNYxNZ[:TYPE][:single]", help="The transform, e.g. 512 or 512:r2c.")
@click.option("--threads", is_flag=True, help="Also compare T tasks a node with one task of T threads.")
@click.option("--top", type=click.IntRange(1), default=6, show_default=True, metavar="N", help="How many to list.")
@with_options(JSON)
def command(machine: str | None, nodes: str | None, torus: str | None, bandwidth: str | None, tasks_per_node: int | None,
            fft: str,
            threads: bool, top: int, as_json: bool) -> None:
    """Rank decompositions, grids, placements, exchanges and schedules by predicted time, and say what decides."""
    if machine is None and ((torus is None and nodes is None) or bandwidth is None):
        raise MachineError("advice needs a machine: --machine NAME, or --torus SHAPE with --bandwidth RATE")
    if threads and tasks_per_node == 1:
        raise MachineError("--threads compares several tasks on a node with one: give --tasks-per-node 2 or more")
    if given_nodes(nodes).path is not None:
        raise MachineError(f"`nodes` {nodes} is neither a number of nodes nor a shape, e.g. 384 or 8x8x4; advice is for "
                           "whole shapes, and pencilmap predict takes a file of nodes")
    where = setting(machine=machine, torus=torus, nodes=nodes, tasks_per_node=tasks_per_node, bandwidth=bandwidth, fft=fft,
                    environ=os.environ)
    found = plan(replace(where, shapes=()))
    if found.best.prediction.idle_tasks:
        raise GridError(f"no grid of {where.n_slots} tasks fits transform {where.transform} so that every task has data: "
                        "take fewer tasks, or a larger transform")
    numbers = dict.fromkeys((where.tasks_per_node, 1))
    shared = choices(where, list(numbers), lambda here: plan(here).best.prediction) if threads else []
    if as_json:
        print_json({"where": where.where, "transform": str(where.transform),
                    "candidates": [_candidate(c.prediction) for c in found.choices[:top]], "deciding_term": found.term[0],
                    "deciding_share": found.term[1], "unknown": found.unknown, "measure": _runs(found),
                    "threads": [shared_dict(s, best=_candidate(s.prediction)) for s in shared]})
        return
    _table(found, top)
    if shared:
        threads_table(shared, lambda p: float(worth(p)))
    for line in (*_answer(found), *_launch(found, top), *_unknown(found)):
        say("\n".join(wrap(line, NARROW, break_long_words=False)))
    runs = _runs(found)
    if runs:
        click.echo()
        columns = [*(f"--{name}" for name in runs[0] if name != "placement"), "placement"]
        print_table("to be sure, run fft_runner with each of these", columns,
                    [[broken(text) for text in run.values()] for run in runs])


def _candidate(p: Prediction):
    return {"decomposition": p.grid.decomposition.name, "grid": list(p.grid.shape), "placement": p.placement,
            "exchange": p.stages[0].algorithm, "schedule": _schedule(p), "time_s": worth(p), "exchanges_s": p.time_s,
            "messages": sum(stage.work.messages for stage in p.stages if stage.work)}


def _schedule(p: Prediction):
    return SEQUENCE if p.schedule is None else p.schedule.name


def _name(choice: Choice):
    return choice.prediction.placement


def _table(found: Plan, top):
    columns = ["decomposition", "grid", "placement", "exchange", "schedule", ">predicted", ">of best"]
    best = found.best.worth
    rows = [[c.decomposition.name, str(c.grid), broken(_name(c)), c.exchange, broken(c.schedule), milliseconds(c.seconds),
             f"{c.worth / best:.3f}"] for c in found.choices[:top]]
    print_table(f"{found.where.where}, transform {found.where.transform}", *fitted(columns, rows, [">of best"]),
                ["predicted: the whole transform" if found.best.prediction.total_s is not None else
                 "predicted: the exchanges; the machine's computing is not known"])


def _answer(found: Plan):
    best, (term, share) = found.best, found.term
    return [f"take {best.decomposition.name} {best.grid} {_name(best)}, exchange {best.exchange}, schedule {best.schedule}: "
            f"{milliseconds(best.seconds)}", f"in sequence, {100 * share:.0f} % of this time is {TERMS[term]}"]


def _launch(found: Plan, top):
    """Explain "default", if it is listed."""
    site, listed = found.where.site, any(_name(choice) == "default" for choice in found.choices[:top])
    return [f"default is {site.launch_phrase(*site.launch.orders)}"] if listed else []


def _unknown(found: Plan):
    said = f"not known for this machine: {', '.join(found.unknown)}; pencilmap calibrate finds them"
    return [said] if found.unknown else []


def _runs(found: Plan):
    """The runs that confirm the advice: options of fft_runner with values, placements under their own names."""
    return [{"decomposition": c.decomposition.name, "grid": str(c.grid), "exchange": c.exchange, "schedule": c.schedule,
             "placement": _name(c)} for c in [found.best, *found.rivals[:2]]] if found.rivals else []
