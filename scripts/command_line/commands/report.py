"""`pencilmap report`: one page that argues, from run records or from a prediction."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from pencilmap.mapper.ask import job_of
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import check_writable, write_whole
from pencilmap.mapper.base.hosts import first_hosts
from pencilmap.mapper.base.search import search_of
from pencilmap.mapper.choose import predictions
from pencilmap.mapper.formats import launch_of
from pencilmap.mapper.place import place
from pencilmap.mapper.placements import BEST, placement_name
from pencilmap.mapper.programs import read_programs
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import capitalised, counted
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.product import Product
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line import answers, options
from pencilmap.scripts.command_line.comparisons import nearness
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, Name, Page, with_options
from pencilmap.scripts.command_line.tables import echo, hearing, labelled, print_json, say
from pencilmap.scripts.pictures.report.entries import read_entries
from pencilmap.scripts.pictures.report.networks import MAX_NODES, Placed, views
from pencilmap.scripts.pictures.report.page import (
    Forecast,
    bandwidth_pictures,
    gains_of_runs,
    make_folder,
    page,
    phase_pictures,
    published_cells,
    torus_pictures,
    write_pictures,
)

PUBLISHED = "bluegene-l"
KINDS = ("svg", "pdf", "png")
FILE = "ranks.map"  # that the lines of a page write and read
TYPED = ("launch", "or", "job")  # labels of lines to copy


@click.command("report", cls=Page, usual="machine network nodes fft grid placement output published figures format")
@click.argument("records", nargs=-1, type=click.Path())
@click.option("--output", "-o", type=OUTPUT_FILE, default="report.html", show_default=True, help="The page.")
@click.option("--published", is_flag=True, help="Also the published times of Blue Gene/L.")
@click.option("--figures", type=click.Path(file_okay=False), metavar="FOLDER", help="Also write the figures for papers.")
@click.option("--format", "kind", type=Name(KINDS), help="Format of those figures [svg].")
@options.on_machine
@with_options(options.GRID, options.placements(), options.SCHEDULE, options.DIRECTION, options.EFFORT, JSON)
def command(where: Question | None, output: str, published: bool, figures: str | None,
            kind: str | None, grid: str, placement: tuple[str, ...], schedule: str, effort: str,
            as_json: bool, records: tuple[str, ...] = ()) -> None:
    """Make one page: the gain, the network before and after, times.

    The page is of run records, or without records of the prediction for a machine or network. It is one file that works
    offline. The same input gives the same bytes.
    """
    if kind and not figures:
        raise click.UsageError(f"--format {kind} is the format of the figures; name a folder for them with --figures")
    if where is None:
        _of_records(records, output, published, figures, kind or KINDS[0], as_json)
        return
    if published or figures:
        raise click.UsageError(f"--{'published' if published else 'figures'} is for run records; name their files, or leave "
                               "it out (pencilmap draw makes single pictures)")
    check_writable(output, FigureError)
    with hearing():
        sentences = _of_prediction(output, where, grid, placement, schedule, effort)
    if as_json:
        print_json({"page": output, "records": 0, "figures": [], "refused": []})
        return
    say(*sentences)
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
    traced = [program for runs in programs.values() for program in runs]
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
    files, refused = list[str](), list[str]()
    if figures:
        placement = [entry.placed for entry in entries]
        files, refused = write_pictures([*bandwidth_pictures(entries, cells), *phase_pictures(entries),
                                         *torus_pictures(placement, views(placement)[1])], figures, kind)
    if as_json:
        print_json({"page": output, "records": len(entries) + len(traced), "figures": files, "refused": refused})
        return
    say(*dict.fromkeys(filter(None, (*gains_of_runs(entries), said and f"{capitalised(said)}."))))
    echo()
    labelled("page", f"{output} ({counted(len(entries) + len(traced), 'record')})")
    say(*(f"wrote {file}" for file in files), *(f"left out {reason}" for reason in refused))


def _of_prediction(path: str, where: Question, grid: str, placements: Sequence[str], schedule: str,
                   effort: str) -> list[str]:
    """Write the page of some placements of a grid beside the launcher's order; return the sentences of the answer.

    Parameters
    ----------
    schedule : str
        Beside one exchange after the other, the page has the best schedule of the last placement.
    """
    within = search_of(effort)
    where, chosen, form = options.asked_grid(where, grid, placements)
    question = replace(where, schedule=schedule)
    predictions_ = predictions(question, chosen, placements, within)
    scheduled = []
    if schedule == SEQUENCE and where.network.bandwidth is not None and where.transform is not None:
        several = predictions(replace(where, schedule=BEST), chosen, (answers.DEFAULT, placements[-1]), within)
        scheduled = [p for p in several if p.schedule_name != SEQUENCE]
    best = ranked(predictions_)[0]
    launch = answers.launched(question, best, is_quick=not within.budget)
    searched = effort if best.placement == BEST else ""
    said = answers.Answer(best, launch, effort=searched, library=answers.library_in(grid, where))
    known = {p.placement for p in predictions_ if p.schedule_name == SEQUENCE}
    first = [p for p in (said.launch.first,) if p and p.placement not in known]
    return write_page(path, where, [*first, *predictions_, *scheduled], said, form)


def write_page(path: str, where: Question, result: Sequence[Prediction], said: answers.Answer, form: str = "") -> list[str]:
    """Write the page of the report, with predictions in place of runs; return the sentences of the answer.

    Parameters
    ----------
    form : str
        The format of the file, if the best placement is one.

    Raises
    ------
    FigureError
        If the file cannot be written, or matplotlib is needed and missing.
    """
    def placed(prediction: Prediction) -> Placed | None:
        if where.network.n_nodes > MAX_NODES:
            return None
        name, schedule = prediction.placement, prediction.schedule_name
        beside = schedule != SEQUENCE
        mapping = _placement(where, prediction).mapping(name)
        return Placed(mapping, name, placement_name(name, where.site), prediction.routing, where.transform, beside,
                      first_hosts(where.hosts or {}), schedule if beside else "", in_mb=where.transform is not None)

    forecasts = [Forecast(prediction, placed(prediction), where.transform) for prediction in result]
    sentences = said.sentences(placement_name(said.best.placement, where.site))
    static = answers.static_lines(where, said.best, said.launch if said.has_gain else answers.Launched(), "--routing static")
    text = page([], options.given_words(), forecasts=forecasts, machine=where.machine, bound=sentences[1],
                verdict=sentences[0],
                launch=[*_launch(where, said, form), *((label, line, False) for label, line in static)])
    write_whole(Path(path), text, FigureError)
    return sentences


def _placement(where: Question, prediction: Prediction) -> Mapping | Product | Placement:
    """Return the placement of a prediction."""
    return prediction.product or place(replace(where, schedule=prediction.schedule_name), prediction.placement,
                                       prediction.grid)


def _launch(where: Question, said: answers.Answer, form: str) -> list[tuple[str, str, bool]]:
    """Return labels and lines that write the file and start the job, and whether a line is typed; if the file is faster than
    the launch order.
    """
    best = said.best
    if said.is_launch or not said.has_gain:
        return [("launch", options.AS_BEFORE, False)] if said.launch.orders else []
    file, lines = placement_name(best.placement, where.site), []
    if not best.placement.startswith("file:"):
        form = options.format_of_launcher(where) or ""
        words = ["pencilmap map", *options.given_options("map", ("--output", "--placement", "--format", "--grid")), "--grid",
                 str(best.grid), *([] if form else ["--format", "FORMAT"])]
        named = [] if best.placement == BEST else ["--placement", shell.word(best.placement)]
        file, lines = FILE, [("file", " ".join([*words, *named, "-o", FILE]), True)]
        if not form:
            return [*lines, ("formats", "pencilmap help formats", True)]
    if not form:
        return lines
    mapping = _placement(where, best).mapping(best.placement)
    return [*lines, *((label, line, label in TYPED) for label, line, _ in
                      options.launch_lines(launch_of(mapping, file, form, job_of(where))))]
