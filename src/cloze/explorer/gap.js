// The gap: one line in large letters. Somebody types what is missing, the readers place their bets one
// after the other, and a sentence says what happened. It is the explorer in another dress: the lines are
// its examples, and the bets are its answer. With `frequencies` it is played for stakes: one also says how
// sure one is, and everybody pays −log of what the truth was given.

import { row } from "../widgets/browser/cells.js";
import { element, form, status } from "../widgets/browser/element.js";
import { ValueError } from "../widgets/browser/widget.js";
import { fixed, inNats, percent, spoken, sum } from "../widgets/browser/words.js";
import { largest, mean, titleOf, written } from "./parts.js";
import MaskExplorer from "./widget.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 * @import { Traits } from "./parts.js"
 *
 * @typedef {Traits["examples"][number] & Pick<Traits, "symbols">} Played  A line, and what it is made of.
 * @typedef {{ name: string, symbol: string, p: number, title?: string }} Bet  `name` says whose it is.
 */

const PAUSES = [300, 600, 600]; // milliseconds before the bet of each reader
const RANKS = ["first", "second", "third", "fourth", "fifth"];
/** @type {Record<string, string>} By who has the right letter. */
const ENDS = {
  "left,right,both": "Either side is enough.",
  "left,both": "The left side is enough.",
  "right,both": "The right side is enough.",
  both: "Only together do they know.",
  "": "Nobody knows it, not even together.",
};
const PLAIN = { autocomplete: "off", autocapitalize: "none", spellcheck: "false" };

/** @param {string} symbol */
const named = (symbol) => (symbol === " " ? "a space" : symbol);

/** @param {Bet} bet */
const said = ({ symbol, p }) =>
  `${p >= 0.9 ? "is sure of" : p >= 0.5 ? "bets on" : "would guess"} ${named(symbol)}`;

/** @type {(side: string, lit: boolean, text: string) => Markup} */
const part = (side, lit, text) =>
  element("span", { class: lit ? `seen-${side} lit` : `seen-${side}` }, text);

export default class Gap extends MaskExplorer {
  static presents = false;
  announcement = "";
  /** @type {Record<string, number> | null} */
  frequencies = /** @type {any} */ (this.model).get("frequencies") ?? null;
  /** @type {Played[]} Those that have come: letters first, then words. */
  lines = this.get("examples").map((line) => ({ ...line, symbols: this.get("symbols") }));
  at = 0; // the number of the line that is played
  typed = ""; // one's own answer
  sure = 0.5; // how sure one is of it
  closed = false; // whether it has been placed
  placed = 0; // how many readers have placed theirs
  finished = false; // whether all lines have been played once
  /** @type {Record<string, number | boolean>[]} For each line who was right or, for stakes, what one paid. */
  rounds = [];
  /** @type {Promise<void> | undefined} Until all lines have come. */
  coming;
  complete = this.frequencies !== null;

  get truth() {
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
   * What each reader finds likeliest; of the one that reads words, its five likeliest.
   * @returns {Bet[]}
   */
  get bets() {
    const { readers = [], candidates } = this.answer ?? {};
    return readers.flatMap(({ name }, i) => {
      const p = (candidates ?? []).map((each) => each.p[i]);
      return largest(p, this.wide ? 5 : 1).map((best, rank) => {
        const title = this.wide ? `its ${RANKS[rank]} guess` : titleOf(name);
        return { name, symbol: candidates?.[best].symbol ?? "", p: p[best], title };
      });
    });
  }

  /**
   * What everybody has paid. Of one's own bet, all other letters share the rest as they are frequent.
   * @returns {Record<string, number>}
   */
  get costs() {
    const { truth, typed, sure, frequencies, answer } = this;
    const at = this.get("focus");
    const all = frequencies ?? {};
    const rest = ((1 - sure) * all[truth]) / (1 - all[typed]);
    const paid = (answer?.readers ?? []).map(({ name, costs }) => [name, Number(costs[at])]);
    const you = -Math.log(typed === truth ? sure : rest);
    return { you, ...Object.fromEntries(paid), "letter counts": -Math.log(all[truth]) };
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
    this.announcement = this.frequencies ? `Your letter: ${spoken(letter)}.` : "";
    if (!this.frequencies) this.#place();
  }

  /**
   * Say how sure one is, in percent.
   * @param {{ value: string }} sent
   */
  do_sure({ value }) {
    this.sure = Number(value) / 100;
  }

  /**
   * Place one's own bet, on a word as it was typed; or go on to the next line.
   * @param {{ text?: string }} sent
   */
  async do_go({ text = "" }) {
    if (this.over) return this.#next();
    if (this.closed) return; // a key too many
    this.typed ||= text.trim().toLowerCase();
    if (!this.typed) throw new ValueError("Type what is missing first.");
    this.#place();
  }

  /** Place one's own bet; the readers follow, and the lines of words come meanwhile. */
  #place() {
    this.closed = true;
    this.announcement = "";
    if (!this.complete) this.coming ??= this.#load();
    const { settled } = this;
    this.settled = this.#follow(settled);
  }

  /**
   * Show the bets of the readers, one after the other.
   * @param {Promise<void>} answered
   */
  async #follow(answered) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const ms of this.wide ? PAUSES.slice(0, 1) : PAUSES) {
      await Promise.all([answered, new Promise((done) => setTimeout(done, still ? 0 : ms))]);
      if (!this.answer) return;
      this.placed += 1;
      if (this.over) this.#count();
      this.refresh();
    }
  }

  /** Enter who was right or, for stakes, what everybody has paid. */
  #count() {
    const { truth, typed, sure, costs, bets } = this;
    const { truth: line, focus: at } = this.state;
    const right = Object.fromEntries(bets.map(({ name, symbol }) => [name, symbol === truth]));
    const answers = this.wide ? { words: bets[0].symbol === truth } : right;
    this.rounds.push(this.frequencies ? costs : { you: typed === truth, ...answers });
    this.finished ||= this.last;
    const paid = { line: line.join(""), at, n_hands: 1, costs, bet: [typed, sure] };
    if (this.frequencies) this.become({ paid: [...this.get("paid"), paid] }, "");
  }

  /** Have the lines of words loaded. */
  async #load() {
    const words = await /** @type {any} */ (this).ask("words").catch(() => null);
    for (const line of words?.examples.slice(-2) ?? [])
      this.lines.push({ ...line, symbols: words.symbols });
    this.complete = true;
  }

  /** Go on to the next line, or begin again. */
  async #next() {
    if (this.at === this.lines.length - 1 && !this.complete) {
      this.announcement = "The model that reads words is on its way.";
      this.refresh();
      await this.coming;
    }
    const at = (this.at + 1) % this.lines.length;
    const rounds = at ? this.rounds : [];
    Object.assign(this, { at, rounds, typed: "", closed: false, placed: 0 });
    const { symbols, ...line } = this.lines[at];
    this.set({ symbols });
    this.take(line, "");
  }

  // ── how it looks ──────────────────────────────────────────────────────────────────────────────

  markup() {
    const { over, closed, wide, finished, typed } = this;
    const bets = wide || (this.frequencies && typed);
    const label = over ? (this.last ? "Play again" : "Next") : bets && "Bet";
    const go = label && element("button", { type: "submit", class: "primary" }, label);
    const played = this.rounds.length ? " played" : "";
    return form(
      "go",
      {
        class: `gap-game${played}${finished ? " played finished" : ""}`,
        "data-keys": closed || wide ? null : "type",
        "data-space": over ? "go" : null,
      },
      this.#line(),
      closed ? this.#wagers() : this.#asks(),
      status(over && !this.announcement ? this.#sentence() : this.announcement),
      row(closed && !over ? null : go, this.#tally()),
    );
  }

  /** Write what is asked for. */
  #asks() {
    const asks = `Type the missing ${this.wide ? "word" : "letter"}.`;
    if (!this.frequencies || !this.typed) return element("p", { class: "asks" }, asks);
    const value = Math.round(100 * this.sure);
    const slider = { type: "range", min: 5, max: 99, value, "data-do": "sure", "data-focus": true };
    const sure = element("b", null, percent(this.sure));
    const label = element("label", null, "How sure are you?", element("input", slider), sure);
    return element("div", { class: "asks" }, label);
  }

  /** Write the line; what those see who have bet is lit. */
  #line() {
    const { truth, focus, symbols } = this.state;
    const { wide, closed, over, placed } = this;
    const space = wide ? " " : "";
    const before = written(symbols, truth.slice(0, focus)) + space;
    const after = space + written(symbols, truth.slice(focus + 1));
    const start = before.lastIndexOf(" ") + 1; // of the word that has the gap
    const end = `${after} `.indexOf(" ");
    const [left, right] = [placed > 0, placed > (wide ? 0 : 1)];
    const shown = over ? this.truth : this.typed;
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
      "data-focus": !this.typed,
      "aria-label": `Missing ${wide ? "word" : "letter"}: ${before}…${after}`,
      ...PLAIN,
    });
    return element(
      "p",
      { class: "large", style: `--n: ${truth.join(space).length}` },
      part("left", left, before.slice(0, start)),
      element(
        "span",
        { class: "whole" },
        part("left", left, before.slice(start)),
        field,
        part("right", right, after.slice(0, end)),
      ),
      part("right", right, after.slice(end)),
    );
  }

  /** Write one's own bet, and those that the readers have placed. */
  #wagers() {
    const { over, truth, typed: symbol, costs } = this;
    const p = this.frequencies ? this.sure : 0;
    const placed = this.wide && this.placed ? this.bets : this.bets.slice(0, this.placed);
    const wagers = [{ name: "you", symbol, p, title: "you" }, ...placed].map((bet) => {
      const right = bet.symbol === truth;
      const mark = over ? (right ? "✓ " : "✗ ") : "";
      const pays = this.frequencies && over ? `pays ${inNats(costs[bet.name])}` : "";
      const note = { class: over && right ? "number good" : "number" };
      return element(
        "div",
        { class: `wager ${bet.name}`, "data-key": `${bet.title} ${this.at}` },
        element(
          "b",
          { style: `--p: ${fixed(bet.p, 2)}; --n: ${this.wide ? 6 : spoken(bet.symbol).length}` },
          spoken(bet.symbol),
        ),
        element("span", null, bet.title),
        element("span", note, mark, pays || (bet.p ? fixed(bet.p, 2) : "")),
      );
    });
    return element("div", { class: "wagers" }, ...wagers);
  }

  /** Say what has happened, from the numbers. */
  #sentence() {
    const { bets, truth } = this;
    const has = (/** @type {Bet} */ { symbol }) => symbol === truth;
    const you = this.typed === truth ? "You have it." : `It was ${named(truth)}.`;
    if (this.wide) {
      const rank = bets.findIndex(has);
      const place = rank < 0 ? "not among its five" : `its ${RANKS[rank]}`;
      return `${you} The model that reads words ${said(bets[0])}; ${truth} is ${place} guess${rank < 0 ? "es" : ""}.`;
    }
    const [left, right] = bets;
    const end =
      ENDS[`${bets.filter(has).map(({ name }) => name)}`] ?? "Together they get it wrong.";
    return `${you} Left alone ${said(left)}, right alone ${said(right)}. ${end}`;
  }

  /** Write who was right how often or, for stakes, what everybody has paid. */
  #tally() {
    const names = [...new Set(this.rounds.flatMap((round) => Object.keys(round)))];
    const counts = names.map((name) => {
      const round = this.rounds.filter((each) => name in each).map((each) => Number(each[name]));
      const dots = round.map((right) => (right ? "●" : "○")).join("");
      const label = `${name}: ${sum(round)} of ${round.length} right`;
      if (this.frequencies)
        return element("span", { class: name }, `${name} ${inNats(mean(round))}`);
      return element("span", { class: name, role: "img", "aria-label": label }, `${name} ${dots}`);
    });
    const unit = this.frequencies && counts.length ? "Nats per gap: " : "";
    return element("p", { class: "score" }, unit, ...counts);
  }
}
