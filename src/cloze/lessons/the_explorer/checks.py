"""The checks of this lesson."""

from cloze.checks import check_bet_price, check_hide_right, check_right_finding

__all__ = ["check_bet_price", "check_hide_right", "check_right_finding"]
