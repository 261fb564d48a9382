"""The comparisons that the README and the notebooks quote, each one command."""
