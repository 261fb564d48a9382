"""Masked training beside replaced token detection at equal seconds, and the model that infills.

``python -m measured.corrupt_and_repair.comparing`` times one step of each, trains all of them with
each seed, and measures what their vectors are worth and how well they find typos (about 20 minutes
on an idle core). It also writes the two models that ship with the series.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from cloze.checkpoint import CHECKPOINTS, save_model
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.lessons.corrupt_and_repair import corruptions, exact, mending
from cloze.lessons.corrupt_and_repair.objective_infilling import INFILLING
from cloze.lessons.corrupt_and_repair.objective_replaced import REPLACED, ReplacedLM, electra_loss
from cloze.masking import seeded
from cloze.objectives import MASKED, Objective, masked
from cloze.prediction.answers import visible_costs
from cloze.training import EVEN, Source, TrainingRun
from cloze.vocabulary import VOCABULARY
from cloze.world import World
from measured.corrupt_and_repair import probes
from measured.shared import SEEDS, ResultsFile, area_under_curve, begun, finished

BUDGETS = {"world": 600, "english": 500}
"""The budget of each text: the time of so many masked steps."""
INFILLING_STEPS = 1200
SHIPPED = {
    "world/infilling/0": "world_infilling.safetensors",
    "english/replaced/0": "replaced.safetensors",
}
"""The runs whose models ship with the series."""
LINES, TYPOS = 100, 0.05
"""How many held-out windows have typos planted in them, and in which share of their symbols."""
ROUNDS = 25
"""How many steps are timed."""

AT_15 = replace(REPLACED, loss=partial(electra_loss, everywhere=False))
WAYS: dict[str, tuple[Objective, float]] = {
    "masked": (MASKED, 0.3),
    "masked, all [MASK]": (masked("masked", mask_share=1.0, random_share=0.0), 0.3),
    "replaced": (REPLACED, 0.15),
    "replaced, asked at 15%": (AT_15, 0.15),
    "infilling": (INFILLING, mending.SHARE),
}
"""Ways to train: an objective, and the share that it hides."""
TEXTS = {
    "world": ["masked", "replaced", "replaced, asked at 15%"],
    "english": ["masked", "replaced"],
}
"""What is compared on each text, at equal seconds."""
CONTROL = "masked, all [MASK]"
"""Trained on English for as many steps as "masked", but without the random symbols of 80/10/10,
which look like the typos that the models must find."""


def run_of(source: Source, way: str, steps: int, seed: int = 0) -> TrainingRun:
    objective, mask_prob = WAYS[way]
    recipe = replace(EVEN, steps=steps, mask_prob=mask_prob, evaluations=0, seed=seed)
    return begun(source, recipe, objective)


def step_milliseconds(source: Source, ways: list[str]) -> dict[str, float]:
    """Return the median processor time of a step of each way, taken in turns."""
    runs = {way: run_of(source, way, 1000) for way in ways}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in runs.items():
            started = time.process_time()
            run.train_step()
            times[way].append(1000 * (time.process_time() - started))
    return {way: round(statistics.median(each), 2) for way, each in times.items()}


def worth(world: World, vectors: Callable[[Tensor], Tensor]) -> dict[str, float]:
    """Return the accuracy of a probe on vectors that are made of lines, by task."""
    return {
        name: round(probes.accuracy(vectors(lines), labels), 4)
        for name, (lines, labels) in probes.tasks(world).items()
    }


def planted(windows: Tensor) -> tuple[Tensor, Tensor]:
    """Replace characters of windows ``(n, length)`` by others; return the lines, and where."""
    chance = seeded(0)
    lines = [corruptions.replace(window, TYPOS, VOCABULARY, chance).inputs for window in windows]
    return torch.stack(lines), torch.stack(lines) != windows


def typos_found(model: MaskedLM, corpus: Corpus) -> float:
    """Return the area under the curve of finding typos in one pass.

    How much a symbol looks like one is the logit of a discriminator, or −log P of a masked model.
    """
    windows = corpus.held_out_windows()
    spoilt, wrong = planted(windows[torch.linspace(0, len(windows) - 1, LINES).long()])
    if isinstance(model, ReplacedLM):
        suspicion = model(spoilt).detach()
    else:
        suspicion = visible_costs(model, spoilt)
    return round(area_under_curve(suspicion, wrong), 4)


def baselines(world: World) -> dict[str, Any]:
    """Return what counting words is worth, and what the most costly corruption loses."""
    return {
        "bag of words": worth(world, partial(probes.bag_of_words, world)),
        "one word replaced": exact.lost(world, one_replaced(world.vocabulary.n_ordinary)),
    }


def one_replaced(n_ordinary: int) -> exact.Channel:
    """Replace any one word by any other."""
    return lambda line: (
        (*line[:i], word, *line[i + 1 :])
        for i in range(len(line))
        for word in range(n_ordinary)
        if word != line[i]
    )


def main() -> None:
    world, corpus = World.load(), Corpus.load()
    sources: dict[str, Source] = {"world": world, "english": corpus}
    sha256 = {text: source.sha256 for text, source in sources.items()}
    measurements = ResultsFile(__spec__.name, sha256=sha256, lines=LINES)

    def milliseconds(text: str) -> dict[str, float]:
        return step_milliseconds(sources[text], TEXTS[text])

    def steps(text: str) -> dict[str, int]:
        each = times[text]
        affordable = {way: round(BUDGETS[text] * each["masked"] / ms) for way, ms in each.items()}
        return affordable | ({"infilling": INFILLING_STEPS} if text == "world" else {})

    def run(key: str) -> dict[str, Any]:
        text, way, seed = key.split("/")
        n = affordable[text]["masked" if way == CONTROL else way]
        model = finished(run_of(sources[text], way, n, int(seed))).model.requires_grad_(False)
        if key in SHIPPED:
            about = {"command": f"python -m {__spec__.name}", "seed": int(seed), "steps": n}
            about |= {"torch": torch.__version__, "corpus_sha256": sha256[text]}
            save_model(CHECKPOINTS / SHIPPED[key], model, about, bits=8)
        if text == "english":
            return {"steps": n, "typos": typos_found(model, corpus)}
        if way == "infilling":
            return {"steps": n}
        return {"steps": n, "worth": worth(world, partial(probes.vectors, model))}

    times = measurements.measure("milliseconds", milliseconds, TEXTS)
    affordable = measurements.measure("steps", steps, TEXTS)
    ways = [f"{text}/{way}" for text in TEXTS for way in TEXTS[text]] + [f"english/{CONTROL}"]
    keys = ["world/infilling/0", *(f"{way}/{seed}" for seed in SEEDS for way in ways)]
    measurements.measure("runs", run, keys)
    measurements.measure("baselines", partial(baselines, world))


if __name__ == "__main__":
    main()
