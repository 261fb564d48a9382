"""Several processes that train one model together, as ``torchrun`` starts them.

``torchrun --nproc-per-node 2 -m cloze train model.safetensors`` starts the same command twice.
Each process draws the same batches from the same source of chance, works on its share of the lines,
and gets the average of all gradients (``DistributedDataParallel`` over gloo). So all take the same
step, the one that a single process would take on the whole batch. The run itself knows nothing of
it: its objective asks each process its share and makes the losses one.
"""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from cloze.heads import MaskedLM
from cloze.objectives import Batch, Objective
from cloze.training import TrainingRun


class Team:
    """The processes that train one model together; usually one, and then it does nothing."""

    def __init__(self) -> None:
        self.rank, self.size = _join()

    @property
    def leads(self) -> bool:
        """Whether this process shows and writes; it is one in every team."""
        return self.rank == 0

    def share_out(self, run: TrainingRun) -> TrainingRun:
        """Return a run whose steps are shared out among the team.

        Every process must bring the same run. Its model becomes a copy of the leader's.
        """
        if self.size > 1:
            run.objective = replace(run.objective, loss=self._loss(run.objective, run.model))
        return run

    def highest(self, mine: int) -> int:
        """Return the highest number in the team; all its processes get the same answer."""
        highest = torch.tensor(mine)
        if self.size > 1:
            distributed.all_reduce(highest, distributed.ReduceOp.MAX)
        return int(highest)

    def share(self, batch: Batch) -> tuple[Batch, float]:
        """Return the lines of a batch that this process works on, and the weight of their loss.

        Lines differ in how many positions are selected. With its weight, a share's mean loss counts
        by its number of positions, so the average over the team is the mean over the whole batch.
        """
        shares = [
            type(batch)(*lines)
            for lines in zip(*(part.tensor_split(self.size) for part in batch), strict=True)
        ]
        counts = [int(share.selected.sum()) for share in shares]
        if 0 in counts:  # somebody would have nothing to predict, so everybody takes everything
            return batch, 1.0
        return shares[self.rank], counts[self.rank] * self.size / sum(counts)

    def _loss(self, objective: Objective, model: MaskedLM) -> Callable[[MaskedLM, Batch], Tensor]:
        """Return the loss of an objective, to which each process contributes its share."""
        my_loss = DistributedDataParallel(_Loss(objective, model))

        def loss(_: MaskedLM, batch: Batch) -> Tensor:
            mine, weight = self.share(batch)
            partial = weight * my_loss(mine)
            whole = partial.detach().clone()
            distributed.all_reduce(whole)
            # The value is the team's mean. The gradient is of this share, until backward averages.
            return partial + (whole / self.size - partial).detach()

        return loss


class _Loss(nn.Module):
    """A model whose ``forward`` is the loss: DistributedDataParallel offers no other."""

    def __init__(self, objective: Objective, model: MaskedLM) -> None:
        super().__init__()
        self.objective = objective
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        return self.objective.loss(self.model, batch)


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
        gc.collect()  # what still holds the group, and with it the threads, may be in a cycle
