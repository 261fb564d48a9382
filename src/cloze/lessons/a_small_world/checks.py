"""The exercises of notebook 06."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import torch

from cloze.encoder import DIRECTIONS
from cloze.lessons.a_small_world import senses
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from cloze.tasks.vectors import cosine
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, alike, number, wrong_kind
from cloze.teaching.texts import two_texts, world
from cloze.tokenizer import plain_words
from cloze.world import GAPS_ONLY, World

# ── 6.1 ──────────────────────────────────────────────────────────────────────────────────────────

Sentences = Mapping[str, float]


def fillings(world: Sentences, line: str) -> dict[str, float]:
    """Return P(word in the first gap | the rest of the line), by word."""
    typed = line.split()
    at = typed.index("_")
    shares: dict[str, float] = {}
    for sentence, p in world.items():
        words = sentence.split()
        if len(words) == len(typed) and all(
            t in ("_", w) for w, t in zip(words, typed, strict=True)
        ):
            shares[words[at]] = shares.get(words[at], 0) + p
    total = sum(shares.values())
    return {word: share / total for word, share in shares.items()}


def distribution(value: Any) -> dict[str, float]:
    """Read probabilities by word; a word of probability 0 may be left out."""
    if isinstance(value, str):
        raise Symptom(
            "That is a single word. Return the probability of every word that may be in the gap: "
            "{word: probability, …}."
        )
    if not isinstance(value, Mapping):
        raise wrong_kind(value, "a dictionary of probabilities by word")
    if any(" " in str(word) for word in value):
        raise Symptom(
            "The keys of your dictionary are sentences, or several words of one. A gap holds "
            "exactly one word, so compare word by word, and add up the sentences that have the "
            "same one there."
        )
    shares = {word: number(p) for word, p in value.items() if number(p)}
    if not shares:
        raise Symptom(
            "You find no sentence that fits. Does something that was found in one sentence spoil "
            "the next, or do you compare a word with another place than its own?"
        )
    if not alike(total := sum(shares.values()), 1.0):
        raise Symptom(
            f"Your probabilities sum to {total:.3g}, not to 1: divide each by the sum over all the "
            "sentences that fit."
        )
    return shares


def worlds(chance: Chance) -> Probes:
    """Make small worlds in which words repeat, lengths differ and both sides matter."""
    first = {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25}
    yield from ((first, line) for line in ("the _ sleeps", "the dog _", "the _ _"))
    # The order of the words counts, and how many stand between two of them.
    bites = {"dog bites man": 0.3, "man bites dog": 0.2, "dog often bites man": 0.5}
    yield from ((bites, line) for line in ("dog bites _", "dog _ man", "_ bites _"))
    yield {"yes": 0.25, "no": 0.25, "oh no": 0.5, "nobody": 0.0}, "_"
    for _ in range(3):
        sentences = [
            f"{a} {b} {c}{end}"
            for a in ("anna", "tom")
            for b in ("likes", "hates", "takes")
            for c in ("tea", "soup")
            for end in ("", " now", " today")
        ]
        shares = [chance.uniform(0.1, 1) for _ in sentences]
        shuffled = chance.sample(sentences, len(sentences))
        world = {s: p / sum(shares) for s, p in zip(shuffled, shares, strict=True)}
        lines = ("anna _ tea now", "_ likes _", "anna hates soup _", "tom _ tea _")
        yield from ((world, line) for line in lines)


check_fillings = Exercise(
    solution=fillings,
    minutes=10,
    wants=distribution,
    probes=worlds,
    solved="That is Bayes' rule: weigh each sentence by how often it is said times how likely it "
    "then looks like this (here 1 or 0: it fits or not), and scale to 1.",
    direction="Keep the sentences that fit, add up by the word in the gap, and scale to 1.",
)
"""Mark ``fillings(world, line)``: probabilities by word for the first gap ``_`` of a line."""

# ── 6.2 ──────────────────────────────────────────────────────────────────────────────────────────

PLACES = ("first", "middle", "last")
MOST = 6
NOT_SETTLED = "Two sentences that differ in a single word leave that word open to every reader."
OPEN = {
    ("first", "left"): "There is nothing to the left of the first word, so it must be "
    "open there: take two or more first words, all equally common.",
    ("last", "right"): "There is nothing to the right of the last word, so it must be "
    "open there: take two or more last words, all equally common.",
    ("middle", "left"): "The first word alone gives the middle one away, at least in part: let "
    "two different ones follow it, equally often.",
    ("middle", "right"): "The last word alone gives the middle one away, at least in part: let "
    "two different ones come before it, equally often.",
}
"""Words that must cost a reader log 2 or more, and what to say if they do not."""

own_world = {
    "the dog barks": 0.25,
    "the cat sleeps": 0.25,
    "a dog sleeps": 0.25,
    "a cat barks": 0.25,
}


def small_world(value: Any) -> World:
    """Read a world of at most six sentences of three words."""
    read = world(value)
    if (n := len(read.sentences)) > MOST:
        raise Symptom(
            f"You have {n} sentences; at most {MOST} are allowed. If they are all the "
            "combinations of your words, two words never settle the third: keep only some of them."
        )
    for sentence in read.sentences:
        if len(sentence.split()) != len(PLACES):
            raise Symptom(f"{sentence!r} is not three words with spaces between them.")
    return read


def costs_of(own: World) -> dict[tuple[str, str], float]:
    """Return the mean cost in nats of each word, when it alone is hidden, to each reader."""
    costs: dict[tuple[str, str], float] = {}
    for at, place in enumerate(PLACES, 1):  # after [BEGIN]
        selected = torch.zeros_like(own.input_ids, dtype=torch.bool)
        selected[:, at] = True
        hidden = own.input_ids.masked_fill(selected, own.vocabulary.mask_id)
        for side in DIRECTIONS:
            truth = own.truth(hidden, selected, side, GAPS_ONLY)
            nats = -truth.gather(1, own.input_ids[:, at, None])[:, 0].log()
            costs[place, side] = float(own.probabilities @ nats)
    return costs


def _judge_world(answer: Any) -> str:
    own = small_world(answer)
    costs = costs_of(own)
    facts = " ".join(
        f"{place.capitalize()} word: "
        + ", ".join(f"{side} {costs[place, side]:.3f}" for side in DIRECTIONS)
        + "."
        for place in PLACES
    )
    for a, b in combinations(own.sentences, 2):
        if sum(x != y for x, y in zip(a.split(), b.split(), strict=True)) == 1:
            raise Symptom(f"{facts} {NOT_SETTLED} Look at {a!r} and {b!r}.")
    for where, sentence in OPEN.items():
        if costs[where] < math.log(2) - 1e-6:
            raise Symptom(f"{facts} {sentence}")
    return facts


check_own_world = Exercise(
    solution=own_world,
    minutes=15,
    wants=small_world,
    solved="Each side alone tells nothing about the middle word, and both together tell it all.",
    judge=_judge_world,
)
"""Mark a world in which each word needs what the others say together."""

# ── 6.3 ──────────────────────────────────────────────────────────────────────────────────────────


def excess(p: Sequence[float], q: Sequence[float]) -> float:
    """Return KL(p ‖ q) = Σ p log(p / q) in nats: what q pays above the floor if p is true."""
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)


def pairs(chance: Chance) -> Probes:
    """Make a truth and an answer; what is impossible in truth may be given something."""
    yield [0.5, 0.5, 0.0], [0.8, 0.1, 0.1]
    yield [1.0, 0.0], [0.25, 0.75]
    yield [0.5, 0.3, 0.2], [0.2, 0.7, 0.1]  # nothing impossible: no division by 0
    yield [0.996, 0.004], [0.5, 0.5]  # rare, and not impossible
    yield from (([0.25, 0.75], [0.25, 0.75]), ([1.0], [1.0]))
    for n in (3, 4, 6):
        true = [chance.uniform(0.05, 1) for _ in range(n)]
        said = [chance.uniform(0.05, 1) for _ in range(n)]
        true[chance.randrange(1, n)] = 0.0
        yield [a / sum(true) for a in true], [b / sum(said) for b in said]


check_excess = Exercise(
    solution=excess,
    minutes=12,
    wants=number,
    probes=pairs,
    solved="Never negative, and 0 only for the truth itself: q is this far above the best. (It is "
    "not a distance: swap p and q, and you get another number.)",
    direction="Add up p · log(p / q) over the words that are possible, p > 0.",
)
"""Mark ``excess(p, q)``: KL(p ‖ q) in nats for two lists of probabilities."""


# ── 6.4 ──────────────────────────────────────────────────────────────────────────────────────────

SENSES = (
    "Hand in a word and four sentences that hold it, two for each sense: "
    '("bank", ("…", "…"), ("…", "…")).'
)


def _judge_two_senses(answer: Any) -> str:
    if not isinstance(answer, tuple | list) or len(answer) != 3 or not isinstance(answer[0], str):
        raise Symptom(SENSES)
    word = answer[0].lower()
    sentences = [sentence for pair in answer[1:] for sentence in two_texts(pair, SENSES)]
    if word in senses.SENSES:
        raise Symptom(f"The notebook has tried {word!r} itself; find a word of your own.")
    if len({*sentences}) < len(sentences):
        raise Symptom("One sentence is there twice; write four different ones.")
    for sentence in sentences:
        if word not in plain_words(sentence):
            raise Symptom(f"{sentence!r:.60} does not hold {word!r} as a word of its own.")
    if word not in symbols_of(shipped_model("words").vocabulary).known:
        raise Symptom(f"The encoder cuts {word!r} into several pieces; take a more frequent word.")
    vectors = senses.vectors_in(sentences, word)
    alike = cosine(vectors, vectors)
    first, second = float(alike[0, 1]), float(alike[2, 3])
    across = float(alike[:2, 2:].max())
    shown = f"within each sense {first:.2f} and {second:.2f}, across at most {across:.2f}"
    if min(first, second) > across:
        return f"Cosines {shown}."
    weaker = "first" if first <= second else "second"
    raise Symptom(
        f"The two sentences of the {weaker} sense are not the nearest pair: cosines {shown}. Does "
        "the rest of each sentence tell its sense, or have you mixed the senses up?"
    )


check_two_senses = Exercise(
    solution=(
        "letter",
        ("He wrote a letter to his mother.", "She got a long letter from home."),
        ("The first letter of the word is missing.", "Every letter of the alphabet has a name."),
    ),
    minutes=8,
    solved="The embedding has one row for this word, and the encoder made two kinds of it. (It may "
    "do so for any two contexts; that yours are two senses, only you can say.)",
    judge=_judge_two_senses,
)
"""Mark a word with two senses, and sentences whose vectors of it keep them apart."""
