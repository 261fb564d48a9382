// A line full of gaps that is written step by step, in an order that the learner chooses.

import { row, strip } from "../../widgets/browser/cells.js";
import { button, choice, element, form, join, status } from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";
import { counted, percent, spoken, visible } from "../../widgets/browser/words.js";

/**
 * @typedef {object} Frame  The line after some steps.
 * @property {string[]} line
 * @property {string[]} fates  What has become of each position.
 * @property {number[]} probabilities  Of what was written in the last step.
 *
 * @typedef {object} Chosen  What decides what is written.
 * @property {string} line
 * @property {string} policy
 * @property {number} temperature
 * @property {number} seed
 *
 * @typedef {object} Shown
 * @property {Frame[]} frames
 * @property {number} at  How many steps have been taken.
 * @property {string} note  What reading the line has changed.
 * @property {string[]} policies
 * @property {string} unit
 * @property {string} separator
 *
 * @typedef {Chosen & Shown} State
 *
 * @typedef {object} Answers
 * @property {(sent: Partial<Chosen>) => void} write
 */

const [POLICY, TEMPERATURE] = [{ "data-with-what": "policy" }, { "data-with-what": "temperature" }];
const TEMPERATURES = [0, 0.5, 1, 1.5];
const SPEEDS = { slow: 1, medium: 3, fast: 10 }; // steps per second
const GAP = "_";
const LEGEND =
  "The number below what was written in this step is the probability that the model gave it. " +
  "↺ marks what was remasked.";

/** @extends {Widget<State, Answers>} */
export default class Unmasking extends Widget {
  /** @type {keyof typeof SPEEDS} */
  #speed = "medium";
  /** @type {number | undefined} */
  #timer;

  /** The line as it is now. */
  get frame() {
    return this.get("frames")[this.get("at")];
  }

  /** The line as text, `_` for a gap that is still open. */
  get text() {
    return this.frame.line.join(this.get("separator")).replaceAll(" ##", "");
  }

  /** Whether the last step has been taken. */
  get finished() {
    return this.get("at") === this.get("frames").length - 1;
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  do_step() {
    this.do_pause();
    if (!this.finished) this.set({ at: this.get("at") + 1 });
  }

  do_back() {
    this.do_pause();
    this.set({ at: this.get("at") - 1 });
  }

  /** Go on step by step, from the beginning if the end is reached. */
  do_play() {
    if (this.finished) this.set({ at: 0 });
    this.do_step();
    if (!this.finished) this.#timer = setTimeout(() => this.do_play(), 1000 / SPEEDS[this.#speed]);
  }

  do_pause() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Take everything back; the same will be written again. */
  do_restart() {
    this.do_pause();
    this.set({ at: 0 });
  }

  /** Draw again, with another seed. */
  do_again() {
    return this.#write({ seed: this.get("seed") + 1 });
  }

  /** @param {{ what: string, value: string }} sent */
  do_choose({ what, value }) {
    return this.#write({ [what]: what === "temperature" ? Number(value) : value });
  }

  /** @param {{ value: keyof typeof SPEEDS }} sent */
  do_speed({ value }) {
    this.#speed = value;
  }

  /** @param {{ text: string }} sent */
  do_line({ text }) {
    return this.#write({ line: text });
  }

  /** @param {Partial<Chosen>} chosen */
  #write(chosen) {
    this.do_pause();
    return this.ask("write", chosen);
  }

  // ── markup ────────────────────────────────────────────────────────────────────────────────────

  markup() {
    const atStart = { "aria-disabled": this.get("at") === 0 || null };
    const [label, action] = this.#timer ? ["Pause", "pause"] : ["Play", "play"];
    const field = { type: "text", name: "text", value: this.get("line") };
    return join([
      form(
        "line",
        { class: "row typed" },
        element("input", { ...field, "aria-label": "A line with gaps" }),
        element("button", { type: "submit" }, "Use this line"),
      ),
      choice("Order", "choose", this.get("policies"), this.get("policy"), POLICY),
      choice("Temperature", "choose", TEMPERATURES, this.get("temperature"), TEMPERATURE),
      choice("Speed", "speed", Object.keys(SPEEDS), this.#speed),
      this.#strip(),
      element("p", { class: "quiet" }, LEGEND),
      row(
        button("Step", "step", { "aria-disabled": this.finished || null }),
        button("Back", "back", atStart),
        button(label, action, { class: "primary" }),
        button("Start over", "restart", atStart),
        button("Draw anew", "again"),
      ),
      element("p", { class: "text" }, "The text: ", element("b", null, this.text)),
      status(this.#timer ? "Playing." : this.#summary()),
    ]);
  }

  #strip() {
    const { line, fates, probabilities } = this.frame;
    const separator = this.get("separator");
    const cells = line.map((symbol, at) => ({
      symbol: symbol === GAP ? "▒" : visible(symbol),
      look: fates[at],
      notes: [{ new: percent(probabilities[at]), remasked: "↺" }[fates[at]]],
      ends: symbol === " " || separator !== "",
    }));
    const label = `The line: ${this.text.replaceAll(GAP, "▒")}`;
    return strip(label, cells, separator ? "unmasking words" : "unmasking");
  }

  /** What this step has done; before the first one, what is to be done. */
  #summary() {
    const at = this.get("at");
    const { line, fates, probabilities } = this.frame;
    const positions = (/** @type {string} */ fate) =>
      [...fates.keys()].filter((i) => fates[i] === fate);
    if (at === 0) {
      const note = this.get("note") && ` (${this.get("note")})`;
      const gaps = counted(positions("open").length, "gap");
      return `${gaps}, ${this.get("policy")}, seed ${this.get("seed")}${note}.`;
    }
    const [fresh, back] = [positions("new"), positions("remasked").length];
    const each = fresh.map((i) => `${spoken(line[i])} at ${i} with ${percent(probabilities[i])}`);
    const words = fresh.length > 3 ? [`${counted(fresh.length, this.get("unit"))} written`] : each;
    if (back) words.push(`${back} remasked`);
    const done = this.finished ? ` Done after ${counted(at, "step")}: ${this.text}` : "";
    return `Step ${at}: ${words.join(", ") || "nothing new"}.${done}`;
  }
}
