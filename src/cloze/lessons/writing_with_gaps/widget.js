// A line full of gaps that is written step by step, in an order that the learner chooses.

import { button, choice, element, form, join, status } from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";
import { counted, percent, spoken, visible } from "../../widgets/browser/words.js";

/**
 * @import { Markup } from "../../widgets/browser/element.js"
 * @import { WidgetModel } from "../../widgets/browser/widget.js"
 *
 * @typedef {object} Frame  The line after some steps.
 * @property {string[]} line
 * @property {string[]} fates  What has become of each position.
 * @property {number[]} said  The probability of what was written in the last step.
 *
 * @typedef {object} Chosen  What decides what is written.
 * @property {string} line
 * @property {string} policy
 * @property {number} temperature
 * @property {number} seed
 *
 * @typedef {object} Read
 * @property {string[]} shown  The symbols of the line as it was read.
 * @property {string} note  What reading it has changed.
 *
 * @typedef {Chosen & Read & { at: number, policies: string[], unit: string, separator: string }} State
 *
 * @typedef {object} Answers
 * @property {(sent: Chosen & { start: number, count: number }) => Frame[]} frames
 * @property {(sent: { line: string }) => Read} read
 *
 * @typedef {object} Writing  The frames of what is chosen.
 * @property {string} of
 * @property {Frame[]} frames
 * @property {boolean} whole
 * @property {Promise<void> | null} coming
 */

const TEMPERATURES = [0, 0.5, 1, 1.5];
const SPEEDS = { slow: 1, medium: 3, fast: 10 }; // steps per second
const AHEAD = 8; // how many frames are asked for at once while playing
const GAP = "_";
// What has become of a position. It was given, is a gap, or is written; in the step that is shown,
// something was written there, or what was there has become a gap again.
const [GIVEN, OPEN, NEW, REMASKED] = ["given", "open", "new", "remasked"];
const LEGEND =
  "The number below what was written in this step is the probability that the model gave it. " +
  "↺ marks what was remasked.";

/** @extends {Widget<State, Answers>} */
export default class Unmasking extends Widget {
  /** @type {keyof typeof SPEEDS} */
  #speed = "medium";
  /** @type {number | undefined} */
  #timer;
  /** @type {Writing} */
  #writing = { of: "", frames: [], whole: false, coming: null };

  /** @param {WidgetModel<State, Answers>} model */
  constructor(model) {
    super(model);
    this.changed();
  }

  /** What decides what is written. */
  get chosen() {
    const [line, policy] = [this.get("line"), this.get("policy")];
    return { line, policy, temperature: this.get("temperature"), seed: this.get("seed") };
  }

  /** The line as it is now; until it comes, the last that is known. */
  get frame() {
    const { frames } = this.#writing;
    return frames[this.get("at")] ?? frames[frames.length - 1];
  }

  /** The line as text, `_` for a gap that is still open. */
  get text() {
    return this.frame.line.join(this.get("separator"));
  }

  /** Whether it goes on by itself. */
  get playing() {
    return this.#timer !== undefined;
  }

  changed() {
    const of = JSON.stringify([this.chosen, this.get("shown")]);
    if (of !== this.#writing.of) this.#begin(of);
    const at = this.get("at");
    if (at >= this.#writing.frames.length) {
      this.settled = this.attempt(async () => {
        await this.#load(at);
        this.refresh();
      });
    }
    this.refresh();
  }

  /**
   * Start from the line as it was typed.
   * @param {string} of
   */
  #begin(of) {
    this.#pause();
    const line = this.get("shown");
    const fates = line.map((symbol) => (symbol === GAP ? OPEN : GIVEN));
    const frames = [{ line, fates, said: line.map(() => 0) }];
    this.#writing = { of, frames, whole: false, coming: null };
    const gaps = counted(fates.filter((fate) => fate === OPEN).length, "gap");
    const note = this.get("note") && ` (${this.get("note")})`;
    this.announcement = `${gaps}, ${this.get("policy")}, seed ${this.get("seed")}${note}.`;
  }

  /**
   * Have the frames up to one of them, if there are as many, asking for a few at a time.
   * @param {number} at
   * @param {number} [count]
   */
  async #load(at, count = 1) {
    const writing = this.#writing;
    const { frames } = writing;
    const ask = async () => {
      const more = await this.ask("frames", { ...this.chosen, start: frames.length, count });
      frames.push(...more);
      writing.whole = more.length < count;
    };
    while (frames.length <= at && !writing.whole) {
      writing.coming ??= ask().finally(() => {
        writing.coming = null;
      });
      await writing.coming;
    }
  }

  /**
   * Take a step; false if none is left.
   * @param {number} [count]
   */
  async #forward(count) {
    const at = this.get("at") + 1;
    await this.#load(at, count);
    if (at >= this.#writing.frames.length) return false;
    this.set({ at });
    return true;
  }

  /** Say what this step has done. */
  #tell() {
    const { line, fates, said } = this.frame;
    const fresh = [...fates.keys()].filter((at) => fates[at] === NEW);
    const back = fates.filter((fate) => fate === REMASKED).length;
    const each = fresh.map((at) => `${spoken(line[at])} at ${at} with ${percent(said[at])}`);
    const many = `${counted(fresh.length, this.get("unit"))} written`;
    const words = fresh.length > 3 ? [many] : each;
    if (back) words.push(`${back} remasked`);
    this.announcement = `Step ${this.get("at")}: ${words.join(", ") || "nothing new"}.`;
  }

  #done() {
    this.announcement = `Done after ${counted(this.get("at"), "step")}: ${this.text}`;
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  async do_step() {
    this.#pause();
    if (await this.#forward()) this.#tell();
    else this.#done();
  }

  do_back() {
    this.#pause();
    this.set({ at: this.get("at") - 1 });
    this.#tell();
  }

  /** Go on by itself, from the beginning if the end is reached. */
  async do_play() {
    if (!(await this.#forward(AHEAD))) this.set({ at: 0 });
    this.announcement = "Playing.";
    this.#wait();
    // All frames, so that nothing waits for an answer while it plays; a failure is told at its step.
    this.#load(Infinity, AHEAD).catch(() => {});
  }

  do_pause() {
    this.#pause();
    this.#tell();
  }

  /** Take one step while playing. */
  async do_tick() {
    if (!this.playing) return;
    this.#timer = undefined; // it ends here if the step fails
    if (await this.#forward(AHEAD)) this.#wait();
    else this.#done();
  }

  /** Take everything back; the same will be written again. */
  do_restart() {
    this.#pause();
    this.set({ at: 0 });
    this.announcement = "From the beginning.";
  }

  /** Draw anew: another seed. */
  do_again() {
    this.set({ seed: this.get("seed") + 1, at: 0 });
  }

  /** @param {{ value: string }} sent */
  do_policy({ value }) {
    this.set({ policy: value, at: 0 });
  }

  /** @param {{ value: string }} sent */
  do_temperature({ value }) {
    this.set({ temperature: Number(value), at: 0 });
  }

  /** @param {{ value: keyof typeof SPEEDS }} sent */
  do_speed({ value }) {
    this.#speed = value;
  }

  /**
   * Write another line.
   * @param {{ typed: string }} sent
   */
  async do_line({ typed }) {
    const { shown, note } = await this.ask("read", { line: typed });
    this.set({ line: typed, shown, note, at: 0 });
  }

  #wait() {
    this.#pause();
    this.#timer = setTimeout(() => this.act("tick"), 1000 / SPEEDS[this.#speed]);
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  // ── markup ────────────────────────────────────────────────────────────────────────────────────

  markup() {
    const atStart = this.get("at") === 0 || null;
    const primary = { class: "primary" };
    const field = element("input", {
      type: "text",
      name: "typed",
      value: this.get("line"),
      "aria-label": "A line with gaps",
    });
    const use = element("button", { type: "submit" }, "Use this line");
    return join([
      form("line", { class: "row typed" }, field, use),
      choice("Order", "policy", this.get("policies"), this.get("policy")),
      choice("Temperature", "temperature", TEMPERATURES, this.get("temperature")),
      choice("Speed", "speed", Object.keys(SPEEDS), this.#speed),
      this.#strip(),
      element("p", { class: "quiet" }, LEGEND),
      element(
        "div",
        { class: "row" },
        button("Step", "step"),
        button("Back", "back", { "aria-disabled": atStart }),
        this.playing ? button("Pause", "pause", primary) : button("Play", "play", primary),
        button("Start over", "restart", { "aria-disabled": atStart }),
        button("Draw anew", "again"),
      ),
      element("p", { class: "text" }, "The text: ", element("b", null, this.text)),
      status(this.announcement),
    ]);
  }

  #strip() {
    const { line, fates, said } = this.frame;
    /** @type {Markup[]} */
    let word = [];
    const words = [word];
    line.forEach((symbol, at) => {
      const sign = { [NEW]: percent(said[at]), [REMASKED]: "↺" }[fates[at]] ?? "\u00a0";
      const shown = symbol === GAP ? "▒" : visible(symbol);
      const look = { class: `cell ${fates[at]}` };
      word.push(element("span", look, shown, element("small", null, sign)));
      if (symbol === " " || this.get("separator")) {
        word = [];
        words.push(word);
      }
    });
    const label = `The line: ${this.text.replaceAll(GAP, "▒")}`;
    const look = this.get("separator") ? "unmasking words" : "unmasking";
    return element(
      "div",
      { role: "img", "aria-label": label, class: look },
      ...words.map((word) => element("span", { class: "word" }, ...word)),
    );
  }
}
