"""Suites of `pencilmap validate simulated`: a table from a name to its simulations and claims.

To add a suite, write a function here and a line in `SUITES`; to add a claim, write a line in `CLAIMS`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, prod
from typing import Any

from pencilmap.mapper.setting import Setting, setting
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE
from pencilmap.model.times.published import bluegene_l_512

FOLDED_FROM = 512  # from 512^3 on, the buffers of all ranks share their memory; the times stay right


class ValidationError(PencilmapError):
    """The validation does not exist or cannot run."""


@dataclass(frozen=True)
class Case:
    """A placement of a transform on a network."""

    #: grid, placement, fft: the options of `pencilmap simulate`
    grid: str
    placement: str
    fft: str
    #: machine, torus, bandwidth: a machine of the package, whose injection limit then applies, or a network with a bandwidth
    machine: str | None = None
    torus: str | None = None
    bandwidth: str | None = None
    tasks_per_node: int = 1
    verify: bool = False  #: whether the run verifies the transform
    schedule: str = SEQUENCE
    direction: str = FORWARD  #: forward, backward, or pair: a forward and a backward transform at once
    exchange: str = DEFAULT_ALGORITHM
    message_s: float = 0.0  #: seconds to start a message on a rank
    injection: float = 0.0  #: bytes per second of a node, 0 for no limit; with faster links, the torus is a crossbar
    decomposition: str = PENCIL.name  #: for bricks, the remaps are validated
    halo: int = 0  #: planes of a halo; above 0, the halo is validated
    rule: str = ""  #: routing of a network that is no torus; empty for its default

    @property
    def name(self) -> str:
        """Label of the case in records, without blanks: the same for the same case in every suite."""
        where = filter(None, (self.machine, self.torus, self.bandwidth))
        how = [text for text, usual in ((self.schedule, SEQUENCE), (self.direction, FORWARD)) if text != usual]
        how += [f"{name}={value}" for name, value in (("message", self.message_s), ("injection", self.injection)) if value]
        how += [self.decomposition] * (self.decomposition != PENCIL.name)
        how += [self.rule] * bool(self.rule)
        how += [f"halo={self.halo}"] * (self.halo > 0)
        how += [self.exchange] * (self.exchange != DEFAULT_ALGORITHM)
        return ",".join([*where, f"t={self.tasks_per_node}", self.grid, self.placement, self.fft, *how])

    @property
    def is_usual(self) -> bool:
        """Whether the exchanges run in sequence, each with all messages at once: the reference of other cases."""
        return self.schedule == SEQUENCE and self.exchange == DEFAULT_ALGORITHM

    @property
    def setup(self) -> tuple[Any, ...]:
        """Return the values that the case shares with other placements and schedules of the same transform."""
        return (self.machine, self.torus, self.bandwidth, self.tasks_per_node, self.grid, self.fft, self.message_s,
                self.injection)

    def setting(self) -> Setting:
        """Return machine and transform, resolved."""
        return setting(machine=self.machine, network=self.torus, tasks_per_node=self.tasks_per_node,
                       bandwidth=self.bandwidth, fft=self.fft, decomposition=self.decomposition,
                       direction=self.direction)

    def process_grid(self) -> ProcessGrid:
        return self.setting().grid(self.grid)

    @property
    def timing_only(self) -> bool:
        return not self.verify and self.longest >= FOLDED_FROM

    @property
    def longest(self) -> int:
        """Return the elements along the longest extent."""
        transform = parse_transform(self.fft)
        return max(transform.nx, transform.ny, transform.nz)


@dataclass(frozen=True)
class Claim:
    """A claim about some rows of a validation."""

    text: str
    of: Callable[[Any], bool]  #: row -> whether the claim applies
    ratio: Callable[[Any], float]  #: row -> a number that must lie between `least` and `most`
    least: float
    most: float

    def judge(self, rows: Iterable[Any]) -> tuple[int, float, float, bool] | None:
        """Return number of rows, smallest and largest ratio, and whether the claim holds; None if no row applies."""
        ratios = [self.ratio(row) for row in rows if self.of(row)]
        if not ratios:
            return None
        return len(ratios), min(ratios), max(ratios), self.least <= min(ratios) and max(ratios) <= self.most


def _is_on_512(*schedules: str, direction: str = FORWARD) -> Callable[[Any], bool]:
    """Select rows of 8x64 on 8x8x8 under one of these schedules."""
    return lambda row: (row.case.torus, row.case.grid, row.case.direction) == ("8x8x8", "8x64", direction) and \
        row.case.schedule in schedules


def _is_long_ring_map(row: Any) -> bool:
    """Select ring maps on rings of more than 4 nodes, whose shared link becomes idle before the end."""
    return row.case.placement.startswith("ring:") and max(row.case.setting().network.shape) > 4


CLAIMS = (
    Claim("simulated over predicted network time, every exchange: within 0.5 %",
          lambda row: row.case.schedule == SEQUENCE and not row.case.message_s,
          lambda row: row.network_ratio, 0.995, 1.005),
    Claim("simulated over predicted network time, networks other than tori: within 0.2 %",
          lambda row: not row.case.setting().network.has_products, lambda row: row.network_ratio, 0.998, 1.002),
    Claim("simulated with software over published, CO mode on 2x2x2 cubes from 256^3 on, rows and columns: within 10 %",
          lambda row: row.published_s is not None and (row.case.placement, row.case.tasks_per_node) == ("box:2x2x2", 1)
          and int(row.case.fft) >= 256, lambda row: row.published_ratio, 0.9, 1.1),
    Claim("simulated over predicted, exchanges beside each other: within 0.2 %",
          lambda row: row.case.schedule != SEQUENCE and not _is_long_ring_map(row), lambda row: row.network_ratio,
          0.998, 1.002),
    Claim("simulated over predicted, ring maps of more than 4 nodes beside each other: 0 to 12 % more",
          _is_long_ring_map, lambda row: row.network_ratio, 0.998, 1.12),
    Claim("simulated over predicted, messages that cost 2 us each: within 15 %", lambda row: row.case.message_s > 0,
          lambda row: row.network_ratio, 0.85, 1.15),
    Claim("messages of 16 bytes that cost 2 us each, by bruck2: at least twice as fast as alltoallv",
          lambda row: row.case.message_s > 0 and row.case.exchange == "bruck2", lambda row: row.gain, 2.0, inf),
    Claim("8x64 on 8x8x8 in 8 chunks: at least 1.30 times faster than the best placement in sequence",
          _is_on_512("overlap:8:z"), lambda row: row.gain, 1.30, inf),
    Claim("8x64 on 8x8x8 two ways: at least 1.48 times faster than the best placement in sequence",
          _is_on_512("two-way"), lambda row: row.gain, 1.48, inf),
    Claim("8x64 on 8x8x8 two ways, and a pair: at most 1.01 times the lower bound",
          lambda row: _is_on_512("two-way")(row) or _is_on_512("opposite", direction=PAIR)(row),
          lambda row: row.bound_ratio, 0.999, 1.01),
)


def paper() -> list[Case]:
    """Return every configuration and size of the published table, small transforms first."""
    cells = bluegene_l_512()
    cases = dict.fromkeys((c.transform.nx, c.tasks_per_node, str(c.grid), c.placement) for c in cells if c.phase != "total")
    return [Case(grid, placement, str(n), machine="bluegene-l", tasks_per_node=tasks)
            for n, tasks, grid, placement in sorted(cases, key=lambda key: key[:2])]


RATE = "148MB/s"
TORI = {  # torus: [(grid, placement, fft)]; every block even
    "8x8": [("8x8", "default", "64"), ("4x16", "box:2x2", "64")],
    "8x8:mesh": [("8x8", "default", "64"), ("4x16", "box:2x2", "64")],
    "5x5": [("5x5", "default", "50")],
    "6x6": [("6x6", "default", "60"), ("6x6", "box:3x2", "60")],
    "16x16": [("16x16", "default", "128"), ("16x16", "box:4x4", "128")],
    "32x32:mesh": [("32x32", "default", "128")],
    "4x4x4": [("8x8", "best", "64")],
    "4x4x4:mesh": [("8x8", "box:2x2x2", "64"), ("4x16", "default", "64")],
    "3x5x7": [("15x7", "default", "105")],
    "8wx8x4w": [("16x16", "best", "128"), ("16x16", "default", "128")],
    "8x8x8:mesh": [("8x64", "box:2x2x2", "128"), ("64x8", "best", "128")],
    "4x4x4x4": [("16x16", "best", "128"), ("16x16", "default", "128")],
    "4x4x4x4:mesh": [("16x16", "box:2x2x2x2", "128")],
    "4x4x4x4x2": [("16x32", "default", "128"), ("32x16", "box:2x2x2x2x2", "128")],
    "4x4x2x2x2:mesh": [("8x16", "best", "128")],
    "2x2x2x2x2x2": [("8x8", "default", "64")],
    "4x4x4x2x2x2": [("8x64", "default", "128"), ("64x8", "best", "128")],
    "4x4x4x2x2x2:mesh": [("8x64", "default", "128")],
    "4wx4x4wx2x2x4": [("32x32", "best", "128")],
    "16x16x16": [("64x64", "box:4x4x4", "128")],
    "4x4x4x4x4x4": [("64x64", "best", "128")],
}


def tori() -> list[Case]:
    """Return tori and meshes of 2 to 6 dimensions, 25 to 4096 ranks."""
    return [Case(grid, placement, fft, torus=torus, bandwidth=RATE)
            for torus, item in TORI.items() for grid, placement, fft in item]


def quick() -> list[Case]:
    """Return lines compared with squares and cubes, verified; they run for a few seconds."""
    shapes = [("4x4:mesh", "4x4", "default", "32"), ("4x4:mesh", "4x4", "box:2x2", "32"),
              ("4x4x4", "8x8", "box:2x2x2", "64"), ("4x4x4:mesh", "8x8", "best", "64")]
    return [Case(grid, placement, fft, torus=torus, bandwidth=RATE, verify=True) for torus, grid, placement, fft in shapes]


BESIDE = {  # (torus, grid, placement, fft): schedules; blocks and chunks are even, unless the line says otherwise
    ("8x8", "8x8", "default", "128"): ("overlap:2:x", "overlap:4:x", "overlap:8:x", "overlap:4:z", "pipelined:4", "two-way"),
    ("8x8:mesh", "8x8", "default", "128"): ("overlap:8:z", "two-way"),
    ("4x8", "4x8", "default", "120x128x128"): ("overlap:1,2,4,8:x", "overlap:4"),  # 15 in 4 chunks: 3, 4, 4, 4
    ("4x4:mesh", "4x4", "box:2x2", "128"): ("overlap:4:x", "two-way"),
    ("4x4x4", "4x16", "default", "128"): ("overlap:8:x", "overlap:8:z", "two-way"),
    ("4x4x4", "8x8", "default", "64:fields=4"): ("overlap:4:field", "opposite"),
    ("4x4x4:mesh", "4x16", "default", "128"): ("overlap:4:z", "two-way"),
    ("4x4x8", "8x16", "default", "128"): ("overlap:8:x", "two-way"),
    ("4x4x4x4", "16x16", "default", "128"): ("overlap:4:x", "two-way"),
    ("4x4x2x2x2:mesh", "8x16", "default", "128"): ("overlap:8:z", "two-way"),
    ("2x2x2x2x2", "4x8", "default", "64"): ("overlap:2:x", "two-way"),
    ("8x8x8", "8x64", "box:2x2x2", "256"): (SEQUENCE,),
    ("8x8x8", "8x64", "default", "256"): (SEQUENCE, "overlap:2:x", "overlap:4:x", "overlap:8:z", "two-way"),
}
PAIRS = (("8x8", "8x8", "default", "64"), ("4x4:mesh", "4x4", "default", "64"), ("8x8x8", "8x64", "default", "256"))


def overlap() -> list[Case]:
    """Return concurrent exchanges, 16 to 512 ranks, small transforms first."""
    result = [Case(grid, placement, fft, torus=torus, bandwidth=RATE, schedule=schedule)
              for (torus, grid, placement, fft), schedules in BESIDE.items() for schedule in schedules]
    result += [Case(grid, placement, fft, torus=torus, bandwidth=RATE, schedule="opposite", direction=PAIR)
               for torus, grid, placement, fft in PAIRS]
    return sorted(result, key=lambda case: case.longest)


TILINGS = {  # (torus, tasks per node, grid, fft): the best digit pattern in sequence, a tiling
    ("7x7", 1, "7x7", "49"): ("digits:x=r7,y=c7", "lattice:c=1.2.0/0.7.0/0.0.1,tile=41.46.40.48.4.47.5"),
    ("5x5", 2, "10x5", "50"): ("digits:x=r5,y=c5,t=r2", "lattice:c=1.2.0/0.5.0/0.0.2,tile=8.9.7.13.3.47.48.29.27.28"),
    ("4x4x4", 2, "8x16", "64"): ("digits:x=r4,y=c4,z=c4,t=r2",
                                 "lattice:c=1.1.1.0/0.2.0.0/0.0.2.0/0.0.0.2,tile=61.9.57.13.74.126.78.122"),
}
RINGS = {  # (torus, grid, fft, schedule): the best digit pattern of concurrent exchanges, ring maps
    ("4x4x4", "8x8", "64", "overlap:4:x"): ("digits:x=r4,y=r2c2,z=c4", "ring:x=r4,y=1.0/2.3,z=c4"),
    ("4x4x4", "2x32", "64", "overlap:4:z"): ("digits:x=r2c2,y=c4,z=c4", "ring:x=1.0/2.3,y=c4,z=c4"),
    ("4x4x4", "32x2", "64", "overlap:8:x"): ("digits:x=r4,y=r4,z=r2c2", "ring:x=r4,y=r4,z=1.0/2.3"),
    ("6x6", "4x9", "72", "overlap:4:x"): ("ring:x=1.2/0.3/5.4,y=1.2/0.3/5.4",),
    ("7x8", "14x4", "56", "overlap:4:x"): ("ring:x=r7,y=0.1/2.3/7.5/6.4",),
    ("8x8", "4x16", "64", "overlap:4:x"): ("digits:x=c2r4,y=c8", "ring:x=0.2.7.6/1.3.5.4,y=c8"),
    ("5x9", "15x3", "90", "overlap:2:x"): ("digits:x=r5,y=r3c3", "ring:x=r5,y=0.1.2/6.5.4/8.7.3"),
}


def maps() -> list[Case]:
    """Return three tilings in sequence and ring maps with overlapping exchanges, after the best digit patterns."""
    result = [Case(grid, placement, fft, torus=torus, bandwidth=RATE, tasks_per_node=tasks)
              for (torus, tasks, grid, fft), placements in TILINGS.items() for placement in placements]
    return result + [Case(grid, placement, fft, torus=torus, bandwidth=RATE, schedule=schedule)
                     for (torus, grid, fft, schedule), placements in RINGS.items() for placement in placements]


CABLE = "1GB/s"
THICK = "host=1GB/s,up=2GB/s"
TREE, SMALL_TREE = "fat-tree:leaves=9,hosts=8,taper=2", "fat-tree:leaves=8,hosts=4,up=2,pods=2,core=2"
DRAGONFLY = "dragonfly:a=4,p=2,h=2"
NETWORKS = {  # (network, bandwidth): [(tasks per node, grid, placement, fft, routing)]; every block even
    (TREE, CABLE): [(1, "9x8", "default", "144", ""), (1, "9x8", "default", "144", "static"),
                    (1, "8x9", "default", "144", ""), (2, "12x12", "default:tn", "144", "static")],
    (SMALL_TREE, CABLE): [(2, "8x8", "default", "64", ""), (1, "4x8", "default", "64", "static")],
    ("fat-tree:leaves=4,hosts=8,up=4,links=2", THICK): [(2, "8x8", "default", "64", "")],
    ("fat-tree:leaves=8,hosts=8,up=4,rails=2,use=task", THICK): [(2, "8x8", "default", "64", "")],
    (DRAGONFLY, CABLE): [(1, "8x9", "default", "144", ""), (1, "12x6", "default", "144", ""),
                         (2, "12x12", "default:tn", "144", ""), (1, "12x6", "default", "144", "valiant"),
                         (1, "12x6", "default", "144", "shortest-path"), (1, "6x12", "best", "72", "")],
    ("dragonfly:a=4,p=4,groups=4,cables=4", "host=1GB/s,local=2GB/s,global=4GB/s"): [(1, "8x8", "default", "64", "")],
    ("dragonfly-plus:leaves=2,spines=2,hosts=4,groups=4", CABLE): [(1, "4x8", "default", "64", ""),
                                                                   (2, "8x8", "default", "64", "valiant")],
    ("hyperx:4x4,hosts=4", CABLE): [(1, "8x8", "default", "128", ""), (2, "8x16", "default:tn", "128", "")],
    ("hyperx:2x3,hosts=4,cables=2", CABLE): [(1, "4x6", "default", "48", "each-hop")],
    ("4x8:twisted", CABLE): [(1, "4x8", "default", "64", ""), (2, "8x8", "default", "64", "dimension-order"),
                               (1, "4x8", "best", "64", "")],
    ("4x4x8:twisted", CABLE): [(1, "8x16", "default", "128", "dimension-order"), (1, "8x16", "default", "128", ""),
                               (1, "4x32", "best", "64", "")],
    ("fat-tree:leaves=32,hosts=16,taper=2", CABLE): [(1, "8x64", "default", "256", "")],
    ("fat-tree:leaves=8,hosts=16,taper=2", CABLE): [(1, "8x16", "best", "64", "static")],
    ("fat-tree:leaves=10,hosts=12,up=9", CABLE): [(1, "8x15", "best", "120", "")],
    ("dragonfly:a=4,p=4,groups=6,cables=2", CABLE): [(1, "8x12", "best", "48", "")],
}


def networks() -> list[Case]:
    """Return trees, dragonflies, HyperX and twisted tori, 24 to 512 ranks."""
    return [Case(grid, placement, fft, torus=network, bandwidth=bandwidth, tasks_per_node=tasks, rule=rule,
                 verify=True)
            for (network, bandwidth), item in NETWORKS.items() for tasks, grid, placement, fft, rule in item]


def bricks() -> list[Case]:
    """Return bricks remapped to pencils and back, of even and uneven blocks."""
    cases = [("2x2x2", "64", "2x2x2", "2x4"), ("4x4x2", "64", "4x2x4", "8x4"), ("4x4x4", "128", "4x4x4", "8x8"),
             ("5x3:mesh", "40x50x60", "5x1x3", "3x5"), ("3x3x3", "100x81x70", "3x3x3", "3x9"),
             ("8x4", "64x96x48:fields=2", "1x4x8", "4x8"), ("6x4", "50x70x90", "2x4x3", "4x6"),
             ("4x4x2", "63x70x50", "4x2x4", "8x4"), ("5x4", "37x41x53", "5x2x2", "4x5"),
             ("3x4x2:mesh", "61x47x50", "3x4x2", "6x4"), ("3x3x2x2", "33x35x37:r2c", "2x6x3", "9x4")]
    return [Case(grid, "default", fft, torus=torus, bandwidth=RATE, decomposition=f"brick:{bricks}")
            for torus, fft, bricks, grid in cases]


def halos() -> list[Case]:
    """Return halos of 1 to 5 planes around pencils, slabs and bricks: even, uneven, and thinner than the halo."""
    pencils = [("4x4", "4x4", "64", 1), ("4x4x4", "8x8", "64", 3), ("8x4x4:mesh", "16x8", "128:r2c", 2),
               ("5x4", "4x5", "37x41x53", 4), ("6x4", "4x6", "50x70x90", 1), ("2x4", "8", "32x32x16", 5)]
    bricks = [("2x2x2", "2x4", "2x2x2", "64", 1), ("4x4x4", "8x8", "4x4x4", "64", 1), ("4x4x4", "8x8", "4x4x4", "64", 5),
              ("8x4", "4x8", "1x4x8", "64x96x48:fields=2", 2), ("3x3x3", "3x9", "3x3x3", "100x81x70", 3),
              ("3x4x2:mesh", "6x4", "3x4x2", "61x47x50", 2), ("4x4x4x4", "16x16", "4x8x8", "128:single", 2)]
    result = [Case(grid, "default", fft, torus=torus, bandwidth=RATE, halo=width,
                   decomposition="pencil" if "x" in grid else "slab") for torus, grid, fft, width in pencils]
    result.append(Case("8x8", "box:2x2x2", "64", torus="4x4x4", bandwidth=RATE, halo=3))
    return result + [Case(grid, "default", fft, torus=torus, bandwidth=RATE, halo=width, decomposition=f"brick:{bricks}")
                     for torus, grid, bricks, fft, width in bricks]


def messages() -> list[Case]:
    """Return messages of 16 bytes that cost 2 us each: all at once, and with the blocks of many ranks combined."""
    networks = [("8x4", "1GB/s", 0.0), ("6x8", "1GB/s", 0.0), ("4x4x4:mesh", "1GB/s", 0.0), ("100", "10GB/s", 0.0),
                ("8x4x4", "1GB/s", 0.0), ("45", "1e6GB/s", 1e9), ("64", "1e6GB/s", 1e9), ("128", "1e6GB/s", 1e9)]
    result = []
    for torus, bandwidth, injection in networks:
        p = prod(parse_torus(torus).shape)
        result += [Case(f"1x{p}", "default", f"{p}x{p}x1", torus=torus, bandwidth=bandwidth, exchange=exchange,
                        message_s=2e-6, injection=injection)
                   for exchange in (DEFAULT_ALGORITHM, "bruck2", "bruck4", "bruck8")]
    return result


SUITES: dict[str, Callable[[], list[Case]]] = {
    "quick": quick,  # seconds
    "tori": tori,  # minutes, 5 GB
    "paper": paper,  # about ten minutes of two processors up to 512^3, as much again for 1024^3
    "overlap": overlap,  # two minutes
    "messages": messages,  # half a minute
    "bricks": bricks,  # half a minute
    "halos": halos,  # half a minute
    "networks": networks,  # two minutes
    "maps": maps,  # a minute
}


def cases_of(suite: str, at_most: int | None = None) -> list[Case]:
    """Return the cases of a suite with at most so many elements along the longest extent.

    Raises
    ------
    ValidationError
        If there is no such suite, or no case remains.
    """
    if suite not in SUITES:
        raise ValidationError(f"suite {suite!r} is unknown; known are {', '.join(SUITES)}, lines")
    cases = [c for c in SUITES[suite]() if at_most is None or c.longest <= at_most]
    if not cases:
        raise ValidationError(f"suite {suite} has no transform of {at_most} or less; its smallest is "
                              f"{min(SUITES[suite](), key=lambda c: c.longest).fft}")
    return cases
