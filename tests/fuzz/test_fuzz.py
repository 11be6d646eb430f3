"""Every reader takes damaged inputs or refuses them in a sentence, in little time and memory. `scripts/fuzz` runs longer.

Hypothesis draws the inputs of the readers in Python, libFuzzer those of the readers in C (readers.c).
"""

import fcntl
import os
import re
import resource
import shutil
import subprocess
import time
import traceback
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st

from pencilmap.mapper import allocations, graphs, programs, traffic_files
from pencilmap.mapper.allocations import hwloc
from pencilmap.mapper.allocations.free import free_hosts
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.base.hosts import Hosts, hosts_per_node
from pencilmap.mapper.formats import FORMATS, PRINTED, READABLE, Document, Job, mapping_text, parse_mapping, recognise
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.meshes import parse_axes
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.given import parse_images
from pencilmap.mapper.runs import records
from pencilmap.mapper.studies import scaling, transposes
from pencilmap.mapper.traffic_files import monitoring, traced
from pencilmap.model.base.errors import MapfileError, PencilmapError
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import network_named
from pencilmap.model.machines import machine_names, package_file
from pencilmap.model.machines.machine import load_machine, read_machine
from pencilmap.model.network.partition import parse_partition
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import parse_transform
from tests.fft_runner.conftest import programs as built_library  # noqa: F401  (a fixture: readers in C use the library)
from tests.fuzz.first_inputs import CORPUS, IN_C, IN_PYTHON
from tests.mapper.test_allocations import GEMINI, OWN, SLURM_FILES, SLURM_TORUS, SLURM_YAML
from tests.mapper.test_formats import WHOLE
from tests.mapper.test_node_choices import BHOSTS, PBSNODES, SCONTROL, SINFO, SINFO_N
from tests.mapper.test_recognised_networks import WRITERS
from tests.mapper.test_refusals import EXAMPLES

SECONDS = int(os.environ.get("PENCILMAP_FUZZ", "0"))  #: for each reader; without, one round from a fixed seed
MOST_S, MOST_BYTES = 5, 1 << 30  #: for an input of a megabyte: of computing, of memory beyond that of this process
SITE = Site(Torus((4, 2, 2)), 2)
BGQ = Site(Torus((2, 2, 2, 1, 2)), 2)
CABINETS = network_named("dragonfly:a=32,p=16,groups=3,cables=2,rails=4,links=4")
EDGES = [b"0", b"1", b"-1", b"7", b"65536", b"2147483648", b"9223372036854775808", b"9" * 30, b"1e999", b"nan", b"Infinity",
         b"-0", *(bytes([n]) for n in b" \t\n\r,.:;=-x/#<>()[]{}*\"'&!$")]


@contextmanager
def file_with(content):
    """Yield a path in memory with these bytes, for readers that take a path."""
    file = os.memfd_create("fuzz")
    try:
        os.write(file, content)
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def check_places(mapping):
    place = mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    assert len(np.unique(place)) == mapping.n_tasks and place.min() >= 0 and place.max() < mapping.network.n_nodes * 2


def placement(content):
    """Files of every format: the result survives writing and reading."""
    job = Job(BGQ if b"A B C D E" in content[:40] else SITE)
    names = {Random(content).choice(list(READABLE))}
    with suppress(PencilmapError):
        names.add(recognise(Document(content, "file")))
    for name in names:
        try:
            mapping = parse_mapping(content, "file", job, None, name)
        except PencilmapError as error:
            assert len(names) > 1 or "file" in str(error)
            continue
        check_places(mapping)
        with suppress(MapfileError):  # e.g. a format without idle slots
            text = FORMATS[name].write(mapping, job) if name not in PRINTED else None
            again = parse_mapping(text.encode(), "again", job, mapping.grid, name) if text else mapping
            assert np.array_equal(again.node_of_rank, mapping.node_of_rank)


def graph(content):
    for name in (None, Random(content).choice(list(graphs.GRAPHS))):
        options = {"taper": "2"} if name and graphs.GRAPHS[name].options else {}
        try:
            network = graphs.parse_graph(Document(content, "file"), name, 1e9, options)
        except PencilmapError as error:
            check_sentence(error)
        else:
            names = network.host_names or {}
            assert network.n_nodes >= 1 and len(set(names.values())) == len(names)


def description(content):
    """Files that describe an allocation; their facts are combined, written as a table, and read again."""
    with file_with(content) as path:
        picture = allocations.combine([allocations.read_description(path)])
    if picture.network is not None and picture.nodes is not None and picture.network.n_nodes < 1 << 20:
        again = parse_table(Document(picture.table().encode(), "again"), picture.network)
        assert np.array_equal(again.nodes, picture.nodes) and again.hosts == picture.hosts


def inside(content):
    """Files of a node: the slots share no core, and each is a host of the tree."""
    with file_with(content) as path:
        found = hwloc.read_node(path, Random(content).choice((1, 2, 3, 8)))
    cores = [core for slot in found.cores for core in slot]
    assert len(set(cores)) == len(cores) <= found.n_cores and (found.tree is None or found.tree.n_nodes == found.n_slots)


def table(content):
    """A table of nodes, whose names go to a launcher."""
    with suppress(PencilmapError):
        named = parse_table(Document(content, "file"), CABINETS)
        assert len(set(named.hosts.values())) == len(named.hosts) and named.nodes.max() < CABINETS.n_nodes
    named = parse_table(Document(content, "file"), SITE.network)
    if not named.hosts or hosts_per_node(named.hosts) > 2:  # tasks per node
        return
    job, nodes = Job(SITE, Hosts(SITE.network, hosts=named.hosts)), np.array(sorted(named.names))
    mapping = Mapping(SITE.network, ProcessGrid(len(nodes), 1), 2, nodes, np.zeros_like(nodes), "table")
    for name in (name for name, form in FORMATS.items() if not form.by_coordinates and name != "cray"):
        try:
            text = mapping_text(mapping, name, job)
        except MapfileError:
            continue  # a name of a host that this launcher does not read
        assert np.array_equal(parse_mapping(text.encode(), "again", job, mapping.grid, name).node_of_rank, nodes), name


def traffic(content):
    """Files of traffic, recognised and named; the traffic is written as a trace, and read again."""
    named = [name for name in traffic_files.TRAFFIC_FILES if name != "monitoring"]  # which reads more files than this one
    for name in (None, Random(content).choice(named)):
        try:
            traffic = traffic_files.parse_traffic(Document(content, "file"), name)
        except PencilmapError as error:
            check_sentence(error)
            continue
        assert traffic.total.bytes.shape == (traffic.n_ranks,) * 2 and traffic.pairs.bytes.min(initial=0) >= 0
        text = traced.text(traffic)
        assert traced.text(traffic_files.parse_traffic(Document(text.encode(), "again"))) == text
    with suppress(PencilmapError):
        monitoring.of_rank(Document(content, "file.0.prof"), 0)


def machine(content):
    machine = read_machine(content, "file")
    assert machine.tasks_per_node >= 1 and min(machine.network.bandwidth or (0,)) > 0


def record(content):
    """Run records, and records of programs."""
    with file_with(content) as path:
        if runs := programs.read_programs(path):
            assert all(program.rows and program.verdict for program in runs)
            return
        for run in records.read_records(path):
            records.transform_of_record(run)
            if run["placement"].get("torus"):
                records.mapping_of_record(run, parse_torus(run["placement"]["torus"]), "file")


def times(content):
    """Tables of points for scaling studies, and results of transpose_bench."""
    with file_with(content) as path:
        assert (transposes.read_transposes if content.lstrip()[:1] == b"{" else scaling.read_points)(path)


def images(content):
    assert parse_images(content, "file", SITE)
    with file_with(content) as path:
        check_places(place(f"images:{path}", SITE, ProcessGrid(4, 8)))


def text(content):
    """Texts of options, each by every reader of texts."""
    for reader in TEXTS:
        with suppress(PencilmapError):
            reader(content.decode("utf-8", "replace"))


def torus(given):
    torus = parse_torus(given)
    assert parse_torus(str(torus)).shape == torus.shape


def short_placement(given):
    """Place, but by no file and no long search."""
    long = ("search", "best", "images", "file", "scotch")
    place("default" if given.partition(":")[0].strip() in long else given, SITE, ProcessGrid(4, 8))


TEXTS = [torus, lambda given: parse_nodes(given, SITE.network), parse_transform, lambda given: parse(given, "byte/s"),
         lambda given: expand_hosts(given, 1 << 16), lambda given: Hosts(SITE.network, given).names([0, 5]),
         lambda given: parse_partition(given, load_machine("bluegene-l").partition_rule()), short_placement,
         lambda given: parse_axes(",".join(map(str, parse_axes(given))))]


def network(content):
    network = network_named(content.decode("utf-8", "replace"))
    assert network.n_nodes >= 1 and network.link_shape[0] == len(network.link_classes)


def environment(content):
    """Variables of a batch system, NAME=VALUE in each line."""
    pairs = (line.partition("=")[::2] for line in content.decode("utf-8", "replace").splitlines())
    allocations.look_around({name: value for name, value in pairs if name not in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE")})


def free(content):
    """Lists of free hosts of schedulers."""
    found = free_hosts(Document(content, "file"))
    assert found is None or len(set(found)) == len(found) > 0


READERS = {reader.__name__: reader for reader in (
    placement, graph, description, inside, table, traffic, machine, record, times, images, text, network, environment, free)}


def check_sentence(error):
    assert str(error).strip() and "\n" not in str(error) and "MemoryError" not in str(error), repr(error)


def check(name, content):
    try:
        READERS[name](content)
    except PencilmapError as error:
        check_sentence(error)


@pytest.fixture(scope="session")
def seeds(tmp_path_factory):
    """Return the inputs with which a reader begins: own ones, files of the package, and examples of other tests."""
    written = {"bgq": BGQ}
    more = {"machine": map(package_file, machine_names()),
            "placement": [form.write(as_mapping(place("default", written.get(name, SITE), ProcessGrid(4, 8)), "default"),
                                     Job(written.get(name, SITE))) for name, form in FORMATS.items()]
            + [re.sub(r"\bn(\d)\b", r"node-\1-0-0", text) for _, text in WHOLE],
            "description": [GEMINI, SLURM_TORUS, SLURM_YAML, *chain(*OWN.values()),
                            *(text for text, _ in SLURM_FILES.values())],
            "free": [SINFO, SINFO_N, SCONTROL, PBSNODES, BHOSTS],
            "graph": [text for _, text in EXAMPLES.values()] + [write(tmp_path_factory.mktemp("graph"))
                                                                for write in WRITERS.values()]}
    files = {folder.name: [path.read_bytes() for path in sorted(folder.iterdir())] for folder in CORPUS.iterdir()}
    return lambda name: [text if isinstance(text, bytes) else text.encode() for text in (
        *IN_PYTHON.get(name, ()), *files.get(name, ()), *more.get(name, ()))]


def damaged(seeds):
    """Return a strategy: inputs with up to eight changes, each a cut and a piece in its place, or pieces alone."""
    piece = st.sampled_from([part for content in seeds for part in (*content.split(), *content.splitlines(keepends=True))]
                            + EDGES) | st.binary(max_size=3)
    change = st.tuples(st.integers(0, 1 << 16), st.integers(0, 12), piece, st.sampled_from((1, 1, 1, 40)))

    def apply(content, changes):
        for at, cut, with_, times in changes:
            at %= len(content) + 1
            content = content[:at] + with_ * times + content[at + cut:]
        return content

    return st.builds(apply, st.sampled_from(seeds), st.lists(change, min_size=1, max_size=8)) | st.lists(
        piece, max_size=20).map(b" ".join)


@pytest.mark.parametrize("name", READERS)
def test_python_takes_or_refuses(name, seeds):
    end, first = time.monotonic() + SECONDS, seeds(name)
    for content in first:
        check(name, content)

    @settings(max_examples=100, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged(first))
    def once(content):
        began = time.process_time()
        check(name, content)
        assert time.process_time() - began < MOST_S

    for number in count(time.time_ns() if SECONDS else 1):
        seed(number)(once)()
        if time.monotonic() >= end:
            break


@pytest.fixture(scope="session")
def readers_in_c(built_library):  # noqa: F811
    """Return the readers in C under libFuzzer; tests/fft_runner builds the library that they use."""
    program = "int LLVMFuzzerTestOneInput(void) { return 0; }"
    if not shutil.which("clang++") or subprocess.run(["clang", "-fsanitize=fuzzer,address", "-xc", "-", "-o", os.devnull],
                                                     input=program.encode(), capture_output=True).returncode:
        pytest.skip("NOT TESTED: clang or libFuzzer is missing (Debian: clang, libclang-rt-dev)")
    folder = Path(__file__).parent
    build = folder.parents[1] / "build" / "fuzz"
    build.mkdir(exist_ok=True)
    with open(build / ".lock", "w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        for words in (("-S", folder, "-B", build), ("--build", build, "--parallel", "2")):
            done = subprocess.run(["cmake", *words], capture_output=True, text=True,
                                  env=os.environ | {"CC": "clang", "CXX": "clang++"})
            assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return build / "readers"


@pytest.mark.parametrize("name", IN_C)
def test_c_takes_or_refuses(name, readers_in_c, tmp_path):
    """Begin with the first inputs, and with each of them without one of its lines."""
    for number, content in enumerate(IN_C[name]):
        (tmp_path / f"{number}").write_text(content)
        lines = content.splitlines(keepends=True)
        for i in range(len(lines)):
            (tmp_path / f"{number}-{i}").write_text("".join(lines[:i] + lines[i + 1:]))
    limit = f"-max_total_time={SECONDS}" if SECONDS else "-runs=5000"
    done = subprocess.run([readers_in_c, limit, f"-seed={time.time_ns() % 1000000 if SECONDS else 1}", f"-timeout={MOST_S}",
                           f"-rss_limit_mb={MOST_BYTES >> 20}", f"-artifact_prefix={tmp_path}/", tmp_path],
                          env=os.environ | {"READER": name}, capture_output=True)
    assert done.returncode == 0, done.stderr[-4000:].decode("utf-8", "replace")


def grown(content, random, size):
    """Yield forms of a file of about `size` bytes: repeated parts, also with other numbers, nested brackets, long words."""
    lines = content.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    before, line, after = b"".join(lines[:at]), lines[at].rstrip(b"\n") + b"\n", b"".join(lines[at + 1:])
    yield content * (size // max(len(content), 1))
    yield before + b"".join(numbered(line, size)) + after
    for pattern, make in ((rb"\S+", lambda part: b" ".join(numbered(part, size))),
                          (rb"[^,\s\[\](){}]+(?=,)", lambda part: b",".join(numbered(part, size))),
                          (rb"\S|[(\[{<]|\d", lambda part: part * size), (rb"\d+", lambda part: b"1000000000")):
        if parts := list(re.finditer(pattern, content)):
            part = random.choice(parts)
            yield content[:part.start()] + make(part[0]) + content[part.end():]


def numbered(part, size):
    """Yield copies of a part, each with its numbers one larger than those of the copy before."""
    for k in range(size // (len(part) + 1)):
        yield re.sub(rb"\d{1,9}", lambda digits, k=k: b"%0*d" % (len(digits[0]), int(digits[0]) + k), part)


def status_within_limits(name, content):
    """Return the status of a reader in a process of its own, whose time and memory are limited: 0 if all is well."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES,) * 2)
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))
            check(name, content)
            status = 0
        except BaseException:
            traceback.print_exc(limit=-3)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("name", READERS)
def test_inputs_of_a_megabyte_take_little_time_and_memory(name, seeds, request):
    """On each commit an eighth of a megabyte of one form of an input, at night three forms of each."""
    is_slow, first, random = request.config.getoption("--slow"), seeds(name), Random(name)
    for whole in first if is_slow else [random.choice(first)]:
        forms = list(grown(whole, random, 1 << 20 if is_slow else 1 << 17))
        for content in random.sample(forms, min(3, len(forms)) if is_slow else 1):
            assert status_within_limits(name, content) == 0, content[:200]


@pytest.mark.parametrize("action, status", [(lambda: [0] * (1 << 28), 1), (lambda: 1 / 0, 1), (lambda: None, 0)])
def test_limits_are_kept(monkeypatch, action, status):
    monkeypatch.setitem(READERS, "grows", lambda content: action())
    assert status_within_limits("grows", b"") == status
