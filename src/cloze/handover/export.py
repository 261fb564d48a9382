"""Export: a checkpoint as a folder that Hugging Face's ``transformers`` loads."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cloze.arguments import FilePath, checked
from cloze.checkpoint import CHECKPOINTS, SHIPPED, CheckpointError, load_guesser, provenance
from cloze.encoder import EncoderConfig
from cloze.files import FileError, written
from cloze.handover.packages import need, quiet
from cloze.heads import CausalLM, MaskedLM
from cloze.prediction.lines import fill
from cloze.prediction.predictors import MaskedPredictor
from cloze.prediction.symbols import symbols_of
from cloze.tokenizer import QUOTES, SEP, START, WORD
from cloze.tokenizer import Tokenizer as WordTokenizer
from cloze.vocabulary import BEGIN, END, GAP, MASK, PAD, WRITTEN_OUT, TextError, Vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

UNKNOWN = "[UNK]"
"""Stands for symbols that the vocabulary lacks."""
NEVER = -100.0
"""The logit of a symbol that is never the answer: finite, so that training goes on."""


@checked
def to_hugging_face(folder: FilePath, checkpoint: FilePath = SHIPPED) -> None:
    """Write a masked model as a folder that ``transformers`` loads.

    ``AutoModelForMaskedLM``, ``AutoTokenizer`` and ``pipeline("fill-mask")`` take it, without its
    own code after ``import cloze.handover.huggingface``, elsewhere with ``trust_remote_code=True``.
    Its ids are the checkpoint's, with ``[PAD]`` and ``[UNK]`` after them if they are not among
    those (:func:`with_room`).

    Args:
        folder: a new or an empty one; it is written completely or not at all.
        checkpoint: the model; by default the one that ships with the series.

    Raises:
        ValueError: a package is missing, the model is causal, the checkpoint cannot be used, or the
            folder cannot be written.
    """
    need("Exporting", transformers=5, tokenizers=0)
    model, made_by = load_guesser(checkpoint), provenance(checkpoint)
    if isinstance(model, CausalLM):
        raise CheckpointError(
            f"{checkpoint} says what comes next, and for Hugging Face a model that fills gaps is "
            "exported; name a masked one."
        )
    vocabulary, state = with_room(model)
    config = asdict(model.config) | {"vocab_size": len(vocabulary)}
    with new_folder(Path(folder)) as part:
        from cloze.handover.huggingface import ClozeConfig, ClozeForMaskedLM

        exported = ClozeForMaskedLM(ClozeConfig(**config, pad_token_id=vocabulary.pad_id))
        exported.load_state_dict(state)
        with quiet():
            exported.save_pretrained(part)
        _add_code(part)
        shutil.copymode(part / "config.json", part / "model.safetensors")  # it would be private
        tokenizer(vocabulary, model.config).save_pretrained(part)
        (part / "README.md").write_text(_card(model, made_by, checkpoint), encoding="utf-8")


def _add_code(folder: Path) -> None:
    """Copy the model's source files into a folder, where they import each other and not cloze."""
    here = Path(__file__).parent
    for module in (here / "huggingface.py", here.parent / "encoder.py"):
        text = module.read_text("utf-8").replace("from cloze.encoder", "from .encoder")
        (folder / module.name).write_text(text, encoding="utf-8")


def with_room(model: MaskedLM) -> tuple[Vocabulary, dict[str, Tensor]]:
    """Return a model's vocabulary with ``[PAD]`` and ``[UNK]`` in it, and weights that fit it.

    All earlier ids and their logits stay. Nobody reads ``[PAD]``, so its vector is zero. ``[UNK]``
    stands for something unknown, as ``[MASK]`` does, so it gets a copy of that vector. Neither is
    ever the answer.
    """
    vocabulary, state = model.vocabulary, model.state_dict()
    unused = model.config.vocab_size - len(vocabulary)  # rows that have no name
    vocabulary = vocabulary.with_specials(*(f"[unused{i}]" for i in range(unused)))
    vectors = state["encoder.embedding.weight"]
    read_as = {PAD: torch.zeros_like(vectors[0]), UNKNOWN: vectors[vocabulary.mask_id]}
    added = [special for special in read_as if special not in vocabulary.specials]
    rows = torch.stack([read_as[special] for special in added])
    never = torch.full((len(added),), NEVER)
    state["encoder.embedding.weight"] = torch.cat([vectors, rows])
    state["head.weight"] = torch.cat([state["head.weight"], torch.zeros_like(rows)])
    state["head.bias"] = torch.cat([state["head.bias"], never])
    return vocabulary.with_specials(*added), state


def tokenizer(vocabulary: Vocabulary, config: EncoderConfig) -> PreTrainedTokenizerFast:
    """Make the tokenizer of a vocabulary that has ``[PAD]`` and ``[UNK]``.

    Characters are normalised as by :func:`cloze.vocabulary.normalise`, with two exceptions: spaces
    at the ends of a text stay, and digits and letters of other scripts become ``[UNK]`` rather than
    a space. Words are read as :func:`cloze.reading.read_words` does, between ``[BEGIN]`` and
    ``[END]``, and pieces of words as :class:`cloze.prediction.symbols.WordPieces` does, between two
    ``[SEP]``.
    """
    from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import BPE, WordLevel
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(WordLevel(vocabulary.ids, unk_token=UNKNOWN))
    if of_pieces(vocabulary):
        merges = [*WordTokenizer.of(vocabulary).merges]
        backend = Tokenizer(BPE(vocab=vocabulary.ids, merges=merges, unk_token=UNKNOWN))
        accents = "".join(filter(unicodedata.combining, map(chr, range(sys.maxunicode))))
        signs = {chr(curly): chr(plain) for curly, plain in QUOTES.items()}
        backend.normalizer = normalizers.Sequence(
            [
                *(normalizers.Replace(sign, plain) for sign, plain in signs.items()),
                normalizers.NFKD(),
                normalizers.Replace(Regex(f"[{accents}]"), ""),  # StripAccents strips others, too
                normalizers.Lowercase(),
            ]
        )
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(WORD), "removed", invert=True),
                pre_tokenizers.Metaspace(START, "always", split=False),
            ]
        )
        backend.decoder = decoders.Metaspace(START)
    elif vocabulary.separator:
        word = Regex(r"[\p{L}\p{N}]+")
        backend.normalizer = normalizers.Lowercase()
        backend.pre_tokenizer = pre_tokenizers.Split(word, "removed", invert=True)
    else:
        letters = {"ß": "ss"} | {chr(code): text for code, text in WRITTEN_OUT.items()}
        replaced = {
            r"['’]": "",
            r"\r\n?": "\n",
            r"[^\n\p{L}\p{N}]+": " ",
            r" ?\n[\n ]*": "\n",
            **letters,
        }
        backend.normalizer = normalizers.Sequence(
            [
                normalizers.NFKD(),
                normalizers.StripAccents(),
                normalizers.Lowercase(),
                *(normalizers.Replace(Regex(old), new) for old, new in replaced.items()),
            ]
        )
        backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        backend.decoder = decoders.Fuse()
    roles = {"mask_token": MASK, "pad_token": PAD, "unk_token": UNKNOWN}
    ends = (SEP, SEP) if of_pieces(vocabulary) else (BEGIN, END)
    if {*ends} <= set(vocabulary.specials):
        roles |= {"bos_token": ends[0], "eos_token": ends[1]}
        frame = [(special, vocabulary.ids[special]) for special in dict.fromkeys(ends)]
        backend.post_processor = processors.TemplateProcessing(
            single=f"{ends[0]} $A {ends[1]}", special_tokens=frame
        )
    others = [special for special in vocabulary.specials if special not in roles.values()]
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        **roles,
        extra_special_tokens=others,
        model_max_length=config.max_len,
        model_input_names=["input_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
    )


def of_pieces(vocabulary: Vocabulary) -> bool:
    """Whether the symbols are pieces of words; special symbols may have been added."""
    return SEP in vocabulary.specials and BEGIN not in vocabulary.specials


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to write to, which gets the name ``path`` when the block ends without error.

    Raises:
        FileError: something is there already, or it cannot be written.
    """
    with written(path) as part:
        linked = path.is_symlink()
        empty = path.is_dir() and not linked and not any(path.iterdir())
        if (path.exists() or linked) and not empty:
            raise FileError(f"{path} exists; name a new folder.")
        part.mkdir()  # now rather than after the work
        yield part
        if empty:
            path.rmdir()
        part.rename(path)


def _card(model: MaskedLM, made_by: Mapping[str, Any], checkpoint: Path | str) -> str:
    """Return the model card."""
    path = Path(checkpoint)
    ours = path.resolve().parent == CHECKPOINTS.resolve()
    unit = symbols_of(model.vocabulary).unit
    example, answer = _example(model)
    return CARD.read_text(encoding="utf-8").format(
        licence_tag="license: cc0-1.0\n" if ours else "",
        name=path.stem,
        unit=unit,
        n_parameters=sum(tensor.numel() for tensor in model.parameters()),
        n_ordinary=model.vocabulary.n_ordinary,
        max_len=model.config.max_len,
        sight=SIGHT[model.config.direction],
        example=example,
        answer=answer,
        reading=READING[unit],
        rows="\n".join(
            f"| {name.replace('_', ' ')} | {f'`{value}`' if isinstance(value, str) else value} |"
            for name, value in made_by.items()
        ),
        licence=LICENCES[unit] if ours else "Whoever trained the weights says under which licence.",
    )


def _example(model: MaskedLM) -> tuple[str, str]:
    """Return a line with gaps that the model can read, and how the model fills them."""
    predictor = MaskedPredictor(model)
    line = CHARACTERS_EXAMPLE[: predictor.max_len].rstrip()
    if of_pieces(model.vocabulary):
        line = PIECES_EXAMPLE
    elif model.vocabulary.separator:
        line = WORDS_EXAMPLE
        try:
            predictor.symbols.read(line, predictor.max_len)
        except TextError:  # it is of another world, whose words alone are known here
            line = " ".join([GAP] * min(3, predictor.max_len))
    return line.replace(GAP, MASK), fill(line, model, at_once=True).text


CARD = Path(__file__).with_name("card.md")
SIGHT = {"both": "on both sides of", "left": "left of", "right": "right of"}
CHARACTERS_EXAMPLE = "_hey walked thr_ugh the ga_den"
WORDS_EXAMPLE = "on friday anna took her blue _ to school because it was raining again"
PIECES_EXAMPLE = "they sailed to the united _ of america"
READING = {
    "piece": """The tokenizer makes letters small, folds accents, cuts words into pieces (byte-pair
encoding), drops signs that it does not know, and puts the line between two `[SEP]`.""",
    "character": """The tokenizer knows newline, space and a–z: it
makes letters small, folds accents, drops apostrophes and turns other punctuation into spaces; a
digit or a letter of another script is `[UNK]`.""",
    "word": """The tokenizer makes letters small, leaves
punctuation out and puts the line between `[BEGIN]` and `[END]`; a word that is not of this world is
`[UNK]`.""",
}
OUR_LICENCE = """\
The weights and the text that they were trained on are in the public domain (CC0-1.0): the text was
written for the series."""
LICENCES = {
    "character": OUR_LICENCE,
    "word": OUR_LICENCE,
    "piece": """\
The weights are in the public domain (CC0-1.0). They were trained on the series' own text (CC0), on
old novels in the public domain (Project Gutenberg), school books (OpenStax, Rice University, CC BY
4.0), picture-book stories (African Storybook, Pratham Books, CC BY 4.0 or freer) and sentences of
Mozilla Common Voice (CC0). Cloze's data/README.md lists these texts and their licences.""",
}
