"""Counts the floating point operations that torch really executes, and times them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from cloze.encoder import EncoderConfig

aten = torch.ops.aten
ATTENTION = aten._scaled_dot_product_flash_attention_for_cpu
ATTENTION_BACKWARD = aten._scaled_dot_product_flash_attention_for_cpu_backward
KINDS = {
    aten.mm: "matrices × activations",
    aten.addmm: "matrices × activations",
    ATTENTION: "attention",
    ATTENTION_BACKWARD: "attention",
    aten.bmm: "Muon's products",  # the encoder itself has no batched products but attention's
    aten.baddbmm: "Muon's products",
}
OTHER = "all other operations"


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts and times every operation inside its block, by kind.

    An operation is one addition or multiplication in a product of matrices; what norms, softmax and
    sums cost is time, but counts as no operation, as is customary. torch's own profiler would slow
    the operations it watches: here their times sum to that of the step.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the operation and note what it was."""
        started = time.perf_counter()
        result = func(*args, **(kwargs or {}))
        seconds = time.perf_counter() - started
        operation = func.overloadpacket
        kind = KINDS.get(operation, OTHER)
        self.seconds[kind] += seconds  # type: ignore[assignment]  # a Counter holds floats as well
        self.operations[kind] += self._count(operation, args, kwargs or {}, result)
        return result

    @staticmethod
    def _count(operation: Any, args: Sequence[Any], kwargs: dict[str, Any], result: Any) -> int:
        if operation is ATTENTION:  # torch counts it on GPUs only
            return attention_operations(args[0], args[1])
        if operation is ATTENTION_BACKWARD:
            # The scores once more, and two products for each of the two forward ones.
            return attention_operations(args[1], args[2]) * 5 // 2
        formula = flop_registry.get(operation)
        return formula(*args, **kwargs, out_val=result) if formula else 0


def attention_operations(query: Tensor, key: Tensor) -> int:
    """Count the two products of attention; the shapes are ``(batch, n_heads, length, d_head)``."""
    return 4 * query.numel() * key.shape[-2]


def executed(compute: Callable[[], object]) -> int:
    """Return how many operations a computation executes."""
    with Watch() as watch:
        compute()
    return watch.operations.total()


def by_formula(config: EncoderConfig, length: int) -> tuple[int, int]:
    """Return the operations of the layers for one line: the linear and the quadratic part.

    Every position is multiplied by the matrices of the layers, 4 · d_model² + 2 · d_model · d_ff
    numbers; every pair of positions costs 2 · d_model for its score and as much for its value.
    """
    matrices = 4 * config.d_model**2 + 2 * config.d_model * config.d_ff
    linear = 2 * matrices * length
    return config.n_layers * linear, config.n_layers * 4 * config.d_model * length**2
