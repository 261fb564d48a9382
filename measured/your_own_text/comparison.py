"""What further training is worth: on letters alone, with general text, on general text alone.

``python -m measured.your_own_text.comparison`` trains the tiny ModernBERT further in each way with
two seeds, and measures what held-out letters and held-out general text then cost, and how often a
copy with two swapped words costs more than the letter, in ten draws of the words. It does the same
with the letters in today's spelling: what training gains there, and how many swaps the model finds
untrained (twelve minutes on an idle core; needs ``transformers`` and ``accelerate``).
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cloze.adapt.costs import losses_at
from cloze.adapt.documents import Document, hold_out
from cloze.adapt.recipe import AdaptRecipe
from cloze.adapt.run import Adaptation
from cloze.handover.pieces import load_folder
from cloze.lessons.your_own_text.letters import FOLDER, general_text, letters, plain
from cloze.masking import IGNORE
from measured.shared import ResultsFile

SEEDS = (0, 1)
DRAWS = 10
RECIPE = AdaptRecipe(length=128, batch_size=16, learning_rate=1e-3, steps=100)
WAYS: dict[str, dict[str, Any]] = {
    "general text alone": {},
    "letters alone": {},
    "letters, 50 steps": {"steps": 50},
    "letters, 15% hidden": {"mask_prob": 0.15},
    "four letters": {},
    "half and half": {"mix": 0.5},
}
"""How each way differs from the recipe. All are measured with the recipe's masks."""
TIMES = 2
"""Draws of the masks for each chunk."""


def begun(way: str, seed: int, folder: Path) -> Adaptation:
    """Prepare a run."""
    recipe = replace(RECIPE, seed=seed, **WAYS.get(way, {}))
    general = general_text()
    few = hold_out(letters())[0][:5]  # of which one is held out
    texts = {"general text alone": general, "four letters": few, "today's spelling": plain()}
    return Adaptation(FOLDER, texts.get(way, letters()), general, recipe, folder)


def sentences(spelled: Callable[[], list[Document]]) -> list[list[str]]:
    """Return the sentences of the held-out letters that have eight words and more, as words."""
    respelled = dict(zip(letters(), spelled(), strict=True))
    text = " ".join(respelled[letter].text for letter in hold_out(letters())[1])
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


def proofread(
    model: Any, tokenizer: Any, spelled: Callable[[], list[Document]] = letters
) -> list[float]:
    """Return how often a copy in which two neighbouring words are swapped costs more, by draw.

    The pieces of the two words, hidden in turn, cost more in the copy than in the letter. Which
    words are swapped is drawn, the same for every model.
    """
    model.eval()
    shares = []
    for draw in range(DRAWS):
        chance = random.Random(draw)  # noqa: S311 - no secret
        right, wrong = [], []
        for words in sentences(spelled):
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
        if way in WAYS:
            run.train()
        of = begun("as it was", seed, Path(home) / "of")
        of.model = run.model
        return {
            **{name: round(cost.per_character, 4) for name, cost in of.measure(TIMES).items()},
            "told": proofread(run.model, run.tokenizer),
        }


def trained_as_printed(seed: int) -> dict[str, list[float]]:
    """Return costs before and after training on today's spelling, the change and its margin."""
    torch.manual_seed(seed)
    with tempfile.TemporaryDirectory() as home:
        run = begun("today's spelling", seed, Path(home) / "run")
        before = run.measure(TIMES)
        run.train()
        measured = {}
        for name, now in run.measure(TIMES).items():
            cost = before[name].per_character, now.per_character, *now.less(before[name])
            measured[name] = [round(value, 4) for value in cost]
        return measured


def main() -> None:
    measurements = ResultsFile(__spec__.name, recipe=str(RECIPE))
    measurements.measure("runs", run_of, ["as it was"], (0,))
    measurements.measure("runs", run_of, WAYS, SEEDS)
    measurements.measure("today's spelling", trained_as_printed, SEEDS)
    measurements.measure("told in today's spelling", lambda: proofread(*load_folder(FOLDER), plain))


if __name__ == "__main__":
    main()
