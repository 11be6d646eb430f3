"""Distributed lines in `predict` and `simulate`: their options, and what is predicted of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import click

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import Setting
from pencilmap.model.errors import GridError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.line_plan import ALGORITHMS, ORDERS, break_evens, line_forecast, line_time
from pencilmap.model.units import milliseconds, parse
from pencilmap.scripts.command_line.plain_options import Name, with_options
from pencilmap.scripts.command_line.tables import print_json, print_table, say

LINE = "line"
OTHERS = ("fft", "grid", "exchange", "schedule", "direction", "page", "terms", "robust", "threads", "probe",
          "timing_only")  # not for lines
LINE_OPTIONS = with_options(
    click.option("--size", type=click.IntRange(1), metavar="N", help="Of decomposition line: its points."),
    click.option("--algorithm", type=Name(list(ALGORITHMS)), help="Of decomposition line. [default: transpose]"),
    click.option("--order", type=Name(list(ORDERS)), help="Where the points of a line are afterwards. [default: natural]"))


@dataclass(frozen=True)
class Line:
    """A distributed line, as it was asked for."""

    n: int
    algorithm: str
    order: str


def line_of(given: dict[str, Any], is_line: bool, named: Sequence[str]) -> Line | None:
    """The line of the options, which are taken out of `given`; None for another decomposition.

    `named` are the options that the user gave. Raises GridError for what does not go together.
    """
    size, algorithm, order = (given.pop(name) for name in ("size", "algorithm", "order"))
    if not is_line:
        for name, value in (("size", size), ("algorithm", algorithm), ("order", order)):
            if value is not None:
                raise GridError(f"--{name} is for --decomposition line; leave it out, or name that decomposition")
        return None
    if size is None:
        raise GridError("a line has points: give their number with --size, e.g. --size 65536")
    if foreign := [name for name in OTHERS if name in named]:
        raise GridError(f"--{foreign[0].replace('_', '-')} is not for --decomposition line; leave it out")
    return Line(size, algorithm or ALGORITHMS[0], order or next(iter(ORDERS)))


def predict_line(where: Setting, line: Line, placements: Sequence[str], routing: str | None, message_cost: str | None,
                 ports: int, as_json: bool) -> None:
    """Print what every exchange of the line takes, and below which size which algorithm is fastest."""
    costs = where.costs if message_cost is None else replace(where.costs, message_cost_s=parse(message_cost, "s"))
    found, grid = [], ProcessGrid(1, where.n_slots)
    for text in placements:
        mapping = as_mapping(where.place(text, grid), text)
        times = {name: line_time(line_forecast(mapping, line.n, name, line.order, costs, ports, routing))
                 for name in ALGORITHMS if not name.startswith("binary") or line.n % where.n_slots == 0}
        stages = line_forecast(mapping, line.n, line.algorithm, line.order, costs, ports, routing)
        found.append((text, stages, times, break_evens(mapping, line.order, costs, ports, routing)))
    if as_json:
        print_json(*[_as_dict(line, where, *each) for each in found])
        return
    rows = [[text, stage.name, stage.messages, milliseconds(stage.link_s), milliseconds(stage.time_s)]
            for text, stages, _, _ in found for stage in stages]
    points = line.n / where.n_slots
    print_table(f"{where.where}, line of {line.n:,} points, {points:g} a rank, by {line.algorithm}, order {line.order}",
                ["placement", "exchange", ">messages", ">busiest link", ">predicted"], rows)
    for text, _, times, evens in found:
        routed, closed = ({e.algorithm: getattr(e, name) for e in evens} for name in ("routed", "crossbar"))
        print_table(f"placement {text}: all algorithms; n* points a rank below which they are faster than the transposes",
                    ["algorithm", ">predicted", ">n* routed", ">n* crossbar"],
                    [[name, milliseconds(times[name]) if name in times else "-", _points(routed.get(name)),
                      _points(closed.get(name))] for name in ALGORITHMS])
        fastest = min(times, key=lambda name: times[name])
        other = "" if fastest == line.algorithm else f"; {line.algorithm} takes {milliseconds(times[line.algorithm])}"
        say(f"fastest under {text}: {fastest}, {milliseconds(times[fastest])}{other}")


def _points(value):
    if value is None or value != value:
        return "-"
    return "always" if value == inf else f"{value:.0f}"


def _as_dict(line, where, text, stages, times, evens):
    return {"n": line.n, "ranks": where.n_slots, "algorithm": line.algorithm, "order": line.order, "placement": text,
            "stages": [stage.__dict__ for stage in stages], "time_s": times[line.algorithm], "times_s": times,
            "break_evens": [{"algorithm": e.algorithm, "routed": e.routed if isfinite(e.routed) else None,
                             "always": e.routed == inf, "crossbar": e.crossbar if isfinite(e.crossbar) else None}
                            for e in evens]}
