"""By which path a word of the small world decides another: on all of its sentences.

``python -m measured.inside.paths`` finds every two sentences of the world that differ in two words,
masks one of the two in both, and measures, for each rule of the world, by which path the answer
follows the other one (about five minutes on an idle core).

The rule holds for a pair if no sentence has only one of the two words changed: *umbrella* with
*raining* and *sledge* with *snowing*, but never *umbrella* with *snowing*. It does not if both such
sentences exist: *anna* and *eva* can both have a red or a blue umbrella. (Even then the two words
may be correlated: both coffee and tea are drunk in the morning, but not equally often.) So the
world says which word decides, and interventions say which path carries it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.inside import Change, run
from cloze.lessons.inside.paths import WAYS, PairBatch, SentencePair, batches, moved_by, ways
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import PAD
from cloze.world import World
from measured.inside.switching import heads_of
from measured.shared import ResultsFile

EVERY = 1
"""Every n-th question is asked, and 20 times as many of the quick ones without a rule."""


def log_odds(p: Mapping[str, float], question: SentencePair) -> float:
    """Return by how many nats the decider changes which of the gap's two words is likelier.

    At 0 the two words are independent.

    Args:
        p: the probability of every sentence.
        question: one whose words can both be changed alone.
    """
    one, other = question.ours, question.theirs
    at = question.gap
    mixed = [(*a[:at], b[at], *a[at + 1 :]) for a, b in ((one, other), (other, one))]
    ours, theirs, first, second = (p[" ".join(words)] for words in (one, other, *mixed))
    return math.log(ours * theirs / (first * second))


def questions(world: World) -> tuple[list[SentencePair], list[SentencePair]]:
    """Return all questions in which one word decides the other, and all in which it does not.

    Each pair of sentences gives two, one for each of its two words.
    """
    sentences = [tuple(sentence.split()) for sentence in world.sentences]
    known = set(sentences)
    alike = defaultdict(list)  # sentences with the same words in all places but two
    for s in sentences:
        for i, j in combinations(range(len(s)), 2):
            alike[i, j, s[:i] + s[i + 1 : j] + s[j + 1 :]].append(s)
    bound, free = [], []
    for (i, j, _), group in alike.items():
        for one, other in combinations(group, 2):
            if one[i] == other[i] or one[j] == other[j]:
                continue
            mixed = [(*a[:i], b[i], *a[i + 1 :]) for a, b in ((one, other), (other, one))]
            exist = [sentence in known for sentence in mixed]
            both = [SentencePair(one, other, i, j), SentencePair(one, other, j, i)]
            if not any(exist):
                bound += both
            elif all(exist):
                free += both
    return bound, free


def heads(model: MaskedLM, asked: PairBatch) -> Tensor:
    """Return by how many logits each head moves the answer when it is swapped in at the gap.

    Returns:
        Shape ``(n_layers, n_heads, batch)``.
    """
    ours, theirs = run(model, asked.ours), run(model, asked.theirs)
    changes = (
        Change("z", n, theirs["z", n][:, :, h], at=asked.gap, head=h)
        for n, h in heads_of(model).values()
    )
    swapped = torch.stack([moved_by(model, asked, ours, change) for change in changes])
    return torch.unflatten(swapped, 0, (model.config.n_layers, -1))


def main() -> None:
    world, model = World.load(), shipped_model("world")
    bound, free = questions(world)
    bound, free = bound[::EVERY], free[:: max(1, EVERY // 20)]
    pad = world.vocabulary.ids[PAD]
    likely = dict(zip(world.sentences, world.probabilities.tolist(), strict=True))

    def of_rule(rule: str) -> dict[str, Any]:
        asked = [q for q in bound if q.rule == rule]
        answers = [ways(model, each, pad) for each in batches(world, asked)]
        leans = torch.cat([leans for leans, _ in answers])
        moved = torch.cat([moved for _, moved in answers])
        by_head = torch.cat([heads(model, each) for each in batches(world, asked)], dim=-1)
        total = leans[:, 0] - leans[:, 1]
        shares = (moved / total[:, None]).double()
        return {
            "questions": len(asked),
            "right": int(((leans[:, 0] > 0) & (leans[:, 1] < 0)).sum()),
            "logits": round(float(total.mean()), 2),
            **{
                way: round(float(share), 3) for way, share in zip(WAYS, shares.mean(0), strict=True)
            },
            "mostly": {way: int(n) for way, n in zip(WAYS, (shares > 0.5).sum(dim=0), strict=True)},
            "heads": [
                [round(float(x), 3) for x in layer] for layer in (by_head / total).mean(dim=-1)
            ],
        }

    def of_free(which: str) -> dict[str, Any]:
        odds = torch.tensor([log_odds(likely, q) for q in free]).abs()
        chosen = (odds < 1e-6) if which == "independent" else (odds >= 1e-6)
        part = [free[i] for i in chosen.nonzero().flatten().tolist()]
        moved = []
        for asked in batches(world, part):
            with torch.no_grad():
                ours, theirs = (
                    asked.lean({"logits": model(ids)}) for ids in (asked.ours, asked.theirs)
                )
            moved.append((ours - theirs).abs())
        sizes = torch.cat(moved)
        return {
            "questions": len(sizes),
            "logits": round(float(sizes.mean()), 3),
            "largest": round(float(sizes.max()), 3),
            "truth": round(float(odds[chosen].mean()), 3),
            "example": part[0].rule,
        }

    rules = dict.fromkeys(q.rule for q in bound)
    measurements = ResultsFile(__spec__.name, world_sha256=world.sha256, every=EVERY)
    measurements.measure("rules", of_rule, rules)
    measurements.measure("free", of_free, ["independent", "partly"])


if __name__ == "__main__":
    main()
