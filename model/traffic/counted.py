"""Traffic between units of hosts by counting the members of each group in each unit, without a list of messages.

Idea: member a of group g sends w_g s_a r_b units to member b. So unit v sends to all others the sum over the groups of
w_g S_gv (R - R_gv), where S_gv and R_gv are the sums of s and r over the members of the group in v. Only pairs (g, v) with
members are stored: at most one for each rank. All sums are whole numbers.
Cost: sorting the ranks once for each level of units.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.traffic.exchange import Exchange, Traffic, summed, together, traffic_within


@dataclass(frozen=True)
class Counts:
    """Sums of the weights of each group in each unit: int arrays with one entry for each pair that occurs."""

    group: Ints
    unit: Ints
    sends: Ints
    receives: Ints
    pair: Ints  #: int array, shape (groups, size); number of the pair of each member


def counts(exchange: Exchange, unit_of_member: Ints, n_units: int) -> Counts:
    """Return the sums for each group and unit.

    Parameters
    ----------
    exchange : Exchange
    unit_of_member : int array, shape (groups, size)
    n_units : int

    Examples
    --------
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> row, _ = exchanges(ProcessGrid(4, 1))
    >>> found = counts(row, np.array([[0, 0, 0, 1]]), 2)
    >>> found.unit.tolist(), found.sends.tolist()
    ([0, 1], [3, 1])
    """
    groups = len(unit_of_member)
    keys = (np.arange(groups, dtype=np.int64)[:, None] * n_units + unit_of_member).ravel()
    found, pair = np.unique(keys, return_inverse=True)
    pair = pair.reshape(unit_of_member.shape)
    return Counts(found // n_units, found % n_units, summed(pair, exchange.send_weight, len(found)),
                  summed(pair, exchange.receive_weight, len(found)), pair)


def crossing(exchange: Exchange, ends: Ints, unit_of_end: Ints, n_units: int, host_of_end: Ints | None = None,
             class_of_end: Ints | None = None, n_classes: int = 1) -> tuple[Ints, Ints]:
    """Return the bytes that leave each unit and the bytes that enter it, by class of the end that receives them.

    Parameters
    ----------
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    unit_of_end : int array, shape (E,)
    n_units : int
    host_of_end : int array, shape (E,), optional
        Host of each end if hosts have several ends, some in other units: messages inside a host cross nothing.
    class_of_end : int array, shape (E,), optional
        One class by default.
    n_classes : int

    Returns
    -------
    (int array, int array), shapes (n_units, n_classes)
    """
    end = np.asarray(ends)[exchange.members]
    kinds = np.zeros(end.shape, dtype=np.int64) if class_of_end is None else class_of_end[end]
    at = counts(exchange, unit_of_end[end], n_units)
    to = _by_class(exchange, kinds, n_classes)
    here = summed(at.pair * n_classes + kinds, exchange.receive_weight, len(at.unit) * n_classes).reshape(-1, n_classes)
    weight, sent = exchange.group_weight[at.group] * exchange.unit_bytes, int(exchange.send_weight.sum())
    leaving = at.sends[:, None] * (to[at.group] - here) * weight[:, None]
    entering = here * (sent - at.sends)[:, None] * weight[:, None]
    if host_of_end is not None:
        inside = _between_units_of_a_host(exchange, end, at, host_of_end, kinds, n_classes)
        leaving, entering = leaving - inside[0], entering - inside[1]
    found = np.zeros((2, n_units, n_classes), dtype=np.int64)
    np.add.at(found[0], at.unit, leaving)
    np.add.at(found[1], at.unit, entering)
    return found[0], found[1]


def _by_class(exchange: Exchange, kinds: Ints, n_classes: int) -> Ints:
    """Return the receive weights of each group by class: int array, shape (groups, n_classes)."""
    groups = len(kinds)
    place = np.arange(groups)[:, None] * n_classes + kinds
    return summed(place, exchange.receive_weight, groups * n_classes).reshape(groups, n_classes)


def _between_units_of_a_host(exchange: Exchange, end: Ints, at: Counts, host_of_end: Ints, kinds: Ints,
                             n_classes: int) -> Ints:
    """Return for each pair of `at` the bytes between the unit and other units, inside hosts: leaving, entering."""
    host = host_of_end[end]
    both = counts(exchange, host, int(host_of_end.max()) + 1)        # members of a group on a host
    n = len(at.unit)
    keys, triple = np.unique((both.pair * n + at.pair).ravel(), return_inverse=True)
    pair, unit = keys // n, keys % n                                # on a host, and in a unit
    triple = triple.reshape(end.shape)
    sends = summed(triple, exchange.send_weight, len(keys))
    receives = summed(triple * n_classes + kinds, exchange.receive_weight, len(keys) * n_classes).reshape(-1, n_classes)
    whole = summed(both.pair * n_classes + kinds, exchange.receive_weight, len(both.unit) * n_classes)
    whole = whole.reshape(-1, n_classes)[pair]
    weight = (exchange.group_weight[at.group[unit]] * exchange.unit_bytes)[:, None]
    found = np.zeros((2, n, n_classes), dtype=np.int64)
    np.add.at(found[0], unit, sends[:, None] * (whole - receives) * weight)
    np.add.at(found[1], unit, receives * (both.sends[pair] - sends)[:, None] * weight)
    return found


def between(exchange: Exchange, ends: Ints, unit_of_end: Ints, n_units: int, host_of_end: Ints | None = None) -> Traffic:
    """Return the bytes from each unit to each other unit.

    Parameters
    ----------
    exchange : Exchange
    ends, unit_of_end, n_units, host_of_end
        As for `crossing`.
    """
    end = np.asarray(ends)[exchange.members]
    group = np.broadcast_to(np.arange(len(end))[:, None], end.shape)
    found = _within(exchange, unit_of_end[end], group, n_units)
    if host_of_end is None:
        return found
    both = counts(exchange, host_of_end[end], int(host_of_end.max()) + 1)
    return together([(found, 1), (_within(exchange, unit_of_end[end], both.pair, n_units), -1)])


def _within(exchange: Exchange, unit: Ints, part: Ints, n_units: int) -> Traffic:
    """Return the bytes between units of messages inside each part of the members."""
    sent = exchange.send_weight * exchange.group_weight[:, None] * exchange.unit_bytes
    received = np.broadcast_to(exchange.receive_weight, unit.shape)
    return traffic_within(part.ravel(), unit.ravel(), sent.ravel(), received.ravel(), n_units)
