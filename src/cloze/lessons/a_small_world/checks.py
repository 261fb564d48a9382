"""The exercises of notebook 06."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, number, wrong_kind

# ── 6.1 ──────────────────────────────────────────────────────────────────────────────────────────

Sentences = Mapping[str, float]


def fillings(world: Sentences, line: str) -> dict[str, float]:
    """Return P(word in the first gap | the rest of the line), by word."""
    return _weighed(world, line)


def _fits(sentence: Sequence[str], line: Sequence[str]) -> bool:
    return len(sentence) == len(line) and all(
        typed in ("_", word) for word, typed in zip(sentence, line, strict=True)
    )


def _weighed(
    world: Sentences,
    line: str,
    fits: Callable[[Sequence[str], Sequence[str]], bool] = _fits,
    weigh: Callable[[float], float] = lambda p: p,
    gap: Callable[[Sequence[str]], int] = lambda typed: typed.index("_"),
) -> dict[str, float]:
    typed = line.split()
    at = gap(typed)
    shares: Counter[str] = Counter()
    for sentence, p in world.items():
        words = sentence.split()
        if len(words) > at and fits(words, typed):
            shares[words[at]] += weigh(p)  # type: ignore[assignment]
    total = sum(shares.values())
    return {word: share / total for word, share in shares.items()}


def _unscaled(
    world: Sentences, line: str, weigh: Callable[[float], float] = lambda p: p
) -> dict[str, float]:
    typed = line.split()
    found: Counter[str] = Counter()
    for sentence, p in world.items():
        if _fits(sentence.split(), typed):
            found[sentence.split()[typed.index("_")]] += weigh(p)  # type: ignore[assignment]
    return dict(found)


def _pooled(world: Sentences, line: str) -> dict[str, float]:
    """Add up what stands in all the gaps, and scale to a sum of 1."""
    gaps = [i for i, word in enumerate(line.split()) if word == "_"]
    found: Counter[str] = Counter()
    for at in gaps:
        found.update(_weighed(world, line, gap=lambda _, at=at: at))  # type: ignore[arg-type, misc]
    return {word: p / len(gaps) for word, p in found.items()}


def _pooled_unscaled(world: Sentences, line: str) -> dict[str, float]:
    gaps = line.split().count("_")
    return {word: p * gaps for word, p in _pooled(world, line).items()}


def _first_fitting(world: Sentences, line: str) -> dict[str, float]:
    """Return inside the condition."""
    [sentence, *_] = [s for s in world if _fits(s.split(), line.split())]
    return {sentence.split()[line.split().index("_")]: 1.0}


def _first_sentence(world: Sentences, line: str) -> dict[str, float]:
    """Return inside the loop."""
    sentence = next(iter(world))
    fits = _fits(sentence.split(), line.split())
    return {sentence.split()[line.split().index("_")]: 1.0} if fits else {}


def _keys_alone(world: Any, line: str) -> dict[str, float]:
    return _weighed({s: p for s, p in world}, line)  # noqa: C416 - as it is typed


def _last_unscaled(world: Sentences, line: str) -> dict[str, float]:
    """Overwrite what an earlier sentence gave to the same word."""
    typed = line.split()
    return {s.split()[typed.index("_")]: p for s, p in world.items() if _fits(s.split(), typed)}


def _last_only(world: Sentences, line: str) -> dict[str, float]:
    total = sum(_unscaled(world, line).values())
    return {word: p / total for word, p in _last_unscaled(world, line).items()}


def _rescaled_last(world: Sentences, line: str) -> dict[str, float]:
    found = _last_unscaled(world, line)
    return {word: p / sum(found.values()) for word, p in found.items()}


def _prefix(words: Sequence[str], line: Sequence[str]) -> bool:
    at = line.index("_")
    return _fits(words[:at], line[:at])


def _suffix(words: Sequence[str], line: Sequence[str]) -> bool:
    at = line.index("_")
    return _fits(words[at + 1 :], line[at + 1 :])


def _neighbours(words: Sequence[str], line: Sequence[str]) -> bool:
    at = line.index("_")
    near = [i for i in (at - 1, at + 1) if 0 <= i < len(line)]
    return all(i < len(words) and line[i] in ("_", words[i]) for i in near)


def _ends(words: Sequence[str], line: Sequence[str]) -> bool:
    before, *_, after = " ".join(line).split("_")
    sentence = " ".join(words)
    return sentence.startswith(before) and sentence.endswith(after)


def _any_order(words: Sequence[str], line: Sequence[str]) -> bool:
    return len(words) == len(line) and {*line} - {"_"} <= {*words}


def _gap_by_gap(words: Sequence[str], line: Sequence[str]) -> bool:
    """Take every gap but the first for a word."""
    at = line.index("_")
    return len(words) == len(line) and [*words[:at], *words[at + 1 :]] == [
        *line[:at],
        *line[at + 1 :],
    ]


def _cut_off(words: Sequence[str], line: Sequence[str]) -> bool:
    return all(typed in ("_", word) for word, typed in zip(words, line, strict=False))


def _falls_off(world: Sentences, line: str) -> dict[str, float]:
    """Look for the gap in sentences that end before it."""
    typed = line.split()
    found: Counter[str] = Counter()
    for sentence, p in world.items():
        words = sentence.split()
        if _cut_off(words, typed):
            found[words[typed.index("_")]] += p  # type: ignore[assignment]
    total = sum(found.values())
    return {word: p / total for word, p in found.items()}


def distribution(value: Any) -> dict[str, float]:
    """Read probabilities by word; a word of probability 0 may be left out."""
    if isinstance(value, str):
        raise Symptom(
            "That is one word, if it is the likeliest; asked for is the probability of every word "
            "that may stand in the gap: {word: probability, …}."
        )
    if not isinstance(value, Mapping):
        raise wrong_kind(value, "a dictionary of probabilities by word")
    if not all(isinstance(word, str) for word in value):
        raise Symptom("The keys of your dictionary are not words; write {word: probability}.")
    if any(" " in word for word in value):
        raise Symptom(
            "The keys of your dictionary are sentences, or several words of one; asked for is the "
            "one word in the gap, and sentences that have the same one there are added up."
        )
    return {word: number(p) for word, p in value.items() if number(p)}


def worlds(chance: random.Random) -> list[Probe]:
    """Make small worlds in which words repeat, lengths differ and both sides matter."""
    first = {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25}
    probes: list[Probe] = [(first, "the _ sleeps"), (first, "the dog _"), (first, "the _ _")]
    # The order of the words counts, and how many stand between two of them.
    bites = {"dog bites man": 0.3, "man bites dog": 0.2, "dog often bites man": 0.5}
    probes += [(bites, "dog bites _"), (bites, "dog _ man"), (bites, "_ bites _")]
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
        probes += [(world, line) for line in lines]
    return probes


check_fillings = Exercise(
    solution=fillings,
    wants=distribution,
    probes=worlds,
    solved="That is Bayes' rule: weigh each sentence by how often it is said times how likely it "
    "then looks like this (here 1 or 0: it fits or not), and scale to 1.",
    direction="Add up the probabilities of the sentences that fit, by the word in the gap, and "
    "divide by their sum.",
    mistakes={
        "Your shares do not sum to 1: divide each by the sum over all the sentences that fit.": (
            _unscaled
        ),
        "You count sentences; a sentence that is said twice as often counts twice, so add up its "
        "probability.": lambda world, line: _weighed(world, line, weigh=lambda p: 1.0),
        "Several sentences may have the same word in the gap, and the last one overwrites the "
        "others: add their probabilities (+=).": _last_only,
        "Several sentences may have the same word in the gap, and the last one overwrites the "
        "others before you scale: add their probabilities (+=).": _rescaled_last,
        "Several sentences may have the same word in the gap, and the last one overwrites the "
        "others: add their probabilities (+=), and then divide each by their sum.": (
            _last_unscaled
        ),
        "You compare only what stands left of the gap; the right side has to fit as well, and the "
        "number of words.": lambda world, line: _weighed(world, line, fits=_prefix),
        "You compare only what stands right of the gap; the left side has to fit as well.": (
            lambda world, line: _weighed(world, line, fits=_suffix)
        ),
        "You compare only the neighbours of the gap; every word of the line has to fit, and the "
        "number of words.": lambda world, line: _weighed(world, line, fits=_neighbours),
        "Sentences of another length pass as well, for zip stops at the shorter one: compare the "
        "number of words first.": lambda world, line: _weighed(world, line, fits=_cut_off),
        "Sentences of another length pass as well, for zip stops at the shorter one, and some end "
        "before the gap: compare the number of words first.": _falls_off,
        "You return how frequent each word is at this place over all sentences; only those that "
        "fit the line may count.": lambda world, line: _weighed(
            world, line, fits=lambda words, typed: True
        ),
        "You compare the number of words and nothing else; every word of the line has to fit.": (
            lambda world, line: _weighed(
                world, line, fits=lambda words, typed: len(words) == len(typed)
            )
        ),
        "You compare what stands left of the gap and the number of words; the right side has to "
        "fit as well.": lambda world, line: _weighed(
            world,
            line,
            fits=lambda words, typed: len(words) == len(typed) and _prefix(words, typed),
        ),
        "You look whether the words of the line occur, and not where: each has to stand at its own "
        "place.": lambda world, line: _weighed(world, line, fits=_any_order),
        "You compare how a sentence begins and how it ends; what stands between two gaps has to "
        "fit as well, and the number of words.": (
            lambda world, line: _weighed(world, line, fits=_ends)
        ),
        "You take the other gaps for words that have to stand there: any word fits a gap.": (
            lambda world, line: _weighed(world, line, fits=_gap_by_gap)
        ),
        "You answer for the last gap; asked for is the first.": lambda world, line: _weighed(
            world, line, gap=lambda typed: len(typed) - 1 - typed[::-1].index("_")
        ),
        "You put the words of all the gaps together; only the first gap is asked for.": _pooled,
        "You put the words of all the gaps together, and your shares sum to more than 1; only the "
        "first gap is asked for.": _pooled_unscaled,
        "You answer with the first sentence that fits: is your `return` inside the loop? Go "
        "through all sentences first.": _first_fitting,
        "You look at the first sentence and at no other: is your `return` inside the loop? Go "
        "through all sentences first.": _first_sentence,
        "You count sentences, unscaled: add up the probabilities, and divide by their sum.": (
            lambda world, line: _unscaled(world, line, weigh=lambda p: 1.0)
        ),
        "A loop over a dictionary gives its keys alone, here the sentences; "
        "`for sentence, p in world.items()` gives both.": _keys_alone,
    },
)
"""Mark ``fillings(world, line)``: probabilities by word for the first gap ``_`` of a line."""

# ── 6.2 ──────────────────────────────────────────────────────────────────────────────────────────

Rows = Sequence[Sequence[float]]


def floor(truths: Rows) -> float:
    """Return the mean of −Σ p log p over the questions, in nats."""
    return sum(-sum(p * math.log(p) for p in row if p) for row in truths) / len(truths)


def _mean_of(cost: Callable[[Sequence[float]], float]) -> Callable[..., float]:
    return lambda truths: sum(map(cost, truths)) / len(truths)


def answers(chance: random.Random) -> list[Probe]:
    """Make true distributions, some of them with impossible words."""
    probes: list[Probe] = [([[0.5, 0.5, 0.0]],), ([[1.0, 0.0], [0.5, 0.5]],)]
    for n in (2, 3, 5):
        rows = []
        for _ in range(n):
            shares = [chance.uniform(0.05, 1) * (chance.random() < 0.8) for _ in range(4)] + [0.1]
            rows.append([share / sum(shares) for share in shares])
        rows[0] = [0.25, 0.25, 0.0, 0.4, 0.1]
        probes.append((rows,))
    return probes


check_floor = Exercise(
    solution=floor,
    wants=number,
    probes=answers,
    solved="Who knows the truth pays −log p with probability p; the mean over the questions is the "
    "floor.",
    direction="For each row add up −p · log p over its words, and take the mean over the rows.",
    mistakes={
        "Your floor is negative, and nobody is paid for guessing: did you forget the minus?": (
            lambda truths: -floor(truths)
        ),
        "Your floor is right in bits; here it is in nats, so use math.log.": (
            lambda truths: floor(truths) / math.log(2)
        ),
        "You added up all the questions; the floor is their mean, so divide by how many there "
        "are.": lambda truths: floor(truths) * len(truths),
        "You divided by the number of words as well; only the questions are averaged, the words "
        "are weighed by p.": lambda truths: floor(truths) / len(truths[0]),
        "That is −log of the largest probability: it is paid only when the favourite stands there. "
        "Weigh the cost of every word with its probability.": _mean_of(lambda r: -math.log(max(r))),
        "You add up −log p without its weight p: a rare word is dear, but seldom paid for.": (
            _mean_of(lambda row: -sum(math.log(p) for p in row if p))
        ),
        "That is 1 minus the largest probability, how often the favourite is wrong; the floor is "
        "a mean cost, −Σ p log p.": _mean_of(lambda row: 1 - max(row)),
        "A word of probability 0 never comes and costs nothing; leave it out, for log 0 is not a "
        "number.": _mean_of(lambda row: -sum(p * math.log(p) for p in row)),
        "That is the entropy of the mean of the rows; take the entropy of each row, and then the "
        "mean.": lambda truths: floor(
            [[sum(column) / len(truths) for column in zip(*truths, strict=True)]]
        ),
        "Only your last question counts: does each one overwrite the sum? Add it up with +=.": (
            lambda truths: floor(truths[-1:]) / len(truths)
        ),
        "Only your first question counts: is your `return` inside the loop? Go through all "
        "questions first.": lambda truths: floor(truths[:1]),
        "Only your first question counts, divided by their number: is your `return` inside the "
        "loop? Go through all questions first.": lambda truths: floor(truths[:1]) / len(truths),
        "Only the first word of the first question counts: is your `return` inside the inner loop? "
        "Go through all words and all questions first.": (
            lambda truths: -truths[0][0] * math.log(truths[0][0])
        ),
        "Only the first word of the first question counts, divided by the number of questions: is "
        "your `return` inside the inner loop?": (
            lambda truths: -truths[0][0] * math.log(truths[0][0]) / len(truths)
        ),
        "You divided each question by the number of its possible words; the words are weighed by p "
        "already, so only the questions are averaged.": _mean_of(
            lambda row: floor([row]) / sum(p > 0 for p in row)
        ),
        "You divided by the number of all possible words; the words are weighed by p already, so "
        "divide by the number of questions.": lambda truths: (
            floor(truths) * len(truths) / sum(p > 0 for row in truths for p in row)
        ),
    },
)
"""Mark ``floor(truths)``: the mean entropy in nats of a list of distributions."""

# ── 6.3 ──────────────────────────────────────────────────────────────────────────────────────────


def excess(p: Sequence[float], q: Sequence[float]) -> float:
    """Return KL(p ‖ q) = Σ p log(p / q) in nats: what q pays above the floor if p is true."""
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)


def pairs(chance: random.Random) -> list[Probe]:
    """Make a truth and an answer; what is impossible in truth may be given something."""
    probes: list[Probe] = [([0.5, 0.5, 0.0], [0.8, 0.1, 0.1]), ([1.0, 0.0], [0.25, 0.75])]
    probes.append(([0.5, 0.3, 0.2], [0.2, 0.7, 0.1]))  # nothing impossible: no division by 0
    for n in (3, 4, 6):
        true = [chance.uniform(0.05, 1) for _ in range(n)]
        said = [chance.uniform(0.05, 1) for _ in range(n)]
        true[chance.randrange(1, n)] = 0.0
        probes.append(([a / sum(true) for a in true], [b / sum(said) for b in said]))
    return probes


def _sum_of(term: Callable[[float, float], float]) -> Callable[..., float]:
    return lambda p, q: sum(term(a, b) for a, b in zip(p, q, strict=True))


check_excess = Exercise(
    solution=excess,
    wants=number,
    probes=pairs,
    solved="Never negative, and 0 only for the truth itself: so far above the best is q. (It is no "
    "distance: with p and q exchanged it is another number.)",
    direction="Add up p · log(p / q) over the words that are possible, p > 0.",
    mistakes={
        "That is −Σ p log q, all that the model pays; take away the floor, −Σ p log p.": (
            _sum_of(lambda a, b: -a * math.log(b))
        ),
        "Your sign is turned: log(p / q) is positive where the model gave too little.": (
            lambda p, q: -excess(p, q)
        ),
        "You exchanged truth and model: the words come as p says, so p is the weight, and "
        "log(p / q) is what is paid too much.": (
            lambda p, q: sum(b * math.log(b / max(a, 1e-12)) for a, b in zip(p, q, strict=True))
        ),
        "You exchanged truth and model, both as the weight and in the fraction: the words come as "
        "p says, so it is p · log(p / q).": _sum_of(lambda a, b: b * math.log(b / a) if a else 0.0),
        "You exchanged truth and model: p is the weight and stands above, p · log(p / q), and "
        "where p = 0 there is nothing to add.": _sum_of(lambda a, b: b * math.log(b / a)),
        "You exchanged truth and model, so you get infinity where p = 0: it is p · log(p / q). (Of "
        "F.kl_div the first argument is log q, and the second is p.)": _sum_of(
            lambda a, b: b * math.log(b / a) if a else math.inf
        ),
        "Where p = 0 you divide by 0; such a word never comes, so leave it out.": (
            _sum_of(lambda a, b: -a * math.log(b / a))
        ),
        "Your sign is turned, and where p = 0 you divide by 0: it is p · log(p / q), for p > 0.": (
            _sum_of(lambda a, b: a * math.log(b / a))
        ),
        "You take every term as positive; where the model gave too much, p < q, the term is "
        "negative, so leave out abs.": _sum_of(lambda a, b: abs(a * math.log(a / b)) if a else 0.0),
        "You divide outside the logarithm: it is p · log(p / q), not p · log(p) / q.": (
            _sum_of(lambda a, b: a * math.log(a) / b if a else 0.0)
        ),
        "You subtract two entropies; what q pays is −Σ p log q, weighed by p, for the words come "
        "as the truth says.": lambda p, q: floor([q]) - floor([p]),
        "Your weight is q; the words come as the truth p says.": (
            _sum_of(lambda a, b: b * math.log(a / b) if a else 0.0)
        ),
        "You add up log(p / q) without the weight p: what seldom comes is seldom paid for.": (
            _sum_of(lambda a, b: math.log(a / b) if a else 0.0)
        ),
        "A word with p = 0 never comes and costs nothing; leave it out, for log 0 is not a "
        "number.": _sum_of(lambda a, b: a * math.log(a / b)),
        "That is in bits; here it is in nats, so use math.log.": (
            lambda p, q: excess(p, q) / math.log(2)
        ),
        "That is the floor, −Σ p log p, which the truth itself pays; what is asked for is how much "
        "more q pays.": _sum_of(lambda a, b: -a * math.log(a) if a else 0.0),
        "You add up differences of probabilities; the loss is made of logarithms, so weigh "
        "log(p / q) with p.": _sum_of(lambda a, b: abs(a - b)),
        "You add up differences of probabilities and halve them, the total variation; the loss is "
        "made of logarithms, so weigh log(p / q) with p.": _sum_of(lambda a, b: abs(a - b) / 2),
        "You squared the differences of the probabilities; weigh log(p / q) with p.": (
            _sum_of(lambda a, b: (a - b) ** 2)
        ),
        "You divided by the number of words; the sum is weighed by p already.": (
            lambda p, q: excess(p, q) / len(p)
        ),
        "Only the first possible word counts: is your `return` inside the loop?": (
            lambda p, q: next(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)
        ),
        "Only the last possible word counts: does each one overwrite the sum? Add it up with +=.": (
            lambda p, q: [a * math.log(a / b) for a, b in zip(p, q, strict=True) if a][-1]
        ),
    },
)
"""Mark ``excess(p, q)``: KL(p ‖ q) in nats for two lists of probabilities."""
