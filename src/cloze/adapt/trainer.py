"""The Trainer of ``transformers`` as a run uses it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PrinterCallback, Trainer, TrainingArguments

from cloze.adapt.recipe import AdaptRecipe, Examples
from cloze.adapt.saved import seal
from cloze.masking import IGNORE

SAVE_EVERY = 60.0
"""Seconds of training that a killed process may cost."""


class Adapter(Trainer):  # type: ignore[misc]
    """Takes the steps of a run, and saves it every minute and when it stops.

    Args:
        model: what to train.
        examples: what it reads, and the recipe.
        folder: where checkpoints are saved.
        seconds: how long the run was trained before.
        on_step: called with the log of each step; returns whether to stop.

    Raises:
        ValueError: a batch cannot be shared out among the processes.
    """

    def __init__(
        self,
        model: Any,
        examples: Examples,
        folder: Path,
        seconds: float,
        on_step: Callable[[dict[str, Any]], bool],
    ) -> None:
        super().__init__(
            model=model,
            args=_arguments(examples.recipe, examples.steps, folder),
            train_dataset=examples,
            data_collator=examples.masks.pad,
        )
        self.model_accepts_loss_kwargs = True  # so that the pieces of all processes are counted
        self.remove_callback(PrinterCallback)
        self.on_step = on_step
        self._saved_at = time.monotonic()
        self._begun = self._saved_at - seconds

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Tensor],
        return_outputs: bool = False,  # noqa: ARG002 - as the Trainer calls it
        num_items_in_batch: Any = None,
    ) -> Any:
        """Return this process's part of the mean over the masked pieces of all processes.

        A model's own loss is the mean over its own pieces. The gradients of processes are averaged,
        so what should be a sum is multiplied by their number.
        """
        share = (inputs["labels"] != IGNORE).sum() / num_items_in_batch
        return model(**inputs).loss * share * self.accelerator.num_processes

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Hand a step's log on, and decide whether to stop and whether to save."""
        super().log(logs, start_time)
        if "loss" not in logs:  # the summary at the end
            return
        now = time.monotonic()
        entry = self.state.log_history[-1]
        entry["seconds"] = now - self._begun
        stop, due = self._any(
            self.on_step(entry),
            now - self._saved_at >= SAVE_EVERY and self.is_world_process_zero(),
        )
        unfinished = self.state.global_step < self.args.max_steps
        self.control.should_training_stop |= stop
        self.control.should_save = due or (stop and unfinished)
        if due:
            self._saved_at = now

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()  # each process writes the state of its chance
        if self.is_world_process_zero():
            seal(Path(self.args.output_dir, f"checkpoint-{self.state.global_step}"))

    def _any(self, *mine: bool) -> list[bool]:
        """Return for each question whether any of the processes answers yes."""
        answers = torch.tensor(mine, dtype=torch.float, device=self.args.device)
        return [total > 0 for total in self.accelerator.reduce(answers, "sum").tolist()]


def _arguments(recipe: AdaptRecipe, steps: int, folder: Path) -> TrainingArguments:
    """Translate a recipe for the Trainer."""
    on_gpu = torch.accelerator.is_available()
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        warmup_steps=math.ceil(recipe.warmup * steps),
        train_sampling_strategy="sequential",  # the examples come in the order of the run
        bf16=on_gpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        dataloader_pin_memory=on_gpu,
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        save_strategy="no",
        logging_steps=1,
        logging_nan_inf_filter=False,
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
    # With several GPUs and one process, the Trainer would multiply the batch, and no public setting
    # keeps it from that. Several GPUs take a process each.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments
