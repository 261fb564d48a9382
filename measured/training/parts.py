"""What the parts of the encoder are worth: the second layer, and the feed-forward networks.

``python -m measured.training.parts`` trains the series' encoder without one of them (20 minutes on
an idle core). An encoder that lacks a part also has fewer parameters, so each is trained once more
with as many as the whole one: one layer that is wider, or more layers of attention alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.training import Recipe
from measured.shared import SEEDS, ResultsFile, trained


class Nothing(nn.Module):
    """Takes the place of a feed-forward network and adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def attention_only(n_layers: int) -> MaskedLM:
    """Make a model without feed-forward networks."""
    model = MaskedLM(EncoderConfig(n_layers=n_layers))
    for layer in model.encoder.layers:
        layer.feed_forward = Nothing()
    return model


MODELS: dict[str, Callable[[], MaskedLM]] = {
    "the series' encoder": MaskedLM,
    "one layer": partial(MaskedLM, EncoderConfig(n_layers=1)),
    "one wider layer": partial(MaskedLM, EncoderConfig(n_layers=1, d_ff=768)),
    "two layers, attention only": partial(attention_only, 2),
    "four layers, attention only": partial(attention_only, 4),
}


def main() -> None:
    corpus = Corpus.load()

    def size_and_loss(name: str, seed: int) -> dict[str, float]:
        run = trained(corpus, Recipe(seed=seed), make=MODELS[name])
        parameters = sum(p.numel() for p in run.model.parameters())
        return {"parameters": parameters, "nats": held_out_loss(run.model, run.held_out)}

    measurements = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256)
    measurements.measure("runs", size_and_loss, MODELS, SEEDS)


if __name__ == "__main__":
    main()
