"""The exercises of notebook 02."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from cloze.masking import IGNORE, mask_tokens
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number, tensor
from cloze.teaching.symptoms import ask
from cloze.vocabulary import VOCABULARY

# ── 2.1 ──────────────────────────────────────────────────────────────────────────────────────────

MASK = VOCABULARY.mask_id


def restore(inputs: Tensor, labels: Tensor) -> Tensor:
    """Rebuild the ids before masking from inputs and labels, each of shape (batch, length)."""
    return torch.where(labels == IGNORE, inputs, labels)


def masked_batches(chance: Chance) -> Probes:
    """Make batches with every fate, in which the label 0, a newline, is among the selected."""
    #                       [MASK]  swapped  kept  not selected
    inputs = torch.tensor([[MASK, 23, 18, 15, 9, 0], [4, MASK, 3, MASK, 12, 5]])
    labels = torch.tensor([[2, 9, 18, IGNORE, 0, IGNORE], [IGNORE, 20, IGNORE, 0, IGNORE, 8]])
    yield inputs, labels
    yield inputs.flip(1), labels.flip(1)
    for shape, rate in (((3, 4), 0.6), ((4, 3), 0.6), ((1, 9), 0.6), ((2, 5), 0.0), ((2, 4), 1.0)):
        ids = torch.randint(28, shape, generator=chance.torch)
        yield mask_tokens(ids, rate, mask_share=0.4, random_share=0.4, generator=chance.torch)


check_restore = Exercise(
    solution=restore,
    minutes=8,
    wants=tensor(torch.long),
    probes=masked_batches,
    solved="Inputs and labels together hold the whole text. Masking loses nothing; it only moves "
    "the answers to where the model cannot read them.",
    direction="Where the label is -100, the original is the input. Elsewhere it is the label.",
)
"""Mark ``restore(inputs, labels)``: the original ids, from a masked batch alone."""


# ── 2.2 ──────────────────────────────────────────────────────────────────────────────────────────


def suspect(value: Any) -> str:
    """Read the letter of one suspect, alone or after the word."""
    letter = str(value).strip().upper().removeprefix("SUSPECT").strip(" _")
    if letter not in ("A", "B", "C", "D"):
        raise Symptom(
            'Answer with the letter of one suspect, in quotes: "A", "B", "C" or "D", and nothing '
            "else."
        )
    return letter


check_culprit = Exercise(
    solution="C",
    minutes=10,
    wants=suspect,
    solved="C swaps 10% first and gives [MASK] to 0.9 of the rest: 0.9 · 0.9 = 81% [MASK], 10% "
    "swapped and 0.9 · 0.1 = 9% kept. Two independent draws multiply.",
)
"""Mark the letter of the suspect that gives 81/10/9."""


# ── 2.3 ───────────────────────────────────────────────────────────────────────────────────────────

LINE = 400
"""Characters in a line that is masked."""

SIGMAS = 5
"""Standard deviations beyond which a count is taken for a mistake and not for chance."""


def my_mask(
    input_ids: Tensor, mask_prob: float, mask_share: float, random_share: float
) -> tuple[Tensor, Tensor]:
    """Select positions, decide the fate of each, and return what is shown and what is asked."""
    selected = torch.rand(input_ids.shape) < mask_prob
    action = torch.rand(input_ids.shape)
    hide = selected & (action < mask_share)
    swap = selected & (action >= mask_share) & (action < mask_share + random_share)
    inputs = torch.where(swap, torch.randint(MASK, input_ids.shape), input_ids)
    return inputs.masked_fill(hide, MASK), input_ids.masked_fill(~selected, IGNORE)


def _is(count: Tensor | int, n: int, p: float) -> bool:
    """Whether a count among n is one that chance gives with probability p."""
    return abs(int(count) - n * p) <= SIGMAS * math.sqrt(n * p * (1 - p)) + 1e-6


def _masked(mask: Callable[..., Any], ids: Tensor, *rates: float) -> tuple[Tensor, Tensor]:
    """Let an answer mask ids, and look at what is true of every draw."""
    given = ids.clone()
    result = ask(mask, given, *rates)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise Symptom(
            f"You return {kind_of(result)}. Return two tensors with a comma between them: what the "
            "model reads, and the labels."
        )
    inputs, labels = map(tensor(torch.long), result)
    if not torch.equal(given, ids):
        raise Symptom("Your function changes input_ids: work on input_ids.clone().")
    if not inputs.shape == labels.shape == ids.shape:
        raise Symptom(
            f"For ids of shape {tuple(ids.shape)} your two tensors have the shapes "
            f"{tuple(inputs.shape)} and {tuple(labels.shape)}. Both need the shape of the ids."
        )
    if (inputs == IGNORE).any():
        raise Symptom("The model would read −100. Did you swap inputs and labels?")
    if (labels == 0).sum() > 2 * (ids == 0).sum():
        raise Symptom("Where nothing is asked, the label is −100. 0 is a character, the newline.")
    selected = labels != IGNORE
    if not torch.equal(labels[selected], ids[selected]):
        shown = torch.equal(labels[selected], inputs[selected])
        raise Symptom(
            "Your labels hold what the model sees. They must hold the original characters."
            if shown
            else "A label is neither −100 nor the original character of its position."
        )
    if (~selected & (inputs != ids)).any():
        raise Symptom(
            "Some characters are changed where the label is −100. Only selected positions may "
            "change, and each of them needs a label, whatever it shows."
        )
    rate = float(selected.float().mean())
    rows = selected.view(-1, LINE)
    if 0 < rate < 1 and (rows == rows[:, :1]).all():
        raise Symptom(
            "Whole lines are selected at once: a loop over input_ids goes through lines. Each "
            "position must draw a number of its own."
        )
    at = rows.sum(0)
    worst = int((at - at.float().mean()).abs().argmax())
    if not _is(at[worst], len(rows), rate):
        raise Symptom(
            f"Place {worst} is selected in {at[worst] / len(rows):.1%} of the lines, on average "
            f"{rate:.1%}. Let no place be special, and let each line draw a mask of its own."
        )
    pairs = selected.reshape(-1, 2).all(dim=1)
    if not _is(pairs.sum(), len(pairs), rate**2):
        raise Symptom(
            f"Two neighbours are both selected in {pairs.float().mean():.1%} of all cases. If "
            f"each position drew its own number, it would be {rate**2:.1%}."
        )
    if not _is(selected.sum(), ids.numel(), rates[0]):
        raise Symptom(
            f"You ask about {rate:.1%} of the positions, but mask_prob is {rates[0]:.0%}; is it "
            "used? All selected positions have a label, kept ones as well, and no others have one."
        )
    return inputs, labels


FATES: Mapping[str, Callable[[float, float], tuple[float, float]]] = {
    "That is 80/10/10: use mask_share and random_share.": lambda m, r: (0.8, 0.1),
    "You swap everything that you don't hide. Some must be kept.": lambda m, r: (m, 1 - m),
    "Nothing is swapped: does a later line undo it, or is its interval empty?": lambda m, r: (m, 0),
    "Your intervals overlap: swapping must begin where hiding ends.": lambda m, r: (m - r, r),
    "That is suspect D: the second draw takes a share of what the first has left, or [MASK] "
    "overwrites some swapped characters.": (lambda m, r: (m, (1 - m) * r)),
    "That is suspect C: you swap first, and only the rest can be hidden.": (
        lambda m, r: ((m + r) * (1 - r), r)
    ),
    "Swapped characters overwrite hidden ones: let one number decide between the two.": (
        lambda m, r: ((1 - r) * m, r)
    ),
    "mask_share and random_share are exchanged.": lambda m, r: (r, m),
    "Nothing is hidden: does a later line undo it?": lambda m, r: (0, r),
    "Swapping overwrites what is hidden: begin where hiding ends.": lambda m, r: (0, m + r),
    "You hide what should be swapped, too: end where swapping begins.": lambda m, r: (m + r, 0),
    "Shares are of selected positions: leave out mask_prob there.": lambda m, r: (m / 2, r / 2),
}
"""What goes wrong with the fates: the shares of hidden and of swapped that it leads to."""


@torch.random.fork_rng(devices=[])
def _judge_mask(mask: Callable[..., Any]) -> str:
    torch.manual_seed(0)
    ids = torch.randint(MASK // 2, (500, LINE))  # half of the characters, all may be drawn
    m, r = 0.6, 0.25
    inputs, labels = _masked(mask, ids, 0.5, m, r)
    selected = labels != IGNORE
    n = int(selected.sum())
    hidden = int((selected & (inputs == MASK)).sum())
    changed = int((selected & (inputs != MASK) & (inputs != ids)).sum())

    def are(shares: tuple[float, float]) -> bool:  # one in 28 swapped characters looks kept
        return _is(hidden, n, shares[0]) and _is(changed, n, shares[1] * (MASK - 1) / MASK)

    counted = f"[MASK] {hidden / n:.1%}, changed {changed / n:.1%}, unchanged "
    counted += f"{1 - (hidden + changed) / n:.1%}"
    if (inputs > MASK).any() or (inputs < 0).any():
        raise Symptom("The model would read an id that does not exist: ids are 0 to 28.")
    try:
        drawn, _ = _masked(mask, ids[0].repeat(50), 0.3, 0.0, 1.0)
    except Symptom as symptom:
        raise Symptom(f"It is tried on one line, too, without a batch. {symptom}") from None
    if are((m, r)) and (drawn == MASK).any():
        raise Symptom(
            "With a mask_share of 0 the model still sees [MASK]: a random character has an id "
            "below 28."
        )
    kinds = len({*drawn[drawn != ids[0].repeat(50)].tolist()} - {MASK})
    if 0 < kinds < MASK:
        raise Symptom(
            f"Only {kinds} of the 28 characters turn up among the swapped ones: each position "
            "must draw its own, any from 0 to 27."
        )
    if not are((m, r)):
        why = next((why for why, shares in FATES.items() if are(shares(m, r))), "")
        if _is(hidden, n, m) and _is(changed, n, r):
            why = "A random character can be any of the 28, the original included: don't avoid it."
        if max(hidden, changed, n - hidden - changed) > 0.95 * n:
            why = (
                "Nearly all get the same fate: do you forget the others, does one number decide "
                "for all of them, or do you reuse the number that selected them?"
            )
        raise Symptom(
            f"With shares of {m:.0%}, {r:.0%} and {1 - m - r:.0%} your selected positions are: "
            f"{counted}. {why}".rstrip()
        )
    calls = [ask(mask, ids[:2, :20], 0.5, m, r)[1] != IGNORE for _ in range(20)]
    if all(torch.equal(call, calls[0]) for call in calls):
        raise Symptom("Every call hides the same positions: do you set a seed in your function?")
    if len({int(call.sum()) for call in calls}) == 1:
        raise Symptom(
            f"You select exactly {int(calls[0].sum())} of 40 positions, every time. If each "
            "position draws its own number, the count varies: compare one random number per "
            "position with mask_prob."
        )
    return f"With shares of 60/25/15 {n:,} selected positions are: {counted}."


OURS = "That is the package's function. Write the rule yourself."

check_my_mask = Exercise(
    solution=my_mask,
    minutes=18,
    judge=_judge_mask,
    without={"mask_tokens": OURS, "corrupt": OURS, "StaticMasks": OURS},
    solved="All counts are within five standard deviations of the promise, and every position "
    "draws for itself.",
)
"""Mark ``my_mask(input_ids, mask_prob, mask_share, random_share)`` by what it does to 200 000."""


# ── 2.4 ──────────────────────────────────────────────────────────────────────────────────────────


def coverage(epochs: int, mask_prob: float, copies: int) -> float:
    """Return the expected share of positions that are selected at least once."""
    return 1 - (1 - mask_prob) ** min(epochs, copies)


def schedules(chance: Chance) -> Probes:
    """Make trainings with fewer, as many and more epochs than copies, whole turns or not."""
    yield from ((3, 0.15, 10), (40, 0.15, 10), (1, 0.15, 1), (5, 0.4, 2), (6, 0.3, 6), (7, 0.2, 1))
    yield from ((0, 0.15, 3), (2, 1.0, 3), (4, 0.0, 2))
    for _ in range(2):
        few, many = chance.randint(2, 4), chance.randint(5, 9)
        yield few, chance.uniform(0.1, 0.3), many
        yield many, chance.uniform(0.1, 0.3), few


check_coverage = Exercise(
    solution=coverage,
    minutes=10,
    wants=number,
    probes=schedules,
    solved="Ten copies stop at 80%, however long you train. Fresh masks have no such ceiling.",
    direction="First count the different masks, then find the chance to escape all of them. The "
    "rest is selected at least once.",
)
"""Mark ``coverage(epochs, mask_prob, copies)``: the share selected at least once."""


# ── 2.5 ──────────────────────────────────────────────────────────────────────────────────────────

PATTERNS, LONG = 6_000, 24
"""How often a pattern is drawn, for a line of how many characters."""

LEAST, MOST = 0.12, 0.18
"""The share of positions that a pattern selects."""


def my_pattern(length: int) -> Tensor:
    """Select every seventh position, beginning at a random one: boolean, ``(length,)``."""
    return torch.arange(length) % 7 == torch.randint(7, ())


def _drawn(pattern: Callable[..., Any], times: int, length: int) -> Tensor:
    """Draw a pattern many times: boolean, ``(times, length)``."""
    drawn = ask(lambda length: [pattern(length) for _ in range(times)], length)
    for one in drawn:
        if one is None:
            raise Symptom("Your function returns nothing: is a `return` missing?")
        if tensor(torch.bool)(one).shape != (length,):
            raise Symptom(
                f"For a line of {length} characters you return {kind_of(one)}. Return one row with "
                f"True or False for each position, shape ({length},)."
            )
    return torch.stack(drawn)


def _judge_pattern(pattern: Callable[..., Any]) -> str:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        _drawn(pattern, 1, LONG + 1)
        drawn = _drawn(pattern, PATTERNS, LONG)
    if bool((drawn == drawn[0]).all()):
        raise Symptom(
            "Every call selects the same positions, so the others are never predicted. Draw "
            "something at random in each call, and set no seed."
        )
    touching = (drawn[:, 1:] & drawn[:, :-1]).nonzero()
    if len(touching):
        draw, at = touching[0].tolist()
        example = "".join("▒" if here else "·" for here in drawn[draw])
        raise Symptom(
            f"{example} has two neighbours, positions {at} and {at + 1}. If each position draws "
            "for itself, that happens sooner or later: let one draw decide about several of them."
        )
    share, shares = float(drawn.float().mean()), drawn.float().mean(dim=0)
    if not LEAST <= share <= MOST:
        raise Symptom(
            f"No two neighbours are selected, but {share:.1%} of all positions are. It should be "
            f"{LEAST:.0%} to {MOST:.0%}."
        )
    worst = int((shares - share).abs().argmax())
    if not _is(drawn[:, worst].sum(), PATTERNS, share):
        raise Symptom(
            f"Position {worst} is selected in {shares[worst]:.1%} of the draws, but the average "
            f"position in {share:.1%}. What is different about position {worst}? Let no place in "
            "the line be special, neither its beginning nor its end."
        )
    return f"You select {share:.1%} of the positions, all equally often, and never two neighbours."


check_my_pattern = Exercise(
    solution=my_pattern,
    minutes=15,
    judge=_judge_pattern,
    solved="So every hidden letter keeps both of its neighbours visible.",
)
"""Mark ``my_pattern(length)``: a random mask without neighbours, the same for all positions."""
