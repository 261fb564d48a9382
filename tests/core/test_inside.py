"""The inside: the parts are those of the encoder's own code, and a change does what it says."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from cloze.encoder import Layer, join
from cloze.heads import MaskedLM
from cloze.inside import Change, anatomy, changed, run
from cloze.lenses import attribution, logit_lens, measurements_of, moved, off
from cloze.masking import seeded
from cloze.prediction.shipped import shipped_model

MODELS = ("both", "left", "causal", "world")
AT = 5


@pytest.fixture(params=MODELS, name="model")
def its_model(request: pytest.FixtureRequest) -> MaskedLM:
    return shipped_model(request.param)


def drawn(model: MaskedLM, lines: int = 8, length: int = 15, seed: int = 0) -> Tensor:
    return torch.randint(model.vocabulary.n_ordinary, (lines, length), generator=seeded(seed))


def test_a_run_answers_what_the_model_answers(model: MaskedLM) -> None:
    ids = drawn(model)
    parts, answer = run(model, ids), model(ids)
    assert (parts["logits"] - answer).nan_to_num().abs().max() < 1e-4
    if model.kind != "causal":
        weights = torch.stack([parts["pattern", n] for n in range(model.config.n_layers)])
        torch.testing.assert_close(weights, model.encoder.attention_weights(ids))


def alike(ours: Tensor, theirs: Tensor) -> bool:
    """Whether two tensors differ by rounding alone: 5e-6, or a millionth of the largest number."""
    return bool((ours - theirs).abs().max() < max(5e-6, 1e-6 * float(theirs.abs().max())))


def test_the_residual_stream_is_the_sum_of_the_parts(model: MaskedLM) -> None:
    parts = run(model, drawn(model))
    stream = parts["embed"]
    for n, layer in enumerate(model.encoder.layers):
        assert isinstance(layer, Layer)
        stream = stream + parts["result", n].sum(dim=2) + layer.attention.output.bias
        assert alike(stream, parts["resid_mid", n])
        stream = stream + parts["mlp_out", n]
        assert alike(stream, parts["resid_post", n])
    last = parts["resid_post", len(model.encoder.layers) - 1]
    assert torch.equal(logit_lens(model, last), parts["logits"])


def test_the_logits_are_the_sum_of_what_the_parts_add(model: MaskedLM) -> None:
    if model.kind == "causal":  # one of its logits is −∞
        return
    parts = run(model, drawn(model))
    whole = torch.stack([*attribution(model, parts, AT).values()]).sum(dim=0)
    answers = deepcopy(nn.Sequential(model.encoder.norm, model.head)).double()
    last = parts["resid_post", model.config.n_layers - 1][:, AT]
    assert (whole - answers(last.double())).abs().max() < 5e-6
    assert (whole - parts["logits"][:, AT]).abs().max() < 2e-5  # which are rounded to float32


def by_hand(model: MaskedLM, ids: Tensor, change: Callable[[str, int, Tensor], Tensor]) -> Tensor:
    """The encoder's own steps, with ``change(part, layer, output)`` after each."""
    x, mask = change("embed", 0, model.encoder.embedding(ids)), model.encoder.make_mask(ids)
    for n, layer in enumerate(model.encoder.layers):
        assert isinstance(layer, Layer)
        attention, normed = layer.attention, layer.attention_norm(x)
        query, key, value = attention.to_heads(
            attention.query(normed), attention.key(normed), attention.value(normed)
        )
        query, key = attention.rotated(query, key)
        z = change("z", n, attention.gather(query, key, value, mask).transpose(1, 2))
        x = x + change("attn_out", n, attention.output(join(z.transpose(1, 2))))
        x = change("resid_mid", n, x)
        x = x + change("mlp_out", n, layer.feed_forward(layer.feed_forward_norm(x)))
        x = change("resid_post", n, x)
    return model.head(model.encoder.norm(x))


@pytest.mark.parametrize("part", ["embed", "z", "attn_out", "mlp_out", "resid_mid", "resid_post"])
def test_a_change_is_what_one_would_do_by_hand(part: Any) -> None:
    model, layer = shipped_model(), int(part != "embed")
    ids, donor = drawn(model), run(model, drawn(model, seed=1))
    key = part if part == "embed" else (part, layer)
    head = 3 if part == "z" else None
    theirs = donor[key] if head is None else donor[key][:, :, head]

    def patch(name: str, n: int, output: Tensor) -> Tensor:
        if (name, n) != (part, layer):
            return output
        output = output.clone()
        here = output if head is None else output[:, :, head]
        here[:, [2, AT]] = theirs[:, [2, AT]]
        return output

    expected = by_hand(model, ids, patch)
    before = model(ids)
    with changed(model, Change(part, layer, theirs, at=[2, AT], head=head)):
        found = model(ids)
    assert (found - expected).abs().max() < 1e-4
    assert (found - before).abs().max() > 0.1
    assert torch.equal(model(ids), before)  # nothing is left behind


def test_the_parts_of_a_changed_run_are_the_changed_ones() -> None:
    model, ids = shipped_model(), drawn(shipped_model())
    parts = run(model, ids, Change("z", 0, head=2), Change("resid_mid", 1, 7.0, at=[AT]))
    assert (parts["result", 0][:, :, 2] == 0).all()
    assert (parts["resid_mid", 1][:, AT] == 7).all()
    stream = parts["resid_mid", 1] + parts["mlp_out", 1]
    assert (stream - parts["resid_post", 1]).abs().max() < 5e-6


def test_each_line_of_a_batch_can_have_places_of_its_own() -> None:
    model, ids = shipped_model(), drawn(shipped_model(), lines=2)
    at = torch.zeros(ids.shape, dtype=torch.bool)
    at[0, 3] = at[1, 7] = True
    together = run(model, ids, Change("mlp_out", 0, at=at))["logits"]
    for i, place in enumerate((3, 7)):
        alone = run(model, ids[i : i + 1], Change("mlp_out", 0, at=[place]))["logits"]
        assert (together[i] - alone[0]).abs().max() < 1e-4


def test_what_a_head_moves_sums_to_what_it_adds_when_it_looks_at_one_place() -> None:
    model = shipped_model("left")
    parts = run(model, drawn(model, lines=1))
    moves = moved(parts, model, 0, 0)  # the first position sees only itself
    assert torch.allclose(moves[0, :, 0], parts["result", 0][0, 0].norm(dim=-1), atol=1e-5)
    assert (moves[0, :, 1:] == 0).all()


OURS, IDS = shipped_model(), torch.zeros(1, 5, dtype=torch.long)
PARTS = run(OURS, IDS)
MEASURED: Any = measurements_of(OURS)
NOTHING: Any = None  # what a type checker would not let through
UNHEARD: Any = "zz"
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "head": (lambda: run(OURS, IDS, Change("z", 0, head=8)), "heads 0 to 7, not 8"),
    "layer": (lambda: run(OURS, IDS, Change("z", -1)), "layers 0 to 1, not -1"),
    "layer of a part": (lambda: PARTS["z", 2], r"no \('z', 2\) here; layers count from 0: "),
    "part": (lambda: Change(UNHEARD), "part is of type Literal.*, not 'zz'"),
    "position": (lambda: run(OURS, IDS, Change("z", at=[5])), "from 0 to 4, not 5"),
    "places": (
        lambda: run(OURS, IDS, Change("z", at=IDS[:, 1:] > 0)),
        r"at has the shape \(1, 4\)",
    ),
    "shape": (
        lambda: run(OURS, IDS, Change("z", to=PARTS["embed"])),
        r"to has the shape \(1, 5, 128\)",
    ),
    "change": (lambda: run(OURS, IDS, NOTHING), "is made by Change or off, not None"),
    "one line": (lambda: run(OURS, IDS[0]), "input_ids is of type Int64"),
    "ids": (lambda: run(OURS, IDS + 99), "Ids run from 0 to 28, not to 99"),
    "model": (lambda: run(nn.Linear(2, 2), IDS), "a model of the kind Linear is not known"),
    "stream": (lambda: logit_lens(OURS, PARTS["z", 0]), "is 128 wide here, and not 16"),
    "moved": (lambda: moved(PARTS, OURS, 0, 5), "from 0 to 4, not 5"),
    "attribution": (lambda: attribution(OURS, PARTS, 5), "from 0 to 4, not 5"),
    "off": (lambda: off("z", 0, MEASURED.means, head=8), "from 0 to 7, not 8"),
    "no mean": (lambda: off("z", 2, MEASURED.means), "There is no"),
    "rung": (lambda: MEASURED.translate("z", PARTS["embed"]), "There is no 'z' here"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_there_is_refused_in_a_sentence(name: str) -> None:
    call, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        call()


# Models of transformers


def relative(kind: str) -> nn.Module:
    """A small model with random weights, the same each time."""
    transformers = pytest.importorskip("transformers")
    sizes: dict[str, Any] = {
        "vocab_size": 60,
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 3,
        "intermediate_size": 64,
        "max_position_embeddings": 40,
        "attn_implementation": "eager",
        **{f"{special}_token_id": 0 for special in ("pad", "bos", "eos", "cls", "sep")},
    }
    if kind == "ModernBert":
        sizes |= {"local_attention": 8, "initializer_range": 0.5}
    torch.manual_seed(0)
    made = getattr(transformers, f"{kind}ForMaskedLM")(
        getattr(transformers, f"{kind}Config")(**sizes)
    )
    return made.eval()


@pytest.mark.parametrize("kind", ["ModernBert", "Bert", "Roberta"])
def test_a_relative_shows_its_inside_and_can_be_changed(kind: str) -> None:
    model = relative(kind)
    ids, other = torch.randint(1, 60, (2, 2, 12), generator=seeded(0))
    parts, donor = run(model, ids), run(model, other)
    answer = model(input_ids=ids, output_attentions=True, output_hidden_states=True)
    assert (parts["logits"] - answer.logits).abs().max() < 1e-4
    for n in range(3):
        assert torch.allclose(parts["pattern", n], answer.attentions[n])
        assert torch.allclose(parts["resid_post", n], answer.hidden_states[n + 1], atol=1e-5) or (
            n == 2 and kind == "ModernBert"  # its last hidden state is the normalized one
        )
        gathered = torch.einsum("bhij,bjhd->bihd", parts["pattern", n], parts["v", n])
        assert (gathered - parts["z", n]).abs().max() < 1e-5
    assert (logit_lens(model, parts["resid_post", 2]) - answer.logits).abs().max() < 1e-4
    if kind == "ModernBert":
        stream = parts["embed"]
        for n in range(3):
            stream = stream + parts["result", n].sum(dim=2)
            assert alike(stream, parts["resid_mid", n])
            stream = stream + parts["mlp_out", n]
            assert alike(stream, parts["resid_post", n])
    for rung in anatomy(model).rungs:  # the whole residual stream of another line
        name, n = (rung, 0) if isinstance(rung, str) else rung
        patched = run(model, ids, Change(name, n, donor[rung]))  # type: ignore[arg-type]
        assert (patched["logits"] - donor["logits"]).abs().max() < 1e-4
    off = run(model, ids, Change("z", 1, head=2, at=[3]))
    assert (off["result", 1][:, 3, 2] == 0).all()
    assert torch.equal(run(model, ids)["logits"], parts["logits"])
    with pytest.raises(ValueError, match="sum of what their parts add"):
        attribution(model, parts, 3)
