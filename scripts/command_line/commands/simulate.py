"""`pencilmap simulate`: the real runner on a simulated network, if the run fits into the memory of this machine."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from pencilmap.mapper.base.progress import heard_by
from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.graphs import file_and_words, names_file
from pencilmap.mapper.placements import placement_name
from pencilmap.mapper.runs.compare import compare_records
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import parse
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import PAIR
from pencilmap.scripts.command_line import options
from pencilmap.scripts.command_line.comparisons import agreement
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, WIDE, Page, completed, with_options
from pencilmap.scripts.command_line.predictions import show_deciding
from pencilmap.scripts.command_line.tables import comparison_table, hearing, paste, print_json, say, shown
from pencilmap.scripts.networks.measured import simulate_probe
from pencilmap.scripts.networks.routes import SIMULATED
from pencilmap.scripts.networks.simulated import (
    SimulatedNetwork,
    Simulation,
    simulate_all,
    simulation_of,
    simulation_of_lines,
)

ARRAYS = 4  # input, output and two work arrays; 192^3 takes 432 MiB and 44 MiB for the rest
SHARE = 0.9  # of the available memory: the system needs the rest


def needed(transform: Transform, runs: int = 1, arrays: int = 1) -> int:
    """Return the bytes of the arrays of `runs` simulated runs at once, each with `arrays` transforms at once.

    All ranks of a simulation are one process.

    >>> from pencilmap.model.placement.transform import parse_transform
    >>> needed(parse_transform("1024")) // 2**30
    64
    """
    return runs * arrays * ARRAYS * transform.total_bytes


def available(files: Path = Path("/")) -> int | None:
    """Return the bytes that this process may still allocate: the limit of the system or of its control group.

    The smaller limit counts; None if neither is known. `files` is the root of the file system."""
    limits = []
    with suppress(OSError, ValueError, StopIteration):
        lines = (files / "proc/meminfo").read_text().splitlines()
        limits.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    with suppress(OSError, ValueError):
        group = files / "sys/fs/cgroup"
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(min(limits), 0) if limits else None


def too_large(transform: Transform, runs: int = 1, free: int | None = None, arrays: int = 1) -> str | None:
    """Return a sentence if the runs do not fit; None if they fit, or if the free memory is unknown.

    `free` is `available()` by default.

    >>> from pencilmap.model.placement.transform import parse_transform
    >>> too_large(parse_transform("1024"), free=16 * 2**30)
    'transform 1024x1024x1024 needs 64.0 GiB, and 16.0 GiB of memory are free'
    """
    free = available() if free is None else free
    need = needed(transform, runs, arrays)
    if free is None or need <= SHARE * free:
        return None
    several = f" {runs} times at once" if runs > 1 else ""
    return f"transform {transform}{several} needs {need / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB of memory are free"


@click.command("simulate", cls=Page, usual="machine network nodes fft grid placement exchange schedule verify output")
@options.on_machine
@with_options(options.GRID, options.placements(), options.EXCHANGE, options.SCHEDULE, options.DIRECTION)
@with_options(options.HALO)
@options.LINE_OPTIONS
@click.option("--reps", type=click.IntRange(1), default=1, show_default=True,
              help="Repetitions; they all take the same time.")
@click.option("--verify", is_flag=True, help="Check the transform inside the run.")
@click.option("--timing-only", is_flag=True, help="Share the buffers of all ranks: less memory, and no data.")
@click.option("--injection", metavar="RATE", help="Most that a node sends or receives, e.g. '159 MB/s' [no limit].")
@click.option("--hop-latency", metavar="TIME", help="Latency of one hop, e.g. '100 ns' [none].")
@click.option("--message-cost", metavar="TIME", help="Time to start a message, e.g. '2 us' [none].")
@click.option("--ports", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="K",
              help="Messages that a rank starts at a time.")
@click.option("--routing", metavar="NAME", default="", shell_complete=completed(lambda: SIMULATED),
              help="Routing rule; not on a torus [the default of the network].")
@click.option("--probe", type=OUTPUT_FILE, help="Run network_probe instead, and append its result to this file.")
@click.option("--output", "-o", type=OUTPUT_FILE, help="Append the run records to this file (JSON lines).")
@click.option("--timeout", type=click.FloatRange(1), default=600.0, show_default=True, metavar="SECONDS",
              help="Longest time of a run.")
@with_options(WIDE, JSON)
def command(where: Question, grid: str, placement: tuple[str, ...], exchange: str, schedule: str,
            reps: int, verify: bool, timing_only: bool, injection: str | None, hop_latency: str | None,
            message_cost: str | None, ports: int, routing: str, probe: str | None, output: str | None, timeout: float,
            line: LineProblem | None, wide: bool, as_json: bool) -> None:
    """Run the real program on a simulated network.

    The unmodified fft_runner runs under each placement on SimGrid, and its times are compared with the prediction.
    """
    if ports > 1 and not message_cost:
        raise click.UsageError("--ports says how many messages start at a time: give what one takes with --message-cost "
                               "TIME")
    network_ = click.get_current_context().params.get("network") or ""
    path, words = file_and_words(network_)
    file = ",".join([os.path.abspath(path), *words]) if names_file(network_) else ""
    network = SimulatedNetwork(where.network, parse(hop_latency, "s") if hop_latency else 0.0,
                               parse(injection, "byte/s") if injection else 0.0,
                               parse(message_cost, "s") if message_cost else 0.0, ports, rule=routing, file=file)
    if probe:
        with shown() as progress, heard_by(progress):
            simulate_probe(network, probe, timeout_s=timeout)
        say(f"appended the result to {probe}; next:")
        paste(f"  pencilmap study calibrate --probe {shell(probe)}")
        return
    if line:
        line.stages(where.n_slots)  # raises an error before any run if the lines are impossible
        with hearing():
            runs = [simulation_of_lines(where, network, text, line, reps=reps, verify=verify) for text in placement]
        run_all(where, placement=placement, runs=runs, output=output, timeout=timeout, wide=wide, as_json=as_json)
        return
    if where.transform is None:
        raise GridError("a simulation transforms an array: give its extents, e.g. --fft 64")
    problem = None if timing_only else too_large(where.transform, min(len(placement), len(os.sched_getaffinity(0))),
                                                  arrays=1 + (where.direction == PAIR))
    if problem and verify:
        raise GridError(f"{problem}; --verify needs all of the data: take a smaller transform, or leave --verify out")
    if problem:
        say(f"note: {problem}; the ranks share their buffers, as with --timing-only", err=True)
        timing_only = True
    with hearing():
        chosen = options.asked_grid(replace(where, schedule=schedule), grid, placement)[1]
        if chosen.decomposition.returns:
            raise GridError(f"grid {chosen}: libpencilfft runs in a simulation, and it has pencils and slabs; take a grid "
                            "RxC, or predict this grid")
        if where.halo:
            where.halo.messages(chosen, where.transform)  # raises an error before any run if the halo is impossible
        runs = [simulation_of(where, network, chosen, text, schedule, exchange=exchange, reps=reps, verify=verify,
                              timing_only=timing_only, halo=where.halo.width if where.halo else 0)
                for text in placement]
    run_all(where, placement=placement, runs=runs, output=output, timeout=timeout, wide=wide, as_json=as_json)
    if not as_json:
        show_deciding(where.notes)


def run_all(where: Question, placement: tuple[str, ...], runs: list[Simulation], output: str | None, timeout: float,
            wide: bool, as_json: bool) -> None:
    """Simulate the runs, and print predicted and simulated times."""
    with shown() as progress, heard_by(progress):
        records = simulate_all(runs, json_path=output, timeout_s=timeout)
    rows = [replace(row, name=placement_name(text, where.site)) for text, record in zip(placement, records)
            for row in compare_records(record, text)]
    if as_json:
        print_json(*[row.as_dict() for row in rows])
    else:
        comparison_table(rows, f"{where.site}: predicted and simulated", wide)
        say(agreement(rows))
