"""Pekurovsky (2012), P3DFFT: a Cray XT5 predicted by its links, and the numbers of the text.

The points of Fig. 3 to 10 are pictures, and the text has few numbers. The exchanges are predicted on a torus of Cray XT5
nodes that is as cubic as possible, with 12 tasks on each node and ranks in the launcher's order; the real nodes are unknown.
The times are the times of the links at their peak, of a forward and a backward transform. Computing is unknown.
"""

from functools import partial
from math import ceil
from operator import itemgetter

from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.scaling import p3dfft_terms, p3dfft_time, published_p3dfft, weak, weak_efficiencies
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.transform import block_lengths
from pencilmap.model.times.published import p3dfft_2012
from pencilmap.model.times.scaling import Point, bisection_bandwidth, crossing_bytes, fit, weak_efficiency
from pencilmap.scripts.reproduce.figure import PICTURE, SKETCH, Figure, Found

MACHINE, TASKS = "cray-xt5", 12
CORES = {4096: (4096, 8192, 16384, 32768, 65536), 2048: (512, 1024, 2048, 4096, 8192), 1024: (128, 256, 512, 1024, 2048),
         512: (16, 32, 64, 128, 256)}  # for each extent; the text names the extents of the weak scaling
MODEL_NOTE = ("predicted: exchanges of a forward and a backward transform, links at their peak of 4.8 GB/s each way on a "
              "nearly "
              "cubic torus; the text says that its own bisection gave about 6 % of the peak")


def shape_for(nodes: int) -> str:
    """Return the most cubic torus of at least that many nodes.

    >>> shape_for(342)
    '7x7x7'
    """
    side = ceil(nodes ** (1 / 3) - 1e-9)
    sides = range(max(1, side - 2), side + 2)
    x, y, z = min(((x, y, ceil(nodes / (x * y))) for x in sides for y in sides), key=lambda s: (s[0] * s[1] * s[2], max(s)))
    return "x".join(map(str, sorted((x, y, z), reverse=True)))


def predicted_s(n: int, ranks: int, grid: ProcessGrid | None = None, decomposition: str = PENCIL.name) -> float:
    """Return the seconds of the exchanges of two transforms of n^3, by the links; by default, rows fill nodes."""
    where = setting(machine=MACHINE, network=shape_for(ceil(ranks / TASKS)), idle=True, fft=f"{n}:r2c",
                    decomposition=decomposition)
    text = str(grid or (ranks if decomposition != PENCIL.name else _near_node(ranks)))
    found = where.predictions(text, ["default"])[0].t_s
    assert found is not None
    return 2 * found


def _near_node(ranks):
    """Return the grid with rows as long as the tasks of a node, or the next shorter rows."""
    row = max(r for r in range(1, TASKS + 1) if ranks % r == 0)
    return ProcessGrid(row, ranks // row)


def local_sizes() -> Found:
    """Return Table 1: extents of the pencils of 128^3 real numbers on 4x2 tasks, by formulas and by the decomposition."""
    n, m1, m2 = 128, 4, 2
    rows = []
    for name, formula, split in (("X", (n, n // m1, n // m2), (None, m1, m2)), ("Y", ((n + 2) // 2 / m1, n, n // m2), (m1,
                                                                                                                       None,
                                                                                                                       m2)),
                                 ("Z", ((n + 2) // 2 / m1, n // m2, n), (m1, m2, None))):
        extents = (n if name == "X" else n // 2 + 1, n, n)
        own = ["x".join(str(int(block_lengths(e, p)[k]) if p else e) for e, p in zip(extents, split)) for k in (0, 1)]
        rows.append([f"{name} pencil", "x".join(f"{x:g}" for x in formula), own[0], own[1]])
    return Found(["stage", "published formula", "here, rank 0", "here, rank of the second blocks"], rows,
                 ["65 modes along x do not divide by 4: P3DFFT's formula is the mean, and the blocks here differ by one"])


def aspect() -> Found:
    """Return Fig. 3."""
    fact, rows = p3dfft_2012(), list[tuple[str, float]]()
    ranks = int(fact["aspect_ranks"])
    for grid in (g for g in all_grids(ranks) if g.shape[0] <= g.shape[1]):
        rows.append((str(grid), predicted_s(2048, ranks, grid)))
    best = min(rows, key=itemgetter(1))
    return Found(["grid", ">predicted s"], rows,
                 [MODEL_NOTE, f"published: {PICTURE}; the text: the time rises as M1 crosses "
                              f"{fact['aspect_threshold_kraken']:g} tasks, those of "
                              "a node "
                  f"of Kraken; the square grid is not the best. Predicted least: {best[0]}"])


def strong_scaling(n: int) -> Found:
    """Return Fig. 4 to 8."""
    points, rows = [], []
    for p in CORES[n]:
        time_s = predicted_s(n, p)
        points.append(Point("", (n,) * 3, p, time_s))
        curve = p3dfft_time(n, p) if n == 4096 else None
        rows.append([p, "-" if curve is None else curve, time_s])
    notes = [MODEL_NOTE]
    if n == 4096:
        notes += _bisections(points, n)
        notes.append("published curve: rebuilt from two numbers in the text, see docs/scaling-studies.md; its points are a "
                     "picture")
    else:
        notes.append(f"published: {PICTURE}")
    return Found([">cores", ">published curve s", ">predicted s"], rows, notes)


def _bisections(points, n):
    fact = p3dfft_2012()
    cores, of = int(fact["effective_bisection_cores"]), int(fact["transposes"])
    array = n**3 * fact["point_bytes"]
    peak = bisection_bandwidth(parse_torus("15x16wx24w", bandwidth=(fact["link_peak"] / 2,) * 3))
    mine, theirs = fit(points), fit([p for p in published_p3dfft() if p.size == (n,) * 3])
    said = [f"{name} {f.bisection(cores, crossing_bytes(array, count)) / 1e9:.4g} GB/s" for name, f, count in
            (("predicted links", mine, 2 * of), ("published curve", theirs, of)) if f.d > 0]
    return [f"bisection of {cores} cores by the fit of a/P + d/P^(2/3): {', '.join(said)}; the text: "
            f"{fact['effective_bisection'] / 1e9:.0f} GB/s, {100 * fact['bisection_efficiency']:.0f} % of "
            f"{fact['bisection_peak'] / 1e9:.0f} GB/s; peak computed {peak / 1e9:.0f} GB/s, share "
            f"{100 * fact['effective_bisection'] / peak:.1f} %"]


def weak_scaling() -> Found:
    """Return Fig. 9."""
    study = next(s for s in weak(published_p3dfft()) if len(s.points) == 4)
    first, rows = None, []
    for point, efficiency in zip(study.points, weak_efficiencies(study)):
        mine = Point("", point.size, point.ranks, predicted_s(point.size[0], point.ranks))
        first = first or mine
        computing, crossing = p3dfft_terms(point.size[0], point.ranks)
        rows.append([f"{point.size[0]}^3", point.ranks, efficiency, crossing / (computing + crossing),
                     weak_efficiency(first, mine)])
    return Found(["size", ">cores", ">published curve", ">its share of bisection", ">predicted exchanges alone"], rows,
                 ["efficiency with the work N log N; the text: 45 % from 128 to 65,536 cores, from which the curve was "
                  "made; "
                  "exchanges alone fall further, because no computing is in them", MODEL_NOTE])


def decompositions() -> Found:
    """Return Fig. 10."""
    rows = []
    for p in (256, 512, 1024, 2048, 4096):
        one = predicted_s(2048, p, decomposition="slab") if p <= 2048 else None
        two = predicted_s(2048, p)
        rows.append([p, "-" if one is None else one, two, "-" if one is None else two / one])
    return Found([">cores", ">1D predicted s", ">2D predicted s", ">2D/1D"], rows,
                 [MODEL_NOTE, f"published: {PICTURE}; the text: 1D may be better up to P = N = 2048, the difference shrinks "
                              "with P, "
                  "and there is no 1D at 4096 cores"])


_GONE = "the machine is gone: exchanges predicted by the links of a Cray XT5"
FIGURES = {
    "fig1": Figure("1D and 2D decomposition", SKETCH, "docs/theory.md"),
    "fig2": Figure("stages of the transform", SKETCH, "`fft_runner --print-plan`"),
    "table1": Figure("local extents of pencils", "formulas", "blocks of the decomposition beside the formulas", local_sizes),
    "fig3": Figure("time by the aspect ratio of the grid, 2048^3, 1024 cores", f"{PICTURE}; where it rises", _GONE, aspect),
    "fig4": Figure("strong scaling, 4096^3", f"{PICTURE}; 212 GB/s of its fit", f"{_GONE}; the fit", partial(strong_scaling,
                                                                                                             4096)),
    "fig5": Figure("the same on linear axes", "as fig4", "as fig4", partial(strong_scaling, 4096)),
    "fig6": Figure("strong scaling, 2048^3", PICTURE, _GONE, partial(strong_scaling, 2048)),
    "fig7": Figure("strong scaling, 1024^3", PICTURE, _GONE, partial(strong_scaling, 1024)),
    "fig8": Figure("strong scaling, 512^3", PICTURE, _GONE, partial(strong_scaling, 512)),
    "fig9": Figure("weak scaling", f"{PICTURE}; 45 %", _GONE, weak_scaling),
    "fig10": Figure("1D against 2D, 2048^3", PICTURE, _GONE, decompositions),
}
