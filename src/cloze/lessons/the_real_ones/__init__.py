"""The real ones: word pieces, the family from BERT to mmBERT, long lines, and beyond text."""
