"""What widgets ask of models: plain numbers that are the models' own, and baselines that fit."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

import pytest
import torch

from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus, Piece
from cloze.encoder import DIRECTIONS, EncoderConfig
from cloze.heads import MaskedLM
from cloze.masked_predictor import MaskedPredictor, comparison, predictors_of, unigram
from cloze.prediction import compare, shipped_model
from cloze.predictor import Answer, Predictor
from cloze.vocabulary import ALPHABET, VOCABULARY

LINE = tuple("she t_ok her umbrella")
GAPS = [0, 5, 13, 14]


def small() -> MaskedLM:
    torch.manual_seed(0)
    return MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16)).eval()


class Slow(Predictor):
    """A model behind nothing but ``predict``."""

    def __init__(self, fast: MaskedPredictor) -> None:
        self.fast = fast
        self.name, self.symbols, self.max_len = fast.name, fast.symbols, fast.max_len

    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        return self.fast.predict(line, gaps)


def test_answers_are_what_compare_says_in_plain_numbers() -> None:
    predictors = predictors_of(None)
    answers = {name: each.predict(LINE, GAPS) for name, each in predictors.items()}
    json.dumps([asdict(answer) for answer in answers.values()])
    expected = compare("".join(LINE), GAPS)
    assert list(answers) == list(DIRECTIONS)
    for name, answer in answers.items():
        assert answer.positions == expected.positions
        assert answer[13] == expected[name][13].tolist()
        assert answer.cost(13) == expected[name].cost(13)
        assert answer.cost(5) is None
        assert answer.loss == pytest.approx(expected[name].loss)
    again = comparison(LINE, answers)
    assert repr(again) == repr(expected)
    for name in DIRECTIONS:
        assert torch.equal(again[name].probabilities, expected[name].probabilities)


def test_a_line_without_gaps_has_an_empty_answer() -> None:
    predictor = MaskedPredictor(small())
    answer = predictor.predict(tuple("rain"), [])
    assert (answer.positions, answer.known_costs, answer.loss) == ((), [], None)
    assert comparison(tuple("rain"), {"both": answer})["both"].probabilities.shape == (0, 28)


def test_many_predictions_say_what_one_batch_says() -> None:
    fast = MaskedPredictor(small())
    slow = Slow(fast)
    for first, second in ((13, 14), (14, 0)):
        table = torch.tensor(fast.joint(LINE, GAPS, first, second))
        assert table.shape == (28, 28)
        assert torch.allclose(table, torch.tensor(slow.joint(LINE, GAPS, first, second)), atol=1e-6)
    line = tuple("rain fell")
    assert fast.surprise(line) == pytest.approx(slow.surprise(line), abs=1e-5)
    for at in (0, 5):  # the truth is known, and it is not
        costs = fast.leaning(LINE, GAPS, at)
        assert costs == pytest.approx(slow.leaning(LINE, GAPS, at), abs=1e-5)
        assert max(map(abs, costs)) > 1e-4
        assert [costs[gap] for gap in GAPS] == pytest.approx([0] * len(GAPS), abs=1e-6)


class Sure(Predictor):
    """Sure of "a" unless position 2 is hidden; then of "b"."""

    name, symbols, max_len = "sure", MaskedPredictor.symbols, 9

    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        row = [float(symbol == ("b" if 2 in gaps else "a")) for symbol in self.symbols.known]
        costs = [
            -math.log(p) if (p := row[self.symbols.known.index(line[at])]) else math.inf
            for at in gaps
        ]
        return Answer(tuple(gaps), [row] * len(gaps), costs)


@pytest.mark.parametrize("line", ["axxx", "bxxx"])
def test_what_becomes_impossible_costs_without_end(line: str) -> None:
    assert Sure().leaning(tuple(line), [0], 0) == [0, 0, math.inf, 0]


def test_attention_is_read_from_the_line_with_its_gaps() -> None:
    predictor = MaskedPredictor(shipped_model("both"))
    weights = predictor.attention(LINE, GAPS, 3, 1, 2)
    assert sum(weights) == pytest.approx(1)
    assert len(weights) == len(LINE)
    other = (*LINE[:13], "q", *LINE[14:])
    assert weights == predictor.attention(other, GAPS, 3, 1, 2)  # what a gap hides is not read
    assert weights != predictor.attention(other, GAPS[:2], 3, 1, 2)


def test_characters_are_read_and_written() -> None:
    symbols = MaskedPredictor.symbols
    line, note = symbols.read("Été, [MASK]t_!", 64)
    assert symbols.write(line) == "ete _t_"
    assert "2 accents folded" in note
    assert symbols.words(line) == [range(3), range(4, 7)]
    assert "".join(symbols.known) == ALPHABET
    assert symbols.size == len(VOCABULARY)
    assert symbols.read_symbol("Q") == "q"
    for bad in ("", "ab", "_", "é", 3, None, "x" * 100_000):
        with pytest.raises(ValueError, match="A gap holds one letter") as raised:
            symbols.read_symbol(bad)
        assert len(str(raised.value)) < 120


def test_the_baseline_is_that_of_the_text_that_was_learned_from() -> None:
    corpus = Corpus((Piece("a", "aab"),), (Piece("b", "c"),))
    own = unigram(corpus)
    assert own.probabilities == pytest.approx([1 / 4, 0, 2 / 4, 1 / 4, *[0] * 24])
    assert own.cost(VOCABULARY.ids["a"]) == pytest.approx(math.log(2))
    assert own.cost(VOCABULARY.ids["q"]) == math.inf
    shipped = unigram()
    assert shipped.probabilities == letter_frequencies().tolist()
    assert shipped.text != own.text

    mine = small()
    assert predictors_of(mine)["both"].baseline is None
    assert predictors_of(mine, corpus)["both"].baseline == own
    assert all(each.baseline == shipped for each in predictors_of(None).values())
    both = predictors_of({"untrained": mine, "trained": shipped_model("both")})
    assert [each.baseline for each in both.values()] == [None, shipped]


@pytest.mark.parametrize("model", [5, "x", {}, {"a": 3}, [small()], object()])
def test_what_predicts_nothing_is_named(model: object) -> None:
    with pytest.raises(ValueError, match="model is a MaskedLM or a Predictor"):
        predictors_of(model)


def test_a_corpus_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="corpus is a Corpus, not 'data/corpus'"):
        predictors_of(small(), "data/corpus")  # type: ignore[arg-type]
