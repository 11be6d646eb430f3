"""`pencilmap study judge`: published times of many machines beside their predictions, each machine left out in turn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise, product
from typing import Any

import click
import numpy as np

from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.runs.compare import published_samples
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import FigureError
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.times.calibrate import calibrate, split
from pencilmap.model.times.expected import CLASSES, SIZES, TORUS, expected_gain
from pencilmap.model.times.published import (
    CLOSE,
    Judged,
    Value,
    by_public_figures,
    by_two_figures,
    error_range,
    exchange_values,
    held_share,
    in_class,
    measured_gains,
    range_rows,
)
from pencilmap.model.times.timing import ExchangeWork
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, WIDE, Page
from pencilmap.scripts.command_line.tables import echo, print_json, print_table, say
from pencilmap.scripts.pictures.canvas import suffix

NODES = (4, 16, 64)  # the last number of nodes of a line of the table
RANGE_COLUMNS = ["nodes", "messages", ">range", ">values", ">machines", ">in range"]
COLUMNS = [">values", ">median", ">90 % of them", f">within {100 * CLOSE:.0f} %", ">in range"]
WAYS = {"public figures": by_public_figures, "two fitted figures": by_two_figures}
TITLES = {"public figures": "public figures alone: the rate of a node's ports",
          "two fitted figures": "two figures of each machine, from runs on two other numbers of nodes"}


@click.command("judge", cls=Page)
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE", help="Draw the ratios over the nodes: .svg, .png or .pdf.")
@WIDE
@JSON
def command(plot: str | None, wide: bool, as_json: bool) -> None:
    """Compare published times of many machines with predictions.

    Ranges come from the other machines: each machine is left out in turn. --wide adds lines for each machine, number
    of nodes and call.
    """
    if plot:
        suffix(plot)
        check_writable(plot, FigureError)
    values = published_values()
    found = {way: predict(values) for way, predict in WAYS.items()}
    if plot:
        from pencilmap.scripts.pictures.runs import draw_judged

        draw_judged([(TITLES[way], judged) for way, judged in found.items()], plot)
    if as_json:
        print_json({way: [_plain(each) for each in judged] for way, judged in found.items()})
    else:
        _print(found, wide)
    if plot:
        say(f"wrote {plot}", err=as_json)


def published_values() -> list[Value]:
    """Return the published exchanges of all machines; of Blue Gene/L every second one is fitted."""
    machine = load_machine("bluegene-l")
    samples = [each for each in published_samples(machine.name, machine.torus) if isinstance(each.work, ExchangeWork)]
    fitted = split(samples, "every-second")[0]
    nodes = machine.torus.n_nodes
    least = min(each.work.message_bytes for each in fitted if isinstance(each.work, ExchangeWork))
    return [*exchange_values(), *(Value("Blue Gene/L", "torus", "alltoallv", nodes, each, each in fitted, nodes, least)
                                  for each in samples)]


def expected_ranges() -> list[tuple[str, ...]]:
    """Return the rows of the table `pencilmap.model.times.expected.RANGES`."""
    machine = load_machine("bluegene-l")
    samples = [each for each in published_samples(machine.name, machine.torus) if isinstance(each.work, ExchangeWork)]
    return range_rows(published_values(), measured_gains(samples, lambda some: calibrate(some, machine.costs, False),
                                                         all_to_all_s))


def all_to_all_s(network: str) -> float:
    """Return seconds of the busiest link in an all-to-all of 2 GiB among all nodes of a network with links of 1 GB/s."""
    where = setting(network=network, tasks_per_node=1, bandwidth="1 GB/s", fft="512")
    return where.predictions(f"1x{where.network.n_nodes}", ["default"])[0].t_s or 0.0


def _plain(each: Any) -> Any:
    value = {name: of for name, of in asdict(each.value).items() if name != "sample"}
    return value | {"message_bytes": each.value.message_bytes, "measured_s": each.value.sample.measured_s,
                    "measured_over_predicted": each.ratio, "range": each.range}


def _print(found: dict[str, list[Judged]], wide: bool) -> None:
    two = found["two fitted figures"]
    large, all_sizes = ([each for each in two if each.value.size >= least] for least in (SIZES[-1], SIZES[0]))
    machines = len({each.value.machine for each in two})
    say(f"{_share(large)} of {len(large)} times of {machines} machines are within {100 * CLOSE:.0f} % of the prediction, "
        "messages of 16 KiB and more.")
    say(f"{_share(all_sizes)} of {len(all_sizes)} from 1 KiB; {_held(all_sizes)} lie in the range of the other machines.")
    echo()
    for way, judged in found.items():
        some, by_fit = [each for each in judged if each.value.size], way != "public figures"
        rows = [[f"messages {_size(size)}", *_cells([each for each in some if each.value.size == size])] for size in SIZES]
        if wide:
            rows = [*_rows(some, lambda each: each.value.machine), *_rows(some, lambda each: each.value.network), *rows,
                    *_rows(some, _nodes), *_rows(some, lambda each: each.value.sample.exchange)]
        print_table(f"measured over predicted, {TITLES[way]}", ["exchanges", *COLUMNS], rows)
        low, high = expected_gain(TORUS, 1, SIZES[-1], 1 if by_fit else None).range or (1.0, 1.0)
        print_table("ranges that predictions print; in range: of machines left out", RANGE_COLUMNS,
                    _range_rows(some, by_fit), [f"range of a gain: {low:.3g} to {high:.3g} times the predicted gain"])


def _range_rows(judged: Sequence[Judged], by_fit: bool) -> Iterator[list[str]]:
    """The classes of networks and nodes with their ranges, and the shares that the ranges of the other machines hold."""
    for name, size in product(CLASSES, SIZES):
        some = in_class(judged, by_fit, name, size)
        if ends := error_range(some, by_fit):
            yield [name, _size(size), f"{ends[0]:.2g} to {ends[1]:.2g}", str(len(some)),
                   str(len({each.value.machine for each in some})), _held(some)]


def _rows(judged: Sequence[Judged], name: Callable[[Judged], Any]) -> list[list[str]]:
    names = list(dict.fromkeys(map(name, judged)))
    return [[each, *_cells([one for one in judged if name(one) == each])]
            for each in (sorted(names, key=lambda text: int(text.split()[0])) if name is _nodes else names)]


def _nodes(each: Judged) -> str:
    ends = [1, *(end + 1 for end in NODES)]
    k = sum(each.value.nodes > end for end in NODES)
    return f"{ends[k]} to {NODES[k]} nodes" if k < len(NODES) else f"{ends[k]} nodes and more"


def _size(size: int) -> str:
    following = dict(pairwise(SIZES))
    return f"of {size >> 10} to {following[size] >> 10} KiB" if size in following else f"from {size >> 10} KiB"


def _cells(judged: Sequence[Judged]) -> list[str]:
    low, middle, high = np.quantile([each.ratio for each in judged], (0.05, 0.5, 0.95))
    return [str(len(judged)), f"{middle:.2f}", f"{low:.2f} to {high:.2f}", _share(judged),
            _held(judged)]


def _share(judged: Sequence[Judged], holds: Callable[[Judged], bool] = lambda each: each.is_close) -> str:
    return f"{100 * sum(map(holds, judged)) / len(judged):.0f} %"


def _held(judged: Sequence[Judged]) -> str:
    return f"{100 * held_share(judged):.0f} %"
