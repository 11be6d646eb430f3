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

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.model.algorithms import algorithm_named
from pencilmap.model.decompositions.decomposition import ExchangeStage
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product, product_of
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.product_load import ProductLoad
from pencilmap.model.times.timing import ExchangeWork, blocks_work, product_work
from pencilmap.model.traffic.joint_loads import JointLoads
from pencilmap.model.traffic.product_blocks import StageBlocks, stage_blocks


@dataclass(frozen=True)
class ClosedForm:
    """The closed forms of all exchanges of a product; `closed_form` makes one for a placement that has them."""

    product: Product
    transform: Transform | None

    @property
    def is_even(self) -> bool:
        """Whether all messages of an exchange have one size."""
        return is_even(self.product, self.transform)

    @property
    def stages(self) -> tuple[ExchangeStage | StageBlocks, ...]:
        """The exchanges in the order of a forward transform."""
        if self.is_even:
            return tuple(self.product.decomposition.exchanges)
        assert self.transform is not None
        return tuple(stage_blocks(self.product.grid, self.transform))

    def load(self, stage: ExchangeStage | StageBlocks, rule: Any) -> ProductLoad | None:
        """The loads of one of the stages; None if the routing rule has no closed form."""
        return rule.of_blocks(self.product, stage) if isinstance(stage, StageBlocks) else rule.of_product(
            self.product, stage.letters)

    def work(self, stage: ExchangeStage | StageBlocks, link_s: float, adaptive_s: float | None,
             hop_length: Fraction) -> ExchangeWork:
        """The work of one of the stages, see `pencilmap.model.times.timing.product_work`. Needs a transform."""
        if isinstance(stage, StageBlocks):
            return blocks_work(self.product, stage, link_s, adaptive_s, hop_length)
        assert self.transform is not None
        return product_work(self.product, stage.letters, self.transform, link_s, adaptive_s, hop_length)

    def joint(self, rule: Any) -> JointLoads | None:
        """The loads of all exchanges at once; None if the routing rule has no closed form."""
        if self.is_even:
            return rule.joint_of_product(self.product, tuple(stage.letters for stage in self.stages))
        return rule.joint_of_blocks(self.product, self.stages)


def closed_form(placed: Product | Mapping, product: Product | None, transform: Transform | None,
                algorithms: Iterable[str]) -> ClosedForm | None:
    """The closed forms of a placement; None if it has none.

    product : whose groups use the same places, see `pencilmap.model.placement.product.product_of`
    algorithms : the name of the algorithm of each exchange
    """
    if product is None:
        return None
    even = is_even(product, transform)
    at_once = all(algorithm_named(name).is_exchange(even) for name in algorithms)
    return ClosedForm(product, transform) if at_once and (even or has_its_ranks(placed, product)) else None


def recognised(placed: Product | Mapping) -> Product | None:
    """The product whose groups use the places of the groups of a placement; None if there is none."""
    return placed if isinstance(placed, Product) else product_of(placed)


def is_even(placed: Product | Mapping, transform: Transform | None) -> bool:
    """Whether all blocks of a transform are even; they are without one."""
    return transform is None or transform.divides_evenly(placed.grid)


def has_its_ranks(placed: Product | Mapping, product: Product) -> bool:
    """Whether every rank sits on the node on which the product puts it."""
    return isinstance(placed, Product) or np.array_equal(placed.node_of_rank, product.mapping().node_of_rank)
