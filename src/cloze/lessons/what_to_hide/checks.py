"""The exercises of notebook 08."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, is_number, number, unwrapped, wrong_kind

# ── 8.1 ──────────────────────────────────────────────────────────────────────────────────────────


def falling_rate(step: int, steps: int, first: float, last: float) -> float:
    """Return the rate of a step 0 … steps − 1 on a straight line from ``first`` to ``last``."""
    return first + (last - first) * step / (steps - 1)


def moments(chance: random.Random) -> list[Probe]:
    """Make steps at the beginning, in the middle and at the end, and rates that rise as well."""
    probes: list[Probe] = [(0, 11, 0.3, 0.15), (10, 11, 0.3, 0.15), (5, 11, 0.3, 0.15)]
    for _ in range(4):
        steps = chance.randint(20, 900)
        probes.append(
            (chance.randint(1, steps - 2), steps, chance.uniform(0.4, 0.9), chance.uniform(0, 0.3))
        )
    return probes


check_falling_rate = Exercise(
    solution=falling_rate,
    wants=number,
    probes=moments,
    solved="At first many questions per text, in the end much to be read.",
    direction="Begin at `first` and go the share step / (steps - 1) of the way to `last`.",
    mistakes={
        "Your last step, steps - 1, does not reach `last`: there are steps - 1 steps between the "
        "first and the last, so divide by steps - 1.": (
            lambda step, steps, first, last: first + (last - first) * step / steps
        ),
        "Your first step is already on its way: steps are counted from 0.": (
            lambda step, steps, first, last: first + (last - first) * (step + 1) / steps
        ),
        "Your first step is one too early: steps are counted from 0, so step itself is how many "
        "are done.": lambda step, steps, first, last: (
            first + (last - first) * (step - 1) / (steps - 1)
        ),
        "Python divides before it subtracts: step / steps - 1 is (step / steps) - 1. Write "
        "step / (steps - 1).": lambda step, steps, first, last: (
            first + (last - first) * step / steps - 1
        ),
        "Python divides before it subtracts: step / steps - 1 is (step / steps) - 1. Put brackets "
        "round steps - 1.": lambda step, steps, first, last: (
            first + (last - first) * (step / steps - 1)
        ),
        "Your rate goes the wrong way, from `last` to `first`.": (
            lambda step, steps, first, last: last + (first - last) * step / (steps - 1)
        ),
        "Your rate leaves in the wrong direction: the difference is last - first, which is "
        "negative here.": (
            lambda step, steps, first, last: first + (first - last) * step / (steps - 1)
        ),
        "Your rate falls from `first` to 0; it ends at `last`.": (
            lambda step, steps, first, last: first * (1 - step / (steps - 1))
        ),
        "You return the change since the first step; add `first`.": (
            lambda step, steps, first, last: (last - first) * step / (steps - 1)
        ),
        "Your rate changes by the same factor at every step; on a straight line it changes by the "
        "same difference.": (
            lambda step, steps, first, last: first * (last / first) ** (step / (steps - 1))
        ),
        "Your rate stays at `first` until the last step: // throws the share away, use /.": (
            lambda step, steps, first, last: first + (last - first) * (step // (steps - 1))
        ),
        "Your rate falls by `first` and adds `last` to what is left; it falls by first - last "
        "alone.": lambda step, steps, first, last: first * (1 - step / (steps - 1)) + last,
        "You return the share of the way that is gone; the rate is that far from `first` to "
        "`last`.": lambda step, steps, first, last: step / (steps - 1),
        "Your rate falls by `last` over the way; it falls *to* `last`, so by first - last.": (
            lambda step, steps, first, last: first - last * step / (steps - 1)
        ),
        "You return the mean of the two rates, whatever the step.": (
            lambda step, steps, first, last: (first + last) / 2
        ),
    },
)
"""Mark ``falling_rate(step, steps, first, last)``."""

# ── 8.2 ──────────────────────────────────────────────────────────────────────────────────────────

Scores = Sequence[float]


def area(typos: Scores, clean: Scores) -> float:
    """Return the share of pairs in which the typo has the higher score, ties counted half."""
    return sum((a > b) + 0.5 * (a == b) for a in typos for b in clean) / (len(typos) * len(clean))


def surprises(chance: random.Random) -> list[Probe]:
    """Make lists of scores of different lengths, with ties."""
    # The second, where the first typo wins one pair of five, tells it from the list as a whole.
    probes: list[Probe] = [
        ([5.0, 1.0], [0.5, 1.0, 3.0]),
        ([2.0, 3.5, 0.25], [1.0, 3.0, 2.5, 4.0, 3.75]),
    ]
    for typos, clean in ((4, 7), (3, 9), (6, 5), (5, 8)):
        one = [chance.choice([1.0, 2.0, 3.0, 4.0, chance.uniform(0, 6)]) for _ in range(typos)]
        other = [chance.choice([0.0, 1.0, 2.0, 3.0, chance.uniform(0, 4)]) for _ in range(clean)]
        probes.append(([*one, 2.0], [*other, 2.0]))
    return probes


def _pairs(count: Callable[[float, float], float]) -> Callable[..., float]:
    return lambda typos, clean: (
        sum(count(a, b) for a in typos for b in clean) / (len(typos) * len(clean))
    )


def _side_by_side(typos: Scores, clean: Scores) -> float:
    pairs = list(zip(typos, clean, strict=False))
    return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)


def _without_ties(typos: Scores, clean: Scores) -> float:
    pairs = [(a, b) for a in typos for b in clean if a != b]
    return sum(a > b for a, b in pairs) / len(pairs)


def _average(values: Scores) -> float:
    return sum(values) / len(values)


check_area = Exercise(
    solution=area,
    wants=number,
    probes=surprises,
    solved="That is the area under the curve: 1 puts every typo before every clean character, and "
    "½ is what chance does. No threshold had to be chosen.",
    direction="Compare every typo with every clean character, and divide by the number of pairs.",
    mistakes={
        "You count only pairs in which the typo scores higher; a tie counts half.": _pairs(
            lambda a, b: a > b
        ),
        "A tie counts half in yours as much as a win does; it counts ½.": _pairs(
            lambda a, b: a >= b
        ),
        "You count half for every pair that the typo does not win; half is for a tie, and a pair "
        "that it loses counts nothing.": _pairs(lambda a, b: 1.0 if a > b else 0.5),
        "You leave ties out, above and below the fraction bar; they are pairs, too, and count half "
        "a win each.": _without_ties,
        "You take what is lost from what is won, and 0 would be chance; count what is won, and "
        "half of the ties.": _pairs(lambda a, b: (a > b) - (a < b)),
        "You have the two lists the wrong way round: a typo should have the *higher* score.": (
            lambda typos, clean: area(clean, typos)
        ),
        "You counted the pairs; divide by how many there are, len(typos) · len(clean).": (
            lambda typos, clean: area(typos, clean) * len(typos) * len(clean)
        ),
        "You divide by the number of typos alone; there are len(typos) · len(clean) pairs.": (
            lambda typos, clean: area(typos, clean) * len(clean)
        ),
        "You divide by the number of clean characters alone; there are len(typos) · len(clean) "
        "pairs.": lambda typos, clean: area(typos, clean) * len(typos),
        "You divide by len(typos) + len(clean); there are len(typos) · len(clean) pairs.": (
            lambda typos, clean: (
                area(typos, clean) * len(typos) * len(clean) / (len(typos) + len(clean))
            )
        ),
        "You compare only pairs at the same place of the two lists (zip); every typo meets every "
        "clean character.": _side_by_side,
        "You compare only pairs at the same place of the two lists (zip), and leave out "
        "ties; every typo meets every clean character.": lambda typos, clean: _average(
            [a > b for a, b in zip(typos, clean, strict=False)]
        ),
        "You compare each typo with the mean of the clean characters, or one from their middle; "
        "compare it with each one.": lambda typos, clean: _average(
            [(a > _average(clean)) + 0.5 * (a == _average(clean)) for a in typos]
        ),
        "You compare the two lists as wholes (typos > clean looks at their first entries); compare "
        "every entry of one with every entry of the other.": lambda typos, clean: (
            (typos > clean) + 0.5 * (typos == clean)
        ),
        "You compare each typo with the highest of the clean scores; compare it with each one.": (
            lambda typos, clean: _average(
                [(a > max(clean)) + 0.5 * (a == max(clean)) for a in typos]
            )
        ),
        "You compare the two means, which is one pair; compare every typo with every clean "
        "character.": lambda typos, clean: float(_average(typos) > _average(clean)),
        "You return how much higher typos score on average; count how *often* they do.": (
            lambda typos, clean: _average(typos) - _average(clean)
        ),
        "You compare only the first typo: is your `return` inside the loop?": (
            lambda typos, clean: area(typos[:1], clean)
        ),
        "You count the pairs of the first typo alone: is your `return` inside the outer loop?": (
            lambda typos, clean: area(typos[:1], clean) / len(typos)
        ),
        "You count one pair alone: is your `return` inside the inner loop?": (
            lambda typos, clean: area(typos[:1], clean[:1]) / (len(typos) * len(clean))
        ),
    },
)
"""Mark ``area(typos, clean)``."""

# ── 8.3 ──────────────────────────────────────────────────────────────────────────────────────────


def whole_words(text: str, chosen: set[int]) -> set[int]:
    """Return the positions of all characters of the words that have a chosen one, spaces apart."""
    grown: set[int] = set()
    for word in _words(text):
        if chosen & word:
            grown |= word
    return grown


def _words(text: str) -> list[set[int]]:
    runs = groupby(range(len(text)), key=lambda i: text[i] == " ")
    return [set(run) for space, run in runs if not space]


def _grown(text: str, chosen: set[int], *, left: bool, right: bool) -> set[int]:
    found = {i for i in chosen if text[i] != " "}
    for i in list(found):
        j = i
        while left and j > 0 and text[j - 1] != " ":
            j -= 1
            found.add(j)
        j = i
        while right and j + 1 < len(text) and text[j + 1] != " ":
            j += 1
            found.add(j)
    return found


def _by_name(text: str, chosen: set[int]) -> set[int]:
    """Take every place of a word that is chosen somewhere."""
    words = _words(text)
    names = {"".join(text[i] for i in sorted(w)) for w in words if chosen & w}
    return set().union(*(w for w in words if "".join(text[i] for i in sorted(w)) in names))


def _by_number(text: str, chosen: set[int]) -> set[int]:
    words = _words(text)
    return {k for k, word in enumerate(words) if chosen & word}


def _first_place(text: str, chosen: set[int]) -> set[int]:
    """Look words up by text.index, which finds the first of several."""
    found: set[int] = set()
    for word in _words(text):
        if chosen & word:
            letters = "".join(text[i] for i in sorted(word))
            at = text.index(letters)
            found |= set(range(at, at + len(letters)))
    return found


def _looked_for(text: str, chosen: set[int]) -> set[int]:
    """Look for the chosen places where text.index says that a word is."""
    found: set[int] = set()
    for word in text.split():
        at = text.index(word)
        own = set(range(at, at + len(word)))
        if own & chosen:
            found |= own
    return found


def _spaces_uncounted(text: str, chosen: set[int]) -> set[int]:
    found: set[int] = set()
    at = 0
    for word in text.split():
        own = set(range(at, at + len(word)))
        if own & chosen:
            found |= own
        at += len(word)
    return found


def _with_space(text: str, chosen: set[int]) -> set[int]:
    found = whole_words(text, chosen)
    return found | {i + 1 for i in found if i + 1 < len(text) and text[i + 1] == " "}


def _one_too_many(text: str, chosen: set[int]) -> set[int]:
    found = whole_words(text, chosen)
    return found | {i + 1 for i in found}


def _one_too_few(text: str, chosen: set[int]) -> set[int]:
    shorter = [word - {max(word)} for word in _words(text)]
    return set().union(*(word for word in shorter if word & chosen))


def _space_in_front(text: str, chosen: set[int]) -> set[int]:
    found = whole_words(text, chosen)
    return found | {i - 1 for i in found if i and text[i - 1] == " "}


def _between_finds(text: str, chosen: set[int], *, last: bool) -> set[int]:
    """Look for the space before and behind every chosen place, with ``last`` or lost at the end."""
    found: set[int] = set()
    for i in chosen:
        behind = text.find(" ", i)
        end = len(text) if last and behind < 0 else behind
        found |= set(range(text.rfind(" ", 0, i) + 1, end))
    return found


def _by_first_letter(text: str, chosen: set[int]) -> set[int]:
    return set().union(*(word for word in _words(text) if min(word) in chosen))


def _last_word_found(text: str, chosen: set[int]) -> set[int]:
    return [set(), *(word for word in _words(text) if word & chosen)][-1]


def _standing_still(text: str, chosen: set[int]) -> set[int]:
    """Go on to the next word only where one was chosen."""
    found: set[int] = set()
    start = 0
    for word in text.split():
        own = set(range(start, start + len(word)))
        if own & chosen:
            found |= own
            start += len(word) + 1
    return found


def places(value: Any) -> list[int]:
    """Read a collection of positions, in any order."""
    if not isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "tolist"):
        raise wrong_kind(value, "a set of positions")
    entries = [unwrapped(i) for i in (value.tolist() if hasattr(value, "tolist") else value)]
    for entry in entries:
        if isinstance(entry, str | set | list | tuple | range):
            raise Symptom(
                "Your collection holds words or groups; it should hold the positions themselves, "
                "whole numbers."
            )
        if not is_number(entry) or entry != int(entry):
            raise Symptom("Your collection holds something that is no position, a whole number.")
    if len(set(entries)) < len(entries):
        raise Symptom(
            "Some positions are in your list more than once; a set (add, |=) keeps each once."
        )
    return sorted(int(entry) for entry in entries)


def lines(chance: random.Random) -> list[Probe]:
    """Make lines in which words repeat and have many lengths, and choose some characters."""
    probes: list[Probe] = [
        ("rain fell on an umbrella", {20}),
        ("the cat and the hat", {13}),
        ("a cat", {0}),
        ("one two three", {3, 5}),
        ("there it is", {1, 7}),
        ("we were here", set()),
        ("he saw the sea", {7, 8, 13}),
    ]
    words = ["the", "umbrella", "a", "rain", "he", "there", "other"]
    for _ in range(4):
        text = " ".join(chance.choice(words) for _ in range(chance.randint(4, 7)))
        probes.append((text, set(chance.sample(range(len(text)), 4))))
    return probes


check_whole_words = Exercise(
    solution=whole_words,
    wants=places,
    probes=lines,
    solved="Wherever one letter is chosen its word is gone.",
    direction="Go through the words with their positions; if one of a word's positions is chosen, "
    "take all of them.",
    mistakes={
        "Nothing has grown: you return what was chosen.": lambda text, chosen: set(chosen),
        "Nothing has grown; you only took the spaces out of what was chosen.": (
            lambda text, chosen: _grown(text, chosen, left=False, right=False)
        ),
        "Your words grow to the right only; their beginnings stay in sight.": (
            lambda text, chosen: _grown(text, chosen, left=False, right=True)
        ),
        "Your words grow to the left only; their ends stay in sight.": (
            lambda text, chosen: _grown(text, chosen, left=True, right=False)
        ),
        "A chosen space is in your answer; it belongs to no word.": (
            lambda text, chosen: whole_words(text, chosen) | chosen
        ),
        "You take the space behind each word as well; it belongs to no word.": _with_space,
        "Your words are one position too long: range(start, start + len(word)) ends at the last "
        "letter.": _one_too_many,
        "Your words are one position too short: range(start, start + len(word)) stops before its "
        "end by itself.": _one_too_few,
        "You take the space in front of each word as well; it belongs to no word.": _space_in_front,
        "The last word of the text is missing: text.find gives -1 where no space follows.": (
            lambda text, chosen: _between_finds(text, chosen, last=False)
        ),
        "A chosen space takes the word in front of it along; it chooses nothing.": (
            lambda text, chosen: _between_finds(text, chosen, last=True)
        ),
        "The chosen positions themselves are missing; all characters of their words are asked "
        "for.": lambda text, chosen: whole_words(text, chosen) - chosen,
        "You only look whether the first letter of a word is chosen; any of them is enough.": (
            _by_first_letter
        ),
        "Only the last word that was hit is left: add to the set (|=) instead of replacing it.": (
            _last_word_found
        ),
        "Your positions stand still at a word that was not hit: move on by len(word) + 1 after "
        "every word, hit or not.": _standing_still,
        "You hide every place where such a word stands; only the one with a chosen letter goes.": (
            _by_name
        ),
        "You return the numbers of the words; asked for are the positions of their characters.": (
            _by_number
        ),
        "A word that stands in the text twice is found at its first place (text.index): go along "
        "the text and count positions.": _first_place,
        "text.index finds a word where its letters stand first, which may be in another word or "
        "place: go along the text and count positions.": _looked_for,
        "Your positions drift to the left, by one with every word: the spaces between words count, "
        "too.": _spaces_uncounted,
        "You return all the words whose letters were *not* chosen.": (
            lambda text, chosen: set().union(*(w for w in _words(text) if not chosen & w))
        ),
        "You take every letter of the text, whatever is chosen.": (
            lambda text, chosen: set().union(*_words(text))
        ),
        "You take a word only if all of its letters are chosen; one is enough.": (
            lambda text, chosen: set().union(*(w for w in _words(text) if w <= chosen))
        ),
        "You take the word of one chosen position alone: is your `return` inside the loop?": (
            lambda text, chosen: next((w for w in _words(text) if w & chosen), set())
        ),
        "You look at the first word alone: is your `return` inside the loop?": (
            lambda text, chosen: next(iter(w if w & chosen else set() for w in _words(text)))
        ),
    },
)
"""Mark ``whole_words(text, chosen)``: positions, given those that were chosen."""

# ── 8.4 ──────────────────────────────────────────────────────────────────────────────────────────


def span_lengths(p: float, longest: int) -> list[float]:
    """Return the probabilities of 1, 2, … longest words: geometric, scaled to sum to 1."""
    shares = [p * (1 - p) ** (k - 1) for k in range(1, longest + 1)]
    return [share / sum(shares) for share in shares]


def _geometric(p: float, powers: Sequence[int]) -> list[float]:
    return [p * (1 - p) ** k for k in powers]


def _scaled(shares: Sequence[float]) -> list[float]:
    return [share / sum(shares) for share in shares]


def _tail_at_the_end(p: float, longest: int) -> list[float]:
    shares = _geometric(p, range(longest))
    return [*shares[:-1], (1 - p) ** (longest - 1)]


def probabilities(value: Any) -> list[float]:
    """Read a list of probabilities."""
    entries = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(entries, dict):
        raise wrong_kind(value, "a list of probabilities, those of 1, 2, … words")
    if not isinstance(entries, list | tuple):
        raise wrong_kind(value, "a list of probabilities, those of 1, 2, … words")
    return [number(entry) for entry in entries]


def habits(chance: random.Random) -> list[Probe]:
    """Make probabilities of stopping and longest lengths."""
    drawn = [(chance.uniform(0.15, 0.6), chance.randint(3, 12)) for _ in range(4)]
    return [(0.5, 3), (0.2, 10), *drawn]


check_span_lengths = Exercise(
    solution=span_lengths,
    wants=probabilities,
    probes=habits,
    solved="With p = 0.2 and at most 10 the mean is 3.8 words, SpanBERT's.",
    direction="Start with p · (1 − p) ** (k − 1) for k = 1 … longest, and divide by their sum.",
    mistakes={
        "Your probabilities do not sum to 1: what lies beyond the longest is missing, so divide by "
        "the sum.": lambda p, longest: _geometric(p, range(longest)),
        "Your last entry gets all that lies beyond it; that would make the mean 4.46. Spans longer "
        "than the longest are left out, so divide by the sum.": _tail_at_the_end,
        "Your list begins with 0 words; it should be for 1 … longest.": (
            lambda p, longest: _scaled(_geometric(p, range(longest + 1)))
        ),
        "The longest is missing: range(1, longest) ends before it.": (
            lambda p, longest: _scaled(_geometric(p, range(longest - 1)))
        ),
        "You have p and 1 − p the wrong way round: p is the probability to stop.": (
            lambda p, longest: _scaled([(1 - p) * p**k for k in range(longest)])
        ),
        "You have p and 1 − p the wrong way round (p is the probability to stop), and your entries "
        "do not sum to 1.": lambda p, longest: [p**k for k in range(1, longest + 1)],
        "Your exponent is one too high, k in place of k − 1, and your entries do not sum to 1: "
        "divide by the sum.": lambda p, longest: _geometric(p, range(1, longest + 1)),
        "You divide by the largest entry, so the first is 1; divide by the sum.": (
            lambda p, longest: [(1 - p) ** k for k in range(longest)]
        ),
        "You divide by how many there are; divide by their sum, or they do not sum to 1.": (
            lambda p, longest: [share / longest for share in _geometric(p, range(longest))]
        ),
        "You add the same to every entry to make the sum 1; scale instead: divide by the sum.": (
            lambda p, longest: [
                share + (1 - p) ** longest / longest for share in _geometric(p, range(longest))
            ]
        ),
        "You give what lies beyond the longest to the first entry; leave it out and divide by the "
        "sum.": lambda p, longest: [p + (1 - p) ** longest, *_geometric(p, range(1, longest))],
        "These are powers of 1 − p alone, and do not sum to 1: divide by the sum.": (
            lambda p, longest: [(1 - p) ** k for k in range(1, longest + 1)]
        ),
        "You multiply by k − 1; it is the exponent of 1 − p.": (
            lambda p, longest: _scaled([p * (1 - p) * k for k in range(longest)])
        ),
        "All lengths are equally likely in yours; after each word the span ends with "
        "probability p.": lambda p, longest: [1 / longest] * longest,
        "You return the probabilities that a span has *at least* 1, 2, … words.": (
            lambda p, longest: [sum(span_lengths(p, longest)[k:]) for k in range(longest)]
        ),
        "You return the probabilities that a span has *at most* 1, 2, … words.": (
            lambda p, longest: [sum(span_lengths(p, longest)[: k + 1]) for k in range(longest)]
        ),
        "You return the probabilities that a span without a limit has *at most* 1, 2, … words.": (
            lambda p, longest: [1 - (1 - p) ** k for k in range(1, longest + 1)]
        ),
        "Your list is in the wrong order: the first entry is for a span of a single word.": (
            lambda p, longest: span_lengths(p, longest)[::-1]
        ),
    },
)
"""Mark ``span_lengths(p, longest)``."""
