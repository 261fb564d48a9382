// Beat the encoder: guess hidden letters from the left, then from both sides, and pay in bits.

import { numberRow, row } from "../../widgets/browser/cells.js";
import { button, element, form, status, tableOf } from "../../widgets/browser/element.js";
import { ValueError, Widget } from "../../widgets/browser/widget.js";
import { fixed, spoken, sum, visible } from "../../widgets/browser/words.js";

/**
 * @typedef {keyof typeof SIGHT} Side
 * @typedef {keyof typeof RIVALS} Rival
 * @typedef {[letter: string | null, percent: number]} Bet
 * @typedef {Record<string, Bet>} Bets  By side, as all that follow.
 * @typedef {Record<string, Record<string, number>>} Bits  And by rival.
 * @typedef {Record<string, [symbol: string, p: number][]>} Guesses
 * @typedef {{ bets: Bets, bits: Bits, guesses: Guesses }} Round
 * @typedef {{ line: string, at: number }} Puzzle
 *
 * @typedef {object} State
 * @property {number} seed
 * @property {Puzzle[]} puzzles
 * @property {Round[]} rounds  The gaps that have been played.
 * @property {Bets} bets  On the gap in play; both are made when the truth is shown.
 * @property {string} letter
 *
 * @typedef {object} Answers
 * @property {(sent: Puzzle & { bets: Bets }) => Round} judge
 * @property {(sent: { seed: number, gaps: number }) => Pick<State, "seed" | "puzzles">} puzzles
 */

const SIDES = /** @type {const} */ (["left", "both"]); // first only what is left, then all
const SIGHT = { left: "from the left", both: "from both sides" };
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz "]; // what may be hidden
const SURENESS = [20, 40, 60, 80, 95]; // how sure one can be of a letter, in percent
const RIVALS = {
  you: "you",
  model: "the model",
  neighbours: "counts of neighbours",
  unigram: "counts of letters",
};

/** @extends {Widget<State, Answers>} */
export default class GuessingGame extends Widget {
  #at = 0; // the letter that the arrow keys have reached

  /** What is in sight: "left", then "both"; undefined once the truth is shown. */
  get side() {
    return SIDES.find((side) => !(side in this.get("bets")));
  }

  get gaps() {
    return this.get("puzzles").length;
  }

  /** The number of the gap in play, from 1. */
  get number() {
    return this.get("rounds").length + (this.side ? 1 : 0);
  }

  /** The gap in play. */
  get puzzle() {
    const { line, at } = this.get("puzzles")[this.number - 1];
    return { before: line.slice(0, at), truth: line[at], after: line.slice(at + 1) };
  }

  get finished() {
    return this.get("rounds").length === this.gaps;
  }

  /**
   * The mean cost of a rival in bits per gap.
   * @param {Side} side
   * @param {Rival} rival
   */
  #mean(side, rival) {
    return sum(this.get("rounds").map(({ bits }) => bits[side][rival])) / this.get("rounds").length;
  }

  // ── how it looks ──────────────────────────────────────────────────────────────────────────────

  markup() {
    const { side } = this;
    const where = side ? `, ${SIGHT[side]}` : "";
    return element(
      "div",
      { class: "guessing" },
      element("b", null, `Gap ${this.number} of ${this.gaps}${where}`),
      this.#sentence(),
      side ? this.#form(side) : this.#truth(),
      status(this.announcement || (side ? this.#description(side) : this.#verdict())),
    );
  }

  #sentence() {
    const { puzzle, side } = this;
    const hidden = element("span", { class: "quiet" }, " … hidden");
    const after = side === "left" ? hidden : puzzle.after;
    const gap = element("span", { class: "gap" }, side ? "?" : visible(puzzle.truth));
    return element("p", { class: "sentence" }, puzzle.before, gap, after);
  }

  /** @param {Side} side */
  #form(side) {
    const keys = element(
      "div",
      {
        role: "group",
        "aria-label": "The hidden letter. Type it or choose it; the End key goes to the space.",
        class: "row letters",
        "data-arrows": "look",
        "data-keys": "type",
      },
      ...LETTERS.map((letter, at) =>
        button(visible(letter), "pick", {
          "data-with-at": at,
          tabindex: at === this.#at ? 0 : -1,
          "aria-pressed": letter === this.get("letter"),
          "aria-label": spoken(letter),
        }),
      ),
    );
    const [, before] = this.get("bets").left ?? [];
    const radios = [0, ...SURENESS].map((percent) => {
      const radio = { type: "radio", name: "percent", value: percent, checked: percent === before };
      return element("label", null, element("input", radio), percent ? `${percent}%` : "no idea");
    });
    return form(
      "guess",
      null,
      keys,
      element("fieldset", null, element("legend", null, "How sure are you?"), ...radios),
      element("button", { type: "submit", class: "primary" }, `Guess ${SIGHT[side]}`),
    );
  }

  #truth() {
    const { bits, bets, guesses } = this.get("rounds")[this.get("rounds").length - 1];
    const label = this.finished ? `Play ${this.gaps} more gaps` : "Next gap";
    const sentences = SIDES.map((side) => {
      const best = guesses[side].map(([symbol, p]) => `${visible(symbol)} ${fixed(p, 2)}`);
      return `You ${SIGHT[side]}: ${inWords(bets[side])}. The model: ${best.join(", ")}.`;
    });
    const rivals = /** @type {[Rival, string][]} */ (Object.entries(RIVALS));
    const rows = rivals.map(([rival, name]) => {
      const costs = SIDES.map((side) => bits[side][rival]);
      costs.push(...SIDES.map((side) => this.#mean(side, rival)));
      const written = costs.map((cost) => fixed(cost, 2));
      return numberRow(name, written, rival === "you" ? "both" : null);
    });
    const table = tableOf(["bits", "left", "both", "mean left", "mean both"], rows, "costs");
    return element(
      "div",
      null,
      row(button(label, "next", { class: "primary" })),
      ...sentences.map((sentence) => element("p", null, sentence)),
      // Where it is wider than the page, arrows scroll it.
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "What everyone paid" },
        table,
      ),
    );
  }

  // ── what a screen reader says ─────────────────────────────────────────────────────────────────

  /**
   * Everything that is in sight, as a screen reader needs it.
   * @param {Side} side
   */
  #description(side) {
    const { puzzle } = this;
    const bets = this.get("bets");
    const space = puzzle.before.endsWith(" ") ? ", then a space" : "";
    let words = bets.left ? `Your guess: ${inWords(bets.left)}. ` : "";
    words += `Gap ${this.number}, ${SIGHT[side]}. Before the gap: ${puzzle.before.trim()}${space}.`;
    if (side === "both") {
      const first = puzzle.after.startsWith(" ") ? "a space, then " : "";
      words += ` After the gap: ${first}${puzzle.after.trim()}.`;
    }
    return words;
  }

  #verdict() {
    const { bits } = this.get("rounds")[this.get("rounds").length - 1];
    /** @type {(side: Side, rival: Rival) => string} */
    const paid = (side, rival) => fixed(bits[side][rival], 2);
    let words =
      `The hidden character was ${spoken(this.puzzle.truth)}. From the left you paid ` +
      `${paid("left", "you")} bits and the model ${paid("left", "model")}; from both sides ` +
      `you ${paid("both", "you")} and the model ${paid("both", "model")}.`;
    if (this.finished) {
      const [you, model] = [this.#mean("both", "you"), this.#mean("both", "model")];
      const beaten = you < model ? "You beat it." : "It won this time.";
      words +=
        ` You have played all ${this.gaps} gaps: from both sides you paid ${you.toFixed(2)} bits ` +
        `per gap and the encoder ${model.toFixed(2)}. ${beaten}`;
    }
    return words;
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  /**
   * Move along the letters.
   * @param {{ at: string }} sent
   */
  do_look({ at }) {
    this.#at = Number(at);
  }

  /**
   * Choose a letter.
   * @param {{ at: string }} sent
   */
  do_pick({ at }) {
    this.#at = Number(at);
    this.#choose(LETTERS[this.#at]);
  }

  /**
   * Choose the letter of a key, wherever among the letters the focus is.
   * @param {{ key: string }} sent
   */
  do_type({ key }) {
    this.#choose(key.toLowerCase());
  }

  /** @param {string} letter */
  #choose(letter) {
    this.set({ letter });
    this.announcement = `Your letter: ${spoken(letter)}. Now say how sure you are, and guess.`;
  }

  /**
   * Bet on the gap, from what is in sight.
   * @param {{ percent?: string }} sent
   */
  async do_guess({ percent }) {
    const { side } = this;
    if (!side) return; // a click too many
    if (!percent)
      throw new ValueError("Say how sure you are: choose one of the percentages, or “no idea”.");
    const sure = Number(percent);
    const letter = this.get("letter");
    if (sure && !letter) throw new ValueError("Also choose a letter, or choose “no idea”.");
    /** @type {Bet} */
    const bet = [sure ? letter : null, sure];
    const bets = { ...this.get("bets"), [side]: bet };
    let rounds = this.get("rounds");
    if (side === "both") {
      this.announcement = `Your guess: ${inWords(bet)}. The models are guessing.`;
      this.refresh();
      const { line, at } = this.get("puzzles")[this.number - 1];
      rounds = [...rounds, await this.ask("judge", { line, at, bets })];
    }
    this.announcement = "";
    this.#at = Math.max(0, LETTERS.indexOf(letter));
    this.set({ bets, rounds, letter: bet[0] ?? "" });
  }

  /** Go on to the next gap, or to a game with other gaps. */
  async do_next() {
    if (this.side) return; // a click too many
    const sent = { seed: this.get("seed") + 1, gaps: this.gaps };
    const fresh = this.finished ? { ...(await this.ask("puzzles", sent)), rounds: [] } : {};
    this.#at = 0;
    this.announcement = "";
    this.set({ ...fresh, bets: {}, letter: "" });
  }
}

/**
 * Write a bet.
 * @param {Bet} bet
 */
function inWords([letter, percent]) {
  return letter === null ? "no idea" : `${visible(letter)}, ${percent}%`;
}
