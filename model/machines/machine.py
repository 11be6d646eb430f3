"""Machine files: TOML with units in the text and a source for every figure.

A figure is a table of its value, its source, whether it is certain, and a note. Shape, tasks per node and link bandwidth
are required. The other figures of the time model and the partition rule may be omitted. A machine of switches has the text
of its network (``dragonfly:...``) in place of a shape, and may have a bandwidth for each class of links.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from json import loads
from pathlib import Path
from typing import Any

from pencilmap.model.base.errors import MachineError, PartitionError, PencilmapError, near
from pencilmap.model.base.reading import MOST_TOML_BYTES, parse_toml, read_whole, reading
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import network_named
from pencilmap.model.machines import Figure, figures_of, machine_names, package_file
from pencilmap.model.network.network import Network
from pencilmap.model.network.partition import Partitions, claims_more, parse_extents, parse_partition
from pencilmap.model.network.torus import Torus, as_torus, parse_torus
from pencilmap.model.network.twisted_torus import (
    TWISTED,
    is_folded,
    is_twisted,
    logical,
    parse_folded,
    parse_twisted,
    twisted,
    twists_of,
)
from pencilmap.model.placement.allocation import LaunchOrder
from pencilmap.model.times.costs import Costs, MessageRange


@dataclass(frozen=True)
class Machine:
    """A machine: a network with bandwidths, tasks per node, and the source of every figure.

    Parameters
    ----------
    name, title : str
    network : Torus, TwistedTorus or GraphNetwork
        A torus of the usual shape (`with_shape` and `partition` give other shapes), or all switches and hosts.
    tasks_per_node : int
    figures : dict of str to Figure
        Every figure of the file by its key.
    costs : Costs
        The costs in the file other than link bandwidth, in SI units.
    partitions : Partitions, optional
        The partitions that its scheduler hands out.

    Examples
    --------
    >>> load_machine("bluegene-l").torus.bandwidth
    (148000000.0, 148000000.0, 148000000.0)
    """

    name: str
    title: str
    network: Any
    tasks_per_node: int
    figures: dict[str, Figure] = field(repr=False)
    costs: Costs = Costs()
    partitions: Partitions | None = None

    @property
    def torus(self) -> Any:
        """The network of a machine that is a torus.

        Raises
        ------
        MachineError
            If the machine is a network of switches.
        """
        if not self.network.has_coordinates:
            raise MachineError(f"machine {self.name} is {self.network.title}, not a torus: it has no shapes and no "
                               "partitions; list the hosts of a job in a file and give it with `nodes`, or their number")
        return self.network

    def with_shape(self, text: str) -> "Machine":
        """Return the same machine with another shape, given as for `parse_torus`.

        A single link bandwidth applies to all dimensions; several must match the dimensions.

        Raises
        ------
        MachineError
            If the machine has bandwidths or cables for another number of dimensions.

        Examples
        --------
        >>> load_machine("bluegene-l").with_shape("4x4:mesh").torus.bandwidth
        (148000000.0, 148000000.0)
        """
        shape = _parse_shape(text)
        old, d = self.torus, shape.n_dimensions
        same, rates = d == old.n_dimensions, old.bandwidth or ()
        if not same and (len(set(rates)) > 1 or len(set(old.cables)) > 1):
            raise MachineError(f"torus {text} has {d} dimensions, but machine {self.name} has its own bandwidth or cables "
                               f"for each of {old.n_dimensions}; give a shape of {old.n_dimensions} dimensions or a "
                               "machine with one bandwidth for all")
        torus = replace(shape, bandwidth=rates if same else rates[:1] * d, cables=old.cables if same else old.cables[:1] * d,
                        axes=old.axes if same and ":axes=" not in text else shape.axes)
        return replace(self, network=torus)

    def partition(self, text: str) -> Any:
        """Return the real torus of a partition of this machine, with the machine's bandwidths, cables and axes.

        Parameters
        ----------
        text : str
            May claim fewer wraps than the machine gives, see `pencilmap.model.network.partition.parse_partition`. A shape
            that the machine twists will be a twisted torus, unless the text ends in ``:torus``, ``_untwisted`` or ``:mesh``.

        Returns
        -------
        Torus or TwistedTorus

        Raises
        ------
        MachineError
            If the machine file has no rule for partitions.
        PartitionError
            If there is no such partition.

        Examples
        --------
        >>> bluegene = load_machine("bluegene-l")
        >>> str(bluegene.partition("8x8x16")), str(bluegene.partition("8x4x4"))
        ('8x8x16', '8x4x4:mesh')
        >>> str(load_machine("tpu-v5p").partition("4x4x8")), str(load_machine("tpu-v5p").partition("4x4x8:torus"))
        ('4x4x8:twisted', '4x4x8')
        """
        if is_twisted(text):
            return self._twisted_partition(text)
        shape = parse_partition(text, self.partition_rule())
        twisted = None if ":" in text or "_" in text else self.partition_rule().twisted_slice(shape.shape)
        return self.with_shape(str(twisted or shape)).torus

    def _twisted_partition(self, text: str) -> Any:
        rule, torus = self.partition_rule(), self.with_shape(text).torus
        if not _is_same(torus, rule.twisted_slice(torus.shape)):
            raise PartitionError(f"machine {self.name} has no twisted slice {torus}; twisted are "
                                 f"{rule.twisted_shapes() or 'none'}")
        return torus

    def partition_rule(self) -> Partitions:
        """Return its `Partitions`; raise MachineError if the machine file has no partitions."""
        if self.partitions is None:
            _ = self.torus  # raises for a network of switches
            raise MachineError(f"machine {self.name} has no rule for partitions; name the shape and its wraps with "
                               "`network`, or add a [partition] to the machine file")
        return self.partitions

    def doubts(self, torus: Network, used: Iterable[str] = ()) -> tuple[str, ...]:
        """Return notes for a reader of a prediction for `torus` on this machine.

        Parameters
        ----------
        torus : Network
        used : iterable of str
            Keys of the figures in the prediction; each uncertain figure will get a sentence.

        Returns
        -------
        tuple of str
            Sentences.

        Examples
        --------
        >>> load_machine("bluegene-l").doubts(parse_torus("4x8x8"))[0].partition(":")[0]
        'torus 4x8x8 has rings that machine bluegene-l does not have'
        """
        return (*self._logical(torus), *self._twisted(torus), *self._doubtful_wraps(torus), *self._doubtful_figures(used))

    def _logical(self, torus: Network) -> Iterator[str]:
        """Yield what is assumed of a promised torus that the scheduler lays into a box."""
        rule = self.partitions
        if rule is None or not torus.has_products:
            return
        if logical(torus) is not torus:
            yield from self._box(torus, rule)
        elif rule.is_logical(torus.shape):
            boxes = rule.boxes(torus.shape)
            shape = "x".join(map(str, torus.shape))
            whole = "" if boxes else (f"no whole units of machine {self.name} have shape {shape}, so "
                                      "a job gets more nodes, and the ")
            yield (f"{whole}times are those of a logical network of {torus.n_dimensions} dimensions, not of the box of "
                   f"{rule.largest.n_dimensions} dimensions into which machine {self.name} lays it; so are the lower bound "
                   "and the certificate; " + (f"partition {boxes[0]} is its box" if boxes else
                                              f"a unit has {'x'.join(map(str, rule.unit or ()))} nodes"))

    def _box(self, torus: Any, rule: Partitions) -> Iterator[str]:
        shape, box = ("x".join(map(str, extents)) for extents in (torus.folded, torus.shape))
        others = [str(other) for other in rule.boxes(torus.folded) if other.shape != torus.shape]
        yield (f"torus {shape} lies in a box of {box} nodes on machine {self.name}: loads, bound and certificate are those "
               "of the box; the order in which an axis goes through its dimensions is assumed"
               + (f", and so is this box: name another one as {others[0]}" if others else ""))

    def _twisted(self, torus: Network) -> Iterator[str]:
        """Yield a note that the machine joins the rings of a slice with an offset, or that it does not."""
        shape, known = "x".join(map(str, torus.shape)), self.partitions and self.partitions.twisted_slice(torus.shape)
        twists = twists_of(torus)
        if twists and _is_same(torus, self.network):
            return
        if twists and not _is_same(torus, known):
            yield f"machine {self.name} has no slice that is {torus.title}"
        elif twists:
            yield (f"machine {self.name} joins a slice of {shape} as a twisted torus, unless {shape}_untwisted is asked "
                   f"for; {shape}:torus is the plain torus here")
        elif known and torus.has_products and all(as_torus(torus).wrap):
            yield (f"machine {self.name} joins a slice of {shape} as a twisted torus, unless {shape}_untwisted is asked "
                   "for; the plain torus is predicted")

    def _doubtful_wraps(self, torus: Any) -> Iterator[str]:
        rule = self.partitions
        if rule is None or not torus.has_products or torus.n_dimensions != rule.largest.n_dimensions:
            return
        given = rule.torus(torus.shape) if rule.allows(torus.shape) else Torus(torus.shape, (False,) * torus.n_dimensions)
        if claims_more(torus, given):
            hands_out = f"gives {given} for it" if rule.allows(torus.shape) else f"hands out {rule.allowed()}"
            yield (f"torus {torus} has rings that machine {self.name} does not have: it {hands_out}; "
                   "a partition follows its rule")

    def _doubtful_figures(self, keys: Iterable[str]) -> Iterator[str]:
        for key in keys:
            figure = self.figures.get(key)
            if figure is not None and not figure.certain:
                yield f"{NAMES[key]} of machine {self.name} is uncertain: {figure.note or figure.source}"

    @property
    def launch_order(self) -> LaunchOrder | None:
        """The order in which its launcher fills the nodes, None if the file has no order.

        >>> load_machine("bluegene-q").launch_order.orders
        ('t-',)
        """
        figure = self.figures.get(LAUNCH_ORDER)
        if figure is None:
            return None
        written = figure.value["order"]
        orders = [written] if isinstance(written, str) else written
        for axes in reversed(axes_of_jobs(self.figures, self.network)):
            orders = [order.replace(axes, "+").replace(axes[::-1], "-") for order in orders]
        return LaunchOrder(tuple(orders), figure.value["title"], figure.source, figure.certain, f"machine {self.name}")

    @property
    def uncertain(self) -> tuple[str, ...]:
        """Keys of the figures that are not certain."""
        return tuple(key for key, figure in self.figures.items() if not figure.certain)


def machine_partitions(machine: Machine, n_nodes: int) -> list[Torus]:
    """Return every partition of `n_nodes` nodes that a machine hands out, the most compact first.

    Each has the machine's bandwidths, cables and axes; the list is empty if there is no such partition.

    Raises
    ------
    MachineError
        If the machine file has no rule for partitions.

    Examples
    --------
    >>> [str(t) for t in machine_partitions(load_machine("bluegene-l"), 1024)]
    ['8x8x16', '8x16x8', '16x8x8']
    """
    return [machine.with_shape(str(torus)).torus for torus in machine.partition_rule().of_size(n_nodes)]


def load_machine(name: str) -> Machine:
    """Return a machine of the package by name, or the machine file at a path that ends in ``.toml``.

    Raises
    ------
    MachineError
        If the machine is unknown, or the file is missing or wrong.
    """
    if name.endswith(".toml"):
        if not Path(name).exists():
            raise MachineError(f"machine file {name} does not exist; known names are {', '.join(machine_names())}")
        return read_machine(read_whole(name, MachineError, MOST_TOML_BYTES), name)
    if name not in machine_names():
        if advice := _of_slice(name):
            raise MachineError(f"machine {name!r} is unknown; {advice}")
        raise MachineError(f"machine {name!r} is unknown{near(name, machine_names())}; known are "
                           f"{', '.join(machine_names())}, or give the path of "
                           "a machine file that ends in .toml")
    return _of_package(name)


def _of_slice(name: str) -> str:
    """Return the advice for the name of a TPU slice, such as v4-2048; else "".

    Numbers count the two cores of each chip, or chips on v5e and v6e, whose chips have one.
    """
    slice_ = name.casefold().replace("litepod", "e")
    found = re.fullmatch("(?:tpu-?)?(v[0-9][ep]?)(?:-([0-9]{1,6}))?", slice_)
    if found is None or (machine := f"tpu-{found[1]}") not in machine_names():
        return ""
    chips = int(found[2] or 0) // (1 if found[1].endswith("e") else 2)
    shapes = load_machine(machine).partition_rule().of_size(chips) if chips else []
    if not shapes:
        return f"give `machine` {machine} and the shape of the slice with `nodes`"
    shape = "x".join(map(str, min((torus.shape for torus in shapes), key=sum)))
    return f"give `machine` {machine} and `nodes` {shape}, or another shape of its {chips} chips"


@lru_cache
def _of_package(name: str) -> Machine:
    return read_machine(package_file(name), name, own=True)


def read_machine(content: bytes, label: str, own: bool = False) -> Machine:
    """Read a machine file's bytes; `label` names the file in errors.

    The schema of the files of the package, `own`, is checked by tests: the checker takes a tenth of a second to import.

    Raises
    ------
    MachineError
        If the content is not a machine file.
    """
    with reading(f"machine file {label}", MachineError, len(content)):
        try:
            data = parse_toml(content.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise MachineError(f"machine file {label} is not TOML: {error}") from error
        except ValueError as error:  # a number without a use
            raise MachineError(f"machine file {label}: {error}") from error
        if not own:
            _check_schema(data, label)
        try:
            return _build(data)
        except PencilmapError as error:
            raise MachineError(f"machine file {label}: {error}") from error


def _check_schema(data: dict[str, Any], label: str) -> None:
    import jsonschema

    schema = loads((files("pencilmap.model.machines") / "machine.schema.json").read_text("utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(data))
    if error is not None:
        where = ".".join(str(p) for p in error.absolute_path) or "top level"
        message = ONE_NETWORK if error.validator == "oneOf" and not error.absolute_path else error.message
        raise MachineError(f"machine file {label}, {where}: {message}")


def _build(data: dict[str, Any]) -> Machine:
    figures = figures_of(data)
    network = _switches(figures) if "network" in figures else _torus(figures, data.get("axes"))
    _check_launch_order(figures.get(LAUNCH_ORDER), axes_of_jobs(figures, network))
    return Machine(data["name"], title=data["title"], network=network, tasks_per_node=figures["tasks_per_node"].value,
                   figures=figures, costs=_costs(figures),
                   partitions=_partitions(figures.get("partition"), network))


def _costs(figures: Mapping[str, Figure]) -> Costs:
    fitted = figures[FITTED_NODES].value if FITTED_NODES in figures else None
    return Costs(**costs_of({key: figure.value for key, figure in figures.items()}), fitted_nodes=fitted)


def _switches(figures: Mapping[str, Figure]) -> Network:
    """Return the network of a text; links without a known bandwidth are refused."""
    text, rates = figures["network"].value, figures["link_bandwidth"].value
    if ":" not in text and not text[:1].isdigit():
        raise MachineError(f"network {text[:40]!r} is no text such as fat-tree:leaves=4,hosts=16,taper=2; a file of cables "
                           "is given beside the machine, with `network`")
    if isinstance(rates, list):
        raise MachineError("link_bandwidth is a list of rates of dimensions, which a network of switches does not have; "
                           "give one rate, or a table of rates of its classes of links")
    network = network_named(text, bandwidth=rates)
    if network.has_coordinates:
        raise MachineError(f"network {text[:40]!r} is a torus; write it as [shape]")
    return network


def _parse_shape(text: str, **options: str | None) -> Any:
    read = parse_twisted if is_twisted(text) else parse_folded if is_folded(text) else parse_torus
    return read(text, **options)


def _is_same(torus: Any, other: Any) -> bool:
    """Return whether two tori have the same nodes and the same twists."""
    return other is not None and (torus.shape, twists_of(torus)) == (other.shape, twists_of(other))


def _torus(figures: Mapping[str, Figure], axes: str | None) -> Any:
    shape = _twisted_by(_parse_shape(figures["shape"].value, axes=axes), figures.get("twists"))
    rate = figures["link_bandwidth"].value
    if isinstance(rate, dict):
        raise MachineError("link_bandwidth has classes, which only a network of switches has; give one rate for each "
                           "dimension")
    rates = rate if isinstance(rate, list) else [rate] * shape.n_dimensions
    return replace(shape, bandwidth=tuple(parse(r, "byte/s") for r in rates),
                   cables=tuple(figures["cables"].value) if "cables" in figures else ())


def _twisted_by(shape: Any, twists: Figure | None) -> Any:
    """Return the torus with the twist vectors of the file."""
    if twists is None:
        return shape
    if twists_of(shape) or not all(shape.wrap):
        raise MachineError(f"twists are for the rings of a plain torus, and the shape is {shape}; write the extents alone "
                           "as shape, e.g. 4x4x8")
    return twisted(shape, twists.value)


def axes_of_jobs(figures: Mapping[str, Figure], network: Any) -> tuple[str, ...]:
    """Return the letters of all axes, after those of the logical torus if the scheduler promises one."""
    logical = figures["partition"].value.get("logical") if "partition" in figures else None
    return (network.axes[:1 + logical.count("x")], network.axes) if logical else (network.axes,)


def _check_launch_order(figure: Figure | None, axes: tuple[str, ...]) -> None:
    """Raise an error for an order of other letters than the letters of the machine."""
    given = figure.value["order"] if figure else []
    for order in [given] if isinstance(given, str) else given:
        if {letter for letter in order if letter.isalpha()} not in ({"n", "t"}, *({*each, "t"} for each in axes)):
            raise MachineError(f"launch_order {order!r} is not an order of this machine; name t and each of "
                               f"{', '.join(axes[0])}, or t and n, the fastest first")


ONE_NETWORK = "it needs [shape], or [network] without axes, [cables] and [twists]"
FITTED_NODES, FITTED_MESSAGE, LAUNCH_ORDER = "fitted_nodes", "fitted_message", "launch_order"  # keys of the file
COSTS = {  # key of the file: field of Costs, unit (None: a bare number), name in sentences
    "hop_latency": ("hop_latency_s", "s", "hop latency"),
    "injection_per_task": ("injection_per_task", "byte/s", "injection rate of a task"),
    "injection_per_node": ("injection_per_node", "byte/s", "injection rate of a node"),
    "byte_hops_per_node": ("byte_hops_per_node", "byte/s", "bytes times hops of a node on shared links"),
    "on_node_bandwidth": ("on_node_bandwidth", "byte/s", "bandwidth between the tasks of a node"),
    "message_cost": ("message_cost_s", "s", "cost of a message"),
    "message_size_cost": ("message_size_cost_s", "s", "cost of a message by its size"),
    "message_hop_cost": ("message_hop_cost_s", "s", "cost of a message by its size and hops"),
    "node_message_cost": ("node_message_cost_s", "s", "cost of a message at the ports of a node"),
    "exchange_cost": ("exchange_cost_s", "s", "cost of an exchange"),
    "progress": ("progress", None, "progress beside computing"),
    "contention": ("contention", None, "contention"),
    "fft_rate_per_task": ("fft_rate_per_task", "flop/s", "FFT rate of a task"),
    "cache_bandwidth_per_task": ("cache_bandwidth_per_task", "byte/s", "bandwidth of a task beyond its cache"),
    "memory_bandwidth_per_node": ("memory_bandwidth_per_node", "byte/s", "memory bandwidth of a node"),
    "copy_cost": ("copy_cost_s", "s", "cost of packing a message"),
    "cache_per_task": ("cache_per_task", "byte", "cache of a task"),
    "cache_per_node": ("cache_per_node", "byte", "cache of a node"),
    "fitted_message": ("fitted_message", "byte", "smallest fitted message"),
}
MESSAGES = "messages"  # key of the file whose value is a list of ranges by size
NAMES = {"shape": "shape", "formats": "list of formats", "twists": "twists", "network": "network",
         "tasks_per_node": "number of tasks per node",
         "link_bandwidth": "link bandwidth", "cables": "number of cables", "partition": "partition rule",
         LAUNCH_ORDER: "launch order", MESSAGES: "costs of messages by size"} | {
             key: name for key, (_, _, name) in COSTS.items()}


def costs_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of `Costs` from figures in the form of a machine file.

    `values` are some keys of `COSTS`, or `MESSAGES`, and their values with units.

    >>> costs_of({"message_cost": "2 us", "contention": 0.5})
    {'message_cost_s': 2e-06, 'contention': 0.5}
    """
    found: dict[str, Any] = {}
    for key, (field_name, unit, _) in COSTS.items():
        if key in values:
            found[field_name] = parse(str(values[key]), unit or "")
    if MESSAGES in values:
        found[MESSAGES] = tuple(map(_message_range, values[MESSAGES]))
    return found


def _message_range(value: dict[str, Any]) -> MessageRange:
    """Read a range as the file writes it: up_to (missing in the last), start, ports, rate, together."""
    rates = {key: parse(value[key], "byte/s") for key in ("rate", "together") if key in value}
    return MessageRange(parse(value["up_to"], "byte") if "up_to" in value else float("inf"), parse(value["start"], "s"),
                        value.get("ports", 1), **rates)


def _partitions(figure: Figure | None, torus: Any) -> Partitions | None:
    """Return the rule of a [partition] figure; without other figures the machine is as large as its usual shape."""
    if figure is None:
        return None
    if not torus.has_coordinates:
        raise MachineError("a network of switches has no partition; leave [partition] out")
    value = figure.value
    largest = (parse_torus(value["largest"], axes=torus.axes) if "largest" in value
               else Torus(torus.shape, torus.wrap, axes=torus.axes))
    extents = {key: parse_extents(value[key]) for key in ("unit", "ring") if key in value}
    shapes = tuple(parse_extents(text) for text in value.get("shapes", ()))
    return Partitions(value["rule"], largest, **extents, shapes=shapes, ascending=value.get("ascending", False),
                      twisted=tuple(parse_twisted(text if is_twisted(text) else f"{text}:{TWISTED}")
                                    for text in value.get("twisted", ())),
                      logical=parse_extents(value["logical"]) if "logical" in value else None)
