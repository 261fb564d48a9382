// A loss curve that grows while Python trains, and a line that the model fills as it learns.

import { button, element, join } from "./element.js";
import { Widget } from "./widget.js";
import { counted, visible } from "./words.js";

/** @import { Child } from "./element.js" */

/**
 * @typedef {[step: number, nats: number]} Point
 *
 * @typedef {[symbol: string, hidden: boolean][][]} Line  By word.
 *
 * @typedef {object} Examples  Lines that another run has filled.
 * @property {Line[]} lines
 * @property {[nats: number, filled: string[][]][]} filled  What it had put into each line when its
 *   held-out loss had fallen so far.
 *
 * @typedef {object} State
 * @property {number} steps
 * @property {Point[]} points  What each few steps of training have cost.
 * @property {Point[]} measured  The held-out loss.
 * @property {Record<string, number>} baselines  Their losses in nats.
 * @property {number | null} plateau  What a reader of its own position alone pays, in nats.
 * @property {Examples | {}} examples
 * @property {string} action  What the button does: "Start", "Stop", "Resume" or "Finished".
 * @property {string} words
 * @property {Line} line
 * @property {string[]} filled  What the model puts into each gap of the line.
 * @property {string} failure
 *
 * @typedef {{ start(): void, stop(): void }} Answers
 *
 * @typedef {{ symbol: string, hidden: boolean, guess: string | undefined }} Filled
 */

const WIDTH = 720;
const HEIGHT = 320;
const LEFT = 46;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 40;
const TOP_NATS = 3.6; // of characters; what costs more, such as pieces, gets a higher axis
/** @type {Record<string, string>} */
const ENDED = { Resume: "stopped", Finished: "finished" }; // how training has ended, by what the button says

const PLATEAU = "plateau: own position";
const FROM = LEFT + 80; // where its name begins: right of a curve that falls, left of other names

/**
 * A line, and in each of its gaps what a model says; nothing before its first guess.
 * @param {Line} line
 * @param {string[]} filled
 * @returns {Filled[][]}
 */
function answered(line, filled) {
  const left = [...filled];
  return line.map((word) =>
    word.map(([symbol, hidden]) => ({ symbol, hidden, guess: hidden ? left.shift() : symbol })),
  );
}

/**
 * A filled line in words.
 * @param {Line} line
 * @param {string[]} filled
 */
function inWords(line, filled) {
  const words = answered(line, filled);
  const gaps = words.flat().filter((each) => each.hidden);
  const right = gaps.filter((each) => each.guess === each.symbol).length;
  const text = words.map((word) => word.map((each) => each.guess).join("")).join(" ");
  return `${right} of ${counted(gaps.length, "gap")} right: ${text}`;
}

/**
 * A line as a model fills it.
 * @param {Line} line
 * @param {string[]} filled
 */
function filling(line, filled) {
  const symbols = (/** @type {Filled} */ { symbol, hidden, guess }) => {
    if (!hidden) return symbol;
    const look = guess === undefined ? "asked" : guess === symbol ? "asked hit" : "asked miss";
    return element("span", { class: look }, guess === undefined ? "▒" : visible(guess));
  };
  const words = answered(line, filled).map((word) =>
    element("span", { class: "word" }, ...word.map(symbols)),
  );
  const label = filled.length
    ? inWords(line, filled)
    : "A line with gaps, which the model will fill as it learns";
  const spaced = words.flatMap((word) => [word, " "]);
  return element("div", { class: "filling", role: "img", "aria-label": label }, ...spaced);
}

/** @extends {Widget<State, Answers>} */
export default class TrainingCurve extends Widget {
  #action = "";
  #measured = 0;

  do_start() {
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
    if (this.#action === "Stop" && ENDED[action])
      this.announcement = [`${ENDED[action]}: ${words}`, this.#inWords()]
        .filter(Boolean)
        .join(". ");
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
      element("div", { role: "img", "aria-label": this.#description() }, this.#picture()),
      element("p", { class: "number" }, words),
      ...this.#filling(),
      element("p", { role: "status", class: "spoken" }, this.announcement),
      button(action, action === "Stop" ? "stop" : "start", ended),
      ...this.#examples(),
    ]);
  }

  /**
   * Tell the line as the model fills it, "" before it does.
   * @returns {string}
   */
  #inWords() {
    const filled = this.get("filled");
    return filled.length ? inWords(this.get("line"), filled) : "";
  }

  #filling() {
    const line = this.get("line");
    return line.length ? [filling(line, this.get("filled"))] : [];
  }

  /** What a number of nats looks like. */
  #examples() {
    const examples = this.get("examples");
    if (!("lines" in examples)) return [];
    const { lines, filled } = examples;
    const levels = filled.flatMap(([nats, ofEach]) => [
      element("p", null, `${nats} nats`),
      ...ofEach.map((gaps, i) => filling(lines[i], gaps)),
    ]);
    return [
      element(
        "p",
        null,
        "What such a number looks like: three lines, as a recorded run of the default recipe filled " +
          "them when its held-out loss had just fallen below",
      ),
      element("div", { class: "levels" }, ...levels),
    ];
  }

  /** What the picture shows, for a screen reader. */
  #description() {
    const plateau = this.get("plateau");
    const lines = Object.entries(this.get("baselines")).map(
      ([name, nats]) => `${name} ${nats.toFixed(2)}`,
    );
    if (plateau) lines.push(`${PLATEAU} ${plateau.toFixed(2)}`);
    const drawn = lines.length ? `. Lines: ${lines.join("; ")}` : "";
    return `Loss curve. ${this.get("words")}${drawn}`;
  }

  #picture() {
    const steps = this.get("steps");
    const points = this.get("points");
    const measured = this.get("measured");
    const levels = Object.entries(this.get("baselines"));
    const shown = [...points, ...measured, ...levels].map(([, nats]) => nats);
    const highest = Math.max(TOP_NATS, ...shown);
    const x = (/** @type {number} */ step) => LEFT + ((WIDTH - LEFT - RIGHT) * step) / steps;
    const y = (/** @type {number} */ nats) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - nats / highest);
    const along = (/** @type {Point[]} */ of) =>
      of.map(([step, nats]) => `${x(step).toFixed(1)},${y(nats).toFixed(1)}`);
    /**
     * @param {string | null} look
     * @param {number} left
     * @param {number | string} top
     * @param {...Child} parts
     */
    const text = (look, left, top, ...parts) =>
      element("text", { class: look, x: left, y: top }, ...parts);
    const line = (/** @type {string} */ look, /** @type {Point[]} */ of) =>
      of.length ? [element("polyline", { class: look, points: along(of).join(" ") })] : [];
    const end = WIDTH - RIGHT;
    const ticks = Array.from({ length: Math.floor(highest) + 1 }, (_, tick) =>
      text("tick", LEFT - 8, (y(tick) + 4).toFixed(1), tick),
    );
    const baselines = levels.flatMap(([name, nats]) => [
      element("path", { class: "baseline", d: `M${LEFT} ${y(nats).toFixed(1)}H${end}` }),
      text("end", end, (y(nats) - 4).toFixed(1), `${name} ${nats.toFixed(2)}`),
    ]);
    const plateau = this.get("plateau");
    const stuck = plateau
      ? [
          element("path", { class: "plateau", d: `M${LEFT} ${y(plateau).toFixed(1)}H${end}` }),
          text("plateau", FROM, (y(plateau) + 3).toFixed(1), `${PLATEAU} ${plateau.toFixed(2)}`),
        ]
      : [];
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
        ...(measured.length ? [", ", element("tspan", { class: "held-out" }, "● held-out")] : []),
      ),
      ...baselines,
      ...stuck,
      ...line("training", points),
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
