"""Teaching: what all lessons share, from exercises to the style of their figures."""
