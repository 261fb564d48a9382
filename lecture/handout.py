"""Print the handouts: for each lecture two pages, on A4 and on US Letter.

The command is ``python run.py handout [FOLDER]``. The words are in ``handout.html`` beside this
file; every number and every figure is computed here, from the models and results that ship with the
series, and Chromium prints them.
"""

from __future__ import annotations

import base64
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import torch
from markupsafe import Markup
from playwright.sync_api import Page

from cloze.baselines import NeighbourBaseline
from cloze.causal import text_costs
from cloze.corpus import Corpus, windows
from cloze.lessons.a_small_world import figures as small_world
from cloze.lessons.a_small_world.checks import fillings
from cloze.lessons.one_side_or_both.checks import posterior
from cloze.lessons.put_to_use import results as put_to_use
from cloze.lessons.put_to_use.figures import over_labels
from cloze.lessons.the_encoder.figures import what_moves
from cloze.lessons.the_loss.figures import cost_of_probability
from cloze.lessons.training import results as training
from cloze.lessons.training.figures import loss_curves
from cloze.lessons.writing_with_gaps.unmasking import frames
from cloze.loss import expected_cost, mlm_loss, to_bits
from cloze.masking import IGNORE, held_out_batch, mask_tokens, seeded
from cloze.prediction.answers import predict
from cloze.prediction.predictors import compare
from cloze.prediction.shipped import shipped_model, shipped_models, shipped_world_model
from cloze.teaching.figures import Picture
from cloze.vocabulary import VOCABULARY, visible
from cloze.world import World
from web.browser import NO_CHROMIUM, browsing, chromium

HERE = Path(__file__).resolve().parent
LECTURES = (60, 90)
PAPERS = ("A4", "Letter")

RAIN = "rain fell on the old umbrella all day"
RAIN_SEED = 58  # as in notebook 02: all three fates occur
BETS = {  # a line, and the place that is hidden
    "she asked a question about the weather": 12,
    "there was nothing to do in the rain": 16,
    "they put on their coats and went out": 15,
    "we had fun at the party": 7,
}
BEFORE, AFTER = "the red fox ran", "the bed fox ran"
GAPPED = "we w__k__ ho__ in the rain"
HARDER, WORD = "she took her umbrella because it was raining", "umbrella"
SAID = {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25}
FILLED = {c: f"the c{c}t sat on the mat" for c in "aou"}


def figure(picture: Picture) -> Markup:
    """Write a figure as an image with its words; as SVG, so that it prints sharply."""
    code = base64.b64encode(picture.svg.encode()).decode()
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(picture.text, code)


def strip() -> dict[str, list[str]]:
    """Mask a line: what the model reads at each position, its fate and its label, or ""."""
    input_ids = VOCABULARY.encode(RAIN)
    batch = mask_tokens(input_ids, generator=seeded(RAIN_SEED))
    shown = [VOCABULARY.symbols[i] for i in batch.inputs.tolist()]
    fates = {
        i: "M" if batch.inputs[i] == VOCABULARY.mask_id else "RK"[shown[i] == RAIN[i]]
        for i in batch.selected.nonzero().flatten().tolist()
    }
    labels = ["" if i == IGNORE else visible(VOCABULARY.symbols[i]) for i in batch.labels.tolist()]
    return {
        "strip": [visible(symbol) for symbol in shown],
        "fates": [fates.get(i, "") for i in range(len(shown))],
        "labels": labels,
    }


def proof() -> Picture:
    """Show which answers move when one letter is changed, with both sides and with one."""
    a, b = (VOCABULARY.encode(line)[None] for line in (BEFORE, AFTER))
    models = shipped_models()
    with torch.no_grad():
        moved = {
            side: (models[side](a) - models[side](b))[0, :, :28].norm(dim=-1).tolist()
            for side in ("both", "left")
        }
    changed = next(i for i, (x, y) in enumerate(zip(BEFORE, AFTER, strict=True)) if x != y)
    return what_moves(BEFORE, moved, changed)


def stuck() -> tuple[Picture, float]:
    """Draw our learning curve and the textbook's; return the loss of reading the own position."""
    arms = {
        "ours": "neighbour heads, our recipe",
        "the textbook's": "learned positions, textbook's Adam",
    }
    curves = {
        name: [(step, nats.mean) for step, nats in training.plateau()[arm].items()]
        for name, arm in arms.items()
    }
    corpus = Corpus.load()
    held_out = held_out_batch(corpus.held_out_windows())
    own = NeighbourBaseline((0,)).fit(windows(corpus.train_ids, 64)).log_probs(held_out.inputs)
    worth = mlm_loss(own, held_out.labels).item()
    return loss_curves(curves, {"own position": worth}, "steps"), worth


def floors() -> Picture:
    """Draw the floor of each side in the small world, and what its model pays above it."""
    world = World.load()
    asked = world.questions(300)
    rows = {}
    for side in ("left", "right", "both"):
        twin = shipped_world_model(side)
        floor, excess = world.floor_and_excess(twin, asked, side)
        rows[side] = floor.nats, excess.nats
    return small_world.twins(rows)


def bets() -> list[dict[str, Any]]:
    """Ask the three models what the room is asked: the line with its gap, and what each pays."""
    rows = []
    for line, place in BETS.items():
        answers = compare(line, {place})
        bits = {side: to_bits(answer.costs.item()) for side, answer in answers.items()}
        gapped = f"{line[:place]}▢{line[place + 1 :]}"
        rows.append({"line": gapped, "truth": line[place], "bits": bits})
    return rows


def bayes() -> tuple[dict[str, float], dict[str, float]]:
    """Return the cost of a line for each letter in its gap, and the probability of each letter."""
    costs = {c: text_costs(line).sum().item() for c, line in FILLED.items()}
    return costs, posterior(costs)


def unmasked() -> dict[str, list[str]]:
    """Fill a line in two ways: what it reads after each step, a dot for a gap."""
    steps = {p: frames(shipped_model(), GAPPED, p, 0) for p in ("easiest first", "all at once")}
    return {p: ["".join(s.line).replace("_", "·") for s in each] for p, each in steps.items()}


def harder() -> dict[int, float]:
    """Return the cost of a letter of a word in nats, by the number of letters hidden at once."""
    input_ids, start = VOCABULARY.encode(HARDER), HARDER.index(WORD)
    paid = {}
    for n in (1, 2, 4, len(WORD)):
        places = range(start, start + len(WORD) - n + 1)
        costs = [predict(shipped_model(), input_ids, range(at, at + n)).costs for at in places]
        paid[n] = torch.cat(costs).mean().item()
    return paid


def sleeping() -> tuple[float, float]:
    """Return P(sleeps | the dog ▒) in the world of three sentences, and its entropy in nats."""
    shares = fillings(SAID, "the dog _")
    return shares["sleeps"], expected_cost(shares, shares)


def contents() -> dict[str, Any]:
    """Compute what both handouts show."""
    curves, own_position = stuck()
    costs, shares = bayes()
    sleeps, floor = sleeping()
    return {
        "bets": bets(),
        "price": figure(cost_of_probability([1, 1 / 2, 1 / 100])),
        "chances": {"1": 1.0, "1/2": 1 / 2, "1/8": 1 / 8, "1/100": 1 / 100},
        **strip(),
        "proof": figure(proof()),
        "before": BEFORE,
        "after": AFTER,
        "plateau": figure(curves),
        "own_position": own_position,
        "floors": figure(floors()),
        "said": SAID,
        "sleeps": sleeps,
        "floor": floor,
        "costs": costs,
        "shares": shares,
        "unmasked": unmasked(),
        "harder": harder(),
        "word": WORD,
        "labelled": figure(
            over_labels({"liked or hated": put_to_use.scores("sentiment")}, chance=0.5)
        ),
        "nats": lambda p: abs(math.log(p)),
        "bits": lambda p: abs(math.log2(p)),
        "notebooks": len([*HERE.parent.glob("notebooks/*.ipynb")]),
    }


def page(minutes: int, paper: str, computed: Mapping[str, Any]) -> str:
    """Write the handout of a lecture as HTML for a paper."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("handout.html")
    return template.render(minutes=minutes, paper=paper, **computed)


def printed(browser_page: Page, text: str, path: Path) -> None:
    """Print HTML as PDF, on the paper that its style sheet names."""
    browser_page.set_content(text)
    browser_page.pdf(path=path, prefer_css_page_size=True, print_background=True)


def main(arguments: Sequence[str]) -> int:
    """Print every handout into a folder, by default ``handouts``; return the exit code."""
    if len(arguments) > 1 or any(name.startswith("-") for name in arguments):
        print("usage: python run.py handout [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(*arguments or ["handouts"])
    executable = chromium()
    if not executable:
        print(NO_CHROMIUM)
        return 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        computed = contents()
        with browsing(executable) as browser:
            for minutes in LECTURES:
                for paper in PAPERS:
                    path = folder / f"{minutes}_minutes_{paper}.pdf"
                    printed(browser.new_page(), page(minutes, paper, computed), path)
                    print(path)
    except OSError as error:
        print(f"{folder} cannot hold the handouts: {error.strerror or error}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
