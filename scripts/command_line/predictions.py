"""Tables of predictions: what to take, how long it takes, how much better it is than the launch order and a proved limit."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

import click

from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.units import could, expected_milliseconds, milliseconds
from pencilmap.model.predict import Prediction, under
from pencilmap.model.predict.question import ExchangePrediction, Question
from pencilmap.model.predict.ranking import FIGURES, TRANSFORM, uncounted, worth
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.times.expected import no_range
from pencilmap.model.times.timing import TimeTerms
from pencilmap.scripts.command_line.tables import LEAST_TEXT, broken, fitted, labelled, lengths, print_table

IDLE, MOST_IDLE = "*", 4  # mark of a grid with idle tasks; their number is given for up to this many such grids
LINKS = {  # word of a note: the page that explains it
    "machine": "docs/machines.md", "routing": "docs/routing.md", "searched": "docs/placement-search.md",
    "schedule": "docs/schedules.md", "exchanges": "docs/schedules.md", "chunks": "docs/schedules.md",
    "computing": "docs/time-model.md", "first of the network": "docs/machines.md",
    "tells no": "docs/howto/slurm-cluster.md", "of this job": "docs/howto/slurm-cluster.md",
}
ONLY_WIDE = ("not a product of digit patterns", "ring maps, not digit patterns", "the paper's m", "no certificate",
             "placement chosen by its cost")
DECIDING = ("cables up as down are assumed", "assumed to be the first", "cut the search short", "are taken as sent at once",
            "levels above a leaf", "programs not measured", "IPM", "aps-report")  # in notes that are printed
MOST_SHORT = 72  # characters of a note that stands on a line
MESSAGE, FFT = FIGURES["message_cost_s"], FIGURES["fft_rate_per_task"]
USUAL = ("best", "default")  # placements that are one line if they are alike
PARTS = 4  # a length of 1 is the load of a quarter of the data of a node
SAME = 0.01  # times that differ by less than this share count as equal
RANGE = ">range"  # column of the range of measured times
SAID = "pencilmap notes"  # key of the notes that a run has shown
Cells: TypeAlias = tuple[list[str], list[list[str]]]  # columns and rows of a table


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    prediction : Prediction
    launched : Prediction, optional
        The launch order on the same grid, asked alike.
    name : str
        Of the placement, see `placement_name`.
    """

    prediction: Prediction
    launched: Prediction | None = None
    name: str = ""

    @property
    def title(self) -> str:
        return self.name or self.prediction.placement


def title(where: Question) -> str:
    """Return the question of a table: network, tasks and transform."""
    result = str(where.site).replace("torus", "torus and open mesh", 1) if where.wraps else str(where.site)
    backward = ", backward" if where.transform and where.transform.backward and where.transform.type != "c2r" else ""
    return result + (f", transform {where.transform}{backward}" if where.transform else "")


def seconds(p: Prediction, by: str = TRANSFORM) -> float | None:
    """Return the time that is shown and ranked: of the whole transform as far as it is known, or of its exchanges."""
    return None if p.t_s is None else float(worth(p, by))


def value(p: Prediction, by: str = TRANSFORM, likely: bool = False) -> str:
    """Return the time as text, if `likely` with the range of nine in ten measurements; without times, the load of the
    busiest links.
    """
    time_s = seconds(p, by)
    if time_s is None:
        return f"{load(p, by)} times the data of a node"
    return milliseconds(time_s) + (range_words(p, by) if likely else "")


def about(p: Prediction) -> str:
    """Return a time for which nothing like it was measured, with the two digits that may hold."""
    time_s = seconds(p)
    return value(p) if time_s is None else f"about {float(f'{1e3 * time_s:.2g}'):g} ms"


def load(p: Prediction, by: str = TRANSFORM) -> str:
    """Return the load of the busiest links, in the data that a node holds."""
    return f"{float(worth(p, by) * scale(p)) / PARTS:.4g}"


def expected(p: Prediction, by: str = TRANSFORM, last: Prediction | None = None) -> str:
    """Return the range of measured times; "" if unknown. Only exchanges err; `last` gives the upper end, by default p."""
    ends = list[float]()
    for k, each in enumerate((p, last or p)):
        time_s, within_s = seconds(each, by), exchanges_s(each)
        if time_s is None or within_s is None or each.likely is None or each.halo_s:
            return ""
        ends.append(time_s + (each.likely[k] - 1) * within_s)
    return expected_milliseconds((ends[0], ends[1]))


def range_words(p: Prediction, by: str = TRANSFORM, last: Prediction | None = None) -> str:
    """Return the range of measurements in parentheses after a time, or the reason why there is none; "" without a time."""
    if result := expected(p, by, last):
        return f" ({result})"
    return f" (no range: {reason})" if p.t_s is not None and (reason := unmeasured(p)) else ""


def unmeasured(p: Prediction) -> str:
    """Return the reason why the time of a prediction with its halos has no range, "" if it has one."""
    return p.unmeasured or str(no_range("halos")["unmeasured"]) * bool(p.halo_s)


def gain(p: Prediction, launched: Prediction | None, by: str = TRANSFORM) -> float | None:
    """Return how many times faster a prediction is than the launch order; None if that is unknown."""
    mine, other = worth(p, by), None if launched is None else worth(launched, by)
    if mine == other == 0:  # on one node
        return 1.0
    if launched is None or not mine or not other or (p.t_s is None) != (launched.t_s is None):
        return None
    return float(other) / float(mine)


def gains(p: Prediction, launched: Prediction | None, by: str = TRANSFORM) -> tuple[float, float] | None:
    """Return the least and the largest gain under the rules between which the routers are, alike if the routing is known.

    None if the gain is unknown.
    """
    if launched is None:
        return None
    result = list[float]()
    for mine in p.bracket:
        theirs = launched if mine.routing == launched.routing else under(launched, mine.routing)
        result += [gain(mine, theirs, by) or 0.0] if theirs else []
    if all(result) and result:
        return min(result), max(result)
    ratio = gain(p, launched, by)
    return None if ratio is None else (ratio, ratio)


def ends(p: Prediction, by: str = TRANSFORM) -> tuple[Prediction, Prediction]:
    """Return the predictions of the least and the largest time, or load, under the rules between which routers adapt."""
    result = sorted(p.bracket or (p,), key=lambda each: worth(each, by))
    return result[0], result[-1]


def factor(least: float | None, most: float | None = None) -> str:
    """Return a gain, or a range of gains, in words; "-" if it is unknown.

    >>> factor(1.34), factor(0.8), factor(1.0), factor(0.97, 1.04)
    ('1.34x faster', '1.25x slower', 'as fast', '1.03x slower to 1.04x faster')
    >>> factor(1.12, 5.54), factor(0.5, 0.8)
    ('1.12x to 5.54x faster', '1.25x to 2.00x slower')
    >>> factor(float("inf")), factor(0.5, float("inf")), factor(0.0)
    ('infinitely faster', '2.00x slower to infinitely faster', 'infinitely slower')
    """
    if least is None:
        return "-"
    most = least if most is None else most
    if max(abs(least - 1), abs(most - 1)) < SAME:
        return "as fast"
    lower, upper = (_times(ratio if ratio >= 1 or not ratio else 1 / ratio) for ratio in (least, most))
    if f"{least:.2f}" == f"{most:.2f}":
        return f"{lower} faster" if least > 1 else f"{lower} slower"
    if least >= 1:
        return f"{lower} to {upper} faster"
    if most <= 1:
        return f"{upper} to {lower} slower"
    return f"{lower} slower to {upper} faster"


def _times(ratio: float) -> str:
    """A ratio from 1 on in words; 0 is that of nothing to something."""
    return f"{ratio:.2f}x" if ratio and isfinite(ratio) else "infinitely"


def _gain_cell(row: Row, by: str) -> str:
    """The gain over the launch order, or its range under the rules of routers that adapt; "" for the launch order."""
    if row.launched is None or row.prediction is row.launched or row.prediction.placement == row.launched.placement:
        return ""
    return factor(*(gains(row.prediction, row.launched, by) or (None,)))


def could_gain(p: Prediction, by: str = TRANSFORM) -> tuple[float | None, bool]:
    """Return how many times faster any placement of the grid could be at most, and whether that is of the shown time.

    If other costs depend on the placement, it is of the links alone. The first number is None without a bound.
    """
    result, time_s = exchanges_of(p) if is_scheduled(p) else p, seconds(p, by)
    if result.certificate is None or time_s is None or result.t_s is None:
        return result.certificate, time_s is None
    if any(_depends(stage.terms, p.tasks_per_node) for stage in p.moves) or p.halo is not None:
        return result.certificate, False
    least = time_s - result.t_s * (1 - 1 / result.certificate)
    return (time_s / least if least > 0 else result.certificate), True


def _depends(terms: TimeTerms | None, tasks_per_node: int) -> bool:
    """Whether costs other than the links' depend on the placement."""
    if terms is None:
        return False
    ports = tasks_per_node > 1 and (terms.injection_s or 0.0) > terms.link_s
    return bool(terms.contention_s or terms.hops_s or terms.messages_s or ports)


def prediction_table(rows: Sequence[Row], title: str | None = None, wide: bool = False, by: str = TRANSFORM,
                     shapes: bool = False, tasks: bool = False) -> None:
    """Print predictions: time, gain over the launch order, and how much any placement could gain.

    `wide` adds a table of loads and lower bounds, and two of the exchanges; `shapes` adds the network, `tasks` the tasks on
    a node.
    """
    predictions = [row.prediction for row in rows]
    of = "dimension" if predictions[0].network.has_coordinates else "class of links"
    several, *others = {p.network.link_classes for p in predictions}
    classes = "" if others else f": {', '.join(several)}"  # of the numbers in a cell
    tables = [(None, *_narrow(rows, _once(rows, by), by, shapes, tasks))] + ([
        (f"{title}: one exchange after the other", *_sums(predictions)), ("by the schedule", *_scheduled(predictions)),
        ("times and messages of each exchange", *_messages(predictions)),
        (f"lengths of each exchange, by {of}{classes}", *_lengths(predictions))] if wide else [])
    for heading, names, cells in tables:
        if cells:
            print_table(heading, names, cells, folds=True)


def table_notes(predictions: Sequence[Prediction], by: str = TRANSFORM, wide: bool = False) -> list[str]:
    """Return the notes of a table: the meaning of its numbers, idle tasks, ranges, and the notes of the predictions."""
    return [*unit_lines(predictions, wide), *time_lines(predictions, by), *idle_lines(predictions),
            *likely_lines(predictions), *bracket_lines(predictions, by),
            *new_notes((note for p in predictions for note in p.notes), wide)]


def show_notes(notes: Sequence[str], everything: bool = False) -> None:
    """Print notes that may change the answer, and count the others; `everything` prints all."""
    shown = [note for note in dict.fromkeys(notes) if everything or _decides(note)]
    for note in shown:
        labelled("note", note.removeprefix("note: "))
    if rest := len(dict.fromkeys(notes)) - len(shown):
        labelled("notes", f"{rest}{' more' if shown else ''}: --notes")


def show_deciding(notes: Iterable[str]) -> None:
    """Print the notes that may change the answer, for commands without an option for the others."""
    show_notes([note for note in new_notes(notes) if _decides(note)])


def _decides(note: str) -> bool:
    return any(word in note for word in DECIDING)


def new_notes(notes: Iterable[str], wide: bool = False) -> list[str]:
    """Return the notes that this run has not shown yet, each in one sentence with the page that explains it.

    `wide` gives whole notes.
    """
    said = click.get_current_context().find_root().meta.setdefault(SAID, set())
    fresh = [note for note in dict.fromkeys(notes if wide else short(notes)) if note not in said]
    said.update(fresh)
    pages = [next((page for word, page in LINKS.items() if word in note), None) for note in fresh]
    return [f"note: {note}{f' ({page})' if page else ''}" for note, page in zip(fresh, pages)]


def short(notes: Iterable[str]) -> list[str]:
    """Return the notes that a table without m needs; of a long note, or one about a machine, only the first clause.

    >>> short(["shape of machine k is uncertain: 4 racks?", "launch order of machine k is uncertain: none is published"])
    ['shape and launch order of machine k are uncertain']
    """
    result, doubtful = list[str](), dict[str, list[str]]()
    for note in _of_all_shapes(notes):
        if doubt := re.match(r"(.*) of machine (\S+) is uncertain: ", note):
            doubtful.setdefault(doubt[2], []).append(doubt[1])
        elif not note.startswith(ONLY_WIDE):
            result.append(re.split("[:;] ", note, maxsplit=1)[0] if " machine " in note or len(note) > MOST_SHORT
                          else note)
    return [*result, *(f"{listed(figures)} of machine {name} {'are' if len(figures) > 1 else 'is'} uncertain"
                       for name, figures in doubtful.items())]


def _of_all_shapes(notes: Iterable[str]) -> list[str]:
    """Return the notes without repetitions; notes that differ only in a shape are one note with all shapes."""
    shapes: dict[tuple[str, str], list[str]] = {}
    for note in dict.fromkeys(notes):
        before, word, after = note.partition(" have shape ")
        shape, comma, rest = after.partition(", ")
        shapes.setdefault((f"{before}{word}", f"{comma}{rest}"), []).append(shape)
    return [f"{before}{listed(result)}{after}" for (before, after), result in shapes.items()]


def listed(words: Sequence[str]) -> str:
    """Return words with commas and "and"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def scale(p: Prediction) -> Fraction:
    """Return displayed lengths and loads over the m scale: the usable nodes count.

    So the same bytes look alike, however large the surrounding network is.
    """
    return Fraction(p.bounds.site.allocation.n_nodes, p.network.n_nodes)


def unit_lines(predictions: Sequence[Prediction], wide: bool) -> list[str]:
    """Return the unit of lengths and loads, if some are shown."""
    if predictions[0].t_s is not None and not wide:
        return []
    n = predictions[0].bounds.site.allocation.n_nodes
    wide_loads = [f"a load of 1 with --wide is 1/{PARTS * n} of the array, a quarter of the data of a node"] if wide else []
    return ["times the data of a node: bytes of the busiest link over the bytes of the array on one node", *wide_loads]


def time_lines(predictions: Sequence[Prediction], by: str) -> list[str]:
    """Return the meaning of the times."""
    p = predictions[0]
    if p.t_s is None:
        return []
    unknown, total = uncounted(p), (p if p.schedule is None else p.schedule).total_s
    if by == TRANSFORM and total is not None:
        said = "the exchanges and the memory passes of the computing" if FFT in unknown else \
            "the whole transform, with its computing"
    else:
        said = "the exchanges"
        costs = [cost for cost in unknown if cost != FFT]
        unknown = (costs if len(costs) < len(FIGURES) - 1 else [MESSAGE]) + ["computing"] * (total is None)
    return [f"time: {said}{_halos(p)}" + (f"; not counted, because unknown: {', '.join(unknown)}" if unknown else "")]


def _halos(p: Prediction) -> str:
    """The halos that a time includes."""
    if p.halo is None:
        return ""
    halo = p.halo.halo
    planes = f"of {halo.width} plane{'s' * (halo.width > 1)}"
    return f", and a halo {planes}" if halo.weight == 1 else f", and {halo.weight:g} halos {planes} for each transform"


def idle_lines(predictions: Iterable[Prediction]) -> list[str]:
    """Explain the mark of a grid; nothing if no grid is marked."""
    result = list(dict.fromkeys(f"{p.idle_tasks} of {p.grid.n_tasks} on {p.grid}" for p in predictions if p.idle_tasks))
    more = [f"and on {len(result) - MOST_IDLE} more grids"] if len(result) > MOST_IDLE else []
    grids = ", ".join([*result[:MOST_IDLE], *more])
    return [f"{IDLE} tasks hold nothing, as an axis has fewer planes than parts: {grids}"] if result else []


def likely_lines(predictions: Iterable[Prediction]) -> list[str]:
    """Return lines about the expected errors of predicted times and gains, and the reasons why some have no range."""
    timed = [p for p in predictions if p.time_s is not None]
    times, gains = ([ends for p in timed if (ends := getattr(p, name))] for name in ("likely", "likely_gain"))

    def words(ranges: Iterable[tuple[float, float]]) -> str:
        return f"{min(low for low, _ in ranges):.2g} to {max(high for _, high in ranges):.2g}"

    beside = f", gains are {words(gains)} times theirs" if gains else ""
    return [*([f"range: 9 of 10 machines are expected there; exchanges take {words(times)} times their prediction{beside}"]
              if times else []),
            *dict.fromkeys(f"no range: {p.unmeasured}" for p in timed if p.unmeasured and not p.likely)]


def bracket_lines(predictions: Iterable[Prediction], by: str = TRANSFORM) -> list[str]:
    """Return the times, or loads, under each rule of a network whose routers adapt: a line for equal placements."""
    result: dict[tuple[str, str], list[str]] = {}
    for p in predictions:
        if p.bracket:
            values = ", ".join(f"{each.routing} {value(each, by)}" for each in p.bracket)
            result.setdefault((str(p.grid), values), []).append(p.placement)
    return [f"routers adapt, {grid} {', '.join(placements)}: {values}" for (grid, values), placements in result.items()]


def marked_grid(p: Prediction) -> str:
    """Return the grid, marked if some of its tasks hold no data."""
    return f"{p.grid}{IDLE}" if p.idle_tasks else str(p.grid)


def _shape(p: Prediction) -> str:
    return broken(str(p.network).partition(":axes")[0], LEAST_TEXT, ":")


def _narrow(rows: Iterable[Row], once: Iterable[tuple[str, str, Row]], by: str, networks: bool, tasks: bool) -> Cells:
    """Columns, and cells of each row once. A column stands there only if its values differ or are not the usual ones."""
    result = [row.prediction for row in rows]
    decompositions = {p.grid.decomposition.name for p in result}
    several, scheduled = len({p.routing for p in result}) > 1, any(is_scheduled(p) for p in result)
    exchanged = any(p.stages[0].algorithm != DEFAULT_ALGORITHM for p in result)
    gained = any(row.launched is not None for row in rows)
    adapts, loads, whole = any(p.bracket for p in result), result[0].t_s is None, all(could_gain(p, by)[1] for p in result)
    ranged = any(_range_cell(p, by) for p in result)
    columns = [*(["shape"] if networks else []), *([">per node"] if tasks else []),
               *(["kind"] if len(decompositions) > 1 else []),
               *(["grid"] if len({p.grid for p in result}) > 1 else []), "placement",
               *(["routing"] if several else []), *(["exchange"] if exchanged else []),
               *(["schedule"] if scheduled else []),
               *([">least", ">most"] if adapts else [">node data" if loads else ">time"]),
               *([RANGE] if ranged else []),
               *([" "] if gained else []), ">could gain" if whole else ">links could gain"]
    cells = []
    for grids, names, row in once:
        p = row.prediction
        cells.append([*([_shape(p)] if networks else []), *([str(p.tasks_per_node)] if tasks else []),
                      *([p.grid.decomposition.name] if len(decompositions) > 1 else []),
                      *([grids] if "grid" in columns else []),
                      broken(names, 40).replace("\n ", "\n"),
                      *([p.routing] if several else []), *([p.stages[0].algorithm] if exchanged else []),
                      *([broken(exchanges_of(p).schedule)] if scheduled else []),
                      *(load(end, by) if end.t_s is None else milliseconds(seconds(end, by))
                        for end in (ends(p, by) if adapts else (p,))),
                      *([_range_cell(p, by) or "-"] if ranged else []),
                      *([_gain_cell(row, by)] if gained else []), _could_under_all(p, by, whole)])
    return fitted(columns, cells, ["kind", ">could gain", ">links could gain"])


def _range_cell(p: Prediction, by: str) -> str:
    """The range of measurements, under all rules between which routers adapt."""
    first, last = ends(p, by)
    return expected(first, by, last)


def _could_under_all(p: Prediction, by: str, whole: bool) -> str:
    """The cell of the largest gain, or its range under the rules between which routers adapt."""
    result = sorted(p.bracket or (p,), key=lambda each: could_gain(each, by)[0] or 0.0)
    cells = list(dict.fromkeys(_could(each, by, whole) for each in (result[0], result[-1])))
    return " to ".join(cells)


def _could(p: Prediction, by: str, whole: bool) -> str:
    return could(could_gain(p, by)[0] if whole else exchanges_of(p).certificate)


def _once(rows: Iterable[Row], by: str) -> list[tuple[str, str, Row]]:
    """Each row with its grids and placements. Rows that are alike are one: the best placement and the launch order of a
    grid, and RxC and CxR.
    """
    placement: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        p = row.prediction
        e = exchanges_of(p)
        change = gain(p, row.launched, by)
        times = tuple(x and float(f"{x:.10g}") for x in (e.t_s, e.time_s, p.total_s, e.certificate, change))
        usual = "" if p.placement.startswith(USUAL) else p.placement
        key = str(p.network), p.routing, p.stages[0].algorithm, e.schedule, e.cost, *times
        placement.setdefault((usual, p.grid.decomposition.name, p.grid.shape, *key), []).append(row)
    result: dict[tuple[Any, ...], list[Row]] = {}
    for (_, _, shape, *rest), same in placement.items():
        names = ", ".join(dict.fromkeys(row.title for row in same))
        result.setdefault((names, tuple(sorted(shape)), *rest), []).append(same[0])
    return [(",\n".join(dict.fromkeys(marked_grid(row.prediction) for row in same)), names, same[0])
            for (names, *_), same in result.items()]


def _key(predictions: Sequence[Prediction]) -> tuple[list[str], Callable[[Prediction], list[str]]]:
    """Columns that tell predictions apart: the grid, and what else differs; and their cells for a prediction."""
    result: dict[str, Callable[[Prediction], str]] = {
        "shape": _shape, "grid": marked_grid, "placement": lambda p: broken(p.placement, LEAST_TEXT),
        "routing": lambda p: p.routing, "algorithm": lambda p: p.stages[0].algorithm}
    cells = {name: set(map(cell, predictions)) for name, cell in result.items()}
    kept = [name for name in result if name == "grid" or len(cells[name]) > 1 or
            (name == "algorithm" and cells[name] != {DEFAULT_ALGORITHM})]
    return kept, lambda p: [result[name](p) for name in kept]


def _sums(predictions: Sequence[Prediction]) -> Cells:
    """Columns and cells: a row for each prediction, in sequence."""
    columns, key = _key(predictions)
    return _table([*columns, ">load", ">lower\nbound", ">links", ">exchanges", ">total", ">links could\ngain"], [
        [*key(p), _load(p, p.cost), _load(p, p.lower_bound.value), time_cell(p.t_s), time_cell(p.time_s),
         time_cell(p.total_s), _could(p, TRANSFORM, False)] for p in predictions])


def _scheduled(predictions: Sequence[Prediction]) -> Cells:
    """Columns and cells: a row for each prediction, under its schedule; none if all are in sequence."""
    columns, key = _key(predictions)
    return _table([*columns, "schedule", ">load", ">links", ">exchanges"], [
        [*key(p), broken(e.schedule, LEAST_TEXT), _load(p, e.cost), time_cell(e.t_s), time_cell(e.time_s)]
        for p in predictions if is_scheduled(p) for e in [exchanges_of(p)]])


def _messages(predictions: Sequence[Prediction]) -> Cells:
    """Columns and cells: a row for each exchange of each prediction."""
    columns, key = _key(predictions)
    ranged = any(p.likely for p in predictions)
    return _table([*columns, "exchange", ">links", ">time", *[">range"] * ranged, ">messages", ">bytes\neach",
                   "busiest link"], [
        [*key(p), stage.name, time_cell(stage.t_s), time_cell(stage.time_s), *[move_range(p, stage)] * ranged,
         "-" if stage.work is None else stage.work.messages,
         f"{stage.work.message_bytes:.0f}" if stage.work and stage.work.messages else "-",
         str(stage.busiest or "-")] for p in predictions for stage in p.moves])


def move_range(p: Prediction, move: ExchangePrediction) -> str:
    """Return a cell with the range of an exchange, "-" without one."""
    result = p.move_range_s(move)
    return expected_milliseconds(result) if result else "-"


def _lengths(predictions: Sequence[Prediction]) -> Cells:
    """Columns and cells: a row for each exchange of each prediction, and a row for all at once under its schedule."""
    columns, key = _key(predictions)
    rows = []
    for p in predictions:
        rows += [[*key(p), stage.name, _by_dimension(p, stage.m), _by_dimension(p, stage.load),
                  f"{float(stage.hop_length):.4g}"] for stage in p.moves]
        if p.schedule is not None and is_scheduled(p):
            rows.append([*key(p), "all", "-", _by_dimension(p, p.schedule.load_joint), "-"])
    return _table([*columns, "exchange", "m", "load", ">hops"], rows)


def _table(columns: list[str], rows: Iterable[list[Any]]) -> Cells:
    """Columns and rows, each row once, that fit a terminal."""
    return fitted(columns, [list(map(str, row)) for row in dict.fromkeys(map(tuple, rows))], ["busiest link", ">links"])


def _load(p: Prediction, length: Fraction) -> str:
    return f"{float(length * scale(p)):.4g}"


def _by_dimension(p: Prediction, values: Iterable[Fraction]) -> str:
    return lengths(scale(p) * x for x in values)


@dataclass(frozen=True)
class Exchanges:
    """The exchanges of a prediction under its schedule: by all terms and by links alone, seconds."""

    schedule: str
    cost: Fraction
    t_s: float | None
    time_s: float | None
    certificate: float | None
    proof: str  #: of the certificate, see `pencilmap.model.predict.certificates.Bounds.proof`


def exchanges_of(p: Prediction) -> Exchanges:
    """Return the exchanges under the schedule of the prediction."""
    schedule = p.schedule
    if schedule is None or not is_scheduled(p):
        return Exchanges(SEQUENCE, p.cost, p.t_s, p.time_s, p.certificate, p.bounds.proof)
    name = f"{schedule.name} ({schedule.direction})" if schedule.transforms > 1 else schedule.name
    t_s = None if schedule.t_s is None else schedule.t_s + sum(r.t_s or 0.0 for r in (*p.remaps, *p.turned_remaps))
    return Exchanges(name, schedule.cost, t_s, exchanges_s(p), None if p.remaps else schedule.certificate, p.bounds.proof)


def exchanges_s(p: Prediction) -> float | None:
    """Return the seconds of the exchanges and remaps under the schedule of the prediction, without its bounds."""
    if p.schedule is None or not is_scheduled(p):
        return p.time_s
    remaps_s = sum(r.time_s or 0.0 for r in (*p.remaps, *p.turned_remaps))
    return None if p.schedule.time_s is None else p.schedule.time_s + remaps_s


def is_scheduled(p: Prediction) -> bool:
    """Return whether it is of another schedule than the sequence, or of two transforms at once."""
    return p.schedule is not None and (p.schedule.name != SEQUENCE or p.schedule.transforms > 1)


def time_cell(seconds: float | None) -> str:
    """Return a cell with milliseconds, "-" if they are unknown."""
    return "-" if seconds is None else milliseconds(seconds)
