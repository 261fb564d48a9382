"""The checks of this lesson."""

from cloze.checks import check_coverage, check_culprit, check_restore, check_second_rate

__all__ = ["check_coverage", "check_culprit", "check_restore", "check_second_rate"]
