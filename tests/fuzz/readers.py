"""The fuzz targets in Python: readers of foreign bytes, and properties of their results.

A target gets the bytes of a file. It may raise a `PencilmapError` with a message of one line; it returns if the result is
right. Any other outcome is a finding.
"""

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from zlib import crc32

import numpy as np

from pencilmap.mapper import allocations, graphs, programs, traffic_files
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.base.hosts import Hosts, hosts_per_node
from pencilmap.mapper.formats import FORMATS, PRINTED, READABLE, Document, Job, mapping_text, parse_mapping, recognise
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.given import parse_images
from pencilmap.mapper.runs import records
from pencilmap.mapper.studies import scaling, transposes
from pencilmap.mapper.traffic_files import monitoring, traced
from pencilmap.model.base.errors import MapfileError, PencilmapError
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import network_named
from pencilmap.model.machines import machine_names, package_file
from pencilmap.model.machines.machine import read_machine
from pencilmap.model.network.partition import parse_partition
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid, parse_transform
from tests.fuzz.first_inputs import IN_C, IN_PYTHON

CORPUS = Path(__file__).with_name("corpus")
SITE = Site(Torus((4, 2, 2)), 2)
BGQ = Site(Torus((2, 2, 2, 1, 2)), 2)
CABINETS = network_named("dragonfly:a=32,p=16,groups=3,cables=2,rails=4,links=4")


@contextmanager
def _file(content):
    """Yield a path in memory with these bytes, for readers that take a path."""
    file = os.memfd_create("fuzz")
    try:
        os.write(file, content)
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def _is_whole(mapping):
    place = mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    assert len(np.unique(place)) == mapping.n_tasks and place.min() >= 0 and place.max() < mapping.network.n_nodes * 2


def placement(content: bytes) -> None:
    """Placement files of every format, recognised and named: the result survives writing and reading."""
    site = BGQ if b"A B C D E" in content[:40] else SITE
    job, named = Job(site), list(READABLE)[crc32(content) % len(READABLE)]
    try:
        names = {recognise(Document(content, "file")), named}
    except PencilmapError:
        names = {named}
    for name in names:
        try:
            mapping = parse_mapping(content, "file", job, None, name)
        except PencilmapError as error:
            assert len(names) > 1 or "file" in str(error)
            continue
        _is_whole(mapping)
        if name in PRINTED:
            continue
        try:
            text = FORMATS[name].write(mapping, job)
        except MapfileError:
            continue  # e.g. a format without idle slots
        again = parse_mapping(text.encode(), "again", job, mapping.grid, name)
        assert np.array_equal(again.node_of_rank, mapping.node_of_rank)


def graph(content: bytes) -> None:
    """Graph files."""
    for name in (None, list(graphs.GRAPHS)[crc32(content) % len(graphs.GRAPHS)]):
        try:
            options = {"taper": "2"} if name and graphs.GRAPHS[name].options else {}
            found = graphs.parse_graph(Document(content, "file"), name, 1e9, options)
        except PencilmapError as error:
            _one_line(error)
        else:
            names = found.host_names or {}
            assert found.n_nodes >= 1 and len(set(names.values())) == len(names)


def description(content: bytes) -> None:
    """Files that describe an allocation; their facts are combined, written as a table, and read again."""
    with _file(content) as path:
        found = allocations.read_description(path)
    picture = allocations.combine([found])
    if picture.network is not None and picture.nodes is not None and picture.network.n_nodes < 1 << 20:
        again = parse_table(Document(picture.table().encode(), "again"), picture.network)
        assert np.array_equal(again.nodes, picture.nodes) and again.hosts == picture.hosts


def table(content: bytes) -> None:
    """A table of nodes, whose names go to a launcher."""
    with suppress(PencilmapError):
        named = parse_table(Document(content, "file"), CABINETS)
        assert len(set(named.hosts.values())) == len(named.hosts) and named.nodes.max() < CABINETS.n_nodes
    found = parse_table(Document(content, "file"), SITE.network)
    if found.hosts and hosts_per_node(found.hosts) < 3:  # two tasks per node
        job = Job(SITE, Hosts(SITE.network, hosts=found.hosts))
        nodes = np.array(sorted(found.names))
        mapping = Mapping(SITE.network, ProcessGrid(len(nodes), 1), 2, nodes, np.zeros_like(nodes), "table")
        for name, form in FORMATS.items():
            if not form.by_coordinates and name != "cray":
                try:
                    text = mapping_text(mapping, name, job)
                except MapfileError:
                    continue  # a name of a host that this launcher does not read
                again = parse_mapping(text.encode(), "again", job, mapping.grid, name)
                assert np.array_equal(again.node_of_rank, nodes), name


def traffic(content: bytes) -> None:
    """Files of traffic, recognised and named; the traffic is written as a trace, and read again."""
    named = [name for name in traffic_files.TRAFFIC_FILES if name != "monitoring"]  # which reads more files than this one
    for name in (None, named[crc32(content) % len(named)]):
        try:
            found = traffic_files.parse_traffic(Document(content, "file"), name)
        except PencilmapError as error:
            _one_line(error)
            continue
        assert found.total.bytes.shape == (found.n_ranks, found.n_ranks) and found.pairs.bytes.min(initial=0) >= 0
        text = traced.text(found)
        assert traced.text(traffic_files.parse_traffic(Document(text.encode(), "again"))) == text
    with suppress(PencilmapError):
        monitoring.of_rank(Document(content, "file.0.prof"), 0)


def machine(content: bytes) -> None:
    """Machine files."""
    found = read_machine(content, "file")
    assert found.tasks_per_node >= 1 and min(found.network.bandwidth or (0,)) > 0


def record(content: bytes) -> None:
    """Run records, and records of programs."""
    with _file(content) as path:
        if found := programs.read_programs(path):
            assert all(program.rows and program.verdict for program in found)
            return
        for found in records.read_records(path):
            records.transform_of_record(found)
            if found["placement"].get("torus"):
                records.mapping_of_record(found, parse_torus(found["placement"]["torus"]), "file")


def times(content: bytes) -> None:
    """Tables of points for scaling studies, and results of transpose_bench."""
    with _file(content) as path:
        read = transposes.read_transposes if content.lstrip()[:1] == b"{" else scaling.read_points
        assert read(path)


def images(content: bytes) -> None:
    """Images, and the placement with these images."""
    assert parse_images(content, "file", SITE)
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        _is_whole(place(f"images:{file.name}", SITE, ProcessGrid(4, 8)))


def text(content: bytes) -> None:
    """Texts of options, each by every reader of texts."""
    given = content.decode("utf-8", "replace")
    for reader in TEXTS:
        with suppress(PencilmapError):
            reader(given)


def network(content: bytes) -> None:
    """Texts of networks."""
    found = network_named(content.decode("utf-8", "replace"))
    assert found.n_nodes >= 1 and found.link_shape[0] == len(found.link_classes)


def environment(content: bytes) -> None:
    """Variables of a batch system, NAME=VALUE in each line."""
    pairs = (line.partition("=")[::2] for line in content.decode("utf-8", "replace").splitlines())
    allocations.look_around({name: value for name, value in pairs if name not in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE")})


def _torus(given):
    torus = parse_torus(given)
    assert parse_torus(str(torus)).shape == torus.shape


TEXTS: list[Callable[[str], object]] = [
    _torus, lambda given: parse_nodes(given, SITE.network), parse_transform, lambda given: parse(given, "byte/s"),
    lambda given: expand_hosts(given, 1 << 16), lambda given: Hosts(SITE.network, given).names([0, 5]),
    lambda given: parse_partition(given, read_partitions()), lambda given: place(_bounded(given), SITE, ProcessGrid(4, 8))]


def _bounded(given):
    """Return the placement, or the default in place of files and long searches."""
    name = given.partition(":")[0].strip()
    return "default" if name in ("search", "best", "images", "python", "file", "scotch") else given


def read_partitions():
    """Return the partition rule of a machine of the package."""
    from pencilmap.model.machines.machine import load_machine

    return load_machine("bluegene-l").partition_rule()


def _one_line(error):
    assert str(error).strip() and "\n" not in str(error), f"not one line: {error!r}"


TARGETS: dict[str, Callable[[bytes], None]] = {target.__name__: target for target in (
    placement, graph, description, table, traffic, machine, record, times, images, text, network, environment)}


def seeds(name: str) -> list[bytes]:
    """Return the inputs to begin with: own ones, files of the package, written formats, and examples of other tests."""
    own = [text.encode() for text in (IN_C | IN_PYTHON).get(name, ())]
    if (CORPUS / name).is_dir():
        own += [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    if name == "machine":
        own += [package_file(machine) for machine in machine_names()]
    if name == "placement":
        from tests.mapper.test_printed import WHOLE

        for name_of_format, form in FORMATS.items():
            site = SITE if name_of_format != "bgq" else BGQ
            own.append(form.write(as_mapping(place("default", site, ProcessGrid(4, 8)), "default"), Job(site)).encode())
        own += [re.sub(r"\bn(\d)\b", r"node-\1-0-0", text).encode() for _, text in WHOLE]
    if name == "description":
        from tests.mapper.test_allocations import BLOCKS, GEMINI, OWN, SHOWN_NODES, SLURM_YAML

        own += [text.encode() for text in (BLOCKS, GEMINI, SHOWN_NODES, SLURM_YAML, *chain(*OWN.values()))]
    if name == "graph":
        from tests.mapper.test_foreign import EXAMPLES
        from tests.mapper.test_graphs import WRITERS

        own += [text.encode() for _, text in EXAMPLES.values()]
        with tempfile.TemporaryDirectory() as folder:
            own += [write(Path(folder)) for write in WRITERS.values()]
    return own


def check(name: str, content: bytes) -> None:
    """Run a target; any finding raises an exception."""
    try:
        TARGETS[name](content)
    except PencilmapError as error:
        _one_line(error)
