"""What a model believes about the characters of a line that it sees whole."""

from __future__ import annotations

from cloze.heads import MaskedLM
from cloze.prediction.answers import distribution
from cloze.vocabulary import VOCABULARY

TYPO = "he opened the winvow and looked out"


def proofread(model: MaskedLM, line: str) -> list[float]:
    """Return the probability that a model gives to each character of a line that it sees whole."""
    ids = VOCABULARY.encode(line)
    believed: list[float] = distribution(model, ids).gather(1, ids[:, None]).squeeze(1).tolist()
    return believed
