"""Where a neighbouring letter travels: parts of one run put into another, in many lines.

``python -m cloze.lessons.inside.swapping`` masks the middle of held-out windows, replaces the
letter after the gap (or before it) by another one, keeps the lines whose answer changes, and puts
the parts of the second run into the first, one at a time (activation patching). It writes to
swapping.json how much of the change each part carries, for the model that reads both sides, the one
that reads the left, and the causal one (about three minutes on an idle core).

Source: Vig et al. 2020, Investigating Gender Bias in Language Models Using Causal Mediation
Analysis; Meng et al. 2022, Locating and Editing Factual Associations in GPT.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.inside import Change, Key, PartName, Parts, anatomy, run
from cloze.masking import seeded
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements

RESULTS = Path(__file__).with_suffix(".json")
GAP = 32
"""The place of the gap in a window of 64."""
NEAR = range(-4, 5)
"""The places, counted from the gap, whose residual stream is swapped."""
RUNS = (("both", 1), ("both", -1), ("left", -1), ("causal", -1))
"""Which model, and on which side of the gap the swapped letter is."""


class Pairs(NamedTuple):
    """Lines ``(n, length)`` with a gap, and the same with another letter beside it."""

    ours: Tensor
    theirs: Tensor
    answers: Tensor
    """The likeliest letter of both, ``(n, 2)``."""

    def lean(self, parts: Parts) -> Tensor:
        """Return by how many logits answers lean towards the first letter, ``(n,)``."""
        logits = parts["logits"][:, GAP].gather(1, self.answers)
        return logits[:, 0] - logits[:, 1]


def pairs(model: MaskedLM, windows: Tensor, side: int) -> Pairs:
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
    return Pairs(ours[changes], theirs[changes], answers[changes])


def shares(model: MaskedLM, lines: Pairs, changes: Mapping[str, Change]) -> dict[str, float]:
    """Return the share of the whole change that each single one brings about.

    That is the sum over all lines of what it moves, over the sum of what swapping the letter moves.
    """
    before = lines.lean(run(model, lines.ours))
    whole = (before - lines.lean(run(model, lines.theirs))).sum()
    found = {}
    for name, change in changes.items():
        moved = before - lines.lean(run(model, lines.ours, change))
        found[name] = round(float(moved.sum() / whole), 3)
    return found


def written(rung: Key) -> str:
    """Write the name of a rung as one word: "resid_mid.0"."""
    return rung if isinstance(rung, str) else f"{rung[0]}.{rung[1]}"


def measured(direction: str, side: int, windows: Tensor) -> dict[str, Any]:
    """Swap every head at the gap, and every rung of the residual stream near it."""
    model = shipped_model(direction)
    lines = pairs(model, windows, side)
    theirs = run(model, lines.theirs)
    heads = {
        f"{n + 1}.{h + 1}": Change("z", n, theirs["z", n][:, :, h], at=[GAP], head=h)
        for n in range(model.config.n_layers)
        for h in range(model.config.n_heads)
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


def results() -> dict[str, Any]:
    """Return what was measured: "swaps" by model and side, and of how many "windows"."""
    return measurements.read(RESULTS)


def through(swapped: Mapping[str, Any]) -> tuple[list[list[float]], list[str]]:
    """Return which share of a change goes through each place: a row for each rung, and columns."""
    rows = [[*by.values()] for by in swapped["stream"].values()]
    return rows, [f"{int(d):+}" if d != "0" else "gap" for d in swapped["stream"]["embed"]]


def main(path: Path = RESULTS, every: int = 3) -> None:
    """Swap in every third held-out window, and write what carries the letter."""
    corpus = Corpus.load()
    windows = corpus.held_out_windows()[::every]
    made = measurements.made_by(
        "cloze.lessons.inside.swapping", corpus_sha256=corpus.sha256, windows=len(windows)
    )
    measurements.measure(
        path, made, "swaps", RUNS, lambda name, side: measured(name, side, windows)
    )


if __name__ == "__main__":
    main()
