"""The page of the report from predictions alone: the launcher's order and other placements on one network."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pencilmap.mapper.ask import job_of
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.base.hosts import first_hosts
from pencilmap.mapper.base.search import search_of
from pencilmap.mapper.choose import predictions
from pencilmap.mapper.formats import launch_of
from pencilmap.mapper.place import place
from pencilmap.mapper.placements import BEST as BEST_PLACEMENT, placement_name
from pencilmap.model.base.errors import FigureError
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.product import Product
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.schedules import BEST
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.answers import DEFAULT, Answer, Launched, launched, library_in, static_lines
from pencilmap.scripts.command_line.options import (
    AS_BEFORE,
    asked_grid,
    format_of_launcher,
    given_options,
    given_words,
    launch_lines,
)

FILE = "ranks.map"  # that the lines of a page write and read
TYPED = ("launch", "or", "job")  # labels of lines to copy


def predicted_page(path: str, where: Question, grid: str, placements: Sequence[str], schedule: str,
                   effort: str) -> list[str]:
    """Write the page of some placements of a grid beside the launcher's order; return the sentences of the answer.

    Parameters
    ----------
    schedule : str
        Beside one exchange after the other, the page has the best schedule of the last placement.
    """
    within = search_of(effort)
    where, chosen, form = asked_grid(where, grid, placements)
    question = replace(where, schedule=schedule)
    found = predictions(question, chosen, placements, within)
    scheduled = []
    if schedule == SEQUENCE and where.network.bandwidth is not None and where.transform is not None:
        several = predictions(replace(where, schedule=BEST), chosen, (DEFAULT, placements[-1]), within)
        scheduled = [p for p in several if p.schedule_name != SEQUENCE]
    best = ranked(found)[0]
    launch = launched(question, best, is_quick=not within.budget)
    asked = effort if best.placement == BEST_PLACEMENT else ""
    said = Answer(best, launch, effort=asked, library=library_in(grid, where))
    known = {p.placement for p in found if p.schedule_name == SEQUENCE}
    first = [p for p in (said.launch.first,) if p and p.placement not in known]
    return write_page(path, where, [*first, *found, *scheduled], said, form)


def write_page(path: str, where: Question, found: Sequence[Prediction], said: Answer, form: str = "") -> list[str]:
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
    from pencilmap.scripts.pictures.report.networks import MAX_NODES, Placed
    from pencilmap.scripts.pictures.report.page import Forecast, page

    def placed(prediction: Prediction) -> Placed | None:
        if where.network.n_nodes > MAX_NODES:
            return None
        name, schedule = prediction.placement, prediction.schedule_name
        beside = schedule != SEQUENCE
        mapping = _placement(where, prediction).mapping(name)
        return Placed(mapping, name, placement_name(name, where.site), prediction.routing, where.transform, beside,
                      first_hosts(where.hosts or {}), schedule if beside else "", in_mb=where.transform is not None)

    forecasts = [Forecast(prediction, placed(prediction), where.transform) for prediction in found]
    sentences = said.sentences(placement_name(said.best.placement, where.site))
    text = page([], given_words(), forecasts=forecasts, machine=where.machine, bound=sentences[1], verdict=sentences[0],
                launch=[*_launch(where, said, form), *((label, line, False) for label, line in static_lines(
                    where, said.best, said.launch if said.has_gain else Launched(), "--routing static"))])
    write_whole(Path(path), text, FigureError)
    return sentences


def _placement(where: Question, prediction: Prediction) -> Mapping | Product | Placement:
    """Return the placement of a prediction."""
    return prediction.product or place(replace(where, schedule=prediction.schedule_name), prediction.placement,
                                       prediction.grid)


def _launch(where: Question, said: Answer, form: str) -> list[tuple[str, str, bool]]:
    """Return labels and lines that write the file and start the job, and whether a line is typed; if the file is faster than
    the launch order.
    """
    best = said.best
    if said.is_launch or not said.has_gain:
        return [("launch", AS_BEFORE, False)] if said.launch.orders else []
    file, lines = placement_name(best.placement, where.site), []
    if not best.placement.startswith("file:"):
        form = format_of_launcher(where) or ""
        words = ["pencilmap map", *given_options("map", ("--output", "--placement", "--format", "--grid")), "--grid",
                 str(best.grid), *([] if form else ["--format", "FORMAT"])]
        named = [] if best.placement == BEST_PLACEMENT else ["--placement", shell.word(best.placement)]
        file, lines = FILE, [("file", " ".join([*words, *named, "-o", FILE]), True)]
        if not form:
            return [*lines, ("formats", "pencilmap help formats", True)]
    if not form:
        return lines
    mapping = _placement(where, best).mapping(best.placement)
    return [*lines, *((label, line, label in TYPED) for label, line, _ in
                      launch_lines(launch_of(mapping, file, form, job_of(where))))]
