"""A run: a model, your texts and a recipe, trained, kept on disk, measured and saved."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from cloze.adapt.card import card, now
from cloze.adapt.chunks import Masks, prepare
from cloze.adapt.costs import Costs, costs
from cloze.adapt.documents import Document, Say
from cloze.adapt.recipe import Examples, Recipe
from cloze.handover.export import whole
from cloze.handover.packages import need, quiet
from cloze.handover.pieces import load_folder, longest_line
from cloze.interrupts import held_signals
from cloze.training import Progress, Record

NOTE = "adapt.json"
"""What a kept run was begun with."""
STATE = "trainer_state.json"
"""What the Trainer writes last into a checkpoint: without it, a checkpoint is not whole."""


class Adaptation(Progress):
    """A run that goes on with the training of a model; it is kept on disk whenever it stops.

    Args:
        model: the folder of a fill-mask model of ``transformers`` and its tokenizer.
        documents: your own texts.
        general: texts that show what is forgotten, and that may be mixed in.
        recipe: how to train. Its length becomes the model's own if that is less.
        folder: where the run is kept while it is not finished. A run that is there goes on if
            ``resume`` is true.
        resume: whether to go on with the run in the folder, with the recipe that it began with.

    Raises:
        ValueError: there is no such model, the tokenizer does not know the text's script, or the
            run in the folder is of another text.
    """

    recipe: Recipe

    def __init__(
        self,
        model: Path,
        documents: Sequence[Document],
        general: Sequence[Document],
        recipe: Recipe,
        folder: Path,
        *,
        resume: bool = False,
    ) -> None:
        need("Adapting a model", transformers=5, accelerate=1, tokenizers=0)
        self.folder, self.base = folder, model
        self.model, self.tokenizer = load_folder(model)
        if hasattr(self.model.config, "sparse_prediction"):
            # ModernBERT's own switch: logits only where something is asked.
            self.model.sparse_prediction = True
        note = self._note() if resume else {}
        recipe = Recipe(**note["recipe"]) if note else recipe
        recipe = replace(
            recipe, length=min(recipe.length, longest_line(self.model, self.tokenizer))
        )
        self.texts = prepare(documents, general, self.tokenizer, recipe.length)
        if note and note["sha256"] != self.texts.sha256:
            raise ValueError(
                f"The run in {folder} was begun with other texts; name the same ones, or move it "
                "away to begin anew."
            )
        masks = Masks(self.tokenizer, recipe.mask_prob, recipe.seed)
        self.examples = Examples(self.texts, masks, recipe)
        self.recipe = replace(recipe, steps=self.examples.steps)
        self.before = {
            name: Costs(*map(torch.tensor, cost)) for name, cost in note.get("before", {}).items()
        }
        self.history = self._kept_history() if resume else []

    def record(self, entry: Mapping[str, Any]) -> Record:
        """Return what the Trainer has logged of a step as a record."""
        characters = round(entry["step"] * self.examples.characters_per_step)
        return Record(entry["step"], characters, entry["seconds"], entry["loss"], None)

    def measure(self, times: int = 1) -> dict[str, Costs]:
        """Return what held-out text costs now: yours and, if there is any, general text."""
        parts = {"your text": self.texts.own_held_out, "general text": self.texts.general_held_out}
        masks = self.examples.masks
        return {name: costs(self.model, part, masks, times) for name, part in parts.items() if part}

    def train(
        self,
        on_record: Callable[[Record], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
        *,
        progress: bool = False,
        say: Say = lambda _: None,
    ) -> None:
        """Train until the last step, or until somebody asks to stop; then the run is on disk.

        Args:
            on_record: called with the record of each step.
            stop: asked after each step whether to stop, as Ctrl-C does.
            progress: show a bar.
            say: is told what a text costs, and what goes wrong while training continues.

        Raises:
            KeyboardInterrupt: after the step during which it was asked for.
            FloatingPointError: a loss is not finite.
        """
        if self.finished:
            return
        from cloze.adapt.trainer import Adapter

        with held_signals() as asked, quiet():
            last = kept_whole(self.folder) if self.history else None
            trainer = Adapter(
                self, on_record, lambda: asked() or stop(), progress=progress, say=say
            )
            if not self.before and trainer.is_world_process_zero():
                say("Measuring what held-out text costs before training …")
                self.before = self.measure()
                say(now(self.before))
            try:
                trainer.train(resume_from_checkpoint=str(last) if last else None)
            finally:
                with suppress(OSError):  # the Trainer makes a folder, which may have stayed empty
                    self.folder.rmdir()
            if not self.finished and (kept := trainer.kept_in):
                moved = "" if kept == self.folder else f"put it in the place of {self.folder} and "
                say(f"The run is kept in {kept}; to continue, {moved}add --resume to the command.")
                self.folder = kept

    def note(self, folder: Path) -> None:
        """Write into a folder what the run was begun with."""
        folder.mkdir(parents=True, exist_ok=True)
        before = {name: [part.tolist() for part in cost] for name, cost in self.before.items()}
        note = {"recipe": asdict(self.recipe), "sha256": self.texts.sha256, "before": before}
        (folder / NOTE).write_text(json.dumps(note), encoding="utf-8")

    def _note(self) -> dict[str, Any]:
        if not kept_whole(self.folder):
            raise ValueError(f"There is no run in {self.folder}; leave out --resume to begin one.")
        note: dict[str, Any] = json.loads((self.folder / NOTE).read_text(encoding="utf-8"))
        return note

    def _kept_history(self) -> list[Record]:
        last = kept_whole(self.folder)
        assert last is not None  # or there would be no note
        state = json.loads((last / STATE).read_text(encoding="utf-8"))
        return [self.record(entry) for entry in state["log_history"] if "loss" in entry]

    def save(self, out: Path, command: str = "") -> dict[str, Costs]:
        """Write the model, its tokenizer and a card into a new folder; return what it pays now."""
        after = self.measure()
        with whole(out, is_folder=True) as part, quiet():
            self.model.save_pretrained(part)
            self.tokenizer.save_pretrained(part)
            shutil.copymode(part / "config.json", part / "model.safetensors")  # it would be private
            (part / "README.md").write_text(card(self, after, command), encoding="utf-8")
        return after


def kept_whole(folder: Path) -> Path | None:
    """Return the latest checkpoint in a run's folder that was written to its end."""
    whole_ones = (state.parent for state in folder.glob(f"checkpoint-*/{STATE}"))
    return max(whole_ones, key=lambda each: int(each.name.partition("-")[2]), default=None)
