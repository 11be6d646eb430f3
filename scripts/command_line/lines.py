"""Distributed lines, alone and on bricks, in `predict` and `simulate`: their options and predictions."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, prod
from typing import TYPE_CHECKING, Any

import click

from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import milliseconds, parse
from pencilmap.model.decompositions import bricks_named
from pencilmap.model.lines import ALGORITHMS, ORDERS
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line.plain_options import Name, with_options
from pencilmap.scripts.command_line.tables import print_json, print_table, say

if TYPE_CHECKING:  # few questions have lines, whose modules load late
    from pencilmap.model.lines.line_problem import LineProblem

LINE = "line"
BRICK = "brick"
OTHERS = ("grid", "exchange", "schedule", "direction", "page", "terms", "robust", "threads", "probe",
          "timing_only", "halo", "weight")  # not for lines
LINE_OPTIONS = with_options(
    click.option("--size", type=click.IntRange(1), metavar="N", help="Points of the line, for --decomposition line."),
    click.option("--algorithm", type=Name(list(ALGORITHMS)), help="Algorithm of a line, or of the lines on bricks "
                 "[transpose]."),
    click.option("--order", type=Name(list(ORDERS)), help="Order of the points after a line's transform "
                 "[natural]."))


def has_lines(decomposition: str, given: dict[str, Any]) -> bool:
    """Whether the options ask for distributed lines: alone, or on bricks by an algorithm or order."""
    asked = given.get("algorithm") or given.get("order")
    return decomposition == LINE or bool(asked and decomposition.startswith(BRICK))


def lines_of(given: dict[str, Any], decomposition: str, fft: str | None, named: Sequence[str]) -> "LineProblem | None":
    """Take the options of distributed lines out of `given` and return their problem; None for another decomposition.

    `named` are the options that the user gave.

    Raises
    ------
    GridError
        If options contradict each other.
    """
    wanted = has_lines(decomposition, given)
    size, algorithm, order = (given.pop(name) for name in ("size", "algorithm", "order"))
    if not wanted:
        for name, value in (("size", size), ("algorithm", algorithm), ("order", order)):
            if value is not None:
                bricks = "" if name == "size" else " or brick:PxQxS"
                raise GridError(f"--{name} is for --decomposition line{bricks}; leave it out, or name that decomposition")
        return None
    how = algorithm or ALGORITHMS[0], order or next(iter(ORDERS))
    if foreign := [name for name in OTHERS if name in named]:
        bricks = "" if decomposition == LINE else ", nor for bricks with --algorithm or --order"
        raise GridError(f"--{foreign[0].replace('_', '-')} is not for --decomposition line{bricks}; leave it out")
    from pencilmap.model.lines.line_problem import LineProblem

    if decomposition == LINE:
        if size is None:
            raise GridError("a line has points: give their number with --size, e.g. --size 65536")
        if fft:
            raise GridError("--fft is not for --decomposition line; leave it out")
        return LineProblem((size,), None, *how)
    if size is not None or not fft:
        raise GridError("bricks of lines are an array: give its extents with --fft, e.g. --fft 64x64x64, or --fft 64x64x1 "
                        "for two dimensions")
    transform = parse_transform(fft)
    if transform.type != "c2c":
        raise GridError(f"lines transform complex numbers: --fft {fft[:40]} is not c2c; leave :{transform.type} out")
    return LineProblem((transform.nx, transform.ny, transform.nz), bricks_named(decomposition).bricks, *how,
                       transform.fields, transform.precision)


def predict_lines(where: Question, problem: "LineProblem", placements: Sequence[str], routing: str | None,
                  message_cost: str | None, ports: int, as_json: bool) -> None:
    """Print the time of every exchange of the lines and the fastest algorithm, and for one line the break-even size."""
    from pencilmap.mapper.studies.lines import placed_lines
    from pencilmap.model.lines.line_plan import break_evens, line_time

    costs = where.costs if message_cost is None else replace(where.costs, message_cost_s=parse(message_cost, "s"))
    found, ranks = [], where.n_slots
    problem.stages(ranks)  # raises an error if the lines are impossible
    for text in placements:
        mapping = placed_lines(where, problem, text)
        times = {name: line_time(problem.forecast(mapping, costs, ports, routing, name))
                 for name in problem.algorithms(ranks)}
        stages = problem.forecast(mapping, costs, ports, routing)
        evens = break_evens(mapping, problem.order, costs, ports, routing) if problem.bricks is None else ()
        found.append((text, stages, times, evens))
    if as_json:
        print_json(*[_as_dict(problem, ranks, *each) for each in found])
        return
    rows = [[text, stage.name, stage.messages, milliseconds(stage.link_s), milliseconds(stage.time_s)]
            for text, stages, _, _ in found for stage in stages]
    points = prod(problem.size) * problem.fields / ranks
    print_table(f"{where.site}, {problem.title}, {points:g} a rank, by {problem.algorithm}, order {problem.order}",
                ["placement", "exchange", ">messages", ">busiest link", ">predicted"], rows)
    for text, _, times, evens in found:
        _print_algorithms(text, times, evens)
        fastest = min(times, key=lambda name: times[name])
        asked = problem.algorithm
        other = "" if fastest == asked else f"; {asked} takes {milliseconds(times[asked])}"
        say(f"fastest under {text}: {fastest}, {milliseconds(times[fastest])}{other}")


def _print_algorithms(text, times, evens):
    columns = ["algorithm", ">predicted"]
    rows = [[name, milliseconds(times[name]) if name in times else "-"] for name in ALGORITHMS]
    if not evens:
        print_table(f"placement {text}: all algorithms", columns, rows)
        return
    routed, closed = ({e.algorithm: getattr(e, name) for e in evens} for name in ("routed", "crossbar"))
    print_table(f"placement {text}: all algorithms; n* points a rank below which they are faster than the transposes",
                [*columns, ">n* routed", ">n* crossbar"],
                [[*row, _points(routed.get(row[0])), _points(closed.get(row[0]))] for row in rows])


def _points(value):
    if value is None or value != value:
        return "-"
    return "always" if value == inf else f"{value:.0f}"


def _as_dict(problem, ranks, text, stages, times, evens):
    what = {"n": problem.size[0]} if problem.bricks is None else {
        "size": list(problem.size), "bricks": list(problem.bricks), "fields": problem.fields}
    return {**what, "ranks": ranks, "algorithm": problem.algorithm, "order": problem.order, "placement": text,
            "stages": [stage.__dict__ for stage in stages], "time_s": times[problem.algorithm], "times_s": times,
            "break_evens": [{"algorithm": e.algorithm, "routed": e.routed if isfinite(e.routed) else None,
                             "always": e.routed == inf, "crossbar": e.crossbar if isfinite(e.crossbar) else None}
                            for e in evens]}
