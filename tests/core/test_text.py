"""Text and ids: the vocabulary, normalising, the corpus and its held-out pieces."""

import math
import time
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.corpus import DATA, Corpus, sample_windows, windows
from cloze.vocabulary import (
    ALPHABET,
    GAP,
    MASK,
    VOCABULARY,
    TextError,
    Vocabulary,
    normalise,
    read_line,
    visible,
)

anything = settings(deadline=None, derandomize=True, max_examples=200)
SENTENCE = "the quick brown fox jumps over the lazy dog\n"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.load()


# The vocabulary


def test_the_vocabulary_has_29_symbols_with_characters_first() -> None:
    assert len(VOCABULARY) == 29
    assert VOCABULARY.n_characters == 28 == VOCABULARY.mask_id
    assert VOCABULARY.encode("\n az[MASK]").tolist() == [0, 1, 2, 27, 28]
    assert VOCABULARY.encode("").shape == (0,)
    assert VOCABULARY.encode("").dtype == torch.int64


def test_more_special_symbols_keep_all_ids() -> None:
    wider = VOCABULARY.with_specials("[PAD]", "[CLS]")
    assert wider.symbols == (*VOCABULARY.symbols, "[PAD]", "[CLS]")
    assert wider.n_characters == 28 == wider.mask_id
    assert wider.encode("[CLS]a[MASK][PAD]").tolist() == [30, 2, 28, 29]
    assert wider.decode([30, 2, 29]) == "[CLS]a[PAD]"


@pytest.mark.parametrize(
    ("characters", "specials"), [("aab", (MASK,)), ("ab", (MASK, MASK)), ("ab", ("[PAD]",))]
)
def test_an_ambiguous_vocabulary_is_refused(characters: str, specials: tuple[str, ...]) -> None:
    with pytest.raises(TextError, match="symbol"):
        Vocabulary(characters, specials)


@anything
@given(st.lists(st.sampled_from(VOCABULARY.symbols)).map("".join))
def test_decoding_undoes_encoding(text: str) -> None:
    assert VOCABULARY.decode(VOCABULARY.encode(text)) == text


def test_a_gap_is_written_as_one_likes() -> None:
    assert VOCABULARY.decode([2, 28, 3], gap=GAP) == "a_b"


@pytest.mark.parametrize(
    ("text", "seen"), [("abC", "'C' at position 2"), ("[MASK", r"'\[' at position 0"), ("é", "é")]
)
def test_an_unknown_character_is_named_with_its_place(text: str, seen: str) -> None:
    with pytest.raises(TextError, match=f"{seen}.*normalise"):
        VOCABULARY.encode(text)


@pytest.mark.parametrize("ids", [[29], [-1], torch.zeros(1, 2).long(), torch.zeros(2)])
def test_what_is_not_a_row_of_ids_is_refused(ids: torch.Tensor | list[int]) -> None:
    with pytest.raises(TextError, match="0 to 28"):
        VOCABULARY.decode(ids)


# Normalising


@pytest.mark.parametrize(
    ("typed", "text", "folded", "dropped"),
    [
        ("The Quick", "the quick", 0, 0),
        ("café", "cafe", 1, 0),
        ("cafe\N{COMBINING ACUTE ACCENT}", "cafe", 1, 0),
        ("Straße, Łódź", "strasse lodz", 4, 1),
        ("Ærø œuvre \N{LATIN SMALL LIGATURE FI}n", "aero oeuvre fin", 4, 0),
        ("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}\N{LATIN SMALL LETTER DOTLESS I}", "ii", 2, 0),
        ("ＡＢｃ", "abc", 3, 0),
        ("don't, don’t", "dont dont", 0, 3),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree", 0, 0),
        (" a \n\n \n b ", "a\nb", 0, 0),
        ("a\tb\N{NO-BREAK SPACE}c", "a b c", 0, 0),
        ("well-known … №5", "well known", 0, 4),
        ("a 👩🏽‍🚀 b", "a b", 0, 4),
        ("שָלוֹם a مرحبا", "a", 0, 11),
        ("<b onclick='x()'>hi</b>", "b onclick x hi b", 0, 10),
        ("\N{ZERO WIDTH SPACE}\N{BYTE ORDER MARK}\0", "", 0, 3),
    ],
)
def test_normalise(typed: str, text: str, folded: int, dropped: int) -> None:
    result = normalise(typed)
    assert (result.text, result.folded, result.dropped) == (text, folded, dropped)


@anything
@given(st.text())
@example("\N{MATHEMATICAL BOLD CAPITAL A}")
def test_normalised_text_stays_as_it_is_and_has_28_characters(text: str) -> None:
    once = normalise(text)
    assert set(once.text) <= set(ALPHABET)
    assert normalise(once.text) == type(once)(once.text, folded=0, dropped=0)
    assert "  " not in once.text
    assert not {"\n\n", " \n", "\n "} & {once.text[i : i + 2] for i in range(len(once.text))}
    assert VOCABULARY.decode(VOCABULARY.encode(once.text)) == once.text
    assert 0 <= once.folded + once.dropped <= len(unicodedata.normalize("NFC", text))


def test_what_changed_is_said_in_words() -> None:
    assert normalise("É!!").report == "1 character kept; 1 accent folded, 2 characters dropped"
    assert str(normalise("ab")) == "ab\n(2 characters kept; 0 accents folded, 0 characters dropped)"


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


# Windows and lines


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


@pytest.mark.parametrize(
    ("typed", "shown", "note"),
    [
        ("the qu_ck", "the qu_ck", ""),
        ("The qu[MASK]ck [mask]", "the qu_ck _", ""),
        ("_", "_", ""),
        ("Café!?", "cafe", "1 accent folded, 2 characters dropped"),
    ],
)
def test_a_line_is_read_as_typed(typed: str, shown: str, note: str) -> None:
    input_ids, said = read_line(typed)
    assert VOCABULARY.decode(input_ids, gap=GAP) == shown
    assert said == note


@pytest.mark.parametrize(
    ("typed", "reason"), [("", "empty"), ("123 שלום", "empty"), ("a" * 65, "65 characters.* 64")]
)
def test_a_line_that_cannot_be_read_is_refused(typed: str, reason: str) -> None:
    with pytest.raises(TextError, match=reason):
        read_line(typed)
    assert len(read_line("a" * 65, max_len=65)[0]) == 65


def test_every_symbol_can_be_seen() -> None:
    assert [visible(symbol) for symbol in ("\n", " ", "a", MASK)] == ["↵", "␣", "a", "▒"]
