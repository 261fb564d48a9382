"""The checks of this lesson."""

from cloze.checks import check_beaten, check_diagnosis, check_train_step

__all__ = ["check_beaten", "check_diagnosis", "check_train_step"]
