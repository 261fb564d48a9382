// A line full of gaps that is written step by step, in an order that the learner chooses: the port
// of src/cloze/lessons/writing_with_gaps/unmasking.py. What is drawn at a temperature above 0 is
// drawn from the same distributions, but not by the same numbers as in Python.

import { ValueError, oneOf, wholeNumber } from "./arguments.js";
import { Chance } from "./chance.js";
import { button, element, form, join, status } from "./element.js";
import { POLICIES } from "./generation.js";
import { GAP } from "./vocabulary.js";
import { Widget } from "./widget.js";
import { counted, percent, spoken, visible } from "./words.js";

const TEMPERATURES = [["0", "0.0"], ["0.5", "0.5"], ["1", "1.0"], ["1.5", "1.5"]];
const SPEEDS = { slow: 1, medium: 3, fast: 10 }; // steps per second
const [GIVEN, OPEN, WRITTEN, NEW, REMASKED] = ["given", "open", "written", "new", "remasked"];
/** So that a line is broken between symbols where there is no style sheet, too. */
const APART = "display: inline-block";
const LEGEND =
  "The number below what was written in this step is the probability that the model gave it. " +
  "↺ marks what was remasked.";

/**
 * Yield a line as it was typed, and then after each step in which its gaps are filled:
 * {line, fates, said}, a symbol, what has become of it, and where it is new its probability.
 */
function* frames(reader, shown, steps) {
  const gaps = shown.map((symbol) => symbol === GAP);
  const nothing = shown.map(() => 0);
  yield { line: shown, fates: gaps.map((gap) => (gap ? OPEN : GIVEN)), said: nothing };
  for (const { line, filled, remasked, said } of steps) {
    const p = (at) => said[at]?.[reader.symbols.known.indexOf(line[at])] ?? 0;
    const fates = line.map((symbol, at) => {
      if (remasked.includes(at)) return REMASKED;
      if (filled.includes(at)) return NEW;
      if (!gaps[at]) return GIVEN;
      return symbol === GAP ? OPEN : WRITTEN;
    });
    yield { line, fates, said: line.map((_, at) => p(at)) };
  }
}

/** Read a temperature as it was clicked. */
function readTemperature(value) {
  const read = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : NaN;
  if (read >= 0 && read <= 100) return read;
  const said = Number.isInteger(read) ? `${read}.0` : Number.isNaN(read) ? value : read;
  throw new ValueError(`A temperature is a number from 0 to 100, not ${said}.`);
}

export class Unmasking extends Widget {
  static actions = {
    step: [],
    back: [],
    play: [],
    pause: [],
    tick: [],
    restart: [],
    again: [],
    policy: ["value"],
    temperature: ["value"],
    speed: ["value"],
    line: ["typed"],
  };

  #timer = null;
  #coming;
  #seen;

  /** A line with gaps, written by a predictor. */
  constructor(reader, line, { policy = "easiest first", temperature = 1, seed = 0 } = {}) {
    super();
    this.reader = reader;
    this.speed = "medium";
    this.begin({ line, policy, temperature, seed });
    this.open();
  }

  /** The line as it stands now. */
  get frame() {
    return this.#seen[this.at];
  }

  /** The line as text, `_` for a gap that is still open. */
  get text() {
    return this.frame.line.join("");
  }

  /** Whether it goes on by itself. */
  get playing() {
    return this.#timer !== null;
  }

  /** Start from the line as it was typed; what cannot be begun changes nothing. */
  begin(changed) {
    const { line, policy, temperature, seed } = { ...this.chosen, ...changed };
    const { symbols, maxLen } = this.reader;
    const { line: shown, note } = symbols.read(line, maxLen);
    if (!shown.includes(GAP))
      throw new ValueError("The line has no gap; put a _ wherever something is missing.");
    const chance = new Chance(wholeNumber(seed, 0, 999_999_999, "The seed"));
    const steps = POLICIES[oneOf(policy, Object.keys(POLICIES), "policy")];
    this.#coming = frames(this.reader, shown, steps(this.reader, shown, { temperature, chance }));
    this.#pause();
    this.chosen = { line, policy, temperature, seed };
    this.#seen = [this.#coming.next().value];
    this.at = 0;
    const gaps = this.frame.fates.filter((fate) => fate === OPEN).length;
    const began = `${counted(gaps, "gap")}, ${policy}, seed ${seed}`;
    this.announcement = note ? `${began} (${note}).` : `${began}.`;
  }

  /** Take a step; false if there is none left. */
  #forward() {
    if (this.at + 1 === this.#seen.length) {
      const { value, done } = this.#coming.next();
      if (done) return false;
      this.#seen.push(value);
    }
    this.at += 1;
    return true;
  }

  /** Say what this step has done. */
  #tell() {
    const { line, fates, said } = this.frame;
    const fresh = [...fates.keys()].filter((at) => fates[at] === NEW);
    const back = fates.filter((fate) => fate === REMASKED).length;
    const each = fresh.map((at) => `${spoken(line[at])} at ${at} with ${percent(said[at])}`);
    const many = `${counted(fresh.length, this.reader.symbols.unit)} written`;
    const words = fresh.length > 3 ? [many] : each;
    if (back) words.push(`${back} remasked`);
    this.announcement = `Step ${this.at}: ${words.join(", ") || "nothing new"}.`;
  }

  #done() {
    this.announcement = `Done after ${counted(this.at, "step")}: ${this.text}`;
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  do_step() {
    this.#pause();
    if (this.#forward()) this.#tell();
    else this.#done();
  }

  do_back() {
    this.#pause();
    this.at = Math.max(0, this.at - 1);
    this.#tell();
  }

  /** Go on by itself, from the beginning if the end is reached. */
  do_play() {
    if (this.playing) return;
    if (!this.#forward()) this.at = 0;
    this.announcement = "Playing.";
    this.#wait();
  }

  do_pause() {
    this.#pause();
    this.#tell();
  }

  /** Take one step while playing. */
  do_tick() {
    if (!this.playing) return;
    if (this.#forward()) this.#wait();
    else {
      this.#pause();
      this.#done();
    }
  }

  /** Take everything back; the same will be written again. */
  do_restart() {
    this.#pause();
    this.at = 0;
    this.announcement = "From the beginning.";
  }

  /** Draw anew: another seed. */
  do_again() {
    this.begin({ seed: (this.chosen.seed + 1) % 1_000_000_000 });
  }

  do_policy({ value }) {
    this.begin({ policy: value });
  }

  do_temperature({ value }) {
    this.begin({ temperature: readTemperature(value) });
  }

  do_speed({ value }) {
    this.speed = oneOf(value, Object.keys(SPEEDS), "speed");
  }

  do_line({ typed }) {
    this.begin({ line: typed });
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.act("tick"), 1000 / SPEEDS[this.speed]);
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  // ── markup ────────────────────────────────────────────────────────────────────────────────────

  markup() {
    const { line, policy, temperature } = this.chosen;
    const atStart = this.at === 0 || null;
    const play = this.playing ? button("Pause", "pause") : button("Play", "play");
    const field = element("input", {
      type: "text",
      name: "typed",
      value: line,
      "aria-label": "A line with gaps",
    });
    const use = element("button", { type: "submit" }, "Use this line");
    const named = (names) => names.map((name) => [name, name]);
    const chosen = TEMPERATURES.find(([, value]) => Number(value) === temperature)?.[1];
    return join([
      form("line", { class: "row typed" }, field, use),
      choice("Order", "policy", named(Object.keys(POLICIES)), policy),
      choice("Temperature", "temperature", TEMPERATURES, chosen),
      choice("Speed", "speed", named(Object.keys(SPEEDS)), this.speed),
      this.strip(),
      element("p", { class: "quiet" }, LEGEND),
      element(
        "div",
        { class: "row" },
        button("Step", "step"),
        button("Back", "back", { "aria-disabled": atStart }),
        play,
        button("Start over", "restart", { "aria-disabled": atStart }),
        button("Draw anew", "again"),
      ),
      element("p", { class: "text" }, "The text: ", element("b", null, this.text)),
      status(this.announcement),
    ]);
  }

  strip() {
    const { line, fates, said } = this.frame;
    const cells = line.map((symbol, at) => {
      const sign = { [NEW]: percent(said[at]), [REMASKED]: "↺" }[fates[at]] ?? "\u00a0";
      const shown = symbol === GAP ? "▒" : visible(symbol);
      const look = `cell ${fates[at].replace(" ", "-")}`;
      return element("span", { class: look, style: APART }, shown, element("small", null, sign));
    });
    const label = `The line: ${this.text.replaceAll(GAP, "▒")}`;
    return element("div", { role: "img", "aria-label": label, class: "unmasking" }, ...cells);
  }
}

/** Write a row of buttons of which one is pressed. */
function choice(label, action, values, chosen) {
  const buttons = values.map(([name, value]) =>
    button(name, action, { "data-with-value": value, "aria-pressed": value === chosen }),
  );
  const group = { role: "group", "aria-label": label, class: "row" };
  return element("div", group, element("span", null, label), ...buttons);
}
