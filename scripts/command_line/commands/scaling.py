"""`pencilmap study scaling`: strong and weak scaling, 1D against 2D, shapes of grids, and the bandwidth of the bisection."""

from collections.abc import Iterable
from typing import Any

import click

from pencilmap.mapper.runs.records import read_records
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies import scaling
from pencilmap.model.base.errors import RecordError
from pencilmap.model.base.units import milliseconds
from pencilmap.model.network.torus import as_torus
from pencilmap.model.times.scaling import LEAST_POINTS, Fit, Point, bisection_bandwidth, crossing_bytes, fit, weak_efficiency
from pencilmap.scripts.command_line.pages import BANDWIDTH, JSON, MACHINE, OUTPUT_FILE, Name, Page, with_options
from pencilmap.scripts.command_line.tables import print_json, print_table, say
from pencilmap.scripts.pictures.canvas import suffix

TRANSPOSES = 2  # of one transform of pencils


@click.command("scaling", cls=Page)
@click.argument("records", nargs=-1, type=click.Path())
@click.option("--points", multiple=True, type=click.Path(), metavar="FILE",
              help="A table (CSV) with columns n,ranks,time_s.\nMay have more columns, and be repeated.")
@click.option("--published", type=Name(list(scaling.PUBLICATIONS)),
              help=f"Also the points of {' or '.join(scaling.PUBLICATIONS)}.")
@click.option("--transposes", type=click.IntRange(1), metavar="N",
              help="All-to-alls in a measured time [2; slabs: 1].")
@click.option("--ranks", type=click.IntRange(1), metavar="P",
              help="Ranks whose bisection is printed [the most].")
@MACHINE
@click.option("--network", metavar="TEXT", help="Network of those ranks.\nIts bisection is the peak.")
@BANDWIDTH
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE",
              help="Draw strong scaling and fits (.svg, .png, .pdf).")
@with_options(JSON)
def command(records: tuple[str, ...], points: tuple[str, ...], published: str | None, transposes: int | None,
            ranks: int | None, machine: str | None, network: str | None, bandwidth: str | None, plot: str | None,
            as_json: bool) -> None:
    """Tell how measured times scale with the ranks.

    RECORDS are run records of fft_runner (JSON lines). Times of other programs come from tables with --points.
    """
    if not records and not points and not published:
        raise click.UsageError("no times are named; name at least one file of run records, or --points FILE, or "
                               "--published NAME")
    if plot:
        suffix(plot)
    peak = _peak(machine, network, bandwidth)
    result = [p for path in records for p in scaling.points_of_records(read_records(path), path)]
    result += [p for path in points for p in scaling.read_points(path)]
    result += scaling.PUBLICATIONS[published][0]() if published else []
    answer = {"strong": [_strong(study, transposes, ranks, peak) for study in scaling.strong(result)],
              "weak": [_weak(study) for study in scaling.weak(result)],
              "slab_against_pencil": [_pair(*pair) for pair in scaling.against_slabs(result)],
              "grids": [_aspect(study) for study in scaling.aspects(result)]}
    if not any(answer.values()):
        raise RecordError(f"{len(result)} times show no scaling: it takes the same transform on two numbers of ranks or two "
                          "grids, or transforms with the same number of points on a rank")
    if as_json:
        print_json(answer)
    else:
        _print(answer, published)
    if plot:
        from pencilmap.scripts.pictures.runs import draw_fits

        draw_fits(answer["strong"], plot)
        say(f"wrote {plot}", err=as_json)


def _peak(machine: str | None, network: str | None, bandwidth: str | None) -> float | None:
    """Bytes per second through the bisection of the named network; None if no network was named."""
    if network is None and machine is None:
        if bandwidth is not None:
            raise RecordError("--bandwidth is that of a link: name the network too, --network TEXT or --machine NAME")
        return None
    return bisection_bandwidth(as_torus(setting(machine=machine, network=network, bandwidth=bandwidth).network))


def _strong(study: scaling.Study, transposes: int | None, ranks: int | None, peak: float | None) -> dict[str, Any]:
    """A study as JSON values."""
    first = study.points[0]
    lines = [{"ranks": p.ranks, "grid": list(p.grid), "decomposition": p.decomposition, "time_s": p.time_s,
              "speedup": first.time_s / p.time_s, "efficiency": first.time_s * first.ranks / (p.time_s * p.ranks)}
             for p in study.points]
    fitted = fit(study.points) if len(study.points) >= LEAST_POINTS else None
    return {"transform": study.name, "transforms": first.transforms, "points": lines,
            "fit": fitted and fitted.__dict__, "bisection": fitted and _bisection(study, fitted, transposes, ranks, peak)}


def _bisection(study: scaling.Study, fitted: Fit, transposes: int | None, ranks: int | None,
               peak: Any) -> dict[str, float | None] | None:
    last = study.points[-1]
    if last.array_bytes is None or fitted.d <= 0:
        return None
    count = transposes or (1 if last.decomposition == "slab" else TRANSPOSES) * last.transforms
    of, crossing = ranks or last.ranks, crossing_bytes(last.array_bytes, count)
    rate = fitted.bisection(of, crossing)
    return {"ranks": of, "transposes": count, "byte_per_s": rate, "deviation": fitted.d_deviation / fitted.d,
            "peak_byte_per_s": peak, "of_peak": peak and rate / peak}


def _weak(study: scaling.Study) -> dict[str, Any]:
    return {"name": study.name, "points": [
        {"transform": scaling.size_text(p.size), "ranks": p.ranks, "grid": list(p.grid), "time_s": p.time_s,
         "first_over_time": study.points[0].time_s / p.time_s, "efficiency": weak_efficiency(study.points[0], p)}
        for p in study.points]}


def _pair(one: Point, two: Point) -> dict[str, Any]:
    return {"transform": scaling.size_text(one.size), "ranks": one.ranks, "time_1d_s": one.time_s, "time_2d_s": two.time_s,
            "grid_2d": list(two.grid), "ratio": two.time_s / one.time_s}


def _aspect(study: scaling.Study) -> dict[str, Any]:
    best = min(p.time_s for p in study.points)
    return {"name": study.name, "points": [
        {"grid": list(p.grid), "source": p.source, "time_s": p.time_s, "ratio": p.time_s / best, "mean_s": p.mean_s,
         "deviation_s": p.deviation_s} for p in study.points]}


# ---- tables ----------------------------------------------------------------------------------------------------------


def _print(answer: dict[str, list[dict[str, Any]]], published: str | None) -> None:
    if published:
        say(f"published: {scaling.PUBLICATIONS[published][1]}")
    for study in answer["strong"]:
        print_table(f"strong scaling of {study['transform']}{_pairs(study)}, the fastest grid of each number of ranks",
                    [">ranks", "grid", ">time", ">speed-up", ">efficiency", *([">fit"] if study["fit"] else [])],
                    [[p["ranks"], _grid(p["grid"]), milliseconds(p["time_s"]), f"{p['speedup']:.2f}",
                      f"{100 * p['efficiency']:.0f} %",
                      *([milliseconds(Fit(**study["fit"]).time_s(p["ranks"]))] if study["fit"] else [])]
                     for p in study["points"]], _fit_lines(study))
    for study in answer["weak"]:
        print_table(f"weak scaling, {study['name']}; efficiency with the work N log N",
                    [">ranks", "transform", "grid", ">time", ">first/time", ">efficiency"],
                    [[p["ranks"], p["transform"], _grid(p["grid"]), milliseconds(p["time_s"]),
                      f"{p['first_over_time']:.2f}", f"{100 * p['efficiency']:.0f} %"] for p in study["points"]])
    if answer["slab_against_pencil"]:
        print_table("1D against 2D decomposition, the fastest of each",
                    ["transform", ">ranks", ">1D", ">2D", "grid of 2D", ">2D/1D"],
                    [[p["transform"], p["ranks"], milliseconds(p["time_1d_s"]), milliseconds(p["time_2d_s"]),
                      _grid(p["grid_2d"]), f"{p['ratio']:.2f}"] for p in answer["slab_against_pencil"]],
                    _verdicts(answer["slab_against_pencil"]))
    for study in answer["grids"]:
        over = [">mean of ranks", ">deviation"] if any(p["mean_s"] is not None for p in study["points"]) else []
        print_table(f"grids of {study['name']}", ["grid", "source", ">time", ">of best", *over],
                    [[_grid(p["grid"]), p["source"], milliseconds(p["time_s"]), f"{p['ratio']:.2f}",
                      *([milliseconds(p["mean_s"]), milliseconds(p["deviation_s"])] if over else [])]
                     for p in study["points"]])


def _verdicts(pairs: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each transform: where 1D was faster, and how 2D over 1D changes with the ranks."""
    verdicts = []
    for transform in dict.fromkeys(p["transform"] for p in pairs):
        pairs_ = sorted((p for p in pairs if p["transform"] == transform), key=lambda p: p["ranks"])
        faster = [str(p["ranks"]) for p in pairs_ if p["ratio"] > 1]
        said = f"1D was faster on {', '.join(faster)} ranks" if faster else "2D was at least as fast on all numbers of ranks"
        change = (f"; 2D/1D goes from {pairs_[0]['ratio']:.2f} on {pairs_[0]['ranks']} to {pairs_[-1]['ratio']:.2f} on "
                  f"{pairs_[-1]['ranks']} ranks") if len(pairs_) > 1 else ""
        verdicts.append(f"{transform}: {said}{change}")
    return verdicts


def _pairs(study: dict[str, Any]) -> str:
    return f", {study['transforms']} transforms" if study["transforms"] > 1 else ""


def _grid(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape)) or "-"


def _seconds(value: float) -> str:
    """
    >>> _seconds(82_000.4), _seconds(4.21512)
    ('82,000', '4.215')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _fit_lines(study: dict[str, Any]) -> list[Any]:
    result, cut = study["fit"], study["bisection"]
    if result is None:
        return [f"no fit: it needs {LEAST_POINTS} numbers of ranks"]
    a, d = (f"{_seconds(result[name])} s +- {100 * abs(result[f'{name}_deviation'] / (result[name] or 1)):.1f} %"
            for name in "ad")
    lines = [f"a/P + d/P^(2/3): a = {a}, d = {d}, at most {100 * result['largest']:.1f} % off"]
    if result["d"] <= 0:
        return [*lines, "d is not above 0: nothing in these times grows like a bisection"]
    if cut:
        lines.append(f"effective bisection of {cut['ranks']} ranks: {cut['byte_per_s'] / 1e9:.4g} GB/s +- "
                     f"{100 * cut['deviation']:.1f} %, by {cut['transposes']} all-to-alls"
                     + (f"; {100 * cut['of_peak']:.1f} % of the peak, {cut['peak_byte_per_s'] / 1e9:.4g} GB/s"
                        if cut["peak_byte_per_s"] else ""))
    return lines
