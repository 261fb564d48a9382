"""What was gained and what was forgotten: a table, and the card that goes with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from cloze.adapt.costs import Costs

if TYPE_CHECKING:
    from cloze.adapt.run import Adaptation

FOREIGN = 3
"""A text that costs so many times as much as general text may be in another language."""

CARD = """\
---
library_name: transformers
pipeline_tag: fill-mask
---

# {base}, adapted

A masked language model, trained further with masked language modeling on {summary}.

## What was measured

{table}

The same questions before and after. The margin is two standard errors of the paired difference over
chunks; it holds for text like this, and for this one run. Nothing else was measured: neither a task
on top, nor what the model says of people.

## How it was made

| | |
| --- | --- |
{rows}
"""


def table(before: Mapping[str, Costs], after: Mapping[str, Costs]) -> str:
    """Return what was gained and what was forgotten, as a table in Markdown."""
    rows = ["| held out, nats per character | before | after | difference |"]
    rows.append("| --- | ---: | ---: | ---: |")
    for name, now in after.items():
        change, margin = now.less(before[name])
        rows.append(
            f"| {name} | {before[name].per_character:.3f} | {now.per_character:.3f} "
            f"| {change:+.3f} ± {margin:.3f} |"
        )
    return "\n".join(rows)


def now(before: Mapping[str, Costs]) -> str:
    """Say what a character costs before anything is learned, and what that tells."""
    own, *general = (cost.per_character for cost in before.values())
    said = f"Before training, a character of your text costs {own:.2f} nats (less is better)"
    if not general:
        return f"{said}."
    said += f", one of general text {general[0]:.2f}."
    if own > FOREIGN * general[0]:
        said += " If the text is in another language, a model for that language is a better start."
    return said


def outcome(before: Mapping[str, Costs], after: Mapping[str, Costs]) -> str:
    """Say in a sentence what the table shows."""
    (own, _), *general = (cost.less(before[name]) for name, cost in after.items())
    words = f"A character of your text costs {abs(own):.2f} nats {'less' if own < 0 else 'more'}"
    for change, margin in general:
        words += (
            f", and one of general text {change:.2f} more, which is forgetting; --mix 0.5 helps"
            if change > margin
            else ", and general text was not forgotten"
        )
    return f"{words}."


def card(run: Adaptation, after: Mapping[str, Costs], command: str = "") -> str:
    """Return the model card: what this is, what was measured, what made it."""
    made = [("command", f"`{command}`")] * bool(command)
    made += [*asdict(run.recipe).items(), ("sha256 of the texts", run.texts.sha256)]
    return CARD.format(
        base=run.base.resolve().name,
        summary=run.texts.summary,
        table=table(run.before, after),
        rows="\n".join(f"| {name.replace('_', ' ')} | {value} |" for name, value in made),
    )
