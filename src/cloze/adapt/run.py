"""A run: a model, your texts and a recipe; it trains, measures and saves."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from cloze.adapt.chunks import Masks, prepare
from cloze.adapt.costs import Costs, costs, costs_before, table
from cloze.adapt.documents import Document, Say, silent
from cloze.adapt.recipe import AdaptRecipe, Examples
from cloze.adapt.saved import last_checkpoint, log_of
from cloze.checkpoint import fitting
from cloze.handover.export import new_folder
from cloze.handover.packages import need, quiet
from cloze.handover.pieces import load_folder, longest_line
from cloze.interrupts import held_signals
from cloze.lenses import fingerprint
from cloze.training import Progress, Record

CARD = Path(__file__).with_name("card.md")


class Adaptation(Progress):
    """A run that trains a model further. It is saved every minute, and whenever it stops.

    Args:
        model: the folder of a fill-mask model of ``transformers`` and its tokenizer.
        documents: your own texts.
        general: texts that show what is forgotten, and that may be mixed in.
        recipe: how to train. Its length becomes the model's own if that is less, and its batch
            the text's chunks.
        folder: where the run is saved while it is not finished.
        resume: whether to continue the run in the folder, with the recipe that it began with.

    Raises:
        ValueError: there is no such model, the tokenizer does not know the text's script, or the
            run in the folder is damaged, or of another model or text.
    """

    recipe: AdaptRecipe

    def __init__(
        self,
        model: Path,
        documents: Sequence[Document],
        general: Sequence[Document],
        recipe: AdaptRecipe,
        folder: Path,
        *,
        resume: bool = False,
    ) -> None:
        need("Adapting a model", transformers=5, accelerate=1, tokenizers=0)
        self.folder, self.base = folder, model
        self.model, self.tokenizer = load_folder(model)
        if hasattr(self.model.config, "sparse_prediction"):
            # ModernBERT's own switch: logits at the masked positions only.
            self.model.sparse_prediction = True
        log: list[dict[str, Any]] = []
        if resume:
            last = last_checkpoint(folder)
            if not last:
                raise ValueError(
                    f"There is no run in {folder} that was saved to the end; leave out --resume to "
                    "begin one."
                )
            log = log_of(last)
            with fitting(last):
                recipe = AdaptRecipe(**log[0]["recipe"])
        recipe = replace(
            recipe, length=min(recipe.length, longest_line(self.model, self.tokenizer))
        )
        self.texts = prepare(documents, general, self.tokenizer, recipe.length)
        self.begun = {"model": fingerprint(self.model), "text": self.texts.sha256}
        for what, digest in self.begun.items():
            if log and log[0].get(what) != digest:
                raise ValueError(
                    f"The run in {folder} was begun with another {what}; name the same, or move it "
                    "away to begin again."
                )
        masks = Masks(self.tokenizer, recipe.mask_prob, recipe.seed)
        self.examples = Examples(self.texts, masks, recipe)
        self.recipe = replace(self.examples.recipe, steps=self.examples.steps)
        self.before: dict[str, Costs] = {}
        self.history = [self._record(entry) for entry in log]

    def measure(self, times: int = 1) -> dict[str, Costs]:
        """Return what held-out text costs now: yours, and general text if there is any."""
        parts = {"your text": self.texts.own_held_out, "general text": self.texts.general_held_out}
        masks = self.examples.masks
        return {name: costs(self.model, part, masks, times) for name, part in parts.items() if part}

    def train(
        self,
        on_record: Callable[[Record], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
        say: Say = silent,
    ) -> None:
        """Train until the last step, or until somebody asks to stop; then the run is on disk.

        Args:
            on_record: called with the record of each step.
            stop: called after each step; returns whether to stop, as Ctrl-C does.
            say: called with sentences about what happens.

        Raises:
            KeyboardInterrupt: after the step during which it was pressed.
            FloatingPointError: a loss is not finite.
            ValueError: the run cannot be saved. What was saved before is still there.
        """
        if self.finished:
            return
        from cloze.adapt.trainer import Adapter

        def on_step(entry: dict[str, Any]) -> bool:
            if not math.isfinite(entry["loss"]):
                raise FloatingPointError(
                    f"The loss is not finite at step {entry['step']}; take a lower --learning-rate."
                )
            if entry["step"] == 1:  # the Trainer saves its log with the model
                entry |= {"recipe": asdict(self.recipe), **self.begun}
            self.history.append(self._record(entry))
            on_record(self.history[-1])
            return interrupted() or stop()

        with held_signals() as interrupted, quiet():
            last = last_checkpoint(self.folder) if self.history else None
            # A step that could not be saved is taken again.
            self.history = [self._record(entry) for entry in log_of(last)] if last else []
            adapter = Adapter(self.model, self.examples, self.folder, self.seconds, on_step)
            if adapter.is_world_process_zero() and not self.before:
                say("Measuring what held-out text costs before training …")
                self.before = self.measure()  # a resumed run has not loaded its weights yet
                say(costs_before(self.before))
            try:
                adapter.train(resume_from_checkpoint=str(last) if last else None)
            except (OSError, RuntimeError, SafetensorError) as error:
                if isinstance(error, RuntimeError) and "inline_container" not in str(error):
                    raise  # that is the name of what writes files for torch
                raise ValueError(
                    f"The run cannot be saved in {self.folder}: {error}. Make room; what was saved "
                    "before is still there, and --resume continues from it."
                ) from None
            if not self.finished:
                say(f"The run is saved in {self.folder}; to continue, add --resume to the command.")

    def _record(self, entry: Mapping[str, Any]) -> Record:
        characters = round(entry["step"] * self.examples.characters_per_step)
        return Record(entry["step"], characters, entry["seconds"], entry["loss"], None)

    def save(self, out: Path, command: str = "") -> dict[str, Costs]:
        """Write model, tokenizer and card into a new folder; return what text costs now."""
        after = self.measure()
        with new_folder(out) as part, quiet():
            self.model.save_pretrained(part)
            self.tokenizer.save_pretrained(part)
            shutil.copymode(part / "config.json", part / "model.safetensors")  # it would be private
            made = {"command": f"`{command}`"} if command else {}
            made |= {**asdict(self.recipe), "sha256 of the texts": self.texts.sha256}
            card = CARD.read_text(encoding="utf-8").format(
                base=self.base.resolve().name,
                summary=self.texts.summary,
                table=table(self.before, after),
                rows="\n".join(f"| {key.replace('_', ' ')} | {made[key]} |" for key in made),
            )
            (part / "README.md").write_text(card, encoding="utf-8")
        return after
