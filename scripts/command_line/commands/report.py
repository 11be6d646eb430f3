"""`pencilmap report`: one page that argues, from run records or from a prediction."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pencilmap.mapper.base.files import check_writable, write_whole
from pencilmap.mapper.programs import read_programs
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import counted
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line.measured import nearness
from pencilmap.scripts.command_line.options import DIRECTION, EFFORT, GRID, SCHEDULE, on_machine, placements
from pencilmap.scripts.command_line.pages import Page
from pencilmap.scripts.command_line.plain_options import JSON, OUTPUT_FILE, Name, with_options
from pencilmap.scripts.command_line.prediction_page import predicted_page
from pencilmap.scripts.command_line.tables import echo, hearing, labelled, print_json, say
from pencilmap.scripts.pictures.report.entries import Entry, read_entries
from pencilmap.scripts.pictures.report.networks import views
from pencilmap.scripts.pictures.report.page import (
    Picture,
    bandwidth_pictures,
    gains_of_runs,
    make_folder,
    page,
    phase_pictures,
    published_cells,
    torus_pictures,
    write_pictures,
)

if TYPE_CHECKING:
    from pencilmap.mapper.runs.compare import Comparison

PUBLISHED = "bluegene-l"
KINDS = ("svg", "pdf", "png")


@click.command("report", cls=Page, usual="machine network nodes fft grid placement output published figures format")
@click.argument("records", nargs=-1, type=click.Path())
@click.option("--output", "-o", type=OUTPUT_FILE, default="report.html", show_default=True, help="The page.")
@click.option("--published", is_flag=True, help="Also the published times of Blue Gene/L.")
@click.option("--figures", type=click.Path(file_okay=False), metavar="FOLDER", help="Also write the figures for papers.")
@click.option("--format", "kind", type=Name(KINDS), help="Format of those figures [svg].")
@on_machine
@with_options(GRID, placements(), SCHEDULE, DIRECTION, EFFORT, JSON)
def command(where: Question | None, output: str, published: bool, figures: str | None,
            kind: str | None, grid: str, placement: tuple[str, ...], schedule: str, effort: str,
            as_json: bool, records: tuple[str, ...] = ()) -> None:
    """Make one page: the gain, the network before and after, times.

    The page is of run records, or without records of the prediction for a machine or network. It is one file that works
    offline. The same input gives the same bytes.
    """
    if kind and not figures:
        raise click.UsageError(f"--format {kind} is the format of the figures; name a folder for them with --figures")
    if where is not None:
        _predicted(where, output, published, figures, (grid, placement, schedule, effort), as_json)
    else:
        _of_records(records, output, published, figures, kind or KINDS[0], as_json)


def _predicted(where: Question, output: str, published: bool, figures: str | None,
               question: tuple[str, tuple[str, ...], str, str], as_json: bool) -> None:
    """Write the page of a prediction."""
    if published or figures:
        raise click.UsageError(f"--{'published' if published else 'figures'} is for run records; name their files, or leave "
                               "it out (pencilmap draw makes single pictures)")
    check_writable(output, FigureError)
    with hearing():
        sentences = predicted_page(output, where, *question)
    if as_json:
        print_json({"page": output, "records": 0, "figures": [], "refused": []})
        return
    for sentence in sentences:
        say(sentence)
    echo()
    labelled("page", output)


def _of_records(records: tuple[str, ...], output: str, published: bool, figures: str | None, kind: str,
                as_json: bool) -> None:
    """Write the page of run records, and their figures."""
    if any(os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output) for path in records):
        raise FigureError(f"{output} contains the records; name another file for the page with -o")
    check_writable(output, FigureError)
    programs = {path: read_programs(path) for path in records}
    entries = read_entries([path for path in records if not programs[path]])
    traced = [program for found in programs.values() for program in found]
    cells = published_cells() if published and any(entry.machine == PUBLISHED for entry in entries) else []
    if published and not cells:
        say(f"note: the published times are of {PUBLISHED}, and no record is of it: they are left out", err=True)
    words = ["pencilmap", "report", *records, "-o", output, *(["--published"] if published else []),
             *(["--figures", figures, "--format", kind] if figures else [])]
    rows = [row for entry in entries for row in entry.comparisons]
    said = "; ".join(filter(None, (nearness(rows), *(program.verdict for program in traced))))
    text = page(entries, words, cells, verdict=said, programs=traced)
    if figures:
        make_folder(figures)
    write_whole(Path(output), text, FigureError)
    files, refused = write_pictures(_pictures(entries, cells), figures, kind) if figures else ([], [])
    if as_json:
        print_json({"page": output, "records": len(entries) + len(traced), "figures": files, "refused": refused})
        return
    for sentence in dict.fromkeys(filter(None, (*gains_of_runs(entries), said and f"{said[:1].upper()}{said[1:]}."))):
        say(sentence)
    echo()
    labelled("page", f"{output} ({counted(len(entries) + len(traced), 'record')})")
    for line in [f"wrote {file}" for file in files] + [f"left out {reason}" for reason in refused]:
        say(line)


def _pictures(entries: Sequence[Entry], cells: "Sequence[Comparison]") -> list[Picture]:
    placed = [entry.placed for entry in entries]
    return [*bandwidth_pictures(entries, cells), *phase_pictures(entries), *torus_pictures(placed, views(placed)[1])]
