"""A small world: all its sentences and their probabilities, and what the best reader says.

There are few enough sentences to list them all (``grammar.py``), so P(x_i | x̃) follows from Bayes'
rule over all of them, exactly, whatever the corruption. No model of any kind or size can pay less
on average.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.arguments import (
    FilePath,
    Line,
    Lines,
    Probability,
    Selected,
    checked,
    known_symbols,
    positions,
    shown,
)
from cloze.corpus import DATA, Windows
from cloze.encoder import Direction, EncoderConfig
from cloze.grammar import as_words, enumerated, read_grammar
from cloze.heads import LINES_AT_ONCE, Model, log_probs_at
from cloze.masking import MaskedBatch, mask_tokens, number_selected, seeded
from cloze.reading import read_words
from cloze.vocabulary import BEGIN, END, GAP, MASK, PAD, TextError, Vocabulary, counted, frame

HELD_OUT = 1024
"""How many sentences, drawn once, a training run measures on."""
IMPOSSIBLE = -1e6
"""The logarithm of a probability of zero, which can still be added up."""


@checked
@dataclass(frozen=True)
class Corruption:
    """How a sentence is corrupted before it is read: the arguments of ``mask_tokens``."""

    mask_prob: Probability = 0.15
    mask_share: Probability = 0.8
    random_share: Probability = 0.1


BERT = Corruption()
"""15%, of which 80% become ``[MASK]``, 10% a random word, 10% stay."""
GAPS_ONLY = Corruption(mask_share=1.0, random_share=0.0)
"""Only ``[MASK]`` is put in: every word that is still there is the true one."""


def _log_channel(corruption: Corruption, vocabulary: Vocabulary, *, selected: bool) -> Tensor:
    """Return log P(x̃_j | x_j) at a position of which nothing else is known.

    Args:
        corruption: how x̃ was made.
        vocabulary: its special symbols are never selected and stay as they are.
        selected: the position is known to be in M; otherwise it is with ``mask_prob``.

    Returns:
        Shape ``(|V|, |V|)``: row x̃_j, column x_j.
    """
    n, mask = vocabulary.n_ordinary, vocabulary.mask_id
    channel = torch.zeros(len(vocabulary), len(vocabulary), dtype=torch.float64)
    rate = 1.0 if selected else corruption.mask_prob
    channel[:n, :n] = rate * corruption.random_share / n
    kept = max(0.0, 1.0 - corruption.mask_share - corruption.random_share)
    channel[:n, :n] += torch.eye(n, dtype=torch.float64) * (1 - rate + rate * kept)
    channel[mask, :n] = rate * corruption.mask_share
    if not selected:
        others = [i for i in range(n, len(vocabulary)) if i != mask]
        channel[others, others] = 1.0
    return channel.log().clamp(min=IMPOSSIBLE)


class Mean(NamedTuple):
    """A mean over questions, and how far it is typically off for so many of them."""

    nats: float
    standard_error: float

    def __repr__(self) -> str:
        return f"{self.nats:.3f} ± {self.standard_error:.3f} nats"


class World:
    """Sentences of words, each with its probability.

    Args:
        sentences: the probability of each, summing to 1.

    Raises:
        TextError: there is no sentence, the probabilities do not sum to 1, or it is too large.
    """

    def __init__(self, sentences: Mapping[str, float]) -> None:
        words = as_words(sentences)
        self.vocabulary = Vocabulary(
            tuple(sorted({word for sentence in words for word in sentence})),
            (MASK, BEGIN, END, PAD),
        )
        ordered = sorted(words)
        self.sentences = tuple(" ".join(sentence) for sentence in ordered)
        """Every sentence, in alphabetical order."""
        self.probabilities = torch.tensor([words[s] for s in ordered], dtype=torch.float64)
        """Of each sentence, shape ``(sentences,)``."""
        self.max_len = 2 + max(map(len, ordered))
        """The length of the longest sentence with its ``[BEGIN]`` and ``[END]``."""
        self.input_ids = torch.full((len(ordered), self.max_len), self.vocabulary.ids[PAD])
        """``[BEGIN]``, words, ``[END]``, ``[PAD]`` up to one length: ``(sentences, max_len)``."""
        for row, sentence in zip(self.input_ids, ordered, strict=True):
            row[: len(sentence) + 2] = frame(sentence, self.vocabulary)

    @classmethod
    def load(cls, path: FilePath = DATA / "world.toml") -> World:
        """Read a world from its text; by default the one of the series.

        Raises:
            TextError: there is no such file, or it describes no world; the message says what to
                change.
        """
        described = read_grammar(path)
        try:
            return cls(enumerated(described))
        except TextError as error:
            raise TextError(f"{path}: {error}") from None

    def encode(self, sentence: str) -> Tensor:
        """Return the ids of one sentence between ``[BEGIN]`` and ``[END]``, shape ``(length,)``.

        ``_`` is a gap. It need not be a sentence of this world, as long as its words are.

        Raises:
            TextError: a word is unknown, there is none, or there are too many.
        """
        return frame(read_words(sentence, self.vocabulary, self.max_len - 2), self.vocabulary)

    def config(self, direction: Direction = "both") -> EncoderConfig:
        """Return the shape of the series' encoder for the words and sentences of this world."""
        return EncoderConfig(
            vocab_size=len(self.vocabulary), max_len=self.max_len, direction=direction
        )

    # Its sentences

    @property
    def entropy(self) -> float:
        """−Σ P(x) log P(x) in nats: what the best possible guess at a whole sentence costs."""
        return float(-(self.probabilities * self.probabilities.log()).sum())

    def probability(self, sentence: str) -> float:
        """Return P(sentence), read as by :meth:`encode`; 0 for one that is never said."""
        with suppress(TextError):  # a word that this world does not have
            words = " ".join(read_words(sentence, self.vocabulary, self.max_len - 2))
            if words in self.sentences:
                return float(self.probabilities[self.sentences.index(words)])
        return 0.0

    @cached_property
    def frequencies(self) -> Tensor:
        """How frequent each word is, shape ``(n_ordinary,)``: the unigram."""
        weights = self.probabilities[:, None].expand(self.input_ids.shape)
        n = len(self.vocabulary)
        counts = torch.bincount(self.input_ids.flatten(), weights.flatten(), minlength=n)
        ordinary = counts[: self.vocabulary.n_ordinary]
        return ordinary / ordinary.sum()

    @checked
    def sample(
        self, n: Windows, length: int | None = None, generator: torch.Generator | None = None
    ) -> Tensor:
        """Draw sentences by their probabilities, filled up with ``[PAD]``: ``(n, length)``.

        Raises:
            TextError: the longest sentence does not fit into ``length``.
        """
        length = self.max_len if length is None else length
        if length < self.max_len:
            raise TextError(
                f"The longest sentence of this world has {self.max_len} symbols with [BEGIN] and "
                f"[END], so windows are at least that long, not {length}."
            )
        # One uniform number per sentence: where it falls among the probabilities laid end to end.
        draws = torch.rand(n, dtype=torch.float64, generator=generator)
        ends = self.probabilities.cumsum(0)
        rows = torch.searchsorted(ends, draws * ends[-1]).clamp(max=len(ends) - 1)
        wide = torch.full((n, length), self.vocabulary.ids[PAD])
        wide[:, : self.max_len] = self.input_ids[rows]
        return wide

    def held_out_windows(self, length: int | None = None) -> Tensor:
        """Return sentences to measure on, drawn once with seed 0: ``(HELD_OUT, length)``."""
        return self.sample(HELD_OUT, length, seeded(0))

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the sentences and their probabilities."""
        digest = hashlib.sha256()
        for sentence, p in zip(self.sentences, self.probabilities.tolist(), strict=True):
            digest.update(f"{sentence}\t{p:.12g}\n".encode())
        return digest.hexdigest()

    # What the best reader says

    def questions(self, n: int, corruption: Corruption = BERT, seed: int = 0) -> MaskedBatch:
        """Draw sentences and corrupt them, every position for itself.

        No position has to be selected: "at least one" would make positions depend on each other.
        """
        generator = seeded(seed)
        return mask_tokens(
            self.sample(n, generator=generator),
            **asdict(corruption),
            vocabulary=self.vocabulary,
            at_least_one=False,
            generator=generator,
        )

    @checked
    def truth(
        self,
        inputs: Lines,
        selected: Selected,
        direction: Direction = "both",
        corruption: Corruption = BERT,
    ) -> Tensor:
        """Return P(x_i | x̃, i ∈ M) at the selected positions, by Bayes' rule over all sentences.

        Args:
            inputs: corrupted sentences x̃, shape ``(n, length)``.
            selected: the questions: boolean, ``(n, length)``. That a position is asked about says
                that it was selected; of the others each answer knows only what it reads.
            direction: what is read. A one-sided reader sees its own corrupted symbol and what is on
                its side, and does not know how long the sentence is on the other.
            corruption: how x̃ was made.

        Returns:
            Shape ``(|M|, n_ordinary)``, float64, in the order of ``inputs[selected]``.

        Raises:
            ValueError: nothing that is said here can have become one of these.
        """
        parts = []
        for questions in torch.split(selected.nonzero(), LINES_AT_ONCE):
            rows, at = questions.T
            weights, symbols = self._weighed(inputs[rows], at[:, None], direction, corruption)
            parts.append(self._marginal(weights, symbols[0], self.vocabulary.n_ordinary))
        return torch.cat(parts)

    @checked
    def joint(
        self, input_ids: Line, first: int, second: int, corruption: Corruption = BERT
    ) -> Tensor:
        """Return P(x_a, x_b | x̃, both selected) for one line ``(length,)``: row a, column b."""
        first, second = positions([first, second], len(input_ids))
        if first == second:
            raise ValueError(f"A joint guess is about two gaps, and both of these are at {first}.")
        n = self.vocabulary.n_ordinary
        at = torch.tensor([[first, second]])
        weights, (a, b) = self._weighed(input_ids[None], at, "both", corruption)
        return self._marginal(weights, a.clamp(max=n - 1) * n + b.clamp(max=n - 1), n * n).view(
            n, n
        )

    def _weighed(
        self, inputs: Tensor, at: Tensor, direction: Direction, corruption: Corruption
    ) -> tuple[Tensor, list[Tensor]]:
        """Weigh every sentence by Bayes' rule.

        Args:
            inputs: shape ``(questions, length)``.
            at: the positions known to be selected, shape ``(questions, k)``; one for one side.
            direction: what is read.
            corruption: how the inputs were made.

        Returns:
            P(sentence | what is read), ``(questions, sentences)``, and for each of the k positions
            the symbol there of each sentence, ``(questions, sentences)``.
        """
        pad = self.vocabulary.ids[PAD]
        known_symbols(inputs, len(self.vocabulary))
        if (inputs[:, self.max_len :] != pad).any():
            raise TextError(
                f"The line is longer than any of this world, whose sentences have at most "
                f"{counted(self.max_len - 2, 'word')}."
            )
        inputs = F.pad(inputs, (0, self.max_len - inputs.shape[1]), value=pad)
        sentences = self.input_ids
        if direction == "right":  # it counts from the end, for it does not see the beginning
            at = at + (inputs == pad).sum(1, keepdim=True)
            inputs, sentences = _at_the_right(inputs, pad), _at_the_right(sentences, pad)
        anywhere = _log_channel(corruption, self.vocabulary, selected=False)
        here = _log_channel(corruption, self.vocabulary, selected=True)
        weights = self.probabilities.log().repeat(len(inputs), 1)
        for j in range(self.max_len):
            known = (at == j).any(1)[:, None]  # (questions, 1)
            log_likelihood = torch.where(known, here[inputs[:, j]], anywhere[inputs[:, j]])
            if direction != "both":
                beyond = (at[:, 0] < j) if direction == "left" else (at[:, 0] > j)
                log_likelihood[beyond] = 0.0
            weights += log_likelihood[:, sentences[:, j]]
        if (weights.max(1).values < IMPOSSIBLE / 2).any():
            wrong = inputs[weights.max(1).values.argmin()]
            line = self.vocabulary.decode(wrong[wrong < self.vocabulary.mask_id + 1], gap=GAP)
            raise TextError(
                f"Nothing that is said in this world can have become {shown(line)}; try other "
                "words."
            )
        symbols = [sentences[:, at[:, k]].T for k in range(at.shape[1])]
        return weights.softmax(dim=1), symbols

    @staticmethod
    def _marginal(weights: Tensor, symbols: Tensor, n: int) -> Tensor:
        """Add up the weights of the sentences by what they hold: shape ``(questions, n)``."""
        marginal = torch.zeros(len(weights), n, dtype=torch.float64)
        return marginal.scatter_add_(1, symbols.clamp(max=n - 1), weights)

    # What that is worth

    def floor(
        self, batch: MaskedBatch, direction: Direction = "both", corruption: Corruption = BERT
    ) -> Mean:
        """Return the mean loss of the truth on these questions: no reader pays less on average.

        This Bayes-optimal, irreducible loss is the mean entropy of the exact answers, which varies
        far less from draw to draw than the cost of what was actually drawn.
        """
        truth = self.truth(batch.inputs, batch.selected, direction, corruption)
        return _mean(torch.special.entr(truth).sum(1), batch.selected)

    def excess(
        self,
        model: Model,
        batch: MaskedBatch,
        direction: Direction = "both",
        corruption: Corruption = BERT,
    ) -> Mean:
        """Return the mean KL(truth ‖ model) in nats: what the model pays above the floor."""
        truth = self.truth(batch.inputs, batch.selected, direction, corruption)
        log_probs = log_probs_at(model, batch.inputs, batch.selected)
        surplus = torch.where(truth > 0, truth * (truth.log() - log_probs), 0.0).sum(1)
        return _mean(surplus.clamp(min=0), batch.selected)  # rounding may be below

    def __repr__(self) -> str:
        return (
            f"World({counted(len(self.sentences), 'sentence')} of at most "
            f"{counted(self.max_len - 2, 'word')}, {counted(self.vocabulary.n_ordinary, 'word')}, "
            f"entropy {self.entropy:.3f} nats)"
        )


class Truth:
    """The Bayes-optimal reader: it answers with the exact probabilities of a world.

    Args:
        world: whose sentences are read.
        direction: what it sees.
        corruption: how it assumes the sentences were corrupted.
    """

    def __init__(
        self, world: World, direction: Direction = "both", corruption: Corruption = BERT
    ) -> None:
        self.world, self.direction, self.corruption = world, direction, corruption
        self.vocabulary = world.vocabulary

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return log P at the selected positions of ``(batch, length)``: ``(|M|, |V|)``."""
        probs = self.world.truth(input_ids, selected, self.direction, self.corruption)
        return F.pad(probs, (0, len(self.vocabulary) - self.vocabulary.n_ordinary)).log()


def _at_the_right(input_ids: Tensor, pad: int) -> Tensor:
    """Move the padding of lines ``(n, length)`` from their right ends to their left."""
    length = input_ids.shape[1]
    shift = (input_ids == pad).sum(1, keepdim=True)
    return input_ids.gather(1, (torch.arange(length) - shift) % length)


def _mean(values: Tensor, selected: Tensor) -> Mean:
    """Average over questions ``(|M|,)``, of which those of one sentence are not independent.

    The standard error is that of a ratio of sums over sentences: of costs, and of questions.

    Raises:
        ValueError: there is no question.
    """
    number_selected(selected)
    mean = values.mean()
    sentence = selected.nonzero(as_tuple=True)[0]
    off = torch.zeros(len(selected), dtype=values.dtype).index_add_(0, sentence, values - mean)
    return Mean(float(mean), float(off.square().sum().sqrt() / len(values)))
