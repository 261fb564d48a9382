"""What notebook 13 rests on: equal functions, measurements, the question to a real BERT."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from cloze.lessons.the_real_ones import asking
from cloze.teaching.measurements import load_results
from measured import shared
from measured.the_real_ones import context, family

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "13_the_real_ones.ipynb"


def test_ours_rebuilt_is_the_same_function() -> None:
    apart = family.apart()
    assert apart.keys() == load_results("the_real_ones", "family")["apart"].keys()
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
    assert f"{own:,} parameters" in cell.outputs[0].text


@pytest.mark.slow
def test_memory_grows_with_the_square_only_where_it_is_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "LESSONS", tmp_path)
    (tmp_path / "the_real_ones").mkdir()
    context.main()
    new = json.loads((tmp_path / "the_real_ones" / "context.json").read_text())
    for results in (load_results("the_real_ones", "context"), new):
        written, fused = (results["measured"][way] for way in context.WAYS)
        grown = written["2048"]["bytes"] / written["1024"]["bytes"]
        assert 2.5 < grown < 5
        assert fused["2048"]["bytes"] < written["2048"]["bytes"] / 4


def test_bert_is_not_asked_without_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOZE_NETWORK", raising=False)
    assert asking.ask_bert() == asking.NOT_ASKED


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
