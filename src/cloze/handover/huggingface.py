"""The encoder as a model of ``transformers``, which only this module needs.

Importing it makes the architecture known to ``transformers``, so that a folder that ``python -m
cloze export`` wrote is loaded without the code in it::

    import cloze.handover.huggingface
    from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

    model = AutoModelForMaskedLM.from_pretrained("folder")
    tokenizer = AutoTokenizer.from_pretrained("folder")
    pipeline("fill-mask", "folder")("[MASK]hey walked thr[MASK]ugh the ga[MASK]den")

Where there is no ``cloze``, the folder is loaded with ``trust_remote_code=True``: a copy of this
file lies in it, and beside it a copy of ``encoder.py``, the one module that it imports.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoConfig, AutoModelForMaskedLM, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import MaskedLMOutput

from cloze.encoder import Attention, Encoder, EncoderConfig, rotary_angles


class ClozeConfig(PreTrainedConfig):  # type: ignore[misc] # its types are not read
    """The shape of an encoder, by the names of :class:`cloze.encoder.EncoderConfig`."""

    model_type = "cloze"
    attribute_map: ClassVar[dict[str, str]] = {
        "hidden_size": "d_model",
        "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers",
        "intermediate_size": "d_ff",
        "max_position_embeddings": "max_len",
    }

    def __init__(self, **options: Any) -> None:
        for field in fields(EncoderConfig):
            setattr(self, field.name, options.pop(field.name, field.default))
        self.pad_token_id = options.pop("pad_token_id", None)
        super().__init__(**options)

    @property
    def encoder(self) -> EncoderConfig:
        """The same shape, for the encoder.

        Raises:
            ValueError: a number of it is out of range.
        """
        names = [field.name for field in fields(EncoderConfig)]
        return EncoderConfig(**{name: getattr(self, name) for name in names})


class ClozeForMaskedLM(PreTrainedModel):  # type: ignore[misc]
    """The encoder with the head that predicts the symbol at every position."""

    config_class = ClozeConfig
    base_model_prefix = "encoder"

    def __init__(self, config: ClozeConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config.encoder)
        self.head = nn.Linear(config.encoder.d_model, config.vocab_size)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **_: Any,
    ) -> MaskedLMOutput:
        """Compute logits, and the mean cost of the labels in nats.

        Args:
            input_ids: shape ``(batch, length)``.
            attention_mask: 0 where a position is padding, 1 elsewhere, ``(batch, length)``; by
                default padding is what has the id ``pad_token_id``.
            labels: the right ids, ``(batch, length)``; −100 where none is predicted.
        """
        padding_mask = None if attention_mask is None else attention_mask == 0
        if padding_mask is None and self.config.pad_token_id is not None:
            padding_mask = input_ids == self.config.pad_token_id
        logits = self.head(self.encoder(input_ids, padding_mask))
        loss = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return MaskedLMOutput(loss=loss, logits=logits)

    def _init_weights(self, module: nn.Module) -> None:
        """Initialise what no file contains: the angles, and everything in a new model.

        ``transformers`` makes models without memory first: what their constructors wrote is lost.
        """
        if isinstance(module, Attention):
            config = module.config
            module.angles.copy_(rotary_angles(config.max_len, config.d_head, config.rotary_base))
            if not getattr(module.query.bias, "_is_hf_initialized", False):
                module.look_at_neighbours()
        elif isinstance(module, nn.Linear | nn.Embedding | nn.LayerNorm):
            module.reset_parameters()


# ``save_pretrained`` writes these files beside the weights.
ClozeConfig.register_for_auto_class()
ClozeForMaskedLM.register_for_auto_class("AutoModelForMaskedLM")

if __name__ == "cloze.handover.huggingface":  # and not its copy in a folder
    AutoConfig.register(ClozeConfig.model_type, ClozeConfig)
    AutoModelForMaskedLM.register(ClozeConfig, ClozeForMaskedLM)
