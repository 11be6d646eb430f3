"""The page of the report from predictions alone: the launcher's order and other placements on one network."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.placement_names import placement_name
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.searches.limit import EFFORTS, Limit
from pencilmap.mapper.setting import Setting
from pencilmap.model.base.errors import FigureError
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules import BEST
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.answers import DEFAULT, Answer, launched, library_in
from pencilmap.scripts.command_line.launching import asked_grid
from pencilmap.scripts.command_line.options import given_options, given_words


def predicted_page(path: str, where: Setting, grid: str, placements: Sequence[str], schedule: str,
                   effort: str) -> Answer:
    """Write the page of some placements of a grid beside the launcher's order; return the answer.

    Parameters
    ----------
    schedule : str
        Beside one exchange after the other, the page has the best schedule of the last placement.
    """
    question, limit, chosen = Question(schedule=schedule), Limit(1, None), str(asked_grid(where, grid, placements))
    found = list(where.answers(question, chosen, tuple(placements), effort, limit))
    scheduled = []
    if schedule == SEQUENCE and where.network.bandwidth is not None and where.transform is not None:
        several = where.answers(replace(question, schedule=BEST), chosen, (DEFAULT, placements[-1]), effort, limit)
        scheduled = [p for p in several if p.schedule and p.schedule.name != SEQUENCE]
    best = ranked(found)[0]
    launch = launched(where, best, question, is_quick=not EFFORTS[effort])
    said = Answer(best, launch, effort=effort, library=library_in(grid))
    known = {p.placement for p in found if p.schedule is None or p.schedule.name == SEQUENCE}
    first = [p for _, p in said.launch.orders[:1] if p.placement not in known]
    write_page(path, where, [*first, *found, *scheduled], said)
    return said


def write_page(path: str, where: Setting, found: Sequence[Prediction], said: Answer) -> None:
    """Write the page of the report, with predictions in place of runs.

    Raises
    ------
    FigureError
        If the file cannot be written, or matplotlib is needed and missing.
    """
    from pencilmap.scripts.pictures.report.page import Forecast, page
    from pencilmap.scripts.pictures.report.tori import MAX_NODES, Placed

    def placed(prediction):
        if where.network.n_nodes > MAX_NODES:
            return None
        name, schedule = prediction.placement, prediction.schedule.name if prediction.schedule else SEQUENCE
        beside = schedule != SEQUENCE
        mapping = as_mapping(prediction.product or where.place(name, prediction.grid, schedule), name)
        return Placed(mapping, name, prediction.routing, where.transform, beside, where.names or {},
                      schedule if beside else "")

    forecasts = [Forecast(prediction, placed(prediction), where.transform) for prediction in found]
    text = page([], given_words(), forecasts=forecasts, machine=where.machine, bound=said.second(),
                verdict=said.first(placement_name(said.best.placement, where.site)), launch=_launch(said))
    write_whole(Path(path), text, FigureError)


def _launch(said):
    """Return the command that writes the file, if it is faster than the launch order."""
    if not said.is_faster or said.best.placement == DEFAULT:
        return []
    options = given_options("map", ("--output", "--placement", "--format"))
    return [("file", " ".join(["pencilmap map", *options, *(["--placement", shell.word(said.best.placement)]
                                                            if said.best.placement != BEST else []), "-o FILE"]))]
