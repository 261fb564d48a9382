"""What was gained and what was forgotten: a table, and the card that goes with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from cloze.adapt.costs import Costs

if TYPE_CHECKING:
    from cloze.adapt.run import Adaptation

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
