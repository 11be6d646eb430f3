"""Functions and tables of objects that are imported when first used, because a command uses few of all modules."""

from collections import UserDict
from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def late(place: str) -> Callable[..., Any]:
    """Return the function at `place`, which is imported when it is first called.

    >>> late("math:gcd")(12, 18)
    6
    """
    resolved = cache(resolve_name)

    def call(*values: Any, **named: Any) -> Any:
        return resolved(place)(*values, **named)

    return call


def late_of(package: str, file: str, *names: str) -> tuple[Callable[..., Any], ...]:
    """Return functions of a file of a package, which is imported when one is first called."""
    return tuple(late(f"{package}.{file}:{name}") for name in names)


class LateTable(UserDict[str, Kind]):
    """A table from names to objects.

    Parameters
    ----------
    package : str
        The package of all objects.
    places : mapping
        Name -> ``file:object`` in the package.

    Examples
    --------
    >>> table = LateTable("collections", {"a counter": "abc:Sized"})
    >>> list(table), table["a counter"].__name__
    (['a counter'], 'Sized')
    """

    def __init__(self, package: str, places: Mapping[str, Any]) -> None:
        super().__init__(places)
        self.package = package

    def __getitem__(self, name: str) -> Kind:
        if isinstance(place := self.data[name], str):
            self.data[name] = resolve_name(f"{self.package}.{place}")
        return self.data[name]
