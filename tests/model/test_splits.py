"""Honest divisions of measured exchanges, on times from known figures and on the published table."""


import pytest

from pencilmap.mapper.runs.compare import published_samples
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.times.calibrate import Calibration, Fitted
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


def test_predictions_have_a_range_only_where_the_machine_was_calibrated():
    from pencilmap.mapper.setting import setting

    low, high = load_machine("bluegene-l").likely.range
    found = setting(machine="bluegene-l", fft="64").predictions("8x64", ("default",))[0]
    assert found.time_range_s == pytest.approx((low * found.time_s, high * found.time_s))
    assert found.as_dict()["time_range_s"] == list(found.time_range_s)
    for other in ({"machine": "bluegene-l", "bandwidth": "1 GB/s"}, {"network": "8x8x8", "bandwidth": "1 GB/s"}):
        assert setting(**other, fft="64").predictions("8x64", ("default",))[0].time_range_s is None
