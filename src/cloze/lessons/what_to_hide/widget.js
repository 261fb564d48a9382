// A line, hidden as you choose: what a model reads of it, and what its answers cost.

import { numberRow, row, strip } from "../../widgets/browser/cells.js";
import {
  button,
  element,
  join,
  lineForm,
  select,
  status,
  tableOf,
} from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";
import { counted, fixed, inNats, sum } from "../../widgets/browser/words.js";

/**
 * @import { Option } from "../../widgets/browser/element.js"
 *
 * @typedef {[symbol: string, fate: string, cost: number]} Hidden  Without a fate: not selected.
 *
 * @typedef {object} State
 * @property {string} line
 * @property {string} note  What was changed in the line that was typed.
 * @property {number} rate
 * @property {string} shape
 * @property {string} shares
 * @property {number} draws
 * @property {Hidden[]} cells
 * @property {Record<keyof typeof LABELS, Option[]>} choices
 *
 * @typedef {object} Answers
 * @property {(sent: Record<string, string | number>) => void} hide
 */

const LABELS = { rate: "Rate", shape: "Shape", shares: "Masked/random/kept" };
const WHATS = /** @type {const} */ (["rate", "shape", "shares"]);
const FATES = { M: "masked", R: "random", K: "kept" };

/** @extends {Widget<State, Answers>} */
export default class Hiding extends Widget {
  /** @param {{ text: string }} sent */
  do_line({ text }) {
    return this.ask("hide", { line: text });
  }

  /** @param {{ what: string, value: string }} sent */
  do_choose({ what, value }) {
    return this.ask("hide", { [what]: what === "rate" ? Number(value) : value });
  }

  /** @param {{ draws: string }} sent  How many draws come before this one. */
  do_draw({ draws }) {
    return this.ask("hide", { draws: Number(draws) });
  }

  markup() {
    const selects = WHATS.map((what) =>
      select(LABELS[what], "choose", this.get("choices")[what], this.get(what), {
        "data-with-what": what,
      }),
    );
    const draws = this.get("draws");
    const legend = "Below each character: M masked, R random, K kept, then its cost in nats";
    return join([
      lineForm("line", "Your line", "Use it", { size: 40, value: this.get("line") }),
      row(
        ...selects,
        button("Draw again", "draw", { class: "primary", "data-with-draws": draws + 1 }),
        button("First draw", "draw", { "data-with-draws": 0, "aria-disabled": !draws || null }),
      ),
      this.#strip(),
      element("p", { class: "quiet" }, legend),
      this.#table(),
      status(this.#summary()),
    ]);
  }

  #strip() {
    const line = this.get("line");
    const cells = this.get("cells").map(([symbol, fate, cost], at) => ({
      symbol,
      look: fate && `fate-${fate}`,
      notes: [fate, fate && fixed(cost, 1)],
      ends: line[at] === " ",
    }));
    const read = cells.map(({ symbol }) => (symbol === "␣" ? " " : symbol)).join("");
    return strip(`The model reads: ${read}`, cells);
  }

  /**
   * The costs of the characters that met this fate; without a fate, of all.
   * @param {string} [fate]
   */
  #costs(fate) {
    const cells = this.get("cells").filter(([, own]) => (fate ? own === fate : own));
    return cells.map(([, , cost]) => cost);
  }

  /** What the answers cost, by fate and in all. */
  #table() {
    const heads = ["it became", "characters", "nats each", "total"];
    const rows = [...Object.entries(FATES), ["", "all"]].map(([fate, name]) => {
      const costs = this.#costs(fate);
      const mean = costs.length ? inNats(sum(costs) / costs.length) : "–";
      const numbers = [costs.length, mean, inNats(sum(costs))];
      return numberRow(`${fate} ${name}`.trim(), numbers, fate ? null : "both");
    });
    return element("div", { class: "scroll" }, tableOf(heads, rows, "costs"));
  }

  #summary() {
    const costs = this.#costs();
    const fates = Object.entries(FATES).map(
      ([fate, name]) => `${this.#costs(fate).length} ${name}`,
    );
    const length = counted(this.get("line").length, "character");
    const note = this.get("note") && ` (${this.get("note")}.)`;
    return (
      `Draw ${this.get("draws") + 1}: ${costs.length} of ${length} to predict ` +
      `(${fates.join(", ")}). Each one costs ${inNats(sum(costs) / costs.length)} nats on ` +
      `average, and all of them together ${inNats(sum(costs))}.${note}`
    );
  }
}
