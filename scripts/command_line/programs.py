"""The traffic of any program in place of a transform: `--traffic` of map, predict and check."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.format_choice import Choice
from pencilmap.mapper.formats import launch_of, write_mapping
from pencilmap.mapper.formats.format import Job
from pencilmap.mapper.program_records import Measured, ProgramRuns
from pencilmap.mapper.programs import PlacedProgram, place_program, traffic_of
from pencilmap.mapper.searches.limit import EFFORTS
from pencilmap.mapper.setting import BEST, Setting
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import amount, counted, milliseconds
from pencilmap.scripts.command_line.launching import launch_as_dict, show_launch
from pencilmap.scripts.command_line.plain_options import FILES
from pencilmap.scripts.command_line.predictions import percent, to_limit
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import print_json, print_table, say

SAME = 0.01  # a smaller gain counts as none
TRAFFIC = click.option("--traffic", type=click.Path(), metavar="FILE", shell_complete=FILES,
                       help="Place any program: the file of pencilmap trace.\n"
                       "Or lines FROM TO BYTES, or a matrix.")


def map_program(where: Setting, path: str, placement: str | None, effort: str, seed: int, output: str, form: Choice,
                job: Job, as_json: bool) -> None:
    """Search a placement, write it, and print both predictions."""
    with hearing():
        found = place_program(where, traffic_of(where, path), (placement or BEST,), effort=effort, seed=seed)
    mapping, best = (found.mappings[-1], found.predictions[-1])
    write_mapping(mapping, output, form.name, job)
    launch = launch_of(mapping, output, form.name, job)
    if as_json:
        print_json({"output": output, **launch_as_dict(launch, form), "launch_order": asdict(where.site.launch),
                    **_as_dict(path, found)})
        return
    show_program(path, where, found)
    say(_verdict(where, found, best, f"take {best.placement}", effort))
    for note in mapping.notes:
        say(f"{best.placement}: {note}")
    has_gain = (best.gain(found.predictions[0]) or 1) >= 1 + SAME
    if not has_gain:
        say("no gain: launch as before, without the file")
    say(f"wrote {output} ({counted(found.traffic.n_ranks, 'rank')}, {form})")
    show_launch(launch, form, has_gain)


def predict_placements(where: Setting, path: str, placements: tuple[str, ...], routing: str | None, effort: str,
                       seed: int, page: str | None, words: list[str], as_json: bool) -> None:
    """Print the predictions of some placements and of the launcher's order, and write a page if its name is given.

    The run times on the page are those in the traces: of the first placement that of `path`.
    """
    with hearing():
        found = place_program(where, traffic_of(where, path), placements, routing, effort, seed)
    if page:
        from pencilmap.scripts.pictures.report.page import page as page_of

        seconds = None if found.traffic.shared_cores else found.traffic.seconds
        runs = ProgramRuns(path, found, (Measured(seconds),))
        text = page_of([], words, verdict=runs.verdict, programs=[runs])
        write_whole(Path(page), text, FigureError)
    if as_json:
        print_json(_as_dict(path, found))
    else:
        show_program(path, where, found)
        say(_verdict(where, found, found.best[1], f"take {found.best[1].placement}", effort))


def show_program(path: str, where: Setting, found: PlacedProgram) -> None:
    """Print a row for each placement, and whether placement can help."""
    first, columns = found.predictions[0], ["placement", ">busiest links", ">links", ">gain", ">to limit", "busiest link"]
    rows = [[p.placement, amount(p.link_bytes), milliseconds(p.link_s), percent(p.gain(first)), to_limit(p.certificate),
             str(p.busiest or "-")] for p in found.predictions]
    phases = sum(bool(phase.bytes.nnz) for phase in found.traffic.phases)
    notes = [f"busiest links: bytes of a cable, the sum over {phases} phases" if phases > 1 else
             "busiest links: bytes of a cable"]
    if found.is_one_message:
        notes.append("to limit: the limit divides each message among all links of a node; here no link carries more than "
                     "the largest message")
    notes += [f"note: {note}" for note in where.notes if note not in where.network.notes]
    print_table(f"{path} on {where.where}", columns, rows, notes)
    say(found.advice)


def _verdict(where, found, p, start, effort=""):
    """The load of a placement, its gain over the launch order, and its distance to the proved limit in a sentence."""
    first, in_s = found.predictions[0], "" if p.link_s is None else f" in {milliseconds(p.link_s)}"
    clauses = [f"{start}: busiest links carry {amount(p.link_bytes)}{in_s}"]
    launch, ratio = where.site.launch, p.gain(first)
    order = where.site.launch_phrase(launch.orders[0]) if launch.orders else \
        f"ranks that fill each node first ({launch.title} is not known here: {launch.reason})"
    if p.placement == first.placement:
        clauses.append(f"this is {order}")
    elif ratio:
        said = percent(ratio).removeprefix("-")
        clauses.append(f"as fast as {order}" if abs(ratio - 1) < SAME else
                       f"{said} {'faster' if ratio > 1 else 'slower'} than {order}")
    if p.certificate:
        clauses.append("at the proved limit" if p.certificate < 1 + 1e-6 else
                       f"at most {to_limit(p.certificate)} above the proved least")
    is_searched = EFFORTS.get(effort, 1) or (p.certificate or 2) < 1 + SAME
    return ", ".join(clauses) + ("" if is_searched else " (without a search: --effort normal searches)")


def _as_dict(path: str, found: PlacedProgram) -> dict[str, Any]:
    first = found.predictions[0]
    return {"traffic": path, "ranks": found.traffic.n_ranks, "advice": found.advice,
            "predictions": [{**p.as_dict(), "gain": p.gain(first)} for p in found.predictions]}


def check_program(where: Setting, path: str, found: PlacedProgram, more: dict[str, Any], formats: str,
                  as_json: bool) -> None:
    """Print the loads of a placement file beside those of the launcher's order; `formats` are its formats in words."""
    if as_json:
        print_json({**more, **_as_dict(path, found)})
        return
    show_program(path, where, found)
    say(f"{more['file']}: valid for {', '.join(more['valid_for'])} (format {formats}), "
        f"{counted(found.traffic.n_ranks, 'rank')}")
    say(_verdict(where, found, found.predictions[-1], more["file"]))
