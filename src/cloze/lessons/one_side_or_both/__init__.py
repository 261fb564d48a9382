"""One side or both: next characters beside masked ones, and gaps filled by Bayes' rule."""
