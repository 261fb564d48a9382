"""What notebook 07 measures: steps against the truth, one gap by four readers, the results file."""

from __future__ import annotations

import functools
import math
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from cloze.encoder import EncoderConfig
from cloze.heads import CausalLM, MaskedLM
from cloze.lessons.one_side_or_both import checks
from cloze.lessons.one_side_or_both.steps import steps
from cloze.prediction.answers import predict
from cloze.prediction.causal import log_posterior
from cloze.vocabulary import PAD, VOCABULARY
from cloze.world import World
from measured.one_side_or_both import filling

WORLD = World(
    {"the dog barks": 0.4, "the dog sleeps": 0.2, "the cat sleeps here": 0.3, "a cat sleeps": 0.1}
)


def next_words(prefixes: Tensor) -> Tensor:
    """Return P(next word | all before it) in the world for ``(n, length)``: ``(n, |V|)``."""
    length = prefixes.shape[1]
    fits = (WORLD.input_ids[None, :, :length] == prefixes[:, None]).all(-1)
    found = torch.zeros(len(prefixes), len(WORLD.vocabulary), dtype=torch.float64)
    following = WORLD.input_ids[:, length].expand(len(prefixes), -1)
    found.scatter_add_(1, following, fits * WORLD.probabilities)
    return found / found.sum(1, keepdim=True).clamp(min=1e-300)


def test_steps_are_the_means_over_all_beginnings() -> None:
    model = CausalLM(WORLD.config("left"), WORLD.vocabulary).eval().requires_grad_(False)
    said = model(WORLD.input_ids).log_softmax(-1).double()
    found = steps(WORLD, model)
    assert [step.words for step in found] == [0, 1, 2, 3, 4]
    for t, step in enumerate(found, start=1):
        beginnings: dict[tuple[int, ...], tuple[float, float, float]] = {}
        ended = 0.0
        for row, line in enumerate(WORLD.input_ids.tolist()):
            own = math.prod(
                math.exp(said[row, i, line[i]])
                for i in range(1, t)
                if line[i] != WORLD.vocabulary.ids[PAD]
            )
            if line[t] == WORLD.vocabulary.ids[PAD]:
                ended += own
                continue
            truth = next_words(WORLD.input_ids[row, None, :t])[0]
            kl = sum(p * (math.log(p) - said[row, t, i]) for i, p in enumerate(truth) if p)
            mass = sum(
                p
                for p, other in zip(WORLD.probabilities, WORLD.input_ids, strict=True)
                if other[:t].tolist() == line[:t]
            )
            beginnings[tuple(line[:t])] = (float(mass), own, float(kl))
        masses, owns, kls = zip(*beginnings.values(), strict=True)
        assert step.taught == pytest.approx(
            sum(m * k for m, k in zip(masses, kls, strict=True)) / sum(masses), abs=1e-5
        )
        assert step.written == pytest.approx(
            sum(o * k for o, k in zip(owns, kls, strict=True)) / sum(owns), abs=1e-5
        )
        assert step.possible == pytest.approx(sum(owns) + ended, abs=1e-5)


# The results file

SHAPE = EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24)
LEFT = EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24, direction="left")


def test_every_way_pays_what_the_package_says() -> None:
    masked, causal = MaskedLM(SHAPE).eval(), CausalLM(LEFT).eval()
    gaps = [5, 6]
    line = VOCABULARY.encode("the cat sat on")
    answered = {name: way(line, gaps)[0] for name, way in filling.ways(masked, causal).items()}
    bayes = log_posterior(causal, line, gaps)[tuple(line[gaps])]
    left = log_posterior(causal, line[: gaps[-1] + 1], gaps)[tuple(line[gaps])]
    assert answered["causal, Bayes"] == pytest.approx(-bayes.item(), abs=1e-4)
    assert answered["left side"] == pytest.approx(-left.item(), abs=1e-4)
    apart = predict(masked, line, gaps).costs.sum().item()
    assert answered["masked"] == pytest.approx(apart, abs=1e-4)


def test_right_is_what_is_wholly_right() -> None:
    causal, masked = CausalLM(LEFT).eval(), MaskedLM(SHAPE).eval()
    line = VOCABULARY.encode("the cat sat on")
    best = line.clone()
    posterior = log_posterior(causal, line, [4, 5])
    best[[4, 5]] = torch.stack(torch.unravel_index(posterior.argmax(), posterior.shape))
    assert filling.by_bayes(causal)(best, [4, 5])[1]
    best[4] = (best[4] + 1) % 28
    assert not filling.by_bayes(causal)(best, [4, 5])[1]
    way = filling.at_once(masked)
    hits = [way(torch.cat([line[:4], torch.tensor([c]), line[5:]]), [4])[1] for c in range(28)]
    assert hits.count(True) == 1


# What the exercises ask for is what the package computes.


def _of_one(model: nn.Module, ids: Tensor) -> Tensor:
    return cast(Tensor, model(ids[None])[0])


def test_the_exercises_are_the_package() -> None:
    line = VOCABULARY.encode("the cat sat on the mat")
    causal, masked = CausalLM().eval(), MaskedLM().eval()
    with torch.no_grad():
        assert checks.leaks(lambda ids: causal(ids[None])[0], line) == []
        for leaky in (causal.encoder, masked):  # the encoder alone: its input is not moved
            leaks = checks.leaks(functools.partial(_of_one, leaky), line)
            assert leaks == [*range(len(line))]
