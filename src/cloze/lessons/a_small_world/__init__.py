"""A small world: the lesson of notebook 06."""
