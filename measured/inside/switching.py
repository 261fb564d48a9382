"""What each head is worth: the held-out loss without it, without every two, and its weights.

``python -m measured.inside.switching`` switches off, one after the other, every head and every
feed-forward part of the shipped encoder, and every two heads, on all held-out windows with the
fixed masks of the series, and measures how much more the truth then costs (about ten minutes on an
idle core). A part that is off gives its mean over the selected positions. The
differences are paired: the same positions are asked about with the part and without it.

It also asks how well attention weights foretell such effects: from a gap to each other position,
and from head to head.

Source: Michel et al. 2019, Are Sixteen Heads Really Better than One (heads switched off one by
one); Jain and Wallace 2019, Attention is not Explanation (weights beside the effect of hiding).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corpus import Corpus
from cloze.heads import LINES_AT_ONCE, MaskedLM, symbol_log_probs
from cloze.inside import Change, changed, run
from cloze.lenses import Measurements, measurements_of, moved, off
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


def weights_and_hiding(model: MaskedLM, windows: Tensor) -> dict[str, float]:
    """Compare, from one gap in each window, what is told about each other position.

    Returns:
        The mean rank correlation with the size of the effect of hiding the position: of attention
        weights (the mean over all heads), of weights times values (the sum over all heads), and,
        for comparison, of nearness to the gap, which nobody has to look inside for.
    """
    gap = windows.shape[1] // 2
    others = [i for i in range(windows.shape[1]) if i != gap]
    told: dict[str, list[float]] = {"weights": [], "weights times values": [], "nearness": []}
    near = -torch.tensor([abs(i - gap) for i in others])
    for line in windows:
        hidden = occlusion(model, line, [gap], gap).abs()[others]
        masked = line.clone()
        masked[gap] = model.vocabulary.mask_id
        parts = run(model, masked[None])
        layers = range(model.config.n_layers)
        weights = torch.stack([parts["pattern", n][0, :, gap] for n in layers]).mean(dim=(0, 1))
        moves = torch.stack([moved(parts, model, n, gap)[0] for n in layers]).sum(dim=(0, 1))
        told["weights"].append(rank_correlation(weights[others], hidden))
        told["weights times values"].append(rank_correlation(moves[others], hidden))
        told["nearness"].append(rank_correlation(near, hidden))
    return {name: round(sum(values) / len(values), 3) for name, values in told.items()}


def sizes(model: MaskedLM, batch: MaskedBatch, means: Measurements) -> dict[str, dict[str, float]]:
    """Return of each head how sharply it looks at selected positions, and how much it moves there.

    The first is its largest weight, the second the length of what it adds beyond its mean.
    """
    chosen = batch.selected[: 4 * LINES_AT_ONCE]
    parts = run(model, batch.inputs[: 4 * LINES_AT_ONCE])
    found: dict[str, dict[str, float]] = {"sharpest": {}, "moves": {}}
    for name, (n, h) in heads_of(model).items():
        sharp = parts["pattern", n][:, h].amax(dim=-1)[chosen].mean()
        width = model.config.d_head
        matrix = model.encoder.layers[n].attention.output.weight  # type: ignore[union-attr]
        mean = means.means["z", n][h] @ matrix.T[h * width : (h + 1) * width]  # type: ignore[index]
        added = parts["result", n][:, :, h][chosen] - mean
        found["sharpest"][name] = round(float(sharp), 4)
        found["moves"][name] = round(float(added.norm(dim=-1).mean()), 4)
    return found


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

    def told(what: str) -> dict[str, Any]:
        if what == "heads":
            return sizes(model, batch, means)
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
    measurements.measure("told", told, ["positions", "heads"])


if __name__ == "__main__":
    main()
