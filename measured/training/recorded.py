"""One run of the default recipe, recorded: its losses, and how it filled a line on the way.

``python -m measured.training.recorded`` trains the series' encoder once (four minutes on an idle
core, most of them to measure held-out loss again and again). Before one trains, a slider goes
through it. The level of *words* is measured here as well: what pays less than counting some
neighbours knows more than which letters are near each other.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any

import torch

from cloze.baselines import NeighbourBaseline
from cloze.corpus import Corpus, windows
from cloze.evaluation import held_out_loss
from cloze.masking import held_out_batch, mask_tokens, seeded
from cloze.training import Recipe, fit
from cloze.widgets.curve import LINE, Filling, averaged
from measured.shared import ResultsFile, begun

MOMENTS = 64
"""How often the line is filled: moments are close to each other at first, where most happens."""
NEAREST = (-1, 1, -2, 2, -3, 3, -4, 4)
EPOCHS = 10


def record(corpus: Corpus, seed: int) -> dict[str, Any]:
    """Train once.

    Returns:
        By the number of steps: ``points``, training losses in nats, averaged; ``measured``,
        held-out losses; ``filled``, what the line of the curve had in its gaps.
    """
    run = begun(corpus, Recipe(seed=seed, evaluations=0))
    watched, steps = Filling(run.model, LINE), run.recipe.steps
    measured: dict[int, float] = {}
    filled: dict[int, str] = {}

    def note(step: int) -> None:
        measured[step] = round(held_out_loss(run.model, run.held_out), 3)
        filled[step] = "".join(watched.filled())

    note(0)
    moments = {ceil(steps * (k / MOMENTS) ** 2) for k in range(MOMENTS + 1)}
    for step in (each.step for each in fit(run)):
        if step in moments or run.finished:
            note(step)
    points = {step: round(nats, 3) for step, nats in averaged(run.history, steps)}
    return {"points": points, "measured": measured, "filled": filled}


def counting(corpus: Corpus, neighbours: int) -> float:
    """Return the held-out loss of counting what is between the nearest neighbours, in nats.

    It is counted and smoothed as the baselines of the series are, which know two of them at most.
    """
    held_out, reader, chance = (
        held_out_batch(corpus.held_out_windows()),
        NeighbourBaseline(()),
        seeded(0),
    )
    train = windows(corpus.train_ids, held_out.inputs.shape[1])
    batches = [mask_tokens(train, generator=chance) for _ in range(EPOCHS)]
    symbols = len(corpus.vocabulary)
    answers = torch.full((len(held_out.labels[held_out.selected]), symbols), 1 / symbols)
    for used in range(neighbours + 1):
        context = partial(reader._context, offsets=NEAREST[:used])
        asked, rows = torch.unique(context(held_out.inputs)[held_out.selected], return_inverse=True)
        counts = torch.zeros(len(asked), symbols)
        for batch in batches:
            read, labels = context(batch.inputs)[batch.selected], batch.labels[batch.selected]
            place = torch.searchsorted(asked, read).clamp(max=len(asked) - 1)
            known = asked[place] == read
            counts.index_put_((place[known], labels[known]), torch.tensor(1.0), accumulate=True)
        answers = counts[rows] + reader.strength * answers
        answers /= answers.sum(1, keepdim=True)
    right = answers.gather(1, held_out.labels[held_out.selected][:, None])
    return round(-right.log().mean().item(), 3)


def main() -> None:
    corpus = Corpus.load()
    results = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256, line=LINE)
    results.measure("counting", partial(counting, corpus), (2, 4, 6, 8))
    results.measure("runs", partial(record, corpus), (0,))


if __name__ == "__main__":
    main()
