"""Machine files: TOML with units in the text and a source for every figure."""

import tomllib
from dataclasses import dataclass, field, replace
from importlib.resources import files
from json import loads
from pathlib import Path

from pencilmap.model.errors import MachineError, PencilmapError
from pencilmap.model.torus import Torus, parse_torus
from pencilmap.model.units import parse


@dataclass(frozen=True)
class Figure:
    """One figure of a machine: its value as written in the file, and how far it can be trusted."""

    value: object
    source: str
    certain: bool
    note: str = ""


@dataclass(frozen=True)
class Machine:
    """A machine: a torus with bandwidth, tasks per node, and where every figure comes from.

    >>> load_machine("bluegene-l").torus.bandwidth
    (148000000.0, 148000000.0, 148000000.0)
    """

    name: str
    title: str
    torus: Torus
    tasks_per_node: int
    figures: dict = field(repr=False)

    def with_shape(self, text):
        """The same machine with another shape, given as for `parse_torus`.

        A single link bandwidth holds for all dimensions, however many; several must match the dimensions.

        >>> load_machine("bluegene-l").with_shape("4x4:mesh").torus.bandwidth
        (148000000.0, 148000000.0)
        """
        shape = parse_torus(text)
        old, d = self.torus, shape.n_dimensions
        same = d == old.n_dimensions
        if not same and (len(set(old.bandwidth)) > 1 or len(set(old.cables)) > 1):
            raise MachineError(f"torus {text} has {d} dimensions, but machine {self.name} has its own bandwidth or cables "
                               f"for each of {old.n_dimensions}; give a shape of {old.n_dimensions} dimensions or a "
                               "machine with one bandwidth for all")
        torus = Torus(shape.shape, shape.wrap, old.bandwidth if same else old.bandwidth[:1] * d,
                      old.cables if same else old.cables[:1] * d, old.axes if same else None)
        return replace(self, torus=torus)


def machine_names():
    """Names of the machines in the package."""
    return sorted(p.name.removesuffix(".toml") for p in files("pencilmap.model.machines").iterdir()
                  if p.name.endswith(".toml"))


def load_machine(name):
    """A machine of the package by name, or the machine file at a path that ends in ``.toml``."""
    if name.endswith(".toml"):
        path, label = Path(name), name
        if not path.is_file():
            raise MachineError(f"machine file {name} does not exist; known names are {', '.join(machine_names())}")
    else:
        if name not in machine_names():
            raise MachineError(f"machine {name!r} is unknown; known are {', '.join(machine_names())}, or give the path of "
                               "a machine file that ends in .toml")
        path, label = files("pencilmap.model.machines") / f"{name}.toml", name
    return read_machine(path.read_bytes(), label)


def read_machine(content, label):
    """Read a machine file's bytes; `label` names it in errors."""
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MachineError(f"machine file {label} is no TOML: {error}") from error
    _check_schema(data, label)
    try:
        return _build(data)
    except PencilmapError as error:
        raise MachineError(f"machine file {label}: {error}") from error


def _check_schema(data, label):
    import jsonschema

    schema = loads((files("pencilmap.model.machines") / "machine.schema.json").read_text("utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(data))
    if error is not None:
        where = ".".join(str(p) for p in error.absolute_path) or "top level"
        raise MachineError(f"machine file {label}, {where}: {error.message}")


def _build(data):
    figures = {key: Figure(**value) for key, value in data.items() if isinstance(value, dict)}
    shape = parse_torus(figures["shape"].value)
    rate = figures["link_bandwidth"].value
    rates = rate if isinstance(rate, list) else [rate] * shape.n_dimensions
    torus = Torus(shape.shape, shape.wrap, tuple(parse(r, "byte/s") for r in rates),
                  figures["cables"].value if "cables" in figures else None, data.get("axes"))
    return Machine(data["name"], data["title"], torus, figures["tasks_per_node"].value, figures)
