"""What the page is built of: one script from its modules, and files that name each other."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from cloze.widgets.modules import bundle
from web import build

ROOT = Path(__file__).resolve().parent.parent


def test_the_worker_keeps_every_file_and_knows_when_one_changes(
    page_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def head(folder: Path) -> tuple[str, list[str]]:
        version, *lines = (folder / "sw.js").read_text("utf-8").splitlines()[:3]
        files, later = (json.loads(line.partition(" = ")[2].rstrip(";")) for line in lines)
        assert later == ["words.safetensors"]
        return version, [*files, *later]

    folder = tmp_path / "new" / "page"
    monkeypatch.setattr(sys, "argv", ["build", str(folder)])
    build.main()
    version, files = head(folder)
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix() for path in paths}
    assert sorted(files) == sorted(["./", *names - {"sw.js", "explorer.html"}])
    assert head(page_folder)[0] == version
    (folder / "page.css").write_text("", encoding="utf-8")
    assert build.worker(folder, files[1:], []).splitlines()[0] != version


def test_modules_become_one_script_in_the_order_they_need() -> None:
    modules = {
        "own/a.js": 'import { two as deux } from "./b.js";\nexport const one = deux;\n',
        "own/b.js": 'import c from "../shared/c.js";\nexport function two() {}\n',
        "shared/c.js": 'export default /** @type {string} */ ("/** stays */");\n',
        "shared/a.js": "never\n",
    }
    script = bundle(modules, "own/a.js")
    named = ["shared_c", "own_b", "own_a"]
    assert re.findall(r"const module_(\w+)_js =", script) == named
    assert "const { two: deux } = module_own_b_js;" in script
    assert "/** stays */" in script
    assert not re.search(r"never|@type|^\s*(import|export)\b", script, re.MULTILINE)


def test_what_is_written_into_the_page_cannot_end_its_script(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = "</script><b>"
    monkeypatch.setattr(build, "training", lambda: {"text": ends})
    text = build.page("", [], "", None, {}, [])
    assert ends not in text
    settings = re.search(r'id="settings">(.*?)</script>', text, re.DOTALL)
    assert settings is not None
    assert json.loads(settings[1])["training"] == {"text": ends}
