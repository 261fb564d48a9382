// Beat the encoder: guess hidden letters from the left, then from both sides, and pay in bits. The
// port of src/cloze/lessons/the_explorer/guessing_game.py.

import { ValueError, wholeNumber } from "./arguments.js";
import { button, element, form, status, tableOf } from "./element.js";
import {
  LETTERS,
  Neighbours,
  RIVALS,
  SIDES,
  SIGHT,
  SURENESS,
  drawPuzzles,
  inWords,
  judge,
  mean,
  readBet,
  readLetter,
  result,
} from "./guessing_rules.js";
import { Widget } from "./widget.js";
import { fixed, spoken, visible } from "./words.js";

const GAPS = 10; // of a game

export class GuessingGame extends Widget {
  static actions = {
    look: ["at"],
    pick: ["at"],
    type: ["at", "key"],
    guess: ["percent?", "letter?"],
    next: [],
  };

  /** Ask `predictors` about lines of `texts`; `counts` are what `Neighbours` reads. */
  constructor(predictors, { texts, counts }, seed = 0) {
    super();
    this.predictors = predictors;
    this.texts = texts;
    this.neighbours = new Neighbours(counts, predictors.both.symbols.size);
    this.begin(seed);
    this.open();
  }

  begin(seed) {
    this.seed = seed;
    this.puzzles = drawPuzzles(this.texts, GAPS, seed);
    this.rounds = [];
    this.beginGap();
  }

  beginGap() {
    this.bets = {}; // on the gap in play, by side; both are made when the truth is shown
    this.letter = ""; // chosen and not yet betted on
    this.at = 0; // the letter that the arrow keys have reached
    this.announcement = this.describe();
  }

  /** What is in sight: "left", then "both"; null once the truth is shown. */
  get side() {
    return SIDES.find((side) => !(side in this.bets)) ?? null;
  }

  /** The number of the gap in play, from 1. */
  get number() {
    return this.rounds.length + (this.side !== null);
  }

  get puzzle() {
    return this.puzzles[this.number - 1];
  }

  get finished() {
    return this.rounds.length === GAPS;
  }

  // ── how it looks ──────────────────────────────────────────────────────────────────────────────

  markup() {
    const { side } = this;
    const where = side ? `, ${SIGHT[side]}` : "";
    const parts = [
      element("p", null, element("b", null, `Gap ${this.number} of ${GAPS}${where}`)),
      this.sentence(),
      side ? this.form(side) : this.truth(),
      status(this.announcement),
    ];
    const value = result(this.rounds, this.seed);
    if (value) {
      const field = element("input", { type: "text", readonly: true, size: 62, value });
      const copy = element("button", { type: "button", "data-copy": true }, "Copy");
      const label = element("label", null, "Your result", field);
      parts.push(element("div", { class: "row result" }, label, copy));
    }
    return element("div", { class: "guessing" }, ...parts);
  }

  sentence() {
    const { puzzle, side } = this;
    const hidden = element("span", { class: "quiet" }, " … hidden");
    const after = side === "left" ? hidden : puzzle.after;
    const gap = element("span", { class: "gap" }, side ? "?" : visible(puzzle.truth));
    return element("p", { class: "sentence" }, puzzle.before, gap, after);
  }

  form(side) {
    const keys = element(
      "div",
      {
        role: "group",
        "aria-label": "The hidden letter. Type it or choose it; the End key goes to the space.",
        class: "row letters",
        "data-arrows": "look",
        "data-keys": "type",
      },
      ...LETTERS.map((_, i) => this.key(i)),
    );
    const before = side === "both" ? this.bets.left.percent : null;
    const choices = [["no idea", 0], ...SURENESS.map((percent) => [`${percent} %`, percent])];
    const radios = choices.map(([label, percent]) => {
      const checked = percent === before;
      const radio = { type: "radio", name: "percent", value: percent, checked };
      return element("label", null, element("input", radio), label);
    });
    return form(
      "guess",
      null,
      keys,
      element("fieldset", null, element("legend", null, "How sure are you?"), ...radios),
      element("button", { type: "submit" }, `Guess ${SIGHT[side]}`),
    );
  }

  key(i) {
    const letter = LETTERS[i];
    return button(visible(letter), "pick", {
      "data-with-at": i,
      tabindex: i === this.at ? 0 : -1,
      "aria-pressed": letter === this.letter,
      "aria-label": spoken(letter),
    });
  }

  truth() {
    const played = this.rounds.at(-1);
    const label = this.finished ? `Play ${GAPS} more gaps` : "Next gap";
    const said = SIDES.map((side) => {
      const best = played.guesses[side].map(([symbol, p]) => `${visible(symbol)} ${fixed(p, 2)}`);
      return `You ${SIGHT[side]}: ${inWords(played.bets[side])}. The model: ${best.join(", ")}.`;
    });
    const heads = ["bits", "left", "both", "mean left", "mean both"];
    const table = tableOf(heads, Object.keys(RIVALS).map((rival) => this.costs(rival)), "costs");
    return element(
      "div",
      null,
      element("div", { class: "row" }, button(label, "next")),
      ...said.map((sentence) => element("p", null, sentence)),
      // Where it is wider than the page, arrows scroll it.
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "What everyone paid" },
        table,
      ),
    );
  }

  costs(rival) {
    const { bits } = this.rounds.at(-1);
    const values = [
      ...SIDES.map((side) => bits[side][rival]),
      ...SIDES.map((side) => mean(this.rounds, side, rival)),
    ];
    return element(
      "tr",
      { class: rival === "you" ? "both" : null },
      element("th", { scope: "row" }, RIVALS[rival].join(" / ")),
      ...values.map((value) => element("td", { class: "number" }, fixed(value, 2))),
    );
  }

  // ── what is said ──────────────────────────────────────────────────────────────────────────────

  /** Say everything that is in sight, as a screen reader needs it. */
  describe() {
    const { puzzle, side } = this;
    const space = puzzle.before.endsWith(" ") ? ", then a space" : "";
    let said = `Gap ${this.number}, ${SIGHT[side ?? "both"]}. `;
    said += `Before the gap: ${puzzle.before.trim()}${space}.`;
    if (side === "both") {
      const first = puzzle.after.startsWith(" ") ? "a space, then " : "";
      said += ` After the gap: ${first}${puzzle.after.trim()}.`;
    }
    return said;
  }

  verdict() {
    const { bits, puzzle } = this.rounds.at(-1);
    const paid = (side, rival) => fixed(bits[side][rival], 2);
    let said =
      `The hidden character was ${spoken(puzzle.truth)}. From the left you paid ${paid("left", "you")} bits and ` +
      `the left twin ${paid("left", "model")}; from both sides you ${paid("both", "you")} and the ` +
      `encoder ${paid("both", "model")}.`;
    if (this.finished) {
      const [you, model] = ["you", "model"].map((rival) => mean(this.rounds, "both", rival));
      const beaten = you < model ? "You beat it." : "It won this time.";
      said +=
        ` You have played all ${GAPS} gaps: from both sides you paid ${fixed(you, 2)} bits per gap ` +
        `and the encoder ${fixed(model, 2)}. ${beaten}`;
    }
    return said;
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  /** Move along the letters. */
  do_look({ at }) {
    this.at = wholeNumber(at, 0, LETTERS.length - 1, "A letter's place");
  }

  /** Choose a letter. */
  do_pick({ at }) {
    this.do_look({ at });
    this.choose(LETTERS[this.at]);
  }

  /** Choose the letter of a key, wherever among the letters the focus is. */
  do_type({ at, key }) {
    this.choose(readLetter(key));
    this.do_look({ at });
  }

  choose(letter) {
    this.letter = letter;
    this.announcement = `Your letter: ${spoken(letter)}. Now say how sure you are, and guess.`;
  }

  /** Bet on the gap, from what is in sight. */
  do_guess({ percent, letter }) {
    const { side } = this;
    if (side === null) throw new ValueError("You have already played this gap; go on to the next one.");
    const bet = readBet(letter ?? this.letter, percent);
    if (side === "left") {
      this.bets = { left: bet };
      this.letter = bet.letter ?? "";
      this.announcement = `Your guess: ${inWords(bet)}. ${this.describe()}`;
      return;
    }
    const bets = { ...this.bets, both: bet };
    const played = judge(this.puzzle, bets, this.predictors, this.neighbours);
    this.rounds = [...this.rounds, played];
    this.bets = bets;
    this.announcement = this.verdict();
  }

  /** Go on to the next gap, or to a game with other gaps. */
  do_next() {
    if (this.side !== null)
      throw new ValueError("Guess this gap first, from the left and from both sides.");
    if (this.finished) this.begin(this.seed + 1);
    else this.beginGap();
  }
}
