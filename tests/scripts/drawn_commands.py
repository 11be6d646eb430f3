"""Random commands, each with a number: tori, grids, placements, networks, files whole and damaged."""

import json
import math
import random

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import FORMATS, Job
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.times.costs import Costs
from tests.mapper.run_records import record
from tests.model.test_probe import made

RULES = ["dimension-order", "dimension-order:{order}", "dimension-order:{order}:plus", "dimension-order:parity",
         "minimal-adaptive", "minimal-adaptive:paths", "optimal-minimal", "all"]
EXCHANGES = ["alltoallv", "alltoall", "padded", "alltoallw", "p2p", "persistent", "bruck2", "bruck4", "bruck8", "node",
             "fftw"]
SCHEDULES = ["overlap", "overlap:{k}", "overlap:{k}:x", "overlap:{k}:z", "overlap:2:field", "overlap:1,{k},2", "pipelined",
             "pipelined:{k}", "two-way", "two-way:{k}", "opposite", "best"]
MACHINES = ["bluegene-l", "bluegene-p", "tpu-v4", "fugaku", "bluegene-l", "costs.toml", "costs.toml", "cray-xe6"]
TYPES = ["c2c", "r2c", "c2r", "dct", "dst", "chebyshev"]
FIGURES = {"link_bandwidth": (100, 900, "MB/s"), "injection_per_task": (50, 500, "MB/s"), "message_cost": (0.1, 9, "us"),
           "exchange_cost": (1, 90, "us"), "hop_latency": (20, 900, "ns"), "fft_rate_per_task": (0.1, 5, "Gflop/s"),
           "memory_bandwidth_per_node": (1, 30, "GB/s")}


class Draw(random.Random):
    """A random command, and its input files."""

    def __init__(self, number, folder):
        super().__init__(number)
        self.folder = folder

    def often(self, share, *words):
        """Return these words with some probability, else none."""
        return list(words) if self.random() < share else []

    def write(self, name, text):
        (self.folder / name).write_text(text, "utf-8")
        return name

    def torus(self, most=48):
        """Return the text of a torus, and its extents."""
        while True:
            shape = [self.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9)) for _ in range(self.choice((1, 2, 2, 3, 3, 3, 4)))]
            if 3 <= math.prod(shape) <= most:
                break
        kind = self.random()
        text = "x".join(map(str, shape)) + (":mesh" if kind < 0.2 else "")
        if kind > 0.8 and len(shape) > 1:
            text = "x".join(f"{n}{self.choice(('w', ''))}" for n in shape)
        return text, shape

    def grid(self, tasks):
        """Return rows and columns, usually for so many tasks."""
        tasks = max(2, tasks - (self.random() < 0.04))
        R = self.choice([n for n in range(1, tasks + 1) if tasks % n == 0])
        return f"{R}x{tasks // R}"

    def fft(self):
        size = self.choice((f"{self.randint(6, 70)}", f"{self.randint(5, 60)}x{self.randint(5, 60)}x{self.randint(5, 60)}"))
        return size + "".join([*self.often(0.5, ":" + self.choice(TYPES)), *self.often(0.2, ":single"),
                               *self.often(0.3, f":fields={self.randint(2, 4)}")])

    def machine(self):
        """Return a machine file with most figures, each drawn."""
        values = {"shape": '"4x4x4"', "tasks_per_node": "2", **{
            name: f'"{self.uniform(low, high):.4g} {unit}"' for name, (low, high, unit) in FIGURES.items()
            if name == "link_bandwidth" or self.random() < 0.8}, "contention": f"{self.random():.3g}"}
        tables = (f"[{name}]\nvalue = {value}\nsource = \"drawn\"\ncertain = true\n" for name, value in values.items())
        return self.write("costs.toml", 'name = "costs"\ntitle = "Drawn"\n' + "".join(tables))

    def where(self, most=48):
        """Return options for a network and a grid on the network."""
        text, shape = self.torus(most)
        tasks = self.choice((1, 1, 1, 2, 3))
        slots = math.prod(shape) * tasks
        options = ["--network", text, "-t", str(tasks)]
        if self.random() < 0.45:
            self.machine()
            options += ["-m", self.choice(MACHINES)]
            options[1] += "" if ":" in text or "w" in text else ":torus"  # whatever the machine hands out
        else:
            options += ["--bandwidth", f"{self.randint(1, 90)}00 MB/s"]
        if self.random() < 0.2:
            failed = {"-".join(str(self.randrange(n)) for n in shape) for _ in range(self.randint(1, 2))}
            options += ["--failed", ",".join(sorted(failed))]
            slots -= len(failed) * tasks
        if self.random() < 0.15:
            options, slots = [*options, "--idle"], max(2, slots - self.randint(1, 4))
        return options, shape, slots

    def placed(self, options, shape, slots):
        """Return a placement, and a grid that usually fits."""
        letters = list("xyzabcd"[:len(shape)])
        self.shuffle(letters)
        grid, tasks = self.grid(slots), int(options[options.index("-t") + 1])
        if self.random() < 0.6:
            return ["-g", grid, "-p", self.choice((
                "default", "default:nt", "default:tn", "default:" + "".join([*letters, "t"]),
                "default:" + "".join(["t", *letters]), f"search:seed={self.randint(1, 9)},evaluations=100"))]
        box = [self.choice([d for d in range(1, n + 1) if n % d == 0]) for n in shape]
        extent = dict(zip("xyzabcd", shape, strict=False))
        plane = letters[:2] if len(letters) > 1 else 2 * letters
        name, nodes = self.choice((
            (f"box:{'x'.join(map(str, box))}", math.prod(box)), (f"line:{letters[0]}", extent[letters[0]]),
            ("plane:" + "".join(plane), math.prod(extent[letter] for letter in plane)), ("ring", 0),
            (f"lattice:seed={self.randint(1, 9)},evaluations=100", 0)))
        R = nodes * tasks
        return ["-g", f"{R}x{max(1, slots // R)}" if R and slots else grid, "-p", name]

    def edges(self):
        """Return a connected network without coordinates."""
        n = self.randint(4, 10)
        pairs = {(k, self.randrange(k)) for k in range(1, n)} | {(self.randrange(1, n), 0) for _ in range(n // 2)}
        pairs |= {(a, b) for a, b in ((self.randrange(n), self.randrange(n)) for _ in range(n)) if b < a}
        rate = self.often(0.5, " {} MB/s")
        lines = (f"n{a} n{b}" + "".join(one.format(self.choice((100, 200, 300))) for one in rate) for a, b in sorted(pairs))
        text = "".join(f"{line}\n" for line in lines)
        return self.write("net.edges", f"{text}n0 {{'kind': 'host'}}\n"), n  # all vertices are hosts, leaves or not


def predict(draw):
    options, shape, slots = draw.where()
    order = list("xyzabcd"[:len(shape)])
    draw.shuffle(order)
    k = draw.randint(2, 5)
    options += ["-n", draw.fft(), *draw.placed(options, shape, slots), *draw.often(0.2, "-p", "default:nt")]
    options += draw.often(0.35, "--routing", draw.choice(RULES).format(order="".join(order)))
    options += draw.often(0.4, "-e", draw.choice(EXCHANGES))
    options += draw.often(0.4, "--schedule", draw.choice(SCHEDULES).format(k=k))
    options += draw.often(0.3, "--direction", draw.choice(("backward", "forward", "pair")))
    options += draw.often(0.15, "--halo", str(draw.randint(1, 3)))
    if draw.random() < 0.15:
        options += ["--decomposition", draw.choice(("brick", f"brick:{draw.grid(slots // 2)}x2"))]
    return ["predict", *options, "--json"]


def slabs(draw):
    options, _shape, slots = draw.where()
    return ["predict", *options, "-n", draw.fft(), "--decomposition", "slab", "-g", str(slots), "-p",
            draw.choice(("default", "default:nt", "search:evaluations=100", "best")), "-e", draw.choice(EXCHANGES), "--json"]


def line(draw):
    options, _shape, slots = draw.where(24)
    algorithm = draw.choice(("transpose", "binary2", "binary4", "dft", "dft-reduce"))
    return ["predict", *options, "--decomposition", "line", "--size", str(draw.choice((1, slots)) * draw.randint(2, 900)),
            "--algorithm", algorithm, "--order", draw.choice(("natural", "transposed", "transposed-both")),
            *draw.often(0.5, "--message-cost", f"{draw.randint(1, 90) / 10} us"), *draw.often(0.5, "--ports", "2"), "-p",
            draw.choice(("default", "default", "search:evaluations=50")), "--json"]


def on_a_graph(draw):
    name, n = draw.edges()
    tasks = draw.choice((1, 1, 2))
    return ["predict", "--network", name, "-t", str(tasks), "--bandwidth", "100 MB/s", "-n", draw.fft(), "-g",
            draw.grid(n * tasks), "-p", draw.choice(("default", "default:tn", "default", "search")),
            *draw.often(0.3, "--routing", draw.choice(("optimal-minimal", "shortest-path", "all"))),
            *draw.often(0.3, "-e", draw.choice(EXCHANGES)), "--json"]


def best(draw):
    options, _shape, slots = draw.where(16)
    options = [*options, *draw.often(0.7, "-n", draw.fft())]
    named = draw.often(0.7, "-g", draw.grid(slots))
    return ["predict" if named else "plan", *options, *named,
            *draw.often(0.3, "--robust"),
            *draw.often(0.3, "--schedule", draw.choice(("overlap:3", "two-way", "opposite"))),
            "--json"]


def table(draw):
    options, shape, slots = draw.where()
    return ["predict", *options, "-n", draw.fft(), *draw.placed(options, shape, slots), "--wide", "--terms",
            *draw.often(0.3, "-e", draw.choice(EXCHANGES)), *draw.often(0.3, "--schedule", "overlap:3")]


def written(draw):
    options, shape, slots = draw.where()
    letters = "xyz"[:len(shape)] if len(shape) < 4 else ""
    template = "r" + "c".join(f"{{{letter}}}" for letter in letters) if letters else "nid{node:05d}"
    return ["map", *options, *draw.placed(options, shape, slots), "-f", draw.choice(list(FORMATS)), "-o",
            "made", "--hosts", draw.choice((template, "nid{node:05d}")), *draw.often(0.3, "--cores-per-task", "2")]


def read(draw):
    """Return files of another program, with changes."""
    text, shape = draw.torus(24)
    tasks = draw.choice((1, 2, 2))
    site, name = Site(parse_torus(text), tasks), draw.choice(list(FORMATS))
    grid = draw.grid(math.prod(shape) * tasks)
    try:
        mapping = as_mapping(place("default:nt", site, parse_grid(grid)), "default")
        content = FORMATS[name].write(mapping, Job(site, Hosts(site.network, "n{node}")))
    except PencilmapError as error:
        content = str(error)
    lines = content.splitlines(keepends=True)
    for _ in range(draw.choice((0, 1, 1, 2))):
        at = draw.randrange(len(lines))
        lines[at] = draw.choice((
            draw.choice(lines), "", 2 * lines[at], lines[at].replace("1", "2", 1), lines[at].replace("0", "", 1), "# said\n",
            lines[at].rstrip("\n") + draw.choice((" 1\n", ":2\n", ",\n", "-1\n"))))
    draw.write("given", "".join(lines))
    other = draw.choice(list(FORMATS))
    what = draw.choice((["check", "given", "-n", "32", *draw.often(0.3, "-f", name)],
                        ["map", "--from", "given", "-o", "made", "-f", other, *draw.often(0.3, "--from-format", name)]))
    return [*what, "--network", text, "-t", str(tasks), "--bandwidth", "1 GB/s", "-g", grid,
            *draw.often(0.9, "--hosts", "n{node}"), *draw.often(0.5, "--json")]


def records(draw, n, noise=0.1):
    """Return runs on tori with the times of the time model, plus noise."""
    one_shape = draw.torus(36)
    costs = Costs(injection_per_task=draw.uniform(5e7, 5e8), message_cost_s=draw.uniform(1e-7, 9e-6), contention=0.3,
                  exchange_cost_s=draw.uniform(1e-6, 9e-5), fft_rate_per_task=1e9, memory_bandwidth_per_node=4e9)
    made_of = []
    for _ in range(n):
        text, shape = one_shape if draw.random() < 0.95 else draw.torus(36)
        torus = parse_torus(text, bandwidth=(2e8,) * len(shape))
        site, tasks = Site(torus, 1), math.prod(shape)
        grid = parse_grid(next(f"{R}x{tasks // R}" for R in range(math.isqrt(tasks), 0, -1) if tasks % R == 0))
        placement = draw.choice(("default", "default:nt"))
        mapping = as_mapping(place(placement, site, grid), placement)
        one = record(mapping, parse_transform(draw.choice(("32", "48", "64:r2c"))), costs, {"link_bandwidth": "200 MB/s"},
                     draw.choice(("hostname", "hostname", "assumed", "none")))
        for phase in one["phases"].values():
            factor = math.exp(noise * draw.gauss(0, 1))
            phase.update({key: [factor * t for t in phase[key]] for key in phase})
        made_of.append(one)
    return draw.write("runs.jsonl", "".join(json.dumps(one) + "\n" for one in made_of))


def compared(draw):
    return ["compare", records(draw, draw.randint(1, 4), draw.choice((0, 0.05, 0.4))), *draw.often(0.7, "--json")]


def fitted(draw):
    return ["study", "calibrate", records(draw, draw.randint(1, 12), draw.choice((0, 0.02, 0.2))),
            *draw.often(0.4, "--rule", "every-second"), *draw.often(0.8, "--json")]


def probed(draw):
    """Return a result of network_probe with times from figures, plus noise."""
    shape = draw.choice(((3,), (8,), (4, 3), (3, 5), (2, 6), (4, 4), (3, 3, 3), (4, 2, 3), (2, 2, 4)))
    text = "x".join(map(str, shape))
    torus = parse_torus(text)
    exact = made(torus, (1e9,) * len(shape), start_s=draw.uniform(5e-7, 9e-6), hop_s=draw.uniform(2e-8, 9e-7),
                 ports=draw.choice((1, 2, 3)))
    rng, noise = np.random.default_rng(draw.randrange(10**6)), draw.choice((0, 0.01, 0.1))

    def noisy(seconds):
        return seconds * float(np.exp(noise * rng.standard_normal()))

    trips = [{"hops": one.hops, "from": 0, "to": 1, "bytes": one.size, "seconds": noisy(one.seconds), "least": 1e-9}
             for one in exact.trips]
    bursts = [{"from": 0, "to": list(one.to), "bytes": one.size, "seconds": noisy(one.seconds), "least": 1e-9}
              for one in exact.bursts]
    streams = [{"axis": one.axis, "pairs": [list(pair) for pair in one.pairs], "bytes": one.size,
                "seconds": noisy(one.seconds), "least": 1e-9} for one in exact.streams]
    result = {"schema": "pencilmap-network-probe/1", "program": {"name": "network_probe", "version": "0"}, "mpi": "none",
              "ranks": torus.n_nodes, "nodes": torus.n_nodes, "torus": text, "tasks_per_node": 1,
              "coordinate_source": "assumed", "reps": 1, "rounds": 1, "labels": {}, "round_trips": trips, "bursts": bursts,
              "streams": streams}
    draw.write("probe.jsonl", json.dumps(result) + "\n")
    return ["study", "calibrate", "--probe", "probe.jsonl", *draw.often(0.2, "-o", "made.toml"), *draw.often(0.7, "--json")]


def shaped(draw):
    nodes = sorted(draw.sample((4, 6, 8, 9, 12, 16, 18, 24, 30, 32), draw.choice((1, 1, 2))))
    which = draw.choice((["-d", str(draw.randint(1, 3))], ["-m", draw.choice(MACHINES[:4])]))
    return ["study", "shapes", "-N", ",".join(map(str, nodes)), *which, "--bandwidth", "1 GB/s", "-t",
            str(draw.choice((1, 1, 2))),
            *draw.often(0.8, "-n", draw.fft()), *draw.often(0.2, "--mesh"), "--top", "3",
            *draw.often(0.2, "--scaling", "weak"), "--json"]


def advised(draw):
    draw.machine()
    text, _shape = draw.torus(12)
    return ["plan", *draw.choice((["--bandwidth", "2 GB/s"], ["-m", "costs.toml"])), "--network",
            text if ":" in text or "w" in text else f"{text}:torus", "-t",
            str(draw.choice((1, 2))), "-n", draw.fft(), *draw.often(0.4, "--threads", "2"), *draw.often(0.7, "--json")]


def scaled(draw):
    """Return points of other programs."""
    sizes, law = draw.sample((32, 64, 128, 256), 2), draw.uniform(0.5, 1.1)
    rows = [f"{n},{p},{n**3 / 64**3 * p**-law * math.exp(0.05 * draw.gauss(0, 1)):.9g}\n" for n in sizes
            for p in (4, 8, 16, 32, 64)[:draw.randint(1, 5)]]
    draw.write("points.csv", "".join(["n,ranks,time_s\n", *rows]))
    return ["study", "scaling", "--points", "points.csv", *draw.often(0.5, "--network", "4x4x4", "--bandwidth", "1 GB/s"),
            *draw.often(0.5, "--transposes", str(draw.choice((2, 4)))), *draw.often(0.7, "--json")]


#: kinds of commands, and the number of each at every commit
KINDS = {predict: 170, slabs: 25, line: 45, on_a_graph: 40, best: 25, table: 30, written: 60, read: 90, compared: 25,
         fitted: 25, probed: 20, shaped: 20, advised: 10, scaled: 20}
#: Another processor sums in another order, and so chooses another of two equal placements or fits there.
UNSTABLE = {"best 15", "predict 113", "predict 145", "fitted 8", "fitted 13", "fitted 19", "fitted 21", "probed 10",
            "probed 13"}
