"""Topics of `pencilmap help`: the names that options take, from the tables of the library.

Nothing of the library is loaded before a topic is shown.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pencilmap.scripts.command_line.tables import wrapped

WIDTH = 80
TOPIC_OF_OPTION = {  # parameter of a command: the topic that explains its values
    "network": "networks", "machine": "machines", "nodes": "nodes", "fft": "transforms", "decomposition": "decompositions",
    "placement": "placements", "routing": "routings", "exchange": "exchanges", "schedule": "schedules",
    "format_name": "formats", "traffic": "traffic", "bandwidth": "units"}


@dataclass(frozen=True)
class Topic:
    """A topic: its title, the option or table that has the names, and a function that returns (name, meaning) pairs."""

    title: str
    option: str
    names: Callable[[], Iterable[tuple[str, str]]]
    notes: tuple[str, ...] = ()


def _networks() -> Iterator[tuple[str, str]]:
    from pencilmap.mapper.graphs import GRAPHS
    from pencilmap.model.kinds import KINDS

    for kind in KINDS.values():
        if kind.usage:
            yield kind.usage, kind.meaning
    yield "8x8x8:torus", "on a machine: all dimensions wrap; without :torus its rule decides (Google: 4x4x8_untwisted)"
    yield "8x8x8:axes=abc", "letters of the axes other than xyz"
    yield "FILE", "a file of cables; its format is recognised, or named as FILE,FORMAT:"
    yield "FILE,taper=2", "the same with half as many cables up as down (2:1), if the file tells no numbers of cables"
    yield "FILE,taper=2,core-taper=1", "another ratio above the leaves"
    yield "FILE,graph", "the same as a graph, although its cables may form another kind"
    for name, form in GRAPHS.items():
        yield f"FILE,{name}", form.title


def _machines() -> Iterator[tuple[str, str]]:
    from pencilmap.model.machines import machine_names, package_figures

    for name in machine_names():
        yield name, package_figures(name)[0]
    yield "FILE.toml", "a machine file of your own"


def _nodes() -> Iterator[tuple[str, str]]:
    yield "384", ("a number: of a torus machine, the partition with the widest bisection; plan and map rank all shapes; "
                  "of a machine with switches, the first nodes; for a file of cables, list the nodes in a file, or as "
                  "c[010-023]")
    yield "4x6x16", "a shape: the same as --network 4x6x16"
    yield "FILE", "usable nodes in the launcher's order, one a line: x y z, or NAME x y z; for a file of cables, the name"


def _transforms() -> Iterator[tuple[str, str]]:
    from pencilmap.model.placement.transform import TYPES

    yield "512", "a cube of 512^3 complex numbers in double precision"
    yield "512x256x128", "an array of these extents"
    yield "512:single", "single precision"
    yield "512:fields=3", "three arrays together"
    yield "512:TYPE", f"another type: {', '.join(TYPES)}"


def _decompositions() -> Iterator[tuple[str, str]]:
    from pencilmap.model.decompositions import DECOMPOSITIONS

    for d in DECOMPOSITIONS.values():
        yield d.name, f"grid {d.usage}"
    yield "brick:PxQxS", "bricks in and out, remapped to pencils; with --algorithm, lines on the bricks"
    yield "line", "one array of --size N over all tasks (predict, simulate)"


def _placements() -> Iterator[tuple[str, str]]:
    from pencilmap.mapper.placements import PLACEMENTS

    for p in PLACEMENTS.values():
        yield p.usage, p.meaning


def _routings() -> Iterator[tuple[str, str]]:
    from pencilmap.model.kinds import ROUTINGS

    for r in ROUTINGS.values():
        yield r.usage, r.meaning
    yield "all", "every rule, with the cut bound below them (predict, check)"


def _exchanges() -> Iterator[tuple[str, str]]:
    from pencilmap.model.algorithms import ALGORITHMS

    for name, algorithm in ALGORITHMS.items():
        yield name, algorithm.meaning


def _schedules() -> Iterator[tuple[str, str]]:
    from pencilmap.model.schedules import SCHEDULES

    for schedule in SCHEDULES.values():
        yield schedule.usage, schedule.meaning
    yield "best", "the fastest of those that keep the boxes, with its chunks"


def _formats() -> Iterator[tuple[str, str]]:
    from pencilmap.mapper.formats import FORMATS

    for name, form in FORMATS.items():
        yield name, form.title


def _traffic() -> Iterator[tuple[str, str]]:
    from pencilmap.mapper.traffic_files import TRAFFIC_FILES

    yield "FILE", "a file of bytes between ranks; its format is recognised, or named as FILE,FORMAT:"
    for name, form in TRAFFIC_FILES.items():
        yield f"FILE,{name}", form.title


def _units() -> Iterator[tuple[str, str]]:
    yield "rates of bytes", "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, bit/s, Mbit/s, Gbit/s"
    yield "bytes", "B, kB, MB, GB, KiB, MiB, GiB"
    yield "times", "s, ms, us, ns"
    yield "rates of operations", "flop/s, Mflop/s, Gflop/s, Tflop/s"


def _headings() -> Iterator[tuple[str, str]]:
    yield "time", ("of the whole transform, or of its exchanges: --notes says which; in brackets, the range of 9 of 10 "
                   "measurements")
    yield "node data", "without times: what the busiest links carry, in the data that a node holds"
    yield "1.25x faster", "than the launch order: it takes 1 / 1.25 of the time"
    yield "could gain", ("how many times faster any placement of this grid could be at most, which is proved; nothing: no "
                         "placement is faster; 'links could gain' if other costs depend on the placement, too")
    yield "least, most", "routers adapt: the time under the best and the worst rule between which they are"
    yield "busiest link", "the link that takes longest: the node that it leaves, and its direction"
    yield "schedule", "when the exchanges travel: pencilmap help schedules"


TOPICS = {
    "networks": Topic("Networks", "--network", _networks),
    "machines": Topic("Machines", "--machine", _machines, ("pencilmap network --machine NAME shows the figures of one.",)),
    "nodes": Topic("Nodes", "--nodes", _nodes),
    "transforms": Topic("Transforms", "--fft", _transforms),
    "decompositions": Topic("Decompositions", "--decomposition", _decompositions),
    "placements": Topic("Placements", "--placement", _placements),
    "routings": Topic("Routing rules", "--routing", _routings,
                      ("Defaults: dimension-order on untwisted tori, minimal on dragonflies, else", "shortest-path.")),
    "exchanges": Topic("Algorithms of the exchanges", "--exchange", _exchanges),
    "schedules": Topic("Schedules", "--schedule", _schedules),
    "formats": Topic("Placement formats", "--format", _formats),
    "traffic": Topic("Traffic", "--traffic", _traffic, (
        "Numbers may have commas between them and a head above them: from,to,bytes.",)),
    "headings": Topic("Headings", "tables such as that of plan", _headings, ("More: docs/reference/command-line.md.",)),
    "units": Topic("Units", "options such as --bandwidth '25 GB/s'", _units),
}


def page(name: str) -> str:
    """Return the page of a topic, at most 80 columns wide.

    >>> page("units").splitlines()[0]
    "Units, for options such as --bandwidth '25 GB/s'"
    """
    topic = TOPICS[name]
    rows = list(topic.names())
    column = min(max(len(usage) for usage, _ in rows) + 4, 30)
    lines = [f"{topic.title}, for {topic.option}", ""]
    for usage, meaning in rows:
        text = wrapped(meaning, WIDTH - column)
        head = f"  {usage}"
        if len(head) >= column:
            lines.append(head)
            head = ""
        lines += [head.ljust(column) + text[0], *(" " * column + rest for rest in text[1:])] if text else [head]
    return "\n".join([*lines, *(["", *topic.notes] if topic.notes else [])])
