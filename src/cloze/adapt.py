"""``cloze adapt``: go on training a fill-mask model of ``transformers`` on texts of your own.

What is here is what nobody else has: documents are held out whole, a chunk never reaches into the
next document, masks follow from the text and the seed alone, and what was gained and forgotten is
measured on the same questions before and after. Everything else is done by ``transformers``: its
collator draws the masks, its Trainer takes the steps, keeps the run and shares it out among
processes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from tqdm.std import tqdm

from cloze.checkpoint import followed, reserved
from cloze.corpus import DATA, MOST_HELD_OUT, read_text
from cloze.handover.export import whole
from cloze.handover.packages import need, quiet
from cloze.handover.pieces import load_folder, longest_line
from cloze.interrupts import held_signals
from cloze.masking import IGNORE
from cloze.training import Record
from cloze.vocabulary import TextError, counted

FEW = 10
"""Fewer documents than this are cut into sections, so that there is something to hold out."""
SECTION = 500
"""The fewest characters of a section."""
LEAST = 2_000
"""The fewest characters of a text that can be learned from and measured on."""
HELD_OUT = 0.1
"""The share of the characters that is kept for measuring."""
UNKNOWN = 0.05
"""With a larger share of unknown pieces, a tokenizer does not know the script of a text."""
AT_ONCE = 2**13
"""How many pieces are measured in one batch."""
BATCHES_AT_ONCE = 16
"""Among so many batches, chunks of equal length are put together."""
SAVE_EVERY = 60.0
"""Seconds of training that a kill may cost."""
STATE_COPIES = 8
"""A run on disk holds a model and two moments of each weight, twice while the new one is written,
and then the finished model."""
GENERAL = DATA / "corpus"
"""What is measured beside your text, to see what was forgotten: the corpus of the series."""

Say = Callable[[str], None]


# Documents


@dataclass(frozen=True)
class Document:
    """One text: a file, or a section of one."""

    name: str
    text: str


def read_documents(paths: Iterable[Path], say: Say = lambda _: None) -> list[Document]:
    """Read text files, and all of the text files in folders; no text twice.

    Args:
        paths: files in UTF-8, and folders. In a folder, hidden files are passed over, and so are
            files that hold no text.
        say: is told how many files of a folder were passed over.

    Raises:
        TextError: a file that was named is missing, empty or not UTF-8, or a folder has no text.
    """
    documents: dict[str, Document] = {}
    for path in paths:
        if not path.is_dir():
            found, skipped = [Document(path.name, read_text(path))], 0
        else:
            found, skipped = _in_folder(path)
        if not found:
            raise TextError(f"{path} holds no text file in UTF-8; name another folder.")
        if skipped:
            say(f"{path}: {counted(skipped, 'file')} without text in UTF-8 passed over.")
        for document in found:
            documents.setdefault(document.text, document)
    return _sections([*documents.values()])


def _in_folder(folder: Path) -> tuple[list[Document], int]:
    """Return the documents of a folder, and how many of its files are no text."""
    found, skipped = [], 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            try:
                found.append(Document(name.as_posix(), read_text(path)))
            except TextError:
                skipped += 1
    return found, skipped


def _sections(documents: list[Document]) -> list[Document]:
    """Cut a few long documents into sections at ends of lines, or of words where lines are long."""
    total = sum(len(document.text) for document in documents)
    if total < LEAST:
        raise TextError(
            f"Your text has {counted(total, 'character')}; at least {LEAST:,} are needed, to learn "
            "from some and to measure on others."
        )
    if len(documents) >= FEW:
        return documents
    size = max(SECTION, total // (2 * FEW))
    sections: list[Document] = []
    for document in documents:
        part, parts = "", []
        for word in re.findall(r"\S+\s*|\s+", document.text):
            part += word
            if len(part) >= 2 * size or (len(part) >= size and "\n" in word):
                parts.append(part)
                part = ""
        if len(part) < size and parts:  # what is left belongs to the section before it
            parts[-1] += part
        else:
            parts.append(part)
        sections += (Document(f"{document.name}:{i}", text) for i, text in enumerate(parts, 1))
    if len(sections) < 2:
        raise TextError(
            "Your text is a single word without a space; give a text of words and lines."
        )
    return sections


def hold_out(documents: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """Return the documents to train on and those to measure on, at least a tenth of the characters.

    A hash of each text decides, so a document stays where it is when files are renamed or added.
    """

    def place(document: Document) -> float:
        return int.from_bytes(hashlib.sha256(document.text.encode()).digest()[:8]) / 2**64

    drawn = sorted(documents, key=place, reverse=True)
    left = HELD_OUT * sum(len(document.text) for document in documents)
    held_out: list[Document] = []
    while len(drawn) > 1 and (left > 0 or place(drawn[-1]) < HELD_OUT):
        held_out.append(drawn.pop())
        left -= len(held_out[-1].text)
    return drawn, held_out


# Chunks


class Chunk(NamedTuple):
    """What the model reads at once: a stretch of one document, in the frame of its tokenizer."""

    input_ids: Tensor
    """Shape ``(length,)``."""
    characters: Tensor
    """How many characters each piece stands for, shape ``(length,)``; none in the frame."""
    number: int
    """Its place among all chunks: its masks are drawn from this and the seed."""


def cut(documents: Iterable[Document], tokenizer: Any, length: int, first: int = 0) -> list[Chunk]:
    """Cut documents into chunks of at most so many pieces, those of a document about equal.

    Args:
        documents: the texts.
        tokenizer: one of ``transformers`` that says where its pieces lie in a text.
        length: the most pieces of a chunk, its frame (``[CLS]`` and ``[SEP]``) included.
        first: the number of the first chunk.
    """
    frame = torch.tensor(tokenizer(tokenizer.mask_token)["input_ids"])
    (at,) = (frame == tokenizer.mask_token_id).nonzero()
    before, after = frame[:at], frame[at + 1 :]
    none = [torch.zeros_like(before), torch.zeros_like(after)]
    chunks: list[Chunk] = []
    for document in documents:
        read = tokenizer(
            document.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        # A piece counts from where the one before it ends, so the space between is counted, too.
        ends = torch.tensor([0, *(end for _, end in read["offset_mapping"])]).cummax(0).values
        ids = torch.tensor(read["input_ids"], dtype=torch.long)
        n = max(1, math.ceil(len(ids) / (length - len(frame) + 1)))
        for part, size in zip(ids.tensor_split(n), ends.diff().tensor_split(n), strict=True):
            if len(part):
                framed = torch.cat([before, part, after]), torch.cat([none[0], size, none[1]])
                chunks.append(Chunk(*framed, first + len(chunks)))
    return chunks


def _readable(chunks: Sequence[Chunk], documents: Sequence[Document], tokenizer: Any) -> None:
    """Refuse a text in a script that the tokenizer does not know."""
    ids = torch.cat([chunk.input_ids for chunk in chunks])
    unknown = float((ids == tokenizer.unk_token_id).float().mean()) if tokenizer.unk_token else 0.0
    letters = sum(len(re.sub(r"\s", "", document.text)) for document in documents)
    if unknown > UNKNOWN or len(ids) > letters:
        why = (
            f"{unknown:.0%} of its pieces are {tokenizer.unk_token}"
            if unknown > UNKNOWN
            else f"it falls into {len(ids) / letters:.1f} pieces per letter"
        )
        raise TextError(
            f"The tokenizer of this model does not know the script of your text: {why}; choose a "
            "model for its language."
        )


class Texts(NamedTuple):
    """What is learned from and measured on, in chunks."""

    own: list[Chunk]
    own_held_out: list[Chunk]
    general: list[Chunk]
    general_held_out: list[Chunk]
    sha256: str
    """A fingerprint of the texts and their split."""
    summary: str
    """How much there is, in words."""


def prepare(
    documents: Sequence[Document], general: Sequence[Document], tokenizer: Any, length: int
) -> Texts:
    """Hold documents out and cut all into chunks.

    Args:
        documents: your own.
        general: those that show what is forgotten.
        tokenizer: of the model.
        length: the most pieces of a chunk.

    Raises:
        TextError: the tokenizer does not know the script of your text.
    """
    parts: list[list[Chunk]] = []
    digest = hashlib.sha256()
    split = [*hold_out(documents), *hold_out(general)]
    for part in split:
        parts.append(cut(part, tokenizer, length, sum(map(len, parts))))
        for document in part:
            digest.update(document.text.encode() + b"\0")
        digest.update(b"\1")
    _readable(parts[0] + parts[1], documents, tokenizer)
    own, kept = (sum(len(each.text) for each in part) for part in split[:2])
    n_pieces = sum(len(chunk.input_ids) for chunk in parts[0] + parts[1])
    summary = (
        f"{len(documents)} documents, {own + kept:,} characters, "
        f"{(own + kept) / n_pieces:.1f} per piece; {len(split[1])} documents with {kept:,} "
        "characters are held out"
    )
    return Texts(parts[0], parts[1], parts[2], parts[3], digest.hexdigest(), summary)


# Masks


class Masks:
    """Masks as ``DataCollatorForLanguageModeling`` draws them, from a chunk and a seed alone.

    The collator takes its random numbers from whatever was drawn before, so in two processes it
    would draw other masks than in one. Here each chunk brings its own generator.

    Args:
        tokenizer: of the model.
        mask_prob: the share of pieces that are asked for.
        seed: another seed, other masks.
    """

    def __init__(self, tokenizer: Any, mask_prob: float, seed: int) -> None:
        from transformers import DataCollatorForLanguageModeling

        self.collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=mask_prob)
        self.special = torch.tensor(tokenizer.all_special_ids)
        self.seed = seed

    def draw(self, chunk: Chunk, time: int) -> dict[str, Tensor]:
        """Return inputs and labels of a chunk the n-th time it is read, each ``(length,)``."""
        key = hashlib.sha256(f"{self.seed} {chunk.number} {time}".encode()).digest()
        self.collator.generator = torch.Generator().manual_seed(int.from_bytes(key[:8], "little"))
        special = torch.isin(chunk.input_ids, self.special)[None]
        inputs, labels = self.collator.torch_mask_tokens(chunk.input_ids[None].clone(), special)
        if not (labels != IGNORE).any():  # a short chunk is asked for one piece at least
            at = int((~special[0]).nonzero()[0])
            labels[0, at] = chunk.input_ids[at]
            inputs[0, at] = self.collator.tokenizer.mask_token_id
        return {"input_ids": inputs[0], "labels": labels[0]}


def padded(examples: Sequence[dict[str, Tensor]], pad: int) -> dict[str, Tensor]:
    """Pad examples to one length: ``input_ids``, ``labels`` and ``attention_mask``, (batch, n)."""

    def of(lines: list[Tensor], filler: int) -> Tensor:
        return pad_sequence(lines, batch_first=True, padding_value=filler)

    inputs = [example["input_ids"] for example in examples]
    return {
        "input_ids": of(inputs, pad),
        "labels": of([example["labels"] for example in examples], IGNORE),
        "attention_mask": of([torch.ones_like(line) for line in inputs], 0),
    }


# Training


@dataclass(frozen=True)
class Recipe:
    """How to go on training.

    Attributes:
        epochs: How often your text is read.
        batch_size: How many chunks of all processes make a step.
        length: The most pieces of a chunk.
        mask_prob: The share of pieces that are asked for.
        learning_rate: Of AdamW, at its highest.
        warmup: The share of the steps during which it rises; after them it falls to 0.
        weight_decay: How fast weights shrink.
        mix: The share of chunks that come from general text.
        seed: Of the order and the masks.
        steps: How many steps are taken; 0 for as many as the epochs need.
    """

    epochs: float = 3.0
    batch_size: int = 32
    length: int = 512
    mask_prob: float = 0.3
    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    mix: float = 0.0
    seed: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        for name, least, most in LIMITS:
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(
                    f"--{name.replace('_', '-')} is between {least:g} and {most:g}, not {value:g}."
                )


LIMITS = (
    ("epochs", 0.01, 10_000),
    ("batch_size", 1, 65_536),
    ("length", 16, 8_192),
    ("mask_prob", 0.01, 0.99),
    ("learning_rate", 1e-8, 1),
    ("warmup", 0, 1),
    ("weight_decay", 0, 10),
    ("mix", 0, 0.95),
    ("seed", 0, 2**31),
    ("steps", 0, 10**9),
)
"""The least and the most of what may be chosen."""


class Examples(torch.utils.data.Dataset[dict[str, Tensor]]):
    """All examples of a run in their order, masked: number k is the same whoever asks for it."""

    def __init__(self, texts: Texts, masks: Masks, recipe: Recipe) -> None:
        self.texts, self.masks, self.recipe = texts, masks, recipe
        n_own = len(texts.own)
        self.n_mixed = round(n_own * recipe.mix / (1 - recipe.mix)) if texts.general else 0
        self.per_epoch = n_own + self.n_mixed
        self._order: tuple[int, list[Chunk]] = (-1, [])

    def __len__(self) -> int:
        return self.steps * self.recipe.batch_size

    @property
    def steps(self) -> int:
        """How many steps the recipe takes."""
        n = math.ceil(self.recipe.epochs * self.per_epoch / self.recipe.batch_size)
        return self.recipe.steps or n

    @property
    def characters_per_step(self) -> float:
        """How many characters a step reads in the mean."""
        own, general = (
            sum(int(chunk.characters.sum()) for chunk in part) / max(1, len(part))
            for part in (self.texts.own, self.texts.general)
        )
        per_epoch = own * (self.per_epoch - self.n_mixed) + general * self.n_mixed
        return per_epoch / self.per_epoch * self.recipe.batch_size

    def __getitem__(self, k: int) -> dict[str, Tensor]:
        epoch, at = divmod(k, self.per_epoch)
        if self._order[0] != epoch:
            self._order = (epoch, self._ordered(epoch))
        return self.masks.draw(self._order[1][at], epoch)

    def _ordered(self, epoch: int) -> list[Chunk]:
        """Return the chunks of an epoch: shuffled, but with those of one length in one batch."""
        chance = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + epoch)

        def shuffled(items: list[Any]) -> list[Any]:
            return [items[i] for i in torch.randperm(len(items), generator=chance)]

        chunks = [*self.texts.own]
        while len(chunks) < self.per_epoch:
            chunks += shuffled(self.texts.general)[: self.per_epoch - len(chunks)]
        chunks, size = shuffled(chunks), self.recipe.batch_size
        at_once = size * BATCHES_AT_ONCE
        batches: list[list[Chunk]] = []
        for start in range(0, len(chunks), at_once):
            alike = sorted(chunks[start : start + at_once], key=lambda each: len(each.input_ids))
            batches += shuffled([alike[i : i + size] for i in range(0, len(alike), size)])
        return [chunk for batch in batches for chunk in batch]


class Costs(NamedTuple):
    """What the questions about each chunk cost."""

    nats: Tensor
    """Summed over the pieces that are asked for, shape ``(chunks,)``."""
    characters: Tensor
    """How many characters these pieces stand for, shape ``(chunks,)``."""

    @property
    def per_character(self) -> float:
        """Nats per character."""
        return float(self.nats.sum() / self.characters.sum())

    def less(self, before: Costs) -> tuple[float, float]:
        """Return the difference to an earlier measurement on the same questions, and its margin.

        The margin is two standard errors of a ratio of sums, from the differences of the chunks.
        """
        difference, n = self.nats - before.nats, len(self.nats)
        total = self.characters.sum()
        change = difference.sum() / total
        residuals = difference - change * self.characters
        error = (residuals.square().sum() * n / max(1, n - 1)).sqrt() / total
        return float(change), float(2 * error)


@torch.no_grad()
def costs(model: Any, chunks: Sequence[Chunk], masks: Masks, times: int = 1) -> Costs:
    """Measure what a model pays for fixed questions about chunks.

    Args:
        model: a masked language model of ``transformers``.
        chunks: what is asked about; of very many, the first 131 072 characters count.
        masks: draws the questions, the same ones at every call.
        times: how many draws of each chunk are asked.
    """
    enough = torch.tensor([int(chunk.characters.sum()) for chunk in chunks]).cumsum(0)
    chunks = [*chunks[: 1 + int((enough < MOST_HELD_OUT).sum())]]
    asked = [(i, masks.draw(chunk, -1 - t)) for i, chunk in enumerate(chunks) for t in range(times)]
    asked.sort(key=lambda each: len(each[1]["input_ids"]))
    nats, characters = torch.zeros(2, len(chunks), dtype=torch.float64)
    was_training = model.training
    model.eval()
    size = max(1, AT_ONCE // max(len(chunk.input_ids) for chunk in chunks))
    for start in range(0, len(asked), size):
        batch = asked[start : start + size]
        lines = padded([example for _, example in batch], masks.collator.tokenizer.pad_token_id)
        selected = lines["labels"] != IGNORE
        losses = losses_at(model, {name: part.to(model.device) for name, part in lines.items()})
        sizes = pad_sequence([chunks[i].characters for i, _ in batch], batch_first=True)
        rows = torch.tensor([i for i, _ in batch])[selected.nonzero()[:, 0]]
        nats.index_add_(0, rows, losses.double().cpu())
        characters.index_add_(0, rows, sizes[selected].double())
    model.train(was_training)
    return Costs(nats, characters)


def losses_at(model: Any, lines: dict[str, Tensor]) -> Tensor:
    """Return the loss at each position that is asked for, shape ``(|M|,)``.

    With ``sparse_prediction``, ModernBERT computes logits there alone.
    """
    selected = lines["labels"] != IGNORE
    logits = model(**lines).logits
    if logits.dim() == 3:
        logits = logits[selected]
    return cross_entropy(logits.float(), lines["labels"][selected], reduction="none")


class Adaptation:
    """A run that goes on with the training of a model; it is kept on disk whenever it stops.

    Args:
        model: the folder of a fill-mask model of ``transformers`` and its tokenizer.
        documents: your own texts.
        general: texts that show what is forgotten, and that may be mixed in.
        recipe: how to train. Its length becomes the model's own if that is less.
        folder: where the run is kept while it is not finished. A run that is there goes on if
            ``resume`` is true.
        resume: whether to go on with the run in the folder, with the recipe that it began with.

    Raises:
        ValueError: there is no such model, the tokenizer does not know the text's script, or the
            run in the folder is of another text.
    """

    def __init__(
        self,
        model: Path,
        documents: Sequence[Document],
        general: Sequence[Document],
        recipe: Recipe,
        folder: Path,
        *,
        resume: bool = False,
    ) -> None:
        need("Adapting a model", transformers=5, accelerate=1, tokenizers=0)
        self.folder, self.base = folder, model
        self.model, self.tokenizer = load_folder(model)
        kept = self._kept() if resume else {}
        recipe = Recipe(**kept["recipe"]) if kept else recipe
        recipe = replace(
            recipe, length=min(recipe.length, longest_line(self.model, self.tokenizer))
        )
        self.texts = prepare(documents, general, self.tokenizer, recipe.length)
        if kept and kept["sha256"] != self.texts.sha256:
            raise ValueError(
                f"The run in {folder} was begun with other texts; name the same ones, or move it "
                "away to begin anew."
            )
        masks = Masks(self.tokenizer, recipe.mask_prob, recipe.seed)
        self.examples = Examples(self.texts, masks, recipe)
        self.recipe = replace(recipe, steps=self.examples.steps)
        self.history = [Record(*record) for record in kept.get("history", [])]
        self.before = {
            name: Costs(*map(torch.tensor, cost)) for name, cost in kept.get("before", {}).items()
        }
        self.unmeasured = 0
        """For a curve that asks whether a measurement is due."""
        if hasattr(self.model.config, "sparse_prediction"):
            # ModernBERT's own switch: logits only where something is asked.
            self.model.sparse_prediction = True

    @property
    def step(self) -> int:
        """How many steps are done."""
        return self.history[-1].step if self.history else 0

    @property
    def seconds(self) -> float:
        """How long they took."""
        return self.history[-1].seconds if self.history else 0.0

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.step >= self.recipe.steps

    def measure(self, times: int = 1) -> dict[str, Costs]:
        """Return what held-out text costs now: ``your text`` and, if there is any, ``general``."""
        parts = {"your text": self.texts.own_held_out, "general text": self.texts.general_held_out}
        masks = self.examples.masks
        return {name: costs(self.model, part, masks, times) for name, part in parts.items() if part}

    def train(
        self,
        on_record: Callable[[Record], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
        *,
        progress: bool = False,
        say: Say = lambda _: None,
    ) -> None:
        """Train until the last step, or until somebody asks to stop; then the run is on disk.

        Args:
            on_record: called with the record of each step.
            stop: asked after each step whether to stop, as Ctrl-C does.
            progress: show a bar.
            say: is told what goes wrong while training continues.

        Raises:
            KeyboardInterrupt: after the step during which it was asked for.
            FloatingPointError: a loss is not finite.
            CheckpointError: the run could be kept nowhere.
        """
        if self.finished:
            return
        trainer = _trainer(self, on_record, stop, progress=progress, say=say)
        if not self.before and trainer.is_world_process_zero():
            self.before = self.measure()
        with held_signals() as asked_to_stop, quiet():
            trainer.watch.asked_to_stop = asked_to_stop
            last = _last_kept(self.folder) if self.history else None
            trainer.train(resume_from_checkpoint=str(last) if last else None)
            if kept := not self.finished and trainer.kept_in:
                elsewhere = "" if kept == self.folder else f", once it is moved to {self.folder}"
                say(
                    f"The run is kept in {kept}; to continue, add --resume to the command"
                    f"{elsewhere}."
                )

    def note(self, folder: Path) -> None:
        """Write beside a kept run what it takes to go on with it."""
        before = {name: [part.tolist() for part in cost] for name, cost in self.before.items()}
        kept = {
            "recipe": asdict(self.recipe),
            "sha256": self.texts.sha256,
            "before": before,
            "history": [tuple(record) for record in self.history],
        }
        (folder / NOTE).write_text(json.dumps(kept), encoding="utf-8")

    def _kept(self) -> dict[str, Any]:
        last = _last_kept(self.folder)
        if last is None:
            raise ValueError(f"There is no run in {self.folder}; leave out --resume to begin one.")
        kept: dict[str, Any] = json.loads((last / NOTE).read_text(encoding="utf-8"))
        return kept

    def save(self, out: Path, command: str = "") -> dict[str, Costs]:
        """Write the model, its tokenizer and a card into a new folder; return what it pays now."""
        after = self.measure()
        with whole(out, is_folder=True) as part, quiet():
            self.model.save_pretrained(part)
            self.tokenizer.save_pretrained(part)
            shutil.copymode(part / "config.json", part / "model.safetensors")  # it would be private
            (part / "README.md").write_text(self.card(after, command), encoding="utf-8")
        return after

    def table(self, after: dict[str, Costs]) -> str:
        """Return what was gained and what was forgotten, as a table in Markdown."""
        rows = ["| held out, nats per character | before | after | difference |"]
        rows.append("| --- | ---: | ---: | ---: |")
        for name, now in after.items():
            before = self.before[name]
            change, margin = now.less(before)
            rows.append(
                f"| {name} | {before.per_character:.3f} | {now.per_character:.3f} "
                f"| {change:+.3f} ± {margin:.3f} |"
            )
        return "\n".join(rows)

    def card(self, after: dict[str, Costs], command: str = "") -> str:
        """Return the model card: what this is, what was measured, what made it."""
        made = [("command", f"`{command}`")] * bool(command)
        made += [*asdict(self.recipe).items(), ("sha256 of the texts", self.texts.sha256)]
        return CARD.format(
            base=self.base.resolve().name,
            summary=self.texts.summary,
            table=self.table(after),
            rows="\n".join(f"| {name.replace('_', ' ')} | {value} |" for name, value in made),
        )


CARD = """\
---
library_name: transformers
pipeline_tag: fill-mask
---

# {base}, adapted

A masked language model, trained further with masked language modeling on {summary}.

## What was measured

{table}

The same questions before and after. The margin is two standard errors of the paired difference over
chunks; it holds for text like this, and for this one run. Nothing else was measured: neither a task
on top, nor what the model says of people.

## How it was made

| | |
| --- | --- |
{rows}
"""

NOTE = "adapt.json"
"""Written into a kept run last of all: without it, a run was not kept whole."""


def _last_kept(folder: Path) -> Path | None:
    """Return the latest run of a folder that was kept whole."""
    whole_ones = (note.parent for note in folder.glob(f"checkpoint-*/{NOTE}"))
    return max(whole_ones, key=lambda each: int(each.name.partition("-")[2]), default=None)


def _checked_loss(loss: float, step: int) -> None:
    """Refuse a loss that is not finite."""
    if not math.isfinite(loss):
        raise FloatingPointError(
            f"The loss is not finite at step {step}; take a lower --learning-rate."
        )


def _trainer(
    run: Adaptation,
    on_record: Callable[[Record], None],
    stop: Callable[[], bool],
    *,
    progress: bool,
    say: Say,
) -> Any:
    """Return the Trainer of ``transformers`` that takes the steps of a run."""
    from safetensors import SafetensorError
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

    class Watch(TrainerCallback):  # type: ignore[misc]
        """Record each step, and have the run kept once a minute and when it is asked to stop."""

        def __init__(self) -> None:
            self.asked_to_stop: Callable[[], bool] = lambda: False
            self.kept_at = self.begun = time.monotonic()
            self.seconds = run.seconds
            self.bar = tqdm(
                total=run.recipe.steps,
                initial=run.step,
                unit="step",
                disable=not progress,
                leave=False,
            )

        def on_step_end(self, _arguments: Any, state: Any, control: Any, **_: Any) -> Any:
            now = time.monotonic()
            loss, due = trainer.in_all(
                trainer.losses.pop(),
                now - self.kept_at >= SAVE_EVERY and state.is_world_process_zero,
            )
            _checked_loss(loss, state.global_step)
            characters = round(state.global_step * run.examples.characters_per_step)
            seconds = self.seconds + now - self.begun
            record = Record(state.global_step, characters, seconds, loss, None)
            run.history.append(record)
            on_record(record)
            self.bar.set_postfix_str(f"loss {loss:.2f} nats per piece", refresh=False)
            self.bar.update()
            (asked,) = trainer.in_all(self.asked_to_stop() or stop())
            control.should_training_stop |= asked > 0
            control.should_save = (asked > 0 and not run.finished) or due > 0
            if due:
                self.kept_at = now
            return control

        def on_train_end(self, *_: Any, **__: Any) -> None:
            self.bar.close()

    class Adapter(Trainer):  # type: ignore[misc]
        """Logits where something is asked, and a kept run that is whole or not there."""

        watch: Watch
        losses: list[float]
        kept_in: Path | None = None

        def in_all(self, *mine: float) -> list[float]:
            """Return the sums of numbers over all processes."""
            numbers = torch.tensor([float(each) for each in mine], device=self.args.device)
            return self.accelerator.reduce(numbers, "sum").tolist()

        def compute_loss(
            self,
            model: Any,
            inputs: dict[str, Tensor],
            return_outputs: bool = False,  # noqa: ARG002 - as the Trainer calls it
            num_items_in_batch: Any = None,
        ) -> Any:
            # A mean over the pieces of all processes, whether or not a model's own loss is one.
            loss = losses_at(model, inputs).sum() / num_items_in_batch
            self.losses.append(float(loss.detach()))
            return loss * self.accelerator.num_processes

        def _save_checkpoint(self, model: Any, trial: Any) -> None:
            for folder in (run.folder, None):
                folder = folder or Path(tempfile.mkdtemp(prefix="cloze-")) / run.folder.name
                kept = folder / f"checkpoint-{self.state.global_step}"
                self.args.output_dir = str(folder)
                try:
                    super()._save_checkpoint(model, trial)
                    if self.is_world_process_zero():
                        run.note(kept)
                        for older in folder.glob("checkpoint-*"):
                            if older != kept:
                                shutil.rmtree(older, ignore_errors=True)
                except (OSError, RuntimeError, SafetensorError) as error:
                    shutil.rmtree(kept, ignore_errors=True)
                    say(f"{kept} cannot be written: {error}".rstrip(".") + ".")
                    if not self.control.should_training_stop:
                        say("Training continues.")
                        break
                else:
                    self.kept_in = folder
                    break

    recipe = run.recipe
    on_gpu = torch.accelerator.is_available()
    arguments = TrainingArguments(
        output_dir=str(run.folder),
        max_steps=recipe.steps,
        per_device_train_batch_size=1,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        warmup_steps=math.ceil(recipe.warmup * recipe.steps),
        lr_scheduler_type="linear",
        train_sampling_strategy="sequential",  # the examples come in the order of the run
        bf16=on_gpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=recipe.seed,
    )
    share, left = divmod(recipe.batch_size, arguments.world_size)
    if left:
        raise ValueError(
            f"--batch-size {recipe.batch_size} cannot be shared out among {arguments.world_size} "
            "processes; choose a multiple."
        )
    arguments.per_device_train_batch_size = share
    pad = run.tokenizer.pad_token_id
    trainer = Adapter(
        model=run.model,
        args=arguments,
        train_dataset=run.examples,
        data_collator=lambda examples: padded(examples, pad),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.model_accepts_loss_kwargs = True  # so that the pieces of all processes are counted
    trainer.losses = []
    trainer.watch = Watch()
    if not trainer.is_world_process_zero():
        trainer.watch.bar.disable = True
    trainer.add_callback(trainer.watch)
    return trainer


# The command


def adapt(options: Namespace, say: Say) -> None:
    """Go on training a model as the command says; however it ends, the run is kept.

    Raises:
        ValueError: a text, the model or the place for the new one cannot be used.
        KeyboardInterrupt: it was asked to stop.
    """
    need("Adapting a model", transformers=5, accelerate=1, tokenizers=0)
    out = followed(options.out)
    kept = out.with_name(f"{out.name}.run")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} exists; name a new folder.")
    if kept.exists() and not options.resume:
        raise ValueError(
            f"{kept} holds an unfinished run; add --resume to continue it, or delete it to begin "
            "anew."
        )
    chosen = {name: getattr(options, name) for name, *_ in LIMITS}
    recipe = Recipe(**{name: value for name, value in chosen.items() if value is not None})
    documents = read_documents(options.texts, say)
    general = read_documents(options.general or [GENERAL])
    run = Adaptation(options.model, documents, general, recipe, kept, resume=options.resume)
    _room(out, run)
    leads = os.environ.get("RANK", "0") == "0"  # as torchrun numbers processes
    if leads:
        say(f"{run.texts.summary}.")
    with reserved(out) if leads else nullcontext():
        run.train(progress=leads, say=say if leads else lambda _: None)
        if not run.finished:
            raise KeyboardInterrupt
        if leads:
            with held_signals():
                after = run.save(out, options.command)
            print(run.table(after))
            print(f"{out}: saved after {run.step} steps", flush=True)
            shutil.rmtree(kept, ignore_errors=True)


def _room(out: Path, run: Adaptation) -> None:
    """Refuse a disk without room for the run and the model."""
    out.parent.mkdir(parents=True, exist_ok=True)
    bytes_of_model = sum(each.nbytes for each in run.model.parameters())
    needed, free = STATE_COPIES * bytes_of_model, shutil.disk_usage(out.parent).free
    if free < needed:
        raise ValueError(
            f"The run needs {needed / 10**6:,.0f} MB beside {out} and {free / 10**6:,.0f} MB are "
            "free; make room, or name another place."
        )
