"""What the explorer knows besides what is predicted, and how every action changes it.

A state is a value: each action is a method that returns the next state or raises a ``ValueError``
with a sentence for the learner. Nothing here computes a prediction or writes markup.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cloze.border import MOST, checked, positions, shown, whole_number
from cloze.prediction import Symbols
from cloze.vocabulary import GAP, TextError, counted, visible
from cloze.widgets.explorer.room import MOST_HANDS, Hands

VIEWS = {
    "guesses": "Guesses",
    "pair": "Two gaps",
    "attention": "Attention",
    "surprise": "Surprise",
}


@dataclass(frozen=True)
class State:
    """One line, its masked positions and what is looked at."""

    symbols: Symbols
    """What the line is made of."""
    max_len: int
    """The most symbols of a line that all who are asked can read."""
    truth: tuple[str, ...] = ()
    """The line; ``GAP`` where not even the line knows the truth."""
    masked: frozenset[int] = frozenset()
    """Positions that are hidden; the line's own gaps are always among them."""
    filled: Mapping[int, str] = field(default_factory=dict)
    """Masked positions that hold somebody's guess: it is read, and the others are predicted."""
    hands: Mapping[int, Hands] = field(default_factory=dict)
    """What was guessed, by position: how many hands were raised for which symbol."""
    focus: int = 0
    """The position whose guesses are shown."""
    view: str = "guesses"
    n_layers: int = 0
    """Of the model whose attention is shown."""
    n_heads: int = 0
    layer: int = 0
    head: int = 0
    guess_first: bool = False
    """Keep truth and guesses back until ``revealed``."""
    revealed: bool = False
    event: str = field(default="", compare=False)
    """What happened last, in words."""

    # ── what follows from it ─────────────────────────────────────────────────────────────────────

    @property
    def gaps(self) -> frozenset[int]:
        """Positions whose truth nobody knows."""
        return frozenset(i for i, symbol in enumerate(self.truth) if symbol == GAP)

    @property
    def line(self) -> str:
        """The line as text."""
        return self.symbols.write(self.truth)

    @property
    def open(self) -> list[int]:
        """Masked positions that nothing fills: what is predicted, ascending."""
        return sorted(self.masked - self.filled.keys())

    @property
    def hidden(self) -> bool:
        """Whether truth and guesses are kept back."""
        return self.guess_first and not self.revealed

    @property
    def wide(self) -> bool:
        """Whether symbols are longer than a character: they need room, and no key types them."""
        return any(len(symbol) > 1 for symbol in self.symbols.known)

    @property
    def held(self) -> list[str]:
        """The line with what was filled in; no open position is hidden."""
        return [self.filled.get(i, symbol) for i, symbol in enumerate(self.truth)]

    def known_truth(self, position: int) -> str | None:
        """Return the true symbol; None where nobody knows it."""
        return None if self.truth[position] == GAP else self.truth[position]

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    def with_line(self, text: object) -> State:
        """Take a line as it was typed or pasted; how one looks at it stays.

        Raises:
            ValueError: it is no text, nothing usable is left of it, or it is too long.
        """
        if not isinstance(text, str):
            raise TextError(f"A line is text, not {type(text).__name__}.")
        line, note = self.symbols.read(text, self.max_len)
        length = counted(len(line), self.symbols.unit)
        event = f"New line, {length}{f' ({note})' if note else ''}."
        state = replace(self, truth=line, filled={}, hands={}, revealed=False, event=event)
        return replace(state, masked=state.gaps, focus=min(state.gaps, default=0))

    def with_pasted(self, text: object) -> State:
        """Take a line as it was typed or pasted; of too many characters, the first.

        Raises:
            ValueError: it is no text, nothing usable is left of it, or it has too many words.
        """
        if self.wide or not isinstance(text, str):
            return self.with_line(text)
        line, _ = self.symbols.read(text, MOST)
        if len(line) <= self.max_len:
            return self.with_line(text)
        state = self.with_line(self.symbols.write(line[: self.max_len]))
        event = f"Your line has {len(line)} characters; these are the first {self.max_len}."
        return replace(state, event=event)

    def with_example(self, line: str, masked: str) -> State:
        """Take another line and mask a part of it; "" masks nothing.

        Raises:
            ValueError: the line cannot be read, or the part does not stand in it.
        """
        state = self.with_line(line)
        if not masked:
            return state
        part, _ = self.symbols.read(masked, self.max_len)
        for start in range(len(state.truth)):
            if state.truth[start : start + len(part)] == part:
                return replace(state.mask_span(start, start + len(part) - 1), focus=start)
        raise ValueError(f"{shown(masked)} is not in {shown(line)}.")

    def position(self, at: object) -> int:
        """Read a position.

        Raises:
            ValueError: it is not in the line.
        """
        return whole_number(at, 0, len(self.truth) - 1, "A position of this line")

    def with_masked(self, chosen: object, event: str = "") -> State:
        """Mask exactly these positions, and the line's own gaps, and look at one of them.

        Raises:
            ValueError: a position is not in the line, or they are no collection of positions.
        """
        masked = frozenset(positions(chosen, len(self.truth))) | self.gaps
        still = masked & self.masked
        return replace(
            self,
            masked=masked,
            filled={i: c for i, c in self.filled.items() if i in still},
            hands={i: raised for i, raised in self.hands.items() if i in still},
            revealed=self.revealed and masked == self.masked,
            focus=self.focus if self.focus in masked or not masked else min(masked),
            event=event or f"{counted(len(masked), 'position')} masked.",
        )

    def with_focus(self, at: object) -> State:
        """Look at a position."""
        at = self.position(at)
        what = "masked" if at in self.masked else "not masked"
        if at in self.filled:
            what = f"filled with {visible(self.filled[at])}"
        return replace(self, focus=at, event=f"Position {at}, {what}.")

    def toggle(self, at: object) -> State:
        """Mask a position. A masked one is first looked at; the one looked at is unmasked.

        Raises:
            ValueError: there is no truth to go back to.
        """
        at = self.position(at)
        if at not in self.masked:
            state = self.with_masked(self.masked | {at}, f"Position {at} masked.")
        elif at != self.focus:
            return self.with_focus(at)
        elif self.hidden:
            return replace(self, event=f"Position {at} stays masked until you reveal.")
        elif at in self.gaps:
            raise ValueError(f"The line does not say what belongs at {at}; fill it instead.")
        else:
            state = self.with_masked(self.masked - {at}, f"Position {at} unmasked.")
        return replace(state, focus=at)

    def mask_span(self, start: object, end: object) -> State:
        """Mask everything from one position to another, whichever is first."""
        first, last = self.position(start), self.position(end)
        span = range(min(first, last), max(first, last) + 1)
        state = self.with_masked(
            self.masked | set(span), f"Positions {span[0]} to {span[-1]} masked."
        )
        return replace(state, focus=last)

    def mask_word(self) -> State:
        """Mask the word at the focus or after it; when it is masked already, the next one."""
        words = self.symbols.words(self.truth)
        # From the focus on, and round again from the start of the line.
        words.sort(key=lambda word: (word[-1] < self.focus, word[0]))
        for word in words:
            if not self.masked.issuperset(word):
                state = self.with_masked(
                    self.masked | set(word), f"Word from {word[0]} to {word[-1]} masked."
                )
                return replace(state, focus=word[0])
        raise ValueError("Every word is masked already; unmask some first.")

    def mask_at_random(self, chance: random.Random, share: float = 0.15) -> State:
        """Mask each position with the same probability, and at least one."""
        draws = [chance.random() for _ in self.truth]
        drawn = [i for i, draw in enumerate(draws) if draw < share] or [draws.index(min(draws))]
        state = self.with_masked(drawn, f"{counted(len(drawn), 'position')} masked at random.")
        return replace(state, focus=drawn[0])

    def unmask_all(self) -> State:
        """Show the line again.

        Raises:
            ValueError: what is masked is to be guessed first.
        """
        if self.hidden and self.masked:
            raise ValueError("“Guess first” is on; reveal, then unmask.")
        return self.with_masked((), "Nothing is masked.")

    def fill(self, at: object, symbol: object) -> State:
        """Put a symbol into a masked position; it is read from now on.

        Raises:
            ValueError: the position is not masked, or it is not one of the symbols.
        """
        at = self.position(at)
        if at not in self.masked:
            raise ValueError(f"Position {at} is not masked; mask it before you fill it.")
        symbol = self.symbols.read_symbol(symbol)
        return replace(
            self,
            filled={**self.filled, at: symbol},
            focus=at,
            event=f"Position {at} filled with {visible(symbol)}; it is read as text now.",
        )

    def empty(self, at: object) -> State:
        """Take a filled symbol out again."""
        at = self.position(at)
        filled = {i: c for i, c in self.filled.items() if i != at}
        return replace(self, filled=filled, focus=at, event=f"Position {at} is a gap again.")

    def with_filled(self, filled: object) -> State:
        """Fill exactly these positions.

        Raises:
            ValueError: it is no mapping from masked positions to symbols.
        """
        if not isinstance(filled, Mapping):
            raise ValueError("filled maps positions to what they hold, for instance {3: 'e'}.")
        state = replace(self, filled={})
        for at, symbol in filled.items():
            state = state.fill(at, symbol)
        return replace(state, focus=self.focus)

    def with_count(self, at: object, key: object, value: object) -> State:
        """Have exactly so many hands raised for a symbol at an open position.

        Raises:
            ValueError: the position is not open, it is not one of the symbols, or no such number.
        """
        at = self.position(at)
        if at not in self.open:
            raise ValueError(f"Position {at} is not an open gap; guess where something is hidden.")
        symbol = self.symbols.read_symbol(key)
        n = whole_number(value, 0, MOST_HANDS, "A number of hands")
        raised = {**self.hands.get(at, {}), symbol: n}
        raised = {each: count for each, count in raised.items() if count}
        hands = {i: each for i, each in self.hands.items() if i != at}
        total = sum(raised.values())
        event = f"Position {at}: {counted(n, 'hand')} for {visible(symbol)}, {total} in all."
        if raised == {symbol: 1}:
            event = f"Your guess at position {at}: {visible(symbol)}."
        return replace(self, hands=hands | {at: raised} if raised else hands, focus=at, event=event)

    def raise_hands(self, at: object, symbol: object, n: int) -> State:
        """Have so many hands more raised for a symbol, or fewer if ``n`` is below 0.

        Raises:
            ValueError: no hand is raised that could be taken back, or as for ``with_count``.
        """
        raised = self.hands.get(self.position(at), {})
        symbol = self.symbols.read_symbol(symbol)
        before = raised.get(symbol, 0)
        if before + n < 0:
            raise ValueError(f"No hand is raised for {visible(symbol)}, so none can be taken back.")
        return self.with_count(at, symbol, before + n)

    def with_hands(self, hands: object) -> State:
        """Have exactly these hands raised.

        Raises:
            ValueError: they are not, by open position, numbers by symbol.
        """
        state = replace(self, hands={})
        by_position = hands.items() if isinstance(hands, Mapping) else [(0, None)]
        for at, raised in by_position:
            if not isinstance(raised, Mapping):
                raise ValueError(
                    "hands maps open positions to numbers by symbol, for instance "
                    f"{{3: {{'e': 12, 'a': 5}}}}, not {shown(hands)}."
                )
            for symbol, n in raised.items():
                state = state.with_count(at, symbol, n)
        return replace(state, focus=self.focus)

    @checked
    def with_guess_first(self, guess_first: bool) -> State:
        """Keep truth and guesses back from now on, or no longer."""
        hidden = "Guess first: truth and guesses are hidden."
        event = hidden if guess_first else "Nothing is hidden."
        return replace(self, guess_first=guess_first, revealed=False, event=event)

    @checked
    def with_revealed(self, revealed: bool) -> State:
        """Show truth and guesses, or keep them back again."""
        return replace(self, revealed=revealed, event="Revealed." if revealed else "Hidden again.")

    def with_view(self, view: object) -> State:
        """Look at guesses, two gaps, attention or surprise.

        Raises:
            ValueError: there is no such view.
        """
        if not isinstance(view, str) or view not in VIEWS:
            raise ValueError(f"A view is one of {', '.join(VIEWS)}, not {shown(view)}.")
        return replace(self, view=view, event=f"{VIEWS[view]}.")

    def with_layer(self, value: object) -> State:
        """Look at a head of another layer; both count from 0.

        Raises:
            ValueError: there is no such layer.
        """
        layer = whole_number(value, 0, max(self.n_layers, 1) - 1, "A layer of this model")
        return replace(self, layer=layer, event=f"Layer {layer + 1}, head {self.head + 1}.")

    def with_head(self, value: object) -> State:
        """Look at another head of the same layer.

        Raises:
            ValueError: there is no such head.
        """
        head = whole_number(value, 0, max(self.n_heads, 1) - 1, "A head of this model")
        return replace(self, head=head, event=f"Layer {self.layer + 1}, head {head + 1}.")
