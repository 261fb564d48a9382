// Beat the encoder: guess hidden letters from the left, then from both sides, and pay in bits.

import { button, element, form, status, tableOf } from "../../widgets/browser/element.js";
import { ValueError, Widget } from "../../widgets/browser/widget.js";
import { spoken, sum, visible } from "../../widgets/browser/words.js";

/**
 * @import { WidgetModel } from "../../widgets/browser/widget.js"
 *
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
 * @property {Round[]} rounds
 * @property {Bets} bets
 * @property {string} letter
 *
 * @typedef {object} Answers
 * @property {(sent: Puzzle & { bets: Bets }) => { bits: Bits, guesses: Guesses }} judge
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
const PLAYERS = /** @type {const} */ (["you", "model"]);
/** @extends {Widget<State, Answers>} */
export default class GuessingGame extends Widget {
  #of = ""; // the state that the announcement describes
  #at = 0; // the letter that the arrow keys have reached

  /** @param {WidgetModel<State, Answers>} model */
  constructor(model) {
    super(model);
    this.changed();
  }

  changed() {
    const of = JSON.stringify([this.get("seed"), this.rounds.length, this.bets]);
    if (of !== this.#of) {
      this.#of = of;
      this.#at = Math.max(0, LETTERS.indexOf(this.get("letter")));
      this.announcement = this.side ? this.#describe(this.side) : this.#verdict();
    }
    this.refresh();
  }

  /** The gaps that have been played: {bets, bits, guesses}, each by side. */
  get rounds() {
    return this.get("rounds");
  }

  /** The bets on the gap in play, by side: [letter, percent]; both are made when truth is shown. */
  get bets() {
    return this.get("bets");
  }

  /** What is in sight: "left", then "both"; undefined once the truth is shown. */
  get side() {
    return SIDES.find((side) => !(side in this.bets));
  }

  get gaps() {
    return this.get("puzzles").length;
  }

  /** The number of the gap in play, from 1. */
  get number() {
    return this.rounds.length + (this.side ? 1 : 0);
  }

  /** The gap in play. */
  get puzzle() {
    const { line, at } = this.get("puzzles")[this.number - 1];
    return { before: line.slice(0, at), truth: line[at], after: line.slice(at + 1) };
  }

  get finished() {
    return this.rounds.length === this.gaps;
  }

  /**
   * The mean cost of a rival in bits per gap.
   * @param {Side} side
   * @param {Rival} rival
   */
  #mean(side, rival) {
    return sum(this.rounds.map(({ bits }) => bits[side][rival])) / this.rounds.length;
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
      status(this.announcement),
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
    const [, before] = this.bets.left ?? [];
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
    const { bits, bets, guesses } = this.rounds[this.rounds.length - 1];
    const label = this.finished ? `Play ${this.gaps} more gaps` : "Next gap";
    const sentences = SIDES.map((side) => {
      const best = guesses[side].map(([symbol, p]) => `${visible(symbol)} ${p.toFixed(2)}`);
      return `You ${SIGHT[side]}: ${inWords(bets[side])}. The model: ${best.join(", ")}.`;
    });
    const rivals = /** @type {[Rival, string][]} */ (Object.entries(RIVALS));
    const rows = rivals.map(([rival, name]) => {
      const costs = SIDES.map((side) => bits[side][rival]);
      costs.push(...SIDES.map((side) => this.#mean(side, rival)));
      return element(
        "tr",
        { class: rival === "you" ? "both" : null },
        element("th", { scope: "row" }, name),
        ...costs.map((cost) => element("td", { class: "number" }, cost.toFixed(2))),
      );
    });
    const table = tableOf(["bits", "left", "both", "mean left", "mean both"], rows, "costs");
    return element(
      "div",
      null,
      element("div", { class: "row" }, button(label, "next", { class: "primary" })),
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
   * Say everything that is in sight, as a screen reader needs it.
   * @param {Side} side
   */
  #describe(side) {
    const { puzzle, bets } = this;
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
    const { bits } = this.rounds[this.rounds.length - 1];
    /** @type {(side: Side, rival: Rival) => string} */
    const paid = (side, rival) => bits[side][rival].toFixed(2);
    let words =
      `The hidden character was ${spoken(this.puzzle.truth)}. From the left you paid ` +
      `${paid("left", "you")} bits and the model ${paid("left", "model")}; from both sides ` +
      `you ${paid("both", "you")} and the model ${paid("both", "model")}.`;
    if (this.finished) {
      const [you, model] = PLAYERS.map((who) => this.#mean("both", who));
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
    const bets = { ...this.bets, [side]: bet };
    if (side === "left") {
      this.set({ bets, letter: bet[0] ?? "" });
      return;
    }
    this.announcement = `Your guess: ${inWords(bet)}. The models are guessing.`;
    this.refresh();
    const { line, at } = this.get("puzzles")[this.number - 1];
    const played = await this.ask("judge", { line, at, bets });
    this.set({ bets, rounds: [...this.rounds, { bets, ...played }] });
  }

  /** Go on to the next gap, or to a game with other gaps. */
  async do_next() {
    if (this.side) return; // a click too many
    if (this.finished) await this.#begin(this.get("seed") + 1);
    else this.set({ bets: {}, letter: "" });
  }

  /** @param {number} seed */
  async #begin(seed) {
    const drawn = await this.ask("puzzles", { seed, gaps: this.gaps });
    this.set({ ...drawn, rounds: [], bets: {}, letter: "" });
  }
}

/**
 * Write a bet.
 * @param {Bet} bet
 */
function inWords([letter, percent]) {
  return letter === null ? "no idea" : `${visible(letter)}, ${percent}%`;
}
