"""How the words' encoder learned, and how good it is: ``python -m measured.training.words FOLDER``.

The folder is that of ``measured.words.train``. If the run there was begun with the shipped encoder
(``--begin``), name a copy of that one's ``words.json`` after the folder: its training is told, too.

All held-out losses are means over the positions of the fixed masks (15%, 80/10/10), with up to
32,768 pieces of each source.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cloze.checkpoint import WORDS, load_model, save_model
from cloze.corpus import windows
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM, log_probs_at
from cloze.masking import IGNORE, held_out_batch
from cloze.objectives import MASKED
from cloze.prediction.shipped import shipped_model
from cloze.tokenizer import SEP, START
from cloze.training import TrainingRun
from cloze.vocabulary import VOCABULARY, normalise
from measured.shared import LESSONS, ResultsFile
from measured.words.text import Text, sources
from measured.words.train import LENGTH

TRUST = 5.0
"""How often something must have been seen to count as much as what is known without it."""


class Neighbours:
    """Guess a piece from the two beside it, or from one, or from none, as often as they were seen.

    Args:
        train: what to count, shape ``(pieces,)``.
    """

    def __init__(self, train: Tensor, size: int) -> None:
        ids, self.size = train.numpy(), size
        left, piece, right = ids[:-2], ids[1:-1], ids[2:]
        self.unigram = (np.bincount(ids, minlength=size) + 1) / (len(ids) + size)
        keys = (left, right, left * size + right)
        self.seen = [np.unique(key, return_counts=True) for key in keys]
        self.with_piece = [np.unique(key * size + piece, return_counts=True) for key in keys]

    def cost(self, left: np.ndarray, piece: np.ndarray, right: np.ndarray) -> float:
        """Return the mean of -log P of pieces beside the true neighbours, in nats."""
        keys = (left, right, left * self.size + right)
        below = self.unigram[piece]
        found: list[np.ndarray] = []
        for key, seen, with_piece in zip(keys, self.seen, self.with_piece, strict=True):
            prior = below if len(found) < 2 else (found[0] + found[1]) / 2
            both = counted(with_piece, key * self.size + piece)
            found.append((both + TRUST * prior) / (counted(seen, key) + TRUST))
        return float(-np.log(found[2]).mean())


def counted(table: tuple[np.ndarray, np.ndarray], keys: np.ndarray) -> np.ndarray:
    """Look up how often each key was seen."""
    known, counts = table
    at = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return np.where(known[at] == keys, counts[at], 0)


def scores(model: MaskedLM, ids: Tensor) -> dict[str, float]:
    """Return held-out nats per piece, and the share of positions whose likeliest piece is right."""
    inputs, labels = held_out_batch(windows(ids, LENGTH), vocabulary=model.vocabulary)
    selected = labels != IGNORE
    log_probs, truth = log_probs_at(model, inputs, selected), labels[selected]
    right = log_probs.topk(5).indices == truth[:, None]
    return {
        "nats": round(-log_probs.gather(1, truth[:, None]).mean().item(), 4),
        "first": round(right[:, 0].double().mean().item(), 4),
        "among five": round(right.any(1).double().mean().item(), 4),
    }


def whole_words(words: MaskedLM, ids: Tensor) -> dict[str, float]:
    """Return what a hidden word costs both encoders, in nats, and its mean number of letters.

    Also the share of words that the words' encoder finds likeliest. The letters' encoder sees the
    rest of the line, 64 characters with the word in the middle, and guesses one letter after the
    other, those after it hidden, too.
    """
    symbols = words.vocabulary.symbols
    inputs, labels = held_out_batch(windows(ids, LENGTH), vocabulary=words.vocabulary)
    selected = labels != IGNORE
    answers, truths = log_probs_at(words, inputs, selected), labels[selected]
    asked = zip(selected.nonzero().tolist(), answers, truths.tolist(), strict=True)
    rows, hidden, costs = [], [], []
    for (row, at), answer, truth in asked:
        line = [symbols[i] for i in labels[row].where(selected[row], inputs[row]).tolist()]
        piece, after = line[at][1:], line[at + 1 : at + 2]
        if not (line[at][0] == START and piece.isalpha() and after and after[0][0] in (START, "[")):
            continue
        left, right = (
            normalise("".join(part).replace(START, " ").replace(SEP, " ")).text
            for part in (line[:at], line[at + 1 :])
        )
        before = f"{left} "[-(LENGTH - len(piece)) // 2 :]
        known = VOCABULARY.encode(f"{before}{piece} {right}"[:LENGTH].ljust(LENGTH))
        for k in range(len(piece)):
            read = known.clone()
            read[len(before) + k : len(before) + len(piece)] = VOCABULARY.mask_id
            rows.append(read)
            hidden.append((len(before) + k, int(known[len(before) + k])))
        costs.append((-float(answer[truth]), float(answer.argmax() == truth), len(piece)))
    places = torch.zeros(len(rows), LENGTH, dtype=torch.bool)
    positions, letters = torch.tensor(hidden).T
    places[torch.arange(len(rows)), positions] = True
    paid = -log_probs_at(shipped_model(), torch.stack(rows), places).gather(1, letters[:, None])
    by_words, first, length = torch.tensor(costs).mean(0).tolist()
    return {
        "words": round(by_words, 4),
        "first": round(first, 4),
        "letters": round(paid.sum().item() / len(costs), 4),
        "length": round(length, 3),
    }


def by_source(folder: Path, text: Text, whole: MaskedLM, rounded: MaskedLM) -> dict[str, object]:
    """Compare all that can guess on the held-out text of every source."""
    neighbours = Neighbours(text.train, len(text.vocabulary))
    paragraphs = sources(folder)
    found: dict[str, object] = {}
    for name, ids in text.held_out.items():
        lines = windows(ids, LENGTH)
        _, labels = held_out_batch(lines, vocabulary=text.vocabulary)
        rows, at = (labels[:, 1:-1] != IGNORE).nonzero(as_tuple=True)
        around = (lines[rows, at + shift].numpy() for shift in range(3))
        plain = normalise("\n".join(paragraphs[name][1])).text
        letters = windows(VOCABULARY.encode(plain[: 5 * len(ids)]), LENGTH)
        found[name] = {
            "pieces": len(ids),
            "characters a piece": round(len(plain) / len(np.load(held_out_file(folder, name))), 3),
            "unigram": round(float(-np.log(neighbours.unigram[lines[labels != IGNORE]]).mean()), 4),
            "both neighbours": round(neighbours.cost(*around), 4),
            "words": scores(whole, ids),
            "words in 8 bits": scores(rounded, ids),
            "letters": round(held_out_loss(shipped_model(), held_out_batch(letters)), 4),
            "a hidden word": whole_words(rounded, ids),
        }
        print(name, found[name], flush=True)
    return found


def held_out_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.held_out.npy"


def curve(run: TrainingRun) -> list[tuple[int, int, float]]:
    """Return seconds, pieces read and the training loss (30%), averaged over ever longer spans."""
    ends = sorted({round(run.step ** (k / 60)) for k in range(61)})
    spans = [run.history[start:end] for start, end in pairwise([0, *ends])]
    return [
        (
            round(span[-1].seconds),
            span[-1].characters,
            round(sum(record.loss for record in span) / len(span), 3),
        )
        for span in spans
    ]


def main() -> None:
    folder = Path(sys.argv[1])
    text = Text(folder)
    whole = load_model(folder / "words.safetensors")
    run = TrainingRun.load(folder / "run.safetensors", text, MASKED)
    results = LESSONS / "training" / "words.json"
    told: dict[str, Any] = {"steps": 0, "pieces": 0, "seconds": 0, "curve": {"training (30%)": []}}
    if sys.argv[2:]:
        told = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    made = {
        "steps": told["steps"] + run.step,
        "pieces": told["pieces"] + run.history[-1].characters,
        "seconds": told["seconds"] + round(run.seconds),
    }
    points = [
        (told["seconds"] + seconds, told["pieces"] + pieces, nats)
        for seconds, pieces, nats in curve(run)
    ]
    file = ResultsFile(__spec__.name, results, **made)
    save_model(WORDS, whole, {"command": "python -m measured.words.train", **made}, bits=8)
    both = [*told["curve"]["training (30%)"], *points]
    file.measure("curve", lambda _: both, ["training (30%)"])
    rounded = load_model(WORDS)
    file.measure("by source", lambda _: by_source(folder, text, whole, rounded), ["held out"])


if __name__ == "__main__":
    main()
