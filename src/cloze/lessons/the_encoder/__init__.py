"""The encoder: from characters to guesses."""
