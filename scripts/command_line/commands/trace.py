"""`pencilmap trace`: the traffic of any MPI program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pencilmap.mapper.traffic_files import TRAFFIC_FILES, read_traffic
from pencilmap.model.base.units import amount, counted, plural
from pencilmap.model.traffic.patterns import patterns
from pencilmap.model.traffic.program import COLLECTIVE, KINDS, MEASURED, MODELLED, Traffic
from pencilmap.scripts.command_line.pages import FILES, JSON, OUTPUT_FILE, Name, Page, with_options
from pencilmap.scripts.command_line.tables import hearing, print_json, say
from pencilmap.scripts.networks.tracer import OPEN_MPI, UNTIL, library_for, trace, understand

CRASHED = 128  # exit statuses from here on are those of signals


@click.command("trace", cls=Page, context_settings={"allow_interspersed_args": False})
@click.argument("launch", nargs=-1, type=click.UNPROCESSED, metavar="-- LAUNCH...")
@click.option("--output", "-o", type=OUTPUT_FILE, default="traffic.txt", show_default=True, help="The file to write.")
@click.option("--read", "file", type=click.Path(), metavar="FILE", shell_complete=FILES,
              help="Run nothing; print the traffic in this file.")
@click.option("--format", "-f", "file_format", type=Name(list(TRAFFIC_FILES)),
              help=f"Format of the file to read [recognised].\n{', '.join(TRAFFIC_FILES)}.")
@click.option("--library", type=click.Path(), metavar="FILE", shell_complete=FILES,
              help="The tracer [found or compiled].\nlibpencilmap_traffic.so for the MPI of the program.")
@click.option("--no-monitoring", is_flag=True,
              help="Keep the model of collectives.\nDo not let Open MPI count the messages inside.")
@with_options(JSON)
def command(launch: tuple[str, ...], output: str, file: str | None, file_format: str | None, library: str | None,
            no_monitoring: bool, as_json: bool) -> int:
    """Find out which ranks of any MPI program talk to each other.

    The program runs unchanged behind its launch line. The bytes and messages between its ranks are written to a file. The
    exit status is that of the program; 1 in place of 0 if there is nothing to write.
    """
    if (file is None) == (not launch):
        raise click.UsageError("a launch line or a file is needed; give a launch line behind --, e.g. pencilmap trace -- "
                               "mpirun -n 64 ./a.out, or a file with --read; one of the two")
    if file:
        traffic = read_traffic(file, file_format)
        if as_json:
            print_json({"file": file, **_as_dict(traffic)})
        else:
            say(file, *_summary(traffic), *filter(None, [_uncertain(traffic)]))
        return 0
    if as_json or file_format:
        option = "--json" if as_json else "--format"
        raise click.UsageError(f"{option} is for --read, because the program prints, too; leave it out")
    line = understand(launch)
    tracer = library_for(line, library)
    with hearing():
        result = trace(line, tracer, Path(output), not no_monitoring)
    if result.traffic is None:
        say(f"error: {output} is not written: the program did not come to MPI_Finalize with the tracer loaded"
            f"{f', and {result.problem}' if result.problem else ''}", err=True)
        if result.status >= CRASHED and line.mpi == OPEN_MPI and not no_monitoring:
            say("hint: if the program crashes under pencilmap trace alone, try --no-monitoring", err=True)
        return result.status or 1
    say(f"wrote {output}{f': {UNTIL}' if result.cut else ''}", err=True)
    say(*_summary(result.traffic), err=True)
    if result.problem:
        say(f"note: the counts of Open MPI inside collectives cannot be used: {result.problem}", err=True)
    if not result.measured and (text := _uncertain(result.traffic)):
        say(text, err=True)
    return result.status


def _as_dict(traffic: Traffic) -> dict[str, Any]:
    return {"ranks": traffic.n_ranks, "seconds": traffic.seconds, "processor_seconds": traffic.processor_seconds,
            "ranks_per_core": traffic.ranks_per_core, "mpi": traffic.mpi,
            "bytes": int(traffic.pairs.bytes.sum()), "messages": int(traffic.pairs.messages.sum()),
            "pairs": traffic.total.bytes.nnz, "bytes_by_kind": dict(zip(KINDS, traffic.bytes_by_kind())),
            "outside_bytes": traffic.outside[0], "note": traffic.note,
            "phases": [{"name": phase.name, "times": phase.times, "seconds": phase.seconds,
                        **({} if phase.computing is None else {"computing_s": phase.computing.tolist(),
                                                               "waiting_s": phase.waiting.tolist()}),
                        "bytes": int(phase.pairs.bytes.sum()), "messages": int(phase.pairs.messages.sum())}
                       for phase in traffic.phases],
            "patterns": [{"kind": p.kind, "extents": p.extents, "periodic": p.periodic, "bytes": p.bytes, "text": str(p)}
                         for p in patterns(traffic)]}


def _summary(traffic: Traffic) -> Iterator[str]:
    """Yield the lines of the summary."""
    pairs = traffic.pairs
    time = f" in {traffic.seconds:.3g} s" if traffic.seconds is not None else ""
    if traffic.shared_cores and traffic.processor_seconds is not None:
        time += f" ({traffic.processor_seconds:.3g} s of processor time, {traffic.ranks_per_core:.3g} ranks on a core)"
    if traffic.computing is not None:
        time += f", {traffic.computing.mean():.3g} s outside of MPI (at most {traffic.computing.max():.3g} s)"
    messages, joined = int(pairs.messages.sum()), traffic.total.bytes.nnz
    yield (f"{counted(traffic.n_ranks, 'rank')}{time}: {amount(pairs.bytes.sum())} in {messages:,} "
           f"{plural('message', messages)}, {joined:,} {plural('pair', joined)} of ranks")
    kinds = [f"{kind} {amount(n_bytes)}" for kind, n_bytes in zip(KINDS, traffic.bytes_by_kind()) if n_bytes]
    if kinds and set(pairs.kind.tolist()) != {0}:
        yield f"bytes: {'; '.join(kinds)}"
    busy = [phase for phase in traffic.phases if len(phase.pairs)]
    if len(busy) > 1:
        largest = max(busy, key=lambda phase: int(phase.pairs.bytes.sum()))
        yield (f"phases: {len(busy)}; the largest is repeated {largest.times:,} {plural('time', largest.times)} and has "
               f"{amount(largest.pairs.bytes.sum())}")
    if traffic.outside[1]:
        yield f"not in the file: {amount(traffic.outside[0])} to processes outside of MPI_COMM_WORLD"
    for pattern in patterns(traffic):
        share = f", {pattern.bytes / max(int(pairs.bytes.sum()), 1):.0%} of the bytes" if pattern.bytes else ""
        yield f"recognised: {pattern}{share}"


def _uncertain(traffic: Traffic) -> str | None:
    """Return how much of the traffic depends on a model of collectives, or what the file does not tell."""
    if traffic.note:
        return f"note: {traffic.note}"
    by_kind = dict(enumerate(traffic.bytes_by_kind()))
    collective, modelled = sum(by_kind[kind] for kind in COLLECTIVE), by_kind[MODELLED]
    if not collective or by_kind[MEASURED]:
        return None
    total = max(sum(by_kind.values()), 1)
    return (f"note: the MPI library did not count the messages inside collectives, {collective / total:.0%} of the bytes; "
            f"{modelled / total:.0%} are in collectives such as bcast and allreduce, whose pairs of ranks are a model")
