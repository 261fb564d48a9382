"""Train the words' encoder: the series' own encoder and loop, with more of everything.

``python -m measured.words.train FOLDER --hours 2`` reads what ``measured.words.text`` has written
into the folder, and writes ``words.safetensors`` there. It saves its state every few minutes, so
that the same command goes on after it was stopped; ``torchrun --nproc-per-node 2 -m
measured.words.train …`` takes two cores. ``--begin MODEL`` begins with the weights of a model, as
when the state was left on another machine.

The step sizes fall with the time that is left and not with the number of steps, because nobody
knows how fast a shared machine will be.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from cloze.checkpoint import load_model, save_model
from cloze.corpus import windows
from cloze.distributed import Team
from cloze.encoder import EncoderConfig, Layer
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.masking import held_out_batch
from cloze.objectives import MASKED
from cloze.training import Recipe, Record, TrainingRun, fit
from measured.words.text import Text

LENGTH = 64
CONFIG = EncoderConfig(
    vocab_size=8192, max_len=LENGTH, d_model=256, n_layers=5, d_ff=1024, rotary_base=1000.0
)
RECIPE = Recipe(batch_size=128, length=LENGTH, warmup=0.03, evaluations=0)
SAVE_EVERY = 300
"""Seconds."""
MEASURE_EVERY = 900
"""Seconds of training."""


def in_float32(gather: Callable[..., Tensor], *vectors: Tensor) -> Tensor:
    """Let attention mix values in float32: its gradient in bfloat16 takes five times as long."""
    query, key, value, mask = vectors
    with torch.autocast("cpu", enabled=False):
        return gather(query.float(), key.float(), value.float(), mask)


def next_record(records: Iterator[Record], bfloat16: bool) -> Record | None:
    """Take a step, with its products of matrices in bfloat16 if the processor is made for it."""
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16):
        return next(records, None)


def begun(text: Text, options: argparse.Namespace) -> TrainingRun:
    """Begin a run, or go on with the one that is in the folder."""
    kept = options.folder / "run.safetensors"
    if kept.exists():
        run = TrainingRun.load(kept, text, MASKED)
    else:
        torch.manual_seed(0)
        model = MaskedLM(CONFIG, text.vocabulary)
        if options.begin:
            model.load_state_dict(load_model(options.begin).state_dict())
        run = TrainingRun(model, text, RECIPE)
    if options.bfloat16:
        for layer in run.model.encoder.layers:
            assert isinstance(layer, Layer)
            attention = layer.attention
            attention.gather = partial(in_float32, attention.gather)  # type: ignore[method-assign]
    return run


def costs(model: MaskedLM, text: Text) -> dict[str, float]:
    """Return the held-out loss of every source, in nats a piece."""
    model.eval()
    batches = {
        name: held_out_batch(windows(ids, LENGTH), vocabulary=text.vocabulary)
        for name, ids in text.held_out.items()
    }
    found = {name: round(held_out_loss(model, batch), 4) for name, batch in batches.items()}
    model.train()
    return found


def options_of(words: list[str]) -> argparse.Namespace:
    """Read the words of the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--begin", type=Path)
    parser.add_argument("--bfloat16", action="store_true")
    parser.add_argument("--everyday", type=int, default=1, help="read TIMES so many times as often")
    return parser.parse_args(words)


def main() -> None:
    options = options_of(sys.argv[1:])
    text, team = Text(options.folder, options.everyday), Team()
    run = begun(text, options)
    run.recipe = replace(run.recipe, steps=run.step + 1000)  # until its pace is known
    model = run.model
    run = team.share_out(run)
    curve = options.folder / "curve.jsonl"
    end = time.time() + 3600 * options.hours
    first, started = run.step, time.time()
    saved = measured = started

    def provenance() -> dict[str, object]:
        return {
            "command": "python -m measured.words.train",
            "steps": run.step,
            "pieces": run.step * RECIPE.batch_size * LENGTH,
            "torch": torch.__version__,
        }

    records = fit(run, stop=lambda: run.finished, progress=False)
    while record := next_record(records, options.bfloat16):
        now = time.time()
        if record.step % 20 == 0 or record.step == first + 5:
            recent = run.history[-min(100, record.step - first + 1) :]
            pace = (recent[-1].seconds - recent[0].seconds) / (len(recent) - 1)
            left = int(max(0.0, end - now) / pace) if team.leads else 0
            run.recipe = replace(run.recipe, steps=team.highest(record.step + max(left, 1)))
        if not team.leads:
            continue
        if record.step % 100 == 0:
            pieces = (record.step - first) * RECIPE.batch_size * LENGTH
            print(
                f"step {record.step} of {run.recipe.steps}, loss {record.loss:.3f}, "
                f"{pieces / (now - started):.0f} pieces a second",
                flush=True,
            )
        if now - saved > SAVE_EVERY:
            run.save(options.folder / "run.safetensors")
            saved = now
        if now - measured > MEASURE_EVERY:
            found = {"seconds": round(record.seconds), **provenance(), **costs(model, text)}
            with curve.open("a") as file:
                file.write(json.dumps(found) + "\n")
            print(found, flush=True)
            measured = time.time()
    if team.leads:
        run.save(options.folder / "run.safetensors")
        save_model(options.folder / "words.safetensors", model, provenance() | costs(model, text))
        print(provenance(), costs(model, text))


if __name__ == "__main__":
    main()
