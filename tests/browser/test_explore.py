"""``python -m cloze explore`` in a real browser."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser import jupyter
from tests.browser.conftest import STOCK_ERRORS, without
from tests.browser.watch import Watch
from tests.handover.folders import folder


@pytest.mark.slow
def test_a_model_from_a_folder_answers(context: BrowserContext, tmp_path: Path) -> None:
    page, watch = context.new_page(), Watch()
    watch.over(page)
    named = folder("roberta", tmp_path / "<mine>")
    token = f"--Voila.token={jupyter.TOKEN}"
    command = [sys.executable, "-m", "cloze", "explore", str(named), token]
    (tmp_path / "home").mkdir()
    with jupyter.serving(command, tmp_path / "home", "") as server:
        page.goto(f"{server.url}/?token={jupyter.TOKEN}", wait_until="commit")
        expect(page.get_by_text("The model is being loaded.")).to_be_visible()
        expect(page.get_by_role("heading")).to_have_text("<mine>")
        explorer = page.locator(".explorer")
        expect(explorer).to_be_visible(timeout=120_000)
        expect(page.get_by_text("The model is being loaded.")).to_be_hidden()
        page.get_by_role("button", name="position 1").click()
        expect(explorer.locator(".chart .truth")).to_contain_text("␣old")
        page.close()
    assert watch.requests == []
    assert without(watch.errors, STOCK_ERRORS) == []
