"""The command ``cloze adapt``."""

from __future__ import annotations

import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from cloze.adapt.card import outcome, table
from cloze.adapt.documents import GENERAL, Say, read_documents
from cloze.adapt.recipe import LIMITS, Recipe
from cloze.adapt.run import Adaptation, kept_whole
from cloze.files import FileError, followed, reserved
from cloze.handover.packages import need
from cloze.interrupts import held_signals

FEW_STEPS = 30
"""With fewer steps than this, hardly anything is learned."""
STATE_COPIES = 8
"""A run on disk holds a model and two moments of each weight, twice while the new one is written,
and then the finished model."""


def adapt(options: Namespace, say: Say) -> None:
    """Go on training a model as the command says; however it ends, the run is kept.

    Raises:
        ValueError: a text, the model or the place for the new one cannot be used.
        KeyboardInterrupt: it was asked to stop.
    """
    need("Adapting a model", transformers=5, accelerate=1, tokenizers=0)
    out = followed(options.out)
    kept = out.with_name(f"{out.name}.run")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        finished = options.resume and not kept.exists()
        raise ValueError(f"{out} {'is finished' if finished else 'exists'}; name a new folder.")
    if kept_whole(kept) and not options.resume:
        raise ValueError(
            f"{kept} holds an unfinished run; add --resume to continue it, or delete it to begin "
            "anew."
        )
    chosen = {name: getattr(options, name) for name, *_ in LIMITS}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    recipe = Recipe(**chosen)
    leads = os.environ.get("RANK", "0") == "0"  # as torchrun numbers processes
    documents = read_documents(options.texts, say)
    general = read_documents(options.general or [GENERAL])
    if leads:
        say("Reading the model …")
    run = Adaptation(options.model, documents, general, recipe, kept, resume=options.resume)
    _as_begun(run, chosen)
    _room(out, run)
    if leads:
        say(f"{run.texts.summary}.")
        few = run.recipe.steps < FEW_STEPS
        more = ", which is few: --steps takes more, and a small model a --learning-rate of 1e-3"
        say(f"{run.recipe.steps} steps of {run.recipe.batch_size} chunks{more * few}.")
    with reserved(out) if leads else nullcontext():
        run.train(progress=leads, say=say if leads else lambda _: None)
        if not run.finished:
            raise KeyboardInterrupt
        if leads:
            with held_signals():
                try:
                    after = run.save(out, options.command)
                except FileError as error:  # the disk is full: the model is not lost for that
                    out = Path(tempfile.mkdtemp(prefix="cloze-")) / out.name
                    say(f"{error} It goes to {out} instead.")
                    after = run.save(out, options.command)
            print(table(run.before, after))
            print(outcome(run.before, after))
            print(f"{out}: saved after {run.step} steps", flush=True)
            shutil.rmtree(kept, ignore_errors=True)


def _as_begun(run: Adaptation, chosen: Mapping[str, float]) -> None:
    """Refuse a run that goes on with other settings than it began with."""
    for name, value in chosen.items():
        begun = getattr(run.recipe, name)
        if value != begun and name != "length":  # which becomes the model's own if that is less
            raise ValueError(
                f"The run was begun with --{name.replace('_', '-')} {begun:g}, not {value:g}; "
                "leave the option out to continue it as it is."
            )


def _room(out: Path, run: Adaptation) -> None:
    """Refuse a disk without room for the run and the model."""
    out.parent.mkdir(parents=True, exist_ok=True)
    bytes_of_model = sum(each.nbytes for each in run.model.parameters())
    needed, free = STATE_COPIES * bytes_of_model, shutil.disk_usage(out.parent).free
    if free < needed:
        raise ValueError(
            f"The run needs {needed / 10**6:,.0f} MB beside {out} and {free / 10**6:,.0f} MB are "
            "free; make room, or name another place."
        )
