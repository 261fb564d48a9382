"""Beat the encoder: guess hidden letters from the left, then from both sides, and pay in bits."""

from __future__ import annotations

from typing import Annotated

from markupsafe import Markup

from cloze.border import Whole, between, checked, whole_number
from cloze.corpus import Corpus
from cloze.lessons.the_explorer.guessing_rules import (
    LETTERS,
    RIVALS,
    SIDES,
    SIGHT,
    SURENESS,
    Bet,
    Puzzle,
    Tally,
    draw_puzzles,
    judge,
    read_bet,
    read_letter,
)
from cloze.vocabulary import visible
from cloze.widgets.view import View, button, element, form, spoken, status, style, table_of

MOST_GAPS = 100


class GuessingGame(View):
    """The machine hides letters of held-out lines; the learner guesses, and so does the machine.

    Each gap is guessed twice: first with only the text to its left in sight, then with all of the
    line. A guess is a letter and how sure one is of it; what it costs is −log2 of the probability
    that the truth was given. Then truth and costs are shown, beside what the models and the
    baselines paid.

    Args:
        seed: the same seed hides the same letters.
        gaps: how many.

    Raises:
        ValueError: no such seed or number of gaps.
    """

    _css = style(__file__)

    @checked
    def __init__(self, seed: Whole = 0, gaps: Annotated[int, between(1, MOST_GAPS)] = 10) -> None:
        self.gaps = gaps
        super().__init__()
        self._begin(seed)
        self.refresh()

    def _begin(self, seed: int) -> None:
        self.puzzles: list[Puzzle] = draw_puzzles(Corpus.load(), self.gaps, seed)
        self.tally = Tally(seed)
        self._begin_gap()

    def _begin_gap(self) -> None:
        self.bets: dict[str, Bet] = {}
        """The bets on the gap in play, by side; both are made when the truth is shown."""
        self.letter = ""
        """The letter that is chosen and not yet betted on."""
        self.at = 0
        """The letter that the arrow keys have reached, as a place in ``LETTERS``."""
        self.announcement = self._describe()

    def __repr__(self) -> str:
        n = len(self.tally.rounds)
        means = ""
        if n:
            you, model = (self.tally.mean("both", rival) for rival in ("you", "model"))
            means = f", you {you:.2f} bits, encoder {model:.2f} bits"
        return f"GuessingGame({n} of {self.gaps} gaps{means})"

    @property
    def result(self) -> str:
        """One line to copy, for ``pool``; "" before the first gap is played."""
        return self.tally.result

    @property
    def side(self) -> str | None:
        """What is in sight: "left", then "both"; None once the truth is shown."""
        return next((side for side in SIDES if side not in self.bets), None)

    @property
    def number(self) -> int:
        """The number of the gap in play, from 1."""
        return len(self.tally.rounds) + (self.side is not None)

    @property
    def puzzle(self) -> Puzzle:
        """The gap in play."""
        return self.puzzles[self.number - 1]

    @property
    def finished(self) -> bool:
        """Whether all gaps are played."""
        return len(self.tally.rounds) == self.gaps

    # ── how it looks ─────────────────────────────────────────────────────────────────────────────

    def markup(self) -> Markup:
        """Write the gap in play, what can be done, and how it stands."""
        side = self.side
        where = f", {SIGHT[side]}" if side else ""
        parts = [
            element("p", element("b", f"Gap {self.number} of {self.gaps}{where}")),
            self._sentence(),
            self._form(side) if side else self._truth(),
            status(self.announcement),
        ]
        if self.result:
            field = element("input", type="text", readonly=True, size=62, value=self.result)
            label = element("label", "Your result", field)
            copy = element("button", "Copy", type="button", data_copy=True)
            parts.append(element("div", label, copy, class_="row result"))
        return element("div", *parts, class_="guessing")

    def _sentence(self) -> Markup:
        puzzle, side = self.puzzle, self.side
        after: object = puzzle.after
        if side == "left":
            after = element("span", " … hidden", class_="quiet")
        gap = element("span", "?" if side else visible(puzzle.truth), class_="gap")
        return element("p", puzzle.before, gap, after, class_="sentence")

    def _form(self, side: str) -> Markup:
        letters = [self._letter(i) for i in range(len(LETTERS))]
        keys = element(
            "div",
            *letters,
            role="group",
            aria_label="The hidden letter. Type it or choose it; the End key goes to the space.",
            class_="row letters",
            data_arrows="look",
            data_keys="type",
        )
        before = self.bets["left"].percent if side == "both" else None
        choices = [("no idea", 0), *((f"{percent} %", percent) for percent in SURENESS)]
        radios = [
            element(
                "label",
                element(
                    "input",
                    type="radio",
                    name="percent",
                    value=percent,
                    checked=percent == before,
                ),
                label,
            )
            for label, percent in choices
        ]
        legend = element("legend", "How sure are you?")
        return form(
            "guess",
            keys,
            element("fieldset", legend, *radios),
            element("button", f"Guess {SIGHT[side]}", type="submit"),
        )

    def _letter(self, i: int) -> Markup:
        letter = LETTERS[i]
        return button(
            visible(letter),
            "pick",
            data_with_at=i,
            tabindex=0 if i == self.at else -1,
            aria_pressed=letter == self.letter,
            aria_label=spoken(letter),
        )

    def _truth(self) -> Markup:
        played = self.tally.rounds[-1]
        label = f"Play {self.gaps} more gaps" if self.finished else "Next gap"
        said = []
        for side in SIDES:
            best = (f"{visible(g.character)} {g.probability:.2f}" for g in played.guesses[side])
            said.append(f"You {SIGHT[side]}: {played.bets[side]}. The model: {', '.join(best)}.")
        heads = ("bits", "left", "both", "mean left", "mean both")
        table = table_of(heads, map(self._costs, RIVALS), "costs")
        return element(
            "div",
            element("div", button(label, "next"), class_="row"),
            *(element("p", sentence) for sentence in said),
            # Where it is wider than the page, arrows scroll it.
            element(
                "div",
                table,
                class_="scroll",
                tabindex=0,
                role="region",
                aria_label="What everyone paid",
            ),
        )

    def _costs(self, rival: str) -> Markup:
        played = self.tally.rounds[-1]
        values = [played.bits[side][rival] for side in SIDES]
        values += [self.tally.mean(side, rival) for side in SIDES]
        return element(
            "tr",
            element("th", " / ".join(dict.fromkeys(RIVALS[rival].values())), scope="row"),
            *(element("td", f"{value:.2f}", class_="number") for value in values),
            class_="both" if rival == "you" else None,
        )

    # ── what is said ─────────────────────────────────────────────────────────────────────────────

    def _describe(self) -> str:
        """Say everything that is in sight, as a screen reader needs it."""
        puzzle, side = self.puzzle, self.side
        near = ", then a space" if puzzle.before.endswith(" ") else ""
        said = f"Gap {self.number}, {SIGHT[side or 'both']}. "
        said += f"Before the gap: {puzzle.before.strip()}{near}."
        if side == "both":
            near = "a space, then " if puzzle.after.startswith(" ") else ""
            said += f" After the gap: {near}{puzzle.after.strip()}."
        return said

    def _verdict(self) -> str:
        played = self.tally.rounds[-1]
        left, both = (played.bits[side] for side in SIDES)
        said = (
            f"The hidden character was {spoken(played.puzzle.truth)}. From the left you paid "
            f"{left['you']:.2f} bits and the left twin {left['model']:.2f}; from both sides you "
            f"{both['you']:.2f} and the encoder {both['model']:.2f}."
        )
        if self.finished:
            you, model = (self.tally.mean("both", rival) for rival in ("you", "model"))
            beaten = "You beat it." if you < model else "It won this time."
            said += (
                f" You have played all {self.gaps} gaps: from both sides you paid {you:.2f} bits "
                f"per gap and the encoder {model:.2f}. {beaten}"
            )
        return said

    # ── what a learner does ──────────────────────────────────────────────────────────────────────

    def do_look(self, at: object) -> None:
        """Move along the letters."""
        self.at = whole_number(at, 0, len(LETTERS) - 1, "A letter's place")

    def do_pick(self, at: object) -> None:
        """Choose a letter."""
        self.at = whole_number(at, 0, len(LETTERS) - 1, "A letter's place")
        self._choose(LETTERS[self.at])

    def do_type(self, at: object, key: object) -> None:
        """Choose the letter of a key, wherever among the letters the focus is."""
        self._choose(read_letter(key))
        self.do_look(at)

    def _choose(self, letter: str) -> None:
        self.letter = letter
        self.announcement = f"Your letter: {spoken(letter)}. Now say how sure you are, and guess."

    def do_guess(self, percent: object = None, letter: object = None) -> None:
        """Bet on the gap, from what is in sight.

        Args:
            percent: how sure one is, 0 for no idea.
            letter: by default the chosen one.
        """
        side = self.side
        if side is None:
            raise ValueError("You have already played this gap; go on to the next one.")
        bet = read_bet(self.letter if letter is None else letter, percent)
        if side == "left":
            self.bets = {side: bet}
            self.letter = bet.letter or ""
            self.announcement = f"Your guess: {bet}. {self._describe()}"
            return
        played = judge(self.puzzle, {**self.bets, side: bet})
        self.tally = self.tally.with_round(played)
        self.bets = {**self.bets, side: bet}
        self.announcement = self._verdict()

    def do_next(self) -> None:
        """Go on to the next gap, or to a game with other gaps."""
        if self.side is not None:
            raise ValueError("Guess this gap first, from the left and from both sides.")
        if self.finished:
            self._begin(self.tally.seed + 1)
        else:
            self._begin_gap()
