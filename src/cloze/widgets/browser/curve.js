// A line that a model fills as it learns, its loss curve, and a slider over what it has been through: first
// through a recorded run, and then through one's own, which grows while Python trains.

import { button, element, join } from "./element.js";
import { share } from "./share.js";
import { Widget } from "./widget.js";
import { counted, inNats, visible } from "./words.js";

/** @import { Child, Markup } from "./element.js" */
/** @import { Filled } from "./share.js" */

/**
 * @typedef {[step: number, nats: number]} Point
 *
 * @typedef {[symbol: string, hidden: boolean][][]} Line  By word.
 *
 * @typedef {[step: number, nats: number | null, filled: string[]]} Moment  Of a run: its held-out loss,
 *   and what it puts into each gap of the line.
 *
 * @typedef {object} State
 * @property {number} steps
 * @property {Point[]} points  What each few steps of training have cost.
 * @property {Point[]} measured  The held-out loss.
 * @property {Record<string, number>} baselines  Their losses in nats.
 * @property {Moment[]} recorded  Another run, which filled the same line.
 * @property {string} action  What the button does, which is what it says.
 * @property {string} words
 * @property {Line} line
 * @property {string[]} filled  What the model puts into each gap of the line.
 * @property {string} failure
 *
 * @typedef {Record<"start" | "stop" | "try", () => void>} Answers
 */

const TOP_NATS = 3.6; // of characters; what costs more, such as pieces, gets a higher axis
const PLACES = 64; // of the slider; it and the axis give room to the first steps, where most happens
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]; // of the axis, from left to right
/** @type {Record<string, string>} */
const ENDED = { Resume: "stopped", Finished: "finished", "Try yours": "finished" }; // by what the button says
/** @type {Record<string, keyof Answers>} */
const ASKS = { Stop: "stop", "Try yours": "try" };
/** @type {Record<string, string>} What a baseline knows, in a word. */
const KNOWS = { unigram: "letters", "both neighbours": "neighbours", "six neighbours": "words" };

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
 * @param {Filled[][]} words
 */
function inWords(words) {
  const gaps = words.flat().filter((each) => each.hidden);
  const right = gaps.filter((each) => each.guess === each.symbol).length;
  const text = words.map((word) => word.map((each) => each.guess).join("")).join(" ");
  return `${right} of ${counted(gaps.length, "gap")} right: ${text}`;
}

/**
 * A line as a model fills it. A letter that has changed is another element, which unfolds.
 * @param {Filled[][]} words
 */
function filling(words) {
  const shown = words.flatMap((word) => {
    const symbols = word.map(({ symbol, hidden, guess }, i) => {
      if (!hidden) return symbol;
      const look = guess === undefined ? "asked" : guess === symbol ? "asked hit" : "asked miss";
      const sign = guess === undefined ? "?" : guess === " " ? "\u00a0" : visible(guess);
      return element("span", { class: look, "data-key": `${i}${sign}` }, sign);
    });
    return [element("span", { class: "word" }, ...symbols), " "];
  });
  const label = words.flat().some((each) => each.guess === undefined)
    ? "A line with gaps, which the model will fill as it learns"
    : inWords(words);
  return element("div", { class: "filling", role: "img", "aria-label": label }, ...shown);
}

/** @extends {Widget<State, Answers>} */
export default class TrainingCurve extends Widget {
  #action = "";
  #measured = 0;
  /** @type {Moment[]} */
  #own = []; // what the run has been through while this was watching
  /** @type {number | null} */
  #at = 0; // where the slider is; null for the last moment, and all that follow

  do_press() {
    if (this.#own.length) this.#at = null;
    return this.ask(ASKS[this.get("action")] ?? "start");
  }

  /** @param {{ value: string }} sent */
  do_seek({ value }) {
    const [last] = this.#moments[this.#moments.length - 1];
    this.#at = Number(value) < this.#place(last) ? Number(value) : null;
  }

  do_share() {
    const ends = [this.#own[0], this.#own[this.#own.length - 1]];
    const lines = ends.map(([, , filled]) => answered(this.get("line"), filled));
    return share(lines, this.get("words"));
  }

  /** Say to a screen reader only what is worth interrupting for. */
  changed() {
    const action = this.get("action");
    const measured = this.get("measured").length;
    const words = this.get("words");
    this.#remember();
    if (this.#action === "Stop" && ENDED[action]) {
      this.announcement = `${ENDED[action]}: ${words}`;
      if (this.#own.length) this.announcement += `. ${inWords(this.#filled)}`;
    } else if (measured > this.#measured) this.announcement = words;
    this.#action = action;
    this.#measured = measured;
    this.problem = this.get("failure");
    this.refresh();
  }

  markup() {
    this.#remember();
    const action = this.get("action");
    const look = { class: "primary", "aria-disabled": action === "Finished" || null };
    const ended = ENDED[action] === "finished" && this.#own.length;
    return join([
      this.get("line").length ? filling(this.#filled) : "",
      element("p", { class: "moment" }, this.#caption),
      ...this.#plot(),
      element(
        "div",
        { class: "row" },
        button(action, "press", look),
        ended ? button("Share a card", "share") : null,
        element("p", { class: "number" }, this.get("words")),
      ),
      element("p", { role: "status", class: "spoken" }, this.announcement),
    ]);
  }

  /** Keep what the run has come to, for the slider; a run that has begun anew has no past. */
  #remember() {
    const filled = this.get("filled");
    const step = this.get("points").at(-1)?.[0] ?? 0;
    const last = this.#own.at(-1)?.[0] ?? -1;
    if (step < last || (last >= 0 && !filled.length)) [this.#own, this.#at] = [[], 0];
    if (!filled.length || step === last) return;
    if (!this.#own.length) this.#at = null;
    this.#own.push([step, this.get("measured").at(-1)?.[1] ?? null, filled]);
  }

  /** What the slider goes through. */
  get #moments() {
    return this.#own.length ? this.#own : this.get("recorded");
  }

  /** The moment at which the slider is. */
  get #moment() {
    const until = this.#at === null ? this.#steps : this.#steps * (this.#at / PLACES) ** 2;
    return this.#moments.findLast(([step]) => step < until + 1);
  }

  /** The line at that moment. */
  get #filled() {
    return answered(this.get("line"), this.#moment?.[2] ?? []);
  }

  /** How many steps the axis has. */
  get #steps() {
    return Math.max(this.get("steps"), this.get("recorded").at(-1)?.[0] ?? 0);
  }

  /**
   * Where a step is on the slider, and on the axis above it.
   * @param {number} step
   */
  #place(step) {
    return PLACES * Math.sqrt(step / this.#steps);
  }

  /** Whose moment it is, and what is paid then; nothing while one's own run is followed. */
  get #caption() {
    const own = this.#own.length;
    if (!this.#moment || (own && this.#at === null)) return "";
    const [step, nats] = this.#moment;
    const paid = nats === null ? "" : `, held-out loss ${inNats(nats)} nats`;
    const hint = own || step ? "" : " (drag the slider, and watch it learn)";
    return `${own ? "Your run" : "A recorded run"} after ${counted(step, "step")}${paid}${hint}`;
  }

  /** The curves over a slider. The levels that are passed at its moment are lit. */
  #plot() {
    const [points, measured] = [this.get("points"), this.get("measured")];
    const recorded = this.get("recorded");
    const baselines = Object.entries(this.get("baselines"));
    const drawn = [...points, ...measured, ...recorded, ...baselines];
    const highest = Math.max(TOP_NATS, ...drawn.map(([, nats]) => Number(nats)));
    const x = (/** @type {number} */ step) => ((100 * this.#place(step)) / PLACES).toFixed(2);
    /** @type {(nats: number | null) => string} */
    const y = (nats) => (100 * (1 - Number(nats) / highest)).toFixed(2);
    /** @type {(of: (Point | Moment)[]) => string[]} */
    const places = (of) => of.map(([step, nats]) => `${x(step)} ${y(nats)}`);
    /** @type {(look: string, places: string[]) => Markup | null} */
    const line = (look, [first, ...rest]) =>
      first ? element("path", { class: look, d: `M${[first, ...rest].join("L")}` }) : null;
    /** @type {(look: string, left: number, top: number | string, words: Child) => Markup} */
    const text = (look, left, top, words) =>
      element("span", { class: look, style: `--x: ${left}; --y: ${top}` }, words);
    const levels = baselines.map(([name, nats]) => {
      const passed = (this.#moment?.[1] ?? Infinity) < nats;
      return { name, nats, passed, words: `${KNOWS[name] ?? name} ${inNats(nats)}` };
    });
    const lines = levels.map(({ words, passed }) => words + (passed ? ", passed" : ""));
    const label = [`Loss curve. ${this.#caption || this.get("words")}`, ...lines].join("; ");
    const ticks = Array.from({ length: Math.floor(highest) + 1 }, (_, nats) => nats);
    const steps = TICKS.map((share) => Math.round(this.#steps * share ** 2));
    const keys = [...(recorded.length ? ["recorded"] : []), "training", "held-out"];
    const [here] = this.#moment ? places([this.#moment]) : [];
    const now = here?.split(" ")[0];
    const picture = element(
      "svg",
      { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": true },
      recorded.length ? line("recorded", [...places(recorded), "100 100", "0 100"]) : null,
      ...levels.map(({ nats }) => line("baseline", [`0 ${y(nats)}`, `100 ${y(nats)}`])),
      line("axis", ["0 0", "0 100", "100 100"]),
      now ? line("ahead", [`${now} 0`, "100 0", "100 100", `${now} 100`]) : null,
      now ? line("moment", [`${now} 0`, `${now} 100`]) : null,
      line("training", places(points)),
      line("held-out", places(measured)),
      ...places(measured).map((place) => line("held-out dot", [place, place])),
      here && this.#moment?.[1] && !this.#own.length ? line("moment dot", [here, here]) : null,
    );
    const curve = element(
      "div",
      { class: "curve", role: "img", "aria-label": label },
      picture,
      ...ticks.map((nats) => text("tick", 0, y(nats), nats)),
      ...steps.map((step, i) => text("below", 100 * TICKS[i], 100, step || "step 0")),
      text("key", 0, 100, join(["nats:", ...keys.map((key) => element("b", { class: key }, key))])),
      ...levels.map(({ name, nats, passed, words }) =>
        text(`level${passed ? " passed" : ""}${KNOWS[name] ? "" : " quiet"}`, 100, y(nats), words),
      ),
    );
    const slider = element("input", {
      type: "range",
      max: PLACES,
      value: Math.ceil(this.#at ?? this.#place(this.#moment?.[0] ?? 0)),
      "data-do": "seek",
      "aria-label": "How far it has learned",
      "aria-valuetext": `${this.#caption || this.get("words")}: ${inWords(this.#filled)}`,
    });
    return [curve, this.#moment ? slider : ""];
  }
}
