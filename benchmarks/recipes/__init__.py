"""Five recipes that ran the race of ``benchmarks.speedrun``, and ``template.py`` to begin with."""
