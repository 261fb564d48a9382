// A bet on a gap: hand out probability, see what each letter would cost, and what the bet does.

import { button, element, join, status, tableOf } from "../../widgets/browser/element.js";
import { ValueError, Widget } from "../../widgets/browser/widget.js";
import { fixed, inBits, inNats, sum } from "../../widgets/browser/words.js";

const CHIPS = 20; // probability is handed out in twentieths
const CHARACTERS = 28; // which share what is not handed out

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

/**
 * What never happens costs nothing.
 * @param {number} p
 * @param {number} cost
 */
const times = (p, cost) => (p ? p * cost : 0);
const cost = (/** @type {number} */ p) => -Math.log(p);

/** @extends {Widget<State>} */
export default class ProbabilityBet extends Widget {
  /**
   * Give a letter this probability, or as much of it as is left.
   * @param {{ letter: string, value: string }} sent
   */
  do_give({ letter, value }) {
    const wanted = Math.round(Number(value) * CHIPS);
    const most = this.get("chips")[letter] + this.left;
    this.hand({ ...this.get("chips"), [letter]: Math.min(wanted, most) }, letter);
    if (wanted > most)
      throw new ValueError("All of 1.00 is handed out. Take some back from another letter first.");
  }

  /**
   * Give everything to one letter.
   * @param {{ letter: string }} sent
   */
  do_all({ letter }) {
    this.hand({ ...this.nothing, [letter]: CHIPS }, letter);
  }

  /** Show the true shares of the letters. */
  do_reveal() {
    const sorted = Object.entries(this.truth).sort(([, a], [, b]) => b - a);
    const often = sorted.map(([letter, share]) => `${letter} ${fixed(share, 3)}`).join(", ");
    this.announcement = `The true shares: ${often}.`;
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
  hand(chips, letter) {
    this.set({ chips });
    const p = this.probability(letter);
    const words = `${letter} has ${fixed(p, 3)} and would cost ${inNats(cost(p))} nats`;
    this.announcement = `${words}. You have ${fixed(this.left / CHIPS, 2)} left to hand out.`;
    this.refresh();
  }

  get letters() {
    return [...this.get("letters")];
  }

  /** @returns {Numbers} */
  get nothing() {
    return Object.fromEntries(this.letters.map((letter) => [letter, 0]));
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
    const rows = [...this.letters.map((letter) => this.row(letter)), this.lastRow()];
    const begun = "Nothing has been handed out yet, so all 28 characters share it equally.";
    const first = untouched ? this.announcement || begun : this.announcement;
    return join([
      element("p", null, "Left to hand out: ", element("b", null, fixed(this.left / CHIPS, 2))),
      element("div", { class: "scroll" }, tableOf(heads, rows, "bet")),
      element(
        "div",
        { class: "row" },
        button("Reveal", "reveal", { class: "primary", "aria-disabled": revealed || null }),
        button("Take everything back", "restart", { "aria-disabled": untouched || null }),
      ),
      status([first, ...this.sentences()].join(" ")),
    ]);
  }

  /** @param {string} letter */
  row(letter) {
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
    const word = this.get("word").replace("_", letter);
    const cells = [
      element("th", { scope: "row" }, element("b", null, letter), ` ${word}`),
      element("td", null, slider, " ", button(`all on ${letter}`, "all", all)),
      ...costs(this.probability(letter)),
    ];
    if (this.get("revealed")) {
      const share = this.truth[letter] ?? 0;
      const bar = element("span", { style: `width: ${fixed(100 * share, 1)}%` });
      const track = element("span", { class: "share", "aria-hidden": true }, bar);
      cells.push(element("td", { class: "number" }, track, fixed(share, 3)));
    }
    return element("tr", null, ...cells);
  }

  lastRow() {
    const others = CHARACTERS - this.letters.length;
    const cells = [
      element("th", { scope: "row" }, `${others} others, each`),
      element("td", { class: "quiet" }, "share what is left"),
      ...costs(this.probability("")),
    ];
    if (this.get("revealed")) {
      const rest = Object.entries(this.truth).filter(([letter]) => !this.letters.includes(letter));
      const together = fixed(sum(rest.map(([, share]) => share)), 3);
      cells.push(element("td", { class: "number" }, `${together} together`));
    }
    return element("tr", null, ...cells);
  }

  /** Say what the bet costs if it is right, and, once revealed, what it really costs. */
  sentences() {
    const [each, other] = [
      this.letters.map((letter) => this.probability(letter)),
      this.probability(""),
    ];
    const others = CHARACTERS - this.letters.length;
    const believed = sum(each.map((p) => times(p, cost(p)))) + others * times(other, cost(other));
    const sentences = [
      `If you are right about the shares, you pay ${inNats(believed)} nats on average.`,
    ];
    if (this.get("revealed")) {
      const truth = Object.entries(this.truth);
      const paid = sum(
        truth.map(([letter, share]) => times(share, cost(this.probability(letter)))),
      );
      const least = sum(truth.map(([, share]) => times(share, cost(share))));
      const places = sum(Object.values(this.get("counts")));
      sentences.push(
        `Over all ${places} places your bet costs ${inNats(paid)} nats on average. The best bet ` +
          `costs ${inNats(least)} nats. It is the honest one: it gives each letter its true share.`,
      );
    }
    return sentences;
  }
}

/** @param {number} p */
function costs(p) {
  const written = [fixed(p, 3), inNats(cost(p)), inBits(cost(p))];
  return written.map((text) => element("td", { class: "number" }, text));
}
