"""Widgets: thin views in the browser over controllers that own every number in Python."""

from cloze.widgets.training_curve import TrainingCurve

__all__ = ["TrainingCurve"]
