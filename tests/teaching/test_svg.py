"""The shorter SVG: the same points, the same parts, fewer bytes."""

import re
from xml.etree import ElementTree as ET

import pytest

from cloze.teaching.figures import new_figure, svg_of
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


def test_every_mark_is_a_corner_of_one_path() -> None:
    figure, axes = new_figure(2, 2)
    axes.set_axis_off()
    axes.plot([1, 2, 3], [4] * 3, "o")
    *_, marks, _, _ = ET.fromstring(svg_of(figure))
    assert re.fullmatch(r"m[\d.]+ [\d.]+h[\d.]+ [\d.]+", marks.attrib["d"])
