"""The explorer in Python: what models answer, the picture that stays, the tally, and the widget."""
