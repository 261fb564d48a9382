"""Training: runs that repeat, stop anywhere and go on exactly; Muon; measuring on the way."""

import math
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze import checkpoint, evaluation, objectives
from cloze.checkpoint import CheckpointError
from cloze.corpus import DATA, Corpus, Piece, sample_windows
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import mask_tokens
from cloze.muon import Muon, orthogonalise
from cloze.training import Recipe, Record, TrainingRun, fit, steps_in
from cloze.vocabulary import normalise
from tests.interrupting import CAN_INTERRUPT, interrupt_in

STEPS = 12
RECIPE = Recipe(steps=STEPS, batch_size=2, length=32, evaluations=3)  # measures after 1, 5 and 12


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    text = normalise((DATA / "sample.txt").read_text("ascii")).text
    return Corpus((Piece("a", text),), (Piece("b", text[:128]),))


def new_run(corpus: Corpus, recipe: Recipe = RECIPE) -> TrainingRun:
    torch.manual_seed(0)
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24)
    return TrainingRun(MaskedLM(config), corpus, recipe)


def finish(run: TrainingRun) -> list[Record]:
    return list(fit(run, progress=False))


@pytest.fixture(scope="module")
def uninterrupted(corpus: Corpus) -> TrainingRun:
    run = new_run(corpus)
    assert finish(run) == run.history
    return run


# A run and its history


def test_every_step_is_recorded(uninterrupted: TrainingRun) -> None:
    history = uninterrupted.history
    assert uninterrupted.finished
    assert [record.step for record in history] == list(range(1, STEPS + 1))
    assert [record.characters for record in history] == [64 * k for k in range(1, STEPS + 1)]
    assert all(earlier.seconds < later.seconds for earlier, later in pairwise(history))
    assert [r.step for r in history if r.held_out is not None] == [1, 5, 12]
    assert history[-1].held_out == held_out_loss(uninterrupted.model, uninterrupted.held_out)
    assert repr(uninterrupted) == "TrainingRun(step 12 of 12)"
    assert finish(uninterrupted) == []


def test_a_step_is_the_loop_of_the_notebook(corpus: Corpus) -> None:
    run, by_hand = new_run(corpus), new_run(corpus)
    for step in range(4):
        for optimizer, peak in by_hand.optimizers:
            optimizer.param_groups[0]["lr"] = peak * RECIPE.schedule(step)
        windows = sample_windows(corpus.train_ids, 2, 32, by_hand.generator)
        inputs, labels = mask_tokens(windows, 0.3, generator=by_hand.generator)
        selected = labels >= 0
        loss = mlm_loss(by_hand.model.logits_at(inputs, selected), labels[selected])
        by_hand.model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, _ in by_hand.optimizers:
            optimizer.step()
        assert run.train_step() == loss.item()
    theirs = by_hand.model.state_dict()
    assert all(torch.equal(t, theirs[name]) for name, t in run.model.state_dict().items())


# Stopping and going on


@CAN_INTERRUPT
@pytest.mark.parametrize("saved", [False, True], ids=["at once", "saved and loaded"])
@pytest.mark.parametrize(("module", "call"), [(objectives, 8), (evaluation, 3)])
def test_interrupted_and_resumed_equals_uninterrupted(
    module: ModuleType,
    call: int,
    saved: bool,
    corpus: Corpus,
    uninterrupted: TrainingRun,
    tmp_path: Path,
) -> None:
    """A real SIGINT arrives while the loss is computed, in a step or in the last measurement."""
    run = new_run(corpus)
    handler = signal.getsignal(signal.SIGINT)
    with interrupt_in(module, "mlm_loss", call), pytest.raises(KeyboardInterrupt):
        finish(run)
    assert signal.getsignal(signal.SIGINT) is handler
    before = list(run.history)
    assert len(before) == (8 if module is objectives else STEPS)
    if saved:
        run.save(tmp_path / "run")
        torch.manual_seed(99)  # nothing may hang on the global source of chance
        run = TrainingRun.load(tmp_path / "run", corpus)
        assert run.history == before
    rest = finish(run)
    assert rest == run.history[-len(rest) :]
    histories = ([r._replace(seconds=0) for r in each.history] for each in (run, uninterrupted))
    assert next(histories) == next(histories)
    assert torch.equal(run.generator.get_state(), uninterrupted.generator.get_state())
    weights = uninterrupted.model.state_dict()
    assert all(torch.equal(t, weights[name]) for name, t in run.model.state_dict().items())


def test_a_run_of_something_else_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    run = new_run(corpus)
    list(islice(fit(run, progress=False), 2))
    run.save(tmp_path / "run")
    with pytest.raises(CheckpointError, match="was trained on another corpus"):
        TrainingRun.load(tmp_path / "run", Corpus(corpus.held_out, corpus.train))
    tensors, metadata = checkpoint.read(tmp_path / "run", "run")
    moment = next(name for name in tensors if name.endswith(".exp_avg"))
    for changed, change, reason in (
        # Going on with a rate that it was not begun with would change it without a word.
        ({}, {"recipe": {"steps": 3}}, "its recipe has other parts; begin anew"),
        ({}, {"objective": "both ways"}, "no objective 'both ways', only masked, causal, "),
        ({moment: tensors[moment].new_zeros(3)}, {}, moment),  # another shape corrupted the heap
    ):
        checkpoint.write(tmp_path / "other", tensors | changed, metadata | change)
        with pytest.raises(CheckpointError, match=f"does not fit this version .*{reason}"):
            TrainingRun.load(tmp_path / "other", corpus)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"batch_size": 60_000, "length": 64}, "batch_size times length is at most"),
        ({"length": 65}, "Windows of 65 characters are too long"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(
    change: dict[str, Any], reason: str, corpus: Corpus
) -> None:
    with pytest.raises(ValueError, match=reason):
        new_run(corpus, replace(RECIPE, **change))


def test_a_loss_that_is_not_finite_stops_before_it_is_learned_from(corpus: Corpus) -> None:
    run = new_run(corpus)
    with torch.no_grad():
        run.model.head.bias[0] = math.nan
    before = run.model.encoder.embedding.weight.clone()
    for use in (run.train_step, run.measure):
        with pytest.raises(FloatingPointError, match="not finite any more after step 0"):
            use()
    assert torch.equal(run.model.encoder.embedding.weight, before)
    assert run.history == []


# The recipe


def test_the_schedule_rises_to_one_and_falls_to_nothing() -> None:
    recipe = Recipe(steps=100, warmup=0.2)
    factors = [recipe.schedule(step) for step in range(100)]
    assert factors[:20] == pytest.approx([k / 20 for k in range(1, 21)])
    assert max(factors) == 1
    assert factors[20] == 1
    assert factors[20:] == pytest.approx([(100 - step) / 80 for step in range(20, 100)])
    assert Recipe(steps=1).schedule(0) == 1
    assert Recipe(steps=1).evaluated_after() == {1}
    assert Recipe(evaluations=0).evaluated_after() == set()


def test_the_matrices_of_the_layers_go_to_muon_and_the_rest_to_adamw(corpus: Corpus) -> None:
    run = new_run(corpus, replace(RECIPE, weight_decay=0.1))
    names = {id(p): name for name, p in run.model.named_parameters()}
    optimizers, peaks = zip(*run.optimizers, strict=True)
    theirs = [{names[id(p)] for p in o.param_groups[0]["params"]} for o in optimizers]
    assert [type(o) for o in optimizers] == [Muon, Muon, torch.optim.AdamW]
    matrices = {n for n in names.values() if ".layers." in n and "weight" in n and "norm" not in n}
    assert theirs[0] == {n for n in matrices if "query" in n or "key" in n}
    assert theirs[1] == matrices - theirs[0]
    assert theirs[2] == set(names.values()) - matrices
    assert peaks == (7.5e-3, 3e-2, 1e-2)
    assert [o.param_groups[0]["weight_decay"] for o in optimizers] == [0.1, 0.1, 0]


# Muon


@pytest.mark.parametrize("shape", [(3, 16, 48), (3, 48, 16)])
def test_orthogonalise_brings_singular_values_near_one_and_keeps_the_vectors(
    shape: tuple[int, int, int],
) -> None:
    u, _, v = torch.linalg.svd(torch.randn(shape), full_matrices=False)
    scales = torch.tensor([1.0, 1e-3, 1e4])[:, None, None]
    result = orthogonalise(scales * (u * torch.logspace(0, -2, 16)) @ v)
    inner = u.transpose(1, 2) @ result @ v.transpose(1, 2)
    after = inner.diagonal(dim1=1, dim2=2)
    assert after.min() > 0.13
    assert after.max() < 1.87
    assert (inner - torch.diag_embed(after)).abs().max() < 1e-3


def steps_of(make: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]) -> list[Tensor]:
    """Take three steps with fixed gradients and return how far each parameter went."""
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(n, 48 - n)) for n in (32, 32, 16)]
    start = [p.detach().clone() for p in parameters]
    optimizer = make(parameters)
    for _ in range(3):
        for p in parameters:
            p.grad = torch.randn(p.shape)
        optimizer.step()
    return [p.detach() - before for p, before in zip(parameters, start, strict=True)]


def test_muon_goes_where_torch_s_muon_goes() -> None:
    ours = steps_of(lambda params: Muon(params, lr=0.02, momentum=0.9))
    theirs = steps_of(lambda params: torch.optim.Muon(params, 0.02, weight_decay=0, momentum=0.9))
    for one, other in zip(ours, theirs, strict=True):
        assert torch.cosine_similarity(one.flatten(), other.flatten(), dim=0) > 0.9
        assert (one.norm() / other.norm()).item() == pytest.approx(1.33, abs=0.15)


def test_muon_decays_weights_and_skips_what_has_no_gradient() -> None:
    decayed, untouched = (torch.nn.Parameter(torch.ones(2, 2)) for _ in range(2))
    decayed.grad = torch.zeros(2, 2)
    Muon([decayed, untouched], lr=0.1, weight_decay=0.5).step()
    assert decayed.detach().numpy() == pytest.approx(0.95)
    assert untouched.detach().numpy() == pytest.approx(1)


def test_steps_in_counts_the_steps_of_a_trial(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(1000))
    # A step looks at the clock twice itself, so that every step takes three seconds.
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    assert steps_in(60, new_run(corpus)) == 20
    assert steps_in(0.1, new_run(corpus)) == 1
