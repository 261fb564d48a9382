"""Several processes that train one model together, as ``torchrun`` starts them.

``torchrun --nproc-per-node 2 -m cloze train model.safetensors`` starts the same command twice.
Each process draws the same batches from the same source of chance, works on its share of the lines,
and gets the average of all gradients (``DistributedDataParallel`` over gloo). So all take the same
step, the one that a single process would take on the whole batch. Usually there is one process, and
then a :class:`Team` does nothing.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from cloze.heads import MaskedLM
from cloze.masking import MaskedBatch


class Team:
    """The processes that train one model together.

    Args:
        model: the model of this process; every model of the team becomes a copy of the leader's.
    """

    def __init__(self, model: MaskedLM) -> None:
        self.rank, self.size = _join()
        self.logits_at: Callable[[Tensor, Tensor], Tensor] = model.logits_at
        """As :meth:`MaskedLM.logits_at`, but the gradients will be those of the whole team."""
        if self.size > 1:
            self.logits_at = DistributedDataParallel(_LogitsAt(model), forward_sync_buffers=False)

    @property
    def leads(self) -> bool:
        """Whether this process measures, shows and writes; it is one in every team."""
        return self.rank == 0

    def share(self, batch: MaskedBatch) -> tuple[MaskedBatch, float]:
        """Return the lines of a batch that are for this process, and the weight of their loss.

        Lines differ in how many positions are selected. With its weight, a share's mean loss counts
        by its number of positions, so the average over the team is the mean over the whole batch.
        """
        shares = [
            MaskedBatch(*lines)
            for lines in zip(*(part.tensor_split(self.size) for part in batch), strict=True)
        ]
        counts = [int(share.selected.sum()) for share in shares]
        if 0 in counts:  # somebody would have nothing to predict, so everybody takes everything
            return batch, 1.0
        return shares[self.rank], counts[self.rank] * self.size / sum(counts)

    def mean(self, loss: Tensor) -> float:
        """Return the average of a number of each process."""
        mean = loss.detach().clone()
        if self.size > 1:
            distributed.all_reduce(mean)
        return mean.item() / self.size

    def any(self, mine: bool) -> bool:
        """Return whether anybody in the team says yes; all get the same answer."""
        said = torch.tensor(int(mine))
        if self.size > 1:
            distributed.all_reduce(said, distributed.ReduceOp.MAX)
        return bool(said)

    def leaders(self, compute: Callable[[], float]) -> float:
        """Return what the leader computes; the others wait for it."""
        if self.size == 1:
            return compute()
        number = torch.tensor(compute() if self.leads else 0.0, dtype=torch.float64)
        distributed.broadcast(number, 0)
        return number.item()


class _LogitsAt(nn.Module):
    """A model whose ``forward`` is ``logits_at``: DistributedDataParallel offers no other."""

    def __init__(self, model: MaskedLM) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        return self.model.logits_at(input_ids, selected)


def _join() -> tuple[int, int]:
    """Return this process's place in its team and the size of the team; join if not yet in it."""
    if not distributed.is_available():
        return 0, 1
    if not distributed.is_initialized():
        if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return 0, 1
        distributed.init_process_group("gloo")
        atexit.register(_leave)
    return distributed.get_rank(), distributed.get_world_size()


def _leave() -> None:
    """Leave the team: if gloo's threads outlive Python, the process may end with an abort."""
    if distributed.is_initialized():
        distributed.destroy_process_group()
