"""Translators for each rung of a shipped model, and the mean of what each of its parts computes.

``python -m measured.inside.lens`` trains, for each model that is looked into, one matrix and one
bias per rung (a tuned lens: what the head would have to read there to give the model's final
answer), averages the outputs of the parts over the selected held-out positions, writes both to
data/checkpoints/inside, and measures what the answers at each rung cost (about ten minutes on an
idle core).

Source: Belrose et al. 2023, Eliciting Latent Predictions from Transformers with the Tuned Lens,
whose loss is the same: the divergence of the final answer from the translated one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm.std import tqdm

from cloze.checkpoint import write
from cloze.corpus import Corpus
from cloze.heads import LINES_AT_ONCE, MaskedLM, symbol_log_probs
from cloze.inside import Key, Parts, anatomy, run
from cloze.lenses import INSIDE, Measurements, fingerprint, logit_lens
from cloze.masking import IGNORE, MaskedBatch, held_out_batch, mask_tokens, seeded
from cloze.prediction.shipped import shipped_model
from cloze.world import World
from measured.shared import ResultsFile

MODELS = ("masked", "world", "left", "right")
"""The checkpoints that are looked into."""
STEPS = 2000
"""How many steps the translators of each of them train for."""
RATE = 2e-3
"""Adam's step size at the beginning; it falls to 0 along a line."""
SELECTED = 0.3
"""The share of positions that translators learn from, in new windows at every step."""
AVERAGED = ("z", "attn_out", "mlp_out")
"""The parts whose means are kept."""

Translators = dict[Key, tuple[Tensor, Tensor]]


def selected_parts(model: MaskedLM, batch: MaskedBatch) -> Iterator[tuple[Parts, Tensor]]:
    """Yield what the parts compute at the selected positions, and the truth there, by batches."""
    for inputs, labels in zip(*(torch.split(part, LINES_AT_ONCE) for part in batch), strict=True):
        here = labels != IGNORE
        if here.any():
            parts = run(model, inputs)
            no_pairs = {key: x for key, x in parts.items() if key[0] != "pattern"}
            yield {key: x[here] for key, x in no_pairs.items()}, labels[here]


def train(model: MaskedLM, source: Corpus | World, steps: int) -> Translators:
    """Train the translators of all rungs below the last, from new training windows."""
    width = model.config.d_model
    rungs = anatomy(model).rungs[:-1]
    made = {rung: (torch.zeros(width, width), torch.zeros(width)) for rung in rungs}
    learned = [tensor.requires_grad_() for pair in made.values() for tensor in pair]
    optimizer = torch.optim.Adam(learned, RATE)
    chance = seeded(0)
    length = source.max_len if isinstance(source, World) else 64
    for step in tqdm(range(steps), "translators"):
        windows = source.sample(64, length, chance)
        batch = mask_tokens(windows, SELECTED, vocabulary=model.vocabulary, generator=chance)
        ((parts, _),) = selected_parts(model, batch)
        final = symbol_log_probs(parts["logits"], model.vocabulary)
        loss = torch.zeros(())
        for rung, pair in made.items():
            states = Measurements({rung: pair}, {}).translate(rung, parts[rung])
            logits = model.head(model.encoder.norm(states))
            answer = symbol_log_probs(logits, model.vocabulary)
            loss = loss + F.kl_div(answer, final, reduction="batchmean", log_target=True)
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - step / steps)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return {rung: (a.detach().half(), b.detach().half()) for rung, (a, b) in made.items()}


@torch.no_grad()
def means_of(model: MaskedLM, batch: MaskedBatch) -> dict[Key, Tensor]:
    """Return the mean of what each part computes over the selected positions."""
    sums: dict[Key, Tensor] = {}
    for parts, _ in selected_parts(model, batch):
        for key, computed in parts.items():
            if key[0] in AVERAGED:
                sums[key] = sums.get(key, 0.0) + computed.double().sum(dim=0)
    n = int(batch.selected.sum())
    return {key: (total / n).half() for key, total in sums.items()}


@torch.no_grad()
def costs(model: MaskedLM, batch: MaskedBatch, translators: Translators) -> dict[str, Any]:
    """Return the mean cost of the truth at each rung: by the head itself, and by translators."""
    means = Measurements({key: (a.float(), b.float()) for key, (a, b) in translators.items()}, {})
    readers: dict[str, Callable[[Key, Tensor], Tensor]] = {
        "head": lambda _, residual: residual,  # as it is
        "translator": means.translate,
    }
    rungs = anatomy(model).rungs
    paid = {name: dict.fromkeys(map(written, rungs), 0.0) for name in readers}
    n = int(batch.selected.sum())
    for parts, truth in selected_parts(model, batch):
        for name, read in readers.items():
            for rung in rungs:
                logits = logit_lens(model, read(rung, parts[rung]))
                answer = symbol_log_probs(logits, model.vocabulary)
                paid[name][written(rung)] += float(F.nll_loss(answer, truth, reduction="sum")) / n
    return {name: {rung: round(x, 4) for rung, x in by.items()} for name, by in paid.items()}


def written(key: Key) -> str:
    """Write the name of a part as one word: "resid_mid.0"."""
    return key if isinstance(key, str) else ".".join(map(str, key))


def main() -> None:
    measurements = ResultsFile(__spec__.name, steps=STEPS, corpus_sha256=Corpus.load().sha256)

    def nats(name: str) -> dict[str, Any]:
        model, source = shipped_model(name), World.load() if name == "world" else Corpus.load()
        batch = held_out_batch(source.held_out_windows(), vocabulary=source.vocabulary)
        translators, means = train(model, source, STEPS), means_of(model, batch)
        tensors = {f"mean.{written(key)}": mean for key, mean in means.items()}
        for rung, (matrix, bias) in translators.items():
            tensors[f"translator.{written(rung)}.weight"] = matrix
            tensors[f"translator.{written(rung)}.bias"] = bias
        provenance = {
            "command": f"python -m {__spec__.name}",
            "torch": torch.__version__,
            "checkpoint": name,
            "steps": STEPS,
        }
        metadata = {"kind": "inside", "model": fingerprint(model), "provenance": provenance}
        write(INSIDE / f"{name}.safetensors", tensors, metadata)
        return costs(model, batch, translators)

    measurements.measure("nats", nats, MODELS)


if __name__ == "__main__":
    main()
