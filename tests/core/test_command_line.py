"""The command line: train, evaluate, fill; its exit codes and what it says when it cannot."""

import argparse
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from cloze import checkpoint, objectives, train_command, training
from cloze.__main__ import main
from cloze.checkpoint import load_model, provenance
from cloze.corpus import DATA, Corpus
from cloze.loss import mlm_loss
from tests.interrupting import CAN_INTERRUPT, interrupt_in

CAPTURE = pytest.CaptureFixture[str]
TRAIN = ["train", "out/model.safetensors", "--steps", "3", "--corpus", "mine.txt"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a small text file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text((DATA / "sample.txt").read_text() * 2)
    return tmp_path


def says(capsys: CAPTURE, *reasons: str) -> None:
    """Assert that an error was said in one line on stderr."""
    out, err = capsys.readouterr()
    assert out == ""
    # Neither the progress bar nor what became of the text.
    lines = [line for line in err.splitlines() if not re.search("training:|kept;|saved;", line)]
    assert len(lines) == 1
    assert lines[0].startswith("cloze: ")
    assert all(reason in lines[0] for reason in reasons)
    assert "Traceback" not in err


def test_train_saves_a_model_and_what_made_it(here: Path, capsys: CAPTURE) -> None:
    assert main([*TRAIN, "--seed", "5", "--direction", "left"]) == 0
    out = capsys.readouterr().out
    made_by = provenance(here / TRAIN[1])
    assert made_by["command"] == f"python -m cloze {' '.join(TRAIN)} --seed 5 --direction left"
    assert load_model(here / TRAIN[1]).config.direction == "left"
    assert (made_by["seed"], made_by["steps"]) == (5, 3)
    [said] = re.findall(r"held-out ([\d.]+) nats after 3 steps", out)
    assert float(said) == pytest.approx(made_by["held_out_nats"], abs=1e-3)  # both are rounded
    assert out.splitlines()[0].startswith("step      1         2,048 characters")


def test_provenance_names_no_folder_of_this_machine(here: Path) -> None:
    words = ["train", str(here / "m.safetensors"), "--steps", "1", f"--corpus={here / 'mine.txt'}"]
    assert main(words) == 0
    assert provenance(here / "m.safetensors")["command"] == (
        "python -m cloze train m.safetensors --steps 1 --corpus=mine.txt"
    )


AGAIN = ["train", "again.safetensors", *TRAIN[2:]]
RUN = "again.safetensors.run.safetensors"


@CAN_INTERRUPT
def test_an_interrupted_run_is_kept_and_resumed(here: Path, capsys: CAPTURE) -> None:
    main(TRAIN)
    whole = load_model(here / TRAIN[1]).state_dict()
    capsys.readouterr()
    with interrupt_in(objectives, "mlm_loss", 2), interrupt_in(checkpoint, "save", 1):
        assert main(AGAIN) == 130
    kept, stopped = capsys.readouterr().err.splitlines()[-2:]
    assert kept.endswith(
        f"cloze: The run is saved; to continue, add --resume {RUN} to the command."
    )
    assert stopped == "cloze: stopped."
    assert not (here / "again.safetensors").exists()
    assert main([*AGAIN, "--resume", RUN]) == 0
    assert "ignored" not in capsys.readouterr().err  # nothing differs
    assert sorted(path.name for path in here.iterdir()) == ["again.safetensors", "mine.txt", "out"]
    again = load_model(here / "again.safetensors").state_dict()
    assert all(torch.equal(tensor, again[name]) for name, tensor in whole.items())
    assert (
        provenance(here / "again.safetensors")["held_out_nats"]
        == (provenance(here / TRAIN[1])["held_out_nats"])
    )


LONG = ["train", "again.safetensors", "--steps", "200", "--corpus", "mine.txt"]


@CAN_INTERRUPT
@pytest.mark.usefixtures("here")
def test_a_closed_terminal_finds_the_run_saved() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "cloze", *LONG], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # of the first step
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=60) == -signal.SIGHUP
    assert training.TrainingRun.load(RUN, Corpus.from_file("mine.txt")).step >= 1


@CAN_INTERRUPT
def test_a_run_that_was_not_finished_is_not_replaced(here: Path, capsys: CAPTURE) -> None:
    with interrupt_in(objectives, "mlm_loss", 2):
        main(AGAIN)
    capsys.readouterr()
    kept = (here / RUN).read_bytes()
    assert main(AGAIN) == 1
    says(capsys, f"add --resume {RUN} to continue it, or --force to start over")
    assert (here / RUN).read_bytes() == kept
    assert main([*AGAIN, "--force"]) == 0
    assert not (here / RUN).exists()


@CAN_INTERRUPT
def test_what_of_a_recipe_may_be_chosen_is_followed(here: Path) -> None:
    values = {"steps": 4, "mask_prob": 0.2, "weight_decay": 0.1, "seed": 3}
    values |= {"matrix_learning_rate": 0.02, "query_key_learning_rate": 0.01}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]
    with interrupt_in(objectives, "mlm_loss", 2):
        main(["train", AGAIN[1], "--corpus", "mine.txt", *options])
    recipe = training.TrainingRun.load(here / RUN, Corpus.from_file(here / "mine.txt")).recipe
    assert {name: getattr(recipe, name) for name in values} == values


@CAN_INTERRUPT
def test_resume_says_what_it_ignores(here: Path, capsys: CAPTURE) -> None:
    with interrupt_in(objectives, "mlm_loss", 2):
        main(AGAIN)
    capsys.readouterr()
    words = [*AGAIN, "--resume", RUN, "--seed=7", "--direction=left", "--mask-prob=.3"]
    words[words.index("--steps") + 1] = "4"
    assert main(words) == 0
    assert "ignored: --steps 4, --seed 7, --direction left.\n" in capsys.readouterr().err
    assert provenance(here / AGAIN[1])["steps"] == 3


@pytest.mark.usefixtures("here")
def test_a_run_is_saved_on_the_way_and_astray_is_not(
    capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([None, None, torch.tensor(math.nan)])
    monkeypatch.setattr(train_command, "SAVE_EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(objectives, "mlm_loss", lambda *given: next(losses) or mlm_loss(*given))
        assert main(AGAIN) == 1
    kept, err = capsys.readouterr().err.splitlines()[-2:]
    assert "not finite any more after step 2" in err
    assert f"An earlier state of the run is saved; to continue, add --resume {RUN}" in kept
    assert main([*AGAIN, "--resume", RUN]) == 0


def test_saving_that_fails_on_the_way_does_not_stop_training(
    here: Path, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise checkpoint.CheckpointError("No space left.")

    monkeypatch.setattr(train_command, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(training.TrainingRun, "save", full)
    assert main(AGAIN) == 0
    assert "cloze: No space left. Training continues." in capsys.readouterr().err
    assert load_model(here / AGAIN[1])


def test_what_is_not_ours_is_replaced_by_force_alone(here: Path, capsys: CAPTURE) -> None:
    (here / "notes.md").write_text("mine")
    words = ["train", "notes.md", *TRAIN[2:]]
    assert main(words) == 1
    says(capsys, "notes.md exists and is not a checkpoint", "--force")
    assert (here / "notes.md").read_text() == "mine"
    assert main([*words, "--force"]) == 0
    assert load_model(here / "notes.md")
    assert main(words) == 0  # a checkpoint of ours


@pytest.mark.skipif(sys.platform == "win32", reason="making links takes a privilege there")
def test_a_link_is_not_replaced(here: Path) -> None:
    main(TRAIN)
    link = here / "again.safetensors"
    link.symlink_to(here / TRAIN[1])
    assert main([*AGAIN, "--seed", "5"]) == 0
    assert link.is_symlink()
    assert provenance(here / TRAIN[1])["seed"] == 5


# The shell around it


@CAN_INTERRUPT
def test_ctrl_c_is_answered_from_the_beginning(capsys: CAPTURE) -> None:
    with interrupt_in(argparse, "ArgumentParser", 1):
        assert main(["fill", "the c_t"]) == 130
    says(capsys, "stopped.")
    loaded = "import sys, cloze.__main__; print('argparse' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True)
    assert result.stdout == "False\n", "what is imported before main is not answered for"


def test_a_folder_that_may_not_be_read_says_so(
    capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "pieces")

    monkeypatch.setattr(Corpus, "load", closed)
    assert main(["evaluate"]) == 1
    says(capsys, "pieces: Permission denied.")


@pytest.mark.parametrize(
    ("encoding", "command"),
    [
        ("ascii", "-m cloze fill the_cat -k 1"),
        ("cp932", "-m lecture.assignment notebooks/01_the_loss.ipynb"),
        ("cp437", "-m lecture.handout"),
        ("ascii", "-m lecture.quizzes"),
        ("cp932", "-m notebooks.colab owner"),
        ("cp437", "notebooks/execute.py"),
    ],
)
def test_what_a_console_cannot_show_is_described(
    tmp_path: Path, encoding: str, command: str
) -> None:
    words = command.split()
    result = subprocess.run(
        [sys.executable, *words, *([] if "fill" in words else [tmp_path / "Łódź"])],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "PYTHONIOENCODING": f"{encoding}:strict"},
        capture_output=True,
    )
    assert result.stderr == b""
    assert rb"\u" in result.stdout


def test_evaluate_prints_the_model_below_its_baselines(here: Path, capsys: CAPTURE) -> None:
    assert main(["evaluate", "--corpus", "mine.txt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = ["uniform", "unigram", "left bigram", "both neighbours", "model"]
    assert [line[:16].strip() for line in lines] == names
    assert lines[0].split() == ["uniform", "3.367", "nats", "4.858", "bits"]
    nats = [float(line[16:].split()[0]) for line in lines]
    assert nats[-1] < nats[1] < nats[0]
    assert main(["evaluate", str(here / "none.safetensors"), "--corpus", "mine.txt"]) == 1
    says(capsys, "There is no checkpoint at", "none.safetensors")


@pytest.mark.usefixtures("here")
def test_fill(capsys: CAPTURE) -> None:
    assert main(["fill", "she we_t to the h_use", "-k", "1"]) == 0
    typed, text, first, second = capsys.readouterr().out.splitlines()
    assert (typed, text) == ("she we_t to the h_use", "she went to the house")
    assert first.startswith("  position 6: n ")
    assert second.startswith("  position 17: o ")
    main(TRAIN)
    capsys.readouterr()
    assert main(["fill", "the qu_ck", "--checkpoint", TRAIN[1]]) == 0
    assert "position 6: " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--the_cat"], ["-k", "1", "-x_ y"]])
def test_a_line_may_begin_with_a_dash(words: list[str], capsys: CAPTURE) -> None:
    assert main(["fill", *words]) == 0
    typed = words[-1].lstrip("-")
    assert capsys.readouterr().out.splitlines()[0] == typed


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        (["fill", "no gap"], ["The line has no gap"]),
        (["fill", "a_", "--checkpoint", "mine.txt"], ["mine.txt is not a checkpoint"]),
        (["evaluate", "--corpus", "none.txt"], ["There is no file none.txt"]),
        (["train", ".", "--corpus", "mine.txt"], ["exists and is not a checkpoint"]),
        (["train", "m", "--corpus", "mine.txt", "--steps", "0"], ["steps", "from 1 to"]),
        (["train", "m", "--corpus", "mine.txt", "--resume", "none"], ["no checkpoint at none"]),
        (["train", "m", "--corpus", "mine.txt", "--objective", "x"], ["There is no objective 'x'"]),
    ],
)
def test_every_known_error_is_one_sentence(
    here: Path, capsys: CAPTURE, words: list[str], reasons: list[str]
) -> None:
    assert main(words) == 1
    says(capsys, *reasons)
    assert sorted(path.name for path in here.iterdir()) == ["mine.txt"]


@pytest.mark.usefixtures("here")
def test_a_mistake_in_an_objective_of_ones_own_is_one_sentence_with_its_place(
    capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices: dict[str, float] = {}
    monkeypatch.setattr(objectives, "mlm_loss", lambda *_: prices["first"])
    assert main(AGAIN) == 1
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(r"cloze: .*test_command_line\.py, line \d+: KeyError: 'first'\.", sentence)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "required: COMMAND"),
        (["train", "m", "--steps", "1", "--seconds", "1"], "not allowed with"),
        (["train", "m", "--mask-prob", "0"], "--mask-prob: a number of at least 0.01, not 0\n"),
        (["train", "m", "--seconds", "nan"], "--seconds: a number of at least 1, not nan\n"),
    ],
)
def test_bad_arguments_get_a_usage_line(capsys: CAPTURE, words: list[str], reason: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: python -m cloze")
    assert reason in err
