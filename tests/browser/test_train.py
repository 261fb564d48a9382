"""The training of the page: in a thread of its own, on a server and as one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from cloze import checkpoint
from cloze.__main__ import main
from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.training import Recipe, TrainingRun
from tests.browser.watch import Watch
from tests.page.node import Node
from tests.page.test_engine import SHARE, shared
from web.browser import load_engine

TEXT = "der alte mann ging langsam am fluss entlang und setzte sich in den regen\n" * 40
KEPT = "is kept from your last visit"
ENDED = "What ran in the background has ended; press Train mine or Resume, or reload the page."
WORKERS = """
  Object.defineProperty(navigator, "hardwareConcurrency", { value: 3 });
  window.workers = [];
  window.Worker = class extends Worker {
    constructor(...given) { super(...given); workers.push(this); }
  };
"""


@pytest.fixture
def fresh(browser: Browser, watch: Watch) -> Iterator[Page]:
    """A page in a browser that has seen nothing; at the end nothing was against its policy."""
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, service_workers="block"
    )
    context.set_default_timeout(60_000)
    context.add_init_script(WORKERS)
    context.on("page", watch.over)
    yield context.new_page()
    context.close()
    assert watch.errors == []


@pytest.fixture
def opened(fresh: Page, built: str) -> Page:
    fresh.goto(f"{built}/index.html")
    return fresh


def step(training: Locator) -> int:
    said = re.match(r"step (\d+) of", training.locator("p.number").inner_text())
    assert said
    return int(said[1])


def press(place: Locator, name: str) -> None:
    place.get_by_role("button", name=name).click()


def offers(place: Locator, name: str) -> None:
    expect(place.get_by_role("button", name=name)).to_be_visible()


def has_trained(training: Locator, least: int = 1) -> None:
    expect(training.locator("p.number")).to_contain_text("training loss")
    while step(training) < least:
        training.page.wait_for_timeout(100)


def saved(files: Locator, what: str, folder: Path) -> Path:
    with files.page.expect_download() as download:
        press(files, f"Save the {what}")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def choose(files: Locator, path: Path) -> None:
    with files.page.expect_file_chooser() as chooser:
        press(files, "Open a file")
    chooser.value.set_files(path)


def drop(files: Locator, script: str) -> None:
    """Drop what a script makes, as a hand would."""
    files.page.evaluate(
        f"""() => {{
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add({script});
          const dropped = {{ dataTransfer, bubbles: true, cancelable: true }};
          document.querySelector("#files").dispatchEvent(new DragEvent("drop", dropped));
        }}"""
    )


def test_it_trains_stops_goes_on_and_outlives_the_page(opened: Page) -> None:
    training, files = opened.locator("#training"), opened.locator("#files")
    explorer, who = opened.locator("#explorer"), opened.locator("#who-explorer")
    expect(who.get_by_role("button")).to_have_text(["letters", "words"])
    press(training, "Train mine")
    expect(training.locator("p.number")).to_contain_text("held-out loss")  # after 20 steps
    [held_out] = re.findall(r"held-out loss ([\d.]+)", training.locator("p.number").inner_text())
    assert 2.6 < float(held_out) < 2.9, "as after 20 steps in Python"
    expect(training.locator(".filling .asked").first).not_to_have_text("?")
    opened.evaluate("document.querySelector('#training').scrollIntoView({ block: 'start' })")
    opened.evaluate("scrollBy(0, -500)")  # the end of the curve is below what is seen
    stop = training.get_by_role("button", name="Stop")
    box = stop.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 800, "where the thumb is"
    assert box["height"] >= 44
    stop.tap()
    offers(training, "Resume")
    stopped = step(training)
    for name in ("explorer", "unmasking"):
        chosen = opened.locator(f"#who-{name} [aria-pressed=true]")
        expect(chosen).to_have_text(re.compile("^yours: "))
    press(explorer, "Reveal")
    expect(explorer.locator(".chart thead")).to_contain_text("yours")
    expect(explorer.locator(".chart thead")).to_contain_text("from the left")
    press(who, "letters")
    expect(explorer.locator(".chart thead")).not_to_contain_text("yours")

    opened.evaluate("location.hash = 'yours'")
    opened.reload()
    expect(who.get_by_role("button", pressed=True)).to_contain_text("yours")
    expect(files.get_by_role("status")).to_have_text(
        f"A run of {stopped} steps on the series’ text {KEPT}; Resume brings it back."
    )
    press(training, "Resume")
    has_trained(training, stopped + 1)
    assert len(opened.workers) == 3, "one that trains, and two for it"
    press(training, "Stop")
    offers(training, "Resume")
    press(files, "Forget the run")
    expect(training.locator("p.number")).to_have_text("step 0 of 1250")
    opened.reload()
    offers(training, "Train mine")
    expect(opened.locator("#explorer button.letter").first).to_be_visible()
    expect(files.get_by_role("status")).to_have_text("")


def test_chromium_trains_to_the_same_bytes_as_node(page: Page, built: str, node: Node) -> None:
    load_engine(page, built)
    run, answers = page.evaluate(SHARE, shared(2))
    assert run == node.evaluate(SHARE, shared(0))[0]
    assert answers > 2


def test_what_one_file_trains_outlives_its_thread_and_goes_on_in_python(
    fresh: Page, single: Path, tmp_path: Path
) -> None:
    opened = fresh
    opened.clock.install()
    opened.goto(single.as_uri())
    training, files = opened.locator("#training"), opened.locator("#files")
    alert = training.get_by_role("alert")
    press(files, "Save the run")
    expect(files).to_contain_text("Nothing is trained yet; press Train mine.")
    press(training, "Train mine")
    while not opened.evaluate("workers.length"):
        opened.wait_for_timeout(20)
    opened.evaluate("workers.at(-1).dispatchEvent(new ErrorEvent('error'))")
    expect(alert).to_have_text(ENDED)
    press(training, "Train mine")
    offers(files, "Forget the run")  # it has been stored once, after five seconds
    assert len(opened.workers) == 3
    opened.evaluate("workers.at(-1).terminate()")  # without a word to the page
    opened.clock.run_for(62_000)
    expect(alert).to_have_text(ENDED)
    press(training, "Resume")
    expect(training.locator("p.number")).to_contain_text("held-out loss")
    expect(alert).to_have_count(0)
    press(training, "Stop")
    offers(training, "Resume")
    run = TrainingRun.load(saved(files, "run", tmp_path), Corpus.load())
    assert run.step == step(training)
    assert [record.step for record in run.history] == [*range(1, run.step + 1)]
    [held_out] = [record.held_out for record in run.history if record.held_out]
    assert held_out_loss(run.model, run.held_out) < held_out + 0.1  # it has learned on since then
    assert run.train_step() < 3


def test_a_text_of_one_s_own_goes_to_python_and_back(
    opened: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    training, files = opened.locator("#training"), opened.locator("#files")
    files.locator("textarea").fill(TEXT + "Déjà vu, 1984!")
    press(files, "Take this text")
    expect(files.get_by_role("status")).to_have_text(
        "Your text: 2,927 characters kept; 2 accents folded, 6 characters dropped."
    )
    expect(training).not_to_contain_text("neighbours 1.7")  # the series'
    expect(training.get_by_role("slider")).to_have_count(0)
    words = training.locator(".filling .word").all_inner_texts()
    assert all(re.search(word.replace("?", "."), TEXT) for word in words), "nothing is English"
    press(training, "Train mine")
    has_trained(training, 3)
    press(training, "Stop")
    offers(training, "Resume")
    yours = opened.locator("#who-explorer button").last
    expect(yours).to_have_text(f"yours: {step(training)} steps on Your text")
    text, run, model = (saved(files, what, tmp_path) for what in ("text", "run", "model"))
    corpus = Corpus.from_file(text)
    assert TrainingRun.load(run, corpus).step == step(training)
    assert main(["evaluate", str(model), "--corpus", str(text)]) == 0
    told = capsys.readouterr().out
    [neighbours] = re.findall(r"both neighbours +([\d.]+)", told)
    expect(training).to_contain_text(f"neighbours {float(neighbours):.2f}")
    assert checkpoint.provenance(model)["steps"] == step(training)
    [nats] = re.findall(r"model +([\d.]+) nats", told)
    assert checkpoint.provenance(model)["held_out_nats"] == pytest.approx(float(nats), abs=2e-3)

    # Another run of the same text, by Python, goes on here.
    begun = TrainingRun(MaskedLM(), corpus, Recipe(steps=9, batch_size=8))
    begun.train_step()
    path = tmp_path / "python.safetensors"
    begun.save(path)
    choose(files, path)
    expect(files.get_by_role("status")).to_have_text(
        "python.safetensors would take the place of your run."
    )
    press(files, "Start over with python.safetensors")
    expect(files.get_by_role("alert")).to_have_text(
        "python.safetensors was trained on another text; open that first."
    )
    choose(files, text)
    expect(files.get_by_role("status")).to_contain_text("mine.txt: 2,927 characters kept")
    choose(files, path)
    expect(files.get_by_role("status")).to_contain_text("is loaded; Resume goes on with it.")
    assert step(training) == 1
    press(training, "Resume")
    offers(training, "Try yours")
    expect(yours).to_contain_text("yours: 9 steps on mine.txt, held-out loss ")
    with opened.expect_download() as card:
        press(training, "Share a card")
    assert card.value.suggested_filename == "cloze.png"
    press(training, "Try yours")
    expect(opened.locator("#explorer .letter:focus")).to_be_in_viewport()
    choose(files, model)
    press(files, "Start over with mine.safetensors")
    expect(files.get_by_role("status")).to_have_text(
        "mine.safetensors is loaded, a model to play with."
    )
    expect(yours).to_contain_text(f"steps on mine.safetensors, held-out loss {float(nats):.2f}")


def test_what_cannot_be_used_is_answered_by_one_sentence(opened: Page) -> None:
    files = opened.locator("#files")

    def refused(sentence: str) -> None:
        expect(files.get_by_role("alert")).to_have_text(sentence)
        expect(files.get_by_role("status")).to_have_text("")

    press(files, "Take this text")
    refused("There is no text yet; type or paste one, or open a file.")
    drop(files, "new File([new Uint8Array(50000001)], 'huge.txt')")
    refused("huge.txt holds more than 50 MB of text; take a part.")
    drop(files, "new File(['a text'], 'none.safetensors')")
    refused(
        "none.safetensors is not a checkpoint of Cloze, or only a part of one; choose another file."
    )


def test_what_a_device_lacks_is_answered_by_one_sentence(opened: Page) -> None:
    training = opened.locator("#training")
    error = ""

    def break_worker(route: Route) -> None:
        broken = f"WebAssembly.Module = class {{ constructor() {{ throw new {error}; }} }};\n"
        response = route.fetch()
        route.fulfill(response=response, body=broken + response.text())

    opened.route("**/engine/worker.js", break_worker)
    for error, sentence in {  # noqa: B007 - break_worker reads it
        'RangeError("no memory")': "This device has too little memory for that; close other tabs, "
        "or choose something smaller.",
        'WebAssembly.CompileError("no SIMD")': "This browser is too old to train in; open the page "
        "in a newer one.",
    }.items():
        press(training, "Train mine")
        expect(training.get_by_role("alert")).to_have_text(sentence)
        offers(training, "Train mine")
    opened.unroute_all()
    press(training, "Train mine")
    has_trained(training)


def test_a_browser_that_stores_nothing_trains_all_the_same(opened: Page, tmp_path: Path) -> None:
    opened.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); };"
    )
    opened.reload()
    training, files = opened.locator("#training"), opened.locator("#files")
    press(training, "Train mine")
    has_trained(training)
    press(training, "Stop")
    offers(training, "Resume")
    opened.evaluate("workers.at(-1).dispatchEvent(new ErrorEvent('error'))")
    run = TrainingRun.load(saved(files, "run", tmp_path), Corpus.load())
    assert run.step == step(training)
