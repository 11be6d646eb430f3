"""Shared code for tests of pictures: inspect a picture before writing."""

from itertools import combinations

import pytest


@pytest.fixture
def captured(monkeypatch):
    """Draw without writing: ``captured(module, draw)`` -> the axes, and the boxes of all texts in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    def draw_and_look(module, draw):
        found = {"boxes": {}}
        draw_text = Text.draw

        def draw_and_note(text, renderer):
            draw_text(text, renderer)
            if text.get_visible() and text.get_text().strip():
                found["boxes"][id(text)] = text.get_text(), text.get_rotation(), text.get_window_extent(renderer)

        def look(drawn, path):
            agg = FigureCanvasAgg(drawn)
            agg.draw()                                   # computes the layout
            found["boxes"].clear()
            agg.draw()
            found.update(axes=drawn.axes, page=drawn.bbox, boxes=list(found["boxes"].values()))

        with monkeypatch.context() as patch:
            patch.setattr(module, "save", look)
            patch.setattr(Text, "draw", draw_and_note)
            draw()
        return found

    return draw_and_look


@pytest.fixture
def check_texts():
    """Check that the texts of a captured picture are on the page and do not overlap; slanted texts are not compared."""

    def check(found):
        page = found["page"]
        for text, _, box in found["boxes"]:
            assert page.x0 - 1 <= box.x0 and box.x1 <= page.x1 + 1, text
            assert page.y0 - 1 <= box.y0 and box.y1 <= page.y1 + 1, text
        straight = [(text, box) for text, rotation, box in found["boxes"] if rotation in (0, 90)]
        for (one, a), (other, b) in combinations(straight, 2):
            overlap = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
            assert min(overlap) <= 1, (one, other)

    return check
