"""The family: what shape each encoder has, and what ``transformers`` makes of the same shape.

``python -m cloze.lessons.the_real_ones.family`` builds each model that ``transformers`` contains
from its published configuration, without a download and without memory for its weights, counts its
parameters, runs tiny ones beside the encoder of this series where both are the same function, and
writes what it found to family.json. It needs ``transformers``; whoever reads the file does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cloze.encoder import Attention, EncoderConfig
from cloze.ledger import parameter_ledger
from cloze.lessons.the_real_ones.disentangled import disentangled_scores

RESULTS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Relative:
    """An encoder of the family."""

    year: int
    parts: Mapping[str, Any]
    """Its shape, as :func:`~cloze.ledger.parameter_ledger` wants it."""
    built: tuple[str, Mapping[str, Any]] | None
    """The model in ``transformers`` and its published configuration, as far as it differs from the
    default of that class; None where ``transformers`` has no such model."""
    source: str = field(default="", kw_only=True)

    @property
    def ledger(self) -> dict[str, int]:
        """The parameters by part, without a head."""
        return parameter_ledger(**{"head": False, **self.parts})

    @property
    def n_parameters(self) -> int:
        """All parameters, without a head."""
        return sum(self.ledger.values())

    @property
    def in_layers(self) -> int:
        """The parameters of the layers alone."""
        return sum(count for part, count in self.ledger.items() if part.startswith("layer"))


def _sizes(vocab_size: int, d_model: int, n_layers: int, d_ff: int) -> dict[str, int]:
    return {"vocab_size": vocab_size, "d_model": d_model, "n_layers": n_layers, "d_ff": d_ff}


_POST_NORM = {"embedding_norm": True, "final_norm": False}
"""The norm stands behind what is added, so the last layer needs none after it."""
_BERTS = {**_POST_NORM, "positions": 512, "segments": 2}
_GATED = {"gated": True, "biases": False, "norm_biases": False}
_MODERN = {**_GATED, "embedding_norm": True, "first_norm": False}
_BASE = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
_RELATIVE = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}

FAMILY = {
    "BERT-base": Relative(
        2018,
        {**_sizes(30522, 768, 12, 3072), **_BERTS, "pooler": True},
        ("BertModel", {}),
        source="https://arxiv.org/abs/1810.04805",
    ),
    "RoBERTa-base": Relative(
        2019,
        {
            **_sizes(50265, 768, 12, 3072),
            **_BERTS,
            "positions": 514,  # two are never used
            "segments": 1,
            "pooler": True,
        },
        ("RobertaModel", {"max_position_embeddings": 514, "type_vocab_size": 1}),
        source="https://arxiv.org/abs/1907.11692",
    ),
    "ALBERT-base": Relative(
        2019,
        {
            **_sizes(30000, 768, 12, 3072),
            **_BERTS,
            "d_embedding": 128,
            "shared": True,
            "pooler": True,
        },
        ("AlbertModel", _BASE),
        source="https://arxiv.org/abs/1909.11942",
    ),
    "ELECTRA-base": Relative(
        2020,
        {**_sizes(30522, 768, 12, 3072), **_BERTS},
        ("ElectraModel", {**_BASE, "embedding_size": 768}),
        source="https://arxiv.org/abs/2003.10555",
    ),
    "DeBERTa-base": Relative(
        2020,
        {
            **_sizes(50265, 768, 12, 3072),
            **_POST_NORM,
            "relative_positions": 1024,
            "position_projections": True,
            "key_bias": False,
        },
        ("DebertaModel", _RELATIVE),
        source="https://arxiv.org/abs/2006.03654",
    ),
    "DeBERTaV3-base": Relative(
        2021,
        {
            **_sizes(128100, 768, 12, 3072),
            **_POST_NORM,
            "relative_positions": 512,
            "relative_norm": True,
        },
        (
            "DebertaV2Model",
            {
                **_BASE,
                **_RELATIVE,
                "position_buckets": 256,
                "share_att_key": True,
                "norm_rel_ebd": "layer_norm",
            },
        ),
        source="https://arxiv.org/abs/2111.09543",
    ),
    "ModernBERT-base": Relative(
        2024,
        {**_sizes(50368, 768, 22, 1152), **_MODERN},
        ("ModernBertModel", {}),
        source="https://arxiv.org/abs/2412.13663",
    ),
    "NeoBERT": Relative(
        2025,
        {**_sizes(30522, 768, 28, 2048), **_GATED},
        None,
        source="https://arxiv.org/abs/2502.19587",
    ),
    "EuroBERT-210m": Relative(
        2025,
        {**_sizes(128256, 768, 12, 3072), **_GATED},
        ("EuroBertModel", {}),
        source="https://arxiv.org/abs/2503.05500",
    ),
    "mmBERT-base": Relative(
        2025,
        {**_sizes(256000, 768, 22, 1152), **_MODERN},
        ("ModernBertModel", {"vocab_size": 256000}),
        source="https://arxiv.org/abs/2509.06888",
    ),
}
"""From the oldest to the youngest."""


def build(name: str, arguments: Mapping[str, Any]) -> nn.Module:
    """Build a model of ``transformers`` from a configuration, with random weights."""
    import transformers

    model = getattr(transformers, name)
    return model(model.config_class(**arguments)).eval()


def counted() -> dict[str, int]:
    """Return how many parameters ``transformers`` gives to each relative that it has."""
    counts = {}
    for name, relative in FAMILY.items():
        if relative.built:
            with torch.device("meta"):  # shapes alone, and no memory
                model = build(*relative.built)
            counts[name] = sum(p.numel() for p in model.parameters())
    return counts


def in_pairs(weight: Tensor, n_heads: int) -> Tensor:
    """Reorder the rows of a projection from halves to pairs.

    A head turns pairs of numbers. Here a pair stands together, (x_0, x_1), (x_2, x_3) …; in
    ``transformers`` its second number stands half a head away. Only names of numbers differ.

    Args:
        weight: of queries or keys, ``(d_model, …)``.
        n_heads: how many heads share it.
    """
    halves = weight.view(n_heads, 2, -1, *weight.shape[1:])
    return halves.transpose(1, 2).reshape(weight.shape)


def ours(config: EncoderConfig, weights: Mapping[str, Tensor], *, turning: bool) -> Attention:
    """Return attention of this series with the weights of another.

    Args:
        config: of ours.
        weights: "query", "key", "value", "output", each with a weight and, if there is one, a bias,
            under names such as "query.weight".
        turning: whether positions turn queries and keys; BERT's do not.
    """
    attention = Attention(config)
    state = {name: torch.zeros_like(value) for name, value in attention.state_dict().items()}
    for name, value in weights.items():
        turned = turning and name.startswith(("query", "key"))
        state[name] = in_pairs(value, config.n_heads) if turned else value
    attention.load_state_dict(state)
    if not turning:
        attention.angles.zero_()
    return attention.requires_grad_(False)


@torch.no_grad()
def same_function() -> dict[str, float]:
    """Return by how much our attention and theirs differ at most, with the same weights."""
    torch.manual_seed(0)
    n, config = 24, EncoderConfig(max_len=24, d_model=32, n_heads=4, rotary_base=10_000.0)
    x = torch.randn(2, n, config.d_model)
    small = {
        "hidden_size": config.d_model,
        "num_attention_heads": config.n_heads,
        "num_hidden_layers": 1,
        "intermediate_size": 64,
        "vocab_size": 50,
        "max_position_embeddings": n,
        **{f"{special}_token_id": 0 for special in ("pad", "bos", "eos", "cls", "sep", "mask")},
    }
    turning = {"rope_type": "default", "rope_theta": config.rotary_base}

    def tiny(name: str, **more: Any) -> Any:
        made = build(name, {**small, **more}).requires_grad_(False)
        for parameter in made.parameters():
            parameter.normal_(std=0.3)  # or everybody would look everywhere alike
        return made

    bert = tiny("BertModel").encoder.layer[0].attention
    parts = {
        "query": bert.self.query,
        "key": bert.self.key,
        "value": bert.self.value,
        "output": bert.output.dense,
    }
    mine = ours(config, _states(parts), turning=False)
    found = {"BERT: attention": _apart(mine(x, None), bert.output.dense(bert.self(x)[0]))}

    euro = tiny("EuroBertModel", rope_parameters=turning)
    turns, block = euro.rotary_emb(x, torch.arange(n)[None]), euro.layers[0].self_attn
    parts = {
        "query": block.q_proj,
        "key": block.k_proj,
        "value": block.v_proj,
        "output": block.o_proj,
    }
    mine = ours(config, _states(parts), turning=True)
    theirs = block(x, position_embeddings=turns, attention_mask=None)[0]
    found["EuroBERT: attention with rotary positions"] = _apart(mine(x, None), theirs)

    everywhere = "full_attention"
    modern = tiny(
        "ModernBertModel", layer_types=[everywhere], rope_parameters={everywhere: turning}
    )
    turns = modern.rotary_emb(x, torch.arange(n)[None], everywhere)
    block, norm = modern.layers[0].attn, modern.layers[0].mlp_norm
    matrices = [*block.Wqkv.weight.chunk(3), block.Wo.weight]
    names = [f"{part}.weight" for part in ("query", "key", "value", "output")]
    mine = ours(config, dict(zip(names, matrices, strict=True)), turning=True)
    theirs = block(x, position_embeddings=turns, attention_mask=None)[0]
    found["ModernBERT: attention with rotary positions"] = _apart(mine(x, None), theirs)
    own = nn.LayerNorm(config.d_model)
    own.load_state_dict({"weight": norm.weight, "bias": torch.zeros(config.d_model)})
    found["ModernBERT: norm"] = _apart(own(x), norm(x))

    deberta = tiny("DebertaModel", **_RELATIVE).encoder
    block, table = deberta.layer[0].attention.self, deberta.rel_embeddings.weight
    apart = (torch.arange(n)[:, None] - torch.arange(n))[None]
    everybody = torch.ones(2, 1, n, n)
    theirs = block(x, everybody, True, relative_pos=apart, rel_embeddings=table)[1]
    query, key, _ = block.transpose_for_scores(block.in_proj(x)).chunk(3, dim=-1)
    query = query + block.transpose_for_scores(block.q_bias[None, None])
    asks, answers = (
        block.transpose_for_scores(project(table)[None])[0]
        for project in (block.pos_q_proj, block.pos_proj)
    )
    parts_of_scores = [
        [*disentangled_scores(query[b, h], key[b, h], asks[h], answers[h]).values()]
        for b in range(2)
        for h in range(config.n_heads)
    ]
    weights = torch.stack([torch.stack(three).sum(0) for three in parts_of_scores]).softmax(-1)
    found["DeBERTa: disentangled attention"] = _apart(weights, theirs.flatten(0, 1))
    return found


def _states(parts: Mapping[str, nn.Module]) -> dict[str, Tensor]:
    return {
        f"{part}.{name}": value
        for part, module in parts.items()
        for name, value in module.state_dict().items()
    }


def _apart(mine: Tensor, theirs: Tensor) -> float:
    return (mine - theirs).abs().max().item()


def results() -> dict[str, Any]:
    """Return what was found: "counted" by name, "apart" by function, and by which versions."""
    read: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return read


def main(path: Path = RESULTS) -> None:
    """Count and compare, and write what was found with what it takes to repeat it."""
    import transformers

    written = {
        "command": f"python -m {__spec__.name}",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "counted": counted(),
        "apart": same_function(),
    }
    path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
