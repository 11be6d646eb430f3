"""`pencilmap study demo`: the paper's result, from the machine description to the comparison, and both exchanges at once."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.base.progress import heard_by
from pencilmap.mapper.formats import write_mapping
from pencilmap.mapper.placements import placement_name
from pencilmap.mapper.runs.compare import Comparison, compare_published, compare_records, schedule_of_record
from pencilmap.mapper.setting import setting
from pencilmap.model.base.units import milliseconds
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import EXCHANGES
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.pages import JSON, Page
from pencilmap.scripts.command_line.predictions import Row, prediction_table
from pencilmap.scripts.command_line.tables import comparison_table, echo, print_json, print_table, say, shown
from pencilmap.scripts.networks.simulated import SimulatedNetwork, simulate_all, simulation_of

MACHINE, GRID, SIZE = "bluegene-l", "8x64", "256"
PLACEMENTS = ("default", "box:2x2x2")
# Both exchanges at once run on a part of the torus with the same loads, because the run takes a fraction of the time.
PART, PART_GRID, PART_SIZE = "8x8x2:torus", "8x16", "128"
SCHEDULES = (("default", SEQUENCE), ("box:2x2x2", SEQUENCE), ("default", "overlap:8"), ("default", "two-way"))


@click.command("demo", cls=Page)
@click.option("--output", "-o", type=click.Path(file_okay=False), default="demo-out", show_default=True,
              help="Folder for mapfiles, records, demo.json.")
@JSON
def command(output: str, as_json: bool) -> None:
    """Predict, map, simulate and compare one published case.

    Rows of grid 8x64 on 2x2x2 cubes against the default order on an 8x8x8 torus (256^3). Then rows and columns at once, on
    an 8x8x2 torus (128^3): lines overlapped against cubes in sequence.
    """
    where = setting(machine=MACHINE, fft=SIZE)
    grid = where.grid(GRID)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    predicted = where.predictions(GRID, PLACEMENTS)
    mapfiles = [_write(where, grid, text, folder) for text in PLACEMENTS]
    if not as_json:
        say(f"1. exchanges predicted: {where.site}, transform {where.transform}", bold=True)
        prediction_table([Row(p, predicted[0], placement_name(p.placement, where.site)) for p in predicted],
                         by=EXCHANGES)
        print_table("2. mapped", ["placement", "mapfile"],
                    [(placement_name(text, where.site), mapfile) for text, mapfile in zip(PLACEMENTS, mapfiles)])
    part = setting(machine=MACHINE, network=PART, fft=PART_SIZE)
    kept = folder / "records.jsonl"
    kept.unlink(missing_ok=True)
    with shown() as progress, heard_by(progress):
        records = simulate_all(_runs(where, grid, [(text, SEQUENCE) for text in PLACEMENTS])
                               + _runs(part, part.grid(PART_GRID), SCHEDULES), json_path=kept)
    rows = [row for text, record in zip(PLACEMENTS, records) for row in compare_records(record, text)]
    at_once = [_AtOnce.of(part, record) for record in records[len(PLACEMENTS):]]
    answer = {"predictions": [p.as_dict() for p in predicted], "mapfiles": [str(m) for m in mapfiles],
              "comparison": [row.as_dict() for row in rows],
              "speedup": {name: _ratio(rows, name) for name in ("t_s", "measured_s")},
              "at_once": [asdict(run) for run in at_once]}
    write_whole(folder / "demo.json", json.dumps(answer, indent=2) + "\n")
    if as_json:
        print_json(answer)
        return
    comparison_table(rows, "3. simulated with the real runner, its result verified, and compared")
    gain = _side_by_side(rows, where)
    _together(at_once, part)
    echo()
    order, cubes = (sum(row.measured_s for row in rows if row.placement == text) for text in PLACEMENTS)
    say(f"Cubes are {order / cubes:.2f}x faster than the order XYZT: {milliseconds(cubes)} simulated, not "
        f"{milliseconds(order)}.",
        f"Predicted {_ratio(rows, 't_s'):.2f}x. On Blue Gene/L {gain:.2f}x was measured, and "
        f"{(predicted[0].time_s or 0.0) / (predicted[1].time_s or 1.0):.2f}x is predicted.")


def _write(where: Any, grid: ProcessGrid, text: str, folder: Path) -> Path:
    path = folder / f"{text.replace(':', '-')}.map"
    write_mapping(where.place(text, grid).mapping(text), path, "bgl")
    return path


def _runs(where: Any, grid: Any, tried: Sequence[tuple[str, str]]) -> list[Any]:
    network = SimulatedNetwork(where.network)
    return [simulation_of(where, network, grid, text, schedule, verify=True) for text, schedule in tried]


def _side_by_side(rows: list[Comparison], where: Question) -> float:
    """Print predicted, simulated and published times of the exchanges; return the published gain of the cubes."""
    published = {(r.placement, r.stage): r.measured_s for r in compare_published()
                 if (r.grid, r.transform, r.tasks_per_node) == (GRID, str(where.transform), where.tasks_per_node)}
    print_table("4. compared with the published measurements (Jagode, Hein, Trew, Appendix A, CO mode)",
                ["placement", "exchange", ">link time", ">simulated", ">published"],
                [[placement_name(r.placement, where.site), r.stage, milliseconds(r.t_s), milliseconds(r.measured_s),
                  milliseconds(published[r.placement, r.stage])] for r in rows])
    both = {text: sum(published[r.placement, r.stage] for r in rows if r.placement == text) for text in PLACEMENTS}
    return both[PLACEMENTS[0]] / both[PLACEMENTS[1]]


def _ratio(rows: list[Comparison], attribute: str) -> float:
    default, cubes = (sum(getattr(r, attribute) for r in rows if r.placement == text) for text in PLACEMENTS)
    return default / cubes


@dataclass(frozen=True)
class _AtOnce:
    """Both exchanges of one run, seconds: by the links, simulated, and the lower bound."""

    placement: str
    schedule: str
    joint: float  #: load of both exchanges at once
    t_s: float
    measured_s: float
    bound_s: float

    @classmethod
    def of(cls, where: Any, records: list[dict[str, Any]]) -> "_AtOnce":
        [record] = records
        rows, schedule, grid = compare_records(records, "demo"), schedule_of_record(record), where.grid(PART_GRID)
        forecast = where.predict(where.place(rows[0].placement, grid), schedule=schedule).schedule
        return cls(rows[0].placement, schedule, float(max(forecast.load_joint)), sum(row.t_s or 0.0 for row in rows),
                   sum(row.measured_s for row in rows), forecast.t_s / forecast.certificate_any)


def _together(runs: list[_AtOnce], where: Question) -> None:
    """Compare the runs with the bound and with cubes in sequence."""
    cubes = next(run for run in runs if run.placement == PLACEMENTS[1])
    echo()
    print_table(f"5. both exchanges at once: {where.site}, grid {PART_GRID}, transform {where.transform}, simulated and "
                "verified as above",
                ["placement", "schedule", ">joint\nload", ">link time", ">simulated", ">over the\nbound",
                 ">gain over\ncubes"],
                [[placement_name(run.placement, where.site).replace("on ", "on\n"), run.schedule, f"{run.joint:.4g}",
                  milliseconds(run.t_s), milliseconds(run.measured_s), f"{run.measured_s / run.bound_s:.2f}",
                  f"{cubes.measured_s / run.measured_s:.2f}"] for run in runs]
                + [["any", "any", "", milliseconds(runs[0].bound_s), "", "", ""]])
    gains = [f"{run.schedule} {cubes.measured_s / run.measured_s:.2f}x simulated, {cubes.t_s / run.t_s:.2f}x by link time"
             for run in runs if run.schedule != SEQUENCE]
    say(f"The order XYZT with both exchanges at once is faster than cubes: {'; '.join(gains)}.")
