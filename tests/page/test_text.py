"""A text of one's own on the page against Python: split, digest, sentences, baselines."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from cloze.baselines import baseline_losses
from cloze.corpus import MOST_HELD_OUT, Corpus
from cloze.masking import held_out_batch
from cloze.vocabulary import TextError
from tests.page.node import Node

READ = """async ({ path, baselines }) => {
  try {
    const raw = await readText(new Blob([await bytes(path)]), path);
    const corpus = await corpusOf(raw, path, 64);
    const { exports } = new WebAssembly.Instance(module);
    const asked = mask(corpus.heldOut, 0.15, 28, new Generator(exports));
    return {
      ...corpus,
      text: [...corpus.text],
      heldOut: [...corpus.heldOut],
      baselines: baselines && baselineLosses(corpus.text, asked, 64, 28, new Generator(exports)),
    };
  } catch (error) {
    return { refused: error.message };
  }
}"""


def read(node: Node, path: Path, *, baselines: bool = False) -> dict[str, Any]:
    """Let the page read a file."""
    found: dict[str, Any] = node.evaluate(READ, {"path": str(path), "baselines": baselines})
    return found


def drawn(seed: int, length: int) -> str:
    """Draw a text of words, lines, accents, signs and other scripts."""
    draw = random.Random(seed)
    symbols = [*"aaeeiimmnorst" * 4, *"ÉéßﬁŒÅ\u0301’'.,-0٣жё漢😀\t\r", *"\n " * 9, "\r\n", "\u2028"]
    return "".join(draw.choices(symbols, k=length))


@pytest.mark.parametrize("window_lengths", [2, 3, 40, 400])
def test_a_text_is_split_as_python_splits_it(
    window_lengths: int, node: Node, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{seed}.txt" for seed in range(6)]
    for seed, path in enumerate(paths):
        text = drawn(seed, 120 * window_lengths)
        path.write_bytes((text.replace("\n", " ") if seed == 1 else text).encode())
    for path in paths:
        found = read(node, path)
        if "refused" in found:
            with pytest.raises(TextError, match=re.escape(found["refused"])):
                Corpus.from_file(path)
            continue
        corpus = Corpus.from_file(path)
        assert found["sha256"] == corpus.sha256
        assert found["report"] == corpus.report
        assert found["text"] == corpus.train_ids.tolist()
        assert found["heldOut"] == corpus.held_out_windows().flatten().tolist()
        kept = tmp_path / "kept.txt"
        kept.write_text(found["normalised"], encoding="utf-8", newline="")
        assert Corpus.from_file(kept).sha256 == corpus.sha256


def test_baselines_are_python_s_and_no_more_is_held_out_than_in_python(
    node: Node, tmp_path: Path
) -> None:
    path = tmp_path / "long.txt"  # so long that an epoch counts a part, and not all is held out
    words = ["the", "cat", "sat", "on", "a", "mat", "while", "old", "men", "walked", "slowly"]
    draw = random.Random(0)
    path.write_text(" ".join(draw.choices(words, k=300_000)), encoding="utf-8")
    corpus = Corpus.from_file(path)
    held_out = corpus.held_out_windows()
    assert MOST_HELD_OUT - 10_000 < held_out.numel() <= MOST_HELD_OUT
    assert len(corpus.train_ids) > 2**20
    found = read(node, path, baselines=True)
    assert found["report"] == corpus.report
    assert found["heldOut"] == held_out.flatten().tolist()
    losses = baseline_losses(corpus, held_out_batch(held_out))
    del losses["left bigram"]
    assert found["baselines"] == pytest.approx(losses, abs=1e-5)


def test_a_bad_text_is_answered_by_python_s_sentence(node: Node, tmp_path: Path) -> None:
    texts = {
        "empty": b"",
        "blank": b" \n\x1c\xc2\xa0",
        "a line": b"one line is too little",
        "other scripts": "только кириллица\n".encode() * 99,
        "latin-1": "café\n".encode("latin-1") * 99,
        "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9,
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.write_bytes(text)
        with pytest.raises(TextError) as sentence:
            Corpus.from_file(path)
        assert read(node, path) == {"refused": str(sentence.value)}
