"""Quantities with units: text at the interfaces, SI floats inside."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from math import inf

from pencilmap.model.base.errors import UnitError

_TIME, _RATE, _INFORMATION, _OPERATION = (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, 0, 1)  # powers
_UNITS = {  # factor and powers of each unit
    "second": (1, _TIME), "minute": (60, _TIME), "hour": (3600, _TIME), "hertz": (1, _RATE), "bit": (1, _INFORMATION),
    "byte": (8, _INFORMATION), "octet": (8, _INFORMATION), "baud": (1, (-1, 1, 0)), "flop": (1, _OPERATION),
}
_SYMBOLS = {"s": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "Hz": "hertz", "B": "byte",
            "Bd": "baud", "bps": "baud"}
_PREFIXES = {  # factor of each name and symbol
    "": Fraction(1), **dict.fromkeys(("micro", "u", "µ", "μ"), Fraction(1, 10**6)),
    **{text: Fraction(10)**power for power, name in (
        (-12, "pico"), (-9, "nano"), (-3, "milli"), (3, "kilo"), (6, "mega"), (9, "giga"), (12, "tera"), (15, "peta"),
        (18, "exa")) for text in (name, name[0] if power < 6 else name[0].upper())},
    **{text: Fraction(2)**power for power, name in (
        (10, "kibi"), (20, "mebi"), (30, "gibi"), (40, "tebi"), (50, "pebi"), (60, "exbi")) for text in (
        name, f"{name[0].upper()}i")},
}


def _word(word: str) -> tuple[Fraction, tuple[int, int, int]]:
    """Return the factor and the powers of a unit with its prefix, such as ``GB`` or ``gigabytes``. Raises ValueError."""
    for unit in (*_UNITS, *_SYMBOLS):
        for text in (unit, f"{unit}s") if len(unit) > 2 else (unit,):  # words have a plural
            if word.endswith(text) and word.removesuffix(text) in _PREFIXES:
                factor, powers = _UNITS[_SYMBOLS.get(unit, unit)]
                return factor * _PREFIXES[word.removesuffix(text)], powers
    raise ValueError(word)


def _in_bits(words: str) -> tuple[Fraction, tuple[int, ...]]:
    """Return the factor of a unit such as ``GB/s`` over seconds, bits and operations, and its powers. Raises ValueError."""
    factor: Fraction = Fraction(1)
    powers: tuple[int, ...] = (0, 0, 0)
    for number, word in enumerate(words.split("/") if words else ()):
        one, of_one = _word(word.strip())
        sign = -1 if number else 1
        factor, powers = factor * one**sign, tuple(a + sign * b for a, b in zip(powers, of_one))
    return factor, powers


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
    try:
        match = _QUANTITY.fullmatch(text.strip())
        (factor, powers), (whole, own_powers) = _in_bits(((match and match[3]) or "").strip()), _in_bits(unit)
        if match is None or powers != own_powers:
            raise ValueError(text)
        value = float(Fraction(f"{match[1]}{match[2] or ''}") * factor / whole)
    except OverflowError:
        value = inf
    except ValueError as error:
        meant = _meant(text, unit)
        raise UnitError(f"{text[:60]!r} is not a quantity in {unit}{f' (did you mean {meant!r}?)' if meant else ''}; write "
                        f"a number and a unit, e.g. {_EXAMPLE.get(unit, unit)!r}; units are "
                        f"{', '.join(UNITS.get(unit, (unit,)))}") from error
    if not 0 <= value < inf:
        raise UnitError(f"{text!r} is not a finite quantity of zero or more")
    if value and not SMALLEST <= value <= LARGEST:
        raise UnitError(f"{text[:60]!r} is too {'large' if value > 1 else 'small'}; write 0, or {SMALLEST:g} to {LARGEST:g} "
                        f"{unit}")
    return value


def _meant(text: str, unit: str) -> str | None:
    """Return the same number with the intended unit if ``/s`` or the case of letters alone is wrong, else None.

    >>> _meant("1Gbit", "byte/s"), _meant("10 GBps", "byte/s"), _meant("5 GB/s", "byte"), _meant("7", "byte/s")
    ('1 Gbit/s', '10 GB/s', '5 GB', None)
    >>> _meant("200 Gb/s", "byte/s"), _meant("200 gb/s", "byte/s")
    ('200 Gbit/s', None)
    """
    match = re.fullmatch(r"(\S*?[0-9.])\s*([A-Za-z]{1,30}?)(ps|\s*/\s*s|)", text.strip())
    if match is None or not _QUANTITY.fullmatch(match[1]):
        return None
    number, name, _ = match.groups()
    for known in UNITS.get(unit, ()):
        word = known.removesuffix("/s")
        if name in (word, word.removesuffix("it")) or (len(word) > 2 and name.lower() == word.lower()):  # gb may be both
            return f"{number} {known}"
    return None


SMALLEST, LARGEST = 1e-30, 1e30  # beyond them, products of a few quantities leave the range of numbers
_QUANTITY = re.compile(r"([+-]?(?:[0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30}))([eE][+-]?[0-9]{1,3})?"
                       r"(\s*[A-Za-zµμ_]{1,30}(\s*/\s*[A-Za-zµμ_]{1,30})*)?")
#: Spellings of units that messages and documents list. Whole words (2 gigabytes/second) and other prefixes are also read.
UNITS = {
    "byte/s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "KiB/s", "MiB/s", "GiB/s", "bit/s", "Mbit/s", "Gbit/s"),
    "byte": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB"),
    "s": ("s", "ms", "us", "ns"),
    "flop/s": ("flop/s", "Mflop/s", "Gflop/s", "Tflop/s"),
}
_EXAMPLE = {"byte/s": "148 MB/s", "byte": "4 MiB", "s": "100 ns", "flop/s": "2.8 Gflop/s"}


def expected_milliseconds(ends: tuple[float, float]) -> str:
    """Return a range of seconds in milliseconds, two digits each, rounded outwards.

    >>> expected_milliseconds((0.01849, 0.00528 * 4)), expected_milliseconds((0.0012, 0.1))
    ('18 to 22', '1.2 to 100')
    """
    low, high = (float(Context(2, rounding).create_decimal(f"{1e3 * end:.9g}"))
                 for end, rounding in zip(ends, (ROUND_FLOOR, ROUND_CEILING), strict=True))
    return f"{low:g} to {high:g}"


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


def could(certificate: float | None) -> str:
    """Return how many times faster the links could be at most, by a cost over its proved limit.

    >>> could(1.264), could(1.0), could(1.0004), could(None)
    ('1.26x', 'nothing', '1.01x', '-')
    """
    return "-" if certificate is None else "nothing" if certificate < 1 + 1e-9 else f"{max(certificate, 1.01):.2f}x"


def capitalised(words: str) -> str:
    """Return words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def counted(number: int, word: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "package"), counted(2, "switch")
    ('1 package', '2 switches')
    """
    return f"{number} {plural(word, number)}"


def plural(word: str, number: int) -> str:
    """Return a word for a number of things.

    >>> plural("leaf", 2), plural("switch", 2), plural("pod", 1)
    ('leaves', 'switches', 'pod')
    """
    if number == 1:
        return word
    return "leaves" if word == "leaf" else f"{word}es" if word.endswith("ch") else f"{word}s"
