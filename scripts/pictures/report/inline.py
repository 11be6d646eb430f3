"""Pictures inside the page: SVG whose colours follow the page, light or dark."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import BinaryIO

from pencilmap.scripts.pictures.figures import canvas

_COLOURS = {  # of a picture, by the name of the variable in page.css
    "blue": canvas.BLUE, "vermillion": canvas.VERMILLION, "green": canvas.GREEN, "orange": canvas.ORANGE, "sky": canvas.SKY,
    "purple": canvas.PURPLE, "yellow": canvas.YELLOW, "ink": canvas.BLACK, "grey": canvas.GREY, "pale": canvas.PALE,
    "paper": "#ffffff",
}


def inline_svg(draw: Callable[[BinaryIO], None], label: str, name: str) -> str:
    """Return an SVG element for a page with several pictures.

    Parameters
    ----------
    draw
        Function that draws into a binary file.
    label
        Text for readers who cannot see the picture.
    name
        Prefix of every id, so that ids of several pictures differ.
    """
    svg = plain_svg(draw, label, name)
    for variable, colour in _COLOURS.items():
        svg = re.sub(colour, f"var(--{variable})", svg, flags=re.IGNORECASE)
    return svg


def plain_svg(draw: Callable[[BinaryIO], None], label: str, name: str) -> str:
    """Return an SVG element with the colours of the picture, as `inline_svg`."""
    content = BytesIO()
    draw(content)
    svg = content.getvalue().decode("utf-8")
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg"):], flags=re.DOTALL)
    svg = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>",
                 lambda match: f'<svg {match[1]} role="img" aria-label="{_attribute(label)}">', svg, count=1)
    return svg.replace("xlink:href=", "href=")


def _attribute(text):
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
