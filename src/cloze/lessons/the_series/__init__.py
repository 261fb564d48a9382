"""What is about the whole series: its map, and the quiz that notebook 13 shows."""
