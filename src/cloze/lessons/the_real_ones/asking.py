"""A real BERT, asked the questions of the series: the only thing here that needs a network."""

from __future__ import annotations

import os
from typing import Any

NAME = "google-bert/bert-base-uncased"
QUESTIONS = (
    ("un", "[MASK]", "##able"),
    ("the", "cat", "sat", "on", "the", "[MASK]", "."),
    ("my", "favorite", "[MASK]", "is", "blue", "."),
    ("the", "model", "was", "[MASK]", "on", "a", "large", "corpus", "."),
    ("the", "clerk", "locked", "the", "[MASK]", "after", "midnight", "."),
    ("the", "fisher", "sat", "on", "the", "[MASK]", "and", "watched", "the", "river", "."),
    ("i", "took", "my", "[MASK]", "because", "it", "was", "raining", "."),
)
"""Word pieces with one gap each; what begins with ``##`` goes on with the word before."""
TOP = 5
NOT_ASKED = (
    "not asked: this cell would download BERT (about 440 MB);\n"
    "set CLOZE_NETWORK=1 before you start JupyterLab, with transformers installed, to ask it"
)


def ask_bert(model: Any = None, tokenizer: Any = None) -> str:
    """Ask BERT for each gap of ``QUESTIONS``, if the network is allowed with ``CLOZE_NETWORK=1``.

    Args:
        model: a masked language model of ``transformers``; None to fetch BERT.
        tokenizer: the one that belongs to it.

    Returns:
        A line per question with the likeliest pieces, or a sentence that says why there is none.
    """
    if model is None:
        if os.environ.get("CLOZE_NETWORK") != "1":
            return NOT_ASKED
        try:
            from transformers import AutoModelForMaskedLM, AutoTokenizer

            model = AutoModelForMaskedLM.from_pretrained(NAME)
            tokenizer = AutoTokenizer.from_pretrained(NAME)
        except ImportError:
            return "not asked: transformers is missing; install it with `pip install transformers`"
        except OSError as error:
            return f"not asked: BERT could not be fetched ({str(error).splitlines()[0]:.150})"
    return "\n".join(_answer(model, tokenizer, question) for question in QUESTIONS)


def _answer(model: Any, tokenizer: Any, question: tuple[str, ...]) -> str:
    import torch

    ids = tokenizer.convert_tokens_to_ids(["[CLS]", *question, "[SEP]"])
    gap = 1 + question.index("[MASK]")
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, gap]
    best = logits.softmax(-1).topk(TOP)
    pieces = tokenizer.convert_ids_to_tokens(best.indices.tolist())
    said = ", ".join(
        f"{piece} {p:.2f}" for piece, p in zip(pieces, best.values.tolist(), strict=True)
    )
    return f"{' '.join(question)} → {said}"
