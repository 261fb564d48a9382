"""The mask: what is hidden, and how to test it."""
