"""libpencilfft by its Python binding; the choice is the exchange."""

from typing import Any

from pencilfft import BACKWARD, FORWARD, Plan
from pencilmap.scripts.maintenance.benchmarks import Case


class Ours:
    """Any type, grid and precision."""

    def __init__(self, case: Case, comm: Any, exchange: str) -> None:
        backward = case.type == "c2r"
        source, target = ("output", "input") if backward else ("input", "output")
        self.plan = Plan(case.shape, case.grid, comm, type=case.type, precision=case.precision,
                         directions=BACKWARD if backward else FORWARD, exchange=exchange or None)
        self.input, self.output = self.plan.empty(source), self.plan.empty(target)
        self.input_part, self.output_part = self.plan.part(source), self.plan.part(target)
        self._transform = self.plan.backward if backward else self.plan.forward

    def run(self) -> None:
        self._transform(self.input, self.output)

    def phases(self) -> dict[str, float]:
        return self.plan.phase_seconds()


make = Ours
