"""How the explorer looks: from a state and its answers to markup, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from cloze.predictor import Answer
from cloze.vocabulary import counted, visible
from cloze.widgets.explorer.answers import Answers, Pairs, largest
from cloze.widgets.explorer.state import VIEWS, State
from cloze.widgets.view import button, element, in_bits, in_nats, problem_of, spoken, status

TERMS_SHOWN = 6
"""How many terms of the sum are written out."""
TITLES = {"left": "from the left", "right": "from the right", "both": "from both sides"}


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


def _wide(state: State) -> bool:
    """Whether symbols are longer than a character, so that they need room and no key types them."""
    return any(len(symbol) > 1 for symbol in state.symbols.known)


# ── the line ─────────────────────────────────────────────────────────────────────────────────────


def letter(state: State, at: int, answers: Answers) -> Markup:
    """Write one position of the line as a button."""
    masked, filled = at in state.masked, state.filled.get(at)
    truth = None if masked and state.hidden else state.known_truth(at)
    guess = state.guesses.get(at)
    uncovered = state.view == "surprise" and bool(answers.surprise) and not state.hidden
    said = [f"position {at}"]
    below = Markup("")
    classes = ["letter"]
    style = None
    if masked and not uncovered:
        classes.append("filled" if filled else "masked")
        shown = visible(filled) if filled else "?"
        said.append(f"masked, filled with {spoken(filled)}" if filled else "masked")
        if truth:
            said.append(f"in truth {spoken(truth)}")
            below = element("small", visible(truth))
        elif guess:
            said.append(f"you guess {spoken(guess)}")
            below = element("small", f"{visible(guess)}?")
    else:
        symbol = state.truth[at]
        shown = visible(symbol)
        said.append(spoken(symbol))
        if symbol.isspace():
            classes.append("space")
    weight = None
    if state.view == "attention" and answers.attention:
        weight = answers.attention[at]
        said.append(f"attention {weight:.2f}")
        below = element("small", f"{weight:.2f}".removeprefix("0") if weight >= 0.05 else "")
    elif uncovered:
        weight = min(answers.surprise[at] / 6, 1)
        said.append(f"{in_nats(answers.surprise[at])} nats")
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
    # Each part begins with a word and ends with the space behind it.
    starts = [word.start for word in state.symbols.words(state.truth)[1:]]
    parts = zip([0, *starts], [*starts, len(state.truth)], strict=True)
    words = (_join(letter(state, at, answers) for at in range(*part)) for part in parts)
    length = counted(len(state.truth), state.symbols.unit)
    return element(
        "div",
        *(element("span", word, class_="word") for word in words),
        role="group",
        aria_label=f"The line, {length}. Space masks, arrows move, "
        "Shift and an arrow mask as they move.",
        class_="line",
        data_arrows="focus",
        data_span="span",
        data_keys="guess" if state.hidden and not _wide(state) else None,
    )


# ── guesses at the focus ─────────────────────────────────────────────────────────────────────────


def _bar_row(label: object, probability: float, remark: str = "") -> Markup:
    return element(
        "tr",
        element("th", label, scope="row"),
        element("td", element("span", class_="bar", style=f"--p: {100 * probability:.1f}%")),
        element("td", f"{probability:.2f}", class_="number"),
        element("td", remark),
    )


def guess_table(
    state: State,
    title: str,
    class_: str,
    probabilities: Sequence[float],
    cost: float | None,
    k: int,
    *,
    to_fill: bool = True,
    last_row: Markup | None = None,
) -> Markup:
    """Write the likeliest symbols at the focus with bars, and the truth if it is not among them.

    Args:
        state: the state.
        title: who guesses.
        class_: gives the bars their colour.
        probabilities: in the order of the known symbols.
        cost: what the truth costs, in nats; None where it is not known.
        k: how many symbols.
        to_fill: makes each symbol a button that fills the gap with it.
        last_row: is put below.
    """
    known, at = state.symbols.known, state.focus
    truth = state.known_truth(at)
    shown = largest(probabilities, k)
    paid = ""
    if cost is not None and truth is not None:
        paid = f"costs {in_nats(cost)} nats = {in_bits(cost)} bits"
        shown = [*shown, known.index(truth)] if truth not in [known[i] for i in shown] else shown
    rows = []
    for i in shown:
        label: object = visible(known[i])
        if to_fill:
            label = button(
                label,
                "fill",
                data_with_at=at,
                data_with_symbol=known[i],
                aria_label=f"fill position {at} with {spoken(known[i])}",
            )
        rows.append(_bar_row(label, probabilities[i], "✓ truth" if known[i] == truth else ""))
    return element(
        "table",
        element("caption", element("b", title), element("span", paid, class_="number")),
        element("tbody", *rows, last_row),
        class_=f"guesses {class_}",
    )


def guesses(state: State, answers: Answers, present: bool) -> Markup:
    """Write what everybody guesses at the focus, side by side."""
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
        how = "Decide" if _wide(state) else "Type a letter while the gap has the focus"
        return element("p", f"What stands there? {how}, then reveal.")
    k = 3 if present else 5
    tables = [
        guess_table(state, TITLES.get(name, name), name, answer[at], answer.cost(at), k)
        for name, answer in answers.by_name.items()
    ]
    if answers.baseline and not present:
        tables.append(
            guess_table(
                state,
                "without looking",
                "unigram",
                answers.baseline.probabilities,
                baseline_cost(state, answers, at),
                k,
                to_fill=False,
                last_row=_bar_row("each", 1 / state.symbols.size, "uniform"),
            )
        )
    parts = [element("div", *tables, class_="tables")]
    if at in state.guesses:
        parts.append(element("p", _own_guess(state, answers)))
    return _join(parts)


def _own_guess(state: State, answers: Answers) -> str:
    own, truth = state.guesses[state.focus], state.known_truth(state.focus)
    name, answer = answers.last
    p = answer[state.focus][state.symbols.known.index(own)]
    verdict = "" if truth is None else (" It is right." if own == truth else " It is wrong.")
    title = TITLES.get(name, name)
    return f"Your guess: {visible(own)}.{verdict} The model gives it {p:.2f} {title}."


def baseline_cost(state: State, answers: Answers, at: int) -> float | None:
    """Return −log P of the truth in nats for whoever knows frequencies only; None if unknown."""
    truth = state.known_truth(at)
    if answers.baseline is None or truth is None:
        return None
    return answers.baseline.cost(state.symbols.known.index(truth))


# ── the whole line ───────────────────────────────────────────────────────────────────────────────


def formula(answer: Answer) -> str:
    """Write L = −Σ log P with its numbers in it."""
    costs = answer.known_costs
    if not costs:
        return ""
    more = len(costs) - TERMS_SHOWN
    logs = " + ".join(f"log {math.exp(-cost):.2f}" for cost in costs[:TERMS_SHOWN])
    terms = " + ".join(in_nats(cost) for cost in costs[:TERMS_SHOWN])
    rest = f" + … ({more} more)" if more > 0 else ""
    inside = f"−({logs}{rest})"
    middle = f" = {terms}{rest}" if len(costs) > 1 else ""
    return f"L = −Σ log P(x_i | x̃) = {inside}{middle} = {in_nats(sum(costs))} nats"


def _cost_row(name: str, total: float, n: int, class_: str = "") -> Markup:
    return element(
        "tr",
        element("th", name, scope="row"),
        *(
            element("td", value, class_="number")
            for value in (in_nats(total), in_nats(total / n), in_bits(total / n))
        ),
        class_=class_ or None,
    )


def costs_of_line(state: State, answers: Answers) -> Markup:
    """Write the loss of the whole line, against log|V| and the unigram."""
    _, last = answers.last
    n = len(last.known_costs)
    if not n:
        return Markup("")
    if state.hidden:
        return element("p", "The loss is shown when you reveal.", class_="quiet")
    rows = [
        _cost_row(TITLES.get(name, name), sum(answer.known_costs), n, name)
        for name, answer in answers.by_name.items()
    ]
    size, unit = state.symbols.size, state.symbols.unit
    if answers.baseline:
        costs = [baseline_cost(state, answers, at) for at in state.open]
        total = sum(cost for cost in costs if cost is not None)
        text = answers.baseline.text
        rows.append(_cost_row(f"unigram: how frequent each {unit} is in {text}", total, n))
    total = n * math.log(size)
    rows.append(_cost_row(f"log|V|: all {size} symbols equally likely", total, n))
    heads = ("who guesses", "L in nats", "nats per gap", "bits per gap")
    return _join(
        [
            element("p", formula(last), class_="formula number"),
            element(
                "table",
                element("caption", f"The whole line, {counted(n, 'gap')}", class_="quiet"),
                element("thead", element("tr", *(element("th", h, scope="col") for h in heads))),
                element("tbody", *rows),
                class_="costs",
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

    between = " " if _wide(state) else ""

    def table(title: str, rows: Pairs) -> Markup:
        return element(
            "table",
            element("caption", element("b", title)),
            element(
                "tbody",
                *(_bar_row(between.join(map(visible, symbols)), p) for symbols, p in rows),
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
    if not weights:
        name, _ = answers.last
        return element("p", f"{TITLES.get(name, name).capitalize()}: there is no attention.")
    held = ["?" if i in state.open else symbol for i, symbol in enumerate(state.held)]
    places = ", ".join(
        f"position {i} ({visible(held[i])}) {weights[i]:.2f}" for i in largest(weights, 4)
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


def surprise(state: State, answers: Answers) -> Markup:
    """Write in words what surprises."""
    unit = state.symbols.unit
    if state.hidden:
        return element("p", f"Reveal first: this view shows what each {unit} costs.")
    if state.gaps:
        return element("p", "Surprise needs a line without gaps of unknown truth.")
    costs = answers.surprise
    places = ", ".join(
        f"{visible(state.truth[i])} at {i} ({in_nats(costs[i])})" for i in largest(costs, 5)
    )
    return _join(
        [
            element(
                "p",
                f"What each {unit} costs when it alone is masked, in nats; the darker, the more "
                "surprising.",
            ),
            element(
                "p", f"Most surprising: {places}. Mean {in_nats(sum(costs) / len(costs))} nats."
            ),
        ]
    )


# ── all of it ────────────────────────────────────────────────────────────────────────────────────


def summary(state: State, answers: Answers) -> str:
    """Say in one or two sentences what happened and what is guessed at the focus."""
    said = [state.event]
    at = state.focus
    name, last = answers.last
    if at in state.open and not state.hidden:
        known, p = state.symbols.known, last[at]
        best = ", ".join(f"{spoken(known[i])} {p[i]:.2f}" for i in largest(p, 2))
        said.append(f"{TITLES.get(name, name).capitalize()}: {best}.")
    if last.loss is not None and not state.hidden:
        said.append(
            f"Loss {in_nats(last.loss)} nats per gap, {counted(len(last.known_costs), 'gap')}."
        )
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
            problem_of("line"),
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
        parts.append(costs_of_line(state, answers))
    looks = ["explorer", "present" * present, "words" * _wide(state)]
    return element("div", *parts, class_=" ".join(filter(None, looks)))
