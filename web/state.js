// What the explorer knows besides what is predicted, and how every action changes it: the port of
// src/cloze/widgets/explorer/state.py. A state is a value: each action returns the next one, or
// throws a ValueError with a sentence for the learner.

import { ValueError, oneOf, positions, shown, typeOf, wholeNumber } from "./arguments.js";
import { MOST_HANDS, raised } from "./room.js";
import { GAP } from "./vocabulary.js";
import { counted, visible } from "./words.js";

export const VIEWS = {
  guesses: "Guesses",
  pair: "Two gaps",
  attention: "Attention",
  surprise: "Surprise",
};

const START = {
  masked: [], // positions that are hidden, ascending; the line's own gaps are always among them
  filled: {}, // by masked position, somebody's guess: it is read, and the others are predicted
  hands: {}, // by position, {symbol: how many guessed it}; a guess is a show of one hand
  focus: 0, // the position whose guesses are shown
  view: "guesses",
  layer: 0,
  head: 0,
  guessFirst: false, // keep truth and guesses back until `revealed`
  revealed: false,
  event: "", // what happened last, in words
};

const ascending = (positions) => [...new Set(positions)].sort((a, b) => a - b);

const only = (symbols, among) =>
  Object.fromEntries(Object.entries(symbols).filter(([at]) => among.includes(Number(at))));

/** One line, its masked positions and what is looked at. */
export class State {
  /** `symbols` are what the line is made of, `truth` the line. */
  constructor(symbols, truth, fields) {
    Object.assign(this, START, fields, { symbols, truth });
  }

  with(fields) {
    return new State(this.symbols, this.truth, { ...this, ...fields });
  }

  // ── what follows from it ──────────────────────────────────────────────────────────────────────

  /** Positions whose truth nobody knows. */
  get gaps() {
    return [...this.truth.keys()].filter((at) => this.truth[at] === GAP);
  }

  /** The line as text. */
  get line() {
    return this.symbols.write(this.truth);
  }

  /** Masked positions that nothing fills: what is predicted, ascending. */
  get open() {
    return this.masked.filter((at) => !(at in this.filled));
  }

  /** Whether truth and guesses are kept back. */
  get hidden() {
    return this.guessFirst && !this.revealed;
  }

  /** The line with what was filled in; no open position is hidden. */
  get held() {
    return this.truth.map((symbol, at) => this.filled[at] ?? symbol);
  }

  /** Return the true symbol; null where nobody knows it. */
  knownTruth(position) {
    return this.truth[position] === GAP ? null : this.truth[position];
  }

  // ── actions ───────────────────────────────────────────────────────────────────────────────────

  /** Read a line as it was typed or pasted. */
  static read(text, symbols, maxLen) {
    if (typeof text !== "string") throw new ValueError(`A line is text, not ${typeOf(text)}.`);
    const { line, note } = symbols.read(text, maxLen);
    const length = counted(line.length, symbols.unit);
    const event = `New line, ${length}${note && ` (${note})`}.`;
    const state = new State(symbols, line, { event });
    return state.with({ masked: state.gaps, focus: state.gaps[0] ?? 0 });
  }

  /** Take another line; how one looks at it stays. */
  withLine(text, maxLen) {
    const { view, layer, head, guessFirst } = this;
    return State.read(text, this.symbols, maxLen).with({ view, layer, head, guessFirst });
  }

  /** Take a line as it was typed or pasted; of too many characters, the first. */
  withPasted(text, maxLen) {
    const line = typeof text === "string" ? this.symbols.read(text, Infinity).line : [];
    if (line.length <= maxLen) return this.withLine(text, maxLen);
    const event = `Your line has ${line.length} characters; these are the first ${maxLen}.`;
    return this.withLine(this.symbols.write(line.slice(0, maxLen)), maxLen).with({ event });
  }

  /** Take another line and mask a part of it; "" masks nothing. */
  withExample(line, masked, maxLen) {
    const state = this.withLine(line, maxLen);
    if (!masked) return state;
    const part = this.symbols.read(masked, maxLen).line;
    const start = [...state.truth.keys()].find((at) =>
      part.every((symbol, i) => state.truth[at + i] === symbol),
    );
    if (start === undefined)
      throw new ValueError(`${shown(masked)} is not in ${shown(line)}.`);
    return state.maskSpan(start, start + part.length - 1).with({ focus: start });
  }

  /** Read a position. */
  position(at) {
    return wholeNumber(at, 0, this.truth.length - 1, "A position of this line");
  }

  /** Mask exactly these positions, and the line's own gaps, and look at one of them. */
  withMasked(values, event = "") {
    const masked = ascending([...positions(values, this.truth.length), ...this.gaps]);
    const still = masked.filter((at) => this.masked.includes(at));
    const same = masked.length === this.masked.length && masked.length === still.length;
    return this.with({
      masked,
      filled: only(this.filled, still),
      hands: only(this.hands, still),
      revealed: this.revealed && same,
      focus: masked.includes(this.focus) || !masked.length ? this.focus : masked[0],
      event: event || `${counted(masked.length, "position")} masked.`,
    });
  }

  /** Look at a position. */
  withFocus(value) {
    const at = this.position(value);
    const masked = this.masked.includes(at) ? "masked" : "not masked";
    const what = at in this.filled ? `filled with ${visible(this.filled[at])}` : masked;
    return this.with({ focus: at, event: `Position ${at}, ${what}.` });
  }

  /** Mask a position. A masked one is first looked at; the one looked at is unmasked. */
  toggle(value) {
    const at = this.position(value);
    if (!this.masked.includes(at))
      return this.withMasked([...this.masked, at], `Position ${at} masked.`).with({ focus: at });
    if (at !== this.focus) return this.withFocus(at);
    if (this.hidden) return this.with({ event: `Position ${at} stays masked until you reveal.` });
    if (this.gaps.includes(at))
      throw new ValueError(`The line does not say what belongs at ${at}; fill it instead.`);
    const others = this.masked.filter((each) => each !== at);
    return this.withMasked(others, `Position ${at} unmasked.`).with({ focus: at });
  }

  /** Mask everything from one position to another, whichever is first. */
  maskSpan(start, end) {
    const [from, to] = [this.position(start), this.position(end)];
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const span = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const event = `Positions ${first} to ${last} masked.`;
    return this.withMasked([...this.masked, ...span], event).with({ focus: to });
  }

  /** Mask the word at the focus or after it; when it is masked already, the next one. */
  maskWord() {
    const words = this.symbols.words(this.truth);
    // From the focus on, and round again from the start of the line.
    const ahead = words.filter((word) => word.at(-1) >= this.focus);
    const next = [...ahead, ...words.filter((word) => !ahead.includes(word))].find(
      (word) => !word.every((at) => this.masked.includes(at)),
    );
    if (!next) throw new ValueError("Every word is masked already; unmask some first.");
    const event = `Word from ${next[0]} to ${next.at(-1)} masked.`;
    return this.withMasked([...this.masked, ...next], event).with({ focus: next[0] });
  }

  /** Mask each position with the same probability, and at least one. */
  maskAtRandom(chance, share = 0.15) {
    const draws = this.truth.map(() => chance());
    const below = [...draws.keys()].filter((at) => draws[at] < share);
    const drawn = below.length ? below : [draws.indexOf(Math.min(...draws))];
    const state = this.withMasked(drawn, `${counted(drawn.length, "position")} masked at random.`);
    return state.with({ focus: drawn[0] });
  }

  /** Show the line again. */
  unmaskAll() {
    if (this.hidden && this.masked.length)
      throw new ValueError("“Guess first” is on; reveal, then unmask.");
    return this.withMasked([], "Nothing is masked.");
  }

  /** Put a symbol into a masked position; it is read from now on. */
  fill(value, typed) {
    const at = this.position(value);
    if (!this.masked.includes(at))
      throw new ValueError(`Position ${at} is not masked; mask it before you fill it.`);
    const symbol = this.symbols.readSymbol(typed);
    const event = `Position ${at} filled with ${visible(symbol)}; it is read as text now.`;
    return this.with({ filled: { ...this.filled, [at]: symbol }, focus: at, event });
  }

  /** Take a filled symbol out again. */
  empty(value) {
    const at = this.position(value);
    const { [at]: _, ...filled } = this.filled;
    return this.with({ filled, focus: at, event: `Position ${at} is a gap again.` });
  }

  /** Have exactly so many hands raised for a symbol at an open position. */
  withCount(value, typed, count) {
    const at = this.position(value);
    if (!this.open.includes(at))
      throw new ValueError(`Position ${at} is not an open gap; guess where something is hidden.`);
    const symbol = this.symbols.readSymbol(typed);
    const n = wholeNumber(count, 0, MOST_HANDS, "A number of hands");
    const { [at]: before, ...others } = this.hands;
    const here = Object.entries({ ...before, [symbol]: n }).filter(([, count]) => count);
    const hands = here.length ? { ...others, [at]: Object.fromEntries(here) } : others;
    const total = raised(hands[at] ?? {});
    const alone = total === 1 && n === 1;
    const event = alone
      ? `Your guess at position ${at}: ${visible(symbol)}.`
      : `Position ${at}: ${counted(n, "hand")} for ${visible(symbol)}, ${total} in all.`;
    return this.with({ hands, focus: at, event });
  }

  /** Have so many hands more raised for a symbol, or fewer if `n` is below 0. */
  raiseHands(value, typed, n) {
    const here = this.hands[this.position(value)] ?? {};
    const symbol = this.symbols.readSymbol(typed);
    const before = here[symbol] ?? 0;
    if (before + n < 0)
      throw new ValueError(`No hand is raised for ${visible(symbol)}, so none can be taken back.`);
    return this.withCount(value, symbol, before + n);
  }

  /** Keep truth and guesses back from now on, or no longer. */
  guessBeforeLooking(value) {
    const event = value ? "Guess first: truth and guesses are hidden." : "Nothing is hidden.";
    return this.with({ guessFirst: value, revealed: false, event });
  }

  /** Show truth and guesses. */
  reveal() {
    return this.with({ revealed: true, event: "Revealed." });
  }

  /** Look at guesses, two gaps, attention or surprise. */
  withView(value) {
    const view = oneOf(value, Object.keys(VIEWS), "A view");
    return this.with({ view, event: `${VIEWS[view]}.` });
  }

  /** Look at another attention head; both count from 0. */
  withHead(layerValue, headValue, nLayers, nHeads) {
    const layer = wholeNumber(layerValue, 0, Math.max(nLayers, 1) - 1, "A layer of this model");
    const head = wholeNumber(headValue, 0, Math.max(nHeads, 1) - 1, "A head of this model");
    return this.with({ layer, head, event: `Layer ${layer + 1}, head ${head + 1}.` });
  }
}
