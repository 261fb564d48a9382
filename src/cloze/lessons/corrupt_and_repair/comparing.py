"""Masked training beside replaced token detection at equal seconds, and the model that infills.

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
from typing import Any

import torch
from torch import Tensor

from cloze.checkpoint import CHECKPOINTS, save_model
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import area_under_curve
from cloze.heads import CausalLM, MaskedLM
from cloze.lessons.corrupt_and_repair import corruptions, exact, mending, probes
from cloze.lessons.corrupt_and_repair.objective_infilling import INFILLING
from cloze.lessons.corrupt_and_repair.objective_replaced import REPLACED, ReplacedLM, electra_loss
from cloze.masking import seeded
from cloze.objectives import MASKED, Objective, masked
from cloze.prediction.answers import visible_costs
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
LINES, TYPOS = 100, 0.05
"""How many held-out windows have typos planted in them, and in which share of their symbols."""

VARIANTS: dict[str, tuple[Objective, float]] = {
    "masked": (MASKED, 0.3),
    "masked, all [MASK]": (masked("masked", mask_share=1.0, random_share=0.0), 0.3),
    "replaced": (REPLACED, 0.15),
    "replaced, asked at 15%": (
        replace(REPLACED, loss=partial(electra_loss, everywhere=False)),
        0.15,
    ),
    "infilling": (INFILLING, mending.SHARE),
}
"""Ways to train: an objective, and how much it hides."""
TEXTS = {
    "world": ["masked", "replaced", "replaced, asked at 15%"],
    "english": ["masked", "replaced"],
}
"""What is compared on each text, at equal seconds."""
CONTROLS = {"english": {"masked, all [MASK]": "masked"}}
"""What is trained besides, for as many steps as another: here without the random symbols of
80/10/10, which look like the typos that are asked about."""


def begun(source: Source, name: str, steps: int, seed: int = 0) -> TrainingRun:
    """Begin a run of the series' recipe."""
    objective, mask_prob = VARIANTS[name]
    recipe = replace(EVEN, steps=steps, mask_prob=mask_prob, evaluations=0, seed=seed)
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
    runs = {name: begun(source, name, 1000) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, run in runs.items():
            started = time.process_time()
            run.train_step()
            times[name].append(1000 * (time.process_time() - started))
    return {name: round(statistics.median(each), 2) for name, each in times.items()}


def worth(model: MaskedLM, world: World) -> dict[str, float]:
    """Return what frozen vectors are worth: accuracy by task."""
    return {
        name: round(probes.accuracy(probes.vectors(model, task.lines), task.labels), 4)
        for name, task in probes.tasks(world).items()
    }


def planted(windows: Tensor) -> tuple[Tensor, Tensor]:
    """Replace characters of windows ``(n, length)`` by others; return the lines, and where."""
    chance = seeded(0)
    lines = [corruptions.replace(window, TYPOS, generator=chance).inputs for window in windows]
    return torch.stack(lines), torch.stack(lines) != windows


def suspicion(model: MaskedLM, lines: Tensor) -> Tensor:
    """Return how much each symbol of lines ``(n, length)`` looks like a typo, in one look.

    A discriminator says so itself. Of a masked model it is −log P of the symbol.
    """
    return model(lines).detach() if isinstance(model, ReplacedLM) else visible_costs(model, lines)


def found_typos(model: MaskedLM, corpus: Corpus) -> float:
    """Return the area under the curve of finding typos."""
    windows = corpus.held_out_windows()
    spoilt, wrong = planted(windows[torch.linspace(0, len(windows) - 1, LINES).long()])
    return round(area_under_curve(suspicion(model, spoilt), wrong), 4)


def results() -> dict[str, Any]:
    """Return what was measured: "milliseconds" and "steps" by text and way, "runs" by name."""
    return measurements.read(RESULTS)


def one_run(source: Source, name: str, steps: int, seed: int) -> tuple[MaskedLM, dict[str, Any]]:
    """Train one model and ask it everything that is asked of its kind."""
    run = begun(source, name, steps, seed)
    for _ in fit(run, progress=False):
        pass
    model = run.model.eval().requires_grad_(False)
    measured: dict[str, Any] = {"steps": steps}
    if isinstance(source, Corpus):
        measured["typos"] = found_typos(model, source)
    elif isinstance(source, World) and name != "infilling":
        measured["worth"] = worth(model, source)
    return model, measured


def main(
    path: Path = RESULTS,
    budgets: dict[str, int] = BUDGETS,
    seeds: tuple[int, ...] = SEEDS,
    infilling_steps: int = INFILLING_STEPS,
    checkpoints: Path | None = CHECKPOINTS,
) -> None:
    """Train and ask, and write what was found after every run, with what it takes to repeat it."""
    world = World.load()
    sources: dict[str, Source] = {"world": world, "english": Corpus.load()}
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
    for text in steps.keys() & CONTROLS.keys():
        controls = CONTROLS[text]
        steps[text] |= {name: steps[text][like] for name, like in controls.items()}

    def run(key: str) -> dict[str, Any]:
        text, name, seed = key.split("/")
        model, measured = one_run(sources[text], name, steps[text][name], int(seed))
        if key in SHIPPED and checkpoints:
            about = {"command": made["command"], "seed": int(seed), "steps": steps[text][name]}
            about |= {"torch": torch.__version__, "corpus_sha256": sources[text].sha256}
            save_model(checkpoints / SHIPPED[key], model, about)
        return measured

    names = {text: [*TEXTS[text], *CONTROLS.get(text, ())] for text in TEXTS}
    runs = [f"{text}/{name}/{seed}" for seed in seeds for text in TEXTS for name in names[text]]
    measure("runs", [("world/infilling/0",), *zip(runs, strict=True)], run)
    measure("baselines", [()], lambda: baselines(world))


def baselines(world: World) -> dict[str, Any]:
    """Return what counting words is worth, and what the most costly corruption loses."""
    return {
        "bag of words": {
            name: round(probes.accuracy(probes.bag_of_words(world, task.lines), task.labels), 4)
            for name, task in probes.tasks(world).items()
        },
        "one word replaced": exact.lost(world, exact.one_replaced(world.vocabulary.n_ordinary)),
    }


if __name__ == "__main__":
    main()
