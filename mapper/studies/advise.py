"""The fastest decomposition, grid, placement, exchange and schedule for a transform on some nodes, and the reasons.

Idea: predict every grid of every decomposition in sequence, under its best placement and in the launch order. For the first
few grids also predict every exchange that the model knows, and the best schedule. Rank all candidates by predicted time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pencilmap.mapper.given_nodes import given_nodes
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.mapper.setting import BEST, Setting, setting
from pencilmap.mapper.studies.threads import Shared, choices
from pencilmap.model.algorithms import ALGORITHMS
from pencilmap.model.base.errors import GridError, MachineError, PlacementError, ScheduleError
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.grid import all_grids
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.traffic.objective import in_sequence

LARGE = 4096     # slots: above this number only one of RxC and CxR is predicted, and only orders with a closed form
SMALL = 128      # slots: up to this number placements are also searched for each schedule
EXCHANGED = 2    # grids on which every exchange is tried
DIRECT = ("p2p", "node")  # exchanges that send every byte once, in rounds or not
CHUNKED = ("overlap:8", "overlap:4", "overlap:2")  # schedules to predict if not all can be predicted
TERMS = {  # term of the time model: its meaning
    "link_s": "the busiest links: bytes, placement and grid decide",
    "contention_s": "contention: messages that share links although their loads are even",
    "injection_s": "the port of a task or node into the network: fewer bytes off the node help",
    "start_s": "starting the exchanges: fewer tasks on a node help",
    "messages_s": "message starts: fewer, larger messages help",
    "hops_s": "the latency of hops: nearer partners help",
    "fft_s": "the FFTs: more nodes help",
    "memory_s": "memory: copies and passes over the array",
}
FIGURES = {  # figure of a machine file: the unknown cost without this figure
    "message_cost_s": "the cost of a message", "injection_per_node": "what a node puts into the network",
    "exchange_cost_s": "the start of an exchange", "fft_rate_per_task": "the rate of the FFTs"}


@dataclass(frozen=True)
class Advice:
    """Predictions from the fastest on, each with the exchange of its stages and its schedule.

    Parameters
    ----------
    term : str
        Name in `TERMS` of the largest term of the first prediction.
    share : float
        Share of this term in the time.
    unknown : tuple of str
        Figures missing in the machine file, in words.
    """

    where: Setting
    found: tuple[Prediction, ...]
    term: str
    share: float
    unknown: tuple[str, ...]

    @property
    def best(self) -> Prediction:
        return self.found[0]

    @property
    def rivals(self) -> list[Prediction]:
        """Candidates within the model's error of the first prediction. They should be measured."""
        error = 1.1 if self.where.likely is None else max(self.where.likely[1] / self.where.likely[0], 1.0)
        return [p for p in self.found[1:4] if time_of(p) <= error * time_of(self.best)]


def time_of(p: Prediction) -> float:
    """Return the time that ranks candidates, in seconds: the time of the transform as far as it is known."""
    known = p.known_s if p.schedule is None else p.schedule.known_s
    assert known is not None
    return known


def settings(fft: str, machine: str | None = None, nodes: int | str | None = None, network: str | None = None,
             tasks_per_node: int | None = None, bandwidth: str | None = None,
             environ: Mapping[str, str] | None = None) -> Setting:
    """Return the setting of a question: a number of nodes of a machine, or a network.

    The parameters are those of `pencilmap.mapper.setting.setting`.

    Raises
    ------
    MachineError
        If `nodes` is a file: advice is for whole shapes.
    """
    if given_nodes(nodes).path is not None:
        raise MachineError(f"`nodes` {nodes} is neither a number of nodes nor a shape, e.g. 384 or 8x8x4; advice is for "
                           "whole shapes, and pencilmap predict takes a file of nodes")
    return setting(machine=machine, network=network, nodes=nodes, tasks_per_node=tasks_per_node, bandwidth=bandwidth,
                   fft=fft, environ=environ)


def advise(where: Setting) -> Advice:
    """Rank all ways to run a transform on the nodes of a setting.

    Raises
    ------
    GridError
        If transform or bandwidth is missing, or no grid gives data to every task.
    """
    if where.transform is None or where.network.bandwidth is None:
        raise GridError("advice needs times: give the transform with `fft` and a `machine` or the `bandwidth` of its links")
    found = list[Prediction]()
    for decomposition in (d for d in DECOMPOSITIONS.values() if not d.has_bricks):  # bricks are given, not chosen
        here = replace(where, decomposition=decomposition)
        for grid in _grids(here):
            found += _tried(here, grid)
    if not found:
        raise GridError(f"no grid of {where.n_slots} tasks fits transform {where.transform} so that every task has data: "
                        "take fewer tasks, or a larger transform")
    order = ranked(found)
    leaders = _leaders(order, where)
    order = ranked([*found, *(p for leader in leaders for p in _varied(where, leader)),
                    *(p for leader in leaders[:EXCHANGED] for p in _exchanged(where, leader, time_of(order[0])))])
    term, share = _largest(order[0])
    return Advice(where, tuple(_distinct(order)), term, share, tuple(_unknown(where.costs)))


def _unknown(costs):
    """Return the missing figures in words. One of the two injection limits is enough."""
    known = {name for name in FIGURES if getattr(costs, name) is not None}
    if costs.injection_per_task is not None:
        known.add("injection_per_node")
    return [words for name, words in FIGURES.items() if name not in known]


def _leaders(order, where):
    """Return the grids for exchanges and schedules: on large machines the first, otherwise all within twice the least time.

    Two exchanges at once take at least half of the time in sequence, so no other grid can come first by its schedule.
    """
    first: dict[tuple, Prediction] = {}
    for p in order:
        first.setdefault((p.grid.decomposition.name, p.grid.shape), p)
    if where.n_slots > LARGE:
        return list(first.values())[:1]
    return [p for p in first.values() if time_of(p) <= 2 * time_of(order[0])]


def _grids(here):
    """Return the grids that give data to every task. On large machines and for cubes only one of RxC and CxR."""
    transform = here.transform
    found = [g for g in all_grids(here.n_slots, here.decomposition) if transform.fills(g)]
    if here.n_slots > LARGE and len({transform.nx, transform.ny, transform.nz}) == 1:
        return [g for g in found if g.shape[0] <= g.shape[-1]]
    return found


def _tried(here, grid):
    """Return the predictions of a grid: under its best placement without a search, and in the launch order."""
    found = []
    for text in (BEST, "default") if here.n_slots <= LARGE else (BEST,):
        try:
            placed = here.place(text, grid) if text != BEST else _quick(here, grid)
            found.append(here.predict(placed, name=text))
        except (PlacementError, GridError):
            continue  # this placement does not exist here
    return found


def _quick(here, grid):
    """Return the best placement without a search. On large machines the placement is the best product for even blocks."""
    if here.n_slots > LARGE and isinstance(here.network, Torus) and here.site.allocation.is_complete:
        return best_product(as_torus(here.network), grid, here.tasks_per_node,
                            in_sequence(len(grid.decomposition.exchanges)))
    return here.best_placement(grid, SEQUENCE, 0)


def _varied(where: Setting, leader: Prediction) -> Iterable[Prediction]:
    """Yield a grid under the best schedule that keeps the boxes; on small machines also try its own placements."""
    here = replace(where, decomposition=leader.grid.decomposition)
    placed = [leader.product or here.place(leader.placement, leader.grid)]
    if here.n_slots <= SMALL and leader.placement == BEST:
        placed.append(here.best_placement(leader.grid, BEST, 0))
    for each in placed:
        for schedule in (BEST, *CHUNKED):
            try:
                yield here.answer(each, Question(schedule=schedule), leader.placement)
                break
            except ScheduleError:  # unequal lanes with too many messages to route
                continue


def _exchanged(where: Setting, leader: Prediction, best_s: float) -> Iterable[Prediction]:
    """Yield a grid in sequence with every other exchange that may be faster than the best time."""
    here = replace(where, decomposition=leader.grid.decomposition)
    placed = leader.product or here.place(leader.placement, leader.grid)
    for name in ALGORITHMS if here.n_slots <= LARGE else ():
        if not ALGORITHMS[name].is_alltoall and _least_s(leader, name) < best_s * (1 - 1e-9):
            yield here.answer(placed, Question(exchange=name), leader.placement)


def _least_s(leader: Prediction, exchange: str) -> float:
    """Return a lower limit in seconds for an exchange, from the prediction with all messages at once. No link is routed.

    Direct messages load every link as much in all rounds together, and the sum of the longest loads of the rounds is no
    less. `p2p` has the same messages. `node` has fewer, but on nodes of one task `node` sends all messages at once.
    """
    if exchange not in DIRECT or leader.known_s is None or leader.time_s is None:
        return 0.0
    if exchange == "node" and leader.tasks_per_node == 1:
        return leader.known_s
    saved = 0.0
    for stage in leader.stages:
        terms = stage.terms
        if terms is None:
            return 0.0
        calm = replace(terms, contention_s=None, messages_s=terms.messages_s if exchange == "p2p" else None)
        saved += terms.time_s - calm.time_s
    return leader.known_s - saved


def _distinct(order):
    """Return the candidates without repetitions of the shown properties."""
    found: dict[tuple, Prediction] = {}
    for p in order:
        found.setdefault((p.grid.decomposition.name, str(p.grid), p.placement, exchange_of(p), schedule_of(p)), p)
    return found.values()


def exchange_of(p: Prediction) -> str:
    """Return the exchange of the stages of a prediction."""
    return p.stages[0].algorithm


def schedule_of(p: Prediction) -> str:
    """Return the name of the schedule of a prediction, with all choices made."""
    return SEQUENCE if p.schedule is None else p.schedule.name


def _largest(p):
    """Return the largest term of all exchanges and of the computing, and its share of the time in sequence."""
    sums: dict[str, float] = {}
    for part in [stage.terms for stage in p.stages] + [p.local]:
        for name, seconds in (part.as_dict() if part else {}).items():
            sums[name] = sums.get(name, 0.0) + (seconds or 0.0)
    name = max(sums, key=sums.__getitem__)
    return name, sums[name] / sum(sums.values()) if sum(sums.values()) else 0.0


def ranks_against_threads(where: Setting) -> list[Shared]:
    """Return two ways to use a node: all its tasks as processes, and one process with as many threads."""
    return choices(where, list(dict.fromkeys((where.tasks_per_node, 1))), lambda here: advise(here).best)
