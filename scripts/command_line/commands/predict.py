"""`pencilmap predict`: effective lengths, loads, times and certificate of placements."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, prod
from typing import TYPE_CHECKING, Any

import click

from pencilmap.mapper.ask import named_grid
from pencilmap.mapper.base.progress import parts
from pencilmap.mapper.base.search import search_of
from pencilmap.mapper.choose import ALL_ROUTINGS, faster_choice, predictions
from pencilmap.mapper.placements import BEST, check_names, placement_name
from pencilmap.model.base.errors import FigureError, MachineError
from pencilmap.model.base.units import milliseconds, parse
from pencilmap.model.lines import ALGORITHMS as LINE_ALGORITHMS
from pencilmap.model.placement.grid import is_in_words
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.times.expected import no_range
from pencilmap.scripts.command_line import answers, options
from pencilmap.scripts.command_line.comparisons import by_routing, wrapped
from pencilmap.scripts.command_line.pages import JSON, NOTES, OUTPUT_FILE, WIDE, Page, with_options
from pencilmap.scripts.command_line.predictions import Row, prediction_table, show_notes, table_notes, title
from pencilmap.scripts.command_line.programs import TRAFFIC, predict_placements
from pencilmap.scripts.command_line.tables import echo, hearing, labelled, print_json, print_table, say, say_lines
from pencilmap.scripts.command_line.time_tables import halo_table, terms_table

if TYPE_CHECKING:  # few questions have lines, whose modules load late
    from pencilmap.model.lines.line_plan import BreakEven, LineStageTime
    from pencilmap.model.lines.line_problem import LineProblem


@click.command("predict", cls=Page, usual="machine network nodes fft traffic grid placement schedule routing effort")
@options.on_machine
@with_options(options.WRAP, options.ONE_GRID, options.placements(), options.EVERY_ROUTING, options.ROBUST,
              options.EXCHANGE, options.SCHEDULE, options.DIRECTION, options.SEARCH)
@with_options(options.HALO, TRAFFIC)
@options.LINE_OPTIONS
@click.option("--message-cost", metavar="TIME", help="Time to start a message, e.g. '2 us' [machine's].")
@click.option("--ports", type=click.IntRange(1), metavar="K",
              help="Messages that a rank starts at a time [machine's, or 1].")
@click.option("--page", type=OUTPUT_FILE, metavar="FILE",
              help="Also write a page with the network and the loads of its links.")
@click.option("--terms", is_flag=True, help="Also print every term of the time model.")
@with_options(WIDE, NOTES, JSON)
def command(where: Question, grid: str | None, placement: tuple[str, ...], routing: str | None, exchange: str, schedule: str,
            effort: str, seed: int, time_limit: float | None, traffic: str | None, page: str | None,
            terms: bool, line: "LineProblem | None", message_cost: str | None, ports: int | None, wide: bool,
            all_notes: bool, as_json: bool) -> None:
    """Predict the time of a process grid under some placements.

    Give --placement several times to compare. Without a machine or a bandwidth, the loads of the links are compared.
    """
    if traffic:
        predict_placements(replace(where, routing=routing), traffic, placement, effort=effort, seed=seed,
                           seconds=time_limit, page=page, words=options.given_words(), all_notes=all_notes, as_json=as_json)
        return
    if line:
        with hearing():
            _lines(where, line, placement, routing, message_cost, ports or 1, as_json)
        return
    where = replace(where, costs=where.costs.starting(parse(message_cost, "s") if message_cost else None, ports))
    if terms and (where.transform is None or where.network.bandwidth is None):
        raise MachineError("there are no terms without times: give --fft, and --machine or --bandwidth")
    if page and where.wraps:
        raise FigureError("--page draws one network; give --wrap torus or --wrap mesh")
    if page and routing == ALL_ROUTINGS:
        raise FigureError("--page draws the loads of one rule; name it with --routing")
    if grid in (None, BEST):
        raise click.UsageError(f"no grid is named; name the process grid with --grid {where.decomposition.usage}; pencilmap "
                               "plan ranks the grids", click.get_current_context())
    if not where.wraps and any(text.startswith("file:") for text in placement):  # the gain is over its launcher's order
        where = options.asked_grid(where, grid, placement)[0]
    question = replace(where, routing=routing, exchange=exchange, schedule=schedule)
    within = search_of(effort, seed, time_limit)
    check_names(placement)  # before an error about the grid, which is not at fault then
    chosen = named_grid(where, grid)
    predictions_, wraps = list[Prediction](), question.each_wrap
    with hearing():
        for wrap, step in zip(wraps, parts(len(wraps))):
            with step:
                predictions_ += predictions(wrap, chosen, placement, within)
    launches = {} if routing == ALL_ROUTINGS else {
        wrap.network: answers.launched(wrap, ranked([p for p in predictions_ if p.network == wrap.network])[0],
                                       is_quick=not within.budget)
        for wrap in wraps}
    launch = launches.get(ranked(predictions_)[0].network)
    best = ranked(predictions_)[0]
    orders = launch or answers.Launched()
    said = answers.Answer(best, orders, effort=effort if BEST in placement else "", library=answers.library_in(grid, where),
                          is_worst=where.robust and routing is None)
    name = placement_name(best.placement, where.site)
    if page:
        from pencilmap.scripts.command_line.commands.report import write_page

        both = [p for p in (orders.first,) if p and p.placement not in {q.placement for q in predictions_}]
        write_page(page, where, [*both, *predictions_], said)
    if as_json:
        print_json(*[p.as_dict() for p in predictions_])
        return
    if routing == ALL_ROUTINGS:
        for sentence in by_routing([p for p in predictions_ if p.placement == predictions_[-1].placement],
                                   placement_name(predictions_[-1].placement, where.site), answers.library_in(grid, where)):
            say(sentence)
        echo()
    else:
        say(said.first(name), said.second(), *wrapped(predictions_) if where.wraps else ())
        echo()
    rows = [Row(p, launches[p.network].first if launches else None, placement_name(p.placement, where.site))
            for p in predictions_]
    names = {p.placement for p in predictions_}
    rows += [Row(p, orders.first, order) for order, p in orders.orders if p.placement not in names]
    prediction_table(rows, title(where), wide, shapes=bool(where.wraps))
    if terms:
        terms_table([row for row in rows if row.prediction.stages[0].terms])
    if any(p.halo for p in predictions_):
        halo_table(predictions_)
    is_bare = not (is_in_words(grid) or where.wraps or routing == ALL_ROUTINGS)
    right = faster_choice(question, best, answers.turned_grids(best), least=0.0) if is_bare else None
    turned = answers.turned_lines(question, best, right, said.library)
    static = answers.static_lines(question, best, orders, "--routing static") if routing != ALL_ROUTINGS else []
    scheduled = schedule == SEQUENCE and routing != ALL_ROUTINGS and faster_choice(question, best, any_schedule=True)
    say_lines(said.idle + static + said.search + turned + answers.schedule_line(scheduled or None))
    if page:
        labelled("page", page)
    show_notes([*table_notes(predictions_, wide=wide), *([options.CUT] if within.cut_short else []),
                *answers.launch_notes(where, best.grid)], all_notes)


def _lines(where: Question, problem: "LineProblem", placements: Sequence[str], routing: str | None,
           message_cost: str | None, ports: int, as_json: bool) -> None:
    """Print the time of every exchange of the lines and the fastest algorithm, and for one line the break-even size."""
    from pencilmap.mapper.place import placed_lines
    from pencilmap.model.lines.line_plan import break_evens, line_time

    costs = where.costs if message_cost is None else replace(where.costs, message_cost_s=parse(message_cost, "s"))
    forecasts, ranks = [], where.n_slots
    problem.stages(ranks)  # raises an error if the lines are impossible
    for text in placements:
        mapping = placed_lines(where, problem, text)
        times = {name: line_time(problem.forecast(mapping, costs, ports, routing, name))
                 for name in problem.algorithms(ranks)}
        stages = problem.forecast(mapping, costs, ports, routing)
        evens = break_evens(mapping, problem.order, costs, ports, routing) if problem.bricks is None else ()
        forecasts.append((text, stages, times, evens))
    if as_json:
        print_json(*[_as_dict(problem, ranks, *forecast) for forecast in forecasts])
        return
    rows = [[text, stage.name, stage.messages, milliseconds(stage.link_s), milliseconds(stage.time_s)]
            for text, stages, _, _ in forecasts for stage in stages]
    points = prod(problem.size) * problem.fields / ranks
    print_table(f"{where.site}, {problem.title}, {points:g} a rank, by {problem.algorithm}, order {problem.order}",
                ["placement", "exchange", ">messages", ">busiest link", ">predicted"], rows)
    for text, _, times, evens in forecasts:
        _print_algorithms(text, times, evens)
        fastest = min(times, key=lambda name: times[name])
        algorithm = problem.algorithm
        other = "" if fastest == algorithm else f"; {algorithm} takes {milliseconds(times[algorithm])}"
        say(f"fastest under {text}: {fastest}, {milliseconds(times[fastest])}{other}")
    say("no range: distributed lines not measured")


def _print_algorithms(text: str, times: dict[str, float], evens: "Sequence[BreakEven]") -> None:
    columns = ["algorithm", ">predicted"]
    rows = [[name, milliseconds(times[name]) if name in times else "-"] for name in LINE_ALGORITHMS]
    if not evens:
        print_table(f"placement {text}: all algorithms", columns, rows)
        return
    routed, closed = ({e.algorithm: getattr(e, name) for e in evens} for name in ("routed", "crossbar"))
    print_table(f"placement {text}: all algorithms; n* points a rank below which they are faster than the transposes",
                [*columns, ">n* routed", ">n* crossbar"],
                [[*row, _points(routed.get(row[0])), _points(closed.get(row[0]))] for row in rows])


def _points(value: float | None) -> str:
    if value is None or value != value:
        return "-"
    return "always" if value == inf else f"{value:.0f}"


def _as_dict(problem: "LineProblem", ranks: int, text: str, stages: "Sequence[LineStageTime]", times: dict[str, float],
             evens: "tuple[BreakEven, ...]") -> dict[str, Any]:
    what = {"n": problem.size[0]} if problem.bricks is None else {
        "size": list(problem.size), "bricks": list(problem.bricks), "fields": problem.fields}
    return {**what, "ranks": ranks, "algorithm": problem.algorithm, "order": problem.order, "placement": text,
            "stages": [stage.__dict__ for stage in stages], "time_s": times[problem.algorithm],
            **no_range("distributed lines"), "times_s": times,
            "break_evens": [{"algorithm": e.algorithm, "routed": e.routed if isfinite(e.routed) else None,
                             "always": e.routed == inf, "crossbar": e.crossbar if isfinite(e.crossbar) else None}
                            for e in evens]}
