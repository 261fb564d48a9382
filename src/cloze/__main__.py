"""The command line: ``python -m cloze train | evaluate | fill | export``."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from cloze.arguments import whole_number
from cloze.shell import Ending, outlets
from cloze.signals import ENDS, held_signals

if TYPE_CHECKING:
    from cloze.corpus import Corpus
    from cloze.distributed import Team
    from cloze.encoder import Direction
    from cloze.heads import MaskedLM
    from cloze.training import Source, TrainingRun
    from cloze.world import World

OBJECTIVE_NAMES = ("masked", "causal", "infilling", "replaced", "diffusion")
"""Those of ``cloze.objectives.DEFINED_IN``, which needs torch and is loaded when it is used."""
CHOICES = (
    "steps",
    "mask_prob",
    "weight_decay",
    "matrix_learning_rate",
    "query_key_learning_rate",
    "seed",
)
"""What of a recipe may be chosen; a field of ``cloze.training.Recipe`` and an option each."""
SAVE_EVERY = 60.0
"""Seconds of training that a kill may cost: after so many the run is saved."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every known error is one sentence.

    Returns:
        0 if all went well, 1 for an error, 128 + n if signal n ended it (Ctrl-C is 2, a ``kill``
        15). Wrong usage exits with 2.
    """
    words = sys.argv[1:] if arguments is None else arguments
    ending, code = Ending(), 0
    with outlets() as (out, err), ending.heard():
        try:
            options = _parser().parse_args(words)
            options.command = shlex.join(["python", "-m", "cloze", *map(_portable, words)])
            options.ending, options.outlets = ending, (out, err)
            with held_signals():  # a library that is interrupted while it loads stays half loaded
                import_module("cloze.training")
            options.run(options)
            out.flush()
            if out.error:
                raise out.error
        except KeyboardInterrupt as end:
            _say("stopped.", *getattr(end, "__notes__", ()))
            code = 128 + (ending.signal or signal.SIGINT)
        # TextError and CheckpointError are ValueErrors, a loss that is not finite is arithmetic.
        except (ValueError, OSError, ArithmeticError, MemoryError) as error:
            reason = getattr(error, "strerror", None)
            said = f"{getattr(error, 'filename', None)!s:.200}: {reason}." if reason else str(error)
            _say(said or type(error).__name__, *getattr(error, "__notes__", ()))
            code = 1
    return code


def _say(*sentences: str) -> None:
    print("cloze:", *sentences, file=sys.stderr, flush=True)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(message if len(message) <= 300 else f"{message[:300]} …")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m cloze", description="Masked language modeling")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a model and save it")
    train.add_argument("output", type=Path, help="the checkpoint to write (.safetensors)")
    budget = train.add_mutually_exclusive_group()
    budget.add_argument("--steps", type=int, help="how many steps (default: about a minute)")
    budget.add_argument("--seconds", type=_seconds, help="as many steps as this machine does in it")
    learned_from = train.add_mutually_exclusive_group()
    learned_from.add_argument("--corpus", type=Path, help="a text of your own, or a corpus folder")
    learned_from.add_argument("--world", type=Path, help="a small world of sentences (.toml)")
    train.add_argument("--direction", choices=("both", "left", "right"), help="default: both")
    train.add_argument("--objective", choices=OBJECTIVE_NAMES, help="default: masked")
    train.add_argument("--mask-prob", type=float, help="share of positions selected in training")
    train.add_argument("--weight-decay", type=float)
    train.add_argument("--matrix-learning-rate", type=float, help="Muon's: values, outputs, …")
    train.add_argument("--query-key-learning-rate", type=float, help="Muon's: queries and keys")
    train.add_argument("--seed", type=int, help="default: 0")
    train.add_argument("--resume", type=Path, help="go on with a run that was stopped")
    train.add_argument("--force", action="store_true", help="replace whatever OUTPUT is")
    train.set_defaults(run=_train)

    evaluate = commands.add_parser("evaluate", help="held-out loss of a checkpoint and baselines")
    evaluate.add_argument("checkpoint", type=Path, nargs="?", help="default: the shipped one")
    evaluate.add_argument("--objective", choices=OBJECTIVE_NAMES, help="default: its model's own")
    asked_about = evaluate.add_mutually_exclusive_group()
    asked_about.add_argument("--corpus", type=Path)
    asked_about.add_argument("--world", type=Path, help="the small world that it was trained on")
    evaluate.set_defaults(run=_evaluate)

    fill = commands.add_parser("fill", help='fill gaps: fill "the qu_ck brown f_x"')
    fill.add_argument("line", help="text with _ for every missing character")
    fill.add_argument("--checkpoint", type=Path)
    fill.add_argument("-k", type=int, default=3, help="how many guesses to show (default 3)")
    fill.set_defaults(run=_fill)

    export = commands.add_parser("export", help="hand a model on: to Hugging Face or as ONNX")
    export.add_argument("format", choices=("hf", "onnx"), help="what for")
    export.add_argument("output", type=Path, help="a new folder (hf) or a new file (onnx)")
    export.add_argument("--checkpoint", type=Path, help="default: the shipped encoder")
    export.set_defaults(run=_export)
    return parser


def _train(options: argparse.Namespace) -> None:
    from cloze import checkpoint
    from cloze.distributed import Team

    options.corpus = _world(options.world) if options.world else _corpus(options.corpus)
    run = _resumed(options) if options.resume else None
    checkpoint.probe(options.output, force=options.force)  # now rather than after training
    kept = options.output.with_name(f"{options.output.name}.run.safetensors")
    checkpoint.probe(kept, force=options.force)
    going_on = options.resume and kept.exists() and kept.samefile(options.resume)
    if kept.exists() and not going_on and not options.force:
        raise FileExistsError(
            f"{kept} holds a run that was not finished; add --resume {shlex.quote(str(kept))} to "
            "go on with it, or --force to begin anew."
        )
    team = Team()
    run = team.takes(run) if run else _begun(options, team)
    # From the first step until the last byte is written, whatever ends us finds the run saved.
    with options.ending.postponed():
        try:
            _fit(options, run, team, kept)
            if team.leads:
                _write_model(options, run)
                with suppress(OSError):
                    kept.unlink(missing_ok=True)
        except BaseException as end:
            if team.leads:
                end.add_note(_keep(run, kept, astray=isinstance(end, ArithmeticError)))
            elif isinstance(end, KeyboardInterrupt):
                sys.exit(128 + (options.ending.signal or signal.SIGINT))
            raise


def _fit(options: argparse.Namespace, run: TrainingRun, team: Team, kept: Path) -> None:
    """Train to the end; a run that is stopped before that is an error.

    Raises:
        KeyboardInterrupt: a signal stopped it.
        OSError: nobody listens any more, or the team has fallen apart.
    """
    from cloze.checkpoint import CheckpointError
    from cloze.training import fit

    def broken() -> OSError | None:
        return next((outlet.error for outlet in options.outlets if outlet.error), None)

    def stop() -> bool:
        return team.highest(options.ending.signal or bool(broken())) > 0

    read = "positions" if run.model.vocabulary.separator else "characters"
    saved = time.monotonic()
    with team.together():
        for record in fit(run, stop=stop, progress=team.leads):
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
                except CheckpointError as error:
                    _say(f"{error} Training goes on.")
                saved = time.monotonic()
    if not run.finished:
        raise broken() or KeyboardInterrupt


def _begun(options: argparse.Namespace, team: Team) -> TrainingRun:
    """Begin a run as the command says."""
    import torch

    from cloze.encoder import EncoderConfig
    from cloze.heads import CausalLM
    from cloze.objectives import objective_named
    from cloze.training import Recipe, TrainingRun, steps_in
    from cloze.world import World

    corpus = options.corpus
    objective = objective_named(options.objective or "masked")
    left = issubclass(objective.model, CausalLM)
    direction: Direction = options.direction or ("left" if left else "both")
    if isinstance(corpus, World):
        usual, config = Recipe(batch_size=64, length=corpus.max_len), corpus.config(direction)
    else:
        usual, config = Recipe(), EncoderConfig(direction=direction)
    vocabulary = objective.vocabulary(corpus.vocabulary)
    config = replace(config, vocab_size=len(vocabulary), max_len=usual.length + objective.room)
    chosen = {name: getattr(options, name) for name in CHOICES}
    recipe = replace(usual, **{name: value for name, value in chosen.items() if value is not None})

    def begin() -> TrainingRun:
        torch.manual_seed(recipe.seed)
        model = objective.model(config, vocabulary)
        return team.takes(TrainingRun(model, corpus, recipe, objective))

    if options.seconds:
        recipe = replace(recipe, steps=team.highest(steps_in(options.seconds, begin())))
    return begin()


def _resumed(options: argparse.Namespace) -> TrainingRun:
    """Load the run to go on with, and say which options it does not follow."""
    from cloze.training import TrainingRun

    run = TrainingRun.load(options.resume, options.corpus)
    recipe, direction = run.recipe, run.model.config.direction
    has = {name: getattr(recipe, name) for name in CHOICES}
    has |= {"seconds": None, "direction": direction, "objective": run.objective.name}
    ignored = [
        f"--{name.replace('_', '-')} {given}"
        for name in has
        if (given := getattr(options, name)) not in (None, has[name])
    ]
    if ignored:
        _say(f"the run goes on as it was begun; ignored: {', '.join(ignored)}.")
    return run


def _write_model(options: argparse.Namespace, run: TrainingRun) -> None:
    import torch

    from cloze.checkpoint import save_model

    loss = run.history[-1].held_out
    loss = run.measure() if loss is None else loss
    provenance = {
        "command": options.command,
        "seed": run.recipe.seed,
        "steps": run.step,
        "corpus_sha256": options.corpus.sha256,
        f"{run.objective.measured.replace('-', '_')}_nats": round(loss, 4),
        "torch": torch.__version__,
    }
    save_model(options.output, run.model, provenance)
    what = run.objective.measured
    print(f"{options.output}: {what} {loss:.3f} nats after {run.step} steps", flush=True)


def _keep(run: TrainingRun, path: Path, *, astray: bool) -> str:
    """Save a run that has to end, and say where it is; one that went astray is not saved."""
    from cloze.checkpoint import CheckpointError

    go_on = "add --resume {} to the same command to go on."
    if not astray:
        with suppress(CheckpointError):
            run.save(path)
            return f"The run is kept; {go_on.format(shlex.quote(str(path)))}"
        with suppress(CheckpointError, OSError):
            elsewhere = Path(tempfile.mkdtemp(prefix="cloze-")) / "run.safetensors"
            run.save(elsewhere)
            return f"The run is kept; {go_on.format(shlex.quote(str(elsewhere)))}"
    if path.exists():
        return f"An earlier state of the run is kept; {go_on.format(shlex.quote(str(path)))}"
    return "Nothing could be kept."


def _evaluate(options: argparse.Namespace) -> None:
    if options.world:
        _evaluate_in_world(options)
        return

    from cloze.baselines import baseline_losses
    from cloze.checkpoint import load_model
    from cloze.evaluation import held_out_loss
    from cloze.loss import to_bits
    from cloze.masking import held_out_batch
    from cloze.objectives import objective_named
    from cloze.prediction import shipped_model

    corpus = _corpus(options.corpus)
    model = load_model(options.checkpoint) if options.checkpoint else shipped_model()
    if model.vocabulary != objective_named(model.objective).vocabulary(corpus.vocabulary):
        raise ValueError(
            f"{options.checkpoint} reads the words of a small world; name it with --world."
        )
    if _answers_its_own(model, corpus, options.objective):
        return
    held_out = held_out_batch(corpus.held_out_windows())
    losses = baseline_losses(corpus, held_out) | {"model": held_out_loss(model, held_out)}
    for name, nats in losses.items():
        print(f"{name:<16} {nats:6.3f} nats  {to_bits(nats):6.3f} bits")


def _evaluate_in_world(options: argparse.Namespace) -> None:
    from cloze.checkpoint import load_model
    from cloze.objectives import objective_named
    from cloze.prediction import shipped_world_model

    world = _world(options.world)
    model = load_model(options.checkpoint) if options.checkpoint else shipped_world_model()
    if model.vocabulary != objective_named(model.objective).vocabulary(world.vocabulary):
        raise ValueError(f"{options.checkpoint} does not read the words of {options.world}.")
    if _answers_its_own(model, world, options.objective):
        return
    questions, direction = world.questions(1000), model.config.direction
    floor, excess = (
        measured(questions, direction) for measured in (world.floor, partial(world.excess, model))
    )
    for name, mean in (("floor", floor), ("model above it", excess)):
        print(f"{name:<16} {mean}")


def _answers_its_own(model: MaskedLM, source: Source, asked: str | None) -> bool:
    """Measure a model on questions that are not those of the baselines, if it is to answer such."""
    from cloze.objectives import MASKED, objective_named

    objective = objective_named(asked or model.objective)
    if objective is MASKED:
        return False
    if objective.model.objective != model.objective:
        raise ValueError(
            f"The questions of the objective {objective.name} are for a "
            f"{objective.model.__name__}, and this is a {type(model).__name__}."
        )
    windows = source.held_out_windows(model.config.max_len - objective.room)
    nats = objective.measure(model, objective.held_out(windows, model.vocabulary))
    print(f"{objective.measured:<16} {nats:6.3f} nats")
    return True


def _fill(options: argparse.Namespace) -> None:
    from cloze.causal import fill_by_bayes
    from cloze.checkpoint import load_model
    from cloze.heads import CausalLM
    from cloze.objectives import CAUSAL, MASKED
    from cloze.prediction import fill
    from cloze.vocabulary import VOCABULARY

    k = whole_number(options.k, 1, VOCABULARY.n_ordinary, "-k, the number of guesses,")
    model = load_model(options.checkpoint) if options.checkpoint else None
    if model is not None and model.objective not in (MASKED.name, CAUSAL.name):
        raise ValueError(
            f"{options.checkpoint} was trained with the objective {model.objective}, which guesses "
            "no single characters; name a masked or a causal model."
        )
    if isinstance(model, CausalLM):
        print(fill_by_bayes(options.line, model, k=k))
    else:
        print(fill(options.line, model, k=k))


def _export(options: argparse.Namespace) -> None:
    from cloze.checkpoint import SHIPPED
    from cloze.handover.export import to_hugging_face, to_onnx

    checkpoint = options.checkpoint or SHIPPED
    if options.format == "hf":
        to_hugging_face(options.output, checkpoint)
        print(
            f"{options.output}: load it after `import cloze.handover.huggingface`, as "
            "README.md says."
        )
    else:
        to_onnx(options.output, checkpoint)
        print(
            f"{options.output}: input_ids (batch, length) in, logits (batch, length, symbols) out."
        )


def _seconds(word: str) -> float:
    with suppress(ValueError):
        if 0 < float(word) < 1e6:
            return float(word)
    raise argparse.ArgumentTypeError(f"{word} is not a number of seconds to train for.")


def _portable(word: str) -> str:
    """Leave the folders of this machine out of a word of the command, for provenance."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word


def _world(path: Path) -> World:
    from cloze.world import World

    return World.load(path)


def _corpus(path: Path | None) -> Corpus:
    from cloze.corpus import Corpus

    if path is None:
        return Corpus.load()
    corpus = Corpus.load(path) if path.is_dir() else Corpus.from_file(path)
    if corpus.report and os.environ.get("RANK", "0") == "0":  # torchrun numbers its processes
        _say(f"{path}: {corpus.report}.")
    return corpus


if __name__ == "__main__":
    code = main()
    for number in ENDS:  # what arrives now could only spoil the farewell
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)
