"""Ranges in which measured times and gains lie nine times in ten, from machines that were left out.

Idea: a machine that nobody measured is like a machine that was left out. Ranges are therefore tables of errors on published
exchanges, by what is known of the machine (public figures, or figures fitted to its own exchanges), by network and number
of nodes, and by the size of a message. Two placements of one exchange share most of the error, so that the range of a gain
comes from measured ratios of placements.
Source: `pencilmap.model.times.published` computes the table (docs/published-times.md).
"""

from typing import NamedTuple

from pencilmap.model.base.units import amount

LIKELY = 0.9                       # share of the measured times in a range
SIZES = 1 << 10, 1 << 12, 1 << 14  # bytes: each begins a class of messages with its own range
TORUS, SWITCHES, TWISTED = "torus", "switches", "twisted torus"
COUNTED, SOME, MANY = "torus or up to 4 nodes", "5 to 16 nodes", "from 17 nodes"  # classes with public figures
INSIDE, BEYOND = "up to the fitted nodes", "beyond the fitted nodes"               # classes with fitted figures
PUBLIC_GAIN, FITTED_GAIN = "gain by public figures", "gain by fitted figures"
CLASSES = COUNTED, SOME, MANY, INSIDE, BEYOND
RANGES = {  # class and smallest message: range; by write_tables
    ("torus or up to 4 nodes", 1024): (1, 4.08),  # 118 values, machines: 7
    ("torus or up to 4 nodes", 4096): (1, 2.95),  # 118 values, machines: 7
    ("torus or up to 4 nodes", 16384): (1, 2.51),  # 490 values, machines: 8
    ("5 to 16 nodes", 1024): (1, 5.84),  # 100 values, machines: 6
    ("5 to 16 nodes", 4096): (1, 4.16),  # 98 values, machines: 6
    ("5 to 16 nodes", 16384): (1, 2.87),  # 347 values, machines: 8
    ("from 17 nodes", 1024): (1, 7.93),  # 54 values, machines: 7
    ("from 17 nodes", 4096): (1, 6.45),  # 58 values, machines: 7
    ("from 17 nodes", 16384): (1, 5.01),  # 138 values, machines: 7
    ("up to the fitted nodes", 1024): (0.569, 1.71),  # 107 values, machines: 7
    ("up to the fitted nodes", 4096): (0.698, 1.35),  # 105 values, machines: 7
    ("up to the fitted nodes", 16384): (0.825, 1.47),  # 412 values, machines: 8
    ("beyond the fitted nodes", 1024): (1, 2.99),  # 52 values, machines: 6
    ("beyond the fitted nodes", 4096): (0.977, 3.29),  # 52 values, machines: 6
    ("beyond the fitted nodes", 16384): (0.968, 4),  # 128 values, machines: 7
    ("gain by public figures", 0): (0.83, 1.02),  # 38 values, machines: 3
    ("gain by fitted figures", 0): (0.883, 1.09),  # 19 values, machines: 1
}
MOST_NODES = {TORUS: 512, SWITCHES: 410}  # measured with public figures
MOST_GROWTH = 32                          # measured nodes over fitted nodes


class Expected(NamedTuple):
    """The range of measured over predicted time, or the reason why there is none."""

    range: tuple[float, float] | None
    reason: str = ""


def no_range(what: str) -> dict[str, str | None]:
    """Return the range of a kind of exchange that nobody measured, as JSON values.

    >>> no_range("halos")
    {'time_range_s': None, 'unmeasured': 'halos not measured'}
    """
    return {"time_range_s": None, "unmeasured": f"{what} not measured"}


def class_of(network: str, nodes: int, fitted_nodes: int | None = None) -> str:
    """Return the class of an exchange on a network, one of `CLASSES`.

    >>> class_of(SWITCHES, 32), class_of(TORUS, 32), class_of(SWITCHES, 32, fitted_nodes=16)
    ('from 17 nodes', 'torus or up to 4 nodes', 'beyond the fitted nodes')
    """
    if fitted_nodes:
        return INSIDE if nodes <= fitted_nodes else BEYOND
    return COUNTED if network == TORUS or nodes <= 4 else SOME if nodes <= 16 else MANY


def size_of(message_bytes: float) -> int:
    """Return the class of `SIZES` by its smallest message; 0 below all.

    >>> size_of(1024), size_of(20000), size_of(1000)
    (1024, 16384, 0)
    """
    return max((least for least in SIZES if least <= message_bytes * (1 + 1e-9)), default=0)


def expected_range(network: str, nodes: int, message_bytes: float, fitted_nodes: int | None = None,
                   fitted_message: float | None = None) -> Expected:
    """Return the range of measured over predicted time of an exchange.

    Parameters
    ----------
    network : {"torus", "switches", "twisted torus"}
    nodes : int
        Nodes that take part.
    message_bytes : float
        From a task to each other task of its group.
    fitted_nodes : int, optional
        Largest number of nodes of the exchanges to which figures of the machine were fitted; None if only public figures
        are known.
    fitted_message : float, optional
        Bytes of the smallest message of these exchanges.

    Examples
    --------
    >>> expected_range("torus", 512, 512).reason
    'messages below 1 KiB'
    >>> low, high = expected_range("switches", 8, 65536, fitted_nodes=16).range
    >>> 0.6 < low < 1 < high < 1.5
    True
    """
    if reason := unmeasured(network, nodes, message_bytes, fitted_nodes, fitted_message):
        return Expected(None, reason)
    return Expected(RANGES[class_of(network, nodes, fitted_nodes), size_of(message_bytes)])


def expected_gain(network: str, nodes: int, message_bytes: float, fitted_nodes: int | None = None,
                  fitted_message: float | None = None) -> Expected:
    """Return the range of the measured over the predicted gain of a placement over another, of the same exchange.

    Parameters
    ----------
    network, nodes, message_bytes, fitted_nodes, fitted_message
        As for `expected_range`. With fitted figures messages of any fitted size were measured.
    """
    if reason := unmeasured(network, nodes, message_bytes, fitted_nodes, fitted_message, 0 if fitted_nodes else SIZES[0]):
        return Expected(None, reason)
    return Expected(RANGES[FITTED_GAIN if fitted_nodes else PUBLIC_GAIN, 0])


def unmeasured(network: str, nodes: int, message_bytes: float, fitted_nodes: int | None = None,
               fitted_message: float | None = None, least: int = SIZES[0]) -> str:
    """Return the reason why an exchange has no range, "" if it has one; `least` bytes of a message were measured."""
    if network not in MOST_NODES:
        return f"{network} not measured"
    most = MOST_GROWTH * fitted_nodes if fitted_nodes else MOST_NODES[network]
    if nodes > most:
        return f"above {most} nodes"
    if fitted_nodes and fitted_message and message_bytes < fitted_message * (1 - 1e-9):
        return f"messages below the fitted {amount(fitted_message)}"
    return f"messages below {least >> 10} KiB" if size_of(message_bytes) < least else ""
