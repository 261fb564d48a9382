"""Notebook 15: your own text."""
