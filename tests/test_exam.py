"""An exam with a paper for each: its key solves a paper, no other key does, and lists of any kind.

nbgrader grades it where CLOZE_NBGRADER names the Python of an environment that has it.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import nbformat
import pytest
from pypdf import PdfReader

from lecture import exam
from lecture.exam import ExamError, folder_of, main, marked, paper_of, students_of
from lecture.papers import TEMPLATES, right
from web.browser import chromium

SECRET = bytes(range(16))
CLASS = [f"student {i}" for i in range(30)]


@pytest.fixture
def students(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("name,mail\nAnna Å,a@b.c\n\n'O’Hara, Zoë'\n李雷\nben\n", encoding="utf-8")
    return path


def made(path: Path, folder: Path, *options: str) -> None:
    assert main(["--students", str(path), "--to", str(folder), "--no-pdf", *options]) == 0


def solved(folder: Path, answers: dict[str, dict[str, Any]], *below: str) -> Path:
    """Fill in papers as students do: the answers by their folders and questions."""
    submitted = folder / "submitted"
    for own, given in answers.items():
        notebook = nbformat.read(folder / "papers" / own / "exam.ipynb", as_version=4)
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in given:
                cell.source = f"# my answer\n{name} = {given[name]}"
        (submitted.joinpath(own, *below)).mkdir(parents=True)
        nbformat.write(notebook, submitted.joinpath(own, *below, "exam.ipynb"))
    return submitted


# --- the questions ----------------------------------------------------------------------------


def test_a_key_solves_its_own_paper_and_on_others_it_is_at_chance() -> None:
    keys = {
        student: {name: [*question.key] for name, question in paper.items()}
        for student in CLASS
        for paper in [paper_of(SECRET, student, TEMPLATES)]
    }
    for student in CLASS:
        assert set(marked(keys, student, keys[student]).values()) == {1}
    pairs = [*permutations(CLASS, 2)]
    found = dict.fromkeys(TEMPLATES, 0)
    for student, other in pairs:
        for name, point in marked(keys, student, keys[other]).items():
            found[name] += point
    # The fewest answers are those of the rule, 56; tolerances and small worlds do the rest.
    assert max(found.values()) / len(pairs) < 0.05, found
    assert sum(found.values()) / len(pairs) / len(TEMPLATES) < 0.02


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_paper_is_equally_hard_and_its_own(name: str) -> None:
    drawn = [paper_of(SECRET, student, [name])[name] for student in CLASS]
    assert len({question.operations for question in drawn}) == 1
    words = [len(question.text.split()) for question in drawn]
    assert max(words) <= 1.05 * min(words)
    assert len({question.text for question in drawn}) == len(drawn)
    assert len({len(question.key) for question in drawn}) == 1
    for question in drawn:
        for number in question.key:  # the text does not give it away
            assert isinstance(number, int) or f"{number:.3f}" not in question.text


def test_another_secret_makes_another_exam() -> None:
    one, other = (paper_of(secret, "anna", TEMPLATES) for secret in (SECRET, bytes(16)))
    assert not [name for name in TEMPLATES if one[name].text == other[name].text]


@pytest.mark.parametrize(
    ("key", "given", "verdict"),
    [
        ((1.5,), 1.501, True),
        ((1.5,), [1.5], True),
        ((1.5,), 1.6, False),
        ((0.0,), 0.001, True),
        ((7,), 7.0, True),
        ((7,), 8, False),
        ((20_000_000,), 20_000_001, False),
        ((2, 5), (2, 5), True),
        ((2, 5), [5, 2], False),
        ((2, 5), 2, False),
        ((1.5,), float("nan"), False),
        ((1.5,), float("inf"), False),
        ((1.5,), "1.5", False),
        ((1.5,), None, False),
        ((1.5,), {"a": 1}, False),
    ],
)
def test_an_answer_is_a_number_near_enough(key: Any, given: Any, verdict: bool) -> None:
    assert right(key, given) is verdict


# --- the command ------------------------------------------------------------------------------


def test_the_same_secret_makes_the_same_bytes_and_papers_hold_no_key(
    students: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "exam"
    made(students, folder)
    said = capsys.readouterr().out
    assert all(re.search(rf"^{name} +\d+–\d+ +\d+–\d+ +(yes|no)", said, re.M) for name in TEMPLATES)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    made(students, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    secret = (folder / "keys" / "secret.txt").read_text("utf-8").strip()
    keys = json.loads((folder / "keys" / "keys.json").read_text("utf-8"))
    assert [*keys] == ["Anna_Å", "O_Hara", "李雷", "ben"]
    for own, key in keys.items():
        path = folder / "papers" / own / "exam.ipynb"
        nbformat.validate(nbformat.read(path, as_version=4))
        text = path.read_text(encoding="utf-8")
        assert secret not in text
        assert "HIDDEN" not in text
        assert "keys.json" not in text
        assert repr(key["loss"][0]) not in text
    if sys.platform != "win32":
        assert (folder / "keys").stat().st_mode & 0o077 == 0


def test_what_comes_back_is_marked_and_nothing_of_it_is_run(
    students: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, names = tmp_path / "exam", ["loss", "loop", "collator"]
    (folder / "keys").mkdir(parents=True)  # with another secret two papers might have one answer
    (folder / "keys" / "secret.txt").write_text(SECRET.hex(), encoding="utf-8")
    made(students, folder, "--questions", *names)
    keys = json.loads((folder / "keys" / "keys.json").read_text("utf-8"))
    trap = f"__import__('pathlib').Path({str(tmp_path / 'run')!r}).touch()"
    answers = {
        "Anna_Å": keys["Anna_Å"],
        "李雷": {**keys["ben"], "loop": tuple(keys["李雷"]["loop"])},
        "ben": {"loss": trap, "loop": "(((", "collator": "9**9**9"},
    }
    submitted = solved(folder, answers)
    assert main(["--mark", str(submitted), "--to", str(folder)]) == 0
    assert "3 papers marked, 1 did not come back" in capsys.readouterr().out
    with (folder / "keys" / "points.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["name", *names, "points"]
    assert {row[0]: row[-1] for row in rows} == {
        "Anna_Å": "3",
        "O_Hara": "0",
        "李雷": "1",
        "ben": "0",
    }
    assert not (tmp_path / "run").exists()


def test_one_student_and_a_thousand(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("only one", encoding="utf-8")
    assert students_of(path) == {"only_one": "only one"}
    path.write_text("\n".join(f"n{i}" for i in range(1000)), encoding="utf-8")
    made(path, tmp_path / "exam", "--questions", "bayes")
    assert len([*(tmp_path / "exam" / "papers").iterdir()]) == 1000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Nobody is in"),
        ("name\n", "Nobody is in"),
        ("anna\n,a@b.c\n", "Line 2 of .* has no name in its first column"),
        ("anna\nben\n Anna \n", "Line 3 of .* has the same name as line 1"),
        ("a/b\na:b\n", "Line 2 of .* makes the same folder"),
        ("a\u0308b\näb\n", "Line 2 of .* the same name as line 1"),
        (f"{'x' * 81}\n", "more than 80 letters"),
        ("a\x07b\n", "control character"),
        ("name;group\nanna;1\n", "Line 1 of .* is not cut at commas"),
        ("\udcff", "it is no CSV file in UTF-8"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["--students", str(path), "--to", str(tmp_path / "exam")]) == 1
    printed = capsys.readouterr().err
    assert re.search(said, printed)
    assert printed.count("\n") == 1
    assert not (tmp_path / "exam").exists()


@pytest.mark.parametrize("name", ["..", "con", "../x", "🙂", "a" * 80, ".hidden", "name."])
def test_a_folder_stays_where_it_belongs(name: str) -> None:
    made_of = folder_of(name)
    assert re.fullmatch(r"[\w][\w.-]*", made_of)
    assert not made_of.endswith(".")


def test_an_exam_without_keys_or_with_a_broken_secret_is_refused(
    students: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--mark", str(tmp_path), "--to", str(tmp_path)]) == 1
    made(students, tmp_path / "exam", "--questions", "loss")
    assert main(["--mark", str(tmp_path / "nowhere"), "--to", str(tmp_path / "exam")]) == 1
    (tmp_path / "exam" / "keys" / "secret.txt").write_text("weak", encoding="utf-8")
    assert main(["--students", str(students), "--to", str(tmp_path / "exam")]) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line.rpartition(": ")[2] for line in said] == [
        "name the exam's folder by --to.",
        f"{tmp_path / 'nowhere'} has no NAME/exam.ipynb with a name of this exam.",
        "restore or delete it.",
    ]


@pytest.mark.long
@pytest.mark.skipif(chromium() is None, reason="papers are printed by Chromium")
def test_a_paper_is_printed_with_the_same_bytes(students: Path, tmp_path: Path) -> None:
    students.write_text("Anna Å\n", encoding="utf-8")
    prints = []
    for _ in range(2):
        assert main(["--students", str(students), "--to", str(tmp_path / "exam")]) == 0
        prints.append((tmp_path / "exam" / "papers" / "Anna_Å" / "exam.pdf").read_bytes())
    assert prints[0] == prints[1]
    pages = PdfReader(tmp_path / "exam" / "papers" / "Anna_Å" / "exam.pdf").pages
    text = " ".join(page.extract_text() for page in pages)
    assert "Exam of Anna Å" in text
    for number, name in enumerate(TEMPLATES, start=1):
        assert f"{number} · {TEMPLATES[name].title}" in text
    assert text.count("Answer:") == len(TEMPLATES)


@pytest.mark.long
@pytest.mark.skipif(
    "CLOZE_NBGRADER" not in os.environ,
    reason="nbgrader is tried in the environment whose Python CLOZE_NBGRADER names",
)
def test_nbgrader_gives_the_same_points(tmp_path: Path, students: Path) -> None:
    students.write_text("anna\nben\n", encoding="utf-8")
    folder, python = tmp_path / "exam", os.environ["CLOZE_NBGRADER"]
    made(students, folder)
    keys = json.loads((folder / "keys" / "keys.json").read_text("utf-8"))
    solved(folder, {"anna": keys["anna"], "ben": keys["anna"]}, "exam")
    path = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])
    settings: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "PATH": path}}
    for step in ("generate_assignment", "autograde"):
        command = [python, "-m", "nbgrader", step, "exam"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
        assert not done.returncode, done.stderr
    released = (folder / "release" / "exam" / "exam.ipynb").read_text(encoding="utf-8")
    assert "keys.json" not in released
    read = (
        "from nbgrader.api import Gradebook\n"
        "with Gradebook('sqlite:///gradebook.db') as book:\n"
        "    for sent in book.assignment_submissions('exam'):\n"
        "        print(sent.student.id, sent.score, sent.max_score)"
    )
    points = subprocess.check_output([python, "-c", read], text=True, **settings).splitlines()
    expected = sum(marked(keys, "ben", keys["anna"]).values())
    n = float(len(TEMPLATES))
    assert sorted(points) == [f"anna {n} {n}", f"ben {float(expected)} {n}"]


def test_measures_are_printed_for_every_question() -> None:
    assert len(exam.measured(SECRET, CLASS[:3], TEMPLATES).splitlines()) == 1 + len(TEMPLATES)


def test_an_exam_error_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "exam.ipynb").write_text("no", encoding="utf-8")
    with pytest.raises(ExamError, match="it is no notebook"):
        exam.given_in(tmp_path / "exam.ipynb")


@pytest.mark.parametrize(
    ("name", "source", "given"), [("loss", "loss = {[]}", {"loss": None}), ([], "loss = 1", {})]
)
def test_what_was_handed_in_is_no_number(
    tmp_path: Path, name: object, source: str, given: dict[str, object]
) -> None:
    cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name}})
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "exam.ipynb")
    assert exam.given_in(tmp_path / "exam.ipynb") == given
