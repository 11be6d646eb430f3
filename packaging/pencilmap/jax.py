"""Meshes of JAX on a TPU slice, in the order that loads its links least: for pencil FFTs and machine-learning jobs.

    >>> from pencilmap.jax import make_mesh                                           # doctest: +SKIP
    >>> mesh = make_mesh(jax.devices(), (8, 16), ("row", "column"))                   # doctest: +SKIP
    >>> mesh = make_mesh(jax.devices(), (8, 16), ("data", "tensor"),                  # doctest: +SKIP
    ...                  collectives=("all-reduce:1GB", "all-gather:4GB"))

The coordinates of the devices give the slice, and their kind gives its rings and twists. ``pip install jax`` installs JAX.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from pencilmap.mapper.meshes import ANY, Axis, axis_of, best_mesh, checked_axes
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.placements.best import candidates
from pencilmap.model.base.errors import GridError, MachineError
from pencilmap.model.base.units import counted
from pencilmap.model.kinds import default_routing, network_named, routing
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.schedules import objectives
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, routed_joint

MACHINES = {  # kind of the devices, as JAX names it: the machine of this package
    "TPU v2": "tpu-v2", "TPU v3": "tpu-v3", "TPU v4": "tpu-v4", "TPU v5": "tpu-v5p", "TPU v5p": "tpu-v5p",
    "TPU v5 lite": "tpu-v5e", "TPU v5e": "tpu-v5e", "TPU v6 lite": "tpu-v6e", "TPU v6e": "tpu-v6e", "TPU7x": "tpu7x"}


def make_mesh(devices: Sequence[Any] | None, shape: Sequence[int], axis_names: Sequence[str], schedule: str = SEQUENCE,
              network: str | None = None, collectives: Sequence[str] | str | None = None, trade: bool = False) -> Any:
    """Return a mesh whose collectives load the links of the slice least.

    Parameters
    ----------
    devices : sequence of jax.Device or None
        All devices of one slice; None: ``jax.devices()``.
    shape : sequence of int
        Devices along each axis of the mesh.
    axis_names : sequence of str
        Their names. Groups of an all-to-all along the first of two axes are the rows of the grid of an FFT.
    schedule : str
        How the two all-to-alls of an FFT follow each other, see `pencilmap.SCHEDULES`: ``sequence``, ``two-way``, ...
    network : str, optional
        Network of the slice instead of that of the kind of its devices, for example ``4x4x8`` (the plain torus),
        ``4x4x8:twisted`` or ``4x4x2:mesh``. Devices without coordinates will fill its nodes in their order.
    collectives : sequence of str, optional
        What each axis does, with the larger of the input and output of a device: ``all-gather:4GB``, and likewise
        ``reduce-scatter``, ``all-reduce``, ``all-to-all``, ``permute``; or ``any`` for axes that may do anything. By
        default two axes are those of a pencil FFT, and other numbers of axes may do anything.
    trade : bool
        Whether an order may make an axis worse than JAX's own, if all axes together send less.

    Returns
    -------
    jax.sharding.Mesh

    Raises
    ------
    ModuleNotFoundError
        If JAX is not installed.
    GridError
        If the shape has not as many devices, or a collective is not understood.
    UnitError
        If bytes have no unit.
    MachineError
        If the devices do not fill a box, or their kind is unknown.

    Notes
    -----
    The order of JAX itself (``jax.experimental.mesh_utils.create_device_mesh``) is one of the candidates. So no mesh of an
    FFT loads the busiest link more than JAX's own, and no axis of any other mesh is worse, however its gathers are done. If
    an order in which some axis is worse sends less in all, a warning of the logger ``pencilmap`` has the trade.
    """
    try:
        import jax
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("pencilmap.jax needs JAX, which is not installed; install it with pip install jax",
                                  name="jax") from error
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)  # as JAX takes them
    devices = list(np.ravel(np.array(jax.devices() if devices is None else devices, dtype=object)))
    return jax.sharding.Mesh(device_order(devices, shape, schedule, network, collectives, trade, names), names)


def device_order(devices: Sequence[Any], shape: Sequence[int], schedule: str = SEQUENCE, network: str | None = None,
                 collectives: Sequence[str] | str | None = None, trade: bool = False,
                 names: Sequence[str] | None = None) -> np.ndarray:
    """Return the devices of the mesh, see `make_mesh`: object array of that shape.

    Devices without coordinates, as those of a CPU, keep their order unless `network` is given.
    """
    shape = tuple(map(int, shape))  # numpy's numbers, too
    if not shape or prod(shape) != len(devices) or min(shape) < 1:
        raise GridError(f"a mesh of {'x'.join(map(str, shape))} is not possible with {len(devices)} devices; give extents "
                        "whose product is the number of devices")
    is_fft = collectives is None and len(shape) == 2
    axes = _axes(shape, names or [f"axis{k}" for k in range(len(shape))], collectives)
    if not is_fft and schedule != SEQUENCE:
        raise GridError(f"schedule {schedule} is for the two all-to-alls of an FFT; leave schedule or collectives out")
    if network is None and not hasattr(devices[0], "coords"):
        return _array(devices).reshape(shape)
    slice_ = slice_of(devices, network)
    if not is_fft:
        found = best_mesh(slice_.site, axes, next(iter(_own_places(slice_, devices, shape)), None))
        if found.trade and not trade:
            logging.getLogger("pencilmap").warning("%s; take it with trade=True", found.trade_words)
        return _array(slice_.devices)[(found.trade if trade and found.trade else found.best).order]
    grid = ProcessGrid(*shape)
    wanted = objectives(schedule, grid)[0]
    orders = []
    for mapping in (as_mapping(placed, "best") for placed in candidates(slice_.site, grid, wanted)):
        place = mapping.node_of_rank * slice_.site.tasks_per_node + mapping.slot_of_rank
        orders.append(_array(slice_.devices)[place.reshape(grid.shape[::-1]).T])  # the first axis is the place in a row
    orders += [_array(devices).reshape(shape), *_own_order(devices, shape)]
    return min(orders, key=lambda order: cost(order, slice_, wanted))


@dataclass(frozen=True)
class Slice:
    """The network of a slice, and its devices in the order of nodes and slots."""

    site: Site
    devices: tuple[Any, ...]

    @property
    def network(self) -> Network:
        return self.site.network


def slice_of(devices: Sequence[Any], network: str | None = None) -> Slice:
    """Return the slice of some devices.

    Raises
    ------
    MachineError
        If the devices do not fill a box, or their kind is unknown and no network is given.
    """
    if not hasattr(devices[0], "coords"):
        named = network_named(network or "")
        tasks = len(devices) // named.n_nodes
        if not tasks or tasks * named.n_nodes != len(devices):
            raise MachineError(f"{named.title} has {named.n_nodes} nodes, but there are {len(devices)} devices")
        return Slice(Site(named, tasks), tuple(devices))
    if len({getattr(device, "slice_index", 0) for device in devices}) > 1:
        raise MachineError("the devices are of several slices; make one mesh for each slice")
    coords = np.array([device.coords for device in devices], dtype=np.int64)
    core = np.array([getattr(device, "core_on_chip", 0) for device in devices], dtype=np.int64)
    low, extents = coords.min(axis=0), np.ptp(coords, axis=0) + 1
    cores = int(core.max()) + 1
    d = max(1, len(extents) - (len(extents) == 3 and extents[2] == 1 and _is_flat(devices[0])))
    box = tuple(extents[:d].tolist())
    found = _network(devices[0], box, network)
    node = (coords - low)[:, :d] @ np.array(found.strides)
    place = node * cores + core
    if len(devices) != found.n_nodes * cores or len(set(place.tolist())) != len(devices):
        raise MachineError(f"{len(devices)} devices do not fill a box of {'x'.join(map(str, box))} chips with {cores} "
                           "cores; give all devices of the slice, each once")
    return Slice(Site(found, cores), tuple(devices[k] for k in np.argsort(place)))


def cost(order: np.ndarray, slice_: Slice, wanted: Objective) -> Fraction:
    """Return the objective of an array of devices, under the default routing of the network."""
    place = {id(device): k for k, device in enumerate(slice_.devices)}
    rank = np.array([place[id(device)] for device in order.T.ravel()])
    grid, rule = ProcessGrid(*order.shape), routing(default_routing(slice_.network), slice_.network)
    return wanted.of_loads(routed_joint(slice_.network, exchanges(grid), rank // slice_.site.tasks_per_node, rule))


def _axes(shape: Sequence[int], names: Sequence[str], collectives: Sequence[str] | str | None) -> tuple[Axis, ...]:
    """Return the axes of a mesh; raise GridError unless each has a name, and a collective if there are any."""
    works = [None] * len(shape) if collectives in (None, ANY) else [collectives] if isinstance(collectives, str) \
        else list(collectives or ())
    for found, what, other in ((names, "name", ""), (works, "collective", f", or {ANY!r} alone")):
        if len(found) != len(shape):
            raise GridError(f"a mesh of {'x'.join(map(str, shape))} needs {counted(len(shape), what)}, not {len(found)}; "
                            f"give one for each axis{other}")
    return checked_axes([axis_of(name, size, work) for name, size, work in zip(names, shape, works)])


def jax_places(site: Site, machine: str, shape: Sequence[int]) -> Any:
    """Return the places of the devices in JAX's own order of a slice, in the shape of a mesh; None if JAX has no order.

    Parameters
    ----------
    site : Site
        A slice of the machine.
    machine : str
        Its name.
    shape : sequence of int

    Raises
    ------
    ModuleNotFoundError
        If JAX is not installed.
    """
    kind = next((kind for kind, name in MACHINES.items() if name == machine), None)
    if kind is None or not site.network.has_coordinates:
        return None
    d, cores = site.network.n_dimensions, range(site.tasks_per_node)
    chips = [(*site.network.coordinates(node).tolist(), *[0] * (3 - d)) for node in range(site.network.n_nodes)]
    devices = [SimpleNamespace(platform="tpu", device_kind=kind, coords=chip, core_on_chip=core, slice_index=0)
               for chip in chips for core in cores]
    hosts = sorted(devices, key=lambda one: [at // size % most for at, size, most in zip(
        one.coords[::-1] + one.coords[1::-1], (1, 2, 2, 1, 1), (1 << 30, 1 << 30, 1 << 30, 2, 2))])  # boxes of 2x2, x first
    return next(iter(_own_places(Slice(site, tuple(devices)), hosts, shape)), None)


def _network(device: Any, box: tuple[int, ...], network: str | None) -> Any:
    if network is not None:
        found = network_named(network)
        if found.shape != box:
            raise MachineError(f"`network` {network} has other extents than the devices, {'x'.join(map(str, box))}")
        return found
    if device.device_kind not in MACHINES:
        raise MachineError(f"the rings of devices of kind {device.device_kind!r} are not known; give `network`, e.g. "
                           f"{'x'.join(map(str, box))} or {'x'.join(map(str, box))}:mesh; known are {', '.join(MACHINES)}")
    return usual_network(MACHINES[device.device_kind], box)


def usual_network(name: str, box: tuple[int, ...]) -> Any:
    """Return the network of a slice of a machine that lies in a box, in any order of its extents, unless asked otherwise.

    >>> str(usual_network("tpu-v6e", (16, 8))), str(usual_network("tpu-v5p", (2, 2, 3)))
    ('16wx8', '2x2x3:mesh')
    """
    machine = load_machine(name)
    rule, text = machine.partition_rule(), "x".join(map(str, box))
    if rule.allows(box):
        return machine.partition(text)
    standing = tuple(sorted(box))      # the table lists shapes with the shortest extent first; a slice may lie otherwise
    if not rule.allows(standing):
        return machine.with_shape(f"{text}:mesh").torus  # a part of a slice
    if rule.twisted_slice(standing):
        return machine.with_shape(f"{text}:twisted").torus
    wraps = dict(zip(standing, rule.torus(standing).wrap))  # dimensions of one extent wrap alike
    return machine.with_shape("x".join(f"{n}{'w' * wraps[n]}" for n in box) if any(wraps.values()) else f"{text}:mesh").torus


def _is_flat(device: Any) -> bool:
    """Return whether pods of that kind have two dimensions, so that the third coordinate is always 0."""
    kind = MACHINES.get(device.device_kind)
    return kind is not None and load_machine(kind).torus.n_dimensions == 2


def _own_places(slice_: Slice, devices: Sequence[Any], shape: Sequence[int]) -> list[Any]:
    """Return the orders of JAX for the mesh as places of a slice."""
    place = {id(device): k for k, device in enumerate(slice_.devices)}
    return [np.array([place[id(device)] for device in order.ravel()]).reshape(shape) for order in _own_order(devices, shape)]


def _own_order(devices: Sequence[Any], shape: Sequence[int]) -> list[np.ndarray]:
    """Return the orders of JAX for the mesh, without and with split axes; JAX refuses some."""
    from jax.experimental import mesh_utils

    found = []
    for split in (False, True):
        try:
            found.append(mesh_utils.create_device_mesh(shape, devices, allow_split_physical_axes=split))
        except (NotImplementedError, ValueError, AssertionError, TypeError):  # the last two for axes of 10 or 14
            continue
    return found


def _array(devices: Sequence[Any]) -> np.ndarray:
    """Return devices as an array of objects, which NumPy does not look into."""
    found = np.empty(len(devices), dtype=object)
    found[:] = devices
    return found
