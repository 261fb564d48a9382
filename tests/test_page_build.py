"""What the page is built of: one script from its modules, and files that name each other."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from cloze.widgets.modules import bundle
from web import build

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command line builds."""
    folder = tmp_path_factory.mktemp("pages") / "new" / "page"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["build", str(folder), "--series", "index.html"])
        build.main()
    return folder


def names(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in files}


def test_the_worker_keeps_every_file_and_knows_when_one_changes(page: Path, tmp_path: Path) -> None:
    def head(folder: Path) -> tuple[str, list[str]]:
        version, files, *_ = (folder / "sw.js").read_text("utf-8").splitlines()
        return version, json.loads(files.removeprefix("const FILES = ").rstrip(";"))

    version, files = head(page)
    assert sorted(files) == sorted(["./", *names(page) - {"sw.js", "explorer.html"}])
    build.build_page(tmp_path, "index.html")
    assert head(tmp_path)[0] == version
    (tmp_path / "page.css").write_text("", encoding="utf-8")
    assert build.worker(tmp_path, files[1:]).splitlines()[0] != version


def test_it_names_only_files_that_are_there(page: Path) -> None:
    index = (page / "index.html").read_text("utf-8")
    named = re.findall(r'(?:src|href)="([^"#]+)', index)
    assert {"web/page.js", "page.css", "manifest.webmanifest", "icon.svg"} < set(named)
    for manifest_icon in json.loads((page / "manifest.webmanifest").read_text("utf-8"))["icons"]:
        named.append(manifest_icon["src"])
    for name in named:
        assert (page / name).is_file(), name


def test_no_file_of_it_names_another_machine(page: Path) -> None:
    for path in page.rglob("*"):
        if path.suffix in {".js", ".css", ".html", ".webmanifest"}:
            addresses = re.findall(r"\bhttps?://[\w.]+", path.read_text("utf-8"))
            assert addresses == [], path.name


def test_modules_become_one_script_in_the_order_they_need() -> None:
    modules = {
        "own/a.js": 'import { two as deux } from "./b.js";\nimport c from "../shared/c.js";\n'
        "export const one = deux + c.three;\n",
        "own/b.js": '// a word\nimport c from "../shared/c.js";\nexport function two() {}\n',
        "shared/c.js": "/** a word */\nexport default { three: 3 };\n"
        "export async function four() {}\n"
        '/** @type {Map} */ (four).kept();\nconst text = /** @type {string} */ ("/** kept */");\n'
        "/**\n * a word\n */\nconst last = 1;\n",
        "shared/a.js": "never\n",
    }
    script = bundle(modules, "own/a.js")
    named = ["shared_c", "own_b", "own_a"]
    assert re.findall(r"const module_(\w+)_js =", script) == named
    assert "return { four, default: whole };" in script
    assert "const { two: deux } = module_own_b_js;" in script
    assert "never" not in script
    assert "a word" not in script
    assert '(four).kept();\nconst text = ("/** kept */");\nconst last = 1;' in script
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)


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


def test_both_pages_link_the_series_and_say_what_they_may_load(page: Path) -> None:
    text = (page / "index.html").read_text("utf-8")
    single = (page / "explorer.html").read_text("utf-8")
    assert '<a href="index.html">' in text
    assert '<a href="index.html">' in single
    assert "default-src 'self';" in text
    [allowed] = re.findall(r"default-src 'none'; script-src ([^;]+);", single)
    [script] = re.findall(r"<script>(.*?)</script>", single, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert allowed == f"'sha256-{digest}' 'wasm-unsafe-eval'"
