// A bet on a gap: hand out probability, see what each letter would cost, and what the bet does.

import { numberCells, row, rowHead } from "../../widgets/browser/cells.js";
import { button, element, join, status, tableOf } from "../../widgets/browser/element.js";
import { ValueError, Widget } from "../../widgets/browser/widget.js";
import { fixed, inBits, inNats, sum } from "../../widgets/browser/words.js";

/** @import { Child, Markup } from "../../widgets/browser/element.js" */

const CHIPS = 20; // probability is handed out in twentieths
const CHARACTERS = 28; // which share what is not handed out
const UNTOUCHED = "Nothing has been handed out yet, so all 28 characters share it equally.";

/**
 * @typedef {Record<string, number>} Numbers  By letter.
 *
 * @typedef {object} State
 * @property {Numbers} counts
 * @property {string} word  With its gap.
 * @property {string} letters
 * @property {Numbers} chips  How many twentieths each letter was given.
 * @property {boolean} revealed
 */

const cost = (/** @type {number} */ p) => -Math.log(p);

/**
 * What a bet costs on average; what never happens costs nothing.
 * @param {number[]} shares
 * @param {number[]} bet
 */
const mean = (shares, bet) => sum(shares.map((share, i) => (share ? share * cost(bet[i]) : 0)));

/** @extends {Widget<State>} */
export default class ProbabilityBet extends Widget {
  /**
   * Give a letter this probability, or as much of it as is left.
   * @param {{ letter: string, value: string }} sent
   */
  do_give({ letter, value }) {
    const wanted = Math.round(Number(value) * CHIPS);
    const most = this.get("chips")[letter] + this.left;
    this.#hand({ ...this.get("chips"), [letter]: Math.min(wanted, most) }, letter);
    if (wanted > most)
      throw new ValueError("All of 1.00 is handed out. Take some back from another letter first.");
  }

  /**
   * Give everything to one letter.
   * @param {{ letter: string }} sent
   */
  do_all({ letter }) {
    this.#hand({ ...this.nothing, [letter]: CHIPS }, letter);
  }

  /** Show the true shares of the letters. */
  do_reveal() {
    const sorted = Object.entries(this.truth).sort(([, a], [, b]) => b - a);
    const shares = sorted.map(([letter, share]) => `${letter} ${fixed(share, 3)}`).join(", ");
    this.announcement = `The true shares: ${shares}.`;
    this.set({ revealed: true });
  }

  /** Take everything back and hide the truth. */
  do_restart() {
    this.announcement = "Everything is taken back.";
    this.set({ chips: this.nothing, revealed: false });
  }

  /**
   * @param {Numbers} chips
   * @param {string} letter
   */
  #hand(chips, letter) {
    this.set({ chips });
    const p = this.probability(letter);
    const words = `${letter} has ${fixed(p, 3)} and would cost ${inNats(cost(p))} nats`;
    this.announcement = `${words}. You have ${fixed(this.left / CHIPS, 2)} left to hand out.`;
  }

  /** @returns {Numbers} */
  get nothing() {
    return Object.fromEntries([...this.get("letters")].map((letter) => [letter, 0]));
  }

  /** How many twentieths are still to be handed out. */
  get left() {
    return CHIPS - sum(Object.values(this.get("chips")));
  }

  /** @returns {Numbers} */
  get truth() {
    const counts = Object.entries(this.get("counts"));
    const total = sum(counts.map(([, count]) => count));
    return Object.fromEntries(counts.map(([letter, count]) => [letter, count / total]));
  }

  /**
   * Return the probability of a character, one of the letters or not.
   * @param {string} character
   */
  probability(character) {
    return ((this.get("chips")[character] ?? 0) + this.left / CHARACTERS) / CHIPS;
  }

  markup() {
    const revealed = this.get("revealed");
    const untouched = this.left === CHIPS && !revealed;
    const heads = ["right letter", "give", "P", "costs nats", "in bits"];
    if (revealed) heads.push("true share");
    const rows = [...this.get("letters")].map((letter) => this.#letterRow(letter));
    return join([
      element("p", null, "Left to hand out: ", element("b", null, fixed(this.left / CHIPS, 2))),
      element("div", { class: "scroll" }, tableOf(heads, [...rows, this.#lastRow()], "bet")),
      row(
        button("Reveal", "reveal", { class: "primary", "aria-disabled": revealed || null }),
        button("Take everything back", "restart", { "aria-disabled": untouched || null }),
      ),
      status([this.announcement || (untouched ? UNTOUCHED : ""), ...this.#sentences()].join(" ")),
    ]);
  }

  /** @param {string} letter */
  #letterRow(letter) {
    const given = this.get("chips")[letter];
    const slider = element("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 1 / CHIPS,
      value: fixed(given / CHIPS, 2),
      "data-do": "give",
      "data-with-letter": letter,
      "aria-label": `probability for ${letter}`,
    });
    const all = { "data-with-letter": letter, "aria-disabled": given === CHIPS || null };
    const share = this.truth[letter] ?? 0;
    const bar = element("span", { style: `width: ${fixed(100 * share, 1)}%` });
    const track = element("span", { class: "share", "aria-hidden": true }, bar);
    return this.#row(
      rowHead(element("b", null, letter), ` ${this.get("word").replace("_", letter)}`),
      element("td", null, slider, " ", button(`all on ${letter}`, "all", all)),
      letter,
      join([track, fixed(share, 3)]),
    );
  }

  #lastRow() {
    const letters = this.get("letters");
    const others = Object.entries(this.truth).filter(([letter]) => !letters.includes(letter));
    return this.#row(
      rowHead(`${CHARACTERS - letters.length} others, each`),
      element("td", { class: "quiet" }, "share what is left"),
      "",
      `${fixed(sum(others.map(([, share]) => share)), 3)} together`,
    );
  }

  /**
   * @param {Markup} head
   * @param {Markup} give
   * @param {string} letter  Any other character if "".
   * @param {Child} truth  Shown once it is revealed.
   */
  #row(head, give, letter, truth) {
    const p = this.probability(letter);
    const numbers = [fixed(p, 3), inNats(cost(p)), inBits(cost(p))];
    const shown = this.get("revealed") ? [...numbers, truth] : numbers;
    return element("tr", null, head, give, ...numberCells(shown));
  }

  /** Say what the bet costs if it is right, and, once revealed, what it really costs. */
  #sentences() {
    const letters = this.get("letters").padEnd(CHARACTERS).split("");
    const bet = letters.map((letter) => this.probability(letter));
    const believed = inNats(mean(bet, bet));
    const sentences = [`If you are right about the shares, you pay ${believed} nats on average.`];
    if (this.get("revealed")) {
      const shares = Object.values(this.truth);
      const given = Object.keys(this.truth).map((letter) => this.probability(letter));
      const [paid, least] = [mean(shares, given), mean(shares, shares)];
      const places = sum(Object.values(this.get("counts")));
      sentences.push(
        `Over all ${places} places your bet costs ${inNats(paid)} nats on average. The best bet ` +
          `costs ${inNats(least)} nats. It is the honest one: it gives each letter its true share.`,
      );
    }
    return sentences;
  }
}
