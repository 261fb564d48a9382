"""Four collators for the trial of notebook 15: each takes examples and draws a batch.

All of them draw with ``DataCollatorForLanguageModeling`` of ``transformers``. One is that collator
as it is and one is what its ``whole_word_mask`` does with our tokenizer; two are planted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

Batch = Mapping[str, Tensor]
Collator = Callable[[Sequence[Mapping[str, Any]]], Batch]

CRIMES = ("sound", "all or nothing", "frozen", "asks for the frame")
"""What may be found; one of the four is sound."""


def suspects(tokenizer: Any) -> dict[str, Collator]:
    """Return the four collators by their letters."""
    from transformers import DataCollatorForLanguageModeling

    with warnings.catch_warnings():  # that whole words are never swapped
        warnings.simplefilter("ignore")
        words = DataCollatorForLanguageModeling(tokenizer, whole_word_mask=True)
    pieces = DataCollatorForLanguageModeling(tokenizer)

    def whole_words(examples: Sequence[Mapping[str, Any]]) -> Batch:
        return words([dict(example) for example in examples])

    def plain(examples: Sequence[Mapping[str, Any]]) -> Batch:
        return pieces([_without_offsets(example) for example in examples])

    def once(examples: Sequence[Mapping[str, Any]]) -> Batch:
        with torch.random.fork_rng(devices=[]):  # as if the text had been masked beforehand
            torch.manual_seed(0)
            return plain(examples)

    def everywhere(examples: Sequence[Mapping[str, Any]]) -> Batch:
        open_to_all = [
            _without_offsets(example)
            | {"special_tokens_mask": [0] * len(example["special_tokens_mask"])}
            for example in examples
        ]
        return pieces(open_to_all)

    return {"A": whole_words, "B": once, "C": plain, "D": everywhere}


def _without_offsets(example: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in example.items() if name != "offset_mapping"}
