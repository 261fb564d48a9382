"""What ``transformers`` makes of the shapes of the family.

``python -m measured.the_real_ones.family`` builds each model that ``transformers`` contains from
its published configuration, without a download and without memory for its weights, counts its
parameters, and runs some of them, tiny, beside the encoder of this series with the same weights
(seconds; needs ``transformers``).
"""

from __future__ import annotations

import torch

from cloze.lessons.the_real_ones.family import FAMILY
from measured.shared import ResultsFile
from measured.the_real_ones import rebuilt


def counted() -> dict[str, int]:
    """Return the number of parameters in ``transformers``, by name."""
    counts = {}
    for name, relative in FAMILY.items():
        if relative.built:
            with torch.device("meta"):  # shapes alone, and no memory
                model = rebuilt.build(*relative.built)
            counts[name] = sum(p.numel() for p in model.parameters())
    return counts


def apart() -> dict[str, float]:
    """Return the largest difference of a tiny relative and ours, rebuilt with its weights."""
    largest = {}
    for name in rebuilt.REBUILT:
        built = FAMILY[name].built
        assert built is not None
        largest[name] = rebuilt.apart(name, *built)
    return largest


def main() -> None:
    import transformers

    measurements = ResultsFile(__spec__.name, transformers=transformers.__version__)
    measurements.measure("counted", counted)
    measurements.measure("apart", apart)


if __name__ == "__main__":
    main()
