"""The Trainer of ``transformers`` as a run uses it: it records, stops and keeps the run."""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor
from transformers import PrinterCallback, ProgressCallback, Trainer, TrainingArguments

from cloze.adapt.documents import Say
from cloze.adapt.recipe import Recipe
from cloze.adapt.run import Adaptation, kept_whole
from cloze.masking import IGNORE
from cloze.training import Record

SAVE_EVERY = 60.0
"""Seconds of training that a kill may cost."""


class Bar(ProgressCallback):  # type: ignore[misc]
    """The bar of ``transformers`` with the loss beside it, not a line for each step."""

    def on_log(
        self, _arguments: Any, _state: Any, _control: Any, logs: dict[str, float], **_: Any
    ) -> None:
        """Show the loss of the last step."""
        if self.training_bar is not None and "loss" in logs:
            shown = f"loss {logs['loss']:.2f} nats per piece"
            self.training_bar.set_postfix_str(shown, refresh=False)


class Adapter(Trainer):  # type: ignore[misc]
    """Takes the steps of a run.

    Args:
        run: what to train.
        on_record: called with the record of each step.
        stop: asked after each step whether to stop.
        progress: show a bar.
        say: is told what goes wrong while training continues.

    Raises:
        ValueError: a batch cannot be shared out among the processes.
    """

    def __init__(
        self,
        run: Adaptation,
        on_record: Callable[[Record], None],
        stop: Callable[[], bool],
        *,
        progress: bool,
        say: Say,
    ) -> None:
        super().__init__(
            model=run.model,
            args=_arguments(run.recipe, run.folder),
            train_dataset=run.examples,
            data_collator=run.examples.masks.pad,
        )
        self.model_accepts_loss_kwargs = True  # so that the pieces of all processes are counted
        self.remove_callback(PrinterCallback)
        if progress:
            self.add_callback(Bar())
        self.run, self.on_record, self.stop, self.say = run, on_record, stop, say
        self.kept_in: Path | None = None
        self._kept_at = self._begun = time.monotonic()
        self._seconds_before = run.seconds

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Tensor],
        return_outputs: bool = False,  # noqa: ARG002 - as the Trainer calls it
        num_items_in_batch: Any = None,
    ) -> Any:
        """Return this process's part of the mean over the pieces that all processes ask for.

        A model's own loss is the mean over its own pieces. The gradients of processes are averaged,
        so what should be a sum is multiplied by their number.
        """
        share = (inputs["labels"] != IGNORE).sum() / num_items_in_batch
        return model(**inputs).loss * share * self.accelerator.num_processes

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Record a step, and ask whether to stop or to keep the run."""
        super().log(logs, start_time)
        if "loss" not in logs:  # the summary at the end
            return
        _checked_loss(logs["loss"], self.state.global_step)
        now = time.monotonic()
        self.state.log_history[-1]["seconds"] = self._seconds_before + now - self._begun
        self.run.history.append(self.run.record(self.state.log_history[-1]))
        self.on_record(self.run.history[-1])

        due = now - self._kept_at >= SAVE_EVERY and self.is_world_process_zero()
        any_stop, any_due = self._any(self.stop(), due)
        self.control.should_training_stop |= any_stop
        self.control.should_save = any_due or (any_stop and not self.run.finished)
        if any_due:
            self._kept_at = now

    def _any(self, *mine: bool) -> list[bool]:
        """Return of each question whether one of the processes says yes."""
        answers = torch.tensor(mine, dtype=torch.float, device=self.args.device)
        return [total > 0 for total in self.accelerator.reduce(answers, "sum").tolist()]

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Keep the run in its folder; when it stops and there is no room, somewhere else."""
        for home in (self.run.folder.parent, None):
            folder = (home or Path(tempfile.mkdtemp(prefix="cloze-"))) / self.run.folder.name
            self.args.output_dir = str(folder)
            try:
                if self.args.should_save:  # the others have measured nothing
                    self.run.note(folder)
                super()._save_checkpoint(model, trial)
            except (OSError, RuntimeError, SafetensorError) as error:
                kept = folder / f"checkpoint-{self.state.global_step}"
                shutil.rmtree(kept if kept_whole(folder) else folder, ignore_errors=True)
                self.say(f"{kept} cannot be written: {error}".rstrip(".") + ".")
                if not self.control.should_training_stop:
                    self.say("Training continues.")
                    return
            else:
                self.kept_in = folder
                return


def _checked_loss(loss: float, step: int) -> None:
    """Refuse a loss that is not finite."""
    if not math.isfinite(loss):
        raise FloatingPointError(
            f"The loss is not finite at step {step}; take a lower --learning-rate."
        )


def _arguments(recipe: Recipe, folder: Path) -> Any:
    """Say to the Trainer what the recipe says."""
    on_gpu = torch.accelerator.is_available()
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=recipe.steps,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        warmup_steps=math.ceil(recipe.warmup * recipe.steps),
        lr_scheduler_type="linear",
        train_sampling_strategy="sequential",  # the examples come in the order of the run
        bf16=on_gpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        save_strategy="no",
        save_total_limit=1,
        logging_steps=1,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        log_level_replica="error",  # the first process keeps quiet by itself
        seed=recipe.seed,
    )
    share, left = divmod(recipe.batch_size, arguments.world_size)
    if left:
        raise ValueError(
            f"--batch-size {recipe.batch_size} cannot be shared out among {arguments.world_size} "
            "processes; choose a multiple."
        )
    arguments.per_device_train_batch_size = share
    # Several GPUs take a process each: the Trainer would otherwise multiply the batch.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments
