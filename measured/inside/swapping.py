"""Where a neighbouring letter travels: parts of one run put into another, in many lines.

``python -m measured.inside.swapping`` masks the middle of held-out windows, replaces the letter
after the gap by another one, keeps the lines whose answer changes, and puts parts of the second run
into the first, one at a time (activation patching): how much of the change does each part carry?
Heads are also swapped the other way round, and in models that are trained for a minute each, with
other seeds (about six minutes on an idle core).

Source: Vig et al. 2020, Investigating Gender Bias in Language Models Using Causal Mediation
Analysis; Meng et al. 2022, Locating and Editing Factual Associations in GPT; Heimersheim and Nanda
2024, How to Use and Interpret Activation Patching (both ways round).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.inside import Change, PartName, Parts, anatomy, changed, run
from cloze.masking import seeded
from cloze.prediction.shipped import shipped_model
from cloze.training import Recipe
from measured.inside.lens import written
from measured.inside.switching import heads_of
from measured.shared import SEEDS, ResultsFile, trained

GAP = 32
"""The place of the gap in a window of 64."""
NEAR = range(-4, 5)
"""The places, counted from the gap, whose residual stream is swapped."""
EVERY = 1
"""Every n-th held-out window is asked about."""


class LinePairs(NamedTuple):
    """Lines ``(n, length)`` with a gap, and the same with another letter after it."""

    ours: Tensor
    theirs: Tensor
    answers: Tensor
    """The likeliest letter of both, ``(n, 2)``."""

    def lean(self, parts: Parts) -> Tensor:
        """Return by how many logits answers lean towards the first letter, ``(n,)``."""
        logits = parts["logits"][:, GAP].gather(1, self.answers)
        return logits[:, 0] - logits[:, 1]


def pairs(model: MaskedLM, windows: Tensor) -> LinePairs:
    """Replace the letter after the gap, and keep the lines whose likeliest letter changes."""
    n = model.vocabulary.n_ordinary
    ours = windows.clone()
    ours[:, GAP] = model.vocabulary.mask_id
    theirs = ours.clone()
    step = torch.randint(1, n, (len(windows),), generator=seeded(0))
    theirs[:, GAP + 1] = (theirs[:, GAP + 1] + step) % n  # certainly another one
    with torch.no_grad():
        answers = torch.stack([model(x)[:, GAP, :n].argmax(1) for x in (ours, theirs)], dim=1)
    changes = answers[:, 0] != answers[:, 1]
    return LinePairs(ours[changes], theirs[changes], answers[changes])


def shares(
    model: MaskedLM, lines: LinePairs, changes: Mapping[str, Change]
) -> dict[str, dict[str, float]]:
    """Return the share of the whole change that each single change brings about, and what it tips.

    The share is the sum over all lines of how far it moves the answer, divided by the sum of how
    far swapping the letter moves it. An answer has tipped if it leans towards the second letter.
    """

    def lean(ids: Tensor, *change: Change) -> Tensor:
        with torch.no_grad(), changed(model, *change):
            return lines.lean({"logits": model(ids)})

    before = lean(lines.ours)
    whole = (before - lean(lines.theirs)).sum()
    found: dict[str, dict[str, float]] = {"shares": {}, "tips": {}}
    for name, change in changes.items():
        after = lean(lines.ours, change)
        found["shares"][name] = round(float((before - after).sum() / whole), 3) + 0.0  # no -0.0
        found["tips"][name] = round(float((after < 0).double().mean()), 3)
    return found


def heads(model: MaskedLM, lines: LinePairs) -> dict[str, dict[str, float]]:
    """Swap every head at the gap."""
    theirs = run(model, lines.theirs)
    changes = {
        name: Change("z", n, theirs["z", n][:, :, h], at=[GAP], head=h)
        for name, (n, h) in heads_of(model).items()
    }
    return shares(model, lines, changes)


def swapped(model: MaskedLM, windows: Tensor) -> dict[str, Any]:
    """Swap every head at the gap, both ways round, and each rung of the residual stream near it."""
    lines = pairs(model, windows)
    theirs = run(model, lines.theirs)
    stream = {}
    for rung in anatomy(model).rungs:
        part, layer = rung if isinstance(rung, tuple) else (rung, 0)
        name: PartName = part  # type: ignore[assignment]
        at = {str(d): Change(name, layer, theirs[rung], at=[GAP + d]) for d in NEAR}
        stream[written(rung)] = shares(model, lines, at)["shares"]
    back = LinePairs(lines.theirs, lines.ours, lines.answers.flip(1))
    return {
        "lines": len(lines.ours),
        "heads": heads(model, lines),
        "back": heads(model, back),
        "stream": stream,
    }


def main() -> None:
    corpus = Corpus.load()
    windows = corpus.held_out_windows()[::EVERY]

    def of_seed(seed: int) -> dict[str, float]:
        model = trained(corpus, Recipe(seed=seed)).model
        return heads(model, pairs(model, windows))["shares"]

    measurements = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256, windows=len(windows))
    measurements.measure("swaps", partial(swapped, shipped_model(), windows))
    measurements.measure("seeds", of_seed, SEEDS)


if __name__ == "__main__":
    main()
