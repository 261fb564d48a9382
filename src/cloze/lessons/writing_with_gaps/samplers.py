"""What comes of filling all gaps of a line in one way or another: in the small world, in English.

``python -m cloze.lessons.writing_with_gaps.samplers`` trains models of the small world with three
seeds, lets them and the exact reader write sentences by every policy, lets the shipped models write
English, and writes what came of it to samplers.json (about six minutes on an idle core).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.causal import log_probs, shipped_causal
from cloze.corpus import Corpus
from cloze.generation import POLICIES, mask_predict, path_costs, unmask, write
from cloze.heads import MaskedLM, Model
from cloze.lessons.writing_with_gaps.diffusion import (
    DIFFUSION,
    all_costs,
    random_order_cost,
    shipped_diffusion,
)
from cloze.masking import seeded
from cloze.objectives import MASKED, Objective
from cloze.prediction import shipped_model
from cloze.teaching import measurements
from cloze.training import EVEN, TrainingRun, fit
from cloze.vocabulary import VOCABULARY
from cloze.world import Corruption, Mean, Truth, World

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
WORDS = 11
"""The length of the sentences that are written: the one most often said."""
CAREFUL = Corruption(0.5, 1 - 1e-6, 1e-6)
"""For the exact reader: gaps, and one word in a million that is not what was said, so that it has
an answer even beside words that never stand together."""
TRAINED = {objective.name: objective for objective in (MASKED, DIFFUSION)}
STEPS = (1, 2, 4, 8, 16, 32, 64)


class Written(NamedTuple):
    """What became of sentences of one length in the small world."""

    valid: float
    """The share that are sentences of the world."""
    distinct: float
    """How many different ones there are among a hundred, on average."""
    kl: float | None
    """KL(truth ‖ sampler) in nats; infinite if the sampler cannot write what is said, None if too
    many paths lead to a sentence to add them up."""
    error: float | None
    """Its standard error; 0 where it was computed exactly."""


# The small world


def of_length(world: World, words: int = WORDS) -> tuple[Tensor, Tensor]:
    """Return the sentences of so many words, ``(sentences, length)``, and P(each | length)."""
    here = (world.input_ids < world.vocabulary.n_ordinary).sum(1) == words
    return world.input_ids[here], world.probabilities[here] / world.probabilities[here].sum()


def gaps_only(lines: Tensor, world: World) -> Tensor:
    """Return lines with every word hidden."""
    return lines.masked_fill(lines < world.vocabulary.n_ordinary, world.vocabulary.mask_id)


def counts_of(lines: Tensor, sentences: Tensor) -> tuple[Tensor, int, float]:
    """Count how often each sentence was written, how many lines are none, and who differ.

    Returns:
        Counts ``(sentences,)``, the number of other lines, and the mean number of different lines
        among a hundred.
    """
    place = {tuple(row): i for i, row in enumerate(sentences.tolist())}
    counts, other = torch.zeros(len(sentences), dtype=torch.float64), 0
    rows = [tuple(row) for row in lines.tolist()]
    for row in rows:
        if row in place:
            counts[place[row]] += 1
        else:
            other += 1
    hundreds = [len(set(rows[at : at + 100])) for at in range(0, len(rows) - 99, 100)]
    return counts, other, sum(hundreds) / len(hundreds)


def exact_kl(model: Model, sentences: Tensor, truth: Tensor, policy: str) -> float:
    """Return KL(truth ‖ sampler) for a policy by which each sentence has one path."""
    order, steps = ("left to right", 1) if policy == "all at once" else (policy, None)
    costs = path_costs(model, sentences, order, steps)  # type: ignore[arg-type]
    return float((truth * (truth.log() + costs)).sum())


def random_order_kl(model: Model, sentences: Tensor, truth: Tensor, lines: int, seed: int) -> Mean:
    """Estimate KL(truth ‖ sampler) in random order over drawn sentences, all orders of each."""
    drawn = torch.multinomial(truth, lines, replacement=True, generator=seeded(seed))
    surplus = torch.tensor(
        [
            math.log(truth[i]) + random_order_cost(all_costs(model, sentences[i]))
            for i in drawn.tolist()
        ]
    )
    return Mean(float(surplus.mean()), float(surplus.std() / lines**0.5))


def in_world(model: Model, world: World, draws: int, seed: int) -> dict[str, Written]:
    """Let a model write sentences by every policy and compare them with what is said."""
    sentences, truth = of_length(world)
    hidden = gaps_only(sentences[:1], world).repeat(draws, 1)
    found = {}
    for policy in POLICIES:
        lines = write(model, hidden, policy, temperature=1.0, generator=seeded(seed))
        _, others, distinct = counts_of(lines, sentences)
        kl: float | None = None
        error: float | None = None
        if policy in ("all at once", "left to right", "easiest first"):
            kl, error = exact_kl(model, sentences, truth, policy), 0.0
        elif policy == "random order":
            kl, error = random_order_kl(model, sentences, truth, max(2, draws // 100), seed)
        found[policy] = Written(1 - others / draws, distinct, kl, error)
    return found


def drawn(sentences: Tensor, truth: Tensor, draws: int, seed: int) -> dict[str, Any]:
    """Draw sentences from the truth itself, as a perfect sampler would."""
    rows = torch.multinomial(truth, draws, replacement=True, generator=seeded(seed))
    *_, distinct = counts_of(sentences[rows], sentences)
    return {"as it is": Written(1.0, distinct, 0.0, 0.0)._asdict()}


def trained(objective: Objective, world: World, seed: int, steps: int) -> MaskedLM:
    """Train a model of the small world."""
    torch.manual_seed(seed)
    recipe = replace(
        EVEN, steps=steps, batch_size=64, length=world.max_len, evaluations=0, seed=seed
    )
    run = TrainingRun(MaskedLM(world.config(), world.vocabulary), world, recipe, objective)
    for _ in fit(run, progress=False):
        pass
    return run.model.eval()


# English


def real_words(lines: list[str], known: set[str]) -> tuple[float, float]:
    """Return the share of words that are in ``known``, and that of words not written before.

    The first and the last of a line may be cut and do not count.
    """
    words = [word for line in lines for word in line.replace("\n", " ").split()[1:-1]]
    if not words:
        return 0.0, 0.0
    return sum(word in known for word in words) / len(words), len(set(words)) / len(words)


def judged(lines: Tensor, known: set[str]) -> dict[str, float]:
    """Judge English lines ``(lines, length)``: cost under the causal model, words, variety."""
    costs = -log_probs(shipped_causal(), lines).gather(2, lines[..., None])
    real, different = real_words([VOCABULARY.decode(line) for line in lines], known)
    return {"nats": float(costs.mean()), "real": real, "different": different}


def text_judged(windows: Tensor, known: set[str], lines: int) -> dict[str, float]:
    """Judge text as it is, so many lines at a time: among more lines fewer words are new."""
    n = max(1, len(windows) // lines)
    groups = [judged(windows[i::n], known) for i in range(n)]
    return {name: fmean(group[name] for group in groups) for name in groups[0]}


def in_english(
    model: Model, known: set[str], lines: int, seed: int, temperature: float = 1.0
) -> dict[str, dict[str, float]]:
    """Let a model write lines from nothing by every policy that it knows, and judge them."""
    hidden = torch.full((lines, 64), VOCABULARY.mask_id)
    causal = getattr(model, "objective", "") == "causal"
    found = {}
    for policy in ["left to right"] if causal else POLICIES:
        written = write(model, hidden, policy, temperature=temperature, generator=seeded(seed))
        found[policy] = judged(written, known)
    return found


def in_steps(model: Model, known: set[str], lines: int, seed: int) -> dict[str, Any]:
    """Let a model write lines in so many passes, with and without remasking, and judge them."""
    hidden = torch.full((lines, 64), VOCABULARY.mask_id)
    found: dict[str, Any] = {}
    for steps in STEPS:
        for name in ("random order", "mask-predict"):
            policy = (
                unmask(model, hidden, "random order", steps, generator=seeded(seed))
                if name == "random order"
                else mask_predict(model, hidden, steps, temperature=1.0, generator=seeded(seed))
            )
            written = [step.lines for step in policy][-1]
            found.setdefault(name, {})[str(steps)] = judged(written, known)
    return found


def over_seeds(
    runs: Mapping[str, Mapping[str, Mapping[str, float | None]]],
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return, by policy and by what was measured, the mean over seeds and how far they lie apart.

    Args:
        runs: by seed, policy and what was measured: a number, or None, which is left out.
    """
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for policy, row in next(iter(runs.values())).items():
        found[policy] = {}
        for name in row:
            values = [value for run in runs.values() if (value := run[policy][name]) is not None]
            if values:
                found[policy][name] = (fmean(values), max(values) - min(values))
    return found


def words_of(texts: list[str]) -> set[str]:
    """Return all words of some texts."""
    return {word for text in texts for word in text.split()}


def main(path: Path = RESULTS, steps: int = 400, draws: int = 1000, lines: int = 32) -> None:
    """Train, write, judge, and keep the results in ``path`` after each part."""
    world, corpus = World.load(), Corpus.load()
    known = words_of([piece.text for piece in corpus.train])
    made = measurements.made_by(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        world_sha256=world.sha256,
        steps=steps,
        words=WORDS,
        draws=draws,
        lines=lines,
    )

    measure = partial(measurements.measure, path, made)
    held_out = corpus.held_out_windows()
    models: dict[str, Model] = {
        "causal": shipped_causal(),
        "masked": shipped_model(),
        "diffusion": shipped_diffusion(),
    }

    def english(name: str, seed: int) -> dict[str, Any]:
        if name == "held-out text":
            return {"as it is": text_judged(held_out, known, lines)}
        return in_english(models[name], known, lines, seed)

    def steps_of(name: str, seed: int) -> dict[str, Any]:
        return in_steps(models[name], known, lines, seed)

    def of_world(name: str, seed: int) -> dict[str, Any]:
        if name == "drawn from the truth":
            return drawn(*of_length(world), draws, seed)
        if name == "exact":
            found = in_world(Truth(world, corruption=CAREFUL), world, draws // 10, seed)
        else:
            found = in_world(trained(TRAINED[name], world, seed, steps), world, draws, seed)
        return {name: row._asdict() for name, row in found.items()}

    in_turn = ((name, seed) for seed in SEEDS for name in models)
    measure("english", [("held-out text", 0), *in_turn], english)
    measure("in_steps", product(["diffusion"], SEEDS), steps_of)
    readers = ("drawn from the truth", *TRAINED, "exact")
    measure("world", ((name, seed) for seed in SEEDS for name in readers), of_world)


if __name__ == "__main__":
    main()
