"""The inside of a model at one gap: what each part adds, reads and would answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from cloze.explorer.answers import BEST, Data, Question, written
from cloze.heads import MaskedLM
from cloze.inside import Change, Key, Parts, anatomy, output_matrices, run
from cloze.lenses import Measurements, logit_lens, measurements_of, moved, off
from cloze.prediction.predictors import Opened, Predictor
from cloze.vocabulary import GAP

LEAST_MOVED = 0.05
"""What moves less than this share of what moves most is not drawn."""
UNTOUCHED: Data = {
    "reader": "",
    "untrained": False,
    "guesses": "head",
    "doing": "off",
    "bet": False,
    "everywhere": False,
    "other": [],
    "parts": {},
    "pointed": "",
    "played": -1,
}
"""What the browser knows at first: nothing is changed, pointed at or played."""


@torch.no_grad()
def inside(question: Question, settings: Mapping[str, Any], predictor: Predictor) -> Data:
    """Return the way of one model to its answer at the selected gap.

    Args:
        question: what is asked.
        settings: what is changed, as in :data:`UNTOUCHED`: ``untrained``, whether the model is
            shown as it was before training; ``everywhere``, whether parts are changed at all
            positions, or at the gap only; ``other``, the second line, empty while there is none;
            ``parts``, each "off" or "swap": "0.3" is head 4 of layer 1, "0" the feed-forward part
            of layer 1.
        predictor: whose model is looked into.

    Returns:
        ``rungs`` from the embedding up, as :func:`_rung` returns each; none for a model whose
        inside cannot be seen.
        ``looks``: "left", "right" or "both", where the model may look.
        ``means``: whether a part that is off is replaced by its mean.
        ``untrained``: whether the model can be shown as it was before training.
        ``effect``: how far the answer follows a second line, as :func:`_effect` returns it.

    Raises:
        ValueError: the model has no such part, or is built in a way that is not known.
    """
    opened = predictor.opened(question.held, question.open)
    if opened is None:
        return {"rungs": [], "looks": "both", "means": False, "untrained": False, "effect": None}
    ours = opened.module if isinstance(opened.module, MaskedLM) else None
    if settings["untrained"] and ours:
        opened = replace(opened, module=_untrained(ours))
    model, at = opened.module, opened.before + question.focus
    about = measurements_of(model)
    base = run(model, opened.input_ids)
    there = None
    if settings["other"]:
        other = predictor.opened(settings["other"], question.open)
        assert other is not None
        there = run(model, other.input_ids)
    changes = [
        _change(part, how, about, there, None if settings["everywhere"] else [at])
        for part, how in settings["parts"].items()
        if how == "off" or there is not None
    ]
    now = run(model, opened.input_ids, *changes) if changes else base
    known = predictor.symbols.known
    return {
        "rungs": [
            _rung(key, question, opened, known, about, base, now) for key in anatomy(model).rungs
        ],
        "looks": getattr(model.config, "direction", "both"),
        "means": about is not None,
        "untrained": ours is not None,
        "effect": _effect(question, settings, opened, known, (base, now, there), changes),
    }


def _rung(
    key: Key,
    question: Question,
    opened: Opened,
    known: Sequence[str],
    about: Measurements | None,
    base: Parts,
    now: Parts,
) -> Data:
    """Return what is known of one rung.

    Returns:
        Its ``part`` and ``layer``; the :func:`_reading` of the model's head (``own``) and of this
        rung's translator (``translated``); what the truth cost ``before`` any change; and its
        ``heads``, as :func:`_heads` returns them.
    """
    at = opened.before + question.focus
    truth = question.known_truth(question.focus)
    part, layer = _named(key)
    stream = now[key][0, at]  # (d_model,)
    own = _reading(opened, stream, known, truth)
    translated, before = None, own["cost"]
    if about and key in about.translators:
        translated = _reading(opened, about.translate(key, stream), known, truth)
    if now is not base:
        before = _reading(opened, base[key][0, at], known, truth)["cost"]
    heads = _heads(opened, now, layer, at, len(question.held)) if part == "attention" else []
    return {
        "part": part,
        "layer": layer,
        "own": own,
        "translated": translated,
        "before": before,
        "heads": heads,
    }


def _reading(opened: Opened, stream: Tensor, known: Sequence[str], truth: str | None) -> Data:
    """Return the head's ``guesses`` from a residual stream, and the ``cost`` of the truth."""
    log_p = opened.log_probs(logit_lens(opened.module, stream))
    p, order = log_p.exp().sort(descending=True, stable=True)
    best = zip(order[:BEST].tolist(), p[:BEST].tolist(), strict=True)
    cost = None if truth is None else written(-log_p[known.index(truth)].item())
    return {"guesses": [(known[i], each) for i, each in best], "cost": cost}


def _untrained(model: MaskedLM) -> MaskedLM:
    """Return a model of the same shape whose weights have just been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return type(model)(model.config, model.vocabulary).eval()


def _named(key: Key) -> tuple[str, int]:
    if isinstance(key, str):
        return "embedding", 0
    return {"resid_mid": "attention", "resid_post": "feed-forward"}[key[0]], key[1]


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


def _heads(
    opened: Opened, parts: Parts, layer: int, at: int, length: int
) -> list[list[tuple[int, float, float]]]:
    """Return for each head of a layer the places it reads, what it moves from there, its weight."""
    moves = moved(parts, opened.module, layer, at)[0]  # (n_heads, length in its frame)
    weights = parts["pattern", layer][0, :, at]
    least = LEAST_MOVED * moves.max()
    line = slice(opened.before, opened.before + length)
    return [
        [
            (int(place), head[place].item(), weight[place].item())
            for place in (head >= least).nonzero().flatten()
        ]
        for head, weight in zip(moves[:, line], weights[:, line], strict=True)
    ]


def _effect(
    question: Question,
    settings: Mapping[str, Any],
    opened: Opened,
    known: Sequence[str],
    runs: tuple[Parts, Parts, Parts | None],
    changes: Sequence[Change],
) -> Data | None:
    """Return how far the answer follows the second line, in logits of one symbol minus another's.

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
    elsewhere = settings["other"][question.focus]
    if elsewhere in (GAP, here):
        elsewhere = known[int(answers[2].argmax())]
    if elsewhere == here:
        return None
    a, b = known.index(here), known.index(elsewhere)
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
        "there": elsewhere,
        "before": before,
        "after": after,
        "direct": direct,
        "other": other,
    }
