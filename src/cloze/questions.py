"""The checkpoint questions: each notebook ends with some, and every option has its explanation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape


@dataclass(frozen=True)
class Option:
    """One possible answer.

    In all texts here `` `code` `` and ``*emphasis*`` are the only markup.
    """

    text: str
    right: bool
    explanation: str
    """Why it is right or wrong, without a "Yes." or "No." at the beginning."""

    @property
    def verdict(self) -> str:
        """The first word of the answer to whoever chose this."""
        return "Yes." if self.right else "No."


@dataclass(frozen=True)
class Question:
    """A question with exactly one right answer.

    Raises:
        ValueError: fewer than two options, or not exactly one of them is right.
    """

    text: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        right = sum(option.right for option in self.options)
        if len(self.options) < 2 or right != 1:
            raise ValueError(
                "A question has at least 2 options, of which 1 is right; "
                f"{self.text!r} has {len(self.options)} with {right} right."
            )

    @property
    def by_letter(self) -> dict[str, Option]:
        """The options by the letters that they are called by, from a on."""
        return {chr(ord("a") + i): option for i, option in enumerate(self.options)}


def inline(text: str) -> Markup:
    """Write `` `code` `` and ``*emphasis*`` as HTML; everything else is escaped."""
    parts: list[Markup] = []
    end = 0
    for match in re.finditer(r"`([^`]+)`|\*([^*\s][^*]*)\*", text):
        tag = "code" if match[1] else "em"
        parts.append(escape(text[end : match.start()]))
        parts.append(Markup("<{0}>{1}</{0}>").format(tag, match[1] or match[2]))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


class AnswerSheet:
    """The questions of a notebook with the explanation of every option, to be read.

    It is what stays of the quiz when nothing runs: HTML with the answers folded away, and text.

    Args:
        notebook: the number of the notebook, such as ``"01"``.
    """

    def __init__(self, notebook: str) -> None:
        self.questions = questions_of(notebook)

    def __repr__(self) -> str:
        lines = []
        for number, question in enumerate(self.questions, start=1):
            lines += ["", f"{number}. {question.text}"]
            for letter, option in question.by_letter.items():
                lines += [f"   ({letter}) {option.text}"]
                lines += [f"       {option.verdict} {option.explanation}"]
        return "\n".join(lines[1:])

    def _repr_html_(self) -> str:
        return str(Markup("").join(map(self._in_html, range(1, len(self.questions) + 1))))

    def _in_html(self, number: int) -> Markup:
        question = self.questions[number - 1]
        options, answers = [], []
        for letter, option in question.by_letter.items():
            verdict = Markup("<b>{}</b>").format(option.verdict) if option.right else option.verdict
            options.append(Markup("<li>({}) {}</li>").format(letter, inline(option.text)))
            answers.append(
                Markup("<li>({}) {} {}</li>").format(letter, verdict, inline(option.explanation))
            )
        # The signs (a), (b) are written out, so the list needs none of its own.
        a_list = Markup('<ul style="list-style: none; margin: 4px 0; padding-left: 1.5em">{}</ul>')
        return Markup(
            "<p style='margin: 10px 0 0'><b>{0}.</b> {1}</p>{2}"
            "<details><summary>Answers to question {0}</summary>{3}</details>"
        ).format(
            number,
            inline(question.text),
            a_list.format(Markup("").join(options)),
            a_list.format(Markup("").join(answers)),
        )


def questions_of(notebook: str) -> tuple[Question, ...]:
    """Return the checkpoint questions of a notebook.

    Raises:
        ValueError: there are none for it.
    """
    if notebook not in QUESTIONS:
        raise ValueError(
            f"There are questions for the notebooks {', '.join(QUESTIONS)}, not for {notebook!r}."
        )
    return QUESTIONS[notebook]


def _ask(text: str, *options: tuple[str, str]) -> Question:
    """Write a question; the text of its right option begins with a ``+``."""
    return Question(
        text,
        tuple(
            Option(answer.removeprefix("+ "), answer.startswith("+ "), explanation)
            for answer, explanation in options
        ),
    )


QUESTIONS: dict[str, tuple[Question, ...]] = {
    "00": (
        _ask(
            "Suppose the model shows `i 0.84, a 0.08, e 0.05` for a gap. What is 0.84?",
            (
                "The share of such gaps in the training text that held an i.",
                "The model may never have seen this line; it computes its answer from what "
                "surrounds the gap rather than looking it up.",
            ),
            (
                "+ The probability the model gives to i, given the rest of the line.",
                "Change a letter elsewhere in the line and the number changes with it. What such "
                "a probability is worth is the subject of notebook 01.",
            ),
            (
                "How often the model has been right so far.",
                "It belongs to this gap alone. How often such numbers come true is another "
                "question.",
            ),
        ),
        _ask(
            "Why do the three numbers of a gap usually not add up to 1?",
            (
                "They are rounded.",
                "Rounding three numbers to two decimals changes their sum by 0.015 at most.",
            ),
            (
                "They are scores that have nothing to do with each other.",
                "They are probabilities, and all 28 together add up to 1.",
            ),
            (
                "+ The other 25 characters have the rest.",
                "Only the best three are shown; `fill(line, k=28)` shows them all.",
            ),
        ),
        _ask(
            'A check says "Not yet." What happens to the cells after it?',
            (
                "+ They run as usual.",
                "No later cell uses your answer, so you can come back to it at any time.",
            ),
            ("They wait until the exercise is solved.", "Nothing is locked."),
            (
                "They fail.",
                "An exercise that is unfilled or wrong gives a sentence, never an error.",
            ),
        ),
        _ask(
            "You restarted the kernel, ran a cell in the middle, and read "
            "`NameError: name 'fill' is not defined`. Why?",
            (
                "The package is not installed.",
                "A missing package would say `ModuleNotFoundError`.",
            ),
            (
                "+ The restart made Python forget the import in the first cell.",
                "Run the cells above it first: *Run → Run All Above Selected Cell*.",
            ),
            (
                "The model file is damaged.",
                "That would be a sentence about a checkpoint, and `check_environment()` would say "
                "so too.",
            ),
        ),
    ),
    "01": (
        _ask(
            "Two positions are selected. The right characters were given 0.1 and 0.1. What is L, "
            "the sum, in nats?",
            (
                "0.01",
                "That is the product of the two probabilities; the loss is minus its logarithm.",
            ),
            (
                "2.30",
                "That is −log 0.1, the price of one of them, and so the *mean*.",
            ),
            ("+ 4.61", "2 · 2.303, the same as one position with P = 1/100."),
            ("−4.61", "The minus is missing; a price is never negative."),
        ),
        _ask(
            "After some training the held-out loss is 2.9 nats, with log |V| = 3.37 and the "
            "unigram at 2.80. What has the model learned?",
            (
                "To use the context, since it is below log |V|.",
                "The letter frequencies alone give 2.80, without any context.",
            ),
            (
                "+ At most something like the letter frequencies.",
                "It is above the unigram, so nothing yet shows that it reads its neighbours.",
            ),
            (
                "Nothing at all.",
                "Knowing nothing costs 3.37; it has found out that some characters are commoner "
                "than others.",
            ),
        ),
        _ask(
            "You change the label of an unselected position from −100 to the character that "
            "stands there. What happens to the mean loss?",
            (
                "+ It changes, because the position is now selected.",
                "The position now adds its own −log P, and |M| grows by one.",
            ),
            (
                "Nothing.",
                "It is the −100 that keeps a position out; the answer there did not count only as "
                "long as it stood.",
            ),
            (
                "It changes only if the model was wrong there.",
                "Even a right favourite with P below 1 has a price, and the divisor changes in "
                "any case.",
            ),
        ),
        _ask(
            "One model reports 1.4 bits a character and another 1.0 nats. Which is better on the "
            "same masks?",
            (
                "The one with 1.0, the number is smaller.",
                "The units differ: 1.0 nats are 1.44 bits.",
            ),
            (
                "+ The one with 1.4 bits.",
                "1.4 bits are 1.4 · 0.693 = 0.97 nats, a little below 1.0.",
            ),
            (
                "They cannot be compared.",
                "Bits and nats measure the same thing, as inches and centimetres do.",
            ),
        ),
        _ask(
            "The gradient with respect to the answers is zero at unselected positions. Does the "
            "model then learn nothing from the characters there?",
            (
                "Right, it might as well not read them.",
                "Changing two visible letters changed the loss.",
            ),
            (
                "It learns from them only in later batches, when they are selected.",
                "Being selected later teaches it to predict them; being read teaches it now.",
            ),
            (
                "+ It learns how to use them as evidence for the selected ones.",
                "The pull on their vectors is not zero, although the pull on their answers is.",
            ),
        ),
    ),
    "02": (
        _ask(
            "A position is selected and *kept*. What is its label?",
            (
                "−100, because nothing is hidden.",
                "That would make kept positions useless: selected means asked, whatever is shown.",
            ),
            (
                "+ The id of the character.",
                "The labels do not depend on the fate at all: masked, random or kept, the "
                "original is asked for.",
            ),
            (
                "The id of `[MASK]`.",
                "That is never a label: the model is never asked to predict `[MASK]`.",
            ),
        ),
        _ask(
            "Your count over a million selected positions finds 80.0 % `[MASK]`, 9.6 % changed "
            "and 10.4 % unchanged. What do you do?",
            (
                "+ Nothing.",
                "One random character in 28 equals the original, so 9.64 % and 10.36 % are what "
                "10 % and 10 % look like from outside.",
            ),
            (
                "Raise the random share a little.",
                "That would make a correct function wrong: 10 % are swapped already, and some of "
                "them for the same character.",
            ),
            (
                "Count more positions.",
                "You would find the same shares with more decimals, for they are no accident.",
            ),
        ),
        _ask(
            "A function swaps 10 % and then, in a second independent draw, gives `[MASK]` to 80 % "
            "of the rest. What shares result, in the order `[MASK]`, random, kept?",
            (
                "80/10/10",
                "The second draw sees only 90 % of the positions; for 80 % of all it would need a "
                "rate of 0.8/0.9.",
            ),
            (
                "+ 72/10/18",
                "0.9 · 0.8 = 72 % are hidden, and 0.9 · 0.2 = 18 % are kept.",
            ),
            (
                "81/10/9",
                "This is what a rate of 0.9 in the second draw gives: 0.9 · 0.9 = 81 %.",
            ),
        ),
        _ask(
            "Model X has a loss of 0.7 nats at `mask_prob` 0.05, model Y one of 0.9 nats at 0.15. "
            "Which is better?",
            (
                "X, for its loss is lower.",
                "The two prices are for different questions: with less hidden, every model has "
                "more context and pays less.",
            ),
            (
                "Y, for its questions are harder.",
                "They are harder, but nobody knows by how much X would pay more for them.",
            ),
            (
                "+ That cannot be said.",
                "One and the same model may well have both losses; measure X and Y under the same "
                "masks.",
            ),
        ),
        _ask(
            "What would you lose first with 100/0/0, where every selected character becomes "
            "`[MASK]`?",
            (
                "+ A say in what the model makes of characters that it can see.",
                "No loss would ever be taken where a character is shown, and in use all "
                "characters are shown.",
            ),
            (
                "Questions: fewer positions would be selected.",
                "Selection comes before the fate, and stays at 15 %.",
            ),
            ("Speed.", "The work is the same: one fate is as quickly drawn as another."),
        ),
    ),
    "03": (
        _ask(
            "What is the shape of one layer's attention weights, for a batch of 32 lines of 64 "
            "characters and 8 heads?",
            (
                "(32, 64, 64)",
                "This would be one head: every head has weights of its own.",
            ),
            (
                "+ (32, 8, 64, 64)",
                "For each line and each head, every position (row) says how it spreads its "
                "attention over every position (column).",
            ),
            ("(32, 64, 128)", "This is the shape of x, before and after attention."),
        ),
        _ask(
            "You take the rotary angles away from a trained encoder. What can it still tell apart?",
            (
                "*now* from *won*, by the order of the letters.",
                "Both are the same bag of letters, and attention without positions reads a bag.",
            ),
            ("Nothing at all.", "The contents are still there."),
            (
                "+ *now* from *new*, by which letters there are.",
                "The letters differ, so the vectors differ; only their places are lost.",
            ),
        ),
        _ask(
            "Someone sets the scores of forbidden positions to 0 instead of −∞. What happens?",
            (
                "+ Forbidden positions get attention all the same.",
                "e⁰ = 1, so a score of 0 is an ordinary score, even a good one if the others are "
                "negative. A causal model with this mistake sees the future.",
            ),
            (
                "Nothing changes, since 0 times anything is 0.",
                "The 0 goes through the softmax before anything is multiplied by it.",
            ),
            (
                "The rows no longer sum to 1.",
                "A softmax always sums to 1. Rows that do not sum to 1 are the symptom of masking "
                "*after* it.",
            ),
        ),
        _ask(
            "You double `n_heads` and leave `d_model` as it is. What happens to the number of "
            "parameters?",
            ("It doubles.", "Heads are a way of cutting up matrices that are there anyway."),
            (
                "That of attention doubles, and the rest stays.",
                "The four matrices of attention are (`d_model`, `d_model`) whatever the heads.",
            ),
            (
                "+ It stays the same.",
                "The heads share out the same `d_model` numbers; each becomes half as wide. "
                "`n_heads` does not occur in the ledger.",
            ),
        ),
        _ask(
            "Only 15 % of the positions enter the loss. Do the others matter to the encoder?",
            (
                "No, it computes nothing for them.",
                "Each layer makes its keys and values from the vectors of all positions, so they "
                "are computed on the way to the answer at a gap.",
            ),
            (
                "+ Yes, they are what the selected ones gather from.",
                "Change one of them and the answer at the gap moves, as the proof above showed.",
            ),
            (
                "Yes, each is predicted too, with a smaller weight.",
                "They do not enter the loss at all.",
            ),
        ),
    ),
    "04": (
        _ask(
            "Your training loss is 0.05 nats, your held-out loss 3.9. What has happened?",
            (
                "The held-out pieces are too hard.",
                "The same pieces cost a good model less than a nat, and even a fool who says "
                '"all equally likely" pays only 3.37.',
            ),
            (
                "+ The model has memorised its text.",
                "3.9 is dearer than knowing nothing, and that takes wrong certainty: it recites "
                "what it knows by heart where something else stands.",
            ),
            (
                "It needs more steps.",
                "They would make it surer still of what is wrong. It needs more text.",
            ),
        ),
        _ask(
            "A curve on this corpus has been flat at 2.62 nats for 20 seconds. What does the "
            "model know?",
            ("Nothing.", "Knowing nothing costs 3.37."),
            (
                "The left neighbour.",
                "That would bring it to 2.34, the price of the left bigram.",
            ),
            (
                "+ How frequent letters are, and what stands at the position itself.",
                "That reader, counted, pays 2.62. It is a plateau and not the end: attention has "
                "not found a neighbour yet.",
            ),
        ),
        _ask(
            "Why may a training loss at 30 % lie above the held-out loss at 15 % in a healthy run?",
            (
                "+ More is hidden, so each question has less context.",
                "At equal rates the difference nearly vanishes, as you measured.",
            ),
            (
                "The model overfits.",
                "That looks the other way round: the training loss lies below, and the held-out "
                "loss rises.",
            ),
            (
                "The training loss is a sum.",
                "Both are means over the selected positions.",
            ),
        ),
        _ask(
            "Selecting 40 % instead of 15 % means that …",
            (
                "training is 2.7 times as fast.",
                "There are 2.7 times as many questions, but each of them is harder, and those of "
                "one window resemble each other.",
            ),
            (
                "the held-out loss must be measured at 40 % as well.",
                "Then it could not be compared with any other number in the series.",
            ),
            (
                "+ a step costs about as much and teaches at 2.7 times as many positions.",
                "26 lessons in a window instead of 10, from the same 64 characters read.",
            ),
        ),
        _ask(
            "You save the weights after 10 steps and start a new run from them. Why does it "
            "differ from going on?",
            (
                "It does not.",
                "That holds for `TrainingRun.save` and `load`, which keep all that belongs to a "
                "run, not for weights alone.",
            ),
            (
                "+ Momentum, schedule and generator begin anew.",
                "So the new run takes other step sizes, reads other windows and asks other "
                "questions.",
            ),
            (
                "Saving rounds the weights.",
                "The file keeps every bit of them.",
            ),
        ),
    ),
    "05": (
        _ask(
            "Hidden is the last letter of a long word in the middle of a line. Which reader "
            "probably pays most?",
            (
                "The left one.",
                "It has read the rest of the word; ends of words are what it does best.",
            ),
            (
                "+ The right one.",
                "It sees that a word ends here, and next to nothing of which. Over all held-out "
                "pieces last letters cost it more than twice what they cost the left side.",
            ),
            (
                "The one with both sides, since it has more to read.",
                "More to read has not once made it dearer in the summary: it pays least for every "
                "kind of character.",
            ),
        ),
        _ask(
            "Two neighbouring gaps get the best guesses *w* and *w*, and *ww* is not a word. What "
            "has gone wrong?",
            (
                "The model has not been trained for long enough.",
                "Each of the two guesses is sensible, and more training leaves them apart.",
            ),
            (
                "The second gap did not know that the first holds a *w*, as it would in a model "
                "that reads from the left.",
                "That is how it came about, but it is no mistake of this model: a masked language "
                "model is asked about each gap with the others hidden.",
            ),
            (
                "+ Nothing: each gap is guessed while the other is hidden.",
                "One guess belongs to *who*, the other to *two*. Fill one of them, and the other "
                "changes.",
            ),
        ),
        _ask(
            "To find out what the left side is worth, you hide everything on the right from the "
            "encoder. What do you measure?",
            (
                "The worth of the left side.",
                "The twin, with the same left side, pays less; so more than that is in the number.",
            ),
            (
                "+ The worth of the left side, and how lost the encoder is in such lines.",
                "It never saw a whole side hidden in training. The twin tells the two apart.",
            ),
            (
                "The worth of the right side.",
                "You would need the price of both sides for that, and subtract.",
            ),
        ),
        _ask(
            "In the game you say *e* with 95 %, and the truth is *t*. A friend says *e* with 20 %. "
            "Who pays more?",
            (
                "+ You.",
                "You left 5 % for all the others to share, your friend 80 %: that is 16 times as "
                "much for *t*, and 4 bits cheaper.",
            ),
            (
                "Both the same, since both were wrong.",
                "As ranks the two guesses are equal. As prices they are not.",
            ),
            (
                "Your friend, for being less sure.",
                "Being less sure is dear when one is right. Here it paid.",
            ),
        ),
        _ask(
            "The view *Attention* shows a head that looks at the *k* of *kitchen*. What follows?",
            (
                "The guess depends on the *k*.",
                "Perhaps. What is read may count for little, and the layers after it change it "
                "again.",
            ),
            (
                "The model knows what a kitchen is.",
                "It looked at a letter. In number 10 the whole word did not move the guess.",
            ),
            (
                "+ Only that this head reads there; to know whether it matters, change the *k* and "
                "ask again.",
                "That takes one click, and it answers the question that attention does not.",
            ),
        ),
    ),
}
"""The questions by notebook."""
