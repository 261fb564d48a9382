"""What further training is worth: on letters alone, with general text, on general text alone.

``python -m measured.your_own_text.comparison`` trains the tiny ModernBERT further in each way with
two seeds, and measures what held-out letters and held-out general text then cost, and how often a
copy with two swapped words costs more than the letter, in ten draws of the words (6 minutes on an
idle core; needs ``transformers`` and ``accelerate``).
"""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cloze.adapt.costs import losses_at
from cloze.adapt.documents import hold_out
from cloze.adapt.recipe import AdaptRecipe
from cloze.adapt.run import Adaptation
from cloze.lessons.your_own_text.letters import FOLDER, general_text, letters
from cloze.masking import IGNORE
from measured.shared import ResultsFile

SEEDS = (0, 1)
DRAWS = 10
RECIPE = AdaptRecipe(length=128, batch_size=16, learning_rate=1e-3, steps=100)
WAYS = ("general text alone", "letters alone", "half and half")
TIMES = 2
"""Draws of the masks for each chunk."""


def begun(way: str, seed: int, folder: Path) -> Adaptation:
    """Prepare a run."""
    recipe = AdaptRecipe(**{**vars(RECIPE), "seed": seed, "mix": 0.5 * (way == "half and half")})
    general = general_text()
    own = general if way == "general text alone" else letters()
    return Adaptation(FOLDER, own, general, recipe, folder)


def sentences() -> list[list[str]]:
    """Return the sentences of the held-out letters that have eight words and more, as words."""
    text = " ".join(letter.text for letter in hold_out(letters())[1])
    split = (sentence.split() for sentence in re.split(r"(?<=[.?!])\s+", text))
    return [words for words in split if 8 <= len(words) <= 40]


def _rows(tokenizer: Any, words: list[str], at: int) -> list[dict[str, Tensor]]:
    """Hide each piece of two neighbouring words in turn; a row for each."""
    begin = len(" ".join(words[:at]))
    end = len(" ".join(words[: at + 2]))
    read = tokenizer(" ".join(words), return_offsets_mapping=True)
    ids, rows = torch.tensor(read["input_ids"]), []
    for i, (start, stop) in enumerate(read["offset_mapping"]):
        if begin <= start < stop <= end:
            labels = torch.full_like(ids, IGNORE)
            labels[i] = ids[i]
            hidden = ids.clone()
            hidden[i] = tokenizer.mask_token_id
            rows.append({"input_ids": hidden, "labels": labels})
    return rows


@torch.no_grad()
def _cost(model: Any, tokenizer: Any, versions: list[list[dict[str, Tensor]]]) -> Tensor:
    """Return the summed cost of each version's rows, shape ``(versions,)``."""
    from transformers import DataCollatorForTokenClassification

    pad = DataCollatorForTokenClassification(tokenizer)  # labels are padded, too
    rows = [(v, row) for v, version in enumerate(versions) for row in version]
    rows.sort(key=lambda each: len(each[1]["input_ids"]))
    summed = torch.zeros(len(versions))
    for start in range(0, len(rows), 256):
        part = rows[start : start + 256]
        losses = losses_at(model, pad([row for _, row in part]))
        summed.index_add_(0, torch.tensor([v for v, _ in part]), losses)
    return summed


def proofread(model: Any, tokenizer: Any) -> list[float]:
    """Return how often a copy in which two neighbouring words are swapped costs more, by draw.

    The pieces of the two words, hidden in turn, cost more in the copy than in the letter. Which
    words are swapped is drawn, the same for every model.
    """
    model.eval()
    shares = []
    for draw in range(DRAWS):
        chance = random.Random(draw)  # noqa: S311 - no secret
        right, wrong = [], []
        for words in sentences():
            at = chance.randrange(1, len(words) - 2)
            copied = [*words[:at], words[at + 1], words[at], *words[at + 2 :]]
            right.append(_rows(tokenizer, words, at))
            wrong.append(_rows(tokenizer, copied, at))
        cost = [_cost(model, tokenizer, versions) for versions in (right, wrong)]
        shares.append(round(float((cost[0] < cost[1]).float().mean()), 4))
    return shares


def run_of(way: str, seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    with tempfile.TemporaryDirectory() as home:
        run = begun(way, seed, Path(home) / "run")
        if way != "as it was":
            run.train()
        of = run if way != "general text alone" else begun("as it was", seed, Path(home) / "of")
        of.model = run.model
        costs = of.measure(TIMES)
        return {
            **{name: round(cost.per_character, 4) for name, cost in costs.items()},
            "told": proofread(run.model, run.tokenizer),
        }


def main() -> None:
    measurements = ResultsFile(__spec__.name, recipe=str(RECIPE))
    measurements.measure("runs", run_of, ["as it was"], (0,))
    measurements.measure("runs", run_of, WAYS, SEEDS)


if __name__ == "__main__":
    main()
