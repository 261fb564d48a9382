"""The questions of an exam, drawn anew for every paper and answered by the series' own code.

A template draws its numbers from a ``random.Random`` and returns a :class:`Question`: the text in
Markdown, and the key. Each takes the same number of operations whatever is drawn, so no paper is
harder than another by that measure. ``lecture.exam`` makes the papers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import torch
from torch import nn

from cloze.corpus import Corpus
from cloze.ledger import parameter_ledger
from cloze.lessons.a_small_world.checks import fillings
from cloze.lessons.one_side_or_both.checks import posterior
from cloze.lessons.the_encoder.checks import my_attention
from cloze.lessons.the_loss.checks import summed_loss
from cloze.lessons.the_mask.checks import coverage
from cloze.masking import IGNORE, corrupt, mask_tokens
from cloze.vocabulary import VOCABULARY, visible

Number = int | float


class Question(NamedTuple):
    """One question of one paper."""

    text: str
    """In Markdown, with everything that is needed to answer it."""
    key: tuple[Number, ...]
    """The numbers to hand in: those that are int must be exact, the others to three decimals."""
    operations: int
    """How many additions, multiplications, logarithms … or comparisons an answer by hand takes."""


class Template(NamedTuple):
    """What a question is about, and how to draw one."""

    title: str
    draw: Callable[[random.Random], Question]
    open_book: bool
    """Whether somebody with the package at hand still has to understand the question.

    For the others one function of the package gives the answer.
    """


TEMPLATES: dict[str, Template] = {}


def template(
    title: str, *, open_book: bool
) -> Callable[[Callable[[random.Random], Question]], Callable[[random.Random], Question]]:
    """Register a template by the name of its function."""

    def register(draw: Callable[[random.Random], Question]) -> Callable[[random.Random], Question]:
        TEMPLATES[draw.__name__] = Template(title, draw, open_book)
        return draw

    return register


def right(key: Sequence[Number], given: object) -> bool:
    """Tell whether an answer is right.

    Args:
        key: what is to be handed in.
        given: a number, or as many in a row as the key has; anything else is wrong.
    """
    numbers = [*given] if isinstance(given, list | tuple) else [given]
    # Rounding on the way to three decimals is forgiven; a count is right or wrong.
    return len(numbers) == len(key) and all(
        isinstance(n, int | float)
        and abs(n - k) <= (0 if isinstance(k, int) else max(0.002, 0.005 * abs(k)))
        for n, k in zip(numbers, key, strict=True)
    )


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """Write a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def shares(chance: random.Random, parts: int, whole: int = 20) -> list[float]:
    """Cut 1 into parts that are multiples of ``1 / whole``, none of them 0."""
    cuts = sorted(chance.sample(range(1, whole), parts - 1))
    ends = zip([0, *cuts], [*cuts, whole], strict=True)
    return [(end - start) / whole for start, end in ends]


PEOPLE = ("anna", "ben", "clara", "david", "emma", "felix", "greta", "hugo")
ACTS = ("buys", "finds", "paints", "sees", "sells", "wants")
THINGS = ("apples", "books", "boats", "flowers", "hats", "lamps", "maps", "stones")
WORDS = ("garden", "winter", "planet", "silver", "bridge", "candle", "orange", "window")


@template("A loss by hand", open_book=False)
def loss(chance: random.Random) -> Question:
    """Ask for −Σ log P over three selected positions of a word."""
    word = chance.choice(WORDS)
    selected = sorted(chance.sample(range(len(word)), 3))
    rows = []
    for letter in word:
        others = chance.sample([c for c in "abcdefghijklmnoprstuw" if c != letter], 2)
        letters = sorted([letter, *others])
        rows.append(dict(zip(letters, shares(chance, 3), strict=True)))
    said = [
        [i, letter, ", ".join(f"{c}: {p:.2f}" for c, p in row.items())]
        for i, (letter, row) in enumerate(zip(word, rows, strict=True))
    ]
    text = (
        f"A model reads the word *{word}* with some letters hidden. For each position the table "
        "has the true letter and the probabilities that the model gives. The positions "
        f"M = {{{', '.join(map(str, selected))}}} were selected. What is the loss L, the sum over "
        "M, in nats?\n\n" + table(["position", "true letter", "P"], said)
    )
    return Question(text, (summed_loss(rows, word, selected),), 3 + 2)


@template("The rule behind the counts", open_book=True)
def rule(chance: random.Random) -> Question:
    """Ask for the two shares of a masking function, of which only counts are known."""
    a, b = chance.choice(range(50, 86, 5)) / 100, chance.choice(range(2, 9)) / 10
    generator = torch.Generator().manual_seed(chance.getrandbits(31))
    n = 20_000
    ids = torch.randint(VOCABULARY.n_ordinary, (n,), generator=generator)
    everywhere = torch.ones(n, dtype=torch.bool)
    batch = corrupt(ids, everywhere, mask_share=a, random_share=(1 - a) * b, generator=generator)
    hidden = int((batch.inputs == VOCABULARY.mask_id).sum())
    same = int((batch.inputs == ids).sum())
    text = (
        "For each selected position, a masking function first draws a number and hides the "
        "character if it is below *a*. Only if the character was not hidden, it draws a second "
        "number, and swaps the character for a random one if that number is below *b*. The "
        f"random one is drawn from all {VOCABULARY.n_ordinary} characters. Of {n:,} selected "
        f"positions, {hidden:,} show `[MASK]`, {n - hidden - same:,} another character and "
        f"{same:,} the true one. What are *a*, a multiple of 0.05, and *b*, a multiple of 0.1?"
    )
    return Question(text, (a, b), 4)


def said(sentences: Mapping[str, float]) -> str:
    """Write what is said in a world, and how often."""
    return table(["sentence", "P"], [[text, f"{p:.2f}"] for text, p in sentences.items()])


@template("The floor of a small world", open_book=False)
def floor(chance: random.Random) -> Question:
    """Ask for the loss of the best reader where the last word of each sentence is hidden."""
    (a, b), (v, w), (p, q) = (chance.sample(some, 2) for some in (PEOPLE, ACTS, THINGS))
    lines = [f"{a} {v} {p}", f"{a} {v} {q}", f"{a} {w} {p}"]
    lines += [f"{b} {v} {p}", f"{b} {v} {q}", f"{b} {w} {q}"]
    world = dict(zip(lines, shares(chance, 6), strict=True))
    least = 0.0
    for sentence, often in world.items():
        *before, last = sentence.split()
        least -= often * math.log(fillings(world, " ".join([*before, "_"]))[last])
    text = (
        "In a small world only these sentences are said. The last word of each is hidden, and the "
        "reader knows the world and sees the other two words. What is the least that any reader "
        "can pay on average, in nats per sentence?\n\n" + said(world)
    )
    return Question(text, (least,), 2 + 4 + 4 + 4 + 3)


@template("A gap filled by Bayes' rule", open_book=False)
def bayes(chance: random.Random) -> Question:
    """Ask for the probability of a candidate, of which the costs of whole lines are known."""
    word = chance.choice(WORDS)
    at = chance.randrange(len(word))
    others = chance.sample([c for c in "abcdefghijklmnoprstuw" if c != word[at]], 3)
    letters = sorted([word[at], *others])
    base = chance.uniform(18, 40)
    costs = {c: round(base + chance.uniform(0, 2.5), 2) for c in letters}
    asked = chance.choice(letters)
    rows = [[f"{word[:at]}**{c}**{word[at + 1 :]}", f"{cost:.2f}"] for c, cost in costs.items()]
    text = (
        f"A causal model reads a line whose last word is {word[:at]}▢{word[at + 1 :]}, with each "
        "of four letters in the gap, and the table has what the whole line costs. No other letter "
        f"is possible. What is the probability of **{asked}** in this gap?\n\n"
        + table(["last word", "cost of the line in nats"], rows)
    )
    return Question(text, (posterior(costs)[asked],), 3 + 3 + 3 + 1)


@template("A ledger of parameters", open_book=False)
def ledger(chance: random.Random) -> Question:
    """Ask for the number of parameters of an encoder."""
    vocabulary, positions = chance.randrange(2, 60) * 1000, chance.choice((128, 256, 512, 1024))
    width, layers = chance.randrange(4, 33) * 32, chance.randrange(3, 13)
    inner = chance.choice((2, 3, 4)) * width
    parts = parameter_ledger(vocabulary, width, layers, inner, positions=positions)
    text = (
        f"An encoder has a vocabulary of {vocabulary:,} symbols, a table of {positions:,} learned "
        f"positions, hidden states of width {width} and {layers} layers. A layer has one norm "
        "before its attention and one before its feed-forward network. Its attention has four "
        f"linear maps from {width} to {width}; its network has one up to {inner:,} and one back. "
        f"After the last layer come one more norm and a linear head from {width} to {vocabulary:,} "
        "with weights of its own. All linear maps have biases; a norm has a scale and a shift for "
        "each of its numbers. How many parameters does the encoder have? Give the exact number."
    )
    return Question(text, (sum(parts.values()),), 17)


@template("A broken training loop", open_book=True)
def loop(chance: random.Random) -> Question:
    """Ask what a loop computes that never sets the gradient to zero, and what it should."""
    start, rate = chance.randrange(1, 9) / 2, chance.choice((0.05, 0.1))
    steps = [(chance.randrange(1, 4), chance.randrange(-4, 9)) for _ in range(2)]

    def after(*, repaired: bool) -> float:
        w = nn.Parameter(torch.tensor(start, dtype=torch.float64))
        optimizer = torch.optim.SGD([w], lr=rate)
        for x, y in steps:
            if repaired:
                optimizer.zero_grad()
            torch.autograd.backward((w * x - y) ** 2)
            optimizer.step()
        return round(w.item(), 6)

    key = after(repaired=False), after(repaired=True)
    if right(key[:1], key[1]):  # the first step has found the minimum: draw another one
        return loop(chance)
    text = (
        "A line is missing from this loop, and PyTorch does not complain. Which value does `w` "
        "have after it as it stands? And which value with the missing line?\n\n"
        "```python\n"
        f"w = nn.Parameter(torch.tensor({start}))\n"
        f"optimizer = torch.optim.SGD([w], lr={rate})\n"
        f"for x, y in {steps}:\n"
        "    loss = (w * x - y) ** 2\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "```"
    )
    return Question(text, key, 2 * 5 + 1 + 5)


@template("Two gaps at once", open_book=True)
def order(chance: random.Random) -> Question:
    """Ask what is lost by filling two gaps at once instead of one after the other."""
    (a, b), (p, q, r) = chance.sample(PEOPLE, 2), chance.sample(THINGS, 3)
    act = chance.choice(ACTS)
    lines = [f"{a} {act} {p}", f"{a} {act} {q}", f"{b} {act} {q}", f"{b} {act} {r}"]
    world = dict(zip(lines, shares(chance, 4), strict=True))
    first = fillings(world, f"_ {act} _")
    last: dict[str, float] = {}
    for person, share in first.items():
        for thing, p_thing in fillings(world, f"{person} {act} _").items():
            last[thing] = last.get(thing, 0.0) + share * p_thing
    nonsense = sum(
        first[x] * last[y] for x, y in product(first, last) if f"{x} {act} {y}" not in world
    )
    text = (
        f"In a small world only these sentences are said. A reader that knows the world writes "
        f"into *▢ {act} ▢*. It fills both gaps at once: it draws each word with its true "
        "probability, given the line with both gaps, and independently of the other. With which "
        "probability is the result not a sentence of this world?\n\n" + said(world)
    )
    return Question(text, (nonsense,), 1 + 1 + 2 + 1)


@template("A collator on trial", open_book=True)
def collator(chance: random.Random) -> Question:
    """Ask which two labels of a batch are wrong."""
    ids, length = _training_ids(), 24
    while True:
        begin = chance.randrange(len(ids) - length)
        line = ids[begin : begin + length]
        generator = torch.Generator().manual_seed(chance.getrandbits(31))
        inputs, labels = mask_tokens(
            line, 0.4, mask_share=0.5, random_share=0.25, generator=generator
        )
        asked = labels != IGNORE
        changed = (asked & (inputs != line)).nonzero().flatten().tolist()
        kept = (asked & (inputs == line)).sum()
        if len(changed) == 6 and kept == 2:
            break
    missing, wrong = chance.sample(changed, 2)
    labels[missing] = IGNORE
    labels[wrong] = chance.choice([i for i in range(1, 27) if i != line[wrong]])
    symbols = [visible(symbol) for symbol in VOCABULARY.symbols]
    rows = [
        [i, symbols[line[i]], symbols[inputs[i]], "" if labels[i] == IGNORE else symbols[labels[i]]]
        for i in range(length)
    ]
    text = (
        "A collator selects positions, hides, swaps or keeps the character at each of them, and "
        "writes the true character as label. At exactly two positions its label cannot be right. "
        "A label may be wrong, or missing. Which positions are they, the smaller number first? "
        "(␣ is a space, ▒ is `[MASK]`.)\n\n"
        + table(["position", "text", "the model reads", "label"], rows)
    )
    return Question(text, tuple(sorted((missing, wrong))), length)


@template("How much is ever asked", open_book=False)
def ever(chance: random.Random) -> Question:
    """Ask which share of a text masks select that are drawn once, a few times, or anew."""
    rate, copies = chance.randrange(80, 321) / 1000, chance.randrange(2, 6)
    epochs = copies + chance.randrange(2, 9)
    text = (
        f"A masking function selects {rate:.1%} of the positions, each independently. A model "
        f"reads a long text for {epochs} epochs. Which share of the positions is selected at "
        f"least once if {copies} masked copies of the text were made beforehand and are used in "
        "turn? And which share if the masks are drawn anew in every epoch?"
    )
    key = (coverage(epochs, rate, copies), coverage(epochs, rate, epochs))
    return Question(text, key, 2 + 2)


@template("Attention by hand", open_book=False)
def attention(chance: random.Random) -> Question:
    """Ask for the output of a causal head of width 1."""
    query = chance.choice((0.5, 1.0, 1.5, 2.0))
    keys = [chance.randrange(-10, 11) / 10 for _ in range(4)]
    values = [chance.randrange(-9, 10) for _ in range(4)]
    look = torch.ones(4, 4, dtype=torch.bool).tril()
    read = torch.tensor([[query] * 4, keys, values], dtype=torch.float64)[..., None]
    output = my_attention(read[0], read[1], read[2], look)[2].item()
    rows = [[i, f"{k:.1f}", v] for i, (k, v) in enumerate(zip(keys, values, strict=True))]
    text = (
        "A causal head has queries, keys and values of width 1. The table has its keys and values "
        f"at four positions. The query at position 2 is {query}. What is the output of the head "
        "at position 2?\n\n" + table(["position", "key", "value"], rows)
    )
    return Question(text, (output,), 3 + 3 + 2 + 3 + 2 + 1)


@cache
def _training_ids() -> torch.Tensor:
    """Return the text of which a collator's line is a part."""
    return Corpus.load().train_ids
