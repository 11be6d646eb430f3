"""Errors, one class per meaning; every message says what was given, what is allowed, and what to do."""


class PencilmapError(Exception):
    """Base of all errors that input can cause."""


class UnitError(PencilmapError):
    """A quantity without a unit, with the wrong one, or that is not a number."""


class TorusError(PencilmapError):
    """An impossible torus, or a coordinate outside it."""


class AllocationError(PencilmapError):
    """Usable nodes that are outside the torus or named twice; a rank on an unusable node."""


class PartitionError(PencilmapError):
    """A partition that the machine does not hand out, or a rule of partitions that contradicts itself."""


class MachineError(PencilmapError):
    """A machine file that is unknown, unreadable or incomplete."""


class GridError(PencilmapError):
    """A process grid that does not fit the tasks or the transform."""


class MappingError(PencilmapError):
    """Ranks and slots are not one to one."""


class PlacementError(PencilmapError):
    """A placement that is unknown or cannot be made for this torus and grid."""


class MapfileError(PencilmapError):
    """A placement file that cannot be read; the message names file and line."""


class GraphError(PencilmapError):
    """A graph file that cannot be read, or a graph that is not a network."""


class RoutingError(PencilmapError):
    """An unknown routing rule, or one that this network cannot follow."""


class RecordError(PencilmapError):
    """A run record that cannot be read or does not follow the schema."""


class CalibrationError(PencilmapError):
    """Measured times that determine no figure of a machine."""


class FigureError(PencilmapError):
    """A picture that cannot be drawn or written."""
