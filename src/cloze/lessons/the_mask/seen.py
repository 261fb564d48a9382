"""What a model makes of the characters that it sees, and what 80/10/10 has to do with it.

``python -m cloze.lessons.the_mask.seen`` trains a minute's recipe three times, with 80/10/10,
100/0/0 and 80/0/20, and writes what the models believe to seen.json (three minutes of one core).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import MaskedLM, log_probs_at
from cloze.masking import MaskedBatch, held_out_batch, mask_tokens
from cloze.objectives import masked
from cloze.prediction.answers import distribution
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit
from cloze.vocabulary import VOCABULARY

RESULTS = Path(__file__).with_suffix(".json")
TYPO = "he opened the winvow and looked out"
SHARES = {"80/10/10": (0.8, 0.1), "100/0/0": (1.0, 0.0), "80/0/20": (0.8, 0.0)}
"""By name, the shares of selected characters that become ``[MASK]`` and a random one."""


def beliefs(model: MaskedLM, originals: Tensor, batch: MaskedBatch) -> dict[str, float]:
    """Return the mean probability of the original character at selected positions.

    Args:
        model: any model.
        originals: the ids before masking, shape ``(windows, length)``.
        batch: what became of them.

    Returns:
        By what the model sees there: "[MASK]", "random" and "kept", as it looks from outside.
    """
    of_original = torch.full(originals.shape, torch.nan)
    log_probs = log_probs_at(model, batch.inputs, batch.selected)
    of_original[batch.selected] = log_probs.gather(1, originals[batch.selected][:, None])[
        :, 0
    ].exp()
    hidden, same = batch.inputs == VOCABULARY.mask_id, batch.inputs == originals
    seen = {"[MASK]": hidden, "random": ~hidden & ~same, "kept": same}
    return {name: of_original[batch.selected & where].mean().item() for name, where in seen.items()}


def proofread(model: MaskedLM, line: str) -> list[float]:
    """Return the probability that a model gives to each character of a line that it sees whole."""
    ids = VOCABULARY.encode(line)
    believed: list[float] = distribution(model, ids).gather(1, ids[:, None]).squeeze(1).tolist()
    return believed


def train(name: str, recipe: Recipe, corpus: Corpus) -> MaskedLM:
    """Train one model with the shares of that name."""
    objective = masked(name, mask_tokens, *SHARES[name])
    torch.manual_seed(recipe.seed)
    run = TrainingRun(MaskedLM(), corpus, recipe, objective)
    for _ in fit(run):
        pass
    return run.model.eval()


def measure(corpus: Corpus, recipe: Recipe, name: str) -> dict[str, Any]:
    """Train, and ask about the held-out pieces under the fixed masks and one line with a typo."""
    model, windows = train(name, recipe, corpus), corpus.held_out_windows()
    return {
        "beliefs": beliefs(model, windows, held_out_batch(windows)),
        "proofread": proofread(model, TYPO),
    }


def results() -> dict[str, dict[str, Any]]:
    """Return what was measured, by the name of the shares."""
    models: dict[str, dict[str, Any]] = measurements.read(RESULTS)["models"]
    return models


def main(path: Path = RESULTS, recipe: Recipe = EVEN) -> None:
    """Train the models and write what they believe, with what it takes to repeat it."""
    corpus = Corpus.load()
    made = measurements.made_by(__spec__.name, steps=recipe.steps, seed=recipe.seed)
    one = partial(measure, corpus, recipe)
    measurements.measure(path, made, "models", zip(SHARES, strict=True), one)


if __name__ == "__main__":
    main()
