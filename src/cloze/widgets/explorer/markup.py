"""How the explorer looks: from a state and the models' answers to markup, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from torch import Tensor

from cloze.baselines import uniform_loss
from cloze.loss import to_bits
from cloze.prediction import Comparison, Guess, Prediction, top_k
from cloze.vocabulary import VOCABULARY, counted, visible
from cloze.widgets.explorer.state import VIEWS, State
from cloze.widgets.view import button, element, status

TERMS_SHOWN = 6
"""How many terms of the sum are written out."""
TITLES = {"left": "from the left", "right": "from the right", "both": "from both sides"}


@dataclass(frozen=True)
class Pair:
    """What is guessed at two gaps: apart, and together."""

    first: int
    second: int
    apart: list[tuple[str, float]]
    """Pairs of characters and the product of their two probabilities, best first."""
    together: list[tuple[str, float]]
    """Pairs of characters and their joint probability, best first."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What the models say to a state; the parts that the state's view does not show are empty."""

    comparison: Comparison
    """The answers at the open positions, of the model that reads both sides last."""
    unigram: Tensor
    """P(character) without any context, shape ``(n_characters,)``."""
    pair: Pair | None = None
    attention: Tensor | None = None
    """Where the chosen head looks from the focus, shape ``(length,)``."""
    n_layers: int = 1
    n_heads: int = 1
    surprise: list[float] = field(default_factory=list)
    """−log P of each character in nats when it alone is masked."""


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


def name_of(character: str) -> str:
    """Return how a screen reader is to say a character."""
    return {" ": "space", "\n": "new line"}.get(character, character)


# ── the line ─────────────────────────────────────────────────────────────────────────────────────


def letter(state: State, at: int, answers: Answers) -> Markup:
    """Write one position of the line as a button."""
    masked, filled = at in state.masked, state.filled.get(at)
    truth = None if masked and state.hidden else state.truth(at)
    guess = state.guesses.get(at)
    uncovered = state.view == "surprise" and bool(answers.surprise) and not state.hidden
    said = [f"position {at}"]
    below = Markup("")
    classes = ["letter"]
    style = None
    if masked and not uncovered:
        classes.append("filled" if filled else "masked")
        shown = visible(filled) if filled else "?"
        said.append(f"masked, filled with {name_of(filled)}" if filled else "masked")
        if truth:
            said.append(f"in truth {name_of(truth)}")
            below = element("small", visible(truth))
        elif guess:
            said.append(f"you guess {name_of(guess)}")
            below = element("small", f"{visible(guess)}?")
    else:
        character = state.line[at]
        shown = visible(character)
        said.append(name_of(character))
        if character.isspace():
            classes.append("space")
    weight = None
    if state.view == "attention" and answers.attention is not None:
        weight = float(answers.attention[at])
        said.append(f"attention {weight:.2f}")
        below = element("small", f"{weight:.2f}".removeprefix("0") if weight >= 0.05 else "")
    elif uncovered:
        weight = min(answers.surprise[at] / 6, 1)
        said.append(f"{answers.surprise[at]:.2f} nats")
        below = element("small", f"{answers.surprise[at]:.1f}" if weight > 1 / 6 else "")
    if weight is not None:
        classes.append("heat")
        style = f"--heat: {100 * weight:.0f}%"
    return button(
        _join([element("span", shown), below]),
        "toggle",
        class_=" ".join(classes),
        style=style,
        data_with_at=at,
        tabindex=0 if at == state.focus else -1,
        aria_pressed=masked,
        aria_current="true" if at == state.focus else None,
        aria_label=", ".join(said),
    )


def line(state: State, answers: Answers) -> Markup:
    """Write the line, broken only between words."""
    words: list[list[Markup]] = [[]]
    for at, character in enumerate(state.line):
        words[-1].append(letter(state, at, answers))
        if character.isspace():
            words.append([])
    return element(
        "div",
        *(element("span", _join(word), class_="word") for word in words if word),
        role="group",
        aria_label=f"The line, {len(state.line)} characters. Space masks, arrows move, "
        "Shift and an arrow mask as they move.",
        class_="line",
        data_arrows="focus",
        data_span="span",
        data_keys="guess" if state.hidden else None,
    )


# ── guesses at the focus ─────────────────────────────────────────────────────────────────────────


def _row(guess: Guess, truth: str | None, at: int | None) -> Markup:
    character, probability = guess
    symbol = visible(character)
    label: object = symbol
    if at is not None:
        label = button(
            symbol,
            "fill",
            data_with_at=at,
            data_with_character=character,
            aria_label=f"fill position {at} with {name_of(character)}",
        )
    return _bar_row(label, probability, "✓ truth" if character == truth else "")


def _bar_row(label: object, probability: float, remark: str) -> Markup:
    return element(
        "tr",
        element("th", label, scope="row"),
        element("td", element("span", class_="bar", style=f"--p: {100 * probability:.1f}%")),
        element("td", f"{probability:.2f}", class_="number"),
        element("td", remark),
    )


def guess_table(
    title: str,
    class_: str,
    probabilities: Tensor,
    truth: str | None,
    cost: float | None,
    k: int,
    *,
    fill_at: int | None = None,
    last_row: Markup | None = None,
) -> Markup:
    """Write the likeliest characters with bars, and the truth if it is not among them.

    Args:
        title: who guesses.
        class_: gives the bars their colour.
        probabilities: shape ``(n_characters,)``.
        truth: the true character, if it is known.
        cost: what the truth costs, in nats.
        k: how many characters.
        fill_at: makes each character a button that fills this position with it.
        last_row: is put below.
    """
    best = top_k(probabilities, k)
    paid = "" if cost is None else f"costs {cost:.2f} nats = {to_bits(cost):.2f} bits"
    if truth is not None and truth not in [guess.character for guess in best]:
        best.append(Guess(truth, float(probabilities[VOCABULARY.ids[truth]])))
    return element(
        "table",
        element("caption", element("b", title), element("span", paid, class_="number")),
        element("tbody", *(_row(guess, truth, fill_at) for guess in best), last_row),
        class_=f"guesses {class_}",
    )


def guesses(state: State, answers: Answers, present: bool) -> Markup:
    """Write what every model guesses at the focus, side by side."""
    at = state.focus
    if at in state.filled:
        filled = visible(state.filled[at])
        return element(
            "p",
            f"Position {at} holds {filled}, and the models read it. ",
            button("Empty it", "empty", data_with_at=at),
        )
    if at not in state.masked:
        return element(
            "p",
            f"Position {at} is not masked. Click it, or press Space, to hide it and see "
            "what the models guess.",
        )
    if state.hidden:
        return element(
            "p",
            "What stands there? Type a letter while the gap has the focus, then reveal.",
        )
    truth = state.truth(at)
    k = 3 if present else 5
    tables = [
        guess_table(
            TITLES.get(name, name), name, prediction[at], truth, prediction.cost(at), k, fill_at=at
        )
        for name, prediction in answers.comparison.predictions.items()
    ]
    if not present:
        uniform = _bar_row("each", 1 / len(VOCABULARY), "uniform")
        cost = None if truth is None else unigram_cost(answers, truth)
        tables.append(
            guess_table(
                "without looking", "unigram", answers.unigram, truth, cost, k, last_row=uniform
            )
        )
    parts = [element("div", *tables, class_="tables")]
    own = state.guesses.get(at)
    if own is not None:
        parts.append(element("p", _own_guess(own, truth, at, answers.comparison)))
    return _join(parts)


def _own_guess(own: str, truth: str | None, at: int, comparison: Comparison) -> str:
    *_, (name, prediction) = comparison.predictions.items()
    p = float(prediction[at][VOCABULARY.ids[own]])
    verdict = "" if truth is None else (" It is right." if own == truth else " It is wrong.")
    title = TITLES.get(name, name)
    return f"Your guess: {visible(own)}.{verdict} The model gives it {p:.2f} {title}."


def unigram_cost(answers: Answers, character: str) -> float:
    """Return −log P of a character in nats for whoever knows frequencies only."""
    return -math.log(float(answers.unigram[VOCABULARY.ids[character]]))


# ── the whole line ───────────────────────────────────────────────────────────────────────────────


def formula(prediction: Prediction) -> str:
    """Write L = −Σ log P with its numbers in it."""
    costs = prediction.known_costs
    if not costs:
        return ""
    more = len(costs) - TERMS_SHOWN
    logs = " + ".join(f"log {math.exp(-cost):.2f}" for cost in costs[:TERMS_SHOWN])
    terms = " + ".join(f"{cost:.2f}" for cost in costs[:TERMS_SHOWN])
    rest = f" + … ({more} more)" if more > 0 else ""
    inside = f"−({logs}{rest})"
    middle = f" = {terms}{rest}" if len(costs) > 1 else ""
    return f"L = −Σ log P(x_i | x̃) = {inside}{middle} = {sum(costs):.2f} nats"


def _price_row(name: str, total: float, n: int, class_: str = "") -> Markup:
    return element(
        "tr",
        element("th", name, scope="row"),
        *(
            element("td", f"{value:.2f}", class_="number")
            for value in (total, total / n, to_bits(total / n))
        ),
        class_=class_ or None,
    )


def prices(state: State, answers: Answers) -> Markup:
    """Write the loss of the whole line, against log|V| and the unigram price."""
    *_, last = answers.comparison.predictions.values()
    known = [c for at in state.open if (c := state.truth(at)) is not None]
    if not known:
        return Markup("")
    if state.hidden:
        return element("p", "The loss is shown when you reveal.", class_="quiet")
    n = len(known)
    unigram = sum(unigram_cost(answers, c) for c in known)
    rows = [
        _price_row(TITLES.get(key, key), sum(prediction.known_costs), n, key)
        for key, prediction in answers.comparison.predictions.items()
    ]
    rows.append(_price_row("unigram: how frequent each letter is", unigram, n))
    rows.append(_price_row("log|V|: all 29 symbols equally likely", n * uniform_loss(), n))
    heads = ("", "L in nats", "nats a gap", "bits a gap")
    return _join(
        [
            element("p", formula(last), class_="formula number"),
            element(
                "table",
                element("caption", f"The whole line, {counted(n, 'gap')}", class_="quiet"),
                element("thead", element("tr", *(element("th", h, scope="col") for h in heads))),
                element("tbody", *rows),
                class_="prices",
            ),
        ]
    )


# ── the other views ──────────────────────────────────────────────────────────────────────────────


def pair(state: State, answers: Answers) -> Markup:
    """Write the guesses at two gaps, apart and together."""
    if state.hidden:
        return element("p", "Reveal first: this view shows guesses.")
    found = answers.pair
    if found is None:
        return element("p", "Mask two positions, best side by side, to compare their guesses.")

    def table(title: str, rows: Sequence[tuple[str, float]]) -> Markup:
        return element(
            "table",
            element("caption", element("b", title)),
            element(
                "tbody",
                *(_bar_row("".join(map(visible, characters)), p, "") for characters, p in rows),
            ),
            class_="guesses both",
        )

    return _join(
        [
            element(
                "p",
                f"Positions {found.first} and {found.second}. Each gap is guessed without knowing "
                "what the other holds; guessed together, the first is filled before the second is "
                "guessed. Fill one (Guesses), and the other changes.",
            ),
            element(
                "div",
                table("apart: P(a) · P(b)", found.apart),
                table("together: P(a) · P(b | a)", found.together),
                class_="tables",
            ),
        ]
    )


def _choice(label: str, do: str, n: int, chosen: int) -> Markup:
    options = (
        element("option", i + 1, value=i, selected=True if i == chosen else None) for i in range(n)
    )
    return element("label", label, element("select", *options, data_do=do))


def attention(state: State, answers: Answers) -> Markup:
    """Write the choice of a head, and in words where it looks."""
    weights = answers.attention
    assert weights is not None
    strongest = top_positions(weights.tolist(), 4)
    places = ", ".join(
        f"position {i} ({visible(_read(state, i))}) {weights[i]:.2f}" for i in strongest
    )
    return _join(
        [
            element(
                "div",
                _choice("layer", "layer", answers.n_layers, state.layer),
                _choice("head", "head", answers.n_heads, state.head),
                class_="row",
            ),
            element("p", f"From position {state.focus} this head looks at {places}."),
            element(
                "p",
                "Attention shows where a head reads, not why the guess came out as it did: what is "
                "read may count for little, and the layers after it change it again.",
                class_="quiet",
            ),
        ]
    )


def _read(state: State, at: int) -> str:
    """Return what the models read at a position."""
    return "?" if at in state.open else state.filled.get(at, state.line[at])


def surprise(state: State, answers: Answers) -> Markup:
    """Write in words which characters surprise."""
    if state.hidden:
        return element("p", "Reveal first: this view shows what the characters cost.")
    if state.gaps:
        return element("p", "Surprise needs a line without gaps of unknown truth.")
    costs = answers.surprise
    places = ", ".join(
        f"{visible(state.line[i])} at {i} ({costs[i]:.2f})" for i in top_positions(costs, 5)
    )
    return _join(
        [
            element(
                "p",
                "What each character costs when it alone is masked, in nats; the darker, the more "
                "surprising.",
            ),
            element("p", f"Most surprising: {places}. Mean {sum(costs) / len(costs):.2f} nats."),
        ]
    )


def top_positions(values: Sequence[float], k: int) -> list[int]:
    """Return the indices of the ``k`` largest values, largest first."""
    return sorted(range(len(values)), key=lambda i: -values[i])[:k]


# ── all of it ────────────────────────────────────────────────────────────────────────────────────


def summary(state: State, answers: Answers) -> str:
    """Say in one or two sentences what happened and what the models answer at the focus."""
    said = [state.event]
    at = state.focus
    *_, (name, last) = answers.comparison.predictions.items()
    if at in state.open and not state.hidden:
        best = ", ".join(f"{name_of(g.character)} {g.probability:.2f}" for g in top_k(last[at], 2))
        said.append(f"{TITLES.get(name, name).capitalize()}: {best}.")
    if last.loss is not None and not state.hidden:
        said.append(f"Loss {last.loss:.2f} nats a gap, {counted(len(last.known_costs), 'gap')}.")
    return " ".join(said)


def controls(state: State, examples: Iterable[str], present: bool) -> Markup:
    """Write what acts on the whole line."""
    buttons = [
        button("Mask a word", "word"),
        button("Mask 15 % at random", "random"),
        button("Unmask all", "unmask"),
        button("Guess first", "guess_first", aria_pressed=state.guess_first),
    ]
    if state.guess_first:
        buttons.append(button("Reveal", "reveal", aria_disabled=True if state.revealed else None))
    rows = [element("div", *buttons, class_="row")]
    if not present:
        typed = element(
            "form",
            element(
                "label",
                "Your line",
                element(
                    "input",
                    type="text",
                    name="text",
                    size=40,
                    autocomplete="off",
                    placeholder="type or paste, _ for a gap",
                ),
            ),
            element("button", "Use it", type="submit"),
            data_do="line",
            class_="row",
        )
        choice = element(
            "label",
            "Examples",
            element(
                "select",
                element("option", "choose one", value=""),
                *(element("option", name, value=name) for name in examples),
                data_do="example",
            ),
        )
        rows.append(element("div", typed, choice, class_="row"))
    return _join(rows)


def views(state: State) -> Markup:
    """Write the choice of a view."""
    return element(
        "div",
        *(
            button(label, "view", data_with_view=view, aria_pressed=view == state.view)
            for view, label in VIEWS.items()
        ),
        role="group",
        aria_label="View",
        class_="row views",
    )


def explorer(state: State, answers: Answers, examples: Iterable[str], *, present: bool) -> Markup:
    """Write the whole explorer."""
    shown = {
        "guesses": lambda: guesses(state, answers, present),
        "pair": lambda: pair(state, answers),
        "attention": lambda: attention(state, answers),
        "surprise": lambda: surprise(state, answers),
    }
    parts = [
        controls(state, examples, present),
        line(state, answers),
        status(summary(state, answers)),
        Markup("") if present else views(state),
        element("div", shown[state.view](), class_="panel"),
    ]
    if not present and state.view in ("guesses", "pair"):
        parts.append(prices(state, answers))
    return element("div", *parts, class_="explorer present" if present else "explorer")
