"""A tiny ModernBERT, made from the series' corpus: what notebook 15 trains further.

``python -m measured.your_own_text.tiny`` makes it in data/checkpoints/tiny_modernbert: a byte-level
tokenizer of 2,048 pieces with the frame and the special symbols of ModernBERT's, and a model with
its parts and 0.84 million parameters, trained with masked language modeling (some 10 minutes on an
idle core; needs ``transformers``). It never reads the two topics of the notebook's letters.
"""

from __future__ import annotations

import shutil
from typing import Any

import torch
from tqdm.std import tqdm

from cloze.adapt.chunks import Masks, prepare
from cloze.adapt.costs import costs, losses_at
from cloze.adapt.documents import hold_out
from cloze.adapt.recipe import AdaptRecipe, Examples
from cloze.handover.export import new_folder
from cloze.handover.packages import quiet
from cloze.lessons.your_own_text.letters import FOLDER, general_text
from cloze.muon import Muon

PIECES = 2048
LENGTH = 128
SPECIALS = ("[UNK]", "[CLS]", "[SEP]", "[PAD]")
RECIPE = AdaptRecipe(steps=3000, batch_size=16, length=LENGTH, warmup=0.05)
FALLING = 0.4
"""The share of the steps during which the learning rates fall to 0."""


def tokenizer(texts: list[str]) -> Any:
    """Train a byte-level tokenizer that frames its lines as ModernBERT's does."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    backend = tokenizers.Tokenizer(tokenizers.models.BPE())
    backend.normalizer = tokenizers.normalizers.NFC()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    mask = tokenizers.AddedToken("[MASK]", lstrip=True)  # the space before it belongs to the answer
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=PIECES,
        special_tokens=[*SPECIALS, mask],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    frame = [(special, backend.token_to_id(special)) for special in ("[CLS]", "[SEP]")]
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=frame
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token="[UNK]",  # noqa: S106 - no password
        cls_token="[CLS]",  # noqa: S106
        sep_token="[SEP]",  # noqa: S106
        pad_token="[PAD]",  # noqa: S106
        mask_token=mask,
        model_max_length=512,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def model(of: Any) -> Any:
    """Make a ModernBERT with random weights for a tokenizer."""
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    roles = {f"{role}_token_id": getattr(of, f"{role}_token_id") for role in ("pad", "cls", "sep")}
    config = ModernBertConfig(
        vocab_size=len(of),
        hidden_size=128,
        intermediate_size=192,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=512,
        local_attention=64,
        bos_token_id=of.cls_token_id,
        eos_token_id=of.sep_token_id,
        **roles,
    )
    return ModernBertForMaskedLM(config)


def rate(step: int, steps: int) -> float:
    """Return the factor on the learning rates: it rises, stays, and falls to 0."""
    done = step / steps
    return min(1.0, done / RECIPE.warmup + 1 / steps, (1 - done) / FALLING)


def train(model: Any, examples: Examples) -> None:
    """Train a model on all examples of a run."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n]
    matrices = [p for p in matrices if p is not model.get_output_embeddings().weight]
    theirs = set(matrices)
    rest = [p for p in model.parameters() if p not in theirs]
    optimizers = Muon(matrices, lr=0.02), torch.optim.AdamW(rest, lr=4e-3, fused=True)
    rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    size = examples.recipe.batch_size
    model.train()
    for step in tqdm(range(examples.steps), unit="step"):
        lines = examples.masks.pad([examples[step * size + i] for i in range(size)])
        loss = losses_at(model, lines).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, highest in zip(optimizers, rates, strict=True):
            optimizer.param_groups[0]["lr"] = highest * rate(step, examples.steps)
            optimizer.step()
            optimizer.zero_grad()


def main() -> None:
    texts = general_text()
    with new_folder(FOLDER) as part, quiet():
        torch.manual_seed(RECIPE.seed)
        pieces = tokenizer([document.text for document in hold_out(texts)[0]])
        made = model(pieces)
        parts = prepare(texts, [], pieces, RECIPE.length)
        masks = Masks(pieces, RECIPE.mask_prob, RECIPE.seed)
        made.sparse_prediction = True
        train(made, Examples(parts, masks, RECIPE))
        made.save_pretrained(part)
        shutil.copymode(part / "config.json", part / "model.safetensors")  # it would be private
        pieces.save_pretrained(part)
    print(f"{costs(made, parts.own_held_out, masks).per_character:.3f} nats per character held out")


if __name__ == "__main__":
    main()
