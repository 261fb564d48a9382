"""What to spend operations on: a larger model, more steps, or more masks.

``python -m cloze.lessons.training.sizes`` trains six sizes of encoder, and the usual one at other
mask rates, each with a ninth, a third and all of the operations that the recipe of the
series takes, and writes the held-out losses to sizes.json (a quarter of an hour on an idle core).

Operations are counted as is usual, 6 for each parameter of a layer and each character read: 2 on
the way forward and 4 on the way back (Kaplan et al. 2020, https://arxiv.org/abs/2001.08361).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
SHAPES = ((64, 2), (96, 2), (128, 2), (192, 2), (256, 3), (320, 5))
"""d_model and n_layers of each size; d_ff = 2 · d_model and heads of 16 numbers, as by default."""
USUAL = EncoderConfig()
RATE = Recipe().mask_prob
RATES = (0.15, 0.5)
"""Mask rates that the usual size is trained at besides ``RATE``."""
SHARES = (1 / 9, 1 / 3, 1.0)
"""Of the operations of the usual recipe."""


def config_of(d_model: int, n_layers: int) -> EncoderConfig:
    """Scale the usual encoder."""
    n_heads = d_model // USUAL.d_head
    return replace(USUAL, d_model=d_model, n_layers=n_layers, n_heads=n_heads, d_ff=2 * d_model)


def operations(config: EncoderConfig, steps: int) -> int:
    """Return how many operations so many steps of the usual recipe take."""
    layers = MaskedLM(config).encoder.layers.parameters()
    return 6 * sum(p.numel() for p in layers) * steps * Recipe().batch_size * Recipe().length


def measure(
    corpus: Corpus, d_model: int, n_layers: int, rate: float, share: float
) -> dict[str, float]:
    """Train once, and return the number of parameters, of steps, and the held-out loss in nats."""
    config = config_of(d_model, n_layers)
    budget = share * operations(USUAL, Recipe().steps)
    recipe = Recipe(
        steps=max(1, round(budget / operations(config, 1))), mask_prob=rate, evaluations=0
    )
    torch.manual_seed(recipe.seed)
    run = TrainingRun(MaskedLM(config), corpus, recipe)
    for _ in fit(run, progress=False):
        pass
    return {
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "steps": recipe.steps,
        "nats": held_out_loss(run.model, run.held_out),
    }


def results() -> tuple[dict[float, list[tuple[int, float]]], dict[float, dict[float, float]]]:
    """Return what was paid, in nats: by TFLOP for each size, and by mask rate for each TFLOP."""
    runs = measurements.read(RESULTS)["runs"]
    spent = {share: share * operations(USUAL, Recipe().steps) / 1e12 for share in SHARES}

    def run(d_model: int, n_layers: int, rate: float, share: float) -> dict[str, float]:
        found: dict[str, float] = runs[str(d_model)][str(n_layers)][str(rate)][str(share)]
        return found

    by_size = {
        tflop: [
            (int(found["parameters"]), found["nats"])
            for found in (run(*shape, RATE, share) for shape in SHAPES)
        ]
        for share, tflop in spent.items()
    }
    by_rate = {
        rate: {
            tflop: run(USUAL.d_model, USUAL.n_layers, rate, share)["nats"]
            for share, tflop in spent.items()
        }
        for rate in sorted((RATE, *RATES))
    }
    return by_size, by_rate


def main(path: Path = RESULTS) -> None:
    """Train every size and rate, the smallest share of operations first."""
    corpus = Corpus.load()
    arms = [(*shape, RATE) for shape in SHAPES]
    arms += [(USUAL.d_model, USUAL.n_layers, rate) for rate in RATES]
    measurements.measure(
        path,
        measurements.made_by("cloze.lessons.training.sizes", corpus_sha256=corpus.sha256),
        "runs",
        ((*arm, share) for share in SHARES for arm in arms),
        lambda d_model, n_layers, rate, share: measure(corpus, d_model, n_layers, rate, share),
    )


if __name__ == "__main__":
    main()
