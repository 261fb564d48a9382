"""By which path a word of the small world decides another: on all of its sentences.

``python -m cloze.lessons.inside.paths`` finds every two sentences of the world that differ in two
words, masks one of the two in both, and asks how far the answer follows the other one. It writes to
paths.json, for each rule of the world, how much of that goes which way (about five minutes on an
idle core).

The rule holds for a pair if no sentence has only one of the two words changed: *umbrella* with
*raining* and *sledge* with *snowing*, but never *umbrella* with *snowing*. It does not if both such
sentences exist: *anna* and *eva* can both have a red or a blue umbrella. (Even then the two words
may hang together partly: both coffee and tea are drunk in the morning, but not equally often.) So
the world says which word decides, and interventions say which path carries it:

- ``near``: attention of the first layer, from anywhere, straight into the gap;
- ``straight``: the state of the deciding word after the first layer, which the gap reads in the
  second;
- ``relay``: the states of all other words after the first layer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.inside import Change, Parts, run
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements
from cloze.vocabulary import PAD
from cloze.world import World

RESULTS = Path(__file__).with_suffix(".json")
AT_ONCE = 256
WAYS = ("near", "straight", "relay")

Words = tuple[str, ...]


class Question(NamedTuple):
    """Two sentences that differ in a gap and one more word."""

    ours: Words
    theirs: Words
    gap: int
    decider: int
    """The places of the two words, counted from 0."""

    @property
    def rule(self) -> str:
        """Name the question: what is asked, what decides, and how far away that is."""
        (a, b), (c, d) = ((s[self.gap], s[self.decider]) for s in (self.ours, self.theirs))
        return f"{a}/{c} by {b}/{d} at {self.decider - self.gap:+d}"


def log_odds(p: Mapping[str, float], question: Question) -> float:
    """Return by how many nats the decider changes which of the gap's two words is likelier.

    0 says that the two words have nothing to do with each other.

    Args:
        p: the probability of every sentence.
        question: one whose words can both be changed alone.
    """
    one, other = question.ours, question.theirs
    at = question.gap
    mixed = [(*a[:at], b[at], *a[at + 1 :]) for a, b in ((one, other), (other, one))]
    ours, theirs, first, second = (p[" ".join(words)] for words in (one, other, *mixed))
    return math.log(ours * theirs / (first * second))


def questions(world: World) -> tuple[list[Question], list[Question]]:
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
            found = [sentence in known for sentence in mixed]
            asked = [Question(one, other, i, j), Question(one, other, j, i)]
            if not any(found):
                bound += asked
            elif all(found):
                free += asked
    return bound, free


class Asked(NamedTuple):
    """A batch of questions as a model reads them."""

    ours: Tensor
    theirs: Tensor
    """Ids with the gap masked, ``(batch, length)``."""
    gap: Tensor
    decider: Tensor
    """True at the place of the word, ``(batch, length)``."""
    symbols: Tensor
    """The ids of both words of the gap, ``(batch, 2)``."""

    def lean(self, parts: Parts) -> Tensor:
        """Return by how many logits the answer leans towards our word, ``(batch,)``."""
        logits = parts["logits"][self.gap].gather(1, self.symbols)  # (batch, 2)
        return logits[:, 0] - logits[:, 1]


def batches(world: World, asked: Sequence[Question]) -> Iterator[Asked]:
    """Let a world write questions in ids, some at a time."""
    rows = dict(zip(world.sentences, world.input_ids, strict=True))
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        ours, theirs = (
            torch.stack([rows[" ".join(words)] for words in each])
            for each in ([q.ours for q in part], [q.theirs for q in part])
        )
        places = torch.arange(ours.shape[1])
        gap, decider = (
            places == torch.tensor(at)[:, None] + 1  # after [BEGIN]
            for at in ([q.gap for q in part], [q.decider for q in part])
        )
        symbols = torch.stack([ours[gap], theirs[gap]], dim=1)
        mask_id = world.vocabulary.mask_id
        ours, theirs = (each.masked_fill(gap, mask_id) for each in (ours, theirs))
        yield Asked(ours, theirs, gap, decider, symbols)


def moved_by(model: MaskedLM, asked: Asked, ours: Parts, change: Change) -> Tensor:
    """Return by how many logits a change moves the answer towards their word, ``(batch,)``."""
    return asked.lean(ours) - asked.lean(run(model, asked.ours, change))


def ways(model: MaskedLM, asked: Asked, pad: int) -> tuple[Tensor, Tensor]:
    """Return how much the answer leans towards our word and theirs, and moves by each way.

    Returns:
        ``(batch, 2)`` and ``(batch, 3)``, in logits.
    """
    ours, theirs = run(model, asked.ours), run(model, asked.theirs)
    elsewhere = ~(asked.gap | asked.decider) & (asked.ours != pad)
    changes = (
        Change("attn_out", 0, theirs["attn_out", 0], at=asked.gap),
        Change("resid_post", 0, theirs["resid_post", 0], at=asked.decider),
        Change("resid_post", 0, theirs["resid_post", 0], at=elsewhere),
    )
    leans = torch.stack([asked.lean(ours), asked.lean(theirs)], dim=1)
    return leans, torch.stack([moved_by(model, asked, ours, c) for c in changes], dim=1)


def heads(model: MaskedLM, asked: Asked) -> Tensor:
    """Return by how many logits each head moves the answer when it is swapped in at the gap.

    Returns:
        Shape ``(n_layers, n_heads, batch)``.
    """
    ours, theirs = run(model, asked.ours), run(model, asked.theirs)
    swapped = [
        moved_by(
            model,
            asked,
            ours,
            Change("z", n, theirs["z", n][:, :, h], at=asked.gap, head=h),
        )
        for n in range(model.config.n_layers)
        for h in range(model.config.n_heads)
    ]
    return torch.unflatten(torch.stack(swapped), 0, (model.config.n_layers, -1))


def readers(
    model: MaskedLM, question: Question, layer: int, at: int
) -> list[tuple[float, str, str]]:
    """Return of each head of a layer what it does for one question at one place of the sentence.

    Returns:
        By how many logits it moves the answer if it is swapped in there, the head's name, and the
        word that it looks at most, those that move most first.
    """
    world = World.load()
    (asked,) = batches(world, [question])
    ours, theirs = run(model, asked.ours), run(model, asked.theirs)
    words = [world.vocabulary.symbols[i] for i in world.encode(" ".join(question.ours)).tolist()]
    found = []
    for h in range(model.config.n_heads):
        change = Change("z", layer, theirs["z", layer][:, :, h], at=[at + 1], head=h)
        read = words[int(ours["pattern", layer][0, h, at + 1].argmax())]
        moves = float(moved_by(model, asked, ours, change))
        found.append((moves, f"{layer + 1}.{h + 1}", read))
    return sorted(found, reverse=True)


def results() -> dict[str, Any]:
    """Return what was measured: "rules" by rule, and "free" for words that decide nothing."""
    return measurements.read(RESULTS)


def main(path: Path = RESULTS, every: int = 1) -> None:
    """Ask all questions, or about every n-th, and write how the answers come about."""
    world, model = World.load(), shipped_model("world")
    bound, free = questions(world)
    bound, free = bound[::every], free[:: max(1, every // 20)]  # each question of these is cheap
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
            "mostly straight": int((shares[:, 1] > 0.5).sum()),
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

    made = measurements.made_by(
        "cloze.lessons.inside.paths", world_sha256=world.sha256, every=every
    )
    rules = dict.fromkeys(q.rule for q in bound)
    measurements.measure(path, made, "rules", [(rule,) for rule in rules], of_rule)
    measurements.measure(path, made, "free", [("independent",), ("partly",)], of_free)


if __name__ == "__main__":
    main()
