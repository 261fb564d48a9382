"""By which path one word of a sentence decides another.

Two sentences differ in two words. One of the two is masked in both, and interventions show by which
path the other one decides it:

- ``near``: attention of the first layer, from anywhere, straight into the gap;
- ``straight``: the state of the deciding word after the first layer, which the gap reads in the
  second;
- ``relay``: the states of all other words after the first layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.inside import Change, Parts, changed, run
from cloze.world import World

AT_ONCE = 256
WAYS = ("near", "straight", "relay")

Words = tuple[str, ...]


class SentencePair(NamedTuple):
    """Two sentences that differ in a gap and one more word."""

    ours: Words
    theirs: Words
    gap: int
    decider: int
    """The places of the two words, counted from 0."""

    @property
    def rule(self) -> str:
        """Name the gap's two words, the two that decide, and their distance."""
        (a, b), (c, d) = ((s[self.gap], s[self.decider]) for s in (self.ours, self.theirs))
        return f"{a}/{c} by {b}/{d} at {self.decider - self.gap:+d}"


class PairBatch(NamedTuple):
    """A batch of pairs as a model reads them."""

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


def batches(world: World, asked: Sequence[SentencePair]) -> Iterator[PairBatch]:
    """Encode pairs of sentences, ``AT_ONCE`` at a time."""
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
        yield PairBatch(ours, theirs, gap, decider, symbols)


def moved_by(model: MaskedLM, asked: PairBatch, ours: Parts, change: Change) -> Tensor:
    """Return by how many logits a change moves the answer towards their word, ``(batch,)``."""
    with torch.no_grad(), changed(model, change):
        return asked.lean(ours) - asked.lean({"logits": model(asked.ours)})


def ways(model: MaskedLM, asked: PairBatch, pad: int) -> tuple[Tensor, Tensor]:
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


def readers(
    model: MaskedLM, question: SentencePair, layer: int, at: int
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
