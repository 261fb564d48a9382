"""Notebook 00: where the series begins."""
