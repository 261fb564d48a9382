"""``python -m cloze adapt``: what it trains, what it saves, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, distributed

from cloze import __main__ as command_line
from cloze.adapt import run as adapt_run
from cloze.adapt import trainer
from cloze.adapt.chunks import Masks, cut, prepare
from cloze.adapt.costs import costs
from cloze.adapt.documents import Document, hold_out, read_documents
from cloze.adapt.recipe import AdaptRecipe, Examples
from cloze.adapt.run import Adaptation
from cloze.adapt.saved import SEAL, STATE
from cloze.corpus import DATA
from cloze.handover.packages import quiet
from cloze.handover.pieces import load_folder
from cloze.lessons.your_own_text import packing
from cloze.lessons.your_own_text.letters import FOLDER, letters
from cloze.masking import IGNORE
from tests.handover.folders import folder, tokenizer
from tests.interrupting import CAN_INTERRUPT, interrupt_in

CAPTURE = pytest.CaptureFixture[str]
STEPS = ["--steps", "6", "--batch-size", "4", "--length", "64", "--learning-rate", "1e-3"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts of one's own, and some general ones."""
    folder = tmp_path_factory.mktemp("own")
    for name, topic in (("mine", "kitchen"), ("general", "sea")):
        (folder / name).mkdir()
        for path in sorted((DATA / "corpus" / topic).glob("*.txt")):
            (folder / name / path.name).write_text(path.read_text("utf-8")[:800], "utf-8")
    return folder


@pytest.fixture(scope="module")
def model() -> tuple[Any, Any]:
    return load_folder(FOLDER)


def command(home: Path, out: Path, *more: str) -> list[str]:
    texts = [str(home / "mine"), "--general", str(home / "general")]
    return ["adapt", *texts, "--model", str(FOLDER), "--out", str(out), *STEPS, *more]


def weights(folder: Path) -> dict[str, Tensor]:
    return load_file(folder / "model.safetensors")


def furthest(a: dict[str, Tensor], b: dict[str, Tensor]) -> float:
    assert a.keys() == b.keys()
    return max(float((a[name] - b[name]).abs().max()) for name in a)


# What it trains


@pytest.fixture(scope="module")
def whole(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a run without a stop writes."""
    out = tmp_path_factory.mktemp("whole") / "out"
    assert command_line.main(command(home, out, "--mix", "0.3")) == 0
    return out


def test_it_writes_a_folder_that_others_load_and_a_card_that_says_what_was_measured(
    whole: Path,
) -> None:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    with quiet():
        loaded, tokenizer = (
            kind.from_pretrained(whole) for kind in (AutoModelForMaskedLM, AutoTokenizer)
        )
    assert loaded(**tokenizer("a [MASK]", return_tensors="pt")).logits.isfinite().all()
    assert not loaded.config.sparse_prediction  # the folder answers as any other
    assert furthest(weights(whole), weights(FOLDER)) > 1e-4
    card = (whole / "README.md").read_text("utf-8")
    for part in ("| your text |", "| general text |", "| mix | 0.3 |", "sha256 of the texts"):
        assert part in card
    assert str(whole.parent) not in card


@CAN_INTERRUPT
def test_a_run_that_is_stopped_and_resumed_is_the_whole_run(
    home: Path, whole: Path, tmp_path: Path, capsys: CAPTURE
) -> None:
    out = tmp_path / "out"
    with interrupt_in(adapt_run, "Record", 3):
        assert command_line.main(command(home, out, "--mix", "0.3")) == 130
    printed = capsys.readouterr().err
    assert "a character of your text costs" in printed
    assert "to continue, add --resume" in printed
    assert not out.exists()
    assert command_line.main(command(home, out)) == 1
    assert "holds an unfinished run" in capsys.readouterr().err
    assert command_line.main(command(home, out, "--resume", "--mix", "0.5")) == 1
    assert "was begun with --mix 0.3, not 0.5" in capsys.readouterr().err
    assert command_line.main(command(home, out, "--resume")) == 0  # with the recipe it began with
    assert "A character of your text costs" in capsys.readouterr().out
    assert command_line.main(command(home, out, "--resume")) == 1
    assert "is finished" in capsys.readouterr().err
    assert furthest(weights(out), weights(whole)) < 1e-6
    assert (out / "README.md").read_text("utf-8").split("command")[0] == (
        whole / "README.md"
    ).read_text("utf-8").split("command")[0]
    assert not out.with_name("out.run").exists()


@pytest.mark.skipif(not distributed.is_gloo_available(), reason="This torch comes without gloo.")
def test_two_processes_take_the_steps_of_one(home: Path, whole: Path, tmp_path: Path) -> None:
    words = command(home, tmp_path / "two", "--mix", "0.3")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node=2", "-m", "cloze", *words],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert furthest(weights(tmp_path / "two"), weights(whole)) < 1e-5


def test_documents_are_held_out_whole_and_stay_where_they_are(home: Path) -> None:
    documents = read_documents([home / "mine"])
    train, held_out = hold_out(documents)
    assert {*train} | {*held_out} == {*documents}
    assert not {*train} & {*held_out}
    renamed = [Document(f"new {each.name}", each.text) for each in documents]
    assert [each.text for each in hold_out(renamed)[1]] == [each.text for each in held_out]
    assert len(read_documents([home / "mine", home / "mine"])) == len(documents)


def test_chunks_hold_all_of_a_document_and_nothing_of_the_next(model: tuple[Any, Any]) -> None:
    _, tokenizer = model
    documents = letters()[:3]
    chunks = cut(documents, tokenizer, length=50)
    assert max(len(chunk.input_ids) for chunk in chunks) <= 50
    joined = torch.cat([chunk.input_ids[1:-1] for chunk in chunks]).tolist()
    text = "".join(each.text for each in documents)
    assert tokenizer.decode(joined) == text
    assert sum(int(chunk.characters.sum()) for chunk in chunks) == len(text)


def test_masks_follow_from_chunk_seed_and_time_alone(model: tuple[Any, Any]) -> None:
    _, tokenizer = model
    chunks = cut(letters()[:4], tokenizer, length=64)
    masks = Masks(tokenizer, 0.3, seed=0)
    one = [masks.draw(chunk, 1) for chunk in chunks]
    torch.manual_seed(7)
    other = [masks.draw(chunk, 1) for chunk in reversed(chunks)][::-1]
    for a, b, chunk in zip(one, other, chunks, strict=True):
        assert torch.equal(a["input_ids"], b["input_ids"])
        selected = a["labels"] != IGNORE
        assert torch.equal(a["labels"][selected], chunk.input_ids[selected])
        assert torch.equal(a["input_ids"][~selected], chunk.input_ids[~selected])
        assert not selected[[0, -1]].any()
    assert not torch.equal(one[0]["labels"], masks.draw(chunks[0], 2)["labels"])
    short = chunks[0]._replace(input_ids=chunks[0].input_ids[:3], characters=torch.ones(3).long())
    assert all((masks.draw(short, n)["labels"] != IGNORE).sum() == 1 for n in range(5))


def test_every_chunk_is_read_once_in_an_epoch_and_general_text_beside_it(
    model: tuple[Any, Any],
) -> None:
    _, tokenizer = model
    texts = prepare(letters(), letters()[:9], tokenizer, length=64)
    examples = Examples(texts, Masks(tokenizer, 0.3, 0), AdaptRecipe(batch_size=4, mix=0.5))
    numbers = [chunk.number for chunk in examples._ordered(0)]
    own = {chunk.number for chunk in texts.own}
    assert own <= {*numbers}
    assert len(numbers) == 2 * len(own)
    assert numbers != [chunk.number for chunk in examples._ordered(1)]
    whole = Examples(texts, Masks(tokenizer, 0.3, 0), AdaptRecipe(batch_size=65_536))
    assert whole.recipe.batch_size == len(own)  # no larger than the text


def test_costs_are_those_of_dense_logits_and_a_difference_is_paired(model: tuple[Any, Any]) -> None:
    theirs, tokenizer = model
    chunks, masks = cut(letters()[:2], tokenizer, length=40), Masks(tokenizer, 0.3, 0)
    dense = costs(theirs, chunks, masks)
    theirs.sparse_prediction = True
    sparse = costs(theirs, chunks, masks)
    theirs.sparse_prediction = False
    assert torch.allclose(dense.nats, sparse.nats, atol=1e-4)
    drawn = masks.draw(chunks[5], -1)
    selected = drawn["labels"] != IGNORE
    logits = theirs(drawn["input_ids"][None]).logits[0, selected]
    alone = torch.nn.functional.cross_entropy(logits, drawn["labels"][selected], reduction="sum")
    assert alone.item() == pytest.approx(dense.nats[5].item(), abs=1e-3)
    dearer = dense._replace(nats=dense.nats + 0.1 * dense.characters)
    change, margin = dearer.less(dense)
    assert change == pytest.approx(0.1)
    assert margin == pytest.approx(0, abs=1e-6)


def test_lines_in_one_row_are_as_alone_if_they_are_kept_apart(model: tuple[Any, Any]) -> None:
    theirs, tokenizer = model
    lines = packing.short_lines(cut([Document("", "It rained on Porto.")] * 2, tokenizer, 64))
    masks, pairs = Masks(tokenizer, 0.5, 0), [(lines[0], lines[1])]
    alone = packing.alone(theirs, masks, lines[1:])
    apart = packing.costs_of_second(theirs, masks, pairs, apart=True)
    assert torch.allclose(apart, alone, atol=1e-4)
    assert not torch.allclose(packing.costs_of_second(theirs, masks, pairs, apart=False), alone)


def test_what_a_tokenizer_does_not_know_is_left_out_and_counted(home: Path) -> None:
    documents, drops = read_documents([home / "mine"]), tokenizer("bert")
    signs = [Document(sign, f"{sign} {sign}\n") for sign in "😀🎉🚀🌈🍕🎸🐙🦊🌵🎲"]
    texts = prepare([*documents, *signs], [], drops, length=64)
    assert "letters; 10 chunks without an ordinary piece left out" in texts.summary
    assert all(Masks(drops, 0.3, 0).draw(c, 0)["labels"].max() > 0 for c in texts.own)
    dropped = [Document("", each.text + "\u200b" * 900) for each in documents]
    before, after = (cut(each, drops, 64) for each in (documents, dropped))  # in characters:
    assert all(map(torch.equal, *([c.characters for c in each] for each in (before, after))))
    half = [Document("", f"{each.text} {'привет ' * 100}") for each in documents]
    with pytest.raises(ValueError, match=r"pieces cover 45% of [\d,]+ letters"):
        prepare(half, [], drops, length=64)


def test_costs_are_the_same_on_whichever_side_a_tokenizer_pads(home: Path, tmp_path: Path) -> None:
    settings = folder("bert", tmp_path) / "tokenizer_config.json"
    said = json.loads(settings.read_text("utf-8"))
    mine = read_documents([home / "mine"])
    short = [Document("", each.text[: 30 * n]) for n, each in enumerate(mine, 1)]
    found = []
    for names in (["input_ids", "attention_mask"], ["input_ids"], []):
        side = "right" if len(names) > 1 else "left"
        changed = said | {"padding_side": side, "model_input_names": names}
        settings.write_text(json.dumps(changed), "utf-8")
        theirs, pads = load_folder(tmp_path)
        found.append(costs(theirs, cut(short, pads, 36), Masks(pads, 0.3, 0)).per_character)
    assert found == pytest.approx([found[0]] * 3)


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Adaptation:
    recipe = AdaptRecipe(steps=3, batch_size=4, length=64)
    return Adaptation(FOLDER, read_documents([home / "mine"]), [], recipe, tmp_path / "run")


def test_a_curve_watches_it_and_its_stop_keeps_it(run: Adaptation) -> None:
    from cloze.widgets import TrainingCurve

    curve = TrainingCurve(run, on_record=lambda _: curve.stop())
    for step in (1, 2, 3):
        curve.train()
        assert [record.step for record in run.history] == [*range(1, step + 1)]
    assert curve.action == "Finished"


# What it refuses


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00\x01" * 900, "is not text in UTF-8"),
        (b"Too short.", "at least 2,000 are needed"),
        ("Μῆνιν ἄειδε θεὰ Πηληϊάδεω ".encode() * 200, "does not know the script"),
        ("学而时习之，不亦说乎？".encode() * 200, "does not know the script"),
        ("A letter. ".encode("utf-16-le") * 200, "holds NULs, as UTF-16 does"),
        (b"[SEP] " * 500, "pieces cover 0% of 2,500 letters"),
    ],
    ids=["binary", "short", "greek", "chinese", "utf-16", "special tokens"],
)
def test_a_text_that_cannot_be_used_is_refused(
    tmp_path: Path, capsys: CAPTURE, content: bytes, words: str
) -> None:
    path, out = tmp_path / "text.txt", tmp_path / "out"
    path.write_bytes(content)
    named = ["--model", str(FOLDER), "--out", str(out)]
    assert command_line.main(["adapt", str(path), *named]) == 1
    assert words in capsys.readouterr().err.splitlines()[-1]
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_there_stays_and_wrong_numbers_are_refused(
    home: Path, tmp_path: Path, capsys: CAPTURE
) -> None:
    full, out = tmp_path / "full", tmp_path / "out"
    full.mkdir()
    (full / "letter").write_text("dear")
    for words, sentence in (
        (command(home, full), "name a new folder"),
        (command(home, out, "--mask-prob", "2"), "mask_prob is a number from 0.01 to 0.99"),
        (command(home, out, "--resume"), "There is no run in"),
    ):
        assert command_line.main(words) == 1
        assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert (full / "letter").read_text() == "dear"


def test_of_a_folder_the_texts_are_read_and_the_rest_is_counted(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "letter.txt").write_text((home / "mine" / "01.txt").read_text("utf-8") * 4)
    (tmp_path / "a" / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    (tmp_path / "a" / "package-lock.json").write_text("{}")
    (tmp_path / "a" / "page.html").write_text("<p>markup</p>")
    (tmp_path / "rows.csv").write_text('id,text\n1,"a row, and\nits second line"\n')
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "text": "a line"}\n\n')
    (tmp_path / "table.csv").write_text("id,name\n1,nobody\n")
    (tmp_path / ".hidden.txt").write_text("hidden")
    printed: list[str] = []
    documents = read_documents([tmp_path], printed.append)
    assert len(documents) > 1  # a single file is cut into sections
    text = "".join(each.text for each in documents)
    assert "a row, and\nits second line" in text
    assert "a line" in text
    assert not re.search("hidden|markup|nobody", text)
    skipped = "a/package-lock.json, a/page.html, a/photo.jpg …"
    assert printed == [f"{tmp_path}: 4 files without plain text in UTF-8 passed over: {skipped}"]


def test_a_full_disk_and_a_killed_process_lose_nothing_that_was_saved(
    home: Path,
    whole: Path,
    tmp_path: Path,
    capsys: CAPTURE,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from transformers import Trainer

    out, run = tmp_path / "out", tmp_path / "out.run"
    save = Trainer._save_optimizer_and_scheduler

    def full(self: Any, folder: str) -> None:
        if folder.endswith("checkpoint-2"):
            raise OSError(28, "No space left on device")
        save(self, folder)

    monkeypatch.setattr(Trainer, "_save_optimizer_and_scheduler", full)
    monkeypatch.setattr(trainer, "SAVE_EVERY", 0.0)
    assert command_line.main(command(home, out, "--mix", "0.3")) == 1
    assert "No space left on device. Make room" in capsys.readouterr().err
    monkeypatch.undo()
    assert {path.name for path in run.iterdir()} == {"checkpoint-1", "checkpoint-2"}
    (run / "checkpoint-2" / STATE).write_text(
        '{"log_hist'
    )  # and even if somebody says it is whole:
    (run / "checkpoint-2" / SEAL).write_text("{}")
    assert command_line.main(command(home, out, "--resume")) == 0
    assert furthest(weights(out), weights(whole)) < 1e-6
    assert not run.exists()


@pytest.fixture(scope="module")
def stopped(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has taken one of six steps."""
    kept = tmp_path_factory.mktemp("stopped") / "out.run"
    recipe = AdaptRecipe(steps=6, batch_size=4, length=64, learning_rate=1e-3)
    mine, general = (read_documents([home / name]) for name in ("mine", "general"))
    Adaptation(FOLDER, mine, general, recipe, kept).train(stop=lambda: True)
    return kept


@pytest.mark.parametrize("content", [b"", b"[]", b'{"log_history": [{"los', b"[" * 100_000])
@pytest.mark.parametrize(
    "name", [STATE, SEAL, "model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth"]
)
def test_a_damaged_run_is_refused_in_a_sentence_and_stays(
    stopped: Path, home: Path, tmp_path: Path, capsys: CAPTURE, name: str, content: bytes
) -> None:
    shutil.copytree(stopped, tmp_path / "out.run")
    (tmp_path / "out.run" / "checkpoint-1" / name).write_bytes(content)
    assert command_line.main(command(home, tmp_path / "out", "--resume")) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"checkpoint-1/{name} is damaged: it is not what was written" in Path(said).as_posix()
    assert (tmp_path / "out.run" / "checkpoint-1").is_dir()


def test_a_run_goes_on_with_its_own_model_only(
    stopped: Path, home: Path, tmp_path: Path, capsys: CAPTURE
) -> None:
    shutil.copytree(stopped, tmp_path / "out.run")
    other = shutil.copytree(FOLDER, tmp_path / "other")
    changed = weights(FOLDER)
    changed["decoder.bias"] += 1
    save_file(changed, other / "model.safetensors", {"format": "pt"})
    words = [
        str(other) if word == str(FOLDER) else word for word in command(home, tmp_path / "out")
    ]
    assert command_line.main([*words, "--resume"]) == 1
    assert "was begun with another model; name the same" in capsys.readouterr().err


def test_a_loss_that_is_not_finite_ends_it(run: Adaptation) -> None:
    with torch.no_grad():
        run.model.decoder.bias.fill_(float("nan"))
    with pytest.raises(ArithmeticError, match="lower --learning-rate"):
        run.train()
