"""Masked training beside replaced token detection at equal seconds, and infilling by seeds.

``python -m cloze.lessons.corrupt_and_repair.comparing`` times one step of each, trains all of them
with each seed, asks what their vectors and their eyes for typos are worth, and writes its results
after every run, so that it goes on where it was stopped (about 20 minutes on an idle core).
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from cloze.checkpoint import CHECKPOINTS, save_model
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import area_under_curve
from cloze.heads import CausalLM, MaskedLM
from cloze.lessons.corrupt_and_repair import exact, mending, probes, typos
from cloze.lessons.corrupt_and_repair.infilling import INFILLING, PrefixLM
from cloze.lessons.corrupt_and_repair.replaced import REPLACED, electra_loss
from cloze.objectives import MASKED, Objective
from cloze.teaching import measurements
from cloze.training import EVEN, Source, TrainingRun, fit
from cloze.world import World

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
BUDGETS = {"world": 600, "english": 500}
"""The budget of each text: the time of so many masked steps."""
INFILLING_STEPS = 1200
SHIPPED = {
    "world/infilling/0": "world_infilling.safetensors",
    "english/replaced/0": "replaced.safetensors",
}
"""The runs whose models ship with the series."""
LINES = 100
"""How many held-out windows have typos planted in them."""


class Variant(NamedTuple):
    """One way to train."""

    objective: Objective
    mask_prob: float


VARIANTS = {
    "masked": Variant(MASKED, 0.3),
    "masked 15%": Variant(MASKED, 0.15),
    "replaced": Variant(REPLACED, 0.15),
    "replaced, asked at 15%": Variant(
        replace(REPLACED, loss=partial(electra_loss, everywhere=False)), 0.15
    ),
    "infilling": Variant(INFILLING, mending.SHARE),
}
TEXTS = {
    "world": ["masked", "replaced", "replaced, asked at 15%", "masked 15%"],
    "english": ["masked", "replaced"],
}


def begun(source: Source, variant: Variant, steps: int, seed: int = 0) -> TrainingRun:
    """Begin a run of the series' recipe."""
    objective = variant.objective
    recipe = replace(EVEN, steps=steps, mask_prob=variant.mask_prob, evaluations=0, seed=seed)
    if isinstance(source, World):
        recipe = replace(recipe, batch_size=64, length=source.max_len)
    vocabulary = objective.vocabulary(source.vocabulary)
    config = EncoderConfig(
        vocab_size=len(vocabulary),
        max_len=recipe.length + objective.room,
        direction="left" if issubclass(objective.model, CausalLM) else "both",
    )
    torch.manual_seed(seed)
    return TrainingRun(objective.model(config, vocabulary), source, recipe, objective)


def step_milliseconds(source: Source, names: list[str], rounds: int = 25) -> dict[str, float]:
    """Return the median time of a step of each way, of one core, taken in turns."""
    runs = {name: begun(source, VARIANTS[name], 1000) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, run in runs.items():
            started = time.process_time()
            run.train_step()
            times[name].append(1000 * (time.process_time() - started))
    return {name: round(statistics.median(each), 2) for name, each in times.items()}


def worth(model: MaskedLM, world: World) -> dict[str, dict[str, float]]:
    """Return what frozen vectors are worth: accuracy by task and number of labels."""
    return {
        name: {
            str(shots): round(
                probes.accuracy(probes.vectors(model, task.lines), task.labels, shots), 4
            )
            for shots in probes.SHOTS
        }
        for name, task in probes.tasks(world).items()
    }


def found_typos(model: MaskedLM, corpus: Corpus) -> dict[str, float]:
    """Return the area under the curve of every way in which this model can look for typos."""
    windows = corpus.held_out_windows()
    chosen = windows[torch.linspace(0, len(windows) - 1, LINES).long()]
    spoilt, wrong = typos.planted(chosen)
    return {
        name: round(area_under_curve(finder(spoilt), wrong), 4)
        for name, finder in typos.finders(model).items()
    }


def trained(source: Source, name: str, steps: int, seed: int) -> MaskedLM:
    """Train one model."""
    run = begun(source, VARIANTS[name], steps, seed)
    for _ in fit(run, progress=False):
        pass
    return run.model.eval().requires_grad_(False)


def results() -> dict[str, Any]:
    """Return what was measured: "milliseconds" and "steps" by text and way, "runs" by name."""
    return measurements.read(RESULTS)


def one_run(source: Source, name: str, steps: int, seed: int) -> tuple[MaskedLM, dict[str, Any]]:
    """Train one model and ask it everything that is asked of its kind."""
    model = trained(source, name, steps, seed)
    written: dict[str, Any] = {"steps": steps}
    if isinstance(source, Corpus):
        return model, written | {"typos": found_typos(model, source)}
    assert isinstance(source, World)
    if isinstance(model, PrefixLM):
        return model, written | {"mended": mending.against_truth(model, source)._asdict()}
    return model, written | {"worth": worth(model, source)}


def main(
    path: Path = RESULTS,
    budgets: dict[str, int] = BUDGETS,
    seeds: tuple[int, ...] = SEEDS,
    infilling_steps: int = INFILLING_STEPS,
    checkpoints: Path | None = CHECKPOINTS,
) -> None:
    """Train and ask, and write what was found after every run, with what it takes to repeat it."""
    sources: dict[str, Source] = {"world": World.load(), "english": Corpus.load()}
    made = measurements.made_by(
        __spec__.name,
        sha256={text: source.sha256 for text, source in sources.items()},
        lines=LINES,
    )
    measure = partial(measurements.measure, path, made)
    texts = [*zip(TEXTS, strict=True)]
    times = measure(
        "milliseconds", texts, lambda text: step_milliseconds(sources[text], TEXTS[text])
    )

    def affordable(text: str) -> dict[str, int]:
        each = times["milliseconds"][text]
        steps = {name: round(budgets[text] * each["masked"] / ms) for name, ms in each.items()}
        return steps | ({"infilling": infilling_steps} if text == "world" else {})

    steps = measure("steps", texts, affordable)["steps"]

    def run(key: str) -> dict[str, Any]:
        text, name, seed = key.split("/")
        model, found = one_run(sources[text], name, steps[text][name], int(seed))
        if key in SHIPPED and checkpoints:
            about = {"command": made["command"], "seed": int(seed), "steps": steps[text][name]}
            about |= {"torch": torch.__version__, "corpus_sha256": sources[text].sha256}
            save_model(checkpoints / SHIPPED[key], model, about)
        return found

    runs = (
        (f"{text}/{name}/{seed}",)
        for asked_first in (True, False)
        for seed in seeds
        for text, names in {**TEXTS, "world": ["infilling", *TEXTS["world"]]}.items()
        for name in names
        if asked_first == (name != "masked 15%")
    )
    measure("runs", runs, run)
    measure("baselines", [()], lambda: baselines(sources["world"]))


def baselines(world: Source) -> dict[str, Any]:
    """Return what no training at all is worth, and what the most costly corruption loses."""
    assert isinstance(world, World)
    torch.manual_seed(0)
    untrained = MaskedLM(world.config(), world.vocabulary).eval()
    bags = {
        name: {
            str(shots): round(
                probes.accuracy(probes.bag_of_words(world, task.lines), task.labels, shots), 4
            )
            for shots in probes.SHOTS
        }
        for name, task in probes.tasks(world).items()
    }
    return {
        "bag of words": bags,
        "untrained": worth(untrained, world),
        "one word replaced": exact.lost(
            world, exact.one_replaced(world.vocabulary.n_ordinary)
        )._asdict(),
    }


if __name__ == "__main__":
    main()
