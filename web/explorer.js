// The explorer: mask letters of a line and see what is guessed from the left, right and both. The
// port of src/cloze/widgets/explorer/widget.py.

import { ask, askOcclusion } from "./answers.js";
import { ValueError, shown, wholeNumber } from "./arguments.js";
import { explorer } from "./markup.js";
import { MOST_HANDS, ROOM, cost, raised } from "./room.js";
import { State } from "./state.js";
import { Tally } from "./tally.js";
import { Widget } from "./widget.js";

export class Explorer extends Widget {
  static actions = {
    toggle: ["at"],
    span: ["start", "end"],
    focus: ["at"],
    guess: ["at", "key", "n?"],
    take: ["at", "key"],
    count: ["at", "key", "value"],
    line: ["text"],
    example: ["value"],
    word: [],
    random: [],
    unmask: [],
    guess_first: [],
    reveal: [],
    fill: ["at", "symbol"],
    empty: ["at"],
    view: ["view"],
    layer: ["value"],
    head: ["value"],
  };

  tally = new Tally();

  /**
   * Ask `predictors`, by name; `examples` are {line, masked} by name, and the first is shown; where
   * `chance` comes from is a function that returns numbers from 0 to 1.
   */
  static async of(predictors, examples, chance = Math.random) {
    const widget = new this();
    Object.assign(widget, { predictors, examples, chance });
    await widget.become(widget.atFirst());
    return widget.open();
  }

  get maxLen() {
    return Math.min(...Object.values(this.predictors).map(({ maxLen }) => maxLen));
  }

  get last() {
    return Object.values(this.predictors).at(-1);
  }

  /** Return the state to begin with: the first letter of what the first example speaks of. */
  atFirst() {
    const [{ line, masked }] = Object.values(this.examples);
    const state = State.read(line, this.last.symbols, this.maxLen);
    const { focus } = state.withExample(line, masked, this.maxLen);
    return state.withMasked([focus]).with({ focus, event: "Ready." });
  }

  markup() {
    return explorer(this.answers, Object.keys(this.examples), this.tally.paid, this.present);
  }

  /** Take a state, and ask for predictions; that may fail, and then nothing has changed. */
  async become(state) {
    const answers = await ask(state, this.predictors, this.answers);
    if (this.state?.hidden && !state.hidden) this.count(answers);
    this.answers = answers;
    this.state = state;
  }

  /** Enter into the tally what was paid for what is now revealed. */
  count({ asked, byName }) {
    const { known } = asked.symbols;
    for (const at of asked.open) {
      const hands = asked.hands[at];
      const paid = hands && cost(hands, known, asked.knownTruth(at));
      if (!hands || paid === null) continue;
      const costs = { [ROOM]: paid };
      for (const [name, answer] of Object.entries(byName)) costs[name] = answer.cost(at);
      this.tally.note(asked.line, at, { nHands: raised(hands), costs });
    }
  }

  /** Add what the answer depends on: it takes longer, so the answer is shown before. */
  async settle(signal) {
    const answers = await askOcclusion(this.answers, this.predictors, signal);
    if (signal.aborted || answers === this.answers) return;
    this.answers = answers;
    this.refresh();
  }

  // ── what a learner's clicks and keys do ───────────────────────────────────────────────────────

  do_toggle({ at }) {
    return this.become(this.state.toggle(at));
  }

  do_span({ start, end }) {
    return this.become(this.state.maskSpan(start, end));
  }

  do_focus({ at }) {
    return this.become(this.state.withFocus(at));
  }

  do_guess({ at, key, n = 1 }) {
    const more = wholeNumber(n, 1, MOST_HANDS, "A number of hands");
    return this.become(this.state.raiseHands(at, key, more));
  }

  do_take({ at, key }) {
    return this.become(this.state.raiseHands(at, key, -1));
  }

  do_count({ at, key, value }) {
    return this.become(this.state.withCount(at, key, value));
  }

  do_line({ text }) {
    return this.become(this.state.withPasted(text, this.maxLen));
  }

  do_example({ value }) {
    if (typeof value !== "string" || !Object.hasOwn(this.examples, value))
      throw new ValueError(`There is no example ${shown(value)}; choose one from the list.`);
    const { line, masked } = this.examples[value];
    const state = this.state.withExample(line, masked, this.maxLen);
    return this.become(state.with({ event: `Example: ${value}.` }));
  }

  do_word() {
    return this.become(this.state.maskWord());
  }

  do_random() {
    return this.become(this.state.maskAtRandom(this.chance));
  }

  do_unmask() {
    return this.become(this.state.unmaskAll());
  }

  do_guess_first() {
    return this.become(this.state.guessBeforeLooking(!this.state.guessFirst));
  }

  do_reveal() {
    return this.become(this.state.reveal());
  }

  do_fill({ at, symbol }) {
    return this.become(this.state.fill(at, symbol));
  }

  do_empty({ at }) {
    return this.become(this.state.empty(at));
  }

  do_view({ view }) {
    return this.become(this.state.withView(view));
  }

  do_layer({ value }) {
    return this.become(this.withHead(value, this.state.head));
  }

  do_head({ value }) {
    return this.become(this.withHead(this.state.layer, value));
  }

  withHead(layer, head) {
    return this.state.withHead(layer, head, this.last.nLayers, this.last.nHeads);
  }
}
