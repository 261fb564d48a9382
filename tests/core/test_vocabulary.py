"""Text and ids: the vocabulary, normalising, and lines as they are typed."""

import unicodedata

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.reading import read_line
from cloze.vocabulary import (
    ALPHABET,
    GAP,
    MASK,
    VOCABULARY,
    TextError,
    normalise,
    visible,
)

anything = settings(deadline=None, derandomize=True, max_examples=200)

# The vocabulary


def test_the_vocabulary_has_29_symbols_with_characters_first() -> None:
    assert len(VOCABULARY) == 29
    assert VOCABULARY.n_ordinary == 28 == VOCABULARY.mask_id
    assert VOCABULARY.encode("\n az[MASK]").tolist() == [0, 1, 2, 27, 28]
    assert VOCABULARY.encode("").shape == (0,)
    assert VOCABULARY.encode("").dtype == torch.int64


def test_more_special_symbols_keep_all_ids() -> None:
    wider = VOCABULARY.with_specials("[PAD]", "[CLS]")
    assert wider.symbols == (*VOCABULARY.symbols, "[PAD]", "[CLS]")
    assert wider.n_ordinary == 28 == wider.mask_id
    assert wider.encode("[CLS]a[MASK][PAD]").tolist() == [30, 2, 28, 29]
    assert wider.decode([30, 2, 29]) == "[CLS]a[PAD]"


@anything
@given(st.lists(st.sampled_from(VOCABULARY.symbols)).map("".join))
def test_decoding_undoes_encoding(text: str) -> None:
    assert VOCABULARY.decode(VOCABULARY.encode(text)) == text


@pytest.mark.parametrize(
    ("text", "seen"), [("abC", "'C' at position 2"), ("[MASK", r"'\[' at position 0"), ("é", "é")]
)
def test_an_unknown_character_is_named_with_its_place(text: str, seen: str) -> None:
    with pytest.raises(TextError, match=f"{seen}.*normalise"):
        VOCABULARY.encode(text)


# Normalising


@pytest.mark.parametrize(
    ("typed", "text", "folded", "dropped"),
    [
        ("The Quick", "the quick", 0, 0),
        ("café", "cafe", 1, 0),
        ("Straße, Łódź", "strasse lodz", 4, 1),
        ("Ærø œuvre \N{LATIN SMALL LIGATURE FI}n", "aero oeuvre fin", 4, 0),
        ("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}\N{LATIN SMALL LETTER DOTLESS I}", "ii", 2, 0),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree", 0, 0),
        ("a\tb\N{NO-BREAK SPACE}c", "a b c", 0, 0),
        ("well-known … №5", "well known", 0, 4),
        ("a 👩🏽‍🚀 b", "a b", 0, 4),
        ("שָלוֹם a مرحبا", "a", 0, 11),
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
    assert normalise("ab").report == "2 characters kept; 0 accents folded, 0 characters dropped"


# Lines


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
