"""The command line: ``cloze lab | fill | evaluate | train | adapt | explore | export``.

A command imports what it needs, so that none waits for what another needs, and Ctrl-C is answered
from the beginning.
"""

from __future__ import annotations

import sys

from cloze import __version__

TYPE_CHECKING = False  # typing's takes longer to import than all else here
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ActionsContainer
    from collections.abc import Callable
    from pathlib import Path

    from cloze.corpus import Corpus
    from cloze.world import World


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit code; every known error is one sentence.

    Returns:
        0 if all went well, 1 for an error, 130 after Ctrl-C. Wrong usage exits with 2.
    """
    try:
        options = _read(sys.argv[1:] if words is None else words)
        options.run(options)
    except KeyboardInterrupt:
        _say("stopped.")
        return 130
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}." if error.filename else str(error))
        return 1
    # TextError and CheckpointError are ValueErrors, a loss that is not finite is arithmetic.
    except (ValueError, ArithmeticError, MemoryError) as error:
        _say(str(error) or type(error).__name__)
        return 1
    except (LookupError, NameError) as error:  # most likely in an objective of one's own
        import traceback

        *_, place = traceback.extract_tb(error.__traceback__)
        _say(f"{place.filename}, line {place.lineno}: {type(error).__name__}: {error}.")
        return 1
    return 0


def _say(sentence: str) -> None:
    print("cloze:", sentence, file=sys.stderr, flush=True)


def _read(words: list[str]) -> Namespace:
    """Read the words of a command."""
    import re
    import shlex

    if words[:1] == ["fill"]:  # a line may begin with -; with a space before it is no option
        is_line = re.compile(r"-[^=]*_[^=]*").fullmatch
        words = [f" {word}" if is_line(word) else word for word in words]
    options = _parser().parse_args(words)
    options.command = shlex.join(["python", "-m", "cloze", *map(_portable, words)])
    return options


def _at_least(least: float) -> Callable[[str], float]:
    """Make the type of an option with a lower bound."""
    from argparse import ArgumentTypeError

    def number(word: str) -> float:
        if not float(word) >= least:
            raise ArgumentTypeError(f"a number of at least {least:g}, not {word}")
        return float(word)

    return number


def _parser() -> ArgumentParser:
    import argparse
    from pathlib import Path

    name = "cloze" if Path(sys.argv[0]).stem == "cloze" else "python -m cloze"
    parser = argparse.ArgumentParser(prog=name, description="Masked language modeling")
    parser.add_argument("--version", action="version", version=f"cloze {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    rest = argparse.REMAINDER
    shipped = "the model (default: the one that is shipped)"

    lab = commands.add_parser(
        "lab",
        help="put the notebooks into a folder, and open them in JupyterLab",
        usage="%(prog)s [-h] [FOLDER [ARGUMENT …]]",
    )
    where = "where they go (default: cloze-notebooks); what is there stays as it is"
    lab.add_argument("folder", type=Path, nargs="?", default=Path("cloze-notebooks"), help=where)
    lab.add_argument("arguments", nargs=rest, help="for JupyterLab: --port 9999, …")
    lab.set_defaults(run=_lab)

    train = commands.add_parser("train", help="train a model and save it")
    train.add_argument("output", type=Path, help="the checkpoint to write (.safetensors)")
    _numbers(
        train.add_mutually_exclusive_group(),
        ("--steps", int, "number of steps (default: about a minute of training)"),
        ("--seconds", _at_least(1), "train for about this long instead"),
    )
    _source_options(train, "to train on")
    directions = ("both", "left", "right")
    looks = "where a position may look (default: both)"
    train.add_argument("--direction", choices=directions, help=looks)
    train.add_argument("--objective", help="what to train for: masked (default), causal, …")
    # Recipe says what else of them is possible; with a lower share a model learns next to nothing.
    _numbers(
        train,
        ("--mask-prob", _at_least(0.01), "share of positions to select in training"),
        ("--weight-decay", float, "how fast weights shrink (default: 0)"),
        ("--matrix-learning-rate", float, "learning rate of Muon, for values, outputs, …"),
        ("--query-key-learning-rate", float, "the same for queries and keys"),
        ("--seed", int, "seed of the random numbers (default: 0)"),
    )
    train.add_argument("--resume", type=Path, help="continue a run that was stopped")
    train.add_argument("--force", action="store_true", help="replace OUTPUT if it exists")
    train.set_defaults(run=_train)

    adapt = commands.add_parser(
        "adapt", help="go on training any fill-mask model of Hugging Face on your own texts"
    )
    adapt.add_argument("texts", type=Path, nargs="+", metavar="TEXT", help="files or folders")
    adapt.add_argument("--model", type=Path, required=True, help="the folder of the model")
    adapt.add_argument("--out", type=Path, required=True, help="a new folder for the new model")
    general = "texts that show what is forgotten (default: the corpus of the series)"
    adapt.add_argument("--general", type=Path, nargs="+", help=general)
    _numbers(
        adapt.add_mutually_exclusive_group(),
        ("--epochs", float, "how often your text is read (default: 3)"),
        ("--steps", int, "number of steps instead"),
    )
    _numbers(
        adapt,
        ("--mix", float, "share of general text mixed in (default: 0)"),
        ("--batch-size", int, "chunks in a step (default: 32)"),
        ("--length", int, "most pieces in a chunk (default: 512)"),
        ("--mask-prob", float, "share of pieces to mask (default: 0.3)"),
        ("--learning-rate", float, "its highest value (default: 1e-4)"),
        ("--warmup", float, "share of the steps to rise (default: 0.1)"),
        ("--weight-decay", float, "how fast weights shrink (default: 0.01)"),
        ("--seed", int, "seed of order and masks (default: 0)"),
    )
    adapt.add_argument("--resume", action="store_true", help="continue a run that was stopped")
    adapt.set_defaults(run=_adapt)

    evaluate = commands.add_parser(
        "evaluate", help="compare a checkpoint's held-out loss with baselines"
    )
    evaluate.add_argument("checkpoint", type=Path, nargs="?", help=shipped)
    measured = "what to measure (default: what the model was trained for)"
    evaluate.add_argument("--objective", help=measured)
    _source_options(evaluate, "to measure on")
    evaluate.set_defaults(run=_evaluate)

    fill = commands.add_parser("fill", help='fill gaps: fill "she to_k her umb_ella"')
    fill.add_argument("line", help="text with _ for every missing character, or word")
    _model_options(fill)
    fill.add_argument("-k", type=int, default=3, help="how many guesses to show (default 3)")
    fill.set_defaults(run=_fill)

    explore = commands.add_parser("explore", help="show any fill-mask model in the explorer")
    explore.add_argument("folder", type=Path, help="a model of Hugging Face's transformers")
    explore.add_argument("arguments", nargs=rest, help="for Voilà: --no-browser, …")
    explore.set_defaults(run=_explore)

    export = commands.add_parser("export", help="write a model for Hugging Face")
    export.add_argument("output", type=Path, help="a new folder")
    _model_options(export)
    export.set_defaults(run=_export)
    return parser


def _numbers(parser: _ActionsContainer, *options: tuple[str, Callable[[str], float], str]) -> None:
    """Add options, each with its type and its help."""
    for name, kind, text in options:
        parser.add_argument(name, type=kind, help=text)


def _model_options(parser: ArgumentParser) -> None:
    """Add the options that `_checkpoint` reads."""
    from pathlib import Path

    which = parser.add_mutually_exclusive_group()
    which.add_argument("--checkpoint", type=Path, help="the model (default: the shipped letters')")
    which.add_argument("--words", action="store_true", help="the words' encoder instead")


def _checkpoint(options: Namespace) -> Path:
    """Return the file of the model that is asked for."""
    from cloze.checkpoint import SHIPPED, WORDS

    return options.checkpoint or (WORDS if options.words else SHIPPED)


def _source_options(parser: ArgumentParser, use: str) -> None:
    """Add the options that `_source` reads."""
    from pathlib import Path

    group = parser.add_mutually_exclusive_group()
    group.add_argument("--corpus", type=Path, help=f"your own text file or corpus folder {use}")
    group.add_argument("--world", type=Path, help=f"a small world of sentences (.toml) {use}")


def _portable(word: str) -> str:
    """Leave the folders of this machine out of a word of the command, for provenance."""
    from pathlib import Path

    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word


def _source(options: Namespace) -> Corpus | World:
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


# The commands


def _lab(options: Namespace) -> None:
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


def _train(options: Namespace) -> None:
    """Train a model and save it."""
    from cloze.train_command import train

    train(options, _source(options), _say)


def _adapt(options: Namespace) -> None:
    """Go on training a model of others."""
    from cloze.adapt.command import adapt

    adapt(options, _say)


def _evaluate(options: Namespace) -> None:
    """Print what a model pays for its questions, beside what it is judged against."""
    from cloze.baselines import baseline_losses
    from cloze.checkpoint import load_model
    from cloze.evaluation import held_out_loss
    from cloze.loss import to_bits
    from cloze.masking import held_out_batch
    from cloze.objectives import MASKED, objective_named
    from cloze.prediction.shipped import shipped_model
    from cloze.world import World

    source = _source(options)
    if options.checkpoint:
        model = load_model(options.checkpoint)
    else:
        model = shipped_model("world") if options.world else shipped_model()
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


def _fill(options: Namespace) -> None:
    """Print what the model would write in the gaps of a line."""
    from cloze.checkpoint import load_guesser
    from cloze.heads import CausalLM
    from cloze.prediction.causal import fill_by_bayes
    from cloze.prediction.lines import fill

    model = load_guesser(_checkpoint(options))
    if isinstance(model, CausalLM):
        print(fill_by_bayes(options.line, model, k=options.k))
    else:
        print(fill(options.line, model, k=options.k))


def _explore(options: Namespace) -> None:
    """Show a model in the browser."""
    from cloze.serving.explore import explore

    explore(options.folder, options.arguments)


def _export(options: Namespace) -> None:
    """Write a model as other programs read it."""
    from cloze.handover.export import to_hugging_face

    to_hugging_face(options.output, _checkpoint(options))
    print(
        f"{options.output}: load it after `import cloze.handover.huggingface`, as README.md says."
    )


if __name__ == "__main__":
    sys.exit(main())
