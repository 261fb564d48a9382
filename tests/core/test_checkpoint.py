"""Checkpoints: what ships, what comes back, and what is said of files that cannot be used."""

import json
import os
import pickle
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from cloze import checkpoint
from cloze.checkpoint import (
    CHECKPOINTS,
    CheckpointError,
    check_layout,
    load_model,
    load_state,
    probe,
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
from cloze.muon import Muon
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
    assert str(path)[:200] in message
    assert "\n" not in message
    assert "Error" not in message
    assert message.endswith(".")
    assert len(message) < 200 + 2 * len(str(path))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def entry(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the metadata of a checkpoint, digest included, unchecked."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        return tensors, json.loads(file.metadata()["cloze"])


def forge(path: Path, tensors: dict[str, Tensor], metadata: object) -> None:
    """Write what only an accident or somebody else writes."""
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    save_file(tensors, path, {"cloze": text})


def with_header(path: Path, header: object, size: int = 4) -> None:
    """Write a safetensors file with any header and ``size`` zero bytes of tensors."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(size))


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


def test_one_training_gives_one_file(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    for _ in range(8):
        write(again, *read(path, "model"))
        assert again.read_bytes() == path.read_bytes()


def test_a_run_s_bytes_and_history_come_back(tmp_path: Path) -> None:
    tensors = {"generator": torch.Generator().get_state(), "x.step": torch.tensor(3.0)}
    metadata = {"kind": "run", "config": {}, "history": [(1, 0.1, None)], "note": "é\n"}
    write(tmp_path / "run", tensors, metadata)
    back, about = read(tmp_path / "run", "run")
    assert_same(back, tensors)
    assert about == metadata | {"history": [[1, 0.1, None]]}


def test_what_was_read_does_not_depend_on_the_file_any_more(path: Path) -> None:
    tensors, _ = read(path, "model")
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    path.write_bytes(b"")
    assert_same(tensors, before)


# Writing


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["fsync", "copymode", "replace"])
def test_a_write_that_fails_keeps_the_old_file_and_leaves_no_other(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, where: str
) -> None:
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise error

    owner = {"fsync": os, "copymode": shutil, "replace": Path}[where]
    monkeypatch.setattr(owner, where, fail)
    with pytest.raises(CheckpointError if isinstance(error, OSError) else KeyboardInterrupt):
        write(path, {}, {})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_write_is_finished_before_a_signal_is_heard(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    heard = []
    before = signal.signal(number, lambda *_: heard.append(list(path.parent.iterdir())))
    monkeypatch.setattr(os, "fsync", lambda _: signal.raise_signal(number))
    try:
        tensors, metadata = read(path, "model")
        write(path, tensors, metadata | {"provenance": {"seed": 4}})
    finally:
        signal.signal(number, before)
    assert heard == [[path]]
    assert provenance(path) == {"seed": 4}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_told_to_end_while_it_writes_leaves_one_whole_file(
    path: Path, number: signal.Signals
) -> None:
    script = """
import sys
from cloze.checkpoint import read, write
tensors, metadata = read(sys.argv[1], "model")
print("ready", flush=True)
while True:
    write(sys.argv[1], tensors, metadata)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.05)
        for _ in range(3):  # a key that repeats
            process.send_signal(number)
        assert process.wait(timeout=60) != 0
    load_model(path)
    assert list(path.parent.iterdir()) == [path]


def test_many_writers_of_one_file_leave_one_whole_file(path: Path) -> None:
    tensors, metadata = read(path, "model")
    failed = []

    def write_often(seed: int) -> None:
        try:
            for _ in range(10):
                write(path, tensors, metadata | {"provenance": {"seed": seed}})
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write_often, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert provenance(path)["seed"] in range(4)
    assert not failed
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_follows_the_umask_and_a_replaced_one_stays_as_it_was(
    path: Path, tmp_path: Path, mask: int
) -> None:
    path.chmod(0o640)
    before = os.umask(mask)
    try:
        for target in (path, tmp_path / "new"):
            write(target, *read(path, "model"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_not_saved(path: Path, number: float) -> None:
    before = path.read_bytes()
    model = MaskedLM(CONFIG)
    with torch.no_grad():
        model.head.bias[3] = number
    refuses(
        path, r"head\.bias holds numbers that are not finite", lambda p: save_model(p, model, {})
    )
    refuses(path, "not finite", lambda p: save_model(p, MaskedLM(CONFIG), {"loss": [number]}))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# Before work is done: can it be written?


def tree(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(p), p.lstat().st_size) for p in folder.rglob("*"))


@pytest.mark.parametrize("name", ["new", "small.safetensors", "one/folder/below/another"])
def test_where_a_checkpoint_can_be_written_nothing_is_left(path: Path, name: str) -> None:
    before = tree(path.parent)
    probe(path.parent / name)
    assert tree(path.parent) == before


def make_fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no such files on this system")
    os.mkfifo(path)


STANDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a folder": (Path.mkdir, "is a folder; name a file to write"),
    "a FIFO": (make_fifo, "is a device or a pipe, not a file"),
    "a link": (lambda p: p.symlink_to("small.safetensors"), "is a link; name the file itself"),
    "a link to nothing": (lambda p: p.symlink_to("nothing"), "is a link; name the file itself"),
}
BELOW = {
    "below a file": ("small.safetensors/x", "cannot be written: "),
    "a name too long": ("x" * 300, "cannot be written: "),
    "no UTF-8": ("a\udcff", "its name is not UTF-8"),
}


WRITERS: dict[str, Callable[[Path], None]] = {
    "probe": probe,
    "probe --force": lambda path: probe(path, force=True),
    "write": lambda path: save_model(path, MaskedLM(CONFIG), {}),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("what", STANDS)
def test_what_is_no_file_is_never_replaced(path: Path, what: str, writer: str) -> None:
    make, reason = STANDS[what]
    other = path.with_name("other")
    make(other)
    before = tree(path.parent)
    refuses(other, reason, WRITERS[writer])
    assert tree(path.parent) == before


@pytest.mark.parametrize("writer", WRITERS)
def test_a_name_with_a_zero_byte_is_none(path: Path, writer: str) -> None:
    with pytest.raises(ValueError, match=r"^A path names a file or a folder; "):
        WRITERS[writer](path.with_name("a\0b"))


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("what", BELOW)
def test_a_place_where_nothing_can_be_written_is_named(path: Path, what: str, writer: str) -> None:
    name, reason = BELOW[what]
    before = tree(path.parent)
    refuses(path.parent / name, reason, WRITERS[writer])
    assert tree(path.parent) == before


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices on this system")
def test_a_device_is_never_replaced() -> None:
    refuses(Path("/dev/null"), "is a device or a pipe", lambda p: probe(p, force=True))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk on this system")
def test_a_full_disk_is_noticed_beforehand(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, true_open = tree(path.parent), Path.open

    def on_a_full_disk(file: Path, mode: str = "r") -> Any:
        if mode == "xb":
            file.touch()
            return true_open(Path("/dev/full"), "r+b", buffering=0)
        return true_open(file, mode)

    monkeypatch.setattr(Path, "open", on_a_full_disk)
    refuses(path, "cannot be written: No space left on device", probe)
    assert tree(path.parent) == before


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="the administrator may write anywhere"
)
def test_a_place_without_permission_is_named(path: Path) -> None:
    path.chmod(0o444)
    refuses(path, "is protected against writing", probe)
    path.chmod(0o000)
    refuses(path, "cannot be read: Permission denied")
    path.chmod(0o644)
    path.parent.chmod(0o555)
    try:
        refuses(path, "cannot be written: Permission denied", probe)
    finally:
        path.parent.chmod(0o755)


def test_a_file_that_may_not_be_read_is_not_called_damaged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    refuses(path, "cannot be read: Permission denied")


def test_what_is_not_ours_is_replaced_by_force_alone(path: Path) -> None:
    other = path.with_name("mine")
    contents: dict[str, Callable[[], object]] = {
        "a text": lambda: other.write_text("Once upon a time."),
        "nothing": lambda: other.write_bytes(b""),
        "another's": lambda: save_file({"x": torch.zeros(1)}, other, {"format": "pt"}),
    }
    for make in contents.values():
        make()
        before = tree(path.parent)
        refuses(other, "exists and is not a checkpoint; choose another name, or .* --force", probe)
        probe(other, force=True)
        assert tree(path.parent) == before


def test_a_damaged_or_old_checkpoint_may_be_made_again(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    probe(path)
    save_file({"x": torch.zeros(1)}, path, {"kind": '"model"', "config": "{}"})
    probe(path)


# What is said of files that cannot be used


@pytest.mark.parametrize("load", [load_model, provenance, lambda p: read(p, "run")])
def test_a_path_without_a_file(tmp_path: Path, load: Callable[[Path], Any]) -> None:
    refuses(tmp_path / "nothing", "There is no checkpoint at .*; check the path", load)
    (tmp_path / "file").touch()
    refuses(tmp_path / "file" / "x", "There is no checkpoint at .*; check the path", load)
    refuses(tmp_path, "is a folder; name the checkpoint in it", load)
    refuses(tmp_path / ("x" * 300), "cannot be read: ", load)
    refuses(tmp_path / "a\udcff", "cannot be read: its name is not UTF-8", load)
    no_paths: list[Any] = [tmp_path / "a\0b", None, 5, [], b"a", "\ud800", "x" * 5000]
    for no_path in no_paths:
        with pytest.raises(CheckpointError, match=r"^A path names a file .* does not\.$"):
            load(no_path)


@pytest.mark.timeout(60)
def test_a_pipe_or_a_device_does_not_hang(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    refuses(tmp_path / "fifo", "is a device or a pipe, not a file; name a checkpoint")
    refuses(Path("/dev/zero"), "is a device or a pipe, not a file; name a checkpoint")


@pytest.mark.timeout(60)
def test_ten_gigabytes_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 10 << 30)
    refuses(path, "is not a safetensors file")
    about = json.dumps({"sha256": "0" * 64, "kind": "model", "config": {}})
    tensor = {"dtype": "F32", "shape": [10 << 28], "data_offsets": [0, 10 << 30]}
    with_header(path, {"__metadata__": {"cloze": about}, "x": tensor}, 0)
    os.truncate(path, path.stat().st_size + (10 << 30))
    refuses(path, "is damaged")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        torch.randint(256, (5000,), generator=torch.Generator().manual_seed(0)).byte().numpy(),
        pickle.dumps({"weights": [1.0] * 500}),
        b"the quick brown fox " * 50,
        b"\xff" * 500,
    ],
    ids=["nothing", "noise", "pickle", "text", "ones"],
)
def test_a_file_that_is_something_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(bytes(content))
    refuses(path, "is not a safetensors file; name a checkpoint")


@pytest.mark.parametrize(
    "metadata", [None, {"format": "pt"}, {"config": "[]"}, {"config": '{"hidden_size": 3}'}]
)
def test_somebody_else_s_safetensors(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    path = tmp_path / "foreign.safetensors"
    save_file({"weight": torch.zeros(2)}, path, metadata)
    refuses(path, "is a safetensors file but not one of Cloze's")


def test_a_file_of_an_earlier_version_is_called_so(path: Path) -> None:
    tensors, metadata = read(path, "model")
    save_file(tensors, path, {key: json.dumps(value) for key, value in metadata.items()})
    refuses(path, "was made by an earlier version of Cloze, .*; train it again")


def test_any_single_bit_that_flips_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    chance = random.Random(0)
    bits = [*range(64), *chance.sample(range(8 * header), 250)]
    bits += chance.sample(range(8 * header, 8 * len(whole)), 150)
    for bit in bits:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        refuses(path, "restore it|is not a safetensors file|not one of Cloze's")


def test_a_file_cut_off_or_continued_anywhere_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    lengths = {*range(12), *random.Random(0).sample(range(len(whole)), 100), len(whole) - 1}
    for length in lengths:
        path.write_bytes(whole[:length])
        refuses(path, "is damaged" if length > 8 else "is not a safetensors file")
    path.write_bytes(whole + b"\0")
    refuses(path, "is damaged")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_heads", 4),
        ("n_heads", 3),
        ("direction", "both"),
        ("direction", "up"),
        ("rotary_base", 51),
        ("rotary_base", 0),
        ("rotary_base", float("nan")),
        ("rotary_base", None),
        ("neighbour_focus", 0),
        ("neighbour_focus", float("inf")),
        ("max_len", 65),
        ("vocab_size", 28),
        ("vocab_size", 10**13),
        ("d_model", 10**13),
        ("d_model", "16"),
        ("d_model", 16.0),
        ("n_layers", 2),
        ("n_layers", True),
        ("n_layers", -1),
        ("d_ff", 10**4000),
        ("unheard_of", 1),
    ],
)
def test_a_changed_config(path: Path, name: str, value: object) -> None:
    tensors, metadata = entry(path)
    forge(path, tensors, metadata | {"config": metadata["config"] | {name: value}})
    refuses(path, "is damaged|holds no usable config")


def test_changed_metadata(path: Path) -> None:
    tensors, metadata = entry(path)
    forge(path, tensors, metadata)
    load_model(path)  # the forger can forge
    for change in ({"kind": "run"}, {"provenance": {"seed": 4}}, {"more": 1}, {"sha256": "0" * 64}):
        forge(path, tensors, metadata | change)
        refuses(path, "is damaged")
    for name in metadata:
        forge(path, tensors, {key: value for key, value in metadata.items() if key != name})
        refuses(path, "is damaged|holds no usable config")


def test_changed_tensors(path: Path) -> None:
    tensors, metadata = entry(path)
    bias = tensors["head.bias"]
    for changed in (
        {"head.bias": bias.index_fill(0, torch.tensor(3), float("nan"))},
        {"head.bias": bias.double()},
        {"head.bias": bias.half()},
        {"head.bias": bias.view(torch.int32)},
        {"head.bias": bias.view(torch.float8_e4m3fn)},
        {"head.bias": bias[None]},
        {"head.bias": bias[:-1].clone()},
        {"more": torch.zeros(1)},
        {"more": torch.zeros(0)},
    ):
        forge(path, tensors | changed, metadata)
        refuses(path, "is damaged")
    for name in tensors:
        rest = {key: tensor for key, tensor in tensors.items() if key != name}
        for others in (rest, rest | {name + "s": tensors[name]}):
            forge(path, others, metadata)
            refuses(path, "is damaged")


ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
CONFIGURED = '{"sha256": "", "kind": "model", "config": {}'


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 10**6,
        b'{"x":' * 10**6,
        b"{}",
        b'{"\xff": 1}',
        b'{"__metadata__": null}',
        b'{"__metadata__": {"cloze": 1}, "x": {}}',
        b'{"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "x": 1}',
        {"x": ONE | {"shape": [10**13], "data_offsets": [0, 4 * 10**13]}},
        {"x": ONE | {"shape": [10**13]}},
        {"x": ONE | {"shape": [-1]}},
        {"x": ONE | {"shape": [2**62, 2**62]}},
        {"x": ONE | {"data_offsets": [4, 8]}},
        {"x": ONE | {"data_offsets": [4, 0]}},
        {"x": ONE, "y": ONE},
        *(
            {"__metadata__": {"cloze": text}, "x": ONE}
            for text in (
                "",
                "x",
                "1",
                "null",
                "[]",
                '""',
                "{}",
                "[" * 10**6,
                '{"config":' * 10**5,
                CONFIGURED,
                CONFIGURED + "}",
                CONFIGURED + ', "x": NaN}',
                CONFIGURED + ', "x": "\\ud800"}',
                CONFIGURED + ', "x": 1' + "0" * 5000 + "}",
                CONFIGURED + ', "x": ' + "[" * 900 + "]" * 900 + "}",
                CONFIGURED.replace("{}", "[]") + "}",
                CONFIGURED.replace("{}", '{"direction": ["both"]}') + "}",
                CONFIGURED.replace("{}", '{"direction": "' + "x" * 10**5 + '"}') + "}",
            )
        ),
    ],
    ids=lambda header: str(header)[-40:],
)
@pytest.mark.parametrize("load", [load_model, provenance, lambda p: read(p, "run")])
def test_a_header_that_is_nonsense(
    tmp_path: Path, header: object, load: Callable[[Path], Any]
) -> None:
    path = tmp_path / "nonsense"
    with_header(path, header)
    refuses(path, "is damaged|holds no usable config|not a safetensors file", load)
    with suppress(CheckpointError):
        probe(path)


def test_a_length_beyond_all_measure(tmp_path: Path) -> None:
    path = tmp_path / "nonsense"
    for length in (2**64 - 1, 2**63, 10**13, 10**8 + 1):
        path.write_bytes(length.to_bytes(8, "little") + b"{}      ")
        refuses(path, "is damaged")


def test_a_checkpoint_well_written_of_what_does_not_fit(path: Path) -> None:
    tensors, metadata = read(path, "model")
    for change in ({"d_model": 32}, {"n_layers": 2}, {"vocab_size": 30}, {"d_ff": 17}):
        write(path, tensors, metadata | {"config": metadata["config"] | change})
        refuses(path, "does not fit: .* should be .*, but is .*; .*restore it")
    write(path, tensors | {"head.bias": torch.zeros(29, dtype=torch.uint8)}, metadata)
    refuses(path, r"head\.bias should be float32 of shape \(29,\), but is uint8 of shape \(29,\)")


def test_a_model_that_does_not_know_all_characters_is_not_for_the_series(path: Path) -> None:
    save_model(path, MaskedLM(replace(CONFIG, vocab_size=28)), {})
    refuses(path, "knows 28 symbols; .* needs at least 29")
    save_model(path, MaskedLM(replace(CONFIG, vocab_size=30)), {})
    assert load_model(path).config.vocab_size == 30


def test_a_file_without_provenance(path: Path) -> None:
    tensors, metadata = read(path, "model")
    del metadata["provenance"]
    write(path, tensors, metadata)
    refuses(path, "does not say what made it", provenance)


def test_a_run_is_not_a_model_and_a_model_is_not_a_run(path: Path, tmp_path: Path) -> None:
    whole = Corpus.load()
    corpus = Corpus(whole.train[:1], whole.held_out[:1])
    refuses(path, "is not a saved training run", lambda p: TrainingRun.load(p, corpus))
    TrainingRun(MaskedLM(CONFIG), corpus).save(tmp_path / "run")
    refuses(tmp_path / "run", "is a training run that was stopped, not a model")


# States that do not fit


def stepped(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """Return the state of an optimizer after a step, by name."""
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    states = optimizer.state_dict()["state"]
    return {f"{i}.{name}": t for i, state in states.items() for name, t in state.items()}


@pytest.mark.parametrize("make", [Muon, lambda ps: torch.optim.AdamW(ps, fused=True)])
def test_the_state_of_an_optimizer_that_would_crash_it_is_refused(
    tmp_path: Path, make: Callable[..., torch.optim.Optimizer]
) -> None:
    model = nn.Linear(6, 4, bias=False)
    state = stepped(make(model.parameters()), model)
    check_layout(tmp_path, {name: t.clone() for name, t in state.items()}, state)
    for name, tensor in state.items():
        wrong = (
            torch.zeros(1),
            torch.zeros(0),
            torch.zeros(2, 3),
            torch.zeros(4, 6, 1),
            tensor.double(),
            tensor.to(torch.uint8),
            tensor[None],
        )
        rest = {key: t for key, t in state.items() if key != name}
        for found, expected in [
            (rest, state),
            (state, rest),
            *((rest | {name: t}, state) for t in wrong),
        ]:
            refuses(tmp_path, name, partial(check_layout, tensors=found, expected=expected))


def test_a_state_is_loaded_into_a_module_only_if_it_fits(tmp_path: Path) -> None:
    module, other = nn.Linear(3, 2), nn.Linear(3, 2)
    load_state(tmp_path, module, other.state_dict())
    assert_same(module.state_dict(), other.state_dict())
    wrong = other.state_dict() | {"bias": torch.zeros(2, dtype=torch.float64)}
    refuses(tmp_path, "bias should be float32", lambda p: load_state(p, module, wrong))


@pytest.mark.parametrize(
    ("model", "made_by", "reason"),
    [
        (5, {}, "What is saved is a MaskedLM"),
        (None, {"a": object()}, "hold what JSON cannot"),
        (None, None, "The provenance is a dict"),
    ],
)
def test_what_cannot_be_saved_is_named(path: Path, model: Any, made_by: Any, reason: str) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match=reason):
        save_model(path, model or load_model(path), made_by)
    assert path.read_bytes() == before
