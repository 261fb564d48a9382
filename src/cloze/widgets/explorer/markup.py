"""How the explorer looks: from a state and its answers to markup, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from cloze.prediction import Answer
from cloze.vocabulary import counted, visible
from cloze.widgets.explorer.answers import Answers, Pairs, largest
from cloze.widgets.explorer.chart import bar, baseline_cost, chart, title
from cloze.widgets.explorer.line import line, occlusion_in_words
from cloze.widgets.explorer.room import MOST_HANDS, Hands, Paid, cost, unnamed, who
from cloze.widgets.explorer.state import VIEWS, State
from cloze.widgets.explorer.tally import in_words as tally_in_words
from cloze.widgets.view import (
    button,
    capitalised,
    element,
    form,
    in_bits,
    in_nats,
    join,
    problem_of,
    select,
    spoken,
    status,
    table_of,
)

HINT = "Click a letter to hide it, or drag over several."
TERMS_SHOWN = 6
"""How many terms of the sum are written out."""


# ── guesses at the focus ─────────────────────────────────────────────────────────────────────────


def guesses(answers: Answers, present: bool) -> Markup:
    """Write what everybody guesses at the focus, and what the last answer depends on."""
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
        return show_of_hands(state)
    parts = [chart(answers, 4 if present else 5, baseline=not present)]
    if at in state.hands:
        parts.append(element("p", _verdict(answers), class_="stakes"))
    if not present:
        parts.append(element("p", occlusion_in_words(answers), class_="quiet leans"))
    return join(parts)


def show_of_hands(state: State) -> Markup:
    """Write what guesses are made with, keys for characters or a list of longer symbols, and them.

    One guess is a show of one hand.
    """
    at, known = state.focus, state.symbols.known
    hands = state.hands.get(at, {})
    how = "Choose it" if state.wide else "Type it or choose it"
    return join(
        [
            element("p", f"What is hidden there? {how} once for every hand, then reveal."),
            _list(at, known) if state.wide else _keys(at, known, hands),
            element(
                "div",
                *(_raised(at, symbol, n) for symbol, n in hands.items()),
                class_="row hands",
            ),
            problem_of("count"),
            element("p", _stakes(hands, state), class_="quiet stakes") if hands else Markup(""),
        ]
    )


def _keys(at: int, known: Sequence[str], hands: Hands) -> Markup:
    keys = (
        button(
            join([element("span", visible(symbol)), element("small", hands.get(symbol, ""))]),
            "guess",
            data_with_at=at,
            data_with_key=symbol,
            aria_label=f"guess {spoken(symbol)}",
            class_="raised" if symbol in hands else None,
        )
        for symbol in sorted(known, key=str.isspace)
    )
    return element("div", *keys, role="group", aria_label="Raise a hand for", class_="row keys")


def _list(at: int, known: Sequence[str]) -> Markup:
    options = (element("option", symbol, value=symbol) for symbol in known)
    return form(
        "guess",
        element("label", "Raise a hand for", element("select", *options, name="key")),
        element("button", "Guess", type="submit"),
        data_with_at=at,
        class_="row",
    )


def _raised(at: int, symbol: str, n: int) -> Markup:
    """Write the hands for one symbol, to be counted by hand."""
    name = spoken(symbol)
    along = {"data_with_at": at, "data_with_key": symbol}
    count = element(
        "input",
        type="number",
        min=0,
        max=MOST_HANDS,
        value=n,
        aria_label=f"hands for {name}",
        data_do="count",
        **along,
    )
    return element(
        "span",
        element("b", visible(symbol)),
        button("−", "take", aria_label=f"one hand fewer for {name}", **along),
        count,
        button("+", "guess", aria_label=f"one more hand for {name}", **along),
        button("+10", "guess", aria_label=f"ten more hands for {name}", data_with_n=10, **along),
        data_key=symbol,
    )


def _stakes(hands: Hands, state: State) -> str:
    """Say what is left for a symbol that nobody named."""
    known, unit = state.symbols.known, state.symbols.unit
    p = unnamed(hands, known)
    return (
        f"One extra hand is shared by all {len(known)} {unit}s, so a {unit} without hands "
        f"still gets {p:.1g} and costs {in_bits(-math.log(p))} bits."
    )


def _verdict(answers: Answers) -> str:
    state = answers.asked
    at, known = state.focus, state.symbols.known
    hands, truth = state.hands[at], state.known_truth(at)
    if sum(hands.values()) == 1:
        (own,) = hands
        name, answer = answers.last
        verdict = "" if truth is None else (" It is right." if own == truth else " It is wrong.")
        p = answer[at][known.index(own)]
        said = f"Your guess: {visible(own)}.{verdict} The model gives it {p:.2f} {title(name)}."
    else:
        most = sorted(hands, key=lambda symbol: -hands[symbol])
        said = f"The room: {', '.join(f'{visible(symbol)} {hands[symbol]}' for symbol in most)}."
    return f"{said} {_stakes(hands, state)}"


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
    size, unit = len(state.symbols.vocabulary), state.symbols.unit
    if answers.baseline:
        costs = [baseline_cost(answers, at) for at in state.open]
        total = sum(cost for cost in costs if cost is not None)
        text = answers.baseline.text
        rows.append(_cost_row(f"unigram: how frequent each {unit} is in {text}", total, n))
    total = n * math.log(size)
    rows.append(_cost_row(f"log|V|: all {size} symbols equally likely", total, n))
    heads = ("guesser", "L in nats", "nats per gap", "bits per gap")
    table = table_of(heads, rows, "costs")
    return element(
        "details",
        element("summary", f"The whole line, {counted(n, 'gap')}, in the formula"),
        element("p", formula(last), class_="formula number"),
        table,
        open=n > 1,  # with one gap it only says again what the bars have said
        data_key="one gap" if n == 1 else "several gaps",
    )


# ── the other views ──────────────────────────────────────────────────────────────────────────────


def pair(answers: Answers) -> Markup:
    """Write the guesses at two gaps, apart and together."""
    state = answers.asked
    if state.hidden:
        return element("p", "Reveal first: this view shows guesses.")
    found = answers.pair
    if found is None:
        at = state.focus
        beside = [i for i in (at + 1, at - 1) if 0 <= i < len(state.truth)]
        free = [i for i in beside if i not in state.masked]
        hide = [button("Hide a neighbour", "toggle", data_with_at=i) for i in free[:1]]
        said = "Mask two positions, preferably side by side, to compare their guesses. "
        return element("p", said, *(hide if state.open else ()))

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
                f"Positions {found.first} and {found.second}. Apart, each gap is guessed without "
                "knowing the other. Together, the first is filled before the second is guessed. "
                "Fill one of them in the view Guesses, and the guess for the other changes.",
            ),
            element(
                "div",
                table("apart: P(a) · P(b)", found.apart),
                table("together: P(a) · P(b | a)", found.together),
                class_="tables",
            ),
        ]
    )


def _choice(what: str, n: int, chosen: int) -> Markup:
    return select(what, what, {i: i + 1 for i in range(n)}, chosen)


def attention(answers: Answers) -> Markup:
    """Write the choice of a head, and in words where it looks."""
    state = answers.asked
    weights = answers.attention
    if not weights:
        name, _ = answers.last
        return element("p", f"{capitalised(title(name))}: this model has no attention to show.")
    held = ["?" if i in state.open else symbol for i, symbol in enumerate(state.held)]
    places = ", ".join(
        f"position {i} ({visible(held[i])}) {weights[i]:.2f}" for i in largest(weights, 4)
    )
    return join(
        [
            element(
                "div",
                _choice("layer", answers.n_layers, state.layer),
                _choice("head", answers.n_heads, state.head),
                class_="row",
            ),
            element("p", f"From position {state.focus} this head looks at {places}."),
            element(
                "p",
                "Attention shows where a head reads, not why the model guesses as it does: what a "
                "head reads may matter little, and later layers change it again.",
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
        return element(
            "p", "Surprise needs a line without typed gaps, because it asks for the truth."
        )
    costs = answers.surprise
    places = ", ".join(
        f"{visible(state.truth[i])} at {i} ({in_nats(costs[i])})" for i in largest(costs, 5)
    )
    return join(
        [
            element(
                "p",
                f"What each {unit} costs, in nats, when only it is masked. The darker, the more "
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
        known, p = state.symbols.known, last[at].tolist()
        best = ", ".join(f"{spoken(known[i])} {p[i]:.2f}" for i in largest(p, 2))
        said.append(f"{capitalised(title(name))}: {best}.")
        hands, truth = state.hands.get(at), state.known_truth(at)
        paid = cost(hands, known, truth) if hands else None
        if hands and paid is not None:
            called = capitalised(who(sum(hands.values())))
            said.append(f"{called}: {math.exp(-paid):.2f} for the truth, {in_bits(paid)} bits.")
    if last.loss is not None and not state.hidden:
        said.append(
            f"Loss {in_nats(last.loss)} nats per gap, {counted(len(last.known_costs), 'gap')}."
        )
    return " ".join(said)


def told(answers: Answers) -> Markup:
    """Write what is said, beside the button that ends the guessing."""
    state, said = answers.asked, status(summary(answers))
    if not state.guess_first:
        return said
    reveal = button("Reveal", "reveal", aria_disabled=True if state.revealed else None)
    return element("div", reveal, said, class_="row")


def controls(state: State, examples: Iterable[str]) -> Markup:
    """Write what acts on the whole line."""
    kept_back = state.hidden and bool(state.masked)
    buttons = [
        button("Mask a word", "word"),
        button("Mask 15% at random", "random"),
        button("Unmask all", "unmask", aria_disabled=True if kept_back else None),
        button("Guess first", "guess_first", aria_pressed=state.guess_first),
    ]
    typed = form(
        "line",
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
        class_="row",
    )
    choice = select("Examples", "example", {"": "choose one", **{name: name for name in examples}})
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


def explorer(
    answers: Answers, examples: Iterable[str], paid: list[Paid], *, present: bool
) -> Markup:
    """Write the whole explorer.

    Args:
        answers: a state and its answers.
        examples: the names of lines to choose from.
        paid: what the room and the readers have paid so far.
        present: large, and less.
    """
    state = answers.asked
    shown = {
        "guesses": lambda: guesses(answers, present),
        "pair": lambda: pair(answers),
        "attention": lambda: attention(answers),
        "surprise": lambda: surprise(answers),
    }
    tools = controls(state, examples)
    hint = element("p", HINT, class_="quiet")
    parts = [
        tools if present else hint,
        line(answers),
        told(answers),
        Markup("") if present else views(state),
        element("div", shown[state.view](), class_="panel"),
    ]
    room = paid and state.guess_first
    line_is_told = not present and state.view in ("guesses", "pair")
    sums = [
        element("p", tally_in_words(paid), class_="tally") if room else None,
        costs_of_line(answers) if line_is_told else None,
    ]
    parts.append(element("div", *sums))
    if not present:
        parts.append(tools)
    return element("div", *parts, class_="explorer words" if state.wide else "explorer")
