"""What the parts of the encoder buy: the second layer, and the feed-forward networks.

``python -m cloze.lessons.training.parts`` trains the series' encoder without one of them, with the
usual recipe and three seeds each, and writes the held-out losses to parts.json (20 minutes on an
idle core). An encoder that lacks a part also has fewer parameters, so each is trained once more
with as many as the whole one: one layer that is wider, or more layers of attention alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import torch
from torch import Tensor, nn

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import Repeated, held_out_loss
from cloze.heads import MaskedLM
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)


class Nothing(nn.Module):
    """In the place of a feed-forward network: it adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        """Return zeros of the same shape, ``(…, d_model)``."""
        return torch.zeros_like(x)


def attention_only(n_layers: int) -> MaskedLM:
    """Make a model of so many layers without feed-forward networks."""
    model = MaskedLM(EncoderConfig(n_layers=n_layers))
    for layer in model.encoder.layers:
        layer.feed_forward = Nothing()
    return model


ARMS: dict[str, Callable[[], MaskedLM]] = {
    "the series' encoder": MaskedLM,
    "one layer": partial(MaskedLM, EncoderConfig(n_layers=1)),
    "one wider layer": partial(MaskedLM, EncoderConfig(n_layers=1, d_ff=768)),
    "two layers, attention only": partial(attention_only, 2),
    "four layers, attention only": partial(attention_only, 4),
}
"""By name, what makes a model."""


def results() -> dict[str, tuple[int, Repeated]]:
    """Return the number of parameters and the held-out loss in nats, by name, over the seeds."""
    return {
        name: (by_seed["0"]["parameters"], Repeated.of(run["nats"] for run in by_seed.values()))
        for name, by_seed in measurements.read(RESULTS)["runs"].items()
    }


def measure(corpus: Corpus, name: str, seed: int) -> dict[str, float]:
    """Train once, and return the number of parameters and the held-out loss."""
    torch.manual_seed(seed)
    run = TrainingRun(ARMS[name](), corpus, Recipe(seed=seed, evaluations=0))
    for _ in fit(run, progress=False):
        pass
    parameters = sum(p.numel() for p in run.model.parameters())
    return {"parameters": parameters, "nats": held_out_loss(run.model.eval(), run.held_out)}


def main(path: Path = RESULTS) -> None:
    """Train every model that the file does not hold yet."""
    corpus = Corpus.load()
    measurements.measure(
        path,
        measurements.made_by(__spec__.name, corpus_sha256=corpus.sha256),
        "runs",
        product(ARMS, SEEDS),
        partial(measure, corpus),
    )


if __name__ == "__main__":
    main()
