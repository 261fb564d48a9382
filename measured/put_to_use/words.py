"""What a linear classifier reads from frozen states: the words' encoder beside the letters' one.

``python -m measured.put_to_use.words`` lets both, and an encoder of the words' shape that has
learned nothing, read reviews and names, and learns from few labels, ten draws each (two minutes on
an idle core).
"""

from __future__ import annotations

from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from cloze.checkpoint import CHECKPOINTS, provenance
from cloze.encoder import Encoder
from cloze.lessons.put_to_use import tasks
from cloze.lessons.put_to_use.tasks import ENTITY_TAGS, NaiveBayes, Task
from cloze.masking import IGNORE
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from cloze.tasks.finetuning import accuracy, entity_f1
from cloze.tasks.vectors import layer_states, padded
from cloze.vocabulary import normalise
from measured.put_to_use.comparison import in_order
from measured.put_to_use.tasks import tags_of
from measured.shared import ResultsFile

WORDS = CHECKPOINTS / "words.safetensors"
COUNTED = "counted words"
READERS = ("words", "letters", "untrained")
LABELS = (16, 40, 100, 200, 400)
DRAWS = range(10)
DECAY = 1e-3
"""In a trial, 1e-4 was no better for names, and 1e-2 better by 0.01 for reviews."""


@torch.no_grad()
def word_states(reader: str, texts: list[str]) -> list[Tensor]:
    """Return for each text the mean state of each of its words, ``(words, d)``."""
    model = shipped_model("both" if reader == "letters" else "words")
    encoder, symbols = model.encoder, symbols_of(model.vocabulary)
    if reader == "untrained":
        torch.manual_seed(0)
        encoder = Encoder(encoder.config).eval()
    lines = [symbols.read(text, model.config.max_len - 2 * symbols.framed)[0] for text in texts]
    states = layer_states(encoder, *padded([symbols.input_ids(line) for line in lines]))[-1]
    return [
        torch.stack([row[at.start : at.stop].mean(0) for at in symbols.words(line)])
        for line, row in zip(lines, states[:, symbols.framed :], strict=True)
    ]


def classifier(vectors: Tensor, classes: Tensor) -> nn.Linear:
    """Learn classes ``(n,)`` from vectors ``(n, d)`` by logistic regression."""
    torch.manual_seed(0)
    head = nn.Linear(vectors.shape[1], int(classes.max()) + 1)
    steps = torch.optim.LBFGS(head.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        steps.zero_grad()
        cost = F.cross_entropy(head(vectors), classes) + DECAY * head.weight.square().sum()
        cost.backward()  # type: ignore[no-untyped-call]
        return cost

    steps.step(loss)  # type: ignore[no-untyped-call]
    return head


def main() -> None:
    texts, pleased = tasks.labelled_reviews()
    words = [normalise(text).text.split() for text in texts]
    named = tasks.named_sentences()
    tags = [torch.tensor([ENTITY_TAGS.index(tag) for tag in sentence.tags]) for sentence in named]

    @cache
    def task(name: str, reader: str) -> Task:
        if name == "names":
            states = word_states(reader, [" ".join(sentence.words) for sentence in named])
            line = F.pad(pad_sequence(states, True), (0, 0, 1, 1))
            with_neighbours = torch.cat([line[:, :-2], line[:, 1:-1], line[:, 2:]], dim=2)
            return Task(with_neighbours, pad_sequence(tags, True, IGNORE))
        if reader == COUNTED:
            return Task(torch.arange(len(texts)), pleased)
        return Task(torch.stack([states.mean(0) for states in word_states(reader, texts)]), pleased)

    def score(name: str, reader: str, n: int, seed: int) -> float:
        """Return the share right of the last 100 reviews, or F1 of the last 100 sentences."""
        learned, test = in_order(task(name, reader), 100)(n, seed)
        if reader == COUNTED:
            known, new = ([words[i] for i in part.input_ids] for part in (learned, test))
            said = NaiveBayes(known, learned.labels.tolist()).classify(new)
        else:
            real, asked = (part.labels != IGNORE for part in (learned, test))
            head = classifier(learned.input_ids[real], learned.labels[real])
            said = test.labels.clone()
            said[asked] = head(test.input_ids[asked]).argmax(1)
        if name == "reviews":
            return round(accuracy(said, test.labels), 4)
        return round(entity_f1(tags_of(test.labels), tags_of(said)).f1, 4)

    measurements = ResultsFile(__spec__.name, words=provenance(WORDS))
    measurements.measure("reviews", partial(score, "reviews"), (*READERS, COUNTED), LABELS, DRAWS)
    measurements.measure("names", partial(score, "names"), READERS, LABELS, DRAWS)


if __name__ == "__main__":
    main()
