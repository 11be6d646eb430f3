"""Quantities with units: text at the interfaces, SI floats inside."""

import re
from functools import cache
from math import ceil

from pencilmap.model.base.errors import UnitError

# Reading all definitions of pint takes 0.7 s. In those definitions a bit is a plain number, so 5 GHz would be bits.
_DEFINITIONS = """
pico- = 1e-12 = p-
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = μ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
pebi- = 1125899906842624 = Pi-
exbi- = 1152921504606846976 = Ei-
second = [time] = s = sec
minute = 60 * second = min
hour = 60 * minute = h = hr
hertz = 1 / second = Hz
bit = [information]
byte = 8 * bit = B = octet
baud = bit / second = Bd = bps
flop = [operation]
""".strip().splitlines()


@cache
def _registry():
    import pint  # slow to import, and not every command reads a quantity

    registry = pint.UnitRegistry(None)
    registry.load_definitions(_DEFINITIONS)
    return registry


def parse(text: str, unit: str) -> float:
    """Turn ``"148 MB/s"`` into a float in an SI unit.

    Parameters
    ----------
    text : str
        A number and a unit, e.g. ``"141.1 MiB/s"``, ``"100 ns"``, ``"1.4 Gbit/s"``.
    unit : str
        The SI unit of the result, e.g. ``"byte/s"``, ``"s"`` or ``"flop/s"``.

    Raises
    ------
    UnitError
        If `text` is no number with a unit of that kind.

    Examples
    --------
    >>> parse("148 MB/s", "byte/s")
    148000000.0
    >>> parse("1.4 Gbit/s", "byte/s")
    175000000.0
    >>> parse("2.8 Gflop/s", "flop/s")
    2800000000.0
    """
    import pint

    try:
        if not _QUANTITY.fullmatch(text.strip()):  # pint would also compute "9**9**9 B/s" and never finish
            raise ValueError(text)
        quantity = _registry().Quantity(text)
        if quantity.to_root_units().units != _registry().Quantity(1, unit).to_root_units().units:
            raise ValueError(text)
        value = float(quantity.m_as(unit))
    except (pint.errors.PintError, ValueError, TypeError, AssertionError, AttributeError, SyntaxError) as error:
        meant = _meant(text, unit)
        raise UnitError(f"{text[:60]!r} is not a quantity in {unit}{f' (did you mean {meant!r}?)' if meant else ''}; write "
                        f"a number and a unit, e.g. {_EXAMPLE.get(unit, unit)!r}; units are "
                        f"{', '.join(UNITS.get(unit, (unit,)))}") from error
    if not value >= 0 or value == float("inf"):
        raise UnitError(f"{text!r} is not a finite quantity of zero or more")
    return value


def _meant(text: str, unit: str) -> str | None:
    """Return the same number with the intended unit if ``/s`` or the case of letters alone is wrong, else None.

    >>> _meant("1Gbit", "byte/s"), _meant("10 GBps", "byte/s"), _meant("5 GB/s", "byte"), _meant("7", "byte/s")
    ('1 Gbit/s', '10 GB/s', '5 GB', None)
    """
    found = re.fullmatch(r"(\S*?[0-9.])\s*([A-Za-z]{1,30}?)(ps|\s*/\s*s|)", text.strip())
    if found is None or not _QUANTITY.fullmatch(found[1]):
        return None
    number, name, _ = found.groups()
    for known in UNITS.get(unit, ()):
        word = known.removesuffix("/s")
        if name == word or (len(word) > 2 and name.lower() == word.lower()):  # gb may be bits or bytes
            return f"{number} {known}"
    return None


_QUANTITY = re.compile(r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?"
                       r"(\s*[A-Za-zµμ_]{1,30}(\s*/\s*[A-Za-zµμ_]{1,30})*)?")
#: Spellings of units that messages and documents list. Whole words (2 gigabytes/second) and other prefixes are also read.
UNITS = {
    "byte/s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "KiB/s", "MiB/s", "GiB/s", "bit/s", "Mbit/s", "Gbit/s"),
    "byte": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB"),
    "s": ("s", "ms", "us", "ns"),
    "flop/s": ("flop/s", "Mflop/s", "Gflop/s", "Tflop/s"),
}
_EXAMPLE = {"byte/s": "148 MB/s", "byte": "4 MiB", "s": "100 ns", "flop/s": "2.8 Gflop/s"}


def milliseconds(seconds: float | None) -> str:
    """Return a time in ms with four significant digits, ``-`` for None.

    >>> milliseconds(0.0283408), milliseconds(None)
    ('28.34 ms', '-')
    """
    return "-" if seconds is None else f"{_four(seconds * 1e3)} ms"


def megabytes_per_second(rate: float | None) -> str:
    """Return a bandwidth in MB/s (1e6 bytes per second), ``-`` for None.

    >>> megabytes_per_second(148e6)
    '148.0 MB/s'
    """
    return "-" if rate is None else f"{_four(rate / 1e6)} MB/s"


def to_limit(certificate: float | None) -> str:
    """Return the distance of a cost to its proved limit, ``-`` without a limit. Small distances are rounded up.

    `certificate` is the cost over the limit.

    >>> to_limit(1.0), to_limit(1.0004), to_limit(1.264), to_limit(None)
    ('0 %', '0.1 %', '26 %', '-')
    """
    if certificate is None:
        return "-"
    if certificate <= 1 + 1e-9:
        return "0 %"
    above = 100 * (certificate - 1)
    return f"{above:.0f} %" if above >= 10 else f"{ceil(10 * above - 1e-6) / 10:g} %"


def _four(value: float) -> str:
    if value == 0:
        return "0"
    from math import floor, log10

    return f"{value:.{max(0, 3 - floor(log10(abs(value))))}f}"


def amount(n_bytes: float) -> str:
    """Format bytes.

    >>> amount(12_500_000), amount(400_000), amount(12)
    ('12.5 MB', '400 kB', '12 B')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes:.4g} B"
