"""Where a neighbouring letter travels: parts of one run put into another, in many lines.

``python -m measured.inside.swapping`` masks the middle of held-out windows, replaces the letter
after the gap (or before it) by another one, keeps the lines whose answer changes, and puts the
parts of the second run into the first, one at a time (activation patching): how much of the change
does each part carry, in the model that reads both sides, the one that reads the left, and the
causal one (about three minutes on an idle core)?

Source: Vig et al. 2020, Investigating Gender Bias in Language Models Using Causal Mediation
Analysis; Meng et al. 2022, Locating and Editing Factual Associations in GPT.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.inside import Change, PartName, Parts, anatomy, run
from cloze.masking import seeded
from cloze.prediction.shipped import shipped_model
from measured.inside.lens import written
from measured.inside.switching import heads_of
from measured.shared import ResultsFile

GAP = 32
"""The place of the gap in a window of 64."""
NEAR = range(-4, 5)
"""The places, counted from the gap, whose residual stream is swapped."""
EVERY = 3
"""Every third held-out window is asked about."""


class LinePairs(NamedTuple):
    """Lines ``(n, length)`` with a gap, and the same with another letter beside it."""

    ours: Tensor
    theirs: Tensor
    answers: Tensor
    """The likeliest letter of both, ``(n, 2)``."""

    def lean(self, parts: Parts) -> Tensor:
        """Return by how many logits answers lean towards the first letter, ``(n,)``."""
        logits = parts["logits"][:, GAP].gather(1, self.answers)
        return logits[:, 0] - logits[:, 1]


def pairs(model: MaskedLM, windows: Tensor, side: int) -> LinePairs:
    """Swap the letter on one side of the gap, and keep the lines whose likeliest letter changes."""
    n = model.vocabulary.n_ordinary
    ours = windows.clone()
    ours[:, GAP] = model.vocabulary.mask_id
    theirs = ours.clone()
    step = torch.randint(1, n, (len(windows),), generator=seeded(0))
    theirs[:, GAP + side] = (theirs[:, GAP + side] + step) % n  # certainly another one
    with torch.no_grad():
        answers = torch.stack([model(x)[:, GAP, :n].argmax(1) for x in (ours, theirs)], dim=1)
    changes = answers[:, 0] != answers[:, 1]
    return LinePairs(ours[changes], theirs[changes], answers[changes])


def shares(model: MaskedLM, lines: LinePairs, changes: Mapping[str, Change]) -> dict[str, float]:
    """Return the share of the whole change that each single change brings about.

    That is the sum over all lines of how far it moves the answer, divided by the sum of how far
    swapping the letter moves it.
    """
    before = lines.lean(run(model, lines.ours))
    whole = (before - lines.lean(run(model, lines.theirs))).sum()
    moved_by = {}
    for name, change in changes.items():
        moved = before - lines.lean(run(model, lines.ours, change))
        moved_by[name] = round(float(moved.sum() / whole), 3)
    return moved_by


def swapped(windows: Tensor, direction: str, side: int) -> dict[str, Any]:
    """Swap every head at the gap, and every rung of the residual stream near it."""
    model = shipped_model(direction)
    lines = pairs(model, windows, side)
    theirs = run(model, lines.theirs)
    heads = {
        name: Change("z", n, theirs["z", n][:, :, h], at=[GAP], head=h)
        for name, (n, h) in heads_of(model).items()
    }
    feed_forward = {
        f"{n + 1}": Change("mlp_out", n, theirs["mlp_out", n], at=[GAP])
        for n in range(model.config.n_layers)
    }
    stream = {}
    for rung in anatomy(model).rungs:
        part, layer = rung if isinstance(rung, tuple) else (rung, 0)
        name: PartName = part  # type: ignore[assignment]
        at = {str(d): Change(name, layer, theirs[rung], at=[GAP + d]) for d in NEAR}
        stream[written(rung)] = shares(model, lines, at)
    return {
        "lines": len(lines.ours),
        "heads": shares(model, lines, heads),
        "feed-forward": shares(model, lines, feed_forward),
        "stream": stream,
    }


def main() -> None:
    corpus = Corpus.load()
    windows = corpus.held_out_windows()[::EVERY]
    measurements = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256, windows=len(windows))
    swap = partial(swapped, windows)
    measurements.measure("swaps", swap, ["both"], [1, -1])
    measurements.measure("swaps", swap, ["left", "causal"], [-1])


if __name__ == "__main__":
    main()
