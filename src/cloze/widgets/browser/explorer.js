// The explorer: mask letters of a line and see what is guessed from the left, right and both.
// What it knows are its traits, MaskExplorer's in src/cloze/widgets/explorer/widget.py. A click
// changes them and shows at once; then it asks `guesses`, and once these are shown `occlusion`,
// which takes longer. `read` and `symbol` read what is typed. What they answer says
// src/cloze/widgets/explorer/answers.py.

import { chanceOf } from "./chance.js";
import { VIEWS, explorer } from "./explorer_markup.js";
import { MOST_HANDS, raised } from "./room.js";
import { ValueError, Widget } from "./widget.js";
import { counted, visible } from "./words.js";

export const GAP = "_"; // in the truth, where not even the line knows it
const NAMES = ["truth", "words", "masked", "filled", "hands", "focus", "view", "layer", "head"];

const ascending = (positions) => [...new Set(positions)].sort((a, b) => a - b);

const only = (things, among) =>
  Object.fromEntries(Object.entries(things).filter(([at]) => among.includes(Number(at))));

export default class MaskExplorer extends Widget {
  answer = null; // to the last question that was answered
  occlusion = []; // what the last reader's answer at the focus depends on
  answered = ""; // the last question that was answered
  posed = ""; // what is seen, as a question
  #asking = false;
  #own = false; // whether it is changing its state itself
  #chance;

  constructor(model) {
    super(model);
    this.announcement = "Ready.";
    this.#chance = chanceOf(this.get("seed"));
    this.#own = true;
    this.changed();
    this.#own = false;
  }

  // ── what it knows ─────────────────────────────────────────────────────────────────────────────

  /** Return its traits, and what follows from them. */
  get state() {
    const state = Object.fromEntries(NAMES.map((name) => [name, this.get(name)]));
    const { truth, masked, filled } = state;
    return {
      ...state,
      symbols: this.get("symbols"),
      guessFirst: this.get("guess_first"),
      revealed: this.get("revealed"),
      // Whether truth and guesses are kept back.
      hidden: this.get("guess_first") && !this.get("revealed"),
      // Positions whose truth nobody knows.
      gaps: [...truth.keys()].filter((at) => truth[at] === GAP),
      // Masked positions that nothing fills: what is predicted, ascending.
      open: masked.filter((at) => !(at in filled)),
      // The line with what was filled in.
      held: truth.map((symbol, at) => filled[at] ?? symbol),
      // The true symbol; null where nobody knows it.
      truthAt: (at) => (truth[at] === GAP ? null : truth[at]),
    };
  }

  /** Change the state, and say what has happened. */
  become(values, said) {
    this.announcement = said;
    this.#own = true;
    this.set(values);
    this.#own = false;
  }

  /** Show the state at once, and ask if there is something new to ask. */
  changed() {
    const { truth, masked, filled, hands, hidden, focus, view } = this.state;
    const question = { truth, masked, filled, hands: hidden ? {} : hands, focus, view };
    const posed = JSON.stringify([question, this.get("asked"), hidden]);
    const anew = posed !== this.posed;
    if (anew && !this.#own) this.announcement = ""; // Python has changed it: what was said is past
    this.posed = posed;
    this.refresh();
    if (anew && !this.#asking) this.settled = this.#pursue();
  }

  /** Ask until the newest question is answered; of those that come meanwhile, only the last. */
  async #pursue() {
    this.#asking = true;
    while (this.answered !== this.posed) {
      const { posed } = this;
      const [question, , hidden] = JSON.parse(posed);
      const answer = await this.#ask("guesses", question);
      this.answered = posed;
      if (posed !== this.posed) continue;
      this.answer = answer;
      this.occlusion = [];
      this.refresh();
      const open = question.masked.includes(question.focus) && !(question.focus in question.filled);
      if (!answer || question.view !== "guesses" || hidden || !open) continue;
      this.#asking = false; // what is asked next need not wait for this
      const occlusion = await this.#ask("occlusion", question);
      if (posed !== this.posed || this.#asking) return;
      this.occlusion = (occlusion ?? []).map(Number);
      this.refresh();
    }
    this.#asking = false;
  }

  /** Ask; what goes wrong is shown, and null answered. */
  async #ask(what, question) {
    const { posed } = this;
    try {
      const answer = await this.ask(what, question);
      if (this.#failed) await this.attempt(() => {}); // what failed before does so no more
      this.#failed = false;
      return answer;
    } catch (error) {
      if (posed !== this.posed) return null;
      this.#failed = true;
      await this.attempt(() => {
        throw error;
      });
      return null;
    }
  }

  #failed = false; // whether the last question was

  markup() {
    return explorer(this);
  }

  // ── what a hand does ──────────────────────────────────────────────────────────────────────────

  /** Mask exactly these positions, and the line's own gaps, and look at one of them. */
  mask(positions, said, focus) {
    const { masked: before, filled, hands, focus: seen, gaps, revealed } = this.state;
    const masked = ascending([...positions, ...gaps]);
    const still = masked.filter((at) => before.includes(at));
    const same = masked.length === before.length && masked.length === still.length;
    this.become(
      {
        masked,
        filled: only(filled, still),
        hands: only(hands, still),
        revealed: revealed && same,
        focus: focus ?? (masked.includes(seen) || !masked.length ? seen : masked[0]),
      },
      said,
    );
  }

  /** Mask a position. A masked one is first looked at; the one looked at is unmasked. */
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

  /** Mask everything from one position to another, whichever is first. */
  do_span({ start, end }) {
    const [first, last] = [Number(start), Number(end)].sort((a, b) => a - b);
    const span = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const said = `Positions ${first} to ${last} masked.`;
    this.mask([...this.get("masked"), ...span], said, Number(end));
  }

  /** Look at a position. */
  do_focus({ at: value }) {
    const at = Number(value);
    const { masked, filled } = this.state;
    const hides = masked.includes(at) ? "masked" : "not masked";
    const what = at in filled ? `filled with ${visible(filled[at])}` : hides;
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
    const draws = this.get("truth").map(() => this.#chance());
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

  /** Take a line as it was typed or pasted; of too many characters, the first. */
  async do_line({ text }) {
    const { note, n, ...line } = await this.ask("read", { text });
    const { length } = line.truth;
    const { unit } = this.get("symbols");
    const fits = `New line, ${counted(length, unit)}${note && ` (${note})`}.`;
    const cut = `Your line has ${counted(n, unit)}; these are the first ${length}.`;
    this.take(line, n > length ? cut : fits);
  }

  /** Take one of the examples. */
  do_example({ value }) {
    const example = this.get("examples").find(({ name }) => name === value);
    if (example) this.take(example, `Example: ${value}.`);
  }

  /** Take a line, {truth, words, masked}; how one looks at it stays. */
  take({ truth, words, masked = [] }, said) {
    const gaps = [...truth.keys()].filter((at) => truth[at] === GAP);
    const all = ascending([...masked, ...gaps]);
    const focus = masked[0] ?? gaps[0] ?? 0;
    const fresh = { filled: {}, hands: {}, revealed: false };
    this.become({ truth, words, masked: all, focus, ...fresh }, said);
  }

  /** Put a symbol into a masked position; it is read from now on. */
  do_fill({ at: value, symbol }) {
    const at = Number(value);
    const { masked, filled } = this.state;
    if (!masked.includes(at)) return; // the bars were of a moment ago
    const said = `Position ${at} filled with ${visible(symbol)}; it is read as text now.`;
    this.become({ filled: { ...filled, [at]: symbol }, focus: at }, said);
  }

  /** Take a filled symbol out again. */
  do_empty({ at: value }) {
    const at = Number(value);
    const { [at]: _, ...filled } = this.get("filled");
    this.become({ filled, focus: at }, `Position ${at} is a gap again.`);
  }

  /** Have exactly so many hands raised for a symbol at an open position. */
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
    const said =
      total === 1 && n === 1
        ? `Your guess at position ${at}: ${visible(key)}.`
        : `Position ${at}: ${counted(n, "hand")} for ${visible(key)}, ${total} in all.`;
    this.become({ hands, focus: at }, said);
  }

  /** Raise a hand for a symbol, or several. */
  async do_guess({ at, key, n = 1 }) {
    const { symbols, open } = this.state;
    if (!open.includes(Number(at)))
      throw new ValueError(`Position ${at} is not an open gap; guess where something is hidden.`);
    const symbol = symbols.known?.includes(key) ? key : await this.ask("symbol", { typed: key });
    const before = this.get("hands")[at]?.[symbol] ?? 0;
    this.do_count({ at, key: symbol, value: before + Number(n) });
  }

  /** Take a hand back. */
  do_take({ at, key }) {
    return this.do_guess({ at, key, n: -1 });
  }

  /** Hide truth and guesses until they are revealed, or no longer. */
  do_guess_first() {
    const chosen = !this.get("guess_first");
    const said = chosen ? "Guess first: truth and guesses are hidden." : "Nothing is hidden.";
    this.become({ guess_first: chosen, revealed: false }, said);
  }

  /** Show truth and guesses. */
  do_reveal() {
    this.become({ revealed: true }, "Revealed.");
  }

  /** Look at guesses, two gaps, attention or surprise. */
  do_view({ view }) {
    this.become({ view }, `${VIEWS[view]}.`);
  }

  /** Look at another attention head; layers and heads count from 0. */
  do_head({ layer: l, head: h }) {
    const [layer, head] = [Number(l), Number(h)];
    this.become({ layer, head }, `Layer ${layer + 1}, head ${head + 1}.`);
  }
}
