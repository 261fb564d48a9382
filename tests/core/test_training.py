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
from cloze.masking import held_out_batch, mask_tokens
from cloze.muon import Muon, orthogonalise
from cloze.training import EVEN, Recipe, Record, TrainingRun, fit, steps_in
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


@pytest.fixture(scope="module")
def uninterrupted(corpus: Corpus) -> TrainingRun:
    run = new_run(corpus)
    assert list(fit(run, progress=False)) == run.history
    return run


def finish(run: TrainingRun) -> list[Record]:
    return list(fit(run, progress=False))


def timeless(history: list[Record]) -> list[Record]:
    return [record._replace(seconds=0) for record in history]


def assert_same(run: TrainingRun, other: TrainingRun) -> None:
    """Assert that two runs are equal bit for bit, seconds excepted."""
    assert run.step == other.step
    assert timeless(run.history) == timeless(other.history)
    assert torch.equal(run.generator.get_state(), other.generator.get_state())
    theirs = other.model.state_dict()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in run.model.state_dict().items())


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


def test_a_run_repeats_bit_for_bit(corpus: Corpus, uninterrupted: TrainingRun) -> None:
    again = new_run(corpus)
    finish(again)
    assert_same(again, uninterrupted)
    other = new_run(corpus, Recipe(**{**vars(RECIPE), "seed": 1}))
    finish(other)
    assert other.history[-1].loss != again.history[-1].loss


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


def stop_by_flag(run: TrainingRun) -> None:
    assert len(list(fit(run, stop=lambda: run.step >= 5, progress=False))) == 5


def stop_by_signal_in(module: ModuleType, call: int) -> Callable[[TrainingRun], None]:
    """Stop by a real SIGINT that arrives while the loss is computed, in a step or in measuring."""

    def stop(run: TrainingRun) -> None:
        with interrupt_in(module, "mlm_loss", call), pytest.raises(KeyboardInterrupt):
            finish(run)

    return stop


STOPS = [
    stop_by_flag,
    pytest.param(stop_by_signal_in(objectives, 8), id="signal in a step", marks=CAN_INTERRUPT),
    pytest.param(stop_by_signal_in(evaluation, 3), id="in the last", marks=CAN_INTERRUPT),
]


@pytest.mark.parametrize("saved", [False, True], ids=["at once", "saved and loaded"])
@pytest.mark.parametrize("stop", STOPS)
def test_interrupted_and_resumed_equals_uninterrupted(
    stop: Callable[[TrainingRun], None],
    saved: bool,
    corpus: Corpus,
    uninterrupted: TrainingRun,
    tmp_path: Path,
) -> None:
    run = new_run(corpus)
    handler = signal.getsignal(signal.SIGINT)
    stop(run)
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(run.history) == run.step > 1
    kept = list(run.history)
    if saved:
        run.save(tmp_path / "run")
        torch.manual_seed(99)  # nothing may hang on the global source of chance
        run = TrainingRun.load(tmp_path / "run", corpus)
        assert run.history == kept
    rest = finish(run)
    assert rest == run.history[-len(rest) :]
    assert run.history[: len(kept) - 1] == kept[:-1]  # the last may have been measured since
    assert_same(run, uninterrupted)
    assert finish(run) == []


# Runs that cannot be gone on with


def test_another_corpus_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    new_run(corpus).save(tmp_path / "run")
    other = Corpus(corpus.held_out, corpus.train)
    with pytest.raises(CheckpointError, match="was trained on another corpus"):
        TrainingRun.load(tmp_path / "run", other)


@pytest.fixture(scope="module")
def saved(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run stopped after two steps, saved."""
    path = tmp_path_factory.mktemp("saved") / "run"
    run = new_run(corpus)
    list(islice(fit(run, progress=False), 2))
    run.save(path)
    return path


def test_a_run_of_another_version_is_refused(saved: Path, corpus: Corpus, tmp_path: Path) -> None:
    tensors, metadata = checkpoint.read(saved, "run")
    moment = next(name for name in tensors if name.endswith(".exp_avg"))
    for changed, change, reason in (
        # Going on with a rate that it was not begun with would change it without a word.
        ({}, {"recipe": {"steps": 3}}, "its recipe has other parts; begin anew"),
        ({}, {"history": 3}, "not iterable"),
        ({moment: tensors[moment].new_zeros(3)}, {}, moment),  # another shape corrupted the heap
        ({moment: tensors[moment].double()}, {}, moment),
        ({"optimizer.7.0.step": torch.zeros(())}, {}, "is missing, too many, or has another shape"),
    ):
        checkpoint.write(tmp_path / "run", tensors | changed, metadata | change)
        with pytest.raises(CheckpointError, match=f"run does not fit this version .*{reason}"):
            TrainingRun.load(tmp_path / "run", corpus)


# Losses that are not finite


def test_a_loss_that_is_not_finite_stops_training_before_it_is_learned_from(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(corpus)
    list(islice(fit(run, progress=False), 3))
    before = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}
    monkeypatch.setattr(objectives, "mlm_loss", lambda *_: torch.tensor(math.nan))
    with pytest.raises(FloatingPointError, match="not finite any more after step 3"):
        finish(run)
    assert run.step == 3
    after = run.model.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


def test_weights_that_are_not_finite_are_noticed_by_measuring(corpus: Corpus) -> None:
    run = new_run(corpus)
    with torch.no_grad():
        run.model.head.bias.fill_(math.nan)
    with pytest.raises(FloatingPointError):
        run.measure()


# The recipe


def test_the_schedule_rises_to_one_and_falls_to_nothing() -> None:
    recipe = Recipe(steps=100, warmup=0.2)
    factors = [recipe.schedule(step) for step in range(100)]
    assert factors[:20] == pytest.approx([k / 20 for k in range(1, 21)])
    assert max(factors) == 1
    assert factors[20] == 1
    assert factors[20:] == pytest.approx([(100 - step) / 80 for step in range(20, 100)])
    assert Recipe(steps=1).schedule(0) == 1


@pytest.mark.parametrize("steps", [1, 7, 1250])
def test_measuring_gets_rarer_and_ends_with_the_last_step(steps: int) -> None:
    moments = sorted(Recipe(steps=steps).evaluated_after())
    assert moments[0] >= 1
    assert moments[-1] == steps
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    if steps == 1250:
        assert len(moments) == 8
        assert gaps == sorted(gaps)
    assert Recipe(steps=steps, evaluations=0).evaluated_after() == set()


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"batch_size": 60_000, "length": 64}, {"warmup": 1.0}]
)
def test_a_recipe_that_cannot_be_followed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}"):
        Recipe(**wrong)


def test_windows_longer_than_the_model_reads_are_refused(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="Windows of 65 characters are too long"):
        new_run(corpus, Recipe(length=65))


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
    assert (len(theirs[0]), len(theirs[1])) == (2 * 2, 2 * 4)
    recipe = run.recipe
    rates = (recipe.query_key_learning_rate, recipe.matrix_learning_rate, recipe.learning_rate)
    assert peaks == rates
    assert [o.param_groups[0]["weight_decay"] for o in optimizers] == [0.1, 0.1, 0]


def test_the_data_card_names_the_rates_that_the_shipped_checkpoints_were_trained_with() -> None:
    said = (Path(__file__).parents[2] / "data" / "README.md").read_text("utf-8")
    for name in ("matrix_learning_rate", "query_key_learning_rate"):
        assert f"--{name.replace('_', '-')} {getattr(EVEN, name)}" in said


# Muon


def random_matrices(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("shape", "scale"), [((3, 32, 32), 1.0), ((3, 16, 48), 1e-3), ((3, 48, 16), 1e4)]
)
def test_orthogonalise_brings_singular_values_near_one_and_keeps_the_vectors(
    shape: tuple[int, int, int], scale: float
) -> None:
    u, _, v = torch.linalg.svd(random_matrices(*shape), full_matrices=False)
    values = torch.logspace(0, -2, u.shape[2])
    result = orthogonalise(scale * (u * values) @ v)
    inner = u.transpose(1, 2) @ result @ v.transpose(1, 2)
    after = inner.diagonal(dim1=1, dim2=2)
    assert after.min() > 0.13
    assert after.max() < 1.87
    assert (inner - torch.diag_embed(after)).abs().max() < 1e-3


def test_matrices_are_orthogonalised_independently() -> None:
    matrices = random_matrices(4, 16, 24)
    alone = torch.cat([orthogonalise(matrix[None]) for matrix in matrices])
    assert torch.allclose(orthogonalise(matrices), alone, atol=1e-5)
    assert not orthogonalise(torch.zeros(1, 4, 4)).any()


def steps_of(make: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]) -> list[Tensor]:
    """Take three steps with fixed gradients and return how far each parameter went."""
    parameters = [torch.nn.Parameter(m.clone()) for m in random_matrices(2, 32, 16)]
    parameters.append(torch.nn.Parameter(random_matrices(16, 32)))
    start = [p.detach().clone() for p in parameters]
    optimizer = make(parameters)
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        for p in parameters:
            p.grad = torch.randn(p.shape, generator=generator)
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


# One text for all


# Measuring


def test_held_out_loss_is_the_loss_of_everything_at_once(corpus: Corpus) -> None:
    model = new_run(corpus).model
    held_out = held_out_batch(corpus.held_out_windows(8))
    assert len(held_out.inputs) == 16
    at_once = mlm_loss(model(held_out.inputs), held_out.labels).item()
    assert held_out_loss(model, held_out, 7) == pytest.approx(at_once, abs=1e-6)


def test_steps_in_counts_the_steps_of_a_trial(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(1000))
    # A step looks at the clock twice itself, so that every step takes three seconds.
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    assert steps_in(60, new_run(corpus)) == 20
    assert steps_in(0.1, new_run(corpus)) == 1
