"""The tally over the hour: what the room and the readers have paid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from cloze.vocabulary import counted
from cloze.widgets.widget import Widget, program


class Tally(Widget):
    """Who has paid how much for the gaps that a room has guessed, in nats per gap.

    Hand one to several explorers, ``MaskExplorer(tally=tally)``, and they count together. A hidden
    symbol of a line counts once, when it is revealed and if hands were raised for it: afterwards
    everybody knows it. Displayed, it follows what the explorers enter.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    paid: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """What was paid, gap by gap: its ``line`` and position ``at``, ``n_hands``, and ``costs``,
    −log P of the truth in nats by who guessed, "room" first."""

    def __repr__(self) -> str:
        return f"Tally({counted(len(self.paid), 'gap')})"

    def alone(self) -> None:
        """Without an explorer beside it nothing is entered."""
