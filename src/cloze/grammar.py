"""The grammar of a small world: a text of scenes and choices, and every sentence that it writes.

``data/world.toml`` is one. A scene is a sentence with slots, a choice is what may stand in a slot.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Any

from cloze.arguments import FilePath, shown
from cloze.corpus import read_text
from cloze.vocabulary import TextError

MOST_SENTENCES = 50_000
"""A question weighs every sentence; more would take seconds each and gigabytes."""
MOST_WORDS = 64
"""The longest sentence."""


def read_grammar(path: FilePath) -> dict[str, Any]:
    """Return what a text in TOML describes.

    Raises:
        TextError: there is no such file, or it is not TOML.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, too long a number, too deep
        raise TextError(f"{path} cannot be read as TOML: {error}.") from None


def enumerated(described: Mapping[str, Any]) -> dict[str, float]:
    """Return every sentence of a grammar with its probability.

    Args:
        described: what ``data/world.toml`` holds: ``choice``, what may stand in each slot, and
            ``scene``, a list of a ``share`` and a ``sentence`` each. What else there is, such as
            the ``roles`` of its words, is for others to read.

    Raises:
        TextError: a scene yields nothing, probabilities do not sum to 1, a slot is unknown, or
            there are too many sentences.
    """
    try:
        scenes = [(str(scene["sentence"]), scene["share"]) for scene in described["scene"]]
        _sum_to_one("The shares of the scenes", [share for _, share in scenes])
        items = {name: _items(name, choice) for name, choice in described.get("choice", {}).items()}
    except (KeyError, TypeError, AttributeError):
        raise TextError(
            "A world has at least one [[scene]] with a share and a sentence, and a table [choice] "
            "of what may stand in the slots: lists of texts, or texts with their probabilities."
        ) from None
    sentences: dict[str, float] = {}
    total = 0
    for pattern, share in scenes:
        used = _slots(pattern, items)
        total += math.prod(len(items[name]) for name in used)
        if total > MOST_SENTENCES:
            raise TextError(
                f"The scenes up to {shown(pattern)} make {total:,} sentences, and at most "
                f"{MOST_SENTENCES:,} can be enumerated; give it fewer slots or shorter lists."
            )
        for sentence, p in _sentences(pattern, {name: items[name] for name in used}):
            sentences[sentence] = sentences.get(sentence, 0.0) + share * p
    return sentences


Items = list[tuple[list[str], float]]
"""The items of a choice: their parts and their probability."""
_SLOT = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"[^\W_]+|[^\w\s]+")


def _items(name: str, choice: Any) -> Items:
    if not choice:
        raise TextError(f"Nothing may stand in {{{name}}}: give it a list, or a table, with items.")
    if isinstance(choice, list):
        weighed = [(item, 1 / len(choice)) for item in choice]
    else:
        weighed = list(choice.items())
        _sum_to_one(f"The probabilities of {name}", choice.values())
    items = [([part.strip() for part in item.split("|")], float(p)) for item, p in weighed]
    if len({len(parts) for parts, _ in items}) > 1:
        raise TextError(f"All items of {name} have the same number of parts, set apart by |.")
    return items


def _slots(pattern: str, items: Mapping[str, Items]) -> list[str]:
    """Return the choices that a pattern names, each once."""
    used: dict[str, None] = {}
    for slot in _SLOT.findall(pattern):
        name, _, part = slot.partition(".")
        parts = len(items[name][0][0]) if name in items else 0
        if (part or "1") not in map(str, range(1, parts + 1)) or (parts > 1 and not part):
            raise TextError(
                f"{{{slot}}} in the scene {shown(pattern)} names no choice; there are "
                f"{', '.join(items) or 'none'}, and {{name.1}} is the first part of several."
            )
        used[name] = None
    return [*used]


def _sentences(pattern: str, items: Mapping[str, Items]) -> Iterator[tuple[str, float]]:
    """Yield each sentence that a pattern stands for, and its probability."""
    for chosen in product(*items.values()):
        parts = {name: part for name, (part, _) in zip(items, chosen, strict=True)}

        def filled(slot: re.Match[str], parts: Mapping[str, list[str]] = parts) -> str:
            name, _, part = slot[1].partition(".")
            return parts[name][int(part or 1) - 1]

        yield " ".join(_SLOT.sub(filled, pattern).split()), math.prod(p for _, p in chosen)


def _sum_to_one(what: str, probabilities: Collection[float]) -> None:
    if not all(0 <= p <= 1 + 1e-6 for p in probabilities):
        raise TextError(f"{what} are numbers from 0 to 1; change those that are not.")
    total = math.fsum(probabilities)
    if abs(total - 1) > 1e-6:
        raise TextError(f"{what} sum to {total:.6g}, not to 1; change some of them.")


def as_words(sentences: Mapping[str, float]) -> dict[tuple[str, ...], float]:
    """Return sentences as words; those of probability 0 are left out."""
    _sum_to_one("The probabilities of the sentences", sentences.values())
    words: dict[tuple[str, ...], float] = {}
    for sentence, p in sentences.items():
        parts = tuple(sentence.split())
        if not 1 <= len(parts) <= MOST_WORDS or not all(map(_WORD.fullmatch, parts)):
            raise TextError(
                f"A sentence has 1 to {MOST_WORDS} words of letters, or signs that stand alone, "
                f"which {shown(sentence)} has not."
            )
        if p > 0:
            words[parts] = words.get(parts, 0.0) + p
    return words
