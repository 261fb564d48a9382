"""What several lessons share beyond the core: fine-tuning, and vectors of lines."""
