"""Make an exam in which every student has a paper of their own, and mark it.

``python -m lecture.exam --students list.csv`` writes into the folder ``exam``:

* ``papers/NAME/exam.ipynb`` and ``exam.pdf``: the same paper, to be answered on either;
* ``keys/secret.txt``, ``keys/keys.json`` and ``keys/keys.csv``: for nobody but you;
* ``source/exam/exam.ipynb``: what nbgrader needs to grade what comes back.

``python -m lecture.exam --mark submitted`` reads the notebooks that came back and writes
``points.csv`` beside the keys. It runs nothing that was handed in: answers are read as numbers.

All numbers of a paper are drawn from the secret (128 bits) and the student's name. Whoever knows
this program but not the secret can compute nobody's numbers; the same secret makes the same bytes.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import hmac
import json
import random
import re
import secrets
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from markdown_it import MarkdownIt
from markupsafe import Markup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser

from lecture.assignment import kept_by_nbgrader
from lecture.handout import printed
from lecture.papers import TEMPLATES, Question, right
from notebooks.execute import METADATA
from web.browser import NO_CHROMIUM, browsing, chromium

HEADINGS = {"name", "names", "student", "students", "id", "student_id"}
"""First cells of a list that name the column instead of a student."""
MOST_LETTERS = 80
SECRET = re.compile(r"[0-9a-f]{32}\s*")
Keys = Mapping[str, Mapping[str, Sequence[float]]]
ABOUT = """\
Answer with numbers alone: to three decimals, or exactly where whole numbers are asked for. log is
the natural logarithm. In the notebook, put the numbers in place of `None`, and no calculations."""
HIDDEN = """\
# Your answer is read here after you have handed it in.
### BEGIN HIDDEN TESTS
import json as _json, pathlib as _pathlib

_keys = _json.loads(_pathlib.Path({keys!r}).read_text(encoding="utf-8"))
_key = _keys[_pathlib.Path.cwd().parent.name][{name!r}]
_given = {name} if isinstance({name}, (list, tuple)) else [{name}]
assert len(_given) == len(_key)
for _n, _k in zip(_given, _key):
    assert abs(_n - _k) <= (0 if isinstance(_k, int) else max(0.002, 0.005 * abs(_k)))
### END HIDDEN TESTS"""
STYLE = """\
@page { size: A4; margin: 16mm 18mm }
:root { color-scheme: light; color: #000; font: 10.5pt/1.4 "Liberation Sans", Arial, sans-serif }
body { font-variant-ligatures: none }
h1 { font-size: 15pt } h2 { font-size: 11.5pt; margin: 0 0 1mm }
article { break-inside: avoid; margin: 0 0 6mm }
table { border-collapse: collapse }
th, td { border: .2mm solid #555; padding: .4mm 2.5mm; text-align: left }
td { font: 9.5pt/1.25 "Liberation Mono", monospace }
pre, code { font: 9.5pt/1.4 "Liberation Mono", monospace }
.answer { margin-top: 2mm }
.answer i { display: inline-block; width: 45mm; margin-right: 5mm; border-bottom: .3mm solid #000 }
"""


class ExamError(Exception):
    """What is in the way, in one sentence that says what to do."""


# --- who sits the exam ------------------------------------------------------------------------


def folder_of(student: str) -> str:
    """Name a student's folder: what not every system has in a name becomes ``_``."""
    made = re.sub(r"[^\w.-]+", "_", student).strip("._-")
    return made or "_"


def students_of(path: Path) -> dict[str, str]:
    """Read a list of students: one in each line, in the first column of a CSV file.

    Returns:
        Their names by the names of their folders.

    Raises:
        ExamError: nobody is in it, somebody twice, or a name cannot be used.
    """
    try:
        rows = [*csv.reader(path.read_text(encoding="utf-8-sig").splitlines())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        said = getattr(error, "strerror", None) or "it is no CSV file in UTF-8"
        raise ExamError(f"{path} cannot be read: {said}.") from None
    students: dict[str, str] = {}
    taken: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if not any(cell.strip() for cell in row):
            continue
        name = " ".join(unicodedata.normalize("NFC", row[0]).split())
        if not students and name.casefold() in HEADINGS:
            continue
        here = f"Line {number} of {path}"
        if not name:
            raise ExamError(f"{here} has no name in its first column: write one, or delete it.")
        if len(name) > MOST_LETTERS or not name.isprintable():
            raise ExamError(
                f"{here} has a name of more than {MOST_LETTERS} letters, or with a control "
                "character: use a shorter one, or a number."
            )
        if ";" in name or "\t" in row[0]:
            raise ExamError(f"{here} is not cut at commas: save the list with commas.")
        folder = folder_of(name)
        if folder.casefold() in taken:
            raise ExamError(
                f"{here} has the same name as line {taken[folder.casefold()]}, or one that makes "
                "the same folder: add a number to one of them."
            )
        students[folder] = name
        taken[folder.casefold()] = number
    if not students:
        raise ExamError(f"Nobody is in {path}: write one name in each line.")
    return students


# --- papers -----------------------------------------------------------------------------------


def chance_of(secret: bytes, student: str, name: str) -> random.Random:
    """Return the source of chance for a question of a student."""
    said = hmac.new(secret, f"{student}\0{name}".encode(), hashlib.sha256).hexdigest()
    return random.Random(said)  # noqa: S311 - the digest is what nobody can guess


def paper_of(secret: bytes, student: str, names: Iterable[str]) -> dict[str, Question]:
    """Draw the questions of a student, by the names of their templates."""
    return {name: TEMPLATES[name].draw(chance_of(secret, student, name)) for name in names}


def cells_of(name: str, number: int, told: str, places: int, check: str) -> list[Any]:
    """Make the three cells of a question: its text, the answer, and what nbgrader grades."""
    blank = ", ".join(["None"] * places)
    return [
        new_markdown_cell(f"## {number} · {TEMPLATES[name].title}\n\n{told}", id=f"{name}-text"),
        new_code_cell(
            f"{name} = {blank}", id=f"{name}-answer", metadata=kept_by_nbgrader(name, solution=True)
        ),
        new_code_cell(
            check,
            id=f"{name}-point",
            metadata=kept_by_nbgrader(f"point_{name}", grade=True, locked=True, points=1),
        ),
    ]


def notebook(title: str, paper: Mapping[str, Question], keys: Path | None = None) -> Any:
    """Make the notebook of a paper, or with the keys' place what nbgrader grades all papers by."""
    cells = [new_markdown_cell(f"# {title}\n\n{ABOUT}", id="about")]
    for number, (name, question) in enumerate(paper.items(), start=1):
        check = HIDDEN.format(keys=str(keys), name=name)
        told = question.text if keys is None else "Every paper has its own question here."
        if keys is None:
            check = check.partition("\n")[0]
        cells += cells_of(name, number, told, len(question.key), check)
    return new_notebook(cells=cells, metadata=METADATA)


def sheet(title: str, paper: Mapping[str, Question]) -> str:
    """Write a paper as HTML to be printed."""
    markdown = MarkdownIt().enable("table")
    articles = []
    for number, (name, question) in enumerate(paper.items(), start=1):
        lines = Markup("").join(Markup("<i></i>") for _ in question.key)
        articles.append(
            Markup('<article><h2>{} · {}</h2>{}<p class="answer">Answer: {}</p></article>').format(
                number,
                TEMPLATES[name].title,
                Markup(markdown.render(question.text)),  # noqa: S704 - our own text
                lines,
            )
        )
    return Markup(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{}</title>'
        "<style>{}</style></head><body><h1>{}</h1>{}{}</body></html>"
    ).format(
        title,
        Markup(STYLE),  # noqa: S704
        title,
        Markup(markdown.render(ABOUT.partition(" In the notebook")[0])),  # noqa: S704
        Markup("").join(articles),
    )


def print_sheet(browser: Browser, text: str, path: Path) -> None:
    """Print a paper as PDF, without the date, which is all that differs from day to day."""
    page = browser.new_page()
    printed(page, text, path)
    page.close()
    path.write_bytes(re.sub(rb"\(D:\d{14}", b"(D:20000101000000", path.read_bytes()))


def secret_in(folder: Path) -> bytes:
    """Return the exam's secret, which is drawn if there is none yet.

    Raises:
        ExamError: the file holds something else.
    """
    path = folder / "secret.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(f"{secrets.token_hex(16)}\n", encoding="utf-8")
    text = path.read_text(encoding="utf-8", errors="replace")
    if not SECRET.fullmatch(text):
        raise ExamError(f"{path} holds no secret of 32 hexadecimal digits: restore or delete it.")
    return bytes.fromhex(text)


def shown(number: float) -> str:
    """Write a number of a key for somebody who marks by hand."""
    return str(number) if isinstance(number, int) else f"{number:.3f}"


def write_exam(students: Mapping[str, str], names: Sequence[str], folder: Path) -> Keys:
    """Write every notebook and the keys, and return these."""
    keys = folder / "keys"
    secret = secret_in(keys)
    answers: dict[str, dict[str, Sequence[float]]] = {}
    paper: dict[str, Question] = {}
    for own, student in students.items():
        paper = paper_of(secret, student, names)
        target = folder / "papers" / own
        target.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook(f"Exam of {student}", paper), target / "exam.ipynb")
        answers[own] = {name: question.key for name, question in paper.items()}
    (keys / "keys.json").write_text(json.dumps(answers, indent=1), encoding="utf-8")
    with (keys / "keys.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", *names])
        for own, key in answers.items():
            rows.writerow([own, *(" and ".join(map(shown, key[name])) for name in names)])
    source = folder / "source" / "exam" / "exam.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook("Exam", paper, (keys / "keys.json").resolve()), source)
    return answers


def print_exam(students: Mapping[str, str], names: Sequence[str], folder: Path) -> None:
    """Print every paper as PDF."""
    executable = chromium()
    if not executable:
        raise ExamError(f"The notebooks are written, but no PDF. {NO_CHROMIUM}")
    secret = secret_in(folder / "keys")
    with browsing(executable) as browser:
        for own, student in students.items():
            text = sheet(f"Exam of {student}", paper_of(secret, student, names))
            print_sheet(browser, text, folder / "papers" / own / "exam.pdf")


def measured(secret: bytes, students: Iterable[str], names: Iterable[str]) -> str:
    """Write how hard each question is, from the shortest paper to the longest."""
    rows = []
    students = [*students]
    for name in names:
        drawn = [TEMPLATES[name].draw(chance_of(secret, student, name)) for student in students]
        words = sorted(len(question.text.split()) for question in drawn)
        counted = sorted(question.operations for question in drawn)
        book = "yes" if TEMPLATES[name].open_book else "no: one function of the package answers it"
        rows.append(f"{name:10}{counted[0]:6}–{counted[-1]:<5}{words[0]:6}–{words[-1]:<6}{book}")
    return "\n".join(["question   operations      words   survives an open book", *rows])


# --- marking ----------------------------------------------------------------------------------


def given_in(path: Path) -> dict[str, object]:
    """Read the answers in a notebook that came back, as numbers; nothing in it is run.

    Raises:
        ExamError: it is no notebook.
    """
    try:
        sources = {
            str(cell.metadata.get("nbgrader", {}).get("grade_id")): str(cell.source)
            for cell in nbformat.read(path, as_version=4).cells
        }
    except Exception as error:  # nbformat meets what is no notebook with errors of many kinds
        said = getattr(error, "strerror", None) or "it is no notebook"
        raise ExamError(f"{path} cannot be read: {said}.") from None
    found: dict[str, object] = {}
    for name in sources.keys() & TEMPLATES.keys():
        try:
            [answer] = [
                node.value
                for node in ast.parse(sources[name]).body
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
            ]
            found[name] = ast.literal_eval(answer)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            found[name] = None
    return found


def marked(keys: Keys, student: str, given: Mapping[str, object]) -> dict[str, int]:
    """Give a point for every right answer of a student."""
    return {name: int(right(key, given.get(name))) for name, key in keys[student].items()}


def mark(submitted: Path, folder: Path) -> str:
    """Mark what came back, write ``points.csv`` beside the keys, and say how it went.

    Args:
        submitted: has a folder for each student with ``exam.ipynb`` in it, or in its ``exam``.
        folder: of the exam.

    Raises:
        ExamError: there are no keys, or nothing came back.
    """
    path = folder / "keys" / "keys.json"
    try:
        keys: Keys = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ExamError(f"There are no keys in {path}: name the exam's folder by --to.") from None
    points: dict[str, dict[str, int]] = {}
    for student in keys:
        for place in (submitted / student, submitted / student / "exam"):
            if (place / "exam.ipynb").is_file():
                points[student] = marked(keys, student, given_in(place / "exam.ipynb"))
    if not points:
        raise ExamError(f"{submitted} has no NAME/exam.ipynb with a name of this exam.")
    target = folder / "keys" / "points.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        names = [*next(iter(keys.values()))]
        rows.writerow(["name", *names, "points"])
        for student in keys:
            own = points.get(student, {})
            rows.writerow([student, *(own.get(n, "") for n in names), sum(own.values())])
    missing = len(keys) - len(points)
    return f"{target}: {len(points)} papers marked, {missing} did not come back."


# --- the command ------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Make or mark an exam; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m lecture.exam", description="Make an exam with a paper for each, or mark it."
    )
    parser.add_argument("--students", type=Path, help="a CSV file, a name in its first column")
    parser.add_argument("--questions", nargs="+", choices=TEMPLATES, default=[*TEMPLATES])
    parser.add_argument("--mark", type=Path, metavar="SUBMITTED", help="what came back")
    parser.add_argument("--to", type=Path, default=Path("exam"), help="the folder of the exam")
    parser.add_argument("--no-pdf", action="store_true", help="write the notebooks alone")
    options = parser.parse_args(arguments)
    if (options.students is None) == (options.mark is None):
        parser.error("name a list by --students to make an exam, or a folder by --mark to mark one")
    names = [*dict.fromkeys(options.questions)]
    try:
        if options.mark:
            print(mark(options.mark, options.to))
            return 0
        students = students_of(options.students)
        write_exam(students, names, options.to)
        print(measured(secret_in(options.to / "keys"), students.values(), names))
        if not options.no_pdf:
            print_exam(students, names, options.to)
    except ExamError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{options.to} cannot be written: {error.strerror or error}.", file=sys.stderr)
        return 1
    print(f"{options.to / 'papers'}: {len(students)} papers; {options.to / 'keys'} is for you.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
