"""Reading: lines of characters or words as a learner types them, with ``_`` for a gap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cloze.vocabulary import (
    ALPHABET,
    GAP,
    MASK,
    VOCABULARY,
    TextError,
    Vocabulary,
    counted,
    normalise,
)

if TYPE_CHECKING:
    from torch import Tensor


def with_gaps(text: str) -> str:
    """Write ``[MASK]`` and ``<mask>`` as the gaps that they stand for."""
    return re.sub(r"\[mask\]|<mask>", GAP, text, flags=re.IGNORECASE)


def read_line(line: str, max_len: int = 64, *, gaps: bool = True) -> tuple[Tensor, str]:
    """Read a line as a learner types it: ``_``, ``[MASK]`` or ``<mask>`` marks a gap.

    Args:
        line: what was typed.
        max_len: the most characters.
        gaps: whether an empty line is answered with how to type a gap.

    Returns:
        The ids, shape ``(length,)``, and a sentence on what normalising changed ("" if nothing).

    Raises:
        TextError: nothing usable is left, or more than ``max_len`` characters.
    """
    typed = with_gaps(line)
    clean = normalise(typed, keep=GAP)
    if not clean.text:
        reason = f": {_unknown(typed)} are not among the {len(ALPHABET)} characters"
        why = reason if clean.dropped else ""
        hint = ", and _ for every gap" if gaps else ""
        raise TextError(f"The line is empty{why}; type some letters{hint}.")
    if len(clean.text) > max_len:
        raise TextError(
            f"The line has {len(clean.text)} characters and the model reads {max_len}; shorten it."
        )
    notes = []
    if clean.folded:
        notes.append(f"{counted(clean.folded, 'accent')} folded")
    if clean.dropped:
        notes.append(f"{counted(clean.dropped, 'character')} dropped")
    return VOCABULARY.encode(clean.text.replace(GAP, MASK)), ", ".join(notes)


def read_words(line: str, vocabulary: Vocabulary, most: int) -> tuple[str, ...]:
    """Read a line of words as a learner types it: ``_`` or ``[MASK]`` marks a gap.

    Signs are read if the vocabulary has them, and are passed over otherwise.

    Raises:
        TextError: it is empty, a word is unknown, or there are more than ``most``.
    """
    typed = with_gaps(line).lower()
    signs = sorted((w for w in vocabulary.ordinary if not re.search(r"\w", w)), key=len)
    words = tuple(re.findall("|".join([r"[^\W_]+", GAP, *map(re.escape, signs[::-1])]), typed))
    if not words:
        raise TextError("The line is empty; type some words of this world, and _ for every gap.")
    for word in words:
        if word != GAP and word not in vocabulary.ordinary:
            raise TextError(
                f"{word!r:.60} is not among the {vocabulary.n_ordinary} words of this "
                f"world{vocabulary.advice(word)}."
            )
    if len(words) > most:
        raise TextError(
            f"The line has {counted(len(words), 'word')}, and no sentence of this world has more "
            f"than {most}; shorten it."
        )
    return words


def _unknown(text: str) -> str:
    """Say what kinds of characters of a text, none of which is usable, are in it."""
    kinds = {
        "digits": any(c.isdecimal() for c in text),
        "letters of other scripts": any(c.isalpha() for c in text),
        "signs": any(not c.isalnum() and not c.isspace() for c in text),
    }
    return " and ".join(kind for kind, occurs in kinds.items() if occurs) or "such characters"
