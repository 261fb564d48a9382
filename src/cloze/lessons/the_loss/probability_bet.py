"""A bet on a gap: hand out probability, see what each letter would cost, and what the bet does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from markupsafe import Markup

from cloze.border import checked, shown
from cloze.corpus import Corpus
from cloze.loss import cost, expected_cost
from cloze.vocabulary import ALPHABET, GAP, normalise
from cloze.widgets.view import View, button, element, in_bits, in_nats, status, style, table_of

CHIPS = 20
"""The learner hands out probability in twentieths."""


@checked
def letter_counts(corpus: Corpus, word: str) -> Counter[str]:
    """Count the letters in the gap of a word, wherever the training pieces have such a word.

    Args:
        corpus: where to look.
        word: letters with one gap, such as ``"_ook"``.

    Raises:
        ValueError: not one gap, or no such word in the corpus.
    """
    if not re.fullmatch(f"[a-z]*{GAP}[a-z]*", word):
        raise ValueError(
            f"Give a word of letters a to z with one gap, such as '_ook', not {shown(word)}."
        )
    pattern = re.compile(rf"(?<![a-z]){word.replace(GAP, '([a-z])')}(?![a-z])")
    counts = Counter(letter for piece in corpus.train for letter in pattern.findall(piece.text))
    if not counts:
        raise ValueError(f"The corpus has no word like {shown(word)}. Choose a more common one.")
    return counts


def shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Turn counts into probabilities."""
    total = sum(counts.values())
    return {letter: count / total for letter, count in counts.items()}


@checked
def bet_of(chips: Mapping[str, int]) -> dict[str, float]:
    """Turn chips into a probability for every character.

    A chip is worth 1/20; the chips that are not handed out are spread evenly over all 28
    characters, so the probabilities always sum to 1.

    Raises:
        ValueError: more chips than there are, fewer than none, or on something else.
    """
    if sum(chips.values()) > CHIPS or any(n < 0 or c not in ALPHABET for c, n in chips.items()):
        raise ValueError(f"Hand out {CHIPS} chips at most, by letter, not {shown(chips)}.")
    kept = CHIPS - sum(chips.values())
    return {c: (chips.get(c, 0) + kept / len(ALPHABET)) / CHIPS for c in ALPHABET}


class ProbabilityBet(View):
    """Hand out 1.00 of probability over the letters that a gap may hide.

    Args:
        counts: how often each letter is there, such as ``letter_counts(corpus, "_ook")``; secret
            until the learner asks.
        word: the word with its gap.
        letters: those that one can bet on one by one.

    Raises:
        ValueError: the letters are not different ones from a to z.
    """

    _css = style(__file__)

    @checked
    def __init__(self, counts: Mapping[str, int], word: str, letters: str) -> None:
        if not re.fullmatch("[a-z]+", letters) or len(set(letters)) < len(letters):
            raise ValueError(f"Give different letters from a to z to bet on, not {shown(letters)}.")
        self.truth = shares(counts)
        self.places = sum(counts.values())
        self.word = normalise(word, keep=GAP).text
        self.letters = letters
        self.chips = dict.fromkeys(letters, 0)
        """How many twentieths each letter was given."""
        self.revealed = False
        self.announcement = (
            "Nothing has been handed out yet, so all 28 characters share it equally."
        )
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        given = ", ".join(f"{c} {n / CHIPS:.2f}" for c, n in self.chips.items() if n)
        return f"ProbabilityBet({self.word}: {given or 'nothing handed out'})"

    @property
    def bet(self) -> dict[str, float]:
        """The probability of every character; they sum to 1."""
        return bet_of(self.chips)

    @property
    def left(self) -> int:
        """How many twentieths are still to be handed out."""
        return CHIPS - sum(self.chips.values())

    def markup(self) -> Markup:
        """Write a row per letter, the sums, and what was asked for."""
        bet = self.bet
        heads = ["right letter", "give or take", "P", "costs nats", "in bits"]
        heads += ["true share"] if self.revealed else []
        rows = [self._row(letter, bet[letter]) for letter in self.letters]
        others = [c for c in ALPHABET if c not in self.letters]
        rows.append(self._last_row(len(others), bet[others[0]]))
        table = table_of(heads, rows, "bet")
        untouched = not (any(self.chips.values()) or self.revealed)
        return Markup("").join(
            [
                element("p", "Left to hand out: ", element("b", f"{self.left / CHIPS:.2f}")),
                element("div", table, class_="scroll"),
                element(
                    "div",
                    button("Reveal", "reveal", aria_disabled=self.revealed or None),
                    button("Take everything back", "restart", aria_disabled=untouched or None),
                    class_="row",
                ),
                status(" ".join([self.announcement, *self.sentences()])),
            ]
        )

    def sentences(self) -> list[str]:
        """Say what the bet costs if it is right, and, once revealed, what it really costs."""
        bet = self.bet
        believed = expected_cost(bet, bet)
        said = [f"If you are right about the shares, you pay {in_nats(believed)} nats on average."]
        if self.revealed:
            paid = expected_cost(self.truth, bet)
            least = expected_cost(self.truth, self.truth)
            said.append(
                f"Over all {self.places} places your bet costs {in_nats(paid)} nats on average. "
                f"The best bet costs {in_nats(least)} nats. It is the honest one: it gives each "
                "letter its true share."
            )
        return said

    def _row(self, letter: str, probability: float) -> Markup:
        step = f"{1 / CHIPS:.2f}"
        take = button(
            "−",
            "take",
            data_with_letter=letter,
            aria_label=f"take {step} from {letter}",
            aria_disabled=not self.chips[letter] or None,
        )
        give = button(
            "+",
            "give",
            data_with_letter=letter,
            aria_label=f"give {step} to {letter}",
            aria_disabled=not self.left or None,
        )
        name = element(
            "th", element("b", letter), f" {self.word.replace(GAP, letter)}", scope="row"
        )
        cells = [name, element("td", take, " ", give), *_cost_cells(probability)]
        if self.revealed:
            share = self.truth.get(letter, 0.0)
            cells.append(element("td", _bar(share, "truth"), f"{share:.3f}", class_="number"))
        return element("tr", *cells)

    def _last_row(self, n: int, probability: float) -> Markup:
        name = element("th", f"{n} others, each", scope="row")
        cells = [name, element("td", "share what is left", class_="quiet")]
        cells += _cost_cells(probability)
        if self.revealed:
            rest = sum(share for c, share in self.truth.items() if c not in self.letters)
            cells.append(element("td", f"{rest:.3f} together", class_="number"))
        return element("tr", *cells)

    def do_give(self, letter: object) -> None:
        """Give a letter a twentieth more."""
        letter = self._known(letter)
        if not self.left:
            raise ValueError("All of 1.00 is handed out. Take some back from another letter first.")
        self.chips[letter] += 1
        self._announce(letter)

    def do_take(self, letter: object) -> None:
        """Take a twentieth back from a letter."""
        letter = self._known(letter)
        if not self.chips[letter]:
            raise ValueError(f"{letter} has nothing for you to take back.")
        self.chips[letter] -= 1
        self._announce(letter)

    def do_reveal(self) -> None:
        """Show the true shares of the letters."""
        self.revealed = True
        found = sorted(self.truth.items(), key=lambda pair: -pair[1])
        often = ", ".join(f"{letter} {share:.3f}" for letter, share in found)
        self.announcement = f"The true shares: {often}."

    def do_restart(self) -> None:
        """Take everything back and hide the truth."""
        self.chips = dict.fromkeys(self.letters, 0)
        self.revealed = False
        self.announcement = "Everything is taken back."

    def _known(self, letter: object) -> str:
        if str(letter) not in self.chips:
            known = ", ".join(self.letters)
            raise ValueError(f"You can give to the letters {known}, not to {shown(letter)}.")
        return str(letter)

    def _announce(self, letter: str) -> None:
        probability = self.bet[letter]
        words = f"{letter} has {probability:.3f} and would cost {in_nats(cost(probability))} nats"
        self.announcement = f"{words}. You have {self.left / CHIPS:.2f} left to hand out."


def _cost_cells(probability: float) -> list[Markup]:
    nats = cost(probability)
    return [
        element("td", _bar(probability, "given"), f"{probability:.3f}", class_="number"),
        element("td", in_nats(nats), class_="number"),
        element("td", in_bits(nats), class_="number"),
    ]


def _bar(share: float, kind: str) -> Markup:
    """Draw a share as a bar; the number beside it says the same."""
    bar = element("span", style=f"width: {100 * share:.1f}%", class_=kind)
    return element("span", bar, class_="share", aria_hidden=True)
