"""Tasks whose answers are known: in the small world by its grammar, in English by hand."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cloze.corpus import DATA, read_text
from cloze.grammar import read_grammar
from cloze.masking import IGNORE, seeded
from cloze.vocabulary import BEGIN, PAD, VOCABULARY, TextError, Vocabulary, frame, normalise
from cloze.world import World

SEP = "[SEP]"
QUESTIONS = ("[WHO]", "[WHAT]", "[WHEN]", "[WHERE]", "[WHY]")
PAIR_LENGTH = 40
"""The longest input of two or three parts."""
Drawn = TypeVar("Drawn", bound=Hashable)


class Task(NamedTuple):
    """Labelled lines, in an order drawn once."""

    input_ids: Tensor
    """Shape ``(n, length)``, filled up with ``[PAD]``."""
    labels: Tensor
    """As the head wants them: ``(n,)``, ``(n, length)`` or ``(n, 2)``."""

    def split(self, n: int) -> tuple[Task, Task]:
        """Return the first ``n`` lines, and the others."""
        return Task(*(part[:n] for part in self)), Task(*(part[n:] for part in self))

    def reordered(self, seed: int) -> Task:
        """Return the same lines in another order, drawn with a seed."""
        order = torch.randperm(len(self.labels), generator=seeded(seed))
        return Task(*(part[order] for part in self))

    def without(self, other: Task) -> Task:
        """Return each line once, and none of those of another task, filled up to one length."""
        rows = {tuple(line): row for row, line in enumerate(self.input_ids.tolist())}
        for line in other.input_ids.tolist():
            rows.pop(tuple(line), None)
        return Task(*(part[[*rows.values()]] for part in self))


def distinct(drawn: Iterator[Drawn], n: int) -> list[Drawn]:
    """Draw until there are ``n`` different ones, so that no line is both learned and asked."""
    seen: dict[Drawn, None] = {}
    while len(seen) < n:
        seen[next(drawn)] = None
    return [*seen]


def shuffled(lines: Sequence[Tensor], labels: Tensor, pad_id: int) -> Task:
    """Fill lines up to one length and put them into an order drawn once."""
    padded = pad_sequence([*lines], batch_first=True, padding_value=pad_id)
    return Task(padded, labels).reordered(0)


# The small world: one sentence


def sentiment(world: World) -> Task:
    """Say whether the film or book was liked: 1 for *very good* and *not bad*, 0 otherwise.

    ``[MASK]`` replaces *liked* or *hated* in the sentence.
    """
    labelled = sorted(
        {
            (re.sub("liked|hated", "_", s), int("liked" in s))
            for s in world.sentences
            if " said that " in s
        }
    )
    labels = torch.tensor([label for _, label in labelled])
    return shuffled([world.encode(s) for s, _ in labelled], labels, world.vocabulary.ids[PAD])


ROLES = ("–", "who", "what", "whose", "where", "when")
SCENES = read_grammar(DATA / "world.toml")["scene"]


def roles(sentence: str) -> list[str]:
    """Return the role of each word of a sentence of the small world, as its grammar says them.

    Raises:
        TextError: no scene has this sentence.
    """
    words = sentence.split()
    for scene in SCENES:
        slots = scene["sentence"].split()
        if len(slots) == len(words) and all(
            slot[0] == "{" or slot == word for slot, word in zip(slots, words, strict=True)
        ):
            return [scene["roles"].get(slot.strip("{}"), "–") for slot in slots]
    raise TextError(f"{sentence!r:.80} is no sentence of the small world.")


def role_task(world: World) -> Task:
    """Say of every word what part it plays (``ROLES``)."""
    labels = torch.full_like(world.input_ids, IGNORE)
    for row, sentence in zip(labels, world.sentences, strict=True):
        indices = [ROLES.index(role) for role in roles(sentence)]
        row[1 : 1 + len(indices)] = torch.tensor(indices)
    return shuffled([*world.input_ids], labels, world.vocabulary.ids[PAD])


# The small world: two parts


def pair_vocabulary(world: World) -> Vocabulary:
    """Return the words of a world with ``[SEP]`` and five question words."""
    return world.vocabulary.with_specials(SEP, *QUESTIONS)


def parts(vocabulary: Vocabulary, *texts: str) -> Tensor:
    """Return the ids of ``[BEGIN]``, texts with ``[SEP]`` between them, ``[END]``."""
    return frame(f" {SEP} ".join(texts).split(), vocabulary)


TAKEN = re.compile(
    r"on (?P<day>\w+) (?P<who>\w+) (?P<verb>took|wore) (?P<what>\w+ \w+ (?P<thing>\w+)) "
    r"to (?P<place>\w+) because (?P<why>it was (?P<weather>\w+) \w+)"
)


PassageQuestion = tuple[str, tuple[str, str], str]
"""A question, the two sentences that it is about, and the answer."""


def passage_questions(world: World) -> Iterator[PassageQuestion]:
    """Ask who took what, when, where and why; two sentences are read, and one holds the answer."""
    chance = seeded(0)
    taken = [match for s in world.sentences if (match := TAKEN.fullmatch(s))]
    while True:
        kind, one, other, first = torch.randint(10**6, (4,), generator=chance).tolist()
        here, there = taken[one % len(taken)], taken[other % len(taken)]
        if here["who"] == there["who"] or here["thing"] == there["thing"]:
            continue
        who, verb, thing = here["who"], here["verb"], here["thing"]
        question, answer = [
            (f"[WHO] {verb} the {thing}", who),
            (f"[WHAT] {who} {verb}", here["what"]),
            (f"[WHEN] {who} {verb} the {thing}", here["day"]),
            (f"[WHERE] {who} {verb} the {thing}", here["place"]),
            (f"[WHY] {who} {verb} the {thing}", here["why"]),
        ][kind % 5]
        both = (here[0], there[0]) if first % 2 else (there[0], here[0])
        yield question, both, answer


def span_task(world: World, n: int) -> Task:
    """Find the answer in ``[BEGIN]`` question ``[SEP]`` sentence ``[SEP]`` sentence ``[END]``.

    Labels are the first and the last position of the answer.
    """
    vocabulary = pair_vocabulary(world)
    lines, spans = [], []
    for question, passage, answer in distinct(passage_questions(world), n):
        lines.append(parts(vocabulary, question, *passage))
        [sentence] = [s for s in passage if is_answered(question, s) and f" {answer} " in f" {s} "]
        before = [BEGIN, *question.split(), SEP]
        if sentence == passage[1]:
            before += [*passage[0].split(), SEP]
        words = sentence[: f" {sentence} ".index(f" {answer} ")].split()
        start = len(before) + len(words)
        spans.append([start, start + len(answer.split()) - 1])
    return shuffled(lines, torch.tensor(spans), vocabulary.ids[PAD])


def is_answered(question: str, sentence: str) -> bool:
    """Whether a sentence is the one that a question is about."""
    match = TAKEN.fullmatch(sentence)
    named = {match["who"], match["thing"]} if match else set()
    return bool(named & {*question.split()})


OTHERS = ("umbrella sledge", "boots coat", "raining snowing", "anna clara eva", "tom ben david")
"""Words that take the same place in the same scenes."""


def _other(word: str) -> str:
    """Return the first other word of its kind."""
    [kind] = [others.split() for others in OTHERS if word in others.split()]
    return next(other for other in kind if other != word)


def statements(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield what a sentence says in other words, each with a like one that it does not say."""
    if match := TAKEN.fullmatch(sentence):
        who, verb, thing = match["who"], match["verb"], match["thing"]
        said = f"{who} {verb} the {thing}"
        yield said, f"{who} {verb} the {_other(thing)}"
        yield said, f"{_other(who)} {verb} the {thing}"
        yield f"it was {match['weather']}", f"it was {_other(match['weather'])}"
    elif " said that " in sentence:
        [(work, how, what)] = re.findall(r"(film|book) was (very|not) (good|bad)", sentence)
        well = (how == "very") == (what == "good")
        good, bad = f"the {work} was good", f"the {work} was bad"
        yield (good, bad) if well else (bad, good)


def pairs(world: World) -> Iterator[tuple[str, str, int]]:
    """Draw a sentence, a statement, and whether the first says the second: 0 or 1.

    Half of the sentences are opinions; of these it is the part before *and*.
    """
    chance = seeded(0)
    told = [(s, [*map(tuple, statements(s))]) for s in world.sentences]
    kinds = [
        [(s, said) for s, said in told if said and (" said " in s) == opinion]
        for opinion in (False, True)
    ]
    while True:
        opinion, which, pair, label = torch.randint(10**6, (4,), generator=chance).tolist()
        among = kinds[opinion % 2]
        sentence, said = among[which % len(among)]
        statement = said[pair % len(said)][1 - label % 2]
        yield sentence.split(" and ")[0], statement, label % 2


# English

CHARACTERS = VOCABULARY.with_specials(PAD)
"""The 28 characters, ``[MASK]`` and ``[PAD]``, for lines that have not all one length."""
KINDS = ("PER", "LOC")
ENTITY_TAGS = ("O", *(f"{letter}-{kind}" for kind in KINDS for letter in "BI"))


class Named(NamedTuple):
    """A sentence as words, and what each is part of."""

    words: list[str]
    tags: list[str]


def named_sentences() -> list[Named]:
    """Read sentences with ``{PER:…}`` and ``{LOC:…}``, normalised, a tag for each word."""
    sentences = []
    for line in read_text(DATA / "labelled" / "entities.txt").splitlines():
        words: list[str] = []
        tags: list[str] = []
        for kind, name, plain in re.findall(r"\{(PER|LOC):([^{}]*)\}|([^{}]+)", line):
            new = normalise(name or plain).text.split()
            words += new
            tags += [f"{'BI'[k > 0]}-{kind}" if kind else "O" for k in range(len(new))]
        sentences.append(Named(words, tags))
    return sentences


def labelled_reviews() -> tuple[list[str], Tensor]:
    """Read what people wrote, and whether each was pleased (1) or not (0)."""
    lines = read_text(DATA / "labelled" / "reviews.tsv").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return [*texts], torch.tensor([int(label == "pos") for label in labels])


def review_task() -> Task:
    """Say whether somebody was pleased (1) or not (0)."""
    texts, labels = labelled_reviews()
    lines = [CHARACTERS.encode(normalise(text).text) for text in texts]
    return shuffled(lines, labels, CHARACTERS.ids[PAD])


class NaiveBayes:
    """Count how often features stand in texts of each class; the likeliest class by Bayes' rule.

    Every text is a collection of features, such as its words, each counted as often as it occurs.
    Counts begin at one.
    """

    def __init__(self, texts: Sequence[Sequence[str]], labels: Sequence[int]) -> None:
        known = sorted({feature for text in texts for feature in text})
        self.ids = {feature: n for n, feature in enumerate(known)}
        counts = torch.ones(max(labels) + 1, len(known), dtype=torch.float64)
        for text, label in zip(texts, labels, strict=True):
            here = torch.tensor([self.ids[f] for f in text])
            counts[label] += here.bincount(minlength=len(known))
        self.log_odds = (counts / counts.sum(1, keepdim=True)).log()
        self.prior = torch.bincount(torch.tensor(labels)).double().log()

    def classify(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Return the likeliest class of each text; unknown features do not count."""
        log_probs = [
            self.prior + self.log_odds[:, [self.ids[f] for f in text if f in self.ids]].sum(1)
            for text in texts
        ]
        return torch.stack(log_probs).argmax(1)
