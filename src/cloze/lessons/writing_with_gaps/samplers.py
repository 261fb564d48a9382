"""What comes of filling all gaps of a line in one way or another: in the small world, in English.

``python -m cloze.lessons.writing_with_gaps.samplers`` trains models of the small world with three
seeds, lets them and the exact reader write sentences by every policy, lets the shipped models write
English, and writes what came of it to samplers.json (about six minutes on an idle core).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from cloze.arguments import checked
from cloze.corpus import Corpus
from cloze.heads import MaskedLM, Model
from cloze.lessons.writing_with_gaps.diffusion import (
    all_costs,
    random_order_cost,
)
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION
from cloze.masking import seeded
from cloze.objectives import MASKED, Objective
from cloze.prediction.causal import log_probs
from cloze.prediction.generation import POLICIES, mask_predict, path_costs, unmask, write
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements
from cloze.training import EVEN, TrainingRun, fit
from cloze.vocabulary import VOCABULARY
from cloze.world import Corruption, Truth, World

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
WORDS = 11
"""The length of the sentences that are written: the one most often said."""
CAREFUL = Corruption(0.5, 1 - 1e-6, 1e-6)
"""For the exact reader: gaps, and one word in a million that is not what was said, so that it has
an answer even beside words that never stand together."""
TRAINED = {objective.name: objective for objective in (MASKED, DIFFUSION)}
PASSES = (1, 2, 4, 8, 16, 32, 64)
COUNTED = ("left to right", "mask-predict", "Gibbs")
"""Policies whose sentences are counted; the first is exact, and shows what counting adds."""


# The small world


def of_length(world: World, words: int = WORDS) -> tuple[Tensor, Tensor]:
    """Return the sentences of so many words, ``(sentences, length)``, and P(each | length)."""
    here = (world.input_ids < world.vocabulary.n_ordinary).sum(1) == words
    return world.input_ids[here], world.probabilities[here] / world.probabilities[here].sum()


def gaps_only(lines: Tensor, world: World) -> Tensor:
    """Return lines with every word hidden."""
    return lines.masked_fill(lines < world.vocabulary.n_ordinary, world.vocabulary.mask_id)


def share_of_sentences(lines: Tensor, sentences: Tensor) -> float:
    """Return the share of lines that are among some sentences."""
    known = {tuple(row) for row in sentences.tolist()}
    return fmean(tuple(row) in known for row in lines.tolist())


def exact_kl(model: Model, sentences: Tensor, truth: Tensor, policy: str) -> float:
    """Return KL(truth ‖ sampler) for a policy by which each sentence has one path."""
    order, steps = ("left to right", 1) if policy == "all at once" else (policy, None)
    costs = path_costs(model, sentences, order, steps)  # type: ignore[arg-type]
    return float((truth * (truth.log() + costs)).sum())


def random_order_kl(model: Model, sentences: Tensor, truth: Tensor, lines: int, seed: int) -> float:
    """Estimate KL(truth ‖ sampler) in random order over drawn sentences, all orders of each."""
    drawn = torch.multinomial(truth, lines, replacement=True, generator=seeded(seed))
    return fmean(
        math.log(truth[i]) + random_order_cost(all_costs(model, sentences[i]))
        for i in drawn.tolist()
    )


def in_world(model: Model, world: World, draws: int, seed: int) -> dict[str, dict[str, Any]]:
    """Let a model write sentences by every policy, and compare them with what is said.

    Returns:
        By policy the share of valid sentences, and KL(truth ‖ sampler) in nats: None if too many
        paths lead to a sentence to add them up.
    """
    sentences, truth = of_length(world)
    hidden = gaps_only(sentences[:1], world).repeat(draws, 1)
    measured = {}
    for policy in POLICIES:
        lines = write(model, hidden, policy, temperature=1.0, generator=seeded(seed))
        kl: float | None = None
        if policy in ("all at once", "left to right", "easiest first"):
            kl = exact_kl(model, sentences, truth, policy)
        elif policy == "random order":
            kl = random_order_kl(model, sentences, truth, max(2, draws // 100), seed)
        measured[policy] = {"valid": share_of_sentences(lines, sentences), "kl": kl}
    return measured


def counted_kl(lines: Tensor, sentences: Tensor, truth: Tensor) -> float:
    """Return KL(truth ‖ what was written) in nats, from counts with half a count more for each.

    It is never 0, because counts of so many draws vary: compare it with that of a sampler which is
    exact.

    Args:
        lines: what a sampler wrote, ``(draws, length)``.
        sentences: all that are possible, ``(sentences, length)``.
        truth: the probability of each.
    """
    written = Counter(tuple(line) for line in lines.tolist())
    counts = torch.tensor([written[tuple(row)] for row in sentences.tolist()]).double() + 0.5
    shares = counts / (len(lines) + 0.5 * len(sentences))
    return float((truth * (truth / shares).log()).sum())


def counted(model: Model, world: World, draws: int, seed: int) -> dict[str, dict[str, float]]:
    """Let a model write so often that sentences can be counted, by the policies of ``COUNTED``."""
    sentences, truth = of_length(world)
    hidden = gaps_only(sentences[:1], world).repeat(draws, 1)
    found = {}
    for policy in COUNTED:
        lines = write(model, hidden, policy, temperature=1.0, generator=seeded(seed))
        valid = {tuple(row) for row in sentences.tolist()} & {tuple(row) for row in lines.tolist()}
        kl = counted_kl(lines, sentences, truth)
        found[policy] = {"kl": round(kl, 4), "sentences": len(valid)}
    return found


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
    costs = -log_probs(shipped_model("causal"), lines).gather(2, lines[..., None])
    real, distinct = real_words([VOCABULARY.decode(line) for line in lines], known)
    return {"nats": float(costs.mean()), "real": real, "distinct": distinct}


def text_judged(windows: Tensor, known: set[str], lines: int) -> dict[str, float]:
    """Judge text as it is, so many lines at a time: among more lines fewer words are new."""
    n = max(1, len(windows) // lines)
    groups = [judged(windows[i::n], known) for i in range(n)]
    return {name: fmean(group[name] for group in groups) for name in groups[0]}


def in_passes(model: Model, known: set[str], lines: int, seed: int) -> dict[str, Any]:
    """Let a model write lines in so many passes, with and without remasking, and judge them."""
    hidden = torch.full((lines, 64), VOCABULARY.mask_id)
    measured: dict[str, Any] = {"random order": {}, "mask-predict": {}}
    for n in PASSES:
        steps = {
            "random order": unmask(model, hidden, "random order", n, generator=seeded(seed)),
            "mask-predict": mask_predict(model, hidden, n, temperature=1.0, generator=seeded(seed)),
        }
        for policy, each in steps.items():
            *_, last = each
            measured[policy][str(n)] = judged(last.lines, known)
    return measured


def over_seeds(runs: Mapping[str, Any]) -> Any:
    """Return the means over seeds of what was measured, in its own shape; None stays None."""
    first, *_ = values = [*runs.values()]
    if isinstance(first, Mapping):
        return {key: over_seeds({seed: run[key] for seed, run in runs.items()}) for key in first}
    return None if first is None else fmean(values)


@checked
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
    causal, diffusion = shipped_model("causal"), shipped_model("diffusion")

    def english(name: str, seed: int) -> dict[str, float]:
        if name == "held-out text":
            return text_judged(corpus.held_out_windows(), known, lines)
        hidden = torch.full((lines, 64), VOCABULARY.mask_id)
        return judged(write(causal, hidden, "left to right", generator=seeded(seed)), known)

    def passes(seed: int) -> dict[str, Any]:
        return in_passes(diffusion, known, lines, seed)

    def of_world(name: str, seed: int) -> dict[str, Any]:
        if name == "exact":
            return in_world(Truth(world, corruption=CAREFUL), world, draws // 10, seed)
        return in_world(trained(TRAINED[name], world, seed, steps), world, draws, seed)

    measure("english", [("held-out text", 0), *product(["causal"], SEEDS)], english)
    measure("passes", zip(SEEDS), passes)
    measure("world", product(["exact", *TRAINED], SEEDS), of_world)

    def of_counts(name: str, seed: int) -> dict[str, Any]:
        exact = Truth(world, corruption=CAREFUL)
        model = exact if name == "exact" else trained(TRAINED[name], world, seed, steps)
        return counted(model, world, 2 * draws, seed)

    measure("counted", product(["exact", *TRAINED], SEEDS), of_counts)


if __name__ == "__main__":
    main()
