"""Placements of any program from its traffic, and records of its runs under these placements."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.base.search import Search, search_of
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.placements import BEST, check_name, placement_name
from pencilmap.mapper.placements.given import from_file
from pencilmap.mapper.seeds.default_order import default, launched
from pencilmap.mapper.traffic_files import parse_traffic, read_traffic
from pencilmap.model.base.errors import PencilmapError, PlacementError, RecordError, TrafficError, near
from pencilmap.model.base.reading import parse_json, read_whole, reading
from pencilmap.model.kinds import default_routing, kind_of, network_named, routing as routing_named
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.program import ProgramPrediction, predict_program
from pencilmap.model.predict.question import Question
from pencilmap.model.routing.rule import Rule
from pencilmap.model.times.timing import TIE
from pencilmap.model.traffic.other_grids import CODES, TRACED, gridded, others, reordered
from pencilmap.model.traffic.program import Traffic

LITTLE = 0.1  # part of the run time below which the links are not worth a placement
MOST_SEARCHED = 5  # options that are searched as long as asked; of others only the starts of searches are compared


@dataclass(frozen=True)
class PlacedProgram:
    """Placements of a program, the launcher's order first.

    mappings : tuple of Mapping
    predictions : tuple of ProgramPrediction, one for each
    """

    traffic: Traffic
    mappings: tuple[Mapping, ...]
    predictions: tuple[ProgramPrediction, ...]
    cut_short: bool = False  #: whether a time limit ended the search

    @property
    def best(self) -> tuple[Mapping, ProgramPrediction]:
        """The placement whose links are busy for the shortest time; the first among equals."""
        return min(zip(self.mappings, self.predictions), key=lambda both: both[1].link_bytes)

    @property
    def is_one_message(self) -> bool:
        """Whether the busiest link of the best placement carries no more than the largest messages, above the limit."""
        best, largest = self.best[1], sum(float(phase.bytes.max()) for phase in self.traffic.phases if phase.bytes.nnz)
        return 0 < best.link_bytes <= largest * (1 + 1e-9) and (best.certificate or 1) > 1 + 1e-6

    @property
    def advice(self) -> str:
        """One sentence on how much a placement can help: the predicted times, or the links against the run time.

        Without the computing of the ranks, their processor time and the time of the links take the place of the run time if
        they shared cores.
        """
        first, (_, best) = self.predictions[0], self.best
        if first.link_bytes == 0:
            return "placement cannot help: no message uses a link"
        if first.time_s and first.link_s is not None:
            return self._in_seconds(first, best)
        run_s, of = self.traffic.seconds, "that the traced program ran"
        if self.traffic.shared_cores:  # their wall time says little, and their processor time lacks the waiting for links
            computing = self.traffic.processor_seconds
            run_s = None if computing is None or first.link_s is None else first.link_s + computing
            of = (f"that they take with the {computing or 0:.3g} s of processor time of a rank, for the traced ranks shared "
                  "cores")
        if first.link_s is not None and run_s:
            share = first.link_s / run_s
            if share < LITTLE:
                return (f"placement can hardly help: the links need {first.link_s:.3g} s of the {run_s:.3g} s {of} "
                        f"({share:.1%})")
            saves = (f"{best.placement} saves at most {first.link_s - (best.link_s or 0.0):.3g} s"
                     if best.link_bytes < first.link_bytes else "no better placement than the launch order was found")
            if share > 1:  # it ran on another network, or the network is not that of the job
                return (f"the links need {first.link_s:.3g} s, more than the {run_s:.3g} s that the program ran where "
                        f"it was traced; {saves}")
            return f"the links need {first.link_s:.3g} s of the {run_s:.3g} s {of}; {saves}"
        if first.certificate is not None and first.certificate < 1 + 1e-6:
            return "placement cannot help: the launch order is at the proved limit"
        missing = ("the bandwidth of the links is not known; name it, or the machine" if first.link_s is None else
                   "the ranks shared cores while they were traced; trace with a core for each"
                   if self.traffic.shared_cores else
                   "the traffic file has no run time; pencilmap trace writes files that have it")
        return f"whether the program gets faster is open: {missing}"

    @staticmethod
    def _in_seconds(first: ProgramPrediction, best: ProgramPrediction) -> str:
        """Say the predicted times; a best placement without computing computes as the launch order."""
        whole, least, links, after = first.time_s or 0.0, first.least_s or 0.0, first.link_s or 0.0, best.link_s or 0.0
        if links < LITTLE * whole:
            return (f"placement can hardly help: of {whole:.3g} s (predicted), the ranks compute for {whole - links:.3g} s, "
                    f"and the links need {links:.3g} s ({links / whole:.1%})")
        said = f"the program takes {whole:.3g} s (predicted: computing {whole - links:.3g} s, links {links:.3g} s)"
        if after < links:
            said += f", with {best.placement} {best.time_s or whole - links + after:.3g} s"
        bounds = [f"{s:.3g}" for s in (least, best.least_s) if s]
        said += f"; if all overlaps, at least {' and '.join(dict.fromkeys(bounds))} s"
        idle = [f"{phase.name or f'phase {i}'} ({phase.time_s:.3g} s)" for i, phase in enumerate(first.phases)
                if phase.links_s < LITTLE * phase.time_s and phase.time_s >= LITTLE * whole]
        return said + (f". Placement cannot help {', '.join(idle)}: computing takes most of it" if idle else "")


def traffic_of(where: Question, path: str | PathLike[str]) -> Traffic:
    """Return the traffic in a file, checked against the slots.

    Raises
    ------
    TrafficError
        If there are more ranks than slots, or fewer without `idle`.
    """
    traffic = read_traffic(path)
    slots = where.n_slots
    if traffic.n_ranks > slots:
        raise TrafficError(f"{path} has the traffic of {traffic.n_ranks} ranks, and {where.site} has {slots} slots; name a "
                           "larger network, or more `tasks_per_node`")
    if traffic.n_ranks < slots and not where.site.idle:
        raise TrafficError(f"{path} has the traffic of {traffic.n_ranks} ranks, and {where.site} has {slots} slots; take "
                           "fewer `nodes` or `tasks_per_node`, or give `idle` to leave slots empty")
    return traffic


def place_program(where: Question, traffic: Traffic, placements: tuple[str, ...] = (BEST,), routing: str | None = None,
                  effort: str = "normal", seed: int = 1, seconds: float | None = None) -> PlacedProgram:
    """Return the launcher's order and other placements of a program, with predictions.

    Parameters
    ----------
    where : Question
    traffic : Traffic
    placements : tuple of str
        ``best`` (searched), ``default``, ``default:ORDER``, ``file:PATH``.
    routing : str, optional
    effort : str
        See `pencilmap.mapper.base.search.EFFORTS`.
    seed : int
    seconds : float, optional
        Time limit of the search.

    Raises
    ------
    PlacementError
        If a placement is unknown, or depends on the grid of a transform.
    """
    name = routing or default_routing(where.network)
    rule = routing_named(name, where.network)
    grid, bound = ProcessGrid(traffic.n_ranks, 1), kind_of(where.network).program_bound(where.site, traffic)
    cost = where.costs.message_cost_s
    own, within = _own(where, traffic, name), search_of(effort, seed, seconds)
    mappings, least = [own], predict_program(own, traffic, name).link_bytes
    for text in placements:
        mapping = _placed(where, traffic, grid, text, rule, within)
        if text == BEST and predict_program(mapping, traffic, name).link_bytes >= least:
            mapping = Mapping(own.network, grid, own.tasks_per_node, own.node_of_rank, own.slot_of_rank, BEST)
        if text != own.name:
            mappings.append(mapping)
    adaptive = within.budget > 0  # the rules of adaptive routers solve linear programs
    return PlacedProgram(traffic, tuple(mappings), tuple(
        predict_program(m, traffic, routing, bound, adaptive, cost) for m in mappings), within.cut_short)


@dataclass(frozen=True)
class Option:
    """A way to start a program, such as its process grid, with the launcher's order and one other placement."""

    name: str
    placed: PlacedProgram

    @property
    def needs_file(self) -> bool:
        """Whether the placement is faster than the launcher's order under any routing, beyond a tie."""
        least, most = self.placed.predictions[-1].gains(self.placed.predictions[0]) or (1.0, 1.0)
        return most > TIE and least > 1 / TIE

    @property
    def best(self) -> ProgramPrediction:
        """The prediction of the named or searched placement if it needs a file, otherwise of the launcher's order."""
        return self.placed.predictions[-1 if self.needs_file else 0]


def rank_options(where: Question, traffics: dict[str, Traffic], placement: str = BEST, routing: str | None = None,
                 effort: str = "normal", seed: int = 1, seconds: float | None = None,
                 code: str | None = None) -> tuple[Option, ...]:
    """Return the options of a program with a placement of each, the fastest first.

    Among options within 1 % of the fastest, those that need no file come first, then those that are named first.

    Parameters
    ----------
    where : Question
    traffics : dict of Traffic
        The traffic of each option. The first option is always searched with the full effort.
    placement, routing, effort, seed, seconds
        As those of `place_program`. All searches together have the time limit.
    code : str, optional
        Also rank the other grids of this code, as `with_other_grids` predicts them.
    """
    traffics = with_other_grids(traffics, code) if code is not None else traffics
    each = seconds and seconds / min(len(traffics), MOST_SEARCHED)

    def placed(name: str, effort: str) -> Option:
        return Option(name, place_program(where, traffics[name], (placement,), routing, effort, seed, each))

    first, *others = traffics
    if len(others) >= MOST_SEARCHED:
        quick = {name: placed(name, "quick") for name in others}
        others = sorted(quick, key=lambda name: quick[name].best.link_bytes)
        options = [*(placed(name, effort) for name in (first, *others[:MOST_SEARCHED - 1])),
                   *(quick[name] for name in others[MOST_SEARCHED - 1:])]
    else:
        options = [placed(name, effort) for name in traffics]
    least, names = min(option.best.link_bytes for option in options), list(traffics)

    def order(option: Option) -> tuple[float, bool, int]:
        n_bytes = option.best.link_bytes
        is_tie = n_bytes <= TIE * least
        return 0.0 if is_tie else n_bytes, is_tie and option.needs_file, names.index(option.name)

    return tuple(sorted(options, key=order))


def with_other_grids(traffics: dict[str, Traffic], code: str) -> dict[str, Traffic]:
    """Return the traffic of the options, then the predicted traffic on the other grids of their code.

    Parameters
    ----------
    traffics : dict of Traffic
        Traces by the names of the options; numbers in a name are the grid.
    code : str
        A name of `pencilmap.model.traffic.other_grids.CODES`, with the lengths of the domain behind a colon if needed.

    Raises
    ------
    TrafficError
        If the code is unknown, or its grid is not recognised in a trace.

    Examples
    --------
    A ring of 8, seen as a grid of 8 x 1 ranks, has no other grid that splits the same axis:

    >>> from pencilmap.model.traffic.program import one_phase, pairs_of
    >>> ring = one_phase(8, pairs_of(range(8), [1, 2, 3, 4, 5, 6, 7, 0], 100))
    >>> list(with_other_grids({"8 1": ring}, "cart2d"))
    ['8 1']
    """
    name, colon, text = code.partition(":")
    if name in TRACED and name not in CODES:
        raise TrafficError(f"no options of {name} are predicted, for each changes more than a process grid; trace each "
                           f"(pencilmap trace -o FILE -- mpirun -n P {TRACED[name]}) and name the traces with `traffic`")
    try:
        lengths = [float(part) for part in text.split("x")] if colon else []
    except ValueError:
        lengths = [0.0]
    if name not in CODES or not all(0 < length < np.inf for length in lengths) or \
            len(lengths) not in (0, CODES[name].axes):
        hint = "" if name in CODES else near(name, CODES)
        raise TrafficError(f"code {code[:60]!r} is not understood{hint}; known are {', '.join(CODES)}, and the lengths of a "
                           "domain, such as lammps:40x20x20")
    orders = {option: reordered(option, traffic) if name == "gromacs" else {} for option, traffic in traffics.items()}
    traces = [gridded(traffic, CODES[name], option) for option, traffic in traffics.items() if not orders[option]]
    renumbered = {other: traffic for found in orders.values() for other, traffic in found.items()
                  if other not in traffics}
    return traffics | renumbered | (dict(others(traces, lengths)) if traces else {})


def of_mapping(where: Question, traffic: Traffic, mapping: Mapping, routing: str | None = None) -> PlacedProgram:
    """Return the launcher's order and a mapping, with predictions."""
    bound = kind_of(where.network).program_bound(where.site, traffic)
    mappings = _own(where, traffic, routing or default_routing(where.network)), mapping
    return PlacedProgram(traffic, mappings, tuple(
        predict_program(m, traffic, routing, bound, True, where.costs.message_cost_s) for m in mappings))


def _own(where: Question, traffic: Traffic, routing: str) -> Mapping:
    """The fastest possible order of the launcher, so that no gain is overstated; of equal orders the most likely."""
    site, grid = where.site, ProcessGrid(traffic.n_ranks, 1)
    others = [default(order, site, grid) for order in site.launch.orders[1:]]
    placements = [launched(site, grid), *others]
    return min(placements, key=lambda m: predict_program(m, traffic, routing).link_bytes) if others else placements[0]


def _placed(where: Question, traffic: Traffic, grid: ProcessGrid, text: str, rule: Rule, within: Search) -> Mapping:
    head, _, argument = text.partition(":")
    if head == BEST:
        from pencilmap.mapper.searches.traffic_search import search_traffic  # numba is loaded only for a search

        search = search_traffic(where.site, traffic, rule, within)
        T = where.tasks_per_node
        return Mapping(where.network, grid, T, where.site.allocation.nodes[search.places // T], search.places % T, BEST,
                       (f"found from {search.name}",))
    if head == "default":
        return default(argument, where.site, grid)
    if head == "file":
        return from_file(argument, where.site, grid)
    check_name(text)
    raise PlacementError(f"placement {text!r} depends on the grid of a transform; with traffic, placements are best, "
                         "default, default:ORDER and file:PATH")


SCHEMA = "pencilmap-program-record/1"


@dataclass(frozen=True)
class Measured:
    """A run in a placement: its seconds, and the least and largest of carried over predicted bytes of loaded links."""

    seconds: float | None
    carried: tuple[float, float] | None = None


@dataclass(frozen=True)
class ProgramRuns:
    """Placements of a program, and its runs in them."""

    name: str  #: file of its traffic, or name of the program
    found: PlacedProgram
    measured: tuple[Measured, ...] = ()  #: the run in each placement, as far as they are known
    names: dict[str, str] = field(default_factory=dict)  #: of placements, for a reader

    @property
    def title(self) -> str:
        return f"{self.name} on {self.found.mappings[0].network}, {self.found.traffic.n_ranks} ranks"

    def name_of(self, p: ProgramPrediction) -> str:
        """Return the name of a placement for a reader."""
        return self.names.get(p.placement, p.placement)

    @property
    def rows(self) -> list[tuple[ProgramPrediction, float | None, Measured]]:
        """Return the predictions, their gains, and the runs."""
        first = self.found.predictions[0]
        runs = [*self.measured, *[Measured(None)] * len(self.found.predictions)]
        return [(p, p.gain(first), run) for p, run in zip(self.found.predictions, runs)]

    @property
    def verdict(self) -> str:
        """One sentence: the gain of the links and of the run, or without runs whether placement can help."""
        if len(self.measured) < 2:
            return self.found.advice
        (first, _, launched), *others = self.rows
        best, gain, run = min(others, key=lambda row: (row[0].link_bytes, row[2].seconds or 0.0))
        if not launched.seconds or not run.seconds or gain is None:
            return self.found.advice
        return (f"{self.name}: the busiest links of {self.name_of(best)} carry {1 / gain:.3f} of the bytes of "
                f"{self.name_of(first)}"
                f", and the run takes {run.seconds:.4g} s in place of {launched.seconds:.4g} s")


def record_of(name: str, mappings: Iterable[Mapping], routing: str, bandwidth: str, traffic: str,
              runs: Iterable[Measured]) -> dict[str, Any]:
    """Return the record of the runs of a program, for a line of a file.

    Parameters
    ----------
    name : str
    mappings : iterable of Mapping
        The launch order first, on one network with one task for each node.
    routing, bandwidth, traffic : str
        Of the network; the text of the file of traffic.
    runs : iterable of Measured
        One for each mapping.
    """
    mappings = list(mappings)
    return {"schema": SCHEMA, "program": name, "network": str(mappings[0].network), "bandwidth": bandwidth,
            "routing": routing, "traffic": traffic,
            "runs": [{"placement": m.name, "node_of_rank": m.node_of_rank.tolist(), "seconds": run.seconds,
                      "carried": run.carried} for m, run in zip(mappings, runs)]}


def read_programs(path: str | PathLike[str]) -> list[ProgramRuns]:
    """Return the programs of a file, none if its first line is no record of a program.

    Raises
    ------
    RecordError
        If another line is no such record, or a record contradicts itself.
    """
    content = read_whole(path, RecordError)
    lines = [(number, line) for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1) if line.strip()]
    if not lines or SCHEMA not in lines[0][1]:
        return []
    with reading(str(path), RecordError, len(content)):
        return [_program(line, f"{path} line {number}") for number, line in lines]


def _program(line: str, where: Any) -> Any:
    try:
        record = parse_json(line)
        if record["schema"] != SCHEMA:
            raise RecordError(f"the schema is {record['schema']!r}")
        if not record["runs"]:
            raise RecordError("there are no runs")
        network = network_named(record["network"], bandwidth=record["bandwidth"])
        traffic = parse_traffic(Document(record["traffic"].encode(), where), "trace")
        grid, nodes = ProcessGrid(traffic.n_ranks, 1), np.zeros(traffic.n_ranks, int)
        mappings = tuple(Mapping(network, grid, 1, np.array(run["node_of_rank"]), nodes, str(run["placement"]))
                         for run in record["runs"])
        bound = kind_of(network).program_bound(Site(network), traffic)
        placed_program = PlacedProgram(traffic, mappings, tuple(predict_program(m, traffic, record["routing"], bound)
                                                                for m in mappings))
        runs = tuple(Measured(float(run["seconds"]), (float(min(run["carried"])), float(max(run["carried"]))))
                     for run in record["runs"])
        return ProgramRuns(str(record["program"]), placed_program, runs,
                           {m.name: placement_name(m.name, Site(network)) for m in mappings})
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, PencilmapError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise RecordError(f"{where} is not a record of {SCHEMA}: {reason}") from error
