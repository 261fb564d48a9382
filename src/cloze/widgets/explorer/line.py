"""The line of the explorer: each position a button, and on it what the view says of it."""

from __future__ import annotations

from markupsafe import Markup

from cloze.vocabulary import GAP, counted, visible
from cloze.widgets.explorer.answers import Answers, largest
from cloze.widgets.explorer.chart import title
from cloze.widgets.view import button, capitalised, element, in_nats, join, spoken

DARKEST = {"occlusion": 1.5, "attention": 1.0, "surprise": 6.0}
"""What is shaded darkest: nats, a share of the attention, nats."""
LEAST = 0.05
"""The least that is written beneath a position or in words."""


def shades(answers: Answers) -> tuple[str, list[float]]:
    """Return what the shades of the line stand for, and how much of it each position has."""
    state = answers.asked
    if state.view == "guesses" and not state.hidden:
        return "occlusion", list(answers.occlusion)
    if state.view == "attention":
        return "attention", list(answers.attention)
    if state.view == "surprise" and not state.hidden:
        return "surprise", list(answers.surprise)
    return "", []


def heat(kind: str, amount: float) -> int:
    """Return how dark an amount is, in percent: in tens, so that no picture changes for nothing."""
    return 10 * round(10 * min(max(amount / DARKEST[kind], 0), 1))


def letter(answers: Answers, at: int, *, live: bool) -> Markup:
    """Write one position of the line: a button, or in a picture that stays a mere box."""
    state = answers.asked
    masked, filled = at in state.masked, state.filled.get(at)
    truth = None if masked and state.hidden else state.known_truth(at)
    hands = state.hands.get(at, {})
    kind, amounts = shades(answers)
    said = [f"position {at}"]
    below = ""
    classes = ["letter"]
    style = None
    if masked and not (kind == "surprise" and amounts):
        classes.append("filled" if filled else "masked")
        shown = visible(filled) if filled else "?"
        said.append(f"masked, filled with {spoken(filled)}" if filled else "masked")
        if truth:
            said.append(f"the truth is {spoken(truth)}")
            below = visible(truth)
        elif hands:
            raised = ", ".join(f"{spoken(symbol)} {n}" for symbol, n in hands.items())
            alone = sum(hands.values()) == 1
            said.append(f"you guess {spoken(next(iter(hands)))}" if alone else f"hands: {raised}")
            below = f"{visible(max(hands, key=hands.__getitem__))}?"
    else:
        symbol = state.truth[at]
        shown = visible(symbol)
        said.append(spoken(symbol))
        if symbol.isspace():
            classes.append("space")
    if amounts and not (kind == "occlusion" and at in state.open):
        amount = amounts[at]
        classes.append(f"heat {kind}")
        style = f"--heat: {heat(kind, amount)}%"
        if kind == "attention":
            said.append(f"attention {amount:.2f}")
            written = f"{amount:.2f}".removeprefix("0").removesuffix(".00")
            below = written if amount >= LEAST else ""
        elif kind == "surprise":
            said.append(f"{in_nats(amount)} nats")
            below = f"{amount:.1f}" if amount > 1 else ""
        elif abs(amount) >= LEAST:
            said.append(f"if hidden: {signed(amount)} nats")
            below = f"{amount:.1f}".replace("inf", "∞") if amount >= 0.1 else ""
    if not live:  # where styles are not trusted, the bare line is left
        glyphs = [element("span", shown), element("small", data_below=below)]
        return element("span", *glyphs, class_=" ".join(classes), style=style)
    return button(
        join([element("span", shown), element("small", below)]),
        "toggle",
        class_=" ".join(classes),
        style=style,
        data_with_at=at,
        tabindex=0 if at == state.focus else -1,
        aria_pressed=masked,
        aria_current="true" if at == state.focus else None,
        aria_label=", ".join(said),
    )


def signed(amount: float) -> str:
    """Write a change: "+0.96", "−0.11"."""
    return f"{amount:+.2f}".replace("-", "−").replace("inf", "∞")


def line(answers: Answers, *, live: bool = True) -> Markup:
    """Write the line, broken only between words."""
    state = answers.asked
    # Each part begins with a word and ends with the space behind it.
    starts = [word.start for word in state.symbols.words(state.truth)[1:]]
    parts = zip([0, *starts], [*starts, len(state.truth)], strict=True)
    words = (join(letter(answers, at, live=live) for at in range(*part)) for part in parts)
    length = counted(len(state.truth), state.symbols.unit)
    boxes = (element("span", word, class_="word") for word in words)
    if not live:
        gapped = (GAP if i in state.open else symbol for i, symbol in enumerate(state.held))
        text = f"The line, {GAP} for a gap: {state.symbols.write(list(gapped))}"
        spaced = (part for box in boxes for part in (box, " " * state.wide))
        return element("div", *spaced, role="img", aria_label=text, class_="line")
    return element(
        "div",
        *boxes,
        role="group",
        aria_label=f"The line, {length}. Space masks, arrows move, "
        "Shift and an arrow mask as they move.",
        class_="line",
        data_arrows="focus",
        data_span="span",
        data_keys="guess" if state.hidden and not state.wide else None,
    )


def occlusion_in_words(answers: Answers) -> str:
    """Say what the last answer at the focus depends on, and what misleads it."""
    costs = answers.occlusion
    if not costs:
        return ""
    state = answers.asked
    top = [i for i in largest([abs(cost) for cost in costs], 3) if abs(costs[i]) >= LEAST]
    name, _ = answers.last
    who = capitalised(title(name))
    what = "costs" if state.known_truth(state.focus) else "changes the answer by"
    nothing = f"{who}: the answer does not depend on any single {state.symbols.unit}"
    if not top:
        return f"{nothing}; hiding one more {what} less than {LEAST} nats."
    shaded = any(heat("occlusion", cost) for cost in costs)
    if shaded and all(costs[i] < 0 for i in top):  # what is seen is named, too
        top = [*top[:2], *largest(costs, 1)]
    listed = ", ".join(f"{visible(state.held[i])} at {i} {signed(costs[i])}" for i in top)
    if all(costs[i] < 0 for i in top):
        return f"{nothing}; hiding one more even helps, in nats: {listed}."
    shades_tell = f"{who}: the answer depends on what is shaded"
    little = f"{who}: the answer depends little on any single {state.symbols.unit}"
    return f"{shades_tell if shaded else little}. Hiding one more {what}, in nats: {listed}."
