"""Prediction: what a model answers about the gaps of a line, whatever kind of model it is.

``answers`` asks a model about a line of ids and gets an :class:`~cloze.prediction.answers.Answer`,
``symbols`` says what a line is made of, ``predictors`` asks about lines of characters or words, one
model or several, ``lines`` fills and scores whole lines, ``generation`` fills many gaps step by
step, ``causal`` answers with a causal model, and ``shipped`` loads the models that ship with the
series.
"""
