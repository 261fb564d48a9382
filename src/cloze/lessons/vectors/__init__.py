"""Vectors: what hidden states are good for, measured against counted words."""
