"""The command ``cloze adapt``."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields

from tqdm import tqdm

from cloze.adapt.costs import outcome, table
from cloze.adapt.documents import GENERAL, Say, read_documents, silent
from cloze.adapt.recipe import AdaptRecipe
from cloze.adapt.run import Adaptation
from cloze.adapt.saved import SEAL
from cloze.files import followed
from cloze.interrupts import held_signals
from cloze.training import Record

FEW_STEPS = 30
"""With fewer steps than this, hardly anything is learned."""


def adapt(options: Namespace, say: Say) -> None:
    """Train a model further as the command says; however it ends, the run is saved.

    Raises:
        ValueError: a text, the model or the place for the new one cannot be used.
        KeyboardInterrupt: it was interrupted.
    """
    out = followed(options.out)
    folder = out.with_name(f"{out.name}.run")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        finished = options.resume and not folder.exists()
        raise ValueError(f"{out} {'is finished' if finished else 'exists'}; name a new folder.")
    if any(folder.glob(f"checkpoint-*/{SEAL}")) and not options.resume:
        raise ValueError(
            f"{folder} holds an unfinished run; add --resume to continue it, or delete it to begin "
            "again."
        )
    chosen = {field.name: getattr(options, field.name) for field in fields(AdaptRecipe)}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    recipe = AdaptRecipe(**chosen)
    leads = os.environ.get("RANK", "0") == "0"  # as torchrun numbers processes
    if not leads:
        say = silent
    documents = read_documents(options.texts, say)
    general = read_documents(options.general or [GENERAL])
    say("Reading the model …")
    run = Adaptation(options.model, documents, general, recipe, folder, resume=options.resume)
    _as_begun(run, chosen)
    out.parent.mkdir(parents=True, exist_ok=True)
    say(f"{run.texts.summary}.")
    plan = f"{run.recipe.steps} steps of {run.recipe.batch_size} chunks"
    if run.recipe.steps < FEW_STEPS:
        plan += ", which is few: --steps takes more, and a small model a --learning-rate of 1e-3"
    say(f"{plan}.")
    bar = tqdm(total=run.recipe.steps, initial=run.step, disable=not leads, delay=1)

    def show(record: Record) -> None:
        bar.set_postfix_str(f"loss {record.loss:.2f} nats per piece", refresh=False)
        bar.update()

    with bar:
        run.train(show, say=say)
    if not run.finished:
        raise KeyboardInterrupt
    if leads:
        with held_signals():
            after = run.save(out, options.command)
        print(table(run.before, after))
        print(outcome(run.before, after))
        print(f"{out}: saved after {run.step} steps", flush=True)
        shutil.rmtree(folder, ignore_errors=True)


def _as_begun(run: Adaptation, chosen: Mapping[str, float]) -> None:
    """Refuse a run that goes on with other settings than it began with.

    Its length and its batch may have become less than was chosen.
    """
    for name, value in chosen.items():
        begun = getattr(run.recipe, name)
        if value != begun and not (name in ("length", "batch_size") and value > begun):
            raise ValueError(
                f"The run was begun with --{name.replace('_', '-')} {begun:g}, not {value:g}; "
                "leave the option out to continue it as it is."
            )
