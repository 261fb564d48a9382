"""Start here: fill gaps with a trained model."""
