"""What notebook 14 adds: the inside of a model."""
