"""Every published table and figure of the five sources, computed again: a file for each source.

To add a source, write a file here with a dictionary `FIGURES` of `Figure`, and a line in the table below.
"""

from pkgutil import resolve_name

from pencilmap.model.base.errors import RecordError, near
from pencilmap.scripts.reproduce.figure import Figure

_TITLES = {
    "schulz": "R. Schulz, 3D FFT with 2D decomposition (2008)",
    "p3dfft": "D. Pekurovsky, P3DFFT, SIAM J. Sci. Comput. 34 (2012)",
    "jagode": "H. Jagode, J. Hein, A. Trew, UT-CS-08-613 (2008)",
    "jocksch": "A. Jocksch, N. Tselepidis, V. Karakasis, CUG 2021",
    "cramer": "C. Cramer, J. Board, 4th Annual Linux Showcase (2000)",
}
SOURCES: dict[str, dict[str, Figure]] = {name: resolve_name(f"{__name__}.{name}:FIGURES") for name in _TITLES}


def title_of(source: str) -> str:
    """Return authors, title and year of a source."""
    return _TITLES[source]


def figure_named(text: str) -> Figure:
    """Return the figure ``SOURCE:FIGURE``.

    Raises
    ------
    RecordError
        If there is no such figure, with the nearest name.
    """
    source, _, name = text.partition(":")
    if source not in SOURCES:
        raise RecordError(f"source {source[:40]!r} is unknown{near(source, SOURCES)}; known are {', '.join(SOURCES)}")
    if name not in SOURCES[source]:
        raise RecordError(f"{source} has no figure {name[:40]!r}{near(name, SOURCES[source])}; it has "
                          f"{', '.join(SOURCES[source])}")
    return SOURCES[source][name]
