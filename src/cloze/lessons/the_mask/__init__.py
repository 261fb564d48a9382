"""The mask: what is hidden, and how one proves it."""
