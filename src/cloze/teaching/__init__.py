"""What lessons share: exercises and how they are marked."""
