"""Published all-to-alls of many machines: their work, and ranges that come from other machines."""

from dataclasses import replace

import numpy as np
import pytest

from pencilmap.model.base.reading import own_table
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.expected import (
    BEYOND,
    CLASSES,
    COUNTED,
    INSIDE,
    MOST_GROWTH,
    MOST_NODES,
    RANGES,
    SIZES,
    SOME,
    SWITCHES,
    TORUS,
    TWISTED,
    class_of,
    expected_gain,
    expected_range,
)
from pencilmap.model.times.published import (
    FAULT,
    Judged,
    MeasuredExchange,
    Value,
    by_public_figures,
    by_two_figures,
    error_range,
    exchange_values,
    exchange_work,
    held_share,
    in_class,
    measured_exchanges,
    middle_range,
    two_figures,
)
from pencilmap.scripts.command_line.commands.judge import all_to_all_s, published_values


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


def value(machine, nodes=2, fitted_nodes=0):
    sample = Sample("", "exchange", "", exchange_work(measured(nodes, 4, 4 * nodes)), 1.0)
    return Value(machine, "fat tree", "", nodes, sample, is_fitted=False, fitted_nodes=fitted_nodes)


def test_a_range_knows_nothing_of_its_own_machine():
    """One machine takes five times as long as the others: their range does not hold it, and it widens theirs."""
    values = [value("slow")] + [value("a")] * 50 + [value("b"), value("c")]
    times = {"slow": 5.0, "a": 1.0, "b": 1.2, "c": 1.1}
    found = by_public_figures([replace(each, sample=replace(
        each.sample, measured_s=times[each.machine] * each.sample.work.link_s)) for each in values])
    held = {each.value.machine: each.is_held for each in found}
    assert held == {"slow": False, "a": True, "b": True, "c": True}
    high = {each.value.machine: each.range[1] for each in found}
    assert high["slow"] < 1.5 and min(high["a"], high["b"], high["c"]) == 5


def test_a_range_holds_a_share_of_the_other_machines_each_with_the_same_weight():
    """By hand: 20 values of each machine weigh 1/40, so that 95 % end at the third largest, and the middle at the next."""
    ratios = {name: [start + 0.01 * k for k in range(20)] for name, start in (("a", 1.0), ("b", 2.0))}
    judged = [Judged(value(name), ratio) for name, some in ratios.items() for ratio in some]
    assert error_range(judged, by_fit=False) == pytest.approx((1.0, 2.17))
    assert error_range(judged, by_fit=True) == pytest.approx((1.0, 2.18))
    assert error_range([*judged, *[judged[-1]] * 20], by_fit=True)[0] == pytest.approx(1.0)
    assert error_range(judged[:20], by_fit=True) is None
    fault = Judged(value("b"), FAULT)
    assert error_range([*judged, fault], by_fit=False) == error_range(judged, by_fit=False)
    many = [*judged, *[judged[0]] * 380]  # however many values a machine has
    assert error_range(many, by_fit=False) == pytest.approx((1.0, 2.17))


def test_twisted_slices_gain_as_much_as_printed():
    """By hand: a ring of 8 has load 4, the six links of a twisted node 4/6 of the mean distance, 55/16 and 69/16."""
    for line, predicted in zip(own_table("measured_slices.csv"), (6 / (55 / 16), 6 / (69 / 16))):
        assert all_to_all_s(line["plain"]) / all_to_all_s(line["twisted"]) == pytest.approx(predicted)
        low, high = expected_gain(TORUS, 256, 65536).range
        assert low < float(line["gain"]) / predicted < high


def test_each_machine_has_the_same_weight_in_a_gain():
    gains = [("a", 1.0)] * 40 + [("b", ratio) for ratio in (0.5, 0.8, 0.9, 1.1)]
    assert middle_range(gains, 0.9) == (0.5, 1.1)


def test_every_range_holds_the_prediction():
    ratios = 1.1 + 0.1 * np.arange(20)
    for some, held in ((ratios, (1.0, 3.0)), (1 / ratios, (1 / 3.0, 1.0))):
        judged = [Judged(value(name), ratio) for name in "ab" for ratio in some]
        assert error_range(judged, by_fit=True) == pytest.approx(held)
    assert all(low <= 1 <= high for low, high in RANGES.values())


def test_outside_of_what_was_measured_there_is_no_range():
    assert class_of(TORUS, 512) == COUNTED and class_of(SWITCHES, 5) == SOME
    assert class_of(SWITCHES, 16, 16) == INSIDE and class_of(TORUS, 17, 16) == BEYOND
    for network, most in MOST_NODES.items():
        assert expected_range(network, most, SIZES[0]).range and expected_gain(network, most, SIZES[0]).range
        assert expected_range(network, most + 1, SIZES[0]) == (None, f"above {most} nodes")
        assert expected_range(network, most * MOST_GROWTH, SIZES[0], most).range
    assert expected_range(SWITCHES, 2, SIZES[0] - 1) == (None, "messages below 1 KiB") == expected_gain(SWITCHES, 2, 1)
    assert expected_gain(TORUS, 512, 64, 512).range and expected_range(TWISTED, 2, SIZES[0]).range is None


def test_messages_below_the_fitted_have_no_range():
    given = SWITCHES, 32
    assert expected_range(*given, 65536, 16, 65536).range and expected_range(*given, 1024, None, 65536).range
    for expected in (expected_range, expected_gain):
        assert expected(*given, 4096, 16, 65536) == (None, "messages below the fitted 65.54 kB")
    few = [each for each in exchange_values() if each.machine == "Jean-Zay" and each.message_bytes < 16384]
    assert few and not any(each.group(by_fit=True) for each in few) and all(each.group(by_fit=False) for each in few)


def test_published_times_hold_the_promises_of_the_page():
    values = published_values()
    assert len(exchange_values()) == len(measured_exchanges()) and len({each.machine for each in values}) == 9
    public, two = by_public_figures(values), by_two_figures(values)
    assert min(each.ratio for each in public if each.value.network != TORUS) > 1  # no exchange is faster than the ports
    assert not any(each.value.is_fitted for each in two) and len({each.value.machine for each in two}) == 8
    for least, close in ((SIZES[-1], 0.795), (SIZES[0], 0.725)):
        some = [each for each in two if each.value.size >= least]
        assert sum(each.is_close for each in some) > close * len(some)


@pytest.mark.parametrize("predict, by_fit", [(by_public_figures, False), (by_two_figures, True)])
def test_ranges_of_other_machines_hold_85_to_95_percent(predict, by_fit):
    """All values, those of every class, of every size, and of both."""
    judged = predict(published_values())
    classes = [name for name in CLASSES if any(in_class(judged, by_fit, name, size) for size in SIZES)]
    groups = {(name, size): in_class(judged, by_fit, name, size) for name in classes for size in SIZES}
    groups |= {part: [each for group, some in groups.items() if part in group for each in some]
               for part in (*classes, *SIZES)}
    shares = {group: held_share(some) for group, some in {**groups, "all": judged}.items()}
    assert all(85 <= round(100 * share) <= 95 for share in shares.values()), shares
    faults = [each for each in judged if each.ratio >= FAULT]
    assert len(faults) == 6 and not any(each.is_held for each in faults)
