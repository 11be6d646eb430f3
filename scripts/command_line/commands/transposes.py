"""`pencilmap study transposes`: ratios of transpose_bench's times, in the form of the tables of Schulz (2008)."""

from collections.abc import Sequence
from os import PathLike

import click

from pencilmap.mapper.studies.transposes import Case, by_exchange, ratios, read_transposes
from pencilmap.model.base.errors import RecordError, near
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, Page, with_options
from pencilmap.scripts.command_line.tables import print_json, print_table, say
from pencilmap.scripts.pictures.canvas import suffix
from pencilmap.scripts.pictures.runs import draw_transposes

MOST_COLUMNS = 8  # groups of ranks that fit a line of 80 columns


@click.command("transposes", cls=Page)
@click.argument("samples", type=click.Path())
@click.argument("other", required=False, type=click.Path())
@click.option("--reference", metavar="EXCHANGE",
              help="Compare the others with it [alltoall].\nWithout alltoall: the first.")
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE", help="Draw the first result (.svg, .png or .pdf).")
@with_options(JSON)
def command(samples: str, other: str | None, reference: str | None, plot: str | None, as_json: bool) -> None:
    """Compare the exchanges in results of transpose_bench.

    One result compares its exchanges; two compare two MPI libraries or two networks.
    """
    if plot:
        suffix(plot)
    cases = read_transposes(samples)
    first = by_exchange(cases)
    second = by_exchange(read_transposes(other)) if other else {}
    name = _reference(first, reference, samples)
    if other and not set(first) & set(second):
        raise RecordError(f"{samples} and {other} have no exchange in common: {', '.join(first)}; {', '.join(second)}")
    pairs = {f"{exchange} / {name}": ratios(first[exchange], first[name]) for exchange in first if exchange != name}
    if other:
        pairs = {f"{name}, second / first": ratios(second[name], first[name]) for name in first if name in second}
        if not any(pairs.values()):
            raise RecordError(f"{samples} and {other} have no group and message size in common")
    if plot:
        draw_transposes(cases, name, plot)
        say(f"wrote {plot}", err=True)
    if as_json:
        print_json({"times": [case.__dict__ for cases in first.values() for case in cases], "reference": name,
                    "other_times": [case.__dict__ for cases in second.values() for case in cases],
                    "ratios": {title: [{"message_bytes": size, "group": group, "ratio": ratio}
                                       for size, by_group in ratios_.items() for group, ratio in by_group.items()]
                               for title, ratios_ in pairs.items()}})
        return
    _times(first[name], f"{name}, with packing: mean and deviation over the ranks, us")
    for title, ratios_ in pairs.items():
        for columns in _parts(sorted({group for line in ratios_.values() for group in line}), MOST_COLUMNS):
            print_table(title, [">bytes", *(f">{group}" for group in columns)],
                        [[size, *(f"{line[group]:.2f}" if group in line else "-" for group in columns)]
                         for size, line in ratios_.items()])
    say(_sentence(pairs, other))


def _reference(cases: dict[str, list[Case]], name: str | None, path: str | PathLike[str]) -> str:
    if name is None:
        return "alltoall" if "alltoall" in cases else next(iter(cases))
    if name not in cases:
        raise RecordError(f"exchange {name!r} is not in {path}{near(name, cases)}; it has {', '.join(cases)}")
    return name


def _parts(groups: Sequence[int], width: int) -> list[list[int]]:
    return [list(groups[k:k + width]) for k in range(0, len(groups), width)]


def _times(cases: Sequence[Case], title: str) -> None:
    sizes, groups = sorted({c.message_bytes for c in cases}), sorted({c.group for c in cases})
    known = {(c.message_bytes, c.group): c for c in cases}
    for columns in _parts(groups, MOST_COLUMNS // 2):
        print_table(title, [">bytes", *(f">{group} ranks" for group in columns)],
                    [[size, *(_spread(known.get((size, group))) for group in columns)] for size in sizes])


def _spread(case: Case | None) -> str:
    if case is None:
        return "-"
    return f"{1e6 * case.mean_s:.2f}" + ("" if case.deviation_s is None else f" +- {1e6 * case.deviation_s:.2f}")


def _sentence(pairs: dict[str, dict[int, dict[int, float]]], other: str | None) -> str:
    known = [(ratio, title) for title, ratios_ in pairs.items() for line in ratios_.values() for ratio in line.values()]
    if not known:
        return "there is one exchange: nothing to compare it with"
    ratio, title = max(known, key=lambda pair: max(pair[0], 1 / pair[0]))
    what = "the two files differ most" if other else "the exchanges differ most"
    return f"{what} in {title}: a ratio of {ratio:.2f}; columns are the ranks of a group"
