"""The same drawing in fewer bytes: what matplotlib writes as SVG, without what nobody sees.

matplotlib writes for programs that edit a drawing afterwards: every part has a name and a group,
every mark a style of its own. A notebook stores its drawings, and is to be small enough to be
reviewed.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from string import ascii_lowercase
from xml.etree import ElementTree as ET

OUTLINE = "scale(0.015625)"
"""How matplotlib draws a glyph, which it writes 6400 units high, as if the type were 100 high."""
PLACE = r"translate\((\S+) (\S+)\)(?: rotate\((\S+)\))? scale\((\S+) \S+\)"
"""Where matplotlib puts a text of such glyphs, and how it turns and scales it."""
MARKER = {"markerUnits": "userSpaceOnUse", "overflow": "visible"}


def _short(number: float | str) -> str:
    """Write a number to a tenth, without a zero that says nothing."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{round(float(number), 1) + 0:g}")


def short_path(path: str, scale: float = 1, digits: int = 1) -> str:
    """Write a path of absolute ``M``, ``L``, ``Q``, ``C`` and ``z`` in relative steps.

    The points are rounded, not the steps between them, so no error adds up.

    Args:
        path: the value of an attribute ``d``.
        scale: what the coordinates are multiplied by.
        digits: how many decimals they then keep.
    """
    unit = 10**digits
    written: list[str] = []
    here = start = (0, 0)
    last = ""
    for command, numbers in re.findall("([MLQCz])([^MLQCz]*)", path):
        rounded = [round(float(number) * scale * unit) for number in numbers.split()]
        points = list(zip(rounded[::2], rounded[1::2], strict=True))
        steps = [(to - at) / unit for point in points for to, at in zip(point, here, strict=True)]
        here = points[-1] if points else start
        if command == "M":
            start = here
        elif command == "L" and 0 in steps:
            command, steps = ("h", steps[:1]) if steps[1] == 0 else ("v", steps[1:])
        if command != last or command in "Mz":
            written.append(command.lower())
        written += map(_short, steps)
        last = command
    return re.sub("(?<=[a-z]) | (?=[-a-z])", "", " ".join(written))


def _names(wanted: Iterable[str]) -> dict[str, str]:
    """Give each a short name."""
    return {
        long: ascii_lowercase[n % 26] + str(n // 26 or "")
        for n, long in enumerate(dict.fromkeys(wanted))
    }


def _is_text(element: ET.Element) -> bool:
    return element.tag == "g" and "transform" in element.attrib


def _shapes(element: ET.Element, clip: str = "") -> Iterator[ET.Element]:
    """Find all that is seen in an element except text, without its groups."""
    clip = element.get("clip-path", clip)
    if element.tag not in ("g", "svg"):
        element.set("clip-path", clip)
        if element.get("style") != "fill: none":
            yield element
    elif not _is_text(element):
        for child in element:
            yield from _shapes(child, clip)


def _look(shape: ET.Element) -> tuple[str, ...]:
    """Return what neighbouring marks must have in common to be written as one."""
    return (shape.tag, *(shape.get(key, "") for key in ("href", "style", "clip-path")))


def _marked(shapes: Iterable[ET.Element], shared: ET.Element) -> Iterator[ET.Element]:
    """Write neighbouring marks that look alike as the corners of one path."""
    for (tag, href, style, clip), group in groupby(shapes, key=_look):
        alike = list(group)
        if tag == "use" and len(alike) > 1:
            name = f"mark_{len(shared)}"
            mark = ET.SubElement(shared, "marker", MARKER, id=name)
            ET.SubElement(mark, "use", href=href, style=style)
            corners = " L ".join(f"{shape.get('x', 0)} {shape.get('y', 0)}" for shape in alike)
            look = {"style": f"fill: none; marker: url(#{name})", "clip-path": clip}
            yield ET.Element("path", look, d=f"M {corners}")
        elif tag == "path" or not clip:
            yield from alike
        else:  # a shape that is moved would move what it is clipped to
            clipped = ET.Element("g", {"clip-path": clip})
            for shape in alike:
                shape.set("clip-path", "")
                clipped.append(shape)
            yield clipped


def _text(drawing: ET.Element) -> Iterator[ET.Element]:
    """Find all text, by look and size, and write its halo before it."""
    groups: dict[tuple[str, float], ET.Element] = {}
    for text in filter(_is_text, drawing.iter()):
        ((*place,),) = re.findall(PLACE, text.attrib["transform"])
        x, y, angle, size = (float(number or 0) for number in place)
        turned = f" rotate({-angle:g})" if angle else ""
        text.set("transform", f"translate({x / size:.0f} {-y / size:.0f}){turned}")
        look = text.attrib.pop("style", "")
        group = {"style": look, "transform": f"scale({size:g} {-size:g})"}
        groups.setdefault((look, size), ET.Element("g", group)).append(text)
    yield ET.Element("use", {"href": "#text", "class": "halo"})
    layer = ET.Element("g", id="text")
    layer.extend(groups.values())
    yield layer


def _round(element: ET.Element) -> None:
    """Round lengths to a tenth, in a text to a hundredth of its height."""
    transform = element.get("transform", "")
    if transform == OUTLINE:
        del element.attrib["transform"]
    moved = re.fullmatch(r"translate\((\S+) (\S+)\)", transform)
    if moved and element.tag == "use":
        del element.attrib["transform"]
        element.attrib |= {key: f"{float(moved[n]):.0f}" for n, key in enumerate("xy", 1)}
    if "d" in element.attrib:
        detail = (1 / 64, 0) if transform == OUTLINE else (1, 1)
        element.set("d", short_path(element.attrib["d"], *detail))
    elif element.tag in ("use", "rect"):
        for key in element.attrib.keys() & {"x", "y", "width", "height"}:
            element.set(key, _short(element.attrib[key]))
            if element.attrib[key] == "0":
                del element.attrib[key]


def _sheet(drawing: ET.Element, style: str) -> ET.Element:
    """Write all looks as one style sheet; what has a look then has its class."""
    looks: dict[str, list[ET.Element]] = {}
    for element in drawing.iter():
        clip = element.attrib.pop("clip-path", "")
        look = element.attrib.pop("style", "") + (clip and f"; clip-path: {clip}")
        if look:
            looks.setdefault(look, []).append(element)
    sheet = ET.Element("style")
    sheet.text = style
    names = _names(looks)
    for look, elements in looks.items():
        sheet.text += f".{names[look]}{{{look.strip('; ')}}}".replace(": ", ":").replace("; ", ";")
        for element in elements:
            element.set("class", names[look])
    return sheet


def shortened(svg: str, style: str) -> str:
    """Write a figure as a shorter SVG that looks the same.

    Text is above all else: it is written once and shown twice, the first time as its own halo.

    Args:
        svg: what matplotlib has written, with its text as paths.
        style: a style sheet in place of matplotlib's, with a rule for the class ``halo``.
    """
    svg = re.sub(r'xlink:| xmlns(:\w+)?="[^"]*"', "", svg)
    drawing = ET.fromstring(svg)  # noqa: S314 - matplotlib has written it
    shared = ET.Element("defs")
    for element in list(drawing.iter()):
        element.text = element.tail = None
        for defs in element.findall("defs"):
            element.remove(defs)
            shared.extend(part for part in defs if part.tag != "style")
    drawing[:] = [shared, *_marked(_shapes(drawing), shared), *_text(drawing)]
    for element in drawing.iter():
        _round(element)
    drawing.insert(0, _sheet(drawing, style))
    drawing.set("xmlns", "http://www.w3.org/2000/svg")
    svg = ET.tostring(drawing, encoding="unicode").replace(" />", "/>")
    names = _names(re.findall(r'(?:href="|url\()#([\w-]+)', svg))
    svg = re.sub(r'((?:href="|url\()#)([\w-]+)', lambda link: link[1] + names[link[2]], svg)
    return re.sub(
        r' id="([\w-]+)"', lambda own: f' id="{names[own[1]]}"' if own[1] in names else "", svg
    )
