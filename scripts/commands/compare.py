"""`pencilmap compare`: did the machine do what was predicted?"""

import click

from pencilmap.mapper.compare import compare_published, compare_records, read_records
from pencilmap.scripts.options import JSON
from pencilmap.scripts.tables import comparison_table, print_json


@click.command("compare")
@click.argument("records", nargs=-1, type=click.Path())
@click.option("--published", is_flag=True, help="Compare with the published Blue Gene/L measurements too.")
@JSON
def command(records, published, as_json):
    """Compare run records (JSON lines written by fft_runner) with predictions for the placement they had."""
    if not records and not published:
        raise click.UsageError("name at least one file of run records, or --published")
    found = [row for path in records for row in compare_records(read_records(path), path)]
    if published:
        found += compare_published()
    if as_json:
        print_json([row.as_dict() for row in found])
    else:
        comparison_table(found, "predicted and measured, time of the slowest rank, median of the repetitions")
