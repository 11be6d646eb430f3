"""`pencilmap advise`: the best options for a transform on some nodes, the reason, and runs to confirm them."""

import os
from textwrap import wrap

import click

from pencilmap.mapper.studies.advise import (
    TERMS,
    Advice,
    advise,
    exchange_of,
    ranks_against_threads,
    schedule_of,
    settings,
    time_of,
)
from pencilmap.mapper.studies.threads import shared_dict
from pencilmap.model.base.errors import MachineError
from pencilmap.model.base.units import milliseconds
from pencilmap.model.machines.files import machine_names
from pencilmap.model.predict.results import Prediction
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
    where = settings(fft, machine, nodes, torus, tasks_per_node, bandwidth, os.environ)
    found = advise(where)
    shared = ranks_against_threads(where) if threads else []
    if as_json:
        print_json({"where": where.where, "transform": str(where.transform),
                    "candidates": [_candidate(p) for p in found.found[:top]], "deciding_term": found.term,
                    "deciding_share": found.share, "unknown": list(found.unknown), "measure": _runs(found),
                    "threads": [shared_dict(s, best=_candidate(s.prediction)) for s in shared]})
        return
    _table(found, top)
    if shared:
        threads_table(shared, time_of)
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
            "exchange": exchange_of(p), "schedule": schedule_of(p), "time_s": time_of(p), "exchanges_s": p.time_s,
            "messages": sum(stage.work.messages for stage in p.stages if stage.work)}


def _table(found: Advice, top):
    columns = ["decomposition", "grid", "placement", "exchange", "schedule", ">predicted", ">of best"]
    best = time_of(found.best)
    rows = [[p.grid.decomposition.name, str(p.grid), broken(p.placement), exchange_of(p), broken(schedule_of(p)),
             milliseconds(time_of(p)), f"{time_of(p) / best:.3f}"] for p in found.found[:top]]
    print_table(f"{found.where.where}, transform {found.where.transform}", *fitted(columns, rows, [">of best"]),
                ["predicted: the whole transform" if found.best.total_s is not None else "predicted: the exchanges; the "
                 "machine's computing is not known"])


def _answer(found: Advice):
    best = found.best
    return [f"take {best.grid.decomposition.name} {best.grid} {best.placement}, exchange {exchange_of(best)}, schedule "
            f"{schedule_of(best)}: {milliseconds(time_of(best))}", f"in sequence, {100 * found.share:.0f} % of this time is "
            f"{TERMS[found.term]}"]


def _launch(found: Advice, top):
    """Explain "default", if it is listed."""
    site, listed = found.where.site, any(p.placement == "default" for p in found.found[:top])
    return [f"default is {site.launch_phrase(*site.launch.orders)}"] if listed else []


def _unknown(found: Advice):
    said = f"not known for this machine: {', '.join(found.unknown)}; pencilmap calibrate finds them"
    return [said] if found.unknown else []


def _runs(found: Advice):
    """The runs that confirm the advice: options of fft_runner with values, placements under their own names."""
    return [{"decomposition": p.grid.decomposition.name, "grid": str(p.grid), "exchange": exchange_of(p),
             "schedule": schedule_of(p), "placement": p.placement}
            for p in [found.best, *found.rivals[:2]]] if found.rivals else []
