"""The training of the page: in a thread of its own, on a server and as one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.watch import Watch
from web.browser import served
from web.build import build_page, build_single


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    build_page(folder)
    build_single(folder / "explorer.html")
    return folder


@pytest.fixture(params=["on a server", "one file"])
def opened(
    request: pytest.FixtureRequest, browser: Browser, watch: Watch, built: Path
) -> Iterator[Page]:
    """The page in a browser that has seen nothing; at the end nothing was against its policy."""
    context: BrowserContext = browser.new_context(viewport={"width": 390, "height": 800})
    context.set_default_timeout(60_000)
    context.on("page", watch.over)
    page = context.new_page()
    with served(built) as address:
        single = request.param == "one file"
        page.goto((built / "explorer.html").as_uri() if single else f"{address}/index.html")
        yield page
        context.close()
    watch.requests.clear()
    assert watch.errors == []


def step(training: Locator) -> int:
    said = re.match(r"step (\d+) of 1250", training.locator("p.number").inner_text())
    assert said
    return int(said[1])


def test_it_trains_stops_and_goes_on(opened: Page) -> None:
    training = opened.locator("#training")
    start, stop, resume = (
        training.get_by_role("button", name=name) for name in ("Start", "Stop", "Resume")
    )
    start.click()
    expect(training.locator("p.number")).to_contain_text("held-out loss")  # after 20 steps
    [held_out] = re.findall(r"held-out loss ([\d.]+)", training.locator("p.number").inner_text())
    assert 2.6 < float(held_out) < 2.9, "as after 20 steps in Python"
    expect(training.locator(".filling .asked").first).not_to_have_text("▒")
    stop.click()
    expect(resume).to_be_visible()
    stopped = step(training)
    opened.wait_for_timeout(500)
    assert step(training) == stopped
    resume.click()
    expect(stop).to_be_visible()
    expect(training.locator("p.number")).not_to_contain_text(f"step {stopped} of")
    assert step(training) > stopped
