"""Everyday sentences with a gap, written before any model was asked.

Six are those that everybody asks; twenty more are of the same kind. Each has the words that a
reader would accept; a model that answers another word may still be right.
"""

from __future__ import annotations

ASKED = {
    "I drank [MASK] in the morning.": "coffee tea milk water juice",
    "He opened his [MASK] because it was raining.": "umbrella",
    "My favorite [MASK] is blue.": "color",
    "The scientist studied the [MASK] under a microscope.": "cell cells sample tissue slide",
    "The film was not [MASK].": "good bad funny long",
    "The model was [MASK] on a large corpus.": "trained",
}

EVERYDAY = {
    "She brushed her [MASK] before going to bed.": "teeth hair",
    "The cat chased the [MASK] around the house.": "mouse dog ball bird",
    "We sat by the [MASK] to keep warm.": "fire fireplace stove",
    "He put on his coat and [MASK].": "hat gloves shoes boots left scarf",
    "The [MASK] rises in the east.": "sun",
    "They went to the beach to [MASK] in the sea.": "swim bathe",
    "The baby began to [MASK] because it was hungry.": "cry scream",
    "I read a good [MASK] last night.": "book story novel",
    "The doctor gave her some [MASK] for the pain.": "medicine pills",
    "Birds can [MASK], but dogs cannot.": "fly sing",
    "The capital of France is [MASK].": "paris",
    "He paid the driver and got out of the [MASK].": "car taxi cab carriage coach",
    "The soup is too [MASK] to eat.": "hot cold salty",
    "It was so dark that we could not [MASK] anything.": "see find",
    "The children play in the [MASK] after school.": "garden park yard street playground",
    "Please close the [MASK] when you leave.": "door window gate",
    "In winter the days are [MASK] than in summer.": "shorter colder",
    "The farmer milked the [MASK] every morning.": "cows cow goats goat",
    "She lit a [MASK] because the lamp went out.": "candle match",
    "A week has seven [MASK].": "days",
}
