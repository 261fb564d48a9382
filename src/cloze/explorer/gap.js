// The gap: one line in large letters. Somebody types what is missing, the readers place their bets one
// after the other, and a sentence says what happened. It is the explorer in another dress: the lines are
// its examples, and the bets are its answer. For stakes one also says how sure one is, and everybody
// pays −log of what the truth was given.

import { row } from "../widgets/browser/cells.js";
import { button, element, form, status } from "../widgets/browser/element.js";
import { ValueError } from "../widgets/browser/widget.js";
import { fixed, inNats, percent, spoken, sum } from "../widgets/browser/words.js";
import { largest, mean, titleOf, written } from "./parts.js";
import MaskExplorer from "./widget.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 *
 * @typedef {{ name: string, symbol: string, p: number, title: string }} Bet  `name` says whose it is.
 */

const PAUSES = [300, 600, 600]; // milliseconds before the bet of each reader
const RANKS = ["first", "second", "third", "fourth", "fifth"];
/** @type {Record<string, string>} By who has the right letter. */
const ENDS = {
  "left,right,both": "Either side is enough.",
  "left,both": "The left side is enough.",
  "right,both": "The right side is enough.",
  both: "Only together do they know.",
  "": "None of the three knows it.",
};
const FIELD = { type: "text", name: "text", autocomplete: "off", spellcheck: "false" };
const LETTER = { autocapitalize: "none", maxlength: 2, "data-do": "type", "data-at-once": true };
const WORD = { autocapitalize: "none", maxlength: 24 };

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
  at = 0; // the number of the line that is played
  typed = ""; // one's own answer
  sure = 0.5; // how sure one is of it, for stakes
  placed = 0; // how many bets have been placed, one's own first
  /** @type {Record<string, number>[]} For each line who was right or, for stakes, what one has paid. */
  rounds = [];

  get truth() {
    return this.get("truth")[this.get("focus")];
  }

  get wide() {
    return this.get("symbols").wide;
  }

  /** Whether all bets on this line have been placed. */
  get over() {
    return this.placed > 1 && this.placed > (this.answer?.readers.length ?? 0);
  }

  /**
   * One's own bet, then what each reader finds likeliest; of the one that reads words, its five likeliest.
   * @returns {Bet[]}
   */
  get bets() {
    const own = {
      name: "you",
      symbol: this.typed,
      p: this.get("stakes") ? this.sure : 0,
      title: "you",
    };
    const { readers = [], candidates } = this.answer ?? {};
    const theirs = readers.flatMap(({ name }, i) => {
      const p = (candidates ?? []).map((each) => each.p[i]);
      return largest(p, this.wide ? 5 : 1).map((best, rank) => {
        const title = this.wide ? `its ${RANKS[rank]} guess` : titleOf(name);
        return { name, symbol: candidates?.[best].symbol ?? "", p: p[best], title };
      });
    });
    return [own, ...theirs];
  }

  get last() {
    return this.at === this.get("examples").length - 1;
  }

  // ── what a learner does ───────────────────────────────────────────────────────────────────────

  /**
   * Take a letter: from a key, or from the field, where it stands beside the one before.
   * @param {{ key?: string, value?: string }} sent
   */
  do_type({ value = "", key = value.replace(this.typed, "") }) {
    const letter = key.toLowerCase();
    if (this.placed || !letter) return;
    if (!this.get("symbols").known?.includes(letter))
      throw new ValueError("Type a letter from a to z, or a space.");
    this.typed = letter;
    if (!this.get("stakes")) this.#place();
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
  do_go({ text = "" }) {
    if (this.over) return this.last ? undefined : this.#take(this.at + 1);
    if (this.placed) return; // a key too many
    this.typed ||= text.trim().toLowerCase();
    if (!this.typed) throw new ValueError("Type what is missing first.");
    this.#place();
  }

  do_again() {
    this.rounds = [];
    this.#take(0);
  }

  /** @param {number} at  The number of a line. */
  #take(at) {
    const line = this.get("examples")[at];
    Object.assign(this, { at, typed: "", placed: 0 });
    this.become({ symbols: line.symbols ?? this.get("symbols") }, "");
    this.take(line, "");
  }

  /** Place one's own bet; those of the readers follow, one after the other, once they are known. */
  #place() {
    const { settled } = this;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const follow = async () => {
      for (const ms of this.wide ? PAUSES.slice(0, 1) : PAUSES) {
        await Promise.all([settled, new Promise((done) => setTimeout(done, still ? 0 : ms))]);
        if (!this.answer) return;
        this.placed += 1;
        if (this.over) await this.#count();
        this.refresh();
      }
    };
    this.placed = 1;
    this.settled = follow();
  }

  /** Enter who was right or, for stakes, what everybody has paid. */
  async #count() {
    const { truth, typed, sure, at } = this;
    const bets = this.bets.slice(0, this.wide ? 2 : 4).map(({ name, symbol }) => {
      return [this.wide && name !== "you" ? "words" : name, Number(symbol === truth)];
    });
    const paid = this.get("stakes") && (await this.ask("pay", { at, typed, sure }));
    this.rounds.push(paid || Object.fromEntries(bets));
  }

  // ── how it looks ──────────────────────────────────────────────────────────────────────────────

  markup() {
    const { over, placed, wide, typed } = this;
    const last = over && this.last;
    const bet = wide || (this.get("stakes") && typed);
    const label = over ? "Next" : bet && "Bet";
    const go = label && element("button", { type: "submit", class: "primary" }, label);
    const next = last ? button("Play again", "again") : go;
    const state = `${this.rounds.length ? " played" : ""}${last ? " finished" : ""}`;
    const keys = placed || wide ? null : "type";
    return form(
      "go",
      { class: `gap-game${state}`, "data-keys": keys, "data-space": over ? "go" : null },
      this.#line(),
      placed ? this.#wagers() : this.#asks(),
      status(over ? this.#sentence() : ""),
      row(placed && !over ? null : next, this.#tally()),
    );
  }

  /** Write what is asked for. */
  #asks() {
    const asks = `Type the missing ${this.wide ? "word" : "letter"}.`;
    if (!this.get("stakes") || !this.typed) return element("p", { class: "asks" }, asks);
    const value = Math.round(100 * this.sure);
    const slider = { type: "range", min: 5, max: 99, value, "data-do": "sure", "data-focus": true };
    const sure = element("b", null, percent(this.sure));
    const label = element("label", null, "How sure are you?", element("input", slider), sure);
    return element("div", { class: "asks" }, label);
  }

  /** Write the line; what those see who have bet is lit. */
  #line() {
    const { truth, focus, symbols } = this.state;
    const { wide, over, placed } = this;
    const space = wide ? " " : "";
    const before = written(symbols, truth.slice(0, focus)) + space;
    const after = space + written(symbols, truth.slice(focus + 1));
    const start = before.lastIndexOf(" ") + 1; // of the word that has the gap
    const end = `${after} `.indexOf(" ");
    const [left, right] = [placed > 1, placed > (wide ? 1 : 2)];
    const shown = over ? this.truth : this.typed;
    const field = element("input", {
      ...FIELD,
      ...(wide ? WORD : LETTER),
      value: shown,
      class: over ? "truth" : null,
      style: `--wide: ${wide ? Math.max(shown.length, 5) : 1}`,
      readonly: placed > 0,
      "data-focus": !this.typed,
      "aria-label": `Missing ${wide ? "word" : "letter"}: ${before}…${after}`,
    });
    const near = part("left", left, before.slice(start));
    const next = part("right", right, after.slice(0, end));
    return element(
      "p",
      { class: "large", style: `--n: ${truth.join(space).length}` },
      part("left", left, before.slice(0, start)),
      element("span", { class: "whole" }, near, field, next),
      part("right", right, after.slice(end)),
    );
  }

  /** Write the bets that have been placed. */
  #wagers() {
    const { over, truth, wide, bets, placed } = this;
    const costs = this.get("stakes") && over && this.rounds[this.rounds.length - 1];
    const wagers = bets
      .slice(0, wide && placed > 1 ? 6 : placed)
      .map(({ name, symbol, p, title }) => {
        const right = symbol === truth;
        const mark = over ? (right ? "✓ " : "✗ ") : "";
        const note = costs ? `pays ${inNats(costs[name])}` : p ? fixed(p, 2) : "";
        const glass = `--p: ${fixed(p, 2)}; --n: ${wide ? 6 : spoken(symbol).length}`;
        return element(
          "div",
          { class: `wager ${name}`, "data-key": `${title} ${this.at}` },
          element("b", { style: glass }, spoken(symbol)),
          element("span", null, title),
          element("span", { class: over && right ? "number good" : "number" }, mark, note),
        );
      });
    return element("div", { class: "wagers" }, ...wagers);
  }

  /** Say what has happened, from the numbers. */
  #sentence() {
    const { truth, wide } = this;
    const [own, first, second, ...others] = this.bets;
    const you = own.symbol === truth ? "You have it." : `It was ${named(truth)}.`;
    const right = [first, second, ...others].filter(({ symbol }) => symbol === truth);
    if (wide) {
      const place = right.length ? right[0].title : "not among its five guesses";
      return `${you} The model that reads words ${said(first)}; ${truth} is ${place}.`;
    }
    const end = ENDS[`${right.map(({ name }) => name)}`] ?? "Together they get it wrong.";
    return `${you} Left alone ${said(first)}, right alone ${said(second)}. ${end}`;
  }

  /** Write who was right how often or, for stakes, what everybody has paid. */
  #tally() {
    const [stakes, last] = [this.get("stakes"), this.over && this.last];
    const names = [...new Set(this.rounds.flatMap((round) => Object.keys(round)))];
    const counts = names.map((name) => {
      const rounds = this.rounds.flatMap((round) => (name in round ? round[name] : []));
      const count = stakes ? inNats(mean(rounds)) : `${sum(rounds)} of ${rounds.length}`;
      return element("span", { class: name }, `${name} ${count}`);
    });
    return element(
      "p",
      { class: "score" },
      stakes && names.length ? "Nats per gap: " : last ? "In the end: " : "",
      ...counts,
    );
  }
}
