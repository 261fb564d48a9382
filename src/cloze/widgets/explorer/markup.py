"""How the explorer looks: from a state and its answers to markup, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable

from markupsafe import Markup

from cloze.predictor import Answer
from cloze.vocabulary import counted, visible
from cloze.widgets.explorer.answers import Answers, Pairs, largest
from cloze.widgets.explorer.chart import bar, baseline_cost, chart, title
from cloze.widgets.explorer.line import leaning_in_words, line
from cloze.widgets.explorer.state import VIEWS, State
from cloze.widgets.view import button, element, in_bits, in_nats, join, problem_of, spoken, status

TERMS_SHOWN = 6
"""How many terms of the sum are written out."""


# ── guesses at the focus ─────────────────────────────────────────────────────────────────────────


def guesses(answers: Answers, present: bool) -> Markup:
    """Write what everybody guesses at the focus, and what the last answer leans on."""
    state = answers.asked
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
        return own_guess(state)
    parts = [chart(answers, 4 if present else 5, baseline=not present)]
    if at in state.guesses:
        parts.append(element("p", _verdict(answers)))
    if not present:
        parts.append(element("p", leaning_in_words(answers), class_="quiet leans"))
    return join(parts)


def own_guess(state: State) -> Markup:
    """Write what the learner guesses with: keys for characters, a list for longer symbols."""
    at, known = state.focus, state.symbols.known
    own = state.guesses.get(at)
    if state.wide:
        options = (
            element("option", symbol, value=symbol, selected=symbol == own) for symbol in known
        )
        return element(
            "form",
            element("label", "What stands there?", element("select", *options, name="key")),
            element("button", "Guess", type="submit"),
            element("span", "Then reveal.", class_="quiet"),
            data_do="guess",
            data_with_at=at,
            class_="row",
        )
    keys = (
        button(
            visible(symbol),
            "guess",
            data_with_at=at,
            data_with_key=symbol,
            aria_label=f"guess {spoken(symbol)}",
            aria_pressed=symbol == own,
        )
        for symbol in sorted(known, key=str.isspace)
    )
    return join(
        [
            element("p", "What stands there? Type it or choose it, then reveal."),
            element("div", *keys, role="group", aria_label="Your guess", class_="row keys"),
        ]
    )


def _verdict(answers: Answers) -> str:
    state = answers.asked
    own, truth = state.guesses[state.focus], state.known_truth(state.focus)
    name, answer = answers.last
    p = answer[state.focus][state.symbols.known.index(own)]
    verdict = "" if truth is None else (" It is right." if own == truth else " It is wrong.")
    return f"Your guess: {visible(own)}.{verdict} The model gives it {p:.2f} {title(name)}."


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


def costs_of_line(answers: Answers) -> Markup:
    """Write the loss of the whole line, against log|V| and the unigram."""
    state = answers.asked
    _, last = answers.last
    n = len(last.known_costs)
    if not n:
        return Markup("")
    if state.hidden:
        return element("p", "The loss is shown when you reveal.", class_="quiet")
    rows = [
        _cost_row(title(name), sum(answer.known_costs), n, name)
        for name, answer in answers.by_name.items()
    ]
    size, unit = state.symbols.size, state.symbols.unit
    if answers.baseline:
        costs = [baseline_cost(answers, at) for at in state.open]
        total = sum(cost for cost in costs if cost is not None)
        text = answers.baseline.text
        rows.append(_cost_row(f"unigram: how frequent each {unit} is in {text}", total, n))
    total = n * math.log(size)
    rows.append(_cost_row(f"log|V|: all {size} symbols equally likely", total, n))
    heads = ("who guesses", "L in nats", "nats per gap", "bits per gap")
    return join(
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


def pair(answers: Answers) -> Markup:
    """Write the guesses at two gaps, apart and together."""
    state = answers.asked
    if state.hidden:
        return element("p", "Reveal first: this view shows guesses.")
    found = answers.pair
    if found is None:
        return element("p", "Mask two positions, best side by side, to compare their guesses.")

    between = " " if state.wide else ""

    def table(title: str, rows: Pairs) -> Markup:
        guessed = (
            element(
                "tr",
                element("th", between.join(map(visible, symbols)), scope="row", class_="middle"),
                element("td", bar(p), class_="both"),
                data_key=" ".join(symbols),
            )
            for symbols, p in rows
        )
        return element(
            "table",
            element("caption", element("b", title)),
            element("tbody", *guessed),
            class_="chart both",
        )

    return join(
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


def attention(answers: Answers) -> Markup:
    """Write the choice of a head, and in words where it looks."""
    state = answers.asked
    weights = answers.attention
    if not weights:
        name, _ = answers.last
        return element("p", f"{title(name).capitalize()}: there is no attention.")
    held = ["?" if i in state.open else symbol for i, symbol in enumerate(state.held)]
    places = ", ".join(
        f"position {i} ({visible(held[i])}) {weights[i]:.2f}" for i in largest(weights, 4)
    )
    return join(
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


def surprise(answers: Answers) -> Markup:
    """Write in words what surprises."""
    state = answers.asked
    unit = state.symbols.unit
    if state.hidden:
        return element("p", f"Reveal first: this view shows what each {unit} costs.")
    if state.gaps:
        return element("p", "Surprise needs a line without gaps of unknown truth.")
    costs = answers.surprise
    places = ", ".join(
        f"{visible(state.truth[i])} at {i} ({in_nats(costs[i])})" for i in largest(costs, 5)
    )
    return join(
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


def summary(answers: Answers) -> str:
    """Say in one or two sentences what happened and what is guessed at the focus."""
    state = answers.asked
    said = [state.event]
    at = state.focus
    name, last = answers.last
    if at in state.open and not state.hidden:
        known, p = state.symbols.known, last[at]
        best = ", ".join(f"{spoken(known[i])} {p[i]:.2f}" for i in largest(p, 2))
        said.append(f"{title(name).capitalize()}: {best}.")
    if last.loss is not None and not state.hidden:
        said.append(
            f"Loss {in_nats(last.loss)} nats per gap, {counted(len(last.known_costs), 'gap')}."
        )
    return " ".join(said)


def controls(state: State, examples: Iterable[str], present: bool) -> Markup:
    """Write what acts on the whole line."""
    kept_back = state.hidden and bool(state.masked)
    buttons = [
        button("Mask a word", "word"),
        button("Mask 15 % at random", "random"),
        button("Unmask all", "unmask", aria_disabled=True if kept_back else None),
        button("Guess first", "guess_first", aria_pressed=state.guess_first),
    ]
    if state.guess_first:
        buttons.append(button("Reveal", "reveal", aria_disabled=True if state.revealed else None))
    buttons.append(button("Present", "present", aria_pressed=present, data_full=True))
    typed = element(
        "form",
        element(
            "label",
            "Your line",
            element(
                "input",
                type="text",
                name="text",
                size=30,
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
    return element(
        "div",
        element("div", *buttons, class_="row"),
        element("div", typed, choice, class_="row"),
        class_="controls",
    )


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


def explorer(answers: Answers, examples: Iterable[str], *, present: bool) -> Markup:
    """Write the whole explorer."""
    state = answers.asked
    shown = {
        "guesses": lambda: guesses(answers, present),
        "pair": lambda: pair(answers),
        "attention": lambda: attention(answers),
        "surprise": lambda: surprise(answers),
    }
    parts = [
        controls(state, examples, present),
        line(answers),
        status(summary(answers)),
        Markup("") if present else views(state),
        element("div", shown[state.view](), class_="panel"),
    ]
    if not present and state.view in ("guesses", "pair"):
        parts.append(costs_of_line(answers))
    looks = ["explorer", "present" * present, "words" * state.wide]
    return element("div", *parts, class_=" ".join(filter(None, looks)))
