// The gap: one line in large letters. Somebody types what is missing, the readers place their bets one
// after the other, and a sentence says what happened. It is the explorer in another dress: the lines
// are its examples, and the bets are its answer.

import { row } from "../widgets/browser/cells.js";
import { element, form, status } from "../widgets/browser/element.js";
import { ValueError } from "../widgets/browser/widget.js";
import { fixed } from "../widgets/browser/words.js";
import { largest, titleOf, written } from "./parts.js";
import MaskExplorer from "./widget.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 * @import { Traits } from "./parts.js"
 *
 * @typedef {Traits["examples"][number] & Pick<Traits, "symbols">} Played  A line, and what it is made of.
 *
 * @typedef {object} Bet
 * @property {string} name  Whose it is.
 * @property {string} symbol
 * @property {number} p
 */

const PAUSES = [300, 600, 600]; // milliseconds before the bet of each reader
const RANKS = ["first", "second", "third", "fourth", "fifth"];
const OF_WORDS = "The model that reads words";

/** @param {string} symbol */
const named = (symbol) => (symbol === " " ? "a space" : symbol);

/** @param {Bet} bet */
const said = ({ symbol, p }) =>
  `${p >= 0.9 ? "is sure of" : p >= 0.5 ? "bets on" : "would guess"} ${named(symbol)}`;

/** @param {number} ms */
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export default class Gap extends MaskExplorer {
  static presents = false;
  announcement = "";
  /** @type {Played[]} Those that have come: letters first, then words. */
  lines = this.get("examples").map((line) => ({ ...line, symbols: this.get("symbols") }));
  complete = false; // whether all lines have come
  at = 0; // the number of the line that is played
  typed = ""; // one's own answer
  closed = false; // whether it has been placed
  placed = 0; // how many readers have placed theirs
  finished = false; // whether all lines have been played once
  /** @type {Record<string, boolean[]>} Whether an answer was right, by whose it was. */
  score = {};
  /** @type {Promise<void> | undefined} */
  #coming;

  get missing() {
    return this.get("truth")[this.get("focus")];
  }

  get wide() {
    return this.get("symbols").wide;
  }

  /** Whether all bets on this line have been placed. */
  get over() {
    return this.placed > 0 && this.placed === this.answer?.readers.length;
  }

  get last() {
    return this.complete && this.at === this.lines.length - 1;
  }

  /**
   * What each reader finds likeliest; where there is one alone, its five likeliest.
   * @returns {Bet[]}
   */
  get bets() {
    const { readers = [], candidates } = this.answer ?? {};
    return readers.flatMap(({ name }, i) => {
      const p = (candidates ?? []).map((each) => each.p[i]);
      return largest(p, this.wide ? 5 : 1).map((best) => {
        return { name, symbol: candidates?.[best].symbol ?? "", p: p[best] };
      });
    });
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  /**
   * Take a letter: from a key, or from the field, where it stands beside the one before.
   * @param {{ key?: string, value?: string }} sent
   */
  do_type({ value = "", key = value.replace(this.typed, "") }) {
    const letter = key.toLowerCase();
    if (this.closed || !letter) return;
    if (!this.get("symbols").known?.includes(letter))
      throw new ValueError("Type a letter from a to z, or a space.");
    this.typed = letter;
    this.chosen();
  }

  /** A letter has been typed: in this game it is a bet at once. */
  chosen() {
    this.place();
  }

  /**
   * Place one's own bet, on a word as it was typed; or go on to the next line.
   * @param {{ text?: string }} sent
   */
  async do_go({ text = "" }) {
    if (this.over) return this.next();
    if (this.closed) return; // a key too many
    if (!text.trim() && !this.typed) throw new ValueError("Type what is missing first.");
    this.typed ||= text.trim().toLowerCase();
    this.place();
  }

  /** Place one's own bet; the readers follow. */
  place() {
    this.closed = true;
    this.announcement = "";
    this.#coming ??= this.load();
    this.settled = this.#follow(this.settled);
  }

  /**
   * Show the bets of the readers, one after the other.
   * @param {Promise<void>} answered
   */
  async #follow(answered) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const ms of this.wide ? PAUSES.slice(0, 1) : PAUSES) {
      await Promise.all([answered, pause(still ? 0 : ms)]);
      if (!this.answer) return;
      this.placed += 1;
      if (this.over) this.count();
      this.refresh();
    }
  }

  /** Enter into the score who was right. */
  count() {
    const bets = this.wide ? [{ ...this.bets[0], name: "words" }] : this.bets;
    for (const { name, symbol } of [{ name: "you", symbol: this.typed }, ...bets])
      this.score[name] = [...(this.score[name] ?? []), symbol === this.missing];
    this.finished ||= this.last;
  }

  /** Have the lines of words loaded while those of letters are played. */
  async load() {
    const words = await /** @type {any} */ (this).ask("words").catch(() => null);
    for (const line of words?.examples.slice(-2) ?? [])
      this.lines.push({ ...line, symbols: words.symbols });
    this.complete = true;
    this.refresh();
  }

  /** Go on to the next line, or begin again. */
  async next() {
    if (this.at === this.lines.length - 1 && !this.complete) {
      this.announcement = "The model that reads words is on its way.";
      this.refresh();
      await this.#coming;
    }
    this.at = (this.at + 1) % this.lines.length;
    if (this.at === 0) this.score = {};
    this.typed = "";
    this.closed = false;
    this.placed = 0;
    const { symbols, ...line } = this.lines[this.at];
    this.set({ symbols });
    this.take(line, "");
  }

  // ── how it looks ──────────────────────────────────────────────────────────────────────────────

  markup() {
    const { over, closed, wide, finished, at } = this;
    const asks = `Type the missing ${wide ? "word" : "letter"}.`;
    const label = over ? (this.last ? "Play again" : "Next") : this.label;
    const go = label && element("button", { type: "submit", class: "primary" }, label);
    const played = at > 0 || over || finished;
    return form(
      "go",
      {
        class: `gap-game${played ? " played" : ""}${finished ? " finished" : ""}`,
        "data-keys": closed || wide ? null : "type",
        "data-space": over ? "go" : null,
      },
      this.line(),
      closed ? this.table() : this.stake(asks),
      status(over && !this.announcement ? this.sentence() : this.announcement),
      row(closed && !over ? null : go, this.tally()),
    );
  }

  /** What the button says that places a bet; a letter needs none. */
  get label() {
    return this.wide ? "Guess" : "";
  }

  /**
   * Write what is asked for.
   * @param {string} asks
   */
  stake(asks) {
    return element("p", { class: "asks" }, asks);
  }

  /** Write the line; what those see who have bet is lit. */
  line() {
    const { truth, focus, symbols } = this.state;
    const { wide, closed, over } = this;
    const space = wide ? " " : "";
    const before = written(symbols, truth.slice(0, focus)) + space;
    const after = space + written(symbols, truth.slice(focus + 1));
    const start = before.lastIndexOf(" ") + 1; // of the word that has the gap
    const end = `${after} `.indexOf(" ");
    /** @type {(side: string, lit: boolean, text: string) => Markup} */
    const part = (side, lit, text) =>
      element("span", { class: `seen-${side}${lit ? " lit" : ""}` }, text);
    const left = (/** @type {string} */ text) => part("left", this.placed > 0, text);
    const right = (/** @type {string} */ text) =>
      part("right", wide ? this.placed > 0 : this.placed > 1, text);
    const shown = over ? this.missing : this.typed;
    const field = element("input", {
      type: "text",
      name: "text",
      value: shown,
      class: over ? "truth" : null,
      style: `--wide: ${wide ? Math.max(shown.length, 5) : 1}`,
      readonly: closed,
      maxlength: wide ? 24 : 2,
      "data-do": wide ? null : "type",
      "data-at-once": !wide,
      "data-focus": !closed,
      "aria-label": `Missing ${wide ? "word" : "letter"}: ${before}…${after}`,
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
    });
    return element(
      "p",
      { class: "large", style: `--n: ${truth.join(space).length}` },
      left(before.slice(0, start)),
      element("span", { class: "whole" }, left(before.slice(start)), field, right(after.slice(0, end))),
      right(after.slice(end)),
    );
  }

  /** Write one's own bet, and those that the readers have placed. */
  table() {
    const bets = this.wide ? (this.placed ? this.bets : []) : this.bets.slice(0, this.placed);
    const tiles = bets.map(({ name, symbol, p }, i) => {
      const title = this.wide ? `its ${RANKS[i]} guess` : titleOf(name);
      return this.tile(name, symbol, title, this.note(name, p), p);
    });
    const own = this.tile("you", this.typed, "you", this.note("you"));
    return element("div", { class: "tiles" }, own, ...tiles);
  }

  /**
   * Write below a bet what it is.
   * @param {string} _  Whose it is.
   * @param {number} [p]
   */
  note(_, p) {
    return p === undefined ? "" : fixed(p, 2);
  }

  /**
   * Write a bet.
   * @param {string} name
   * @param {string} symbol
   * @param {string} title  Who has placed it.
   * @param {string} note
   * @param {number} [p]
   */
  tile(name, symbol, title, note, p) {
    const right = symbol === this.missing;
    const [look, mark] = right ? ["good", "✓ "] : ["", "✗ "];
    return element(
      "div",
      { class: `tile ${name}`, "data-key": `${title} ${this.at}` },
      element("b", { style: p && `--p: ${fixed(p, 2)}` }, symbol === " " ? "space" : symbol),
      element("span", null, title),
      element("span", { class: `number ${this.over ? look : ""}` }, this.over ? mark : "", note),
    );
  }

  /** Say what has happened, from the numbers. */
  sentence() {
    const { bets, missing } = this;
    const has = (/** @type {Bet} */ { symbol }) => symbol === missing;
    const you = this.typed === missing ? "You have it." : `It was ${named(missing)}.`;
    if (this.wide) {
      const rank = bets.findIndex(has);
      const first = `${you} ${OF_WORDS} ${said(bets[0])}`;
      if (!rank) return `${first}, too.`;
      return `${first}; ${missing} is ${rank < 0 ? "not among its five" : `its ${RANKS[rank]}`}.`;
    }
    const [left, right, both] = bets;
    const alone = `${you} Left alone ${said(left)}, right alone ${said(right)}.`;
    const one = has(left) ? (has(right) ? "either side" : "the left side") : "the right side";
    const some = has(left) || has(right);
    if (!has(both)) return `${alone} Together they get it wrong${some ? `; ${one} had it` : ", too"}.`;
    return some ? `${alone} Here ${one} is enough.` : `${alone} Only together do they know.`;
  }

  /** Write who was right how often. */
  tally() {
    const counts = Object.entries(this.score).map(([name, answers]) => {
      const n = answers.filter(Boolean).length;
      const label = `${name}: ${n} of ${answers.length} right`;
      const dots = answers.map((right) => (right ? "●" : "○")).join("");
      return element("span", { class: name, role: "img", "aria-label": label }, `${name} ${dots}`);
    });
    return element("p", { class: "score" }, ...counts);
  }
}
