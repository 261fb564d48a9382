"""What notebook 11 asks and measures: tasks with known answers, faults, the results file."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice, product

import pytest
import torch

from cloze.corpus import DATA
from cloze.lessons.put_to_use import checks, faults, tasks
from cloze.masking import IGNORE
from cloze.tasks.finetuning import Entity, entities
from cloze.tasks.heads import best_span, mean_pool
from cloze.vocabulary import TextError
from cloze.world import World
from measured.put_to_use import comparison, words
from measured.put_to_use import tasks as more

WORLD = World.load()
PROGRAMS = World.load(faults.PROGRAMS)


# Tasks of the small world


def test_sentiment_is_what_the_hidden_word_says() -> None:
    task = tasks.sentiment(WORLD)
    assert len(task.labels) == 432
    assert task.labels.double().mean() == 0.5
    mask_id = WORLD.vocabulary.mask_id
    gap = task.input_ids == mask_id
    assert (gap.sum(1) == 1).all()
    truth = WORLD.truth(task.input_ids[:40], gap[:40])
    liked, hated = (truth[:, WORLD.vocabulary.ids[w]] for w in ("liked", "hated"))
    assert torch.equal((liked > hated).long(), task.labels[:40])
    assert (torch.maximum(liked, hated) > 0.9).all()


def test_every_sentence_has_roles() -> None:
    for sentence in WORLD.sentences:
        found = Counter(tasks.roles(sentence))
        assert found["who"] + found["what"] >= 1, sentence
        assert found["whose"] == (" of " in sentence), sentence
    with pytest.raises(TextError, match="no sentence of the small world"):
        tasks.roles("anna took the bank")


def test_the_answer_of_a_question_stands_where_the_label_says() -> None:
    vocabulary = tasks.pair_vocabulary(WORLD)
    input_ids, labels = tasks.span_task(WORLD, 200)
    assert input_ids.shape[1] <= tasks.PAIR_LENGTH
    drawn = islice(tasks.passage_questions(WORLD), 200)
    asked = Counter(question.split()[0] for question, _, _ in drawn)
    assert set(asked) == {*tasks.QUESTIONS}
    allowed = more.may_answer(input_ids, vocabulary)
    for line, (start, end), may in zip(input_ids, labels.tolist(), allowed, strict=True):
        text = vocabulary.decode(line).replace(" [PAD]", "")
        _, question, first, second = re.split(r" ?\[(?:BEGIN|SEP|END)\] ?", text)[:4]
        answer = vocabulary.decode(line[start : end + 1])
        assert start <= end
        assert may[start : end + 1].all()
        [told] = [s for s in (first, second) if tasks.is_answered(question, s)]
        match = tasks.TAKEN.fullmatch(told)
        assert match
        part = {"WHO": "who", "WHAT": "what", "WHEN": "day", "WHERE": "place", "WHY": "why"}
        assert answer == match[part[question.split("]")[0][1:]]]


def test_statements_are_said_or_not() -> None:
    rainy = "on monday anna took her red umbrella to work because it was raining again"
    assert [*tasks.statements(rainy)] == [
        ("anna took the umbrella", "anna took the sledge"),
        ("anna took the umbrella", "clara took the umbrella"),
        ("it was raining", "it was snowing"),
    ]
    film = "on monday anna said that the big film was not bad and tom liked it"
    assert [*tasks.statements(film)] == [("the film was good", "the film was bad")]
    assert [*tasks.statements("the cat sat on the mat")] == []
    task = more.entailment_task(WORLD, 300)
    assert 0.4 < task.labels.double().mean() < 0.6
    assert not (task.input_ids == WORLD.vocabulary.ids["liked"]).any()


def test_no_line_is_both_learned_and_asked() -> None:
    for name, experiment in comparison.experiments().items():
        for n, seed in product(experiment.labels, range(experiment.seeds)):
            learned, test = experiment.lines(n, seed)
            assert learned.input_ids.shape[1] == test.input_ids.shape[1]
            lines, asked = ({tuple(x) for x in t.input_ids.tolist()} for t in (learned, test))
            assert len(lines) == n, (name, n, seed)
            assert not lines & asked, (name, n, seed)


# English


def test_names_are_tagged_by_word() -> None:
    sentences = tasks.named_sentences()
    assert len(sentences) == 500
    assert sentences[0].words[0] == "duarte"
    assert entities(sentences[0].tags) == [Entity("PER", 0, 0), Entity("LOC", 7, 7)]
    raw = (DATA / "labelled" / "entities.txt").read_text("utf-8")
    marked = sum(len(entities(sentence.tags)) for sentence in sentences)
    assert marked == raw.count("{PER:") + raw.count("{LOC:")
    task = more.name_task(sentences[:3])
    assert more.tags_of(task.labels) == [sentence.tags for sentence in sentences[:3]]
    for line, labels, sentence in zip(*task, sentences, strict=False):
        starts = (labels != IGNORE).nonzero()[:, 0].tolist()
        text = tasks.CHARACTERS.decode(line)
        assert [text[s] for s in starts] == [word[0] for word in sentence.words]


def test_every_word_has_a_state_whatever_it_is_cut_into() -> None:
    lines = ["mr petrov listened", "it was wanjirus unbelievable radio"]
    for reader in words.READERS:
        assert [len(states) for states in words.word_states(reader, lines)] == [3, 5]


# Faults


def test_the_posterior_is_what_planting_gives() -> None:
    """Plant every fault that there is, and count where it was by what the line became."""
    world = World({"x = 1": 0.6, "x = 2": 0.3, "y = 1": 0.1})
    kind = faults.kinds(world)
    mass: dict[tuple[int, ...], Counter[int]] = {}
    for line, p in zip(world.input_ids, world.probabilities.tolist(), strict=True):
        for at in range(1, 4):
            others = [k for k in range(len(kind)) if kind[k] == kind[line[at]] and k != line[at]]
            for other in others:
                new = line.clone()
                new[at] = other
                mass.setdefault(tuple(new.tolist()), Counter())[at] += p / 3 / len(others)
    for seen, where in mass.items():
        found = faults.posterior(world, torch.tensor([seen]))[0]
        for at in range(len(seen)):
            assert float(found[at]) == pytest.approx(where[at] / where.total())


def test_a_line_that_is_far_from_every_program_is_refused() -> None:
    with pytest.raises(ValueError, match="No program is one symbol away from x = x"):
        faults.posterior(PROGRAMS, faults.padded(PROGRAMS, "x = x"))


def test_the_exercises_are_the_package() -> None:
    states, padding = torch.randn(2, 4, 3), torch.tensor([[False] * 4, [False, False, True, True]])
    torch.testing.assert_close(checks.my_mean_pool(states, padding), mean_pool(states, padding))
    for _ in range(20):
        logits = torch.randn(1, 2, 6)
        own = checks.my_best_span(*logits[0].tolist())
        assert [*own] == best_span(logits)[0].tolist()
