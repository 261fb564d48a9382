"""The checks of this lesson."""

from cloze.checks import check_my_mlm_loss, check_summed_loss, check_units

__all__ = ["check_my_mlm_loss", "check_summed_loss", "check_units"]
