"""Votes by phone in a real browser: a phone, the lecturer's page, and what becomes of a vote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import jupyter
from tests.browser.conftest import STOCK_ERRORS, without
from tests.browser.watch import Watch, violations


@pytest.fixture
def lecturer(context: BrowserContext, tmp_path: Path) -> Iterator[Page]:
    watch = Watch()
    page = context.new_page()
    watch.over(page)
    with jupyter.lecture(tmp_path, "60", "--votes=127.0.0.1") as server:
        page.goto(f"{server.url}/?token={jupyter.TOKEN}", wait_until="commit")
        expect(page.locator("body[data-ready]")).to_be_visible(timeout=180_000)
        yield page
        page.close()
    assert watch.requests == []
    assert without(watch.errors, STOCK_ERRORS) == []


def test_a_phone_votes_and_the_screen_counts(lecturer: Page, browser: Browser) -> None:
    screen = lecturer.locator(".screen:not([hidden])")
    strip = lecturer.get_by_role("complementary", name="Votes by phone")
    lecturer.keyboard.press("v")
    invitation = lecturer.get_by_role("dialog", name="Vote by phone")
    address = invitation.locator(".address").inner_text()
    code = invitation.locator("svg").bounding_box()
    assert code is not None
    assert min(code["width"], code["height"]) > 250
    lecturer.keyboard.press("v")
    expect(strip).to_contain_text(address)
    with browser.new_context(viewport={"width": 390, "height": 800}) as pocket:
        phone, watch = pocket.new_page(), Watch()
        watch.over(phone)
        phone.goto(address)
        assert jupyter.TOKEN not in phone.content()
        expect(phone.get_by_role("heading")).to_have_text("Wait for the next question.")

        lecturer.evaluate("location.hash = 2")
        expect(phone.get_by_role("heading")).to_have_text(
            "she took her ?mbrella because it was raining"
        )
        assert violations(phone) == []
        for letter in "au":  # the second is a change of mind
            key = phone.get_by_role("button", name=letter, exact=True)
            key.click()
            expect(key).to_have_attribute("aria-pressed", "true")
            expect(phone.get_by_role("status")).to_have_text("Your vote is counted.")
            expect(screen.locator(f'.keys .raised[data-with-key="{letter}"] small')).to_have_text(
                "1"
            )
        expect(screen.locator(".keys .raised")).to_have_count(1)
        screen.get_by_role("button", name="Reveal").click()
        expect(phone.get_by_role("heading")).to_have_text("Wait for the next question.")
        expect(screen.locator(".tally")).to_contain_text("After 1 gap")

        lecturer.evaluate("location.hash = 11")
        expect(phone.get_by_role("heading")).to_contain_text("How do you prove")
        phone.get_by_role("button", name="(b)").click()
        expect(phone.get_by_role("status")).to_have_text("Your vote is counted.")
        expect(strip).to_contain_text("1 vote")
        expect(strip.locator(".bar")).to_have_count(0)  # nobody follows the others
        lecturer.evaluate("document.activeElement.blur()")
        lecturer.keyboard.press("r")
        expect(strip.locator(".bar")).to_have_text(["a 0", "b 1", "c 0"])
        expect(phone.get_by_role("button")).to_have_count(0)
        assert violations(lecturer) == []
        phone.close()
        assert watch.requests == []
        assert watch.errors == []
