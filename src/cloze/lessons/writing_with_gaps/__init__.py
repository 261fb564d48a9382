"""Writing with gaps: scoring, filling many gaps in some order, masked diffusion."""
