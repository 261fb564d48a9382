"""Corrupt and repair: other ways to spoil a text, and what is learned from mending it."""
