"""What the commands have in common: a training, and a file of results that grows run by run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import cloze.lessons
from cloze.encoder import EncoderConfig
from cloze.heads import CausalLM, MaskedLM
from cloze.objectives import MASKED, Objective
from cloze.training import Recipe, Source, TrainingRun, fit
from cloze.world import World

LESSONS = Path(cloze.lessons.__file__).parent
SEEDS = (0, 1, 2)


class ResultsFile:
    """A JSON file of results: what it takes to repeat them, and what each run came to.

    A command that was stopped goes on with the runs that its file holds, if they were made in the
    same way. To measure everything again, delete the file.

    Args:
        command: the module's name.
        path: the file; None for one of this name in the folder of the lesson.
        made: whatever else the results depend on.
    """

    def __init__(self, command: str, path: Path | None = None, **made: object) -> None:
        _, *folders = command.split(".")
        self.path = path or LESSONS.joinpath(*folders).with_suffix(".json")
        made = {"command": f"python -m {command}", "torch": torch.__version__, **made}
        self.results: dict[str, Any] = json.loads(json.dumps(made))
        if self.path.exists():
            written = json.loads(self.path.read_text(encoding="utf-8"))
            if self.results.items() <= written.items():
                self.results = written

    def measure(self, part: str, one: Callable[..., Any], *keys: Iterable[object]) -> Any:
        """Make every run that the file does not hold yet, and write the file after each.

        Args:
            part: where the file holds these results.
            one: makes a run, from its keys, and returns its result.
            keys: the runs are all combinations of these, such as names and seeds; a result lies
                under its keys, one inside the other. Without keys there is a single run.

        Returns:
            All results of this part.
        """
        for run in product(*keys):
            *outer, last = part, *map(str, run)
            place = self.results
            for key in outer:
                place = place.setdefault(key, {})
            if last not in place:
                place[last] = one(*run)
                self.write()
                print(part, *run, flush=True)
        return self.results.get(part, {})

    def write(self) -> None:
        """Write the file, whole or not at all."""
        new = self.path.with_suffix(".part")
        new.write_text(json.dumps(self.results, indent=1) + "\n", encoding="utf-8")
        new.replace(self.path)


def area_under_curve(scores: Tensor, wanted: Tensor) -> float:
    """Return the AUC: the probability that a positive scores higher than a negative (ties: half).

    1 means that every positive comes first, ½ is chance.

    Args:
        scores: of any shape.
        wanted: where the positives are, boolean, of the same shape.

    Raises:
        ValueError: a score is NaN, or there are no positives or no negatives.
    """
    if scores.isnan().any():
        raise ValueError("A score is NaN, which is neither higher nor lower than another.")
    ours, others = scores[wanted], scores[~wanted].sort().values
    if not len(ours) or not len(others):
        raise ValueError(
            "An area under the curve compares what is wanted with what is not; mark at least one "
            "of each."
        )
    below = torch.searchsorted(others, ours, right=False).double()
    at_most = torch.searchsorted(others, ours, right=True).double()
    return float((below + at_most).mean()) / 2 / len(others)


def begun(
    source: Source,
    recipe: Recipe,
    objective: Objective = MASKED,
    make: Callable[[], MaskedLM] | None = None,
) -> TrainingRun:
    """Prepare to train a model with new weights.

    Args:
        source: a small world is read in batches of 64 whole sentences.
        recipe: its seed draws the weights, too.
        objective: what the model is asked.
        make: makes another model than the objective's usual one.
    """
    if isinstance(source, World):
        recipe = replace(recipe, batch_size=64, length=source.max_len)
    vocabulary = objective.vocabulary(source.vocabulary)
    config = EncoderConfig(
        vocab_size=len(vocabulary),
        max_len=recipe.length + objective.room,
        direction="left" if issubclass(objective.model, CausalLM) else "both",
    )
    torch.manual_seed(recipe.seed)
    model = objective.model(config, vocabulary) if make is None else make()
    return TrainingRun(model, source, recipe, objective)


def finished(run: TrainingRun) -> TrainingRun:
    """Train to the end of the recipe."""
    for _ in fit(run):
        pass
    run.model.eval()
    return run


def trained(
    source: Source,
    recipe: Recipe,
    objective: Objective = MASKED,
    make: Callable[[], MaskedLM] | None = None,
) -> TrainingRun:
    """Train a model with new weights; held-out loss is not measured on the way."""
    return finished(begun(source, replace(recipe, evaluations=0), objective, make))
