"""Records of the runs of programs of others: a line for each program, with its traffic and its run in each placement."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.placement_names import placement_name
from pencilmap.mapper.programs import PlacedProgram
from pencilmap.mapper.traffic_files import parse_traffic
from pencilmap.model.base.errors import PencilmapError, RecordError
from pencilmap.model.base.reading import parse_json, read_whole, reading
from pencilmap.model.kinds import kind_of, network_named
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.predict.program import ProgramPrediction, predict_program

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


def _program(line, where):
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
        found = PlacedProgram(traffic, mappings, tuple(predict_program(m, traffic, record["routing"], bound)
                                                       for m in mappings))
        runs = tuple(Measured(float(run["seconds"]), (float(min(run["carried"])), float(max(run["carried"]))))
                     for run in record["runs"])
        return ProgramRuns(str(record["program"]), found, runs,
                           {m.name: placement_name(m.name, Site(network)) for m in mappings})
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, PencilmapError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise RecordError(f"{where} is not a record of {SCHEMA}: {reason}") from error
