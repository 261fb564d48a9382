"""What notebook 13 rests on: equal functions, measurements, the question to a real BERT."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import nbformat
import pytest
import torch

from cloze.lessons.the_real_ones import asking, context, family, rates
from cloze.lessons.the_real_ones.disentangled import disentangled_scores
from cloze.lessons.the_real_ones.patches import world_of_pictures

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "13_the_real_ones.ipynb"


def test_ours_rebuilt_is_the_same_function() -> None:
    apart = family.apart()
    assert apart.keys() == family.results()["apart"].keys() == family.results()["counted"].keys()
    assert max(apart.values()) < 1e-4


def test_the_head_that_the_notebook_writes_is_the_one_that_transformers_builds() -> None:
    from transformers import BertConfig, BertForMaskedLM

    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    [cell] = [cell for cell in cells if "decoder.weight = embedding.weight" in cell.source]
    written, _, _ = cell.source.partition("\n\n")
    names: dict[str, Any] = {"nn": torch.nn}
    with torch.device("meta"):  # shapes alone, and no memory
        exec(written, names)
        bert: Any = BertForMaskedLM(BertConfig())
    head = bert.cls.predictions
    assert [p.shape for p in (names["dense"].weight, *names["norm"].parameters())] == [
        p.shape for p in (head.transform.dense.weight, *head.transform.LayerNorm.parameters())
    ]
    assert head.decoder.weight is bert.bert.embeddings.word_embeddings.weight
    sizes = [sum(p.numel() for p in each.parameters()) for each in (names["head"], head)]
    assert sizes[0] == sizes[1]
    own = sizes[0] - names["embedding"].weight.numel()
    assert f"{own:,} = " in cell.outputs[0].text


def test_the_scores_are_those_of_the_formula() -> None:
    torch.manual_seed(0)
    n, k, d = 5, 3, 4
    query, key = torch.randn(2, n, d)
    asks, answers = torch.randn(2, 2 * k, d)
    total = sum(disentangled_scores(query, key, asks, answers).values())
    assert isinstance(total, torch.Tensor)
    for i in range(n):
        for j in range(n):
            apart = min(max(i - j + k, 0), 2 * k - 1)
            score = query[i] @ key[j] + query[i] @ answers[apart] + key[j] @ asks[apart]
            assert torch.isclose(total[i, j], score / (3 * d) ** 0.5, atol=1e-6)


@pytest.mark.slow
def test_memory_grows_with_the_square_only_where_it_is_written_out(tmp_path: Path) -> None:
    context.main(tmp_path / "context.json", (1024, 2048))
    for measured in (context.results(), json.loads((tmp_path / "context.json").read_text())):
        written, fused = (measured["measured"][way] for way in context.WAYS)
        grown = written["2048"]["bytes"] / written["1024"]["bytes"]
        assert 2.5 < grown < 5
        assert fused["2048"]["bytes"] < written["2048"]["bytes"] / 4


PICTURES = world_of_pictures()


def test_an_encoder_is_trained_at_each_rate_and_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rates.json"
    monkeypatch.setattr(rates, "above", lambda *_: 0.1)
    monkeypatch.setattr(rates, "shapes_named", lambda *_: {"frozen": 0.5})
    rates.main(path, seeds=1, steps=5)
    made, committed = json.loads(path.read_text("utf-8")), rates.results()
    assert made["world_sha256"] == committed["world_sha256"]
    assert made["runs"]["0.0"] == {"0": {"0": {"frozen": 0.5}}}
    assert [*made["runs"]["0.15"]] == ["5", "20"]
    assert made["without hint"] == {"5": {"0": 0.1}}
    for rate in rates.RATES:
        planned = {str(rates.steps_at(rate, alike)) for alike in get_args(rates.Alike)}
        assert {*committed["runs"][str(rate)]} == planned


def test_trained_with_alike_questions_all_are_asked_the_same_number() -> None:
    asked = [rate * rates.steps_at(rate, "as many questions") for rate in rates.RATES]
    assert asked == pytest.approx([rates.SAME * rates.STEPS] * len(asked), rel=0.01)
    assert {rates.steps_at(rate, "as many pictures") for rate in rates.RATES} == {rates.STEPS}


def test_every_picture_is_asked_about_once() -> None:
    asked = rates.questions(PICTURES, 0.75)
    assert torch.equal(asked.inputs[~asked.selected], PICTURES.input_ids[~asked.selected])
    assert set(asked.inputs[asked.selected].tolist()) == {PICTURES.vocabulary.mask_id}
    assert asked.selected.sum() / (16 * len(PICTURES.sentences)) == pytest.approx(0.75, abs=0.01)


def test_heads_are_born_looking_at_neighbours_unless_told_otherwise() -> None:
    usual, blind = (rates.trained(PICTURES, 0.75, 0, 0, focus) for focus in (None, 0.0))
    assert usual.config == PICTURES.config()
    assert usual.config.neighbour_focus > blind.config.neighbour_focus == 0


def test_training_brings_a_model_nearer_to_the_floor() -> None:
    new, old = (rates.trained(PICTURES, 0.75, steps, 0) for steps in (1, 40))
    far, near = (rates.above(PICTURES, model, 0.75) for model in (new, old))
    assert 0 < near < far - 0.5
    untrained = rates.trained(PICTURES, rates.UNTRAINED, 0, 0)
    assert rates.above(PICTURES, untrained, 0.75) > far - 0.5


def test_shapes_are_named_better_than_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "DRAWS", 1)
    found = rates.shapes_named(PICTURES, rates.trained(PICTURES, rates.UNTRAINED, 0, 0).encoder)
    assert min(found.values()) > 0.4


def test_bert_is_not_asked_without_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOZE_NETWORK", raising=False)
    assert asking.ask_bert() == asking.NOT_ASKED
    assert asking.ask_bert().startswith("not asked")


def test_where_there_is_no_network_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    def unreachable(name: str) -> None:
        raise OSError(f"We couldn't connect to the hub for {name}\nand more")

    monkeypatch.setenv("CLOZE_NETWORK", "1")
    monkeypatch.setattr(transformers.AutoModelForMaskedLM, "from_pretrained", unreachable)
    assert re.fullmatch(r"not asked: BERT could not be fetched \(We .*bert.*\)", asking.ask_bert())


def test_a_bert_that_is_there_is_asked_every_question(tmp_path: Path) -> None:
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    words = {piece for question in asking.QUESTIONS for piece in question} - {"[MASK]"}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##believ", *sorted(words)]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = BertTokenizer(str(tmp_path / "vocab.txt"))
    shape: dict[str, Any] = {
        "vocab_size": len(vocabulary),
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    model: Any = BertForMaskedLM(BertConfig(**shape))
    said = asking.ask_bert(model.eval(), tokenizer).splitlines()
    assert len(said) == len(asking.QUESTIONS)
    assert said[0].startswith("un [MASK] ##able → ")
    assert all(line.count(", ") == asking.TOP - 1 for line in said)
