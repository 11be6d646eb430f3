"""The name of a placement for a reader, the same in every command, picture and page."""

from pencilmap.model.placement.allocation import Site


def placement_name(text: str, site: Site) -> str:
    """Return the name of a placement for a reader: a launch order by its launcher, rows on boxes, a file.

    >>> from pencilmap.model.network.torus import Torus
    >>> site = Site(Torus((8, 8, 8)))
    >>> placement_name("box:2x2x2", site), placement_name("file:my.map", site), placement_name("default:zyxt", site)
    ('rows on 2x2x2 cubes', 'my.map', 'order zyxt')
    >>> placement_name("line", site), placement_name("plane:xy", site)
    ('rows on lines', 'rows on planes along xy')
    """
    kind, _, argument = text.partition(":")
    if kind == "default":
        known = not argument or argument in site.launch.orders
        return site.launch_name(argument) if known else f"order {argument}"
    if kind == "box" and argument:
        extents = argument.split("x")
        return f"rows on {argument} {'cubes' if len(set(extents)) == 1 and len(extents) > 2 else 'boxes'}"
    if kind in ("line", "plane"):
        return f"rows on {kind}s{f' along {argument}' if argument else ''}"
    return {"file": argument.partition(",")[0], "digits": f"pattern {argument}",
            "lattice": f"tiling {argument}"}.get(kind, text) if argument else text
