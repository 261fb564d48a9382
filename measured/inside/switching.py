"""What each head is worth: the held-out loss without it, without every two, and its weights.

``python -m measured.inside.switching`` switches off, one after the other, every head and every
feed-forward part of the shipped encoder, and every two heads, on all held-out windows with the
fixed masks of the series, and measures how much more the truth then costs (about ten minutes on an
idle core). A part that is off gives its mean over the selected positions. The
differences are paired: the same positions are asked about with the part and without it.

It also asks how well attention weights foretell the effect of hiding a character, beside rulers
that need no look inside.

Source: Michel et al. 2019, Are Sixteen Heads Really Better than One (heads switched off one by
one); Jain and Wallace 2019, Attention is not Explanation (weights beside the effect of hiding).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corpus import Corpus
from cloze.heads import LINES_AT_ONCE, MaskedLM, symbol_log_probs
from cloze.inside import Change, changed, run
from cloze.lenses import measurements_of, moved, off
from cloze.lessons.inside.results import rank_correlation
from cloze.masking import IGNORE, MaskedBatch, held_out_batch
from cloze.prediction.answers import occlusion
from cloze.prediction.shipped import shipped_model
from measured.shared import ResultsFile

WINDOWS = 1195
GAPS = 100
"""In how many held-out windows weights are compared with the effect of hiding a character."""

Head = tuple[int, int]
"""Layer and head, from 0."""


def heads_of(model: MaskedLM) -> dict[str, Head]:
    """Return all heads of a model by their names in the notebook: layer and head from 1."""
    layers, heads = range(model.config.n_layers), range(model.config.n_heads)
    return {f"{n + 1}.{h + 1}": (n, h) for n in layers for h in heads}


def costs(model: MaskedLM, batch: MaskedBatch, *changes: Change) -> Tensor:
    """Return −log P of the truth at each selected position, ``(|M|,)``, with parts changed."""
    found = []
    batches = (torch.split(part, LINES_AT_ONCE) for part in batch)
    with torch.no_grad(), changed(model, *changes):
        for inputs, labels in zip(*batches, strict=True):
            selected = labels != IGNORE
            log_probs = symbol_log_probs(model(inputs)[selected], model.vocabulary)
            found.append(F.nll_loss(log_probs, labels[selected], reduction="none"))
    return torch.cat(found)


def effect(before: Tensor, after: Tensor, window: Tensor) -> dict[str, float]:
    """Return the mean difference of costs, and its standard error over windows.

    Args:
        before: costs of the selected positions, ``(|M|,)``.
        after: the same with a part switched off.
        window: the number of the window that each position is in.
    """
    difference = (after - before).double()
    n = int(window.max()) + 1
    sums = torch.zeros(n, dtype=torch.float64).index_add(0, window, difference)
    counts = torch.zeros(n, dtype=torch.float64).index_add(0, window, torch.ones_like(difference))
    mean = difference.mean()
    error = ((sums - mean * counts).square().sum()).sqrt() / len(difference)
    return {"nats": round(float(mean), 4), "error": round(float(error), 4)}


def weights_and_hiding(model: MaskedLM, windows: Tensor) -> dict[str, Any]:
    """Ask of one gap in each window what tells how much hiding each other position changes there.

    Returns:
        By name a mean over windows and its standard error. First the rank correlation with the
        effect of hiding: of attention weights (the mean over all heads), of weights times values
        (the sum over all heads), of nearness to the gap, and of the mean effect at each place in
        the other windows. Then, of these rulers, how far the weights are ahead, and the partial
        correlation of the weights given the ruler. "same distance" is, by the distance, in how many
        windows the side that gets more weight is the one whose hiding has more effect.
    """
    gap = windows.shape[1] // 2
    others = [i for i in range(windows.shape[1]) if i != gap]
    rows = defaultdict(list)
    for line in windows:
        rows["effect"].append(occlusion(model, line, [gap], gap).abs()[others])
        masked = line.clone()
        masked[gap] = model.vocabulary.mask_id
        parts = run(model, masked[None])
        layers = range(model.config.n_layers)
        weights = torch.stack([parts["pattern", n][0, :, gap] for n in layers]).mean(dim=(0, 1))
        moves = torch.stack([moved(parts, model, n, gap)[0] for n in layers]).sum(dim=(0, 1))
        rows["weights"].append(weights[others])
        rows["weights times values"].append(moves[others])
    told = {name: torch.stack(values) for name, values in rows.items()}  # (windows, others)
    effect, weights = told.pop("effect"), told["weights"]
    told["nearness"] = -torch.tensor([abs(i - gap) for i in others]).expand_as(effect)
    told["effect elsewhere"] = effect.sum(dim=0) - effect

    def correlation(a: Tensor, b: Tensor) -> Tensor:
        return torch.tensor([rank_correlation(*pair) for pair in zip(a, b, strict=True)])

    found = {name: correlation(values, effect) for name, values in told.items()}
    for ruler in ("nearness", "effect elsewhere"):
        told_by, alike = found[ruler], correlation(weights, told[ruler])
        found[f"weights beyond {ruler}"] = found["weights"] - told_by
        scale = ((1 - told_by**2) * (1 - alike**2)).sqrt()
        found[f"weights given {ruler}"] = (found["weights"] - told_by * alike) / scale
    more = [x[:, :gap].flip(1)[:, : gap - 1] > x[:, gap:] for x in (weights, effect)]
    return {
        **{
            name: [round(float(x.mean()), 3), round(float(x.std()) / len(x) ** 0.5, 3)]
            for name, x in found.items()
        },
        "same distance": (more[0] == more[1]).sum(dim=0).tolist(),
    }


def main() -> None:
    model, corpus = shipped_model(), Corpus.load()
    means = measurements_of(model)
    assert means is not None
    batch = MaskedBatch(*(part[:WINDOWS] for part in held_out_batch(corpus.held_out_windows())))
    before = costs(model, batch)
    window = batch.selected.nonzero()[:, 0]
    heads = heads_of(model)

    def effect_of(*changes: Change) -> dict[str, float]:
        return effect(before, costs(model, batch, *changes), window)

    def without(*names: str) -> dict[str, float]:
        chosen = [heads[name] for name in names]
        return effect_of(*(off("z", n, means.means, head=h) for n, h in chosen))

    def zeroed(name: str) -> dict[str, float]:
        layer, head = heads[name]
        return effect_of(off("z", layer, None, head=head))

    def without_feed_forward(layer: int) -> dict[str, float]:
        return effect_of(off("mlp_out", layer - 1, means.means))

    def told() -> dict[str, Any]:
        return weights_and_hiding(model, corpus.held_out_windows()[:: 1195 // GAPS][:GAPS])

    measurements = ResultsFile(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        windows=WINDOWS,
        positions=len(before),
        gaps=GAPS,
    )
    measurements.measure("one", without, heads)
    measurements.measure("zero", zeroed, heads)
    measurements.measure("feed-forward", without_feed_forward, (1, 2))
    names = [*heads]
    for i, name in enumerate(names):
        measurements.measure("two", without, [name], names[i + 1 :])
    measurements.measure("told", told)


if __name__ == "__main__":
    main()
