"""Rate the first advice: 30 cases drawn from a seed, with every candidate simulated message by message.

    .venv/bin/python -m pencilmap.scripts.maintenance.advice            # about ten minutes; prints the table
    .venv/bin/python -m pencilmap.scripts.maintenance.advice --write    # also writes docs/results/advice.csv

A case is a torus or mesh of 8 to 20 nodes with one or two tasks each, and a transform. Its candidates are all grids of all
decompositions that give every task data, under the best placement and the launcher's order, in sequence and overlapped.
`pencilmap.mapper.plan` has no fitted figure, so it cannot be tuned to the cases.
"""

import random
from dataclasses import replace
from pathlib import Path
from statistics import median

import click

from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.plan import plan
from pencilmap.mapper.setting import setting
from pencilmap.mapper.where import Where
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import all_grids
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.documents import markdown_table
from pencilmap.scripts.command_line.result_files import result_file, write_result
from pencilmap.scripts.networks.simulated import SimulatedNetwork, Simulation, simulate_all

SHAPES = ("8", "4x2", "4x3", "4x4", "8x2", "6x2", "6x3", "2x3x3", "5x4", "4x2x2", "3x3")
SIZES = (16, 20, 24, 32, 36, 40)
SEED, CASES, WITHIN, LEAST = 2026, 30, 1.05, 27
OVERLAP = "overlap:4"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation.md"
COLUMNS = ("torus", "transform", ">candidates", "advised", "fastest simulated", ">advised ms", ">fastest ms", ">ratio")


def drawn(seed: int, cases: int) -> list[dict[str, object]]:
    """Return arguments of `pencilmap.mapper.setting.setting`; the seed draws torus, size and number of tasks."""
    rng, found = random.Random(seed), list[dict[str, object]]()
    while len(found) < cases:
        shape, mesh, tasks = rng.choice(SHAPES), rng.random() < 0.4, rng.choice((1, 1, 2))
        size = [rng.choice(SIZES) for _ in range(3)] if rng.random() < 0.3 else [rng.choice(SIZES)] * 3
        found.append({"network": shape + (":mesh" if mesh else ""), "bandwidth": "1 GB/s", "tasks_per_node": tasks,
                      "fft": "x".join(map(str, size))})
    return found


def candidates(where: Where) -> list[Prediction]:
    """Return every possible run."""
    found, transform = list[Prediction](), where.transform
    assert transform is not None
    for decomposition in (d for d in DECOMPOSITIONS.values() if not d.has_bricks):  # bricks are given, not chosen
        here = replace(where, decomposition=decomposition)
        for grid in all_grids(here.n_slots, decomposition):
            for text in ("best", "default") if transform.fills(grid) else ():
                for schedule in (SEQUENCE, OVERLAP):
                    try:
                        placed = here.best_placement(grid, schedule, 0) if text == "best" else here.place(text, grid)
                        found.append(here.predict(placed, name=text, schedule=schedule))
                    except PencilmapError:
                        continue  # the grid does not allow this schedule or placement
    return found


def simulation(where: Where, p: Prediction) -> Simulation:
    """Return the run of a prediction, with exactly its placement."""
    here = replace(where, decomposition=p.grid.decomposition)
    transform = where.transform
    assert transform is not None
    best = p.placement == "best"
    placed = p.product or (here.best_placement(p.grid, _schedule(p), 0) if best else here.place(p.placement, p.grid))
    mapping = as_mapping(placed, p.placement)
    return Simulation(SimulatedNetwork(as_torus(where.network)), hosts(mapping), (transform.nx, transform.ny, transform.nz),
                      p.grid,
                      exchange=p.stages[0].algorithm, schedule=_schedule(p), labels={"placement": "candidate"})


def seconds(records: list[dict]) -> float:
    """Return the seconds of the whole transform, in which computing takes no time."""
    return float(median(records[0]["phases"]["total"]["max_s"]))


def judged(case: dict) -> list[object]:
    """Return the line of a case."""
    where = setting(**case)
    advised = plan(where).best.prediction
    rest = candidates(where)
    times = [seconds(r) for r in simulate_all([simulation(where, p) for p in [advised, *rest]], workers=2)]
    best = min(range(len(times)), key=times.__getitem__)
    chosen = [advised, *rest][best]
    return [f"{case['network']}, {case['tasks_per_node']} a node", case["fft"], len(rest), name(advised), name(chosen),
            f"{1e3 * times[0]:.4f}", f"{1e3 * times[best]:.4f}", f"{times[0] / times[best]:.3f}"]


def _schedule(p):
    return SEQUENCE if p.schedule is None else p.schedule.name


def name(p: Prediction) -> str:
    """Describe a candidate in one cell."""
    return " ".join((p.grid.decomposition.name, str(p.grid), p.placement, _schedule(p)))


@click.command()
@click.option("--seed", default=SEED, show_default=True)
@click.option("--cases", default=CASES, show_default=True)
@click.option("--write", is_flag=True, help="Also write the table into docs/results/advice.csv.")
def main(seed: int, cases: int, write: bool) -> None:
    """Print the table, and fail if fewer than nine in ten first choices are within 5 % of the best."""
    rows = []
    for case in drawn(seed, cases):
        rows.append(judged(case))
        click.echo(" ".join(map(str, rows[-1])), err=True)
    good = sum(float(str(row[-1])) <= WITHIN for row in rows)
    click.echo(markdown_table(COLUMNS, rows))
    if write:
        write_result(result_file(PAGE, "advice"), COLUMNS, rows)
    click.echo(f"\nseed {seed}: {good} of {len(rows)} first choices are within 5 % of the fastest")
    if good * CASES < LEAST * len(rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
