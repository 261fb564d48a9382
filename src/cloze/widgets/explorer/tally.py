"""The tally over the hour: what the room and the readers have paid for the gaps it was asked."""

from __future__ import annotations

from markupsafe import Markup

from cloze.vocabulary import counted
from cloze.widgets.explorer.room import ROOM, Paid, best, standings, who
from cloze.widgets.view import View, button, element, in_bits, in_nats, join, status, table_of


class Tally(View):
    """Who has paid how much for the gaps that a room has guessed, in bits per gap.

    Hand one to several explorers, ``MaskExplorer(tally=tally)``, and they count together. A hidden
    symbol of a line counts once, when it is revealed and if hands were raised for it: afterwards
    everybody knows it. Displayed, it follows what the explorers enter.
    """

    def __init__(self) -> None:
        self._paid: dict[tuple[str, int], Paid] = {}
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        means = (f"{name} {in_bits(each.mean)}" for name, each in standings(self.paid).items())
        said = f": {', '.join(means)} bits" if self.paid else ""
        return f"Tally({counted(len(self.paid), 'gap')}{said})"

    @property
    def paid(self) -> list[Paid]:
        """What was paid, gap by gap."""
        with self.lock:
            return list(self._paid.values())

    def note(self, line: str, at: int, paid: Paid) -> None:
        """Enter what was paid for a symbol of a line, unless that has been entered before."""
        with self.lock:
            if (line, at) not in self._paid:
                self._paid[line, at] = paid
                self.refresh()

    def do_restart(self) -> None:
        """Forget all gaps: another hour begins."""
        self._paid.clear()

    def markup(self) -> Markup:
        """Write who stands how, and the same in words."""
        paid = self.paid
        heads = ("guesser", "bits per gap", "nats per gap", "gaps")
        rows = [
            element(
                "tr",
                element("th", called(name, paid), scope="row"),
                element("td", in_bits(mean), class_="number"),
                element("td", in_nats(mean), class_="number"),
                element("td", n, class_="number"),
                class_=name,
            )
            for name, (mean, n) in standings(paid).items()
        ]
        table = table_of(heads, rows, "costs")
        return join(
            [
                table if rows else Markup(""),
                status(in_words(paid)),
                button("Start the tally over", "restart", aria_disabled=not paid or None),
            ]
        )


def called(name: str, paid: list[Paid]) -> str:
    """Return how somebody is called, in short."""
    return who(max(each.n_hands for each in paid)) if name == ROOM else name


def in_words(paid: list[Paid]) -> str:
    """Say how everybody stands."""
    if not paid:
        return "No gap has been guessed and revealed yet."
    means = (f"{called(name, paid)} {in_bits(mean)}" for name, (mean, _) in standings(paid).items())
    first = " and ".join(called(name, paid) for name in best(paid))
    return f"After {counted(len(paid), 'gap')}, in bits per gap: {', '.join(means)}. Best: {first}."
