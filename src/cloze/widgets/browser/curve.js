// A loss curve that grows while Python trains, and a line that the model fills as it learns.

import { button, element, join } from "./element.js";
import { Widget } from "./widget.js";
import { counted, visible } from "./words.js";

/** @import { Child } from "./element.js" */

/**
 * @typedef {[step: number, nats: number]} Point
 *
 * @typedef {object} State
 * @property {number} steps
 * @property {Point[]} points  What each few steps of training have cost.
 * @property {Point[]} measured  The held-out loss.
 * @property {Record<string, number>} baselines  Their losses in nats.
 * @property {string} action  What the button does: "Start", "Stop", "Resume" or "Finished".
 * @property {string} words
 * @property {[symbol: string, hidden: boolean][][]} line  By word.
 * @property {string[]} filled  What the model puts into each gap of the line.
 * @property {string} failure
 *
 * @typedef {{ start(): void, stop(): void }} Answers
 *
 * @typedef {{ symbol: string, hidden: boolean, said: string | undefined }} Filled
 */

const WIDTH = 720;
const HEIGHT = 320;
const LEFT = 46;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 40;
const TOP_NATS = 3.6;
/** @type {Record<string, string>} */
const HEARD = { Resume: "stopped", Finished: "finished" }; // how training has ended, by what the button says

/** @extends {Widget<State, Answers>} */
export default class TrainingCurve extends Widget {
  #action = "";
  #measured = 0;

  do_start() {
    return this.ask("start");
  }

  do_resume() {
    return this.ask("start");
  }

  do_stop() {
    return this.ask("stop");
  }

  /** Say to a screen reader only what is worth interrupting for. */
  changed() {
    const action = this.get("action");
    const measured = this.get("measured").length;
    const words = this.get("words");
    if (this.#action === "Stop" && HEARD[action])
      this.announcement = [`${HEARD[action]}: ${words}`, this.#told()].filter(Boolean).join(". ");
    else if (measured > this.#measured) this.announcement = words;
    this.#action = action;
    this.#measured = measured;
    this.problem = this.get("failure");
    this.refresh();
  }

  markup() {
    const words = this.get("words");
    const action = this.get("action");
    const ended = { class: "primary", "aria-disabled": action === "Finished" || null };
    return join([
      element("div", { role: "img", "aria-label": `Loss curve. ${words}` }, this.#picture()),
      element("p", { class: "number" }, words),
      ...this.#filling(),
      element("p", { role: "status", class: "spoken" }, this.announcement),
      button(action, action.toLowerCase(), ended),
    ]);
  }

  /** The words of the line; each symbol has `hidden`, and if so `said`, what the model puts there. */
  get #line() {
    const filled = [...this.get("filled")];
    return this.get("line").map((word) =>
      word.map(([symbol, hidden]) => ({ symbol, hidden, said: hidden ? filled.shift() : symbol })),
    );
  }

  /**
   * Tell the line as the model fills it, "" before it does.
   * @returns {string}
   */
  #told() {
    if (!this.get("filled").length) return "";
    const line = this.#line;
    const gaps = line.flat().filter((each) => each.hidden);
    const right = gaps.filter((each) => each.said === each.symbol).length;
    const words = line.map((word) => word.map((each) => each.said).join("")).join(" ");
    return `${right} of ${counted(gaps.length, "gap")} right: ${words}`;
  }

  #filling() {
    const symbols = (/** @type {Filled} */ { symbol, hidden, said }) => {
      if (!hidden) return symbol;
      const look = said === undefined ? "asked" : said === symbol ? "asked hit" : "asked miss";
      return element("span", { class: look }, said === undefined ? "▒" : visible(said));
    };
    const words = this.#line.map((word) =>
      element("span", { class: "word" }, ...word.map(symbols)),
    );
    if (!words.length) return [];
    const told = this.#told() || "A line with gaps, which the model will fill as it learns";
    const spaced = words.flatMap((word) => [word, " "]);
    return [element("div", { class: "filling", role: "img", "aria-label": told }, ...spaced)];
  }

  #picture() {
    const steps = this.get("steps");
    const x = (/** @type {number} */ step) => LEFT + ((WIDTH - LEFT - RIGHT) * step) / steps;
    const y = (/** @type {number} */ nats) =>
      TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.min(nats, TOP_NATS) / TOP_NATS);
    const along = (/** @type {Point[]} */ points) =>
      points.map(([step, nats]) => `${x(step).toFixed(1)},${y(nats).toFixed(1)}`);
    /**
     * @param {string | null} look
     * @param {number} left
     * @param {number | string} top
     * @param {...Child} said
     */
    const text = (look, left, top, ...said) =>
      element("text", { class: look, x: left, y: top }, ...said);
    const line = (/** @type {string} */ look, /** @type {Point[]} */ points) =>
      points.length ? [element("polyline", { class: look, points: along(points).join(" ") })] : [];
    const end = WIDTH - RIGHT;
    const ticks = Array.from({ length: Math.floor(TOP_NATS) + 1 }, (_, tick) =>
      text("tick", LEFT - 8, (y(tick) + 4).toFixed(1), tick),
    );
    const baselines = Object.entries(this.get("baselines")).flatMap(([name, nats]) => [
      element("path", { class: "baseline", d: `M${LEFT} ${y(nats).toFixed(1)}H${end}` }),
      text("end", end, (y(nats) - 4).toFixed(1), `${name} ${nats.toFixed(2)}`),
    ]);
    const measured = this.get("measured");
    return element(
      "svg",
      { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": true },
      ...ticks,
      element("path", { class: "axis", d: `M${LEFT} ${TOP}V${y(0)}H${end}` }),
      text("end", end, HEIGHT - 8, `step ${steps}`),
      text(
        null,
        LEFT,
        HEIGHT - 8,
        "loss in nats: ",
        element("tspan", { class: "training" }, "─ training"),
        ", ",
        element("tspan", { class: "held-out" }, "● held-out"),
      ),
      ...baselines,
      ...line("training", this.get("points")),
      ...line("held-out", measured),
      ...measured.map(([step, nats]) =>
        element("circle", {
          class: "held-out",
          cx: x(step).toFixed(1),
          cy: y(nats).toFixed(1),
          r: 4,
        }),
      ),
    );
  }
}
