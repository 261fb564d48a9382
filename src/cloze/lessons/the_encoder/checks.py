"""The checks of this lesson."""

from cloze.checks import check_layer_parameters, check_my_attention, check_my_may_look

__all__ = ["check_layer_parameters", "check_my_attention", "check_my_may_look"]
