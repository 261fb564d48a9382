"""The quiz of the whole series, which notebook 13 shows."""
