"""Commands that measured once what a notebook shows; they are not installed.

``python -m measured.training.plateau`` writes ``src/cloze/lessons/training/plateau.json``.
"""
