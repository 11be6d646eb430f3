"""Honest divisions of measured exchanges, on times from known figures and on the published table."""

from dataclasses import replace

import pytest

from pencilmap.mapper.runs.compare import published_samples
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.times.calibrate import Calibration, Fitted
from pencilmap.model.times.expected import expected_gain, expected_range
from pencilmap.model.times.held_out import divisions, honest_errors
from pencilmap.model.times.timing import ExchangeWork


@pytest.fixture(scope="module")
def published():
    return published_samples("bluegene-l", load_machine("bluegene-l").torus)


def test_nothing_of_what_is_predicted_was_fitted(published):
    """A placement, a size or a number of tasks is held out whole; with the larger sizes, the fit sees no smaller size."""
    exchanges = [s for s in published if isinstance(s.work, ExchangeWork)]
    seen = dict.fromkeys(d.rule for d in divisions(published))
    assert [d.held_out for d in divisions(published)][:2] == ["half 1", "half 2"]
    assert list(seen) == ["random halves", "one placement out", "one size out", "larger sizes", "tasks on a node"]
    for d in divisions(published):
        assert not set(d.training) & set(d.others) and set(d.training) | set(d.others) <= set(exchanges)
        alike = {"one placement out": lambda s: s.placement, "one size out": lambda s: s.size,
                 "larger sizes": lambda s: s.size, "tasks on a node": lambda s: s.work.tasks}.get(d.rule)
        if alike:
            assert not set(map(alike, d.training)) & set(map(alike, d.others))
        if d.rule == "larger sizes":
            assert d.held_out in {f"{size} by 256x256x256 and larger" for size in ("64x64x64", "128x128x128")}
            assert {int(s.size.split("x")[0]) for s in d.training} == {256, 512, 1024}
        else:
            assert len(d.training) + len(d.others) == len(exchanges) == 94


def test_the_errors_are_those_of_what_was_held_out(published):
    """For a model whose error depends on the unseen share of the samples, computed here by hand."""
    def blind(training):
        return _Known(dict.fromkeys(training, 1.0))

    for row in honest_errors(published, blind):
        assert row.mean == pytest.approx(0.5) and row.largest == pytest.approx(0.5)  # seen samples: 1, unseen samples: 1.5
        assert row.n == (47 if row.rule == "random halves" else row.n)
        assert len(row.means) == (30 if row.rule == "random halves" else 1)


def test_the_largest_error_is_that_of_all_halves(published):
    exchanges = [s for s in published if isinstance(s.work, ExchangeWork)]
    wrong = {s: 1 + n / 1000 for n, s in enumerate(exchanges)}
    [halves] = [row for row in honest_errors(published, lambda training: _Known(wrong)) if row.rule == "random halves"]
    assert halves.largest == pytest.approx(0.093) and halves.worst == exchanges[-1].label


class _Known(Calibration):
    """Returns the true time for some samples and 1.5 times the true time for the others."""

    def __init__(self, known):
        super().__init__({"exchange_cost": Fitted(1.0, 0.0)}, {}, len(known))
        object.__setattr__(self, "known", known)

    def time_s(self, sample):
        return sample.measured_s * self.known.get(sample, 1.5)


def test_the_range_of_a_transform_is_that_of_its_exchanges():
    """Its messages have two sizes, each with its own range; the figures are fitted, or public."""
    from pencilmap.mapper.setting import setting

    for fitted, public in ((512, {}), (None, {"bandwidth": "1 GB/s"})):
        found = setting(machine="bluegene-l", fft="256", **public).predictions("8x64", ("default",))[0]
        times, sizes = ([getattr(stage, name) for stage in found.stages] for name in ("time_s", "work"))
        ranges = [expected_range("torus", 512, work.message_bytes, fitted).range for work in sizes]
        assert ranges[0] != ranges[1]
        assert found.time_range_s == pytest.approx([sum(t * ends[k] for t, ends in zip(times, ranges)) for k in (0, 1)])
        assert [found.move_range_s(stage) for stage in found.stages] == [
            (t * low, t * high) for t, (low, high) in zip(times, ranges)]
        assert found.move_range_s(replace(found.stages[0])) is None  # a halo, for example, is no exchange of the transform
        assert found.as_dict()["time_range_s"] == list(found.time_range_s)
        assert found.likely_gain == expected_gain("torus", 512, 1024, fitted).range


@pytest.mark.parametrize("options, of_prediction, reason", [
    ({"fft": "64"}, {}, "messages below 1 KiB"),
    ({"fft": "512"}, {"schedule": "overlap:8"}, "overlapped"),
    ({"fft": "512"}, {"exchange": "bruck2"}, "exchange bruck2 not measured"),
    ({"fft": "512"}, {"routing": "minimal-adaptive:hops"}, "minimal-adaptive:hops routing not measured"),
    ({"fft": "1024", "network": "16x8x8"}, {}, "above 512 nodes")])
def test_a_prediction_says_why_it_has_no_range(options, of_prediction, reason):
    from pencilmap.mapper.setting import setting
    from pencilmap.model.predict import answer

    where = setting(**{"network": "8x8x8", "bandwidth": "1 GB/s"} | options)
    grid = parse_grid("8x64" if where.network.n_nodes == 512 else "16x64")
    found = answer(replace(where, **of_prediction), where.place("default", grid))
    assert found.unmeasured == reason and found.likely is None is found.time_range_s
