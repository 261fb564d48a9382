"""The checks of this lesson."""

from cloze.checks import check_count_gaps

__all__ = ["check_count_gaps"]
