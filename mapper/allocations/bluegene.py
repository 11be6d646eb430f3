"""Blue Gene/Q: the shape of the block from the environment of a job script.

``RUNJOB_SHAPE`` and ``COBALT_SHAPE`` (bgq-driver, runjob client), ``LOADL_BG_SHAPE`` (LoadLeveler): five numbers are nodes,
four are midplanes of 4x4x4x4x2. A block of whole midplanes counts as a torus. A smaller block counts as a torus in E and a
mesh in the other dimensions. ``LOADL_BG_CONNECTIVITY`` is shown if set. Ranks per node: ``RUNJOB_RANKS_PER_NODE``.
"""

import re
from collections.abc import Mapping

from pencilmap.mapper.allocations.found import Fact, Found

MIDPLANE = (4, 4, 4, 4, 2)
VARIABLES = ("RUNJOB_SHAPE", "COBALT_SHAPE", "LOADL_BG_SHAPE")


def from_environment(environ: Mapping[str, str]) -> Found | None:
    for variable in VARIABLES:
        if re.fullmatch(r"[0-9]{1,3}(x[0-9]{1,3}){3,4}", environ.get(variable, "")):
            return _found(environ, variable, [int(n) for n in environ[variable].split("x")])
    return None


def _found(environ, variable, numbers):
    shape = numbers if len(numbers) == 5 else [n * m for n, m in zip([*numbers, 1], MIDPLANE)]
    whole = all(n % m == 0 for n, m in zip(shape, MIDPLANE))
    text = "x".join(f"{n}w" if whole or m == 2 else str(n) for n, m in zip(shape, MIDPLANE))
    facts = [Fact("block", "x".join(map(str, shape)), f"{variable}={environ[variable]}"),
             Fact("wrap", "whole midplanes: all dimensions" if whole else "part of a midplane: E alone", "the shape")]
    if environ.get("LOADL_BG_CONNECTIVITY"):
        facts.append(Fact("connectivity", environ["LOADL_BG_CONNECTIVITY"][:80], "LOADL_BG_CONNECTIVITY"))
    tasks = environ.get("RUNJOB_RANKS_PER_NODE", "")
    if tasks.isdecimal():
        facts.append(Fact("tasks per node", tasks, "RUNJOB_RANKS_PER_NODE"))
    return Found(tuple(facts), text, tasks_per_node=int(tasks[:6]) if tasks.isdecimal() else None)
