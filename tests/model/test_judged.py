"""Published all-to-alls of many machines: their work, and ranges that come from other machines."""

from dataclasses import replace

import numpy as np
import pytest

from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.judged import (
    SIZES,
    Judged,
    Value,
    by_public_figures,
    by_two_figures,
    exchange_values,
    exchange_work,
    expected_range,
    two_figures,
)
from pencilmap.model.times.published import MeasuredExchange, measured_exchanges


def measured(nodes, tasks, group, stride=1, size=1024, time_s=1.0):
    return MeasuredExchange("m", "fat tree", 1e9, "MPI", "Alltoall", nodes, tasks, group, stride, size, time_s)


@pytest.mark.parametrize("nodes, tasks, group, stride", [(3, 4, 12, 1), (2, 5, 4, 2), (5, 3, 4, 3), (4, 2, 2, 4)])
def test_the_work_is_that_of_single_messages(nodes, tasks, group, stride):
    """Counted message by message; the last node may have fewer tasks."""
    off, inside = np.zeros(nodes), np.zeros(nodes)
    for a in range(group * stride):
        for b in range(group * stride):
            if a != b and a % stride == b % stride:
                (off if a // tasks != b // tasks else inside)[a // tasks] += 1024
    work = exchange_work(measured(nodes, tasks, group, stride))
    assert (work.node_bytes, work.inside_bytes, work.messages) == (off.max(), inside.max(), group - 1)
    assert work.link_s == off.max() / 1e9 and work.message_bytes == pytest.approx(1024)
    assert work.node_messages == pytest.approx(off.max() / 1024)


def test_two_figures_are_found_again():
    works = [exchange_work(measured(n, 8, 8 * n, size=size)) for n in (2, 16) for size in (1 << k for k in range(10, 20))]
    costs = Costs(injection_per_node=7e8, node_message_cost_s=3e-7)
    samples = [Sample("", "exchange", "", work, 1.0) for work in works]
    found = two_figures([replace(s, measured_s=s.time_s(costs)) for s in samples])
    assert found.injection_per_node == pytest.approx(7e8, rel=1e-3)
    assert found.node_message_cost_s == pytest.approx(3e-7, rel=1e-3)


def test_a_range_knows_nothing_of_its_own_machine():
    """One machine takes ten times as long as the others; every machine counts alike, however many values it has."""
    def value(machine):
        sample = Sample("", "exchange", "", exchange_work(measured(2, 4, 8)), 1.0)
        return Value(machine, "fat tree", "", 2, sample, is_fitted=False)

    values = [value("slow")] + [value("a")] * 50 + [value("b")]
    times = {"slow": 10.0, "a": 1.0, "b": 2.0}
    found = by_public_figures([replace(each, sample=replace(
        each.sample, measured_s=times[each.machine] * each.sample.work.link_s)) for each in values])
    assert {each.value.machine: each.range for each in found} == {
        "slow": (1.0, 2.0), "a": (1.0, 10.0), "b": (1.0, 10.0)}
    assert [each.is_held for each in found] == [False] + [True] * 51
    judged = [Judged(each, ratio) for each, ratio in zip(values, [9.0, *[1.0] * 50, 3.0])]
    assert expected_range(judged, SIZES[0]) == (1.0, 9.0)


def test_published_times_hold_the_promises_of_the_page():
    """Of the machines of `measured_exchanges`; the page also has Blue Gene/L."""
    values = exchange_values()
    assert len(values) == len(measured_exchanges()) and len({each.machine for each in values}) == 8
    public, two = by_public_figures(values), by_two_figures(values)
    assert min(each.ratio for each in public) > 1  # no exchange is faster than the ports
    assert not any(each.value.is_fitted for each in two) and len({each.value.machine for each in two}) == 7

    def share(judged, holds):
        return sum(map(holds, judged)) / len(judged)

    for least, close in ((SIZES[-1], 0.78), (SIZES[0], 0.7)):
        assert share([each for each in two if each.value.size >= least], lambda each: each.is_close) > close
    for judged in (public, two):
        for size in SIZES:
            assert 0.85 < share([each for each in judged if each.value.size == size], lambda each: each.is_held) < 0.97
