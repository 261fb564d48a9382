"""Models of word pieces: a fill-mask model of ``transformers``, from a folder, as a predictor.

Two lines show it in the explorer::

    from cloze.handover.pieces import PiecePredictor
    MaskExplorer(PiecePredictor("my_folder"), "the cat sat on the _")

All that is read lies in the folder: nothing is downloaded, none of its code is run, and weights
come from safetensors files only, because reading the older format can run code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cloze.arguments import FilePath, checked, shown
from cloze.handover.packages import need, quiet
from cloze.inside import anatomy
from cloze.prediction.predictors import Opened, Predictor
from cloze.prediction.symbols import Symbols
from cloze.vocabulary import GAP, MASK, TextError, Vocabulary, counted

OPAQUE = ArithmeticError | AttributeError | JSONDecodeError | LookupError | RuntimeError | TypeError
"""Errors whose words say nothing to somebody who wants to load a model."""
MOST_LAYERS = 1_000
LONGEST = 128
"""The most pieces of a line: occlusion reads it once for each piece."""
LOGITS_AT_ONCE = 2**24
"""The most logits of a batch: 64 MB."""
NAMELESS = 128
"""How many rows a model may have beyond its tokenizer's, or 1% of them if that is more: sizes are
often rounded up for speed."""

WHITE = str.maketrans(" \n\t", "␣↵⇥")


# What lines are made of


@dataclass(frozen=True)
class Pieces(Symbols):
    """The pieces of a tokenizer of ``transformers``; a gap stands for one piece.

    A piece is written as its tokenizer writes it, with ``##`` where it continues a word, but with
    visible white space: "␣the" begins with a space, whether its tokenizer writes ``Ġ`` or ``▁``.
    A piece whose name is taken, such as "_", gets its id: "_·1035".
    """

    tokenizer: Any = field(compare=False, repr=False)
    order: Tensor = field(compare=False, repr=False)
    """The tokenizer's id for each id of the vocabulary, shape ``(|V|,)``."""

    unit = "piece"
    framed = 0

    @classmethod
    def of(cls, tokenizer: Any) -> Pieces:
        """Return the pieces of a tokenizer that has a mask token.

        The tokenizer's special tokens are never an answer, except the one for unknown text.
        """
        from transformers.convert_slow_tokenizer import bytes_to_unicode

        tokens = dict(sorted((i, token) for token, i in tokenizer.get_vocab().items()))
        mask = tokenizer.mask_token_id
        special = {*tokenizer.all_special_ids} - {tokenizer.unk_token_id, mask}
        mark = "".join(tokenizer.tokenize("a a"))
        byte_of = {}
        if "Ġ" in mark:
            byte_of = {sign: byte for byte, sign in bytes_to_unicode().items()}
        taken, names = {GAP, MASK, ""}, {mask: MASK}
        for i, token in tokens.items():
            name = _name(token, byte_of, "▁" if "▁" in mark else " ")
            names.setdefault(i, name if name not in taken else f"{name}·{i}")
            taken.add(names[i])
        ordinary = [i for i in tokens if i not in special and i != mask]
        order = [*ordinary, mask, *(i for i in tokens if i in special)]
        named = [names[i] for i in order]
        vocabulary = Vocabulary(tuple(named[: len(ordinary)]), tuple(named[len(ordinary) :]))
        return cls(vocabulary, tokenizer, torch.tensor(order))

    @cached_property
    def _ids(self) -> dict[int, int]:
        """The vocabulary's id for each id of the tokenizer."""
        return {theirs: ours for ours, theirs in enumerate(self.order.tolist())}

    @cached_property
    def _space_begins(self) -> bool:
        """Whether a space marks the beginning of a word; otherwise ``##`` marks a continuation."""
        return any(symbol.startswith("␣") for symbol in self.known)

    def _begins(self, symbol: str) -> bool:
        begun = symbol == GAP or symbol.startswith("␣")
        return begun if self._space_begins else not symbol.startswith("##")

    def _split(self, text: str) -> tuple[str, ...]:
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        symbols = [self.vocabulary.symbols[self._ids[i]] for i in ids]
        return tuple(GAP if symbol == MASK else symbol for symbol in symbols)

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Split a line into pieces; ``_``, ``[MASK]`` and the tokenizer's mask token are gaps."""
        mask = self.tokenizer.mask_token
        gap = "|".join(map(re.escape, (mask, MASK, GAP)))
        line = self._split(re.sub(gap, lambda _: mask, text, flags=re.IGNORECASE))
        if not line:
            raise TextError("The line is empty; type some words, and _ for every gap.")
        for symbol in line:
            if symbol in self.vocabulary.specials:
                raise TextError(
                    f"{symbol} is a special token of this model and not text; leave it out."
                )
        if len(line) > max_len:
            raise TextError(
                f"The line has {counted(len(line), self.unit)} and the model reads {max_len}; "
                "shorten it."
            )
        return line, ""

    def read_symbol(self, typed: object) -> str:
        """Read a piece by its name, or a word that is one piece; try small letters last.

        Raises:
            ValueError: it is not one piece.
        """
        text = typed if isinstance(typed, str) else ""
        for name in (text, text.replace(" ", "␣"), f"␣{text}", text.lower()):
            if text and self.vocabulary.ids.get(name, len(self.known)) < len(self.known):
                return name
        line = self._split(text)
        parts = f": the tokenizer splits it into {' '.join(line):.60}" if len(line) > 1 else ""
        raise ValueError(f"A gap holds one {self.unit}, not {shown(typed)}{parts}.")

    def write(self, line: Sequence[str]) -> str:
        """Write a line as text; read again, it is the same line."""
        theirs = self.order[self.input_ids(line)]
        text = self.tokenizer.decode(theirs, clean_up_tokenization_spaces=False)
        mask = self.tokenizer.mask_token
        token = self.tokenizer.added_tokens_decoder.get(self.tokenizer.mask_token_id)
        if token is not None and token.lstrip:  # the space before it belongs to it
            text = re.sub(rf"(?<=\S){re.escape(mask)}", f" {mask}", text)
        return text.replace(mask, GAP)

    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of each word: its first piece and those that continue it."""
        starts = [i for i, symbol in enumerate(line) if i == 0 or self._begins(symbol)]
        return [range(*ends) for ends in zip(starts, [*starts[1:], len(line)], strict=True)]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of a line, shape ``(length,)``; :class:`PieceModel` adds the frame."""
        ids = self.vocabulary.ids
        return torch.tensor([ids[MASK if symbol == GAP else symbol] for symbol in line])


def _name(token: str, byte_of: Mapping[str, int], space: str) -> str:
    """Write a token so that all of it is visible; in some tokenizers, each sign is a byte."""
    text = token.replace(space, " ")
    if byte_of.keys() >= {*token}:
        text = bytes(byte_of[sign] for sign in token).decode(errors="backslashreplace")
    return "".join(
        sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text.translate(WHITE)
    )


def frame_of(tokenizer: Any) -> tuple[Tensor, Tensor]:
    """Return the ids that a tokenizer puts before and after a line."""
    framed = torch.tensor(tokenizer(tokenizer.mask_token)["input_ids"])
    at, *more = (framed == tokenizer.mask_token_id).nonzero()[:, 0].tolist() or [0, 0]
    if more:
        raise ValueError("its tokenizer does not leave its own mask token whole")
    return framed[:at], framed[at + 1 :]


# The model


class PieceModel:
    """A masked language model of ``transformers`` that reads lines of :class:`Pieces`.

    Args:
        model: it returns an object with ``logits``.
        pieces: what its lines are made of.
    """

    def __init__(self, model: nn.Module, pieces: Pieces) -> None:
        self.model, self.pieces, self.vocabulary = model, pieces, pieces.vocabulary
        self.before, self.after = frame_of(pieces.tokenizer)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions of ``(batch, length)``: ``(|M|, |V|)``."""
        at_once = max(1, LOGITS_AT_ONCE // (input_ids.shape[1] * len(self.vocabulary)))
        batches = zip(*(torch.split(each, at_once) for each in (input_ids, selected)), strict=True)
        inside = slice(len(self.before), len(self.before) + input_ids.shape[1])
        logits = [
            self.model(input_ids=self.framed(lines)).logits[:, inside][chosen]
            for lines, chosen in batches
        ]
        return torch.cat(logits)[:, self.pieces.order]

    def framed(self, lines: Tensor) -> Tensor:
        """Return the tokenizer's ids of lines ``(batch, length)``, with the frame around them."""
        before, after = (end.expand(len(lines), -1) for end in (self.before, self.after))
        return torch.cat([before, self.pieces.order[lines], after], dim=1)


class PiecePredictor(Predictor):
    """A fill-mask model of ``transformers`` from a folder: BERT, RoBERTa, ModernBERT and others.

    Its probabilities are those of ``transformers`` without special tokens, which are never an
    answer in the series; the rest is scaled to sum to 1.

    Args:
        folder: written by ``save_pretrained`` of a model and of its tokenizer.
        name: shown beside its answers; by default the name of the folder.

    Raises:
        ValueError: ``transformers`` is missing, or the folder has no such model.
    """

    model: PieceModel
    symbols: Pieces
    tried_first = 16

    @checked
    def __init__(self, folder: FilePath, name: str = "") -> None:
        need("Reading a model of transformers", transformers=5)
        theirs, tokenizer = load_folder(folder, "eager")  # the other ways return no attention
        theirs.requires_grad_(False)
        model = PieceModel(theirs, Pieces.of(tokenizer))
        longest = longest_line(theirs, tokenizer) - len(model.before) - len(model.after)
        name = name or Path(folder).resolve().name
        super().__init__(model, model.pieces, min(LONGEST, longest), name)

    def opened(self, line: Sequence[str], gaps: Iterable[int]) -> Opened | None:
        """Return the model and its input, to look inside; None for an unknown architecture."""
        ids = self.model.framed(self._masked(line, gaps)[None])  # (1, length with its frame)
        try:
            anatomy(self.model.model)
        except ValueError:
            return None
        ordinary = self.symbols.order[: self.symbols.vocabulary.n_ordinary]
        return Opened(self.model.model, ids, len(self.model.before), ordinary)


# A folder


def load_folder(folder: FilePath, attention: str | None = None) -> tuple[Any, Any]:
    """Return the fill-mask model and the tokenizer of a folder, as ``transformers`` has them.

    Args:
        folder: written by ``save_pretrained`` of both.
        attention: the way to compute it; by default the fastest.

    Raises:
        ValueError: the folder has no such model.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ValueError(
            f"There is no folder {path}; check the path, or get a model first with "
            "hf download NAME --local-dir FOLDER."
        )
    pickled = next(path.glob("pytorch_model*.bin"), None)
    if pickled and not any(path.glob("*.safetensors")):
        raise ValueError(
            f"{path} has its weights only in {pickled.name}, and reading such a file can run code; "
            "load it where you trust it, and save it again with save_pretrained, as safetensors."
        )
    try:
        with quiet():
            return _loaded(path, attention)
    except Exception as error:  # whatever the libraries raise becomes one sentence
        reason = " ".join(str(error).strip().partition("\n")[0].split())
        if isinstance(error, OPAQUE):
            reason = "its files do not fit together, or one of them is damaged"
        raise ValueError(
            f"{path} has no fill-mask model that can be read: {reason.rstrip('.:')[:300]}."
        ) from None


def _loaded(folder: Path, attention: str | None) -> tuple[Any, Any]:
    from transformers import (
        MODEL_FOR_MASKED_LM_MAPPING,
        AutoConfig,
        AutoModelForMaskedLM,
        AutoTokenizer,
    )

    import cloze.handover.huggingface  # noqa: F401 - makes our own architecture known

    offline = {"local_files_only": True, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(folder, **offline)
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING or getattr(config, "is_decoder", False):
        raise ValueError(f"a model of the kind {config.model_type} does not fill gaps")
    if getattr(config, "num_hidden_layers", 0) > MOST_LAYERS:
        raise ValueError(f"it has more than {MOST_LAYERS:,} layers")
    tokenizer = AutoTokenizer.from_pretrained(folder, **offline)
    model, loading = AutoModelForMaskedLM.from_pretrained(
        folder,
        **offline,
        use_safetensors=True,
        output_loading_info=True,
        dtype=torch.float32,
        attn_implementation=attention,
    )
    for name in sorted(loading["missing_keys"]):
        raise ValueError(
            f"it has no weights called {name}, so it was saved for something else than filling gaps"
        )
    if tokenizer.mask_token is None:
        raise ValueError("its tokenizer has no mask token")
    # Lines of a batch begin at the same position, and the model is told what is padding.
    tokenizer.padding_side, tokenizer.model_input_names = "right", ["input_ids", "attention_mask"]
    rows, ids = model.config.vocab_size, tokenizer.get_vocab().values()
    if max(ids) >= rows or rows - len(ids) > max(NAMELESS, rows // 100):
        raise ValueError(
            f"its tokenizer has {len(ids):,} pieces and the model {rows:,}, so they do not belong "
            "together"
        )
    if longest_line(model, tokenizer) <= sum(map(len, frame_of(tokenizer))):
        raise ValueError("it reads no line of a single piece")
    return model.eval(), tokenizer


def longest_line(model: nn.Module, tokenizer: Any) -> int:
    """Return how many pieces the model can read; learned positions may begin after padding."""
    places = [
        module.num_embeddings - (-1 if module.padding_idx is None else module.padding_idx) - 1
        for name, module in model.named_modules()
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding)
    ]
    configured = getattr(model.config, "max_position_embeddings", None) or math.inf
    return int(min(tokenizer.model_max_length, configured, *places))
