"""The corpus and its held-out pieces, text files of one's own, and windows."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.corpus import DATA, Corpus, sample_windows, windows
from cloze.vocabulary import VOCABULARY, TextError, normalise

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
    learned = {line for piece in corpus.train for line in piece.text.split("\n") if len(line) > 64}
    held_out = {line for piece in corpus.held_out for line in piece.text.split("\n")}
    assert len(learned) > 1000
    assert not learned & held_out


def test_held_out_windows_never_cross_pieces(corpus: Corpus) -> None:
    rows = corpus.held_out_windows(64)
    expected = [p.text[i : i + 64] for p in corpus.held_out for i in range(0, len(p.text) - 63, 64)]
    assert [VOCABULARY.decode(row) for row in rows] == expected


# A folder of one's own


def make(folder: Path, **texts: str) -> Path:
    """Write files, named like ``a_01`` for a/01.txt, and return the folder."""
    for name, text in texts.items():
        path = folder.joinpath(*name.split("_")).with_suffix(".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def refusal(call: Callable[..., object], *arguments: object) -> str:
    """Return the sentence in which something is refused."""
    with pytest.raises(TextError) as caught:
        call(*arguments)
    return str(caught.value)


def test_a_folder_with_one_topic_is_a_corpus(tmp_path: Path) -> None:
    corpus = Corpus.load(make(tmp_path, a_01="Höher!" * 20, a_02=SENTENCE, a_03=SENTENCE))
    assert [piece.name for piece in corpus.train] == ["a/02", "a/03"]
    assert [piece.name for piece in corpus.held_out] == ["a/01"]
    assert corpus.report == "205 characters kept; 20 accents folded, 20 characters dropped"


def test_what_programs_leave_in_a_folder_does_not_move_the_split(tmp_path: Path) -> None:
    texts = {f"{topic}_{k:02d}": SENTENCE * k for topic in "ab" for k in (1, 2, 3)}
    before = Corpus.load(make(tmp_path, **texts))
    make(tmp_path, **{".ipynb_checkpoints_01": SENTENCE, "README": SENTENCE})
    (tmp_path / "a" / "._01.txt").write_bytes(b"\0\0")
    (tmp_path / "0 empty").mkdir()
    assert Corpus.load(tmp_path) == before
    assert [piece.name for piece in before.held_out] == ["a/01", "b/02"]


def test_a_folder_that_is_no_corpus_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, make(tmp_path, one=SENTENCE) / "one.txt"):
        assert "is not a corpus: it needs one folder per topic" in refusal(Corpus.load, path)
    corpus = Corpus.load(make(tmp_path / "short", a_01="Too short.", a_02=SENTENCE * 3))
    assert refusal(corpus.held_out_windows).startswith("a/01 is held out and has 9 characters, ")
    make(tmp_path / "short", a_02="12 345")
    assert "02.txt holds no usable character" in refusal(Corpus.load, tmp_path / "short")


# A text file of one's own


def from_bytes(folder: Path, content: bytes, window: int = 64) -> Corpus:
    path = folder / "mine.txt"
    path.write_bytes(content)
    return Corpus.from_file(path, window)


def whole(corpus: Corpus) -> str:
    """All pieces in the order in which they stood in the file."""
    pieces = (*corpus.train, *corpus.held_out)
    return "".join(p.text for p in sorted(pieces, key=lambda p: int(p.name.rpartition(":")[2])))


def test_an_unusable_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    for content, reason in (
        (b" ", "is empty"),
        (b"a" * 127, "127 usable characters; training needs at least 128: one window of 64"),
        (b"gar\xe7on", "is not text in UTF-8; open it and save it as"),
    ):
        path.write_bytes(content)
        assert f"mine.txt {reason}" in refusal(Corpus.from_file, path).replace("holds ", "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_text_of_one_s_own_is_normalised(tmp_path: Path, encoding: str) -> None:
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
    assert all(len(piece.text) >= window for piece in (*corpus.train, *corpus.held_out))
    assert not {p.name for p in corpus.train} & {p.name for p in corpus.held_out}


def test_no_more_is_held_out_than_can_be_measured_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (SENTENCE * 400).encode()
    every = from_bytes(tmp_path, text)
    monkeypatch.setattr("cloze.corpus.MOST_HELD_OUT", 1000)
    capped = from_bytes(tmp_path, text)
    assert capped.train == every.train
    assert [piece.text for piece in capped.held_out] == [p.text[:100] for p in every.held_out]
    held = sum(len(piece.text) for piece in every.held_out)
    assert capped.report == (
        f"{every.report}; of {held:,} held-out characters 1,000 are measured on, no others used"
    )


# Windows


def test_windows_leave_a_shorter_rest_out() -> None:
    assert windows(torch.arange(7), 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(TextError, match="fewer than one window of 8"):
        windows(torch.arange(7), 8)


def test_sampled_windows_are_stretches_from_everywhere() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = sample_windows(torch.arange(12), 1000, 5, generator)
    assert torch.equal(drawn, drawn[:, :1] + torch.arange(5))
    assert set(drawn[:, 0].tolist()) == set(range(8))
