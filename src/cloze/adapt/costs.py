"""What a text costs a model under fixed masks, and what two measurements say of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from cloze.adapt.chunks import Chunk, Masks
from cloze.corpus import MOST_HELD_OUT
from cloze.masking import IGNORE

AT_ONCE = 2**13
"""The most pieces of a batch."""
FOREIGN = 3
"""A text that costs this many times as much as general text may be in another language."""


class Costs(NamedTuple):
    """What the masked pieces of each chunk cost."""

    nats: Tensor
    """Summed over the masked pieces, shape ``(chunks,)``."""
    characters: Tensor
    """How many characters these pieces stand for, shape ``(chunks,)``."""

    @property
    def per_character(self) -> float:
        """Nats per character."""
        return float(self.nats.sum() / self.characters.sum())

    def less(self, before: Costs) -> tuple[float, float]:
        """Return the difference to an earlier measurement under the same masks, and its margin.

        The margin is two standard errors of a ratio of sums, from the differences of the chunks.
        """
        difference, n = self.nats - before.nats, len(self.nats)
        total = self.characters.sum()
        change = difference.sum() / total
        residuals = difference - change * self.characters
        error = (residuals.square().sum() * n / max(1, n - 1)).sqrt() / total
        return float(change), float(2 * error)


@torch.no_grad()
def costs(model: Any, chunks: Sequence[Chunk], masks: Masks, times: int = 1) -> Costs:
    """Measure what chunks cost a model under fixed masks.

    Args:
        model: a masked language model of ``transformers``.
        chunks: of many, only the first 131,072 characters are measured.
        masks: draws the same masks at every call.
        times: how many masks are drawn for each chunk.
    """
    enough = torch.tensor([int(chunk.characters.sum()) for chunk in chunks]).cumsum(0)
    chunks = [*chunks[: 1 + int((enough < MOST_HELD_OUT).sum())]]
    examples = [
        (i, masks.draw(chunk, -1 - t)) for i, chunk in enumerate(chunks) for t in range(times)
    ]
    examples.sort(key=lambda each: len(each[1]["input_ids"]))
    nats, characters = torch.zeros(2, len(chunks), dtype=torch.float64)
    was_training = model.training
    model.eval()
    size = max(1, AT_ONCE // max(len(chunk.input_ids) for chunk in chunks))
    for start in range(0, len(examples), size):
        batch = examples[start : start + size]
        lines = masks.pad([example for _, example in batch])
        selected = lines["labels"] != IGNORE
        losses = losses_at(model, {name: part.to(model.device) for name, part in lines.items()})
        sizes = [chunks[i].characters[each["labels"] != IGNORE] for i, each in batch]
        rows = torch.tensor([i for i, _ in batch])[selected.nonzero()[:, 0]]
        nats.index_add_(0, rows, losses.double().cpu())
        characters.index_add_(0, rows, torch.cat(sizes).double())
    model.train(was_training)
    return Costs(nats, characters)


def losses_at(model: Any, lines: dict[str, Tensor]) -> Tensor:
    """Return the loss at each masked position, shape ``(|M|,)``.

    With ``sparse_prediction``, ModernBERT computes logits at these positions only.
    """
    selected = lines["labels"] != IGNORE
    logits = model(**lines).logits
    if logits.dim() == 3:
        logits = logits[selected]
    return cross_entropy(logits.float(), lines["labels"][selected], reduction="none")


# In words


def table(before: Mapping[str, Costs], after: Mapping[str, Costs]) -> str:
    """Return the costs before and after training, as a table in Markdown."""
    rows = ["| held out, nats per character | before | after | difference |"]
    rows.append("| --- | ---: | ---: | ---: |")
    for name, now in after.items():
        change, margin = now.less(before[name])
        rows.append(
            f"| {name} | {before[name].per_character:.3f} | {now.per_character:.3f} "
            f"| {change:+.3f} ± {margin:.3f} |"
        )
    return "\n".join(rows)


def costs_before(before: Mapping[str, Costs]) -> str:
    """Return a sentence: what a character costs before training."""
    own, *general = (cost.per_character for cost in before.values())
    sentence = f"Before training, a character of your text costs {own:.2f} nats (less is better)"
    if general:
        sentence += f", one of general text {general[0]:.2f}"
        if own > FOREIGN * general[0]:
            sentence += ". If your text is in another language, begin with a model for it"
    return f"{sentence}."


def outcome(before: Mapping[str, Costs], after: Mapping[str, Costs]) -> str:
    """Return what the table shows, as a sentence."""
    (own, _), *general = (cost.less(before[name]) for name, cost in after.items())
    words = f"A character of your text costs {abs(own):.2f} nats {'less' if own < 0 else 'more'}"
    for change, margin in general:
        words += (
            f", and one of general text {change:.2f} more, which is forgetting; --mix 0.5 helps"
            if change > margin
            else ", and general text was not forgotten"
        )
    return f"{words}."
