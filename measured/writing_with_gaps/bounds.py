"""What a text costs three models of English that were trained equally long on different questions.

``python -m measured.writing_with_gaps.bounds`` trains a masked, a diffusion and a causal model with
a minute's recipe, and measures what held-out text costs them: the bound of those that read both
sides, the next characters of the one that reads the left. Beside them stand the curves of the
shipped models that read both sides (fourteen minutes on an idle core in all).
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import CausalLM, MaskedLM
from cloze.lessons.writing_with_gaps.diffusion import curve
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION, DRAWS
from cloze.objectives import CAUSAL, MASKED, masked_loss
from cloze.prediction.shipped import shipped_model
from cloze.training import EVEN
from measured.shared import SEEDS, ResultsFile, trained

ASKED = {objective.name: objective for objective in (MASKED, DIFFUSION, CAUSAL)}
UNWEIGHTED = replace(DIFFUSION, name="unweighted", loss=masked_loss)
"""The control: diffusion's masks, but each hidden symbol counts the same."""
TRAINED = {**ASKED, "unweighted": UNWEIGHTED}
BOTH_SIDES = ("masked", "diffusion")
"""The shipped models that read both sides."""


def cost(model: MaskedLM, windows: Tensor) -> float:
    """Return the nats per character of held-out windows: for a model of both sides a bound."""
    asked = CAUSAL if isinstance(model, CausalLM) else DIFFUSION
    return asked.measure(model, asked.held_out(windows, model.vocabulary))


def main() -> None:
    corpus = Corpus.load()
    windows = corpus.held_out_windows()

    def paid(seed: int, name: str) -> float:
        run = trained(corpus, replace(EVEN, seed=seed), TRAINED[name])
        return round(cost(run.model, windows), 4)

    def rounded_curve(name: str) -> list[float]:
        return [round(nats, 4) for nats in curve(shipped_model(name), windows)]

    measurements = ResultsFile(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        steps=EVEN.steps,
        windows=len(windows),
        draws=DRAWS,
    )
    measurements.measure("runs", paid, SEEDS, TRAINED)
    measurements.measure("curves", rounded_curve, BOTH_SIDES)


if __name__ == "__main__":
    main()
