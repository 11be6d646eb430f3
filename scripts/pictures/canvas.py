"""Common code of all pictures: one style, and files with the same bytes when drawn again.

For papers: vector formats, text kept as text (fonts embedded in PDF), 7 inches wide, and the colours of Okabe and Ito, which
colour-blind readers can distinguish. Important marks also differ in shape. Matplotlib is imported only when a picture is
drawn, because the import takes longer than most commands.
"""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from io import BytesIO
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from pencilmap.mapper.base.files import write_whole
from pencilmap.model.base.errors import FigureError

Target: TypeAlias = str | PathLike[str] | BinaryIO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches
TALLEST = 9.5
BLUE, VERMILLION, GREEN, ORANGE, SKY, PURPLE, YELLOW, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#000000")
CYCLE = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE, YELLOW, BLACK)  # for each of up to eight dimensions
GREY, PALE = "#9a9a9a", "#d4d4d4"
RAMP = ("#d9dee4", "#d9a441", "#7a1f5c")  # of loads, from none to the largest, as in the report

_STYLE = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 8,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "lines.linewidth": 1.2, "text.parse_math": False, "legend.frameon": False, "hatch.linewidth": 0.6,
    "svg.fonttype": "none", "svg.hashsalt": "pencilmap", "pdf.fonttype": 42, "path.simplify": False,
}
_METADATA: dict[str, dict[str, Any]] = {  # nothing that depends on the run or on the machine
    "svg": {"Date": None, "Creator": "pencilmap"},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "pencilmap", "Producer": "pencilmap"},
    "png": {"Software": "pencilmap"},
}


def check_matplotlib() -> None:
    """Raise FigureError if matplotlib is missing; pencilmap does not require it, because other commands work without."""
    if find_spec("matplotlib") is None:
        raise FigureError("pictures need matplotlib, which is not installed: pip install matplotlib")


def suffix(path: str | PathLike[str]) -> str:
    """Return ``svg``, ``png`` or ``pdf``.

    Raises
    ------
    FigureError
        If the suffix is unknown, or matplotlib is missing.
    """
    check_matplotlib()
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in _METADATA:
        raise FigureError(f"{path}: a picture ends in {', '.join('.' + kind for kind in _METADATA)}, not in "
                          f"{Path(path).suffix or 'nothing'!r}")
    return ending


def heading(text: str, width: float) -> tuple[str, float]:
    """Break a title into lines of a width in inches; return the text and its height."""
    lines = wrap(text, int(width * 14), break_on_hyphens=False)
    return "\n".join(lines), 0.16 * len(lines) + 0.1


@contextmanager
def figure(height: float, width: float = WIDTH, layout: str | None = "constrained") -> Iterator["Figure"]:
    """Yield an empty figure of that height in inches, in our style. Matplotlib does not print about its caches.

    Raises
    ------
    FigureError
        If matplotlib is missing.
    """
    check_matplotlib()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # which a full or missing home does not change
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout=layout)


def load_colours() -> Any:
    """Return the colours of loads, for matplotlib."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("load", RAMP)


def save(drawn: "Figure", path: Target) -> None:
    """Write a figure in the format of its suffix, completely or not at all; call it inside `figure`.

    A binary file object in place of a path gets an SVG. Numbers of logarithmic axes are plain, because no text is taken as
    mathematics.

    Raises
    ------
    FigureError
        If the font of another format lacks a letter.
    """
    from matplotlib.ticker import LogFormatter, LogFormatterSciNotation

    for axis in (axis for axes in drawn.axes for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
            axis.set_major_formatter("{x:g}")
        if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
            axis.set_minor_formatter(LogFormatter())
    if not isinstance(path, str | PathLike):
        _render(drawn, path, "svg")
        return
    kind = suffix(path)
    content = BytesIO()
    try:
        _render(drawn, content, kind)
    except UserWarning as missing:
        raise FigureError(f"{path}: {missing} An SVG leaves the font to its reader") from missing
    write_whole(path, content.getvalue(), FigureError)


def _render(drawn: "Figure", file: BinaryIO, kind: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore" if kind == "svg" else "error", "Glyph .* missing from", UserWarning)
        if kind != "svg":
            drawn.savefig(file, format=kind, dpi=200, metadata=_METADATA[kind])
            return
        content = BytesIO()
        drawn.savefig(content, format=kind, metadata=_METADATA[kind])
        file.write(compact(content.getvalue().decode("utf-8")).encode("utf-8"))


def compact(svg: str) -> str:
    """Return an SVG of matplotlib with one line for each artist, and numbers in hundredths of a point.

    >>> print(compact('<g>\\n   <g id="line">\\n    <path d="M 0.1234567 2 \\nz\\n"/>\\n   </g>\\n</g>'))
    <g>
       <g id="line"><path d="M 0.12 2 z "/>
       </g>
    </g>
    """
    def short(tag: re.Match[str]) -> str:
        return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", " ".join(tag[0].split()))

    return re.sub(r"\n {4,}(?=<)", "", re.sub(r"<[^>]*>", short, svg))
