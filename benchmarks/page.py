"""What whoever opens the page waits for, in a real browser, and on a device four times slower.

``python -m benchmarks.page`` measures in Chromium, in turns at full speed and with the processor
throttled as Chromium's own tools do it for a middling phone,

* loading: three models made from the bytes of their files, and the first answer of all three, which
  the browser has not yet compiled anything for;
* predictions: three models on a line of 64 characters with 1, 2 and 10 gaps at places drawn at
  random;
* occlusion: one model, asked once for each character of the line, and the longest that a frame had
  to wait meanwhile;

and, at full speed, a step of training in turns with torch's, and what a click in the explorer waits
for while the page trains. ``python -m benchmarks.page inside`` measures the view Inside alone, on a
screen of 1280 by 800: from the press of the mouse until the whole ladder has changed, when a part
is switched off, swapped in or put back and when another gap is selected; and how often the page's
own work kept a frame waiting.

The last column is what the page's thread itself was busy, on average: on a machine that others use
as well it says what the code takes, and the median what one waited. About two minutes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Page
from tqdm import tqdm

from benchmarks.latency import EXPLORER, LINE, WIDGETS, clicked, row
from benchmarks.machine import machine
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.training import Recipe, TrainingRun
from tests.browser.jupyter import Answer, click_and_time
from web import browser as browsers

SPEEDS = {"": 1, "four times slower": 4}
"""How many times slower Chromium makes the processor."""
GAPS = (1, 2, 10)

# Milliseconds it takes all predictors to answer, one number for each set of gaps.
PREDICT = """([line, draws]) => draws.map((gaps) => {
  const started = performance.now();
  for (const each of Object.values(predictors)) each.predict(line, gaps);
  return performance.now() - started;
})"""
OCCLUSION = """async ([line, at]) => {
  let running = true, shown = performance.now(), longest = 0;
  requestAnimationFrame(function frame(now) {
    longest = Math.max(longest, performance.now() - shown);
    shown = performance.now();
    if (running) requestAnimationFrame(frame);
  });
  const started = performance.now();
  await predictors.both.occlusion(line, [at], at);
  const took = performance.now() - started;
  await new Promise(requestAnimationFrame);
  running = false;
  Object.assign(window, { longest });
  return [took];
}"""


# Milliseconds of so many steps of training.
TRAIN = """async ([steps, config, recipe]) => {
  const { Training } = await import("./web/engine/training.js");
  if (!window.training) {
    const instance = await WebAssembly.instantiate(module);
    const text = new Int32Array(1e5).map((_, i) => 1 + (i * i) % 27);
    window.training = new Training(instance, config, text, recipe);
  }
  return Array.from({ length: steps }, () => {
    const started = performance.now();
    training.step();
    return performance.now() - started;
  });
}"""


@dataclass
class Times:
    """Milliseconds of one thing at one speed."""

    waited: list[float] = field(default_factory=list)
    """By the clock, a number each time."""
    busy: list[float] = field(default_factory=list)
    """By the time that the page's thread had a core, a mean for each round."""


class Bench:
    """A page, its processor as fast or as slow as wanted, and what was measured there."""

    def __init__(self, page: Page, address: str, times: dict[tuple[str, str], Times]) -> None:
        self.page, self.address, self.times = page, address, times
        self.tools = page.context.new_cdp_session(page)  # what it sets holds while it is open
        self.tools.send("Performance.enable")

    def busy(self) -> float:
        """Return how many milliseconds the page's thread has had a core."""
        metrics = self.tools.send("Performance.getMetrics")["metrics"]
        return 1000 * next(each["value"] for each in metrics if each["name"] == "ThreadTime")

    def ask(self, name: str, speed: str, script: str, *asked: object) -> list[Any]:
        """Measure a script that answers with a list of milliseconds."""
        before = self.busy()
        waited = self.page.evaluate(script, [list(LINE), *asked])
        times = self.times.setdefault((name, speed), Times())
        times.busy.append((self.busy() - before) / len(waited))
        times.waited += waited
        return waited

    def measure(self, speed: str, repeats: int, draw: random.Random) -> None:
        """Measure everything once, predictions so many times, at one speed."""
        self.tools.send("Emulation.setCPUThrottlingRate", {"rate": SPEEDS[speed]})
        loading = self.times.setdefault(("loading three models", speed), Times())
        loading.waited.append(browsers.load_engine(self.page, self.address))
        everywhere = range(len(LINE))
        self.ask("the first answer of all", speed, PREDICT, [draw.sample(everywhere, 1)])
        for count in GAPS:
            draws = [sorted(draw.sample(everywhere, count)) for _ in range(repeats)]
            self.page.evaluate(PREDICT, [list(LINE), draws])  # to be compiled
            self.ask(f"three models, {count} gap{'s' * (count > 1)}", speed, PREDICT, draws)
        for _ in range(max(1, repeats // 10)):
            at = draw.randrange(len(LINE))
            self.ask("occlusion", speed, OCCLUSION, at)
            waits = self.times.setdefault(("… the longest wait for a frame", speed), Times())
            waits.waited.append(self.page.evaluate("longest"))


def measure(browser: Browser, address: str, rounds: int, repeats: int) -> dict[Any, Times]:
    """Measure everything in so many rounds, each on a fresh page and at every speed."""
    times: dict[tuple[str, str], Times] = {}
    draw = random.Random(0)  # noqa: S311 - where gaps are is no secret
    for _ in tqdm(range(rounds), "page", leave=False):
        page = browser.new_page()
        bench = Bench(page, address, times)
        for speed in SPEEDS:
            bench.measure(speed, repeats, draw)
        page.close()
    return times


def training(browser: Browser, address: str, rounds: int) -> str:
    """Train on the page and in torch, in turns, and say how they compare."""
    page = browser.new_page()
    browsers.load_engine(page, address)
    run = TrainingRun(MaskedLM(), Corpus.load(), Recipe(evaluations=0))
    steps = 5
    told = [steps, asdict(run.model.config), asdict(run.recipe)]
    page.evaluate(TRAIN, told)  # nothing is compiled yet
    on_page: list[float] = []
    in_torch: list[float] = []
    for _ in tqdm(range(rounds), leave=False):
        on_page += page.evaluate(TRAIN, told)
        for _ in range(steps):
            started = time.perf_counter()
            run.train_step()
            in_torch.append(1000 * (time.perf_counter() - started))
    page.close()
    ours, theirs = statistics.median(on_page), statistics.median(in_torch)
    characters = run.recipe.batch_size * run.recipe.length
    return (
        f"a step of training: page {ours:.0f} ms, torch {theirs:.0f} ms, so the page reads "
        f"{1000 * characters / ours:,.0f} characters/s, {theirs / ours:.2f} of torch"
    )


LONGEST = """() => {
  window.longest = 0;
  const take = (list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  };
  new PerformanceObserver(take).observe({ entryTypes: ["longtask"] });
}"""


def beside(browser: Browser, address: str, clicks: int) -> str:
    """Click in the explorer before and while the page trains, and say how the answers compare."""
    page = browser.new_page()
    page.goto(address)
    explorer = page.locator("#explorer .cloze")
    explorer.get_by_role("button", name="Reveal").click()
    [answer] = [pattern for code, pattern in WIDGETS.values() if code == EXPLORER and pattern]
    pause = 0.3  # seconds, as a person makes
    usual = clicked(explorer, answer, pause, clicks)
    page.locator("#training").get_by_role("button", name="Start").click()
    page.locator("#training p.number").get_by_text("training loss").wait_for()
    page.evaluate(LONGEST)
    page.wait_for_timeout(3000)
    longest = page.evaluate("longest")
    meanwhile = clicked(explorer, answer, pause, clicks)
    page.close()
    before, after = (
        1000 * statistics.median(each.frame for each in answers) for answers in (usual, meanwhile)
    )
    return (
        f"a click: {before:.0f} ms, while it trains {after:.0f} ms, {after / before:.2f} times as "
        f"long; the page's own work meanwhile: at most {max(longest, 50):.0f} ms at a time"
    )


LADDERS = {"she asked what it was": 12, LINE: 12}
"""Lines that are looked into, and where. What is swapped in comes from a line with another letter
after that gap."""
OTHER_GAP = 5
LONG_WORK = """() => {
  window.works = [];
  const take = (list) => works.push(...list.getEntries().map(({ duration }) => duration));
  new PerformanceObserver(take).observe({ entryTypes: ["longtask"] });
}"""
"""The browser tells of each piece of work that kept the page's thread for more than 50 ms."""


def inside(browser: Browser, address: str, clicks: int) -> Iterator[str]:
    """Change what the view Inside shows, and say how long each change took to be answered."""
    yield f"{'Inside: milliseconds from press to':<50}{'new HTML':>16}{'its frame':>16}"
    yield f"{'':<50}{'  median    95%' * 2}    busy"
    for line, gap in LADDERS.items():
        for speed, times in SPEEDS.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            bench = Bench(page, address, {})
            asked = {"line": line, "mask": f"{OTHER_GAP},{gap}", "view": "inside"}
            page.goto(f"{address}#{urlencode(asked)}")
            explorer = page.locator("#explorer .cloze")
            explorer.get_by_text("The model answers").first.wait_for()
            bench.tools.send("Emulation.setCPUThrottlingRate", {"rate": times})
            page.evaluate(LONG_WORK)
            for name, answers, busy in _changes(bench, line, gap, clicks):
                title = f"{name}, {len(line)} characters"
                yield f"{title:<32}{speed:<18}{row(answers)}{busy:>8.0f}"
            page.wait_for_timeout(500)
            works = page.evaluate("works")
            longest = f", the longest {max(works):.0f} ms" if works else ""
            yield f"{'':<32}{speed:<18}  kept a frame for more than 50 ms: {len(works)}{longest}"
            page.close()


def _changes(
    bench: Bench, line: str, gap: int, clicks: int
) -> Iterator[tuple[str, list[Answer], float]]:
    """Make every kind of change so many times, with the pauses of a person."""
    explorer = bench.page.locator("#explorer .cloze")

    def click(button: str, said: str) -> Answer:
        bench.page.wait_for_timeout(300)
        answer = rf"{said} The model answers"
        return click_and_time(explorer.locator(button).first, explorer, answer)

    def measured(name: str, *changes: tuple[str, str]) -> tuple[str, list[Answer], float]:
        before = bench.busy()
        answers = [click(*change) for change in changes]
        return name, answers, (bench.busy() - before) / len(answers)

    places = [gap, OTHER_GAP] * (clicks // 2) + [gap]
    letters = [(f'.line [data-with-at="{at}"]', rf"Position {at}, masked\.") for at in places]
    yield measured("another gap", *letters)
    for doing, said in (("off", "off"), ("swap", "from the second line")):
        explorer.locator(f'[data-do="doing"][data-with-value="{doing}"]').click()
        if doing == "swap":
            other = f"{line[: gap + 1]}n{line[gap + 2 :]}"
            explorer.get_by_label("Second line").fill(other)
            explorer.get_by_label("Second line").press("Enter")
            explorer.get_by_text("Second line taken.").wait_for()
        parts = [f'[data-with-part="{i % 2}.{i % 8}"]' for i in range(clicks)]
        both = (rf"{said}\.", r"as it was\.")
        changes = [(part, answer) for part in parts for answer in both]
        yield measured({"off": "off and back", "swap": "swapped and back"}[doing], *changes)


def rows(times: dict[tuple[str, str], Times]) -> Iterator[str]:
    """Write median, 95th percentile and least, and what was busy, a line for each measurement."""
    titles = ("median", "95%", "least", "busy")
    yield f"{'milliseconds, 64 characters':<50}{''.join(f'{title:>9}' for title in titles)}"
    for (name, speed), each in sorted(times.items(), key=lambda item: [*SPEEDS].index(item[0][1])):
        numbers = np.quantile(each.waited, [0.5, 0.95, 0.0]).tolist()
        if each.busy:
            numbers.append(statistics.mean(each.busy))
        yield f"{name:<32}{speed:<18}{''.join(f'{number:>9.1f}' for number in numbers)}"


def main(arguments: list[str] | None = None) -> None:
    """Print every measurement on a line of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("only", nargs="?", choices=["inside"], help="measure the view Inside alone")
    parser.add_argument("--quick", action="store_true", help="a little of each, for the tests")
    options = parser.parse_args(arguments)
    executable = browsers.chromium()
    if not executable:
        parser.exit(1, f"{browsers.NO_CHROMIUM}\n")
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        browsers.write_with_blank(Path(folder))
        with browsers.served(Path(folder)) as address, browsers.browsing(executable) as browser:
            print(f"Chromium {browser.version}")
            if options.only:
                for line in inside(browser, f"{address}/index.html", 2 if options.quick else 16):
                    print(line)
                return
            times = measure(browser, address, *((1, 5) if options.quick else (5, 30)))
            trained = training(browser, address, 1 if options.quick else 10)
            clicks = beside(browser, f"{address}/index.html", 4 if options.quick else 30)
    for line in (*rows(times), trained, clicks):
        print(line)


if __name__ == "__main__":
    main()
