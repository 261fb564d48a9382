"""The page's engine against torch: logits, gradient, step, files, tensor by tensor."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze import checkpoint
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, mask_tokens
from cloze.training import Recipe, TrainingRun, _optimizers
from cloze.world import World
from tests.page.node import Node
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
# Takes a step on each batch.
STEPS = """({ config, lines, length, parameters, batches, rates }) => {
  const engine = new Engine(new WebAssembly.Instance(module), config, lines);
  engine.parameters.set(parameters);
  const out = { nats: [] };
  batches.forEach((batch, n) => {
    const [ids, selected, labels] = batch.map((x) => Int32Array.from(x));
    if (n === 0) out.logits = [...engine.logits(ids, length, selected)];
    out.nats.push(engine.lossAndGradient({ ids, selected, labels }, length));
    if (n === 0) out.gradients = [...engine.gradients];
    for (const job of engine.ahead()) engine.gradients.set(engine.straightened(job), job.at);
    engine.step(n + 1, rates);
    if (n === 0) out.after = [...engine.parameters];
  });
  return out;
}"""
TRAIN = """async ({ config, recipe, text, parameters }) => {
  const instance = new WebAssembly.Instance(module);
  const training = new Training(instance, config, Int32Array.from(text), recipe);
  const own = [...training.engine.parameters];
  training.engine.parameters.set(parameters);
  const nats = [];
  for (let n = 0; n < 6; n++) nats.push(await training.step());
  return { nats, own, state: [...training.generator.state] };
}"""
# Goes on with the run of a file, or begins one, for two steps, then writes it, and goes on for two.
RESUME = """async ({ config, recipe, text, corpus, from }) => {
  const ids = Int32Array.from(text);
  const instance = new WebAssembly.Instance(module);
  const file = from && (await readFile(Uint8Array.from(from).buffer, "x.safetensors"));
  const about = file?.about ?? { config, recipe, history: [] };
  const training = new Training(instance, about.config, ids, about.recipe);
  if (file) takeOver(training, file);
  const { history } = about;
  const nats = [];
  let run;
  for (let n = 0; n < 4; n++) {
    if (n === 2) run = [...(await written(training, corpus, history))];
    const loss = await training.step();
    nats.push(loss);
    history.push([training.done, 256 * training.done, 0.5, Math.round(loss * 1e4) / 1e4, null]);
  }
  return { nats, run };
}"""


def drawn(shape: str) -> tuple[MaskedLM, list[MaskedBatch]]:
    """Make a model with random weights, and a batch for each step."""
    config, lines, length = SHAPES[shape]
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    batches = [
        mask_tokens(torch.randint(28, (lines, length), generator=draw), 0.3, generator=draw)
        for _ in range(3)
    ]
    return MaskedLM(config), batches


def flat(model: MaskedLM) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def parts(numbers: Tensor, model: MaskedLM) -> tuple[Tensor, ...]:
    """Cut what belongs to all parameters into what belongs to each."""
    return torch.split(numbers, [p.numel() for p in model.parameters()])


def case(model: MaskedLM, batches: list[MaskedBatch]) -> dict[str, Any]:
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
            [
                batch.inputs.flatten().tolist(),
                batch.selected.flatten().nonzero().flatten().tolist(),
                batch.labels[batch.selected].tolist(),
            ]
            for batch in batches
        ],
        "rates": dict(zip(names, (*rates, RECIPE.weight_decay), strict=True)),
    }


def close(found: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Tell whether a tensor is as expected, relative to its length."""
    return bool((found - expected).norm() <= tolerance * expected.norm())


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_loss_gradients_and_steps_are_torch_s(shape: str, node: Node) -> None:
    model, batches = drawn(shape)
    found = node.evaluate(STEPS, case(model, batches))
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


def short_corpus() -> Corpus:
    return replace(Corpus.load(), train=Corpus.load().train[:2])


def to_train(corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Say in numbers what the page is to train."""
    text = corpus.train_ids.tolist()
    return {"config": asdict(EncoderConfig()), "recipe": asdict(recipe), "text": text}


def test_the_page_trains_on_what_python_draws(node: Node) -> None:
    corpus = short_corpus()
    torch.manual_seed(0)
    run = TrainingRun(MaskedLM(), corpus, Recipe(steps=10, batch_size=4, seed=5, evaluations=0))
    given = to_train(corpus, run.recipe) | {"parameters": flat(run.model).tolist()}
    found = node.evaluate(TRAIN, given)
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
    node: Node, tmp_path: Path
) -> None:
    corpus = short_corpus()
    recipe = Recipe(steps=10, batch_size=4, seed=5, evaluations=0, weight_decay=1e-5)
    given = to_train(corpus, recipe) | {"corpus": corpus.sha256}
    path = tmp_path / "run.safetensors"
    begun = node.evaluate(RESUME, given)
    path.write_bytes(bytes(begun["run"]))
    run = TrainingRun.load(path, corpus)
    assert run.step == 2
    run.save(path)
    again = node.evaluate(RESUME, {**given, "from": list(path.read_bytes())})
    assert again["nats"][:2] == begun["nats"][2:]
    assert [run.train_step() for _ in range(4)] == pytest.approx(again["nats"], abs=1e-2)


# Trains for three steps with so many workers, of which one ends in the second step if it is to, and
# returns the digest of the run, and how often the workers have answered.
SHARE = """async ({ config, recipe, text, workers, ends }) => {
  const instance = new WebAssembly.Instance(module);
  const training = new Training(instance, config, Int32Array.from(text), recipe);
  const hired = Array.from({ length: workers }, () => run(script));
  let answers = 0;
  for (const worker of hired) {
    worker.addEventListener("message", () => answers++);
    training.crew.hire(worker, { module, config, lines: training.lines });
  }
  while (answers < workers) await new Promise((resolve) => setTimeout(resolve, 10));
  for (let n = 0; n < 3; n++) {
    const step = training.step();
    if (ends && n === 1) hired[0].terminate();
    await step;
  }
  for (const worker of hired) worker.terminate();
  const bytes = await written(training, "", []);
  return [[...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].join(), answers];
}"""


def shared(workers: int, ends: bool = False) -> dict[str, Any]:
    """Say what is to be trained by so many workers; with nine lines, the last shard is shorter."""
    recipe = Recipe(steps=9, batch_size=9)
    return to_train(short_corpus(), recipe) | {"workers": workers, "ends": ends}


def test_any_number_of_workers_trains_to_the_same_bytes_and_one_may_end(node: Node) -> None:
    alone, _ = node.evaluate(SHARE, shared(0))
    for workers, ends in ((1, False), (2, False), (3, False), (1, True), (2, True)):
        run, answers = node.evaluate(SHARE, shared(workers, ends))
        assert run == alone
        assert answers > workers, "they can work, and they have"


READ = """async (path) => readFile(await bytes(path), "x").then(
  ({ about }) => about.kind, (error) => error.message)"""


def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(node: Node, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"

    def refused(words: str) -> None:
        assert words in node.evaluate(READ, str(path))

    def saved(recipe: Recipe) -> None:
        TrainingRun(MaskedLM(), Corpus.load(), recipe).save(path)

    saved(Recipe(steps=9))
    assert node.evaluate(READ, str(path)) == "run"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"!")
    refused("x is damaged: it is not what was written; restore it, or train it again.")
    for other in (b"", whole[:99], whole[:-99], whole + b"\0", b"<!doctype html>"):
        path.write_bytes(other)
        refused("x is not a checkpoint of Cloze, or only a part of one; choose another file.")
    saved(Recipe(steps=9, length=32))
    refused("x trains on windows of 32 characters, and the page on 64; continue it in Python with")
    saved(Recipe(steps=9, batch_size=8192))
    refused("x needs more memory than a page has; use it in Python.")
    world = World.load()
    words = MaskedLM(EncoderConfig(vocab_size=len(world.vocabulary)), world.vocabulary)
    checkpoint.save_model(path, words, {})
    refused("x reads other symbols than the page; use it in Python.")
    about = {"kind": "model", "config": asdict(EncoderConfig())}
    checkpoint.write(path, {"x": torch.zeros(1)}, about | {"objective": "electra"})
    refused("x holds no masked language model; choose another file.")
    checkpoint.write(path, {"x": torch.zeros(1)}, about)
    refused("x does not fit this version of Cloze; train it again.")


CRAFTED: list[tuple[str, dict[str, Any]]] = [
    *(
        ("this version of Cloze;", {"config": changed})
        for changed in (
            *({"n_heads": 0}, {"n_heads": 3}, {"n_layers": 10**6}),
            *({"rotary_base": None}, {"rotary_base": -1}),
        )
    ),
    ("its windows are too long", {"config": {"max_len": 7}}),
    ("more memory than a page has", {"config": {"max_len": 2**16}}),
    ("its history", {"history": [None]}),
]


@pytest.mark.parametrize(("words", "crafted"), CRAFTED)
def test_a_file_whose_numbers_do_not_fit_is_refused(
    words: str, crafted: dict[str, Any], node: Node, tmp_path: Path
) -> None:
    path = tmp_path / "x.safetensors"
    TrainingRun(MaskedLM(), Corpus.load(), Recipe(steps=9)).save(path)
    tensors, metadata = checkpoint.read(path, "run")
    for part, changed in crafted.items():
        metadata[part] = metadata[part] | changed if isinstance(changed, dict) else changed
    checkpoint.write(path, tensors, metadata)
    assert words in node.evaluate(READ, str(path))


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
