"""The exercises of notebook 14."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.inside import run
from cloze.lenses import measurements_of, off
from cloze.lessons.inside import paths
from cloze.lessons.inside.removing import without
from cloze.masking import seeded
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number, numbers, tensor
from cloze.teaching.texts import line_with_gap, two_texts
from cloze.vocabulary import PAD, VOCABULARY, counted, visible
from cloze.world import World

# ── 14.1 ─────────────────────────────────────────────────────────────────────────────────────────


def adds(part: Tensor, stream: Tensor, gamma: Tensor, w: Tensor) -> float:
    """Return what a part adds to a difference of logits, the final norm held as it is."""
    centred = part - part.mean()
    return float((gamma * centred / stream.std(correction=0)) @ w)


def vectors(chance: Chance) -> Probes:
    """Make parts of a stream, and what the norm and the output head do with them."""
    for d in (4, 6, 5):
        part, rest, w = (torch.randn(d, generator=chance.torch) for _ in range(3))
        gamma = 0.5 + torch.rand(d, generator=chance.torch)
        yield part + 1, 3 * rest + part + 2, gamma, w
    yield torch.full((5,), 2.0), rest, gamma, w


check_adds = Exercise(
    solution=adds,
    minutes=12,
    wants=number,
    probes=vectors,
    solved="All parts are divided by the same number, so what they add sums to the logits.",
    direction="Subtract the part's mean, divide by the stream's standard deviation, multiply by "
    "gamma, and take the product with w.",
)

# ── 14.2 ─────────────────────────────────────────────────────────────────────────────────────────


def stand_ins(alone: Tensor, together: Tensor) -> tuple[int, int]:
    """Return the two heads that cost most together beyond the sum of what each costs alone."""
    beyond = together - alone[:, None] - alone
    beyond.fill_diagonal_(float("-inf"))
    i, j = divmod(int(beyond.argmax()), len(alone))
    return min(i, j), max(i, j)


def costs(chance: Chance) -> Probes:
    """Make the costs of heads, alone and two at a time; the diagonal is a head alone."""
    for n in (5, 6, 7, 8, 6, 9, 11, 12, 10, 8):
        alone = torch.rand(n, generator=chance.torch) * (0.6 if n > 6 else 0.2) + 0.05
        both = torch.randn(n, n, generator=chance.torch) * 0.1 - int(n == 6)
        alone[4] -= int(n == 9)  # without this head, the model is even better
        together = alone[:, None] + alone + (both + both.T) / 2
        together.diagonal().copy_(alone)
        yield alone, together


check_stand_ins = Exercise(
    solution=stand_ins,
    minutes=10,
    wants=numbers("i", "j"),
    probes=costs,
    solved="Switching off one head at a time overlooks such a pair, because each matters more when "
    "the other is off.",
    direction="Subtract both single costs from the cost of each pair, leave out the diagonal, and "
    "find the largest; the smaller number comes first.",
)

# ── 14.3 ─────────────────────────────────────────────────────────────────────────────────────────

FLIP = 'Hand in a line with one gap, its letter, the layer and the head: ("the c_t", "a", 0, 1).'


def _judge_flip(answer: Any) -> str:
    kinds = [type(part) for part in answer] if isinstance(answer, tuple | list) else []
    if kinds != [str, str, int, int]:
        raise Symptom(f"You hand in {kind_of(answer)}. {FLIP}")
    typed, letter, layer, head = answer
    line, gap = line_with_gap(typed, letter, FLIP)
    if layer not in (0, 1) or head not in range(8):
        raise Symptom("The encoder has the layers 0 and 1, and in each the heads 0 to 7.")
    ids = VOCABULARY.encode(line)
    model = shipped_model()
    guess = predict(model, ids, [gap]).probabilities[0].argmax()
    if VOCABULARY.symbols[guess] != letter:
        raise Symptom(
            f"With all its heads the encoder says {visible(VOCABULARY.symbols[guess])}, not "
            f"{letter}. Find a line that it gets right first."
        )
    ids[gap] = VOCABULARY.mask_id
    means = measurements_of(model)
    assert means is not None
    changed = run(model, ids[None], off("z", layer, means.means, head=head, at=[gap]))
    after = VOCABULARY.symbols[int(changed["logits"][0, gap, : VOCABULARY.n_ordinary].argmax())]
    if after == letter:
        raise Symptom(
            f"Without this head it still says {letter}. Try a gap whose letter depends on the "
            "place that the head reads, and a line with two good answers."
        )
    return f"Without this head it says {visible(after)}."


check_flip = Exercise(
    minutes=12,
    solution=("he was a b_d man", "a", 0, 1),
    solved="On a line that is nearly undecided, little is needed. Try the other heads on it before "
    "you call this one special.",
    judge=_judge_flip,
)

# ── 14.4 ─────────────────────────────────────────────────────────────────────────────────────────


def swap(model: MaskedLM, ids: Tensor, z: Tensor, layer: int, head: int, at: int) -> Tensor:
    """Return the logits with other values ``z`` in one head at one position."""
    width = len(z)

    def hook(_: Any, args: tuple[Tensor]) -> tuple[Tensor]:
        joined = args[0].clone()
        joined[:, at, head * width : (head + 1) * width] = z
        return (joined,)

    handle = model.encoder.layers[layer].attention.output.register_forward_pre_hook(hook)  # type: ignore[union-attr]
    logits = model(ids)
    handle.remove()
    return logits


SMALL = EncoderConfig(max_len=8, d_model=12, n_heads=3, d_ff=8)


def small_models(chance: Chance) -> Probes:
    """Make small encoders that have learned nothing, lines, and what to put into a head."""
    for layer, head, at in ((0, 1, 3), (1, 2, 4), (1, 1, 2)):
        with torch.random.fork_rng():
            torch.manual_seed(chance.getrandbits(31))
            model = MaskedLM(SMALL).eval().requires_grad_(False)
        ids = torch.randint(VOCABULARY.n_ordinary, (layer + 1, 6), generator=chance.torch)
        z = 2 * torch.randn(SMALL.d_head, generator=chance.torch)
        yield model, ids, z, layer, head, at


def _judge_swap(answer: Any) -> None:
    model = MaskedLM(SMALL).eval().requires_grad_(False)
    ids = torch.randint(VOCABULARY.n_ordinary, (1, 6), generator=seeded(0))
    before = model(ids)
    answer(model, ids, torch.ones(SMALL.d_head), 0, 1, 2)
    if not torch.equal(model(ids), before):
        raise Symptom(
            "The logits are right, but your hook is still there: the model stays changed for "
            "everybody who uses it after you. Call remove() on the handle."
        )


check_swap = Exercise(
    solution=swap,
    minutes=15,
    wants=tensor(torch.float32),
    probes=small_models,
    solved="`Change` and `changed` of `cloze.inside` do the same for every part.",
    direction="In the hook, copy args[0], write z into the head's columns at the position, and "
    "return (copy,); then run the model and remove the hook.",
    judge=_judge_swap,
    without=dict.fromkeys(("Change", "changed"), "Write a hook of your own, without Change."),
)

# ── 14.5 ─────────────────────────────────────────────────────────────────────────────────────────

PAIR = "Hand in two sentences of the world with a comma between them."


def _judge_detour(answer: Any) -> str:
    world = World.load()
    sentences = two_texts(answer, PAIR)
    for sentence in sentences:
        if sentence not in world.sentences:
            raise Symptom(f"{sentence!r:.90} is not a sentence of this world. {PAIR}")
    ours, theirs = (tuple(sentence.split()) for sentence in sentences)
    differ = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
    apart = len(differ) + abs(len(ours) - len(theirs))
    if len(ours) != len(theirs) or apart != 2:
        raise Symptom(
            f"Your sentences differ in {counted(apart, 'word')}; they must differ in exactly two, "
            "so that one decides the other."
        )
    question = paths.SentencePair(ours, theirs, *differ)
    for one, other in ((ours, theirs), (theirs, ours)):
        mixed = " ".join((*one[: differ[0]], other[differ[0]], *one[differ[0] + 1 :]))
        if mixed in world.sentences:
            raise Symptom(
                f"In this world {one[differ[1]]!r} does not decide {one[differ[0]]!r}: "
                f"{mixed!r} is a sentence, too. Choose two words that need each other."
            )
    if differ[1] - differ[0] < 5:
        raise Symptom(
            f"The two words are {differ[1] - differ[0]} places apart; choose some that are at "
            "least five apart."
        )
    (batch,) = paths.batches(world, [question])
    leans, moved = paths.ways(shipped_model("world"), batch, world.vocabulary.ids[PAD])
    shares = (moved[0] / (leans[0, 0] - leans[0, 1])).tolist()
    facts = ", ".join(f"{way} {share:.2f}" for way, share in zip(paths.WAYS, shares, strict=True))
    if shares[2] <= 0.9:
        raise Symptom(
            f"Here the gap looks at the word itself, in one of the two layers: {facts}. Try "
            "another kind of scene."
        )
    return f"{question.rule}: {facts}."


check_detour = Exercise(
    minutes=10,
    solution=(
        "the child sat on the big bridge for two hours and watched the river",
        "the child sat on the big sand for two hours and watched the sea",
    ),
    solved="One such pair is enough to refute a claim about all.",
    judge=_judge_detour,
)

# ── 14.6 ─────────────────────────────────────────────────────────────────────────────────────────


def states_and_directions(chance: Chance) -> Probes:
    """Make states, a direction that is not of length 1, and a mean."""
    for n, d in ((3, 4), (5, 3), (4, 4), (1, 3)):
        states = torch.randn(n, d, generator=chance.torch) + 1
        direction = 2 * torch.randn(d, generator=chance.torch)
        yield states, direction, 1 + torch.randn(d, generator=chance.torch)


check_without = Exercise(
    solution=without,
    minutes=10,
    wants=tensor(torch.float32),
    probes=states_and_directions,
    solved="Along this direction all states are now alike, and everything else is as it was.",
    direction="Give the direction length 1, take (states - mean) @ direction, and subtract that "
    "many times the direction from each state.",
)
