"""The lessons: one folder for each notebook, with what only that notebook needs."""
