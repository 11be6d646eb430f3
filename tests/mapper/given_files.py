"""Files of other programs, intact and damaged, for the values in `known_values.txt`."""

import os
import re

import numpy as np

from pencilmap.mapper import allocations, graphs
from pencilmap.mapper.allocations.table import parse_table
from pencilmap.mapper.formats import FORMATS, Document, Job, parse_mapping, recognise
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.images import parse_images
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.machines.machine import read_machine
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid
from tests.fuzz.readers import CORPUS

SITE = Site(Torus((4, 2, 2)), 2)
VARIANTS = 24
LONGEST = 160  # letters of an error
OF_OTHERS = re.compile("(is not (?:XML|YAML|GraphML|JSON|TOML)).*")  # the rest is the parser's own text


def damaged(name, where, grid, **more):
    """Return the result of a file with one error: the slots that it names, or the error message."""
    job = Job(where, **more)
    mapping = as_mapping(place("line", where, parse_grid(grid)), "line")
    text = FORMATS[name].write(mapping, job)
    lines = text.splitlines(keepends=True)
    at = len(lines) // 2
    digit = next(k for k in range(len(text) // 2, len(text)) if text[k].isdigit())

    def instead(what):
        return text[:digit] + what + text[digit + 1:]

    def line(what):
        return "".join([*lines[:at], what, *lines[at + 1:]])

    changed = {
        "whole": text, "short": "".join(lines[:-1]) or text[:-3], "twice": line(2 * lines[at]), "large": instead("9"),
        "larger": instead("9" * 30), "long": instead("x" * 90), "negative": instead("-1"), "word": instead("x"),
        "plus": instead("+1"), "half": instead("1.5"), "more": line(lines[at].rstrip("\n") + " 7\n"),
        "less": line(lines[at][2:]),
        "comment": "# one\n\n" + text, "other end": text.replace("\n", "\r\n"), "space": text.replace(" ", " \t "),
        "letter": line("a" + lines[at])}
    return {key: _read(each, job, name) for key, each in changed.items()}


def _read(text, job, name):
    try:
        known = recognise(Document(text.encode(), "given"))
        mapping = parse_mapping(text.encode(), "given", job, None, name)
    except PencilmapError as error:
        return str(error)
    slots = mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    return [*([known] if known != name else []), *slots.tolist()]


def launched(name, where, grid, **more):
    """Return the launch command of a format."""
    mapping = as_mapping(place("default", where, parse_grid(grid)), "default")
    return FORMATS[name].launch(mapping, Job(where, **more), "a b.map")


def altered(target, name):
    """Return the results for a file of the corpus with parts missing, doubled or changed: each result once."""
    content = (CORPUS / target / name).read_bytes()
    rng = np.random.default_rng(len(content))
    found = {}
    for variant in range(VARIANTS):
        at, length = int(rng.integers(len(content))), int(rng.integers(1, 9))
        other = bytes(rng.choice(list(b"0123456789 -,:xX\n"), length).tolist())
        middle = (b"", 2 * content[at:at + length], other)[variant % 3]
        given = content[:at] + middle + content[at + length:] if variant else content
        try:
            answer = str(READERS[target](given))
        except PencilmapError as error:
            answer = OF_OTHERS.sub(r"\1", re.sub("/proc/self/fd/[0-9]+", "given", str(error)))[:LONGEST]
        found.setdefault(answer, None)
    return list(found)


def _graph(content):
    network = graphs.parse_graph(Document(content, "given"), None, 1e9)
    ends = zip(network.source.tolist(), network.target.tolist(), map(str, network.cables))
    return " ".join(network.vertices), network.n_nodes, network.bandwidth, " ".join(f"{a}-{b}:{c}" for a, b, c in ends)


def _description(content):
    file = os.memfd_create("given")
    try:
        os.write(file, content)
        found = allocations.read_description(f"/proc/self/fd/{file}")
    finally:
        os.close(file)
    facts = [(fact.what, fact.value) for fact in found.facts]
    return facts, found.torus, found.hosts, found.places, found.coordinates, found.tasks_per_node, found.cores


def _environment(content):
    pairs = (line.partition("=")[::2] for line in content.decode("utf-8", "replace").splitlines())
    picture = allocations.look_around(dict(pairs))
    return [(fact.what, fact.value) for fact in picture.facts], str(picture.torus)


def _machine(content):
    machine = read_machine(content, "given")
    costs = {name: value for name, value in vars(machine.costs).items() if value is not None}
    return str(machine.torus), machine.torus.bandwidth, machine.torus.cables, machine.tasks_per_node, costs, machine.likely


def _placement(content):
    site = Site(Torus((2, 2, 2, 1, 2)), 2) if b"A B C D E" in content[:40] else SITE
    mapping = parse_mapping(content, "given", Job(site))
    return (mapping.node_of_rank * 2 + mapping.slot_of_rank).tolist()


def _table(content):
    found = parse_table(Document(content, "given"), SITE.network)
    return found.nodes.tolist(), found.names


def _images(content):
    return [(image.line, image.nodes.tolist(), image.slots) for image in parse_images(content, "given", SITE)]


READERS = {"graph": _graph, "description": _description, "environment": _environment, "machine": _machine,
           "placement": _placement, "table": _table, "images": _images}
