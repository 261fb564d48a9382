"""``cloze train``: begin a run or go on with one, keep it whatever happens, write the model."""

from __future__ import annotations

import re
import shlex
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch

from cloze.checkpoint import probe, save_model
from cloze.corpus import Corpus
from cloze.distributed import Team
from cloze.encoder import EncoderConfig
from cloze.files import FileError, followed
from cloze.heads import CausalLM
from cloze.interrupts import held_signals
from cloze.objectives import objective_named
from cloze.training import Recipe, TrainingRun, fit, steps_in
from cloze.world import World

SAVE_EVERY = 60.0
"""Seconds of training that a kill may cost: after so many the run is saved."""

Say = Callable[[str], None]
"""Says a sentence to the person who runs the command."""


def train(options: Namespace, source: Corpus | World, say: Say) -> None:
    """Train a model and save it; whatever ends it before that, the run is kept beside it.

    Raises:
        ValueError: an option is out of range, or a file cannot be used.
    """
    output = followed(options.output)
    probe(output, force=options.force)  # now rather than after training
    team = Team()
    kept = _place_for_the_run(output, options)
    run = _resumed(options, source, say) if options.resume else _begun(options, source, team)
    run = team.share_out(run)
    # From the first step until the last byte is written, whatever ends us finds the run saved.
    with held_signals() as asked_to_stop:
        try:
            _take_steps(run, team, kept, asked_to_stop, say)
            if not run.finished:
                raise KeyboardInterrupt
            if team.leads:
                _write_model(output, run, options.command)
                kept.unlink(missing_ok=True)
        except BaseException as end:
            if team.leads:
                _keep(run, kept, say, astray=isinstance(end, ArithmeticError))
            raise


def _place_for_the_run(output: Path, options: Namespace) -> Path:
    """Return where the run is kept while it is not finished.

    Raises:
        ValueError: another run that was not finished is there, or nothing can be written there.
    """
    kept = output.with_name(f"{output.name}.run.safetensors")
    probe(kept, force=options.force)
    going_on = options.resume and kept.exists() and kept.samefile(options.resume)
    if kept.exists() and not going_on and not options.force:
        raise ValueError(
            f"{kept} holds an unfinished run; add --resume {shlex.quote(str(kept))} to continue "
            "it, or --force to start over."
        )
    return kept


def _begun(options: Namespace, source: Corpus | World, team: Team) -> TrainingRun:
    """Begin a run as the command says."""
    objective = objective_named(options.objective or "masked")
    usual = Recipe()
    if isinstance(source, World):
        usual = Recipe(batch_size=64, length=source.max_len)
    recipe = replace(usual, **_chosen(options))
    vocabulary = objective.vocabulary(source.vocabulary)
    left = issubclass(objective.model, CausalLM)
    config = EncoderConfig(
        vocab_size=len(vocabulary),
        max_len=recipe.length + objective.room,
        direction=options.direction or ("left" if left else "both"),
    )

    def begin() -> TrainingRun:
        torch.manual_seed(recipe.seed)
        model = objective.model(config, vocabulary)
        return TrainingRun(model, source, recipe, objective)

    if options.seconds is not None:
        steps = steps_in(options.seconds, team.share_out(begin()))
        recipe = replace(recipe, steps=team.highest(steps))
    return begin()


def _chosen(options: Namespace, *more: str) -> dict[str, Any]:
    """Return what the command chooses of a recipe, and the values of more options if given."""
    names = [*(field.name for field in fields(Recipe)), *more]
    chosen = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in chosen.items() if value is not None}


def _resumed(options: Namespace, source: Corpus | World, say: Say) -> TrainingRun:
    """Load the run to go on with, and say which options it does not follow."""
    run = TrainingRun.load(options.resume, source)
    recipe, direction = run.recipe, run.model.config.direction
    has = asdict(recipe) | {"direction": direction, "objective": run.objective.name}
    given = _chosen(options, "seconds", "direction", "objective")
    ignored = [
        f"--{name.replace('_', '-')} {value}"
        for name, value in given.items()
        if value != has.get(name)
    ]
    if ignored:
        say(f"the run continues with the settings it began with; ignored: {', '.join(ignored)}.")
    return run


def _take_steps(
    run: TrainingRun, team: Team, kept: Path, asked_to_stop: Callable[[], bool], say: Say
) -> None:
    """Train until the end, or until somebody in the team is asked to stop."""
    read = "positions" if run.model.vocabulary.separator else "characters"
    saved = time.monotonic()
    for record in fit(run, stop=lambda: team.highest(asked_to_stop()) > 0, progress=team.leads):
        if team.leads and record.held_out is not None:
            print(
                f"step {record.step:>6}  {record.characters:>12,} {read}  "
                f"{record.seconds:>7.1f} s  {run.objective.measured} "
                f"{record.held_out:.3f} nats",
                flush=True,
            )
        if team.leads and time.monotonic() - saved >= SAVE_EVERY:
            try:
                run.save(kept)
            except FileError as error:
                say(f"{error} Training continues.")
            saved = time.monotonic()


def _write_model(output: Path, run: TrainingRun, command: str) -> None:
    what, loss = run.objective.measured, run.history[-1].held_out
    loss = run.measure() if loss is None else loss
    provenance = {
        "command": command,
        "seed": run.recipe.seed,
        "steps": run.step,
        "corpus_sha256": run.corpus.sha256,
        f"{re.sub('[^a-z]+', '_', what)}_nats": round(loss, 4),
        "torch": torch.__version__,
    }
    save_model(output, run.model, provenance)
    print(f"{output}: {what} {loss:.3f} nats after {run.step} steps", flush=True)


def _keep(run: TrainingRun, path: Path, say: Say, *, astray: bool) -> None:
    """Save a run that has to end, and say where it is; one that went astray is not saved."""
    if not astray:
        try:
            run.save(path)
        except FileError:
            path = Path(tempfile.mkdtemp(prefix="cloze-")) / path.name
            run.save(path)
    if path.exists():
        what = "An earlier state of the run" if astray else "The run"
        say(f"{what} is saved; to continue, add --resume {shlex.quote(str(path))} to the command.")
