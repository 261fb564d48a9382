"""The exercises of notebook 03."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.ledger import parameter_ledger
from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, alike, as_plain, number, tensor
from cloze.teaching.symptoms import ask

# ── 3.1 ──────────────────────────────────────────────────────────────────────────────────────────

NO = float("-inf")
Function = Callable[..., Any]


def my_attention(Q: Tensor, K: Tensor, V: Tensor, look: Tensor) -> Tensor:
    """Gather the values by softmax(QKᵀ/√width) over the keys that each query may look at."""
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    return scores.masked_fill(~look, NO).softmax(-1) @ V


def queries_keys_values(chance: random.Random) -> list[Probe]:
    """Make Q, K, V of one shape, with sizes that are no squares, and who may look at whom.

    Every query may look at itself and somebody else is closed to it, so that no softmax has
    nothing to share out, apart from one query that sees all; ``look`` is never symmetric. In the
    last shape a product of wrong axes raises nothing. Values are positive, so that sums in single
    precision do not cancel.
    """
    seed = torch.Generator().manual_seed(chance.getrandbits(32))
    probes: list[Probe] = []
    for length, width in ((3, 2), (6, 10), (5, 5)):
        query, key = 1.5 * torch.randn(2, length, width, generator=seed)
        value = 0.5 + 3 * torch.rand(length, width, generator=seed)
        look = torch.rand(length, length, generator=seed) < 0.5
        i = torch.arange(length)
        look[i, (i + 1 + i % 2) % length], look[i, i] = False, True
        look[length - 1, 0], look[0, length - 1] = True, False
        look[1] |= length == width
        probes.append((query, key, value, look))
    return probes


def _scores(Q: Tensor, K: Tensor) -> Tensor:
    return Q @ K.T / math.sqrt(Q.shape[-1])


def _masked(Q: Tensor, K: Tensor, look: Tensor, fill: float = NO) -> Tensor:
    return _scores(Q, K).masked_fill(~look, fill)


def _weights(Q: Tensor, K: Tensor, look: Tensor) -> Tensor:
    return _masked(Q, K, look).softmax(-1)


def _times(factor: Callable[[int, int], float]) -> Function:
    """Multiply the scores by another factor of length and width than 1/√width."""

    def attend(Q: Tensor, K: Tensor, V: Tensor, look: Tensor) -> Tensor:
        return (Q @ K.T * factor(*Q.shape)).masked_fill(~look, NO).softmax(-1) @ V

    return attend


def _root_of(n: int) -> Function:
    return _times(lambda length, width: n**-0.5)


def _filled(fill: float) -> Function:
    return lambda Q, K, V, look: _masked(Q, K, look, fill).softmax(-1) @ V


def _compared(compare: Callable[[Tensor, Tensor], Tensor]) -> Function:
    """Compute the scores from Q and K in another way than by Q @ K.T."""
    return lambda Q, K, V, look: (
        (compare(Q, K) / math.sqrt(Q.shape[-1])).masked_fill(~look, NO).softmax(-1) @ V
    )


def _shared(share: Callable[[Tensor, Tensor], Tensor]) -> Function:
    """Make weights from the scores and ``look`` in another way."""
    return lambda Q, K, V, look: share(_scores(Q, K), look) @ V


ROOT_OF_V = (
    "You divided by the root of the width of V; the scores are sums over the width of Q and K, "
    "and V may have another: take the root of Q.shape[-1]."
)


def _judge_attention(attend: Function) -> None:
    """Let the values have another width than the queries."""
    seed = torch.Generator().manual_seed(random.getrandbits(31))
    query, key = torch.randn(2, 4, 3, generator=seed)
    given = query, key, torch.randn(4, 7, generator=seed), torch.ones(4, 4, dtype=torch.bool)
    if not alike(as_plain(ask(attend, *given)), as_plain(my_attention(*given))):
        raise Symptom(ROOT_OF_V)


check_my_attention = Exercise(
    solution=my_attention,
    judge=_judge_attention,
    wants=tensor(torch.float32),
    probes=queries_keys_values,
    parts=lambda Q, K, V, look: {
        "queries that may look everywhere": look.all(1),
        "queries to which a key is closed": ~look.all(1),
    },
    solved="This is scaled dot-product attention; what `look` allows is all that makes an encoder "
    "two-sided or causal.",
    direction="In order: Q @ K.T, divide by √width, −inf where `look` is False, softmax over the "
    "last dimension, times V.",
    limits={
        "With scores above 88 it fails, though, for exp then exceeds single precision: subtract "
        "the largest score of each row first, as softmax does.": (
            torch.tensor([[20.0, 10.0], [5.0, 10.0]]),
            torch.tensor([[20.0, 10.0], [19.0, 11.0]]),
            torch.tensor([[1.0, 2.0], [3.0, 5.0]]),
            torch.tensor([[True, True], [True, True]]),
        ),
    },
    mistakes={
        ROOT_OF_V: lambda Q, K, V, look: F.scaled_dot_product_attention(
            Q, K, V, attn_mask=look, scale=V.shape[-1] ** -0.5
        ),
        "Your scores are not scaled: divide Q @ K.T by the square root of the width, Q.shape[-1], "
        "or the softmax is too sharp.": _times(lambda length, width: 1),
        "Your weights are too sharp: you multiplied by the square root of the width; divide.": (
            _times(lambda length, width: width**0.5)
        ),
        "Your scores have a minus in front, so the least alike get the most: leave it out.": (
            _times(lambda length, width: -(width**-0.5))
        ),
        "Your weights are too even: you divided by the width; divide by its square root.": (
            _times(lambda length, width: 1 / width)
        ),
        "You divided by the square root of the length; take that of the width of Q, its last "
        "dimension: Q.shape[-1].": _times(lambda length, width: length**-0.5),
        **{
            f"You divided by the root of {n}, whatever the width; the width is Q.shape[-1].": (
                _root_of(n)
            )
            for n in (2, 3, 4, 24, 32, 64, 96)
        },
        "You divided by the length; divide by the square root of the width, Q.shape[-1].": (
            _times(lambda length, width: 1 / length)
        ),
        "You divided by the root of the number of entries of Q; take that of its width alone, "
        "Q.shape[-1].": _times(lambda length, width: (length * width) ** -0.5),
        "You divided by the square of the width; divide by its square root.": (
            _times(lambda length, width: width**-2)
        ),
        "You divided by the root of the root of the width; one root is enough.": (
            _times(lambda length, width: width**-0.25)
        ),
        "You divided by the logarithm of the width; divide by its square root.": (
            _times(lambda length, width: 1 / math.log(width))
        ),
        "You divided by twice the width: ** comes before /, so write width ** 0.5 or math.sqrt.": (
            _times(lambda length, width: 1 / width / 2)
        ),
        "You divided by half the width: width ** 1/2 is (width ** 1) / 2, so write width ** 0.5 or "
        "math.sqrt.": _times(lambda length, width: 2 / width),
        "You divided by 4, the root of the notebook's 16; take the width of what you are given, "
        "Q.shape[-1].": _times(lambda length, width: 1 / 4),
        "You divided by the root of 128, the notebook's d_model; take the width of what you are "
        "given, Q.shape[-1].": _times(lambda length, width: 128**-0.5),
        "You divided by the root of 8, the notebook's number of heads; take the width of what you "
        "are given, Q.shape[-1].": _times(lambda length, width: 8**-0.5),
        "You divided the weights by the root of the width, after the softmax, so they no longer "
        "sum to 1; divide the scores, before it.": (
            lambda Q, K, V, look: (
                (Q @ K.T).masked_fill(~look, NO).softmax(-1) / math.sqrt(Q.shape[-1]) @ V
            )
        ),
        "Your weights are right, and divided by the root of the width once more: scale the scores "
        "alone.": lambda Q, K, V, look: my_attention(Q, K, V, look) / math.sqrt(Q.shape[-1]),
        "You divided by the lengths of the vectors, as a cosine does; divide by the square root of "
        "the width.": lambda Q, K, V, look: (
            (F.normalize(Q) @ F.normalize(K).T).masked_fill(~look, NO).softmax(-1) @ V
        ),
        "Q.shape holds all sizes; its last entry, Q.shape[-1], is the width.": (
            lambda Q, K, V, look: Q @ K.T / math.sqrt(Q.shape)
        ),
        "Forbidden positions still get attention: you masked their scores with 0, and exp(0) = 1. "
        "Only −inf becomes 0 in the softmax.": _filled(0),
        **{
            f"Forbidden positions still get attention: {fill} is a score like any other. Only −inf "
            "becomes 0 in the softmax.": _filled(fill)
            for fill in (-1, -5, -10)
        },
        "A row in which something is forbidden is NaN: you put +inf or NaN there, or multiply −inf "
        "by 0. Only −inf becomes 0 in the softmax.": _filled(math.inf),
        "Your result is NaN because 0 times −inf is NaN; write "
        'scores.masked_fill(~look, float("-inf")).': (
            _shared(lambda scores, look: (scores + ~look * NO).softmax(-1))
        ),
        "Your rows sum to less than 1: you masked after the softmax, so what was given to the "
        "forbidden positions is lost. Mask the scores, before the softmax.": (
            _shared(lambda scores, look: scores.softmax(-1) * look)
        ),
        "You masked after the softmax, and without scaling the scores: divide Q @ K.T by "
        "√Q.shape[-1], mask, and then take the softmax.": (
            lambda Q, K, V, look: (Q @ K.T).softmax(-1) * look @ V
        ),
        "You put −inf into the weights, after the softmax; it belongs into the scores, before "
        "it.": _shared(lambda scores, look: scores.softmax(-1).masked_fill(~look, NO)),
        "You put −inf into the weights after a softmax and took a second one: mask the scores, "
        "and take one softmax.": (
            _shared(lambda scores, look: scores.softmax(-1).masked_fill(~look, NO).softmax(-1))
        ),
        "Your softmax comes twice; once is enough.": (
            lambda Q, K, V, look: _weights(Q, K, look).softmax(-1) @ V
        ),
        "Your result does not depend on `look`: every query sees every key. masked_fill changes "
        "nothing by itself; it returns a copy: scores = scores.masked_fill(…).": (
            _shared(lambda scores, look: scores.softmax(-1))
        ),
        "Your scores are neither scaled nor masked: divide Q @ K.T by √Q.shape[-1], and put −inf "
        "where `look` is False.": lambda Q, K, V, look: (Q @ K.T).softmax(-1) @ V,
        "Every position looks exactly where it may not: you put −inf where `look` is True. It "
        "belongs where `look` is False: ~look.": (
            _shared(lambda scores, look: scores.masked_fill(look, NO).softmax(-1))
        ),
        "Every position looks exactly where it may not: torch's attn_mask is True where one may "
        "look, as `look` is.": (
            lambda Q, K, V, look: F.scaled_dot_product_attention(Q, K, V, attn_mask=~look)
        ),
        "You used `look` turned round: its row is the query, its column the key, as in Q @ K.T.": (
            _shared(lambda scores, look: scores.masked_fill(~look.T, NO).softmax(-1))
        ),
        "You add `look` to the scores, which adds 1 where it is True; instead put −inf where it is "
        "False.": _shared(lambda scores, look: (scores + look).softmax(-1)),
        "You always mask what stands to the right; who may look where is given in `look`.": (
            _shared(
                lambda scores, look: scores.masked_fill(torch.ones_like(look).triu(1), NO).softmax(
                    -1
                )
            )
        ),
        "You always mask what stands to the left; who may look where is given in `look`.": (
            _shared(
                lambda scores, look: scores.masked_fill(torch.ones_like(look).tril(-1), NO).softmax(
                    -1
                )
            )
        ),
        "You also forbid everything to the right; what is allowed is in `look` alone.": (
            _shared(lambda scores, look: scores.masked_fill(~look.tril(), NO).softmax(-1))
        ),
        "scores[look] takes the allowed scores out of their rows; keep the matrix, and put −inf "
        "where `look` is False.": _shared(lambda scores, look: scores[look].softmax(-1)),
        "The columns of your weights sum to 1, not the rows: the softmax ran over the queries. "
        "Each query spreads its attention over the keys, so softmax(dim=-1).": (
            _shared(lambda scores, look: scores.masked_fill(~look, NO).softmax(0))
        ),
        "Your softmax ran over the queries, and you masked after it: put −inf into the scores "
        "first, and then softmax(dim=-1), over the keys.": (
            _shared(lambda scores, look: scores.softmax(0) * look)
        ),
        "Your softmax runs over all scores at once; every query has 1 to give to its keys, so "
        "softmax(dim=-1).": (
            _shared(
                lambda scores, look: (
                    scores.masked_fill(~look, NO).flatten().softmax(0).view_as(scores)
                )
            )
        ),
        "You gather with the masked scores themselves, and −inf spreads to all sums; a softmax "
        "turns each row into shares that sum to 1.": (
            _shared(lambda scores, look: scores.masked_fill(~look, NO))
        ),
        "You gather with the scores themselves; a softmax turns each row into shares that sum to "
        "1.": _shared(lambda scores, look: scores * look),
        "You gather with the scores themselves, everywhere: put −inf where `look` is False, and "
        "take the softmax of each row.": _shared(lambda scores, look: scores),
        "log_softmax gives the logarithms of the weights; gather with softmax.": (
            _shared(lambda scores, look: scores.masked_fill(~look, NO).log_softmax(-1))
        ),
        **{
            f"Your scores are not scaled (divide by the root of Q.shape[-1]), and {also}": (
                lambda Q, K, V, look, share=share: share(Q @ K.T, look) @ V
            )
            for also, share in {
                "your softmax runs over the queries: it should be softmax(dim=-1).": (
                    lambda scores, look: scores.masked_fill(~look, NO).softmax(0)
                ),
                "−inf stands where `look` is True; it belongs where it is False: ~look.": (
                    lambda scores, look: scores.masked_fill(look, NO).softmax(-1)
                ),
                "where `look` is False stands 0; only −inf becomes 0 in the softmax.": (
                    lambda scores, look: scores.masked_fill(~look, 0).softmax(-1)
                ),
                "the softmax is missing, which turns each row into shares that sum to 1.": (
                    lambda scores, look: scores.masked_fill(~look, 0)
                ),
                "`look` is turned round: its row is the query, as in Q @ K.T.": (
                    lambda scores, look: scores.masked_fill(~look.T, NO).softmax(-1)
                ),
            }.items()
        },
        "You used a sigmoid; the weights of a query share out 1 among the keys, so softmax.": (
            _shared(lambda scores, look: scores.masked_fill(~look, NO).sigmoid())
        ),
        "Your weights are exp of the scores and do not sum to 1: divide each row by its sum.": (
            _shared(lambda scores, look: scores.masked_fill(~look, NO).exp())
        ),
        "You divided by sums that belong to other rows: keepdim=True keeps them in a column, so "
        "that each row is divided by its own.": (
            _shared(
                lambda scores, look: (
                    scores.masked_fill(~look, NO).exp()
                    / scores.masked_fill(~look, NO).exp().sum(-1)
                )
            )
        ),
        "You masked after the softmax, and the columns of your weights sum to 1: divide each row "
        "by its sum, sum(dim=-1, keepdim=True), or put −inf into the scores before the softmax.": (
            _shared(lambda scores, look: _over(scores.softmax(-1) * look, 0))
        ),
        "You divided the scores by their sum, and scores may be negative: take exp first, as "
        "softmax does.": _shared(lambda scores, look: _over(scores * look, -1)),
        "You take the value of the best key alone; a softmax shares the attention out.": (
            _shared(
                lambda scores, look: F.one_hot(
                    scores.masked_fill(~look, NO).argmax(-1), len(scores)
                ).float()
            )
        ),
        "You average what each query may look at; how much it takes from where is the softmax of "
        "the scores Q @ K.T.": _shared(lambda scores, look: _over(look.float(), -1)),
        "You add up what each query may look at; how much it takes from where is the softmax of "
        "the scores Q @ K.T.": _shared(lambda scores, look: look.float()),
        "Your scores are turned round: K @ Q.T has the keys in its rows; Q @ K.T has the queries "
        "there, as `look` has.": lambda Q, K, V, look: my_attention(K, Q, V, look),
        "Your scores are turned round, and you turn the weights back after the softmax, which then "
        "ran over the queries: Q @ K.T, and softmax(dim=-1).": (
            lambda Q, K, V, look: _weights(K, Q, look).T @ V
        ),
        "You compare the queries with themselves; K is missing: Q @ K.T.": (
            lambda Q, K, V, look: my_attention(Q, Q, V, look)
        ),
        "You compare the keys with themselves; Q is missing: Q @ K.T.": (
            lambda Q, K, V, look: my_attention(K, K, V, look)
        ),
        "You compare the queries with the values; they are compared with the keys: Q @ K.T.": (
            lambda Q, K, V, look: my_attention(Q, V, V, look)
        ),
        "You exchanged K and V: compare with K, Q @ K.T, and gather V.": (
            lambda Q, K, V, look: my_attention(Q, V, K, look)
        ),
        "Q and K are exchanged for V and Q: the scores are Q @ K.T.": (
            lambda Q, K, V, look: my_attention(V, K, V, look)
        ),
        "Your weights are right, but you gather the keys; what is gathered is V.": (
            lambda Q, K, V, look: my_attention(Q, K, K, look)
        ),
        "Your weights are right, but you gather the queries; what is gathered is V.": (
            lambda Q, K, V, look: my_attention(Q, K, Q, look)
        ),
        "K is not transposed: every query meets every key in Q @ K.T.": (
            _compared(lambda Q, K: Q @ K)
        ),
        "K is not transposed, and the scores are not scaled: Q @ K.T, divided by √Q.shape[-1].": (
            _compared(lambda Q, K: Q @ K * math.sqrt(Q.shape[-1]))
        ),
        "Q is transposed, and K should be: Q @ K.T has a row for each query and a column for each "
        "key.": _compared(lambda Q, K: Q.T @ K),
        "* multiplies entry by entry; the scores are the matrix product Q @ K.T.": (
            _compared(lambda Q, K: Q * K)
        ),
        "* multiplies entry by entry, K transposed or not; the scores are the matrix product "
        "Q @ K.T.": _compared(lambda Q, K: Q * K.T),
        "You compare every query with the key of its own position only; Q @ K.T compares all with "
        "all.": _compared(lambda Q, K: (Q * K).sum(-1)),
        "Your weights are right; * multiplies entry by entry, and what is gathered is the matrix "
        "product weights @ V.": lambda Q, K, V, look: _weights(Q, K, look) * V,
        "V comes first in your product; a row of weights meets the values in weights @ V.": (
            lambda Q, K, V, look: V @ _weights(Q, K, look)
        ),
        "V is not to be transposed: weights (length, length) @ V (length, width).": (
            lambda Q, K, V, look: _weights(Q, K, look) @ V.T
        ),
        "Your product has V in front and transposed, which gathers by columns; it is weights @ "
        "V.": lambda Q, K, V, look: V.T @ _weights(Q, K, look),
        "Your weights are right but turned round; multiply them as they are: weights @ V.": (
            lambda Q, K, V, look: _weights(Q, K, look).T @ V
        ),
        "These are the weights, and they are right; multiply them by V: weights @ V.": (
            lambda Q, K, V, look: _weights(Q, K, look)
        ),
        "These are the scores, scaled and masked; take the softmax of each row, and weights @ V.": (
            lambda Q, K, V, look: _masked(Q, K, look)
        ),
        "These are the scaled scores; mask them, take the softmax of each row, and gather with "
        "weights @ V.": lambda Q, K, V, look: _scores(Q, K),
        "These are the raw scores Q @ K.T; scale and mask them, take the softmax of each row, and "
        "gather with weights @ V.": lambda Q, K, V, look: Q @ K.T,
        "You return the weights beside the result; return the result alone.": (
            lambda Q, K, V, look: (my_attention(Q, K, V, look), _weights(Q, K, look))
        ),
        "You return the weights beside the result; return the result alone, weights @ V.": (
            lambda Q, K, V, look: (_weights(Q, K, look), my_attention(Q, K, V, look))
        ),
        "Your result is averaged over the queries; every query gathers for itself.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look).mean(0)
        ),
        "Your result is added up over the queries; every query gathers for itself.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look).sum(0)
        ),
        "Your result is added up over the width; weights @ V has all of it.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look).sum(-1)
        ),
        "Your result is divided by the length; the weights sum to 1 already.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look) / len(V)
        ),
        "You return what the first query gathers: is the `return` inside the loop?": (
            lambda Q, K, V, look: my_attention(Q, K, V, look)[0]
        ),
        "You return what the last query gathers; every query has a row of the result.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look)[-1]
        ),
        "You add Q to the result, as a residual connection does; return what is gathered alone.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look) + Q
        ),
        "You add V to the result, as a residual connection does; return what is gathered alone.": (
            lambda Q, K, V, look: my_attention(Q, K, V, look) + V
        ),
    },
)
"""Mark ``my_attention(Q, K, V, look)``: softmax(QKᵀ/√width where look, −∞ elsewhere) V."""


def _over(weights: Tensor, axes: int | tuple[int, ...]) -> Tensor:
    """Divide by the sum over some axes."""
    return weights / weights.sum(axes, keepdim=True)


# ── 3.2 ──────────────────────────────────────────────────────────────────────────────────────────


def my_may_look(length: int, direction: str) -> Tensor:
    """Say which query (row) may look at which key (column): boolean, ``(length, length)``."""
    everywhere = torch.ones(length, length, dtype=torch.bool)
    return {"left": everywhere.tril(), "right": everywhere.triu(), "both": everywhere}[direction]


def lengths_and_directions(chance: random.Random) -> list[Probe]:
    """Make every direction with a length whose matrix is small enough to be shown, and others."""
    lengths = 3, *chance.sample(range(4, 10), 2)
    return [(length, direction) for length in lengths for direction in ("left", "right", "both")]


Rule = Callable[[Tensor, Tensor], Tensor]


def _rules(left: Rule | None = None, right: Rule | None = None, both: Rule | None = None) -> Any:
    """Make the solution with other comparisons of query and key for some directions."""
    rules = {"left": left, "right": right, "both": both}

    def look(length: int, direction: str) -> Tensor:
        query, key = torch.arange(length)[:, None], torch.arange(length)
        rule = rules[direction]
        return rule(query, key) if rule else my_may_look(length, direction)

    return look


def _instead(**other: str) -> Any:
    """Make the solution with one direction answered as if it were another."""
    return lambda length, direction: my_may_look(length, other.get(direction) or direction)


check_my_may_look = Exercise(
    solution=my_may_look,
    wants=tensor(torch.bool),
    probes=lengths_and_directions,
    parts=lambda length, direction: {
        f"'{direction}'": ...,
        f"'{direction}', a position and itself": torch.eye(length).bool(),
        f"'{direction}', what is left of it": torch.ones(length, length).tril(-1).bool(),
        f"'{direction}', what is right of it": torch.ones(length, length).triu(1).bool(),
    },
    solved="Nothing else separates an encoder from its one-sided twins.",
    direction='The row is the query, the column the key: for "left" True where key ≤ query, for '
    '"right" where key ≥ query, for "both" everywhere.',
    mistakes={
        # One direction first, for of several mistakes that explain a part the first is told.
        "Your 'both' is the same as 'right': is all that is not 'left' treated as 'right'? It "
        "needs a case of its own, True everywhere.": _instead(both="right"),
        "Your 'both' is the same as 'left': is all that is not 'right' treated as 'left'? It needs "
        "a case of its own, True everywhere.": _instead(both="left"),
        "Your 'right' is True everywhere, as 'both' should be: it needs a case of its own, key ≥ "
        "query.": _instead(right="both"),
        "Your 'left' is True everywhere, as 'both' should be: it needs a case of its own, key ≤ "
        "query.": _instead(left="both"),
        "Your 'right' is the same as 'left'; for 'right' key ≥ query.": _instead(right="left"),
        "Your 'left' is the same as 'right'; for 'left' key ≤ query.": _instead(left="right"),
        "With 'left' your positions do not see themselves: ≤, not <; tril(), not tril(-1).": (
            _rules(left=lambda query, key: key < query)
        ),
        "With 'right' your positions do not see themselves: ≥, not >; triu(), not triu(1). And the "
        "opposite of 'left' lacks them.": _rules(right=lambda query, key: key > query),
        "With 'both' your positions do not see themselves; there it is True everywhere.": (
            _rules(both=lambda query, key: key != query)
        ),
        "With 'left' you mark what stands right of the position; it is True where key ≤ query.": (
            _rules(left=lambda query, key: key > query)
        ),
        "With 'right' you mark what stands left of the position; it is True where key ≥ query.": (
            _rules(right=lambda query, key: key < query)
        ),
        "With 'left' you see one position to the right, too: key ≤ query, or tril() without a "
        "number.": _rules(left=lambda query, key: key <= query + 1),
        "With 'right' you see one position to the left, too: key ≥ query, or triu() without a "
        "number.": _rules(right=lambda query, key: key >= query - 1),
        "With 'both' every position sees only itself: 'both' is 'left' or 'right' (|), not both at "
        "once (&).": _rules(both=lambda query, key: key == query),
        "With 'both' nobody sees anything; there it is True everywhere: torch.ones, not "
        "torch.zeros.": _rules(both=lambda query, key: key != key + 0 * query),
        "With 'left' nobody sees position 0: positions count from 0, so ranges begin there.": (
            _rules(left=lambda query, key: (key <= query) & (key > 0))
        ),
        "With 'right' nobody sees the last position: a range or slice ends before its end.": (
            _rules(right=lambda query, key: (key >= query) & (key < len(key) - 1))
        ),
        "Left and right are swapped: with 'left' your position 0 sees everything and your last "
        "position only itself. The row is the query, the column the key: key ≤ query.": (
            _instead(left="right", right="left")
        ),
        "Your tensor is all True for every direction; does `direction` reach your conditions? And "
        "tril() changes nothing by itself; it returns a copy.": (
            _instead(left="both", right="both")
        ),
        "You answer every direction as 'left': use `direction`, and compare it each time, for "
        '`direction == "left" or "right"` is always true.': _instead(right="left", both="left"),
        "You answer every direction as 'right': use `direction`, and compare it with each "
        "name.": _instead(left="right", both="right"),
        "Left and right are swapped, and 'both' is one-sided: 'left' is key ≤ query, 'both' is "
        "True everywhere.": _instead(left="right", right="left", both="left"),
        "Left and right are swapped, and 'both' is one-sided: 'right' is key ≥ query, 'both' is "
        "True everywhere.": _instead(left="right", right="left", both="right"),
        "Your positions do not see themselves, and position 0 of 'left' sees nothing at all: a "
        "softmax over nothing is NaN. Include the position itself (≤ and ≥, not < and >).": (
            _rules(left=lambda query, key: key < query, right=lambda query, key: key > query)
        ),
        "Your positions never see themselves; include them: ≤ and ≥ for the sides, and True "
        "everywhere for 'both'.": _rules(
            left=lambda query, key: key < query,
            right=lambda query, key: key > query,
            both=lambda query, key: key != query,
        ),
        "You mark what is forbidden, as masked_fill wants it; mark True where one may look: turn "
        "it round with ~.": lambda length, direction: ~my_may_look(length, direction),
        "With 'left' you mark what stands right of the position, and with 'right' what stands left "
        "of it: either you mark what is forbidden, or you swapped the sides and left out the "
        "position itself. 'left' is True where key ≤ query.": (
            _rules(left=lambda query, key: key > query, right=lambda query, key: key < query)
        ),
        "With 'left' and 'right' you see one position too far on the other side: no ± 1 is needed "
        "where ≤ and ≥ include the position itself.": _rules(
            left=lambda query, key: key <= query + 1, right=lambda query, key: key >= query - 1
        ),
        "With 'left' and 'right' you leave out the position and its neighbour: no ± 1 beside < "
        "and >; key ≤ query and key ≥ query.": _rules(
            left=lambda query, key: key < query - 1, right=lambda query, key: key > query + 1
        ),
        "With 'left' and 'right' you see the position and one neighbour; everything on that side "
        "is to be seen.": _rules(
            left=lambda query, key: (key == query) | (key == query - 1),
            right=lambda query, key: (key == query) | (key == query + 1),
        ),
        "With 'left' and 'right' you see one neighbour alone; the position itself and everything "
        "on that side is to be seen.": _rules(
            left=lambda query, key: key == query - 1, right=lambda query, key: key == query + 1
        ),
        "With 'left' and 'right' every position sees only itself; ≤ and ≥, not ==.": _rules(
            left=lambda query, key: key == query, right=lambda query, key: key == query
        ),
        "Your tensor is False everywhere, so nobody sees anything: does anything set it True?": (
            lambda length, direction: torch.zeros(length, length, dtype=torch.bool)
        ),
        "'left' and 'right' do not mean the halves of the line, but the sides of each position: "
        "compare key with query.": (
            lambda length, direction: (
                my_may_look(length, "both")
                if direction == "both"
                else (torch.arange(length) < length // 2).expand(length, -1)
                == (direction == "left")
            )
        ),
        "With 'left' and 'right' only the first row is filled in: is the `return` inside the "
        "loop?": _rules(
            left=lambda query, key: (key <= query) & (query == 0),
            right=lambda query, key: (key >= query) & (query == 0),
        ),
        "Only the first row is filled in: is the `return` inside the loop?": (
            lambda length, direction: (
                my_may_look(length, direction) & (torch.arange(length)[:, None] == 0)
            )
        ),
        "Only the first entry is filled in: is the `return` inside the loop?": (
            lambda length, direction: F.pad(
                torch.ones(1, 1, dtype=torch.bool), (0, length - 1, 0, length - 1)
            )
        ),
        "You have no case for 'both', which is True everywhere.": (
            lambda length, direction: {
                side: my_may_look(length, side) for side in ("left", "right")
            }[direction]
        ),
        "Your rows run from the last query to the first; row 0 belongs to position 0.": (
            lambda length, direction: my_may_look(length, direction).flip(0)
        ),
        "Your matrix is one too large: it has one row for each of the `length` queries and one "
        "column for each key.": lambda length, direction: my_may_look(length + 1, direction),
        "Your matrix is one too small: positions run from 0 to length - 1, as in "
        "torch.arange(length); it neither begins at 1 nor ends at length - 1.": (
            lambda length, direction: my_may_look(length - 1, direction)
        ),
        "Your query and key are both a row, so a single row comes out: [:, None] makes query a "
        "column, and comparing a column with a row gives a matrix.": (
            lambda length, direction: torch.ones(length, dtype=torch.bool)
        ),
        "A single column comes out: compare the query, a column, with the key, a row.": (
            lambda length, direction: torch.ones(length, 1, dtype=torch.bool)
        ),
        "For 'both' you return a single row; it is a matrix (length, length) of True.": (
            lambda length, direction: (
                torch.ones(length, dtype=torch.bool)
                if direction == "both"
                else my_may_look(length, direction)
            )
        ),
        "For 'both' you return a single True; it is a matrix (length, length) of True: "
        "torch.ones(length, length, dtype=torch.bool).": (
            lambda length, direction: direction == "both" or my_may_look(length, direction)
        ),
        "For 'both' you return 'left' and 'right' beside each other; one matrix is asked for: "
        "left | right.": lambda length, direction: (
            (my_may_look(length, "left"), my_may_look(length, "right"))
            if direction == "both"
            else my_may_look(length, direction)
        ),
        "You return the −inf that is added to the scores; the question is where one may look: True "
        "or False.": lambda length, direction: torch.zeros(length, length).masked_fill(
            ~my_may_look(length, direction), NO
        ),
        "Your −inf stands where one may look; and what is asked for is True and False.": (
            lambda length, direction: torch.zeros(length, length).masked_fill(
                my_may_look(length, direction), NO
            )
        ),
        "You return how far the key is from the query; compare the two instead: key <= query.": (
            lambda length, direction: torch.arange(length) - torch.arange(length)[:, None]
        ),
        "You return how far the query is from the key; compare the two instead: key <= query.": (
            lambda length, direction: torch.arange(length)[:, None] - torch.arange(length)
        ),
        "In `query` or `key` you use a number of the notebook in place of `length`.": (
            lambda length, direction: my_may_look(64, direction)
        ),
    },
)
"""Mark ``my_may_look(length, direction)``: which query (row) may look at which key (column)."""


# ── 3.3 ──────────────────────────────────────────────────────────────────────────────────────────


def layer_parameters(d_model: int, d_ff: int) -> int:
    """Count the parameters of one encoder layer: attention, feed-forward network, two norms."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    norms = 2 * (d_model + d_model)
    return attention + feed_forward + norms


def sizes(chance: random.Random) -> list[Probe]:
    """Make widths of a layer and of its feed-forward network, the latter not a multiple."""
    widths = chance.sample(range(5, 40), 8)
    return [(10, 27), *((d, 2 * d + chance.randrange(1, d)) for d in widths)]


def _count(dd: float = 4, df: float = 2, d: float = 9, f: float = 1) -> Function:
    """Make another sum of d_model², d_model · d_ff, d_model and d_ff than 4, 2, 9 and 1 of them.

    Nine d_model: the biases of four matrices of attention and of the way down, and two norms.
    """
    return lambda d_model, d_ff: (
        dd * d_model * d_model + df * d_model * d_ff + d * d_model + f * d_ff
    )


def _ledger(layers: int, part: str = "") -> Function:
    """Count the lines of the notebook's ledger that begin with the name of a part."""
    return lambda d_model, d_ff: sum(
        count
        for line, count in parameter_ledger(29, d_model, layers, d_ff).items()
        if line.startswith(part)
    )


check_layer_parameters = Exercise(
    solution=layer_parameters,
    wants=number,
    probes=sizes,
    solved="The number of heads is not in it: heads share out d_model, and cost nothing extra.",
    direction="Compare: four matrices of attention and two of the feed-forward network have "
    "4 · d_model² + 2 · d_model · d_ff weights and 5 · d_model + d_ff biases; two norms have "
    "4 · d_model.",
    mistakes={
        "You count the six matrices only; each has as many biases as it makes numbers, and there "
        "are two norms, with d_model scales and d_model shifts each.": _count(d=0, f=0),
        "5 · d_model + d_ff are missing: either all biases (a matrix that makes n numbers has n), "
        "or the norms and the biases of the feed-forward network.": _count(d=4, f=0),
        "4 · d_model are missing: either the two norms, each with d_model scales and d_model "
        "shifts, or the biases of the four matrices of attention.": _count(d=5),
        "2 · d_model are missing: either half of the norms (there are two, each with d_model "
        "scales and d_model shifts), or the biases of two matrices of attention.": _count(d=7),
        "The biases of one matrix that makes d_model numbers are missing: four of attention, and "
        "the way down of the feed-forward network.": _count(d=8),
        "3 · d_model are missing: every one of the four matrices of attention has d_model biases "
        "of its own. Are the brackets in 4 * (d_model * d_model + d_model)?": _count(d=6),
        "The biases of the feed-forward network are missing: d_ff on the way up, d_model on the "
        "way down.": _count(d=8, f=0),
        "The biases of the way up are missing: one for each of the d_ff numbers it makes.": (
            _count(f=0)
        ),
        "The biases of the way up are d_ff many, one for each number it makes, not d_model.": (
            _count(d=10, f=0)
        ),
        "The biases of the way down are d_model many, one for each number it makes, not d_ff.": (
            _count(d=8, f=2)
        ),
        "You count the biases of the way up twice: d_ff up, and d_model down.": _count(f=2),
        "Every matrix has one bias in your count; it has one for each number it makes.": (
            lambda d_model, d_ff: _count(d=4, f=0)(d_model, d_ff) + 6
        ),
        "One matrix of attention is missing: queries, keys, values (V!) and the output are "
        "four.": _count(dd=3, d=8),
        "Two matrices of attention are missing: queries, keys, values and the output make four.": (
            _count(dd=2, d=7)
        ),
        "Attention has four matrices, queries, keys, values and the output; you count one.": (
            _count(dd=1, d=6)
        ),
        "Attention has four matrices, queries, keys, values and the output; you count five.": (
            _count(dd=5, d=10)
        ),
        "You count attention twice; its four matrices are queries, keys, values and the output.": (
            _count(dd=8, d=13)
        ),
        "Attention is missing: four matrices, queries, keys, values and the output, with biases.": (
            _count(dd=0, d=5)
        ),
        "The way down is missing: the feed-forward network goes up to d_ff and back.": (
            _count(df=1, d=8)
        ),
        "The way up is missing: the feed-forward network goes up to d_ff and back.": (
            _count(df=1, f=0)
        ),
        "One matrix of the feed-forward network is missing: it goes up to d_ff and back, which "
        "makes two.": _count(df=1),
        "The feed-forward network is missing: a matrix from d_model to d_ff and one back, with "
        "biases.": _count(df=0, d=8, f=0),
        "You count attention alone; the feed-forward network and two norms belong to a layer as "
        "well.": _count(df=0, d=4, f=0),
        "You count the weights of attention alone; its biases, the feed-forward network and two "
        "norms belong to a layer as well.": _count(df=0, d=0, f=0),
        "You count the feed-forward network alone; attention and two norms belong to a layer as "
        "well.": _count(dd=0, d=1),
        "You count the norms alone; attention and the feed-forward network belong to a layer as "
        "well.": _count(dd=0, df=0, d=4, f=0),
        "Your feed-forward network is of d_ff by d_ff; its matrices lead from d_model to d_ff and "
        "back.": lambda d_model, d_ff: _count(df=0, d=8, f=2)(d_model, d_ff) + 2 * d_ff**2,
        "You count matrices of the feed-forward network from d_model to d_model; they lead to d_ff "
        "and back.": _count(dd=6, df=0, d=10, f=0),
        "4 · d_model too many: a norm has d_model scales and d_model shifts, and there are two, "
        "not four.": _count(d=13),
        "2 · d_model too many: a third norm? The last norm of the encoder is not part of a "
        "layer.": _count(d=11),
        "A norm has d_model scales and d_model shifts, not one of each.": (
            lambda d_model, d_ff: _count(d=5)(d_model, d_ff) + 4
        ),
        "You count three matrices in the feed-forward network; it has two, up and down.": (
            _count(df=3)
        ),
        "You count three matrices in the feed-forward network; it has two, up and down, and d_ff + "
        "d_model biases.": _count(df=3, f=2),
        "The way back leads from d_ff to d_model: d_ff · d_model weights and d_model biases.": (
            lambda d_model, d_ff: _count(df=1, d=8, f=2)(d_model, d_ff) + d_ff**2
        ),
        "You count in thousands; return the number itself.": _count(0.004, 0.002, 0.009, 0.001),
        "You count in millions; return the number itself.": _count(4e-6, 2e-6, 9e-6, 1e-6),
        "You multiply attention and the way up, where + belongs: the parts add up.": (
            lambda d_model, d_ff: (
                _count(df=0, d=4, f=0)(d_model, d_ff) * (d_model * d_ff + d_ff)
                + _count(0, 1, 5, 0)(d_model, d_ff)
            )
        ),
        "You return the ledger or a part of it, a dictionary; add up the lines of one layer.": (
            lambda d_model, d_ff: parameter_ledger(29, d_model, 1, d_ff)
        ),
        "Both norms are of width d_model, also the one before the feed-forward network.": (
            _count(d=7, f=3)
        ),
        "Both norms are of width d_model; yours are of d_ff.": _count(d=5, f=5),
        "A norm has no matrix: d_model scales and d_model shifts, 2 · d_model.": (
            _count(dd=6, d=7)
        ),
        "A norm has no matrix: its scales are d_model many, and so are its shifts.": (
            _count(dd=6, d=5)
        ),
        "You have doubled d_model where it is to be squared: d_model * d_model.": (
            _count(dd=0, d=17)
        ),
        "^ is not a power in Python; write d_model ** 2.": (
            lambda d_model, d_ff: 4 * ((d_model ^ 2) + d_model) + _count(0, d=5)(d_model, d_ff)
        ),
        "^ is not a power in Python, and comes after +; write d_model ** 2.": (
            lambda d_model, d_ff: 4 * (d_model ^ 2 + d_model) + _count(0, d=5)(d_model, d_ff)
        ),
        "d_model and d_ff are exchanged: the square matrices of attention are d_model by "
        "d_model.": lambda d_model, d_ff: layer_parameters(d_ff, d_model),
        "Attention works in d_model numbers; d_ff belongs to the feed-forward network alone.": (
            lambda d_model, d_ff: 4 * (d_ff * d_ff + d_ff) + _count(dd=0, d=5)(d_model, d_ff)
        ),
        "The matrices of attention are d_model by d_model; d_ff belongs to the feed-forward "
        "network alone.": _count(dd=0, df=6),
        **{
            f"You count attention once for each of {heads} heads; heads share out d_model, so "
            "their number does not matter.": _count(dd=4 * heads, d=4 * heads + 5)
            for heads in (3, 4, 6, 8, 12)
        },
        "Your attention is that of one of 8 heads; the heads together have d_model, so count the "
        "whole matrices.": _count(dd=0.5, d=5.5),
        **{
            f"This is {n} layers; count one.": _count(4 * n, 2 * n, 9 * n, n)
            for n in (2, 3, 6, 8, 12)
        },
        "You multiply by 4 for bytes; count the parameters.": _count(16, 8, 36, 4),
        "You count the whole model; one layer is attention, feed-forward network and two norms, "
        "without embedding, last norm and head.": _ledger(1),
        "You count the whole model with its two layers; one layer is asked for, without embedding, "
        "last norm and head.": _ledger(2),
        "You count the attention of the ledger alone; a layer has more lines in it.": (
            _ledger(1, "layer 1: attention, q")
        ),
        "You include the embedding of 29 symbols; it stands before the layers.": (_count(d=9 + 29)),
        "You return the parts beside each other; return their sum.": (
            lambda d_model, d_ff: (
                _count(df=0, d=4, f=0)(d_model, d_ff),
                _count(dd=0, d=1)(d_model, d_ff),
                4 * d_model,
            )
        ),
        "You multiply the parts; the parameters of the parts add up.": (
            lambda d_model, d_ff: (
                _count(df=0, d=4, f=0)(d_model, d_ff)
                * _count(dd=0, d=1)(d_model, d_ff)
                * 4
                * d_model
            )
        ),
    },
)
"""Mark ``layer_parameters(d_model, d_ff)``: the number of parameters of one encoder layer."""
