"""The shorter SVG: the same points, the same parts, fewer bytes."""

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes

from cloze.teaching.figures import STYLE, new_figure, svg_of
from cloze.teaching.palette import BLUE, ORANGE
from cloze.teaching.svg import short_path


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M 1 2 L 3.04 2 L 3.04 0.5 z", "m1 2h2v-1.5z"),
        ("M 0 0 L 0.5 -0.25 L 1 1 z M 2 2 L 3 3", "m0 0l.5-.2 .5 1.2zm2 2l1 1"),
        ("M 0 0 Q 1 2 3 4 C 1 1 2 2 3 3 z", "m0 0q1 2 3 4c-2-3-1-2 0-1z"),
    ],
)
def test_a_path_is_written_in_steps(path: str, short: str) -> None:
    assert short_path(path) == short


def test_no_error_adds_up_along_a_path() -> None:
    steps = short_path("M 0 0" + "".join(f" L {0.16 * n} {n}" for n in range(1, 101)))
    across = [float(x) for x in re.findall(r"[ml ](-?[\d.]+) ?-?[\d.]+", steps)]
    assert sum(across) == pytest.approx(16)


def drawn(draw: Callable[[Axes], object]) -> list[ET.Element]:
    """Draw on axes that show nothing else and return what then stands in the SVG."""
    with rc_context(STYLE):
        figure, axes = new_figure(2, 2)
        axes.set_axis_off()
        axes.set(xlim=(0, 9), ylim=(0, 9))
        draw(axes)
    style, defs, *shapes, _, text = ET.fromstring(svg_of(figure))
    assert (style.tag, defs.tag, text.get("class")) == tuple(
        "{http://www.w3.org/2000/svg}" + tag if tag else None for tag in ("style", "defs", "")
    )
    return shapes


@pytest.mark.parametrize(("colours", "paths"), [([BLUE] * 3, 1), ([BLUE, ORANGE, ORANGE], 2)])
def test_neighbours_of_one_colour_are_one_path(colours: list[str], paths: int) -> None:
    bars = drawn(lambda axes: axes.bar([1, 4, 7], [2, 3, 4], color=colours))
    assert len(bars) == paths
    assert sum(bar.attrib["d"].count("z") for bar in bars) == 3


def test_transparent_shapes_stay_apart() -> None:
    assert len(drawn(lambda axes: axes.bar([1, 2], [2, 3], 2, color=BLUE, alpha=0.5))) == 2


def test_every_mark_is_a_corner_of_one_path_and_hidden_ones_of_one_colour_go() -> None:
    places = [1, 1, 2, 3]
    (solid,) = drawn(lambda axes: axes.plot(places, [4] * 4, "o"))
    (faint,) = drawn(lambda axes: axes.plot(places, [4] * 4, "o", alpha=0.5))
    steps = [re.fullmatch("m[^h]+h(.+)", path.attrib["d"]) for path in (solid, faint)]
    assert [len(across[1].split()) for across in steps if across] == [2, 3]
