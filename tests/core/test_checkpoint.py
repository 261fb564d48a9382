"""Checkpoints: what ships, what comes back, and what is said of files that cannot be used."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from cloze import checkpoint
from cloze.checkpoint import (
    CHECKPOINTS,
    CheckpointError,
    load_model,
    provenance,
    read,
    save_model,
    write,
)
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.masking import held_out_batch
from cloze.training import TrainingRun

SHIPPED = CHECKPOINTS / "masked.safetensors"
CONFIG = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, direction="left", rotary_base=50)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    save_model(path, MaskedLM(CONFIG), {"seed": 3})
    return path


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def refuses(path: Path, reason: str, load: Callable[[Path], Any] = load_model) -> None:
    """Assert that a file is refused in one sentence that names it."""
    with pytest.raises(CheckpointError, match=reason) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert "Error" not in message
    assert message.endswith(".")
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


# What ships


ALL_SHIPPED = [CHECKPOINTS / f"{name}.safetensors" for name in ("masked", "left", "right")]


@pytest.mark.parametrize("path", ALL_SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_model_is_small_and_says_what_made_it(path: Path) -> None:
    assert path.stat().st_size <= 1_200_000
    made_by = provenance(path)
    assert {"command", "seed", "corpus_sha256", "steps", "held_out_nats"} <= made_by.keys()
    assert made_by["command"].startswith(f"python -m cloze train data/checkpoints/{path.name} ")
    assert made_by["corpus_sha256"] == Corpus.load().sha256
    size = sum(p.numel() for p in load_model(path).parameters())
    assert size == pytest.approx(270_000, abs=10_000)


@pytest.mark.parametrize("path", ALL_SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_model_is_as_good_as_it_says(path: Path) -> None:
    held_out = held_out_batch(Corpus.load().held_out_windows())
    assert held_out_loss(load_model(path), held_out) == pytest.approx(
        provenance(path)["held_out_nats"], abs=1e-3
    )


def test_no_code_can_hide_in_a_checkpoint() -> None:
    with safe_open(SHIPPED, framework="pt") as file:
        assert len(list(file.keys())) > 10
    source = Path(checkpoint.__file__).parent
    modules = list(source.rglob("*.py"))
    assert len(modules) > 10
    unsafe = re.compile(r"torch\.(load|save)\b|\b(pickle|joblib|shelve|marshal)\b|allow_pickle")
    assert not [path.name for path in modules if unsafe.search(path.read_text("utf-8"))]


# What comes back


def test_a_model_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "model.safetensors"
    model = MaskedLM(CONFIG)
    save_model(path, model, {"seed": 3, "command": "é"})
    back = load_model(path)
    assert back.config == CONFIG
    assert_same(back.state_dict(), model.state_dict())
    assert not back.training
    assert not any(p.requires_grad for p in back.parameters())
    assert provenance(path) == {"seed": 3, "command": "é"}
    assert [p.name for p in path.parent.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize("focus", [0, 0.0, 2])
def test_a_whole_number_may_stand_for_a_fraction(tmp_path: Path, focus: float) -> None:
    model = MaskedLM(EncoderConfig(d_model=16, n_heads=2, d_ff=16, neighbour_focus=focus))
    save_model(tmp_path / "model", model, {})
    assert load_model(tmp_path / "model").config == model.config


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_keeps_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    before = path.read_bytes()

    def half_written(_: object, part: Path, __: object) -> None:
        part.write_bytes(b"half")
        raise error

    monkeypatch.setattr(checkpoint, "save_file", half_written)
    with pytest.raises(CheckpointError if isinstance(error, OSError) else KeyboardInterrupt):
        write(path, {}, {})
    assert path.read_bytes() == before
    if isinstance(error, OSError):
        assert list(path.parent.iterdir()) == [path]


def test_a_place_where_nothing_can_be_written_is_named(path: Path) -> None:
    refuses(
        path / "below a file",
        r"cannot be written: [\w ]+\.$",
        lambda p: save_model(p, MaskedLM(), {}),
    )


# What is said of files that cannot be used


@pytest.mark.parametrize("load", [load_model, provenance, read])
def test_a_missing_file(tmp_path: Path, load: Callable[[Path], Any]) -> None:
    refuses(tmp_path / "nothing", "There is no checkpoint at .*; check the path", load)
    refuses(tmp_path, "There is no checkpoint at", load)


@pytest.mark.parametrize("share", [0, 0.0001, 0.01, 0.3, 0.9, 0.9999])
def test_a_truncated_file(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refuses(path, "damaged or not a safetensors file; restore it")


@pytest.mark.parametrize(
    "content",
    [
        torch.randint(256, (5000,), generator=torch.Generator().manual_seed(0)).byte().numpy(),
        pickle.dumps({"weights": [1.0] * 500}),
        b"the quick brown fox " * 50,
        b"\xff" * 500,
    ],
    ids=["noise", "pickle", "text", "ones"],
)
def test_a_file_that_is_something_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(bytes(content))
    refuses(path, "damaged or not a safetensors file")


@pytest.mark.parametrize(
    "metadata", [None, {"format": "pt"}, {"config": "[]"}, {"config": '{"hidden_size": 3}'}]
)
def test_somebody_else_s_safetensors(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    path = tmp_path / "foreign.safetensors"
    save_file({"weight": torch.zeros(2)}, path, metadata)
    refuses(path, "is a safetensors file but not one of Cloze's")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("d_model", 32, "do not fit its own config"),
        ("n_layers", 2, "do not fit its own config"),
        ("vocab_size", 30, "do not fit its own config"),
        ("d_ff", 17, "do not fit its own config"),
        ("n_heads", 3, "no usable config"),
        ("d_model", "16", "no usable config"),
        ("d_model", 16.0, "no usable config"),
        ("n_layers", -1, "no usable config"),
        ("direction", "up", "no usable config"),
        ("rotary_base", "x", "no usable config"),
        ("rotary_base", None, "no usable config"),
        ("unheard_of", 1, "no usable config"),
    ],
)
def test_a_changed_config(path: Path, name: str, value: object, reason: str) -> None:
    tensors, metadata = read(path)
    write(path, tensors, metadata | {"config": metadata["config"] | {name: value}})
    refuses(path, reason)


def test_changed_tensors(path: Path) -> None:
    tensors, metadata = read(path)
    for number in (float("nan"), float("inf")):
        write(
            path,
            tensors | {"head.bias": tensors["head.bias"].index_fill(0, torch.tensor(3), number)},
            metadata,
        )
        refuses(path, "holds numbers that are not finite; restore it")
    for changed in (
        tensors | {"head.bias": torch.zeros(30)},
        tensors | {"more": torch.zeros(1)},
        {name: t for name, t in tensors.items() if name != "head.bias"},
    ):
        write(path, changed, metadata)
        refuses(path, "do not fit its own config")


def test_a_file_without_provenance(path: Path) -> None:
    tensors, metadata = read(path)
    write(path, tensors, {"config": metadata["config"]})
    refuses(path, "does not say what made it", provenance)


def test_a_run_is_not_a_model_and_a_model_is_not_a_run(path: Path, tmp_path: Path) -> None:
    whole = Corpus.load()
    corpus = Corpus(whole.train[:1], whole.held_out[:1])
    refuses(path, "is not a saved training run", lambda p: TrainingRun.load(p, corpus))
    TrainingRun(MaskedLM(CONFIG), corpus).save(tmp_path / "run")
    refuses(tmp_path / "run", "is a training run that was stopped, not a model")
