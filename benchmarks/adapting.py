"""How fast ``cloze adapt`` trains: ``python -m benchmarks.adapting``.

It goes on training the tiny ModernBERT on the letters of notebook 15, in turns with the plain
recipe of transformers' ``run_mlm.py``: the same Trainer with its own masks, dense logits and a
random order, once with all text grouped into full rows, once with a row for each line. Its
essential calls are made here anew, because the script reads its texts with a package that we don't
need otherwise. A fourth way is the grouped one with ModernBERT's switch ``sparse_prediction``. Each
turn is a process of its own; processor time within ``train`` counts.

How much that switch can bring at all is computed from the model's operations.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from cloze.adapt.recipe import Recipe
from cloze.adapt.run import Adaptation
from cloze.evaluation import Repeated
from cloze.handover.packages import quiet
from cloze.handover.pieces import load_folder
from cloze.lessons.your_own_text.letters import FOLDER, letters

STEPS, BATCH, LENGTH = 30, 16, 128
WAYS = ("adapt", "grouped", "grouped, sparse", "line_by_line")
RATES = (0.15, 0.3)
TURNS = 5


def grouped(tokenizer: Any) -> list[dict[str, Any]]:
    """Join all texts, and cut them into full rows."""
    ids: list[int] = []
    for letter in letters():
        ids += tokenizer(letter.text, verbose=False)["input_ids"]
    return [{"input_ids": ids[i : i + LENGTH]} for i in range(0, len(ids) - LENGTH, LENGTH)]


def line_by_line(tokenizer: Any) -> list[dict[str, Any]]:
    """Make a row of each line."""
    lines = [line for letter in letters() for line in letter.text.split("\n") if line.strip()]
    read = tokenizer(lines, truncation=True, max_length=LENGTH, return_special_tokens_mask=True)
    names = ("input_ids", "attention_mask", "special_tokens_mask")
    return [
        dict(zip(names, row, strict=True)) for row in zip(*(read[n] for n in names), strict=True)
    ]


def turn(way: str, rate: float) -> dict[str, float]:
    """Take the steps in one way; return characters per second of processor time, and megabytes."""
    with tempfile.TemporaryDirectory() as home, quiet():
        folder = Path(home) / "run"
        if way == "adapt":
            recipe = Recipe(steps=STEPS, batch_size=BATCH, length=LENGTH, mask_prob=rate)
            run = Adaptation(FOLDER, letters(), [], recipe, folder)
            run.before = run.measure()
            begun = time.process_time()
            run.train()
            characters = STEPS * run.examples.characters_per_step
        else:
            trainer, characters = plain(way, rate, folder)
            begun = time.process_time()
            trainer.train()
        seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts kilobytes
    return {"speed": characters / seconds, "memory": peak}


def plain(way: str, rate: float, folder: Path) -> tuple[Any, float]:
    """Return the Trainer as ``run_mlm.py`` makes it, and how many characters it will read."""
    from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

    model, tokenizer = load_folder(FOLDER)
    model.sparse_prediction = way == "grouped, sparse"
    rows = (line_by_line if way == "line_by_line" else grouped)(tokenizer)
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        use_cpu=True,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=rate)
    trainer = Trainer(model=model, args=arguments, train_dataset=rows, data_collator=collator)
    read = sum(len(tokenizer.decode(row["input_ids"], skip_special_tokens=True)) for row in rows)
    return trainer, read / len(rows) * STEPS * BATCH


def share_of_answers(config: Any, length: int) -> float:
    """Return the share of a model's operations that its head and its logits are.

    Backward takes twice the operations of forward everywhere, so the share is the step's, too.
    """
    from transformers import ModernBertForMaskedLM

    with torch.device("meta"):  # operations are counted without being done
        model = ModernBertForMaskedLM._from_config(config, attn_implementation="eager")
        with FlopCounterMode(display=False) as counter:
            model(torch.zeros(1, length, dtype=torch.long))
    counts = {
        name.rpartition(".")[2]: sum(ops.values())
        for name, ops in counter.get_flop_counts().items()
    }
    return (counts["head"] + counts["decoder"]) / counts["Global"]


def ceilings() -> None:
    """Print how much faster a step can become without what nobody asks for."""
    from transformers import AutoConfig, ModernBertConfig

    models = {
        "tiny ModernBERT": AutoConfig.from_pretrained(FOLDER),
        "ModernBERT-base": ModernBertConfig(),
    }
    print(
        "| model | length | head and logits, of all operations | at most, 15% asked | 30% asked |"
    )
    print("| --- | ---: | ---: | ---: | ---: |")
    for (name, config), length in product(models.items(), (128, 512)):
        share = share_of_answers(config, length)
        most = (f"{1 / (1 - (1 - rate) * share):.2f}" for rate in RATES)
        print(f"| {name} | {length} | {share:.0%} | {' | '.join(most)} |")


def main() -> None:
    """Take all turns and print the tables."""
    found: dict[tuple[str, float], list[dict[str, float]]] = {}
    for _, way, rate in product(range(TURNS), WAYS, RATES):
        words = [sys.executable, "-m", "benchmarks.adapting", way, str(rate)]
        printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout  # noqa: S603
        found.setdefault((way, rate), []).append(json.loads(printed.splitlines()[-1]))
    print("| way | asked | characters per second | times `grouped` | peak memory, MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for rate, way in product(RATES, WAYS):
        runs = found[way, rate]
        speed, memory = (Repeated.of(run[name] for run in runs) for name in ("speed", "memory"))
        pairs = zip(runs, found["grouped", rate], strict=True)
        times = Repeated.of(run["speed"] / other["speed"] for run, other in pairs)
        print(f"| {way} | {rate:.0%} | {speed:.0f} | {times:.2f} | {memory.mean:.0f} |")
    print()
    ceilings()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(turn(sys.argv[1], float(sys.argv[2]))))
    else:
        main()
