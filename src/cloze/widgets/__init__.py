"""Widgets: thin views in the browser over controllers that own every number in Python."""

from cloze.widgets.guessing_game import GuessingGame
from cloze.widgets.mask_draws import MaskDraws
from cloze.widgets.mask_explorer import MaskExplorer
from cloze.widgets.probability_bet import ProbabilityBet
from cloze.widgets.quiz import Quiz
from cloze.widgets.sight import Sight
from cloze.widgets.training_curve import TrainingCurve

__all__ = [
    "GuessingGame",
    "MaskDraws",
    "MaskExplorer",
    "ProbabilityBet",
    "Quiz",
    "Sight",
    "TrainingCurve",
]
