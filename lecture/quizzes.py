"""All checkpoint questions for learning platforms, with the explanation of every option.

``python -m lecture.quizzes [FOLDER]`` writes ``cloze.gift`` for Moodle, where each lesson is a
category of the question bank, and ``cloze_qti.zip`` in QTI 1.2 for Canvas and others, with a quiz
for each lesson.

Both formats take HTML, which is all that the questions need: their formulas are plain text.

Sources: https://docs.moodle.org/en/GIFT_format; IMS Question & Test Interoperability 1.2,
ASI XML Binding.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from cloze.teaching.quiz import Question, inline, questions_of

ROOT = Path(__file__).resolve().parents[1]
SPECIAL = re.compile(r"([\\~=#{}:])")
"""What has a meaning in GIFT, and is an ordinary character after a backslash."""
QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
TYPE = "imsqti_xmlv1p2"


def lessons() -> dict[str, tuple[Question, ...]]:
    """Return the questions of every lesson in the order of the series, by its title."""
    found = {"The series": questions_of("the_series")}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        number, _, lesson = path.stem.partition("_")
        title = f"{number} {lesson.replace('_', ' ').capitalize()}"
        found[title] = questions_of(lesson)
    return found


# --- GIFT -------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Write a text of a question for GIFT, as HTML."""
    return SPECIAL.sub(r"\\\1", str(inline(text)))


def gift(quizzes: Mapping[str, Sequence[Question]]) -> str:
    """Write questions for Moodle: ``=`` before the right option, ``~`` before the others."""
    parts = []
    for title, questions in quizzes.items():
        parts.append(f"$CATEGORY: Cloze/{title}\n")
        for number, question in enumerate(questions, start=1):
            options = "".join(
                f"\t{'=' if option.right else '~'}{escaped(option.text)}"
                f"#{escaped(option.explanation)}\n"
                for option in question.options
            )
            name = SPECIAL.sub(r"\\\1", f"{title}, question {number}")
            parts.append(f"::{name}::[html]{escaped(question.text)}{{\n{options}}}\n")
    return "\n".join(parts)


# --- QTI --------------------------------------------------------------------------------------


def put(parent: ET.Element, *tags: str, **attributes: str) -> ET.Element:
    """Put elements into each other, and return the innermost, which has the attributes."""
    for tag in tags:
        parent = ET.SubElement(parent, tag)
    parent.attrib.update(attributes)
    return parent


def say(parent: ET.Element, text: str) -> None:
    """Put a text into an element, as HTML."""
    put(parent, "material", "mattext", texttype="text/html").text = str(inline(text))


def field(parent: ET.Element, label: str, entry: str) -> None:
    """Put what a platform knows about a question into an element."""
    both = put(parent, "qtimetadatafield")
    put(both, "fieldlabel").text = label
    put(both, "fieldentry").text = entry


def item(section: ET.Element, ident: str, title: str, question: Question) -> None:
    """Put a question into a section: its options, what each is worth, and why."""
    made = put(section, "item", ident=ident, title=title)
    about = put(made, "itemmetadata", "qtimetadata")
    field(about, "question_type", "multiple_choice_question")
    field(about, "points_possible", "1")
    shown = put(made, "presentation")
    say(shown, question.text)
    response = put(shown, "response_lid", ident="response1", rcardinality="Single")
    choices = put(response, "render_choice")
    processing = put(made, "resprocessing")
    put(processing, "outcomes", "decvar", varname="SCORE", minvalue="0", maxvalue="100")
    for letter, option in question.by_letter.items():
        say(put(choices, "response_label", ident=letter), option.text)
        chosen = put(processing, "respcondition")
        put(chosen, "conditionvar", "varequal", respident="response1").text = letter
        if option.right:
            put(chosen, "setvar", action="Set", varname="SCORE").text = "100"
        told = f"{letter}_fb"
        put(chosen, "displayfeedback", feedbacktype="Response", linkrefid=told)
        say(put(made, "itemfeedback", "flow_mat"), option.explanation)
        made[-1].set("ident", told)


def assessment(ident: str, title: str, questions: Sequence[Question]) -> bytes:
    """Write the questions of a lesson as one quiz in QTI 1.2."""
    root = ET.Element("questestinterop", xmlns=QTI)
    quiz = put(root, "assessment", ident=ident, title=f"Cloze · {title}")
    section = put(quiz, "section", ident="root_section")
    for number, question in enumerate(questions, start=1):
        item(section, f"{ident}_{number}", f"{title}, question {number}", question)
    return written(root)


def manifest(idents: Sequence[str]) -> bytes:
    """Write the list of what is in a package."""
    root = ET.Element("manifest", xmlns=PACKAGE, identifier="cloze")
    put(root, "metadata", "schema").text = "IMS Content"
    put(root[0], "schemaversion").text = "1.1.3"
    put(root, "organizations")
    resources = put(root, "resources")
    for ident in idents:
        each = put(resources, "resource", identifier=ident, type=TYPE)
        put(each, "file", href=f"{ident}/{ident}.xml")
    return written(root)


def written(root: ET.Element) -> bytes:
    """Write XML to be read by people, too."""
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True)


def qti(quizzes: Mapping[str, Sequence[Question]], path: Path) -> None:
    """Write a package with a quiz for each lesson, the same bytes every time."""
    idents = {title: re.sub(r"\W", "_", title.lower()) for title in quizzes}
    files = {"imsmanifest.xml": manifest([f"cloze_{ident}" for ident in idents.values()])}
    for title, questions in quizzes.items():
        ident = f"cloze_{idents[title]}"
        files[f"{ident}/{ident}.xml"] = assessment(ident, title, questions)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name), data)


def main(arguments: Sequence[str]) -> int:
    """Write both files into a folder, by default ``quizzes``; return the exit code."""
    if len(arguments) > 1 or any(name.startswith("-") for name in arguments):
        print("usage: python -m lecture.quizzes [FOLDER]", file=sys.stderr)
        return 2
    folder, quizzes = Path(*arguments or ["quizzes"]), lessons()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cloze.gift").write_text(gift(quizzes), encoding="utf-8")
        qti(quizzes, folder / "cloze_qti.zip")
    except OSError as error:
        print(f"{folder} cannot be written: {error.strerror or error}.", file=sys.stderr)
        return 1
    print(f"{folder}: {sum(map(len, quizzes.values()))} questions of {len(quizzes)} lessons")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
