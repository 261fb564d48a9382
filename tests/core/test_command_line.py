"""The command line: train, evaluate, fill; its exit codes and what it says when it cannot."""

from pathlib import Path

import pytest
import torch

from cloze import training
from cloze.__main__ import main
from cloze.checkpoint import load_model, provenance
from cloze.corpus import DATA
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
    lines = [line for line in err.splitlines() if "training:" not in line]  # the progress bar
    assert len(lines) == 1
    assert lines[0].startswith("cloze: ")
    assert all(reason in lines[0] for reason in reasons)
    assert "Traceback" not in err


def test_train_saves_a_model_and_what_made_it(here: Path, capsys: CAPTURE) -> None:
    assert main([*TRAIN, "--seed", "5"]) == 0
    out = capsys.readouterr().out
    made_by = provenance(here / TRAIN[1])
    assert made_by["command"] == f"python -m cloze {' '.join(TRAIN)} --seed 5"
    assert (made_by["seed"], made_by["steps"]) == (5, 3)
    assert f"held-out {made_by['held_out_nats']:.3f} nats after 3 steps" in out
    assert out.splitlines()[0].startswith("step      1         2,048 characters")


@pytest.mark.parametrize("direction", ["both", "left", "right"])
def test_train_takes_its_options(here: Path, direction: str) -> None:
    options = ["--direction", direction, "--mask-prob", "0.5", "--weight-decay", "0.1"]
    assert main([*TRAIN, *options]) == 0
    assert load_model(here / TRAIN[1]).config.direction == direction


def test_seconds_become_steps(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "steps_in", lambda seconds, *_: int(seconds * 2))
    assert main(["train", "m.safetensors", "--seconds", "1.5", "--corpus", "mine.txt"]) == 0
    assert provenance(here / "m.safetensors")["steps"] == 3


def test_provenance_names_no_folder_of_this_machine(here: Path) -> None:
    words = ["train", str(here / "m.safetensors"), "--steps", "1", f"--corpus={here / 'mine.txt'}"]
    assert main(words) == 0
    assert provenance(here / "m.safetensors")["command"] == (
        "python -m cloze train m.safetensors --steps 1 --corpus=mine.txt"
    )


@CAN_INTERRUPT
@pytest.mark.parametrize(
    ("name", "call"), [("mlm_loss", 5), ("held_out_loss", 2), ("held_out_loss", 4)]
)
def test_an_interrupted_run_is_kept_and_resumed(
    here: Path, capsys: CAPTURE, name: str, call: int
) -> None:
    main(TRAIN)
    whole = load_model(here / TRAIN[1]).state_dict()
    capsys.readouterr()
    words = ["train", "again.safetensors", *TRAIN[2:]]
    with interrupt_in(name, call):
        assert main(words) == 130
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.endswith(
        "cloze: stopped. The run is kept; add --resume again.run.safetensors "
        "to the same command to go on."
    )
    assert not (here / "again.safetensors").exists()
    assert main([*words, "--resume", "again.run.safetensors"]) == 0
    again = load_model(here / "again.safetensors").state_dict()
    assert all(torch.equal(tensor, again[name]) for name, tensor in whole.items())
    assert (
        provenance(here / "again.safetensors")["held_out_nats"]
        == (provenance(here / TRAIN[1])["held_out_nats"])
    )


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


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        (["fill", "no gap"], ["The line has no gap"]),
        (["fill", ""], ["The line is empty"]),
        (["fill", "a_", "-k", "0"], ["at least 1, not 0"]),
        (["fill", "a_", "--checkpoint", "mine.txt"], ["mine.txt is damaged or not a safetensors"]),
        (["evaluate", "mine.txt", "--corpus", "mine.txt"], ["mine.txt is damaged"]),
        (["evaluate", "--corpus", "none.txt"], ["There is no file none.txt"]),
        (["evaluate", "--corpus", "."], [". is not a corpus"]),
        (["train", "m", "--corpus", "none.txt"], ["There is no file none.txt"]),
        (["train", ".", "--corpus", "mine.txt"], ["is a folder"]),
        (["train", "mine.txt/m", "--corpus", "mine.txt"], ["mine.txt"]),
        (["train", "m", "--corpus", "mine.txt", "--steps", "0"], ["steps", "at least 1"]),
        (["train", "m", "--corpus", "mine.txt", "--mask-prob", "2"], ["mask_prob", "not 2.0"]),
        (["train", "m", "--corpus", "mine.txt", "--resume", "none"], ["no checkpoint at none"]),
        (["train", "m", "--corpus", "mine.txt", "--resume", "mine.txt"], ["damaged"]),
    ],
)
def test_every_known_error_is_one_sentence(
    here: Path, capsys: CAPTURE, words: list[str], reasons: list[str]
) -> None:
    assert main(words) == 1
    says(capsys, *reasons)
    assert sorted(path.name for path in here.iterdir()) == ["mine.txt"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["learn"],
        ["fill"],
        ["fill", "a_", "-k", "many"],
        ["train"],
        ["train", "m", "--steps", "a"],
        ["train", "m", "--steps", "1", "--seconds", "1"],
        ["train", "m", "--seconds", "0"],
        ["train", "m", "--seconds", "nan"],
        ["train", "m", "--seconds", "inf"],
        ["train", "m", "--direction", "up"],
    ],
)
def test_bad_arguments_get_a_usage_line(capsys: CAPTURE, words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: python -m cloze")
    assert "Traceback" not in err


def test_stopping_before_the_first_step_is_no_traceback(
    capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cloze.__main__._corpus", interrupt)
    assert main(["evaluate"]) == 130
    says(capsys, "cloze: stopped.")
