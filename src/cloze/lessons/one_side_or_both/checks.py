"""The exercises of notebook 07."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cloze.masking import seeded
from cloze.prediction.answers import predict, top_k
from cloze.prediction.causal import log_posterior
from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number, positions, wrong_kind
from cloze.teaching.texts import line_with_gap, words_met
from cloze.vocabulary import VOCABULARY, visible

# ── 7.1 ──────────────────────────────────────────────────────────────────────────────────────────

Next = Mapping[str, Mapping[str, float]]
"""The probability of each next word, by the words so far."""


def chain_cost(P: Next, words: Sequence[str]) -> float:
    """Add up −log P(word | all words before it) over the words of a sentence, in nats."""
    return -sum(math.log(P[" ".join(words[:i])][word]) for i, word in enumerate(words))


def sentences(chance: Chance) -> Probes:
    """Make sentences, some with a word twice, and the next words after many beginnings."""
    for length in (3, 4, 1, 5, 3):
        words = [chance.choice(["dog", "cat", "barks", "sleeps", "here"]) for _ in range(length)]
        if length > 3:
            words[-1] = words[0]
        beginnings = [" ".join(words[:i]) for i in range(length + 1)]
        table = {}
        for beginning in dict.fromkeys([*beginnings, *words]):
            odds = {word: chance.uniform(0.1, 1) for word in dict.fromkeys([*words, "owl"])}
            table[beginning] = {word: p / sum(odds.values()) for word, p in odds.items()}
        yield table, words


check_chain_cost = Exercise(
    solution=chain_cost,
    minutes=10,
    wants=number,
    probes=sentences,
    solved="The costs add because the probabilities multiply: that is the chain rule.",
    direction="Add up −math.log of P[the words before, joined by spaces][the word] for every word.",
)

# ── 7.2 ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Leaky:
    """A causal model made up for a test, in which some predictions see more than they should."""

    extra: tuple[tuple[int, int], ...] = ()
    """Pairs (i, j): prediction i also sees the character at position j, with j ≥ i."""

    def __call__(self, line: Tensor) -> Tensor:
        """Return logits ``(length, |V|)`` for ids ``(length,)``."""
        n = line.shape[-1]
        sees = torch.ones(n, n).tril(-1)
        vectors = torch.randn(len(VOCABULARY), len(VOCABULARY), generator=seeded(0))
        logits = (sees * torch.arange(1, n + 1)) @ vectors[line]
        for i, j in self.extra:  # a leak need not be large, nor move all symbols
            logits[i, :5] += 0.01 * (j + 1) * vectors[line[j], :5]
        return logits

    def __repr__(self) -> str:
        leaks_named = " and ".join(f"prediction {i} sees position {j}" for i, j in self.extra)
        return f"a model in which {leaks_named}" if leaks_named else "a model without a leak"


def leaks(model: Callable[[Tensor], Tensor], line: Tensor) -> list[int]:
    """List the predictions that change with the character at their position or after it."""
    before, found = model(line), set()
    for j in range(len(line)):
        changed = line.clone()
        changed[j] = (line[j] + 1) % 28
        moved = (model(changed) != before).any(dim=1)
        found |= {i for i in range(j + 1) if moved[i]}
    return sorted(found)


def models_and_lines(chance: Chance) -> Probes:
    """Make models with leaks from near and from far, and lines, some with id 0 where it matters."""
    pairs = ((2, 5), (4, 5)), ((1, 2), (5, 6)), ((0, 3), (2, 3)), ((2, 4), (2, 6), (1, 1))
    for extra in ((), ((3, 3),), ((0, 6),), *pairs, ((0, 0),)):
        length = 1 if extra == ((0, 0),) else 7
        ids = [chance.randrange(1, VOCABULARY.n_ordinary) for _ in range(length)]
        for _, j in extra[:1]:
            ids[j] = 0
        yield Leaky(extra), torch.tensor(ids)


check_leaks = Exercise(
    solution=leaks,
    minutes=10,
    wants=positions,
    probes=models_and_lines,
    solved="Run it on every causal model that you build, before you trust its loss.",
    direction="Change each character in turn, and collect the positions up to and including it "
    "whose predictions change.",
)

# ── 7.3 ──────────────────────────────────────────────────────────────────────────────────────────

FORM = 'Hand in a line with one gap and its letter: ("the c_t sat on the mat", "a").'


def line_and_letter(value: Any) -> tuple[str, int, int]:
    """Read a line with a gap and the letter in it: the line in full, the gap, the letter's id."""
    kinds = [type(part) for part in value] if isinstance(value, tuple | list) else []
    if kinds == [str, int]:
        raise Symptom(f"You hand in {value[1]} with the line; give the letter itself. {FORM}")
    if kinds != [str, str]:
        raise Symptom(f"You hand in {kind_of(value)}. {FORM}")
    typed, letter = value
    text, gap = line_with_gap(typed, letter, FORM)
    for word in text.split():
        if word not in words_met():
            raise Symptom(
                f"With your letter the line contains {word!r}, which is not in the training text. "
                "Take words that both models have met."
            )
    return text, gap, VOCABULARY.ids[letter]


def _judge_only_bayes(answer: Any) -> str:
    text, gap, letter = line_and_letter(answer)
    line = VOCABULARY.encode(text)
    bayes = log_posterior(shipped_model("causal"), line, [gap]).exp()
    look = predict(shipped_model(), line, [gap])[gap]
    facts = f"{text[:gap]}[{text[gap]}]{text[gap + 1 :]}. "
    for way, p in (("Bayes' rule", bayes), ("One forward pass of the masked model", look)):
        [best] = top_k(p, 1)
        facts += f"{way}: {visible(best.character)!r} {best.probability:.2f}"
        facts += f", and {text[gap]!r} {p[letter]:.2f}. " if best.character != text[gap] else ". "
    if bayes.argmax() != letter:
        bayesian = visible(VOCABULARY.symbols[int(bayes.argmax())])
        if bayes.argmax() != look.argmax():
            raise Symptom(
                f"{facts}Bayes' rule finds another letter than yours. Hand in the letter that "
                f"really belongs there. If that is not {bayesian!r}, look for another line."
            )
        raise Symptom(
            f"{facts}Both fill your gap with {bayesian!r}. Look for a line where the text after "
            "the gap rules out the other candidates."
        )
    if look.argmax() == letter:
        raise Symptom(
            f"{facts}The masked model gets it right, too. Try a letter whose neighbours allow "
            "several letters, while the words around it allow only one."
        )
    return facts.rstrip()


check_only_bayes = Exercise(
    solution=("it was a cold and _ark night", "d"),
    minutes=12,
    solved="Bayes' rule tried every candidate and read each line to its end.",
    judge=_judge_only_bayes,
)
# ── 7.4 ──────────────────────────────────────────────────────────────────────────────────────────


def posterior(costs: Mapping[str, float]) -> dict[str, float]:
    """Return P(candidate | the rest of the line) from the cost of the line with each candidate."""
    least = min(costs.values())
    weights = {candidate: math.exp(least - cost) for candidate, cost in costs.items()}
    total = sum(weights.values())
    return {candidate: weight / total for candidate, weight in weights.items()}


def lines_scored(chance: Chance) -> Probes:
    """Make costs of short lines, one for each candidate in the gap."""
    return [
        ({c: round(base + chance.uniform(0, 4), 3) for c in chance.sample("abcdeo", n)},)
        for base, n in ((20, 3), (12, 4), (3, 2), (30, 5), (8, 3), (0.5, 1))
    ] + [({"a": 2.5, "b": 0.0, "c": 2.5},)]


def probabilities_by_name(value: object) -> dict[str, float]:
    """Read a dict of probabilities."""
    if not isinstance(value, dict):
        raise wrong_kind(value, "a dict with the probability of each candidate")
    return {str(key): number(p) for key, p in value.items()}


check_posterior = Exercise(
    solution=posterior,
    minutes=12,
    wants=probabilities_by_name,
    probes=lines_scored,
    solved="Each line's probability, divided by the sum over all candidates: Bayes' rule.",
    direction="P(line) is e^−cost. Divide each one by the sum of all.",
    limits={
        "It fails for long lines, though: e^−800 is 0 as a float, so every share becomes 0/0. "
        "First subtract the smallest cost from all of them; that factor divides out.": (
            {"a": 800.0, "b": 801.0},
        ),
    },
)
