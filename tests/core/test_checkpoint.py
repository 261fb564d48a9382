"""Checkpoints: what ships, what comes back, and what is said of files that cannot be used."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from cloze.checkpoint import CHECKPOINTS, load_model, probe, provenance, read, save_model, write
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.files import FileError
from cloze.heads import MaskedLM
from cloze.masking import held_out_batch

CONFIG = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, direction="left", rotary_base=50)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    save_model(path, MaskedLM(CONFIG), {"seed": 3})
    return path


def refuses(path: Path, reason: str, use: Callable[[Path], Any] = load_model) -> None:
    """Assert that a file is refused in one sentence that names it."""
    with pytest.raises(FileError, match=reason) as caught:
        use(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# What ships


@pytest.mark.parametrize("name", ["masked", "left", "right"])
def test_a_shipped_model_is_what_it_says(name: str, tmp_path: Path) -> None:
    path = CHECKPOINTS / f"{name}.safetensors"
    write(tmp_path / "again", *read(path, "model"))
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    model, made_by, corpus = load_model(path), provenance(path), Corpus.load()
    assert {"seed", "steps"} <= made_by.keys()
    assert made_by["command"].startswith(f"python -m cloze train data/checkpoints/{path.name} ")
    assert made_by["corpus_sha256"] == corpus.sha256
    loss = held_out_loss(model, held_out_batch(corpus.held_out_windows()))
    assert loss == pytest.approx(made_by["held_out_nats"], abs=1e-3)


# What comes back


def test_a_model_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "model.safetensors"
    model = MaskedLM(CONFIG)
    save_model(path, model, {"seed": 3, "command": "é"})
    back = load_model(path)
    assert back.config == CONFIG
    assert all(map(torch.equal, back.parameters(), model.parameters()))
    assert not back.training
    assert not any(p.requires_grad for p in back.parameters())
    assert provenance(path) == {"seed": 3, "command": "é"}
    assert [p.name for p in path.parent.iterdir()] == ["model.safetensors"]


# Writing


@pytest.mark.parametrize(
    ("where", "error"),
    [("write_bytes", OSError(28, "No space left on device")), ("replace", KeyboardInterrupt())],
)
def test_a_write_that_fails_keeps_the_old_file_and_leaves_no_other(
    path: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: BaseException
) -> None:
    before = tree(path.parent)

    def fail(part: Path, *_: object) -> None:
        part.touch()
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Path, where, fail)
        with pytest.raises((FileError, KeyboardInterrupt)):
            save_model(path, MaskedLM(CONFIG), {})
    assert tree(path.parent) == before


def test_a_folder_without_room_is_noticed_before_training(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(path.parent)
    probe(path.parent / "new folder" / "new")

    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "touch", full)
        refuses(path, "cannot be written: No space left on device", probe)
    refuses(path.parent, "exists and is not a checkpoint", lambda p: probe(p, force=True))
    assert tree(path.parent) == before


def test_what_is_not_finite_is_not_saved(path: Path) -> None:
    model = MaskedLM(CONFIG)
    with torch.no_grad():
        model.head.bias[3] = torch.inf
    refuses(path, r"head\.bias holds numbers that are not", lambda p: save_model(p, model, {}))


# What is said of files that cannot be used


def damaged(whole: bytes) -> Iterator[bytes]:
    """Yield what may become of a file: a bit flipped, cut off, longer, or something else."""
    header = 8 + int.from_bytes(whole[:8], "little")
    for place in (3, 40, header - 60, len(whole) - 5):
        yield whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    for length in (0, 4, 100, header, len(whole) - 1):
        yield whole[:length]
    yield whole + b"\0"
    yield b"Once upon a time." * 100


def test_a_damaged_file_is_refused(path: Path) -> None:
    for content in damaged(path.read_bytes()):
        path.write_bytes(content)
        refuses(path, "is damaged: .* restore it|is not a checkpoint of Cloze, .* restore it")


def test_a_checkpoint_of_what_does_not_fit(path: Path) -> None:
    tensors, metadata = read(path, "model")
    for change in ({"d_model": 32}, {"unheard_of": 1}):
        write(path, tensors, metadata | {"config": metadata["config"] | change})
        refuses(path, "does not fit this version of Cloze: ")
    save_model(path, MaskedLM(replace(CONFIG, vocab_size=28)), {})
    refuses(path, "its vocabulary has more symbols than its config")
    save_model(path, MaskedLM(replace(CONFIG, vocab_size=30)), {})
    assert load_model(path).config.vocab_size == 30


def test_a_run_is_not_a_model_and_a_model_is_not_a_run(path: Path) -> None:
    refuses(path, "is a finished model, not a training run", lambda path: read(path, "run"))
    write(path, {}, {"kind": "run"})
    refuses(path, "is a training run that was stopped, not a model")
