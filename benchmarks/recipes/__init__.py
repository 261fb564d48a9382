"""Recipes that ran the race of ``benchmarks.speedrun``; ``template.py`` is where yours begins."""
