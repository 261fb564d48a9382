"""What was gained and what was forgotten: a table, and the card that goes with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from cloze.adapt.chunks import Texts
from cloze.adapt.costs import Costs
from cloze.adapt.recipe import Recipe

FOREIGN = 3
"""A text that costs this many times as much as general text may be in another language."""

CARD = Path(__file__).with_name("card.md")


def table(before: Mapping[str, Costs], after: Mapping[str, Costs]) -> str:
    """Return the costs before and after training, as a table in Markdown."""
    rows = ["| held out, nats per character | before | after | difference |"]
    rows.append("| --- | ---: | ---: | ---: |")
    for name, now in after.items():
        change, margin = now.less(before[name])
        rows.append(
            f"| {name} | {before[name].per_character:.3f} | {now.per_character:.3f} "
            f"| {change:+.3f} ± {margin:.3f} |"
        )
    return "\n".join(rows)


def costs_before(before: Mapping[str, Costs]) -> str:
    """Return a sentence: what a character costs before training."""
    own, *general = (cost.per_character for cost in before.values())
    sentence = f"Before training, a character of your text costs {own:.2f} nats (less is better)"
    if general:
        sentence += f", one of general text {general[0]:.2f}"
        if own > FOREIGN * general[0]:
            sentence += ". If your text is in another language, begin with a model for it"
    return f"{sentence}."


def outcome(before: Mapping[str, Costs], after: Mapping[str, Costs]) -> str:
    """Return what the table shows, as a sentence."""
    (own, _), *general = (cost.less(before[name]) for name, cost in after.items())
    words = f"A character of your text costs {abs(own):.2f} nats {'less' if own < 0 else 'more'}"
    for change, margin in general:
        words += (
            f", and one of general text {change:.2f} more, which is forgetting; --mix 0.5 helps"
            if change > margin
            else ", and general text was not forgotten"
        )
    return f"{words}."


def card(
    base: Path,
    recipe: Recipe,
    texts: Texts,
    before: Mapping[str, Costs],
    after: Mapping[str, Costs],
    command: str = "",
) -> str:
    """Return the model card.

    Args:
        base: the folder of the model that training began with.
        recipe: how it was trained.
        texts: on what.
        before: what held-out text cost before.
        after: what it costs now.
        command: the command line, if there was one.
    """
    made = {"command": f"`{command}`"} if command else {}
    made |= {**asdict(recipe), "sha256 of the texts": texts.sha256}
    return CARD.read_text(encoding="utf-8").format(
        base=base.resolve().name,
        summary=texts.summary,
        table=table(before, after),
        rows="\n".join(f"| {name.replace('_', ' ')} | {value} |" for name, value in made.items()),
    )
