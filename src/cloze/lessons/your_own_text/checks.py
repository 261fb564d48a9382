"""The exercises of notebook 15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from cloze.lessons.your_own_text.suspects import CRIMES
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number
from cloze.teaching.symptoms import ask

# ── 15.1 ─────────────────────────────────────────────────────────────────────────────────────────

LEAST_COST = 2.0
"""Nats per character that a text in the learner's hand has to cost at least."""
MOST_CHANGED = 0.04
"""The largest share of characters that the hand may change."""


def my_hand(text: str) -> str:
    """Write a text in a hand of one's own: the h of th has a bar."""
    return text.replace("th", "tħ")


@cache
def _model() -> tuple[Any, Any]:
    from cloze.handover.pieces import load_folder
    from cloze.lessons.your_own_text.letters import FOLDER

    return load_folder(FOLDER)


def cost_in(hand: Callable[[str], str]) -> float:
    """Return what held-out pieces cost the tiny model in a hand, in nats per character."""
    from cloze.adapt.chunks import Masks, cut
    from cloze.adapt.costs import costs
    from cloze.adapt.documents import Document, hold_out
    from cloze.lessons.your_own_text.letters import plain

    model, tokenizer = _model()
    written = [Document(each.name, hand(each.text)) for each in hold_out(plain())[1]]
    masks = Masks(tokenizer, 0.3, seed=0)
    return costs(model, cut(written, tokenizer, 128), masks).per_character


def _judge_hand(hand: Callable[..., Any]) -> str:
    """Look at what a hand does to a piece, and measure what it costs."""
    from cloze.lessons.your_own_text.letters import plain

    text = plain()[0].text
    written = ask(hand, text)
    if not isinstance(written, str):
        raise Symptom(f"Your function returns {kind_of(written)}; it must return the new text.")
    if len(written) != len(text):
        raise Symptom(
            f"A text of {len(text):,} characters becomes one of {len(written):,}. Replace each "
            "character by one character, so that costs per character can be compared."
        )
    changed = sum(a != b for a, b in zip(text, written, strict=True)) / len(text)
    if changed == 0:
        raise Symptom("Nothing changes. Is your character in the text? replace returns a new text.")
    if changed > MOST_CHANGED:
        raise Symptom(
            f"You change {changed:.1%} of the characters; at most {MOST_CHANGED:.0%} are allowed. "
            "Choose a few that hurt most."
        )
    cost = cost_in(hand)
    if cost < LEAST_COST:
        raise Symptom(
            f"You change {changed:.1%} of the characters, and a character costs {cost:.3f} nats. "
            f"It should be {LEAST_COST:.1f}. Which character is in most words, and which sign does "
            "the tokenizer not know?"
        )
    return f"You change {changed:.1%} of the characters, and a character costs {cost:.2f} nats."


check_my_hand = Exercise(
    solution=my_hand,
    minutes=12,
    solved="A reader gets used to it in a minute. Does the model? Give documents in your hand to "
    "the Adaptation below, and see.",
    judge=_judge_hand,
)
"""Mark ``my_hand(text)``: a way of writing that the tiny model finds hard."""


# ── 15.2 ─────────────────────────────────────────────────────────────────────────────────────────


def wasted(lengths: Sequence[int], batch_size: int) -> float:
    """Return the share of places that hold padding, if lines are taken in their order."""
    places = 0
    for start in range(0, len(lengths), batch_size):
        batch = lengths[start : start + batch_size]
        places += len(batch) * max(batch)
    return 1 - sum(lengths) / places


def lengths_in_batches(chance: Chance) -> Probes:
    """Make lengths of lines; some end in a batch that is not full."""
    yield from (([5, 9, 7, 3, 8], 2), ([4, 9, 6, 2], 2), ([7, 7], 2), ([3, 8], 5), ([6, 2], 1))
    for _ in range(5):
        size = chance.randint(2, 4)
        n = size * chance.randint(1, 3) + chance.randint(1, size - 1)
        yield [chance.randint(2, 40) for _ in range(n)], size


check_wasted = Exercise(
    solution=wasted,
    minutes=10,
    wants=number,
    probes=lengths_in_batches,
    solved="Each batch is as wide as its longest line, and the rest of its places are padding.",
    direction="Of each batch count its lines times its longest line. These are the places; the "
    "lengths say how many of them are filled.",
)
"""Mark ``wasted(lengths, batch_size)``: the share of places that hold padding."""


# ── 15.3 ─────────────────────────────────────────────────────────────────────────────────────────

VERDICTS = {"A": "all or nothing", "B": "frozen", "C": "sound", "D": "asks for the frame"}


def _verdicts(value: Any) -> dict[str, str]:
    """Read a verdict on each suspect."""
    if not isinstance(value, Mapping) or {*map(str, value)} != {*VERDICTS}:
        raise Symptom(
            f"You hand in {kind_of(value)}; hand in a dict with a verdict for each of "
            f"{', '.join(VERDICTS)}."
        )
    for letter, crime in value.items():
        if crime not in CRIMES:
            raise Symptom(f"The verdict on {letter} is one of: {', '.join(CRIMES)}.")
    return dict(sorted(value.items()))


CLUES = {
    "A": "On A: 15% are asked for, as they should be. But of how many lines, and how many of each?",
    "B": "On B: every share is right. Let it draw twice from the same examples.",
    "C": "On C: count again what it asks for in each line, and in two draws.",
    "D": "On D: its shares nearly fit. What are the labels at [CLS] and [SEP]?",
}


def _judge_verdicts(value: Any) -> None:
    """Tell the first verdict that is wrong."""
    given = _verdicts(value)
    for letter, clue in CLUES.items():
        if given[letter] != VERDICTS[letter]:
            raise Symptom(clue)


check_verdicts = Exercise(
    solution=VERDICTS,
    minutes=20,
    wants=_verdicts,
    solved="A is `whole_word_mask=True` with a tokenizer whose pieces include the space before "
    "them: to the collator, the whole line is a single word. The model never sees a context: it "
    "is asked for everything or for nothing. Its loss falls all the same.",
    judge=_judge_verdicts,
)
"""Mark the verdicts on the four collators."""


# ── 15.4 ─────────────────────────────────────────────────────────────────────────────────────────


def team_loss(means: Sequence[float], counts: Sequence[int]) -> float:
    """Return the mean over all questions, from each process's mean and number of questions."""
    return sum(mean * n for mean, n in zip(means, counts, strict=True)) / sum(counts)


def processes(chance: Chance) -> Probes:
    """Make what two to four processes have found; one may have had no question."""
    yield [2.0, 4.0], [30, 10]
    for size in (2, 3, 4):
        counts = [chance.randint(5, 60) for _ in range(size)]
        yield [round(chance.uniform(0.5, 6), 2) for _ in range(size)], counts
    yield from (([3.0, 1.5, 0.0], [8, 24, 0]), ([2.5, 4.0], [12, 12]), ([3.5], [7]))


check_team_loss = Exercise(
    solution=team_loss,
    minutes=8,
    wants=number,
    probes=processes,
    solved="A question counts the same in whichever process it is asked. A mean of means would "
    "give more weight to the questions of a process that has few.",
    direction="Undo the means: how much did the questions of each process cost together?",
)
"""Mark ``team_loss(means, counts)``: the mean over the questions of all processes."""
