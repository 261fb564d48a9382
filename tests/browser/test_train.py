"""The training of the page: in a thread of its own, on a server and as one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.training import TrainingRun
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


def test_what_is_saved_goes_on_in_python(opened: Page, tmp_path: Path) -> None:
    training, keep = opened.locator("#training"), opened.locator("#keep")
    keep.get_by_role("button", name="Save").click()
    expect(keep).to_contain_text("Nothing has been trained yet; press Start.")
    training.get_by_role("button", name="Start").click()
    expect(training.locator("p.number")).to_contain_text("held-out loss")
    training.get_by_role("button", name="Stop").click()
    expect(training.get_by_role("button", name="Resume")).to_be_visible()
    with opened.expect_download() as download:
        keep.get_by_role("button", name="Save").click()
    file = tmp_path / "mine.run.safetensors"
    download.value.save_as(file)
    run = TrainingRun.load(file, Corpus.load())
    assert run.step == step(training)
    [held_out] = [record.held_out for record in run.history if record.held_out]
    assert held_out_loss(run.model, run.held_out) == pytest.approx(held_out, abs=0.5)
    assert run.train_step() < 3


def test_a_browser_without_simd_replays_a_recorded_run(opened: Page) -> None:
    opened.add_init_script("WebAssembly.validate = () => false")
    opened.reload()
    expect(opened.locator("#explorer [role=status]")).to_contain_text("lacks WebAssembly SIMD")
    expect(opened.locator("#explorer .cloze.still")).to_be_visible()
    expect(opened.get_by_role("heading", name="Beat the encoder")).to_be_hidden()
    training = opened.locator("#training")
    training.get_by_role("button", name="Start").click()
    expect(training.locator("p.number")).to_contain_text("held-out loss")
    training.get_by_role("button", name="Stop").click()
    stopped = step(training)
    opened.wait_for_timeout(500)
    assert step(training) == stopped
    training.get_by_role("button", name="Resume").click()
    expect(training.get_by_role("button", name="Finished")).to_be_visible(timeout=30_000)
    assert step(training) == 1250
