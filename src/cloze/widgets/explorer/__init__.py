"""The explorer: its state, its markup, and the widget that joins them."""
