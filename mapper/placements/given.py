"""Placements that a user gives: mapfiles (``file:PATH``), and files of images (``images:PATH``).

Images listed in a file: ``images:PATH`` (of the grid's first dimension, rows) or ``images:PATH,columns``.

A file of words; line breaks do not matter, ``#`` starts a comment::

    image 0-0-0 1-0-0 0-1-0 1-1-0    # the nodes of one image, coordinates joined by -; they may go on in the next lines
    image slots=0 2-0-0 3-0-0        # only slot 0 of these nodes; all slots by default, also slots=0,2 or slots=0-3
    repeat 4 2-0-0                   # all images so far, 4 times in all, each shifted by (2, 0, 0); rings wrap around

Rows are placed on the images in order, R places each: first the nodes as listed, then the same nodes in the next slot. So
an image of R nodes with two slots takes two rows, and a row of 2R tasks takes both slots of an image. The place within the
row is the column number. So a column takes the same place of every row, and the columns are the complement. With
``columns``, rows and columns change roles.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pencilmap.mapper.formats import FORMATS, Job, read_mapping
from pencilmap.mapper.formats.lines import span, text_lines
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import AllocationError, PlacementError, TorusError
from pencilmap.model.base.reading import read_whole, reading
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid, dealt, per_node


@dataclass(frozen=True)
class Image:
    """The places of one or more groups."""

    line: int  #: line of the file where the image begins
    nodes: Ints  #: int array, shape (n,); node numbers in the order listed
    slots: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.nodes) * len(self.slots)

    def places(self) -> Ints:
        """Node and slot of each place, nodes fastest: int array, shape (size, 2)."""
        return np.column_stack([np.tile(self.nodes, len(self.slots)), np.repeat(self.slots, len(self.nodes))])


def images(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Read the file and lay the groups along a dimension of the grid onto its images.

    Parameters
    ----------
    argument : str
        ``PATH`` or ``PATH,GROUPS``, e.g. ``PATH,columns``.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If the file is not understood or its images do not fit. The message names file and line.
    """
    site.check_grid(grid)
    path, _, groups = argument.partition(",")
    known = [f"{dimension.name}s" for dimension in grid.decomposition.dimensions]
    if not path or groups not in ("", *known):
        raise PlacementError(f"images:{argument} is not understood; write images:PATH for images of {known[0]}, or "
                             f"{' or '.join(f'images:PATH,{groups}' for groups in known[1:] or known)}")
    content = read_whole(path, PlacementError)
    with reading(path, PlacementError, len(content)):
        mapping = lay(parse_images(content, path, site), path, site, grid, known.index(groups or known[0]))
    site.check_mapping(mapping)
    return mapping


def parse_images(content: bytes, label: str, site: Site) -> list[Image]:
    """Return the images described by the bytes of a file, repeats included.

    Parameters
    ----------
    content : bytes
    label : str
        Name of the file in errors.
    site : Site

    Raises
    ------
    PlacementError
        If the content is not understood or describes no image.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> [i.nodes.tolist() for i in parse_images(b"image 0 1\\nrepeat 2 2", "demo", Site(Torus((4,))))]
    [[0, 1], [2, 3]]
    """
    reader = _Reader(label, site)
    for line, text in text_lines(content, label):
        reader.line = line
        reader.read(text.split())
    reader.close()
    if not reader.images:
        raise PlacementError(f"{label} describes no image; write one for each row, e.g. image {reader.example}")
    return reader.images


class _Reader:
    """Reader of the words of an image file, line by line; `line` is the current line."""

    def __init__(self, label: str, site: Site) -> None:
        self.label, self.site, self.line = label, site, 0
        self.images: list[Image] = []
        self.nodes: list[int] | None = None  # of the current image; None between images
        self.example = "-".join(["0"] * site.network.n_dimensions)

    def refuse(self, message: str, line: int | None = None) -> PlacementError:
        return _refuse(self.label, line or self.line, message)

    def read(self, words: list[str]) -> None:
        if words[0] == "repeat":
            self.close()
            self.repeat(words)
            return
        for word in words:
            if word == "image":
                self.close()
                self.began, self.nodes, self.slots = self.line, [], tuple(range(self.site.tasks_per_node))
            elif self.nodes is None:
                raise self.refuse(f"{word[:40]!r} belongs to no image; begin with the word image, e.g. image {self.example}")
            elif word.startswith("slots="):
                self.slots = self.read_slots(word)
            else:
                self.nodes += self.read_nodes(word)

    def close(self) -> None:
        """Finish the current image."""
        if self.nodes is not None:
            if not self.nodes:
                raise self.refuse(f"an image without nodes; list them, e.g. image {self.example}", self.began)
            self.images.append(Image(self.began, np.array(self.nodes, dtype=np.int64), self.slots))
        self.nodes = None

    def read_nodes(self, word: str) -> list[int]:
        try:
            return parse_nodes(word, self.site.network).tolist()
        except (AllocationError, TorusError) as error:
            raise self.refuse(str(error)) from error

    def read_slots(self, word: str) -> tuple[int, ...]:
        T, slots = self.site.tasks_per_node, list[int]()
        for part in word.removeprefix("slots=").split(","):
            result = span(part)
            if not result or result[-1] >= T:
                raise self.refuse(f"{word[:40]!r} is not understood; with {per_node(T)} slots are 0..{T - 1}, "
                                  "written slots=0, slots=0,1 or slots=0-1")
            slots += result
        return tuple(slots)

    def repeat(self, words: list[str]) -> None:
        """Repeat all images so far; copy k is shifted by k steps."""
        if len(words) != 3 or not re.fullmatch(r"[1-9]\d{0,11}", words[1]):
            raise self.refuse(f"{' '.join(words)[:60]!r} is not understood; write repeat TIMES SHIFT, e.g. repeat 4 "
                              f"{self.example}")
        times, places = int(words[1]), sum(image.size for image in self.images)
        if not 0 < times * places <= self.site.n_slots:
            raise self.refuse(f"repeat {times} makes images of {times * places} places, but {self.site} has "
                              f"{self.site.n_slots} slots; repeat no more than fit, and after the first image")
        shift = self.site.network.coordinates(self.read_nodes(words[2])[0])
        self.images = [replace(image, nodes=self.shifted(image.nodes, k * shift))
                      for k in range(times) for image in self.images]

    def shifted(self, nodes: Ints, shift: Ints) -> Ints:
        torus = as_torus(self.site.network)
        moved = torus.coordinates(nodes) + shift
        around = np.where(torus.wrap, moved % torus.shape, moved)
        beyond = np.flatnonzero((around >= torus.shape).any(axis=1))
        if beyond.size:
            raise self.refuse(f"repeated too often: {torus.outside(around[beyond[0]])}, and that dimension does not wrap")
        return torus.node(around)


def _refuse(label: str, line: int, message: str) -> PlacementError:
    return PlacementError(f"{label} line {line}: {message}")


def lay(result: Sequence[Image], label: str, site: Site, grid: ProcessGrid, i: int) -> Mapping:
    """Lay the groups along a dimension of the grid on images, in order.

    Parameters
    ----------
    result : sequence of Image
    label : str
        Name of the file in errors.
    site : Site
    grid : ProcessGrid
    i : int
        Number of the dimension of the grid.

    Raises
    ------
    PlacementError
        If groups do not fill an image, or there are too few or too many images.
    """
    dimension, size = grid.decomposition.dimensions[i], grid.shape[i]
    groups, plural = grid.n_tasks // size, f"{dimension.name}s"
    for image in result:
        if image.size % size:
            raise _refuse(label, image.line, f"the image has {image.size} places ({len(image.nodes)} nodes with "
                          f"{len(image.slots)} slots), which {plural} of {size} tasks do not fill; it needs a multiple of "
                          f"{size}")
    n_tasks = sum(image.size for image in result) // size
    if n_tasks != groups:
        raise PlacementError(f"{label} has images for {n_tasks} {plural}, but grid {grid} has {groups} {plural} of {size} "
                             f"tasks; give images of {grid.n_tasks} places in all (repeat TIMES SHIFT makes copies)")
    places = np.concatenate([image.places() for image in result])
    _check_once(result, places, label, site)
    places = dealt(places, grid, dimension.letter)
    name = f"images:{label}" + (f",{plural}" if i else "")
    return Mapping(site.network, grid, site.tasks_per_node, places[:, 0], places[:, 1], name)


def _check_once(result: Sequence[Image], places: Ints, label: str, site: Site) -> None:
    place = places[:, 0] * site.tasks_per_node + places[:, 1]
    unique, first = np.unique(place, return_index=True)
    if unique.size == place.size:
        return
    again = int(np.setdiff1d(np.arange(place.size), first)[0])
    earlier = int(np.flatnonzero(place == place[again])[0])
    line = np.repeat([image.line for image in result], [image.size for image in result])
    where = site.network.node_name(int(places[again, 0]))
    raise _refuse(label, line[again], f"node {where} slot {places[again, 1]} is taken already by the image of line "
                                      f"{line[earlier]}, or by a copy of it; every slot takes one rank")


def from_file(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Read a placement from a file.

    Parameters
    ----------
    argument : str
        ``PATH`` or ``PATH,FORMAT``.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If there is no path.
    MapfileError
        If the file cannot be read.
    """
    path, _, format_name = argument.partition(",")
    if not path:
        raise PlacementError(f"file: needs a path, e.g. file:demo.map or file:demo.hosts,hostfile; formats are "
                             f"{', '.join(FORMATS)}")
    mapping = read_mapping(path, Job(site), grid, format_name or None)
    site.check_mapping(mapping)
    return mapping
