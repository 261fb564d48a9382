"""Text and ids: the vocabulary, normalising, and lines as they are typed."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.reading import read_line
from cloze.vocabulary import ALPHABET, GAP, MASK, VOCABULARY, TextError, normalise, visible

anything = settings(deadline=None, derandomize=True, max_examples=200)

# The vocabulary


def test_more_special_symbols_keep_all_ids() -> None:
    wider = VOCABULARY.with_specials("[PAD]", "[CLS]")
    assert (len(VOCABULARY), len(wider), wider.n_ordinary, wider.mask_id) == (29, 31, 28, 28)
    assert wider.encode("\n az[MASK][PAD][CLS]").tolist() == [0, 1, 2, 27, 28, 29, 30]
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


# Lines


def test_a_line_is_read_as_typed() -> None:
    input_ids, note = read_line("The café[MASK]ck [mask]!?")
    assert VOCABULARY.decode(input_ids, gap=GAP) == "the cafe_ck _"
    assert note == "1 accent folded, 2 characters dropped"


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("", "The line is empty; type some letters, and _ for every gap."),
        ("123 שלום", "digits and letters of other scripts are not among the 28 characters"),
        ("a" * 65, "The line has 65 characters and the model reads 64"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(typed: str, reason: str) -> None:
    with pytest.raises(TextError, match=reason):
        read_line(typed)


def test_every_symbol_can_be_seen() -> None:
    assert [visible(symbol) for symbol in ("\n", " ", "a", MASK)] == ["↵", "␣", "a", "▒"]
