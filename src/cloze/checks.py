"""Checks: what marks the exercises, by the symptom it sees.

Each check takes a learner's answer and returns a :class:`Verdict`, which a notebook shows as text.
A check knows the typical mistakes of its exercise and names what they look like from outside; it
never just says "wrong". Reference solutions and typical mistakes are tests (tests/test_checks.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer."""

    solved: bool
    message: str

    def __repr__(self) -> str:
        return self.message


def correct(message: str) -> Verdict:
    """Say that an answer is right, and what that shows."""
    return Verdict(solved=True, message=f"Correct. {message}")


def not_yet(message: str) -> Verdict:
    """Say that an answer is missing or wrong, and what was seen."""
    return Verdict(solved=False, message=f"Not yet. {message}")


class Unanswered(Exception):  # noqa: N818 - not an error: the cell simply was not filled in
    """The exercise has not been filled in, or the answer cannot be looked at; says how."""


def ask(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a learner's function.

    Raises:
        Unanswered: it returned nothing, or it raised; the message says which.
    """
    try:
        result = function(*arguments)
    except Exception as error:
        raise Unanswered(f"Your function raised {type(error).__name__}: {error}") from None
    if result is None or result is ...:
        raise Unanswered("Your function returns nothing so far: replace the ... by your answer.")
    return result


def marks(check: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Turn an :class:`Unanswered` inside a check into a verdict."""

    def marked(answer: Any) -> Verdict:
        if answer is None or answer is ...:
            return not_yet("Replace the ... by your answer and run the cell again.")
        try:
            return check(answer)
        except Unanswered as reason:
            return not_yet(str(reason))

    marked.__name__, marked.__doc__ = check.__name__, check.__doc__
    return marked


# ── Notebook 00 ──────────────────────────────────────────────────────────────────────────────────


@marks
def check_count_gaps(count_gaps: Callable[[str], Any]) -> Verdict:
    """Mark ``count_gaps(line)``: how many characters of a line are gaps."""
    line = "the very qu_ck br_wn f_x"
    answer = ask(count_gaps, line)
    if isinstance(answer, bool):
        return not_yet("You say whether there is a gap; the question is how many there are.")
    if not isinstance(answer, int):
        return not_yet(f"Your answer is of type {type(answer).__name__}; return a whole number.")
    if answer == len(line) - 3:
        return not_yet("You counted the characters that are there; count the missing ones.")
    if answer == len(line):
        return not_yet("You counted every character of the line; count only those equal to '_'.")
    if answer != 3:
        return not_yet(f"{line!r} has 3 gaps and you count {answer}.")
    if ask(count_gaps, "no gap here") == 3:
        return not_yet(
            "You find 3 gaps in a line without any: did you write the 3 down? Count them in `line`."
        )
    if ask(count_gaps, "tw__ w_rd") != 3:
        return not_yet(
            "'tw__ w_rd' has 3 gaps and you count "
            f"{ask(count_gaps, 'tw__ w_rd')}: two gaps may share a word, or touch."
        )
    return correct("The number of gaps is |M|, the size of the set M that notebook 01 begins with.")


# ── Notebook 01 ──────────────────────────────────────────────────────────────────────────────────


def _number(answer: Any) -> float:
    """Read a number from what a learner returned."""
    try:
        return float(answer)
    except (TypeError, ValueError, RuntimeError):
        raise Unanswered(
            f"Your function returns a {type(answer).__name__}; return one number, the loss."
        ) from None


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4)


@marks
def check_summed_loss(summed_loss: Callable[..., Any]) -> Verdict:
    """Mark ``summed_loss(P, x, M)``: −Σ_{i∈M} log P[i][x[i]] in nats, P a list of dicts."""
    table = [
        {"c": 0.9, "b": 0.1},
        {"a": 0.2, "o": 0.7, "u": 0.1},
        {"t": 0.8, "d": 0.2},
        {"s": 0.5, "e": 0.3, "d": 0.2},
    ]
    x, selected = "cats", [1, 3]
    right = [0.2, 0.5]
    loss = _number(ask(summed_loss, table, x, selected))
    everywhere = [row[c] for row, c in zip(table, x, strict=True)]
    total = -sum(map(math.log, right))
    symptoms = {
        -total: "Your loss is negative, and a loss is a price: did you forget the minus?",
        total / math.log(2): (
            "Your loss is right in bits (log to the base 2); here it is in nats, so use math.log."
        ),
        total / math.log(10): "You used the logarithm to the base 10; nats need math.log.",
        total / 2: (
            "You divided by the number of selected positions; that is the mean, and the formula "
            "asks for the sum."
        ),
        -sum(map(math.log, everywhere)): (
            "Your loss also counts positions outside M; sum over the positions in M only."
        ),
        -sum(math.log(max(table[i].values())) for i in selected): (
            "You took the largest probability of each row; take the one of the right character, "
            "P[i][x[i]]: the loss asks what the truth was given, not what the model prefers."
        ),
        math.prod(right): (
            "You multiplied the probabilities; the formula adds their logarithms and takes the "
            "minus."
        ),
        sum(right): "You added the probabilities themselves; take the logarithm of each first.",
        -sum(right): "You added the probabilities themselves; take the logarithm of each first.",
        -math.log(sum(right)): (
            "You took the logarithm of the sum; the formula sums the logarithms."
        ),
        2 - sum(right): "You summed 1 − P; the price of a probability P is −log P.",
        -math.log(everywhere[1]): (
            "Your loss stops after the first selected position: is the `return` inside the loop?"
        ),
    }
    for value, symptom in symptoms.items():
        if _same(loss, value):
            return not_yet(symptom)
    if not _same(loss, total):
        return not_yet(
            f"With P = {right[0]} and {right[1]} for the right characters your loss is "
            f"{loss:.3f} instead of −log {right[0]} − log {right[1]} = {total:.3f}."
        )
    many = _number(ask(summed_loss, [{"a": 0.2}] * 500, "a" * 500, range(500)))
    if not _same(many, -500 * math.log(0.2)):
        return not_yet(
            f"With 500 selected positions of P = 0.2 your loss is {many}, not 804.72: did you "
            "multiply before taking the logarithm? The product underflows to 0."
        )
    return correct("That is −Σ log P over M: each selected position pays for itself, and they add.")


@marks
def check_units(units: Callable[..., Any]) -> Verdict:
    """Mark ``units(costs)``: (mean nats, bits, perplexity) from the costs in nats."""
    costs = [math.log(2), math.log(2), math.log(16)]  # mean 1.386 nats, 2 bits, perplexity 4
    answer = ask(units, costs)
    if isinstance(answer, tuple) and any(value is ... for value in answer):
        return not_yet("Replace the ... by your answer and run the cell again.")
    try:
        nats, bits, perplexity = map(float, answer)
    except (TypeError, ValueError):
        return not_yet("Return three numbers: return nats, bits, perplexity.")
    mean, total = sum(costs) / 3, sum(costs)
    if _same(nats, total):
        return not_yet(
            "Your first number grows with the number of positions: it is the sum; divide by "
            "len(costs)."
        )
    if not _same(nats, mean):
        return not_yet(f"The mean of the costs is {mean:.3f} nats and you have {nats:.3f}.")
    if _same(bits, mean * math.log(2)):
        return not_yet(
            "Your bits are fewer than the nats: you multiplied by log 2; one bit is only 0.693 "
            "nats, so there are more of them: divide."
        )
    if _same(bits, math.log2(mean)):
        return not_yet(
            "You took log2 of the loss, which is a logarithm already; divide it by log 2."
        )
    if not _same(bits, 2):
        return not_yet(f"The mean is {mean:.3f} nats = 2.000 bits and you have {bits:.3f} bits.")
    wrong = {
        2**mean: "You raised 2 to a loss in nats; nats belong to e (and bits to 2).",
        math.exp(2): "You raised e to a loss in bits; e belongs to nats (and 2 to bits).",
        math.exp(total): "You took e to the power of the sum; perplexity is e to the mean.",
        sum(map(math.exp, costs)) / 3: (
            "You averaged e^cost over the positions; average the costs first, then take e^mean."
        ),
        math.exp(-mean): (
            "Your perplexity is below 1: without the minus, e^mean is a number of characters."
        ),
    }
    for value, symptom in wrong.items():
        if _same(perplexity, value):
            return not_yet(symptom)
    if not _same(perplexity, 4):
        return not_yet(f"e^{mean:.3f} is 4 and your perplexity is {perplexity:.3f}.")
    return correct(
        "1.386 nats = 2 bits = a choice among 4 equally likely characters: three names for one "
        "loss."
    )


@marks
def check_my_mlm_loss(my_mlm_loss: Callable[..., Any]) -> Verdict:
    """Mark ``my_mlm_loss(logits, labels)``: mean −log P over the labels that are not −100."""
    import torch

    generator = torch.Generator().manual_seed(1)
    logits = 2 * torch.randn(2, 6, 5, generator=generator)  # (batch, length, |V|)
    labels = torch.full((2, 6), -100)
    for row, position, label in ((0, 1, 4), (0, 2, 2), (0, 5, 1), (1, 3, 3)):
        labels[row, position] = label
    selected = labels >= 0
    log_probs = logits.log_softmax(-1)
    costs = -log_probs[selected].gather(1, labels[selected][:, None])[:, 0]
    right = costs.mean().item()

    before = logits.clone(), labels.clone()
    try:
        answer = ask(my_mlm_loss, logits, labels)
    except Unanswered as reason:
        if any(words in str(reason) for words in ("out of bounds", "Expected index", "-100")):
            raise Unanswered(
                f"{reason}: a label of -100 was used as an index. Select the positions first."
            ) from None
        raise
    if not (torch.equal(logits, before[0]) and torch.equal(labels, before[1])):
        return not_yet("Your function changes its logits or labels; work on copies (clone).")
    if isinstance(answer, torch.Tensor) and answer.numel() != 1:
        return not_yet(
            f"Your loss has the shape {tuple(answer.shape)}; average it to a single number."
        )
    loss = _number(answer)
    if math.isnan(loss):
        return not_yet(
            "Your loss is NaN: did you take the logarithm of logits? They may be negative; "
            "log_softmax turns them into log-probabilities."
        )

    clamped = labels.clamp(min=0)
    filled = -log_probs.gather(2, clamped[..., None])[..., 0]
    across = {
        axis: -logits.log_softmax(axis)[selected].gather(1, labels[selected][:, None]).mean().item()
        for axis in (0, 1)
    }
    raw = logits[selected].gather(1, labels[selected][:, None]).mean().item()
    squashed = logits[selected].softmax(-1).gather(1, labels[selected][:, None]).mean().item()
    rows = [filled[row][selected[row]].mean() for row in range(2)]
    symptoms: list[tuple[float, str]] = [
        (-right, "Your loss is negative, and a loss is a price: did you forget the minus?"),
        (
            right * 4,
            "Your loss doubles when the batch is doubled: it is the sum; divide by the number of "
            "selected positions.",
        ),
        (
            right * 4 / 12,
            "Your loss falls when unselected positions are added: you divide by all positions; "
            "divide by the number of labels that are not -100.",
        ),
        (
            right * 4 / 2,
            "You divide by the number of rows; divide by the number of selected positions.",
        ),
        (
            float(sum(rows)) / 2,
            "You averaged each row and then the rows, so a position in a row with few selected "
            "ones counts more; average over all selected positions at once.",
        ),
        (
            filled.mean().item(),
            "Your loss does not leave the -100 positions out: they count as character 0 (did you "
            "clamp the labels?) and are averaged in.",
        ),
        (
            right / math.log(2),
            "Your loss is right in bits (log2); the series counts in nats, so use the natural "
            "logarithm.",
        ),
        (
            -log_probs.max(-1).values[selected].mean().item(),
            "Your loss does not change when the labels do: it takes the largest probability of "
            "each position; take the one of the label.",
        ),
        (
            -log_probs.max(-1).values.mean().item(),
            "Your loss does not change when the labels do: it takes the largest probability of "
            "each position; take the one of the label, where there is one.",
        ),
        *(
            (
                value,
                f"Your softmax runs over axis {axis}, across other positions; the "
                "probabilities of one position are along the last axis, dim=-1.",
            )
            for axis, value in across.items()
        ),
        (
            -raw,
            "You averaged −logits: logits are not log-probabilities until log_softmax has made "
            "the probabilities of each position sum to 1.",
        ),
        (raw, "You averaged the logits themselves; take −log_softmax of them."),
        (
            -squashed,
            "You averaged −P; the price of a probability is −log P: take the logarithm.",
        ),
        (squashed, "You averaged P itself; the price of a probability is −log P."),
        (
            -math.log(squashed),
            "You took the logarithm of the mean; take the mean of the logarithms.",
        ),
    ]
    for value, symptom in symptoms:
        if _same(loss, value):
            return not_yet(symptom)
    if not _same(loss, right):
        return not_yet(
            f"On logits of shape (2, 6, 5) with 4 labels that are not -100 your loss is "
            f"{loss:.4f}; the mean of −log P(label) at those 4 positions is {right:.4f}."
        )
    if not isinstance(answer, torch.Tensor):
        return not_yet(
            "The number is right, but it is no longer a tensor, so nothing can be learned from "
            "it: leave out .item() and float()."
        )
    leaf = logits.clone().requires_grad_()
    if not ask(my_mlm_loss, leaf, labels).requires_grad:
        return not_yet(
            "The number is right, but no gradient flows back through it: leave out detach(), "
            ".data and NumPy."
        )
    large = torch.tensor([[[0.0, 200.0]]])
    if not _same(_number(ask(my_mlm_loss, large, torch.tensor([[0]]))), 200.0):
        return not_yet(
            "With logits of 0 and 200 the loss is 200, and yours is infinite: softmax first and "
            "log afterwards underflows; log_softmax does both in one."
        )
    return correct("It equals F.cross_entropy(…, ignore_index=-100), even for extreme logits.")


# ── Notebook 02 ──────────────────────────────────────────────────────────────────────────────────


@marks
def check_restore(restore: Callable[..., Any]) -> Verdict:
    """Mark ``restore(inputs, labels)``: the original ids, from a masked batch alone."""
    import torch

    #                       kept  [MASK]  swapped  not selected
    inputs = torch.tensor([[18, 28, 23, 15], [2, 3, 4, 28]])
    labels = torch.tensor([[18, 2, 9, -100], [-100, -100, -100, 20]])
    original = torch.tensor([[18, 2, 9, 15], [2, 3, 4, 20]])
    before = inputs.clone(), labels.clone()
    answer = ask(restore, inputs, labels)
    if not (torch.equal(inputs, before[0]) and torch.equal(labels, before[1])):
        return not_yet(
            "Your function changes the batch it is given, so a second look at it sees something "
            "else: did you write into `inputs`? Work on inputs.clone(), or use torch.where."
        )
    if not isinstance(answer, torch.Tensor) or answer.shape != original.shape:
        return not_yet(f"Return a tensor of ids with the shape of inputs, {tuple(inputs.shape)}.")
    if (answer == -100).any():
        return not_yet(
            "Some of your ids are -100, which stands for no character: where the label is -100 the "
            "position was not selected, and the original is what the model reads, inputs."
        )
    if torch.equal(answer, before[0]):
        return not_yet("You return the inputs as they are; the hidden characters are in labels.")
    if torch.equal(answer, torch.where(inputs == 28, labels, inputs)):
        return not_yet(
            "The [MASK]s are filled, but a swapped character stays: you looked for [MASK], and a "
            "selected position may show any character. Ask the labels which ones were selected."
        )
    if not torch.equal(answer, original):
        row, column = (answer != original).nonzero()[0].tolist()
        return not_yet(
            f"At row {row}, position {column}, input {int(inputs[row, column])} and label "
            f"{int(labels[row, column])} give {int(answer[row, column])} instead of "
            f"{int(original[row, column])}."
        )
    return correct(
        "Inputs and labels together hold the whole text: nothing is lost by masking, it is only "
        "moved to where the model cannot read it."
    )


@marks
def check_culprit(culprit: Any) -> Verdict:
    """Mark the letter of the suspect that gives 81/10/9."""
    measured = {
        "a": "A gives 80/10/10: its 9.64 and 10.36 are the trap of one in 28. One number "
        "decides, and nothing can overlap.",
        "b": "B gives 80/10/10, although a rate of 0.5 looks wrong: half of the 20 % that are "
        "left is 10 %. Measure it before you accuse it.",
        "d": "D is wrong too, but not this wrong: its second draw asks for 10 % of the 20 % that "
        "are left, so it gives 80/2/18. Look for 81 % [MASK].",
    }
    letter = str(culprit).strip().lower().removeprefix("suspect").strip(" _")
    if letter in measured:
        return not_yet(measured[letter])
    if letter != "c":
        return not_yet('Answer with the letter of one suspect: "A", "B", "C" or "D".')
    return correct(
        "C swaps 10 % first and gives [MASK] to 0.9 of the rest: 0.9 · 0.9 = 81 % [MASK], 10 % "
        "swapped and 0.9 · 0.1 = 9 % kept. Two independent draws multiply."
    )


@marks
def check_second_rate(second_rate: Callable[..., Any]) -> Verdict:
    """Mark ``second_rate(mask_share, random_share)``: the rate of a second draw for swapping."""
    cases = [(0.7, 0.2), (0.8, 0.1), (0.5, 0.5)]
    for hide, swap in cases:
        rate = _float(ask(second_rate, hide, swap))
        right = swap / (1 - hide)
        symptoms = {
            swap: "that is the suspect D: the second draw sees only what the first left over, so "
            "a share of the whole must be turned into a share of the rest",
            swap * (1 - hide): "you multiplied by the rest; to turn a share of the whole into a "
            "share of the rest, divide by it",
            swap / hide: "you divided by what became [MASK]; divide by what is left over",
            1 - hide - swap: "that is the share that is kept",
            1 - hide: "that is everything that is left over, swapped and kept together",
            0.5: "one half fits 80/10/10 only: use mask_share and random_share",
        }
        if abs(rate - right) < 1e-6:
            continue
        share = (1 - hide) * rate
        seen = (
            f"With mask_share {hide} and random_share {swap} your rate is {rate:.3g}, so "
            f"{share:.3g} of the selected positions are swapped"
        )
        for value, symptom in symptoms.items():
            if abs(rate - value) < 1e-6:
                return not_yet(f"{seen}: {symptom}.")
        return not_yet(f"{seen} instead of {swap}.")
    return correct(
        "For 80/10/10 that is 0.1 / 0.2 = 0.5, the rate of suspect B. One draw, as in "
        "mask_tokens, needs no such conversion."
    )


@marks
def check_coverage(coverage: Callable[..., Any]) -> Verdict:
    """Mark ``coverage(epochs, mask_prob, copies)``: the share selected at least once."""
    for epochs, p, copies in ((1, 0.15, 1), (3, 0.15, 10), (40, 0.15, 10), (5, 0.4, 2)):
        answer = _float(ask(coverage, epochs, p, copies))
        different = min(epochs, copies)
        right = 1 - (1 - p) ** different
        if abs(answer - right) < 1e-6:
            continue
        seen = f"After {epochs} epochs with {copies} copies at {p} you get {answer:.3f}"
        symptoms = {
            (1 - p) ** different: "that is the share never selected so far; take the rest",
            1 - (1 - p) ** epochs: "from epoch copies + 1 on the masks repeat, and a repeated mask "
            "selects nothing new: the number of different masks is min(epochs, copies)",
            1 - (1 - p) ** copies: "only as many copies have been seen as there were epochs: the "
            "number of different masks is min(epochs, copies)",
            p * different: "you added the rates, which counts a position selected twice twice (and "
            "would pass 100 % in the end); multiply the chances of *not* being selected",
            p * epochs: "you added the rates, which counts a position selected twice twice (and "
            "would pass 100 % in the end); multiply the chances of *not* being selected",
            p**different: "that is the share selected every single time; the question is at least "
            "once",
        }
        for value, symptom in symptoms.items():
            if abs(answer - value) < 1e-6:
                return not_yet(f"{seen}: {symptom}.")
        return not_yet(f"{seen} instead of {right:.3f}.")
    return correct(
        "Ten copies end at 80 % however long you train; fresh masks have no such ceiling."
    )


def _float(answer: Any) -> float:
    """Read a number from what a learner returned."""
    try:
        return float(answer)
    except (TypeError, ValueError, RuntimeError):
        kind = type(answer).__name__
        raise Unanswered(f"Your function returns a {kind}; return one number.") from None


# ── Notebook 03 ──────────────────────────────────────────────────────────────────────────────────


@marks
def check_my_attention(my_attention: Callable[..., Any]) -> Verdict:
    """Mark ``my_attention(Q, K, V, look)``: softmax(QKᵀ/√d_head where look, −∞ elsewhere) V."""
    import torch

    generator = torch.Generator().manual_seed(3)
    length, d_head = 5, 4
    query = 2 * torch.randn(length, d_head, generator=generator)
    key = 2 * torch.randn(length, d_head, generator=generator)
    value = torch.randn(length, 3, generator=generator)
    look = torch.ones(length, length, dtype=torch.bool).tril()
    look[4, 1] = False
    scores = query @ key.T
    minus_infinity = float("-inf")
    masked = scores.masked_fill(~look, minus_infinity)
    root = math.sqrt(d_head)
    weights = (masked / root).softmax(-1)
    right = weights @ value

    before = [tensor.clone() for tensor in (query, key, value, look)]
    answer = ask(my_attention, query, key, value, look)
    after = (query, key, value, look)
    if not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)):
        return not_yet(
            "Your function changes what it is given: `masked_fill_` and `+=` write into the "
            "original; use `masked_fill`, which makes a copy."
        )
    try:
        answer = torch.as_tensor(answer, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError):
        return not_yet(f"Your function returns a {type(answer).__name__}; return a tensor.")
    if answer.shape == weights.shape and torch.allclose(answer, weights, atol=1e-4):
        return not_yet(
            "These are the weights, and they are right; multiply them by V: weights @ V."
        )
    if answer.shape == (length, d_head) and torch.allclose(answer, weights @ key, atol=1e-4):
        return not_yet("Your weights are right, but you gather the keys; what is gathered is V.")
    if answer.shape != right.shape:
        return not_yet(
            f"With V of shape {tuple(value.shape)} your result has the shape "
            f"{tuple(answer.shape)}; weights (length, length) times V is {tuple(right.shape)}."
        )
    if answer.isnan().any():
        return not_yet(
            "Some of your numbers are NaN: 0 times −inf is NaN, and so is a softmax over nothing "
            'but −inf. Write scores.masked_fill(~look, float("-inf")).'
        )
    unmasked = (scores / root).softmax(-1)
    symptoms = [
        (
            (masked / root).softmax(0).nan_to_num() @ value,
            "The columns of your weights sum to 1, not the rows: the softmax ran over the queries. "
            "Each query spreads its attention over the keys, so softmax(dim=-1).",
        ),
        (
            (scores / root).softmax(0).masked_fill(~look, 0) @ value,
            "The columns of your weights sum to 1, not the rows: the softmax ran over the queries. "
            "Each query spreads its attention over the keys, so softmax(dim=-1).",
        ),
        (
            masked.softmax(-1) @ value,
            "Your weights are too sharp, as if the scores were twice as large: did you forget to "
            "divide them by the square root of d_head?",
        ),
        (
            (masked * root).softmax(-1) @ value,
            "Your weights are too sharp: you multiplied by the square root of d_head; divide.",
        ),
        (
            (masked / d_head).softmax(-1) @ value,
            "Your weights are too even: you divided by d_head; divide by its square root.",
        ),
        (
            (masked / math.sqrt(length)).softmax(-1) @ value,
            "You divided by the square root of the length; take that of d_head, the width of Q "
            "(its last dimension).",
        ),
        (
            (scores.masked_fill(~look, 0) / root).softmax(-1) @ value,
            "Forbidden positions still get attention: you masked their scores with 0, and "
            "exp(0) = 1. Only −inf becomes 0 in the softmax.",
        ),
        (
            unmasked.masked_fill(~look, 0) @ value,
            "Your rows sum to less than 1: you masked after the softmax, so what was given to the "
            "forbidden positions is lost. Mask the scores, before the softmax.",
        ),
        (
            (scores / root).masked_fill(look, minus_infinity).softmax(-1) @ value,
            "Every position looks exactly where it may not: you put −inf where `look` is True. It "
            "belongs where `look` is False: ~look.",
        ),
        (unmasked @ value, "Your result does not depend on `look`: every query sees every key."),
        (
            (scores / root).masked_fill(~look.T, minus_infinity).softmax(-1) @ value,
            "You used `look` turned round: its row is the query, its column the key.",
        ),
        (
            weights.T @ value,
            "Your weights are right but turned round; multiply them as they are: weights @ V.",
        ),
        (
            (scores / root).masked_fill(~look, 0) @ value,
            "You gather with the scores themselves; a softmax turns each row into shares that sum "
            "to 1.",
        ),
    ]
    for wrong, symptom in symptoms:
        if torch.allclose(answer, wrong, atol=1e-4):
            return not_yet(symptom)
    off = (answer - right).abs().max().item()
    if off > 1e-4:
        return not_yet(
            f"Your result is off by up to {off:.2f}. In order: Q @ K.T, divide by √d_head, −inf "
            "where `look` is False, softmax over the last dimension, times V."
        )
    return correct(
        "This is scaled dot-product attention; what `look` allows is all that makes an encoder "
        "two-sided or causal."
    )


@marks
def check_my_may_look(my_may_look: Callable[..., Any]) -> Verdict:
    """Mark ``my_may_look(length, direction)``: which query (row) may look at which key (column)."""
    import torch

    length = 4
    everywhere = torch.ones(length, length, dtype=torch.bool)
    right = {"left": everywhere.tril(), "right": everywhere.triu(), "both": everywhere}
    answers = {}
    for direction in right:
        answer = ask(my_may_look, length, direction)
        try:
            matrix = torch.as_tensor(answer)
        except (TypeError, ValueError, RuntimeError):
            return not_yet(
                f"For {direction!r} you return a {type(answer).__name__}; return a boolean tensor."
            )
        if matrix.shape != (length, length):
            return not_yet(
                f"For length {length} your matrix has the shape {tuple(matrix.shape)}; it needs "
                "one row a query and one column a key."
            )
        if matrix.is_floating_point() and matrix.isinf().any():
            return not_yet(
                "You return the −inf that is added to the scores; the question is where one may "
                "look: True or False."
            )
        answers[direction] = matrix.bool()
    if all(torch.equal(matrix, answers["both"]) for matrix in answers.values()):
        return not_yet("Your matrix is the same for every direction; use `direction`.")
    if torch.equal(answers["left"], right["right"]) and torch.equal(
        answers["right"], right["left"]
    ):
        return not_yet(
            "With 'left' your position 0 sees everything and your last position only itself: left "
            "and right are swapped. The row is the query, the column the key: key ≤ query."
        )
    if not answers["left"].diagonal().any() or not answers["right"].diagonal().any():
        return not_yet(
            "Your positions do not see themselves, and position 0 of 'left' sees nothing at all: "
            "a softmax over nothing is NaN. Include the position itself (≤, not <)."
        )
    for direction, matrix in answers.items():
        if torch.equal(matrix, ~right[direction]):
            return not_yet(
                f"For {direction!r} you mark what is forbidden; mark True where one may look."
            )
        if not torch.equal(matrix, right[direction]):
            query, key = (matrix != right[direction]).nonzero()[0].tolist()
            verb = "may" if matrix[query, key] else "may not"
            return not_yet(
                f"For {direction!r} you say that position {query} {verb} look at position {key}."
            )
    return correct("Nothing else separates an encoder from its one-sided twins.")


@marks
def check_layer_parameters(layer_parameters: Callable[..., Any]) -> Verdict:
    """Mark ``layer_parameters(d_model, d_ff)``: the number of parameters of one encoder layer."""
    d, f = 10, 27
    count = _float(ask(layer_parameters, d, f))
    if _float(ask(layer_parameters, d, 2 * f)) == count:
        return not_yet(
            "Your count does not change with d_ff, though the feed-forward network does."
        )
    attention, up, down, norms = 4 * (d * d + d), d * f + f, f * d + d, 4 * d
    right = attention + up + down + norms
    symptoms = {
        4 * d * d
        + 2 * d * f
        + norms: "the biases are missing: a matrix that makes n numbers comes with n biases",
        4 * d * d + 2 * d * f: "only the six matrices are counted; each has biases, and there are "
        "two norms",
        right - norms: "4 · d_model are missing: either the two norms, each with d_model "
        "scales and shifts, or the biases of the four matrices of attention",
        right - norms // 2: "half of the norms is missing: there are two, each with d_model scales "
        "and d_model shifts",
        right - (d * d + d): "one matrix of attention is missing: queries, keys, values (V!) and "
        "the output make four",
        right - 2 * (d * d + d): "two matrices of attention are missing: queries, keys, values and "
        "the output make four",
        right - down: "the way down is missing: the feed-forward network goes up to d_ff and back",
        right - up: "the way up is missing: the feed-forward network goes up to d_ff and back",
        right - f + d: "the biases of the way up are d_ff many: one for each number it makes",
        right - d + f: "the biases of the way down are d_model many: one for each number it makes",
        right - f - d: "the biases of the feed-forward network are missing",
        2 * right: "this is two layers; count one",
    }
    for value, symptom in symptoms.items():
        if count == value:
            return not_yet(f"For d_model {d} and d_ff {f} you count {count:,.0f}: {symptom}.")
    if count != right:
        return not_yet(
            f"For d_model {d} and d_ff {f} you count {count:,.0f} instead of {right:,}: four "
            "matrices of attention, two of the feed-forward network, their biases, two norms."
        )
    if _float(ask(layer_parameters, 128, 256)) != 132_480:
        return not_yet("Your count is right for d_model = 10 but not for 128 with d_ff = 256.")
    return correct(
        "The number of heads is not in it: heads share out d_model, and cost nothing extra."
    )


# ── Notebook 04 ──────────────────────────────────────────────────────────────────────────────────


@marks
def check_train_step(train_step: Callable[..., Any]) -> Verdict:
    """Mark ``train_step(model, optimizer, windows)``: one step at 30 %, returning its loss."""
    import torch

    from cloze.encoder import EncoderConfig
    from cloze.heads import MaskedLM
    from cloze.vocabulary import VOCABULARY

    torch.manual_seed(0)
    model = MaskedLM(EncoderConfig(d_model=32, n_heads=2, n_layers=1, d_ff=32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)  # moves nothing, so steps compare
    windows = VOCABULARY.encode("the quick brown fox jumps over the lazy dog\n")[:40].repeat(16, 1)
    untouched = windows.clone()
    read: list[Any] = []
    answers: list[Any] = []
    used: list[Any] = []

    def gradients(*_: Any) -> None:
        parts = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        used.append(torch.cat(parts).clone() if parts else torch.zeros(1))

    optimizer.register_step_pre_hook(gradients)
    model.encoder.register_forward_pre_hook(lambda _, given: read.append(given[0].clone()))
    model.head.register_forward_hook(lambda _, __, logits: answers.append(logits.detach()))
    losses = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        losses.append(ask(train_step, model, optimizer, windows))

    if not torch.equal(windows, untouched):
        return not_yet("The windows are changed after your step: mask_tokens returns copies.")
    if len(read) < 3:
        return not_yet("Your step never asks the model: compute logits from the masked inputs.")
    if torch.equal(read[0], windows):
        return not_yet(
            "The model is shown the windows as they are, so it can read off the answers: give it "
            "the inputs that mask_tokens returns."
        )
    if torch.equal(read[0], read[2]):
        return not_yet(
            "Two steps hide the same positions: did you make a generator with a fixed seed inside "
            "the function? Every step needs fresh masks."
        )
    hidden = float((read[0] == VOCABULARY.mask_id).float().mean())
    if not 0.18 < hidden < 0.3:
        return not_yet(
            f"{hidden:.0%} of the characters became [MASK]; at mask_prob 0.3 it is 0.8 · 30 %, "
            "about 24 %. Did you pass the 0.3?"
        )
    if not used:
        return not_yet("No parameter is ever moved: call optimizer.step() after backward().")
    if not used[0].any():
        if any(p.grad is not None and p.grad.any() for p in model.parameters()):
            return not_yet("The optimizer steps before backward() has computed a gradient.")
        return not_yet(
            "When the optimizer steps, every gradient is zero or missing: call loss.backward(), "
            "and zero_grad() before it, not between backward() and step()."
        )
    if used[1].norm() > 1.5 * used[0].norm():
        return not_yet(
            "The second step uses the gradient of the first as well (it is twice as long under "
            "equal masks): call optimizer.zero_grad() before backward()."
        )
    return _judge_loss(losses[0], read[0], answers[0], windows)


def _judge_loss(loss: Any, read: Any, logits: Any, windows: Any) -> Verdict:
    """Judge the loss that a training step returns."""
    from torch.nn import functional as F

    value = _number(loss.detach() if hasattr(loss, "detach") else loss)
    if logits.dim() == 3:
        everywhere = float(F.cross_entropy(logits.flatten(0, 1), windows.flatten()))
        repeated = float(F.cross_entropy(logits.flatten(0, 1), read.flatten()))
        if _same(value, everywhere):
            return not_yet(
                "Your loss is the mean over all positions: the labels are those that mask_tokens "
                "returns, with -100 wherever nothing is asked."
            )
        if _same(value, repeated):
            return not_yet("You compare with the inputs; the answers are in the labels.")
    if not 2 < value < 6:
        return not_yet(
            f"An untrained model should cost about log 29 = 3.37 nats, and you return {value:.2f}: "
            "return the mean loss in nats, as mlm_loss gives it."
        )
    return correct("Sample, mask, predict, compare, improve: fit does this 1100 times.")


@marks
def check_diagnosis(diagnosis: Any) -> Verdict:
    """Mark the mapping from broken loop (A, B, C) to what one would see (1, 2, 3)."""
    if not isinstance(diagnosis, dict) or set(diagnosis) != {"A", "B", "C"}:
        return not_yet('Answer with a dict such as {"A": 1, "B": 2, "C": 3}.')
    if any(answer is ... for answer in diagnosis.values()):
        return not_yet("Replace the ... by your answer: a number for every loop.")
    if not all(isinstance(answer, int) for answer in diagnosis.values()):
        return not_yet("Give one whole number for every loop: the number of its symptom.")
    if set(diagnosis.values()) != {1, 2, 3}:
        return not_yet("Each of the symptoms 1, 2 and 3 belongs to exactly one loop.")
    hints = {
        "A": "Loop A: look for what is missing. A gradient is added to the one before, unless …",
        "B": "Loop B: look at what stands above the `for`. How many different questions are asked?",
        "C": "Loop C: it trains as it should. Look at what it reports, and on which text.",
    }
    for loop, symptom in {"A": 2, "B": 3, "C": 1}.items():
        if diagnosis[loop] != symptom:
            return not_yet(hints[loop])
    return correct(
        "A never calls zero_grad, B masks once and for all, C measures on the text it trains on."
    )


@marks
def check_beaten(beaten: Callable[..., Any]) -> Verdict:
    """Mark ``beaten(loss, prices)``: the names of the baselines that a loss is below."""
    prices = {"uniform": 3.37, "unigram": 2.8, "left bigram": 2.34, "both neighbours": 1.73}
    for loss in (2.62, 0.9, 3.37, 4.0):
        answer = ask(beaten, loss, prices)
        if isinstance(answer, str) or not isinstance(answer, (list, tuple, set, dict)):
            kind = type(answer).__name__
            return not_yet(f"Your answer is of type {kind}; return a list of names.")
        got = list(answer)
        right = [name for name, price in prices.items() if loss < price]
        names = sorted(map(str, got))
        if names == sorted(right):
            continue
        seen = f"For a loss of {loss} you return {got}"
        if got and all(isinstance(entry, float) for entry in got):
            return not_yet(f"{seen}: those are prices; return the names.")
        if names == sorted(name for name, price in prices.items() if loss > price):
            return not_yet(f"{seen}: these beat the loss. A loss is a price, and lower is better.")
        if names == sorted(name for name, price in prices.items() if loss <= price):
            return not_yet(f"{seen}: a tie is not beaten; use < rather than <=.")
        return not_yet(f"{seen} instead of {right}.")
    return correct("2.62 nats beat two baselines and no neighbour: remember that number.")


# ── Notebook 05 ──────────────────────────────────────────────────────────────────────────────────

SHOWN_IN_05 = "she asked a question about the weather"
"""The line that the notebook itself uses; a finding should be the learner's own."""


@marks
def check_right_finding(right_finding: Any) -> Verdict:
    """Mark ``right_finding``: a line and a position that only the right side can fill."""
    from cloze.prediction import compare
    from cloze.vocabulary import GAP, VOCABULARY, TextError, read_line

    if isinstance(right_finding, tuple | list) and ... in right_finding:
        return not_yet("Replace the ... by your answer and run the cell again.")
    try:
        line, at = right_finding
    except (TypeError, ValueError):
        return not_yet('Give a line and a position, for instance ("the cat sat", 4).')
    if not isinstance(line, str) or not isinstance(at, int) or isinstance(at, bool):
        return not_yet('The line is text and the position a whole number: ("the cat sat", 4).')
    try:
        input_ids, _ = read_line(line)
    except TextError as error:
        return not_yet(str(error))
    text = VOCABULARY.decode(input_ids, gap=GAP)
    if GAP in text:
        return not_yet("Write the line in full, without a gap; the position says what is hidden.")
    if not 0 <= at < len(text):
        return not_yet(
            f"{text!r} has the positions 0 to {len(text) - 1}, and {at} is none of them."
        )
    if text == SHOWN_IN_05:
        return not_yet("That line is the notebook's; find one of your own.")
    answers = compare(text, [at])
    p = {name: math.exp(-(answers[name].cost(at) or 0.0)) for name in answers.predictions}
    shown = f"{text[:at]}[{text[at]}]{text[at + 1 :]}"
    seen = f"{shown}: left {p['left']:.2f}, right {p['right']:.2f}, both {p['both']:.2f}."
    if p["left"] >= 0.1:
        return not_yet(
            f"{seen} The left side is not surprised enough: what comes before your gap already "
            "suggests the letter. Try the first letter of a word."
        )
    if p["right"] < 0.5:
        return not_yet(
            f"{seen} The right side does not find it either: what follows your gap fits other "
            "letters as well. Try a word in which no other letter could stand there."
        )
    if p["both"] < 0.9:
        return not_yet(f"{seen} With both sides the model should be sure, 0.90 or more.")
    return correct(f"{seen} A model that reads from left to right could not have known.")


@marks
def check_bet_price(bet_price: Callable[..., Any]) -> Verdict:
    """Mark ``bet_price(letter, sure, truth, frequencies)``: what a bet costs, in bits."""
    frequencies = {"e": 0.4, "t": 0.3, "a": 0.2, "q": 0.1}
    sure = 0.8
    right = _number(ask(bet_price, "e", sure, "e", dict(frequencies)))
    symptoms = {
        math.log2(sure): "the cost is negative: did you forget the minus?",
        -math.log(sure): "that is in nats; in bits it is −log2.",
        sure: "that is the probability; its price is −log2 of it.",
        0.0: "a right guess is free only for someone who was 100 % sure.",
        -math.log2(0.4): "that is the letter's frequency; the guesser gave it 0.8.",
        -math.log2(0.2): "you took what is left over; the truth is the letter that was bet on.",
        -math.log2(sure + 0.2 * 0.4): (
            "the letter gets its share of the rest as well; the rest is for the *other* characters."
        ),
    }
    seen = "For e with 0.8, and e is the truth, you return"
    for value, symptom in symptoms.items():
        if _same(right, value):
            return not_yet(f"{seen} {right:.3f}: {symptom}")
    if not _same(right, -math.log2(sure)):
        return not_yet(f"{seen} {right:.3f} instead of −log2 0.8 = {-math.log2(sure):.3f}.")
    wrong = _number(ask(bet_price, "e", sure, "q", dict(frequencies)))
    rest = 1 - sure
    truth = rest * 0.1 / 0.6
    symptoms = {
        math.inf: "a wrong guess costs much, but the truth was left a share of the rest.",
        -math.log2(sure): "that is what it would cost if e were the truth.",
        -math.log2(rest): "you give q all of the rest; t and a have their shares in it.",
        -math.log2(rest / 3): "you share the rest evenly; share it by frequency.",
        -math.log2(rest * 0.1): (
            "your probabilities sum to less than 1, for the frequencies of the others sum to "
            "1 − frequencies[letter]: divide by it."
        ),
        -math.log2(rest * 0.1 / 0.9): (
            "you divide by 1 − the frequency of the truth; the one left out is the letter bet on."
        ),
        -math.log2(0.1): "that is q's frequency; how sure the guesser was does not show.",
        -math.log(truth): "that is in nats; in bits it is −log2.",
    }
    seen = "For e with 0.8, and q is the truth, you return"
    for value, symptom in symptoms.items():
        if wrong == value or _same(wrong, value):
            return not_yet(f"{seen} {wrong:.3f}: {symptom}")
    if not _same(wrong, -math.log2(truth)):
        return not_yet(f"{seen} {wrong:.3f} instead of −log2(0.2 · 0.1 / 0.6) = 4.907.")
    return correct("Sure and right is cheap, sure and wrong is dear, and nothing costs infinity.")


@marks
def check_hide_right(hide_right: Callable[..., Any]) -> Verdict:
    """Mark ``hide_right(input_ids, position)``: ``[MASK]`` at every position right of one."""
    import torch

    from cloze.vocabulary import VOCABULARY

    mask = VOCABULARY.mask_id
    input_ids = torch.tensor([7, 3, 9, 4, 11, 5])
    given = input_ids.clone()
    answer = ask(hide_right, given, 2)
    if not torch.equal(given, input_ids):
        return not_yet("Your function changes the line it is given; work on a copy (clone).")
    if not isinstance(answer, torch.Tensor):
        return not_yet(f"Your function returns a {type(answer).__name__}; return a tensor of ids.")
    if answer.shape != input_ids.shape:
        return not_yet(
            f"You return the shape {tuple(answer.shape)} for a line of {tuple(input_ids.shape)}: "
            "hide what stands on the right, do not cut it off."
        )
    hidden = (answer != input_ids).nonzero().flatten().tolist()
    if hidden == [3, 4, 5] and (answer[3:] != mask).any():
        return not_yet(f"You hide with {answer[3]}; the id of [MASK] is VOCABULARY.mask_id.")
    symptoms = {
        (): "You return the line as it was.",
        (2, 3, 4, 5): "You hide the position itself, too; begin one further to the right.",
        (4, 5): "The first neighbour on the right is still to be seen; begin at position + 1.",
        (0, 1): "You hide the left side.",
        (0, 1, 2): "You hide the left side, and the position itself.",
        (0, 1, 3, 4, 5): "You hide both sides; the left one stays.",
        (3,): "You hide one neighbour; hide everything to the right.",
    }
    if tuple(hidden) in symptoms:
        return not_yet(symptoms[tuple(hidden)])
    if hidden != [3, 4, 5]:
        return not_yet(f"For position 2 of a line of 6 you change {hidden} instead of [3, 4, 5].")
    if not torch.equal(ask(hide_right, input_ids, 5), input_ids):
        return not_yet("Right of the last position stands nothing, so nothing changes there.")
    return correct("Now the encoder sees no more than the left twin does.")
