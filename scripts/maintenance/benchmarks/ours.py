"""libpencilfft by its Python binding; transforms call the C function, as FFTW's do: the binding's checks take 20 us.

The library chooses the grid, and all else that the choice, which is the exchange, leaves open. On one rank the plan of c2r
may overwrite its input, as the peers do; other plans keep theirs. With ``+keep``, or ``keep`` alone, the plan keeps its
input; with ``destroy`` it may overwrite the input. ``stride1`` selects the stride-1 layout in the same way.
"""

from functools import partial
from typing import Any

from pencilfft import BACKWARD, FORWARD, Plan, _function
from pencilmap.scripts.maintenance.benchmarks import DESTROY, KEEP, STRIDE1, Case


class Ours:
    """A plan of any type, grid and precision."""

    def __init__(self, case: Case, comm: Any, choice: str) -> None:
        backward = case.type == "c2r"
        source, target = ("output", "input") if backward else ("input", "output")
        words = choice.split("+")
        exchange = "".join(word for word in words if word not in (DESTROY, KEEP, STRIDE1)) or None
        self.plan = Plan(case.shape, (0, 0), comm, type=case.type, precision=case.precision,
                         directions=BACKWARD if backward else FORWARD, exchange=exchange, destroy_input=DESTROY in words or (
                             backward and comm.size == 1 and KEEP not in words),
                         layout=STRIDE1 if STRIDE1 in words else "natural")
        self.input, self.output = self.plan.empty(source), self.plan.empty(target)
        self.input_part, self.output_part = self.plan.part(source), self.plan.part(target)
        addresses = [self.plan._place(array, name, array is self.output).address
                     for array, name in ((self.input, source), (self.output, target))]
        self._execute = partial(_function("execute"), self.plan._alive(), BACKWARD if backward else FORWARD, *addresses)

    def run(self) -> None:
        if self._execute():
            raise RuntimeError("pencilfft_execute failed")


make = Ours
