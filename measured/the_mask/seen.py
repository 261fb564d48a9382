"""What a model believes about the characters it sees, and what 80/10/10 has to do with it.

``python -m measured.the_mask.seen`` trains a minute's recipe three times, with 80/10/10, 100/0/0
and 80/0/20 (three minutes on an idle core).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import MaskedLM, log_probs_at
from cloze.lessons.the_mask.proofreading import TYPO, proofread
from cloze.masking import MaskedBatch, held_out_batch, mask_tokens
from cloze.objectives import masked
from cloze.training import EVEN
from cloze.vocabulary import VOCABULARY
from measured.shared import ResultsFile, trained

SHARES = {"80/10/10": (0.8, 0.1), "100/0/0": (1.0, 0.0), "80/0/20": (0.8, 0.0)}
"""By name, the shares of selected characters that become ``[MASK]`` and a random one."""


def beliefs(model: MaskedLM, originals: Tensor, batch: MaskedBatch) -> dict[str, float]:
    """Return the mean probability of the original character at selected positions.

    Args:
        model: any model.
        originals: the ids before masking, shape ``(windows, length)``.
        batch: the same, masked.

    Returns:
        By what the model sees there: "[MASK]", "random" and "kept".
    """
    of_original = torch.full(originals.shape, torch.nan)
    log_probs = log_probs_at(model, batch.inputs, batch.selected)
    of_original[batch.selected] = log_probs.gather(1, originals[batch.selected][:, None])[
        :, 0
    ].exp()
    hidden, same = batch.inputs == VOCABULARY.mask_id, batch.inputs == originals
    seen = {"[MASK]": hidden, "random": ~hidden & ~same, "kept": same}
    return {name: of_original[batch.selected & where].mean().item() for name, where in seen.items()}


def main() -> None:
    corpus = Corpus.load()
    windows = corpus.held_out_windows()

    def measured(name: str) -> dict[str, Any]:
        model = trained(corpus, EVEN, masked(name, mask_tokens, *SHARES[name])).model
        return {
            "beliefs": beliefs(model, windows, held_out_batch(windows)),
            "proofread": proofread(model, TYPO),
        }

    ResultsFile(__spec__.name, steps=EVEN.steps, seed=EVEN.seed).measure("models", measured, SHARES)


if __name__ == "__main__":
    main()
