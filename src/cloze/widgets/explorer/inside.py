"""The inside of a model at one gap: what each part adds, reads and would answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.inside import Change, Key, Parts, anatomy, output_matrices, run
from cloze.lenses import Measurements, logit_lens, measurements_of, moved, off
from cloze.prediction.predictors import Opened, Predictor
from cloze.vocabulary import GAP
from cloze.widgets.explorer.answers import BEST, Data, Question
from cloze.widgets.explorer.tally import written

LEAST_MOVED = 0.05
"""What moves less than this share of what moves most is not drawn."""
DRAWN = 128
"""The most numbers of a strip; of wider vectors the largest of neighbours is drawn."""
UNTOUCHED: Data = {
    "reader": "",
    "untrained": False,
    "doing": "off",
    "everywhere": False,
    "other": [],
    "parts": {},
    "pointed": "",
    "played": -1,
}
"""What the browser knows at first: nothing is changed, pointed at or played."""


@dataclass(frozen=True)
class Settings:
    """Which model is looked into, and what is changed in it."""

    reader: str = ""
    """Its name; "" for the last one."""
    untrained: bool = False
    """Whether it is shown as it was before training."""
    everywhere: bool = False
    """Whether parts are changed at all positions, or at the gap only."""
    other: tuple[str, ...] = ()
    """The second line, as long as the first; empty while there is none."""
    parts: tuple[tuple[str, str], ...] = ()
    """What is changed, each "off" or "swap": "0.3" is head 4 of layer 1, "0" the feed-forward part
    of layer 1."""

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> Settings:
        """Read settings of the browser."""
        return cls(
            str(sent["reader"]),
            bool(sent["untrained"]),
            bool(sent["everywhere"]),
            tuple(sent["other"]),
            tuple(sorted(sent["parts"].items())),
        )


@torch.no_grad()
def inside(question: Question, settings: Settings, predictor: Predictor) -> Data:
    """Return the way of one model to its answer at the selected gap.

    Args:
        question: what is asked.
        settings: what is changed.
        predictor: whose model is looked into.

    Returns:
        ``rungs`` from the embedding up, each with its ``part``, its ``layer``, what the head would
        answer there (``own``) and a translator (``translated``), ``guesses`` and ``cost`` of the
        truth, the cost ``before`` any change, the numbers ``added`` to the residual stream and by
        head the ``arcs``: place, length of what is moved and attention weight; where the model
        ``looks``; whether there are ``means``; whether it can be seen ``untrained``; and the
        :func:`effect`. No rungs for a model whose inside cannot be seen.

    Raises:
        ValueError: the model has no such part, or is built in a way that is not known.
    """
    opened = predictor.opened(question.held, question.open)
    if opened is None:
        return {"rungs": [], "looks": "both", "means": False, "untrained": False, "effect": None}
    ours = opened.module if isinstance(opened.module, MaskedLM) else None
    if settings.untrained and ours:
        opened = replace(opened, module=_untrained(ours))
    model, at = opened.module, opened.before + question.focus
    about = measurements_of(model)
    base = run(model, opened.input_ids)
    there = None
    if settings.other:
        other = predictor.opened(settings.other, question.open)
        assert other is not None
        there = run(model, other.input_ids)
    changes = [
        _change(part, how, about, there, None if settings.everywhere else [at])
        for part, how in settings.parts
        if how == "off" or there is not None
    ]
    now = run(model, opened.input_ids, *changes) if changes else base
    truth = question.known_truth(question.focus)
    known = predictor.symbols.known
    place = None if truth is None else known.index(truth)

    def said(logits: Tensor) -> Data:
        log_p = opened.log_probs(logits)
        p, order = log_p.exp().sort(descending=True, stable=True)
        best = zip(order[:BEST].tolist(), p[:BEST].tolist(), strict=True)
        cost = None if place is None else written(-log_p[place].item())
        return {"guesses": [(known[i], each) for i, each in best], "cost": cost}

    rungs = []
    for key in anatomy(model).rungs:
        stream = now[key][0, at]  # (d_model,)
        own = said(logit_lens(model, stream))
        part, layer = _named(key)
        rungs.append(
            {
                "part": part,
                "layer": layer,
                "own": own,
                "translated": said(logit_lens(model, about.translate(key, stream)))
                if about and key in about.translators
                else None,
                "before": own["cost"]
                if now is base
                else said(logit_lens(model, base[key][0, at]))["cost"],
                "added": _drawn(now[_adds(key)][0, at]),
                "heads": _heads(opened, now, layer, at, len(question.held))
                if part == "attention"
                else [],
            }
        )
    swapped = _effect(question, settings, opened, known, (base, now, there), changes)
    looks = getattr(model.config, "direction", "both")
    return {
        "rungs": rungs,
        "looks": looks,
        "means": about is not None,
        "untrained": ours is not None,
        "effect": swapped,
    }


def _untrained(model: MaskedLM) -> MaskedLM:
    """Return a model of the same shape whose weights have just been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return type(model)(model.config, model.vocabulary).eval()


def _named(key: Key) -> tuple[str, int]:
    if isinstance(key, str):
        return "embedding", 0
    return {"resid_mid": "attention", "resid_post": "feed-forward"}[key[0]], key[1]


def _adds(rung: Key) -> Key:
    """Return the part whose output leads to a rung."""
    if isinstance(rung, str):
        return rung
    return ("attn_out" if rung[0] == "resid_mid" else "mlp_out"), rung[1]


def _change(
    part: str, how: str, about: Measurements | None, there: Parts | None, at: Sequence[int] | None
) -> Change:
    """Return one change of a part that the browser has named."""
    layer, *heads = map(int, part.split("."))
    head = heads[0] if heads else None
    name = "mlp_out" if head is None else "z"
    if how == "off" or there is None:
        return off(name, layer, about and about.means, head=head, at=at)  # type: ignore[arg-type]
    to = there[name, layer] if head is None else there[name, layer][:, :, head]
    return Change(name, layer, to, at, head)  # type: ignore[arg-type]


def _drawn(numbers: Tensor) -> list[float]:
    """Return numbers ``(d_model,)``, of each neighbourhood the largest in size."""
    parts = numbers.tensor_split(min(DRAWN, len(numbers)))
    return [part[part.abs().argmax()].item() for part in parts]


def _heads(opened: Opened, parts: Parts, layer: int, at: int, length: int) -> list[Data]:
    """Return what each head of a layer moves to a position, and from where."""
    lengths = moved(parts, opened.module, layer, at)[0]  # (n_heads, length in its frame)
    weights = parts["pattern", layer][0, :, at]
    first = opened.before
    least = LEAST_MOVED * lengths.max().item()
    return [
        {
            "arcs": [
                (place, moves, weight)
                for place, (moves, weight) in enumerate(zip(own, weighs, strict=True))
                if moves >= least
            ],
            "frame": float(all_of_it.sum() - sum(own)),
        }
        for all_of_it, own, weighs in zip(
            lengths,
            lengths[:, first : first + length].tolist(),
            weights[:, first : first + length].tolist(),
            strict=True,
        )
    ]


def _effect(
    question: Question,
    settings: Settings,
    opened: Opened,
    known: Sequence[str],
    runs: tuple[Parts, Parts, Parts | None],
    changes: Sequence[Change],
) -> Data | None:
    """Say how far the answer follows the second line, in logits of one symbol less another's.

    The direct effect is what the changed parts tell the head themselves: at the gap, what they
    add now stands in place of what they added, and all later parts are held as they were.
    """
    base, now, there = runs
    if there is None:
        return None
    model, at = opened.module, opened.before + question.focus
    places = anatomy(model)
    last = places.rungs[-1]

    def log_probs(stream: Tensor) -> Tensor:
        return opened.log_probs(logit_lens(model, stream))

    answers = [log_probs(each[last][0, at]) for each in (base, now, there)]
    here = question.known_truth(question.focus) or known[int(answers[0].argmax())]
    said = settings.other[question.focus]
    if said in (GAP, here):
        said = known[int(answers[2].argmax())]
    if said == here:
        return None
    a, b = known.index(here), known.index(said)
    before, after, other = ((each[a] - each[b]).item() for each in answers)
    direct = None
    if places.norm is not None:
        stream = base[last][0, at]
        for change in changes:
            old = base[change.part, change.layer]  # (1, length, …, width)
            new = change.apply(old)[0, at] - old[0, at]
            if change.part == "z":
                matrices = output_matrices(places.blocks[change.layer], places.n_heads)
                new = torch.einsum("hd,hdm->m", new, matrices)
            stream = stream + new
        held = log_probs(stream)
        direct = (held[a] - held[b]).item()
    return {
        "here": here,
        "there": said,
        "before": before,
        "after": after,
        "direct": direct,
        "other": other,
    }
