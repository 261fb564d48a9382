"""The explorer: mask letters of a line, see what is guessed, and look inside the model."""

from cloze.explorer.gap import Gap
from cloze.explorer.inside_widget import Inside
from cloze.explorer.tally import Tally
from cloze.explorer.widget import Example, MaskExplorer

__all__ = ["Example", "Gap", "Inside", "MaskExplorer", "Tally"]
