"""What the default recipe reaches, and what each of its choices is worth.

``python -m benchmarks.recipe`` trains the default for a 60-second and a 20-second schedule, then
each variant for the 20-second schedule's number of steps, one thread each, one after the other.
About five minutes on an idle core; interrupt it at any time and keep what it has printed.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import torch

from benchmarks.machine import machine
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.training import EVEN, Recipe, TrainingRun, fit

MINUTE = Recipe().steps
"""Steps of the default recipe: about 60 s on one idle core of the machine it was chosen on."""
TWENTY_SECONDS = round(MINUTE / 3)

CONFIG = EncoderConfig()
VARIANTS: dict[str, tuple[EncoderConfig, Recipe]] = {
    "default": (CONFIG, Recipe()),
    "ordinary heads": (replace(CONFIG, neighbour_focus=0.0), Recipe()),
    "4 heads": (replace(CONFIG, n_heads=4), Recipe()),
    "mask_prob 0.15": (CONFIG, Recipe(mask_prob=0.15)),
    "mask_prob 0.4": (CONFIG, Recipe(mask_prob=0.4)),
    "one rate for all matrices": (CONFIG, EVEN),
    "queries and keys at 0.03": (CONFIG, Recipe(query_key_learning_rate=3e-2)),
    "ordinary heads, at 0.03": (
        replace(CONFIG, neighbour_focus=0.0),
        Recipe(query_key_learning_rate=3e-2),
    ),
    "half the Muon rates": (
        CONFIG,
        Recipe(matrix_learning_rate=1.5e-2, query_key_learning_rate=3.75e-3),
    ),
    "half the AdamW rate": (CONFIG, Recipe(learning_rate=5e-3)),
    "no warm-up": (CONFIG, Recipe(warmup=0.0)),
}


def measure(corpus: Corpus, config: EncoderConfig, recipe: Recipe) -> tuple[float, float]:
    """Train once; return seconds of training and held-out loss in nats."""
    torch.manual_seed(recipe.seed)
    run = TrainingRun(MaskedLM(config), corpus, replace(recipe, evaluations=1))
    *_, last = fit(run)
    assert last.held_out is not None
    return last.seconds, last.held_out


def main(arguments: list[str] | None = None) -> None:
    """Print one line per training."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipe", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few steps of each, for the tests")
    parser.add_argument("--only", choices=VARIANTS, help="this variant alone")
    options = parser.parse_args(arguments)
    short, long = (2, 4) if options.quick else (TWENTY_SECONDS, MINUTE)
    names = [options.only] if options.only else list(VARIANTS)
    plan = [(name, short) for name in names]
    if not options.only:
        plan.insert(0, ("default", long))
    corpus = Corpus.load()
    print(machine())
    print(f"{'variant':<26} {'steps':>6} {'seconds':>8} {'characters/s':>13} {'held-out nats':>14}")
    try:
        for name, steps in plan:
            config, recipe = VARIANTS[name]
            seconds, nats = measure(corpus, config, replace(recipe, steps=steps))
            speed = steps * recipe.batch_size * recipe.length / seconds
            print(
                f"{name:<26} {steps:>6} {seconds:>8.1f} {speed:>13,.0f} {nats:>14.3f}", flush=True
            )
    except KeyboardInterrupt:
        print("stopped; the lines above are complete")


if __name__ == "__main__":
    main()
