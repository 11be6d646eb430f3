"""The closed forms of a placement, and the conditions under which each of them holds.

A closed form is that of a product placement. A mapping has it too if its groups use the places of a product's groups.

| what is predicted | in closed form if |
| --- | --- |
| an exchange of even blocks | the groups are a product's |
| an exchange of uneven blocks | every rank sits where the product puts it, for the length of a block depends on the rank |
| any exchange | all its messages start at once, as they are; the routing rule has the form (`of_product`, `of_blocks`) |
| several exchanges at once | each has its closed form, and the rule one for all (`joint_of_product`, `joint_of_blocks`) |
| a phase of a schedule | it carries shares of whole exchanges (`Course.plain`) |

Everything else is routed message by message, from the nodes of the ranks themselves. So are the remaps of bricks, and the
uneven lanes of a schedule, even if all blocks of the whole transform are even.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from pencilmap.model.decompositions.decomposition import ExchangeStage
from pencilmap.model.kinds import DEFAULT_ROUTING, routing
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product, product_of
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.case import RANDOM_ROUTING, Case, effective_lengths
from pencilmap.model.predict.results import ExchangePrediction
from pencilmap.model.routing.rule import ProductLoad
from pencilmap.model.times.timing import ExchangeWork, blocks_work, product_work, terms_in_turn
from pencilmap.model.traffic.joint_loads import JointLoads
from pencilmap.model.traffic.product_blocks import StageBlocks, stage_blocks


@dataclass(frozen=True)
class ClosedForm:
    """The closed forms of all exchanges of a product; `closed_form` makes one for a case that has them."""

    case: Case
    product: Product

    @property
    def stages(self) -> tuple[ExchangeStage | StageBlocks, ...]:
        """The exchanges in the order of a forward transform."""
        if self.case.is_even or self.case.transform is None:
            return tuple(self.product.decomposition.exchanges)
        return stage_blocks(self.product.grid, self.case.transform)

    def load(self, stage: ExchangeStage | StageBlocks) -> ProductLoad | None:
        """The loads of one of the stages; None if the routing rule has no closed form."""
        rule = self.case.rule
        return rule.of_blocks(self.product, stage) if isinstance(stage, StageBlocks) else rule.of_product(
            self.product, stage.letters)

    def work(self, stage: ExchangeStage | StageBlocks, transform: Transform, link_s: float,
             hop_length: Fraction) -> ExchangeWork:
        """The work of one of the stages, see `pencilmap.model.times.timing.product_work`."""
        adaptive_s = product_adaptive_s(self.case, self.product, stage.letters, link_s) if self.case.contends else None
        if isinstance(stage, StageBlocks):
            return blocks_work(self.product, stage, link_s, adaptive_s, hop_length)
        return product_work(self.product, stage.letters, transform, link_s, adaptive_s, hop_length)

    def predicted(self) -> tuple[ExchangePrediction, ...] | None:
        """The exchanges, predicted one by one; None if the routing rule has no closed form."""
        loads = [self.load(stage) for stage in self.stages]
        found = [load for load in loads if load is not None]
        if len(found) < len(loads):
            return None
        return tuple(map(self._predicted, self.stages, found, self.case.algorithms))

    def _predicted(self, stage, load, algorithm):
        case, transform = self.case, self.case.transform
        link_s = case.seconds(load.load)
        work = None if link_s is None or transform is None else self.work(stage, transform, link_s, load.hop_length)
        return ExchangePrediction(
            name=stage.name, lengths=partial(effective_lengths, self.product, stage.letters), load=load.load,
            hop_length=load.hop_length, t_s=link_s, seconds=case.seconds, busiest=load.busiest, work=work,
            rounds=None if work is None else terms_in_turn([work], case.costs), algorithm=algorithm)

    def joint(self) -> JointLoads | None:
        """The loads of all exchanges at once; None if the routing rule has no closed form."""
        if self.case.is_even:
            return self.case.rule.joint_of_product(self.product, tuple(stage.letters for stage in self.stages))
        return self.case.rule.joint_of_blocks(self.product, self.stages)


def closed_form(case: Case) -> ClosedForm | None:
    """The closed forms of a case; None if it has none."""
    if case.product is None or not case.at_once:
        return None
    return ClosedForm(case, case.product) if case.is_even or has_its_ranks(case.placed, case.product) else None


def product_adaptive_s(case: Case, product: Product, letters: str, link_s: float) -> float:
    """Seconds of the busiest link if routers chose at random: `link_s` times the ratio for even blocks."""
    even, adaptive = (case.seconds(routing(name, product.torus).of_product(product, letters).load)
                      for name in (DEFAULT_ROUTING, RANDOM_ROUTING))
    return link_s * adaptive / even if even and adaptive is not None else link_s


def recognised(placed: Product | Mapping) -> Product | None:
    """The product whose groups use the places of the groups of a placement; None if there is none."""
    return placed if isinstance(placed, Product) else product_of(placed)


def has_its_ranks(placed: Product | Mapping, product: Product) -> bool:
    """Whether every rank sits on the node on which the product puts it."""
    return isinstance(placed, Product) or np.array_equal(placed.node_of_rank, product.mapping().node_of_rank)
