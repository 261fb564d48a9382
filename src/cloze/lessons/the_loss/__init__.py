"""Notebook 01: the formula that scores a guess."""
