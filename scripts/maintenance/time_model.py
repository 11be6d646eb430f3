"""Compare forms of the time model with the published exchanges: the table of forms in docs/time-model.md.

    .venv/bin/python -m pencilmap.scripts.maintenance.time_model

Idea: a form replaces the amount of work, so the fit itself stays the same. Each form is fitted to all exchanges, to the
exchanges of 256^3 and larger, and to all but the exchanges of 64^3; the fit predicts the others.
"""

from collections.abc import Callable
from dataclasses import replace
from math import ceil

import click

from pencilmap.mapper.runs.samples import published_samples
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.times.calibrate import Errors, Sample, calibrate, errors
from pencilmap.model.times.timing import ExchangeWork
from pencilmap.scripts.command_line.tables import print_table

EAGER = 1000           # bytes: for larger messages, MPI of Blue Gene/L waits for the receiver
PACKET, HEADER, STEP = 240, 16, 32  # bytes of a full packet's payload, a message's first header, a packet's granularity


def by_size(amount: Callable[[float], float]) -> Callable[[ExchangeWork], ExchangeWork]:
    """Return the form in which a message of some bytes costs an amount, and no message has a fixed cost."""
    return lambda work: replace(work, messages=0, message_roots=work.messages * amount(_size(work)))


def _size(work):
    return 1024 * (work.message_roots / work.messages) ** 2


def _padded(work):
    size = _size(work)
    factor = ceil((size + HEADER) / STEP) * STEP / size
    return replace(work, link_s=work.link_s * factor, adaptive_s=work.adaptive_s * factor, message_roots=0.0)


FORMS = {
    "the model as it is: start, messages, root of their size": lambda work: work,
    "no cost by the size of a message (as before)": lambda work: replace(work, message_roots=0.0),
    "the root of the size alone": by_size(lambda size: (size / 1024) ** 0.5),
    "the cube root": by_size(lambda size: (size / 1024) ** (1 / 3)),
    "the size itself": by_size(lambda size: size / 1024),
    "a cost above 1000 bytes, where the receiver is asked first": by_size(lambda size: float(size > EAGER)),
    "packets before the flow, at most 4": by_size(lambda size: min(ceil(size / PACKET), 4)),
    "link time padded to whole packets, fixed cost of a message": _padded,
    "start independent of the tasks on a node": lambda work: replace(work, tasks=1),
    "no message cost": lambda work: replace(work, messages=0, message_roots=0.0),
    "no start": lambda work: replace(work, tasks=0),
}


def held(samples: list[Sample], fitted: Callable[[int], bool], predicted: Callable[[int], bool]) -> Errors | None:
    """Return the errors at the predicted extents, of a fit to the fitted extents."""
    found = calibrate([s for s in samples if fitted(_extent(s))])
    return errors([s for s in samples if predicted(_extent(s))], found.time_s)


def _extent(sample):
    return int(sample.size.split("x")[0])


SPLITS = {
    "all": (lambda n: True, lambda n: True),
    "64^3 by 256^3 up": (lambda n: n >= 256, lambda n: n == 64),
    "128^3 by 256^3 up": (lambda n: n >= 256, lambda n: n == 128),
    "64^3 by the others": (lambda n: n != 64, lambda n: n == 64),
}


@click.command()
def main() -> None:
    """Fit each form, and print mean and largest error of each split."""
    machine = load_machine("bluegene-l")
    exchanges = [s for s in published_samples("bluegene-l", machine.torus) if isinstance(s.work, ExchangeWork)]
    rows = []
    for name, form in FORMS.items():
        changed = [replace(s, work=form(s.work)) for s in exchanges]
        found = [held(changed, *split) for split in SPLITS.values()]
        rows.append([name, *("-" if f is None else f"{100 * f.mean:.1f} / {100 * f.largest:.0f} %" for f in found)])
    print_table("forms of the time model: mean / largest error", ["form", *(f">{name}" for name in SPLITS)], rows)


if __name__ == "__main__":
    main()
