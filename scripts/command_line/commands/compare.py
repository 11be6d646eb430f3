"""`pencilmap compare`: measured times compared with predictions."""

import click

from pencilmap.mapper.runs.compare import compare_published, compare_records, published_samples
from pencilmap.mapper.runs.records import read_records
from pencilmap.model.base.errors import FigureError
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.times.calibrate import RULES, quality, split
from pencilmap.scripts.command_line.comparisons import agreement
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, WIDE, Page, with_options
from pencilmap.scripts.command_line.tables import comparison_table, print_json, quality_table, say
from pencilmap.scripts.pictures.canvas import suffix
from pencilmap.scripts.pictures.runs import draw_published

PUBLISHED, RULE = "bluegene-l", "every-second"  # rule of the calibration in the package's machine file


@click.command("compare", cls=Page)
@click.argument("records", nargs=-1, type=click.Path())
@click.option("--published", is_flag=True, help="Also with the published times of Blue Gene/L.")
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE",
              help="With --published: draw them (.svg, .png or .pdf).")
@with_options(WIDE, JSON)
def command(records: tuple[str, ...], published: bool, plot: str | None, wide: bool, as_json: bool) -> None:
    """Compare measured times with predictions.

    RECORDS are run records of fft_runner (JSON lines). Each is predicted with the placement that its ranks really had.
    """
    if not records and not published:
        raise click.UsageError("no records are named; name at least one file of run records, or --published")
    if plot and not published:
        raise FigureError(f"--plot {plot} draws the published measurements; give --published too")
    if plot:
        suffix(plot)
    rows = [row for path in records for row in compare_records(read_records(path), path)]
    for warning in dict.fromkeys(f"warning: {row.source}: {text}" for row in rows for text in row.warnings):
        say(warning, err=True)
    cells = compare_published() if published else []
    if as_json:
        print_json(*[row.as_dict() for row in rows + cells])
    else:
        comparison_table(rows + cells, "predicted and measured, time of the slowest rank, median of the repetitions", wide)
    if published and not as_json:
        machine = load_machine(PUBLISHED)
        samples = split(published_samples(PUBLISHED, machine.torus), RULE)
        quality_table(quality(*samples, lambda sample: sample.time_s(machine.costs)),
                      f"published: errors |predicted/measured - 1| of the bound and of the time model (fitted by {RULE})",
                      wide)
    if not as_json and (line := agreement(rows + cells)):
        say(line)
    if plot:
        exchanges = [cell for cell in cells if cell.stage != "total"]
        draw_published(exchanges, RULES[RULE](exchanges)[0], load_machine(PUBLISHED).torus.bandwidth[0], plot,
                       "Blue Gene/L, 512 chips, 8x8x8 torus: measured (UT-CS-08-613, Appendix A) and modelled")
        say(f"wrote {plot}", err=as_json)
