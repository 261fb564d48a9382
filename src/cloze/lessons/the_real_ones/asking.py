"""Everyday sentences with a gap, and what a model of word pieces puts there: ours, or BERT."""

from __future__ import annotations

import os
from typing import Any

from torch import Tensor

from cloze.prediction.answers import Guess, top_k
from cloze.prediction.predictors import Predictor, listed
from cloze.vocabulary import GAP, MASK

ASKED = {
    "I drank [MASK] in the morning.": "coffee tea milk water juice",
    "He opened his [MASK] because it was raining.": "umbrella",
    "My favorite [MASK] is blue.": "color",
    "The scientist studied the [MASK] under a microscope.": "cell cells sample tissue slide",
    "The film was not [MASK].": "good bad funny long",
    "The model was [MASK] on a large corpus.": "trained",
}
"""The sentences that everybody asks, each with the words that a reader would accept."""

EVERYDAY = {
    "She brushed her [MASK] before going to bed.": "teeth hair",
    "The cat chased the [MASK] around the house.": "mouse dog ball bird",
    "We sat by the [MASK] to keep warm.": "fire fireplace stove",
    "He put on his coat and [MASK].": "hat gloves shoes boots left scarf",
    "The [MASK] rises in the east.": "sun",
    "They went to the beach to [MASK] in the sea.": "swim bathe",
    "The baby began to [MASK] because it was hungry.": "cry scream",
    "I read a good [MASK] last night.": "book story novel",
    "The doctor gave her some [MASK] for the pain.": "medicine pills",
    "Birds can [MASK], but dogs cannot.": "fly sing",
    "The capital of France is [MASK].": "paris",
    "He paid the driver and got out of the [MASK].": "car taxi cab carriage coach",
    "The soup is too [MASK] to eat.": "hot cold salty",
    "It was so dark that we could not [MASK] anything.": "see find",
    "The children play in the [MASK] after school.": "garden park yard street playground",
    "Please close the [MASK] when you leave.": "door window gate",
    "In winter the days are [MASK] than in summer.": "shorter colder",
    "The farmer milked the [MASK] every morning.": "cows cow goats goat",
    "She lit a [MASK] because the lamp went out.": "candle match",
    "A week has seven [MASK].": "days",
}
"""More of the same kind, written before any model was asked."""

NAME = "google-bert/bert-base-uncased"
NOT_ASKED = (
    "not asked: this cell would download BERT (about 440 MB);\n"
    "set CLOZE_NETWORK=1 before you start JupyterLab, with transformers installed, to ask it"
)


def answers(predictor: Predictor, sentence: str, k: int = 5) -> list[str]:
    """Return what a model of word pieces finds likeliest in the gap of a sentence."""
    best = top_k(_answer_to(predictor, sentence), k, predictor.symbols.known)
    return [guess.character for guess in best]


def probabilities(predictor: Predictor, sentence: str, *words: str) -> list[float]:
    """Return the probability of each word in the gap of a sentence."""
    answer = _answer_to(predictor, sentence)
    return [answer[predictor.symbols.known.index(word)].item() for word in words]


def _answer_to(predictor: Predictor, sentence: str) -> Tensor:
    line, _ = predictor.symbols.read(sentence, predictor.max_len)
    gap = line.index(GAP)
    return predictor.predict(line, [gap])[gap]


def ask_bert(model: Any = None, tokenizer: Any = None) -> str:
    """Ask BERT what is in the gaps of ``ASKED``, if ``CLOZE_NETWORK=1`` allows the network.

    Args:
        model: a masked language model of ``transformers``; None to fetch BERT.
        tokenizer: the one that belongs to it.

    Returns:
        A line per sentence with the likeliest pieces, or a sentence that says why there is none.
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
    return "\n".join(_answer(model, tokenizer, sentence) for sentence in ASKED)


def _answer(model: Any, tokenizer: Any, sentence: str) -> str:
    import torch

    inputs = tokenizer(sentence.replace(MASK, tokenizer.mask_token), return_tensors="pt")
    [gap] = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    with torch.no_grad():
        best = model(**inputs).logits[0, gap].softmax(-1).topk(5)
    pieces = tokenizer.convert_ids_to_tokens(best.indices.tolist())
    guesses = [Guess(*each) for each in zip(pieces, best.values.tolist(), strict=True)]
    return f"{sentence} → {listed(guesses)}"
