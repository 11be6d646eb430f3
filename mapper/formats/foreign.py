"""Formats of other programs: how to recognise each format, and advice for its user.

Every reader of a FILE (a graph, a description of an allocation, a placement, a list of nodes) should call `refuse_foreign`
first. A file of another kind will then be refused by its name, with the same sentence everywhere. Readers skip the rows of
the formats that they read.

Lines of files that list a job's resources. Such lines do not say where each rank runs, so they are no placements.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError, PencilmapError

GRAPH, DESCRIPTION, PLACEMENT, NODES = "a graph", "a description of an allocation", "a placement", "a list of nodes"
TRAFFIC = "traffic"
HEAD = 1 << 16  # characters in which a format shows itself
_EDGES = "for `network` write one edge in each line, e.g. a b 12.5 GB/s, or GraphML"
_FABRIC = "for `network` write the output of ibnetdiscover to a file"
_DISCOVER = "pencilmap network FILE reads it"
_INSIDE = ("it tells the inside of a node: give that as `hwloc` FILE, from lstopo --of xml, and the cables between nodes "
           "as `network`")
_NAMED = "name it with `network`"
_COLUMNS = {"source", "target", "src", "dst", "rank", "slot", "hostname", "bandwidth", "weight", "latency"}
_WORDS = {"from", "to", "node", "host", "name", "x", "y", "z", "speed", "kind", "type"}  # also names of vertices


@dataclass(frozen=True)
class Foreign:
    """A format of another program.

    Parameters
    ----------
    title : str
        The name of the format.
    looks_like : callable
        Document -> bool; true only of this format.
    advice : str
        A remedy for the user, one sentence without its full stop.
    read_as : tuple of str
        Kinds of files for which readers of this package accept the format.
    """

    title: str
    looks_like: Callable[[Document], bool]
    advice: str
    read_as: tuple[str, ...] = ()


def _begins(pattern: str) -> Callable[..., Any]:
    """Return a test whether the text begins with a pattern, after blanks, XML heads and comments of two slashes or ``#``."""
    before = r"(?:\s|<\?[^>]*>|<!--.{0,2000}?-->|<![^>]*>|//[^\n]*\n|#[^\n]*\n|/\*.{0,2000}?\*/)*"
    compiled = re.compile(before + pattern, re.IGNORECASE | re.DOTALL)
    return lambda document: compiled.match(document.text[:HEAD]) is not None


def _has_line(pattern: str) -> Callable[..., Any]:
    """Return a test whether a line near the head begins with a pattern."""
    compiled = re.compile(rf"^[ \t]*{pattern}", re.MULTILINE)
    return lambda document: compiled.search(document.text[:HEAD]) is not None


def _numbers(line: str) -> list[int] | None:
    """Return the whole numbers of a line, or None if the line has other words."""
    words = line.split()
    return [int(word) for word in words] if words and all(re.fullmatch("[0-9]{1,12}", word) for word in words) else None


def is_metis(document: Document) -> bool:
    """Return whether a file is a METIS graph: a head ``n m [fmt [ncon]]``, then the neighbours of each of n vertices.

    The digits of fmt say whether a line begins with a size and with ncon weights, and whether each neighbour has a
    weight. Each of the m edges is listed from both ends.
    """
    first = next((line for _, line in document.head(1, "%")), "")
    if not 1 <= (_numbers(first[:100]) or [0])[0] <= document.text.count("\n"):
        return False
    lines = [line for line in document.text.splitlines() if not line.startswith("%")]
    head = _numbers(lines[0][:100]) if lines else None
    while lines and head and not lines[-1].strip() and len(lines) > head[0] + 1:
        lines.pop()
    if head is None or not 2 <= len(head) <= 4 or not 1 <= head[0] == len(lines) - 1:
        return False
    kinds = lines[0].split()[2].zfill(3) if len(head) > 2 else "000"
    read = [_numbers(line) if line.strip() else [] for line in lines[1:]]
    rows = [row for row in read if row is not None]
    if len(rows) < len(read) or not re.fullmatch("[01]{3}", kinds):
        return False
    size, weights, weighted = (kind == "1" for kind in kinds)
    before = size + (head[3] if len(head) > 3 else 1) * weights
    result = [(i, other) for i, row in enumerate(rows, 1) for other in row[before::1 + weighted]]
    edges = set(result)
    return len(edges) == len(result) == 2 * head[1] > 0 and all((b, a) in edges and a != b for a, b in edges)


def _is_scotch_graph(document: Document) -> bool:
    lines = document.head(3, "\n")
    numbers = [_numbers(line[:100]) for _, line in lines]
    return (len(lines) == 3 and numbers[0] == [0] and len(numbers[1] or ()) == 2
            and re.fullmatch(r"\s*[01]\s+[01]{3}\s*", lines[2][1]) is not None)


def _is_csv(document: Document) -> bool:
    """Return whether the head has two known column names and the second line as many cells.

    A head of names before lines of numbers also counts, and so do names in all lines.
    """
    if _is_table_without_head(document):
        return True
    lines = [line for _, line in document.head(2, "\n")]
    for separator in ",;\t":
        cells = [cell.strip(" \"'").lower() for cell in lines[0][:HEAD].split(separator)] if lines else []
        known = _COLUMNS if separator == "\t" else _COLUMNS | _WORDS
        if len(cells) > 1 and sum(cell in known for cell in cells) > 1:
            return len(lines) == 1 or lines[1][:HEAD].count(separator) == len(cells) - 1
    return False


def _is_table_without_head(document: Document) -> bool:
    lines = [line.strip() for _, line in document.head(1000, "\n")]
    cell = r"[\w.:/ \"'-]*"
    for separator in ",;":
        row = re.compile(rf"[\"']?[A-Za-z_][\w.-]*[\"']?({separator}{cell})+", re.ASCII)
        if len(lines) > 1 and all(row.fullmatch(line[:HEAD]) for line in lines):
            return len({line.count(separator) for line in lines}) == 1
    return False


def _is_json_graph(document: Document) -> bool:
    """Return whether a file has nodes, and edges under the names that networkx and D3 use."""
    text = document.text
    return (text[:HEAD].lstrip().startswith("{") and '"nodes"' in text and ('"links"' in text or '"edges"' in text)
            and not _is_flux(document))


def _is_flux(document: Document) -> bool:
    """Return whether JSON is a set of resources of Flux, RFC 20, or its graph with paths of containment, RFC 40."""
    text = document.text
    return text[:HEAD].lstrip().startswith("{") and ('"R_lite"' in text or ('"graph"' in text and '"containment"' in text))


_KEY = re.compile(r"(- )?[A-Za-z_][\w-]*:(\s.*)?|- .*")
SLURM_UNITS = re.compile("|".join(rf"^{plugin}[ \t]*:\s*\{{?\s*{units}[ \t]*:" for plugin, units in (
    ("tree", "switches"), ("block", "blocks"), ("ring", "rings"), ("torus3d", "toruses"))), re.MULTILINE)


def _is_other_yaml(document: Document) -> bool:
    """Return whether the first two lines are keys of YAML, the first at its left end, but not of Slurm's topology.yaml."""
    lines = [line for _, line in document.head(3) if line.strip() != "---"][:2]
    return (len(lines) == 2 and all(_KEY.fullmatch(line.strip()[:HEAD]) for line in lines) and not lines[0][0].isspace()
            and ":" in lines[0] + lines[1] and SLURM_UNITS.search(document.text[:HEAD]) is None
            and not _SLURM(document))


def _is_other_json(document: Document) -> bool:
    """Return whether a text is JSON of none of the formats that are known by name."""
    text = document.text
    return (re.match(r"[{\[]\s*[\"\[{]", text[:HEAD].lstrip()) is not None and not text.lstrip().startswith("{'")
            and '"network_layers"' not in text and '"node_info"' not in text
            and not any(form.looks_like(document) for form in FOREIGN if form.looks_like is not _is_other_json))


_SLURM = _has_line(r"((?i:SwitchName|BlockName|NodeName|TopologyPlugin)[ \t]*=|-[ \t]+topology:)")
_MACHINE = [re.compile(rf"^[ \t]*{line}", re.MULTILINE) for line in (
    r'title[ \t]*=[ \t]*"', r"(\[link_bandwidth\]|link_bandwidth[ \t]*=)", r"(\[tasks_per_node\]|tasks_per_node[ \t]*=)")]


def _is_machine(document: Document) -> bool:
    return all(line.search(document.text[:HEAD]) for line in _MACHINE)


FABRIC_HEAD = r'^(Switch|Ca|Hca|Rt)\s+[0-9]{1,5}\s+"[^"\n]+"'  # of a node, in the output of ibnetdiscover
TARGETS = ("cmplt", "cmpltw", "deco", "dist", "hcub", "ltleaf", "mesh2D", "mesh3D", "meshXD", "sub", "tleaf", "torus2D",
           "torus3D", "torusXD", "varcmplt", "varhcub")  # Scotch 7.0 user's guide, "Target files"
FOREIGN = (
    Foreign("a METIS graph", is_metis, _NAMED, (GRAPH, DESCRIPTION)),
    Foreign("a Scotch graph (.grf)", _is_scotch_graph, _EDGES),
    Foreign("a Scotch target (.tgt)", _begins(rf"({'|'.join(TARGETS)})\s+[0-9]"),
            "name it with `network`; pencilmap network FILE shows it", (GRAPH, DESCRIPTION)),
    Foreign("a DOT graph (Graphviz)", _begins(r"(strict\s+)?(di)?graph\b[^\[\]{]{0,200}\{"), _NAMED, (GRAPH, DESCRIPTION)),
    Foreign("a GML graph", _begins(r"(creator[^\n]*\s+|version\s+\S+\s+|directed\s+[01]\s+)*graph\s*\[\s*[a-z]"),
            "convert it to GraphML, e.g. by networkx.read_gml and write_graphml"),
    Foreign("a GEXF graph", _begins(r"<gexf\b"), "convert it to GraphML, e.g. by networkx.read_gexf and write_graphml"),
    Foreign("a JSON graph", _is_json_graph,
            "convert it to GraphML, e.g. by networkx.node_link_graph and write_graphml"),
    Foreign("a Pajek network", _begins(r"\*vertices\b"),
            "convert it to GraphML, e.g. by networkx.read_pajek and write_graphml"),
    Foreign("a Matrix Market file", _begins("%%matrixmarket"), _EDGES, (TRAFFIC,)),
    Foreign("a SimGrid platform", _begins(r"<platform\b"), _NAMED, (GRAPH, DESCRIPTION)),
    Foreign("a program that builds a SimGrid platform",
            _has_line(r"(#include\s*<simgrid/|(from|import)\s+simgrid\b|(local\s+\w+\s*=\s*)?require\W+simgrid\b)"),
            f"write the platform as XML, and {_NAMED}"),
    Foreign("the output of ibnetdiscover", _has_line(FABRIC_HEAD.removeprefix("^")), _NAMED, (GRAPH, DESCRIPTION)),
    Foreign("the output of ibnetdiscover -l or -p", _has_line(r"((Switch|Ca|Rt)\s*: 0x[0-9a-f]+ ports"
                                                              r"|(SW|CA|RT)\s+[0-9]+\s+[0-9]+\s+0x[0-9a-f]+\s)"),
            "run ibnetdiscover without this option, and name the file with `network`"),
    Foreign("JSON of NVIDIA topograph", lambda document: (document.text[:HEAD].lstrip().startswith("{")
                                                          and '"network_layers"' in document.text), _NAMED,
            (GRAPH, DESCRIPTION)),
    Foreign("iblinkinfo output", _has_line(r"(CA: .*:|Switch:? 0x[0-9a-f]+ .*:)\s*$"), _FABRIC),
    Foreign("OpenSM's list of the subnet", _begins(r"\{ (CA|SW|RT) Ports:"), _FABRIC),
    Foreign("the output of sinfo or squeue", _has_line(r"[A-Z].* NODELIST(\(REASON\))?\s*$"),
            "write the hosts to a file, as scontrol show hostnames prints them"),
    Foreign("the output of scontrol show job", _has_line(r"JobId=[0-9]+ "),
            "run pencilmap network inside the job, or write its NodeList to a file"),
    Foreign("a BookSim network (anynet)", _has_line(r"router\s+[0-9]+\s+(node|router)\s+[0-9]+"),
            "for `network` write one edge in each line, and a line router0 {'kind': 'switch'} for each router"),
    Foreign("Slurm's topology file (topology.conf, topology.yaml or slurm.conf)",
            _SLURM, _NAMED, (GRAPH, DESCRIPTION)),
    Foreign("hwloc XML", _begins(r"<topology\b"), f"for `network` or `hwloc` name it there, and {_DISCOVER}",
            (GRAPH, DESCRIPTION)),
    Foreign("a GraphML graph", _begins(r"<(\w+:)?graphml\b"), "name it with `network`", (GRAPH, DESCRIPTION)),
    Foreign("an Open MPI rankfile", _has_line(r"rank\s+[0-9]+\s*=\s*\S"), "pencilmap check FILE reads it", (PLACEMENT,)),
    Foreign("a machine file", _is_machine, "give it as `machine` FILE.toml"),
    Foreign("a record of measured times", _begins(r'\{\s*"schema"\s*:\s*"pencilmap-'),
            "pencilmap compare reads run records"),
    Foreign("traffic between ranks", _has_line(r"(pencilmap traffic [0-9]|[EI]\t[0-9]+\t[0-9]+\t[0-9]+ bytes|"
                                               r"<ipm_job_profile\b|~~~~ Process [0-9]+ of|\| Rank <-> Rank )"),
            "give it as `traffic` FILE", (TRAFFIC,)),
    Foreign("a report of mpiP or CrayPat", _begins(r"(@ mpiP\s|CrayPat/X:)"), "trace the program with pencilmap trace"),
    Foreign("NCCL's or RCCL's topology of a node", _begins(r"<(system|graphs) version="), _INSIDE),
    Foreign("the output of nvidia-smi topo -m or rocm-smi --showtopo",
            _has_line(r"((\x1b\[4m)?GPU0[ \t\x1b].*(CPU Affinity|GPU1|[ \t]X[ \t])|=+ ?ROCm System Management Interface)"),
            _INSIDE),
    Foreign("the output of NetQ (netq show)", _has_line(r"Matching \S+ records:"),
            "for `network` write Hostname and Peer Hostname of each line, and leaf01 {'kind': 'switch'} for each switch"),
    Foreign("a file of DIMACS", _has_line(r"p[ \t]+(edges?|col|sp|max|min|asn|tw|td)[ \t]+[0-9]+[ \t]+[0-9]+[ \t]*$"),
            _EDGES),
    Foreign("resources of Flux (R or its JGF)", _is_flux,
            "write the hosts to a file, as flux hostlist prints them; edges of its graph tell containment, not cables"),
    Foreign("YAML of another tool", _is_other_yaml, _EDGES),
    Foreign("JSON of another tool", _is_other_json, _EDGES, (PLACEMENT, NODES, TRAFFIC)),
    Foreign("a table of addresses (/etc/hosts)", _begins(r"[0-9]{1,3}(\.[0-9]{1,3}){3}[ \t]+[A-Za-z]"),
            "write the names of the hosts alone, one in each line"),
    Foreign("the images of a placement", _begins(r"image\s+\S"), "name the placement images:FILE"),
    Foreign("a CSV table", _is_csv, "write its cells with blanks between them, and leave the head out"),
)


def foreign_format(document: Document, kind: str) -> Foreign | None:
    """Return the foreign format of a document, or None if no row of the table matches."""
    for form in FOREIGN:
        if kind not in form.read_as and form.looks_like(document):
            return form
    return None


def refuse_foreign(document: Document, kind: str, error: type[PencilmapError] = MapfileError) -> None:
    """Raise `error` if the document has a format that readers of this kind of file do not accept.

    Parameters
    ----------
    kind : str
        `GRAPH`, `DESCRIPTION`, `PLACEMENT` or `NODES`.

    Examples
    --------
    >>> from pencilmap.mapper.formats.lines import Document
    >>> refuse_foreign(Document(b"a b\\n", "net"), GRAPH)
    >>> try:
    ...     refuse_foreign(Document(b"%%MatrixMarket matrix\\n", "net.mtx"), GRAPH)
    ... except MapfileError as error:
    ...     print(error)  # doctest: +NORMALIZE_WHITESPACE
    net.mtx looks like a Matrix Market file, which is not read as a graph; for `network` write one edge in each line, e.g.
    a b 12.5 GB/s, or GraphML
    """
    foreign = foreign_format(document, kind)
    if foreign is not None:
        raise error(f"{document.label} looks like {foreign.title}, which is not read as {kind}; {foreign.advice}")


def network_title(document: Document) -> str:
    """Return the title of a document that describes a network in a format of another program, "" for other documents.

    >>> from pencilmap.mapper.formats.lines import Document
    >>> network_title(Document(b"graph {\\n a -- b\\n}", "net.dot")), network_title(Document(b"a b\\n", "net"))
    ('a DOT graph (Graphviz)', '')
    """
    return next((form.title for form in FOREIGN if GRAPH in form.read_as and form.looks_like(document)), "")


@contextmanager
def named_format(name: str, document: Document, looks_like: Mapping[str, Callable[[], bool]],
                 error: type[PencilmapError] = MapfileError) -> Iterator[None]:
    """Add to a refusal in a named format what the document looks like, if it does not look like the named format.

    Parameters
    ----------
    name : str
        The named format.
    looks_like : mapping of str to callable
        For the named format and all others, whether the document looks like it.

    Raises
    ------
    PencilmapError
        The refusal, of type `error` if a format is named.
    """
    try:
        yield
    except PencilmapError as refusal:
        if looks_like[name]():
            raise
        other = next((other for other, test in looks_like.items() if test()), None)
        foreign = next((form.title for form in FOREIGN if form.looks_like(document)), None)
        if other is None and foreign is None:
            raise
        raise error(f"{refusal}; the file looks like "
                    + (f"one of format {other}: name that format, or none" if other else f"{foreign}")) from refusal


_OPEN_MPI = re.compile(r"\s*\S+((\s+|:)(slots|max[-_]slots|cpu|count|cpu_max|slots_max|count_max)\s*=\s*[0-9]+)+\s*")


def why_not_a_placement(line: str) -> str:
    """Return the sentences that explain why a line of resources is no placement, or "" for any other line.

    >>> why_not_a_placement("n1 slots=2 max_slots=4").partition(",")[0]
    "'n1 slots=2 max_slots=4' is of a hostfile of Open MPI"
    >>> why_not_a_placement("n1:2")
    ''
    """
    if not _OPEN_MPI.fullmatch(line):
        return ""
    return (f"{line.strip()[:40]!r} is of a hostfile of Open MPI, a list of resources and not a placement: options of "
            "mpirun decide where each rank runs. Write a HOST for each rank (format hostfile), or give the names of the "
            "nodes with `nodes` and make a placement")


def names_hosts(lines: list[tuple[int, str]]) -> bool:
    """Return whether one of the first lines of a file has a word that is a name and no number.

    >>> names_hosts([(1, "0"), (2, "0a")]), names_hosts([(1, "0-3,7"), (2, "4")])
    (True, False)
    """
    return any(re.search("[A-Za-z_.]", line) for _, line in lines)
