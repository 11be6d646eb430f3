"""Placements of any program from its traffic."""

from dataclasses import dataclass
from os import PathLike

from pencilmap.mapper.placements import check_name
from pencilmap.mapper.placements.file import from_file
from pencilmap.mapper.searches.default_order import default, launched
from pencilmap.mapper.searches.limit import EFFORTS
from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.mapper.where import BEST, Where
from pencilmap.model.base.errors import PlacementError, TrafficError
from pencilmap.model.kinds import default_routing, kind_of, routing as routing_named
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.predict.program import ProgramPrediction, predict_program
from pencilmap.model.traffic.program import Traffic

LITTLE = 0.1  # part of the run time below which the links are not worth a placement


@dataclass(frozen=True)
class PlacedProgram:
    """Placements of a program, the launcher's order first.

    mappings : tuple of Mapping
    predictions : tuple of ProgramPrediction, one for each
    """

    traffic: Traffic
    mappings: tuple[Mapping, ...]
    predictions: tuple[ProgramPrediction, ...]

    @property
    def best(self) -> tuple[Mapping, ProgramPrediction]:
        """The placement whose links are busy for the shortest time; the first among equals."""
        return min(zip(self.mappings, self.predictions), key=lambda both: both[1].link_bytes)

    @property
    def is_one_message(self) -> bool:
        """Whether the busiest link of the best placement carries no more than the largest messages, above the limit."""
        best, largest = self.best[1], sum(float(phase.bytes.max()) for phase in self.traffic.phases if phase.bytes.nnz)
        return 0 < best.link_bytes <= largest * (1 + 1e-9) and (best.certificate or 1) > 1 + 1e-6

    @property
    def advice(self) -> str:
        """One sentence on how much a placement can help: the time of the links against the run time, if both are known.

        If ranks shared cores in the traced run, their processor time and the time of the links take the place of its run
        time.
        """
        first, (_, best) = self.predictions[0], self.best
        if first.link_bytes == 0:
            return "placement cannot help: no message uses a link"
        run_s, of = self.traffic.seconds, "that the traced program ran"
        if self.traffic.shared_cores:  # their wall time says little, and their processor time lacks the waiting for links
            computing = self.traffic.processor_seconds
            run_s = None if computing is None or first.link_s is None else first.link_s + computing
            of = (f"that they take with the {computing or 0:.3g} s of processor time of a rank, for the traced ranks shared "
                  "cores")
        if first.link_s is not None and run_s:
            share = first.link_s / run_s
            if share < LITTLE:
                return (f"placement can hardly help: the links need {first.link_s:.3g} s of the {run_s:.3g} s {of} "
                        f"({share:.1%})")
            saves = (f"{best.placement} saves {first.link_s - (best.link_s or 0.0):.3g} s of them"
                     if best.link_bytes < first.link_bytes else "no better placement than the launch order was found")
            if share > 1:  # it ran on another network, or the network is not that of the job
                return (f"the links need {first.link_s:.3g} s, more than the {run_s:.3g} s that the program ran where "
                        f"it was traced; {saves}")
            return f"the links need {first.link_s:.3g} s of the {run_s:.3g} s {of}; {saves}"
        if first.certificate is not None and first.certificate < 1 + 1e-6:
            return "placement cannot help: the launch order is at the proved limit"
        missing = ("the bandwidth of the links is not known; name it, or the machine" if first.link_s is None else
                   "the ranks shared cores while they were traced; trace with a core for each"
                   if self.traffic.shared_cores else
                   "the traffic file has no run time; pencilmap trace writes files that have it")
        return f"whether the program gets faster is open: {missing}"


def traffic_of(where: Where, path: str | PathLike[str]) -> Traffic:
    """Return the traffic in a file, checked against the slots.

    Raises
    ------
    TrafficError
        If there are more ranks than slots, or fewer without `idle`.
    """
    traffic = read_traffic(path)
    slots = where.n_slots
    if traffic.n_ranks > slots:
        raise TrafficError(f"{path} has the traffic of {traffic.n_ranks} ranks, and {where.where} has {slots} slots; name a "
                           "larger network, or more `tasks_per_node`")
    if traffic.n_ranks < slots and not where.site.idle:
        raise TrafficError(f"{path} has the traffic of {traffic.n_ranks} ranks, and {where.where} has {slots} slots; give "
                           "`idle` to leave slots empty")
    return traffic


def place_program(where: Where, traffic: Traffic, placements: tuple[str, ...] = (BEST,), routing: str | None = None,
                  effort: str = "normal", seed: int = 1) -> PlacedProgram:
    """Return the launcher's order and other placements of a program, with predictions.

    Parameters
    ----------
    where : Where
    traffic : Traffic
    placements : tuple of str
        ``best`` (searched), ``default``, ``default:ORDER``, ``file:PATH``.
    routing : str, optional
    effort : str
        See `pencilmap.mapper.searches.traffic_search.WORK`.
    seed : int

    Raises
    ------
    PlacementError
        If a placement is unknown, or depends on the grid of a transform.
    """
    name = routing or default_routing(where.network)
    rule = routing_named(name, where.network)
    grid, bound = ProcessGrid(traffic.n_ranks, 1), kind_of(where.network).program_bound(where.site, traffic)
    own = _own(where, traffic, name)
    mappings = [own]
    for text in placements:
        mapping = _placed(where, traffic, grid, text, rule, effort, seed)
        if text == BEST and not _better(mapping, own, traffic, name):
            mapping = Mapping(own.network, grid, own.tasks_per_node, own.node_of_rank, own.slot_of_rank, BEST)
        if text != own.name:
            mappings.append(mapping)
    adaptive = EFFORTS[effort] > 0  # the rules of adaptive routers solve linear programs
    return PlacedProgram(traffic, tuple(mappings), tuple(
        predict_program(m, traffic, routing, bound, adaptive) for m in mappings))


def of_mapping(where: Where, traffic: Traffic, mapping: Mapping, routing: str | None = None) -> PlacedProgram:
    """Return the launcher's order and a mapping, with predictions."""
    bound = kind_of(where.network).program_bound(where.site, traffic)
    mappings = _own(where, traffic, routing or default_routing(where.network)), mapping
    return PlacedProgram(traffic, mappings, tuple(predict_program(m, traffic, routing, bound, True) for m in mappings))


def _own(where, traffic, routing):
    """The fastest possible order of the launcher, so that no gain is overstated; of equal orders the most likely."""
    site, grid = where.site, ProcessGrid(traffic.n_ranks, 1)
    others = [default(order, site, grid) for order in site.launch.orders[1:]]
    found = [launched(site, grid), *others]
    return min(found, key=lambda m: predict_program(m, traffic, routing).link_bytes) if others else found[0]


def _better(mapping, own, traffic, routing):
    return predict_program(mapping, traffic, routing).link_bytes < predict_program(own, traffic, routing).link_bytes


def _placed(where, traffic, grid, text, rule, effort, seed):
    head, _, argument = text.partition(":")
    if head == BEST:
        from pencilmap.mapper.searches.traffic_search import WORK, search_traffic  # numba is loaded only for a search

        found = search_traffic(where.site, traffic, rule, WORK[effort], seed)
        T = where.tasks_per_node
        return Mapping(where.network, grid, T, where.site.allocation.nodes[found.places // T], found.places % T, BEST,
                       (f"found from {found.name}",))
    if head == "default":
        return default(argument, where.site, grid)
    if head == "file":
        return from_file(argument, where.site, grid)
    check_name(text)
    raise PlacementError(f"placement {text!r} depends on the grid of a transform; with traffic, placements are best, "
                         "default, default:ORDER and file:PATH")


