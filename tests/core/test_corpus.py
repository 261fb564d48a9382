"""The corpus and its held-out pieces, text files of one's own, and windows."""

import math
import time
from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.corpus import DATA, Corpus, sample_windows, windows
from cloze.vocabulary import ALPHABET, VOCABULARY, TextError, normalise

anything = settings(deadline=None, derandomize=True, max_examples=200)
SENTENCE = "the quick brown fox jumps over the lazy dog\n"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.load()


# The corpus


def test_the_hold_out_rule(corpus: Corpus) -> None:
    topics = sorted(path.name for path in (DATA / "corpus").iterdir() if path.is_dir())
    assert len(topics) == 16
    expected = [f"{topic}/{i % 10 + 1:02d}" for i, topic in enumerate(topics)]
    assert [piece.name for piece in corpus.held_out] == expected
    everything = {f"{topic}/{k:02d}" for topic in topics for k in range(1, 11)}
    assert {piece.name for piece in corpus.train} == everything - set(expected)
    assert len(corpus.train) == 144


def test_no_text_is_both_learned_from_and_held_out(corpus: Corpus) -> None:
    assert len({piece.text for piece in (*corpus.train, *corpus.held_out)}) == 160
    learned = {line for piece in corpus.train for line in piece.text.split("\n") if len(line) > 64}
    held_out = {line for piece in corpus.held_out for line in piece.text.split("\n")}
    assert len(learned) > 1000
    assert not learned & held_out


def test_the_letters_alone_are_worth_2_80_nats(corpus: Corpus) -> None:
    learned = Counter("".join(piece.text for piece in corpus.train))
    held_out = Counter("".join(piece.text for piece in corpus.held_out))
    assert set(learned) == set(ALPHABET)
    price = -sum(n * math.log(learned[c] / learned.total()) for c, n in held_out.items())
    assert price / held_out.total() == pytest.approx(2.80, abs=0.01)


def test_held_out_windows_never_cross_pieces(corpus: Corpus) -> None:
    rows = corpus.held_out_windows(64)
    assert rows.shape == (sum(len(piece.text) // 64 for piece in corpus.held_out), 64)
    texts = [piece.text for piece in corpus.held_out]
    assert all(any(VOCABULARY.decode(row) in text for text in texts) for row in rows[::7])
    expected = [p.text[i : i + 64] for p in corpus.held_out for i in range(0, len(p.text) - 63, 64)]
    assert [VOCABULARY.decode(row) for row in rows] == expected


def test_long_and_short_pieces_are_encoded_alike(corpus: Corpus) -> None:
    long = max(corpus.train, key=lambda piece: len(piece.text))
    assert len(long.text) > 4096
    assert torch.equal(long.input_ids, VOCABULARY.encode(long.text))
    joined = "".join(piece.text + "\n" for piece in corpus.train[:2])
    assert VOCABULARY.decode(corpus.train_ids[: len(joined)]) == joined


def test_the_fingerprint_tells_texts_and_splits_apart(corpus: Corpus) -> None:
    assert Corpus.load().sha256 == corpus.sha256
    a, b = corpus.train[:2]
    assert len({Corpus((a,), (b,)).sha256, Corpus((b,), (a,)).sha256, corpus.sha256}) == 3


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_folder_that_is_no_corpus_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(TextError, match=r"is not a corpus: it needs one folder a topic"):
        Corpus.load(tmp_path / folder)


def test_the_sample() -> None:
    text = (DATA / "sample.txt").read_text(encoding="ascii").rstrip("\n")
    assert normalise(text).text == text
    assert set(text) == set(ALPHABET)
    assert "the quick brown fox" in text
    assert 180 <= len(text) <= 220


# A text file of one's own


def from_bytes(folder: Path, content: bytes, window: int = 64) -> Corpus:
    path = folder / "mine.txt"
    path.write_bytes(content)
    return Corpus.from_file(path, window)


def whole(corpus: Corpus) -> str:
    """All pieces in the order in which they stood in the file."""
    pieces = (*corpus.train, *corpus.held_out)
    return "".join(p.text for p in sorted(pieces, key=lambda p: int(p.name.rpartition(":")[2])))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \r\n\t \n", "is empty"),
        (b"\xef\xbb\xbf", "0 usable characters"),
        (b"1234567890" * 100, "0 usable characters"),
        (b"a", "1 usable character;"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"ab" * 500, "not a text file"),
        ((SENTENCE * 10).encode("utf-16-le"), "not a text file"),
        (b"a" * 127, r"127 usable characters; training needs at least 128: one window of 64"),
    ],
)
def test_an_unusable_file_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    with pytest.raises(TextError, match=reason) as caught:
        from_bytes(tmp_path, content)
    assert "mine.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_path_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TextError, match=r"^There is no file .*nowhere\.txt; check the path\.$"):
        Corpus.from_file(tmp_path / "nowhere.txt")
    with pytest.raises(TextError, match=r"cannot be read: .*\.$"):
        Corpus.from_file(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_every_common_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    corpus = from_bytes(tmp_path, ("Où est le garçon?\r\n" * 50).encode(encoding))
    assert whole(corpus) == "\n".join(["ou est le garcon"] * 50)
    assert corpus.report == "849 characters kept; 100 accents folded, 50 characters dropped"


@anything
@given(
    st.lists(st.integers(0, 90), min_size=1, max_size=60).map(
        lambda lengths: "\n".join("abcdefghij"[n % 10] * n for n in lengths)
    ),
    st.integers(1, 70),
)
@example("a" * 128, 64)  # exactly enough
@example("a" * 100 + "\n" + "b" * 28, 64)  # the only end of line comes too late
@example("a" * 10_000, 64)  # one line
def test_a_split_loses_nothing_and_leaves_room_for_windows(
    tmp_path_factory: pytest.TempPathFactory, text: str, window: int
) -> None:
    text = normalise(text).text
    folder = tmp_path_factory.getbasetemp()
    if len(text) < 2 * window:
        with pytest.raises(TextError):
            from_bytes(folder, text.encode(), window)
        return
    corpus = from_bytes(folder, text.encode(), window)
    assert whole(corpus) == text
    assert corpus.train
    assert corpus.held_out
    assert all(len(piece.text) >= window for piece in (*corpus.train, *corpus.held_out))
    assert not {p.name for p in corpus.train} & {p.name for p in corpus.held_out}


def test_every_tenth_stretch_is_held_out_and_cut_at_ends_of_lines(tmp_path: Path) -> None:
    corpus = from_bytes(tmp_path, (SENTENCE * 2000).encode())
    assert [piece.name for piece in corpus.held_out] == [f"mine.txt:{k}0" for k in range(1, 11)]
    assert len(corpus.train) == 90
    assert all(piece.text.endswith("\n") for piece in corpus.train[:-1])


def test_a_file_of_50_mb_just_works(tmp_path: Path) -> None:
    line = "The quick brown fox – it's 12 o'clock, señor!\r\n".encode()
    started = time.process_time()
    corpus = from_bytes(tmp_path, line * (50_000_000 // len(line)))
    assert len(corpus.train_ids) > 30_000_000
    assert time.process_time() - started < 30  # 4 s on an idle core


# Windows


def test_windows_leave_a_shorter_rest_out() -> None:
    assert windows(torch.arange(7), 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(TextError, match="fewer than one window of 8"):
        windows(torch.arange(7), 8)
    with pytest.raises(TextError, match="at least 1 character"):
        windows(torch.arange(7), 0)


def test_sampled_windows_are_stretches_from_everywhere() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = sample_windows(torch.arange(12), 1000, 5, generator)
    assert torch.equal(drawn, drawn[:, :1] + torch.arange(5))
    assert set(drawn[:, 0].tolist()) == set(range(8))
    assert torch.equal(drawn, sample_windows(torch.arange(12), 1000, 5, generator.manual_seed(0)))
    with pytest.raises(TextError, match="fewer than one window"):
        sample_windows(torch.arange(4), 1, 5)
