"""Muon: the optimizer for the matrices of the layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

# The best quintic polynomials for the first three steps from a singular value anywhere in
# [0.001, 1] towards 1 (Amsel et al. 2025, The Polar Express, with its safety factor of 1.01).
POLYNOMIALS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
)


def orthogonalise(matrices: Tensor) -> Tensor:
    """Bring the singular values of each matrix near 1 and keep its singular vectors.

    Three steps are few: singular values from a thousandth of the matrix's norm up to the whole of
    it end between 0.13 and 1.87. That is near enough for training.

    Args:
        matrices: shape ``(n, rows, columns)``.

    Returns:
        The orthogonalised matrices, ``(n, rows, columns)``.
    """
    wide = matrices.shape[1] <= matrices.shape[2]
    x = matrices if wide else matrices.transpose(1, 2)  # (n, short, long)
    x = x / (1.01 * x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for a, b, c in POLYNOMIALS:
        # x ← a·x + b·(x xᵀ)x + c·(x xᵀ)²x works on each singular value s as a·s + b·s³ + c·s⁵.
        gram = x @ x.transpose(1, 2)  # (n, short, short)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.transpose(1, 2)


class Muon(torch.optim.Optimizer):
    """Momentum whose steps are made orthogonal, so that every direction of a matrix learns.

    ``torch.optim.Muon`` does the same. This one works on all matrices of one shape at a time, in
    float32 with three polynomial steps instead of bfloat16 with five: less work per step, and none
    of it in an arithmetic that many processors lack.

    Source: Jordan et al. 2024, Muon: an optimizer for hidden layers in neural networks.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float = 0.02,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Take one step."""
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[nn.Parameter]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    by_shape.setdefault(tuple(p.shape), []).append(p)
            for alike in by_shape.values():
                self._step_alike(alike, group)

    def _step_alike(self, alike: list[nn.Parameter], group: dict[str, Any]) -> None:
        """Take one step for parameters of one shape."""
        momentum: float = group["momentum"]
        directions = []
        for p in alike:
            assert p.grad is not None
            average = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
            average.lerp_(p.grad, 1 - momentum)
            directions.append(p.grad.lerp(average, momentum))  # Nesterov's look ahead
        rows, columns = alike[0].shape
        # A tall matrix spreads its step over more outputs than it has inputs.
        rate = group["lr"] * max(1.0, rows / columns) ** 0.5
        for p, direction in zip(alike, orthogonalise(torch.stack(directions)), strict=True):
            p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(direction, alpha=rate)
