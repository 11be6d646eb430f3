"""Compare `best` with the launch order, Scotch and the bound, on networks of hosts and switches and on graphs.

docs/results/placements-on-networks.csv has the networks and the lengths; docs/placement-search.md shows the first network of
each kind.

    .venv/bin/python scripts/maintenance/compare_networks.py            # prints all networks, in about three minutes of CPU
    .venv/bin/python scripts/maintenance/compare_networks.py --write    # and writes the file and the table in the document

The program will fail if the worst cost of `best` over the routings of a network is above that of the launch order. Without
the Debian package scotch it keeps the lengths of Scotch.
"""

import csv
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import click
import networkx as nx
import numpy as np

from pencilmap.mapper.placements.best import best
from pencilmap.mapper.seeds.default_order import default
from pencilmap.mapper.seeds.graph import scotch_is_there, scotch_mapping
from pencilmap.model.kinds import judged_routings, network_named
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.placement.allocation import Allocation, Placement, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import lower_bound
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.tables import shown

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "placement-search.md"
FILE = ROOT / "docs" / "results" / "placements-on-networks.csv"
MADE_BY = "scripts/maintenance/compare_networks.py"
ASKED = ("network", "hosts", "tasks_per_node", "grid")
FOUND = ("launch", "best", "bound", "launch_worst", "scotch_worst", "best_worst", "cpu_s")
COLUMNS = ("network", ">hosts", ">tasks", "grid", ">launch order", ">`best`", ">bound", ">launch order, worst",
           ">Scotch, worst", ">`best`, worst")
GRAPHS: dict[str, Callable[[], nx.Graph]] = {  #: networks that no text names
    "hypercube of 64": lambda: nx.hypercube_graph(6),
    "random 5-regular of 48": lambda: nx.random_regular_graph(5, 48, seed=1), "Petersen": nx.petersen_graph}

Case = dict[str, str]


def cases() -> list[Case]:
    """Return the lines of the file."""
    return list(csv.DictReader(FILE.read_text(encoding="ascii").splitlines()))


def asked(case: Mapping[str, str]) -> tuple[Site, ProcessGrid]:
    """Return the site and the grid of a case; hosts of a part are drawn with seed 1, all if `hosts` is their number."""
    name = case["network"]
    network = from_networkx(GRAPHS[name](), name) if name in GRAPHS else network_named(name)
    hosts = sorted(random.Random(1).sample(range(network.n_nodes), int(case["hosts"])))
    usable = Allocation(network, np.array(hosts))
    return Site(network, int(case["tasks_per_node"]), usable, idle=True), parse_grid(case["grid"])


def tried(case: Mapping[str, str], scotch: bool) -> Case:
    """Return the case with newly computed lengths, Scotch's only if asked for."""
    site, grid = asked(case)
    began = process_time()
    ours = _costs(best("", site, grid), site)
    found = {"cpu_s": f"{process_time() - began:.1f}"}
    launch = _costs(default("", site, grid), site)
    numbers = {"launch": launch[0], "best": ours[0], "bound": float(lower_bound(site, grid).value) * _scale(site),
               "launch_worst": max(launch), "best_worst": max(ours)}
    if scotch and case["scotch_worst"] != "-":
        numbers["scotch_worst"] = max(_costs(scotch_mapping(site, grid), site))
    return dict(case) | {name: f"{value:.4f}" for name, value in numbers.items()} | found


def _costs(placed: Placement, site: Site) -> Any:
    """Return the lengths under each routing of the network, the default first; they count the hosts in use."""
    return [float(predict(placed, site=site, routing_name=rule).cost) * _scale(site)
            for rule in judged_routings(site.network)]


def _scale(site: Site) -> Any:
    return site.allocation.n_nodes / site.network.n_nodes


def is_worse(case: Mapping[str, str]) -> bool:
    """Return whether the worst cost of `best` is above that of the launch order."""
    return float(case["best_worst"]) > float(case["launch_worst"]) + 1e-4


def of_each_kind(lines: list[Case]) -> list[Case]:
    """Return the first case of each kind of network."""
    return list({line["network"].partition(":")[0]: line for line in reversed(lines)}.values())[::-1]


def table(lines: list[Case]) -> str:
    """Return cases as a Markdown table."""
    return markdown_table(COLUMNS, [
        [f"`{line['network']}`" if ":" in line["network"] else line["network"], *(line[name] for name in ASKED[1:]),
         *(_rounded(line[name]) for name in FOUND[:6])] for line in lines])


def _rounded(text: str) -> str:
    return text if text == "-" else f"{float(text):.2f}"


@click.command()
@click.option("--write", is_flag=True, help=f"Write {FILE.name} and {PAGE.relative_to(ROOT)}.")
def main(write: bool) -> None:
    """Lengths by launch order, Scotch and `best`, under the default routing and under the worst, and bounds."""
    lines = []
    with shown() as show:
        for case in cases():
            lines.append(tried(case, scotch_is_there()))
            show(f"{case['network']} {case['grid']}: {lines[-1]['launch']} -> {lines[-1]['best']}")
    click.echo(table(lines))
    if write:
        with FILE.open("w", encoding="ascii", newline="") as file:
            rows = csv.DictWriter(file, [*ASKED, *FOUND], lineterminator="\n")
            rows.writeheader()
            rows.writerows(lines)
        fill(PAGE, MADE_BY, table(of_each_kind(lines)))
    worse = [f"{line['network']} {line['grid']}" for line in lines if is_worse(line)]
    if worse:
        click.echo(f"WORSE than the launch order: {'; '.join(worse)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
