// A line, hidden as you choose: what a model reads of it, and what its answers cost.

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
import { counted, inNats, percent, sum } from "../../widgets/browser/words.js";

/**
 * @typedef {[symbol: string, fate: string, cost: number]} Cell  Without a fate: not selected.
 *
 * @typedef {object} State
 * @property {string} line
 * @property {string} note  What was changed in the line that was typed.
 * @property {number} rate
 * @property {string} shape
 * @property {string} shares
 * @property {number} draws
 * @property {Cell[]} cells
 * @property {{ rate: number[], shape: string[], shares: string[] }} choices
 *
 * @typedef {object} Answers
 * @property {(sent: Partial<Pick<State, "line" | "rate" | "shape" | "shares" | "draws">>) => void} hide
 */

const FATES = { M: "masked", R: "random", K: "kept" };
const NOTHING = "\u00a0";

/** @extends {Widget<State, Answers>} */
export default class Hiding extends Widget {
  /** @param {{ text: string }} sent */
  do_line({ text }) {
    return this.ask("hide", { line: text });
  }

  /** @param {{ value: string }} sent */
  do_rate({ value }) {
    return this.ask("hide", { rate: Number(value) });
  }

  /** @param {{ value: string }} sent */
  do_shape({ value }) {
    return this.ask("hide", { shape: value });
  }

  /** @param {{ value: string }} sent */
  do_shares({ value }) {
    return this.ask("hide", { shares: value });
  }

  do_draw() {
    return this.ask("hide", { draws: this.get("draws") + 1 });
  }

  /** Go back to the first draw. */
  do_restart() {
    return this.ask("hide", { draws: 0 });
  }

  markup() {
    const { rate, shape, shares } = this.get("choices");
    /** @type {[number, string][]} */
    const rates = rate.map((each) => [each, percent(each)]);
    const restart = { "aria-disabled": this.get("draws") === 0 || null };
    return join([
      lineForm("line", "Your line", "Use it", { size: 40, value: this.get("line") }),
      element(
        "div",
        { class: "row" },
        select("Rate", "rate", rates, this.get("rate")),
        select("Shape", "shape", shape, this.get("shape")),
        select("Masked/random/kept", "shares", shares, this.get("shares")),
        button("Draw again", "draw", { class: "primary" }),
        button("First draw", "restart", restart),
      ),
      this.#strip(),
      element(
        "p",
        { class: "quiet" },
        "Below each character: M masked, R random, K kept, then its cost in nats",
      ),
      this.#table(),
      status(this.#told()),
    ]);
  }

  #strip() {
    const line = this.get("line");
    const cells = this.get("cells");
    const cell = (/** @type {Cell} */ [symbol, fate, cost]) =>
      element(
        "span",
        { class: fate ? `cell fate-${fate}` : "cell" },
        symbol,
        element("small", null, fate || NOTHING),
        element("small", null, fate ? cost.toFixed(1) : NOTHING),
      );
    const parts = [...line.matchAll(/\s|\S+/g)].map(({ 0: part, index }) =>
      element("span", { class: "word" }, ...cells.slice(index, index + part.length).map(cell)),
    );
    const read = cells.map(([symbol]) => (symbol === "␣" ? " " : symbol)).join("");
    return element("div", { role: "img", "aria-label": `The model reads: ${read}` }, ...parts);
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
      const cells = [costs.length, mean, inNats(sum(costs))];
      return element(
        "tr",
        { class: fate ? null : "both" },
        element("th", { scope: "row" }, `${fate} ${name}`.trim()),
        ...cells.map((each) => element("td", { class: "number" }, each)),
      );
    });
    return element("div", { class: "scroll" }, tableOf(heads, rows, "costs"));
  }

  #told() {
    const costs = this.#costs();
    const fates = Object.entries(FATES).map(
      ([fate, name]) => `${this.#costs(fate).length} ${name}`,
    );
    const note = this.get("note");
    const length = counted(this.get("line").length, "character");
    return [
      `Draw ${this.get("draws") + 1}: ${costs.length} of ${length} to predict (${fates.join(", ")}).`,
      `Each one costs ${inNats(sum(costs) / costs.length)} nats on average, and all of them together ` +
        `${inNats(sum(costs))}.`,
      ...(note ? [`(${note}.)`] : []),
    ].join(" ");
  }
}
