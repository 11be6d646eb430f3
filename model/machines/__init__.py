"""The machine files of the package and their content as written.

Nothing here needs NumPy, so a list of machines will appear at once. `pencilmap.model.machines.machine` checks a file and
derives everything else. A test makes sure that the files of the package pass this check.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent  # loading importlib.resources takes as long as reading all machine files


@dataclass(frozen=True)
class Figure:
    """One figure of a machine: its value as written in the file, and its certainty."""

    value: Any
    source: str
    certain: bool
    note: str = ""


def machine_names() -> list[str]:
    """Return the names of the machines in the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def package_file(name: str) -> bytes:
    """Return the file of a machine of the package."""
    return (FOLDER / f"{name}.toml").read_bytes()


def figures_of(data: dict[str, Any]) -> dict[str, Figure]:
    """Return the figures of a machine file, given as the dict of its TOML."""
    return {key: Figure(**value) for key, value in data.items() if isinstance(value, dict)}


def package_figures(name: str) -> tuple[str, dict[str, Figure]]:
    """Return title and figures of a machine of the package."""
    data = tomllib.loads(package_file(name).decode("utf-8"))
    return data["title"], figures_of(data)
