"""Words of two senses in real sentences, and what the words' encoder makes of each."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from cloze.prediction.predictors import MaskedPredictor
from cloze.prediction.shipped import shipped_model
from cloze.tasks.vectors import cosine, nearest

SENSES = {
    "bank": (
        (
            "We sat on the bank of the river and watched the boats.",
            "The boat was tied to the bank.",
            "He swam across and climbed up the bank.",
            "Flowers grew along the bank of the stream.",
            "They walked along the bank until they came to the bridge.",
        ),
        (
            "She put her money in the bank.",
            "The bank lent him the money to buy a house.",
            "He works as a clerk in a bank.",
            "I must go to the bank to pay a bill.",
            "The bank was closed and we could not get any money.",
        ),
    ),
    "cell": (
        (
            "Every cell of the body needs oxygen.",
            "The wall of a plant cell is thick.",
            "The cell divides into two.",
            "The nucleus of the cell holds the genes.",
            "A blood cell has no color of its own.",
        ),
        (
            "The prisoner sat alone in his cell.",
            "They locked him in a cell for the night.",
            "There was no window in the cell.",
            "The guard opened the door of the cell.",
            "He was kept in a cell under the tower.",
        ),
    ),
    "bat": (
        (
            "A bat flew out of the cave at night.",
            "The bat slept under the roof during the day.",
            "The bat has wings and eats insects.",
            "In the dark a bat hunts for insects.",
            "A bat hung from the branch of a tree.",
        ),
        (
            "He hit the ball with his bat.",
            "She swung the bat and missed the ball.",
            "The boy carried a bat and a ball to the field.",
            "His father gave him a new bat for the game.",
            "The player threw down his bat and ran.",
        ),
    ),
    "dog": (
        (
            "The dog slept by the fire.",
            "The dog ate its dinner in the kitchen.",
            "She gave the dog a bone after dinner.",
            "The dog lay on the rug beside the chair.",
            "He washed the dog in the bath.",
        ),
        (
            "The dog ran across the field.",
            "The dog chased a rabbit into the wood.",
            "A dog barked in the street at night.",
            "The dog swam across the river.",
            "The dog followed the sheep over the hill.",
        ),
    ),
}
"""Five sentences for each sense, written before the model read them. A dog has one sense: its two
fives are in the house and outside."""


def vectors_in(sentences: Iterable[str], word: str) -> Tensor:
    """Return the words' encoder's state at a word of each sentence, shape ``(n, d_model)``."""
    predictor = MaskedPredictor(shipped_model("words"))
    states = []
    for sentence in sentences:
        line, _ = predictor.symbols.read(sentence, predictor.max_len)
        with torch.no_grad():
            read = predictor.model.encoder(predictor.symbols.input_ids(line)[None])[0]
        states.append(read[predictor.symbols.framed + line.index(word)])
    return torch.stack(states)


def same_sense(word: str) -> int:
    """Count the sentences whose nearest other one, by the vector of the word, has its sense."""
    vectors = torch.cat([vectors_in(sentences, word) for sentences in SENSES[word]])
    closest = nearest(cosine(vectors, vectors), but_itself=True)[:, 0]
    five = torch.arange(len(vectors)) >= len(SENSES[word][0])
    return int((five[closest] == five).sum())
