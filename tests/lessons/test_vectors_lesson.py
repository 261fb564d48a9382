"""What notebook 12 measures: probes, the comparison, and the search."""

from __future__ import annotations

import re
from functools import cache

import pytest
import torch

from cloze.encoder import Encoder, EncoderConfig
from cloze.lessons.vectors import probing
from cloze.lessons.vectors.search import EncoderVectors, Index, SearchResult, words_vectors
from cloze.lessons.vectors.widget import Search
from cloze.masking import seeded
from cloze.prediction.shipped import shipped_model
from cloze.tasks.vectors import Passage, whitening
from cloze.vocabulary import TextError
from cloze.world import World
from measured.vectors import words

# The small world


@pytest.fixture(scope="module")
def world() -> World:
    return World.load()


def test_every_word_is_of_one_part_of_speech(world: World) -> None:
    listed = " ".join(probing.PARTS_OF_SPEECH.values()).split()
    assert sorted(listed) == sorted(world.vocabulary.ordinary)


def test_probes_are_tested_on_other_sentences_or_on_other_words(world: World) -> None:
    words = world.input_ids[world.input_ids < world.vocabulary.n_ordinary]
    for task, shared in (
        *((task, True) for task in probing.tasks(world).values()),
        *((task, False) for task in probing.new_words(world)),
    ):
        known, asked = (set(words[half].tolist()) for half in (task.learned, ~task.learned))
        assert bool(known & asked) == shared


def test_a_control_gives_each_word_one_class_in_the_same_shares(world: World) -> None:
    words = world.input_ids[world.input_ids < world.vocabulary.n_ordinary].tolist()
    speech, control = (
        dict(zip(words, task.classes.tolist(), strict=True))
        for task in probing.tasks(world).values()
    )
    assert sorted(speech.values()) == sorted(control.values())
    assert speech != control
    for task in probing.tasks(world).values():
        assert len(set(zip(words, task.classes.tolist(), strict=True))) == len(speech)


# The comparison


def test_groups_agree_whatever_they_are_called() -> None:
    one, other = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([2, 2, 0, 0, 1, 1])
    assert words.adjusted_rand(one, other) == pytest.approx(1)
    # of 15 pairs 3 and 6 are together, 2 in both; by chance 3 · 6 / 15
    two = torch.tensor([0, 0, 0, 1, 1, 1])
    assert words.adjusted_rand(one, two) == pytest.approx((2 - 1.2) / (4.5 - 1.2))


def test_k_means_finds_two_directions() -> None:
    around = torch.randn(20, 3, generator=seeded(0)) / 10
    vectors = around + torch.eye(3)[torch.arange(20) % 2]
    group = words.k_means(vectors, 2, seed=0)
    assert words.adjusted_rand(group, torch.arange(20) % 2) == pytest.approx(1)


def test_both_encoders_read_a_line_in_their_own_symbols() -> None:
    lines = ["the boat left the harbour", "she baked bread"]
    of_words, of_letters = words_vectors(), EncoderVectors(shipped_model().encoder)
    assert len(of_words.read(lines[0])) < len(of_letters.read(lines[0])) == len(lines[0])
    alone = torch.cat([of_words([line]) for line in lines])
    torch.testing.assert_close(of_words(lines), alone, atol=1e-4, rtol=1e-3)


# The search


PASSAGES = [
    Passage("sea/01", "the boat left the harbour at dawn"),
    Passage("sea/01", "a ship sailed on the sea"),
    Passage("kitchen/02", "bread from the oven"),
    Passage("kitchen/02", "the harbour of bread and salt"),
]


@cache
def index() -> Index:
    torch.manual_seed(0)
    reader = Encoder(EncoderConfig(d_model=16, n_heads=2)).eval()
    change = whitening(EncoderVectors(reader)([p.text for p in PASSAGES]))
    return Index(
        PASSAGES, {"raw": EncoderVectors(reader), "whitened": EncoderVectors(reader, change)}
    )


def texts(found: SearchResult) -> list[list[str]]:
    return [[hit.passage.text for hit in hits] for hits in found.ways.values()]


def test_both_ways_find_and_the_nearest_stands_first() -> None:
    by_vectors, by_words = texts(index().find("the boat in the harbour", "raw"))
    assert len(by_vectors) == 4
    assert by_words == [PASSAGES[0].text, PASSAGES[3].text]
    for hits in index().find("the boat in the harbour", "raw").ways.values():
        assert [h.similarity for h in hits] == sorted((h.similarity for h in hits), reverse=True)
    assert index().find("the boat", "raw").ways["tf-idf (words)"][0].shared == ("boat",)


def test_a_passage_is_not_its_own_neighbour() -> None:
    found = texts(index().find(PASSAGES[2].text, "raw"))
    assert all(PASSAGES[2].text not in ways for ways in found)
    assert len(found[0]) == 3


def test_a_line_that_cannot_be_read_changes_nothing() -> None:
    widget = Search(index(), "boat")
    before = widget.found
    with pytest.raises(TextError, match="nothing to look for"):
        widget.answer_search(line=" ?!12 ")
    assert widget.found is before


def test_other_ways_are_chosen() -> None:
    widget = Search(index(), "harbor")
    assert "No passage matches" in widget.still()
    widget.answer_search(terms="3 to 5 characters")
    widget.answer_search(vectors="whitened")
    assert list(widget.found.ways) == ["vectors (whitened)", "tf-idf (3 to 5 characters)"]
    assert repr(widget) == "Search(4 passages, 'harbor', by whitened, 3 to 5 characters)"


def test_what_is_shared_stands_out_where_nothing_runs() -> None:
    still = Search(index(), "the boat").still()
    assert set(re.findall("<b>(.*?)</b>", still)) == {"boat"}
