// The explorer: mask letters of a line and see what is guessed from the left, right and both.
// What it knows are its traits, MaskExplorer's in src/cloze/explorer/widget.py. A click
// changes them, with all that follows from it, and shows at once; then it asks `guesses`, and once
// these are also shown what the view asks. `read` and `symbol` read what is typed. What is answered
// says src/cloze/explorer/answers.py.

import { join } from "../widgets/browser/element.js";
import { ValueError, Widget } from "../widgets/browser/widget.js";
import { counted, spoken } from "../widgets/browser/words.js";
import { cost, MOST_HANDS, ROOM, raised } from "./hands.js";
import { AFRESH, relevant, UNTOUCHED, within } from "./inside.js";
import { explorer } from "./markup.js";
import { written } from "./parts.js";
import { VIEWS } from "./views.js";

/**
 * @import { Answers, Guesses, Line, Question, State, Traits } from "./parts.js"
 * @import { Settings } from "./inside.js"
 * @import { WidgetModel } from "../widgets/browser/widget.js"
 *
 * @typedef {number | string} Sent  A whole number; markup sends it as text.
 */

export const GAP = "_"; // in the truth, where not even the line knows it

/** @param {number[]} positions */
const ascending = (positions) => [...new Set(positions)].sort((a, b) => a - b);

/**
 * Return what there is at some of the positions.
 * @template T
 * @param {Record<number, T>} things
 * @param {number[]} among
 * @returns {Record<number, T>}
 */
const only = (things, among) =>
  Object.fromEntries(Object.entries(things).filter(([at]) => among.includes(Number(at))));

/** @extends {Widget<Traits, Answers>} */
export default class MaskExplorer extends Widget {
  /** @type {Guesses | null} */
  answer = null; // to the last question that was answered
  /** @type {unknown} */
  more = null; // the answer to what the view itself asks
  waits = false; // whether that is under way
  playing = 0; // the timer of Inside while it plays
  shown = { panel: join([]), holds: false, text: "", sums: join([]) }; // until the next answer has come
  single = false; // whether there is always one gap and one view
  answered = ""; // the last question that was answered
  posed = ""; // what is seen, as a question
  #asking = false;
  #guessed = ""; // what the last answer guesses
  #own = false; // whether it is changing its state itself

  static {
    for (const { actions } of Object.values(VIEWS)) Object.assign(MaskExplorer.prototype, actions);
  }

  /** @param {WidgetModel<Traits, Answers>} model */
  constructor(model) {
    super(model);
    this.announcement = "";
    this.#own = true;
    this.changed();
    this.#own = false;
  }

  // ── what it knows ─────────────────────────────────────────────────────────────────────────────

  /**
   * Return its traits, and what follows from them.
   * @returns {State}
   */
  get state() {
    const truth = this.get("truth");
    const masked = this.get("masked");
    const filled = this.get("filled");
    const mode = this.get("guess_first");
    const once = mode === "once";
    const revealed = this.get("revealed");
    const guessFirst = once ? !revealed : mode;
    return {
      truth,
      words: this.get("words"),
      masked,
      filled,
      hands: this.get("hands"),
      focus: this.get("focus"),
      view: this.get("view"),
      settings: within(this.get("inside"), /** @type {any} */ (this.more)),
      symbols: this.get("symbols"),
      guessFirst,
      once,
      revealed,
      hidden: guessFirst && !revealed,
      gaps: [...truth.keys()].filter((at) => truth[at] === GAP),
      open: masked.filter((at) => !(at in filled)),
      held: truth.map((symbol, at) => filled[at] ?? symbol),
      truthAt: (at) => (truth[at] === GAP ? null : truth[at]),
    };
  }

  /**
   * Change the state, and say what has happened.
   * @param {Partial<Traits>} values
   * @param {string} announcement
   */
  become(values, announcement) {
    this.announcement = announcement;
    this.#own = true;
    this.set(values);
    this.#own = false;
  }

  /**
   * Change how the inside is looked at.
   * @param {Partial<Settings>} settings
   * @param {string} announcement
   */
  look(settings, announcement) {
    this.become({ inside: { ...this.get("inside"), ...settings } }, announcement);
  }

  /** Show the state at once, and ask if there is something new to ask. */
  changed() {
    const { truth, masked, filled, hands, hidden, focus, view, settings } = this.state;
    const inside = relevant(view === "inside" ? settings : UNTOUCHED, truth);
    const shown = hidden ? {} : hands; // a hand that is raised asks nothing yet
    const question = { truth, masked, filled, hands: shown, focus, inside };
    const posed = JSON.stringify([question, view, this.get("revision"), hidden]);
    const anew = posed !== this.posed;
    if (anew && !this.#own) this.announcement = ""; // Python has changed it: clear the old announcement
    this.posed = posed;
    this.refresh();
    if (anew && !this.#asking) this.settled = this.#pursue();
  }

  /** Ask until the newest question is answered; of those that come meanwhile, only the last. */
  async #pursue() {
    this.#asking = true;
    while (this.answered !== this.posed) {
      const { posed } = this;
      const [question] = JSON.parse(posed);
      // What is changed inside the model changes no guess that is shown.
      const guessed = JSON.stringify([{ ...question, inside: null }, this.get("revision")]);
      const known = guessed === this.#guessed && this.answer;
      const answer = known || (await this.attempt(() => this.ask("guesses", question))) || null;
      this.answered = posed;
      if (posed !== this.posed) continue;
      const what = answer && VIEWS[this.get("view")].asks?.(this.state);
      this.answer = answer;
      if (answer) this.#enter(answer);
      this.#guessed = guessed;
      this.more = null;
      this.waits = Boolean(what);
      if (!known) this.refresh();
      if (!what) continue;
      this.#asking = false; // what is asked next need not wait for this
      const more = await this.attempt(() => this.ask(what, question));
      if (posed !== this.posed || this.#asking) return;
      this.more = more;
      this.waits = false;
      this.refresh();
    }
    this.#asking = false;
  }

  /**
   * Enter into the tally what was paid for the gaps that a room has guessed, each symbol of a line once.
   * @param {Guesses} answer
   */
  #enter({ readers }) {
    const { truth, open, hands, hidden, once, symbols, truthAt } = this.state;
    if (hidden || once) return;
    const before = this.get("paid");
    const line = written(symbols, truth);
    const fresh = open.filter(
      (at) => hands[at] && !before.some((each) => each.line === line && each.at === at),
    );
    const paid = fresh.flatMap((at) => {
      const known = truthAt(at);
      if (known === null) return [];
      const costs = readers.map(({ name, costs }) => [name, costs[at]]);
      const room = [ROOM, cost(hands[at], known, symbols.n)];
      return { line, at, n_hands: raised(hands[at]), costs: Object.fromEntries([room, ...costs]) };
    });
    if (paid.length) this.become({ paid: [...before, ...paid] }, this.announcement);
  }

  markup() {
    return explorer(this);
  }

  // ── what a hand does ──────────────────────────────────────────────────────────────────────────

  /**
   * Mask exactly these positions, and the line's own gaps, and select one of them. What was filled in
   * or guessed stays where it is masked still; what was revealed does only if nothing else is masked,
   * unless one guesses once for a line.
   * @param {number[]} positions
   * @param {string} announcement
   * @param {number} [focus]
   */
  mask(positions, announcement, focus) {
    const { masked: before, filled, hands, focus: seen, gaps, once, revealed } = this.state;
    const masked = ascending([...positions, ...gaps]);
    const still = masked.filter((at) => before.includes(at));
    const same = masked.length === before.length && masked.length === still.length;
    this.become(
      {
        masked,
        filled: only(filled, still),
        hands: only(hands, still),
        revealed: revealed && (once || same),
        focus: focus ?? (masked.includes(seen) || !masked.length ? seen : masked[0]),
      },
      announcement,
    );
  }

  /**
   * Mask a position. A masked one is first selected; the selected one is unmasked.
   * @param {{ at: Sent }} sent
   */
  do_toggle({ at: value }) {
    const at = Number(value);
    const { masked, focus, hidden, gaps } = this.state;
    if (!masked.includes(at)) return this.mask([...masked, at], `Position ${at} masked.`, at);
    if (at !== focus) return this.do_focus({ at });
    if (hidden) return this.become({}, `Position ${at} stays masked until you reveal.`);
    if (gaps.includes(at))
      throw new ValueError(`The line does not say what belongs at ${at}; fill it instead.`);
    this.mask(
      masked.filter((each) => each !== at),
      `Position ${at} unmasked.`,
      at,
    );
  }

  /**
   * Mask everything from one position to another, whichever is first.
   * @param {{ start: Sent, end: Sent }} sent
   */
  do_span({ start, end }) {
    const [first, last] = [Number(start), Number(end)].sort((a, b) => a - b);
    const span = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const announcement = `Positions ${first} to ${last} masked.`;
    this.mask([...this.get("masked"), ...span], announcement, Number(end));
  }

  /**
   * Select a position.
   * @param {{ at: Sent }} sent
   */
  do_focus({ at: value }) {
    const at = Number(value);
    const { masked, filled } = this.state;
    const hides = masked.includes(at) ? "masked" : "not masked";
    const what = at in filled ? `filled with ${spoken(filled[at])}` : hides;
    this.become({ focus: at }, `Position ${at}, ${what}.`);
  }

  /** Mask the word at the focus or after it; when it is masked already, the next one. */
  do_word() {
    const { words, masked, focus } = this.state;
    // From the focus on, and round again from the start of the line.
    const ahead = words.filter(([, stop]) => stop > focus);
    const spans = [...ahead, ...words.filter(([, stop]) => stop <= focus)].map(([start, stop]) =>
      Array.from({ length: stop - start }, (_, i) => start + i),
    );
    const next = spans.find((word) => !word.every((at) => masked.includes(at)));
    if (!next) throw new ValueError("Every word is masked already; unmask some first.");
    this.mask([...masked, ...next], `Word from ${next[0]} to ${next.at(-1)} masked.`, next[0]);
  }

  /** Mask each position with a probability of 15%, and at least one. */
  do_random() {
    const draws = this.get("truth").map(() => Math.random());
    const below = [...draws.keys()].filter((at) => draws[at] < 0.15);
    const drawn = below.length ? below : [draws.indexOf(Math.min(...draws))];
    this.mask(drawn, `${counted(drawn.length, "position")} masked at random.`, drawn[0]);
  }

  /** Show the line again. */
  do_unmask() {
    const { hidden, masked } = this.state;
    if (hidden && masked.length) throw new ValueError("“Guess first” is on; reveal, then unmask.");
    this.mask([], "Nothing is masked.");
  }

  /**
   * Take a line as it was typed or pasted; of too many characters, the first.
   * @param {{ text: string }} sent
   */
  async do_line({ text }) {
    const { note, n, ...line } = await this.ask("read", { text });
    const { length } = line.truth;
    const { unit } = this.get("symbols");
    const fits = `New line, ${counted(length, unit)}${note && ` (${note})`}.`;
    const cut = `Your line has ${counted(n, unit)}; these are the first ${length}.`;
    this.take(line, n > length ? cut : fits);
    if (this.state.once) this.become({ revealed: true }, this.announcement); // who typed it knows it
  }

  /**
   * Take one of the examples.
   * @param {{ value: string }} sent
   */
  do_example({ value }) {
    const example = this.get("examples").find(({ name }) => name === value);
    if (example) this.take(example, `Example: ${value}.`);
  }

  /**
   * Take a line; how one looks at it stays.
   * @param {Line & { masked?: number[] }} line
   * @param {string} announcement
   */
  take({ truth, words, masked = [] }, announcement) {
    const gaps = [...truth.keys()].filter((at) => truth[at] === GAP);
    const all = ascending([...masked, ...gaps]);
    const focus = masked[0] ?? gaps[0] ?? 0;
    const revealed = this.state.once && !all.length; // there is nothing to guess
    const inside = { ...this.get("inside"), ...AFRESH };
    const fresh = { filled: {}, hands: {}, revealed, inside };
    this.become({ truth, words, masked: all, focus, ...fresh }, announcement);
  }

  /**
   * Put a symbol into a masked position; it is read from now on.
   * @param {{ at: Sent, symbol: string }} sent
   */
  do_fill({ at: value, symbol }) {
    const at = Number(value);
    const { masked, filled } = this.state;
    if (!masked.includes(at)) return; // a stale click
    const announcement = `Position ${at} filled with ${spoken(symbol)}; it is read as text now.`;
    this.become({ filled: { ...filled, [at]: symbol }, focus: at }, announcement);
  }

  /**
   * Take a filled symbol out again.
   * @param {{ at: Sent }} sent
   */
  do_empty({ at: value }) {
    const at = Number(value);
    const { [at]: _, ...filled } = this.get("filled");
    this.become({ filled, focus: at }, `Position ${at} is a gap again.`);
  }

  /**
   * Have exactly so many hands raised for a symbol at an open position.
   * @param {{ at: Sent, key: string, value: Sent }} sent
   */
  do_count({ at: value, key, value: typed }) {
    const at = Number(value);
    const n = Number(typed);
    if (!String(typed).trim() || !Number.isInteger(n) || n < 0 || n > MOST_HANDS)
      throw new ValueError(
        `A number of hands is a whole number from 0 to ${MOST_HANDS}, not ${typed || "empty"}.`,
      );
    const { [at]: before, ...others } = this.get("hands");
    const here = Object.entries({ ...before, [key]: n }).filter(([, count]) => count);
    const hands = here.length ? { ...others, [at]: Object.fromEntries(here) } : others;
    const total = raised(hands[at] ?? {});
    const announcement =
      total === 1 && n === 1
        ? `Your guess at position ${at}: ${spoken(key)}.`
        : `Position ${at}: ${counted(n, "hand")} for ${spoken(key)}, ${total} in all.`;
    this.become({ hands, focus: at }, announcement);
  }

  /**
   * Raise a hand for a symbol. In a game of one guess a line there is one hand, and it moves.
   * @param {{ at: Sent, key: string }} sent
   */
  async do_guess({ at, key }) {
    const { symbols, open, once } = this.state;
    if (!open.includes(Number(at)))
      throw new ValueError(`Position ${at} is not an open gap; guess where something is masked.`);
    const symbol = symbols.known?.includes(key) ? key : await this.ask("symbol", { typed: key });
    if (once) {
      const hands = { ...this.get("hands"), [Number(at)]: { [symbol]: 1 } };
      return this.become({ hands }, `Your guess at position ${at}: ${spoken(symbol)}.`);
    }
    const before = this.get("hands")[Number(at)]?.[symbol] ?? 0;
    this.do_count({ at, key: symbol, value: before + 1 });
  }

  /** Hide truth and guesses until they are revealed, or no longer. */
  do_guess_first() {
    const chosen = !this.state.guessFirst;
    const announcement = chosen
      ? "Guess first: truth and guesses are shown when you reveal."
      : "Truth and guesses are shown at once.";
    this.become({ guess_first: chosen, revealed: false }, announcement);
  }

  /** Show truth and guesses. */
  do_reveal() {
    const { once, hands, focus, truthAt } = this.state;
    const [own] = Object.keys((once && hands[focus]) || {});
    const judged = own === truthAt(focus) ? "and it is right" : "and it is wrong";
    const told = own && truthAt(focus) ? `You guessed ${spoken(own)}, ${judged}.` : "Revealed.";
    this.become({ revealed: true }, told);
  }

  /**
   * Choose a view.
   * @param {{ view: string }} sent
   */
  do_view({ view }) {
    this.become({ view }, `${VIEWS[view].title}.`);
  }
}
