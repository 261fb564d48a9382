"""Writing with gaps: filling many gaps in some order, masked diffusion."""
