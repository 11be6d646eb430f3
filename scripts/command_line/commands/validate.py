"""`pencilmap validate`: predictions compared with measured networks; the exit status tells whether they hold."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from statistics import mean
from textwrap import wrap
from typing import Any, TypeAlias

import click

from pencilmap.mapper.base.files import append_whole, check_appendable
from pencilmap.mapper.base.progress import heard_by
from pencilmap.mapper.placements import PLACEMENTS
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import UnitError
from pencilmap.model.base.units import capitalised, milliseconds, parse
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds import network_named
from pencilmap.model.network.network import Network
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.schedules.schedule import PAIR, SEQUENCE
from pencilmap.scripts.command_line import documents
from pencilmap.scripts.command_line.comparisons import claims_answer
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, WIDE, Name, Page, completed, with_options
from pencilmap.scripts.command_line.tables import broken, fitted, print_json, print_table, say, shown
from pencilmap.scripts.networks import validation
from pencilmap.scripts.networks.namespaces import experiment
from pencilmap.scripts.networks.namespaces.experiment import (
    IDLE_SHARE,
    LINK_TOLERANCE,
    Experiment,
    Result,
    UnavailableError,
    run,
)
from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork
from pencilmap.scripts.networks.suites import CLAIMS, SUITES, ValidationError, cases_of

Given: TypeAlias = dict[str, Any]  # options by name
Judged: TypeAlias = tuple[int, float, float, bool]  # number of exchanges, least and largest ratio, whether a claim holds
FAILED, UNAVAILABLE = 1, 3
LINES = "lines"  # a separate suite: break-evens, not exchanges
LESS_WANTED = (">tasks/node", ">size", ">+ software", ">time model", ">published", ">predicted", ">simulated", ">m",
               ">least", ">most", "exchange")  # dropped in this order if the table is wider than 80 columns
HEADING, TEXT = 10, 40  # characters on a line of a heading or schedule, and of other cells; longer words stay whole


@dataclass(frozen=True)
class Part:
    """A table of the result, for people and for documents; cells are text."""

    title: str
    columns: list[str]
    rows: list[list[Any]]
    droppable: tuple[str, ...] = LESS_WANTED  #: columns to drop if the table is wider than 80 columns
    file: str | None = None  #: ending of the name of a result file; --into writes the table there, not into the page


@dataclass(frozen=True)
class Outcome:
    """The result of a validation.

    parts : tables; tables in result files have different endings
    as_dict : the result as JSON values
    holds : whether all claims hold
    answer : the result in one line
    records : of the runs, to keep if --records asks for it
    """

    parts: list[Part]
    as_dict: dict[str, Any]
    holds: bool
    answer: str
    records: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class Kind:
    """One line of the table of networks.

    run : options by name -> Outcome
    place : options by name -> the place of the tables in a document, apart from the network
    options : names of the options that no other network has
    """

    run: Callable[[Given], Outcome]
    place: Callable[[Given], str]
    options: tuple[str, ...]


def _simulated(options: Given) -> Outcome:
    suite = options["suite"] or "quick"
    if suite == LINES:
        return _lines(options)
    rows = validation.validate_simulated(cases_of(suite, options["at_most"]), options["records"], options["timeout"])
    judged = [(claim.text, judgement) for claim in CLAIMS if (judgement := claim.judge(rows))]
    as_dict = {"rows": [row.as_dict() for row in rows], "claims": _claims_json(judged)}
    parts = [_rows_part(suite, rows), *_published_part(rows), _claims_part(judged)]
    return Outcome(parts, as_dict, all(judgement[-1] for _, judgement in judged), claims_answer(judged))


def _lines(options: Given) -> Outcome:
    """Break-evens of distributed lines, in points a rank."""
    cases = validation.line_cases(options["at_most"])
    if not cases:
        raise ValidationError("suite lines has no network of so few ranks; its smallest has 16")
    rows = validation.validate_lines(cases, options["timeout"], options["records"])
    columns = ["network", ">ranks", "algorithm", "order", ">start, us", ">n* formula", ">n* predicted", ">n* simulated",
               ">simulated / predicted", "holds"]
    cells = [[row.case.name, row.case.ranks, row.case.algorithm, row.case.order, f"{1e6 * row.case.message_s:.4g}",
              f"{row.formula:.0f}", f"{row.predicted:.0f}", f"{row.simulated:.0f}", f"{row.ratio:.3f}", _yes(row.holds)]
             for row in rows]
    part = Part("suite lines: points a rank below which the binary exchange is faster", columns, cells,
                (">start, us", ">n* formula", "order", ">ranks"), file="break-evens")
    bricks = validation.validate_bricks(validation.brick_cases(options["at_most"]), options["timeout"], options["records"])
    holds = all(row.holds for row in rows) and all(row.holds for row in bricks)
    item = [ratio for row in bricks for ratio in row.ratios]
    ratios = [row.ratio for row in rows]
    said = (f"the simulated break-even is {min(ratios):.3f} to {max(ratios):.3f} of the predicted one in {len(rows)} cases, "
            f"exchanges of bricks take {min(item):.3f} to {max(item):.3f} of the predicted time in {len(bricks)}: "
            + ("as claimed" if holds else "NOT as claimed"))
    as_dict = {"rows": [row.as_dict() for row in rows], "holds": holds, "bricks": [row.as_dict() for row in bricks]}
    return Outcome([part, _bricks_part(bricks), _line_claims(rows, bricks)], as_dict, holds, said)


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"


def _bricks_part(rows: list[validation.BrickRow]) -> Part:
    columns = ["network", "bricks", "size", "algorithm", "order", ">start, us", ">messages", ">sent",
               ">simulated / predicted", "exchanges", "holds"]
    cells = [[row.case.name, *("x".join(map(str, numbers)) for numbers in (row.case.bricks, row.case.size)),
              row.case.algorithm, row.case.order, f"{1e6 * row.case.message_s:.4g}", sum(row.messages),
              sum(row.messages_sent), f"{row.simulated / row.predicted:.3f}",
              f"{min(row.ratios):.3f} to {max(row.ratios):.3f}", _yes(row.holds)] for row in rows]
    return Part("suite lines: lines on bricks; messages of the rank that sends most, as predicted and by the library",
                columns, cells, (">start, us", "order", ">sent"), file="bricks")


def _line_claims(rows: list[validation.LineRow], bricks: list[validation.BrickRow]) -> Part:
    """The range of ratios of the break-evens and of the exchanges of bricks, and whether all rows hold."""
    groups = [(f"simulated over predicted break-even, {where}: within a factor of {validation.MOST_FACTOR:g}",
               [([row.ratio], row.holds) for row in rows if row.case.crossbar == crossbar])
              for where, crossbar in (("crossbars", True), ("rings, meshes and tori", False))]
    groups.append((f"simulated over predicted time of exchanges of bricks: at most {validation.MOST_EXACT}, messages as "
                   "predicted", [(list(row.ratios), row.holds) for row in bricks]))
    cells = []
    for text, group in (named for named in groups if named[1]):
        ratios = [ratio for item, _ in group for ratio in item]
        cells.append([text, len(group), f"{min(ratios):.3f}", f"{max(ratios):.3f}", _yes(all(holds for _, holds in group))])
    return Part("claims", ["claim", ">cases", ">least", ">most", "holds"], cells)


def _rows_part(suite: str, rows: list[validation.Row]) -> Part:
    columns = ["torus", ">tasks/node", "grid", "placement", ">size", "exchange", ">predicted", ">simulated",
               ">simulated / predicted"]
    cells = [[str(row.case.setting().network), row.case.tasks_per_node, row.case.grid, row.case.placement, row.case.fft,
              row.stage, milliseconds(row.network_s), milliseconds(row.simulated_s), f"{row.network_ratio:.3f}"]
             for row in rows]
    if any(row.routing != validation.ROUTING for row in rows):
        columns = ["network", "routing", *columns[1:]]
        cells = [[cell[0], row.routing, *cell[1:]] for cell, row in zip(cells, rows)]
    if any(row.case.decomposition != PENCIL.name for row in rows):
        columns = [*columns, "bricks"]
        cells = [[*cell, row.case.decomposition.partition(":")[2] or "-"] for cell, row in zip(cells, rows)]
    if any(row.case.halo for row in rows):
        columns = [*columns, ">planes"]
        cells = [[*cell, row.case.halo] for cell, row in zip(cells, rows)]
    if any(row.case.schedule != SEQUENCE for row in rows):
        columns = [*columns[:5], "schedule", *columns[5:], ">best in sequence / this", ">over the bound"]
        cells = [[*cell[:5], f"{row.case.schedule}, {PAIR}" if row.case.direction == PAIR else row.case.schedule,
                  *cell[5:], _times(row.sequence_s and row.gain),
                  _ratio(row.bound_s and row.bound_ratio)] for cell, row in zip(cells, rows)]
    if any(row.case.exchange != DEFAULT_ALGORITHM for row in rows):
        columns = [*columns, "by", f">{DEFAULT_ALGORITHM} / this"]
        cells = [[*cell, row.case.exchange, _times(row.sequence_s and row.gain)] for cell, row in zip(cells, rows)]
    if any(row.published_s for row in rows):
        columns += [">+ software", ">published", ">+ software / published", ">time model", ">time model / published"]
        cells = [[*cell, milliseconds(row.simulated_s + row.software_s), milliseconds(row.published_s),
                  _ratio(row.published_ratio), milliseconds(row.time_s), _ratio(row.time_ratio)]
                 for cell, row in zip(cells, rows)]
    return Part(f"suite {suite}", columns, cells, file="")


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _published_part(rows: list[validation.Row]) -> list[Part]:
    """Errors of simulation and model compared with the published times, by mode and size; none without published times."""
    groups: dict[tuple[int, str], list[validation.Row]] = {}
    for row in rows:
        if row.published_s:
            groups.setdefault((row.case.tasks_per_node, row.case.fft), []).append(row)
    if not groups:
        return []
    columns = [">tasks/node", ">size", ">exchanges", ">simulated + software: mean error", ">largest error", ">within 10 %",
               ">time model: mean error", ">largest error of the time model"]
    cells = []
    for (tasks, size), group in groups.items():
        simulated, model = ([abs(getattr(row, ratio) - 1) for row in group] for ratio in ("published_ratio", "time_ratio"))
        cells.append([tasks, size, len(group), _percent(mean(simulated)), _percent(max(simulated)),
                      sum(error <= 0.1 for error in simulated), _percent(mean(model)), _percent(max(model))])
    return [Part("errors by mode and size", columns, cells, file="errors")]


def _claims_json(judged: Sequence[tuple[str, Judged]]) -> list[dict[str, Any]]:
    return [{"claim": text, "n": n, "least": least, "most": most, "holds": holds}
            for text, (n, least, most, holds) in judged]


def _claims_part(judged: Sequence[tuple[str, Judged]]) -> Part:
    return Part("claims", ["claim", ">exchanges", ">least", ">most", "holds"],
                [[text, n, f"{least:.3f}", f"{most:.3f}", _yes(holds)] for text, (n, least, most, holds) in judged])


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _network(options: Given) -> Network:
    return network_named(options["network"] or "4x4:mesh")


def _network_place(options: Given) -> str:
    return f"programs {_network(options)}" if options["suite"] == "programs" else options["suite"] or str(_network(options))


def _emulated(options: Given) -> tuple[EmulatedNetwork, ProcessGrid, Transform | None]:
    """Network, grid and transform (None by default)."""
    network = EmulatedNetwork(_network(options), bits_per_second(options["rate"] or "10mbit"), options["mtu"] or 1500)
    n = network.network.n_nodes
    grid = parse_grid(options["grid"]) if options["grid"] else next(
        ProcessGrid(R, n // R) for R in range(isqrt(n), 0, -1) if n % R == 0)
    return network, grid, parse_transform(options["fft"]) if options["fft"] else None


def _about(network: EmulatedNetwork) -> tuple[str, dict[str, Any]]:
    """The beginning of a title, and of JSON values."""
    return (f"{network.network} of namespaces, {network.rate_bits_per_s / 1e6:g} Mbit/s",
            {"torus": str(network.network), "rate_bits_per_s": network.rate_bits_per_s})


def _namespaces_overlap(options: Given) -> Outcome:
    if options["placement"]:
        raise ValidationError("--suite overlap names its placements; leave --placement out")
    network, grid, extents = _emulated(options)
    transform, reps = extents or experiment.TRANSFORM, options["reps"] or 3
    rows, records = experiment.run_schedules(network, grid, transform, reps, experiment.ROUNDS, options["timeout"])
    judged = [(claim.text, judgement) for claim in experiment.CLAIMS if (judgement := claim.judge(rows))]
    holds = all(judgement[-1] for _, judgement in judged) and all(row.verified for row in rows)
    title, about = _about(network)
    title += f", {grid}, {transform}: whole transforms, median of {reps * experiment.ROUNDS} in {experiment.ROUNDS} rounds"
    cells = [[row.placement, row.schedule, milliseconds(row.t_s), milliseconds(row.measured_s),
              *map(milliseconds, row.spread), _ratio(row.measured_s / row.t_s), _times(row.gain), _yes(row.verified)]
             for row in rows]
    columns = ["placement", "schedule", ">link time", ">measured", ">least", ">most", ">measured / link time",
               ">best in sequence / this", "verified"]
    as_dict = {**about, "grid": list(grid.shape), "transform": str(transform), "holds": holds,
               "rows": [row.as_dict() for row in rows], "claims": _claims_json(judged)}
    wrong = [row for row in rows if not row.verified]
    said = f"the transform of {wrong[0].placement} under {wrong[0].schedule} is WRONG" if wrong else claims_answer(judged)
    return Outcome([Part(title, columns, cells, file=""), _claims_part(judged)], as_dict, holds, said, records)


def _namespaces_programs(options: Given) -> Outcome:
    if foreign := [name for name in ("placement", "grid", "fft", "reps") if options[name]]:
        raise ValidationError(f"--suite programs runs programs of others; leave --{foreign[0]} out")
    network, names = _emulated(options)[0], options["program"] or tuple(experiment.PROGRAMS)
    programs = experiment.run_programs(network, names, options["timeout"])
    rows = [row for rows_, _ in programs for row in rows_]
    title, about = _about(network)
    columns = ["program", "placement", ">busiest link, MB", ">carried, MB", ">least / predicted", ">most / predicted",
               ">within", ">link time", ">measured", "same results"]
    cells = [[row.program, row.placement, f"{row.predicted_bytes / 1e6:.2f}", f"{row.carried_bytes / 1e6:.2f}",
              _ratio(min(row.ratios)), _ratio(max(row.ratios)), f"{100 * row.tolerance:g} %", f"{row.link_s:.2f} s",
              f"{row.measured_s:.2f} s", _yes(row.same_results)] for row in rows]
    wrong = [row for row in rows if not row.holds]
    ratios = [ratio for row in rows for ratio in row.ratios]
    said = (f"{wrong[0].program}, {wrong[0].placement}: NOT as predicted" if wrong else
            f"every loaded link carried {min(ratios):.3f} to {max(ratios):.3f} of the bytes that were predicted, and every "
            "placement gave the same results")
    part = Part(f"{title}: unchanged programs", columns, cells, (">within", ">link time", ">least / predicted"))
    return Outcome([part], {**about, "holds": not wrong, "rows": [row.as_dict() for row in rows]}, not wrong, said,
                   [record for _, record in programs])


ON_NAMESPACES = {"overlap": _namespaces_overlap, "programs": _namespaces_programs}


def _namespaces(options: Given) -> Outcome:
    if options["suite"]:
        if options["suite"] not in ON_NAMESPACES:
            raise ValidationError(f"suite {options['suite']!r} is unknown on namespaces; known are "
                                  f"{', '.join(ON_NAMESPACES)}; without --suite the counters of the links are checked")
        return ON_NAMESPACES[options["suite"]](options)
    network, grid, transform = _emulated(options)
    usual = ("default", "best") if network.network.has_products else ("default",)
    experiment = Experiment(network, grid, options["placement"] or usual, transform,  # type: ignore[arg-type]  # filled in
                            options["reps"] or 3)
    results = run(experiment, options["timeout"])
    holds, (title, about) = all(result.holds for result in results), _about(network)
    as_dict = {**about, "grid": list(grid.shape), "transform": str(experiment.transform), "holds": holds,
               "placements": [result.as_dict() for result in results]}
    parts = [_links_part(f"{title}, {grid}, {experiment.transform}", results), _times_part(results)]
    return Outcome(parts, as_dict, holds, _links_answer(results), [result.record for result in results])


def _links_answer(results: list[Result]) -> str:
    """Say whether every link carried its predicted load."""
    wrong = [result.placement for result in results if not result.holds]
    if wrong:
        return f"links did NOT carry what was predicted under {', '.join(wrong)}"
    ratios = [share for result in results for share in result.ratios]
    return (f"every loaded link carried {min(ratios):.3f} to {max(ratios):.3f} of the bytes that were predicted, under "
            f"{', '.join(result.placement for result in results)}")


def bits_per_second(text: str) -> int:
    """Return a rate in bits per second, given as in `tc` or as a quantity with its unit.

    >>> bits_per_second("10mbit"), bits_per_second("1.5 Mbit/s")
    (10000000, 1500000)
    """
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)([kmg])bit", text):
        return round(float(match[1]) * {"k": 1e3, "m": 1e6, "g": 1e9}[match[2]])
    try:
        return round(8 * parse(text, "byte/s"))
    except UnitError as error:
        raise UnitError(f"{text!r} is not a rate; write e.g. 10mbit or '10 Mbit/s'") from error


def _links_part(title: str, results: list[Result]) -> Part:
    columns = ["placement", ">loaded links", ">least", ">most", ">on idle links", "holds"]
    cells = [[result.placement, len(result.ratios), f"{min(result.ratios):.3f}", f"{max(result.ratios):.3f}",
              _percent(result.stray_share), _yes(result.holds)] for result in results]
    return Part(f"{title}: carried over predicted bytes (within {100 * LINK_TOLERANCE:g} %, idle links below "
                f"{100 * IDLE_SHARE:g} %)", columns, cells, ())


def _times_part(results: list[Result]) -> Part:
    first = {c.stage: c for c in results[0].comparisons}
    columns = ["placement", "exchange", ">m", ">link time", ">measured", ">least", ">most",
               ">measured / link time", f">{results[0].placement} over this, link time",
               f">{results[0].placement} over this, measured"]
    cells = [[result.placement, c.stage, f"{c.m:.4g}", milliseconds(c.t_s), milliseconds(c.measured_s),
              *map(milliseconds, c.spread), _ratio(c.t_ratio), _over(first[c.stage].t_s, c.t_s),
              _over(first[c.stage].measured_s, c.measured_s)] for result in results for c in result.comparisons]
    return Part("times of the slowest rank", columns, cells, file="")


def _over(first: float | None, other: float | None) -> str:
    """A ratio of times, "-" for an exchange that moves no data."""
    return f"{first / other:.2f}" if first is not None and other else "-"


NETWORKS = {
    "simulated": Kind(_simulated, lambda options: options["suite"] or "quick", ("suite", "at_most", "records")),
    "namespaces": Kind(_namespaces, _network_place, ("suite", "program", "network", "rate", "mtu", "grid", "placement",
                                                        "fft", "reps", "records")),
}


@click.command("validate", cls=Page, usual="suite at-most network rate grid placement fft reps records json")
@click.argument("kind", type=Name(list(NETWORKS)))
@click.option("--suite", metavar="NAME", shell_complete=completed(lambda: SUITES),
              help=f"A set of cases: quick, ... [simulated: quick].\nSimulated: {', '.join(SUITES)} or {LINES}. "
                   f"Namespaces: {', '.join(ON_NAMESPACES)} [the bytes of each link].")
@click.option("--program", multiple=True, type=Name(list(experiment.PROGRAMS)),
              help=f"Namespaces, suite programs: {', '.join(experiment.PROGRAMS)} [all].")
@click.option("--at-most", type=click.IntRange(1), metavar="N", help="Simulated: only transforms up to N^3.\n"
              "Of suite lines: networks up to N ranks.")
@click.option("--network", metavar="SHAPE", help="Namespaces: shape of the network [4x4:mesh].")
@click.option("--rate", metavar="RATE", help="Namespaces: rate of each link [10mbit].\nHeaders included.")
@click.option("--mtu", type=click.IntRange(576, 65535), metavar="BYTES", help="Namespaces: largest packet [1500].")
@click.option("--grid", "-g", metavar="RxC", help="Namespaces: process grid [nearly square].")
@click.option("--placement", "-p", multiple=True, metavar="NAME",
              shell_complete=completed(lambda: PLACEMENTS),
              help="Namespaces: as for predict [default, best].\nMay be repeated.")
@click.option("--fft", "-n", metavar="SIZE", help="Namespaces: extents [a link is busy for 0.16 s].")
@click.option("--reps", type=click.IntRange(1), metavar="N", help="Namespaces: repetitions [3].")
@click.option("--records", type=OUTPUT_FILE, metavar="FILE",
              help="Append run records to FILE.\nSimulated: cases already in it are not run again.")
@click.option("--timeout", type=click.FloatRange(1), default=3600.0, show_default=True, metavar="SECONDS",
              help="Timeout of one run.")
@click.option("--into", type=OUTPUT_FILE, metavar="FILE",
              help="Also write the claims into their marked place in a Markdown file, and all rows into a file of "
                   "comma-separated values in the folder results beside it.")
@with_options(WIDE, JSON)
def command(kind: str, timeout: float | None, into: str | None, wide: bool, as_json: bool, **given: Any) -> int:
    """Test the predictions on a simulated or an emulated network.

    The unmodified fft_runner runs on the network: `simulated` is a network of SimGrid, `namespaces` is Open MPI on a torus
    or fat tree of network namespaces with shaped links, for which root or user namespaces are needed. The exit status is 1
    if the predictions do not hold, and 3 if this machine cannot make the network.
    """
    chosen, records = NETWORKS[kind], given["records"]
    if foreign := [name for name, value in given.items() if value not in (None, ()) and name not in chosen.options]:
        raise ValidationError(f"--{foreign[0].replace('_', '-')} does not apply to {kind}; it takes "
                              f"{', '.join('--' + name.replace('_', '-') for name in chosen.options)}")
    place = f"{kind} {chosen.place(given)}"
    if into:
        documents.check_place(into, place)
        documents.check_result_file(documents.result_file(into, f"validate {place}"))
    if records:
        check_appendable(records, ValidationError)
    try:
        with shown() as progress, heard_by(progress):
            outcome = chosen.run({**given, "timeout": timeout})
    except UnavailableError as error:
        say(f"pencilmap: {error}", err=True)
        return UNAVAILABLE
    if outcome.records and records:
        append_whole(records, "".join(json.dumps(record) + "\n" for record in outcome.records), ValidationError)
    if into:
        texts = [f"**{capitalised(part.title)}**\n\n{documents.markdown_table(part.columns, part.rows)}"
                 for part in outcome.parts if part.file is None]
        for part in (part for part in outcome.parts if part.file is not None):  # with a link to its file
            file = documents.result_file(into, f"validate {place} {part.file}".rstrip())
            documents.write_result(file, part.columns, part.rows)
            texts.append(f"[{capitalised(part.title)}]({documents.FOLDER}/{file.name})")
        documents.fill(into, place, "\n\n".join(texts))
    if as_json:
        print_json(outcome.as_dict)
    else:
        for part in outcome.parts:
            print_table(part.title, *(part.columns, part.rows) if wide else _narrow(part))
        say(outcome.answer)
    return 0 if outcome.holds else FAILED


FOLDED: dict[str, Callable[[str], str]] = {
    "placement": broken, "schedule": lambda cell: _folded(cell, HEADING),
    "torus": lambda cell: cell.replace(":", "\n:") if len(cell) > HEADING else cell}


def _narrow(part: Part) -> tuple[list[str], list[list[str]]]:
    """Break headings and texts into several lines, and drop less wanted columns if the table is still too wide."""
    columns = [_heading(name) for name in part.columns]
    rows = [[FOLDED[name](str(cell)) if name in FOLDED else _folded(str(cell), TEXT)
             for name, cell in zip(part.columns, row)] for row in part.rows]
    return fitted(columns, rows, map(_heading, part.droppable))


def _heading(name: str) -> str:
    return ">" * name.startswith(">") + _folded(name.lstrip(">").replace(" / ", "/ "), HEADING)


def _folded(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False)) or text
