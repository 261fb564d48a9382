"""The explorer: every action, what Python reads and sets, and that nothing breaks it."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cloze.baselines import letter_frequencies, uniform_loss
from cloze.corpus import Corpus, Piece
from cloze.encoder import DIRECTIONS, Direction, EncoderConfig
from cloze.heads import MaskedLM
from cloze.loss import to_bits
from cloze.prediction import occlusion, shipped_model, top_k
from cloze.vocabulary import GAP, VOCABULARY
from cloze.widgets import MaskExplorer
from cloze.widgets.explorer.state import VIEWS
from cloze.widgets.explorer.widget import EXAMPLES, Example
from tests.markup import assert_usable, read

LINE = "she took her umbrella"


def small(direction: Direction = "both", max_len: int = 64) -> MaskedLM:
    torch.manual_seed(0)
    config = EncoderConfig(
        d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=max_len, direction=direction
    )
    return MaskedLM(config).eval()


CORPUS = Corpus((Piece("a", "to took the other thing " * 9),), (Piece("b", "took"),))
MODELS: dict[str, MaskedLM] = {direction: small(direction) for direction in DIRECTIONS}


@pytest.fixture
def explorer() -> MaskExplorer:
    return MaskExplorer(MODELS, LINE, corpus=CORPUS)


def letters(explorer: MaskExplorer) -> list[Any]:
    return read(explorer.html).select("button.letter")


def said(explorer: MaskExplorer) -> str:
    return read(explorer.html).select_one('[role="status"]').get_text()  # type: ignore[union-attr]


# ── clicks ───────────────────────────────────────────────────────────────────────────────────────


def test_a_click_on_another_masked_position_looks_at_it_first(explorer: MaskExplorer) -> None:
    explorer.masked = {4, 5}
    explorer.focus = 4
    explorer.act("toggle", at=5)
    assert (explorer.masked, explorer.focus) == ({4, 5}, 5)
    explorer.act("toggle", at=5)
    assert explorer.masked == {4}


def test_words_are_masked_one_after_another_from_the_focus(explorer: MaskExplorer) -> None:
    explorer.focus = 5
    seen = []
    for _ in range(4):
        before = explorer.masked
        explorer.act("word")
        seen.append("".join(LINE[i] for i in sorted(explorer.masked - before)))
    assert seen == ["took", "her", "umbrella", "she"]
    explorer.act("word")
    assert "Every word is masked" in explorer.problem


def test_random_masks_are_drawn_afresh_and_repeat_with_the_seed() -> None:
    first, second = (MaskExplorer(MODELS, "a" * 64, seed=3) for _ in range(2))
    draws = []
    for _ in range(50):
        first.act("random")
        draws.append(first.masked)
    assert all(draws)
    assert len(set(draws)) == 50
    assert sum(map(len, draws)) / (50 * 64) == pytest.approx(0.15, abs=0.02)
    second.act("random")
    assert second.masked == draws[0]


def test_a_typed_line_is_normalised_and_says_what_it_lost(explorer: MaskExplorer) -> None:
    explorer.masked = {1}
    explorer.act("line", text="Été <b>& co</b>, _es! 😀")
    assert explorer.line == "ete b co b _es"
    assert explorer.masked == {explorer.line.index(GAP)}
    assert "2 accents folded" in said(explorer)
    assert "characters dropped" in said(explorer)


def test_of_a_line_that_is_too_long_the_first_characters_are_taken(explorer: MaskExplorer) -> None:
    explorer.act("line", text="ab " * 30)
    assert explorer.problem == ""
    assert explorer.line == ("ab " * 30)[:64]
    assert said(explorer) == "Your line has 89 characters; these are the first 64."


@pytest.mark.parametrize("text", ["", "!?"])
def test_a_line_that_cannot_be_read_changes_nothing(explorer: MaskExplorer, text: str) -> None:
    explorer.masked = {1}
    explorer.act("line", text=text)
    assert (explorer.line, explorer.masked) == (LINE, {1})
    alert = read(explorer.html).select_one('[role="alert"]')
    assert alert is not None
    assert alert.get_text() == explorer.problem != ""


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_masks_what_it_speaks_of(explorer: MaskExplorer, name: str) -> None:
    explorer.act("example", value=name)
    assert explorer.problem == ""
    assert explorer.line == EXAMPLES[name].line
    masked = "".join(explorer.line[i] for i in sorted(explorer.masked))
    assert masked == EXAMPLES[name].masked


def test_the_default_line_opens_with_a_gap_and_no_other_line_does() -> None:
    explorer = MaskExplorer(MODELS)
    line, part = next(iter(EXAMPLES.values()))
    assert (explorer.line, explorer.masked) == (line, {line.index(part)})
    assert explorer.focus == line.index(part)
    assert read(explorer.html).select("table.chart")
    assert MaskExplorer(MODELS, masked=()).masked == frozenset()
    assert MaskExplorer(MODELS, masked={2}).masked == {2}
    assert MaskExplorer(MODELS, line).masked == frozenset()
    own = {"mine": Example("a line", ""), "yours": Example("another", "n")}
    assert MaskExplorer(MODELS, examples=own).masked == frozenset()


# ── what is shown ────────────────────────────────────────────────────────────────────────────────


def chart(explorer: MaskExplorer) -> tuple[list[str], dict[str, list[str]]]:
    """Return the headings of the picture, and by its candidate what each row says."""
    table = assert_usable(explorer.html).select_one("table.chart")
    assert table is not None
    heads, *rows = ([cell.get_text() for cell in row(["th", "td"])] for row in table("tr"))
    names = [row.select_one("th").get_text() for row in table.select("tbody tr")]  # type: ignore[union-attr]
    return heads, dict(zip(names, rows, strict=True))


def test_left_grows_to_the_left_right_to_the_right_and_the_others_stand_beside(
    explorer: MaskExplorer,
) -> None:
    explorer.masked = {0, 4}
    explorer.focus = 4
    heads, rows = chart(explorer)
    costs = [explorer.predictions[direction].cost(4) for direction in DIRECTIONS]
    costs.append(-math.log(letter_frequencies(CORPUS)[VOCABULARY.ids["t"]]))
    paid = [f"costs {cost:.2f} nats = {to_bits(cost):.2f} bits" for cost in costs]
    titles = ["from the left", "from the right", "from both sides", "without looking"]
    expected = [f"{title} {cost}" for title, cost in zip(titles, paid, strict=True)]
    assert heads == [expected[0], "character", *expected[1:]]
    *candidates, others = rows
    for sign in candidates:
        i = VOCABULARY.ids[{"␣": " ", "↵": "\n"}.get(sign.removesuffix("✓"), sign[0])]
        said = [f"{explorer.predictions[d][4][i].item():.2f}" for d in DIRECTIONS]
        assert rows[sign][:4] == [said[0], sign, *said[1:]]
    assert others == f"{28 - len(candidates)} others"


def test_candidates_are_whatever_anybody_expects_in_the_order_of_the_last_reader(
    explorer: MaskExplorer,
) -> None:
    explorer.masked = {4}
    _, rows = chart(explorer)
    both = explorer.predictions["both"][4]
    signs = [{"␣": " ", "↵": "\n"}.get(sign, sign[0]) for sign in list(rows)[:-1]]
    probabilities = [both[VOCABULARY.ids[sign]].item() for sign in signs]
    assert probabilities == sorted(probabilities, reverse=True)
    best = {top_k(explorer.predictions[d][4], 1)[0].character for d in DIRECTIONS}
    assert best <= set(signs)
    for column in (0, 2, 3):
        assert sum(float(row[column]) for row in rows.values()) == pytest.approx(1, abs=0.05)


def test_the_truth_is_marked_once(explorer: MaskExplorer) -> None:
    explorer.masked = {4}
    page = read(explorer.html)
    (row,) = page.select("tr.truth")
    assert row["data-key"] == "t"
    assert [tick.get_text() for tick in page.select(".tick")] == ["✓"]
    button = row.select_one("button")
    assert button is not None
    assert button["aria-label"] == "fill position 4 with t, the truth"
    others = [str(b["aria-label"]) for b in page.select(".candidate") if b != button]
    assert not any("truth" in said for said in others)


def test_on_the_line_is_seen_what_the_answer_leans_on() -> None:
    explorer = MaskExplorer(line="she asked a question", masked=[12])
    costs = occlusion(shipped_model(), VOCABULARY.encode(explorer.line), [12], 12)
    shaded = {b["data-with-at"]: b for b in letters(explorer) if "occlusion" in b["class"]}
    assert len(shaded) == 19
    darkest = max(shaded.values(), key=lambda b: int(b["style"].split()[1].rstrip("%")))
    assert darkest["data-with-at"] == "13"
    assert f"if hidden: +{costs[13]:.2f} nats" in darkest["aria-label"]
    assert f"Hiding one more costs, in nats: u at 13 +{costs[13]:.2f}" in explorer.html
    explorer.act("toggle", at=2)
    explorer.act("focus", at=0)
    assert "occlusion" not in explorer.html
    explorer.line = "umb_ella"
    assert "Hiding one more changes the answer by, in nats: " in explorer.html


def test_the_answer_is_shown_before_what_it_leans_on(explorer: MaskExplorer) -> None:
    seen = []
    explorer.observe(lambda change: seen.append("occlusion" in change.new), "html")
    explorer.act("toggle", at=4)
    assert seen == [False, True]
    explorer.act("guess_first")
    explorer.act("reveal")
    assert seen[2:] == [False, True]  # kept, not asked for again


def test_the_loss_is_the_formula_with_its_numbers(explorer: MaskExplorer) -> None:
    explorer.masked = {0, 4}
    costs = explorer.predictions["both"].known_costs
    text = read(explorer.html).get_text()
    logs = " + ".join(f"log {math.exp(-cost):.2f}" for cost in costs)
    assert f"L = −Σ log P(x_i | x̃) = −({logs}) = {costs[0]:.2f} + {costs[1]:.2f}" in text
    assert explorer.loss == pytest.approx(sum(costs) / 2)
    assert repr(explorer) == f"MaskExplorer('{LINE}', 2 masked, loss {explorer.loss:.2f} nats)"
    assert f"{2 * uniform_loss():.2f}" in text
    assert "unigram" in text


def test_truth_and_guesses_stay_back_until_they_are_revealed(explorer: MaskExplorer) -> None:
    explorer.masked = {13, 14}
    explorer.focus = 13
    explorer.act("guess_first")
    for view in VIEWS:
        explorer.view = view
        page = read(explorer.html)
        assert page.select("table") == []
        assert letters(explorer)[13]["aria-label"].startswith("position 13, masked")
        assert "truth" not in " ".join(button["aria-label"] for button in letters(explorer))
        assert "Loss" not in said(explorer)
        assert "nats" not in page.get_text()
    explorer.view = "guesses"
    explorer.act("guess", at=13, key="U")
    assert "you guess u" in letters(explorer)[13]["aria-label"]
    explorer.act("reveal")
    text = read(explorer.html).get_text()
    assert "✓" in text
    p = explorer.predictions["both"][13][VOCABULARY.ids["u"]]
    assert f"Your guess: u. It is right. The model gives it {p:.2f} from both sides." in text
    explorer.act("toggle", at=3)
    assert explorer.revealed is False


def test_guess_first_never_leaks_by_clicking(explorer: MaskExplorer) -> None:
    explorer.masked = {13}
    explorer.act("guess_first")
    for _ in range(3):
        explorer.act("toggle", at=13)
        assert explorer.masked == {13}
        assert "stays masked until you reveal" in said(explorer)
    explorer.act("unmask")
    assert explorer.masked == {13}
    assert "reveal, then unmask" in explorer.problem
    explorer.act("reveal")
    explorer.act("toggle", at=13)
    assert explorer.masked == frozenset()


def test_what_fills_a_gap_is_read_by_the_models(explorer: MaskExplorer) -> None:
    explorer.masked = {13, 14}
    before = explorer.predictions["both"][14]
    explorer.act("fill", at=13, symbol="q")
    assert explorer.filled == {13: "q"}
    assert explorer.predictions.positions == (14,)
    assert not torch.allclose(before, explorer.predictions["both"][14])
    assert "filled with q" in letters(explorer)[13]["aria-label"]
    explorer.act("empty", at=13)
    assert torch.equal(before, explorer.predictions["both"][14])


def test_a_gap_without_a_truth_has_guesses_and_no_cost(explorer: MaskExplorer) -> None:
    explorer.act("line", text="umbr_lla")
    assert explorer.loss is None
    page = assert_usable(explorer.html)
    assert page.select("table.chart")
    assert not page.select(".truth")
    assert "L =" not in page.get_text()
    explorer.act("toggle", at=4)
    assert "does not say what belongs at 4" in explorer.problem


def test_with_one_gap_the_view_of_two_hides_a_neighbour(explorer: MaskExplorer) -> None:
    explorer.masked = {len(LINE) - 1}
    explorer.act("view", view="pair")
    offered = read(explorer.html).select_one('.panel button[data-do="toggle"]')
    assert offered is not None
    explorer.act("toggle", at=str(offered["data-with-at"]))
    assert explorer.masked == {len(LINE) - 2, len(LINE) - 1}
    assert len(read(explorer.html).select(".tables table")) == 2


def test_two_gaps_are_guessed_apart_and_together(explorer: MaskExplorer) -> None:
    explorer.masked = {4, 13, 14}
    explorer.focus = 14
    explorer.act("view", view="pair")
    page = assert_usable(explorer.html)
    assert "Positions 13 and 14." in page.get_text()
    apart, together = page.select("table.chart")
    answer = explorer.predictions["both"]
    best = (answer[13].max() * answer[14].max()).item()
    first = apart.select_one("tbody tr td")
    assert first is not None
    assert first.get_text() == f"{best:.2f}"
    assert together.get_text() != apart.get_text()


def test_attention_is_the_chosen_heads(explorer: MaskExplorer) -> None:
    explorer.masked = {4}
    explorer.view = "attention"
    explorer.act("head", value="1")
    masked = VOCABULARY.encode(explorer.line)
    masked[4] = VOCABULARY.mask_id
    expected = MODELS["both"].encoder.attention(masked[None])[0, 0, 1, 4]
    labels = [button["aria-label"] for button in letters(explorer)]
    assert all(f"attention {w:.2f}" in label for w, label in zip(expected, labels, strict=True))
    assert "not why the model guesses" in read(explorer.html).get_text()
    explorer.act("layer", value="1")
    assert "A layer of this model is a whole number from 0 to 0" in explorer.problem


def test_surprise_shows_what_each_character_costs_alone() -> None:
    explorer = MaskExplorer(line="the children plaied in the garden")
    explorer.view = "surprise"
    costs = [
        float(b["aria-label"].split(", ")[-1].removesuffix(" nats")) for b in letters(explorer)
    ]
    assert costs.index(max(costs)) == explorer.line.index("ied")
    assert "Most surprising: i at 16" in read(explorer.html).get_text()


def test_a_picture_stays_and_says_what_the_explorer_says(explorer: MaskExplorer) -> None:
    explorer.masked = {4}
    explorer.view = "surprise"
    picture = explorer.picture()
    explorer.masked = {7}
    page = read(picture._repr_html_())
    assert not page.select("button, [data-do]")
    (line,) = page.select('[role="img"]')
    assert line["aria-label"] == "The line, _ for a gap: she _ook her umbrella"
    assert len(page.select(".letter.masked")) == 1
    assert line.get_text() == "she␣?ook␣her␣umbrella"
    heads = [head.get_text() for head in page.select(".chart thead b")]
    assert heads == ["from the left", "from the right", "from both sides"]
    (row,) = page.select("tr.truth")
    both = picture.predictions["both"][4][VOCABULARY.ids["t"]]
    assert row.select("td")[-1].get_text() == f"{both:.2f}"
    assert repr(picture) == repr(picture.predictions)
    assert "position 4" in repr(picture)
    for change in ({"focus": 0}, {"focus": 7, "guess_first": True}):
        for name, value in change.items():
            setattr(explorer, name, value)
        with pytest.raises(ValueError, match="mask a position, select it, and reveal"):
            explorer.picture()


# ── Python ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("masked", {99}, "A position in this line is a whole number from 0 to 20, not 99"),
        ("masked", "abc", "Positions are a list of whole numbers"),
        ("focus", -1, "A position of this line"),
        ("view", "x", "A view is one of guesses, pair, attention, surprise"),
        ("layer", 5, "A layer of this model"),
        ("filled", {0: "e"}, "Position 0 is not masked"),
        ("hands", {0: {"e": 1}}, "Position 0 is not an open gap"),
        ("model", "x", "model is a MaskedLM"),
        ("model", small(max_len=8), "the model reads 8"),
    ],
)
def test_a_bad_value_is_named_and_changes_nothing(
    explorer: MaskExplorer, name: str, value: object, sentence: str
) -> None:
    before, html = getattr(explorer, name), explorer.html
    with pytest.raises(ValueError, match=sentence):
        setattr(explorer, name, value)
    assert getattr(explorer, name) == before
    assert explorer.html == html


def test_whose_frequencies_are_shown_is_said(explorer: MaskExplorer) -> None:
    for corpus, text in ((CORPUS, "your corpus"), (None, "the shipped corpus")):
        shown = MaskExplorer(MODELS if corpus else None, LINE, {4}, corpus=corpus)
        assert f"how frequent each character is in {text}" in shown.html
        shown.model = MODELS
        assert ("without looking" in shown.html) == ("unigram" in shown.html) == bool(corpus)
    explorer.masked = {13}  # a letter that this corpus does not have
    assert "costs ∞ nats = ∞ bits" in read(explorer.html).get_text()


def test_a_model_of_ones_own_answers_alone(explorer: MaskExplorer) -> None:
    own = small()
    explorer.masked = {4}
    explorer.model = own
    assert explorer.model is own
    assert list(explorer.predictions) == ["both"]
    with torch.no_grad():
        own.head.bias[VOCABULARY.ids["q"]] += 50
    explorer.update()
    assert top_k(explorer.predictions["both"][4])[0].character == "q"
    explorer.model = None
    assert list(explorer.predictions) == list(DIRECTIONS)


# ── nothing breaks it ────────────────────────────────────────────────────────────────────────────


def assert_consistent(explorer: MaskExplorer) -> None:
    """Check everything that holds in every state."""
    page = assert_usable(explorer.html)
    buttons = page.select("button.letter")
    assert len(buttons) == len(explorer.line)
    pressed = {i for i, b in enumerate(buttons) if b["aria-pressed"] == "true"}
    assert pressed == explorer.masked
    gaps = {i for i, character in enumerate(explorer.line) if character == GAP}
    assert gaps <= explorer.masked
    assert set(explorer.filled) <= explorer.masked
    assert set(explorer.hands) <= explorer.masked
    assert all(n > 0 for raised in explorer.hands.values() for n in raised.values())
    assert buttons[explorer.focus]["tabindex"] == "0"
    asked = explorer.masked - set(explorer.filled)
    assert set(explorer.predictions.positions) == asked
    if asked - gaps:
        costs = explorer.predictions["both"].known_costs
        assert explorer.loss == pytest.approx(sum(costs) / len(costs))
        assert min(costs) >= 0
    else:
        assert explorer.loss is None
    if explorer.guess_first and not explorer.revealed:
        for at in explorer.masked:
            assert "truth" not in buttons[at]["aria-label"]
    assert len(repr(explorer)) < 110
    assert "\n" not in repr(explorer)


POSITIONS = st.one_of(
    st.integers(-2, 70), st.integers(0, 8), st.sampled_from(["3", "x", None, 2.5])
)
KEYS = st.one_of(st.sampled_from("abcxyz _\nÉ<"), st.text(max_size=2))


class Play(RuleBasedStateMachine):
    """Any sequence of clicks, keys and lines of Python."""

    def __init__(self) -> None:
        super().__init__()
        self.explorer = MaskExplorer(MODELS, LINE)

    @rule(at=POSITIONS, do=st.sampled_from(["toggle", "focus", "empty"]))
    def at_a_position(self, do: str, at: object) -> None:
        self.explorer.act(do, at=at)

    @rule(start=POSITIONS, end=POSITIONS)
    def span(self, start: object, end: object) -> None:
        self.explorer.act("span", start=start, end=end)

    @rule(do=st.sampled_from(["word", "random", "unmask", "guess_first", "reveal", "no_such"]))
    def on_the_line(self, do: str) -> None:
        self.explorer.act(do)

    @rule(at=POSITIONS, key=KEYS)
    def key(self, at: object, key: str) -> None:
        self.explorer.act("guess", at=at, key=key)
        self.explorer.act("take", at=at, key=key)
        self.explorer.act("fill", at=at, symbol=key)

    @rule(at=POSITIONS, key=KEYS, n=st.sampled_from(["", "3", 0, 10**5, None]))
    def hands(self, at: object, key: str, n: object) -> None:
        self.explorer.act("count", at=at, key=key, value=n)
        self.explorer.act("guess", at=at, key=key, n=n)

    @rule(text=st.one_of(st.text(max_size=80), st.text("abc_ é<>&", max_size=70)))
    def line(self, text: str) -> None:
        self.explorer.act("line", text=text)

    @rule(view=st.one_of(st.sampled_from([*VIEWS, "x"])))
    def view(self, view: str) -> None:
        self.explorer.act("view", view=view)

    @rule(value=st.sampled_from(["0", "1", "2", "x", ""]), do=st.sampled_from(["layer", "head"]))
    def head(self, do: str, value: str) -> None:
        self.explorer.act(do, value=value)

    @rule(masked=st.sets(st.integers(-1, 20)))
    def python(self, masked: set[int]) -> None:
        try:
            self.explorer.masked = masked
        except ValueError:
            assert not masked <= set(range(len(self.explorer.line)))

    @precondition(lambda self: self.explorer.masked)
    @rule(present=st.booleans())
    def present(self, present: bool) -> None:
        self.explorer.present = present

    @invariant()
    def consistent(self) -> None:
        assert_consistent(self.explorer)


TestPlay = Play.TestCase
TestPlay.settings = settings(max_examples=10, stateful_step_count=25, deadline=None)


def test_models_by_name_keep_their_names() -> None:
    models: Mapping[str, MaskedLM] = {"<mine>": MODELS["both"], "yours": MODELS["left"]}
    explorer = MaskExplorer(models, LINE, masked=[3])
    assert "&lt;mine&gt;" in explorer.html
    assert explorer.loss == explorer.predictions["yours"].loss
    assert_usable(explorer.html)
