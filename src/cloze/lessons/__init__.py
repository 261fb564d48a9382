"""The lessons: one folder each, named as its notebook, with what no other lesson needs."""
