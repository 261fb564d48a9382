"""What comes of filling all gaps of a line in one way or another: in the small world, in English.

``python -m measured.writing_with_gaps.samplers`` trains models of the small world, lets them and
the exact reader write sentences by every policy, and lets the shipped models write English (about
six minutes on an idle core).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from cloze.arguments import Lines, known_symbols
from cloze.corpus import Corpus
from cloze.heads import Model
from cloze.lessons.writing_with_gaps.diffusion import all_costs
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION
from cloze.lessons.writing_with_gaps.sentences import CAREFUL, WORDS, gaps_only, of_length
from cloze.masking import seeded
from cloze.objectives import MASKED
from cloze.prediction.causal import log_probs
from cloze.prediction.generation import POLICIES, Order, mask_predict, unmask, write
from cloze.prediction.shipped import shipped_model
from cloze.training import EVEN
from cloze.vocabulary import VOCABULARY
from cloze.world import Truth, World
from measured.shared import SEEDS, ResultsFile, trained

STEPS, DRAWS, LINES = 400, 1000, 32
"""Steps of training, sentences that are written in the small world, and lines in English."""
TRAINED = {objective.name: objective for objective in (MASKED, DIFFUSION)}
PASSES = (1, 2, 4, 8, 16, 32, 64)
COUNTED = ("left to right", "mask-predict", "Gibbs")
"""Policies whose sentences are counted; the first is exact, and shows what counting adds."""


# The small world


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
    """Let a model write sentences by every policy, and compare them with those of the world.

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
    """Return KL(truth ‖ sampler) in nats, from counts with half a count more for each.

    It is never 0, because counts vary: compare it with that of an exact sampler.

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
    """Let a model write many sentences by the policies of ``COUNTED``, and count them."""
    sentences, truth = of_length(world)
    hidden = gaps_only(sentences[:1], world).repeat(draws, 1)
    measured = {}
    for policy in COUNTED:
        lines = write(model, hidden, policy, temperature=1.0, generator=seeded(seed))
        valid = {tuple(row) for row in sentences.tolist()} & {tuple(row) for row in lines.tolist()}
        kl = counted_kl(lines, sentences, truth)
        measured[policy] = {"kl": round(kl, 4), "sentences": len(valid)}
    return measured


# English


def real_words(lines: list[str], known: set[str]) -> tuple[float, float]:
    """Return the share of words that are in ``known``, and that of different words.

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
    """Judge text as it is, ``lines`` at a time: among more lines fewer words are new."""
    n = max(1, len(windows) // lines)
    groups = [judged(windows[i::n], known) for i in range(n)]
    return {name: fmean(group[name] for group in groups) for name in groups[0]}


def in_passes(model: Model, known: set[str], lines: int, seed: int) -> dict[str, Any]:
    """Let a model write lines in 1, 2, 4 … passes, with and without remasking, and judge them."""
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


def path_costs(
    model: Model,
    input_ids: Lines,
    order: Order = "left to right",
    steps: int | None = None,
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return −log P of lines written by :func:`unmask`: what each symbol cost when it was written.

    From left to right and easiest first, no two paths lead to one line, so this is the cost of the
    line itself. In random order it is that of one path, drawn for each line; many lead there.

    Args:
        model: any model; a causal one can only go from left to right.
        input_ids: lines without gaps, shape ``(lines, length)``; all their ordinary symbols are
            taken to be written.
        order: which gap comes next.
        steps: as in :func:`unmask`.
        generator: the source of chance for a random order.

    Returns:
        In nats, shape ``(lines,)``, float64.

    Raises:
        ValueError: an id has no symbol.
    """
    gaps = known_symbols(input_ids, len(model.vocabulary)) < model.vocabulary.n_ordinary
    hidden = input_ids.masked_fill(gaps, model.vocabulary.mask_id)
    paid = torch.zeros(len(input_ids), dtype=torch.float64)
    for step in unmask(model, hidden, order, steps, generator=generator, truth=input_ids):
        of_truth = step.probabilities.double().gather(1, input_ids[step.filled][:, None]).squeeze(1)
        paid.index_add_(0, step.filled.nonzero(as_tuple=True)[0], -of_truth.log())
    return paid


def random_order_cost(costs: Tensor) -> float:
    """Return −log P of a line when it is written in random order, from ``all_costs``.

    P is the mean over all orders of the product of what is paid; it is found by going through the
    sets of hidden symbols from the smallest, n · 2^n products in place of n!.
    """
    n = costs.shape[1]
    said = (-costs).exp().tolist()
    written = [1.0] * 2**n
    for hidden in range(1, 2**n):
        members = [i for i in range(n) if hidden >> i & 1]
        total = sum(said[hidden][i] * written[hidden ^ 1 << i] for i in members)
        written[hidden] = total / len(members)
    return -math.log(written[-1]) if written[-1] else math.inf


def main() -> None:
    world, corpus = World.load(), Corpus.load()
    known = {word for piece in corpus.train for word in piece.text.split()}
    causal, diffusion = shipped_model("causal"), shipped_model("diffusion")

    def english(name: str, seed: int) -> dict[str, float]:
        if name == "held-out text":
            return text_judged(corpus.held_out_windows(), known, LINES)
        hidden = torch.full((LINES, 64), VOCABULARY.mask_id)
        return judged(write(causal, hidden, "left to right", generator=seeded(seed)), known)

    def passes(seed: int) -> dict[str, Any]:
        return in_passes(diffusion, known, LINES, seed)

    def reader(name: str, seed: int) -> Model:
        if name == "exact":
            return Truth(world, corruption=CAREFUL)
        return trained(world, replace(EVEN, steps=STEPS, seed=seed), TRAINED[name]).model

    def in_the_world(name: str, seed: int) -> dict[str, Any]:
        draws = DRAWS // 10 if name == "exact" else DRAWS
        return in_world(reader(name, seed), world, draws, seed)

    def counts(name: str, seed: int) -> dict[str, Any]:
        return counted(reader(name, seed), world, 2 * DRAWS, seed)

    measurements = ResultsFile(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        world_sha256=world.sha256,
        steps=STEPS,
        words=WORDS,
        draws=DRAWS,
        lines=LINES,
    )
    measurements.measure("english", english, ["held-out text"], (0,))
    measurements.measure("english", english, ["causal"], SEEDS)
    measurements.measure("passes", passes, SEEDS)
    measurements.measure("world", in_the_world, ["exact", *TRAINED], SEEDS)
    measurements.measure("counted", counts, ["exact", *TRAINED], SEEDS)


if __name__ == "__main__":
    main()
