"""`pencilmap demo`: the paper's result, from the machine description to the comparison."""

from pathlib import Path

import click

from pencilmap.mapper.compare import compare_published, compare_records
from pencilmap.mapper.formats import write_mapping
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.progress import heard_by
from pencilmap.mapper.setting import setting
from pencilmap.model.units import milliseconds
from pencilmap.scripts.command_line.progress import shown
from pencilmap.scripts.command_line.tables import comparison_table, prediction_table, print_json, print_table
from pencilmap.scripts.networks.simulated import SimulatedNetwork, simulate_all, simulation_of

MACHINE, GRID, SIZE = "bluegene-l", "8x64", "256"
PLACEMENTS = ("default", "box:2x2x2")


@click.command("demo")
@click.option("--output", "-o", type=click.Path(file_okay=False), default="demo-out", show_default=True,
              help="Folder for the mapfiles and the run records.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(output: str, as_json: bool) -> None:
    """Predict, map, simulate and compare: 8x64 rows on 2x2x2 cubes against the default on an 8x8x8 torus (256^3)."""
    where = setting(machine=MACHINE, fft=SIZE)
    grid = where.grid(GRID)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    predicted = where.predictions(GRID, PLACEMENTS)
    mapfiles = [_write(where, grid, text, folder) for text in PLACEMENTS]
    if not as_json:
        prediction_table(predicted, f"1. predicted: {where.where}, transform {where.transform}")
        print_table("2. mapped", ["placement", "mapfile"], list(zip(PLACEMENTS, mapfiles)))
    records = _simulate(where, grid, folder / "records.jsonl")
    rows = [row for text, found in zip(PLACEMENTS, records) for row in compare_records(found, text)]
    if as_json:
        print_json({"predictions": [p.as_dict() for p in predicted], "mapfiles": [str(m) for m in mapfiles],
                    "comparison": [row.as_dict() for row in rows], "speedup": _speedup(rows)})
        return
    comparison_table(rows, "3. simulated with the real runner, its result verified, and compared")
    _side_by_side(rows, where)


def _write(where, grid, text, folder):
    path = folder / f"{text.replace(':', '-')}.map"
    write_mapping(as_mapping(where.place(text, grid), text), path, "bgl")
    return path


def _simulate(where, grid, path):
    path.unlink(missing_ok=True)
    network = SimulatedNetwork(where.network)
    runs = [simulation_of(where, network, grid, text, verify=True) for text in PLACEMENTS]
    with shown() as progress, heard_by(progress):
        return simulate_all(runs, json_path=path)


def _side_by_side(rows, where):
    """Predicted, simulated and published times of the exchanges."""
    published = {(r.placement, r.stage): r.measured_s for r in compare_published()
                 if (r.grid, r.transform, r.tasks_per_node) == (GRID, str(where.transform), where.tasks_per_node)}
    print_table("4. compared with the published measurements (Jagode, Hein, Trew, Appendix A, CO mode)",
                ["placement", "exchange", ">link time", ">simulated", ">published"],
                [[r.placement, r.stage, milliseconds(r.t_s), milliseconds(r.measured_s),
                  milliseconds(published[r.placement, r.stage])] for r in rows])
    both = {text: sum(published[r.placement, r.stage] for r in rows if r.placement == text) for text in PLACEMENTS}
    click.echo(f"rows and columns together, default over cubes: link time {_ratio(rows, 't_s'):.2f}, simulated "
               f"{_ratio(rows, 'measured_s'):.2f}, published {both['default'] / both['box:2x2x2']:.2f}")


def _speedup(rows):
    return {"t_s": _ratio(rows, "t_s"), "measured_s": _ratio(rows, "measured_s")}


def _ratio(rows, attribute):
    default, cubes = (sum(getattr(r, attribute) for r in rows if r.placement == text) for text in PLACEMENTS)
    return default / cubes
