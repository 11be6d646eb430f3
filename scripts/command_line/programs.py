"""The traffic of any program in place of a transform: `--traffic` of plan, map, predict and check."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from pencilmap.mapper.base import shell
from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.base.search import EFFORTS, Search
from pencilmap.mapper.choose import ALL_ROUTINGS, MUCH
from pencilmap.mapper.formats import launch_of, write_mapping
from pencilmap.mapper.formats.format import Job
from pencilmap.mapper.inside import Inside, messages_of_program
from pencilmap.mapper.launchers import Choice
from pencilmap.mapper.placements import BEST, placement_name
from pencilmap.mapper.programs import (
    Measured,
    Option,
    PlacedProgram,
    ProgramRuns,
    of_mapping,
    place_program,
    rank_options,
    traffic_of,
)
from pencilmap.model.base.errors import FigureError, RoutingError
from pencilmap.model.base.units import amount, capitalised, could, counted, milliseconds
from pencilmap.model.kinds import all_variants
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.predict.program import ProgramPrediction, predict_program
from pencilmap.model.predict.question import Question
from pencilmap.model.times.expected import no_range
from pencilmap.model.traffic.other_grids import CODES, TRACED
from pencilmap.model.traffic.patterns import patterns
from pencilmap.model.traffic.program import Traffic
from pencilmap.scripts.command_line import inside
from pencilmap.scripts.command_line.answers import STATIC, STATICALLY, agrees, is_static_likely, launch_notes
from pencilmap.scripts.command_line.node_choices import idle_lines
from pencilmap.scripts.command_line.options import CUT, asked_grid, given_options, launch_as_dict, show_launch
from pencilmap.scripts.command_line.pages import FILES, completed, with_options
from pencilmap.scripts.command_line.predictions import SAME, factor, new_notes, show_notes
from pencilmap.scripts.command_line.tables import echo, hearing, labelled, print_json, print_table, say, say_lines

TRAFFIC = click.option("--traffic", type=click.Path(), metavar="FILE", shell_complete=FILES,
                       help="Place any program: the file of pencilmap trace.\n"
                       "Or lines FROM TO BYTES, or a matrix.")
TRAFFICS = with_options(
    click.option("--traffic", type=click.Path(), multiple=True, metavar="[NAME=]FILE", shell_complete=FILES,
                 help="Place any program: the file of pencilmap trace.\n"
                 "Or lines FROM TO BYTES, or a matrix. Several traces, each with other options, are ranked."),
    click.option("--code", metavar="NAME", shell_complete=completed(lambda: CODES),
                 help="Rank the other process grids of this code, too.\n"
                 f"{', '.join(CODES)}; lammps:LxLxL gives the lengths of the domain."))


class Ranked(NamedTuple):
    """The options of a program, the fastest first; the option that is named first; the file of each."""

    options: tuple[Option, ...]
    usual: Option
    files: dict[str, str]
    code: str = ""

    @property
    def notes(self) -> list[str]:
        """The notes of several options."""
        number, traced = len(self.options), len(self.files)
        return [*([f"{number} options are ranked by their links alone; their computing may differ"] if number > 1 else []),
                *([f"the traffic of {number - traced} of {number} options is predicted from that of "
                   f"{', '.join(self.files)}"] if number > traced else []),
                *(["other options need a trace each: pencilmap trace -o FILE -- mpirun -n P " +
                   TRACED[self.code]] if self.code in TRACED else [])]

    @property
    def keeps_usual(self) -> bool:
        """Whether the option that is named first, without a file, is as good as any other."""
        best = self.options[0]
        return (best is self.usual and not best.needs_file) or _joint(self).advice.startswith("placement can")

    @property
    def codes(self) -> str:
        """A sentence with the names for `--code` of programs with the pattern of the only trace, "" if none is known."""
        for pattern in patterns(self.usual.placed.traffic) if len(self.options) == 1 else ():
            names = [name for name, code in CODES.items() if (code.kind, code.axes) == (pattern.kind, len(pattern.extents))]
            if names:
                return f"--code NAME also ranks the other grids of {pattern}: {', '.join(names)}"
        return ""

    def as_dict(self, option: Option) -> dict[str, Any]:
        """Return an option as JSON values."""
        name = {"option": option.name} if len(self.options) > 1 else {}
        keep = {"keep": option is self.usual and self.keeps_usual}
        return {**name, **keep, **_as_dict(self.files.get(option.name, self.files[self.usual.name]), option.placed)}


def rank_program(where: Question, named: Sequence[str], code: str | None, placement: str | None, effort: str,
                 seed: int, seconds: float | None = None) -> Ranked:
    """Rank the options whose files are named, `[NAME=]FILE` each, and with a code its other grids.

    Raises
    ------
    click.UsageError
        If two options have the same name, or one has none.
    """
    pairs = [inside.name_and_file(text) for text in named]
    if unnamed := next((file for name, file in pairs if not name.strip()), None):
        raise click.UsageError(f"no name is in front of {unnamed}; name the option with --traffic NAME=FILE",
                               click.get_current_context())
    names = [name for name, _ in pairs]
    pairs = [(file if Path(file).name == name and names.count(name) > 1 else name, file) for name, file in pairs]
    files = dict(pairs)
    if len(files) < len(named):
        raise click.UsageError("two traces have the same name; name the option of each with --traffic NAME=FILE",
                               click.get_current_context())
    with hearing():
        traffics = {name: traffic_of(where, path) for name, path in pairs}
        options = rank_options(where, traffics, placement or BEST, where.routing, effort, seed, seconds, code)
    return Ranked(options, next(option for option in options if option.name == pairs[0][0]), files,
                  (code or "").partition(":")[0])


def plan_program(where: Question, ranked: Ranked, *, top: int, all_notes: bool, as_json: bool,
                 nodes: Sequence[str] = (), more: dict[str, Any] | None = None) -> None:
    """Print the options of a program, each with its launch order and its placement.

    `nodes` are words that name the chosen nodes to `map`, `more` names them in JSON.
    """
    best = ranked.options[0]
    if as_json:
        print_json(*(ranked.as_dict(option) | (more or {}) for option in ranked.options[:top]))
        return
    say(*_option_sentences(where, ranked, "a file"))
    echo()
    if _needs_file(ranked):
        labelled("write", " ".join(["pencilmap map", *_options_of_best(ranked, nodes), "-o FILE"]), shell=True)
        echo()
    show_options(ranked, top)
    say_lines([("grids", ranked.codes)] if ranked.codes else [])
    show_notes(_notes(where, best.placed) + ranked.notes, all_notes)


def _options_of_best(ranked: Ranked, nodes: Sequence[str] = ()) -> list[str]:
    """The words with which `map` writes the file of the fastest option: of a traced option its trace alone."""
    name, without = ranked.options[0].name, ("--nodes",) if nodes else ()
    if name not in ranked.files:
        return [*given_options("map", without=without), *nodes]
    file = ranked.files[name]
    text = file if name in (file, Path(file).name) else f"{name}={file}"
    return [*given_options("map", without=("--traffic", "--code", *without)), *nodes, "--traffic", shell.word(text)]


def show_options(ranked: Ranked, top: int | None = None) -> None:
    """Print a row for each option: its links with and without its placement, and the gain over the usual start."""
    first = ranked.usual.placed.predictions[0]
    print_table(None, ["option", ">with its file", ">without", " "], [
        [option.name, _load(option.placed.predictions[-1]), _load(option.placed.predictions[0]),
         "" if option is ranked.usual and not option.needs_file else factor(*(option.best.gains(first) or (None,)))]
        for option in ranked.options[:top]])


def _joint(ranked: Ranked) -> PlacedProgram:
    """The start that is named first, and the fastest option, as placements of one program, without a bound for both."""
    first, best = ranked.usual.placed, ranked.options[0]
    return PlacedProgram(first.traffic, (first.mappings[0], best.placed.mappings[-1]),
                         (replace(first.predictions[0], bound=None), replace(best.best, placement=best.name)))


def _needs_file(ranked: Ranked) -> bool:
    return ranked.options[0].needs_file and not _joint(ranked).advice.startswith("placement can")


def _option_sentences(where: Question, ranked: Ranked, file: str) -> list[str]:
    """Return the first sentences: the option to launch with, whether it needs a file, its gain, its bound."""
    (best, *others), usual, advice = ranked.options, ranked.usual, _joint(ranked).advice
    first, p = usual.placed.predictions[0], best.best
    if advice.startswith("placement can"):
        return [f"Keep {usual.name}, no file is needed: {advice}."]
    start = f"{best.name} and {file}" if best.needs_file else f"{best.name}, no file is needed"
    if best is usual and not best.needs_file:
        other = f"other of {len(others) + 1} options" if others else "other placement"
        said = f"Keep {start}: no {other} is {1 + SAME:.2f}x faster (predicted)."
    else:
        said = f"Launch with {start}: {_compared(p, first, f'{usual.name} in {_launch_name(where, first)}')} (predicted)."
    return [said, f"With {best.name}, {_bound(p)}. {capitalised(advice)}."]


def map_program(where: Question, ranked: Ranked, *, effort: str, within: Search, output: str, form: Choice, job: Job,
                all_notes: bool, as_json: bool, more: dict[str, Any]) -> None:
    """Write the placement of the fastest option of a program, and print the predictions.

    `effort` is that of a search between the nodes, `within` the search inside them, `more` the chosen nodes in JSON.
    """
    found, is_one = ranked.options[0].placed, len(ranked.options) == 1
    mapping, best = (found.mappings[-1], found.predictions[-1])
    inner = inside.placed_inside(mapping, messages_of_program(found.traffic), job, form.name, within)
    if inner:
        mapping, job = inner.mapping, inner.job
    write_mapping(mapping, output, form.name, job)
    launch = launch_of(mapping, output, form.name, job)
    if as_json:
        print_json({"output": output, **launch_as_dict(launch, form), "launch_order": asdict(where.site.launch),
                    **inside.inside_as_dict(inner), **ranked.as_dict(ranked.options[0]), **more})
        return
    least, most = best.gains(found.predictions[0]) or (1.0, 1.0)
    has_gain = most >= 1 + SAME and least > 1 - SAME if is_one else _needs_file(ranked)
    between = _sentences(where, found, best, output if has_gain else "", effort) if is_one \
        else _option_sentences(where, ranked, output)
    for sentence in inside.sentences(between, factor(least, most) if has_gain else "", output, inner):
        say(sentence)
    echo()
    show_launch(launch, form, output, has_gain or inner is not None)
    say_lines(idle_lines(where, mapping))
    echo()
    if is_one and inside.is_alone(inner):
        return
    if is_one:
        show_program(where, found, {best.placement: output})
    else:
        show_options(ranked)
    _show_static(where, found, mapping, best)
    show_notes([f"{best.placement}: {note}" for note in mapping.notes] +
               _notes(where, found) + ranked.notes, all_notes)


def predict_placements(where: Question, path: str, placements: tuple[str, ...], *, effort: str, seed: int,
                       seconds: float | None, page: str | None, words: list[str], all_notes: bool, as_json: bool) -> None:
    """Print the predictions of some placements and of the launcher's order, and write a page if its name is given.

    The page has a single run time, that of the trace `path`, beside the first placement.
    """
    routing = where.routing
    if page and routing == ALL_ROUTINGS:
        raise FigureError("--page draws the loads of one rule; name it with --routing")
    traffic = traffic_of(where, path)
    if any(text.startswith("file:") for text in placements):  # the gain is over the order of its launcher
        where = asked_grid(where, f"{traffic.n_ranks}x1", placements)[0]
    with hearing():
        found = place_program(where, traffic, placements, None if routing == ALL_ROUTINGS else routing,
                              effort, seed, seconds)
    if routing == ALL_ROUTINGS:
        named = found.mappings[-1]  # of several named placements the last
        _show_all_routings(where, path, found, named, placement_name(named.name, where.site), {}, all_notes, as_json)
        return
    best = found.best[1]
    said = _sentences(where, found, best, "" if best.placement == found.predictions[0].placement else
                      placement_name(best.placement, where.site), effort if BEST in placements else "")
    if page:
        from pencilmap.scripts.pictures.report.page import page as page_of

        seconds = None if found.traffic.shared_cores else found.traffic.seconds
        names = {p.placement: placement_name(p.placement, where.site) for p in found.predictions}
        runs = ProgramRuns(path, found, (Measured(seconds),), names)
        text = page_of([], words, verdict=said[0], bound=f"{_bound(best).capitalize()}.", programs=[runs])
        write_whole(Path(page), text, FigureError)
    if as_json:
        print_json(_as_dict(path, found))
    else:
        say(*said)
        echo()
        show_program(where, found)
        _show_static(where, found, *found.best)
        show_notes(_notes(where, found), all_notes)


def _show_static(where: Question, found: PlacedProgram, mapping: Mapping, p: ProgramPrediction) -> None:
    """Print a line if the gain of a placement differs under static routes, which most networks of switches may have."""
    own, first = found.mappings[0], found.predictions[0]
    if not is_static_likely(where, found.traffic.n_ranks) or p.placement == first.placement:
        return
    try:
        mine, theirs = (predict_program(m, found.traffic, STATIC) for m in (mapping, own))
    except RoutingError:  # of a tree with different numbers of cables no static routes are known
        return
    here, there = (max(a.gains(b) or (1.0,)) for a, b in ((p, first), (mine, theirs)))
    if max(here / there, there / here) >= MUCH:
        gain = "as fast as" if abs(there - 1) < SAME else f"{factor(there)} on the links than"
        labelled(STATIC, f"{gain} {_launch_name(where, first)}{STATICALLY}: --routing static")


def _show_all_routings(where: Question, path: str, found: PlacedProgram, mapping: Mapping, name: str, more: dict[str, Any],
                       all_notes: bool, as_json: bool) -> None:
    """Print the loads of a placement beside those of the launcher's order under each rule of the network."""
    own = found.mappings[0]
    pairs = list[list[ProgramPrediction]]()
    for rule in all_variants(where.network):
        with suppress(RoutingError):  # the rule cannot handle the network
            pairs.append([predict_program(m, found.traffic, rule) for m in (mapping, own)])
    if as_json:
        print_json({**more, **_as_dict(path, found), "predictions": [_with_gain(*pair) for pair in pairs]})
        return
    least, *_, most = sorted((p for p, _ in pairs), key=lambda p: p.link_bytes) * 2
    low, high = _load(least), _load(most)
    spent = f"{low} under any rule" if low == high else f"{low} to {high}, by the routing"
    say(f"{agrees(name, 'takes')} {spent} (predicted).")
    say(f"The least is that of {least.routing}.")
    echo()
    is_own = mapping.name == own.name
    is_timed = least.link_s is not None
    columns = ["routing", ">busiest link", *[">time of links"] * is_timed, *[" "] * (not is_own)]
    print_table(None, columns, [[p.routing, amount(p.link_bytes), *([milliseconds(p.link_s)] if is_timed else []),
                                 *([] if is_own else [factor(*(p.gains(first) or (None,)))])] for p, first in pairs])
    show_notes(_notes(where, found), all_notes)


def show_program(where: Question, found: PlacedProgram, names: dict[str, str] | None = None) -> None:
    """Print a row for each placement; `names` are other names of placements."""
    first = found.predictions[0]
    adapts, timed = bool(first.bracket), first.link_s is not None
    columns = ["placement", *([">least", ">most"] if adapts else [">busiest link", *[">time of links"] * timed]), " ",
               ">links could gain"]
    rows = [[(names or {}).get(p.placement) or placement_name(p.placement, where.site),
             *(map(_load, p.ends) if adapts else [amount(p.link_bytes), *[milliseconds(p.link_s)] * timed]),
             "" if p is first else factor(*(p.gains(first) or (None,))), could(p.certificate)] for p in found.predictions]
    print_table(None, columns, rows)


def _load(p: ProgramPrediction) -> str:
    """The time of the links, or the bytes of the busiest link without a bandwidth."""
    return amount(p.link_bytes) if p.link_s is None else milliseconds(p.link_s)


def _carried(p: ProgramPrediction) -> str:
    """The load of the busiest link, or its range by how the routers adapt."""
    low, high = p.ends
    if low.link_bytes != high.link_bytes:
        return f"{_load(low)} to {_load(high)} on the busiest link, by how the routers adapt"
    return f"{amount(p.link_bytes)}{'' if p.link_s is None else f' in {milliseconds(p.link_s)}'} on the busiest link"


def _compared(p: ProgramPrediction, first: ProgramPrediction, name: str) -> str:
    """The gain of a placement over the launcher's order, with both loads if they are no ranges."""
    gains = p.gains(first) or (1.0, 1.0)
    if max(abs(ratio - 1) for ratio in gains) < SAME:
        return f"as fast as {name}: {_carried(p)}"
    low, high = p.ends
    if low.link_bytes != high.link_bytes:
        return f"{factor(*gains)} on the links than {name}: {_carried(p)}"
    other = amount(first.link_bytes) + (f" in {milliseconds(first.link_s)}" if first.link_s is not None else "")
    return f"{factor(*gains)} on the links than {name}: {_carried(p)}, not {other}"


def _notes(where: Question, found: PlacedProgram) -> list[str]:
    """The notes of a table: the meaning of its bytes and bounds."""
    phases = sum(bool(phase.bytes.nnz) for phase in found.traffic.phases)
    notes = [f"busiest link: bytes of a cable, the sum over {phases} phases" if phases > 1 else
             "busiest link: bytes of a cable"]
    if found.predictions[0].link_s is not None:
        notes.append("no range: programs not measured; time of the links alone")
    if found.is_one_message:
        notes.append("the bound divides each message among all links of a node; here no link carries more than the largest "
                     "message")
    if phases == 1 and not found.traffic.seconds:
        notes.append("all messages are taken as sent at once; phases in the file (phase NAME) may give another placement")
    return [*filter(None, [found.traffic.note]), *notes, *([CUT] if found.cut_short else []), *new_notes(where.notes),
            *launch_notes(where, found.mappings[0].grid)]


def _sentences(where: Question, found: PlacedProgram, p: ProgramPrediction, file: str, effort: str) -> list[str]:
    """Return the first sentences: the gain of a placement, or that none helps, and the bound."""
    first, cannot = found.predictions[0], found.advice.startswith("placement can")
    name = _launch_name(where, first)
    advice = f"{capitalised(found.advice)}."
    if cannot:
        return [advice, f"No file is needed: {_bound(p)}."]
    said = f"{file} is {_compared(p, first, name)} (predicted)."
    if not file:
        slower = f"{placement_name(p.placement, where.site)} is {factor(*(p.gains(first) or (None,)))} than {name}"
        proved = first.certificate and first.certificate < 1 + 1e-6
        if proved:
            said = f"No file is needed: nothing is faster than {name} (proved)."
        elif (least_most := p.gains(first) or (1.0, 1.0))[0] < 1 - SAME < 1 + SAME <= least_most[1]:
            said = f"No file is needed: the best is {factor(*least_most)} on the links than {name} (predicted)."
        elif effort:
            said = (f"No file is needed: the search found nothing {1 + SAME:.2f}x faster than {name}." if EFFORTS[effort]
                    else f"No file is needed by a quick look: {name} is as fast.")
        else:
            said = (f"{slower}, which needs no file." if max(p.gains(first) or (1,)) < 1 - SAME
                    else f"No file is needed for {name}: {_carried(p)} (predicted).")
    return [said, f"{_bound(p).capitalize()}. {advice}"]


def _launch_name(where: Question, p: ProgramPrediction) -> str:
    """The name of the launcher's order in a sentence."""
    launch = where.site.launch
    if not launch.orders:
        return "ranks that fill each node first"
    return launch.title if p.placement == "default" else placement_name(p.placement, where.site)


def _bound(p: ProgramPrediction) -> str:
    if not p.certificate:
        return "no bound is known"
    return "no placement is faster (proved)" if p.certificate < 1 + 1e-6 else \
        f"the links could gain {max(p.certificate, 1.01):.2f}x at most (proved)"


def _as_dict(path: str, found: PlacedProgram) -> dict[str, Any]:
    first = found.predictions[0]
    return {"traffic": path, "ranks": found.traffic.n_ranks, "advice": found.advice,
            "predictions": [_with_gain(p, first) for p in found.predictions]}


def _with_gain(p: ProgramPrediction, first: ProgramPrediction) -> dict[str, Any]:
    return {**p.as_dict(), **no_range("programs"), "gain": p.gain(first)}


def check_program(where: Question, path: str, known: Traffic, mapping: Mapping, more: dict[str, Any],
                  verdicts: Iterable[tuple[str, str]], inner: Inside | None, *, all_notes: bool, as_json: bool) -> None:
    """Print the loads of a placement file beside those of the launcher's order; `verdicts` are lines about launchers."""
    routing = where.routing
    found = of_mapping(where, known, mapping, None if routing == ALL_ROUTINGS else routing)
    if routing == ALL_ROUTINGS:
        _show_all_routings(where, path, found, mapping, f"{more['file']} is valid and", more, all_notes, as_json)
        return
    if as_json:
        print_json({**more, **inside.inside_as_dict(inner), **_as_dict(path, found)})
        return
    p, first = found.predictions[-1], found.predictions[0]
    name = _launch_name(where, first)
    between = [f"{more['file']} is valid and {_compared(p, first, name)}.",
               f"{_bound(p).capitalize()}. {capitalised(found.advice)}."]
    for sentence in inside.of_file(between, more["file"], inner):
        say(sentence)
    echo()
    if not inside.is_alone(inner):
        show_program(where, found)
        _show_static(where, found, mapping, p)
    say_lines(verdicts)
    show_notes([*_notes(where, found), f"the file has {counted(found.traffic.n_ranks, 'rank')}"], all_notes)
