"""Files of the traffic of a program: a table from a format's name to its recogniser and its reader.

A new format is a file here and a line below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from os.path import exists

from pencilmap.mapper.formats.foreign import TRAFFIC, foreign_format, named_format
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.traffic_files import intel, ipm, matrices, monitoring, traced
from pencilmap.mapper.traffic_files.matrices import without_head
from pencilmap.model.base.errors import TrafficError, near
from pencilmap.model.base.reading import reading
from pencilmap.model.traffic.program import Traffic


@dataclass(frozen=True)
class TrafficFormat:
    """A line of the table.

    looks_like : document -> bool
    read : document -> Traffic
    """

    title: str
    looks_like: Callable[[Document], bool]
    read: Callable[[Document], Traffic]


TRAFFIC_FILES = {
    "trace": TrafficFormat("as pencilmap trace writes it", traced.looks_like, traced.read),
    "monitoring": TrafficFormat("Open MPI's monitoring, PREFIX.RANK.prof", monitoring.looks_like, monitoring.read),
    "ipm": TrafficFormat("IPM's profile, XML (IPM_LOG=full)", ipm.looks_like, ipm.read),
    "intel": TrafficFormat("Intel MPI's statistics (I_MPI_STATS), or aps-report -x", intel.looks_like, intel.read),
    "matrix-market": TrafficFormat("Matrix Market, as scipy.io.mmwrite writes it", matrices.looks_like_market,
                                   matrices.read_market),
    "dense": TrafficFormat("line i has the bytes of rank i to each rank, as fft_runner --byte-matrix writes it",
                           matrices.looks_like_dense, matrices.read_dense),
    "sparse": TrafficFormat("from to bytes [messages] in each line, or a table whose head names these columns",
                            matrices.looks_like_sparse, matrices.read_sparse),
}
TABLES = ("dense", "sparse")  # formats whose numbers may have commas between them and a head above
_KNOWN = "; ".join(f"{name}: {form.title}" for name, form in TRAFFIC_FILES.items())


def read_traffic(path: str | PathLike[str], format_name: str | None = None) -> Traffic:
    """Return the traffic in a file.

    Parameters
    ----------
    path : str or PathLike
        A file, or ``FILE,FORMAT``, for example ``traffic.txt,dense``.
    format_name : str, optional
        A name of `TRAFFIC_FILES`; recognised by the content by default.

    Raises
    ------
    TrafficError
        If the file is not understood. The message will name the file, and the line if there is one.
    """
    name, _, form = fspath(path).rpartition(",")
    if form in TRAFFIC_FILES and format_name is None and not exists(path):
        path, format_name = name, form
    return parse_traffic(read_document(path, TrafficError), format_name)


def parse_traffic(document: Document, format_name: str | None = None) -> Traffic:
    """Return the traffic in a document, as `read_traffic` does for a file.

    Examples
    --------
    >>> parse_traffic(Document(b"0 1 800\\n1 0 800\\n", "demo")).total.bytes.toarray().tolist()
    [[0, 800], [800, 0]]
    """
    with reading(document.label, TrafficError, len(document.text)):
        if not document.text.strip():
            raise TrafficError(f"{document.label} is empty; formats of traffic are {_KNOWN}")
        if format_name in TABLES or not (format_name or any(form.looks_like(document) for name, form in TRAFFIC_FILES.items()
                                                            if name not in TABLES)):
            document, head = without_head(document)
            format_name = format_name or head
        name = format_name or recognise(document)
        if name not in TRAFFIC_FILES:
            raise TrafficError(f"traffic format {name!r} is unknown{near(name, TRAFFIC_FILES)}; known are "
                               f"{', '.join(TRAFFIC_FILES)}")
        looks_like = {other: partial(form.looks_like, document) for other, form in TRAFFIC_FILES.items()}
        with named_format(name, document, looks_like, TrafficError):
            return TRAFFIC_FILES[name].read(document)


def recognise(document: Document) -> str:
    """Return the name of the format of a document.

    Raises
    ------
    TrafficError
        If it has no format of the table, or two.
    """
    names = [name for name, form in TRAFFIC_FILES.items() if form.looks_like(document)]
    if len(names) == 1:
        return names[0]
    if names:
        raise TrafficError(f"{document.label} can be read as {' or as '.join(names)}; name the format, e.g. "
                           f"{document.label},{names[0]}")
    other = foreign_format(document, TRAFFIC)
    if other:
        raise TrafficError(f"{document.label} looks like {other.title}, which is not read as traffic; trace the program "
                           "with pencilmap trace, or write from, to and bytes of each pair of ranks in a line")
    number, line = (document.lines(longest=None) or document.lines("\n", None))[0]
    raise TrafficError(f"{document.label} line {number}: {line.strip()[:40]!r} is not traffic; known are {_KNOWN}")
