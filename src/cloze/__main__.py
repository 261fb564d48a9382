"""The command line: ``python -m cloze train | evaluate | fill``."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cloze.corpus import Corpus


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every known error is one sentence."""
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(words)
    options.command = shlex.join(["python", "-m", "cloze", *map(_portable, words)])
    try:
        options.run(options)
    except (ValueError, OSError) as error:  # TextError and CheckpointError are ValueErrors
        print(f"cloze: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print(f"cloze: stopped. {interrupt}".rstrip(), file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cloze", description="Masked language modeling")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a model and save it")
    train.add_argument("output", type=Path, help="the checkpoint to write (.safetensors)")
    budget = train.add_mutually_exclusive_group()
    budget.add_argument("--steps", type=int, help="how many steps (default: about a minute)")
    budget.add_argument("--seconds", type=_seconds, help="as many steps as this machine does in it")
    train.add_argument("--corpus", type=Path, help="a text file of your own, or a corpus folder")
    train.add_argument("--direction", choices=("both", "left", "right"), default="both")
    train.add_argument("--mask-prob", type=float, help="share of positions selected in training")
    train.add_argument("--weight-decay", type=float)
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--resume", type=Path, help="go on with a run that was stopped")
    train.set_defaults(run=_train)

    evaluate = commands.add_parser("evaluate", help="held-out loss of a checkpoint and baselines")
    evaluate.add_argument("checkpoint", type=Path, nargs="?", help="default: the shipped one")
    evaluate.add_argument("--corpus", type=Path)
    evaluate.set_defaults(run=_evaluate)

    fill = commands.add_parser("fill", help='fill gaps: fill "the qu_ck brown f_x"')
    fill.add_argument("line", help="text with _ for every missing character")
    fill.add_argument("--checkpoint", type=Path)
    fill.add_argument("-k", type=int, default=3, help="how many guesses to show (default 3)")
    fill.set_defaults(run=_fill)
    return parser


def _train(options: argparse.Namespace) -> None:
    import torch

    from cloze.checkpoint import save_model
    from cloze.encoder import EncoderConfig
    from cloze.evaluation import held_out_loss
    from cloze.heads import MaskedLM
    from cloze.training import Recipe, TrainingRun, fit, steps_in

    options.output.parent.mkdir(parents=True, exist_ok=True)
    if options.output.is_dir():  # said now rather than after a minute of training
        raise IsADirectoryError(f"{options.output} is a folder; name a file to write.")
    corpus = _corpus(options.corpus)
    if options.resume:
        run = TrainingRun.load(options.resume, corpus)
    else:
        chosen = {
            "steps": options.steps,
            "mask_prob": options.mask_prob,
            "weight_decay": options.weight_decay,
            "seed": options.seed,
        }
        recipe = replace(Recipe(), **{k: v for k, v in chosen.items() if v is not None})
        torch.manual_seed(options.seed)
        model = MaskedLM(EncoderConfig(direction=options.direction))
        if options.seconds:
            recipe = replace(recipe, steps=steps_in(options.seconds, model, corpus, recipe))
        run = TrainingRun(model, corpus, recipe)
    stopped = options.output.with_suffix(".run.safetensors")
    try:
        for record in fit(run):
            if record.held_out is not None and run.team.leads:
                print(
                    f"step {record.step:>6}  {record.characters:>12,} characters  "
                    f"{record.seconds:>7.1f} s  held-out {record.held_out:.3f} nats",
                    flush=True,
                )
        if not run.team.leads:  # torchrun started several of us, and one writes
            return
        loss = held_out_loss(run.model, run.held_out)
    except KeyboardInterrupt:
        run.save(stopped)
        if not run.team.leads:
            sys.exit(130)
        raise KeyboardInterrupt(
            f"The run is kept; add --resume {stopped} to the same command to go on."
        ) from None
    provenance = {
        "command": options.command,
        "seed": run.recipe.seed,
        "steps": run.step,
        "corpus_sha256": corpus.sha256,
        "held_out_nats": round(loss, 4),
        "torch": torch.__version__,
    }
    save_model(options.output, run.model, provenance)
    print(f"{options.output}: held-out {loss:.3f} nats after {run.step} steps")


def _evaluate(options: argparse.Namespace) -> None:
    from cloze.baselines import baseline_losses
    from cloze.checkpoint import load_model
    from cloze.evaluation import held_out_loss
    from cloze.loss import to_bits
    from cloze.masking import held_out_batch
    from cloze.prediction import shipped_model

    corpus = _corpus(options.corpus)
    model = load_model(options.checkpoint) if options.checkpoint else shipped_model()
    held_out = held_out_batch(corpus.held_out_windows())
    losses = baseline_losses(corpus, held_out) | {"model": held_out_loss(model, held_out)}
    for name, nats in losses.items():
        print(f"{name:<16} {nats:6.3f} nats  {to_bits(nats):6.3f} bits")


def _fill(options: argparse.Namespace) -> None:
    from cloze.checkpoint import load_model
    from cloze.prediction import fill

    model = load_model(options.checkpoint) if options.checkpoint else None
    print(fill(options.line, model, k=options.k))


def _seconds(word: str) -> float:
    seconds = float(word)
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{word} is not a number of seconds to train for.")
    return seconds


def _portable(word: str) -> str:
    """Leave the folders of this machine out of a word of the command, for provenance."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word


def _corpus(path: Path | None) -> Corpus:
    from cloze.corpus import Corpus

    if path is None:
        return Corpus.load()
    return Corpus.load(path) if path.is_dir() else Corpus.from_file(path)


if __name__ == "__main__":
    sys.exit(main())
