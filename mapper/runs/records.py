"""Run records: this module reads their files and upgrades every record to the present version."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from math import prod
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.base.shell import path as shell
from pencilmap.model.base.errors import GridError, PencilmapError, RecordError
from pencilmap.model.base.reading import parse_json, read_whole, reading
from pencilmap.model.decompositions import bricks_named, decomposition_named
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Mapping, check_size
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, transform_of
from pencilmap.model.schedules.schedule import directed
from pencilmap.model.traffic.exchange import REMAPS

Record = dict[str, Any]
T = TypeVar("T")
SCHEMA = "pencilmap-run-record/2"
LINE = "line"  # a decomposition of the runner without an array of three axes
MOST_ERRORS = 100  # the best match among the first errors is reported
FIRST = "pencilmap-run-record/1"


def read_records(path: str | PathLike[str]) -> list[Record]:
    """Read the run records of a JSON lines file, each upgraded to version 2 and checked by its schema.

    Raises
    ------
    RecordError
        If the file cannot be read or a line is no record. The message will name file and line.
    """
    import jsonschema  # noqa: F401  # import before the clock of `reading` runs: loading is no cost of the file

    records = json_lines(path, _checked)
    if not records:
        raise RecordError(f"{path} contains no run record; fft_runner --json {shell(path)} writes one")
    return records


def json_lines(path: str | PathLike[str], check: Callable[[Any, str], T]) -> list[T]:
    """Return what a function makes of each value of a JSON lines file; it also gets the place in words, ``FILE line 3``.

    Raises
    ------
    RecordError
        If the file cannot be read or a line is not JSON. The message will name file and line.
    """
    content = read_whole(path, RecordError)
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} cannot be read: it is not text in UTF-8") from error
    result = []
    with reading(str(path), RecordError, len(content)):
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    value = parse_json(line)
                except (ValueError, RecursionError) as error:
                    raise RecordError(f"{path} line {number} is not JSON: {error}") from error
                result.append(check(value, f"{path} line {number}"))
    return result


def schema_problem(validator: Any, record: Any) -> str | None:
    """Return where and why a record does not have its schema; None if it does."""
    import jsonschema

    wrong = jsonschema.exceptions.best_match(islice(validator.iter_errors(record), MOST_ERRORS))
    if wrong is None:
        return None
    return f"{'.'.join(map(str, wrong.absolute_path)) or 'top level'}: {wrong.message[:300]}"


def _checked(record: Any, where: str) -> Record:
    schema = FIRST if isinstance(record, dict) and record.get("schema") == FIRST else SCHEMA
    if schema == FIRST:
        record = upgraded(record)
    if problem := schema_problem(_validator(), record) or next(_problems(record), None):
        raise RecordError(f"{where} is not a run record of {schema}: {problem}")
    return record


def _problems(record: Record) -> Iterator[str]:
    """Yield problems beyond the schema: grid and stages must fit the decomposition, and every stage must be timed in every
    repetition.
    """
    yield from _problems_of_times(record)
    if has_lines(record):
        yield from _problems_of_line(record)
        return
    try:
        decomposition = grid_of_record(record).decomposition
    except GridError as error:
        yield str(error)
        return
    stages, names = [stage["name"] for stage in record["stages"]], list(decomposition.names)
    if decomposition.has_bricks:
        names = [REMAPS[0], *names, REMAPS[1]]
    own = [name for name in stages if name not in REMAPS]  # a run of any decomposition may remap boxes
    if stages != names and (decomposition.has_bricks or own != names):
        yield f"stages: a {record['decomposition']} decomposition has {', '.join(names)}"
    yield from (f"phases: {phase} is missing" for phase in (f"exchange_{name}" for name in names)
                if phase not in record["phases"])


def _problems_of_times(record: dict[str, Any]) -> Iterator[str]:
    """Yield phases whose lists have other lengths than those of the total."""
    repetitions = len(record["phases"]["total"]["max_s"])
    for name, phase in record["phases"].items():
        by_rank = phase.get("ranks_s", [])
        lists = [*(seconds for key, seconds in phase.items() if key != "ranks_s"), *by_rank]
        if {*map(len, lists)} != {repetitions}:
            yield f"phases: {name} does not have {repetitions} times in each list, as total has"
        if "ranks_s" in phase and len(by_rank) != record["ranks"]:
            yield f"phases: {name} has times of {len(by_rank)} ranks, not of {record['ranks']}"


def _problems_of_line(record: dict[str, Any]) -> Iterator[str]:
    one = record["decomposition"] == LINE
    if len(record["size"]) != (1 if one else 3) or record["grid"] != [record["ranks"]]:
        yield f"{'a line has one extent' if one else 'bricks of lines have three'}, and a grid of all ranks"
        return
    try:
        names = line_problem_of_record(record).stages(record["ranks"])
    except GridError as error:
        yield str(error)
        return
    if tuple(stage["name"] for stage in record["stages"]) != names:
        yield f"stages: such a line has {', '.join(names) or 'none'}"
    yield from (f"phases: {phase} is missing" for phase in (f"exchange_{name}" for name in names)
                if phase not in record["phases"])


@lru_cache
def _validator() -> Any:
    import jsonschema

    text = (files("pencilmap.fft_runner") / "run_record.schema.json").read_text("utf-8")
    library = jsonschema.Draft202012Validator
    plain = library.VALIDATORS["items"]

    def items(validator: Any, allowed: dict[str, Any], numbers: list[Any], where: dict[str, Any]) -> Iterator[Any]:
        """Check lists of numbers at once. Only lists with an error go to the library, which is a hundred times slower."""
        if not (isinstance(numbers, list) and _are_numbers(allowed, numbers)):
            yield from plain(validator, allowed, numbers, where)
    return jsonschema.validators.extend(library, {"items": items})(json.loads(text))


def _are_numbers(allowed: dict[str, Any], values: Any) -> bool:
    """Return whether a schema asks for numbers, perhaps with a least and a most, and all values are such numbers."""
    kinds = {int, float} if allowed.get("type") == "number" else {int} if allowed.get("type") == "integer" else set()
    if not set(allowed) <= {"type", "minimum", "maximum"} or not set(map(type, values)) <= kinds:
        return False
    low, high = min(values, default=0), max(values, default=0)
    return not values or allowed.get("minimum", low) <= low <= high <= allowed.get("maximum", high)


def upgraded(record: Record) -> Record:
    """Return a record of version 1, which had pencils only, in version 2. The record is checked afterwards."""
    known, algorithm = record.get("exchanges", {}), record.get("exchange")
    untold = {"name": None if algorithm == "auto" else algorithm}
    stages = known
    if isinstance(known, dict) and all(isinstance(exchange, dict) for exchange in known.values()):
        exchanges = {"row": untold, "column": untold, **known}
        stages = [{**exchange, "name": name, "exchange": exchange.get("name")} for name, exchange in exchanges.items()]
    rest = {key: value for key, value in record.items() if key != "exchanges"}
    return {**rest, "schema": SCHEMA, "decomposition": "pencil", "stages": stages}


def has_lines(record: Record) -> bool:
    """Return whether a run transformed a distributed line, or bricks with such lines."""
    return bool(record["decomposition"] == LINE or "algorithm" in record)


def line_problem_of_record(record: Record) -> LineProblem:
    """Return the transform of distributed lines of such a run.

    Raises
    ------
    GridError
        If the decomposition has not one brick for each rank.
    """
    bricks = None if record["decomposition"] == LINE else bricks_named(record["decomposition"]).bricks
    if bricks is not None and prod(bricks) != record["ranks"]:
        raise GridError(f"lines run on one brick for each of {record['ranks']} ranks, brick:PxQxS, "
                        f"not on {record['decomposition']}")
    return LineProblem(tuple(record["size"]), bricks, record.get("algorithm", ""), record.get("order", ""),
                       record.get("fields", 1), record["precision"])


def transform_of_record(record: Record) -> Transform:
    """Return the transform of a run record, of a pair the forward transform.

    Raises
    ------
    RecordError
        If distributed lines were transformed, which have no `Transform`.
    """
    if has_lines(record):
        what = "a distributed line" if record["decomposition"] == LINE else "bricks on which distributed lines run"
        raise RecordError(f"a record is of {what}; only pencilmap compare reads such records, leave it out")
    if len(record["size"]) != 3:
        raise RecordError(f"a record has {len(record['size'])} extents; a transform has nx, ny, nz")
    plain = transform_of(record["size"], record["type"], record["precision"], record.get("fields", 1))
    nx, ny, nz = points = record.get("points") or record["size"]
    sent: str = record.get("exchange_precision") or record["precision"]
    plain = replace(plain, points=None if points == record["size"] else (nx, ny, nz),
                    sent=None if sent == record["precision"] else sent)
    return directed(plain, record["direction"]) or plain


def grid_of_record(record: Record) -> ProcessGrid:
    """Return the process grid of a run record; for lines the slab grid of all ranks."""
    if has_lines(record):
        return ProcessGrid(*record["grid"], decomposition=decomposition_named("slab"))
    return ProcessGrid(*record["grid"], decomposition=decomposition_named(record["decomposition"]))


def mapping_of_record(record: Record, network: Network, name: str) -> Mapping:
    """Return the real mapping of the ranks of a run, by the coordinates of the record, else by the names of its hosts.

    Raises
    ------
    RecordError
        If the placement of the record is impossible.
    """
    ranks = sorted(record["placement"]["ranks"], key=lambda r: r["rank"])
    by_hosts = any(r["coordinate"] is None for r in ranks)
    try:
        nodes, slots = (_places_by_hosts if by_hosts else _places_by_coordinates)(ranks, network)
        tasks = record["placement"]["tasks_per_node"] or max(slots) + 1
        check_size(network, network.n_nodes, tasks)
        return Mapping(network, grid_of_record(record), tasks, np.array(nodes), np.array(slots), name)
    except (PencilmapError, OverflowError) as error:
        raise RecordError(f"the record's placement is impossible: {error}") from error


def _places_by_coordinates(ranks: Any, network: Any) -> tuple[list[int], list[int]]:
    """Return node and slot of each rank."""
    for r in ranks:
        n_coordinates = len(r["coordinate"])
        problem = network.outside(r["coordinate"]) if n_coordinates == network.n_dimensions else (
            f"{n_coordinates} coordinates, but {network.title} has {network.n_dimensions} dimensions")
        if problem:
            raise RecordError(f"rank {r['rank']}: {problem}")
    return network.node(np.array([r["coordinate"] for r in ranks])).tolist(), [r["slot"] for r in ranks]


def _places_by_hosts(ranks: list[dict[str, Any]], network: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return node and slot of each rank. A simulated host ``NAME.LINK`` is a link of a host where each task uses one."""
    names, places = Hosts(network), []
    links = network.ends_per_node
    for r in ranks:
        node, link = names.node(r["host"]), r["host"].rpartition(".")[2]
        if node is None:
            raise RecordError(f"rank {r['rank']}: {names.why_not(r['host'])}")
        places.append((node, links * r["slot"] + (int(link) if links > 1 and link.isdecimal() else 0)))
    nodes, slots = zip(*places)
    return nodes, slots
