"""The command line: ``cloze lab | fill | evaluate | train | explore | export``."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cloze import __version__

if TYPE_CHECKING:  # what takes a second to load is imported by the command that needs it
    from cloze.corpus import Corpus
    from cloze.distributed import Team
    from cloze.training import TrainingRun
    from cloze.world import World

CHOICES = (
    "steps",
    "mask_prob",
    "weight_decay",
    "matrix_learning_rate",
    "query_key_learning_rate",
    "seed",
)
"""What of a recipe may be chosen; a field of ``cloze.training.Recipe`` and an option each."""
LEAST = {"mask_prob": 0.01, "seconds": 1.0}
"""With less of these, a model would be replaced after learning next to nothing."""
SAVE_EVERY = 60.0
"""Seconds of training that a kill may cost: after so many the run is saved."""


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit code; every known error is one sentence.

    Returns:
        0 if all went well, 1 for an error, 130 after Ctrl-C. Wrong usage exits with 2.
    """
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["fill"]:  # a line may begin with -; with a space before it is no option
        is_line = re.compile(r"-[^=]*_[^=]*").fullmatch
        words = [f" {word}" if is_line(word) else word for word in words]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal can show a ␣
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(words)
    options.command = shlex.join(["python", "-m", "cloze", *map(_portable, words)])
    try:
        options.run(options)
    except KeyboardInterrupt:
        _say("stopped.")
        return 130
    # TextError and CheckpointError are ValueErrors, a loss that is not finite is arithmetic.
    except (ValueError, OSError, ArithmeticError, MemoryError) as error:
        _say(str(error) or type(error).__name__)
        return 1
    return 0


def _say(sentence: str) -> None:
    print("cloze:", sentence, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    name = "cloze" if Path(sys.argv[0]).stem == "cloze" else "python -m cloze"
    parser = argparse.ArgumentParser(prog=name, description="Masked language modeling")
    parser.add_argument("--version", action="version", version=f"cloze {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    lab = commands.add_parser(
        "lab",
        help="put the notebooks into a folder, and open them in JupyterLab",
        usage="%(prog)s [-h] [FOLDER [ARGUMENT …]]",
    )
    lab.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("cloze-notebooks"),
        help="where they go (default: cloze-notebooks); what is there stays as it is",
    )
    lab.add_argument(
        "arguments",
        nargs=argparse.REMAINDER,
        help="what follows the folder goes to JupyterLab, e.g. --port 9999",
    )
    lab.set_defaults(run=_lab)

    train = commands.add_parser("train", help="train a model and save it")
    train.add_argument("output", type=Path, help="the checkpoint to write (.safetensors)")
    budget = train.add_mutually_exclusive_group()
    budget.add_argument(
        "--steps", type=int, help="number of steps (default: about a minute of training)"
    )
    budget.add_argument("--seconds", type=float, help="train for about this long instead")
    learned_from = train.add_mutually_exclusive_group()
    learned_from.add_argument("--corpus", type=Path, help="your own text file, or a corpus folder")
    learned_from.add_argument(
        "--world", type=Path, help="a small world of sentences (.toml) to train on"
    )
    train.add_argument(
        "--direction",
        choices=("both", "left", "right"),
        help="where a position may look (default: both)",
    )
    train.add_argument("--objective", help="what to train for: masked (default), causal, …")
    train.add_argument("--mask-prob", type=float, help="share of positions to select in training")
    train.add_argument("--weight-decay", type=float, help="how fast weights shrink (default: 0)")
    train.add_argument(
        "--matrix-learning-rate", type=float, help="learning rate of Muon, for values, outputs, …"
    )
    train.add_argument(
        "--query-key-learning-rate", type=float, help="the same for queries and keys"
    )
    train.add_argument("--seed", type=int, help="seed of the random numbers (default: 0)")
    train.add_argument("--resume", type=Path, help="continue a run that was stopped")
    train.add_argument("--force", action="store_true", help="replace OUTPUT if it exists")
    train.set_defaults(run=_train)

    evaluate = commands.add_parser(
        "evaluate", help="compare a checkpoint's held-out loss with baselines"
    )
    evaluate.add_argument(
        "checkpoint", type=Path, nargs="?", help="the model (default: the one that is shipped)"
    )
    evaluate.add_argument(
        "--objective", help="what to measure (default: what the model was trained for)"
    )
    asked_about = evaluate.add_mutually_exclusive_group()
    asked_about.add_argument("--corpus", type=Path, help="the text or corpus to measure on")
    asked_about.add_argument("--world", type=Path, help="the small world to measure on")
    evaluate.set_defaults(run=_evaluate)

    fill = commands.add_parser("fill", help='fill gaps: fill "she to_k her umb_ella"')
    fill.add_argument("line", help="text with _ for every missing character")
    fill.add_argument(
        "--checkpoint", type=Path, help="the model (default: the one that is shipped)"
    )
    fill.add_argument("-k", type=int, default=3, help="how many guesses to show (default 3)")
    fill.set_defaults(run=_fill)

    explore = commands.add_parser("explore", help="show any fill-mask model in the explorer")
    explore.add_argument("folder", type=Path, help="a model of Hugging Face's transformers")
    explore.add_argument("arguments", nargs=argparse.REMAINDER, help="for Voilà: --no-browser, …")
    explore.set_defaults(run=_explore)

    export = commands.add_parser("export", help="write a model for Hugging Face or as ONNX")
    export.add_argument(
        "format",
        choices=("hf", "onnx"),
        help="for Hugging Face's transformers (hf) or for an ONNX runtime",
    )
    export.add_argument("output", type=Path, help="a new folder (hf) or a new file (onnx)")
    export.add_argument(
        "--checkpoint", type=Path, help="the model (default: the one that is shipped)"
    )
    export.set_defaults(run=_export)
    return parser


def _portable(word: str) -> str:
    """Leave the folders of this machine out of a word of the command, for provenance."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word


def _source(options: argparse.Namespace) -> Corpus | World:
    """Load what a command trains or measures on."""
    from cloze.corpus import Corpus
    from cloze.world import World

    if options.world:
        return World.load(options.world)
    if options.corpus is None:
        return Corpus.load()
    load = Corpus.load if options.corpus.is_dir() else Corpus.from_file
    corpus = load(options.corpus)
    _say(f"{options.corpus}: {corpus.report}.")
    return corpus


# Training


def _train(options: argparse.Namespace) -> None:
    """Train a model and save it; whatever ends it before that, the run is kept beside it."""
    from cloze.checkpoint import probe
    from cloze.distributed import Team
    from cloze.training import held_signals

    for name, least in LEAST.items():
        given = getattr(options, name)
        if given is not None and not given >= least:
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is a number of at least {least:g}, not {given:g}.")
    source = _source(options)
    run = _resumed(options, source) if options.resume else None
    probe(options.output, force=options.force)  # now rather than after training
    kept = options.output.with_name(f"{options.output.name}.run.safetensors")
    probe(kept, force=options.force)
    going_on = options.resume and kept.exists() and kept.samefile(options.resume)
    if kept.exists() and not going_on and not options.force:
        raise ValueError(
            f"{kept} holds an unfinished run; add --resume {shlex.quote(str(kept))} to continue "
            "it, or --force to start over."
        )
    team = Team()
    run = team.share_out(run) if run else _begun(options, source, team)
    # From the first step until the last byte is written, whatever ends us finds the run saved.
    with held_signals() as asked_to_stop:
        try:
            _take_steps(run, team, kept, asked_to_stop)
            if not run.finished:
                raise KeyboardInterrupt
            if team.leads:
                _write_model(options, run)
                kept.unlink(missing_ok=True)
        except BaseException as end:
            if team.leads:
                _keep(run, kept, astray=isinstance(end, ArithmeticError))
            raise


def _begun(options: argparse.Namespace, source: Corpus | World, team: Team) -> TrainingRun:
    """Begin a run as the command says."""
    import torch

    from cloze.encoder import EncoderConfig
    from cloze.heads import CausalLM
    from cloze.objectives import objective_named
    from cloze.training import Recipe, TrainingRun, steps_in
    from cloze.world import World

    objective = objective_named(options.objective or "masked")
    usual = Recipe()
    if isinstance(source, World):
        usual = Recipe(batch_size=64, length=source.max_len)
    chosen = {name: getattr(options, name) for name in CHOICES}
    recipe = replace(usual, **{name: value for name, value in chosen.items() if value is not None})
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
        return team.share_out(TrainingRun(model, source, recipe, objective))

    if options.seconds is not None:
        recipe = replace(recipe, steps=team.highest(steps_in(options.seconds, begin())))
    return begin()


def _resumed(options: argparse.Namespace, source: Corpus | World) -> TrainingRun:
    """Load the run to go on with, and say which options it does not follow."""
    from cloze.training import TrainingRun

    run = TrainingRun.load(options.resume, source)
    recipe, direction = run.recipe, run.model.config.direction
    has = {name: getattr(recipe, name) for name in CHOICES}
    has |= {"seconds": None, "direction": direction, "objective": run.objective.name}
    ignored = [
        f"--{name.replace('_', '-')} {given}"
        for name in has
        if (given := getattr(options, name)) not in (None, has[name])
    ]
    if ignored:
        _say(f"the run continues with the settings it began with; ignored: {', '.join(ignored)}.")
    return run


def _take_steps(
    run: TrainingRun, team: Team, kept: Path, asked_to_stop: Callable[[], bool]
) -> None:
    """Train until the end, or until somebody in the team is asked to stop."""
    from cloze.checkpoint import CheckpointError
    from cloze.training import fit

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
            except CheckpointError as error:
                _say(f"{error} Training continues.")
            saved = time.monotonic()


def _write_model(options: argparse.Namespace, run: TrainingRun) -> None:
    import torch

    from cloze.checkpoint import save_model

    what, loss = run.objective.measured, run.history[-1].held_out
    loss = run.measure() if loss is None else loss
    provenance = {
        "command": options.command,
        "seed": run.recipe.seed,
        "steps": run.step,
        "corpus_sha256": run.corpus.sha256,
        f"{re.sub('[^a-z]+', '_', what)}_nats": round(loss, 4),
        "torch": torch.__version__,
    }
    save_model(options.output, run.model, provenance)
    print(f"{options.output}: {what} {loss:.3f} nats after {run.step} steps", flush=True)


def _keep(run: TrainingRun, path: Path, *, astray: bool) -> None:
    """Save a run that has to end, and say where it is; one that went astray is not saved."""
    from cloze.checkpoint import CheckpointError

    if not astray:
        try:
            run.save(path)
        except CheckpointError:
            path = Path(tempfile.mkdtemp(prefix="cloze-")) / path.name
            run.save(path)
    if path.exists():
        what = "An earlier state of the run" if astray else "The run"
        _say(f"{what} is saved; to continue, add --resume {shlex.quote(str(path))} to the command.")


# The other commands


def _lab(options: argparse.Namespace) -> None:
    """Lay out the notebooks and open them in JupyterLab."""
    from cloze.serving.lab import NOTEBOOKS, lay_out, start

    if options.folder.resolve() != NOTEBOOKS:
        kept = lay_out(options.folder)
        if kept:
            _say(
                f"these files in {options.folder} are not those of this version and stay as they "
                f"are: {', '.join(kept)}. To get new ones, rename yours."
            )
    start(options.folder, options.arguments)


def _evaluate(options: argparse.Namespace) -> None:
    """Print what a model pays for its questions, beside what it is judged against."""
    from cloze.baselines import baseline_losses
    from cloze.checkpoint import load_model
    from cloze.evaluation import held_out_loss
    from cloze.loss import to_bits
    from cloze.masking import held_out_batch
    from cloze.objectives import MASKED, objective_named
    from cloze.prediction import shipped_model, shipped_world_model
    from cloze.world import World

    source = _source(options)
    if options.checkpoint:
        model = load_model(options.checkpoint)
    else:
        model = shipped_world_model() if options.world else shipped_model()
    objective = objective_named(options.objective or model.objective)
    if objective.model.kind != model.kind:
        raise ValueError(
            f"The objective {objective.name} needs a {objective.model.__name__}, but this "
            f"checkpoint holds a {type(model).__name__}."
        )
    if model.vocabulary != objective.vocabulary(source.vocabulary):
        raise ValueError(
            f"{options.checkpoint or 'The shipped model'} does not read the symbols of this text; "
            "to evaluate a model of words, name its small world with --world."
        )
    if objective is not MASKED:  # the baselines answer other questions
        windows = source.held_out_windows(model.config.max_len - objective.room)
        nats = objective.measure(model, objective.held_out(windows, model.vocabulary))
        print(f"{objective.measured:<16} {nats:6.3f} nats")
    elif isinstance(source, World):
        questions, direction = source.questions(1000), model.config.direction
        print(f"{'floor':<16} {source.floor(questions, direction)}")
        print(f"{'model above it':<16} {source.excess(model, questions, direction)}")
    else:
        held_out = held_out_batch(source.held_out_windows())
        losses = baseline_losses(source, held_out) | {"model": held_out_loss(model, held_out)}
        for name, nats in losses.items():
            print(f"{name:<16} {nats:6.3f} nats  {to_bits(nats):6.3f} bits")


def _fill(options: argparse.Namespace) -> None:
    """Print what the model would write in the gaps of a line."""
    from cloze.causal import fill_by_bayes
    from cloze.checkpoint import SHIPPED, load_guesser
    from cloze.heads import CausalLM
    from cloze.prediction import fill

    model = load_guesser(options.checkpoint or SHIPPED)
    if isinstance(model, CausalLM):
        print(fill_by_bayes(options.line, model, k=options.k))
    else:
        print(fill(options.line, model, k=options.k))


def _explore(options: argparse.Namespace) -> None:
    """Show a model in the browser."""
    from cloze.serving.explore import explore

    explore(options.folder, options.arguments)


def _export(options: argparse.Namespace) -> None:
    """Write a model as other programs read it."""
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


if __name__ == "__main__":
    sys.exit(main())
